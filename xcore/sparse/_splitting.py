"""Which unknowns of classical multigrid are coarse: the first pass of Ruge and Stüben, in waves.

Theirs is a loop over unknowns: the next coarse one is that on which most depend that are not coarse, where fine ones
count twice; those that depend on it become fine. Here all become coarse at once that are ahead of their neighbours,
among those that a wave has reached: whose count has risen, and those ahead of these. A wave from one unknown leaves the
regular pattern on regular grids; where it is long under way others start, from more and more unknowns.
"""

from __future__ import annotations

import numpy as np

from ._pattern import Pattern

_STARTS = (128, 8, 1)  # one of so many undecided unknowns starts a wave, after the first one
_COARSE, _FINE = 1, 2


def coarse_unknowns(strong: Pattern) -> np.ndarray:
    """Of (i, j) where i depends strongly on j, a mask."""
    s = _Split(strong)
    if not strong.nnz:
        return s.state == _COARSE
    front = s.advanced(np.argmax(strong.T.lengths, keepdims=True), 2 * int(strong.shape[0] ** 0.5))
    for few in _STARTS:
        started = np.flatnonzero((s.state == 0) & (s.draw % few == 0))
        front = s.advanced(np.union1d(front, started), strong.shape[0])
    return s.state == _COARSE


class _Split:
    """What is decided, and how many depend on each unknown, with the drawn numbers that break ties below."""

    def __init__(self, strong: Pattern) -> None:
        self.on, self.by = strong, strong.T
        self.near = strong if strong.is_symmetric else strong.union(self.by)[0]
        count = self.by.lengths.astype(np.int64)
        self.draw = (np.arange(len(count)) * 0x9E3779B1 & 0xFFFFFFFF) >> 4
        self.key = count << 32 | self.draw
        self.state = np.where(count == 0, _FINE, 0).astype(np.int8)
        self.mark = np.zeros(len(count), np.int64)

    def advanced(self, front: np.ndarray, rounds: int) -> np.ndarray:
        while len(front) and rounds:
            front, rounds = self._round(front), rounds - 1
        return front

    def _round(self, front: np.ndarray) -> np.ndarray:
        near, of = _following(self.near, front)
        ahead = (self.state[near] == 0) & self._is_ahead(near, front, of)
        held = np.zeros(len(front), bool)
        held[of[ahead]] = True
        reached = self._decide(front[~held])
        more = np.concatenate([front[held], near[ahead], reached])
        return self._once(more[(self.state[more] == 0) & (self.key[more] >> 32 > 0)])

    def _is_ahead(self, near: np.ndarray, front: np.ndarray, of: np.ndarray) -> np.ndarray:
        """Of two on which as many depend, both in front, the drawn number tells."""
        self.mark[front] = -1
        theirs, mine = self.key[near], self.key[front][of]
        found = (theirs > mine) & ((self.mark[near] < 0) | (theirs >> 32 > mine >> 32))
        self.mark[front] = 0
        return found

    def _decide(self, coarse: np.ndarray) -> np.ndarray:
        """Makes unknowns coarse, and fine what depends on them; on whom that depends."""
        self.state[coarse] = _COARSE
        fine = _following(self.by, coarse)[0]
        fine = self._once(fine[self.state[fine] == 0])
        self.state[fine] = _FINE
        reached, passed = (_following(self.on, x)[0] for x in (fine, coarse))
        reached, passed = (x[self.state[x] == 0] for x in (reached, passed))
        np.add.at(self.key, reached, 1 << 32)
        np.subtract.at(self.key, passed, 1 << 32)
        return reached

    def _once(self, x: np.ndarray) -> np.ndarray:
        """Without repetitions."""
        order = np.arange(len(x))
        self.mark[x] = order
        kept = x[self.mark[x] == order]
        self.mark[x] = 0
        return kept


def _following(p: Pattern, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The columns of elements in these rows, and which row each is in, counted in ``rows``."""
    start, length = p.indptr[rows].astype(np.int64), p.lengths[rows]
    ends = np.cumsum(length)
    at = np.arange(ends[-1] if len(ends) else 0) + np.repeat(start - (ends - length), length)
    return p.columns[at], np.repeat(np.arange(len(rows)), length)
