"""Short-time Fourier transforms and their inverses."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import jit
from .._core import Array, ArrayLike, dtypes, errors, typeof
from ..numpy import fft
from ._filters import check
from ._spectra import frequencies, inexact, sizes, transformed

# SciPy's names of extensions as modes of xnp.pad; "odd" reflects about the end point.
_EXTENSIONS = {
    "even": {"mode": "reflect"},
    "odd": {"mode": "reflect", "reflect_type": "odd"},
    "constant": {"mode": "edge"},
    "zeros": {"mode": "constant"},
    None: None,
}
_MANY_OVERLAPS = 16  # sums of shifted segments up to here, one scatter beyond
_TINY = 1e-10  # sums of squared weights below this are not divided by, as in SciPy


def _scale(weights: np.ndarray, fs, scaling: str) -> float:
    return float(np.sum(weights) if scaling == "spectrum" else np.sqrt(fs * np.sum(weights**2)))


def stft(
    x: ArrayLike | Sequence[Any], fs: float = 1.0,
    window: str | tuple[Any, ...] | ArrayLike | Sequence[float] = "hann", nperseg: int = 256,
    noverlap: int | None = None, nfft: int | None = None,
    detrend: str | bool | Callable[..., Any] = False, return_onesided: bool = True,
    boundary: str | None = "zeros", padded: bool = True, axis: int = -1, scaling: str = "spectrum",
) -> tuple[Array, Array, Array]:  # fmt: skip
    """(frequencies, times, z): Fourier coefficients of overlapping segments, ``z[..., f, ..., t]``.

    Args:
      x: samples.
      fs: samples per unit of time.
      window: a name that ``scipy.signal.get_window`` knows, or an array of weights.
      nperseg: samples of a segment, at most as many as there are.
      noverlap: how many of them the next segment shares, half by default.
      nfft: length of the transforms, if longer than the segments.
      detrend: "constant", "linear", False, or a function of segments.
      return_onesided: only frequencies that are not negative, of real samples.
      boundary: how both ends are continued by half a segment: "zeros", "even", "odd", "constant",
        or None for not at all.
      padded: whether zeros complete the last segment; else it is left out.
      axis: of the samples; frequencies take its place, times come last.
      scaling: "spectrum" or "psd" (the squares of z are a density).

    >>> import xcore.numpy as xnp
    >>> f, t, z = stft(xnp.sin(xnp.arange(64.0)), nperseg=16)
    >>> z.shape, [float(s) for s in t[:3]]
    ((9, 9), [0.0, 8.0, 16.0])
    """
    who = "signal.stft"
    check(who, "scaling", scaling, ("spectrum", "psd"))
    check(who, "boundary", boundary, tuple(_EXTENSIONS))
    x = xnp.moveaxis(inexact(x), axis, -1)
    nperseg = nperseg if isinstance(window, str | tuple) else None  # pyright: ignore[reportAssignmentType]
    weights, noverlap, nfft = sizes(who, window, nperseg, noverlap, nfft, typeof(x).shape[-1])
    one_sided = bool(return_onesided and not dtypes.is_complex(typeof(x).dtype))
    step = len(weights) - noverlap
    key = tuple(weights), step, nfft, detrend, one_sided
    z = _coefficients(x, key, boundary, bool(padded)) / _scale(weights, fs, scaling)
    dtype = dtypes.to_real(typeof(z).dtype)
    first = 0 if boundary else len(weights) / 2
    times = xnp.asarray((first + step * np.arange(typeof(z).shape[-2])) / fs, dtype)
    z = xnp.moveaxis(z, -1, axis if axis >= 0 else axis - 1)
    return frequencies(nfft, fs, one_sided, dtype), times, z


@functools.partial(jit, static_argnums=(1, 2, 3))
def _coefficients(x, key, boundary, padded):
    """(..., segment, frequency), of the extended samples."""
    weights, step, *_ = key
    size, lead = len(weights), [(0, 0)] * (typeof(x).ndim - 1)
    if boundary:
        x = xnp.pad(x, [*lead, (size // 2, size // 2)], **_EXTENSIONS[boundary])
    missing = (size - typeof(x).shape[-1]) % step % size if padded else 0
    return transformed(xnp.pad(x, [*lead, (0, missing)]), *key)


def istft(
    Zxx: ArrayLike | Sequence[Any], fs: float = 1.0,
    window: str | tuple[Any, ...] | ArrayLike | Sequence[float] = "hann",
    nperseg: int | None = None, noverlap: int | None = None, nfft: int | None = None,
    input_onesided: bool = True, boundary: bool = True, time_axis: int = -1, freq_axis: int = -2,
    scaling: str = "spectrum",
) -> tuple[Array, Array]:  # fmt: skip
    """(times, samples) from the coefficients that ``stft`` gives.

    The segments are added where they belong, weighted so that the error is least in the sense of
    squares. Exact where the squared weights of all segments do not add up to zero.

    Args:
      Zxx: coefficients.
      fs, window, noverlap, nfft, scaling: as for ``stft``.
      nperseg: samples of a segment: by default what the number of frequencies says, if even.
      input_onesided: whether there are only frequencies that are not negative.
      boundary: whether ``stft`` continued the samples by half a segment at both ends.
      time_axis, freq_axis: of the coefficients.

    >>> import xcore.numpy as xnp
    >>> x = xnp.sin(xnp.arange(64.0))
    >>> t, y = istft(stft(x, nperseg=16)[2])
    >>> y.shape, bool(abs(y - x).max() < 1e-6)
    ((64,), True)
    """
    who = "signal.istft"
    check(who, "scaling", scaling, ("spectrum", "psd"))
    z = xnp.asarray(Zxx)
    z = z if dtypes.is_complex(typeof(z).dtype) else z.astype(complex)
    ndim = typeof(z).ndim
    if ndim < 2 or time_axis % ndim == freq_axis % ndim:
        wanted = "at least two axes, of which time_axis and freq_axis differ"
        raise errors.bad_argument(who, "Zxx", typeof(z).shape, wanted)
    z = xnp.moveaxis(z, (time_axis, freq_axis), (-2, -1))
    weights, noverlap, nfft = _inverse_sizes(
        who, window, nperseg, noverlap, nfft, typeof(z).shape[-1], input_onesided
    )
    key = tuple(weights), len(weights) - noverlap, nfft, bool(input_onesided)
    x = _samples(z, key, len(weights) // 2 if boundary else 0) * _scale(weights, fs, scaling)
    times = xnp.asarray(np.arange(typeof(x).shape[-1]) / fs, dtypes.to_real(typeof(x).dtype))
    place = time_axis % ndim
    return times, xnp.moveaxis(x, -1, place - (freq_axis % ndim < place))


def _inverse_sizes(who: str, window, nperseg, noverlap, nfft, count: int, one_sided: bool):
    """(window, overlap, length of the transforms) for so many frequencies."""
    whole = 2 * (count - 1) if one_sided else count
    named = isinstance(window, str | tuple)
    nperseg = (whole if named else np.size(window)) if nperseg is None else int(nperseg)
    if nperseg < 1:
        raise errors.bad_argument(who, "nperseg", nperseg, "at least 1")
    if nfft is None:  # segments of odd length have as many frequencies as those of one less
        nfft = nperseg if one_sided and nperseg == whole + 1 else whole
    elif (one_sided and nfft // 2 + 1 != count) or (not one_sided and nfft != count):
        raise errors.bad_argument(who, "nfft", nfft, f"what gives {count} frequencies")
    return sizes(who, window, nperseg, noverlap, nfft, nperseg)


@functools.partial(jit, static_argnums=(1, 2))
def _samples(z, key, cut: int):
    weights, step, nfft, one_sided = key
    size = len(weights)
    parts = (fft.irfft(z, nfft) if one_sided else fft.ifft(z, nfft))[..., :size]
    weights = np.asarray(weights)
    total = _overlap_add(parts * weights.astype(dtypes.to_real(typeof(parts).dtype)), step)
    squares = np.zeros(typeof(total).shape[-1])
    for first in range(0, len(squares) - size + 1, step):
        squares[first : first + size] += weights**2
    squares[squares <= _TINY] = 1.0
    total = total / squares.astype(dtypes.to_real(typeof(total).dtype))
    return total[..., cut : typeof(total).shape[-1] - cut]


def _overlap_add(parts, step: int):
    """The sum of segments (..., segment, sample), each ``step`` later than the one before."""
    *lead, count, size = typeof(parts).shape
    length = (count - 1) * step + size
    overlaps = -(-size // step)
    if overlaps > _MANY_OVERLAPS:
        places = np.arange(count)[:, None] * step + np.arange(size)
        return xnp.zeros((*lead, length), typeof(parts).dtype).at[..., places].add(parts)
    none = [(0, 0)] * len(lead)
    parts = xnp.pad(parts, [*none, (0, 0), (0, overlaps * step - size)])
    blocks = parts.reshape(*lead, count, overlaps, step)
    shifted = (
        xnp.pad(blocks[..., i, :], [*none, (i, overlaps - 1 - i), (0, 0)]) for i in range(overlaps)
    )
    return functools.reduce(xnp.add, shifted).reshape(*lead, -1)[..., :length]
