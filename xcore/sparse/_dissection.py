"""Nested dissection: a tree of separators, and for each the unknowns that its elimination touches. On the host, once.

George 1973, "Nested dissection of a regular finite element mesh". Parts are halved by level sets of a search in
breadth from a far vertex, all parts of a depth at the same time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._pattern import Pattern, elements_of

_LEAF = 20  # unknowns of a part that is not divided


class Node(NamedTuple):
    """A part that was divided, or not: what is eliminated there, and after which.

    Attributes:
      depth: that of the root is 0.
      parent: its number; -1 for the root.
      pivots: unknowns eliminated here.
    """

    depth: int
    parent: int
    pivots: np.ndarray


def dissected(pattern: Pattern) -> list[Node]:
    """The tree of a symmetric pattern; children have higher numbers than their parents."""
    n = pattern.shape[0]
    part = np.zeros(n, np.int64)
    nodes: list[Node] = []
    parents = [-1]
    deepest = 3 * int(np.ceil(np.log2(n / _LEAF + 1))) + 6  # hubs make trees that are not even
    while parents:
        distance = _distances(pattern, part, len(parents))
        order = np.argsort(part, kind="stable")
        order = order[part[order] >= 0]
        ends = np.searchsorted(part[order], np.arange(len(parents) + 1))
        depth = nodes[parents[0]].depth + 1 if parents[0] >= 0 else 0
        following, new = [], np.full(n, -1, np.int64)
        for k, parent in enumerate(parents):
            mine = order[ends[k] : ends[k + 1]]
            cut = _cut(distance[mine]) if depth < deepest else None
            node = len(nodes)
            if cut is None:
                nodes.append(Node(depth, parent, mine))
                continue
            d = distance[mine]
            nodes.append(Node(depth, parent, mine[d == cut]))
            for half in (mine[d < cut], mine[d > cut]):
                new[half] = len(following)
                following.append(node)
        part, parents = new, following
    return nodes


def _cut(distance: np.ndarray) -> int | None:
    """The level that divides a part: small, and not far from the middle; None to leave the part as it is."""
    size = len(distance)
    if size <= _LEAF:
        return None
    counts = np.bincount(distance)
    below = np.cumsum(counts) - counts
    above = size - below - counts
    fair = np.minimum(below, above)
    good = fair >= 0.25 * (size - counts)
    good &= fair > 0
    if not good.any():
        good = fair > 0
    if not good.any():
        return None
    cost = np.where(good, counts + 0.02 * np.abs(below - above), np.inf)
    cut = int(np.argmin(cost))
    return None if counts[cut] > size // 2 else cut


def _distances(pattern: Pattern, part: np.ndarray, count: int) -> np.ndarray:
    """Of each vertex from one that is far from others of its part; what is not connected is one step behind all."""
    found = np.flatnonzero(part >= 0)
    start = np.full(count, -1, np.int64)
    start[part[found[::-1]]] = found[::-1]
    for _ in range(2):
        distance = _search(pattern, part, start[start >= 0])
        order = found[np.argsort(distance[found], kind="stable")]
        start[part[order]] = order  # the last one wins: the farthest
    distance = _search(pattern, part, start[start >= 0])
    if (distance[found] < 0).any():
        broken = np.unique(part[found[distance[found] < 0]])
        _sides(pattern, part, broken, distance)
    return distance


def _sides(pattern: Pattern, part: np.ndarray, broken: np.ndarray, distance: np.ndarray) -> None:
    """Parts that are not connected fall in two at an empty level, as equal as their pieces allow."""
    import scipy.sparse

    n = pattern.shape[0]
    inside = part[pattern.rows] == part[pattern.columns]
    edges = pattern.rows[inside], pattern.columns[inside]
    graph = scipy.sparse.coo_array((np.ones(len(edges[0]), bool), edges), shape=(n, n))
    piece = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]
    chosen = np.flatnonzero(np.isin(part, broken))
    chosen = chosen[np.argsort(part[chosen], kind="stable")]
    for mine in np.split(chosen, np.flatnonzero(np.diff(part[chosen])) + 1):
        _, piece_of, sizes = np.unique(piece[mine], return_inverse=True, return_counts=True)
        order = np.argsort(-sizes, kind="stable")
        before = np.cumsum(sizes[order]) - sizes[order]
        late = np.empty(len(sizes), bool)
        late[order] = before >= len(mine) / 2
        late[order[0]] = False
        if not late.any():
            late[order[1:]] = True
        distance[mine] = 2 * late[piece_of.reshape(-1)]


def _search(pattern: Pattern, part: np.ndarray, front: np.ndarray) -> np.ndarray:
    distance = np.full(pattern.shape[0], -1, np.int64)
    step = 0
    while len(front):
        distance[front] = step
        step += 1
        at, each = elements_of(pattern, front)
        near = pattern.indices[at]
        inside = (distance[near] < 0) & (part[near] == np.repeat(part[front], each))
        front = np.unique(near[inside])
    return distance


def boundaries(pattern: Pattern, nodes: list[Node]) -> list[np.ndarray]:
    """Of each node the unknowns of its ancestors that its elimination touches, in the order of elimination."""
    rank = np.empty(pattern.shape[0], np.int64)  # later eliminated: higher
    count = 0
    for node in reversed(nodes):
        rank[node.pivots] = count + np.arange(len(node.pivots))
        count += len(node.pivots)
    touched: list[list[np.ndarray]] = [[] for _ in nodes]
    out: list[np.ndarray] = [np.zeros(0, np.int64)] * len(nodes)
    for k in range(len(nodes) - 1, -1, -1):
        node = nodes[k]
        at, _ = elements_of(pattern, node.pivots)
        near = np.unique(np.concatenate([pattern.indices[at].astype(np.int64), *touched[k]]))
        top = rank[node.pivots].max(initial=-1)
        if not len(node.pivots):  # an empty separator: everything goes on
            mine = near
        else:
            mine = near[rank[near] > top]
        out[k] = mine[np.argsort(rank[mine])]
        if node.parent >= 0:
            touched[node.parent].append(out[k])
    return out
