"""numpy.fft on xcore arrays: discrete Fourier transforms along any axes.

Transforms of float32 and narrower floats are complex64, those of float64 complex128.
"""

from __future__ import annotations

import math
import operator

import numpy as np

from .. import _ops as ops
from .._core import ArrayType, Value, dtypes, errors, from_numpy, fused, is_evaluating, typeof
from ._creation import cast_on_host
from ._functions import conj
from ._placement import on_device
from ._promote import as_array, as_inexact, astype, dtype_or, filled, one_axis
from ._repeat import roll

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

OTHER_WAY = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}
_TOGETHER = 3  # axes that one operation transforms


# What all share


def check_norm(who: str, norm) -> None:
    if norm not in OTHER_WAY:
        raise errors.bad_argument(who, "norm", norm, "'backward', 'ortho', 'forward' or None")


def _factor(norm, inverse: bool, count: int) -> float:
    """What the transform is multiplied by beyond its own scale: 1 forwards, 1 / count backwards."""
    if norm in (None, "backward"):
        return 1.0
    power = 0.5 if norm == "ortho" else 1.0
    return float(count) ** (power if inverse else -power)


def times(x, factor: float):
    """x times a real number, part by part: infinities stay in their part."""
    if factor == 1.0:
        return x
    t = typeof(x)
    if dtypes.is_complex(t.dtype):
        return ops.complex(times(ops.real(x), factor), times(ops.imag(x), factor))
    return ops.mul(x, ops.full_like_type(t, factor))


def resized(x, lengths: dict):
    """x with some axes cut off, or filled up with zeros, at their ends."""
    t = typeof(x)
    high = tuple([lengths.get(i, n) - n for i, n in enumerate(t.shape)])
    if not any(high):
        return x
    zero = ops.zeros(ArrayType((), t.dtype))
    return ops.pad(x, zero, low=(0,) * t.ndim, high=high, interior=(0,) * t.ndim)


def check_length(who: str, n, name: str = "n") -> int:
    try:
        n = operator.index(n)
    except TypeError:
        raise errors.bad_argument(who, name, n, "an int") from None
    if n < 1:
        raise errors.bad_argument(
            who, name, n, "1 or more", "The transform of no points is not defined."
        )
    return n


def working_dtype(who: str, x):
    """An array of float32, float64 or complex dtype."""
    x = as_inexact(who, x)
    return astype(x, dtypes.float32) if typeof(x).dtype.itemsize < 4 else x


def only_axis(who: str, axis, ndim: int) -> int:
    """The axis of a transform along one."""
    if isinstance(axis, (tuple, list)):
        whole = f"{who}n".replace("numpy.fft.hfftn", "fft.hfftn").replace("numpy.fft.ih", "fft.ih")
        advice = f"Along several axes: xcore.{whole}(x, axes={tuple(axis)})."
        raise errors.bad_argument(who, "axis", axis, "an integer", advice)
    return one_axis(who, axis, ndim)


def axes_and_lengths(who: str, shape, s, axes) -> tuple[list, list]:
    """The axes to transform and the length at each (None: all there is), as NumPy reads s and axes.

    SciPy takes one number for either, too.
    """
    if not who.startswith("numpy"):
        s, axes = (
            (int(v),) if np.ndim(v) == 0 and hasattr(v, "__index__") else v for v in (s, axes)
        )
    for name, given in (("axes", axes), ("s", s)):
        if given is not None and (isinstance(given, str) or not hasattr(given, "__len__")):
            raise errors.bad_argument(who, name, given, "a tuple of ints")
    if axes is None:
        axes = range(len(shape)) if s is None else range(-len(s), 0)
    axes = [one_axis(who, axis, len(shape)) for axis in axes]
    if s is None:
        return axes, [None] * len(axes)
    if len(s) != len(axes):
        raise errors.bad_argument(who, "s", s, f"as long as axes, which are {len(axes)}")
    return axes, [shape[axis] if n == -1 else n for n, axis in zip(s, axes, strict=True)]


# Transforming


def _transform_last(x, kind: str, lengths):
    """One operation over the last axes; no points give no results, of the right shape."""
    shape = typeof(x).shape
    if 0 not in shape:
        return ops.fft(x, kind=kind, lengths=tuple(lengths))
    dtype = typeof(x).dtype
    last = lengths[-1] // 2 + 1 if kind == "RFFT" else lengths[-1]
    dtype = {"RFFT": dtypes.to_complex, "IRFFT": dtypes.to_real}.get(kind, lambda d: d)(dtype)
    return ops.zeros(ArrayType((*shape[:-1], last), dtype))


def _transform_axes(x, kind: str, axes, lengths):
    """One operation over a few different axes, wherever they are, cut off or filled up first."""
    ndim, points = typeof(x).ndim, list(lengths)
    if kind == "IRFFT":
        points[-1] = points[-1] // 2 + 1
    x = resized(x, dict(zip(axes, points, strict=True)))
    perm = [i for i in range(ndim) if i not in axes] + list(axes)
    if perm == list(range(ndim)):
        return _transform_last(x, kind, lengths)
    out = _transform_last(ops.transpose(x, perm=tuple(perm)), kind, lengths)
    return ops.transpose(out, perm=tuple([perm.index(i) for i in range(ndim)]))


def _steps(kind: str, axes, lengths):
    """A transform over any number of axes as operations over a few: (kind, axes, lengths)."""
    pairs = list(zip(axes, lengths, strict=True))
    few = 1 if len(set(axes)) < len(axes) else _TOGETHER
    last, others = pairs[-few:], pairs[:-few]
    inner = "IFFT" if kind in ("IFFT", "IRFFT") else "FFT"
    steps = [(inner, others[i : i + few]) for i in range(0, len(others), few)]
    steps = [*steps, (kind, last)] if kind == "IRFFT" else [(kind, last), *steps[::-1]]
    return [(k, *zip(*chosen, strict=True)) for k, chosen in steps]


def _transform(who: str, a, kind: str, axes, lengths, norm):
    """The transform over axes, each cut off or filled up to its length first."""
    check_norm(who, norm)
    a, shape = working_dtype(who, a), typeof(a).shape
    if kind == "RFFT" and dtypes.is_complex(typeof(a).dtype):
        raise errors.dtype_not_allowed(who, typeof(a).dtype, "real")
    if kind in ("RFFT", "IRFFT") and not axes:
        raise errors.bad_argument(who, "axes", tuple(axes), "one axis or more")
    if kind != "RFFT":
        a = astype(a, dtypes.to_complex(typeof(a).dtype))
    default = [shape[i] for i in axes]
    if kind == "IRFFT":
        default[-1] = 2 * (default[-1] - 1)
    lengths = [d if n is None else n for n, d in zip(lengths, default, strict=True)]
    lengths = [check_length(who, n) for n in lengths]
    factor = _factor(norm, kind in ("IFFT", "IRFFT"), math.prod(lengths))
    a = times(a, factor) if kind == "RFFT" else a  # scale what is real: half the work
    if axes:
        for step in _steps(kind, axes, lengths):
            a = _transform_axes(a, *step)
    return a if kind == "RFFT" else times(a, factor)


# The public functions


def _documented(f, name: str, doc: str, args: str, example: str):
    f.__name__ = f.__qualname__ = name
    f.__module__ = "xcore.numpy.fft"
    f.__doc__ = f"""{doc}

    Args:
{args}
      norm: where the factor 1/N goes: "backward" (the default), "forward", or its root to both:
        "ortho".

    >>> import xcore.numpy as xnp
    {example}
    """
    return f


def _along_axis(name: str, kind: str, doc: str, example: str):
    """A transform along one axis."""
    who = f"numpy.fft.{name}"

    @fused(1)
    def f(a, n=None, axis=-1, norm=None):
        a = as_array(who, a)
        return _transform(who, a, kind, [only_axis(who, axis, typeof(a).ndim)], [n], norm)

    args = """      a: array.
      n: the number of points: more than there are are zeros, less cut off.
      axis: along which axis."""
    return _documented(f, name, doc, args, example)


def _along_axes(name: str, kind: str, doc: str, example: str):
    """A transform along two or all axes."""
    who = f"numpy.fft.{name}"
    default = (-2, -1) if name.endswith("2") else None

    @fused(1)
    def f(a, s=None, axes=default, norm=None):
        a = as_array(who, a)
        return _transform(who, a, kind, *axes_and_lengths(who, typeof(a).shape, s, axes), norm)

    args = f"""      a: array.
      s: the number of points along each axis, -1 for all that are there.
      axes: along which axes; by default {"the last two" if default else "the last len(s), or all"}."""
    return _documented(f, name, doc, args, example)


# fmt: off
fft = _along_axis("fft", "FFT", "The discrete Fourier transform: y_k = Σ_j a_j e^(-2πi j k / n).",
    ">>> xnp.fft.fft(xnp.asarray([1.0, 0.0, 1.0, 0.0]))\n"
    "    Array([2.+0.j, 0.+0.j, 2.+0.j, 0.+0.j], dtype=complex64)")
ifft = _along_axis("ifft", "IFFT", "The inverse of ``fft``: y_j = 1/n Σ_k a_k e^(2πi j k / n).",
    ">>> xnp.fft.ifft(xnp.asarray([2.0, 0.0, 2.0, 0.0]))\n"
    "    Array([1.+0.j, 0.+0.j, 1.+0.j, 0.+0.j], dtype=complex64)")
rfft = _along_axis("rfft", "RFFT",
    "The first half of ``fft`` of real numbers; the rest is its mirror image: y_(n-k) = conj(y_k).",
    ">>> xnp.fft.rfft(xnp.asarray([1.0, 0.0, 1.0, 0.0]))\n    Array([2.+0.j, 0.+0.j, 2.+0.j], dtype=complex64)")
irfft = _along_axis("irfft", "IRFFT", "The inverse of ``rfft``: n real numbers, by default n = 2 (m - 1) of m.",
    ">>> xnp.fft.irfft(xnp.asarray([2.0, 0.0, 2.0]))\n    Array([1., 0., 1., 0.], dtype=float32)")
fftn = _along_axes("fftn", "FFT",
    "The discrete Fourier transform along axes, for two: y_(k,l) = Σ_(p,q) a_(p,q) e^(-2πi (p k / m + q l / n)).",
    ">>> xnp.fft.fftn(xnp.ones((2, 2)))[0]\n    Array([4.+0.j, 0.+0.j], dtype=complex64)")
ifftn = _along_axes("ifftn", "IFFT",
    "The inverse of ``fftn``: y_(p,q) = 1/(m n) Σ_(k,l) a_(k,l) e^(2πi (p k / m + q l / n)) for two axes.",
    ">>> xnp.fft.ifftn(xnp.ones((2, 2)))[0]\n    Array([1.+0.j, 0.+0.j], dtype=complex64)")
rfftn = _along_axes("rfftn", "RFFT", "``fftn`` of real numbers; of the last axis only the first half.",
    ">>> xnp.fft.rfftn(xnp.ones((2, 4))).shape\n    (2, 3)")
irfftn = _along_axes("irfftn", "IRFFT", "The inverse of ``rfftn``.",
    ">>> xnp.fft.irfftn(xnp.fft.rfftn(xnp.ones((2, 4)))).shape\n    (2, 4)")
fft2 = _along_axes("fft2", "FFT",
    "The discrete Fourier transform along two axes: y_(k,l) = Σ_(p,q) a_(p,q) e^(-2πi (p k / m + q l / n)).",
    ">>> xnp.fft.fft2(xnp.ones((2, 2)))[0]\n    Array([4.+0.j, 0.+0.j], dtype=complex64)")
ifft2 = _along_axes("ifft2", "IFFT",
    "The inverse of ``fft2``: y_(p,q) = 1/(m n) Σ_(k,l) a_(k,l) e^(2πi (p k / m + q l / n)).",
    ">>> xnp.fft.ifft2(xnp.ones((2, 2)))[0]\n    Array([1.+0.j, 0.+0.j], dtype=complex64)")
rfft2 = _along_axes("rfft2", "RFFT", "``fft2`` of real numbers; of the last axis only the first half.",
    ">>> xnp.fft.rfft2(xnp.ones((2, 4))).shape\n    (2, 3)")
irfft2 = _along_axes("irfft2", "IRFFT", "The inverse of ``rfft2``.",
    ">>> xnp.fft.irfft2(xnp.fft.rfft2(xnp.ones((2, 4)))).shape\n    (2, 4)")
# fmt: on


def _hermitian(who: str, kind: str, a, n, axis, norm):
    check_norm(who, norm)
    return _transform(who, a, kind, [only_axis(who, axis, typeof(a).ndim)], [n], OTHER_WAY[norm])


@fused(1)
def hfft(a, n=None, axis=-1, norm=None):
    """The Fourier transform of numbers whose second half mirrors the first, conjugated: it is real.

    Args:
      a: the first half, n // 2 + 1 elements.
      n: the number of results; by default even.
      axis: along which axis.
      norm: as in ``fft``.

    >>> import xcore.numpy as xnp
    >>> xnp.fft.hfft(xnp.asarray([1.0, 2.0, 3.0]))
    Array([ 8., -2.,  0., -2.], dtype=float32)
    """
    return _hermitian("numpy.fft.hfft", "IRFFT", conj(as_array("numpy.fft.hfft", a)), n, axis, norm)


@fused(1)
def ihfft(a, n=None, axis=-1, norm=None):
    """The inverse of ``hfft``: the first half of the inverse transform of real numbers.

    Args:
      a: real array.
      n: the number of points: more than there are are zeros, less cut off.
      axis: along which axis.
      norm: as in ``fft``.

    >>> import xcore.numpy as xnp
    >>> xnp.fft.ihfft(xnp.asarray([8.0, -2.0, 0.0, -2.0]))
    Array([1.-0.j, 2.-0.j, 3.-0.j], dtype=complex64)
    """
    return conj(
        _hermitian("numpy.fft.ihfft", "RFFT", as_array("numpy.fft.ihfft", a), n, axis, norm)
    )


# Frequencies


def _frequencies(name: str, n, d, dtype, device, signed: bool):
    """The whole numbers below n, or around 0, over n·d."""
    who = f"numpy.fft.{name}"
    n, dtype = check_length(who, n), dtype_or(dtype, "float")
    if dtypes.kind(dtype) != "float":
        raise errors.dtype_not_allowed(who, dtype, "floating")
    if isinstance(d, Value) or not is_evaluating():
        return on_device(_spaced(d, n, dtype, signed), device)
    values = np.arange(n) if signed else np.arange(n // 2 + 1)
    values = np.where(values < (n + 1) // 2, values, values - n) if signed else values
    return on_device(from_numpy(cast_on_host(values / (n * d), dtype), copy=False), device)


@fused(1)
def _spaced(d, n, dtype, signed):
    place = ops.iota(shape=(n if signed else n // 2 + 1,), dtype=dtypes.int32, axis=0)
    t = typeof(place)
    if signed:
        rising = ops.lt(place, ops.full_like_type(t, (n + 1) // 2))
        place = ops.select(rising, place, ops.sub(place, ops.full_like_type(t, n)))
    span = filled("numpy.fft.fftfreq", n * d, ArrayType(t.shape, dtype))
    return ops.div(astype(place, dtype), span)


def fftfreq(n, d=1.0, *, dtype=None, device=None):
    """The frequencies of ``fft`` of n points: 0, 1, … and then the negative ones, over n·d.

    Args:
      n: number of points.
      d: their distance.
      dtype: of the result.
      device: where to put it.

    >>> import xcore.numpy as xnp
    >>> xnp.fft.fftfreq(4)
    Array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float32)
    """
    return _frequencies("fftfreq", n, d, dtype, device, signed=True)


def rfftfreq(n, d=1.0, *, dtype=None, device=None):
    """The frequencies of ``rfft`` of n points: 0, 1, … n // 2, over n·d.

    Args:
      n: number of points.
      d: their distance.
      dtype: of the result.
      device: where to put it.

    >>> import xcore.numpy as xnp
    >>> xnp.fft.rfftfreq(4)
    Array([0.  , 0.25, 0.5 ], dtype=float32)
    """
    return _frequencies("rfftfreq", n, d, dtype, device, signed=False)


def _shift_axes(who: str, x, axes) -> tuple:
    ndim = typeof(x).ndim
    if axes is None:
        return tuple(range(ndim))
    return tuple(
        [one_axis(who, i, ndim) for i in (axes if isinstance(axes, (tuple, list)) else [axes])]
    )


@fused(1)
def fftshift(x, axes=None):
    """Frequencies in rising order: the zero one goes to the middle of each axis.

    Args:
      x: array.
      axes: which axes; None for all.

    >>> import xcore.numpy as xnp
    >>> xnp.fft.fftshift(xnp.asarray([0, 1, -2, -1]))
    Array([-2, -1,  0,  1], dtype=int32)
    """
    x = as_array("numpy.fft.fftshift", x)
    axes = _shift_axes("numpy.fft.fftshift", x, axes)
    return x if not axes else roll(x, [typeof(x).shape[i] // 2 for i in axes], axes)


@fused(1)
def ifftshift(x, axes=None):
    """The inverse of ``fftshift``.

    Args:
      x: array.
      axes: which axes; None for all.

    >>> import xcore.numpy as xnp
    >>> xnp.fft.ifftshift(xnp.asarray([-2, -1, 0, 1]))
    Array([ 0,  1, -2, -1], dtype=int32)
    """
    x = as_array("numpy.fft.ifftshift", x)
    axes = _shift_axes("numpy.fft.ifftshift", x, axes)
    return x if not axes else roll(x, [-(typeof(x).shape[i] // 2) for i in axes], axes)
