"""``jax.experimental.sparse``: arrays by values and places, which may be traced, repeated, or padding (out of range).

``xcore.sparse`` has matrices of a known pattern, with factors and solvers; these have JAX's attributes and functions.
Products with dense arrays, sums, changes of axes and elementwise products act on the stored values; what is
rarer goes by the dense array.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import xcore as xc
import xcore.numpy as xnp

from .._core import Tracer, errors
from ..lax import dot_general


class SparseEfficiencyError(ValueError):
    """Raised by nothing here."""


class SparseEfficiencyWarning(UserWarning):
    """Given by nothing here."""


class SparseInfo(NamedTuple):
    """What is known of an array besides its values and places."""

    shape: tuple
    indices_sorted: bool = False
    unique_indices: bool = False


class JAXSparse:
    """Any array by values and places."""

    __slots__ = ()
    __array_priority__ = 100
    data: Any
    shape: tuple

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    dtype = property(lambda self: self.data.dtype)
    nse = property(lambda self: self.data.shape[getattr(self, "n_batch", 0)])
    T = property(lambda self: self.transpose())

    def _coo(self) -> BCOO:
        raise NotImplementedError

    def _like(self, found: BCOO):
        return type(self)._of(found)

    def todense(self):
        return bcoo_todense(self._coo())

    def transpose(self, axes=None):
        return self._like(bcoo_transpose(self._coo(), permutation=axes))

    def block_until_ready(self):
        xc.block_until_ready(self.data)
        return self

    def sum(self, axis=None):
        axes = range(self.ndim) if axis is None else np.atleast_1d(axis)
        found = bcoo_reduce_sum(self._coo(), axes=tuple(int(a) for a in axes))
        return found.todense() if axis is None else found

    def astype(self, dtype):
        return self._with_data(self.data.astype(dtype))

    def _with_data(self, data):
        found = object.__new__(type(self))
        for name in (n for cls in type(self).__mro__ for n in getattr(cls, "__slots__", ())):
            object.__setattr__(found, name, getattr(self, name))
        object.__setattr__(found, "data", data)
        return found

    def __repr__(self) -> str:
        kind = type(self).__name__
        try:
            more = "".join(
                f", {n}={v}" for n in ("n_batch", "n_dense") if (v := getattr(self, n, 0))
            )
            return f"{kind}({self.dtype.name}{list(self.shape)}, nse={self.nse}{more})"
        except (AttributeError, IndexError):
            return f"{kind}(<invalid>)"

    def __len__(self) -> int:
        return self.shape[0]

    def __neg__(self):
        return self._with_data(-self.data)

    def __abs__(self):
        return self._unary(abs)

    def __pow__(self, power):
        if np.ndim(power) or not power > 0:
            return NotImplemented
        return self._unary(lambda x: x**power)

    def _unary(self, f):
        """A function that is 0 at 0: of sums, where places stand twice."""
        m = self._coo()
        m = m if m.unique_indices else m.sum_duplicates(nse=m.nse)
        return self._like(m._with_data(f(m.data)))

    def __mul__(self, other):
        if np.ndim(other) == 0 and not isinstance(other, JAXSparse):
            return self._with_data(self.data * other)
        if isinstance(other, JAXSparse):
            return self._like(bcoo_multiply_sparse(self._coo(), other._coo()))
        m = self._coo()
        return self._like(m._with_data(bcoo_multiply_dense(m, other)))

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self * (1 / xnp.asarray(other))

    def __add__(self, other):
        if not isinstance(other, JAXSparse):
            return self.todense() + other
        a, b = self._coo(), other._coo()
        if a.shape != b.shape or (a.n_batch, a.n_dense) != (b.n_batch, b.n_dense):
            return self._like(fromdense(self.todense() + other.todense(), a))
        data = xnp.concatenate([a.data, b.data], a.n_batch)
        indices = xnp.concatenate([a.indices, b.indices], a.n_batch)
        return self._like(BCOO((data, indices), shape=a.shape))

    __radd__ = __add__

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return other + (-self)

    def __matmul__(self, other):
        return matmul(self, other)

    def __rmatmul__(self, other):
        return matmul(other, self)

    def __getitem__(self, index):
        m = self._coo()
        if isinstance(index, tuple) or not isinstance(index, (slice, int)):
            return self._like(fromdense(m.todense()[index]))
        return self[(index,)]

    def __iter__(self):
        return (self[i] for i in range(len(self)))


def _register(cls, children: tuple, flags: tuple = (), inner: int = 0) -> None:
    """As a node. The sizes of batches are those of its leaves, which ``vmap`` takes and puts: the structure holds none.

    ``inner``: how many axes of the indices are of one matrix; 0 where there are no batches.
    """

    def batch_of(indices) -> tuple:
        return tuple(indices.shape[:-inner]) if inner and hasattr(indices, "shape") else ()

    def flatten(m):
        kept = [getattr(m, n) for n in children]
        here = batch_of(kept[1])
        sizes = m.shape[: len(here)]
        shared = () if sizes == here else sizes  # indices of one element, meant for all
        return kept, (m.shape[len(here) :], shared, *[getattr(m, n) for n in flags])

    def unflatten(aux, kept):
        m, (rest, shared, *others) = object.__new__(cls), aux
        here = batch_of(kept[1])
        more = len(here) - len(shared)  # axes that vmap has put in front, or taken
        batch = (*here[: max(more, 0)], *shared[max(-more, 0) :]) if shared else here
        sizes = {"shape": (*batch, *rest)}
        for name, value in (*zip(children, kept), *sizes.items(), *zip(flags, others)):
            object.__setattr__(m, name, value)
        return m

    xc.tree_util.register_pytree_node(cls, flatten, unflatten)


class BCOO(JAXSparse):
    """Values (batch…, nse, dense…) and for each of them a row of indices (batch…, nse, sparse axes)."""

    __slots__ = ("data", "indices", "indices_sorted", "shape", "unique_indices")

    def __init__(self, args, *, shape, indices_sorted=False, unique_indices=False):
        self.data, self.indices = map(xnp.asarray, args)
        self.shape, self.indices_sorted = tuple(shape), indices_sorted
        self.unique_indices = unique_indices

    n_sparse = property(lambda self: self.indices.shape[-1])
    n_batch = property(lambda self: self.indices.ndim - 2)
    n_dense = property(lambda self: self.data.ndim - self.n_batch - 1)

    def _coo(self):
        return self

    @classmethod
    def _of(cls, found):
        return found

    @classmethod
    def fromdense(cls, mat, *, nse=None, index_dtype=np.int32, n_dense=0, n_batch=0):
        return bcoo_fromdense(
            mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch
        )

    @classmethod
    def from_scipy_sparse(cls, mat, *, index_dtype=None, n_dense=0, n_batch=0):
        m = mat.tocoo()
        indices = np.stack([m.row, m.col], 1).astype(index_dtype or np.int32)
        return cls((m.data, indices), shape=m.shape)

    def update_layout(self, **layout):
        return bcoo_update_layout(self, **layout)

    def sum_duplicates(self, nse=None, remove_zeros=True):
        return bcoo_sum_duplicates(self, nse=nse, remove_zeros=remove_zeros)

    def sort_indices(self):
        return bcoo_sort_indices(self)

    def reshape(self, *shape):
        return bcoo_reshape(self, new_sizes=shape[0] if np.ndim(shape[0]) else shape)


_register(BCOO, ("data", "indices"), ("indices_sorted", "unique_indices"), inner=2)


class BCSR(JAXSparse):
    """Values, columns, and where rows begin."""

    __slots__ = ("data", "indices", "indices_sorted", "indptr", "shape", "unique_indices")

    def __init__(self, args, *, shape, indices_sorted=False, unique_indices=False):
        self.data, self.indices, self.indptr = map(xnp.asarray, args)
        self.shape, self.indices_sorted = tuple(shape), indices_sorted
        self.unique_indices = unique_indices

    n_sparse = 2
    n_batch = property(lambda self: self.indices.ndim - 1)
    n_dense = property(lambda self: self.data.ndim - self.n_batch - 1)

    def _coo(self) -> BCOO:
        return self.to_bcoo()

    def to_bcoo(self) -> BCOO:
        n = self.indices.shape[-1]

        def rows(indptr, indices):
            row = xnp.searchsorted(indptr, xnp.arange(n), side="right") - 1
            return xnp.stack([row.astype(indices.dtype), indices], -1)

        for _ in range(self.n_batch):
            rows = xc.vmap(rows)
        return BCOO((self.data, rows(self.indptr, self.indices)), shape=self.shape)

    @classmethod
    def _of(cls, found):
        return cls.from_bcoo(found) if found.n_sparse == 2 else found

    @classmethod
    def from_bcoo(cls, m: BCOO):
        m = bcoo_sort_indices(m)

        def starts(indices):
            ends = xnp.arange(m.shape[m.n_batch] + 1)
            return xnp.searchsorted(indices[..., 0], ends).astype(indices.dtype)

        for _ in range(m.n_batch):
            starts = xc.vmap(starts)
        parts = m.data, m.indices[..., 1], starts(m.indices)
        return cls(parts, shape=m.shape, indices_sorted=True, unique_indices=m.unique_indices)

    @classmethod
    def fromdense(cls, mat, *, nse=None, index_dtype=np.int32, n_dense=0, n_batch=0):
        return cls.from_bcoo(BCOO.fromdense(mat, nse=nse, n_dense=n_dense, n_batch=n_batch))

    @classmethod
    def from_scipy_sparse(cls, mat, **options):
        return cls.from_bcoo(BCOO.from_scipy_sparse(mat))

    def sum_duplicates(self, nse=None, remove_zeros=True):
        return self._of(bcoo_sum_duplicates(self._coo(), nse=nse, remove_zeros=remove_zeros))


_register(BCSR, ("data", "indices", "indptr"), ("indices_sorted", "unique_indices"), inner=1)


class CSR(BCSR):
    """A matrix row by row."""

    __slots__ = ()

    def transpose(self, axes=None):
        return CSC((self.data, self.indices, self.indptr), shape=self.shape[::-1])


class CSC(BCSR):
    """A matrix column by column: the rows of its transpose."""

    __slots__ = ()

    def _coo(self) -> BCOO:
        return bcoo_transpose(BCSR.to_bcoo(self.transpose()), permutation=(1, 0))

    to_bcoo = _coo

    def transpose(self, axes=None):
        return CSR((self.data, self.indices, self.indptr), shape=self.shape[::-1])

    @classmethod
    def from_bcoo(cls, m: BCOO):
        return CSR.from_bcoo(bcoo_transpose(m, permutation=(1, 0))).transpose()


class COO(JAXSparse):
    """Values, rows and columns."""

    __slots__ = ("col", "data", "row", "shape")

    def __init__(self, args, *, shape, rows_sorted=False, cols_sorted=False):
        self.data, self.row, self.col = map(xnp.asarray, args)
        self.shape = tuple(shape)

    def _coo(self) -> BCOO:
        return BCOO((self.data, xnp.stack([self.row, self.col], -1)), shape=self.shape)

    @classmethod
    def _of(cls, found):
        return cls((found.data, found.indices[:, 0], found.indices[:, 1]), shape=found.shape)

    @classmethod
    def fromdense(cls, mat, *, nse=None, index_dtype=np.int32):
        return cls._of(BCOO.fromdense(mat, nse=nse))


for _cls in (CSR, CSC):
    _register(_cls, ("data", "indices", "indptr"), ("indices_sorted", "unique_indices"))
_register(COO, ("data", "row", "col"))


# Dense and back


def batched(f, n: int):
    for _ in range(n):
        f = xc.vmap(f)
    return f


def bcoo_todense(mat: BCOO):
    """Values at repeated places are summed; those out of range are padding."""
    sparse_shape = _sparse_shape(mat)
    rest = mat.shape[mat.n_batch + mat.n_sparse :]

    def one(data, indices):
        zero = xnp.zeros((*sparse_shape, *rest), data.dtype)
        return zero.at[tuple(indices[..., i] for i in range(mat.n_sparse))].add(data, mode="drop")

    if not mat.n_sparse:
        return xnp.sum(mat.data, mat.n_batch)
    return batched(one, mat.n_batch)(of_each(mat, mat.data), of_each(mat, mat.indices))


def of_each(mat: BCOO, part):
    """Values or places of each batch element, which may share them."""
    return xnp.broadcast_to(part, (*mat.shape[: mat.n_batch], *part.shape[mat.n_batch :]))


def bcoo_fromdense(mat, *, nse=None, n_batch=0, n_dense=0, index_dtype=np.int32) -> BCOO:
    """The elements that are not zero; as many as ``nse`` says, which a traced array needs."""
    mat = xnp.asarray(mat)
    n_sparse = mat.ndim - n_batch - n_dense
    mask = mat != 0
    if n_dense:
        mask = mask.any(tuple(range(mat.ndim - n_dense, mat.ndim)))
    if nse is None:
        if isinstance(mat, Tracer):
            raise xc.errors.ConcretizationTypeError(
                "xcore.as_jax: how many elements of a traced array are not zero is not known; say nse=."
            )
        counts = np.asarray(mask).sum(tuple(range(n_batch, n_batch + n_sparse)))
        nse = int(np.max(counts, initial=0))
    fill = mat.shape[n_batch : n_batch + n_sparse]

    def one(mask, mat):
        found = xnp.nonzero(mask, size=nse, fill_value=fill) if n_sparse else ()
        values = mat.at[found].get(mode="fill", fill_value=0) if found else mat[None]
        places = xnp.stack(found, -1) if found else xnp.zeros((1, 0))
        return values, places.astype(index_dtype)

    parts = batched(one, n_batch)(mask, mat)
    return BCOO(parts, shape=mat.shape, indices_sorted=True, unique_indices=True)


def fromdense(mat, like: BCOO | None = None) -> BCOO:
    """The same with as many places as there can be, where the array is traced."""
    n_batch, n_dense = (like.n_batch, like.n_dense) if like is not None else (0, 0)
    mat = xnp.asarray(mat)
    most = math.prod(mat.shape[n_batch : mat.ndim - n_dense])
    nse = most if isinstance(mat, Tracer) else None
    return bcoo_fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense)


def todense(arr):
    """Dense arrays as they are."""
    return arr.todense() if isinstance(arr, JAXSparse) else xnp.asarray(arr)


def bcoo_extract(sparr: BCOO, arr, *, assume_unique=None) -> BCOO:
    """The elements of a dense array at the positions of a sparse one."""
    return sparr._with_data(_gather(sparr, xnp.asarray(arr)))


def _gather(m: BCOO, dense):
    def one(indices, dense):
        at = dense.at[tuple(indices[..., i] for i in range(m.n_sparse))]
        return at.get(mode="fill", fill_value=0)

    places = of_each(m, m.indices)
    return batched(one, m.n_batch)(places, xnp.broadcast_to(dense, m.shape))


# Products


def _pairs(dimension_numbers):
    (lc, rc), (lb, rb) = dimension_numbers
    return tuple(lc), tuple(rc), tuple(lb), tuple(rb)


def bcoo_dot_general(lhs, rhs, *, dimension_numbers, preferred_element_type=None, precision=None):
    """``lax.dot_general`` of a sparse and a dense array: a dense array; of two sparse ones: a sparse one."""
    options = {"preferred_element_type": preferred_element_type, "precision": precision}
    if isinstance(lhs, JAXSparse) and isinstance(rhs, JAXSparse):
        return fromdense(dot_general(todense(lhs), todense(rhs), dimension_numbers, **options))
    if not isinstance(lhs, JAXSparse):
        lc, rc, lb, rb = _pairs(dimension_numbers)
        out = bcoo_dot_general(rhs, lhs, dimension_numbers=((rc, lc), (rb, lb)), **options)
        left, right = np.ndim(lhs) - len(lc) - len(lb), rhs.ndim - len(rc) - len(rb)
        b = len(lb)
        order = [*range(b), *range(b + right, b + right + left), *range(b, b + right)]
        return xnp.transpose(out, order)
    m = lhs._coo()
    lc, rc, lb, _ = _pairs(dimension_numbers)
    if m.n_batch or m.n_dense or lb:
        return dot_general(m.todense(), xnp.asarray(rhs), dimension_numbers, **options)
    return _product(m, xnp.asarray(rhs), lc, rc, preferred_element_type)


def _product(m: BCOO, rhs, lc, rc, dtype):
    """Rows of the dense array times values, added up where they belong."""
    if any(m.shape[i] != rhs.shape[j] for i, j in zip(lc, rc, strict=True)):
        why = f"need equal lengths along axes {tuple(lc)} and {tuple(rc)}"
        raise errors.shape_mismatch("bcoo_dot_general", why, lhs=m, rhs=rhs)
    dtype = xnp.result_type(m.dtype, rhs.dtype) if dtype is None else dtype
    free = [i for i in range(m.ndim) if i not in lc]
    rest = [i for i in range(rhs.ndim) if i not in rc]
    rhs = xnp.transpose(rhs, [*rc, *rest])
    inside = xnp.all(m.indices < np.asarray(m.shape, m.indices.dtype), -1)
    values = xnp.where(inside, m.data, 0).astype(dtype)
    rows = rhs[tuple(m.indices[:, i] for i in lc)].astype(dtype) if lc else rhs[None].astype(dtype)
    each = values.reshape(-1, *[1] * len(rest)) * rows
    if not free:
        return each.sum(0)
    zero = xnp.zeros((*[m.shape[i] for i in free], *each.shape[1:]), dtype)
    return zero.at[tuple(m.indices[:, i] for i in free)].add(each, mode="drop")


def matmul(a, b, **options):
    a_ndim, b_ndim = (
        np.ndim(a) if not isinstance(a, JAXSparse) else a.ndim,
        (b.ndim if isinstance(b, JAXSparse) else np.ndim(b)),
    )
    if a_ndim == 0 or b_ndim == 0:
        raise TypeError("xcore.as_jax: @ is of arrays, not of numbers; use *.")
    if max(a_ndim, b_ndim) > 2:
        out = xnp.matmul(todense(a), todense(b), **options)
        both, n_batch = isinstance(a, JAXSparse) and isinstance(b, JAXSparse), out.ndim - 2
        most = math.prod(out.shape[n_batch:])
        return bcoo_fromdense(out, nse=most, n_batch=n_batch) if both else out
    if not (isinstance(a, JAXSparse) or isinstance(b, JAXSparse)):
        return xnp.matmul(a, b, **options)
    numbers = (((a_ndim - 1,), (max(b_ndim - 2, 0),)), ((), ()))
    return bcoo_dot_general(a, b, dimension_numbers=numbers, **options)


def bcoo_multiply_dense(sp_mat: BCOO, v):
    """Values of the product with a dense array that is broadcast."""
    m = sp_mat
    return m.data * _gather(m, xnp.broadcast_to(xnp.asarray(v), m.shape))


def bcoo_multiply_sparse(lhs: BCOO, rhs: BCOO) -> BCOO:
    """The product element by element."""
    lhs = bcoo_sum_duplicates(lhs, nse=lhs.nse, remove_zeros=False)
    return bcoo_extract(lhs, rhs.todense())._with_data(bcoo_multiply_dense(lhs, rhs.todense()))


# Axes and places


def bcoo_transpose(mat: BCOO, *, permutation=None) -> BCOO:
    order = tuple(permutation) if permutation is not None else tuple(range(mat.ndim))[::-1]
    b, s = mat.n_batch, mat.n_sparse
    batch, sparse, dense = order[:b], order[b : b + s], order[b + s :]
    if not (
        set(batch) == set(range(b)) and set(sparse) == set(range(b, b + s)) and len(sparse) == s
    ):
        raise NotImplementedError(
            f"xcore.as_jax: axes are exchanged among batch, sparse and dense ones, given {order}."
        )
    data = xnp.transpose(mat.data, (*batch, b, *[d - s + 1 for d in dense]))
    indices = xnp.transpose(mat.indices, (*batch, b, b + 1))[..., np.asarray(sparse, int) - b]
    return BCOO(
        (data, indices),
        shape=tuple(mat.shape[i] for i in order),
        unique_indices=mat.unique_indices,
    )


def bcoo_reduce_sum(mat: BCOO, *, axes) -> BCOO:
    """Sums along sparse axes leave values at repeated places."""
    axes = {a % mat.ndim for a in axes}
    b, s = mat.n_batch, mat.n_sparse
    if not axes <= set(range(b, b + s)):
        return fromdense(mat.todense().sum(tuple(axes)))
    kept = [i for i in range(s) if b + i not in axes]
    limit = np.asarray(mat.shape[b : b + s], mat.indices.dtype)
    inside = xnp.all(mat.indices < limit, -1)
    data = xnp.where(inside.reshape(*inside.shape, *[1] * mat.n_dense), mat.data, 0)
    shape = tuple(n for i, n in enumerate(mat.shape) if i not in axes)
    return BCOO((data, mat.indices[..., np.asarray(kept, int)]), shape=shape)


def _flat_places(mat: BCOO):
    """For each value the number of its place, the number of all places for padding."""
    sizes = mat.shape[mat.n_batch : mat.n_batch + mat.n_sparse]
    limit = np.asarray(sizes, mat.indices.dtype)
    inside = xnp.all((mat.indices < limit) & (mat.indices >= 0), -1)
    steps = np.append(np.cumprod(sizes[:0:-1])[::-1], 1)[: len(sizes)].astype(mat.indices.dtype)
    return xnp.where(inside, (mat.indices * steps).sum(-1), math.prod(sizes)), sizes


def bcoo_sort_indices(mat: BCOO) -> BCOO:
    if mat.indices_sorted:
        return mat
    flat, _ = _flat_places(mat)

    def one(flat, data, indices):
        order = xnp.argsort(flat)
        return data[order], indices[order]

    parts = batched(one, mat.n_batch)(flat, mat.data, mat.indices)
    return BCOO(parts, shape=mat.shape, indices_sorted=True, unique_indices=mat.unique_indices)


def bcoo_sum_duplicates(mat: BCOO, nse=None, remove_zeros=True) -> BCOO:
    """One value for each place."""
    flat, sizes = _flat_places(mat)
    total = math.prod(sizes)
    if nse is None:
        if isinstance(flat, Tracer):
            nse = mat.nse
        else:
            rows = np.asarray(flat).reshape(-1, flat.shape[-1])
            nse = max([len(np.unique(r[r < total])) for r in rows], default=0)

    def one(flat, data):
        places, where = xnp.unique(flat, size=nse, fill_value=total, return_inverse=True)
        known = xnp.where(flat < total, where.reshape(flat.shape), nse)
        summed = xnp.zeros((nse, *data.shape[1:]), data.dtype).at[known].add(data, mode="drop")
        split = xnp.stack(xnp.unravel_index(places, sizes), -1) if sizes else places[:, None][:, :0]
        outside = np.asarray(sizes, flat.dtype)
        return summed, xnp.where((places < total)[:, None], split, outside).astype(flat.dtype)

    parts = batched(one, mat.n_batch)(flat, mat.data)
    return BCOO(parts, shape=mat.shape, indices_sorted=True, unique_indices=True)


def bcoo_update_layout(mat: BCOO, *, n_batch=None, n_dense=None, on_inefficient="error") -> BCOO:
    n_batch = mat.n_batch if n_batch is None else n_batch
    n_dense = mat.n_dense if n_dense is None else n_dense
    if (n_batch, n_dense) == (mat.n_batch, mat.n_dense):
        return mat
    nse = math.prod(mat.shape[n_batch : mat.ndim - n_dense])
    traced = isinstance(mat.data, Tracer) or isinstance(mat.indices, Tracer)
    return bcoo_fromdense(
        mat.todense(), nse=nse if traced else None, n_batch=n_batch, n_dense=n_dense
    )


def moved(mat: BCOO, sparse_shape, move) -> BCOO:
    """The same elements elsewhere, zeros too: ``move(columns)`` are the columns of their new places."""
    inside = xnp.all(mat.indices < np.asarray(_sparse_shape(mat), mat.indices.dtype), -1)
    columns = zip(move([*xnp.moveaxis(mat.indices, -1, 0)]), sparse_shape, strict=True)
    new = [xnp.where(inside, c, n) for c, n in columns]  # or past the end
    places = xnp.stack(new, -1) if new else xnp.zeros((*inside.shape, 0), mat.indices.dtype)
    parts = mat.data, places.astype(mat.indices.dtype)
    return BCOO(parts, shape=(*mat.shape[: mat.n_batch], *sparse_shape))


def _sparse_shape(mat: BCOO):
    return mat.shape[mat.n_batch : mat.n_batch + mat.n_sparse]


def bcoo_reshape(mat: BCOO, *, new_sizes, dimensions=None, sharding=None) -> BCOO:
    b, new = mat.n_batch, tuple(new_sizes)

    def move(columns):
        flat = xnp.ravel_multi_index(tuple(columns), _sparse_shape(mat), mode="wrap")
        return xnp.unravel_index(flat, new[b:])

    kept = new[:b] == mat.shape[:b] and not mat.n_dense and dimensions is None
    if kept and mat.n_sparse and len(new) > b and math.prod(new[b:]):
        return moved(mat, new[b:], move)
    return by_dense(xc.lax.reshape, mat, new, dimensions, plain=True)


def by_dense(f, m: BCOO, *args, plain: bool = False) -> BCOO:
    return fromdense(f(m.todense(), *args), None if plain else m)


JAXSparse.__jax_array__ = todense  # pyright: ignore[reportAttributeAccessIssue]
