"""Functions of one array against NumPy, a row each: values in every dtype, special values, shapes."""

import warnings

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from tests.numpy.reference import (
    ALL,
    COMPLEX,
    FLOATS,
    INTS,
    REAL,
    assert_same,
    dtype_of,
    rounded,
    values,
)

INEXACT = FLOATS + COMPLEX
UP = (0.1, 3.0)  # positive
UNIT = (-0.95, 0.95)
ABOVE = (1.1, 4.0)
WIDE = (-3.0, 3.0)

# name, dtypes, range of the arguments, whether integers become floats, units in the last place
ROWS = [
    ("absolute", ALL, WIDE, False, 2), ("abs", ALL, WIDE, False, 2), ("fabs", REAL, WIDE, True, 0),
    ("acos", ALL, UNIT, True, 8), ("acosh", ALL, ABOVE, True, 8), ("arccos", FLOATS, UNIT, True, 8),
    ("arccosh", FLOATS, ABOVE, True, 8), ("arcsin", ALL, UNIT, True, 8), ("arcsinh", ALL, WIDE, True, 8),
    ("arctan", ALL, WIDE, True, 8), ("arctanh", FLOATS + COMPLEX, UNIT, True, 8), ("asin", ALL, UNIT, True, 8),
    ("asinh", ALL, WIDE, True, 8), ("atan", ALL, WIDE, True, 8), ("atanh", FLOATS, UNIT, True, 8),
    ("bitwise_count", ("bool", *INTS), WIDE, False, 0), ("bitwise_not", ("bool", *INTS), WIDE, False, 0),
    ("invert", INTS, WIDE, False, 0), ("cbrt", REAL, WIDE, True, 4), ("ceil", REAL, WIDE, False, 0),
    ("conj", ALL[1:], WIDE, False, 0), ("conjugate", COMPLEX, WIDE, False, 0), ("cos", ALL, WIDE, True, 8),
    ("cosh", ALL, WIDE, True, 8), ("deg2rad", REAL, WIDE, True, 2), ("degrees", FLOATS, WIDE, True, 2),
    ("exp", ALL, WIDE, True, 8), ("exp2", REAL, WIDE, True, 8), ("expm1", ALL, WIDE, True, 8),
    ("floor", REAL, WIDE, False, 0), ("imag", ALL, WIDE, False, 0), ("iscomplex", ALL, WIDE, False, 0),
    ("isfinite", ALL, WIDE, False, 0), ("isinf", ALL, WIDE, False, 0), ("isnan", ALL, WIDE, False, 0),
    ("isneginf", REAL, WIDE, False, 0), ("isposinf", REAL, WIDE, False, 0), ("isreal", ALL, WIDE, False, 0),
    ("log", INTS[:2] + INEXACT, UP, True, 4), ("log10", INTS[:2] + INEXACT, UP, True, 4),
    ("log1p", REAL, UP, True, 4), ("log2", INTS[:2] + INEXACT, UP, True, 4),
    ("logical_not", ALL, WIDE, False, 0), ("negative", INTS + INEXACT, WIDE, False, 0),
    ("positive", INTS + INEXACT, WIDE, False, 0), ("rad2deg", REAL, WIDE, True, 2),
    ("radians", FLOATS, WIDE, True, 2), ("real", ALL, WIDE, False, 0),
    ("reciprocal", INEXACT, UP, True, 4), ("rint", INTS[:2] + INEXACT, WIDE, True, 0),
    ("sign", INTS + INEXACT, WIDE, False, 4), ("signbit", INTS[:1] + FLOATS, WIDE, False, 0),
    ("sin", ALL, WIDE, True, 8), ("sinc", ALL, WIDE, True, 16), ("sinh", ALL, WIDE, True, 8),
    ("spacing", FLOATS[2:], WIDE, True, 0), ("sqrt", ALL, UP, True, 4), ("square", ALL[1:], WIDE, False, 4),
    ("tan", ALL, UNIT, True, 8), ("tanh", ALL, WIDE, True, 8), ("trunc", REAL, WIDE, False, 0),
    ("fix", FLOATS, WIDE, False, 0), ("i0", FLOATS, WIDE, True, 4), ("angle", INEXACT, WIDE, True, 4),
    ("nan_to_num", ALL, WIDE, False, 0),
]  # fmt: skip


def expected_dtype(x, want, to_float: bool):
    """NumPy's result dtype, with the default width instead of 64 bits where integers became floats."""
    if want.dtype.kind in "biu" or not to_float or x.dtype.kind not in "biu":
        real = {"complex64": np.dtype("float32"), "complex128": np.dtype("float64")}.get(
            x.dtype.name, x.dtype
        )
        if want.dtype.kind in "biu":
            return want.dtype
        return x.dtype if want.dtype.kind == "c" else real
    return np.dtype("float64" if x.dtype.itemsize == 8 else "float32")


def numpy_result(name, x):
    """What NumPy computes in double precision."""
    exact = (
        x
        if x.dtype.kind in "biu" or name == "spacing"
        else x.astype("complex128" if x.dtype.kind == "c" else "float64")
    )
    if x.dtype.kind in "biu" and name not in EXACT_ON_INTEGERS:
        exact = x.astype("float64")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(getattr(np, name)(exact))


EXACT_ON_INTEGERS = {name for name, _, _, to_float, _ in ROWS if not to_float}


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r[0])
def test_values_and_dtypes(row):
    name, dtypes, bounds, to_float, ulps = row
    xs = [values(dtype, (7,), low=bounds[0], high=bounds[1]) for dtype in dtypes]
    found = xc.jit(lambda *xs: [getattr(xnp, name)(x) for x in xs])(*xs)  # one program for all
    for dtype, x, got in zip(dtypes, xs, found, strict=True):
        want = numpy_result(name, x)
        assert got.dtype == expected_dtype(x, want, to_float), (dtype, got.dtype)
        if got.dtype.itemsize <= 4 and got.dtype.kind in "fVc":
            want = rounded(want, got.dtype)
        assert_same(got, want, ulps, floor=0.1)


SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -0.5, 1.5, 2.5, -2.5, 1e30, -1e30, 100.0]
)


@pytest.mark.parametrize("row", [r for r in ROWS if "float32" in r[1]], ids=lambda r: r[0])
def test_special_values(row):
    name = row[0]
    for dtype in ("float32", "float64"):
        x = SPECIAL.astype(dtype)
        with np.errstate(all="ignore"):
            want = getattr(np, {"fix": "trunc"}.get(name, name))(
                x
            )  # NumPy 2.5 warns of its own fix
        got = np.asarray(getattr(xnp, name)(xnp.asarray(x)))
        if name == "sinc":  # exactly 0 at whole numbers, for which NumPy's angle is rounded
            want = np.where((x == np.rint(x)) & (x != 0) & np.isfinite(x), np.copysign(0, x), want)
        if name in ("sin", "cos", "tan"):  # huge angles are another matter
            keep = ~(np.abs(x) > 1e6) | np.isinf(x)
            got, want = got[keep], want[keep]
        np.testing.assert_allclose(got, want, rtol=2e-6 if dtype == "float32" else 1e-14)
        if want.dtype.kind == "f" and name != "sign":  # NumPy makes 0 of -0 there
            exact = (want == 0) | np.isinf(want)
            np.testing.assert_array_equal(np.signbit(got)[exact], np.signbit(want)[exact])


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 3), (2, 0, 3)])
@pytest.mark.parametrize("name", ["sin", "negative", "floor", "isnan", "log2", "sinc"])
def test_shapes(name, shape):
    x = values("float32", shape, low=0.5)
    got = getattr(xnp, name)(xnp.asarray(x))
    assert got.shape == shape
    assert_same(got, numpy_result(name, x), 8)


@pytest.mark.parametrize("row", ROWS[::4], ids=lambda r: r[0])
def test_compiled_is_eager(row):
    name, dtypes, bounds, *_ = row
    x = xnp.asarray(values(dtypes[-1], (5,), low=bounds[0], high=bounds[1]))
    f = getattr(xnp, name)
    np.testing.assert_array_equal(np.asarray(xc.jit(f)(x)), np.asarray(f(x)))
    lanes = xc.vmap(f)(x)
    np.testing.assert_array_equal(np.asarray(lanes), np.stack([np.asarray(f(v)) for v in x]))


DIFFERENTIABLE = [
    ("abs", 0.7), ("acos", 0.3), ("acosh", 2.0), ("asin", 0.3), ("asinh", 0.3), ("atan", 0.3), ("atanh", 0.3),
    ("cbrt", 0.3), ("cos", 0.3), ("cosh", 0.3), ("deg2rad", 3.0), ("exp", 0.3), ("exp2", 0.3), ("expm1", 0.3),
    ("i0", 0.3), ("i0", 25.0), ("log", 0.3), ("log10", 0.3), ("log10", 100.0), ("log1p", 0.3), ("log2", 0.3),
    ("log2", 8.0), ("reciprocal", 0.3), ("sin", 0.3), ("sinc", 0.3), ("sinc", 0.0), ("sinh", 0.3), ("sqrt", 0.3),
    ("square", 0.3), ("tan", 0.3), ("tanh", 0.3), ("nan_to_num", 0.3), ("angle", 0.3),
]  # fmt: skip


@pytest.mark.parametrize("name, at", DIFFERENTIABLE)
def test_derivative(name, at):
    f = getattr(xnp, name)
    h = 1e-4
    numeric = (numpy_result(name, np.float64(at + h)) - numpy_result(name, np.float64(at - h))) / (
        2 * h
    )
    assert float(xc.grad(f)(xnp.float64(at))) == pytest.approx(float(numeric), rel=1e-6, abs=1e-8)


def test_second_derivative_of_sinc_at_zero():
    # sinc = 1 - (πx)²/6 + …
    second = xc.grad(xc.grad(xnp.sinc))(xnp.float64(0.0))
    assert float(second) == pytest.approx(-(np.pi**2) / 3, rel=1e-12)


def test_huge_arguments_of_sinc_and_i0():
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        x = xnp.asarray([float(xnp.finfo(dtype).max), 10000.0, 25.25, 0.0], dtype)
        got, slope = xc.jvp(xnp.sinc, (x,), (xnp.ones_like(x),))
        value, half = -np.sqrt(0.5) / (np.pi * 25.25), np.sqrt(0.5)
        assert_same(got, [0, 0, rounded(np.float64(value), got.dtype), 1], 8)
        want = [0, 1e-4, (-half - value) / 25.25, 0]
        np.testing.assert_allclose(slope.astype("float64"), want, rtol=0.02, atol=1e-300)
    assert float(xnp.i0(np.finfo("float64").max)) == np.inf


def test_logarithms_of_powers_are_whole():
    e = np.arange(-120, 120)
    for dtype in ("float32", "float64"):
        np.testing.assert_array_equal(np.asarray(xnp.log2(xnp.asarray(2.0**e, dtype))), e)
    e = np.arange(0, 23)
    np.testing.assert_array_equal(np.asarray(xnp.log10(xnp.asarray(10.0**e))), e)


def test_parts_of_floats():
    cases = np.array(
        [3.5, -3.5, 0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -7e20, 0.5, 1.0, 65504.0]
    )
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        with np.errstate(over="ignore"):
            x = cases.astype(dtype_of(dtype))
        a = xnp.asarray(x)
        wide = x.astype("float64")
        m, n = xnp.frexp(a)
        want_m, want_n = np.frexp(wide)
        assert m.dtype == x.dtype and n.dtype == np.int32
        np.testing.assert_array_equal(np.asarray(m).astype("float64"), want_m)
        finite = np.isfinite(wide)
        np.testing.assert_array_equal(np.asarray(n)[finite], want_n[finite])
        back = np.asarray(xnp.ldexp(m, n)).astype("float64")
        np.testing.assert_array_equal(back, wide)
        part, whole = (np.asarray(p).astype("float64") for p in xnp.modf(a))
        want_part, want_whole = np.modf(wide)
        np.testing.assert_array_equal(part, want_part)
        np.testing.assert_array_equal(whole, want_whole)
        np.testing.assert_array_equal(np.signbit(part), np.signbit(want_part))


def test_frexp_below_the_normal_range():
    for dtype in ("float32", "float64"):
        info = np.finfo(dtype)
        x = np.array(
            [info.smallest_subnormal, -3 * info.smallest_subnormal, info.tiny, info.tiny / 4], dtype
        )
        m, n = xnp.frexp(xnp.asarray(x))
        want = np.frexp(x)
        np.testing.assert_array_equal(np.asarray(m), want[0])
        np.testing.assert_array_equal(np.asarray(n), want[1])


def test_ldexp_goes_through_no_overflow():
    x = np.array([2e-38, 1.5, 1e38, np.inf, 0.0], np.float32)
    n = np.array([250, -120, -250, 3, 400])
    with np.errstate(all="ignore"):
        want = np.ldexp(x, n)
    assert_same(xnp.ldexp(xnp.asarray(x), xnp.asarray(n)), want, 1)
    assert float(xc.grad(xnp.ldexp)(1.0, 3)) == 8.0


@pytest.mark.parametrize("decimals", [0, 1, 3, -1, -2])
def test_round(decimals):
    for dtype in ("int32", "uint8", "float32", "float64", "complex64"):
        x = (
            np.array([0, 5, 14, 15, 25, 35, 149, 150, 250, 251])
            if dtype != "uint8"
            else np.arange(0, 250, 5)
        )
        x = (x * (0.137 if np.dtype(dtype).kind in "fc" else 1)).astype(dtype)
        got = xnp.round(xnp.asarray(x), decimals)
        assert got.dtype == x.dtype
        if dtype == "uint8":
            want = np.round(x.astype(int), decimals)
            fits = want < 256
            np.testing.assert_array_equal(np.asarray(got)[fits], want[fits])
        else:
            assert_same(got, np.round(x, decimals), 2)


def test_rounding_numbers_that_python_rounds():
    assert round(xnp.asarray(2.567), 1).item() == pytest.approx(2.6, abs=1e-7)
    assert xnp.round(xnp.float64(1.26), 1).item() == 1.3
    assert xnp.round(xnp.float64(1e305), 10).item() == 1e305


@pytest.mark.parametrize(
    "options",
    [{}, {"discont": 4.0}, {"axis": 0}, {"period": 4.0}],
    ids=["plain", "discont", "axis", "period"],
)
def test_unwrap(options):
    x = np.cumsum(np.random.default_rng(0).uniform(-4, 4, (5, 6)), axis=1)
    assert_same(xnp.unwrap(xnp.asarray(x), **options), np.unwrap(x, **options), 16, floor=10)


def test_unwrap_of_whole_numbers():
    x = np.array([0, 1, 2, -1, 0, 3, 1])
    got = xnp.unwrap(xnp.asarray(x), period=4)
    np.testing.assert_array_equal(np.asarray(got), np.unwrap(x, period=4))
    assert xnp.unwrap(xnp.asarray([1.0])).shape == (1,)


def test_nan_to_num_with_values():
    x = np.array([np.nan, np.inf, -np.inf, 2.0])
    got = xnp.nan_to_num(xnp.asarray(x), nan=5.0, posinf=7.0, neginf=-7.0)
    np.testing.assert_array_equal(np.asarray(got), [5, 7, -7, 2])
    half = xnp.nan_to_num(xnp.asarray(x, dtype="float16"))
    np.testing.assert_array_equal(np.asarray(half), np.nan_to_num(x.astype("float16")))


def test_weak_results_of_weak_arguments():
    half = xnp.ones(2, "float16")
    for name in ("sin", "log2", "sinc", "exp2", "reciprocal", "i0", "deg2rad"):
        assert (getattr(xnp, name)(0.5) * half).dtype == np.float16, name


@pytest.mark.parametrize(
    "call",
    [
        lambda: xnp.floor(1j), lambda: xnp.cbrt(1j), lambda: xnp.bitwise_not(1.0), lambda: xnp.negative(True),
        lambda: xnp.sin("a"), lambda: xnp.sin([1.0]), lambda: xnp.isposinf(1j), lambda: xnp.signbit(1j),
    ],
)  # fmt: skip
def test_wrong_arguments(call):
    with pytest.raises(TypeError, match=r"xcore\.numpy\."):
        call()
