"""What does Gaussian elimination do, step by step?

Each step takes the largest number left in a column as pivot and clears what stands below it.
`elimination_steps` keeps every intermediate matrix. Rows above are multiplied by numbers of modulus
at most one, so entries rarely grow; Wilkinson's matrix is the exception, where they double each time.
"""

import numpy as np
from _figures import figure

import xcore as xc

a = np.random.default_rng(3).standard_normal((6, 6))
steps = xc.linalg.elimination_steps(a)
print("\n".join(steps.describe()))

with figure("steps", rows=2, cols=3, size=(7.2, 5.2), title="The matrix after each step") as axes:
    for k, ax in enumerate(axes.flat):
        ax.imshow(np.asarray(steps.matrices[k]), cmap="RdBu", vmin=-3, vmax=3)
        ax.set(title=f"{k} columns", xticks=[], yticks=[])
        ax.grid(False)

sizes = np.arange(5, 45, 5)
random, worst = [], []
for n in sizes:
    wilkinson = np.eye(n) - np.tril(np.ones((n, n)), -1)
    wilkinson[:, -1] = 1
    worst.append(float(xc.linalg.gauss_lu(wilkinson).growth))
    random.append(
        float(xc.linalg.gauss_lu(np.random.default_rng(n).standard_normal((n, n))).growth)
    )
with figure("growth", title="How much the largest number grows") as ax:
    ax.semilogy(sizes, worst, "o-", label="Wilkinson's matrix")
    ax.semilogy(sizes, random, "s-", label="random matrices")
    ax.set(xlabel="n", ylabel="growth factor")
    ax.legend()

upper = np.asarray(steps.matrices[-1])
print(f"product of the pivots {np.prod(np.diag(upper)):.6f}, determinant {np.linalg.det(a):.6f}")
assert np.allclose(np.tril(upper, -1), 0)
assert np.isclose(abs(np.prod(np.diag(upper))), abs(np.linalg.det(a)))
assert worst[-1] == 2.0 ** (sizes[-1] - 1)
