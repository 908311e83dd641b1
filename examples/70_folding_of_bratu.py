"""How much heat can a reaction make before there is no steady state?

Bratu's problem, u'' + λ exp(u) = 0 with u = 0 at both ends, has two solutions below λ = 3.5138 and none above: it
folds. Given the height of u in the middle instead of λ, the branch is followed around the fold by Newton's method. The
Jacobian is bordered: three diagonals, a full column for λ and a row for the height. `sparse.jacobian` finds
these places from the program, and needs few directions for a thousand unknowns; `sparse.solve` does the rest.
"""

import numpy as np
from _figures import figure

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse

n = 999  # points within; fourth-order differences by Numerov's rule
h = 1 / (n + 1)


def equations(z, height):
    u, lam = z[:-1], z[-1]
    e = xnp.pad(xnp.exp(u), 1, constant_values=1.0)
    u = xnp.pad(u, 1)
    heat = (e[2:] + 10 * e[1:-1] + e[:-2]) / 12
    inside = (u[2:] - 2 * u[1:-1] + u[:-2]) / h**2 + lam * heat
    return xnp.append(inside * h**2, u[(n + 1) // 2] - height)


with xc.enable_x64():
    start = xnp.zeros(n + 1)
    pattern = sparse.jacobian_pattern(equations, start, xnp.asarray(0.0))

    @xc.jit
    def newton(z, height):
        step = sparse.solve(sparse.jacobian(equations, pattern)(z, height), equations(z, height))
        return z - step, xnp.abs(step).max()

    branch, z = [], start
    for height in np.linspace(0.05, 6, 120):
        size = 1.0
        while size > 1e-9:
            z, size = newton(z, height)
        branch.append((float(z[-1]), height))

lam, heights = np.array(branch).T
top = int(lam.argmax())
fold = np.polyfit(heights[top - 2 : top + 3], lam[top - 2 : top + 3], 4)
critical = np.polyval(fold, np.roots(np.polyder(fold)).real).max()

with figure("fold", title="Two steady states, or none") as ax:
    ax.plot(lam, heights)
    ax.plot(critical, heights[top], "o")
    ax.set(xlabel="λ", ylabel="height in the middle")

print(f"{pattern.nnz} places of {n + 1} x {n + 1}")
print(f"the fold is at λ = {critical:.6f} (3.513831)")
assert abs(critical - 3.513830719) < 1e-5
assert pattern.nnz < 5 * n
