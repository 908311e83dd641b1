"""Operations that move elements without computing: reshape, transpose, rev, iota, concatenate."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING

import numpy as np

from .._core import ArrayType, Linear, Op, errors, typeof
from .._core.dtypes import bool_, int2, int4, int8, uint2, uint4
from .._core.host import FLOATS, WHOLE, Step, moves, window
from .elementwise import select, sub
from .families import (
    NUMBERS,
    all_weak,
    broadcast,
    broadcast_in_dim,
    check_kind,
    full_like_type,
    linear_op,
    reduce_sum,
    zeros,
)  # fmt: skip

if TYPE_CHECKING:
    from .._core.typing import Operand


def _reshape_type(x, *, shape):
    if math.prod(shape) != x.size:
        raise errors.shape_mismatch("reshape", f"cannot take the shape {shape}", x=x)
    return [x.with_shape(tuple(shape))]


reshape = linear_op(
    "reshape",
    type=_reshape_type,
    lower=lambda ctx, x, *, shape: ctx.reshape(x, ctx.out()),
    transpose=lambda ct, x, *, shape: reshape(ct, shape=x.type.shape),
    batch=lambda size, args, batched, *, shape: ([reshape(args[0], shape=(size, *shape))], [True]),
    host=moves(lambda types, *, shape: lambda x: x.reshape(shape)),
)


def _transpose_type(x, *, perm):
    if sorted(perm) != list(range(x.ndim)):
        raise errors.shape_mismatch("transpose", f"need a permutation of its axes, not {perm}", x=x)
    return [x.with_shape(tuple(x.shape[p] for p in perm))]


def _inverse(perm) -> tuple:
    return tuple(sorted(range(len(perm)), key=perm.__getitem__))


transpose = linear_op(
    "transpose",
    type=_transpose_type,
    lower=lambda ctx, x, *, perm: ctx.transpose(x, ctx.out(), perm),
    transpose=lambda ct, x, *, perm: transpose(ct, perm=_inverse(perm)),
    batch=lambda size, args, batched, *, perm: (
        [transpose(args[0], perm=(0, *(p + 1 for p in perm)))], [True],
    ),
    host=moves(lambda types, *, perm: lambda x: x.transpose(perm)),
)  # fmt: skip


def move_axis(x: Operand, source: int, target: int) -> Operand:
    """One axis moved, the others in order."""
    if source == target:
        return x
    perm = [i for i in range(typeof(x).ndim) if i != source]
    perm.insert(target, source)
    return transpose(x, perm=tuple(perm))


def split_axis(x, axis: int, parts: int):
    """The axis split in two, the number of parts first."""
    t = typeof(x)
    return reshape(x, shape=(*t.shape[:axis], parts, t.shape[axis] // parts, *t.shape[axis + 1 :]))


def merge_axes(x, axis: int):
    """Axes ``axis`` and ``axis + 1`` as one."""
    s = typeof(x).shape
    return reshape(x, shape=(*s[:axis], s[axis] * s[axis + 1], *s[axis + 2 :]))


def _rev_type(x, *, axes):
    if len(set(axes)) < len(axes) or not all(0 <= a < x.ndim for a in axes):
        raise errors.shape_mismatch("rev", f"has no axes {axes}, or has one of them twice", x=x)
    return [x]


rev = linear_op(
    "rev",
    type=_rev_type,
    lower=lambda ctx, x, *, axes: ctx.one(
        "stablehlo.reverse", ctx.out(), [x], dimensions=ctx.i64s(axes)
    ),
    transpose=lambda ct, x, *, axes: rev(ct, axes=axes),
    batch=lambda size, args, batched, *, axes: (
        [rev(args[0], axes=tuple(a + 1 for a in axes))],
        [True],
    ),
    host=moves(lambda types, *, axes: lambda x: np.flip(x, axes)),
)


def _iota_type(*, shape, dtype, axis):
    check_kind("iota", dtype, NUMBERS)
    return [ArrayType(shape, dtype)]


def _iota_host(types, *, shape, dtype, axis):
    column = np.arange(shape[axis], dtype=dtype).reshape([-1, *[1] * (len(shape) - axis - 1)])
    numbers = np.broadcast_to(column, shape)
    return lambda: numbers


iota = Op(
    "iota",
    type=_iota_type,
    lower=lambda ctx, *, shape, dtype, axis: ctx.iota(ctx.out(), axis),
    host=Step(_iota_host, "moves", FLOATS | WHOLE),
)


def _concatenate_type(*xs, axis):
    first = xs[0]
    for x in xs:
        if x.dtype != first.dtype:
            raise errors.dtype_mismatch("concatenate", first=first, other=x)
        same = x.ndim == first.ndim and all(
            i == axis or a == b for i, (a, b) in enumerate(zip(x.shape, first.shape, strict=True))
        )
        if not same:
            raise errors.shape_mismatch(
                "concatenate", f"must agree but for axis {axis}", first=first, other=x
            )
    shape = list(first.shape)
    shape[axis] = sum(x.shape[axis] for x in xs)
    return [ArrayType(tuple(shape), first.dtype, all_weak(xs))]


def _concatenate_jvp(primals, tangents, *, axis):
    known = [zeros(typeof(p)) if t is None else t for p, t in zip(primals, tangents, strict=True)]
    return [concatenate(*primals, axis=axis)], [concatenate(*known, axis=axis)]


def slice_along(x, axis: int, start: int, stop: int, step: int = 1):
    """The elements start, start + step, … before stop of one axis."""
    t = typeof(x)
    low, high, strides = [0] * t.ndim, list(t.shape), [1] * t.ndim
    low[axis], high[axis], strides[axis] = start, stop, step
    return slice(x, start=tuple(low), limit=tuple(high), strides=tuple(strides))


def _concatenate_transpose(cotangents, *xs, axis):
    from_here, out = 0, []
    for x in xs:
        t = typeof(x)
        stop = from_here + t.shape[axis]
        out.append(
            slice_along(cotangents[0], axis, from_here, stop) if isinstance(x, Linear) else None
        )
        from_here = stop
    return out


def _concatenate_batch(size, args, batched, *, axis):
    full = [x if b else broadcast(x, size) for x, b in zip(args, batched, strict=True)]
    return [concatenate(*full, axis=axis + 1)], [True]


def as_bytes(ctx, x, t: ArrayType):
    """A value and its type; narrow integers as bytes, to be sorted. quirk: INT2_SORT_WRONG"""
    if t.dtype not in (int2, uint2, int4, uint4):
        return x, t
    wide = ArrayType(t.shape, int8)
    return ctx.convert(x, ctx.type(wide)), wide


def _by_bytes(ctx, xs, build):
    """The result of ``build``; 2-bit integers as bytes. quirk: INT2_CONCATENATE_ABORTS"""
    t = ctx.out_types[0]
    if t.dtype not in (int2, uint2):
        return build(xs, ctx.out())
    wide = [as_bytes(ctx, x, u)[0] for x, u in zip(xs, ctx.in_types, strict=True)]
    return ctx.convert(build(wide, ctx.tensor(t.shape, int8)), ctx.out())


concatenate = Op(
    "concatenate",
    type=_concatenate_type,
    lower=lambda ctx, *xs, axis: _by_bytes(ctx, xs, lambda ys, t: ctx.concatenate(ys, t, axis)),
    jvp=_concatenate_jvp,
    transpose=_concatenate_transpose,
    batch=_concatenate_batch,
    host=moves(lambda types, *, axis: lambda *xs: np.concatenate(xs, axis)),
)

# Slice and pad


def _slice_type(x, *, start, limit, strides):
    legal = len(start) == len(limit) == len(strides) == x.ndim and all(
        0 <= a <= b <= n and s >= 1
        for a, b, s, n in zip(start, limit, strides, x.shape, strict=True)
    )
    if not legal:
        raise errors.shape_mismatch(
            "slice", f"has no elements {start} to {limit} by {strides}", x=x
        )
    return [
        x.with_shape(tuple(-(-(b - a) // s) for a, b, s in zip(start, limit, strides, strict=True)))
    ]


def _slice_transpose(ct, x, *, start, limit, strides):
    got = typeof(ct).shape
    last = [a + (n - 1) * s + 1 if n else a for a, n, s in zip(start, got, strides, strict=True)]
    high = tuple(n - b for n, b in zip(x.type.shape, last, strict=True))
    # an empty result covers no stretch of the input: its padding starts where it would have
    inner = tuple(s - 1 for s in strides)
    return pad(ct, _zero(ct), low=tuple(start), high=high, interior=inner)


def _zero(x):
    return zeros(ArrayType((), typeof(x).dtype))


def _slice_batch(size, args, batched, *, start, limit, strides):
    return [slice(args[0], start=(0, *start), limit=(size, *limit), strides=(1, *strides))], [True]


slice = linear_op(
    "slice",
    type=_slice_type,
    lower=lambda ctx, x, *, start, limit, strides: ctx.slice(x, ctx.out(), start, limit, strides),
    transpose=_slice_transpose,
    batch=_slice_batch,
    host=moves(lambda types, **params: operator.itemgetter(window(**params))),
)


def _pad_type(x, value, *, low, high, interior):
    if value.dtype != x.dtype or value.shape:
        raise errors.shape_mismatch(
            "pad", "need a 0-d padding value of their dtype", x=x, value=value
        )
    if min(interior, default=0) < 0:
        raise errors.bad_argument("pad", "interior", interior, "made of numbers of 0 or more")
    shape = tuple(
        a + b + n + max_gap(n) * i for a, b, n, i in zip(low, high, x.shape, interior, strict=True)
    )
    if any(n < 0 for n in shape):
        raise errors.shape_mismatch("pad", f"cannot be cut by {low}, {high}", x=x)
    return [ArrayType(shape, x.dtype, x.weak)]


def max_gap(n: int) -> int:
    """The number of gaps between n elements."""
    return n - 1 if n > 1 else 0


def _pad_jvp(primals, tangents, *, low, high, interior):
    known = [zeros(typeof(p)) if t is None else t for p, t in zip(primals, tangents, strict=True)]
    where = {"low": low, "high": high, "interior": interior}
    return [pad(*primals, **where)], [pad(*known, **where)]


def _pad_transpose(cotangents, x, value, *, low, high, interior):
    (ct,) = cotangents
    back = None
    zero = _zero(ct)
    opposite = (tuple(-n for n in low), tuple(-n for n in high))
    # negative padding cuts; what is left is every (interior + 1)-th element
    cut = pad(ct, zero, low=opposite[0], high=opposite[1], interior=(0,) * len(low))
    steps = tuple(i + 1 for i in interior)
    t = typeof(cut)
    back = (
        cut if set(steps) <= {1} else slice(cut, start=(0,) * t.ndim, limit=t.shape, strides=steps)
    )
    outer = None
    if isinstance(value, Linear):
        axes = tuple(range(typeof(ct).ndim))
        outer = sub(reduce_sum(ct, axes=axes), reduce_sum(back, axes=axes))
    return [back if isinstance(x, Linear) else None, outer]


def _pad_batch(size, args, batched, *, low, high, interior):
    x, value = args
    if batched[1]:  # every batch element its own value: pad with zeros, then select
        return [_pad_by_select(size, x, value, batched[0], low, high, interior)], [True]
    where = {"low": (0, *low), "high": (0, *high), "interior": (0, *interior)}
    return [pad(x, value, **where)], [True]


def _pad_by_select(size, x, value, x_batched, low, high, interior):
    x = x if x_batched else broadcast(x, size)
    where = {"low": (0, *low), "high": (0, *high), "interior": (0, *interior)}
    padded = pad(x, _zero(x), **where)
    inside = pad(
        full_like_type(ArrayType(typeof(x).shape, bool_), True),
        zeros(ArrayType((), bool_)),
        **where,
    )
    outside = broadcast_in_dim(value, shape=typeof(padded).shape, dims=(0,))
    return select(inside, padded, outside)


def _pad_lower(ctx, x, value, *, low, high, interior):
    build = lambda xs, result: ctx.pad(*xs, result, low, high, interior)  # noqa: E731
    return _by_bytes(ctx, (x, value), build)


pad = Op(
    "pad",
    type=_pad_type,
    lower=_pad_lower,
    jvp=_pad_jvp,
    transpose=_pad_transpose,
    batch=_pad_batch,
)
