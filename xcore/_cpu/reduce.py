"""The largest and the smallest elements, with their NaNs."""

from __future__ import annotations

import functools
import math

import numpy as np

from .._core import Alternative, ArrayType, dtypes
from .rows import is_worth_it, on_rows

# On a CPU large reductions go to a library whose maximum and minimum lose NaNs. quirk: EXTREMUM_LOSES_NAN
# What replaces that depends on the axes; in ms for 10⁶ float32 on two cores, the library first:
#   the last axes: 0.23, the extremum reduced together with "is a NaN", which XLA vectorises: 0.25
#   all axes: 0.24, the same after the array was folded once: 0.24
#   few elements each: 9.0, a comparison that keeps NaNs: 0.2
#   other axes: 0.28, folded until there are few: 0.18
# Folding takes the extremum of slices, element by element. For small arrays more kernels cost more
# than they save: there the library works on other axes, with a sum that shows whether a NaN was there.

_FEW, _LARGE, _SLICES, _MANY_RESULTS = 32, 2**16, 16, 64


EXTREMA = ("stablehlo.maximum", "stablehlo.minimum")


def may_lose_nans(ctx, x: ArrayType, *, axes) -> bool:
    return dtypes.is_floating(x.dtype) and is_worth_it(ctx, x)


def _elements_each(t: ArrayType, axes) -> int:
    """How many elements go into one result."""
    return math.prod(t.shape[i] for i in axes)


def extremum_with_nans(ctx, hlo: str, x, init, axes):
    t = ctx.in_types[0]
    large = t.size >= _LARGE
    if _elements_each(t, axes) <= _FEW:
        return _extremum_by_comparison(ctx, hlo, x, init, axes)
    if sorted(axes) == list(range(t.ndim - len(axes), t.ndim)):
        if large and ctx.out_types[0].size < _MANY_RESULTS:
            x, t = _along_longest(ctx, hlo, x, t, axes)
        return _extremum_with_flag(ctx, hlo, x, t, init, axes)
    if not large:
        return _extremum_by_library(ctx, hlo, x, init, axes)
    while _elements_each(t, axes) > _FEW:
        x, t = _along_longest(ctx, hlo, x, t, axes)
    return _extremum_by_comparison(ctx, hlo, x, init, axes)


def _along_longest(ctx, hlo: str, x, t: ArrayType, axes):
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


_LONG_ROW = 64  # for which a kernel on the host is faster: of 10⁶ float32 by 20 times. quirk: ARG_EXTREMUM_SLOW


def position_in_rows(kernel: str) -> Alternative:
    """The position of an extremal element along an axis, by a kernel on rows."""

    def applies(ctx, x, *, axis, dtype) -> bool:
        return x.shape[axis] >= _LONG_ROW and is_worth_it(ctx, x)

    def lower(ctx, x, *, axis, dtype):
        source = ctx.in_types[0]
        one = ArrayType((*source.shape[:axis], 1, *source.shape[axis + 1 :]), dtypes.int32)
        [out] = on_rows(ctx, kernel, [(x, source)], axis, [one])
        out = ctx.reshape(out, ctx.tensor(ctx.out_types[0].shape, dtypes.int32))
        return out if dtype == dtypes.int32 else ctx.convert(out, ctx.out())

    return Alternative(applies, lower)
