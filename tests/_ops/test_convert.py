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


NARROW = [getattr(dtypes, name) for name in ("int2", "uint2", "int4", "uint4")]


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_narrow_whole_numbers_move(dtype):
    low = 0 if dtypes.kind(dtype) == "uint" else -1
    x, y = np.array([[low, 1, 0], [1, 0, low]]).astype(dtype), np.array([[1], [low]]).astype(dtype)
    joined = xc.jit(lambda x, y: xc.lax.concatenate([x, y], 1))(x, y)
    padded = xc.jit(lambda x, v: xc.lax.pad(x, v, [(1, 0, 0), (0, 1, 1)]))(
        x, np.array(low).astype(dtype)
    )
    assert joined.dtype == padded.dtype == dtype
    wide, fill = x.astype(int), np.full((3, 6), low)
    np.testing.assert_array_equal(np.asarray(joined).astype(int), np.hstack([wide, y.astype(int)]))
    fill[1:, 0:5:2] = wide
    np.testing.assert_array_equal(np.asarray(padded).astype(int), fill)
