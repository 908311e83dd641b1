"""The functions of ``xcore.lax`` that cut windows out of arrays and put them in, at fixed and computed positions."""

from __future__ import annotations

import builtins

from .. import _ops as ops
from .._control.checks import check_starts
from .._core import dtypes, errors, findings, fused, typeof
from ._compound import moves
from ._lax_shapes import expand_dims, squeeze
from ._promote import (
    as_array,
    astype,
    check_alike,
    check_shape,
    one_axis,
    refuse_complex,
    whole_numbers,
)


@fused(1)
@moves("operand")
def slice(operand, start_indices, limit_indices, strides=None):
    """Elements start, start + stride, … below limit along each axis.

    Args:
      operand: array.
      start_indices, limit_indices: for each axis; limits are not part of the result.
      strides: for each axis; 1 by default.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.slice(xnp.arange(10), (1,), (8,), (3,))
    Array([1, 4, 7], dtype=int32)
    """
    x = as_array("lax.slice", operand)
    n = typeof(x).ndim
    given = {"start_indices": start_indices, "limit_indices": limit_indices}
    given["strides"] = (1,) * n if strides is None else strides
    start, limit, steps = (whole_numbers("lax.slice", name, v, n) for name, v in given.items())
    return ops.slice(x, start=start, limit=limit, strides=steps)


@fused(1)
@moves("operand")
def slice_in_dim(operand, start_index, limit_index, stride: int = 1, axis: int = 0):
    """A slice along one axis.

    Args:
      operand: array.
      start_index, limit_index: as in ``x[start:limit]``; None is an end of the axis.
      stride: step.
      axis: which.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.slice_in_dim(xnp.asarray([[1, 2, 3], [4, 5, 6]]), 1, None, axis=1)
    Array([[2, 3],
           [5, 6]], dtype=int32)
    """
    x = as_array("lax.slice_in_dim", operand)
    t = typeof(x)
    axis = one_axis("lax.slice_in_dim", axis, t.ndim)
    a, b, _ = builtins.slice(start_index, limit_index).indices(t.shape[axis])
    low, high, steps = [0] * t.ndim, list(t.shape), [1] * t.ndim
    low[axis], high[axis], steps[axis] = a, max(a, b), stride
    return ops.slice(x, start=tuple(low), limit=tuple(high), strides=tuple(steps))


@fused(1)
@moves("operand")
def index_in_dim(operand, index: int, axis: int = 0, keepdims: bool = True):
    """One position of an axis.

    Args:
      operand: array.
      index: int known now; negative ones count from the end.
      axis: which.
      keepdims: whether the axis stays, with length 1.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.index_in_dim(xnp.asarray([[1, 2], [3, 4]]), -1, axis=0, keepdims=False)
    Array([3, 4], dtype=int32)
    """
    shape = typeof(as_array("lax.index_in_dim", operand)).shape
    axis = one_axis("lax.index_in_dim", axis, len(shape))
    n = shape[axis]
    if not hasattr(index, "__index__"):
        raise errors.bad_argument("lax.index_in_dim", "index", index, "an int")
    if not -n <= index < n:
        raise errors.index_out_of_range(index, axis, typeof(operand).shape)
    out = slice_in_dim(operand, index % n, index % n + 1, 1, axis)
    return out if keepdims else squeeze(out, (axis,))


def _starts(who, indices, shape, wrap=True):
    """Start indices as 0-d integers of one dtype; where ``wrap``, negative ones count from the end."""
    if hasattr(indices, "ndim") and indices.ndim == 1:
        indices = [indices[i] for i in range(indices.shape[0])]
    _check_number_of_starts(who, indices, shape, wrap)
    values = [as_array(who, i) for i in indices]
    for t in map(typeof, values):
        if not dtypes.is_integer(t.dtype):
            raise errors.dtype_not_allowed(f"{who} (start_indices)", t.dtype, "integer")
    wide = any(typeof(v).dtype.itemsize == 8 and not typeof(v).weak for v in values)
    dtype = dtypes.int64 if wide else dtypes.int32
    values = [astype(v, dtype) for v in values]
    wraps = list(wrap) if isinstance(wrap, (tuple, list)) else [wrap] * len(values)
    return [_from_end(v, n) if w else v for v, n, w in zip(values, shape, wraps, strict=True)]


def _check_number_of_starts(who: str, indices, shape, wrap) -> None:
    for name, given in (("start_indices", indices), ("allow_negative_indices", wrap)):
        if isinstance(given, (tuple, list)):
            if len(given) != len(shape):
                found = errors.Words(f"{len(given)} of them")
                raise errors.bad_argument(
                    who, name, found, f"one for each of the {len(shape)} axes of operand"
                )
        elif name == "start_indices":
            raise errors.bad_argument(
                who, name, given, "a sequence of integers, one for each axis of operand"
            )


def _checked(starts, shape, sizes):
    """The starts, with a check that the window fits where positions are checked."""
    if findings.checks_positions():
        check_starts(starts, shape, sizes)
    return starts


def _from_end(v, n: int):
    t = typeof(v).strong()
    return ops.select(ops.lt(v, ops.zeros(t)), ops.add(v, ops.full_like_type(t, n)), v)


@fused(2)
@moves("operand")
def dynamic_slice(operand, start_indices, slice_sizes, *, allow_negative_indices=True):
    """A window of fixed size at a place known at run time, moved inside if it does not fit.

    Negative starts count from the end, where ``allow_negative_indices`` (a bool, or one per axis).

    Args:
      operand: array.
      start_indices: integers, one for each axis.
      slice_sizes: the shape of the window.
      allow_negative_indices: whether negative starts count from the end.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.dynamic_slice(xnp.arange(5), (3,), (2,))
    Array([3, 4], dtype=int32)
    """
    x = as_array("lax.dynamic_slice", operand)
    starts = _starts("lax.dynamic_slice", start_indices, typeof(x).shape, allow_negative_indices)
    sizes = check_shape("lax.dynamic_slice", slice_sizes)
    return ops.dynamic_slice(x, *_checked(starts, typeof(x).shape, sizes), sizes=sizes)


@fused(3)
@moves("operand", "update")
def dynamic_update_slice(operand, update, start_indices, *, allow_negative_indices=True):
    """The array with a window replaced, at a place known at run time.

    Args:
      operand: array.
      update: the new content of the window.
      start_indices: integers, one for each axis.
      allow_negative_indices: whether negative starts count from the end.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.dynamic_update_slice(xnp.zeros(4), xnp.ones(2), (1,))
    Array([0., 1., 1., 0.], dtype=float32)
    """
    x = as_array("lax.dynamic_update_slice", operand)
    update = as_array("lax.dynamic_update_slice", update)
    check_alike("lax.dynamic_update_slice", x, update)
    refuse_complex("lax.dynamic_update_slice", update, typeof(x).dtype)
    update = astype(update, typeof(x).dtype)
    shape = typeof(x).shape
    starts = _starts("lax.dynamic_update_slice", start_indices, shape, allow_negative_indices)
    return ops.dynamic_update_slice(x, update, *_checked(starts, shape, typeof(update).shape))


@fused(2)
@moves("operand")
def dynamic_slice_in_dim(
    operand, start_index, slice_size: int, axis: int = 0, *, allow_negative_indices=True
):
    """``dynamic_slice`` along one axis.

    Args:
      operand: array.
      start_index: an integer.
      slice_size: length of the window along the axis.
      axis: which.
      allow_negative_indices: whether a negative start counts from the end.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.dynamic_slice_in_dim(xnp.asarray([[1, 2, 3], [4, 5, 6]]), 1, 2, axis=1)
    Array([[2, 3],
           [5, 6]], dtype=int32)
    """
    t = typeof(as_array("lax.dynamic_slice_in_dim", operand))
    axis = one_axis("lax.dynamic_slice_in_dim", axis, t.ndim)
    starts = [start_index if i == axis else 0 for i in range(t.ndim)]
    return dynamic_slice(
        operand, starts, tuple(slice_size if i == axis else n for i, n in enumerate(t.shape)),
        allow_negative_indices=allow_negative_indices,
    )  # fmt: skip


@fused(2)
@moves("operand")
def dynamic_index_in_dim(
    operand, index, axis: int = 0, keepdims: bool = True, *, allow_negative_indices=True
):
    """One position of an axis, which may be computed.

    Args:
      operand: array.
      index: an integer.
      axis: which.
      keepdims: whether the axis stays, with length 1.
      allow_negative_indices: whether a negative index counts from the end.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> x = xnp.asarray([[1, 2], [3, 4]])
    >>> xc.lax.dynamic_index_in_dim(x, xnp.argmax(x[:, 0]), keepdims=False)
    Array([3, 4], dtype=int32)
    """
    out = dynamic_slice_in_dim(
        operand, index, 1, axis, allow_negative_indices=allow_negative_indices
    )
    return out if keepdims else squeeze(out, (axis,))


@fused(3)
@moves("operand", "update")
def dynamic_update_slice_in_dim(
    operand, update, start_index, axis: int, *, allow_negative_indices=True
):
    """``dynamic_update_slice`` along one axis.

    Args:
      operand: array.
      update: the new content of the window.
      start_index: an integer.
      axis: which.
      allow_negative_indices: whether a negative start counts from the end.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.dynamic_update_slice_in_dim(xnp.zeros((2, 3)), xnp.ones((2, 1)), 2, axis=1)
    Array([[0., 0., 1.],
           [0., 0., 1.]], dtype=float32)
    """
    t = typeof(as_array("lax.dynamic_update_slice_in_dim", operand))
    check_alike("lax.dynamic_update_slice_in_dim", operand, update)
    axis = one_axis("lax.dynamic_update_slice_in_dim", axis, t.ndim)
    return dynamic_update_slice(
        operand, update, [start_index if i == axis else 0 for i in range(t.ndim)],
        allow_negative_indices=allow_negative_indices,
    )  # fmt: skip


@fused(3)
@moves("operand", "update")
def dynamic_update_index_in_dim(operand, update, index, axis: int, *, allow_negative_indices=True):
    """The array with one position of an axis replaced.

    Args:
      operand: array.
      update: what comes there, with or without the axis.
      index: an integer.
      axis: which.
      allow_negative_indices: whether a negative index counts from the end.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.dynamic_update_index_in_dim(xnp.zeros((2, 2)), xnp.asarray([5.0, 6.0]), 1, axis=0)
    Array([[0., 0.],
           [5., 6.]], dtype=float32)
    """
    check_alike("lax.dynamic_update_index_in_dim", operand, update, any_rank=True)
    x, u = as_array("lax.update", operand), as_array("lax.update", update)
    axis = one_axis("lax.dynamic_update_index_in_dim", axis, typeof(x).ndim)
    u = u if typeof(u).ndim == typeof(x).ndim else expand_dims(u, (axis,))
    return dynamic_update_slice_in_dim(
        x, u, index, axis, allow_negative_indices=allow_negative_indices
    )
