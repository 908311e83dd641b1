"""Whether a point is a minimum, how far one is from it at most, and what a user is told.

The way to the minimum is estimated by Newton steps, relative to how large each variable is or how far it has
come. Two things can hide in there. Where the gradient is smaller than its own rounding errors, dividing by a
small curvature leaves x in doubt: if more than tol, the status is ``flat``. And where the Hessian knows
nothing, or has a negative eigenvalue, values decide: a point that has a visibly lower one nearby is no minimum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import numpy as xnp
from .._control.cond import cond
from .._core.types import Value, typeof
from .._transforms.map import vmap
from ._problem import largest
from ._result import Status, first_of, status_code
from ._units import relative_error

MOST = 8  # rounds that a method ended
PARTS = (
    1,
    5 / 6,
    2 / 3,
    1 / 2,
    1 / 3,
)  # powers of tol: how far to look for lower values, relative to reach


class Errors(NamedTuple):
    """The way to go, relative to the reach of each variable.

    ``doubtful``: with what rounding errors leave open; ``loose``: that, but variables that never moved are
    compared with the others.
    """

    known: Value
    doubtful: Value
    loose: Value


def judged(problem, s, z, seen, tol, maxiter: int, blind: bool):
    """(the reach of each variable, the error, how it ends or RUNNING) at the point z where a round begins."""
    reach, errors = _errors(s, seen)
    local = reach / s["units"].x
    flat = _is_flat(s, seen, blind)
    falls = xnp.zeros((), bool)
    if seen.kind != "gradient":
        near = (errors.known <= tol) | flat
        falls = cond(near, lambda: _falls(problem, z, seen, local, tol), lambda: falls)
    status = _verdict(s, seen, errors, falls, flat, tol, maxiter)
    if blind:
        # where there is a kink the Newton step says nothing, but values do
        lowest = (s["last"] == 0) & ~flat & _is_lowest(problem, z, seen, tol * local)
        status = xnp.where((status != 0) & lowest, 0, status)
    return reach, xnp.where(falls, xnp.maximum(errors.doubtful, 1), errors.doubtful), status


def _errors(s, seen):
    """(the reach of each variable, the errors relative to it)."""
    unit = s["units"].x
    if seen.kind == "gradient":
        slope = seen.left / unit * s["units"].f
        size = xnp.maximum(s["reach"] * (s["round"] > 0), largest(slope))
        return size, Errors(*[relative_error(slope, size, xnp.ones_like(size))] * 3)
    reach = xnp.maximum(xnp.maximum(s["reach"], xnp.abs(s["x"])), xnp.abs(s["x"] - s["start"]))
    left, doubt, diagonal = seen.left * unit, seen.doubt * unit, seen.diagonal * unit
    known = relative_error(left, reach, diagonal, seen.coupling)
    known = xnp.where(xnp.isinf(seen.gain), 1, xnp.where(seen.sure, known, xnp.inf))
    return reach, Errors(
        known, known + relative_error(doubt, reach, diagonal),
        relative_error(left + doubt, reach, diagonal),
    )  # fmt: skip


def _is_last(s, status):
    return s["last"] == status_code(status)


def _is_flat(s, seen, blind: bool):
    """Whether a method that is at its end has nothing visible to gain, far as x may still move."""
    ended = _is_last(s, Status.stalled) | (blind & _is_last(s, Status.success))
    return ended & (seen.gain <= 8 * xnp.finfo(seen.f.dtype).eps * xnp.abs(seen.f))


def _verdict(s, seen, errors, falls, flat, tol, maxiter):
    """How it ends, or RUNNING."""
    eps = xnp.finfo(seen.f.dtype).eps
    finite = xnp.isfinite(seen.f) & xnp.all(xnp.isfinite(seen.g))
    good = (errors.doubtful <= tol) | (flat & (errors.loose <= tol))
    near = (errors.known <= tol) | flat
    # a least eigenvalue of rounding errors is none
    saddle = near & falls & (seen.least < -(eps**0.5))
    slow = _is_last(s, Status.stalled) & (s["round"] > 1) & ~(errors.known < 0.5 * s["best"])
    return first_of(
        (~finite, Status.not_finite), (_is_last(s, Status.unbounded), Status.unbounded),
        (saddle, Status.saddle), (good & ~falls, Status.success), (near & ~falls, Status.flat),
        (_is_last(s, Status.not_finite), Status.not_finite), (s["nit"] >= maxiter, Status.max_steps),
        (slow | (s["ended"] >= MOST), Status.stalled),
    )  # fmt: skip


def _falls(problem, z, seen, reach, tol):
    """Whether the function is visibly lower nearby: where it bends least, or where gradients may lead."""
    sizes = np.array([sign * tol**p for p in PARTS for sign in (1, -1)], z.dtype)[:, None]
    ways = [sizes * _of_reach(v, reach) for v in (seen.hidden, seen.bottom)]
    points = xnp.clip(z + xnp.concatenate(ways), problem.lower, problem.upper)
    noise = 8 * xnp.finfo(z.dtype).eps * xnp.abs(seen.f) + 8 * seen.noise
    return xnp.any(vmap(problem.value)(points) < seen.f - noise)


def _of_reach(v, reach):
    """v so long that the largest of its components, relative to reach, is 1."""
    part = xnp.max(xnp.where(v == 0, 0, xnp.abs(v) / xnp.where(reach > 0, reach, 1)), initial=0)
    return xnp.where((part > 0) & xnp.isfinite(part), v / xnp.where(part > 0, part, 1), 0)


def _is_lowest(problem, z, seen, least):
    """Whether no point nearby is lower, along each axis and where the Newton step leads, and those at the
    distance ``least`` are visibly higher: else values do not tell where between them the minimum is."""
    n, eps = typeof(z).shape[0], xnp.finfo(typeof(z).dtype).eps
    one = xnp.eye(n, dtype=z.dtype)
    axes = [sign * size * one * least for size in (1, 1e2, 1e4) for sign in (1, -1)]
    newton = xnp.where(xnp.isfinite(seen.step), seen.step, 0)[None]
    points = xnp.clip(
        z + xnp.concatenate([*axes, newton, 0.1 * newton]), problem.lower, problem.upper
    )
    values = vmap(problem.value)(points)
    noise = 8 * eps * xnp.abs(seen.f)
    higher = xnp.all(values[: 2 * n] > seen.f + noise)
    return xnp.isfinite(seen.f) & higher & ~xnp.any(values < seen.f - noise)
