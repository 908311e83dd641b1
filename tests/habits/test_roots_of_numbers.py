"""Python's numbers as brackets and starts are as wide as what the function gives, as NumPy's users expect."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.scipy import optimize

TWO = {w: xnp.asarray(np.array(2.0, w)) for w in ("float16", "float32", "float64")}
FINDERS = {
    n: lambda f, a, b, n=n, **k: getattr(optimize, n)(f, a, b, **k) for n in ("brentq", "bisect", "toms748")
} | {"newton": lambda f, a, b, **k: optimize.newton(f, b, **k)}  # fmt: skip


@pytest.mark.parametrize("start", [0.0, 0, np.float32(0)])
@pytest.mark.parametrize("width", TWO)
@pytest.mark.parametrize("name", FINDERS)
def test_width_of_a_root(name, width, start):
    end = type(start)(2)
    wide = width == "float64" and not isinstance(start, np.generic)
    for f, args in ((lambda x: x * x - TWO[width], ()), (lambda x, c: x * x - c, TWO[width])):
        x = FINDERS[name](f, start, end, args=args)
        assert x.dtype == ("float64" if wide else "float32")
        error = abs(float(x) - 2**0.5)
        assert error <= (1e-11 if wide else 1e-5) * (1 if name == "newton" else 0.02)


def test_width_of_a_root_in_programs():
    root = lambda c: optimize.brentq(lambda x: x * x - c, 0.0, 2.0, disp=False)
    assert xc.jit(root)(TWO["float64"]).dtype == "float64"
    np.testing.assert_allclose(xc.grad(root)(TWO["float64"]), 0.125**0.5, rtol=1e-12)
    assert xc.vmap(root)(xnp.stack([TWO["float64"]] * 2)).dtype == "float64"
