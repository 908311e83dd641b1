"""Solutions and eigenvalues under the names of ``jax.experimental.sparse.linalg``.

``xcore.sparse.solve``, ``xcore.linalg.linear_solve`` and ``xcore.linalg.eigsh`` are what to take where the code is new.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import numpy as xnp
from ... import sparse
from ..._core import Array, ArrayLike, errors, is_traced
from ...linalg import FunctionOperator, lobpcg
from ._arrays import BCSR, JAXSparse
from ._places import WHO

__all__ = ["lobpcg_standard", "spsolve"]


def spsolve(
    data: ArrayLike, indices: ArrayLike, indptr: ArrayLike, b: ArrayLike, tol: float = 1e-6, reorder: int = 1
) -> Array:  # fmt: skip
    """The solution of a system of equations with a matrix row by row, by sparse LU factors.

    Args:
      data: values of the matrix.
      indices: their columns. Where places are traced the matrix is solved as a dense one.
      indptr: where rows begin.
      b: right side.
      tol, reorder: accepted, of no effect: no pivot counts as 0, and rows and columns are always reordered.

    >>> from xcore.experimental.sparse.linalg import spsolve
    >>> spsolve([2.0, 4.0], [0, 1], [0, 1, 2], [1.0, 2.0])
    Array([0.5, 0.5], dtype=float32)
    """
    indptr, b = xnp.asarray(indptr), xnp.asarray(b)
    n = max(indptr.size - 1, 0)
    m = BCSR((data, indices, indptr), shape=(n, n))
    if b.ndim not in (1, 2) or b.shape[0] != n:
        raise errors.bad_argument(f"{WHO}linalg.spsolve", "b", b, f"a right side of {n} elements")
    if is_traced(m.indices) or is_traced(m.indptr):
        return xnp.linalg.solve(m.todense(), b)
    solution: Any = sparse.solve(m.to_sparse(), b)
    return solution


def lobpcg_standard(
    A: ArrayLike | JAXSparse | Callable[[Array], Array], X: ArrayLike, m: int = 100, tol: float | None = None
) -> tuple[Array, Array, Any]:  # fmt: skip
    """(w, v, steps): the largest eigenvalues, descending, and eigenvectors of a symmetric matrix.

    Args:
      A: the matrix, or a function of columns that multiplies by it.
      X: (n, k), columns to begin with; k is below a fifth of n.
      m: steps at most.
      tol: residuals of 10 n tol, relative to the matrix, are small enough; the rounding error by default.

    >>> import numpy as np
    >>> from xcore.experimental.sparse.linalg import lobpcg_standard
    >>> w, v, steps = lobpcg_standard(np.diag(np.arange(1.0, 9.0, dtype="f")), np.ones((8, 1), "f"))
    >>> round(float(w[0]), 3)
    8.0
    """
    who = f"{WHO}linalg.lobpcg_standard"
    X = xnp.asarray(X)
    if X.ndim != 2 or not 0 < 5 * X.shape[1] < X.shape[0]:
        advice = "Take xcore.numpy.linalg.eigh for more."
        wanted = "a matrix of fewer columns than a fifth of its rows"
        raise errors.bad_argument(who, "X", X, wanted, advice)
    n, k = X.shape
    operator: Any = A
    if callable(A):
        times: Any = A
        operator = FunctionOperator(lambda _, x: times(x[:, None])[:, 0], None, (n, n), True)
    elif isinstance(A, JAXSparse):
        operator = FunctionOperator(lambda a, x: a @ x, A, (n, n), True)
    if getattr(operator, "shape", (n, n)) != (n, n) or getattr(A, "shape", (n, n)) != (n, n):
        raise errors.bad_argument(who, "A", A, f"a matrix of {n} rows and columns, those of X")
    tol = float(xnp.finfo(X.dtype).eps) if tol is None else tol
    found = lobpcg(operator, k, which="largest", x0=X, rtol=10 * n * tol, max_steps=m, report=True)
    w, v = found.value
    return w[::-1], v[:, ::-1], found.steps
