"""Zeros of functions of the state on the way of a solution: found, kept, and acted upon."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import cond, custom_root, jvp, stop_gradient, while_loop
from .._core import dtypes, errors, one_of, static, struct, typeof
from .._solution import Status
from ._time import SOLVED, check_order

_SOONEST = 4  # roundings of the time or the step between two of one event: nearer ones cannot be told apart


@struct
class Event:
    """A function of the state and the time whose zeros are looked for while ``integrate`` runs.

    A zero is where the function changes its sign between the ends of a step, or becomes 0; it is located in the
    solution between them. Two zeros within one step go unseen: ``max_step`` makes steps short enough. A function
    that is 0 at the start, or where a jump left it, has no zero there: what counts is the sign that it takes next.
    Zeros that only rounding keeps apart from one that jumps or ends the run are found with it; jumps are made in turn.
    Where jumps come back to 0 sooner than rounding can tell, as those of a ball that comes to rest, the run ends
    (``stagnation``), so does it where a function is NaN (``not_finite``). A jump that leaves the function at 0 with a
    slope of 0 does not hold the state there: it goes on to where u' leads.

    Attributes:
      f: function of (u, t), in this order, to a real number that changes its sign: u[0] - 0.4, not u[0] > 0.4.
      terminal: whether the run ends there; a number ends it at this many zeros.
      direction: 1 for functions that rise through 0, -1 for those that fall, 0 for both.
      jump: function of (u, t) to the state with which the run goes on; without one the state stays.
      most: of how many zeros, from the first on, the times and states are kept.

    >>> falls = Event(lambda u, t: u["height"], direction=-1)
    >>> falls.terminal, falls.direction
    (False, -1)
    """

    f: Callable[..., Any] = static()
    terminal: bool | int = static(default=False)
    direction: int = static(default=0)
    jump: Callable[..., Any] | None = static(default=None)
    most: int = static(default=16)

    def __post_init__(self):
        who = "pde.Event"
        if not callable(self.f):
            raise errors.bad_argument(who, "f", self.f, "a function of (u, t)")
        if self.jump is not None and not callable(self.jump):
            raise errors.bad_argument(who, "jump", self.jump, "a function of (u, t) to a state")
        if not isinstance(self.most, int) or self.most < 1:
            raise errors.bad_argument(who, "most", self.most, "1 or more zeros to keep")
        check_order(who, self.f)
        if self.jump is not None:
            check_order(who, self.jump)
        one_of(who, "direction", self.direction, (-1, 0, 1), "-1, 0 or 1")
        if int(self.terminal) < 0:
            raise errors.bad_argument(
                who, "terminal", self.terminal, "True, False, or a number of zeros"
            )


def as_events(given: Any) -> tuple[Event, ...]:
    """Events of functions, with the attributes ``terminal`` and ``direction`` that SciPy has."""
    given = () if given is None else given
    given = given if isinstance(given, Sequence) else [given]
    made = []
    for e in given:
        if not callable(e) and not isinstance(e, Event):
            raise errors.bad_argument(
                "pde.integrate", "events", e, "a pde.Event or a function of (u, t)"
            )
        terminal, direction = getattr(e, "terminal", False) or False, getattr(e, "direction", 0)
        made.append(e if isinstance(e, Event) else Event(e, terminal, int(np.sign(direction))))
    return tuple(made)


def _check_number(x) -> None:
    """Raises where it is not one real number: a truth has no place where it changes, a complex number no sign."""
    t = typeof(x)
    if not t.shape and dtypes.is_numeric(t.dtype) and not dtypes.is_complex(t.dtype):
        return
    want = "functions to one real number that changes its sign at the event"
    raise errors.bad_argument(
        "pde.integrate", "events", x, want, "As u[0] - 0.4 in place of u[0] > 0.4."
    )


def within(piece, part):
    """The solution at a part of a step: (start, rise, and rows that bend it)."""
    start, rise, *bends = piece
    bent = bends[-1]
    for row in bends[-2::-1]:
        bent = row + part * bent
    return start + part * (rise + (1 - part) * bent)


def _soon(t) -> float:
    """Some roundings of 1 in the dtype of the time."""
    return _SOONEST * float(xnp.finfo(typeof(t).dtype).eps)


class Watch:
    """Events of one run of y' = f(y, t), whose state is a vector."""

    def __init__(self, events: tuple[Event, ...], unravel, f):
        self.events, self.unravel, self.f = events, unravel, f
        self.jumps = np.array([e.jump is not None for e in events])

    def values(self, y, t):
        """Of all functions."""
        u = self.unravel(y)
        made = [xnp.asarray(e.f(u, t)) for e in self.events]
        for x in made:
            _check_number(x)
        return xnp.stack([x.astype(typeof(t).dtype) for x in made])

    def begin(self, y, t):
        """Nothing found yet."""
        n, most = len(self.events), max(e.most for e in self.events)
        value, none = self.values(y, t), xnp.zeros(n, bool)
        return self._blamed(none, xnp.isnan(value), none) | {
            "value": value, "count": xnp.zeros(n, np.int32), "ended": xnp.zeros((), bool),
            "t": xnp.full((n, most), np.nan, typeof(t).dtype),
            "y": xnp.full((n, most, *typeof(y).shape), np.nan, typeof(y).dtype),
        }  # fmt: skip

    def look(self, seen, piece, t, h, new, t_new, good):
        """(what was seen, the state and time to go on from, whether the run was cut there)."""
        before, after = seen["value"], self.values(new, t_new)
        rests = before == 0
        before = xnp.where(rests, self._next_sign(piece, t, h, before), before)
        way = np.array([e.direction for e in self.events])
        up, down = (before < 0) & (after >= 0), (before > 0) & (after <= 0)
        crosses, there = good & (up | down), good & ((up & (way >= 0)) | (down & (way <= 0)))
        part = self._located(piece, t, h, before, there)
        gap, there = there & xnp.isnan(part), there & ~xnp.isnan(part)
        # one that does not leave 0 in the whole step, for rounding, did not come back to it
        there = there & ~(rests & (after == 0) & (part <= _soon(t)))
        ends = np.array([int(e.terminal) for e in self.events])
        last = there & (ends > 0) & (seen["count"] + 1 >= ends)
        acts = last | (there & self.jumps)
        first = part[xnp.argmin(xnp.where(acts, stop_gradient(part), np.inf))]
        at, when = within(piece, first), (t + first * h).astype(typeof(t).dtype)
        met = at
        # what lies behind the first one that acts did not happen; what rounding alone keeps apart is one
        rounding = stop_gradient(self._rounding(piece, at, t, when))
        value = stop_gradient(self.values(at, when))
        there = there & (~xnp.any(acts) | (part <= first) | (xnp.abs(value) <= rounding))
        here = acts & there
        cut = xnp.any(here)
        seen = self._kept(seen, piece, t, h, part, there) | {"value": after}
        seen["ended"] = seen["ended"] | xnp.any(last & there)
        for i, e in enumerate(self.events):
            if e.jump is not None:
                at = xnp.where(here[i], self._jumped(e, at, when), at)
        new, t_new = xnp.where(cut, at, new), xnp.where(cut, when, t_new)
        # where a jump left it at 0 but for rounding, it is 0
        found = (there & (part >= first)) | (crosses & (xnp.abs(value) <= rounding))
        begun = self.values(new, t_new)
        begun = xnp.where(found & (xnp.abs(begun) <= xnp.abs(value) + rounding), 0, begun)
        value = xnp.where(cut, begun, after)
        lost = self._unresolved(here & self.jumps & rests, met, t, when, h, before)
        seen |= self._blamed(lost, xnp.isnan(value) | (gap & ~cut), seen["ended"])
        return seen | {"value": value}, new, t_new, cut

    def _unresolved(self, back, met, t, when, h, before):
        """Which of those that are back at 0 are so within rounding of the time, or of the state: not turned yet.

        A jump would turn them now, and so send the state through what it is to bounce from.
        """
        met, t, when, h = stop_gradient((met, t, when, h))
        soon = when - t <= _soon(t) * xnp.maximum(xnp.abs(t), h)
        # f is asked for where it matters only
        slope = cond(xnp.any(back), self._slope, lambda y, t: xnp.zeros_like(before), met, when)
        return back & (soon | (slope * xnp.sign(before) > 0))

    def _blamed(self, late, absent, ended):
        """The first event at which the run cannot go on, or -1, and the status that this is."""
        bad = stop_gradient((late | absent) & ~ended)
        which = xnp.where(xnp.any(bad), xnp.argmax(bad), -1).astype(np.int32)
        why = xnp.where(absent[which], np.int32(Status.not_finite), np.int32(Status.stagnation))
        return {"blamed": which, "why": xnp.where(which < 0, SOLVED, why).astype(np.int32)}

    def _next_sign(self, piece, t, h, like):
        """Of functions that are 0 at the start of a step: their slopes, or values soon after it."""
        piece, t, h = stop_gradient((piece, t, h))
        slope = self._slope(piece[0], t)
        return xnp.where(slope == 0, self._along(piece, t, h, xnp.full_like(like, 2.0**-7)), slope)

    def _slope(self, y, t):
        """Of all functions in time, from f: between the ends of a step rounding may hide it."""
        return jvp(self.values, (y, t), (stop_gradient(self.f(y, t)), xnp.ones_like(t)))[1]

    def _rounding(self, piece, at, t, when):
        """By how much the functions move with rounding errors of the state, the time and the part of a step."""
        eps = 8 * xnp.finfo(typeof(t).dtype).eps
        size = xnp.max(xnp.abs(xnp.stack([piece[0], piece[1], at])), axis=0).astype(
            typeof(at).dtype
        )
        signs = np.where(
            np.sin(np.arange(1.0, 5)[:, None] * (np.arange(at.size) + 1) ** 2) < 0, -1, 1
        )
        signs = signs.reshape(4, *typeof(at).shape).astype(typeof(t).dtype)
        late = eps * xnp.maximum(xnp.abs(t), xnp.abs(when))
        found = [
            self.values(at + eps * size * sign, when + late * (-1) ** k)
            for k, sign in enumerate(signs)
        ]
        return xnp.max(xnp.abs(xnp.stack(found) - self.values(at, when)), axis=0)

    def _jumped(self, e, y, t):
        made = e.jump(self.unravel(y), t)  # pyright: ignore[reportOptionalCall]
        return self.unravel.ravel(made, "jump(u, t)").astype(typeof(y).dtype)

    def _kept(self, seen, piece, t, h, part, there):
        count, ts, ys = seen["count"], seen["t"], seen["y"]
        slots = np.arange(typeof(ts).shape[1])
        for i, e in enumerate(self.events):
            here = there[i] & (slots == count[i]) & (slots < e.most)
            ts = ts.at[i].set(xnp.where(here, t + part[i] * h, ts[i]))
            ys = ys.at[i].set(xnp.where(here[:, None], within(piece, part[i]), ys[i]))
        return seen | {"t": ts, "y": ys, "count": count + there}

    def _along(self, piece, t, h, part):
        """Each function at a part of the step of its own."""
        return xnp.stack(
            [
                self.values(within(piece, part[i]), t + part[i] * h)[i]
                for i in range(len(self.events))
            ]
        )

    def _located(self, piece, t, h, before, there):
        """The parts of the step at which the functions vanish, by halving; NaN where the functions are.

        Derivatives are those of the zeros.
        """
        fixed = stop_gradient((piece, t, h, before))
        tiny = _soon(t) / _SOONEST

        def halve(s):
            low, high = s
            middle = (low + high) / 2
            value = self._along(*fixed[:3], middle)
            same = ((value > 0) == (fixed[3] > 0)) & (value != 0)
            upper = xnp.where(xnp.isnan(value), np.nan, xnp.where(same, high, middle))
            return xnp.where(same, middle, low), upper

        zero = xnp.zeros_like(before)
        # own loop: inside of a step
        _, part = while_loop(
            lambda s: xnp.any(there & (s[1] - s[0] > tiny)), halve, stop_gradient((zero, zero + 1))
        )
        return custom_root(
            lambda p: self._along(piece, t, h, p), part, lambda _, found: found, _each_alone
        )


def _each_alone(slope, value):
    """v with slope(v) = value, where each function moves with its own part of the step."""
    rate = slope(xnp.ones_like(value))
    return value / xnp.where(rate == 0, 1, rate)
