"""Which conductivities of a plate's two halves explain the temperatures that were measured on it?

Linear finite elements on a triangle mesh without order: the matrix is assembled by `sparse.coo_array`, which adds what
falls on the same place, from conductivities that are unknowns. Multigrid chooses its aggregates once, for one guess;
`update` makes the values of all levels for each further one, inside of compiled programs, and derivatives of
the misfit are those of the equation: one more solution with the same cycles. The thermometers err, and what that means
for the conductivities follows from the same derivatives J: their covariance is σ² (JᵀJ)⁻¹.
"""

import numpy as np
from _figures import figure
from scipy.spatial import Delaunay

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse

rng = np.random.default_rng(0)
points = rng.uniform(size=(1500, 2))
triangles = Delaunay(points).simplices
left = points[triangles].mean(1)[:, 0] < 0.5
edges = np.stack(
    [points[triangles[:, (k + 2) % 3]] - points[triangles[:, (k + 1) % 3]] for k in range(3)], 1
)
areas = np.abs(edges[:, 0, 0] * edges[:, 1, 1] - edges[:, 0, 1] * edges[:, 1, 0]) / 2
elements = np.einsum("tid,tjd->tij", edges, edges) / (4 * areas)[:, None, None]
free = np.flatnonzero((np.abs(points - 0.5) < 0.46).all(1))  # the rim is kept at 0
places = np.repeat(triangles, 3, 1).ravel(), np.tile(triangles, (1, 3)).ravel()
heat = np.bincount(triangles.ravel(), np.repeat(areas / 3, 3), len(points))[free]


def stiffness(log_conductivity):
    each = xnp.where(left, *xnp.exp(log_conductivity))
    whole = sparse.coo_array(((each[:, None, None] * elements).reshape(-1), places), (1500, 1500))
    return whole[free][:, free]


with xc.enable_x64():
    m = sparse.multigrid(stiffness(xnp.zeros(2)))

    def temperatures(log_conductivity):
        found = m.update(stiffness(log_conductivity)).solve(heat, rtol=1e-10, report=True)
        return found.value  # pyright: ignore

    truth = xnp.log(xnp.asarray([0.5, 3.0]))
    exact = temperatures(truth)
    noise = 0.02 * float(exact.max())
    thermometers = rng.choice(free.size, 60, replace=False)
    measured = exact[thermometers] + noise * rng.normal(size=60)

    @xc.jit
    def newton(x, measured):
        """A step of Gauss and Newton's method, the residuals before it, and JᵀJ."""
        residual = temperatures(x)[thermometers] - measured
        slopes = xc.jacfwd(temperatures)(x)[thermometers]
        return x - xnp.linalg.lstsq(slopes, residual)[0], residual, slopes.T @ slopes

    def fit(measured):
        x = xnp.zeros(2)
        for _ in range(8):
            x, residual, information = newton(x, measured)
        return x, residual, information

    x, residual, information = fit(measured)
    sigma = float(xnp.sqrt((residual**2).sum() / (60 - 2)))
    covariance = np.asarray(sigma**2 * xnp.linalg.inv(information))
    again = np.array(
        [fit(exact[thermometers] + noise * rng.normal(size=60))[0] for _ in range(40)]
    )  # as if it were measured forty times more

errors = np.sqrt(np.diag(covariance))
print(m)
for side, value, error, true in zip(("left", "right"), x, errors, truth, strict=True):
    found, low, high = (float(np.exp(value + k * error)) for k in (0, -2, 2))
    print(
        f"{side}: {found:.3f}, with 95 % between {low:.3f} and {high:.3f} (truth {np.exp(float(true)):.1f})"
    )
print(
    f"noise {noise:.2e}, found {sigma:.2e}; spread of forty fits over the error bars {again.std(0) / errors}"
)
with figure("conductivities", size=(6, 4.5)) as ax:
    ax.plot(*np.exp(again).T, ".", label="forty other measurements")
    values, axes = np.linalg.eigh(covariance)
    turn = np.linspace(0, 2 * np.pi, 200)
    for k in (1, 2):
        ring = np.asarray(x)[:, None] + k * axes @ (
            np.sqrt(values)[:, None] * [np.cos(turn), np.sin(turn)]
        )
        ax.plot(*np.exp(ring), color="C1", label=f"{k} σ", linewidth=3 - k)
    ax.plot(*np.exp(x), "s", color="C1", label="this one")
    ax.plot(*np.exp(truth), "k+", markersize=12, label="truth")
    ax.set(
        xlabel="conductivity of the left half (dimensionless)",
        ylabel="of the right half (dimensionless)",
    )
    ax.legend()
assert (np.abs(x - truth) < 3 * errors).all()
assert ((again.std(0) / errors > 0.6) & (again.std(0) / errors < 1.6)).all()
