"""Krylov methods with the arguments of SciPy and of ``jax.scipy.sparse.linalg``.

Unknowns may be trees of arrays. As in SciPy the second result is 0 where the tolerance was reached, by the residual
computed anew, and another number where not; nothing is raised. Matrices may be dense, or sparse ones of SciPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

import numpy as np

from ... import numpy as xnp
from ..._control import eval_shape, scan
from ..._core import Array, ArrayLike, PyTree, Shape, boundary, dtypes, errors, one_of, tree
from ...linalg import (
    CG,
    GMRES,
    MINRES,
    BiCGStab,
    FunctionOperator,
    as_operator,
    linear_solve,
)
from ...linalg import LinearOperator as _Operator
from ...linalg import eigsh as _eigsh
from ...linalg import expm_multiply as _expm_multiply
from ...linalg._lsmr import steps_for
from ...linalg._operators import OnHost, is_function, is_of_scipy
from ...sparse import Sparse, issparse
from ...sparse import as_sparse as _sparse
from ...sparse import coo_array as _coo_array
from ...sparse import eigs as _eigs
from ...sparse import factorise as _factorise
from ...sparse import solve as _direct
from ...sparse import solve_triangular as _triangular
from ...sparse import svds as _svds
from .._names import guide
from ._matrices import (
    SuperLU,
    expm,
    inv,
    is_sptriangular,
    lobpcg,
    lsmr,
    lsqr,
    matrix_power,
    onenormest,
    spbandwidth,
    spilu,
    splu,
)  # fmt: skip


class _Flat:
    """Trees of arrays as vectors, and back, in a dtype that holds what goes with them, too."""

    def __init__(self, b, *beside):
        leaves, self.structure = tree.flatten(b)
        leaves = [xnp.asarray(x) for x in leaves]
        self.shapes = [x.shape for x in leaves]
        self.dtypes = [x.dtype for x in leaves]
        self.cuts = np.cumsum([x.size for x in leaves])[:-1].tolist()
        self.size = sum(x.size for x in leaves)
        kinds = [x.dtype if hasattr(x, "dtype") else x for x in tree.leaves(beside)]
        self.dtype = dtypes.to_inexact(xnp.result_type(*leaves, *kinds))

    def vector(self, x):
        leaves, structure = tree.flatten(x)
        if structure != self.structure:
            raise errors.bad_argument("scipy.sparse.linalg", "x0 or A(x)", x, "a tree like b")
        return xnp.concatenate([xnp.asarray(v).reshape(-1).astype(self.dtype) for v in leaves])

    def tree(self, x):
        parts = zip(xnp.split(x, self.cuts), self.shapes, strict=True)
        return tree.unflatten(self.structure, [p.reshape(shape) for p, shape in parts])


def _as_function(a):
    if is_function(a):
        return a
    a = as_operator(a) if hasattr(a, "tocoo") or is_of_scipy(a) else a
    return a.mv if isinstance(a, _Operator) else lambda x: xnp.asarray(a) @ x


def _operator(a, symmetric: bool = False):
    """A matrix, sparse or not, or an operator; SciPy takes their word that they are symmetric."""
    a = as_operator(a)
    if isinstance(a, FunctionOperator | OnHost | Sparse) and symmetric:
        return a.replace(symmetric=True)
    return a


def _solve(solver, A, b, x0, M, symmetric: bool):
    A, M = _as_function(A), None if M is None else _as_function(M)
    flat = _Flat(b, x0, *[eval_shape(f, b) for f in (A, M) if f is not None])
    real = not dtypes.is_complex(flat.dtype)

    def operator(f):
        made = lambda _, v: flat.vector(f(flat.tree(v)))  # noqa: E731
        own = flat.shapes[0] if len(flat.shapes) == 1 else None
        return FunctionOperator(
            made, None, (flat.size,) * 2, symmetric=symmetric and real, field=own
        )

    guess = None if x0 is None else flat.vector(x0)
    m = None if M is None else operator(M)
    answer = linear_solve(
        operator(A), flat.vector(b), solver, preconditioner=m, x0=guess, report=True
    )
    return flat.tree(answer.value), answer.status


def _goal(who: str, rtol, tol, callback) -> float:
    """The relative tolerance, by SciPy's name or by JAX's; loops are compiled and call nobody."""
    if callback is not None:
        wanted = (
            "None: loops are compiled; xcore.linalg.linear_solve(report=True) tells how it went"
        )
        raise errors.bad_argument(f"scipy.sparse.linalg.{who}", "callback", callback, wanted)
    return 1e-5 if rtol is None and tol is None else tol if rtol is None else rtol


@boundary
def cg(
    A: Any, b: PyTree, x0: PyTree = None, *, rtol: float | None = None, tol: float | None = None,
    atol: float = 0.0, maxiter: int | None = None, M: Any = None, callback: None = None,
) -> tuple[Any, Array]:  # fmt: skip
    """(x, info): x with A x = b for a Hermitian positive definite A, by conjugate gradients.

    Args:
      A: matrix, dense or sparse, operator, or function of trees like b.
      b: right-hand side, an array or a tree of arrays.
      x0: where to start; zeros by default.
      rtol, atol: tolerance: |b - A x| <= max(rtol |b|, atol); 1e-5 and 0 by default. ``tol`` is JAX's name of rtol.
      maxiter: at most this many steps; 10 times the number of unknowns by default.
      M: about the inverse of A, as A is given.
      callback: must be None.

    ``info`` is 0 where the tolerance was reached, else the number of a ``Status`` of ``xcore.linalg``.

    >>> import xcore.numpy as xnp
    >>> cg(lambda x: 2 * x, xnp.ones(3))[0]
    Array([0.5, 0.5, 0.5], dtype=float32)
    """
    tol = _goal("cg", rtol, tol, callback)
    return _solve(CG(rtol=tol, atol=atol, max_steps=maxiter), A, b, x0, M, True)


@boundary
def bicgstab(
    A: Any, b: PyTree, x0: PyTree = None, *, rtol: float | None = None, tol: float | None = None,
    atol: float = 0.0, maxiter: int | None = None, M: Any = None, callback: None = None,
) -> tuple[Any, Array]:  # fmt: skip
    """(x, info): x with A x = b for any regular A; arguments as for ``cg``.

    Args:
      A, b, x0, rtol, tol, atol, maxiter, M, callback: as for ``cg``; A need not be Hermitian.

    >>> import xcore.numpy as xnp
    >>> bicgstab(xnp.asarray([[2.0, 0.0], [0.0, 4.0]]), xnp.ones(2))[0]
    Array([0.5 , 0.25], dtype=float32)
    """
    tol = _goal("bicgstab", rtol, tol, callback)
    return _solve(BiCGStab(rtol=tol, atol=atol, max_steps=maxiter), A, b, x0, M, False)


@boundary
def minres(
    A: Any, b: PyTree, x0: PyTree = None, *, rtol: float = 1e-5, shift: ArrayLike = 0.0,
    maxiter: int | None = None, M: Any = None, callback: None = None, show: bool = False,
    check: bool = False,
) -> tuple[Any, Array]:  # fmt: skip
    """(x, info): x with (A - shift) x = b for a Hermitian A, by minimal residuals; arguments as for ``cg``.

    Args:
      A, b, x0, rtol, maxiter, M, callback: as for ``cg``; A need not be definite.
      shift: number that is taken from the diagonal of A.
      show, check: of no effect.

    >>> import xcore.numpy as xnp
    >>> minres(xnp.asarray([[2.0, 0.0], [0.0, -4.0]]), xnp.ones(2))[0]
    Array([ 0.5 , -0.25], dtype=float32)
    """
    product = _as_function(A)
    shifted = (
        product
        if isinstance(shift, (int, float)) and not shift
        else lambda x: product(x) - shift * x
    )
    tol = _goal("minres", rtol, None, callback)
    return _solve(MINRES(rtol=tol, max_steps=maxiter), shifted, b, x0, M, True)


@boundary
def gmres(
    A: Any, b: PyTree, x0: PyTree = None, *, rtol: float | None = None, tol: float | None = None,
    atol: float = 0.0, restart: int = 20, maxiter: int | None = None, M: Any = None,
    callback: None = None, callback_type: Any = None, solve_method: str = "batched",
) -> tuple[Any, Array]:  # fmt: skip
    """(x, info): x with A x = b for any regular A, by minimal residuals.

    Args:
      A, b, x0, rtol, tol, atol, M, callback: as for ``cg``.
      restart: products of one cycle.
      maxiter: at most this many cycles.
      solve_method: "batched" or "incremental"; both do the same here.

    >>> import xcore.numpy as xnp
    >>> x, _ = gmres(xnp.asarray([[2.0, 1.0], [0.0, 4.0]]), xnp.ones(2))
    >>> [round(float(v), 3) for v in x]
    [0.375, 0.25]
    """
    if solve_method not in ("batched", "incremental"):
        raise errors.bad_argument(
            "scipy.sparse.linalg.gmres", "solve_method", solve_method, "'batched' or 'incremental'"
        )
    tol, restart = _goal("gmres", rtol, tol, callback), 20 if restart is None else restart
    solver = GMRES(rtol=tol, atol=atol, max_steps=maxiter, restart=restart)
    return _solve(solver, A, b, x0, M, False)


# Operators


def LinearOperator(
    shape: Shape, matvec: Callable[..., Any], rmatvec: Any = None, matmat: Any = None,
    dtype: Any = None, rmatmat: Any = None,
) -> FunctionOperator:  # fmt: skip
    """An operator by its product with a vector. That with the transpose is derived from it.

    Args:
      shape: (m, n).
      matvec: a linear function of vectors (n,), of functions of ``xcore.numpy``. All others have no effect.

    >>> import xcore.numpy as xnp
    >>> LinearOperator((2, 2), lambda x: 2 * x) @ xnp.ones(2)
    Array([2., 2.], dtype=float32)
    """
    return FunctionOperator(lambda _, x: xnp.asarray(matvec(x)), None, tuple(shape))


def aslinearoperator(A: Any) -> _Operator:
    """A matrix, sparse or not, as an operator.

    Args:
      A: dense or sparse matrix, or operator.

    >>> import xcore.numpy as xnp
    >>> aslinearoperator(xnp.eye(2)).shape
    (2, 2)
    """
    return _operator(A)


def expm_multiply(
    A: Any, B: ArrayLike | Sequence[Any], start: complex | None = None, stop: complex | None = None,
    num: int | None = None, endpoint: bool | None = None, traceA: Any = None,
) -> Array:  # fmt: skip
    """exp(A) B, or exp(t A) B for num times t from start to stop, one after another.

    See ``xcore.linalg.expm_multiply``.

    Args:
      A: matrix, dense or sparse, or operator.
      B: vector, or matrix of columns.
      start, stop: the first time and the last; the result has an axis of times in front.
      num: how many times, 50 by default.
      endpoint: whether ``stop`` is one of them, as it is by default.
      traceA: of no effect.

    >>> import xcore.numpy as xnp
    >>> a = xnp.asarray([[0.0, 1.0], [0.0, 0.0]])
    >>> expm_multiply(a, xnp.ones(2))
    Array([2., 1.], dtype=float32)
    >>> expm_multiply(a, xnp.ones(2), start=0, stop=2, num=3)
    Array([[1., 1.],
           [2., 1.],
           [3., 1.]], dtype=float32)
    """
    A, B = _operator(A), xnp.asarray(B)
    if start is stop is num is endpoint is None:
        return _expm_multiply(A, B)
    who, num = "scipy.sparse.linalg.expm_multiply", 50 if num is None else num
    endpoint = endpoint is None or bool(endpoint)
    if start is None or stop is None:
        missing = "start" if start is None else "stop"
        wanted = "a number, as an interval is asked for"
        raise errors.bad_argument(who, missing, None, wanted)
    if isinstance(num, bool) or not isinstance(num, (int, np.integer)) or num < 2:
        raise errors.bad_argument(who, "num", num, "an int of at least 2")
    h = (stop - start) / (num - endpoint)
    first = _expm_multiply(A, B, start + 0 * h)  # complex where steps are
    steps = steps_for(who, A, h, first)
    further = lambda x, _: (_expm_multiply(A, x, h, steps=steps),) * 2  # noqa: E731
    return xnp.concatenate([first[None], scan(further, first, None, length=num - 1)[1]])


# Eigenvalues


@overload
def eigsh(
    A: Any, k: int = 6, M: Any = None, sigma: ArrayLike | None = None, which: str = "LM",
    v0: ArrayLike | Sequence[Any] | None = None, ncv: int | None = None, maxiter: int | None = None, tol: float = 0,
    return_eigenvectors: Literal[True] = True, Minv: Any = None, OPinv: Any = None, mode: str = "normal",
    rng: Any = None,
) -> tuple[Array, Array]: ...  # fmt: skip
@overload
def eigsh(
    A: Any, k: int = 6, M: Any = None, sigma: ArrayLike | None = None, which: str = "LM",
    v0: ArrayLike | Sequence[Any] | None = None, ncv: int | None = None, maxiter: int | None = None, tol: float = 0,
    *, return_eigenvectors: Literal[False], Minv: Any = None, OPinv: Any = None, mode: str = "normal",
    rng: Any = None,
) -> Array: ...  # fmt: skip
@overload
def eigsh(
    A: Any, k: int = 6, M: Any = None, sigma: ArrayLike | None = None, which: str = "LM",
    v0: ArrayLike | Sequence[Any] | None = None, ncv: int | None = None, maxiter: int | None = None, tol: float = 0,
    return_eigenvectors: bool = True, Minv: Any = None, OPinv: Any = None, mode: str = "normal", rng: Any = None,
) -> tuple[Array, Array] | Array: ...  # fmt: skip
@boundary
def eigsh(
    A: Any, k: int = 6, M: Any = None, sigma: ArrayLike | None = None, which: str = "LM",
    v0: ArrayLike | Sequence[Any] | None = None, ncv: int | None = None, maxiter: int | None = None,
    tol: float = 0, return_eigenvectors: bool = True, Minv: Any = None, OPinv: Any = None,
    mode: str = "normal", rng: Any = None,
) -> tuple[Array, Array] | Array:  # fmt: skip
    """(w, v): k eigenvalues of a Hermitian matrix or operator, ascending, and their vectors as columns.

    Where the tolerance is missed SolverError is raised; see ``xcore.linalg.eigsh``.

    Args:
      A: matrix, dense or sparse, or operator, which is taken to be Hermitian.
      k: how many.
      M: Hermitian positive definite matrix or operator of A x = w M x, in whose inner product v is orthonormal.
      sigma: find those next to this shift.
      which: "LM", "SM", "LA", "SA" or "BE"; with a shift "LM".
      v0: vector to start from.
      ncv: size of the space.
      maxiter: restarts at most.
      tol: tolerance for the residuals, relative to the norm of A; precision^¾ for 0.
      return_eigenvectors: False gives w alone.
      OPinv: operator x ↦ (A - sigma M)⁻¹ x.
      Minv, mode, rng: of no effect, as mode="normal" is the only one.

    >>> import xcore.numpy as xnp
    >>> eigsh(xnp.diag(xnp.arange(1.0, 9.0)), k=2, which="SA", return_eigenvectors=False).round(3)
    Array([1., 2.], dtype=float32)
    """
    who = "scipy.sparse.linalg.eigsh"
    one_of(who, "mode", mode, ("normal",))
    if sigma is not None and which != "LM":
        wanted = "'LM' with a shift: the eigenvalues next to it"
        raise errors.bad_argument(who, "which", which, wanted)
    inverse = None if OPinv is None else _operator(OPinv, symmetric=True)
    w, v = _eigsh(
        _operator(A, symmetric=True), k, which=which, x0=v0, ncv=ncv, sigma=sigma, inverse=inverse,
        M=None if M is None else _operator(M, symmetric=True), rtol=tol or None,
        **({} if maxiter is None else {"max_steps": maxiter}),
    )  # fmt: skip
    return (w, v) if return_eigenvectors else w


@overload
def svds(
    A: Any, k: int = 6, ncv: int | None = None, tol: float = 0, which: str = "LM", v0: Any = None,
    maxiter: int | None = None, return_singular_vectors: Literal[True, "u", "vh"] = True, solver: str = "arpack",
    rng: Any = None, options: Any = None, *, random_state: Any = None,
) -> tuple[Array, Array, Array]: ...  # fmt: skip
@overload
def svds(
    A: Any, k: int = 6, ncv: int | None = None, tol: float = 0, which: str = "LM", v0: Any = None,
    maxiter: int | None = None, *, return_singular_vectors: Literal[False], solver: str = "arpack", rng: Any = None,
    options: Any = None, random_state: Any = None,
) -> Array: ...  # fmt: skip
@overload
def svds(
    A: Any, k: int = 6, ncv: int | None = None, tol: float = 0, which: str = "LM", v0: Any = None,
    maxiter: int | None = None, return_singular_vectors: bool | str = True, solver: str = "arpack", rng: Any = None,
    options: Any = None, *, random_state: Any = None,
) -> tuple[Array, Array, Array] | Array: ...  # fmt: skip
@boundary
def svds(
    A: Any, k: int = 6, ncv: int | None = None, tol: float = 0, which: str = "LM", v0: Any = None,
    maxiter: int | None = None, return_singular_vectors: bool | str = True, solver: str = "arpack",
    rng: Any = None, options: Any = None, *, random_state: Any = None,
) -> tuple[Array, Array, Array] | Array:  # fmt: skip
    """(u, s, vh): the k largest or smallest singular values, ascending, and their vectors.

    See ``xcore.sparse.svds``; where residuals are above ten times the tolerance SolverError is raised.

    Args:
      A: matrix, dense or sparse, or operator (m, n).
      k: how many.
      ncv, tol, maxiter: as for ``eigsh``.
      which: "LM", or "SM" for the smallest, which are those of ``xcore.linalg.svd`` of all of A, in m n numbers.
      return_singular_vectors: False gives s alone.
      v0, solver, rng, options, random_state: of no effect.

    >>> import xcore.numpy as xnp
    >>> svds(xnp.diag(xnp.arange(1.0, 9.0)), k=2)[1].round(3)
    Array([7., 8.], dtype=float32)
    """
    who = "scipy.sparse.linalg.svds"
    one_of(who, "which", which, ("LM", "SM"))
    one_of(who, "solver", solver, ("arpack", "lobpcg", "propack"))
    one_of(who, "return_singular_vectors", return_singular_vectors, (True, False, "u", "vh"))
    u, s, vh = _svds(
        _operator(A),
        k,
        which=which,
        ncv=ncv,
        rtol=tol or None,
        **({} if maxiter is None else {"max_steps": maxiter}),
    )
    return s if return_singular_vectors is False else (u, s, vh)


@boundary
def spsolve(A: Any, b: ArrayLike, permc_spec: str | None = None, use_umfpack: bool = True) -> Array:
    """The solution of A x = b by sparse LU factors on the host, as ``xcore.sparse.solve``.

    Args:
      A: a square matrix, of ``xcore.sparse`` or SciPy's.
      b: right side, a vector or columns; a sparse one is taken with all of its elements.
      permc_spec, use_umfpack: of no effect.

    >>> from xcore import sparse
    >>> spsolve(2 * sparse.eye_array(2), [2.0, 4.0])
    Array([1., 2.], dtype=float32)
    """
    return _direct(A, _sparse(b).todense() if issparse(b) else b)  # pyright: ignore[reportReturnType]


@boundary
def spsolve_triangular(
    A: Any, b: ArrayLike, lower: bool = True, overwrite_A: bool = False, overwrite_b: bool = False,
    unit_diagonal: bool = False,
) -> Array:  # fmt: skip
    """The solution of A x = b for a triangular sparse matrix, as ``xcore.sparse.solve_triangular``.

    Args:
      A: a square matrix, of ``xcore.sparse`` or SciPy's.
      b: right side, a vector or columns.
      lower: which triangle counts.
      overwrite_A, overwrite_b: of no effect.
      unit_diagonal: take the diagonal to be 1.

    >>> from xcore import sparse
    >>> spsolve_triangular(2 * sparse.eye_array(2), [2.0, 4.0])
    Array([1., 2.], dtype=float32)
    """
    who, a = "scipy.sparse.linalg.spsolve_triangular", _coo_array(A)
    beyond = a.pattern.columns > a.pattern.rows if lower else a.pattern.columns < a.pattern.rows
    if type(a.values) is Array and bool(xnp.any(a.values[..., np.flatnonzero(beyond)] != 0)):
        which, other = ("lower", "above") if lower else ("upper", "below")
        want = f"{which} triangular: some {other} its diagonal are not 0; xcore.sparse.solve_triangular ignores them"
        raise errors.bad_argument(who, "A", A, want)
    return _triangular(a, b, lower=lower, unit_diagonal=unit_diagonal)


@overload
def eigs(
    A: Any, k: int = 6, M: None = None, sigma: ArrayLike | None = None, which: str = "LM", v0: Any = None,
    ncv: int | None = None, maxiter: int | None = None, tol: float = 0, return_eigenvectors: Literal[True] = True,
    Minv: Any = None, OPinv: Any = None, OPpart: Any = None, rng: Any = None,
) -> tuple[Array, Array]: ...  # fmt: skip
@overload
def eigs(
    A: Any, k: int = 6, M: None = None, sigma: ArrayLike | None = None, which: str = "LM", v0: Any = None,
    ncv: int | None = None, maxiter: int | None = None, tol: float = 0, *, return_eigenvectors: Literal[False],
    Minv: Any = None, OPinv: Any = None, OPpart: Any = None, rng: Any = None,
) -> Array: ...  # fmt: skip
@overload
def eigs(
    A: Any, k: int = 6, M: None = None, sigma: ArrayLike | None = None, which: str = "LM", v0: Any = None,
    ncv: int | None = None, maxiter: int | None = None, tol: float = 0, return_eigenvectors: bool = True,
    Minv: Any = None, OPinv: Any = None, OPpart: Any = None, rng: Any = None,
) -> tuple[Array, Array] | Array: ...  # fmt: skip
@boundary
def eigs(
    A: Any, k: int = 6, M: None = None, sigma: ArrayLike | None = None, which: str = "LM", v0: Any = None,
    ncv: int | None = None, maxiter: int | None = None, tol: float = 0, return_eigenvectors: bool = True,
    Minv: Any = None, OPinv: Any = None, OPpart: Any = None, rng: Any = None,
) -> tuple[Array, Array] | Array:  # fmt: skip
    """(w, v): k eigenvalues of a square matrix or operator, those wanted most in front, and their vectors as columns.

    Where the tolerance is missed SolverError is raised; see ``xcore.sparse.eigs``.

    Args:
      A: matrix, dense or sparse, or operator.
      k: how many.
      M: must be None.
      sigma: find those next to this shift.
      which: "LM", "SM", "LR", "SR", "LI" or "SI"; with a shift of 1 / (w - sigma).
      v0: vector to start from.
      ncv: size of the space.
      maxiter: restarts at most.
      tol: tolerance for the residuals, relative to the size of A; precision^¾ for 0.
      return_eigenvectors: False gives w alone.
      OPinv: operator x ↦ (A - sigma)⁻¹ x.
      Minv, OPpart, rng: of no effect.

    >>> import xcore.numpy as xnp
    >>> abs(eigs(xnp.diag(xnp.arange(1.0, 9.0)), k=2, return_eigenvectors=False)).round(3)
    Array([8., 7.], dtype=float32)
    """
    if M is not None:
        need = "None: generalised problems are solved by xcore.scipy.linalg.eig(A, M)"
        raise errors.bad_argument("scipy.sparse.linalg.eigs", "M", M, need)
    inverse = None if OPinv is None else _operator(OPinv)
    w, v = _eigs(
        _operator(A), k, which=which, v0=v0, ncv=ncv, sigma=sigma, inverse=inverse, tol=tol or None,
        **({} if maxiter is None else {"maxiter": maxiter}),
    )  # fmt: skip
    return (w, v) if return_eigenvectors else w


@boundary
def factorized(A: Any) -> Callable[[ArrayLike], Array]:
    """The function b ↦ x with A x = b, which has the factors of A, as ``xcore.sparse.factorise``.

    Args:
      A: a square matrix, of ``xcore.sparse`` or SciPy's.

    >>> from xcore import sparse
    >>> factorized(2 * sparse.eye_array(2))([2.0, 4.0])
    Array([1., 2.], dtype=float32)
    """
    return _factorise(A).solve


@boundary
def norm(x: Any, ord: Any = None, axis: Any = None) -> Array:
    """A norm of a sparse matrix, or of its rows or columns.

    Args:
      x: a matrix, of ``xcore.sparse`` or SciPy's.
      ord: of the matrix None or "fro" (√Σ|x|²), 1 (largest sum of a column), inf (of a row), -1, -inf (least ones); of
        rows and columns 1, 2 (None) or inf.
      axis: 0 for the norms of columns, 1 for those of rows; None or (0, 1) for that of the matrix.

    >>> from xcore import sparse
    >>> norm(3 * sparse.eye_array(4))
    Array(6., dtype=float32)
    """
    a, who = abs(_sparse(x)), "scipy.sparse.linalg.norm"
    axis = a._axis("norm", axis)
    if axis is None and ord in _MATRIX_NORMS:
        choose, along = _MATRIX_NORMS[ord]
        return getattr(a.sum(axis=along), choose)(-1)
    if ord in (None, 2) or (axis is None and ord == "fro"):
        if axis is None and ord == 2:
            raise errors.bad_argument(
                who, "ord", ord, "another; svds(x, k=1) has the largest singular value"
            )
        size = xnp.max(a.values, axis=-1, keepdims=True, initial=0)  # so that squares are in range
        unit = xnp.where((size > 0) & xnp.isfinite(size), size, 1)
        return (unit if axis is not None else unit[..., 0]) * xnp.sqrt(
            a.map(lambda v: (v / unit) ** 2).sum(axis)
        )
    if axis is not None and ord == 1:
        return a.sum(axis)
    if axis is not None and ord == np.inf:
        return a.max(axis)
    wanted = "None, 'fro', 1, -1, inf or -inf" if axis is None else "None, 1, 2 or inf"
    raise errors.bad_argument(who, "ord", ord, wanted)


_MATRIX_NORMS = {1: ("max", 0), -1: ("min", 0), np.inf: ("max", 1), -np.inf: ("min", 1)}


_ABSENT = {
    "use_solver": "Take xcore.sparse.solve.",
    "bicg cgs qmr lgmres gcrotmk tfqmr": "Take gmres or bicgstab.",
    "ArpackNoConvergence ArpackError MatrixRankWarning": "Solvers that fail raise xcore.errors.SolverError.",
}  # fmt: skip
__getattr__ = guide(__name__, _ABSENT)
__all__ = [
    "LinearOperator", "SuperLU", "aslinearoperator", "bicgstab", "cg", "eigs", "eigsh", "expm", "expm_multiply",
    "factorized", "gmres", "inv", "is_sptriangular", "lobpcg", "lsmr", "lsqr", "matrix_power", "minres", "norm",
    "onenormest", "spbandwidth", "spilu", "splu", "spsolve", "spsolve_triangular", "svds",
]  # fmt: skip
