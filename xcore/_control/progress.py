"""Progress bars of compiled loops.

Three numbers go around with a loop's carry: which run of the loop it is, how many steps are done,
and the step at which to call Python again. Python answers each call with that step, chosen so that
there are at most ten calls a second, so cheap steps stay cheap. Used by a loop as

    bar = Bar(progress, total)
    state = bar.start()          before the loop; state joins the carry
    state = bar.step(state)      once in the body
    bar.stop(state)              behind the loop
"""

from __future__ import annotations

import itertools
import sys
import time
from typing import Any

import numpy as np

from .._backend.callbacks import wrap_callback
from .._core import ArrayType, Op, dtypes, errors, from_numpy
from .._ops import broadcast, reduce_max

_INTERVAL = 0.1  # seconds between redraws
_SHARES = 100  # redraws at least, where the number of steps is known,
_PAUSE = 0.02  # unless they would follow each other faster: a call of Python costs some 0.1 ms

# On the host


class Line:
    """A progress bar as a line of text on stderr, where tqdm is not installed."""

    WIDTH = 30

    def __init__(self, desc, total, file=None, clock=time.perf_counter):
        self.desc, self.total, self.file, self.clock = desc, total, file or sys.stderr, clock
        self.n, self.began = 0, clock()
        self.first = None  # steps and time of the first sign of life: compilation may come before
        self.redraw(self.began)

    def update(self, n: int) -> None:
        now = self.clock()
        self.n += n
        self.first = self.first or (self.n, now)
        if now - self.drawn >= _INTERVAL:
            self.redraw(now)

    def redraw(self, now: float) -> None:
        self.drawn = now
        print("\r" + self.text(now), end="", file=self.file, flush=True)

    def close(self) -> None:
        self.redraw(self.clock())
        print(file=self.file, flush=True)

    def text(self, now: float) -> str:
        head = f"{self.desc}: " if self.desc else ""
        spent, (n, then) = now - self.began, self.first or (0, self.began)
        rate = (self.n - n) / (now - then) if self.n > n and now > then else 0.0
        if not self.total:
            return f"{head}{self.n} steps [{_clock(spent)}, {_speed(rate)}]"
        done = self.n / self.total
        bar = ("#" * round(done * self.WIDTH)).ljust(self.WIDTH)
        left = _clock((self.total - self.n) / rate) if rate else "?"
        return f"{head}{done:4.0%} |{bar}| {self.n}/{self.total} [{_clock(spent)}<{left}, {_speed(rate)}]"


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes:02}:{seconds:02}"


def _speed(rate: float) -> str:
    if not rate:
        return "? steps/s"
    return f"{1 / rate:.2f} s/step" if rate < 1 else f"{rate:.2f} steps/s"


def open_bar(desc: str, total: int | None) -> Any:
    try:
        from tqdm import tqdm
    except ImportError:
        return Line(desc, total)
    return tqdm(desc=desc or None, total=total, mininterval=_INTERVAL, miniters=1)


class _Run:
    """One run of a loop: what is shown, and when it was last redrawn."""

    def __init__(self, number: int, label: str, total):
        self.number, self.label, self.total = number, label, total
        self.shown, self.seen, self.time, self.stride = (
            open_bar(label, total),
            0,
            time.perf_counter(),
            1,
        )

    def advance(self, count: int) -> int:
        """Show that ``count`` steps are done; the count at which to be called again."""
        now = time.perf_counter()
        steps, spent = count - self.seen, now - self.time
        self.shown.update(steps)
        self.seen, self.time = count, now
        if steps:
            rate = steps / max(spent, 1e-9)
            wanted = int(_INTERVAL * rate)
            if self.total:
                wanted = min(wanted, max(self.total // _SHARES, int(_PAUSE * rate)))
            # not more than twice the last stride: later steps may be slower than early ones
            self.stride = max(1, min(wanted, 2 * self.stride))
        due = count + self.stride
        return min(due, max(self.total, count + 1)) if self.total else due

    def close(self, count: int) -> None:
        self.shown.update(count - self.seen)
        self.shown.close()


_runs: dict[int, _Run] = {}
_numbers = itertools.count(1)


def _start(label: str, total):
    # an earlier run of this loop that was interrupted never came to its end
    for run in [r for r in _runs.values() if (r.label, r.total) == (label, total)]:
        _runs.pop(run.number, run).close(run.seen)
    run = _Run(next(_numbers), label, total)
    _runs[run.number] = run
    return run.number, 1


def _step(number: int, count: int) -> int:
    run = _runs.get(number)
    return run.advance(count) if run else 2**62


def _stop(number: int, count: int) -> None:
    run = _runs.pop(number, None)
    if run:
        run.close(count)


# The operations

_NUMBER = ArrayType((), dtypes.int64)
_EFFECT = frozenset({"progress"})


def _host(function):
    """A function of Python ints that returns ints, as a function of arrays."""

    def call(*arrays):
        found = function(*[int(a) for a in arrays])
        found = () if found is None else found if isinstance(found, tuple) else (found,)
        return [np.asarray(x, np.int64) for x in found]

    return call


def _one_bar_for_batch(op):
    """A batch rule: one bar for all batch elements, which shows the one that is furthest."""

    def batch(size, args, batched, **params):
        whole = [reduce_max(a, axes=(0,)) if b else a for a, b in zip(args, batched, strict=True)]
        outs = op(*whole, **params)
        return [broadcast(x, size) for x in outs], [True] * len(outs)

    return batch


def _bar_op(name: str, count: int, function, lower=None) -> Op:
    """An operation on int64 scalars with ``count`` results: ``function(*numbers, **params)`` on the host."""

    def eager(*args, **params):
        run = _host(lambda *numbers: function(*numbers, **params))
        return [from_numpy(x) for x in run(*map(np.asarray, args))]

    def call(ctx, *values, **params):
        run = wrap_callback(
            _host(lambda *numbers: function(*numbers, **params)), [_NUMBER] * count, None
        )
        return ctx.host_call(run, list(values), [ctx.type(_NUMBER)] * count)

    op = Op(
        name,
        type=lambda *types, **params: [_NUMBER] * count,
        lower=lower or call,
        eager=eager,
        effects=lambda **params: _EFFECT,
        many=True,
    )
    op._batch = _one_bar_for_batch(op)
    return op


def _count_and_call(ctx, number, count, due):
    """One step more; Python is called when the step is due."""
    t = ctx.type(_NUMBER)
    count = ctx.one("stablehlo.add", t, [count, ctx.constant(np.int64(1))])
    is_due = ctx.compare(count, due, ctx.tensor((), bool), "GE")
    which = ctx.convert(is_due, ctx.tensor((), np.int32))
    ask = wrap_callback(_host(_step), [_NUMBER], None)
    answers = [lambda: [due], lambda: ctx.host_call(ask, [number, count], [t])]
    return [count, *ctx.case(which, [t], answers)]


def _step_eagerly(number: int, count: int, due: int) -> tuple[int, int]:
    count += 1
    return count, _step(number, count) if count >= due else due


progress_start = _bar_op("progress_start", 2, lambda label, total: _start(label, total))
progress_step = _bar_op("progress_step", 2, _step_eagerly, _count_and_call)
progress_stop = _bar_op("progress_stop", 0, _stop)


# What loops call


class Bar:
    """The progress bar of a loop.

    Args:
      progress: the loop's argument: True, or a label.
      total: the number of steps, or None.
    """

    def __init__(self, progress, total: int | None):
        if progress is not True and not isinstance(progress, str):
            raise errors.bad_argument("lax", "progress", progress, "a bool or a label")
        self.label, self.total = "" if progress is True else progress, total

    def start(self) -> tuple:
        number, due = progress_start(label=self.label, total=self.total)
        return number, np.int64(0), due

    def step(self, state: tuple) -> tuple:
        number, count, due = state
        return number, *progress_step(number, count, due)

    def stop(self, state: tuple) -> None:
        progress_stop(*state[:2])
