"""The part of a box that a mask leaves, on every level of a multigrid hierarchy.

A coarse grid has every second node, and the same boundary: a gap that led over a node that is left
out goes on to what comes behind it, with the resistances a⁻¹ × length added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import struct, typeof
from ._along import along, shifted
from ._grid import trapezoid
from ._masked import Masked


@struct
class Geometry:
    """What the symmetric operator of a level is made of.

    Attributes:
      lines: for each axis the places of all nodes, those on the faces among them.
      inside: where there are unknowns.
      gaps, resistances: for each axis and side the way to the next node or to the boundary, and
        its integral of 1/a.
      joined: for each axis and side whether an unknown lies at the end of that way.
      values: for each axis and side the solution at the end of that way, if it is the boundary.
      c: at the nodes; None for zero.
    """

    lines: Any
    inside: Any
    gaps: Any
    resistances: Any
    joined: Any
    values: Any
    c: Any

    def _area(self, but: int | None, dtype):
        n, out = len(self.lines), np.ones((), dtype)
        for i in range(n):
            if i != but:
                out = out * along(trapezoid(self.lines[i])[1:-1], i, n, dtype)
        return out

    def flows(self):
        """(edges, sinks, walls), as levels hold them."""
        dtype = typeof(self.gaps[0][0]).dtype
        volume = self._area(None, dtype)
        total = xnp.zeros(typeof(self.inside).shape, dtype)
        total = total if self.c is None else total + self.c * volume
        edges, walls = [], []
        for axis, (ways, joined) in enumerate(zip(self.resistances, self.joined, strict=True)):
            low, high = (self._area(axis, dtype) / way for way in ways)
            one = [int(i == axis) for i in range(len(self.lines))]
            none, zero = (0,) * len(one), xnp.zeros((), dtype)
            inner = xnp.where(joined[1], high, 0)
            edges.append(ops.pad(inner, zero, low=tuple(one), high=none, interior=none))
            met = [
                xnp.where(self.inside & ~j, x, 0) for j, x in zip(joined, (low, high), strict=True)
            ]
            walls.append(met[0] + met[1])
            total = total + walls[-1]
        return edges, xnp.where(self.inside, total, xnp.ones((), dtype)), tuple(walls)

    def wall_flows(self) -> tuple:
        """For each axis what flows in from the boundary if the solution vanishes at the nodes."""
        dtype, found = typeof(self.gaps[0][0]).dtype, []
        for axis, (ways, joined) in enumerate(zip(self.resistances, self.joined, strict=True)):
            sides = zip(ways, joined, self.values[axis], strict=True)
            area = self._area(axis, dtype)
            low, high = (
                xnp.where(self.inside & ~j, area / way * value, 0) for way, j, value in sides
            )
            found.append(low + high)
        return tuple(found)

    def coarser(self, strides) -> Geometry:
        """The geometry on every second node, along the axes with stride 2."""
        g = self
        for axis, stride in enumerate(strides):
            g = g._thinned(axis) if stride == 2 else g
        return g

    def _thinned(self, axis: int) -> Geometry:
        pick = lambda x: x[(slice(None),) * axis + (slice(1, None, 2),)]  # noqa: E731
        gaps, ways, values = (
            [tuple(map(pick, pair)) for pair in whole]
            for whole in (self.gaps, self.resistances, self.values)
        )
        joined = [tuple(map(pick, pair)) for pair in self.joined]
        passed = [self.joined[axis][side] for side in (0, 1)]
        beyond = lambda x, side: shifted(x, axis, 2 * side - 1)  # noqa: E731
        longer = lambda whole: tuple(  # noqa: E731
            pick(whole[axis][s] + xnp.where(passed[s], beyond(whole[axis][s], s), 0))
            for s in (0, 1)
        )
        gaps[axis], ways[axis] = longer(self.gaps), longer(self.resistances)
        values[axis] = tuple(
            pick(xnp.where(passed[s], beyond(self.values[axis][s], s), self.values[axis][s]))
            for s in (0, 1)
        )
        joined[axis] = tuple(pick(passed[s] & beyond(passed[s], s)) for s in (0, 1))
        lines, x = list(self.lines), self.lines[axis]
        lines[axis] = np.concatenate([x[:1], x[2:-1:2], x[-1:]])
        c = self.c if self.c is None else pick(self.c)
        parts = map(tuple, (gaps, ways, joined, values))
        return Geometry(tuple(lines), pick(self.inside), *parts, c)


def coarser_masked(op: Masked) -> Masked:
    """The operator on every second node, with the boundary where it is; a staircase moves to the
    nodes that are left, as it would on that grid."""
    fine, strides = geometry(op), (2,) * op.grid.ndim
    g, grid = fine.coarser(strides), op.grid.coarser()
    ways = tuple(zip(g.gaps, g.resistances, strict=True))
    a = tuple(tuple(gap / way for gap, way in zip(*pairs, strict=True)) for pairs in ways)
    gaps = g.gaps
    if op.edge == "staircase":
        lines = [np.diff(line) for line in g.lines]
        full = [(along(d[:-1], i, op.grid.ndim, op.dtype), along(d[1:], i, op.grid.ndim, op.dtype))
                for i, d in enumerate(lines)]  # fmt: skip
        shape = typeof(g.inside).shape
        gaps = tuple(tuple(xnp.broadcast_to(x, shape) for x in pair) for pair in full)
    return Masked(grid, g.inside, a, g.values, g.c, op.edge, gaps)


def geometry(op: Masked) -> Geometry:
    """That of an operator."""
    shape, dtype, n = op.field_shape, op.dtype, op.grid.ndim
    fill = lambda x: xnp.broadcast_to(x, shape).astype(dtype)  # noqa: E731
    gaps = tuple(tuple(map(fill, pair)) for pair in op.gaps)
    ways = tuple(
        tuple(g / fill(a) for g, a in zip(*pairs, strict=True))
        for pairs in zip(gaps, op.a, strict=True)
    )
    joined = tuple(
        tuple(op.inside & shifted(op.inside, axis, s) for s in (-1, 1)) for axis in range(n)
    )
    lines = tuple(op.grid.nodes(i) for i in range(n))
    values = tuple(tuple(map(fill, pair)) for pair in op.value)
    c = None if op.c is None else fill(op.c)
    return Geometry(lines, op.inside, gaps, ways, joined, values, c)
