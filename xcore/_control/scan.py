"""``scan``: a loop with a known number of steps that carries a state, reads slices and writes slices."""

from __future__ import annotations

import functools

import numpy as np

from .._core import (
    ArrayType,
    Linear,
    Op,
    bind,
    dtypes,
    eval_program,
    from_numpy,
    trace_closed,
    typeof,
)
from .._ops import add, broadcast, transpose, zeros
from .._transforms.programs import (
    batch_program,
    fill,
    jvp_program,
    linearize_program,
    marked,
    split_program,
    zeros_for,
)  # fmt: skip
from .._transforms.transpose import instantiate, transpose_under_trace
from .call import linear_last

# Arguments of the operation: constants, carry, xs (arrays of ``length`` slices). The body is a
# program (constants, carry, slices) -> (carry, slices of ys). ``counts`` = number of constants and
# of carry parts. ``linear`` says which arguments a scan made by linearization is linear in; it is
# stated, not guessed, because a tangent that starts at zero is an ordinary value.


class Scan:
    """The static part of a scan."""

    __slots__ = ("body", "counts", "length", "linear", "reverse", "unroll")

    def __init__(self, body, counts, length, reverse=False, unroll=1, linear=None):
        self.body, self.counts, self.length = body, counts, length
        self.reverse, self.unroll, self.linear = reverse, unroll, linear

    def split(self, args):
        nc, nk = self.counts
        return list(args[:nc]), list(args[nc : nc + nk]), list(args[nc + nk :])

    def bind(self, *args) -> list:
        return bind(scan_op, *args, **{name: getattr(self, name) for name in self.__slots__})

    def like(self, body, counts, linear=None, reverse=None) -> Scan:
        flip = self.reverse if reverse is None else reverse
        return Scan(body, counts, self.length, flip, self.unroll, linear)


def _type(*types, body, counts, length, reverse=False, unroll=1, linear=None):
    nk = counts[1]
    stacked = [ArrayType((length, *t.shape), t.dtype) for t in body.out_types[nk:]]
    return [*body.out_types[:nk], *stacked]


# Lowering


def _lower(ctx, *values, body, counts, length, reverse=False, unroll=1, linear=None):
    s = Scan(body, counts, length, reverse, unroll)
    consts, carry, xs = s.split(values)
    nk = counts[1]
    out_types, in_types = ctx.out_types, ctx.in_types
    x_types = in_types[sum(counts) :]
    ys = [ctx.full(t, 0) for t in out_types[nk:]]
    i32 = ctx.tensor((), np.int32)
    n_carry, n_ys, n_xs = len(carry), len(ys), len(xs)

    def number(value):
        return ctx.constant(np.int32(value))

    def one_step(i, state, ys, xs, consts):
        position = ctx.one("stablehlo.subtract", i32, [number(length - 1), i]) if reverse else i
        slices = [_slice_at(ctx, x, t, position) for x, t in zip(xs, x_types, strict=True)]
        outs = ctx.program(body, [*consts, *state, *slices])
        types = out_types[nk:]
        ys = [
            _write_at(ctx, y, v, t, position) for y, v, t in zip(ys, outs[nk:], types, strict=True)
        ]
        return outs[:nk], ys

    def step(i, *state):
        kept = list(state[:n_carry])
        ys_, xs_ = (
            list(state[n_carry : n_carry + n_ys]),
            state[n_carry + n_ys : n_carry + n_ys + n_xs],
        )
        rest = state[n_carry + n_ys :]
        for k in range(unroll):
            here = i if k == 0 else ctx.one("stablehlo.add", i32, [i, number(k)])
            kept, ys_ = one_step(here, kept, ys_, xs_, rest[n_xs:])
        following = ctx.one("stablehlo.add", i32, [i, number(unroll)])
        return [following, *kept, *ys_, *rest]

    whole = length - length % unroll
    boolean = ctx.tensor((), bool)
    state = [number(0), *carry, *ys, *xs, *consts]
    if whole == unroll:  # as the compiler would do it: what is reshaped outside is seen inside
        state = step(*state)
    elif whole:
        state = ctx.while_(state, lambda i, *_: ctx.compare(i, number(whole), boolean, "LT"), step)
    kept, ys = state[1 : 1 + n_carry], state[1 + n_carry : 1 + n_carry + n_ys]
    for k in range(whole, length):
        kept, ys = one_step(number(k), kept, ys, xs, consts)
    return [*kept, *ys]


def _slice_at(ctx, x, t, i):
    zero = ctx.constant(np.int32(0))
    one = ctx.dynamic_slice(
        x, [i, *[zero] * (t.ndim - 1)], ctx.tensor((1, *t.shape[1:]), t.dtype), (1, *t.shape[1:])
    )
    return ctx.reshape(one, ctx.tensor(t.shape[1:], t.dtype))


def _write_at(ctx, y, value, t, i):
    zero = ctx.constant(np.int32(0))
    row = ctx.reshape(value, ctx.tensor((1, *t.shape[1:]), t.dtype))
    return ctx.dynamic_update_slice(y, row, [i, *[zero] * (t.ndim - 1)])


def _steps(run, *args, **params):
    s = Scan(**params)
    consts, carry, xs = s.split(args)
    order = range(s.length - 1, -1, -1) if s.reverse else range(s.length)
    rows = {}
    for i in order:
        outs = run(s.body, [*consts, *carry, *[from_numpy(np.asarray(x)[i]) for x in xs]])
        carry, rows[i] = outs[: len(carry)], outs[len(carry) :]
    types = _type(*map(typeof, args), **params)[len(carry) :]
    ys = [np.asarray([rows[i][k] for i in sorted(rows)], t.dtype) for k, t in enumerate(types)]
    return [*carry, *[from_numpy(y.reshape(t.shape)) for y, t in zip(ys, types, strict=True)]]


# Derivatives


def _nonzero_carry(transform, body, const_nonzero, start_nonzero, x_nonzero):
    """Which parts of the carry move, at the start or in some step; and which results do then."""
    nk = len(start_nonzero)
    carry_nonzero = list(start_nonzero)
    while True:
        nonzero_out = transform(body, (*const_nonzero, *carry_nonzero, *x_nonzero))
        wider = [a or b for a, b in zip(carry_nonzero, nonzero_out[:nk], strict=True)]
        if wider == carry_nonzero:
            return carry_nonzero, nonzero_out
        carry_nonzero = wider


def _jvp(primals, tangents, **params):
    s = Scan(**params)
    consts, carry, xs = s.split(primals)
    ct, kt, xt = s.split(tangents)
    cm, xm = [t is not None for t in ct], [t is not None for t in xt]
    km, nonzero_out = _nonzero_carry(
        lambda p, nz: jvp_program(p, nz)[1], s.body, cm, [t is not None for t in kt], xm
    )
    both, _ = jvp_program(s.body, (*cm, *km, *xm))
    nc, nk, nx = len(consts), len(carry), len(xs)
    c_dots, x_dots = marked(ct, cm), marked(xt, xm)
    k_dots = marked(zeros_for(kt, carry), km)
    n_cd, n_kd = len(c_dots), len(k_dots)

    def step(*args):
        it = _Taker(args)
        c, cd, k, kd, x, xd = (it.take(n) for n in (nc, n_cd, nk, n_kd, nx, len(x_dots)))
        outs = eval_program(both, [*c, *k, *x, *cd, *kd, *xd])
        n = len(s.body.outputs)
        dots = fill(outs[n:], nonzero_out)
        new_kd = [
            zeros(typeof(v).strong()) if t is None else t
            for t, v in zip(dots[:nk], outs[:nk], strict=True)
        ]
        return [
            *outs[:nk],
            *marked(new_kd, km),
            *outs[nk:n],
            *[t for t in dots[nk:] if t is not None],
        ]

    def strong(values):
        return [typeof(v).strong() for v in values]

    bt = s.body.in_types
    types = [
        *bt[:nc],
        *strong(c_dots),
        *bt[nc : nc + nk],
        *strong(k_dots),
        *bt[nc + nk :],
        *map(_row, x_dots),
    ]
    outs = s.like(trace_closed(step, types, s.body.name), (nc + n_cd, nk + n_kd)).bind(
        *consts, *c_dots, *carry, *k_dots, *xs, *x_dots
    )
    n_y = len(s.body.outputs) - nk
    it = _Taker(outs)
    k, kd, y, yd = it.take(nk), it.take(n_kd), it.take(n_y), it.take(len(outs))
    return [*k, *y], [*fill(kd, km), *fill(yd, nonzero_out[nk:])]


class _Taker:
    """Hands out a sequence in pieces."""

    def __init__(self, items):
        self.items, self.at = list(items), 0

    def take(self, n: int) -> list:
        found = self.items[self.at : self.at + n]
        self.at += len(found)
        return found


def _row(x) -> ArrayType:
    """The type of one slice."""
    t = typeof(x)
    return ArrayType(t.shape[1:], t.dtype)


def _linearize(primals, nonzero, *, parts_of=linearize_program, **params):
    s = Scan(**params)
    consts, carry, xs = s.split(primals)
    cm, k0, xm = s.split(nonzero)
    km, _ = _nonzero_carry(lambda p, nz: parts_of(p, nz).nonzero_out, s.body, cm, k0, xm)
    done = parts_of(s.body, (*cm, *km, *xm))
    nc, nk = s.counts
    n = len(s.body.outputs)
    # the primal scan, its residuals stacked; a residual that is a part of the carry is stacked too,
    # one that is a constant or a slice of xs is there already
    from_carry = [i for i in done.kept if nc <= i < nc + nk]

    def forward(*args):
        outs = eval_program(done.primal, args)
        return [*outs, *[args[i] for i in from_carry]]

    outs = s.like(trace_closed(forward, s.body.in_types, s.body.name), s.counts).bind(*primals)
    stacked = outs[n:]
    res_consts = [consts[i] for i in done.kept if i < nc]
    res_xs = [xs[i - nc - nk] for i in done.kept if i >= nc + nk]

    def tangent_fn(*tangents):
        ct, kt, xt = s.split(tangents)
        kt = marked(zeros_for(kt, carry), km)
        ct, xt = marked(ct, cm), marked(xt, xm)
        sizes = [len(ct), len(res_consts), len(kt), len(xt), len(stacked), len(res_xs)]

        def step(*args):
            it = _Taker(args)
            cd, rc, kd, xd, st, rx = (it.take(m) for m in sizes)
            st_computed, st_carry = st[: done.count], st[done.count :]
            sources = {"c": iter(rc), "k": iter(st_carry), "x": iter(rx)}
            kept = [
                next(sources["c" if i < nc else "k" if i < nc + nk else "x"]) for i in done.kept
            ]
            found = eval_program(done.linear, [*st_computed, *kept, *cd, *kd, *xd])
            dots = fill(found, done.nonzero_out)
            new = [
                zeros(t.strong()) if d is None else d
                for d, t in zip(dots[:nk], s.body.out_types[:nk], strict=True)
            ]  # fmt: skip
            return [*marked(new, km), *[d for d in dots[nk:] if d is not None]]

        rows = [*map(_row, xt), *map(_row, stacked), *map(_row, res_xs)]
        flat = [*ct, *res_consts, *kt]
        types = [typeof(v).strong() for v in flat] + rows
        linear = (
            *[True] * sizes[0], *[False] * sizes[1], *[True] * sizes[2], *[True] * sizes[3],
            *[False] * (sizes[4] + sizes[5]),
        )  # fmt: skip
        body = trace_closed(step, types, s.body.name)
        found = s.like(body, (sizes[0] + sizes[1], sizes[2]), linear).bind(
            *flat, *xt, *stacked, *res_xs
        )
        return [*fill(found[: sizes[2]], km), *fill(found[sizes[2] :], done.nonzero_out[nk:])]

    return outs[:n], tangent_fn


def _transpose_as_written(cotangents, args, unknown, params):
    """A scan of a user's, linear in some arguments: it is its own derivative, at zero."""
    types = [a.type.strong() for a in args if type(a) is Linear]
    if not all(dtypes.is_inexact(t.dtype) for t in types):
        raise NotImplementedError(
            "xcore.linear_transpose: a scan of integers is transposed where its whole carry depends on the arguments; "
            "here a part does not. Make it depend, or use floats."
        )
    at_zero = [zeros(a.type.strong()) if type(a) is Linear else a for a in args]
    tangents_of = _linearize(at_zero, unknown, **params)[1]
    moved = lambda *ts: tangents_of(*fill(ts, unknown))  # noqa: E731
    return fill(transpose_under_trace(moved, [], types, cotangents), unknown)


def _transpose(cotangents, *args, **params):
    s = Scan(**params)
    if s.linear is None:
        unknown = [type(a) is Linear for a in args]
        if not all(s.split(unknown)[1]):
            return _transpose_as_written(cotangents, args, unknown, params)
        s.linear = unknown
    nk = s.counts[1]
    given = s.linear  # only what linearization has made is transposed
    lc, lk, lx = s.split(given)
    assert all(lk), "part of the carry is not linear"
    consts, _, xs = s.split(args)
    res_c, res_x = (
        [c for c, m in zip(consts, lc, strict=True) if not m],
        [x for x, m in zip(xs, lx, strict=True) if not m],
    )
    body = linear_last(s.body, given)
    n_rc, n_rx = len(res_c), len(res_x)
    lin_types = body.in_types[n_rc + n_rx :]
    c_types, x_types = lin_types[: sum(lc)], lin_types[sum(lc) + nk :]
    y_types = s.body.out_types[nk:]

    # backwards: constants are residual constants; the carry holds the sums of the cotangents of the
    # linear constants, and the cotangent of the carry; slices are cotangents of ys and residuals
    def step(*args):
        it = _Taker(args)
        rc, sums, ck, cy, rx = (it.take(n) for n in (n_rc, len(c_types), nk, len(y_types), n_rx))
        found = transpose_under_trace(
            lambda *xs: eval_program(body, xs), [*rc, *rx], lin_types, [*ck, *cy]
        )
        cc, ck, cx = (
            found[: len(c_types)],
            found[len(c_types) : len(c_types) + nk],
            found[len(c_types) + nk :],
        )
        sums = [
            a if c is None else add(a, instantiate(c, t))
            for a, c, t in zip(sums, cc, c_types, strict=True)
        ]
        ck = [instantiate(c, t) for c, t in zip(ck, lin_types[len(c_types) :][:nk], strict=True)]
        cx = [instantiate(c, t) for c, t in zip(cx, x_types, strict=True)]
        return [*sums, *ck, *cx]

    types = [*map(typeof, res_c), *[t.strong() for t in c_types], *[t.strong() for t in s.body.out_types],
             *map(_row, res_x)]  # fmt: skip
    out_types = _type(*[typeof(a) for a in args], **params)
    cts = [instantiate(ct, t) for ct, t in zip(cotangents, out_types, strict=True)]
    back = s.like(
        trace_closed(step, types, s.body.name), (n_rc, len(c_types) + nk), reverse=not s.reverse
    )
    outs = back.bind(*res_c, *[zeros(t.strong()) for t in c_types], *cts[:nk], *cts[nk:], *res_x)
    it = _Taker(outs)
    return [*fill(it.take(sum(lc)), lc), *it.take(nk), *fill(it.take(sum(lx)), lx)]


# Batching


def _swap(x):
    """The two leading axes exchanged: batch elements and steps."""
    n = typeof(x).ndim
    return transpose(x, perm=(1, 0, *range(2, n)))


def _batch(size, args, batched, *, axis_name=None, **params):
    s = Scan(**params)
    nk = s.counts[1]
    consts, carry, xs = s.split(args)
    cb, had, xb = s.split(batched)
    kb = list(had)
    while True:
        force = (*kb, *[False] * (len(s.body.outputs) - nk))
        body, out_batched = batch_program(s.body, size, (*cb, *kb, *xb), force, axis_name)
        if out_batched[:nk] == kb:
            break
        kb = out_batched[:nk]
    carry = [
        broadcast(x, size) if w and not b else x for x, b, w in zip(carry, had, kb, strict=True)
    ]
    xs = [_swap(x) if b else x for x, b in zip(xs, xb, strict=True)]
    outs = s.like(body, s.counts, s.linear).bind(*consts, *carry, *xs)
    ys = [_swap(y) if b else y for y, b in zip(outs[nk:], out_batched[nk:], strict=True)]
    return [*outs[:nk], *ys], out_batched


# A state that goes along


def _threaded(threader, state, args, **params):
    """The state stands in front of the carry."""
    s = Scan(**params)
    consts, carry, xs = s.split(args)
    nc, n, types = len(consts), len(state), s.body.in_types
    body = threader.program(s.body)

    def step(*args):
        return eval_program(body, [*args[nc : nc + n], *args[:nc], *args[nc + n :]])

    body = trace_closed(step, [*types[:nc], *threader.types, *types[nc:]], s.body.name)
    linear = s.linear and (*s.linear[:nc], *[False] * n, *s.linear[nc:])
    outs = s.like(body, (nc, n + len(carry)), linear).bind(*consts, *state, *carry, *xs)
    return threader.split(outs)


scan_op = Op(
    "scan",
    type=_type,
    lower=_lower,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    linearize=_linearize,
    split=functools.partial(_linearize, parts_of=split_program),
    many=True,
    nested=True,
    effects=lambda body, **params: body.effects,
    steps=_steps,
    threaded=_threaded,
)
