"""Arrays by values and places with the names of ``jax.experimental.sparse``: places are arrays too, traced if need be.

``xcore.sparse`` has matrices whose pattern is known before any value is, with factors, multigrid, eigenvalues and fast
products: take it for systems of equations and wherever the places are known; take this where places are computed under
``jit``, are repeated or padding, for more than two axes, and for programs that were written for JAX. ``to_sparse()``
and ``from_scipy_sparse`` lead from one to the other.

Products with dense arrays, sums, changes of axes and elementwise products act on the values that are stored; what is
rarer (``bcoo_slice``, ``m[i]``, products of two sparse arrays) goes by way of the dense array.
"""

# ruff: noqa: I001 (names stand in lines, not one on each)

# fmt: off
from ..._core.package import bound as _bound
from . import linalg
from ._arrays import BCOO, BCSR, COO, CSC, CSR, JAXSparse
from ._derivatives import grad, jacfwd, jacobian, jacrev, value_and_grad
from ._formats import (
    bcsr_broadcast_in_dim, bcsr_concatenate, bcsr_dot_general, bcsr_extract, bcsr_fromdense, bcsr_sum_duplicates,
    bcsr_todense, coo_fromdense, coo_matmat, coo_matvec, coo_todense, csr_fromdense, csr_matmat, csr_matvec,
    csr_todense, empty, eye, random_bcoo, todense,
)
from ._functions import (
    bcoo_broadcast_in_dim, bcoo_concatenate, bcoo_dot_general, bcoo_dot_general_sampled, bcoo_dynamic_slice,
    bcoo_extract, bcoo_fromdense, bcoo_multiply_dense, bcoo_multiply_sparse, bcoo_reduce_sum, bcoo_reshape, bcoo_rev,
    bcoo_slice, bcoo_sort_indices, bcoo_squeeze, bcoo_sum_duplicates, bcoo_todense, bcoo_transpose, bcoo_update_layout,
)
from ._sparsify import sparsify
from ._warnings import CuSparseEfficiencyWarning, SparseEfficiencyError, SparseEfficiencyWarning
# fmt: on

__all__ = [
    "BCOO", "BCSR", "COO", "CSC", "CSR", "CuSparseEfficiencyWarning", "JAXSparse", "SparseEfficiencyError",
    "SparseEfficiencyWarning", "bcoo_broadcast_in_dim", "bcoo_concatenate", "bcoo_dot_general",
    "bcoo_dot_general_sampled", "bcoo_dynamic_slice", "bcoo_extract", "bcoo_fromdense", "bcoo_multiply_dense",
    "bcoo_multiply_sparse", "bcoo_reduce_sum", "bcoo_reshape", "bcoo_rev", "bcoo_slice", "bcoo_sort_indices",
    "bcoo_squeeze", "bcoo_sum_duplicates", "bcoo_todense", "bcoo_transpose", "bcoo_update_layout",
    "bcsr_broadcast_in_dim", "bcsr_concatenate", "bcsr_dot_general", "bcsr_extract", "bcsr_fromdense",
    "bcsr_sum_duplicates", "bcsr_todense", "coo_fromdense", "coo_matmat", "coo_matvec", "coo_todense",
    "csr_fromdense", "csr_matmat", "csr_matvec", "csr_todense", "empty", "eye", "grad", "jacfwd", "jacobian",
    "jacrev", "linalg", "random_bcoo", "sparsify", "todense", "value_and_grad",
]  # fmt: skip

_bound(globals())
