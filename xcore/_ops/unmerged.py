"""How sums, products and quotients are written, so that the compiler does not put their numbers together.

XLA makes a / b / c into a / (b * c), x * c * d into x * (c * d), the product of all x * c into c^n times that of
all x, and x + c - c into x: products overflow or vanish where no quotient does, and rounding to a grid by
(x + c) - c does nothing. It does not look through a choice. (tests/numpy/test_division.py)
"""

from __future__ import annotations

import functools
import math

import numpy as np

from .._core import ArrayType, dtypes


def as_it_is(ctx, x, t, *others):
    """x, of type t, by way of a choice, so that the compiler does not see what it was made by.

    It is NaN where it is NaN, too; or where others are, if they are given.
    """
    bools = ctx.tensor(t.shape, bool)
    return _unless(ctx, [ctx.compare(y, y, bools, "NE") for y in others or (x,)], x, t)


def _unless(ctx, conditions, x, t):
    """x, of type t, and NaN where one of the conditions holds."""
    bools = ctx.tensor(t.shape, bool)
    one = functools.reduce(lambda a, b: ctx.one("stablehlo.or", bools, [a, b]), conditions)
    return ctx.select(one, ctx.full(t, math.nan), x)


def _nowhere(ctx, t):
    """False at every element of type t, of which the compiler sees neither that nor that it repeats."""
    size = math.prod(t.shape)
    flat, whole = [
        ArrayType(shape, np.dtype("int32" if size < 2**31 else "int64"))
        for shape in ((size,), t.shape)
    ]
    positions = ctx.reshape(ctx.iota(ctx.type(flat), 0), ctx.type(whole))
    return ctx.compare(positions, ctx.full(whole, -1), ctx.tensor(t.shape, bool), "EQ")


def _pairwise(name: str, numbers_merge):
    """How an operation of two arguments is written. ``numbers_merge`` takes (ctx, x, number, t)."""

    def lower(ctx, x, y):
        t = ctx.out_types[0]
        if ctx.reassociates and dtypes.is_inexact(t.dtype):  # quirk: REASSOCIATES
            if numbers_merge(ctx, x, ctx.number(y), t):
                x = as_it_is(ctx, x, t)
            elif numbers_merge(ctx, y, ctx.number(x), t):
                y = as_it_is(ctx, y, t)
        return ctx.one(name, ctx.out(), [x, y])

    return lower


def _is_sum_with_number(ctx, x, c: float | None, t) -> bool:
    return c is not None and ctx.has_term(x)


def _is_too_far(ctx, x, c: float | None, t) -> bool:
    """Whether x * c has numbers c and d in it whose product is too large or too small for their type."""
    if not c:
        return False
    limits = dtypes.finfo(t.dtype)
    products = [abs(c * d) for d in ctx.factors(x) if d]
    return any([not float(limits.tiny) <= p <= float(limits.max) for p in products])


add_lower = _pairwise("stablehlo.add", _is_sum_with_number)
sub_lower = _pairwise("stablehlo.subtract", _is_sum_with_number)
mul_lower = _pairwise("stablehlo.multiply", _is_too_far)


def quotient(ctx, x, y, t):
    """x / y of inexact numbers."""
    if ctx.may_repeat(y) or ctx.may_be_quotient(y) or ctx.has_reciprocal(y):
        # quirk: DIVIDES_BY_RECIPROCAL, which rounds twice and vanishes for large numbers. It leaves alone
        # a divisor that depends on x, unless x is a number; NaN / NaN is NaN too.
        y = as_it_is(ctx, y, t, x, *[y] * ctx.may_be_known(x))
        if ctx.may_be_known(x):  # nor is a choice one, all parts of which repeat as x does
            y = _unless(ctx, [_nowhere(ctx, t)], y, t)
    if ctx.may_be_quotient(x):  # quirk: DIVIDES_ONCE
        x = as_it_is(ctx, x, t)
    return ctx.one("stablehlo.divide", ctx.out(), [x, y])


def product(ctx, x, t, init, axes):
    """The product of elements along axes; x is of type t."""
    if dtypes.is_inexact(t.dtype) and ctx.may_be_multiple(x):  # quirk: PRODUCT_OF_MULTIPLES
        x = as_it_is(ctx, x, t)
    return ctx.reduce_with("stablehlo.multiply", x, init, ctx.out(), axes)
