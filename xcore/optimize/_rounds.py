"""Minimisation in rounds: a method runs in the units of where it begins; what it found is judged anew.

A method ends where the gradient has fallen as far as the error at the start of the round asked for. The
next round looks at that point: where the Newton step is short enough, it is the minimum; where it is not,
since the problem is badly conditioned or its curvature has changed, the method goes on from there, in the
units of that point.
"""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._control import cond
from .._core import static, struct
from ._box import LBFGSB, projected_gradient
from ._descent import BFGS, Descent
from ._loop import empty_rows, in_rounds, iterations_from
from ._newton import NewtonCG, TrustRegion
from ._problem import count, largest
from ._result import RUNNING, Status
from ._scalar import Brent
from ._sight import look
from ._simplex import NelderMead
from ._units import FULL, MATRIX, PRODUCTS, InUnits, alike, first_units, next_units, power_of_two
from ._verdict import errors_of, judged, reach_of

NEAR = 1e-2  # of the reach of variables: an error from where Newton steps go on
BLIND = (NelderMead, Brent)  # see no gradients
LEARNING = (Descent, LBFGSB)  # learn curvature from gradients
WORDS = {
    "Newton step": "each component of the Newton step, relative to the size and the way of its variable",
    "Newton step by conjugate gradients": "each component of the Newton step, by conjugate gradients as far as "
    "they lead, relative to the size and the way of its variable",
    "gradient": "the gradient, relative to the largest one seen: the function has no second derivatives",
}


@struct
class Words:
    """A text in the results of a compiled function."""

    text: str = static()


def rounds(who, method, problem, x, tol, maxiter: int, history, progress, checkpoint=None) -> dict:
    """What is known at the end, in the user's units."""
    if problem.flat.size == 0:
        maxiter = 0
    x = xnp.clip(x, problem.lower, problem.upper)
    zero, far = xnp.zeros((), x.dtype), xnp.full((), xnp.inf, x.dtype)
    start = {
        "x": x, "units": first_units(x), "reach": xnp.abs(x), "start": x, "status": xnp.asarray(RUNNING),
        "last": xnp.asarray(RUNNING), "error": far, "gain": zero, "f": zero, "g": xnp.zeros_like(x),
        "size": zero, "nit": count(0), "nfev": count(0), "njev": count(0), "round": count(0),
        "ended": count(0), "best": far, "undetermined": count(0),
        "settled": xnp.zeros((), bool),
    }  # fmt: skip
    if _keeps_inverse(method):
        start["hess_inv"] = xnp.eye(problem.flat.size, dtype=x.dtype)
    if history:
        start["history"] = empty_rows(who, history, x, maxiter)

    tested = []

    def begin(s):
        return _begun(method, problem, s, tol, maxiter, tested)

    def run(s, begun, checkpoint):
        units = begun["units"]

        def shown(name, v):
            return begun["nfev"] + v if name == "nfev" else units.of(name, v)

        return iterations_from(
            who, method, InUnits(problem, units), begun["state"], begun["aim"], maxiter, progress,
            on=s["status"] == RUNNING, rows=s.get("history"), before=s["nit"], checkpoint=checkpoint,
            shown=shown, begun={"x": s["x"]} | {k: begun[k] for k in ("f", "g", "nfev")},
        )  # fmt: skip

    s = in_rounds(
        begin, run, lambda *args: _ended(problem, *args), lambda s: s["status"] == RUNNING, start,
        checkpoint,
    )  # fmt: skip
    names = "x g size status nit nfev njev error gain undetermined hess_inv history".split()
    return {k: s[k] for k in names if k in s} | {"value": s["f"], "tested": Words(tested[-1])}


def _effort(method, n: int, nfev) -> tuple:
    """(of how many variables there is a whole Hessian, products otherwise): no more than the method itself takes."""
    exact = isinstance(method, TrustRegion) and method.subproblem != "steihaug"
    newton = isinstance(method, (NewtonCG, TrustRegion))
    return MATRIX if exact or _keeps_inverse(method) else FULL, xnp.maximum(
        nfev, 2 * n + 10 if newton else PRODUCTS
    )


def _keeps_inverse(method) -> bool:
    return isinstance(getattr(method, "rule", None), BFGS)


def _begun(method, problem, s, tol, maxiter, tested) -> dict:
    """What a round sees where it begins, in the user's units, and the method's state in its own."""
    blind = isinstance(method, BLIND)
    here = InUnits(problem, s["units"])
    z = s["x"] / s["units"].x
    near = reach_of(s) / s["units"].x
    seen = look(here, z, near, *_effort(method, problem.flat.size, s["nfev"]))
    tested.append(seen.kind)
    reach, error, status = judged(here, s, z, seen, tol, maxiter, blind)
    units = _units_for(s, seen, blind, z)
    units = alike(units) if isinstance(method, LEARNING) else units
    local = InUnits(problem, units)
    aim = xnp.clip(0.02 * tol / xnp.where(error > 0, error, 1), 0, 0.1).astype(z.dtype)
    aim = xnp.asarray(tol * 0.1, z.dtype) if blind else aim
    state = method.init(local, s["x"] / units.x, aim)
    short = _is_short(here, s, z, seen, status, blind)
    status = xnp.where(short, np.int32(RUNNING), status)
    ended = xnp.where(short, np.int32(Status.stagnation), state["status"])
    state |= {
        "x": xnp.where(short, (z + seen.step) * s["units"].x / units.x, state["x"]),
        "status": xnp.where(status == RUNNING, ended, status), "way": xnp.abs(s["x"] / units.x),
    }  # fmt: skip
    if "patience" in state:
        state["patience"] = state["patience"] << xnp.minimum(s["round"], np.int32(16))
    return {
        "state": state, "units": units, "aim": aim, "nfev": s["nfev"] + np.int32(1),
        "f": seen.f * s["units"].f, "g": s["units"].of("g", seen.g), "reach": reach, "error": error,
        "status": status, "gain": seen.gain * s["units"].f, "settled": short,
        "undetermined": s["undetermined"] if seen.open is None else seen.open.astype(np.int32),
    }  # fmt: skip


def _is_short(here, s, z, seen, status, blind: bool):
    """Whether a method that values led no nearer left a step so short that the Hessian knows its end."""
    if blind or seen.kind == "gradient":
        return xnp.zeros((), bool)
    fresh = (status == RUNNING) | ((status == np.int32(Status.stagnation)) & ~s["settled"])
    near = fresh & (s["last"] == np.int32(Status.stagnation)) & (seen.least > 0)
    near &= errors_of(s, seen)[1].known < NEAR
    f = cond(near, lambda: here.value(z + seen.step), lambda: seen.f)
    return near & (f <= seen.f + 8 * xnp.finfo(seen.f.dtype).eps * xnp.abs(seen.f))


def _ended(problem, s, begun, ended) -> dict:
    """The state after a round."""
    units, went = begun["units"], begun["status"] == RUNNING
    more = lambda k: s[k] + xnp.where(went, xnp.maximum(ended[k], 0), 0).astype(np.int32)  # noqa: E731
    new = {
        "x": xnp.where(went, ended["x"] * units.x, s["x"]), "start": s["start"], "last": ended["status"],
        "nit": more("nit"),
        "nfev": more("nfev") + np.int32(1), "njev": more("njev") + np.int32(1), "round": s["round"] + np.int32(1),
        "best": xnp.minimum(s["best"], begun["error"]),
        "ended": s["ended"] + (ended["status"] != np.int32(Status.max_steps)).astype(np.int32),
    }  # fmt: skip
    new |= {k: begun[k] for k in _SEEN}
    # what started at 0 is as large as it was on the way
    way = xnp.where(went & (s["start"] == 0), ended["way"] * units.x, 0)
    new["reach"] = xnp.maximum(new["reach"], xnp.where(xnp.isfinite(way), way, 0))
    new["x"] = xnp.clip(new["x"], problem.lower, problem.upper)
    size = projected_gradient(s["x"], new["g"], problem.lower, problem.upper)
    new["size"] = largest(size)
    if "history" in s:
        new["history"] = ended["history"]
    if "hess_inv" in s:
        h = ended["memory"]["h"] * units.x * units.x[:, None] / units.f
        new["hess_inv"] = xnp.where(went & ~begun["settled"], h, s["hess_inv"])
    return new


_SEEN = ("units", "reach", "status", "error", "gain", "f", "g", "undetermined", "settled")


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
