"""Differences, derivatives and integrals of sampled functions, and interpolation between samples."""

from __future__ import annotations

import math
import operator

import numpy as np

from .. import _ops as ops
from .._core import Tracer, dtypes, errors, fused, one_of, typeof
from . import _reduce
from ._creation import asarray
from ._elementwise import floor_remainder
from ._floats import isinf, isnan
from ._join import concatenate
from ._promote import (
    as_array,
    as_inexact,
    as_value,
    astype,
    axes_of,
    broadcast_to,
    inexact_dtype,
    lists_to_numpy,
    one_axis,
    promote_dtypes,
    result_dtype,
)
from ._rounding import clip
from ._select import cut, where
from ._shape import moveaxis, ravel
from ._sort import searchsorted

# Differences


@fused(1)
def _diff(a, n, axis):
    for _ in range(n):
        if typeof(a).shape[axis] == 0:
            break
        behind, before = cut(a, axis, 1), cut(a, axis, None, -1)
        a = behind != before if typeof(a).dtype == bool else behind - before
    return a


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Differences of neighbours along an axis.

      d_i = a_(i+1) - a_i

    and so again n - 1 times.

    Args:
      a: array.
      n: how many times differences are taken.
      axis: which axis.
      prepend, append: what to put in front of and behind the array first.

    >>> import xcore.numpy as xnp
    >>> xnp.diff(xnp.asarray([1, 2, 4, 7]))
    Array([1, 2, 3], dtype=int32)
    """
    who = "numpy.diff"
    a = as_array(who, a)
    n = operator.index(n)
    if n < 0:
        raise errors.bad_argument(who, "n", n, "not negative")
    if not n:
        return a
    axis = one_axis(who, axis, typeof(a).ndim)
    if prepend is not None or append is not None:
        ends = [
            None
            if x is None
            else _constant_along(
                promote_dtypes(who, a, _list_to_array(x))[1], typeof(a).shape, axis
            )
            for x in (prepend, append)
        ]
        a = concatenate([x for x in (ends[0], a, ends[1]) if x is not None], axis)
    return _diff(a, n, axis)


def _list_to_array(x):
    return asarray(x) if isinstance(x, (list, tuple)) else x


def _constant_along(x, shape, axis: int):
    """A number as a slice of length 1 along the axis; arrays as they are."""
    return x if typeof(x).ndim else broadcast_to(x, (*shape[:axis], 1, *shape[axis + 1 :]))


def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbours in the flattened array.

    Args:
      ary: array.
      to_end, to_begin: what to put behind and in front of the differences.

    >>> import xcore.numpy as xnp
    >>> xnp.ediff1d(xnp.asarray([1, 2, 4]), to_end=xnp.asarray([0]))
    Array([1, 2, 0], dtype=int32)
    """
    who = "numpy.ediff1d"
    middle = diff(ravel(as_array(who, ary)))
    ends = [
        None if x is None else ravel(as_array(who, _list_to_array(x), dtype=typeof(middle).dtype))
        for x in (to_begin, to_end)
    ]
    return concatenate([x for x in (ends[0], middle, ends[1]) if x is not None])


@fused(1)
def unwrap(p, discont=None, axis=-1, period=2 * np.pi):
    """Jumps of more than half a period between neighbours taken out.

    Args:
      p: array of angles.
      discont: the smallest jump that is taken out; half a period if not given.
      axis: along which neighbours are compared.
      period: 2π unless the angles are in another unit.

    >>> import xcore.numpy as xnp
    >>> xnp.unwrap(xnp.asarray([0, 1, 5, 6]), period=4)
    Array([0, 1, 1, 2], dtype=int32)
    """
    who = "numpy.unwrap"
    p = as_array(who, p)
    if dtypes.is_inexact(typeof(p).dtype) or not isinstance(period, int):
        p = as_inexact(who, p)
    axis = one_axis(who, axis, typeof(p).ndim)
    if typeof(p).shape[axis] < 2:
        return p
    front = (slice(None),) * axis
    first, later = p[(*front, slice(1))], p[(*front, slice(1, None))]
    step = later - p[(*front, slice(-1))]
    t = typeof(step).strong()
    whole = dtypes.is_integer(t.dtype)
    half = ops.full_like_type(t, period // 2 if whole else period / 2)
    wrapped = floor_remainder(ops.add(step, half), ops.full_like_type(t, period)) - half
    # of the two ends of the interval, the one on the side of the step
    upper = ops.and_(ops.eq(wrapped, ops.neg(half)), ops.gt(step, ops.zeros(t)))
    wrapped = ops.select(upper, half, wrapped)
    least = period / 2 if discont is None else max(discont, period / 2)
    small = ops.lt(ops.abs(step), ops.full_like_type(t, math.ceil(least) if whole else least))
    change = ops.select(small, ops.zeros(t), ops.sub(wrapped, step))
    change = ops.stop_gradient(change)  # whole periods: a step has derivative zero
    return ops.concatenate(first, later + ops.cumsum(change, axis=axis), axis=axis)


# Derivative


def gradient(f, *varargs, axis=None, edge_order=1):
    """The derivative of a sampled function: central differences inside, one-sided ones at the ends.

      f'(x_i) ≈ (f_(i+1) - f_(i-1)) / (2h)

    inside, where the distance h is constant; elsewhere the formula of the same order for unequal ones.

    Args:
      f: array of samples.
      *varargs: the spacing: nothing (1), one number for all axes, or for each axis a number or the
        coordinates of the samples.
      axis: along which axes; all by default.
      edge_order: order of accuracy at the ends, 1 or 2.

    Returns:
      An array, or a list with one for each axis if there are several.

    >>> import xcore.numpy as xnp
    >>> xnp.gradient(xnp.asarray([1.0, 2.0, 4.0, 7.0]))
    Array([1. , 1.5, 2.5, 3. ], dtype=float32)
    """
    who = "numpy.gradient"
    f = as_array(who, f)
    axes = _axes_in_order(who, axis, typeof(f).ndim)
    spacings = (
        list(varargs) * (len(axes) if len(varargs) == 1 else 1) if varargs else [1.0] * len(axes)
    )
    if len(spacings) != len(axes):
        raise errors.bad_argument(
            who, "varargs", len(varargs), f"nothing, 1, or {len(axes)} spacings"
        )
    one_of(who, "edge_order", edge_order, (1, 2), "1 or 2")
    for a in axes:
        if typeof(f).shape[a] < edge_order + 1:
            raise errors.shape_mismatch(
                who, f"need {edge_order + 1} samples or more along axis {a}", f=f
            )
    spacings = [asarray(s) if isinstance(s, (list, tuple)) else s for s in spacings]
    out = [_slope([f, s], a, edge_order) for a, s in zip(axes, spacings, strict=True)]
    return out[0] if (axis is not None and np.ndim(axis) == 0) or len(axes) == 1 else out


def _axes_in_order(who: str, axis, ndim: int) -> tuple:
    """Axes in the order in which they were given."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes_of(who, axis, ndim)
    return tuple(one_axis(who, a, ndim) for a in given)


@fused(1)
def _slope(pair, axis, edge_order):
    """The derivative along an axis; the second array is the spacing or the coordinates."""
    who = "numpy.gradient"
    f = as_inexact(who, pair[0])
    spacing = as_array(who, lists_to_numpy(pair[1]))
    f = moveaxis(f, axis, -1)
    n = typeof(f).shape[-1]
    even = typeof(spacing).ndim == 0
    if even:
        steps = broadcast_to(spacing, (n - 1,))
    elif typeof(spacing).shape == (n,):
        steps = diff(_at_least_as_wide(spacing, f))
    else:
        raise errors.shape_mismatch(who, f"need a number or {n} coordinates", spacing=spacing)
    steps = astype(steps, dtypes.to_real(typeof(f).dtype))
    slopes = diff(f) / steps
    # the parabola through three samples, its slope at each of them
    before, behind = steps[:-1], steps[1:]
    inside = (
        (f[..., 2:] - f[..., :-2]) / (before + behind)
        if even
        else (slopes[..., :-1] * behind + slopes[..., 1:] * before) / (before + behind)
    )
    first, last = slopes[..., :1], slopes[..., -1:]
    if edge_order == 2:
        first = _parabola_end(slopes, steps, False)
        last = _parabola_end(slopes, steps, True)
    return moveaxis(concatenate([first, inside, last], -1), -1, axis)


def _parabola_end(slopes, steps, last: bool):
    """The slope at an end of the parabola through the three samples there."""
    near, far = (-1, -2) if last else (0, 1)
    share = steps[near] / (steps[near] + steps[far])
    bend = slopes[..., near] - slopes[..., far]
    return (slopes[..., near] + bend * share)[..., None]


# Integral


@fused(2)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral of a sampled function by the trapezoidal rule.

      Σ_i (y_i + y_(i+1)) (x_(i+1) - x_i) / 2

    Args:
      y: array of samples.
      x: their coordinates, 1-d or of the shape of ``y``.
      dx: their distance if ``x`` is not given.
      axis: which axis.

    >>> import xcore.numpy as xnp
    >>> xnp.trapezoid(xnp.asarray([1.0, 2.0, 3.0]))
    Array(4., dtype=float32)
    """
    who = "numpy.trapezoid"
    y = as_inexact(who, y)
    ndim = typeof(y).ndim
    at = one_axis(who, axis, ndim)
    steps = dx
    if x is not None:
        x = as_array(who, x)
        y = astype(y, *result_dtype(who, y, x))  # before sums of samples are rounded
        steps = _steps(_at_least_as_wide(x, y), axis, ndim - at - 1)
    before = (slice(None),) * at
    pairs = y[(*before, slice(1, None))] + y[(*before, slice(-1))]
    return _reduce.sum(steps * pairs * 0.5, axis=at - ndim)


def _at_least_as_wide(x, y):
    """Coordinates of a dtype in which their differences are not rounded to less than values y have, and whole ones
    have all their differences."""
    if not dtypes.is_inexact(typeof(x).dtype):
        return astype(x, dtypes.int64)
    real = dtypes.to_real(typeof(y).dtype)
    return astype(x, real) if dtypes.finfo(real).bits > dtypes.finfo(typeof(x).dtype).bits else x


def _steps(x, axis: int, behind: int):
    """Spacings of coordinates; those of a vector broadcast along an axis with ``behind`` axes after it."""
    if typeof(x).ndim != 1:
        return diff(x, axis=axis)
    return diff(x).reshape(-1, *[1] * behind)


# Interpolation


def interp(x, xp, fp, left=None, right=None, period=None):
    """Values between samples, on the straight lines that join these.

      y = f_i + (f_(i+1) - f_i) (x - x_i) / (x_(i+1) - x_i)

    for x_i ≤ x ≤ x_(i+1).

    Args:
      x: where to interpolate.
      xp: rising coordinates of the samples (any order with period).
      fp: the samples.
      left, right: the values below and above all coordinates: by default the first and last sample;
        "extrapolate" continues the line.
      period: the function repeats itself with this period.

    >>> import xcore.numpy as xnp
    >>> xnp.interp(2.5, xnp.asarray([1.0, 2.0, 3.0]), xnp.asarray([3.0, 2.0, 0.0]))
    Array(1., dtype=float32)
    """
    who = "numpy.interp"
    modes = tuple(v if isinstance(v, str) else None for v in (left, right))
    for name, v in (("left", left), ("right", right)):
        if isinstance(v, str) and v != "extrapolate":
            raise errors.bad_argument(who, name, v, "a number, None or 'extrapolate'")
    ends = [v for v in (left, right) if v is not None and not isinstance(v, str)]
    given = tuple(v is not None and not isinstance(v, str) for v in (left, right))
    if period is not None and (np.ndim(period) or (not isinstance(period, Tracer) and period == 0)):
        raise errors.bad_argument(who, "period", period, "a number that is not 0")
    extra = [] if period is None else [period]
    return _interp([x, xp, fp, *ends, *extra], modes, given, period is not None)


@fused(1)
def _interp(arrays, modes, given, periodic):
    who = "numpy.interp"
    x, xp, fp, *rest = arrays
    xp, fp = as_array(who, xp), as_array(who, fp)
    if typeof(xp).ndim != 1 or typeof(fp).shape != typeof(xp).shape or not typeof(xp).size:
        raise errors.shape_mismatch(who, "need 1-d samples, at least one", xp=xp, fp=fp)
    dtype, weak = result_dtype(who, as_value(who, x), xp)
    if dtypes.is_complex(dtype):
        raise errors.dtype_not_allowed(who, dtype, "real coordinates, x and xp, have")
    dtype = dtype if dtypes.is_inexact(dtype) else inexact_dtype(dtype, False)
    x = as_array(who, x) if weak else as_array(who, x, dtype=dtype)
    x, xp, fp = astype(x, dtype, weak), astype(xp, dtype, weak), as_inexact(who, fp)
    fp = astype(fp, *result_dtype(who, x, fp))  # before differences of samples are rounded
    if periodic:
        x, xp, fp = _one_period(x, xp, fp, astype(as_array(who, rest.pop()), dtype))
        given = modes = (None, None)
    values = iter(rest)
    ends = [next(values) if g else None for g in given]
    return _between_samples(x, xp, fp, ends, modes)


def _one_period(x, xp, fp, period):
    """Coordinates brought into one period, with a sample more at both ends."""
    period = abs(period)
    x, xp = x % period, xp % period
    order = ops.sort(xp, ops.iota(shape=typeof(xp).shape, dtype=dtypes.int32, axis=0), axis=0)[1]
    xp, fp = xp[order], fp[order]
    xp = concatenate([xp[-1:] - period, xp, xp[:1] + period])
    return x, xp, concatenate([fp[-1:], fp, fp[:1]])


def _weight_at_infinity(x, low, high):
    """The weight of the second sample; beside a coordinate at infinity the other sample has all of it."""
    inside = where(isinf(low), where(isinf(high), math.nan, 1.0), 0.0)
    return where(isinf(x), where(x == high, 1.0, 0.0), inside)


def _line(part, first, second):
    """Linear interpolation from the first value to the second; where one is infinite, the limit from either side."""
    way = second - first
    out = first + part * way
    out = where(isnan(out), second - (1 - part) * way, out)
    return where(isnan(out) & (first == second), first, out)


def _between_samples(x, xp, fp, ends, modes):
    n = typeof(xp).size
    if n == 1:
        out = broadcast_to(fp[0], typeof(x).shape)
    else:
        i = clip(searchsorted(xp, x, side="right"), 1, n - 1)
        low, high = xp[i - 1], xp[i]
        step = high - low
        # two samples at one place: the value is that of the second, and no derivative is infinite
        flat = step == 0
        far = isinf(low) | isinf(high) | isinf(x)
        part = where(far, 0, x - low) / where(flat | far, 1, step)  # pyright: ignore[reportOperatorIssue]
        part = where(far, _weight_at_infinity(x, low, high), part)
        out = where(flat, fp[i], _line(part, fp[i - 1], fp[i]))
        for at, value in ((low, fp[i - 1]), (high, fp[i])):
            out = where(isnan(out) & (x == at), value, out)
    for end, mode, outside, edge in zip(
        ends, modes, (x < xp[0], x > xp[-1]), (fp[0], fp[-1]), strict=True
    ):
        if mode is None:
            out = where(outside, edge if end is None else end, out)
    return where(isnan(x), math.nan, out)
