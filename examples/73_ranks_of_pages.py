"""Which pages of a small web would a reader who follows links at random see most?

The ranks are the eigenvector of the matrix d P + (1 - d) e eᵀ / n for its eigenvalue 1: never made dense, it is an
operator of a sparse matrix and sums. `sparse.eigs` finds the largest values, one of which is 1 and the next at most d;
a fixed point finds the same ranks; a derivative tells what following links less often would change.
"""

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from xcore import linalg, sparse

n = 2000
rng = np.random.default_rng(0)
popular = (rng.pareto(1.2, n) + 0.1) / 1000
links = rng.poisson(8, n)
source = np.repeat(np.arange(n), links)
target = rng.choice(n, len(source), p=popular / popular.sum())

with xc.enable_x64():
    a = sparse.coo_array((np.ones(len(source)), (target, source)), (n, n))
    out = a.sum(0)
    p = a / xnp.where(out == 0, 1, out)
    dead = xnp.where(out == 0, 1.0, 0.0)  # who stands there goes anywhere

    def web(params, x):
        p, dead, d = params
        return d * (p @ x + (dead @ x) / n) + (1 - d) * x.sum() / n

    pages = linalg.FunctionOperator(web, (p, dead, 0.85), (n, n))
    found = sparse.eigs(pages, 2, ncv=30, report=True)
    w, v = found.value
    ranks = xnp.abs(v[:, 0]) / xnp.abs(v[:, 0]).sum()

    def solved(d):
        system = sparse.eye_array(n, dtype="float64") - p * d
        x = sparse.solve(system, xnp.ones(n), report=True).value  # pyright: ignore
        return x / x.sum()

    change = xc.jvp(solved, (xnp.asarray(0.85),), (xnp.asarray(1.0),))[1]

top = np.argsort(-np.asarray(ranks))[:5]
print(
    f"eigenvalues {abs(complex(w[0])):.6f} and {abs(complex(w[1])):.4f}, {int(found.steps)} restarts"
)
for i in top:
    print(f"page {i}: rank {float(ranks[i]):.4f}, per unit of d {float(change[i]):+.4f}")
power = xnp.ones(n) / n
for _ in range(150):
    power = pages.mv(power)
assert found.ok and abs(complex(w[0]) - 1) < 1e-8
assert xnp.abs(power - ranks).max() < 1e-8
