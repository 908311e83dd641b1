"""What algebraic multigrid by smoothed aggregation decides once, on the host: aggregates and what stands for them.

Vaněk, Mandel and Brezina 1996, "Algebraic multigrid by smoothed aggregation for second and fourth order elliptic
problems". Strong neighbours are grouped; each group gets as many coarse unknowns as there are near-nullspace vectors,
which are orthonormalised on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ._pattern import Pattern, sampled, scipys, shared


class Hierarchy(NamedTuple):
    """The patterns of all coarsenings: static, compared by content.

    Attributes:
      pattern: of the finest matrix.
      down: of the prolongator of each step, where aggregates are smoothed of the tentative one.
      splits: of classical multigrid, what is coarse in each step.
    """

    pattern: Pattern
    down: tuple[Pattern, ...]
    splits: tuple[Any, ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of unknowns of each level."""
        return (self.pattern.shape[0], *[p.shape[1] for p in self.down])

    def __repr__(self) -> str:
        return f"Hierarchy({' → '.join(map(str, self.sizes))})"


def coarsened(
    pattern: Pattern, values: np.ndarray, near: np.ndarray, *, block: int, strength: float, max_coarse: int,
    max_levels: int, improve: int,
) -> tuple[Hierarchy, list[np.ndarray]]:  # fmt: skip
    """The hierarchy of a matrix whose values are known, and the values of its tentative prolongators.

    Args:
      near: (n, k) vectors that the matrix takes nearly to 0.
      block: unknowns of one node stand together, so many.
      strength: neighbours i, j with |a_ij| below that part of √|a_ii a_jj| do not count.
      max_coarse: unknowns below which there is no further level.
      max_levels: at most so many levels.
      improve: steps of Jacobi's method that ``near`` is smoothed by.
    """
    down: list[Pattern] = []
    tentative: list[np.ndarray] = []
    first = pattern = shared(pattern)
    near = near.astype(np.result_type(near, values))
    for step in range(max_levels - 1):
        n = pattern.shape[0]
        if n <= max_coarse:
            break
        if not step:
            near = _smoothed(pattern, values, near, improve)
        nodes, sizes = _nodes(pattern, values, block)
        groups = aggregates(_strong(nodes, sizes, strength))
        count = int(groups.max(initial=-1)) + 1
        if not count or count * near.shape[1] > 0.9 * n:
            break
        made, t, near = _tentative(groups, count, near, block)
        down.append(made)
        tentative.append(t)
        prolongator, v = _prolongator(pattern, values, made, t)
        pattern, values = galerkin(pattern, values, prolongator, v)
        block = near.shape[1]
    return Hierarchy(first, tuple(down)), tentative


# Strength


def _nodes(pattern: Pattern, values: np.ndarray, block: int) -> tuple[Pattern, np.ndarray]:
    """The matrix of nodes: sizes of the blocks."""
    if block == 1:
        return pattern, np.abs(values)
    n = pattern.shape[0] // block
    keys = (pattern.rows // block).astype(np.int64) * n + pattern.columns // block
    keys, at = np.unique(keys, return_inverse=True)
    squares = np.bincount(at.reshape(-1), np.abs(values) ** 2, len(keys))
    return Pattern.of_keys(keys, (n, n)), np.sqrt(squares)


def diagonal_of(pattern: Pattern, values: np.ndarray) -> np.ndarray:
    at = pattern.diagonal
    if not pattern.nnz:
        return np.zeros(pattern.shape[0], values.dtype)
    return np.where(at >= 0, values[np.maximum(at, 0)], 0)


def _strong(pattern: Pattern, sizes: np.ndarray, strength: float) -> Pattern:
    """Neighbours that count; a diagonal of zero counts as one of 0."""
    root = np.sqrt(diagonal_of(pattern, sizes))
    rows, columns = pattern.rows, pattern.columns
    keep = (sizes >= strength * root[rows] * root[columns]) & (sizes > 0) & (rows != columns)
    return pattern.chosen(keep)[0]


# Aggregates


def aggregates(strong: Pattern) -> np.ndarray:
    """The group of each node, -1 of those without neighbours.

    In order, a node none of whose neighbours is in a group founds one with them; those left over join a group
    next to them; what then remains is grouped among itself.
    """
    n = strong.shape[0]
    group = _founded(strong)
    rows, columns = strong.rows, strong.columns
    joins = (group[rows] < 0) & (group[columns] >= 0)
    who, first = np.unique(rows[joins], return_index=True)
    group[who] = group[columns[joins][first]]
    return _remaining(strong, group) if ((group < 0) & (strong.lengths > 0)).any() else group[:n]


def _founded(strong: Pattern) -> np.ndarray:
    start, index = strong.indptr.tolist(), strong.indices.tolist()
    taken = bytearray(strong.shape[0])
    roots = []
    for i in range(strong.shape[0]):
        if taken[i]:
            continue
        near = index[start[i] : start[i + 1]]
        for j in near:
            if taken[j]:
                break
        else:
            if near:
                roots.append(i)
                taken[i] = 1
                for j in near:
                    taken[j] = 1
    return _of_roots(strong, np.asarray(roots, np.int64))


def _of_roots(strong: Pattern, roots: np.ndarray) -> np.ndarray:
    group = np.full(strong.shape[0], -1, np.int64)
    number = np.full(strong.shape[0], -1, np.int64)
    number[roots] = np.arange(len(roots))
    mine = number[strong.rows]
    group[strong.columns[mine >= 0]] = mine[mine >= 0]
    group[roots] = np.arange(len(roots))
    return group


def _remaining(strong: Pattern, group: np.ndarray) -> np.ndarray:
    count = int(group.max(initial=-1)) + 1
    for i in np.flatnonzero((group < 0) & (strong.lengths > 0)).tolist():
        if group[i] < 0:
            near = strong.columns[strong.indptr[i] : strong.indptr[i + 1]]
            group[near[group[near] < 0]] = count
            group[i] = count
            count += 1
    return group


# Prolongators


def _smoothed(pattern: Pattern, values: np.ndarray, near: np.ndarray, steps: int) -> np.ndarray:
    """Vectors after some steps of Jacobi's method for a x = 0: they bend where boundaries bend them."""
    if not steps:
        return near
    scale = inverse_diagonal(diagonal_of(pattern, values))
    weight, times = 4 / 3 / radius(pattern, values, scale), operator(pattern, values)
    for _ in range(steps):
        near = near - weight * scale[:, None] * times(near)
    return near


def _tentative(
    groups: np.ndarray, count: int, near: np.ndarray, block: int
) -> tuple[Pattern, np.ndarray, np.ndarray]:
    """Near-nullspace vectors made orthonormal in each group (pattern and values), and what they are in its unknowns."""
    n, k = near.shape
    group = np.repeat(groups, block)
    rows = np.flatnonzero(group >= 0)
    rows = rows[np.argsort(group[rows], kind="stable")]
    sizes = np.bincount(group[rows], minlength=count)
    places = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    q = np.zeros((count, max(int(sizes.max()), k), k), near.dtype)
    q[group[rows], places] = near[rows]
    q, r = np.linalg.qr(q)
    d = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    there = d > 1e-10 * d.max(axis=-1, keepdims=True)
    q, r = q * there[:, None, :], r * there[:, :, None]
    columns = group[rows][:, None] * k + np.arange(k)
    order = np.argsort(rows)
    pointers = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n) * k)])
    pattern = Pattern.of_rows(pointers, columns[order].reshape(-1), (n, count * k))
    values = q[group[rows], places][order].reshape(-1)
    return shared(pattern), values, r.reshape(count * k, k)


def inverse_diagonal(d: np.ndarray) -> np.ndarray:
    return np.where(d == 0, 0, 1 / np.where(d == 0, 1, d))


def sums_of(pattern: Pattern, terms: np.ndarray) -> np.ndarray:
    """Of the terms of each row."""
    whole = np.zeros((pattern.shape[0], *terms.shape[1:]), terms.dtype)
    full = pattern.lengths > 0
    if full.all() and len(full):
        return np.add.reduceat(terms, pattern.indptr[:-1], axis=0)
    if full.any():
        whole[full] = np.add.reduceat(terms, pattern.indptr[:-1][full], axis=0)
    return whole


def operator(p: Pattern, values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Products with a matrix."""
    a = scipys(p, values)
    return lambda x: a @ x


def radius(pattern: Pattern, values: np.ndarray, scale: np.ndarray) -> float:
    """A bound of the eigenvalues of the matrix with scaled rows, by their sums."""
    return float(np.max(np.abs(scale) * sums_of(pattern, np.abs(values)), initial=0)) or 1.0


def _prolongator(
    pattern: Pattern, values: np.ndarray, down: Pattern, tentative: np.ndarray
) -> tuple[Pattern, np.ndarray]:
    scale = inverse_diagonal(diagonal_of(pattern, values))
    weight = 4 / 3 / radius(pattern, values, scale) * scale
    return smoothed(pattern, values, down, tentative, weight)


def smoothed(
    pattern: Pattern, values: np.ndarray, down: Pattern, tentative: np.ndarray, weight: np.ndarray
) -> tuple[Pattern, np.ndarray]:
    """The prolongator (1 - diag(weight) A) T."""
    made, v = _product(pattern, values, down, tentative)
    whole, a, t = made.union(down)
    out = np.zeros(whole.nnz, v.dtype)
    out[t] = tentative
    out[a] -= weight[made.rows] * v
    return whole, out


def _product(p: Pattern, v: np.ndarray, q: Pattern, w: np.ndarray) -> tuple[Pattern, np.ndarray]:
    """With all places where an element may be: SciPy's product leaves out sums that cancel."""
    made = p.kept(("places of a product", q), lambda: places_of_product(p, q))
    known = scipys(p, v) @ scipys(q, w)
    if known.nnz < made.nnz:
        return made, sampled(known, made.rows, made.columns)
    known.sort_indices()
    return made, known.data


def places_of_product(p: Pattern, q: Pattern) -> Pattern:
    whole = scipys(p, np.ones(p.nnz, np.float32)) @ scipys(q, np.ones(q.nnz, np.float32))
    whole.sort_indices()
    return Pattern.of_rows(whole.indptr, whole.indices, whole.shape)


def galerkin(p: Pattern, v: np.ndarray, q: Pattern, w: np.ndarray) -> tuple[Pattern, np.ndarray]:
    right, u = _product(p, v, q, w)
    return _product(q.T, w[q.order].conj(), right, u)
