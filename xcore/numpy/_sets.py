"""Sets: distinct elements, unions, intersections, differences, membership.

The number of distinct elements depends on values. Outside transformations it is found on the host;
under them ``size`` fixes it, what is too much is cut and what is missing is filled.
"""

from __future__ import annotations

import operator
from typing import NamedTuple

import numpy as np

from .. import _ops as ops
from .._core import Array, ArrayType, dtypes, errors, from_numpy, fused, one_of, typeof
from .._ops import full_like_type
from ._join import concatenate
from ._promote import as_array, astype, broadcast_to, one_axis, result_dtype
from ._shape import moveaxis, ravel, reshape
from ._sort import lexsort, searchsorted, sort

# Distinct elements


class UniqueAll(NamedTuple):
    """What unique_all returns."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """What unique_counts returns."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """What unique_inverse returns."""

    values: Array
    inverse_indices: Array


def unique(
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    size=None,
    fill_value=None,
    sorted=True,
):
    """The distinct elements (or slices along an axis), in rising order.

    Args:
      ar: array.
      return_index: also return where each occurs first.
      return_inverse: also return which of the distinct elements each element is.
      return_counts: also return how often each occurs.
      axis: compare slices along this axis; None compares elements.
      equal_nan: whether NaN counts as equal to NaN.
      size: how many to return; needed under jit, where a shape cannot depend on values.
      fill_value: what stands for missing ones if there are fewer (the smallest if not given).
      sorted: accepted for compatibility.

    >>> import xcore.numpy as xnp
    >>> xnp.unique(xnp.asarray([3, 1, 3]))
    Array([1, 3], dtype=int32)
    """
    parts = _unique("numpy.unique", ar, axis, equal_nan, size, fill_value)
    wanted = (True, return_index, return_inverse, return_counts)
    chosen = tuple(p for p, w in zip(parts, wanted, strict=True) if w)
    return chosen if len(chosen) > 1 else chosen[0]  # pyright: ignore[reportGeneralTypeIssues]


def unique_all(x, /, *, size=None, fill_value=None):
    """Distinct elements, where each occurs first, which one each element is, and their counts.

    Every NaN is an element of its own.

    Args:
      x: array.
      size, fill_value: as in ``unique``.

    >>> import xcore.numpy as xnp
    >>> xnp.unique_all(xnp.asarray([3, 1, 3])).counts
    Array([1, 2], dtype=int32)
    """
    return UniqueAll(*_unique("numpy.unique_all", x, None, False, size, fill_value))


def unique_counts(x, /, *, size=None, fill_value=None):
    """Distinct elements and how often each occurs. Every NaN is an element of its own.

    Args:
      x: array.
      size, fill_value: as in ``unique``.

    >>> import xcore.numpy as xnp
    >>> xnp.unique_counts(xnp.asarray([3, 1, 3])).values
    Array([1, 3], dtype=int32)
    """
    values, _, _, counts = _unique("numpy.unique_counts", x, None, False, size, fill_value)
    return UniqueCounts(values, counts)


def unique_inverse(x, /, *, size=None, fill_value=None):
    """Distinct elements, and which one each element is. Every NaN is an element of its own.

    Args:
      x: array.
      size, fill_value: as in ``unique``.

    >>> import xcore.numpy as xnp
    >>> xnp.unique_inverse(xnp.asarray([3, 1, 3])).inverse_indices
    Array([1, 0, 1], dtype=int32)
    """
    values, _, inverse, _ = _unique("numpy.unique_inverse", x, None, False, size, fill_value)
    return UniqueInverse(values, inverse)


def unique_values(x, /, *, size=None, fill_value=None):
    """Distinct elements. Every NaN is an element of its own.

    Args:
      x: array.
      size, fill_value: as in ``unique``.

    >>> import xcore.numpy as xnp
    >>> xnp.unique_values(xnp.asarray([3, 1, 3]))
    Array([1, 3], dtype=int32)
    """
    return _unique("numpy.unique_values", x, None, False, size, fill_value)[0]


def _unique(who: str, x, axis, equal_nan, size, fill_value):
    """(distinct slices, their first places, which one each slice is, counts)."""
    x = as_array(who, x)
    shape = inverse_shape = typeof(x).shape
    if axis is not None:
        axis = one_axis(who, axis, len(shape))
        inverse_shape = (shape[axis],)
    if size is None and type(x) is Array:
        return _unique_on_host(np.asarray(x), axis, equal_nan, inverse_shape)
    x, axis = (ravel(x), 0) if axis is None else (x, axis)
    order, numbers = _groups(x, axis, bool(equal_nan))
    if size is None:
        size = _known_count(who, x, numbers)
    fill = [] if fill_value is None else [as_array(who, fill_value)]
    return tuple(_collected([x, order, numbers, *fill], axis, operator.index(size), inverse_shape))


def _unique_on_host(x, axis, equal_nan, inverse_shape):
    values, *places = np.unique(
        x,
        return_index=True,
        return_inverse=True,
        return_counts=True,
        axis=axis,
        equal_nan=equal_nan,
    )
    places[1] = places[1].reshape(inverse_shape)
    dtype = dtypes.default_dtype("int")
    return (from_numpy(values), *(from_numpy(p.astype(dtype)) for p in places))


def _known_count(who: str, x, numbers) -> int:
    """How many groups there are, if that can be known now: outside jit and vmap."""
    if type(numbers) is not Array:
        raise errors.size_needed(who, x)
    return int(np.asarray(numbers)[-1]) + 1 if numbers.size else 0


@fused(1)
def _groups(x, axis, equal_nan):
    """The order that sorts the slices along an axis, and for each, in that order, its group."""
    rows = moveaxis(x, axis, 0)
    n = typeof(rows).shape[0]
    rows = reshape(rows, (n, typeof(rows).size // n if n else 0))
    keys = [rows[:, k] for k in reversed(range(typeof(rows).shape[1]))]
    place = ops.iota(shape=(n,), dtype=dtypes.int32, axis=0)
    order = astype(lexsort(keys), dtypes.int32) if keys else place
    ranked = rows[order]
    new = ops.not_(ops.reduce_and(_same(ranked[1:], ranked[:-1], equal_nan), axes=(1,)))
    numbers = ops.cumsum(ops.convert(new, dtype=dtypes.int32), axis=0)
    first = ops.zeros(ArrayType((min(n, 1),), dtypes.int32))
    return order, ops.concatenate(first, numbers, axis=0)


def _same(x, y, equal_nan: bool):
    equal = ops.eq(x, y)
    if not equal_nan or not dtypes.is_inexact(typeof(x).dtype):
        return equal
    return ops.or_(equal, ops.and_(ops.ne(x, x), ops.ne(y, y)))


@fused(1)
def _collected(arrays, axis, size, inverse_shape):
    """Results of unique, of a given size, from the slices' order and groups."""
    x, order, numbers, *fill = arrays
    dtype = dtypes.default_dtype("int")
    t = ArrayType((size,), dtypes.int32)
    if typeof(numbers).size:
        counts = _scattered(ops.zeros(t), numbers, ops.ones(typeof(numbers)), "add")
        # a group starts where those before it end; the first in it is the first in the array
        valid, starts = ops.gt(counts, ops.zeros(t)), ops.sub(ops.cumsum(counts, axis=0), counts)
        first = order[ops.select(valid, starts, ops.zeros(t))]
        inverse = _scattered(ops.zeros(typeof(numbers)), order, numbers, "set")
    else:
        counts = first = ops.zeros(t)
        valid, inverse = ops.zeros(ArrayType(t.shape, dtypes.bool_)), numbers
    values = _chosen(x, first, valid, fill, axis)
    return values, *(astype(p, dtype) for p in (first, reshape(inverse, inverse_shape), counts))


def _scattered(x, where, values, how: str):
    """x with values put or added at positions; positions behind the end are dropped."""
    rows = ops.reshape(where, shape=(typeof(where).size, 1))
    dims = ops.ScatterDims((), (0,), (0,))
    return ops.scatter(x, rows, values, dims=dims, how=how, mode="drop", unique=how == "set")


def _chosen(x, where, valid, fill, axis: int):
    """Slices at positions along an axis; where they are not valid, the fill value if there is one."""
    t = typeof(x)
    shape = (*t.shape[:axis], typeof(where).size, *t.shape[axis + 1 :])
    if not t.shape[axis]:
        out, fill = (
            ops.zeros(ArrayType(shape, t.dtype)),
            fill or [ops.zeros(ArrayType((), t.dtype))],
        )
    else:
        out = x[(slice(None),) * axis + (where,)]
    if not fill:
        return out
    filler = broadcast_to(astype(fill[0], t.dtype), shape)
    return ops.select(ops.broadcast_in_dim(valid, shape=shape, dims=(axis,)), out, filler)


# Set operations


def _vectors(who: str, *xs):
    """Arrays flattened, in a common dtype."""
    xs = [ravel(as_array(who, x)) for x in xs]
    dtype, _ = result_dtype(who, *xs)
    return [astype(x, dtype) for x in xs]


def _are_concrete(*xs) -> bool:
    return all(type(x) is Array for x in xs)


@fused(1)
def _distinct(pair, wanted: bool, assume_unique: bool):
    """(elements of the first in rising order, whether each is to be kept, where it was).

    Kept are the first of equal ones, if they are (or are not, as wanted) in the second.
    """
    x, other = pair
    n = typeof(x).size
    place = ops.iota(shape=(n,), dtype=dtypes.int32, axis=0)
    ranked, place = ops.sort(x, place, axis=0)
    keep = ops.eq(_member(ranked, other), ops.full_like_type(ArrayType((n,), dtypes.bool_), wanted))
    if not assume_unique and n > 1:
        new = ops.ne(ranked[1:], ranked[:-1])
        first = ops.full_like_type(ArrayType((1,), dtypes.bool_), True)
        keep = ops.and_(keep, ops.concatenate(first, new, axis=0))
    return ranked, keep, place


def _sized(who: str, keep, size) -> int:
    if size is not None:
        return operator.index(size)
    if type(keep) is not Array:
        raise errors.size_needed(who, keep)
    return int(np.asarray(keep).sum())


@fused(1)
def _compressed(arrays, size, smallest: bool):
    """The kept elements, cut or filled to a size: (values, positions, which are valid)."""
    values, keep, *fill = arrays
    n = typeof(keep).size
    place = ops.iota(shape=(n,), dtype=dtypes.int32, axis=0)
    ranks = ops.sub(
        ops.cumsum(ops.convert(keep, dtype=dtypes.int32), axis=0), ops.ones(typeof(place))
    )
    nowhere = full_like_type(typeof(place), size)
    t = ArrayType((size,), dtypes.int32)
    where = _scattered(ops.zeros(t), ops.select(keep, ranks, nowhere), place, "set")
    count = ops.reduce_sum(ops.convert(keep, dtype=dtypes.int32), axes=(0,))
    count = ops.broadcast_in_dim(count, shape=t.shape, dims=())
    valid = ops.lt(ops.iota(shape=t.shape, dtype=t.dtype, axis=0), count)
    if smallest and size and n:
        where = ops.select(valid, where, ops.broadcast_in_dim(where[0], shape=t.shape, dims=()))
    elif not fill:
        fill = [ops.zeros(ArrayType((), typeof(values).dtype))]
    return _chosen(values, where, valid, fill, 0), where, valid


def union1d(ar1, ar2, *, size=None, fill_value=None):
    """The distinct elements of two arrays together, in rising order.

    Args:
      ar1, ar2: arrays; flattened.
      size, fill_value: as in ``unique``.

    >>> import xcore.numpy as xnp
    >>> xnp.union1d(xnp.asarray([1, 2]), xnp.asarray([2, 3]))
    Array([1, 2, 3], dtype=int32)
    """
    both = concatenate(_vectors("numpy.union1d", ar1, ar2))
    return _unique("numpy.union1d", both, None, True, size, fill_value)[0]


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False, *, size=None, fill_value=None):
    """The distinct elements that two arrays have in common, in rising order.

    Args:
      ar1, ar2: arrays; flattened.
      assume_unique: no element occurs twice in one array.
      return_indices: also return where each occurs first in both arrays.
      size, fill_value: under jit, how many to return and what fills the rest (the smallest one if
        not given; positions are filled with the arrays' lengths).

    >>> import xcore.numpy as xnp
    >>> xnp.intersect1d(xnp.asarray([1, 2, 2]), xnp.asarray([2, 3]))
    Array([2], dtype=int32)
    """
    who = "numpy.intersect1d"
    x, y = _vectors(who, ar1, ar2)
    if size is None and _are_concrete(x, y):
        found = np.intersect1d(np.asarray(x), np.asarray(y), assume_unique, True)
        values, *places = map(from_numpy, found)
        places = [astype(p, dtypes.default_dtype("int")) for p in places]
        return (values, *places) if return_indices else values
    ranked, keep, place = _distinct([x, y], True, bool(assume_unique))
    fill = [] if fill_value is None else [as_array(who, fill_value)]
    size = _sized(who, keep, size)
    values, where, valid = _compressed([ranked, keep, *fill], size, not fill)
    if not return_indices:
        return values
    return values, *_first_places([values, where, valid, place, y], typeof(x).size)


@fused(1)
def _first_places(arrays, n):
    """Where the values are in the first array, of length n, and in the second."""
    values, where, valid, place, other = arrays
    m, dtype = typeof(other).size, dtypes.default_dtype("int")
    t = ArrayType(typeof(where).shape, dtype)
    if not n or not m:
        return [full_like_type(t, n), full_like_type(t, m)]
    ranked, order = ops.sort(other, ops.iota(shape=(m,), dtype=dtypes.int32, axis=0), axis=0)
    there = order[ops.min(searchsorted(ranked, values), full_like_type(t, m - 1))]
    return [
        ops.select(valid, astype(p, dtype), full_like_type(t, length))
        for p, length in ((place[where], n), (there, m))
    ]


def setdiff1d(ar1, ar2, assume_unique=False, *, size=None, fill_value=None):
    """The distinct elements of one array that are not in another, in rising order.

    Args:
      ar1, ar2: arrays; flattened.
      assume_unique: no element occurs twice in one array; their order is kept then.
      size, fill_value: under jit, how many to return and what fills the rest (0 if not given).

    >>> import xcore.numpy as xnp
    >>> xnp.setdiff1d(xnp.asarray([3, 1, 2]), xnp.asarray([2]))
    Array([1, 3], dtype=int32)
    """
    who = "numpy.setdiff1d"
    ar1, ar2 = as_array(who, ar1), as_array(who, ar2)
    if size is None and _are_concrete(ar1, ar2):
        return from_numpy(np.setdiff1d(np.asarray(ar1), np.asarray(ar2), assume_unique))
    x, y = _vectors(who, ar1, ar2)
    if assume_unique:
        values, keep = x, ~isin(x, y)
    else:
        values, keep, _ = _distinct([x, y], False, False)
    fill = [] if fill_value is None else [as_array(who, fill_value)]
    out = _compressed([values, keep, *fill], _sized(who, keep, size), False)[0]
    return astype(out, typeof(ar1).dtype)  # nothing of the other array is in it


def setxor1d(ar1, ar2, assume_unique=False, *, size=None, fill_value=None):
    """The distinct elements that are in exactly one of two arrays, in rising order.

    Args:
      ar1, ar2: arrays; flattened.
      assume_unique: no element occurs twice in one array.
      size, fill_value: under jit, how many to return and what fills the rest (the smallest one if
        not given).

    >>> import xcore.numpy as xnp
    >>> xnp.setxor1d(xnp.asarray([1, 2]), xnp.asarray([2, 3]))
    Array([1, 3], dtype=int32)
    """
    who = "numpy.setxor1d"
    x, y = _vectors(who, ar1, ar2)
    if size is None and _are_concrete(x, y):
        return from_numpy(np.setxor1d(np.asarray(x), np.asarray(y), assume_unique))
    values, keep = _in_one([x, y], bool(assume_unique))
    fill = [] if fill_value is None else [as_array(who, fill_value)]
    return _compressed([values, keep, *fill], _sized(who, keep, size), not fill)[0]


@fused(1)
def _in_one(pair, assume_unique):
    """The elements of both arrays in rising order, and whether each is in one only."""
    halves = [_distinct(p, False, assume_unique)[:2] for p in (pair, pair[::-1])]
    values, keep = (ops.concatenate(*h, axis=0) for h in zip(*halves, strict=True))
    return ops.sort(values, keep, axis=0)


_MEMBER_METHODS = ("auto", "compare_all", "binary_search", "sort")


def isin(element, test_elements, assume_unique=False, invert=False, *, method="auto", kind=None):
    """Whether each element is among others.

    Args:
      element: array.
      test_elements: what to look for; any shape.
      assume_unique: accepted for compatibility.
      invert: whether each is not among them.
      method: "compare_all" (each with each), "binary_search", "sort"; "auto" chooses.
      kind: accepted for compatibility.

    >>> import xcore.numpy as xnp
    >>> xnp.isin(xnp.arange(4), xnp.asarray([1, 3]))
    Array([False,  True, False,  True], dtype=bool)
    """
    one_of("numpy.isin", "method", method, _MEMBER_METHODS, f"one of {_MEMBER_METHODS}")
    return _isin([element, test_elements], bool(invert), method)


@fused(1)
def _isin(pair, invert, method):
    shape = typeof(as_array("numpy.isin", pair[0])).shape
    element, tests = _vectors("numpy.isin", *pair)
    found = reshape(_member(element, tests, method), shape)
    return ops.not_(found) if invert else found


def _member(x, tests, method: str = "auto"):
    """Whether each element of a vector is in another."""
    n, m = typeof(x).size, typeof(tests).size
    if not m or not n:
        return ops.zeros(ArrayType((n,), dtypes.bool_))
    if method == "compare_all" or (method == "auto" and m <= 16):
        pairs = ops.eq(
            ops.broadcast_in_dim(x, shape=(n, m), dims=(0,)),
            ops.broadcast_in_dim(tests, shape=(n, m), dims=(1,)),
        )
        return ops.reduce_or(pairs, axes=(1,))
    ranked = sort(tests)
    where = searchsorted(ranked, x, method="sort" if method == "sort" else "scan")
    last = full_like_type(typeof(where), m - 1)
    return ops.eq(ranked[ops.min(where, last)], x)
