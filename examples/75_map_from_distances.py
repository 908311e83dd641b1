"""How exactly do distances between neighbours tell where 600 sensors stand, of which only rough positions are known?

Each distance depends on two sensors: of 1,200 unknowns each residual has four. `method="sparse"` finds where
the Jacobian has elements, computes them by a few products and solves with sparse factors. Elements of the inverse of
JᵀJ at its own places, by a sparse Cholesky factorisation, are the variances: how far off the map says it is.
"""

import numpy as np
import scipy.spatial

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo
from xcore import sparse

n, rough, fine = 600, 0.005, 0.0005
rng = np.random.default_rng(0)
where = rng.uniform(size=(n, 2))
pairs = scipy.spatial.cKDTree(where).query_pairs(0.08, output_type="ndarray")
measured = np.linalg.norm(where[pairs[:, 0]] - where[pairs[:, 1]], axis=1)
measured = measured + fine * rng.normal(size=len(pairs))
told = where + rough * rng.normal(size=(n, 2))

with xc.enable_x64():

    def residuals(x):
        """In units of what each should be wrong by."""
        apart = x[pairs[:, 0]] - x[pairs[:, 1]]
        distances = xnp.sqrt((apart**2).sum(1))
        return xnp.concatenate([(distances - measured) / fine, ((x - told) / rough).ravel()])

    found = xo.least_squares(residuals, xnp.asarray(told), method="sparse")
    j = sparse.jacobian(residuals)(found.x)
    variances = sparse.factorise(j.T @ j, "cholesky").inverse().diagonal()

off = np.asarray(found.x) - where
expected = np.sqrt(np.asarray(variances)).reshape(n, 2)
print(
    f"{len(pairs)} distances, {j.nnz} of {j.shape[0] * j.shape[1]} elements, {int(found.steps)} steps"
)
print(
    f"wrong by {np.sqrt((off**2).mean()):.5f} (rough positions: {np.sqrt(((told - where) ** 2).mean()):.5f})"
)
print(
    f"expected {np.sqrt((expected**2).mean()):.5f}; {100 * (abs(off) < 2 * expected).mean():.1f} % within twice that"
)
cost = float(found.stats["cost"]) * 2 / (len(pairs))
print(f"sum of squares for each degree of freedom: {cost:.3f}")
assert found.success and 0.9 < cost < 1.1
assert 0.9 < (abs(off) < 2 * expected).mean() < 0.99
