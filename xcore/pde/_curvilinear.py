"""Orthogonal coordinates other than Cartesian ones: volumes, areas and lengths of their cells.

With scale factors hᵢ and H = Πhᵢ the flow through a face across axis i is (H / hᵢ²) a ∂u/∂ξᵢ. Of all systems
here H, H / hᵢ² and hᵢ are products of functions of one coordinate each, so that a table for each axis tells
them. H / hᵢ² is 0 at poles: no flow comes from there, and nothing is given there.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .. import numpy as xnp
from .._core import Array, errors, one_of
from ._boundary import CONDITIONS, Neumann, Periodic
from ._grid import Grid

CARTESIAN = "cartesian"


class _System(NamedTuple):
    """What is known of one system, for each axis a row.

    Attributes:
      names: of the coordinates.
      measure: for each axis the integral of its part of H, from 0.
      areas: row i: the parts of H / hᵢ².
      scales: row i: the parts of hᵢ.
      turn: what the angles that are left out contribute to volumes and areas.
      bounds: for each axis the least and largest value, and the largest length.
      poles: for each axis where H / hᵢ² is 0.
    """

    names: tuple[str, ...]
    measure: tuple[Callable, ...]
    areas: tuple[tuple[Callable, ...], ...]
    scales: tuple[tuple[Callable, ...], ...]
    turn: float
    bounds: tuple[tuple[float, float, float], ...]
    poles: tuple[tuple[float, ...], ...]

    def part(self, axes: tuple[int, ...], turn: float) -> _System:
        """That of fields which depend on some of the coordinates only."""
        pick = lambda rows: tuple(rows[i] for i in axes)  # noqa: E731
        areas, scales = (tuple(pick(row) for row in pick(x)) for x in (self.areas, self.scales))
        return _System(
            pick(self.names), pick(self.measure), areas, scales, turn, pick(self.bounds), pick(self.poles)
        )  # fmt: skip


def _one(x):
    return np.ones_like(x)


def _same(x):
    return x


def _over(x):
    return 1 / x


_FREE, _RADIUS, _ANGLE = (
    (-np.inf, np.inf, np.inf),
    (0.0, np.inf, np.inf),
    (-np.inf, np.inf, 2 * np.pi),
)

_CYLINDER = _System(
    ("r", "θ", "z"),
    (lambda r: r**2 / 2, _same, _same),
    ((_same, _one, _one), (_over, _one, _one), (_same, _one, _one)),
    ((_one, _one, _one), (_same, _one, _one), (_one, _one, _one)),
    1.0,
    (_RADIUS, _ANGLE, _FREE),
    ((0.0,), (), ()),
)
_BALL = _System(
    ("r", "θ", "φ"),
    (lambda r: r**3 / 3, lambda t: -np.cos(t), _same),
    ((np.square, np.sin, _one), (_one, np.sin, _one), (_one, lambda t: 1 / np.sin(t), _one)),
    ((_one, _one, _one), (_same, _one, _one), (_same, np.sin, _one)),
    1.0,
    (_RADIUS, (0.0, np.pi, np.pi), _ANGLE),
    ((0.0,), (0.0, np.pi), ()),
)
SYSTEMS = {
    ("polar", 1): _CYLINDER.part((0,), 2 * np.pi),
    ("polar", 2): _CYLINDER.part((0, 1), 1.0),
    ("cylindrical", 1): _CYLINDER.part((0,), 2 * np.pi),
    ("cylindrical", 2): _CYLINDER.part((0, 2), 2 * np.pi),
    ("cylindrical", 3): _CYLINDER,
    ("spherical", 1): _BALL.part((0,), 4 * np.pi),
    ("spherical", 2): _BALL.part((0, 1), 2 * np.pi),
    ("spherical", 3): _BALL,
}
_NAMES = (CARTESIAN, "polar", "cylindrical", "spherical")
_DIMENSIONS = {"polar": 2, "spherical": 3}
_NEAR = 1e-9  # of a bound, in parts of the axis: 3.14159265 is π


def checked(who: str, grid: Grid, name: str) -> _System:
    """The system of a grid, which its box must fit."""
    one_of(who, "coordinates", name, _NAMES, f"one of {', '.join(map(repr, _NAMES))}")
    system = SYSTEMS.get((name, grid.ndim))
    if system is None:
        want = f"of one axis, r, or two, r and θ, for {name!r} coordinates"
        raise errors.bad_argument(who, "grid", grid, want)
    if not grid.centred:
        advice = "Values in the middle of cells are never on a pole."
        raise errors.bad_argument(who, "grid", grid, f"pde.Grid.cells(…) for {name!r}", advice)
    for i, (least, most, length) in enumerate(system.bounds):
        low, high = grid.lower[i], grid.upper[i]
        slack = _NEAR * (high - low)
        if low < least - slack or high > most + slack or high - low > length + slack:
            within = f"between {least:.4g} and {most:.4g}" if math.isfinite(least) else ""
            within = within or f"no longer than {length:.4g}"
            where = f"axis {i} of the grid, {system.names[i]},"
            raise errors.bad_argument(who, where, (low, high), within)
    return system


def lengths(name: str, ndim: int) -> tuple[int, ...]:
    """The axes that are lengths, no angles."""
    if name == CARTESIAN:
        return tuple(range(ndim))
    return tuple(i for i, x in enumerate(SYSTEMS[name, ndim].names) if x in "rz")


def dimension(name: str, ndim: int) -> int:
    """That of the space of which fields are densities; a radius of a cylinder is that of a plane."""
    if name == "cylindrical":
        return max(ndim, 2) + (ndim == 2)
    return _DIMENSIONS.get(name, ndim)


def in_plane(name: str, ndim: int, first, second) -> tuple:
    """(x, y) of points of a field's first two axes, for pictures."""
    if name == "polar" or (name == "cylindrical" and ndim == 3):
        return first * np.cos(second), first * np.sin(second)
    if name == "spherical":
        return first * np.sin(second), first * np.cos(second)
    return first, second


def at_poles(who: str, grid: Grid, system: _System, given, faces: tuple) -> tuple:
    """The conditions, those at poles without data: one for all faces leaves poles out, one of its own there must say
    that there are none."""
    return tuple(
        tuple(_at_pole(who, grid, system, given, pair[side], axis, side) for side in (0, 1))
        for axis, pair in enumerate(faces)
    )


def _at_pole(who: str, grid: Grid, system: _System, given, condition, axis: int, side: int):
    place = grid.corners(axis)[-side]
    if not is_pole(system, grid, axis, side) or isinstance(condition, Periodic):
        return condition
    if not (_gives_nothing(condition) or isinstance(given, CONDITIONS)):
        where = f"the condition at {system.names[axis]} = {place:.4g}, a pole,"
        advice = "Nothing can be given there: no flow comes through a face without area."
        raise errors.bad_argument(who, where, condition, "pde.Neumann()", advice)
    return Neumann()


def _gives_nothing(condition) -> bool:
    """Whether it is a flow of 0, as far as that is known: inside of a program it has been looked at before."""
    value = xnp.asarray(getattr(condition, "value", 0))
    return isinstance(condition, Neumann) and not (
        type(value) is Array and np.any(np.asarray(value))
    )


def is_pole(system: _System, grid: Grid, axis: int, side: int) -> bool:
    """Whether a face has no area."""
    place, slack = grid.corners(axis)[-side], _NEAR * (grid.upper[axis] - grid.lower[axis])
    return any(abs(place - p) <= slack for p in system.poles[axis])


def volumes(system: _System, grid: Grid) -> list[np.ndarray]:
    """For each axis numbers whose product is the volume of a cell."""
    lines = [np.diff(f(grid.corners(i))) for i, f in enumerate(system.measure)]
    return [system.turn * lines[0], *lines[1:]]


def areas(system: _System, grid: Grid, axis: int, at: np.ndarray) -> list[np.ndarray]:
    """For each axis numbers whose product is H / hᵢ² times the lengths of the other axes, at places of axis i."""
    lines = [f(grid.nodes(k)) * grid.widths(k) for k, f in enumerate(system.areas[axis])]
    lines[axis] = np.maximum(system.areas[axis][axis](at), 0.0)
    for side in (0, 1):
        if is_pole(system, grid, axis, side):
            lines[axis] = np.where(at == grid.corners(axis)[-side], 0.0, lines[axis])
    return [system.turn * lines[0], *lines[1:]]


def scale(system: _System, grid: Grid, axis: int) -> np.ndarray:
    """hᵢ, thin along axis i, on which it does not depend."""
    parts = [
        np.ones(1) if k == axis else f(grid.nodes(k)) for k, f in enumerate(system.scales[axis])
    ]
    return functools.reduce(np.multiply.outer, parts)
