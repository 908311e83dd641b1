"""What matrices of all kinds of storage have in common, and names of SciPy's that none of them has."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from .. import numpy as xnp
from .._core.package import Elsewhere, by_name
from ..linalg import LinearOperator
from ._matrix import Sparse
from ._named import ELEMENTWISE, Named
from ._pattern import is_scipys

_OF_ELEMENTS = (
    "__abs__ __pow__ __getitem__ __setitem__ __bool__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ sum mean max min trace "
    "real imag map conj multiply dot eliminate_zeros at to_scipy transpose conjugate tocsr tocsc tocoo sum_duplicates "
    "sorted_indices sort_indices asformat tobsr todia nonzero count_nonzero power maximum minimum "
    "__round__ __len__ todense toarray as_matrix diagonal __add__ __radd__ __sub__ __rsub__"
).split() + ELEMENTWISE


def by_elements(cls: Any) -> Any:
    """A class of matrices stored otherwise, with all of ``Sparse`` that it has not itself: as those do it."""

    def through(name: str) -> Any:
        f = inspect.getattr_static(Sparse, name)
        if isinstance(f, property):
            return property(lambda self: getattr(self.to_sparse(), name), doc=f.__doc__)
        return functools.wraps(f)(
            lambda self, *args, **kwargs: f(self.to_sparse(), *args, **kwargs)
        )

    cls.copy = Named.copy
    for name in _OF_ELEMENTS:
        if name not in vars(cls):
            setattr(cls, name, through(name))
    cls.stores_elements, cls.__hash__ = True, None
    return cls


def is_matrix(x: Any) -> bool:
    """Whether x is sparse, of ours or of SciPy's."""
    return isinstance(x, Sparse) or getattr(x, "stores_elements", False) or is_scipys(x)


def is_number(x: Any) -> bool:
    return not (isinstance(x, LinearOperator) or is_scipys(x) or xnp.ndim(x))


_ELSEWHERE = {
    "data": "The elements are A.values.",
    "indices indptr row col coords": "The places are those of A.pattern: rows, columns, indptr.",
    "tolil todok": "There is one format, which does not change: A.at[i, j].set(values), or coo_array of all elements.",
    "setdiag": "Matrices do not change: A = A.with_diagonal(values, k), or A.at[i, j].set(values) of stored elements.",
    "resize prune": "Matrices do not change: A.at[i, j].set(values), or a new one of other values.",
    "ravel": "Matrices have two axes: A.reshape(1, -1), or A.todense().ravel().",
}  # fmt: skip
for _name, _why in by_name(_ELSEWHERE).items():
    setattr(Sparse, _name, Elsewhere(_name, _why))
