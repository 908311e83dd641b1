"""Where does the heat come from, given temperatures at a few places only?

The unknown source is a field of numbers. A misfit compares the solution of Poisson's equation with the
measurements, and its gradient with respect to the whole source costs one more solution. As there
are far fewer measurements than unknowns, roughness is penalised; conjugate gradients do the rest.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import Grid, Laplacian, poisson

xc.config.update("default_bits", 64)
grid = Grid((40, 40))
lap = Laplacian(grid)
x, y = map(np.asarray, lap.points())
true = np.exp(-40 * ((x - 0.3) ** 2 + (y - 0.6) ** 2)) + 0.5 * np.exp(
    -60 * ((x - 0.7) ** 2 + (y - 0.3) ** 2)
)
places = (slice(2, None, 4), slice(2, None, 4))
measured = poisson(true, grid)[places]


def misfit(f):
    roughness = -xnp.sum(f * lap(f))
    return xnp.sum((poisson(f, grid)[places] - measured) ** 2) + 1e-12 * roughness


# the misfit is quadratic: its minimum solves a linear system, whose product is a change of gradient
slope = xc.grad(misfit)
start = xnp.zeros(lap.field_shape)
right = -slope(start)


def product(_, v):
    return (slope(v.reshape(start.shape)) + right).reshape(-1)


normal = xc.linalg.FunctionOperator(product, None, lap.shape, symmetric=True, positive=True)
answer = xc.linalg.linear_solve(
    normal, right.reshape(-1), xc.linalg.CG(rtol=1e-6, max_steps=400), report=True
)
found = np.asarray(answer.value).reshape(start.shape)
with figure("source", cols=2, size=(9, 4)) as axes:
    for ax, f, title in zip(axes, (true, found), ("true source", "found"), strict=True):
        image = ax.imshow(f.T, origin="lower", extent=(0, 1, 0, 1), vmin=0, vmax=1,
                          interpolation="bilinear")  # fmt: skip
        ax.plot(x[places].ravel(), y[places].ravel(), "w.", markersize=2)
        ax.set(title=title, xlabel="x", ylabel="y")
    ax.figure.colorbar(image, ax=axes, label="strength of the source", shrink=0.8)
error = np.linalg.norm(found - true) / np.linalg.norm(true)
print(f"misfit {float(misfit(start)):.1e} -> {float(misfit(found)):.1e}")
print(f"source found from {measured.size} of {true.size} values within {100 * error:.0f} %")
assert error < 0.15
