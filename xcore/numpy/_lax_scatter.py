"""``xcore.lax``: gather and scatter with dimension numbers, and small shapes of other functions."""

from __future__ import annotations

import enum
import math
import operator
from typing import NamedTuple

import numpy as np

from .. import _ops as ops
from .._control.checks import check_rows
from .._core import boundary, dtypes, errors, findings, fused, typeof
from .._ops.slicing import GatherDims, ScatterDims, as_gather
from ._creation import zeros
from ._plan import mode_of
from ._promote import as_array, as_arrays, broadcast_shapes, one_axis, whole_numbers  # noqa: F401

# gather and scatter


class GatherScatterMode(enum.Enum):
    """What becomes of windows that do not fit.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> elements = xc.lax.GatherDimensionNumbers((), (0,), (0,))
    >>> for mode in (xc.lax.GatherScatterMode.CLIP, xc.lax.GatherScatterMode.FILL_OR_DROP):
    ...     print(xc.lax.gather(xnp.arange(3.0), xnp.asarray([[1], [7]]), elements, (1,), mode=mode))
    [1. 2.]
    [ 1. nan]
    """

    CLIP = 0
    FILL_OR_DROP = 1
    PROMISE_IN_BOUNDS = 2

    @classmethod
    def from_any(cls, mode):
        """The member that a name, a member or None (``FILL_OR_DROP``) stands for."""
        names = {"clip": cls.CLIP, "fill": cls.FILL_OR_DROP, "promise": cls.PROMISE_IN_BOUNDS}
        return names[mode_of(mode, "fill")]


class GatherDimensionNumbers(NamedTuple):
    """Which axes of ``gather`` mean what.

    Args:
      offset_dims: axes of the result that run within a window.
      collapsed_slice_dims: axes of the operand along which a window has one element, and which go.
      start_index_map: the axis of the operand that each column of the indices is for.
      operand_batching_dims, start_indices_batching_dims: axes that run together.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> rows = xc.lax.GatherDimensionNumbers((1,), (0,), (0,))
    >>> xc.lax.gather(xnp.eye(3), xnp.asarray([[2], [0]]), rows, (1, 3))
    Array([[0., 0., 1.],
           [1., 0., 0.]], dtype=float32)
    """

    offset_dims: tuple
    collapsed_slice_dims: tuple
    start_index_map: tuple
    operand_batching_dims: tuple = ()
    start_indices_batching_dims: tuple = ()


class ScatterDimensionNumbers(NamedTuple):
    """Which axes of ``scatter`` mean what.

    Args:
      update_window_dims: axes of the updates that run within a window.
      inserted_window_dims: axes of the operand along which a window has one element.
      scatter_dims_to_operand_dims: the axis of the operand that each column of the indices is for.
      operand_batching_dims, scatter_indices_batching_dims: axes that run together.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> elements = xc.lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> xc.lax.scatter_add(xnp.zeros(3), xnp.asarray([[1], [1]]), xnp.ones(2), elements)
    Array([0., 2., 0.], dtype=float32)
    """

    update_window_dims: tuple
    inserted_window_dims: tuple
    scatter_dims_to_operand_dims: tuple
    operand_batching_dims: tuple = ()
    scatter_indices_batching_dims: tuple = ()


def _dims(made, who: str, numbers):
    """The dimension numbers of a call, whose axes must be integers."""
    try:
        return made(*[tuple(map(operator.index, axes)) for axes in numbers])
    except TypeError:
        wanted = f"{len(numbers)} tuples of integers, the numbers of axes"
        raise errors.bad_argument(who, "dimension_numbers", numbers, wanted) from None


@boundary
def gather(operand, start_indices, dimension_numbers, slice_sizes, *, unique_indices: bool = False,
           indices_are_sorted: bool = False, mode=None, fill_value=None):  # fmt: skip
    """A window of ``operand`` for each row of ``start_indices``.

    Args:
      operand: array.
      start_indices: integers; the last axis holds the starts of one window.
      dimension_numbers: a ``GatherDimensionNumbers``.
      slice_sizes: the window's length along each axis of the operand.
      unique_indices, indices_are_sorted: promises about the indices.
      mode: "clip" (default: windows that do not fit are moved inside), "fill" (they are
        ``fill_value``) or "promise_in_bounds".
      fill_value: default NaN, or the largest integer (smallest if signed).

    >>> import xcore.numpy as xnp
    >>> from xcore import lax
    >>> rows = lax.GatherDimensionNumbers((1,), (0,), (0,))
    >>> lax.gather(xnp.eye(3), xnp.asarray([[2], [0]]), rows, (1, 3))
    Array([[0., 0., 1.],
           [1., 0., 0.]], dtype=float32)
    """
    x, indices = as_array("lax.gather", operand), as_array("lax.gather", start_indices)
    dims = _dims(GatherDims, "lax.gather", dimension_numbers)
    if mode is None and findings.checks_positions():
        check_rows(indices, dims, typeof(x).shape, slice_sizes)
    return ops.gather(
        x, indices, dims=dims, sizes=tuple(slice_sizes),
        mode=mode_of(mode, "clip"), fill_value=fill_value, unique=bool(unique_indices),
        sorted=bool(indices_are_sorted),
    )  # fmt: skip


_SCATTERED = """

    Args:
      operand: array.
      scatter_indices: integers; the last axis holds the start of one window.
      updates: the windows, in the dtype of the operand.
      dimension_numbers: a ``ScatterDimensionNumbers``.
      indices_are_sorted, unique_indices: promises about the indices.
      mode: "fill" (default: windows that do not fit are left out), "clip" (they are moved inside) or
        "promise_in_bounds".

    >>> import xcore as xc, xcore.numpy as xnp
    >>> rows = xc.lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> x, at, new = xnp.ones(3) * 2, xnp.asarray([[2], [0]]), xnp.asarray([5.0, 6.0])
    >>> """


def _scatter(name: str, how: str, doc: str, result: str):
    def f(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False,
          unique_indices=False, mode=None):  # fmt: skip
        indices = as_array(f"lax.{name}", scatter_indices)
        x, u = as_array(f"lax.{name}", operand), as_array(f"lax.{name}", updates)
        if typeof(x).dtype != typeof(u).dtype:
            raise errors.dtype_mismatch(f"lax.{name}", operand=typeof(x), updates=typeof(u))
        if how == "sub":
            u = ops.neg(u)
        dims = _dims(ScatterDims, f"lax.{name}", dimension_numbers)
        if mode is None and findings.checks_positions():
            check_rows(indices, dims, typeof(x).shape, as_gather(typeof(x), typeof(u), dims)[1])
        return ops.scatter(
            x, indices, u, dims=dims, how="add" if how == "sub" else how,
            mode=mode_of(mode, "fill"), unique=bool(unique_indices), sorted=bool(indices_are_sorted),
        )  # fmt: skip

    f.__name__ = f.__qualname__ = name
    f.__module__ = "xcore.lax"
    f.__doc__ = f"{doc}{_SCATTERED}xc.lax.{name}(x, at, new, rows)\n    {result}\n    "
    return boundary(f)


@boundary
def scatter_apply(operand, scatter_indices, func, dimension_numbers, *, update_shape=(),
                  indices_are_sorted=False, unique_indices=False, mode=None):  # fmt: skip
    """A function applied to the windows of an array that rows of indices name, each window once.

    Args:
      operand: array.
      scatter_indices: rows of integers, the positions of windows.
      func: function of an array of the windows, which returns one of the same shape.
      dimension_numbers: a ``ScatterDimensionNumbers``.
      update_shape: the shape that updates would have.
      indices_are_sorted, unique_indices, mode: as for ``scatter``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> dims = xc.lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> at = xnp.asarray([[0], [2]])
    >>> xc.lax.scatter_apply(xnp.arange(3.0), at, lambda x: x + 10, dims, update_shape=(2,))
    Array([10.,  1., 12.], dtype=float32)
    """
    x, indices = (
        as_array("lax.scatter_apply", operand),
        as_array("lax.scatter_apply", scatter_indices),
    )
    dims = _dims(ScatterDims, "lax.scatter_apply", dimension_numbers)
    rank = typeof(indices).ndim - 1 + len(dims.offset)
    shape = whole_numbers("lax.scatter_apply", "update_shape", update_shape, rank)
    into, sizes = as_gather(typeof(x), typeof(x).with_shape(shape), dims)
    windows = ops.gather(x, indices, dims=into, sizes=sizes, mode=mode_of(mode, "clip"))
    new = as_array("lax.scatter_apply", func(windows))
    if typeof(new).shape != typeof(windows).shape:
        raise errors.bad_argument(
            "lax.scatter_apply",
            "func",
            typeof(new),
            f"a function that keeps the shape {typeof(windows).shape}",
        )
    return scatter(
        x, indices, ops.convert(new, dtype=typeof(x).dtype), dimension_numbers,
        indices_are_sorted=indices_are_sorted, unique_indices=unique_indices, mode=mode,
    )  # fmt: skip


# fmt: off
scatter = _scatter("scatter", "set", "The array with windows replaced.", "Array([6., 2., 5.], dtype=float32)")
scatter_add = _scatter("scatter_add", "add", "The array with updates added to its windows.",
                       "Array([8., 2., 7.], dtype=float32)")
scatter_sub = _scatter("scatter_sub", "sub", "The array with updates subtracted from its windows.",
                       "Array([-4.,  2., -3.], dtype=float32)")
scatter_mul = _scatter("scatter_mul", "mul", "The array with its windows multiplied by updates.",
                       "Array([12.,  2., 10.], dtype=float32)")
scatter_min = _scatter("scatter_min", "min", "The array, in its windows the smaller of element and update.",
                       "Array([2., 2., 2.], dtype=float32)")
scatter_max = _scatter("scatter_max", "max", "The array, in its windows the larger of element and update.",
                       "Array([6., 2., 5.], dtype=float32)")
# fmt: on


@boundary
def index_take(src, idxs, axes):
    """Slices of length 1 along ``axes`` at the positions ``idxs`` (an array for each axis), as rows.

    Args:
      src: array.
      idxs: a tuple of integer vectors, one for each of the axes.
      axes: which are indexed.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> x = xnp.asarray([[1, 2, 3], [4, 5, 6]])
    >>> xc.lax.index_take(x, (xnp.asarray([0, 1]), xnp.asarray([2, 0])), (0, 1))
    Array([3, 4], dtype=int32)
    """
    x = as_array("lax.index_take", src)
    axes = whole_numbers("lax.index_take", "axes", axes)
    if len(idxs) != len(axes):
        found = errors.Words(f"{len(idxs)} of them")
        raise errors.bad_argument(
            "lax.index_take", "idxs", found, f"one for each of the axes {axes}"
        )
    columns = [
        ops.reshape(as_array("lax.index_take", i), shape=(*typeof(i).shape, 1)) for i in idxs
    ]
    indices = ops.concatenate(*columns, axis=1)
    t, n = typeof(indices), typeof(x).ndim
    ends = np.asarray([typeof(x).shape[a] for a in axes], t.dtype)
    ends = ops.broadcast_in_dim(ops.constant(ends), shape=t.shape, dims=(1,))
    if dtypes.kind(t.dtype) == "int":  # negative positions count from the end
        indices = ops.select(ops.lt(indices, ops.zeros(t)), ops.add(indices, ends), indices)
    sizes = tuple(1 if a in axes else s for a, s in enumerate(typeof(x).shape))
    dims = GatherDims(range(1, n - len(axes) + 1), tuple(sorted(axes)), tuple(axes))
    return ops.gather(x, indices, dims=dims, sizes=sizes, mode="clip")


# shapes


def broadcast_to_rank(x, rank: int):
    """x with axes of length 1 in front, so that it has ``rank`` axes.

    Args:
      x: array.
      rank: number of axes of the result.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.broadcast_to_rank(xnp.zeros((2, 3)), 4).shape
    (1, 1, 2, 3)
    """
    x = as_array("lax.broadcast_to_rank", x)
    shape = typeof(x).shape
    if rank < len(shape):
        raise errors.bad_argument("lax.broadcast_to_rank", "rank", rank, f"{len(shape)} or more")
    return ops.reshape(x, shape=(*[1] * (rank - len(shape)), *shape))


def collapse(operand, start_dimension: int, stop_dimension: int | None = None):
    """Axes from ``start_dimension`` up to ``stop_dimension`` as one.

    Args:
      operand: array.
      start_dimension, stop_dimension: as in a slice of the shape.

    >>> import xcore.numpy as xnp
    >>> from xcore import lax
    >>> lax.collapse(xnp.zeros((2, 3, 4)), 1).shape
    (2, 12)
    """
    x = as_array("lax.collapse", operand)
    shape = typeof(x).shape
    low, high, _ = slice(start_dimension, stop_dimension).indices(len(shape))
    if low >= high:
        return ops.reshape(x, shape=(*shape[:low], 1, *shape[low:])) if low == high else x
    return ops.reshape(x, shape=(*shape[:low], math.prod(shape[low:high]), *shape[high:]))


@boundary
def split(operand, sizes, axis: int = 0) -> list:
    """Parts of the given lengths along an axis.

    Args:
      operand: array.
      sizes: lengths that add up to that of the axis.
      axis: which.

    >>> import xcore.numpy as xnp
    >>> from xcore import lax
    >>> [p.shape for p in lax.split(xnp.zeros(5), (2, 3))]
    [(2,), (3,)]
    """
    x = as_array("lax.split", operand)
    shape = typeof(x).shape
    axis = one_axis("lax.split", axis, len(shape))
    sizes = whole_numbers("lax.split", "sizes", sizes)
    if sum(sizes) != shape[axis] or min(sizes, default=0) < 0:
        raise errors.bad_argument(
            "lax.split", "sizes", tuple(sizes), f"lengths that add up to {shape[axis]}"
        )
    stops = np.cumsum(sizes).tolist()
    return [
        ops.slice_along(x, axis, stop - size, stop) for size, stop in zip(sizes, stops, strict=True)
    ]


def dtype(x) -> np.dtype:
    """The dtype of an array, or the one that a Python number would get; of a dtype itself.

    Args:
      x: array, number, or dtype.

    >>> import xcore as xc
    >>> xc.lax.dtype(1.5)
    dtype('float32')
    """
    if isinstance(x, (np.dtype, type)):
        return dtypes.as_dtype(x)
    return typeof(as_array("lax.dtype", x)).dtype


def empty(shape, dtype=None, *, out_sharding=None):
    """An array whose content does not matter (zeros, in fact).

    Args:
      shape, dtype: of the result.
      out_sharding: how it is laid out on devices.

    >>> import xcore as xc
    >>> xc.lax.empty((2, 3)).shape
    (2, 3)
    """
    return zeros(shape, dtype, out_sharding=out_sharding)


# others


@fused(2)
def mulhi(x, y):
    """The upper half of the digits of a product of integers of twice the width.

    Args:
      x, y: integers of one shape and dtype.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.mulhi(xnp.asarray([2**31 - 1]), xnp.asarray([4]))
    Array([1], dtype=int32)
    """
    return ops.mulhi(*as_arrays("lax.mulhi", x, y))


@boundary
def approx_max_k(operand, k: int, reduction_dimension: int = -1, **_):
    """The k largest elements along an axis and their positions (exact on every platform).

    Args:
      operand: array.
      k: how many.
      reduction_dimension: along which axis.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.approx_max_k(xnp.asarray([3.0, 9.0, 5.0]), 2)
    [Array([9., 5.], dtype=float32), Array([1, 2], dtype=int32)]
    """
    return _top(operand, k, reduction_dimension, lambda x: x)


@boundary
def approx_min_k(operand, k: int, reduction_dimension: int = -1, **_):
    """The k smallest elements along an axis and their positions (exact on every platform).

    Args:
      operand: array.
      k: how many.
      reduction_dimension: along which axis.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.approx_min_k(xnp.asarray([3.0, 9.0, 5.0]), 2)
    [Array([3., 5.], dtype=float32), Array([0, 2], dtype=int32)]
    """
    return _top(operand, k, reduction_dimension, ops.neg)


def _top(operand, k: int, axis: int, signed) -> list:
    x = as_array("lax.approx_max_k", operand)
    axis = one_axis("lax.approx_max_k", axis, typeof(x).ndim)
    last = typeof(x).ndim - 1
    values, indices = ops.top_k(ops.move_axis(signed(x), axis, last), k=k)
    return [ops.move_axis(signed(values), last, axis), ops.move_axis(indices, last, axis)]
