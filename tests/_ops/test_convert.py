"""Conversions to floats without a negative zero, at the ties where numbers become zero."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore._core import dtypes

WITHOUT = [d for d in dtypes.KINDS["float8"] if d.name.endswith("fnuz")]


@pytest.mark.parametrize("dtype", WITHOUT, ids=str)
@pytest.mark.parametrize("source", ["float16", "float32", "float64"])
def test_what_rounds_to_zero_is_no_nan(dtype, source):
    smallest = float(dtypes.finfo(dtype).smallest_subnormal)
    x = (
        np.array([-0.0, 0.0, -0.5, 0.5, -0.25, 0.25, -0.75, 0.75, -1.0, 1.0, -1.5, 1.5, -2.0])
        * smallest
    )
    x = x.astype(source)
    got = np.asarray(xc.jit(lambda x: xnp.asarray(x).astype(dtype))(x)).astype("float64") / smallest
    ties_to_even = np.round(x.astype("float64") / smallest)
    assert not np.isnan(got).any()
    np.testing.assert_array_equal(got, ties_to_even)
