"""How operators on grids were made, so that they can be made anew on other grids.

An operator has values of the functions that it was given, and these are of one grid. So it remembers the call that
made it. Arrays are values of one grid, too: of these it remembers only that there were some.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .._core import errors, tree
from ._grid import Grid

_KEY = "_made_by"


class Remembering:
    """What remembers the call that made it; not through ``tree.map``, ``jit`` or pickles."""

    same_on_all_grids = True  # whether the same arguments mean the same equation

    def __new__(cls, *args, **kwargs):
        self = object.__new__(cls)
        _remember(self, cls, args, kwargs)
        return self

    def __getstate__(self):
        return {k: v for k, v in vars(self).items() if k != _KEY}  # functions are often lambdas


def remembered(method: Callable) -> Callable:
    """A method of arithmetic, whose result remembers its operands, functions among them."""

    @functools.wraps(method)
    def call(self, *other):
        made = method(self, *other)
        if isinstance(made, Remembering):
            _remember(made, method, (self, *other), {})
        return made

    return call


def maker(who: str, op, advice: str) -> Callable[[Grid], Any]:
    """A function of a grid that makes the operator there; raises where it is not known how."""
    if why := in_the_way(op):
        want = "made of numbers and functions of the coordinates, which have values on finer grids"
        raise errors.bad_argument(who, "op", errors.Words(why), want, advice)
    return functools.partial(_on, op)


def in_the_way(op: Remembering) -> str:
    """Why an operator cannot be made on another grid, in words; empty where it can."""
    name = f"a pde.{type(op).__name__}"
    if not op.same_on_all_grids:
        return name
    if (how := vars(op).get(_KEY)) is None:
        return f"{name} that was copied, or came through a transformation"
    found = tree.leaves(how[1:], is_leaf=_is_whole)
    if lost := [x for x in found if isinstance(x, errors.Words)]:
        return f"{name} of {lost[0]}"
    return next(filter(None, (in_the_way(x) for x in found if isinstance(x, Remembering))), "")


def _remember(self, call: Callable, args: tuple, kwargs: dict) -> None:
    how = (call, *tree.map(_in_short, (args, kwargs), is_leaf=_is_whole))
    object.__setattr__(self, _KEY, how)


def _in_short(x):
    """Itself; of an array its shape, as the array need not be kept."""
    shape = () if _is_whole(x) or callable(x) else getattr(x, "shape", ())
    return errors.Words(f"an array {tuple(shape)}") if len(shape) else x


def _is_whole(x) -> bool:
    return isinstance(x, (Grid, Remembering))


def _on(x, grid: Grid):
    """What was made on another grid, on this one."""
    if not isinstance(x, Remembering):
        return grid if isinstance(x, Grid) else x
    call, args, kwargs = vars(x)[_KEY]
    args, kwargs = tree.map(lambda y: _on(y, grid), (args, kwargs), is_leaf=_is_whole)
    return call(*args, **kwargs)
