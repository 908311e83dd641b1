"""Steps as long as the error allows, with the solution between their ends: stiff equations, and events.

The state is one vector of real numbers. Lengths of steps are found without derivatives: what is differentiated are
the steps that were taken, so derivatives are those of what was computed.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import custom_jvp, jvp, scan, stop_gradient, while_loop
from .._control.closures import hoisted_where
from .._core import dtypes, errors, tree, typeof
from .._solution import Status
from ._boundary import as_dtype
from ._clock import Clock, drifted
from ._events import Watch, within
from ._recomputed import steps_kept
from ._rosenbrock import system_of
from ._sdirk import SDIRK, implicit_step
from ._small_moves import error_of_moves
from ._solutions import TrajectorySolution
from ._tableaux import Tableau
from ._time import SOLVED, check_slope, check_tree, estimated, moved, stages

_SAFETY, _LONGER, _SHORTER, _LEAST_ERROR = 0.9, 6.0, 0.1, 1e-4


class Vector:
    """A tree of real and complex arrays as a vector of real numbers, and back."""

    def __init__(self, u):
        leaves, self.structure = tree.flatten(u)
        self.types = [typeof(x) for x in leaves]
        self.dtype = dtypes.to_real(xnp.result_type(*leaves))

    def ravel(self, u, what: str = "f(u, t)"):
        """The vector of a tree, which is told in errors by what gave it."""
        check_tree("pde.integrate", u, self.structure, what)
        parts = []
        for x, t in zip(tree.leaves(u), self.types, strict=True):
            check_slope("pde.integrate", x, t.shape, what)
            x = as_dtype("pde.integrate", what, xnp.asarray(x), t.dtype)
            x = xnp.broadcast_to(x, t.shape).reshape(-1)
            parts += [x.real, x.imag] if dtypes.is_complex(t.dtype) else [x]
        return xnp.concatenate([p.astype(self.dtype) for p in parts])

    def __call__(self, y):
        """The tree of a vector, or trees of the rows of a matrix."""
        lead, leaves, at = typeof(y).shape[:-1], [], 0
        for t in self.types:
            x, at = y[..., at : at + t.size], at + t.size
            if dtypes.is_complex(t.dtype):
                x, at = x + 1j * y[..., at : at + t.size], at + t.size
            leaves.append(x.astype(t.dtype).reshape(*lead, *t.shape))
        return tree.unflatten(self.structure, leaves)


# Schemes: (state after a step, (rise, three rows that bend the way there), estimated error, whether it is good)


def _explicit(tableau: Tableau, f, y, t, h, extra, bound):
    new, last, bends, error = explicit_step(tableau, lambda u, s: f(u, s, *extra), y, t, h)
    return new, (new - y, *bends), error, xnp.all(xnp.isfinite(last))


def explicit_step(tableau: Tableau, f, y, t, h, slopes=()):
    """(the state after a step, the slope there, the rows that bend the way there, the estimated error)."""
    slopes = stages(tableau.a, f, y, t, h, slopes)
    new = moved(y, slopes, tableau.b, h)
    last = f(new, t + h) if tableau.b[-1] else slopes[-1]  # the last stage, or one more
    rise = new - y
    bends = [h * slopes[0] - rise, 2 * rise - h * (slopes[0] + last)]
    if len(tableau.bend):
        all_slopes = stages(tableau.more, f, y, t, h, slopes)
        first, *more = (moved(xnp.zeros_like(y), all_slopes, w, h) for w in tableau.powers)
        bends = [bends[0], bends[1] + first, *more]
    return new, last, bends, estimated(tableau, slopes, y, h)


def scheme(method, way: str, f, y, t, extra):
    """(a function (y, t, h, extra, bound) -> a step, its order, how many rows its solution has between the ends)."""
    if isinstance(method, Tableau):
        return functools.partial(_explicit, method, f), method.order, 3 + len(method.bend)
    system, take = system_of(way, f, y, t, extra), implicit_step(method)

    def step(y, t, h, extra, bound):
        new, bends, error, fine = take(method, f, system, y, t, h, extra, bound)
        return new, (new - y, *bends), error, fine

    return step, method.order, 4


def _size(y, new, error, bound):
    """The largest ratio of error and tolerance; infinite where anything is not finite."""
    unit = bound(xnp.maximum(xnp.abs(y), xnp.abs(new)))
    size = xnp.abs(error)
    ratio = xnp.where(
        size == 0, 0, size / xnp.where(unit == 0, xnp.finfo(typeof(y).dtype).tiny, unit)
    )
    fine = xnp.all(xnp.isfinite(new)) & xnp.all(xnp.isfinite(size))
    return xnp.where(fine, xnp.max(ratio, initial=0), np.inf)


def _attempt(step):
    """A step and the size of its error, without a derivative where the step will not be taken."""

    def scaled(y, t, h, extra, tolerances):
        bound = functools.partial(_bound, tolerances)
        new, bends, error, fine = step(y, t, h, extra, bound)
        size = _size(*map(stop_gradient, (y, new, error)), bound)
        return new, bends, xnp.where(fine, size, np.inf).astype(typeof(h).dtype)

    attempt = custom_jvp(scaled)

    @attempt.defjvp
    def rule(primals, tangents):
        new, bends, size = attempt(*primals)
        y, t, h, extra, tolerances = primals
        bound = functools.partial(_bound, tolerances)
        # a step that is not taken has no length: zero times an infinite derivative would be NaN
        taken = y, t, xnp.where(size <= 1, h, 0 * h), extra
        moves = jvp(lambda *xs: step(*xs, bound)[:2], taken, tangents[:4])[1]
        return (new, bends, size), (*moves, xnp.zeros_like(size))

    return attempt


def shortest(t):
    """The shortest first step: some roundings of the time. Shorter ones would not move it."""
    return stop_gradient(4 * float(xnp.finfo(typeof(t).dtype).eps) * xnp.abs(t))


def _first_step(f, y, t, end, extra, bound):
    """A hundredth of the time in which the state would change by its size, at the first slope."""
    unit = bound(xnp.abs(y))
    unit = xnp.where(unit > 0, unit, 1)
    size, speed = (xnp.max(xnp.abs(x) / unit, initial=0) for x in (y, f(y, t, *extra)))
    guess = 0.01 * xnp.maximum(size, 1) / xnp.where(speed > 0, speed, 1)
    guess = xnp.maximum(guess, shortest(t))
    guess = xnp.where((speed > 0) & xnp.isfinite(guess) & (guess > 0), guess, (end - t) * 1e-3)
    return xnp.minimum(guess, end - t).astype(typeof(t).dtype)


class Run:
    """One run to given times."""

    def __init__(
        self, f, u, times, method, rtol, atol, first, longest, most, kept, events, way, careful=False
    ):  # fmt: skip
        self.vector = vector = Vector(u)
        y, t = vector.ravel(u), times[0]
        self.worst = min(1e10, float(xnp.finfo(vector.dtype).max))
        self.longest = np.inf if longest is None else longest
        self.most, self.times, self.kept = most, times, kept
        self.tolerances = stop_gradient(_checked(vector, y, rtol, atol))
        bound = functools.partial(_bound, self.tolerances)

        def flat(y, t):
            return vector.ravel(f(vector(y), t))

        slope, extra = hoisted_where(lambda _: True, flat, y, t)
        self.extra = tuple(extra)
        step, order, bends = scheme(method, way, slope, y, t, self.extra)
        self.power, self.attempt = 1 / order, _attempt(step)
        self.moved_by, self.careful = (method, slope), careful  # whether small moves of it count
        # differences of states have errors of their rounding, those of slopes do not
        self.rounding = float(xnp.finfo(vector.dtype).eps) if isinstance(method, SDIRK) else 0.0
        self.clock = Clock(lambda y, t: slope(y, t, *self.extra), y, t)
        self.end = stop_gradient(times[-1])
        h = _first_step(slope, y, t, self.end, self.extra, bound) if first is None else first
        still = stop_gradient(self.extra)
        self.watch = Watch(events, vector, lambda y, t: slope(y, t, *still)) if events else None
        zero, no = xnp.zeros((), np.int32), xnp.zeros((), bool)
        self.state = {
            "y": y, "t": t, "h": stop_gradient(xnp.asarray(h, vector.dtype)), "size": xnp.ones_like(t),
            "again": no, "wild": no, "stuck": no, "taken": zero, "rejected": zero, "from": t, "over": xnp.ones_like(t),
            "piece": (y, *[xnp.zeros_like(y)] * bends), "seen": self.watch.begin(y, t) if self.watch else {},
            "clock": self.clock.begin(vector.dtype),
        }  # fmt: skip

    def step(self, s):
        """One attempt."""
        y, t = s["y"], s["t"]
        left = stop_gradient(self.end - t)
        meant = xnp.minimum(xnp.minimum(s["h"], self.longest), left).astype(typeof(t).dtype)
        # what time moves by, which rounding may make another number
        h = xnp.where(meant >= left, left, stop_gradient((t + meant) - t))
        new, bends, size = self.attempt(y, t, h, self.extra, self.tolerances)
        if self.careful:
            size = xnp.maximum(size, self._error_of_moves(y, t, h))
        good, wild = size <= 1, ~xnp.isfinite(size)
        t_new = xnp.where(h >= left, self.end + (t - stop_gradient(t)), t + h)
        piece, seen, cut = (y, *bends), s["seen"], False
        bound = functools.partial(_bound, self.tolerances)
        size_of = functools.partial(_size, *stop_gradient((y, new)), bound=bound)
        clock = self.clock.tick(s["clock"], y, t, h, size_of, good)
        if self.watch:
            found, new, t_new, cut = self.watch.look(seen, piece, t, h, new, t_new, good)
            seen = tree.map(lambda a, b: xnp.where(good, a, b), found, seen)
        grow = self._growth(size, s, size_of(self.rounding * xnp.abs(stop_gradient(new))))
        next_h = xnp.where(
            good & (meant < s["h"]) & ~xnp.asarray(cut),
            xnp.maximum(s["h"], meant * grow),
            meant * grow,
        )
        moved = {"y": new, "t": t_new, "from": t, "over": h, "piece": piece}
        kept = tree.map(lambda a, b: xnp.where(good, a, b), moved, {k: s[k] for k in moved})
        return kept | {
            "h": next_h.astype(typeof(t).dtype), "size": xnp.where(good, xnp.maximum(size, _LEAST_ERROR), s["size"]),
            "again": ~good, "wild": wild, "stuck": kept["t"] + xnp.minimum(next_h, self.longest) <= kept["t"],
            "taken": s["taken"] + good, "rejected": s["rejected"] + ~good, "seen": seen,
            "clock": clock,
        }  # fmt: skip

    def _error_of_moves(self, y, t, h):
        tableau, slope = self.moved_by
        f = lambda y, t: slope(y, t, *stop_gradient(self.extra))  # noqa: E731
        norm = lambda y, new, e, *_: _size(y, new, e, functools.partial(_bound, self.tolerances))  # noqa: E731
        return error_of_moves(tableau, f, y, t, h, norm, *self.tolerances)

    def _growth(self, size, s, least):
        """By how much the next step may be longer: by proportion and integral. (Gustafsson 1991)

        An error that is smaller than ``least`` is not known, and taken for that.
        """
        size = xnp.where(xnp.isfinite(size), xnp.maximum(size, 1e-10), self.worst)
        grows = _SAFETY * size ** (-0.7 * self.power) * s["size"] ** (0.4 * self.power)
        unknown = _SAFETY * xnp.clip(least, 1e-10, 1) ** -self.power
        grows = xnp.where(size <= least, xnp.maximum(unknown, 1), grows)
        grows = xnp.clip(grows, 0.2, xnp.where(s["again"], 1.0, _LONGER))
        shrinks = xnp.clip(_SAFETY * size**-self.power, _SHORTER, _SAFETY)
        return xnp.where(size <= 1, grows, shrinks)

    def advance(self, s, goal):
        """Steps until a time is reached; the solution then."""
        start = s["taken"] + s["rejected"]

        def going(s):
            ended = s["seen"]["ended"] | (s["seen"]["blamed"] >= 0) if self.watch else False
            few = s["taken"] + s["rejected"] - start < self.most
            return (s["t"] < goal) & few & ~s["stuck"] & ~xnp.asarray(ended)

        # own loop: time, which is differentiated through
        s = while_loop(
            going, self.step, s, checkpoints=32 if self.kept is None else max(2, self.kept // 2)
        )
        part = (goal - s["from"]) / s["over"]
        y = within(s["piece"], part)
        why = s["seen"]["why"] if self.watch else SOLVED
        # before a function of an event was NaN in a step its sign may have changed unseen
        there = (s["t"] >= goal) & (why != np.int32(Status.not_finite))
        ended = xnp.asarray(s["seen"]["ended"] if self.watch else False)
        ends = [
            (there | ended, SOLVED), (why != SOLVED, why), (s["stuck"] & s["wild"], np.int32(Status.not_finite)),
            (s["stuck"], np.int32(Status.stagnation)),
        ]  # fmt: skip
        status = xnp.select(*zip(*ends, strict=True), np.int32(Status.max_steps)).astype(np.int32)
        y = xnp.where(there, y, np.nan).astype(typeof(y).dtype)
        # a later time would be reached with steps that this one was not given
        s = s | {"stuck": s["stuck"] | (status != SOLVED)}
        return s, (y, status, self.clock.lost(s["clock"]))

    def go(self):
        """The states at all times, and how it went."""
        good = xnp.all(xnp.isfinite(self.state["y"]))
        first = xnp.where(good, SOLVED, np.int32(Status.not_finite)).astype(np.int32)
        state = self.state | {"stuck": ~good, "wild": ~good}
        if self.kept is None:
            state, (ys, statuses, lost) = scan(self.advance, state, self.times[1:])  # pyright: ignore[reportGeneralTypeIssues]
        else:

            def numbered(carry, _):
                number, state = carry
                state, found = self.advance(state, self.times[number])
                return (number + 1, state), found

            (_, state), (ys, statuses, lost) = steps_kept(  # pyright: ignore[reportGeneralTypeIssues]
                numbered, (np.int32(1), state), self.times.shape[0] - 1, max(2, self.kept // 2)
            )
        ys = xnp.concatenate([self.state["y"][None], ys])
        statuses = xnp.concatenate([first[None], statuses])
        return self._told(state, ys, statuses, lost)

    def _told(self, s, ys, statuses, lost):
        left = xnp.min(xnp.where(statuses == SOLVED, np.inf, self.times))
        status = statuses[xnp.argmax(statuses != SOLVED)]  # of the first time that was not reached
        more, stats = dict[str, Any](), {"rejected": s["rejected"]}
        if self.watch:
            seen, events = s["seen"], self.watch.events
            more["t_events"] = [seen["t"][i, : e.most] for i, e in enumerate(events)]
            more["y_events"] = [self.vector(seen["y"][i, : e.most]) for i, e in enumerate(events)]
            more["events"] = seen["count"]
            stats["blamed"] = seen["blamed"]
        return TrajectorySolution(
            self.vector(ys), drifted(status, lost), who="pde.integrate",
            left=left, unsolved=xnp.full_like(left, np.inf),
            steps=s["taken"], stats=stats, ended=s["t"], **more,
        )  # fmt: skip


def _bound(tolerances, size):
    """The tolerance of each element, of numbers of these sizes."""
    rtol, atol = tolerances
    return (atol + rtol * xnp.abs(size)).astype(typeof(size).dtype)


def _checked(vector: Vector, y, rtol, atol):
    """(rtol, atol) as arrays."""
    eps = float(xnp.finfo(typeof(y).dtype).eps)
    rtol = max(rtol, 10 * eps) if isinstance(rtol, (int, float)) else xnp.maximum(rtol, 10 * eps)
    if not isinstance(atol, (int, float)):
        atol = _tolerances(vector, atol)
    return tuple(xnp.asarray(x, vector.dtype) for x in (rtol, atol))


def _fits(shape: tuple, whole: tuple) -> bool:
    """Whether an array of one shape broadcasts to another."""
    pairs = zip(shape[::-1], whole[::-1])
    return len(shape) <= len(whole) and all(a in (1, b) for a, b in pairs)


def _tolerances(vector: Vector, atol):
    """A tolerance for each number of the vector."""
    parts, leaves = [], tree.leaves(atol)
    leaves = leaves * len(vector.types) if len(leaves) == 1 else leaves
    for x, t in zip(leaves, vector.types, strict=False):
        x = xnp.asarray(x)
        if len(leaves) != len(vector.types) or not _fits(typeof(x).shape, t.shape):
            need = "a number, or one for each element: a tree like x0"
            raise errors.bad_argument("pde.integrate", "atol", atol, need)
        x = xnp.broadcast_to(x.astype(vector.dtype), t.shape).reshape(-1)
        parts += [x, x] if dtypes.is_complex(t.dtype) else [x]
    return xnp.concatenate(parts)
