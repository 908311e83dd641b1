"""A loop whose batch elements, under vmap, stop on their own and then cost nothing any more.

Without a batch it is a ``while_loop``. Of a batch, some batch elements at a time are worked on: those that are running
are gathered, advanced together until a quarter of them has stopped, and put back. So the work is the
sum of their steps, not the size of the batch times the steps of the slowest, and what is worked on stays
in the cache. An accelerator works on all of a large batch until few are running, and then on those alone: to it
a step of some thousands is as long as one of a single batch element.
"""

from __future__ import annotations

import functools

import numpy as np

from .. import _ops as ops
from .._core import Alternative, Op, bind, config, dtypes, eval_program, trace_closed, tree, typeof
from .._cpu.width import most_at_once
from .._ops import GatherDims, ScatterDims, broadcast
from .._transforms.programs import batch_program, batched_type
from .call import call
from .carry import merge_captured, weakened_where
from .while_loop import trace_loop, while_loop, while_op

FEWER = 16  # what an accelerator leaves the others behind for: a 16th of them
LARGE = 1 << 24  # bytes of a state: a step of less takes hardly longer than its start

# Programs: ``test``: (constants, state) -> whether to go on; ``body``: (constants, state) -> state.
# ``size`` is 0, or that of the leading axis of the state and of the constants that ``mapped`` marks.


def _loop_program(types, *, test, body, count, size, mapped, widths=None):
    """The loop as a program of other operations.

    ``widths``: of how many batch elements steps are, all of them and then fewer and fewer; by default one number,
    which all are worked on in turn by.
    """

    def make():
        if not size:
            return trace_closed(lambda *args: _unbatched(args, test, body, count), types, body.name)
        if widths is None:
            run = functools.partial(_in_chunks, width=_width(types, count, size, mapped))
        else:
            run = functools.partial(_shrinking_batch, widths=widths)

        def sized(n):
            marks = [*mapped, *[True] * (len(types) - count)]
            every = [True] * len(body.outputs)
            return batch_program(test, n, marks, [True])[0], batch_program(body, n, marks, every)[0]

        return trace_closed(
            lambda *args: run(list(args[:count]), list(args[count:]), mapped, sized),
            types, body.name,
        )  # fmt: skip

    return body.memo(("per element", test.fingerprint, size, mapped, widths), make)


def _width(types, count: int, size: int, mapped) -> int:
    return most_at_once(size, _bytes_of_one(types, count, size, mapped))


def _widths(types, count: int, size: int, mapped) -> tuple[int, ...]:
    """Of how many batch elements an accelerator's steps are, in turn."""
    one, widths = _bytes_of_one(types, count, size, mapped), [size]
    while widths[-1] * one > LARGE and widths[-1] >= FEWER:
        widths.append(widths[-1] // FEWER)
    return tuple(widths)


def _bytes_of_one(types, count: int, size: int, mapped) -> int:
    of_element = [*types[count:], *[t for t, s in zip(types[:count], mapped) if s]]
    return sum(t.size // size * t.dtype.itemsize for t in of_element)


def _unbatched(args, test, body, count):
    consts, state = args[:count], args[count:]
    return bind(
        while_op, *consts, *consts, *state, cond=test, body=body, counts=(count, count),
        checkpoints=0,
    )  # fmt: skip


def _in_chunks(consts, state, mapped, sized, width: int):
    running = eval_program(sized(_batch_size(state))[0], [*consts, *state])[0]
    if width == _batch_size(state):
        return _advance(consts, state, running, _int32(0), *sized(width))[0]

    def advance_chunk(carry):
        state, running = carry
        positions = _first(running, width)
        mine = _take(running, positions)
        busy = _count(mine)
        waiting = ops.gt(_count(running), busy)
        quarter = ops.max(ops.div(busy, _int32(4)), _int32(1))
        stop_at = ops.select(waiting, ops.sub(busy, quarter), _int32(0))
        own = _take_elements(consts, state, mapped, positions)
        own, mine = _advance(*own, mine, stop_at, *sized(width))
        return [_put_back(x, positions, y) for x, y in zip(state, own)], _put_back(
            running, positions, mine
        )

    any_runs = lambda c: ops.reduce_or(c[1], axes=(0,))  # noqa: E731
    return while_loop(any_runs, advance_chunk, (state, running), checkpoints=0)[0]


def _shrinking_batch(consts, state, mapped, sized, widths):
    width, *fewer = widths
    running = eval_program(sized(width)[0], [*consts, *state])[0]
    left = fewer[0] if fewer else 0
    state, running = _advance(consts, state, running, _int32(left), *sized(width))
    if not left:
        return state
    positions = _first(running, left)
    own = _shrinking_batch(*_take_elements(consts, state, mapped, positions), mapped, sized, fewer)
    return [_put_back(x, positions, y) for x, y in zip(state, own)]


def _batch_size(state) -> int:
    return typeof(state[0]).shape[0]


def _take_elements(consts, state, mapped, positions):
    """(constants, state) of some batch elements."""
    own = [_take(c, positions) if s else c for c, s in zip(consts, mapped)]
    return own, [_take(x, positions) for x in state]


def _int32(k: int):
    return ops.constant(np.int32(k))


def _count(running):
    return ops.reduce_sum(ops.convert(running, dtype=dtypes.int32), axes=(0,))


def _first(running, width: int):
    """The positions of batch elements, (width, 1): of those that run first, in order."""
    numbers = ops.iota(shape=typeof(running).shape, dtype=dtypes.int32, axis=0)
    _, order = ops.sort(ops.not_(running), numbers, axis=0, num_keys=1)
    positions = ops.slice(order, start=(0,), limit=(width,), strides=(1,))
    return ops.reshape(positions, shape=(width, 1))


def _take(x, positions):
    rest = typeof(x).shape[1:]
    dims = GatherDims(tuple(range(1, len(rest) + 1)), (0,), (0,))
    return ops.gather(x, positions, dims=dims, sizes=(1, *rest), mode="promise", unique=True)


def _put_back(x, positions, rows):
    dims = ScatterDims(tuple(range(1, typeof(x).ndim)), (0,), (0,))
    return ops.scatter(x, positions, rows, dims=dims, how="set", mode="promise", unique=True)


def _advance(consts, state, running, stop_at, test, body):
    """Steps of the batch elements that run, until at most ``stop_at`` of them do."""

    def step(carry):
        state, running = carry
        new = eval_program(body, [*consts, *state])
        kept = [_where(running, a, b) for a, b in zip(new, state)]
        return kept, ops.and_(running, eval_program(test, [*consts, *kept])[0])

    go_on = lambda c: ops.gt(_count(c[1]), stop_at)  # noqa: E731
    return while_loop(go_on, step, (state, running), checkpoints=0)


def _where(running, new, old):
    t = typeof(old)
    return ops.select(ops.broadcast_in_dim(running, shape=t.shape, dims=(0,)), new, old)


def _batch(outer_size, args, batched, *, test, body, count, size, mapped, axis_name=None):
    if axis_name is not None:  # the batch elements may speak to each other: they stay side by side
        p = _loop_program([typeof(a) for a in args], test=test, body=body, count=count, size=size,
                          mapped=mapped)  # fmt: skip
        return call.rule("batch")(outer_size, args, batched, program=p, axis_name=axis_name)
    inner = max(size, 1)

    def flat(x, is_batched, has_axis):
        x = x if is_batched else broadcast(x, outer_size)
        own = typeof(x).shape[1 + bool(has_axis) :]
        if size and not has_axis:
            dims = (0, *range(2, 2 + len(own)))
            x = ops.broadcast_in_dim(x, shape=(outer_size, inner, *own), dims=dims)
        return ops.reshape(x, shape=(outer_size * inner, *own)) if size else x

    marks = [*mapped, *[bool(size)] * (len(args) - count)]
    wide = [b or m for b, m in zip(batched, marks)]
    wide[count:] = [True] * (len(args) - count)
    given = [flat(x, b, m) if w else x for x, b, m, w in zip(args, batched, marks, wide)]
    outs = bind(
        per_element_op, *given, test=test, body=body, count=count, size=outer_size * inner,
        mapped=tuple(wide[:count]),
    )  # fmt: skip
    if size:
        outs = [ops.reshape(x, shape=(outer_size, inner, *typeof(x).shape[1:])) for x in outs]
    return outs, [True] * len(outs)


def _types(*types, test, body, count, size, mapped):
    return [batched_type(t, size) for t in body.out_types] if size else body.out_types


def _as_call(name):
    """The rule of a call of the loop's program."""

    def rule(primals, other, **params):
        program = _loop_program([typeof(a) for a in primals], **params)
        return call.rule(name)(primals, other, program=program)

    return rule


def _lower(ctx, *values, size, **params):
    widths = _widths(ctx.in_types, params["count"], size, params["mapped"]) if size else None
    return ctx.program(_loop_program(ctx.in_types, size=size, widths=widths, **params), values)


def _lower_in_chunks(ctx, *values, **params):
    return ctx.program(_loop_program(ctx.in_types, **params), values)


per_element_op = Op(
    "while_per_element",
    type=_types,
    lower=_lower,
    alternatives=[Alternative(lambda ctx, *types, size, **_: size > 0, _lower_in_chunks)],
    jvp=_as_call("jvp"),
    batch=_batch,
    many=True,
    nested=True,
    steps=lambda run, *args, **params: run(
        _loop_program([typeof(a) for a in args], **params), args
    ),
)


def while_per_element(who: str, going, step, state):
    """``while_loop(going, step, state)``; under vmap batch elements that have stopped cost nothing."""
    if config.settings().disable_jit:
        return while_loop(going, step, state)
    test, body, init, structure, weak = trace_loop(who, going, step, state)
    if test.program.effects or body.program.effects:
        return while_loop(going, step, state, checkpoints=0)
    (test, body), captured = merge_captured([test, body])
    outs = bind(
        per_element_op, *captured, *init, test=test, body=body, count=len(captured), size=0,
        mapped=(False,) * len(captured),
    )  # fmt: skip
    return tree.unflatten(structure, weakened_where(weak, outs))
