"""How does one draw random numbers in parallel and still know the error?

One key is split into as many streams as there are workers; each estimates π from the share of random
points that fall into a quarter of a disk. The streams are independent, so the spread of their
estimates is an honest error bar. Element i of a stream is a function of (key, i): whether a stream is
drawn whole or in chunks changes no number.
"""

import math

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore import random

STREAMS, POINTS = 64, 2**18


def hits(key, points):
    """How many of so many random points in the square lie in the quarter disk."""
    x, y = random.uniform(key, (2, points))
    return xnp.sum(x * x + y * y < 1)


def estimates(key, points):
    keys = random.split(key, STREAMS)
    return 4 * xc.vmap(lambda k: hits(k, points))(keys) / points


estimate = xc.jit(estimates, static_argnums=1)
sizes = [2**k for k in range(6, 19, 2)]
found = [np.asarray(estimate(random.key(n), n), float) for n in sizes]
means = np.array([x.mean() for x in found])
bars = np.array([x.std(ddof=1) / math.sqrt(STREAMS) for x in found])

for n, mean, bar in zip(sizes, means, bars):
    print(
        f"{STREAMS} streams of {n:6d} points: π = {mean:.5f} ± {bar:.5f}, {(mean - math.pi) / bar:+.1f} σ off"
    )

with figure("error", title="Error bars of the mean of 64 streams") as ax:
    ax.errorbar(sizes, means - math.pi, 2 * bars, fmt="o-", capsize=3, label="estimate - π, 2σ")
    ax.set(xscale="log", xlabel="points per stream", ylabel="error")
    ax.axhline(0, color="k", lw=0.8)
    ax.legend()

# In chunks: the same numbers, so the same estimate, with a fraction of the memory.
key = random.key(7)
whole = random.uniform(key, (POINTS,))
chunks = [
    random.uniform_at(key, xnp.arange(i, i + POINTS // 8)) for i in range(0, POINTS, POINTS // 8)
]
assert bool((xnp.concatenate(chunks) == whole).all())
assert np.all(abs(means - math.pi) < 4 * bars)
