"""Constants in modules have the content of the arrays that they are made from."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore._backend import context

NARROW = {"int2", "uint2", "int4", "uint4", "float4_e2m1fn"}
CASES = [("bool", n) for n in (0, 1, 2, 8, 9, 20)]
CASES += [(dtype, 3) for dtype in sorted(set(context.ELEMENTS) - NARROW - {"bool"})]


@pytest.mark.parametrize("dtype, size", CASES)
def test_arrays_that_rules_refer_to(dtype, size):
    """They are constants of the program that a transformation makes of a rule."""
    known = (np.arange(size) % 3 == 1).astype(xnp.dtype(dtype))
    f = xc.custom_jvp(lambda x: x)
    f.defjvp(
        lambda x, t: (f(*x), xnp.where(xnp.asarray(known).astype("complex64") != 0, t[0], 0.0))
    )
    got = xc.grad(xc.jit(lambda x: f(x).sum()))(xnp.ones(size))
    np.testing.assert_array_equal(got, (known.astype("complex64") != 0).astype("float32"))
