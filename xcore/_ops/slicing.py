"""Slices and elements at positions known only at run time. Adjoint pairs stand together."""

from __future__ import annotations

import itertools

import numpy as np

from .._core import ArrayType, Linear, Op, dtypes, errors, typeof
from .elementwise import and_, convert, div, eq, ge, le, max, min, mul, select
from .families import broadcast, broadcast_in_dim, constant, full_like_type, zeros
from .layout import concatenate, iota, reshape
from .reduce import reduce_and

# dynamic_slice and dynamic_update_slice
# Start indices are 0-d integers and are clamped so that the slice fits.


def _check_starts(who, x, starts):
    if len(starts) != x.ndim or any(s.shape or not dtypes.is_integer(s.dtype) for s in starts):
        raise errors.shape_mismatch(who, f"need {x.ndim} 0-d integer start indices", x=x)


def _dynamic_slice_type(x, *starts, sizes):
    _check_starts("dynamic_slice", x, starts)
    if len(sizes) != x.ndim or any(not 0 <= s <= n for s, n in zip(sizes, x.shape, strict=True)):
        raise errors.shape_mismatch("dynamic_slice", f"has no slice of sizes {sizes}", x=x)
    return [x.with_shape(tuple(sizes))]


def _dynamic_slice_jvp(primals, tangents, *, sizes):
    starts = primals[1:]
    t = tangents[0]
    moved = None if t is None else dynamic_slice(t, *starts, sizes=sizes)
    return [dynamic_slice(*primals, sizes=sizes)], [moved]


def _dynamic_slice_transpose(cotangents, x, *starts, sizes):
    zero = zeros(ArrayType(x.type.shape, x.type.dtype))
    return [dynamic_update_slice(zero, cotangents[0], *starts), *[None] * len(starts)]


def _dynamic_slice_batch(size, args, batched, *, sizes):
    x, *starts = args
    if not any(batched[1:]):
        zero = full_like_type(typeof(starts[0]).strong(), 0) if starts else np.int32(0)
        return [dynamic_slice(x, zero, *starts, sizes=(size, *sizes))], [True]
    dims = GatherDims.for_slices(len(sizes))
    return gather._batch(size, (x, _stack_starts(size, starts, batched[1:])), (batched[0], True),
                         dims=dims, sizes=tuple(sizes), mode="clip")  # fmt: skip


def _stack_starts(size, starts, batched):
    """Start indices of every batch element as rows of one matrix (in int64 if any of them is)."""
    wide = any(typeof(s).dtype.itemsize == 8 for s in starts)
    dtype = dtypes.int64 if wide else dtypes.int32
    columns = [
        reshape(
            convert(s, dtype=dtype) if b else broadcast(convert(s, dtype=dtype), size),
            shape=(size, 1),
        )
        for s, b in zip(starts, batched, strict=True)
    ]
    return concatenate(*columns, axis=1) if columns else zeros(ArrayType((size, 0), dtype))


dynamic_slice = Op(
    "dynamic_slice",
    type=_dynamic_slice_type,
    lower=lambda ctx, x, *starts, sizes: (
        ctx.dynamic_slice(x, starts, ctx.out(), sizes) if starts else x
    ),
    jvp=_dynamic_slice_jvp,
    transpose=_dynamic_slice_transpose,
    batch=_dynamic_slice_batch,
)


def _update_type(x, update, *starts):
    _check_starts("dynamic_update_slice", x, starts)
    if update.dtype != x.dtype:
        raise errors.dtype_mismatch("dynamic_update_slice", x=x, update=update)
    if update.ndim != x.ndim or any(u > n for u, n in zip(update.shape, x.shape, strict=True)):
        raise errors.shape_mismatch("dynamic_update_slice", "do not fit", x=x, update=update)
    return [x]


def _update_jvp(primals, tangents):
    x, update, *starts = primals
    known = [
        zeros(typeof(p)) if t is None else t for p, t in zip((x, update), tangents[:2], strict=True)
    ]
    return [dynamic_update_slice(*primals)], [dynamic_update_slice(*known, *starts)]


def _update_transpose(cotangents, x, update, *starts):
    (ct,) = cotangents
    inside = typeof(update)
    rest = [None] * len(starts)
    to_x = dynamic_update_slice(ct, zeros(inside), *starts) if isinstance(x, Linear) else None
    to_update = (
        dynamic_slice(ct, *starts, sizes=inside.shape) if isinstance(update, Linear) else None
    )
    return [to_x, to_update, *rest]


def _update_batch(size, args, batched):
    x, update, *starts = args
    x, update = (
        v if b else broadcast(v, size) for v, b in zip((x, update), batched[:2], strict=True)
    )
    if not any(batched[2:]):
        zero = full_like_type(typeof(starts[0]).strong(), 0) if starts else np.int32(0)
        return [dynamic_update_slice(x, update, zero, *starts)], [True]
    n = typeof(x).ndim - 1
    rows = _stack_starts(size, starts, batched[2:])
    limit = [a - b for a, b in zip(typeof(x).shape[1:], typeof(update).shape[1:], strict=True)]
    t = typeof(rows)
    top = broadcast_in_dim(constant(np.asarray(limit, t.dtype)), shape=t.shape, dims=(1,))
    rows = min(max(rows, zeros(t)), top)
    dims = ScatterDims(tuple(range(n)), (), tuple(range(n)))
    return scatter._batch(size, (x, rows, update), (True, True, True), dims=dims, how="set", mode="drop",
                          unique=True, sorted=False)  # fmt: skip


dynamic_update_slice = Op(
    "dynamic_update_slice",
    type=_update_type,
    lower=lambda ctx, x, update, *starts: (
        ctx.dynamic_update_slice(x, update, starts) if starts else update
    ),
    jvp=_update_jvp,
    transpose=_update_transpose,
    batch=_update_batch,
)

# Gather and scatter
# The last axis of ``indices`` holds a position along the axes ``start_map``; the others are the
# batch of positions. Each position picks a window of ``sizes``, whose axes ``collapsed`` (of size
# 1) are dropped; the rest appear in the result as axes ``offset``. Axes ``operand_batch`` of the
# operand and ``indices_batch`` of the indices run together.
#
# A window that does not fit is moved inside (mode "clip") or filled (mode "fill": gather gives
# ``fill_value``, scatter leaves the array alone, "drop"). "promise" leaves it to the caller.


class GatherDims:
    """Which axes of gather mean what. Hashable."""

    __slots__ = ("collapsed", "indices_batch", "offset", "operand_batch", "start_map")

    def __init__(self, offset, collapsed, start_map, operand_batch=(), indices_batch=()):
        self.offset, self.collapsed, self.start_map = (
            tuple(offset),
            tuple(collapsed),
            tuple(start_map),
        )
        self.operand_batch, self.indices_batch = tuple(operand_batch), tuple(indices_batch)

    @classmethod
    def for_slices(cls, n: int) -> GatherDims:
        """One slice of an n-d operand for every row of indices."""
        return cls(range(n), (), range(n))

    def key(self):
        return self.offset, self.collapsed, self.start_map, self.operand_batch, self.indices_batch

    def __eq__(self, other):
        return type(self) is type(other) and self.key() == other.key()

    def __hash__(self):
        return hash(self.key())

    def __repr__(self):
        return f"{type(self).__name__}{self.key()}"

    canonical = __repr__


class ScatterDims(GatherDims):
    """The same for scatter: ``offset`` are the window's axes in the updates, ``collapsed`` the inserted."""

    __slots__ = ()


def gather_result_shape(x, indices, dims: GatherDims, sizes) -> tuple:
    gone = set(dims.collapsed) | set(dims.operand_batch)
    window = iter([s for i, s in enumerate(sizes) if i not in gone])
    batch = iter(indices.shape[:-1])
    rank = len(sizes) - len(gone) + indices.ndim - 1
    return tuple(next(window) if i in dims.offset else next(batch) for i in range(rank))


def _are_axes(numbers, ndim: int) -> bool:
    return len(set(numbers)) == len(numbers) and all(0 <= i < ndim for i in numbers)


def _rise(numbers) -> bool:
    return all(a < b for a, b in itertools.pairwise(numbers))


def _check_window(who: str, x, indices, dims: GatherDims) -> None:
    """Each axis of the operand has a place in the window's axes, or has gone."""
    gone = (*dims.collapsed, *dims.operand_batch)
    if not _are_axes(gone, x.ndim) or len(dims.offset) != x.ndim - len(gone):
        why = f"need {x.ndim - len(set(gone))} axes of windows, as {gone} have gone; given {dims.offset}"
        raise errors.shape_mismatch(who, why, x=x)
    rank = indices.ndim - 1 + len(dims.offset)
    if not _are_axes(dims.offset, rank) or not all(
        map(_rise, (dims.offset, dims.collapsed, dims.operand_batch))
    ):
        why = f"need axes that rise, those of windows below {rank}; given {dims.offset}, {dims.collapsed}, "
        raise errors.shape_mismatch(who, f"{why}{dims.operand_batch}", x=x, indices=indices)
    paired = list(zip(dims.operand_batch, dims.indices_batch, strict=False))
    if (
        len(dims.operand_batch) != len(dims.indices_batch)
        or not _are_axes(dims.indices_batch, indices.ndim - 1)
        or any(x.shape[i] != indices.shape[j] for i, j in paired)
        or not set(dims.operand_batch).isdisjoint(dims.start_map)
    ):
        why = f"need pairs of batch axes of equal lengths, none of which is indexed; given {dims.operand_batch}, "
        raise errors.shape_mismatch(who, f"{why}{dims.indices_batch}", x=x, indices=indices)


def _gather_type(x, indices, *, dims, sizes, mode, fill_value=None, unique=False, sorted=False):
    if not dtypes.is_integer(indices.dtype) or indices.shape[-1:] != (len(dims.start_map),):
        raise errors.shape_mismatch("gather", "need integer rows of indices", x=x, indices=indices)
    if not _are_axes(dims.start_map, x.ndim):
        why = f"need different axes of x in start_index_map, given {tuple(dims.start_map)}"
        raise errors.shape_mismatch("gather", why, x=x, indices=indices)
    if len(sizes) != x.ndim or any(not 0 <= s <= n for s, n in zip(sizes, x.shape, strict=True)):
        raise errors.shape_mismatch("gather", f"has no window of sizes {sizes}", x=x)
    _check_window("gather", x, indices, dims)
    if any(sizes[i] > 1 for i in (*dims.collapsed, *dims.operand_batch)):
        why = f"need windows of size 1 along {dims.collapsed} and {dims.operand_batch}, given {tuple(sizes)}"
        raise errors.shape_mismatch("gather", why, x=x)
    return [ArrayType(gather_result_shape(x, indices, dims, sizes), x.dtype, x.weak)]


def _gather_lower(
    ctx, x, indices, *, dims, sizes, mode, fill_value=None, unique=False, sorted=False
):
    return ctx.gather(
        x, indices, ctx.out(), offset=dims.offset, collapsed=dims.collapsed,
        operand_batch=dims.operand_batch, indices_batch=dims.indices_batch, start_map=dims.start_map,
        sizes=sizes, sorted_=sorted,
    )  # fmt: skip


def _gather_jvp(primals, tangents, **params):
    x, indices = primals
    t = tangents[0]
    inner = dict(params, fill_value=0 if params.get("fill_value") is not None else None)
    return [gather(x, indices, **params)], [None if t is None else gather(t, indices, **inner)]


def _gather_transpose(cotangents, x, indices, *, dims, sizes, mode, fill_value=None, unique=False,
                      sorted=False):  # fmt: skip
    into = ScatterDims(
        dims.offset, dims.collapsed, dims.start_map, dims.operand_batch, dims.indices_batch
    )
    zero = zeros(x.type.strong())
    back = scatter(
        zero, indices, cotangents[0], dims=into, how="add", mode=mode, unique=unique, sorted=sorted
    )
    return [back, None]


def _gather_batch(size, args, batched, *, dims, sizes, **params):
    x, indices = args
    if not batched[1]:
        d = GatherDims(
            (0, *(a + 1 for a in dims.offset)), (a + 1 for a in dims.collapsed), (a + 1 for a in dims.start_map),
            (a + 1 for a in dims.operand_batch), dims.indices_batch,
        )  # fmt: skip
        return [gather(x, indices, dims=d, sizes=(size, *sizes), **params)], [True]
    offset = tuple(a + 1 for a in dims.offset)
    if not batched[0]:
        d = GatherDims(offset, dims.collapsed, dims.start_map, dims.operand_batch,
                       (a + 1 for a in dims.indices_batch))  # fmt: skip
        return [gather(x, indices, dims=d, sizes=sizes, **dict(params, sorted=False))], [True]
    d = GatherDims(
        offset, (a + 1 for a in dims.collapsed), (a + 1 for a in dims.start_map),
        (0, *(a + 1 for a in dims.operand_batch)), (0, *(a + 1 for a in dims.indices_batch)),
    )  # fmt: skip
    return [gather(x, indices, dims=d, sizes=(1, *sizes), **dict(params, sorted=False))], [True]


gather_clipped = Op(
    "gather", type=_gather_type, lower=_gather_lower, jvp=_gather_jvp, transpose=_gather_transpose,
    batch=_gather_batch,
)  # fmt: skip


class _Gather:
    """``gather`` with every mode: filling is a select around the clipped operation."""

    _batch = staticmethod(_gather_batch)

    def __call__(
        self, x, indices, *, dims, sizes, mode="clip", fill_value=None, unique=False, sorted=False
    ):
        sizes = _sizes_that_fit(typeof(x), typeof(indices), dims, tuple(sizes))
        out = gather_clipped(
            x, indices, dims=dims, sizes=sizes, mode=mode, unique=unique, sorted=sorted
        )
        if mode != "fill":
            return out
        inside = _window_fits(indices, typeof(x).shape, dims.start_map, sizes)
        t = typeof(out)
        axes = tuple(i for i in range(t.ndim) if i not in dims.offset)
        inside = broadcast_in_dim(inside, shape=t.shape, dims=axes)
        return select(inside, out, full_like_type(t, fill_value_of(t.dtype, fill_value)))


gather = _Gather()


def _sizes_that_fit(x: ArrayType, indices: ArrayType, dims: GatherDims, sizes: tuple) -> tuple:
    """Where nothing is asked for, windows need not be there: of an empty axis they take nothing."""
    if 0 not in x.shape or 0 not in gather_result_shape(x, indices, dims, sizes):
        return sizes
    gone = {*dims.collapsed, *dims.operand_batch}
    return tuple(0 if i in gone and not n else s for i, (n, s) in enumerate(zip(x.shape, sizes)))


def fill_value_of(dtype, value):
    """What stands for a missing element: NaN, the lowest integer, the highest unsigned one."""
    if value is not None:
        return value
    if dtypes.is_inexact(dtype):
        return np.nan
    if dtype == bool:
        return True
    info = dtypes.iinfo(dtype)
    return info.max if dtypes.kind(dtype) == "uint" else info.min


def _window_fits(indices, shape, start_map, sizes):
    t = typeof(indices)
    limits = np.asarray([shape[a] - sizes[a] for a in start_map], np.int64)
    if dtypes.kind(t.dtype) == "uint" or t.dtype.itemsize < 4:
        indices = convert(indices, dtype=dtypes.int64 if t.dtype.itemsize >= 4 else dtypes.int32)
        t = typeof(indices)
    limits = np.minimum(limits, dtypes.iinfo(t.dtype).max).astype(t.dtype)
    top = broadcast_in_dim(constant(limits), shape=t.shape, dims=(t.ndim - 1,))
    return reduce_and(and_(ge(indices, zeros(t.strong())), le(indices, top)), axes=(t.ndim - 1,))


_COMBINE = {
    "add": "stablehlo.add", "mul": "stablehlo.multiply", "min": "stablehlo.minimum",
    "max": "stablehlo.maximum",
}  # fmt: skip


def _scatter_type(x, indices, updates, *, dims, how, mode, unique=False, sorted=False):
    if updates.dtype != x.dtype:
        raise errors.dtype_mismatch(f"scatter_{how}", x=x, updates=updates)
    if not dtypes.is_integer(indices.dtype) or indices.shape[-1:] != (len(dims.start_map),):
        raise errors.shape_mismatch("scatter", "need integer rows of indices", x=x, indices=indices)
    if not _are_axes(dims.start_map, x.ndim):
        why = f"need different axes of x for the indices, given {tuple(dims.start_map)}"
        raise errors.shape_mismatch("scatter", why, x=x, indices=indices)
    _check_window("scatter", x, indices, dims)
    if updates.ndim != indices.ndim - 1 + len(dims.offset):
        why = f"need updates of {indices.ndim - 1 + len(dims.offset)} axes: those of the indices, and of a window"
        raise errors.shape_mismatch("scatter", why, indices=indices, updates=updates)
    gone = {*dims.collapsed, *dims.operand_batch}
    window = [updates.shape[i] for i in dims.offset]
    rows = tuple(n for i, n in enumerate(updates.shape) if i not in dims.offset)
    if any(n > m for n, m in zip(window, [m for i, m in enumerate(x.shape) if i not in gone])):
        raise errors.shape_mismatch("scatter", "need windows that x has", x=x, updates=updates)
    if rows != indices.shape[:-1]:
        why = "need updates for each row of indices"
        raise errors.shape_mismatch("scatter", why, indices=indices, updates=updates)
    return [x]


def _scatter_lower(ctx, x, indices, updates, *, dims, how, mode, unique=False, sorted=False):
    def combine(old, new):
        return new if how == "set" else ctx.one(_COMBINE[how], old.type, [old, new])

    return ctx.scatter(
        x, indices, updates, combine, window=dims.offset, inserted=dims.collapsed,
        operand_batch=dims.operand_batch, indices_batch=dims.indices_batch, to_operand=dims.start_map,
        sorted_=sorted, unique=unique,
    )  # fmt: skip


def as_gather(x_type, updates_type, dims: ScatterDims):
    """The gather that reads the windows which a scatter writes: its dims and sizes."""
    window = iter([updates_type.shape[a] for a in dims.offset])
    gone = set(dims.collapsed) | set(dims.operand_batch)
    sizes = tuple(1 if i in gone else next(window) for i in range(x_type.ndim))
    return GatherDims(*dims.key()), sizes


def _scatter_jvp(primals, tangents, *, how, **params):
    x, indices, updates = primals
    gx, _, gu = tangents
    out = scatter_in_range(x, indices, updates, how=how, **params)
    gx = zeros(typeof(x)) if gx is None else gx
    gu = zeros(typeof(updates)) if gu is None else gu
    if how == "add":
        return [out], [scatter_in_range(gx, indices, gu, how="add", **params)]
    if how == "set":
        return [out], [_set_tangent(typeof(x), indices, gx, gu, typeof(updates), **params)]
    if how == "mul":
        return [out], [_mul_tangent(x, indices, updates, out, gx, gu, **params)]
    return [out], [_extremum_tangent(x, indices, updates, out, gx, gu, **params)]


def _set_tangent(x_type, indices, gx, gu, u_type, **params):
    if params.get("unique"):
        return scatter_in_range(gx, indices, gu, how="set", **params)
    # Which of several writers to one place wins is known to the operation only: let it write
    # the writers' numbers too, then take tangents from those that won.
    count = int(np.prod(u_type.shape))
    numbers = reshape(iota(shape=(count,), dtype=dtypes.int32, axis=0), shape=u_type.shape)
    nobody = full_like_type(ArrayType(x_type.shape, dtypes.int32), -1)
    winners = scatter_in_range(nobody, indices, numbers, how="set", **params)
    dims, sizes = as_gather(x_type, u_type, params["dims"])
    at_windows = gather(winners, indices, dims=dims, sizes=sizes, mode="clip")
    won = eq(at_windows, numbers)
    kept = select(eq(winners, nobody), gx, zeros(x_type.strong()))
    mine = select(won, gu, zeros(u_type.strong()))
    return scatter_in_range(kept, indices, mine, how="add", **params)


def _mul_tangent(x, indices, updates, out, gx, gu, **params):
    """Each factor's tangent times the product of all others, of which some may be 0."""
    t, u = typeof(x).strong(), typeof(updates).strong()
    factor = scatter_in_range(full_like_type(t, 1), indices, updates, how="mul", **params)
    dims, sizes = as_gather(t, u, params["dims"])

    def at_updates(y):
        return gather(y, indices, dims=dims, sizes=sizes, mode="clip")

    def apart(y, t):
        """(whether it is 0, as a number; the number, or 1 where it is 0)"""
        zero = eq(y, zeros(t))
        return convert(zero, dtype=t.dtype), select(zero, full_like_type(t, 1), y)

    if params.get("unique"):
        others = at_updates(x)
    else:
        (zero_x, one_x), (zero_u, one_u) = apart(x, t), apart(updates, u)
        nulls = scatter_in_range(zero_x, indices, zero_u, how="add", **params)
        whole = scatter_in_range(one_x, indices, one_u, how="mul", **params)
        none_else = eq(at_updates(nulls), zero_u)
        others = select(none_else, div(at_updates(whole), one_u), zeros(u))
    share = mul(gu, others)
    return scatter_in_range(mul(gx, factor), indices, share, how="add", **params)


def _extremum_tangent(x, indices, updates, out, gx, gu, **params):
    """The winner's tangent; several equal ones share it equally."""
    t, u = typeof(x).strong(), typeof(updates).strong()
    dims, sizes = as_gather(t, u, params["dims"])
    here = gather(out, indices, dims=dims, sizes=sizes, mode="clip")
    stays = convert(eq(x, out), dtype=t.dtype)
    wins = convert(eq(updates, here), dtype=t.dtype)
    count = scatter_in_range(stays, indices, wins, how="add", **params)
    total = scatter_in_range(mul(gx, stays), indices, mul(gu, wins), how="add", **params)
    return div(total, max(count, full_like_type(t, 1)))


def _scatter_transpose(
    cotangents, x, indices, updates, *, dims, how, mode, unique=False, sorted=False
):
    (ct,) = cotangents
    if how not in ("add", "set"):
        raise errors.missing_rule(scatter_in_range, "transpose")
    u = typeof(updates)
    g_dims, sizes = as_gather(typeof(ct), u, dims)
    to_x = ct if isinstance(x, Linear) else None
    if how == "set" and to_x is not None:
        to_x = scatter_in_range(ct, indices, zeros(u.strong()), dims=dims, how="set", mode=mode,
                                unique=unique, sorted=sorted)  # fmt: skip
    to_u = None
    if isinstance(updates, Linear):
        to_u = gather(
            ct,
            indices,
            dims=g_dims,
            sizes=sizes,
            mode="clip" if mode == "clip" else "fill",
            fill_value=0,
        )
    return [to_x, None, to_u]


def _scatter_batch(size, args, batched, *, dims, **params):
    x, indices, updates = args
    x = x if batched[0] else broadcast(x, size)
    updates = updates if batched[2] else broadcast(updates, size)
    up = lambda axes: tuple(a + 1 for a in axes)  # noqa: E731
    if not batched[1]:
        d = ScatterDims((0, *up(dims.offset)), up(dims.collapsed), up(dims.start_map), up(dims.operand_batch),
                        dims.indices_batch)  # fmt: skip
        return [scatter_in_range(x, indices, updates, dims=d, **params)], [True]
    d = ScatterDims(up(dims.offset), up(dims.collapsed), up(dims.start_map), (0, *up(dims.operand_batch)),
                    (0, *up(dims.indices_batch)))  # fmt: skip
    return [scatter_in_range(x, indices, updates, dims=d, **dict(params, sorted=False))], [True]


scatter_in_range = Op(
    "scatter", type=_scatter_type, lower=_scatter_lower, jvp=_scatter_jvp, transpose=_scatter_transpose,
    batch=_scatter_batch,
)  # fmt: skip


class _Scatter:
    """``scatter`` with every mode: clipping moves the indices first; dropping is what XLA does."""

    _batch = staticmethod(_scatter_batch)

    def __call__(self, x, indices, updates, *, dims, how, mode="drop", unique=False, sorted=False):
        if mode == "clip":
            indices = _clipped(typeof(x), indices, typeof(updates), dims)
        return scatter_in_range(x, indices, updates, dims=dims, how=how, mode="drop" if mode == "fill" else mode,
                                unique=unique, sorted=sorted)  # fmt: skip


def _clipped(x, indices, updates, dims):
    _, sizes = as_gather(x, updates, dims)
    t = typeof(indices).strong()
    limits = np.asarray([x.shape[a] - sizes[a] for a in dims.start_map], np.int64)
    limits = np.minimum(limits, dtypes.iinfo(t.dtype).max).astype(t.dtype)
    top = broadcast_in_dim(constant(limits), shape=t.shape, dims=(t.ndim - 1,))
    return min(max(indices, zeros(t)), top)


scatter = _Scatter()
