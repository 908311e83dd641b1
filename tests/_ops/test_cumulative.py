"""Running totals of arrays that are long enough for blocks, beside NumPy's."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from tests._ops.elsewhere import run_as
from xcore import lax

UFUNCS = {
    "cumsum": np.add,
    "cumprod": np.multiply,
    "cummax": np.maximum,
    "cummin": np.minimum,
}


def inputs(name: str, dtype: str, shape) -> np.ndarray:
    x = np.random.default_rng(1).uniform(-9, 9, shape)
    if dtype == "float32" and name == "cumprod":
        return np.exp(x / 90).astype(dtype)
    return x.astype(dtype)


def reversed_along(axis: int, f, x):
    return np.flip(f(np.flip(x, axis)), axis)


CASES = [("float32", (2, 300), 1), ("int32", (270, 3), 0), ("int8", (600,), 0)]


@pytest.mark.parametrize("dtype, shape, axis", CASES)
@pytest.mark.parametrize("name, ufunc", UFUNCS.items())
def test_totals_in_blocks(name, ufunc, dtype, shape, axis):
    x = inputs(name, dtype, shape)
    f = getattr(lax, name)
    both = xc.jit(lambda x: (f(x, axis=axis), f(x, axis=axis, reverse=True)))
    ahead, back = both(xnp.asarray(x))
    assert ahead.dtype == back.dtype == x.dtype
    # float32: the rounding of some 30 terms, the depth of two levels of blocks
    u = 30 * 2**-24 if dtype == "float32" else 0
    options = {"rtol": u, "atol": u * 900 * (name == "cumsum")}
    wide = x.astype("float64") if dtype == "float32" else x
    known = lambda x: ufunc.accumulate(x, axis, dtype=x.dtype)
    np.testing.assert_allclose(ahead, known(wide), **options)
    np.testing.assert_allclose(back, reversed_along(axis, known, wide), **options)


@pytest.mark.parametrize(
    "shape, axis", [((2, 2500), 1), ((1280, 3), 0), ((3, 20_000, 2), 1), ((1025,), 0)]
)
@pytest.mark.parametrize("name", UFUNCS)
def test_totals_of_lines(name, shape, axis):
    """On accelerators; whole numbers are added exactly."""
    whole = "float64" if name == "cumsum" else "int32"
    x = np.round(inputs(name, "float64", shape)).astype(whole)
    f = getattr(lax, name)
    for reverse in (False, True):
        got = run_as("cuda", lambda x, back=reverse: f(x, axis=axis, reverse=back), x)
        known = lambda x: UFUNCS[name].accumulate(x, axis, dtype=x.dtype)
        want = reversed_along(axis, known, x) if reverse else known(x)
        np.testing.assert_array_equal(got, want)


def test_what_is_not_finite_spreads_only_behind_itself():
    x = np.ones(600, np.float32)
    x[[100, 200]], x[500] = np.inf, np.nan
    known = np.cumsum(x)
    np.testing.assert_array_equal(lax.cumsum(xnp.asarray(x)), known)
    x[200] = -np.inf
    with np.errstate(invalid="ignore"):
        known = np.cumsum(x)
    np.testing.assert_array_equal(lax.cumsum(xnp.asarray(x)), known)
    np.testing.assert_array_equal(
        lax.cumsum(xnp.asarray(x[::-1].copy()), reverse=True), known[::-1]
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats_are_added_in_wide_ones(dtype):
    x = xnp.asarray(np.random.default_rng(0).uniform(0, 1, 2000), dtype)
    got = np.asarray(xc.jit(lax.cumsum)(x)).astype(float)
    eps = float(xnp.finfo(dtype).eps)
    np.testing.assert_allclose(got, np.cumsum(np.asarray(x).astype(float)), rtol=eps)


@pytest.mark.parametrize("reverse", [False, True])
def test_the_slope_of_totals_that_begin_with_nothing(reverse):
    """exp(-inf) adds nothing, and its derivative is 0, also where nothing was added yet."""
    x, v = np.array([-np.inf, -np.inf, 0.0, 1.0, -np.inf]), np.arange(1.0, 6.0)
    f = lambda x: lax.cumlogsumexp(x, reverse=reverse)
    out, slope = xc.jvp(f, (x,), (v,))
    turn = (lambda y: y[::-1]) if reverse else (lambda y: y)
    weights = turn(np.exp(x))
    total = np.cumsum(weights)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(out, turn(np.log(total)))
    wanted = np.cumsum(weights * turn(v)) / np.where(total == 0, 1, total)
    np.testing.assert_allclose(slope, turn(wanted))
