"""How does a drum in the shape of an L sound, to nine digits?

At the corner that points inwards the lowest mode rises like r^⅔, so its slope is infinite there and
differences of second order give eigenvalues with errors of order h^(4/3) only:

    λ(h) = λ + c₁ h^(4/3) + c₂ h² + c₃ h^(8/3) + c₄ h^(10/3) + c₅ h⁴ + …

The powers are known, so eigenvalues on six coarse grids give λ and five c's by elimination. (Fox,
Henrici and Moler found eight digits in 1967; 9.63972384402194 is Trefethen and Betcke's value, 2006)
"""

import numpy as np
from _figures import figure

import xcore as xc
from xcore.pde import Grid, Masked, eigenmodes

EXACT = 9.63972384402194
POWERS = np.array([0, 4 / 3, 2, 8 / 3, 10 / 3, 4])
xc.config.update("default_bits", 64)
# a program for each grid, which runs once: compiling it well takes longer than running it
xc.config.update("disable_most_optimizations", True)


def drum(cells):
    return Masked(Grid((2 * cells, 2 * cells), -1.0, 1.0), lambda x, y: (x < 0) | (y > 0),
                  edge="symmetric")  # fmt: skip


cells = np.array([12, 16, 24, 32, 48, 64])
values = np.array([float(eigenmodes(drum(n), 1, rtol=1e-7)[0][0]) for n in cells])
best = []
for count in range(1, len(cells) + 1):
    steps = cells[-count] / cells[-count:, None]
    best.append(np.linalg.solve(steps ** POWERS[:count], values[-count:])[0])

op = drum(32)
w, modes = eigenmodes(op, 6, rtol=1e-4)
with figure("modes", rows=2, cols=3, size=(9, 6)) as axes:
    for ax, value, mode in zip(axes.flat, w, modes, strict=True):
        u = np.asarray(op.full(mode, outside=np.nan))[1:-1, 1:-1]
        top = np.nanmax(abs(u))
        ax.imshow(u.T, origin="lower", extent=(-1, 1, -1, 1), cmap="RdBu", vmin=-top, vmax=top,
                  interpolation="bilinear")  # fmt: skip
        ax.set(title=f"λ = {float(value):.3f}", xlabel="x", ylabel="y")
        ax.grid(False)
with figure("digits") as ax:
    ax.semilogy(cells, abs(values / EXACT - 1), "o-", label="on one grid")
    ax.semilogy(
        cells[::-1], abs(np.array(best) / EXACT - 1), "s-", label="from all grids down to this"
    )
    ax.set(xlabel="cells along an edge", ylabel="relative error")
    ax.legend()

print(f"finest grid {values[-1]:.6f}, from six grids {best[-1]:.10f}, exact {EXACT:.10f}")
assert abs(best[-1] / EXACT - 1) < 1e-9
