"""The operations behind custom_jvp and custom_vjp, on flat lists of values.

A call binds an operation whose ``rule`` holds Python functions: the function itself and its
derivative. So outside of programs all stays plain Python, and ``if``, ``print`` and a debugger work
in both. A trace that writes a program stages the call: the function becomes a program, the
derivative stays Python until somebody asks for it. A rule is one of

JVPRule    function(*xs) -> outs
           derivative(primals, tangents) -> outs, tangents of outs
VJPRule    function(*xs) -> outs
           forward(primals, nonzero) -> outs, residuals, backward
           backward(residuals, cotangents of outs) -> cotangents of primals

where a tangent or cotangent of None is a zero. ``over_batch`` is the rule for every batch element of a vmap.
"""

from __future__ import annotations

from .._core import Linear, Op, bind, dtypes, rule_errors, trace_program, typeof
from .._core.source import written_at
from .._ops import broadcast, reduce_sum, zeros
from .._ops.elementwise import convert
from .._transforms.programs import batch_program, batched_type, fill, marked
from .._transforms.vmap import all_batched, axis_sizes, vmap_flat
from .call import call


def _known(tangents) -> list[bool]:
    return [t is not None for t in tangents]


class _Batch:
    """The batch that a call's functions run on: its results are batched all, or none of them.

    They are if an argument is, or a value that the functions refer to; that is known when one of them has run.
    """

    def __init__(self, size: int, args_batched, axis_name, tag):
        self.size, self.axis_name, self.tag = size, axis_name, tag
        self.batched = True if any(args_batched) else None

    def run(self, function, xs, batched) -> tuple[list, list]:
        return vmap_flat(function, self.size, xs, batched, self.axis_name, self.tag)

    def alike(self, who, outs, is_batched, others=()) -> list:
        """Results, all of them as the batch says; ``others`` are flags of what goes with them."""
        found = any(is_batched) or any(others)
        if self.batched is None:
            self.batched = found
        if found and not self.batched:
            raise rule_errors.custom_rule_closure(*who)
        return all_batched(outs, is_batched, self.size) if self.batched else outs


class JVPRule:
    """A function and its derivative in forward mode."""

    __slots__ = ("derivative", "function", "name", "written")

    def __init__(self, name: str, function, derivative, written=None):
        self.name, self.function, self.derivative, self.written = (
            name,
            function,
            derivative,
            written,
        )

    def __repr__(self) -> str:
        return self.name

    def canonical(self) -> str:
        return "rule"  # it says how to differentiate a program, not what the program computes

    def over_batch(self, batch: _Batch, batched) -> JVPRule:
        who = "custom_jvp", self.name

        def function(*xs):
            return batch.alike(who, *batch.run(self.function, xs, batched))

        def derivative(primals, tangents):
            n, nonzero, nonzero_out = len(primals), _known(tangents), []

            def flat(*xs):
                outs, changes = self.derivative(list(xs[:n]), fill(xs[n:], nonzero))
                nonzero_out[:] = _known(changes)
                return [*outs, *marked(changes, nonzero_out)]

            flags = [*batched, *marked(batched, nonzero)]
            found = batch.alike(
                who, *batch.run(flat, [*primals, *marked(tangents, nonzero)], flags)
            )
            return found[: len(nonzero_out)], fill(found[len(nonzero_out) :], nonzero_out)

        return JVPRule(self.name, function, derivative, self.written)


class VJPRule:
    """A function and its derivative in reverse mode."""

    __slots__ = ("forward", "function", "name", "written")

    def __init__(self, name: str, function, forward, written=None):
        self.name, self.function, self.forward, self.written = name, function, forward, written

    def __repr__(self) -> str:
        return self.name

    def canonical(self) -> str:
        return "rule"

    def over_batch(self, batch: _Batch, batched) -> VJPRule:
        who = "custom_vjp", self.name

        def function(*xs):
            return batch.alike(who, *batch.run(self.function, xs, batched))

        def forward(primals, nonzero):
            made = []

            def flat(*xs):
                outs, residuals, backward = self.forward(list(xs), nonzero)
                made.append((len(outs), backward))
                return [*outs, *residuals]

            values, flags = batch.run(flat, primals, batched)
            n, backward = made[0]
            outs = batch.alike(who, values[:n], flags[:n], flags[n:])
            batched_f = _backward_over_batch(who, backward, batch, flags[n:])

            def summed(residuals, cotangents):
                """Inputs that the batch shares get the sum over it."""
                found = batched_f(residuals, cotangents)
                shared = [batch.batched and not b for b in batched]
                return [
                    reduce_sum(ct, axes=(0,)) if s and ct is not None else ct
                    for ct, s in zip(found, shared, strict=True)
                ]

            return outs, values[n:], summed

        return VJPRule(self.name, function, forward, self.written)


def _backward_over_batch(who, backward, batch: _Batch, batched):
    """A backward function on a batch: residuals batched as given, cotangents as the batch says."""

    def over_batch(residuals, cotangents):
        n, nonzero, nonzero_out = len(residuals), _known(cotangents), []

        def flat(*xs):
            found = backward(list(xs[:n]), fill(xs[n:], nonzero))
            nonzero_out[:] = _known(found)
            return marked(found, nonzero_out)

        flags = [*batched, *[bool(batch.batched)] * sum(nonzero)]
        outs, is_batched = batch.run(flat, [*residuals, *marked(cotangents, nonzero)], flags)
        return fill(batch.alike(who, outs, is_batched), nonzero_out)

    return over_batch


# Running and staging


def _run(*args, rule):
    return rule.function(*args)


def _never(*args, **params):
    raise AssertionError("it runs eagerly or is staged")


def _stage_as(op):
    def stage(*args, rule):
        program, captured = trace_program(rule.function, [typeof(a) for a in args], rule.name)
        return op, [*captured, *args], {"program": program, "rule": rule, "captured": len(captured)}

    return stage


def _axes_in_scope(rule):
    # what the function will do is not known: it may use any named axis
    return frozenset(("axis", name) for name in axis_sizes())


def _batch_function(op):
    def batch(size, args, batched, *, rule, axis_name=None, tag=None):
        batch = _Batch(size, batched, axis_name, tag)
        outs = bind(op, *args, rule=rule.over_batch(batch, batched))
        return outs, [bool(batch.batched)] * len(outs)

    return batch


def _batch_staged(op):
    def batch(size, args, batched, *, program, rule, captured, axis_name=None):
        every = [True] * len(program.outputs)
        q, _ = batch_program(program, size, batched, every, axis_name)
        batch = _Batch(size, [True], axis_name, None)
        batched_f = rule.over_batch(batch, batched[captured:])
        return bind(op, *args, program=q, rule=batched_f, captured=captured), every

    return batch


def python_op(name: str, staged: Op, **rules) -> Op:
    """The operation of a call that holds a Python function, and is ``staged`` in programs."""
    op = Op(
        name, type=_never, eager=_run, stage=_stage_as(staged), many=True, nested=True,
        effects=_axes_in_scope, **rules,
    )  # fmt: skip
    op._batch = _batch_function(op)
    return op


def _transpose_function(cotangents, *args, program, rule, captured):
    """A function that is itself applied to tangents is linear: its program is transposed."""
    return call.rule("transpose")(cotangents, *args, program=program)


def staged_op(name: str, **rules) -> Op:
    """The operation of a call in a program: inline when compiled, the rule still at hand."""
    op = Op(
        name,
        type=lambda *types, program, rule, captured: program.out_types,
        lower=lambda ctx, *values, program, rule, captured: ctx.program(program, values),
        transpose=_transpose_function,
        many=True,
        nested=True,
        effects=lambda program, rule, captured: program.effects,
        **rules,
    )
    op._batch = _batch_staged(op)
    return op


def _explicit(who: str, rule, tangents, captured: int) -> None:
    if any(_known(tangents[:captured])):
        raise rule_errors.custom_rule_closure(who, rule.name)


def _as_program_says(outs, program) -> list:
    """A rule's results with the weakness that the function's own results have."""
    return [
        x if typeof(x) is t else convert(x, dtype=t.dtype, weak=t.weak)
        for x, t in zip(outs, program.out_types, strict=True)
    ]


def _check_results(who: str, rule, outs, program) -> None:
    given = [typeof(x).strong() for x in outs]
    expected = [t.strong() for t in program.out_types]
    if given != expected:
        place = written_at(rule.written) if rule.written else ""
        raise rule_errors.custom_rule_results(who, rule.name, place, expected, given)


# custom_jvp


def _jvp_function(primals, tangents, *, rule):
    return rule.derivative(primals, tangents)


def _jvp_staged(primals, tangents, *, program, rule, captured):
    _explicit("custom_jvp", rule, tangents, captured)
    outs, changes = rule.derivative(primals[captured:], tangents[captured:])
    _check_results("custom_jvp", rule, outs, program)
    return _as_program_says(outs, program), changes


custom_jvp_call = staged_op("custom_jvp_call", jvp=_jvp_staged)
custom_jvp_function = python_op(
    "custom_jvp_function", custom_jvp_call, jvp=_jvp_function, closes=True
)

# custom_vjp
# Linearizing runs ``forward`` and leaves one linear operation, ``custom_vjp_tangent``, of the
# residuals and the tangents. What it computes nobody knows; its transpose is ``backward``.


def _linearize_rule(primals, nonzero, rule):
    outs, residuals, backward = rule.forward(primals, nonzero)
    inexact = [dtypes.is_inexact(typeof(x).dtype) for x in outs]
    types = tuple(typeof(x).strong() for x in marked(outs, inexact))

    def pull(residuals, cotangents):
        return marked(backward(residuals, fill(cotangents, inexact)), nonzero)

    def tangent_fn(*tangents):
        known = marked(tangents, nonzero)
        changes = bind(
            custom_vjp_tangent, *residuals, *known, pull=Pull(rule.name, pull), out=types,
            residuals=len(residuals),
        )  # fmt: skip
        return fill(changes, inexact)

    return outs, tangent_fn


class Pull:
    """A backward function as a param: ``pull(residuals, cotangents) -> cotangents``."""

    __slots__ = ("function", "name")

    def __init__(self, name: str, function):
        self.name, self.function = name, function

    def canonical(self) -> str:
        return "pull"


def _linearize_function(primals, nonzero, *, rule):
    return _linearize_rule(primals, nonzero, rule)


def _linearize_staged(primals, nonzero, *, program, rule, captured):
    _explicit("custom_vjp", rule, [m or None for m in nonzero], captured)
    outs, tangent_fn = _linearize_rule(primals[captured:], nonzero[captured:], rule)
    _check_results("custom_vjp", rule, outs, program)
    return _as_program_says(outs, program), lambda *tangents: tangent_fn(*tangents[captured:])


def _jvp_by(linearize):
    """Forward mode records the same linear operation; programs that transpose it later are fine."""

    def jvp(primals, tangents, **params):
        outs, tangent_fn = linearize(primals, _known(tangents), **params)
        return outs, tangent_fn(*tangents)

    return jvp


custom_vjp_call = staged_op(
    "custom_vjp_call", linearize=_linearize_staged, jvp=_jvp_by(_linearize_staged)
)
custom_vjp_function = python_op(
    "custom_vjp_function", custom_vjp_call, linearize=_linearize_function,
    jvp=_jvp_by(_linearize_function), closes=True,
)  # fmt: skip


def _refuse(*args, pull, **params):
    raise rule_errors.forward_mode_of_custom_vjp(pull.name)


def _tangent_transpose(cotangents, *args, pull, out, residuals):
    cts = pull.function(list(args[:residuals]), cotangents)
    return [
        *[None] * residuals,
        *[
            ct if isinstance(a, Linear) else None
            for a, ct in zip(args[residuals:], cts, strict=True)
        ],
    ]


def _tangent_jvp(primals, tangents, *, pull, out, residuals):
    if any(_known(tangents[:residuals])):
        raise rule_errors.forward_mode_of_custom_vjp(pull.name)
    kept, params = primals[:residuals], {"pull": pull, "out": out, "residuals": residuals}
    known = [
        zeros(typeof(p).strong()) if t is None else t
        for p, t in zip(primals[residuals:], tangents[residuals:], strict=True)
    ]
    return custom_vjp_tangent(*primals, **params), custom_vjp_tangent(*kept, *known, **params)


def _tangent_batch(size, args, batched, *, pull, out, residuals, axis_name=None):
    given = [*batched[:residuals], *[True] * (len(args) - residuals)]
    full = [
        broadcast(x, size) if g and not b else x
        for x, g, b in zip(args, given, batched, strict=True)
    ]
    batch = _Batch(size, [True], axis_name, None)
    batched_f = _backward_over_batch(
        ("custom_vjp", pull.name), pull.function, batch, given[:residuals]
    )
    types = tuple(batched_type(t, size) for t in out)
    outs = custom_vjp_tangent(
        *full, pull=Pull(pull.name, batched_f), out=types, residuals=residuals
    )
    return outs, [True] * len(outs)


custom_vjp_tangent = Op(
    "custom_vjp_tangent",
    type=lambda *types, pull, out, residuals: list(out),
    lower=_refuse,
    eager=_refuse,
    jvp=_tangent_jvp,
    transpose=_tangent_transpose,
    batch=_tangent_batch,
    many=True,
    nested=True,
)
