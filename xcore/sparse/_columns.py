"""Cholesky factors of sparse matrices column by column, for a CPU: as many elements as there are, none of them padding.

Gilbert and Peierls 1988, "Sparse partial pivoting in time proportional to arithmetic operations", for places that are
known. Column j of

    L = (A - Σ_{k < j, L_jk ≠ 0} L_:k conj(L_jk)) / L_jj

is gathered in a row of work space as long as a column of A. It is one loop over tables, which a CPU runs as one
kernel. Of a batch, numbers of all its matrices stand side by side, and each step is one of vectors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._core import errors
from ._pattern import Pattern

_MOST_ELEMENTS = 1 << 27
_TOGETHER = 4  # columns of the same places, of which multiples are subtracted together


class Columns(NamedTuple):
    """How a symmetric pattern is factorised: tables, in the order of elimination.

    Attributes:
      order: (n,) the unknown that is eliminated then.
      pointers, rows: of the factor, column by column, the diagonal first.
      given, given_rows, given_at: for each column the elements of A that it begins with: rows, and which values.
      several, lengths, several_pointers: for each row j runs of ``_TOGETHER`` columns that row j of L has: where in
        each it begins, how many elements are left there.
      single, single_lengths, single_pointers: the columns that are left over.
      several_columns, single_columns: the numbers of these columns.
    """

    order: np.ndarray
    pointers: np.ndarray
    rows: np.ndarray
    given: np.ndarray
    given_rows: np.ndarray
    given_at: np.ndarray
    several: np.ndarray
    lengths: np.ndarray
    several_pointers: np.ndarray
    single: np.ndarray
    single_lengths: np.ndarray
    single_pointers: np.ndarray
    several_columns: np.ndarray
    single_columns: np.ndarray

    @property
    def elements(self) -> int:
        return int(self.pointers[-1])


def columns_of(pattern: Pattern) -> Columns:
    return pattern.kept("columns", lambda: _planned(pattern))


def table(plan: Columns, name: str) -> np.ndarray:
    """A table that has an element, as loops want it that may have no step."""
    found = getattr(plan, name)
    return found if len(found) else np.zeros(1, np.int32)


def _elimination_order(pattern: Pattern) -> np.ndarray:
    """Minimum degree. Unknowns without an element on the diagonal come right behind one that they meet."""
    n = pattern.shape[0]
    group, partner = np.arange(n), _partners(pattern)
    late = np.flatnonzero(partner >= 0)
    if not len(late):
        return _minimum_degree(pattern.rows, pattern.columns, n)
    group[late] = partner[late]
    members, number = np.unique(group, return_inverse=True)
    order = _minimum_degree(number[pattern.rows], number[pattern.columns], len(members))
    place = np.empty(len(members), np.int64)
    place[order] = np.arange(len(members))
    return np.lexsort((partner >= 0, place[number]))


def _partners(pattern: Pattern) -> np.ndarray:
    """For each unknown without an element on the diagonal another that has one, each taken once; else -1."""
    n = pattern.shape[0]
    there = np.zeros(n, bool)
    there[pattern.rows[pattern.rows == pattern.columns]] = True
    partner, taken = np.full(n, -1), ~there
    for i in np.flatnonzero(~there):
        near = pattern.indices[pattern.indptr[i] : pattern.indptr[i + 1]]
        free = near[~taken[near]]
        if len(free):
            partner[i], taken[free[0]] = free[0], True
    return partner


def _minimum_degree(rows: np.ndarray, columns: np.ndarray, n: int) -> np.ndarray:
    """By SuperLU, whose incomplete factors of next to nothing cost next to nothing."""
    import scipy.sparse
    import scipy.sparse.linalg

    one = scipy.sparse.csc_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    a = scipy.sparse.csc_array(one + scipy.sparse.diags_array(np.full(n, 2.0 * max(len(rows), 1))))
    made = scipy.sparse.linalg.spilu(
        a, drop_tol=1e9, fill_factor=1, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )  # fmt: skip
    return np.argsort(made.perm_c)


def _structure(place: np.ndarray, pattern: Pattern) -> tuple[np.ndarray, np.ndarray]:
    """(pointers, rows) of the factor: column j has what A has there, and what its children in the tree have."""
    n = len(place)
    r, c = place[pattern.rows], place[pattern.columns]
    low = r > c
    r, c = r[low], c[low]
    by = np.lexsort((r, c))
    own = np.split(r[by], np.searchsorted(c[by], np.arange(1, n)))
    children: list[list[np.ndarray]] = [[] for _ in range(n)]
    out, total = [], n
    for j in range(n):
        parts, mine = children[j], own[j]
        if parts:
            mine = np.unique(np.concatenate([mine, *parts]))
            children[j] = []
        if len(mine):
            children[mine[0]].append(mine[1:])
        out += [np.array([j]), mine]
        total += len(mine)
        _check_size(total)
    pointers = np.r_[0, np.cumsum([len(x) + 1 for x in out[1::2]])]
    return pointers, np.concatenate(out)


def _check_size(elements: int) -> None:
    if elements > _MOST_ELEMENTS:
        raise errors.bad_argument(
            "sparse.factorise", "the number of elements of a's factors", elements,
            f"at most {_MOST_ELEMENTS}; kind='lu' may keep more, multigrid needs no factors",
        )  # fmt: skip


def _pointers(keys: np.ndarray, n: int) -> np.ndarray:
    return np.r_[0, np.cumsum(np.bincount(keys, minlength=n))]


def _planned(pattern: Pattern) -> Columns:
    n = pattern.shape[0]
    order = _elimination_order(pattern)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    pointers, rows = _structure(place, pattern)
    column = np.repeat(np.arange(n), np.diff(pointers))
    r, c = place[pattern.rows], place[pattern.columns]
    at = np.flatnonzero(r >= c)
    at = at[np.argsort(c[at], kind="stable")]
    given = _pointers(c[at], n), r[at], at
    tables = order, pointers, rows, *given, *_updates(pointers, rows, column)
    return Columns(*[x.astype(np.int32) for x in tables])


def _updates(pointers: np.ndarray, rows: np.ndarray, column: np.ndarray) -> list[np.ndarray]:
    """For each row the columns that it has, those together whose places are the same from there on."""
    n, width = len(pointers) - 1, _TOGETHER
    off = np.flatnonzero(rows != column)
    at = off[np.argsort(rows[off], kind="stable")]
    j, k = rows[at], column[at]
    left = pointers[k + 1] - at
    counts = np.diff(pointers)
    goes_on = np.zeros(
        n, bool
    )  # the places of a column are those of the one before, without its diagonal
    second = rows[np.minimum(pointers[:-1] + 1, len(rows) - 1)]
    goes_on[1:] = (counts[:-1] == counts[1:] + 1) & (second[:-1] == np.arange(1, n))
    first = np.maximum.accumulate(np.where(goes_on, 0, np.arange(n)))
    begins = np.ones(len(at), bool)
    begins[1:] = (j[1:] != j[:-1]) | (first[k[1:]] != first[k[:-1]])
    run = np.cumsum(begins) - 1
    number = np.arange(len(at)) - np.flatnonzero(begins)[run]
    together = number < np.bincount(run, minlength=1)[run] // width * width
    lead = np.flatnonzero(together & (number % width == 0))
    alone = np.flatnonzero(~together)
    several = at[lead[:, None] + np.arange(width)].reshape(-1)
    runs = (
        several,
        left[lead],
        _pointers(j[lead], n),
        at[alone],
        left[alone],
        _pointers(j[alone], n),
    )
    return [*runs, k[lead[:, None] + np.arange(width)].reshape(-1), k[alone]]  # fmt: skip
