"""Can an image of conductivities be seen from voltages on its rim alone?

Pixels are cells: the image is the coefficient as it is, and what flows over the side between two pixels has their
harmonic mean. Currents are sent in through one side and out through another, and the voltage is measured along
the rim (electrical impedance tomography). One gradient costs one more solution for each current, whatever the
number of pixels; SciPy's L-BFGS does the rest, with a penalty on steps between neighbours. The rim tells much
about what is near it and little about what is deep inside, so the picture is blurred and its contrast too low.
"""

import numpy as np
from _figures import figure
from scipy.optimize import minimize

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import Diffusion, Grid, Neumann, solve

xc.config.update("default_bits", 64)
grid = Grid.cells((18, 16), upper=(1.2, 1.0))
x, y = grid.coordinates()
truth = np.zeros(grid.shape)  # log conductivity: 1, and two things in it
truth[(np.asarray(x) - 0.3) ** 2 + (np.asarray(y) - 0.7) ** 2 < 0.03] = np.log(8.0)
truth[(abs(np.asarray(x) - 0.9) < 0.13) & (abs(np.asarray(y) - 0.3) < 0.13)] = np.log(0.2)


# the flows of each current through the sides low x, high x, low y, high y: one unit in all, spread evenly
IN_AND_OUT = ((0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2))
flows = (np.eye(4)[[i for i, _ in IN_AND_OUT]] - np.eye(4)[[o for _, o in IN_AND_OUT]]) / (
    1.0,
    1.0,
    1.2,
    1.2,
)


def rim(a, flow):
    faces = (Neumann(flow[0]), Neumann(flow[1])), (Neumann(flow[2]), Neumann(flow[3]))
    u = solve(Diffusion(grid, a, faces), 0.0, report=True, rtol=1e-8).value
    return xnp.concatenate([u[0], u[-1], u[:, 0], u[:, -1]])


def voltages(log_a):
    """Around the rim, for each current; the rim's pixels are known to have conductivity 1."""
    return xc.vmap(rim, (None, 0))(xnp.exp(xnp.pad(log_a, 1)), flows)


measured = voltages(truth[1:-1, 1:-1])


def misfit(log_a):
    steps = [
        xnp.sqrt(d**2 + 1e-3).sum() for d in (xnp.diff(log_a, axis=0), xnp.diff(log_a, axis=1))
    ]
    return 1e4 * xnp.mean((voltages(log_a) - measured) ** 2) + 2e-4 * sum(steps)


start = xnp.zeros((16, 14))
slope = xc.jit(xc.value_and_grad(lambda v: misfit(v.reshape(16, 14))))
found = minimize(
    lambda v: tuple(map(np.asarray, slope(v))),
    start.ravel(),
    jac=True,
    method="L-BFGS-B",
    options={"maxiter": 40},
)
image = np.pad(found.x.reshape(16, 14), 1)
likeness = np.corrcoef(image.ravel(), truth.ravel())[0, 1]
print(
    f"misfit {float(misfit(start)):.3f} -> {float(found.fun):.5f}, correlation with the truth {likeness:.2f}"
)
with figure("image", cols=2, size=(9, 3.4)) as axes:
    for ax, (field, title) in zip(
        axes, ((truth, "log conductivity"), (image, "as seen from the rim")), strict=True
    ):
        grid.plot(field, ax, cmap="RdBu_r", vmin=-2, vmax=2)
        ax.set(title=title, xlabel="x", ylabel="y")
        ax.grid(False)
assert likeness > 0.6
