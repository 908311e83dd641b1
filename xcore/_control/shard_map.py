"""``shard_map`` as an operation: a program that each device runs on its own part of arrays.

It holds the program of one device, and for each argument and result the PartitionSpec that says
which part a device has. A value whose spec does not mention an axis of the mesh is the same on all
devices along that axis. Derivatives follow from that:

- the cotangent of a result that devices share is divided among them, and
- the cotangents that devices have for an argument they share are added up.
"""

from __future__ import annotations

import contextlib
import functools
import math

import numpy as np

from .. import _ops as ops
from .._core import ArrayType, Linear, Op, PartitionSpec, bind, typeof
from .._core.layout import Manual
from .._core.program import Program, eval_program, trace_closed
from .._core.sharding import NamedSharding, shape_of_tile
from .._ops import collectives as c
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
from .._transforms.vmap import named_axis
from .call import linear_last
from .replication import varying


def local_type(t: ArrayType, mesh, spec) -> ArrayType:
    """The type of one device's part."""
    return t.with_shape(shape_of_tile(NamedSharding(mesh, spec), t.shape))


def _global_type(t: ArrayType, mesh, spec) -> ArrayType:
    counts = [mesh.size_of(names) for names in spec.axes(t.ndim)]
    return t.with_shape(tuple(n * k for n, k in zip(t.shape, counts, strict=True)))


def _missing(manual, spec) -> tuple:
    """The manual axes along which a value of this spec is the same."""
    return tuple(n for n in manual if n not in spec.names)


def _type(*types, program, mesh, manual, in_specs, out_specs):
    return [_global_type(t, mesh, s) for t, s in zip(program.out_types, out_specs, strict=True)]


# Lowering


def _lower(ctx, *values, program, mesh, manual, in_specs, out_specs):
    if ctx.partitions == 1:
        places = {name: ctx.constant(np.int32(0)) for name in manual}
        with ctx.inside(_manual(ctx, mesh, places)):
            return ctx.program(program, values)
    numbers = [ctx.constant(np.arange(mesh.shape[n], dtype=np.int32)) for n in manual]
    one, scalar = ctx.tensor((1,), np.int32), ctx.tensor((), np.int32)

    def axes(specs, types):
        return [
            ctx.axes_of(NamedSharding(mesh, s), t.ndim) for s, t in zip(specs, types, strict=True)
        ]

    def body(*parts):
        places = {n: ctx.reshape(x, scalar) for n, x in zip(manual, parts, strict=False)}
        with ctx.inside(_manual(ctx, mesh, places)):
            return ctx.program(program, parts[len(manual) :])

    inner = ctx.layout.names(mesh, manual)
    return ctx.manual_computation(
        [*numbers, *values],
        [ctx.axes_of(NamedSharding(mesh, PartitionSpec(n)), 1) for n in manual] + axes(in_specs, program.in_types),
        [one] * len(manual) + list(map(ctx.type, program.in_types)),
        ctx.outs(),
        axes(out_specs, program.out_types),
        list(map(str, inner)), body, further=len(inner) < len(ctx.layout.mesh.axis_names),
    )  # fmt: skip


def _manual(ctx, mesh, places: dict) -> Manual:
    """What holds inside, with what holds here already (a shard_map over other axes)."""
    outer = {} if ctx.manual is None else ctx.manual.places
    return Manual(mesh, {**outer, **places})


# Derivatives


def inside(mesh, manual) -> contextlib.ExitStack:
    """Where rules of users' functions in the program find its axes."""
    stack = contextlib.ExitStack()
    for name in manual:
        stack.enter_context(named_axis(name, mesh.shape[name]))
    return stack


def _jvp(primals, tangents, *, program, mesh, manual, in_specs, out_specs):
    nonzero = [t is not None for t in tangents]
    with inside(mesh, manual):
        q, nonzero_out = jvp_program(program, nonzero)
    outs = bind(
        shard_map_op, *primals, *marked(tangents, nonzero), program=q, mesh=mesh, manual=manual,
        in_specs=(*in_specs, *marked(in_specs, nonzero)),
        out_specs=(*out_specs, *marked(out_specs, nonzero_out)),
    )  # fmt: skip
    n = len(program.outputs)
    return outs[:n], fill(outs[n:], nonzero_out)


class _Split:
    """A program linearized on each device. What devices know apart gets an axis of its own for it."""

    __slots__ = ("done", "linear", "primal", "specs")

    def __init__(self, program, nonzero, manual, in_specs, parts_of):
        self.done = done = parts_of(program, nonzero)
        n, count = len(program.outputs), done.count
        apart = varying(done.primal, [set(s.names) for s in in_specs])[n:]
        self.specs = [PartitionSpec(tuple(a for a in manual if a in names)) for names in apart]
        self.primal = trace_closed(
            lambda *xs: _with_axis(eval_program(done.primal, xs), n), done.primal.in_types, program.name
        )  # fmt: skip
        self.linear = trace_closed(
            lambda *xs: eval_program(done.linear, [_first(x) for x in xs[:count]] + list(xs[count:])),
            [_stacked_type(t) for t in done.linear.in_types[:count]] + done.linear.in_types[count:],
            program.name,
        )  # fmt: skip


def _stacked_type(t: ArrayType) -> ArrayType:
    return t.with_shape((1, *t.shape))


def _with_axis(outs, n: int) -> list:
    return outs[:n] + [ops.reshape(x, shape=(1, *typeof(x).shape)) for x in outs[n:]]


def _first(x):
    return ops.reshape(x, shape=typeof(x).shape[1:])


def _linearize(
    primals, nonzero, *, program, mesh, manual, in_specs, out_specs, parts_of=linearize_program
):
    key = ("shard_map linearize", tuple(nonzero), manual, in_specs, parts_of)
    with inside(mesh, manual):
        split = program.memo(
            key, lambda: _Split(program, tuple(nonzero), manual, in_specs, parts_of)
        )
    done = split.done
    outs = bind(
        shard_map_op, *primals, program=split.primal, mesh=mesh, manual=manual, in_specs=in_specs,
        out_specs=(*out_specs, *split.specs),
    )  # fmt: skip
    residuals = done.residuals(outs, primals)
    specs = (*split.specs, *[in_specs[i] for i in done.kept], *marked(in_specs, nonzero))

    def tangent_fn(*tangents):
        found = bind(
            shard_map_op, *residuals, *marked(tangents, nonzero), program=split.linear, mesh=mesh,
            manual=manual, in_specs=specs, out_specs=tuple(marked(out_specs, done.nonzero_out)),
        )  # fmt: skip
        return fill(found, done.nonzero_out)

    return outs[: len(program.outputs)], tangent_fn


def _transposed_program(program: Program, linear, mesh, manual, in_specs, out_specs) -> Program:
    """(residuals, cotangents of results) -> cotangents of the linear arguments, on each device."""
    n = len(linear) - sum(linear)
    q = transpose_program(linear_last(program, linear), n)
    shared = [mesh.size_of(_missing(manual, s)) for s in out_specs]
    summed = [_missing(manual, s) for s in marked(in_specs, linear)]

    def run(*args):
        cts = [_share(ct, k) for ct, k in zip(args[n:], shared, strict=True)]
        outs = eval_program(q, [*args[:n], *cts])
        return [c.psum(x, axis_name=a) if a else x for x, a in zip(outs, summed, strict=True)]

    return trace_closed(run, q.in_types, program.name)


def _share(ct, k: int):
    return ct if k == 1 else ops.mul(ct, ops.full_like_type(typeof(ct).strong(), 1 / k))


def _transpose(cotangents, *args, program, mesh, manual, in_specs, out_specs):
    linear = tuple(isinstance(a, Linear) for a in args)
    key = ("shard_map transpose", linear, mesh, manual, in_specs, out_specs)
    with inside(mesh, manual):
        q = program.memo(
            key, lambda: _transposed_program(program, linear, mesh, manual, in_specs, out_specs)
        )
    residuals = [a for a, m in zip(args, linear, strict=True) if not m]
    known = [s for s, m in zip(in_specs, linear, strict=True) if not m]
    types = _type(program=program, mesh=mesh, manual=manual, in_specs=in_specs, out_specs=out_specs)
    cts = [instantiate(ct, t) for ct, t in zip(cotangents, types, strict=True)]
    outs = bind(
        shard_map_op, *residuals, *cts, program=q, mesh=mesh, manual=manual,
        in_specs=(*known, *out_specs), out_specs=tuple(marked(in_specs, linear)),
    )  # fmt: skip
    return fill(outs, linear)


# Batches


def _batch(size, args, batched, *, program, mesh, manual, in_specs, out_specs, axis_name=None):
    with inside(mesh, manual):
        q, is_batched = batch_program(program, size, batched, axis_name=axis_name)

    def shifted(specs, marks):
        return tuple(PartitionSpec(None, *s) if m else s for s, m in zip(specs, marks, strict=True))

    outs = bind(
        shard_map_op, *args, program=q, mesh=mesh, manual=manual,
        in_specs=shifted(in_specs, batched), out_specs=shifted(out_specs, is_batched),
    )  # fmt: skip
    return outs, is_batched


def _effects(*, program, mesh, manual, in_specs, out_specs):
    inside = {("axis", name) for name in manual}
    return (program.effects - inside) | {("mesh", mesh)}


# A state that goes along


def _threaded(threader, state, args, *, program, mesh, manual, in_specs, out_specs):
    """Each device has a state of its own, from what it was; that of the first that changed it goes on."""
    n, everywhere = len(state), PartitionSpec(tuple(manual))
    through = threader.program(program)

    def run(*args):
        outs = eval_program(through, args)
        return [ops.reshape(x, shape=(1, *typeof(x).shape)) for x in outs[:n]] + outs[n:]

    q = trace_closed(run, through.in_types, program.name)
    outs = bind(
        shard_map_op, *state, *args, program=q, mesh=mesh, manual=manual,
        in_specs=(*[PartitionSpec()] * n, *in_specs),
        out_specs=(*[everywhere] * n, *out_specs),
    )  # fmt: skip
    return _first_of(outs[:n]), outs[n:]


def _first_of(rows) -> list:
    """Of rows of states, one for each device, the first whose first value is not zero."""
    bad = ops.ne(rows[0], ops.zeros(typeof(rows[0]).strong()))
    place = ops.argmax(bad, axis=0, dtype=np.dtype("int32"))
    zero = [np.int32(0)]
    cut = [
        ops.dynamic_slice(x, place, *zero * (typeof(x).ndim - 1), sizes=(1, *typeof(x).shape[1:]))
        for x in rows
    ]
    return [ops.reshape(x, shape=typeof(x).shape[1:]) for x in cut]


# On one device


def _steps(run, *args, program, mesh, manual, in_specs, out_specs):
    """The parts of all devices as batch elements, so that operations mean what they say on whole arrays."""
    sizes = {name: mesh.shape[name] for name in manual}
    held = [[n for n in manual if n in s.names] for s in in_specs]
    parts = [_parts(x, spec, sizes) for x, spec in zip(args, in_specs, strict=True)]
    q, held_out = program, [[] for _ in out_specs]
    for name in reversed([*sizes]):
        q, is_batched = batch_program(q, sizes[name], [name in h for h in held], axis_name=name)
        held_out = [[name] * b + h for h, b in zip(held_out, is_batched, strict=True)]
    joined = zip(run(q, parts), out_specs, held_out, strict=True)
    return [_joined(x, spec, h, sizes) for x, spec, h in joined]


def _parts(x, spec, sizes):
    """What devices have of an array, along leading axes for those that its spec names."""
    shape, names = [], []
    for n, axes in zip(typeof(x).shape, spec.axes(typeof(x).ndim), strict=True):
        counts = [sizes[a] for a in axes]
        shape += [*counts, n // math.prod(counts)]
        names += [*axes, None]
    order = [names.index(a) for a in sizes if a in names]
    order += [i for i, a in enumerate(names) if a is None]
    return ops.transpose(ops.reshape(x, shape=tuple(shape)), perm=tuple(order))


def _joined(x, spec, held, sizes):
    """The whole of what devices have, by the axes that its spec names; of what they share, the first's."""
    for k in reversed([k for k, name in enumerate(held) if name not in spec.names]):
        x = _first_along(x, k)
    named, held = ([a for a in names if a in spec.names] for names in (sizes, held))
    own = typeof(x).shape[len(held) :]
    dims = (*map(named.index, held), *range(len(named), len(named) + len(own)))
    x = ops.broadcast_in_dim(x, shape=(*[sizes[a] for a in named], *own), dims=dims)
    order, shape = [], []
    for k, axes in enumerate(spec.axes(len(own))):
        order += [*map(named.index, axes), len(named) + k]
        shape.append(own[k] * math.prod(sizes[a] for a in axes))
    return ops.reshape(ops.transpose(x, perm=tuple(order)), shape=tuple(shape))


def _first_along(x, axis: int):
    shape = typeof(x).shape
    limit = (*shape[:axis], 1, *shape[axis + 1 :])
    first = ops.slice(x, start=(0,) * len(shape), limit=limit, strides=(1,) * len(shape))
    return ops.reshape(first, shape=shape[:axis] + shape[axis + 1 :])


shard_map_op = Op(
    "shard_map", type=_type, lower=_lower, jvp=_jvp, transpose=_transpose, batch=_batch,
    linearize=_linearize, split=functools.partial(_linearize, parts_of=split_program), many=True, nested=True,
    effects=_effects, steps=_steps, threaded=_threaded,
)  # fmt: skip
