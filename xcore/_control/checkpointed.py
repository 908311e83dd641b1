"""Reverse mode through ``while``: online checkpointing with a fixed number of stored carries.

The number of steps N is not known, so checkpoints are placed while the loop runs: every carry whose
step is a multiple of a stride is kept; when the K places are full the stride doubles, and carries
off the new grid are overwritten. Backwards, the carry before step i is recomputed from the last
checkpoint at or before i; on the way new checkpoints are put into places that have become free,
each halving the distance, so a carry is recomputed about log2(N/K) times. The memory is K carries
whatever N is.

The idea of the doubling grid: P. Stumm, A. Walther, "New algorithms for optimal online
checkpointing", SIAM J. Sci. Comput. 32 (2010); of refilling freed places: Q. Wang, P. Moin,
G. Iaccarino, "Minimal repetition dynamic checkpointing", SIAM J. Sci. Comput. 31 (2009).
"""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .._core import ArrayType, bind, dtypes, eval_program, trace_closed, typeof
from .._transforms.programs import fill, linearize_program, marked, transpose_program
from .._transforms.transpose import instantiate
from .linear_call import linear_call_op

_INT = ArrayType((), dtypes.int32)
_ONE = np.int32(1)


# The places


def _full(t: ArrayType, value):
    return ops.full_like_type(t, value)


def _write(stack, row, place, when):
    """The stack of carries with one place overwritten when the condition holds."""
    t = typeof(row)
    starts = [place, *[np.int32(0)] * t.ndim]
    new = ops.reshape(row, shape=(1, *t.shape))
    old = ops.dynamic_slice(stack, *starts, sizes=(1, *t.shape))
    return ops.dynamic_update_slice(stack, ops.select(when, new, old), *starts)


def _read(stack, place):
    t = typeof(stack)
    starts = [place, *[np.int32(0)] * (t.ndim - 1)]
    row = ops.dynamic_slice(stack, *starts, sizes=(1, *t.shape[1:]))
    return ops.reshape(row, shape=t.shape[1:])


def _spread(x, like):
    return ops.broadcast_in_dim(x, shape=typeof(like).shape, dims=())


def _store(steps, stacks, carry, step, free, when):
    """Put a carry and its step number into the first free place."""
    place = ops.argmax(free, axis=0, dtype=dtypes.int32)
    steps = _write(steps, step, place, when)
    return steps, [_write(s, x, place, when) for s, x in zip(stacks, carry, strict=True)]


def _any(flags):
    return ops.reduce_or(flags, axes=(0,))


def _stack_type(t: ArrayType, k: int) -> ArrayType:
    return ArrayType((k, *t.shape), t.dtype)


# Running forward


def _record(steps, stacks, carry, i, stride):
    """Keep the carry before step i if i is on the grid; a full store doubles the stride first."""
    on_grid = ops.eq(ops.rem(i, stride), np.int32(0))
    free = _off_grid(steps, stride)
    full = ops.and_(on_grid, ops.not_(_any(free)))
    stride = ops.select(full, ops.mul(stride, np.int32(2)), stride)
    free = _off_grid(steps, stride)
    keep = ops.eq(ops.rem(i, stride), np.int32(0))
    return (*_store(steps, stacks, carry, i, free, keep), stride)


def _off_grid(steps, stride):
    """Places never used, or whose step is not on the grid."""
    zero = _full(typeof(steps), 0)
    return ops.or_(ops.lt(steps, zero), ops.ne(ops.rem(steps, _spread(stride, steps)), zero))


def _run_forward(while_op, cc, bc, init, cond, body, k: int):
    """The loop, with checkpoints: (last carry, number of steps, step numbers, stacks)."""
    n, n_cc, n_bc = len(init), len(cc), len(bc)
    types = [typeof(x) for x in init]
    stack_types = [_stack_type(t, k) for t in types]
    steps_type = ArrayType((k,), dtypes.int32)

    def step(*args):
        consts, (i, stride, steps), rest = args[:n_bc], args[n_bc : n_bc + 3], args[n_bc + 3 :]
        stacks, carry = list(rest[:n]), list(rest[n:])
        steps, stacks, stride = _record(steps, stacks, carry, i, stride)
        return [ops.add(i, _ONE), stride, steps, *stacks, *eval_program(body, [*consts, *carry])]

    def test(*args):
        return eval_program(cond, [*args[:n_cc], *args[n_cc + 3 + n :]])

    state_types = [_INT, _INT, steps_type, *stack_types, *types]
    outs = bind(
        while_op, *cc, *bc, np.int32(0), np.int32(1), _full(steps_type, -1), *[_full(t, 0) for t in stack_types],
        *init, cond=trace_closed(test, [*map(typeof, cc), *state_types], cond.name),
        body=trace_closed(step, [*map(typeof, bc), *state_types], body.name), counts=(n_cc, n_bc),
        checkpoints=k,
    )  # fmt: skip
    return outs[3 + n :], outs[0], outs[2], outs[3 : 3 + n]


# Running backwards


def _next_stop(p, i, free):
    """Where to put the next checkpoint between p and i: everywhere if the places suffice, else halfway."""
    distance = ops.sub(i, p)
    places = ops.reduce_sum(ops.convert(free, dtype=dtypes.int32), axes=(0,))
    half = ops.max(ops.div(ops.add(distance, _ONE), np.int32(2)), _ONE)
    plenty = ops.ge(places, ops.sub(distance, _ONE))
    gap = ops.select(plenty, _ONE, half)
    gap = ops.select(ops.eq(places, np.int32(0)), distance, gap)
    return ops.add(p, gap)


def _beyond(steps, i):
    """Places that are free when the carry before step i is wanted."""
    return ops.or_(ops.lt(steps, _full(typeof(steps), 0)), ops.gt(steps, _spread(i, steps)))


def _recompute(while_op, bc, body, i, steps, stacks):
    """The carry before step i, and the places with what was stored on the way."""
    n, n_bc = len(stacks), len(bc)
    usable = ops.select(_beyond(steps, i), _full(typeof(steps), -1), steps)
    place = ops.argmax(usable, axis=0, dtype=dtypes.int32)
    start = _read(steps, place)
    carry = [_read(s, place) for s in stacks]
    stop = _next_stop(start, i, _beyond(steps, i))

    def step(*args):
        consts, (p, i, stop, steps), rest = args[:n_bc], args[n_bc : n_bc + 4], args[n_bc + 4 :]
        stacks, carry = rest[:n], eval_program(body, [*consts, *rest[n:]])
        p = ops.add(p, _ONE)
        free = _beyond(steps, i)
        arrived = ops.and_(ops.eq(p, stop), _any(free))
        steps, stacks = _store(steps, stacks, carry, p, free, arrived)
        stop = ops.select(arrived, _next_stop(p, i, _beyond(steps, i)), stop)
        return [p, i, stop, steps, *stacks, *carry]

    types = [_INT, _INT, _INT, typeof(steps), *map(typeof, stacks), *map(typeof, carry)]
    outs = bind(
        while_op, *bc, start, i, stop, steps, *stacks, *carry,
        cond=trace_closed(lambda *args: [ops.lt(args[0], args[1])], types, "recompute"),
        body=trace_closed(step, [*map(typeof, bc), *types], "recompute"), counts=(0, n_bc),
        checkpoints=typeof(steps).shape[0],
    )  # fmt: skip
    return outs[4 + n :], outs[3], outs[4 : 4 + n]


def _backward(while_op, bc, body, const_nonzero, carry_nonzero, count, steps, stacks, cts):
    """Cotangents of the differentiated constants and of the first carry, from those of the last."""
    n_bc, n = len(bc), len(stacks)
    done = linearize_program(body, (*const_nonzero, *carry_nonzero))
    transposed = transpose_program(done.linear, done.count + len(done.kept))
    active_types = marked(body.out_types, carry_nonzero)
    sums = [ops.zeros(typeof(c).strong()) for c in marked(bc, const_nonzero)]

    def step(*args):
        consts, (i, steps), rest = args[:n_bc], args[n_bc : n_bc + 2], args[n_bc + 2 :]
        stacks, sums, cts = (
            rest[:n],
            rest[n : n + sum(const_nonzero)],
            rest[n + sum(const_nonzero) :],
        )
        i = ops.sub(i, _ONE)
        carry, steps, stacks = _recompute(while_op, consts, body, i, steps, stacks)
        inputs = [*consts, *carry]
        residuals = done.residuals(eval_program(done.primal, inputs), inputs)
        used = [ct for ct, m in zip(fill(cts, carry_nonzero), done.nonzero_out, strict=True) if m]
        found = eval_program(transposed, [*residuals, *used])
        new_sums = [ops.add(a, b) for a, b in zip(sums, found[: len(sums)], strict=True)]
        # a part of the carry that does not depend on differentiated ones has no further cotangent
        return [i, steps, *stacks, *new_sums, *found[len(sums) :]]

    types = [
        _INT,
        typeof(steps),
        *map(typeof, stacks),
        *map(typeof, sums),
        *[t.strong() for t in active_types],
    ]
    outs = bind(
        while_op, *bc, count, steps, *stacks, *sums, *cts,
        cond=trace_closed(lambda *args: [ops.gt(args[0], np.int32(0))], types, "backwards"),
        body=trace_closed(step, [*map(typeof, bc), *types], "backwards"), counts=(0, n_bc),
        checkpoints=typeof(steps).shape[0],
    )  # fmt: skip
    return outs[2 + n :]


# The linearization


def _nonzero_carry(body, const_nonzero, start_nonzero):
    carry_nonzero = list(start_nonzero)
    while True:
        found = linearize_program(body, (*const_nonzero, *carry_nonzero)).nonzero_out
        wider = [a or b for a, b in zip(carry_nonzero, found, strict=True)]
        if wider == carry_nonzero:
            return carry_nonzero
        carry_nonzero = wider


def linearize_loop(while_op, primals, nonzero, cond, body, counts, checkpoints: int):
    """The linearize rule of ``while``: results, and a tangent function that can be transposed."""
    n_cc, n_bc = counts
    cc, bc, init = primals[:n_cc], primals[n_cc : n_cc + n_bc], primals[n_cc + n_bc :]
    const_nonzero, start_nonzero = nonzero[n_cc : n_cc + n_bc], nonzero[n_cc + n_bc :]
    carry_nonzero = _nonzero_carry(body, const_nonzero, start_nonzero)
    outs, count, steps, stacks = _run_forward(while_op, cc, bc, init, cond, body, checkpoints)
    residuals = [*cc, *bc, *init, count, steps, *stacks]
    n, n_res = len(init), len(residuals)
    const_types = [typeof(c).strong() for c in marked(bc, const_nonzero)]
    carry_types = [typeof(x).strong() for x in marked(init, carry_nonzero)]
    res_types = [typeof(r) for r in residuals]

    def split(args):
        at = [n_cc, n_cc + n_bc, n_cc + n_bc + n]
        return (
            args[: at[0]],
            args[at[0] : at[1]],
            args[at[1] : at[2]],
            args[at[2] : n_res],
            args[n_res:],
        )

    def push(*args):
        """Forward mode: run the loop again beside its tangent."""
        cc, bc, init, _, ts = split(args)
        c_dots, i_dots = (
            fill(ts[: len(const_types)], const_nonzero),
            fill(ts[len(const_types) :], carry_nonzero),
        )
        rule = while_op.rule("jvp")
        found = rule(
            [*cc, *bc, *init],
            [*[None] * n_cc, *c_dots, *i_dots],
            cond=cond,
            body=body,
            counts=counts,
        )[1]
        return [
            instantiate(t, x)
            for t, x in zip(marked(found, carry_nonzero), carry_types, strict=True)
        ]

    def pull(*args):
        _, bc, _, (count, steps, *stacks), cts = split(args)
        return _backward(
            while_op, bc, body, const_nonzero, carry_nonzero, count, steps, stacks, cts
        )

    def tangent_fn(*tangents):
        c_dots = marked(tangents[n_cc : n_cc + n_bc], const_nonzero)
        i_dots = [
            instantiate(tangents[n_cc + n_bc + k], typeof(init[k]))
            for k, m in enumerate(carry_nonzero)
            if m
        ]
        found = linear_call_op(
            *residuals, *c_dots, *i_dots, count=n_res,
            forward=trace_closed(push, [*res_types, *const_types, *carry_types], "push"),
            backward=trace_closed(pull, [*res_types, *carry_types], "pull"),
        )  # fmt: skip
        return fill(found, carry_nonzero)

    return outs, tangent_fn
