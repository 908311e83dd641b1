"""The loop that all methods share."""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._control.cond import cond
from .._control.while_loop import while_loop
from .._core.errors import bad_argument
from .._iterate import with_row
from ._lanes import while_lanes
from ._packed import loop
from ._result import RUNNING, Status

ROWS = ("x", "f", "g", "nfev")


def empty_rows(who: str, history, x, maxiter: int) -> dict:
    """The rows of history, by name, before the first iteration."""
    names = ROWS if history is True else (history,) if isinstance(history, str) else tuple(history)
    if not set(names) <= set(ROWS):
        raise bad_argument(who, "history", history, f"a bool, or some of the names {ROWS}")
    shape, kind = {"x": x.shape, "g": x.shape}, {"nfev": np.dtype(np.int32)}
    return {k: xnp.zeros((maxiter + 1, *shape.get(k, ())), kind.get(k, x.dtype)) for k in names}


def iterations_from(
    who, method, problem, state, tol, maxiter, progress=False, *, rows=None, before=0, begun=None,
    told=lambda name, v: v,
):  # fmt: skip
    """The last state of a method from this one on.

    Args:
      rows: of history, kept so far, or None; ``before``: how many iterations there were.
      begun: the row of this state, where it is known better than by what the state holds.
      told: what history keeps of a value by its name.
    """

    def kept(rows, s, row=None):
        if rows is None:
            return s
        at = xnp.maximum(s["nit"], 0) + before
        row = row or {k: told(k, s[k]) for k in rows}
        return s | {"history": with_row(rows, at, {k: row[k] for k in rows})}

    def step(s):
        new = method.step(problem, {k: v for k, v in s.items() if k != "history"}, tol)
        return kept(s.get("history"), new)

    state = kept(rows, state, begun)

    def going(s):
        return (s["status"] == RUNNING) & (s["nit"] + before < maxiter)

    if progress:

        def shown(s):
            return loop(going, step, s, lambda *args: while_loop(*args, progress=progress))

        # a round that only judges shows nothing
        state = cond(state["status"] == RUNNING, shown, lambda s: s, state)
    else:
        state = loop(going, step, state, lambda *args: while_lanes(who, *args))
    limit = xnp.where(state["status"] == RUNNING, np.int32(Status.max_steps), state["status"])
    return state | {"status": limit}
