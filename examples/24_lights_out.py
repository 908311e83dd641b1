"""Which buttons turn all the lights out?

Pressing a button of a 5 × 5 board switches its light and its neighbours'. Twice is as good as never,
so this is a linear system over GF(2): elimination with exclusive or. Not every board can be solved:
the rank says how many can, and the null space which presses do nothing.
"""

import numpy as np
from _figures import figure

import xcore as xc

n = 5
i, j = np.divmod(np.arange(n * n), n)
switches = ((abs(i[:, None] - i) + abs(j[:, None] - j)) <= 1).astype(np.int32)
rank = int(xc.linalg.matrix_rank(switches, field=2))
quiet = np.asarray(xc.linalg.gauss_null_space(switches, field=2))

board = switches @ np.random.default_rng(1).integers(0, 2, n * n) % 2  # one that can be solved
form = np.asarray(xc.linalg.rref(np.column_stack([switches, board]), field=2))
presses = np.zeros(n * n, int)
for row in form:
    pivots = np.flatnonzero(row[:-1])
    if pivots.size:
        presses[pivots[0]] = row[-1]
    else:
        assert row[-1] == 0  # else the board could not be solved
best = min((presses, *((presses + q) % 2 for q in [*quiet.T, quiet.sum(axis=1)])), key=np.sum)

with figure("board", cols=3, size=(9, 3.2)) as axes:
    for ax, x, title in zip(
        axes, (board, presses, best), ("lights", "a solution", "the fewest presses"), strict=True
    ):
        ax.imshow(x.reshape(n, n), cmap="gray")
        ax.set(title=title, xticks=[], yticks=[])
        ax.grid(False)

print(f"rank {rank} of {n * n}: one board in {2 ** (n * n - rank)} can be solved, in as many ways")
print(f"presses: {presses.sum()}, and {best.sum()} at best")
assert rank == 23 and quiet.shape == (25, 2)
assert not ((switches @ best + board) % 2).any()
