"""Reductions that pass over NaN, against NumPy."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xcore as xc
import xcore.numpy as xnp
from tests.numpy.reference import check_call, values
from xcore.testing import check_grads

X = values("float64", (3, 4))
X[0, 1] = X[2, 0] = X[2, 3] = np.nan

NAMES = "nansum nanprod nanmean nanvar nanstd nanmax nanmin".split()
OPTIONS = [
    "",
    ", axis=0",
    ", axis=-1",
    ", axis=(0, 1)",
    ", axis=1, keepdims=True",
    ", keepdims=True",
]


@pytest.mark.parametrize("name", NAMES)
def test_as_numpy(name):
    for options in OPTIONS:
        check_call(f"m.{name}(x{options})", X, ulps=16)


@pytest.mark.parametrize("name", ["nancumsum", "nancumprod", "nanargmax", "nanargmin"])
def test_positions_and_running_ones(name):
    for options in ("", ", axis=0", ", axis=-1"):
        check_call(f"m.{name}(x{options})", X, ulps=16)


@pytest.mark.parametrize("name", NAMES)
def test_where_and_initial(name):
    initial = ", initial=0.5" if name in ("nansum", "nanprod", "nanmax", "nanmin") else ""
    check_call(
        f"m.{name}(x, axis=0, where=m.asarray([[True], [False], [True]]){initial})", X, ulps=16
    )


def test_degrees_of_freedom():
    for options in ("ddof=1", "ddof=2, axis=1", "correction=1", "axis=0, ddof=1, keepdims=True"):
        check_call(f"m.nanvar(x, {options})", X, ulps=16)
        check_call(f"m.nanstd(x, {options})", X, ulps=16)


def test_a_known_mean():
    for name in ("nanvar", "nanstd"):
        check_call(f"m.{name}(x, axis=1, mean=m.nanmean(x, axis=1, keepdims=True))", X, ulps=16)
        check_call(f"m.{name}(x, axis=0, mean=m.asarray([[0.5, 0.0, 1.0, 0.0]]))", X, ulps=16)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int32", "float16", "bfloat16", "float32", "complex64"]
)
def test_dtypes(dtype):
    x = values(dtype, (3, 4))
    if x.dtype.kind in "fcV":
        x[1, 1] = np.nan
    for name in ("nansum", "nanmean", "nanmax"):
        got = getattr(xnp, name)(xnp.asarray(x), axis=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = getattr(np, name)(
                x.astype(np.complex128 if x.dtype.kind == "c" else np.float64), axis=0
            )
        np.testing.assert_allclose(
            np.asarray(got).astype(want.dtype), want, rtol=2e-2 if x.dtype.itemsize < 4 else 1e-5
        )


def test_nothing_left():
    x = xnp.asarray([[np.nan, np.nan], [1.0, np.nan]])
    np.testing.assert_array_equal(np.asarray(xnp.nanmean(x, axis=1)), [np.nan, 1])
    np.testing.assert_array_equal(np.asarray(xnp.nanmax(x, axis=0)), [1, np.nan])
    assert xnp.nansum(x[0]) == 0 and xnp.nanprod(x[0]) == 1
    assert xnp.nanargmax(x, axis=1).tolist() == [-1, 0]  # NumPy raises, which traced code cannot


@given(st.lists(st.floats(-100, 100) | st.just(np.nan), min_size=1, max_size=12))
def test_the_same_as_without_the_nans(x):
    x = np.asarray(x)
    kept = x[~np.isnan(x)]
    np.testing.assert_allclose(float(xnp.nansum(x)), kept.sum(), rtol=1e-9, atol=1e-9)
    if kept.size:
        np.testing.assert_allclose(float(xnp.nanmean(x)), kept.mean(), rtol=1e-9, atol=1e-9)
        assert float(xnp.nanmax(x)) == kept.max() and x[int(xnp.nanargmin(x))] == kept.min()


def test_lanes_and_derivatives():
    lanes = xc.vmap(xnp.nanmean)(xnp.asarray(X))
    np.testing.assert_allclose(np.asarray(lanes), np.nanmean(X, axis=1), rtol=1e-12)
    slope = np.asarray(xc.grad(lambda x: xnp.nansum(x**2))(xnp.asarray(X)))
    np.testing.assert_allclose(slope[~np.isnan(X)], 2 * X[~np.isnan(X)], rtol=1e-12)
    hole = np.isnan(X)
    check_grads(lambda v: xnp.nanvar(xnp.where(hole, np.nan, v)), (np.nan_to_num(X, nan=0.5),))


n = np.nan
ROWS = np.asarray(
    [[1, 2, 4], [1, n, 4], [n, n, 3], [n, n, n], [2, 2, 2], [2, n, 2], [0, 0, n], [-0.0, n, 0]]
)
REDUCTIONS = {
    "nansum": xnp.nansum,
    "nanprod": xnp.nanprod,
    "nanmean": xnp.nanmean,
    "nanmax": xnp.nanmax,
    "nanmin": xnp.nanmin,
    "nanvar": xnp.nanvar,
    "nanstd": xnp.nanstd,
    "nanvar, ddof=1": lambda x: xnp.nanvar(x, ddof=1),
    "nanstd, ddof=1": lambda x: xnp.nanstd(x, ddof=1),
    "nanmedian": xnp.nanmedian,
    "nanquantile": lambda x: xnp.nanquantile(x, 0.3),
    "nancumsum": lambda x: xnp.nancumsum(x).sum(),
    "nancumprod": lambda x: xnp.nancumprod(x).sum(),
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_derivatives_past_nans(name, dtype):
    """Finite in every row: 0 for elements that are NaN, and in rows of which nothing is known."""
    f, rows = REDUCTIONS[name], ROWS.astype(dtype)
    lanes = np.asarray(xc.vmap(xc.grad(f))(rows), float)
    assert np.isfinite(lanes).all()
    assert not lanes[np.isnan(rows)].any()
    single = np.stack([np.asarray(xc.grad(f)(row), float) for row in rows])
    np.testing.assert_allclose(lanes, single, rtol=1e-3 if dtype == "float16" else 1e-6)
    way = np.asarray([1, 2, 3], dtype)
    forward = np.asarray(xc.vmap(lambda r: xc.jvp(f, (r,), (way,))[1])(rows), float)
    # directions of float16 sum up to rounding of the largest term, a few units
    np.testing.assert_allclose(
        forward, lanes @ [1, 2, 3], rtol=3e-3 if dtype == "float16" else 1e-5
    )


def test_the_spread_of_equal_numbers_has_the_derivative_0():
    for f in (xnp.std, xnp.nanstd, lambda x: xnp.std(x, where=np.asarray([True, True, False]))):
        np.testing.assert_array_equal(xc.grad(f)(xnp.ones(3)), np.zeros(3))
        np.testing.assert_array_equal(xc.jacfwd(f)(xnp.ones(3)), np.zeros(3))
