"""Rows of the ledger, and how they are run: one problem, compiled, in batches, under vmap."""

import dataclasses
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import xcore as xc
from tests.accuracy.matrices import DTYPES, FAMILIES
from xcore._core import tree

WAYS = ("one", "jit", "batch", "vmap")
SIZES = (1, 7, 33, 100, 300)
SMALL = (7,)  # of the compiled ways: programs differ by size in nothing but the numbers
DENSE = tuple(FAMILIES)


@dataclasses.dataclass(frozen=True)
class Ratio:
    """An error over what rounding alone explains: of a good method a few units, at most some tens."""

    what: str
    value: Any


@dataclasses.dataclass(frozen=True)
class Claim:
    """What is said of a result, and what is so: ``true <= bound`` wherever ``claimed``.

    Where the claim is a number that was told, ``true`` has a floor (the dtype's rounding) below which
    nobody can tell: pessimism is the logarithm of bound / max(true, floor).
    """

    what: str
    true: Any
    bound: Any
    claimed: Any = True
    floor: float | None = None  # None: a yes, without a number


@dataclasses.dataclass(frozen=True)
class Routine:
    """A row.

    Attributes:
      name, part: what is measured, and where it stands.
      problem: (family, n, dtype) -> arrays, or None where there is no such problem.
      call: of these arrays; what comes back is a tree of arrays.
      judge: (arrays, result as NumPy arrays) -> ratios and claims.
    """

    name: str
    part: str
    problem: Callable
    call: Callable
    judge: Callable
    families: tuple = DENSE
    dtypes: tuple = tuple(DTYPES)
    sizes: tuple = SIZES
    ways: tuple = WAYS
    compiled: tuple = SMALL
    quick: bool = False  # part of `make test`


@dataclasses.dataclass
class Entry:
    """One line of the records: a ratio, a claim (arrays of them), or a refusal in words."""

    routine: str
    part: str
    dtype: str
    family: str
    n: int
    way: str
    kind: str
    what: str
    ratio: float = 0.0
    claims: int = 0
    false: int = 0
    shy: int = 0  # not claimed, but so
    excess: float = 0.0  # of the worst false one: truth over claim
    pessimism: tuple = ()
    words: str = ""

    def command(self) -> str:
        return f"python -m tests.accuracy --routine {self.routine} --dtype {self.dtype} --family {self.family} --size {self.n} --way {self.way}"


def run(routine: Routine, dtype: str, families=None, sizes=None, ways=None, quick=False) -> list:
    """All entries of a routine in one dtype."""
    entries: list = []
    chosen = [f for f in routine.families if not families or f in families]
    ways = ways or WAYS
    for n in routine.sizes:
        if (sizes and n not in sizes) or (quick and not sizes and n not in routine.sizes[:2]):
            continue
        problems = {f: routine.problem(f, n, DTYPES[dtype]) for f in chosen}
        problems = {f: p for f, p in problems.items() if p is not None}
        alive = _singly(routine, dtype, n, problems, ways, entries)
        if n not in routine.compiled or quick:
            continue
        for way in ("batch", "vmap"):
            if way in routine.ways and way in ways and alive:
                _together(routine, dtype, n, way, {f: problems[f] for f in alive}, entries)
    return entries


def _singly(routine, dtype, n, problems, ways, entries) -> list:
    """One problem at a time; the families that were not refused."""
    alive = []
    compiled = xc.jit(routine.call)
    for family, arrays in problems.items():
        where = (routine.name, routine.part, dtype, family, n)
        found = _called(routine.call, arrays)
        if isinstance(found, Exception):
            entries.append(_refusal(*where, "one", found))
            continue
        alive.append(family)
        if "one" in ways:
            entries += _judged(routine, arrays, found, *where, "one")
        if "jit" in routine.ways and n in routine.compiled and "jit" in ways:
            found = _called(compiled, arrays)
            bad = isinstance(found, Exception)
            entries += [_refusal(*where, "jit", found)] if bad else _judged(routine, arrays, found, *where, "jit")  # fmt: skip
    return alive


def _together(routine, dtype, n, way, problems, entries) -> None:
    stacked = tuple(np.stack(p) for p in zip(*problems.values()))
    found = _called(routine.call if way == "batch" else xc.jit(xc.vmap(routine.call)), stacked)
    for lane, (family, arrays) in enumerate(problems.items()):
        where = (routine.name, routine.part, dtype, family, n, way)
        if isinstance(found, Exception):
            entries.append(_refusal(*where, found))
        else:
            own = tree.map(lambda x, lane=lane: x[lane], found)
            entries.extend(_judged(routine, arrays, own, *where))


def _called(call, arrays):
    try:
        return tree.map(np.asarray, call(*map(xc.numpy.asarray, arrays)))
    except Exception as error:  # what a user sees is an entry, of whatever class it is
        return error


def _refusal(name, part, dtype, family, n, way, error) -> Entry:
    words = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return Entry(name, part, dtype, family, n, way, "refused", type(error).__name__, words=words)


def _judged(routine, arrays, found, *where) -> list:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [_entry(v, *where) for v in routine.judge(arrays, found)]


def _entry(verdict, *where) -> Entry:
    if isinstance(verdict, Ratio):
        value = float(verdict.value)
        return Entry(*where, "ratio", verdict.what, ratio=value if value == value else np.inf)
    return _claims(verdict, *where)


def _claims(claim: Claim, *where) -> Entry:
    true, bound, claimed = np.broadcast_arrays(claim.true, claim.bound, claim.claimed)
    true, bound = (np.asarray(x, np.longdouble).ravel() for x in (true, bound))
    claimed = claimed.ravel().astype(bool)
    holds = true <= bound * (1 + 1e-9)
    distance = ()
    if claim.floor is not None:
        told = np.log10(bound / np.maximum(true, claim.floor))[claimed & holds & (bound > 0)]
        distance = tuple(float(x) for x in np.maximum(told, 0) if np.isfinite(x))
    excess, words = _worst(true, bound, claimed & ~holds)
    return Entry(
        *where, "claim", claim.what, claims=int(claimed.sum()), false=int((claimed & ~holds).sum()),
        shy=int((~claimed & holds).sum()), excess=excess, pessimism=distance, words=words,
    )  # fmt: skip


def _worst(true, bound, bad) -> tuple:
    """(truth over claim of the worst false one, in words)."""
    if not bad.any():
        return 0.0, ""
    excess = np.where(bad, true / np.maximum(bound, 1e-4000), 0)
    worst = int(np.argmax(np.nan_to_num(excess, nan=np.inf)))
    return float(excess[worst]), f"claimed {float(bound[worst]):.2g}, is {float(true[worst]):.2g}"
