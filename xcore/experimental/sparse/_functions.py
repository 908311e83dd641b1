"""Functions of BCOO arrays, with JAX's names and arguments."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ... import lax
from ... import numpy as xnp
from ..._core import Array, ArrayLike, DTypeLike, Shape, errors
from . import _places as places
from . import _products as products
from ._arrays import BCOO, JAXSparse
from ._places import WHO, axis_of, by_dense, moved, of_each


def bcoo_todense(mat: BCOO) -> Array:
    """The dense array: values at the same place are added, those out of range are left out.

    Args:
      mat: sparse array.

    >>> bcoo_todense(BCOO(([1.0, 2.0, 5.0], [[1], [1], [3]]), shape=(3,)))
    Array([0., 3., 0.], dtype=float32)
    """
    return places.dense_of(_bcoo("bcoo_todense", mat))


def bcoo_fromdense(
    mat: ArrayLike, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0, index_dtype: DTypeLike = np.int32
) -> BCOO:  # fmt: skip
    """The sparse array of the elements that are not zero.

    Args:
      mat: dense array.
      nse: how many values to store, of each batch element; as many as there are by default, which of a traced array is
        not known. Room that is left is padding; where it is too little, the last elements are left out.
      n_batch: how many axes in front have places of their own for each of their elements.
      n_dense: how many axes behind are stored whole, where one of their elements is not zero.
      index_dtype: dtype of the indices.

    >>> m = bcoo_fromdense([[0.0, 3.0], [4.0, 0.0]])
    >>> m.data, m.indices.tolist()
    (Array([3., 4.], dtype=float32), [[0, 1], [1, 0]])
    """
    return places.from_dense("bcoo_fromdense", BCOO, mat, nse, n_batch, n_dense, index_dtype)


def bcoo_extract(sparr: BCOO, arr: ArrayLike, *, assume_unique: bool | None = None) -> BCOO:
    """The elements of a dense array at the places of a sparse one.

    Args:
      sparr: sparse array, whose values are not used.
      arr: dense array of the same shape.
      assume_unique: whether no place is given twice; else all but the first value of a place are 0. By default what the
        sparse array says of itself.

    >>> m = bcoo_fromdense([[0.0, 1.0], [1.0, 0.0]])
    >>> bcoo_extract(m, [[1.0, 2.0], [3.0, 4.0]]).data
    Array([2., 3.], dtype=float32)
    """
    m, arr = _bcoo("bcoo_extract", sparr), xnp.asarray(arr)
    if arr.shape != m.shape:
        raise errors.shape_mismatch(f"{WHO}bcoo_extract", sparr=m, arr=arr)
    found = places.gathered("bcoo_extract", m, arr)
    if not (m.unique_indices if assume_unique is None else assume_unique):
        first = places.first_of_each(m)
        found = xnp.where(first.reshape(*first.shape, *[1] * m.n_dense), found, 0)
    return m._with_data(found)


# Products


def bcoo_dot_general(
    lhs: Any, rhs: Any, *, dimension_numbers: Any, precision: Any = None,
    preferred_element_type: DTypeLike | None = None, out_sharding: None = None,
) -> Array | JAXSparse:  # fmt: skip
    """``lax.dot_general`` of a sparse and a dense array: a dense array; of two sparse ones: a sparse one.

    Args:
      lhs, rhs: arrays, one of which is sparse at least.
      dimension_numbers: ((axes of lhs, axes of rhs to sum over), (batch axes of lhs, of rhs)).
      precision: of products that go by the dense array.
      preferred_element_type: dtype of the result.
      out_sharding: accepted, of no effect.

    >>> m = bcoo_fromdense([[0.0, 3.0], [4.0, 0.0]])
    >>> bcoo_dot_general(m, xnp.asarray([1.0, 2.0]), dimension_numbers=(((1,), (0,)), ((), ())))
    Array([6., 4.], dtype=float32)
    """
    return products.dot_general(lhs, rhs, dimension_numbers, preferred_element_type, precision)


def bcoo_dot_general_sampled(
    A: ArrayLike, B: ArrayLike, indices: ArrayLike, *, dimension_numbers: Any
) -> Array:
    """Elements of a product of dense arrays, at the places given.

    Args:
      A, B: dense arrays.
      indices: places in the product, (batch…, number of places, axes); axes behind these are given whole.
      dimension_numbers: as of ``bcoo_dot_general``.

    >>> a = xnp.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> bcoo_dot_general_sampled(a, a, [[0, 1], [1, 0]], dimension_numbers=(((1,), (0,)), ((), ())))
    Array([10., 15.], dtype=float32)
    """
    out = lax.dot_general(xnp.asarray(A), xnp.asarray(B), dimension_numbers)
    at = xnp.asarray(indices)
    b, s = at.ndim - 2, at.shape[-1] if at.ndim else 0
    if b < 0 or b + s > out.ndim:
        wanted = f"places in an array of {out.ndim} axes, (batch…, number of places, axes)"
        raise errors.bad_argument(f"{WHO}bcoo_dot_general_sampled", "indices", at, wanted)
    data = xnp.zeros((*at.shape[:-1], *out.shape[b + s :]), out.dtype)
    return places.gathered("bcoo_dot_general_sampled", BCOO((data, at), shape=out.shape), out)


def bcoo_multiply_dense(sp_mat: BCOO, v: ArrayLike) -> Array:
    """The values of the product, element by element, with a dense array.

    Args:
      sp_mat: sparse array.
      v: dense array, which is broadcast to the shape of the sparse one.

    >>> bcoo_multiply_dense(bcoo_fromdense([[0.0, 3.0], [4.0, 0.0]]), [10.0, 20.0])
    Array([60., 40.], dtype=float32)
    """
    return products.values_times("bcoo_multiply_dense", _bcoo("bcoo_multiply_dense", sp_mat), v)


def bcoo_multiply_sparse(lhs: BCOO, rhs: BCOO) -> BCOO:
    """The product element by element.

    Args:
      lhs, rhs: sparse arrays.

    >>> m = bcoo_fromdense([[0.0, 3.0], [4.0, 0.0]])
    >>> bcoo_multiply_sparse(m, m).todense()
    Array([[ 0.,  9.],
           [16.,  0.]], dtype=float32)
    """
    return products.multiplied(*[_bcoo("bcoo_multiply_sparse", m) for m in (lhs, rhs)])


# Axes and places


def bcoo_transpose(mat: BCOO, *, permutation: Sequence[int] | None = None) -> BCOO:
    """With the axes in another order.

    Args:
      mat: sparse array.
      permutation: the old axes in their new order, reversed by default; batch, sparse and dense axes stay among
        themselves.

    >>> bcoo_transpose(bcoo_fromdense([[0.0, 3.0], [4.0, 0.0]]), permutation=(1, 0)).todense()
    Array([[0., 4.],
           [3., 0.]], dtype=float32)
    """
    return places.transposed(_bcoo("bcoo_transpose", mat), permutation)


def bcoo_reduce_sum(mat: BCOO, *, axes: Sequence[int]) -> BCOO:
    """Sums along axes, as a sparse array, with as many values where only sparse axes are summed.

    Args:
      mat: sparse array.
      axes: to sum over.

    >>> bcoo_reduce_sum(bcoo_fromdense([[1.0, 3.0], [4.0, 0.0]]), axes=(1,)).todense()
    Array([4., 4.], dtype=float32)
    """
    return places.summed_along(_bcoo("bcoo_reduce_sum", mat), axes)


def bcoo_sort_indices(mat: BCOO) -> BCOO:
    """With places in ascending order, and padding behind.

    Args:
      mat: sparse array.

    >>> bcoo_sort_indices(BCOO(([1.0, 2.0], [[2], [0]]), shape=(3,))).data
    Array([2., 1.], dtype=float32)
    """
    return places.in_order(_bcoo("bcoo_sort_indices", mat))


def bcoo_sum_duplicates(mat: BCOO, nse: int | None = None, remove_zeros: bool = True) -> BCOO:
    """With one value for each place, in ascending order.

    Args:
      mat: sparse array.
      nse: how many values to store; as many as there are places by default, and as before where these are traced.
        Further places are left out.
      remove_zeros: leave out values that are 0; these then have no derivatives.

    >>> m = BCOO(([1.0, 2.0, 5.0], [[1], [1], [0]]), shape=(3,))
    >>> bcoo_sum_duplicates(m).data
    Array([5., 3.], dtype=float32)
    """
    return places.merged(_bcoo("bcoo_sum_duplicates", mat), nse, remove_zeros)


def bcoo_update_layout(
    mat: BCOO, *, n_batch: int | None = None, n_dense: int | None = None, on_inefficient: str | None = "error"
) -> BCOO:  # fmt: skip
    """With other numbers of batch and dense axes, by way of the dense array.

    Args:
      mat: sparse array.
      n_batch: number of batch axes, as before by default.
      n_dense: number of dense axes, as before by default.
      on_inefficient: accepted, of no effect.

    >>> bcoo_update_layout(bcoo_fromdense([[0.0, 3.0], [4.0, 0.0]]), n_batch=1)
    BCOO(float32[2, 2], nse=1, n_batch=1)
    """
    return places.laid_out(_bcoo("bcoo_update_layout", mat), n_batch, n_dense)


def bcoo_reshape(
    mat: BCOO, *, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None, sharding: None = None
) -> BCOO:  # fmt: skip
    """With another shape of as many elements.

    Args:
      mat: sparse array.
      new_sizes: the new shape; one size may be -1, which is what is left.
      dimensions: the order in which the old axes are read, if it is another.
      sharding: accepted, of no effect.

    >>> bcoo_reshape(bcoo_fromdense([[0.0, 3.0], [4.0, 0.0]]), new_sizes=(4,)).todense()
    Array([0., 3., 4., 0.], dtype=float32)
    """
    m = _bcoo("bcoo_reshape", mat)
    if dimensions is not None and tuple(dimensions) != tuple(range(m.ndim)):
        return by_dense(lambda x: xnp.transpose(x, dimensions).reshape(new_sizes), m, plain=True)
    return places.reshaped(m, new_sizes)


def bcoo_slice(
    mat: BCOO, *, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Sequence[int] | None = None
) -> BCOO:  # fmt: skip
    """A box of elements, by way of the dense array.

    Args:
      mat: sparse array.
      start_indices: the first along each axis.
      limit_indices: behind the last.
      strides: steps between, 1 by default.

    >>> m = bcoo_fromdense([[0.0, 3.0], [4.0, 0.0]])
    >>> bcoo_slice(m, start_indices=(0, 1), limit_indices=(2, 2)).todense()
    Array([[3.],
           [0.]], dtype=float32)
    """
    return by_dense(lax.slice, _bcoo("bcoo_slice", mat), start_indices, limit_indices, strides)


def bcoo_dynamic_slice(mat: BCOO, start_indices: Any, slice_sizes: Sequence[int]) -> BCOO:
    """A box of elements that begins where traced numbers say, by way of the dense array.

    Args:
      mat: sparse array.
      start_indices: the first along each axis; moved back where the box would not fit.
      slice_sizes: sizes of the box.

    >>> m = bcoo_fromdense([[0.0, 3.0], [4.0, 0.0]])
    >>> bcoo_dynamic_slice(m, (1, 0), (1, 2)).todense()
    Array([[4., 0.]], dtype=float32)
    """
    return by_dense(lax.dynamic_slice, _bcoo("bcoo_dynamic_slice", mat), start_indices, slice_sizes)


def bcoo_broadcast_in_dim(
    mat: BCOO, *, shape: Shape, broadcast_dimensions: Sequence[int], sharding: None = None
) -> BCOO:
    """With further axes; those before the sparse ones are batch axes.

    Args:
      mat: sparse array.
      shape: of the result.
      broadcast_dimensions: which of its axes are those of the array, in ascending order.
      sharding: accepted, of no effect.

    >>> m = bcoo_fromdense([3.0, 0.0])
    >>> bcoo_broadcast_in_dim(m, shape=(2, 2), broadcast_dimensions=(1,)).todense()
    Array([[3., 0.],
           [3., 0.]], dtype=float32)
    """
    mat = _bcoo("bcoo_broadcast_in_dim", mat)
    b, dims, shape = mat.n_batch, tuple(broadcast_dimensions), tuple(shape)
    _check_axes("bcoo_broadcast_in_dim", mat, shape, dims)
    first = dims[b] if mat.n_sparse else 0
    source = {d: i for i, d in enumerate(dims[b:])}
    same = [
        n == (mat.shape[b + source[d]] if d in source else 1)
        for d, n in enumerate(shape)
        if d >= first
    ]
    if mat.n_dense or not mat.n_sparse or not all(same):
        return by_dense(lax.broadcast_in_dim, mat, shape, dims, plain=True)
    inner = range(first, len(shape))
    zero = xnp.zeros((), mat.indices.dtype)
    found = moved(
        mat, shape[first:], lambda c: [c[source[d]] if d in source else zero for d in inner]
    )

    def spread(part):
        part, rest = of_each(mat, part), part.shape[b:]
        at = (*dims[:b], *range(first, first + len(rest)))
        return lax.broadcast_in_dim(part, (*shape[:first], *rest), at)

    return BCOO((spread(found.data), spread(found.indices)), shape=shape)


def _check_axes(who: str, mat: BCOO, shape: tuple[int, ...], dims: tuple[int, ...]) -> None:
    rises = list(dims) == sorted({*dims}) and all(0 <= d < len(shape) for d in dims)
    if len(dims) != mat.ndim or not rises:
        wanted = f"{mat.ndim} axes of {len(shape)}, in ascending order"
        raise errors.bad_argument(WHO + who, "broadcast_dimensions", dims, wanted)
    if any(n not in (1, shape[d]) for d, n in zip(dims, mat.shape)):
        wanted = f"a shape with the sizes {mat.shape} along its axes {dims}"
        raise errors.bad_argument(WHO + who, "shape", shape, wanted)


def bcoo_squeeze(arr: BCOO, *, dimensions: Sequence[int]) -> BCOO:
    """Without axes of size 1.

    Args:
      arr: sparse array.
      dimensions: the axes to leave out.

    >>> bcoo_squeeze(bcoo_fromdense([[0.0, 3.0]]), dimensions=(0,)).todense()
    Array([0., 3.], dtype=float32)
    """
    arr = _bcoo("bcoo_squeeze", arr)
    b, gone = arr.n_batch, {axis_of("bcoo_squeeze", k, arr.ndim) for k in dimensions}
    if any(arr.shape[d] != 1 for d in gone):
        wanted = f"axes of size 1 of the shape {arr.shape}"
        raise errors.bad_argument(f"{WHO}bcoo_squeeze", "dimensions", tuple(dimensions), wanted)
    if arr.n_dense:
        return by_dense(lax.squeeze, arr, tuple(sorted(gone)), plain=True)
    kept = [d for d in range(b, arr.ndim) if d not in gone]
    found = moved(arr, [arr.shape[d] for d in kept], lambda c: [c[d - b] for d in kept])
    outer = tuple(d for d in gone if d < b)
    data, at = (xnp.squeeze(of_each(arr, x), outer) for x in (found.data, found.indices))
    return BCOO((data, at), shape=tuple(n for d, n in enumerate(arr.shape) if d not in gone))


def bcoo_rev(operand: BCOO, dimensions: Sequence[int]) -> BCOO:
    """With the elements along some axes in reverse order.

    Args:
      operand: sparse array.
      dimensions: these axes.

    >>> bcoo_rev(bcoo_fromdense([1.0, 0.0, 2.0]), (0,)).todense()
    Array([2., 0., 1.], dtype=float32)
    """
    m = _bcoo("bcoo_rev", operand)
    b, turned = m.n_batch, {axis_of("bcoo_rev", d, m.ndim) for d in dimensions}
    if m.n_dense or any(d < b for d in turned):
        return by_dense(lax.rev, m, tuple(sorted(turned)))
    sizes = m.shape[b:]
    return moved(
        m, sizes, lambda c: [n - 1 - x if b + i in turned else x for i, (x, n) in enumerate(zip(c, sizes))]
    )  # fmt: skip


def bcoo_concatenate(operands: Iterable[BCOO], *, dimension: int) -> BCOO:
    """One array of several, one behind the other along an axis.

    Args:
      operands: sparse arrays.
      dimension: this axis.

    >>> m = bcoo_fromdense([1.0, 0.0])
    >>> bcoo_concatenate([m, m], dimension=0).todense()
    Array([1., 0., 1., 0.], dtype=float32)
    """
    who = "bcoo_concatenate"
    ms = [_bcoo(who, m) for m in operands]
    if not ms:
        raise errors.bad_argument(WHO + who, "operands", ms, "one sparse array at least")
    d, b = axis_of(who, dimension, ms[0].ndim), ms[0].n_batch
    others = [(*m.shape[:d], *m.shape[d + 1 :]) for m in ms]
    if any(m.ndim != ms[0].ndim for m in ms) or any(o != others[0] for o in others):
        why = f"need equal sizes along all axes but {d}"
        given = {f"operands[{i}]": m for i, m in enumerate(ms[:8])}
        raise errors.shape_mismatch(WHO + who, why, **given)
    if any(m.n_dense or not m.n_sparse or m.n_batch != b for m in ms) or d < b:
        return places.refound(BCOO, xnp.concatenate([m.todense() for m in ms], d), ms[0])
    starts = np.cumsum([0, *[m.shape[d] for m in ms]])
    shape = [*ms[0].shape[b:]]
    shape[d - b] = int(starts[-1])
    parts = [moved(m, shape, functools.partial(_shifted, d - b, n)) for m, n in zip(ms, starts)]
    data, at = (
        xnp.concatenate([of_each(p, getattr(p, name)) for p in parts], b)
        for name in ("data", "indices")
    )
    return BCOO((data, at), shape=(*ms[0].shape[:b], *shape))


def _shifted(axis: int, by: int, columns: list[Array]) -> list[Array]:
    return [c + operator.index(by) if d == axis else c for d, c in enumerate(columns)]


def _bcoo(who: str, m: Any) -> BCOO:
    if not isinstance(m, places.Stored):
        raise errors.bad_argument(
            WHO + who, "the array", m, "a BCOO", "Make one by BCOO.fromdense()."
        )
    return m._coo()  # pyright: ignore[reportAttributeAccessIssue]
