"""Orders in which a greedy colouring goes through the vertices of a graph, which decide how many colours it takes.

Welsh and Powell 1967, "An upper bound for the chromatic number of a graph"; Matula and Beck 1983, "Smallest-last
ordering and clustering and graph coloring algorithms"; Coleman and Moré 1983, "Estimation of sparse Jacobian matrices
and graph coloring problems", for all three.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np

from ._pattern import Pattern, scipys


def _lists(graph: Pattern) -> list[list[int]]:
    """The neighbours of each vertex."""
    start, index = graph.indptr.tolist(), graph.indices.tolist()
    return [[w for w in index[start[v] : start[v + 1]] if w != v] for v in range(graph.shape[0])]


def _largest_first(graph: Pattern) -> list[int]:
    return np.argsort([-len(near) for near in _lists(graph)], kind="stable").tolist()


def _smallest_last(graph: Pattern) -> list[int]:
    """From the end: of what is left, a vertex with the fewest neighbours."""
    near = _lists(graph)
    return _by_turns(near, [len(w) for w in near], -1)[::-1]


def _incidence_degree(graph: Pattern) -> list[int]:
    """Next a vertex with the most neighbours that came before; of those, with the most at all."""
    near = _lists(graph)
    most = 1 + max(map(len, near), default=0)
    return _by_turns(near, [-len(w) for w in near], -most)


def _by_turns(near: list[list[int]], keys: list[int], change: int) -> list[int]:
    """Always the vertex with the least key, which changes those of its neighbours."""
    waiting, order = [(k, v) for v, k in enumerate(keys)], []
    heapq.heapify(waiting)
    there = [True] * len(keys)
    while waiting:
        k, v = heapq.heappop(waiting)
        if not there[v] or k != keys[v]:
            continue  # an older key
        there[v] = False
        order.append(v)
        for w in near[v]:
            if there[w]:
                keys[w] += change
                heapq.heappush(waiting, (keys[w], w))
    return order


ORDERS: dict[str, Callable[[Pattern], list[int]]] = {
    "natural": lambda graph: list(range(graph.shape[0])),
    "largest-first": _largest_first,
    "smallest-last": _smallest_last,
    "incidence-degree": _incidence_degree,
}


def order_of(graph: Pattern, order: str) -> list[int]:
    """The vertices of a symmetric pattern, whose diagonal does not count."""
    return graph.kept(("colour order", order), lambda: ORDERS[order](graph))


_MOST_PAIRS = 200_000_000


def of_columns(pattern: Pattern) -> Pattern:
    """The graph of columns, with an edge between two that have a row in common."""

    pairs = int((pattern.lengths.astype(np.int64) ** 2).sum())
    if pairs > _MOST_PAIRS:
        raise ValueError(
            f"xcore.sparse: an order of columns of their own needs the graph of {pattern}, in which {pairs} pairs of "
            "elements share a row: order='auto' forms no graph, and full rows have products of their own there."
        )

    def make() -> Pattern:
        a = scipys(pattern, np.ones(pattern.nnz, np.int64))
        both = (a.T @ a).tocsr()
        both.sort_indices()
        return Pattern.of_rows(both.indptr, both.indices, both.shape)

    return pattern.kept("columns that meet", make)
