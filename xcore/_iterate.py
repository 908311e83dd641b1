"""The one loop of iterative solvers, and the history that they keep.

Row 0 of a history is the start, row k what step k ended with. Loops write into a buffer with a row for
each step that there may be; users get the rows that were written, where their number is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, overload

import numpy as np

from . import _ops as ops
from . import numpy as xnp
from ._control.while_loop import while_loop
from ._core import tree
from ._core.array import Array
from ._core.devices import device_put
from ._core.types import typeof
from ._transforms.map import vmap

if TYPE_CHECKING:
    from ._core.typing import ArrayLike, PyTree

S = TypeVar("S")
Progress = bool | str | None


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


@overload
def iterate(
    solver: Solver[S], state: S, max_steps: int, *, row: None = None, first: None = None,
    progress: Progress = False,
) -> tuple[S, Array]: ...  # fmt: skip
@overload
def iterate(
    solver: Solver[S], state: S, max_steps: int, *, row: Callable[[S], PyTree],
    first: PyTree = None, progress: Progress = False,
) -> tuple[S, Array, PyTree]: ...  # fmt: skip
@overload
def iterate(
    solver: Solver[S], state: S, max_steps: int, *, row: Callable[[S], PyTree] | None,
    first: PyTree = None, progress: Progress = False,
) -> tuple[Any, ...]: ...  # fmt: skip
def iterate(
    solver: Solver[S], state: S, max_steps: int, *, row: Callable[[S], PyTree] | None = None,
    first: PyTree = None, progress: Progress = False,
) -> tuple[Any, ...]:  # fmt: skip
    """Steps of a solver until it is done. Returns its last state and the number of steps.

    Args:
      solver: has ``step(state) -> state`` and ``done(state) -> boolean array``; where it holds one
        boolean for each of several problems, the loop goes on until all are done. Keeping the
        state of finished ones is the step's business.
      state: tree of arrays to start from.
      max_steps: at most this many steps.
      row: ``row(state)``, what history keeps of a step, a tree; the history is returned, too.
      first: row 0, that of the start, where it is not ``row(state)``.
      progress: show the number of steps and their rate; a text is the label.

    >>> class Halve:
    ...     def step(self, x): return x / 2
    ...     def done(self, x): return x < 1
    >>> iterate(Halve(), xnp.float32(12.0), 100)
    (Array(0.75, dtype=float32), Array(4, dtype=int32))
    """

    kept = [] if row is None else [row]

    def going(carry: tuple[Any, ...]) -> Array:
        state, steps, *_ = carry
        return (steps < max_steps) & ~xnp.all(solver.done(state))

    def body(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        state, steps, *rows = carry
        state, steps = solver.step(state), steps + np.int32(1)
        return (
            state,
            steps,
            *[with_row(r, steps, f(state)) for r, f in zip(rows, kept, strict=True)],
        )

    begun = [first_row(f(state) if first is None else first, max_steps) for f in kept]
    return while_loop(going, body, (state, xnp.zeros((), np.int32), *begun), progress=progress)


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
        return tree.map(lambda r: _cut(r, int(np.max(steps, initial=0)) + 1), rows)
    return rows if steps.ndim else tree.map(lambda r: _filled(r, steps), rows)


def _filled(rows: Array, steps: Array) -> Array:
    return rows[xnp.minimum(xnp.arange(typeof(rows).shape[0], dtype=np.int32), steps)]


def _cut(rows: Array, count: int) -> Array:
    if type(rows) is not Array:
        return rows[:count]
    return device_put(np.asarray(rows)[:count], rows.sharding)
