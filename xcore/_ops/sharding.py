"""The operation that says how a value is laid out over devices. It changes nothing else."""

from __future__ import annotations

import itertools

from .._core import Op, bind, to_array
from .._core.layout import mesh_of
from .._core.mesh import UNCONSTRAINED, PartitionSpec
from .._core.placing import reshard
from .._core.program import INERT
from .._core.sharding import NamedSharding, PositionalSharding, shape_of_tile


def _type(x, *, sharding):
    shape_of_tile(sharding, x.shape)
    return [x]


def _lower(ctx, x, *, sharding):
    if ctx.partitions == 1:
        return x
    return ctx.sharding_constraint(x, ctx.axes_of(sharding, ctx.in_types[0].ndim))


def _mesh(*, sharding):
    ndim = sharding.ndim if type(sharding) is PositionalSharding else 0
    return frozenset([("mesh", mesh_of(sharding, ndim))])


def _for_batches(sharding):
    """The same with a leading axis, of which nothing is said."""
    if type(sharding) is NamedSharding:
        return sharding.with_spec(PartitionSpec(UNCONSTRAINED, *sharding.spec))
    return sharding.reshape(1, *sharding.shape)


def _eager(x, *, sharding):
    """Axes of which nothing is said stay as they are, where the mesh axes are free for that."""
    x = to_array(x)
    here = x.sharding
    if type(sharding) is NamedSharding and UNCONSTRAINED in sharding.spec:
        used = set(sharding.spec.names)
        old = here.spec.axes(x.ndim) if getattr(here, "mesh", None) is sharding.mesh else ()
        kept = [e if e and used.isdisjoint(e) else None for e in old] or [None] * x.ndim
        spec = [k if e is UNCONSTRAINED else e for e, k in zip(sharding.spec, kept)]
        sharding = sharding.with_spec(PartitionSpec(*spec))
    return [reshard(x, sharding)]


sharding_constraint = Op(
    "sharding_constraint",
    type=_type,
    lower=_lower,
    jvp=lambda primals, tangents, **p: (
        [sharding_constraint(*primals, **p)],
        [sharding_constraint(*tangents, **p)],
    ),
    transpose=lambda cotangents, x, **p: [sharding_constraint(cotangents[0], **p)],
    batch=lambda size, args, batched, *, sharding: (
        [sharding_constraint(*args, sharding=_for_batches(sharding))],
        [True],
    ),
    effects=_mesh,
    eager=_eager,
)


# Along one axis


def axis_to_split(ctx, shape, axis=None):
    """The axis, if devices can have parts of it; without one the first that parts of equal size make. None where
    none does, or nothing is to be split."""
    if ctx.partitions == 1 or ctx.manual is not None:
        return None
    sizes = sorted(n for n in ctx.layout.mesh.devices.shape if n > 1)
    if any(b % a for a, b in itertools.pairwise(sizes)):
        return None  # jaxlib 0.12 may end the process where it turns an array over 2 × 3 devices
    if axis is None:
        return next((k for k, n in enumerate(shape) if n and n % ctx.partitions == 0), None)
    return axis if shape[axis] >= ctx.partitions else None


def all_along(ctx, axis, ndim):
    """All axes of the mesh along one array axis."""
    names = tuple(map(str, ctx.layout.mesh.axis_names))
    return [names if k == axis else () for k in range(ndim)]


def _lower_along(ctx, x, *, axis):
    shape = ctx.in_types[0].shape
    axis = axis_to_split(ctx, shape, axis)
    return x if axis is None else ctx.sharding_constraint(x, all_along(ctx, axis, len(shape)))


# x, of which in a program over several devices each has its part along one axis, and all of the others: what
# works on lines along these needs no exchange then. Devices may have their own elements of a batch instead.
spread_along = Op(
    "spread_along",
    type=lambda x, *, axis: [x],
    lower=_lower_along,
    jvp=lambda primals, tangents, **p: (
        [spread_along(*primals, **p)],
        [spread_along(*tangents, **p)],
    ),
    transpose=lambda cotangents, x, **p: [spread_along(cotangents[0], **p)],
    batch=lambda size, args, batched, **p: (list(args), [True]),
)


# Looking


def _show(x, *, callback):
    callback(to_array(x).sharding)
    return []


inspect_sharding = Op(
    "inspect_sharding",
    type=lambda x, *, callback: [],
    lower=lambda ctx, x, *, callback: [],  # the compiler's answer is read where it is compiled
    jvp=lambda primals, tangents, **p: (bind(inspect_sharding, *primals, **p), []),
    batch=lambda size, args, batched, **p: (bind(inspect_sharding, *args, **p), []),
    many=True,
    effects=lambda callback: frozenset([INERT]),
    eager=_show,
)
