"""Reductions and cumulative functions, against NumPy."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import xcore as xc
import xcore.numpy as xnp
from tests.numpy.reference import (
    ALL,
    COMPLEX,
    FLOATS,
    INTS,
    assert_same,
    default_dtype,
    dtype_of,
    values,
    wide,
)

# name, dtypes, what happens to integers, units in the last place
TO_DEFAULT, TO_FLOAT, KEPT = "at least the default width", "float", "kept"
ROWS = [
    ("sum", ALL, TO_DEFAULT, 4), ("prod", ALL, TO_DEFAULT, 8), ("mean", ALL, TO_FLOAT, 4), ("var", ALL, TO_FLOAT, 8),
    ("std", ALL, TO_FLOAT, 8), ("max", ALL, KEPT, 0), ("min", ALL, KEPT, 0), ("amax", FLOATS[2:3], KEPT, 0),
    ("amin", FLOATS[2:3], KEPT, 0), ("ptp", INTS + FLOATS, KEPT, 2), ("any", ALL, None, 0), ("all", ALL, None, 0),
    ("argmax", ALL, None, 0), ("argmin", ALL, None, 0), ("count_nonzero", ALL, None, 0),
    ("cumsum", INTS + FLOATS + COMPLEX, KEPT, 8), ("cumprod", INTS + FLOATS + COMPLEX, KEPT, 8), ("average", ALL, TO_FLOAT, 4),
    ("cumulative_sum", ALL, TO_DEFAULT, 8), ("cumulative_prod", ALL, TO_DEFAULT, 8),
]  # fmt: skip


def numpy_result(name, x, **options):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(getattr(np, name)(x if x.dtype.kind in "biu" else wide(x), **options))


def expected_dtype(x, want, integers):
    if want.dtype == bool or integers is None:
        return default_dtype(want.dtype)
    if x.dtype.kind in "fcV":
        return (
            x.dtype
            if want.dtype.kind == "c" or x.dtype.kind != "c"
            else np.dtype(f"f{x.dtype.itemsize // 2}")
        )
    if integers == KEPT:
        return x.dtype
    if integers == TO_DEFAULT:
        return x.dtype if x.dtype.itemsize == 8 else default_dtype(want.dtype)
    return np.dtype("float64" if x.dtype.itemsize == 8 else "float32")


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r[0])
def test_values_and_dtypes(row):
    name, dtypes, integers, ulps = row
    for dtype in dtypes:
        x = values(dtype, (3, 4), low=-2, high=2)
        axis = {"axis": 0} if "cum" in name else {}
        want = numpy_result(name, x, **axis)
        got = getattr(xnp, name)(xnp.asarray(x), **axis)
        assert got.dtype == expected_dtype(x, want, integers), (dtype, got.dtype)
        want = want.astype(got.dtype) if got.dtype.kind in "iu" else want
        assert_same(got, want, ulps, floor=8)


OPTIONS = [
    {"axis": 0},
    {"axis": -1},
    {"axis": 1, "keepdims": True},
    {"axis": (0, 2)},
    {"keepdims": True},
    {"axis": ()},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(
    "name",
    ["sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "count_nonzero", "ptp"],
)
def test_axes(name, options):
    x = values("float64", (2, 3, 4))
    if name == "ptp" and options == {"axis": ()}:
        return
    assert_same(getattr(xnp, name)(xnp.asarray(x), **options), numpy_result(name, x, **options), 8)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_of_extrema(name):
    x = values("int32", (3, 4, 2), low=0, high=2)
    for options in (
        {},
        {"axis": 0},
        {"axis": -1},
        {"axis": 1, "keepdims": True},
        {"keepdims": True},
    ):
        assert_same(
            getattr(xnp, name)(xnp.asarray(x), **options), numpy_result(name, x, **options), 0
        )
    for special in ([1.0, np.nan, 3.0, np.nan], [np.inf, -np.inf, np.inf], [-0.0, 0.0]):
        assert int(getattr(xnp, name)(xnp.asarray(special))) == numpy_result(
            name, np.array(special)
        )
    z = np.array([1 + 2j, 1 + 3j, 0 + 9j, 1 + 3j])
    assert int(getattr(xnp, name)(xnp.asarray(z))) == numpy_result(name, z)
    with pytest.raises(ValueError, match="with elements along the axis"):
        getattr(xnp, name)(xnp.zeros((0, 2)), axis=0)


@pytest.mark.parametrize(
    "shape, axis", [((0,), None), ((0, 3), 0), ((2, 0), 1), ((2, 0), 0), ((), None), ((), ())]
)
def test_empty_and_0d(shape, axis):
    x = values("float32", shape)
    for name in ("sum", "prod", "any", "all", "mean", "var"):
        assert_same(
            getattr(xnp, name)(xnp.asarray(x), axis=axis), numpy_result(name, x, axis=axis), 4
        )
    if x.size == 0 and 0 in (shape[a] for a in ([axis] if axis is not None else range(len(shape)))):
        with pytest.raises(ValueError, match="Give initial"):
            xnp.max(xnp.asarray(x), axis=axis)
    assert_same(
        xnp.max(xnp.asarray(x), axis=axis, initial=-1.0),
        numpy_result("max", x, axis=axis, initial=-1.0),
        0,
    )


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std", "any", "all"])
def test_where_and_initial(name):
    x = values("float64", (3, 4))
    where = np.array([[True, False, True, True], [False] * 4, [True] * 4])
    extra = {"initial": 0.5} if name in ("sum", "prod", "max", "min") else {}
    for axis in (None, 0, 1):
        got = getattr(xnp, name)(xnp.asarray(x), axis=axis, where=xnp.asarray(where), **extra)
        assert_same(got, numpy_result(name, x, axis=axis, where=where, **extra), 8)
    column = np.array([[True], [False], [True]])
    got = getattr(xnp, name)(xnp.asarray(x), where=xnp.asarray(column), **extra)
    assert_same(got, numpy_result(name, x, where=column, **extra), 8)
    jitted = xc.jit(lambda x, w: getattr(xnp, name)(x, where=w, **extra))(x, column)
    assert_same(jitted, numpy_result(name, x, where=column, **extra), 8)


def test_where_needs_initial_for_extrema():
    with pytest.raises(ValueError, match="initial must be given together with where"):
        xnp.max(xnp.ones(2), where=xnp.asarray([True, False]))


def test_sums_of_small_dtypes_do_not_overflow():
    assert int(xnp.sum(xnp.full(1000, 100, "int8"))) == 100000
    assert int(xnp.sum(xnp.full(1000, 200, "uint8"))) == 200000
    assert int(xnp.sum(xnp.ones(1000, bool))) == 1000
    assert float(xnp.mean(xnp.full(3000, 60000, "float16"))) == 60000
    assert float(xnp.sum(xnp.ones(5000, "bfloat16"))) == pytest.approx(5000, rel=0.004)
    assert float(xnp.std(xnp.asarray([60000, -60000], "float16"))) == pytest.approx(60000, rel=1e-3)
    small = xnp.full(4, 100, "int8")
    assert xnp.sum(small, promote_integers=False).dtype == np.int8


@pytest.mark.parametrize(
    "dtype", ["int8", "int64", "uint8", "float16", "bfloat16", "float64", "complex64", "bool"]
)
@pytest.mark.parametrize("name", ["sum", "prod", "cumsum", "mean"])
def test_the_dtype_asked_for(name, dtype):
    x = xnp.asarray([1, 2, 3])
    if name == "mean" and dtype in ("bool", "int8", "uint8"):
        return
    axis = {"axis": 0} if name == "cumsum" else {}
    got = getattr(xnp, name)(x, dtype=dtype, **axis)
    assert got.dtype == dtype_of(dtype)
    want = getattr(np, name)(np.array([1, 2, 3]), **axis)
    np.testing.assert_array_equal(np.asarray(got), want.astype(dtype_of(dtype)))


def test_moments():
    x = values("float64", (5, 4))
    for options in (
        {"ddof": 1},
        {"correction": 1},
        {"correction": 0.5, "axis": 0},
        {"ddof": 1, "axis": 1, "keepdims": True},
    ):
        for name in ("var", "std"):
            assert_same(
                getattr(xnp, name)(xnp.asarray(x), **options), numpy_result(name, x, **options), 16
            )
    center = x.mean(axis=0, keepdims=True)
    assert_same(xnp.var(xnp.asarray(x), axis=0, mean=xnp.asarray(center)), np.var(x, axis=0), 16)
    off = center + 1  # the mean given is the one that counts
    assert_same(
        xnp.var(xnp.asarray(x), axis=0, mean=xnp.asarray(off)), np.var(x, axis=0, mean=off), 16
    )
    with pytest.raises(ValueError, match="ddof"):
        xnp.var(xnp.asarray(x), ddof=1, correction=1)
    assert np.isnan(float(xnp.var(xnp.ones(1), ddof=1)))


def test_average():
    x, w = values("float64", (3, 4)), values("float64", (3, 4), seed=1, low=0.1)
    for options in ({}, {"axis": 0}, {"axis": 1, "keepdims": True}, {"axis": (0, 1)}):
        got = xnp.average(xnp.asarray(x), weights=xnp.asarray(w), returned=True, **options)
        want = np.average(x, weights=w, returned=True, **options)
        for a, b in zip(got, want, strict=True):
            assert_same(a, b, 16)
        plain = xnp.average(xnp.asarray(x), returned=True, **options)
        for a, b in zip(plain, np.average(x, returned=True, **options), strict=True):
            assert_same(a, b, 16)
    assert_same(xnp.average(xnp.asarray(x), 1, xnp.asarray(w[0])), np.average(x, 1, w[0]), 16)
    with pytest.raises(ValueError, match="weights of shape"):
        xnp.average(xnp.asarray(x), weights=xnp.asarray(w[0]))


@pytest.mark.parametrize("n", [0, 1, 2, 7, 130, 1000])
def test_running_sums_and_products(n):
    x = 1 + values("float64", (2, n), low=-0.01, high=0.01)
    for name in ("cumsum", "cumprod"):
        assert_same(getattr(xnp, name)(xnp.asarray(x), axis=1), getattr(np, name)(x, axis=1), 1000)
        assert_same(getattr(xnp, name)(xnp.asarray(x)), getattr(np, name)(x), 2000)
    for name in ("cumulative_sum", "cumulative_prod"):
        for options in ({"axis": 1}, {"axis": 0, "include_initial": True}):
            got = getattr(xnp, name)(xnp.asarray(x), **options)
            assert_same(got, getattr(np, name)(x, **options), 1000)


def test_running_sums_of_bools_and_small_integers():
    flags = xnp.asarray([True, False, True])
    assert xnp.cumsum(flags).tolist() == [1, 1, 2] and xnp.cumsum(flags).dtype == np.int32
    assert xnp.cumsum(xnp.ones(3, "int8")).dtype == np.int8
    assert xnp.cumulative_sum(xnp.ones(3, "int8")).dtype == np.int32
    with pytest.raises(ValueError, match="axis must be given"):
        xnp.cumulative_sum(xnp.ones((2, 2)))


@given(hnp.array_shapes(min_dims=1, max_dims=3, max_side=3), st.data())
def test_any_axes(shape, data):
    x = np.arange(int(np.prod(shape)), dtype="float32").reshape(shape) - 3
    axes = tuple(
        data.draw(
            st.lists(st.integers(-len(shape), len(shape) - 1), unique_by=lambda a: a % len(shape))
        )
    )
    keepdims = data.draw(st.booleans())
    np.testing.assert_array_equal(
        np.asarray(xnp.sum(xnp.asarray(x), axis=axes, keepdims=keepdims)),
        np.sum(x, axis=axes, keepdims=keepdims),
    )


def test_special_values():
    for data in ([1.0, np.nan], [np.inf, 1.0], [np.inf, -np.inf], [-0.0, 0.0]):
        x = np.array(data)
        for name in ("sum", "prod", "max", "min", "mean", "var"):
            assert_same(getattr(xnp, name)(xnp.asarray(x)), numpy_result(name, x), 4)
    z = np.array([1 + 2j, 3 - 1j, np.nan + 0j, 2j])
    for data in (z[:2], z[1:], np.array([1 + 5j, 1 + 7j])):
        for name in ("max", "min"):
            got, want = np.asarray(getattr(xnp, name)(xnp.asarray(data))), numpy_result(name, data)
            assert np.isnan(got) == np.isnan(want) and (np.isnan(want) or got == want)


def test_methods_and_numpy_functions():
    x = values("float32", (3, 4))
    for name in (
        "sum",
        "prod",
        "mean",
        "var",
        "std",
        "max",
        "min",
        "any",
        "all",
        "argmax",
        "argmin",
        "cumsum",
        "cumprod",
    ):
        assert_same(getattr(xnp.asarray(x), name)(), getattr(x, name)(), 32, floor=4)
        assert_same(getattr(xnp.asarray(x), name)(axis=1), getattr(x, name)(axis=1), 32, floor=4)
    assert_same(np.sum(xnp.asarray(x)), x.sum(), 8, floor=4)
    with pytest.raises(ValueError, match="out must be None"):
        xnp.sum(xnp.asarray(x), out=x)


@pytest.mark.parametrize(
    "name", ["sum", "prod", "mean", "var", "std", "max", "min", "cumsum", "cumprod", "average"]
)
def test_derivatives(name):
    x = values("float64", (2, 3)) + 0.1
    f, g = getattr(np, name), getattr(xnp, name)
    axis = 1
    weights = np.array([[1.0, -2.0, 0.5]]) if "cum" in name else np.array([1.0, -2.0])
    want, h = np.zeros_like(x), 1e-5
    for i in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[i] = h
        want[i] = ((f(x + e, axis=axis) - f(x - e, axis=axis)) * weights).sum() / (2 * h)
    got = xc.grad(lambda x: (g(x, axis=axis) * xnp.asarray(weights)).sum())(xnp.asarray(x))
    np.testing.assert_allclose(np.asarray(got), want, atol=1e-7)


def test_lanes_and_compiled():
    x = values("float64", (4, 3))
    for name in ("sum", "var", "max", "argmax", "cumsum", "any"):
        f = getattr(xnp, name)
        got = xc.vmap(f)(xnp.asarray(x))
        assert_same(got, np.stack([getattr(np, name)(row) for row in x]), 16)
        assert_same(xc.jit(f)(xnp.asarray(x)), np.asarray(f(xnp.asarray(x))), 4)


def test_axis_errors():
    x = xnp.ones((2, 3))
    with pytest.raises(ValueError, match="axis 2 is out of bounds for an array of dimension 2"):
        xnp.sum(x, axis=2)
    with pytest.raises(ValueError, match="duplicate"):
        xnp.sum(x, axis=(0, -2))
    with pytest.raises(TypeError, match="axis must be an int"):
        xnp.sum(x, axis=0.5)
