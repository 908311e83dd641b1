"""Distinct elements and set functions against NumPy, with shapes that depend on values and fixed."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp

rng = np.random.default_rng(1)


def numbers(shape, dtype):
    x = np.round(rng.normal(size=shape) * 3)
    return (np.abs(x) if np.dtype(dtype).kind == "u" else x).astype(dtype)


def same(ours, numpys):
    np.testing.assert_array_equal(np.asarray(ours), numpys)


DTYPES = ["bool", "int8", "uint32", "int64", "float32", "complex64"]
OPTIONS = {"return_index": True, "return_inverse": True, "return_counts": True}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (20,), (4, 6)], ids=str)
def test_unique(shape, dtype):
    x = numbers(shape, dtype)
    for got, want in zip(xnp.unique(x, **OPTIONS), np.unique(x, **OPTIONS), strict=True):
        same(got, want)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_unique_slices(axis):
    x = numbers((6, 5), "int32") % 2
    wanted = np.unique(x, axis=axis, **OPTIONS)
    for got, want in zip(xnp.unique(x, axis=axis, **OPTIONS), wanted, strict=True):
        same(got, want)
    size = wanted[0].shape[axis]
    f = xc.jit(lambda x: xnp.unique(x, axis=axis, size=size, **OPTIONS))
    for got, want in zip(f(x), wanted, strict=True):
        same(got, want)


@pytest.mark.parametrize("equal_nan", [True, False])
def test_nans(equal_nan):
    x = np.asarray([np.nan, 1, np.nan, 0, -0.0, 1], np.float32)
    wanted = np.unique(x, equal_nan=equal_nan)
    same(xnp.unique(x, equal_nan=equal_nan), wanted)
    same(xnp.unique(x, equal_nan=equal_nan, size=len(wanted)), wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_unique_of_fixed_size(dtype):
    x = numbers((5, 6), dtype)
    values, first, inverse, counts = np.unique(x, **OPTIONS)
    n = len(values)
    got = xc.jit(lambda x: xnp.unique(x, size=n + 3, fill_value=1, **OPTIONS))(x)
    same(got[0], [*values, *np.ones(3, dtype)])
    same(got[1][:n], first)
    same(got[2], inverse)
    same(got[3], [*counts, 0, 0, 0])
    same(xnp.unique(x, size=n + 2), [*values, values[0], values[0]])
    same(xnp.unique(x, size=1), values[:1])


def test_unique_of_nothing():
    same(xnp.unique(np.zeros(0, np.int32), size=2, fill_value=7), [7, 7])
    same(xnp.unique(np.zeros((0, 3)), axis=0), np.zeros((0, 3)))
    same(xnp.unique(np.zeros((3, 0)), axis=0), np.unique(np.zeros((3, 0)), axis=0))


def test_array_api_variants():
    x = np.asarray([[3.0, 1], [np.nan, 3]], np.float32)
    values = np.asarray([1, 3, np.nan], np.float32)
    everything = xnp.unique_all(x)
    same(everything.values, values)
    same(everything.indices, [1, 0, 2])
    same(everything.inverse_indices, [[1, 0], [2, 1]])
    same(everything.counts, [1, 2, 1])
    same(xnp.unique_counts(x).counts, [1, 2, 1])
    same(xnp.unique_inverse(x).inverse_indices, [[1, 0], [2, 1]])
    same(xnp.unique_values(np.asarray([np.nan, np.nan])), [np.nan, np.nan])


def test_traced_needs_a_size():
    with pytest.raises(xc.errors.ConcretizationError, match="size="):
        xc.jit(xnp.unique)(np.arange(3))


def test_unique_is_differentiable():
    x = np.asarray([3.0, 1, 3, 2])
    gradient = xc.grad(lambda x: xnp.sum(xnp.unique(x) * np.asarray([1.0, 10, 100])))(x)
    same(gradient, [100, 1, 0, 10])


PAIRS = [
    (numbers(12, "int32"), numbers((3, 3), "int32")),
    (numbers(7, "float32"), numbers(40, "int8")),
    (np.zeros(0, np.float32), numbers(4, "float32")),
    (numbers(30, "uint8"), np.zeros(0, np.uint8)),
]


@pytest.mark.parametrize("name", ["union1d", "intersect1d", "setdiff1d", "setxor1d"])
@pytest.mark.parametrize("pair", PAIRS, ids=range(len(PAIRS)))
def test_set_functions(name, pair):
    wanted = getattr(np, name)(*pair)
    ours = getattr(xnp, name)
    same(ours(*pair), wanted)
    n = len(wanted)
    same(xc.jit(lambda x, y: ours(x, y, size=n))(*pair), wanted)
    more = xc.jit(lambda x, y: ours(x, y, size=n + 2, fill_value=100))(*pair)
    same(more, [*wanted, 100, 100])


def test_intersect1d_with_indices():
    x, y = np.asarray([5, 1, 1, 3]), np.asarray([3, 7, 1, 1])
    wanted = np.intersect1d(x, y, return_indices=True)
    for got, want in zip(xnp.intersect1d(x, y, return_indices=True), wanted, strict=True):
        same(got, want)
    got = xc.jit(lambda x, y: xnp.intersect1d(x, y, return_indices=True, size=3))(x, y)
    for g, w in zip(got, ([1, 3, 1], [1, 3, 4], [2, 0, 4]), strict=True):
        same(g, w)


def test_assume_unique_keeps_the_order():
    x, y = np.asarray([5, 1, 3]), np.asarray([1])
    same(xnp.setdiff1d(x, y, assume_unique=True), [5, 3])
    big = np.array(
        [2**63, 2**63 + 1, 3], np.uint64
    )  # float64, which the two share, has not all of them
    for f in (xnp.setdiff1d, xc.jit(lambda x, y: xnp.setdiff1d(x, y, size=1))):
        assert f(np.float16([1, 2]), np.float32([1])).dtype == "float16"
    assert xnp.setdiff1d(big, np.int32([3])).tolist() == [2**63, 2**63 + 1]
    same(xc.jit(lambda x: xnp.setdiff1d(x, y, True, size=2))(x), [5, 3])


@pytest.mark.parametrize("method", ["auto", "compare_all", "binary_search", "sort"])
@pytest.mark.parametrize("n", [0, 3, 40])
def test_isin(n, method):
    x, tests = numbers((4, 5), "float32"), numbers(n, "int32")
    x[0, 0] = np.nan
    for invert in (False, True):
        same(xnp.isin(x, tests, invert=invert, method=method), np.isin(x, tests, invert=invert))
