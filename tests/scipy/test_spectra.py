"""Averaged spectra beside SciPy's."""

import numpy as np
import pytest
import scipy.signal as theirs

import xcore as xc
import xcore.scipy.signal as ours

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((2, 50)), rng.standard_normal(43)
OPTIONS = [
    {"nperseg": 16},
    {"nperseg": 15, "noverlap": 4, "nfft": 20, "detrend": "linear", "fs": 10.0},
    {"nperseg": 9, "average": "median", "scaling": "spectrum", "window": "hamming"},
    {"window": np.arange(1.0, 9.0), "detrend": False, "return_onesided": False},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_spectra(options):
    for found, wanted in (
        (ours.welch(X, **options), theirs.welch(X, **options)),
        (ours.csd(X[0], Y, **options), theirs.csd(X[0], Y, **options)),
    ):
        for a, b in zip(found, wanted, strict=True):
            assert a.shape == b.shape and np.allclose(a, b)


def test_spectra_of_complex_samples_along_other_axes():
    z = (X + 1j * X[::-1]).T
    for a, b in zip(
        ours.welch(z, nperseg=8, axis=0),
        theirs.welch(z, nperseg=8, axis=0, return_onesided=False),
        strict=True,
    ):
        assert np.allclose(a, b)
    f = lambda x: ours.welch(x, nperseg=8)[1].sum()
    slope, h = xc.grad(f)(X[0]), 1e-5 * Y[0] * np.ones(50)
    assert np.isclose((slope * h).sum() * 2, f(X[0] + h) - f(X[0] - h), rtol=1e-4)


def test_what_does_not_fit():
    for options, match in (({"window": "round"}, "window"), ({"nperseg": 8, "noverlap": 8}, "noverlap"),
                           ({"nperseg": 8, "nfft": 4}, "nfft"), ({"scaling": "other"}, "scaling"),
                           ({"window": np.ones(99)}, "window"), ({"average": "mode"}, "average")):  # fmt: skip
        with pytest.raises(ValueError, match=match):
            ours.welch(X, **options)


def test_the_density_of_samples_with_themselves_is_real():
    for x in (np.arange(80) % 7.0, np.arange(80) % 7 + 1j):
        for y in (x, None):
            p = ours.csd(x, y, nperseg=16)[1]
            wanted = theirs.csd(x, x, nperseg=16)[1]
            assert p.dtype == wanted.dtype
            np.testing.assert_allclose(p, wanted, atol=1e-12)
