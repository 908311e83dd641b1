"""Groups of columns of a pattern that have no row in common, so that one product tells them all.

Curtis, Powell and Reid 1974, "On the estimation of sparse Jacobian matrices"; for symmetric matrices, star colourings:
Coleman and Moré 1984, "Estimation of sparse Hessian matrices and graph coloring problems".
"""

from __future__ import annotations

import numpy as np

from ._pattern import Pattern


def columns(pattern: Pattern) -> np.ndarray:
    """The colour of each column: two columns with an element in the same row differ."""
    return pattern.kept("colours", lambda: _greedy(pattern))


def _greedy(pattern: Pattern) -> np.ndarray:
    turned = pattern.T
    rows_of, start = turned.indices.tolist(), turned.indptr.tolist()
    n = pattern.shape[1]
    colour = [-1] * n
    seen = [0] * pattern.shape[0]  # per row a set of colours, as bits
    for j in _order(turned):
        rows = rows_of[start[j] : start[j + 1]]
        used = 0
        for i in rows:
            used |= seen[i]
        c = (~used & (used + 1)).bit_length() - 1  # the lowest bit that is not set
        colour[j] = c
        for i in rows:
            seen[i] |= 1 << c
    return np.asarray(colour, np.int64)


def _order(turned: Pattern) -> list[int]:
    """Columns as they stand where they are about equally full, which suits grids; else the fullest first."""
    lengths = turned.lengths
    if len(lengths) and lengths.max() <= 2 * max(np.median(lengths), 1):
        return list(range(len(lengths)))
    return np.argsort(-lengths, kind="stable").tolist()


def star(pattern: Pattern) -> np.ndarray:
    """Colours of a symmetric pattern: neighbours differ, and no path of four vertices has two colours alone.

    Then each element (i, j) of a symmetric matrix stands alone in the product of row i with the columns of j's
    colour, or in that of row j with those of i's.
    """
    return pattern.kept("star", lambda: _greedy_star(pattern))


def _greedy_star(pattern: Pattern) -> np.ndarray:
    start, index = pattern.indptr.tolist(), pattern.indices.tolist()
    n = pattern.shape[0]
    colour = [-1] * n
    for v in range(n):
        forbidden = 0
        near = [w for w in index[start[v] : start[v + 1]] if w != v]
        for w in near:
            if colour[w] >= 0:
                forbidden |= 1 << colour[w]
            for x in index[start[w] : start[w + 1]]:
                if x == v or x == w or colour[x] < 0:
                    continue
                if colour[w] < 0:
                    forbidden |= 1 << colour[x]  # w may yet get any colour
                else:
                    for y in index[start[x] : start[x + 1]]:
                        if y not in (w, x) and colour[y] == colour[w]:
                            forbidden |= 1 << colour[x]
                            break
        colour[v] = (~forbidden & (forbidden + 1)).bit_length() - 1
    return np.asarray(colour, np.int64)


def recovered(pattern: Pattern, colour: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each element of a symmetric pattern, the row and the colour of the product it can be read from."""
    rows, cols = pattern.rows.astype(np.int64), pattern.columns.astype(np.int64)
    count = int(colour.max(initial=-1)) + 1
    key = rows * count + colour[cols]  # how many elements of a row meet in a colour
    met = np.bincount(key, minlength=pattern.shape[0] * count)
    alone = met[key] == 1
    return np.where(alone, rows, cols), np.where(alone, colour[cols], colour[rows])
