"""The one loop of iterative solvers, the history that they keep, and their states on disk.

Row 0 of a history is the start, row k what step k ended with. Loops write into a buffer with a row for
each step that there may be; users get the rows that were written, where their number is known.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from . import _ops as ops
from . import numpy as xnp
from ._control import jit, vmap, while_loop
from ._control.jit import make_jaxpr
from ._control.progress import Bar, open_bar
from ._control.saving import Checkpointer, CheckpointError, read_metadata, structure
from ._core import errors, is_evaluating, tree, typeof
from ._core.array import Array, from_host
from ._core.devices import device_put
from ._core.sharding import default_sharding

if TYPE_CHECKING:
    from ._core.typing import ArrayLike, PyTree

S = TypeVar("S")
Progress = bool | str | None
Carry = tuple[Any, Any, Any, Any]  # state, steps, history, whether to go on
Loop = Callable[..., Any]  # of (going, body, carry), as while_loop


class Solver(Protocol[S]):
    """What ``iterate`` drives."""

    @property
    def step(self) -> Callable[[S], S]: ...
    @property
    def done(self) -> Callable[[S], ArrayLike]: ...


class Steps(NamedTuple):
    """A solver made of two functions."""

    step: Callable[[Any], Any]
    done: Callable[[Any], ArrayLike]


class Run(NamedTuple):
    """How a loop ended: the last state, the number of steps, and the history, if there is one."""

    state: Any
    steps: Any
    rows: Any = None


def iterate(
    solver: Solver[S], state: S, max_steps: int | Array, *, row: Callable[[S], PyTree] | None = None,
    first: PyTree = None, rows: PyTree = None, steps: ArrayLike = 0, progress: Progress = False,
    loop: Loop | None = None, checkpoint: Checkpoints | None = None,
) -> Run:  # fmt: skip
    """Steps of a solver until it is done.

    Args:
      solver: has ``step(state) -> state`` and ``done(state) -> boolean array``; where it holds one
        boolean for each of several problems, the loop goes on until all are done. Keeping the
        state of finished ones is the step's business.
      state: tree of arrays to start from.
      max_steps: at most this many steps.
      row: ``row(state)``, what history keeps of a step, a tree; without it there is none.
      first: row 0, that of the start, where it is not ``row(state)``.
      rows: a history to go on with, instead.
      steps: the number of steps that there were before.
      progress: show the number of steps and their rate; a text is the label.
      loop: runs it, as ``while_loop(going, body, carry)`` does.
      checkpoint: where states are kept on disk.

    >>> class Halve:
    ...     def step(self, x): return x / 2
    ...     def done(self, x): return x < 1
    >>> iterate(Halve(), xnp.float32(12.0), 100)
    Run(state=Array(0.75, dtype=float32), steps=Array(4, dtype=int32), rows=None)
    """

    # Decided where the state is made: beside it that costs a GPU nothing, as a condition a kernel of its own.
    def after(state: S, steps: Array, rows: PyTree) -> Carry:
        return state, steps, rows, (steps < max_steps) & ~xnp.all(solver.done(state))

    def again(carry: Carry) -> Carry:  # there may be more steps than there were
        return after(*carry[:3])

    def body(carry: Carry) -> Carry:
        state, steps, rows, _ = carry
        state, steps = solver.step(state), steps + np.int32(1)
        return after(state, steps, None if row is None else with_row(rows, steps, row(state)))

    if row is not None and rows is None:
        rows = first_row(row(state) if first is None else first, int(max_steps))
    carry = after(state, xnp.asarray(steps, np.int32), rows)
    if checkpoint is not None:
        ended = checkpoint.go(_goes_on, body, carry, loop or while_loop, progress, again)
    elif loop is None:
        ended = while_loop(_goes_on, body, carry, progress=progress)
    else:
        ended = loop(_goes_on, body, carry)
    return Run(*ended[:3])


def _goes_on(carry: Carry) -> Array:
    return carry[3]


# States on disk

_SECONDS = 10.0  # between two of them


class Checkpoints:
    """The states of a long run in a folder, from where it goes on when it was interrupted.

    About every ten seconds, after a whole number of steps, a state is written there. A run with the same
    folder goes on from the last one, with the same programs and so to the same bits. States of another solver or
    another problem are refused, where ``problem`` tells one from the other.
    """

    def __init__(self, who: str, folder: str | os.PathLike[str], problem: str = ""):
        self.who, self.folder, self.problem = who, Path(folder), problem

    def inside(self, name: str) -> Checkpoints:
        """Those of a loop inside of a step."""
        return Checkpoints(self.who, self.folder / name, self.problem)

    def _save(self, disk: Checkpointer, step: int, carry: Any) -> None:
        disk.save(step, carry, metadata={"who": self.who, "problem": self.problem})

    def go(
        self, going: Callable[[Carry], Array], body: Callable[[Carry], Carry], carry: Carry, loop: Loop,
        progress: Progress = False, again: Callable[[Carry], Carry] = lambda carry: carry,
    ) -> Carry:  # fmt: skip
        """``loop(going, body, carry)`` in parts, behind each of which the carry is written.

        ``again(carry)`` is one that was written, as this run sees it: its limit may be another.
        """
        bar: Any = Bar(progress, None) if progress else None

        def step(both: tuple[Any, Carry]) -> tuple[Any, Carry]:
            return bar.step(both[0]) if bar else None, body(both[1])

        def some(both: tuple[Any, Carry], end: Array) -> tuple[Any, Carry]:
            def on(c: tuple[Any, Carry]) -> Array:
                return going(c[1]) & (c[1][1] < end)

            return loop(on, step, both)

        part, size, shown = jit(some), 1, bar.start() if bar else None
        with Checkpointer(self.folder, keep=2, asynchronous=False) as disk:
            carry = again(self._last(disk, carry))
            while bool(going(carry)):
                begun = time.monotonic()
                shown, carry = part((shown, carry), carry[1] + np.int32(size))
                self._save(disk, int(carry[1]), carry)
                spent = max(time.monotonic() - begun, 1e-9)
                size = max(1, min(2 * size, int(size * _SECONDS / spent)))
        if bar:
            bar.stop(shown)
        return carry

    def each(
        self,
        going: Callable[[S], Array],
        body: Callable[[S], S],
        carry: S,
        count: Callable[[S], Array],
    ) -> S:
        """The same where ``body`` is no program, but has loops of its own with checkpoints inside.

        ``count(carry)`` is the number of the next call. The last one of a run that ended is made again, from the
        ends of its loops: with a higher limit they go on.
        """
        with Checkpointer(self.folder, keep=2, asynchronous=False) as disk:
            start, carry = carry, self._last(disk, carry)
            if not bool(going(carry)):
                carry = self._last(disk, start, before=int(count(carry)))
            while bool(going(carry)):
                carry = body(carry)
                self._save(disk, int(count(carry)), carry)
        return carry

    def _last(self, disk: Checkpointer, carry: Any, before: int | None = None) -> Any:
        carry = tree.map(xnp.asarray, carry)
        last = max((s for s in disk.all_steps() if before is None or s < before), default=None)
        if last is None:
            return carry
        found: dict[str, Any] = read_metadata(disk.path(last)) or {}
        if found.get("who") != self.who:
            raise self._of_another(f"It is one of {found.get('who')}.")
        if self.problem and found.get("problem") not in ("", self.problem):
            raise self._of_another(
                "Its states are of another function, other data, or another version of xcore."
            )
        return _read(disk, last, carry)

    def _of_another(self, why: str) -> errors.ArgumentError:
        need = f"a folder of this problem of {self.who}, or an empty one"
        return errors.bad_argument(self.who, "checkpoint", str(self.folder), need, why)


def told(f: Callable[..., Any], *args: Any) -> str:
    """What a function computes of arrays of these shapes and dtypes, with all that it refers to, in a few letters.

    Equal in the next process; "" for what is an object of this one, such as a Python callback.
    """
    program: Any = make_jaxpr(f)(*args)
    if "!" in program.fingerprint:
        return ""
    digest = hashlib.blake2b(program.fingerprint.encode(), digest_size=16)
    for held in program.consts:
        digest.update(np.ascontiguousarray(held).tobytes())
    return digest.hexdigest()


def checkpoints(
    who: str, folder: str | os.PathLike[str] | None, f: Callable[..., Any] | None = None, *args: Any
) -> Checkpoints | None:
    """The argument ``checkpoint`` of a solver as what ``iterate`` takes: for calls with arrays at hand.

    ``f(*args)`` is what is solved; the values of the arguments have no part in that.
    """
    if folder is None:
        return None
    given: Any = folder
    if not isinstance(given, (str, os.PathLike)):
        raise errors.bad_argument(who, "checkpoint", given, "the name of a folder, or None")
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise errors.bad_argument(who, "checkpoint", folder, "a folder", "It is a file.")
    if not is_evaluating():
        want = "None inside of jit, grad and vmap: there are no values yet to write"
        raise errors.bad_argument(who, "checkpoint", folder, want)
    return Checkpoints(who, folder, "" if f is None else told(f, *args))


def _read(disk: Checkpointer, step: int, carry: Any) -> Any:
    """What was written in a step; a history that had fewer rows gets as many as that of ``carry`` has."""
    named, form = tree.flatten_with_path(carry)
    stored: dict[str, Any] = {}
    try:
        stored = structure(disk.path(step))
    except CheckpointError:  # which restore tells with what there is beside it
        pass

    def as_written(name: str, x: Array) -> Array:
        shape: tuple[int, ...] = stored[name].shape if name in stored else x.shape
        is_history = name.startswith("[2]") or "['history']" in name
        return xnp.zeros(shape, x.dtype) if is_history and shape[1:] == x.shape[1:] else x

    def longer(x: Array, y: Array) -> Array:
        return xnp.zeros_like(y).at[: len(x)].set(x) if x.shape[:1] < y.shape[:1] else x

    like = [as_written(tree.keystr(path), x) for path, x in named]
    found = tree.leaves(disk.restore(tree.unflatten(form, like), step))
    return tree.unflatten(form, [longer(x, y) for x, (_, y) in zip(found, named, strict=True)])


# History


def first_row(values: PyTree, max_steps: int) -> PyTree:
    """A history of at most this many steps that holds its row 0, a tree of arrays."""

    def blank(v: Array) -> Array:
        return xnp.zeros((max_steps + 1, *typeof(v).shape), typeof(v).dtype)

    return with_row(tree.map(blank, values), np.int32(0), values)


def with_row(rows: PyTree, step: ArrayLike, values: PyTree) -> PyTree:
    """A history with one more row: the others are not touched, which a selection would do."""

    def put(row: Array, v: Array) -> Array:
        start = [step, *[np.int32(0)] * typeof(v).ndim]
        return ops.dynamic_update_slice(row, v.astype(row.dtype)[None], *map(xnp.asarray, start))

    return tree.map(put, rows, values)


def history_of(rows: PyTree, steps: Array) -> PyTree:
    """What users get: the rows 0 to ``steps``; None stays None.

    Under ``jit`` and ``vmap`` the number of steps is not known: rows past the end repeat the last, and
    ``rows[: steps + 1]`` cuts them when the function has run.
    """
    if steps.ndim:  # of columns that end on their own
        rows = tree.map(lambda r: vmap(_filled, in_axes=-1, out_axes=-1)(r, steps), rows)
    if type(steps) is Array:
        # by way of the host: a slice on the device would be a program for each number of steps
        count = int(np.asarray(steps).max(initial=0)) + 1
        return tree.map(lambda r: _cut(r, count), rows)
    return rows if steps.ndim else tree.map(lambda r: _filled(r, steps), rows)


def _filled(rows: Array, steps: Array) -> Array:
    return rows[xnp.minimum(xnp.arange(typeof(rows).shape[0], dtype=np.int32), steps)]


def _cut(rows: Array, count: int) -> Array:
    if type(rows) is not Array:
        return rows[:count]
    host = np.asarray(rows)[:count]
    if rows.sharding != default_sharding():
        return device_put(host, rows.sharding)
    return from_host(host, copy=False)  # on a CPU the same memory, which nobody writes to any more


@contextlib.contextmanager
def counted(progress: Progress, total: int) -> Generator[Callable[[], object]]:
    """A function that counts one step of a loop in Python, in a bar where one is wanted."""
    shown = open_bar(progress if isinstance(progress, str) else "", total) if progress else None
    try:
        yield lambda: shown and shown.update(1)
    finally:
        if shown:
            shown.close()
