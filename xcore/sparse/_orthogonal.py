"""QR factors of sparse matrices by dense fronts: all fronts of one depth of the tree at once, padded.

George and Liu 1987, "Householder reflections versus Givens rotations in sparse orthogonal decomposition"; Davis 2011,
"Algorithm 915, SuiteSparseQR". Fronts are those of Cholesky factors of AᴴA, as R is one of them. That of p pivots and b
others stacks the rows of A whose first eliminated unknown is a pivot and what is left of its children,

    (A; rest of children) = Q (R11 R12; 0 rest),

and hands at most b rows on. Nothing is squared: R is as good as that of a dense factorisation. Q stays in
factors, one for each front.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import numpy as xnp
from .._core import Array, errors
from ..linalg._equations import signs
from ._fronts import (
    Depth,
    Fronts,
    _backward,
    _check_size,
    _forward_pass,
    _gathered,
    _lines,
    _narrow,
    fronts_of,
)
from ._pattern import Pattern, inverse_of

_MOST_PRODUCTS = 1 << 28


class Rows(NamedTuple):
    """The rows of fronts of one depth: (f, a) of A, then what is left of both children, all of ``height`` rows.

    Attributes:
      entries: (f, a, m) numbers of values of A, of 0 and of 1 behind them.
      taken: (f, a) rows of A, their number where there is none.
      above: (f, rest) where in the parent's front the rows stand that are left.
      height, rest: rows of a front, and those left of it.
    """

    entries: np.ndarray
    taken: np.ndarray
    above: np.ndarray
    height: int
    rest: int


class Plan(NamedTuple):
    """How a pattern of m ≥ n is factorised.

    Attributes:
      columns: fronts, and which unknowns are eliminated where.
      depths: rows, from the root down.
      place: where each row of A stands among those of all fronts; behind them where it is empty.
      order: the unknowns in the order of elimination.
      upper, upper_at: the pattern of R in this order, and where its elements stand among those of factors.
    """

    columns: Fronts
    depths: list[Rows]
    place: np.ndarray
    order: np.ndarray
    upper: Pattern
    upper_at: np.ndarray


def plan_of(pattern: Pattern) -> Plan:
    return pattern.kept("orthogonal", lambda: _planned(pattern))


def _gram(pattern: Pattern) -> Pattern:
    """The places of AᴴA, and its diagonal."""
    import scipy.sparse

    products = int((pattern.lengths.astype(np.int64) ** 2).sum())
    if products > _MOST_PRODUCTS:
        need = f"at most {_MOST_PRODUCTS}; rows that are nearly full fill R, kind='lu' of lstsq needs none"
        raise errors.bad_argument(
            "sparse.factorise", "the number of products of elements in a.H @ a", products, need
        )
    parts = np.ones(pattern.nnz), pattern.indices, pattern.indptr
    a = scipy.sparse.csr_array(parts, shape=pattern.shape)
    made = scipy.sparse.csr_array(a.T @ a + scipy.sparse.eye_array(pattern.shape[1]))
    made.sort_indices()
    return Pattern.of_rows(made.indptr, made.indices, made.shape)


def _planned(pattern: Pattern) -> Plan:
    m, n = pattern.shape
    columns = fronts_of(_gram(pattern))
    depth, front = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for d, taken in enumerate(columns.taken):
        f, lane = np.nonzero(taken < n)
        depth[taken[f, lane]], front[taken[f, lane]] = d, f
    # the unknowns of a row stand on one way to the root
    deepest = np.full(m, -1)
    np.maximum.at(deepest, pattern.rows, depth[pattern.columns])
    first = depth[pattern.columns] == deepest[pattern.rows]
    mine = np.zeros(m, np.int64)
    mine[pattern.rows[first]] = front[pattern.columns[first]]
    place, depths, below, offset, size = np.zeros(m, np.int64), [], 0, 0, 0
    for d in range(len(columns.depths) - 1, -1, -1):
        made, lanes, chosen = _rows_of(
            pattern, columns, d, np.flatnonzero(deepest == d), mine, below
        )
        f, a, width = made.entries.shape
        size += f * made.height * width
        _check_size(size)
        depths.append(made)
        place[chosen] = offset + mine[chosen] * a + lanes
        below, offset = made.rest, offset + f * a
    place[deepest < 0] = offset
    depths = depths[::-1]
    for d in range(1, len(depths)):
        depths[d] = depths[d]._replace(
            above=_left_above(columns.depths, d, depths[d].rest, depths[d - 1])
        )
    place = _ordered(place, depths, offset)
    return Plan(columns, depths, _narrow(place), *_upper(columns, n))


def _ordered(place: np.ndarray, depths: list[Rows], total: int) -> np.ndarray:
    """Places counted from the root down of those counted from the leaves up."""
    sizes = np.array([x.taken.size for x in depths], np.int64)
    ends = np.cumsum(sizes)
    shift = np.repeat((ends - sizes)[::-1] - (np.cumsum(sizes[::-1]) - sizes[::-1]), sizes[::-1])
    return place + np.append(shift, 0)[np.minimum(place, total)]


def _rows_of(
    pattern: Pattern, columns: Fronts, d: int, chosen: np.ndarray, mine: np.ndarray, below: int
) -> tuple[Rows, np.ndarray, np.ndarray]:
    """The rows of a depth, the number of each chosen row in its front, and these rows."""
    p, b, unknowns = columns.depths[d].pivots, columns.depths[d].others, columns.rows[d]
    f, n = len(columns.taken[d]), pattern.shape[1]
    count = np.bincount(mine[chosen], minlength=f)
    chosen = chosen[np.argsort(mine[chosen], kind="stable")]
    lanes = np.arange(len(chosen)) - np.repeat(np.cumsum(count) - count, count)
    empty_front, empty = np.nonzero(
        columns.taken[d] >= n
    )  # pivots that are not there have a row of 1
    spare = np.bincount(empty_front, minlength=f)
    a = int((count + spare).max(initial=0))
    _check_size(f * a * (p + b))
    taken = np.full((f, a), pattern.shape[0])
    taken[mine[chosen], lanes] = chosen
    entries = np.full((f, a, p + b), pattern.nnz)
    lane = np.zeros(pattern.shape[0], np.int64)
    lane[chosen] = lanes
    inside = np.zeros(pattern.shape[0], bool)
    inside[chosen] = True
    at = np.flatnonzero(inside[pattern.rows])
    row = pattern.rows[at]
    entries[mine[row], lane[row], unknowns.find(mine[row], pattern.columns[at])] = at
    number = np.arange(len(empty)) - np.repeat(np.cumsum(spare) - spare, spare)
    entries[empty_front, count[empty_front] + number, empty] = pattern.nnz + 1
    height = max(a + 2 * below, p)
    none = np.zeros((f, 0), np.int32)
    made = Rows(_narrow(entries), _narrow(taken), none, height, min(height - p, b))
    return made, lanes, chosen


def _left_above(depths: list[Depth], d: int, rest: int, parent: Rows) -> np.ndarray:
    """Where in its parent's front the rows of each front stand that are left of it."""
    f = len(depths[d].parent)
    second = np.zeros(f, np.int64)
    children = depths[d - 1].children[1]
    second[children[children < f]] = 1
    a = parent.taken.shape[1]
    return _narrow(a + second[:, None] * rest + np.arange(rest))


def _upper(columns: Fronts, n: int) -> tuple[np.ndarray, Pattern, np.ndarray]:
    """The order of elimination, the pattern of R in it, and where its elements stand among Lᴴ of all fronts."""
    order = np.concatenate([np.zeros(0, np.int64), *[t[t < n] for t in reversed(columns.taken)]])
    rank = np.append(inverse_of(order), 0)
    rows, across, at, offset = [], [], [], 0
    for d, t, u in zip(columns.depths, columns.taken, columns.rows, strict=True):
        f, p, b = len(t), d.pivots, d.others
        others = np.full((f, b), n)
        for k, x in enumerate(u.others):
            others[k, : len(x)] = x
        whole = np.concatenate([t, others], axis=1)
        there = (whole < n)[:, :, None] & (t < n)[:, None, :]
        there &= np.arange(p + b)[:, None] >= np.arange(p)
        front, j, i = np.nonzero(there)
        rows.append(rank[t[front, i]])
        across.append(rank[whole[front, j]])
        at.append(offset + (front * (p + b) + j) * p + i)
        offset += f * (p + b) * p
    r, c, at = (np.concatenate([np.zeros(0, np.int64), *x]) for x in (rows, across, at))
    by = np.lexsort((c, r))
    pointers = np.searchsorted(r[by], np.arange(n + 1))
    return order, Pattern.of_rows(pointers, c[by], (n, n)), at[by]


# Numbers


def _stacked(d: Rows, own: Array, parts: list[Array]) -> Array:
    """Rows of A, those left of children, and zeros up to the height."""
    whole = xnp.concatenate([own, *parts], axis=1) if parts else own
    return xnp.pad(whole, ((0, 0), (0, d.height - whole.shape[1]), (0, 0)))


def factors_of(plan: Plan, values: Array) -> list[tuple[Array, Array, Array]]:
    """(Q, R11ᴴ, R12ᴴ) of all fronts of each depth, from the root down, with a diagonal of R that is not negative."""
    values = xnp.concatenate([values, xnp.asarray(np.array([0, 1]).astype(values.dtype))])
    rest, out = xnp.zeros((0, 0, 0), values.dtype), []
    for c, d in reversed(list(zip(plan.columns.depths, plan.depths, strict=True))):
        parts = []
        if rest.shape[0]:
            left = xnp.pad(rest, ((0, 1), (0, 0), (0, 1))).mT
            parts = [_lines(left, *pair).mT for pair in zip(c.children, c.inside, strict=True)]
        whole = _stacked(d, _gathered(values, d.entries), parts)
        q, r = xnp.linalg.qr(whole)
        p = c.pivots
        turn = signs(xnp.diagonal(r[:, :p, :p], axis1=-2, axis2=-1))[:, None, :]
        low = xnp.conj(r[:, :p]).mT * turn
        q = xnp.concatenate([q[:, :, :p] * turn, q[:, :, p:]], axis=2)
        out.append((q, low[:, :p], low[:, p:]))
        # not out of r: so one call of LAPACK waits for the other, where two at a time may wait for each other
        rest = xnp.conj(q[:, :, p:]).mT @ whole[:, :, p:]
    return out[::-1]


def _across(plan: Plan, qs: list[Array], b: Array) -> list[Array]:
    """Qᴴ b of pivots."""
    right = xnp.concatenate([b, xnp.zeros((1, b.shape[1]), b.dtype)])
    rest, out = xnp.zeros((0, 0, b.shape[1]), b.dtype), []
    for c, d, q in reversed(list(zip(plan.columns.depths, plan.depths, qs, strict=True))):
        parts = []
        if rest.shape[0]:
            left = xnp.pad(rest, ((0, 1), (0, 0), (0, 0)))
            parts = [_gathered(left, child) for child in c.children]
        y = xnp.conj(q).mT @ _stacked(d, _gathered(right, d.taken), parts)
        out.append(y[:, : c.pivots])
        rest = y[:, c.pivots :]
    return out[::-1]


def _onto(plan: Plan, qs: list[Array], ws: list[Array]) -> Array:
    """Q w of numbers of pivots."""
    whole, out = None, []
    for d, q, w in zip(plan.depths, qs, ws, strict=True):
        f, k = len(w), w.shape[2]
        left = xnp.zeros((f, d.rest, k), w.dtype) if whole is None else _lines(whole, *_up(plan, d))
        whole = q @ xnp.concatenate([w, left], axis=1)
        out.append(whole[:, : d.taken.shape[1]].reshape(whole.shape[0] * d.taken.shape[1], k))
    return _gathered(
        xnp.concatenate([*out, xnp.zeros((1, out[0].shape[1]), out[0].dtype)]), plan.place
    )


def _up(plan: Plan, d: Rows) -> tuple[np.ndarray, np.ndarray]:
    at = next(k for k, x in enumerate(plan.depths) if x is d)
    return plan.columns.depths[at].parent, d.above


def solved_together(plan: Plan, factors: Any, f: Array, g: Array) -> tuple[Array, Array]:
    """(r, z) of r + A z = f, Aᴴ r = g: with w = Qᴴ f - R⁻ᴴ g it is r = f - Q w, z = R⁻¹ w. (Björck 1967)"""
    if not g.shape[0]:
        return f, g
    qs, low = [q for q, *_ in factors], [tuple(x) for _, *x in factors]
    across, other = _across(plan, qs, f), _forward_pass(plan.columns, low, g)
    w = [x - y for x, y in zip(across, other, strict=True)]
    return f - _onto(plan, qs, w), _backward(plan.columns, low, w)


def upper_values(plan: Plan, factors: Any) -> Array:
    """The elements of R in the order of its pattern."""
    flat = [xnp.concatenate([low, beside], axis=1).reshape(-1) for _, low, beside in factors]
    return xnp.conj(_gathered(xnp.concatenate(flat), plan.upper_at))


def pivots(plan: Plan, factors: Any) -> Array:
    """The diagonal of R, for each unknown."""
    flat = [xnp.real(xnp.diagonal(low, axis1=-2, axis2=-1)).reshape(-1) for _, low, _ in factors]
    return _gathered(xnp.concatenate(flat), plan.columns.place)
