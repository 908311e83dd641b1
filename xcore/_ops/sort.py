"""Sorting several arrays together, and the k largest elements."""

from __future__ import annotations

import numpy as np

from .._core import ArrayType, Op, dtypes, errors, typeof
from .._core.host import FLOATS, WHOLE, Step
from .._cpu.sort import SORT, TOP_K
from .families import broadcast
from .layout import as_bytes, iota, reshape
from .slicing import GatherDims, gather


def _sort_type(*xs, axis, num_keys=1, stable=True):
    for x in xs[1:]:
        if x.shape != xs[0].shape:
            raise errors.shape_mismatch("sort", first=xs[0], other=x)
    if not 0 <= axis < xs[0].ndim:
        raise errors.bad_axis("sort", axis, xs[0].ndim)
    return list(xs)


def _sort_lower(ctx, *xs, axis, num_keys=1, stable=True):
    boolean = ctx.tensor((), bool)
    kinds = [dtypes.kind(t.dtype) for t in ctx.in_types[:num_keys]]

    def less(*pairs):
        """Lexicographic order of the keys."""
        result = None
        for k in reversed(range(num_keys)):
            before, equal = _key_order(ctx, pairs[2 * k], pairs[2 * k + 1], kinds[k], boolean)
            if result is None:
                result = before
            else:
                later = ctx.one("stablehlo.and", boolean, [equal, result])
                result = ctx.one("stablehlo.or", boolean, [before, later])
        return result

    pairs = [as_bytes(ctx, x, t) for x, t in zip(xs, ctx.in_types, strict=True)]
    return _narrowed(ctx, ctx.sort([x for x, _ in pairs], axis, less, stable), pairs)


def _narrowed(ctx, outs, pairs) -> list:
    """Results in the dtypes that are expected of them, where the operands came as bytes."""
    want = zip(outs, pairs, ctx.out_types, strict=False)
    return [y if u.dtype == t.dtype else ctx.convert(y, ctx.type(t)) for y, (_, u), t in want]


def _key_order(ctx, a, b, kind, boolean):
    """(a before b, a equal to b); NaN comes last, -0 equals 0."""
    if kind == "complex":
        return _complex_order(ctx, a, b, boolean)
    if kind == "float":
        a, b = _canonical_float(ctx, a, boolean), _canonical_float(ctx, b, boolean)
    total = kind == "float"
    before = ctx.compare(a, b, boolean, "LT", total_order=total)
    return before, ctx.compare(a, b, boolean, "EQ", total_order=total)


def _complex_order(ctx, a, b, boolean):
    """By real part, then imaginary part; behind them what has a NaN there, or there only."""
    part = ctx.real_type_of(a)
    parts = [[ctx.one(f"stablehlo.{name}", part, [z]) for z in (a, b)] for name in ("real", "imag")]
    nans = [[ctx.compare(x, x, boolean, "NE") for x in pair] for pair in parts]
    keys = [_key_order(ctx, *pair, "bool", boolean) for pair in nans]
    keys += [_key_order(ctx, *pair, "float", boolean) for pair in parts]
    before, equal = keys[0]
    for earlier, same in keys[1:]:
        tie = ctx.one("stablehlo.and", boolean, [equal, earlier])
        before = ctx.one("stablehlo.or", boolean, [before, tie])
        equal = ctx.one("stablehlo.and", boolean, [equal, same])
    return before, equal


def _canonical_float(ctx, x, boolean):
    """Map -0 to 0 and all NaN to one, so that the total order agrees with <."""
    zero = ctx.scalar(0.0, x)
    x = ctx.select(ctx.compare(x, zero, boolean, "EQ"), zero, x)
    return ctx.select(ctx.compare(x, x, boolean, "NE"), ctx.scalar(float("nan"), x), x)


def take_along(x, indices, axis: int):
    """The elements of x at positions along one axis; other axes run together."""
    t = typeof(indices)
    dims = GatherDims(
        (), (axis,), (axis,), tuple(i for i in range(t.ndim) if i != axis),
        tuple(i for i in range(t.ndim) if i != axis),
    )  # fmt: skip
    from_rows = reshape(indices, shape=(*t.shape, 1))
    return gather(x, from_rows, dims=dims, sizes=(1,) * t.ndim, mode="promise")


def _sort_jvp(primals, tangents, *, axis, num_keys=1, stable=True):
    shape = typeof(primals[0]).shape
    numbers = iota(shape=shape, dtype=dtypes.int32, axis=axis)
    *outs, order = sort(*primals, numbers, axis=axis, num_keys=num_keys, stable=stable)
    return outs, [None if g is None else take_along(g, order, axis) for g in tangents]


def _sort_batch(size, args, batched, *, axis, num_keys=1, stable=True):
    full = [x if b else broadcast(x, size) for x, b in zip(args, batched, strict=True)]
    outs = sort(*full, axis=axis + 1, num_keys=num_keys, stable=stable)
    return outs, [True] * len(outs)


def _sort_host(types, *, axis, num_keys=1, stable=True):
    if len(types) == 1:
        return lambda x: np.sort(x, axis)
    if num_keys > 1 or not stable:
        return None

    def together(*xs):
        order = np.argsort(xs[0], axis, kind="stable")
        if xs[0].ndim == 1:
            return [x[order] for x in xs]
        return [np.take_along_axis(x, order, axis) for x in xs]

    return together


sort = Op(
    "sort",
    type=_sort_type,
    lower=_sort_lower,
    alternatives=[SORT],
    jvp=_sort_jvp,
    batch=_sort_batch,
    many=True,
    host=Step(_sort_host, "orders", FLOATS | WHOLE),
)


def _top_k_type(x, *, k):
    if not x.ndim or not 0 <= k <= x.shape[-1]:
        raise errors.bad_argument("lax.top_k", "k", k, f"between 0 and the last axis of {x}")
    shape = (*x.shape[:-1], k)
    return [x.with_shape(shape), ArrayType(shape, dtypes.int32)]


def _top_k_jvp(primals, tangents, *, k):
    values, where = top_k(*primals, k=k)
    return [values, where], [take_along(tangents[0], where, typeof(where).ndim - 1), None]


def _top_k_lower(ctx, x, *, k):
    wide, u = as_bytes(ctx, x, ctx.in_types[0])
    values, where = ctx.out_types
    found = ctx.top_k(wide, k, [ctx.tensor(values.shape, u.dtype), ctx.type(where)])
    return [*_narrowed(ctx, found, [(wide, u)]), found[1]]


top_k = Op(
    "top_k",
    type=_top_k_type,
    lower=_top_k_lower,
    alternatives=[TOP_K],
    jvp=_top_k_jvp,
    batch=lambda size, args, batched, *, k: (top_k(args[0], k=k), [True, True]),
    many=True,
)
