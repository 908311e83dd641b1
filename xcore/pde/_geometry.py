"""The part of a box that a mask leaves, on every level of a multigrid hierarchy.

A coarse grid has every second node, and the same boundary: a gap that led over a node that is left
out goes on to what comes behind it, with the resistances a⁻¹ × length added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core.struct import struct
from .._core.types import typeof
from ._fields import along, shifted
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
      c: at the nodes; None for zero.
    """

    lines: Any
    inside: Any
    gaps: Any
    resistances: Any
    joined: Any
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
            none, nil = (0,) * len(one), xnp.zeros((), dtype)
            inner = xnp.where(joined[1], high, 0)
            edges.append(ops.pad(inner, nil, low=tuple(one), high=none, interior=none))
            met = [
                xnp.where(self.inside & ~j, x, 0) for j, x in zip(joined, (low, high), strict=True)
            ]
            walls.append(met[0] + met[1])
            total = total + walls[-1]
        return edges, xnp.where(self.inside, total, xnp.ones((), dtype)), tuple(walls)

    def coarser(self, strides) -> Geometry:
        """The geometry on every second node, along the axes with stride 2."""
        g = self
        for axis, stride in enumerate(strides):
            g = g._thinned(axis) if stride == 2 else g
        return g

    def _thinned(self, axis: int) -> Geometry:
        pick = lambda x: x[(slice(None),) * axis + (slice(1, None, 2),)]  # noqa: E731
        gaps, ways = (
            [tuple(map(pick, pair)) for pair in whole] for whole in (self.gaps, self.resistances)
        )
        joined = [tuple(map(pick, pair)) for pair in self.joined]
        passed = [self.joined[axis][side] for side in (0, 1)]
        beyond = lambda x, side: shifted(x, axis, 2 * side - 1)  # noqa: E731
        longer = lambda whole: tuple(  # noqa: E731
            pick(whole[axis][s] + xnp.where(passed[s], beyond(whole[axis][s], s), 0))
            for s in (0, 1)
        )
        gaps[axis], ways[axis] = longer(self.gaps), longer(self.resistances)
        joined[axis] = tuple(pick(passed[s] & beyond(passed[s], s)) for s in (0, 1))
        lines, x = list(self.lines), self.lines[axis]
        lines[axis] = np.concatenate([x[:1], x[2:-1:2], x[-1:]])
        c = self.c if self.c is None else pick(self.c)
        return Geometry(tuple(lines), pick(self.inside), tuple(gaps), tuple(ways), tuple(joined), c)


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
    return Geometry(lines, op.inside, gaps, ways, joined, None if op.c is None else fill(op.c))
