"""``jax.experimental.sparse``: functions of sparse arrays, arrays made, derivatives by their values."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

import xcore as xc
import xcore.numpy as xnp

from .._core import Tracer
from ..lax import dot_general
from ..linalg import FunctionOperator, lobpcg
from ._sparse import (
    BCOO,
    BCSR,
    COO,
    CSC,
    CSR,
    JAXSparse,
    batched,
    bcoo_dot_general,
    bcoo_extract,
    bcoo_fromdense,
    bcoo_sum_duplicates,
    bcoo_todense,
    by_dense,
    fromdense,
    matmul,
    moved,
    of_each,
    todense,
)


def bcoo_dot_general_sampled(A, B, indices, *, dimension_numbers):
    """Elements of a product of dense arrays at the places given."""
    out = dot_general(A, B, dimension_numbers)
    return out[tuple(indices[..., i] for i in range(indices.shape[-1]))]


def bcoo_slice(mat: BCOO, *, start_indices, limit_indices, strides=None) -> BCOO:
    return by_dense(xc.lax.slice, mat, start_indices, limit_indices, strides)


def bcoo_dynamic_slice(mat: BCOO, start_indices, slice_sizes) -> BCOO:
    return by_dense(xc.lax.dynamic_slice, mat, start_indices, slice_sizes)


def bcoo_broadcast_in_dim(mat: BCOO, *, shape, broadcast_dimensions, sharding=None) -> BCOO:
    """New axes before the sparse ones are of the batch."""
    b, dims, shape = mat.n_batch, tuple(broadcast_dimensions), tuple(shape)
    first = dims[b] if mat.n_sparse else 0
    source = {d: i for i, d in enumerate(dims[b:])}
    same = [
        n == (mat.shape[b + source[d]] if d in source else 1)
        for d, n in enumerate(shape)
        if d >= first
    ]
    if mat.n_dense or not mat.n_sparse or not all(same):
        return by_dense(xc.lax.broadcast_in_dim, mat, shape, dims, plain=True)
    inner = range(first, len(shape))
    found = moved(mat, shape[first:], lambda c: [c[source[d]] if d in source else 0 for d in inner])

    def spread(part):
        part, rest = of_each(mat, part), part.shape[b:]
        places = (*dims[:b], *range(first, first + len(rest)))
        return xc.lax.broadcast_in_dim(part, (*shape[:first], *rest), places)

    return BCOO((spread(found.data), spread(found.indices)), shape=shape)


def bcoo_squeeze(arr: BCOO, *, dimensions) -> BCOO:
    b, gone = arr.n_batch, {k % arr.ndim for k in dimensions}
    if arr.n_dense:
        return by_dense(xc.lax.squeeze, arr, dimensions, plain=True)
    kept = [d for d in range(b, arr.ndim) if d not in gone]
    found = moved(arr, [arr.shape[d] for d in kept], lambda c: [c[d - b] for d in kept])
    outer = tuple(d for d in gone if d < b)
    data, places = (xnp.squeeze(of_each(arr, x), outer) for x in (found.data, found.indices))
    return BCOO((data, places), shape=tuple(n for d, n in enumerate(arr.shape) if d not in gone))


def bcoo_rev(operand: BCOO, dimensions) -> BCOO:
    b, turned = operand.n_batch, {d % operand.ndim for d in dimensions}
    if operand.n_dense or any(d < b for d in turned):
        return by_dense(xc.lax.rev, operand, dimensions)
    sizes = operand.shape[b:]
    return moved(
        operand, sizes, lambda c: [n - 1 - x if b + i in turned else x for i, (x, n) in enumerate(zip(c, sizes))]
    )  # fmt: skip


def _shifted(axis: int, by, columns):
    return [c + by if d == axis else c for d, c in enumerate(columns)]


def bcoo_concatenate(operands, *, dimension) -> BCOO:
    operands, b = list(operands), operands[0].n_batch
    if any(m.n_dense or m.n_batch != b for m in operands) or dimension < b:
        return fromdense(xnp.concatenate([m.todense() for m in operands], dimension), operands[0])
    starts = np.cumsum([0, *[m.shape[dimension] for m in operands]])
    shape = [*operands[0].shape[b:]]
    shape[dimension - b] = int(starts[-1])
    parts = [
        moved(m, shape, functools.partial(_shifted, dimension - b, n))
        for m, n in zip(operands, starts)
    ]
    data, places = (
        xnp.concatenate([of_each(p, getattr(p, name)) for p in parts], b)
        for name in ("data", "indices")
    )
    return BCOO((data, places), shape=(*operands[0].shape[:b], *shape))


def _of(kind, f):
    """A function of BCOO for another kind."""

    @functools.wraps(f)
    def call(mat, *args, **kwargs):
        found = f(mat._coo(), *args, **kwargs)
        return kind._of(found) if isinstance(found, BCOO) else found

    return call


bcsr_fromdense, bcsr_dot_general = BCSR.fromdense, bcoo_dot_general
bcsr_todense, bcsr_sum_duplicates = _of(BCSR, bcoo_todense), _of(BCSR, bcoo_sum_duplicates)
bcsr_extract = _of(BCSR, bcoo_extract)
csr_fromdense, coo_fromdense = CSR.fromdense, COO.fromdense
csr_todense = coo_todense = todense


def csr_matvec(mat, v, transpose: bool = False):
    return (mat.T if transpose else mat) @ v


csr_matmat = coo_matvec = coo_matmat = csr_matvec


# Making


def empty(shape, dtype=None, index_dtype="int32", sparse_format="bcoo", *, nse=0, n_batch=0,
          n_dense=0):  # fmt: skip
    """An array without elements."""
    shape = tuple(shape)
    n_sparse = len(shape) - n_batch - n_dense
    dense = shape[n_batch + n_sparse :]
    outside = np.asarray(shape[n_batch : n_batch + n_sparse], index_dtype)
    data = xnp.zeros((*shape[:n_batch], nse, *dense), dtype or float)
    indices = xnp.broadcast_to(outside, (*shape[:n_batch], nse, n_sparse))
    return _formats[sparse_format]._of(BCOO((data, indices), shape=shape))


def eye(N, M=None, k=0, dtype=None, index_dtype="int32", sparse_format="bcoo", **layout):
    """Ones on a diagonal."""
    return _formats[sparse_format]._of(
        bcoo_fromdense(np.eye(N, M, k, dtype or np.float32), index_dtype=index_dtype, **layout)
    )


_formats = {"bcoo": BCOO, "bcsr": BCSR, "csr": CSR, "csc": CSC, "coo": COO}


def random_bcoo(key, shape, *, dtype=None, indices_dtype=None, nse=0.2, n_batch=0, n_dense=0,
                unique_indices=True, generator=None, **options):  # fmt: skip
    """Random values at random places; ``nse`` of them, or that share of all."""
    shape = tuple(shape)
    n_sparse = len(shape) - n_batch - n_dense
    batch, sizes = shape[:n_batch], shape[n_batch : n_batch + n_sparse]
    total = math.prod(sizes)
    count = math.ceil(nse * total) if 0 < nse < 1 else int(nse)
    of_places, of_values = xc.random.split(key)
    keys = xc.random.split(of_places, batch) if batch else of_places

    def places(k):
        flat = xc.random.choice(k, total, (count,), replace=not unique_indices)
        found = xnp.stack(xnp.unravel_index(flat, sizes), -1)
        return found.astype(indices_dtype or np.int32)

    values = (generator or xc.random.uniform)(
        of_values, (*batch, count, *shape[n_batch + n_sparse :]), dtype or float, **options
    )
    return BCOO((values, batched(places, n_batch)(keys)), shape=shape)


# Functions of sparse arrays


def sparsify(f, use_tracer: bool = False):
    """A function of sparse arrays: by their operators, and dense where it calls functions of ``jax.numpy``.

    Products alone have sparse results.
    """
    product = getattr(f, "__name__", "") in ("matmul", "dot") and getattr(f, "__wrapped__", f) in (
        xnp.matmul, xnp.dot, getattr(xnp.matmul, "__wrapped__", None), getattr(xnp.dot, "__wrapped__", None),
    )  # fmt: skip
    return matmul if product else f


def _by_values(transform):
    """A transformation with respect to the values of the sparse arguments."""

    @functools.wraps(transform)
    def made(fun, argnums=0, has_aux=False, **options):
        def call(*args, **kwargs):
            chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)
            sparse = {i: args[i] for i in chosen if isinstance(args[i], JAXSparse)}
            values = [a.data if i in sparse else a for i, a in enumerate(args)]

            def of_values(*values, **kwargs):
                full = [sparse[i]._with_data(v) if i in sparse else v for i, v in enumerate(values)]
                return fun(*full, **kwargs)

            out = transform(of_values, argnums, has_aux=has_aux, **options)(*values, **kwargs)
            valued = transform is xc.value_and_grad
            found = out[1] if valued else out[0] if has_aux else out
            grads = (found,) if isinstance(argnums, int) else found
            put = [sparse[i]._with_data(g) if _fits(sparse.get(i), g) else g
                   for i, g in zip(chosen, grads)]  # fmt: skip
            put = put[0] if isinstance(argnums, int) else tuple(put)
            return (out[0], put) if valued else (put, out[1]) if has_aux else put

        return call

    return made


def _fits(m, g) -> bool:
    return m is not None and g.shape == m.data.shape


grad, value_and_grad = _by_values(xc.grad), _by_values(xc.value_and_grad)


def _jacobian(transform):
    """Derivatives by the values of a matrix, in a sparse array with the axes of the result before."""

    def made(fun, argnums=0, has_aux=False, **options):
        found = _by_values(transform)(fun, argnums, has_aux, **options)

        def call(*args, **kwargs):
            out = found(*args, **kwargs)
            jac = out[0] if has_aux else out
            m = args[argnums] if isinstance(argnums, int) else None
            if not isinstance(m, BCOO) or isinstance(jac, BCOO):
                return out
            n = jac.ndim - m.data.ndim
            whole = xnp.broadcast_to(m.indices, (*jac.shape[:n], *m.indices.shape))
            jac = BCOO((jac, whole), shape=(*jac.shape[:n], *m.shape))
            return (jac, out[1]) if has_aux else jac

        return call

    return made


jacfwd, jacrev = _jacobian(xc.jacfwd), _jacobian(xc.jacrev)
jacobian = jacrev


# linalg


def spsolve(data, indices, indptr, b, tol=1e-6, reorder=1):
    """The solution of a system with a matrix row by row."""
    m = BCSR((data, indices, indptr), shape=(len(indptr) - 1,) * 2)
    if any(isinstance(x, Tracer) for x in (m.indices, m.indptr)):
        return xnp.linalg.solve(m.todense(), b)
    rows = np.asarray(m._coo().indices[:, 0])
    a = xc.sparse.coo_array((m.data, (rows, np.asarray(m.indices))), shape=m.shape)
    return xc.sparse.solve(a, b)


def lobpcg_standard(A, X, m: int = 100, tol=None) -> tuple:
    """(w, v, steps): the largest eigenvalues, descending, of a symmetric matrix or function of columns."""
    X = xnp.asarray(X)
    n, k = X.shape
    if not 0 < 5 * k < n:
        raise ValueError(
            f"xcore.as_jax: lobpcg_standard needs fewer columns than a fifth of the rows, given X of shape {X.shape}. "
            "Take jnp.linalg.eigh for more."
        )
    operator: Any = A
    if callable(A):
        times: Any = A
        operator = FunctionOperator(lambda _, x: times(x[:, None])[:, 0], None, (n, n), True)
    tol = float(xnp.finfo(X.dtype).eps) if tol is None else tol
    found = lobpcg(operator, k, which="largest", x0=X, rtol=10 * n * tol, max_steps=m, report=True)
    w, v = found.value
    return w[::-1], v[:, ::-1], found.steps
