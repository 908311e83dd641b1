"""Minimisation in rounds: a method runs in the units of where it begins; what it found is judged anew.

A method ends where the gradient has fallen as far as the error at the start of the round asked for. The
next round looks at that point: where the Newton step is short enough, it is the minimum; where it is not,
since the problem is badly conditioned or its curvature has changed, the method goes on from there, in the
units of that point.
"""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._control.while_loop import while_loop
from .._core.types import typeof
from .._transforms.map import vmap
from ._box import projected_gradient
from ._descent import InverseHessian
from ._loop import empty_rows, iterations_from
from ._problem import count, largest
from ._result import RUNNING, Status, first_of, status_code
from ._scalar import Brent
from ._simplex import NelderMead
from ._units import InUnits, first_units, look, next_units, power_of_two, relative_error

MOST = 8  # rounds
BLIND = (NelderMead, Brent)  # see no gradients
WORDS = {
    "Newton step": "each component of the Newton step, relative to the size and the way of its variable",
    "Newton step by conjugate gradients": "the Newton step by conjugate gradients, relative to the size "
    "and the way of all variables",
    "gradient": "the gradient, relative to the largest one seen: the function has no second derivatives",
}


def rounds(who, method, problem, x, tol, maxiter: int, history, progress, tested: list) -> dict:
    """What is known at the end, in the user's units; ``tested`` takes the kind of the test."""
    if problem.flat.size == 0:
        maxiter = 0
    x = xnp.clip(x, problem.lower, problem.upper)
    zero, far = xnp.zeros((), x.dtype), xnp.full((), xnp.inf, x.dtype)
    start = {
        "x": x, "units": first_units(x), "reach": xnp.abs(x), "start": x, "status": xnp.asarray(RUNNING),
        "last": xnp.asarray(RUNNING), "error": far, "gain": zero, "f": zero, "g": xnp.zeros_like(x),
        "size": zero, "nit": count(0), "nfev": count(0), "njev": count(0), "round": count(0),
        "best": far,
    }  # fmt: skip
    if _keeps_inverse(method):
        start["hess_inv"] = xnp.eye(problem.flat.size, dtype=x.dtype)
    if history:
        start["history"] = empty_rows(history, x, maxiter)

    def turn(s):
        return _round(who, method, problem, s, tol, maxiter, history, progress, tested)

    s = while_loop(lambda s: s["status"] == RUNNING, turn, start, checkpoints=0)
    told = (
        "x",
        "g",
        "size",
        "status",
        "nit",
        "nfev",
        "njev",
        "error",
        "gain",
        "hess_inv",
        "history",
    )
    return {k: s[k] for k in told if k in s} | {"told": s["f"]}


def _keeps_inverse(method) -> bool:
    return isinstance(getattr(method, "rule", None), InverseHessian)


def _round(who, method, problem, s, tol, maxiter, history, progress, tested):
    blind = isinstance(method, BLIND)
    here = InUnits(problem, s["units"])
    z = s["x"] / s["units"].x
    seen = look(here, z)
    tested[:] = [seen.kind]
    step = seen.step * s["units"].x
    reach, error = _error(s, seen, step)
    status = _verdict(s, seen, error, tol, maxiter, blind)
    if blind:
        # where there is a kink the Newton step says nothing, but values do
        lowest = (s["last"] == 0) & _is_lowest(here, z, seen, tol * reach / s["units"].x)
        status = xnp.where((status != 0) & lowest, 0, status)
    units = _units_for(s, seen, blind, z)
    local = InUnits(problem, units)
    aim = xnp.clip(0.02 * tol / xnp.where(error > 0, error, 1), 0, 0.1).astype(z.dtype)
    aim = tol * 0.1 if blind else aim
    state = method.init(local, s["x"] / units.x, aim)
    state = state | {"status": xnp.where(status == RUNNING, state["status"], status)}
    rows, nfev = s.get("history"), s["nfev"] + np.int32(1)
    if history:
        rows = _begun(rows, {"x": s["x"], "f": seen.f * s["units"].f, "nfev": nfev,
                             "g": s["units"].of("g", seen.g)}, s["nit"], maxiter)  # fmt: skip

    def told(name, v):
        return nfev + v if name == "nfev" else units.of(name, v)

    ended = iterations_from(
        who,
        method,
        local,
        state,
        aim,
        maxiter,
        history,
        progress,
        rows=rows,
        before=s["nit"],
        told=told,
    )
    went = status == RUNNING
    more = lambda k: s[k] + xnp.where(went, xnp.maximum(ended[k], 0), 0).astype(np.int32)  # noqa: E731
    new = {
        "x": xnp.where(went, ended["x"] * units.x, s["x"]), "units": units, "reach": reach, "start": s["start"],
        "status": status, "last": ended["status"], "error": error, "gain": seen.gain * s["units"].f,
        "f": seen.f * s["units"].f, "g": s["units"].of("g", seen.g), "nit": more("nit"),
        "nfev": more("nfev") + np.int32(1), "njev": more("njev") + np.int32(1), "round": s["round"] + np.int32(1),
        "best": xnp.minimum(s["best"], error),
    }  # fmt: skip
    new["x"] = xnp.clip(new["x"], problem.lower, problem.upper)
    size = projected_gradient(s["x"], new["g"], problem.lower, problem.upper)
    new["size"] = largest(size)
    if history:
        new["history"] = ended["history"]
    if "hess_inv" in s:
        h = ended["memory"]["h"] * units.x * units.x[:, None] / units.f
        new["hess_inv"] = xnp.where(went, h, s["hess_inv"])
    return new


def _begun(rows, known, before, maxiter):
    """Rows of history with that of the point a round begins with."""
    later = xnp.arange(maxiter + 1) >= before
    put = lambda r, v: xnp.where(later.reshape(-1, *[1] * typeof(v).ndim), v, r)  # noqa: E731
    return {k: put(r, known[k]) for k, r in rows.items()}


def _error(s, seen, step):
    """(the reach of each variable, the relative error)."""
    if seen.kind == "gradient":
        size = xnp.maximum(
            s["reach"] * (s["round"] > 0), largest(step / s["units"].x ** 2 * s["units"].f)
        )
        return size, relative_error(
            step / s["units"].x ** 2 * s["units"].f, size, xnp.ones_like(size)
        )
    first = xnp.where(s["round"] == 0, xnp.abs(step), 0)
    reach = xnp.maximum(xnp.maximum(s["reach"], xnp.abs(s["x"])), first)
    reach = xnp.maximum(reach, xnp.abs(s["x"] - s["start"]))
    if seen.kind != "Newton step":
        reach = xnp.maximum(reach, largest(reach))
    error = relative_error(step, reach, seen.diagonal * s["units"].x, seen.coupling)
    return reach, xnp.where(xnp.isinf(seen.gain), 1, error)


def _verdict(s, seen, error, tol, maxiter, blind):
    """How it ends, or RUNNING."""
    eps = xnp.finfo(typeof(error).dtype).eps
    finite = xnp.isfinite(seen.f) & xnp.all(xnp.isfinite(seen.g))
    is_last = lambda status: s["last"] == status_code(status)  # noqa: E731
    # nothing that the function could show is to be gained any more
    ended = is_last(Status.stalled) | (blind & is_last(Status.success))
    flat = ended & (seen.gain <= 8 * eps * xnp.abs(seen.f))
    good = finite & ((error <= tol) | flat)
    # a least eigenvalue of rounding errors is none
    saddle = seen.least < -(eps**0.5)
    slow = is_last(Status.stalled) & (s["round"] > 1) & ~(error < 0.5 * s["best"])
    return first_of(
        (~finite, Status.not_finite), (is_last(Status.unbounded), Status.unbounded),
        (good & saddle, Status.saddle), (good, Status.success),
        (is_last(Status.not_finite), Status.not_finite), (s["nit"] >= maxiter, Status.max_steps),
        (slow | (s["round"] >= MOST), Status.stalled),
    )  # fmt: skip


def _is_lowest(problem, z, seen, least):
    """Whether no point nearby is lower: along each axis, and where the Newton step leads."""
    n, eps = typeof(z).shape[0], xnp.finfo(typeof(z).dtype).eps
    one = xnp.eye(n, dtype=z.dtype)
    axes = [sign * size * one * least for size in (1, 1e2, 1e4) for sign in (1, -1)]
    newton = xnp.where(xnp.isfinite(seen.step), seen.step, 0)[None]
    points = xnp.clip(
        z + xnp.concatenate([*axes, newton, 0.1 * newton]), problem.lower, problem.upper
    )
    values = vmap(problem.value)(points)
    noise = 8 * eps * xnp.abs(seen.f)
    higher = xnp.all(values[4 * n : 6 * n] > seen.f + noise)
    return xnp.isfinite(seen.f) & higher & ~xnp.any(values < seen.f - noise)


def _units_for(s, seen, blind: bool, z):
    fine = xnp.all(xnp.isfinite(seen.diagonal)) & xnp.all(xnp.isfinite(seen.g))
    units = next_units(s["units"], seen)
    if blind:
        # a simplex is as large as its point, and not as the step that is left
        size = xnp.maximum(largest(z / seen.diagonal), largest(seen.g * seen.diagonal))
        size = power_of_two(size)
        units = units.replace(x=s["units"].x * seen.diagonal * size, f=s["units"].f * size * size)
    return units.replace(
        x=xnp.where(fine, units.x, s["units"].x), f=xnp.where(fine, units.f, s["units"].f)
    )
