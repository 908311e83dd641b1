"""The same elements again, or in another order: repeating, flipping, rolling."""

from __future__ import annotations

import math
import operator

import numpy as np

from .. import _ops as ops
from .._core import ArrayType, dtypes, errors, fused, is_traced, typeof
from . import _promote
from ._compound import moves
from ._placement import spreads
from ._promote import (
    as_array,
    astype,
    axes_of,
    check_shape,
    concrete,
    one_axis,
)
from ._shape import axis_list, ravel, reshape, swapaxes


@fused(1)
@moves("A")
def tile(A, reps):
    """An array repeated as a block.

    Args:
      A: array.
      reps: how often along each axis; missing ones in front are 1.

    >>> import xcore.numpy as xnp
    >>> xnp.tile(xnp.arange(2), 2)
    Array([0, 1, 0, 1], dtype=int32)
    """
    A = as_array("numpy.tile", A)
    reps = check_shape("numpy.tile", reps, name="reps")
    shape = typeof(A).shape
    ndim = max(len(shape), len(reps))
    shape = (1,) * (ndim - len(shape)) + shape
    reps = (1,) * (ndim - len(reps)) + reps
    pairs = [n for pair in zip(reps, shape, strict=True) for n in pair]
    spread = ops.broadcast_in_dim(
        ops.reshape(A, shape=shape), shape=tuple(pairs), dims=tuple(range(1, 2 * ndim, 2))
    )
    return ops.reshape(spread, shape=tuple(r * n for r, n in zip(reps, shape, strict=True)))


@spreads
@moves("a")
def repeat(a, repeats, axis=None, *, total_repeat_length=None, out_sharding=None):
    """Each element several times in a row.

    Args:
      a: array.
      repeats: how often: an int, or one for each element along the axis.
      axis: which axis; None flattens first.
      total_repeat_length: the length of the result along the axis. Under jit it must be given if
        ``repeats`` is traced; what is too long is cut, what is missing repeats the last element.

    >>> import xcore.numpy as xnp
    >>> xnp.repeat(xnp.arange(3), 2)
    Array([0, 0, 1, 1, 2, 2], dtype=int32)
    """
    a = as_array("numpy.repeat", a)
    if axis is None or not typeof(a).ndim:  # a number has an axis of length 1 here, as in NumPy
        a = ravel(a)
    axis = one_axis("numpy.repeat", axis or 0, typeof(a).ndim)
    n = typeof(a).shape[axis]
    if is_traced(repeats):
        if total_repeat_length is None:
            raise errors.no_concrete_value(
                repeats,
                "the number of repetitions (or total_repeat_length) in numpy.repeat",
                repeats.origin(),
            )
        return _repeat_traced([a, repeats], axis, operator.index(total_repeat_length))
    counts = np.asarray(repeats)
    if counts.size and counts.dtype.kind not in "iub":
        raise TypeError(f"xcore.numpy.repeat: repeats must be integers, given {repeats!r}.")
    if counts.ndim > 1 or counts.size not in (1, n):
        raise errors.bad_argument("numpy.repeat", "repeats", counts, f"an int, or {n} ints")
    if counts.size and counts.min() < 0:
        raise errors.bad_argument("numpy.repeat", "repeats", repeats, "not negative")
    if counts.size == 1 and total_repeat_length is None:
        return _repeat_evenly(a, int(counts.reshape(())), axis)
    where = np.repeat(np.arange(n), np.broadcast_to(counts, n))
    if total_repeat_length is not None:
        missing = total_repeat_length - len(where)
        where = (
            np.pad(where, (0, missing), constant_values=n - 1)
            if missing > 0
            else where[:total_repeat_length]
        )
    return a[(slice(None),) * axis + (where,)]


@fused(1)
def _repeat_evenly(a, count, axis):
    shape = typeof(a).shape
    wide = (*shape[: axis + 1], count, *shape[axis + 1 :])
    dims = tuple(i for i in range(len(wide)) if i != axis + 1)
    spread = ops.broadcast_in_dim(a, shape=wide, dims=dims)
    return ops.reshape(spread, shape=(*shape[:axis], shape[axis] * count, *shape[axis + 1 :]))


@fused(1)
def _repeat_traced(pair, axis, total):
    a, counts = pair
    n = typeof(a).shape[axis]
    counts = _promote.broadcast_to(astype(as_array("numpy.repeat", counts), dtypes.int32), (n,))
    ends = ops.cumsum(counts, axis=0)
    # element j of the result is the one whose end is the first above j
    t = ArrayType((total, n), dtypes.int32)
    place = ops.iota(shape=t.shape, dtype=t.dtype, axis=0)
    past = ops.le(ops.broadcast_in_dim(ends, shape=t.shape, dims=(1,)), place)
    where = ops.reduce_sum(ops.convert(past, dtype=dtypes.int32), axes=(1,))
    return a[(slice(None),) * axis + (where,)]


@fused(1)
@moves("m")
def flip(m, axis=None):
    """Elements in reverse order along axes.

    Args:
      m: array.
      axis: an int or several; all by default.

    >>> import xcore.numpy as xnp
    >>> xnp.flip(xnp.arange(3))
    Array([2, 1, 0], dtype=int32)
    """
    m = as_array("numpy.flip", m)
    axes = axes_of("numpy.flip", axis, typeof(m).ndim)
    return ops.rev(m, axes=axes) if axes else m


def fliplr(m):
    """Columns in reverse order.

    Args:
      m: array of two or more axes.

    >>> import xcore.numpy as xnp
    >>> xnp.fliplr(xnp.arange(4).reshape(2, 2))
    Array([[1, 0],
           [3, 2]], dtype=int32)
    """
    return flip(m, 1)


def flipud(m):
    """Rows in reverse order.

    Args:
      m: array of one or more axes.

    >>> import xcore.numpy as xnp
    >>> xnp.flipud(xnp.arange(4).reshape(2, 2))
    Array([[2, 3],
           [0, 1]], dtype=int32)
    """
    return flip(m, 0)


@fused(1)
@moves("m")
def rot90(m, k=1, axes=(0, 1)):
    """A turn by k times 90 degrees in the plane of two axes, from the first towards the second.

    Args:
      m: array.
      k: int; how many quarter turns, negative ones the other way.
      axes: the two axes of the plane.

    >>> import xcore.numpy as xnp
    >>> xnp.rot90(xnp.arange(4).reshape(2, 2))
    Array([[1, 3],
           [0, 2]], dtype=int32)
    """
    m = as_array("numpy.rot90", m)
    i, j = axis_list("numpy.rot90", tuple(axes), typeof(m).ndim)
    turns = operator.index(k) % 4
    if turns == 1:
        return swapaxes(flip(m, j), i, j)
    if turns == 3:
        return flip(swapaxes(m, i, j), j)
    return flip(m, (i, j)) if turns else m


@moves("a")
def roll(a, shift, axis=None):
    """Elements shifted along axes; what leaves at one end enters at the other.

    Args:
      a: array.
      shift: by how much: an int, one for each axis, or a traced int.
      axis: an int or several; None flattens first and restores the shape.

    >>> import xcore.numpy as xnp
    >>> xnp.roll(xnp.arange(4), 1)
    Array([3, 0, 1, 2], dtype=int32)
    """
    a = as_array("numpy.roll", a)
    if axis is None:
        return reshape(roll(ravel(a), shift, 0), typeof(a).shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = [one_axis("numpy.roll", i, typeof(a).ndim) for i in axes]
    if is_traced(shift):
        shifts = [shift[i] for i in range(shift.shape[0])] if shift.ndim else [shift] * len(axes)
    else:
        given = shift if isinstance(shift, (tuple, list)) else np.asarray(shift).ravel().tolist()
        shifts = [_concrete_or_traced(s) for s in given]
    n = max(len(axes), len(shifts))
    if len(axes) not in (1, n) or len(shifts) not in (1, n):
        raise errors.bad_argument("numpy.roll", "shift", shift, f"an int or {len(axes)} ints")
    axes, shifts = axes * (n // len(axes)), shifts * (n // len(shifts))
    if all(isinstance(s, int) for s in shifts):
        return _roll(a, tuple(shifts), tuple(axes))
    return _roll_traced([a, *shifts], tuple(axes))


def _concrete_or_traced(x):
    """A Python int if the value is known now."""
    return x if is_traced(x) else operator.index(concrete("numpy", x))


@fused(1)
def _roll(a, shifts, axes):
    for shift, axis in zip(shifts, axes, strict=True):
        n = typeof(a).shape[axis]
        cut = -shift % n if n else 0
        if cut:
            front = (slice(None),) * axis
            a = ops.concatenate(a[(*front, slice(cut, None))], a[(*front, slice(cut))], axis=axis)
    return a


@fused(1)
def _roll_traced(arrays, axes):
    a, *shifts = arrays
    for shift, axis in zip(shifts, axes, strict=True):
        n = typeof(a).shape[axis]
        if n:
            start = -as_array("numpy.roll", shift) % n
            doubled = ops.concatenate(a, a, axis=axis)
            zero = ops.zeros(typeof(start).strong())
            starts = [start if i == axis else zero for i in range(typeof(a).ndim)]
            starts = [astype(s, dtypes.int32) for s in starts]
            a = ops.dynamic_slice(doubled, *starts, sizes=typeof(a).shape)
    return a


@fused(1)
@moves("a")
def resize(a, new_shape):
    """The elements of an array, repeated as often as needed, in a new shape.

    Args:
      a: array; without elements, the result is zero.
      new_shape: int or tuple of ints.

    >>> import xcore.numpy as xnp
    >>> xnp.resize(xnp.arange(3), (2, 2))
    Array([[0, 1],
           [2, 0]], dtype=int32)
    """
    a = as_array("numpy.resize", a)
    shape = check_shape("numpy.resize", new_shape, name="new_shape")
    size, n = math.prod(shape), typeof(a).size
    if not n:
        return ops.zeros(ArrayType(shape, typeof(a).dtype))
    flat = tile(ravel(a), -(-size // n)) if size > n else ravel(a)
    return ops.reshape(flat[:size], shape=shape)
