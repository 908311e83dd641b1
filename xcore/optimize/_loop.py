"""The loop that all methods share."""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._control.cond import cond
from .._control.while_loop import while_loop
from .._core.types import typeof
from ._lanes import while_lanes
from ._packed import loop
from ._result import RUNNING, Status


def kept_names(history) -> tuple:
    """What is kept of each iteration."""
    return ("x", "f", "g", "nfev") if history is True else tuple(history or ())


def empty_rows(history, x, maxiter: int) -> dict:
    """Rows of history before the first iteration."""
    shapes = {"x": x.shape, "g": x.shape, "nfev": ()}
    return {
        k: xnp.zeros((maxiter + 1, *shapes.get(k, ())), np.int32 if k == "nfev" else x.dtype)
        for k in kept_names(history)
    }


def iterations(who: str, method, problem, x0, tol, maxiter: int, history, progress=False):
    """The last state of a method, with the rows of history."""
    return iterations_from(
        who, method, problem, method.init(problem, x0, tol), tol, maxiter, history, progress
    )


def iterations_from(
    who, method, problem, state, tol, maxiter, history, progress=False, *, rows=None, before=0,
    told=lambda name, v: v,
):  # fmt: skip
    """The last state of a method from this one on.

    Args:
      rows: of history, kept so far; ``before``: how many iterations there were.
      told: what history keeps of a value by its name.
    """
    kept = kept_names(history)
    if history:
        if rows is None:
            rows = {
                k: xnp.broadcast_to(state[k], (maxiter + 1, *typeof(state[k]).shape)) for k in kept
            }
        state = state | {"history": rows}

    def step(s):
        rows = s.get("history")
        new = method.step(problem, {k: v for k, v in s.items() if k != "history"}, tol)
        if history:
            later = xnp.arange(len(next(iter(rows.values())))) >= new["nit"] + before
            put = lambda r, v: xnp.where(later.reshape(-1, *[1] * typeof(v).ndim), v, r)  # noqa: E731
            new = new | {"history": {k: put(rows[k], told(k, new[k])) for k in kept}}
        return new

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
