"""What all methods return: where they ended, how, and evidence."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .._core import static, struct
from .._iterate import history_of
from .._solution import Solution, Status, first_that_holds

RUNNING = np.int32(Status.running)


# What optimisation adds to the general words of a status.
_ADVICE = tuple({
    Status.max_steps: " with maxiter",
    Status.stagnation: ": rounding errors, a kink, or a wrong derivative; try 64-bit numbers or a larger tol",
    Status.not_finite: ": the function gave them where the method had to start, or to go on; start elsewhere, or "
    "bound the parameters",
    Status.infeasible: "; they may contradict each other, or the start is too far away",
    Status.no_bracket: ": for a root, the function must change its sign between them; for a minimum, be lowest at "
    "the middle one",
    Status.degenerate: ": the conditions of a constrained minimum hold only with multipliers that grow "
    "beyond all bounds, so that nothing certifies the point; write these constraints differently, or trust only "
    "feasibility",
    Status.flat: ", but parameters may still change by more than tol: near a minimum that rounding errors hide (take "
    "64-bit numbers, or a larger tol); or they run off to infinity, stand on a plateau, or lost their influence "
    "(start elsewhere, bound them, or use fewer)",
    Status.saddle: ": the gradient (with constraints, that of the Lagrangian) vanishes, but the Hessian has a "
    "negative eigenvalue in a direction that is allowed; start elsewhere, a small step aside is enough",
}.items())  # fmt: skip


@struct
class Result(Solution):
    """A solution, and how it was found: a ``Solution`` whose value is the point, a tree like the start.
    Of a batch, each field has the batch's leading axis.

    Attributes:
      fun: the function there: the objective, or the residuals.
      grad: the gradient of the objective there, a tree like x. Also ``jac``.
      nfev, njev: evaluations of the function and of its derivatives.
      history: with ``history=True`` a dict of rows: row 0 is the start, row k what iteration k ended with,
        the last row iteration ``steps``. Under ``jit`` and ``vmap`` there are maxiter + 1 rows, of
        which those past the end repeat the last: ``history["f"][: steps + 1]`` cuts them.
      stats: what belongs to one method only.

    >>> Result(0.0, Status.max_steps).check()  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    SolverError: ...
    """

    who: str = static(default="optimize")
    advice: tuple = static(default=_ADVICE)
    fun: Any = None
    grad: Any = None
    nfev: Any = 0
    njev: Any = 0

    __repr__ = Solution.__repr__
    jac = property(lambda self: self.grad, doc="The gradient, by SciPy's name.")


def result(
    x, fun, grad, status, steps, nfev, njev, certificate, history=None, stats=None
) -> Result:
    """A ``Result`` whose error is the certificate's."""
    return Result(
        x, status, certificate, steps, certificate.error, history_of(history, steps), stats or {},
        fun=fun, grad=grad, nfev=nfev, njev=njev,
    )  # fmt: skip


#: The status of the first condition that holds, else RUNNING.
first_of = functools.partial(first_that_holds, default=Status.running)
