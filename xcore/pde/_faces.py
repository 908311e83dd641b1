"""A grid with conditions on its faces: its axes, the orders it has, fields with the nodes of the faces."""

from __future__ import annotations

from .. import numpy as xnp
from .._core import errors, one_of, typeof
from ._along import slab
from ._axis import Axis, fewest_cells, make_axis
from ._boundary import face_shape, face_values
from ._grid import Grid


def axes_of(grid: Grid, faces, order: int = 2, derivative: int = 2, lean: int = 0) -> tuple[Axis, ...]:  # fmt: skip
    """The axes of a grid with these conditions."""
    return tuple(
        make_axis(grid.stretched[i], grid.cells[i], grid.lower[i], grid.upper[i],
                  faces[i][0].kind, faces[i][1].kind, order, derivative, lean, grid.centred)
        for i in range(grid.ndim)
    )  # fmt: skip


def check_order(who: str, grid: Grid, order: int) -> None:
    """The order exists, on this grid."""
    one_of(who, "order", order, (2, 4, 6), '2, 4, 6 or "compact"')
    if order > 2 and grid.centred:
        advice = "Fields at the nodes, pde.Grid(...), have orders 4 and 6."
        raise errors.bad_argument(who, "order", order, "2 for fields of cells", advice)
    if order > 2 and not grid.uniform:
        advice = "Stretched axes have order 2; map the coordinates, or use equal cells."
        raise errors.bad_argument(who, "order", order, "2 on stretched axes", advice)
    if min(grid.cells) < fewest_cells(order):
        want = f"{fewest_cells(order)} or more along each axis for order {order}"
        raise errors.bad_argument(who, "cells", grid.cells, want)


def with_faces(u, axis: int, a: Axis, op):
    """The field with the nodes of its Dirichlet faces along an axis; a periodic axis with its first node
    again behind the last. Earlier axes are complete already, so edges are of the later axis."""
    if a.ring:
        return xnp.concatenate([u, slab(u, axis, 0, 1)], axis=axis)
    parts = [u]
    for side in (0, 1):
        condition = op.faces[axis][side]
        if condition.kind[1]:
            continue
        shape = face_shape(op.grid, axis, op.faces)
        whole = face_values(condition, shape, typeof(u).dtype)
        others = [b for i, b in enumerate(op.axes) if i != axis]
        for j, b in enumerate(others):
            place = j if j < axis else j + 1
            if place > axis:
                whole = whole[(slice(None),) * j + (b.slice,)]
            elif b.ring:
                whole = xnp.concatenate([whole, slab(whole, j, 0, 1)], axis=j)
        part = xnp.expand_dims(whole, axis)
        parts = [part, *parts] if side == 0 else [*parts, part]
    return xnp.concatenate(parts, axis=axis)
