"""What the elements of an operator tell of it, and which way to solve it they suggest."""

from __future__ import annotations

import functools
import itertools
from typing import NamedTuple

import numpy as np

from ._blackbox import in_lines
from ._couplings import Couplings, moved
from ._grid import size

FACTORS_UP_TO = {
    1: 2**20,
    2: 300_000,
    3: 30_000,
}  # unknowns, by axes: for less, sparse factors take two seconds, and no cycle needs to be compiled
FACTORS_AT_MOST = {1: 2**20, 2: 1_100_000, 3: 60_000}  # as long as they are the last resort
INCOMPLETE_AT_MOST = {1: 0, 2: 0, 3: 300_000}  # of which incomplete factors are tried
_COARSEST = {1: 2**20, 2: 2**16, 3: 2**12}
_ROUGH = 0.12  # the part of the diagonal that waves take, up to which a grid can carry them
_SLANTED = 0.9  # of the product of the strengths along two axes, the square of what is across both
_SOME = 1e-2  # the part of nodes where that is so
_ROUGHEST = 0.3  # likewise where finer grids are too large for factors; it takes more steps


class Portrait(NamedTuple):
    """What was read off.

    Attributes:
      symmetric: times the volumes; ``weighted``: only times these.
      real: whether all elements are.
      turn: the number of size 1 that makes the diagonal positive; 0 if there is none.
      dominant: whether no row's elements off the diagonal outweigh the one on it: with ``symmetric`` and a turn, the
        operator is (semi)definite.
      singular: whether constants are in the kernel, on those unknowns that have neighbours.
      waves: the largest part by which sums of rows are on the other side of 0 than the diagonal, as in Δ + k².
      reach: how far rows look.
      lines: whether somewhere next to all couplings of nodes are along one axis.
      positive: whether what it is a polynomial of tells that a symmetric operator is definite.
      slanted: whether somewhere they are along one direction that is none of the axes', which neither points nor lines
        along axes smooth.
    """

    symmetric: bool
    weighted: bool
    real: bool
    turn: complex
    dominant: bool
    singular: bool
    waves: float
    reach: int
    lines: bool = False
    slanted: bool = False
    positive: bool = False

    @property
    def definite(self) -> bool:
        """Whether nothing is amplified by more than the grid explains."""
        return self.positive or (self.dominant and bool(self.turn))

    @property
    def one_sided(self) -> bool:
        """Whether real parts of eigenvalues are on one side of 0."""
        return self.real and self.dominant and bool(self.turn)

    @property
    def by_rows(self) -> bool:
        """Whether classical multigrid, which looks at each row, is made for it."""
        return self.one_sided and not self.waves and self.reach <= 1

    def words(self) -> str:
        """What it is, in words."""
        parts = [
            "real" if self.real else "complex",
            "symmetric" + " when weighted by volumes" * self.weighted
            if self.symmetric
            else "not symmetric",
            "perhaps indefinite" if self.waves else "diagonally dominant" * self.dominant,
            "with constants in its kernel" * self.singular,
            f"{2 * self.reach + 1} points wide" * (self.reach > 1),
            "with slanted lines of strong couplings" * self.slanted,
        ]
        return ", ".join(p for p in parts if p)


def portrait(c: Couplings, volumes: np.ndarray, digits: float) -> Portrait:
    """What couplings tell, which are right to so many digits (a relative rounding)."""
    d = c.centre
    real = not any(
        np.iscomplexobj(x) and np.abs(x.imag).max(initial=0) > 0 for x in c.elements.values()
    )
    turn = _turn(d)
    weighted, symmetric = False, real and _symmetric(c, digits)
    if not symmetric and real and np.ptp(volumes) > 0:  # rounding of nodes is enough
        weighted = symmetric = _symmetric(c.map(lambda x: volumes * x), digits)
    size_of = np.abs(d) + c.others
    sums, whole = c.sums, np.where(size_of > 0, size_of, 1)
    toward = (np.conj(turn) * sums).real / whole
    if symmetric or c.reach > 1:  # what neighbours on a face or outside would add is no wave
        toward = np.where(_surrounded(c), toward, 0)
    waves = max(0.0, -2 * float(toward.min(initial=0)))
    return Portrait(
        symmetric, weighted, real, turn,
        bool(turn) and bool(np.all((np.conj(turn) * d).real >= c.others - 4 * digits * size_of)),
        _keeps_constants(c, 8 * digits * whole), waves if waves > 64 * digits else 0.0, c.reach,
        any(in_lines(c)), _is_slanted(c, turn),
    )  # fmt: skip


def _surrounded(c: Couplings) -> np.ndarray:
    """Where all nodes within reach are unknowns; everywhere, if there is no such place."""
    held = (~c.alone).astype(np.float64)
    for axis in range(held.ndim):
        ways = [
            tuple(s * (i == axis) for i in range(held.ndim)) for s in range(-c.reach, c.reach + 1)
        ]
        held = functools.reduce(np.minimum, [moved(held, o, c.rings) for o in ways])
    return held > 0 if held.any() else np.ones(c.shape, bool)


def _is_slanted(c: Couplings, turn: complex) -> bool:
    """By the matrix a of div(a grad u) that has the second moments of the elements of a row."""
    n, off = len(c.shape), [(o, (np.conj(turn) * x).real) for o, x in c.elements.items() if any(o)]
    moment = lambda i, j: sum((o[i] * o[j] * x for o, x in off if o[i] * o[j]), np.zeros(c.shape))  # noqa: E731
    straight = [moment(i, i) for i in range(n)]
    for i, j in itertools.combinations(range(n), 2):
        if np.mean(moment(i, j) ** 2 > _SLANTED * np.abs(straight[i] * straight[j])) > _SOME:
            return True
    return False


def _keeps_constants(c: Couplings, least: np.ndarray) -> bool:
    """Whether rows of unknowns that have neighbours sum to 0."""
    alone = c.alone
    return bool(np.all((np.abs(c.sums) <= least) | alone) and not alone.all())


def _turn(d: np.ndarray) -> complex:
    """The direction of all elements of the diagonal, where they are on one side."""
    where = d[d != 0]
    if not where.size:
        return 1.0
    mean = np.mean(where / np.abs(where))
    turn = mean / abs(mean) if abs(mean) > 0.1 else 0.0
    one_side = turn and np.all((np.conj(turn) * where).real > 0)
    turn = turn if one_side else 0.0
    return float(turn.real) if np.imag(turn) == 0 else complex(turn)


def _symmetric(c: Couplings, digits: float) -> bool:
    t = c.T
    return all(
        np.all(np.abs(x - t.elements[o]) <= 64 * digits * (np.abs(x) + np.abs(t.elements[o])) + 0.0)
        for o, x in c.elements.items()
    )


class Way(NamedTuple):
    """How to solve: the Krylov method, whether the cycle's operator is shifted, up to how many unknowns its
    coarsest operator is factorised, and why."""

    krylov: str
    shift: float
    factors: int
    method: str
    reason: str


def way(p: Portrait, shape: tuple, method: str, near: bool = True) -> Way:
    """What to do with an operator that looks like this; ``near``: whether next neighbours make a cycle for it."""
    n, ndim = size(shape), len(shape)
    definite = p.symmetric and p.dominant
    krylov = "cg" if definite else "gcr"
    krylov = method if method in ("cg", "gcr") else krylov
    small = n * p.reach**2 <= FACTORS_UP_TO[ndim]  # separators are as thick as rows reach
    hard = not p.turn or not near or p.slanted
    if method == "sparse" or (method == "auto" and (small or hard) and n <= FACTORS_AT_MOST[ndim]):
        why = "it was asked for" if method == "sparse" else (
            f"{n} unknowns are few" if small else
            "its diagonal changes sign" if not p.turn else
            "next neighbours tell little of it" if not near else "cycles would take many steps")  # fmt: skip
        return Way("refine", 0.0, n, "sparse", f"{p.words()}; {why}")
    if method == "incomplete":
        what = "minimal residuals with incomplete sparse factors"
        return Way("gcr", 0.0, n, "incomplete", f"{p.words()}: {what}")
    if p.waves:
        return _for_waves(p, shape, krylov)
    name = "conjugate gradients" if krylov == "cg" else "minimal residuals"
    # planes are tied strongly there: points do not smooth, and lines take long
    planes = ndim == 3 and p.lines and p.by_rows
    if method == "algebraic" or (method == "auto" and planes):
        what = f"{name} with classical algebraic multigrid"
        return Way(krylov, 0.0, 0, "algebraic", f"{p.words()}: {what}")
    why = f"{p.words()}: {name} with a multigrid cycle made of its elements"
    # with two grids in place of several these take half of the steps
    coarsest = max(FACTORS_UP_TO[ndim], _COARSEST[ndim]) if p.slanted else _COARSEST[ndim]
    return Way(krylov, 0.0, coarsest, krylov, why)


def instead(p: Portrait, shape: tuple, tried: str) -> tuple:
    """(method, words) to try where the way that was tried is of little help, the best first."""
    n, ndim = size(shape), len(shape)
    ways = (
        ("sparse", "sparse factors were", n <= FACTORS_AT_MOST[ndim]),
        ("algebraic", "classical algebraic multigrid was", p.by_rows),
        ("incomplete", "incomplete sparse factors were", n <= INCOMPLETE_AT_MOST[ndim]),
    )
    return tuple((name, words) for name, words, fits in ways if fits and name != tried)


def _for_waves(p: Portrait, shape: tuple, krylov: str) -> Way:
    """Grids are coarsened as long as they carry the waves; there sparse factors, or a shift by an imaginary number."""
    n, ndim, waves = size(shape), len(shape), p.waves
    fits = lambda waves: waves <= (_ROUGH if n <= FACTORS_AT_MOST[ndim] else _ROUGHEST)  # noqa: E731
    while fits(4 * waves) and n > _COARSEST[ndim]:
        n, waves = n / 2**ndim, waves * 4
    if n <= FACTORS_AT_MOST[ndim]:
        what = f"multigrid with sparse factors on the coarsest grid that carries its waves, {int(n)} nodes"
        return Way(krylov, 0.0, max(int(1.2 * n), _COARSEST[ndim]), krylov, f"{p.words()}: {what}")
    what = "multigrid for the operator with damped waves (shifted Laplace)"
    return Way("gcr", 0.5, _COARSEST[ndim], "gcr", f"{p.words()}: {what}")
