"""Values that are stored once, where the compiler would make them again for each place that reads them.

A stencil of a stencil, as a Runge–Kutta step by ``roll`` or a few steps written out, is fused into one kernel that
makes the inner one anew at every point of the outer one: after k levels of five points, up to 5ᵏ times. Here each
stencil that is read at several places is stored. quirk: STENCILS_REPEATED

A sum of each row that is repeated along the row, as in ``x / x.sum(1, keepdims=True)``, is written out with all its
repetitions where a division, comparison or choice reads it. Here the sums are stored. quirk: REPEATS_STORED
"""

from __future__ import annotations

import re
from collections.abc import Collection

from .._backend import quirks
from .._core.program import Eqn, Program, Var

Readers = dict[Var, list[Eqn]]

# Operations whose result holds elements of an argument at other places.
SHIFTS = frozenset("slice pad concatenate rev dynamic_slice".split())
_PASS = frozenset("reshape transpose broadcast_in_dim convert select clamp".split())
_SMALLEST = 1024  # elements; to store fewer costs more than to make them again
_SEVERAL = 1.5  # places at which an element is read, on average
# Operations that give few numbers of many; and those that are not fused with what is repeated for them.
_REDUCTIONS = re.compile("reduce_|dot|arg(max|min)")
_APART = frozenset("div select eq ne lt le gt ge".split())
_MAY_REPEAT = 2  # times that making an element takes no longer than to store and to load it


def stored(p: Program, elementwise: Collection[str]) -> set[Var]:
    """The variables of a program that are worth storing.

    Args:
      p: a program.
      elementwise: names of the operations of which element i depends on elements i alone.
    """
    if sum(e.op.name in SHIFTS for e in p.eqns) < 4:  # two stencils at least
        return set()
    readers = _readers(p)
    places = _places(p, readers, elementwise)
    of_stencils: set[Var] = set()  # values that are made of several elements of one array
    found: set[Var] = set()
    for e in p.eqns:
        shifts = e.op.name in SHIFTS
        if not (shifts or e.op.name in elementwise or e.op.name in _PASS):
            continue
        v, given = e.outputs[0], [a for a in e.inputs if type(a) is Var]
        if not any(a in of_stencils or (shifts and _reads(a, readers) >= _SEVERAL) for a in given):
            continue
        if _is_kept(e, readers):
            continue
        apart = len(readers.get(v, ())) > 1 and not shifts
        if apart and v.type.size >= _SMALLEST and places[v] > _MAY_REPEAT:
            found.add(v)
        else:
            of_stencils.add(v)
    return found


def repeated(p: Program, elementwise: Collection[str]) -> set[Var]:
    """The variables that come from reductions, and of which each element is read at many places by what is apart."""
    here = quirks.REPEATS_STORED.is_here()
    if not here or not any(_REDUCTIONS.match(e.op.name) for e in p.eqns):
        return set()
    readers = _readers(p)
    reduced: set[Var] = set()
    found: set[Var] = set()
    for e in p.eqns:
        given = [a for a in e.inputs if type(a) is Var]
        if _REDUCTIONS.match(e.op.name):
            reduced.update(e.outputs)
        elif not any(a in reduced for a in given):
            continue
        elif e.op.name == "broadcast_in_dim" and _is_larger(e.outputs[0], given[0]):
            if any(r.op.name in _APART for r in readers.get(e.outputs[0], ())):
                found.add(given[0])
        elif e.op.name in elementwise or e.op.name in _PASS:
            reduced.add(e.outputs[0])
    return found


def _is_larger(v: Var, given: Var) -> bool:
    return v.type.size > max(given.type.size, _SMALLEST)


def _is_kept(e: Eqn, readers: Readers) -> bool:
    """Padded arrays that several operations read, the compiler stores by itself."""
    return e.op.name == "pad" and len(readers.get(e.outputs[0], ())) > 1


def _readers(p: Program) -> Readers:
    """The equations that read each variable."""
    readers: Readers = {}
    for e in p.eqns:
        for a in dict.fromkeys(a for a in e.inputs if type(a) is Var):
            readers.setdefault(a, []).append(e)
    return readers


def _reads(v: Var, readers: Readers) -> float:
    """At how many places an element of a value is read by the next operations."""
    at_home = any(r.op.name not in SHIFTS for r in readers[v])
    return at_home + sum(_part(v, r) for r in readers[v] if r.op.name in SHIFTS)


def _part(v: Var, r: Eqn) -> float:
    """Which part of a value an operation reads."""
    return min(1.0, r.outputs[0].type.size / max(v.type.size, 1))


def _places(p: Program, readers: Readers, elementwise: Collection[str]) -> dict[Var, float]:
    """How often an element of each value would be made, were all that follows it one kernel; 100 stands for more."""
    places: dict[Var, float] = {}
    for e in reversed(p.eqns):
        for v in e.outputs:
            here, shifted = 0.0, 0.0
            for r in readers.get(v, ()):
                if _is_kept(r, readers):
                    shifted += 1.0
                elif r.op.name in SHIFTS:
                    shifted += _part(v, r) * places[r.outputs[0]]
                elif r.op.name in elementwise or r.op.name in _PASS:
                    here = max(here, places[r.outputs[0]])
                else:
                    here = max(here, 1.0)
            places[v] = min(max(here + shifted, 1.0), 100.0)
    return places
