"""``solve_ivp``: initial value problems step by step, with events and with solutions between the steps.

Outside of ``jit``, ``grad`` and ``vmap`` the loop over the steps is Python's and a step is a compiled program:
how many steps there are need not be known, and events may be any functions. Inside of them the loop is
that of ``pde.integrate``.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import closure_convert, jit
from .._core import Array, ArrayLike, Tracer, dtypes, errors, is_evaluating, one_of, require, typeof
from .._core.source import boundary, stack_level
from .._width import are_plain, width_of
from ..pde._adaptive import Run, Vector, explicit_step
from ..pde._clock import drift, follows_time, in_order, too_far
from ..pde._rosenbrock import RODAS5P, Rosenbrock, system_of
from ..pde._sdirk import KENCARP4, KVAERNO5, SDIRK, TRBDF2, implicit_step
from ..pde._small_moves import careful_where_differentiated
from ..pde._tableaux import BOGACKI_SHAMPINE, DOP853, DORMAND_PRINCE, Tableau
from ..pde._time import check_order
from ..pde._trajectory import adaptive, check_tolerances, in_tolerances
from ._continuation import OdeSolution, between
from ._found import Found

WHO = "scipy.integrate.solve_ivp"
METHODS = {"RK45": DORMAND_PRINCE, "RK23": BOGACKI_SHAMPINE, "DOP853": DOP853}
METHODS |= dict.fromkeys(("Rodas5P", "Radau", "BDF", "LSODA"), RODAS5P)
METHODS |= {"KenCarp4": KENCARP4, "Kvaerno5": KVAERNO5, "TRBDF2": TRBDF2}
MESSAGES = {
    0: "The solver successfully reached the end of the integration interval.",
    1: "A termination event occurred.",
    -1: "The steps became shorter than the spacing of numbers, as before a pole or where fun is not finite; "
    "the end was not reached.",
}
LATE = (
    "fun depends on the time, whose rounding moves the solution by more than the tolerances; count time from where "
    "the run starts, or take wider numbers."
)


@boundary
def solve_ivp(
    fun: Callable[..., Any], t_span: Sequence[Any], y0: ArrayLike | Sequence[Any],
    method: str = "RK45", t_eval: ArrayLike | Sequence[Any] | None = None,
    dense_output: bool = False, events: Any = None, vectorized: bool = False, args: Any = None, *,
    first_step: float | None = None, max_step: float = np.inf, rtol: float = 1e-3,
    atol: ArrayLike = 1e-6, jac: Any = None,
) -> Found:  # fmt: skip
    """The solution of ``y' = fun(t, y, *args)``, ``y(t_span[0]) = y0``, as SciPy's function of this name.

    Numbers are as wide as the widest array among y0, t_eval and t_span; where all are Python's, as wide as what fun
    gives of them: those of xcore, 32 bits unless it is set otherwise, if it refers to nothing wider.

    Args:
      fun: ``fun(t, y, *args)``, with a result like y: an array or a list, of functions of ``xcore.numpy``.
      t_span: (t0, tf), rising or falling.
      y0: a vector, real or complex.
      method: "RK45" (Dormand and Prince), "DOP853" (theirs of order 8, for small tolerances) or "RK23" (Bogacki and
        Shampine), which are explicit; for stiff equations "Rodas5P", a Rosenbrock method of order 5, which SciPy's
        names "Radau", "BDF" and "LSODA" stand for too; "Kvaerno5", "KenCarp4" and "TRBDF2", which are diagonally
        implicit, of orders 5, 4 and 2.
      t_eval: times at which to keep the solution; the ends of all steps by default. Inside of ``jit``, ``grad`` and
        ``vmap`` it must be given; derivatives are those of the steps taken.
      dense_output: give ``sol``, a function of the time.
      events: a function ``event(t, y, *args)``, or a list of them, whose zeros are looked for in each step where it
        changes its sign; its attributes ``terminal`` (True, or after how many) and ``direction`` count.
      vectorized, jac: of no effect; Jacobians are derivatives of fun.
      args: a tuple of further arguments.
      first_step, max_step: lengths of steps.
      rtol, atol: the error of each element in a step is at most about atol + rtol |y|, of which a few may be three
        times as large (as in SciPy it is the root of their mean square that counts); atol may be a number for each
        element. Errors of steps add up, and grow where solutions move apart; what fun does between the times at which
        it is asked, such as a short pulse, is not seen: ``max_step`` asks more often.

    Returns a result with ``t``, ``y`` (a column for each time), ``sol``, ``t_events``, ``y_events``, ``nfev``,
    ``njev``, ``nlu``, ``status`` (0 the end, 1 an event, -1 neither), ``message`` and ``success``: whether the end
    or an event was reached, all numbers are finite, and where fun depends on the time, its rounding moves the solution
    by no more than the steps' own errors may.

    >>> found = solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], t_eval=[0.0, 0.5, 1.0], rtol=1e-4)
    >>> found.y[0].round(3), found.success
    (Array([1.   , 0.607, 0.368], dtype=float32), True)
    """
    one_of(WHO, "method", method, tuple(METHODS))
    tableau = METHODS[method]
    check_first_is_time(fun)
    args = () if args is None else tuple(args) if isinstance(args, (tuple, list)) else (args,)
    t_span, y0 = _start(fun, t_span, y0, args, t_eval)
    if t_eval is not None:
        t_eval = xnp.asarray(t_eval, dtypes.to_real(typeof(y0).dtype))
    f = _slope(fun, y0, args)
    check_tolerances(WHO, rtol, atol)
    require("positive", WHO, first_step=first_step, max_step=max_step)
    rtol, atol = _tolerance(rtol, typeof(y0).dtype), _for_each(atol, y0)
    if is_evaluating():
        if t_eval is None and events is None and not dense_output:
            tableau = _ends_alone(tableau)
        steps = _Steps(f, tableau, rtol, atol, first_step, max_step, y0)
        events = [_Event(e, args) for e in _as_list(events)] if events is not None else None
        return _march(steps, t_span, y0, t_eval, dense_output, events)
    if t_eval is None or events is not None or dense_output:
        raise errors.bad_argument(
            WHO, "t_eval", t_eval, "times, without events and dense_output, inside of jit, grad and vmap",
            "How many steps there will be is not known there.",
        )  # fmt: skip
    return _traced(f, tableau, t_span, y0, t_eval, rtol, atol, first_step, max_step)


# Arguments


def _ends_alone(tableau):
    """Without the stages that are for the solution between the ends of steps alone."""
    more = isinstance(tableau, Tableau) and tableau.more
    return dataclasses.replace(tableau, more=(), bend=()) if more else tableau


def check_first_is_time(fun: Any) -> None:
    """That this is no function of (y, t), as ``odeint`` has it."""
    if not callable(fun):
        raise errors.bad_argument(WHO, "fun", fun, "a function of (t, y)")
    check_order(WHO, fun, first="time")


def _start(fun, t_span, y0, args, t_eval) -> tuple:
    """(the ends, the state) in the width of what was given."""
    state, given = y0, [xnp.asarray(x) for x in (y0, *t_span)]
    if len(given) != 3 or any(typeof(x).ndim for x in given[1:]):
        raise errors.bad_argument(WHO, "t_span", t_span, "a pair of numbers (t0, tf)")
    y0 = given[0]
    if typeof(y0).ndim != 1 or not typeof(y0).size:
        raise errors.bad_argument(
            WHO, "y0", y0, "a vector of one number or more", "Write [y0] for a single number."
        )
    widths = [*given, *([] if t_eval is None else [xnp.asarray(t_eval)])]
    strong = [typeof(x).dtype for x in widths if not typeof(x).weak and not _is_exact(x)]
    dtype = xnp.result_type(*strong, float) if strong else dtypes.default_dtype("float")
    if are_plain((state, t_span, t_eval)):
        start = y0.astype(xnp.result_type(y0, float))
        dtype = width_of(lambda y: fun(given[1].astype(float), y, *args), start)
    kind = xnp.result_type(y0.dtype, dtype)  # complex where y0 is
    y0 = xnp.asarray(state, kind)
    for name, told, x in zip(("y0", "t_span", "t_span"), (y0, t_span, t_span), (y0, *given[1:])):
        if is_evaluating() and not bool(xnp.all(xnp.isfinite(x))):
            raise errors.bad_argument(WHO, name, told, "finite")
    # Python's numbers are rounded once, to the width of all
    ends = [x if isinstance(x, (int, float)) else a for x, a in zip(t_span, given[1:])]
    _check_apart(ends, np.dtype(dtypes.to_real(kind)))
    return ends, y0


def _check_apart(ends, dtype) -> None:
    """That times which differ still do so in the dtype of the state."""
    if any(isinstance(x, Tracer) for x in ends):
        return
    start, end = (np.asarray(x) for x in ends)
    if start != end and start.astype(dtype) == end.astype(dtype):
        need = f"apart in {dtype}, the dtype of the state"
        advice = "Count time from t0, or give y0 as float64."
        raise errors.bad_argument(WHO, "t_span", (float(start), float(end)), need, advice)


def _is_exact(x) -> bool:
    return not dtypes.is_inexact(typeof(x).dtype)


def _slope(fun, y0, args):
    """fun with results like y0."""
    shape, dtype = typeof(y0).shape, typeof(y0).dtype

    def f(t, y):
        k = xnp.asarray(fun(t, y, *args))
        if k.ndim and k.size != y.size:
            raise errors.shape_mismatch(WHO, "y0 and what fun returns must be alike", y0=y0, fun=k)
        if dtypes.is_complex(k.dtype) and not dtypes.is_complex(dtype):
            raise errors.bad_argument(WHO, "y0", y0, "complex where what fun returns is complex")
        return xnp.broadcast_to(k.reshape(-1) if k.shape != shape else k, shape).astype(dtype)

    return f


def _tolerance(rtol, dtype):
    """rtol, and not so small that rounding errors are taken for errors of the method."""
    least = 100 * float(xnp.finfo(dtype).eps)
    if isinstance(rtol, (int, float)) and rtol < least:
        warnings.warn(
            f"xcore.{WHO}: rtol={rtol:g} is below what {np.dtype(dtype).name} holds; it is {least:.2g} now. Give y0 as "
            "an array of float64 for more.",
            stacklevel=stack_level(),
        )
        return least
    return rtol


def _for_each(atol, y0):
    """atol as one number, or one for each element."""
    if isinstance(atol, (int, float)):
        return atol
    atol = xnp.asarray(atol, dtypes.to_real(typeof(y0).dtype))
    if typeof(atol).shape not in ((), (1,), typeof(y0).shape):
        raise errors.shape_mismatch(
            WHO, "need atol as a number, or one for each of y0", atol=atol, y0=y0
        )
    return atol


# Step by step


class _Steps:
    """Steps of one problem, each of them one compiled program."""

    def __init__(self, f, tableau, rtol, atol, first, longest, y0):
        self.tableau, self.nfev, self.njev = tableau, 0, 0
        self.first, self.longest = first, longest
        self.f = jit(f)

        def explicit(t, y, k, h):
            return explicit_step(tableau, lambda u, s: f(s, u), y, t, h, [k])

        self.follows = follows_time(
            lambda y, t: f(t, y), y0, xnp.zeros((), dtypes.to_real(y0.dtype))
        )
        self.lag, self.count = 0.0, 0
        self.stiff = isinstance(tableau, Rosenbrock | SDIRK)
        more = 1 + isinstance(tableau, Rosenbrock) if self.stiff else len(tableau.more)
        self.cost = len(tableau.a) + more
        one = _stiff(f, tableau, rtol, atol, y0) if self.stiff else explicit

        @jit
        def attempt(t, y, k, h):
            new, last, bends, error = one(t, y, k, h)
            sizes = in_tolerances(y, new, error, rtol, atol)
            # SciPy's mean, in which many elements at rest would hide the few that move
            size = xnp.maximum(rms(sizes), xnp.max(sizes) / 3)
            fine = xnp.isfinite(size) & xnp.all(xnp.isfinite(new)) & xnp.all(xnp.isfinite(last))
            lag = largest(y, new, drift(lambda y, t: f(t, y), y, t, h)) if self.follows else 0.0
            return new, last, bends, xnp.where(fine, size, xnp.inf), lag

        def largest(y, other, x):
            return xnp.max(xnp.abs(x) / (atol + rtol * xnp.maximum(xnp.abs(y), xnp.abs(other))))

        def rms(x):
            unit = xnp.max(xnp.abs(x), initial=0)  # whose square need not be a number
            unit = xnp.where(unit > 0, unit, 1)
            return unit * xnp.sqrt(xnp.mean(xnp.abs(x / unit) ** 2))

        @jit
        def norms(y, k, k_ahead):
            return [rms(x / (atol + rtol * xnp.abs(y))) for x in (y, k, k_ahead - k)]

        self.attempt, self.norms = attempt, norms

    def slope(self, t, y):
        self.nfev += 1
        return self.f(t, y)

    def first_step(self, t, y, k, sign, span: float) -> float:
        """(Hairer, Nørsett and Wanner 1993, section II.4, page 169)"""
        if self.first is not None:
            return min(float(self.first), span)
        one, least = t.dtype.type, 20 * float(np.spacing(abs(t)))
        d0, d1, _ = map(float, self.norms(y, k, k))
        guess = min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, span)
        guess = guess if guess > 0 and math.isfinite(guess) else min(1e-6, span)
        guess = min(max(guess, least), span)
        ahead = self.slope(t + one(sign * guess), y + one(sign * guess) * k)
        d2 = float(self.norms(y, k, ahead)[2]) / guess
        steep = max(d1, d2)
        other = (
            max(1e-6, guess * 1e-3)
            if steep <= 1e-15
            else (0.01 / steep) ** (1 / self.tableau.order)
        )
        other = max(other if math.isfinite(other) else guess, least)
        return min(100 * guess, other, span)

    def take(self, t, y, k, h: float, sign: int, end):
        """(a step that is accurate, the length of the next, its slope), or (None, 0, …) where there is none."""
        one, grow = t.dtype.type, 10.0
        while True:
            h = min(h, self.longest)
            last = abs(end - t) <= h
            new_t = end if last else t + one(sign * h)
            if abs(new_t - t) < (0 if last else 10) * np.spacing(abs(t)) or new_t == t:
                return None, 0.0, k
            new, new_k, bends, size, lag = self.attempt(t, y, k, new_t - t)
            self.nfev += self.cost
            self.njev += self.stiff
            size = float(size)
            factor = 0.9 * max(size, 1e-10) ** (-1 / self.tableau.order)
            taken, h = float(abs(new_t - t)), h
            if size <= 1:
                self.lag, self.count = self.lag + float(lag), self.count + 1
                kept = h if last and taken < h else taken
                kept *= min(max(factor, 0.2), grow)
                return (t, new_t, y, new, *bends), kept, new_k
            h, grow = taken * max(factor if math.isfinite(size) else 0.2, 0.2), 1.0


class _Event:
    """A function whose zeros are looked for."""

    def __init__(self, event, args):
        if not callable(event):
            raise errors.bad_argument(
                WHO, "events", event, "a function of (t, y), or a list of them"
            )
        known = jit(lambda t, y: xnp.asarray(event(t, y, *args)).reshape(()))
        self.value = lambda t, y: float(known(t, y))
        self.left = int(getattr(event, "terminal", None) or 0)  # 0: it never ends the run
        self.direction = getattr(event, "direction", 0)
        self.t: list = []
        self.y: list = []
        self.last = math.nan

    def begin(self, t, y) -> None:
        self.last = self.value(t, y)

    def zero(self, step):
        """The time of a zero in a step, if the event changes its sign there as it should."""
        before, self.last = self.last, self.value(step[1], step[3])
        up, down = before <= 0 <= self.last, before >= 0 >= self.last
        if not ((up and self.direction >= 0) or (down and self.direction <= 0)):
            return None
        if before == 0:  # at the start, or found as the end of the step before
            return None if self.t and self.t[-1] == step[0] else step[0]
        low, high = step[0], step[1]
        while True:  # the sign at low is that of before
            middle = low + (high - low) / 2
            if middle in (low, high):
                return high
            value = self.value(middle, between(step, middle))
            low, high = (
                (low, middle) if value == 0 or (value > 0) != (before > 0) else (middle, high)
            )

    def note(self, t, y) -> bool:
        """Keep a zero; whether it ends the run."""
        self.t.append(t)
        self.y.append(np.asarray(y))
        self.left -= 1
        return self.left == 0


def _as_list(events) -> list:
    return list(events) if isinstance(events, (list, tuple)) else [events]


def _march(steps: _Steps, t_span, y, t_eval, dense: bool, events) -> Found:
    real = np.dtype(dtypes.to_real(typeof(y).dtype))
    t, end = (real.type(np.asarray(x)) for x in t_span)
    times = None if t_eval is None else _times(t_eval, t, end)
    sign = 1 if end >= t else -1
    for event in events or ():
        event.begin(t, y)
    k = steps.slope(t, y)
    taken, points, status, h = [], [(t, y)], 0, 0.0
    if t == end:  # a piece of no change, for what may be asked of the solution
        taken, points = [_unchanged(t, y)], [(t, y), (t, y)]
    else:
        h = steps.first_step(t, y, k, sign, float(abs(end - t)))
    while t != end and status == 0:
        step, h, k = steps.take(t, y, k, h, sign, end)
        if step is None:
            status = -1
            break
        (_, t, _, y, *_), stop = step, None
        if events:
            stop = _end_at_event(step, events, sign)
        if stop is not None:
            status, t, y = 1, stop, between(step, stop)
        taken.append(step)
        points.append((t, y))
    sol = OdeSolution(taken, points, real) if taken and (dense or times is not None) else None
    ts = np.array([p[0] for p in points], real)
    if times is None:
        ys = xnp.asarray(np.stack([np.asarray(p[1]) for p in points], axis=1))
    else:
        ts = times[sign * (times - t) <= 0]
        ys = sol(ts) if sol is not None else xnp.broadcast_to(y[:, None], (*y.shape, len(ts)))
    return _result(xnp.asarray(ts), ys, status, steps, sol if dense else None, events)


def _unchanged(t, y) -> tuple:
    """A step at whose every time the state is y."""
    zero = xnp.zeros_like(y)
    return t, t + max(np.spacing(abs(t)), t.dtype.type(1)), y, y, zero, zero, zero


def _end_at_event(step, events, sign: int):
    """Note the zeros of a step in their order, up to one that ends the run: its time."""
    found = [(e.zero(step), e) for e in events]
    for t, event in sorted([(t, e) for t, e in found if t is not None], key=lambda p: sign * p[0]):
        if event.note(t, between(step, t)):
            return t
    return None


def _times(t_eval, start, end) -> np.ndarray:
    times = np.asarray(t_eval).astype(start.dtype)
    low, high = min(start, end), max(start, end)
    way = np.diff(times) * (1 if end >= start else -1)
    inside = (times >= low) & (times <= high)  # NaN is not
    if times.ndim != 1 or not np.all(inside) or not np.all(way > 0):
        wanted = f"a row of times from {start:g} to {end:g}, in this order"
        raise errors.bad_argument(WHO, "t_eval", t_eval, wanted)
    return times


def _result(t, y, status, steps, sol, events) -> Found:
    fine = bool(xnp.all(xnp.isfinite(y)))
    status = status if fine else -1
    late = status >= 0 and bool(too_far(steps.lag, steps.count))
    kept: dict[str, Any] = {"t_events": None, "y_events": None}
    if events is not None:
        kept["t_events"] = [np.array(e.t, np.asarray(t).dtype) for e in events]
        kept["y_events"] = [np.array(e.y) for e in events]
    return Found(
        message=LATE if late else MESSAGES[status], success=status >= 0 and not late,
        status=-1 if late else status, t=t, y=y, sol=sol, **kept,
        nfev=steps.nfev, njev=steps.njev, nlu=steps.njev,
    )  # fmt: skip


def _stiff(f, method: Rosenbrock | SDIRK, rtol, atol, y0):
    """A step (t, y, k, h) -> (new, slope, rows that bend the way there, estimated error)."""
    vector = Vector(y0)

    def slope(y, t):
        return vector.ravel(f(t, vector(y)))

    def bound(size):
        return vector.ravel(xnp.broadcast_to(atol, y0.shape).astype(y0.dtype)) + rtol * xnp.abs(
            size
        )

    flat, t0 = vector.ravel(y0), xnp.zeros((), vector.dtype)
    system = system_of("auto", slope, flat, t0, ())

    def step(t, y, k, h):
        y = vector.ravel(y)
        new, bends, error, fine = implicit_step(method)(method, slope, system, y, t, h, (), bound)
        last = xnp.where(fine, slope(new, t + h), np.nan)
        return vector(new), vector(last), [vector(x) for x in bends], vector(error)

    return step


# In programs


def _traced(f, tableau, t_span, y0, t_eval, rtol, atol, first, longest) -> Found:
    """The same inside of transformations, in one loop that meets all times."""
    real = np.dtype(dtypes.to_real(typeof(y0).dtype))
    start, end = (xnp.asarray(x, real) for x in t_span)
    if all(type(x) is Array for x in (start, end, t_eval)):
        _times(t_eval, *(real.type(np.asarray(x)) for x in (start, end)))
    sign = xnp.where(end >= start, 1, -1).astype(real)
    times = sign * xnp.concatenate([start[None], t_eval.astype(real), end[None]])
    slope = lambda y, s: sign * f(sign * s, y)  # noqa: E731
    free = isinstance(longest, (int, float)) and longest == np.inf

    def run(y0, times):
        if not isinstance(tableau, Tableau):
            return Run(
                slope, y0, times, tableau, rtol, atol, first, longest, 100_000, None, (), "auto"
            ).go()
        of_inputs, inputs = closure_convert(slope, y0, times[0])

        def steps(careful, y0, times, *inputs):
            f = lambda y, s: of_inputs(y, s, *inputs)  # noqa: E731
            if free:
                return adaptive(f, y0, times, tableau, rtol, atol, first, 100_000, None, careful)
            return Run(
                f,
                y0,
                times,
                tableau,
                rtol,
                atol,
                first,
                longest,
                100_000,
                None,
                (),
                "auto",
                careful,
            ).go()

        return careful_where_differentiated(steps, y0, times, *inputs)

    found = in_order(run)(y0, times)
    y = found.value[1:-1].T
    good = (found.status == 0) & xnp.all(xnp.isfinite(found.value))
    return Found(
        message="status 0: the end was reached with finite numbers; -1: it was not.", success=good,
        status=xnp.where(good, 0, -1), t=t_eval.astype(real), y=y, sol=None, t_events=None, y_events=None,
        nfev=None, njev=0, nlu=0,
    )  # fmt: skip
