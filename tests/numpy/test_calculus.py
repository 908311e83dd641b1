"""Differences, gradients, trapezoids and interpolation, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xcore as xc
import xcore.numpy as xnp
from tests.numpy.reference import check_call, values
from xcore.testing import check_grads

X = values("float64", (4, 5))

ROWS = """
m.diff(x) | m.diff(x, 2) | m.diff(x, n=0) | m.diff(x, axis=0) | m.diff(x, 7) | m.diff(x, prepend=0) | m.diff(x, append=x[:, :2])
m.diff(x, prepend=x[:1], append=x[-1:], axis=0, n=2) | m.diff(x > 0) | m.diff(x[0, 0:1])
m.ediff1d(x) | m.ediff1d(x, to_begin=0) | m.ediff1d(x, to_end=[1.0, 2.0], to_begin=-1.0) | m.ediff1d(x[0, :0])
m.gradient(x) | m.gradient(x, axis=0) | m.gradient(x, axis=(1, 0)) | m.gradient(x, 2.0) | m.gradient(x, 2.0, 0.5)
m.gradient(x, np.array([0.0, 1, 3, 4.5]), axis=0) | m.gradient(x, edge_order=2) | m.gradient(x[0], np.arange(5.0) ** 2, edge_order=2)
m.gradient(x, np.arange(4.0), 0.5) | m.gradient(x[0, :2]) | m.gradient(x, axis=-1, edge_order=1)
m.trapezoid(x) | m.trapezoid(x, axis=0) | m.trapezoid(x, dx=0.25) | m.trapezoid(x, np.arange(5.0) ** 2)
m.trapezoid(x, x + 1, axis=0) | m.trapezoid(x[:, :0]) | m.trapezoid(x[:, :1])
m.interp(x, np.arange(-2.0, 3), np.arange(5.0) ** 2) | m.interp(x[0, 0], np.arange(3.0), np.ones(3))
m.interp(x, np.arange(3.0), np.arange(3.0), left=-7, right=9) | m.interp(x, np.array([0.5]), np.array([2.0]))
m.interp(x, np.array([3.0, 0.5, 2.0]), np.arange(3.0), period=4) | m.interp(x, np.arange(3.0), np.arange(3) * (1 + 1j))
m.interp(x, np.array([0.0, 1, 1, 2]), np.arange(4.0)) | m.interp(np.array([np.nan, np.inf, -np.inf]), np.arange(3.0), np.arange(3.0))
"""
EXPRESSIONS = [e.strip() for line in ROWS.strip().splitlines() for e in line.split(" | ")]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_as_numpy(text):
    check_call(text, X, ulps=16)


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int32", "float16", "bfloat16", "float32", "complex64", "complex128"]
)
def test_dtypes(dtype):
    x = values(dtype, (6,), low=0)
    for text in ("m.diff(x)", "m.ediff1d(x)"):
        if x.dtype.kind in "iu":
            want = np.diff(x)
            got = eval(text, {"m": xnp, "x": xnp.asarray(x)})
            assert got.dtype == x.dtype and got.tolist() == want.tolist()
        else:
            check_call(text, x)
    check_call("m.gradient(x)", x.astype("int32") if dtype == "uint8" else x, ulps=16)
    check_call("m.trapezoid(x)", x, ulps=16)


def test_bools_differ_where_they_change():
    x = np.array([True, True, False, True])
    assert xnp.diff(xnp.asarray(x)).tolist() == np.diff(x).tolist()


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("narrow", ["float16", "bfloat16", "float32"])
def test_narrow_samples_are_not_rounded_again(narrow, count):
    places, samples = (
        np.array([-0.8, -0.3, 0.1, 1.4])[:count],
        np.array([-1.4, -0.1, 0.4, -1])[:count],
    )
    samples = xnp.asarray(samples, narrow)
    got = xnp.interp(np.linspace(-1.0, 2, 7), places, samples)
    want = np.interp(np.linspace(-1.0, 2, 7), places, np.asarray(samples.astype("float64")))
    assert got.dtype == "float64" and np.allclose(got, want, rtol=1e-13)
    if count > 1:
        wide = np.asarray(samples.astype("float64"))
        assert np.allclose(xnp.trapezoid(samples, places), np.trapezoid(wide, places), rtol=1e-13)
        rising, order = np.sort(wide), xnp.sort(samples)
        assert np.allclose(xnp.trapezoid(places, order), np.trapezoid(places, rising), rtol=1e-13)
        assert np.allclose(xnp.gradient(places, order), np.gradient(places, rising), rtol=1e-13)


@given(
    st.lists(st.floats(-10, 10), min_size=2, max_size=8, unique=True),
    st.lists(st.floats(-12, 12), max_size=5),
)
def test_interpolation_of_any_samples(places, x):
    places = np.sort(np.asarray(places))
    if np.diff(places).min() < 1e-6:
        return
    samples = np.cos(places)
    want = np.interp(x, places, samples)
    got = xnp.interp(np.asarray(x, float), places, samples)
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-9, atol=1e-12)


def test_extrapolation_continues_the_line():
    x, y = np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0, 0.0])
    got = xnp.interp(np.array([-1.0, 5.0]), x, y, left="extrapolate", right="extrapolate")
    np.testing.assert_allclose(np.asarray(got), [0.0, -2.0])


DIGITS = """
m.diff(x, prepend=0.7) | m.ediff1d(x, to_end=0.7) | m.append(x, 0.7) | m.insert(x, 1, 0.7) | m.gradient(x, 0.7)
m.interp(0.7, m.sort(x), x) | m.outer(x, 0.7) | m.kron(x, 0.7) | m.pad(x, 1, constant_values=0.7) | m.multiply.outer(x, 0.7)
m.pad(x, 1, 'linear_ramp', end_values=0.7) | m.polyint(x, k=0.7) | m.polyval(x, 0.7) | m.linspace(x, 0.7, 3) | m.where(x > 0, x, 0.7)
m.clip(x, -0.7, 0.7) | m.full_like(x, 0.7) | m.trapezoid(x, dx=0.7) | m.quantile(x, 0.7) | m.select([x > 0], [x], 0.7)
"""


@pytest.mark.parametrize(
    "text", [e.strip() for line in DIGITS.strip().splitlines() for e in line.split(" | ")]
)
def test_python_numbers_keep_their_digits_beside_float64(text):
    check_call(text, X[0], ulps=32)


def test_lanes():
    x = xnp.asarray(X)
    for f in (
        xnp.diff,
        xnp.trapezoid,
        xnp.gradient,
        lambda v: xnp.interp(v, xnp.arange(3.0), v[:3]),
    ):
        lanes = np.asarray(xc.vmap(f)(x))
        np.testing.assert_allclose(lanes, np.stack([np.asarray(f(row)) for row in x]), rtol=1e-6)


def test_derivatives():
    check_grads(lambda x: xnp.trapezoid(x**2, axis=0), (X,))
    check_grads(lambda x: xnp.gradient(x, axis=1, edge_order=2), (X,), order=1)
    places = np.array([0.0, 1.0, 2.5])
    check_grads(
        lambda x, y: xnp.interp(x, places, y),
        (np.array([0.3, 1.7]), np.array([1.0, -2.0, 0.5])),
        order=1,
    )


BAD = [
    (lambda: xnp.diff(xnp.ones(3), -1), "n"), (lambda: xnp.diff(xnp.asarray(1.0)), "axis|0-d|dimension"),
    (lambda: xnp.gradient(xnp.ones(1)), "2|two|elements"), (lambda: xnp.gradient(xnp.ones(3), 1.0, 2.0), "spacing|numbers|arguments"),
    (lambda: xnp.gradient(xnp.ones(3), edge_order=3), "edge_order"), (lambda: xnp.interp(1.0, xnp.ones((2, 2)), xnp.ones((2, 2))), "1-d"),
    (lambda: xnp.interp(1.0, xnp.ones(0), xnp.ones(0)), "at least one"), (lambda: xnp.interp(1j, xnp.ones(2), xnp.ones(2)), "real"),
    (lambda: xnp.interp(1.0, xnp.ones(2), xnp.ones(2), left="flat"), "extrapolate"),
]  # fmt: skip


@pytest.mark.parametrize("call, pattern", BAD)
def test_errors(call, pattern):
    with pytest.raises((ValueError, TypeError), match=pattern):
        call()


@pytest.mark.parametrize("xp", [
    [-np.inf, -0.5, -0.2, np.inf], [0.0, 1.0, np.inf], [-np.inf, np.inf], [-np.inf, -np.inf, 1.0], [0.0, 1.0, 2.0],
])  # fmt: skip
def test_interp_beside_infinity(xp):
    fp = np.linspace(1, 3, len(xp)).astype(np.float32)
    x = np.array([-np.inf, -3, -0.5, -0.3, 0, 0.5, 1, 1.5, 5, np.inf, np.nan], np.float32)
    with np.errstate(invalid="ignore"):
        expected = np.interp(x, xp, fp)
    np.testing.assert_allclose(xnp.interp(x, xnp.asarray(xp), fp), expected, rtol=1e-6)
    assert xnp.interp(xnp.asarray(0.5), xnp.asarray(0.0)[None], xnp.asarray(1.0)[None]).weak_type
    pair = xnp.broadcast_to(xnp.asarray(1.0), (2,))
    assert xnp.interp(xnp.asarray(0.5), pair, pair).weak_type, "as its arguments"
    known = ~np.isnan(expected)
    weights = xc.grad(lambda fp: xnp.interp(x[known], xnp.asarray(xp), fp).sum())(xnp.asarray(fp))
    np.testing.assert_allclose(weights.sum(), known.sum(), rtol=1e-6)


def test_a_period_of_zero_is_refused():
    with pytest.raises(ValueError, match="a number that is not 0"):
        xnp.interp(0.5, np.arange(2.0), np.arange(2.0), period=0)
