"""Which conductivities of a plate's two halves explain the temperatures that were measured on it?

Linear finite elements on a triangle mesh without order: the matrix is assembled by `sparse.coo_array`, which adds what
falls on the same place, from conductivities that are unknowns. Multigrid chooses its aggregates once, for one guess;
`update` makes the values of all levels for each further one, inside of compiled programs, and derivatives of
the misfit are those of the equation: one more solution with the same cycles.
"""

import numpy as np
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
    measured = temperatures(truth)

    @xc.jit
    def newton(x):
        residual, slopes = temperatures(x) - measured, xc.jacfwd(temperatures)(x)
        return x - xnp.linalg.lstsq(slopes, residual)[0], xnp.abs(residual).max()

    x, misfits = xnp.zeros(2), []
    for _ in range(7):
        x, misfit = newton(x)
        misfits.append(float(misfit))

print(m)
print(f"conductivities {np.exp(x).round(6)}, misfit {misfits[-1]:.1e}")
assert np.allclose(x, truth, atol=1e-6)
