"""``scipy.optimize.minimize`` as JAX has it. More methods, bounds and constraints: ``xcore.optimize``."""

from typing import Any, NamedTuple

from .._core import errors as _errors
from ..optimize import _minimize
from ..optimize._descent import InverseHessian as _InverseHessian
from ..optimize._implicit import differentiable as _differentiable
from ..optimize._problem import Flat as _Flat
from ..optimize._problem import Objective as _Objective

__all__ = ["OptimizeResults", "minimize"]

_OPTIONS = {"gtol", "maxiter"}


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


def minimize(fun, x0, args=(), *, method, tol=None, options=None):
    """The point where a function is least, near a start.

    The point has derivatives with respect to all that ``fun`` uses, by the implicit function theorem.

    Args:
      fun: ``fun(x, *args)``, a real scalar.
      x0: where to start.
      args: further arguments, a tuple.
      method: "BFGS", or another name that ``xcore.optimize.minimize`` knows.
      tol: the largest component of the gradient at the end; 1e-5 by default.
      options: a dict with ``maxiter``, iterations at most, and ``gtol``, another name for tol.

    >>> import xcore.numpy as xnp
    >>> found = minimize(lambda x: ((x - 3) ** 2).sum(), xnp.zeros(2), method="BFGS")
    >>> [round(float(x), 4) for x in found.x], bool(found.success)
    ([3.0, 3.0], True)
    """
    who, options = "scipy.optimize.minimize", dict(options or {})
    if not options.keys() <= _OPTIONS:
        wanted = f"a dict with the keys {', '.join(sorted(_OPTIONS))}"
        raise _errors.bad_argument(who, "options", sorted(options), wanted)
    flat = _Flat(who, "x0", x0)
    problem = _Objective(who, fun, flat, args)
    chosen = _minimize.method_of("lbfgs" if method.lower().startswith("l-bfgs") else method, None)
    tol = options.get("gtol", 1e-5) if tol is None else tol
    most = options.get("maxiter", 200 * flat.size)

    def solve(x):
        s = _minimize.iterations(who, chosen, problem, x, tol, most, None)
        kept = {k: s[k] for k in ("g", "status", "nfev", "njev", "nit")}
        known = isinstance(getattr(chosen, "rule", None), _InverseHessian)
        return s["x"], kept | {"told": s["f"], "h": s["memory"]["h"] if known else None}

    slope = lambda x: problem.value_and_grad(x)[1]  # noqa: E731
    problem.lower, problem.upper = _minimize.box_of(who, flat, None)
    x, s = _differentiable(slope, problem.value, solve, flat.start)
    return OptimizeResults(
        flat.split(x), s["status"] == 0, s["status"], s["told"], flat.split(s["g"]), s["h"],
        s["nfev"], s["njev"], s["nit"],
    )  # fmt: skip
