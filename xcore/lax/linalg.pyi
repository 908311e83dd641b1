"""Types of xcore.lax.linalg. Written by tools/stubs.py."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, overload

import numpy as np

from xcore._core.array import Array
from xcore._core.typing import ArrayLike, Axis, DTypeLike, Key, Shape

from xcore.lax.linalg import EigImplementation as EigImplementation
from xcore.lax.linalg import EighImplementation as EighImplementation
from xcore.lax.linalg import SvdAlgorithm as SvdAlgorithm

def cholesky(x: ArrayLike, *, symmetrize_input: bool = True) -> Array:
    """The lower triangular factor l of a positive definite matrix, x = l lᴴ; NaN if it is not one."""
def cholesky_update(r_matrix: ArrayLike, w_vector: ArrayLike) -> Array:
    """The upper triangular factor r' of the real matrix r'ᵀ r' = rᵀ r + w wᵀ, by n rotations."""
def eig(x: ArrayLike, *, compute_left_eigenvectors: bool = True, compute_right_eigenvectors: bool = True, enable_eigvec_derivs: bool = True, implementation: str | None = None, use_magma: Any = None) -> Any:
    """Eigenvalues and, if asked for, left and right eigenvectors: [w, vl, vr]."""
def eigh(x: ArrayLike, *, lower: bool = True, symmetrize_input: bool = True, sort_eigenvalues: bool = True, subset_by_index: Any = None, implementation: str | None = None) -> Any:
    """Eigenvectors and eigenvalues of a Hermitian matrix: (v, w), in this order."""
def hessenberg(a: ArrayLike) -> Any:
    """(h, taus): the Hessenberg form of a = q h qᴴ, below it the reflectors whose product is q."""
def householder_product(a: ArrayLike, taus: ArrayLike) -> Array:
    """The matrix q of the reflectors below the diagonal of ``a``, with factors ``taus``."""
def lu(x: ArrayLike) -> Any:
    """(factors, pivots, permutation): l below the diagonal and u above; x[permutation] = l u."""
def lu_pivots_to_permutation(pivots: Any, permutation_size: int) -> Array:
    """The order of rows that exchanging row i with row pivots[i], one after the other, gives."""
def ormqr(a: ArrayLike, taus: ArrayLike, c: ArrayLike, *, left: bool = True, transpose: bool = False) -> Array:
    """q c or qᴴ c, or c q or c qᴴ, for the square q of the reflectors in ``a`` with factors ``taus``."""
def qdwh(x: ArrayLike, *, is_hermitian: bool = False, max_iterations: Any = None, eps: float | None = None, dynamic_shape: Any = None) -> Any:
    """(u, h, steps, whether they were enough): x = u h with orthonormal columns in u, h Hermitian."""
def qr(x: ArrayLike, *, pivoting: bool = False, full_matrices: bool = True, use_magma: Any = None) -> Any:
    """(q, r), and with pivoting the order of columns p: x[:, p] = q r."""
def schur(x: ArrayLike, *, compute_schur_vectors: bool = True, sort_eig_vals: bool = False, select_callable: Any = None) -> Any:
    """(t, q) with x = q t qᴴ and t upper triangular (for real matrices but for 2 by 2 blocks)."""
def svd(x: ArrayLike, *, full_matrices: bool = True, compute_uv: bool = True, subset_by_index: Any = None, algorithm: Any = None) -> Any:
    """(u, s, vh) with x = u diag(s) vh, or s only; those from ``subset_by_index[0]`` on."""
def symmetric_product(a_matrix: ArrayLike, c_matrix: ArrayLike, *, alpha: float = 1.0, beta: float = 0.0, symmetrize_output: bool = False) -> Array:
    """alpha a aᵀ + beta c."""
def triangular_solve(a: ArrayLike, b: ArrayLike, *, left_side: bool = False, lower: bool = False, transpose_a: bool = False, conjugate_a: bool = False, unit_diagonal: bool = False) -> Array:
    """x with op(a) x = b (``left_side``) or x op(a) = b, where ``a`` is triangular."""
def tridiagonal(a: ArrayLike, *, lower: bool = True) -> Any:
    """(t, d, e, taus): the tridiagonal form of a Hermitian a = q t qᴴ, its diagonals, its reflectors."""
def tridiagonal_solve(dl: ArrayLike, d: ArrayLike, du: ArrayLike, b: ArrayLike, *, perturb_singular: bool = False) -> Array:
    """x with a x = b for the matrices of subdiagonal dl[1:], diagonal d and superdiagonal du[:-1]."""
