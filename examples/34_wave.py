"""Does a computed wave keep its energy?

The leapfrog method is symplectic: its energy oscillates a little and does not drift, however long it
runs. Newmark's method keeps it to rounding, and pays with a linear system for each step.
"""

import numpy as np
from _figures import figure, film

import xcore as xc
from xcore import pde

xc.config.update("default_bits", 64)
lap = pde.Laplacian(pde.Grid((80, 80)))
x, y = map(np.asarray, lap.points())
start = (np.exp(-150 * ((x - 0.3) ** 2 + (y - 0.4) ** 2)), 0 * x)
dt = 0.5 * pde.stable_step(pde.Leapfrog(lap))


def keep(state, t):
    return state[0], pde.wave_energy(lap, state)


pictures, energy = pde.trajectory(pde.Leapfrog(lap), start, dt, 800, every=8, save=keep)
_, newmark = pde.trajectory(pde.Newmark(lap), start, dt, 160, every=8, save=keep)
first = float(pde.wave_energy(lap, tuple(map(xc.numpy.asarray, start))))
with figure("energy", title="Energy relative to that of the start") as ax:
    for name, e in (("leapfrog", energy), ("Newmark", newmark)):
        ax.plot(
            8 * dt * np.arange(1, len(e) + 1),
            np.asarray(e) / first - 1,
            label=f"{name}, {8 * len(e)} steps",
        )
    ax.set(xlabel="t (dimensionless)", ylabel="E / E₀ - 1")
    ax.legend()
LOOK = {"cmap": "RdBu", "vmin": -0.3, "vmax": 0.3, "origin": "lower", "interpolation": "bicubic"}
with figure("wave", cols=3, size=(11, 3.4)) as axes:
    for ax, k in zip(axes, (5, 25, 60), strict=True):
        image = ax.imshow(np.asarray(pictures[k]).T, extent=(0, 1, 0, 1), **LOOK)
        ax.set(
            title=f"t = {8 * (k + 1) * dt:.2f}",
            xlabel="x (dimensionless)",
            ylabel="y (dimensionless)",
        )
    ax.figure.colorbar(image, ax=axes, label="displacement (dimensionless)")
with film("wave") as (ax, take):
    image = ax.imshow(0 * np.asarray(pictures[0]), **LOOK)
    for k in range(60):
        image.set_data(np.asarray(pictures[k]).T)
        take(f"t = {8 * (k + 1) * dt:.2f}")

drift = float(abs(np.asarray(newmark) / first - 1).max())
swing = float(abs(np.asarray(energy) / first - 1).max())
print(f"energy: leapfrog within {swing:.1e} in 800 steps, Newmark within {drift:.1e} in 160")
assert drift < 1e-11 and swing < 0.05
