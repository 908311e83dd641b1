"""Runs that derivatives follow: their steps are no longer than small moves of the state allow.

The error of a step of a state at rest is 0 however long it is, and the error of what moves it is not. So where
derivatives are taken the run is one whose steps are judged by both.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import custom_jvp, jvp, linearize, stop_gradient
from .._control.closures import hoisted_where
from .._core import is_evaluating, tree, typeof
from ._tableaux import Tableau
from ._time import moved, stages


def error_of_moves(
    tableau: Tableau, f: Any, u: Any, t: Any, h: Any, norm: Any, rtol: Any, atol: Any
) -> Any:
    """The scaled error of a step of a perturbation of u, relative to what a derivative may miss.

    Args:
      f: function of (u, t).
      norm: the scaled size of an error of a step from u, ``norm(u, u, error, rtol, atol)``.
      rtol, atol: the scale, in which the perturbation is 1.
    """

    def move(x):
        number = xnp.arange(typeof(x).size, dtype=np.int32).reshape(typeof(x).shape)
        sign = xnp.where(number * 5 % 7 % 2 == 0, 1, -1)
        return ((atol + rtol * xnp.abs(x)) * sign).astype(typeof(x).dtype)

    def error(u):
        zero = tree.map(xnp.zeros_like, u)
        return moved(zero, stages(tableau.a, f, u, t, h), tableau.error, h)

    u, t, h = stop_gradient((u, t, h))
    off = stop_gradient(jvp(error, (u,), (tree.map(move, u),))[1])
    size = norm(u, u, off, rtol, atol) / xnp.sqrt(xnp.maximum(rtol, 1e-15))
    return xnp.where(xnp.isfinite(size), size, 0).astype(typeof(h).dtype)


def careful_where_differentiated(run: Callable[..., Any], *args: Any) -> Any:
    """``run(False, *args)``, whose derivatives are those of ``run(True, *args)``."""
    if is_evaluating():
        return run(False, *args)
    # what both refer to, of any dtype, has to be theirs where the rule runs
    fast, of_fast = hoisted_where(lambda _: True, functools.partial(run, False), *args)
    careful, of_careful = hoisted_where(lambda _: True, functools.partial(run, True), *args)
    call = custom_jvp(lambda args, of_fast, of_careful: fast(*args, *of_fast))

    @call.defjvp
    def rule(primals, tangents):
        held = [(args, more) for args, _, more in (primals, tangents)]
        found, push = linearize(lambda args, more: careful(*args, *more), *held[0])
        return found, push(*held[1])

    return call(args, of_fast, of_careful)
