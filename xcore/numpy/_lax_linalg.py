"""``xcore.lax.linalg``: the factorisations themselves; see ``xcore.linalg`` for what one does with them."""

from __future__ import annotations

from .. import _ops as ops
from .._core import dtypes, errors
from .._core.eval import fused
from .._core.types import typeof
from ._matrices import symmetric
from ._promote import as_array, as_arrays, as_inexact, astype


def _matrix(who: str, x):
    return as_inexact(f"lax.linalg.{who}", x)


@fused(1)
def cholesky(x, *, symmetrize_input: bool = True):
    """The lower triangular factor l of a positive definite matrix, x = l lᴴ; NaN if it is not one."""
    x = _matrix("cholesky", x)
    return ops.cholesky(symmetric(x) if symmetrize_input else x)


@fused(1)
def eigh(x, *, lower: bool = True, symmetrize_input: bool = True, sort_eigenvalues: bool = True,
         subset_by_index=None):  # fmt: skip
    """Eigenvectors and (ascending) eigenvalues of a Hermitian matrix: (v, w), in this order."""
    x = _matrix("eigh", x)
    if subset_by_index is not None and tuple(subset_by_index) != (0, typeof(x).shape[-1]):
        raise errors.bad_argument(
            "lax.linalg.eigh", "subset_by_index", subset_by_index, "all of them"
        )
    if symmetrize_input:
        x = symmetric(x)
    elif not lower:
        n = typeof(x).ndim
        x = ops.transpose(x, perm=(*range(n - 2), n - 1, n - 2))
        x = ops.conj(x) if dtypes.is_complex(typeof(x).dtype) else x
    w, v = ops.eigh(x, vectors=True)
    return v, w


@fused(1)
def eig(x, *, compute_left_eigenvectors: bool = True, compute_right_eigenvectors: bool = True):
    """Eigenvalues and, if asked for, left and right eigenvectors: [w, vl, vr]."""
    return list(ops.eig(_matrix("eig", x), left=bool(compute_left_eigenvectors),
                        right=bool(compute_right_eigenvectors)))  # fmt: skip


@fused(1)
def lu(x):
    """(factors, pivots, permutation): l below the diagonal and u above; x[permutation] = l u."""
    return tuple(ops.lu(_matrix("lu", x)))


@fused(1)
def lu_pivots_to_permutation(pivots, permutation_size: int):
    """The order of rows that exchanging row i with row pivots[i], one after the other, gives."""
    pivots = as_array("lax.linalg.lu_pivots_to_permutation", pivots)
    return ops.lu_pivots_to_permutation(astype(pivots, dtypes.int32), size=int(permutation_size))


@fused(1)
def qr(x, *, pivoting: bool = False, full_matrices: bool = True):
    """(q, r), and with pivoting the order of columns p: x[:, p] = q r."""
    return tuple(ops.qr(_matrix("qr", x), full=bool(full_matrices), pivoting=bool(pivoting)))


@fused(1)
def svd(x, *, full_matrices: bool = True, compute_uv: bool = True):
    """(u, s, vh) with x = u diag(s) vh, or s only."""
    x = _matrix("svd", x)
    if not compute_uv:
        out = ops.svd(x, full=False, vectors=False)
        return out[0] if isinstance(out, (list, tuple)) else out
    s, u, vh = ops.svd(x, full=bool(full_matrices), vectors=True)
    return u, s, vh


@fused(1)
def schur(x, *, compute_schur_vectors: bool = True):
    """(t, q) with x = q t qᴴ and t upper triangular (for real matrices but for 2 by 2 blocks)."""
    t, q = ops.schur(_matrix("schur", x))
    return (t, q) if compute_schur_vectors else (t,)


@fused(2)
def householder_product(a, taus):
    """The matrix q of the reflectors below the diagonal of ``a``, with factors ``taus``."""
    return ops.householder_product(_matrix("householder_product", a), taus)


@fused(2)
def triangular_solve(a, b, *, left_side: bool = False, lower: bool = False, transpose_a: bool = False,
                     conjugate_a: bool = False, unit_diagonal: bool = False):  # fmt: skip
    """x with op(a) x = b (``left_side``) or x op(a) = b, where ``a`` is triangular."""
    a, b = _matrix("triangular_solve", a), _matrix("triangular_solve", b)
    dtype, _ = dtypes.promote((typeof(a).dtype, False), (typeof(b).dtype, False))
    a, b = astype(a, dtype), astype(b, dtype)
    a = ops.conj(a) if conjugate_a and dtypes.is_complex(dtype) else a
    return ops.triangular_solve(a, b, left=bool(left_side), lower=bool(lower), transpose="T" if transpose_a else "N",
                                unit_diagonal=bool(unit_diagonal))  # fmt: skip


@fused(4)
def tridiagonal_solve(dl, d, du, b):
    """x with a x = b for the matrices of subdiagonal dl[1:], diagonal d and superdiagonal du[:-1]."""
    dl, d, du = as_arrays("lax.linalg.tridiagonal_solve", dl, d, du, inexact=True)
    return ops.tridiagonal_solve(
        dl, d, du, astype(_matrix("tridiagonal_solve", b), typeof(d).dtype)
    )


@fused(2)
def symmetric_product(a_matrix, c_matrix, *, alpha: float = 1.0, beta: float = 0.0,
                      symmetrize_output: bool = False):  # fmt: skip
    """alpha a aᵀ + beta c."""
    del symmetrize_output  # both triangles are computed
    a, c = _matrix("symmetric_product", a_matrix), _matrix("symmetric_product", c_matrix)
    return alpha * (a @ a.mT) + beta * c
