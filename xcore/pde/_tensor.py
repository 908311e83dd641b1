"""div(a grad u) for a symmetric matrix a(x), in the form of flows between nodes.

A cell has the mean of a at its corners. The integral of ∇u · a ∇u over it is taken as the mean, over its corners, of
what the slopes along the edges that meet there say, which is not negative for any u. The product of two slopes is a
difference of squared differences between opposite corners, so an element b behind the diagonal is a conductance b / 2
between two opposite corners of a side of a cell, and -b / 2 between the other two. Of order 2 where a is smooth.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import Array, dtypes, errors, typeof
from ..numpy._select import cut
from ._along import along, padded
from ._boundary import real_only
from ._galerkin import diagonal_of, offsets
from ._grid import Grid, evaluated, real_dtype


def parts_of(who: str, grid: Grid, a):
    """(elements on the diagonal, elements behind it) of what is a matrix at each node; None for all else."""
    n = grid.ndim
    known: Any = evaluated(who, "a", a, grid.coordinates()) if callable(a) else a
    nested = isinstance(known, (tuple, list)) and any(isinstance(r, (tuple, list)) for r in known)
    if nested:
        square = len(known) == n and all(
            isinstance(r, (tuple, list)) and len(r) == n for r in known
        )
    else:
        shape = () if isinstance(known, (tuple, list)) else xnp.shape(known)
        nested = square = (
            n > 1 and shape[:2] == (n, n) and shape[2:] in ((), grid.shape) and shape != grid.shape
        )
    if not nested:
        return None
    want = f"{n} × {n} numbers, functions, or arrays at all nodes, {grid.shape}"
    if not square:
        raise errors.bad_argument(who, "a", known, f"of a matrix {want}")
    if grid.centred:
        advice = "Give a number for each axis, or take pde.Grid(...), whose fields are at nodes."
        raise errors.bad_argument(
            who, "a", errors.Words("a matrix"), "not a matrix for fields of cells", advice
        )
    rows = [[_at_nodes(who, grid, known[i][j]) for j in range(n)] for i in range(n)]
    _require_positive(who, rows)
    return tuple(rows[i][i] for i in range(n)), tuple(rows[i][j] for i, j in pairs(n))


def pairs(ndim: int) -> list[tuple]:
    """(row, column) of the elements behind the diagonal."""
    return list(itertools.combinations(range(ndim), 2))


def _at_nodes(who: str, grid: Grid, x):
    x = xnp.asarray(evaluated(who, "a", x, grid.coordinates()) if callable(x) else x)
    if x.ndim and x.shape != grid.shape:
        raise errors.shape_mismatch(who, f"need elements of a at all nodes, {grid.shape}", a=x)
    real_only(who, "a", x)
    return x if dtypes.is_inexact(x.dtype) else x.astype(real_dtype())


def _require_positive(who: str, rows) -> None:
    if not all(type(x) is Array for row in rows for x in row):
        return
    shape = np.broadcast_shapes(*[x.shape for row in rows for x in row])
    m = np.stack(
        [np.stack([np.broadcast_to(np.asarray(x), shape) for x in row], -1) for row in rows], -2
    )
    size = np.abs(m).max(axis=(-1, -2), keepdims=True)
    if not np.all(np.abs(m - np.swapaxes(m, -1, -2)) <= 1e-5 * size):
        raise errors.bad_argument(
            who, "a", errors.Words("a matrix"), "symmetric: a[i][j] equal to a[j][i]"
        )
    least = np.linalg.eigvalsh(m.astype(np.float64)).min(initial=np.inf)
    if not least > 0:
        raise errors.bad_argument(
            who, "a", float(least), "positive definite", "Its least eigenvalue is shown."
        )


# Conductances


def links(op) -> dict:
    """offset -> conductances of the edges that lead there, of one of two opposite offsets each. They have as many
    elements as there are cells along the axes of the offset, as many as there are nodes along the others."""
    n, dtype = op.grid.ndim, op.dtype
    h = [along(op.grid.widths(i), i, n, np.float64) for i in range(n)]
    volume = functools.reduce(np.multiply, h)
    found = {}
    for i, a in enumerate(op.a):
        way = (volume / h[i] ** 2 / 2 ** (n - 1)).astype(dtype)
        found[_unit(n, i)] = _spread(way * _of_cells(op, a), i)
    for (i, j), b in zip(pairs(n), op.mixed, strict=True):
        way = (volume / (h[i] * h[j]) / 2 ** (n - 1)).astype(dtype)
        half = _spread(way * _of_cells(op, b), i, j)
        found[tuple(x + y for x, y in zip(_unit(n, i), _unit(n, j), strict=True))] = half
        found[tuple(x - y for x, y in zip(_unit(n, i), _unit(n, j), strict=True))] = -half
    return found


def _unit(n: int, axis: int) -> tuple:
    return tuple(int(i == axis) for i in range(n))


def _of_cells(op, x):
    """The means over the corners of cells."""
    x = xnp.broadcast_to(x, op.grid.shape).astype(op.dtype)
    for axis, m in enumerate(op.grid.cells):
        x = (cut(x, axis, 0, m) + cut(x, axis, 1, m + 1)) / 2
    return x


def _spread(x, *but: int):
    """What cells give to their sides: to both, along all axes but some."""
    for axis in range(typeof(x).ndim):
        if axis not in but:
            n = typeof(x).shape[axis] + 1
            x = padded(x, axis, 0, n) + padded(x, axis, 1, n)
    return x


def _ends(x, offset, cells):
    """Of values at all nodes those at both ends of the edges along an offset."""
    ends = [x, x]
    for axis, (s, m) in enumerate(zip(offset, cells, strict=True)):
        if s:
            first = int(s < 0)
            ends = [cut(e, axis, k, k + m) for e, k in zip(ends, (first, 1 - first), strict=True)]
    return ends


def _placed(x, offset, end: int):
    """Numbers of edges at the nodes at one of their ends, in an array of all nodes."""
    for axis, s in enumerate(offset):
        if s:
            x = padded(x, axis, int((s < 0) != bool(end)), typeof(x).shape[axis] + 1)
    return x


def _at_unknowns(op, x):
    """Of an array at all nodes what belongs to unknowns; the last node of a periodic axis is the first."""
    for axis, a in enumerate(op.axes):
        if a.ring:
            x = cut(x, axis, 0, a.count) + padded(
                cut(x, axis, a.count, a.count + 1), axis, 0, a.count
            )
        else:
            x = cut(x, axis, a.start, a.start + a.count)
    return x


def _with_zeros(op, u):
    """A field with zeros on Dirichlet faces, at all nodes."""
    for axis, a in enumerate(op.axes):
        n = typeof(u).shape[axis]
        if a.ring:
            u = xnp.concatenate([u, cut(u, axis, 0, 1)], axis=axis)
        else:
            u = padded(u, axis, a.start, op.grid.shape[axis]) if n != op.grid.shape[axis] else u
    return u


def outflow(op, u):
    """What flows out of the nodes, without sinks; u vanishes on Dirichlet faces."""
    return _outflow(op, _with_zeros(op, u))


def from_faces(op, dtype):
    """The same of the field that is zero inside and has the data on Dirichlet faces."""
    return _outflow(op, op.full(xnp.zeros(op.field_shape, dtype)).astype(dtype))


def _outflow(op, w):
    out = xnp.zeros_like(w)
    for offset, k in links(op).items():
        here, there = _ends(w, offset, op.grid.cells)
        flow = k * (here - there)
        out = out + (_placed(flow, offset, 0) - _placed(flow, offset, 1))
    return _at_unknowns(op, out)


def stencil(op, sinks) -> tuple:
    """The elements as ``_galerkin`` takes them: zero where an offset leads outside, and in the middle sums of rows."""
    n, shape = op.grid.ndim, op.field_shape
    found, sums = {}, sinks
    for offset, k in links(op).items():
        for end, o in ((0, offset), (1, tuple(-s for s in offset))):
            x, beyond = _at_unknowns(op, _placed(k, offset, end)), np.zeros((1,) * n, bool)
            for axis, (s, a) in enumerate(zip(o, op.axes, strict=True)):
                if s and not a.ring:
                    edge = np.arange(shape[axis]) == (0 if s < 0 else shape[axis] - 1)
                    beyond = beyond | edge.reshape([-1 if i == axis else 1 for i in range(n)])
            sums = sums + xnp.where(beyond, x, 0)
            found[o] = -xnp.where(beyond, 0, x)
    zero = xnp.zeros(shape, op.dtype)
    return tuple(sums if not any(o) else found.get(o, zero) for o in offsets(n))


def absolute(op, sinks):
    """For each row of the stiffness the sum of the absolute values of its elements, at most."""
    parts = stencil(op, sinks)
    middle = len(parts) // 2
    rest = [xnp.abs(x) for k, x in enumerate(parts) if k != middle]
    return functools.reduce(xnp.add, rest, xnp.abs(diagonal_of(parts)))
