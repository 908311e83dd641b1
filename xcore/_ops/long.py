"""Divisions and upper halves of products of 64-bit integers, written with what XLA for TPUs compiles of them."""

from __future__ import annotations

import numpy as np

from .._core import ArrayType, dtypes

_BITS = 64


def _one(ctx, name: str, *xs):
    return ctx.one(f"stablehlo.{name}", xs[0].type, list(xs))


def _is_below(ctx, x, y, t):
    return ctx.compare(x, y, ctx.tensor(t.shape, bool), "LT")


def _unsigned(t: ArrayType) -> ArrayType:
    return ArrayType(t.shape, dtypes.uint64)


def _magnitude(ctx, x, t):
    """(|x| unsigned, whether x is negative), or x and None."""
    if dtypes.kind(t.dtype) == "uint":
        return x, None
    negative = _is_below(ctx, x, ctx.full(t, 0), t)
    size = ctx.select(negative, _one(ctx, "negate", x), x)
    return ctx.convert(size, ctx.type(_unsigned(t))), negative


def _signed(ctx, x, negative, t):
    if negative is None:
        return x
    x = ctx.convert(x, ctx.type(t.strong()))
    return ctx.select(negative, _one(ctx, "negate", x), x)


def divided(ctx, x, y, t):
    """(quotient cut toward zero, remainder with the sign of x) of integers of type t; y is not 0."""
    (x, x_below), (y, y_below) = _magnitude(ctx, x, t), _magnitude(ctx, y, t)
    quotient, rest = _long_division(ctx, x, y, _unsigned(t))
    sign = None if x_below is None else _one(ctx, "xor", x_below, y_below)
    return _signed(ctx, quotient, sign, t), _signed(ctx, rest, x_below, t)


def _long_division(ctx, x, y, u: ArrayType):
    """Bit by bit: the bits of x go out at its upper end into the remainder, those of the quotient come in."""
    count = ctx.tensor((), np.int32)

    def step(i, x, rest, y):
        one, top = ctx.full(u, 1), ctx.full(u, _BITS - 1)
        beyond = _one(ctx, "shift_right_logical", rest, top)
        out = _one(ctx, "shift_right_logical", x, top)
        rest = _one(ctx, "or", _one(ctx, "shift_left", rest, one), out)
        short = _is_below(ctx, rest, y, u)
        short = _one(ctx, "and", short, _is_below(ctx, beyond, one, u))
        rest = ctx.select(short, rest, _one(ctx, "subtract", rest, y))
        x = _one(ctx, "or", _one(ctx, "shift_left", x, one), ctx.select(short, ctx.full(u, 0), one))
        return [ctx.one("stablehlo.add", count, [i, ctx.constant(np.int32(1))]), x, rest, y]

    def unfinished(i, *_):
        return ctx.compare(i, ctx.constant(np.int32(_BITS)), ctx.tensor((), bool), "LT")

    start = [ctx.constant(np.int32(0)), x, ctx.full(u, 0), y]
    _, quotient, rest, _ = ctx.while_(start, unfinished, step)
    return quotient, rest


def upper_half(ctx, x, y, t):
    """The upper 64 of the 128 bits of a product."""
    u = _unsigned(t)
    mask, half = ctx.full(u, 0xFFFFFFFF), ctx.full(u, 32)
    xu, yu = (ctx.convert(v, ctx.type(u)) for v in (x, y))

    def parts(v):
        return _one(ctx, "shift_right_logical", v, half), _one(ctx, "and", v, mask)

    def total(*terms):
        first, *others = terms
        for v in others:
            first = _one(ctx, "add", first, v)
        return first

    (a, b), (c, d) = parts(xu), parts(yu)
    products = [_one(ctx, "multiply", p, q) for p, q in ((b, d), (a, d), (b, c), (a, c))]
    (low, _), (up, right), (down, left) = map(parts, products[:3])
    carry, _ = parts(total(low, right, left))
    found = total(products[3], up, down, carry)
    if dtypes.kind(t.dtype) == "uint":
        return found
    for v, other in ((x, yu), (y, xu)):  # a negative number stands for itself and 2^64
        negative = _is_below(ctx, v, ctx.full(t, 0), t)
        found = _one(ctx, "subtract", found, ctx.select(negative, other, ctx.full(u, 0)))
    return ctx.convert(found, ctx.type(t.strong()))
