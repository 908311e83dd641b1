"""The loops over time: steps of equal length, with checkpoints on disk, and adaptive ones."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import closure_convert, eval_shape, jit, scan, stop_gradient, while_loop
from .._control.once import as_one_program
from .._control.saving import Checkpointer, read_metadata
from .._core import Array, ArrayLike, PyTree, dtypes, errors, require, static, struct, tree, typeof
from .._core.source import stack_level
from .._iterate import told
from .._solution import Status
from .._width import are_plain, as_wide
from ._adaptive import Run as AdaptiveRun
from ._adaptive import shortest
from ._boundary import as_dtype
from ._clock import Clock, drifted, follows_time, in_order
from ._events import as_events
from ._recomputed import check_kept, steps_kept
from ._rosenbrock import Rosenbrock
from ._sdirk import SDIRK
from ._small_moves import careful_where_differentiated, error_of_moves
from ._solutions import TrajectorySolution, too_long
from ._tableaux import DORMAND_PRINCE, Tableau
from ._time import (
    SOLVED,
    ExponentialIntegrator,
    ThetaMethod,
    check_one_field,
    check_order,
    check_step,
    estimated,
    moved,
    repeats_to,
    stable_step,
    stages,
)  # fmt: skip

_COARSE = 4  # steps that times have to be apart by a part of, where a step depends on them
LEAP_FROM = 4  # steps: going over to eigenvectors and back costs as much as a few


def trajectory(
    stepper: Any, x0: PyTree, dt: ArrayLike, steps: int, *, every: int = 1, t0: ArrayLike = 0.0,
    save: Callable[..., Any] | None = None, op: Any = None, progress: bool | str = False,
    checkpoint: str | Path | None = None, parts: int = 10, checkpoints: int | None = None,
    report: bool = False,
) -> PyTree | TrajectorySolution:  # fmt: skip
    """States after ``every``, 2 ``every``, … of ``steps`` steps, stacked along a new first axis.

    Args:
      stepper: has ``step(u, t, dt)``; and, if it can take many steps at once, ``leap(u, dt, count)``.
      x0: the first state, a tree of arrays.
      dt: length of a step; checked where the stability limit is known.
      steps: how many; a multiple of ``every``.
      every: a state is kept after each of this many steps.
      t0: the time of the first state; where a step depends on the time, near enough to 0 that rounding leaves the
        times of steps apart by a quarter of dt or less.
      save: function of (u, t) that gives what to keep; the state itself by default.
      op: for ``RungeKutta`` the linear operator in its function, to check the step with.
      progress: show a progress bar; a text is its label.
      checkpoint: a folder: the run is cut into parts, and state and result of each are written
        there. A run with the same folder begins behind the last part that is there; its times and
        shapes must be the same, stepper and first state are not compared.
      parts: into how many.
      checkpoints: of a derivative in reverse mode: about how many states are kept on the way, beside the results. The
        others are computed again, each some times: 8000 steps with 60 states three times. All are kept by default.
      report: return a ``TrajectorySolution``, which tells when the state left the finite numbers. Else,
        outside of ``jit``, ``grad`` and ``vmap``, a RuntimeWarning tells it, and the longest stable step.

    >>> from xcore.pde import EULER, RungeKutta
    >>> decay = RungeKutta(lambda u, t: -u, EULER)
    >>> trajectory(decay, xnp.ones(()), 0.5, 4, every=2)
    Array([0.25  , 0.0625], dtype=float32)
    """
    who = "pde.trajectory"
    check_kept(who, checkpoints)
    run = Run(stepper, dt, t0, every, save, progress, report, checkpoints)
    u, coarse = prepared(who, run, x0, steps, op)
    first = (u, xnp.zeros((), np.int32), xnp.asarray(SOLVED))
    if checkpoint is None:
        (end, _, worst), kept = run.go(first, steps // every)
        return _reported(run, u, end, kept, coarse) if report else _warned(run, u, end, worst, kept)
    if not all(type(x) is Array for x in tree.leaves((first, dt, t0)) if not np.isscalar(x)):
        want = "None inside of jit, grad and vmap"
        raise errors.bad_argument(who, "checkpoint", checkpoint, want)
    (end, _, worst), kept = _in_parts(run, first, steps // every, checkpoint, max(1, int(parts)))
    return _reported(run, u, end, kept, coarse) if report else _warned(run, u, end, worst, kept)


def prepared(who: str, run: Run, x0: PyTree, steps: int, op: Any) -> tuple:
    """(the first state, whether rounding of the times comes near the steps) of a run that makes sense."""
    if steps < 1 or run.every < 1 or steps % run.every:
        want = f"a positive multiple of every = {run.every}"
        raise errors.bad_argument(who, "steps", steps, want)
    if not hasattr(run.stepper, "step"):
        want = "what has step(u, t, dt), such as pde.ThetaMethod(op)"
        raise errors.bad_argument(who, "stepper", run.stepper, want)
    check_step(run.stepper, run.dt, op)
    if isinstance(run.stepper, (ThetaMethod, ExponentialIntegrator)):
        check_one_field(who, "x0", x0)
    u = tree.map(lambda x: _inexact(xnp.asarray(x)), x0)
    _check_fields(who, run.stepper, u)
    inside = getattr(getattr(run.stepper, "op", None), "only_inside", None)
    if inside is not None:  # what lies outside of a mask is no unknown
        u = tree.map(lambda x: inside(x).astype(typeof(x).dtype), u)
    coarse = run.coarse(u, steps)
    if coarse is True:
        need = "near enough to 0 that rounding leaves the times of the steps apart, for a step depends on them"
        advice = "Count time from t0 in the functions of the time, or take wider numbers."
        raise errors.bad_argument(who, "t0", run.start, need, advice)
    return u, coarse


def _finite(u):
    return functools.reduce(xnp.logical_and, [xnp.all(xnp.isfinite(x)) for x in tree.leaves(u)])


def _check_fields(who: str, stepper: Any, u: PyTree) -> None:
    """Raises where a state is not on the unknowns of the stepper's operator, or not what its ``start`` makes."""
    if hasattr(stepper, "start") and not isinstance(u, dict):
        raise errors.bad_argument(
            who, "x0", u, "a state that the start(…, dt=dt) of the stepper makes"
        )
    shape = getattr(getattr(stepper, "op", None), "field_shape", None)
    for x in tree.leaves(u) if shape is not None else ():
        if typeof(x).shape != shape:
            want = f"need fields of the unknowns of op, {shape}; op.field(x0) takes them from values at all nodes"
            raise errors.shape_mismatch(who, want, x0=x)


def outgrown(run: Run, u, end) -> float:
    """About the longest stable step, where steps are longer and the state is a hundred times as large, or not finite.

    Infinite where that is not so, or not known.
    """
    if not all(
        type(x) is Array for x in tree.leaves((u, end, run.dt, run.start)) if not np.isscalar(x)
    ):
        return np.inf
    first, last = (
        float(np.max([float(xnp.max(xnp.abs(x), initial=0)) for x in tree.leaves(y)], initial=0))
        for y in (u, end)
    )
    if last <= 100 * first or not np.isfinite(first):
        return np.inf
    try:
        longest = stable_step(run.stepper, u=u, t=run.start)
    except ValueError:  # another stepper, or an operator without a known limit
        return np.inf
    return longest if float(np.asarray(run.dt)) > 1.1 * longest else np.inf


def _reported(run: Run, u, end, kept, coarse):
    value, good, worst = kept
    times = run.start + (xnp.arange(good.shape[0]) + 1) * run.every * run.dt
    left, unsolved = (xnp.min(xnp.where(x, np.inf, times)) for x in (good, worst == SOLVED))
    status = xnp.where(xnp.all(good), worst[-1], np.int32(Status.not_finite))
    stable = outgrown(run, u, end)
    grown = np.int32(Status.breakdown)
    status = status if np.isinf(stable) else xnp.where(xnp.all(good), grown, status)
    return TrajectorySolution(
        value,
        drifted(status, coarse),
        who="pde.trajectory",
        left=left,
        unsolved=unsolved,
        stable=xnp.asarray(stable),
    )


def _warned(run: Run, u, end, worst, kept):
    """What was kept; a warning where the run is known to have left the finite numbers, or to hold
    what does not solve its linear systems."""
    known = (u, end, worst, kept, run.dt, run.start)
    if not all(type(x) is Array for x in tree.leaves(known) if not np.isscalar(x)):
        return kept
    if not bool(_finite(u)):
        return kept
    if bool(_finite(end)):
        if int(worst) != int(SOLVED):
            warnings.warn(
                "xcore.pde.trajectory: the linear system of a step was not solved: "
                f"{Status(int(worst)).message}. report=True tells before which time.",
                RuntimeWarning, stacklevel=stack_level(),
            )  # fmt: skip
        elif np.isfinite(stable := outgrown(run, u, end)):
            words = f"xcore.pde.trajectory: the state grew a hundredfold: {too_long(stable)}."
            warnings.warn(words, RuntimeWarning, stacklevel=stack_level())
        return kept
    when = f"by t = {_time(run, len(tree.leaves(kept)[0]))}"
    if run.save is None:
        good = [np.isfinite(np.asarray(x)) for x in tree.leaves(kept)]
        good = functools.reduce(np.logical_and, [x.reshape(len(x), -1).all(axis=1) for x in good])
        number = int(np.argmin(good))
        when = f"after t = {_time(run, number)} and by t = {_time(run, number + 1)}"
    warnings.warn(
        f"xcore.pde.trajectory: the state left the finite numbers {when}.{_advice(run, u)} "
        "report=True gives the time without this warning, also inside of jit and vmap.",
        RuntimeWarning, stacklevel=stack_level(),
    )  # fmt: skip
    return kept


def _time(run: Run, kept: int) -> str:
    return f"{float(run.start + kept * run.every * np.asarray(run.dt)):.6g}"


def _advice(run: Run, u) -> str:
    """What the longest stable step would have been, where it is known."""
    try:
        longest = stable_step(run.stepper, u=u, t=run.start)
    except ValueError:  # another stepper, or an operator without a known limit
        return ""
    if longest == 0:
        return " No step of this method is stable here: f has oscillations, take RK4 or SSP3."
    if float(np.asarray(run.dt)) <= longest:
        return ""
    return (
        f" The step {float(np.asarray(run.dt)):.4g} is too long: at the start the longest stable one is "
        f"about {longest:.3g}."
    )


@struct
class Run:
    """Steps and what is kept of them."""

    stepper: Any
    dt: Any
    start: Any
    every: int = static()
    save: Any = static()
    progress: Any = static()
    report: bool = static(default=False)
    kept: int | None = static(default=None)

    def coarse(self, u, steps: int):
        """Whether rounding of the times comes near the steps where a step depends on them; an array where these are
        not known."""
        start, dt = stop_gradient((xnp.asarray(self.start), xnp.asarray(self.dt)))
        end = start + np.int32(steps) * dt
        eps = float(xnp.finfo(typeof(end).dtype).eps)
        coarse = eps * xnp.maximum(xnp.abs(start), xnp.abs(end)) > dt / _COARSE
        known = type(coarse) is Array
        if known and not np.any(np.asarray(coarse)):
            return False
        follows = follows_time(lambda u, t: self._one(u, t)[0], u, start)
        return (True if known else coarse) if follows else False

    def _one(self, u, t):
        return (getattr(self.stepper, "attempt", None) or self._plain)(u, t, self.dt)

    def one(self, carry, _):
        u, k, worst = carry
        new, status = self._one(u, self.start + k * self.dt)
        keep = lambda a, b: as_dtype("pde.trajectory", "step(u, t, dt)", b, typeof(a).dtype)  # noqa: E731
        return (tree.map(keep, u, new), k + 1, xnp.where(worst == SOLVED, status, worst)), None

    def _plain(self, u, t, dt):
        return self.stepper.step(u, t, dt), SOLVED

    def many(self, carry):
        """``every`` steps: at once where the stepper knows how and it costs less."""
        u, k, worst = carry
        leap = getattr(self.stepper, "leap", None)
        there = leap(u, self.dt, self.every) if leap and self.every >= LEAP_FROM else None
        if there is None:
            return steps_kept(self.one, carry, self.every, self._share())[0]
        return there, k + self.every, worst

    def some(self, carry, _):
        carry = self.many(carry)
        u, k, worst = carry
        kept = u if self.save is None else self.save(u, self.start + k * self.dt)
        return carry, ((kept, _finite(u), worst) if self.report else kept)

    def go(self, carry, count: int):
        """The last state, and what was kept after each of so many runs of steps."""
        if self.kept is None or self.progress:
            return scan(self.some, carry, None, length=count, progress=self.progress)
        return steps_kept(self.some, carry, count, self._share() if self.every > 1 else self.kept)

    def _share(self):
        """Of states that are kept, those of one of the two loops."""
        return None if self.kept is None else max(2, self.kept // 2)


def _in_parts(run: Run, carry, count: int, folder, parts: int):
    """As ``run.go``, part by part; those that are on the disk are read."""
    ends = np.unique(np.linspace(0, count, min(parts, count) + 1).astype(int))
    kind = {
        "ends": ends.tolist(), "every": run.every, "dt": float(run.dt), "start": float(run.start),
        "problem": told(lambda: run.some(carry, None)),
    }  # fmt: skip
    found = []
    with Checkpointer(folder, asynchronous=False) as disk:
        there = disk.all_steps()
        for number, length in enumerate(np.diff(ends).tolist()):
            go = functools.partial(run.go, count=length)
            if number in there:
                _check_same(disk.path(number), kind)
                carry, kept = disk.restore(eval_shape(go, carry), step=number)
            else:
                carry, kept = jit(go)(carry)
                disk.save(number, (carry, kept), metadata=kind)
            found.append(kept)
    return carry, tree.map(lambda *parts: xnp.concatenate(parts), *found)


def _check_same(path, kind: dict) -> None:
    stored = read_metadata(path)
    if stored != kind:
        raise errors.bad_argument(
            "pde.trajectory", "checkpoint", str(path), f"of the same run, {kind}",
            f"It is of {stored}. Choose another folder, or remove it.",
        )  # fmt: skip


def _inexact(x):
    return x if dtypes.is_inexact(typeof(x).dtype) else x.astype(dtypes.default_dtype("float"))


def integrate(
    f: Callable[..., Any], x0: PyTree, t_eval: ArrayLike | Sequence[float], *,
    tableau: Tableau | Rosenbrock | SDIRK = DORMAND_PRINCE, rtol: float = 1e-5, atol: PyTree = 1e-8,
    first_step: ArrayLike | None = None, max_step: ArrayLike | None = None, max_steps: int = 100_000,
    events: Any = None, jac: str = "auto", checkpoints: int | None = None, report: bool = False,
) -> PyTree | TrajectorySolution:  # fmt: skip
    """States of u' = f(u, t) at given times, with steps as long as the error allows.

    An embedded pair estimates the error of each step; the step's length follows it.
    (Hairer, Nørsett and Wanner 1993, section II.4)

    ``tableau=RODAS5P`` is for stiff equations: it solves linear systems with the Jacobian of f, is A-stable and
    damps what is infinitely fast at once. So do ``KVAERNO5``, ``KENCARP4`` and ``TRBDF2``, of orders 5, 4 and 2, whose
    stages are solved by Newton's method (SDIRK). With these, and with events or ``max_step``, steps do not end at the
    given times: the solution between their ends is a polynomial of as high an order, and derivatives are those of
    the steps taken. Where there are derivatives explicit methods judge a step by small moves of the state, too: a
    state at rest has an error of 0 however long the step is. With events, and of implicit methods, they do not; give
    ``max_step`` where what is differentiated rests. Under ``vmap`` each member has steps of its own.

    Args:
      f: function of (u, t), in this order; for functions of (t, y) see ``xcore.scipy.integrate.solve_ivp``.
      x0: the state at t_eval[0].
      t_eval: rising times; states at all of them are returned, stacked. Times have the dtype of the state, and
        1e4 + 1e-4 is 1e4 in float32: where f depends on t, count it from t_eval[0]. Where the rounding of times moves
        the solution by more than the steps' own errors may, the report says so (``stagnation``, with the states).
      tableau: one with an error estimate: ``DORMAND_PRINCE``, ``DOP853`` (of order 8, for small tolerances),
        ``BOGACKI_SHAMPINE``, ``HEUN``, or ``RODAS5P``, ``KVAERNO5``, ``KENCARP4``, ``TRBDF2``.
      rtol, atol: the error of each element in a step is at most about atol + rtol |u|. For stiff equations, with
        events and with ``max_step``, atol may be a tree like x0, and an rtol below ten rounding errors counts as these.
      first_step, max_step: the length of the first step, and of the longest.
      events: an ``Event`` or function of (u, t), or a list of them, whose zeros are looked for; times and
        states of them are in the report. States at times behind an event that is terminal are NaN, as are those
        behind where events accumulate, or their functions are NaN, which the report says.
      jac: for stiff equations, how the linear systems are solved: "dense" by factors of the Jacobian; "sparse" by
        those of a sparse one, whose places are found from f and whose elements are coloured; "krylov" by GMRES with
        products only. "auto" takes the first for up to 100 unknowns, and where more than a tenth of the
        places are taken (up to 600); the last from 50,000 on.
      max_steps: between two times. Where more are needed, or steps become so short that rounding
        swallows them, as before a pole, this state and all after it are NaN.
      checkpoints: of a derivative in reverse mode: about how many states are kept on the way, beside the results; the
        others are computed again. By default 32 between two times.
      report: return a ``TrajectorySolution``, which tells that and why. Else, outside of ``jit``, ``grad``
        and ``vmap``, a RuntimeWarning does.

    >>> u = integrate(lambda u, t: -u, xnp.ones(()), xnp.asarray([0.0, 1.0]))
    >>> round(float(u[1]), 4)
    0.3679
    """
    check_order("pde.integrate", f)
    check_kept("pde.integrate", checkpoints)
    check_method(tableau)
    if not len(tableau.error):
        raise errors.bad_argument("pde.integrate", "tableau", tableau, "one with an error estimate")
    if not tree.leaves(x0):
        raise errors.bad_argument("pde.integrate", "x0", x0, "a tree with one array at least")
    u = tree.map(lambda x: _inexact(xnp.asarray(x)), as_wide(f, x0, xnp.zeros((), float)))
    between = isinstance(tableau, Rosenbrock | SDIRK) or events is not None or max_step is not None
    leaves = tree.leaves(u) if between else tree.leaves(u)[:1]
    dtype = dtypes.to_real(xnp.result_type(*leaves))
    times = xnp.asarray(t_eval) if hasattr(t_eval, "dtype") else xnp.asarray(t_eval, dtype)
    _check_goals(times, rtol, atol, first_step, max_step)
    _check_shape(u, atol)
    _check_apart(times, dtype)
    happens = as_events(events)

    def run(u, times):
        def between_ends(f, u, times, careful=False):
            return AdaptiveRun(
                f, u, times, tableau, rtol, atol, first_step, max_step, max_steps, checkpoints, happens, jac, careful,
            ).go()  # fmt: skip

        if happens or not isinstance(tableau, Tableau):
            return between_ends(f, u, times)
        slope, inputs = closure_convert(f, u, times[0])

        def steps(careful, u, times, *inputs):
            follow = lambda u, t: slope(u, t, *inputs)  # noqa: E731
            if between:
                return between_ends(follow, u, times, careful)
            return adaptive(
                follow, u, times, tableau, rtol, atol, first_step, max_steps, checkpoints, careful
            )

        return careful_where_differentiated(steps, u, times, *inputs)

    known = type(times) is Array  # others may turn back
    try:
        found = as_one_program(run if known else in_order(run), u, times.astype(dtype))
    except TypeError as e:
        _tell_of_lists(x0, e)
        raise
    return found if report else _answer(found, u)


def _tell_of_lists(x0, e: TypeError) -> None:
    """Where f computes with a list of numbers as if it were an array, what to write."""
    about = any(word in str(e) for word in ("list", "tuple", "sequence"))
    given = isinstance(x0, (list, tuple)) and are_plain(x0)
    if about and given and not isinstance(e, errors.XcoreError):
        advice = "Lists and tuples are trees of numbers: write xcore.numpy.asarray(x0)."
        want = f"what f can compute with, which said: {e}"
        raise errors.bad_argument("pde.integrate", "x0", x0, want, advice) from e


def check_method(tableau) -> None:
    """That it is coefficients."""
    if not isinstance(tableau, (Tableau, Rosenbrock, SDIRK)):
        want = "coefficients: pde.DORMAND_PRINCE, or pde.RODAS5P for stiff equations"
        raise errors.bad_argument("pde.integrate", "tableau", tableau, want)


def adaptive(
    f, u, times, tableau: Tableau, rtol, atol, first, max_steps: int, kept: int | None = None,
    careful: bool = False,
) -> TrajectorySolution:  # fmt: skip
    """States at times that do not fall, of the width of the state; ``careful``: small moves of it count, too."""
    dtype = typeof(times).dtype
    power = -1 / tableau.order
    dt = (times[-1] - times[0]) * 1e-3 if first is None else xnp.asarray(first, dtype)
    dt = xnp.maximum(dt, shortest(times[0]))

    clock = Clock(f, u, times[0])

    def attempt(state, goal):
        u, t, dt, steps, _, seen = state
        last = dt >= goal - t
        # what time moves by, which rounding may make another number
        h = xnp.where(last, goal - t, (t + dt) - t)
        slopes = stages(tableau.a, f, u, t, h)
        new = moved(u, slopes, tableau.b, h)
        shares = [tree.map(lambda k: h * k, slope) for slope in slopes]
        # of slopes themselves so little may be left by the sum that it is below the range, and counts as no error
        size = _error_norm(u, new, estimated(tableau, shares, u, 1), rtol, atol)
        size = xnp.where(xnp.isfinite(size), size, 1e4).astype(dtype)
        if careful:
            of_moves = error_of_moves(tableau, f, u, t, h, _error_norm, rtol, atol)
            size = xnp.maximum(size, of_moves)
        good = size <= 1
        grow = xnp.clip(0.9 * xnp.maximum(size, 1e-10) ** power, 0.2, 5.0).astype(dtype)
        norm = functools.partial(_error_norm, *stop_gradient((u, new)), rtol=rtol, atol=atol)
        seen = clock.tick(seen, u, t, h, norm, good)
        u = tree.map(lambda a, b: xnp.where(good, b, a), u, new)
        t = xnp.where(good, xnp.where(last, goal, t + h), t)
        # a step that was cut off at the goal says little about the next one
        dt = xnp.where(good & last & (h < dt), dt, xnp.where(last, h, dt) * grow)
        return u, t, dt, steps + 1, t + dt == t, seen

    def advance(carry, goal):
        u, t, dt, status, seen = carry
        # own loop: time, which is differentiated through
        u, t, dt, _, short, seen = while_loop(
            lambda s: (s[1] < goal) & (s[3] < max_steps) & ~s[4],
            lambda s: attempt(s, goal),
            (u, t, dt, xnp.zeros((), np.int32), status != SOLVED, seen),
            checkpoints=32 if kept is None else max(2, kept // 2),
        )
        ends = [
            (status != SOLVED, status),
            (t >= goal, SOLVED),
            (short, np.int32(Status.stagnation)),
        ]
        status = xnp.select(*zip(*ends, strict=True), np.int32(Status.max_steps)).astype(np.int32)
        u = tree.map(lambda x: xnp.where(status == SOLVED, x, np.nan).astype(typeof(x).dtype), u)
        return (u, t, dt, status, seen), (u, status, clock.lost(seen))

    start = xnp.where(_finite(u), SOLVED, np.int32(Status.not_finite)).astype(np.int32)
    first_one = (u, times[0], dt, start, clock.begin(dtype))
    if kept is None:
        _, (states, statuses, lost) = scan(advance, first_one, times[1:])  # pyright: ignore[reportGeneralTypeIssues]
    else:  # goals are found by their numbers

        def numbered(carry, _):
            number, *rest = carry
            carry, found = advance(tuple(rest), times[number])
            return (number + 1, *carry), found

        states, statuses, lost = steps_kept(  # pyright: ignore[reportGeneralTypeIssues]
            numbered, (np.int32(1), *first_one), times.shape[0] - 1, max(2, kept // 2)
        )[1]
    states = tree.map(lambda a, b: xnp.concatenate([a[None], b]), u, states)
    statuses = xnp.concatenate([start[None], statuses])
    left = xnp.min(xnp.where(statuses == SOLVED, np.inf, times))
    return TrajectorySolution(
        states, drifted(statuses[-1], lost), who="pde.integrate", left=left,
        unsolved=xnp.full_like(left, np.inf),
    )  # fmt: skip


def _answer(found: TrajectorySolution, u):
    """The states; a warning where the run is known to have ended before its time."""
    known = (u, found)
    if (
        not all(type(x) is Array for x in tree.leaves(known))
        or bool(found.ok)
        or not bool(_finite(u))
    ):
        return found.value
    why = Status(int(found.status))
    words = {Status.stagnation: "the steps became shorter than rounding, as before a pole"}
    said = f"the states from t = {float(found.left):.6g} on are NaN: {words.get(why, why.message)}"
    own = float(found.left) == np.inf or int(found.stats.get("blamed", -1)) >= 0
    said = found.message if own else said
    warnings.warn(
        f"xcore.pde.integrate: {said}. report=True tells it without this warning, also inside of "
        "jit and vmap.",
        RuntimeWarning, stacklevel=stack_level(),
    )  # fmt: skip
    return found.value


def _check_goals(times, rtol, atol, first_step, max_step=None) -> None:
    """Times rise, and steps can meet the tolerances, as far as these are known."""
    who = "pde.integrate"
    if len(times.shape) != 1 or not times.shape[0] or times.dtype.kind == "c":
        raise errors.bad_argument(who, "t_eval", times, "a row of one or more real numbers")
    if type(times) is Array and not np.all(np.diff(np.asarray(times)) > 0):  # pyright: ignore[reportOperatorIssue]
        advice = "Backward from t0 it is integrate(lambda u, s: -f(u, t0 - s), x0, t0 - t_eval)."
        raise errors.bad_argument(
            who, "t_eval", times, "rising, each later than the one before", advice
        )
    check_tolerances(who, rtol, atol)
    known = [x for x in (rtol, atol) if isinstance(x, (int, float))]
    if len(known) == 2 and not any(known):
        raise errors.bad_argument(who, "(rtol, atol)", (rtol, atol), "not negative, and not both 0")
    require("positive", who, first_step=first_step, max_step=max_step)


def _check_shape(u, atol) -> None:
    """One tolerance for all elements, one for each, or a tree like the state of these."""
    parts, given = tree.leaves(u), tree.leaves(atol)
    given = given * len(parts) if len(given) == 1 else given
    if len(given) != len(parts) or not all(map(repeats_to, given, parts)):
        want = "a number, or numbers for each element of x0"
        raise errors.bad_argument("pde.integrate", "atol", atol, want)


def check_tolerances(who: str, rtol, atol) -> None:
    """That none is negative or NaN, as far as they are known: the error would pass as small."""
    for name, given in (("rtol", rtol), ("atol", atol)):
        known = [
            x
            for x in tree.leaves(given)
            if type(x) is Array or isinstance(x, (int, float, np.ndarray))
        ]
        if not all(np.all(np.asarray(x) >= 0) for x in known):
            raise errors.bad_argument(who, name, given, "numbers that are not negative")


def _check_apart(times, dtype) -> None:
    """That times which rise still do so in the dtype of the state."""
    if type(times) is Array and not np.all(np.diff(np.asarray(times).astype(dtype)) > 0):  # pyright: ignore[reportOperatorIssue]
        need = f"apart in {np.dtype(dtype)}, the dtype of the state"
        advice = "Count time from t_eval[0], or give x0 as float64."
        raise errors.bad_argument("pde.integrate", "t_eval", times, need, advice)


def in_tolerances(a, b, error, rtol, atol):
    """Errors of elements, each in units of its tolerance; no error is none in any units."""
    bound = atol + rtol * xnp.maximum(xnp.abs(a), xnp.abs(b))
    size = xnp.abs(error)
    return xnp.where(size == 0, 0, size / xnp.where(size == 0, 1, bound))


def _error_norm(u, new, error, rtol, atol):
    """The largest of them: a mean over many elements would hide the few that move."""
    parts = zip(*map(tree.leaves, (u, new, error)), strict=True)
    sizes = [xnp.max(in_tolerances(*x, rtol, atol), initial=0) for x in parts]
    return functools.reduce(xnp.maximum, sizes)
