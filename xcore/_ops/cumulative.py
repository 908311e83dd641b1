"""Running sums, products, maxima, minima and logarithms of sums along an axis."""

from __future__ import annotations

import functools
import math

import numpy as np

from .._core import dtypes, errors
from .._core.op import Op
from .._core.program import trace_closed
from .._core.types import ArrayType, typeof
from . import host
from .dot import dot_general
from .elementwise import convert, ge, gt, is_finite, le, lt, max, min, mul, select, sub
from .families import (
    NUMBERS,
    REALS,
    add,
    broadcast_in_dim,
    check_kind,
    full_like_type,
    reduce_sum,
    zeros,
)
from .layout import iota, pad, reshape, slice
from .reduce import highest, lowest, reduce_and
from .sort import take_along
from .transcendental import exp, log1p

# ------------------------------------------------------------------------------- by doubling
# Running totals by log2(n) shifted combinations, each one pass. XLA's lowering of a reduce_window
# as long as the axis takes quadratic time on a CPU.


def _shift(x, step: int, axis: int, reverse: bool, fill):
    t = typeof(x)
    low, high = [0] * t.ndim, [0] * t.ndim
    low[axis], high[axis] = (-step, step) if reverse else (step, -step)
    value = full_like_type(ArrayType((), t.dtype), fill)
    return pad(x, value, low=tuple(low), high=tuple(high), interior=(0,) * t.ndim)


def by_doubling(combine, fills, xs, axis: int, reverse: bool):
    """Running totals of several arrays together: ``combine(before, after)`` of lists of arrays."""
    n, step = typeof(xs[0]).shape[axis], 1
    while step < n:
        shifted = [_shift(x, step, axis, reverse, fill) for x, fill in zip(xs, fills, strict=True)]
        xs = combine(xs, shifted) if reverse else combine(shifted, xs)
        step *= 2
    return xs


# --------------------------------------------------------------------------- sums, by products
# The running sums of a block are its product with a triangle of ones, for which XLA's code is at its
# best. What is not finite would spread (inf·0 is NaN): the total shows it, and a kernel takes over.
# 10^6 float32 on 2 cores of an Intel Xeon at 2.5 GHz, in ms: by doubling 80, NumPy 3.1, this 2.1
# (PyTorch 1.6). Errors grow with the number of blocks, not of elements: 3e-4 here, NumPy's 1e-2.

_BLOCK, _MORE_BLOCKS = 32, 128


def _triangle(n: int, dtype, holds):
    rows, columns = (iota(shape=(n, n), dtype=dtypes.int32, axis=i) for i in (0, 1))
    return convert(holds(rows, columns), dtype=dtype)


def _times(x, triangle):
    last = typeof(x).ndim - 1
    return dot_general(x, triangle, contract=((last,), (0,)), batch=((), ()))


def _in_blocks(x, size: int):
    """(rows, n) as (rows, blocks, size), filled up with zeros."""
    rows, n = typeof(x).shape
    count = -(-n // size)
    if count * size != n:
        x = pad(
            x,
            zeros(ArrayType((), typeof(x).dtype)),
            low=(0, 0),
            high=(0, count * size - n),
            interior=(0, 0),
        )
    return reshape(x, shape=(rows, count, size))


def _joined(x, offsets, n: int):
    """(rows, blocks, size) with a number added to each block, as (rows, n)."""
    t = typeof(x)
    x = add(x, broadcast_in_dim(offsets, shape=t.shape, dims=(0, 1)))
    rows, count, size = t.shape
    return _columns(reshape(x, shape=(rows, count * size)), 0, n)


def _columns(x, start: int, stop: int):
    rows, n = typeof(x).shape
    return (
        x if stop - start == n else slice(x, start=(0, start), limit=(rows, stop), strides=(1, 1))
    )


def _sums_before(x, reverse: bool):
    """For every column the sum of those before it (behind it, if reverse)."""
    n, dtype = typeof(x).shape[1], typeof(x).dtype
    strictly = gt if reverse else lt
    if n <= 2 * _MORE_BLOCKS:
        return _times(x, _triangle(n, dtype, strictly))
    blocks = _in_blocks(x, _MORE_BLOCKS)
    inside = _times(blocks, _triangle(_MORE_BLOCKS, dtype, strictly))
    return _joined(inside, _sums_before(reduce_sum(blocks, axes=(2,)), reverse), n)


def _block_size(n: int) -> int:
    """A size for which nothing needs filling up, if there is one: that costs as much as the rest."""
    return next((b for b in range(48, 23, -1) if n % b == 0), _BLOCK)


def _block_sums(x, reverse: bool):
    """(running sums in each block, what to add to each block, whether all is finite)."""
    n, dtype = typeof(x).shape[1], typeof(x).dtype
    size = _block_size(n)
    blocks = _in_blocks(x, size)
    inside = _times(blocks, _triangle(size, dtype, ge if reverse else le))
    rows, count, _ = typeof(inside).shape
    edge = 0 if reverse else size - 1
    totals = slice(inside, start=(0, 0, edge), limit=(rows, count, edge + 1), strides=(1, 1, 1))
    totals = reshape(totals, shape=(rows, count))
    offsets = _sums_before(totals, reverse)
    last = 0 if reverse else count - 1
    whole = add(_columns(offsets, last, last + 1), _columns(totals, last, last + 1))
    return inside, offsets, convert(reduce_and(is_finite(whole), axes=(0, 1)), dtype=dtypes.int32)


def _sum_by_products(ctx, x, axis: int, reverse: bool):
    t = ctx.in_types[0].strong()
    turned, shape = host.turned(ctx, x, t, axis)
    rows = ArrayType((math.prod(shape.shape[:-1]), shape.shape[-1]), t.dtype)
    flat = ctx.reshape(turned, ctx.type(rows))
    parts = trace_closed(functools.partial(_block_sums, reverse=reverse), [rows])
    inside, offsets, finite = ctx.program(parts, [flat])
    join = trace_closed(lambda x, o: [_joined(x, o, rows.shape[1])], parts.out_types[:2])

    def again():
        return host.on_rows(ctx, "accumulate_rows", [(flat, rows)], 1, [rows], 0, int(reverse))

    def finish():
        return ctx.program(join, [inside, offsets])

    [out] = ctx.case(finite, [ctx.type(rows)], [again, finish])
    return host.turned_back(ctx, ctx.reshape(out, ctx.type(shape)), shape, axis)


# ------------------------------------------------------------------------------- the operations


def _combine_one(hlo_op):
    return lambda before, after: [hlo_op(before[0], after[0])]


def _cumulative_type(name, kinds):
    def rule(x, *, axis, reverse=False):
        check_kind(name, x.dtype, kinds)
        if not 0 <= axis < x.ndim:
            raise errors.bad_axis(name, axis, x.ndim)
        return [x]

    return rule


def _cumulative(name: str, op, neutral, kinds, jvp=None):
    """An operation for the running totals of ``op``."""
    number = host.ACCUMULATORS[name]

    def lower(ctx, x, *, axis, reverse=False):
        t = ctx.in_types[0].strong()
        if not host.applies(ctx, t):
            fill = neutral(t.dtype)
            doubling = trace_closed(
                lambda x: by_doubling(_combine_one(op), [fill], [x], axis, reverse), [t]
            )
            return ctx.program(doubling, [x])
        if name == "cumsum" and t.dtype in (dtypes.float32, dtypes.float64):
            return _sum_by_products(ctx, x, axis, reverse)
        return host.on_rows(ctx, "accumulate_rows", [(x, t)], axis, [t], number, int(reverse))

    def batch(size, args, batched, *, axis, reverse=False):
        return [self(args[0], axis=axis + 1, reverse=reverse)], [True]

    def jvp_rule(primals, tangents, **params):
        out = self(*primals, **params)
        return [out], [jvp(tangents[0], out, *primals, **params)]

    self = Op(
        name, type=_cumulative_type(name, kinds), lower=lower, jvp=jvp and jvp_rule, batch=batch
    )
    return self


cumsum = _cumulative("cumsum", add, lambda d: 0, NUMBERS)
cumsum._jvp = lambda primals, tangents, **params: (
    [cumsum(*primals, **params)], [cumsum(*tangents, **params)],
)  # fmt: skip
cumsum._transpose = lambda cotangents, x, *, axis, reverse=False: [
    cumsum(cotangents[0], axis=axis, reverse=not reverse)
]


def _product_with_tangent(before, after):
    (a, ga), (b, gb) = before, after
    return [mul(a, b), add(mul(ga, b), mul(a, gb))]


def _product_jvp(g, out, x, *, axis, reverse=False):
    # the product rule, not g/x times the product: right for elements that are zero
    return by_doubling(_product_with_tangent, [1, 0], [x, g], axis, reverse)[1]


def _extremum_jvp(wins):
    """The tangent of the first element that is as large (small) as the running extremum."""

    def rule(g, out, x, *, axis, reverse=False):
        shape = typeof(x).shape
        if not shape[axis]:
            return g
        place = iota(shape=shape, dtype=dtypes.int32, axis=axis)
        before = _shift(out, 1, axis, reverse, 0)
        new = wins(out, before)
        if reverse:
            end = full_like_type(typeof(place), shape[axis] - 1)
            where = cummin(select(new, place, end), axis=axis, reverse=True)
        else:
            where = cummax(select(new, place, zeros(typeof(place))), axis=axis)
        return take_along(g, where, axis)

    return rule


def _logaddexp(a, b):
    top, bottom = max(a, b), min(a, b)
    nothing = full_like_type(typeof(a).strong(), -np.inf)
    return add(top, log1p(exp(select(is_finite(top), sub(bottom, top), nothing))))


def _logsumexp_jvp(g, out, x, *, axis, reverse=False):
    return by_doubling(_logsumexp_with_tangent, [-np.inf, 0], [x, g], axis, reverse)[1]


def _logsumexp_with_tangent(before, after):
    (a, ga), (b, gb) = before, after
    total = _logaddexp(a, b)
    t = typeof(a).strong()
    safe = select(le(total, full_like_type(t, -np.inf)), zeros(t), total)
    return [total, add(mul(ga, exp(sub(a, safe))), mul(gb, exp(sub(b, safe))))]


cumprod = _cumulative("cumprod", mul, lambda d: 1, NUMBERS, _product_jvp)
cummax = _cumulative("cummax", max, lowest, REALS | {"bool"}, _extremum_jvp(gt))
cummin = _cumulative("cummin", min, highest, REALS | {"bool"}, _extremum_jvp(lt))
cumlogsumexp = _cumulative("cumlogsumexp", _logaddexp, lambda d: -np.inf, {"float"}, _logsumexp_jvp)
