"""Reductions: sums, means, extrema, counts, and what accumulates along an axis."""

from __future__ import annotations

import math

import numpy as np

from .. import _ops as ops
from .._core import dtypes, errors
from .._core.eval import fused
from .._core.types import ArrayType, typeof
from .._ops.reduce import highest, lowest
from ._elementwise import pick_of_two
from ._promote import (
    as_array,
    as_arrays,
    astype,
    axes_of,
    broadcast_shapes,
    broadcast_to,
    filled,
    inexact_dtype,
    no_out,
    one_axis,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ parts


def _summed_dtype(t, dtype, promote: bool):
    """The dtype of a sum: that asked for; integers have at least the default width."""
    if dtype is not None:
        return dtypes.as_dtype(dtype)
    kind = dtypes.kind(t.dtype)
    if kind not in ("bool", "int", "uint") or not (promote or kind == "bool"):
        return t.dtype
    default = dtypes.default_dtype("uint" if kind == "uint" else "int")
    return t.dtype if t.dtype.itemsize > default.itemsize else default


def accumulator(dtype):
    """In what sums of a dtype are formed: 16-bit floats in float32."""
    if dtypes.is_floating(dtype) and dtype.itemsize < 4:
        return dtypes.float32
    return dtype


def keep_axes(out, shape, axes, keepdims: bool):
    """A reduced array with the reduced axes put back, if asked for."""
    if not keepdims:
        return out
    return ops.reshape(out, shape=tuple(1 if i in axes else n for i, n in enumerate(shape)))


def _masked(who: str, a, where, filler):
    """The array with a neutral value where ``where`` is False."""
    if where is None:
        return a
    where = astype(as_array(who, where), dtypes.bool_)
    shape = broadcast_shapes(who, typeof(a).shape, typeof(where).shape)
    a = broadcast_to(a, shape)
    return ops.select(broadcast_to(where, shape), a, ops.full_like_type(typeof(a).strong(), filler))


def _with_initial(who: str, out, initial, combine):
    if initial is None:
        return out
    return combine(out, filled(who, initial, typeof(out).strong()))


def _folded(name, op, combine, neutral, a, axis, dtype, out, keepdims, initial, where, promote):
    """sum and prod."""
    who = f"numpy.{name}"
    no_out(who, out)
    a = as_array(who, a)
    result = _summed_dtype(typeof(a), dtype, promote)
    work = accumulator(result)
    a = _masked(who, astype(a, work), where, neutral)
    shape = typeof(a).shape
    axes = axes_of(who, axis, len(shape))
    if result == dtypes.bool_:
        total = (ops.reduce_or if name == "sum" else ops.reduce_and)(a, axes=axes)
        combine = ops.or_ if name == "sum" else ops.and_
    else:
        total = op(a, axes=axes)
    total = astype(_with_initial(who, total, initial, combine), result)
    return keep_axes(total, shape, axes, keepdims)


@fused(1)
def sum(
    a,
    axis=None,
    dtype=None,
    out=None,
    keepdims=False,
    initial=None,
    where=None,
    promote_integers=True,
):
    """The sum of elements. Small integers are added in the default width, 16-bit floats in float32.

    Args:
      a: array.
      axis: an int or several; all by default.
      dtype: in which to compute, and of the result.
      out: must be None: arrays are immutable.
      keepdims: keep the reduced axes with length 1.
      initial: a number that takes part.
      where: which elements take part.
      promote_integers: whether integers are widened to the default width.

    >>> import xcore.numpy as xnp
    >>> xnp.sum(xnp.ones((2, 3)), axis=0)
    Array([2., 2., 2.], dtype=float32)
    """
    return _folded("sum", ops.reduce_sum, ops.add, 0, a, axis, dtype, out, keepdims, initial, where,
                   promote_integers)  # fmt: skip


@fused(1)
def prod(
    a,
    axis=None,
    dtype=None,
    out=None,
    keepdims=False,
    initial=None,
    where=None,
    promote_integers=True,
):
    """The product of elements. Small integers are multiplied in the default width.

    Args:
      a: array.
      axis: an int or several; all by default.
      dtype: in which to compute, and of the result.
      out: must be None: arrays are immutable.
      keepdims: keep the reduced axes with length 1.
      initial: a number that takes part.
      where: which elements take part.
      promote_integers: whether integers are widened to the default width.

    >>> import xcore.numpy as xnp
    >>> xnp.prod(xnp.arange(1, 5))
    Array(24, dtype=int32)
    """
    return _folded("prod", ops.reduce_prod, ops.mul, 1, a, axis, dtype, out, keepdims, initial, where,
                   promote_integers)  # fmt: skip


# ---------------------------------------------------------------------------------------- extrema


def _extremum(name, op, combine, neutral, a, axis, out, keepdims, initial, where):
    who = f"numpy.{name}"
    no_out(who, out)
    a = as_array(who, a)
    if where is not None and initial is None:
        raise errors.bad_argument(who, "initial", None, "given together with where")
    a = _masked(who, a, where, neutral(typeof(a).dtype) if where is not None else None)
    shape = typeof(a).shape
    axes = axes_of(who, axis, len(shape))
    if initial is None and not math.prod(shape[i] for i in axes):
        raise errors.bad_argument(
            who,
            "a",
            a,
            f"an array with elements along axes {axes}",
            "Give initial for the result of none.",
        )
    reduce = _complex_extremum if dtypes.is_complex(typeof(a).dtype) else _with_nan
    top = _with_initial(who, reduce(op, a, axes, neutral), initial, combine)
    return keep_axes(top, shape, axes, keepdims)


def _with_nan(op, a, axes, neutral):
    return op(a, axes=axes) if axes else a


def _complex_extremum(op, a, axes, neutral):
    """By real part, then imaginary part, as NumPy orders complex numbers; NaN wins."""
    if not axes:
        return a
    re, im = ops.real(a), ops.imag(a)
    kept = tuple(i for i in range(typeof(a).ndim) if i not in axes)
    top = op(re, axes=axes)
    at_top = ops.eq(re, ops.broadcast_in_dim(top, shape=typeof(a).shape, dims=kept))
    low = ops.full_like_type(typeof(im).strong(), neutral(typeof(im).dtype))
    nan = ops.ne(im, im)
    second = op(ops.select(ops.or_(at_top, nan), im, low), axes=axes)
    bad = ops.or_(ops.ne(top, top), ops.ne(second, second))
    nans = ops.full_like_type(typeof(top), math.nan)
    return ops.complex(ops.select(bad, nans, top), ops.select(bad, nans, second))


def _complex_neutral(pick):
    return lambda d: pick(dtypes.to_real(d)) * (1 + 1j) if dtypes.is_complex(d) else pick(d)


@fused(1)
def max(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """The largest element; NaN if there is one.

    Args:
      a: array.
      axis: an int or several; all by default.
      out: must be None: arrays are immutable.
      keepdims: keep the reduced axes with length 1.
      initial: a number that takes part; the result of no elements.
      where: which elements take part.

    >>> import xcore.numpy as xnp
    >>> xnp.max(xnp.arange(5))
    Array(4, dtype=int32)
    """
    from_two = pick_of_two(ops.max, ops.gt)
    return _extremum(
        "max",
        ops.reduce_max,
        from_two,
        _complex_neutral(lowest),
        a,
        axis,
        out,
        keepdims,
        initial,
        where,
    )


@fused(1)
def min(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """The smallest element; NaN if there is one.

    Args:
      a: array.
      axis: an int or several; all by default.
      out: must be None: arrays are immutable.
      keepdims: keep the reduced axes with length 1.
      initial: a number that takes part; the result of no elements.
      where: which elements take part.

    >>> import xcore.numpy as xnp
    >>> xnp.min(xnp.arange(5))
    Array(0, dtype=int32)
    """
    from_two = pick_of_two(ops.min, ops.lt)
    return _extremum(
        "min",
        ops.reduce_min,
        from_two,
        _complex_neutral(highest),
        a,
        axis,
        out,
        keepdims,
        initial,
        where,
    )


amax, amin = max, min


@fused(1)
def ptp(a, axis=None, out=None, keepdims=False):
    """The largest element minus the smallest one.

    Args:
      a: array.
      axis: an int or several; all by default.
      out: must be None: arrays are immutable.
      keepdims: keep the reduced axes with length 1.

    >>> import xcore.numpy as xnp
    >>> xnp.ptp(xnp.asarray([3, 7, 5]))
    Array(4, dtype=int32)
    """
    no_out("numpy.ptp", out)
    return max(a, axis, keepdims=keepdims) - min(a, axis, keepdims=keepdims)


def _arg_extremum(name, op, pick, a, axis, out, keepdims):
    who = f"numpy.{name}"
    no_out(who, out)
    a = as_array(who, a)
    shape = typeof(a).shape
    if axis is None:
        a = ops.reshape(a, shape=(typeof(a).size,))
    axis = one_axis(who, 0 if axis is None else axis, typeof(a).ndim)
    if not typeof(a).shape[axis]:
        raise errors.bad_argument(who, "a", a, "an array with elements along the axis")
    where = dtypes.default_dtype("int")
    if dtypes.is_complex(typeof(a).dtype):
        top = pick(a, axis=axis, keepdims=True)
        top = broadcast_to(top, typeof(a).shape)
        hit = ops.or_(ops.eq(a, top), ops.ne(a, a))
        found = ops.argmax(hit, axis=axis, dtype=where)
    else:
        found = op(a, axis=axis, dtype=where)
    if not keepdims:
        return found
    gone = range(len(shape)) if typeof(a).ndim != len(shape) else (axis,)
    return keep_axes(found, shape, gone, True)


@fused(1)
def argmax(a, axis=None, out=None, keepdims=False):
    """The position of the largest element (the first of equal ones; a NaN counts as largest).

    Args:
      a: array.
      axis: along which; None counts in the flattened array.
      out: must be None: arrays are immutable.
      keepdims: keep the reduced axes with length 1.

    >>> import xcore.numpy as xnp
    >>> xnp.argmax(xnp.asarray([1, 3, 2]))
    Array(1, dtype=int32)
    """
    return _arg_extremum("argmax", ops.argmax, max, a, axis, out, keepdims)


@fused(1)
def argmin(a, axis=None, out=None, keepdims=False):
    """The position of the smallest element (the first of equal ones; a NaN counts as smallest).

    Args:
      a: array.
      axis: along which; None counts in the flattened array.
      out: must be None: arrays are immutable.
      keepdims: keep the reduced axes with length 1.

    >>> import xcore.numpy as xnp
    >>> xnp.argmin(xnp.asarray([3, 1, 2]))
    Array(1, dtype=int32)
    """
    return _arg_extremum("argmin", ops.argmin, min, a, axis, out, keepdims)


# ------------------------------------------------------------------------------- logic and counts


def _truth_reduction(name, op, neutral, a, axis, out, keepdims, where):
    who = f"numpy.{name}"
    no_out(who, out)
    a = _masked(who, astype(as_array(who, a), dtypes.bool_), where, neutral)
    shape = typeof(a).shape
    axes = axes_of(who, axis, len(shape))
    return keep_axes(op(a, axes=axes), shape, axes, keepdims)


@fused(1)
def all(a, axis=None, out=None, keepdims=False, *, where=None):
    """Whether all elements are true (not zero).

    Args:
      a: array.
      axis: an int or several; all by default.
      out: must be None: arrays are immutable.
      keepdims: keep the reduced axes with length 1.
      where: which elements take part.

    >>> import xcore.numpy as xnp
    >>> xnp.all(xnp.arange(3))
    Array(False, dtype=bool)
    """
    return _truth_reduction("all", ops.reduce_and, True, a, axis, out, keepdims, where)


@fused(1)
def any(a, axis=None, out=None, keepdims=False, *, where=None):
    """Whether any element is true (not zero).

    Args:
      a: array.
      axis: an int or several; all by default.
      out: must be None: arrays are immutable.
      keepdims: keep the reduced axes with length 1.
      where: which elements take part.

    >>> import xcore.numpy as xnp
    >>> xnp.any(xnp.arange(3))
    Array(True, dtype=bool)
    """
    return _truth_reduction("any", ops.reduce_or, False, a, axis, out, keepdims, where)


@fused(1)
def count_nonzero(a, axis=None, keepdims=False):
    """How many elements are not zero.

    Args:
      a: array.
      axis: an int or several; all by default.
      keepdims: keep the reduced axes with length 1.

    >>> import xcore.numpy as xnp
    >>> xnp.count_nonzero(xnp.arange(3))
    Array(2, dtype=int32)
    """
    return sum(astype(as_array("numpy.count_nonzero", a), dtypes.bool_), axis, keepdims=keepdims)


# ---------------------------------------------------------------------------------------- moments


def _mean_dtypes(who: str, a, dtype):
    """(dtype to compute in, dtype of the result) of a mean."""
    t = typeof(a)
    result = dtypes.as_dtype(dtype) if dtype is not None else inexact_dtype(t.dtype, t.weak)
    work = result if dtypes.is_inexact(result) else dtypes.to_inexact(result)
    return accumulator(work), result


def _count(who: str, shape, axes, where, dtype):
    """How many elements take part: a number, or an array with the reduced axes kept."""
    if where is None:
        return np.asarray(math.prod(shape[i] for i in axes), dtype)[()]
    where = broadcast_to(astype(as_array(who, where), dtypes.bool_), shape)
    total = ops.reduce_sum(ops.convert(where, dtype=dtypes.to_real(dtype)), axes=axes)
    return keep_axes(astype(total, dtype), shape, axes, True)


def _mean_kept(who: str, a, axes, where):
    """The mean along axes, which are kept, and the count."""
    a = _masked(who, a, where, 0)
    shape = typeof(a).shape
    total = keep_axes(ops.reduce_sum(a, axes=axes), shape, axes, True)
    n = _count(who, shape, axes, where, typeof(a).dtype)
    return ops.div(total, broadcast_to(n, typeof(total).shape)), n


def _dropped(x, axes, keepdims: bool):
    shape = typeof(x).shape
    return (
        x
        if keepdims
        else ops.reshape(x, shape=tuple(n for i, n in enumerate(shape) if i not in axes))
    )


def _spread_where(who: str, a, where):
    """The array at the common shape with ``where``."""
    if where is None:
        return a
    return broadcast_to(
        a, broadcast_shapes(who, typeof(a).shape, typeof(as_array(who, where)).shape)
    )


@fused(1)
def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=None):
    """The arithmetic mean; of 16-bit floats computed in float32, of integers a float.

    Args:
      a: array.
      axis: an int or several; all by default.
      dtype: in which to compute, and of the result.
      out: must be None: arrays are immutable.
      keepdims: keep the reduced axes with length 1.
      where: which elements take part.

    >>> import xcore.numpy as xnp
    >>> xnp.mean(xnp.arange(4))
    Array(1.5, dtype=float32)
    """
    who = "numpy.mean"
    no_out(who, out)
    a = as_array(who, a)
    work, result = _mean_dtypes(who, a, dtype)
    a = _spread_where(who, astype(a, work), where)
    axes = axes_of(who, axis, typeof(a).ndim)
    value, _ = _mean_kept(who, a, axes, where)
    return astype(_dropped(value, axes, keepdims), result)


def _variance(name, a, axis, dtype, out, ddof, keepdims, where, center, correction):
    """Mean square distance from the mean, and the dtype of the result."""
    who = f"numpy.{name}"
    no_out(who, out)
    if correction is not None:
        if ddof:
            raise errors.bad_argument(who, "ddof", ddof, "left out where correction is given")
        ddof = correction
    a = as_array(who, a)
    work, result = _mean_dtypes(who, a, dtype)
    a = _spread_where(who, astype(a, work), where)
    axes = axes_of(who, axis, typeof(a).ndim)
    if center is None:
        center, n = _mean_kept(who, a, axes, where)
    else:
        center, n = (
            as_array(who, center, dtype=work),
            _count(who, typeof(a).shape, axes, where, work),
        )
    away = ops.sub(a, broadcast_to(center, typeof(a).shape))
    if dtypes.is_complex(work):
        re, im = ops.real(away), ops.imag(away)
        square = ops.add(ops.mul(re, re), ops.mul(im, im))
        n = astype(as_array(who, n), typeof(square).dtype)
    else:
        square = ops.mul(away, away)
    total = ops.reduce_sum(_masked(who, square, where, 0), axes=axes)
    total = keep_axes(total, typeof(a).shape, axes, True)
    t = typeof(total).strong()
    free = ops.sub(broadcast_to(n, t.shape), ops.full_like_type(t, ddof))
    # fewer elements than degrees of freedom: no variance is defined, and dividing gives NaN
    free = ops.max(free, ops.zeros(t))
    return _dropped(ops.div(total, free), axes, keepdims), dtypes.to_real(result)


@fused(1)
def var(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=None,
    mean=None,
    correction=None,
):
    """The variance: the mean of |a - mean(a)|².

    Args:
      a: array.
      axis: an int or several; all by default.
      dtype: in which to compute, and of the result.
      out: must be None: arrays are immutable.
      ddof: the sum is divided by n - ddof.
      keepdims: keep the reduced axes with length 1.
      where: which elements take part.
      mean: the mean if it is known, with the reduced axes kept.
      correction: ddof under its name in the Array API.

    >>> import xcore.numpy as xnp
    >>> xnp.var(xnp.arange(4))
    Array(1.25, dtype=float32)
    """
    value, result = _variance("var", a, axis, dtype, out, ddof, keepdims, where, mean, correction)
    return astype(value, result)


@fused(1)
def std(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=None,
    mean=None,
    correction=None,
):
    """The standard deviation: the square root of the variance.

    Args:
      a: array.
      axis: an int or several; all by default.
      dtype: in which to compute, and of the result.
      out: must be None: arrays are immutable.
      ddof: the sum is divided by n - ddof.
      keepdims: keep the reduced axes with length 1.
      where: which elements take part.
      mean: the mean if it is known, with the reduced axes kept.
      correction: ddof under its name in the Array API.

    >>> import xcore.numpy as xnp
    >>> xnp.std(xnp.asarray([1.0, 3.0]))
    Array(1., dtype=float32)
    """
    value, result = _variance("std", a, axis, dtype, out, ddof, keepdims, where, mean, correction)
    return astype(ops.sqrt(value), result)


def average(a, axis=None, weights=None, returned=False, keepdims=False):
    """The weighted mean.

    Args:
      a: array.
      axis: an int or several; all by default.
      weights: of the shape of ``a``, or of its length along the axis; equal by default.
      returned: also return the sum of the weights.
      keepdims: keep the reduced axes with length 1.

    >>> import xcore.numpy as xnp
    >>> xnp.average(xnp.arange(3), weights=xnp.asarray([0.0, 1.0, 1.0]))
    Array(1.5, dtype=float32)
    """
    axis = tuple(axis) if isinstance(axis, list) else axis
    value, total = _average([a] if weights is None else [a, weights], axis, bool(keepdims))
    return (value, total) if returned else value


@fused(1)
def _average(arrays, axis, keepdims):
    who = "numpy.average"
    if len(arrays) == 1:
        a = as_array(who, arrays[0])
        value = mean(a, axis, keepdims=keepdims)
        n = _count(
            who, typeof(a).shape, axes_of(who, axis, typeof(a).ndim), None, typeof(value).dtype
        )
        return value, broadcast_to(n, typeof(value).shape) if typeof(value).shape else as_array(
            who, n
        )
    a, weights = (as_array(who, x) for x in arrays)
    axes = axes_of(who, axis, typeof(a).ndim)
    weights = _weights_at(who, a, weights, axis, axes)
    a, weights = as_arrays(who, a, weights, inexact=True)
    total = sum(weights, axes, keepdims=keepdims)
    return ops.div(sum(ops.mul(a, weights), axes, keepdims=keepdims), total), total


def _weights_at(who, a, weights, axis, axes):
    """Weights of the array's shape, from ones that may have only the axes averaged over."""
    shape, given = typeof(a).shape, typeof(weights).shape
    if given == shape:
        return weights
    wanted = tuple(shape[i] for i in axes)
    if axis is None or given != wanted:
        raise errors.shape_mismatch(
            who, f"need weights of shape {shape} or {wanted}", a=a, weights=weights
        )
    return ops.broadcast_in_dim(weights, shape=shape, dims=axes)


# ---------------------------------------------------------------------------------- accumulation


def _accumulated(name, op, a, axis, dtype, out, promote=False):
    """cumsum and cumprod: the running totals along an axis; None flattens."""
    who = f"numpy.{name}"
    no_out(who, out)
    a = as_array(who, a)
    result = _summed_dtype(typeof(a), dtype, promote)
    if axis is None:
        a = ops.reshape(a, shape=(typeof(a).size,))
    axis = one_axis(who, 0 if axis is None else axis, typeof(a).ndim)
    if result == dtypes.bool_:
        return (ops.cummax if op is ops.cumsum else ops.cummin)(astype(a, result), axis=axis)
    return astype(op(astype(a, accumulator(result)), axis=axis), result)


@fused(1)
def cumsum(a, axis=None, dtype=None, out=None):
    """Running sums along an axis.

    Args:
      a: array.
      axis: which axis; None flattens first.
      dtype: in which to compute, and of the result.
      out: must be None: arrays are immutable.

    >>> import xcore.numpy as xnp
    >>> xnp.cumsum(xnp.arange(4))
    Array([0, 1, 3, 6], dtype=int32)
    """
    return _accumulated("cumsum", ops.cumsum, a, axis, dtype, out)


@fused(1)
def cumprod(a, axis=None, dtype=None, out=None):
    """Running products along an axis.

    Args:
      a: array.
      axis: which axis; None flattens first.
      dtype: in which to compute, and of the result.
      out: must be None: arrays are immutable.

    >>> import xcore.numpy as xnp
    >>> xnp.cumprod(xnp.arange(1, 5))
    Array([ 1,  2,  6, 24], dtype=int32)
    """
    return _accumulated("cumprod", ops.cumprod, a, axis, dtype, out)


def _cumulative(name, op, neutral, x, axis, dtype, include_initial):
    x = as_array(f"numpy.{name}", x)
    t = typeof(x)
    if axis is None and t.ndim != 1:
        raise errors.bad_argument(
            f"numpy.{name}", "axis", None, f"given for an array of {t.ndim} axes"
        )
    axis = one_axis(f"numpy.{name}", 0 if axis is None else axis, t.ndim)
    out = _accumulated(name, op, x, axis, dtype, None, promote=True)
    if not include_initial:
        return out
    shape = tuple(1 if i == axis else n for i, n in enumerate(t.shape))
    first = ops.full_like_type(ArrayType(shape, typeof(out).dtype), neutral)
    return ops.concatenate(broadcast_to(first, shape), out, axis=axis)


@fused(1)
def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running sums along an axis; small integers are added in the default width.

    Args:
      x: array.
      axis: which axis; may be left out for a vector.
      dtype: in which to compute, and of the result.
      include_initial: start with the sum of nothing, 0.

    >>> import xcore.numpy as xnp
    >>> xnp.cumulative_sum(xnp.arange(3), include_initial=True)
    Array([0, 0, 1, 3], dtype=int32)
    """
    return _cumulative("cumulative_sum", ops.cumsum, 0, x, axis, dtype, include_initial)


@fused(1)
def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running products along an axis; small integers are multiplied in the default width.

    Args:
      x: array.
      axis: which axis; may be left out for a vector.
      dtype: in which to compute, and of the result.
      include_initial: start with the product of nothing, 1.

    >>> import xcore.numpy as xnp
    >>> xnp.cumulative_prod(xnp.arange(1, 4))
    Array([1, 2, 6], dtype=int32)
    """
    return _cumulative("cumulative_prod", ops.cumprod, 1, x, axis, dtype, include_initial)
