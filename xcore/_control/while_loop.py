"""``while``: repeat a program while another holds. The number of trips is known only at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _ops as ops
from .._core import ArrayType, Op, bind, boundary, config, dtypes, errors, to_value, tree, typeof
from .._core.program import Program, eval_program, trace_closed
from .._ops import broadcast, broadcast_in_dim, full_like_type, reduce_or, zeros
from .._ops.elementwise import to_user
from .._transforms.programs import batch_program, fill, jvp_program, zeros_for
from .carry import Body, called, check_carry, leaf_values, trace_carry_body, weakened_where
from .checkpointed import linearize_loop
from .masked import masked
from .progress import Bar

if TYPE_CHECKING:
    from .._core.typing import PyTree

# Arguments of the operation: constants of ``cond``, constants of ``body``, carry. ``counts`` holds
# how many of the first two there are.


def _split(args, counts):
    nc, nb = counts
    return list(args[:nc]), list(args[nc : nc + nb]), list(args[nc + nb :])


def _lower(ctx, *values, cond, body, counts, checkpoints=0):
    cond_consts, body_consts, init = _split(values, counts)
    outer = [*cond_consts, *body_consts]
    n = len(outer)

    # what the loop only reads goes around with it, unchanged
    def test(*state):
        return ctx.program(cond, [*state[: counts[0]], *state[n:]])[0]

    def step(*state):
        return [*state[:n], *ctx.program(body, [*state[counts[0] : n], *state[n:]])]

    return ctx.while_([*outer, *init], test, step)[n:]


def _steps(run, *args, cond, body, counts, **params):
    cond_consts, body_consts, state = _split(args, counts)
    while run(cond, [*cond_consts, *state])[0]:
        state = run(body, [*body_consts, *state])
    return state


def _nonzero_carry(body: Program, const_nonzero, start_nonzero) -> list[bool]:
    """Which parts of the carry get a tangent, at the start or from other parts in some step."""
    carry_nonzero = list(start_nonzero)
    while True:
        _, nonzero_out = jvp_program(body, [*const_nonzero, *carry_nonzero])
        wider = [a or b for a, b in zip(carry_nonzero, nonzero_out, strict=True)]
        if wider == carry_nonzero:
            return carry_nonzero
        carry_nonzero = wider


def _jvp(primals, tangents, *, cond, body, counts, checkpoints=0):
    cc, bc, init = _split(primals, counts)
    _, bt, it = _split(tangents, counts)
    const_nonzero = [t is not None for t in bt]
    carry_nonzero = _nonzero_carry(body, const_nonzero, [t is not None for t in it])
    both, nonzero_out = jvp_program(body, [*const_nonzero, *carry_nonzero])
    n_bc, n, n_t = len(bc), len(init), sum(carry_nonzero)
    dots = [t for t in bt if t is not None]
    # carry: primal parts, then the tangents of those that move
    from_zero = [x for x, m in zip(zeros_for(it, init), carry_nonzero, strict=True) if m]

    def step(*args):
        consts, const_dots = args[:n_bc], args[n_bc : n_bc + len(dots)]
        state, state_dots = args[n_bc + len(dots) :][:n], args[n_bc + len(dots) + n :]
        outs = eval_program(both, [*consts, *state, *const_dots, *state_dots])
        found = fill(outs[n:], nonzero_out)
        made = [
            zeros(typeof(x)) if t is None else t
            for t, x, m in zip(found, outs[:n], carry_nonzero, strict=True)
            if m
        ]
        return [*outs[:n], *made]

    dot_types = [typeof(x).strong() for x in from_zero]
    types = (
        [typeof(x) for x in bc]
        + [typeof(x).strong() for x in dots]
        + [typeof(x) for x in init]
        + dot_types
    )
    new_body = trace_closed(step, types, body.name)
    new_cond = trace_closed(
        lambda *args: eval_program(cond, args[: len(cc) + n]), cond.in_types + dot_types, cond.name
    )
    outs = bind(
        while_op, *cc, *bc, *dots, *init, *from_zero, cond=new_cond, body=new_body,
        counts=(len(cc), n_bc + len(dots)), checkpoints=checkpoints,
    )  # fmt: skip
    assert len(outs) == n + n_t
    return outs[:n], fill(outs[n:], carry_nonzero)


def _linearize(primals, nonzero, *, checkpoints=0, **params):
    if not checkpoints:
        raise errors.reverse_through_while()
    return linearize_loop(while_op, primals, nonzero, **params, checkpoints=checkpoints)


def _batch(size, args, batched, *, cond, body, counts, checkpoints=0, axis_name=None):
    cc, bc, init = _split(args, counts)
    cb, bb, ib = _split(batched, counts)
    # which parts of the carry are batched: by another part in some step, or by the predicate
    while True:
        _, (pred_batched,) = batch_program(cond, size, [*cb, *ib], axis_name=axis_name)
        _, outs = batch_program(body, size, [*bb, *ib], ib, axis_name)
        wider = [a or b or pred_batched for a, b in zip(ib, outs, strict=True)]
        if wider == ib:
            break
        ib = wider
    had = _split(batched, counts)[2]
    init = [broadcast(x, size) if w and not b else x for x, b, w in zip(init, had, ib, strict=True)]
    if not pred_batched:
        new_body, _ = batch_program(body, size, [*bb, *ib], ib, axis_name)
        new_cond, _ = batch_program(cond, size, [*cb, *ib], axis_name=axis_name)
        outs = bind(
            while_op,
            *cc,
            *bc,
            *init,
            cond=new_cond,
            body=new_body,
            counts=counts,
            checkpoints=checkpoints,
        )
        return outs, ib
    new_body, _ = batch_program(masked(body), size, [True, *bb, *ib], ib, axis_name)
    new_cond, _ = batch_program(masked(cond), size, [True, *cb, *ib], [True], axis_name)
    return _run_batch(size, cc, bc, init, new_cond, new_body, checkpoints), ib


def _run_batch(size, cc, bc, init, cond, body, checkpoints):
    """Batch elements stop on their own: loop while any runs, and change only those that do.

    The predicates are part of the carry, so they are evaluated once for each step; the programs take
    them too, for batch elements that have stopped must not act any more.
    """
    n_cc, n_bc = len(cc), len(bc)
    types = [typeof(x) for x in (*cc, *bc)]
    state_types = [typeof(x) for x in init]
    everybody = full_like_type(ArrayType((size,), dtypes.bool_), True)
    running = eval_program(cond, [everybody, *cc, *init])[0]

    def step(*args):
        consts, state = args[: n_cc + n_bc], args[n_cc + n_bc : -1]
        now = args[-1]
        new = eval_program(body, [now, *consts[n_cc:], *state])
        kept = [_select_elements(now, a, b) for a, b in zip(new, state, strict=True)]
        still = eval_program(cond, [now, *consts[:n_cc], *kept])[0]
        return [*kept, ops.and_(now, still)]

    def any_runs(*args):
        return [reduce_or(args[-1], axes=(0,))]

    run_type = typeof(running)
    body_program = trace_closed(step, [*types, *state_types, run_type], body.name)
    cond_program = trace_closed(any_runs, [*state_types, run_type], cond.name)
    outs = bind(
        while_op, *cc, *bc, *init, running, cond=cond_program, body=body_program, counts=(0, n_cc + n_bc),
        checkpoints=checkpoints,
    )  # fmt: skip
    return outs[:-1]


def _threaded(threader, state, args, *, cond, body, counts, **params):
    """The state stands in front of the carry.

    A predicate that changes it is run before the loop and at the end of each step too, for that.
    """
    (nc, nb), n = counts, len(state)
    cond_consts, body_consts, init = _split(args, counts)
    through_cond, through_body = threader.program(cond), threader.program(body)
    twice = threader.changes and threader.finds(cond)

    def after_test(state, consts, carry):
        return eval_program(through_cond, [*state, *consts, *carry])[:n] if twice else state

    def test(*args):
        consts, state, carry = args[:nc], args[nc : nc + n], args[nc + n :]
        if twice:
            return eval_program(threader.without(cond), [*consts, *carry])
        return eval_program(through_cond, [*state, *consts, *carry])[n:]

    def step(*args):
        consts, bc, both = _split(args, counts)
        state, carry = threader.split(eval_program(through_body, [*both[:n], *bc, *both[n:]]))
        return [*after_test(state, consts, carry), *carry]

    consts = [typeof(x) for x in (*cond_consts, *body_consts)]
    carried = [*threader.types, *body.in_types[nb:]]
    state = after_test(state, cond_consts, init)
    outs = bind(
        while_op, *cond_consts, *cond_consts, *body_consts, *state, *init,
        cond=trace_closed(test, [*consts[:nc], *carried], cond.name),
        body=trace_closed(step, [*consts, *carried], body.name), counts=(nc, nc + nb), **params,
    )  # fmt: skip
    return threader.split(outs)


def _select_elements(running, new, old):
    t = typeof(old)
    return ops.select(broadcast_in_dim(running, shape=t.shape, dims=(0,)), new, old)


while_op = Op(
    "while",
    type=lambda *types, cond, body, counts, checkpoints=0: body.out_types,
    lower=_lower,
    jvp=_jvp,
    batch=_batch,
    linearize=_linearize,
    many=True,
    nested=True,
    steps=_steps,
    threaded=_threaded,
    effects=lambda cond, body, counts, checkpoints=0: cond.effects | body.effects,
)


# Public function


def _check_predicate(body: Body) -> None:
    types = body.program.out_types
    if len(types) != 1 or not tree.is_leaf_structure(body.result):
        raise TypeError(
            f"xcore.lax.while_loop: cond_fun must return one boolean, but returned {body.result}."
        )
    if types[0].shape or types[0].dtype != bool:
        raise errors.DTypeError(
            f"xcore.lax.while_loop: cond_fun must return a boolean scalar, but returned {types[0]}."
        )


def trace_loop(who: str, cond_fun, body_fun, init_val):
    """(cond body, loop body, start values, structure, which are weak), types of the carry agreed on."""
    init, structure = leaf_values(who, "init_val", init_val)
    single = tree.structure((init_val,))

    def trace(types, init):
        body = Body(who, body_fun, single, types, "body_fun", loop=True, like=init)
        return body, body.result

    body, start, weak = trace_carry_body(trace, init, structure)
    types = [typeof(x) for x in start]
    check_carry(who, structure, types, body, len(types), body.result)
    seen = [t.weakened() if w else t for t, w in zip(types, weak, strict=True)]
    test = Body(who, cond_fun, single, seen, "cond_fun")
    _check_predicate(test)
    return test, body, start, structure, weak


@boundary
def while_loop(
    cond_fun: Callable[..., Any], body_fun: Callable[..., Any], init_val: PyTree, *,
    max_steps: int | None = None, checkpoints: int = 32, progress: str | bool | None = False,
) -> PyTree:  # fmt: skip
    """Repeat ``val = body_fun(val)`` while ``cond_fun(val)``; the result is the last ``val``.

    Args:
      cond_fun: function of the carry that returns a boolean scalar.
      body_fun: function of the carry that returns the next one, of the same structure and types.
      init_val: the first carry, any pytree of arrays.
      max_steps: stop after this many steps in any case.
      checkpoints: how many carries may be kept to differentiate in reverse mode. The memory of the
        gradient is that of this many carries, whatever the number of steps; fewer mean more
        recomputation. 0 forbids reverse mode.
      progress: show the number of steps and their rate; a text is the label.

    >>> import xcore as xc
    >>> float(xc.lax.while_loop(lambda x: x < 100, lambda x: x * 2, 3.0))
    192.0
    """
    if not (callable(cond_fun) and callable(body_fun)):
        raise TypeError("xcore.lax.while_loop: cond_fun and body_fun must be functions.")
    if progress:
        return _with_bar(
            cond_fun, body_fun, init_val, progress, max_steps=max_steps, checkpoints=checkpoints
        )
    if config.settings().disable_jit:
        try:
            return _run_in_python(cond_fun, body_fun, init_val, max_steps)
        except errors.ConcretizationError:
            pass  # under vmap whether to go on differs
    if max_steps is not None:
        return _with_counter(cond_fun, body_fun, init_val, max_steps, checkpoints)
    test, body, init, structure, weak = trace_loop("lax.while_loop", cond_fun, body_fun, init_val)
    outs = bind(
        while_op, *test.captured, *body.captured, *init, cond=test.program, body=body.program,
        counts=(len(test.captured), len(body.captured)), checkpoints=int(checkpoints or 0),
    )  # fmt: skip
    return tree.unflatten(structure, weakened_where(weak, outs))


def _run_in_python(cond_fun, body_fun, val, max_steps):
    step = 0
    while (max_steps is None or step < max_steps) and cond_fun(val):
        val, step = body_fun(val), step + 1
    return tree.map(lambda x: to_user(to_value(x)), val)


def _of_carry(name: str, f, val):
    return called("lax.while_loop", name, "one argument, the carry", f, val)


def _with_bar(cond_fun, body_fun, init_val, progress, **options):
    """The same loop with a progress bar."""
    bar = Bar(progress, None)

    def step(state):
        shown, val = state
        return bar.step(shown), _of_carry("body_fun", body_fun, val)

    shown, val = while_loop(
        lambda state: _of_carry("cond_fun", cond_fun, state[1]),
        step,
        (bar.start(), init_val),
        **options,
    )
    bar.stop(shown)
    return val


def _with_counter(cond_fun, body_fun, init_val, max_steps, checkpoints):
    """The same loop with the number of its step in the carry."""

    def test(state):
        i, val = state
        return ops.and_(
            ops.lt(i, np.int32(max_steps)), to_value(_of_carry("cond_fun", cond_fun, val))
        )

    def step(state):
        i, val = state
        return ops.add(i, np.int32(1)), _of_carry("body_fun", body_fun, val)

    return while_loop(test, step, (np.int32(0), init_val), checkpoints=checkpoints)[1]
