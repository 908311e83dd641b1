"""Can an image of conductivities be seen from voltages on its rim alone, and which parts of it are sure?

Pixels are cells: the image is the coefficient as it is, and what flows over the side between two pixels has their
harmonic mean. Currents are sent in through one side and out through another, and the voltage is measured along
the rim (electrical impedance tomography), with errors σ. Sought is the most probable image where steps d between
neighbours have the density exp(-β √(d² + ε)): Gauss and Newton's method, damped, with derivatives J of all voltages.
Near it the density is about normal with the covariance (JᵀJ / σ² + curvature of the steps' part)⁻¹ (Laplace), whose
diagonal says how sure each pixel is. The picture is blurred, and least sure along the edges of things.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import Diffusion, Grid, Neumann, solve

xc.config.update("default_bits", 64)
grid = Grid.cells((18, 16), upper=(1.2, 1.0))
x, y = grid.coordinates()
truth = np.zeros(grid.shape)  # log conductivity: 1, and two things in it
truth[(np.asarray(x) - 0.3) ** 2 + (np.asarray(y) - 0.7) ** 2 < 0.03] = np.log(8.0)
truth[(abs(np.asarray(x) - 0.9) < 0.13) & (abs(np.asarray(y) - 0.3) < 0.13)] = np.log(0.2)
noise, beta, eps = 1e-3, 2.0, 1e-2

# the flows of each current through the sides low x, high x, low y, high y: one unit in all, spread evenly
IN_AND_OUT = np.array([(0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2)])
flows = (np.eye(4)[IN_AND_OUT[:, 0]] - np.eye(4)[IN_AND_OUT[:, 1]]) / (1.0, 1.0, 1.2, 1.2)


def rim(a, flow):
    faces = (Neumann(flow[0]), Neumann(flow[1])), (Neumann(flow[2]), Neumann(flow[3]))
    u = solve(Diffusion(grid, a, faces), 0.0, report=True, rtol=1e-7).value
    return xnp.concatenate([u[0], u[-1], u[:, 0], u[:, -1]])


def voltages(log_a):
    """Around the rim, for each current; the rim's pixels are known to have conductivity 1."""
    return xc.vmap(rim, (None, 0))(xnp.exp(xnp.pad(log_a, 1)), flows)


exact = np.asarray(voltages(truth[1:-1, 1:-1]))
measured = exact + noise * np.random.default_rng(0).normal(size=exact.shape)


def residuals(v):
    return (voltages(v.reshape(16, 14)) - measured).ravel() / noise


@xc.jit
def linearised(v):
    """Half the sum of squares of the residuals, its gradient, and JᵀJ."""
    r, j = residuals(v), xc.jacfwd(residuals)(v)
    return 0.5 * (r**2).sum(), j.T @ r, j.T @ j


def differences(v):
    image = v.reshape(16, 14)
    return np.concatenate([np.diff(image, axis=0).ravel(), np.diff(image, axis=1).ravel()])


steps = np.array([differences(e) for e in np.eye(16 * 14)]).T  # as a matrix


def look(v):
    """Linearised, and the costs with those of the steps."""
    found = [np.asarray(x) for x in linearised(v)]
    return found, found[0] + beta * np.sqrt((steps @ v) ** 2 + eps).sum()


v, damping = np.zeros(16 * 14), 1e3
now, cost = look(v)
first = 2 * now[0] / exact.size
for _ in range(30):
    d = steps @ v
    weights = beta / np.sqrt(d**2 + eps)  # not below the curvature, which may nearly vanish
    matrix = now[2] + (steps.T * weights) @ steps + damping * np.eye(v.size)
    trial = v - np.linalg.solve(matrix, now[1] + steps.T @ (weights * d))
    then, new = look(trial)
    damping *= 0.1 if new < cost else 5
    if new < cost:
        v, now, cost, drop = trial, then, new, cost - new
        if drop < 0.5:
            break

curvature = beta * eps / np.sqrt((steps @ v) ** 2 + eps) ** 3
covariance = np.linalg.inv(now[2] + (steps.T * curvature) @ steps)
deviation = np.sqrt(np.diag(covariance))
image, unsure = (np.pad(f.reshape(16, 14), 1) for f in (v, deviation))
off = np.abs(v - truth[1:-1, 1:-1].ravel())
likeness = np.corrcoef(image.ravel(), truth.ravel())[0, 1]
within = [(off < k * deviation).mean() for k in (1, 2)]
print(
    f"residuals² / σ²: {first:.0f} -> {2 * now[0] / exact.size:.2f}, correlation with the truth {likeness:.2f}"
)
print(
    f"standard deviation of a pixel: {deviation.min():.2f} to {deviation.max():.2f}; "
    f"truth within one of them for {within[0]:.0%} of the pixels, within two for {within[1]:.0%}"
)
with figure("image", cols=3, size=(13, 3.4)) as axes:
    scale = {"cmap": "RdBu_r", "vmin": -2, "vmax": 2, "label": "log conductivity (dimensionless)"}
    xc.plot.field(grid, truth, axes[0], **scale).set_title("the truth")
    xc.plot.field(grid, image, axes[1], **scale).set_title("as seen from the rim")
    xc.plot.field(grid, unsure, axes[2], cmap="viridis", label="its standard deviation").set_title(
        "how unsure each pixel is"
    )
assert likeness > 0.85
assert 0.55 < within[0] < 0.85 < within[1]
