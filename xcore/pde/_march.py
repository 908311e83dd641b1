"""Long runs: the state alone is kept, and functions look at it from time to time, print, store or stop."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import jit
from .._core import Array, ArrayLike, PyTree, dtypes, errors, require, tree
from .._solution import Status, first_that_holds
from ._grid import takes
from ._solutions import TrajectorySolution
from ._time import SOLVED
from ._trajectory import Run, outgrown, prepared


def march(
    stepper: Any, x0: PyTree, dt: ArrayLike, steps: int, *, every: int = 1, trackers: Any = (),
    t0: ArrayLike = 0.0, op: Any = None, report: bool = False,
) -> PyTree | TrajectorySolution:  # fmt: skip
    """The last state of a long run, of which trackers see every so many steps. Nothing else is kept.

    A tracker is a function of (u, t), called with the first state and after each ``every`` steps; where one returns
    true the run ends. ``Steady`` ends it when nothing changes any more, ``Store`` writes states to a file, ``Print``
    shows figures. It runs on the host: for derivatives, ``vmap`` and ``jit`` take ``trajectory``.

    Args:
      stepper, x0, dt, t0, op: as in ``trajectory``.
      steps: how many at most; a multiple of ``every``.
      trackers: one, or a list of them.
      report: return a ``TrajectorySolution`` with the last state, where the run ended (``ended``, ``steps``) and why:
        its status is ``max_steps`` where something was waited for that did not come. Else a state that is not finite,
        a linear system that was not solved, and a steady state that was not reached raise SolverError.

    >>> from xcore.pde import EULER, RungeKutta
    >>> fall = RungeKutta(lambda u, t: 1 - u, EULER)
    >>> u = march(fall, xnp.zeros(()), 0.1, 1000, every=10, trackers=Steady(rtol=1e-4))
    >>> round(float(u), 3)
    1.0
    """
    who = "pde.march"
    trackers = [trackers] if callable(trackers) else list(trackers)
    for look in trackers:
        if not callable(look) or isinstance(look, type) or not takes(look, 2):
            advice = "Steady() makes one." if isinstance(look, type) else ""
            raise errors.bad_argument(who, "trackers", look, "functions of (u, t)", advice)
    run = Run(stepper, dt, t0, every, None, False)
    u, _ = prepared(who, run, x0, steps, op)
    if not all(type(x) is Array for x in tree.leaves((u, dt, t0)) if not np.isscalar(x)):
        advice = "Trackers are called by Python; pde.trajectory can be traced."
        raise errors.bad_argument(who, "x0", x0, "known, outside of jit, grad and vmap", advice)
    carry, left, done = (u, xnp.zeros((), np.int32), xnp.asarray(SOLVED)), np.inf, 0
    try:
        stopped = _seen(trackers, u, run, 0)
        while done < steps // every and not stopped and np.isinf(left):
            carry, good = _leg(run, carry)
            done += 1
            left = left if bool(good) else _time(run, done)
            stopped = bool(good) and _seen(trackers, carry[0], run, done)
    finally:
        for look in [x for x in trackers if hasattr(x, "close")]:
            look.close()
    awaited = not stopped and any(getattr(x, "awaited", False) for x in trackers)
    answer = _told(who, run, u, carry, left, done, awaited)
    return answer if report else answer.check().value


def _time(run: Run, done: int) -> float:
    return float(run.start + done * run.every * np.asarray(run.dt))


def _seen(trackers, u, run: Run, done: int) -> bool:
    """Whether a tracker ends the run; each of them looks."""
    return any([_true(look, look(u, _time(run, done))) for look in trackers])


def _true(look, found) -> bool:
    try:
        return bool(found)
    except ValueError as e:
        want = "functions of (u, t) to nothing, or to whether the run ends"
        raise errors.bad_argument("pde.march", "trackers", look, want) from e


def _told(who: str, run: Run, x0, carry, left: float, done: int, awaited: bool):
    u, _, worst = carry
    stable = outgrown(run, x0, u)
    solved = int(worst) == int(SOLVED)
    rules = [(left < np.inf, Status.not_finite), (stable < np.inf, Status.breakdown),
             (not solved, Status(int(worst))), (awaited, Status.max_steps)]  # fmt: skip
    return TrajectorySolution(
        u, first_that_holds(*rules, default=Status.success), steps=xnp.asarray(np.int32(done * run.every)), who=who,
        left=xnp.asarray(left), unsolved=xnp.asarray(np.inf if solved else _time(run, done)),
        ended=xnp.asarray(_time(run, done)), stable=xnp.asarray(stable),
    )  # fmt: skip


@jit
def _leg(run, carry):
    """``every`` steps, and whether the state is finite."""
    carry = run.many(carry)
    return carry, xnp.all(xnp.stack([xnp.all(xnp.isfinite(x)) for x in tree.leaves(carry[0])]))


# Trackers


class Steady:
    """Ends a run when what is still to come is small: a tracker of ``march``.

    From three states in a row, one interval apart, follows how far the last one is from where changes d that
    shrink by a factor q = |d₂| / |d₁| each time lead to: |d₂| q / (1 - q) (Aitken 1926). The run ends when
    that, and d₂ itself, are at most atol + rtol |u| in two intervals in a row, in the mean square over each array of
    the state. It does not hang on the length of steps and intervals, and is an estimate: what changes more slowly
    than all that is seen, and less, is not seen, nor is what comes back after each interval, as a wave of that period.
    Where the factor comes nearer to 1 by more than a quarter between two intervals, what is slow has just begun to
    show, and the run goes on. A state that rounding keeps moving does not come to rest: in single precision an rtol
    near 1e-6 may want longer intervals, or a larger one.

    Attributes:
      rtol, atol: how much may be left.
      away: what was left when it was last looked at, relative to the size of the state.

    >>> Steady(rtol=1e-3)
    Steady(rtol=0.001, atol=0.0)
    """

    awaited = True

    def __init__(self, rtol: float = 1e-6, atol: float = 0.0) -> None:
        require("0 or more", "pde.Steady", rtol=rtol, atol=atol)
        self.rtol, self.atol, self.away = float(rtol), float(atol), np.inf
        self._before: Any = None
        self._change: Any = None
        self._left: list = []  # 1 - q of each array, when it was last looked at
        self._good = False

    def __repr__(self) -> str:
        return f"Steady(rtol={self.rtol}, atol={self.atol})"

    def __call__(self, u: PyTree, t: float) -> bool:
        now, good, change = tree.leaves(u), False, None
        if self._before is not None:
            change = [float(_size(a - b)) for a, b in zip(now, self._before, strict=True)]
        if self._change is not None and change is not None:
            sizes = [float(_size(a)) for a in now]
            left = [_left(d, e) for d, e in zip(self._change, change, strict=True)]
            self.away = max((_share(x, s) for x, s in zip(left, sizes, strict=True)), default=0.0)
            rows = zip(left, change, sizes, strict=True)
            good = all(max(x, d) <= self.atol + self.rtol * s for x, d, s in rows)
            shrink = [1 - e / d if d else 1.0 for d, e in zip(self._change, change, strict=True)]
            noise = [8 * _eps(a) * s for a, s in zip(now, sizes, strict=True)]
            before = self._left or shrink
            good = good and all(
                b >= 0.75 * a or e <= n
                for a, b, e, n in zip(before, shrink, change, noise, strict=True)
            )
            self._left = shrink
        twice = good and self._good
        self._before, self._change, self._good = now, change, good
        return twice


def _eps(x: Any) -> float:
    dtype = xnp.result_type(x)
    return float(xnp.finfo(dtype if dtypes.is_inexact(dtype) else np.float32).eps)


def _left(first: float, second: float) -> float:
    """How far the limit of changes is that shrink as these two did."""
    if second == 0:
        return 0.0
    q = second / first if first else np.inf
    return second * q / (1 - q) if q < 1 else np.inf


def _share(x: float, size: float) -> float:
    return x / size if size else np.inf if x else 0.0


@jit
def _size(x):
    """The root of the mean square, in units of the largest."""
    top = xnp.max(xnp.abs(x), initial=0)
    unit = xnp.where(top > 0, top, 1)
    return unit * xnp.sqrt(xnp.mean(xnp.abs(x / unit) ** 2)) if x.size else xnp.zeros(())


class Print:
    """Prints the time and figures of the state: a tracker of ``march``.

    Args:
      seconds: at least so long apart.
      file: where to; standard output by default.
      figures: by name functions of the state, or of (u, t), that give numbers.

    >>> look = Print(mass=lambda u: u.sum())
    >>> look(xnp.ones(3), 0.5)
    t = 0.5  mass = 3
    """

    def __init__(
        self, seconds: float = 0.0, file: Any = None, **figures: Callable[..., Any]
    ) -> None:
        if not isinstance(seconds, (int, float)) or not seconds >= 0:
            advice = "Figures have names: Print(mass=lambda u: u.sum())."
            raise errors.bad_argument(
                "pde.Print", "seconds", seconds, "a number, 0 or more", advice
            )
        for name, f in figures.items():
            if not callable(f):
                raise errors.bad_argument("pde.Print", name, f, "a function of u, or of (u, t)")
        self.seconds, self.file, self.figures, self._last = seconds, file, figures, -np.inf

    def __call__(self, u: PyTree, t: float) -> None:
        now = time.monotonic()
        if now - self._last < self.seconds:
            return
        self._last = now
        values = [f"{name} = {_figure(name, f, u, t):.6g}" for name, f in self.figures.items()]
        print("  ".join([f"t = {t:.6g}", *values]), file=self.file or sys.stdout, flush=True)


def _figure(name: str, f, u, t) -> complex:
    found = np.asarray(f(u) if takes(f, 1) else f(u, t))
    if found.size != 1:
        want = "a function that gives one number, as lambda u: u.max()"
        raise errors.bad_argument("pde.Print", name, found, want)
    return found.item()
