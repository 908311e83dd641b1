"""Densities of vectors, kernel estimates and statistics of samples against SciPy's."""

import numpy as np
import pytest
import scipy.stats

import xcore as xc
import xcore.numpy as xnp
from xcore import random, stats

RNG = np.random.default_rng(0)


def test_multivariate_normal():
    a = RNG.standard_normal((3, 3))
    mean, cov = RNG.standard_normal(3), a @ a.T + np.eye(3)
    x = RNG.standard_normal((5, 3))
    expected = scipy.stats.multivariate_normal.logpdf(x, mean, cov)
    np.testing.assert_allclose(stats.multivariate_normal.logpdf(x, mean, cov), expected, rtol=1e-12)
    np.testing.assert_allclose(stats.multivariate_normal.pdf(x, mean, cov), np.exp(expected))
    many = stats.multivariate_normal.logpdf(x[:, None], mean, np.stack([cov, 2 * cov]))
    assert many.shape == (5, 2)
    np.testing.assert_allclose(many[:, 0], expected, rtol=1e-12)
    with pytest.raises(ValueError, match="matrices"):
        stats.multivariate_normal.logpdf(x, mean, np.eye(2))


def test_dirichlet_and_multinomial():
    alpha = np.array([0.7, 2.0, 3.0])
    x = RNG.dirichlet(alpha, 4)
    expected = [scipy.stats.dirichlet.logpdf(row, alpha) for row in x]
    np.testing.assert_allclose(stats.dirichlet.logpdf(x, alpha), expected, rtol=1e-11)
    np.testing.assert_allclose(stats.dirichlet.logpdf(x[:, :2], alpha), expected, rtol=1e-11)
    assert stats.dirichlet.pdf(np.array([0.5, 0.2, 0.2]), alpha) == 0
    k, p = np.array([[1, 2, 3], [6, 0, 0], [1, 1, 1]]), np.array([0.2, 0.3, 0.5])
    expected = scipy.stats.multinomial.logpmf(k, 6, p)
    np.testing.assert_allclose(stats.multinomial.logpmf(k, 6, p), expected, rtol=1e-11)


@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
def test_rankdata(method):
    x = RNG.integers(0, 5, (3, 12))
    expected = scipy.stats.rankdata(x, method, axis=1)
    np.testing.assert_array_equal(stats.rankdata(x, method, axis=1), expected)
    np.testing.assert_array_equal(
        stats.rankdata(x, method), scipy.stats.rankdata(x, method).ravel()
    )


def test_mode_and_sem():
    x = RNG.integers(0, 4, (9, 5)).astype(float)
    for axis in (0, 1, None):
        value, count = stats.mode(x, axis=axis)
        expected = scipy.stats.mode(x, axis=axis)
        np.testing.assert_array_equal(value, expected.mode)
        np.testing.assert_array_equal(count, expected.count)
        np.testing.assert_allclose(stats.sem(x, axis=axis), scipy.stats.sem(x, axis=axis))
    x[2, 3] = np.nan
    expected = scipy.stats.sem(x, nan_policy="omit")
    np.testing.assert_allclose(stats.sem(x, nan_policy="omit"), expected, rtol=1e-14)


@pytest.mark.parametrize("policy", ["propagate", "omit"])
@pytest.mark.filterwarnings("ignore::scipy.stats._axis_nan_policy.SmallSampleWarning")
def test_mode_of_lines_with_nan(policy):
    """NaNs are one value, though none is equal to another."""
    x = RNG.integers(0, 3, (6, 9)) * 1.0
    x[RNG.random(x.shape) < 0.5], x[0], x[1, 1:] = np.nan, np.nan, np.nan
    for axis in (0, 1, None):
        got, want = (f(x, axis=axis, nan_policy=policy) for f in (stats.mode, scipy.stats.mode))
        np.testing.assert_array_equal(got.mode, want.mode)
        np.testing.assert_array_equal(got.count, want.count)


@pytest.mark.parametrize("d", [1, 2])
def test_gaussian_kde(d):
    data, weights = RNG.standard_normal((d, 30)), RNG.uniform(0.5, 2, 30)
    points = RNG.standard_normal((d, 7))
    for options in ({}, {"bw_method": "silverman"}, {"bw_method": 0.3, "weights": weights}):
        mine, theirs = (
            stats.gaussian_kde(data, **options),
            scipy.stats.gaussian_kde(data, **options),
        )
        np.testing.assert_allclose(mine(points), theirs(points), rtol=1e-10)
    np.testing.assert_allclose(mine.inv_cov, theirs.inv_cov, rtol=1e-9)
    np.testing.assert_allclose(mine.logpdf(points), theirs.logpdf(points), rtol=1e-9)
    np.testing.assert_allclose(mine.integrate_kde(mine), theirs.integrate_kde(theirs), rtol=1e-9)
    mean, cov = np.zeros(d), np.eye(d)
    expected = theirs.integrate_gaussian(mean, cov)
    np.testing.assert_allclose(mine.integrate_gaussian(mean, cov), expected, rtol=1e-9)
    if d == 1:
        expected = theirs.integrate_box_1d(-1, 0.5)
        np.testing.assert_allclose(mine.integrate_box_1d(-1, 0.5), expected, rtol=1e-9)
    assert mine.resample(random.key(0), (4, 2)).shape == (d, 4, 2)
    moved = xc.jit(lambda kde: kde.pdf(points))(mine)
    np.testing.assert_allclose(moved, mine.pdf(points), rtol=1e-12)


def test_kde_mistakes():
    with pytest.raises(ValueError, match="n > 1"):
        stats.gaussian_kde(xnp.ones(1))
    with pytest.raises(ValueError, match="bw_method"):
        stats.gaussian_kde(xnp.arange(4.0), "wide")


def test_axes_of_all_elements_are_kept():
    x = np.arange(12.0).reshape(3, 4)
    for keep in (False, True):
        found, exact = (
            stats.sem(x, axis=None, keepdims=keep),
            scipy.stats.sem(x, axis=None, keepdims=keep),
        )
        assert found.shape == np.shape(exact)
        np.testing.assert_allclose(found, exact)
