"""``minimize``: one entry for all methods, with and without constraints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._core import PyTree, errors
from .._width import as_wide
from ._constrained import METHODS as CONSTRAINED
from ._constrained import SQP, AugmentedLagrangian, minimize_constrained
from ._constraints import any_given
from ._given import canonical, objective_of, settings
from ._problem import Flat, as_tuple
from ._result import Result
from ._sparse import gives_sparse
from ._sparse_newton import SparseNewton, minimize_sparse
from ._unconstrained import unconstrained


def _no_callback(who: str, callback: None) -> None:
    if callback is not None:
        raise ValueError(
            f"xcore.{who}: a callback cannot run in a compiled loop; history=True keeps every iteration, "
            "progress=True shows how far it is."
        )


def _kind_of(who: str, method: Any, constraints: Any, x0: PyTree) -> tuple[bool, Any]:
    """(whether the method is one for constraints, the method); of no unknowns, any will do."""
    if any_given(constraints):
        return True, method
    known = isinstance(method, (SQP, AugmentedLagrangian)) or canonical(who, method) in CONSTRAINED
    if known and not Flat(who, "x0", x0).size:
        return False, None
    return known, method


def _only_for_dense(who: str, given: bool) -> None:
    """Refuse what the method "sparse" does not take."""
    if given:
        need = "no bounds, constraints, curvature and hessp"
        raise ValueError(f"xcore.{who}: method 'sparse' takes {need}; give hess, or leave it out.")


def _sparsely(who: str, method: Any, hess: Any, x0: PyTree, args: Any) -> tuple[bool, Any]:
    """(whether the Hessian is sparse, the method)."""
    known = isinstance(method, SparseNewton) or canonical(who, method) == "sparse"
    if not known and hess is not None:
        args = as_tuple(args)
        known = Flat(who, "x0", x0).size > 0 and gives_sparse(hess, x0, args)
        if known and method is not None:
            need = "method='sparse' where hess is; hess(x).todense() serves the others"
            raise errors.bad_argument(who, "method", method, need)
    if not known or not Flat(who, "x0", x0).size:
        return False, None if known else method
    return True, method if isinstance(method, SparseNewton) else SparseNewton()


def minimize(
    fun: Callable[..., Any], x0: PyTree, args: Any = (), method: Any = None,
    jac: bool | Callable[..., Any] | None = None, hess: Callable[..., Any] | None = None,
    hessp: Callable[..., Any] | None = None, bounds: Any = None, constraints: Any = None,
    tol: float | None = None, callback: None = None, options: dict[str, Any] | None = None, *,
    maxiter: int | None = None, history: Any = False, curvature: bool = False,
    progress: Any = False, checkpoint: str | Path | None = None,
) -> Result:  # fmt: skip
    """The point where a function is least, near a start.

    All of it is one compiled program. Later calls find it again where ``fun`` is the same code and what it
    refers to (closures, globals, arrays, attributes, helpers) holds the same; ``x0`` and what is in ``args`` may
    change. Where that cannot be seen (random numbers, the time, files, iterators, ``getattr``), each call traces.
    Under ``vmap`` each batch element stops on its own. Solution and least value have derivatives with respect to
    all that ``fun`` uses, by the implicit function theorem; those where ``success`` is False mean nothing.

    Arguments are SciPy's. Derivatives are computed, exactly, unless they are given.

    Args:
      fun: ``fun(x, *args)``, a real scalar.
      x0: tree of arrays to start from.
      args: further arguments.
      method: a name, SciPy's or ours: "L-BFGS-B", "BFGS", "CG", "Newton-CG", "trust-ncg", "trust-exact",
        "dogleg", "Nelder-Mead", "lbfgs", "barzilai-borwein", "gradient-descent", for one number "brent"
        and "golden"; "SLSQP" (the same as "trust-constr" and "sqp") and "augmented-lagrangian" for
        constraints; "sparse" for many unknowns (``SparseNewton``; the default if hess is sparse); or an object such
        as ``Descent(LBFGS(memory=20))``. L-BFGS by default; with constraints, "SLSQP".
      jac: True if fun returns (value, gradient); or ``jac(x, *args)``, the gradient, a tree like x0.
      hess, hessp: ``hess(x, *args)``, the Hessian, a matrix or a ``sparse.Sparse``; or ``hessp(x, p, *args)``, its
        product with p.
      bounds: a tuple (lower, upper), each a tree like x0, a number or None; or SciPy's forms: a list (no tuple)
        with a pair (least, greatest) for each variable, None for no bound; an object with lb and ub.
      constraints: ``Constraints``, or what SciPy knows: dicts with "type", "fun", "jac", "args", and
        objects such as its LinearConstraint and NonlinearConstraint. See ``minimize_constrained``.
      tol: the error of x that is allowed, relative to how large each variable is or how far it came:
        eps^0.4 by default, 5e-7 in 64 bits and 2e-3 in 32. It is estimated by Newton steps from the point
        that is returned, so that it holds in all units of variables and values and at minima of up to the
        eighth order (of the fourth in 32 bits); up to 64 variables by the whole Hessian, which tells saddles from
        minima, too, takes the last steps where a method that compares values can do no more, tells where rounding
        errors hide the minimum, and whether values hold x where the Hessian shows no
        curvature: where they do, but not to tol, the status is ``flat``. What cancels inside of fun is an error of
        its values that is seen only where values next to each other differ by it. Of more, by conjugate gradients, in
        no more products with the Hessian than there were evaluations, or 200; where they do not find the step
        nothing is claimed; what "sparse" does says ``SparseNewton``. Where there are no second derivatives, the
        gradient is compared with the largest one seen. With constraints, and by methods for them, it is the largest
        residual of the conditions of a minimum, see ``minimize_constrained``: x may be farther off.
      callback: must be None; ``history`` and ``progress`` show what happens.
      options: a dict; "maxiter" and "gtol", another name for tol.
      maxiter: iterations at most.
      history: keep x, f, g and nfev of all iterations, or the chosen ones of these names.
      curvature: put the smallest eigenvalue of the Hessian, in the units of x, into the certificate; where it is
        negative and the function falls along it, the status is ``saddle``. It takes the whole Hessian.
      progress: show the number of iterations and their rate; a text is the label. The elements of a batch
        then go on side by side.
      checkpoint: a folder, in which the state is kept about every ten seconds; a call with the same folder goes
        on from there. Not inside of ``jit``, ``grad`` and ``vmap``. A folder of another problem is refused.

    BFGS puts its last estimate of the inverse Hessian into ``stats["hess_inv"]``.

    >>> import xcore.optimize as xo, xcore.numpy as xnp
    >>> rosenbrock = lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
    >>> found = xo.minimize(rosenbrock, xnp.asarray([-1.2, 1.0]), method="BFGS")
    >>> bool(found.success), [round(float(x), 2) for x in found.x]
    (True, [1.0, 1.0])
    >>> found = xo.minimize(rosenbrock, xnp.asarray([-1.2, 1.0]), bounds=[(None, 0.5), (0.0, None)])
    >>> [round(float(x), 2) for x in found.x]
    [0.5, 0.25]
    """
    who = "optimize.minimize"
    _no_callback(who, callback)
    tol, maxiter = settings(who, options, tol, maxiter)
    x0 = as_wide(fun, x0, args)
    sparsely, method = _sparsely(who, method, hess, x0, args)
    given, given_args = (hess, args) if sparsely else (None, ())
    hess = None if sparsely else hess
    if not (jac in (None, False) and hess is None and hessp is None):
        fun, args = objective_of(who, fun, Flat(who, "x0", x0), args, jac, hess, hessp), ()
    if sparsely:
        _only_for_dense(
            who, bounds is not None or any_given(constraints) or curvature or hessp is not None
        )
        return minimize_sparse(
            who, fun, x0, args, method, given, given_args, tol, maxiter, history, progress, checkpoint,
        )  # fmt: skip
    constrained, method = _kind_of(who, method, constraints, x0)
    if not constrained:
        return unconstrained(
            who, fun, x0, args, method, bounds, tol, maxiter, history, curvature, progress, checkpoint,
        )  # fmt: skip
    if curvature:
        raise ValueError(f"xcore.{who}: curvature=True is for problems without constraints.")
    return minimize_constrained(
        fun, x0, args, constraints, "sqp" if method is None else method, bounds=bounds, tol=tol,
        maxiter=maxiter, history=history, progress=progress, checkpoint=checkpoint,
    )  # fmt: skip
