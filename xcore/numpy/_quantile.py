"""Quantiles, percentiles and medians, also of what is not NaN."""

from __future__ import annotations

import math

import numpy as np

from .. import _ops as ops
from .._core import Array, Value, dtypes, errors, fused, one_of, typeof
from . import _rounding as f
from ._creation import full
from ._cumulative import cumsum
from ._elementwise import maximum
from ._floats import isinf, isnan
from ._promote import as_array, astype, axes_of, broadcast_to, inexact_dtype, no_out, result_dtype
from ._reduce import accumulator, argmax
from ._reduce import any as any_of
from ._reduce import sum as sum_of
from ._select import where
from ._shape import moveaxis, reshape
from ._sort import sort
from ._take import take_along_axis

# Methods
# Hyndman & Fan (1996), "Sample Quantiles in Statistical Packages". A method says at which place, in
# n elements counted from 0, the quantile q lies. Places between elements are interpolated, but for
# those methods that name an element. Places are computed in float64: in float32 they would be off
# by whole elements in long arrays. Where n and q are numbers NumPy does it, and programs hold the
# places alone; so methods take the functions to compute with as their first argument.


class _Traced:
    """The arithmetic that methods use on traced values."""

    floor, ceil, round, clip, where = map(staticmethod, (f.floor, f.ceil, f.round, f.clip, where))

    @staticmethod
    def times(n, q):
        """The product, rounded: fused with what is subtracted from it, 10 * 0.1 - 1 would not be 0."""
        return ops.optimization_barrier(n * q)[0]


class _Known:
    """The same on Python numbers."""

    floor, ceil, round, clip, where = map(
        staticmethod, (np.floor, np.ceil, np.round, np.clip, np.where)
    )
    times = staticmethod(np.multiply)


def _placed_by(alpha: float, beta: float):
    return lambda h, n, q: h.times(n, q) + (alpha + q * (1 - alpha - beta)) - 1


def _element_at_or_behind(h, place, stays):
    """The element at a place if ``stays``, else the next one."""
    low = h.floor(place)
    return h.where(stays(place - low, low), low, low + 1)


def _closest(h, n, q):
    return _element_at_or_behind(
        h, h.times(n, q) - 1.5, lambda rest, low: (rest == 0) & (low % 2 == 1)
    )


_BETWEEN = {
    "averaged_inverted_cdf": lambda h, n, q: h.times(n, q) - 1,
    "interpolated_inverted_cdf": _placed_by(0, 1),
    "hazen": _placed_by(0.5, 0.5),
    "weibull": _placed_by(0, 0),
    "linear": lambda h, n, q: h.times(n - 1, q),
    "median_unbiased": _placed_by(1 / 3, 1 / 3),
    "normal_unbiased": _placed_by(3 / 8, 3 / 8),
    "midpoint": lambda h, n, q: h.times(n - 1, q),
}
_ELEMENTS = {
    "inverted_cdf": lambda h, n, q: _element_at_or_behind(
        h, h.times(n, q) - 1, lambda rest, low: rest == 0
    ),
    "closest_observation": _closest,
    "lower": lambda h, n, q: h.floor(h.times(n - 1, q)),
    "higher": lambda h, n, q: h.ceil(h.times(n - 1, q)),
    "nearest": lambda h, n, q: h.round(h.times(n - 1, q)),
}
METHODS = (*_BETWEEN, *_ELEMENTS)


def _neighbours(h, method: str, n, q):
    """(the element at or before the place, the one behind it, the weight of the latter)."""
    if method in _ELEMENTS:
        place = h.clip(_ELEMENTS[method](h, n, q), 0, n - 1)
        return place, place, place * 0
    place = _BETWEEN[method](h, n, q)
    low = h.floor(place)
    weight = place - low
    if method == "averaged_inverted_cdf":
        weight = h.where(weight == 0, 0.5, 1.0)
    elif method == "midpoint":
        weight = h.where(weight == 0, 0.0, 0.5)
    return h.clip(low, 0, n - 1), h.clip(low + 1, 0, n - 1), weight


def _between(a, b, weight):
    """a + (b - a) * weight; exactly a or b at the ends, also where they are infinite."""
    line = a * (1 - weight) + b * weight
    exact = _exactly_between(a, b, weight)
    # the choice of a formula by the weight would drop the slope along it
    moved = ops.stop_gradient(exact) + (line - ops.stop_gradient(line))
    return where(ops.is_finite(line), moved, exact)


def _exactly_between(a, b, weight):
    gap = b - a
    inner = where(weight < 0.5, a + gap * weight, b - gap * (1 - weight))
    inner = where(weight == 0.5, a * 0.5 + b * 0.5, inner)
    # equal infinities have no difference; of equal numbers the derivative is still that of the line
    return where((weight == 0) | ((a == b) & isinf(a)), a, where(weight == 1, b, inner))


# Quantiles


def _rows(a, axes):
    """The array with axes merged into a last one."""
    t = typeof(a)
    kept = [i for i in range(t.ndim) if i not in axes]
    a = ops.transpose(a, perm=(*kept, *axes))
    return reshape(a, (*(t.shape[i] for i in kept), math.prod(t.shape[i] for i in axes)))


def _dtypes(rows, q, method: str):
    """(dtype to compute in, dtype of the result); q is None if it is a mere Python number."""
    t = typeof(rows)
    if method in _ELEMENTS and not dtypes.is_inexact(t.dtype):
        return t.dtype, t.dtype
    takes_part = q is not None and dtypes.is_inexact(typeof(q).dtype)
    result = result_dtype("numpy.quantile", rows, q)[0] if takes_part else t.dtype
    result = result if dtypes.is_inexact(result) else inexact_dtype(result, t.weak)
    return accumulator(result), result


@fused(1)
def _quantiles(arrays, who, axis, method, keepdims, ignore_nan, scale, plain, known):
    """Quantiles of an array; with ``known`` the positions were computed before and stand in for q."""
    a, q, *more = [as_array(who, x) for x in arrays]
    t = typeof(a)
    if dtypes.is_complex(t.dtype):
        raise errors.dtype_not_allowed(who, t.dtype, "real")
    axes = axes_of(who, axis, t.ndim)
    rows = _rows(a, axes)
    work, result = _dtypes(rows, None if plain else q, method)
    rows, q_shape = astype(rows, work), typeof(q).shape
    if not known:
        q = reshape(astype(q, dtypes.float64), (typeof(q).size,)) / scale
    if not typeof(rows).shape[-1]:
        found = full((*typeof(rows).shape[:-1], typeof(q).size), math.nan, work)
    elif known:
        places = [reshape(x, (typeof(q).size,)) for x in (q, *more)]
        found = _at_places(rows, sort(rows), *places, method)
    elif more:
        found = _by_weight(rows, _rows(_weights_like(who, a, more[0], axes), axes), q)
    else:
        found = _by_place(rows, q, method, ignore_nan)
    out = astype(moveaxis(found, -1, 0), result)
    kept = tuple(1 if i in axes else n for i, n in enumerate(t.shape) if keepdims or i not in axes)
    return reshape(out, (*q_shape, *kept))


def _by_place(rows, q, method: str, ignore_nan: bool):
    """Quantiles of each row, by a method of the tables."""
    if ignore_nan and dtypes.is_floating(typeof(rows).dtype):
        rows = where(isnan(rows), math.nan, rows)  # constants: nothing depends on them
    count = np.float64(typeof(rows).shape[-1])
    if ignore_nan:  # they are at the end; a row of nothing else gives its first
        count = sum_of(~isnan(rows), axis=-1, keepdims=True, dtype=dtypes.float64)
        count = maximum(count, 1.0)
    return _at_places(rows, sort(rows), *_neighbours(_Traced, method, count, q), method, ignore_nan)


def _at_places(rows, ranked, low, high, weight, method: str, ignore_nan: bool = False):
    shape = (*typeof(rows).shape[:-1], typeof(low).shape[-1])
    a = take_along_axis(ranked, broadcast_to(astype(low, dtypes.int32), shape), -1)
    if method in _ELEMENTS:
        out = a
    else:
        b = take_along_axis(ranked, broadcast_to(astype(high, dtypes.int32), shape), -1)
        out = _between(a, b, broadcast_to(astype(weight, typeof(rows).dtype), shape))
    if ignore_nan or not dtypes.is_floating(typeof(rows).dtype):
        return out
    return where(isnan(ranked[..., -1:]), math.nan, out)


def _by_weight(rows, weights, q):
    """The first element at which the sum of weights reaches the part q of all."""
    ranked, weights = ops.sort(rows, weights, axis=typeof(rows).ndim - 1)
    sums = cumsum(astype(weights, dtypes.float64), axis=-1)
    parts = sums / sums[..., -1:]
    # elements without weight do not count, not even for q = 0
    reached = where(parts == 0, -1.0, parts)[..., None, :] >= q[:, None]
    place = argmax(reached, axis=-1)
    out = take_along_axis(ranked, place, -1)
    if not dtypes.is_floating(typeof(rows).dtype):
        return out
    unknown = isnan(ranked) & (weights > 0) | (weights < 0)
    total = sums[..., -1:]
    unknown = any_of(unknown, axis=-1, keepdims=True) | ~((total > 0) & (total < math.inf))
    return where(unknown, math.nan, out)


def _weights_like(who: str, a, weights, axes):
    """Weights of the array's shape; they may be given for the axes of interest only."""
    shape = typeof(a).shape
    if typeof(weights).shape == shape:
        return weights
    if typeof(weights).shape != tuple(shape[i] for i in axes):
        raise errors.shape_mismatch(who, "need weights for each element", a=a, weights=weights)
    return ops.broadcast_in_dim(weights, shape=shape, dims=axes)


def _quantile(name, a, q, scale, axis, out, method, keepdims, weights, interpolation, ignore_nan):
    who = f"numpy.{name}"
    no_out(who, out)
    method = interpolation or method
    one_of(who, "method", method, METHODS, f"one of {METHODS}")
    if weights is not None and method != "inverted_cdf":
        raise errors.bad_argument(who, "method", method, "'inverted_cdf' where weights are given")
    axis = tuple(axis) if isinstance(axis, list) else axis
    a = as_array(who, a)
    if weights is not None:
        _check_weights(who, weights)
    if weights is not None and ignore_nan:
        weights = where(isnan(a), 0, weights)
    # Python numbers keep all their digits: 0.1 in float32 is not a tenth
    plain = not isinstance(q, (Value, np.ndarray, np.generic))
    q = np.asarray(q, np.float64) if plain else as_array(who, q)
    _check_parts(who, q, scale)
    known = plain and weights is None and not ignore_nan and not dtypes.is_complex(typeof(a).dtype)
    arrays = [a, q] if weights is None else [a, q, weights]
    if known:
        count = math.prod(typeof(a).shape[i] for i in axes_of(who, axis, typeof(a).ndim))
        arrays = [a, *_known_places(method, count, q / scale, _dtypes(a, None, method)[0])]
    return _quantiles(arrays, who, axis, method, bool(keepdims), ignore_nan, scale, plain, known)


def _known_places(method: str, count: int, q, dtype) -> list:
    low, high, weight = _neighbours(_Known, method, np.float64(count), q)
    dtype = dtypes.float64 if dtype == dtypes.float64 else dtypes.float32
    return [np.asarray(low, np.int32), np.asarray(high, np.int32), np.asarray(weight, dtype)]


def _check_parts(who: str, q, scale: float) -> None:
    if type(q) is Array or isinstance(q, np.ndarray):
        host = np.asarray(q).astype(np.float64)
        if not np.all((host >= 0) & (host <= scale)):
            raise errors.bad_argument(who, "q", q, f"between 0 and {scale:g}")


def _check_weights(who: str, weights) -> None:
    if type(weights) is Array or isinstance(weights, np.ndarray):
        host = np.asarray(weights).astype(np.float64)
        if not (np.isfinite(host).all() and (host >= 0).all() and (host.any() or not host.size)):
            what = "finite and not negative, and not all 0"
            raise errors.bad_argument(who, "weights", weights, what)


_ARGUMENTS = """

    Args:
      a: array of real numbers.
      q: {q}
      axis: an int or several; all by default.
      out: must be None: arrays are immutable.
      overwrite_input: accepted for compatibility.
      method: what stands between two elements: "linear" (the default), "lower", "higher",
        "midpoint", "nearest", or a method of Hyndman and Fan: "inverted_cdf", "hazen", "weibull",
        "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf",
        "median_unbiased", "normal_unbiased".
      keepdims: keep the reduced axes with length 1.
      weights: of the elements; for the method "inverted_cdf".
      interpolation: the former name of method.

    >>> import xcore.numpy as xnp
    {example}
    """


def _row(name: str, scale: float, ignore_nan: bool, doc: str, q_doc: str, example: str):
    def function(
        a,
        q,
        axis=None,
        out=None,
        overwrite_input=False,
        method="linear",
        keepdims=False,
        *,
        weights=None,
        interpolation=None,
    ):
        return _quantile(
            name, a, q, scale, axis, out, method, keepdims, weights, interpolation, ignore_nan
        )

    function.__name__ = function.__qualname__ = name
    function.__module__ = "xcore.numpy"
    function.__doc__ = doc + _ARGUMENTS.format(q=q_doc, example=example)
    return function


# fmt: off
quantile = _row("quantile", 1, False, "The values below which given parts of the elements lie.",
    "the parts, numbers from 0 to 1.", ">>> xnp.quantile(xnp.arange(5), 0.25)\n    Array(1., dtype=float32)")
percentile = _row("percentile", 100, False, "The values below which given percentages of the elements lie.",
    "the percentages, numbers from 0 to 100.", ">>> xnp.percentile(xnp.arange(5), 25)\n    Array(1., dtype=float32)")
nanquantile = _row("nanquantile", 1, True, "The values below which given parts of what is not NaN lie.",
    "the parts, numbers from 0 to 1.",
    ">>> xnp.nanquantile(xnp.asarray([1, xnp.nan, 3]), 0.5)\n    Array(2., dtype=float32)")
nanpercentile = _row("nanpercentile", 100, True, "The values below which given percentages of what is not NaN lie.",
    "the percentages, numbers from 0 to 100.",
    ">>> xnp.nanpercentile(xnp.asarray([1, xnp.nan, 3]), 50)\n    Array(2., dtype=float32)")
# fmt: on


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle element; the mean of the two in the middle if there are two.

    Args:
      a: array of real numbers.
      axis: an int or several; all by default.
      out: must be None: arrays are immutable.
      overwrite_input: accepted for compatibility.
      keepdims: keep the reduced axes with length 1.

    >>> import xcore.numpy as xnp
    >>> xnp.median(xnp.asarray([3, 1, 2, 10]))
    Array(2.5, dtype=float32)
    """
    return _quantile("median", a, 0.5, 1, axis, out, "midpoint", keepdims, None, None, False)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle one of the elements that are not NaN.

    Args:
      a: array of real numbers.
      axis: an int or several; all by default.
      out: must be None: arrays are immutable.
      overwrite_input: accepted for compatibility.
      keepdims: keep the reduced axes with length 1.

    >>> import xcore.numpy as xnp
    >>> xnp.nanmedian(xnp.asarray([3, 1, xnp.nan]))
    Array(2., dtype=float32)
    """
    return _quantile("nanmedian", a, 0.5, 1, axis, out, "midpoint", keepdims, None, None, True)
