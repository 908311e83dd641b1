"""Which resistors of a net decide what is measured between its corners, and what do tolerances of 5 % make of it?

Unknown are potentials of nodes and the current through a source of 1 V: G v + b i = 0, bᵀ v = 1, a matrix that is not
definite, without a diagonal element for the source: `sparse.factorise(a, "ldl")`. The derivative by all of them costs
a solution, 400 nets are one call under `vmap`. Twice all of them is twice the result: Σ r ∂R/∂r = R (Euler).
"""

import numpy as np
from _figures import figure
from matplotlib.collections import LineCollection

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse

n, count, top = 16, 256, 255
number = np.arange(n * n).reshape(n, n)
ends = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
first, second = (np.concatenate([e[k].ravel() for e in ends]) for k in (0, 1))
rows = np.concatenate([first, second, first, second, [top, count]]) - 1
columns = np.concatenate([first, second, second, first, [count, top]]) - 1
keep = (rows >= 0) & (columns >= 0)  # the potential of the first node is 0


def net(r):
    values = xnp.concatenate([1 / r, 1 / r, -1 / r, -1 / r, xnp.ones(2)])[keep]
    return sparse.coo_array((values, (rows[keep], columns[keep])), (count, count))


def resistance(r):
    return -1 / sparse.factorise(net(r), "ldl").solve(np.eye(count)[-1])[-1]


with xc.enable_x64():
    r = xnp.ones(len(first))
    seen = sparse.factorise(net(r), "ldl").inertia()
    value, slope = xc.jit(xc.value_and_grad(resistance))(r)
    draws = 1 + 0.05 * np.random.default_rng(0).uniform(-1, 1, (400, len(first)))
    spread = np.asarray(xc.jit(xc.vmap(resistance))(draws))

share = np.asarray(slope * r / value)
expected = float(value) * np.sqrt((share**2).sum()) * 0.05 / np.sqrt(3)
print(
    f"{float(value):.6f} Ω; the four resistors at the corners count for {np.sort(share)[-4:].sum():.0%}"
)
print(f"standard deviation {spread.std():.5f} Ω; of derivatives {expected:.5f} Ω")

with figure("shares", cols=2, size=(10, 4.5)) as (left, right):
    places = np.stack([[k % n, k // n] for k in (first, second)]).transpose(2, 0, 1)
    lines = LineCollection(places, linewidths=3, cmap="viridis")
    lines.set_array(np.log10(share))
    left.add_collection(lines)
    left.set(xlim=(-1, n), ylim=(-1, n), aspect="equal", title="Share of each resistor",
             xticks=[], yticks=[])  # fmt: skip
    left.figure.colorbar(lines, ax=left, label="log₁₀ of the share (dimensionless)")
    right.hist(spread, 30)
    right.set(xlabel="resistance, Ω", ylabel="nets", title="400 nets of 5 % resistors")

assert seen.certain and seen.negative == 1
assert abs(share.sum() - 1) < 1e-10 and abs(spread.std() / expected - 1) < 0.15
