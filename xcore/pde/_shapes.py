"""Level sets of shapes that are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import errors
from .._core.array import Array
from .._core.types import Value
from .._core.typing import ArrayLike

_WHO = "pde.polygon"


def polygon(*rings: ArrayLike) -> Callable[..., Any]:
    """A level set of (x, y): the distance from a polygon's edge, positive inside, negative outside.

    For ``Masked``, ``CutDiffusion`` and ``interface_diffusion``. Inside is what a ray out of it leaves an odd number of
    times: rings within rings are holes, and their order and sense do not matter. It has derivatives by the corners.

    Args:
      rings: of each the corners, (n, 2), three or more; the last is joined to the first.

    >>> from xcore.pde import Grid, Masked
    >>> triangle = polygon([(-1, -1), (1, -1), (0, 1)])
    >>> float(triangle(0.0, -0.5))
    0.5
    >>> Masked(Grid((20, 20), -1.0, 1.0), triangle).field_shape
    (19, 19)
    """
    if not rings:
        raise errors.bad_argument(_WHO, "rings", rings, "one list of corners or more")
    corners = [_corners(ring) for ring in rings]

    def level(x, y):
        known = not any(isinstance(v, Value) for v in (x, y, *corners))
        on = np if known else xnp
        x, y = on.asarray(x), on.asarray(y)
        nearest: Any = np.inf
        inside: Any = np.zeros((), bool)
        for ring in corners:
            for p, q in zip(ring, on.roll(ring, -1, axis=0), strict=True):
                nearest = on.minimum(nearest, _squared_distance(on, x, y, p, q))
                inside = inside ^ _crossed(on, x, y, p, q)
        return on.where(inside, 1.0, -1.0) * on.sqrt(nearest)

    return level


def _corners(ring):
    given = ring if isinstance(ring, Value) else np.asarray(ring, np.float64)
    if given.ndim != 2 or given.shape[1] != 2 or given.shape[0] < 3:
        raise errors.shape_mismatch(_WHO, "need three corners (x, y) or more, (n, 2)", ring=given)
    if type(given) in (np.ndarray, Array) and not np.all(np.isfinite(np.asarray(given))):
        raise errors.bad_argument(_WHO, "ring", given, "finite")
    return given


def _squared_distance(on, x, y, p, q):
    """From the side between two corners."""
    dx, dy = q[0] - p[0], q[1] - p[1]
    length = dx * dx + dy * dy
    along = ((x - p[0]) * dx + (y - p[1]) * dy) / on.where(length > 0, length, 1.0)
    along = on.clip(along, 0.0, 1.0)
    return (x - p[0] - along * dx) ** 2 + (y - p[1] - along * dy) ** 2


def _crossed(on, x, y, p, q):
    """Whether a ray to the right meets the side; a corner belongs to one of its two sides."""
    rise = q[1] - p[1]
    at = p[0] + (y - p[1]) * ((q[0] - p[0]) / on.where(rise == 0, 1.0, rise))
    return ((p[1] > y) != (q[1] > y)) & (x < at)
