"""``shard_map`` and ``pmap`` as users call them."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .. import _ops as ops
from .._core import Array, Literal, PyTree, boundary, config, errors, trace_program, tree, typeof
from .._core.devices import devices as all_devices
from .._core.devices import process_count
from .._core.eval import is_array_like, operand, to_array, to_value
from .._core.mesh import AbstractMesh, Mesh, PartitionSpec, current_mesh, with_devices
from .._core.sharding import NamedSharding, local_devices
from .._core.shards import (
    make_array_from_process_local_data,
    make_array_from_single_device_arrays,
)
from .._core.source import wraps
from .._core.trace import Tracer, bind, is_evaluating
from .._transforms import vmap as axes
from .._transforms.map import in_axes_of
from .invariance import plain, shared_gradients
from .jit import jit
from .replication import varying
from .shard_map import inside, local_type, shard_map_op


def _is_spec(x) -> bool:
    return x is None or isinstance(x, PartitionSpec)


def _specs(who: str, specs, values) -> list:
    """The PartitionSpec of each leaf, None where none is given."""
    if isinstance(specs, list) and not isinstance(values, list):
        specs = tuple(specs)
    found = tree.broadcast_prefix(specs, values, _is_spec, f"shard_map({who})")
    for s in found:
        if not _is_spec(s):
            raise TypeError(
                f"xcore.shard_map: {who} must hold PartitionSpecs, given {errors.describe(s)}. Write "
                "P('axis', None) for an array whose first axis is split."
            )
    return found


def _mesh_of(mesh, args) -> Mesh:
    if mesh is None:
        return current_mesh("shard_map")
    if isinstance(mesh, AbstractMesh):
        with contextlib.suppress(StopIteration):  # the arguments know the devices
            return next(
                m for m in map(_mesh_under, tree.leaves(args)) if m and m.shape == mesh.shape
            )
    return with_devices("shard_map", mesh)


def _mesh_under(x) -> Mesh | None:
    """The mesh of devices that an argument is spread over."""
    sharding = x.sharding if type(x) is Array else None
    return sharding.mesh if type(sharding) is NamedSharding else None  # pyright: ignore[reportReturnType]


def _check_names(who: str, specs, mesh: Mesh, manual: tuple) -> None:
    for s in specs:
        NamedSharding(mesh, s)
        free = [n for n in s.names if n not in manual]
        if free:
            raise ValueError(
                f"xcore.shard_map: {who} names the axis {free[0]!r}, but only {manual} are manual here "
                "(axis_names). The compiler splits arrays over the other axes."
            )


class _Mapped:
    """A function to be run on each device, with where it runs and what each device gets."""

    __slots__ = ("check", "f", "in_specs", "manual", "mesh", "out_specs")

    def __init__(self, f, mesh, in_specs, out_specs, axis_names, check):
        self.f, self.in_specs, self.out_specs, self.check = f, in_specs, out_specs, check
        self.mesh = mesh
        unknown = [n for n in axis_names if n not in self.mesh.axis_names]
        if unknown:
            raise ValueError(
                f"xcore.shard_map: axis_names has {unknown[0]!r}, but the mesh has {self.mesh.axis_names}."
            )
        here = axes.axis_sizes()
        names = axis_names or [n for n in self.mesh.axis_names if n not in here]
        self.manual = tuple(n for n in self.mesh.axis_names if n in names)

    def _trace(self, values, run, specs):
        result = []

        def flat(*parts):
            with self._derivatives() as register:
                register(parts, [s.names for s in specs])
                outs, found = tree.flatten(run(*parts))
            result.append(found)
            for x in outs:
                if not (is_array_like(x) or isinstance(x, Literal)):
                    raise errors.not_an_array("shard_map", x, "a result")
            return [to_value(x) for x in outs]

        types = [local_type(typeof(v), self.mesh, s) for v, s in zip(values, specs, strict=True)]
        with inside(self.mesh, self.manual):
            program, captured = trace_program(flat, types, getattr(self.f, "__name__", "shard_map"))
        captured = [x if isinstance(x, Tracer) else operand(x) for x in captured]
        return plain(program), captured, result[0]

    def _derivatives(self):
        """Whose the derivatives are that are taken inside."""
        if self.check and config.settings().shared_gradients:
            return shared_gradients(self.manual)
        return contextlib.nullcontext(lambda parts, sets: None)

    def _check_results(self, program, in_specs, out_specs, result) -> None:
        """Raise unless results are the same wherever their specs say so, and divisible."""
        found = varying(program, [set(s.names) for s in in_specs])
        for i, (differs, spec) in enumerate(zip(found, out_specs, strict=True)):
            wrong = [n for n in self.manual if n in differs and n not in spec.names]
            if wrong and self.check:
                paths = tree.flatten_with_path(tree.unflatten(result, range(len(found))))[0]
                raise ValueError(
                    f"xcore.shard_map: out_specs has {spec} for the result{tree.keystr(paths[i][0])}, so it must "
                    f"be the same along the axis {wrong[0]!r} of the mesh, but it may differ there. Sum or gather "
                    f"it (lax.psum, lax.all_gather), put {wrong[0]!r} in its spec, or pass check_vma=False if you "
                    "know that it is the same."
                )

    def __call__(self, *args):
        leaves, structure = tree.flatten(args)
        given = _specs("in_specs", self.in_specs, args)
        for x, s in zip(leaves, given, strict=True):
            if s is not None and not is_array_like(x):
                raise errors.not_an_array("shard_map", x)
        make = to_array if is_evaluating() else to_value
        values = [make(x) for x, s in zip(leaves, given, strict=True) if s is not None]
        specs = [s for s in given if s is not None]
        _check_names("in_specs", specs, self.mesh, self.manual)

        def with_the_rest(*parts):
            """What has no spec is what it is outside: a static value, or the same array everywhere."""
            parts = iter(parts)
            full = [x if s is None else next(parts) for x, s in zip(leaves, given, strict=True)]
            return self.f(*tree.unflatten(structure, full))

        program, captured, result = self._trace(values, with_the_rest, specs)
        whole = tree.unflatten(result, range(len(program.outputs)))
        given = self.out_specs
        out_specs = given(whole) if callable(given) else _specs("out_specs", given, whole)
        out_specs = [PartitionSpec() if s is None else s for s in out_specs]  # pyright: ignore[reportGeneralTypeIssues]
        _check_names("out_specs", out_specs, self.mesh, self.manual)
        for t, s in zip(program.out_types, out_specs, strict=True):
            NamedSharding(self.mesh, s).axes(t.ndim)
        in_specs = [PartitionSpec()] * len(captured) + specs
        self._check_results(program, in_specs, out_specs, result)
        outs = bind(
            shard_map_op, *captured, *values, program=program, mesh=self.mesh, manual=self.manual,
            in_specs=tuple(in_specs), out_specs=tuple(out_specs),
        )  # fmt: skip
        return tree.unflatten(result, outs)


def shard_map(
    f: Callable[..., Any] | None = None, mesh: Mesh | AbstractMesh | None = None,
    in_specs: PyTree = None, out_specs: PyTree = None, *, axis_names: Iterable[str] = frozenset(),
    check_vma: bool | None = None, check_rep: bool | None = None, auto: Iterable[str] = frozenset(),
) -> Callable[..., Any]:  # fmt: skip
    """A function that every device of a mesh runs on its own part of the arguments.

    Inside, arrays are one device's part, and collectives (``lax.psum`` …) over the names of mesh
    axes connect the devices. Derivatives taken inside are each device's own, as in ``pmap``: sum
    gradients of shared values with ``lax.psum`` or ``lax.pmean``, unless the setting ``shared_gradients``
    is on. Derivatives of the whole function need no such thing.

    Args:
      f: function of one device's parts. Without it, a decorator is returned.
      mesh: the devices; the mesh of the context if None. Of an AbstractMesh the devices are those of
        the arguments, or of the context.
      in_specs: PartitionSpec for each argument, or pytrees of them that match the arguments'
        beginning: how arrays are cut into parts. None for what is the same on all devices, which may
        be a Python value.
      out_specs: the same for the results: how parts are put together.
      axis_names: the mesh axes that are handled here (default: all); over the others the compiler
        spreads the parts further.
      check_vma: whether to check that results are the same along axes their specs do not mention.
        ``check_rep`` is its older name.
      auto: the other axes, the older way to say axis_names.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> mesh = xc.make_mesh((1,), "x")
    >>> total = xc.shard_map(lambda v: xc.lax.psum(v.sum(), "x"), mesh, xc.P("x"), xc.P())
    >>> total(xnp.arange(4.0))
    Array(6., dtype=float32)
    """
    if f is None:
        return functools.partial(
            shard_map, mesh=mesh, in_specs=in_specs, out_specs=out_specs, axis_names=axis_names,
            check_vma=check_vma, check_rep=check_rep, auto=auto,
        )  # fmt: skip
    errors.check_function("shard_map", f)
    check = next((bool(c) for c in (check_vma, check_rep) if c is not None), True)

    @wraps(f)
    @boundary
    def mapped(*args):
        names = frozenset((axis_names,) if isinstance(axis_names, str) else axis_names)
        where = _mesh_of(mesh, args)
        if auto:
            names = names | (set(where.axis_names) - set(auto))
        return _Mapped(f, where, in_specs, out_specs, names, check)(*args)

    return mapped


# pmap


def _position(axis, ndim: int, who: str):
    """A checked axis number, or None."""
    if axis is None:
        return None
    if not isinstance(axis, (int, np.integer)) or not -ndim <= axis < ndim:
        raise ValueError(
            f"xcore.pmap: {who} must be None or an axis of an array of {ndim} axes, given {axis}."
        )
    return int(axis) % ndim


def _spec_at(axis, name) -> PartitionSpec:
    return PartitionSpec() if axis is None else PartitionSpec(*[None] * axis, name)


def _without(x, axis):
    """One batch element's value, from the device's part of the argument."""
    if axis is None:
        return x
    shape = typeof(x).shape
    return ops.reshape(x, shape=shape[:axis] + shape[axis + 1 :])


def _with(x, axis):
    """The device's part of the result, from one batch element's value."""
    if axis is None:
        return x
    shape = typeof(x).shape
    return ops.reshape(x, shape=(*shape[:axis], 1, *shape[axis:]))


def _mapped_size(values, positions, given) -> int:
    """How many batch elements there are: the size of the mapped axes, which must agree."""
    sizes = {typeof(v).shape[a] for v, a in zip(values, positions, strict=True) if a is not None}
    if given is not None:
        sizes.add(given)
    if len(sizes) != 1:
        raise ValueError(
            f"xcore.pmap: the sizes of the mapped axes must agree, given {sorted(sizes)}."
            if sizes
            else "xcore.pmap: nothing is mapped: every in_axes is None. Give axis_size."
        )
    return sizes.pop()


def _mesh_of_size(n: int, devices, name) -> Mesh:
    if n > len(devices):
        raise ValueError(
            f"xcore.pmap: {n} batch elements need {n} devices, there are {len(devices)}. On the CPU the environment "
            "variable XCORE_NUM_CPU_DEVICES says how many there are; or use vmap."
        )
    return Mesh(list(devices[:n]), (name,))


def _parallel(fun, name, in_axes, out_axes, devices, axis_size, args, kwargs):
    """Run ``fun`` for every batch element, each on a device of its own."""
    leaves, structure = tree.flatten((args, kwargs))
    values = [to_value(x) for x in leaves]
    found = in_axes_of("pmap", in_axes, args, kwargs)
    at = [_position(a, typeof(v).ndim, "in_axes") for v, a in zip(values, found, strict=True)]
    mesh = _mesh_of_size(_mapped_size(values, at, axis_size), devices, name)
    results = []

    def shard_fun(*parts):
        args_, kwargs_ = tree.unflatten(structure, map(_without, parts, at))
        outs, out_structure = tree.flatten(fun(*args_, **kwargs_))
        values = [to_value(x) for x in outs]
        whole = tree.unflatten(out_structure, range(len(outs)))
        given = tree.broadcast_prefix(out_axes, whole, lambda a: a is None, "pmap(out_axes)")
        places = [
            _position(a, typeof(v).ndim + 1, "out_axes") for v, a in zip(values, given, strict=True)
        ]
        results[:] = [out_structure, places]
        return list(map(_with, values, places))

    specs = tuple(_spec_at(a, name) for a in at)
    outs = _Mapped(
        shard_fun, mesh, specs, lambda _: [_spec_at(a, name) for a in results[1]], (name,), False
    )(*values)
    return tree.unflatten(results[0], outs)


def pmap(
    fun: Callable[..., Any], axis_name: Any = None, *axes: Any, in_axes: Any = 0, out_axes: Any = 0,
    static_broadcasted_argnums: int | Sequence[int] = (), devices: Sequence[Any] | None = None,
    backend: str | None = None, axis_size: int | None = None,
    donate_argnums: int | Sequence[int] = (), global_arg_shapes: Any = None,
) -> Callable[..., Any]:  # fmt: skip
    """``vmap`` over devices: each runs ``fun`` on one slice of the mapped axes. Compiled, like ``jit``.

    Args:
      fun: function of one slice.
      axis_name: a name for the mapped axis, for collectives such as ``lax.psum(x, axis_name)``.
        A number or a tuple of numbers is taken as in_axes, and what follows as out_axes, so that
        ``pmap(f, (None, 1), 1)`` means what it does for ``vmap``.
      in_axes: for each argument the axis to map over, None to give every device all of it.
      out_axes: where the mapped axis goes in the results; None takes one device's result.
      static_broadcasted_argnums: arguments that are Python values, as for ``jit``.
      devices: which ones; by default the first ones, as many as there are slices.
      backend: of which platform.
      axis_size: how many slices there are, needed when nothing is mapped.
      donate_argnums: arguments whose memory results may take over.
      global_arg_shapes: accepted for compatibility.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.pmap(lambda v: v / xc.lax.psum(v, "i"), axis_name="i")(xnp.ones(1))
    Array([1.], dtype=float32)
    """
    if not callable(fun):
        raise TypeError(f"xcore.pmap: expected a function, given {errors.describe(fun)}.")
    if isinstance(axis_name, (int, tuple, list)) and len(axes) <= 1:
        axis_name, in_axes, (out_axes,) = None, axis_name, axes or (out_axes,)
    elif axes:
        raise TypeError("xcore.pmap: after the axis_name, in_axes and out_axes are given by name.")
    static = (
        (static_broadcasted_argnums,)
        if isinstance(static_broadcasted_argnums, int)
        else tuple(static_broadcasted_argnums)
    )
    name = "pmap" if axis_name is None else axis_name

    @wraps(fun)
    def run(*args, **kwargs):
        if static and max(static) >= len(args):
            raise ValueError(
                f"xcore.pmap: static_broadcasted_argnums={static}, but the function was given {len(args)} "
                "positional arguments. Give static arguments by position."
            )
        fixed = {i: args[i] for i in static}
        axes = in_axes
        if isinstance(axes, (tuple, list)):
            axes = tuple(a for i, a in enumerate(axes) if i not in fixed)

        def partial(*rest, **kw):
            remaining = iter(rest)
            return fun(
                *[fixed[i] if i in fixed else next(remaining) for i in range(len(args))], **kw
            )

        where = list(devices) if devices is not None else all_devices(backend)
        rest = tuple(a for i, a in enumerate(args) if i not in fixed)
        return _parallel(partial, name, axes, out_axes, where, axis_size, rest, kwargs)

    call = jit(run, static_argnums=static, donate_argnums=donate_argnums)
    return call if process_count() == 1 else _of_local_parts(call, name, in_axes, devices, static)


def _of_local_parts(call, name, in_axes, devices, static):
    """With several processes: each gives the slices of its own devices, and gets those back."""

    @boundary
    def mapped(*args, **kwargs):
        mesh = Mesh(list(devices) if devices is not None else all_devices(), (name,))
        dynamic = tuple(a for i, a in enumerate(args) if i not in static)
        leaves, structure = tree.flatten((dynamic, kwargs))
        axes = in_axes
        if isinstance(axes, (tuple, list)):
            axes = tuple(a for i, a in enumerate(axes) if i not in static)
        at = in_axes_of("pmap", axes, dynamic, kwargs)
        specs = [
            NamedSharding(mesh, _spec_at(_position(a, np.ndim(x), "in_axes"), name))
            for x, a in zip(leaves, at)
        ]
        whole = [
            make_array_from_process_local_data(s, np.asarray(x)) for s, x in zip(specs, leaves)
        ]
        moved, kwargs = tree.unflatten(structure, whole)
        remaining = iter(moved)
        full = [args[i] if i in static else next(remaining) for i in range(len(args))]
        return tree.map(_local_part, call(*full, **kwargs))

    return mapped


def _local_part(x):
    """The slices of this process, as an array on its devices."""
    here = local_devices(x.sharding.devices)
    mesh = Mesh(list(here), x.sharding.mesh.axis_names)
    parts = [s.data for s in x.addressable_shards]
    spec = x.sharding.spec
    shape = list(x.shape)
    for axis, entry in enumerate(spec):
        if entry is not None:
            shape[axis] = parts[0].shape[axis] * len(parts)
    return make_array_from_single_device_arrays(shape, NamedSharding(mesh, spec), parts)
