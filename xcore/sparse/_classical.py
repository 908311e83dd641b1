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
from .._core import Array
from ._aggregation import (
    Hierarchy,
    diagonal_of,
    galerkin,
    operator,
    places_of_product,
    sums_of,
)
from ._matrix import Sparse
from ._pattern import Pattern, inverse_of, pointers_of, sampled, scipys, shared, stable_order
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
        strong = _chosen_once(pattern, _is_strong(pattern, values, strength))
        chosen = strong.kept("coarse", functools.partial(coarse_unknowns, strong))
        count = int(chosen.sum())
        if not 0 < count < 0.9 * n:
            break
        coarse = Pattern.of_rows(np.append(0, np.cumsum(chosen)), np.arange(count), (n, count))
        made = Split(strong, shared(coarse), strong)
        w = _known_weights(made, pattern, values)
        made = made._replace(down=_down(made, _largest(made, w, most)))
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


def _is_strong(p: Pattern, values: np.ndarray, strength: float) -> np.ndarray:
    against = -np.real(values * _signs(p, values)[p.rows])
    against[p.diagonal[p.diagonal >= 0]] = 0
    top = np.zeros(p.shape[0])
    full = p.lengths > 0
    top[full] = np.maximum.reduceat(against, p.indptr[:-1][full]) if p.nnz else 0
    least = np.where(top > 0, np.maximum(strength * top, np.finfo(float).tiny), np.inf)
    return against >= np.repeat(least, p.lengths)


def _signs(p: Pattern, values: np.ndarray) -> np.ndarray:
    """Of each diagonal element the conjugate of the factor that makes it positive."""
    d = diagonal_of(p, values)
    return np.conj(_over(np, d, np.abs(d))) if values.dtype.kind == "c" else np.sign(d)


def _chosen_once(p: Pattern, keep: np.ndarray) -> Pattern:
    """The elements that a mask keeps; new values keep most often what others did."""
    return p.kept(("chosen", np.packbits(keep).tobytes()), lambda: shared(p.chosen(keep)[0]))


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


def _largest(made: Split, w: np.ndarray, most: int) -> np.ndarray:
    """Which are the largest weights of each row.

    Of weights alike all are kept or none, as long as one is: a part of them would lean to a side.
    """
    (wide, _), size = _reach(made), np.abs(w)
    long, bound = np.flatnonzero(wide.lengths > most), np.zeros(wide.shape[0])
    if len(long):
        table = _padded(wide, size, long)
        at = table.shape[1] - 1 - most  # of the largest that is left out
        bound[long] = np.partition(table, at, axis=1)[:, at] * (1 + 1e-9)
    keep = size > np.repeat(bound, wide.lengths)
    for i in np.flatnonzero((sums_of(wide, keep) == 0) & (wide.lengths > 0)):
        row = slice(*wide.indptr[i : i + 2])
        keep[row][np.argsort(-size[row], kind="stable")[:most]] = True
    return keep


def _padded(p: Pattern, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Some rows as a table, with -1 behind their ends."""
    step = np.arange(p.lengths[rows].max())
    at = np.minimum(p.indptr[rows][:, None] + step, p.nnz - 1)
    return np.where(step < p.lengths[rows][:, None], x[at], -1)


def _down(made: Split, keep: np.ndarray) -> Pattern:
    """Of the prolongator: weights that are kept, and ones of coarse unknowns."""

    def found() -> Pattern:
        kept, (n, count) = _reach(made)[0].chosen(keep)[0], made.coarse.shape
        number = np.cumsum(made.coarse.lengths) - 1
        keys = kept.rows.astype(np.int64) * count + number[kept.columns]
        return shared(made.coarse.union(Pattern.of_keys(keys, (n, count)))[0])

    return made.strong.kept(("down", made.coarse, np.packbits(keep).tobytes()), found)


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


class Places(NamedTuple):
    """Where the values stand that weights are made of.

    Attributes:
      direct: a_ij of weights among the values, -1 where there is none.
      stay: values that stay in the diagonal of a row, a mask.
      between: (i, k) of strong couplings of fine unknowns.
      pairs, back: a_ik and a_ki of these among the values, -1 where there is none.
      bar, at: (k, l) of coarse l, and these among the values.
      reach: of those i, as the elements of weights.
    """

    direct: np.ndarray
    stay: np.ndarray
    between: Pattern
    pairs: np.ndarray
    back: np.ndarray
    bar: Pattern
    at: np.ndarray
    reach: Pattern


def _places(made: Split, p: Pattern) -> Places:
    fine, (wide, _) = made.coarse.lengths == 0, _reach(made)
    between = _between(made.strong, fine)
    direct, pairs, back = (
        p.find(*x)
        for x in ((wide.rows, wide.columns), (between.rows, between.columns), (between.columns, between.rows))
    )  # fmt: skip
    stay = fine[p.rows]
    stay[direct[direct >= 0]] = stay[pairs] = False
    used = np.zeros((2, p.shape[0]), bool)
    used[0, between.columns], used[1, between.rows] = True, True
    bar, at = p.chosen(used[0, p.rows] & ~fine[p.columns])
    return Places(direct, stay, between, pairs, back, bar, at, wide.chosen(used[1, wide.rows])[0])


def _known_weights(made: Split, p: Pattern, values: np.ndarray) -> np.ndarray:
    """What ``_weights`` are of these values, by products of SciPy's matrices, without lists of products of elements."""
    (wide, _), t = (
        _reach(made),
        made.strong.kept(("places", made.coarse, p), lambda: _places(made, p)),
    )
    top, lumped = _taken(values, t.direct), sums_of(p, np.where(t.stay, values, 0))
    if t.between.nnz:
        ratios, own, bar = _shares(t, p, values)
        top = top + sampled(scipys(t.between, ratios) @ bar, wide.rows, wide.columns)
        lumped = lumped + sums_of(t.between, own)
    return -_over(np, top, np.repeat(lumped, wide.lengths))


def _shares(t: Places, p: Pattern, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, Any]:
    """a_ik / b_ik, what of it goes into the diagonal of row i, and ā_kl."""
    signs, q, back = _signs(p, values), _taken(values, t.pairs), _taken(values, t.back)
    back = np.where(np.real(back * signs[t.between.columns]) < 0, back, 0)
    bar = values[t.at]
    bar = np.where(np.real(bar * signs[t.bar.rows]) < 0, bar, 0)
    ones = scipys(t.reach, np.ones(t.reach.nnz)) @ scipys(t.bar.T, bar[t.bar.order])
    b = sampled(ones, t.between.rows, t.between.columns) + back
    ratios = _over(np, q, b)
    return ratios, np.where(b == 0, q, ratios * back), scipys(t.bar, bar)


def _taken(values: np.ndarray, at: np.ndarray) -> np.ndarray:
    return np.where(at >= 0, values[np.maximum(at, 0)], 0) if len(values) else np.zeros(len(at))


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
