"""scipy.linalg on xcore arrays: the functions of ``xcore.linalg`` with SciPy's names and arguments.

Arguments that only save memory or skip checks (``overwrite_a``, ``check_finite``) are accepted and
have no effect.
"""

import numpy as _np

from .. import linalg as _la
from .. import numpy as _xnp
from .._core import errors as _errors
from ..linalg import (
    cholesky_banded,
    eigvals,
    expm,
    logm,
    lu_factor,
    null_space,
    orth,
    pinv,
    polar,
    solve_circulant,
    solve_sylvester,
    sqrtm,
    svdvals,
)
from ..linalg import solve_discrete_lyapunov as _discrete
from ..linalg import solve_lyapunov as solve_continuous_lyapunov
from ..numpy.linalg import LinAlgError


def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    """The triangular factor of a Hermitian positive definite matrix; SciPy's default is upper.

    >>> import xcore.numpy as xnp
    >>> cholesky(xnp.asarray([[4.0, 2.0], [2.0, 5.0]]))
    Array([[2., 1.],
           [0., 2.]], dtype=float32)
    """
    return _la.cholesky(a, upper=not lower)


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """(factor, lower), for ``cho_solve``.

    >>> import xcore.numpy as xnp
    >>> cho_factor(xnp.eye(2) * 4)[1]
    False
    """
    return cholesky(a, lower), lower


def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """The solution of a x = b from ``cho_factor(a)``.

    >>> import xcore.numpy as xnp
    >>> cho_solve(cho_factor(xnp.eye(2) * 4), xnp.ones(2))
    Array([0.25, 0.25], dtype=float32)
    """
    factor, lower = c_and_lower
    return _la.cho_solve(factor, b, upper=not lower)


def det(a, overwrite_a=False, check_finite=True):
    """The determinant.

    >>> import xcore.numpy as xnp
    >>> det(xnp.asarray([[2.0, 1.0], [1.0, 3.0]])).round(3)
    Array(5., dtype=float32)
    """
    return _la.det(a)


def inv(a, overwrite_a=False, check_finite=True):
    """The inverse; a singular matrix raises LinAlgError.

    >>> import xcore.numpy as xnp
    >>> inv(xnp.eye(2) * 4)
    Array([[0.25, 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    return _la.inv(a)


def solve(a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a="gen",
          transposed=False):  # fmt: skip
    """The solution of a x = b; see ``xcore.linalg.solve``.

    >>> import xcore.numpy as xnp
    >>> solve(xnp.asarray([[4.0, 0.0], [0.0, 16.0]]), xnp.ones(2), assume_a="pos")
    Array([0.25  , 0.0625], dtype=float32)
    """
    if assume_a in ("sym", "her", "pos"):  # SciPy reads one triangle of them
        half = _xnp.tril(a) if lower else _xnp.conj(_xnp.swapaxes(_xnp.triu(a), -1, -2))
        other = _xnp.swapaxes(_xnp.tril(half, -1), -1, -2)
        a = half + (other if assume_a == "sym" else _xnp.conj(other))
    return _la.solve(a, b, assume_a, transposed=transposed)


def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False,
                     check_finite=True):  # fmt: skip
    """The solution of a x = b for triangular a; see ``xcore.linalg.solve_triangular``.

    >>> import xcore.numpy as xnp
    >>> solve_triangular(xnp.eye(2) * 4, xnp.ones(2))
    Array([0.25, 0.25], dtype=float32)
    """
    return _la.solve_triangular(a, b, trans, lower, unit_diagonal)


def solve_banded(l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    """The solution of a x = b for banded a; see ``xcore.linalg.solve_banded``.

    >>> import xcore.numpy as xnp
    >>> solve_banded((0, 0), xnp.asarray([[2.0, 4.0]]), xnp.ones(2))
    Array([0.5 , 0.25], dtype=float32)
    """
    return _la.solve_banded(l_and_u, ab, b)


def solveh_banded(ab, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True):
    """The solution of a x = b for Hermitian positive definite banded a.

    >>> import xcore.numpy as xnp
    >>> solveh_banded(xnp.asarray([[2.0, 4.0]]), xnp.ones(2))
    Array([0.5 , 0.25], dtype=float32)
    """
    return _la.solveh_banded(ab, b, lower=lower)


def solve_discrete_lyapunov(a, q, method=None):
    """The solution of a x aᴴ - x + q = 0.

    >>> import xcore.numpy as xnp
    >>> solve_discrete_lyapunov(xnp.zeros((1, 1)), xnp.ones((1, 1)))
    Array([[1.]], dtype=float32)
    """
    return _discrete(a, q)


def lu(a, permute_l=False, overwrite_a=False, check_finite=True):
    """(P, L, U) with a = P L U, or (P L, U).

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
    p = (places[..., None] == _xnp.arange(places.shape[-1])).astype(low.dtype)
    return p, low, up


def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    """The solution of a x = b from ``lu_factor(a)``.

    >>> import xcore.numpy as xnp
    >>> lu_solve(lu_factor(xnp.eye(2) * 4), xnp.ones(2))
    Array([0.25, 0.25], dtype=float32)
    """
    return _la.lu_solve(lu_and_piv, b, trans)


_QR_MODES = {"full": "complete", "economic": "reduced", "r": "r"}


def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    """(Q, R), with pivoting (Q, R, P), in mode "r" without Q.

    >>> import xcore.numpy as xnp
    >>> qr(xnp.ones((3, 2)), mode="economic")[0].shape
    (3, 2)
    """
    if mode not in _QR_MODES:
        raise _errors.bad_argument("scipy.linalg.qr", "mode", mode, "'full', 'economic' or 'r'")
    found = _la.qr(a, _QR_MODES[mode], pivoting=pivoting)
    return found if isinstance(found, tuple) else (found,)


def svd(a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True,
        lapack_driver="gesdd"):  # fmt: skip
    """(U, s, Vh), or s alone.

    >>> import xcore.numpy as xnp
    >>> svd(xnp.diag(xnp.asarray([1.0, 2.0])))[1]
    Array([2., 1.], dtype=float32)
    """
    return tuple(_la.svd(a, full_matrices)) if compute_uv else _la.svdvals(a)


def eigh(a, b=None, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, turbo=True,
         eigvals=None, type=1, check_finite=True):  # fmt: skip
    """(w, v) of a v = w v or a v = w b v, from the lower (or upper) triangles.

    >>> import xcore.numpy as xnp
    >>> eigh(xnp.asarray([[2.0, 9.0], [0.0, 1.0]]), eigvals_only=True)
    Array([1., 2.], dtype=float32)
    """
    if eigvals is not None or type != 1:
        given = eigvals if eigvals is not None else type
        raise _errors.bad_argument("scipy.linalg.eigh", "eigvals or type", given, "None and 1")
    a, b = (x if x is None else _from_triangle(x, lower) for x in (a, b))
    return _la.eigvalsh(a, b) if eigvals_only else tuple(_la.eigh(a, b))


def _from_triangle(a, lower):
    half = _xnp.tril(a) if lower else _xnp.conj(_xnp.swapaxes(_xnp.triu(a), -1, -2))
    return half + _xnp.conj(_xnp.swapaxes(_xnp.tril(half, -1), -1, -2))


def eigvalsh(a, b=None, lower=True):
    """Eigenvalues of a Hermitian matrix, ascending.

    >>> import xcore.numpy as xnp
    >>> eigvalsh(xnp.diag(xnp.asarray([2.0, 1.0])))
    Array([1., 2.], dtype=float32)
    """
    return eigh(a, b, lower, eigvals_only=True)


def eigh_tridiagonal(d, e, eigvals_only=False):
    """Eigenvalues, ascending, and vectors of the symmetric tridiagonal matrix of diagonals d, e.

    >>> import xcore.numpy as xnp
    >>> eigh_tridiagonal(xnp.asarray([2.0, 2.0]), xnp.asarray([1.0]), eigvals_only=True)
    Array([1., 3.], dtype=float32)
    """
    a = _xnp.diag(d) + _xnp.diag(e, 1) + _xnp.diag(e, -1)
    return _la.eigvalsh(a) if eigvals_only else tuple(_la.eigh(a))


def eig(a, b=None, left=False, right=True, overwrite_a=False, overwrite_b=False, check_finite=True):
    """(w, v) of a square matrix; of a v = w b v with a regular b.

    >>> import xcore.numpy as xnp
    >>> xnp.sort(xnp.real(eig(xnp.diag(xnp.asarray([1.0, 2.0])))[0]))
    Array([1., 2.], dtype=float32)
    """
    if left or not right:
        raise _errors.bad_argument("scipy.linalg.eig", "left, right", (left, right), "False, True")
    return tuple(_la.eig(a if b is None else _la.solve(b, a)))


def schur(a, output="real"):
    """(T, Z) with a = Z T Zᴴ; see ``xcore.linalg.schur``.

    >>> import xcore.numpy as xnp
    >>> schur(xnp.diag(xnp.asarray([2.0, 1.0])))[0]
    Array([[2., 0.],
           [0., 1.]], dtype=float32)
    """
    return _la.schur(a, output)


def expm_frechet(A, E, *, method=None, compute_expm=True):
    """(exp(A), its derivative in the direction E), or the derivative alone.

    >>> import xcore.numpy as xnp
    >>> expm_frechet(xnp.zeros((1, 1)), xnp.ones((1, 1)))[1].round(3)
    Array([[1.]], dtype=float32)
    """
    value, moved = _la.expm_frechet(A, E)
    return (value, moved) if compute_expm else moved


def lstsq(a, b, cond=None):
    """(x, sums of squared residuals, rank, singular values).

    >>> import xcore.numpy as xnp
    >>> lstsq(xnp.ones((3, 1)), xnp.asarray([1.0, 2.0, 3.0]))[0].round(3)
    Array([2.], dtype=float32)
    """
    return _xnp.linalg.lstsq(a, b, rcond=cond)


# --------------------------------------------------------------------------------- special matrices


def block_diag(*arrs):
    """A matrix with these on its diagonal.

    >>> import xcore.numpy as xnp
    >>> block_diag(xnp.ones((1, 2)), xnp.ones((1, 1)))
    Array([[1., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    blocks = [_xnp.atleast_2d(_xnp.asarray(a)) for a in arrs] or [_xnp.zeros((1, 0))]
    dtype = _xnp.result_type(*blocks)
    rows = [
        [x.astype(dtype) if i == j else _xnp.zeros((x.shape[0], y.shape[1]), dtype)
         for j, y in enumerate(blocks)] for i, x in enumerate(blocks)
    ]  # fmt: skip
    return _xnp.block(rows)


def toeplitz(c, r=None):
    """The matrix with first column c, first row r and equal numbers along diagonals.

    >>> import xcore.numpy as xnp
    >>> toeplitz(xnp.asarray([1, 2, 3]), xnp.asarray([1, 4]))
    Array([[1, 4],
           [2, 1],
           [3, 2]], dtype=int32)
    """
    c = _xnp.asarray(c).reshape(-1)
    r = _xnp.conj(c) if r is None else _xnp.asarray(r).reshape(-1)
    every = _xnp.concatenate([c[::-1], r[1:].astype(_xnp.result_type(c, r))])
    i, j = _np.ogrid[: c.shape[0], : r.shape[0]]
    return every[c.shape[0] - 1 - i + j]


def circulant(c):
    """The matrix a[i, j] = c[i - j].

    >>> import xcore.numpy as xnp
    >>> circulant(xnp.asarray([1, 2, 3]))
    Array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]], dtype=int32)
    """
    c = _xnp.asarray(c)
    i, j = _np.ogrid[: c.shape[0], : c.shape[0]]
    return c[(i - j) % c.shape[0]]


def hilbert(n):
    """The Hilbert matrix, 1 / (i + j + 1).

    >>> [round(float(x), 4) for x in hilbert(3)[1]]
    [0.5, 0.3333, 0.25]
    """
    i, j = _np.ogrid[:n, :n]
    return 1.0 / _xnp.asarray(i + j + 1)


__all__ = [
    "LinAlgError", "block_diag", "cho_factor", "cho_solve", "cholesky", "cholesky_banded",
    "circulant", "det", "eig", "eigh", "eigh_tridiagonal", "eigvals", "eigvalsh", "expm",
    "expm_frechet", "hilbert", "inv", "logm", "lstsq", "lu", "lu_factor", "lu_solve", "null_space",
    "orth", "pinv", "polar", "qr", "schur", "solve", "solve_banded", "solve_circulant",
    "solve_continuous_lyapunov", "solve_discrete_lyapunov", "solve_sylvester", "solve_triangular",
    "solveh_banded", "sqrtm", "svd", "svdvals", "toeplitz",
]  # fmt: skip
