"""Minimisation without constraints: the methods by name, and the loop and result that all share."""

from __future__ import annotations

from .. import numpy as xnp
from .._control.while_loop import while_loop
from .._core.types import typeof
from ._bounds import box_of
from ._box import BoundedLimited, projected_gradient
from ._descent import Conjugate, Descent, Gradient, InverseHessian, Limited
from ._given import canonical
from ._implicit import differentiable
from ._lanes import while_lanes
from ._newton import NewtonCG, TrustRegion
from ._packed import loop
from ._problem import Flat, Objective, default_tol, largest
from ._result import RUNNING, Certificate, Result, Status, status_code
from ._scalar import Brent
from ._simplex import NelderMead

METHODS = {
    "gradient-descent": Descent(Gradient(), "backtracking"),
    "barzilai-borwein": Descent(Gradient(barzilai_borwein=True), "backtracking"),
    "cg": Descent(Conjugate()),
    "bfgs": Descent(InverseHessian()),
    "lbfgs": Descent(Limited()),
    "newton-cg": NewtonCG(),
    "trust-ncg": TrustRegion("steihaug"),
    "dogleg": TrustRegion("dogleg"),
    "trust-exact": TrustRegion("exact"),
    "lbfgsb": BoundedLimited(),
    "nelder-mead": NelderMead(),
    "brent": Brent(),
    "golden": Brent(parabolas=False),
}
BLIND = (NelderMead, Brent)  # see no gradients
BOUNDED = (BoundedLimited, *BLIND)


def method_of(who: str, given, bounds):
    """The method from its name, itself, or what is given."""
    if given is None:
        return METHODS["lbfgs" if bounds is None else "lbfgsb"]
    method = canonical(who, given)
    if isinstance(method, str):
        if method not in METHODS:
            raise ValueError(
                f"xcore.{who}: method must be one of {', '.join(sorted(METHODS))}; SLSQP or trust-constr, "
                f"also for constraints; or an object with init and step; given {given!r}."
            )
        method = METHODS[method]
    if bounds is not None and not isinstance(method, BOUNDED):
        raise ValueError(
            f"xcore.{who}: {method} knows no bounds; use 'L-BFGS-B', 'Nelder-Mead', 'SLSQP' or, for one "
            "number, 'brent'."
        )
    return method


def iterations(who: str, method, problem, x0, tol, maxiter: int, history, progress=False):
    """(last state, rows of history): the loop that all methods share."""
    state = method.init(problem, x0, tol)
    kept = ("x", "f", "g", "nfev") if history is True else tuple(history or ())
    if history:
        rows = {k: xnp.broadcast_to(state[k], (maxiter + 1, *typeof(state[k]).shape)) for k in kept}
        state = state | {"history": rows}

    def step(s):
        rows = s.get("history")
        new = method.step(problem, {k: v for k, v in s.items() if k != "history"}, tol)
        if history:
            later = xnp.arange(maxiter + 1) >= new["nit"]
            put = lambda r, v: xnp.where(later.reshape(-1, *[1] * typeof(v).ndim), v, r)  # noqa: E731
            new = new | {"history": {k: put(rows[k], new[k]) for k in kept}}
        return new

    def going(s):
        return (s["status"] == RUNNING) & (s["nit"] < maxiter)

    if progress:
        state = loop(going, step, state, lambda *args: while_loop(*args, progress=progress))
    else:
        state = loop(going, step, state, lambda *args: while_lanes(who, *args))
    limit = xnp.where(state["status"] == RUNNING, status_code(Status.max_steps), state["status"])
    return state | {"status": limit}


def least_curvature(problem, x, g):
    """The smallest eigenvalue of the Hessian's part for variables that no bound holds."""
    held = ((x <= problem.lower) & (g > 0)) | ((x >= problem.upper) & (g < 0))
    h, free = problem.hessian(x), ~held
    both = free[:, None] & free
    # a held variable gets an eigenvalue of its own, above all others
    above = xnp.diag(xnp.where(held, 1 + largest(h) * typeof(x).size, 0)).astype(h.dtype)
    return xnp.linalg.eigvalsh(xnp.where(both, h, 0) + above)[0]


def unconstrained(
    who, fun, x0, args, method, bounds, tol, maxiter, history=False, curvature=False, progress=False
) -> Result:
    """``minimize`` where there are no constraints but bounds."""
    flat = Flat(who, "x0", x0)
    problem = Objective(who, fun, flat, args)
    method = method_of(who, method, bounds)
    problem.lower, problem.upper = box_of(who, flat, bounds)
    tol = default_tol(flat.dtype) if tol is None else tol
    maxiter = max(1000, 20 * flat.size) if maxiter is None else maxiter

    def solve(x):
        s = iterations(who, method, problem, x, tol, maxiter, history, progress)
        aux = {k: s[k] for k in ("g", "size", "status", "nit", "nfev", "njev")}
        if history:
            aux["history"] = s["history"]
        if isinstance(getattr(method, "rule", None), InverseHessian):
            aux["hess_inv"] = s["memory"]["h"]
        if isinstance(method, BLIND):
            aux["g"] = problem.value_and_grad(s["x"])[1]
            aux["size"] = largest(equation(s["x"]))
        if curvature:
            aux["least"] = least_curvature(problem, s["x"], aux["g"])
        return s["x"], aux | {"told": s["f"]}

    def equation(x):
        g = problem.value_and_grad(x)[1]
        return g if bounds is None else projected_gradient(x, g, problem.lower, problem.upper)

    x, aux = differentiable(equation, problem.value, solve, flat.start)
    return Result(
        flat.split(x), aux["told"], flat.split(aux["g"]), aux["status"], aux["nit"], aux["nfev"],
        aux["njev"], Certificate(aux["size"], smallest_eigenvalue=aux.get("least")),
        aux.get("history"), {"hess_inv": aux["hess_inv"]} if "hess_inv" in aux else None,
    )  # fmt: skip
