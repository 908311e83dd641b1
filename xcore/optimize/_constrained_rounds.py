"""Constrained minimisation in rounds, in units in which variables, values and constraints have size one.

Each constraint is divided by the largest component of its gradient, taken by variables in their units: what
is violated is then a distance, relative to the variables. The objective is divided by the largest of what
balances at a solution: its gradient, the multipliers' terms, and the curvature of the Lagrangian. All that
is measured where a round begins, and judged again where it ended.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import numpy as xnp
from .._control.cond import cond
from .._core import tree
from .._core.struct import struct
from .._core.types import typeof
from .._transforms.api import jvp
from .._transforms.gradients import grad
from .._transforms.jacobians import hessian
from ..linalg._equations import coins
from ..numpy._select import safe_divide
from ._constrained_saddle import falls
from ._loop import empty_rows, in_rounds, iterations_from
from ._multipliers import smallest
from ._problem import count, largest
from ._result import RUNNING, Status, first_of
from ._units import FULL, power_of_two, where_far

MOST = 4  # rounds
NOTHING = 2.0**40  # by what an objective is divided that shall not count
MANY = 1e3  # times the objective's gradient: multipliers' terms of which none may exist
FINER = 1e-4  # times what a round aims at where curvature is so small that residuals are, too, far from the minimum
LOOSEST = 10  # times the violation at the start, or its unit: what steps may lead to once they went astray
BEND = 1 / 8  # the curvature in its place: without any, ways along constraints are rounding errors


@struct
class Scales:
    """Units of the variables, of the objective, of equations and of inequalities.

    ``bend`` is a curvature that models shall have besides, where the objective counts for nothing."""

    x: Any
    f: Any
    eq: Any
    ineq: Any
    bend: Any

    def of(self, name: str, v):
        """What a method calls ``name``, in the user's units."""
        units = {"x": self.x, "f": self.f, "y": self.f / self.eq, "lam": self.f / self.ineq,
                 "g": self.f / self.x, "h": self.eq, "c": self.ineq}  # fmt: skip
        return v * units[name] if name in units else v


def lengths_of(problem, x, g, j, values):
    """(how large each variable is, whether nothing tells).

    It is as large as its start, or the way to where a slope or a constraint vanishes. Where that is 0, too, terms
    of curvature or of a constraint are as large as those of other variables; without any, so is the variable itself.
    """
    lower, upper = problem.bounds
    size = xnp.abs(x)
    width = xnp.where(xnp.isfinite(lower) & xnp.isfinite(upper), upper - lower, 0)
    way = _nearest(xnp.abs(values), j)
    bend = xnp.zeros_like(x)
    if typeof(x).shape[0] <= FULL:
        bend = xnp.abs(xnp.diagonal(hessian(problem.value)(x)))
        newton = safe_divide(xnp.abs(g), bend, where=bend > 0)
        way = xnp.where(newton > 0, newton, way)
    for other in (width, way):
        size = xnp.where(size > 0, size, other)
    energy = xnp.sqrt(bend) * size
    alike = xnp.where(bend > 0, largest(energy) / xnp.sqrt(xnp.where(bend > 0, bend, 1)), 0)
    size = xnp.where(size > 0, size, alike)
    told = xnp.any(size > 0)
    size = xnp.where(size > 0, size, _nearest(_terms(j, size), j))
    none = ~told | (size == 0)
    return coarse(xnp.where(size > 0, size, _middle(size))), none


def _middle(size):
    """The geometric mean of those that are not 0; 1 where there are none."""
    there = size > 0
    logs = xnp.sum(xnp.where(there, xnp.log(xnp.where(there, size, 1)), 0))
    return xnp.exp(logs / xnp.maximum(xnp.sum(there), 1).astype(size.dtype))


def lengths_now(s, reach):
    """How large variables are that came so far; where nothing told of any at the start, their ways do.

    One step of units down from the last round says nothing: ways may end where one begins."""
    first = s["first"]
    far = largest(reach / first)
    change = coarse(xnp.where(xnp.all(s["unknown"]) & (far > 0), far, 1))
    own = xnp.maximum(first, coarse(xnp.where(reach > 0, reach, first)))
    now, last = xnp.where(change == 1, own, change * first), s["lengths"]
    return xnp.where(16 * now == last, last, now)


def _as_came(d, reach, bend, rows, least):
    """Lengths d no longer than the ways that variables went, their sizes, or what terms of others tell.

    A slope may have promised more at the start, and what is violated would be judged by that. Where no variable
    moved, all is as it was; below ``least`` of what it was, ways are rounding errors.
    """
    told = xnp.maximum(reach, _alike(reach, bend, rows))
    now = coarse(xnp.maximum(told, least * d))
    return xnp.where((told > 0) & (16 * now < d), now, d)


def _as_drawn(d, bend, slope, rows):
    """Lengths of which those that are shorter than Newton's steps make terms as large as those of the others.

    A start that is nearly 0 says nothing, and slopes times its size seem small."""
    alike = _alike(d, bend, rows)
    far = (xnp.abs(slope) > bend * d) & (alike > 0)
    return xnp.where(far, xnp.maximum(d, coarse(alike)), d)


def _alike(size, bend, rows):
    """With which terms of curvature, or of constraints, are as large as those of other variables."""
    energy = largest(xnp.sqrt(bend) * size)
    curved = xnp.where(bend > 0, energy / xnp.sqrt(xnp.where(bend > 0, bend, 1)), 0)
    most = xnp.max(xnp.abs(rows) * size, axis=1, initial=0)
    return xnp.maximum(curved, _nearest(most, rows))


def _nearest(values, j):
    """The least change of each variable that changes a row by its value; 0 where none does."""
    far = values[:, None] / xnp.where(j == 0, 1, xnp.abs(j))
    way = xnp.min(xnp.where((j == 0) | (far == 0), xnp.inf, far), axis=0, initial=xnp.inf)
    return xnp.where(xnp.isfinite(way), way, 0)


def _terms(j, size):
    """The largest of each row; where no variable has a size, the geometric mean of its elements."""
    logs = xnp.where(j == 0, 0, xnp.log(xnp.where(j == 0, 1, xnp.abs(j))))
    mean = xnp.exp(xnp.sum(logs, axis=1) / xnp.maximum(xnp.sum(j != 0, axis=1), 1).astype(j.dtype))
    return _or_else(xnp.max(xnp.abs(j) * size, axis=1, initial=0), mean)


def coarse(size):
    """A power of 16 by 1/2 to 8 of which this is: variables that are about as large share a unit."""
    fine = (size > 0) & xnp.isfinite(size)
    power = xnp.round((xnp.log2(xnp.where(fine, size, 2)) - 1) / 4)
    return xnp.ldexp(xnp.ones_like(size), 4 * power.astype(np.int32))


@struct
class View:
    """What holds at a point: the scales, and how far the conditions of a minimum are from holding.

    ``flat``: the smallest gradient of an active constraint, relative to the largest it had. ``balance``: the
    objective's gradient the terms that it is the difference of, and the curvature. ``falls``: whether the
    first conditions hold, and the function falls from here; ``endless``: or falls on a straight way; ``far``: or a long
    Newton step leads lower, along ways with little curvature.
    """

    scales: Scales
    f: Any
    g: Any
    h: Any
    c: Any
    stationary: Any
    feasible: Any
    product: Any
    flat: Any
    balance: Any
    falls: Any
    endless: Any
    far: Any
    y: Any
    lam: Any


def look(problem, start, x, y, lam, lengths, reach, unknown, claims, rows, tol) -> View:
    """What holds at x.

    Args:
      unknown: variables without a length of their own.
      claims: whether the method believes that it is at a minimum.
      rows: gradients of the constraints at the start.
    """
    f, g, h, jh, c, jc = local = problem.local(x)
    d, full = lengths, typeof(x).shape[0] <= FULL
    # those of methods that went astray would be a curvature beside which all slopes are small
    y, lam = _in_units(local, y, lam, d, rows).multipliers

    def lagrangian(x, part=1):
        kept = xnp.vdot(y, problem.equations(x)) + xnp.vdot(part * lam, problem.inequalities(x))
        return problem.value(x) - kept

    curved = hessian(lagrangian)(x) if full else None
    bends = xnp.zeros_like(d) if curved is None else xnp.abs(xnp.diagonal(curved))
    least = 10 * xnp.finfo(d.dtype).eps / tol
    general = xnp.concatenate([jh, jc[: problem.sizes[1]]])
    d = _as_came(d, reach, bends, general, least)
    d = _as_curved(d, bends, unknown & (reach == 0))
    slope = g - y @ jh - lam @ jc
    noise = (
        64 * xnp.finfo(d.dtype).eps * (xnp.abs(g) + xnp.abs(y) @ xnp.abs(jh) + lam @ xnp.abs(jc))
    )
    # whose way was long has told its length
    told = (start != 0) & (xnp.abs(x - start) > 16 * xnp.abs(start))
    known = told | (xnp.abs(slope) <= noise)
    drawn = _as_drawn(d, bends, xnp.where(known, 0, slope), general)
    d = xnp.where(claims, drawn, d)
    seen = _in_units(local, y, lam, d, rows)
    (y, lam), units = seen.multipliers, seen.units
    terms = xnp.maximum(
        largest(g * d), xnp.maximum(largest(y[:, None] * jh * d), largest(lam[:, None] * jc * d))
    )
    slope = (g - y @ jh - lam @ jc) * d
    if curved is not None:
        curved = curved * d * d[:, None]
        bend = largest(curved)
    else:
        bend = largest(grad(lambda x: xnp.vdot(grad(lagrangian)(x), d))(x) * d)
    size = xnp.maximum(terms, bend)
    scales = Scales(d, power_of_two(size), *map(power_of_two, units), xnp.zeros_like(f))
    safe = xnp.where(size > 0, size, 1)
    wrong = [xnp.abs(h) / units[0], xnp.maximum(-c, 0) / units[1]]
    flat = _flatness(problem, x, d, general, seen)
    stationary, feasible, product = (
        largest(slope) / safe,
        xnp.maximum(*map(largest, wrong)),
        largest(lam * c) / safe,
    )
    down = on = far = xnp.zeros((), bool)
    if curved is not None:
        fine = xnp.maximum(stationary, xnp.maximum(feasible, product)) <= tol
        strong = lam * units[1] > tol * size
        weak = ~strong & (c <= tol * units[1])
        kept = [
            xnp.concatenate([jh * d, xnp.where(strong[:, None], jc * d, 0)]),
            xnp.where(weak[:, None], jc * d, 0),
        ]
        keeps = lambda x: xnp.all(problem.inequalities(x) >= xnp.minimum(c, -tol * units[1]))  # noqa: E731
        loosely = lambda x: lagrangian(x, ~weak)  # noqa: E731
        ways = lambda: falls(  # noqa: E731
            lagrangian, loosely, keeps, start, x, d, slope, curved, *kept, terms, tol
        )
        down, on, far = cond(fine, ways, lambda: (down, on, far))
    return View(
        scales, f, g, h, c, stationary, feasible, product, flat, (largest(g * d), terms, bend), down,
        on, far, y, lam,
    )  # fmt: skip


def _flatness(problem, x, d, rows, seen):
    """The smallest gradient of an active constraint, relative to what it had, or to its change over the lengths d.

    One that has become small where it still changes little, such as that of 1 / x, vanishes nowhere near, nor does one
    with a component that no change of x takes away.
    """
    me, mi, _ = problem.sizes
    change = xnp.abs(problem.bends(x, d * coins(x.shape[0], 1, d.dtype)[:, 0]))
    now, before = (xnp.concatenate([a, b[:mi]]) for a, b in (seen.now, seen.before))
    there = xnp.abs(rows) * d > xnp.finfo(d.dtype).eps * now[:, None]
    bend = safe_divide(xnp.abs(rows), change, xnp.where(there, xnp.inf, 0), where=change > 0)
    part = safe_divide(now, before, 1, where=before > 0)
    active = xnp.concatenate([xnp.ones(me, bool), seen.near[:mi]])
    least = xnp.maximum(part, xnp.max(bend, axis=1, initial=0))
    return xnp.min(xnp.where(active, least, 1), initial=1)


class _InUnits(NamedTuple):
    """Constraints where variables have lengths d: gradients now and before, units, which are near 0."""

    now: list[Any]
    before: list[Any]
    units: list[Any]
    near: Any
    multipliers: tuple[Any, Any]


def _in_units(local, y, lam, d, rows) -> _InUnits:
    _, g, h, jh, c, jc = local
    # gradients of constraints that vanish are no measure: then what they had, or their size
    before, now = (
        [xnp.max(xnp.abs(j) * d, axis=1, initial=0) for j in each] for each in (rows, (jh, jc))
    )
    units = [_or_else(a, _or_else(b, xnp.abs(v))) for a, b, v in zip(now, before, (h, c))]
    near = xnp.abs(c) <= 1e-3 * units[1]
    ways = jh * d / units[0][:, None], jc * d / units[1][:, None]
    found = smallest(g * d, *ways, y * units[0], lam * units[1], near)
    y, lam = (a / b for a, b in zip(found, units))
    return _InUnits(now, before, units, near, (y, lam))


def _as_curved(d, bend, still):
    """Lengths of which those of ``still`` variables make terms of curvature as large as those of the others."""
    energy = largest(xnp.where(still, 0, xnp.sqrt(bend) * d))
    fine = still & (bend > 0) & (energy > 0)
    return xnp.where(fine, coarse(energy / xnp.sqrt(xnp.where(bend > 0, bend, 1))), d)


def _or_else(a, b):
    return xnp.where((a > 0) & xnp.isfinite(a), a, xnp.where(b > 0, b, 1))


def in_range(
    who, method, problem, make, x, tol, maxiter: int, history, progress, checkpoint=None
) -> dict:
    """What is known at the end, in the user's units; ``make(problem, scales)`` is the problem in units.

    Variables, values and constraints so far from 1 that second derivatives may leave the range are divided by powers
    of 2 first, variables by such of 16.
    """
    far = where_far(x)
    units = xnp.where(far == 1, 1, coarse(far))
    way = units * coins(typeof(x).shape[0], 1, x.dtype)[:, 0]
    both = lambda x: (problem.equations(x), problem.inequalities(x))  # noqa: E731
    sizes = tree.map(lambda v, dv: xnp.abs(v) + xnp.abs(dv), *jvp(both, (x,), (way,)))
    whole = Scales(
        units, where_far(problem.value(x)), *map(where_far, sizes), xnp.zeros((), x.dtype)
    )
    s = rounds(
        who, method, make(problem, whole), make, x / whole.x, tol, maxiter, history, progress, checkpoint,
        whole.of,
    )  # fmt: skip
    return {k: whole.of(k, v) for k, v in s.items()}


def rounds(
    who, method, problem, make, x, tol, maxiter: int, history, progress, checkpoint, told
) -> dict:
    """What is known at the end, in the problem's units; ``told(name, value)`` is what histories show of it."""
    me, _, mi = problem.sizes
    dtype = problem.flat.dtype
    x = xnp.clip(x, *problem.bounds)
    f, g, h, jh, c, jc = problem.local(x)
    values, j = (
        xnp.concatenate([h, c[: problem.sizes[1]]]),
        xnp.concatenate([jh, jc[: problem.sizes[1]]]),
    )
    d, unknown = lengths_of(problem, x, g, j, values)
    zeros = lambda n: xnp.zeros(n, dtype)  # noqa: E731
    start = {
        "x": x, "start": x, "y": zeros(me), "lam": zeros(mi), "first": d, "lengths": d,
        "unknown": unknown, "rows": [jh, jc],
        "status": xnp.asarray(RUNNING), "last": xnp.asarray(RUNNING), "f": zeros(()), "g": zeros(x.shape),
        "h": zeros(me), "c": zeros(mi), "stationary": zeros(()), "feasible": zeros(()), "product": zeros(()),
        "flat": zeros(()), "best": zeros(()) + xnp.inf, "before": f, "nit": count(0), "nfev": count(0),
        "njev": count(0), "round": count(0), "restored": count(0),
    }  # fmt: skip
    if history:
        start["history"] = empty_rows(who, history, x, maxiter)
    aim = 0.02 * tol

    def begin(s):
        return _begun(method, problem, make, s, tol, aim, maxiter)

    def run(s, begun, checkpoint):
        scales, seen = begun["seen"].scales, begun["seen"]
        begins = {"x": s["x"], "f": seen.f, "g": seen.g, "nfev": s["nfev"]}

        def shown(name, v):
            return s["nfev"] + v if name == "nfev" else told(name, scales.of(name, v))

        return iterations_from(
            who, method, make(problem, scales), begun["state"], aim, maxiter, progress,
            on=s["status"] == RUNNING, rows=s.get("history"), before=s["nit"], checkpoint=checkpoint,
            shown=shown, begun={k: told(k, v) for k, v in begins.items()},
        )  # fmt: skip

    end = lambda *args: _ended(problem, *args)  # noqa: E731
    return in_rounds(begin, run, end, lambda s: s["status"] == RUNNING, start, checkpoint)


def _begun(method, problem, make, s, tol, aim, maxiter) -> dict:
    """What a round sees where it begins, and the method's state in its units."""
    reach = xnp.maximum(xnp.abs(s["x"]), xnp.abs(s["x"] - s["start"]))
    lengths = lengths_now(s, reach)
    claims = s["last"] == np.int32(Status.success)
    seen = look(
        problem, s["start"], s["x"], s["y"], s["lam"], lengths, reach, s["unknown"], claims, s["rows"], tol
    )  # fmt: skip
    worst = xnp.maximum(seen.stationary, xnp.maximum(seen.feasible, seen.product))
    status = _verdict(s, seen, worst, tol, maxiter)
    # Where methods found no way on, the objective may have led them there: once, the constraints are met without it.
    # What left all sizes says nothing of them: then a round looks at the start first.
    astray, gone = _is_astray(s, seen, status, tol) & (s["restored"] == 0), _is_gone(s, seen)
    anew, restores = astray & gone, (astray & ~gone) | (s["restored"] == 1)
    status = xnp.where(astray, RUNNING, status)
    weight = xnp.where(restores, NOTHING, 1).astype(seen.f.dtype)
    f, bend = seen.scales.f * weight, xnp.where(restores, BEND, 0).astype(weight.dtype)
    seen = seen.replace(scales=seen.scales.replace(f=f, bend=bend))
    scales, x = seen.scales, xnp.where(astray & ~gone, _aside(problem, s, lengths), s["x"])
    state = method.init(make(problem, scales), x / scales.x, aim)
    ended = xnp.where(anew, np.int32(Status.stagnation), state["status"])
    state = state | {
        "finer": xnp.where(seen.far, FINER, 1).astype(seen.f.dtype),
        "loosest": xnp.where(s["restored"] > 1, LOOSEST, xnp.inf).astype(seen.f.dtype),
        "status": xnp.where(status == RUNNING, ended, status),
        "y": xnp.where(restores, 0, seen.y * scales.eq / scales.f),
        "lam": xnp.where(restores, 0, seen.lam * scales.ineq / scales.f),
    }  # fmt: skip
    return {
        "anew": anew,
        "restores": restores,
        "lengths": lengths,
        "seen": seen,
        "state": state,
        "status": status,
        "worst": worst,
    }


def _is_astray(s, seen, status, tol):
    """Whether nothing is known to be met here: values that fall faster than the penalty grows lead anywhere."""
    ended = (status == np.int32(Status.unbounded)) & (seen.feasible > tol)
    ended = ended | ((status == np.int32(Status.not_finite)) & (s["round"] > 0))
    return (status == np.int32(Status.infeasible)) | ended


def _aside(problem, s, lengths):
    """Beside the start, where by symmetry constraints may tell no way on."""
    n = typeof(lengths).shape[0]
    return xnp.clip(s["start"] + 1e-3 * lengths * coins(n, 1, lengths.dtype)[:, 0], *problem.bounds)


def _ended(problem, s, begun, ended) -> dict:
    """The state after a round."""
    seen, status = begun["seen"], begun["status"]
    scales, went = seen.scales, (status == RUNNING) & (ended["nit"] >= 0)
    more = lambda k: s[k] + xnp.where(went, xnp.maximum(ended[k], 0), 0).astype(np.int32)  # noqa: E731
    was = {"x": s["x"], "y": seen.y, "lam": seen.lam}
    new = {k: xnp.where(went, scales.of(k, ended[k]), was[k]) for k in was} | {
        k: more(k) for k in ("nit", "nfev", "njev")
    }
    new |= {
        k: getattr(seen, k)
        for k in ("f", "g", "h", "c", "stationary", "feasible", "product", "flat")
    }
    if "history" in s:
        new["history"] = ended["history"]
    new |= {k: s[k] for k in ("start", "first", "unknown", "rows", "before")}
    anew, restored = begun["anew"], begun["restores"]
    either = anew | restored
    new["lengths"] = xnp.where(anew, s["first"], begun["lengths"])
    new["x"] = xnp.where(anew, _aside(problem, s, s["first"]), new["x"])
    new |= {k: xnp.where(either, 0, new[k]) for k in ("y", "lam")}
    helped = anew | (restored & (ended["status"] != np.int32(Status.infeasible)))
    return new | {
        "status": status,
        "last": xnp.where(helped, RUNNING, ended["status"]),
        "restored": xnp.where(restored, 2, xnp.where(anew, 1, s["restored"])).astype(np.int32),
        "best": xnp.where(either, xnp.inf, xnp.minimum(s["best"], begun["worst"])),
        "round": xnp.where(anew, 0, xnp.where(restored, 0, s["round"]) + np.int32(1)).astype(np.int32),
    }  # fmt: skip


def _is_gone(s, seen):
    """Whether a way has left all sizes."""
    return xnp.max(seen.scales.x / s["first"], initial=1) >= xnp.finfo(seen.f.dtype).eps ** -0.5


def _is_drowned(s, seen):
    """Whether rounding errors of curvature are as large as all that f fell, on a way that has left all sizes."""
    eps = xnp.finfo(seen.f.dtype).eps
    return _is_gone(s, seen) & (eps * seen.balance[2] > 1e-3 * xnp.abs(s["before"] - seen.f))


def _verdict(s, seen, worst, tol, maxiter):
    is_last = lambda status: s["last"] == np.int32(status)  # noqa: E731
    begun = s["round"] > 0
    finite = xnp.isfinite(seen.f) & xnp.all(xnp.isfinite(seen.g)) & ~xnp.isnan(worst)
    # the gradient is a small difference of large terms, and not as small as residuals beside those say
    slope, terms, bend = seen.balance
    least, left = xnp.maximum(slope, tol * bend), xnp.maximum(seen.stationary, seen.product)
    opposed = (terms * tol**0.5 > least) & (left * xnp.maximum(terms, bend) > tol * least)
    fine = begun & (worst <= tol) & ~(seen.endless | seen.far | _is_drowned(s, seen))
    over = (s["round"] >= MOST) | (s["nit"] >= maxiter)
    # the gradient of an active constraint vanishes: no multiplier means anything, and methods end
    # there or creep on
    creeps = over & (seen.feasible <= 10 * tol)
    at_rest = is_last(Status.success) | is_last(Status.stagnation) | fine | creeps
    bare = begun & (seen.flat <= tol**0.5) & at_rest
    # no multipliers exist, those nearby grow without limit (Andreani, Haeser, Martínez 2011)
    bare = bare | ((fine | creeps) & opposed & (terms > MANY * least))
    fine = fine & ~opposed
    slow = (s["round"] > 1) & ~(worst < 0.5 * s["best"])
    lost = is_last(Status.infeasible) & (seen.feasible > 10 * tol)
    return first_of(
        (~finite, Status.not_finite), (is_last(Status.unbounded), Status.unbounded),
        ((is_last(Status.degenerate) & ~fine) | bare, Status.degenerate), (fine & seen.falls, Status.saddle),
        (fine, Status.success),
        (lost, Status.infeasible), (s["nit"] >= maxiter, Status.max_steps),
        (begun & (slow | over), Status.stagnation),
    )  # fmt: skip
