"""Short-time Fourier transforms beside SciPy's, and their inverses."""

import numpy as np
import pytest
import scipy.signal as theirs

import xcore as xc
import xcore.scipy.signal as ours

rng = np.random.default_rng(0)
X = rng.standard_normal((3, 50))
OPTIONS = {
    "default": {"nperseg": 16},
    "odd": {"nperseg": 15, "noverlap": 11, "nfft": 20, "detrend": "linear", "fs": 10.0},
    "even ends": {"nperseg": 8, "boundary": "even", "padded": False, "window": ("kaiser", 4.0)},
    "odd ends": {"nperseg": 8, "boundary": "odd", "scaling": "psd", "fs": 4.0},
    "edges": {"nperseg": 7, "boundary": "constant", "window": "hamming"},
    "no ends": {"nperseg": 9, "noverlap": 5, "boundary": None, "return_onesided": False},
    "all": {"nperseg": 50, "noverlap": 49},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_transforms(name):
    for found, wanted in zip(
        ours.stft(X, **OPTIONS[name]), theirs.stft(X, **OPTIONS[name]), strict=True
    ):
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, atol=1e-13)


INVERSES = {
    "default": {},
    "odd": {"nperseg": 15, "noverlap": 11},
    "many overlaps": {"nperseg": 16, "noverlap": 15, "fs": 8.0},
    "longer transforms": {"nperseg": 16, "nfft": 24, "scaling": "psd", "fs": 2.0},
}


@pytest.mark.parametrize("name", INVERSES)
def test_inverses(name):
    options = {"nperseg": 16} | INVERSES[name]
    z = theirs.stft(X, **options)[2]
    inverse = {k: v for k, v in options.items() if k != "nperseg" or "nperseg" in INVERSES[name]}
    t, x = ours.istft(z, **inverse)
    np.testing.assert_allclose(x[:, :50], X, atol=1e-12)
    np.testing.assert_allclose(x, theirs.istft(z, **inverse)[1], atol=1e-12)
    np.testing.assert_allclose(t, np.arange(x.shape[1]) / options.get("fs", 1.0), rtol=1e-12)


def test_other_axes_complex_samples_and_derivatives():
    z = (X + 1j * X[::-1]).T
    options = {"nperseg": 8, "return_onesided": False}
    found, wanted = ours.stft(z, axis=0, **options)[2], theirs.stft(z, axis=0, **options)[2]
    np.testing.assert_allclose(found, wanted, atol=1e-13)
    swapped = np.moveaxis(wanted, (0, 1, 2), (1, 0, 2))
    back = ours.istft(swapped, input_onesided=False, freq_axis=1)[1]
    np.testing.assert_allclose(back[:, :50], z.T, atol=1e-12)
    first = ours.istft(np.moveaxis(wanted, -1, 0), input_onesided=False, time_axis=0, freq_axis=1)[
        1
    ]
    np.testing.assert_allclose(first[:50], z, atol=1e-12)
    there_and_back = lambda x: ours.istft(ours.stft(x, nperseg=8)[2])[1]
    xc.testing.check_grads(there_and_back, (X[0],), order=1, modes=["rev"])
    np.testing.assert_allclose(xc.vmap(there_and_back)(X)[:, :50], X, atol=1e-12)


BAD = {
    "window": lambda: ours.stft(X, window="round"),
    "boundary": lambda: ours.stft(X, boundary="periodic"),
    "noverlap": lambda: ours.stft(X, nperseg=8, noverlap=8),
    "Zxx": lambda: ours.istft(X[0]),
    "nfft": lambda: ours.istft(X, nfft=8),
    "nperseg": lambda: ours.istft(X, nperseg=0),
}


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_fit(name):
    with pytest.raises(ValueError, match=name):
        BAD[name]()
