"""Sorting and searching against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xcore as xc
import xcore.numpy as xnp
from xcore import _ops as ops
from xcore._cpu import rows

rng = np.random.default_rng(0)

DTYPES = [
    "bool", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float16", "float32",
    "float64", "complex64", "complex128",
]  # fmt: skip
# Below and above the size from which kernels on the host do the work.
SHAPES = [(0,), (7,), (3, 5), (700,), (30, 40)]


def numbers(shape, dtype, some_equal=True):
    """Random numbers of both signs, with many equal ones, and with NaNs among inexact ones."""
    x = rng.normal(size=shape) * (4 if some_equal else 1e6)
    x = np.round(x) if some_equal else x
    if np.dtype(dtype).kind == "c":
        x = x + 1j * np.round(rng.normal(size=shape))
    if np.dtype(dtype).kind == "u":
        x = np.abs(x)
    x = np.asarray(x).astype(dtype)
    if x.dtype.kind in "fc" and x.size > 3:
        x.flat[rng.integers(0, x.size, 3)] = np.nan
        x.flat[rng.integers(0, x.size, 2)] = -0.0
    return x


def same(ours, numpys):
    np.testing.assert_array_equal(np.asarray(ours), numpys)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sort_and_argsort(shape, dtype):
    x = numbers(shape, dtype)
    for axis in range(x.ndim):
        same(xnp.sort(x, axis), np.sort(x, axis))
        same(xnp.argsort(x, axis), np.argsort(x, axis, kind="stable"))
    same(xnp.sort(x, None), np.sort(x, None))


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64"])
@pytest.mark.parametrize("some_equal", [True, False])
def test_argsort_of_long_keys_is_stable(dtype, some_equal):
    x = numbers(5000, dtype, some_equal)
    same(xnp.argsort(x), np.argsort(x, kind="stable"))


def test_bfloat16():
    x = numbers(1000, "float32").astype(xnp.bfloat16)
    same(xnp.argsort(x), np.argsort(x.astype(np.float32), kind="stable"))
    assert xnp.sort(x).dtype == xnp.bfloat16


@pytest.mark.parametrize("n", [9, 900])
def test_descending_keeps_the_order_of_equal_elements(n):
    x = numbers(n, "int32")
    same(xnp.argsort(x, descending=True), np.argsort(-x, kind="stable"))
    same(xnp.sort(x, descending=True), np.sort(x)[::-1])


@pytest.mark.parametrize("n", [9, 900])
def test_kernels_agree_with_xla(n, monkeypatch):
    x, y = numbers((n, 3), "float32"), numbers((n, 3), "int8")
    results = []
    for i, limit in enumerate((0, 10**9)):
        monkeypatch.setattr(rows, "WORTH_IT", limit)
        # another literal, another program: one of the same text would be taken from memory
        f = xc.jit(lambda x, y, i=i: ops.sort(y, x, y + i, axis=0, num_keys=2)[:2])
        results.append([np.asarray(a) for a in f(xnp.asarray(x), xnp.asarray(y))])
    for a, b in zip(*results, strict=True):
        same(a, b)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint32", "int64"])
@pytest.mark.parametrize(("n", "k"), [(6, 2), (6, 0), (800, 3), (800, 90), (800, 800)])
def test_top_k(n, k, dtype):
    x = numbers((3, n), dtype)
    x = np.nan_to_num(x) + np.zeros((), dtype)  # zeros of different sign have an order in XLA
    values, where = xc.lax.top_k(x, k)
    order = np.argsort(-x.astype(np.float64), axis=1, kind="stable")[:, :k]
    same(where, order)
    same(values, np.take_along_axis(x, order, 1))


@pytest.mark.parametrize("n", [8, 800])
def test_lexsort(n):
    keys = (numbers(n, "float64"), numbers(n, "int32"), numbers(n, "int8"))
    same(xnp.lexsort(keys), np.lexsort(keys))
    same(xnp.lexsort(np.stack(keys)), np.lexsort(np.stack(keys)))
    two = np.stack(keys[:2]).reshape(2, n // 4, 4)
    same(xnp.lexsort(two, axis=0), np.lexsort(two, axis=0))


def test_sort_is_differentiable():
    x = rng.permutation(600).astype(np.float64)
    w = rng.normal(size=600)
    gradient = xc.grad(lambda x: xnp.sum(xnp.sort(x) * w))(xnp.asarray(x))
    same(gradient, w[np.argsort(np.argsort(x))])


def test_vmap():
    x = numbers((4, 300), "float32")
    same(xc.vmap(xnp.sort)(x), np.sort(x))
    same(xc.vmap(xnp.argsort, in_axes=1)(x), np.argsort(x, axis=0, kind="stable").T)


def test_partition():
    x = numbers((3, 50), "int32")
    got = np.asarray(xnp.partition(x, 20))
    assert (got[:, :20] <= got[:, 20:21]).all() and (got[:, 20:21] <= got[:, 21:]).all()
    same(np.take_along_axis(x, np.asarray(xnp.argpartition(x, 20)), 1), got)
    with pytest.raises(ValueError, match="kth"):
        xnp.partition(x, 50)


def test_sort_complex():
    got = xnp.sort_complex(np.asarray([3, 1, 2], np.int16))
    assert got.dtype == np.complex64
    same(got, [1, 2, 3])


# Searching


@pytest.mark.parametrize("method", ["scan", "scan_unrolled", "sort", "compare_all"])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ["int8", "float32", "complex64", "bool"])
def test_searchsorted(dtype, side, method):
    pairs = [(np.sort(numbers(n, dtype)), numbers((5, 4), dtype)) for n in (0, 1, 6, 33)]
    search = xc.jit(lambda pairs: [xnp.searchsorted(a, v, side, method=method) for a, v in pairs])
    for got, (a, v) in zip(search(pairs), pairs, strict=True):
        same(got, np.searchsorted(a, v, side))


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_of_many_rising_values(side):
    """They are searched for by the elements: the values that are equal to one, and NaN, come out alike."""
    f = xc.jit(lambda a, v: xnp.searchsorted(a, v, side))
    a = np.sort(np.r_[numbers(40, "float32"), -np.inf, np.nan, np.nan, 0, 0, 0]).astype(np.float32)
    v = np.resize(np.r_[a, a + 0.5, numbers(7, "float32")], 20_000)
    for values in (np.sort(v), v, np.full_like(v, np.nan), np.sort(v)[::-1]):
        same(f(a, values), np.searchsorted(a, values, side))


def test_searchsorted_with_sorter_and_mixed_dtypes():
    a, v = numbers(20, "int32"), numbers(7, "float32")
    order = np.argsort(a)
    same(xnp.searchsorted(a, v, sorter=order), np.searchsorted(a, v, sorter=order))
    same(xnp.searchsorted(np.arange(5), 2.5), 3)
    f = xc.vmap(xnp.searchsorted, in_axes=(0, None))
    rows = np.sort(numbers((3, 9), "int32"), axis=1)
    same(f(rows, v), [np.searchsorted(row, v) for row in rows])


@given(
    st.lists(st.integers(-5, 5), max_size=12), st.lists(st.integers(-6, 6), min_size=3, max_size=3)
)
def test_searchsorted_of_anything(a, v):
    a = np.sort(np.asarray([*a, *[5] * (12 - len(a))], np.int32))
    same(xnp.searchsorted(a, np.asarray(v)), np.searchsorted(a, v))


@pytest.mark.parametrize("right", [False, True])
def test_digitize(right):
    x = np.asarray([[0.2, 6.4, 3.0], [1.6, -1.0, 2.5]])
    bins = np.asarray([0.0, 1.0, 2.5, 4.0])
    same(xnp.digitize(x, bins, right), np.digitize(x, bins, right))
    same(xnp.digitize(x, bins[::-1], right), np.digitize(x, bins[::-1], right))
    same(xc.jit(xnp.digitize)(x, bins), np.digitize(x, bins))


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="searchsorted: side must be"):
        xnp.searchsorted(np.arange(3), 1, "middle")
    with pytest.raises(ValueError, match="axis 2 is out of bounds"):
        xnp.sort(np.arange(3), 2)
    with pytest.raises(ValueError, match="order must be None"):
        xnp.sort(np.arange(3), order="x")
