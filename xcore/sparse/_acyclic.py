"""Acyclic colourings of symmetric patterns: neighbours differ, and no cycle has two colours alone.

Vertices of two colours are trees then, and the elements of a symmetric matrix follow from its products with the
colours by substitution, from the leaves of each tree inwards. That takes fewer products than reading each element
from one of them, as star colourings allow; rounding errors add up along the trees. (Coleman and Cai 1986, "The cyclic
coloring problem and estimation of sparse Hessian matrices"; Gebremedhin, Tarafdar, Manne and Pothen 2007, "New acyclic
and star coloring algorithms with application to computing Hessians")
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any, NamedTuple

import numpy as np

from .. import numpy as xnp
from .._core import Array
from ._matrix import Sparse
from ._pattern import Pattern
from ._triangular import solve_triangular


class _Trees:
    """Sets of (vertex, other colour) that are joined: the trees of two colours."""

    def __init__(self) -> None:
        self.above: dict[tuple[int, int], tuple[int, int]] = {}

    def root(self, x: tuple[int, int]) -> tuple[int, int]:
        above = self.above
        while (up := above.setdefault(x, x)) != x:
            above[x] = above[up]
            x = up
        return x

    def join(self, x: tuple[int, int], y: tuple[int, int]) -> None:
        self.above[self.root(x)] = self.root(y)


def acyclic(pattern: Pattern, order: list[int]) -> np.ndarray:
    """The colour of each vertex, by the lowest one that closes no cycle of two colours."""
    start, index = pattern.indptr.tolist(), pattern.indices.tolist()
    colour, trees = [-1] * pattern.shape[0], _Trees()
    others: list[set[int]] = [set() for _ in colour]  # colours of coloured neighbours
    for v in order:
        near = [w for w in index[start[v] : start[v + 1]] if w != v and colour[w] >= 0]
        met = Counter((c, trees.root((w, c))) for w in near for c in others[w])
        forbidden = {colour[w] for w in near} | {c for (c, _), times in met.items() if times > 1}
        own = next(c for c in range(len(forbidden) + 1) if c not in forbidden)
        colour[v] = own
        for w in near:
            others[w].add(own)
            others[v].add(colour[w])
            trees.join((v, colour[w]), (w, own))
    return np.asarray(colour, np.int64)


class Substitution(NamedTuple):
    """How elements follow from products with colours.

    Attributes:
      rows, groups: the row and the colour of the product that each step begins with.
      before: unit lower triangular; step k takes off what steps before it found.
      steps: of each element of the pattern, the step that finds it.
    """

    rows: np.ndarray
    groups: np.ndarray
    before: Pattern
    steps: np.ndarray

    def of(self, products: Array) -> Array:
        """The elements, from products (colours, n) of a symmetric matrix."""
        given = products[self.groups, self.rows]
        ones = Sparse(xnp.ones(self.before.nnz, given.dtype), self.before)
        return solve_triangular(ones, given, unit_diagonal=True)[self.steps]


def substitution(pattern: Pattern, colour: np.ndarray) -> Substitution:
    """From leaves inwards: the edge of a vertex that has no other left in its tree."""
    rows, columns = pattern.rows.astype(np.int64), pattern.columns.astype(np.int64)
    count = int(colour.max(initial=-1)) + 1
    # the ends of an edge (i, j) in the tree of its two colours: i with j's colour, j with i's
    keys, ends = np.unique(rows * count + colour[columns], return_inverse=True)
    twin = pattern.find(columns, rows)
    edge = np.minimum(np.arange(pattern.nnz), twin)
    at = np.argsort(ends, kind="stable")
    own = np.split(edge[at], np.cumsum(np.bincount(ends, minlength=len(keys)))[:-1])
    own = [e.tolist() for e in own]
    step, leaf_of, before = _peeled(own, ends.tolist(), twin.tolist())
    found = np.repeat(np.arange(len(before)), [len(b) for b in before])
    earlier = np.asarray([step[e] for b in before for e in b], np.int64)
    lower = Pattern(found, earlier, (len(before), len(before)))
    at_leaf = keys[np.asarray(leaf_of, np.int64)]
    steps = np.asarray([step[e] for e in edge.tolist()], np.int64)
    return Substitution(at_leaf // max(count, 1), at_leaf % max(count, 1), lower, steps)


def _peeled(own: list[list[int]], ends: list[int], twin: list[int]) -> tuple[Any, ...]:
    """(the step that finds each edge, for each step the vertex that tells it, and its edges found before)."""
    left = [len(e) for e in own]
    waiting = deque(v for v, k in enumerate(left) if k == 1)
    step: dict[int, int] = {}
    leaves, before = [], []
    while waiting:
        v = waiting.popleft()
        if left[v] != 1:
            continue
        e = next(e for e in own[v] if e not in step)
        leaves.append(v)
        before.append([x for x in own[v] if x != e])
        step[e] = len(step)
        for w in {ends[e], ends[twin[e]]}:
            left[w] -= 1
            if left[w] == 1:
                waiting.append(w)
    return step, leaves, before
