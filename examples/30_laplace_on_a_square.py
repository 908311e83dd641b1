"""What is the temperature in a plate whose edges are kept at given temperatures?

It solves Laplace's equation. Inside there is neither a maximum nor a minimum: each value is the mean
of those around it. The edges' data enter the equations as a vector, so heat at one point is a linear
function of them; its derivative shows which parts of the edge matter to the middle of the plate.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import Dirichlet, Grid, Laplacian, poisson

xc.config.update("default_bits", 64)
grid = Grid((64, 64))
x = grid.nodes(0)


def plate(left):
    edges = [(Dirichlet(left), Dirichlet(0.0)), (Dirichlet(lambda x, y: 1 - x), Dirichlet(0.0))]
    return Laplacian(grid, edges), poisson(0.0, grid, edges)


def middle(left):
    return plate(left)[1][31, 31]


left = xnp.asarray(np.cos(np.pi * x / 2) ** 2)
lap, u = plate(left)
full = lap.full(u)
influence = xc.grad(middle)(left)
with figure("plate", cols=2, size=(9, 4)) as (first, second):
    drawn = first.contourf(x, x, np.asarray(full).T, 20)
    first.figure.colorbar(
        drawn, ax=first, fraction=0.046, pad=0.04, label="temperature (dimensionless)"
    )
    first.set(title="the plate", aspect="equal", xlabel="x", ylabel="y")
    second.plot(x, influence)
    second.set(
        title="how the left edge acts on the middle", xlabel="y", ylabel="∂ middle / ∂ edge at y"
    )

mean = (full[:-2, 1:-1] + full[2:, 1:-1] + full[1:-1, :-2] + full[1:-1, 2:]) / 4
print(f"each value beside the mean of its neighbours: {float(abs(mean - u).max()):.1e}")
print(f"a warm left edge gives the middle {float(influence.sum()):.3f} of its temperature")
assert float(abs(mean - u).max()) < 1e-12
assert 0 <= float(full.min()) and float(full.max()) <= 1
assert abs(float(influence.sum()) - 0.25) < 1e-3  # four edges of equal weight
