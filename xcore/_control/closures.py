"""Closures as functions of what they captured, and values that are constants for derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .. import _ops as ops
from .._core import Tracer, dtypes, tree, typeof
from .._core.eval import to_value
from .._core.program import eval_program, trace_program
from .._core.source import boundary
from .._core.typing import PyTree
from .custom import Result

T = TypeVar("T")


def closure_convert(
    fun: Callable[..., Any], *example_args: PyTree
) -> tuple[Callable[..., Any], list[Any]]:
    """A function without the traced arrays that ``fun`` closes over, and the list of these arrays.

    ``converted, hoisted = closure_convert(fun, *args)``; ``converted(*args, *hoisted)`` equals
    ``fun(*args)``. Custom rules need values as arguments; this makes arguments of closures.

    Args:
      fun: function.
      example_args: arguments like those that it will be called with.

    >>> import xcore as xc
    >>> def slope_of(y):
    ...     f, hoisted = xc.closure_convert(lambda x: x * y, 1.0)
    ...     return f(2.0, *hoisted)
    >>> float(xc.grad(slope_of)(3.0))
    2.0
    """
    return hoisted_where(lambda t: dtypes.is_inexact(t.dtype), fun, *example_args)


def hoisted_where(wanted, fun, *example_args) -> tuple[Callable[..., Any], list[Any]]:
    """``closure_convert`` of the traced arrays whose types are wanted."""
    leaves, structure = tree.flatten(example_args)
    result = Result("closure_convert", getattr(fun, "__name__", "the function"))

    def flat(*xs):
        return result.values(fun(*tree.unflatten(structure, xs)))

    program, captured = trace_program(flat, [typeof(to_value(x)) for x in leaves])
    hoisted = [isinstance(c, Tracer) and wanted(typeof(c)) for c in captured]
    kept = [None if h else c for c, h in zip(captured, hoisted, strict=True)]

    @boundary
    def converted(*args):
        n = len(args) - sum(hoisted)
        given = iter(args[n:])
        consts = [next(given) if h else c for c, h in zip(kept, hoisted, strict=True)]
        if tree.structure(args[:n]) != structure:
            tree.check_structure(structure, args[:n], "closure_convert")
        values = [to_value(x) for x in [*consts, *tree.leaves(args[:n])]]
        return tree.unflatten(result.structure, eval_program(program, values))

    return converted, [c for c, h in zip(captured, hoisted, strict=True) if h]


def stop_gradient(x: T) -> T:
    """The value itself, for derivatives a constant. Works on pytrees.

    Args:
      x: array or pytree of arrays.

    >>> import xcore as xc
    >>> float(xc.grad(lambda x: x * xc.lax.stop_gradient(x))(3.0))
    3.0
    """
    return tree.map(_stop, x)


def _stop(x):
    traced = isinstance(x, Tracer) and dtypes.is_inexact(x.type.dtype)
    return ops.stop_gradient(x) if traced else x
