"""What arrives behind a wall with two gaps?

The wall is a mask: inside of it, and on the box, the wave is held at zero. A plane wave comes from the left,
driven at one end, and passes two gaps. Far behind them the intensity follows from the difference of the two
paths alone: it is smallest where that is half a wavelength.
(Young 1804)
"""

import numpy as np
from _figures import figure, film

import xcore as xc
import xcore.numpy as xnp
from xcore import pde

N, WAVELENGTH, GAPS, WIDTH = 240, 0.08, 0.14, 0.04
grid = pde.Grid((N, N))
x, y = np.meshgrid(grid.nodes(0), grid.nodes(1), indexing="ij")
wall = (abs(x - 0.25) < 0.01) & (abs(abs(y - 0.5) - GAPS) > WIDTH / 2)
op = pde.Masked(grid, ~wall, edge="staircase")
sponge = 60 * (np.clip(x - 0.85, 0, 1) + np.clip(0.12 - y, 0, 1) + np.clip(y - 0.88, 0, 1)) / 0.15
damping = xnp.asarray(sponge[1:-1, 1:-1], "float32")
drive = xnp.asarray(np.exp(-(((x - 0.04) / 0.01) ** 2))[1:-1, 1:-1], "float32")
omega, dt = 2 * np.pi / WAVELENGTH, 0.5 / N


@xc.jit
def run(state, first, steps):
    """Leapfrog steps of u'' = Δu - damping u' + source; and the mean of u² over them."""

    def step(i, carry):
        u, v, power = carry
        t = (first + i) * dt
        force = op(u) + 3e3 * drive * xnp.sin(omega * t)
        v = (v * (1 - 0.5 * dt * damping) + dt * force) / (1 + 0.5 * dt * damping)
        u = u + dt * v
        return u, v, power + u * u / steps

    return xc.lax.fori_loop(0, steps, step, (*state[:2], xnp.zeros(op.field_shape)))


state, frames = (xnp.zeros(op.field_shape),) * 2, []
for k in range(48):
    state = run(state, 16 * k, 16)
    frames.append(np.asarray(op.full(state[0]))[::2, ::2])
power = op.full(run(state, 16 * 48, 320)[2])  # ten periods

screen = np.searchsorted(grid.nodes(0), 0.8)
behind = (grid.nodes(1) > 0.2) & (grid.nodes(1) < 0.8)
seen, height = np.asarray(power)[screen, behind], grid.nodes(1)[behind] - 0.5
paths = [np.hypot(0.8 - 0.25, height - side * GAPS) for side in (1, -1)]
young = np.cos(np.pi * (paths[0] - paths[1]) / WAVELENGTH) ** 2
with figure("waves", cols=2, size=(10, 4.4)) as (left, right):
    top = np.quantile(abs(frames[-1][40:]), 0.995)
    left.imshow(frames[-1].T, origin="lower", extent=(0, 1, 0, 1), cmap="RdBu", vmin=-top, vmax=top,
                interpolation="bicubic")  # fmt: skip
    left.contour(x, y, wall, [0.5], colors="k", linewidths=0.8)
    left.set(
        title="the wave when it has arrived", xlabel="x (dimensionless)", ylabel="y (dimensionless)"
    )
    left.grid(False)
    right.plot(height, seen / seen.max(), label="computed at x = 0.8")
    right.plot(height, young, "--", label="from the two paths alone")
    right.set(xlabel="height on the screen (dimensionless)", ylabel="mean square, largest = 1")
    right.legend()
with film("wave", fps=16) as (ax, take):
    image = ax.imshow(0 * frames[0], origin="lower", extent=(0, 1, 0, 1), cmap="RdBu", vmin=-top, vmax=top,
                      interpolation="bicubic")  # fmt: skip
    ax.contour(x, y, wall, [0.5], colors="k", linewidths=0.8)
    for k, frame in enumerate(frames):
        image.set_data(frame.T)
        take(f"t = {16 * (k + 1) * dt:.2f}")


def dark(curve):
    """Heights of the minima next to the middle."""
    lowest = (curve[1:-1] < curve[:-2]) & (curve[1:-1] < curve[2:]) & (abs(height[1:-1]) < 0.15)
    return height[1:-1][lowest]


print("dark on the screen at", np.round(dark(seen), 3), "by the paths at", np.round(dark(young), 3))
assert len(dark(seen)) == len(dark(young)) == 2 and abs(dark(seen) - dark(young)).max() < 0.015
