"""Transposition of linear programs: reverse mode is linearize, then this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._core import ArrayType, Linear, errors, typeof
from .._core.program import Eqn, Program, RecordTracer, Var, literal_value
from .._core.source import borrowed
from .._core.trace import current, using
from .._ops import add, zeros
from .._ops.elementwise import convert
from .jvp import Linearized, LinearTrace

if TYPE_CHECKING:
    from .._core.program import Flat
    from .._core.typing import Operand

    Cotangents = Sequence[Operand | None]  # None is a zero that nobody has built


def accumulate(cotangents: dict[Var, Operand], var: Var, ct: Operand | None) -> None:
    if ct is None:
        return
    have = cotangents.get(var)
    if have is None:
        cotangents[var] = ct
        return
    if typeof(have).dtype != typeof(ct).dtype:
        ct = convert(ct, dtype=typeof(have).dtype)
    cotangents[var] = add(have, ct)


def backward_pass(
    p: Program, captured: Sequence[Operand], cotangents: Cotangents
) -> list[Operand | None]:
    """Cotangents of the linear inputs of a program from those of its results (None is zero).

    The first inputs are the captured, constant ones. Equations are walked backwards; those that
    depend on constants alone are evaluated first.
    """
    n = len(captured)
    known = dict(zip(p.inputs[:n], captured, strict=True))
    linear = set(p.inputs[n:])
    equations: list[Eqn] = []
    for e in p.eqns:
        if any(type(a) is Var and a in linear for a in e.inputs):
            linear.update(e.outputs)
            equations.append(e)
        else:
            ins = [known[a] if type(a) is Var else literal_value(a) for a in e.inputs]
            outs = current().process(e.op, ins, e.params)
            known.update(zip(e.outputs, outs, strict=True))
    collected: dict[Var, Operand] = {}
    for a, ct in zip(p.outputs, cotangents, strict=True):
        if type(a) is Var and a in linear:
            accumulate(collected, a, ct)
    outside = borrowed.where
    try:
        for e in reversed(equations):
            borrowed.where = e.where or outside
            _transpose_equation(e, known, linear, collected)
    finally:
        borrowed.where = outside
    return [collected.get(v) for v in p.inputs[n:]]


def _transpose_equation(
    e: Eqn, known: dict[Var, Operand], linear: set[Var], collected: dict[Var, Operand]
) -> None:
    """Hand the cotangents of an equation's results on to its linear inputs."""
    cts = [collected.pop(v, None) for v in e.outputs]
    if all(ct is None for ct in cts):
        return
    args = [
        (Linear(a.type) if a in linear else known[a]) if type(a) is Var else literal_value(a)
        for a in e.inputs
    ]
    rule = e.op.rule("transpose")
    try:
        found = rule(cts, *args, **e.params)
    except errors.NotLinearError:
        raise errors.not_linear(e.op.name) from None
    for a, ct in zip(e.inputs, found, strict=True):
        if type(a) is Var and a in linear:
            accumulate(collected, a, ct)


def pull_back(linearized: Linearized, cotangents: Cotangents) -> list[Operand | None]:
    """Cotangents of all inputs from those of all results; None where there is none."""
    cts = [ct for ct, used in zip(cotangents, linearized.nonzero_out, strict=True) if used]
    found = iter(backward_pass(linearized.program, linearized.captured, cts))
    return [next(found) if used else None for used in linearized.nonzero]


def recorded(
    f: Flat, residuals: Sequence[Operand], linear_types: Sequence[ArrayType]
) -> tuple[Program, list[Operand], list[bool], Sequence[Operand]]:
    """(program, captured values, which results move, results) of a linear function.

    It is run under a LinearTrace: what depends on residuals is computed, the rest is recorded.
    """
    trace = LinearTrace(current())
    args = [trace.argument(t) for t in linear_types]
    with using(trace):
        outs = f(*residuals, *args)
    nonzero_out = [type(x) is RecordTracer and x.owner is trace for x in outs]
    program, captured = trace.finish([x for x, m in zip(outs, nonzero_out, strict=True) if m])
    return program, captured, nonzero_out, outs


def transpose_under_trace(
    f: Flat, residuals: Sequence[Operand], linear_types: Sequence[ArrayType], cotangents: Cotangents
) -> list[Operand | None]:
    """Transpose ``f(*residuals, *linear)``, which may still contain work on residuals alone."""
    program, captured, nonzero_out, _ = recorded(f, residuals, linear_types)
    cts = [ct for ct, m in zip(cotangents, nonzero_out, strict=True) if m]
    return backward_pass(program, captured, cts)


def instantiate(ct: Operand | None, type_: ArrayType) -> Operand:
    """A cotangent that exists: zeros of the type for None, else in the type's dtype."""
    if ct is None:
        return zeros(type_.strong())
    return ct if typeof(ct).dtype == type_.dtype else convert(ct, dtype=type_.dtype)
