"""The one loop of iterative solvers."""

from __future__ import annotations

import numpy as np

from . import numpy as xnp
from ._control.while_loop import while_loop


def iterate(solver, state, max_steps: int):
    """Steps of a solver until it is done. Returns its last state and the number of steps.

    Args:
      solver: has ``step(state) -> state`` and ``done(state) -> boolean array``; where it holds one
        boolean for each of several problems, the loop goes on until all are done. Keeping the
        state of finished ones is the step's business.
      state: tree of arrays to start from.
      max_steps: so many steps at most.

    >>> class Halve:
    ...     def step(self, x): return x / 2
    ...     def done(self, x): return x < 1
    >>> iterate(Halve(), xnp.float32(12.0), 100)
    (Array(0.75, dtype=float32), Array(4, dtype=int32))
    """

    def going(carry):
        state, steps = carry
        return (steps < max_steps) & ~xnp.all(solver.done(state))

    def body(carry):
        state, steps = carry
        return solver.step(state), steps + np.int32(1)

    return while_loop(going, body, (state, xnp.zeros((), np.int32)))
