"""Methods that SciPy's sparse arrays have, and that follow from those of ``Sparse``."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import Array, DTypeLike, dtypes, errors, one_of

FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


def check_format(who: str, name: Any) -> None:
    """SciPy's names of formats are accepted wherever a matrix is made: there is one format."""
    if name is not None and name not in FORMATS:
        need = f"one of SciPy's: {', '.join(FORMATS)}, or None"
        raise errors.bad_argument(who, "format", name, need)


class Named:
    """SciPy's names for a matrix that does not change and is stored by rows, in order, each element once."""

    format = "csr"
    has_canonical_format = has_sorted_indices = True

    def __len__(self) -> int:
        raise TypeError("xcore.sparse: the length of a matrix is ambiguous: A.shape[0] or A.nnz.")

    def copy(self) -> Any:
        """The matrix itself: it does not change."""
        return self

    sorted_indices = copy

    def sort_indices(self) -> None:
        """Nothing: elements are in order."""

    def asformat(self: Any, format: str | None, copy: bool = False) -> Any:
        """A ``Dia`` or ``Bsr`` for "dia" and "bsr", the matrix itself for others: there is one other format."""
        check_format("sparse.Sparse.asformat", format)
        return {"bsr": self.tobsr, "dia": self.todia}.get(format or "", self.tocsr)()

    def tobsr(self, blocksize: tuple[int, int] | None = None, copy: bool = False) -> Any:
        """The matrix as ``bsr_array``."""
        return _module("_blocks").Bsr.of(self, blocksize)

    def todia(self, copy: bool = False) -> Any:
        """The matrix as ``dia_array``."""
        return _module("_dia").Dia.of(self)

    def nonzero(self: Any) -> tuple[np.ndarray, np.ndarray]:
        """(rows, columns) of the elements that are not 0; values must be known."""
        found = self.eliminate_zeros().pattern
        return np.array(found.rows), np.array(found.columns)

    def count_nonzero(self: Any, axis: int | None = None) -> Array:
        """How many elements are not 0, in all or along an axis."""
        return (self != 0).sum(axis)

    def power(self: Any, n: Any, dtype: DTypeLike | None = None) -> Any:
        """Powers of the elements: ``A ** n``."""
        return (self if dtype is None else self.astype(dtype)) ** n

    def maximum(self, other: Any) -> Any:
        """The larger one of each two elements; of a number that is not above 0."""
        return _chosen(self, "maximum", xnp.maximum, other)

    def minimum(self, other: Any) -> Any:
        """The smaller one of each two elements; of a number that is not below 0."""
        return _chosen(self, "minimum", xnp.minimum, other)

    def nanmax(self: Any, axis: Any = None) -> Array:
        """The largest of the elements that are not NaN, as ``max``; NaN where all are."""
        return _extremum_of_numbers(self, "max", -np.inf, axis)

    def nanmin(self: Any, axis: Any = None) -> Array:
        """The least of the elements that are not NaN, as ``min``; NaN where all are."""
        return _extremum_of_numbers(self, "min", np.inf, axis)

    def argmax(self: Any, axis: int | None = None) -> Array:
        """Where the largest element is, in the order of rows, or along an axis; the first of equal ones."""
        return _place_of_extremum(self, "argmax", axis)

    def argmin(self: Any, axis: int | None = None) -> Array:
        """Where the least element is, as ``argmax``."""
        return _place_of_extremum(self, "argmin", axis)

    def reshape(self: Any, *shape: Any, order: str = "C") -> Any:
        """The same elements in the same order, row by row ("F": column by column), in rows of another length."""
        return _reshaped(self, shape[0] if len(shape) == 1 else shape, order)

    def with_diagonal(self: Any, values: Any, k: int = 0) -> Any:
        """A matrix with another k-th diagonal, a number or as many elements as it has."""
        return _with_diagonal(self, values, k)

    def __round__(self: Any, ndigits: int = 0) -> Any:
        return self.map(lambda v: xnp.round(v, ndigits))


def _module(name: str) -> Any:
    """A module that knows of Sparse, which knows of this one."""
    return importlib.import_module(f"{__package__}.{name}")


def _chosen(a: Any, name: str, choose: Callable[..., Array], other: Any) -> Any:
    if not getattr(other, "ndim", 0) and _module("_matrix").of_zero(choose, name, other):
        need = "such that zeros stay 0: A.todense() has elements at all places"
        raise errors.bad_argument(f"sparse.Sparse.{name}", "other", other, need)
    return a._compared(choose, name, other)


def _extremum_of_numbers(a: Any, name: str, worst: float, axis: Any) -> Array:
    if not dtypes.is_inexact(a.dtype):
        return getattr(a, name)(axis)
    (m, n), along = a.pattern.shape, a._axis(f"nan{name}", axis)
    found = getattr(a.map(lambda v: xnp.where(xnp.isnan(v), worst, v).astype(v.dtype)), name)(axis)
    lost = a.map(lambda v: xnp.isnan(v).astype(np.int32)).sum(axis)
    return xnp.where(
        lost == (m * n if along is None else n if along else m), xnp.nan, found
    ).astype(a.dtype)


def _place_of_extremum(a: Any, name: str, axis: int | None) -> Array:
    """The first place of the extremum among stored elements and the first one that is not stored, a zero."""
    who, p = f"sparse.Sparse.{name}", a.pattern
    axis = a._axis(name, axis)
    if axis == 0:
        return _place_of_extremum(a.T, name, 1)
    if axis is None:
        return _place_of_extremum(a.reshape(1, p.shape[0] * p.shape[1]), name, 1)[..., 0]
    m, n = p.shape
    if not n:
        raise errors.shape_mismatch(
            who, "need elements, as nothing is the largest of none", matrix=a
        )
    free = p.kept(("first not stored",), lambda: _first_free(p))
    at = np.concatenate([p.columns, np.where(free < n, free, n)]).astype(np.int32)
    rows = np.concatenate([p.rows, np.arange(m)])
    counted = np.concatenate([np.ones(p.nnz, bool), free < n])
    of_max = name == "argmax"

    def places(v: Array) -> Array:
        whole = xnp.concatenate([v, xnp.zeros(m, v.dtype)])
        rank = _ranks(whole) if dtypes.is_complex(v.dtype) else whole
        rank = rank.astype(np.int8) if rank.dtype == bool else rank
        worst = _worst(rank.dtype, of_max)
        rank = xnp.where(counted, rank, worst)
        best = xnp.full(m, worst).at[rows]
        best = best.max(rank) if of_max else best.min(rank)
        missing = xnp.isnan(rank) if dtypes.is_inexact(rank.dtype) else xnp.zeros(rank.shape, bool)
        there = counted & ((rank == best[rows]) | missing)  # the first NaN, as of arrays
        return xnp.full(m, n, np.int32).at[rows].min(xnp.where(there, at, n)).astype(int)

    return a._of_each(places, a.values)


def _ranks(x: Array) -> Array:
    """The rank of each number among all, that of equal ones being one."""
    order = xnp.argsort(x)
    rises = xnp.concatenate(
        [xnp.zeros(1, np.int32), (x[order][1:] != x[order][:-1]).astype(np.int32)]
    )
    return xnp.zeros(x.shape, np.int32).at[order].set(xnp.cumsum(rises).astype(np.int32))


def _worst(dtype: Any, of_max: bool) -> Any:
    if dtypes.is_inexact(dtype):
        return np.asarray(-np.inf if of_max else np.inf, dtype)
    limits = np.iinfo(dtype)
    return np.asarray(limits.min if of_max else limits.max, dtype)


def _first_free(p: Any) -> np.ndarray:
    """The first column without an element of each row; the number of columns in full ones."""
    place = np.arange(p.nnz) - p.indptr[p.rows]  # columns rise: the first that is not its own place
    free = np.array(p.lengths)
    np.minimum.at(free, p.rows[p.columns != place], place[p.columns != place])
    return free


def _reshaped(a: Any, shape: Any, order: str) -> Any:
    who, p = "sparse.Sparse.reshape", a.pattern
    one_of(who, "order", order, ("C", "F"))
    if order == "F":
        return _reshaped(a.T, tuple(shape)[::-1], "C").T
    size = p.shape[0] * p.shape[1]
    shape = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    known = int(np.prod([n for n in shape if n != -1]))
    if shape.count(-1) == 1 and known and size % known == 0:
        shape = tuple(size // known if n == -1 else n for n in shape)
    if len(shape) != 2 or any(n < 0 for n in shape) or shape[0] * shape[1] != size:
        raise errors.bad_argument(who, "shape", shape, f"two numbers, of {size} elements")
    at = p.rows.astype(np.int64) * p.shape[1] + p.columns
    wide = max(shape[1], 1)
    return a.like(a.values, type(p)(at // wide, at % wide, shape))


def _with_diagonal(a: Any, values: Any, k: int) -> Any:
    matrices = _module("_making")
    values = xnp.asarray(values, a.dtype)
    rest = a._chosen(a.pattern.columns.astype(np.int64) - a.pattern.rows != k)
    return rest + matrices.diags_array([values], offsets=[k], shape=a.pattern.shape)


def _elementwise(name: str) -> Callable[[Any], Any]:
    def f(self: Any) -> Any:
        return self.map(getattr(xnp, name))

    f.__name__, f.__doc__ = name, f"``xcore.numpy.{name}`` of the elements; zeros stay 0."
    return f


ELEMENTWISE = (
    "sqrt sin tan sinh tanh arcsin arcsinh arctan arctanh expm1 log1p sign floor ceil rint trunc deg2rad rad2deg"
).split()
for _name in ELEMENTWISE:
    setattr(Named, _name, _elementwise(_name))
