"""The solutions of ``xcore.pde``: what their statuses mean for fields and for runs in time."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core import struct
from .._solution import Solution, Status
from ._poisson import UNBALANCED, unbalanced

_ROUNDED = 1e-5  # of its size: a mean that may be nothing but rounding, in single precision
_MANY_CYCLES = 25  # a factor of a half per cycle and worse, where 0.15 is usual
# where a run could not go on at an event, by its status
_AT_EVENTS = {
    int(Status.stagnation): "events accumulate at t = {t:.6g}: events[{n}] is met again and again, sooner than "
    "rounding of times and states can tell; end the run there by terminal=, of so many zeros, or let it no longer jump",
    int(Status.not_finite): "the function of events[{n}] is NaN at t = {t:.6g}, so that a change of its sign would not "
    "be seen; write one that is finite on both sides of its zero, as u - 2.7 in place of log(u - 1.7)",
}  # fmt: skip


@struct
class FieldSolution(Solution):
    """A field, and the truth about it: a ``Solution`` whose error is the residual
    |op(u) + boundary - f| relative to |f - boundary|, computed from the value; rows of a mask are
    divided by how near the boundary is to their nodes.

    ``method`` and ``reason`` are which solver was taken and why; ``certificate.discretization_error``
    is the estimated largest error of discretisation, by comparison with the grid of every second node
    (Richardson), where that was asked for. Where grids were refined for a functional, error is the estimated
    one of it, relative to its value, and the residual stands in the certificate.

    Attributes:
      goal: what the error was compared with: ``rtol`` where it was given.
      projected: the mean that was taken away from f - boundary, as without Dirichlet and Robin faces
        there is no solution else; 0 where there is one. The residual is that without it.
      imbalance: its size relative to that of f - boundary. Above 1 % there is no solution: not ``ok``.

    >>> from xcore import pde
    >>> found = pde.solve(pde.Laplacian(pde.Grid(8)), 1.0, report=True)
    >>> bool(found.ok), found.method
    (True, 'direct')
    """

    goal: Any = None
    projected: Any = None
    imbalance: Any = None

    __repr__ = Solution.__repr__

    @property
    def message(self) -> str:
        """The status in words, what was projected, and advice where cycles alone converge slowly."""
        message = self._verdict() + self._means()
        count = int(np.asarray(self.steps).max(initial=0))
        if self.method != "multigrid" or count <= _MANY_CYCLES:
            return message
        return f'{message}; {count} cycles are many, as preconditioner of method="cg" far fewer would do'

    def failure(self, who: str = "") -> Exception:
        if self._without_solution():
            return unbalanced(who or self.who, float(np.max(self._imbalance())))
        return super().failure(who)

    def _without_solution(self) -> bool:
        bad, excess = np.asarray(self.status) != 0, self._imbalance()
        return bool(bad.any() and np.all(excess[np.broadcast_to(bad, excess.shape)] > UNBALANCED))

    def _verdict(self) -> str:
        if self._without_solution():
            return "there is no solution: the residual is that without what was projected"
        if np.any(np.asarray(self.status) == Status.singular) and self.reason:
            return f"the equations are singular, there is no one solution: {self.reason}"
        return super().message

    def _imbalance(self):
        return np.asarray(0.0 if self.imbalance is None else self.imbalance)

    def _means(self) -> str:
        share = np.max(self._imbalance())
        if not share > _ROUNDED:
            return ""
        mean = np.asarray(self.projected).ravel()
        largest = mean[np.argmax(np.abs(mean))]
        return (
            f"; without Dirichlet and Robin faces sources and flows must balance: the mean of "
            f"f - boundary, {largest:.3g} ({share:.2g} of its size), was taken away"
        )


@struct
class TrajectorySolution(Solution):
    """A run, whether it stayed among the finite numbers, and whether its linear systems were solved:
    a ``Solution`` with two times, which are infinite where that did not happen. Nothing is said of the error.

    Attributes:
      left: of the first kept state that is not finite.
      unsolved: of the first one for which a step's linear system was not solved to the dtype's
        precision to the power of 2/3, or what rounding allows.
      stable: of a Runge–Kutta method whose steps were longer than this, about the longest stable one at the start,
        and whose state grew a hundredfold: the status is ``breakdown``. Infinite else, and inside of ``jit``; None
        of ``integrate``.
      ended: of ``march``, and of ``integrate`` for stiff equations and with events: how far it came, in the end or by
        an event that is terminal; states at times beyond are NaN.
      events: a row, how often each event was seen.
        ``stats["blamed"]`` is the number of the one at which the run could not go on, or -1.
      t_events, y_events: of each event, times and states of its first zeros; NaN where there were fewer.

    >>> import xcore as xc
    >>> found = xc.pde.integrate(lambda u, t: -u, 1.0, [0.0, 1.0], report=True)
    >>> found.ok, found.value[-1].round(4)
    (Array(True, dtype=bool), Array(0.3679, dtype=float32))
    """

    left: Any = np.inf
    unsolved: Any = np.inf
    stable: Any = None
    ended: Any = None
    events: Any = None
    t_events: Any = None
    y_events: Any = None

    __repr__ = Solution.__repr__

    @property
    def message(self) -> str:
        """The status in words."""
        if np.all(np.asarray(self.ok)):
            return Status.success.message
        if said := self._of_event():
            return said
        left, unsolved = (float(np.min(np.asarray(x))) for x in (self.left, self.unsolved))
        short = {
            int(Status.stagnation): "the steps became shorter than rounding, as before a pole",
            int(Status.max_steps): "more steps than max_steps were needed",
            int(Status.incompatible): "times do not rise",
        }
        why = short.get(int(np.asarray(self.status).max()))
        if left < np.inf and why:
            return f"{why}; the states from t = {left:.6g} on are NaN"
        stable = np.inf if self.stable is None else np.min(np.asarray(self.stable))
        if stable < np.inf and left < np.inf:
            return f"the state is not finite from t = {left:.6g} on: {too_long(stable)}"
        if stable < np.inf:
            return f"the state grew a hundredfold: {too_long(stable)}"
        if left < np.inf:
            return f"the state is not finite from t = {left:.6g} on"
        if np.isinf(unsolved) and np.any(np.asarray(self.status) == Status.max_steps):
            return "the steps ran out before what was waited for came"
        if np.isinf(unsolved):
            return (
                "f depends on the time, whose rounding moves the solution by more than the tolerances; "
                "count time from where the run starts, or take wider numbers"
            )
        return f"the linear system of a step before t = {unsolved:.6g} was not solved"

    def _of_event(self) -> str:
        """What is said where a run could not go on at an event; the first of a batch."""
        status, which, t = np.broadcast_arrays(
            *map(np.asarray, (self.status, self.stats.get("blamed", -1), self.ended))
        )
        hit = (which >= 0) & np.isin(status, [*_AT_EVENTS])
        left = float(np.min(np.asarray(self.left)))
        if not hit.any() or left == np.inf:
            return ""
        at = np.argmax(hit)
        said = _AT_EVENTS[int(status.flat[at])].format(n=which.flat[at], t=t.flat[at])
        return f"{said}; the states from t = {left:.6g} on are NaN"


def too_long(longest) -> str:
    """What is said of steps that are longer than is stable."""
    if longest == 0:
        return "no step of this method is stable here; f has oscillations, take RK4 or SSP3"
    return f"the steps are too long, at the start the longest stable one is about {longest:.3g}"
