"""What all iterative solvers share: one loop, one list of outcomes, one form of result."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from . import numpy as xnp
from ._control.while_loop import while_loop
from ._core.array import Array
from ._core.exceptions import SingularMatrixError, SolverError
from ._core.struct import struct


class Status(enum.Enum):
    """How a solver ended. Solutions carry the number; here are the words.

    >>> Status.of(2)
    <Status.singular: 2>
    >>> Status.singular.message
    'the matrix is singular: a pivot vanishes'
    """

    success = 0
    max_steps = 1
    singular = 2
    not_definite = 3
    not_finite = 4
    breakdown = 5
    stagnation = 6
    ill_conditioned = 7

    @property
    def message(self) -> str:
        """What it means."""
        return _MESSAGES[self]

    @classmethod
    def of(cls, code) -> Status:
        """The status of a number."""
        return cls(int(code))


_MESSAGES = {
    Status.success: "what was asked for was reached",
    Status.max_steps: "the limit of steps was reached first; allow more, or precondition",
    Status.singular: "the matrix is singular: a pivot vanishes",
    Status.not_definite: "the matrix is not positive definite",
    Status.not_finite: "infinities or NaN turned up",
    Status.breakdown: "the method broke down: a number that it divides by vanished",
    Status.stagnation: "the error stopped to fall before the accuracy asked for was reached",
    Status.ill_conditioned: "the matrix is singular up to rounding: no digit can be trusted",
}


@struct
class Solution:
    """A result, and the truth about it.

    Attributes:
      value: what was sought.
      status: number of a ``Status``, int32; 0 is success. Under ``vmap`` one for each lane.
      stats: what the solver measured, by name.
    """

    value: Any
    status: Any
    stats: Any

    @property
    def ok(self):
        """Whether the solver reached what was asked of it: a boolean array."""
        return xnp.asarray(self.status) == 0

    @property
    def message(self) -> str:
        """The status in words; for a batch, the worst one."""
        return Status.of(np.asarray(self.status).max(initial=0)).message

    def check(self, who: str = "Solution.check") -> Solution:
        """Itself, or an error with the status in words. Traced solutions pass.

        >>> Solution(1.0, np.int32(1), {}).check()  # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
        SolverError: ...
        """
        if type(self.status) in (Array, np.int32, np.ndarray) and np.any(np.asarray(self.status)):
            raise self.error(who)
        return self

    def error(self, who: str) -> Exception:
        """The exception that says what the status says."""
        status = Status.of(np.asarray(self.status).max())
        kind = SingularMatrixError if status in _ABOUT_MATRIX else SolverError
        told = ", ".join(f"{k} {_short(v)}" for k, v in _concrete(self.stats).items())
        return kind(f"xcore.{who}: {status.message}{f' ({told})' if told else ''}.")


_ABOUT_MATRIX = (Status.singular, Status.not_definite, Status.ill_conditioned)


def _concrete(stats) -> dict:
    fields = stats if isinstance(stats, dict) else getattr(stats, "__dict__", {})
    return {k: np.asarray(v) for k, v in fields.items() if type(v) is Array}


def _short(x: np.ndarray) -> str:
    return f"{x:.3g}" if x.ndim == 0 else f"up to {x.max(initial=0):.3g}"


def code(status: Status):
    """The number of a status, as solvers keep it in their state."""
    return np.int32(status.value)


def first_that_holds(*rules):
    """The number of the first status whose condition holds, of (condition, status); else ``max_steps``.

    >>> int(first_that_holds((False, Status.singular), (True, Status.success)))
    0
    """
    status = code(Status.max_steps)
    for holds, which in reversed(rules):
        status = xnp.where(holds, code(which), status)
    return status.astype(np.int32)


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
