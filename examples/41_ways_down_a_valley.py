"""How do methods walk down Rosenbrock's curved valley?

All start at (-1.2, 1) and end at (1, 1). Gradient descent zigzags between the walls, conjugate
gradients and quasi-Newton methods learn the valley's shape, Newton's method knows it, and a simplex
crawls without any derivative. Each walk is one compiled program that keeps its history.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

METHODS = ("gradient-descent", "cg", "lbfgs", "trust-exact", "nelder-mead")
START = np.array([-1.2, 1.0])


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


walks = {}
for name in METHODS:
    found = xo.minimize(rosenbrock, xnp.asarray(START), method=name, maxiter=400, history=True)
    walks[name] = found
    print(
        f"{name:17} {int(found.nit):4} steps {int(found.nfev):5} evaluations, f = {float(found.fun):.1e}: "
        f"{xo.Status(int(found.status)).name}"
    )

x, y = np.meshgrid(np.linspace(-1.6, 1.4, 200), np.linspace(-0.6, 1.6, 200))
heights = xc.vmap(xc.vmap(rosenbrock))(xnp.asarray(np.stack([x, y], -1)))
with figure("walks", rows=2, cols=3, size=(11, 7)) as axes:
    for ax, (name, found) in zip(axes.flat, walks.items()):
        path = np.asarray(found.history["x"])
        ax.contour(x, y, np.log10(1e-3 + np.asarray(heights)), 14, linewidths=0.6)
        ax.plot(*path.T, ".-", color="C1", linewidth=1, markersize=4)
        ax.plot(1, 1, "*", color="C2", markersize=10)
        ax.set(title=f"{name}, {int(found.nit)} steps", xlabel="x", ylabel="y")
    for ax in axes.flat[len(walks) :]:
        ax.axis("off")

for name in METHODS[1:]:
    assert np.allclose(walks[name].x, 1, atol=1e-3), name
assert max(walks["trust-exact"].nit, walks["lbfgs"].nit) < walks["nelder-mead"].nit
