"""How much does it help to choose points more evenly than chance does?

The mean of a smooth function over the unit cube in six dimensions, from n points: with random points
the error falls as n^-1/2, with scrambled Sobol points nearly as n^-1 and, thanks to the scrambling,
down to n^-3/2 for smooth functions. Thirty-two random scramblings show the error.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore import random

DIM, REPEATS = 6, 32


def f(x):
    """A function of mean 1: the product of 1 + (x - 1/2) / k over the coordinates k = 1, 2, …"""
    return xnp.prod(1 + (x - 0.5) / xnp.arange(1.0, DIM + 1), axis=-1)


POINTS = {
    "random": lambda key, n: random.uniform(key, (n, DIM), "float64"),
    "Halton": lambda key, n: random.halton(key, n, DIM, dtype="float64"),
    "Sobol": lambda key, n: random.sobol(key, n, DIM, dtype="float64"),
}


def rms_error(points, n):
    """Root mean square of the error over independent keys."""
    keys = random.split(random.key(n), REPEATS)
    mean = xc.jit(xc.vmap(lambda key: f(points(key, n)).mean()))
    return float(xnp.sqrt(xnp.mean((mean(keys) - 1) ** 2)))


sizes = np.array([2**k for k in range(6, 15, 2)])
errors = {name: np.array([rms_error(p, int(n)) for n in sizes]) for name, p in POINTS.items()}
slopes = {name: np.polyfit(np.log(sizes), np.log(e), 1)[0] for name, e in errors.items()}
for name, error in errors.items():
    print(f"{name:7s} error with {sizes[-1]} points {error[-1]:.1e}, falls as n^{slopes[name]:.2f}")

with figure("convergence", title="Integration in six dimensions") as ax:
    for name, error in errors.items():
        ax.loglog(sizes, error, "o-", label=f"{name}: n^{slopes[name]:.2f}")
    ax.loglog(
        sizes, 0.5 * errors["random"][0] * (sizes / sizes[0]) ** -1.0, "k--", lw=0.8, label="n^-1"
    )
    ax.set(xlabel="points", ylabel="root mean square error")
    ax.legend()

assert -0.65 < slopes["random"] < -0.35
assert slopes["Sobol"] < -1.0 and slopes["Halton"] < -0.8
assert errors["Sobol"][-1] < errors["random"][-1] / 50
