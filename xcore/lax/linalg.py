"""The factorisations themselves; see ``xcore.linalg`` for what one does with them.

The choice between algorithms of one factorisation is a name: what the platform has is taken, and a name
of what it has not is refused.
"""

from __future__ import annotations

import enum

from .. import _ops as ops
from .. import linalg
from .. import numpy as xnp
from .._control import scan
from .._core import dtypes, errors, fused, typeof
from ..numpy._matrices import symmetric
from ..numpy._promote import as_array, as_arrays, as_inexact, astype, check_alike, promote_dtypes
from ..numpy._select import safe_divide

__all__ = [
    "EigImplementation", "EighImplementation", "SvdAlgorithm", "cholesky", "cholesky_update", "eig", "eigh",
    "hessenberg", "householder_product", "lu", "lu_pivots_to_permutation", "ormqr", "qdwh", "qr", "schur",
    "svd", "symmetric_product", "triangular_solve", "tridiagonal", "tridiagonal_solve",
]  # fmt: skip


class EigImplementation(enum.Enum):
    """Who computes eigenvalues of general matrices: LAPACK, here.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> lapack = xc.lax.linalg.EigImplementation.LAPACK
    >>> xc.lax.linalg.eig(xnp.eye(2), compute_left_eigenvectors=False, implementation=lapack)[0]
    Array([1.+0.j, 1.+0.j], dtype=complex64)
    """

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


class EighImplementation(enum.Enum):
    """How eigenvalues of Hermitian matrices are computed: from a tridiagonal form (QR), here.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.linalg.eigh(xnp.eye(2), implementation=xc.lax.linalg.EighImplementation.QR)[1]
    Array([1., 1.], dtype=float32)
    """

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


class SvdAlgorithm(enum.Enum):
    """How singular values are computed: from a bidiagonal form, or from polar factors (POLAR).

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.linalg.svd(2 * xnp.eye(2), compute_uv=False, algorithm=xc.lax.linalg.SvdAlgorithm.QR)
    Array([2., 2.], dtype=float32)
    """

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"
    DIVIDE_AND_CONQUER = "divide_and_conquer"


def _offered(who: str, name: str, given, offered) -> None:
    """Refuse an algorithm that is not there; None and False choose none."""
    if given not in (None, False, *offered):
        names = " or ".join(["None", *map(str, offered or [False])])
        raise errors.bad_argument(f"lax.linalg.{who}", name, given, names)


def _matrix(who: str, x):
    return as_inexact(f"lax.linalg.{who}", x)


def _of_one_dtype(who: str, *xs) -> list:
    xs = [_matrix(who, x) for x in xs]
    dtype, _ = dtypes.promote(*((typeof(x).dtype, False) for x in xs))
    return [astype(x, dtype) for x in xs]


@fused(1)
def cholesky(x, *, symmetrize_input: bool = True):
    """The lower triangular factor l of a positive definite matrix, x = l lᴴ; NaN if it is not one.

    Args:
      x: Hermitian matrices (…, n, n).
      symmetrize_input: whether (x + xᴴ)/2 is taken; otherwise the lower triangle.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.linalg.cholesky(xnp.asarray([[4.0, 2.0], [2.0, 5.0]]))
    Array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    x = _matrix("cholesky", x)
    return ops.cholesky(symmetric(x) if symmetrize_input else x)


@fused(2)
def cholesky_update(r_matrix, w_vector):
    """The upper triangular factor r' of the real matrix r'ᵀ r' = rᵀ r + w wᵀ, by n rotations.

    Args:
      r_matrix: upper triangular real factors (…, n, n).
      w_vector: vectors (…, n).

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.linalg.cholesky_update(xnp.asarray([[3.0]]), xnp.asarray([4.0]))
    Array([[5.]], dtype=float32)
    """
    r, w = _of_one_dtype("cholesky_update", r_matrix, w_vector)
    if typeof(w).shape != typeof(r).shape[:-1] or dtypes.is_complex(typeof(r).dtype):
        why = "need real factors (..., n, n) and vectors (..., n)"
        raise errors.shape_mismatch("lax.linalg.cholesky_update", why, r_matrix=r, w_vector=w)

    def rotate(w, row_and_place):
        row, k = row_and_place
        x, y = row[..., k, None], w[..., k, None]
        length = xnp.hypot(x, y)
        empty = length == 0
        cos, sin = (safe_divide(u, length, v, where=~empty) for u, v in ((x, 1), (y, 0)))
        return cos * w - sin * row, cos * row + sin * w

    n = typeof(w).shape[-1]
    rows = scan(rotate, w, (xnp.moveaxis(r, -2, 0), xnp.arange(n)))[1]
    return xnp.triu(xnp.moveaxis(rows, 0, -2))  # what was rotated away is zero but for roundings


def _chosen(who: str, subset, count: int) -> slice:
    """The part of ``count`` values that ``subset_by_index`` names."""
    if subset is None:
        return slice(None)
    start, stop = (int(i) for i in subset)
    if not 0 <= start <= stop <= count:
        raise errors.bad_argument(
            f"lax.linalg.{who}", "subset_by_index", subset, f"(start, end) between 0 and {count}"
        )
    return slice(start, stop)


@fused(1)
def eigh(x, *, lower: bool = True, symmetrize_input: bool = True, sort_eigenvalues: bool = True,
         subset_by_index=None, implementation=None):  # fmt: skip
    """Eigenvectors and eigenvalues of a Hermitian matrix: (v, w), in this order.

    The values ascend whether ``sort_eigenvalues`` asks for it or leaves the order open.

    Args:
      x: Hermitian matrices (…, n, n).
      lower: which triangle is read where the input is not symmetrized.
      symmetrize_input: whether (x + xᴴ)/2 is taken.
      sort_eigenvalues: accepted; see above.
      subset_by_index: (start, end) of the eigenvalues wanted, in ascending order.
      implementation: None or ``EighImplementation.QR``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> v, w = xc.lax.linalg.eigh(xnp.asarray([[2.0, 1.0], [1.0, 2.0]]))
    >>> w
    Array([1., 3.], dtype=float32)
    """
    _offered("eigh", "implementation", implementation, (EighImplementation.QR,))
    x = _matrix("eigh", x)
    chosen = _chosen("eigh", subset_by_index, typeof(x).shape[-1])
    if symmetrize_input:
        x = symmetric(x)
    elif not lower:
        n = typeof(x).ndim
        x = ops.transpose(x, perm=(*range(n - 2), n - 1, n - 2))
        x = ops.conj(x) if dtypes.is_complex(typeof(x).dtype) else x
    w, v = ops.eigh(x, vectors=True)
    return v[..., chosen], w[..., chosen]


@fused(1)
def eig(x, *, compute_left_eigenvectors: bool = True, compute_right_eigenvectors: bool = True,
        enable_eigvec_derivs: bool = True, implementation=None, use_magma=None):  # fmt: skip
    """Eigenvalues and, if asked for, left and right eigenvectors: [w, vl, vr].

    The vectors have derivatives unless ``enable_eigvec_derivs`` is False, which makes them constants.

    Args:
      x: square matrices (…, n, n).
      compute_left_eigenvectors, compute_right_eigenvectors: which vectors are wanted.
      enable_eigvec_derivs: see above.
      implementation, use_magma: None, or ``EigImplementation.LAPACK`` and False.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> w, vl, vr = xc.lax.linalg.eig(xnp.asarray([[0.0, -1.0], [1.0, 0.0]]))
    >>> xnp.sort(w.imag)
    Array([-1.,  1.], dtype=float32)
    """
    _offered("eig", "implementation", implementation, (EigImplementation.LAPACK,))
    _offered("eig", "use_magma", use_magma, ())
    w, *vectors = ops.eig_of_any_scale(_matrix("eig", x), left=bool(compute_left_eigenvectors),
                          right=bool(compute_right_eigenvectors))  # fmt: skip
    return [w, *(v if enable_eigvec_derivs else ops.stop_gradient(v) for v in vectors)]


@fused(1)
def lu(x):
    """(factors, pivots, permutation): l below the diagonal and u above; x[permutation] = l u.

    Args:
      x: matrices (..., m, n).

    >>> import xcore as xc, xcore.numpy as xnp
    >>> factors, pivots, permutation = xc.lax.linalg.lu(xnp.asarray([[1.0, 2.0], [4.0, 4.0]]))
    >>> factors, permutation
    (Array([[4.  , 4.  ],
           [0.25, 1.  ]], dtype=float32), Array([1, 0], dtype=int32))
    """
    return tuple(ops.lu(_matrix("lu", x)))


@fused(1)
def lu_pivots_to_permutation(pivots, permutation_size: int):
    """The order of rows that exchanging row i with row pivots[i], one after the other, gives.

    Args:
      pivots: integers (…, k), as ``lu`` returns them.
      permutation_size: number of rows.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.linalg.lu_pivots_to_permutation(xnp.asarray([2, 2, 2]), 3)
    Array([2, 0, 1], dtype=int32)
    """
    pivots = as_array("lax.linalg.lu_pivots_to_permutation", pivots)
    return ops.lu_pivots_to_permutation(astype(pivots, dtypes.int32), size=int(permutation_size))


@fused(1)
def qr(x, *, pivoting: bool = False, full_matrices: bool = True, use_magma=None):
    """(q, r), and with pivoting the order of columns p: x[:, p] = q r.

    Args:
      x: matrices (…, m, n).
      pivoting: whether columns are exchanged, so that the diagonal of r falls in magnitude.
      full_matrices: whether q is square; otherwise it has min(m, n) columns.
      use_magma: None or False.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> q, r = xc.lax.linalg.qr(xnp.asarray([[3.0], [4.0]]), full_matrices=False)
    >>> abs(r)
    Array([[5.]], dtype=float32)
    """
    _offered("qr", "use_magma", use_magma, ())
    return tuple(ops.qr(_matrix("qr", x), full=bool(full_matrices), pivoting=bool(pivoting)))


def _svd_by_polar(x):
    """Thin (s, u, vh): from x = u h and h = v diag(s) vᴴ follows x = (u v) diag(s) vᴴ."""
    if typeof(x).shape[-2] < typeof(x).shape[-1]:
        s, u, vh = _svd_by_polar(x.conj().mT)
        return s, vh.conj().mT, u.conj().mT
    u, h, *_ = linalg.qdwh(x)
    s, v = ops.eigh(h, vectors=True)
    s, v = xnp.maximum(s[..., ::-1], 0), v[..., ::-1]
    return s, u @ v, v.conj().mT


_SVD = (SvdAlgorithm.DEFAULT, SvdAlgorithm.QR, SvdAlgorithm.DIVIDE_AND_CONQUER, SvdAlgorithm.POLAR)


@fused(1)
def svd(x, *, full_matrices: bool = True, compute_uv: bool = True, subset_by_index=None,
        algorithm=None):  # fmt: skip
    """(u, s, vh) with x = u diag(s) vh, or s only; those from ``subset_by_index[0]`` on.

    ``algorithm`` POLAR, for matrices of full rank, gives thin factors; other names are LAPACK's best.

    Args:
      x: matrices (…, m, n).
      full_matrices: whether u and vh are square; otherwise they hold min(m, n) singular vectors.
      compute_uv: whether vectors are wanted.
      subset_by_index: (start, end) of the singular values wanted, in descending order.
      algorithm: None or an ``SvdAlgorithm``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.linalg.svd(xnp.asarray([[0.0, 3.0], [-2.0, 0.0]]), compute_uv=False)
    Array([3., 2.], dtype=float32)
    """
    _offered("svd", "algorithm", algorithm, _SVD)
    x = _matrix("svd", x)
    chosen = _chosen("svd", subset_by_index, min(typeof(x).shape[-2:]))
    if not compute_uv:
        polar = algorithm is SvdAlgorithm.POLAR
        out = _svd_by_polar(x) if polar else ops.svd(x, full=False, vectors=False)
        return (out[0] if isinstance(out, (list, tuple)) else out)[..., chosen]
    if algorithm is SvdAlgorithm.POLAR:
        square = typeof(x).shape[-1] == typeof(x).shape[-2]
        s, u, vh = _svd_by_polar(x)
        full_matrices = full_matrices and not square
    else:
        s, u, vh = ops.svd(x, full=bool(full_matrices), vectors=True)
        if subset_by_index is None or (full_matrices and chosen == slice(0, typeof(s).shape[-1])):
            return u, s, vh
    if full_matrices:
        what = "False where subset_by_index leaves some out, and for POLAR"
        raise errors.bad_argument("lax.linalg.svd", "full_matrices", True, what)
    return u[..., chosen], s[..., chosen], vh[..., chosen, :]


def schur(x, *, compute_schur_vectors: bool = True, sort_eig_vals: bool = False,
          select_callable=None):  # fmt: skip
    """(t, q) with x = q t qᴴ and t upper triangular (for real matrices but for 2 by 2 blocks).

    With ``sort_eig_vals`` the eigenvalues of which ``select_callable`` is true come first.

    Args:
      x: square matrices (…, n, n).
      compute_schur_vectors: whether q is wanted.
      sort_eig_vals, select_callable: see above.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> t, q = xc.lax.linalg.schur(xnp.asarray([[2.0, 1.0], [0.0, 3.0]]))
    >>> xnp.diag(t)
    Array([2., 3.], dtype=float32)
    """
    if bool(sort_eig_vals) != (select_callable is not None):
        what = "a function of an eigenvalue where sort_eig_vals, else None"
        raise errors.bad_argument("lax.linalg.schur", "select_callable", select_callable, what)
    wide = sort_eig_vals and xnp.iscomplexobj(x)
    form = linalg.schur(_matrix("schur", x), "complex" if wide else "real", select_callable)
    return tuple(form[:2]) if compute_schur_vectors else (form[0],)


def qdwh(x, *, is_hermitian: bool = False, max_iterations=None, eps=None, dynamic_shape=None):
    """(u, h, steps, whether they were enough): x = u h with orthonormal columns in u, h Hermitian.

    Of matrices of full rank with as many rows as columns, or more; see ``xcore.linalg.qdwh``.
    ``is_hermitian`` changes nothing; ``dynamic_shape`` must be None.

    Args:
      x: matrices (m, n) with m >= n.
      is_hermitian, dynamic_shape: see above.
      max_iterations: at most this many steps.
      eps: relative precision.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> u, h, steps, converged = xc.lax.linalg.qdwh(xnp.asarray([[0.0, -3.0], [2.0, 0.0]]))
    >>> xnp.round(h, 3) + 0.0
    Array([[2., 0.],
           [0., 3.]], dtype=float32)
    """
    _offered("qdwh", "dynamic_shape", dynamic_shape, ())
    return tuple(linalg.qdwh(x, eps, max_iterations))


@fused(2)
def householder_product(a, taus):
    """The matrix q of the reflectors below the diagonal of ``a``, with factors ``taus``.

    Args:
      a: matrices (…, m, n), as ``geqrf`` and ``hessenberg`` leave them.
      taus: factors (…, k).

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.linalg.householder_product(xnp.asarray([[9.0, 9.0], [1.0, 9.0]]), xnp.asarray([1.0, 0.0]))
    Array([[ 0., -1.],
           [-1.,  0.]], dtype=float32)
    """
    return ops.householder_product(_matrix("householder_product", a), taus)


@fused(1)
def hessenberg(a):
    """(h, taus): the Hessenberg form of a = q h qᴴ, below it the reflectors whose product is q.

    Args:
      a: square matrices (..., n, n).

    >>> import xcore as xc, xcore.numpy as xnp
    >>> h, taus = xc.lax.linalg.hessenberg(xnp.asarray([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0], [4.0, 5.0, 6.0]]))
    >>> abs(h[1, 0])
    Array(5., dtype=float32)
    """
    return tuple(ops.hessenberg(_matrix("hessenberg", a)))


@fused(1)
def tridiagonal(a, *, lower: bool = True):
    """(t, d, e, taus): the tridiagonal form of a Hermitian a = q t qᴴ, its diagonals, its reflectors.

    Args:
      a: Hermitian matrices (…, n, n).
      lower: which triangle is read, and holds the reflectors.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> a = xnp.asarray([[1.0, 3.0, 4.0], [3.0, 2.0, 0.0], [4.0, 0.0, 2.0]])
    >>> t, d, e, taus = xc.lax.linalg.tridiagonal(a)
    >>> d, abs(e)
    (Array([1., 2., 2.], dtype=float32), Array([5., 0.], dtype=float32))
    """
    return tuple(ops.tridiagonal(_matrix("tridiagonal", a), lower=bool(lower)))


@fused(3)
def ormqr(a, taus, c, *, left: bool = True, transpose: bool = False):
    """q c or qᴴ c, or c q or c qᴴ, for the square q of the reflectors in ``a`` with factors ``taus``.

    Args:
      a, taus: reflectors and their factors, as ``qr`` forms them.
      c: matrix that is multiplied.
      left: whether q stands on the left of c.
      transpose: whether qᴴ is taken.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> a, taus = xnp.asarray([[9.0], [1.0]]), xnp.asarray([1.0])
    >>> xc.lax.linalg.ormqr(a, taus, xnp.eye(2))
    Array([[ 0., -1.],
           [-1.,  0.]], dtype=float32)
    """
    a, taus, c = _of_one_dtype("ormqr", a, taus, c)
    m, k = typeof(a).shape[-2], typeof(taus).shape[-1]
    if k > min(typeof(a).shape[-2:]) or typeof(c).shape[-2 if left else -1] != m:
        why = f"need taus (..., k) with k <= min(m, n), and c with {m} {'rows' if left else 'columns'}"
        raise errors.shape_mismatch("lax.linalg.ormqr", why, a=a, taus=taus, c=c)
    # The product of reflectors 1 - tau v vᴴ is 1 - v t vᴴ, (1 + diag(taus) triu(vᴴ v, 1)) t = diag(taus).
    # (Schreiber and Van Loan 1989, "A storage-efficient WY representation")
    v = xnp.tril(a[..., :k], -1) + xnp.eye(m, k, dtype=typeof(a).dtype)
    above = taus[..., :, None] * xnp.triu(v.conj().mT @ v, 1)
    t = ops.triangular_solve(
        above, xnp.eye(k, dtype=typeof(a).dtype) * taus[..., None, :], left=True, lower=False,
        transpose="N", unit_diagonal=True,
    )  # fmt: skip
    t = t.conj().mT if transpose else t
    if left:
        return c - v @ (t @ (v.conj().mT @ c))
    return c - ((c @ v) @ t) @ v.conj().mT


@fused(2)
def triangular_solve(a, b, *, left_side: bool = False, lower: bool = False, transpose_a: bool = False,
                     conjugate_a: bool = False, unit_diagonal: bool = False):  # fmt: skip
    """x with op(a) x = b (``left_side``) or x op(a) = b, where ``a`` is triangular.

    Args:
      a: triangular matrices (…, n, n).
      b: matrices (…, n, k), or (…, k, n) where a stands on the right; with an axis less than a vectors (…, n).
      left_side: whether a stands on the left of x.
      lower: which triangle is read.
      transpose_a, conjugate_a: what op is.
      unit_diagonal: whether the diagonal counts as ones.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> a, b = xnp.asarray([[2.0, 0.0], [1.0, 4.0]]), xnp.asarray([[2.0], [9.0]])
    >>> xc.lax.linalg.triangular_solve(a, b, left_side=True, lower=True)
    Array([[1.],
           [2.]], dtype=float32)
    """
    a, b = _of_one_dtype("triangular_solve", a, b)
    if typeof(b).ndim == typeof(a).ndim - 1:
        axis = -1 if left_side else -2
        x = triangular_solve(
            a, xnp.expand_dims(b, axis), left_side=left_side, lower=lower, transpose_a=transpose_a,
            conjugate_a=conjugate_a, unit_diagonal=unit_diagonal,
        )  # fmt: skip
        return xnp.squeeze(x, axis)
    a = ops.conj(a) if conjugate_a and dtypes.is_complex(typeof(a).dtype) else a
    return ops.triangular_solve(a, b, left=bool(left_side), lower=bool(lower), transpose="T" if transpose_a else "N",
                                unit_diagonal=bool(unit_diagonal))  # fmt: skip


@fused(4)
def tridiagonal_solve(dl, d, du, b, *, perturb_singular: bool = False):
    """x with a x = b for the matrices of subdiagonal dl[1:], diagonal d and superdiagonal du[:-1].

    ``perturb_singular`` must be False: for a singular matrix shift d by a few units in its last place.

    Args:
      dl, d, du: diagonals (…, n).
      b: right-hand sides (…, n, k).
      perturb_singular: see above.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> dl, d, du = xnp.asarray([0.0, 1.0]), xnp.asarray([2.0, 3.0]), xnp.asarray([1.0, 0.0])
    >>> xc.lax.linalg.tridiagonal_solve(dl, d, du, xnp.asarray([[3.0], [4.0]]))
    Array([[1.],
           [1.]], dtype=float32)
    """
    _offered("tridiagonal_solve", "perturb_singular", perturb_singular, ())
    who = "lax.linalg.tridiagonal_solve"
    check_alike(who, dl, d, du, b, any_rank=True)
    *diagonals, b = [as_inexact(who, x) for x in promote_dtypes(who, dl, d, du, b)]
    return ops.tridiagonal_solve(*as_arrays(who, *diagonals), _matrix("tridiagonal_solve", b))


@fused(2)
def symmetric_product(a_matrix, c_matrix, *, alpha: float = 1.0, beta: float = 0.0,
                      symmetrize_output: bool = False):  # fmt: skip
    """alpha a aᵀ + beta c.

    Args:
      a_matrix: matrices (…, n, k).
      c_matrix: matrices (…, n, n).
      alpha, beta: numbers.
      symmetrize_output: accepted; both triangles are computed anyway.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.linalg.symmetric_product(xnp.asarray([[1.0], [2.0]]), xnp.eye(2), beta=3.0)
    Array([[4., 2.],
           [2., 7.]], dtype=float32)
    """
    del symmetrize_output  # both triangles are computed
    a, c = _matrix("symmetric_product", a_matrix), _matrix("symmetric_product", c_matrix)
    return alpha * (a @ a.mT) + beta * c
