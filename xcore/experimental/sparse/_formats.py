"""Functions of arrays row by row and of matrices by rows and columns, and arrays made of nothing."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, overload

import numpy as np

from ... import numpy as xnp
from ... import random
from ..._core import Array, ArrayLike, DTypeLike, Key, Shape, errors, one_of
from ._arrays import BCOO, BCSR, COO, CSC, CSR, JAXSparse
from ._functions import (
    bcoo_broadcast_in_dim,
    bcoo_concatenate,
    bcoo_dot_general,
    bcoo_extract,
    bcoo_fromdense,
)
from ._places import WHO, as_dense, batched, check_holds, shape_of, whole


def todense(arr: Any) -> Array:
    """The dense array; dense arrays as they are.

    Args:
      arr: sparse or dense array.

    >>> todense(BCOO.fromdense([0.0, 3.0])), todense([1.0])
    (Array([0., 3.], dtype=float32), Array([1.], dtype=float32))
    """
    return as_dense(arr)


# Row by row


def bcsr_fromdense(
    mat: ArrayLike, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0, index_dtype: DTypeLike = np.int32
) -> BCSR:  # fmt: skip
    """The sparse array, row by row, of the elements that are not zero.

    Args:
      mat: dense array, two of whose axes are sparse.
      nse: how many values to store, of each batch element; a traced array needs it.
      n_batch: how many axes in front are a batch.
      n_dense: how many axes behind are stored whole.
      index_dtype: dtype of the indices.

    >>> bcsr_fromdense([[0.0, 3.0], [4.0, 0.0]]).indptr.tolist()
    [0, 1, 2]
    """
    return BCSR.fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)


def bcsr_todense(mat: BCSR) -> Array:
    """The dense array.

    Args:
      mat: sparse array, row by row.

    >>> bcsr_todense(bcsr_fromdense([[0.0, 3.0]]))
    Array([[0., 3.]], dtype=float32)
    """
    return _a(BCSR, "bcsr_todense", mat).todense()


def bcsr_dot_general(
    lhs: Any, rhs: Any, *, dimension_numbers: Any, precision: Any = None,
    preferred_element_type: DTypeLike | None = None, out_sharding: None = None,
) -> Array | JAXSparse:  # fmt: skip
    """``lax.dot_general`` of an array row by row and a dense one.

    Args:
      lhs, rhs: arrays, one of which is sparse at least.
      dimension_numbers: ((axes of lhs, axes of rhs to sum over), (batch axes of lhs, of rhs)).
      precision: of products that go by the dense array.
      preferred_element_type: dtype of the result.
      out_sharding: accepted, of no effect.

    >>> m = bcsr_fromdense([[0.0, 3.0], [4.0, 0.0]])
    >>> bcsr_dot_general(m, xnp.asarray([1.0, 2.0]), dimension_numbers=(((1,), (0,)), ((), ())))
    Array([6., 4.], dtype=float32)
    """
    return bcoo_dot_general(
        lhs, rhs, dimension_numbers=dimension_numbers, precision=precision,
        preferred_element_type=preferred_element_type,
    )  # fmt: skip


def bcsr_extract(indices: ArrayLike, indptr: ArrayLike, mat: ArrayLike) -> Array:
    """The elements of a dense array at the places of one row by row.

    Args:
      indices: (batch…, nse), columns of the values.
      indptr: (batch…, rows + 1), where rows begin.
      mat: dense array.

    >>> bcsr_extract([1, 0], [0, 1, 2], [[1.0, 2.0], [3.0, 4.0]])
    Array([2., 3.], dtype=float32)
    """
    at, mat = xnp.asarray(indices), xnp.asarray(mat)
    data = xnp.zeros((*at.shape, *mat.shape[at.ndim + 1 :]), mat.dtype)
    places = BCSR((data, at, indptr), shape=mat.shape).to_bcoo()
    return bcoo_extract(places, mat, assume_unique=True).data


def bcsr_sum_duplicates(mat: BCSR, nse: int | None = None, remove_zeros: bool = True) -> BCSR:
    """With one value for each place, in ascending order.

    Args:
      mat: sparse array, row by row.
      nse: how many values to store.
      remove_zeros: leave out values that are 0; these then have no derivatives.

    >>> bcsr_sum_duplicates(BCSR(([1.0, 2.0], [1, 1], [0, 2]), shape=(1, 2))).data
    Array([3.], dtype=float32)
    """
    return _a(BCSR, "bcsr_sum_duplicates", mat).sum_duplicates(nse, remove_zeros)


def bcsr_broadcast_in_dim(
    mat: BCSR, *, shape: Shape, broadcast_dimensions: Sequence[int], sharding: None = None
) -> BCSR:
    """With further axes; those before the sparse ones are batch axes.

    Args:
      mat: sparse array, row by row.
      shape: of the result.
      broadcast_dimensions: which of its axes are those of the array, in ascending order.
      sharding: accepted, of no effect.

    >>> m = bcsr_fromdense([[0.0, 3.0]])
    >>> bcsr_broadcast_in_dim(m, shape=(2, 1, 2), broadcast_dimensions=(1, 2))
    BCSR(float32[2, 1, 2], nse=1, n_batch=1)
    """
    m = _a(BCSR, "bcsr_broadcast_in_dim", mat).to_bcoo()
    found = bcoo_broadcast_in_dim(m, shape=shape, broadcast_dimensions=broadcast_dimensions)
    return BCSR.from_bcoo(found.update_layout(n_batch=len(found.shape) - m.n_dense - 2))


def bcsr_concatenate(operands: Iterable[BCSR], *, dimension: int) -> BCSR:
    """One array of several, one behind the other along an axis.

    Args:
      operands: sparse arrays, row by row.
      dimension: this axis.

    >>> m = bcsr_fromdense([[0.0, 3.0]])
    >>> bcsr_concatenate([m, m], dimension=0).indptr.tolist()
    [0, 1, 2]
    """
    ms = [_a(BCSR, "bcsr_concatenate", m).to_bcoo() for m in operands]
    return BCSR.from_bcoo(bcoo_concatenate(ms, dimension=dimension))


def csr_fromdense(
    mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = np.int32
) -> CSR:
    """The sparse matrix, row by row, of the elements that are not zero.

    Args:
      mat: dense matrix.
      nse: how many values to store; a traced matrix needs it.
      index_dtype: dtype of the indices.

    >>> csr_fromdense([[0.0, 3.0], [4.0, 0.0]])
    CSR(float32[2, 2], nse=2)
    """
    return CSR.fromdense(mat, nse=nse, index_dtype=index_dtype)


def csr_todense(mat: CSR) -> Array:
    """The dense matrix.

    Args:
      mat: sparse matrix, row by row.

    >>> csr_todense(csr_fromdense([[0.0, 3.0]]))
    Array([[0., 3.]], dtype=float32)
    """
    return _a(BCSR, "csr_todense", mat).todense()


def csr_matvec(mat: CSR, v: ArrayLike, transpose: bool = False) -> Array:
    """The product of a matrix, row by row, with a vector.

    Args:
      mat: sparse matrix.
      v: vector.
      transpose: take the transpose of the matrix.

    >>> csr_matvec(csr_fromdense([[0.0, 3.0], [4.0, 0.0]]), [1.0, 2.0])
    Array([6., 4.], dtype=float32)
    """
    return _times("csr_matvec", BCSR, mat, "v", v, 1, transpose)


def csr_matmat(mat: CSR, B: ArrayLike, *, transpose: bool = False) -> Array:
    """The product of a matrix, row by row, with a dense one.

    Args:
      mat: sparse matrix.
      B: dense matrix.
      transpose: take the transpose of the sparse one.

    >>> csr_matmat(csr_fromdense([[0.0, 3.0], [4.0, 0.0]]), [[1.0], [2.0]])
    Array([[6.],
           [4.]], dtype=float32)
    """
    return _times("csr_matmat", BCSR, mat, "B", B, 2, transpose)


# By rows and columns


def coo_fromdense(
    mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = np.int32
) -> COO:
    """The sparse matrix, by rows and columns, of the elements that are not zero.

    Args:
      mat: dense matrix.
      nse: how many values to store; a traced matrix needs it.
      index_dtype: dtype of rows and columns.

    >>> coo_fromdense([[0.0, 3.0], [4.0, 0.0]]).row.tolist()
    [0, 1]
    """
    return COO.fromdense(mat, nse=nse, index_dtype=index_dtype)


def coo_todense(mat: COO) -> Array:
    """The dense matrix.

    Args:
      mat: sparse matrix, by rows and columns.

    >>> coo_todense(coo_fromdense([[0.0, 3.0]]))
    Array([[0., 3.]], dtype=float32)
    """
    return _a(COO, "coo_todense", mat).todense()


def coo_matvec(mat: COO, v: ArrayLike, transpose: bool = False) -> Array:
    """The product of a matrix, by rows and columns, with a vector.

    Args:
      mat: sparse matrix.
      v: vector.
      transpose: take the transpose of the matrix.

    >>> coo_matvec(coo_fromdense([[0.0, 3.0], [4.0, 0.0]]), [1.0, 2.0], transpose=True)
    Array([8., 3.], dtype=float32)
    """
    return _times("coo_matvec", COO, mat, "v", v, 1, transpose)


def coo_matmat(mat: COO, B: ArrayLike, *, transpose: bool = False) -> Array:
    """The product of a matrix, by rows and columns, with a dense one.

    Args:
      mat: sparse matrix.
      B: dense matrix.
      transpose: take the transpose of the sparse one.

    >>> coo_matmat(coo_fromdense([[0.0, 3.0], [4.0, 0.0]]), [[1.0], [2.0]])
    Array([[6.],
           [4.]], dtype=float32)
    """
    return _times("coo_matmat", COO, mat, "B", B, 2, transpose)


def _a(kind: type, who: str, m: Any) -> Any:
    if not isinstance(m, kind):
        raise errors.bad_argument(WHO + who, "the array", m, f"a {kind.__name__}")
    return m


def _times(who: str, kind: type, mat: Any, name: str, x: Any, ndim: int, transpose: bool) -> Array:
    m, x = _a(kind, who, mat), xnp.asarray(x)
    if x.ndim != ndim:
        raise errors.bad_argument(WHO + who, name, x, f"an array of {ndim} axes")
    return (m.T if transpose else m) @ x


# Making

_FORMATS: dict[str, Any] = {"bcoo": BCOO, "bcsr": BCSR, "coo": COO, "csc": CSC, "csr": CSR}


def _in_format(who: str, name: str, m: BCOO) -> Any:
    one_of(WHO + who, "sparse_format", name, _FORMATS)
    kind = _FORMATS[name]
    found = kind._of(m)
    if not isinstance(found, kind):
        wanted = "'bcoo' for other arrays than matrices"
        raise errors.bad_argument(WHO + who, "sparse_format", name, wanted)
    return found


@overload
def empty(
    shape: Shape, dtype: DTypeLike | None = None, index_dtype: DTypeLike = "int32",
    sparse_format: Literal["bcoo"] = "bcoo", *, nse: int = 0, n_batch: int = 0, n_dense: int = 0,
) -> BCOO: ...  # fmt: skip
@overload
def empty(
    shape: Shape, dtype: DTypeLike | None = None, index_dtype: DTypeLike = "int32", sparse_format: str = "bcoo", *,
    nse: int = 0, n_batch: int = 0, n_dense: int = 0,
) -> JAXSparse: ...  # fmt: skip
def empty(
    shape: Shape, dtype: DTypeLike | None = None, index_dtype: DTypeLike = "int32", sparse_format: str = "bcoo", *,
    nse: int = 0, n_batch: int = 0, n_dense: int = 0,
) -> JAXSparse:  # fmt: skip
    """An array of zeros, none of which is stored.

    Args:
      shape: of the array.
      dtype: of the values.
      index_dtype: dtype of the indices.
      sparse_format: 'bcoo', 'bcsr', 'coo', 'csr' or 'csc'.
      nse: room for so many values, as padding.
      n_batch: how many axes in front are a batch.
      n_dense: how many axes behind are stored whole.

    >>> empty((2, 3), nse=2)
    BCOO(float32[2, 3], nse=2)
    """
    shape = shape_of("empty", shape)
    batch, sizes, dense = _axes("empty", shape, n_batch, n_dense)
    nse = whole("empty", "nse", nse)
    check_holds("empty", index_dtype, sizes)
    data = xnp.zeros((*batch, nse, *dense), dtype or float)
    outside = np.asarray(sizes, index_dtype)
    indices = xnp.broadcast_to(outside, (*batch, nse, len(sizes)))
    flags = {"indices_sorted": True, "unique_indices": True}
    return _in_format("empty", sparse_format, BCOO((data, indices), shape=shape, **flags))


def _axes(
    who: str, shape: tuple[int, ...], n_batch: int, n_dense: int
) -> tuple[tuple, tuple, tuple]:
    """Batch, sparse and dense sizes."""
    end = len(shape) - n_dense
    if not 0 <= n_batch <= end <= len(shape):
        wanted = f"part of {len(shape)} axes"
        raise errors.bad_argument(WHO + who, "n_batch and n_dense", (n_batch, n_dense), wanted)
    return shape[:n_batch], shape[n_batch:end], shape[end:]


@overload
def eye(
    N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None, index_dtype: DTypeLike = "int32",
    sparse_format: Literal["bcoo"] = "bcoo", *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0,
) -> BCOO: ...  # fmt: skip
@overload
def eye(
    N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None, index_dtype: DTypeLike = "int32",
    sparse_format: str = "bcoo", *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0,
) -> JAXSparse: ...  # fmt: skip
def eye(
    N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None, index_dtype: DTypeLike = "int32",
    sparse_format: str = "bcoo", *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0,
) -> JAXSparse:  # fmt: skip
    """The matrix with ones on a diagonal.

    Args:
      N: number of rows.
      M: number of columns, N by default.
      k: which diagonal: above the main one for k > 0.
      dtype: of the values.
      index_dtype: dtype of the indices.
      sparse_format: 'bcoo', 'bcsr', 'coo', 'csr' or 'csc'.
      nse: room for so many values.
      n_batch: how many axes in front are a batch.
      n_dense: how many axes behind are stored whole.

    >>> eye(3, k=1).indices.tolist()
    [[0, 1], [1, 2]]
    """
    N = whole("eye", "N", N)
    M = N if M is None else whole("eye", "M", M)
    k = operator.index(k)
    check_holds("eye", index_dtype, (N, M))
    if n_batch or n_dense or nse is not None:
        m = bcoo_fromdense(
            np.eye(N, M, k), nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype
        ).astype(dtype or float)  # fmt: skip
        return _in_format("eye", sparse_format, m)
    rows = np.arange(max(0, -k), max(0, -k, min(N, M - k)), dtype=index_dtype)
    parts = (
        xnp.ones(len(rows), dtype or float),
        np.stack([rows, rows + np.asarray(k, rows.dtype)], 1),
    )
    m = BCOO(parts, shape=(N, M), indices_sorted=True, unique_indices=True)
    return _in_format("eye", sparse_format, m)


def random_bcoo(
    key: Key, shape: Shape, *, dtype: DTypeLike = float, indices_dtype: DTypeLike | None = None,
    nse: float = 0.2, n_batch: int = 0, n_dense: int = 0, unique_indices: bool = True, sorted_indices: bool = False,
    generator: Callable[..., Any] = random.uniform, **kwds: Any,
) -> BCOO:  # fmt: skip
    """Random values at random places.

    Args:
      key: random key.
      shape: of the array.
      dtype: of the values.
      indices_dtype: dtype of the indices, int32 by default.
      nse: how many values, of each batch element; or that share of all, below 1.
      n_batch: how many axes in front are a batch.
      n_dense: how many axes behind are stored whole.
      unique_indices: whether no place is taken twice.
      sorted_indices: whether places are in ascending order.
      generator: of values: function of (key, shape=, dtype=), with ``kwds``.
      kwds: its further arguments.

    >>> import xcore as xc
    >>> random_bcoo(xc.random.key(0), (4, 5), nse=0.5)
    BCOO(float32[4, 5], nse=10)
    """
    shape = shape_of("random_bcoo", shape)
    batch, sizes, dense = _axes("random_bcoo", shape, n_batch, n_dense)
    dtype_of_places = np.dtype(indices_dtype or np.int32)
    check_holds("random_bcoo", dtype_of_places, sizes)
    total = math.prod(sizes)
    count = math.ceil(nse * total) if 0 < nse < 1 else int(nse)
    if count < 0 or (count > total and (unique_indices or not total)):
        wanted = f"a share below 1, or a number of values up to {total}"
        raise errors.bad_argument(f"{WHO}random_bcoo", "nse", nse, wanted)
    of_places, of_values = random.split(key)
    keys = random.split(of_places, batch) if batch else of_places

    def places(k):
        if not count or not sizes:
            return xnp.zeros((count, len(sizes)), dtype_of_places)
        if not unique_indices:
            of_each = zip(random.split(k, len(sizes)), sizes)
            columns = [random.randint(k, (count,), 0, n) for k, n in of_each]
        else:
            columns = xnp.unravel_index(random.choice(k, total, (count,), replace=False), sizes)
        return xnp.stack(columns, -1).astype(dtype_of_places)

    values = generator(of_values, shape=(*batch, count, *dense), dtype=dtype, **kwds)
    at = batched(places, n_batch)(keys)
    m = BCOO((values, at), shape=shape, unique_indices=unique_indices)
    return m.sort_indices() if sorted_indices else m
