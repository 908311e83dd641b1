"""``cond``: one of several programs, chosen by an index, or by the platform that a program is lowered for.

By platform: ``platforms`` names for each branch the platform it is for, None for all others. Which one
it is nobody knows before lowering, so transforms treat all of them. A program that is spread over
several devices takes the branch for these where there is one (``unless_spread``).
"""

from __future__ import annotations

import functools

import numpy as np

from .. import _ops as ops
from .._backend.client import default_device, named, platform_of
from .._core import Linear, Op, bind, boundary, config, dtypes, errors, findings, tree
from .._core.eval import is_array_like, to_value
from .._core.key_uses import Tracing, count_once, undo_uses
from .._core.program import Eqn, Program, Var, eval_program, trace_closed
from .._core.types import ArrayType, typeof
from .._ops import broadcast, broadcast_in_dim, full_like_type, stop_gradient, zeros
from .._ops.elementwise import strengthened
from .._transforms.jvp import jvp_flat
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
from .call import linear_last
from .carry import (
    Body,
    differing,
    known,
    leaf_values,
    merge_captured,
    path_names,
    weakened_where,
)  # fmt: skip
from .checks import check_branch
from .custom_ops import JVPRule, custom_jvp_function
from .masked import masked


def _type(index, *types, branches, platforms=()):
    return branches[0].out_types


_SPREAD = "several devices"  # in the place of a platform: the branch of programs that are spread


def _branch_for(platform: str, platforms, partitions: int = 1) -> int:
    """The index of the branch for a platform."""
    if partitions > 1 and _SPREAD in platforms:
        return platforms.index(_SPREAD)
    if platform in platforms:
        return platforms.index(platform)
    if None in platforms:
        return platforms.index(None)
    raise errors.bad_argument(
        "lax.platform_dependent", platform, None, "a function for this platform, or a default"
    )


def _branch_here(platforms) -> int:
    return _branch_for(platform_of(default_device()), platforms)


def _lower(ctx, index, *values, branches, platforms=()):
    if platforms:
        return ctx.program(branches[_branch_for(ctx.platform, platforms, ctx.partitions)], values)
    return ctx.case(index, ctx.outs(), [lambda p=p: ctx.program(p, values) for p in branches])


def _steps(run, index, *args, branches, platforms=()):
    if platforms:
        return run(branches[_branch_here(platforms)], args)
    return run(branches[min(max(int(index), 0), len(branches) - 1)], args)


def _with_tangents(p: Program, nonzero_out, wanted) -> Program:
    """A jvp program that returns a tangent for every result in ``wanted``, zeros where it has none."""
    if list(nonzero_out) == list(wanted):
        return p
    n = len(p.outputs) - sum(nonzero_out)

    def f(*args):
        outs = eval_program(p, args)
        tangents = fill(outs[n:], nonzero_out)
        made = [
            zeros(typeof(x).strong()) if t is None else t
            for x, t, w in zip(outs[:n], tangents, wanted, strict=True) if w
        ]  # fmt: skip
        return [*outs[:n], *made]

    return trace_closed(f, p.in_types, p.name)


def _jvp(primals, tangents, *, branches, **by):
    index, *args = primals
    nonzero = [t is not None for t in tangents[1:]]
    pairs = [jvp_program(p, nonzero) for p in branches]
    wanted = [any(ms) for ms in zip(*[m for _, m in pairs], strict=True)]
    made = tuple(_with_tangents(p, m, wanted) for p, m in pairs)
    outs = cond_op(index, *args, *marked(tangents[1:], nonzero), branches=made, **by)
    n = len(branches[0].outputs)
    return outs[:n], fill(outs[n:], wanted)


def _shared_slots(residual_types) -> tuple[list[ArrayType], list[list[int]]]:
    """Places that hold the residuals of whichever branch ran: their types, and each branch's places."""
    slots: list[ArrayType] = []
    places = []
    for types in residual_types:
        free, mine = list(range(len(slots))), []
        for t in types:
            found = next((i for i in free if slots[i] == t.strong()), None)
            if found is None:
                slots.append(t.strong())
                found = len(slots) - 1
            else:
                free.remove(found)
            mine.append(found)
        places.append(mine)
    return slots, places


def _linearize(primals, nonzero, *, branches, parts_of=linearize_program, **by):
    index, *args = primals
    done = [parts_of(p, nonzero[1:]) for p in branches]
    wanted = [any(ms) for ms in zip(*[d.nonzero_out for d in done], strict=True)]
    n = len(branches[0].outputs)
    computed = [d.primal.out_types[n:] for d in done]
    slots, places = _shared_slots(computed)

    def forward(d, mine):
        def f(*xs):
            outs = eval_program(d.primal, xs)
            held = dict(zip(mine, outs[n:], strict=True))
            return [*outs[:n], *[held[i] if i in held else zeros(t) for i, t in enumerate(slots)]]

        return trace_closed(f, d.primal.in_types, d.primal.name)

    outs = cond_op(index, *args, branches=tuple(map(forward, done, places)), **by)
    kept = sorted({i for d in done for i in d.kept})
    residuals = [*outs[n:], *[args[i] for i in kept]]
    tangent_types = [typeof(a).strong() for a in marked(args, nonzero[1:])]

    def linear(d, mine, p):
        needed = [*mine, *[len(slots) + kept.index(i) for i in d.kept]]

        def f(*xs):
            found = eval_program(d.linear, [*[xs[i] for i in needed], *xs[len(residuals) :]])
            made = fill(found, d.nonzero_out)
            return [
                zeros(t.strong()) if x is None else x
                for x, t, w in zip(made, p.out_types, wanted, strict=True) if w
            ]  # fmt: skip

        return trace_closed(f, [*map(typeof, residuals), *tangent_types], p.name)

    def tangent_fn(*tangents):
        programs = tuple(map(linear, done, places, branches))
        known = marked(tangents[1:], nonzero[1:])
        return fill(cond_op(index, *residuals, *known, branches=programs, **by), wanted)

    return outs[:n], tangent_fn


def _transpose(cotangents, index, *args, branches, **by):
    is_linear = [isinstance(a, Linear) for a in args]
    residuals = [a for a, m in zip(args, is_linear, strict=True) if not m]
    back = tuple(transpose_program(linear_last(p, is_linear), len(residuals)) for p in branches)
    cts = [instantiate(ct, t) for ct, t in zip(cotangents, branches[0].out_types, strict=True)]
    return [None, *fill(cond_op(index, *residuals, *cts, branches=back, **by), is_linear)]


def _batch(size, args, batched, *, branches, axis_name=None, **by):
    index, *rest = args
    if not batched[0]:
        flags = [batch_program(p, size, batched[1:], axis_name=axis_name)[1] for p in branches]
        wanted = tuple(any(f) for f in zip(*flags, strict=True))
        made = tuple(batch_program(p, size, batched[1:], wanted, axis_name)[0] for p in branches)
        return cond_op(index, *rest, branches=made, **by), list(wanted)
    run = functools.partial(_run_all, size, batched[1:], branches, axis_name)
    if any(p.effects for p in branches):
        outs = run(args, [dtypes.is_inexact(typeof(x).dtype) for x in rest])
    else:
        rule = JVPRule("cond", lambda *xs: run(xs), functools.partial(_jvp_of_chosen, run))
        outs = bind(custom_jvp_function, *args, rule=rule)
    passed = _passed_on(branches)  # what all branches hand on as it is keeps what it was
    flags = [True if i is None else batched[1 + i] for i in passed]
    return [x if i is None else rest[i] for x, i in zip(outs, passed)], flags


def _run_all(size, batched, branches, axis_name, args, guarded=()):
    """Results of a batch whose elements choose differently: all branches run, each element's is taken.

    ``guarded`` operands have no tangent in branches that are not chosen, whose slope may be infinite.
    """
    index, *rest = args
    every, outs = [True] * len(branches[0].outputs), None
    index = ops.clamp(zeros(typeof(index)), index, full_like_type(typeof(index), len(branches) - 1))
    flags = [b or g for b, g in zip(batched, guarded or [False] * len(rest), strict=True)]
    rest = [x if b == f else broadcast(x, size) for x, b, f in zip(rest, batched, flags)]
    for k, p in enumerate(branches):
        chosen = ops.eq(index, full_like_type(typeof(index), k))
        given = [
            _select_elements(chosen, x, stop_gradient(x)) if g else x
            for x, g in zip(rest, guarded or [False] * len(rest), strict=True)
        ]
        q, _ = batch_program(masked(p), size, [True, *flags], every, axis_name)
        mine = eval_program(q, [chosen, *given])
        outs = [_select_elements(chosen, a, b) for a, b in zip(mine, outs)] if k else mine
    return outs


def _jvp_of_chosen(run, primals, tangents):
    guarded = [t is not None for t in tangents[1:]]
    return jvp_flat(lambda *xs: run(xs, guarded), primals, tangents)


def _passed_on(branches) -> list[int | None]:
    """For each result the index of the argument that all branches return for it, or None."""
    rows = [[_source(p, a) for a in p.outputs] for p in branches]
    return [i if all(i == k for k in others) else None for i, *others in zip(*rows)]


def _source(p: Program, a) -> int | None:
    """The index of the input that a result is, seen through marks of weak types."""
    made = p.memo("marks", lambda: {e.outputs[0]: e.inputs[0] for e in p.eqns if _marks(e)})
    start = a
    while type(a) is Var and a in made:
        a = made[a]
    same = type(a) is Var and a in p.inputs and a.type == start.type
    return p.inputs.index(a) if same else None


def _marks(e: Eqn) -> bool:
    return e.op is ops.convert and e.inputs[0].type.dtype == e.outputs[0].type.dtype


def _threaded(threader, state, args, *, branches, **by):
    index, *rest = args
    made = tuple(map(threader.program, branches))
    return threader.split(cond_op(index, *state, *rest, branches=made, **by))


def _select_elements(chosen, a, b):
    return ops.select(broadcast_in_dim(chosen, shape=typeof(a).shape, dims=(0,)), a, b)


cond_op = Op(
    "cond",
    type=_type,
    lower=_lower,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    linearize=_linearize,
    split=functools.partial(_linearize, parts_of=split_program),
    many=True,
    nested=True,
    effects=lambda branches, platforms=(): frozenset().union(*[p.effects for p in branches]),
    steps=_steps,
    threaded=_threaded,
)

# Public functions


def _choose(who: str, index, functions, operands, **by):
    values, structure = leaf_values(who, "operands", operands)
    types = [typeof(v) for v in values]
    bodies, used = [], []
    for i, f in enumerate(functions):
        again = next((b for g, b in zip(functions, bodies) if g is f), None)
        if again is not None:  # a function that stands twice is traced once
            bodies.append(again)
            continue
        with Tracing(alternative=True) as uses:
            bodies.append(Body(who, f, structure, types, f"branch {i}", like=values))
        undo_uses(uses)  # of the branches one is run
        used += uses
    count_once(used)
    _check_branches(who, bodies)
    programs, captured = merge_captured(bodies)
    values = map(strengthened, values)
    outs = bind(cond_op, index, *captured, *values, branches=tuple(programs), **by)
    return tree.unflatten(bodies[0].result, weakened_where(_weak_results(bodies), outs))


def _weak_results(bodies) -> list:
    """Where all branches return weak values; as in JAX, where the first one does."""
    if config.settings().narrow:
        return bodies[0].weak
    return [all(flags) for flags in zip(*[b.weak for b in bodies], strict=True)]


def _check_branches(who, bodies) -> None:
    first = bodies[0]
    for i, other in enumerate(bodies[1:], 1):
        if other.result != first.result:
            raise errors.TreeError(
                f"xcore.{who}: the branches must return the same structure, but branch 0 returns {first.result} and "
                f"branch {i} returns {other.result}."
            )
        types = first.program.out_types, other.program.out_types
        indices = differing(*types)
        if indices:
            names = path_names("result", first.result, indices)
            pairs = [[t[k].strong() for t in types] for k in indices]
            raise errors.branches_differ(who, [
                f"{name} is {a} in branch 0 and {b} in branch {i}"
                for name, (a, b) in zip(names, pairs, strict=True)
            ])  # fmt: skip


_NOTHING = object()  # no operand: None is one


@boundary
def cond(pred, *args, operand=_NOTHING, linear=None, true_fun=None, false_fun=None):
    """``true_fun(*operands)`` if the predicate holds, else ``false_fun(*operands)``.

    ``cond(pred, true_fun, false_fun, *operands)``; also the older form
    ``cond(pred, true_operand, true_fun, false_operand, false_fun)``. Only the chosen branch runs
    (under vmap with a predicate that differs between batch elements, both do).

    Args:
      pred: a scalar; numbers count as true if they are not zero.
      args: the branches and the operands, in either form.
      true_fun, false_fun: functions of the operands that return values of equal types.
      operand: the only operand, where none is given by position; None is one too.
      linear: accepted for compatibility.

    >>> import xcore as xc
    >>> float(xc.lax.cond(True, lambda x: x + 1, lambda x: x - 1, 2.0))
    3.0
    """
    for place, function in ((0, true_fun), (1, false_fun)):
        args = args if function is None else (*args[:place], function, *args[place:])
    true_fun, false_fun, operands = _branches_of(args, operand)
    if not is_array_like(pred):
        raise TypeError(
            f"xcore.lax.cond: the predicate must be a scalar, given {errors.describe(pred)}."
        )
    p = to_value(pred)
    t = typeof(p)
    if t.shape:
        raise errors.ShapeError(
            f"xcore.lax.cond: the predicate must be a scalar, given {t}. Use xnp.where to choose element by element."
        )
    if dtypes.is_complex(t.dtype):
        raise errors.DTypeError(f"xcore.lax.cond: the predicate must be a real number, given {t}.")
    if config.settings().disable_jit and (chosen := known(bool, pred)) is not None:
        return true_fun(*operands) if chosen else false_fun(*operands)
    p = p if t.dtype == bool else ops.ne(p, zeros(t))
    return _choose("lax.cond", ops.convert(p, dtype=dtypes.int32), [false_fun, true_fun], operands)


def _branches_of(args, operand):
    """(true_fun, false_fun, operands) from any of the call forms."""
    if len(args) == 4 and callable(args[1]) and callable(args[3]) and not callable(args[0]):
        x, true_fun, y, false_fun = args
        return (lambda a, b: true_fun(a)), (lambda a, b: false_fun(b)), (x, y)
    if len(args) < 2 or not (callable(args[0]) and callable(args[1])):
        raise TypeError("xcore.lax.cond: call it as cond(pred, true_fun, false_fun, *operands).")
    operands = args[2:]
    if operand is not _NOTHING:
        if operands:
            raise TypeError("xcore.lax.cond: give operands by position or operand=, not both.")
        operands = (operand,)
    return args[0], args[1], operands


@boundary
def switch(index, branches, *operands, operand=_NOTHING):
    """``branches[index](*operands)``, the index limited to the branches there are.

    Args:
      index: integer scalar.
      branches: functions that return the same types.
      operands: their arguments.
      operand: as ``operands``, for one argument.

    >>> import xcore as xc
    >>> float(xc.lax.switch(1, [lambda x: x, lambda x: x * 10], 2.0))
    20.0
    """
    branches = list(branches)
    if not branches or not all(map(callable, branches)):
        raise errors.bad_argument(
            "lax.switch", "branches", branches, "a non-empty sequence of functions"
        )
    operands = operands if operand is _NOTHING else (operand,)
    value = to_value(index)
    t = typeof(value)
    if t.shape or not dtypes.is_integer(t.dtype):
        raise errors.DTypeError(
            f"xcore.lax.switch: the index must be an integer scalar, given {t}."
        )
    if findings.checks_positions():
        check_branch(value, len(branches))
    if config.settings().disable_jit and (number := known(int, index)) is not None:
        return branches[min(max(number, 0), len(branches) - 1)](*operands)
    if len(branches) == 1:
        return branches[0](*operands)
    low, high = zeros(t), full_like_type(t, len(branches) - 1)
    return _choose(
        "lax.switch",
        ops.convert(ops.clamp(low, value, high), dtype=dtypes.int32),
        branches,
        operands,
    )


@boundary
def platform_dependent(*args, default=None, **per_platform):
    """The function of the platform that the program is lowered for, applied to ``args``.

    All functions are traced, and must return the same types; one of them is in the compiled program.

    Args:
        args: their arguments.
        default: function for platforms that are not named.
        per_platform: functions by the names of platforms: ``cpu=…``, ``cuda=…`` (or ``gpu=…``), ``tpu=…``.

    >>> from xcore import lax
    >>> lax.platform_dependent(2.0, cpu=lambda x: x + 1, default=lambda x: x)
    Array(3., dtype=float32, weak_type=True)
    """
    functions = {named(k): f for k, f in per_platform.items()}
    if default is not None:
        functions[None] = default
    if config.settings().disable_jit:
        return [*functions.values()][_branch_here((*functions,))](*args)
    index, every = ops.constant(np.int32(0)), [*functions.values()]
    return _choose("lax.platform_dependent", index, every, args, platforms=(*functions,))


def unless_spread(f, *args, spread):
    """``f(*args)`` in a program for one device, ``spread(*args)`` in one that is spread over several."""
    if config.settings().disable_jit:
        return f(*args)
    index = ops.constant(np.int32(0))
    return _choose("unless_spread", index, [f, spread], args, platforms=(None, _SPREAD))
