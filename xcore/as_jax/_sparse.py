"""``jax.experimental.sparse`` over ``xcore.sparse``: its classes as names of ways to make a matrix."""

from __future__ import annotations

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
        return sparse.coo_array((values, (indices[:, 0], indices[:, 1])), shape=shape)

    @staticmethod
    def from_scipy_sparse(matrix, **options):
        return sparse.from_scipy(matrix)

    @staticmethod
    def fromdense(matrix, **options):
        return sparse.from_dense(matrix)


BCSR = CSR = CSC = COO = BCOO


def sparsify(f, use_tracer: bool = False):
    """Functions take sparse matrices as they are where they are products."""
    return f
