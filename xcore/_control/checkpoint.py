"""``checkpoint``: recompute in the backward pass instead of keeping intermediate values.

The operation holds the program of a function. Linearizing it keeps its arguments (and what the
policy asks for) as residuals; the linear part is again a ``checkpoint``, of the program of tangents
with the primal work it needs. Transposing that runs the primal work a second time, behind a
barrier, so that the compiler neither merges it with the first time nor does it too early.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, overload

from .._core import Eqn, Program, Var, bind, config, dtypes, eval_program, trace_closed, tree
from .._core.op import Linear, Op
from .._core.program import dead_code_eliminated, literal_value
from .._core.source import boundary, describe_where, wraps
from .._core.typing import P, R
from .._ops import name_op
from .._ops import optimization_barrier as barrier
from .._transforms.api import values_of
from .._transforms.jvp import jvp_flat
from .._transforms.programs import (
    batch_program,
    fill,
    jvp_program,
    linearize_program,
    marked,
    split_program,
    transpose_program,
)
from .._transforms.transpose import instantiate
from .call import call, linear_last
from .jit import Jitted


class Policy:
    """Says which results of operations are kept: ``function(op, *types, **params) -> bool``."""

    __slots__ = ("function",)

    def __init__(self, function):
        self.function = function

    def keeps(self, e: Eqn) -> bool:
        return bool(self.function(e.op, *[a.type for a in e.inputs], **e.params))

    def canonical(self) -> str:
        return "policy"  # it says how to differentiate a program, not what the program computes


# What is kept for the tangents


def _inlined(p: Program) -> Program:
    """The program with the equations of the jitted functions that it calls."""
    if not any(e.op is call for e in p.eqns):
        return p
    return p.memo(
        "inlined", lambda: trace_closed(lambda *xs: _eval_inline(p, xs), p.in_types, p.name)
    )


def _eval_inline(p: Program, args) -> list:
    env = dict(zip(p.inputs, args, strict=True))
    for e in p.eqns:
        ins = [env[a] if type(a) is Var else literal_value(a) for a in e.inputs]
        inner = e.params.get("program") if e.op is call else None
        outs = _eval_inline(inner, ins) if inner else bind(e.op, *ins, **e.params)
        env.update(zip(e.outputs, outs, strict=True))
    return [env[a] if type(a) is Var else literal_value(a) for a in p.outputs]


class _Plan:
    """``forward``: inputs -> (results, kept values). ``tangent``: (inputs, kept values, tangents),
    those of them that ``used`` marks -> tangents of the results that move."""

    __slots__ = ("forward", "nonzero_out", "tangent", "used")

    def __init__(self, forward, tangent, nonzero_out):
        self.forward, self.nonzero_out = forward, nonzero_out
        read = {a for e in tangent.eqns for a in e.inputs if type(a) is Var}
        read.update(a for a in tangent.outputs if type(a) is Var)
        self.used = [v in read for v in tangent.inputs]
        inputs = marked(tangent.inputs, self.used)
        self.tangent = Program(inputs, tangent.eqns, tangent.outputs, tangent.name)


def _plan(p: Program, nonzero, policy) -> _Plan:
    nonzero = tuple(nonzero)
    make = _plan_all_recomputed if policy is None else _plan_with_policy
    return p.memo(("checkpoint", nonzero, policy), lambda: make(p, nonzero, policy))


def _plan_all_recomputed(p: Program, nonzero, policy) -> _Plan:
    """Linearized, not in forward mode: loops are transposed so, and rules in reverse mode have no other."""
    done, n = linearize_program(p, nonzero), len(p.inputs)

    def tangents(*args):
        residuals = done.residuals(eval_program(done.primal, args[:n]), args[:n])
        return eval_program(done.linear, [*residuals, *args[n:]])

    types = [*p.in_types, *[t.strong() for t in marked(p.in_types, nonzero)]]
    return _Plan(p, trace_closed(tangents, types, p.name), done.nonzero_out)


def _plan_with_policy(p: Program, nonzero, policy) -> _Plan:
    p = _inlined(p)
    kept = [v for e in p.eqns if policy.keeps(e) for v in e.outputs]
    wide = Program(p.inputs, p.eqns, [*p.outputs, *kept], p.name)
    nonzero_out, n = [], len(p.inputs)

    def tangents_and_kept(*args):
        given = fill(args[n:], nonzero)
        outs, tangents = jvp_flat(lambda *xs: eval_program(wide, xs), args[:n], given)
        tangents = tangents[: len(p.outputs)]
        nonzero_out[:] = [t is not None for t in tangents]
        return [*marked(tangents, nonzero_out), *outs[len(p.outputs) :]]

    types = [*p.in_types, *[t.strong() for t in marked(p.in_types, nonzero)]]
    both = trace_closed(tangents_and_kept, types, p.name)
    tangent, numbers = _cut(both, sum(nonzero_out), n)
    forward = Program(p.inputs, p.eqns, [*p.outputs, *[kept[i] for i in numbers]], p.name)
    return _Plan(dead_code_eliminated(forward), tangent, nonzero_out)


def _cut(both: Program, count: int, n: int):
    """A program of ``count`` results and other values, as one that takes those values after its
    first ``n`` inputs instead of computing them; and the numbers of the values that it needs."""
    made = {v for e in both.eqns for v in e.outputs}
    values = {v: i for i, v in enumerate(both.outputs[count:]) if type(v) is Var and v in made}
    eqns = [
        Eqn(
            e.op,
            e.inputs,
            [Var(v.type) if v in values else v for v in e.outputs],
            e.params,
            e.where,
        )
        for e in both.eqns
    ]
    inputs = [*both.inputs[:n], *values, *both.inputs[n:]]
    cut = dead_code_eliminated(Program(inputs, eqns, both.outputs[:count], both.name))
    read = {a for e in cut.eqns for a in e.inputs} | set(cut.outputs)
    needed = [v for v in values if v in read]
    cut.inputs = [*both.inputs[:n], *needed, *both.inputs[n:]]
    return cut, [values[v] for v in needed]


# The operation


def _lower(ctx, *values, program, differentiated, prevent_cse, policy):
    if differentiated and prevent_cse and values:
        types = [ctx.type(t) for t in program.in_types]
        values = ctx.barrier(types, list(values))
    return call.rule("lower")(ctx, *values, program=program)


def _jvp(primals, tangents, *, program, **params):
    nonzero = [t is not None for t in tangents]
    q, nonzero_out = jvp_program(program, nonzero)
    outs = checkpoint_op(*primals, *marked(tangents, nonzero), program=q, **params)
    n = len(program.outputs)
    return outs[:n], fill(outs[n:], nonzero_out)


def _linearize(primals, nonzero, *, program, differentiated, **params):
    plan = _plan(program, nonzero, params["policy"])
    n = len(program.outputs)
    outs = checkpoint_op(*primals, program=plan.forward, differentiated=differentiated, **params)

    def tangent_fn(*tangents):
        given = [*primals, *outs[n:], *marked(tangents, nonzero)]
        args = marked(given, plan.used)
        changes = checkpoint_op(*args, program=plan.tangent, differentiated=True, **params)
        return fill(changes, plan.nonzero_out)

    return outs[:n], tangent_fn


def _with_results(p: Program, marks) -> Program:
    return dead_code_eliminated(Program(p.inputs, p.eqns, marked(p.outputs, marks), p.name))


def _apart(p: Program, linear) -> tuple[Program, Program, list[bool]]:
    """(what gives results that are known, what gives the others and what they need, which these are)"""
    done = split_program(p, linear)
    known = [not m for m in done.nonzero_out] + [False] * done.count
    return _with_results(done.primal, known), _with_results(p, done.nonzero_out), done.nonzero_out


def _split(args, linear, *, program, **params):
    """The linear part keeps the work on what is known: its transpose does it again."""
    key = ("checkpoint split", tuple(linear))
    known, moving, nonzero_out = program.memo(key, lambda: _apart(program, linear))
    outs = [] if all(nonzero_out) else checkpoint_op(*args, program=known, **params)

    def tangent_fn(*tangents):
        given = [a if t is None else t for a, t in zip(args, tangents, strict=True)]
        return fill(checkpoint_op(*given, program=moving, **params), nonzero_out)

    return fill(outs, [not m for m in nonzero_out]), tangent_fn


def _transpose(cotangents, *args, program, **params):
    linear = [isinstance(a, Linear) for a in args]
    residuals = [a for a, m in zip(args, linear, strict=True) if not m]
    q = transpose_program(linear_last(program, linear), len(residuals))
    cts = [instantiate(ct, t) for ct, t in zip(cotangents, program.out_types, strict=True)]
    return fill(checkpoint_op(*residuals, *cts, program=q, **params), linear)


def _batch(size, args, batched, *, program, axis_name=None, **params):
    q, is_batched = batch_program(program, size, batched, axis_name=axis_name)
    return checkpoint_op(*args, program=q, **params), is_batched


def _threaded(threader, state, args, *, program, **params):
    q = threader.program(program)
    return threader.split(checkpoint_op(*state, *args, program=q, **params))


checkpoint_op = Op(
    "checkpoint",
    type=lambda *types, program, **params: program.out_types,
    lower=_lower,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    linearize=_linearize,
    split=_split,
    many=True,
    nested=True,
    effects=lambda program, **params: program.effects,
    threaded=_threaded,
)

# Public functions


@overload
def checkpoint(
    fun: Callable[P, R], *, prevent_cse: bool = True, policy: Callable[..., Any] | None = None,
    static_argnums: int | Sequence[int] = (),
) -> Callable[P, R]: ...  # fmt: skip
@overload
def checkpoint(
    fun: None = None, *, prevent_cse: bool = True, policy: Callable[..., Any] | None = None,
    static_argnums: int | Sequence[int] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...  # fmt: skip
def checkpoint(
    fun: Callable[..., Any] | None = None, *, prevent_cse: bool = True,
    policy: Callable[..., Any] | None = None, static_argnums: int | Sequence[int] = (),
) -> Callable[..., Any]:  # fmt: skip
    """A function whose intermediate values are computed again in the backward pass, not kept.

    Derivatives are the same; reverse mode takes less memory and more time.

    Args:
      fun: the function, of pytrees of arrays. Usable as a decorator.
      prevent_cse: keep the compiler from merging the second computation with the first. Inside of
        ``scan``, where it cannot do so, False may be faster.
      policy: says what is kept nevertheless, one of ``checkpoint_policies`` or a function
        ``policy(op, *types, **params) -> bool`` of an operation; by default nothing but arguments.
      static_argnums: arguments that are Python values, not arrays; with those that have no hash it is traced anew.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> f = xc.checkpoint(lambda x: xnp.sin(xnp.sin(x)))
    >>> float(xc.grad(f)(0.0))
    1.0
    """
    if fun is None:
        return functools.partial(
            checkpoint, prevent_cse=prevent_cse, policy=policy, static_argnums=static_argnums
        )
    general = Jitted(fun, static_argnums, None, None, None, False)
    params = {
        "differentiated": False,
        "prevent_cse": prevent_cse,
        "policy": None if policy is None else Policy(policy),
    }

    @wraps(fun)
    @boundary
    def checkpointed(*args, **kwargs):
        if config.settings().disable_jit:
            return fun(*args, **kwargs)
        traced, dynamic = _of_others(fun, args, static_argnums) or (general, args)
        found, values = traced.find(dynamic, kwargs)
        outs = checkpoint_op(*found.captured, *values, program=found.program, **params)
        return tree.unflatten(found.out_tree, outs)

    return checkpointed


def _of_others(fun, args, static_argnums):
    """Where static arguments have no hash: the function of the others, traced anew, and these; else None."""
    numbers = (static_argnums,) if isinstance(static_argnums, int) else static_argnums
    places = {i % len(args) for i in numbers if -len(args) <= i < len(args)}
    if all(_has_hash(args[i]) for i in places):
        return None

    def of_others(*others, **kwargs):
        left = iter(others)
        return fun(*[a if i in places else next(left) for i, a in enumerate(args)], **kwargs)

    of_others.__name__ = getattr(fun, "__name__", "function")
    others = tuple(a for i, a in enumerate(args) if i not in places)
    return Jitted(of_others, None, None, None, None, False), others


def _has_hash(x) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


remat = checkpoint


def checkpoint_name(x: R, name: str) -> R:
    """The value itself, under a name that the policies of ``checkpoint`` can speak of.

    Args:
      x: tree of arrays.
      name: text that policies such as ``save_only_these_names`` take.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> keep = xc.checkpoint_policies.save_only_these_names("hidden")
    >>> @xc.checkpoint(policy=keep)
    ... def f(x):
    ...     h = xc.ad_checkpoint.checkpoint_name(xnp.sin(x), "hidden")
    ...     return xnp.cos(h)
    >>> float(f(0.0))
    1.0
    """
    return tree.map(lambda leaf: name_op(leaf, name=name), x)


@boundary
def print_saved_residuals(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Print what a derivative of ``fun`` in reverse mode keeps from the forward pass, and its source.

    Args:
      fun: function.
      args, kwargs: its arguments.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> f = lambda x: xnp.sin(xnp.sin(x))
    >>> xc.ad_checkpoint.print_saved_residuals(xc.checkpoint(f), xnp.ones(3))
    float32[3] from the argument x of <lambda>
    """
    general = Jitted(fun, None, None, None, None, False)
    found, _ = general.find(args, kwargs)
    program = _inlined(found.program)
    done = linearize_program(program, [dtypes.is_inexact(t.dtype) for t in program.in_types])
    n = len(found.captured)
    names = ["a value it closes over"] * n + general.leaf_names((args, kwargs))
    origin = {v: f"from {name}" for v, name in zip(program.inputs, names, strict=True)}
    origin |= {v: f"from {name}" for v, name in zip(done.primal.inputs, names, strict=True)}
    for e in done.primal.eqns:
        text = f"from {e.op.name} {describe_where(e.where)}".rstrip()
        origin |= dict.fromkeys(e.outputs, text)
    for a in done.residuals(done.primal.outputs, program.inputs):
        print(a.type, origin.get(a, "a constant"))


@boundary
def optimization_barrier(operand: R) -> R:
    """The values of a tree, which the compiler takes as new: nothing is moved or merged across.

    Args:
      operand: array or pytree of arrays.

    >>> import xcore as xc
    >>> [float(x) for x in xc.lax.optimization_barrier((1.0, 2.0))]
    [1.0, 2.0]
    """
    values, structure = values_of("lax.optimization_barrier", operand, "operand")
    return tree.unflatten(structure, barrier(*values))


# Policies
# A policy is asked about each operation of the function (those of jitted functions it calls
# included) and says whether its results are kept.


def everything_saveable(op, *types, **params) -> bool:
    """Keep all: as without ``checkpoint``."""
    return True


def nothing_saveable(op, *types, **params) -> bool:
    """Keep nothing but arguments: as without a policy."""
    return False


def dots_saveable(op, *types, **params) -> bool:
    """Keep what is costly to compute: results of matrix products and convolutions."""
    return op.name in ("dot_general", "convolution")


def dots_with_no_batch_dims_saveable(op, *types, **params) -> bool:
    """Keep results of matrix products without batch axes, such as those with weights."""
    return op.name == "dot_general" and not params["batch"][0]


def _name_of(op, params):
    return params["name"] if op is name_op else None


def save_only_these_names(*names: str):
    """Keep the values that ``checkpoint_name`` gave one of these names."""
    return lambda op, *types, **params: _name_of(op, params) in names


def save_anything_except_these_names(*names: str):
    """Keep all values but those that have one of these names."""
    return lambda op, *types, **params: _name_of(op, params) not in names


def save_any_names_but_these(*names: str):
    """Keep the values that have a name, but one of these."""
    return lambda op, *types, **params: op is name_op and params["name"] not in names


def save_from_both_policies(first, second):
    """Keep what either of two policies keeps."""

    def policy(op, *types, **params) -> bool:
        return bool(first(op, *types, **params) or second(op, *types, **params))

    return policy


def save_and_offload_only_these_names(
    *, names_which_can_be_saved, names_which_can_be_offloaded, offload_src, offload_dst
):
    """Keep the values that have one of these names; all of them stay on the device."""
    return save_only_these_names(*names_which_can_be_saved, *names_which_can_be_offloaded)


def offload_dot_with_no_batch_dims(offload_src, offload_dst):
    """Keep products without batch axes, on the device."""
    return dots_with_no_batch_dims_saveable


checkpoint_policies = SimpleNamespace(
    everything_saveable=everything_saveable,
    nothing_saveable=nothing_saveable,
    dots_saveable=dots_saveable,
    checkpoint_dots=dots_saveable,
    dots_with_no_batch_dims_saveable=dots_with_no_batch_dims_saveable,
    checkpoint_dots_with_no_batch_dims=dots_with_no_batch_dims_saveable,
    save_only_these_names=save_only_these_names,
    save_anything_except_these_names=save_anything_except_these_names,
    save_any_names_but_these=save_any_names_but_these,
    save_from_both_policies=save_from_both_policies,
    save_and_offload_only_these_names=save_and_offload_only_these_names,
    offload_dot_with_no_batch_dims=offload_dot_with_no_batch_dims,
)
