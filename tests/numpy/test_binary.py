"""Functions of two arrays against NumPy: values, dtypes, broadcasting, Python numbers, ufunc methods."""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import xcore as xc
import xcore.numpy as xnp
from tests.numpy.reference import ALL, COMPLEX, FLOATS, INTS, REAL, assert_same, rounded, values

INEXACT = FLOATS + COMPLEX
WIDE, UP = (-3.0, 3.0), (0.2, 3.0)
NUMBERS = INTS + FLOATS

# name, dtypes, range of the arguments, whether integers become floats, units in the last place
ROWS = [
    ("add", ALL, WIDE, False, 2), ("arctan2", REAL, WIDE, True, 8), ("atan2", FLOATS, WIDE, True, 8),
    ("bitwise_and", ("bool", *INTS), WIDE, False, 0), ("bitwise_or", ("bool", *INTS), WIDE, False, 0),
    ("bitwise_xor", ("bool", *INTS), WIDE, False, 0), ("copysign", REAL, WIDE, True, 0),
    ("divide", ALL, UP, True, 4), ("equal", ALL, WIDE, False, 0), ("float_power", FLOATS, UP, True, 8),
    ("floor_divide", NUMBERS, UP, False, 0), ("fmax", ALL, WIDE, False, 0), ("fmin", ALL, WIDE, False, 0),
    ("fmod", NUMBERS, UP, False, 2), ("gcd", INTS, WIDE, False, 0), ("greater", ALL, WIDE, False, 0),
    ("greater_equal", ALL, WIDE, False, 0), ("heaviside", FLOATS, WIDE, True, 0), ("hypot", REAL, WIDE, True, 4),
    ("lcm", INTS, WIDE, False, 0), ("left_shift", INTS, UP, False, 0), ("less", ALL, WIDE, False, 0),
    ("less_equal", ALL, WIDE, False, 0), ("logaddexp", FLOATS, WIDE, True, 4), ("logaddexp2", FLOATS, WIDE, True, 4),
    ("logical_and", ALL, WIDE, False, 0), ("logical_or", ALL, WIDE, False, 0), ("logical_xor", ALL, WIDE, False, 0),
    ("maximum", ALL, WIDE, False, 0), ("minimum", ALL, WIDE, False, 0), ("mod", NUMBERS, UP, False, 4),
    ("multiply", ALL, WIDE, False, 4), ("nextafter", FLOATS[2:], WIDE, True, 0), ("not_equal", ALL, WIDE, False, 0),
    ("power", NUMBERS + COMPLEX, UP, False, 24), ("remainder", NUMBERS, UP, False, 4),
    ("right_shift", INTS, UP, False, 0), ("subtract", INTS + INEXACT, WIDE, False, 2),
    ("true_divide", FLOATS, UP, True, 4),
]  # fmt: skip


def numpy_result(name, x, y, to_float: bool):
    """What NumPy computes in double precision; nextafter is about the dtype itself."""
    wide = "complex128" if x.dtype.kind == "c" else "float64"
    keep = name == "nextafter" or (x.dtype.kind in "biu" and not to_float)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(getattr(np, name)(*[v if keep else v.astype(wide) for v in (x, y)]))


def expected_dtype(x, want, to_float: bool):
    if want.dtype == bool:
        return want.dtype
    if to_float and x.dtype.kind in "biu":
        return np.dtype("float64" if x.dtype.itemsize == 8 else "float32")
    return want.dtype if x.dtype == bool else x.dtype


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r[0])
def test_values_and_dtypes(row):
    name, dtypes, bounds, to_float, ulps = row
    for dtype in dtypes:
        x = values(
            dtype,
            (9,),
            low=WIDE[0] if name in ("floor_divide", "fmod", "mod", "remainder") else bounds[0],
        )
        y = values(dtype, (9,), seed=1, low=bounds[0])
        if bounds is UP and y.dtype.kind in "iu":
            y = np.maximum(y, 1)
        if dtype == "bool":
            y[:5] = x[:5]
        want = numpy_result(name, x, y, to_float)
        got = getattr(xnp, name)(xnp.asarray(x), xnp.asarray(y))
        assert got.dtype == expected_dtype(x, want, to_float), (dtype, got.dtype, want.dtype)
        if got.dtype.itemsize <= 4 and got.dtype.kind in "fVc":
            want = rounded(want, got.dtype)
        assert_same(got, want, ulps, floor=1.0)


POINTS = np.array([0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 7.0, np.inf, -np.inf, np.nan])


@pytest.mark.parametrize("row", [r for r in ROWS if "float64" in r[1]], ids=lambda r: r[0])
def test_special_values(row):
    name = row[0]
    x, y = (v.ravel() for v in np.meshgrid(POINTS, POINTS))
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x, y)
        if name == "floor_divide":  # the Array API wants the quotient where an operand is infinite
            want = np.where(np.isinf(x) | np.isinf(y), x / y, want)
    got = np.asarray(getattr(xnp, name)(xnp.asarray(x), xnp.asarray(y)))
    np.testing.assert_allclose(got, want, rtol=1e-14, atol=1e-15)
    if want.dtype.kind == "f" and name not in ("maximum", "minimum", "fmax", "fmin"):
        exact = ((want == 0) & (got == 0)) | np.isinf(want)
        wrong = exact & (np.signbit(got) != np.signbit(want))
        assert not wrong.any(), list(zip(x[wrong], y[wrong], got[wrong], want[wrong], strict=True))


@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3))
def test_broadcasting(shapes):
    a, b = (values("float32", s, seed=i) for i, s in enumerate(shapes.input_shapes))
    got = np.asarray(xnp.asarray(a) + xnp.asarray(b))
    assert got.shape == shapes.result_shape
    np.testing.assert_array_equal(got, a + b)


@pytest.mark.parametrize("shapes", [((2,), (3,)), ((2, 3), (2,)), ((0,), (2,))])
def test_shapes_that_do_not_broadcast(shapes):
    a, b = (xnp.ones(s) for s in shapes)
    with pytest.raises(ValueError, match=r"numpy.add: shapes .* cannot be broadcast"):
        xnp.add(a, b)


@given(
    st.integers(-100, 100),
    st.integers(-100, 100),
    st.sampled_from(["int8", "int16", "int32", "int64"]),
)
def test_integer_division(a, b, dtype):
    x, y = np.array([a], dtype), np.array([b], dtype)
    with np.errstate(all="ignore"):
        q, r = np.divmod(x, y)
    got = divmod(xnp.asarray(x), xnp.asarray(y))
    np.testing.assert_array_equal(np.asarray(got[0]), q)
    np.testing.assert_array_equal(np.asarray(got[1]), r)


@given(st.floats(-1e6, 1e6), st.floats(-1e3, 1e3).filter(lambda y: abs(y) > 1e-3))
def test_float_division(x, y):
    q, r = (float(v) for v in xnp.divmod(xnp.float64(x), xnp.float64(y)))
    want = np.divmod(np.float64(x), np.float64(y))
    assert q == want[0]
    assert r == pytest.approx(float(want[1]), rel=1e-12, abs=1e-12 * abs(y))


def test_divisions_by_zero_and_overflow_are_those_of_the_dtype():
    for dtype in ("int8", "int32", "uint8"):
        x = xnp.asarray([5, 0], dtype=dtype)
        assert xnp.floor_divide(x, xnp.zeros_like(x)).tolist() == [0, 0]
        assert xnp.remainder(x, xnp.zeros_like(x)).tolist() == [0, 0]
    low = xnp.asarray([-128], dtype="int8")
    assert (low // xnp.asarray([-1], dtype="int8")).tolist() == [-128]
    assert (xnp.asarray([200], dtype="uint8") + xnp.asarray([100], dtype="uint8")).tolist() == [44]
    assert (xnp.ones(1) / 0).tolist() == [np.inf]


@given(st.integers(-7, 7), st.integers(0, 9))
def test_integer_powers_are_exact(x, n):
    assert int(xnp.asarray(x, dtype="int32") ** n) == x**n
    assert int(xnp.power(xnp.asarray(x, dtype="int32"), xnp.asarray(n))) == x**n
    assert float(xnp.asarray(float(x)) ** n) == float(x) ** n


def test_negative_powers_of_integers():
    with pytest.raises(ValueError, match="x2 must be 0 or more for integers"):
        xnp.arange(3) ** -1
    assert xnp.power(xnp.asarray([1, -1, 2]), xnp.asarray([-3, -3, -1])).tolist() == [1, -1, 0]


@pytest.mark.parametrize("where", ["array", "float"])
def test_derivative_of_powers(where):
    f = (lambda x: x**3) if where == "array" else (lambda x: xnp.power(x, 3.0))
    assert float(xc.grad(f)(2.0)) == pytest.approx(12.0)
    assert float(xc.grad(lambda x: x**2)(0.0)) == 0.0
    assert float(xc.grad(lambda y: 2.0**y)(3.0)) == pytest.approx(8 * np.log(2), rel=1e-6)
    assert float(xc.grad(lambda x: x**0)(0.0)) == 0.0


DERIVATIVES = [
    ("add", 0.4, 0.7), ("arctan2", 0.4, 0.7), ("copysign", 0.4, -0.7), ("divide", 0.4, 0.7), ("hypot", 0.4, 0.7),
    ("logaddexp", 0.4, 0.7), ("logaddexp", 0.7, 0.7), ("logaddexp2", 0.4, 0.7), ("maximum", 0.4, 0.7),
    ("minimum", 0.4, 0.7), ("multiply", 0.4, 0.7), ("power", 0.4, 0.7), ("remainder", 1.4, 0.6),
    ("remainder", -1.4, 0.6), ("fmod", -1.4, 0.6), ("subtract", 0.4, 0.7), ("fmax", 0.4, 0.7), ("heaviside", 0.4, 0.7),
]  # fmt: skip


@pytest.mark.parametrize("name, x, y", DERIVATIVES)
def test_derivatives(name, x, y):
    h = 1e-5
    f = getattr(np, name)
    want = (f(x + h, y) - f(x - h, y)) / (2 * h), (f(x, y + h) - f(x, y - h)) / (2 * h)
    got = xc.grad(getattr(xnp, name), argnums=(0, 1))(xnp.float64(x), xnp.float64(y))
    np.testing.assert_allclose([float(g) for g in got], want, atol=1e-8)


def test_derivatives_where_arguments_are_equal_or_special():
    assert float(xc.grad(xnp.maximum)(1.0, 1.0)) == 0.5
    assert float(xc.grad(xnp.logaddexp)(-np.inf, -np.inf)) == 0.5
    assert float(xc.grad(xnp.hypot)(0.0, 3.0)) == 0.0
    assert float(xc.grad(xnp.remainder)(4.0, 2.0)) == 1.0


def test_python_numbers_take_the_dtype_of_the_array():
    for dtype in ("int8", "uint8", "float16", "bfloat16", "float32", "complex64"):
        x = xnp.ones(2, dtype)
        assert (x + 1).dtype == x.dtype and (2 * x).dtype == x.dtype
    assert (xnp.ones(2, "int8") + 1.5).dtype == np.float32
    assert (xnp.ones(2, "float16") + 1j).dtype == np.complex64
    assert (xnp.ones(2) + np.float64(1)).dtype == np.float64
    assert (xnp.ones(2, bool) + 1).dtype == np.int32


def test_python_ints_out_of_range():
    x = xnp.arange(3, dtype="uint8")
    for f in (
        lambda: x + 300,
        lambda: x - (-1),
        lambda: xnp.add(x, 300),
        lambda: xc.jit(lambda x: x + 300)(x),
    ):
        with pytest.raises(OverflowError, match="does not fit in uint8"):
            f()
    assert (x < 300).tolist() == [True] * 3
    assert (x == -1).tolist() == [False] * 3
    assert (x > -1).tolist() == [True] * 3
    assert xc.jit(lambda x: x != 256)(x).tolist() == [True] * 3


def test_integers_and_floats_compare_exactly_enough():
    assert (xnp.asarray([2**31 - 1]) == xnp.asarray([2**31 - 1])).tolist() == [True]
    assert xnp.equal(xnp.asarray(True), 1).item() is True


def test_complex_order_is_by_real_part_first():
    a = np.array([1 + 2j, 1 + 1j, 2, np.nan + 1j])
    b = np.array([1 + 1j, 1 + 2j, 1 + 5j, 1.0])
    for name in ("less", "greater_equal", "maximum", "minimum"):
        with np.errstate(all="ignore"):
            want = getattr(np, name)(a, b)
        got = np.asarray(getattr(xnp, name)(xnp.asarray(a), xnp.asarray(b)))
        np.testing.assert_array_equal(got, want, err_msg=name)


def test_shifts_by_the_width_or_more():
    x = xnp.asarray([1, -8], dtype="int8")
    for by in (8, 100):
        assert xnp.left_shift(x, by).tolist() == [0, 0]
        assert xnp.right_shift(x, by).tolist() == [0, -1]
    assert xnp.right_shift(
        xnp.asarray([255], dtype="uint8"), xnp.asarray([200], dtype="uint8")
    ).tolist() == [0]


@pytest.mark.parametrize(
    "lists", [([1.0, np.nan], [1.0, np.nan]), ([1.0, 2.0], [1.0, 2.0 + 1e-7]), ([np.inf], [np.inf])]
)
def test_closeness(lists):
    a, b = np.array(lists[0]), np.array(lists[1])
    for options in ({}, {"equal_nan": True}, {"rtol": 1e-9}, {"atol": 1.0}):
        got = np.asarray(xnp.isclose(xnp.asarray(a), xnp.asarray(b), **options))
        np.testing.assert_array_equal(got, np.isclose(a, b, **options))
        assert bool(xnp.allclose(xnp.asarray(a), xnp.asarray(b), **options)) == np.allclose(
            a, b, **options
        )


def test_equality_of_arrays():
    a = xnp.arange(3)
    assert bool(xnp.array_equal(a, np.arange(3)))
    assert not xnp.array_equal(a, xnp.arange(4)) and not xnp.array_equal(a, a + 1)
    assert bool(xnp.array_equal(np.array([np.nan]), np.array([np.nan]), equal_nan=True))
    assert bool(xnp.array_equiv(a, xnp.stack([a, a]))) and not xnp.array_equiv(a, xnp.arange(2))


@pytest.mark.parametrize("limits", [(1, 3), (None, 3), (1, None), (None, None), (3, 1)])
def test_clip(limits):
    for dtype in ("int8", "uint8", "float16", "float32", "float64"):
        x = np.arange(5).astype(dtype)
        got = xnp.clip(xnp.asarray(x), *limits)
        assert got.dtype == x.dtype
        np.testing.assert_array_equal(
            np.asarray(got), np.clip(x, *limits) if limits != (None, None) else x
        )
    low = xnp.asarray([[1], [2]])
    np.testing.assert_array_equal(
        np.asarray(xnp.clip(xnp.arange(4), min=low)), np.clip(np.arange(4), np.asarray(low), None)
    )


@pytest.mark.parametrize("row", ROWS[::5], ids=lambda r: r[0])
def test_compiled_is_eager(row):
    name, dtypes, bounds, *_ = row
    x, y = (xnp.asarray(values(dtypes[-1], (5,), seed=i, low=bounds[0])) for i in (0, 1))
    f = getattr(xnp, name)
    want = np.asarray(f(x, y))
    np.testing.assert_array_equal(np.asarray(xc.jit(f)(x, y)), want)
    np.testing.assert_array_equal(np.asarray(xc.vmap(f)(x, y)), want)
    np.testing.assert_array_equal(
        np.asarray(xc.vmap(f, in_axes=(0, None))(x, y)), np.asarray(f(x[:, None], y))
    )


# Ufunc methods

REDUCED = [
    "add",
    "multiply",
    "maximum",
    "minimum",
    "logical_and",
    "logical_or",
    "subtract",
    "hypot",
    "logaddexp",
]


@pytest.mark.parametrize("name", REDUCED)
def test_reduce_and_accumulate(name):
    x = values("float64", (3, 4), low=0.2)
    f, g = getattr(xnp, name), getattr(np, name)
    for axis in (0, 1, -1):
        assert_same(f.reduce(xnp.asarray(x), axis=axis), g.reduce(x, axis=axis), 16)
        if not name.startswith("logical"):
            assert_same(f.accumulate(xnp.asarray(x), axis=axis), g.accumulate(x, axis=axis), 16)
    assert_same(f.reduce(xnp.asarray(x), keepdims=True), g.reduce(x, keepdims=True), 16)
    if name != "subtract":
        assert_same(f.reduce(xnp.asarray(x), axis=None), g.reduce(x, axis=None), 16)
        assert_same(
            f.reduce(xnp.asarray(x), axis=(0, 1), initial=2.0),
            g.reduce(x, axis=(0, 1), initial=2.0),
            16,
        )


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor", "gcd"])
def test_reduce_of_integers(name):
    x = np.array([[12, 18, 30], [8, 20, 6]], np.int32)
    f, g = getattr(xnp, name), getattr(np, name)
    np.testing.assert_array_equal(np.asarray(f.reduce(xnp.asarray(x))), g.reduce(x))
    np.testing.assert_array_equal(np.asarray(f.reduce(xnp.asarray(x), axis=1)), g.reduce(x, axis=1))
    empty = np.zeros((0, 2), np.int32)
    np.testing.assert_array_equal(np.asarray(f.reduce(xnp.asarray(empty))), g.reduce(empty))


def test_reduce_with_where_and_without_elements():
    x, where = values("float64", (4,)), np.array([True, False, True, True])
    got = xnp.subtract.reduce(xnp.asarray(x), where=xnp.asarray(where), initial=1.0)
    assert_same(got, np.subtract.reduce(x, where=where, initial=1.0), 4)
    assert_same(xnp.maximum.reduce(xnp.asarray(x), where=xnp.asarray(where), initial=0.0),
                np.maximum.reduce(x, where=where, initial=0.0), 4)  # fmt: skip
    with pytest.raises(ValueError, match="with elements along the axis"):
        xnp.subtract.reduce(xnp.zeros(0))
    with pytest.raises(ValueError, match="initial"):
        xnp.subtract.reduce(xnp.ones(2), where=xnp.asarray([True, False]))


@pytest.mark.parametrize(
    "name", ["add", "subtract", "multiply", "maximum", "minimum", "divide", "power"]
)
def test_at(name):
    x, index = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 2, 2, 3])
    b = np.array([2.0, 3.0, 0.5, 1.5])
    want = x.copy()
    getattr(np, name).at(want, index, b)
    got = getattr(xnp, name).at(xnp.asarray(x), xnp.asarray(index), xnp.asarray(b), inplace=False)
    assert_same(got, want, 16)
    with pytest.raises(ValueError, match="immutable"):
        getattr(xnp, name).at(xnp.asarray(x), 0, 1.0)


@pytest.mark.parametrize("name", ["add", "multiply", "subtract", "maximum"])
def test_reduceat(name):
    x = values("float64", (8, 2))
    for starts in ([0, 4, 1, 5, 2, 6, 3, 7], [0, 3, 3, 5], [7], []):
        starts = np.array(starts, int)
        got = getattr(xnp, name).reduceat(xnp.asarray(x), starts)
        assert_same(got, getattr(np, name).reduceat(x, starts), 8)


def test_outer():
    a, b = values("float32", (2,)), values("float32", (3, 2), seed=1)
    assert_same(xnp.subtract.outer(xnp.asarray(a), xnp.asarray(b)), np.subtract.outer(a, b), 0)


def test_own_ufunc():
    f = xnp.frompyfunc(lambda x, y: x + 2 * y, 2, 1, identity=0)
    assert (f.nin, f.nout, f.nargs, f.identity) == (2, 1, 3, 0)
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(np.asarray(f(x, 1.0)), x + 2)
    assert f.reduce(xnp.asarray([1.0, 2.0, 3.0])).item() == ((0 + 2 * 1) + 2 * 2) + 2 * 3
    assert f.accumulate(xnp.asarray([1.0, 2.0, 3.0])).tolist() == [1, 5, 11]
    assert f.at(xnp.zeros(2), xnp.asarray([0, 0]), 1.0, inplace=False).tolist() == [4, 0]
    g = xnp.frompyfunc(lambda x: (x, -x), 1, 2)
    assert [p.tolist() for p in g(xnp.arange(2))] == [[0, 1], [0, -1]]
    with pytest.raises(ValueError, match="only for functions of two arrays"):
        g.reduce(xnp.ones(2))


def test_false_times_nan_is_nan():
    """XLA takes a product with a converted bool for a choice, and so forgets NaN and infinity."""
    x = np.float32([np.nan, np.inf, 2.0])
    for f in (lambda m, b, x: b * x, lambda m, b, x: b / (x * 0), lambda m, b, x: b.astype(int).astype(float) * x,
              lambda m, b, x: x * b.astype("complex64")):  # fmt: skip
        for b in (np.zeros(3, bool), np.ones(3, bool)):
            with np.errstate(all="ignore"):
                want = f(np, b, x)
            np.testing.assert_array_equal(xc.jit(partial(f, xnp))(b, x), want.astype(want.dtype))


def test_extrema_without_nan_of_complex_numbers():
    x, y = np.complex64([1 + 2j, np.nan, 3]), np.complex64([1 + 1j, 2j, complex(np.nan, 1)])
    np.testing.assert_array_equal(xnp.fmax(x, y), np.fmax(x, y))
    np.testing.assert_array_equal(xnp.fmin(x, y), np.fmin(x, y))
