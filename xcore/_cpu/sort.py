"""Sorting, and the largest elements, by kernels on rows. (quirk: SORT_SLOW)"""

from __future__ import annotations

from .._core import Alternative, ArrayType, dtypes
from .rows import is_worth_it, on_rows


def _sort(ctx, *xs, axis, num_keys=1, stable=True) -> list:
    types = ctx.in_types
    pairs = list(zip(xs, types, strict=True))
    if len(xs) == 1:
        return on_rows(ctx, "sort_rows", pairs, axis, types)
    order = ArrayType(types[0].shape, dtypes.int32)
    [order] = on_rows(ctx, "order_rows", pairs[:num_keys], axis, [order])
    return [_take_along(ctx, x, order, t, axis) for x, t in pairs]


def _take_along(ctx, x, order, t: ArrayType, axis: int):
    """The elements of x at positions along an axis, at the level of StableHLO."""
    others = [i for i in range(t.ndim) if i != axis]
    rows = ctx.reshape(order, ctx.tensor((*t.shape, 1), dtypes.int32))
    return ctx.gather(
        x, rows, ctx.type(t), offset=(), collapsed=(axis,), operand_batch=others,
        indices_batch=others, start_map=(axis,), sizes=(1,) * t.ndim,
    )  # fmt: skip


SORT = Alternative(lambda ctx, *xs, **_: is_worth_it(ctx, xs[0]), _sort)


def _partial_sort(ctx, x, *, k) -> bool:
    """XLA's code is good at few elements of float32; of other dtypes it sorts everything."""
    return is_worth_it(ctx, x) and not (k < 32 and x.dtype == dtypes.float32)


def _top_k(ctx, x, *, k):
    t = ctx.in_types[0]
    return on_rows(ctx, "top_k_rows", [(x, t)], t.ndim - 1, ctx.out_types, k)


TOP_K = Alternative(_partial_sort, _top_k)
