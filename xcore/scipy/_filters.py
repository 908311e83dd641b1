"""Convolutions of any number of axes, and trends."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import jit
from .._core import Array, ArrayLike, Axis, dtypes, errors, one_of, typeof
from ..numpy import fft

MODES = ("full", "same", "valid")
_PADS = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def _arrays(who: str, a, b):
    """Both as arrays of one dtype and number of axes."""
    a, b = xnp.asarray(a), xnp.asarray(b)
    if typeof(a).ndim != typeof(b).ndim:
        raise errors.shape_mismatch(who, "need the same number of axes", in1=a, in2=b)
    dtype = xnp.result_type(a, b)
    return a.astype(dtype), b.astype(dtype)


def check(who: str, name: str, given: Any, known: Iterable[Any]) -> None:
    one_of(who, name, given, known, f"one of {', '.join(map(str, known))}")


def _ordered(who: str, a, b, axes):
    """Both, the one first that is not shorter along any of the axes."""
    pairs = [(typeof(a).shape[i], typeof(b).shape[i]) for i in axes]
    if all(m >= n for m, n in pairs):
        return a, b
    if any(m > n for m, n in pairs):
        wanted = 'have one that is nowhere shorter than the other, with mode="valid"'
        raise errors.shape_mismatch(who, wanted, in1=a, in2=b)
    return b, a


def _conv(a, b, padding, precision):
    """sum_j a[i + j] b[j], with a extended by zeros."""
    t, shape = typeof(a), typeof(b).shape
    if t.dtype == bool:
        counted = _conv(a.astype("int32"), b.astype("int32"), padding, precision)
        return counted.astype(bool)
    n = len(shape)
    out = ops.conv(
        ops.reshape(a, shape=(1, 1, *t.shape)), ops.reshape(b, shape=(1, 1, *shape)),
        strides=(1,) * n, padding=tuple(padding), lhs_dilation=(1,) * n, rhs_dilation=(1,) * n,
        precision=ops.precision_name(precision),
    )  # fmt: skip
    return ops.reshape(out, shape=typeof(out).shape[2:])


def _borders(mode: str, size: int, late: bool) -> tuple:
    """How many zeros a direct convolution with so many weights needs on each side."""
    left = {"full": size - 1, "same": size // 2 if not late else (size - 1) // 2, "valid": 0}[mode]
    right = {"full": size - 1, "same": size - 1 - left, "valid": 0}[mode]
    return left, right


def _direct(who, a, b, mode, precision):
    if mode == "valid":
        a, b = _ordered(who, a, b, range(typeof(a).ndim))
    if 0 in (*typeof(a).shape, *typeof(b).shape):
        raise errors.shape_mismatch(who, "must not be empty", in1=a, in2=b)
    if not typeof(a).ndim:
        return a * b
    padding = [_borders(mode, n, False) for n in typeof(b).shape]
    return _conv(a, xnp.flip(b), padding, precision)


@functools.partial(jit, static_argnums=(0, 3, 4, 5))
def _convolved(who, a, b, mode, method, precision):
    a, b = _arrays(who, a, b)
    if method != "fft":
        return _direct(who, a, b, mode, precision)
    dtype = typeof(a).dtype
    out = _by_fft(who, a, b, mode, tuple(range(typeof(a).ndim)))
    return out.astype(dtype) if dtypes.is_inexact(dtype) else xnp.round(out).astype(dtype)


def convolve(
    in1: ArrayLike | Sequence[Any], in2: ArrayLike | Sequence[Any], mode: str = "full",
    method: str = "auto", precision: Any = None,
) -> Array:  # fmt: skip
    """The convolution of two arrays over all axes: element k is Σᵢ in1[i] in2[k - i].

    Args:
      in1, in2: arrays with the same number of axes.
      mode: "full" (all overlaps), "same" (the middle of these, of in1's shape), "valid" (complete
        overlaps).
      method: "direct", "fft" or "auto", which is direct.
      precision: how products are formed on devices with less precise units.

    >>> import xcore.numpy as xnp
    >>> convolve(xnp.asarray([1.0, 2.0, 3.0]), xnp.asarray([0.0, 1.0, 0.5]), mode="same")
    Array([1. , 2.5, 4. ], dtype=float32)
    """
    check("signal.convolve", "mode", mode, MODES)
    check("signal.convolve", "method", method, ("auto", "direct", "fft"))
    return _convolved("signal.convolve", in1, in2, mode, method, precision)


def correlate(
    in1: ArrayLike | Sequence[Any], in2: ArrayLike | Sequence[Any], mode: str = "full",
    method: str = "auto", precision: Any = None,
) -> Array:  # fmt: skip
    """The correlation of two arrays over all axes: sums of in1[i + k] conj(in2[i]).

    Args:
      in1, in2: arrays with the same number of axes.
      mode: "full" (all overlaps), "same" (the middle of these, of in1's shape), "valid" (complete
        overlaps).
      method: "direct", "fft" or "auto", which is direct.
      precision: how products are formed on devices with less precise units.

    >>> import xcore.numpy as xnp
    >>> correlate(xnp.asarray([1.0, 2.0, 3.0]), xnp.asarray([0.0, 1.0]), mode="valid")
    Array([2., 3.], dtype=float32)
    """
    who = "signal.correlate"
    check(who, "mode", mode, MODES)
    check(who, "method", method, ("auto", "direct", "fft"))
    return _convolved(who, in1, xnp.conj(xnp.flip(xnp.asarray(in2))), mode, method, precision)


def fftconvolve(
    in1: ArrayLike | Sequence[Any], in2: ArrayLike | Sequence[Any], mode: str = "full",
    axes: Axis = None,
) -> Array:  # fmt: skip
    """The convolution of two arrays by the fast Fourier transform.

    Args:
      in1, in2: arrays with the same number of axes; along those that are not convolved they are
        broadcast.
      mode: "full" (all overlaps), "same" (the middle of these, of in1's shape), "valid" (complete
        overlaps).
      axes: along which to convolve; all by default.

    >>> import xcore.numpy as xnp
    >>> fftconvolve(xnp.asarray([1.0, 2.0]), xnp.asarray([0.0, 1.0])).round(3) + 0.0
    Array([0., 1., 2.], dtype=float32)
    """
    who = "signal.fftconvolve"
    check(who, "mode", mode, MODES)
    ndim = xnp.ndim(in1)
    listed = range(ndim) if axes is None else [axes] if isinstance(axes, int) else axes
    if not all(-ndim <= i < ndim for i in listed):
        raise errors.bad_argument(who, "axes", axes, f"axes of arrays with {ndim}")
    return _fftconvolved(in1, in2, mode, tuple(sorted({i % ndim for i in listed})))


@functools.partial(jit, static_argnums=(2, 3))
def _fftconvolved(a, b, mode, axes):
    a, b = _arrays("signal.fftconvolve", a, b)
    return _by_fft("signal.fftconvolve", a, b, mode, axes)


def _by_fft(who, a, b, mode, axes):
    if mode == "valid":
        a, b = _ordered(who, a, b, axes)
    if 0 in (*typeof(a).shape, *typeof(b).shape):
        raise errors.shape_mismatch(who, "must not be empty", in1=a, in2=b)
    if not axes:
        return a * b
    m, n = typeof(a).shape, typeof(b).shape
    full = [m[i] + n[i] - 1 for i in axes]
    if dtypes.is_complex(typeof(a).dtype):
        out = fft.ifftn(fft.fftn(a, full, axes) * fft.fftn(b, full, axes), full, axes)
    else:
        out = fft.irfftn(fft.rfftn(a, full, axes) * fft.rfftn(b, full, axes), full, axes)
    keep = {"full": lambda i: (0, m[i] + n[i] - 1), "same": lambda i: ((n[i] - 1) // 2, m[i]),
            "valid": lambda i: (n[i] - 1, m[i] - n[i] + 1)}[mode]  # fmt: skip
    parts = [slice(None)] * len(m)
    for i in axes:
        start, size = keep(i)
        parts[i] = slice(start, start + size)
    return out[tuple(parts)]


def convolve2d(
    in1: ArrayLike | Sequence[Any], in2: ArrayLike | Sequence[Any], mode: str = "full",
    boundary: str = "fill", fillvalue: ArrayLike = 0, precision: Any = None,
) -> Array:  # fmt: skip
    """The convolution of two matrices.

    Args:
      in1, in2: matrices.
      mode: "full" (all overlaps), "same" (the middle of these, of in1's shape), "valid" (complete
        overlaps).
      boundary: what is around in1: "fill" (``fillvalue``), "wrap" (in1 again), "symm" (its mirror
        images).
      fillvalue: a number.
      precision: how products are formed on devices with less precise units.

    >>> import xcore.numpy as xnp
    >>> convolve2d(xnp.ones((2, 2)), xnp.ones((2, 2)), mode="same", boundary="wrap")
    Array([[4., 4.],
           [4., 4.]], dtype=float32)
    """
    return _plane("signal.convolve2d", in1, in2, mode, boundary, fillvalue, precision, False)


def correlate2d(
    in1: ArrayLike | Sequence[Any], in2: ArrayLike | Sequence[Any], mode: str = "full",
    boundary: str = "fill", fillvalue: ArrayLike = 0, precision: Any = None,
) -> Array:  # fmt: skip
    """The correlation of two matrices; arguments as of ``convolve2d``.

    Args:
      in1, in2, mode, boundary, fillvalue, precision: as for ``convolve2d``.

    >>> import xcore.numpy as xnp
    >>> correlate2d(xnp.eye(2), xnp.asarray([[1.0, 2.0]]), mode="valid")
    Array([[1.],
           [2.]], dtype=float32)
    """
    return _plane("signal.correlate2d", in1, in2, mode, boundary, fillvalue, precision, True)


def _plane(who, a, b, mode, boundary, fillvalue, precision, as_correlation):
    check(who, "mode", mode, MODES)
    check(who, "boundary", boundary, _PADS)
    a, b = _arrays(who, a, b)
    if typeof(a).ndim != 2:
        raise errors.shape_mismatch(who, "must be matrices", in1=a, in2=b)
    if 0 in (*typeof(a).shape, *typeof(b).shape):
        raise errors.shape_mismatch(who, "must not be empty", in1=a, in2=b)
    if xnp.ndim(fillvalue) or (xnp.iscomplexobj(fillvalue) and not xnp.iscomplexobj(a)):
        raise errors.bad_argument(
            who, "fillvalue", fillvalue, f"a number that {typeof(a)} can hold"
        )
    return _planar(who, a, b, fillvalue, mode, boundary, precision, as_correlation)


@functools.partial(jit, static_argnums=(0, 4, 5, 6, 7))
def _planar(who, a, b, fillvalue, mode, boundary, precision, as_correlation):
    b = xnp.conj(xnp.flip(b)) if as_correlation else b
    if mode == "valid":
        return _direct(who, a, b, mode, precision)
    padding = [_borders(mode, n, as_correlation) for n in typeof(b).shape]
    more = (
        {"constant_values": xnp.asarray(fillvalue, typeof(a).dtype)} if boundary == "fill" else {}
    )
    return _direct(who, xnp.pad(a, padding, _PADS[boundary], **more), b, "valid", precision)


# Trends


def detrend(
    data: ArrayLike | Sequence[Any], axis: int = -1, type: str = "linear",
    bp: int | Sequence[int] | np.ndarray = 0, overwrite_data: Any = None,
) -> Array:  # fmt: skip
    """Data without their linear trend, or without their mean.

    Args:
      data: array.
      axis: along which the trend goes.
      type: "linear" (the line of least squares is subtracted) or "constant" (the mean is).
      bp: indices where a new line begins.
      overwrite_data: accepted; of no effect.

    >>> import xcore.numpy as xnp
    >>> detrend(xnp.asarray([1.0, 2.0, 6.0]), type="constant")
    Array([-2., -1.,  3.], dtype=float32)
    """
    type = {"l": "linear", "c": "constant"}.get(type, type)
    check("signal.detrend", "type", type, ("linear", "constant"))
    data = xnp.asarray(data)
    ndim = typeof(data).ndim
    if not -ndim <= axis < ndim:
        raise errors.bad_argument("signal.detrend", "axis", axis, f"an axis of {typeof(data)}")
    size = typeof(data).shape[axis]
    breaks = sorted({0, *np.atleast_1d(bp).tolist(), size})
    if breaks[0] < 0 or breaks[-1] > size:
        raise errors.bad_argument("signal.detrend", "bp", bp, f"indices from 0 to {size}")
    return _detrended(data, axis, type, tuple(breaks))


@functools.partial(jit, static_argnums=(1, 2, 3))
def _detrended(x, axis, type, breaks):
    x = x if dtypes.is_inexact(typeof(x).dtype) else x.astype(float)
    if type == "constant":
        return x - x.mean(axis, keepdims=True)
    x, parts = xnp.moveaxis(x, axis, -1), []
    for start, stop in itertools.pairwise(breaks):
        line = np.stack([np.ones(stop - start), np.linspace(-1, 1, stop - start)], axis=1)
        q = xnp.asarray(np.linalg.qr(line)[0][:, : stop - start], dtypes.to_real(typeof(x).dtype))
        part = x[..., start:stop]
        parts.append(part - (part @ q) @ q.T)
    return xnp.moveaxis(xnp.concatenate(parts, -1), -1, axis) if parts else x
