"""Collectives as users call them: over one named axis or several, on pytrees."""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .._core import boundary, dtypes, errors, one_of, to_value, tree, typeof
from .._ops import collectives as c
from .._transforms import vmap as axes
from .invariance import spread


def _names(axis_name) -> tuple:
    names = tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)
    if len(set(names)) < len(names):
        raise ValueError(f"xcore.lax: each named axis may stand once among {names}.")
    for name in names:
        axes.axis_size(name)  # raises if there is no such axis
    return names


def _map_leaves(x, f):
    return tree.map(lambda leaf: f(to_value(leaf)), x)


def _sizes(names) -> dict:
    """The parameter of sizes, where there are several axes."""
    return {"sizes": tuple(map(axes.axis_size, names))} if len(names) > 1 else {}


def _group_params(who: str, axis_name, groups) -> tuple[dict, int]:
    """The parameters of groups, if there are any, and how many members meet."""
    names = _names(axis_name)
    if groups is None:
        return {}, axes.axis_size(names)
    rows = tuple(tuple(map(int, row)) for row in groups)
    size = axes.axis_size(names)
    fits = sorted(i for row in rows for i in row) == list(range(size))
    if not fits or len({len(row) for row in rows}) != 1:
        raise errors.bad_argument(
            f"lax.{who}", "axis_index_groups", groups,
            f"lists of equal length with each of the members 0 to {size - 1} once",
        )  # fmt: skip
    return {"groups": rows, **_sizes(names)}, len(rows[0])


def _bind_checked(op, v, **params):
    """The operation; what its type rule refuses is an error before a vmap makes other operations of it."""
    op.type(typeof(v), **params)
    return op(v, **params)


def axis_size(axis_name) -> int:
    """The size of a named axis.

    Args:
      axis_name: a named axis, or several: then the product of their sizes.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.vmap(lambda x: x * xc.lax.axis_size("i"), axis_name="i")(xnp.ones(3))
    Array([3., 3., 3.], dtype=float32)
    """
    return axes.axis_size(axis_name)


@boundary
def axis_index(axis_name):
    """The index of this member along a named axis.

    Args:
      axis_name: a named axis, or several: then the index along all of them as one, the last running fastest.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.vmap(lambda x: xc.lax.axis_index("i"), axis_name="i")(xnp.ones(3))
    Array([0, 1, 2], dtype=int32)
    """
    index = None
    if not _names(axis_name):
        return to_value(np.int32(0))
    for name in _names(axis_name):
        here = c.axis_index(axis_name=(name,))
        if index is None:
            index = here
        else:
            index = ops.add(ops.mul(index, np.int32(axes.axis_size(name))), here)
    return index


@boundary
def psum(x, axis_name, *, axis_index_groups=None):
    """The sum over all members of a named axis; every member gets it.

    Args:
      x: tree of arrays.
      axis_name: a named axis, or several.
      axis_index_groups: lists of members; then the sum is over the members of one's list only.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.vmap(lambda x: x / xc.lax.psum(x, "i"), axis_name="i")(xnp.asarray([1.0, 3.0]))
    Array([0.25, 0.75], dtype=float32)
    """
    names = _names(axis_name)
    groups, size = _group_params("psum", axis_name, axis_index_groups)
    if isinstance(x, (int, float)) and not isinstance(x, bool):
        return x * size  # known now: lax.psum(1, name) is the size

    def total(v):
        v = ops.convert(v, dtype=dtypes.int32) if typeof(v).dtype == bool else v
        if not names:
            return v  # over nobody else
        return c.psum(v, axis_name=names, **groups)

    return _map_leaves(x, total)


@boundary
def pmean(x, axis_name, *, axis_index_groups=None):
    """The mean over all members of a named axis.

    Args:
      x: tree of arrays.
      axis_name: a named axis, or several.
      axis_index_groups: as for ``psum``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.vmap(lambda x: x - xc.lax.pmean(x, "i"), axis_name="i")(xnp.asarray([1.0, 3.0]))
    Array([-1.,  1.], dtype=float32)
    """
    names = _names(axis_name)
    groups, size = _group_params("pmean", axis_name, axis_index_groups)

    def mean(v):
        t = typeof(v)
        if not dtypes.is_inexact(t.dtype):
            v = ops.convert(v, dtype=dtypes.default_dtype("float"))
        if not names:
            return v
        total = c.psum(v, axis_name=names, **groups)
        return ops.div(total, ops.full_like_type(typeof(total).strong(), size))

    return _map_leaves(x, mean)


@boundary
def pmax(x, axis_name, *, axis_index_groups=None):
    """The largest value over all members of a named axis.

    Args:
      x: tree of arrays.
      axis_name: a named axis, or several.
      axis_index_groups: as for ``psum``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.vmap(lambda x: x / xc.lax.pmax(x, "i"), axis_name="i")(xnp.asarray([1.0, 4.0]))
    Array([0.25, 1.  ], dtype=float32)
    """
    names = _names(axis_name)
    groups, _ = _group_params("pmax", axis_name, axis_index_groups)
    return _map_leaves(x, lambda v: c.pmax(v, axis_name=names, **groups) if names else v)


@boundary
def pmin(x, axis_name, *, axis_index_groups=None):
    """The smallest value over all members of a named axis.

    Args:
      x: tree of arrays.
      axis_name: a named axis, or several.
      axis_index_groups: as for ``psum``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.vmap(lambda x: x - xc.lax.pmin(x, "i"), axis_name="i")(xnp.asarray([1.0, 4.0]))
    Array([0., 3.], dtype=float32)
    """
    names = _names(axis_name)
    groups, _ = _group_params("pmin", axis_name, axis_index_groups)
    return _map_leaves(x, lambda v: c.pmin(v, axis_name=names, **groups) if names else v)


def _arg_extremum(extremum):
    def found(x, axis_name):
        here = axis_index(axis_name)
        last = np.int32(axis_size(axis_name))

        def one(v):
            is_it = ops.eq(v, extremum(v, axis_name))  # a NaN is the extremum, as in argmin
            if dtypes.is_inexact(typeof(v).dtype):
                is_it = ops.or_(is_it, ops.ne(v, v))
            place = ops.broadcast_in_dim(here, shape=typeof(v).shape, dims=())
            return pmin(
                ops.select(is_it, place, ops.full_like_type(typeof(place), last)), axis_name
            )

        return _map_leaves(x, one)

    return found


@boundary
def pargmin(x, axis_name):
    """The index along a named axis at which the smallest value is, the first of several.

    Args:
      x: tree of arrays.
      axis_name: a named axis, or several.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.vmap(lambda x: xc.lax.pargmin(x, "i"), axis_name="i")(xnp.asarray([3.0, 1.0, 1.0]))
    Array([1, 1, 1], dtype=int32)
    """
    return _arg_extremum(pmin)(x, axis_name)


@boundary
def pargmax(x, axis_name):
    """The index along a named axis at which the largest value is, the first of several.

    Args:
      x: tree of arrays.
      axis_name: a named axis, or several.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.vmap(lambda x: xc.lax.pargmax(x, "i"), axis_name="i")(xnp.asarray([3.0, 1.0, 5.0]))
    Array([2, 2, 2], dtype=int32)
    """
    return _arg_extremum(pmax)(x, axis_name)


@boundary
def all_gather(
    x, axis_name, *, axis_index_groups=None, axis: int = 0, tiled: bool = False, to: str = "varying"
):
    """The values of all members, stacked along ``axis`` (or joined there, if ``tiled``).

    ``to`` needs no attention: that all members get the same is known without it.

    Args:
      x: tree of arrays.
      axis_name: a named axis, or several.
      axis_index_groups: as for ``psum``.
      axis: where the new axis stands (or which is joined along).
      tiled: whether values are joined along an axis that they have.
      to: accepted; that all get the same is known without it.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.vmap(lambda x: xc.lax.all_gather(x, "i"), axis_name="i")(xnp.arange(2))
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    groups, size = _group_params("all_gather", axis_name, axis_index_groups)
    _check_cast("all_gather", to)

    def gather(v):
        ndim = typeof(v).ndim + (not tiled)
        where = axis % ndim if ndim else 0
        if groups:
            names = _names(axis_name)
            return c.all_gather(
                v, axis_name=names, axis_size=size, axis=where, tiled=tiled, **groups
            )
        for name in reversed(_names(axis_name)):
            joined = tiled or name != _names(axis_name)[-1]
            n = axes.axis_size(name)
            v = c.all_gather(v, axis_name=(name,), axis_size=n, axis=where, tiled=joined)
        return v

    return _map_leaves(x, gather)


@boundary
def psum_scatter(
    x, axis_name, *, scatter_dimension: int = 0, axis_index_groups=None, tiled: bool = False
):
    """The sum over members, of which each member keeps its part along ``scatter_dimension``.

    Args:
      x: tree of arrays.
      axis_name: a named axis, or several.
      scatter_dimension: the axis whose parts are handed out.
      axis_index_groups: as for ``psum``.
      tiled: whether the axis stays, shortened; otherwise it has the length of the named axis and goes.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.vmap(lambda x: xc.lax.psum_scatter(x, "i"), axis_name="i")(xnp.asarray([[1, 2], [10, 20]]))
    Array([11, 22], dtype=int32)
    """
    groups, size = _group_params("psum_scatter", axis_name, axis_index_groups)
    names = _names(axis_name)
    given = {**_sizes(names), **groups}
    return _map_leaves(
        x, lambda v: _bind_checked(
            c.psum_scatter, v, axis_name=names, axis_size=size, axis=scatter_dimension % typeof(v).ndim, tiled=tiled,
            **given,
        ),
    )  # fmt: skip


@boundary
def ppermute(x, axis_name, perm):
    """Send values between members: ``perm`` lists (from, to); members nobody sends to get zeros.

    Args:
      x: tree of arrays.
      axis_name: a named axis, or several.
      perm: pairs (from, to); each may send and receive once.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.vmap(lambda x: xc.lax.ppermute(x, "i", [(0, 1), (1, 2)]), axis_name="i")(xnp.arange(3) + 1)
    Array([0, 1, 2], dtype=int32)
    """
    names = _names(axis_name)
    pairs = tuple((int(a), int(b)) for a, b in perm)
    size = axes.axis_size(names)
    targets, sources = [b for _, b in pairs], [a for a, _ in pairs]
    if len(set(targets)) < len(pairs) or len(set(sources)) < len(pairs):
        raise ValueError(
            f"xcore.lax.ppermute: each member may send and receive once, given {pairs}."
        )
    if any(not 0 <= i < size for i in targets + sources):
        raise ValueError(
            f"xcore.lax.ppermute: members are numbered 0 to {size - 1}, given {pairs}."
        )
    return _map_leaves(x, lambda v: c.ppermute(v, axis_name=names, perm=pairs, **_sizes(names)))


@boundary
def pshuffle(x, axis_name, perm):
    """Member i gets the value of member perm[i].

    Args:
      x: tree of arrays.
      axis_name: a named axis, or several.
      perm: for each device the one whose value it gets.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.vmap(lambda x: xc.lax.pshuffle(x, "i", [2, 0, 1]), axis_name="i")(xnp.asarray([5, 6, 7]))
    Array([7, 5, 6], dtype=int32)
    """
    return ppermute(x, axis_name, [(origin, i) for i, origin in enumerate(perm)])


@boundary
def pbroadcast(x, axis_name, source: int):
    """The value of one member, for all members.

    Args:
      x: tree of arrays.
      axis_name: a named axis, or several.
      source: the index along the axis whose value is sent.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.vmap(lambda x: xc.lax.pbroadcast(x, "i", 1), axis_name="i")(xnp.arange(3))
    Array([1, 1, 1], dtype=int32)
    """
    size = axes.axis_size(_names(axis_name))
    if not 0 <= source < size:
        raise ValueError(
            f"xcore.lax.pbroadcast: members are numbered 0 to {size - 1}, given source={source}."
        )
    here = ops.eq(axis_index(axis_name), np.int32(source))

    def one(v):
        t = typeof(v)
        kept = ops.select(ops.broadcast_in_dim(here, shape=t.shape, dims=()), v, ops.zeros(t))
        if t.dtype == bool:
            return c.pmax(kept, axis_name=_names(axis_name))
        return c.psum(kept, axis_name=_names(axis_name))

    return _map_leaves(x, one)


@boundary
def pvary(x, axis_name):
    """The same value. Values need no mark that they differ between the members of a named axis.

    Args:
      x: tree of arrays.
      axis_name: a named axis, or several.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.vmap(lambda x: xc.lax.pvary(x, "i") + 1, axis_name="i")(xnp.arange(2))
    Array([1, 2], dtype=int32)
    """
    names = _names(axis_name)
    return tree.map(lambda v: spread(v, names), x)


_CASTS = ("varying", "reduced", "invarying")


def _check_cast(who: str, to: str) -> None:
    one_of(f"lax.{who}", "to", to, _CASTS, f"one of {', '.join(map(repr, _CASTS))}")


@boundary
def pcast(x, axis_name, *, to: str):
    """The same value, as one that differs between the members of a named axis (``to="varying"``).

    Args:
      x: tree of arrays.
      axis_name: a named axis, or several.
      to: "varying", the only one of use here.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.vmap(lambda x: xc.lax.pcast(x, "i", to="varying"), axis_name="i")(xnp.arange(2))
    Array([0, 1], dtype=int32)
    """
    if to != "varying":
        raise errors.bad_argument(
            "lax.pcast", "to", to, "'varying'",
            "That members hold the same value follows here from how it was made (lax.psum, lax.all_gather).",
        )  # fmt: skip
    return pvary(x, axis_name)


@boundary
def pswapaxes(x, axis_name, axis: int, *, axis_index_groups=None):
    """Exchange a named axis with an array axis of the same length: a transposition over the members.

    Args:
      x: tree of arrays.
      axis_name: a named axis, or several.
      axis: of the array, as long as the named one.
      axis_index_groups: as for ``psum``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.vmap(lambda row: xc.lax.pswapaxes(row, "i", 0), axis_name="i")(xnp.array([[0, 1], [2, 3]]))
    Array([[0, 2],
           [1, 3]], dtype=int32)
    """
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


@boundary
def all_to_all(
    x, axis_name, split_axis: int, concat_axis: int, *, axis_index_groups=None, tiled: bool = False
):
    """Split every member's value along one axis and give part j to member j, joined along another.

    Args:
      x: tree of arrays.
      axis_name: a named axis, or several.
      split_axis: the axis whose parts are handed out.
      concat_axis: the axis along which the parts that arrive are joined.
      axis_index_groups: as for ``psum``.
      tiled: whether the axes stay; otherwise parts have length 1, and their axis moves.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.vmap(lambda x: xc.lax.all_to_all(x, "i", 0, 0), axis_name="i")(xnp.asarray([[1, 2], [3, 4]]))
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    groups, size = _group_params("all_to_all", axis_name, axis_index_groups)
    names = _names(axis_name)
    given = {**_sizes(names), **groups}

    def exchange(v):
        t = typeof(v)
        split, concat = split_axis % t.ndim, concat_axis % t.ndim
        if tiled:
            params = {"split": split, "concat": concat, **given}
            return _bind_checked(c.all_to_all, v, axis_name=names, axis_size=size, **params)
        if t.shape[split] != size:
            raise errors.shape_mismatch(
                "lax.all_to_all", f"need size {size} along axis {split}", x=t
            )
        # the split axis disappears, and a new one as long as the named axis stands at concat
        out = c.all_to_all(ops.reshape(ops.move_axis(v, split, 0), shape=(size, *_without_axis(t.shape, split))),
                           axis_name=names, axis_size=size, split=0, concat=0, **given)  # fmt: skip
        return ops.move_axis(out, 0, concat)

    return _map_leaves(x, exchange)


def _without_axis(shape, axis) -> tuple:
    return tuple(n for i, n in enumerate(shape) if i != axis)
