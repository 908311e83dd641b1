"""Methods that use second derivatives: Newton with conjugate gradients, and trust regions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import static, struct, typeof
from ..linalg._cg import cg_begin, cg_step
from ._descent import has_fallen, is_bottomless, start_state
from ._line_search import Wolfe, line_search_of
from ._loop import iterations
from ._packed import loop
from ._problem import count, largest
from ._result import Status, first_of


def _tiny_over(x):
    """x, or the least positive number where it is 0: a divisor."""
    return xnp.where(x == 0, xnp.finfo(typeof(x).dtype).tiny, x)


def _to_boundary(p, d, radius):
    """The larger t with |p + t d| = radius."""
    a, b, c = xnp.vdot(d, d), xnp.vdot(p, d), xnp.vdot(p, p) - radius * radius
    root = xnp.sqrt(xnp.maximum(b * b - a * c, 0))
    return xnp.where(b > 0, -c / _tiny_over(b + root), (root - b) / _tiny_over(a))


def truncated_cg(mv, g, radius, target, limit: int):
    """(p, whether the boundary or negative curvature stopped it): about the least of g·p + p·Hp/2.

    Conjugate gradients in a ball, stopped at its boundary or at residual ``target``. With an infinite
    ball, a step as long as positive curvature of that size would ask for leads out of a negative one. (Steihaug 1983)
    """
    inside, eps = xnp.isfinite(radius), xnp.finfo(typeof(g).dtype).eps
    safe = xnp.where(inside, radius, 1)

    def step(s):
        before, before_r = s["x"], s["r"]
        s, curvature = cg_step(s, mv, lambda r: r)
        d, ahead, bad = s["p"], s["x"], curvature <= 0
        outside = inside & (xnp.vdot(ahead, ahead) >= radius * radius)
        # staying where it is would leave a saddle by steps of steepest descent only
        bend = xnp.maximum(-curvature, eps**0.5 * xnp.vdot(d, d))
        away = xnp.where(curvature < 0, xnp.vdot(before_r, before_r) / _tiny_over(bend), 0)
        start = xnp.where(
            xnp.any(before != 0) | (away > 0), before + away * d, d
        )  # downhill at least
        p = xnp.where(bad, start, ahead)
        boundary = before + _to_boundary(before, d, safe) * d
        p = xnp.where(inside & (bad | outside), boundary, p)
        stopped = bad | outside
        return s | {
            "x": p,
            "stopped": stopped,
            "small": xnp.sqrt(xnp.vdot(s["r"], s["r"])) <= target,
        }

    no = xnp.zeros((), bool)
    start = cg_begin(xnp.zeros_like(g), -g) | {"stopped": no, "small": no}
    s = iterations(lambda s: ~(s["stopped"] | s["small"]), step, start, limit)
    return s["x"], s["stopped"]


@struct
class NewtonCG:
    """Newton's method; equations are solved as far as it pays by conjugate gradients.

    Where the function bends down it goes as far as if it bent up as much, and so leaves saddles. Only
    products with the Hessian are formed. (Nocedal, Wright 2006, algorithm 7.1)

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> f = lambda x: (x[0] - 1) ** 2 + 10 * (x[1] - x[0] ** 2) ** 2
    >>> found = optimize.minimize(f, xnp.array([-1.0, 1.0]), method=optimize.NewtonCG())
    >>> bool(found.ok), found.x.round(2)
    (True, Array([1., 1.], dtype=float32))
    """

    line_search: Any = static(default=None)

    def init(self, problem: Any, x: Any, tol: Any) -> dict[str, Any]:
        return start_state(problem, x, tol)

    def step(self, problem: Any, s: dict[str, Any], tol: Any) -> dict[str, Any]:
        x, f, g = s["x"], s["f"], s["g"]
        _, hessian = problem.newton(x)
        norm = xnp.sqrt(xnp.vdot(g, g))
        target = norm * xnp.minimum(0.5, xnp.sqrt(norm))
        n = typeof(x).shape[0]
        p, _ = truncated_cg(hessian, g, xnp.full_like(f, xnp.inf), target, 2 * n + 10)
        slope = xnp.vdot(g, p)
        downhill = slope < 0
        p, slope = xnp.where(downhill, p, -g), xnp.where(downhill, slope, -norm * norm)
        search = line_search_of(self.line_search, Wolfe())
        found = search(problem, x, f, g, p, slope, xnp.ones_like(f), xnp.full_like(f, xnp.inf))
        status = first_of(
            (is_bottomless(found, f), Status.unbounded),
            (largest(found.g) <= tol, Status.success),
            (~found.ok, Status.stagnation),
        )
        return s | {
            "x": x + found.step * p, "f": found.f, "g": found.g, "status": status,
            "size": largest(found.g), "nit": s["nit"] + np.int32(1),
            "nfev": s["nfev"] + found.nfev, "njev": s["njev"] + found.nfev,
        }  # fmt: skip


# Trust regions


def steihaug(problem, x, g, radius):
    """(step, decrease of the model): conjugate gradients up to the boundary."""
    _, mv = problem.newton(x)
    norm = xnp.sqrt(xnp.vdot(g, g))
    p, _ = truncated_cg(
        mv, g, radius, norm * xnp.minimum(0.1, xnp.sqrt(norm)), 2 * typeof(x).shape[0] + 10
    )
    return p, -(xnp.vdot(g, p) + 0.5 * xnp.vdot(p, mv(p)))


def dogleg(problem, x, g, radius):
    """(step, decrease of the model): along the bend from the steepest descent to Newton's point.

    Where the Hessian is not positive definite, to the boundary along the gradient. (Powell 1970)
    """
    h = problem.hessian(x)
    newton = -xnp.linalg.solve(h, g)
    gg, ghg = xnp.vdot(g, g), xnp.vdot(g, h @ g)
    newton_length = xnp.sqrt(xnp.vdot(newton, newton))
    definite = xnp.all(xnp.linalg.eigvalsh(h) > 0) & xnp.isfinite(newton_length)
    newton = xnp.where(definite, newton, 0)
    cauchy = -gg / _tiny_over(xnp.where(ghg > 0, ghg, 1)) * g
    short = xnp.sqrt(xnp.vdot(cauchy, cauchy)) < radius
    bent = cauchy + _to_boundary(cauchy, newton - cauchy, radius) * (newton - cauchy)
    straight = -radius / _tiny_over(xnp.sqrt(gg)) * g
    p = xnp.where(definite & (newton_length <= radius), newton,
                  xnp.where(definite & short, bent, straight))  # fmt: skip
    return p, -(xnp.vdot(g, p) + 0.5 * xnp.vdot(p, h @ p))


def exact(problem, x, g, radius):
    """(step, decrease of the model): the least of the quadratic model in the ball.

    p = -(H + σ)⁻¹ g with the σ ≥ 0 for which |p| is the radius, in the basis of eigenvectors, by
    Newton's method on 1/|p|. (Moré, Sorensen 1983)
    """
    w, q = xnp.linalg.eigh(problem.hessian(x))
    return minimum_in_ball(w, q, q.T @ g, radius)


def minimum_in_ball(w, q, c, radius):
    """The step for eigenvalues w, eigenvectors q and the gradient's coefficients c."""
    limits = xnp.finfo(typeof(w).dtype)
    eps = limits.eps
    scale = xnp.maximum(largest(w), 4 * limits.tiny / eps)
    least = xnp.maximum(0, -w[0])
    floor = least + eps * scale

    def length(sigma):
        p = -c / (w + sigma)
        return p, xnp.sqrt(xnp.vdot(p, p))

    def newton(s):
        sigma, lo, hi, k, _ = s
        p, size = length(sigma)
        lo, hi = xnp.where(size > radius, sigma, lo), xnp.where(size > radius, hi, sigma)
        slope = xnp.vdot(p, p / (w + sigma))
        new = sigma + (size / radius - 1) * size * size / _tiny_over(slope)
        new = xnp.where((new > lo) & (new < hi), new, 0.5 * (lo + hi))
        good = xnp.abs(size - radius) <= 1e-3 * radius
        return xnp.where(good, sigma, new), lo, hi, k + np.int32(1), good

    p0, size0 = length(floor)
    inside = size0 <= radius
    most = least + xnp.sqrt(xnp.vdot(c, c)) / radius + eps * scale
    start = (most, floor, most * 1.001, xnp.zeros((), np.int32), inside)
    # own loop: inside a step
    sigma = loop(lambda s: ~s[4] & (s[3] < 60), newton, start)[0]
    p = xnp.where(inside, p0, length(sigma)[0])
    # the hard case: p does not reach the boundary, and moving along the least eigenvector pays
    hard = inside & (w[0] < 0)
    gap = xnp.sqrt(xnp.maximum(radius * radius - xnp.vdot(p, p), 0))
    first = xnp.arange(typeof(w).shape[0]) == 0
    p = xnp.where(hard & first, p + xnp.where(p[0] < 0, -gap, gap), p)
    return q @ p, -(xnp.vdot(c, p) + 0.5 * xnp.vdot(p, w * p))


SUBPROBLEMS = {"steihaug": steihaug, "dogleg": dogleg, "exact": exact}


@struct
class TrustRegion:
    """The least of the quadratic model in a ball, which grows and shrinks with the model's truth.

    Attributes:
      subproblem: "steihaug" (products with the Hessian), "dogleg" or "exact" (the whole Hessian).
      radius: the first one.
      largest_radius: the largest one.
      Both are in units in which the Hessian has a diagonal of ones where a round starts.
      patience: iterations of the first round; the next, in units of the point it came to, has twice as many.
      accept: a step is taken if the decrease is more than this part of what was promised.

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> f = lambda x: (x[0] - 1) ** 2 + 10 * (x[1] - x[0] ** 2) ** 2
    >>> found = optimize.minimize(f, xnp.array([-1.0, 1.0]), method=optimize.TrustRegion())
    >>> bool(found.ok), found.x.round(2)
    (True, Array([1., 1.], dtype=float32))
    """

    subproblem: str = static(default="exact")
    radius: float = static(default=1.0)
    largest_radius: float = static(default=float("inf"))
    accept: float = static(default=1e-4)
    patience: int = static(default=20)

    def init(self, problem: Any, x: Any, tol: Any) -> dict[str, Any]:
        radius = xnp.full((), self.radius, typeof(x).dtype)
        return start_state(problem, x, tol) | {"radius": radius, "patience": count(self.patience)}

    def step(self, problem: Any, s: dict[str, Any], tol: Any) -> dict[str, Any]:
        x, f, g, radius = s["x"], s["f"], s["g"], s["radius"]
        p, promised = SUBPROBLEMS[self.subproblem](problem, x, g, radius)
        new_f, new_g = problem.value_and_grad(x + p)
        eps = xnp.finfo(typeof(f).dtype).eps
        noise = 8 * eps * xnp.abs(f)
        ratio = (f - new_f + noise) / _tiny_over(promised + noise)
        # where both are rounding errors the gradient decides
        stays = xnp.all(x + p == x)
        lost = stays | ((promised <= noise) & (xnp.abs(f - new_f) <= noise))
        ratio = xnp.where(lost, xnp.where(largest(new_g) < largest(g), 1, -1), ratio)
        finite = xnp.isfinite(new_f) & xnp.all(xnp.isfinite(new_g))
        ratio = xnp.where(finite & (promised > 0), ratio, -1)
        size = xnp.sqrt(xnp.vdot(p, p))
        wider = (ratio > 0.75) & (size >= 0.9 * radius)
        radius = xnp.where(ratio < 0.25, 0.25 * size, xnp.where(wider, 2 * radius, radius))
        radius = xnp.minimum(radius, self.largest_radius)
        take = ratio > self.accept
        f, g = xnp.where(take, new_f, f), xnp.where(take, new_g, g)
        tiny = radius <= eps * xnp.maximum(xnp.sqrt(xnp.vdot(x, x)), eps)
        status = first_of(
            (has_fallen(f, s["f"]), Status.unbounded),
            (largest(g) <= tol, Status.success),
            (tiny | ~xnp.isfinite(promised), Status.stagnation),
            # the ball may have the wrong shape by now
            ((s["nit"] + 1 >= s["patience"]) & ~wider, Status.max_steps),
        )
        return s | {
            "x": xnp.where(take, x + p, x), "f": f, "g": g, "radius": radius, "status": status,
            "size": largest(g), "nit": s["nit"] + np.int32(1),
            "nfev": s["nfev"] + np.int32(1), "njev": s["njev"] + np.int32(1),
        }  # fmt: skip
