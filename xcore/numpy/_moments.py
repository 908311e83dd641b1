"""Means, variances and deviations."""

from __future__ import annotations

import math

import numpy as np

from .. import _ops as ops
from .._core import config, dtypes, errors, fused, typeof
from ._docstrings import described
from ._elementwise import size_of_square
from ._promote import (
    as_array,
    as_arrays,
    astype,
    axes_of,
    broadcast_shapes,
    broadcast_to,
    inexact_dtype,
    no_out,
    one_axis,
)
from ._reduce import accumulator, as_mask, keep_axes, masked, sum
from ._sanitize import check_digits


def _mean_dtypes(a, dtype):
    """(dtype to compute in, dtype of the result) of a mean."""
    t = typeof(a)
    result = dtypes.as_dtype(dtype) if dtype is not None else inexact_dtype(t.dtype, t.weak)
    work = result if dtypes.is_inexact(result) else dtypes.to_inexact(result)
    return accumulator(work), result


def _count(who: str, shape, axes, where, dtype):
    """How many elements take part: a number, or an array with the reduced axes kept."""
    if where is None:
        return np.asarray(math.prod(shape[i] for i in axes), dtype)[()]
    where = broadcast_to(as_mask(who, where), shape)
    total = ops.reduce_sum(ops.convert(where, dtype=dtypes.to_real(dtype)), axes=axes)
    return keep_axes(astype(total, dtype), shape, axes, True)


def _mean_keepdims(who: str, a, axes, where):
    """The mean along axes, which are kept, and the count."""
    a = masked(who, a, where, 0)
    shape = typeof(a).shape
    total = keep_axes(ops.reduce_sum(a, axes=axes), shape, axes, True)
    n = _count(who, shape, axes, where, typeof(a).dtype)
    return ops.div(total, broadcast_to(n, typeof(total).shape)), n


def _without_axes(x, axes, keepdims: bool):
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


@described(
    "The arithmetic mean 1/n Σ_i a_i; of 16-bit floats computed in float32, of integers a float.",
    "xnp.mean(xnp.arange(4)) → Array(1.5, dtype=float32)",
)
def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=None):
    who = "numpy.mean"
    no_out(who, out)
    a = as_array(who, a)
    work, result = _mean_dtypes(a, dtype)
    a = _spread_where(who, astype(a, work), where)
    axes = axes_of(who, axis, typeof(a).ndim)
    value, count = _mean_keepdims(who, a, axes, where)
    if where is None and config.settings().sanitize_cancellation:
        check_digits(who, a, _without_axes(value, axes, False), axes, count)
    return astype(_without_axes(value, axes, keepdims), result)


def _variance(name, a, axis, dtype, out, ddof, keepdims, where, center, correction):
    """Mean square distance from the mean, and the dtype of the result."""
    who = f"numpy.{name}"
    no_out(who, out)
    if correction is not None:
        if ddof:
            raise errors.bad_argument(who, "ddof", ddof, "left out where correction is given")
        ddof = correction
    a = as_array(who, a)
    work, result = _mean_dtypes(a, dtype)
    if dtypes.is_complex(typeof(a).dtype) and not dtypes.is_complex(work):
        raise errors.dtype_not_allowed(f"{who} (dtype)", work, "complex (the array is complex)")
    a = _spread_where(who, astype(a, work), where)
    axes = axes_of(who, axis, typeof(a).ndim)
    if center is None:
        center, n = _mean_keepdims(who, a, axes, where)
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
    total = ops.reduce_sum(masked(who, square, where, 0), axes=axes)
    total = keep_axes(total, typeof(a).shape, axes, True)
    t = typeof(total).strong()
    free = ops.sub(broadcast_to(n, t.shape), ops.full_like_type(t, ddof))
    # fewer elements than degrees of freedom: no variance is defined, and dividing gives NaN
    free = ops.max(free, ops.zeros(t))
    return _without_axes(ops.div(total, free), axes, keepdims), dtypes.to_real(result)


@described(
    "The variance: Σ_i |a_i - m|² / (n - ddof), with m the mean of the n numbers.",
    "xnp.var(xnp.arange(4)) → Array(1.25, dtype=float32)",
    ddof="the sum is divided by n - ddof.",
)
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
    value, result = _variance("var", a, axis, dtype, out, ddof, keepdims, where, mean, correction)
    return astype(value, result)


@described(
    "The standard deviation: √(Σ_i |a_i - m|² / (n - ddof)), with m the mean of the n numbers.",
    "xnp.std(xnp.asarray([1.0, 3.0])) → Array(1., dtype=float32)",
    ddof="the sum is divided by n - ddof.",
)
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
    value, result = _variance("std", a, axis, dtype, out, ddof, keepdims, where, mean, correction)
    return astype(size_of_square(value), result)


def average(a, axis=None, weights=None, returned=False, keepdims=False):
    """The weighted mean.

      Σ_i w_i a_i / Σ_i w_i

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
    a, weights = as_arrays(who, a, weights, inexact=True, any_rank=True)
    total = sum(weights, axes, keepdims=keepdims)
    return ops.div(sum(ops.mul(a, weights), axes, keepdims=keepdims), total), total


def _weights_at(who, a, weights, axis, axes):
    """Weights of the array's shape, from ones that may have only the axes averaged over."""
    shape, given = typeof(a).shape, typeof(weights).shape
    if given == shape:
        return weights
    order = axes if np.ndim(axis) == 0 else [one_axis(who, i, len(shape)) for i in axis]
    wanted = tuple(shape[i] for i in order)
    if axis is None or given != wanted:
        raise errors.shape_mismatch(
            who, f"need weights of shape {shape} or {wanted}", a=a, weights=weights
        )
    rising = sorted(range(len(order)), key=order.__getitem__)
    if rising != list(range(len(order))):
        weights = ops.transpose(weights, perm=tuple(rising))
    return ops.broadcast_in_dim(weights, shape=shape, dims=axes)
