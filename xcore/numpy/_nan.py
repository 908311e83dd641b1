"""Reductions and running totals that pass over NaNs."""

from __future__ import annotations

import math

from .._core import dtypes, typeof
from . import _cumulative, _moments, _reduce
from ._docstrings import ONE_AXIS, described
from ._elementwise import logical_and
from ._floats import isnan
from ._promote import as_array, broadcast_shapes, broadcast_to
from ._select import where as pick


def _without(name: str, a, value):
    """The array with a value in place of NaNs."""
    a = as_array(f"numpy.{name}", a)
    return pick(isnan(a), value, a) if dtypes.is_inexact(typeof(a).dtype) else a


def _numbers(who: str, a, where):
    """Which elements take part: numbers, and where ``where`` says so."""
    taken = ~isnan(a)
    return taken if where is None else logical_and(taken, _reduce.as_mask(who, where))


def _documented(f, name: str, doc: str, result: str, **about: str):
    f.__name__ = name
    example = f"xnp.{name}(xnp.asarray([1.0, xnp.nan, 3.0])) → {result}"
    return described(doc, example, **about)(f)


def _folded(name: str, reduce, value, doc: str, result: str):
    def f(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
        return reduce(_without(name, a, value), axis, dtype, out, keepdims, initial, where)

    return _documented(f, name, doc, result)


# fmt: off
nansum = _folded("nansum", _reduce.sum, 0, "The sum of the elements that are not NaN.", "Array(4., dtype=float32)")
nanprod = _folded("nanprod", _reduce.prod, 1, "The product of the elements that are not NaN.",
    "Array(3., dtype=float32)")
# fmt: on


def _running(name: str, accumulate, value, doc: str, result: str):
    def f(a, axis=None, dtype=None, out=None):
        return accumulate(_without(name, a, value), axis, dtype, out)

    return _documented(f, name, doc, result, axis=ONE_AXIS)


# fmt: off
nancumsum = _running("nancumsum", _cumulative.cumsum, 0, "Running sums, to which NaNs add nothing.",
    "Array([1., 1., 4.], dtype=float32)")
nancumprod = _running("nancumprod", _cumulative.cumprod, 1, "Running products, which NaNs leave alone.",
    "Array([1., 1., 3.], dtype=float32)")
# fmt: on


def _extremum(name: str, reduce, worst: float, doc: str, result: str):
    def f(a, axis=None, out=None, keepdims=False, initial=None, where=None):
        a = as_array(f"numpy.{name}", a)
        if not dtypes.is_inexact(typeof(a).dtype):
            return reduce(a, axis, out, keepdims, initial, where)
        known = reduce(_without(name, a, worst), axis, out, keepdims, initial, where)
        if initial is not None:
            return known
        nothing = ~_reduce.any(_numbers(f"numpy.{name}", a, where), axis, keepdims=keepdims)
        return pick(nothing, math.nan, known)

    return _documented(f, name, doc, result)


# fmt: off
nanmax = _extremum("nanmax", _reduce.max, -math.inf, "The largest element that is not NaN; NaN if all are.",
    "Array(3., dtype=float32)")
nanmin = _extremum("nanmin", _reduce.min, math.inf, "The smallest element that is not NaN; NaN if all are.",
    "Array(1., dtype=float32)")
# fmt: on


def _position(name: str, reduce, worst: float, doc: str, result: str):
    def f(a, axis=None, out=None, keepdims=False):
        a = as_array(f"numpy.{name}", a)
        found = reduce(_without(name, a, worst), axis, out, keepdims)
        if not dtypes.is_inexact(typeof(a).dtype):
            return found
        return pick(_reduce.all(isnan(a), axis, keepdims=keepdims), -1, found)

    return _documented(
        f, name, doc, result, axis="along which; None counts in the flattened array."
    )


# fmt: off
nanargmax = _position("nanargmax", _reduce.argmax, -math.inf,
    "The position of the largest element that is not NaN; -1 if all are.", "Array(2, dtype=int32)")
nanargmin = _position("nanargmin", _reduce.argmin, math.inf,
    "The position of the smallest element that is not NaN; -1 if all are.", "Array(0, dtype=int32)")
# fmt: on


@described(
    "The mean of the elements that are not NaN.",
    "xnp.nanmean(xnp.asarray([1.0, xnp.nan, 3.0])) → Array(2., dtype=float32)",
)
def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, where=None):
    who = "numpy.nanmean"
    given = as_array(who, a)
    taken = _numbers(who, given, where)
    y = _moments.mean(_without("nanmean", a, 0), axis, dtype, out, keepdims, where=taken)
    if not dtypes.is_inexact(typeof(given).dtype):
        return y
    # where nothing takes part it is a constant, whose derivative is 0, not 0/0
    return pick(_reduce.any(taken, axis, keepdims=keepdims), y, math.nan)


def _spread(name: str, spread, doc: str):
    """A variance or its root; NaN where not more numbers are left than are subtracted from their count."""

    def f(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, mean=None,
          correction=None):  # fmt: skip
        free = ddof if correction is None else correction
        given = as_array(f"numpy.{name}", a)
        where = _numbers(f"numpy.{name}", given, where)
        a = _without(name, a, 0)
        everywhere = broadcast_to(where, broadcast_shapes(name, typeof(given).shape, where.shape))
        enough = _reduce.sum(everywhere, axis, keepdims=True) > free
        # what gives NaN is a constant: its derivative is 0, not 0/0
        a = pick(enough, a, 0) if dtypes.is_inexact(typeof(given).dtype) else a
        y = spread(a, axis, dtype, out, keepdims=keepdims, where=where, mean=mean, correction=free)
        if not dtypes.is_inexact(typeof(y).dtype):
            return y
        return pick(enough.reshape(typeof(y).shape), y, math.nan)

    return _documented(f, name, doc, "Array(1., dtype=float32)")


nanvar = _spread("nanvar", _moments.var, "The variance of the elements that are not NaN.")
nanstd = _spread("nanstd", _moments.std, "The standard deviation of the elements that are not NaN.")
