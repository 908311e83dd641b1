"""Why is a three-way decomposition unique when a matrix factorisation is not?

A B = (A T)(T⁻¹ B) for any T, so the factors of a matrix say nothing about what made it. The factors
of a three-way tensor of low rank come back, up to order and scale.
"""

import numpy as np
from _figures import figure

import xcore as xc
from xcore import decomp

rng = np.random.default_rng(0)
t = np.linspace(0, 1, 60)
peaks = np.stack([np.exp(-(((t - c) / 0.08) ** 2)) for c in (0.25, 0.45, 0.7)], 1)
true = decomp.CP(None, [peaks, np.abs(rng.normal(size=(40, 3))), np.abs(rng.normal(size=(30, 3)))])
x = np.asarray(true.to_dense())

found = decomp.cp_als(x, 3, key=xc.random.key(0), rtol=1e-12)
columns = np.asarray(decomp.fix_signs(decomp.arrange(found.value)).factors[0])
score = float(decomp.factor_match_score(true, found.value))
print(
    f"three-way: error {float(found.error):.1e} after {int(found.steps)} sweeps, match score {score:.5f}"
)

flat = x.reshape(60, -1)
left = np.linalg.svd(flat, full_matrices=False)[0][:, :3]
print(
    f"matrix: rank 3 leaves {np.linalg.norm(flat - left @ (left.T @ flat)) / np.linalg.norm(flat):.1e},"
)
print("        but its singular vectors are mixtures of the true columns")
assert score > 0.999

with figure("factors", cols=3, title="", size=(10, 3)) as axes:
    for ax, y, name in zip(
        axes, (peaks, left, columns), ("true", "matrix (SVD)", "three-way (CP)"), strict=True
    ):
        ax.plot(t, y / np.abs(y).max(0))
        ax.set(title=name, xlabel="t", ylabel="factor, largest = 1")
