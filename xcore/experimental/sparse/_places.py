"""What becomes of values and places: the algorithms behind the methods and the functions of these arrays."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import numpy as xnp
from ..._control import vmap
from ..._core import Array, dtypes, errors, is_traced

if TYPE_CHECKING:
    from ._arrays import BCOO

WHO = "experimental.sparse."


class Stored:
    """Marks arrays by values and places."""

    __slots__ = ()


def batched(f: Callable[..., Any], n: int, in_axes: Any = 0) -> Callable[..., Any]:
    for _ in range(n):
        f = vmap(f, in_axes=in_axes)
    return f


def as_dense(x: Any) -> Array:
    """Dense arrays as they are."""
    return x.todense() if isinstance(x, Stored) else xnp.asarray(x)


def whole(who: str, name: str, n: Any, least: int = 0) -> int:
    """A number of things."""
    try:
        found = operator.index(n)
    except TypeError:
        found = least - 1
    if found < least:
        raise errors.bad_argument(WHO + who, name, n, f"an integer, {least} at least")
    return found


def shape_of(who: str, shape: Any) -> tuple[int, ...]:
    try:
        found = tuple(map(operator.index, shape))
    except TypeError:
        raise errors.bad_argument(WHO + who, "shape", shape, "a tuple of integers") from None
    if any(n < 0 for n in found):
        raise errors.impossible_shape(found)
    return found


def axis_of(who: str, axis: Any, ndim: int) -> int:
    try:
        axis = operator.index(axis)
    except TypeError:
        raise errors.bad_argument(WHO + who, "an axis", axis, "an integer") from None
    if not -ndim <= axis < ndim:
        raise errors.bad_axis(WHO + who, axis, ndim)
    return axis % ndim


# Parts


def parts_of(who: str, args: Any, names: str) -> list[Array]:
    """The arrays that an array is made of; all but the first hold integers."""
    wanted = names.split()
    if not isinstance(args, tuple | list) or len(args) != len(wanted):
        raise errors.bad_argument(WHO + who, "args", args, f"({', '.join(wanted)})")
    parts = [xnp.asarray(a) for a in args]
    for name, part in list(zip(wanted, parts))[1:]:
        if not dtypes.is_integer(part.dtype):
            raise errors.bad_argument(WHO + who, name, part, "integers")
    return parts


def check_parts(m: BCOO) -> None:
    """That values, places and shape belong together."""
    data, indices, shape = m.data, m.indices, m.shape
    if indices.ndim < 2:
        wanted = "of shape (batch…, number of values, sparse axes)"
        raise errors.bad_argument(f"{WHO}BCOO", "indices", indices, wanted)
    b, s = m.n_batch, m.n_sparse
    good = data.ndim > b and data.shape[b] == indices.shape[b]
    good = good and len(shape) == data.ndim - 1 + s and data.shape[b + 1 :] == shape[b + s :]
    check_batches("BCOO", shape, b, good, data=data, indices=indices)
    check_holds("BCOO", indices.dtype, shape[b : b + s])


def check_batches(who: str, shape: tuple, b: int, good: bool, **parts: Any) -> None:
    """That parts have the sizes of the batch, or 1 where all elements of it share them."""
    fits = (n in (1, k) for x in parts.values() for n, k in zip(x.shape, shape[:b]))
    if not (good and all(fits)):
        why = f"do not make an array of shape {shape}"
        raise errors.shape_mismatch(WHO + who, why, **parts)


def check_holds(who: str, dtype: Any, sizes: Iterable[int]) -> None:
    most = max(sizes, default=0)
    if not dtypes.is_integer(np.dtype(dtype)) or most > np.iinfo(dtype).max:
        wanted = f"a dtype of integers up to {most}"
        raise errors.bad_argument(WHO + who, "the dtype of indices", str(np.dtype(dtype)), wanted)


def sparse_sizes(m: BCOO) -> tuple[int, ...]:
    return m.shape[m.n_batch : m.n_batch + m.n_sparse]


def placed(m: BCOO) -> tuple[Array, Array]:
    """Places counted from the front, past the end for padding; and which are none."""
    limit = np.asarray(sparse_sizes(m), m.indices.dtype)
    places = xnp.where(m.indices < 0, m.indices + limit, m.indices)
    known = xnp.all((places >= 0) & (places < limit), -1)
    return xnp.where(known[..., None], places, limit), known


def of_each(m: BCOO, part: Array) -> Array:
    """Values or places of each batch element, which may share them."""
    return xnp.broadcast_to(part, (*m.shape[: m.n_batch], *part.shape[m.n_batch :]))


def total_dtype(dtype: Any) -> Any:
    """The dtype of sums."""
    return xnp.zeros(0, dtype).sum().dtype


# Dense and back


def dense_of(m: BCOO) -> Array:
    """Values at repeated places are summed; those out of range are padding."""
    if not m.n_sparse:
        return xnp.sum(of_each(m, m.data), m.n_batch).astype(m.data.dtype)
    rest = m.shape[m.n_batch + m.n_sparse :]

    def one(data, indices):
        zero = xnp.zeros((*sparse_sizes(m), *rest), data.dtype)
        return zero.at[tuple(indices[..., i] for i in range(m.n_sparse))].add(data, mode="drop")

    return batched(one, m.n_batch)(of_each(m, m.data), of_each(m, placed(m)[0]))


def from_dense(
    who: str, kind: type[BCOO], mat: Any, nse: int | None, n_batch: int, n_dense: int, dtype: Any
) -> BCOO:
    mat = xnp.asarray(mat)
    counts = whole(who, "n_batch", n_batch), whole(who, "n_dense", n_dense)
    if sum(counts) > mat.ndim:
        wanted = f"{mat.ndim} axes together at most"
        raise errors.bad_argument(WHO + who, "n_batch and n_dense", counts, wanted)
    n_sparse = mat.ndim - n_batch - n_dense
    sizes = mat.shape[n_batch : n_batch + n_sparse]
    check_holds(who, dtype, sizes)
    mask = mat != 0
    if n_dense:
        mask = mask.any(tuple(range(mat.ndim - n_dense, mat.ndim)))
    if nse is None:
        nse = _count(who, mask, n_batch)
    nse = whole(who, "nse", nse)

    def one(mask, mat):
        if not n_sparse:
            return mat[None], xnp.zeros((1, 0), dtype)
        found = xnp.nonzero(mask, size=nse, fill_value=sizes)
        return mat.at[found].get(mode="fill", fill_value=0), xnp.stack(found, -1).astype(dtype)

    parts = batched(one, n_batch)(mask, mat)
    return kind(parts, shape=mat.shape, indices_sorted=True, unique_indices=True)


def _count(who: str, mask: Array, n_batch: int) -> int:
    """How many elements of a batch element are not zero, at most."""
    if is_traced(mask):
        raise errors.ConcretizationError(
            f"xcore.{WHO}{who}: how many elements of a traced array are not zero is not known; say nse=."
        )
    counts = np.asarray(mask).sum(tuple(range(n_batch, mask.ndim)))
    return int(np.max(counts, initial=0))


def refound(kind: type[BCOO], mat: Any, like: BCOO | None = None) -> BCOO:
    """The elements of a result; as many as there can be, where it is traced."""
    n_batch, n_dense = (like.n_batch, like.n_dense) if like is not None else (0, 0)
    mat = xnp.asarray(mat)
    n_dense = min(n_dense, mat.ndim)
    n_batch = min(n_batch, mat.ndim - n_dense)
    most = math.prod(mat.shape[n_batch : mat.ndim - n_dense])
    nse = most if is_traced(mat) else None
    return from_dense("bcoo_fromdense", kind, mat, nse, n_batch, n_dense, np.int32)


def by_dense(f: Callable[..., Any], m: BCOO, *args: Any, plain: bool = False) -> BCOO:
    return refound(type(m), f(m.todense(), *args), None if plain else m)


def gathered(who: str, m: BCOO, dense: Any, fill: float = 0) -> Array:
    """The elements at the places of a sparse array, of a dense one that is broadcast to its shape."""
    v = xnp.asarray(dense)
    fits = v.ndim <= m.ndim and all(n in (1, k) for n, k in zip(v.shape[::-1], m.shape[::-1]))
    if not fits:
        why = "need the dense array to fit the shape of the sparse one"
        raise errors.shape_mismatch(WHO + who, why, sparse=m, dense=v)
    v = v.reshape((1,) * (m.ndim - v.ndim) + v.shape)
    v = xnp.broadcast_to(v, (*m.shape[: m.n_batch], *v.shape[m.n_batch :]))
    if not m.n_sparse:
        return v[(slice(None),) * m.n_batch + (None,)]
    places, known = placed(m)

    def one(places, known, v):
        at = [
            xnp.where(known, places[:, i] if k == n else 0, k)  # past the end for padding
            for i, (k, n) in enumerate(zip(v.shape, sparse_sizes(m)))
        ]
        return v.at[tuple(at)].get(mode="fill", fill_value=fill)

    return batched(one, m.n_batch)(of_each(m, places), of_each(m, known), v)


# Axes and places


def transposed(m: BCOO, permutation: Sequence[int] | None) -> BCOO:
    order = tuple(range(m.ndim))[::-1] if permutation is None else tuple(permutation)
    order = tuple(axis_of("bcoo_transpose", a, m.ndim) for a in order)
    b, s = m.n_batch, m.n_sparse
    batch, sparse, dense = order[:b], order[b : b + s], order[b + s :]
    if sorted(order) != list(range(m.ndim)):
        raise errors.bad_argument(
            f"{WHO}bcoo_transpose", "permutation", order, f"each of {m.ndim} axes once"
        )
    if {*batch} != {*range(b)} or {*sparse} != {*range(b, b + s)}:
        raise NotImplementedError(
            f"xcore.{WHO}bcoo_transpose: permutation must leave batch, sparse and dense axes among themselves, given "
            f"{order} for {b} batch and {s} sparse axes. Change these first, with update_layout()."
        )
    data = xnp.transpose(m.data, (*batch, b, *[d - s + 1 for d in dense]))
    indices = xnp.transpose(m.indices, (*batch, b, b + 1))[..., np.asarray(sparse, int) - b]
    shape = tuple(m.shape[i] for i in order)
    return type(m)((data, indices), shape=shape, unique_indices=m.unique_indices)


def summed_along(m: BCOO, axes: Iterable[int]) -> BCOO:
    """Sums along sparse axes leave values at repeated places."""
    gone = {axis_of("bcoo_reduce_sum", a, m.ndim) for a in axes}
    b, s = m.n_batch, m.n_sparse
    if not gone <= {*range(b, b + s)}:
        return refound(type(m), m.todense().sum(tuple(sorted(gone))))
    if not gone:
        return m
    kept = [i for i in range(s) if b + i not in gone]
    places, known = placed(m)
    data = xnp.where(known.reshape(*known.shape, *[1] * m.n_dense), m.data, 0)
    shape = tuple(n for i, n in enumerate(m.shape) if i not in gone)
    parts = data.astype(total_dtype(data.dtype)), places[..., np.asarray(kept, int)]
    return type(m)(parts, shape=shape)


def _order(places: Array, known: Array) -> Array:
    """By places, padding last."""
    return xnp.lexsort((*[places[:, i] for i in range(places.shape[-1])][::-1], ~known))


def first_of_each(m: BCOO) -> Array:
    """Which values are the first ones of their places."""

    def one(places, known):
        order = _order(places, known)
        return xnp.zeros(len(order), bool).at[order].set(_starts(places[order]))

    return batched(one, m.n_batch)(*[of_each(m, x) for x in placed(m)])


def _starts(places: Array) -> Array:
    """Which rows differ from the one before."""
    before = xnp.roll(places, 1, 0)
    return xnp.any(places != before, -1) | (xnp.arange(len(places)) == 0)


def in_order(m: BCOO) -> BCOO:
    if m.indices_sorted:
        return m

    def one(places, known, data):
        order = _order(places, known)
        return data[order], places[order]

    parts = batched(one, m.n_batch)(*[of_each(m, x) for x in (*placed(m), m.data)])
    return type(m)(parts, shape=m.shape, indices_sorted=True, unique_indices=m.unique_indices)


def merged(m: BCOO, nse: int | None, remove_zeros: bool) -> BCOO:
    """One value for each place."""
    places, known = placed(m)
    if remove_zeros:
        known = known & (m.data != 0).any(tuple(range(m.n_batch + 1, m.data.ndim)))
    places, known, data = (of_each(m, x) for x in (places, known, m.data))
    if nse is None:
        nse = m.nse if is_traced(known) or is_traced(places) else _distinct(places, known)
    nse = whole("bcoo_sum_duplicates", "nse", nse)
    limit = np.asarray(sparse_sizes(m), m.indices.dtype)

    def one(places, known, data):
        order = _order(places, known)
        places, known = places[order], known[order]
        rank = xnp.where(known, xnp.cumsum(_starts(places)) - 1, nse)
        total = xnp.zeros((nse, *data.shape[1:]), data.dtype).at[rank].add(data[order], mode="drop")
        outside = xnp.broadcast_to(limit, (nse, len(limit)))
        return total, outside.at[rank].set(places, mode="drop")

    parts = batched(one, m.n_batch)(places, known, data)
    return type(m)(parts, shape=m.shape, indices_sorted=True, unique_indices=True)


def _distinct(places: Any, known: Any) -> int:
    """The number of places of a batch element, at most."""
    places, known = np.asarray(places), np.asarray(known)
    n, k = places.shape[-2:]
    batch = known.size // n if n else 0
    rows = zip(places.reshape(batch, n, k), known.reshape(batch, n))
    counts = [len(np.unique(p[f], axis=0)) if k else int(f.any()) for p, f in rows]
    return max(counts, default=0)


def moved(m: BCOO, sizes: Sequence[int], move: Callable[..., Any]) -> BCOO:
    """The same elements elsewhere, zeros too: ``move(columns)`` are the columns of their new places."""
    check_holds("BCOO", m.indices.dtype, sizes)
    places, known = placed(m)
    columns = zip(move([*xnp.moveaxis(places, -1, 0)]), sizes, strict=True)
    new = [xnp.where(known, c, n) for c, n in columns]  # or past the end
    found = xnp.stack(new, -1) if new else xnp.zeros((*known.shape, 0), m.indices.dtype)
    parts = m.data, found.astype(m.indices.dtype)
    return type(m)(parts, shape=(*m.shape[: m.n_batch], *sizes))


def _reshaped(m: BCOO, new: tuple[int, ...]) -> BCOO:
    """Of the sparse axes; the others stay."""
    dtype = m.indices.dtype
    if math.prod(new) > np.iinfo(dtype).max:
        dtype = xnp.zeros(0, np.int32).astype(np.int64).dtype
        if math.prod(new) > np.iinfo(dtype).max:
            wanted = "of so few elements that their numbers fit into indices"
            raise errors.bad_argument(f"{WHO}bcoo_reshape", "new_sizes", new, wanted)

    def move(columns):
        columns = tuple(c.astype(dtype) for c in columns)
        flat = xnp.ravel_multi_index(columns, sparse_sizes(m), mode="wrap")
        return xnp.unravel_index(flat, new)

    return moved(m, new, move)


def reshaped(m: BCOO, new_sizes: Any) -> BCOO:
    new, b = _new_sizes(m, new_sizes), m.n_batch
    if new[:b] == m.shape[:b] and not m.n_dense and m.n_sparse and len(new) > b and m.size:
        return _reshaped(m, new[b:])
    return by_dense(xnp.reshape, m, new, plain=True)


def _new_sizes(m: BCOO, given: Any) -> tuple[int, ...]:
    new = tuple(whole("bcoo_reshape", "new_sizes", n, -1) for n in given)
    known = math.prod(n for n in new if n != -1)
    if new.count(-1) == 1 and known and m.size % known == 0:
        new = tuple(m.size // known if n == -1 else n for n in new)
    if any(n < 0 for n in new) or math.prod(new) != m.size:
        wanted = f"sizes of an array of {m.size} elements"
        raise errors.bad_argument(f"{WHO}bcoo_reshape", "new_sizes", tuple(given), wanted)
    return new


def laid_out(m: BCOO, n_batch: int | None, n_dense: int | None) -> BCOO:
    who = "bcoo_update_layout"
    n_batch = m.n_batch if n_batch is None else whole(who, "n_batch", n_batch)
    n_dense = m.n_dense if n_dense is None else whole(who, "n_dense", n_dense)
    if (n_batch, n_dense) == (m.n_batch, m.n_dense):
        return m
    nse = math.prod(m.shape[n_batch : m.ndim - n_dense])
    traced = is_traced(m.data) or is_traced(m.indices)
    nse, dtype = nse if traced else None, m.indices.dtype
    return from_dense(who, type(m), m.todense(), nse, n_batch, n_dense, dtype)
