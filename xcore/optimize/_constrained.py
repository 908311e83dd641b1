"""Minimisation under equations and inequalities: sequential quadratic programs, augmented Lagrangians.

Constraints are h(x) = 0 and c(x) ≥ 0; bounds are inequalities too. With multipliers y and λ ≥ 0 a
solution has ∇f = ∇h y + ∇c λ, h = 0, c ≥ 0 and λ c = 0 (Karush, Kuhn and Tucker).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import tree
from .._core.errors import describe
from .._core.struct import static, struct
from .._core.types import typeof
from .._transforms.api import jacrev
from ._implicit import differentiable
from ._minimize import box_of, iterations, minimize
from ._packed import loop
from ._problem import Flat, Objective, count, default_tol, largest
from ._qp import solve_qp
from ._result import Certificate, Result, Status, first_of
from ._trust import norm


@struct
class Constraints:
    """Equations ``eq(x) = 0`` and inequalities ``ineq(x) >= 0``; each function returns a tree of arrays.

    >>> import xcore.optimize as xo
    >>> disk = xo.Constraints(ineq=lambda x: 1 - x[0] ** 2 - x[1] ** 2)
    """

    eq: Any = static(default=None)
    ineq: Any = static(default=None)


class Constrained(Objective):
    """An objective with its constraints as two vectors; bounds follow the inequalities."""

    def __init__(self, who, fun, flat, args, constraints, bounds):
        super().__init__(who, fun, flat, args)
        if isinstance(constraints, dict):
            constraints = Constraints(**constraints)
        if not isinstance(constraints, Constraints):
            raise TypeError(
                f"xcore.{who}: constraints must be Constraints(eq=..., ineq=...), given "
                f"{describe(constraints)}."
            )
        self.constraints = constraints
        lower, upper = box_of(who, flat, bounds)
        self.bounds = lower, upper
        self.has_bounds = bounds is not None

    def _vector(self, f, x):
        if f is None:
            return xnp.zeros(0, x.dtype)
        parts = [xnp.asarray(p).reshape(-1) for p in tree.leaves(f(self.flat.split(x)))]
        return xnp.concatenate(parts).astype(x.dtype) if parts else xnp.zeros(0, x.dtype)

    def equations(self, x):
        return self._vector(self.constraints.eq, x)

    def inequalities(self, x):
        parts = [self._vector(self.constraints.ineq, x)]
        if self.has_bounds:
            # a missing bound is one that is always kept
            lower, upper = self.bounds
            parts += [
                xnp.where(xnp.isfinite(lower), x - lower, 1), xnp.where(xnp.isfinite(upper), upper - x, 1)
            ]  # fmt: skip
        return xnp.concatenate(parts)

    def local(self, x):
        """(f, g, h, its Jacobian, c, its Jacobian)."""
        f, g = self.value_and_grad(x)
        h, c = self.equations(x), self.inequalities(x)
        jh = jacrev(self.equations)(x).reshape(-1, typeof(x).shape[0])
        jc = jacrev(self.inequalities)(x).reshape(-1, typeof(x).shape[0])
        return f, g, h, jh, c, jc

    def lagrangian(self, x, y, lam):
        return self.value(x) - xnp.vdot(y, self.equations(x)) - xnp.vdot(lam, self.inequalities(x))


def violation(h, c):
    """The sum of what is violated."""
    return xnp.sum(xnp.abs(h)) + xnp.sum(xnp.maximum(-c, 0))


def kkt_residuals(g, h, jh, c, jc, y, lam):
    """(stationarity, feasibility, complementarity), each the largest absolute value."""
    scale = xnp.maximum(1, 0.01 * xnp.maximum(largest(y), largest(lam)))
    stationary = largest(g - y @ jh - lam @ jc) / scale
    feasible = xnp.maximum(largest(h), largest(xnp.minimum(c, 0)))
    return stationary, feasible, largest(lam * c) / scale


@struct
class SQP:
    """Quadratic programs of a model with linearised constraints, and a search on the merit function.

    The model's matrix is learnt from the Lagrangian's gradients, damped to stay positive definite; the
    merit is f + ρ (sum of violations); a step that curved constraints refuse is corrected once.
    (Powell 1978; Nocedal, Wright 2006, chapter 18)
    """

    max_halvings: int = static(default=16)

    def init(self, problem, x, tol):
        if problem.has_bounds:
            x = xnp.clip(x, *problem.bounds)
        n, dtype = typeof(x).shape[0], typeof(x).dtype
        f, g, h, jh, c, jc = problem.local(x)
        finite = xnp.isfinite(f) & xnp.all(xnp.isfinite(g)) & xnp.isfinite(violation(h, c))
        return {
            "x": x, "f": f, "g": g, "h": h, "jh": jh, "c": c, "jc": jc, "b": xnp.eye(n, dtype=dtype),
            "y": xnp.zeros_like(h), "lam": xnp.zeros_like(c), "rho": xnp.ones((), dtype),
            "size": largest(g), "status": first_of((~finite, Status.not_finite)), "nit": count(0),
            "nfev": count(1), "njev": count(1), "failed": count(0), "scaled": xnp.zeros((), bool),
        }  # fmt: skip

    def step(self, problem, s, tol):
        x, f, g, h, jh, c, jc = (s[k] for k in ("x", "f", "g", "h", "jh", "c", "jc"))
        most = xnp.maximum(largest(s["y"]), largest(s["lam"]))
        charge = 10 * xnp.maximum(xnp.maximum(s["rho"], most), xnp.maximum(1, largest(g)))
        p, y, lam = solve_qp(s["b"], g, jh, h, jc, c, charge)
        # the model's violation tells whether the linearised constraints can be met
        left = violation(h + jh @ p, c + jc @ p)
        now = violation(h, c)
        multiplier = xnp.maximum(largest(y), largest(lam))
        rho = xnp.maximum(1.1 * multiplier, 0.5 * (s["rho"] + 1.1 * multiplier))
        slope = xnp.vdot(g, p) - rho * (now - left)
        slope = xnp.minimum(slope, -0.5 * xnp.vdot(p, s["b"] @ p))
        merit = f + rho * now
        noise = 10 * xnp.finfo(f.dtype).eps * (xnp.abs(f) + rho * now + 1e-3)
        t, move, n = self._search(problem, x, p, s, merit, slope, rho, noise)
        new = x + move
        f1, g1, h1, jh1, c1, jc1 = problem.local(new)
        b = _damped_update(s["b"], move, y, lam, g1, jh1, jc1, g, jh, jc, s["scaled"])
        stationary, feasible, product = kkt_residuals(g1, h1, jh1, c1, jc1, y, lam)
        worst = xnp.maximum(stationary, product)
        size = xnp.maximum(worst, feasible)
        reach = xnp.maximum(1, largest(x))
        short = norm(move) <= 4 * xnp.finfo(f.dtype).eps * reach
        done = (feasible <= tol) & (worst <= tol)
        failed = xnp.where(t > 0, 0, s["failed"] + np.int32(1)).astype(np.int32)
        lost = (failed > 1) | (short & (s["failed"] > 0))
        no_way = lost & (feasible > 10 * tol)
        status = first_of(
            (~(xnp.isfinite(f1) & xnp.isfinite(size)), Status.not_finite), (done, Status.success),
            (f1 <= -0.01 * xnp.finfo(f.dtype).max, Status.unbounded), (no_way, Status.infeasible),
            (lost, Status.stalled),
        )  # fmt: skip
        # after a failure the matrix starts anew
        b = xnp.where(failed > 0, xnp.eye(typeof(x).shape[0], dtype=f.dtype), b)
        return {
            "x": new, "f": f1, "g": g1, "h": h1, "jh": jh1, "c": c1, "jc": jc1, "b": b, "y": y,
            "lam": lam, "rho": rho, "size": size, "status": status, "nit": s["nit"] + np.int32(1),
            "nfev": s["nfev"] + n, "njev": s["njev"] + np.int32(1), "failed": failed,
            "scaled": s["scaled"] | (t > 0),
        }  # fmt: skip

    def _search(self, problem, x, p, s, merit, slope, rho, noise):
        """(t, step, evaluations): 1, 1 with a correction, then 1/2, 1/4, …; 0 if none helps."""

        def value(at):
            h, c = problem.equations(at), problem.inequalities(at)
            found = problem.value(at) + rho * violation(h, c)
            return xnp.where(xnp.isnan(found), xnp.inf, found), h, c

        active = s["lam"] > 0
        rows = xnp.concatenate([s["jh"], xnp.where(active[:, None], s["jc"], 0)])
        gram = rows @ rows.T
        eps = xnp.finfo(gram.dtype).eps
        damp = (
            eps * xnp.maximum(1, largest(gram)) * xnp.eye(typeof(gram).shape[0], dtype=gram.dtype)
        )

        def turn(state):
            t, step, k, _, _best_t, best = state
            found, h, c = value(x + step)
            good = found <= merit + 1e-4 * t * slope + noise
            wrong = xnp.concatenate([h, xnp.where(active & (c < 0), c, 0)])
            corrected = step - rows.T @ xnp.linalg.solve(gram + damp, wrong)
            corrected = xnp.where(xnp.all(xnp.isfinite(corrected)), corrected, step)
            first = k == 0
            half = xnp.where(first, t, 0.5 * t)
            following = xnp.where(first, corrected, half * p)
            return half, following, k + np.int32(1), good, t, xnp.where(good, step, best)

        start = (
            xnp.ones_like(merit), p, count(0), xnp.zeros((), bool), xnp.zeros_like(merit),
            xnp.zeros_like(p),
        )  # fmt: skip
        _, _, k, good, t, step = loop(lambda s: ~s[3] & (s[2] < self.max_halvings), turn, start)
        return xnp.where(good, t, 0), xnp.where(good, step, 0), k


def _damped_update(b, s, y, lam, g1, jh1, jc1, g, jh, jc, scaled):
    """BFGS with the change of the Lagrangian's gradient mixed with B s, so that B stays definite."""
    change = g1 - g - y @ (jh1 - jh) - lam @ (jc1 - jc)
    ss, sy, yy = xnp.vdot(s, s), xnp.vdot(s, change), xnp.vdot(change, change)
    first = ~scaled & (sy > 0)
    b = xnp.where(
        first,
        xnp.clip(yy / xnp.where(sy > 0, sy, 1), 1e-6, 1e6)
        * xnp.eye(typeof(s).shape[0], dtype=b.dtype),
        b,
    )
    bs = b @ s
    sbs = xnp.vdot(s, bs)
    weight = xnp.where(sy >= 0.2 * sbs, 1, 0.8 * sbs / xnp.where(sbs == sy, 1, sbs - sy))
    r = weight * change + (1 - weight) * bs
    sr = xnp.vdot(s, r)
    good = (sr > xnp.finfo(b.dtype).eps * ss) & (sbs > 0)
    new = b - bs[:, None] * bs / xnp.where(good, sbs, 1) + r[:, None] * r / xnp.where(good, sr, 1)
    return xnp.where(good & xnp.all(xnp.isfinite(new)), new, b)


@struct
class AugmentedLagrangian:
    """Unconstrained (or bounded) problems with the violations charged, the price learnt.

    Each step minimises f + ρ/2 Σ (h - y/ρ)² + ρ/2 Σ max(0, λ/ρ - c)² by a method of ``minimize``, then
    sets y ← y - ρ h, λ ← max(0, λ - ρ c), and raises ρ where violations do not fall enough.
    (Hestenes, Powell 1969; Birgin, Martínez 2014)

    Attributes:
      inner: method of the inner problems.
      rho: the first price.
    """

    inner: Any = static(default="bfgs")
    rho: float = static(default=10.0)

    def init(self, problem, x, tol):
        s = SQP().init(problem, x, tol)
        rho = xnp.full_like(s["f"], self.rho)
        return {k: s[k] for k in ("x", "f", "g", "h", "c", "y", "lam", "size", "status", "nit", "nfev",
                                  "njev")} | {"rho": rho, "before": rho + xnp.inf}  # fmt: skip

    def step(self, problem, s, tol):
        y, lam, rho = s["y"], s["lam"], s["rho"]

        def charged(x):
            h, c = problem.equations(x), problem.inequalities(x)
            over = xnp.maximum(lam / rho - c, 0)
            return problem.value(x) + 0.5 * rho * (xnp.sum((h - y / rho) ** 2) + xnp.sum(over**2))

        inner = minimize(charged, s["x"], method=self.inner, tol=0.1 * tol, maxiter=500)
        x = inner.x
        f, g, h, jh, c, jc = problem.local(x)
        new_y, new_lam = y - rho * h, xnp.maximum(lam - rho * c, 0)
        stationary, feasible, product = kkt_residuals(g, h, jh, c, jc, new_y, new_lam)
        size = xnp.maximum(xnp.maximum(stationary, product), feasible)
        slow = feasible > 0.25 * s["before"]
        status = first_of(
            (~xnp.isfinite(size), Status.not_finite), (size <= tol, Status.success),
            ((rho > 1e12) & (feasible > tol), Status.infeasible),
            ((rho > 1e14), Status.stalled),
        )  # fmt: skip
        return {
            "x": x, "f": f, "g": g, "h": h, "c": c, "y": new_y, "lam": new_lam, "size": size,
            "rho": xnp.where(slow, 5 * rho, rho), "before": feasible, "status": status,
            "nit": s["nit"] + np.int32(1), "nfev": s["nfev"] + inner.nfev,
            "njev": s["njev"] + inner.njev,
        }  # fmt: skip


METHODS = {"sqp": SQP(), "augmented-lagrangian": AugmentedLagrangian()}


def minimize_constrained(
    fun, x0, args=(), constraints=None, method="sqp", *, bounds=None, tol=None,
    maxiter: int | None = None, history: bool = False,
) -> Result:  # fmt: skip
    """The least of a function where equations and inequalities hold.

    Args:
      fun: ``fun(x, *args)``, a real scalar.
      x0: tree of arrays to start from; need not satisfy the constraints.
      args: further arguments of fun.
      constraints: ``Constraints(eq=..., ineq=...)``: functions of x that shall be 0, and >= 0.
      method: "sqp", for up to some hundred variables, or "augmented-lagrangian".
      bounds: a pair (lower, upper), each a tree like x0, a number or None.
      tol: the largest residual of the conditions of Karush, Kuhn and Tucker; eps^0.4 by default.
      maxiter: steps at most.
      history: keep x, f and g of all iterations.

    The certificate has the residuals and the multipliers (of equations, of inequalities followed by
    those of lower and upper bounds).

    >>> import xcore.optimize as xo, xcore.numpy as xnp
    >>> on_circle = xo.Constraints(eq=lambda x: x @ x - 2.0)
    >>> found = xo.minimize_constrained(lambda x: x.sum(), xnp.asarray([-1.0, -0.5]), (), on_circle)
    >>> [round(float(x), 2) for x in found.x]
    [-1.0, -1.0]
    """
    who = "optimize.minimize_constrained"
    flat = Flat(who, "x0", x0)
    problem = Constrained(who, fun, flat, args, constraints or Constraints(), bounds)
    if isinstance(method, str):
        if method not in METHODS:
            raise ValueError(
                f"xcore.{who}: method must be one of {', '.join(METHODS)}, given {method!r}."
            )
        method = METHODS[method]
    tol = default_tol(flat.dtype) if tol is None else tol
    maxiter = (
        50
        if isinstance(method, AugmentedLagrangian)
        else 200 + 10 * flat.size
        if maxiter is None
        else maxiter
    )
    n = flat.size

    def solve(x):
        s = iterations(who, method, problem, x, tol, maxiter, history)
        keys = ("g", "h", "c", "size", "status", "nit", "nfev", "njev")
        aux = {k: s[k] for k in keys} | {"told": s["f"]}
        if history:
            aux["history"] = s["history"]
        return xnp.concatenate([s["x"], s["y"], s["lam"]]), aux

    me = typeof(problem.equations(flat.start)).size
    mi = typeof(problem.inequalities(flat.start)).size

    def parts(z):
        return z[:n], z[n : n + me], z[n + me :]

    def equation(z):
        """The conditions at the solution, with complementarity as the smaller of λ and c."""
        x, y, lam = parts(z)
        _, g, h, jh, c, jc = problem.local(x)
        return xnp.concatenate([g - y @ jh - lam @ jc, h, xnp.where(lam > c, c, lam)])

    def run(z):
        return solve(z[:n])

    start = xnp.concatenate([flat.start, xnp.zeros(me + mi, flat.dtype)])
    z, aux = differentiable(equation, lambda z: problem.value(parts(z)[0]), run, start)
    x, y, lam = parts(z)
    feasible = xnp.maximum(largest(aux["h"]), largest(xnp.minimum(aux["c"], 0)))
    certificate = Certificate(aux["size"], feasible, largest(lam * aux["c"]), None, (y, lam))
    return Result(
        flat.split(x), aux["told"], flat.split(aux["g"]), aux["status"], aux["nit"], aux["nfev"],
        aux["njev"], certificate, aux.get("history"),
    )  # fmt: skip
