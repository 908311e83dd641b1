"""Fits in attempts, each judged where it ended by what it still has to go.

The Newton step from there is the error of the parameters to first order; each component is compared with
how large that parameter is or how far it has come, so that no unit is in the verdict. A fit whose first
steps were too long may walk along a valley that has no end, or stand on a plateau where a parameter has no
influence any more: where a method did not converge in half of its steps it begins anew, with a first radius
that is short. Where a parameter has no influence at all, and other values of it are better, it begins there.

Where residuals are large, or rounding hides what a step gains, a method that knows no second derivatives of residuals
ends short of the minimum. The Newton step that is left knows them; where it is short it is taken, and judged anew.
"""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._control import cond, vmap
from .._core import typeof
from ._box import projected_gradient
from ._loop import empty_rows, in_rounds, iterations_from
from ._problem import count, default_tol, largest
from ._result import Status, first_of
from ._trust import lengths
from ._units import relative_error

TESTED = "each component of the Newton step, relative to the size and the way of its parameter"
SHORT = 0.1  # the first radius of a second attempt, relative to the scaled length of x0
# Of a variable without influence: the values that are tried, as shares of what it is, and as they stand.
SHARES = (0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 0.0, -1.0)
SETTLE = 3  # Newton steps from where a method ended, of less than the next number
FAR = 0.01  # a step of this part of a parameter, from where a method ended, shows that nothing converged


def grip(r):
    """How far the column next to depending on those before it is from that: the sine of an angle."""
    size = lengths(r)
    return xnp.min(xnp.abs(xnp.diagonal(r)) / xnp.where(size > 0, size, 1), initial=1)


def newton_step(s, bend, held):
    """(the Newton step of free variables, the least eigenvalue, whether they lost their influence, how many directions
    have none).

    The Hessian is RᵀR + B, B what the curvature of residuals adds. With R D⁻¹ = U S Vᵀ, columns of length
    1, it is (S Vᵀ D)ᵀ (1 + S⁻¹ Vᵀ D⁻¹ B D⁻¹ V S⁻¹) (S Vᵀ D): nothing is squared, and where R decides
    alone its condition counts once. Directions that neither R nor B knows have no part in the step. Influence
    is lost where residuals have more of such a direction than rounding errors though R knew all directions
    before, or where a column is nothing beside what it was.
    """
    r, qtf = s["r"], s["qtf"]
    n, eps = typeof(qtf).shape[0], xnp.finfo(typeof(qtf).dtype).eps
    size = lengths(r)
    d = xnp.where(size > 0, size, 1)
    rows = xnp.where(held, 0, r / d)
    bend = xnp.where(held | held[:, None], 0, bend / d / d[:, None])
    fine = xnp.all(xnp.isfinite(rows)) & xnp.all(xnp.isfinite(qtf))
    u, sizes, vt = xnp.linalg.svd(xnp.where(fine, rows, 0))
    most = xnp.max(sizes, initial=0)
    known = sizes > n * eps * most
    w = xnp.where(known, sizes, xnp.where(most > 0, n * eps * most, 1))
    bend = vt @ xnp.where(xnp.isfinite(bend), bend, 0) @ vt.T
    straightest = xnp.abs(xnp.diagonal(bend)) <= eps**0.5 * xnp.maximum(most**2, largest(bend))
    open_ = ~known & straightest
    known = known | (xnp.abs(xnp.diagonal(bend)) > eps**0.5 * largest(bend))
    both = known[:, None] & known
    straight = xnp.diag(xnp.where(known, (sizes / w) ** 2, 1))
    values, q = xnp.linalg.eigh(straight + xnp.where(both, bend, 0) / w / w[:, None])
    c = u.T @ xnp.where(fine, qtf, 0)
    noise = 16 * eps * (xnp.sqrt(2 * s["f"]) + xnp.vdot(size, xnp.abs(s["x"])))
    of_held = vt**2 @ held.astype(r.dtype) > 0.5
    hidden = xnp.any(~known & ~of_held & (xnp.abs(c) > noise))
    c = q.T @ xnp.where(known, c, 0)
    step = q @ (-c / xnp.maximum(xnp.abs(values), n * eps * largest(values)))
    step = (vt.T @ (step / w)) / d
    gone = ~held & (s["scale"] > 0) & (size <= eps * s["scale"])
    lost = (hidden & (s["grip"] > eps**0.5)) | xnp.any(gone)
    step = xnp.where(fine, step, xnp.nan)
    return step, xnp.min(values, initial=1), lost, count(xnp.sum(open_ & ~of_held))


def _seen(method, problem, s, x0):
    """(the Newton step, the error that it is, its promised gain, the least eigenvalue, whether influence was lost, how
    many directions have none)."""
    step, least, lost, *without = method.missing(problem, s)
    reach = xnp.maximum(xnp.abs(s["x"]), xnp.abs(s["x"] - x0))
    gain = 0.5 * xnp.abs(xnp.vdot(s["g"], step))
    error = relative_error(step, reach, xnp.ones_like(reach), x0)
    return step, error, gain, least, lost & (s["f"] > 0), without[0] if without else count(0)


def _elsewhere(problem, s):
    """(a point that differs in variables without any influence, whether residuals are visibly less there, whether
    derivatives do not tell what they are).

    On a plateau a column of the Jacobian is 0, and no step is missing; other values of its variable tell.
    """
    x = s["x"]
    dead = lengths(s["r"]) == 0 if "r" in s else xnp.broadcast_to(xnp.all(s["g"] == 0), x.shape)
    dead = dead & xnp.isfinite(s["f"])
    shares = xnp.asarray(SHARES, x.dtype)[:, None]
    tried = xnp.concatenate([shares * x, shares + xnp.zeros_like(x)])
    tried = xnp.clip(xnp.where(dead, tried, x), problem.lower, problem.upper)
    some = xnp.any(dead)
    costs = cond(some, lambda: vmap(problem.cost)(tried), lambda: xnp.full(len(tried), s["f"]))
    costs = xnp.where(xnp.isfinite(costs), costs, xnp.inf)
    least, rounding = xnp.argmin(costs), xnp.finfo(x.dtype).eps ** 0.75
    others = xnp.any(xnp.abs(costs - s["f"]) > rounding * s["f"])
    nothing = (
        (s["f"] == 0) & xnp.all(dead) & ~others
    )  # nor did any residual: they may be too small for the dtype
    return (
        tried[least],
        some & (costs[least] < (1 - rounding) * s["f"]),
        (some & others & (s["f"] > 0)) | nothing,
    )


def _verdict(s, error, gain, least, lost, tol):
    """The status of where a method ended."""
    ended = s["status"]
    good = ((s["f"] == 0) | (error <= tol)) & ~lost
    # beside rounding errors of eigenvalues whose largest can be as large as it likes
    saddle = least < -(xnp.finfo(typeof(error).dtype).eps ** 0.5)
    # where the sum falls by almost nothing while parameters change by as much as themselves
    flat = lost | ((error > FAR) & (gain <= 1e-2 * s["f"]))
    return first_of(
        (ended == np.int32(Status.not_finite), Status.not_finite),
        (good & saddle, Status.saddle),
        (good, Status.success),
        (flat, Status.flat),
        (ended == np.int32(Status.max_steps), Status.max_steps),
        (True, Status.stagnation),
    )


def attempts(
    who, method, problem, x0, tol, maxiter: int, history, checkpoint=None, whole=True
) -> dict:
    """What is known at the end, in the user's units; ``tol``: of steps that are taken, and refused.

    ``whole``: whether the Jacobian may be formed.
    """
    local, dtype, mine = problem.in_units_of(x0, whole), x0.dtype, x0
    x0 = mine / local.units
    asked = tol[0] if tol[0] == tol[1] else default_tol(dtype)
    restarts = np.isfinite(getattr(method, "first_radius", np.inf))
    # enough is left for another attempt
    limit = maxiter // 2 if restarts and maxiter >= 100 else maxiter

    def shown(name, v):
        """In the user's units, one after the other: their squares may be no numbers."""
        if name == "x":
            return v * local.units
        if name in ("f", "gain"):
            return v * local.unit * local.unit
        return v * local.unit / local.units * local.unit if name == "g" else v

    def begin(s):
        state = method.init(local, s["from"], tol)
        if restarts:
            state["first"] = xnp.where(s["turn"] == 0, state["first"], SHORT).astype(dtype)
        return state

    def run(s, state, checkpoint):
        most = xnp.where(s["settled"] > 0, s["nit"], xnp.where(s["turn"] == 0, limit, maxiter))
        return iterations_from(
            who, method, local, state, tol, most,
            on=s["going"], rows=s.get("history"), before=s["nit"], checkpoint=checkpoint,
            shown=lambda k, v: s["nfev"] + v if k == "nfev" else shown(k, v),
        )  # fmt: skip

    def end(s, _, ended):
        step, error, gain, least, lost, without = _seen(method, local, ended, x0)
        other, lower, untold = _elsewhere(local, ended)
        lost = lost | (untold & (without > 0))
        lower = lower & (least >= -(xnp.finfo(dtype).eps ** 0.5))  # saddles are told as such
        status = _verdict(ended, error, gain, least, lost | lower, asked)
        first = (s["turn"] == 0) & (s["settled"] == 0)
        better = (status == 0) | first | ~(s["f"] <= ended["f"])
        settles = (status != 0) & ~lost & ~lower & (least > 0) & (error < FAR)
        settles = settles & (s["settled"] < SETTLE)
        new = {k: ended[k] for k in ("x", "f", "g")}
        new |= {"status": status, "error": error, "gain": gain, "undetermined": without}
        new = {k: xnp.where(better, v, s[k]) for k, v in new.items()}
        new |= {k: s[k] + xnp.maximum(ended[k], 0) for k in ("nit", "nfev", "njev")}
        more = (s["turn"] == 0) & (status != 0) & (lower | (new["nit"] > 0))
        more = more & (new["nit"] < maxiter)
        if history:
            new["history"] = ended["history"]
        return new | {
            "going": settles | (more & (lower | restarts)),
            "turn": s["turn"] + xnp.where(settles, np.int32(0), np.int32(1)),
            "settled": xnp.where(settles, s["settled"] + np.int32(1), np.int32(0)),
            "from": xnp.where(settles, ended["x"] + step, xnp.where(lower, other, x0)),
        }  # fmt: skip

    zero, far = xnp.zeros((), dtype), xnp.full((), xnp.inf, dtype)
    start = {
        "x": x0, "f": far, "g": xnp.zeros_like(x0), "error": far, "gain": zero,
        "status": np.int32(Status.max_steps), "nit": count(0), "nfev": count(0), "njev": count(0),
        "undetermined": count(0), "turn": count(0), "settled": count(0), "going": xnp.ones((), bool), "from": x0,
    }  # fmt: skip
    if history:
        start["history"] = empty_rows(who, history, mine, maxiter)
    s = in_rounds(begin, run, end, lambda s: s["going"], start, checkpoint)
    kept = (
        "x",
        "f",
        "g",
        "gain",
        "error",
        "status",
        "undetermined",
        "nit",
        "nfev",
        "njev",
        "history",
    )
    found = {k: shown(k, s[k]) for k in kept if k in s}
    size = projected_gradient(found["x"], found["g"], problem.lower, problem.upper)
    return found | {"size": largest(size)}
