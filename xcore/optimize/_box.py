"""L-BFGS-B: the least of a function in a box.

A step goes from x to the first least of the quadratic model along the projected gradient path (the
Cauchy point), on from there over the variables that are free (the subspace minimum), and then a line
search goes towards that point. (Byrd, Lu, Nocedal, Zhu 1995)

The model's matrix is B = θ - W M Wᵀ with W = [Yᵀ, θ Sᵀ], M⁻¹ = [[-D, Lᵀ], [L, θ S Sᵀ]]. The published
search for the Cauchy point goes from one breakpoint of the path to the next; here all its segments are
looked at together, by cumulative sums over the sorted breakpoints.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import static, struct, typeof
from ..numpy._select import safe_divide
from ._descent import IDLE, first_status, gains, is_bottomless, nothing_gained
from ._line_search import Wolfe
from ._problem import count, largest
from ._result import Status, first_of


def projected_gradient(x, g, lower, upper):
    """x - P(x - g): zero where nothing in the box falls any more. Small g survives beside large x."""
    return xnp.clip(g, x - upper, x - lower)


@struct
class LBFGSB:
    """L-BFGS-B.

    Attributes:
      memory: how many pairs of changes are kept.

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> f = lambda x: (x[0] - 1) ** 2 + (x[1] + 1) ** 2
    >>> found = optimize.minimize(f, xnp.zeros(2), bounds=(0.0, 2.0), method=optimize.LBFGSB())
    >>> bool(found.ok), found.x.round(2)
    (True, Array([1., 0.], dtype=float32))
    """

    memory: int = static(default=10)

    def init(self, problem: Any, x: Any, tol: Any) -> dict[str, Any]:
        n, m, dtype = typeof(x).shape[0], self.memory, typeof(x).dtype
        x = xnp.clip(x, problem.lower, problem.upper)
        f, g = problem.value_and_grad(x)
        size = largest(projected_gradient(x, g, problem.lower, problem.upper))
        return {
            "x": x, "f": f, "g": g, "size": size, "status": first_status(f, size, tol),
            "nit": count(0), "nfev": count(1), "njev": count(1), "fresh": xnp.ones((), bool),
            "s": xnp.zeros((m, n), dtype), "y": xnp.zeros((m, n), dtype),
            "theta": xnp.ones((), dtype), "pairs": count(0), **nothing_gained(dtype),
        }  # fmt: skip

    def step(self, problem: Any, s: dict[str, Any], tol: Any) -> dict[str, Any]:
        lower, upper = problem.lower, problem.upper
        x, f, g = s["x"], s["f"], s["g"]
        model = _model(s["s"], s["y"], s["theta"])
        cauchy, c = _cauchy_point(x, g, lower, upper, s["theta"], *model)
        target = _subspace_minimum(x, g, lower, upper, s["theta"], *model, cauchy, c)
        d = target - x
        slope = xnp.vdot(g, d)
        plain = s["fresh"] | ~(slope < 0)
        steepest = xnp.clip(x - g, lower, upper) - x
        d = xnp.where(plain, steepest, d)
        slope = xnp.where(plain, xnp.vdot(g, steepest), slope)
        first = 1 / xnp.maximum(xnp.sqrt(xnp.vdot(d, d)), 1)
        # rounding may carry x + d out of the box by a little: the search is projected
        found = Wolfe()(
            _Clipped(problem), x, f, g, d, slope, xnp.where(s["fresh"], first, 1).astype(f.dtype),
            _longest(x, d, lower, upper),
        )  # fmt: skip
        new_x = xnp.clip(x + found.step * d, lower, upper)
        size = largest(projected_gradient(new_x, found.g, lower, upper))
        gained = gains(s, found.f, size)
        status = first_of(
            (is_bottomless(found, f), Status.unbounded),
            (size <= tol, Status.success),
            ((~found.ok & plain) | (gained["idle"] >= IDLE), Status.stagnation),
        )
        return gained | {
            "x": new_x, "f": found.f, "g": found.g, "size": size, "status": status,
            "nit": s["nit"] + np.int32(1), "nfev": s["nfev"] + found.nfev,
            "njev": s["njev"] + found.nfev, "fresh": ~found.ok,
            **self._remember(s, new_x - x, found.g - g),
        }  # fmt: skip

    def _remember(self, s, step, y):
        sy, yy = xnp.vdot(step, y), xnp.vdot(y, y)
        good = sy > xnp.finfo(typeof(y).dtype).eps * yy
        push = lambda rows, new: xnp.where(good, xnp.concatenate([rows[1:], new[None]]), rows)  # noqa: E731
        return {
            "s": push(s["s"], step), "y": push(s["y"], y),
            "theta": safe_divide(yy, sy, s["theta"], where=good),
            "pairs": s["pairs"] + good.astype(np.int32),
        }  # fmt: skip


class _Clipped:
    """The problem at the nearest point of the box."""

    def __init__(self, problem):
        self.problem = problem

    def value_and_grad(self, x):
        return self.problem.value_and_grad(xnp.clip(x, self.problem.lower, self.problem.upper))


def _longest(x, d, lower, upper):
    """The longest step that stays in the box, at least 1: the target is in it."""
    room = xnp.where(d > 0, upper - x, xnp.where(d < 0, lower - x, xnp.inf))
    steps = safe_divide(room, d, xnp.inf)
    return xnp.maximum(xnp.min(steps, initial=xnp.inf), 1)


def _model(s, y, theta):
    """(W, M): rows of changes that are still missing are zero, and get a 1 in M⁻¹."""
    sy, ss = s @ y.T, s @ s.T
    m = typeof(sy).shape[0]
    missing = xnp.diag((xnp.diagonal(sy) == 0).astype(theta.dtype))
    lower = xnp.tril(sy, -1)
    inverse = xnp.block([
        [-xnp.diag(xnp.diagonal(sy)) - missing, lower.T], [lower, theta * ss + missing]
    ])  # fmt: skip
    w = xnp.concatenate([y, theta * s]).T
    return w, xnp.linalg.solve(inverse, xnp.eye(2 * m, dtype=theta.dtype))


def _cauchy_point(x, g, lower, upper, theta, w, m):
    """(point, Wᵀ (point - x)): the first least of the model along P(x - t g), t ≥ 0."""
    bound = xnp.where(g < 0, upper, lower)
    t = safe_divide(x - bound, g, xnp.inf)
    t = xnp.maximum(t, 0)
    order = xnp.argsort(t)
    ts, gs, ws = t[order], g[order], w[order]
    finite = xnp.isfinite(ts)
    zero = xnp.zeros(1, g.dtype)
    # segment j begins at breakpoint j - 1, where the variables before j have stopped
    begin = xnp.concatenate([zero, xnp.where(finite, ts, 0)])
    end = xnp.concatenate([ts, zero + xnp.inf])
    stopped = finite.astype(g.dtype)
    moving = lambda v: xnp.sum(v, axis=0) - xnp.concatenate([  # noqa: E731
        xnp.zeros_like(v[:1]), xnp.cumsum(v * stopped.reshape(-1, *[1] * (v.ndim - 1)), axis=0)
    ])  # fmt: skip
    squares, p = moving(gs * gs), -moving(gs[:, None] * ws)
    reached = xnp.where(finite, ts, 0)[:, None] * gs[:, None] * ws * stopped[:, None]
    c = begin[:, None] * p - xnp.concatenate([
        xnp.zeros_like(reached[:1]), xnp.cumsum(reached, axis=0)
    ])  # fmt: skip
    pm = p @ m
    slope = -squares + theta * begin * squares - xnp.sum(pm * c, axis=1)
    curve = theta * squares - xnp.sum(pm * p, axis=1)
    ahead = safe_divide(-slope, curve, xnp.inf, where=curve > 0)
    stop = (slope >= 0) | (begin + ahead <= end) | ~xnp.isfinite(end)
    j = xnp.argmax(stop)
    more = xnp.where(slope[j] >= 0, 0, ahead[j])
    last = begin[j] + xnp.where(xnp.isfinite(more), more, 0)
    point = xnp.where(t <= last, bound, x - last * g)
    point = xnp.where(xnp.isfinite(point), xnp.clip(point, lower, upper), x)
    return point, w.T @ (point - x)


def _subspace_minimum(x, g, lower, upper, theta, w, m, cauchy, c):
    """The model's least over the variables free at the Cauchy point, back into the box."""
    free = (cauchy > lower) & (cauchy < upper)
    r = xnp.where(free, g + theta * (cauchy - x) - w @ (m @ c), 0)
    wf = xnp.where(free[:, None], w, 0)
    v = m @ (wf.T @ r)
    n = xnp.eye(typeof(m).shape[0], dtype=m.dtype) - m @ (wf.T @ wf) / theta
    v = xnp.linalg.solve(n, v)
    d = -(r / theta + xnp.where(free, wf @ v, 0) / (theta * theta))
    d = xnp.where(free & xnp.all(xnp.isfinite(d)), d, 0)
    projected = xnp.clip(cauchy + d, lower, upper)
    # projecting is better than shortening, if it is downhill (Morales, Nocedal 2011)
    room = xnp.where(d > 0, upper - cauchy, xnp.where(d < 0, lower - cauchy, 0))
    short = xnp.min(safe_divide(room, d, 1), initial=1)
    downhill = xnp.vdot(projected - x, g) < 0
    return xnp.where(downhill, projected, cauchy + short * d)
