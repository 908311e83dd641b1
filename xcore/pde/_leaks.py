"""Robin conditions whose coefficients are more than numbers, as flows that are given and what leaks out for each u.

Of ∂u/∂n = value - leak u the axes of an operator need to know only that it is a flow; the leak is a field on the face,
which has derivatives and may vary. Beside cells u is half a cell away from the face, where it is u + way ∂u/∂n: what
flows is (value - leak u) / (1 + leak way).
"""

from __future__ import annotations

import numpy as np

from .._core import errors
from . import _curvilinear
from ._boundary import Neumann, fewer


def as_flows(grid, system, faces: tuple) -> tuple:
    """(conditions of which no kind is traced, for each face its leak or None; None where there is no leak)."""
    pairs = [
        [_as_flow(grid, system, axis, side, c) for side, c in enumerate(pair)]
        for axis, pair in enumerate(faces)
    ]
    faces, leaks = (tuple(tuple(f[i] for f in pair) for pair in pairs) for i in (0, 1))
    return faces, None if all(x is None for pair in leaks for x in pair) else leaks


def _as_flow(grid, system, axis: int, side: int, condition) -> tuple:
    leak = getattr(condition, "leak", None)
    if leak is None:
        return condition, None
    taken = 1 + leak * _way(grid, system, axis, side)
    return Neumann(condition.value / taken), leak / taken


def _way(grid, system, axis: int, side: int):
    """From an unknown to the face beside it, in true lengths."""
    if not grid.centred:
        return 0.0
    half = grid.widths(axis)[-side] / 2
    return half * (np.squeeze(_curvilinear.scale(system, grid, axis), axis) if system else 1.0)


def coarser(grid, leaks):
    """Leaks at every second node of faces."""
    if leaks is None:
        return None
    if grid.centred:
        given = errors.Words("an array, a function or a traced number")
        raise errors.bad_argument("pde.Diffusion.coarser", "alpha", given, "a number, on cells")
    every_second = lambda leak: None if leak is None else fewer(Neumann(leak)).value  # noqa: E731
    return tuple(tuple(map(every_second, pair)) for pair in leaks)
