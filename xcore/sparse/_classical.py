"""Classical algebraic multigrid: which unknowns are coarse, and how the others are interpolated.

Ruge and Stüben 1987, "Algebraic multigrid", for the splitting; De Sterck, Falgout, Nolting and Yang 2008, "Distance-two
interpolation for parallel algebraic multigrid", for the weights. Unknown i depends strongly on its neighbours with
-a_ij of the sign of a_ii and not much less than the largest of these: S_i. With C_i those of them that are coarse, F_i
the others, Ĉ_i = C_i ∪ all C_k of k in F_i, and ā_kl = a_kl where its sign is not that of a_kk, else 0,

    w_ij = -(a_ij + Σ_{k∈F_i} a_ik ā_kj / b_ik) / (a_ii + Σ_{weak n∉Ĉ_i} a_in + Σ_{k∈F_i} a_ik ā_ki / b_ik),
    b_ik = Σ_{l∈Ĉ_i∪{i}} ā_kl,    for j in Ĉ_i.

The splitting, Ĉ_i and which weights are kept are decided once, on the host; the weights are sums of products of values.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import numpy as xnp
from .._core.array import Array
from ._aggregation import (
    Hierarchy,
    diagonal_of,
    galerkin,
    operator,
    places_of_product,
    scipys,
    sums_of,
)
from ._matrix import Sparse
from ._pattern import Pattern, inverse_of, pointers_of, shared, stable_order
from ._products import product_of
from ._splitting import coarse_unknowns

Total = Callable[[Pattern, Any], Any]  # sums, for a pattern of ones, of values


class Split(NamedTuple):
    """A coarsening, static.

    Attributes:
      strong: (i, j) where i depends strongly on j.
      coarse: (unknowns, coarse unknowns), an element for each coarse one.
      down: of the prolongator.
    """

    strong: Pattern
    coarse: Pattern
    down: Pattern


def split(
    pattern: Pattern, values: np.ndarray, *, strength: float, most: int, max_coarse: int, max_levels: int
) -> tuple[Hierarchy, list[Any]]:  # fmt: skip
    """The splittings of a matrix whose values are known, down to ``max_coarse`` unknowns, and the levels' values: of
    each pattern, values, the prolongator's values.

    Args:
      strength: of the largest coupling; what is less is weak.
      most: weights of a row that are kept, the largest.
    """
    first = pattern = shared(pattern)
    splits: list[Split] = []
    known: list[Any] = []
    while len(splits) < max_levels - 1 and pattern.shape[0] > max_coarse:
        n = pattern.shape[0]
        strong = shared(_strong(pattern, values, strength))
        chosen = strong.kept("coarse", functools.partial(coarse_unknowns, strong))
        count = int(chosen.sum())
        if not 0 < count < 0.9 * n:
            break
        coarse = Pattern.of_rows(np.append(0, np.cumsum(chosen)), np.arange(count), (n, count))
        made = Split(strong, shared(coarse), strong)
        w = _known_weights(made, pattern, values)
        made = made._replace(down=shared(_largest(made, w, most)))
        w = _prolonged(made, w, np, _total)
        known.append((pattern, values, w))
        pattern, values = galerkin(pattern, values, made.down, w)
        splits.append(made)
    found = Hierarchy(first, tuple(s.down for s in splits), tuple(splits))
    return found, [*known, (pattern, values, None)]


def interpolation(a: Sparse, made: Split) -> Sparse:
    """The prolongator of a matrix of other values."""

    def total(p: Pattern, v: Array) -> Array:
        return product_of(p)(xnp.ones(p.nnz, v.dtype), v)

    w = _weights(made, a.pattern, a.values, xnp, total)
    return Sparse(_prolonged(made, w, xnp, total), made.down)


def _total(p: Pattern, v: np.ndarray) -> np.ndarray:
    return operator(p, np.ones(p.nnz, v.dtype))(v)


# On the host: what is strong, what is coarse, what is kept


def _strong(p: Pattern, values: np.ndarray, strength: float) -> Pattern:
    d = diagonal_of(p, values)[p.rows]
    size = np.abs(d)
    against = -np.real(values * np.conj(d)) / np.where(size == 0, 1, size)
    against = np.where((p.rows == p.columns) | (against <= 0), 0, against)
    full = p.lengths > 0
    top = np.zeros(p.shape[0])
    top[full] = np.maximum.reduceat(against, p.indptr[:-1][full]) if p.nnz else 0
    return p.chosen((against > 0) & (against >= strength * top[p.rows]))[0]


def _reach(made: Split) -> tuple[Pattern, Pattern]:
    """Of each fine unknown the coarse ones in reach, as (unknowns, unknowns), and a row of ones for all of these."""

    def found() -> tuple[Pattern, Pattern]:
        strong, fine = made.strong, made.coarse.lengths == 0
        near = strong.chosen(~fine[strong.columns])[0]
        own = near.chosen(fine[near.rows])[0]
        far = places_of_product(_between(strong, fine), near)
        wide = own.union(far)[0]
        return wide, Pattern.of_rows(wide.indptr, np.arange(wide.nnz), (wide.shape[0], wide.nnz))

    return made.strong.kept(("reach", made.coarse), found)


def _between(strong: Pattern, fine: np.ndarray) -> Pattern:
    return strong.chosen(fine[strong.rows] & fine[strong.columns])[0]


def _largest(made: Split, w: np.ndarray, most: int) -> Pattern:
    """Places of the largest weights of each row, and of the ones of coarse unknowns.

    Of weights alike all are kept or none, as long as one is: a part of them would lean to a side.
    """
    wide, _ = _reach(made)
    size, each = np.abs(w), wide.lengths
    order = np.lexsort((-size, wide.rows))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - wide.indptr[:-1].astype(np.int64)[wide.rows]
    left_out = order[wide.indptr[:-1][each > most] + most]  # the largest of these in its row
    bound = np.zeros(wide.shape[0])
    bound[each > most] = size[left_out] * (1 + 1e-9)
    keep = size > bound[wide.rows]
    keep |= (place < most) & (sums_of(wide, keep) == 0)[wide.rows]
    kept = wide.chosen(keep)[0]
    n, count = made.coarse.shape
    number = np.cumsum(made.coarse.lengths) - 1
    keys = kept.rows.astype(np.int64) * count + number[kept.columns]
    return made.coarse.union(Pattern.of_keys(keys, (n, count)))[0]


# Weights


class Terms(NamedTuple):
    """Of which values the weights are sums: patterns of ones, with a row for each sum.

    Attributes:
      pairs: values a_ik of strong fine neighbours.
      thirds: values a_kl that follow these, with l in reach of i or i itself.
      by_pair: of thirds, those of each pair.
      into: thirds that go into a weight, and, behind these, into the diagonal of a row.
      direct: values a_ij of weights.
      stay: values that stay in the diagonal of a row.
      of_row: pairs of each row.
    """

    pairs: Pattern
    thirds: Pattern
    by_pair: Pattern
    into: Pattern
    direct: Pattern
    stay: Pattern
    of_row: Pattern


def _chosen(at: np.ndarray, size: int) -> Pattern:
    """A row for each position, with an element there; none for -1."""
    return Pattern.of_rows(np.append(0, np.cumsum(at >= 0)), at[at >= 0], (len(at), size))


def _groups(of: np.ndarray, count: int) -> Pattern:
    return Pattern.of_rows(pointers_of(of, count), stable_order(of, count), (count, len(of)))


def _terms(made: Split, p: Pattern) -> Terms:
    n, fine, (wide, _) = p.shape[0], made.coarse.lengths == 0, _reach(made)
    between = _between(made.strong, fine)
    each = p.lengths[between.columns].astype(np.int64)
    pair = np.repeat(np.arange(between.nnz), each)
    third = p.indptr[between.columns[pair]] + np.arange(len(pair)) - (np.cumsum(each) - each)[pair]
    here, there = between.rows[pair], p.columns[third]
    target = np.where(here == there, wide.nnz + here, wide.find(here, there))
    pair, third, target = (x[target >= 0] for x in (pair, third, target))
    direct, pairs = (p.find(q.rows, q.columns) for q in (wide, between))
    stay = fine[p.rows]
    stay[direct[direct >= 0]] = stay[pairs] = False
    stay = np.flatnonzero(stay)
    return Terms(
        _chosen(pairs, p.nnz), _chosen(third, p.nnz), _groups(pair, between.nnz),
        _groups(target, wide.nnz + n), _chosen(direct, p.nnz),
        Pattern.of_rows(pointers_of(p.rows[stay], n), stay, (n, p.nnz)), _groups(between.rows, n),
    )  # fmt: skip


def _known_weights(made: Split, p: Pattern, values: np.ndarray) -> np.ndarray:
    """What ``_weights`` are of these values, by products of SciPy's matrices, without lists of products of elements."""
    if scipys(p, values) is None:
        return _weights(made, p, values, np, _total)
    n, fine, (wide, _) = p.shape[0], made.coarse.lengths == 0, _reach(made)
    between = _between(made.strong, fine)
    d = diagonal_of(p, values)
    against = np.real(values * np.conj(_over(np, d, np.abs(d)))[p.rows]) < 0
    used = np.zeros((2, n), bool)
    used[0, between.columns], used[1, between.rows] = True, True
    bar, at = p.chosen(against & used[0, p.rows] & ~fine[p.columns])
    a, bar = scipys(p, values), scipys(bar, values[at])
    q, back = _sampled(a, between), _sampled(a, between, turned=True)
    back = np.where(np.real(back * np.conj(_over(np, d, np.abs(d)))[between.columns]) < 0, back, 0)
    b = _sampled(_ones(wide.chosen(used[1, wide.rows])[0]) @ bar.T, between) + back
    each = _over(np, q, b)
    shares, own = scipys(between, each) @ bar, scipys(between, np.where(b == 0, q, each * back))
    apart = _sampled(_ones(wide) + _ones(between), p) == 0
    stay = scipys(p, np.where(apart & fine[p.rows], values, 0))
    lumped = stay @ np.ones(n) + own @ np.ones(n)
    return -_over(np, _sampled(a, wide) + _sampled(shares, wide), lumped[wide.rows])


def _ones(p: Pattern) -> Any:
    return scipys(p, np.ones(p.nnz))


def _sampled(a: Any, p: Pattern, turned: bool = False) -> np.ndarray:
    """Of SciPy's matrix the elements at places, or at those of the transpose; 0 where it has none."""
    found = a[p.columns, p.rows] if turned else a[p.rows, p.columns]
    return np.asarray(found if isinstance(found, np.ndarray) else found.toarray()).reshape(-1)


def _over(xp: Any, x: Any, y: Any) -> Any:
    return xp.where(y == 0, 0 * x, x / xp.where(y == 0, 1, y))


def _weights(made: Split, p: Pattern, a: Any, xp: Any, total: Total) -> Any:
    """All weights, by NumPy's functions or traced ones."""
    t: Terms = made.strong.kept(("terms", made.coarse, p), lambda: _terms(made, p))
    wide, rows = _reach(made)
    at = p.diagonal
    d = xp.where(at >= 0, a[np.maximum(at, 0)], 0)
    against = xp.real(a * xp.conj(_over(xp, d, xp.abs(d)))[p.rows]) < 0
    q = total(t.pairs, a)
    third = total(t.thirds, xp.where(against, a, 0 * a))
    b = total(t.by_pair, third)
    shares = total(t.into, third * total(t.by_pair.T, _over(xp, q, b)))
    lumped = total(t.stay, a) + shares[wide.nnz :] + total(t.of_row, xp.where(b == 0, q, 0 * q))
    return -_over(xp, total(t.direct, a) + shares[: wide.nnz], total(rows.T, lumped))


def _prolonged(made: Split, w: Any, xp: Any, total: Total) -> Any:
    """The values of the prolongator: weights that are kept, such that their sum is that of all, and ones."""
    kept, rest, order = made.down.kept(("kept", made.coarse), lambda: _kept(made))
    few = total(kept, w)
    if kept.shape[0] < kept.shape[1]:
        few = few * total(rest.T, _over(xp, total(_reach(made)[1], w), total(rest, few)))
    return total(order, xp.concatenate([few, xp.ones(made.coarse.nnz, few.dtype)]))


def _kept(made: Split) -> tuple[Pattern, Pattern, Pattern]:
    """Of the weights those that are kept, those of each row, and where they and the ones stand."""
    (wide, _), at = _reach(made), np.flatnonzero(made.coarse.lengths)
    number = np.cumsum(made.coarse.lengths) - 1
    place = made.down.find(wide.rows, number[wide.columns])
    keep = np.flatnonzero(place >= 0)
    order = inverse_of(np.concatenate([place[keep], made.down.find(at, number[at])]))
    return (
        _chosen(keep, wide.nnz), _groups(wide.rows[keep], wide.shape[0]), _chosen(order, len(order)),
    )  # fmt: skip
