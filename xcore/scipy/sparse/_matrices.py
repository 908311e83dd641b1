"""Factors, functions and least squares of sparse matrices, with SciPy's arguments and results."""

from __future__ import annotations

import importlib
from typing import Any, overload

import numpy as np

from ... import numpy as xnp
from ..._core import Array, ArrayLike, boundary, dtypes, errors, one_of, struct
from ..._solution import Status
from ...linalg import as_operator
from ...linalg import expm as _expm
from ...linalg import lobpcg as _lobpcg
from ...linalg import lsmr as _lsmr
from ...linalg._range import safe_norm
from ...linalg._truth import norm1_estimate
from ...sparse import Factors, Sparse, coo_array, eye_array, from_dense
from ...sparse import factorise as _factorise
from ...sparse import solve as _direct
from ...sparse._elements import is_matrix

_LINALG = "scipy.sparse.linalg"


def _square(who: str, a: Any) -> Any:
    a = coo_array(a)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise errors.shape_mismatch(f"{_LINALG}.{who}", "need one square matrix", A=a)
    return a


# Factors


@struct
class SuperLU:
    """Factors of a square sparse matrix, which are made when first needed: see ``xcore.sparse.factorise``.

    >>> from scipy import sparse
    >>> from xcore.scipy.sparse.linalg import splu
    >>> splu(sparse.csc_array([[2.0, 0.0], [1.0, 4.0]])).solve([2.0, 5.0])
    Array([1., 1.], dtype=float64)
    """

    factors: Factors

    @property
    def shape(self) -> tuple[int, int]:
        return self.factors.a.pattern.shape

    def solve(self, rhs: ArrayLike, trans: str = "N") -> Array:
        """The solution of A x = rhs, with ``trans`` "T" of Aᵀ x = rhs, with "H" of Aᴴ x = rhs."""
        one_of(f"{_LINALG}.SuperLU.solve", "trans", trans, ("N", "T", "H"))
        if trans == "N":
            return self.factors.solve(rhs)  # pyright: ignore[reportReturnType]
        turned = self.factors.T.solve(xnp.conj(rhs) if trans == "H" else rhs)
        return xnp.conj(turned) if trans == "H" else turned  # pyright: ignore[reportReturnType, reportArgumentType]

    def _scipys(self) -> Any:
        f, theirs = self.factors, importlib.import_module(_LINALG)
        make = theirs.spilu if f.kind == "ilu" else theirs.splu
        return make(f.a.to_scipy().tocsc(), **dict(f.options))

    L = property(lambda self: coo_array(self._scipys().L), doc="Pr A Pc = L U, as SciPy has it.")
    U = property(lambda self: coo_array(self._scipys().U), doc="Pr A Pc = L U, as SciPy has it.")
    perm_r = property(lambda self: self._scipys().perm_r, doc="Where Pr puts rows.")
    perm_c = property(lambda self: self._scipys().perm_c, doc="Where Pc puts columns.")
    nnz = property(lambda self: self._scipys().nnz, doc="Elements of L and U.")


@boundary
def splu(
    A: Any, permc_spec: Any = None, diag_pivot_thresh: Any = None, relax: Any = None, panel_size: Any = None,
    options: Any = None,
) -> SuperLU:  # fmt: skip
    """LU factors with ``solve(b)``, as ``xcore.sparse.factorise``; a singular matrix is told by ``solve``.

    Args:
      A: a square matrix, of ``xcore.sparse`` or SciPy's.
      permc_spec, diag_pivot_thresh, relax, panel_size, options: of no effect.

    >>> from xcore import sparse
    >>> splu(2 * sparse.eye_array(2)).solve([2.0, 4.0])
    Array([1., 2.], dtype=float32)
    """
    return SuperLU(_factorise(_square("splu", A)))


@boundary
def spilu(
    A: Any, drop_tol: float | None = None, fill_factor: float | None = None, drop_rule: Any = None,
    permc_spec: Any = None, diag_pivot_thresh: Any = None, relax: Any = None, panel_size: Any = None,
    options: Any = None,
) -> SuperLU:  # fmt: skip
    """Incomplete LU factors with ``solve(b)``, by SuperLU on the host; ``factors`` of them is a preconditioner.

    Args:
      A: a square matrix, of ``xcore.sparse`` or SciPy's.
      drop_tol, fill_factor, drop_rule, permc_spec, diag_pivot_thresh, relax, panel_size, options: as SciPy's.

    >>> from xcore import sparse
    >>> spilu(2 * sparse.eye_array(2)).solve([2.0, 4.0])
    Array([1., 2.], dtype=float32)
    """
    given = {
        "drop_tol": drop_tol, "fill_factor": fill_factor, "drop_rule": drop_rule, "permc_spec": permc_spec,
        "diag_pivot_thresh": diag_pivot_thresh, "relax": relax, "panel_size": panel_size, "options": options,
    }  # fmt: skip
    chosen = {k: x for k, x in given.items() if x is not None}
    return SuperLU(_factorise(_square("spilu", A), "ilu", **chosen))


# Functions


@boundary
def inv(A: Any) -> Sparse:
    """The inverse, with an element at every place. To solve equations ``spsolve`` is faster and more accurate.

    Args:
      A: a square matrix.

    >>> from xcore import sparse
    >>> inv(2 * sparse.eye_array(2)).diagonal()
    Array([0.5, 0.5], dtype=float32)
    """
    a = _square("inv", A)
    a = a.astype(dtypes.to_solve(a.dtype))
    return from_dense(_direct(a, xnp.eye(a.shape[0], dtype=a.dtype)), _full(a))  # pyright: ignore[reportArgumentType]


def _full(a: Any) -> Any:
    return from_dense(np.ones(a.pattern.shape)).pattern


@overload
def expm(A: Sparse) -> Sparse: ...
@overload
def expm(A: ArrayLike) -> Array: ...
@overload
def expm(A: Any) -> Array | Sparse: ...
@boundary
def expm(A: Any) -> Array | Sparse:
    """The exponential of a matrix, with an element at every place; ``expm_multiply`` needs products only.

    Args:
      A: a square matrix; of a dense one the result is dense.

    >>> from xcore import sparse
    >>> expm(0 * sparse.eye_array(2)).diagonal()
    Array([1., 1.], dtype=float32)
    """
    if not is_matrix(A):
        return _expm(A)
    a = _square("expm", A)
    return from_dense(_expm(a.todense()), _full(a))  # pyright: ignore[reportArgumentType]


@boundary
def matrix_power(A: Any, power: int) -> Sparse:
    """A to a power, by products of sparse matrices.

    Args:
      A: a square matrix.
      power: an int, 0 or more.

    >>> from xcore import sparse
    >>> matrix_power(2 * sparse.eye_array(2), 5).diagonal()
    Array([32., 32.], dtype=float32)
    """
    a = _square("matrix_power", A)
    if not isinstance(power, (int, np.integer)) or power < 0:
        need = "an int of 0 or more; inv(A) is a negative one"
        raise errors.bad_argument(f"{_LINALG}.matrix_power", "power", power, need)
    made = None
    for bit in f"{power:b}" if power else "":
        made = None if made is None else made @ made
        if bit == "1":
            made = a if made is None else made @ a
    return eye_array(a.shape[0], dtype=a.dtype) if made is None else made


@boundary
def onenormest(
    A: Any, t: int = 2, itmax: int = 5, compute_v: bool = False, compute_w: bool = False
) -> Array:
    """An estimate from below of the 1-norm, the largest sum of a column, from products; ``norm(A, 1)`` is exact.

    Args:
      A: square matrix or operator.
      t: of no effect.
      itmax: at most so many steps.
      compute_v, compute_w: must be False.

    >>> from xcore import sparse
    >>> onenormest(sparse.diags_array([1.0, -3.0]))
    Array(3., dtype=float32)
    """
    one_of(f"{_LINALG}.onenormest", "compute_v", compute_v or compute_w, (False,))
    a = coo_array(A) if is_matrix(A) else as_operator(A)
    like = xnp.zeros((a.shape[1], 1), getattr(a, "dtype", xnp.zeros(()).dtype))
    like = like.astype(dtypes.to_inexact(like.dtype))
    adjoint = lambda y: xnp.conj(a.T.matmat(xnp.conj(y)))  # noqa: E731
    return norm1_estimate(a.matmat, adjoint, like, itmax)


@boundary
def is_sptriangular(A: Any) -> tuple[bool, bool]:
    """(whether a matrix is lower triangular, whether upper), by the places that are stored.

    Args:
      A: a sparse matrix.

    >>> from xcore import sparse
    >>> is_sptriangular(sparse.tril([[1.0, 2.0], [3.0, 4.0]]))
    (True, False)
    """
    below, above = spbandwidth(A)
    return above == 0, below == 0


@boundary
def spbandwidth(A: Any) -> tuple[int, int]:
    """(how many diagonals below the main one, how many above) a matrix has, by the places that are stored.

    Args:
      A: a sparse matrix.

    >>> from xcore import sparse
    >>> spbandwidth(sparse.diags_array([[1.0], [2.0]], offsets=[-2, 1], shape=(3, 3)))
    (2, 1)
    """
    p = coo_array(A).pattern
    off = p.columns.astype(np.int64) - p.rows
    return max(0, -int(off.min(initial=0))), int(off.max(initial=0))


# Least squares


def _least(who: str, A: Any, b: Any, damp: Any, atol: float, limit: Any, x0: Any) -> tuple:
    """(x, istop, steps, |b - A x|, what is left of the normal equations, A, whether damped)."""
    a, b = coo_array(A) if is_matrix(A) else as_operator(A), xnp.asarray(b)
    b = b[:, 0] if b.ndim == 2 and b.shape[1] == 1 else b
    if b.ndim != 1:
        raise errors.shape_mismatch(f"{_LINALG}.{who}", "need one right side", b=b)
    start = 0 if x0 is None else xnp.asarray(x0)
    right = b if x0 is None else b - a @ start
    found = _lsmr(a, right, damp=damp, rtol=atol, max_steps=limit, report=True)
    x = found.value + start  # pyright: ignore[reportAttributeAccessIssue]
    left = b - a @ x
    normal = xnp.conj(a.T @ xnp.conj(left)) - damp**2 * (x - start)
    size, whole = safe_norm(left), safe_norm(b)
    solved = found.status == np.int32(Status.success)  # pyright: ignore[reportAttributeAccessIssue]
    stop = xnp.where(size <= atol * whole, 1, xnp.where(solved, 2, 7))
    stop = xnp.where(safe_norm(right) == 0, 0, stop)
    return x, stop, found.steps, size, safe_norm(normal), a  # pyright: ignore[reportAttributeAccessIssue]


def _norm_of(a: Any) -> Any:
    return safe_norm(a.values) if is_matrix(a) else xnp.asarray(np.nan)


@boundary
def lsmr(
    A: Any, b: ArrayLike, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6, conlim: Any = 1e8,
    maxiter: int | None = None, show: bool = False, x0: ArrayLike | None = None,
) -> tuple:  # fmt: skip
    """(x, istop, itn, normr, normar, norma, conda, normx): least squares by LSMR, as ``xcore.linalg.lsmr``.

    ``istop`` is 0 where b - A x0 is 0, 1 where |b - A x| is at most atol |b|, 2 where the normal equations hold to
    atol, 7 where neither was reached. ``norma`` is Frobenius' norm (of operators NaN), ``conda`` NaN.

    Args:
      A: matrix, dense or sparse, or operator (m, n).
      b: vector (m,).
      damp: weight of the size of x (with x0 of x - x0).
      atol: of |Aᴴ (b - A x)| relative to |Aᴴ b|.
      btol, conlim, show: of no effect.
      maxiter: at most so many steps.
      x0: where to start.

    >>> from xcore import sparse
    >>> lsmr(2 * sparse.eye_array(2), [2.0, 4.0])[0]
    Array([1., 2.], dtype=float32)
    """
    x, stop, steps, size, normal, a = _least("lsmr", A, b, damp, atol, maxiter, x0)
    return x, stop, steps, size, normal, _norm_of(a), xnp.asarray(np.nan), safe_norm(x)


@boundary
def lsqr(
    A: Any, b: ArrayLike, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6, conlim: Any = 1e8,
    iter_lim: int | None = None, show: bool = False, calc_var: bool = False, x0: ArrayLike | None = None,
) -> tuple:  # fmt: skip
    """(x, istop, itn, r1norm, r2norm, anorm, acond, arnorm, xnorm, var): the same by the arguments of LSQR.

    It is ``lsmr``, which ends at the same x. ``r2norm`` is √(|b - A x|² + damp² |x - x0|²), ``acond`` NaN.

    Args:
      A, b, damp, atol, btol, conlim, show, x0: as for ``lsmr``.
      iter_lim: at most so many steps.
      calc_var: must be False; ``var`` are zeros.

    >>> from xcore import sparse
    >>> lsqr(2 * sparse.eye_array(2), [2.0, 4.0])[0]
    Array([1., 2.], dtype=float32)
    """
    one_of(f"{_LINALG}.lsqr", "calc_var", calc_var, (False,))
    x, stop, steps, size, normal, a = _least("lsqr", A, b, damp, atol, iter_lim, x0)
    moved = safe_norm(x if x0 is None else x - xnp.asarray(x0))
    both, var = xnp.hypot(size, damp * moved), xnp.zeros_like(x)
    return x, stop, steps, size, both, _norm_of(a), xnp.asarray(np.nan), normal, safe_norm(x), var


@boundary
def lobpcg(
    A: Any, X: ArrayLike, B: Any = None, M: Any = None, Y: None = None, tol: float | None = None,
    maxiter: int | None = None, largest: bool = True, verbosityLevel: int = 0, retLambdaHistory: bool = False,
    retResidualNormsHistory: bool = False, restartControl: int = 20,
) -> tuple[Array, Array]:  # fmt: skip
    """(w, v): as many eigenvalues as X has columns, those wanted most in front; see ``xcore.linalg.lobpcg``.

    Where the tolerance is missed SolverError is raised.

    Args:
      A: symmetric matrix, dense or sparse, or operator (n, n).
      X: vectors (n, k) to start from.
      B: symmetric positive definite matrix or operator of A x = w B x, in whose inner product v is orthonormal.
      Y: must be None.
      M: about the inverse of A.
      tol: tolerance for the residuals, relative to the norm of A; √precision by default.
      maxiter: at most so many steps, 200 by default.
      largest: the largest ones, else the smallest.
      retLambdaHistory, retResidualNormsHistory: must be False.
      verbosityLevel, restartControl: of no effect.

    >>> import xcore.numpy as xnp
    >>> lobpcg(xnp.diag(xnp.arange(1.0, 21.0)), xnp.ones((20, 2)))[0].round(3)
    Array([20., 19.], dtype=float32)
    """
    who = f"{_LINALG}.lobpcg"
    if Y is not None:
        raise errors.bad_argument(who, "Y", Y, "None: vectors to keep away from are not taken here")
    one_of(who, "retLambdaHistory", retLambdaHistory or retResidualNormsHistory, (False,))
    X = xnp.asarray(X)
    if X.ndim != 2:
        raise errors.shape_mismatch(who, "need vectors (n, k)", X=X)
    w, v = _lobpcg(
        as_operator(A), X.shape[1], B=B, which="largest" if largest else "smallest", x0=X, preconditioner=M,
        rtol=tol, max_steps=200 if maxiter is None else maxiter,
    )  # pyright: ignore[reportGeneralTypeIssues]  # fmt: skip
    return (w[::-1], v[:, ::-1]) if largest else (w, v)
