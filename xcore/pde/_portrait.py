"""What the elements of an operator tell of it, and which way to solve it they suggest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._blackbox import in_lines
from ._couplings import Couplings
from ._grid import size

FACTORS_UP_TO = {
    1: 2**20,
    2: 140_000,
    3: 15_000,
}  # unknowns, by axes: for less, sparse factors take a second, and no cycle needs to be compiled
FACTORS_AT_MOST = {1: 2**20, 2: 1_100_000, 3: 60_000}  # as long as they are the last resort
_COARSEST = {1: 2**20, 2: 2**14, 3: 2**12}
_ROUGH = 0.12  # the part of the diagonal that waves take, up to which a grid can carry them
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

    @property
    def definite(self) -> bool:
        """Whether nothing is amplified by more than the grid explains."""
        return self.dominant and bool(self.turn)

    @property
    def by_rows(self) -> bool:
        """Whether classical multigrid, which looks at each row, is made for it."""
        return self.real and self.definite and not self.waves and self.reach <= 1

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
    if not symmetric and real and np.ptp(volumes) > 1e-12 * volumes.max(initial=0):
        weighted = symmetric = _symmetric(c.map(lambda x: volumes * x), digits)
    size_of = np.abs(d) + c.others
    sums, whole = c.sums, np.where(size_of > 0, size_of, 1)
    toward = (np.conj(turn) * sums).real / whole
    waves = max(0.0, -2 * float(toward.min(initial=0)))
    return Portrait(
        symmetric, weighted, real, turn,
        bool(turn) and bool(np.all((np.conj(turn) * d).real >= c.others - 4 * digits * size_of)),
        _keeps_constants(c, 8 * digits * whole), waves if waves > 64 * digits else 0.0, c.reach,
        any(in_lines(c)),
    )  # fmt: skip


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
    small = n <= FACTORS_UP_TO[ndim]
    if method == "sparse" or (
        method == "auto" and (small or not p.turn or not near) and n <= FACTORS_AT_MOST[ndim]
    ):
        why = "it was asked for" if method == "sparse" else (
            f"{n} unknowns are few" if small else
            "its diagonal changes sign" if not p.turn else "next neighbours tell little of it")  # fmt: skip
        return Way("refine", 0.0, n, "sparse", f"{p.words()}; {why}")
    if p.waves:
        return _for_waves(p, shape, krylov)
    name = "conjugate gradients" if krylov == "cg" else "minimal residuals"
    # planes are tied strongly there: points do not smooth, and lines take long
    planes = ndim == 3 and p.lines and p.by_rows
    if method == "algebraic" or (method == "auto" and planes):
        what = f"{name} with classical algebraic multigrid"
        return Way(krylov, 0.0, 0, "algebraic", f"{p.words()}: {what}")
    why = f"{p.words()}: {name} with a multigrid cycle made of its elements"
    return Way(krylov, 0.0, _COARSEST[ndim], krylov, why)


def instead(p: Portrait, shape: tuple) -> tuple:
    """(method, words) to try where a cycle of next neighbours is of little help, the best first."""
    n, ndim = size(shape), len(shape)
    factors = (("sparse", "sparse factors were"),) * (n <= FACTORS_AT_MOST[ndim])
    rows = ("algebraic", "classical algebraic multigrid was")
    by_rows = (rows,) * p.by_rows
    quick = (
        n <= 2 * FACTORS_UP_TO[ndim] or not p.symmetric
    )  # flows take algebraic multigrid more steps
    return factors + by_rows if quick else by_rows + factors


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
