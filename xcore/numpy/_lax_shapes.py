"""The functions of ``xcore.lax`` that give elements another shape or order, and arrays that are made."""

from __future__ import annotations

from .. import _ops as ops
from .._core import boundary, dtypes, errors, fused, typeof
from . import _join, _repeat
from ._compound import fills, moves
from ._placement import on_device, spreads
from ._promote import (
    as_array,
    astype,
    axes_of,
    check_alike,
    check_shape,
    one_axis,
    refuse_complex,
    whole_numbers,
)


@fused(1)
@spreads
@moves("operand")
def reshape(operand, new_sizes, dimensions=None, *, out_sharding=None):
    """The same elements in another shape, in row-major order (of ``dimensions`` if given).

    Args:
      operand: array.
      new_sizes: the shape, with as many elements.
      dimensions: the order in which the axes are read.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.reshape(xnp.asarray([[1, 2], [3, 4]]), (4,), dimensions=(1, 0))
    Array([1, 3, 2, 4], dtype=int32)
    """
    x = as_array("lax.reshape", operand)
    if dimensions is not None:
        order = whole_numbers("lax.reshape", "dimensions", dimensions, typeof(x).ndim)
        x = ops.transpose(x, perm=order)
    return ops.reshape(x, shape=check_shape("lax.reshape", new_sizes, name="new_sizes"))


@fused(1)
@moves("operand")
def transpose(operand, permutation):
    """Axes in another order.

    Args:
      operand: array.
      permutation: axis i of the result is axis ``permutation[i]`` of the operand.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.transpose(xnp.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    x = as_array("lax.transpose", operand)
    order = whole_numbers("lax.transpose", "permutation", permutation, typeof(x).ndim)
    return ops.transpose(x, perm=order)


@fused(1)
@moves("operand")
def rev(operand, dimensions):
    """Reversed along axes.

    Args:
      operand: array.
      dimensions: axes.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.rev(xnp.asarray([[1, 2], [3, 4]]), (1,))
    Array([[2, 1],
           [4, 3]], dtype=int32)
    """
    axes = whole_numbers("lax.rev", "dimensions", dimensions)
    return ops.rev(as_array("lax.rev", operand), axes=axes)


@fused(1)
def stack(operands, axis: int = 0):
    """Arrays of one shape joined along a new axis.

    Args:
      operands: arrays of one shape.
      axis: position of the new axis in the result.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.stack([xnp.arange(2), xnp.ones(2, int)], axis=1)
    Array([[0, 1],
           [1, 1]], dtype=int32)
    """
    return _join.stack(operands, axis)


@fused(1)
def tile(operand, reps):
    """The array several times along its axes.

    Args:
      operand: array.
      reps: how often, for each axis.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.tile(xnp.asarray([[1, 2]]), (2, 2))
    Array([[1, 2, 1, 2],
           [1, 2, 1, 2]], dtype=int32)
    """
    return _repeat.tile(operand, reps)


def unstack(x, axis: int = 0):
    """The arrays along an axis, as a tuple.

    Args:
      x: array.
      axis: which is taken apart.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.unstack(xnp.asarray([[1, 2], [3, 4]]), axis=1)
    (Array([1, 3], dtype=int32), Array([2, 4], dtype=int32))
    """
    return _join.unstack(x, axis=axis)


@fused(1)
@spreads
@moves("operand")
def broadcast(operand, sizes, *, out_sharding=None):
    """New leading axes of the given sizes.

    Args:
      operand: array.
      sizes: of the new axes.
      out_sharding: how the result is laid out on devices.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.broadcast(xnp.asarray([1, 2]), (2,))
    Array([[1, 2],
           [1, 2]], dtype=int32)
    """
    x = as_array("lax.broadcast", operand)
    t, sizes = typeof(x), check_shape("lax.broadcast", sizes)
    return ops.broadcast_in_dim(
        x, shape=(*sizes, *t.shape), dims=tuple(range(len(sizes), len(sizes) + t.ndim))
    )


@fused(1)
@spreads
@moves("operand")
def broadcast_in_dim(operand, shape, broadcast_dimensions, *, out_sharding=None):
    """Axis i of the operand becomes axis ``broadcast_dimensions[i]`` of a larger shape.

    Args:
      operand: array.
      shape: of the result.
      broadcast_dimensions: for each axis of the operand its axis in the result, in ascending order.
      out_sharding: how the result is laid out on devices.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.broadcast_in_dim(xnp.asarray([1, 2]), (2, 3), (0,))
    Array([[1, 1, 1],
           [2, 2, 2]], dtype=int32)
    """
    who, x = "lax.broadcast_in_dim", as_array("lax.broadcast_in_dim", operand)
    dims = whole_numbers(who, "broadcast_dimensions", broadcast_dimensions, typeof(x).ndim)
    return ops.broadcast_in_dim(x, shape=check_shape(who, shape), dims=dims)


@fused(1)
@moves("array")
def expand_dims(array, dimensions):
    """New axes of length 1 at positions of the result.

    Args:
      array: array.
      dimensions: positions in the result.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.expand_dims(xnp.zeros((2, 3)), (0, 3)).shape
    (1, 2, 3, 1)
    """
    x = as_array("lax.expand_dims", array)
    t = typeof(x)
    dimensions = whole_numbers("lax.expand_dims", "dimensions", dimensions)
    ndim = t.ndim + len(dimensions)
    new = axes_of("lax.expand_dims", dimensions, ndim)
    sizes = iter(t.shape)
    return ops.reshape(x, shape=tuple(1 if i in new else next(sizes) for i in range(ndim)))


@fused(1)
@moves("array")
def squeeze(array, dimensions):
    """Without the given axes of length 1.

    Args:
      array: array.
      dimensions: axes, all of length 1.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.squeeze(xnp.zeros((1, 3, 1)), (0,)).shape
    (3, 1)
    """
    x = as_array("lax.squeeze", array)
    t = typeof(x)
    dimensions = whole_numbers("lax.squeeze", "dimensions", dimensions)
    gone = [one_axis("lax.squeeze", d, t.ndim) for d in dimensions]
    if any(t.shape[i] != 1 for i in gone):
        raise errors.bad_argument(
            "lax.squeeze", "dimensions", dimensions, f"axes of length 1 of {t}"
        )
    if len(set(gone)) < len(gone):
        raise errors.bad_argument("lax.squeeze", "dimensions", dimensions, "different axes")
    return ops.reshape(x, shape=tuple(n for i, n in enumerate(t.shape) if i not in gone))


@fused(1)
@moves("operands")
def concatenate(operands, dimension: int):
    """Arrays joined along an axis.

    Args:
      operands: arrays that agree in all other axes.
      dimension: which axis.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.concatenate([xnp.zeros(2), xnp.ones(1)], 0)
    Array([0., 0., 1.], dtype=float32)
    """
    xs = [as_array("lax.concatenate", x) for x in operands]
    if not xs:
        raise errors.bad_argument("lax.concatenate", "operands", operands, "one array or more")
    return ops.concatenate(*xs, axis=one_axis("lax.concatenate", dimension, typeof(xs[0]).ndim))


def _padding_of(config, ndim: int) -> tuple:
    """What stands before, behind and between, each for all axes."""
    try:
        low, high, interior = zip(*config, strict=True) if ndim or len(config) else ((), (), ())
        if len(low) == ndim:
            return tuple(low), tuple(high), tuple(interior)
    except (TypeError, ValueError):
        pass  # told below
    wanted = f"(low, high, interior) for each of the {ndim} axes of operand"
    raise errors.bad_argument("lax.pad", "padding_config", config, wanted)


@fused(2)
def pad(operand, padding_value, padding_config):
    """Padded by (low, high, interior) for each axis; negative low and high cut.

    Args:
      operand: array.
      padding_value: number.
      padding_config: for each axis (low, high, interior): before, behind, and between two elements.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.pad(xnp.asarray([1, 2, 3]), 0, [(1, -1, 1)])
    Array([0, 1, 0, 2, 0], dtype=int32)
    """
    x, value = as_array("lax.pad", operand), as_array("lax.pad", padding_value)
    check_alike("lax.pad", x, value)
    low, high, interior = _padding_of(padding_config, typeof(x).ndim)
    refuse_complex("lax.pad", value, typeof(x).dtype)
    return ops.pad(x, astype(value, typeof(x).dtype), low=low, high=high, interior=interior)


@boundary
def full(shape, fill_value, dtype=None, *, sharding=None):
    """An array of one value, on a device or laid out by a sharding if one is given.

    Args:
      shape: of the result.
      fill_value: number.
      dtype: of the result; by default that of the value.
      sharding: a sharding or a device.

    >>> import xcore as xc
    >>> xc.lax.full((2,), 7, "float32")
    Array([7., 7.], dtype=float32)
    """
    value = as_array("lax.full", fill_value)
    if dtype is not None:
        refuse_complex("lax.full", value, dtypes.as_dtype(dtype))
        value = astype(value, dtypes.as_dtype(dtype))
    out = ops.broadcast_in_dim(value, shape=check_shape("lax.full", shape), dims=())
    return on_device(out, sharding)


@boundary
@fills
def full_like(x, fill_value, dtype=None, shape=None, *, sharding=None):
    """An array of one value, in the shape and dtype of another.

    Args:
      x: array.
      fill_value: number.
      dtype, shape: what differs from x.
      sharding: a sharding or a device.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.full_like(xnp.zeros((2,), "int8"), 7)
    Array([7, 7], dtype=int8)
    """
    t = typeof(as_array("lax.full_like", x))
    shape = t.shape if shape is None else shape
    return full(shape, fill_value, dtype or t.dtype, sharding=sharding)


@boundary
def iota(dtype, size: int):
    """0, 1, …, size - 1.

    Args:
      dtype: of the result.
      size: its length.

    >>> import xcore as xc
    >>> xc.lax.iota("float32", 3)
    Array([0., 1., 2.], dtype=float32)
    """
    shape = check_shape("lax.iota", (size,), name="size")
    return ops.iota(shape=shape, dtype=dtypes.as_dtype(dtype), axis=0)


@boundary
@spreads
def broadcasted_iota(dtype, shape, dimension: int, *, out_sharding=None):
    """The index along one axis, at every position of an array.

    Args:
      dtype, shape: of the result.
      dimension: the axis.
      out_sharding: how the result is laid out on devices.

    >>> import xcore as xc
    >>> xc.lax.broadcasted_iota("int32", (2, 3), 1)
    Array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    shape = check_shape("lax.broadcasted_iota", shape)
    return ops.iota(
        shape=shape,
        dtype=dtypes.as_dtype(dtype),
        axis=one_axis("lax.broadcasted_iota", dimension, len(shape)),
    )
