"""Sums of squares: Levenberg and Marquardt's method, trust regions with bounds, fitted curves."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .. import numpy as xnp
from .. import random
from .._control import grad, hessian, linearize, vjp, vmap
from .._core import Array, PyTree, dtypes, errors, static, struct, typeof
from .._iterate import checkpoints
from .._solution import Certificate
from .._width import as_wide
from ..linalg._equations import coins
from ..numpy._select import safe_divide
from ._bounds import box_of
from ._box import projected_gradient
from ._gain import ratio as ratio_of
from ._gain import verdict as verdict_of
from ._given import with_jacobian
from ._implicit import differentiable
from ._judged import TESTED, attempts, grip, newton_step
from ._losses import cost, cost_and_scaled, loss_of, scale_of, scale_within
from ._newton import truncated_cg
from ._problem import Flat, as_tuple, count, largest, real_parts, tolerance
from ._products import PROBES, balanced
from ._result import RUNNING, Result, Status, first_of, result
from ._sparse import Matrix, SparseLevenbergMarquardt, gives_sparse, linear_by
from ._trust import AT_REST, lengths, norm, step_in_ball, transposed_times, triangle
from ._units import power_of_two, where_far


class Residuals:
    """A vector of residuals as a function of a vector, its Jacobian, its cost."""

    def __init__(self, who, fun, flat: Flat, args, loss, scale):
        self.who, self.fun, self.flat = who, fun, flat
        self.args = as_tuple(args)
        self.loss, self.scale, self.unit, self.units = loss, scale, None, None
        self.lower: Any = None
        self.upper: Any = None
        self.matrix: Matrix | None = None

    def in_units_of(self, x, whole: bool):
        """The same in powers of two, ``unit`` of residuals and ``units`` of variables: squares are numbers.

        Residuals at x have size 1; so have slopes where they were far from that. ``whole``: whether the
        Jacobian may be formed.
        """
        new = copy.copy(self)
        new.unit = power_of_two(largest(self.residuals(x)), 1.0)
        new.scale = scale_within(self.loss, self.scale / new.unit)
        new.units = new.units_of(x, whole)
        new.lower, new.upper = self.lower / new.units, self.upper / new.units
        return new

    def units_of(self, x, whole: bool):
        """Changes of the variables that change residuals by about 1; 1 where that is not far from it."""
        size, most = power_of_two(x, 1.0), float(xnp.finfo(x.dtype).max) / 4
        changes = self.changes(x, size, whole)
        powers = power_of_two(changes, 1.0)
        steep = xnp.clip(powers / size, 1 / most, most)  # a slope may leave the range
        near = (where_far(steep) == 1) & (where_far(self.unit) == 1)
        units = xnp.where(near, 1, xnp.clip(size / powers, 1 / most, most))
        return xnp.where((changes != 0) & xnp.isfinite(changes) & xnp.isfinite(x / units), units, 1)

    def changes(self, x, size, whole: bool):
        """About the largest change of a residual with each variable, to first order, if that changes by a size."""
        n = typeof(x).shape[0]
        if self.matrix is not None:
            j = self.sparse(x)[2] * size
            return abs(j).T @ xnp.ones(j.shape[0], x.dtype)
        if whole:
            push = linearize(self.residuals, x)[1]
            return vmap(lambda v: largest(push(v * size)))(xnp.eye(n, dtype=x.dtype))
        f, pull = vjp(self.residuals, x)
        signs = coins(typeof(f).size, 1, f.dtype).reshape(typeof(f).shape)
        return xnp.abs(pull(signs)[0]) * size

    def residuals(self, x):
        """fun(x) as a real vector, in units."""
        if self.unit is None:
            return self.given(x)
        return self.given(x if self.units is None else x * self.units) / self.unit

    def given(self, x):
        """fun(x) as a real vector."""
        found = real_parts(xnp.asarray(self.fun(self.flat.split(x), *self.args)))
        if not dtypes.is_inexact(found.dtype):
            raise errors.DTypeError(
                f"xcore.{self.who}: fun must return floating-point residuals, but returned {typeof(found)}."
            )
        if typeof(found).size == 0:
            raise errors.ShapeError(f"xcore.{self.who}: fun returned no residuals.")
        return found.astype(self.flat.dtype)

    def cost(self, x):
        return cost(self.loss, self.scale, self.residuals(x))

    def evaluate(self, x):
        """(cost, model residuals, model Jacobian)."""
        f, push = linearize(self.residuals, x)
        n = typeof(x).shape[0]
        j = vmap(push, out_axes=1)(xnp.eye(n, dtype=x.dtype))
        return cost_and_scaled(self.loss, self.scale, f, j)

    def sparse(self, x):
        """The same with a sparse Jacobian."""
        units = xnp.ones_like(x) if self.units is None else self.units
        j = self.matrix(x * units, self.args)  # pyright: ignore[reportOptionalCall]
        j = j * (units / (1 if self.unit is None else self.unit))
        return cost_and_scaled(self.loss, self.scale, self.residuals(x), j)

    def gradient(self, x):
        return grad(self.cost)(x)

    def curvature(self, x):
        """What the curvature of residuals adds to the Hessian; 0 if they have no second derivatives."""
        f = self.residuals(x)
        weights = f * self.loss((f / self.scale) ** 2)[1]
        try:
            return hessian(lambda x: xnp.vdot(weights, self.residuals(x)))(x)
        except Exception:  # whatever a rule that somebody wrote for first derivatives only raises
            return xnp.zeros(2 * x.shape, x.dtype)


def _model_start(problem, x):
    """A state whose first step only evaluates: no step is promised to do better than infinity."""
    n, dtype = typeof(x).shape[0], typeof(x).dtype
    zero = xnp.zeros((), dtype)
    return {
        "x": x, "f": zero + xnp.inf, "g": xnp.zeros(n, dtype), "size": zero, "r": xnp.eye(n, dtype=dtype),
        "qtf": xnp.zeros(n, dtype), "scale": xnp.zeros(n, dtype), "radius": zero, "grip": zero,
        "status": xnp.asarray(RUNNING), "nit": count(-1), "nfev": count(0), "njev": count(0),
    }  # fmt: skip


def _radius(ratio, radius, size, damping, eps):
    """The next radius: shorter where the model was wrong, longer where it was right."""
    longer = xnp.where((ratio >= 0.75) | (damping <= eps), 2 * size, radius)
    return xnp.where(
        ratio <= 0.25, xnp.where(ratio < 0, 0.1, 0.5) * xnp.minimum(radius, 10 * size), longer
    )


def _held_back(s, p, size):
    """The scales after a step p of length ``size`` was refused.

    A parameter of hardly any influence, as behind a plateau, is sent far away: by more than ten times what it is.
    Were all shortened until it stays, nothing would move; so it alone is, to about what it is.
    """
    far = (xnp.abs(p) > 10 * xnp.abs(s["x"])) & (s["x"] != 0) & (s["nit"] >= 0)
    enough = safe_divide(size, 10 * xnp.abs(s["x"]), where=far)
    return xnp.maximum(s["scale"], xnp.where(far, enough, 0))


@struct
class LevenbergMarquardt:
    """The least of the linear model in a ball scaled by the columns of the Jacobian.

    (Levenberg 1944; Marquardt 1963; Moré 1978, whose rules these are)

    Attributes:
      first_radius: the first radius, relative to the scaled length of x0; infinite for Gauss and
        Newton's method, which only shortens steps that fail.

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> t = xnp.arange(5.0)
    >>> f = lambda p: p[0] * xnp.exp(-p[1] * t) - 2 * xnp.exp(-0.5 * t)
    >>> found = optimize.least_squares(f, xnp.array([1.0, 1.0]), method=optimize.LevenbergMarquardt())
    >>> bool(found.ok), found.x.round(3)
    (True, Array([2. , 0.5], dtype=float32))
    """

    first_radius: float = static(default=100.0)

    def init(self, problem: Any, x: Any, tol: Any) -> dict[str, Any]:
        first = xnp.asarray(self.first_radius, typeof(x).dtype)
        return _model_start(problem, x) | {"first": first}

    def step(self, problem: Any, s: dict[str, Any], tol: Any) -> dict[str, Any]:
        eps = xnp.finfo(typeof(s["x"]).dtype).eps
        first = s["nit"] < 0
        scale = xnp.where(s["scale"] == 0, 1, s["scale"])
        p, damping = step_in_ball(s["r"], s["qtf"], scale, xnp.where(first, 1, s["radius"]))
        p = xnp.where(first, 0, p)
        size = norm(scale * p)
        rp = s["r"] @ p
        promised = 0.5 * xnp.vdot(rp, rp) + damping * size * size
        f, residuals, j = problem.evaluate(s["x"] + p)
        r, qtf = triangle(j, residuals)
        ratio = ratio_of(s, f, promised, norm(s["qtf"]), norm(qtf))
        take = ratio > 1e-4
        pick = lambda new, old: xnp.where(take, new, old)  # noqa: E731
        new_scale = pick(xnp.maximum(s["scale"], lengths(r)), _held_back(s, p, size))
        x, f = pick(s["x"] + p, s["x"]), pick(f, s["f"])
        g = pick(transposed_times(r, qtf), s["g"])
        reach = norm(new_scale * x)
        start = s["first"] * xnp.where(reach > 0, reach, norm(qtf))
        # no later radius is measured by one that was only a guess
        before = xnp.where(s["nit"] == 0, xnp.minimum(s["radius"], size), s["radius"])
        noise = (AT_REST * eps * norm(s["r"])) ** 2
        radius = xnp.where(first, start, _radius(ratio, before, size, damping, noise))
        radius = radius.astype(f.dtype)
        radius = xnp.minimum(radius, xnp.finfo(f.dtype).max)
        status = verdict_of(s, take, promised, size, reach, largest(g), f, tol, radius)
        return {
            "x": x, "f": f, "g": g, "size": largest(g), "r": pick(r, s["r"]),
            "qtf": pick(qtf, s["qtf"]), "scale": new_scale, "radius": radius, "status": status,
            "nit": s["nit"] + np.int32(1), "nfev": s["nfev"] + np.int32(1),
            "njev": s["njev"] + np.int32(1), "first": s["first"],
            "grip": xnp.maximum(s["grip"], xnp.where(take, grip(r), 0)),
        }  # fmt: skip

    def missing(self, problem: Any, s: dict[str, Any]) -> Any:
        """The step that is left, and which directions lost all influence."""
        held = xnp.zeros(typeof(s["x"]).shape, bool)
        return newton_step(s, problem.curvature(s["x"]), held)


@struct
class TrustRegionReflective:
    """A trust region in variables scaled by the distance to the bounds; steps reflect at them.

    (Branch, Coleman, Li 1999)

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> t = xnp.arange(5.0)
    >>> f = lambda p: p[0] * xnp.exp(-p[1] * t) - 2 * xnp.exp(-0.5 * t)
    >>> found = optimize.least_squares(f, xnp.array([1.0, 1.0]), method=optimize.TrustRegionReflective())
    >>> bool(found.ok), found.x.round(3)
    (True, Array([2. , 0.5], dtype=float32))
    """

    def init(self, problem: Any, x: Any, tol: Any) -> dict[str, Any]:
        x = _interior(x, problem.lower, problem.upper, 1e-10)
        n = typeof(x).shape[0]
        nothing = {"dv": xnp.zeros(n, x.dtype), "v": xnp.ones(n, x.dtype)}
        return _model_start(problem, x) | nothing

    def step(self, problem: Any, s: dict[str, Any], tol: Any) -> dict[str, Any]:
        eps = xnp.finfo(typeof(s["x"]).dtype).eps
        first, x = s["nit"] < 0, s["x"]
        scale = xnp.where(s["scale"] == 0, 1, s["scale"])
        d = xnp.sqrt(s["v"]) / scale
        extra = xnp.abs(s["g"] * s["dv"]) / scale  # the curvature of the scaling (equation 2.5)
        rows = xnp.concatenate([s["r"] * d, xnp.diag(xnp.sqrt(extra))])
        r, qtf = triangle(rows, xnp.concatenate([s["qtf"], xnp.zeros_like(s["qtf"])]))
        g_hat = d * s["g"]
        radius = xnp.where(first, 1, s["radius"])
        p_hat, damping = step_in_ball(r, qtf, xnp.ones_like(x), radius)
        p_hat = _reflected(problem, x, d, r, g_hat, p_hat, radius, s["v"])
        p_hat = xnp.where(first, 0, p_hat)
        p, size = d * p_hat, norm(p_hat)
        rp = r @ p_hat
        promised = -(xnp.vdot(g_hat, p_hat) + 0.5 * xnp.vdot(rp, rp))
        trial = _interior(x + p, problem.lower, problem.upper, 0.0)
        f, residuals, j = problem.evaluate(trial)
        correction = 0.5 * xnp.vdot(p_hat * extra, p_hat)
        r, qtf = triangle(j, residuals)
        g = transposed_times(r, qtf)
        ratio = ratio_of(s, f + correction, promised, norm(g_hat), norm(d * g))
        take = ratio > 1e-4
        pick = lambda new, old: xnp.where(take, new, old)  # noqa: E731
        new_scale = pick(xnp.maximum(s["scale"], lengths(r)), _held_back(s, p, size))
        x, f, g = pick(trial, x), pick(f, s["f"]), pick(g, s["g"])
        v, dv = _distances(x, g, problem.lower, problem.upper, new_scale)
        start = _first_radius(x, xnp.where(new_scale == 0, 1, new_scale), xnp.sqrt(v), g, r)
        radius = xnp.where(
            first, xnp.where(start > 0, start, 1),
            _radius(ratio, s["radius"], size, damping, (AT_REST * eps * norm(s["r"])) ** 2),
        )  # fmt: skip
        bound = largest(projected_gradient(x, g, problem.lower, problem.upper))
        status = verdict_of(
            s, take, promised, norm(new_scale * p), norm(new_scale * x), bound, f, tol, radius
        )
        return {
            "x": x, "f": f, "g": g, "size": bound, "r": pick(r, s["r"]), "qtf": pick(qtf, s["qtf"]),
            "scale": new_scale, "radius": radius, "v": v, "dv": dv, "status": status,
            "nit": s["nit"] + np.int32(1), "nfev": s["nfev"] + np.int32(1),
            "njev": s["njev"] + np.int32(1),
            "grip": xnp.maximum(s["grip"], xnp.where(take, grip(r), 0)),
        }  # fmt: skip

    def missing(self, problem: Any, s: dict[str, Any]) -> Any:
        """The step that is left, of variables that no bound holds."""
        held = s["v"] <= xnp.finfo(typeof(s["x"]).dtype).eps ** 0.5 * norm(s["scale"] * s["x"])
        step, *seen = newton_step(s, problem.curvature(s["x"]), held & (s["dv"] != 0))
        return xnp.clip(s["x"] + step, problem.lower, problem.upper) - s["x"], *seen


def _first_radius(x, scale, root, g, r):
    """How far x is from 0, and at least as far as the model falls along its gradient: a start on a bound is no size."""
    g_hat = root / scale * g
    size, bend = norm(g_hat), norm(r @ (root / scale * g_hat))
    return xnp.maximum(norm(x * scale / root), size * safe_divide(size, bend, where=bend > 0) ** 2)


def _interior(x, lower, upper, part):
    """x strictly inside, at least this part of the bounds' size away from them."""
    width = xnp.where(xnp.isfinite(upper - lower), upper - lower, 0)
    size = xnp.maximum(width, xnp.where(x != 0, xnp.abs(x), xnp.where(width > 0, 0, 1)))
    low = lower + part * xnp.maximum(size, xnp.abs(lower))
    high = upper - part * xnp.maximum(size, xnp.abs(upper))
    inside = xnp.clip(
        x, xnp.where(xnp.isfinite(lower), low, lower), xnp.where(xnp.isfinite(upper), high, upper)
    )
    middle = 0.5 * (lower + upper)
    inside = xnp.where(low > high, middle, inside)
    away = xnp.nextafter(lower, upper), xnp.nextafter(upper, lower)
    return xnp.where(lower < upper, xnp.clip(inside, *away), lower)


def _distances(x, g, lower, upper, scale):
    """(v, v'): the distance to the bound that minus the gradient points to, 1 if there is none."""
    up, down = (g < 0) & xnp.isfinite(upper), (g > 0) & xnp.isfinite(lower)
    v = xnp.where(up, upper - x, xnp.where(down, x - lower, 1))
    unit = xnp.where(scale == 0, 1, scale)  # so that v is as scale free as the variables
    v = xnp.where(up | down, v * unit, 1)
    return v, xnp.where(up, -1, xnp.where(down, 1, 0)).astype(v.dtype)


def _to_bound(x, p, lower, upper):
    """(the longest t with x + t p inside, which variables stop it)."""
    room = xnp.where(p > 0, upper - x, xnp.where(p < 0, lower - x, xnp.inf))
    steps = safe_divide(room, p, xnp.inf)
    t = xnp.min(steps)
    return t, steps == t


def _reflected(problem, x, d, r, g, p, radius, v):
    """The best of: the step cut at the bound, the step reflected there, minus the scaled gradient."""
    lower, upper = problem.lower, problem.upper
    theta = xnp.maximum(0.995, 1 - largest(g))

    def value(q):
        rq = r @ q
        return xnp.vdot(g, q) + 0.5 * xnp.vdot(rq, rq)

    def along(base, q, most):
        """base + t q with the t in [0, most] that is best for the model."""
        rq, rb = r @ q, r @ base
        bend, slope = xnp.vdot(rq, rq), xnp.vdot(g, q) + xnp.vdot(rb, rq)
        t = safe_divide(-slope, bend, most, where=bend > 0)
        return base + xnp.clip(t, 0, most) * q

    t, hits = _to_bound(x, d * p, lower, upper)
    cut = p * xnp.minimum(t, 1)
    mirrored = xnp.where(hits, -p, p)
    more, _ = _to_bound(x + d * cut, d * mirrored, lower, upper)
    left = xnp.sqrt(xnp.maximum(radius**2 - xnp.vdot(cut, cut), 0)) / xnp.maximum(norm(p), 1e-30)
    reflected = along(cut, mirrored, theta * xnp.minimum(more, left))
    down, _ = _to_bound(x, -d * g, lower, upper)
    fall = along(xnp.zeros_like(g), -g,
                 xnp.minimum(theta * down, radius / xnp.maximum(norm(g), 1e-30)))  # fmt: skip
    candidates = xnp.stack([theta * cut, reflected, fall])
    best = candidates[xnp.argmin(vmap(value)(candidates))]
    return xnp.where(t >= 1, p * xnp.where(t == 1, theta, 1), best)


@struct
class GaussNewtonCG:
    """A trust region whose steps come from conjugate gradients: the Jacobian is never formed.

    Only products with it and its transpose are. (Steihaug 1983)

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> t = xnp.arange(5.0)
    >>> f = lambda p: p[0] * xnp.exp(-p[1] * t) - 2 * xnp.exp(-0.5 * t)
    >>> found = optimize.least_squares(f, xnp.array([1.0, 1.0]), method=optimize.GaussNewtonCG())
    >>> bool(found.ok), found.x.round(3)
    (True, Array([2. , 0.5], dtype=float32))
    """

    def init(self, problem: Any, x: Any, tol: Any) -> dict[str, Any]:
        f, g = problem.cost(x), problem.gradient(x)
        size = largest(g)
        status = first_of(
            (~(xnp.isfinite(f) & xnp.isfinite(size)), Status.not_finite),
            (size == 0, Status.success),
        )
        reach = norm(x)
        return {
            "x": x, "f": f, "g": g, "size": size, "status": status, "nit": count(0), "nfev": count(1),
            "njev": count(1), "radius": xnp.where(reach > 0, reach, xnp.inf), "first": norm(g),
        }  # fmt: skip

    def _products(self, problem, x):
        """v -> Jᵀ W J v."""
        residuals, push = linearize(problem.residuals, x)
        pull = vjp(problem.residuals, x)[1]
        z = (residuals / problem.scale) ** 2
        _, slope, bend = problem.loss(z)
        weight = xnp.maximum(slope + 2 * bend * z, xnp.finfo(typeof(x).dtype).eps)
        return lambda v: pull(weight * push(v))[0]

    def missing(self, problem: Any, s: dict[str, Any]) -> Any:
        """The step that is left, as far as conjugate gradients find it.

        In units of the Hessian's rows: else a parameter of hardly any influence would seem to be where it belongs.
        """
        times, n = linearize(grad(problem.cost), s["x"])[1], typeof(s["g"]).shape[0]
        draws = random.normal(random.key(0), (PROBES, n), s["g"].dtype)
        d = balanced(times, draws)
        g = d * s["g"]
        p, _ = truncated_cg(
            lambda v: d * times(d * v), g, xnp.full_like(s["f"], xnp.inf), 0.01 * norm(g), 2 * n + 10
        )  # fmt: skip
        flat = xnp.all(s["g"] == 0) & xnp.all(times(draws[0]) == 0)
        return d * p, xnp.ones_like(s["f"]), xnp.zeros((), bool), count(xnp.where(flat, n, 0))

    def step(self, problem: Any, s: dict[str, Any], tol: Any) -> dict[str, Any]:
        x = s["x"]
        mv, size_g = self._products(problem, x), norm(s["g"])
        target = size_g * xnp.minimum(0.1, xnp.sqrt(size_g / s["first"]))
        p, _ = truncated_cg(mv, s["g"], s["radius"], target, 2 * typeof(x).shape[0] + 10)
        promised, size = -(xnp.vdot(s["g"], p) + 0.5 * xnp.vdot(p, mv(p))), norm(p)
        f, g = problem.cost(x + p), problem.gradient(x + p)
        ratio = ratio_of(s, f, promised, size_g, norm(g))
        take = ratio > 1e-4
        wider = (ratio > 0.75) & (size > 0.9 * s["radius"])
        radius = xnp.where(
            ratio < 0.25, 0.25 * size, xnp.where(wider, 2 * s["radius"], s["radius"])
        )
        x, f, g = (xnp.where(take, a, b) for a, b in ((x + p, x), (f, s["f"]), (g, s["g"])))
        status = verdict_of(s, take, promised, size, norm(x), largest(g), f, tol, radius)
        return {
            "x": x, "f": f, "g": g, "size": largest(g), "radius": radius, "status": status,
            "first": s["first"], "nit": s["nit"] + np.int32(1), "nfev": s["nfev"] + np.int32(1),
            "njev": s["njev"] + np.int32(1),
        }  # fmt: skip


METHODS = {
    "lm": LevenbergMarquardt(),
    "gauss-newton": LevenbergMarquardt(first_radius=float("inf")),
    "trf": TrustRegionReflective(),
    "matrix-free": GaussNewtonCG(),
    "sparse": SparseLevenbergMarquardt(),
}


def _method(given, bounds):
    name = given or ("lm" if bounds is None else "trf")
    if isinstance(name, str):
        if name not in METHODS:
            raise ValueError(
                f"xcore.optimize.least_squares: method must be one of {', '.join(METHODS)}, given {given!r}."
            )
        name = METHODS[name]
    if bounds is not None and not isinstance(name, TrustRegionReflective):
        raise ValueError(f"xcore.optimize.least_squares: {given!r} knows no bounds; use 'trf'.")
    return name


def _with_derivatives(problem: Residuals, jac: Any, method: Any, is_sparse: bool) -> Any:
    """Gives the problem the Jacobian that the method wants; returns what solves equations with its Hessian."""
    flat = problem.flat
    if isinstance(method, SparseLevenbergMarquardt):
        problem.matrix = Matrix(problem.who, problem.given, flat, jac)
        places = problem.matrix.pattern
        return lambda mv, y: linear_by(_normal(places(flat.start, problem.args)))(mv, y)
    if is_sparse:
        need = 'that of "sparse" where jac is sparse; jac(x).todense() serves the others'
        raise errors.bad_argument(problem.who, "method", method, need)
    if jac is not None:
        problem.given = with_jacobian(problem.who, problem.given, jac, flat, problem.args)
    return None


def _normal(p: Any) -> Any:
    return p.T.product(p)[0]


def least_squares(
    fun: Callable[..., Any], x0: PyTree, args: Any = (), method: Any = None, *,
    jac: Callable[..., Any] | None = None, bounds: Any = None,
    loss: str | Callable[[Array], Any] = "linear", f_scale: float = 1.0, tol: float | None = None,
    maxiter: int | None = None, history: bool = False, checkpoint: str | Path | None = None,
) -> Result:  # fmt: skip
    """The x for which half the sum of squares of ``fun(x)`` is least.

    Args:
      fun: ``fun(x, *args)``, residuals: an array of any shape, real or complex.
      x0: tree of arrays to start from.
      args: further arguments.
      method: "lm" (Levenberg, Marquardt), "gauss-newton", "trf" (with bounds), "matrix-free", "sparse" (many unknowns,
        few in each residual: the places of the Jacobian are found from fun, as by ``sparse.jacobian``, its
        factors are sparse; where residuals leave directions open the status is ``flat``), or an object with
        init and step; "lm", "trf" if there are bounds, "sparse" if jac is, by default.
      jac: ``jac(x, *args)``, the Jacobian, a row for each residual and a column for each number in x0: an array,
        or a ``sparse.Sparse`` matrix. None: it is computed from fun, exactly.
      bounds: a tuple (lower, upper), each a tree like x0, a number or None; a list with a pair
        (least, greatest) for each variable; or an object with lb and ub.
      loss: ρ in f_scale²/2 Σ ρ((f/f_scale)²): "linear", "soft_l1", "huber", "cauchy", "arctan" or a
        function z -> (ρ, ρ', ρ''). All but "linear" care less for outliers.
      f_scale: residuals of which size begin to be outliers.
      tol: a step so small relative to x, in scaled variables, ends it. By default steps go on until
        rounding errors hide what they gain; a refused one of eps^0.75, 2e-12 in 64 bits, is the last.
        Success then means that the Newton step from the point that is returned is shorter, relative to
        the size or the way of each parameter, than tol; than eps^0.4, if none is given. It holds in all
        units of parameters and residuals.
      maxiter: steps at most. "lm" that did not converge in half of them begins anew with short steps,
        and the better of both ends is returned.
      history: keep x, the cost f, its gradient g and nfev of all iterations.
      checkpoint: a folder, in which the state is kept about every ten seconds; a call with the same folder goes
        on from there. Not inside of ``jit``, ``grad`` and ``vmap``. A folder of another problem is refused.

    Returns a ``Result`` whose ``fun`` is the residuals; ``stats["cost"]`` is half the sum.

    >>> import xcore.optimize as xo, xcore.numpy as xnp
    >>> t = xnp.arange(4.0)
    >>> found = xo.least_squares(lambda p: p[0] * xnp.exp(-p[1] * t) - 2 * xnp.exp(-0.5 * t), xnp.ones(2))
    >>> bool(found.success), [round(float(x), 3) for x in found.x]
    (True, [2.0, 0.5])
    """
    who = "optimize.least_squares"
    x0 = as_wide(fun, x0, args)
    flat = Flat(who, "x0", x0)
    if not callable(fun):
        raise TypeError(f"xcore.{who}: fun must be a function that returns residuals.")
    problem = Residuals(who, fun, flat, args, loss_of(loss), scale_of(f_scale, flat.dtype))
    is_sparse = jac is not None and flat.size > 0 and gives_sparse(jac, x0, problem.args)
    method = _method("sparse" if is_sparse and method is None else method, bounds)
    method = method if flat.size else METHODS["matrix-free"]
    linear = _with_derivatives(problem, jac, method, is_sparse)
    problem.lower, problem.upper = box_of(who, flat, bounds, columns=True)
    eps = float(xnp.finfo(flat.dtype).eps)
    tol = tolerance(who, tol)
    tol = (4 * eps, eps**0.75) if tol is None else (tol, tol)  # pyright: ignore[reportAssignmentType]
    maxiter = 200 * (flat.size + 1) if maxiter is None else maxiter

    def whole(x):
        return cost(problem.loss, problem.scale, problem.residuals(x)), problem.lower, problem.upper

    checkpoint = checkpoints(who, checkpoint, whole, flat.start)  # pyright: ignore[reportAssignmentType]

    def solve(x):
        whole = not isinstance(method, GaussNewtonCG)
        s = attempts(who, method, problem, x, tol, maxiter, history, checkpoint, whole)
        value = {"residuals": problem.given(s["x"]), "cost": s.pop("f")}
        return s.pop("x"), s | {"value": value}

    def value(x):
        f = problem.residuals(x)
        return {"residuals": f, "cost": cost(problem.loss, problem.scale, f)}

    def equation(x):
        g = problem.gradient(x)
        return g if bounds is None else projected_gradient(x, g, problem.lower, problem.upper)

    x, aux = differentiable(equation, value, solve, flat.start, problem, checkpoint, linear)
    known = aux["value"]
    how = {"stationarity": aux["size"], "error": aux["error"], "gain": aux["gain"]}
    if isinstance(method, (LevenbergMarquardt, TrustRegionReflective)):
        how["undetermined"] = aux["undetermined"]
    certificate = Certificate(tested=TESTED, **how)
    return result(
        flat.split(x), known["residuals"], flat.split(aux["g"]), aux["status"], aux["nit"],
        aux["nfev"], aux["njev"], certificate, aux.get("history"), {"cost": known["cost"]},
    )  # fmt: skip
