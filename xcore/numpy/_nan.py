"""Reductions and running totals that pass over NaNs."""

from __future__ import annotations

import math

from .._core import dtypes
from .._core.eval import fused
from .._core.types import typeof
from . import _reduce
from ._elementwise import logical_and
from ._floats import isnan
from ._promote import as_array, broadcast_to
from ._select import where as pick


def _without(name: str, a, value):
    """The array with a value in place of NaNs."""
    a = as_array(f"numpy.{name}", a)
    return pick(isnan(a), value, a) if dtypes.is_inexact(typeof(a).dtype) else a


def _numbers(a, where):
    """Which elements take part: numbers, and where ``where`` says so."""
    taken = ~isnan(a)
    return taken if where is None else logical_and(taken, where)


_HEAD = """

    Args:
      a: array.
      axis: {axis}"""
_DTYPE = """
      dtype: in which to compute, and of the result."""
_OUT = """
      out: must be None: arrays are immutable."""
_KEEPDIMS = """
      keepdims: keep the reduced axes with length 1."""
_INITIAL = """
      initial: a number that takes part.
      where: which elements take part."""
_SEVERAL = "an int or several; all by default."
_EXAMPLE = """

    >>> import xcore.numpy as xnp
    >>> xnp.{name}(xnp.asarray([1.0, xnp.nan, 3.0]))
    {result}
    """


def _named(f, name: str, doc: str, arguments: str, result: str, axis: str = _SEVERAL):
    f.__name__ = f.__qualname__ = name
    f.__module__ = "xcore.numpy"
    f.__doc__ = (
        doc + _HEAD.format(axis=axis) + arguments + _EXAMPLE.format(name=name, result=result)
    )
    return fused(1)(f)


def _folded(name: str, reduce, value, doc: str, result: str):
    def f(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
        return reduce(_without(name, a, value), axis, dtype, out, keepdims, initial, where)

    return _named(f, name, doc, _DTYPE + _OUT + _KEEPDIMS + _INITIAL, result)


nansum = _folded(
    "nansum",
    _reduce.sum,
    0,
    "The sum of the elements that are not NaN.",
    "Array(4., dtype=float32)",
)
nanprod = _folded(
    "nanprod", _reduce.prod, 1, "The product of the elements that are not NaN.",
    "Array(3., dtype=float32)",
)  # fmt: skip


def _running(name: str, accumulate, value, doc: str, result: str):
    def f(a, axis=None, dtype=None, out=None):
        return accumulate(_without(name, a, value), axis, dtype, out)

    return _named(f, name, doc, _DTYPE + _OUT, result, "which axis; None flattens first.")


nancumsum = _running(
    "nancumsum", _reduce.cumsum, 0, "Running sums, to which NaNs add nothing.",
    "Array([1., 1., 4.], dtype=float32)",
)  # fmt: skip
nancumprod = _running(
    "nancumprod", _reduce.cumprod, 1, "Running products, which NaNs leave alone.",
    "Array([1., 1., 3.], dtype=float32)",
)  # fmt: skip


def _extremum(name: str, reduce, worst: float, doc: str, result: str):
    def f(a, axis=None, out=None, keepdims=False, initial=None, where=None):
        a = as_array(f"numpy.{name}", a)
        if not dtypes.is_inexact(typeof(a).dtype):
            return reduce(a, axis, out, keepdims, initial, where)
        known = reduce(_without(name, a, worst), axis, out, keepdims, initial, where)
        if initial is not None:
            return known
        nothing = ~_reduce.any(_numbers(a, where), axis, keepdims=keepdims)
        return pick(nothing, math.nan, known)

    return _named(f, name, doc, _OUT + _KEEPDIMS + _INITIAL, result)


nanmax = _extremum(
    "nanmax", _reduce.max, -math.inf, "The largest element that is not NaN; NaN if all are.",
    "Array(3., dtype=float32)",
)  # fmt: skip
nanmin = _extremum(
    "nanmin", _reduce.min, math.inf, "The smallest element that is not NaN; NaN if all are.",
    "Array(1., dtype=float32)",
)  # fmt: skip


def _position(name: str, reduce, worst: float, doc: str, result: str):
    def f(a, axis=None, out=None, keepdims=False):
        a = as_array(f"numpy.{name}", a)
        found = reduce(_without(name, a, worst), axis, out, keepdims)
        if not dtypes.is_inexact(typeof(a).dtype):
            return found
        return pick(_reduce.all(isnan(a), axis, keepdims=keepdims), -1, found)

    return _named(
        f, name, doc, _OUT + _KEEPDIMS, result, "along which; None counts in the flattened array."
    )


nanargmax = _position(
    "nanargmax", _reduce.argmax, -math.inf,
    "The position of the largest element that is not NaN; -1 if all are.",
    "Array(2, dtype=int32)",
)  # fmt: skip
nanargmin = _position(
    "nanargmin", _reduce.argmin, math.inf,
    "The position of the smallest element that is not NaN; -1 if all are.",
    "Array(0, dtype=int32)",
)  # fmt: skip


@fused(1)
def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, where=None):
    """The mean of the elements that are not NaN.

    Args:
      a: array.
      axis: an int or several; all by default.
      dtype: in which to compute, and of the result.
      out: must be None: arrays are immutable.
      keepdims: keep the reduced axes with length 1.
      where: which elements take part.

    >>> import xcore.numpy as xnp
    >>> xnp.nanmean(xnp.asarray([1.0, xnp.nan, 3.0]))
    Array(2., dtype=float32)
    """
    where = _numbers(as_array("numpy.nanmean", a), where)
    return _reduce.mean(_without("nanmean", a, 0), axis, dtype, out, keepdims, where=where)


def _spread(name, spread, a, axis, dtype, out, keepdims, where, mean, free):
    """A variance or its root; NaN where not more numbers are left than are subtracted from their count."""
    given = as_array(f"numpy.{name}", a)
    where = _numbers(given, where)
    a = _without(name, a, 0)
    y = spread(a, axis, dtype, out, keepdims=keepdims, where=where, mean=mean, correction=free)
    if not dtypes.is_inexact(typeof(y).dtype):
        return y
    where = broadcast_to(where, typeof(given).shape)
    return pick(_reduce.sum(where, axis, keepdims=keepdims) > free, y, math.nan)


@fused(1)
def nanvar(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    where=None,
    mean=None,
    correction=None,
):
    """The variance of the elements that are not NaN.

    Args:
      a: array.
      axis: an int or several; all by default.
      dtype: in which to compute, and of the result.
      out: must be None: arrays are immutable.
      ddof: the sum is divided by n - ddof.
      keepdims: keep the reduced axes with length 1.
      where: which elements take part.
      mean: the mean, with the reduced axes of length 1, where it is known.
      correction: ddof under its name in the Array API.

    >>> import xcore.numpy as xnp
    >>> xnp.nanvar(xnp.asarray([1.0, xnp.nan, 3.0]))
    Array(1., dtype=float32)
    """
    free = ddof if correction is None else correction
    return _spread("nanvar", _reduce.var, a, axis, dtype, out, keepdims, where, mean, free)


@fused(1)
def nanstd(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    where=None,
    mean=None,
    correction=None,
):
    """The standard deviation of the elements that are not NaN.

    Args:
      a: array.
      axis: an int or several; all by default.
      dtype: in which to compute, and of the result.
      out: must be None: arrays are immutable.
      ddof: the sum of squares is divided by n - ddof.
      keepdims: keep the reduced axes with length 1.
      where: which elements take part.
      mean: the mean, with the reduced axes of length 1, where it is known.
      correction: ddof under its name in the Array API.

    >>> import xcore.numpy as xnp
    >>> xnp.nanstd(xnp.asarray([1.0, xnp.nan, 3.0]))
    Array(1., dtype=float32)
    """
    free = ddof if correction is None else correction
    return _spread("nanstd", _reduce.std, a, axis, dtype, out, keepdims, where, mean, free)
