"""Elements at given positions: taken, put, inserted, deleted."""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .._control.checks import check_positions
from .._core import Array, dtypes, errors, findings, fused, is_array_like, is_traced, typeof
from ._compound import moves
from ._creation import asarray
from ._elementwise import maximum, minimum, remainder, truth
from ._index import getitem, in_numpy
from ._plan import refuse_known
from ._promote import as_array, astype, axes_of, broadcast_shapes, broadcast_to, no_out, one_axis
from ._repeat import resize
from ._select import nonzero, not_in_place
from ._select import where as choose
from ._shape import moveaxis, ravel, reshape


def as_positions(who: str, indices, name: str = "indices"):
    """An array of integers (lists are taken too)."""
    if isinstance(indices, (list, tuple)):
        indices = asarray(indices) if len(indices) else np.zeros(0, np.int32)
    indices = as_array(who, indices, name)
    if not dtypes.is_integer(typeof(indices).dtype):
        raise errors.dtype_not_allowed(f"{who} ({name})", typeof(indices).dtype, "integer")
    return indices


_TAKE_MODES = (None, "fill", "clip", "wrap", "promise_in_bounds")


@moves("a")
def take(a, indices, axis=None, out=None, mode=None, unique_indices=False, indices_are_sorted=False,
         fill_value=None):  # fmt: skip
    """Elements (or slices along an axis) at given positions.

    Args:
      a: array.
      indices: array of integers.
      axis: which axis; None flattens first.
      out: must be None: arrays are immutable.
      mode: what positions out of range give: "fill" a fill value, "clip" the nearest element (negative
        positions the first), "wrap" counts around. By default Python's and NumPy's raise an IndexError,
        as ``a[indices]`` does; those on a device are filled.
      unique_indices, indices_are_sorted: what the compiler may rely on.
      fill_value: NaN, or the lowest integer, if not given.

    >>> import xcore.numpy as xnp
    >>> xnp.take(xnp.arange(5) * 10, xnp.asarray([0, 3]))
    Array([ 0, 30], dtype=int32)
    """
    who = "numpy.take"
    no_out(who, out)
    if mode not in _TAKE_MODES:
        raise errors.unknown_mode(who, mode, f"one of {_TAKE_MODES[1:]}", "A program cannot raise.")
    if type(indices) is not Array:
        refuse_known(a, indices, axis, mode)
    if isinstance(indices, (list, tuple)):
        indices = as_positions(who, indices)
    if mode is None and type(a) is Array and type(indices) is Array and indices.dtype.kind in "iu":
        axis = 0 if axis is None and a.ndim == 1 else axis
        if type(axis) is int and 0 <= axis < a.ndim:
            part = in_numpy(a, (*(slice(None),) * axis, indices))
            if part is not None:
                return part
    return _take(a, indices, axis, mode, fill_value, bool(unique_indices), bool(indices_are_sorted))


@fused(2)
def _take(a, indices, axis, mode, fill_value, unique, is_sorted):
    who = "numpy.take"
    a, indices = as_array(who, a), as_positions(who, indices)
    if axis is None:
        a, axis = ravel(a), 0
    axis = one_axis(who, axis, typeof(a).ndim)
    if mode is None and findings.checks_filled():
        check_positions(indices, axis, typeof(a).shape)
    indices = _wrapped(indices, typeof(a).shape[axis], mode)
    at = (*(slice(None),) * axis, indices)
    return getitem(
        a,
        at,
        mode if mode in ("clip", "promise_in_bounds") else "fill",
        fill_value,
        unique,
        is_sorted,
    )


def _wrapped(indices, n: int, mode):
    """Positions out of range wrapped or clipped into it, by the mode."""
    if mode == "wrap" and n:
        return remainder(astype(indices, dtypes.int64) if _is_long(n, indices) else indices, n)
    return maximum(indices, 0) if mode == "clip" else indices


def _is_long(n: int, indices) -> bool:
    return n > dtypes.iinfo(typeof(indices).dtype).max


@moves("arr")
def take_along_axis(arr, indices, axis=-1, mode=None, fill_value=None, *,
                    wrap_negative_indices=None):  # fmt: skip
    """Elements at positions along one axis, with other positions for each of the other axes.

    Args:
      arr: array.
      indices: array of integers with as many axes; the others broadcast.
      axis: which axis; None flattens both first.
      mode, fill_value: what positions out of range give; see ``take``; "one_hot" gives 0.
      wrap_negative_indices: False if negative positions are out of range, and do not count from the end.

    >>> import xcore.numpy as xnp
    >>> x = xnp.asarray([[3, 1, 2], [6, 5, 4]])
    >>> xnp.take_along_axis(x, xnp.asarray([[1], [2]]), axis=1)
    Array([[1],
           [4]], dtype=int32)
    """
    who = "numpy.take_along_axis"
    wraps = wrap_negative_indices in (None, True)
    refuse_known(arr, indices, axis, mode, wraps)
    indices = as_positions(who, indices) if isinstance(indices, (list, tuple)) else indices
    if mode == "one_hot":  # a product with ones and zeros elsewhere, whose values a gather has too
        mode, fill_value = "fill", 0
    return _take_along(arr, indices, axis, mode, fill_value, wraps)


@fused(2)
def _take_along(arr, indices, axis, mode, fill_value, wraps):
    who = "numpy.take_along_axis"
    arr, indices = as_array(who, arr), as_positions(who, indices)
    if axis is None:
        arr, indices, axis = ravel(arr), ravel(indices), 0
    if typeof(arr).ndim != typeof(indices).ndim:
        raise errors.shape_mismatch(who, "need equally many axes", arr=arr, indices=indices)
    axis = one_axis(who, axis, typeof(arr).ndim)
    if not wraps:  # what is below 0 goes as far out of range as what is beyond the end
        indices = astype(indices, dtypes.default_dtype("int"))
        outside = 0 if mode == "clip" else typeof(arr).shape[axis]
        indices = choose(indices < 0, ops.full_like_type(typeof(indices), outside), indices)
    if mode is None and findings.checks_filled():
        check_positions(indices, axis, typeof(arr).shape)
    at = _along(who, arr, indices, axis)
    return getitem(arr, at, "fill" if mode is None else mode, fill_value)


def _along(who: str, arr, indices, axis: int) -> tuple:
    """The index that runs through all axes but one, where the positions are given."""
    shape, given = list(typeof(arr).shape), list(typeof(indices).shape)
    ndim = len(shape)
    shape[axis] = given[axis]
    common = broadcast_shapes(who, tuple(shape), tuple(given))
    if any(
        n not in (m, 1)
        for i, (n, m) in enumerate(zip(typeof(arr).shape, common, strict=True))
        if i != axis
    ):
        raise errors.shape_mismatch(
            who, f"must agree but for axis {axis}", arr=arr, indices=indices
        )
    at = []
    for i in range(ndim):
        if i == axis:
            at.append(indices)
        elif typeof(arr).shape[i] == 1:
            at.append(np.zeros((1,) * ndim, np.int32))
        else:
            at.append(
                np.arange(common[i], dtype=np.int32).reshape(
                    [-1 if j == i else 1 for j in range(ndim)]
                )
            )
    return tuple(at)


@moves("arr", "values")
def put_along_axis(arr, indices, values, axis, inplace=True, *, mode=None):
    """A copy of an array with values at positions along one axis.

    Args:
      arr: array.
      indices: array of integers with as many axes.
      values: what to put there; broadcasts to the positions.
      axis: which axis; None puts into the flattened array.
      inplace: must be False: arrays are immutable.
      mode: what positions out of range do: "drop" or "clip". By default Python's and NumPy's raise an
        IndexError; those on a device are dropped.

    >>> import xcore.numpy as xnp
    >>> x = xnp.zeros((2, 3))
    >>> xnp.put_along_axis(x, xnp.asarray([[1], [2]]), 7, axis=1, inplace=False)
    Array([[0., 7., 0.],
           [0., 0., 7.]], dtype=float32)
    """
    who = "numpy.put_along_axis"
    not_in_place(who, inplace)
    refuse_known(arr, indices, axis, mode)
    arr, indices = as_array(who, arr), as_positions(who, indices)
    shape = typeof(arr).shape
    if axis is None:
        flat = put_along_axis(ravel(arr), ravel(indices), values, 0, False, mode=mode)
        return reshape(flat, shape)
    axis = one_axis(who, axis, len(shape))
    return arr.at[_along(who, arr, indices, axis)].set(values, mode=mode)


@moves("a", "v")
def put(a, ind, v, mode=None, *, inplace=True):
    """A copy of an array with values at positions of the flattened array.

    Args:
      a: array.
      ind: array of integers.
      v: the values; repeated if there are too few.
      mode: what positions out of range do: "drop", "clip" or "wrap". By default Python's and NumPy's raise
        an IndexError; those on a device are clipped.
      inplace: must be False: arrays are immutable.

    >>> import xcore.numpy as xnp
    >>> xnp.put(xnp.zeros(4), xnp.asarray([0, 2]), xnp.asarray([5.0, 6.0]), inplace=False)
    Array([5., 0., 6., 0.], dtype=float32)
    """
    who = "numpy.put"
    not_in_place(who, inplace)
    if mode not in (None, "clip", "wrap", "drop"):
        raise errors.bad_argument(
            who, "mode", mode, "'clip', 'wrap' or 'drop'", "A program cannot raise."
        )
    refuse_known(a, ind, None, mode)
    a, ind = as_array(who, a), ravel(as_positions(who, ind, "ind"))
    v = ravel(as_array(who, v if is_array_like(v) else asarray(v)))
    count, size = typeof(ind).size, typeof(a).size
    if count and typeof(v).size and not size and mode != "drop":
        raise IndexError(
            "xcore.numpy.put: the array has no elements, so there is no position to put values at."
        )
    if not count or not typeof(v).size or not size:
        return a
    if mode == "wrap":
        ind = remainder(ind, size)
    elif mode != "drop":
        ind = minimum(maximum(ind, 0 if mode == "clip" else -size), size - 1)
    flat = ravel(a).at[ind].set(resize(v, (count,)), mode="drop")
    return reshape(flat, typeof(a).shape)


def putmask(a, mask, values, *, inplace=True):
    """A copy of an array with values where a mask holds, each from its own position.

    Args:
      a: array.
      mask: array of truth values of as many elements.
      values: what to put there; repeated if there are too few.
      inplace: must be False: arrays are immutable.

    >>> import xcore.numpy as xnp
    >>> xnp.putmask(xnp.arange(4), xnp.arange(4) > 1, [7, 8, 9], inplace=False)
    Array([0, 1, 9, 7], dtype=int32)
    """
    who = "numpy.putmask"
    not_in_place(who, inplace)
    return _putmask([a, mask, values if is_array_like(values) else asarray(values)])


@fused(1)
def _putmask(arrays):
    a, mask, values = (as_array("numpy.putmask", x) for x in arrays)
    t = typeof(a)
    if typeof(mask).size != t.size or not typeof(values).size:
        raise errors.shape_mismatch(
            "numpy.putmask",
            "need a mask of as many elements, and at least one value",
            a=a,
            mask=mask,
        )
    spread = reshape(resize(astype(values, t.dtype), (t.size,)), t.shape)
    return ops.select(reshape(truth(mask), t.shape), spread, a)


def fill_diagonal(a, val, wrap=False, *, inplace=True):
    """A copy of an array with values on its main diagonal.

    Args:
      a: array of 2 or more axes, of equal lengths if there are more than 2.
      val: a number, or an array that is repeated along the diagonal.
      wrap: of a tall matrix, start again below each square.
      inplace: must be False: arrays are immutable.

    >>> import xcore.numpy as xnp
    >>> xnp.fill_diagonal(xnp.zeros((2, 2)), 3, inplace=False)
    Array([[3., 0.],
           [0., 3.]], dtype=float32)
    """
    who = "numpy.fill_diagonal"
    not_in_place(who, inplace)
    a = as_array(who, a)
    shape = typeof(a).shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise errors.bad_argument(
            who, "a", a, "of 2 or more axes, of equal lengths if there are more than 2"
        )
    step = (
        shape[1] + 1
        if len(shape) == 2
        else sum(int(np.prod(shape[i + 1 :])) for i in range(len(shape)))
    )
    end = None if len(shape) > 2 or wrap else shape[1] * shape[1]
    flat = ravel(a)
    where = slice(0, end, step)
    count = len(range(*where.indices(typeof(flat).size)))
    val = ravel(as_array(who, val if is_array_like(val) else asarray(val)))
    return reshape(flat.at[where].set(resize(val, (count,))), shape) if count else a


# Deleting and inserting


def _known_positions(who: str, obj, n: int) -> np.ndarray:
    """Positions given as a slice, numbers or a mask, as non-negative numbers on the host."""
    if isinstance(obj, slice):
        return np.arange(n)[obj]
    host = np.asarray(obj)
    if host.dtype == bool:
        if host.shape != (n,):
            raise errors.bad_argument(who, "obj", obj, f"a mask of length {n}")
        return np.flatnonzero(host)
    if not host.size:
        return np.zeros(host.shape, np.int32)
    if host.dtype.kind not in "iu":
        raise errors.dtype_not_allowed(who, host.dtype, "integer and bool")
    return host


def _check_range(positions: np.ndarray, low: int, high: int, axis: int, shape) -> None:
    for p in positions.ravel():
        if not low <= p <= high:
            raise errors.index_out_of_range(int(p), axis, shape)


@moves("arr")
def delete(arr, obj, axis=None, *, assume_unique_indices=False):
    """An array without the slices at given positions along an axis.

    Args:
      arr: array.
      obj: an int, several, a slice, or a mask.
      axis: which axis; None flattens first.
      assume_unique_indices: promises different positions, which makes traced ones possible.

    >>> import xcore.numpy as xnp
    >>> xnp.delete(xnp.arange(4), 1)
    Array([0, 2, 3], dtype=int32)
    """
    who = "numpy.delete"
    arr = as_array(who, arr)
    if axis is None:
        arr, axis = ravel(arr), 0
    shape = typeof(arr).shape
    axis = one_axis(who, axis, len(shape))
    front, n = (slice(None),) * axis, shape[axis]
    if not is_traced(obj):
        gone = _known_positions(who, obj, n)
        _check_range(gone, -n, n - 1, axis, shape)
        return arr[(*front, np.delete(np.arange(n), gone))]
    obj = as_array(who, obj, "obj")
    if typeof(obj).dtype == bool:
        raise errors.size_needed(who, obj)
    if typeof(obj).size != 1 and not assume_unique_indices:
        raise errors.no_concrete_value(
            obj,
            "positions that are concrete (or assume_unique_indices=True) in numpy.delete",
            obj.origin(),
        )
    return arr[(*front, _others(ravel(obj), n))]


@fused(1)
def _others(positions, n):
    """The numbers below n that are not among different positions."""
    t = typeof(positions)
    keep = asarray(np.ones(n, bool)).at[positions].set(False)
    return nonzero(keep, size=n - t.size)[0]


@moves("arr", "values")
def insert(arr, obj, values, axis=None):
    """An array with slices inserted before given positions along an axis.

    Args:
      arr: array.
      obj: an int, several, or a slice: positions in the original array.
      values: what is inserted; broadcasts.
      axis: which axis; None flattens first.

    >>> import xcore.numpy as xnp
    >>> xnp.insert(xnp.arange(3), 1, 9)
    Array([0, 9, 1, 2], dtype=int32)
    """
    who = "numpy.insert"
    arr = as_array(who, arr)
    if axis is None:
        arr, axis = ravel(arr), 0
    shape = typeof(arr).shape
    axis = one_axis(who, axis, len(shape))
    values = as_array(
        who, values if is_array_like(values) else asarray(values), dtype=typeof(arr).dtype
    )
    n = shape[axis]
    if not is_traced(obj):
        at = _known_positions(who, obj, n)
        _check_range(at, -n, n, axis, shape)
        single = np.ndim(obj) == 0 and not isinstance(obj, slice)
        at = np.where(at < 0, at + n, at)
    else:
        at = as_positions(who, obj, "obj")
        single = typeof(at).ndim == 0
        at = minimum(maximum(at + n * (at < 0), 0), n)
    if single:  # one place: the values are a block with its own length along the axis
        block = (
            moveaxis(_with_axes(values, len(shape)), 0, axis)
            if typeof(values).ndim <= len(shape)
            else values
        )
        return _inserted_block([arr, block, reshape(as_array(who, at), ())], axis)
    return _inserted([arr, values, ravel(as_array(who, at))], axis)


def _with_axes(x, ndim: int):
    """New axes of length 1 in front."""
    return reshape(x, (1,) * (ndim - typeof(x).ndim) + typeof(x).shape)


@fused(1)
def _inserted_block(arrays, axis):
    arr, block, at = arrays
    length = typeof(block).shape[axis]
    return _merged(arr, block, at + np.arange(length, dtype=np.int32), axis)


@fused(1)
def _inserted(arrays, axis):
    arr, values, at = arrays
    at = astype(at, dtypes.int32)
    count = typeof(at).size
    t = typeof(at)
    numbers = ops.iota(shape=t.shape, dtype=t.dtype, axis=0)
    if count == 1:  # one place in a list: more values than one go there together
        block = _with_axes(values, typeof(arr).ndim)
        length = typeof(block).shape[axis]
        return _merged(arr, block, at[0] + np.arange(length, dtype=np.int32), axis)
    # positions count in the original array: each is moved by those that come before it
    _, order = ops.sort(at, numbers, axis=0, num_keys=1, stable=True)
    moved = at[order] + numbers
    final = asarray(np.zeros(count, np.int32)).at[order].set(moved)
    return _merged(arr, values, final, axis)


def _merged(arr, values, final, axis):
    """The array whose slices at ``final`` are the values and whose others are those of arr, in order."""
    shape = list(typeof(arr).shape)
    count = typeof(final).size
    total = shape[axis] + count
    front = (slice(None),) * axis
    keep = asarray(np.ones(total, bool)).at[final].set(False)
    others = nonzero(keep, size=shape[axis])[0]
    wide = (*shape[:axis], total, *shape[axis + 1 :])
    values = broadcast_to(values, (*shape[:axis], count, *shape[axis + 1 :]))
    out = ops.zeros(typeof(arr).strong().with_shape(wide))
    out = as_array("numpy.insert", out).at[(*front, others)].set(arr, unique_indices=True)
    return out.at[(*front, final)].set(values, unique_indices=True)


def trim_zeros(filt, trim="fb", axis=None):
    """An array without the zeros at its ends.

    Args:
      filt: array with concrete values, for the shape of the result depends on them.
      trim: "f" for the front, "b" for the back, "fb" for both.
      axis: along which axes; all by default.

    >>> import xcore.numpy as xnp
    >>> xnp.trim_zeros(xnp.asarray([0, 0, 1, 2, 0]))
    Array([1, 2], dtype=int32)
    """
    who = "numpy.trim_zeros"
    if not set(trim.lower()) <= set("fb"):
        raise errors.bad_argument(who, "trim", trim, "'f', 'b' or 'fb'")
    filt = as_array(who, filt if is_array_like(filt) else asarray(filt))
    if type(filt) is not Array:
        raise errors.ConcretizationError(
            f"xcore.{who}: the shape of the result depends on values, which are traced.{filt.origin()} "
            "Call it outside the traced function."
        )
    ndim = filt.ndim
    axes = axes_of(who, axis, ndim)
    inside = np.nonzero(np.asarray(filt))
    bounds = [slice(None)] * ndim
    for i in axes:
        some = inside[i].size
        start = (int(inside[i].min()) if some else filt.shape[i]) if "f" in trim.lower() else 0
        stop = (int(inside[i].max()) + 1 if some else 0) if "b" in trim.lower() else None
        bounds[i] = slice(start, stop)
    return filt[tuple(bounds)]
