"""Sorting, and searching in what is sorted.

The order is NumPy's: NaN behind all numbers, complex numbers by real part, then imaginary part.
"""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .._control import cond, fori_loop
from .._core import ArrayType, dtypes, errors, fused, one_of, typeof
from .._ops import full_like_type
from ._promote import as_array, astype, dtype_or, one_axis, result_dtype

# Sorting


_KINDS = (None, "quicksort", "mergesort", "heapsort", "stable")


def _check_order(who: str, kind, order) -> None:
    one_of(who, "kind", kind, _KINDS, f"one of {_KINDS}")
    if order is not None:
        raise errors.bad_argument(who, "order", order, "None: arrays have no named fields")


def _along(who: str, a, axis):
    """An array and one of its axes; None flattens."""
    a = as_array(who, a)
    if axis is None:
        return ops.reshape(a, shape=(typeof(a).size,)), 0
    return a, one_axis(who, axis, typeof(a).ndim)


def _positions(shape, axis: int):
    dtype = dtypes.int32 if shape[axis] < 2**31 else dtypes.int64
    return ops.iota(shape=shape, dtype=dtype, axis=axis)


def _order(keys, axis: int):
    """The positions that sort arrays of one shape by the first, ties by the second, …"""
    place = _positions(typeof(keys[0]).shape, axis)
    order = ops.sort(*keys, place, axis=axis, num_keys=len(keys))[-1]
    return astype(order, dtypes.default_dtype("int"))


@fused(1)
def sort(a, axis=-1, kind=None, order=None, *, stable=True, descending=False):
    """The elements in rising order along an axis.

    Args:
      a: array.
      axis: which axis; None flattens first.
      kind: accepted for compatibility; sorting is always stable.
      order: must be None: arrays have no named fields.
      stable: accepted for compatibility.
      descending: in falling order.

    >>> import xcore.numpy as xnp
    >>> xnp.sort(xnp.asarray([3, 1, 2]))
    Array([1, 2, 3], dtype=int32)
    """
    _check_order("numpy.sort", kind, order)
    a, axis = _along("numpy.sort", a, axis)
    out = ops.sort(a, axis=axis)[0]
    return ops.rev(out, axes=(axis,)) if descending else out


@fused(1)
def argsort(a, axis=-1, kind=None, order=None, *, stable=True, descending=False, dtype=None):
    """The positions that sort an array along an axis; equal elements keep their order.

    Args:
      a: array.
      axis: which axis; None flattens first.
      kind: accepted for compatibility; sorting is always stable.
      order: must be None: arrays have no named fields.
      stable: accepted for compatibility.
      descending: in falling order.
      dtype: of the positions; the default integer if not given.

    >>> import xcore.numpy as xnp
    >>> xnp.argsort(xnp.asarray([3, 1, 2]))
    Array([1, 2, 0], dtype=int32)
    """
    _check_order("numpy.argsort", kind, order)
    a, axis = _along("numpy.argsort", a, axis)
    return astype(_order_of(a, axis, descending), dtype_or(dtype, "int"))


def _order_of(a, axis: int, descending: bool):
    if not descending:
        return _order([a], axis)
    # read backwards, equal elements come in their first order when the rising order is read so too
    backwards = ops.rev(_order([ops.rev(a, axes=(axis,))], axis), axes=(axis,))
    last = full_like_type(typeof(backwards), typeof(a).shape[axis] - 1)
    return ops.sub(last, backwards)


@fused(1)
def lexsort(keys, axis=-1):
    """The positions that sort by several keys: by the last one, ties by the one before, and so on.

    Args:
      keys: sequence of arrays of one shape, or an array along whose first axis they stand.
      axis: along which to sort.

    >>> import xcore.numpy as xnp
    >>> xnp.lexsort((xnp.asarray([1, 0, 2]), xnp.asarray([5, 5, 4])))
    Array([2, 1, 0], dtype=int32)
    """
    who = "numpy.lexsort"
    if not isinstance(keys, (list, tuple)):
        keys = as_array(who, keys)
        if not typeof(keys).ndim:
            raise errors.bad_argument(who, "keys", keys, "a sequence of arrays")
        keys = [keys[i] for i in range(typeof(keys).shape[0])]
    keys = [as_array(who, k) for k in keys]
    if not keys:
        raise errors.bad_argument(who, "keys", keys, "one key or more")
    for k in keys[1:]:
        if typeof(k).shape != typeof(keys[0]).shape:
            raise errors.shape_mismatch(who, first=keys[0], other=k)
    if not typeof(keys[0]).ndim:
        return ops.zeros(ArrayType((), dtypes.default_dtype("int")))
    return _order(keys[::-1], one_axis(who, axis, typeof(keys[0]).ndim))


@fused(1)
def sort_complex(a):
    """The elements in rising order along the last axis, as complex numbers.

    Args:
      a: array.

    >>> import xcore.numpy as xnp
    >>> xnp.sort_complex(xnp.asarray([3, 1]))
    Array([1.+0.j, 3.+0.j], dtype=complex64)
    """
    out = sort(a)
    return astype(out, dtypes.to_complex(dtypes.to_inexact(typeof(out).dtype)))


def _check_kth(who: str, a, kth, axis: int) -> None:
    n = typeof(a).shape[axis]
    for k in np.atleast_1d(np.asarray(kth)):
        if not -n <= k < n:
            raise errors.bad_argument(who, "kth", k.item(), f"between {-n} and {n - 1}")


@fused(1)
def partition(a, kth, axis=-1):
    """The elements so ordered that those at ``kth`` are where sorting puts them, smaller ones before.

    All elements are sorted, which is one such order.

    Args:
      a: array.
      kth: a position, or several.
      axis: which axis; None flattens first.

    >>> import xcore.numpy as xnp
    >>> xnp.partition(xnp.asarray([3, 1, 2]), 1)
    Array([1, 2, 3], dtype=int32)
    """
    a, axis = _along("numpy.partition", a, axis)
    _check_kth("numpy.partition", a, kth, axis)
    return sort(a, axis)


@fused(1)
def argpartition(a, kth, axis=-1):
    """The positions that partition an array; see ``partition``.

    Args:
      a: array.
      kth: a position, or several.
      axis: which axis; None flattens first.

    >>> import xcore.numpy as xnp
    >>> xnp.argpartition(xnp.asarray([3, 1, 2]), 1)
    Array([1, 2, 0], dtype=int32)
    """
    a, axis = _along("numpy.argpartition", a, axis)
    _check_kth("numpy.argpartition", a, kth, axis)
    return argsort(a, axis)


# Searching


def precedes(x, y):
    """x before y in sorted order."""
    kind = dtypes.kind(typeof(x).dtype)
    if kind == "complex":
        return _first_of_several(_complex_keys(x), _complex_keys(y))
    if kind == "float":
        behind = ops.and_(ops.ne(y, y), ops.eq(x, x))
        return ops.or_(ops.lt(x, y), behind)
    return ops.lt(x, y)


def _complex_keys(z):
    re, im = ops.real(z), ops.imag(z)
    return [ops.ne(re, re), ops.ne(im, im), re, im]


def _first_of_several(xs, ys):
    """Lexicographic order of lists of keys."""
    before = None
    for x, y in zip(reversed(xs), reversed(ys), strict=True):
        tie = ops.not_(ops.or_(precedes(x, y), precedes(y, x)))
        before = (
            precedes(x, y) if before is None else ops.or_(precedes(x, y), ops.and_(tie, before))
        )
    return before


def searchsorted(a, v, side="left", sorter=None, *, method="scan"):
    """Where to insert values into a sorted array so that it stays sorted.

    Args:
      a: sorted 1-d array.
      v: values to insert, of any shape.
      side: "left": before equal elements, "right": behind them.
      sorter: positions that sort ``a``, if it is not sorted itself.
      method: "scan" or "scan_unrolled" (bisection), "sort" (sort both together), "compare_all"
        (compare each with each: for few elements).

    >>> import xcore.numpy as xnp
    >>> xnp.searchsorted(xnp.asarray([1, 2, 2, 3]), 2, side="right")
    Array(3, dtype=int32)
    """
    who = "numpy.searchsorted"
    one_of(who, "side", side, ("left", "right"), "'left' or 'right'")
    one_of(who, "method", method, _SEARCHES, f"one of {[*_SEARCHES]}")
    return _searchsorted([a, v] if sorter is None else [a, v, sorter], side, method)


@fused(1)
def _searchsorted(arrays, side, method):
    who = "numpy.searchsorted"
    a, v, *sorter = [as_array(who, x) for x in arrays]
    if typeof(a).ndim != 1:
        raise errors.bad_argument(who, "a", a, "1-d")
    dtype, _ = result_dtype(who, a, v)
    a, v, shape = astype(a, dtype), astype(v, dtype), typeof(v).shape
    if sorter:
        a = _taken(a, sorter[0])
    v = ops.reshape(v, shape=(typeof(v).size,))
    if not typeof(a).size:
        return ops.zeros(ArrayType(shape, dtypes.default_dtype("int")))
    found = _SEARCHES[method](a, v, side == "left")
    return astype(ops.reshape(found, shape=shape), dtypes.default_dtype("int"))


def _taken(a, where):
    """Elements of a vector at positions that are known to be in range."""
    rows = ops.reshape(where, shape=(*typeof(where).shape, 1))
    return ops.gather(a, rows, dims=ops.GatherDims((), (0,), (0,)), sizes=(1,), mode="promise")


def _belongs_behind(v, x, left: bool):
    """Whether v is inserted after x."""
    return precedes(x, v) if left else ops.not_(precedes(v, x))


def _scan(a, v, left: bool):
    """Bisection; where the values rise themselves and are many, of the elements among the values."""
    n, m = typeof(a).size, typeof(v).size
    if m < _MANY or m < 8 * n:
        return _bisect(a, v, left)
    ends = [ops.slice(v, start=(i,), limit=(m - 1 + i,), strides=(1,)) for i in (0, 1)]
    falls = ops.reduce_or(precedes(ends[1], ends[0]), axes=(0,))
    by_value, by_element = (lambda *xs, f=f: f(*xs, left) for f in (_bisect, _bisect_backwards))
    return cond(falls, by_value, by_element, a, v)


_MANY = 1 << 14


def _bisect_backwards(a, v, left: bool):
    """For sorted values: the position among them of each element."""
    place = _bisect(v, a, not left)
    n, m = typeof(a).size, typeof(v).size
    t = ArrayType((m + 1,), dtypes.int32 if n < 2**31 else dtypes.int64)
    ones, rows = ops.ones(ArrayType((n,), t.dtype)), ops.reshape(place, shape=(n, 1))
    dims = ops.ScatterDims((), (0,), (0,))
    counts = ops.scatter(ops.zeros(t), rows, ones, dims=dims, how="add")
    before = ops.cumsum(counts, axis=0)
    return ops.slice(before, start=(0,), limit=(m,), strides=(1,))


def _bisect(a, v, left: bool):
    """The number of elements in front of each value, from its highest binary digit on."""
    digits = typeof(a).size.bit_length()
    t = ArrayType(typeof(v).shape, dtypes.int32 if digits < 32 else dtypes.int64)
    one = np.ones((), t.dtype)[()]

    def step(i, found):
        digit = ops.sub(full_like_type(typeof(one), digits - 1), astype(i, t.dtype))
        power = ops.broadcast_in_dim(ops.shift_left(one, digit), shape=t.shape, dims=())
        return _one_more_digit(a, v, left, found, power)

    return fori_loop(0, digits, step, ops.zeros(t))


def _bisect_unrolled(a, v, left: bool):
    digits = typeof(a).size.bit_length()
    t = ArrayType(typeof(v).shape, dtypes.int32 if digits < 32 else dtypes.int64)
    found = ops.zeros(t)
    for digit in reversed(range(digits)):
        found = _one_more_digit(a, v, left, found, full_like_type(t, 1 << digit))
    return found


def _one_more_digit(a, v, left: bool, found, power):
    t = typeof(found)
    more, top = ops.add(found, power), full_like_type(t, typeof(a).size)
    # places behind the end are moved to the last element, and not taken
    here = _taken(a, ops.sub(ops.min(more, top), ops.ones(t)))
    go = ops.and_(_belongs_behind(v, here, left), ops.le(more, top))
    return ops.select(go, more, found)


def _search_by_sorting(a, v, left: bool):
    """Sort both together; the elements before each value give its position."""
    n, m = typeof(a).size, typeof(v).size
    both = ops.concatenate(*([v, a] if left else [a, v]), axis=0)
    order = astype(_order([both], 0), dtypes.int32)
    first_of_a = full_like_type(typeof(order), m if left else n)
    of_a = (ops.ge if left else ops.lt)(order, first_of_a)
    before = ops.cumsum(ops.convert(of_a, dtype=dtypes.int32), axis=0)
    dims = ops.ScatterDims((), (0,), (0,))
    rows = ops.reshape(order, shape=(n + m, 1))
    placed = ops.scatter(ops.zeros(typeof(before)), rows, before, dims=dims, how="set", unique=True)
    start = 0 if left else n
    return ops.slice(placed, start=(start,), limit=(start + m,), strides=(1,))


def _compare_all(a, v, left: bool):
    shape = (typeof(v).size, typeof(a).size)
    a = ops.broadcast_in_dim(a, shape=shape, dims=(1,))
    v = ops.broadcast_in_dim(v, shape=shape, dims=(0,))
    behind = ops.convert(_belongs_behind(v, a, left), dtype=dtypes.int32)
    return ops.reduce_sum(behind, axes=(1,))


_SEARCHES = {
    "scan": _scan,
    "scan_unrolled": _bisect_unrolled,
    "sort": _search_by_sorting,
    "compare_all": _compare_all,
}


def digitize(x, bins, right=False, *, method=None):
    """The index of the interval between edges to which each value belongs; 0 is before the first.

    Args:
      x: values.
      bins: 1-d array of edges, rising or falling.
      right: whether intervals contain their right edge and not their left one.
      method: how to search; see ``searchsorted``.

    >>> import xcore.numpy as xnp
    >>> xnp.digitize(xnp.asarray([0.2, 6.4, 3.0]), xnp.asarray([0.0, 1.0, 2.5, 4.0]))
    Array([1, 4, 3], dtype=int32)
    """
    return _digitize(x, bins, bool(right), method or "scan")


@fused(2)
def _digitize(x, bins, right, method):
    who = "numpy.digitize"
    x, bins = as_array(who, x), as_array(who, bins)
    if typeof(bins).ndim != 1:
        raise errors.bad_argument(who, "bins", bins, "1-d")
    n = typeof(bins).size
    side = "left" if right else "right"
    rising = searchsorted(bins, x, side, method=method)
    if not n:
        return rising
    t = typeof(rising)
    backwards = searchsorted(ops.rev(bins, axes=(0,)), x, side, method=method)
    falling = ops.sub(full_like_type(t, n), backwards)
    is_falling = precedes(
        *[ops.slice(bins, start=(i,), limit=(i + 1,), strides=(1,)) for i in (n - 1, 0)]
    )
    return ops.select(ops.reshape(is_falling, shape=()), falling, rising)
