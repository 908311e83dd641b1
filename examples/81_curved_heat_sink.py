"""How long should the fins of a round heat sink be?

Wires in a pipe of metal make heat, air around it takes it away: -k ∂T/∂n = h (T - air) on a curved edge with fins, a
Robin condition. The edge is where a level set vanishes, r = R + d cos(n angle); cells that it cuts take part with
their share. A channel inside is kept at its temperature. The derivative of the mean temperature with respect to the
fins' length is that of the equation on the moving edge: one more solution, beside finite differences.
"""

from functools import partial

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import CutDiffusion, Dirichlet, Grid, Robin, solve

xc.config.update("default_bits", 64)
grid, fins, conductivity, air = Grid((96, 96), -1.0, 1.0), 7, 1.0, 0.8
x, y = np.meshgrid(grid.nodes(0), grid.nodes(1), indexing="ij")
heat = np.where((x - 0.35) ** 2 + (y - 0.1) ** 2 < 0.02, 30.0, 0.0)


def around_the_channel(x, y):
    return xnp.sqrt((x + 0.2) ** 2 + y**2) - 0.12


def metal(length, x, y):
    r = xnp.sqrt(x**2 + y**2 + 1e-12)
    return 0.6 + length * xnp.cos(fins * xnp.arctan2(y, x)) - r


def sink(length):
    edge = [Robin(air, conductivity, 0.0), Dirichlet(0.2)]
    inside = [partial(metal, length), around_the_channel]
    return CutDiffusion(grid, conductivity, inside=inside, edge=edge)


def temperature(length):
    op = sink(length)
    u = solve(op, -heat, rtol=1e-10)
    return op.integrate(u) / op.integrate(1.0)


slope, step = float(xc.grad(temperature)(xnp.asarray(0.15))), 1e-5
beside = float(temperature(0.15 + step) - temperature(0.15 - step)) / (2 * step)
lengths = np.linspace(0.0, 0.3, 5)
means = [float(temperature(d)) for d in lengths]
print(f"mean temperature {means[0]:.4f} without fins, {means[-1]:.4f} with the longest ones")
print(f"derivative at 0.15: {slope:.6f}, by differences {beside:.6f}")
with figure("sink", cols=3, size=(11, 3.4)) as axes:
    for ax, d in zip(axes[:2], (0.0, 0.25), strict=True):
        op = sink(d)
        xc.plot.field(
            op,
            solve(op, -heat),
            ax,
            cmap="inferno",
            vmin=0.0,
            vmax=1.2,
            label="temperature (dimensionless)",
        )
        for edge in (metal(d, x, y), around_the_channel(x, y)):
            ax.contour(x, y, edge, levels=[0], colors="grey")
        ax.set(title=f"fins of length {d}")
    axes[2].plot(lengths, means, "o-")
    axes[2].set(
        xlabel="length of the fins (dimensionless)", ylabel="mean temperature (dimensionless)"
    )
assert abs(slope - beside) < 1e-4 * abs(beside)
