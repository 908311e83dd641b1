"""How does a drum of one's own drawing sound?

A closed curve, given by its points, is filled to an image of inside and outside. The overtones are the
eigenvalues of -Δ with zero on the edge. Weyl's law counts them from area A and perimeter L alone:

    N(λ) ≈ (A λ - L √λ) / 4π

so one does hear how large the drum is. (Weyl 1911; Kac 1966, "Can one hear the shape of a drum?")
"""

import numpy as np
from _figures import figure
from matplotlib.path import Path

from xcore.pde import Grid, Masked, eigenmodes

# the outline: a heart; replace it by any closed curve
t = np.linspace(0, 2 * np.pi, 400)
height = 13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t)
outline = np.stack([np.sin(t) ** 3, height / 16], 1)

grid = Grid((96, 96), -1.15, 1.15)
x, y = np.meshgrid(grid.nodes(0), grid.nodes(1), indexing="ij")
inside = Path(outline).contains_points(np.stack([x.ravel(), y.ravel()], 1)).reshape(x.shape)
drum = Masked(grid, inside, edge="staircase")
squares, modes = eigenmodes(drum, 24, rtol=1e-3)
squares = np.asarray(squares, float)

with figure(
    "modes", rows=2, cols=4, size=(11, 5.8), title="A heart's tones, in units of its lowest"
) as axes:
    for ax, value, mode in zip(axes.flat, squares, modes):
        u = np.asarray(drum.full(mode, outside=np.nan))[1:-1, 1:-1]
        top = np.nanmax(abs(u))
        ax.imshow(u.T, origin="lower", extent=(-1.15, 1.15, -1.15, 1.15), cmap="RdBu", vmin=-top, vmax=top,
                  interpolation="bilinear")  # fmt: skip
        ax.plot(*outline.T, color="0.45", linewidth=1)
        ax.set(title=f"{np.sqrt(value / squares[0]):.3f}", xticks=[], yticks=[])
        ax.grid(False)

shifted = np.roll(outline, -1, 0)
area = 0.5 * abs(np.sum(outline[:, 0] * shifted[:, 1] - shifted[:, 0] * outline[:, 1]))
length = np.sum(np.hypot(*(shifted - outline).T))
counted = np.arange(1, len(squares) + 1) - 0.5
weyl = (area * squares - length * np.sqrt(squares)) / (4 * np.pi)
with figure("weyl", title="Counting tones tells the area") as ax:
    ax.step(squares, counted + 0.5, where="post", label="tones below λ")
    ax.plot(squares, weyl, label="Weyl's law for the drawn area and perimeter")
    ax.set(xlabel="λ", ylabel="number")
    ax.legend()

heard = np.linalg.lstsq(np.stack([squares, -np.sqrt(squares)], 1), 4 * np.pi * counted, rcond=None)[
    0
][0]
print("the first tones:", " ".join(f"{v:.3f}" for v in np.sqrt(squares[:8] / squares[0])))
print(f"area drawn {area:.2f}, heard from {len(squares)} tones {heard:.2f}")
assert abs(weyl - counted).max() < 3 and abs(heard / area - 1) < 0.2
