"""CHOLMOD's factors of Hermitian positive definite matrices, where scikit-sparse is installed.

Its order and symbolic factors are kept with the pattern. ``None`` stands for what it does not take, and SuperLU does.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

from ._pattern import Pattern

_TAKEN = (np.dtype(np.float64), np.dtype(np.complex128))


@functools.cache
def _cholmod() -> Any:
    """scikit-sparse's module, or None."""
    try:
        return importlib.import_module("sksparse.cholmod")
    except ImportError:
        return None


class Hermitian:
    """Factors with the methods of SuperLU's that are called; those hold Aᵀ, so their "T" is a solution with A."""

    def __init__(self, factor: Any) -> None:
        self._factor = factor

    def solve(self, b: np.ndarray, turned: str) -> np.ndarray:
        if turned == "T":
            return self._factor(b)
        return np.conj(self._factor(np.conj(b)))  # Aᵀ is the conjugate of A

    def logdet(self) -> float:
        return float(np.real(self._factor.logdet()))


def hermitian(pattern: Pattern, values: np.ndarray) -> Hermitian | None:
    """Factors of finite values, if CHOLMOD is there and the matrix is Hermitian and positive definite."""
    if (
        values.dtype not in _TAKEN
        or not pattern.shape[0]
        or not pattern.is_symmetric
        or _cholmod() is None
    ):
        return None
    diagonal = pattern.kept(
        ("cholmod", "diagonal"), lambda: pattern.find(*2 * (np.arange(pattern.shape[0]),))
    )
    turned = pattern.kept(
        ("cholmod", "turned"), lambda: pattern.find(pattern.columns, pattern.rows)
    )
    if (diagonal < 0).any() or not (np.real(values[diagonal]) > 0).all():
        return None
    if not np.array_equal(values, np.conj(values[turned])):
        return None
    try:
        return Hermitian(_symbolic(pattern, values).cholesky(_columns(pattern, np.conj(values))))
    except _cholmod().CholmodNotPositiveDefiniteError:
        return None


def _symbolic(pattern: Pattern, values: np.ndarray) -> Any:
    # the other mode factorises matrices that are not definite as well, without exchanges
    make = lambda: _cholmod().analyze(_columns(pattern, values), mode="supernodal")  # noqa: E731
    return pattern.kept(("cholmod", values.dtype.char), make)


def _columns(pattern: Pattern, values: np.ndarray) -> Any:
    """The transpose, of which rows are columns: of conjugate values the matrix."""
    import scipy.sparse

    return scipy.sparse.csc_matrix((values, pattern.indices, pattern.indptr), pattern.shape)
