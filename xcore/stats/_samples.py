"""What samples say: ranks, modes, standard errors."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import errors, fused, one_of, typeof
from ..numpy._functions import power_of_two_near
from ..numpy._promote import as_array, as_inexact, one_axis

_WAYS = ("average", "min", "max", "dense", "ordinal")


@fused(1)
def rankdata(a, method="average", *, axis=None, nan_policy="propagate"):
    """The ranks of elements, from 1 on; equal elements share one.

    Args:
      a: array; without ``axis`` all its elements are ranked together.
      method: what equal elements get: the "average", "min" or "max" of their ranks, the "dense" rank
        (how many different values are no larger), or "ordinal": in their order.
      axis: along which to rank.
      nan_policy: only "propagate": a line with a NaN has NaN ranks.

    >>> import xcore as xc
    >>> xc.stats.rankdata(xc.numpy.array([0, 2, 3, 2]))
    Array([1. , 2.5, 4. , 2.5], dtype=float32)
    """
    who = "stats.rankdata"
    one_of(who, "method", method, _WAYS, f"one of {', '.join(map(repr, _WAYS))}")
    if nan_policy != "propagate":
        raise errors.bad_argument(who, "nan_policy", nan_policy, "'propagate'")
    a = as_array(who, a, "a")
    if axis is None:
        a, axis = a.ravel(), 0
    x = xnp.moveaxis(a, one_axis(who, axis, typeof(a).ndim), -1)
    ranks = _ranks(x, method)
    if typeof(x).dtype.kind == "f":
        ranks = ranks.astype(float) if method != "average" else ranks
        ranks = xnp.where(xnp.isnan(x).any(axis=-1, keepdims=True), np.nan, ranks)
    return xnp.moveaxis(ranks, -1, axis)


def _ranks(x, method: str):
    """In a sorted line an element's first and last equal stand where a new value begins and ends."""
    order = xnp.argsort(x, axis=-1, stable=True)
    back = xnp.argsort(order, axis=-1, stable=True)
    if method == "ordinal" or not typeof(x).size:
        return back + 1
    line = xnp.take_along_axis(x, order, axis=-1)
    new = xnp.concatenate(
        [xnp.ones_like(line[..., :1], dtype=bool), line[..., 1:] != line[..., :-1]], axis=-1
    )
    group = xnp.cumsum(new, axis=-1)
    if method == "dense":
        return xnp.take_along_axis(group, back, axis=-1)
    place = xnp.arange(1, typeof(x).shape[-1] + 1)
    first = _running_max(xnp.where(new, place, 0))
    ends = xnp.concatenate([new[..., 1:], xnp.ones_like(new[..., :1])], axis=-1)
    backwards = xnp.where(ends, -place, -typeof(x).shape[-1])
    last = -xnp.flip(_running_max(xnp.flip(backwards, -1)), -1)
    ranks = {"min": first, "max": last, "average": 0.5 * (first + last).astype(float)}[method]
    return xnp.take_along_axis(ranks, back, axis=-1)


def _running_max(x):
    return ops.cummax(x, axis=typeof(x).ndim - 1)


class ModeResult(NamedTuple):
    """The most frequent value of each line, and how often it occurs.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> found = xc.stats.mode(xnp.asarray([1, 2, 2, 3]))
    >>> found.mode, found.count
    (Array(2, dtype=int32), Array(2, dtype=int32))
    """

    mode: Any
    count: Any


@fused(1)
def mode(a, axis=0, nan_policy="propagate", keepdims=False):
    """The most frequent value along an axis, the smallest one of several, and its count.

    Args:
      a: array.
      axis: along which to count; None for all elements.
      nan_policy: "propagate": NaNs are a value like others, the largest one; or "omit" to leave them out.
      keepdims: keep the axis, with length 1.

    >>> import xcore as xc
    >>> value, count = xc.stats.mode(xc.numpy.array([3, 1, 3, 2]))
    >>> int(value), int(count)
    (3, 2)
    """
    who = "stats.mode"
    one_of(who, "nan_policy", nan_policy, ("propagate", "omit"), "'propagate' or 'omit'")
    a = as_array(who, a, "a")
    ndim = typeof(a).ndim
    x = a.reshape(1, -1) if axis is None else xnp.moveaxis(a, one_axis(who, axis, ndim), -1)
    if not typeof(x).shape[-1]:
        raise errors.bad_argument(who, "a", a, "not empty along the axis")
    x = xnp.sort(x, axis=-1)
    absent = x != x  # NaN
    other = (x[..., 1:] != x[..., :-1]) & ~(absent[..., 1:] & absent[..., :-1])
    new = xnp.concatenate([xnp.ones_like(x[..., :1], dtype=bool), other], axis=-1)
    place = xnp.arange(typeof(x).shape[-1])
    start = _running_max(xnp.where(new, place, 0))
    run = place - start + 1
    run = xnp.where(absent, 0, run) if nan_policy == "omit" else run
    best = xnp.argmax(run, axis=-1, keepdims=True)
    value, count = xnp.take_along_axis(x, best, axis=-1), xnp.take_along_axis(run, best, axis=-1)
    back = (
        (lambda v: v.reshape((1,) * ndim if keepdims else ()))
        if axis is None
        else (lambda v: xnp.moveaxis(v, -1, axis) if keepdims else v[..., 0])
    )
    return ModeResult(back(value), back(count))


@fused(1)
def sem(a, axis=0, ddof=1, nan_policy="propagate", *, keepdims=False):
    """The standard error of the mean: the standard deviation divided by √n.

    Args:
      a: array.
      axis: along which the sample lies; None for all elements.
      ddof: what is taken from n in the variance's denominator.
      nan_policy: "propagate", or "omit" to leave NaNs out.
      keepdims: keep the axis, with length 1.

    >>> import xcore as xc
    >>> round(float(xc.stats.sem(xc.numpy.array([1.0, 2.0, 3.0, 4.0]))), 4)
    0.6455
    """
    who = "stats.sem"
    one_of(who, "nan_policy", nan_policy, ("propagate", "omit"), "'propagate' or 'omit'")
    a = as_inexact(who, a)
    if axis is None:
        found = sem(a.ravel(), 0, ddof, nan_policy)
        return found.reshape([1] * typeof(a).ndim) if keepdims else found
    axis = one_axis(who, axis, typeof(a).ndim)
    a, unit = in_units(a, axis)
    unit = unit if keepdims else xnp.squeeze(unit, axis)
    # deviations from the mean have a mean of their own: what rounding left
    if nan_policy == "omit":
        n = (~xnp.isnan(a)).sum(axis=axis, keepdims=keepdims)
        a = a - xnp.nanmean(a, axis=axis, keepdims=True)
        deviation = xnp.nanstd(a, axis=axis, ddof=ddof, keepdims=keepdims)
        return unit * (deviation / xnp.sqrt(n.astype(typeof(deviation).dtype)))
    n = typeof(a).shape[axis]
    a = a - xnp.mean(a, axis=axis, keepdims=True)
    return unit * (xnp.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / math.sqrt(n))


def in_units(x, axis: int) -> tuple:
    """(x, a power of two near its largest element along an axis), the former divided by the latter: so that squares
    are numbers."""
    size = ops.stop_gradient(xnp.abs(x))
    most = xnp.max(xnp.where(xnp.isfinite(size), size, 0), axis=axis, keepdims=True, initial=0)
    unit = power_of_two_near(xnp.where(most > 0, most, 1))
    return x / unit, unit
