"""Linear algebra: elimination, direct and iterative solvers, functions of matrices."""

# ruff: noqa: I001 (names stand in lines, not one on each)

# fmt: off
from .._core.package import bound as _bound
from .._solution import Certificate
from ._banded import (
    IncompleteCholesky, cholesky_banded, incomplete_cholesky, solve_banded, solveh_banded,
)
from ._dense import condest, det, inv, slogdet, solve
from ._echelon import EliminationSteps, elimination_steps, row_echelon, rref
from ._eigen import eigsh, lanczos, randomized_svd
from ._factorisations import (
    LUFactors, PivotedQR, cho_solve, cholesky, eig, eigh, eigvals, eigvalsh, lu, lu_factor,
    lu_solve, qr, svd, svdvals,
)
from ._functions import expm, expm_frechet, logm, sqrtm
from ._gauss import GaussLU, gauss_det, gauss_inv, gauss_lu, gauss_null_space, gauss_solve
from ._hermitian_functions import funmh
from ._indefinite import LDL, ldl
from ._krylov import CG, GMRES, MINRES, BiCGStab, Chebyshev
from ._least_squares import lstsq, matrix_rank, null_space, orth, pinv
from ._chebyshev import chebyshev_preconditioner
from ._linear_solve import jacobi_preconditioner, linear_solve
from ._lsmr import expm_multiply, lsmr
from ._lobpcg import lobpcg
from ._operators import (
    Blocks, Diagonal, FunctionOperator, Kronecker, LinearOperator, Matrix, as_operator,
    jacobian_operator,
)
from ._parlett import funm
from ._polar import polar, qdwh
from ._riccati import solve_continuous_are, solve_discrete_are
from ._schur import hessenberg, rsf2csf, schur
from ._structured import (
    solve_block_diag, solve_circulant, solve_kronecker, solve_triangular, solve_woodbury,
)
from ._sylvester import solve_continuous_lyapunov, solve_discrete_lyapunov, solve_sylvester
from ._toeplitz import solve_toeplitz
from ._tridiagonal import solve_tridiagonal
# fmt: on

__all__ = [
    "BiCGStab", "Blocks", "CG", "Certificate", "Chebyshev", "Diagonal", "EliminationSteps", "FunctionOperator",
    "GMRES", "GaussLU", "IncompleteCholesky", "Kronecker", "LDL", "LUFactors", "LinearOperator", "MINRES",
    "Matrix", "PivotedQR", "as_operator", "chebyshev_preconditioner", "cho_solve", "cholesky",
    "cholesky_banded", "condest", "det", "eig", "eigh", "eigsh", "eigvals", "eigvalsh", "elimination_steps",
    "expm", "expm_frechet", "expm_multiply", "funm", "funmh", "gauss_det", "gauss_inv", "gauss_lu",
    "gauss_null_space", "gauss_solve", "hessenberg", "incomplete_cholesky", "inv", "jacobi_preconditioner",
    "jacobian_operator", "lanczos", "ldl", "linear_solve", "lobpcg", "logm", "lsmr", "lstsq", "lu", "lu_factor",
    "lu_solve", "matrix_rank", "null_space", "orth", "pinv", "polar", "qdwh", "qr", "randomized_svd",
    "row_echelon", "rref", "rsf2csf", "schur", "slogdet", "solve", "solve_banded", "solve_block_diag",
    "solve_circulant", "solve_continuous_are", "solve_continuous_lyapunov", "solve_discrete_are",
    "solve_discrete_lyapunov", "solve_kronecker", "solve_sylvester", "solve_toeplitz", "solve_triangular",
    "solve_tridiagonal", "solve_woodbury", "solveh_banded", "sqrtm", "svd", "svdvals",
]  # fmt: skip

_bound(globals(), {
    "eigsh": {"tol": "rtol", "maxiter": "max_steps", "v0": "x0", "OPinv": "inverse"},
    "lobpcg": {"tol": "rtol", "maxiter": "max_steps", "X": "x0", "M": "preconditioner",
               "largest": ("which", lambda largest: "largest" if largest else "smallest")},
    "lsmr": {"maxiter": "max_steps"},
    "cholesky cho_solve": {"upper": ("lower", lambda upper: not upper)},
})  # fmt: skip
