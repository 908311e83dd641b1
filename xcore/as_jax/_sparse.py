"""``jax.experimental.sparse`` over ``xcore.sparse``: its classes as names of ways to make a matrix."""

from __future__ import annotations

import numpy as np

import xcore.numpy as xnp
import xcore.sparse as sparse


class JAXSparse(sparse.Sparse):
    """Any sparse matrix."""


class _Way(type):
    """Instances are xcore's sparse matrices; the class has the constructors."""

    def __instancecheck__(cls, x) -> bool:
        return isinstance(x, sparse.Sparse)


class BCOO(metaclass=_Way):
    """A sparse matrix by values and places: a matrix of ``xcore.sparse``."""

    def __new__(cls, parts, *, shape, **flags):
        values, indices = parts
        rows, columns = np.asarray(indices).T
        return sparse.coo_array((values, (rows, columns)), shape=shape)

    @staticmethod
    def from_scipy_sparse(matrix, **options):
        return sparse.from_scipy(matrix)

    @staticmethod
    def fromdense(matrix, **options):
        return sparse.from_dense(matrix)


BCSR = CSR = CSC = COO = BCOO


def _places(matrix) -> np.ndarray:
    return np.stack([matrix.pattern.rows, matrix.pattern.indices], 1)


# What matrices have of JAX's BCOO; ours lie row by row.
sparse.Sparse.data = property(lambda self: self.values)  # pyright: ignore[reportAttributeAccessIssue]
sparse.Sparse.nse = property(lambda self: self.nnz)  # pyright: ignore[reportAttributeAccessIssue]
sparse.Sparse.indices = property(lambda self: xnp.asarray(_places(self)))  # pyright: ignore[reportAttributeAccessIssue]
sparse.Sparse.sum_duplicates = lambda self, **options: self  # pyright: ignore[reportAttributeAccessIssue]


def sparsify(f, use_tracer: bool = False):
    """Functions take sparse matrices as they are where they are products."""
    return f
