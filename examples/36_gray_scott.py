"""How do spots grow from nearly nothing?

Two substances diffuse, and v makes more of itself out of u. Diffusion is stiff and goes implicitly, by
Fourier's transform on the torus; the reaction goes explicitly. (Pearson 1993, "Complex patterns in
a simple system")
"""

import numpy as np
from _figures import figure, film

import xcore.numpy as xnp
from xcore import pde

grid = pde.Grid((96, 96), upper=1.9)
feed, kill = 0.037, 0.06
substances = (pde.Diffusion(grid, 2e-5, pde.Periodic()), pde.Diffusion(grid, 1e-5, pde.Periodic()))
x, y = map(np.asarray, pde.Laplacian(grid, pde.Periodic()).points())
spot = np.exp(-300 * ((x - 0.8) ** 2 + (y - 0.9) ** 2)) + np.exp(
    -300 * ((x - 1.1) ** 2 + (y - 1.0) ** 2)
)


def reaction(state, t):
    u, v = state
    made = u * v * v
    return (feed * (1 - u) - made, made - (feed + kill) * v)


start = (xnp.asarray(1 - 0.5 * spot), xnp.asarray(0.5 * spot))
stepper = pde.IMEX(substances, reaction)
u, v = pde.trajectory(stepper, start, 2.0, 1500, every=25)
last = v[14::15]
with figure("patterns", cols=4, size=(13, 3)) as axes:
    for k, ax in enumerate(axes):
        image = ax.imshow(np.asarray(last[k]).T, origin="lower", extent=(0, 1.9, 0, 1.9), cmap="cividis", vmin=0,
                          vmax=0.4, interpolation="bicubic")  # fmt: skip
        ax.set(title=f"t = {750 * (k + 1)}", xlabel="x (dimensionless)")
    axes[0].set(ylabel="y (dimensionless)")
    for ax in axes[1:]:
        ax.set(yticks=[])
    ax.figure.colorbar(image, ax=axes, label="amount of v (dimensionless)")
with film("growth") as (ax, take):
    image = ax.imshow(np.zeros(grid.shape), origin="lower", cmap="cividis", vmin=0, vmax=0.4,
                      interpolation="bicubic")  # fmt: skip
    for k, pattern in enumerate(np.asarray(v)):
        image.set_data(pattern.T)
        take(f"t = {50 * (k + 1)}")
covered = [float((np.asarray(p) > 0.15).mean()) for p in last]
print("part of the plane that is covered:", ", ".join(f"{c:.2f}" for c in covered))
assert covered[-1] > 2 * covered[0] and float(u.min()) > -1e-3 and float(u.max()) < 1.01
