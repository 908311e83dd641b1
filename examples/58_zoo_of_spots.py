"""Which patterns does one equation make?

The equations of Gray and Scott have two knobs, feed and kill. One `vmap` over nine settings runs nine worlds
in one program: spots that divide, worms, mazes, holes, and one where nothing grows, so that its panel is empty.
Diffusion is a convolution on the torus.
(Pearson 1993, "Complex patterns in a simple system")
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp

N, STEPS = 96, 4000
KINDS = {
    "dividing spots": (0.030, 0.062), "worms": (0.046, 0.063), "maze": (0.037, 0.060),
    "holes": (0.039, 0.058), "spots": (0.025, 0.060), "coral": (0.0545, 0.062),
    "stripes": (0.054, 0.063), "cells": (0.0367, 0.0649), "nothing grows": (0.060, 0.070),
}  # fmt: skip
settings = xnp.asarray(list(KINDS.values()), "float32")


def spread(u):
    """The nine-point Laplacian on the torus."""
    near = sum(xnp.roll(u, s, axis) for s in (1, -1) for axis in (0, 1))
    far = sum(xnp.roll(u, (s, t), (0, 1)) for s in (1, -1) for t in (1, -1))
    return 0.2 * near + 0.05 * far - u


@xc.jit
@xc.vmap
def world(setting, u, v):
    feed, kill = setting

    def step(i, state):
        u, v = state
        made = u * v * v
        return u + spread(u) - made + feed * (1 - u), v + 0.5 * spread(v) + made - (feed + kill) * v

    return xc.lax.fori_loop(0, STEPS, step, (u, v))


place = np.indices((N, N)) - N // 2
seed = np.zeros((N, N), "f")
for shift in ((0, 0), (-20, 14), (18, -22), (25, 25)):
    seed[(abs(place - np.reshape(shift, (2, 1, 1))) < 5).all(0)] = 1
noise = 0.02 * np.random.default_rng(0).random((N, N)).astype("f")
u, v = (
    xnp.broadcast_to(xnp.asarray(s), (9, N, N))
    for s in (1 - 0.5 * seed - noise, 0.25 * seed + noise)
)
u, v = world(settings, u, v)
with figure("zoo", rows=3, cols=3, size=(10, 9.6)) as axes:
    for ax, pattern, (name, (feed, kill)) in zip(
        axes.flat, np.asarray(v), KINDS.items(), strict=True
    ):
        image = ax.imshow(pattern, cmap="cividis", vmin=0, vmax=0.4, interpolation="bicubic")
        ax.set(title=f"{name}\nfeed {feed}, kill {kill}", xticks=[], yticks=[])
    ax.figure.colorbar(image, ax=axes, label="amount of v", shrink=0.5)

contrast = np.asarray(v).std((1, 2))
for name, c in zip(KINDS, contrast, strict=True):
    print(f"{name:15} contrast {c:.3f}")
assert np.isfinite(contrast).all() and (contrast > 0.05).sum() == 8 and contrast[-1] < 0.01
