"""Diagonals and triangles of matrices."""

from __future__ import annotations

import operator

from .. import _ops as ops
from .._core import ArrayType, dtypes, errors, fused, is_traced, typeof
from ._placement import on_device
from ._promote import as_array, astype, broadcast_to, check_shape, dtype_or


def eye(N, M=None, k=0, dtype=None, *, device=None):
    """A matrix with ones on a diagonal.

    Args:
      N, M: its numbers of rows and columns (M defaults to N).
      k: which diagonal; positive ones lie above the main one.
      dtype: defaults to the default float.
      device: where the array shall live.

    >>> import xcore.numpy as xnp
    >>> xnp.eye(2)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    shape = check_shape("numpy.eye", (N, N if M is None else M), name="N and M")
    return on_device(
        _eye(shape, _diagonal("numpy.eye", k, shape), dtype_or(dtype, "float")), device
    )


@fused(0)
def _eye(shape, k, dtype):
    return ops.convert(ops.eq(*_shifted_rows_and_columns(shape, k)), dtype=dtype)


def _diagonal(who: str, k, shape):
    """The index of a diagonal, clipped to the corners. A traced one becomes int32."""
    rows, columns = shape
    if is_traced(k):
        if not dtypes.is_integer(typeof(k).dtype):
            raise errors.dtype_not_allowed(f"{who} (k)", typeof(k).dtype, "integer")
        return astype(k, dtypes.int32)
    return max(-rows, min(columns, operator.index(k)))


def _shifted_rows_and_columns(shape, k):
    """Row numbers + k and column numbers: equal on the k-th diagonal, the first larger below it."""
    rows, columns = [ops.iota(shape=shape, dtype=dtypes.int32, axis=i) for i in (0, 1)]
    by = broadcast_to(k, shape) if is_traced(k) else ops.full_like_type(typeof(rows), k)
    return ops.add(rows, by), columns


def identity(n, dtype=None):
    """The identity matrix of n rows.

    Args:
      n: int; rows and columns.
      dtype: of the elements, the default float if not given.

    >>> import xcore.numpy as xnp
    >>> xnp.identity(2)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return eye(n, dtype=dtype)


def _lower_mask(shape, k):
    """True on and below the k-th diagonal."""
    return ops.ge(*_shifted_rows_and_columns(shape, k))


def tri(N, M=None, k=0, dtype=None):
    """Ones on and below a diagonal, zeros above.

    Args:
      N, M: the numbers of rows and columns (M defaults to N).
      k: which diagonal.
      dtype: defaults to the default float.

    >>> import xcore.numpy as xnp
    >>> xnp.tri(2)
    Array([[1., 0.],
           [1., 1.]], dtype=float32)
    """
    shape = tuple(max(n, 0) for n in check_shape("numpy.tri", (N, N if M is None else M), -(2**63)))
    return _tri(shape, _diagonal("numpy.tri", k, shape), dtype_or(dtype, "float"))


@fused(0)
def _tri(shape, k, dtype):
    return ops.convert(_lower_mask(shape, k), dtype=dtype)


def _triangle(name, m, k, lower: bool):
    who = f"numpy.{name}"
    m = as_array(who, m)
    t = typeof(m)
    if t.ndim < 2:
        raise errors.bad_argument(who, "m", m, "a matrix, or a stack of them")
    mask = broadcast_to(
        _lower_mask(t.shape[-2:], _diagonal(who, k, t.shape[-2:]) - (not lower)), t.shape
    )
    zero = ops.zeros(t)
    return ops.select(mask, m, zero) if lower else ops.select(mask, zero, m)


@fused(1)
def tril(m, k=0):
    """A matrix with zeros above a diagonal.

    Args:
      m: a matrix, or a stack of matrices in the last two axes.
      k: which diagonal.

    >>> import xcore.numpy as xnp
    >>> xnp.tril(xnp.ones((2, 2)))
    Array([[1., 0.],
           [1., 1.]], dtype=float32)
    """
    return _triangle("tril", m, k, True)


@fused(1)
def triu(m, k=0):
    """A matrix with zeros below a diagonal.

    Args:
      m: a matrix, or a stack of matrices in the last two axes.
      k: which diagonal.

    >>> import xcore.numpy as xnp
    >>> xnp.triu(xnp.ones((2, 2)))
    Array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    return _triangle("triu", m, k, False)


@fused(1)
def diag(v, k=0):
    """The diagonal of a matrix, or the matrix with a given diagonal.

    Args:
      v: a matrix, or a vector.
      k: which diagonal.

    >>> import xcore.numpy as xnp
    >>> xnp.diag(xnp.arange(1, 3))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    """
    v = as_array("numpy.diag", v)
    t = typeof(v)
    if t.ndim == 2:
        return diagonal_of(v, operator.index(k))
    if t.ndim != 1:
        raise errors.bad_argument("numpy.diag", "v", v, "a vector or a matrix")
    n, k = t.shape[0] + abs(k), operator.index(k)
    # row i holds v[i - max(-k, 0)] in column i + k
    row = ops.pad(
        v,
        ops.zeros(ArrayType((), t.dtype, t.weak)),
        low=(max(-k, 0),),
        high=(max(k, 0),),
        interior=(0,),
    )
    on_it = ops.eq(*_shifted_rows_and_columns((n, n), k))
    spread = ops.broadcast_in_dim(row, shape=(n, n), dims=(0,))
    return ops.select(on_it, spread, ops.zeros(typeof(spread)))


def diagonal_of(x, k: int):
    """The k-th diagonal of the last two axes: one strided slice of the flattened matrix."""
    t = typeof(x)
    *lead, rows, columns = t.shape
    first = k if k >= 0 else -k * columns
    n = max(min(rows - max(-k, 0), columns - max(k, 0)), 0)
    if not n:
        return ops.zeros(ArrayType((*lead, 0), t.dtype))
    flat = ops.reshape(x, shape=(*lead, rows * columns))
    stop = first + (n - 1) * (columns + 1) + 1
    zero = (0,) * len(lead)
    one = (1,) * len(lead)
    return ops.slice(flat, start=(*zero, first), limit=(*lead, stop), strides=(*one, columns + 1))


def diagflat(v, k=0):
    """The matrix whose diagonal holds all elements of an array.

    Args:
      v: an array, flattened first.
      k: which diagonal.

    >>> import xcore.numpy as xnp
    >>> xnp.diagflat(xnp.ones((1, 2)))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    v = as_array("numpy.diagflat", v)
    return diag(ops.reshape(v, shape=(typeof(v).size,)), k)
