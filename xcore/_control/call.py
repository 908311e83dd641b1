"""``call``: a program as one operation. It is what a jitted function binds.

``one_kernel`` is the same for a program that a CPU had better run as one kernel, or as a few.
"""

from __future__ import annotations

import functools

from .._core import Linear, Op, Program, bind, trace_closed, typeof
from .._cpu.parts import IN_PARTS
from .._transforms.programs import (
    batch_program,
    fill,
    jvp_program,
    linearize_program,
    marked,
    split_program,
    transpose_program,
)  # fmt: skip
from .._transforms.transpose import instantiate

_INLINE = 4  # programs of so few equations are written where they are called


def _lower(ctx, *values, program):
    if len(program.eqns) <= _INLINE or program.acts:
        return ctx.program(program, values)
    return ctx.call_program(program, values)


def _compile_alike(program: Program, *derived: Program) -> None:
    for q in derived:
        q.options = program.options


def _jvp(primals, tangents, *, program):
    nonzero = [t is not None for t in tangents]
    q, nonzero_out = jvp_program(program, nonzero)
    _compile_alike(program, q)
    outs = call(*primals, *marked(tangents, nonzero), program=q)
    n = len(program.outputs)
    return outs[:n], fill(outs[n:], nonzero_out)


def _linearize(primals, nonzero, *, program, parts_of=linearize_program):
    done = parts_of(program, nonzero)
    _compile_alike(program, done.primal, done.linear)
    outs = call(*primals, program=done.primal)
    residuals = done.residuals(outs, primals)

    def tangent_fn(*tangents):
        return fill(
            call(*residuals, *marked(tangents, nonzero), program=done.linear), done.nonzero_out
        )

    return outs[: len(program.outputs)], tangent_fn


def linear_last(program: Program, linear) -> Program:
    """The program with the inputs that ``linear`` marks moved behind the others."""
    linear = tuple(linear)

    def make():
        inputs = [v for v, m in zip(program.inputs, linear, strict=True) if not m]
        return Program(
            inputs + marked(program.inputs, linear), program.eqns, program.outputs, program.name
        )

    return program.memo(("linear last", linear), make)


def _transpose(cotangents, *args, program):
    linear = [isinstance(a, Linear) for a in args]
    residuals = [a for a, m in zip(args, linear, strict=True) if not m]
    q = transpose_program(linear_last(program, linear), len(residuals))
    _compile_alike(program, q)
    cts = [instantiate(ct, t) for ct, t in zip(cotangents, program.out_types, strict=True)]
    return fill(call(*residuals, *cts, program=q), linear)


def _batch(size, args, batched, *, program, axis_name=None):
    q, is_batched = batch_program(program, size, batched, axis_name=axis_name)
    _compile_alike(program, q)
    return call(*args, program=q), is_batched


def _threaded(threader, state, args, *, program):
    return threader.split(call(*state, *args, program=threader.program(program)))


_RULES = {
    "type": lambda *types, program: program.out_types,
    "jvp": _jvp,
    "transpose": _transpose,
    "batch": _batch,
    "linearize": _linearize,
    "split": functools.partial(_linearize, parts_of=split_program),
    "many": True,
    "nested": True,
    "effects": lambda program: program.effects,
    "threaded": _threaded,
}

call = Op("call", lower=_lower, **_RULES)


def _lower_kernel(ctx, *values, program, part):
    return ctx.call_program(program, values, one_kernel=True)


def _unsplit_rule(rule):
    """A rule of ``call`` for the program of all rows."""
    return lambda *args, part, **params: rule(*args, **params)


# Derived programs, derivatives and batch elements, are ordinary calls.
_KERNEL_RULES = {k: _unsplit_rule(f) if callable(f) else f for k, f in _RULES.items()}
one_kernel = Op("one_kernel", lower=_lower_kernel, alternatives=[IN_PARTS], **_KERNEL_RULES)


def _program_of(f, types):
    """The program of a function that gives an array or a tuple of arrays, and which of both."""
    several = []

    def listed(*xs):
        out = f(*xs)
        several.append(isinstance(out, tuple))
        return list(out) if several[-1] else [out]

    return trace_closed(listed, types, f.__name__), several[-1]


def in_one_kernel(f, *args, part: int | None = None):
    """``f(*args)``, an array or a tuple of arrays, as one kernel on a CPU.

    For loops whose steps are short: started one by one, their operations would wait longer than
    they work. It must hold a loop of two or more steps, as the compiler makes such kernels of loops
    only, and no barriers, sorting, scattering, Fourier transforms, and calls of libraries; f must
    depend on its arguments alone.

    Args:
      part: of how many rows to make a kernel. By default of all, and the kernel runs on one core;
        else f works on each row of all arguments (axis 0) alike, and the cores share the parts.
    """
    types = [typeof(x).strong() for x in args]
    program, several = _program_of(f, types)
    one = lambda *rows: in_one_kernel(f, *rows)  # noqa: E731
    of_part = part and _program_of(one, [t.with_shape((part, *t.shape[1:])) for t in types])[0]
    outs = bind(one_kernel, *args, program=program, part=of_part)
    return tuple(outs) if several else outs[0]


def call_program(program: Program, args) -> list:
    return bind(call, *args, program=program)
