"""Which programs block on threads of the pool that they run in. quirk: BATCHES_WAIT"""

from __future__ import annotations

import numpy as np

from .._backend import batches
from .pprint import subprograms
from .program import Eqn, Program

_ROUTINES = {"cholesky": "potrf", "triangular_solve": "trsm", "eigh": "syevd"}


def waiting(p: Program, known: dict[Program, int] | None = None) -> int:
    """How many calls of a program may wait for threads, each as often as it is called; 2 stands for more.

    A Python function that it calls may run such a program itself, so it stands for more too.
    """
    known = {} if known is None else known
    if p not in known:
        own = sum(2 if e.op.name == "callback" else _waits(e) for e in p.eqns)
        below = sum(waiting(q, known) for e in p.eqns for q in subprograms(e.params))
        known[p] = min(own + below, 2)
    return known[p]


def waits_alone(p: Program) -> bool:
    """Whether one call of a program waits for threads: two such programs at once may never end."""
    return not p.acts and waiting(p) == 1


def _waits(e: Eqn) -> bool:
    if e.op.name not in _ROUTINES:
        return False
    t = e.inputs[-1].type
    return batches.piece(_ROUTINES[e.op.name], np.dtype(t.dtype), t.shape) is not None
