"""Factorisations by elementwise operations and loops, for platforms whose libraries do not have them.

Each step works on all matrices of a batch at once. The loops are StableHLO's own; their bodies are
programs of operations, traced where they are lowered.
"""

from __future__ import annotations

import math

import numpy as np

from .._core import ArrayType, dtypes, trace_closed, typeof
from .elementwise import abs, add, and_, div, eq, ge, gt, imag, mul, ne, neg, real, select, sub
from .families import broadcast_in_dim, full_like_type, reduce_sum, zeros
from .layout import iota, reshape, transpose
from .matrices import or_nan
from .reduce import argmax, reduce_and
from .slicing import dynamic_slice, dynamic_update_slice

_INDEX = ArrayType((), dtypes.int32)


def _run(ctx, f, values, types) -> list:
    """``f(*values)``, traced and inlined into the module."""
    return ctx.program(trace_closed(lambda *xs: list(f(*xs)), types), list(values))


def _loop(ctx, count: int, body, values, types) -> list:
    """The values after ``body(i, *values)`` for i = 0, 1, …, count - 1."""
    step = trace_closed(lambda i, *xs: list(body(i, *xs)), [_INDEX, *types])
    zero, one, stop = (ctx.constant(np.int32(v)) for v in (0, 1, count))
    _, *outs = ctx.while_(
        [zero, *values],
        lambda i, *_: ctx.compare(i, stop, ctx.tensor((), bool), "LT"),
        lambda i, *xs: [ctx.one("stablehlo.add", i.type, [i, one]), *ctx.program(step, [i, *xs])],
    )
    return outs


def _at(x, i, axis: int = 0):
    """Slice number i along an axis."""
    t, zero = typeof(x), zeros(_INDEX)
    sizes = tuple(1 if k == axis else n for k, n in enumerate(t.shape))
    found = dynamic_slice(x, *(i if k == axis else zero for k in range(t.ndim)), sizes=sizes)
    return reshape(found, shape=(*sizes[:axis], *sizes[axis + 1 :]))


def _put(x, i, value, axis: int = 0):
    t, zero = typeof(x), zeros(_INDEX)
    sizes = tuple(1 if k == axis else n for k, n in enumerate(t.shape))
    starts = (i if k == axis else zero for k in range(t.ndim))
    return dynamic_update_slice(x, reshape(value, shape=sizes), *starts)


def _modulus(x):
    """|x|, for complex numbers |Re x| + |Im x|, as LAPACK compares them."""
    return add(abs(real(x)), abs(imag(x))) if dtypes.is_complex(typeof(x).dtype) else abs(x)


def _like(x, like, dims):
    return broadcast_in_dim(x, shape=typeof(like).shape, dims=dims)


def _full(x, value):
    return full_like_type(typeof(x).strong(), value)


# Tridiagonal systems
# Elimination with exchanges of neighbouring rows: row i of the triangle has elements d, u, w in columns
# i, i + 1, i + 2. (Golub and Van Loan 2013, "Matrix computations", section 4.3.5)


def tridiagonal_solve(ctx, dl, d, du, b, t: ArrayType, t_b: ArrayType):
    """x as LAPACK's gtsv solves for it; NaN for systems with a pivot that vanishes."""
    *batch, n, k = t_b.shape
    batch_size, dtype = math.prod(batch), t.dtype
    line, block = ArrayType((n, batch_size), dtype), ArrayType((n, batch_size, k), dtype)
    rows = _run(ctx, lambda *xs: _rows_first(*xs, batch_size, n, k), [dl, d, du, b], [t, t, t, t_b])
    low, *_ = rows
    first = _run(
        ctx, lambda *xs: [_at(x, zeros(_INDEX)) for x in xs], rows[1:], [line, line, block]
    )
    none = ctx.full(line, 0)
    row, wide = ArrayType((batch_size,), dtype), ArrayType((batch_size, k), dtype)
    types = [row, row, wide, line, line, line, line, block]
    state = [*first, low, *rows[1:3], none, rows[3]]
    state = _loop(ctx, n - 1, _eliminate, state, types) if n > 1 else state
    state = _run(ctx, lambda *xs: _last_row(n, *xs), state, types)
    x = _loop(
        ctx, n, lambda i, *xs: _substitute(n, i, *xs),
        [ctx.full(wide, 0), ctx.full(wide, 0), *state], [wide, wide, line, line, line, block],
    )[-1]  # fmt: skip
    ok, x = _run(ctx, lambda d, x: _or_nan(d, x, t_b), [state[0], x], [line, block])
    return or_nan(ctx, ok, x, t_b, len(batch))


def _rows_first(dl, d, du, b, batch_size: int, n: int, k: int):
    lines = [transpose(reshape(x, shape=(batch_size, n)), perm=(1, 0)) for x in (dl, d, du)]
    number = iota(shape=(n, batch_size), dtype=dtypes.int32, axis=0)
    inside = ne(number, full_like_type(typeof(number), n - 1))
    lines[2] = select(inside, lines[2], zeros(typeof(lines[2])))
    return [*lines, transpose(reshape(b, shape=(batch_size, n, k)), perm=(1, 0, 2))]


def _eliminate(i, d, u, b, low, ds, us, ws, bs):
    """Row i + 1 without the unknown i, after the larger of its two coefficients has been put first."""
    after = add(i, full_like_type(_INDEX, 1))
    below, d_next, u_next, b_next = (_at(x, after) for x in (low, ds, us, bs))
    swap = gt(_modulus(below), _modulus(d))
    swap_b, zero = _like(swap, b, (0,)), zeros(typeof(d))
    pivot, other = select(swap, below, d), select(swap, d, below)
    factor = div(other, pivot)
    ds = _put(ds, i, pivot)
    us = _put(us, i, select(swap, d_next, u))
    ws = _put(ws, i, select(swap, u_next, zero))
    bs = _put(bs, i, select(swap_b, b_next, b))
    d = select(swap, sub(u, mul(factor, d_next)), sub(d_next, mul(factor, u)))
    u = select(swap, neg(mul(factor, u_next)), u_next)
    factor = _like(factor, b, (0,))
    b = select(swap_b, sub(b, mul(factor, b_next)), sub(b_next, mul(factor, b)))
    return d, u, b, low, ds, us, ws, bs


def _last_row(n: int, d, u, b, low, ds, us, ws, bs):
    last = full_like_type(_INDEX, n - 1)
    return _put(ds, last, d), _put(us, last, zeros(typeof(u))), ws, _put(bs, last, b)


def _substitute(n: int, k, x1, x2, ds, us, ws, bs):
    i = sub(full_like_type(_INDEX, n - 1), k)
    d, u, w, b = (_at(x, i) for x in (ds, us, ws, bs))
    d, u, w = (_like(x, b, (0,)) for x in (d, u, w))
    x = div(sub(sub(b, mul(u, x1)), mul(w, x2)), d)
    return x, x1, ds, us, ws, _put(bs, i, x)


def _or_nan(d, x, t_b: ArrayType):
    regular = reduce_and(ne(d, zeros(typeof(d))), axes=(0,))
    back = reshape(transpose(x, perm=(1, 0, 2)), shape=t_b.shape)
    return reshape(regular, shape=t_b.shape[:-2]), back


# LU


def lu(ctx, a, t: ArrayType) -> list:
    """(factors in one matrix, pivots counted from 0, the permutation they make)"""
    *batch, m, n = t.shape
    batch_size, k = math.prod(batch), min(m, n)
    flat, pivots = ArrayType((batch_size, m, n), t.dtype), ArrayType((batch_size, k), dtypes.int32)
    order = ArrayType((batch_size, m), dtypes.int32)
    state = [ctx.reshape(a, ctx.type(flat)), ctx.full(pivots, 0), ctx.iota(ctx.type(order), 1)]
    outs = _loop(ctx, k, _eliminate_column, state, [flat, pivots, order])
    shapes = (t.shape, (*batch, k), (*batch, m))
    kinds = (flat, pivots, order)
    return [
        ctx.reshape(x, ctx.tensor(s, o.dtype)) for x, s, o in zip(outs, shapes, kinds, strict=True)
    ]


def _eliminate_column(i, a, pivots, order):
    """The largest element of column i, from row i on, moved to row i, and zeros made below it."""
    t = typeof(a)
    row, column = (iota(shape=t.shape, dtype=dtypes.int32, axis=k) for k in (1, 2))
    number = iota(shape=t.shape[:2], dtype=dtypes.int32, axis=1)
    size = _modulus(_at(a, i, 2))
    size = select(ge(number, _like(i, number, ())), size, _full(size, -1))
    p = argmax(size, axis=1, dtype=dtypes.int32)
    top = _sum_where(eq(row, _like(p, row, (0,))), a)
    here, there = eq(row, _like(i, row, ())), eq(row, _like(p, row, (0,)))
    mine = _at(a, i, 1)
    a = select(here, _like(top, a, (0, 2)), select(there, _like(mine, a, (0, 2)), a))
    order = _swapped(order, number, i, p)
    pivot, below = _at(top, i, 1), _at(a, i, 2)
    zero = eq(pivot, zeros(typeof(pivot)))
    factors = div(below, _like(select(zero, _full(pivot, 1), pivot), below, (0,)))
    lower, right = gt(row, _like(i, row, ())), gt(column, _like(i, column, ()))
    product = mul(_like(factors, a, (0, 1)), _like(top, a, (0, 2)))
    a = select(and_(lower, right), sub(a, product), a)
    a = select(and_(lower, eq(column, _like(i, column, ()))), _like(factors, a, (0, 1)), a)
    return a, _put(pivots, i, p, 1), order


def _sum_where(chosen, x):
    return reduce_sum(select(chosen, x, zeros(typeof(x).strong())), axes=(1,))


def _swapped(order, number, i, p):
    here, there = eq(number, _like(i, number, ())), eq(number, _like(p, number, (0,)))
    mine = _like(_at(order, i, 1), order, (0,))
    other = _like(_sum_where(there, order), order, (0,))
    return select(here, other, select(there, mine, order))
