"""Padding: axis by axis, so that corners are made of what the axes before have added."""

from __future__ import annotations

import functools
import math

import numpy as np

from .. import _ops as ops
from .._core import ArrayType, dtypes, errors, fused, one_of, typeof
from . import _moments, _reduce
from ._apply import apply_along_axis
from ._creation import asarray
from ._join import concatenate
from ._promote import as_array, astype, broadcast_to, lists_to_numpy
from ._quantile import median
from ._repeat import flip, tile
from ._rounding import floor, round
from ._select import cut


def pad(array, pad_width, mode="constant", **kwargs):
    """An array made longer at the ends of its axes.

    Args:
      array: array.
      pad_width: how much: n, or (before, after), or such a pair for each axis, or a dict from axes
        to either.
      mode: what to put there: "constant" (``constant_values``, 0 by default), "edge" (the last
        element), "linear_ramp" (from there to ``end_values``), "maximum", "mean", "median" or
        "minimum" (of ``stat_length`` elements at that end, or all), "reflect" (mirrored at the last
        element) or "symmetric" (mirrored behind it; both with ``reflect_type`` "even", or "odd" for
        twice the last element minus the mirrored ones), "wrap" (from the other end), "empty"
        (anything), or a function of a vector, its pair of widths, the axis and the keywords that
        returns the padded vector.
      **kwargs: the settings of the mode.

    >>> import xcore.numpy as xnp
    >>> xnp.pad(xnp.asarray([1, 2, 3]), (1, 2), mode="reflect")
    Array([2, 1, 2, 3, 2, 1], dtype=int32)
    """
    who = "numpy.pad"
    array = as_array(who, array)
    widths = _widths(who, pad_width, typeof(array).ndim)
    if callable(mode):
        return _by_function(array, widths, mode, kwargs)
    if mode not in _SETTINGS:
        raise errors.unknown_mode(who, mode, f"a function, or one of {[*_SETTINGS]}")
    unknown = set(kwargs) - set(_SETTINGS[mode])
    if unknown:
        allowed = ", ".join(_SETTINGS[mode]) or "no settings"
        raise errors.bad_argument(
            who, f"mode {mode!r}", errors.Words(f"with {sorted(unknown)}"), f"given with {allowed}"
        )
    if mode not in ("constant", "empty"):
        for axis, pair in enumerate(widths):
            if any(pair) and not typeof(array).shape[axis]:
                raise errors.bad_argument(
                    who, "array", array, f"with elements along axis {axis}",
                    "Only 'constant' and 'empty' need none.",
                )  # fmt: skip
    values = _values(who, kwargs, _SETTINGS[mode], typeof(array).ndim)
    return _padded([array, *values], widths, mode, _settings(who, kwargs, typeof(array).ndim))


_STATISTICS = ("maximum", "mean", "median", "minimum")
_SETTINGS = {
    "constant": ("constant_values",),
    "edge": (),
    "linear_ramp": ("end_values",),
    **dict.fromkeys(_STATISTICS, ("stat_length",)),
    "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",),
    "wrap": (),
    "empty": (),
}


def _as_pairs(who: str, name: str, given, ndim: int) -> tuple:
    """Ints as a pair for each axis."""
    numbers = np.asarray(given)
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise TypeError(f"xcore.{who}: {name} must consist of ints, given {given!r}.")
    if numbers.size and numbers.min() < 0:
        raise errors.bad_argument(who, name, given, "not negative")
    try:
        if numbers.shape == (1,):
            numbers = numbers[0]
        pairs = np.broadcast_to(numbers, (ndim, 2))
    except ValueError:
        raise errors.bad_argument(who, name, given, f"an int, a pair, or {ndim} pairs") from None
    return tuple((int(a), int(b)) for a, b in pairs)


def _widths(who: str, pad_width, ndim: int) -> tuple:
    if not isinstance(pad_width, dict):
        return _as_pairs(who, "pad_width", pad_width, ndim)
    pairs = [(0, 0)] * ndim
    for axis, width in pad_width.items():
        if not -ndim <= axis < ndim:
            raise errors.bad_axis(who, axis, ndim)
        pairs[axis] = _as_pairs(who, "pad_width", width, 1)[0]
    return tuple(pairs)


def _values(who: str, kwargs, allowed, ndim: int) -> list:
    """The numbers to pad with, which may be traced: an array with a pair for each axis, or one."""
    name = next((n for n in ("constant_values", "end_values") if n in allowed), None)
    if name is None:
        return []
    given = kwargs.get(name, 0)
    given = lists_to_numpy(given)
    given = asarray(given) if isinstance(given, (list, tuple)) else as_array(who, given)
    if typeof(given).shape == (1,):
        given = given[0]  # pyright: ignore[reportIndexIssue]
    if name == "constant_values" and not typeof(given).ndim:
        return [given]
    return [broadcast_to(given, (ndim, 2))]


def _settings(who: str, kwargs, ndim: int) -> tuple:
    """(lengths for statistics, whether reflections are odd)."""
    lengths = kwargs.get("stat_length")
    if lengths is not None:
        lengths = _as_pairs(who, "stat_length", lengths, ndim)
        if any(n < 1 for pair in lengths for n in pair):
            raise errors.bad_argument(who, "stat_length", kwargs["stat_length"], "positive")
    kind = kwargs.get("reflect_type", "even")
    one_of(who, "reflect_type", kind, ("even", "odd"), "'even' or 'odd'")
    return lengths, kind == "odd"


def _by_function(array, widths, function, kwargs):
    low, high = zip(*widths, strict=True) if widths else ((), ())
    array = _with_zeros(array, low, high)
    for axis, pair in enumerate(widths):
        array = apply_along_axis(
            functools.partial(_call, function, pair, axis, kwargs), axis, array
        )
    return array


def _call(function, pair, axis, kwargs, vector):
    out = function(vector, pair, axis, kwargs)
    return vector if out is None else out


def _with_zeros(x, low, high):
    return _filled(x, zip(low, high, strict=True), ops.zeros(ArrayType((), typeof(x).dtype)))


def _filled(x, widths, value):
    """One number on all sides: one operation, so that stencils of it become one loop."""
    low, high = zip(*widths, strict=True) if typeof(x).ndim else ((), ())
    return ops.pad(x, value, low=low, high=high, interior=(0,) * typeof(x).ndim)


@fused(1)
def _padded(arrays, widths, mode, settings):
    x, *values = arrays
    if values and not typeof(values[0]).ndim:
        return _filled(x, widths, astype(values[0], typeof(x).dtype))
    for axis, (low, high) in enumerate(widths):
        if low or high:
            pair = [values[0][axis, side] for side in (0, 1)] if values else []
            x = _MODES[mode](x, axis, low, high, pair, *settings)
    return x


def _concatenated(parts, axis: int):
    return concatenate([p for p in parts if typeof(p).shape[axis]], axis)


def _repeat_slice(x, axis: int, n: int):
    """A slice of length 1 along an axis, n times."""
    shape = typeof(x).shape
    return broadcast_to(x, (*shape[:axis], n, *shape[axis + 1 :]))


def _ends(x, axis: int):
    n = typeof(x).shape[axis]
    return cut(x, axis, 0, 1), cut(x, axis, n - 1, n)


def _constant(x, axis, low, high, pair, *_):
    zero = [0] * typeof(x).ndim
    for value, amount, first in ((pair[0], low, True), (pair[1], high, False)):
        there = list(zero)
        there[axis] = amount
        sides = (there, zero) if first else (zero, there)
        value = astype(value, typeof(x).dtype)
        x = ops.pad(x, value, low=tuple(sides[0]), high=tuple(sides[1]), interior=tuple(zero))
    return x


def _empty(x, axis, low, high, *_):
    widths = [(low, high) if i == axis else (0, 0) for i in range(typeof(x).ndim)]
    return _with_zeros(x, *zip(*widths, strict=True))


def _edge(x, axis, low, high, *_):
    first, last = _ends(x, axis)
    return _concatenated(
        [_repeat_slice(first, axis, low), x, _repeat_slice(last, axis, high)], axis
    )


def _linear_ramp(x, axis, low, high, pair, *_):
    first, last = _ends(x, axis)
    left, right = _ramp(pair[0], first, axis, low), _ramp(pair[1], last, axis, high)
    return _concatenated([left, x, flip(right, axis)], axis)


def _ramp(start, end, axis: int, n: int):
    """n values from start towards end, which is left out."""
    dtype = typeof(end).dtype
    exact = not dtypes.is_inexact(dtype)
    work = dtypes.float64 if exact else dtype
    end, start = astype(end, work), astype(astype(start, dtype), work)
    shape = tuple(n if i == axis else 1 for i in range(typeof(end).ndim))
    steps = np.arange(n).astype(dtypes.to_real(work)).reshape(shape)
    values = start + steps * ((end - start) / max(n, 1))
    return astype(floor(values) if exact else values, dtype)


def _statistic(name: str):
    reduce = {
        "maximum": _reduce.max,
        "minimum": _reduce.min,
        "mean": _moments.mean,
        "median": median,
    }[name]

    def padder(x, axis, low, high, pair, lengths, odd):
        n, dtype = typeof(x).shape[axis], typeof(x).dtype
        counts = [min(k, n) for k in lengths[axis]] if lengths else [n, n]
        if not all(counts) and name in ("maximum", "minimum"):
            raise errors.bad_argument("numpy.pad", "stat_length", 0, "positive for this mode")
        ends = cut(x, axis, 0, counts[0]), cut(x, axis, n - counts[1], n)
        found = [reduce(e, axis=axis, keepdims=True) for e in ends]
        if not dtypes.is_inexact(dtype):
            found = [round(v) if dtypes.is_inexact(typeof(v).dtype) else v for v in found]
        left, right = (astype(v, dtype) for v in found)
        return _concatenated(
            [_repeat_slice(left, axis, low), x, _repeat_slice(right, axis, high)], axis
        )

    return padder


def _mirror(includes_edge: bool):
    def padder(x, axis, low, high, pair, lengths, odd):
        if typeof(x).shape[axis] == 1 and not includes_edge:
            return _edge(x, axis, low, high)
        # what is longer than the array takes several rounds, each mirroring all there is
        while low or high:
            n, skip = typeof(x).shape[axis], 0 if includes_edge else 1
            left, right = min(low, n - skip), min(high, n - skip)
            parts = [cut(x, axis, skip, skip + left), cut(x, axis, n - skip - right, n - skip)]
            parts = [flip(p, axis) for p in parts]
            if odd:
                parts = [2 * end - p for end, p in zip(_ends(x, axis), parts, strict=True)]
            x = _concatenated([parts[0], x, parts[1]], axis)
            low, high = low - left, high - right
        return x

    return padder


def _wrap(x, axis, low, high, *_):
    n = typeof(x).shape[axis]
    before = math.ceil(low / n)
    copies = tile(
        x,
        tuple(before + 1 + math.ceil(high / n) if i == axis else 1 for i in range(typeof(x).ndim)),
    )
    start = before * n - low
    return cut(copies, axis, start, start + low + n + high)


_MODES = {
    "constant": _constant,
    "edge": _edge,
    "linear_ramp": _linear_ramp,
    **{name: _statistic(name) for name in _STATISTICS},
    "reflect": _mirror(False),
    "symmetric": _mirror(True),
    "wrap": _wrap,
    "empty": _empty,
}
