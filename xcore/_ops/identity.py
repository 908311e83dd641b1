"""Operations that return what they are given: marks for derivatives and for the compiler."""

from __future__ import annotations

from .._core import Linear, Op, typeof
from .families import ALL, ZERO, elementwise, zeros

stop_gradient = elementwise("stop_gradient", kinds=ALL, jvp=ZERO, lower=lambda ctx, x: x)

# A name that policies of ``checkpoint`` speak of. Policies are about values: tangents have none.
name_op = Op(
    "name",
    type=lambda x, *, name: [x],
    lower=lambda ctx, x, *, name: x,
    jvp=lambda primals, tangents, **params: ([name_op(*primals, **params)], tangents),
    transpose=lambda cotangents, x, **params: cotangents,
    batch=lambda size, args, batched, **params: ([name_op(*args, **params)], [True]),
)

# Nothing is moved across it: the compiler neither merges computations on its two sides nor starts
# one on the far side before all operands are there.


def _barrier_lower(ctx, *xs):
    return ctx.barrier(ctx.outs(), list(xs)) if xs else []


def _barrier_jvp(primals, tangents):
    known = [t for t in tangents if t is not None]
    moved = iter(optimization_barrier(*known))
    return optimization_barrier(*primals), [None if t is None else next(moved) for t in tangents]


def _barrier_transpose(cotangents, *args):
    wanted = [isinstance(a, Linear) for a in args]
    cts = [
        zeros(typeof(a).strong()) if ct is None else ct
        for ct, a, w in zip(cotangents, args, wanted, strict=True) if w
    ]  # fmt: skip
    moved = iter(optimization_barrier(*cts))
    return [next(moved) if w else None for w in wanted]


optimization_barrier = Op(
    "optimization_barrier",
    type=lambda *xs: list(xs),
    lower=_barrier_lower,
    jvp=_barrier_jvp,
    transpose=_barrier_transpose,
    batch=lambda size, args, batched: (optimization_barrier(*args), batched),
    many=True,
)
