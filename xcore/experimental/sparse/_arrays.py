"""The classes: arrays by values and places, their operators and methods."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from ... import numpy as xnp
from ..._core import (
    Array,
    ArrayLike,
    Axis,
    DTypeLike,
    Shape,
    ensure_compile_time_eval,
    errors,
    is_array_like,
    is_traced,
)
from ..._core.devices import block_until_ready
from ...sparse import Sparse, coo_array
from . import _places as places
from ._nodes import register
from ._places import WHO, Stored, batched, of_each
from ._products import matmul, multiplied, values_times


class JAXSparse(Stored):
    """Any array by values and places: what ``BCOO``, ``BCSR``, ``COO``, ``CSR`` and ``CSC`` have in common.

    Operators with dense arrays are ``@``, ``*``, ``/`` and ``+``; ``xcore.numpy`` takes these arrays as dense ones.

    >>> isinstance(BCOO.fromdense([[0.0, 1.0]]), JAXSparse)
    True
    """

    __slots__ = ()
    __array_priority__ = 200  # above that of arrays: operators with these are ours
    data: Any
    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements, zeros included."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values."""
        return self.data.dtype

    @property
    def nse(self) -> int:
        """How many values are stored, of each batch element; padding counts."""
        return self.data.shape[getattr(self, "n_batch", 0)]

    @property
    def T(self) -> Any:
        """The transpose."""
        return self.transpose()

    def _coo(self) -> BCOO:
        raise NotImplementedError

    @classmethod
    def _of(cls, found: BCOO) -> Any:
        """An array of this class, where it can hold that; else as it is."""
        return found

    def todense(self) -> Array:
        """The dense array: values at the same place are added."""
        return places.dense_of(self._coo())

    def transpose(self, axes: Axis = None) -> Any:
        """With the axes in another order, reversed by default."""
        return self._of(places.transposed(self._coo(), axes))  # pyright: ignore[reportArgumentType]

    def block_until_ready(self) -> Self:
        """Itself, once its values are computed."""
        block_until_ready(self.data)
        return self

    def sum(self, axis: Axis = None) -> Any:
        """A dense number of all elements, or a sparse array of sums along the axes."""
        several = isinstance(axis, tuple | list)
        axes = range(self.ndim) if axis is None else axis if several else (axis,)
        found = places.summed_along(self._coo(), axes)  # pyright: ignore[reportArgumentType]
        return found.todense() if axis is None else self._of(found)

    def astype(self, dtype: DTypeLike) -> Self:
        """With values of another dtype."""
        return self._with_data(self.data.astype(dtype))

    def to_sparse(self) -> Sparse:
        """The same matrix for the solvers of ``xcore.sparse``; its places have to be known, its values need not be."""
        m = self._coo()
        if m.ndim != 2 or m.n_sparse != 2:
            wanted = "a matrix without batch and dense axes"
            raise errors.bad_argument(f"{WHO}to_sparse", "the array", self, wanted)
        if any(is_traced(getattr(self, n, None)) for n in ("indices", "indptr", "row", "col")):
            raise errors.ConcretizationError(
                f"xcore.{WHO}to_sparse: a Sparse has places that are known when a function is traced, these are not. "
                "Close over the places, and pass the values."
            )
        with ensure_compile_time_eval():
            at, known = map(np.asarray, places.placed(self._coo()))
        return coo_array((m.data[known], tuple(at[known].T)), shape=self.shape)

    def _with_data(self, data: Any) -> Self:
        found = object.__new__(type(self))
        for name in (n for cls in type(self).__mro__ for n in getattr(cls, "__slots__", ())):
            object.__setattr__(found, name, getattr(self, name))
        object.__setattr__(found, "data", data)
        return found

    def __jax_array__(self) -> Array:
        return self.todense()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.todense(), dtype, copy=copy)

    def __repr__(self) -> str:
        kind = type(self).__name__
        try:
            more = "".join(
                f", {n}={v}" for n in ("n_batch", "n_dense") if (v := getattr(self, n, 0))
            )
            return f"{kind}({self.dtype.name}{list(self.shape)}, nse={self.nse}{more})"
        except (AttributeError, IndexError):
            return f"{kind}(<invalid>)"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __bool__(self) -> bool:
        return bool(self.todense())

    def __neg__(self) -> Self:
        return self._with_data(-self.data)

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Any:
        return self._unary(abs)

    def __pow__(self, power: Any) -> Any:
        if np.ndim(power) or not power > 0:
            return NotImplemented
        return self._unary(lambda x: x**power)

    def _unary(self, f: Any) -> Any:
        """A function that is 0 at 0: of sums, where places stand twice."""
        m = self._coo()
        m = m if m.unique_indices else places.merged(m, m.nse, False)
        return self._of(m._with_data(f(m.data)))

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, JAXSparse):
            return self._of(multiplied(self._coo(), other._coo()))
        if _is_foreign(other):
            return NotImplemented
        if np.ndim(other) == 0:
            return self._with_data(self.data * other)
        return self._times(other)

    __rmul__ = __mul__

    def _times(self, dense: Any) -> Any:
        m = self._coo()
        if np.ndim(dense) > m.ndim or any(
            n not in (1, k) for n, k in zip(np.shape(dense)[::-1], m.shape[::-1])
        ):
            shape = xnp.broadcast_shapes(m.shape, np.shape(dense))
            spread = xnp.broadcast_to(m.todense(), shape)
            return self._of(places.refound(BCOO, spread * xnp.asarray(dense)))
        return self._of(m._with_data(values_times("*", m, dense)))

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, JAXSparse) or _is_foreign(other):
            return NotImplemented
        if np.ndim(other) == 0:
            return self._with_data(self.data / other)
        m = self._coo()
        by = places.gathered("/", m, other, fill=1)
        return self._of(m._with_data(of_each(m, m.data) / by))

    def __add__(self, other: Any) -> Any:
        if _is_foreign(other):
            return NotImplemented
        if type(other) is int and other == 0:  # what Python's sum() begins with
            return self
        if not isinstance(other, JAXSparse):
            return self.todense() + xnp.asarray(other)
        a, b = self._coo(), other._coo()
        if a.shape != b.shape or (a.n_batch, a.n_dense) != (b.n_batch, b.n_dense):
            return self._of(places.refound(BCOO, self.todense() + other.todense(), a))
        data, indices = (
            xnp.concatenate([of_each(m, getattr(m, name)) for m in (a, b)], a.n_batch)
            for name in ("data", "indices")
        )
        return self._of(BCOO((data, indices), shape=a.shape))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, JAXSparse):
            return self + (-other)
        return NotImplemented if _is_foreign(other) else self.todense() - xnp.asarray(other)

    def __rsub__(self, other: Any) -> Any:
        return NotImplemented if _is_foreign(other) else xnp.asarray(other) - self.todense()

    def __matmul__(self, other: Any) -> Any:
        return NotImplemented if _is_foreign(other) else matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return NotImplemented if _is_foreign(other) else matmul(other, self)

    def __getitem__(self, index: Any) -> Any:
        return self._of(places.refound(BCOO, self.todense()[index]))

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))


def _is_foreign(x: Any) -> bool:
    """Whether an operand answers itself."""
    return not (isinstance(x, JAXSparse | list | tuple) or is_array_like(x))


class BCOO(JAXSparse):
    """An array by its values and, for each, a row of indices; with batch axes before and dense axes behind.

    Values at the same place are added, and those whose indices are out of range are padding. Negative indices count
    from the end.

    Args:
      args: (data, indices), of shapes (batch…, nse, dense…) and (batch…, nse, sparse axes). Batch sizes may be 1 for
        what all elements of a batch share.
      shape: of the array: sizes of batch, sparse and dense axes.
      indices_sorted: says that the places are in ascending order.
      unique_indices: says that no place is given twice.

    >>> m = BCOO(([1.0, 2.0], [[0, 1], [1, 0]]), shape=(2, 2))
    >>> m, m @ xnp.asarray([1.0, 10.0])
    (BCOO(float32[2, 2], nse=2), Array([10.,  2.], dtype=float32))
    """

    __slots__ = ("data", "indices", "indices_sorted", "shape", "unique_indices")

    def __init__(
        self, args: tuple[ArrayLike, ArrayLike], *, shape: Shape, indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:  # fmt: skip
        self.data, self.indices = places.parts_of("BCOO", args, "data indices")
        self.shape, self.indices_sorted = places.shape_of("BCOO", shape), indices_sorted
        self.unique_indices = unique_indices
        places.check_parts(self)

    @property
    def n_sparse(self) -> int:
        """The number of sparse axes."""
        return self.indices.shape[-1]

    @property
    def n_batch(self) -> int:
        """The number of batch axes, which come first."""
        return self.indices.ndim - 2

    @property
    def n_dense(self) -> int:
        """The number of dense axes, which come last."""
        return self.data.ndim - self.n_batch - 1

    def _coo(self) -> BCOO:
        return self

    @classmethod
    def fromdense(
        cls, mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = np.int32, n_dense: int = 0,
        n_batch: int = 0,
    ) -> BCOO:  # fmt: skip
        """Of the elements that are not zero; a traced array needs ``nse``. See ``bcoo_fromdense``."""
        return places.from_dense("BCOO.fromdense", BCOO, mat, nse, n_batch, n_dense, index_dtype)

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: DTypeLike | None = None, n_dense: int = 0, n_batch: int = 0
    ) -> BCOO:
        """Of one of SciPy's matrices, or a ``xcore.sparse.Sparse``."""
        if isinstance(mat, Sparse):
            data, at = mat.values, (mat.pattern.rows, mat.pattern.columns)
        elif hasattr(mat, "tocoo"):
            found = mat.tocoo()
            data, at = found.data, (found.row, found.col)
        else:
            wanted = "a sparse matrix of SciPy's, or a xcore.sparse.Sparse"
            raise errors.bad_argument(f"{WHO}from_scipy_sparse", "mat", mat, wanted)
        if np.ndim(data) != 1:
            wanted = "one matrix, without batch axes"
            raise errors.bad_argument(f"{WHO}from_scipy_sparse", "mat", mat, wanted)
        indices = np.stack(at, 1).astype(index_dtype or np.int32)
        return BCOO((data, indices), shape=mat.shape).update_layout(
            n_batch=n_batch, n_dense=n_dense
        )

    def update_layout(
        self, *, n_batch: int | None = None, n_dense: int | None = None, on_inefficient: str | None = "error"
    ) -> BCOO:  # fmt: skip
        """With other numbers of batch and dense axes. See ``bcoo_update_layout``."""
        return places.laid_out(self, n_batch, n_dense)

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCOO:
        """With one value for each place. See ``bcoo_sum_duplicates``."""
        return places.merged(self, nse, remove_zeros)

    def sort_indices(self) -> BCOO:
        """With places in ascending order."""
        return places.in_order(self)

    def reshape(self, *shape: Any) -> BCOO:
        """With another shape of as many elements: batch axes before stay, all others are sparse; -1 is what is left."""
        return places.reshaped(self, shape[0] if len(shape) == 1 and np.ndim(shape[0]) else shape)


register(BCOO, ("data", "indices"), ("indices_sorted", "unique_indices"), inner=2)


class BCSR(JAXSparse):
    """Matrices row by row: values, their columns, and where rows begin; with batch axes before and dense axes behind.

    Args:
      args: (data, indices, indptr), of shapes (batch…, nse, dense…), (batch…, nse) and (batch…, rows + 1). What
        is behind the last row's end is padding.
      shape: of the array: batch axes, rows, columns, dense axes.
      indices_sorted: says that columns ascend in each row.
      unique_indices: says that no place is given twice.

    >>> BCSR(([1.0, 2.0], [1, 0], [0, 1, 2]), shape=(2, 2)).todense()
    Array([[0., 1.],
           [2., 0.]], dtype=float32)
    """

    __slots__ = ("data", "indices", "indices_sorted", "indptr", "shape", "unique_indices")

    def __init__(
        self, args: tuple[ArrayLike, ArrayLike, ArrayLike], *, shape: Shape, indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:  # fmt: skip
        who = type(self).__name__
        self.data, self.indices, self.indptr = places.parts_of(who, args, "data indices indptr")
        self.shape, self.indices_sorted = places.shape_of(who, shape), indices_sorted
        self.unique_indices = unique_indices
        self._check(who)

    def _check(self, who: str) -> None:
        data, indices, indptr, b = self.data, self.indices, self.indptr, self.n_batch
        good = 0 <= b < data.ndim and indices.ndim == indptr.ndim
        good = good and data.shape[b] == indices.shape[b]
        good = (
            good and len(self.shape) == data.ndim + 1 and data.shape[b + 1 :] == self.shape[b + 2 :]
        )
        good = good and indptr.shape[b] == self._rows() + 1
        parts = {"data": data, "indices": indices, "indptr": indptr}
        places.check_batches(who, self.shape, b, good, **parts)
        places.check_holds(who, indices.dtype, self.shape[b : b + 2])

    def _rows(self) -> int:
        return self.shape[self.n_batch]

    @property
    def n_sparse(self) -> int:
        """The number of sparse axes: 2."""
        return 2

    @property
    def n_batch(self) -> int:
        """The number of batch axes, which come first."""
        return self.indices.ndim - 1

    @property
    def n_dense(self) -> int:
        """The number of dense axes, which come last."""
        return self.data.ndim - self.n_batch - 1

    def _coo(self) -> BCOO:
        return self.to_bcoo()

    def to_bcoo(self) -> BCOO:
        """The same array with a row of indices for each value."""
        n = self.indices.shape[-1]

        def rows(indptr, indices):
            row = xnp.searchsorted(indptr, xnp.arange(n), side="right") - 1
            return xnp.stack([row.astype(indices.dtype), indices], -1)

        sizes = self.shape[: self.n_batch]
        indptr, indices = (
            xnp.broadcast_to(x, (*sizes, x.shape[-1])) for x in (self.indptr, self.indices)
        )
        found = self.data, batched(rows, self.n_batch)(indptr, indices)
        flags = {"indices_sorted": self.indices_sorted, "unique_indices": self.unique_indices}
        return BCOO(found, shape=self.shape, **flags)

    @classmethod
    def _of(cls, found: BCOO) -> Any:
        return cls.from_bcoo(found) if found.n_sparse == 2 else found

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> Any:
        """Of an array with two sparse axes."""
        if not isinstance(arr, BCOO) or arr.n_sparse != 2:
            raise errors.bad_argument(
                f"{WHO}{cls.__name__}.from_bcoo", "arr", arr, "a BCOO with two sparse axes"
            )
        m = places.in_order(arr)
        fits = m.nse <= np.iinfo(m.indices.dtype).max
        dtype = m.indices.dtype if fits else np.int32  # of numbers of values

        def starts(indices):
            ends = xnp.arange(m.shape[m.n_batch] + 1)
            return xnp.searchsorted(indices[..., 0], ends).astype(dtype)

        at = of_each(m, m.indices)
        parts = of_each(m, m.data), at[..., 1], batched(starts, m.n_batch)(at)
        return cls(parts, shape=m.shape, indices_sorted=True, unique_indices=m.unique_indices)

    @classmethod
    def fromdense(
        cls, mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = np.int32, n_dense: int = 0,
        n_batch: int = 0,
    ) -> Any:  # fmt: skip
        """Of the elements that are not zero; a traced array needs ``nse``."""
        who = f"{cls.__name__}.fromdense"
        m = places.from_dense(who, BCOO, mat, nse, n_batch, n_dense, index_dtype)
        return cls.from_bcoo(_two_sparse_axes(who, m))

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: DTypeLike | None = None, n_dense: int = 0, n_batch: int = 0
    ) -> Any:
        """Of one of SciPy's matrices, or a ``xcore.sparse.Sparse``."""
        m = BCOO.from_scipy_sparse(mat, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch)
        return cls.from_bcoo(_two_sparse_axes(f"{cls.__name__}.from_scipy_sparse", m))

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> Any:
        """With one value for each place. See ``bcoo_sum_duplicates``."""
        return self._of(places.merged(self._coo(), nse, remove_zeros))


def _two_sparse_axes(who: str, m: BCOO) -> BCOO:
    if m.n_sparse != 2:
        raise errors.bad_argument(WHO + who, "mat", m, "an array with two sparse axes")
    return m


register(BCSR, ("data", "indices", "indptr"), ("indices_sorted", "unique_indices"), inner=1)


class _OneMatrix(BCSR):
    """What CSR and CSC have in common."""

    __slots__ = ()

    def _check(self, who: str) -> None:
        if len(self.shape) != 2 or self.indices.ndim != 1:
            raise errors.bad_argument(WHO + who, "shape", self.shape, "that of one matrix")
        super()._check(who)

    def _turned(self, kind: type[BCSR]) -> Any:
        """The transpose, of the same parts."""
        parts, shape = (self.data, self.indices, self.indptr), self.shape[::-1]
        flags = {"indices_sorted": self.indices_sorted, "unique_indices": self.unique_indices}
        return kind(parts, shape=shape, **flags)


class CSR(_OneMatrix):
    """A matrix row by row: values, their columns, and where rows begin.

    Args:
      args: (data, indices, indptr).
      shape: (rows, columns).
      indices_sorted, unique_indices: as of ``BCSR``.

    >>> CSR(([1.0, 2.0], [1, 0], [0, 1, 2]), shape=(2, 2)) @ xnp.asarray([1.0, 10.0])
    Array([10.,  2.], dtype=float32)
    """

    __slots__ = ()

    def transpose(self, axes: Axis = None) -> Any:
        """The transpose, column by column."""
        return self._turned(CSC) if _reverses(axes) else super().transpose(axes)


class CSC(_OneMatrix):
    """A matrix column by column: values, their rows, and where columns begin.

    Args:
      args: (data, indices, indptr).
      shape: (rows, columns).
      indices_sorted, unique_indices: as of ``BCSR``, within columns.

    >>> CSC(([1.0, 2.0], [1, 0], [0, 1, 2]), shape=(2, 2)).todense()
    Array([[0., 2.],
           [1., 0.]], dtype=float32)
    """

    __slots__ = ()

    def _rows(self) -> int:
        return self.shape[1]

    def to_bcoo(self) -> BCOO:
        """The same matrix with a row of indices for each value."""
        return places.transposed(self._turned(CSR).to_bcoo(), (1, 0))

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> Any:
        """Of an array with two sparse axes, and no others."""
        found = places.transposed(_two_sparse_axes("CSC.from_bcoo", arr), None)
        return CSR.from_bcoo(found)._turned(CSC)

    def transpose(self, axes: Axis = None) -> Any:
        """The transpose, row by row."""
        return self._turned(CSR) if _reverses(axes) else super().transpose(axes)


def _reverses(axes: Any) -> bool:
    return axes is None or tuple(axes) in ((1, 0), (-1, 0), (1, -2), (-1, -2))


class COO(JAXSparse):
    """A matrix by values, rows and columns.

    Args:
      args: (data, row, col), of equal lengths.
      shape: (rows, columns).
      rows_sorted, cols_sorted: say that the values are ordered by rows, or by columns; of no effect.

    >>> COO(([1.0, 2.0], [0, 1], [1, 0]), shape=(2, 2)).todense()
    Array([[0., 1.],
           [2., 0.]], dtype=float32)
    """

    __slots__ = ("col", "data", "row", "shape")

    def __init__(
        self, args: tuple[ArrayLike, ArrayLike, ArrayLike], *, shape: Shape, rows_sorted: bool = False,
        cols_sorted: bool = False,
    ) -> None:  # fmt: skip
        self.data, self.row, self.col = places.parts_of("COO", args, "data row col")
        self.shape = places.shape_of("COO", shape)
        good = len(self.shape) == 2 and self.data.ndim == 1
        good = good and self.data.shape == self.row.shape == self.col.shape
        parts = {"data": self.data, "row": self.row, "col": self.col}
        places.check_batches("COO", self.shape, 0, good, **parts)

    def _coo(self) -> BCOO:
        return BCOO((self.data, xnp.stack([self.row, self.col], -1)), shape=self.shape)

    @classmethod
    def _of(cls, found: BCOO) -> Any:
        if found.ndim != 2 or found.n_sparse != 2:
            return found
        return cls((found.data, found.indices[:, 0], found.indices[:, 1]), shape=found.shape)

    @classmethod
    def fromdense(
        cls, mat: ArrayLike, *, nse: int | None = None, index_dtype: DTypeLike = np.int32
    ) -> COO:
        """Of the elements that are not zero; a traced matrix needs ``nse``."""
        m = places.from_dense("COO.fromdense", BCOO, mat, nse, 0, 0, index_dtype)
        return cls._of(_two_sparse_axes("COO.fromdense", m))

    @classmethod
    def from_scipy_sparse(cls, mat: Any, *, index_dtype: DTypeLike | None = None) -> COO:
        """Of one of SciPy's matrices, or a ``xcore.sparse.Sparse``."""
        return cls._of(BCOO.from_scipy_sparse(mat, index_dtype=index_dtype))


for _cls in (CSR, CSC):
    register(_cls, ("data", "indices", "indptr"), ("indices_sorted", "unique_indices"))
register(COO, ("data", "row", "col"))
