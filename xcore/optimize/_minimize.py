"""``minimize``: one entry for all methods."""

from __future__ import annotations

from typing import Any

from .. import numpy as xnp
from .._control.while_loop import while_loop
from .._core import tree
from .._core.errors import describe
from .._core.trace import is_evaluating
from .._core.types import typeof
from ._box import BoundedLimited, projected_gradient
from ._descent import Conjugate, Descent, Gradient, InverseHessian, Limited
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
SAME = {"l-bfgs": "lbfgs", "l-bfgs-b": "lbfgsb"}


def method_of(given, bounds):
    """The method from its name, itself, or what is given."""
    if given is None:
        return METHODS["lbfgs" if bounds is None else "lbfgsb"]
    if isinstance(given, str):
        name = SAME.get(given.lower(), given.lower())
        if name not in METHODS:
            raise ValueError(
                f"xcore.optimize.minimize: method must be one of {', '.join(sorted(METHODS))}, or an "
                f"object with init and step, given {given!r}."
            )
        given = METHODS[name]
    if bounds is not None and not isinstance(given, BOUNDED):
        raise ValueError(
            f"xcore.optimize.minimize: {given} knows no bounds; use 'lbfgsb', "
            "'nelder-mead' or, for one number, 'brent'."
        )
    return given


def box_of(who: str, flat: Flat, bounds):
    """(lower, upper) vectors of the tree pair ``bounds``; a missing side is infinite."""
    if bounds is None:
        return xnp.full(flat.size, -xnp.inf, flat.dtype), xnp.full(flat.size, xnp.inf, flat.dtype)
    if not (isinstance(bounds, (tuple, list)) and len(bounds) == 2):
        raise ValueError(
            f"xcore.{who}: bounds must be a pair (lower, upper), each like x0, a number or None; given "
            f"{describe(bounds)}."
        )
    sides = []
    for side, none in zip(bounds, (-xnp.inf, xnp.inf)):
        side = none if side is None else side
        if tree.is_leaf_structure(tree.structure(side)) and xnp.ndim(side) == 0:
            side = tree.unflatten(flat.structure, [side] * len(flat.types))
        sides.append(flat.join(side))
    if is_evaluating() and bool(xnp.any(sides[0] > sides[1])):
        raise ValueError(f"xcore.{who}: a lower bound is above its upper bound; given {bounds}.")
    return sides


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


def minimize(
    fun, x0, args=(), method=None, *, bounds=None, tol=None, maxiter: int | None = None, history: Any = False,
    curvature: bool = False, progress: Any = False,
) -> Result:  # fmt: skip
    """The point where a function is least, near a start.

    All of it is one compiled program; the function is traced at each call, so wrap a call that is
    repeated in ``jit``. Under ``vmap`` each lane stops on its own. The solution and the least value
    have derivatives with respect to all that ``fun`` uses, by the implicit function theorem.

    Args:
      fun: ``fun(x, *args)``, a real scalar.
      x0: tree of arrays to start from.
      args: further arguments.
      method: a name (see ``METHODS``) or an object such as ``Descent(Limited(memory=20))``; L-BFGS
        by default.
      bounds: a pair (lower, upper), each a tree like x0, a number or None.
      tol: stop when the largest component of the gradient is at most this; eps^0.4 by default,
        5e-7 in 64 bits and 2e-3 in 32. With bounds the gradient is x - P(x - gradient), P the
        projection into them. Nelder and Mead's simplex and its values must differ by less; Brent's
        and golden sections, for one number, tell x to so much, relative to max(1, |x|).
      maxiter: iterations at most.
      history: keep x, f, g and nfev of all iterations, or the chosen ones of these names.
      curvature: put the smallest eigenvalue of the Hessian into the certificate.
      progress: show the number of iterations and their rate; a text is the label. Lanes of a batch
        then go on side by side.

    >>> import xcore.optimize as xo, xcore.numpy as xnp
    >>> rosenbrock = lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
    >>> found = xo.minimize(rosenbrock, xnp.asarray([-1.2, 1.0]), method="bfgs")
    >>> bool(found.success), [round(float(x), 2) for x in found.x]
    (True, [1.0, 1.0])
    """
    who = "optimize.minimize"
    flat = Flat(who, "x0", x0)
    problem = Objective(who, fun, flat, args)
    method = method_of(method, bounds)
    problem.lower, problem.upper = box_of(who, flat, bounds)
    tol = default_tol(flat.dtype) if tol is None else tol
    maxiter = max(1000, 20 * flat.size) if maxiter is None else maxiter

    def solve(x):
        s = iterations(who, method, problem, x, tol, maxiter, history, progress)
        aux = {k: s[k] for k in ("g", "size", "status", "nit", "nfev", "njev")}
        if history:
            aux["history"] = s["history"]
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
        aux.get("history"),
    )  # fmt: skip
