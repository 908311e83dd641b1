"""How fast does the error of a Poisson solver fall as the grid gets finer?

A solution is chosen, its right-hand side computed by hand, and the equation solved on finer and
finer grids. On paper with logarithmic axes the error is a straight line whose slope is the order.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import Dirichlet, Grid, Laplacian, poisson

xc.config.update("default_bits", 64)
cells = [8, 16, 32, 64]


def exact(x, y):
    return xnp.sin(2 * x + 1) * xnp.exp(1.5 * y)


def source(x, y):
    return (4 - 1.5**2) * exact(x, y)


def error(n, order):
    grid, edges = Grid((n, n)), Dirichlet(exact)
    u = poisson(source, grid, edges, order=order)
    return float(abs(u - exact(*Laplacian(grid, edges, order).points())).max())


errors = {order: [error(n, order) for n in cells] for order in (2, "compact", 4, 6)}
with figure("order", title="Error of -Δu = f on a square") as ax:
    for order, e in errors.items():
        ax.loglog(1 / np.array(cells), e, "o-", label=f"order {order}")
    ax.set(xlabel="spacing", ylabel="largest error")
    ax.legend()

slopes = {order: np.log2(e[-2] / e[-1]) for order, e in errors.items()}
for order, slope in slopes.items():
    print(f"order {order}: error {errors[order][-1]:.1e} with 65 x 65 nodes, slope {slope:.2f}")
assert abs(slopes[2] - 2) < 0.05 and abs(slopes["compact"] - 4) < 0.05
assert slopes[4] > 3.6 and slopes[6] > 5.2
