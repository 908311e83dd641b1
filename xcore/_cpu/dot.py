"""Forms of a product of matrices. (quirk: DOT_TRANSPOSED_SLOW)"""

from __future__ import annotations

import math

from .._backend import quirks
from .._core import dtypes

# XLA's product (Eigen's) of a transposed left side, aᵀ b or aᵀ bᵀ with a stored by rows, runs at
# half of its speed in float64, and where the right side is narrow in float32 too. Every matrix
# product has such a one in its derivative. So one of three is stored transposed first, whichever is
# smallest: the left side, the right side (then the product's sides change places and its result is
# transposed), or the result alone. The barriers keep XLA from folding the transposition back.
# Float64, one 1000 x 1000 by 1000 x 1000: 75 ms as it is, 36 with the left side stored anew.


def is_plain_product(ctx, x, y, *, contract, batch, precision=None, out=None) -> bool:
    """Whether it is one product of matrices, on one device and in one dtype."""
    return ctx.partitions == 1 and not batch[0] and x.dtype == ctx.out_types[0].dtype


# quirk: DOT_IN_REDUCTION_SLOW
def is_best_apart(ctx, x, y, *, contract, **params) -> bool:
    """Whether it is one large product, which must not be drawn into the sum over its elements."""
    each = math.prod(x.shape[i] for i in contract[0])
    return (
        quirks.DOT_IN_REDUCTION_SLOW.is_here()
        and is_plain_product(ctx, x, y, contract=contract, **params)
        and each >= 128
        and ctx.out_types[0].size >= 1 << 15
    )


def in_better_form(ctx, x, y, contract, how: str):
    """The product, or NotImplemented where it is best as it is."""
    (x, x_shape, mine), (y, y_shape, other) = (
        _as_stored(ctx, v, t.shape, tuple(axes))
        for v, t, axes in zip((x, y), ctx.in_types, contract, strict=True)
    )
    count = len(mine)
    leading = tuple(range(count))
    y_transposed = other == tuple(range(len(y_shape) - count, len(y_shape)))
    if mine != leading or count == len(x_shape) or not (y_transposed or other == leading):
        return NotImplemented
    y_transposed = y_transposed and count < len(y_shape)
    k = math.prod(x_shape[:count])
    m, n = math.prod(x_shape[count:]), math.prod(y_shape) // max(k, 1)
    form = _better_form(m, k, n, y_transposed, ctx.in_types[0].dtype)
    if form is None:
        return NotImplemented
    return _in_form(ctx, x, y, form, m, k, n, y_transposed, how)


def _as_stored(ctx, x, shape, axes):
    """A value, its shape and the axes to contract; of a transpose, those of what it transposes.

    XLA would fold that transposition into the product.
    """
    source = ctx.source_of_transpose(x) if len(shape) == 2 and len(axes) == 1 else None
    return (x, shape, axes) if source is None else (source, shape[::-1], (1 - axes[0],))


def _better_form(m: int, k: int, n: int, y_transposed: bool, dtype):
    """Which of "left", "right", "result" to store transposed; None if the product stays as it is."""
    if dtype not in (dtypes.float32, dtypes.float64) or min(m, n) == 1 or m * k * n < 1 << 20:
        return None
    costs = {"result": m * n} if y_transposed else {"right": (k + m) * n}
    if dtype == dtypes.float64:
        costs["left"] = m * k
    elif n > 32 and (not y_transposed or m * n > 1 << 18):
        return None
    form = min(costs, key=costs.get)
    return form if m * k * n >= 64 * costs[form] else None


def _in_form(ctx, x, y, form: str, m: int, k: int, n: int, y_transposed: bool, how: str):
    dtype = ctx.in_types[0].dtype
    matrix = lambda a, *shape: ctx.reshape(a, ctx.tensor(shape, dtype))  # noqa: E731

    def stored_transposed(a, rows, columns):
        kind = ctx.tensor((columns, rows), dtype)
        return ctx.fence(ctx.transpose(a, kind, (1, 0)))

    def product(a, b, rows, columns, last):
        kind = ctx.tensor((rows, columns), dtype)
        return ctx.dot_general(a, b, kind, ((1,), (last,)), ((), ()), how)

    x, y = matrix(x, k, m), matrix(y, *((n, k) if y_transposed else (k, n)))
    if form == "left":
        made = product(stored_transposed(x, k, m), y, m, n, 1 if y_transposed else 0)
    else:
        first = y if y_transposed else stored_transposed(y, k, n)
        made = ctx.fence(product(first, x, n, m, 0))
        made = ctx.transpose(made, ctx.tensor((m, n), dtype), (1, 0))
    return ctx.reshape(made, ctx.out())
