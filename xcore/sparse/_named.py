"""Methods that SciPy's sparse arrays have, and that follow from those of ``Sparse``."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import Array, DTypeLike, errors

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
