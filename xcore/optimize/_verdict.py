"""Whether a point is a minimum, how far one is from it at most, and what a user reads of it.

The way to the minimum is estimated by Newton steps, relative to how large each variable is or how far it has
come. Two things can hide in there. Where the gradient is smaller than its own rounding errors, dividing by a
small curvature leaves x in doubt: if more than tol, the status is ``flat``. And where the Hessian knows
nothing, or has a negative eigenvalue, values decide: a point that has a visibly lower one nearby is no minimum;
and one that has visibly higher ones far along a valley without curvature, but not near, is not known to be where
it is least.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import numpy as xnp
from .._control import cond, vmap
from .._core import Value, typeof
from ._packed import loop
from ._problem import count, largest
from ._result import Status, first_of
from ._units import relative_error

MOST = 8  # rounds that a method ended
PARTS = (
    1,
    5 / 6,
    2 / 3,
    1 / 2,
    1 / 3,
)  # powers of tol: how far to look for lower values, relative to reach
FAR = (1 / 3, 1 / 6)  # and for higher ones
VALLEY = (1, 2 / 3, 1 / 2)  # and for lower ones in a valley, besides the first of those
SETTLE = 5  # steps back into a valley that bends


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
    reach, errors = errors_of(s, seen)
    local, unit = reach / s["units"].x, s["units"].x
    wide = xnp.maximum(reach, xnp.where(largest(reach) > 0, largest(reach), 1)) / unit
    flat = _is_flat(s, seen, blind)
    falls = pinned = xnp.zeros((), bool)
    if seen.kind != "gradient":
        near, no = (errors.known <= tol) | flat, (falls, pinned)
        falls, pinned = cond(near, lambda: _around(problem, z, seen, local, wide, tol), lambda: no)
    status = _verdict(s, seen, errors, falls, pinned, flat, tol, maxiter)
    if blind:
        # where there is a kink the Newton step says nothing, but values do
        lowest = (s["last"] == 0) & ~flat & _is_lowest(problem, z, seen, local, tol)
        status = xnp.where((status != 0) & lowest, 0, status)
    error = xnp.where(flat & (errors.loose <= tol), errors.loose, errors.doubtful)
    return reach, xnp.where(falls, xnp.maximum(error, 1), error), status


def reach_of(s):
    """How large each variable is, or how far it came."""
    return xnp.maximum(xnp.maximum(s["reach"], xnp.abs(s["x"])), xnp.abs(s["x"] - s["start"]))


def errors_of(s, seen):
    """(the reach of each variable, the errors relative to it)."""
    unit = s["units"].x
    if seen.kind == "gradient":
        slope = seen.left / unit * s["units"].f
        size = xnp.maximum(s["reach"] * (s["round"] > 0), largest(slope))
        return size, Errors(*[relative_error(slope, size, xnp.ones_like(size), s["start"])] * 3)
    reach = reach_of(s)
    left, doubt, diagonal = seen.left * unit, seen.doubt * unit, seen.diagonal * unit
    start = s["start"]
    known = relative_error(left, reach, diagonal, start, seen.coupling)
    known = xnp.where(xnp.isinf(seen.gain), 1, xnp.where(seen.sure, known, xnp.inf))
    return reach, Errors(
        known, known + relative_error(doubt, reach, diagonal, start),
        relative_error(left + doubt, reach, diagonal, start),
    )  # fmt: skip


def _is_last(s, status):
    return s["last"] == np.int32(status)


def _is_flat(s, seen, blind: bool):
    """Whether a method that is at its end has nothing visible to gain, far as x may still move."""
    ended = _is_last(s, Status.stagnation) | (blind & _is_last(s, Status.success))
    return ended & (seen.gain <= 8 * xnp.finfo(seen.f.dtype).eps * xnp.abs(seen.f))


def _verdict(s, seen, errors, falls, pinned, flat, tol, maxiter):
    """How it ends, or RUNNING."""
    eps = xnp.finfo(seen.f.dtype).eps
    finite = xnp.isfinite(seen.f) & xnp.all(xnp.isfinite(seen.g))
    good = (errors.doubtful <= tol) | (flat & (errors.loose <= tol))
    near = (errors.known <= tol) | flat
    # a least eigenvalue of rounding errors is none
    saddle = near & falls & (seen.least < -(eps**0.5))
    slow = _is_last(s, Status.stagnation) & (s["round"] > 1) & ~(errors.known < 0.5 * s["best"])
    return first_of(
        (~finite, Status.not_finite), (_is_last(s, Status.unbounded), Status.unbounded),
        (saddle, Status.saddle), (good & ~falls & ~pinned, Status.success), (near & ~falls, Status.flat),
        (_is_last(s, Status.not_finite), Status.not_finite), (s["nit"] >= maxiter, Status.max_steps),
        (slow | (s["ended"] >= MOST), Status.stagnation),
    )  # fmt: skip


def aside(z, reach):
    """Points next to z, from rounding errors away to where a smooth function has not changed yet, seen from tol."""
    far = xnp.finfo(z.dtype).eps ** np.linspace(1, 0.6, 6)[:, None]
    n = np.arange(1, typeof(z).shape[0] + 1)
    signs = np.where(np.cos(np.arange(1, 7)[:, None] * n * n) > 0, 1, -1)
    return z + reach * (far * signs).astype(z.dtype)


def noise_of(values, f):
    """Rounding errors of f: of its size, and as values next to it show them. (Moré, Wild 2011)"""
    change = xnp.abs(values - f)
    change = xnp.max(xnp.where(xnp.isfinite(change), change, 0))
    return 8 * xnp.finfo(values.dtype).eps * xnp.abs(f) + change


def _around(problem, z, seen, reach, wide, tol):
    """(whether the function is visibly lower nearby, where it bends least or where gradients may lead; whether
    it holds x in a valley without curvature). ``wide``: the reach, of all variables as large as the largest."""
    sizes = np.array([sign * tol**p for p in PARTS for sign in (1, -1)], z.dtype)[:, None, None]
    ways = xnp.concatenate([seen.bottoms, xnp.stack([seen.hidden, seen.step])])
    ways = vmap(lambda v: _of_reach(v, reach))(ways)
    # where nothing rises, a variable that did not move has no length of its own
    away = vmap(lambda v: _of_reach(v, wide))(xnp.where(seen.rising[:, None], 0, seen.bottoms))
    ways = sizes * xnp.concatenate([ways, away])
    points = xnp.concatenate([aside(z, reach), z + ways.reshape(-1, *z.shape)])
    values = vmap(problem.value)(xnp.clip(points, problem.lower, problem.upper))
    noise = noise_of(values[:6], seen.f) + 8 * seen.noise
    sinks = pinned = xnp.zeros((), bool)
    if seen.loose is not None:
        sinks, pinned = _along_valley(problem, z, seen, reach, tol, noise)
    # the least of so many values is lower than a few next to f show
    pole = _is_pole(values[:2], values[2:], seen.f)
    return sinks | xnp.any(values[6:] < seen.f - 3 * noise), pinned | pole


def _is_pole(next_to, far, f):
    """Whether the last digits of x decide about f, by about as much as ways a thousand and a million times as long do
    and more than rounding errors of f: no function that is smooth there, nor one with a kink, does that."""
    near, far = (xnp.abs(v - f) for v in (next_to, far))
    near, far = (xnp.max(xnp.where(xnp.isfinite(v), v, 0)) for v in (near, far))
    return (near > 0.1 * far) & (near > xnp.finfo(f.dtype).eps ** 0.5 * xnp.abs(f))


def _along_valley(problem, z, seen, reach, tol, noise):
    """(whether values fall along a valley of least curvature; whether they rise along one without any, but not so
    near that x is known to tol).

    They rise at minima of higher order; where they do not, all of the valley is the minimum. Steps in the other
    directions follow it where it bends; what they have still to gain at their end is no rise, and no fall.
    """
    way = _of_reach(seen.loose, reach)

    def turn(s):
        z = xnp.clip(s["z"] + s["move"], problem.lower, problem.upper)
        f, g = problem.value_and_grad(z)
        better, move = f <= s["f"], seen.settle(g)
        new = {"z": z, "f": f, "rest": xnp.vdot(g, move), "move": move}
        new = {
            k: xnp.where(better, v, 0.25 * s[k] if k == "move" else s[k]) for k, v in new.items()
        }
        return new | {"k": s["k"] + np.int32(1)}

    def settled(size):
        start = {"z": z + size * way, "f": xnp.full_like(seen.f, xnp.inf), "move": 0 * z}
        start |= {"rest": 0 * seen.f, "k": count(0)}
        # own loop: counted
        s = loop(lambda s: s["k"] <= SETTLE, turn, start)
        return s["f"] - seen.f, s["rest"]

    sides = np.array([sign * tol**p for p in (*VALLEY, *FAR) for sign in (1, -1)], z.dtype)
    change, rest = vmap(settled)(sides)
    rises = change + rest > noise
    pinned = (seen.open > 0) & xnp.any(rises[-4:]) & ~xnp.all(rises[:2])
    return xnp.any(change[:-2] < -3 * noise), pinned


def _of_reach(v, reach):
    """v so long that the largest of its components, relative to reach, is 1."""
    part = xnp.max(xnp.where(v == 0, 0, xnp.abs(v) / xnp.where(reach > 0, reach, 1)), initial=0)
    return xnp.where((part > 0) & xnp.isfinite(part), v / xnp.where(part > 0, part, 1), 0)


def _is_lowest(problem, z, seen, reach, tol):
    """Whether no point nearby is lower, along each axis and where the Newton step leads, and those at the
    distance ``tol``, also where the function bends least, are visibly higher: else values do not tell where
    between them the minimum is."""
    one = xnp.eye(typeof(z).shape[0], dtype=z.dtype) * reach
    if seen.bottoms is not None:
        one = xnp.concatenate([one, vmap(lambda v: _of_reach(v, reach))(seen.bottoms)])
    many = 2 * typeof(one).shape[0]
    ways = [sign * size * tol * one for size in (1, 1e2, 1e4) for sign in (1, -1)]
    newton = xnp.where(xnp.isfinite(seen.step), seen.step, 0)[None]
    points = xnp.concatenate([z + xnp.concatenate([*ways, newton, 0.1 * newton]), aside(z, reach)])
    points = xnp.clip(points, problem.lower, problem.upper)
    values = vmap(problem.value)(points)
    noise = noise_of(values[-6:], seen.f)
    held = xnp.all(points == z, axis=1)[:many]
    higher = xnp.all(held | (values[:many] > seen.f + noise))
    return xnp.isfinite(seen.f) & higher & ~xnp.any(values < seen.f - noise)
