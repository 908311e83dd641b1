"""``scipy.signal``: convolutions and trends."""

from ._filters import convolve, convolve2d, correlate, correlate2d, detrend, fftconvolve

__all__ = ["convolve", "convolve2d", "correlate", "correlate2d", "detrend", "fftconvolve"]
