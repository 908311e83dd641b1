"""Sparse matrices: a static pattern and traced values, which pass through jit, grad and vmap.

A ``Sparse`` matrix is a ``LinearOperator``: solvers, eigenvalues and preconditioners of ``xcore.linalg`` take it. Its
only leaf are its values, so a derivative with respect to a matrix is a matrix of the same pattern, never dense.
Names and arguments are those of ``scipy.sparse``, whose matrices are taken wherever a matrix is.
"""

# ruff: noqa: I001 (names stand in lines, not one on each)

# fmt: off
from .._core.package import bound as _bound
from ..linalg import eigsh, lobpcg
from ._blocks import Bsr, bsr_array
from ._cholesky import Cholesky
from ._derivatives import as_sparse, colours, hessian, jacobian, jacobian_pattern
from ._dia import Dia, dia_array
from ._direct import Factors, factorise, solve
from ._graphs import connected_components, dijkstra, laplacian, minimum_spanning_tree
from ._incomplete import IncompleteLU, approximate_inverse, block_jacobi
from ._ldl import LDL, Inertia
from ._least_squares import lstsq
from ._lu import LU
from ._making import (
    block_array, block_diag, coo_array, csc_array, csr_array, diags_array, eye_array, from_dense, from_scipy, hstack,
    identity, issparse, kron, kronsum, random_array, tril, triu, vstack,
)
from ._matrix import Sparse, matmul
from ._multigrid import Multigrid, multigrid
from ._pattern import Pattern
from ._qr import QR
from ._sharded import ShardedRows, shard_rows
from ._singular import svds
from ._spectra import eigs
from ._triangular import solve_triangular
# fmt: on

# SciPy's older names, with their positional arguments; of random matrices a key comes first here
block, diags, eye, random = block_array, diags_array, eye_array, random_array

__all__ = [
    "approximate_inverse", "as_sparse", "block", "block_array", "block_diag", "block_jacobi", "Bsr", "bsr_array",
    "Cholesky", "colours", "connected_components", "coo_array", "csc_array", "csr_array", "Dia", "dia_array", "diags",
    "diags_array", "dijkstra", "eigs", "eigsh", "eye", "eye_array", "factorise", "Factors", "from_dense", "from_scipy",
    "hessian", "hstack", "identity", "IncompleteLU", "Inertia", "issparse", "jacobian", "jacobian_pattern", "kron",
    "kronsum", "laplacian", "LDL", "lobpcg", "lstsq", "LU", "matmul", "minimum_spanning_tree", "Multigrid", "multigrid",
    "Pattern", "QR", "random", "random_array", "shard_rows", "ShardedRows", "solve", "solve_triangular", "Sparse",
    "svds", "tril", "triu", "vstack",
]  # fmt: skip

_bound(globals())
