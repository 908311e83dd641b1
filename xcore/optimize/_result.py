"""What all methods return: where they ended, how, and evidence."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core.exceptions import SolverError
from .._core.struct import static, struct
from .._core.types import Value
from .._solution import Status, first_that_holds

RUNNING = np.int32(Status.running)


# What optimisation adds to the general words of a status.
_ADVICE = {
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
}


@struct
class Certificate:
    """Evidence that a point is a solution; all in the largest of the absolute values.

    Attributes:
      stationarity: of the gradient; with bounds, of x minus the projection of x - gradient; with
        constraints, of the gradient of the Lagrangian, relative to the largest of its terms.
      feasibility: of the violated constraints.
      complementarity: of the products of inequalities and multipliers, relative to the same.
      smallest_eigenvalue: of the Hessian, if asked for; with bounds, of its free part.
      multipliers: of the constraints, in their order.
      error: estimated error of x: the largest component of the Newton steps from there, and of what rounding
        errors of the gradient leave open, each relative to the largest size and way of its variable; 1 or more
        where a lower value was seen nearby; with constraints, the largest violation, as such a
        distance. It does not depend on units.
      gain: how much lower that step promises to be.
      qualification: with constraints, the smallest gradient of an active one, relative to what it had at
        the start: where it is near 0, multipliers mean nothing.
      undetermined: number of directions in which the Hessian shows no curvature but rounding errors: a success says
        nothing of where along them x is, but that no lower value was seen; up to 64 variables also that none was seen
        that is higher, unless as near as tol, along all of them together: they are a valley of minima.
      tested: what was compared with ``tol``, in words.
    """

    stationarity: Any
    feasibility: Any = None
    complementarity: Any = None
    smallest_eigenvalue: Any = None
    multipliers: Any = None
    error: Any = None
    gain: Any = None
    qualification: Any = None
    undetermined: Any = None
    tested: Any = static(default=None)


@struct
class Result:
    """A solution, and how it was found. Of a batch, each field has the batch's leading axis.

    Attributes:
      x: the point, a tree like the start.
      fun: the function there: the objective, or the residuals.
      grad: the gradient of the objective there, a tree like x.
      status: number of a ``Status``, int32; 0 is success.
      nit, nfev, njev: numbers of iterations, evaluations of the function, of derivatives.
      certificate: a ``Certificate``.
      history: with ``history=True`` a dict of what each iteration ended with, one row for each; rows
        after the last repeat it.
      extra: what belongs to one method only.
    """

    x: Any
    fun: Any
    grad: Any
    status: Any
    nit: Any
    nfev: Any
    njev: Any
    certificate: Any = None
    history: Any = None
    extra: Any = None

    @property
    def success(self):
        """Whether the method's test holds: a boolean array."""
        return xnp.asarray(self.status) == 0

    @property
    def jac(self):
        """SciPy's name of the gradient."""
        return self.grad

    @property
    def message(self) -> str:
        """The status in words; of a batch, the worst one."""
        if isinstance(self.status, Value) and not hasattr(self.status, "_b"):
            return "known when the compiled function has run"
        worst = Status(int(np.asarray(self.status).max(initial=0)))
        return worst.message + _ADVICE.get(worst, "")

    def check(self) -> Result:
        """Itself, or SolverError with the status in words. Traced results pass.

        >>> Result(0.0, 0.0, 0.0, np.int32(1), 0, 0, 0).check()  # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
        SolverError: ...
        """
        if isinstance(self.status, Value) and not hasattr(self.status, "_b"):
            return self
        if np.any(np.asarray(self.status)):
            raise SolverError(f"xcore.optimize: {self.message}.")
        return self


#: The status of the first condition that holds, else RUNNING.
first_of = functools.partial(first_that_holds, default=Status.running)
