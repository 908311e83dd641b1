"""Functions of ``scipy.linalg`` whose arguments are SciPy's own, and some that follow from others."""

import numpy as _np

from .. import linalg as _la
from .. import numpy as _xnp
from .._core import errors as _errors


def expm(A):
    """The exponential of a matrix.

    >>> import xcore.numpy as xnp
    >>> expm(xnp.zeros((2, 2)))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return _la.expm(A)


def logm(A, disp=True):
    """The principal logarithm; without ``disp`` also |exp(x) - a| / |a| in the 1-norm.

    >>> import xcore.numpy as xnp
    >>> logm(xnp.eye(2)).real.round(4)
    Array([[0., 0.],
           [0., 0.]], dtype=float32)
    """
    x = _la.logm(A)
    return x if disp else (x, norm(_la.expm(x) - A, 1) / norm(A, 1))


def sqrtm(A, disp=True, blocksize=64):
    """The principal square root; without ``disp`` also |x² - a|² / |a| in Frobenius' norm.

    >>> import xcore.numpy as xnp
    >>> sqrtm(xnp.eye(2) * 4).real.round(4)
    Array([[2., 0.],
           [0., 2.]], dtype=float32)
    """
    x = _la.sqrtm(A)
    return x if disp else (x, norm(x @ x - _xnp.asarray(A)) ** 2 / norm(A))


def signm(A, disp=True):
    """The sign of a matrix without imaginary eigenvalues, a (a²)^(-1/2); without ``disp`` also
    |x² - 1| in the 1-norm.

    (Higham 2008, "Functions of matrices", section 5.1)

    >>> import xcore.numpy as xnp
    >>> signm(xnp.diag(xnp.asarray([3.0, -2.0]))).round(4)
    Array([[ 1.,  0.],
           [ 0., -1.]], dtype=float32)
    """
    a = _xnp.asarray(A)
    x = a @ _la.inv(_la.sqrtm(a @ a))
    x = x if _xnp.iscomplexobj(a) else x.real
    return x if disp else (x, norm(x @ x - _xnp.eye(a.shape[-1], dtype=x.dtype), 1))


def norm(a, ord=None, axis=None, keepdims=False, check_finite=True):
    """The norm of a vector or matrix; see ``numpy.linalg.norm``.

    >>> import xcore.numpy as xnp
    >>> norm(xnp.asarray([3.0, 4.0]))
    Array(5., dtype=float32)
    """
    return _xnp.linalg.norm(a, ord, axis, keepdims)


def lu_factor(a, overwrite_a=False, check_finite=True):
    """(packed factors, pivots) for ``lu_solve``.

    >>> import xcore.numpy as xnp
    >>> lu_factor(xnp.asarray([[4.0, 2.0], [2.0, 3.0]]))[0]
    Array([[4. , 2. ],
           [0.5, 2. ]], dtype=float32)
    """
    return _la.lu_factor(a)


def svdvals(a, overwrite_a=False, check_finite=True):
    """The singular values, descending.

    >>> import xcore.numpy as xnp
    >>> svdvals(xnp.diag(xnp.asarray([1.0, 2.0])))
    Array([2., 1.], dtype=float32)
    """
    return _la.svdvals(a)


def eigvals(a, b=None, overwrite_a=False, check_finite=True):
    """The eigenvalues of a square matrix; those of a v = w b v with a regular b.

    >>> import xcore.numpy as xnp
    >>> xnp.sort(xnp.real(eigvals(xnp.diag(xnp.asarray([2.0, 1.0])))))
    Array([1., 2.], dtype=float32)
    """
    return _la.eigvals(a if b is None else _la.solve(b, a))


def eigvalsh_tridiagonal(d, e):
    """The eigenvalues of the symmetric tridiagonal matrix of diagonals d, e, ascending.

    >>> import xcore.numpy as xnp
    >>> eigvalsh_tridiagonal(xnp.asarray([2.0, 2.0]), xnp.asarray([1.0]))
    Array([1., 3.], dtype=float32)
    """
    return _la.eigvalsh(_xnp.diag(d) + _xnp.diag(e, 1) + _xnp.diag(e, -1))


def null_space(A, rcond=None, overwrite_a=False, check_finite=True, lapack_driver="gesdd", *,
               size=None):  # fmt: skip
    """An orthonormal basis of the vectors x with a x = 0; ``size`` as in ``xcore.linalg.null_space``.

    >>> import xcore.numpy as xnp
    >>> xnp.abs(null_space(xnp.asarray([[1.0, 0.0]])))
    Array([[0.],
           [1.]], dtype=float32)
    """
    return _la.null_space(A, rtol=rcond, size=size)


def orth(A, rcond=None, *, size=None):
    """An orthonormal basis of the range of a; ``size`` as in ``xcore.linalg.orth``.

    >>> import xcore.numpy as xnp
    >>> xnp.abs(orth(xnp.ones((2, 2)))).round(4)
    Array([[0.7071],
           [0.7071]], dtype=float32)
    """
    return _la.orth(A, rtol=rcond, size=size)


def _pseudoinverse(a, s, atol, rtol, return_rank, hermitian):
    """Singular values not above atol + rtol times the largest count as zero."""
    if rtol is None:
        rtol = 0.0 if atol is not None else max(a.shape[-2:]) * float(_xnp.finfo(s.dtype).eps)
    bound = rtol + (0.0 if atol is None else atol / _xnp.where(s[..., 0] > 0, s[..., 0], 1))
    x = _xnp.linalg.pinv(a, bound, hermitian)
    return (x, (s > _xnp.asarray(bound)[..., None] * s[..., :1]).sum(-1)) if return_rank else x


def pinv(a, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    """The pseudoinverse of Moore and Penrose; with ``return_rank`` also the rank.

    >>> import xcore.numpy as xnp
    >>> pinv(xnp.asarray([[2.0, 0.0], [0.0, 0.0]]))
    Array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    a = _xnp.asarray(a)
    if 0 in a.shape:
        return _la.pinv(a)
    return _pseudoinverse(a, _la.svdvals(a), atol, rtol, return_rank, False)


def pinvh(a, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True):
    """The pseudoinverse of a Hermitian matrix, of which one triangle is read.

    >>> import xcore.numpy as xnp
    >>> pinvh(xnp.asarray([[2.0, 9.0], [0.0, 0.0]]))
    Array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    a = from_triangle(a, lower)
    if 0 in a.shape:
        return _la.pinv(a)
    s = _xnp.sort(_xnp.abs(_la.eigvalsh(a)), axis=-1)[..., ::-1]
    return _pseudoinverse(a, s, atol, rtol, return_rank, True)


def from_triangle(a, lower):
    """The Hermitian matrix of which one triangle is given."""
    half = _xnp.tril(a) if lower else _xnp.conj(_xnp.swapaxes(_xnp.triu(a), -1, -2))
    return half + _xnp.conj(_xnp.swapaxes(_xnp.tril(half, -1), -1, -2))


def rq(a, overwrite_a=False, lwork=None, mode="full", check_finite=True):
    """(R, Q) with a = R Q; in mode "r" R alone.

    From (J a)ᴴ = q r with J reversing the order follows a = (J rᴴ J) (J qᴴ).

    >>> import xcore.numpy as xnp
    >>> r, q = rq(xnp.asarray([[1.0, 2.0], [3.0, 4.0]]))
    >>> (r @ q).round(4)
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    if mode not in ("full", "economic", "r"):
        raise _errors.bad_argument("scipy.linalg.rq", "mode", mode, "'full', 'economic' or 'r'")
    turned = _adjoint(_xnp.asarray(a)[..., ::-1, :])
    q, r = _la.qr(turned, "reduced" if mode == "economic" else "complete")
    r = _adjoint(r)[..., ::-1, ::-1]
    return r if mode == "r" else (r, _adjoint(q)[..., ::-1, :])


def _adjoint(x):
    return _xnp.conj(_xnp.swapaxes(x, -1, -2))


def diagsvd(s, M, N):
    """The M × N matrix with these singular values on its diagonal.

    >>> import xcore.numpy as xnp
    >>> diagsvd(xnp.asarray([2.0, 1.0]), 2, 3)
    Array([[2., 0., 0.],
           [0., 1., 0.]], dtype=float32)
    """
    s = _xnp.asarray(s)
    if s.shape != (min(M, N),):
        raise _errors.bad_argument("scipy.linalg.diagsvd", "s", s, f"{min(M, N)} numbers")
    return _xnp.pad(_xnp.diag(s), [(0, M - s.shape[0]), (0, N - s.shape[0])])


# ----------------------------------------------------------------------------------------- bands


def _moved(x, by):
    """A row moved to the right, or to the left, zeros moving in."""
    nil = _xnp.zeros_like(x[..., : abs(by)])
    if by > 0:
        return _xnp.concatenate([nil, x[..., :-by]], axis=-1)
    return _xnp.concatenate([x[..., -by:], nil], axis=-1) if by else x


def _other_half(ab, lower):
    """The upper half of a Hermitian band from its lower one, or the other way around."""
    rows = ab.shape[-2]
    step = (lambda k: k) if lower else (lambda k: -(rows - 1 - k))
    moved = [_moved(_xnp.conj(ab[..., k, :]), step(k)) for k in range(rows)]
    return _xnp.stack(moved[::-1], axis=-2)


def cholesky_banded(ab, overwrite_ab=False, lower=False, check_finite=True):
    """The factor of a Hermitian positive definite band, in the same form: r of a = rᴴ r from the
    upper half, l of a = l lᴴ from the lower one.

    >>> import xcore.numpy as xnp
    >>> cholesky_banded(xnp.asarray([[4.0, 2.0], [2.0, 0.0]]), lower=True)
    Array([[2., 1.],
           [1., 0.]], dtype=float32)
    """
    ab = _xnp.asarray(ab)
    if not lower:
        return _la.cholesky_banded(ab)
    return _other_half(_la.cholesky_banded(_other_half(ab, True)), False)


def cho_solve_banded(cb_and_lower, b, overwrite_b=False, check_finite=True):
    """The solution of a x = b from (``cholesky_banded(ab)``, whether it is the lower form).

    >>> import xcore.numpy as xnp
    >>> cho_solve_banded((xnp.asarray([[2.0, 4.0]]), False), xnp.ones(2))
    Array([0.25  , 0.0625], dtype=float32)
    """
    factor, lower = cb_and_lower
    factor = _xnp.asarray(factor)
    other, width = _other_half(factor, lower), factor.shape[-2] - 1
    low, up = (factor, other) if lower else (other, factor)
    return _la.solve_banded((0, width), up, _la.solve_banded((width, 0), low, b))


# -------------------------------------------------------------------------------------- Toeplitz


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


def _pair(c_or_cr):
    return c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)


def solve_toeplitz(c_or_cr, b, check_finite=True):
    """The solution of a x = b for a Toeplitz matrix of column c, or (column, row); by elimination.

    >>> import xcore.numpy as xnp
    >>> solve_toeplitz(xnp.asarray([2.0, 1.0]), xnp.asarray([3.0, 3.0])).round(4)
    Array([1., 1.], dtype=float32)
    """
    return _la.solve(toeplitz(*_pair(c_or_cr)), b)


def matmul_toeplitz(c_or_cr, x, check_finite=False, workers=None):
    """The product of a Toeplitz matrix of column c, or (column, row), and x.

    >>> import xcore.numpy as xnp
    >>> matmul_toeplitz(xnp.asarray([2.0, 1.0]), xnp.asarray([1.0, 1.0]))
    Array([3., 3.], dtype=float32)
    """
    return toeplitz(*_pair(c_or_cr)) @ _xnp.asarray(x)
