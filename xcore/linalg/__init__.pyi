"""Types of xcore.linalg. Written by tools/stubs.py."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, overload

import numpy as np

from xcore._core.array import Array
from xcore._core.typing import ArrayLike, Axis, DTypeLike, Key, Shape

from xcore.numpy._matrices import SVDResult, EigResult, EighResult
from xcore.numpy._types import DType
from pathlib import Path
from xcore._solution import Solution
from xcore.linalg._krylov import Krylov
from xcore._solution import Certificate as Certificate
from xcore.linalg._banded import IncompleteCholesky as IncompleteCholesky
from xcore.linalg._banded import cholesky_banded as cholesky_banded
from xcore.linalg._banded import incomplete_cholesky as incomplete_cholesky
from xcore.linalg._chebyshev import chebyshev_preconditioner as chebyshev_preconditioner
from xcore.linalg._dense import condest as condest
from xcore.linalg._echelon import EliminationSteps as EliminationSteps
from xcore.linalg._echelon import elimination_steps as elimination_steps
from xcore.linalg._eigen import lanczos as lanczos
from xcore.linalg._eigen import randomized_svd as randomized_svd
from xcore.linalg._factorisations import LUFactors as LUFactors
from xcore.linalg._factorisations import PivotedQR as PivotedQR
from xcore.linalg._factorisations import cholesky as cholesky
from xcore.linalg._factorisations import lu as lu
from xcore.linalg._factorisations import lu_factor as lu_factor
from xcore.linalg._factorisations import svdvals as svdvals
from xcore.linalg._functions import expm_frechet as expm_frechet
from xcore.linalg._gauss import GaussLU as GaussLU
from xcore.linalg._gauss import gauss_det as gauss_det
from xcore.linalg._gauss import gauss_inv as gauss_inv
from xcore.linalg._gauss import gauss_lu as gauss_lu
from xcore.linalg._gauss import gauss_null_space as gauss_null_space
from xcore.linalg._indefinite import LDL as LDL
from xcore.linalg._indefinite import ldl as ldl
from xcore.linalg._krylov import BiCGStab as BiCGStab
from xcore.linalg._krylov import CG as CG
from xcore.linalg._krylov import Chebyshev as Chebyshev
from xcore.linalg._krylov import GMRES as GMRES
from xcore.linalg._krylov import MINRES as MINRES
from xcore.linalg._least_squares import matrix_rank as matrix_rank
from xcore.linalg._least_squares import null_space as null_space
from xcore.linalg._least_squares import orth as orth
from xcore.linalg._linear_solve import jacobi_preconditioner as jacobi_preconditioner
from xcore.linalg._lsmr import expm_multiply as expm_multiply
from xcore.linalg._operators import Blocks as Blocks
from xcore.linalg._operators import Diagonal as Diagonal
from xcore.linalg._operators import FunctionOperator as FunctionOperator
from xcore.linalg._operators import Kronecker as Kronecker
from xcore.linalg._operators import LinearOperator as LinearOperator
from xcore.linalg._operators import Matrix as Matrix
from xcore.linalg._operators import as_operator as as_operator
from xcore.linalg._operators import jacobian_operator as jacobian_operator
from xcore.linalg._polar import polar as polar
from xcore.linalg._polar import qdwh as qdwh
from xcore.linalg._schur import hessenberg as hessenberg
from xcore.linalg._schur import rsf2csf as rsf2csf
from xcore.linalg._structured import solve_block_diag as solve_block_diag
from xcore.linalg._structured import solve_kronecker as solve_kronecker
from xcore.linalg._structured import solve_woodbury as solve_woodbury

@overload
def cho_solve(factor: ArrayLike, b: ArrayLike, *, lower: bool = True, report: Literal[False] = False) -> Array: ...
@overload
def cho_solve(factor: ArrayLike, b: ArrayLike, *, lower: bool = True, report: Literal[True]) -> Solution:
    """The solution x of a x = b from the Cholesky factor of a."""
@overload
def det(a: ArrayLike, *, report: Literal[False] = False) -> Array: ...
@overload
def det(a: ArrayLike, *, report: Literal[True]) -> Solution:
    """The determinant; its derivative is right for singular matrices too."""
@overload
def eig(a: ArrayLike, *, report: Literal[False] = False) -> EigResult: ...
@overload
def eig(a: ArrayLike, *, report: Literal[True]) -> Solution:
    """Eigenvalues and right eigenvectors of square matrices; both complex."""
@overload
def eigh(a: ArrayLike, b: ArrayLike | None = None, *, report: Literal[False] = False) -> EighResult: ...
@overload
def eigh(a: ArrayLike, b: ArrayLike | None = None, *, report: Literal[True]) -> Solution:
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices: a v = w v or a v = w b v."""
@overload
def eigsh(a: ArrayLike | LinearOperator, k: int = 6, *, M: ArrayLike | LinearOperator | None = None, which: str = 'largest', x0: ArrayLike | None = None, ncv: int | None = None, sigma: ArrayLike | None = None, inverse: ArrayLike | LinearOperator | None = None, rtol: float | None = None, max_steps: int = 300, report: Literal[False] = False, history: bool = False, progress: str | bool = False, checkpoint: str | Path | None = None) -> tuple[Array, Array]: ...
@overload
def eigsh(a: ArrayLike | LinearOperator, k: int = 6, *, M: ArrayLike | LinearOperator | None = None, which: str = 'largest', x0: ArrayLike | None = None, ncv: int | None = None, sigma: ArrayLike | None = None, inverse: ArrayLike | LinearOperator | None = None, rtol: float | None = None, max_steps: int = 300, report: Literal[True], history: bool = False, progress: str | bool = False, checkpoint: str | Path | None = None) -> Solution:
    """(w, v): k eigenvalues, ascending, of a symmetric operator and their vectors, by Lanczos."""
@overload
def eigvals(a: ArrayLike, *, report: Literal[False] = False) -> Array: ...
@overload
def eigvals(a: ArrayLike, *, report: Literal[True]) -> Solution:
    """Eigenvalues of square matrices, complex; ``report`` as for ``eig``, whose vectors it needs and costs:"""
@overload
def eigvalsh(a: ArrayLike, b: ArrayLike | None = None, *, report: Literal[False] = False) -> Array: ...
@overload
def eigvalsh(a: ArrayLike, b: ArrayLike | None = None, *, report: Literal[True]) -> Solution:
    """Eigenvalues of Hermitian matrices, ascending; arguments as for ``eigh``."""
@overload
def expm(a: ArrayLike, max_squarings: int | None = None, *, report: Literal[False] = False) -> Array: ...
@overload
def expm(a: ArrayLike, max_squarings: int | None = None, *, report: Literal[True]) -> Solution:
    """The exponential of square matrices, 1 + a + a² / 2 + …"""
@overload
def funm(a: ArrayLike, f: Callable[[Array], Array], *, report: Literal[False] = False) -> tuple[Array, Array]: ...
@overload
def funm(a: ArrayLike, f: Callable[[Array], Array], *, report: Literal[True]) -> Solution:
    """(f(a), an estimate of its relative error) for a function f of numbers. Not on a TPU."""
@overload
def funmh(a: ArrayLike, f: Callable[[Array], Array], *, report: Literal[False] = False) -> Array: ...
@overload
def funmh(a: ArrayLike, f: Callable[[Array], Array], *, report: Literal[True]) -> Solution:
    """f(a) = v diag(f(w)) vᴴ for a Hermitian matrix a = v diag(w) vᴴ and a function f of numbers."""
@overload
def gauss_solve(a: ArrayLike, b: ArrayLike, pivoting: str = 'partial', *, field: int | None = None, return_steps: Literal[False] = False) -> Array: ...
@overload
def gauss_solve(a: ArrayLike, b: ArrayLike, pivoting: str = 'partial', *, field: int | None = None, return_steps: bool = False) -> Any:
    """The solution x of a x = b by our own elimination; exact over a field."""
@overload
def inv(a: ArrayLike, assume_a: str = 'general', *, report: Literal[False] = False) -> Array: ...
@overload
def inv(a: ArrayLike, assume_a: str = 'general', *, report: Literal[True]) -> Solution:
    """The inverse. To solve equations, ``solve`` is faster and more accurate."""
@overload
def linear_solve(a: ArrayLike | LinearOperator, b: ArrayLike, solver: Krylov | None = None, *, preconditioner: ArrayLike | LinearOperator | Callable[[Array], Array] | None = None, x0: ArrayLike | None = None, report: Literal[False] = False, history: bool = False, progress: str | bool = False) -> Array: ...
@overload
def linear_solve(a: ArrayLike | LinearOperator, b: ArrayLike, solver: Krylov | None = None, *, preconditioner: ArrayLike | LinearOperator | Callable[[Array], Array] | None = None, x0: ArrayLike | None = None, report: Literal[True], history: bool = False, progress: str | bool = False) -> Solution:
    """The solution x of a x = b from products with a. Derivatives cost one more solution."""
@overload
def lobpcg(a: ArrayLike | LinearOperator, k: int = 1, *, B: ArrayLike | LinearOperator | None = None, which: str = 'smallest', x0: ArrayLike | None = None, preconditioner: ArrayLike | LinearOperator | None = None, rtol: float | None = None, max_steps: int = 200, report: Literal[False] = False, history: bool = False, progress: str | bool = False, checkpoint: str | Path | None = None) -> tuple[Array, Array]: ...
@overload
def lobpcg(a: ArrayLike | LinearOperator, k: int = 1, *, B: ArrayLike | LinearOperator | None = None, which: str = 'smallest', x0: ArrayLike | None = None, preconditioner: ArrayLike | LinearOperator | None = None, rtol: float | None = None, max_steps: int = 200, report: Literal[True], history: bool = False, progress: str | bool = False, checkpoint: str | Path | None = None) -> Solution:
    """(w, v): k eigenvalues, ascending, of a symmetric operator and their vectors, by LOBPCG."""
@overload
def logm(a: ArrayLike, *, report: Literal[False] = False) -> Array: ...
@overload
def logm(a: ArrayLike, *, report: Literal[True]) -> Solution:
    """The principal logarithm of square matrices, complex. By Schur's form: on a GPU LAPACK on its host"""
@overload
def lsmr(a: ArrayLike | LinearOperator, b: ArrayLike, *, damp: float = 0.0, rtol: float | None = None, max_steps: int | None = None, report: Literal[False] = False, history: bool = False, progress: str | bool = False) -> Array: ...
@overload
def lsmr(a: ArrayLike | LinearOperator, b: ArrayLike, *, damp: float = 0.0, rtol: float | None = None, max_steps: int | None = None, report: Literal[True], history: bool = False, progress: str | bool = False) -> Solution:
    """The x that makes |a x - b|² + damp² |x|² least, from products with a and its adjoint."""
@overload
def lstsq(a: ArrayLike, b: ArrayLike, *, method: str = 'svd', ridge: float = 0.0, rtol: float | None = None, report: Literal[False] = False) -> Array: ...
@overload
def lstsq(a: ArrayLike, b: ArrayLike, *, method: str = 'svd', ridge: float = 0.0, rtol: float | None = None, report: Literal[True]) -> Solution:
    """The x that makes |a x - b|² + ridge |x|² least."""
@overload
def lu_solve(factors: LUFactors | Sequence[ArrayLike], b: ArrayLike, trans: int = 0, *, report: Literal[False] = False) -> Array: ...
@overload
def lu_solve(factors: LUFactors | Sequence[ArrayLike], b: ArrayLike, trans: int = 0, *, report: Literal[True]) -> Solution:
    """The solution x of a x = b (aᵀ x = b, aᴴ x = b for ``trans`` 1, 2) from ``lu_factor(a)``."""
@overload
def pinv(a: ArrayLike, *, rtol: float | None = None, hermitian: bool = False, report: Literal[False] = False) -> Array: ...
@overload
def pinv(a: ArrayLike, *, rtol: float | None = None, hermitian: bool = False, report: Literal[True]) -> Solution:
    """The pseudoinverse of Moore and Penrose; arguments as in ``numpy.linalg.pinv``."""
@overload
def qr(a: ArrayLike, mode: Literal['reduced'] = 'reduced', *, pivoting: Literal[False] = False) -> tuple[Array, Array]: ...
@overload
def qr(a: ArrayLike, mode: str = 'reduced', *, pivoting: bool = False) -> Any:
    """The factors of a = Q R: orthonormal columns in Q, R upper triangular."""
@overload
def row_echelon(a: ArrayLike, *, field: int | None = None, tol: float | None = None, return_steps: Literal[False] = False) -> Array: ...
@overload
def row_echelon(a: ArrayLike, *, field: int | None = None, tol: float | None = None, return_steps: bool = False) -> Any:
    """A row echelon form: below and left of each row's first nonzero number stand zeros."""
@overload
def rref(a: ArrayLike, *, field: int | None = None, tol: float | None = None, return_steps: Literal[False] = False) -> Array: ...
@overload
def rref(a: ArrayLike, *, field: int | None = None, tol: float | None = None, return_steps: bool = False) -> Any:
    """The reduced row echelon form: pivots are 1 and stand alone in their columns."""
@overload
def schur(a: ArrayLike, output: str = 'real', sort: Literal[None] = None) -> tuple[Array, Array]: ...
@overload
def schur(a: ArrayLike, output: str = 'real', sort: str | Callable[[Array], Array] | None = None) -> Any:
    """(t, z): the Schur form of a = z t zᴴ, t upper triangular and z unitary. Not on a TPU."""
@overload
def slogdet(a: ArrayLike, *, report: Literal[False] = False) -> tuple[Array, Array]: ...
@overload
def slogdet(a: ArrayLike, *, report: Literal[True]) -> Solution:
    """The sign (or phase) of the determinant and the logarithm of its modulus."""
@overload
def solve(a: ArrayLike, b: ArrayLike, assume_a: str = 'general', *, transposed: bool = False, refine: int | None = None, precision: DTypeLike | None = None, report: Literal[False] = False) -> Array: ...
@overload
def solve(a: ArrayLike, b: ArrayLike, assume_a: str = 'general', *, transposed: bool = False, refine: int | None = None, precision: DTypeLike | None = None, report: Literal[True]) -> Solution:
    """The solution x of a x = b."""
@overload
def solve_banded(l_and_u: Sequence[int], ab: ArrayLike, b: ArrayLike, *, report: Literal[False] = False) -> Array: ...
@overload
def solve_banded(l_and_u: Sequence[int], ab: ArrayLike, b: ArrayLike, *, report: Literal[True]) -> Solution:
    """The solution x of a x = b for banded a, by elimination with exchanges of rows."""
@overload
def solve_circulant(c: ArrayLike, b: ArrayLike, *, report: Literal[False] = False) -> Array: ...
@overload
def solve_circulant(c: ArrayLike, b: ArrayLike, *, report: Literal[True]) -> Solution:
    """The solution x of a x = b for the circulant matrix a[i, j] = c[i - j], by Fourier transforms."""
@overload
def solve_continuous_are(a: ArrayLike, b: ArrayLike, q: ArrayLike, r: ArrayLike, e: ArrayLike | None = None, s: ArrayLike | None = None, *, report: Literal[False] = False) -> Array: ...
@overload
def solve_continuous_are(a: ArrayLike, b: ArrayLike, q: ArrayLike, r: ArrayLike, e: ArrayLike | None = None, s: ArrayLike | None = None, *, report: Literal[True]) -> Solution:
    """The stabilising solution x of aᴴ x + x a - x b r⁻¹ bᴴ x + q = 0, Riccati's equation."""
@overload
def solve_continuous_lyapunov(a: ArrayLike, q: ArrayLike, *, report: Literal[False] = False) -> Array: ...
@overload
def solve_continuous_lyapunov(a: ArrayLike, q: ArrayLike, *, report: Literal[True]) -> Solution:
    """The solution x of a x + x aᴴ = q, Lyapunov's continuous equation."""
@overload
def solve_discrete_are(a: ArrayLike, b: ArrayLike, q: ArrayLike, r: ArrayLike, e: ArrayLike | None = None, s: ArrayLike | None = None, *, report: Literal[False] = False) -> Array: ...
@overload
def solve_discrete_are(a: ArrayLike, b: ArrayLike, q: ArrayLike, r: ArrayLike, e: ArrayLike | None = None, s: ArrayLike | None = None, *, report: Literal[True]) -> Solution:
    """The stabilising solution x of aᴴ x a - x - aᴴ x b (r + bᴴ x b)⁻¹ bᴴ x a + q = 0."""
@overload
def solve_discrete_lyapunov(a: ArrayLike, q: ArrayLike, *, report: Literal[False] = False) -> Array: ...
@overload
def solve_discrete_lyapunov(a: ArrayLike, q: ArrayLike, *, report: Literal[True]) -> Solution:
    """The solution x of a x aᴴ - x + q = 0, Lyapunov's discrete equation."""
@overload
def solve_sylvester(a: ArrayLike, b: ArrayLike, c: ArrayLike, method: str | None = None, tol: float | None = None, *, report: Literal[False] = False) -> Array: ...
@overload
def solve_sylvester(a: ArrayLike, b: ArrayLike, c: ArrayLike, method: str | None = None, tol: float | None = None, *, report: Literal[True]) -> Solution:
    """The solution x of a x + x b = c."""
@overload
def solve_toeplitz(c: ArrayLike, b: ArrayLike, r: ArrayLike | None = None, *, report: Literal[False] = False) -> Array: ...
@overload
def solve_toeplitz(c: ArrayLike, b: ArrayLike, r: ArrayLike | None = None, *, report: Literal[True]) -> Solution:
    """The solution x of a x = b for the Toeplitz matrix of first column c and first row r."""
@overload
def solve_triangular(a: ArrayLike, b: ArrayLike, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False, *, report: Literal[False] = False) -> Array: ...
@overload
def solve_triangular(a: ArrayLike, b: ArrayLike, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False, *, report: Literal[True]) -> Solution:
    """The solution x of a x = b for triangular a, of which only that triangle is read."""
@overload
def solve_tridiagonal(lower: ArrayLike, diagonal: ArrayLike, upper: ArrayLike, b: ArrayLike, *, method: str = 'auto', report: Literal[False] = False) -> Array: ...
@overload
def solve_tridiagonal(lower: ArrayLike, diagonal: ArrayLike, upper: ArrayLike, b: ArrayLike, *, method: str = 'auto', report: Literal[True]) -> Solution:
    """The solution x of t x = b for tridiagonal t."""
@overload
def solveh_banded(ab: ArrayLike, b: ArrayLike, *, lower: bool = False, report: Literal[False] = False) -> Array: ...
@overload
def solveh_banded(ab: ArrayLike, b: ArrayLike, *, lower: bool = False, report: Literal[True]) -> Solution:
    """The solution x of a x = b for Hermitian positive definite banded a."""
@overload
def sqrtm(a: ArrayLike, *, report: Literal[False] = False) -> Array: ...
@overload
def sqrtm(a: ArrayLike, *, report: Literal[True]) -> Solution:
    """The principal square root of square matrices, complex."""
@overload
def svd(a: ArrayLike, full_matrices: bool = False, compute_uv: Literal[True] = True, *, report: Literal[False] = False) -> SVDResult: ...
@overload
def svd(a: ArrayLike, full_matrices: bool = False, *, compute_uv: Literal[False], report: Literal[False] = False) -> Array: ...
@overload
def svd(a: ArrayLike, full_matrices: bool = False, compute_uv: bool = True, *, report: Literal[True]) -> Solution:
    """Singular values S, descending, and vectors: a = U diag(S) Vh."""
