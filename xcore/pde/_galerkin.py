"""Coarse operators made of the finer ones, for coefficients that jump.

Along an axis nodes are coarse ones or lie between; a node that lies between along the axes T takes
its value from its neighbours along T, by its own equation, summed over the other axes. So what flows
in flows out, whatever jumps. With this interpolation p the coarse operator is pᵀ a p: a stencil of
3ᵈ points, found from its products with fields of ones at every third node.

Elements off the diagonal are kept as such, and in the middle what a row sums up to: zero but where
there are sinks. Products are sums of flows, and those of constants vanish whatever rounding does. In
single precision a diagonal of its own would make sinks of 1e-7 of it, more than what ties a region
to its surroundings where a coefficient jumps by 1e6. The sums of pᵀ a p are pᵀ (s - a d), with the
sums s of a and d = 1 - p 1, what interpolation loses of constants.

A periodic axis of an odd number of nodes has two coarse nodes side by side. On each level they are elsewhere,
so that no edge stays short while all others become longer.
(Alcouffe, Brandt, Dendy and Painter 1981, "The multi-grid method for the diffusion equation with
strongly discontinuous coefficients"; Dendy 1982, "Black box multigrid")
"""

from __future__ import annotations

import itertools
from functools import reduce

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import linear_transpose, scan
from .._core import typeof
from ..numpy._select import cut, safe_divide
from ._along import along, shifted
from ._colours import colours
from ._couplings import offsets
from ._grid import size

_LARGE = 2**16  # nodes
_OUTSIDE, _NOBODY = -1, -2  # colours


def product(stencil, u, rings):
    """Σ over the offsets of stencil × (field there - field), + the one in the middle × field."""
    near = _near if size(typeof(u).shape) < _LARGE or any(rings) else _near_of_large
    sums, flows = split(stencil)
    others = split(near(u, rings))[1]
    return reduce(xnp.add, [c * (x - u) for c, x in zip(flows, others, strict=True)], sums * u)


def split(parts) -> tuple:
    """The one in the middle, and the others."""
    middle = len(parts) // 2
    return parts[middle], (*parts[:middle], *parts[middle + 1 :])


def diagonal_of(stencil):
    """The diagonal of the operator."""
    sums, flows = split(stencil)
    return reduce(xnp.subtract, flows, sums)


def _near(u, rings) -> list:
    """The field at all offsets, cut out of one with a rim."""
    wide, shape = u, typeof(u).shape
    for axis, ring in enumerate(rings):
        n = shape[axis]
        ends = [cut(wide, axis, n - 1, n), cut(wide, axis, 0, 1)]
        low, high = ends if ring else [xnp.zeros_like(x) for x in ends]
        wide = xnp.concatenate([low, wide, high], axis=axis)
    return [
        wide[tuple(slice(1 + s, 1 + s + n) for s, n in zip(offset, shape, strict=True))]
        for offset in offsets(len(shape))
    ]


def _near_of_large(u, rings) -> list:
    """The same without a copy: memory is what takes the time then."""
    zero, none = xnp.zeros((), typeof(u).dtype), (0,) * len(rings)
    turned = [(tuple(-s for s in offset), offset) for offset in offsets(len(rings))]
    return [ops.pad(u, zero, low=low, high=high, interior=none) for low, high in turned]


def stencil_of(level) -> tuple:
    """The elements of a level's operator for each offset, and in the middle the sums of rows."""
    if level.stencil is not None:
        return level.stencil
    ndim, found, sums = len(level.shape), {}, level.sinks
    for axis in range(ndim):
        for side, link in zip((-1, 1), level.links(axis), strict=True):
            link, out = (link, 0) if level.rings[axis] else _inner(link, axis, side)
            sums = sums + out
            found[tuple(side * (i == axis) for i in range(ndim))] = -link
    zero = xnp.zeros_like(level.diagonal)
    return tuple(found.get(o, zero) if any(o) else sums for o in offsets(ndim))


def _inner(link, axis: int, side: int) -> tuple:
    """The links that lead to nodes, and those that lead to a face."""
    n = typeof(link).shape[axis]
    last = np.arange(n) == (0 if side < 0 else n - 1)
    last = last.reshape([-1 if i == axis else 1 for i in range(typeof(link).ndim)])
    return xnp.where(last, 0, link), xnp.where(last, link, 0)


# Interpolation


def _classes(level) -> list[tuple]:
    """The sets of axes along which a node can lie between coarse ones, smaller ones first."""
    halved = [i for i, s in enumerate(level.strides) if s == 2]
    return [t for k in range(len(halved) + 1) for t in itertools.combinations(halved, k)]


def _of_class(level, x, between: tuple):
    """The part of a field at the nodes of a class."""
    for axis, (stride, off) in enumerate(zip(level.strides, level.offsets, strict=True)):
        if stride == 2:
            x = cut(x, axis, 1 - off if axis in between else off, level.shape[axis], 2)
    return x


def weights_of(level) -> tuple:
    """For each class but the first what a constant loses, and the weights of the neighbours along its
    axes."""
    stencil = dict(zip(offsets(len(level.shape)), stencil_of(level), strict=True))
    return tuple(_weights(level, stencil, t) for t in _classes(level)[1:])


def _weights(level, stencil: dict, between: tuple) -> tuple:
    total = {}
    for offset, x in stencil.items():
        key = tuple(offset[i] for i in between)
        if any(key) or not any(offset):
            x = _of_class(level, x, between)
            total[key] = total[key] + x if key in total else x
    sums = xnp.maximum(total.pop((0,) * len(between)), 0)
    # rows that do not have the signs of flows stay tame: what has the wrong one is left out
    flows = [xnp.maximum(-x, 0) for x in total.values()]
    centre = reduce(xnp.add, flows, sums)
    share = safe_divide(1, centre, where=centre > 0)
    return (share * sums, *[share * x for x in flows])


def _turned(level, axis: int) -> bool:
    """Whether an axis is periodic, of an odd number of nodes, and coarsened."""
    return level.rings[axis] and level.strides[axis] == 2 and level.shape[axis] % 2 == 1


def _beside(level, x, axis: int, side: int):
    """The coarse values next to the nodes between, along an axis."""
    if level.rings[axis] and not _turned(level, axis):
        return x if side < 0 else shifted(x, axis, 1, True)
    count = level.shape[axis] - typeof(x).shape[axis]
    first = (side + 1) // 2 + 1 - level.offsets[axis]  # in x with a zero at both ends
    one = tuple(int(i == axis) for i in range(typeof(x).ndim))
    wide = ops.pad(x, xnp.zeros((), typeof(x).dtype), low=one, high=one, interior=(0,) * len(one))
    return cut(wide, axis, first, first + count)


def _woven(level, coarse, between, axis: int):
    """A field from its parts at coarse nodes and between, along an axis."""
    first, second = (between, coarse) if level.offsets[axis] else (coarse, between)
    n = level.shape[axis]
    if n % 2:
        zero = xnp.zeros_like(cut(second, axis, 0, 1))
        second = xnp.concatenate([second, zero], axis=axis)
    shape = list(typeof(first).shape)
    shape[axis] *= 2
    return cut(xnp.stack([first, second], axis=axis + 1).reshape(shape), axis, 0, n)


def prolong(level, coarse, losses=None):
    """Values on a level from those on the next. Where ``losses`` is 1, 1 less those from 1 less
    these."""
    for axis in range(len(level.shape)):
        if _turned(level, axis):  # the pair side by side is in the middle of the coarse axis
            coarse = shifted(coarse, axis, typeof(coarse).shape[axis] // 2, True)
    classes = _classes(level)
    parts = {(): coarse}
    for between, (lost, *weights) in zip(classes[1:], level.weights, strict=True):
        sides = [s for s in offsets(len(between)) if any(s)]
        terms = [
            w * _neighbour(level, parts, between, side)
            for w, side in zip(weights, sides, strict=True)
        ]
        terms += [] if losses is None else [losses * lost]
        parts[between] = reduce(xnp.add, terms)
    for axis in (i for i, s in enumerate(level.strides) if s == 2):
        rest = [t for t in parts if axis not in t]
        parts = {t: _woven(level, parts[t], parts[_with(t, axis)], axis) for t in rest}
    return parts[()]


def _with(axes: tuple, axis: int) -> tuple:
    return tuple(sorted((*axes, axis)))


def _neighbour(level, parts: dict, between: tuple, side: tuple):
    """Values at the neighbours, on these sides along these axes, of the nodes of a class."""
    x = parts[tuple(i for i, s in zip(between, side, strict=True) if not s)]
    for axis, s in zip(between, side, strict=True):
        x = _beside(level, x, axis, s) if s else x
    return x


# The coarse operator


def coarse_stencil(level) -> tuple:
    """The stencil of pᵀ a p: off the diagonal from its products with one field for each colour of
    coarse nodes."""
    ndim, dtype = len(level.shape), typeof(level.diagonal).dtype
    shape = tuple(
        len(range(off, n, 2)) if s == 2 else n
        for n, off, s in zip(level.shape, level.offsets, level.strides, strict=True)
    )
    lines = [colours(n, 1, ring) for n, ring in zip(shape, level.rings, strict=True)]
    example = xnp.zeros(shape, dtype)
    back = linear_transpose(lambda u: prolong(level, u), example)

    def marked(colour, offset):
        """Whether the node at an offset has this colour."""
        every = zip(lines, colour, offset, level.rings, strict=True)
        marks = [along(_moved(line, s, ring), i, ndim, np.int32) == c
                 for i, (line, c, s, ring) in enumerate(every)]  # fmt: skip
        return xnp.broadcast_to(reduce(xnp.logical_and, marks), shape)

    def add(found, colour):
        last = colour[0] < 0  # all others have been there: what is left are the sums
        ones = marked(colour, (0,) * ndim).astype(dtype)
        flows = level(prolong(level, ones, xnp.where(last, 1, 0).astype(dtype)))
        made = back(xnp.where(last, sums - flows, flows))[0]
        every = zip(found[:-1], half, strict=True)
        found = [xnp.where(marked(colour, o), made, x) for x, o in every]
        return (*found, made), None

    half, sums = offsets(ndim)[3**ndim // 2 + 1 :], stencil_of(level)[3**ndim // 2]
    each = list(itertools.product(*[sorted(set(line.tolist())) for line in lines]))
    each = np.array([*each, (_NOBODY,) * ndim], np.int32)
    *found, sums = scan(add, (example,) * (len(half) + 1), each)[0]
    # the same numbers from both ends of an edge, as what leaves one node arrives at the other
    other = [_from(x, o, level.rings) for x, o in zip(found, half, strict=True)]
    return (*other[::-1], sums, *found)


def _from(x, offset, rings):
    """The field at the nodes that an offset leads away from."""
    for axis, (by, ring) in enumerate(zip(offset, rings, strict=True)):
        x = shifted(x, axis, -by, ring)
    return x


def _moved(line: np.ndarray, by: int, ring: bool) -> np.ndarray:
    """line[k + by], and a colour of nobody outside."""
    moved = np.roll(line, -by)
    if by and not ring:
        moved[-1 if by > 0 else 0] = _OUTSIDE
    return moved
