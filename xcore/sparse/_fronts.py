"""Cholesky factors of sparse matrices by dense fronts: all fronts of one depth of the tree at once, padded.

Duff and Reid 1983, "The multifrontal solution of indefinite sparse symmetric linear equations". A front holds
the unknowns that are eliminated (p) and those they touch (b),

    F = (A where p takes part) + Σ_children U,    L11 L11ᴴ = F11,    L21 = F21 L11⁻ᴴ,    U = F22 - L21 L21ᴴ.

Which front goes where is known from the pattern. The program is a few batched dense operations for each depth.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import Array, errors
from ._dissection import boundaries, dissected
from ._pattern import Pattern, elements_of
from ._products import _gathered

_MOST_ELEMENTS = 1 << 27


class Depth(NamedTuple):
    """Tables for all fronts of one depth; sizes: f fronts of p pivots and b others, m = p + b.

    Attributes:
      entries: (f, m, p) numbers of values of A, of 0 and of 1 behind them.
      children: for each of both children its number at the depth below, (f,).
      inside: for each of both children where in it a row of the front stands, (f, m); the end if nowhere.
      parent, above: the number of the parent, and where in its front the others stand, (f, b).
      pivots, others: sizes p, b.
    """

    entries: np.ndarray
    children: tuple[np.ndarray, ...]
    inside: tuple[np.ndarray, ...]
    parent: np.ndarray
    above: np.ndarray
    pivots: int
    others: int


class Fronts(NamedTuple):
    """How a pattern is factorised.

    Attributes:
      depths: tables, from the root down.
      taken: for each depth the unknowns of its pivots (f, p), n where there is none.
      place: where each unknown stands among the pivots of all depths.
      found: where each element of A stands among the first columns of all fronts, and whether it is
        the element itself or its mirror image.
      elements: of the factors, empty ones included.
      rows: where unknowns stand in fronts, for each depth.
    """

    depths: list[Depth]
    taken: list[np.ndarray]
    place: np.ndarray
    found: np.ndarray
    mirrored: np.ndarray
    elements: int
    rows: list[_Rows]


def fronts_of(pattern: Pattern) -> Fronts:
    return pattern.kept("fronts", lambda: _planned(pattern))


class _Rows(NamedTuple):
    """The fronts of a depth, as they are planned: sizes, and where unknowns stand in each."""

    n: int
    pivots: list[np.ndarray]
    others: list[np.ndarray]
    p: int
    b: int
    keys: np.ndarray  # front · n + unknown, sorted
    places: np.ndarray

    def find(self, front: np.ndarray, unknown: np.ndarray) -> np.ndarray:
        """Where unknowns stand in fronts; -1 where they do not."""
        wanted = front.astype(np.int64) * self.n + unknown
        at = np.minimum(np.searchsorted(self.keys, wanted), max(len(self.keys) - 1, 0))
        if not len(self.keys):
            return np.full(wanted.shape, -1)
        return np.where(self.keys[at] == wanted, self.places[at], -1)


def _rows(n: int, pivots: list[np.ndarray], others: list[np.ndarray]) -> _Rows:
    p, b = (max(map(len, x), default=0) for x in (pivots, others))
    keys = [i * n + x for part in (pivots, others) for i, x in enumerate(part)]
    places = [k + np.arange(len(x)) for k, part in ((0, pivots), (p, others)) for x in part]
    key, place = (np.concatenate([np.zeros(0, np.int64), *x]) for x in (keys, places))
    order = np.argsort(key)
    return _Rows(n, pivots, others, p, b, key[order], place[order])


def _planned(pattern: Pattern) -> Fronts:
    n = pattern.shape[0]
    nodes = dissected(pattern) if n else []
    touched = boundaries(pattern, nodes)
    deepest = max((x.depth for x in nodes), default=-1)
    members = [[k for k, x in enumerate(nodes) if x.depth == d] for d in range(deepest + 1)]
    rows = [_rows(n, [nodes[k].pivots for k in t], [touched[k] for k in t]) for t in members]
    number = {k: i for t in members for i, k in enumerate(t)}
    place, found = np.zeros(n, np.int64), np.zeros(pattern.nnz, np.int64)
    mirrored = np.zeros(pattern.nnz, bool)
    depths, taken, offset, columns = [], [], 0, 0
    for d, r in enumerate(rows):
        f = len(members[d])
        front, lane = _lanes(r.pivots)
        unknown = np.concatenate([np.zeros(0, np.int64), *r.pivots])
        eliminated = np.full((f, r.p), n)
        eliminated[front, lane] = unknown
        place[unknown] = offset + front * r.p + lane
        _check_size(columns + f * (r.p + r.b) * r.p)
        entries = _entries(pattern, r, front, unknown, (found, mirrored, columns))
        parents = np.array([number.get(nodes[k].parent, 0) for k in members[d]])
        above = _above(rows[d - 1], r, parents) if d else np.zeros((f, r.b), np.int64)
        below = _children(members, nodes, rows, number, d)
        depths.append(Depth(*map(_narrow, (entries, *below, parents, above)), r.p, r.b))
        taken.append(_narrow(eliminated))
        offset, columns = offset + f * r.p, columns + f * (r.p + r.b) * r.p
    return Fronts(depths, taken, _narrow(place), _narrow(found), mirrored, columns, rows)


def _check_size(elements: int) -> None:
    if elements > _MOST_ELEMENTS:
        raise errors.bad_argument(
            "sparse.factorise", "the number of elements of a's factors", elements,
            f"at most {_MOST_ELEMENTS}, empty places of fronts included; kind='lu' orders differently, "
            "multigrid needs no factors",
        )  # fmt: skip


def _narrow(x: np.ndarray) -> np.ndarray:
    return x.astype(np.int32)


def _lanes(parts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The number of the part, and that within it, of each element of several."""
    sizes = np.array([len(x) for x in parts], np.int64)
    front = np.repeat(np.arange(len(parts)), sizes)
    return front, np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _entries(pattern: Pattern, r: _Rows, front: Any, unknown: Any, out: Any) -> np.ndarray:
    """Which values stand in the first columns of fronts; tells in ``out`` where each element stands."""
    found, mirrored, columns = out
    m, p = r.p + r.b, r.p
    at, each = elements_of(pattern, unknown)
    who, column = np.repeat(front, each), r.find(np.repeat(front, each), np.repeat(unknown, each))
    row = r.find(who, pattern.columns[at])
    there = row >= 0  # else it is eliminated below, with this as another
    at, who, column, row = at[there], who[there], column[there], row[there]
    entries = np.full((len(r.pivots), m, p), pattern.nnz)
    entries[who, row, column] = pattern.order[at]
    where = columns + (who * m + row) * p + column
    beyond = row >= p
    found[at[beyond]], mirrored[at[beyond]] = where[beyond], True
    found[pattern.order[at]], mirrored[pattern.order[at]] = where, False
    empty = np.arange(p) >= np.array([len(x) for x in r.pivots])[:, None]
    f, j = np.nonzero(empty)
    entries[f, j, j] = pattern.nnz + 1
    return entries


def _above(parent: _Rows, r: _Rows, parents: np.ndarray) -> np.ndarray:
    """Where in its parent's front the others of each front stand."""
    front, lane = _lanes(r.others)
    above = np.zeros((len(r.others), r.b), np.int64)
    unknown = np.concatenate([np.zeros(0, np.int64), *r.others])
    above[front, lane] = parent.find(parents[front], unknown)
    return above


def _children(members: Any, nodes: Any, rows: Any, number: Any, d: int) -> tuple[Any, Any]:
    """Of the first and second child of each front: its number, and where in it each row stands."""
    f, m = len(members[d]), rows[d].p + rows[d].b
    last = d + 1 == len(members)
    count, below = (0, 0) if last else (len(members[d + 1]), rows[d + 1].b)
    children, inside = np.full((2, f), count), np.full((2, f, m), below)
    seen = np.zeros(f, np.int64)
    for k in [] if last else members[d + 1]:
        up, me = number[nodes[k].parent], number[k]
        others = rows[d + 1].others[me]
        children[seen[up], up] = me
        inside[seen[up], up, rows[d].find(np.full(len(others), up), others)] = np.arange(
            len(others)
        )
        seen[up] += 1
    return children, inside


# Numbers


def _lines(x: Array, which: np.ndarray, rows: np.ndarray) -> Array:
    """x[which, rows] of x (fronts, rows, k), for rows (f, m) of fronts (f,)."""
    count, m, k = x.shape
    return _gathered(x.reshape(count * m, k), which[:, None] * m + rows)


def _part(x: Array, which: np.ndarray, rows: np.ndarray) -> Array:
    """The square parts x[which, rows, rows] of square matrices."""
    lines = _lines(x, which, rows)
    f, m, k = lines.shape
    at = xnp.arange(f * m, dtype=np.int32).reshape(f, m, 1) * np.int32(k) + rows[:, None, :]
    return _gathered(lines.reshape(f * m * k), at)


def from_below(d: Depth, whole: Array, update: Array, square: bool = True) -> Array:
    """Fronts with what both children of each hand up: square matrices, or rows of right sides."""
    if not update.shape[0]:
        return whole
    part = _part if square else _lines
    padded = xnp.pad(update, ((0, 1), (0, 1), (0, int(square))))
    for child, inside in zip(d.children, d.inside, strict=True):
        whole = whole + part(padded, child, inside)
    return whole


def _forward(low: Array, b: Array) -> Array:
    return ops.triangular_solve(low, b, left=True, lower=True, transpose="N", unit_diagonal=False)


def _back(low: Array, b: Array) -> Array:
    """L⁻ᴴ b."""
    return ops.triangular_solve(
        xnp.conj(low), b, left=True, lower=True, transpose="T", unit_diagonal=False
    )


def _divided(b: Array, low: Array) -> Array:
    """b L⁻ᴴ."""
    return ops.triangular_solve(
        xnp.conj(low), b, left=False, lower=True, transpose="T", unit_diagonal=False
    )


def factors_of(plan: Fronts, values: Array) -> list[tuple[Array, Array]]:
    """(L11, L21) of all fronts of each depth, from the root down. NaN where a matrix is not positive definite."""
    constants = xnp.asarray(np.array([0, 1]).astype(values.dtype))
    values = xnp.concatenate([values, constants])
    update, out = xnp.zeros((0, 0, 0), values.dtype), []
    for d in reversed(plan.depths):
        columns = _gathered(values, d.entries)
        whole = xnp.pad(columns, ((0, 0), (0, 0), (0, d.others)))
        whole = from_below(d, whole, update)
        low = ops.cholesky(whole[:, : d.pivots, : d.pivots])
        beside = _divided(whole[:, d.pivots :, : d.pivots], low)
        update = whole[:, d.pivots :, d.pivots :] - beside @ xnp.conj(beside).mT
        out.append((low, beside))
    return out[::-1]


def solved(plan: Fronts, factors: Any, b: Array) -> Array:
    """x (n, k) of columns b (n, k)."""
    return _backward(plan, factors, _forward_pass(plan, factors, b))


def _forward_pass(plan: Fronts, factors: Any, b: Array) -> list[Array]:
    """L⁻¹ b, for each depth."""
    k = b.shape[1]
    right = xnp.concatenate([b, xnp.zeros((1, k), b.dtype)])
    update, ahead = xnp.zeros((0, 0, k), b.dtype), []
    for d, taken, (low, beside) in reversed(
        list(zip(plan.depths, plan.taken, factors, strict=True))
    ):
        whole = xnp.pad(_gathered(right, taken), ((0, 0), (0, d.others), (0, 0)))
        whole = from_below(d, whole, update, square=False)
        y = _forward(low, whole[:, : d.pivots])
        update = whole[:, d.pivots :] - beside @ y
        ahead.append(y)
    return ahead[::-1]


def _backward(plan: Fronts, factors: Any, ahead: list[Array]) -> Array:
    whole, out = None, []
    for d, (low, beside), y in zip(plan.depths, factors, ahead, strict=True):
        if whole is None:
            others = xnp.zeros((y.shape[0], d.others, y.shape[2]), y.dtype)
        else:
            others = _lines(whole, d.parent, d.above)
        y = y - xnp.conj(beside).mT @ others
        x = _back(low, y)
        out.append(x.reshape(x.shape[0] * x.shape[1], x.shape[2]))
        whole = xnp.concatenate([x, others], axis=1)
    return _gathered(xnp.concatenate(out), plan.place)


def inverse_values(plan: Fronts, factors: Any) -> Array:
    """The elements of A⁻¹ at the places of A, from the root down. (Takahashi, Fagan and Chin 1973)

    With W = L21 L11⁻¹ and Z22 out of the parent's front: Z21 = -Z22 W, Z11 = (L11 L11ᴴ)⁻¹ - Wᴴ Z21.
    """
    whole, out = None, []
    for d, (low, beside) in zip(plan.depths, factors, strict=True):
        f = low.shape[0]
        if whole is None:
            corner = xnp.zeros((f, d.others, d.others), low.dtype)
        else:
            corner = _part(whole, d.parent, d.above)
        unit = xnp.broadcast_to(xnp.eye(d.pivots, dtype=low.dtype), low.shape)
        inverse = _forward(low, unit)
        w = beside @ inverse
        side = -corner @ w
        first = xnp.conj(inverse).mT @ inverse - xnp.conj(w).mT @ side
        columns = xnp.concatenate([first, side], axis=1)
        whole = xnp.concatenate(
            [columns, xnp.concatenate([xnp.conj(side).mT, corner], axis=1)], axis=2
        )
        out.append(columns.reshape(-1))
    z = _gathered(xnp.concatenate(out), plan.found)
    return xnp.where(plan.mirrored, xnp.conj(z), z)
