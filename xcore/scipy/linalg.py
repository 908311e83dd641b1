"""scipy.linalg on xcore arrays: the functions of ``xcore.linalg`` with SciPy's names and arguments.

Arguments that only save memory or skip checks (``overwrite_a``, ``check_finite``) are accepted and
have no effect.
Lists of numbers count as arrays. What is not here, and why, stands in ``_ABSENT``.
"""

# ruff: noqa: I001 (names stand in lines, not one on each)

from __future__ import annotations

# fmt: off
import functools as _functools
from collections.abc import Sequence as _Sequence
from typing import Any as _Any

from .. import linalg as _la
from .. import numpy as _xnp
from .._core import errors as _errors, one_of as _one_of
from .._core.array import Array as _Array
from .._core.typing import ArrayLike as _ArrayLike
from ..linalg import polar, solve_continuous_lyapunov
from ..linalg import solve_continuous_lyapunov as solve_lyapunov
from ..linalg import solve_discrete_lyapunov as _discrete
from ..linalg._arguments import over_batch as _over_batch
from ..linalg._range import in_units as _in_units
from ..numpy.linalg import LinAlgError
from ._dense import (
    bandwidth, cho_solve_banded, cholesky_banded, diagsvd, ishermitian, issymmetric, lu_factor,
    matmul_toeplitz, norm, null_space, orth, pinv, pinvh, qr_multiply, rq, solve_circulant,
    solve_toeplitz, svdvals, toeplitz,
)
from ._matrices import (
    circulant, companion, convolution_matrix, dft, fiedler, fiedler_companion, hadamard, hankel,
    helmert, hilbert, invhilbert, invpascal, khatri_rao, leslie, pascal,
)
from ._matrix_functions import (
    coshm, cosm, expm, expm_cond, expm_frechet, fractional_matrix_power, funm, logm, signm,
    sinhm, sinm, sqrtm, tanhm, tanm,
)
from ._names import guide as _guide
from ._names import taking_lists as _taking_lists
from ._spectral import (
    cdf2rdf, eig, eig_banded, eigh, eigh_tridiagonal, eigvals, eigvals_banded, eigvalsh,
    eigvalsh_tridiagonal, hessenberg, rsf2csf, schur,
)
# fmt: on

_Like = _ArrayLike | _Sequence[_Any]  # lists count as arrays


def cholesky(
    a: _Like, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> _Array:
    """The triangular factor of a Hermitian positive definite matrix; SciPy's default is upper.

    Args:
      a: Hermitian positive definite matrices (..., n, n).
      lower: return the lower factor l, a = l lᴴ, not the upper one r, a = rᴴ r.
      overwrite_a, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> cholesky(xnp.asarray([[4.0, 2.0], [2.0, 5.0]]))
    Array([[2., 1.],
           [0., 2.]], dtype=float32)
    """
    return _la.cholesky(a, lower=lower)


def cho_factor(
    a: _Like, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[_Array, bool]:
    """(factor, lower), for ``cho_solve``.

    Args:
      a: Hermitian positive definite matrices (..., n, n).
      lower: whether the factor is the lower one.
      overwrite_a, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> cho_factor(xnp.eye(2) * 4)[1]
    False
    """
    return cholesky(a, lower), lower


def cho_solve(
    c_and_lower: tuple[_Any, bool], b: _Like, overwrite_b: bool = False, check_finite: bool = True
) -> _Array:
    """The solution of a x = b from ``cho_factor(a)``.

    Args:
      c_and_lower: what ``cho_factor`` returned.
      b: right-hand sides (..., n, k), or one vector (n,).
      overwrite_b, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> cho_solve(cho_factor(xnp.eye(2) * 4), xnp.ones(2))
    Array([0.25, 0.25], dtype=float32)
    """
    factor, lower = c_and_lower
    return _la.cho_solve(factor, b, lower=lower)


def det(a: _Like, overwrite_a: bool = False, check_finite: bool = True) -> _Array:
    """The determinant.

    Args:
      a: matrices (..., n, n).
      overwrite_a, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> det(xnp.asarray([[2.0, 1.0], [1.0, 3.0]])).round(3)
    Array(5., dtype=float32)
    """
    return _la.det(a)


def inv(
    a: _Like, overwrite_a: bool = False, check_finite: bool = True, *, assume_a: str | None = None,
    lower: bool = False,
) -> _Array:  # fmt: skip
    """The inverse; a singular matrix raises LinAlgError. ``assume_a`` and ``lower`` as for ``solve``.

    Args:
      a: matrices (..., n, n).
      assume_a, lower: as for ``solve``.
      overwrite_a, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> inv(xnp.eye(2) * 4)
    Array([[0.25, 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    if assume_a is None:
        return _la.inv(a)
    a = _xnp.asarray(a)
    one = _xnp.broadcast_to(_xnp.eye(a.shape[-1], dtype=a.dtype), a.shape)
    return solve(a, one, lower, assume_a=assume_a)


_OF_ONE_TRIANGLE = ("sym", "symmetric", "her", "hermitian", "pos", "positive definite")


def solve(
    a: _Like, b: _Like, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
    check_finite: bool = True, assume_a: str | None = None, transposed: bool = False, *,
    debug: bool = False,
) -> _Array:  # fmt: skip
    """The solution of a x = b; see ``xcore.linalg.solve``.

    Args:
      a: matrices (..., n, n).
      b: right-hand sides (..., n, k), or one vector (n,).
      lower: which triangle is read.
      assume_a: what is known of a: "sym", "her", "pos" (one triangle is read), "diagonal", "tridiagonal",
        "banded", "upper triangular", "lower triangular", "gen"; see ``xcore.linalg.solve``.
      transposed: solve aᵀ x = b.
      overwrite_a, overwrite_b, check_finite, debug: of no effect.

    >>> import xcore.numpy as xnp
    >>> solve(xnp.asarray([[4.0, 0.0], [0.0, 16.0]]), xnp.ones(2), assume_a="pos")
    Array([0.25  , 0.0625], dtype=float32)
    """
    if assume_a in _OF_ONE_TRIANGLE:  # SciPy reads one triangle of them
        alike = (lambda x: x) if assume_a[:3] == "sym" else _xnp.conj
        half = _xnp.tril(a) if lower else alike(_xnp.swapaxes(_xnp.triu(a), -1, -2))
        a = half + alike(_xnp.swapaxes(_xnp.tril(half, -1), -1, -2))
    return _la.solve(a, b, assume_a or "gen", transposed=transposed)


def solve_triangular(
    a: _Like, b: _Like, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False,
    overwrite_b: bool = False, check_finite: bool = True, *, debug: bool | None = None,
) -> _Array:  # fmt: skip
    """The solution of a x = b for triangular a; see ``xcore.linalg.solve_triangular``.

    Args:
      a: matrices (..., n, n).
      b: right-hand sides (..., n, k), or one vector (n,).
      trans: 0 or "N": a x = b, 1 or "T": aᵀ x = b, 2 or "C": aᴴ x = b.
      lower: a is lower triangular.
      unit_diagonal: take the diagonal for ones, and do not read it.
      overwrite_b, check_finite, debug: of no effect.

    >>> import xcore.numpy as xnp
    >>> solve_triangular(xnp.eye(2) * 4, xnp.ones(2))
    Array([0.25, 0.25], dtype=float32)
    """
    return _la.solve_triangular(a, b, trans, lower, unit_diagonal)


def solve_banded(
    l_and_u: _Sequence[int], ab: _Like, b: _Like, overwrite_ab: bool = False,
    overwrite_b: bool = False, check_finite: bool = True,
) -> _Array:  # fmt: skip
    """The solution of a x = b for banded a; see ``xcore.linalg.solve_banded``.

    Args:
      l_and_u: (l, u), the numbers of diagonals below and above the main one.
      ab: the band, (l + u + 1, n), ab[u + i - j, j] = a[i, j].
      b: right-hand sides (..., n, k), or one vector (n,).
      overwrite_ab, overwrite_b, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> solve_banded((0, 0), xnp.asarray([[2.0, 4.0]]), xnp.ones(2))
    Array([0.5 , 0.25], dtype=float32)
    """
    return _la.solve_banded(l_and_u, ab, b)


def solveh_banded(
    ab: _Like, b: _Like, overwrite_ab: bool = False, overwrite_b: bool = False, lower: bool = False,
    check_finite: bool = True,
) -> _Array:  # fmt: skip
    """The solution of a x = b for Hermitian positive definite banded a.

    Args:
      ab: the upper half of the band, (u + 1, n), or with ``lower`` the lower one.
      b: right-hand sides (..., n, k), or one vector (n,).
      lower: which half is given.
      overwrite_ab, overwrite_b, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> solveh_banded(xnp.asarray([[2.0, 4.0]]), xnp.ones(2))
    Array([0.5 , 0.25], dtype=float32)
    """
    return _la.solveh_banded(ab, b, lower=lower)


def solve_sylvester(
    a: _Like, b: _Like, q: _Like, *, method: str | None = None, tol: float | None = None
) -> _Array:
    """The solution of a x + x b = q; see ``xcore.linalg.solve_sylvester``.

    Args:
      a: matrices (..., m, m).
      b: matrices (..., n, n).
      q: matrices (..., m, n).
      method: as for ``xcore.linalg.solve_sylvester``; on a CPU None means "schur".
      tol: NaN where a and -b have eigenvalues closer to each other than that.

    >>> import xcore.numpy as xnp
    >>> one = xnp.ones((1, 1))
    >>> solve_sylvester(one, 3 * one, 8 * one)
    Array([[2.]], dtype=float32)
    """
    return _la.solve_sylvester(a, b, q, method, tol)


def solve_discrete_lyapunov(a: _Like, q: _Like, method: str | None = None) -> _Array:
    """The solution of a x aᴴ - x + q = 0; ``method`` is None, "direct" or "bilinear", all the last.

    Args:
      a, q: matrices (..., n, n).
      method: None, "direct" or "bilinear"; all are the last.

    >>> import xcore.numpy as xnp
    >>> solve_discrete_lyapunov(xnp.zeros((1, 1)), xnp.ones((1, 1)))
    Array([[1.]], dtype=float32)
    """
    return _discrete(a, q)


def lu(
    a: _Like, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True,
    p_indices: bool = False,
) -> tuple[_Any, ...]:  # fmt: skip
    """(P, L, U) with a = P L U, or (P L, U); with ``p_indices`` P is an order of rows, a = L[P] U.

    Args:
      a: matrices (..., m, n).
      permute_l: return (P L, U).
      p_indices: return P as an order of rows.
      overwrite_a, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> p, l, u = lu(xnp.asarray([[1.0, 2.0], [2.0, 2.0]]))
    >>> p @ l @ u
    Array([[1., 2.],
           [2., 2.]], dtype=float32)
    """
    order, low, up = _la.lu(a)
    places = _xnp.argsort(order, axis=-1)
    if permute_l:
        return _xnp.take_along_axis(low, places[..., None], axis=-2), up
    if p_indices:
        return places, low, up
    p = (places[..., None] == _xnp.arange(places.shape[-1])).astype(low.dtype)
    return p, low, up


def lu_solve(
    lu_and_piv: _Sequence[_Any], b: _Like, trans: int | str = 0, overwrite_b: bool = False,
    check_finite: bool = True,
) -> _Array:  # fmt: skip
    """The solution of a x = b from ``lu_factor(a)``.

    Args:
      lu_and_piv: what ``lu_factor`` returned.
      b: right-hand sides (..., n, k), or one vector (n,).
      trans: 0 or "N": a x = b, 1 or "T": aᵀ x = b, 2 or "C": aᴴ x = b.
      overwrite_b, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> lu_solve(lu_factor(xnp.eye(2) * 4), xnp.ones(2))
    Array([0.25, 0.25], dtype=float32)
    """
    return _la.lu_solve(lu_and_piv, b, trans)


def ldl(
    A: _Like, lower: bool = True, hermitian: bool = True, overwrite_a: bool = False,
    check_finite: bool = True,
) -> tuple[_Any, ...]:  # fmt: skip
    """(lu, d, perm) with a = lu d luᴴ, where lu[perm] is triangular; see ``xcore.linalg.ldl``.

    Args:
      A: Hermitian matrices (..., n, n).
      lower: which triangle is read, and whether lu is lower triangular.
      hermitian: False says that a is complex symmetric.
      overwrite_a, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> ldl(xnp.asarray([[2.0, 1.0], [1.0, 1.0]]))[1]
    Array([[2. , 0. ],
           [0. , 0.5]], dtype=float32)
    """
    return tuple(_la.ldl(A, lower, hermitian))


def solve_continuous_are(
    a: _Like, b: _Like, q: _Like, r: _Like, e: _Like | None = None, s: _Like | None = None,
    balanced: bool = True,
) -> _Array:  # fmt: skip
    """The stabilising solution of Riccati's continuous equation; see
    ``xcore.linalg.solve_continuous_are``. ``balanced`` has no effect.

    Args:
      a: matrices (..., n, n).
      b: matrices (..., n, m).
      q: matrices (..., n, n).
      r: matrices (..., m, m).
      e: matrices (..., n, n), regular; the identity by default.
      s: matrices (..., n, m); zero by default.
      balanced: of no effect.

    >>> import xcore.numpy as xnp
    >>> one = xnp.ones((1, 1))
    >>> solve_continuous_are(0 * one, one, 4 * one, one).round(4)
    Array([[2.]], dtype=float32)
    """
    return _la.solve_continuous_are(a, b, q, r, e, s)


def solve_discrete_are(
    a: _Like, b: _Like, q: _Like, r: _Like, e: _Like | None = None, s: _Like | None = None,
    balanced: bool = True,
) -> _Array:  # fmt: skip
    """The stabilising solution of Riccati's discrete equation; see
    ``xcore.linalg.solve_discrete_are``. ``balanced`` has no effect.

    Args:
      a: matrices (..., n, n).
      b: matrices (..., n, m).
      q: matrices (..., n, n).
      r: matrices (..., m, m).
      e: matrices (..., n, n), regular; the identity by default.
      s: matrices (..., n, m); zero by default.
      balanced: of no effect.

    >>> import xcore.numpy as xnp
    >>> one = xnp.ones((1, 1))
    >>> solve_discrete_are(one, one, 0.5 * one, one).round(4)
    Array([[1.]], dtype=float32)
    """
    return _la.solve_discrete_are(a, b, q, r, e, s)


_QR_MODES = {"full": "complete", "economic": "reduced", "r": "r"}


def qr(
    a: _Like, overwrite_a: bool = False, lwork: int | None = None, mode: str = "full",
    pivoting: bool = False, check_finite: bool = True,
) -> tuple[_Any, ...]:  # fmt: skip
    """(Q, R), with pivoting (Q, R, P), in mode "r" without Q.

    Args:
      a: matrices (..., m, n).
      mode: "full", "economic" (min(m, n) columns in Q) or "r" (R alone).
      pivoting: exchange columns so that the diagonal of R falls; the order of columns is returned too.
      overwrite_a, lwork, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> qr(xnp.ones((3, 2)), mode="economic")[0].shape
    (3, 2)
    """
    _one_of("scipy.linalg.qr", "mode", mode, _QR_MODES, "'full', 'economic' or 'r'")
    found = _la.qr(a, _QR_MODES[mode], pivoting=pivoting)
    return found if isinstance(found, tuple) else (found,)


def svd(
    a: _Like, full_matrices: bool = True, compute_uv: bool = True, overwrite_a: bool = False,
    check_finite: bool = True, lapack_driver: str = "gesdd",
) -> _Any:  # fmt: skip
    """(U, s, Vh), or s alone.

    Args:
      a: matrices (..., m, n).
      full_matrices: whether U and Vh are square.
      compute_uv: False returns s alone.
      overwrite_a, check_finite, lapack_driver: of no effect.

    >>> import xcore.numpy as xnp
    >>> svd(xnp.diag(xnp.asarray([1.0, 2.0])))[1]
    Array([2., 1.], dtype=float32)
    """
    return tuple(_la.svd(a, full_matrices)) if compute_uv else _la.svdvals(a)


def lstsq(
    a: _Like, b: _Like, cond: float | None = None, overwrite_a: bool = False,
    overwrite_b: bool = False, check_finite: bool = True, lapack_driver: str | None = None,
) -> tuple[_Any, ...]:  # fmt: skip
    """(x, sums of squared residuals, rank, singular values).

    Args:
      a: matrices (..., m, n).
      b: right-hand sides (..., m, k), or one vector (m,).
      cond: singular values below this times the largest count as zero; by default the rounding.
      overwrite_a, overwrite_b, check_finite, lapack_driver: of no effect.

    >>> import xcore.numpy as xnp
    >>> lstsq(xnp.ones((3, 1)), xnp.asarray([1.0, 2.0, 3.0]))[0].round(3)
    Array([2.], dtype=float32)
    """
    a, b = _xnp.asarray(a), _xnp.asarray(b)
    vector = b.ndim == 1
    b = b[:, None] if vector else b
    lead = _xnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (_xnp.broadcast_to(x, lead + x.shape[-2:]) for x in (a, b))
    x, squares, *more = _over_batch(_functools.partial(_xnp.linalg.lstsq, rcond=cond), a, b)
    if vector:
        x, squares = x[..., 0], squares[..., 0] if squares.shape[-1:] == (1,) else squares
    return x, squares, *more


# Special matrices


def block_diag(*arrs: _Like) -> _Array:
    """A matrix with these on its diagonal.

    Args:
      *arrs: matrices; a vector is a row, a number a matrix of one element.

    >>> import xcore.numpy as xnp
    >>> block_diag(xnp.ones((1, 2)), xnp.ones((1, 1)))
    Array([[1., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    blocks = [_xnp.atleast_2d(_xnp.asarray(a)) for a in arrs] or [_xnp.zeros((1, 0))]
    lead = _xnp.broadcast_shapes(*(b.shape[:-2] for b in blocks))
    width, dtype, done, rows = sum(b.shape[-1] for b in blocks), _xnp.result_type(*blocks), 0, []
    for b in blocks:
        b = _xnp.broadcast_to(b, (*lead, *b.shape[-2:])).astype(dtype)
        beside = (done, width - done - b.shape[-1])
        rows.append(_xnp.pad(b, [(0, 0)] * (b.ndim - 1) + [beside]))
        done += b.shape[-1]
    return _xnp.concatenate(rows, axis=-2)


# Spaces


def orthogonal_procrustes(A: _Like, B: _Like, check_finite: bool = True) -> tuple[_Array, _Array]:
    """(r, scale): the orthogonal r for which |A r - B| is least; ``scale`` is the sum of the singular
    values of Aᴴ B.

    Args:
      A, B: matrix (m, n).
      check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> orthogonal_procrustes(xnp.eye(2), xnp.eye(2)[::-1])[0]
    Array([[0., 1.],
           [1., 0.]], dtype=float32)
    """
    A, B = _xnp.asarray(A), _xnp.asarray(B)
    if A.ndim < 2 or A.shape != B.shape:
        why = "need matrices of one shape"
        raise _errors.shape_mismatch("scipy.linalg.orthogonal_procrustes", why, A=A, B=B)
    (of_a, a), (of_b, b) = _in_units(A, (-2, -1)), _in_units(B, (-2, -1))
    u, s, vh = _la.svd(_xnp.conj(a.mT) @ b)
    return u @ vh, s.sum(-1) * (of_a * of_b)[..., 0, 0]


def subspace_angles(A: _Like, B: _Like) -> _Array:
    """The angles between the spaces that the columns of A and B span, falling.

    Small ones by their sines, large ones by their cosines. (Knyazev and Argentati 2002, "Principal
    angles between subspaces in an A-based scalar product")

    Args:
      A: matrix (m, k) whose columns span the first space.
      B: matrix (m, l) whose columns span the other one.

    >>> import xcore.numpy as xnp
    >>> subspace_angles(xnp.eye(2)[:, :1], xnp.ones((2, 1))).round(4)
    Array([0.7854], dtype=float32)
    """
    A, B = _xnp.asarray(A) * 1.0, _xnp.asarray(B) * 1.0
    p, q = _la.qr(A)[0], _la.qr(B)[0]
    if p.shape[-1] < q.shape[-1]:
        p, q = q, p
    inner = _xnp.conj(p.mT) @ q
    cosines = svdvals(inner)
    sines = svdvals(q - p @ inner)[..., ::-1]
    small = cosines**2 >= 0.5
    angles = _xnp.where(
        small,
        _xnp.arcsin(_xnp.where(small, _xnp.clip(sines, 0, 1), 0)),
        _xnp.arccos(_xnp.where(small, 0, _xnp.clip(cosines, 0, 1))),
    )
    finite = _xnp.isfinite(A).all((-2, -1)) & _xnp.isfinite(B).all((-2, -1))
    return _xnp.where(finite[..., None], angles[..., ::-1], _xnp.nan)


__all__ = [
    "LinAlgError", "bandwidth", "block_diag", "cdf2rdf", "cho_factor", "cho_solve",
    "cho_solve_banded", "cholesky", "cholesky_banded", "circulant", "companion",
    "convolution_matrix", "coshm", "cosm", "det", "dft", "diagsvd", "eig", "eig_banded", "eigh",
    "eigh_tridiagonal", "eigvals", "eigvals_banded", "eigvalsh", "eigvalsh_tridiagonal", "expm",
    "expm_cond", "expm_frechet", "fiedler", "fiedler_companion", "fractional_matrix_power", "funm",
    "hadamard", "hankel", "helmert", "hessenberg", "hilbert", "inv", "invhilbert", "invpascal",
    "ishermitian", "issymmetric", "khatri_rao", "ldl", "leslie", "logm", "lstsq", "lu", "lu_factor",
    "lu_solve", "matmul_toeplitz", "norm", "null_space", "orth", "orthogonal_procrustes", "pascal",
    "pinv", "pinvh", "polar", "qr", "qr_multiply", "rq", "rsf2csf", "schur", "signm", "sinhm",
    "sinm", "solve", "solve_banded", "solve_circulant", "solve_continuous_are",
    "solve_continuous_lyapunov", "solve_discrete_are", "solve_discrete_lyapunov", "solve_lyapunov",
    "solve_sylvester", "solve_toeplitz", "solve_triangular", "solveh_banded", "sqrtm",
    "subspace_angles", "svd", "svdvals", "tanhm", "tanm", "toeplitz",
]  # fmt: skip

_ABSENT = {
    "qz ordqz cossin matrix_balance qr_delete qr_insert qr_update":
        "LAPACK as XLA can call it has no routine for it; eig(a, b) solves the generalised problem with a regular b. "
        "On the host: from scipy.linalg import qz.",
    "clarkson_woodruff_transform interpolative":
        "It draws random numbers without a key; see xcore.linalg.randomized_svd.",
    "get_blas_funcs get_lapack_funcs find_best_blas_type blas lapack cython_blas cython_lapack":
        "Those are routines of SciPy's own libraries; see xcore.lax.linalg.",
    "LinAlgWarning": "Nothing here warns; report=True of the functions of xcore.linalg tells how sure a result is.",
}  # fmt: skip
__getattr__ = _guide(__name__, _ABSENT)

for _name in __all__:
    if _name != "LinAlgError":
        globals()[_name] = _taking_lists(globals()[_name])
