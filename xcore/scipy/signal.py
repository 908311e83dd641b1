"""``scipy.signal``: convolutions, trends, averaged and short-time spectra."""

from ._filters import convolve, convolve2d, correlate, correlate2d, detrend, fftconvolve
from ._names import guide as _guide
from ._short_time import istft, stft
from ._spectra import csd, welch

__all__ = [
    "convolve", "convolve2d", "correlate", "correlate2d", "csd", "detrend", "fftconvolve", "istft", "stft",
    "welch",
]  # fmt: skip

_ABSENT = {
    "lfilter sosfilt lfiltic filtfilt sosfiltfilt":
        "A recursion is xcore.lax.scan over the samples; on the host SciPy's own takes arrays of xcore: from "
        "scipy.signal import lfilter. A filter of finite length is convolve.",
    "spectrogram ShortTimeFFT periodogram coherence": "There are stft, welch and csd.",
    "windows get_window":
        "stft, welch and csd take SciPy's names of windows; their samples are from scipy.signal import get_window.",
    "hilbert":
        "The analytic signal is ifft(fft(x) * h) by xcore.fft, h = 1, 2, …, 2, 1, 0, …; or, on the host, from "
        "scipy.signal import hilbert.",
}  # fmt: skip
__getattr__ = _guide(__name__, _ABSENT)
