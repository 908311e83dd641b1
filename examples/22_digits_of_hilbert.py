"""How many digits of a solution can one believe?

`solve(..., report=True)` estimates the condition number from the factors that it has anyway and says
how many decimal digits are left. On Hilbert matrices, whose condition grows like 30ⁿ, they run out
at n = 12; the estimate is put beside the true error.
"""

import numpy as np
from _figures import figure

import xcore as xc

sizes = list(range(2, 15))
claimed, true = [], []
for n in sizes:
    i = np.arange(n)
    hilbert = 1 / (i[:, None] + i + 1.0)
    answer = xc.linalg.solve(hilbert, hilbert.sum(axis=1), report=True)  # the solution is all ones
    claimed.append(float(answer.certificate.digits))
    error = np.abs(np.asarray(answer.value) - 1).max()
    true.append(max(-np.log10(error), 0.0))  # an error above 1 leaves no digit
with figure("digits", title="Digits of the solution of a Hilbert system") as ax:
    ax.plot(sizes, claimed, "o-", label="promised")
    ax.plot(sizes, true, "s-", label="true")
    ax.set(xlabel="n", ylabel="decimal digits")
    ax.legend()

print(
    "n   promised   true\n"
    + "\n".join(f"{n:2d}  {t:6.1f}  {r:6.1f}" for n, t, r in zip(sizes, claimed, true))
)
print("n = 14:", answer.message)
assert all(r > t - 1 for t, r in zip(claimed, true))
assert claimed[-1] < 1 and not answer.ok
