"""Quantiles by every method, medians, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xcore as xc
import xcore.numpy as xnp
from tests.numpy.reference import check_call, values
from xcore.testing import check_grads

X = values("float64", (4, 5))
HOLES = np.where(X > 1.5, np.nan, X)
METHODS = """inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull linear
median_unbiased normal_unbiased lower higher midpoint nearest""".split()


@pytest.mark.parametrize("method", METHODS)
def test_methods(method):
    q = np.array([0.0, 0.1, 0.25, 0.5, 0.61, 1.0])
    check_call(f"m.quantile(x, q, method='{method}')", X, ulps=16, q=q)
    check_call(f"m.quantile(x, q, axis=0, method='{method}')", X, ulps=16, q=q)


ROWS = """
m.quantile(x, 0.3) | m.quantile(x, 0.3, axis=(0, 1)) | m.quantile(x, 0.3, axis=1, keepdims=True) | m.quantile(x, q) | m.quantile(x, q[None], axis=0)
m.percentile(x, 30) | m.percentile(x, q * 100, axis=-1) | m.percentile(x, 30, method='lower', keepdims=True) | m.median(x) | m.median(x, axis=0)
m.median(x, axis=(0, 1), keepdims=True) | m.median(x[0, 0]) | m.median(x[:, :4], axis=1) | m.nanmedian(h) | m.nanmedian(h, axis=0) | m.nanmedian(h, axis=1, keepdims=True)
m.nanquantile(h, q) | m.nanquantile(h, q, axis=0) | m.nanpercentile(h, 40, axis=1) | m.nanquantile(h, 0.5, method='higher', axis=0) | m.quantile(h, 0.5, axis=0)
m.quantile(x, q, axis=0, weights=np.arange(1.0, 5), method='inverted_cdf') | m.quantile(x, 0.5, weights=np.abs(x), method='inverted_cdf')
m.percentile(x, 20, axis=1, weights=np.array([0.0, 1, 2, 0, 1]), method='inverted_cdf')
"""
EXPRESSIONS = [e.strip() for line in ROWS.strip().splitlines() for e in line.split(" | ")]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_as_numpy(text):
    traced = "np.abs" not in text
    check_call(text, X, ulps=16, traced=traced, q=np.array([0.2, 0.7]), h=HOLES)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int32", "float16", "bfloat16", "float32"]
)
def test_dtypes(dtype):
    x = values(dtype, (9,), low=0)
    got = xnp.median(xnp.asarray(x))
    assert got.dtype == (x.dtype if x.dtype.kind in "fV" else np.dtype("float32"))
    assert float(got) == np.sort(x.astype(float))[4]
    assert xnp.quantile(xnp.asarray(x), 0.5, method="lower").dtype == x.dtype


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9), st.floats(0, 1))
def test_a_quantile_lies_between_elements(x, q):
    x = np.sort(np.asarray(x, float))
    got = float(xnp.quantile(x, np.asarray(q)))
    np.testing.assert_allclose(got, np.quantile(x, q), rtol=1e-9, atol=1e-9)


def test_infinities_stay_where_they_are():
    x = np.array([-np.inf, 1.0, 2.0, np.inf])
    # NumPy's interpolation makes NaN of them
    for q, want in ((0.0, -np.inf), (1 / 3, 1.0), (0.5, 1.5), (1.0, np.inf)):
        assert float(xnp.quantile(x, q)) == want


def test_nothing_to_take_a_median_of():
    assert np.isnan(float(xnp.median(xnp.zeros(0)))) and np.isnan(
        float(xnp.nanmedian(xnp.asarray([np.nan])))
    )


def test_lanes_and_derivatives():
    lanes = np.asarray(xc.vmap(lambda v: xnp.quantile(v, 0.4))(xnp.asarray(X)))
    np.testing.assert_allclose(lanes, np.quantile(X, 0.4, axis=1), rtol=1e-12)
    check_grads(lambda x: xnp.quantile(x, 0.4, axis=0), (X,), order=1)
    check_grads(lambda x: xnp.median(x, axis=1), (X[:, :4],), order=1)


def test_errors():
    with pytest.raises(ValueError, match="between 0 and 1"):
        xnp.quantile(xnp.ones(3), 1.5)
    with pytest.raises(ValueError, match="method"):
        xnp.quantile(xnp.ones(3), 0.5, method="best")
    with pytest.raises((ValueError, TypeError), match=r"complex|float"):
        xnp.quantile(xnp.ones(3, complex), 0.5)
    with pytest.raises(ValueError, match="inverted_cdf"):
        xnp.quantile(xnp.ones(3), 0.5, weights=xnp.ones(3))


@pytest.mark.parametrize("q", [0.5, 0.3])
def test_derivatives_at_equal_elements_are_those_of_the_line(q):
    x, t = xnp.zeros(2), xnp.asarray([2.0, 2.4])
    for y in (x, x + 1e-3 * t):  # of two elements nothing has a kink there but their order
        _, slope = xc.jvp(lambda v: xnp.quantile(v, q), (y,), (t,))
        assert np.isclose(slope, 2 + 0.4 * q, rtol=1e-6)
    assert np.isposinf(xnp.median(xnp.full(4, np.inf)))


@pytest.mark.parametrize("method", METHODS)
def test_places_of_numbers_are_those_of_arrays(method):
    """NumPy finds the places of parts that are numbers, a program those of arrays."""
    q = [[0.0, 0.1, 0.25], [0.5, 0.61, 1.0]]
    x = X[:3, :3].astype("float32")
    known = xnp.quantile(x, q, method=method)
    assert np.allclose(known, xnp.quantile(x, np.array(q), method=method), rtol=0, atol=1e-6)
    assert known.dtype == "float32" and known.shape == (2, 3)


def test_a_program_of_float32_with_known_parts_holds_no_float64():
    x = xc.ShapeDtypeStruct((5,), "float32")
    for f in (xnp.median, lambda x: xnp.percentile(x, 30)):
        assert "f64" not in xc.jit(f).lower(x).as_text()


@pytest.mark.parametrize("f", [xnp.quantile, xnp.nanquantile])
def test_slopes_along_the_parts_are_those_of_the_line(f):
    """At elements and halfway between them too, where values are those of other formulas."""
    a = xnp.asarray([1.0, 3.0, 7.0, 8.0, 20.0])
    parts = xnp.asarray([0.0, 0.125, 0.2, 0.25, 0.375, 0.5, 0.875])
    slope = xc.vmap(xc.grad(lambda q: f(a, q)))(parts)
    np.testing.assert_allclose(slope, 4 * np.array([2, 2, 2, 4, 4, 1, 12.0]), rtol=1e-5)
    mixed = xc.jacobian(xc.grad(lambda q, a: f(a, q)), 1)(0.5, a)
    np.testing.assert_allclose(mixed, [0, 0, -4, 4, 0], atol=1e-5)
