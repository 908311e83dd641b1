"""Minimisation under equations and inequalities: sequential quadratic programs, augmented Lagrangians.

Constraints are h(x) = 0 and c(x) ≥ 0; bounds are inequalities too. With multipliers y and λ ≥ 0 a
solution has ∇f = ∇h y + ∇c λ, h = 0, c ≥ 0 and λ c = 0 (Karush, Kuhn and Tucker).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import eval_shape, jvp, linearize, vjp, vmap
from .._core import PyTree, Tracer, static, struct, typeof
from .._iterate import checkpoints
from .._solution import Certificate
from .._width import as_wide
from ._bounds import box_of
from ._constrained_rounds import in_range
from ._constraints import Constraints, all_of, constraints_of, joined
from ._given import canonical
from ._implicit import differentiable
from ._packed import loop
from ._problem import Flat, Objective, count, default_tol, largest, tolerance
from ._qp import solve_qp
from ._result import RUNNING, Result, Status, first_of, result
from ._trust import norm
from ._unconstrained import METHODS as FREE
from ._unconstrained import unconstrained


class Constrained(Objective):
    """An objective with its constraints as two vectors; bounds follow the inequalities."""

    def __init__(self, who, fun, flat, args, constraints, bounds):
        super().__init__(who, fun, flat, args)
        self.constraints = constraints_of(who, flat, constraints)
        if np.any(getattr(bounds, "keep_feasible", False)):
            raise ValueError(
                f"xcore.{who}: no method keeps bounds between its steps when there are constraints; "
                "leave keep_feasible out."
            )
        self.bounds = box_of(who, flat, bounds)
        self.has_bounds, self.held = bounds is not None, lambda x: x
        if self.has_bounds and not any(isinstance(side, Tracer) for side in self.bounds):
            self._fix(*map(np.asarray, self.bounds))

    def _fix(self, lower, upper):
        """Known bounds that are equal become equations: as inequalities they are active with one gradient."""
        same = lower == upper
        if not same.any():
            return
        fixed = Constraints(eq=lambda x: self.flat.join(x)[same] - lower[same])
        self.constraints = all_of([self.constraints, fixed])
        self.bounds = xnp.where(same, -np.inf, lower), xnp.where(same, np.inf, upper)
        self.held = lambda x: xnp.where(same, lower, x)

    def _vector(self, f, x):
        if f is None:
            return xnp.zeros(0, x.dtype)
        return joined(self.who, f(self.flat.split(x))).astype(x.dtype)

    def equations(self, x):
        return self._vector(self.constraints.eq, x)

    def general(self, x):
        """The inequalities that are no bounds."""
        return self._vector(self.constraints.ineq, x)

    def inequalities(self, x):
        return self._with_bounds(x, self.general(x))

    def _with_bounds(self, x, c):
        if not self.has_bounds:
            return c
        # a missing bound is one that is always kept
        lower, upper = self.bounds
        below = xnp.where(xnp.isfinite(lower), x - lower, 1)
        above = xnp.where(xnp.isfinite(upper), upper - x, 1)
        return xnp.concatenate([c, below, above])

    @cached_property
    def sizes(self):
        """(number of equations, of inequalities without bounds, of all inequalities)."""
        parts = self.constraints.eq, self.constraints.ineq
        me, mi = (
            eval_shape(lambda x, f=f: self._vector(f, x), self.flat.start).shape[0] for f in parts
        )
        return me, mi, mi + 2 * self.flat.size * self.has_bounds

    def _general(self, x):
        """f, the equations and the inequalities but for bounds, as one vector."""
        parts = self.value(x)[None], self.equations(x), self.general(x)
        return xnp.concatenate(parts)

    def _jacobian(self, x):
        """(values, Jacobian) of the general part, by columns or by rows, whichever are fewer."""
        me, mi, _ = self.sizes
        n, rows = self.flat.size, 1 + me + mi
        if n <= 2 * rows:
            values, push = linearize(self._general, x)
            return values, vmap(push, out_axes=1)(xnp.eye(n, dtype=x.dtype))
        values, pull = vjp(self._general, x)
        return values, vmap(pull)(xnp.eye(rows, dtype=x.dtype))[0]

    def bends(self, x, v):
        """By how much gradients of the equations and the general inequalities change along v, to first order."""
        return jvp(lambda x: self._jacobian(x)[1][1:], (x,), (v,))[1]

    def local(self, x):
        """(f, g, h, its Jacobian, c, its Jacobian)."""
        me, _, _ = self.sizes
        values, j = self._jacobian(x)
        jc = j[1 + me :]
        if self.has_bounds:
            lower, upper = (xnp.isfinite(side).astype(x.dtype) for side in self.bounds)
            jc = xnp.concatenate([jc, xnp.diag(lower), -xnp.diag(upper)])
        c = self._with_bounds(x, values[1 + me :])
        return values[0], j[0], values[1 : 1 + me], j[1 : 1 + me], c, jc

    def blank(self, x):
        """What the states of methods have before anything is evaluated: the first step is to stay."""
        (me, _, mi), n, dtype = self.sizes, self.flat.size, self.flat.dtype
        zeros = lambda *shape: xnp.zeros(shape, dtype)  # noqa: E731
        return {
            "x": xnp.clip(x, *self.bounds) if self.has_bounds else x, "f": zeros() + xnp.inf,
            "g": zeros(n), "h": zeros(me), "c": zeros(mi), "y": zeros(me), "lam": zeros(mi),
            "size": zeros(), "status": xnp.asarray(RUNNING), "nit": count(-1), "nfev": count(0),
            "njev": count(0), "finer": zeros() + 1, "loosest": zeros() + xnp.inf,
        }  # fmt: skip


class InScales(Constrained):
    """A constrained problem as a method sees it."""

    def __init__(self, problem, scales):
        self.problem, self.scales, self.who, self.flat = problem, scales, problem.who, problem.flat
        lower, upper = problem.bounds
        self.bounds, self.has_bounds = (lower / scales.x, upper / scales.x), problem.has_bounds
        self.sizes, self.bend = problem.sizes, scales.bend

    def value(self, x):
        return self.problem.value(x * self.scales.x) / self.scales.f

    def equations(self, x):
        return self.problem.equations(x * self.scales.x) / self.scales.eq

    def general(self, x):
        return self.problem.general(x * self.scales.x) / self.scales.ineq[: self.sizes[1]]


def violation(h, c):
    """The sum of what is violated."""
    return xnp.sum(xnp.abs(h)) + xnp.sum(xnp.maximum(-c, 0))


def kkt_residuals(g, h, jh, c, jc, y, lam):
    """(stationarity, feasibility, complementarity, scale), each the largest absolute value.

    Large multipliers magnify rounding errors: residuals are divided by the scale where they are judged.
    """
    scale = xnp.maximum(1, 0.01 * xnp.maximum(largest(y), largest(lam)))
    return largest(g - y @ jh - lam @ jc), infeasibility(h, c), largest(lam * c), scale


def infeasibility(h, c):
    """The largest violation."""
    return xnp.maximum(largest(h), largest(xnp.minimum(c, 0)))


def is_endless(new, x, move, feasible):
    """Whether f has fallen to where numbers end; or as far, in units of its first step, as no objective worth the

    name does, where x is far away, too, and no constraint, to first order, would stop a much longer way: in a
    bounded set a steep function may fall as far.
    """
    f, eps = new["f"], xnp.finfo(typeof(x).dtype).eps
    size = largest(x)
    onward = size / xnp.maximum(largest(move), xnp.finfo(typeof(x).dtype).tiny) * move / eps**0.5
    rounding = eps * xnp.max(xnp.abs(new["jc"]), axis=1, initial=0) * largest(onward)
    nearly = 1e-3 * xnp.abs(new["jc"]) @ xnp.abs(onward) + 8 * rounding
    open_ = new["c"] + new["jc"] @ onward >= -nearly
    fallen = (f <= -1 / eps) & (size >= eps**-0.5) & xnp.all(open_)
    return ((f == -xnp.inf) | fallen) & xnp.isfinite(feasible) & (feasible <= 1e-3 * size)


def judge(new, y, lam, tol):
    """(size of the residuals, whether they hold, whether only for multipliers that cannot be trusted).

    The latter if the gradient is a small difference of large terms y ∇h and λ ∇c, of 1 / √tol times
    its length, and the residuals are small by their scale only. Where no multipliers exist, such as
    at the tip of a cusp, those of points nearby grow without limit. (Andreani, Haeser, Martínez 2011)
    """
    here = [new[k] for k in _LOCAL[1:]]
    stationary, feasible, product, scale = kkt_residuals(*here, y, lam)
    worst = xnp.maximum(stationary, product)
    size = xnp.maximum(worst / scale, feasible)
    lengths = [xnp.sqrt(xnp.sum(new[k] ** 2, axis=1)) for k in ("jh", "jc")]
    terms = xnp.maximum(largest(y * lengths[0]), largest(lam * lengths[1]))
    opposed = terms * tol**0.5 > xnp.maximum(norm(new["g"]), tol)
    return size, size <= tol, opposed & (worst > tol)


# the model's first curvature, in units in which the largest is 1: the search shortens a step that is too
# long, and the first change of the gradient sets the curvature, but nothing lengthens one too short
FIRST = 1 / 8
PATIENCE = 4  # failures of the first step, each of which is followed by one that is shorter
ASTRAY = 1e3  # times the violation, or its unit: what no minimum of a penalised function leaves
FARTHEST = 4  # times the size of x, or its unit: a step at most


@struct
class SQP:
    """Quadratic programs of a model with linearised constraints, and a search on the merit function.

    The model's matrix is learnt from the Lagrangian's gradients, damped to stay positive definite; the
    merit is f + ρ (sum of violations); a step that curved constraints refuse is corrected once.
    (Powell 1978; Nocedal, Wright 2006, chapter 18)

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> f = lambda x: (x[0] - 1.5) ** 2 + (x[1] - 2.0) ** 2
    >>> circle = {'type': 'eq', 'fun': lambda x: x[0] ** 2 + x[1] ** 2 - 1}
    >>> found = optimize.minimize(f, xnp.array([0.5, 0.5]), constraints=circle, method=optimize.SQP())
    >>> bool(found.ok), found.x.round(2)
    (True, Array([0.6, 0.8], dtype=float32))
    """

    max_halvings: int = static(default=16)

    def init(self, problem: Any, x: Any, tol: Any) -> dict[str, Any]:
        (me, _, mi), n, dtype = problem.sizes, problem.flat.size, problem.flat.dtype
        return problem.blank(x) | {
            "jh": xnp.zeros((me, n), dtype), "jc": xnp.zeros((mi, n), dtype),
            "b": FIRST * xnp.eye(n, dtype=dtype), "rho": xnp.ones((), dtype), "failed": count(0),
            "scaled": xnp.zeros((), bool), "held": count(0),
        }  # fmt: skip

    def step(self, problem: Any, s: dict[str, Any], tol: Any) -> dict[str, Any]:
        x, first = s["x"], s["nit"] < 0
        eps = xnp.finfo(x.dtype).eps
        tol = xnp.maximum(tol * s["finer"], eps)
        p, y, lam, left = self._model_step(s, first)
        most = xnp.maximum(largest(y), largest(lam))
        rho = xnp.maximum(1.1 * most, 0.5 * (s["rho"] + 1.1 * most))
        good, move, new, n, loose = self._search(problem, s | {"rho": rho, "lam": lam}, p, left)
        rho = xnp.where(loose, 10, 1) * rho
        b = _damped_update(s, new, move, y, lam, problem.bend)
        size, fine, degenerate = judge(new, y, lam, tol)
        short = norm(move) <= 4 * eps * xnp.maximum(1, largest(x))
        failed = xnp.where(good, 0, s["failed"] + np.int32(1)).astype(np.int32)
        patience = xnp.where(s["scaled"], 1, PATIENCE)
        lost = (failed > patience) | (short & (s["failed"] >= patience))
        feasible = infeasibility(new["h"], new["c"])
        # not even the linearised constraints can be met better than where it stands
        here = violation(s["h"], s["c"])
        held = (here > 10 * tol) & (here - left <= tol * here) & ~first
        held = xnp.where(held, s["held"] + np.int32(1), 0).astype(np.int32)
        status = first_of(
            (is_endless(new, x + move, move, feasible), Status.unbounded),
            (~(xnp.isfinite(new["f"]) & xnp.isfinite(size)), Status.not_finite),
            (fine & degenerate, Status.degenerate), (fine, Status.success),
            ((lost | (held >= 20)) & (feasible > 10 * tol), Status.infeasible), (lost, Status.stagnation),
        )  # fmt: skip
        # after a failure the matrix starts anew; where no step has told the curvature yet, with a shorter one
        steep = xnp.where(s["scaled"], 0, self.max_halvings * failed)
        anew = xnp.ldexp(FIRST * xnp.eye(problem.flat.size, dtype=x.dtype), steep)
        b = xnp.where(failed > 0, anew, b)
        return new | {
            "x": x + move, "b": b, "y": y, "lam": lam, "rho": xnp.where(first, s["rho"], rho),
            "size": size, "status": status, "nit": s["nit"] + np.int32(1), "nfev": s["nfev"] + n, "finer": s["finer"],
            "njev": s["njev"] + n, "failed": failed, "held": held, "scaled": s["scaled"] | (good & ~first),
            "loosest": s["loosest"] * xnp.where(first, xnp.maximum(1, violation(new["h"], new["c"])), 1),
        }  # fmt: skip

    @staticmethod
    def _model_step(s, first):
        """(step, multipliers, the model's violation): of the quadratic program."""
        most = xnp.maximum(largest(s["y"]), largest(s["lam"]))
        charge = 10 * xnp.maximum(xnp.maximum(s["rho"], most), xnp.maximum(1, largest(s["g"])))
        found = solve_qp(s["b"], s["g"], s["jh"], s["h"], s["jc"], s["c"], charge)
        p, y, lam = (xnp.where(first, 0, v) for v in found)
        # what is left tells whether the linearised constraints can be met
        return p, y, lam, violation(s["h"] + s["jh"] @ p, s["c"] + s["jc"] @ p)

    def _search(self, problem, s, p, left):
        """(whether a step helps, it, what is there, evaluations, whether one violated too much): of 1, 1 corrected,
        1/2, 1/4, …"""
        rho, before = s["rho"], violation(s["h"], s["c"])
        slope = xnp.vdot(s["g"], p) - rho * (before - left)
        slope = xnp.minimum(slope, -0.5 * xnp.vdot(p, s["b"] @ p))
        merit = s["f"] + rho * before
        eps = xnp.finfo(merit.dtype).eps
        noise = 10 * eps * (xnp.abs(s["f"]) + rho * before + 1e-3)
        correct = _correction(s)

        def turn(state):
            t, step, k, _, _, _, loose = state
            here = dict(zip(_LOCAL, problem.local(s["x"] + step)))
            now = violation(here["h"], here["c"])
            value = xnp.where(now > s["loosest"], xnp.inf, here["f"] + rho * now)
            loose = loose | ((now > s["loosest"]) & (here["f"] + rho * now <= merit))
            good = xnp.where(xnp.isnan(value), xnp.inf, value) <= merit + 1e-4 * t * slope + noise
            half = xnp.where(k == 0, t, 0.5 * t)
            following = xnp.where(k == 0, step - correct(here), half * p)
            return half, following, k + np.int32(1), good, step, here, loose

        # a model that knows no curvature yet may send it anywhere
        longest = FARTHEST * xnp.maximum(1, largest(s["x"]))
        whole = xnp.minimum(1, longest / xnp.maximum(largest(p), longest))
        start = (
            whole, whole * p, count(0), xnp.zeros((), bool), p, {k: s[k] for k in _LOCAL}, xnp.zeros((), bool),
        )  # fmt: skip
        # own loop: inside a step
        *_, k, good, step, here, loose = loop(
            lambda s: ~s[3] & (s[2] < self.max_halvings), turn, start
        )
        new = {name: xnp.where(good, here[name], s[name]) for name in _LOCAL}
        return good, xnp.where(good, step, 0), new, k, loose


_LOCAL = ("f", "g", "h", "jh", "c", "jc")


def _correction(s):
    """From what is found at a point to the least step that mends its active constraints, to first order."""
    active = s["lam"] > 0
    rows = xnp.concatenate([s["jh"], xnp.where(active[:, None], s["jc"], 0)])
    gram = rows @ rows.T
    size = xnp.finfo(gram.dtype).eps * xnp.maximum(1, largest(gram))
    gram = gram + size * xnp.eye(typeof(gram).shape[0], dtype=gram.dtype)

    def correct(here):
        wrong = xnp.where(active & (here["c"] < 0), here["c"], 0)
        step = rows.T @ xnp.linalg.solve(gram, xnp.concatenate([here["h"], wrong]))
        return xnp.where(xnp.all(xnp.isfinite(step)), step, 0)

    return correct


def _damped_update(old, new, s, y, lam, bend):
    """BFGS with the change of the Lagrangian's gradient mixed with B s, so that B stays definite.

    ``bend`` is a curvature besides."""
    b = old["b"]
    change = new["g"] - old["g"] - y @ (new["jh"] - old["jh"]) - lam @ (new["jc"] - old["jc"])
    change = change + bend * s
    ss, sy, yy = xnp.vdot(s, s), xnp.vdot(s, change), xnp.vdot(change, change)
    first = ~old["scaled"] & (sy > 0)
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
    updated = (
        b - bs[:, None] * bs / xnp.where(good, sbs, 1) + r[:, None] * r / xnp.where(good, sr, 1)
    )
    return xnp.where(good & xnp.all(xnp.isfinite(updated)), updated, b)


@struct
class AugmentedLagrangian:
    """Unconstrained (or bounded) problems with violations penalised, the penalty learnt.

    Each step minimises f + ρ/2 Σ (h - y/ρ)² + ρ/2 Σ max(0, λ/ρ - c)² by a method of ``minimize``, then
    sets y ← y - ρ h, λ ← max(0, λ - ρ c), and raises ρ where violations do not fall enough.
    (Hestenes, Powell 1969; Birgin, Martínez 2014)

    Attributes:
      inner: method of the inner problems.
      rho: the first penalty.

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> f = lambda x: (x[0] - 1.5) ** 2 + (x[1] - 2.0) ** 2
    >>> circle = {'type': 'eq', 'fun': lambda x: x[0] ** 2 + x[1] ** 2 - 1}
    >>> found = optimize.minimize(f, xnp.array([0.5, 0.5]), constraints=circle, method=optimize.AugmentedLagrangian())
    >>> bool(found.ok), found.x.round(2)
    (True, Array([0.6, 0.8], dtype=float32))
    """

    inner: Any = static(default="bfgs")
    rho: float = static(default=10.0)

    def init(self, problem: Any, x: Any, tol: Any) -> dict[str, Any]:
        blank = problem.blank(x)
        rho = xnp.full_like(blank["f"], self.rho)
        return blank | {"nit": count(0), "rho": rho, "before": rho + xnp.inf}

    def step(self, problem: Any, s: dict[str, Any], tol: Any) -> dict[str, Any]:
        y, lam, rho = s["y"], s["lam"], s["rho"]

        def penalised(x):
            h, c = problem.equations(x), problem.inequalities(x)
            over = xnp.maximum(lam / rho - c, 0)
            return problem.value(x) + 0.5 * rho * (xnp.sum((h - y / rho) ** 2) + xnp.sum(over**2))

        inner = unconstrained(
            "optimize.minimize", penalised, s["x"], (), self.inner, None, 0.1 * tol, 500
        )
        unbounded = inner.status == np.int32(Status.unbounded)  # at this penalty, at least
        outside = infeasibility(problem.equations(inner.x), problem.inequalities(inner.x))
        inside = xnp.isfinite(outside) & (outside <= 1e-3 * largest(inner.x))
        # whose values fall faster than the penalty grows ends somewhere, as far as steps lead: no point to go on from
        was = infeasibility(problem.equations(s["x"]), problem.inequalities(s["x"]))
        astray = ~(outside <= ASTRAY * xnp.maximum(1, was))
        x = xnp.where(unbounded | astray, s["x"], inner.x)
        here = dict(zip(_LOCAL, problem.local(x)))
        h, c = here["h"], here["c"]
        # what no variable changes is violated everywhere
        inside = inside & ~xnp.any(
            (xnp.max(xnp.abs(here["jh"]), axis=1, initial=0) == 0) & (xnp.abs(h) > tol)
        )
        counts = {"nit": s["nit"] + np.int32(1), "nfev": s["nfev"] + inner.nfev + np.int32(1),
                  "njev": s["njev"] + inner.njev + np.int32(1)}  # fmt: skip
        new_y, new_lam = y - rho * h, xnp.maximum(lam - rho * c, 0)
        size, fine, degenerate = judge(here, new_y, new_lam, tol)
        feasible = infeasibility(h, c)
        slow = feasible > 0.25 * s["before"]
        status = first_of(
            (~xnp.isfinite(size), Status.not_finite),
            (fine & degenerate, Status.degenerate), (fine & ~unbounded, Status.success),
            (unbounded & inside & (rho > 1e6), Status.unbounded), ((rho > 1e12) & (feasible > tol), Status.infeasible),
            ((rho > 1e14), Status.stagnation),
        )  # fmt: skip
        return counts | {
            "x": x, "f": here["f"], "g": here["g"], "h": h, "c": c, "y": new_y, "lam": new_lam, "size": size,
            "finer": s["finer"], "loosest": s["loosest"],
            "rho": rho * xnp.where(unbounded | astray, 10, xnp.where(slow, 5, 1)), "before": feasible, "status": status,
        }  # fmt: skip


METHODS = {"sqp": SQP(), "augmented-lagrangian": AugmentedLagrangian()}
TESTED = (
    "the gradient of the Lagrangian and the products of multipliers and constraints, relative to the largest "
    "of their terms or of the curvature; violations as distances, relative to the size and the way of the variables"
)


def _method_of(who, given):
    name = canonical(who, given)
    method = METHODS.get(name) if isinstance(name, str) else name
    if method is None or isinstance(method, tuple(map(type, FREE.values()))):
        raise ValueError(
            f"xcore.{who}: a method for constraints is one of {', '.join(METHODS)}, SLSQP, trust-constr (the "
            f"same as sqp), or an object such as SQP(); given {given!r}."
        )
    return method


def minimize_constrained(
    fun: Callable[..., Any], x0: PyTree, args: Any = (), constraints: Any = None,
    method: Any = "sqp", *, bounds: Any = None, tol: float | None = None,
    maxiter: int | None = None, history: Any = False, progress: Any = False,
    checkpoint: str | Path | None = None,
) -> Result:  # fmt: skip
    """The least of a function where equations and inequalities hold.

    Args:
      fun: ``fun(x, *args)``, a real scalar.
      x0: tree of arrays to start from; need not satisfy the constraints.
      args: further arguments of fun.
      constraints: ``Constraints(eq=..., ineq=...)``: functions of x that shall be 0, and >= 0. Or SciPy's
        forms, one or a list: dicts with "type", "fun" and perhaps "jac" and "args"; objects with lb, ub
        and fun (and perhaps jac) or A, whose Hessians and difference schemes are not needed.
      method: "sqp" ("SLSQP", "trust-constr"), for up to some hundred variables, or
        "augmented-lagrangian".
      bounds: a tuple (lower, upper), each a tree like x0, a number or None; a list with a pair
        (least, greatest) for each variable; or an object with lb and ub.
      tol: the largest residual of the conditions of Karush, Kuhn and Tucker, eps^0.4 by default: of the
        Lagrangian's gradient and of complementarity relative to their largest term or to the largest curvature
        times the size of the variables, of constraints as a distance, relative to the variables. So it holds in all
        units; but along constraints with curvatures of very different size x may be off by as many times tol. Of up to
        64 variables, where Newton's step along them is longer than √tol of the variables, and leads visibly lower,
        there is no success.
      maxiter: steps at most.
      history: keep x, f, g and nfev of all iterations, or the chosen ones of these names.
      progress: show the number of steps and their rate; a text is the label.
      checkpoint: a folder, in which the state is kept about every ten seconds; a call with the same folder goes
        on from there. Not inside of ``jit``, ``grad`` and ``vmap``. A folder of another problem is refused.

    The certificate has the residuals and the multipliers (of equations, of inequalities followed by
    those of lower and upper bounds; bounds that are equal are equations, the last ones). Of up to 64
    variables the Lagrangian's Hessian along active constraints tells saddles and maxima, whose status
    is ``saddle``; where it vanishes, as that of -x y z at 0 does, higher orders are not looked at, and a
    success says that the first conditions hold: start beside such points.

    >>> import xcore.optimize as xo, xcore.numpy as xnp
    >>> on_circle = xo.Constraints(eq=lambda x: x @ x - 2.0)
    >>> found = xo.minimize_constrained(lambda x: x.sum(), xnp.asarray([-1.0, -0.5]), (), on_circle)
    >>> [round(float(x), 2) for x in found.x]
    [-1.0, -1.0]
    """
    who = "optimize.minimize_constrained"
    flat = Flat(who, "x0", as_wide(fun, x0, args))
    problem = Constrained(who, fun, flat, args, constraints, bounds)
    method = _method_of(who, method)
    tol = tolerance(who, tol, default_tol(flat.dtype))
    n = flat.size
    if maxiter is None:
        maxiter = 50 if isinstance(method, AugmentedLagrangian) else 200 + 10 * n

    checkpoint = checkpoints(who, checkpoint, problem.local, flat.start)  # pyright: ignore[reportAssignmentType]

    def solve(x):
        s = in_range(who, method, problem, InScales, x, tol, maxiter, history, progress, checkpoint)
        keys = ("g", "stationary", "feasible", "product", "flat", "status", "nit", "nfev", "njev")
        aux = {k: s[k] for k in keys} | {"value": s["f"]}
        if history:
            aux["history"] = s["history"]
        return xnp.concatenate([s["x"], s["y"], s["lam"]]), aux

    me, _, mi = problem.sizes

    def parts(z):
        return z[:n], z[n : n + me], z[n + me :]

    def equation(z):
        """The conditions at the solution, with complementarity as the smaller of λ and c."""
        x, y, lam = parts(z)
        _, g, h, jh, c, jc = problem.local(x)
        return xnp.concatenate([g - y @ jh - lam @ jc, h, xnp.where(lam > c, c, lam)])

    def run(z):
        return solve(z[:n])

    start = xnp.concatenate([problem.held(flat.start), xnp.zeros(me + mi, flat.dtype)])
    z, aux = differentiable(
        equation, lambda z: problem.value(parts(z)[0]), run, start, problem, checkpoint
    )
    x, y, lam = parts(z)
    return _judged(problem, flat, problem.held(x), y, lam, aux)


def _judged(problem, flat, x, y, lam, aux) -> Result:
    """The result at x with the multipliers y of equations and lam of inequalities."""
    _, _, h, _, c, _ = problem.local(x)
    certificate = Certificate(
        stationarity=aux["stationary"], feasibility=infeasibility(h, c), complementarity=aux["product"],
        multipliers=(y, lam), error=aux["feasible"], qualification=aux["flat"], tested=TESTED,
    )  # fmt: skip
    return result(
        flat.split(x), aux["value"], flat.split(aux["g"]), aux["status"], aux["nit"], aux["nfev"],
        aux["njev"], certificate, aux.get("history"),
    )  # fmt: skip
