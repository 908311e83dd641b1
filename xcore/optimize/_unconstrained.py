"""Minimisation without constraints: the methods by name, and the loop and result that all share."""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._core import errors, typeof
from .._iterate import checkpoints
from .._solution import Certificate
from ._bounds import box_of
from ._box import LBFGSB, projected_gradient
from ._descent import BFGS, LBFGS, Descent, Gradient, NonlinearCG
from ._given import canonical
from ._implicit import differentiable
from ._newton import NewtonCG, TrustRegion
from ._problem import Flat, Objective, default_tol, largest, tolerance
from ._products import BALANCES
from ._result import Result, Status, result
from ._rounds import BLIND, WORDS, rounds
from ._scalar import Brent
from ._simplex import NelderMead
from ._transform import GradientTransformation
from ._units import first_units

METHODS = {
    "gradient-descent": Descent(Gradient(), "backtracking"),
    "barzilai-borwein": Descent(Gradient(barzilai_borwein=True), "backtracking"),
    "cg": Descent(NonlinearCG()),
    "bfgs": Descent(BFGS()),
    "lbfgs": Descent(LBFGS()),
    "newton-cg": NewtonCG(),
    "trust-ncg": TrustRegion("steihaug"),
    "dogleg": TrustRegion("dogleg"),
    "trust-exact": TrustRegion("exact"),
    "lbfgsb": LBFGSB(),
    "nelder-mead": NelderMead(),
    "brent": Brent(),
    "golden": Brent(parabolas=False),
}
BOUNDED = (LBFGSB, *BLIND)
DIRECTIONS = (Gradient, NonlinearCG, BFGS, LBFGS)


def _instead(method) -> str:
    if isinstance(method, type):
        return f"That is the class; an object of it is {method.__name__}()."
    if isinstance(method, GradientTransformation):
        return "That is a rule for updates; fit() and loops of your own take it."
    return ""


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
    if isinstance(method, DIRECTIONS):
        method = Descent(method)
    if isinstance(method, type) or not hasattr(method, "step"):
        need = "a name such as 'bfgs', or an object with init and step such as Descent(LBFGS(memory=20))"
        raise errors.bad_argument(who, "method", method, need, _instead(method))
    if bounds is not None and not isinstance(method, BOUNDED):
        raise ValueError(
            f"xcore.{who}: {method} knows no bounds; use 'L-BFGS-B', 'Nelder-Mead', 'SLSQP' or, for one "
            "number, 'brent'."
        )
    return method


def least_curvature(problem, x, g):
    """The smallest eigenvalue of the Hessian's part for variables that no bound holds, and whether f falls along it.

    The latter in units in which its rows are about as long as each other: signs of eigenvalues do not change with
    units, but rounding errors are small beside the row that they stand in only. Values are asked, too: a minimum may
    be a kink between pieces that bend down.
    """
    held = ((x <= problem.lower) & (g > 0)) | ((x >= problem.upper) & (g < 0))
    h, free = problem.hessian(x), ~held
    h = xnp.where(free[:, None] & free, h, 0)
    # a held variable gets an eigenvalue of its own, above all others
    above = xnp.diag(xnp.where(held, 1 + largest(h) * typeof(x).size, 0)).astype(h.dtype)
    unit = xnp.ones_like(x)
    for _ in range(BALANCES):
        longest = xnp.max(xnp.abs(h) * unit[:, None] * unit, axis=1)
        unit = unit / xnp.where(longest > 0, xnp.sqrt(longest), 1)
    eps = xnp.finfo(x.dtype).eps
    values, vectors = xnp.linalg.eigh(h * unit[:, None] * unit)
    way = unit * vectors[:, 0]
    way = way / largest(way / first_units(x).x)
    far = np.array([1, -1])[:, None] * eps ** np.array([0.25, 0.125])
    around = [
        problem.value(xnp.clip(x + t * way, problem.lower, problem.upper)) for t in far.ravel()
    ]
    f = problem.value(x)
    lower = xnp.stack(around).reshape(far.shape) < f - 8 * eps * xnp.abs(f)
    falls = xnp.any(
        xnp.all(lower, axis=1)
    )  # near and far, on one side: beyond a kink's rim it may fall, too
    return xnp.linalg.eigvalsh(h + above)[0], (values[0] < -(eps**0.5)) & falls


def unconstrained(
    who,
    fun,
    x0,
    args,
    method,
    bounds,
    tol,
    maxiter,
    history=False,
    curvature=False,
    progress=False,
    checkpoint=None,
) -> Result:
    """``minimize`` where there are no constraints but bounds."""
    flat = Flat(who, "x0", x0)
    problem = Objective(who, fun, flat, args)
    method = method_of(who, method, bounds)
    if not flat.size:  # there is no simplex of one point, and no box
        method = METHODS["lbfgs"]
    problem.lower, problem.upper = box_of(who, flat, bounds)
    tol = tolerance(who, tol, default_tol(flat.dtype))
    maxiter = max(1000, 20 * flat.size) if maxiter is None else maxiter

    whole = lambda x: (problem.value(x), problem.lower, problem.upper)  # noqa: E731
    checkpoint = checkpoints(who, checkpoint, whole, flat.start)

    def solve(x):
        s = rounds(who, method, problem, x, tol, maxiter, history, progress, checkpoint)
        if curvature:
            s["curvature"], bends = least_curvature(problem, s["x"], s["g"])
            saddle = bends & (s["status"] == np.int32(Status.success))
            s["status"] = xnp.where(saddle, np.int32(Status.saddle), s["status"])
        return s.pop("x"), s

    def equation(x):
        g = problem.value_and_grad(x)[1]
        return g if bounds is None else projected_gradient(x, g, problem.lower, problem.upper)

    x, aux = differentiable(equation, problem.value, solve, flat.start, problem, checkpoint)
    kind = aux["tested"].text
    certificate = Certificate(
        stationarity=aux["size"], smallest_eigenvalue=aux.get("curvature"), error=aux["error"], gain=aux["gain"],
        undetermined=aux["undetermined"] if kind != "gradient" else None, tested=WORDS[kind],
    )  # fmt: skip
    return result(
        flat.split(x), aux["value"], flat.split(aux["g"]), aux["status"], aux["nit"], aux["nfev"],
        aux["njev"], certificate, aux.get("history"),
        {"hess_inv": aux["hess_inv"]} if "hess_inv" in aux else None,
    )  # fmt: skip
