"""Samples at infinity, coordinates that fall in unsigned integers, weights and ranges that are none."""

import itertools

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp

INF, NAN = np.inf, np.nan


@pytest.fixture(autouse=True)
def _double():
    with xc.enable_x64():
        yield


@pytest.mark.parametrize("fp", list(itertools.product([1.0, INF, -INF, NAN], repeat=3)))
def test_lines_between_samples_at_infinity(fp):
    """A sample keeps its own value beside an infinite one, which has the interval; as in NumPy."""
    x, xp, fp = (
        np.array([0.0, 1.0, 1.5, 2.0, 2.25, 3.0, 4.0]),
        np.array([1.0, 2.0, 3.0]),
        np.array(fp),
    )
    with np.errstate(invalid="ignore"):
        want = np.interp(x, xp, fp)
    np.testing.assert_array_equal(xnp.interp(x, xp, fp), want)
    np.testing.assert_array_equal(xc.jit(xnp.interp)(x, xp, fp), want)


@pytest.mark.parametrize(
    "xp", [[-INF, 1.0, 2.0], [0.0, 1.0, INF], [-INF, 1.0, INF], [0.0, 1.0, 1.0]]
)
def test_coordinates_at_infinity(xp):
    x, fp = np.array([-1.0, 0.5, 1.0, 1.5, 5.0]), np.array([3.0, 5.0, 5.0])
    with np.errstate(invalid="ignore"):
        want = np.interp(x, np.array(xp), fp)
    np.testing.assert_array_equal(xnp.interp(x, np.array(xp), fp), want)


def test_slopes_of_lines_beside_finite_samples_only():
    x = xnp.asarray([1.0, 1.5, 2.0, 2.5])
    slope = xc.grad(
        lambda x: xnp.interp(x, xnp.asarray([1.0, 2.0, 3.0]), xnp.asarray([0.0, 2.0, 1.0])).sum()
    )
    np.testing.assert_allclose(slope(x), [2.0, 2.0, -1.0, -1.0])


@pytest.mark.parametrize("dtype", ["uint8", "uint32", "uint64", "int8", "int32"])
def test_whole_coordinates_that_fall(dtype):
    x = np.array([100, 70, 50, 20, 0], dtype)
    y, wide = np.array([1.0, 4.0, 2.0, 8.0, 3.0]), x.astype(float)
    np.testing.assert_allclose(xnp.gradient(y, x), np.gradient(y, wide), rtol=1e-12)
    np.testing.assert_allclose(
        xnp.gradient(y, x, edge_order=2), np.gradient(y, wide, edge_order=2), rtol=1e-12
    )
    np.testing.assert_allclose(xnp.trapezoid(y, x), np.trapezoid(y, wide), rtol=1e-12)
    apart = np.array([-120, 120], "int8")
    np.testing.assert_allclose(
        xnp.gradient(y[:2], apart), np.gradient(y[:2], apart.astype(float)), rtol=1e-12
    )


@pytest.mark.parametrize("weights", [[1, NAN, 1], [1, INF, 1], [0, 0, 0], [1, -1, 3]])
def test_weights_that_are_none(weights):
    a, w = np.arange(3.0), np.array(weights, float)
    for f in (xnp.quantile, xnp.nanquantile):
        with pytest.raises(ValueError, match="weights must be finite"):
            f(a, 0.5, weights=w, method="inverted_cdf")
        traced = xc.jit(lambda w, f=f: f(a, 0.5, weights=w, method="inverted_cdf"))
        assert np.isnan(traced(w))


@pytest.mark.parametrize("ends", [(NAN, 1.0), (0.0, INF), (1.0, 0.0)])
def test_ranges_that_are_none(ends):
    x = np.linspace(0, 1, 5)
    with pytest.raises(ValueError, match="finite and rising"):
        xnp.histogram(x, range=ends)
    with pytest.raises(ValueError, match="finite and rising"):
        xnp.histogram_bin_edges(x, range=ends)
    with pytest.raises(ValueError, match="finite and rising"):
        xnp.histogram2d(x, x, range=[(0.0, 1.0), ends])


SIZES = [0, 1, 5, 2**53, 2**53 + 1, 2**60, 2**60 + 1, 2**63 - 1]


@pytest.mark.parametrize(
    "name", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
)
@pytest.mark.parametrize("signed", ["int8", "int32", "int64"])
def test_signed_beside_unsigned_integers(name, signed):
    """They have no integer dtype in common, and float64 does not tell 2⁶⁰ from 2⁶⁰ + 1."""
    low = np.iinfo(signed)
    a = np.array([n for n in (*SIZES, -1, -7, low.min) if low.min <= n <= low.max], signed)[:, None]
    b = np.array([*SIZES, 2**63, 2**64 - 1], "uint64")
    f, want = getattr(xnp, name), getattr(np, name)
    operator = {"equal": "__eq__", "not_equal": "__ne__", "less": "__lt__", "less_equal": "__le__",
                "greater": "__gt__", "greater_equal": "__ge__"}[name]  # fmt: skip
    for x, y in ((a, b), (b, a)):
        np.testing.assert_array_equal(f(x, y), want(x, y))
        np.testing.assert_array_equal(xc.jit(f)(x, y), want(x, y))
        np.testing.assert_array_equal(getattr(xnp.asarray(x), operator)(xnp.asarray(y)), want(x, y))
        np.testing.assert_array_equal(
            xc.vmap(lambda v: f(v, 3))(xnp.asarray(x).ravel()), want(x.ravel(), 3)
        )


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "uint64", "int64"])
def test_limits_that_the_dtype_does_not_hold(dtype):
    ends = np.iinfo(dtype)
    x = np.array([ends.min, 1, 7, ends.max], dtype)
    for low, high in (
        (-(2**70), 5),
        (2, 2**70),
        (-(2**70), 2**70),
        (ends.min, ends.max),
        (None, 2**90),
    ):
        np.testing.assert_array_equal(xnp.clip(x, low, high), np.clip(x, low, high))
        found = xc.jit(lambda x, low=low, high=high: x.clip(low, high))(xnp.asarray(x))
        np.testing.assert_array_equal(found, np.clip(x, low, high))
        assert found.dtype == x.dtype
    with pytest.raises(OverflowError):
        xnp.clip(x, 2**70)
