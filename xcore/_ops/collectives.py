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
from .layout import concatenate, iota, merge_axes, move_axis, reshape, slice, split_axis
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
# The sum as one value that members share, as values are held to be in ``_control/invariance.py``.
psum_invariant = _reduction(
    "psum_invariant", "stablehlo.add", reduce_sum, _times, _linear_jvp,
    lambda cotangents, x, *, axis_name, **_: [pvary(cotangents[0], axis_name=axis_name)],
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


def _movement(name, type, lower, over_members, axes=(), *, transpose):
    """A linear operation that sends parts of values from member to member.

    Args:
      over_members: the rule for an axis of vmap whose members are all that meet.
      axes: names of the params that are array axes.
      transpose: the operation of the cotangent, with the params.
    """

    def batch(size, args, batched, **params):
        return [op(args[0], **params | {k: params[k] + 1 for k in axes})], [True]

    op = Op(
        name, type=type, lower=lower, jvp=lambda *args, **params: _linear_jvp(op, *args, **params),
        transpose=lambda cotangents, x, **params: [transpose(cotangents[0], **params)],
        batch=batch, over_axis=_for_groups_too(over_members), effects=_effects,
    )  # fmt: skip
    return op


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
    moved = move_axis(x, 0, params["axis"])
    return [merge_axes(moved, params["axis"]) if params["tiled"] else moved], [False]


# A value that members share, as one of each.
pvary = _movement(
    "pvary", _same_type, lambda ctx, x, **_: x, lambda size, axis, args, batched, params: (args, batched),
    transpose=lambda ct, **params: psum_invariant(ct, **params),
)  # fmt: skip
all_gather = _movement(
    "all_gather", _gather_type, _lower_gather, _gather_over, ("axis",),
    transpose=lambda ct, **params: psum_scatter(ct, **params),
)  # fmt: skip


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
    parts = split_axis(total, axis, size) if params["tiled"] else total
    return [move_axis(parts, axis, 0)], [True]


psum_scatter = _movement(
    "psum_scatter", _scatter_type, _lower_scatter, _scatter_over, ("axis",),
    transpose=lambda ct, **params: all_gather(ct, **params),
)  # fmt: skip


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
    moved = move_axis(split_axis(x, split, size), split, 0)  # target member, source member, …
    moved = move_axis(moved, 1, concat)  # the source members in front of the axis they join
    return [merge_axes(moved, concat)], [True]


all_to_all = _movement(
    "all_to_all", _to_all_type, _lower_to_all, _to_all_over, ("split", "concat"),
    transpose=lambda ct, *, split, concat, **params: all_to_all(ct, split=concat, concat=split, **params),
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


ppermute = _movement(
    "ppermute", _same_type, _lower_permute, _permute_over,
    transpose=lambda ct, *, perm, **params: ppermute(ct, perm=tuple((b, a) for a, b in perm), **params),
)  # fmt: skip
