"""Largest and smallest elements of arrays so large that a library or a kernel finds them."""

import ml_dtypes
import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp

SHAPES = [((1000, 7), 0), ((30, 161), None), ((160, 70), 1), ((5, 70, 6), 1), ((4, 90, 5), (0, 1)),
          ((9, 100), 0)]  # fmt: skip
FOLDED = [((300, 301), 0), ((70001,), None), ((40, 50, 41), (0, 2))]
DTYPES = ["float32", "float64", "float16", "bfloat16", "int8", "int32", "uint64", "bool"]


def numbers(shape, dtype):
    x = 5 * np.random.default_rng([0, *shape]).standard_normal(shape)
    return np.abs(x).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def same(got, want):
    np.testing.assert_array_equal(np.asarray(got).astype("float64"), want)


@pytest.mark.parametrize(("shape", "axis"), SHAPES + FOLDED, ids=str)
@pytest.mark.parametrize("name", ["max", "min"])
def test_a_nan_is_never_lost(name, shape, axis):
    f = xc.jit(lambda x: getattr(xnp, name)(x, axis=axis))
    x = numbers(shape, "float32")
    same(f(x), getattr(np, name)(x, axis=axis))
    for place in (0, 1, x.size // 2, x.size - 1):
        holed = x.copy()
        holed.reshape(-1)[place] = np.nan if place else -np.nan
        same(f(holed), getattr(np, name)(holed, axis=axis))
    both = x.copy()
    both.reshape(-1)[:2] = np.inf, -np.inf  # whose sum is a NaN
    same(f(both), getattr(np, name)(both, axis=axis))


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype):
    for shape, axis in SHAPES[1:4]:
        x = numbers(shape, dtype)
        if x.dtype.kind not in "biu":
            x.reshape(-1)[[7, x.size // 3]] = np.nan
        wide = x.astype("float64")
        for name in ("max", "min", "argmax", "argmin"):
            same(getattr(xnp, name)(xnp.asarray(x), axis=axis), getattr(np, name)(wide, axis=axis))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_of_equal_elements_and_lanes(name):
    x = np.round(numbers((6, 300, 4), "float32"))
    f, want = getattr(xnp, name), getattr(np, name)
    same(xc.jit(lambda x: f(x, axis=1))(x), want(x, axis=1))
    same(xc.vmap(lambda x: f(x, axis=0))(xnp.asarray(x)), want(x, axis=1))
    assert f(xnp.asarray(x), axis=1).dtype == np.int32


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("shape", [(1 << 18,), (3, 1 << 17)], ids=str)
def test_rows_that_two_threads_share(name, shape):
    f, want = xc.jit(getattr(xnp, name), static_argnames="axis"), getattr(np, name)
    x = np.round(numbers(shape, "float32") * 4)  # extrema occur in both halves
    best = x.copy()
    best.flat[-1] = 1e9 if name == "argmax" else -1e9
    late = x.copy()
    late[..., -5] = np.nan
    both = late.copy()
    both[..., 9] = np.nan
    for y in (x, best, late, both, np.zeros_like(x)):
        same(f(y, axis=-1), want(y, axis=-1))
