"""Derivatives of samples with respect to the parameters, against differences of quantiles.

A sample x of F(·; a) moves with a so that F(x; a) stays what it is: dx/da is the derivative of the
quantile function at the level F(x; a).
"""

import functools

import numpy as np
import pytest
from scipy import stats

import xcore as xc
import xcore.numpy as xnp
from tests.random.test_parameters import COUNTS, SCALARS
from xcore import random

KEY = random.key(11)
N = 6


def quantile_slope(distribution, x, a, h):
    """d/da of the quantile at the level of x, by a central difference; sf keeps the digits above."""
    low, high = distribution(a - h), distribution(a + h)
    here = distribution(a)
    upper = here.cdf(x) > 0.5
    by_cdf = (high.ppf(here.cdf(x)) - low.ppf(here.cdf(x))) / (2 * h)
    by_sf = (high.isf(here.sf(x)) - low.isf(here.sf(x))) / (2 * h)
    return np.where(upper, by_sf, by_cdf)


def sample_and_slope(draw, a):
    """Samples of shape (N,) and their derivatives in the parameter, in both modes."""
    parameters = xnp.full((N,), a, "float64")
    x, slope = xc.jvp(draw, (parameters,), (xnp.ones(N, "float64"),))
    reverse = xc.grad(lambda a: draw(a).sum())(parameters)
    np.testing.assert_allclose(reverse, slope, rtol=1e-12)
    return np.asarray(x), np.asarray(slope)


@pytest.mark.parametrize("a", [0.05, 0.8, 1.0, 3.7, 60.0, 1e4])
def test_gamma(a):
    x, slope = sample_and_slope(lambda a: random.gamma(KEY, a, dtype="float64"), a)
    expected = quantile_slope(stats.gamma, x, a, 1e-5 * a)
    np.testing.assert_allclose(slope, expected, rtol=2e-6)


def test_gamma_in_float32():
    a = xnp.full((N,), 2.5, "float32")
    x, slope = xc.jvp(lambda a: random.gamma(KEY, a), (a,), (xnp.ones(N),))
    expected = quantile_slope(stats.gamma, np.asarray(x, float), 2.5, 1e-5)
    np.testing.assert_allclose(slope, expected, rtol=1e-5)


def test_loggamma():
    a = 0.02
    log_x, slope = sample_and_slope(lambda a: random.loggamma(KEY, a, dtype="float64"), a)
    # d log x / da = (dx/da) / x; where x is tiny F = x^a / Γ(a + 1), so a log x - log Γ(a + 1) stays
    from scipy.special import digamma

    tiny = log_x < -40
    assert tiny.any()
    np.testing.assert_allclose(slope[tiny], (digamma(a + 1) - log_x[tiny]) / a, rtol=1e-9)


@pytest.mark.parametrize("a", [0.7, 4.0])
def test_chisquare(a):
    x, slope = sample_and_slope(lambda a: random.chisquare(KEY, a, dtype="float64"), a)
    np.testing.assert_allclose(slope, quantile_slope(stats.chi2, x, a, 1e-5 * a), rtol=2e-6)


def mean_slope(f, *parameters):
    """The mean over many samples of the derivative of f in each parameter, and its standard error."""
    n = 20000
    full = [xnp.full((n,), p, "float64") for p in parameters]
    slopes = np.stack(xc.grad(lambda *p: f(*p).sum(), tuple(range(len(full))))(*full))
    return slopes.mean(axis=1), slopes.std(axis=1) / np.sqrt(n)


MEANS = [
    # f of a sample, parameters, and the derivatives of its expected value
    ("beta", lambda x: x, (0.7, 2.5), (2.5 / 3.2**2, -0.7 / 3.2**2)),
    ("beta", lambda x: x, (30.0, 12.0), (12 / 42.0**2, -30 / 42.0**2)),
    ("t", lambda x: x * x, (9.0,), (-2 / 49.0,)),
    ("f", lambda x: x, (3.0, 12.0), (0.0, -2 / 100.0)),
]


@pytest.mark.parametrize(("name", "f", "at", "expected"), MEANS)
def test_means_move_as_they_should(name, f, at, expected):
    """Samples of two gammas move along another path than their quantile; their means all the same.

    A z-score beyond 5 comes once in 10^6 by chance.
    """
    found, error = mean_slope(lambda *p: f(getattr(random, name)(KEY, *p, dtype="float64")), *at)
    assert (np.abs(found - np.array(expected)) < 5 * error + 1e-12).all()


def test_dirichlet():
    """E x_i = a_i / A, so dE x_i / da_j = (δ_ij A - a_i) / A²; and the sum of a sample stays 1."""
    alpha, n = np.array([0.7, 2.0, 3.5]), 20000
    _, moved = xc.vmap(
        lambda t: xc.jvp(
            lambda a: random.dirichlet(KEY, a, (n,), "float64"), (xnp.asarray(alpha),), (t,)
        )
    )(xnp.eye(3, dtype="float64"))
    moved, total = np.asarray(moved), alpha.sum()
    np.testing.assert_allclose(moved.sum(axis=-1), 0, atol=1e-12)
    expected = (np.eye(3) * total - alpha) / total**2
    error = moved.std(axis=1) / np.sqrt(n)
    assert (np.abs(moved.mean(axis=1) - expected) < 5 * error).all()


@pytest.mark.parametrize("low, high", [(8.0, 9.0), (-9.0, -8.0), (4.0, np.inf), (30.0, 30.01)])
def test_truncated_normal_moves_with_bounds_in_a_tail(low, high):
    """At fixed probability: beside differences of SciPy's quantiles."""
    with xc.enable_x64(True):
        draw = lambda *bounds: random.truncated_normal(random.key(3), *bounds, (5,), "float64")
        slopes = xc.jit(xc.jacrev(draw, (0, 1)))(low, high)
        x = np.asarray(draw(low, high))
    near, far = (low, high) if low > 0 else (-high, -low)
    part, h = stats.truncnorm.sf(abs(x), near, far), 1e-6
    move = lambda a, b: stats.truncnorm.isf(part, near + a, far + b)
    expected = [(move(h, 0) - move(-h, 0)) / (2 * h), (move(0, h) - move(0, -h)) / (2 * h)]
    np.testing.assert_allclose(
        slopes, expected if low > 0 else expected[::-1], rtol=1e-4, atol=1e-6
    )


DRAWS = {
    name: functools.partial(random.uniform, KEY, (N,))
    if name == "uniform"
    else getattr(random, name)
    for name in SCALARS
    if name not in {*COUNTS, "binomial"}
}
BY_GAMMA = (
    "beta",
    "chisquare",
    "f",
    "gamma",
    "generalized_normal",
    "loggamma",
    "t",
)  # compile long
CASES = [(n, d) for n in DRAWS for d in ("float16", "bfloat16", "float32", "float64")
         if n not in BY_GAMMA or d == "float16" or n == "gamma"]  # fmt: skip


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_samples_of_every_dtype_have_derivatives(name, dtype):
    """In that dtype, without NaN; in float32 of second order."""
    good = (3.0,) if name == "t" else SCALARS[name][0]  # with 1 they go beyond float16
    if name == "uniform":
        total = lambda *p: DRAWS[name](dtype, *p).sum()
    else:
        total = lambda *p: DRAWS[name](KEY, *p, shape=(N,), dtype=dtype).sum()
    slopes = (xc.hessian if dtype == "float32" else xc.jacrev)(total, range(len(good)))
    for d in xc.tree.leaves(xc.jit(slopes)(*[xnp.full((), p, dtype) for p in good])):
        assert d.dtype == dtype
        assert np.isfinite(d).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("low, high", [(6.0, np.inf), (-np.inf, -6.0), (6.0, 6.0), (-7.0, -7.0)])
def test_slopes_in_a_tail_are_finite_at_infinite_and_at_equal_bounds(low, high, dtype):
    total = lambda *bounds: random.truncated_normal(KEY, *bounds, (N,), dtype).sum()
    bounds = xnp.asarray(low, dtype), xnp.asarray(high, dtype)
    for d in xc.tree.leaves(
        (xc.jacrev(total, (0, 1))(*bounds), xc.hessian(total, (0, 1))(*bounds))
    ):
        assert np.isfinite(d).all()
