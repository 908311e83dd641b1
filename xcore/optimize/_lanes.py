"""A loop whose batch elements, under vmap, stop on their own and then cost nothing any more.

Alone it is a ``while_loop``. Of a batch, some batch elements at a time are worked on: those that are running
are gathered, advanced together until a quarter of them has stopped, and put back. So the work is the
sum of their steps, not the size of the batch times the steps of the slowest, and what is worked on stays
in the cache.
"""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control.call import call
from .._control.carry import merge_captured, weakened_where
from .._control.while_loop import trace_loop, while_loop, while_op
from .._core import config, tree
from .._core.devices import default_backend
from .._core.op import Op
from .._core.program import eval_program, trace_closed
from .._core.trace import bind
from .._core.types import typeof
from .._ops.families import broadcast
from .._transforms.programs import batch_program, batched_type

CACHE = 1 << 18  # bytes of the batch elements that are worked on together
WIDTHS = (16, 256)  # the least and the largest number of them

# Programs: ``test``: (constants, state) -> whether to go on; ``body``: (constants, state) -> state.
# ``lanes`` is 0, or the size of the leading axis of the state and of the constants that ``spread`` marks.


def _loop_program(types, *, test, body, count, lanes, spread):
    """The loop as a program of other operations."""

    def make():
        if not lanes:
            return trace_closed(lambda *args: _alone(args, test, body, count), types, body.name)

        def sized(size):
            marks = [*spread, *[True] * (len(types) - count)]
            every = [True] * len(body.outputs)
            return batch_program(test, size, marks, [True])[0], batch_program(
                body, size, marks, every
            )[0]

        return trace_closed(
            lambda *args: _together(list(args[:count]), list(args[count:]), spread, sized),
            types, body.name,
        )  # fmt: skip

    return body.memo(("lanes", id(test), lanes, spread), make)


def _alone(args, test, body, count):
    consts, state = args[:count], args[count:]
    return bind(
        while_op, *consts, *consts, *state, cond=test, body=body, counts=(count, count),
        checkpoints=0,
    )  # fmt: skip


def _width(lanes: int, values) -> int:
    """How many batch elements to work on together."""
    if default_backend() != "cpu":
        return lanes
    size = sum(typeof(x).size // lanes * typeof(x).dtype.itemsize for x in values)
    fits = 1 << max(CACHE // max(size, 1), 1).bit_length() - 1
    return min(lanes, max(WIDTHS[0], min(WIDTHS[1], fits)))


def _together(consts, state, spread, sized):
    lanes = typeof(state[0]).shape[0]
    width = _width(lanes, [*state, *[c for c, s in zip(consts, spread) if s]])
    running = eval_program(sized(lanes)[0], [*consts, *state])[0]
    if width == lanes:
        return _advance(consts, state, running, np.int32(0), *sized(lanes))[0]
    few = sized(width)

    def turn(carry):
        state, running = carry
        chosen = xnp.argsort(~running, stable=True)[:width]
        own_consts = [c[chosen] if s else c for c, s in zip(consts, spread)]
        own, mine = [x[chosen] for x in state], running[chosen]
        busy = xnp.sum(mine)
        waiting = xnp.sum(running) > busy
        enough = xnp.where(waiting, busy - xnp.maximum(busy // 4, 1), 0)
        own, mine = _advance(own_consts, own, mine, enough, *few)
        put = [x.at[chosen].set(y, unique_indices=True) for x, y in zip(state, own)]
        return put, running.at[chosen].set(mine, unique_indices=True)

    return while_loop(lambda c: xnp.any(c[1]), turn, (state, running), checkpoints=0)[0]


def _advance(consts, state, running, enough, test, body):
    """Steps of the batch elements that run, until at most ``enough`` of them do."""

    def step(carry):
        state, running = carry
        new = eval_program(body, [*consts, *state])
        kept = [_where(running, a, b) for a, b in zip(new, state)]
        return kept, running & eval_program(test, [*consts, *kept])[0]

    return while_loop(lambda c: xnp.sum(c[1]) > enough, step, (state, running), checkpoints=0)


def _where(running, new, old):
    t = typeof(old)
    return ops.select(ops.broadcast_in_dim(running, shape=t.shape, dims=(0,)), new, old)


def _batch(size, args, batched, *, test, body, count, lanes, spread, axis_name=None):
    if axis_name is not None:  # the batch elements may speak to each other: they stay side by side
        p = _loop_program([typeof(a) for a in args], test=test, body=body, count=count, lanes=lanes,
                          spread=spread)  # fmt: skip
        return call.rule("batch")(size, args, batched, program=p, axis_name=axis_name)
    inner = max(lanes, 1)

    def flat(x, is_batched, has_lanes):
        x = x if is_batched else broadcast(x, size)
        own = typeof(x).shape[1 + bool(has_lanes) :]
        if lanes and not has_lanes:
            x = xnp.broadcast_to(xnp.expand_dims(x, 1), (size, inner, *own))
        return ops.reshape(x, shape=(size * inner, *own)) if lanes else x

    marks = [*spread, *[bool(lanes)] * (len(args) - count)]
    wide = [b or m for b, m in zip(batched, marks)]
    wide[count:] = [True] * (len(args) - count)
    given = [flat(x, b, m) if w else x for x, b, m, w in zip(args, batched, marks, wide)]
    outs = bind(
        lanes_op, *given, test=test, body=body, count=count, lanes=size * inner,
        spread=tuple(wide[:count]),
    )  # fmt: skip
    if lanes:
        outs = [ops.reshape(x, shape=(size, inner, *typeof(x).shape[1:])) for x in outs]
    return outs, [True] * len(outs)


def _types(*types, test, body, count, lanes, spread):
    return [batched_type(t, lanes) for t in body.out_types] if lanes else body.out_types


def _as_call(name):
    """The rule of a call of the loop's program."""

    def rule(primals, other, **params):
        program = _loop_program([typeof(a) for a in primals], **params)
        return call.rule(name)(primals, other, program=program)

    return rule


def _lower(ctx, *values, **params):
    return ctx.program(_loop_program(ctx.in_types, **params), values)


lanes_op = Op(
    "lanes",
    type=_types,
    lower=_lower,
    jvp=_as_call("jvp"),
    batch=_batch,
    many=True,
    nested=True,
    steps=lambda run, *args, **params: run(
        _loop_program([typeof(a) for a in args], **params), args
    ),
)


def while_lanes(who: str, going, step, state):
    """``while_loop(going, step, state)``; under vmap batch elements that have stopped cost nothing."""
    if config.settings().disable_jit:
        return while_loop(going, step, state)
    test, body, init, structure, weak = trace_loop(who, going, step, state)
    if test.program.effects or body.program.effects:
        return while_loop(going, step, state, checkpoints=0)
    (test, body), captured = merge_captured([test, body])
    outs = bind(
        lanes_op, *captured, *init, test=test, body=body, count=len(captured), lanes=0,
        spread=(False,) * len(captured),
    )  # fmt: skip
    return tree.unflatten(structure, weakened_where(weak, outs))
