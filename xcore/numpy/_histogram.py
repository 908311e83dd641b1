"""Counting: how often each integer occurs, and how many values fall into bins."""

from __future__ import annotations

import operator

import numpy as np

from .. import _ops as ops
from .._control.checks import check_positions
from .._core import Array, ArrayType, config, dtypes, errors, findings, from_numpy, fused, typeof
from . import _reduce
from ._creation import asarray
from ._elementwise import minimum
from ._placement import spreads
from ._promote import as_array, as_inexact, astype, inexact_dtype, result_dtype
from ._ranges import linspace
from ._rounding import clip, floor
from ._select import where
from ._shape import ravel, reshape
from ._sort import searchsorted

# Bincount


@spreads
def bincount(x, weights=None, minlength=0, *, length=None, out_sharding=None):
    """How often each of the integers 0, 1, 2, … occurs.

    Args:
      x: 1-d array of integers that are not negative.
      weights: what each element counts; 1 if not given.
      minlength: the least length of the result.
      length: the length of the result, which else is the largest element plus 1. Needed under jit.
        Larger integers are not counted then, and negative ones count as 0.

    >>> import xcore.numpy as xnp
    >>> xnp.bincount(xnp.asarray([0, 2, 2]))
    Array([1, 0, 2], dtype=int32)
    """
    who = "numpy.bincount"
    x = as_array(who, x)
    t = typeof(x)
    if t.ndim != 1 or dtypes.kind(t.dtype) not in ("int", "uint", "bool"):
        raise errors.bad_argument(who, "x", x, "a 1-d array of integers")
    arrays = [x] if weights is None else [x, as_array(who, weights, "weights")]
    if length is None and all(type(a) is Array for a in arrays):
        return _counted_on_host(who, *map(np.asarray, arrays), minlength=minlength)
    if length is None:
        raise errors.size_needed(who, next(a for a in arrays if type(a) is not Array), "length")
    return _count(arrays, operator.index(length))


def _counted_on_host(who: str, x, weights=None, *, minlength):
    if x.size and x.min() < 0:
        raise errors.bad_argument(who, "x", int(x.min()), "an array without negative integers")
    counts = np.bincount(x, weights, minlength)
    if weights is None:
        return from_numpy(counts.astype(dtypes.default_dtype("int")))
    real = (
        weights.dtype if dtypes.is_inexact(weights.dtype) else inexact_dtype(weights.dtype, False)
    )
    return from_numpy(counts.astype(real))


@fused(1)
def _count(arrays, length):
    x, *weights = arrays
    dtype = dtypes.default_dtype("int")
    one = ops.ones(ArrayType(typeof(x).shape, dtype))
    amounts = weights[0] if weights else one
    if typeof(amounts).shape != typeof(x).shape:
        raise errors.shape_mismatch("numpy.bincount", x=x, weights=amounts)
    if weights and not dtypes.is_inexact(typeof(amounts).dtype):
        amounts = as_inexact("numpy.bincount", amounts)
    if findings.checks_positions():
        check_positions(x, 0, (length,), low=0)
    return add_up(clip(x, 0, None) if dtypes.kind(typeof(x).dtype) == "int" else x, amounts, length)


def add_up(places, amounts, length: int):
    """An array whose element k is the sum of the amounts at places k; places outside are dropped."""
    wide = typeof(places).dtype.itemsize == 8 or length >= 2**31
    rows = astype(places, dtypes.int64 if wide else dtypes.int32)
    if typeof(places).dtype == dtypes.uint32:
        rows = astype(places, dtypes.int64)
    rows = ops.reshape(rows, shape=(typeof(places).size, 1))
    start = ops.zeros(ArrayType((length,), typeof(amounts).dtype))
    return ops.scatter(start, rows, amounts, dims=ops.ScatterDims((), (0,), (0,)), how="add")


# Edges


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges of the bins that ``histogram`` uses.

    Args:
      a: array; flattened.
      bins: the number of bins, or their edges, or the name of a rule of NumPy that chooses their
        number ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"; not under jit).
      range: the pair (lowest, highest); by default that of the values.
      weights: accepted for compatibility.

    >>> import xcore.numpy as xnp
    >>> xnp.histogram_bin_edges(xnp.arange(5), bins=2)
    Array([0., 2., 4.], dtype=float32)
    """
    who = "numpy.histogram_bin_edges"
    a = ravel(as_array(who, a))
    return _edges(who, a, _bin_spec(who, a, bins, range), range)


def _bin_spec(who: str, a, bins, range):
    """The number of bins as an int, or their edges as an array."""
    if isinstance(bins, str):
        if type(a) is not Array:
            raise errors.size_needed(who, a)
        return len(np.histogram_bin_edges(np.asarray(a), bins, range)) - 1
    if isinstance(bins, (list, tuple)):
        bins = asarray(bins)
    if np.ndim(bins) == 1:
        return bins
    try:
        count = operator.index(bins)
    except TypeError:
        raise errors.bad_argument(
            who, "bins", bins, "a number, a rule, or a 1-d array of edges"
        ) from None
    if count < 1:
        raise errors.bad_argument(who, "bins", count, "positive")
    return count


def _edges(who: str, a, bins, range):
    if not isinstance(bins, int):
        edges = as_array(who, bins)
        _check_rising(who, edges)
        return edges
    ends = [] if range is None else list(range)
    if len(ends) not in (0, 2):
        raise errors.bad_argument(who, "range", range, "a pair (lowest, highest)")
    known = all(isinstance(x, (int, float, np.generic)) for x in ends)
    if known and not (sorted(ends) == ends and np.isfinite(ends).all()):
        raise errors.bad_argument(who, "range", range, "finite and rising: (lowest, highest)")
    edges = _even_edges([a, *ends], bins)
    if type(edges) is Array and not config.settings().clamp and not np.isfinite(edges).all():
        want = "finite where range is left out: NaN and infinities are in no bin"
        raise errors.bad_argument(
            who, "the values", a, want, "Give range=, or leave them out: a[xnp.isfinite(a)]."
        )
    return edges


def _check_rising(who: str, edges) -> None:
    if type(edges) is Array:
        host = np.asarray(edges)
        if (host[1:] < host[:-1]).any():
            raise errors.bad_argument(who, "bins", edges, "rising edges")


@fused(1)
def _even_edges(arrays, bins):
    a, *ends = arrays
    dtype = typeof(as_inexact("numpy.histogram", a)).dtype
    low, high = ends if ends else _span(a)
    # in float64: an integer that should be an edge must not miss it by a rounding error
    low, high = (as_array("numpy.histogram", x, dtype=dtypes.float64) for x in (low, high))
    flat = low == high
    low, high = where(flat, low - 0.5, low), where(flat, high + 0.5, high)
    return astype(linspace(low, high, bins + 1, dtype=dtypes.float64), dtype)


def _span(a):
    if not typeof(a).size:
        return 0.0, 1.0
    return _reduce.min(a), _reduce.max(a)


# Histograms


def _bin_numbers(x, edges, even: bool):
    """For each value its bin, counted from 0; -1 below the first, and the number of bins above."""
    count = typeof(edges).size - 1
    if not even:
        found = searchsorted(edges, x, side="right") - 1
        return where(x == edges[-1], count - 1, found)
    # a guess by division, put right by a comparison with the edges, which decide
    low, high = edges[0], edges[-1]
    guess = floor((x - low) * (count / (high - low)))
    guess = astype(clip(where(guess == guess, guess, 0), 0, count - 1), dtypes.int32)
    guess = guess - astype(x < edges[guess], dtypes.int32)
    guess = guess + astype(
        (x >= edges[minimum(guess + 1, count)]) & (guess < count - 1), dtypes.int32
    )
    inside = (x >= low) & (x <= high)
    return where(inside, guess, where(x < low, -1, count))


@fused(1)
def _histogram(arrays, even, weighted, density):
    """Counts in bins along one or more axes: arrays are the samples, the edges, and the weights."""
    ndim = (len(arrays) - weighted) // 2
    samples, edges = arrays[:ndim], arrays[ndim : 2 * ndim]
    amounts = arrays[-1] if weighted else None
    counts = [typeof(e).size - 1 for e in edges]
    place, inside = None, None
    for x, e, n, is_even in zip(samples, edges, counts, even, strict=True):
        dtype, _ = result_dtype("", x, e)  # the edges may be our own: strict settings do not hold
        number = _bin_numbers(astype(x, dtype), astype(e, dtype), is_even)
        here = (number >= 0) & (number < n) & (x == x)  # pyright: ignore[reportOperatorIssue]
        place = number if place is None else place * n + number
        inside = here if inside is None else inside & here
    total = int(np.prod(counts))
    place = where(inside, place, total)
    if amounts is None:
        amounts = ops.ones(ArrayType(typeof(place).shape, dtypes.default_dtype("int")))
    out = reshape(add_up(place, amounts, total), tuple(counts))
    return _as_density(out, edges) if density else out


def _as_density(counts, edges):
    """Counts divided by the bins' volumes and their sum: the integral is 1."""
    dtype = inexact_dtype(result_dtype("", counts, *edges)[0])
    # 16 bits do not count far
    counts = astype(counts, dtypes.float32 if dtype.itemsize < 4 else dtype)
    out = counts / _reduce.sum(counts)
    for axis, e in enumerate(edges):
        widths = e[1:] - e[:-1]
        out = out / reshape(widths, (-1,) + (1,) * (len(edges) - 1 - axis))
    return out


def histogram(a, bins=10, range=None, weights=None, density=None):
    """How many values fall into each bin: (counts, edges).

    A bin contains its left edge and not its right one, but for the last, which has both.

    Args:
      a: array; flattened.
      bins, range: as in ``histogram_bin_edges``.
      weights: what each value counts; 1 if not given.
      density: divide by the bins' widths and the sum of all, so that the integral is 1.

    >>> import xcore.numpy as xnp
    >>> xnp.histogram(xnp.asarray([1, 2, 1, 4]), bins=3)[0]
    Array([2, 1, 1], dtype=int32)
    """
    who = "numpy.histogram"
    a = as_array(who, a)
    if weights is not None:
        weights = as_array(who, weights)
        if typeof(weights).shape != typeof(a).shape:
            raise errors.shape_mismatch(who, a=a, weights=weights)
        weights = ravel(weights)
    counts, edges = _joint(who, [ravel(a)], [bins], [range], weights, density)
    return counts, edges[0]


def _joint(who: str, samples, bins, ranges, weights, density):
    """(counts, edges) of a histogram over several variables."""
    specs = [_bin_spec(who, x, b, r) for x, b, r in zip(samples, bins, ranges, strict=True)]
    edges = [_edges(who, x, b, r) for x, b, r in zip(samples, specs, ranges, strict=True)]
    even = tuple(isinstance(b, int) for b in specs)
    arrays = [*samples, *edges] if weights is None else [*samples, *edges, weights]
    return _histogram(arrays, even, weights is not None, bool(density)), edges


def _as_floats(counts):
    """Counts as floats, which NumPy returns for several variables though not for one."""
    return astype(counts, inexact_dtype(typeof(counts).dtype))


def histogram2d(x, y, bins=10, range=None, weights=None, density=None):
    """How many pairs fall into each cell of a grid: (counts, edges of x, edges of y).

    Args:
      x, y: 1-d arrays of one length.
      bins: the number of bins for both, or edges for both, or a pair of either.
      range: pairs (lowest, highest) for x and y.
      weights: what each pair counts; 1 if not given.
      density: divide by the cells' areas and the sum of all.

    >>> import xcore.numpy as xnp
    >>> xnp.histogram2d(xnp.asarray([0.0, 1.0]), xnp.asarray([0.0, 1.0]), bins=2)[0]
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    who = "numpy.histogram2d"
    x, y = as_array(who, x), as_array(who, y)
    if typeof(x).ndim != 1 or typeof(x).shape != typeof(y).shape:
        raise errors.shape_mismatch(who, "must be 1-d and of one length", x=x, y=y)
    pair = len(bins) == 2 if hasattr(bins, "__len__") else False
    counts, edges = _joint(
        who, [x, y], list(bins) if pair else [bins] * 2, [None] * 2 if range is None else list(range),
        weights, density,
    )  # fmt: skip
    return _as_floats(counts), *edges


def histogramdd(sample, bins=10, range=None, weights=None, density=None):
    """How many points fall into each cell of a grid: (counts, list of edges).

    Args:
      sample: array of shape (points, dimensions), or a list of an array for each dimension.
      bins: the number of bins for all dimensions, or a list of numbers or edges.
      range: a list of pairs (lowest, highest), or None, for each dimension.
      weights: what each point counts; 1 if not given.
      density: divide by the cells' volumes and the sum of all.

    >>> import xcore.numpy as xnp
    >>> counts, edges = xnp.histogramdd(xnp.ones((5, 3)), bins=2)
    >>> counts.shape
    (2, 2, 2)
    """
    who = "numpy.histogramdd"
    if isinstance(sample, (list, tuple)):
        columns = [ravel(as_array(who, x)) for x in sample]
    else:
        sample = as_array(who, sample)
        sample = reshape(sample, (-1, 1)) if typeof(sample).ndim < 2 else sample
        columns = [sample[:, i] for i in np.arange(typeof(sample).shape[1])]
    ndim = len(columns)
    bins = [bins] * ndim if np.ndim(bins) == 0 else list(bins)
    ranges = [None] * ndim if range is None else list(range)
    if len(bins) != ndim or len(ranges) != ndim:
        raise errors.bad_argument(
            who, "bins and range", (bins, ranges), f"given for {ndim} dimensions"
        )
    counts, edges = _joint(who, columns, bins, ranges, weights, density)
    return _as_floats(counts), edges
