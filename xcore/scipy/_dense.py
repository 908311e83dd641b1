"""Functions of ``scipy.linalg`` whose arguments are SciPy's own, and some that follow from others."""

from __future__ import annotations

from collections.abc import Sequence as _Sequence
from typing import Any as _Any

import numpy as _np

from .. import linalg as _la
from .. import numpy as _xnp
from .._control import stop_gradient as _stop_gradient
from .._core import Array as _Array
from .._core import ArrayLike as _ArrayLike
from .._core import Axis as _Axis
from .._core import errors as _errors
from .._core import one_of
from ..linalg._assumed import bandwidths as _bandwidths
from ..linalg._range import in_units
from ..linalg._truth import fail
from ._spectral import from_triangle


def norm(
    a: _ArrayLike | _Sequence[_Any], ord: _Any = None, axis: _Axis | None = None,
    keepdims: bool = False, check_finite: bool = True,
) -> _Array:  # fmt: skip
    """The norm of a vector or matrix; see ``numpy.linalg.norm``.

    Without ``axis`` squares may leave the range of the dtype, as in SciPy.

    Args:
      a: vector or matrices.
      ord: which norm, as in ``numpy.linalg.norm``.
      axis: an int for norms of vectors, two for norms of matrices; all by default.
      keepdims: keep the reduced axes with length 1.
      check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> norm(xnp.asarray([3.0, 4.0]))
    Array(5., dtype=float32)
    """
    if axis is not None or (isinstance(ord, (int, float)) and ord == 0):  # a count has no units
        return _xnp.linalg.norm(a, ord, axis, keepdims)
    unit, inside = in_units(_xnp.asarray(a))
    return _xnp.linalg.norm(inside, ord, axis, keepdims) * unit


def lu_factor(
    a: _ArrayLike | _Sequence[_Any], overwrite_a: bool = False, check_finite: bool = True
) -> tuple[_Array, _Array]:
    """(packed factors, pivots) for ``lu_solve``.

    Args:
      a: matrices (..., n, n).
      overwrite_a, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> lu_factor(xnp.asarray([[4.0, 2.0], [2.0, 3.0]]))[0]
    Array([[4. , 2. ],
           [0.5, 2. ]], dtype=float32)
    """
    return _la.lu_factor(a)


def svdvals(
    a: _ArrayLike | _Sequence[_Any], overwrite_a: bool = False, check_finite: bool = True
) -> _Array:
    """The singular values, descending.

    Args:
      a: matrices (..., m, n).
      overwrite_a, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> svdvals(xnp.diag(xnp.asarray([1.0, 2.0])))
    Array([2., 1.], dtype=float32)
    """
    return _la.svdvals(a)


def null_space(
    A: _ArrayLike | _Sequence[_Any], rcond: float | None = None, overwrite_a: bool = False,
    check_finite: bool = True, lapack_driver: str = "gesdd", *, size: int | None = None,
) -> _Array:  # fmt: skip
    """An orthonormal basis of the vectors x with a x = 0; ``size`` as in ``xcore.linalg.null_space``.

    Args:
      A: matrix (m, n).
      rcond: singular values below this times the largest count as zero; by default the rounding.
      size: int; columns of the result, needed under ``jit``.
      overwrite_a, check_finite, lapack_driver: of no effect.

    >>> import xcore.numpy as xnp
    >>> xnp.abs(null_space(xnp.asarray([[1.0, 0.0]])))
    Array([[0.],
           [1.]], dtype=float32)
    """
    return _la.null_space(A, rtol=rcond, size=size)


def orth(
    A: _ArrayLike | _Sequence[_Any], rcond: float | None = None, *, size: int | None = None
) -> _Array:
    """An orthonormal basis of the range of a; ``size`` as in ``xcore.linalg.orth``.

    Args:
      A: matrix (m, n).
      rcond: singular values below this times the largest count as zero; by default the rounding.
      size: int; columns of the result, needed under ``jit``.

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


def pinv(
    a: _ArrayLike | _Sequence[_Any], *, atol: float | None = None, rtol: float | None = None,
    return_rank: bool = False, check_finite: bool = True,
) -> _Any:  # fmt: skip
    """The pseudoinverse of Moore and Penrose; with ``return_rank`` also the rank.

    Args:
      a: matrices (..., m, n).
      atol: singular values up to this count as zero.
      rtol: singular values up to this times the largest count as zero.
      return_rank: return (the pseudoinverse, the rank).
      check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> pinv(xnp.asarray([[2.0, 0.0], [0.0, 0.0]]))
    Array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    a = _xnp.asarray(a)
    if 0 in a.shape:
        return _la.pinv(a)
    return _pseudoinverse(a, _la.svdvals(a), atol, rtol, return_rank, False)


def pinvh(
    a: _ArrayLike | _Sequence[_Any], atol: float | None = None, rtol: float | None = None,
    lower: bool = True, return_rank: bool = False, check_finite: bool = True,
) -> _Any:  # fmt: skip
    """The pseudoinverse of a Hermitian matrix, of which one triangle is read.

    Args:
      a: Hermitian matrices (..., n, n).
      atol: singular values up to this count as zero.
      rtol: singular values up to this times the largest count as zero.
      lower: which triangle is read.
      return_rank: return (the pseudoinverse, the rank).
      check_finite: of no effect.

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


def rq(
    a: _ArrayLike | _Sequence[_Any], overwrite_a: bool = False, lwork: int | None = None,
    mode: str = "full", check_finite: bool = True,
) -> _Any:  # fmt: skip
    """(R, Q) with a = R Q; in mode "r" R alone.

    From (J a)ᴴ = q r with J reversing the order follows a = (J rᴴ J) (J qᴴ).

    Args:
      a: matrices (..., m, n).
      mode: "full", "economic" or "r" (R alone).
      overwrite_a, lwork, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> r, q = rq(xnp.asarray([[1.0, 2.0], [3.0, 4.0]]))
    >>> (r @ q).round(4)
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    one_of("scipy.linalg.rq", "mode", mode, ("full", "economic", "r"), "'full', 'economic' or 'r'")
    reversed_adjoint = _adjoint(_xnp.asarray(a)[..., ::-1, :])
    q, r = _la.qr(reversed_adjoint, "reduced" if mode == "economic" else "complete")
    r = _adjoint(r)[..., ::-1, ::-1]
    return r if mode == "r" else (r, _adjoint(q)[..., ::-1, :])


def _adjoint(x):
    return _xnp.conj(_xnp.swapaxes(x, -1, -2))


def diagsvd(s: _ArrayLike | _Sequence[_Any], M: int, N: int) -> _Array:
    """The M × N matrix with these singular values on its diagonal.

    Args:
      s: vector of min(M, N) numbers.
      M: int; rows.
      N: int; columns.

    >>> import xcore.numpy as xnp
    >>> diagsvd(xnp.asarray([2.0, 1.0]), 2, 3)
    Array([[2., 0., 0.],
           [0., 1., 0.]], dtype=float32)
    """
    s = _xnp.asarray(s)
    if s.ndim < 1 or s.shape[-1] != min(M, N):
        raise _errors.bad_argument("scipy.linalg.diagsvd", "s", s, f"{min(M, N)} numbers")
    i, j = _np.ogrid[:M, :N]
    k = _np.minimum(_np.minimum(i, j), max(min(M, N) - 1, 0))
    return _xnp.where(i == j, s[..., k], 0).astype(s.dtype)


# Bands


def _shift_row(x, by):
    """A row moved to the right, or to the left, zeros moving in."""
    zero = _xnp.zeros_like(x[..., : abs(by)])
    if by > 0:
        return _xnp.concatenate([zero, x[..., :-by]], axis=-1)
    return _xnp.concatenate([x[..., -by:], zero], axis=-1) if by else x


def _other_half(ab, lower):
    """The upper half of a Hermitian band from its lower one, or the other way around."""
    rows = ab.shape[-2]
    step = (lambda k: k) if lower else (lambda k: -(rows - 1 - k))
    moved = [_shift_row(_xnp.conj(ab[..., k, :]), step(k)) for k in range(rows)]
    return _xnp.stack(moved[::-1], axis=-2)


def cholesky_banded(
    ab: _ArrayLike | _Sequence[_Any], overwrite_ab: bool = False, lower: bool = False,
    check_finite: bool = True,
) -> _Array:  # fmt: skip
    """The factor of a Hermitian positive definite band, in the same form: r of a = rᴴ r from the
    upper half, l of a = l lᴴ from the lower one.

    Args:
      ab: the upper half of the band, (u + 1, n), or with ``lower`` the lower one.
      lower: which half is given and returned.
      overwrite_ab, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> cholesky_banded(xnp.asarray([[4.0, 2.0], [2.0, 0.0]]), lower=True)
    Array([[2., 1.],
           [1., 0.]], dtype=float32)
    """
    ab = _xnp.asarray(ab)
    if not lower:
        return _la.cholesky_banded(ab)
    return _other_half(_la.cholesky_banded(_other_half(ab, True)), False)


def cho_solve_banded(
    cb_and_lower: tuple[_Any, bool], b: _ArrayLike | _Sequence[_Any], overwrite_b: bool = False,
    check_finite: bool = True,
) -> _Array:  # fmt: skip
    """The solution of a x = b from (``cholesky_banded(ab)``, whether it is the lower form).

    Args:
      cb_and_lower: (what ``cholesky_banded`` returned, its ``lower``).
      b: right-hand sides (..., n, k), or one vector (n,).
      overwrite_b, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> cho_solve_banded((xnp.asarray([[2.0, 4.0]]), False), xnp.ones(2))
    Array([0.25  , 0.0625], dtype=float32)
    """
    factor, lower = cb_and_lower
    factor = _xnp.asarray(factor)
    other, width = _other_half(factor, lower), factor.shape[-2] - 1
    low, up = (factor, other) if lower else (other, factor)
    return _la.solve_banded((0, width), up, _la.solve_banded((width, 0), low, b))


# Toeplitz


def toeplitz(
    c: _ArrayLike | _Sequence[_Any], r: _ArrayLike | _Sequence[_Any] | None = None
) -> _Array:
    """The matrix with first column c, first row r and equal numbers along diagonals.

    Args:
      c: first column (..., m).
      r: first row (..., n), of which the first element is not read; conj(c) by default.

    >>> import xcore.numpy as xnp
    >>> toeplitz(xnp.asarray([1, 2, 3]), xnp.asarray([1, 4]))
    Array([[1, 4],
           [2, 1],
           [3, 2]], dtype=int32)
    """
    c = _xnp.atleast_1d(_xnp.asarray(c))
    r = _xnp.conj(c) if r is None else _xnp.atleast_1d(_xnp.asarray(r))
    lead, dtype = _xnp.broadcast_shapes(c.shape[:-1], r.shape[:-1]), _xnp.result_type(c, r)
    parts = [c[..., ::-1], r[..., 1:]]
    parts = [_xnp.broadcast_to(x, (*lead, x.shape[-1])).astype(dtype) for x in parts]
    i, j = _np.ogrid[: c.shape[-1], : r.shape[-1]]
    return _xnp.concatenate(parts, axis=-1)[..., c.shape[-1] - 1 - i + j]


def _pair(c_or_cr):
    return c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)


def solve_toeplitz(
    c_or_cr: _ArrayLike | _Sequence[_Any] | tuple[_Any, _Any], b: _ArrayLike | _Sequence[_Any],
    check_finite: bool = True,
) -> _Array:  # fmt: skip
    """The solution of a x = b for a Toeplitz matrix of column c, or (column, row).

    Args:
      c_or_cr: first column (n,), or the pair of it and the first row.
      b: right-hand sides (..., n, k), or one vector (n,).
      check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> solve_toeplitz(xnp.asarray([2.0, 1.0]), xnp.asarray([3.0, 3.0])).round(4)
    Array([1., 1.], dtype=float32)
    """
    c, r = _pair(c_or_cr)
    return _la.solve_toeplitz(c, b, r)


def matmul_toeplitz(
    c_or_cr: _ArrayLike | _Sequence[_Any] | tuple[_Any, _Any], x: _ArrayLike | _Sequence[_Any],
    check_finite: bool = False, workers: int | None = None,
) -> _Array:  # fmt: skip
    """The product of a Toeplitz matrix of column c, or (column, row), and x.

    Args:
      c_or_cr: first column (m,), or the pair of it and the first row (n,).
      x: vector (n,), or columns (n, k).
      check_finite, workers: of no effect.

    >>> import xcore.numpy as xnp
    >>> matmul_toeplitz(xnp.asarray([2.0, 1.0]), xnp.asarray([1.0, 1.0]))
    Array([3., 3.], dtype=float32)
    """
    return toeplitz(*_pair(c_or_cr)) @ _xnp.asarray(x)


def solve_circulant(
    c: _ArrayLike | _Sequence[_Any], b: _ArrayLike | _Sequence[_Any], singular: str = "raise",
    tol: float | None = None, caxis: int = -1, baxis: int = 0, outaxis: int = 0,
) -> _Array:  # fmt: skip
    """The solution of a x = b for the circulant matrix a[i, j] = c[i - j].

    A matrix that is singular up to rounding, or to ``tol`` of its largest eigenvalue, raises
    LinAlgError; or, ``singular="lstsq"``, x is the least solution in the sense of least squares.

    Args:
      c: first columns, along ``caxis``.
      b: right-hand sides, along ``baxis``; other axes broadcast with those of c.
      outaxis: of the solutions in the result.

    >>> import xcore.numpy as xnp
    >>> solve_circulant(xnp.asarray([2.0, 0.0, 1.0]), xnp.asarray([3.0, 3.0, 3.0])).round(4)
    Array([1., 1., 1.], dtype=float32)
    """
    who, (c, b) = "scipy.linalg.solve_circulant", (_xnp.asarray(x) for x in (c, b))
    one_of(who, "singular", singular, ("raise", "lstsq"), "'raise' or 'lstsq'")
    if (
        singular == "raise"
        and tol is None
        and c.ndim == 1
        and (caxis, baxis, outaxis) == (-1, 0, 0)
    ):
        return _la.solve_circulant(c, b)
    real = _xnp.isrealobj(c) and _xnp.isrealobj(b)
    c, b = _xnp.moveaxis(c, caxis, -1), _xnp.moveaxis(b, baxis, -1)
    if c.shape[-1] != b.shape[-1]:
        raise _errors.shape_mismatch(
            who, "need as many elements along caxis as along baxis", c=c, b=b
        )
    w, tops = _xnp.fft.fft(c), _xnp.fft.fft(b)
    size = _xnp.abs(w)
    eps = float(_xnp.finfo(size.dtype).eps) if tol is None else tol
    least = size.max(-1, keepdims=True) * (eps * (c.shape[-1] if tol is None else 1))
    zero = size <= least
    if singular == "raise":
        fail(who, c, _xnp.where(zero.any(), 0, -1), "unknown")
    x = _xnp.fft.ifft(_xnp.where(zero, 0, tops / _xnp.where(zero, 1, w)))
    return _xnp.moveaxis(x.real if real else x, -1, outaxis)


# Products


def qr_multiply(
    a: _ArrayLike | _Sequence[_Any], c: _ArrayLike | _Sequence[_Any], mode: str = "right",
    pivoting: bool = False, conjugate: bool = False, overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> tuple[_Array, ...]:  # fmt: skip
    """(c q, r) of a = q r, or in mode "left" (q c, r); with pivoting also the order of columns.

    Args:
      a: matrices (..., m, n).
      c: (..., p, m), in mode "left" (..., k, p) with k = min(m, n); or a vector.
      mode: the side on which c stands: "right" is c q.
      conjugate: take the conjugate of q.

    >>> import xcore.numpy as xnp
    >>> abs(qr_multiply(xnp.asarray([[3.0], [4.0]]), xnp.asarray([5.0, 10.0]))[0])
    Array([11.], dtype=float32)
    """
    who = "scipy.linalg.qr_multiply"
    one_of(who, "mode", mode, ("left", "right"), "'left' or 'right'")
    q, *rest = _la.qr(a, pivoting=pivoting)
    q, c = _xnp.conj(q) if conjugate else q, _xnp.asarray(c)
    vector, axis = c.ndim == 1, -2 if mode == "left" else -1
    c = (c[:, None] if mode == "left" else c[None]) if vector else c
    wanted = q.shape[-1] if mode == "left" else q.shape[-2]
    if c.ndim < 2 or c.shape[axis] != wanted:
        why = f"need c with {wanted} {'rows' if mode == 'left' else 'columns'}"
        raise _errors.shape_mismatch(who, why, a=a, c=c)
    out = q @ c if mode == "left" else c @ q
    return (out.reshape(*out.shape[:-2], -1) if vector else out, *rest)


# Asking about


def issymmetric(
    a: _ArrayLike | _Sequence[_Any], atol: float | None = None, rtol: float | None = None
) -> _Any:
    """Whether a known matrix, or each of a batch, equals its transpose, up to the tolerances if there
    are some.

    Args:
      a: matrices (..., n, n).
      atol: absolute difference that counts as none.
      rtol: relative difference that counts as none.

    >>> issymmetric([[1, 2], [2, 1]])
    True
    """
    a = _np.asarray(_stop_gradient(a))
    return _same(a, a.swapaxes(-1, -2) if a.ndim > 1 else a, atol, rtol)


def ishermitian(
    a: _ArrayLike | _Sequence[_Any], atol: float | None = None, rtol: float | None = None
) -> _Any:
    """Whether a known matrix, or each of a batch, equals its conjugate transpose, up to the tolerances
    if there are some.

    Args:
      a: matrices (..., n, n).
      atol: absolute difference that counts as none.
      rtol: relative difference that counts as none.

    >>> ishermitian([[1, 2j], [-2j, 1]])
    True
    """
    a = _np.asarray(_stop_gradient(a))
    return _same(a, a.conj().swapaxes(-1, -2) if a.ndim > 1 else a, atol, rtol)


def _same(a, b, atol, rtol):
    if a.ndim < 2 or a.shape != b.shape:
        raise _errors.not_matrices("scipy.linalg", "need square matrices a", a=a)
    if atol is None and rtol is None:
        equal = a == b
    else:
        equal = _np.isclose(a, b, atol=atol or 0.0, rtol=rtol or 0.0)
    found = equal.all((-2, -1))
    return found if a.ndim > 2 else bool(found)


def bandwidth(a: _ArrayLike | _Sequence[_Any]) -> tuple[_Any, _Any]:
    """(l, u): how many diagonals below and above the main one hold a number that is not zero; of each
    matrix of a batch.

    Args:
      a: matrices (..., m, n).

    >>> bandwidth([[1, 2], [0, 1]])
    (0, 1)
    """
    a = _np.asarray(_stop_gradient(a))
    if a.ndim < 2:
        raise _errors.not_matrices("scipy.linalg.bandwidth", "need matrices a", a=a)
    below, above = _bandwidths(a)
    return (below, above) if a.ndim > 2 else (int(below), int(above))
