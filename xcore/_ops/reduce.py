"""Reductions along axes."""

from __future__ import annotations

import functools
import math

import numpy as np

from .._core import dtypes, errors
from .._core.op import Op
from .._core.types import ArrayType, typeof
from . import host
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


def _kept(x, axes) -> tuple:
    return tuple(i for i in range(typeof(x).ndim) if i not in axes)


def spread_back(y, x, axes):
    """A reduced value at every place it was reduced from."""
    return broadcast_in_dim(y, shape=typeof(x).shape, dims=_kept(x, axes))


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


def _reduction(name: str, hlo: str, identity, kinds, jvp=None):
    """An operation that combines the elements along axes by an associative one."""

    def type_rule(x, *, axes):
        check_kind(name, x.dtype, kinds)
        check_axes(name, x, axes)
        return [x.with_shape(reduced_shape(x.shape, axes))]

    def lower(ctx, x, *, axes):
        init = ctx.full(ArrayType((), ctx.out_types[0].dtype), identity(ctx.out_types[0].dtype))
        if _may_lose_nans(ctx, hlo):
            return _extremum_with_nans(ctx, hlo, x, init, axes)
        return ctx.reduce_with(hlo, x, init, ctx.out(), axes)

    def batch(size, args, batched, *, axes):
        return [op(args[0], axes=tuple(a + 1 for a in axes))], [True]

    def jvp_rule(primals, tangents, *, axes):
        out = op(*primals, axes=axes)
        return [out], [jvp(tangents[0], out, *primals, axes) if jvp else None]

    op = Op(name, type=type_rule, lower=lower, jvp=jvp_rule, batch=batch)
    return op


# On a CPU large reductions go to a library whose maximum and minimum lose NaNs. quirk: EXTREMUM_LOSES_NAN
# What replaces that depends on the axes; in ms for 10⁶ float32 on two cores, the library first:
#   the last axes: 0.23, the extremum reduced together with "is a NaN", which XLA vectorises: 0.25
#   all axes: 0.24, the same after the array was folded once: 0.24
#   few elements each: 9.0, a comparison that keeps NaNs: 0.2
#   other axes: 0.28, folded until there are few: 0.18
# Folding takes the extremum of slices, element by element. For small arrays more kernels cost more
# than they save: there the library works on other axes, with a sum that shows whether a NaN was there.

_FEW, _LARGE, _SLICES, _MANY_RESULTS = 32, 2**16, 16, 64


def _may_lose_nans(ctx, hlo: str) -> bool:
    t = ctx.in_types[0]
    extremum = hlo in ("stablehlo.maximum", "stablehlo.minimum")
    return extremum and dtypes.is_floating(t.dtype) and host.applies(ctx, t)


def _elements_each(t: ArrayType, axes) -> int:
    """How many elements go into one result."""
    return math.prod(t.shape[i] for i in axes)


def _extremum_with_nans(ctx, hlo: str, x, init, axes):
    t = ctx.in_types[0]
    large = t.size >= _LARGE
    if _elements_each(t, axes) <= _FEW:
        return _extremum_by_comparison(ctx, hlo, x, init, axes)
    if sorted(axes) == list(range(t.ndim - len(axes), t.ndim)):
        if large and ctx.out_types[0].size < _MANY_RESULTS:
            x, t = _folded(ctx, hlo, x, t, axes)
        return _extremum_with_flag(ctx, hlo, x, t, init, axes)
    if not large:
        return _extremum_by_library(ctx, hlo, x, init, axes)
    while _elements_each(t, axes) > _FEW:
        x, t = _folded(ctx, hlo, x, t, axes)
    return _extremum_by_comparison(ctx, hlo, x, init, axes)


def _folded(ctx, hlo: str, x, t: ArrayType, axes):
    """The extremum of slices along the longest axis, and its type. They may overlap: it is the same."""
    axis = max(axes, key=lambda i: t.shape[i])
    n = t.shape[axis]
    length = -(-n // _SLICES)
    part = ArrayType((*t.shape[:axis], length, *t.shape[axis + 1 :]), t.dtype)
    starts = sorted({min(i * length, n - length) for i in range(_SLICES)})

    def cut(start: int):
        low = [start * (i == axis) for i in range(t.ndim)]
        high = [a + b for a, b in zip(low, part.shape, strict=True)]
        return ctx.slice(x, ctx.type(part), low, high, [1] * t.ndim)

    both = lambda a, b: ctx.one(hlo, ctx.type(part), [a, b])  # noqa: E731
    return ctx.fence(functools.reduce(both, map(cut, starts))), part


def _extremum_with_flag(ctx, hlo: str, x, t: ArrayType, init, axes):
    """One pass, which also finds out where a NaN was; its flags are as wide as the numbers."""
    flag, shape = np.dtype(f"int{8 * t.dtype.itemsize}"), ctx.out_types[0].shape
    flags = ctx.compare(x, x, ctx.tensor(t.shape, bool), "NE")
    flags = ctx.convert(flags, ctx.tensor(t.shape, flag))
    results = [ctx.out(), ctx.tensor(shape, flag)]

    def combine(a, a_nan, b, b_nan):
        return [ctx.one(hlo, a.type, [a, b]), ctx.one("stablehlo.or", a_nan.type, [a_nan, b_nan])]

    inits = [init, ctx.full(ArrayType((), flag), 0)]
    top, nan = ctx.reduce([x, flags], inits, results, axes, combine)
    nothing = ctx.full(ArrayType(shape, flag), 0)
    nan = ctx.compare(nan, nothing, ctx.tensor(shape, bool), "NE")
    return ctx.select(nan, ctx.full(ctx.out_types[0], np.nan), top)


def _extremum_by_comparison(ctx, hlo: str, x, init, axes):
    def combine(a, b):
        boolean, order = ctx.tensor((), bool), "GT" if hlo.endswith("maximum") else "LT"
        better, nan = ctx.compare(a, b, boolean, order), ctx.compare(a, a, boolean, "NE")
        return [ctx.select(ctx.one("stablehlo.or", boolean, [better, nan]), a, b)]

    return ctx.reduce([x], [init], [ctx.out()], axes, combine)[0]


def _extremum_by_library(ctx, hlo: str, x, init, axes):
    """The comparison takes over only if the sum of all elements is a NaN."""
    t = ctx.in_types[0]
    fast = ctx.reduce_with(hlo, x, init, ctx.out(), axes)
    scalar = ctx.tensor((), t.dtype)
    total = ctx.reduce_with("stablehlo.add", x, ctx.scalar(0, x), scalar, range(t.ndim))
    found = ctx.compare(total, total, ctx.tensor((), bool), "NE")
    found = ctx.convert(found, ctx.tensor((), dtypes.int32))
    again = lambda: [_extremum_by_comparison(ctx, hlo, x, init, axes)]  # noqa: E731
    return ctx.case(found, [ctx.out()], [lambda: [fast], again])[0]


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


reduce_max = _reduction("reduce_max", "stablehlo.maximum", lowest, REALS | {"bool"}, _extremum_jvp)
reduce_min = _reduction("reduce_min", "stablehlo.minimum", highest, REALS | {"bool"}, _extremum_jvp)
reduce_prod = _reduction("reduce_prod", "stablehlo.multiply", lambda d: 1, NUMBERS, _prod_jvp)
reduce_and = _reduction("reduce_and", "stablehlo.and", _all_bits, BITS)
reduce_or = _reduction("reduce_or", "stablehlo.or", lambda d: 0, BITS)
reduce_xor = _reduction("reduce_xor", "stablehlo.xor", lambda d: 0, BITS)


# Argmax and argmin


def _arg_type(name):
    def rule(x, *, axis, dtype):
        check_kind(name, x.dtype, REALS | {"bool"})
        if not 0 <= axis < x.ndim or x.shape[axis] == 0:
            raise errors.shape_mismatch(name, f"need elements along axis {axis}", x=x)
        return [ArrayType(reduced_shape(x.shape, (axis,)), dtype)]

    return rule


_LONG_ROW = 64  # for which a kernel on the host is faster: of 10⁶ float32 by 20 times


def _arg_reduction(name: str, direction: str, identity):
    """The position of the first extremal element; a NaN counts as more extremal than anything."""

    def lower(ctx, x, *, axis, dtype):
        source = ctx.in_types[0]
        if source.shape[axis] >= _LONG_ROW and host.applies(ctx, source):
            one = ArrayType((*source.shape[:axis], 1, *source.shape[axis + 1 :]), dtypes.int32)
            [out] = host.on_rows(ctx, f"{name}_rows", [(x, source)], axis, [one])
            out = ctx.reshape(out, ctx.tensor(ctx.out_types[0].shape, dtypes.int32))
            return out if dtype == dtypes.int32 else ctx.convert(out, ctx.out())
        x, source = as_bytes(ctx, x, source)
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

    op = Op(name, type=_arg_type(name), lower=lower, jvp=jvp, batch=batch)
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
