"""Recurrences on static places, y_e = (a_e - Σ_k y_p(e,k) y_q(e,k)) / d_e, in as few steps as depend on each other.

Triangular solutions and factorisations without fill are such. Which y waits for which is known before any value:
so they are sorted by level on the host, levels are cut into chunks of one width, and a loop does a chunk at a time,
which gathers and writes one slice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import fori_loop
from .._core import Array, dtypes
from ._products import _gathered

ZERO, ONE, MINUS, FIRST = range(4)  # numbers of constants, and of the first given value
_MOST_TERMS = 16  # of one y; longer sums are cut into pieces
_START = 1000  # terms that cost about what a step of the loop does


class Recurrence(NamedTuple):
    """Tables of a recurrence.

    Attributes:
      p, q: numbers of the factors of each term (chunks, terms, width).
      a, d: numbers of what is subtracted from and divided by (chunks, width).
      instead: numbers of what takes the place of y that vanish beside it, as ``Terms.instead``.
      start: where each chunk is written.
      place: where each y stands in the end.
      size: of what is written to.
    """

    p: Any
    q: Any
    a: Any
    d: Any
    start: Any
    place: np.ndarray
    size: int
    instead: Any = None
    definite: bool = False

    def __call__(self, given: Array) -> Array:
        """All y, from the values given."""
        if not len(self.place):
            return xnp.zeros(0, given.dtype)
        constants = xnp.asarray(np.array([0, 1, -1]).astype(given.dtype))
        room = xnp.zeros(self.size - FIRST - given.shape[0], given.dtype)
        y = xnp.concatenate([constants, given, room])
        given_tables = [self.p, self.q, self.a, self.d, self.start]
        tables = [xnp.asarray(t) for t in [*given_tables, *self._replacing()]]

        def chunk(k: Any, y: Array) -> Array:
            p, q, a, d, start, *instead = (t[k] for t in tables)
            terms = _gathered(y, p) * _gathered(y, q)
            total = sum((terms[j] for j in range(1, p.shape[0])), terms[0])
            new = (_gathered(y, a) - total) / _gathered(y, d)
            for at in instead:
                new = _unless_vanished(new, _gathered(y, at), self.definite)
            return ops.dynamic_update_slice(y, new, start)

        y = fori_loop(0, len(self.start), chunk, y)
        return _gathered(y, self.place)

    def _replacing(self) -> list[Any]:
        return [] if self.instead is None else [self.instead]


def _unless_vanished(y: Array, other: Array, definite: bool) -> Array:
    """y, and the other (where that is not 0) for those that vanish beside it, or have not its sign if all should."""
    ratio = y / xnp.where(other == 0, 1, other)
    size = xnp.real(ratio) if definite else xnp.abs(ratio)
    return xnp.where((other != 0) & (size < dtypes.finfo(y.dtype).eps ** 0.5), other, y)


class Terms(NamedTuple):
    """A recurrence as it is written: y number e begins with a[e], is divided by d[e]; terms (owner, p, q).

    ``instead`` are numbers of what y become that vanish beside it, ``ZERO`` of those that may; ``definite`` says that
    they must have its sign as well.
    """

    a: np.ndarray
    d: np.ndarray
    owner: np.ndarray
    p: np.ndarray
    q: np.ndarray
    instead: np.ndarray | None = None
    definite: bool = False


def scheduled(given: int, terms: Terms) -> Recurrence:
    """Tables for a recurrence whose y are numbered from ``FIRST + given`` on."""
    base, count = FIRST + given, len(terms.a)
    if not count:
        none = np.zeros(0, np.int32)
        return Recurrence(none, none, none, none, none, none, base)
    terms = _in_pieces(base, terms)
    level = _levels(base, terms)
    order = np.argsort(level, kind="stable")
    per_level = np.bincount(level)
    longest = int(np.bincount(terms.owner, minlength=1).max(initial=1)) or 1
    width = _width(per_level, longest)
    begin, chunk, lane = _chunks(per_level, width)
    place = np.empty(len(order), np.int64)  # of each y in what is written to
    place[order] = base + np.arange(len(order))
    at_chunk, at_lane = np.empty_like(place), np.empty_like(place)
    at_chunk[order], at_lane[order] = chunk, lane
    put = lambda ids: np.where(ids < base, ids, place[np.maximum(ids - base, 0)])  # noqa: E731
    sort = np.argsort(terms.owner, kind="stable")
    owner = terms.owner[sort]
    nth = np.arange(len(owner)) - np.searchsorted(owner, owner)
    tables = []
    for ids in (terms.p, terms.q):
        table = np.zeros((len(begin), longest, width), np.int32)
        table[at_chunk[owner], nth, at_lane[owner]] = put(ids[sort])
        tables.append(table)
    rest = [(terms.a, ZERO), (terms.d, ONE)]
    rest += [] if terms.instead is None else [(terms.instead, ZERO)]
    for ids, empty in rest:
        table = np.full((len(begin), width), empty, np.int32)
        table[at_chunk, at_lane] = put(ids)
        tables.append(table)
    start = (base + begin).astype(np.int32)
    p, q, a, d, *instead = tables
    size = base + len(order) + width
    return Recurrence(p, q, a, d, start, place[:count], size, *instead, definite=terms.definite)


def _in_pieces(base: int, t: Terms) -> Terms:
    """Long sums by way of new y, each minus a piece of the sum."""
    while True:
        counts = np.bincount(t.owner, minlength=len(t.a))
        if counts.max(initial=0) <= _MOST_TERMS:
            return t
        sort = np.argsort(t.owner, kind="stable")
        owner, p, q = t.owner[sort], t.p[sort], t.q[sort]
        long = counts[owner] > _MOST_TERMS
        piece = (np.arange(len(owner)) - np.searchsorted(owner, owner)) // _MOST_TERMS
        keys, at = np.unique(owner[long] * (len(owner) + 1) + piece[long], return_inverse=True)
        new = len(t.a) + np.arange(len(keys))
        parents = keys // (len(owner) + 1)
        owner[long] = new[at.reshape(-1)]
        zeros = np.full(len(keys), ZERO)
        t = t._replace(
            a=np.append(t.a, zeros), d=np.append(t.d, np.full(len(keys), ONE)),
            owner=np.append(owner, parents), p=np.append(p, np.full(len(keys), MINUS)), q=np.append(q, base + new),
            instead=None if t.instead is None else np.append(t.instead, zeros),
        )  # fmt: skip


def _levels(base: int, t: Terms) -> np.ndarray:
    """How many steps must come before each y."""
    n = len(t.a)
    ids = np.concatenate([t.p, t.q, t.a, t.d])
    waits = np.concatenate([t.owner, t.owner, np.arange(n), np.arange(n)])
    real = ids >= base
    source, waits = ids[real] - base, waits[real]
    order = np.argsort(source, kind="stable")
    waits = waits[order]
    ends = np.searchsorted(source[order], np.arange(n + 1))
    left = np.bincount(waits, minlength=n)
    level = np.zeros(n, np.int64)
    front, depth = np.flatnonzero(left == 0), 0
    while len(front):
        level[front] = depth
        each = ends[front + 1] - ends[front]
        last = np.cumsum(each)
        out = np.repeat(ends[front] - (last - each), each) + np.arange(last[-1])
        freed, times = np.unique(waits[out], return_counts=True)
        left[freed] -= times
        front, depth = freed[left[freed] == 0], depth + 1
    return level


def _width(per_level: np.ndarray, terms: int) -> int:
    widths = 2 ** np.arange(int(np.ceil(np.log2(max(per_level.max(initial=1), 1)))) + 1)
    costs = [(-(-per_level // w)).sum() * (_START + w * terms) for w in widths]
    return int(widths[int(np.argmin(costs))])


def _chunks(per_level: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where chunks begin, and the chunk and the lane of each y, in order of levels."""
    ends = np.cumsum(per_level)
    within = np.arange(ends[-1]) - np.repeat(ends - per_level, per_level)
    chunks = -(-per_level // width)
    first = np.repeat(np.cumsum(chunks) - chunks, per_level)
    chunk, lane = first + within // width, within % width
    return np.flatnonzero(lane == 0), chunk, lane
