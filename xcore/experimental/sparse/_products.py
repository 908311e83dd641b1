"""Products of arrays by values and places with each other and with dense ones."""

from __future__ import annotations

import functools
import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import lax
from ... import numpy as xnp
from ..._core import Array, dtypes, errors
from ._places import (
    WHO,
    Stored,
    as_dense,
    axis_of,
    batched,
    from_dense,
    gathered,
    merged,
    of_each,
    placed,
    refound,
    sparse_sizes,
)

if TYPE_CHECKING:
    from ._arrays import BCOO


def dot_general(
    lhs: Any, rhs: Any, dimension_numbers: Any, dtype: Any = None, precision: Any = None
) -> Any:
    """Of a sparse and a dense array a dense one, of two sparse ones a sparse one."""
    if isinstance(lhs, Stored) and isinstance(rhs, Stored):
        out = product(lhs, rhs.todense(), dimension_numbers, dtype, precision)
        return refound(type(lhs._coo()), out)
    if not (isinstance(lhs, Stored) or isinstance(rhs, Stored)):
        raise errors.bad_argument(f"{WHO}bcoo_dot_general", "lhs or rhs", lhs, "a sparse array")
    lhs, rhs = (x if isinstance(x, Stored) else xnp.asarray(x) for x in (lhs, rhs))
    return product(lhs, rhs, dimension_numbers, dtype, precision)


def matmul(a: Any, b: Any, *, preferred_element_type: Any = None, precision: Any = None) -> Any:
    """``@``, where one is sparse at least."""
    a, b = (x if isinstance(x, Stored) else xnp.asarray(x) for x in (a, b))
    options = {"preferred_element_type": preferred_element_type, "precision": precision}
    if a.ndim == 0 or b.ndim == 0:
        raise TypeError(f"xcore.{WHO}matmul: @ is of arrays, not of numbers; use *.")
    sparse = isinstance(a, Stored) + isinstance(b, Stored)
    if sparse == 1 and isinstance(a, Stored) and (numbers := _of_batches(a._coo(), b)):
        return dot_general(a, b, numbers, *options.values())
    if max(a.ndim, b.ndim) > 2 or not sparse:
        out = xnp.matmul(as_dense(a), as_dense(b), **options)
        n_batch = out.ndim - 2
        most = math.prod(out.shape[n_batch:])
        if sparse < 2:
            return out
        return from_dense("matmul", type(a._coo()), out, most, n_batch, 0, np.int32)
    numbers = (((a.ndim - 1,), (max(b.ndim - 2, 0),)), ((), ()))
    return dot_general(a, b, numbers, *options.values())


def _of_batches(m: BCOO, b: Array) -> Any:
    """The axes of ``m @ b`` where each element of a batch is one sparse matrix; else None."""
    inner = ((m.ndim - 1,), (max(b.ndim - 2, 0),))
    if not m.n_batch or m.n_sparse != 2 or m.n_dense:
        return None
    if b.ndim <= 2:
        return inner, ((), ())
    outer = tuple(range(m.n_batch))
    return (inner, (outer, outer)) if b.shape[:-2] == m.shape[:-2] else None


def values_times(who: str, m: BCOO, dense: Any) -> Array:
    """The values of the product with a dense array that is broadcast."""
    return of_each(m, m.data) * gathered(who, m, dense)


def multiplied(lhs: BCOO, rhs: BCOO) -> BCOO:
    """The product element by element."""
    if lhs.shape != rhs.shape:
        return refound(type(lhs), lhs.todense() * rhs.todense())
    lhs = merged(lhs, lhs.nse, False)
    return lhs._with_data(values_times("bcoo_multiply_sparse", lhs, rhs.todense()))


def product(lhs: Any, rhs: Any, dimension_numbers: Any, dtype: Any, precision: Any) -> Array:
    """``lax.dot_general`` of a sparse and a dense array, in this order or the other."""
    numbers = _numbers(lhs, rhs, dimension_numbers)
    if isinstance(lhs, Stored):
        return _sparse_first(lhs, rhs, numbers, dtype, precision)
    lc, rc, lb, rb = numbers
    out = _sparse_first(rhs, lhs, (rc, lc, rb, lb), dtype, precision)
    b, left, right = len(lb), np.ndim(lhs) - len(lc) - len(lb), rhs.ndim - len(rc) - len(rb)
    order = [*range(b), *range(b + right, b + right + left), *range(b, b + right)]
    return xnp.transpose(out, order)


def _numbers(lhs: Any, rhs: Any, dimension_numbers: Any) -> tuple[tuple[int, ...], ...]:
    try:
        (lc, rc), (lb, rb) = dimension_numbers
        sides = [(lhs, lc), (rhs, rc), (lhs, lb), (rhs, rb)]
        given = [(x.ndim, tuple(map(operator.index, axes))) for x, axes in sides]
    except (TypeError, ValueError):
        wanted = "((axes of lhs, axes of rhs to sum over), (batch axes of lhs, of rhs))"
        raise errors.bad_argument(
            f"{WHO}bcoo_dot_general", "dimension_numbers", dimension_numbers, wanted
        ) from None
    lc, rc, lb, rb = (
        tuple(axis_of("bcoo_dot_general", a, ndim) for a in axes) for ndim, axes in given
    )
    pairs = [*zip(lc, rc), *zip(lb, rb)]
    even = len(lc) == len(rc) and len(lb) == len(rb)
    if not even or any(lhs.shape[i] != rhs.shape[j] for i, j in pairs):
        why = f"need equal lengths along axes {(*lc, *lb)} and {(*rc, *rb)}"
        raise errors.shape_mismatch(f"{WHO}bcoo_dot_general", why, lhs=lhs, rhs=rhs)
    return lc, rc, lb, rb


def _sparse_first(lhs: Any, rhs: Any, numbers: tuple, dtype: Any, precision: Any) -> Array:
    m, rhs = lhs._coo(), xnp.asarray(rhs)
    lc, rc, lb, rb = numbers
    outer = tuple(range(m.n_batch))
    if m.n_dense or not m.n_sparse or lb != (outer if lb else ()) or {*outer} & {*lc}:
        options = {"preferred_element_type": dtype, "precision": precision}
        return lax.dot_general(m.todense(), rhs, ((lc, rc), (lb, rb)), **options)
    rest = [i for i in range(rhs.ndim) if i not in (*rc, *rb)]
    rhs = xnp.transpose(rhs, [*rb, *rc, *rest])
    one = functools.partial(
        _rows_times_values, sparse_sizes(m), [i - m.n_batch for i in lc], dtype
    )  # fmt: skip
    in_axes = (0, 0, 0, 0 if lb else None)
    places, known = placed(m)
    parts = (m.data, places, known)
    return batched(one, m.n_batch, in_axes)(*[of_each(m, x) for x in parts], rhs)


def _rows_times_values(sizes, summed, dtype, data, places, known, rhs):
    """Rows of the dense array times values, added up where they belong."""
    dtype = xnp.result_type(data.dtype, rhs.dtype) if dtype is None else np.dtype(dtype)
    wide = _of_sums(dtype)
    free = [i for i in range(len(sizes)) if i not in summed]
    values = xnp.where(known, data, 0).astype(wide)
    at = tuple(places[:, i] for i in summed)
    rows = rhs.at[at].get(mode="fill", fill_value=0) if at else rhs[None]
    rest = rows.ndim - 1
    each = values.reshape(-1, *[1] * rest) * rows.astype(wide)
    if not free:
        return _narrow(each.sum(0), dtype)
    zero = xnp.zeros((*[sizes[i] for i in free], *each.shape[1:]), wide)
    return _narrow(zero.at[tuple(places[:, i] for i in free)].add(each, mode="drop"), dtype)


def _of_sums(dtype: Any) -> Any:
    """What products are summed in: numbers of 16 bits and fewer lose their digits, and booleans are no numbers."""
    if dtype == np.bool_:
        return np.dtype(np.int32)
    return np.dtype(np.float32) if dtypes.is_inexact(dtype) and dtype.itemsize < 4 else dtype


def _narrow(x: Array, dtype: Any) -> Array:
    return x != 0 if dtype == np.bool_ else x.astype(dtype)
