"""Coefficients given as functions that jump anywhere between nodes: jumps are looked for on each way, and means taken
of both parts.

What flows between two nodes has the harmonic mean of a along the way, over both parts of it, and of that the plain
mean across the way. A harmonic mean tells the flow where the resistance is, in the centre of 1 / a: there volumes end,
so behind a jump of many times all of a way belongs to the node on the side that conducts. Where interfaces run along
the axes this is right up to the order h², whatever the jump.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import Array, Value, ensure_compile_time_eval, errors
from ._grid import Grid, real_dtype

_HALVINGS = 40


def shares(grid: Grid, fs: tuple, rings: tuple) -> np.ndarray:
    """At all nodes the volumes, relative to those that end half-way."""
    places, out = _mesh([np.asarray(grid.nodes(i)) for i in range(grid.ndim)]), np.ones(grid.shape)
    for axis, f in enumerate(fs):
        found = []
        for g in (f, None):
            low, high = _bounds(grid, g, axis, rings[axis], places)
            wide = high - low
            found.append(_joined(wide, axis) if rings[axis] and not grid.centred else wide)
        out = out * found[0] / found[1]
    return out


def between(grid: Grid, fs: tuple, axis: int, rings: tuple, kinds: tuple):
    """Means of f on the ways between nodes along an axis; of one that is not periodic also its values on both faces, or
    beside cells whose face has a given value the means up to there."""
    f, x = fs[axis], np.asarray(grid.nodes(axis))
    (first, last), low, high = grid.corners(axis)[[0, -1]], x[:-1], x[1:]
    if grid.centred and rings[axis]:
        low, high = np.append(x[-1] - (last - first), x), np.append(x, x[0] + last - first)
        f = _around(f, axis, first, last)
    elif not rings[axis]:
        low = np.concatenate([[first], low, x[-1:]])
        high = np.concatenate([x[:1], high, [last]])
        if grid.centred:
            high[0], low[-1] = first if kinds[0][1] else x[0], last if kinds[1][1] else x[-1]
    lines = [low if i == axis else np.asarray(grid.nodes(i)) for i in range(grid.ndim)]
    low, high = (_mesh(_put(lines, axis, x))[axis] for x in (low, high))
    places = _put(_mesh(lines), axis, (low + high) / 2)
    total, usual = 0.0, 1.0  # areas are those of volumes that end half-way
    for others, widths in _across(grid, f, fs, rings, axis, places):
        total = total + widths * _harmonic(f, axis, low, high, others)
    for i, ring in enumerate(rings):
        if i != axis:
            usual = usual * np.subtract(*_bounds(grid, None, i, ring, places)[::-1])
    for i, ring in enumerate(rings):
        if ring and i != axis and not grid.centred:  # both ends are one node
            total, usual = _joined(total, i), _joined(usual, i)
    return xnp.asarray(total / usual, real_dtype())


def _mesh(lines) -> list:
    return list(np.meshgrid(*lines, indexing="ij"))


def _put(places, axis: int, x) -> list:
    return [x if i == axis else y for i, y in enumerate(places)]


def _around(f, axis: int, first, last):
    """A function of coordinates of which one goes round."""

    def turned(*places):
        x = places[axis]
        x = xnp.where(x < first, x + (last - first), xnp.where(x > last, x - (last - first), x))
        return f(*_put(places, axis, x))

    return turned


def _where(*values):
    """What computes with values: NumPy where all of them are known."""
    return xnp if any(isinstance(x, Value) for x in values) else np


def _joined(x, axis: int):
    """With the sum of the first and the last element at both ends."""
    on = _where(x)
    take = lambda *k: on.take(x, np.array(k), axis=axis)  # noqa: E731
    n = np.shape(x)[axis]
    ends = take(0) + take(n - 1)
    return on.concatenate([ends, take(*range(1, n - 1)), ends], axis=axis)


def _values(f, places):
    """f at places that are known; in NumPy's double precision where it is known itself."""
    with ensure_compile_time_eval():
        given = [xnp.asarray(x.astype(real_dtype())) for x in places]
    found = xnp.asarray(f(*given))
    if type(found) is not Array:
        return found
    return np.broadcast_to(np.asarray(found, np.float64), places[0].shape)


def _harmonic(f, axis: int, low, high, places):
    """The harmonic mean of f from low to high along an axis; ``places`` are the coordinates along the others."""
    share, middles = _split(f, axis, low, high, places)
    first, second = (_values(f, _put(places, axis, x)) for x in middles)
    return first * (second / (share * second + (1 - share) * first))


def _split(f, axis: int, low, high, places) -> tuple:
    """(share of the way before the jump, middles of both parts)."""
    jump = _jump(f, axis, low, high, places)
    return (jump - low) / np.where(high > low, high - low, 1), ((low + jump) / 2, (jump + high) / 2)


def _centre(f, axis: int, low, high, places):
    """The centre of 1 / f on the way; where f jumps is a constant to derivatives, and what it is there is none."""
    if f is None:
        return (low + high) / 2
    share, middles = _split(f, axis, low, high, places)
    first, second = (_values(f, _put(places, axis, x)) for x in middles)
    weights = share * second, (1 - share) * first
    return (weights[0] * middles[0] + weights[1] * middles[1]) / (weights[0] + weights[1])


def _bounds(grid: Grid, f, axis: int, ring: bool, places) -> tuple:
    """Where what belongs to nodes begins and ends along an axis, at places."""
    x, n = places[axis], places[axis].shape[axis]
    take = lambda y, a, b: np.take(y, np.arange(a, b), axis)  # noqa: E731
    others = [take(y, 0, n - 1) for y in places]
    inner = _centre(f, axis, take(x, 0, n - 1), take(x, 1, n), others)
    if not grid.centred:
        ends = take(x, 0, 1), take(x, n - 1, n)
    else:
        first, last = grid.corners(axis)[[0, -1]]
        ends = np.full_like(take(x, 0, 1), first), np.full_like(take(x, 0, 1), last)
        if ring:
            period, f = last - first, f and _around(f, axis, first, last)
            others, before = [take(y, 0, 1) for y in places], take(x, n - 1, n) - period
            low = _centre(f, axis, before, take(x, 0, 1), others)
            ends = low, low + period
    on = _where(*ends, inner)
    return on.concatenate([ends[0], inner], axis), on.concatenate([inner, ends[1]], axis)


def _jump(f, axis: int, low, high, places) -> np.ndarray:
    """Where f leaves what it is at low for what it is at high, in ratios."""
    held = lambda *y: ops.stop_gradient(xnp.asarray(f(*y)))  # noqa: E731

    def value(x):
        return np.log(np.maximum(_known(held, _put(places, axis, x)), np.finfo(np.float64).tiny))

    first, last = value(low), value(high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        now = value(middle)
        still = np.abs(now - first) < np.abs(now - last)
        low, high = np.where(still, middle, low), np.where(still, high, middle)
    return (low + high) / 2


def _known(f, places) -> np.ndarray:
    try:
        with ensure_compile_time_eval():
            return np.asarray(_values(f, places))
    except errors.ConcretizationError as e:
        want = "of known values: jumps are looked for when the operator is made"
        advice = 'Make it outside of jit and vmap, or take mean="harmonic".'
        given = "values that are traced"
        raise errors.bad_argument("pde.Diffusion", "a", given, want, advice) from e


def _across(grid: Grid, f, fs, rings, axis: int, places):
    """(coordinates along all axes, widths) of the parts of what belongs to nodes across an axis."""
    parts = [
        [(x, 1.0)] if i == axis else _parts(grid, f, i, places, _bounds(grid, fs[i], i, rings[i], places))
        for i, x in enumerate(places)
    ]  # fmt: skip
    for chosen in itertools.product(*parts):
        yield [x for x, _ in chosen], functools.reduce(lambda w, part: w * part[1], chosen, 1.0)


def _parts(grid: Grid, f, axis: int, places, bounds):
    """(middle, width) of both parts of both halves of what belongs to nodes along an axis."""
    out, near = [], places[axis]
    for end in bounds:
        far = np.asarray(ops.stop_gradient(end), np.float64)  # where f is looked at
        jump = _jump(f, axis, near, far, places)
        out += [((near + jump) / 2, np.abs(jump - near)), ((jump + far) / 2, abs(end - jump))]
    return out
