"""Averaged spectra of windowed segments."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import jit
from .._core import Array, ArrayLike, DTypeLike, dtypes, errors, typeof
from ..numpy import fft
from ._filters import check
from ._filters import detrend as without_trend

_WINDOWS = {
    "boxcar": np.ones, "hann": np.hanning, "hamming": np.hamming, "blackman": np.blackman,
    "bartlett": np.bartlett,
}  # fmt: skip


def window_of(who: str, window: Any, size: int | None) -> np.ndarray:
    """The weights of a window, given by name (periodic) or themselves, as NumPy's float64."""
    if isinstance(window, str | tuple):
        return _named_window(who, window, size)  # pyright: ignore[reportReturnType]
    window = np.asarray(window, np.float64)
    if window.ndim != 1 or not window.size or (size is not None and window.size != size):
        wanted = "a vector" + (f" of {size} weights, as nperseg says" if size is not None else "")
        raise errors.bad_argument(who, "window", window.shape, wanted)
    return window


def _named_window(who: str, window, size: int):
    if window in _WINDOWS:
        return np.ones(size) if size == 1 else _WINDOWS[window](size + 1)[:size]
    from scipy.signal import get_window

    try:
        return get_window(window, size)
    except ValueError as cause:
        wanted = "a window that scipy.signal.get_window knows, or an array of weights"
        raise errors.bad_argument(who, "window", window, wanted) from cause


def sizes(
    who: str, window: Any, nperseg: int | None, noverlap: int | None, nfft: int | None, longest: int
) -> tuple[np.ndarray, int, int]:
    """(window, overlap, length of the transforms), checked."""
    if isinstance(window, str | tuple):
        nperseg = min(256 if nperseg is None else nperseg, longest)
    if nperseg is not None and nperseg < 1:
        raise errors.bad_argument(
            who, "nperseg", nperseg, "at least 1, and data that are not empty"
        )
    weights = window_of(who, window, nperseg)
    size = len(weights)
    noverlap = size // 2 if noverlap is None else noverlap
    nfft = size if nfft is None else nfft
    if size > longest:
        raise errors.bad_argument(
            who, "window", errors.Words(f"{size} weights"), f"at most {longest}, as data has"
        )
    if not 0 <= noverlap < size:
        raise errors.bad_argument(who, "noverlap", noverlap, f"less than nperseg, {size}")
    if nfft < size:
        raise errors.bad_argument(who, "nfft", nfft, f"at least nperseg, {size}")
    return weights, noverlap, nfft


def _segments(x, size: int, step: int):
    """Parts of the last axis as rows."""
    count = (typeof(x).shape[-1] - size) // step + 1
    return x[..., np.arange(count)[:, None] * step + np.arange(size)]


def transformed(
    x: Any, weights: Sequence[float], step: int, nfft: int, detrend: Any, one_sided: bool
) -> Array:
    """Fourier coefficients of the windowed segments: (..., segment, frequency)."""
    parts = _segments(x, len(weights), step)
    if callable(detrend):
        parts = detrend(parts)
    elif detrend:
        parts = without_trend(parts, -1, detrend)
    parts = parts * xnp.asarray(weights, dtypes.to_real(typeof(x).dtype))  # pyright: ignore[reportOperatorIssue]
    return fft.rfft(parts, nfft) if one_sided else fft.fft(parts, nfft)


def inexact(x: Any) -> Array:
    x = xnp.asarray(x)
    return x if dtypes.is_inexact(typeof(x).dtype) else x.astype(float)


def frequencies(nfft: int, fs: float, one_sided: bool, dtype: DTypeLike) -> Array:
    return xnp.asarray((np.fft.rfftfreq if one_sided else np.fft.fftfreq)(nfft), dtype) * fs


def csd(
    x: ArrayLike | Sequence[Any], y: ArrayLike | Sequence[Any] | None, fs: float = 1.0,
    window: str | tuple[Any, ...] | ArrayLike | Sequence[float] = "hann",
    nperseg: int | None = None, noverlap: int | None = None, nfft: int | None = None,
    detrend: str | bool | Callable[..., Any] = "constant", return_onesided: bool = True,
    scaling: str = "density", axis: int = -1, average: str = "mean",
) -> tuple[Array, Array]:  # fmt: skip
    """(frequencies, cross spectral density of x and y) by Welch's method of averaged segments.

    Args:
      x, y: samples; the shorter one is filled up with zeros. Of x alone (y None, or x itself) the density is real.
      fs: samples per unit of time.
      window: a name that ``scipy.signal.get_window`` knows, or an array of weights.
      nperseg: samples of a segment, 256 by default, or as many as there are.
      noverlap: how many of them the next segment shares, half by default.
      nfft: length of the transforms, if longer than the segments.
      detrend: "constant", "linear", False, or a function of segments.
      return_onesided: only frequencies that are not negative, of real samples.
      scaling: "density" (x²/frequency) or "spectrum" (x²).
      axis: of the samples.
      average: over the segments: "mean" or "median".

    >>> import xcore.numpy as xnp
    >>> f, p = csd(xnp.sin(xnp.arange(64.0)), xnp.cos(xnp.arange(64.0)), nperseg=16)
    >>> f.shape, p.shape, p.dtype
    ((9,), (9,), dtype('complex64'))
    """
    who = "signal.csd"
    check(who, "scaling", scaling, ("density", "spectrum"))
    check(who, "average", average, ("mean", "median"))
    own = y is None or y is x
    x = xnp.moveaxis(inexact(x), axis, -1)
    y = x if y is None else xnp.moveaxis(inexact(y), axis, -1)
    longest = max(typeof(x).shape[-1], typeof(y).shape[-1])
    weights, noverlap, nfft = sizes(who, window, nperseg, noverlap, nfft, longest)
    one_sided = bool(return_onesided and not dtypes.is_complex(xnp.result_type(x, y)))
    key = tuple(weights), len(weights) - noverlap, nfft, detrend, one_sided
    p = _averaged(x, y, key, average, longest)
    p = xnp.real(p) if own else p
    total = float(np.sum(weights) ** 2 if scaling == "spectrum" else np.sum(weights**2))
    p = p / total if scaling == "spectrum" else p / (total * fs)
    dtype = dtypes.to_real(typeof(p).dtype)
    return frequencies(nfft, fs, one_sided, dtype), xnp.moveaxis(p, -1, axis)


@functools.partial(jit, static_argnums=(2, 3, 4))
def _averaged(x, y, key, average, longest):
    """The mean or median of conj(X) Y over the segments; both signs together if one-sided."""
    weights, step, nfft, detrend, one_sided = key
    x, y = (_filled(v.astype(xnp.result_type(x, y)), longest) for v in (x, y))
    a, b = (transformed(v, weights, step, nfft, detrend, one_sided) for v in (x, y))
    p = xnp.conj(a) * b
    if one_sided:
        both = np.full(nfft // 2 + 1, 2.0)
        both[0] = 1
        if nfft % 2 == 0:
            both[-1] = 1
        p = p * xnp.asarray(both, dtypes.to_real(typeof(p).dtype))
    if average == "mean":
        return p.mean(-2)
    # the median of the exponential distribution over its mean, for so many samples
    odd = 2 * np.arange(1, (typeof(p).shape[-2] - 1) // 2 + 1)
    bias = float(1 + np.sum(1.0 / (odd + 1) - 1.0 / odd))
    return (xnp.median(p.real, -2) + 1j * xnp.median(p.imag, -2)).astype(typeof(p).dtype) / bias


def _filled(x, size: int):
    missing = size - typeof(x).shape[-1]
    return xnp.pad(x, [(0, 0)] * (typeof(x).ndim - 1) + [(0, missing)]) if missing else x


def welch(
    x: ArrayLike | Sequence[Any], fs: float = 1.0,
    window: str | tuple[Any, ...] | ArrayLike | Sequence[float] = "hann",
    nperseg: int | None = None, noverlap: int | None = None, nfft: int | None = None,
    detrend: str | bool | Callable[..., Any] = "constant", return_onesided: bool = True,
    scaling: str = "density", axis: int = -1, average: str = "mean",
) -> tuple[Array, Array]:  # fmt: skip
    """(frequencies, power spectral density of x) by Welch's method; arguments as of ``csd``.

    Args:
      x: samples.
      fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average: as for
        ``csd``.

    >>> import xcore.numpy as xnp
    >>> f, p = welch(xnp.sin(2 * xnp.pi * xnp.arange(64.0) / 8), nperseg=16)
    >>> float(f[xnp.argmax(p)])
    0.125
    """
    return csd(x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis,
               average)  # fmt: skip
