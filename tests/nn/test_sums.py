"""softmax and its kin: against NumPy in float64, at extremes, with masks, and their derivatives."""

import numpy as np
import pytest

import xcore as xc
import xcore.nn as nn
import xcore.numpy as xnp
from xcore import special
from xcore.testing import check_grads

RNG = np.random.default_rng(3)
X = RNG.normal(size=(3, 4, 5)) * 5
MASK = RNG.random((3, 4, 5)) > 0.4
MASK[0, 0] = False


def _softmax(x, axis=-1, where=True):
    e = np.exp(x - x.max(axis, keepdims=True)) * where
    total = e.sum(axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


@pytest.mark.parametrize("axis", [-1, 0, (0, 2), None])
def test_softmax(axis):
    exact = _softmax(X, axis)
    np.testing.assert_allclose(nn.softmax(X, axis=axis), exact, rtol=1e-14)
    np.testing.assert_allclose(nn.log_softmax(X, axis=axis), np.log(exact), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(special.softmax(X, axis=axis), exact, rtol=1e-14)


def test_masked_softmax():
    exact = _softmax(X, -1, MASK)
    np.testing.assert_allclose(nn.softmax(X, where=MASK), exact, rtol=1e-14)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(
            nn.log_softmax(X, where=MASK), np.log(exact), rtol=1e-12, atol=1e-13
        )


def test_masked_elements_do_not_matter():
    spoiled = xnp.asarray(np.where(MASK, X, np.nan))
    np.testing.assert_array_equal(nn.softmax(spoiled, where=MASK), nn.softmax(X, where=MASK))
    slope = xc.grad(lambda x: (nn.softmax(x, where=MASK) * X).sum())(spoiled)
    assert np.isfinite(slope).all()
    np.testing.assert_array_equal(np.asarray(slope)[~MASK], 0)


def test_extremes():
    np.testing.assert_array_equal(nn.softmax(xnp.asarray([1e30, -1e30, -np.inf])), [1, 0, 0])
    np.testing.assert_array_equal(nn.log_softmax(xnp.asarray([0.0, -1e30])), np.float32([0, -1e30]))
    assert np.isnan(nn.softmax(xnp.asarray([np.nan, 1.0]))).all()
    assert nn.softmax(xnp.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sums_of_small_floats_are_wide(dtype):
    x = xnp.zeros(5000, dtype=dtype)
    assert float(special.logsumexp(x)) == pytest.approx(np.log(5000), rel=5e-3)
    total = nn.softmax(x).astype("float32").sum()
    assert float(total) == pytest.approx(1, rel=5e-3)


def test_logsumexp():
    b = RNG.normal(size=(4, 1))
    total = (b * np.exp(X)).sum(1)
    size, sign = special.logsumexp(X, axis=1, b=b, return_sign=True)
    np.testing.assert_allclose(size, np.log(abs(total)), rtol=1e-12)
    np.testing.assert_array_equal(sign, np.sign(total))
    plain = special.logsumexp(X, axis=(0, 2), keepdims=True)
    np.testing.assert_allclose(plain, np.log(np.exp(X).sum((0, 2), keepdims=True)), rtol=1e-14)
    masked = special.logsumexp(X, axis=2, where=MASK)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(masked, np.log((np.exp(X) * MASK).sum(2)), rtol=1e-13)


def test_logsumexp_edges():
    f = special.logsumexp
    assert float(f(xnp.asarray([-np.inf, -np.inf]))) == -np.inf
    assert float(f(xnp.asarray([np.inf, 1.0]))) == np.inf
    assert float(f(xnp.asarray([1e30, np.inf]), b=xnp.asarray([1.0, 0.0]))) == np.float32(1e30)
    assert np.isnan(f(xnp.asarray([0.0, 0.0]), b=xnp.asarray([1.0, -2.0])))
    assert float(f(xnp.zeros(0))) == -np.inf
    assert float(f(3)) == 3.0
    np.testing.assert_array_equal(xc.grad(f)(xnp.full(2, -np.inf)), [0, 0])


def test_complex_logsumexp():
    z = X[0, 0] + 1j * X[1, 1]
    total = np.exp(z).sum()
    np.testing.assert_allclose(special.logsumexp(z), np.log(total), rtol=1e-13)
    size, sign = special.logsumexp(z, return_sign=True)
    np.testing.assert_allclose(np.asarray(sign) * np.exp(size), total, rtol=1e-13)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: nn.softmax(x, where=MASK[0]),
        lambda x: nn.log_softmax(x, axis=0),
        lambda x: special.logsumexp(x, axis=1),
        lambda x: special.logsumexp(x, axis=1, b=X[1], return_sign=True)[0],
        lambda x: nn.standardize(x, axis=0),
        lambda x: nn.logmeanexp(x, axis=0),
    ],
)
def test_derivatives(f):
    check_grads(f, (xnp.asarray(X[0] / 5),), order=2, rtol=1e-8)


def test_logmeanexp():
    exact = np.log(np.exp(X).mean(1))
    np.testing.assert_allclose(nn.logmeanexp(X, axis=1), exact, rtol=1e-13)
    with np.errstate(invalid="ignore"):
        exact = np.log((np.exp(X) * MASK).sum(0) / MASK.sum(0))
    np.testing.assert_allclose(nn.logmeanexp(X, axis=0, where=MASK), exact, rtol=1e-13)


@pytest.mark.parametrize("algorithm", ["fast", "stable"])
def test_standardize(algorithm):
    exact = (X - X.mean((0, 1))) / np.sqrt(X.var((0, 1)) + 1e-5)
    got = nn.standardize(X, axis=(0, 1), algorithm=algorithm)
    np.testing.assert_allclose(got, exact, rtol=1e-11)
    got = nn.standardize(X, mean=1.0, variance=4.0, epsilon=0.0)
    np.testing.assert_allclose(got, (X - 1) / 2, rtol=1e-14)


def test_stable_variance_does_not_cancel():
    x = np.float32([10000, 10001, 10002])
    exact = (x - x.mean()) / x.std()
    for given in ({}, {"algorithm": "stable"}):
        np.testing.assert_allclose(nn.standardize(x, epsilon=0.0, **given), exact, rtol=1e-6)
    with pytest.raises(ValueError, match='algorithm must be "fast" or "stable"'):
        nn.standardize(x, algorithm="slow")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("far", [0, 1e3, 3e4, -1e6])
def test_what_lies_far_from_0_is_standardized(dtype, far):
    """To as many digits as the numbers themselves have of their differences; derivatives too."""
    x = (far + np.arange(-8, 8).reshape(2, 8) * 0.5).astype(dtype)
    w = np.sin(np.arange(16.0)).reshape(2, 8)
    exact = x.astype(float) - x.mean(1, dtype=float, keepdims=True)
    scale = 1 / np.sqrt((exact**2).mean(1, keepdims=True) + 1e-5)
    exact = exact * scale
    slope = scale * (w - w.mean(1, keepdims=True) - exact * (w * exact).mean(1, keepdims=True))
    tolerance = 1e-5 if dtype == "float32" else 1e-10
    for f in (nn.standardize, xc.jit(nn.standardize)):
        np.testing.assert_allclose(f(x), exact, atol=tolerance)
        got = xc.grad(lambda x: (f(x) * w.astype(dtype)).sum())(xnp.asarray(x))  # noqa: B023
        np.testing.assert_allclose(got, slope, atol=2 * tolerance)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_squares_of_16_bits_do_not_leave_the_range(dtype):
    x = np.asarray([0.0, 1000.0, 2000.0])
    got = nn.standardize(xnp.asarray(x, dtype))
    assert got.dtype == dtype
    np.testing.assert_allclose(np.asarray(got, float), (x - 1000) / x.std(), atol=1e-2)


def test_one_hot():
    x = np.array([[0, 2], [5, -1]])
    exact = (x[..., None] == np.arange(4)).astype(np.float32)
    np.testing.assert_array_equal(nn.one_hot(x, 4), exact)
    np.testing.assert_array_equal(nn.one_hot(x, 4, axis=0), np.moveaxis(exact, -1, 0))
    assert nn.one_hot(xnp.asarray(1), 3, dtype=bool).tolist() == [False, True, False]
    assert nn.one_hot(x, 0).shape == (2, 2, 0)
    with pytest.raises(ValueError, match="num_classes"):
        nn.one_hot(x, 2.5)
