"""Arrays of positions: grids, triangles and diagonals of matrices, flat and multi-dimensional indices."""

from __future__ import annotations

import math
import operator

import numpy as np

from .. import _ops as ops
from .._core import Value, dtypes, errors, from_numpy, fused, is_array_like, one_of, typeof
from ._creation import asarray
from ._elementwise import remainder
from ._join import concatenate, stack
from ._plan import refuse_known
from ._promote import as_array, as_arrays, astype, check_shape, concrete, result_dtype
from ._ranges import arange, linspace, meshgrid
from ._reduce import summed_dtype
from ._rounding import clip
from ._select import nonzero
from ._shape import expand_dims
from ._take import as_positions
from ._triangles import tri


def indices(dimensions, dtype=None, sparse=False):
    """The positions of a grid: one array of indices for each axis.

    Args:
      dimensions: the shape of the grid.
      dtype: the default int if not given.
      sparse: return a tuple of arrays that broadcast to the grid.

    >>> import xcore.numpy as xnp
    >>> xnp.indices((2, 2))[1]
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    dimensions = check_shape("numpy.indices", dimensions)
    axes = [arange(n, dtype=dtype or int) for n in dimensions]
    grid = tuple(meshgrid(*axes, sparse=bool(sparse), indexing="ij"))
    if sparse:
        return grid
    return stack(grid) if grid else asarray(np.zeros(0), dtype or int)


class _Grid:
    """``mgrid`` and ``ogrid``: grids written as slices.

    A slice start:stop:step is the numbers of an axis; with a complex step, start:stop:nj, they are n numbers from start
    to stop, which is included. ``mgrid`` gives one array of all coordinates, ``ogrid`` a tuple of arrays that
    broadcast to the grid.

    >>> import xcore.numpy as xnp
    >>> xnp.mgrid[0:2, 0:3]
    Array([[[0, 0, 0],
            [1, 1, 1]],
           [[0, 1, 2],
            [0, 1, 2]]], dtype=int32)
    >>> y, x = xnp.ogrid[0:2, 0:1:3j]
    >>> y.shape, x
    ((2, 1), Array([[0. , 0.5, 1. ]], dtype=float32))
    """

    def __init__(self, sparse: bool):
        self._sparse = sparse

    def __getitem__(self, key):
        if isinstance(key, slice):
            return _range_of(key)
        if not key:
            return () if self._sparse else asarray([], int)
        axes = [_range_of(k) for k in key]
        dtype, _ = result_dtype("numpy.mgrid", *axes)
        grid = tuple(
            meshgrid(*[astype(x, dtype) for x in axes], sparse=self._sparse, indexing="ij")
        )
        return grid if self._sparse else stack(grid)


def _range_of(s: slice):
    """The numbers of start:stop:step, or of start:stop:nj with n numbers, the end included."""
    start, stop = (concrete("numpy.mgrid", x) for x in (s.start or 0, s.stop))
    step = 1 if s.step is None else s.step
    if isinstance(step, complex):
        return linspace(start, stop, int(abs(step)))
    return arange(start, stop, step)


mgrid, ogrid = _Grid(False), _Grid(True)


class _Join:
    """``r_`` and ``c_``: joining arrays and ranges written as an index.

    ``r_`` joins along the first axis; ``c_`` makes columns of vectors, and joins along the last axis. A slice is a
    range, as in ``mgrid``. A text in front, "axis,ndim,place", says along which axis to join, how many axes each
    item has at least, and where its own axes stand among them.

    >>> import xcore.numpy as xnp
    >>> xnp.r_[1:4, 0, xnp.ones(2)]
    Array([1., 2., 3., 0., 1., 1.], dtype=float32)
    >>> xnp.c_[xnp.arange(3), xnp.ones(3)]
    Array([[0., 1.],
           [1., 1.],
           [2., 1.]], dtype=float32)
    >>> xnp.r_["0,2", [1, 2], [3, 4]]
    Array([[1, 2],
           [3, 4]], dtype=int32)
    """

    def __init__(self, axis: int, ndmin: int, place: int):
        self._axis, self._ndmin, self._place = axis, ndmin, place

    def __getitem__(self, key):
        items = key if isinstance(key, tuple) else (key,)
        axis, ndmin, place = self._axis, self._ndmin, self._place
        first = items[0] if items and isinstance(items[0], str) else None
        matrix = first in ("r", "c")
        if matrix:
            items = items[1:]
        elif first is not None:
            given, items = _directive(first), items[1:]
            axis, ndmin, place = given + (axis, ndmin, place)[len(given) :]
        out = concatenate([_piece(i, ndmin, place) for i in items], axis)
        if matrix and typeof(out).ndim == 1:
            return expand_dims(out, 0 if first == "r" else 1)
        return out


def _directive(text: str) -> tuple:
    """axis, least number of axes, and where new axes go, as far as a text such as '0,2,-1' gives them."""
    parts = text.split(",")
    try:
        numbers = [int(p) for p in parts]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 3:
        raise errors.bad_argument(
            "numpy.r_", "directive", text, "'r', 'c', or 1 to 3 ints as in '0,2,-1'"
        )
    return tuple(numbers)


def _piece(item, ndmin: int, place: int):
    x = (
        _range_of(item)
        if isinstance(item, slice)
        else as_array("numpy.r_", item if is_array_like(item) else asarray(item))
    )
    missing = ndmin - typeof(x).ndim
    if missing <= 0:
        return x
    # the axes of the item stand at ``place`` among those of the result
    at = place if place >= 0 else place + missing + 1
    new = [i for i in range(ndmin) if not at <= i < at + typeof(x).ndim]
    return expand_dims(x, tuple(new))


r_, c_ = _Join(0, 1, -1), _Join(-1, 2, 0)


class _IndexExpression:
    """``s_`` and ``index_exp``: an index as a value.

    ``index_exp`` gives a tuple of a single index too.

    >>> import xcore.numpy as xnp
    >>> xnp.s_[1:3, ...]
    (slice(1, 3, None), Ellipsis)
    >>> xnp.s_[2], xnp.index_exp[2]
    (2, (2,))
    >>> odd = xnp.s_[1::2]
    >>> xnp.arange(6)[odd]
    Array([1, 3, 5], dtype=int32)
    """

    def __init__(self, as_tuple: bool):
        self._as_tuple = as_tuple

    def __getitem__(self, key):
        return key if isinstance(key, tuple) or not self._as_tuple else (key,)


s_, index_exp = _IndexExpression(False), _IndexExpression(True)


def ix_(*args):
    """1-d arrays shaped so that together they index the grid they span; masks become positions.

    Args:
      *args: 1-d arrays or lists of integers or of booleans, one for each axis.

    >>> import xcore.numpy as xnp
    >>> xnp.arange(9).reshape(3, 3)[xnp.ix_(xnp.asarray([0, 2]), xnp.asarray([1, 2]))]
    Array([[1, 2],
           [7, 8]], dtype=int32)
    """
    out = []
    for i, x in enumerate(args):
        x = as_array(
            "numpy.ix_", x if is_array_like(x) else asarray(x if len(x) else np.zeros(0, np.int32))
        )
        if typeof(x).ndim != 1:
            raise errors.bad_argument("numpy.ix_", "each argument", x, "1-d")
        x = nonzero(x)[0] if typeof(x).dtype == bool else x
        out.append(
            ops.reshape(x, shape=tuple(typeof(x).size if j == i else 1 for j in range(len(args))))
        )
    return tuple(out)


# Triangles and diagonals


def _on_host(positions) -> tuple:
    dtype = dtypes.default_dtype("int")
    return tuple(from_numpy(p.astype(dtype)) for p in positions)


def tril_indices(n, k=0, m=None):
    """The positions on and below a diagonal of a matrix of n rows and m columns.

    Args:
      n: int; rows.
      k: int; the diagonal: 0 is the main one, above it are positive numbers.
      m: int; columns, as many as rows by default.

    >>> import xcore.numpy as xnp
    >>> xnp.tril_indices(2)
    (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
    """
    n, k, m = (
        operator.index(concrete("numpy.tril_indices", x)) for x in (n, k, n if m is None else m)
    )
    return _on_host(np.tril_indices(n, k, m))


def triu_indices(n, k=0, m=None):
    """The positions on and above a diagonal of a matrix of n rows and m columns.

    Args:
      n: int; rows.
      k: int; the diagonal: 0 is the main one, above it are positive numbers.
      m: int; columns, as many as rows by default.

    >>> import xcore.numpy as xnp
    >>> xnp.triu_indices(2)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    n, k, m = (
        operator.index(concrete("numpy.triu_indices", x)) for x in (n, k, n if m is None else m)
    )
    return _on_host(np.triu_indices(n, k, m))


def _matrix_shape(who: str, x) -> tuple:
    shape = np.shape(x)
    if len(shape) != 2:
        raise errors.bad_argument(who, "arr", x, "a matrix")
    return shape


def tril_indices_from(arr, k=0):
    """The positions on and below a diagonal of a matrix like ``arr``.

    Args:
      arr: matrix, of which only the shape matters.
      k: int; the diagonal: 0 is the main one, above it are positive numbers.

    >>> import xcore.numpy as xnp
    >>> xnp.tril_indices_from(xnp.zeros((2, 2)))[0]
    Array([0, 1, 1], dtype=int32)
    """
    n, m = _matrix_shape("numpy.tril_indices_from", arr)
    return tril_indices(n, k, m)


def triu_indices_from(arr, k=0):
    """The positions on and above a diagonal of a matrix like ``arr``.

    Args:
      arr: matrix, of which only the shape matters.
      k: int; the diagonal: 0 is the main one, above it are positive numbers.

    >>> import xcore.numpy as xnp
    >>> xnp.triu_indices_from(xnp.zeros((2, 2)))[0]
    Array([0, 0, 1], dtype=int32)
    """
    n, m = _matrix_shape("numpy.triu_indices_from", arr)
    return triu_indices(n, k, m)


def diag_indices(n, ndim=2):
    """The positions of the main diagonal of an array with ``ndim`` axes of length n.

    Args:
      n: int; length of each axis.
      ndim: int; how many axes.

    >>> import xcore.numpy as xnp
    >>> xnp.diag_indices(2)
    (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    return (arange(operator.index(n)),) * operator.index(ndim)


def diag_indices_from(arr):
    """The positions of the main diagonal of an array whose axes have one length.

    Args:
      arr: array of two or more axes.

    >>> import xcore.numpy as xnp
    >>> xnp.diag_indices_from(xnp.zeros((2, 2)))[0]
    Array([0, 1], dtype=int32)
    """
    shape = np.shape(arr)
    if len(shape) < 2 or len(set(shape)) != 1:
        raise errors.bad_argument(
            "numpy.diag_indices_from", "arr", arr, "of 2 or more axes of equal lengths"
        )
    return diag_indices(shape[0], len(shape))


def mask_indices(n, mask_func, k=0, *, size=None):
    """The positions that a function such as ``triu`` keeps of an n × n matrix.

    Args:
      n: number of rows.
      mask_func: a function of a matrix and k.
      k: passed on to it.
      size: how many positions, where the function gives traced values.

    >>> import xcore.numpy as xnp
    >>> xnp.mask_indices(2, xnp.triu)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    return nonzero(mask_func(tri(n, k=n), k), size=size)


# Flat and multi-dimensional


def unravel_index(indices, shape, order="C"):
    """Positions in a flattened array as an index for each axis.

    Args:
      indices: array of integers; negative ones count from the end. Python's and NumPy's out of range raise an
        IndexError; those on a device are clipped.
      shape: the shape of the array.
      order: "C" if the last index changes fastest, "F" if the first one does.

    >>> import xcore.numpy as xnp
    >>> xnp.unravel_index(xnp.asarray([1, 5]), (2, 3))
    (Array([0, 1], dtype=int32), Array([1, 2], dtype=int32))
    """
    shape = check_shape("numpy.unravel_index", shape)
    one_of("numpy.unravel_index", "order", order, ("C", "F"), "'C' or 'F'")
    step = 1 if order == "C" else -1
    refuse_known(np.broadcast_to(0, shape), indices)
    flat = as_positions("numpy.unravel_index", indices)
    return tuple(_unravel(flat, shape[::step])[::step])


@fused(1)
def _unravel(flat, shape):
    size = math.prod(shape)
    if not size and typeof(flat).size:
        raise errors.bad_argument(
            "numpy.unravel_index", "shape", shape, "of an array with elements"
        )
    t = typeof(flat).dtype
    top = min(size - 1, dtypes.iinfo(t).max)
    flat = clip(flat, max(-size, dtypes.iinfo(t).min), top)
    out = []
    for n in reversed(shape):
        out.append(remainder(flat, n))
        flat = flat // n
    return out[::-1]


def ravel_multi_index(multi_index, dims, mode="raise", order="C", *, dtype=None):
    """An index for each axis as positions in the flattened array.

    Args:
      multi_index: arrays of integers, one for each axis.
      dims: the shape of the array.
      mode: what indices out of range do: "clip", "wrap", "ignore" (they are taken as they are), or
        "raise", which needs concrete ones; one mode, or one for each axis.
      order: "C" or "F".
      dtype: of the result.

    >>> import xcore.numpy as xnp
    >>> xnp.ravel_multi_index((xnp.asarray([0, 1]), xnp.asarray([1, 2])), (2, 3))
    Array([1, 5], dtype=int32)
    """
    who = "numpy.ravel_multi_index"
    dims = check_shape(who, dims)
    arrays = [as_positions(who, i) for i in multi_index]
    if len(arrays) != len(dims):
        raise errors.bad_argument(who, "multi_index", len(arrays), f"{len(dims)} arrays")
    modes = (mode,) * len(dims) if isinstance(mode, str) else tuple(mode)
    for x, n, m in zip(arrays, dims, modes, strict=True):
        if m not in ("raise", "clip", "wrap", "ignore"):
            raise errors.bad_argument(who, "mode", m, "'raise', 'clip', 'wrap' or 'ignore'")
        if m == "raise":
            _check_inside(who, x, n)
    one_of(who, "order", order, ("C", "F"), "'C' or 'F'")
    return _ravel(
        arrays, dims, modes, order == "F", None if dtype is None else dtypes.as_dtype(dtype)
    )


def _check_inside(who: str, x, n: int) -> None:
    if isinstance(x, Value) and not hasattr(x, "_t"):
        raise errors.no_concrete_value(
            x, f"concrete indices in {who} (or mode='clip', 'wrap')", x.origin()
        )
    host = np.asarray(x)
    if host.size and (host.min() < 0 or host.max() >= n):
        raise errors.bad_argument(who, "multi_index", x, f"between 0 and {n - 1} along its axis")


@fused(1)
def _ravel(arrays, dims, modes, fortran, dtype):
    arrays = as_arrays("numpy.ravel_multi_index", *arrays)
    dtype = dtype or (dtypes.int64 if math.prod(dims) > 2**31 else dtypes.default_dtype("int"))
    total, stride = None, 1
    steps = list(zip(arrays, dims, modes, strict=True))
    for x, n, m in steps if fortran else reversed(steps):
        x = remainder(x, n) if m == "wrap" else clip(x, 0, n - 1) if m == "clip" else x
        x = astype(x, dtype) * stride
        total = x if total is None else total + x
        stride *= n
    return total


@fused(1)
def vander(x, N=None, increasing=False):
    """The matrix whose columns are powers of a vector.

      V_(i,k) = x_i^(n-1-k)

    of n columns; x_iᵏ where ``increasing``. Of small integers they have the default width.

    Args:
      x: 1-d array.
      N: number of columns; that of rows if not given.
      increasing: start with the power 0.

    >>> import xcore.numpy as xnp
    >>> xnp.vander(xnp.arange(3))
    Array([[0, 0, 1],
           [1, 1, 1],
           [4, 2, 1]], dtype=int32)
    """
    x = as_array("numpy.vander", x)
    x = astype(x, summed_dtype(typeof(x), None, promote=True))
    if typeof(x).ndim != 1:
        raise errors.bad_argument("numpy.vander", "x", x, "1-d")
    count = typeof(x).size if N is None else operator.index(N)
    if count < 0:
        raise errors.bad_argument("numpy.vander", "N", N, "0 or more")
    t = typeof(x)
    if not count:
        return ops.zeros(t.strong().with_shape((t.size, 0)))
    shape = (t.size, count - 1)
    rows = ops.broadcast_in_dim(x, shape=shape, dims=(0,))
    ones = ops.ones(t.with_shape((t.size, 1)))
    powers = ops.cumprod(ops.concatenate(ones, rows, axis=1), axis=1)
    return powers if increasing else ops.rev(powers, axes=(1,))
