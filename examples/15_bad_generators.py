"""What is wrong with the old way of making random numbers?

RANDU, a linear congruential generator of the 1960s, multiplies its last number by 65539. Nine times
one number, less six times the next, plus the one after, is always a whole number: triples lie on 15
planes. Seeding parallel workers of such a generator with 0, 1, 2, … is no better: they all stay on
lines. A counter-based generator hashes (key, i): triples fill space and near keys share nothing.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore import random


def randu(seed, n):
    """n numbers in [0, 1) of x ← 65539 x mod 2³¹."""

    def step(x, _):
        x = (x * 65539) & 0x7FFFFFFF
        return x, x / 2.0**31

    return xc.lax.scan(step, xnp.uint32(seed), None, length=n)[1]


def planes(triples):
    """In how many planes 9x - 6y + z = whole number do the triples lie? At all, and by rounding."""
    height = 9 * triples[:, 0] - 6 * triples[:, 1] + triples[:, 2]
    return len(np.unique(np.round(height))), float(np.abs(height - np.round(height)).max())


old = np.asarray(xc.jit(randu, static_argnums=1)(1, 30000), float).reshape(-1, 3)
new = np.asarray(random.uniform(random.key(1), (10000, 3)), float)
count, distance = planes(old)
print(f"RANDU: triples in {count} planes, at most {distance:.0e} away from them")
print(f"Threefry: at most {planes(new)[1]:.2f} away, which is as far as one can be")

# Workers seeded 1, 3, 5, …: the first two numbers of each.
seeds = np.arange(1, 1001, 2, dtype=np.uint32)
naive = np.asarray(xc.vmap(lambda s: randu(s, 2))(seeds))
keyed = np.asarray(xc.vmap(lambda s: random.uniform(random.key(s), (2,)))(seeds))
correlation = [abs(np.corrcoef(np.arange(len(seeds)), x[:, 0])[0, 1]) for x in (naive, keyed)]
print("correlation of a worker's first number with its seed:", end=" ")
print(f"RANDU {correlation[0]:.2f}, Threefry {correlation[1]:.2f}")

with figure("planes", cols=2, title="10,000 triples, seen along the planes", size=(9, 4)) as axes:
    for ax, x, name in zip(axes, (old, new), ("RANDU", "Threefry")):
        ax.plot(x[:, 2] - 6 * x[:, 1], x[:, 0], ".", ms=1)
        ax.set(title=name, xlabel="z - 6y", ylabel="x")

with figure("seeds", cols=2, title="First two numbers of 500 workers", size=(9, 4)) as axes:
    for ax, x, name in zip(
        axes, (naive, keyed), ("RANDU, seeds 1, 3, 5, …", "Threefry, keys 1, 3, 5, …")
    ):
        ax.plot(x[:, 0], x[:, 1], ".", ms=3)
        ax.set(title=name, xlabel="first number", ylabel="second number")

assert count <= 16 and distance < 1e-5
assert correlation[0] > 0.9 > 0.2 > correlation[1]
