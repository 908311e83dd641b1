"""scipy.linalg on xcore arrays: the functions of ``xcore.linalg`` with SciPy's names and arguments.

Arguments that only save memory or skip checks (``overwrite_a``, ``check_finite``) are accepted and
have no effect.
"""

import numpy as _np

from .. import linalg as _la
from .. import numpy as _xnp
from .._core import errors as _errors
from ..linalg import polar, solve_circulant, solve_lyapunov, solve_sylvester
from ..linalg import solve_discrete_lyapunov as _discrete
from ..linalg import solve_lyapunov as solve_continuous_lyapunov
from ..numpy.linalg import LinAlgError
from ._dense import (
    cho_solve_banded,
    cholesky_banded,
    diagsvd,
    eigvals,
    eigvalsh_tridiagonal,
    expm,
    logm,
    lu_factor,
    matmul_toeplitz,
    norm,
    null_space,
    orth,
    pinv,
    pinvh,
    rq,
    signm,
    solve_toeplitz,
    sqrtm,
    svdvals,
    toeplitz,
)
from ._dense import from_triangle as _from_triangle
from ._matrices import (
    companion,
    convolution_matrix,
    dft,
    fiedler,
    hadamard,
    hankel,
    helmert,
    hilbert,
    invhilbert,
    invpascal,
    khatri_rao,
    leslie,
    pascal,
)


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
         eigvals=None, type=1, check_finite=True, subset_by_index=None):  # fmt: skip
    """(w, v) of a v = w v or a v = w b v, from the lower (or upper) triangles.

    ``subset_by_index=(first, last)`` gives these of the ascending eigenvalues alone.

    >>> import xcore.numpy as xnp
    >>> eigh(xnp.asarray([[2.0, 9.0], [0.0, 1.0]]), eigvals_only=True)
    Array([1., 2.], dtype=float32)
    """
    if eigvals is not None or type != 1:
        given = eigvals if eigvals is not None else type
        raise _errors.bad_argument("scipy.linalg.eigh", "eigvals or type", given, "None and 1")
    a, b = (x if x is None else _from_triangle(x, lower) for x in (a, b))
    first, last = subset_by_index or (0, a.shape[-1] - 1)
    if eigvals_only:
        return _la.eigvalsh(a, b)[..., first : last + 1]
    w, v = _la.eigh(a, b)
    return w[..., first : last + 1], v[..., first : last + 1]


def eigvalsh(a, b=None, lower=True, overwrite_a=False, overwrite_b=False, type=1,
             check_finite=True, subset_by_index=None):  # fmt: skip
    """Eigenvalues of a Hermitian matrix, ascending.

    >>> import xcore.numpy as xnp
    >>> eigvalsh(xnp.diag(xnp.asarray([2.0, 1.0])))
    Array([1., 2.], dtype=float32)
    """
    return eigh(a, b, lower, eigvals_only=True, type=type, subset_by_index=subset_by_index)


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


def schur(a, output="real", lwork=None, overwrite_a=False, *, check_finite=True):
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


def lstsq(a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True,
          lapack_driver=None):  # fmt: skip
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


# --------------------------------------------------------------------------- functions of matrices


def _real_like(x, a):
    return _xnp.real(x).astype(a.dtype) if _xnp.isrealobj(a) else x


def _trigonometric(a):
    """(cosine, sine), from e^{ia} and e^{-ia}, of which for real a the second is the conjugate."""
    a = _xnp.asarray(a) * 1.0
    up = expm(1j * a)
    down = _xnp.conj(up) if _xnp.isrealobj(a) else expm(-1j * a)
    return _real_like((up + down) / 2, a), _real_like((up - down) / 2j, a)


def _hyperbolic(a):
    a = _xnp.asarray(a) * 1.0
    up, down = expm(a), expm(-a)
    return (up + down) / 2, (up - down) / 2


def cosm(A):
    """The cosine of a matrix.

    >>> import xcore.numpy as xnp
    >>> cosm(xnp.zeros((1, 1)))
    Array([[1.]], dtype=float32)
    """
    return _trigonometric(A)[0]


def sinm(A):
    """The sine of a matrix.

    >>> import xcore.numpy as xnp
    >>> sinm(xnp.zeros((1, 1)))
    Array([[0.]], dtype=float32)
    """
    return _trigonometric(A)[1]


def tanm(A):
    """The tangent of a matrix.

    >>> import xcore.numpy as xnp
    >>> tanm(xnp.zeros((1, 1)))
    Array([[0.]], dtype=float32)
    """
    return _la.solve(*_trigonometric(A))


def coshm(A):
    """The hyperbolic cosine of a matrix.

    >>> import xcore.numpy as xnp
    >>> coshm(xnp.zeros((1, 1)))
    Array([[1.]], dtype=float32)
    """
    return _hyperbolic(A)[0]


def sinhm(A):
    """The hyperbolic sine of a matrix.

    >>> import xcore.numpy as xnp
    >>> sinhm(xnp.zeros((1, 1)))
    Array([[0.]], dtype=float32)
    """
    return _hyperbolic(A)[1]


def tanhm(A):
    """The hyperbolic tangent of a matrix.

    >>> import xcore.numpy as xnp
    >>> tanhm(xnp.zeros((1, 1)))
    Array([[0.]], dtype=float32)
    """
    return _la.solve(*_hyperbolic(A))


def fractional_matrix_power(A, t):
    """A^t = A^⌊t⌋ e^{(t - ⌊t⌋) log A}; complex, like ``logm``, but for whole t. On a CPU only, then.

    >>> import xcore.numpy as xnp
    >>> fractional_matrix_power(xnp.eye(1) * 4, 0.5).real.round(3)
    Array([[2.]], dtype=float32)
    """
    A, whole = _xnp.asarray(A) * 1.0, int(_np.floor(t))
    power = _xnp.linalg.matrix_power(A, whole)
    return power if t == whole else power @ expm((t - whole) * logm(A))


def orthogonal_procrustes(A, B, check_finite=True):
    """(r, scale): the orthogonal r for which |A r - B| is least; ``scale`` is the sum of the singular
    values of Aᴴ B.

    >>> import xcore.numpy as xnp
    >>> orthogonal_procrustes(xnp.eye(2), xnp.eye(2)[::-1])[0]
    Array([[0., 1.],
           [1., 0.]], dtype=float32)
    """
    A, B = _xnp.asarray(A), _xnp.asarray(B)
    u, s, vh = _la.svd(_xnp.conj(A).T @ B)
    return u @ vh, s.sum()


def subspace_angles(A, B):
    """The angles between the spaces that the columns of A and B span, falling.

    Small ones by their sines, large ones by their cosines. (Knyazev and Argentati 2002, "Principal
    angles between subspaces in an A-based scalar product")

    >>> import xcore.numpy as xnp
    >>> subspace_angles(xnp.eye(2)[:, :1], xnp.ones((2, 1))).round(4)
    Array([0.7854], dtype=float32)
    """
    p, q = (_la.qr(_xnp.asarray(x) * 1.0)[0] for x in (A, B))
    if p.shape[1] < q.shape[1]:
        p, q = q, p
    inner = _xnp.conj(p).T @ q
    cosines = svdvals(inner)
    sines = svdvals(q - p @ inner)[::-1]
    small = cosines**2 >= 0.5
    angles = _xnp.where(
        small,
        _xnp.arcsin(_xnp.where(small, _xnp.clip(sines, 0, 1), 0)),
        _xnp.arccos(_xnp.where(small, 0, _xnp.clip(cosines, 0, 1))),
    )
    return angles[::-1]


# ------------------------------------------------------------------------------------ asking about


def issymmetric(a, atol=None, rtol=None):
    """Whether a known matrix equals its transpose, up to the tolerances if there are some.

    >>> issymmetric([[1, 2], [2, 1]])
    True
    """
    return _same(_np.asarray(a), _np.asarray(a).T, atol, rtol)


def ishermitian(a, atol=None, rtol=None):
    """Whether a known matrix equals its conjugate transpose, up to the tolerances if there are some.

    >>> ishermitian([[1, 2j], [-2j, 1]])
    True
    """
    return _same(_np.asarray(a), _np.asarray(a).conj().T, atol, rtol)


def _same(a, b, atol, rtol):
    if a.ndim != 2 or a.shape != b.shape:
        raise _errors.not_matrices("scipy.linalg", "need a square matrix a", a=a)
    if atol is None and rtol is None:
        return bool((a == b).all())
    return bool(_np.allclose(a, b, atol=atol or 0.0, rtol=rtol or 0.0))


def bandwidth(a):
    """(l, u): how many diagonals below and above the main one hold a number that is not zero.

    >>> bandwidth([[1, 2], [0, 1]])
    (0, 1)
    """
    i, j = _np.nonzero(_np.asarray(a))
    return int((i - j).max(initial=0)), int((j - i).max(initial=0))


__all__ = [
    "LinAlgError", "bandwidth", "block_diag", "cho_factor", "cho_solve", "cho_solve_banded",
    "cholesky", "cholesky_banded", "circulant", "companion", "convolution_matrix", "coshm", "cosm",
    "det", "dft", "diagsvd", "eig", "eigh", "eigh_tridiagonal", "eigvals", "eigvalsh",
    "eigvalsh_tridiagonal", "expm", "expm_frechet", "fiedler", "fractional_matrix_power",
    "hadamard", "hankel", "helmert", "hilbert", "inv", "invhilbert", "invpascal", "ishermitian",
    "issymmetric", "khatri_rao", "leslie", "logm", "lstsq", "lu", "lu_factor", "lu_solve",
    "matmul_toeplitz", "norm", "null_space", "orth", "orthogonal_procrustes", "pascal", "pinv",
    "pinvh", "polar", "qr", "rq", "schur", "signm", "sinhm", "sinm", "solve", "solve_banded",
    "solve_circulant", "solve_continuous_lyapunov", "solve_discrete_lyapunov", "solve_lyapunov",
    "solve_sylvester", "solve_toeplitz", "solve_triangular", "solveh_banded", "sqrtm",
    "subspace_angles", "svd", "svdvals", "tanhm", "tanm", "toeplitz",
]  # fmt: skip
