"""Elements found, moved and compared, beside dense arrays: extrema and their places, reshape, setdiag, comparisons."""

import numpy as np
import pytest
import scipy.sparse

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse

SHAPES = [(1, 1), (3, 4), (4, 3), (1, 6), (6, 1), (5, 5)]
DTYPES = ["float64", "float32", "int32", "bool", "complex128"]


def matrices(dtype):
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        for share in (0.0, 0.3, 0.8, 1.0):
            x = rng.integers(-3, 4, shape) * (rng.random(shape) < share)
            yield (x + 1j * x[::-1] if dtype == "complex128" else x).astype(dtype)
    yield np.full((2, 3), -2).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["argmax", "argmin", "max", "min", "nanmax", "nanmin"])
def test_extrema_beside_dense_arrays(name, dtype):
    for x in matrices(dtype):
        for axis in (None, 0, 1, -1):
            found = getattr(sparse.from_dense(x), name)(axis)
            np.testing.assert_array_equal(
                found, getattr(np, name)(x, axis=axis), err_msg=f"{x} {axis}"
            )


def test_stored_zeros_and_nan():
    x = np.array([[0.0, -1.0, np.nan], [np.nan, np.nan, np.nan], [-1.0, -2.0, -3.0]])
    whole = sparse.coo_array((x.ravel(), tuple(np.indices(x.shape).reshape(2, -1))), (3, 3))
    for name in ("argmax", "argmin", "max", "min"):
        for axis in (None, 0, 1):
            np.testing.assert_array_equal(
                getattr(whole, name)(axis), getattr(np, name)(x, axis=axis)
            )
    np.testing.assert_array_equal(whole.nanmax(1), [0.0, np.nan, -1.0])
    np.testing.assert_array_equal(whole.nanmin(0), [-1.0, -2.0, -3.0])
    with pytest.raises(ValueError, match="largest of none"):
        sparse.coo_array((0, 3)).argmax(0)


def test_of_batches_and_in_programs():
    x = np.random.default_rng(1).normal(size=(3, 4)) * np.array([1, 0, 1, 1])
    a = sparse.from_dense(x)
    many = a.like(a.values * xnp.asarray([[1.0], [-1.0]]))
    np.testing.assert_array_equal(many.argmax(1), [np.argmax(x, 1), np.argmax(-x, 1)])
    np.testing.assert_array_equal(xc.jit(lambda a: a.argmin())(a), np.argmin(x))


@pytest.mark.parametrize("order", ["C", "F"])
def test_reshape(order):
    for x in matrices("float64"):
        a = sparse.from_dense(x)
        for shape in [(1, -1), (-1, 1), x.shape[::-1], (-1, x.shape[0])]:
            np.testing.assert_array_equal(
                a.reshape(shape, order=order).todense(), x.reshape(shape, order=order)
            )
    np.testing.assert_array_equal(sparse.eye_array(2).reshape(1, 4).todense(), [[1, 0, 0, 1]])
    g = xc.grad(lambda a: (a.reshape(1, 4) @ xnp.arange(4.0)).sum())(sparse.eye_array(2))
    np.testing.assert_array_equal(g.todense(), [[0, 0], [0, 3]])
    for bad in ((3, 3), (4,), (2, -2), (-1, -1), (2, 2, 1)):
        with pytest.raises(ValueError, match="shape"):
            sparse.eye_array(2).reshape(bad)


@pytest.mark.parametrize("k", [-2, 0, 1, 3])
def test_another_diagonal(k):
    for x in matrices("float64"):
        count = len(np.diagonal(x, k)) if -x.shape[0] < k < x.shape[1] else 0
        for values in (5.0, np.arange(1.0, count + 1)):
            if not count:
                continue
            theirs = scipy.sparse.lil_array(x)
            theirs.setdiag(values, k)
            np.testing.assert_array_equal(
                sparse.from_dense(x).with_diagonal(values, k).todense(), theirs.todense()
            )


@pytest.mark.parametrize("sign", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons(sign):
    f = lambda a, b: getattr(a, f"__{sign}__")(b)
    for x in matrices("float64"):
        for other in (0, 1.0, -1.0, x, x[::-1]):
            b = sparse.from_dense(other) if isinstance(other, np.ndarray) else other
            found = f(sparse.from_dense(x), b)
            assert isinstance(found, sparse.Sparse) and found.dtype == bool
            np.testing.assert_array_equal(found.todense(), f(x, other))


def test_what_would_fill_memory_is_refused():
    a = sparse.eye_array(100_000)
    assert (a != a).values.sum() == 0
    with pytest.raises(ValueError, match="too many places"):
        _ = a == a


@pytest.mark.parametrize("make", [
    lambda v: sparse.coo_array(([v], ([0], [0])), shape=(1, 1), dtype="float64"),
    lambda v: sparse.csr_array([[v]], dtype="float64"),
    lambda v: sparse.csc_array(([v], [0], [0, 1]), dtype="float64"),
    lambda v: sparse.diags_array([v], offsets=[0], shape=(1, 1), dtype="float64"),
    lambda v: sparse.diags_array([[v]], offsets=[0], dtype="float64"),
    lambda v: sparse.bsr_array(([[[v]]], [0], [0, 1]), dtype="float64"),
    lambda v: sparse.bsr_array([[v]], dtype="float64"),
    lambda v: sparse.dia_array(([[v]], [0]), dtype="float64"),
    lambda v: sparse.dia_array([[v]], dtype="float64"),
])  # fmt: skip
def test_numbers_are_not_narrowed_on_their_way_to_a_wide_dtype(make):
    found = make(0.1).todense()
    assert found.dtype == np.float64 and float(found[0, 0]) == 0.1
