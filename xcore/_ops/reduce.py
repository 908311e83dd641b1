"""Reductions along axes."""

from __future__ import annotations

import numpy as np

from .._core import Alternative, ArrayType, Op, dtypes, errors, typeof
from .._core.host import FLOATS, WHOLE, Step, totals
from .._cpu.reduce import EXTREMA, extremum_with_nans, may_lose_nans, position_in_rows
from .elementwise import convert, div, eq, mul
from .families import (
    BITS,
    NUMBERS,
    REALS,
    add,
    broadcast_in_dim,
    check_axes,
    check_kind,
    full_like_type,
    reduce_sum,
    reduced_shape,
)  # fmt: skip
from .layout import as_bytes, pad, reshape, slice
from .unmerged import product


def _remaining_axes(x, axes) -> tuple:
    return tuple(i for i in range(typeof(x).ndim) if i not in axes)


def spread_back(y, x, axes):
    """A reduced value at every place it was reduced from."""
    return broadcast_in_dim(y, shape=typeof(x).shape, dims=_remaining_axes(x, axes))


def lowest(dtype):
    """The identity of max."""
    if dtypes.is_floating(dtype):
        return -np.inf
    return False if dtype == bool else dtypes.iinfo(dtype).min


def highest(dtype):
    """The identity of min."""
    if dtypes.is_floating(dtype):
        return np.inf
    return True if dtype == bool else dtypes.iinfo(dtype).max


def _all_bits(dtype):
    """The identity of and."""
    return -1 if dtypes.kind(dtype) == "int" else highest(dtype)


def _reduction(name: str, hlo: str, identity, kinds, jvp=None, host=None):
    """An operation that combines the elements along axes by an associative one."""

    def type_rule(x, *, axes):
        check_kind(name, x.dtype, kinds)
        check_axes(name, x, axes)
        return [x.with_shape(reduced_shape(x.shape, axes))]

    def lower(ctx, x, *, axes):
        if hlo == "stablehlo.multiply":
            return product(ctx, x, ctx.in_types[0], init(ctx), axes)
        return ctx.reduce_with(hlo, x, init(ctx), ctx.out(), axes)

    def init(ctx):
        dtype = ctx.out_types[0].dtype
        return ctx.full(ArrayType((), dtype), identity(dtype))

    def keeping_nans(ctx, x, *, axes):
        return extremum_with_nans(ctx, hlo, x, init(ctx), axes)

    def batch(size, args, batched, *, axes):
        return [op(args[0], axes=tuple(a + 1 for a in axes))], [True]

    def jvp_rule(primals, tangents, *, axes):
        out = op(*primals, axes=axes)
        return [out], [jvp(tangents[0], out, *primals, axes) if jvp else None]

    ways = [Alternative(may_lose_nans, keeping_nans, needed=True)] if hlo in EXTREMA else []
    op = Op(
        name, type=type_rule, lower=lower, alternatives=ways, jvp=jvp_rule, batch=batch, host=host
    )
    return op


def _extremum_jvp(g, out, x, axes):
    """Equal extremal elements share the derivative equally."""
    t = typeof(x).strong()
    where = convert(eq(x, spread_back(out, x, axes)), dtype=t.dtype)
    return div(reduce_sum(mul(g, where), axes=axes), reduce_sum(where, axes=axes))


def _prod_jvp(g, out, x, axes):
    """The product rule, half by half: right for any number of zeros (g/x times the product is not)."""
    for axis in sorted(axes, reverse=True):
        x, g = _product_of_halves(x, g, axis)
    return reshape(g, shape=typeof(out).shape)


def _product_of_halves(x, g, axis: int):
    """A product along an axis, which stays with length 1, and its tangent."""
    while (n := typeof(x).shape[axis]) != 1:
        half = -(-n // 2)
        if n != 2 * half or not n:
            x, g = _filled_up(x, axis, 1), _filled_up(g, axis, 0)
            continue
        (a, b), (ga, gb) = _halves(x, axis), _halves(g, axis)
        x, g = mul(a, b), add(mul(ga, b), mul(a, gb))
    return x, g


def _filled_up(x, axis: int, value):
    t = typeof(x)
    high = tuple(int(i == axis) for i in range(t.ndim))
    filler = full_like_type(ArrayType((), t.dtype), value)
    return pad(x, filler, low=(0,) * t.ndim, high=high, interior=(0,) * t.ndim)


def _halves(x, axis: int):
    t = typeof(x)
    half = t.shape[axis] // 2
    start = tuple(half * (i == axis) for i in range(t.ndim))
    limit = tuple(half if i == axis else n for i, n in enumerate(t.shape))
    ones = (1,) * t.ndim
    first = slice(x, start=(0,) * t.ndim, limit=limit, strides=ones)
    return first, slice(x, start=start, limit=t.shape, strides=ones)


reduce_max = _reduction("reduce_max", "stablehlo.maximum", lowest, REALS | {"bool"}, _extremum_jvp,
                        totals(np.maximum, "orders", WHOLE | FLOATS))  # fmt: skip
reduce_min = _reduction("reduce_min", "stablehlo.minimum", highest, REALS | {"bool"}, _extremum_jvp,
                        totals(np.minimum, "orders", WHOLE | FLOATS))  # fmt: skip
reduce_prod = _reduction(
    "reduce_prod", "stablehlo.multiply", lambda d: 1, NUMBERS, _prod_jvp, totals(np.multiply)
)
reduce_and = _reduction("reduce_and", "stablehlo.and", _all_bits, BITS, host=totals(np.bitwise_and))
reduce_or = _reduction("reduce_or", "stablehlo.or", lambda d: 0, BITS, host=totals(np.bitwise_or))
reduce_xor = _reduction(
    "reduce_xor", "stablehlo.xor", lambda d: 0, BITS, host=totals(np.bitwise_xor)
)


# Argmax and argmin


def _arg_type(name):
    def rule(x, *, axis, dtype):
        check_kind(name, x.dtype, REALS | {"bool"})
        if not 0 <= axis < x.ndim or x.shape[axis] == 0:
            raise errors.shape_mismatch(name, f"need elements along axis {axis}", x=x)
        return [ArrayType(reduced_shape(x.shape, (axis,)), dtype)]

    return rule


def _arg_reduction(name: str, direction: str, identity):
    """The position of the first extremal element; a NaN counts as more extremal than anything."""
    first = getattr(np, name)

    def on_host(types, *, axis, dtype):
        return lambda x: first(x, axis).astype(dtype)

    def lower(ctx, x, *, axis, dtype):
        x, source = as_bytes(ctx, x, ctx.in_types[0])
        numbers = ctx.iota(ctx.tensor(source.shape, dtype), axis)
        scalars = ArrayType((), source.dtype), ArrayType((), dtype)
        inits = [ctx.full(scalars[0], identity(source.dtype)), ctx.full(scalars[1], 0)]
        results = [ctx.tensor(ctx.out_types[0].shape, source.dtype), ctx.out()]

        def better(a, i, b, j):
            wins = _precedes(ctx, direction, dtypes.is_floating(source.dtype), a, i, b, j)
            return [ctx.select(wins, a, b), ctx.select(wins, i, j)]

        return ctx.reduce([x, numbers], inits, results, [axis], better)[1]

    def batch(size, args, batched, *, axis, dtype):
        return [op(args[0], axis=axis + 1, dtype=dtype)], [True]

    def jvp(primals, tangents, **params):
        return [op(*primals, **params)], [None]

    op = Op(
        name, type=_arg_type(name), lower=lower, alternatives=[position_in_rows(f"{name}_rows")],
        jvp=jvp, batch=batch, host=Step(on_host, "compares", WHOLE | FLOATS),
    )  # fmt: skip
    return op


def _precedes(ctx, direction, is_float, a, i, b, j):
    """Whether element a at i comes before b at j in the order of an arg reduction."""
    boolean = ctx.tensor((), bool)

    def both(p, q):
        return ctx.one("stablehlo.and", boolean, [p, q])

    def either(p, q):
        return ctx.one("stablehlo.or", boolean, [p, q])

    more, tie = ctx.compare(a, b, boolean, direction), ctx.compare(a, b, boolean, "EQ")
    if is_float:
        a_nan, b_nan = ctx.compare(a, a, boolean, "NE"), ctx.compare(b, b, boolean, "NE")
        more = either(more, both(a_nan, ctx.one("stablehlo.not", boolean, [b_nan])))
        tie = either(tie, both(a_nan, b_nan))
    return either(more, both(tie, ctx.compare(i, j, boolean, "LT")))


argmax = _arg_reduction("argmax", "GT", lowest)
argmin = _arg_reduction("argmin", "LT", highest)
