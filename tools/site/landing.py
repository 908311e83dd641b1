"""Draws the picture of the landing page: a wave behind a wall with two slits.

python -m tools.site.landing            writes docs/_static/landing.webp
"""

from __future__ import annotations

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from PIL import Image

import xcore.numpy as xnp
from xcore import pde

from .names import ROOT

PICTURE = ROOT / "docs" / "_static" / "landing.webp"
# The box, and the part of it that is shown: echoes from its walls stay outside.
LOWER, UPPER = (-1.3, -0.6), (2.5, 1.6)
SHOWN = ((0.3, 2.3), (0.05, 0.95))
WALL, THICK, SLITS, HALF = 0.72, 0.03, (0.37, 0.63), 0.035
# Dark in the middle, so that still air is the colour of the page at night; equally light at both ends.
COLOURS = LinearSegmentedColormap.from_list(
    "wave",
    [
        "#fff3d6",
        "#ffb454",
        "#b8471b",
        "#3a1b1f",
        "#11151c",
        "#16324a",
        "#1f7fb0",
        "#7fd4f5",
        "#eefaff",
    ],
)


def air(x, y):
    """Where the wave can be: left and right of the wall, and in the slits."""
    wall = abs(x - WALL) < THICK / 2
    slit = (abs(y - SLITS[0]) < HALF) | (abs(y - SLITS[1]) < HALF)
    return ~wall | slit


def wave(cells: int = 480) -> np.ndarray:
    """What is shown of the field some time after a train of plane waves has met the wall."""
    size = tuple(round(cells * (b - a)) for a, b in zip(LOWER, UPPER, strict=True))
    op = pde.Masked(pde.Grid(size, LOWER, UPPER), air, edge="staircase")
    x, y = map(np.asarray, op.points())
    k, centre, width = 2 * np.pi / 0.055, -0.25, 0.9
    train = np.exp(-(((x - centre) / width) ** 16)) * np.asarray(op.inside)
    u, v = train * np.sin(k * x), -k * train * np.cos(k * x)
    dt = 0.5 / cells
    steps = int(1.25 / dt)
    state = (xnp.asarray(u, "float32"), xnp.asarray(v, "float32"))
    last = pde.trajectory(pde.Leapfrog(op), state, dt, steps, every=steps, save=lambda s, t: s[0])
    across, up = (
        slice(*np.searchsorted(p, s)) for p, s in zip((x[:, 0], y[0]), SHOWN, strict=True)
    )
    return np.asarray(last[-1])[across, up]


def main() -> None:
    field = wave().T[::-1]
    place = np.linspace(*SHOWN[0], field.shape[1])
    scale = np.where(place > WALL - THICK / 2, 0.45, 1.6)
    colours = COLOURS(0.5 + 0.5 * np.clip(field / scale, -1, 1))[..., :3]
    wall = ~air(place[None], np.linspace(*SHOWN[1][::-1], field.shape[0])[:, None])
    picture = Image.fromarray((255 * np.where(wall[..., None], 0.62, colours)).astype("uint8"))
    picture.save(PICTURE, quality=80, method=6)
    print(f"{PICTURE}: {picture.size}, {PICTURE.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
