"""custom_gradient: a custom_vjp whose two rules are one function, which returns its own pullback."""

# Checkers do not see: None is excluded by another value.
# pyright: reportOptionalCall=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _ops as ops
from .._core import dtypes, tree, typeof
from .._core.eval import to_value
from .._core.program import eval_program, trace_program
from .._core.source import wraps
from .._core.typing import P, R_co
from .._ops.elementwise import to_user
from .._transforms.api import results_of
from .custom import custom_vjp, written_as


def custom_gradient(fun: Callable[P, tuple[R_co, Callable[..., Any]]]) -> Callable[P, R_co]:
    """A function from one that returns ``(result, vjp)``, where vjp maps a cotangent to cotangents.

    A convenient form of ``custom_vjp``: what vjp closes over is kept for the backward pass.

    Args:
      fun: function that returns its result and the function vjp, which maps a cotangent of the result to a
        cotangent for each argument, in a tuple.

    >>> import xcore as xc
    >>> @xc.custom_gradient
    ... def f(x):
    ...     return x**2, lambda g: (g * x,)
    >>> float(f(3.0)), float(xc.grad(f)(3.0))
    (9.0, 3.0)
    """

    @wraps(fun)
    def result_only(*args, **kwargs):
        return fun(*args, **kwargs)[0]

    wrapped = custom_vjp(result_only)

    def fwd(*args):
        result, vjp = fun(*args)
        outs, structure = results_of(f"custom_gradient of {wrapped.signature.name}", result)
        found = []

        def flat(*cotangents):
            cts, found_structure = tree.flatten(vjp(tree.unflatten(structure, cotangents)))
            found.append(found_structure)
            return [to_value(ct) for ct in cts]

        program, captured = trace_program(flat, [typeof(x).strong() for x in outs], "vjp")
        return result, (_Pullback(program, found[0]), captured)

    def bwd(residuals, cotangent):
        pullback, captured = residuals
        return pullback(captured, tree.leaves(cotangent))

    written_as(fwd, fun)
    written_as(bwd, fun)
    wrapped.defvjp(fwd, bwd)
    return wrapped


class _Pullback:
    """What ``custom_gradient`` keeps beside arrays: the traced vjp, its result's structure."""

    def __init__(self, program, structure):
        self.program, self.structure = program, structure

    def __call__(self, captured, cotangents):
        types_ = self.program.in_types[len(captured) :]
        made = [
            to_value(ct) if dtypes.is_inexact(t.dtype) else ops.zeros(t)
            for ct, t in zip(cotangents, types_, strict=True)
        ]
        found = map(to_user, eval_program(self.program, [*captured, *made]))  # of literals too
        cts = tree.unflatten(self.structure, list(found))
        return cts if type(cts) in (tuple, list) else (cts,)
