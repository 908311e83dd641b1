"""How hot does a processor get under a finned cooler?

A picture says which material is where: copper block, aluminium fins, air between them. The steady heat
equation div(k grad T) = -q takes it as it is; k jumps by a factor of 100. The top of the box is held at
the temperature of the room, the other faces let no heat through. What would more fins bring? One more solve
each; and the gradient by k of one solve tells where better material would help most.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import Diffusion, Dirichlet, Grid, Neumann, solve

xc.config.update("default_bits", 64)
AIR, ALUMINIUM, COPPER = 4.0, 237.0, 400.0  # W / (m K); of air an effective one, as a fan stirs it
WIDTH, HEIGHT, CELLS = 0.06, 0.04, (96, 64)  # m
grid = Grid(CELLS, upper=(WIDTH, HEIGHT))
x, y = np.meshgrid(grid.nodes(0), grid.nodes(1), indexing="ij")
insulated = (Neumann(0.0), Neumann(0.0))
faces = (insulated, (Neumann(0.0), Dirichlet(0.0)))  # degrees above the room's temperature


def picture(fins: int) -> np.ndarray:
    """Conductivity at each node: a plate with fins of aluminium, on a block of copper."""
    k = np.full(x.shape, AIR)
    k[(y < 0.012) & (abs(x - WIDTH / 2) < 0.026)] = ALUMINIUM
    for centre in np.linspace(0.006, WIDTH - 0.006, fins):
        k[(abs(x - centre) < 0.0013) & (y >= 0.006) & (y < 0.036)] = ALUMINIUM
    k[(y < 0.005) & (abs(x - WIDTH / 2) < 0.012)] = COPPER
    return k


source = np.where((y < 0.002) & (abs(x - WIDTH / 2) < 0.006), 2e7, 0.0)  # W / m³


def temperature(k):
    return solve(Diffusion(grid, k, faces), -source)


def hottest(k):
    return xnp.max(temperature(k))


fins = (2, 4, 6, 8)
found = [float(hottest(picture(n))) for n in fins]
k = picture(6)
rise = np.asarray(temperature(k))
slope = np.asarray(xc.grad(hottest)(xnp.asarray(k))) * k  # per relative change of k
with figure("cooler", rows=2, cols=2, size=(10, 6.6)) as axes:
    extent = (0, 1e3 * WIDTH, 0, 1e3 * HEIGHT)
    shown = ((np.log10(k), "material", "log₁₀ of conductivity, W/(m K)"),
             (rise, "temperature", "degrees above the room"),
             (np.cbrt(-slope), "where better material helps", "cube root of degrees per change"))  # fmt: skip
    for ax, (field, title, unit) in zip(axes.flat, shown, strict=False):
        image = ax.imshow(field.T, origin="lower", extent=extent, cmap="viridis")
        ax.set(title=title, xlabel="mm", ylabel="mm")
        ax.grid(False)
        ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.04, label=unit)
    axes[1, 1].plot(fins, found, "o-")
    axes[1, 1].set(title="with more fins", xlabel="fins", ylabel="hottest, degrees above the room")

eps = 1e-4
changed = k * (1 + eps * (k == COPPER))
difference = (float(hottest(changed)) - float(hottest(k))) / eps
print("fins", fins, "hottest", [f"{t:.2f}" for t in found])
print(
    f"1 % better copper: {0.01 * slope[k == COPPER].sum():.2e} degrees; by difference {0.01 * difference:.2e}"
)
assert found == sorted(found, reverse=True)
assert abs(slope[k == COPPER].sum() / difference - 1) < 0.05
