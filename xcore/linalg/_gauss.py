"""Faces of our own elimination: factors, solutions, inverses, determinants, null spaces.

With ``field=p`` numbers are integers modulo the prime p and results are exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import Array, ArrayLike, errors, fused, one_of, struct, typeof
from .._ops import diagonal, part
from ..numpy._equations import identity_like
from ..numpy._promote import as_array
from . import _elimination
from ._arguments import as_inexact, check_matrices, modulus, over_batch, with_columns
from ._dense import our_determinant
from ._echelon import (
    EliminationSteps,
    Residues,
    arithmetic_for,
    check_field,
    eliminate,
    elimination_steps,
    forms,
    numbers_for,
)  # fmt: skip
from ._echelon import residues as as_residues
from ._truth import fail


@struct
class GaussLU:
    """Factors of matrices, a[rows][:, columns] = lower @ upper.

    Attributes:
      packed: both factors in one: upper on and above the diagonal, lower below, without its ones.
      rows, columns: permutations.
      growth: the largest number of upper by the largest of a. Errors grow with it; partial pivoting
        keeps it below 2ⁿ⁻¹ and nearly always small.

    >>> import xcore.numpy as xnp
    >>> from xcore import linalg
    >>> found = linalg.gauss_lu(xnp.array([[1.0, 2.0], [4.0, 2.0]]))
    >>> found.lower @ found.upper, found.rows
    (Array([[4., 2.],
           [1., 2.]], dtype=float32), Array([1, 0], dtype=int32))
    """

    packed: Any
    rows: Any
    columns: Any
    growth: Any

    @property
    def lower(self):
        """The lower triangular factor, with ones on its diagonal."""
        m, n = self.packed.shape[-2:]
        low = part(self.packed, ops.gt)[..., : min(m, n)]
        return low + xnp.eye(m, min(m, n), dtype=low.dtype)

    @property
    def upper(self):
        """The upper triangular factor."""
        return part(self.packed, ops.le)[..., : min(self.packed.shape[-2:]), :]


@fused(1)
def gauss_lu(a: ArrayLike, pivoting: str = "partial") -> GaussLU:
    """Factors by our own blocked Gaussian elimination, in any floating or complex dtype.

    Args:
      a: matrices (..., m, n).
      pivoting: "partial" (the largest number of the column), "complete" (the largest of all that is
        left) or "none".

    >>> import xcore as xc, xcore.numpy as xnp
    >>> f = xc.linalg.gauss_lu(xnp.asarray([[1.0, 2.0], [2.0, 2.0]]))
    >>> f.lower @ f.upper, f.rows
    (Array([[2., 2.],
           [1., 2.]], dtype=float32), Array([1, 0], dtype=int32))
    """
    who = "linalg.gauss_lu"
    one_of(who, "pivoting", pivoting, _elimination.PIVOTING)
    (a,) = as_inexact(who, a)
    check_matrices(who, a=a)
    packed, rows, columns = _elimination.eliminate(a, pivoting)
    largest = xnp.max(modulus(part(packed, ops.le)), axis=(-2, -1), initial=0)
    size = xnp.max(modulus(a), axis=(-2, -1), initial=0)
    return GaussLU(packed, rows, columns, largest / xnp.where(size == 0, 1, size))


# Over any numbers


@fused(2)
def _solve(a, b, pivoting):
    who = "linalg.gauss_solve"
    one_of(who, "pivoting", pivoting, _elimination.PIVOTING)
    a, b = as_inexact(who, a, b)
    check_matrices(who, square=True, a=a)
    a, b, back = with_columns(who, a, b)
    x, packed = _elimination.solve_by_elimination(a, b, pivoting)
    return back(x), _elimination.first_zero(diagonal(packed))


@fused(2)
def _solve_in_field(a, b, p):
    who = "linalg.gauss_solve"
    a, b = (as_residues(who, x, p) for x in (a, b))
    check_matrices(who, square=True, a=a)
    a, b, back = with_columns(who, a, b)
    n = typeof(a).shape[-1]

    def one(ab):
        s = eliminate(ab, n, Residues(p), True)
        return s.a[:, n:].astype(np.int32), xnp.where(s.rank < n, s.rank, -1)

    x, pivot = over_batch(one, xnp.concatenate([a, b], axis=-1))
    return back(x), pivot


def gauss_solve(
    a: ArrayLike, b: ArrayLike, pivoting: str = "partial", *, field: int | None = None,
    return_steps: bool = False,
) -> Array | EliminationSteps:  # fmt: skip
    """The solution x of a x = b by our own elimination; exact over a field.

    A singular matrix raises SingularMatrixError. Derivatives are those of the equation.

    Args:
      a: matrices (..., n, n).
      b: right-hand sides (..., n, k), or one vector (n,).
      pivoting: "partial", "complete" or "none".
      field: a prime p, to calculate with integers modulo p.
      return_steps: return the ``EliminationSteps`` of (a b) to the reduced form instead.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.gauss_solve(xnp.asarray([[0.0, 2.0], [1.0, 1.0]]), xnp.asarray([2.0, 3.0]))
    Array([2., 1.], dtype=float32)
    >>> xc.linalg.gauss_solve(xnp.asarray([[1, 1], [0, 1]]), xnp.asarray([0, 1]), field=2)
    Array([1, 1], dtype=int32)
    """
    who = "linalg.gauss_solve"
    one_of(who, "pivoting", pivoting, _elimination.PIVOTING)
    if return_steps:
        return _shown(who, a, b, pivoting, field)
    return _solved(who, a, b, pivoting, field)


def _solved(who: str, a, b, pivoting: str, field):
    if field is None:
        x, pivot = _solve(a, b, pivoting)
    else:
        x, pivot = _solve_in_field(a, b, check_field(who, field))
    fail(who, a, pivot, "ours" if field is None else "field")
    return x


def _shown(who: str, a, b, pivoting: str, field) -> EliminationSteps:
    """The elimination of (a b); a textbook's takes the largest number of a column."""
    if pivoting != "partial":
        raise errors.bad_argument(who, "pivoting", pivoting, "'partial' with return_steps=True")
    a, b = as_array(who, a), as_array(who, b)
    check_matrices(who, square=True, a=a)
    a, b, _ = with_columns(who, a, b)
    return elimination_steps(xnp.concatenate([a, b], axis=-1), reduced=True, field=field)


def gauss_inv(a: ArrayLike, pivoting: str = "partial", *, field: int | None = None) -> Array:
    """The inverse by our own elimination; exact over a field.

    Args:
      a: square matrices (…, n, n).
      pivoting: how pivots are chosen, as for ``gauss_solve``.
      field: a prime p, for integers modulo p.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.gauss_inv(xnp.asarray([[2, 1], [1, 1]]), field=7)
    Array([[1, 6],
           [6, 2]], dtype=int32)
    """
    who = "linalg.gauss_inv"
    one_of(who, "pivoting", pivoting, _elimination.PIVOTING)
    a = xnp.asarray(a)
    check_matrices(who, square=True, a=a)
    return _solved(who, a, identity_like(a), pivoting, field)


def gauss_det(a: ArrayLike, *, field: int | None = None) -> Array:
    """The determinant by our own elimination; exact over a field.

    Args:
      a: square matrices (…, n, n).
      field: a prime p, for integers modulo p.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.gauss_det(xnp.asarray([[1, 2], [3, 4]]), field=5)
    Array(3, dtype=int32)
    """
    who = "linalg.gauss_det"
    a = xnp.asarray(a)
    check_matrices(who, square=True, a=a)
    if field is None:
        return our_determinant(as_inexact(who, a)[0])
    _, rank, _, det = forms(a, who, False, field, None)
    return xnp.where(rank == a.shape[-1], det, 0)


@fused(1)
def _null_space(a, field, tol):
    """For each column of the matrix (n) a vector, and whether it belongs to the basis."""
    a = numbers_for("linalg.gauss_null_space", a, field)
    n = typeof(a).shape[-1]

    def one(a):
        arithmetic = arithmetic_for(a, field, tol)
        s = eliminate(a, n, arithmetic, True)
        # Free column j gives the vector with 1 at j and, at the column of row i's pivot, -a[i, j].
        places = xnp.where(s.pivots < 0, n, s.pivots)
        base = xnp.zeros((n + 1, n), typeof(a).dtype).at[places].set(arithmetic.negative(s.a))[:n]
        free = xnp.ones(n + 1, bool).at[places].set(False)[:n]
        base = xnp.where(xnp.eye(n, dtype=bool), 1, base)
        return base.astype(np.int32 if field else typeof(a).dtype), free

    return over_batch(one, a)


def gauss_null_space(
    a: ArrayLike, *, field: int | None = None, tol: float | None = None, size: int | None = None
) -> Array:
    """A basis of the vectors x with a x = 0, as columns.

    Args:
      a: matrix (m, n); with ``size`` also a batch.
      field: a prime p, to calculate with integers modulo p.
      tol: numbers up to this modulus count as zero.
      size: the number of columns of the result, which else depends on values; needed under
        ``jit``. Missing columns are zero.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.gauss_null_space(xnp.asarray([[1, 1, 0], [0, 1, 1]]), field=2)
    Array([[1],
           [1],
           [1]], dtype=int32)
    """
    base, free = _null_space(
        a, field if field is None else check_field("linalg.gauss_null_space", field), tol
    )
    if size is None:
        if type(free) is not Array:
            raise errors.ConcretizationError(
                "xcore.linalg.gauss_null_space: how many columns the result has depends on the rank, "
                "which is traced. Give size=, or compute it outside the traced function."
            )
        if free.ndim > 1:
            why = "must be one matrix, for those of a batch may have different ranks; or give size="
            raise errors.shape_mismatch("linalg.gauss_null_space", why, a=base)
        return base[:, np.flatnonzero(np.asarray(free))]
    order = xnp.argsort(~free, axis=-1)[..., :size]
    kept = xnp.take_along_axis(free, order, axis=-1)
    chosen = xnp.take_along_axis(base, order[..., None, :], axis=-1)
    return xnp.where(kept[..., None, :], chosen, 0)
