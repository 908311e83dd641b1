"""Equations in units in which they have size one, and how far a point is from solving them.

An equation is divided by the largest of what it is the sum of where a method begins: its value, and its
slopes by the sizes of the variables. Fixed points keep their form under one unit of variables and equations
together. Where a method ended, the Newton step is the error of x to first order, relative to the size or the
way of each variable: no unit is in it.
"""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._control import jacfwd, jvp, linearize
from .._core import typeof
from ..linalg import GMRES, FunctionOperator, linear_solve
from ..numpy._select import safe_divide
from ._implicit import DENSE
from ._loop import empty_rows, in_rounds, iterations_from
from ._problem import count, largest
from ._result import RUNNING, Status, first_of
from ._sparse import newton_of
from ._units import power_of_two, relative_error

TESTED = "each component of the Newton step, relative to the size and the way of its variable"


class InUnits:
    """Equations as a method sees them: x = x_unit · z and F = f_unit · value."""

    def __init__(self, problem, x, f):
        self.problem, self.x, self.f = problem, x, f

    def value(self, z):
        return self.problem.value(z * self.x) / self.f

    def jacobian(self, z):
        j = self.problem.jacobian(z * self.x)
        scale = self.x / self.f
        return j * scale[:, None] if typeof(scale).shape else j * scale

    def of(self, name: str, v):
        """What a method calls ``name``, in the user's units; f is half the sum of squares in its own."""
        return v * self.x if name == "x" else v * self.f if name == "g" else v


def units_at(problem, x, f, whole: bool) -> InUnits:
    """``whole``: one unit for everything."""
    if whole:
        one = power_of_two(xnp.maximum(largest(x), largest(f)))
        return InUnits(problem, one, one)
    return InUnits(problem, xnp.ones((), x.dtype), power_of_two(sizes_at(problem, x, f)))


def sizes_at(problem, x, f):
    """How large equations are: their values, and their slopes by the sizes of the variables."""
    size = xnp.abs(f)
    if problem.matrix is not None:
        terms = abs(problem.jacobian(x)) @ xnp.abs(x)
        size = xnp.maximum(size, xnp.where(xnp.isfinite(terms), terms, 0))
    elif typeof(x).shape[0] <= DENSE:
        terms = xnp.max(xnp.abs(jacfwd(problem.value)(x)) * xnp.abs(x), axis=1, initial=0)
        size = xnp.maximum(size, xnp.where(xnp.isfinite(terms), terms, 0))
    # an equation that holds, and whose terms are all 0, is measured by the others
    return xnp.where(size > 0, size, largest(size))


def missing(problem, x, f, sizes):
    """The Newton step: NaN where the Jacobian is singular and F is not 0.

    ``sizes``: of the equations where the search began. Where the Jacobian is singular to half of the digits, x can
    run away until rounding errors of x are as large as the equations were, and hide that they contradict each
    other: then F must be small beside what it was, too.
    """
    n, eps = typeof(x).shape[0], xnp.finfo(x.dtype).eps
    if problem.matrix is not None:
        step, sure = newton_of(problem.jacobian(x), f)
        return xnp.where(sure, step, xnp.nan)
    if n > DENSE:
        operator = FunctionOperator(lambda _, v: linearize(problem.value, x)[1](v), None, (n, n))
        found = linear_solve(operator, -f, GMRES(rtol=0.01, restart=60, max_steps=5), report=True)
        return xnp.where(found.ok, found.value, xnp.nan)
    j = jacfwd(problem.value)(x)
    columns = xnp.max(xnp.abs(j), axis=0, initial=0)
    d = 1 / xnp.where(columns > 0, columns, 1)
    rows = xnp.max(xnp.abs(j * d), axis=1, initial=0)
    e = 1 / xnp.where(rows > 0, rows, 1)
    j, f = e[:, None] * j * d, e * f
    fine = xnp.all(xnp.isfinite(j)) & xnp.all(xnp.isfinite(f))
    u, s, vt = xnp.linalg.svd(xnp.where(fine, j, 0))
    known = s > n * eps * xnp.max(s, initial=0)
    c = u.T @ xnp.where(fine, f, 0)
    # what lies outside the range of the Jacobian no step removes; rounding errors of x make some of it, in each
    # equation as much as its own slopes allow
    noise = 4 * n * eps * (xnp.abs(u.T) @ (xnp.abs(j) @ xnp.abs(x / d)))
    outside = xnp.any(~known & (xnp.abs(c) > noise))
    step = d * (vt.T @ safe_divide(-c, s, where=known))
    weak = xnp.min(s, initial=np.inf) <= eps**0.5 * xnp.max(s, initial=0)
    hidden = weak & xnp.any(xnp.abs(f) > eps**0.5 * e * sizes)
    return xnp.where(fine & ~outside & ~hidden, step, xnp.nan)


def _out_of_sight(problem, x, x0, sizes):
    """Whether x = T(x) holds only as rounding of a large x is more than x - T(x) was where the search began.

    So T(x) = x + c ends: a way along which x - T(x) does not change leads as far as that.
    """
    eps, way = xnp.finfo(x.dtype).eps, x - x0
    change = jvp(problem.value, (x,), (way,))[1]
    still = xnp.abs(change) <= eps**0.5 * largest(way)
    return (largest(way) > 0) & xnp.any(still & (eps**0.5 * xnp.abs(x) > sizes))


def _error(problem, x, x0, first, sizes, whole: bool):
    """(F, the relative error of x)."""
    f, hidden = problem.value(x), False
    try:
        hidden = _out_of_sight(problem, x, x0, sizes) if whole else False
        step = missing(problem, x, f, sizes)
        reach = xnp.maximum(xnp.abs(x), xnp.abs(x - x0))
        error = relative_error(step, reach, xnp.ones_like(reach), x0)
    except Exception:  # a function without derivatives: its value, relative to the first one
        error = largest(f) / xnp.where(first > 0, first, 1)
    error = xnp.where(largest(f) == 0, 0, xnp.where(xnp.isnan(error), xnp.inf, error))
    return f, xnp.where(hidden, xnp.inf, error)


def rounds(
    who, method, problem, x0, tol, maxiter: int, history, whole: bool, checkpoint=None
) -> dict:
    """What is known at the end. ``tol``: of F in the user's units, or None: then x is judged.

    A first round ends where F is small in units; where that leaves x uncertain, a second one goes on to what
    rounding errors allow.
    """
    dtype = x0.dtype
    eps = float(xnp.finfo(dtype).eps)
    f0 = problem.value(x0)
    plain = InUnits(problem, xnp.ones((), dtype), xnp.ones((), dtype))
    sizes = sizes_at(problem, x0, f0)  # units are as far from 1 as their squares are numbers
    local = units_at(problem, x0, f0, whole) if tol is None else plain
    fine = eps**0.5  # what is left of the digits at a double root

    def begin(s):
        aim = eps**0.75 if tol is None else tol
        aim = xnp.where(s["turn"] == 0, aim, eps if tol is None else tol).astype(dtype)
        return method.init(local, s["x"] / local.x, aim), aim

    def run(s, begun, checkpoint):
        return iterations_from(
            who, method, local, *begun, maxiter, on=s["going"], rows=s.get("history"), before=s["nit"],
            shown=lambda k, v: s["nfev"] + v if k == "nfev" else local.of(k, v), checkpoint=checkpoint,
        )  # fmt: skip

    def end(s, _, ended):
        x = ended["x"] * local.x
        f, error = _error(problem, x, x0, largest(f0), sizes, whole or problem.fixed)
        good = error <= fine if tol is None else largest(f) <= tol
        last = ended["status"]
        status = first_of(
            (~xnp.all(xnp.isfinite(f)), Status.not_finite), (good, Status.success),
            (last == np.int32(Status.success), Status.stagnation),
        )  # fmt: skip
        status = xnp.where(status == RUNNING, last, status)
        new = {"x": x, "f": f, "size": largest(f), "error": error, "status": status}
        new |= {k: s[k] + ended[k] for k in ("nit", "nfev", "njev")} | {
            "turn": s["turn"] + np.int32(1)
        }
        again = (s["turn"] == 0) & ~good & (last == np.int32(Status.success))
        if history:
            new["history"] = ended["history"]
        return new | {"going": again & (new["nit"] < maxiter) if tol is None else ~s["going"]}

    zero = xnp.zeros((), dtype)
    start = {
        "x": x0, "f": f0, "size": zero, "error": zero, "status": np.int32(Status.max_steps),
        "nit": count(0), "nfev": count(0), "njev": count(0), "turn": count(0), "going": xnp.ones((), bool),
    }  # fmt: skip
    if history:
        start["history"] = empty_rows(who, history, x0, maxiter)
    return in_rounds(begin, run, end, lambda s: s["going"], start, checkpoint)
