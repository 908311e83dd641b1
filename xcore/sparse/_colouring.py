"""Groups of columns of a pattern that have no row in common, so that one product tells them all.

Curtis, Powell and Reid 1974, "On the estimation of sparse Jacobian matrices"; for symmetric matrices, star colourings:
Coleman and Moré 1984, "Estimation of sparse Hessian matrices and graph coloring problems". Rows and columns together:
Hossain and Steihaug 1998, "Computing a sparse Jacobian matrix by rows and columns"; Coleman and Verma 1998, "The
efficient computation of sparse Jacobian matrices using automatic differentiation".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._acyclic import Substitution, acyclic, substitution
from ._orders import of_columns, order_of
from ._pattern import Pattern


def columns(pattern: Pattern, order: str = "auto") -> np.ndarray:
    """The colour of each column: two columns with an element in the same row differ."""
    return _coloured(pattern, _greedy, order, "full", int(pattern.lengths.max(initial=0)))


_SMALL = 200_000  # where no more pairs of elements meet, another order is tried


def _coloured(pattern: Pattern, greedy: Any, order: str, first: str, least: int) -> np.ndarray:
    """Colours in an order; by "auto" in the first one, or smallest-last where that takes fewer."""
    of = lambda order: pattern.kept((greedy, order), lambda: greedy(pattern, order))  # noqa: E731
    if order != "auto":
        return of(order)
    found = of(first)
    if count(found) <= least or int((pattern.lengths.astype(np.int64) ** 2).sum()) > _SMALL:
        return found
    return min(found, of("smallest-last"), key=count)


def _greedy(pattern: Pattern, order: str) -> np.ndarray:
    turned = pattern.T
    rows_of, start = turned.indices.tolist(), turned.indptr.tolist()
    n = pattern.shape[1]
    colour = [-1] * n
    seen = [0] * pattern.shape[0]  # per row a set of colours, as bits
    for j in _full(turned) if order == "full" else order_of(of_columns(pattern), order):
        rows = rows_of[start[j] : start[j + 1]]
        used = 0
        for i in rows:
            used |= seen[i]
        c = (~used & (used + 1)).bit_length() - 1  # the lowest bit that is not set
        colour[j] = c
        for i in rows:
            seen[i] |= 1 << c
    return np.asarray(colour, np.int64)


def _full(turned: Pattern) -> list[int]:
    """Columns as they stand where they are about equally full, which suits grids; else the fullest first."""
    lengths = turned.lengths
    if len(lengths) and lengths.max() <= 2 * max(np.median(lengths), 1):
        return list(range(len(lengths)))
    return np.argsort(-lengths, kind="stable").tolist()


# Rows and columns together


class Cover(NamedTuple):
    """Colours of rows and columns from whose products each element can be read.

    Attributes:
      rows, columns: colours, -1 of those that no product has.
      forward: of each element, whether it is read from a product with columns.
    """

    rows: np.ndarray
    columns: np.ndarray
    forward: np.ndarray

    @property
    def count(self) -> int:
        """The number of products."""
        return count(self.rows) + count(self.columns)


def count(colour: np.ndarray) -> int:
    return int(colour.max(initial=-1)) + 1


def cover(pattern: Pattern, order: str = "auto") -> Cover:
    """The fewest products found that tell all elements: of columns, of rows, or of both.

    Of both, the fullest rows have products of their own, and columns need to differ in the other rows only; or the
    fullest columns, and rows. How many are the fullest is tried out where a bound says that it may be of use.
    """
    return pattern.kept(("cover", order), lambda: _cover(pattern, order))


def _cover(p: Pattern, order: str) -> Cover:
    best, tried = None, 0
    for bound, plain, length, turned in sorted(_bounds(p, False) + _bounds(p.T, True)):
        worth = best is None or bound < best.count
        if worth and (plain or tried < _MOST_TRIED):
            tried += not plain
            made = _split(p.T if turned else p, length, order)
            if turned:
                forward = np.empty(p.nnz, bool)
                forward[p.order] = ~made.forward
                made = Cover(made.columns, made.rows, forward)
            best = made if best is None or made.count < best.count else best
    assert best is not None
    return best


_MOST_TRIED = 4  # lengths of rows or columns that are full
_MOST_LENGTHS = 64


def _bounds(p: Pattern, turned: bool) -> list[tuple[int, bool, int, bool]]:
    """(the least number of products, whether no row is full, the length from which on rows are full, ``turned``)"""
    lengths = np.append(0, np.unique(p.lengths))
    met = np.zeros(max(p.shape[1], 1), np.int64)  # how many full rows have an element in a column
    found = [(int(lengths[-1]), True, int(lengths[-1]) + 1, turned)]
    for k in range(len(lengths) - 1, max(len(lengths) - _MOST_LENGTHS, 1), -1):
        met += np.bincount(p.columns[p.lengths[p.rows] == lengths[k]], minlength=len(met))
        found.append((int(lengths[k - 1] + met.max()), False, int(lengths[k]), turned))
    return found


def _split(p: Pattern, length: int, order: str) -> Cover:
    """Columns that differ in the rows below a length, and products of the others for what these do not tell."""
    full = p.lengths >= length
    light = p.chosen(~full[p.rows])[0] if full.any() else p
    by_column = np.where(light.T.lengths > 0, columns(light, order), -1)
    colour = by_column[p.columns]
    key = p.rows.astype(np.int64) * (count(by_column) + 1) + colour + 1
    met = np.bincount(key, minlength=1)
    forward = (colour >= 0) & (met[key] == 1)
    return Cover(_greedy_rows(p, ~forward), by_column, forward)


def _greedy_rows(p: Pattern, read: np.ndarray) -> np.ndarray:
    """Colours of rows with elements to be read: in the column of one there is no other row of its colour."""
    colour = np.full(p.shape[0], -1, np.int64)
    there, wanted = [0] * p.shape[1], [0] * p.shape[1]  # per column sets of colours, as bits
    some = np.flatnonzero(np.bincount(p.rows[read], minlength=p.shape[0]))
    for i in some[np.argsort(-p.lengths[some], kind="stable")]:
        own = slice(p.indptr[i], p.indptr[i + 1])
        places = list(zip(p.columns[own].tolist(), read[own].tolist(), strict=True))
        used = 0
        for j, needed in places:
            used |= there[j] if needed else wanted[j]
        c = (~used & (used + 1)).bit_length() - 1
        colour[i] = c
        for j, needed in places:
            there[j] |= 1 << c
            wanted[j] |= (1 << c) * needed
    return colour


def star(pattern: Pattern, order: str = "auto") -> np.ndarray:
    """Colours of a symmetric pattern: neighbours differ, and no path of four vertices has two colours alone.

    Then each element (i, j) of a symmetric matrix stands alone in the product of row i with the columns of j's
    colour, or in that of row j with those of i's.
    """
    return _coloured(pattern, _greedy_star, order, "natural", 2)


def _greedy_star(pattern: Pattern, order: str) -> np.ndarray:
    start, index = pattern.indptr.tolist(), pattern.indices.tolist()
    colour = [-1] * pattern.shape[0]
    for v in order_of(pattern, order):
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


def without_cycles(pattern: Pattern, order: str = "auto") -> np.ndarray:
    """Colours of a symmetric pattern: neighbours differ, and no cycle has two colours alone."""
    return _coloured(pattern, _greedy_acyclic, order, "natural", 2)


def _greedy_acyclic(pattern: Pattern, order: str) -> np.ndarray:
    return acyclic(pattern, order_of(pattern, order))


def by_substitution(pattern: Pattern, order: str = "auto") -> tuple[np.ndarray, Substitution]:
    """Those colours, and how elements follow from products with them."""
    colour = without_cycles(pattern, order)
    return colour, pattern.kept(("substitution", order), lambda: substitution(pattern, colour))
