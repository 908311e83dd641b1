"""Operations over a named axis: of a vmap, or of a device mesh inside shard_map.

``axis_name`` is a tuple of names. Over an axis of vmap a collective is an ordinary reduction or
move along the batch axis (``over_axis``); over an axis of a mesh it is lowered to communication.
``groups``, if given, are tuples of members, equally many in each: members meet those of their group only.
``sizes``, given for several axes, are theirs: members are numbered with the last axis fastest.
"""

from __future__ import annotations

import math

import numpy as np

from .._core import ArrayType, Op, dtypes, errors, typeof
from .elementwise import convert, div, eq, mul
from .families import broadcast, full_like_type, reduce_sum, zeros
from .layout import concatenate, iota, move_axis, reshape, slice
from .reduce import reduce_max, reduce_min
from .slicing import dynamic_slice


def _effects(*, axis_name, **params):
    return frozenset(("axis", name) for name in axis_name)


def _same_type(x, **params):
    return [x]


def _for_groups_too(rule):
    """A rule for all members of one vmap, for groups of them, and for members along several axes."""

    def over_axis(size, axis, args, batched, params):
        (x,), (b,), params = args, batched, dict(params)
        groups, sizes = params.pop("groups", None), params.pop("sizes", (size,))
        if len(sizes) == 1 and not groups:
            return rule(size, axis, args, batched, params)
        outer, names = _SeveralAxes(axis, params["axis_name"], sizes), params.pop("axis_name")
        x = outer.gathered(x if b else broadcast(x, size))
        params["axis_name"] = (axis,)
        count = math.prod(sizes)
        if groups:
            out, varies = _by_groups(rule, x, groups, count, axis, params), True
        else:
            (out,), (varies,) = rule(count, axis, [x], [True], params)
        return [outer.kept(out) if varies and len(names) > 1 else out], [varies]

    return over_axis


def _by_groups(rule, x, groups, count: int, axis, params):
    rows: list = [None] * count
    for group in groups:
        mine = concatenate(*[_member(x, i) for i in group], axis=0)
        (out,), (varies,) = rule(len(group), axis, [mine], [True], params)
        for k, i in enumerate(group):
            rows[i] = _member(out, k) if varies else broadcast(out, 1)
    return concatenate(*rows, axis=0)


class _SeveralAxes:
    """Members along several axes, of which one is a vmap's: all of them as rows, and back to its own.

    Members are counted in the order of the names. What lies along the other axes is gathered; where they
    are axes of vmaps too, that only moves axes.
    """

    def __init__(self, axis, names, sizes):
        self.place, self.sizes = names.index(axis), tuple(sizes)
        self.others = [(n, k) for n, k in zip(names, sizes, strict=True) if n != axis]

    def gathered(self, x):
        shape = typeof(x).shape[1:]
        for name, axis_size in reversed(self.others):
            x = all_gather(x, axis_name=(name,), axis_size=axis_size, axis=0, tiled=False)
        x = move_axis(x, len(self.others), self.place)
        return reshape(x, shape=(math.prod(self.sizes), *shape))

    def kept(self, x):
        """Of the rows of all members those with this place along the other axes."""
        shape = typeof(x).shape[1:]
        x = move_axis(reshape(x, shape=(*self.sizes, *shape)), self.place, len(self.others))
        here = [axis_index(axis_name=(name,)) for name, _ in self.others]
        zero = [np.int32(0)] * (1 + len(shape))
        kept = (self.sizes[self.place], *shape)
        return reshape(dynamic_slice(x, *here, *zero, sizes=(*[1] * len(here), *kept)), shape=kept)


# Between devices
#
# ``ctx.groups(names)`` numbers the devices that differ along these mesh axes only, a row for each
# group; along axes of size 1 there is nobody to talk to.


def _rows(ctx, axis_name, groups):
    """The devices that meet, a row for each meeting."""
    rows = ctx.groups(axis_name)
    if groups is None:
        return rows
    return rows[:, np.asarray(groups)].reshape(-1, len(groups[0]))


def _lower_reduction(combine):
    def lower(ctx, x, *, axis_name, groups=None, sizes=()):
        groups = _rows(ctx, axis_name, groups)
        return x if groups.shape[1] == 1 else ctx.all_reduce(combine, x, groups)

    return lower


def _lower_index(ctx, *, axis_name):
    return ctx.place_on(axis_name[0])


def _lower_gather(ctx, x, *, axis_name, axis_size, axis, tiled, groups=None, sizes=()):
    if not tiled:
        t = ctx.in_types[0]
        x = ctx.reshape(x, ctx.tensor((*t.shape[:axis], 1, *t.shape[axis:]), t.dtype))
    return (
        x if axis_size == 1 else ctx.all_gather(x, ctx.out(), axis, _rows(ctx, axis_name, groups))
    )


def _lower_scatter(ctx, x, *, axis_name, axis_size, axis, tiled, groups=None, sizes=()):
    if axis_size > 1:
        shape = list(ctx.in_types[0].shape)
        shape[axis] //= axis_size
        part = ctx.tensor(shape, ctx.in_types[0].dtype)
        x = ctx.reduce_scatter(x, part, axis, _rows(ctx, axis_name, groups))
    return x if tiled else ctx.reshape(x, ctx.out())


def _lower_to_all(ctx, x, *, axis_name, axis_size, split, concat, groups=None, sizes=()):
    groups = _rows(ctx, axis_name, groups)
    return x if axis_size == 1 else ctx.all_to_all(x, ctx.out(), split, concat, groups)


def _lower_permute(ctx, x, *, axis_name, perm, sizes=()):
    groups = ctx.groups(axis_name)
    if groups.shape[1] == 1:
        return x if perm else ctx.full(ctx.out_types[0], 0)
    return ctx.collective_permute(x, [(row[a], row[b]) for row in groups for a, b in perm])


# Sums and extremes: psum …


def _reduction(name, combine, reduce, of_constant, jvp, transpose=None):
    """A reduction over a named axis: every member gets the result."""

    def over_all(size, axis, args, batched, params):
        (x,), (b,) = args, batched
        return [reduce(x, axes=(0,)) if b else of_constant(x, size)], [False]

    in_groups = _for_groups_too(over_all)

    def over_axis(size, axis, args, batched, params):
        others = tuple(n for n in params["axis_name"] if n != axis)
        if not others or "groups" in params:
            return in_groups(size, axis, args, batched, params)
        # a sum over several axes is one over each of them
        (out,), _ = over_all(size, axis, args, batched, params)
        return [op(out, axis_name=others)], [False]

    def batch(size, args, batched, **params):
        return [op(args[0], **params)], [True]

    op = Op(
        name, type=_same_type, lower=_lower_reduction(combine),
        jvp=lambda *args, **params: jvp(op, *args, **params), transpose=transpose, batch=batch,
        over_axis=over_axis, effects=_effects,
    )  # fmt: skip
    return op


def _times(x, size: int):
    t = typeof(x)
    return mul(x, full_like_type(t.strong(), size))


def _linear_jvp(op, primals, tangents, **params):
    return [op(*primals, **params)], [op(*tangents, **params)]


def _extremum_jvp(op, primals, tangents, **params):
    (x,), (g,) = primals, tangents
    out = op(x, **params)
    here = convert(eq(x, out), dtype=typeof(x).dtype)
    share = div(mul(g, here), psum(here, **params))
    return [out], [psum(share, **params)]


# The sum over members is linear. In transposition every member's cotangent is summed: psum is its own
# transpose (cotangents of a value that all members share count once for each member).
psum = _reduction(
    "psum", "stablehlo.add", reduce_sum, _times, _linear_jvp,
    lambda cotangents, x, **params: [psum(cotangents[0], **params)],
)  # fmt: skip
pmax = _reduction("pmax", "stablehlo.maximum", reduce_max, lambda x, size: x, _extremum_jvp)
pmin = _reduction("pmin", "stablehlo.minimum", reduce_min, lambda x, size: x, _extremum_jvp)

# axis_index


def _index_over(size, axis, args, batched, params):
    return [iota(shape=(size,), dtype=dtypes.int32, axis=0)], [True]


axis_index = Op(
    "axis_index",
    type=lambda *, axis_name: [ArrayType((), dtypes.int32)],
    lower=_lower_index,
    over_axis=_index_over,
    effects=_effects,
)

# Moving between members: gather, permute …


def _gather_type(x, *, axis_name, axis_size, axis, tiled, groups=None, sizes=()):
    shape = list(x.shape)
    if tiled:
        shape[axis] *= axis_size
    else:
        shape.insert(axis, axis_size)
    return [x.with_shape(tuple(shape))]


def _gather_over(size, name, args, batched, params):
    """All members' values along a new axis, the same for every member."""
    (x,), (b,) = args, batched
    x = x if b else broadcast(x, size)
    axis = params["axis"]
    moved = move_axis(x, 0, axis)
    if params["tiled"]:
        s = typeof(moved).shape
        moved = reshape(moved, shape=(*s[:axis], s[axis] * s[axis + 1], *s[axis + 2 :]))
    return [moved], [False]


all_gather = Op(
    "all_gather",
    type=_gather_type,
    lower=_lower_gather,
    jvp=lambda *args, **p: _linear_jvp(all_gather, *args, **p),
    transpose=lambda cotangents, x, **p: [psum_scatter(cotangents[0], **p)],
    batch=lambda size, args, batched, **p: (
        [all_gather(args[0], **dict(p, axis=p["axis"] + 1))],
        [True],
    ),
    over_axis=_for_groups_too(_gather_over),
    effects=_effects,
)


def _scatter_type(x, *, axis_name, axis_size, axis, tiled, groups=None, sizes=()):
    if x.shape[axis] % axis_size or (not tiled and x.shape[axis] != axis_size):
        raise errors.shape_mismatch(
            "lax.psum_scatter", f"need an axis {axis} divisible by {axis_size}", x=x
        )
    shape = list(x.shape)
    if tiled:
        shape[axis] //= axis_size
    else:
        del shape[axis]
    return [x.with_shape(tuple(shape))]


def _scatter_over(size, name, args, batched, params):
    """The sum over members, of which each member keeps its own part."""
    (x,), (b,) = args, batched
    total = reduce_sum(x, axes=(0,)) if b else _times(x, size)
    axis = params["axis"]
    if params["tiled"]:
        s = typeof(total).shape
        total = reshape(total, shape=(*s[:axis], size, s[axis] // size, *s[axis + 1 :]))
    return [move_axis(total, axis, 0)], [True]


psum_scatter = Op(
    "psum_scatter",
    type=_scatter_type,
    lower=_lower_scatter,
    jvp=lambda *args, **p: _linear_jvp(psum_scatter, *args, **p),
    transpose=lambda cotangents, x, **p: [all_gather(cotangents[0], **p)],
    batch=lambda size, args, batched, **p: (
        [psum_scatter(args[0], **dict(p, axis=p["axis"] + 1))],
        [True],
    ),
    over_axis=_for_groups_too(_scatter_over),
    effects=_effects,
)


def _to_all_type(x, *, axis_name, axis_size, split, concat, groups=None, sizes=()):
    if x.shape[split] % axis_size:
        raise errors.shape_mismatch(
            "lax.all_to_all", f"need an axis {split} divisible by {axis_size}", x=x
        )
    shape = list(x.shape)
    shape[split] //= axis_size
    shape[concat] *= axis_size
    return [x.with_shape(tuple(shape))]


def _to_all_over(size, name, args, batched, params):
    """Member i's part j becomes member j's part i."""
    (x,), (b,) = args, batched
    x = x if b else broadcast(x, size)
    split, concat = params["split"] + 1, params["concat"] + 1
    s = typeof(x).shape
    parts = reshape(x, shape=(*s[:split], size, s[split] // size, *s[split + 1 :]))
    moved = move_axis(parts, split, 0)  # target member, source member, …
    moved = move_axis(moved, 1, concat)  # the source members in front of the axis they join
    s = typeof(moved).shape
    return [reshape(moved, shape=(*s[:concat], s[concat] * s[concat + 1], *s[concat + 2 :]))], [
        True
    ]


all_to_all = Op(
    "all_to_all",
    type=_to_all_type,
    lower=_lower_to_all,
    jvp=lambda *args, **p: _linear_jvp(all_to_all, *args, **p),
    transpose=lambda cotangents, x, *, split, concat, **p: [
        all_to_all(cotangents[0], split=concat, concat=split, **p)
    ],
    batch=lambda size, args, batched, *, split, concat, **p: (
        [all_to_all(args[0], split=split + 1, concat=concat + 1, **p)], [True],
    ),
    over_axis=_for_groups_too(_to_all_over),
    effects=_effects,
)  # fmt: skip


def _permute_over(size, name, args, batched, params):
    """Each member's value sent to another; members that nobody sends to get zeros."""
    (x,), (b,) = args, batched
    x = x if b else broadcast(x, size)
    source = {to: origin for origin, to in params["perm"]}
    s = typeof(x).shape
    nothing = zeros(ArrayType((1, *s[1:]), typeof(x).dtype))
    rows = [_member(x, source[i]) if i in source else nothing for i in range(size)]
    return [concatenate(*rows, axis=0)], [True]


def _member(x, i: int):
    t = typeof(x)
    low, high = (i, *(0,) * (t.ndim - 1)), (i + 1, *t.shape[1:])
    return slice(x, start=low, limit=high, strides=(1,) * t.ndim)


ppermute = Op(
    "ppermute",
    type=_same_type,
    lower=_lower_permute,
    jvp=lambda *args, **p: _linear_jvp(ppermute, *args, **p),
    transpose=lambda cotangents, x, *, perm, **p: [
        ppermute(cotangents[0], perm=tuple((b, a) for a, b in perm), **p)
    ],
    batch=lambda size, args, batched, **p: ([ppermute(args[0], **p)], [True]),
    over_axis=_for_groups_too(_permute_over),
    effects=_effects,
)
