"""How does one store a function on a grid of 10¹⁰ points?

As a tensor train, whose size grows with the dimension and not with its power. Cross interpolation
finds it from few values; an integral over all ten dimensions is then ten small products.
"""

import numpy as np
from _figures import figure

import xcore.numpy as xnp
from xcore import decomp

n, d = 10, 10
nodes, weights = np.polynomial.legendre.leggauss(n)
nodes, weights = (nodes + 1) / 2, weights / 2


def f(positions):
    """1 / (1 + x₁ + … + x₁₀) at points of the grid of Gauss and Legendre."""
    return 1 / (1 + xnp.asarray(nodes)[positions].sum(-1))


# ∫ 1/(1 + Σx) over the cube is ∫₀^∞ e^-s ((1 - e^-s)/s)^d ds
s, w = np.polynomial.laguerre.laggauss(80)
exact = (w * ((1 - np.exp(-s)) / s) ** d).sum()

ranks, gaps = [1, 2, 4, 6], []
for rank in ranks:
    train = decomp.tt_cross(f, (n,) * d, rank, dtype="float64")
    rule = decomp.TT(tuple(xnp.asarray(weights)[None, :, None] for _ in range(d)))
    integral = float(decomp.inner(rule, train))
    gaps.append(abs(integral / exact - 1))
    numbers = sum(c.size for c in train.cores)
    print(f"rank {rank}: {numbers:5d} numbers for 10^10 points, integral off by {gaps[-1]:.1e}")
assert gaps[-1] < 1e-6

with figure("error", title="Integral over ten dimensions") as ax:
    ax.semilogy(ranks, gaps, "o-")
    ax.set_xlabel("rank of the train")
    ax.set_ylabel("relative error")
