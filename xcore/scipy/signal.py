"""``scipy.signal``: convolutions, trends and averaged spectra."""

from ._filters import convolve, convolve2d, correlate, correlate2d, detrend, fftconvolve
from ._spectra import csd, welch

__all__ = [
    "convolve", "convolve2d", "correlate", "correlate2d", "csd", "detrend", "fftconvolve", "welch",
]  # fmt: skip
