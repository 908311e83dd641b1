"""How many substances glow in a measurement, and what does each of them do meanwhile?

Nikolajsen, Booksh, Hansen and Bro measured the light that 64 solutions of catecholamines emit, at 12 wavelengths,
under light of 10 others, in 60 moments of their oxidation (Analytica Chimica Acta 475, 2003); TensorLy brings the
numbers. 4 in 1000 are missing. One in 20 of the others is hidden from the fit: while another substance is there to be
found, one rank more foretells it much better. Each solution was measured twice, one after the other, of which the
decomposition knows nothing: the amounts that it finds in the two must agree.
"""

import numpy as np
from _extras import needs
from _figures import figure

needs("tensorly")
from tensorly.datasets import load_kinetic  # noqa: E402

import xcore as xc  # noqa: E402
from xcore import decomp  # noqa: E402

data = load_kinetic()
measured = np.asarray(data.tensor, np.float32)
there = ~np.asarray(data.missing_values_position)
hidden = there & (np.random.default_rng(0).random(there.shape) < 0.05)
_, emission, excitation, minutes = data.ticks


def fit(rank):
    """(nonnegative factors of what is not hidden, relative error of what is)."""
    found = decomp.cp_nonneg(
        measured, rank, mask=there & ~hidden, max_steps=1000, extrapolate=True, key=xc.random.key(0)
    )
    missed = (np.asarray(found.value.to_dense()) - measured)[hidden]
    return found, float(np.linalg.norm(missed) / np.linalg.norm(measured[hidden]))


ranks = range(1, 7)
fits = [fit(rank) for rank in ranks]
errors = [error for _, error in fits]
for rank, (found, error) in zip(ranks, fits, strict=True):
    print(f"rank {rank}: {int(found.steps):4} steps, hidden numbers missed by {error:.2%}")

factors = decomp.normalize(fits[3][0].value)
amounts = np.asarray(factors.weights * factors.factors[0])
first, again = amounts[::2], amounts[1::2]
usual = np.setdiff1d(np.arange(32), np.asarray(data.outlier_measurements_idx) // 2)
apart = np.median(abs(first - again)[usual] / amounts.max(0), 0)
agree = [np.corrcoef(first[usual, r], again[usual, r])[0, 1] for r in range(4)]
print("two measurements of one solution differ by", *(f"{a:.1%}" for a in apart), "of the largest")
print("their correlation:", *(f"{c:.3f}" for c in agree))

with figure("substances", rows=2, cols=2, size=(10, 7)) as axes:
    names = ("wavelength emitted (nm)", "wavelength absorbed (nm)", "time (minutes)")
    for ax, at, mine, name in zip(
        axes.flat, (emission, excitation, minutes), factors.factors[1:], names, strict=False
    ):
        ax.plot(at, np.asarray(mine) / np.asarray(mine).max(0))
        ax.set(xlabel=name, ylabel="intensity, largest = 1")
    axes[1, 1].loglog(first / amounts.max(0), again / amounts.max(0), "o", ms=4)
    axes[1, 1].plot([0.01, 1], [0.01, 1], color="grey", lw=1)
    axes[1, 1].set(xlim=(0.01, 1.2), ylim=(0.01, 1.2))
    axes[1, 1].set(xlabel="amount, first time", ylabel="amount, measured again")
with figure("ranks") as ax:
    ax.semilogy(ranks, errors, "o-")
    ax.set(xlabel="substances", ylabel="relative error of the hidden numbers")

assert errors[3] < 0.033 and errors[3] < 0.9 * errors[2] and errors[4] > 0.88 * errors[3]
assert min(agree) > 0.8
