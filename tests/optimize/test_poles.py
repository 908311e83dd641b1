"""A pole is no minimum, in whatever units; what is smooth, bends sharply or has a kink is."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.optimize import minimize, minimize_scalar

POLES = {
    "tan": lambda v: xnp.tan(v[0]) + v[1] ** 2,
    "tan in other units": lambda v: 1e8 * xnp.tan(1e-6 * v[0]) + 1e-6 * v[1] ** 2,
    "odd power": lambda v: 1 / (v[0] - 1) + v[1] ** 2,
}
MINIMA = {
    "square": lambda v: (v[0] - 1) ** 2 + v[1] ** 2,
    "far": lambda v: 1e6 + (v[0] - 1) ** 2 + v[1] ** 2,
    "small": lambda v: 1e-30 * ((v[0] - 1) ** 2 + v[1] ** 2),
    "valley": lambda v: 100 * (v[1] - v[0] ** 2) ** 2 + (1 - v[0]) ** 2,
}


@pytest.mark.parametrize("method", ["lbfgs", "bfgs", "newton-cg"])
@pytest.mark.parametrize("name", POLES)
def test_poles_are_not_claimed(name, method):
    start = xnp.asarray([0.3e6 if "units" in name else 0.3, 1.0], "float64")
    assert not minimize(POLES[name], start, method=method).ok


@pytest.mark.parametrize("start", [(0.3, 1.0), (1.0, 0.0), (1 + 1e-12, 1e-12)])
@pytest.mark.parametrize("name", MINIMA)
def test_minima_are_claimed_wherever_one_starts(name, start):
    start = (1.0, 1.0) if name == "valley" and start[1] == 0 else start
    found = minimize(MINIMA[name], xnp.asarray(start, "float64"))
    assert found.ok
    np.testing.assert_allclose(found.x, [1, 1 if name == "valley" else 0], atol=1e-4)


SIDED = {
    "odd": (lambda z: 1 / (z - 1), False),
    "odd cube": (lambda z: 1e-3 / (z - 1) ** 3, False),
    "even": (lambda z: -1 / (z - 1) ** 2, False),
    "logarithm on one side": (lambda z: xnp.where(z > 1, xnp.log(xnp.abs(z - 1)), 9.0), False),
    "square": (lambda z: (z - 1) ** 2, True),
    "cusp": (lambda z: xnp.sqrt(xnp.abs(z - 1)), True),
    "cusp on one side": (lambda z: xnp.where(z > 1, xnp.sqrt(xnp.abs(z - 1)), 3 * (1 - z)), True),
    "barrier": (lambda z: z - xnp.log(xnp.abs(z)), True),
}


@pytest.mark.parametrize("name", SIDED)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_poles_of_one_side_are_no_minima_of_one_variable(name, dtype):
    """Beside a mean of both sides 1 / (x - 1) does not fall."""
    f, good = SIDED[name]
    low = dtype(0.2 if name == "barrier" else -2.5)
    big = 1e15 if dtype == np.float32 else 1e100
    units = np.array([(1, 1), (1 / big, 1), (big, 1), (1, 1 / big), (1, big)], dtype)

    def run(unit, size, method):
        g = lambda x: (size * f(x / unit)).astype(dtype)
        found = minimize_scalar(g, bounds=(low * unit, dtype(4) * unit), method=method)
        return found.x / unit, found.ok

    for method in ("brent", "golden"):
        x, ok = map(np.asarray, xc.jit(xc.vmap(lambda u, m=method: run(*u, m)))(units))
        assert good or not (ok & (x < 3.9)).any(), (method, x)  # the end is a minimum
        assert not good or (ok.all() and np.allclose(x, 1, atol=20 * np.finfo(dtype).eps ** 0.5))
