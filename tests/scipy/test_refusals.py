"""What SciPy refuses is refused, and what it accepts in other words is accepted."""

import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.linalg
import scipy.ndimage
import scipy.signal

import xcore as xc
from xcore import fft
from xcore.scipy import integrate, linalg, ndimage, signal

SQUARE = np.ones((3, 3), np.float32)


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda: linalg.companion([0, 4, 5]), "a\\[0\\] is not 0"),
        (lambda: linalg.fiedler_companion([0, 4, 5]), "a\\[0\\] is not 0"),
        (lambda: linalg.convolution_matrix(np.ones(3), 0), "n must be"),
        (lambda: linalg.convolution_matrix(np.ones(3), 2.5), "n must be"),
        (lambda: linalg.convolution_matrix(np.ones(0), 2), "a must be"),
        (lambda: linalg.orthogonal_procrustes(SQUARE, SQUARE[:, :2]), "of one shape"),
        (lambda: linalg.orthogonal_procrustes(SQUARE[0], SQUARE[0]), "of one shape"),
        (lambda: signal.convolve2d(SQUARE, SQUARE, fillvalue=[1, 2]), "fillvalue must be"),
        (lambda: signal.correlate2d(SQUARE, SQUARE, fillvalue=1j), "fillvalue must be"),
        (lambda: fft.dctn(SQUARE, axes=2.5), "axes must be"),
        (lambda: fft.fftn(SQUARE, s="3"), "s must be"),
    ],
)
def test_refused(f, words):
    with pytest.raises(ValueError, match=words):
        f()


def test_lengths_and_axes_may_be_one_number():
    x = np.random.default_rng(0).standard_normal((4, 6))
    for name in ("dctn", "idctn", "idstn"):
        for how in ({"axes": 0}, {"s": 4, "axes": 1}, {"s": np.int64(3)}):
            want = getattr(scipy.fft, name)(x, **how)
            np.testing.assert_allclose(getattr(fft, name)(x, **how), want, atol=1e-5)


def test_trends_by_their_first_letter():
    x = np.random.default_rng(0).standard_normal((3, 20))
    for kind in ("l", "c"):
        want = scipy.signal.detrend(x, type=kind)
        np.testing.assert_allclose(signal.detrend(x, type=kind), want, atol=1e-6)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (0, 2), (2, 0), (2, 4, 3)])
def test_factors_of_matrices_that_are_not_square(shape):
    with xc.enable_x64():
        a = np.random.default_rng(1).standard_normal(shape)
        for x, y in zip(linalg.lu_factor(a), scipy.linalg.lu_factor(a), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 9])
def test_samples_at_one_place(n):
    """They add nothing; without such, what SciPy has. Derivatives stay finite."""
    rng = np.random.default_rng(n)
    with xc.enable_x64():
        x, y = np.cumsum(rng.random(n)), rng.standard_normal((2, n))
        np.testing.assert_allclose(
            integrate.simpson(y, x=x), scipy.integrate.simpson(y, x=x), rtol=1e-9
        )
        np.testing.assert_array_equal(integrate.simpson(y, x=0 * x), 0)
        twice = np.sort(np.r_[x, x])  # each interval has a neighbour of no width
        want = scipy.integrate.trapezoid(np.repeat(y, 2, axis=1), x=twice)
        np.testing.assert_allclose(
            integrate.simpson(np.repeat(y, 2, axis=1), x=twice), want, rtol=1e-9
        )
        assert np.isfinite(xc.grad(lambda x: integrate.simpson(y[0], x=x))(0 * x)).all()


@pytest.mark.parametrize("mode", ["constant", "nearest", "reflect"])
def test_halfway_between_two_elements(mode):
    """The one further from 0 is taken, as in JAX; where SciPy agrees with it, as in SciPy."""
    x, at = np.array([4.0, 1.0, 3.0, 2.0]), np.arange(-1.5, 4.1, 0.5)
    want = scipy.ndimage.map_coordinates(x, [at], order=0, mode=mode)
    np.testing.assert_array_equal(ndimage.map_coordinates(x, [at], order=0, mode=mode), want)
