"""How methods of optimize run: iterations of a method, in rounds."""

from __future__ import annotations

import functools

import numpy as np

from .. import numpy as xnp
from .._control import cond, eval_shape, jit, while_loop
from .._control.per_element import while_per_element
from .._core import errors
from .._iterate import Checkpoints, Run, Steps, iterate, with_row
from ._packed import loop as packed
from ._result import RUNNING, Status

ROWS = ("x", "f", "g", "nfev")


def empty_rows(who: str, history, x, maxiter: int) -> dict:
    """The rows of history, by name, before the first iteration."""
    names = ROWS if history is True else (history,) if isinstance(history, str) else tuple(history)
    if not set(names) <= set(ROWS):
        raise errors.bad_argument(who, "history", history, f"a bool, or some of the names {ROWS}")
    shape, kind = {"x": x.shape, "g": x.shape}, {"nfev": np.dtype(np.int32)}
    return {k: xnp.zeros((maxiter + 1, *shape.get(k, ())), kind.get(k, x.dtype)) for k in names}


def iterations(going, step, state, limit: int, apart: str = ""):
    """The last state of ``step`` while ``going(state)``, at most ``limit`` times.

    Its scalars travel as two vectors. ``apart``: the public function's name, where under vmap batch
    elements that have stopped shall cost nothing.
    """
    run = functools.partial(while_per_element, apart) if apart else None
    return iterate(
        Steps(step, lambda s: ~going(s)), state, limit, loop=lambda *args: packed(*args, run)
    ).state


def iterations_from(
    who, method, problem, state, tol, maxiter, progress=False, *, on=True, rows=None, before=0, begun=None,
    shown=lambda name, v: v, checkpoint: Checkpoints | None = None,
):  # fmt: skip
    """The last state of a method from this one on.

    Args:
      on: whether the round is asked for. Under vmap there are rounds for all batch elements until the last one
        ended; those that ended before are not to go through all their iterations again.
      rows: of history, kept so far, or None; ``before``: how many iterations there were.
      begun: the row of this state, where it is known better than by what the state holds.
      shown: what history keeps of a value by its name.
      checkpoint: where states are kept on disk.
    """

    def row(s):
        return {k: shown(k, s[k]) for k in rows}  # pyright: ignore[reportOptionalIterable]

    steps = state["nit"] + before
    state = state | {"status": xnp.where(on, state["status"], np.int32(Status.max_steps))}
    if rows is not None:
        first = row(state) if begun is None else {k: begun[k] for k in rows}
        rows = with_row(rows, xnp.maximum(steps, before), first)

    def step(s):
        new = method.step(problem, s, tol)
        return new | {"way": xnp.maximum(s["way"], xnp.abs(new["x"]))} if "way" in s else new

    solver = Steps(step, lambda s: s["status"] != RUNNING)

    def go(state, rows, run, progress=False):
        return iterate(
            solver, state, maxiter, row=None if rows is None else row, rows=rows, steps=steps,
            loop=lambda *args: packed(*args, run), progress=progress, checkpoint=checkpoint,
        )  # fmt: skip

    if progress and checkpoint is None:
        bar = functools.partial(while_loop, progress=progress)
        # a round that only judges shows nothing
        state, _, rows = cond(
            state["status"] == RUNNING, lambda s, r: go(s, r, bar), lambda s, r: Run(s, steps, r),
            state, rows,
        )  # fmt: skip
    else:
        state, _, rows = go(state, rows, functools.partial(while_per_element, who), progress)
    limit = xnp.where(state["status"] == RUNNING, np.int32(Status.max_steps), state["status"])
    return state | {"status": limit} | ({} if rows is None else {"history": rows})


ROUNDS = 1000  # never met: each kind of round has an end of its own


def in_rounds(begin, run, end, going, start, checkpoint: Checkpoints | None = None):
    """The last state of rounds, while ``going(state)``.

    A round is ``end(state, begun, ended)`` with ``begun = begin(state)`` and ``ended = run(state, begun,
    checkpoint)``: the first and the last are programs of their own where states are kept on disk.
    """

    def turn(s, begin=begin, end=end, checkpoint=None):
        begun = begin(s)
        return end(s, begun, run(s, begun, checkpoint))

    solver = Steps(turn, lambda s: ~going(s))
    if checkpoint is None:
        loop = functools.partial(while_loop, checkpoints=0)
        return iterate(solver, start, ROUNDS, loop=loop).state
    eval_shape(begin, start)  # tells what is found at a trace, though there may be no round left
    parts = jit(begin), jit(end)
    step = lambda c: (  # noqa: E731
        turn(c[0], *parts, checkpoint.inside(f"round {int(c[1])}")), c[1] + np.int32(1)
    )  # fmt: skip
    carry = (start, xnp.zeros((), np.int32))
    return checkpoint.each(lambda c: going(c[0]), step, carry, lambda c: c[1])[0]
