"""Level sets of shapes that are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import Array, ArrayLike, Value, dtypes, errors

_WHO = "pde.polygon"


def polygon(*rings: ArrayLike) -> Callable[..., Any]:
    """A level set of (x, y): the distance from a polygon's edge, positive inside, negative outside.

    For ``Masked`` and ``CutDiffusion``; ``interface_diffusion`` takes no sharp corners. Inside is what a ray out of it
    leaves an odd number of times: rings within rings are holes, their order and sense do not matter, and what a ring
    that crosses itself goes around twice is outside. It has derivatives by the corners, on the edge, too.

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
                away, crossed = _side(on, x - p[0], y - p[1], q - p)
                nearest, inside = on.minimum(nearest, away), inside ^ crossed
        return on.where(inside, 1.0, -1.0) * nearest

    return level


def _corners(ring):
    try:
        given: Any = ring if isinstance(ring, Value) else np.asarray(ring)
        if not isinstance(ring, Value):
            given = given.astype(complex if np.iscomplexobj(given) else np.float64)
    except (TypeError, ValueError) as e:
        raise errors.bad_argument(_WHO, "ring", ring, "pairs of numbers, (n, 2)") from e
    if given.ndim != 2 or given.shape[1] != 2 or given.shape[0] < 3:
        raise errors.shape_mismatch(_WHO, "need three corners (x, y) or more, (n, 2)", ring=given)
    if dtypes.is_complex(given.dtype):
        raise errors.bad_argument(_WHO, "ring", given, "of real numbers, x and y")
    if type(given) in (np.ndarray, Array) and not np.all(np.isfinite(np.asarray(given))):
        raise errors.bad_argument(_WHO, "ring", given, "finite")
    return given


def _side(on, x, y, way):
    """(how far a point is from the side on this way from the origin, whether a ray from it to the right meets the
    side; a corner belongs to one of its two sides)."""
    long = _length(on, way[0], way[1])
    dx, dy = (w / on.where(long > 0, long, 1.0) for w in (way[0], way[1]))
    along, beside = x * dx + y * dy, dx * y - dy * x
    crossed = ((y < 0) != (y < way[1])) & on.where(dy > 0, beside > 0, beside < 0)
    # on the side itself it lies where the ray sees it, so that the distance with its sign has a derivative there
    on_it = on.where(dy != 0, dy < 0, dx > 0)
    left = on.where(beside == 0, on_it, beside > 0)
    to_side = on.where(left, 1.0, -1.0) * beside
    gone = on.clip(along, 0.0, long)
    return on.where(
        (gone == along) & (long > 0), to_side, _length(on, x - gone * dx, y - gone * dy)
    ), crossed


def _length(on, x, y):
    """That of (x, y), with derivative 0 where it is 0."""
    zero = (x == 0) & (y == 0)
    return on.where(zero, 0.0, on.hypot(on.where(zero, 1.0, x), y))
