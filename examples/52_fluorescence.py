"""Which substances are in a mixture, from its fluorescence alone?

Light emitted at wavelength j when excited at wavelength k by sample i is Σ_r c_ir e_jr a_kr: a CP
tensor of concentrations, emission and excitation spectra. All three are found at once, with the
samples' concentrations unknown, and the core consistency tells how many substances there are.

The spectra here are made up, so that what is found can be held against what is true; the well-known measurements of
amino acids do not come with this package. Example 57 takes measured ones, which TensorLy brings.
"""

import numpy as np
from _figures import figure

import xcore as xc
from xcore import decomp

rng = np.random.default_rng(0)
emission, excitation = np.linspace(300, 500, 80), np.linspace(230, 320, 40)


def band(x, centre, width):
    return np.exp(-0.5 * ((x - centre) / width) ** 2)


spectra = np.stack([band(emission, 350, 14), band(emission, 385, 22), band(emission, 420, 18)], 1)
absorption = np.stack(
    [band(excitation, 275, 9), band(excitation, 255, 12), band(excitation, 290, 14)], 1
)
concentration = rng.dirichlet(np.ones(3), 12)
true = decomp.CP(None, (concentration, spectra, absorption))
clean = np.asarray(true.to_dense())
x = clean + 0.01 * clean.max() * rng.normal(size=clean.shape)

for rank in (2, 3, 4):
    found = decomp.cp_nonneg(x, rank, restarts=4, max_steps=1000, key=xc.random.key(1))
    consistency = float(decomp.core_consistency(x, found.value))
    print(f"rank {rank}: error {float(found.error):.4f}, core consistency {consistency:.0f} %")

found = decomp.cp_nonneg(x, 3, restarts=4, max_steps=1000, key=xc.random.key(1))
score = float(decomp.factor_match_score(true, found.value))
print(f"match score with the true spectra: {score:.4f}")
assert score > 0.97

with figure("spectra", cols=2, size=(9, 3.5)) as axes:
    for ax, x, mine, exact, name in (
        (axes[0], emission, found.value.factors[1], spectra, "emission"),
        (axes[1], excitation, found.value.factors[2], absorption, "excitation"),
    ):
        ax.plot(x, np.asarray(mine) / np.asarray(mine).max(0))
        ax.plot(x, exact / exact.max(0), "k:", lw=1)
        ax.set(xlabel="wavelength, nm", ylabel="intensity, largest = 1")
        ax.set_title(f"{name}: found (lines) and true (dots)")
