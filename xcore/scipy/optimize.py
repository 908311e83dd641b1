"""``scipy.optimize.minimize`` as JAX has it, with bounds and constraints too. All else: ``xcore.optimize``."""

from typing import Any, NamedTuple

from ..optimize import minimize as _minimize
from ..optimize._given import settings as _settings
from ..optimize._problem import Flat as _Flat

__all__ = ["OptimizeResults", "minimize"]


class OptimizeResults(NamedTuple):
    """Where a minimisation ended, and how.

    Attributes:
      x: the point.
      success: whether it is a minimum, up to the tolerance.
      status: 0 for success, 1 for the limit of iterations; else see ``xcore.optimize.Status``.
      fun, jac: the function and its gradient there.
      hess_inv: the last estimate of the inverse Hessian; None from methods without one.
      nfev, njev, nit: calls of the function, of its gradient; iterations.
    """

    x: Any
    success: Any
    status: Any
    fun: Any
    jac: Any
    hess_inv: Any
    nfev: Any
    njev: Any
    nit: Any


def minimize(fun, x0, args=(), *, method, tol=None, options=None, bounds=None, constraints=None):
    """The point where a function is least, near a start.

    The point has derivatives with respect to all that ``fun`` uses, by the implicit function theorem.

    Args:
      fun: ``fun(x, *args)``, a real scalar.
      x0: where to start.
      args: further arguments, a tuple.
      method: "BFGS", or another name that ``xcore.optimize.minimize`` knows.
      tol: the error of each variable, relative to its size or way; 1e-5 by default.
      options: a dict with ``maxiter``, iterations at most, and ``gtol``, another name for tol.
      bounds, constraints: as ``xcore.optimize.minimize`` takes them, for methods that know them.

    >>> import xcore.numpy as xnp
    >>> found = minimize(lambda x: ((x - 3) ** 2).sum(), xnp.zeros(2), method="BFGS")
    >>> [round(float(x), 4) for x in found.x], bool(found.success)
    ([3.0, 3.0], True)
    """
    who = "scipy.optimize.minimize"
    if method.lower().startswith("l-bfgs"):
        method = "lbfgs" if bounds is None else "lbfgsb"
    tol, most = _settings(who, options, tol, None)
    tol = 1e-5 if tol is None else tol
    most = 200 * _Flat(who, "x0", x0).size if most is None else most
    found = _minimize(
        fun, x0, args, method, bounds=bounds, constraints=constraints, tol=tol, maxiter=most
    )
    h = (found.extra or {}).get("hess_inv")
    return OptimizeResults(
        found.x, found.status == 0, found.status, found.fun, found.grad, h, found.nfev, found.njev,
        found.nit,
    )  # fmt: skip
