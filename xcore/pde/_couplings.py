"""What an operator on a grid couples: its elements by offset, read off with a few fields of zeros and ones.

All of this runs on the host, in NumPy: it looks at values to choose a solver, and compiles nothing.
``Couplings`` holds for each offset o of a stencil an array c with (A u)[i] = Σ c[o][i] u[i + o].
"""

from __future__ import annotations

import functools
import itertools
from typing import NamedTuple

import numpy as np

from ._colours import colours, leading
from ._grid import size


class Couplings(NamedTuple):
    """The elements of an operator.

    Attributes:
      elements: from offsets to arrays of the shape of fields; zero where an offset leads outside.
      shape, rings: of fields, and which axes are periodic.
    """

    elements: dict
    shape: tuple
    rings: tuple

    @property
    def centre(self) -> np.ndarray:
        """The diagonal."""
        return self.elements[(0,) * len(self.shape)]

    def __call__(self, u: np.ndarray) -> np.ndarray:
        terms = [c * moved(u, o, self.rings) for o, c in self.elements.items()]
        return functools.reduce(np.add, terms)

    def map(self, f) -> Couplings:
        """With f of each array; one that stands at several offsets, as zeros do, remains one."""
        made = {id(c): f(c) for c in {id(c): c for c in self.elements.values()}.values()}
        return self._replace(elements={o: made[id(c)] for o, c in self.elements.items()})

    @property
    def T(self) -> Couplings:
        """Those of the transpose: what leads from i to i + o leads back from there."""
        turned = {tuple(-s for s in o): c for o, c in self.elements.items()}
        return self._replace(
            elements={
                o: moved(c, o, self.rings) if c.any() else c for o, c in sorted(turned.items())
            }
        )

    def sorted(self) -> Couplings:
        """With its offsets in their order."""
        return self._replace(elements=dict(sorted(self.elements.items())))

    @property
    def sums(self) -> np.ndarray:
        """What the operator makes of a constant."""
        return functools.reduce(np.add, self.elements.values())

    @property
    def others(self) -> np.ndarray:
        """The absolute values of a row's elements off the diagonal, summed."""
        off = [np.abs(c) for o, c in self.elements.items() if any(o)]
        return functools.reduce(np.add, off, np.zeros(self.shape))

    @property
    def alone(self) -> np.ndarray:
        """Unknowns that have to do with no other, as outside of a domain."""
        return (self.others == 0) & (self.T.others == 0)

    @property
    def reach(self) -> int:
        """How far the farthest offset leads along an axis."""
        return max((max(map(abs, o)) for o in self.elements), default=0)

    def triples(self) -> tuple:
        """(values, rows, columns) of the matrix on flat fields, zeros left out."""
        places = np.arange(size(self.shape)).reshape(self.shape)
        parts = []
        for o, c in self.elements.items():
            there = moved(places, o, self.rings)
            held = c != 0
            parts.append((c[held], places[held], there[held]))
        return tuple(map(np.concatenate, zip(*parts, strict=True)))


def offsets(ndim: int, reach: int = 1) -> list[tuple]:
    """Of all points of a stencil."""
    return list(itertools.product(range(-reach, reach + 1), repeat=ndim))


def moved(u: np.ndarray, offset, rings) -> np.ndarray:
    """The field u[i + o], with zeros from outside, or around periodic axes."""
    out = u
    for axis, (s, ring) in enumerate(zip(offset, rings, strict=True)):
        if s and ring:
            out = np.roll(out, -s, axis)
        elif s:
            n = out.shape[axis]
            new = np.zeros_like(out)
            to, source = [slice(None)] * out.ndim, [slice(None)] * out.ndim
            to[axis] = slice(max(-s, 0), max(n - max(s, 0), 0))
            source[axis] = slice(max(s, 0), max(n + min(s, 0), 0))
            if abs(s) < n:
                new[tuple(to)] = out[tuple(source)]
            out = new
    return out


def read(apply, shape, rings, reach: int = 1) -> Couplings:
    """The couplings of a linear function of fields that looks no farther than ``reach``.

    Nodes of one colour are too far apart to meet in a row, so a product with their indicator shows one
    element of each row.
    """
    lines = [colours(n, reach, ring) for n, ring in zip(shape, rings, strict=True)]
    ways = [_ways(line, reach, ring) for line, ring in zip(lines, rings, strict=True)]
    found: dict = {}
    for colour in itertools.product(*[range(line.max() + 1) for line in lines]):
        ones = functools.reduce(
            np.logical_and.outer, [line == c for line, c in zip(lines, colour, strict=True)]
        )
        product = np.asarray(apply(ones.astype(np.float64)))
        ahead = [way[c] for way, c in zip(ways, colour, strict=True)]
        for o in _met(product, ahead, reach):
            at = np.ix_(*[np.flatnonzero(x == s) for x, s in zip(ahead, o, strict=True)])
            new = found.setdefault(o, np.zeros(shape, product.dtype))
            new[at] = product[at]
    nothing = np.zeros(shape, product.dtype)
    every = {o: found.get(o, nothing) for o in offsets(len(shape), reach)}
    return Couplings(every, tuple(shape), tuple(rings))


def _ways(line: np.ndarray, reach: int, ring: bool) -> np.ndarray:
    """For each colour the way from each node to the one that has it; ``reach + 1`` if none is within reach."""
    out = np.full((line.max() + 1, len(line)), reach + 1)
    for s in range(-reach, reach + 1):
        there = _coloured(line, leading(len(line), s, ring))
        held = np.flatnonzero(there >= 0)
        out[there[held], held] = s
    return out


def _met(product: np.ndarray, ahead: list, reach: int) -> list[tuple]:
    """The offsets that a product with the nodes of a colour shows: of wide stencils most lead nowhere."""
    base, code = 2 * reach + 2, 0
    for x, at in zip(ahead, np.nonzero(product), strict=True):
        code = code * base + x[at] + reach
    shown = np.flatnonzero(np.bincount(code, minlength=1))
    places = np.unravel_index(shown, (base,) * product.ndim)
    every = [tuple(int(x) - reach for x in o) for o in zip(*places, strict=True)]
    return [o for o in every if max(o) <= reach]


def _coloured(line: np.ndarray, at: np.ndarray) -> np.ndarray:
    return np.where(at >= 0, line[at], -1)


def nearest(c: Couplings) -> Couplings:
    """Couplings to next neighbours that act alike on smooth fields: farther nodes are replaced by the parabola
    through the next ones, which are those of orders 4 and 6 made order 2."""
    if c.reach <= 1:
        return c
    out = {o: np.zeros(c.shape, c.centre.dtype) for o in offsets(len(c.shape))}
    for o, x in c.elements.items():
        shares = [_parabola(s) for s in o]
        for near in out:
            share = np.prod([w[s] for w, s in zip(shares, near, strict=True)])
            if share:
                out[near] = out[near] + share * x
    return inside(c._replace(elements=out))


def _parabola(s: int) -> dict:
    """Of the values at -1, 0 and 1, those that a parabola through them has at s."""
    return {-1: s * (s - 1) / 2, 0: 1 - s * s, 1: s * (s + 1) / 2}


def inside(c: Couplings) -> Couplings:
    """With zeros where offsets lead outside."""
    ones = np.ones(c.shape)
    return c._replace(elements={o: x * moved(ones, o, c.rings) for o, x in c.elements.items()})


def filled(c: Couplings) -> Couplings:
    """With elements on the diagonal of rows that have none, as outside of a mask, that are like those of others."""
    held = np.any(np.stack([x != 0 for x in c.elements.values()]), axis=0)
    if held.all():
        return c
    known = c.centre[held]
    turn = np.mean(known / np.maximum(np.abs(known), 1e-300)) if known.size else 0
    usual = np.median(np.abs(known)) * turn / abs(turn) if turn else 1.0
    middle = (0,) * len(c.shape)
    return c._replace(elements=c.elements | {middle: np.where(held, c.centre, usual or 1.0)})


def islands(c: Couplings) -> tuple[int, int]:
    """(parts with constants in their kernel, all parts) of unknowns that hang together."""
    from scipy import sparse
    from scipy.sparse import csgraph

    values, rows, columns = c.triples()
    n, alone = size(c.shape), c.alone.ravel()
    graph = sparse.coo_array((np.ones(len(values)), (rows, columns)), shape=(n, n))
    part = csgraph.connected_components(graph, directed=False)[1]
    held = (np.abs(c.sums) > 1e-13 * (np.abs(c.centre) + c.others)).ravel()
    inner = np.unique(part[~alone])
    return len(np.setdiff1d(inner, part[held & ~alone])), len(inner)
