"""``scipy.signal``: convolutions, trends, averaged and short-time spectra."""

from ._filters import convolve, convolve2d, correlate, correlate2d, detrend, fftconvolve
from ._short_time import istft, stft
from ._spectra import csd, welch

__all__ = [
    "convolve", "convolve2d", "correlate", "correlate2d", "csd", "detrend", "fftconvolve", "istft", "stft",
    "welch",
]  # fmt: skip
