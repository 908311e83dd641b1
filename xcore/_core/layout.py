"""How one program is spread over several devices: its mesh, and the shardings of arguments and results.

A module has one mesh. When shardings over several meshes meet, its axes are split into their prime
factors: then an axis of any of the meshes is a few of them side by side. Only a mesh whose devices
are in another order altogether does not fit; its arguments are moved before the program runs.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import errors
from .mesh import UNCONSTRAINED, Mesh, Name, PartitionSpec
from .program import Eqn, Literal, Program, Var
from .sharding import (
    NamedSharding,
    PositionalSharding,
    Sharding,
    axes_on,
)
from .types import Placed

if TYPE_CHECKING:
    from .._backend.client import Device
    from .._backend.mlir import Value
    from .array import Array

    Order = tuple[Device, ...]  # devices as they stand in a mesh


class Layout:
    """The devices and mesh of a program, and the sharding of each argument."""

    __slots__ = ("devices", "inputs", "known", "mesh")

    def __init__(self, mesh: Mesh, inputs: tuple[Sharding, ...], known: tuple[Mesh, ...]) -> None:
        self.mesh, self.inputs, self.devices = mesh, inputs, mesh.sorted_devices
        self.known = known  # the meshes that users named, in which results are described

    def __eq__(self, other: Any) -> bool:
        return (
            type(other) is Layout
            and other.mesh is self.mesh
            and other.inputs == self.inputs
            and other.known == self.known
        )

    def __hash__(self) -> int:
        return hash((self.mesh, self.inputs))

    def canonical(self) -> str:
        """A text that is equal for equal layouts in other processes too."""
        inputs = [s.canonical() for s in self.inputs]
        return repr((self.mesh.canonical(), inputs, [m.canonical() for m in self.known]))

    @property
    def order(self) -> Order:
        """The devices as they stand in the mesh."""
        return tuple(self.mesh.devices.flat)

    def axes(self, sharding: Sharding, ndim: int) -> list[tuple[Name, ...] | None]:
        """For each array axis the axes of this layout's mesh that split it; None where XLA chooses."""
        if type(sharding) is NamedSharding:
            entries = sharding.axes(ndim)
            if sharding.mesh is self.mesh:
                return entries
            mesh = cast("Mesh", sharding.mesh)
            return [None if e is None else self.names(mesh, e) for e in entries]
        found = axes_on(self.mesh, sharding.tiles(ndim))
        assert found is not None, "arguments that do not fit are moved before"
        return [*found]

    def names(self, mesh: Mesh, names: Iterable[Name]) -> tuple[Name, ...]:
        """The axes of this layout's mesh that are the named axes of another."""
        if mesh is self.mesh:
            return tuple(names)
        return _rename_axes(self.mesh, mesh, tuple(names))


class Manual:
    """What collectives must know inside of shard_map: the mesh, and this partition's place on it."""

    __slots__ = ("mesh", "places")

    def __init__(self, mesh: Mesh, places: dict[Name, Value]) -> None:
        self.mesh, self.places = mesh, places  # places: axis name -> value of its index


@functools.lru_cache(maxsize=1024)
def _rename_axes(here: Mesh, there: Mesh, names: tuple[Name, ...]) -> tuple[Name, ...]:
    found = axes_on(here, NamedSharding(there, PartitionSpec(names)).tiles(1))
    if found is None:
        raise ValueError(
            f"xcore: the meshes {here} and {there} have their devices in orders that do not go together in "
            "one program. Make both from the same devices in the same order."
        )
    return found[0]


@functools.lru_cache(maxsize=256)
def refined(mesh: Mesh) -> Mesh:
    """The same devices in the same order, every axis split into its prime factors."""
    names: list[str] = []
    sizes: list[int] = []
    for name, n in mesh.shape.items():
        for k, factor in enumerate(_primes(n)):
            names.append(f"{name}_{k}")
            sizes.append(factor)
    return Mesh(mesh.devices.reshape(sizes), names)


def _primes(n: int) -> list[int]:
    found: list[int] = []
    p = 2
    while n > 1:
        while n % p == 0:
            found.append(p)
            n //= p
        p += 1
    return found


def mesh_of(sharding: Sharding, ndim: int) -> Mesh:
    """A mesh on which this sharding can be named."""
    if type(sharding) is NamedSharding:
        return cast("Mesh", sharding.mesh)
    return _mesh_of_tiles(sharding, ndim)


@functools.lru_cache(maxsize=1024)
def _mesh_of_tiles(sharding: PositionalSharding, ndim: int) -> Mesh:
    tiles = sharding.tiles(ndim)
    devices = np.empty(tiles.shape, object)
    for place in np.ndindex(tiles.shape):
        devices[place] = sharding.devices[tiles[place]]
    return Mesh(devices, [f"axis_{i}" for i in range(tiles.ndim)])


def _fits(mesh: Mesh, sharding: Sharding, ndim: int) -> bool:
    if type(sharding) is NamedSharding:
        if sharding.mesh is mesh:
            return True
        split = [n for n in sharding.spec.names if sharding.mesh.shape[n] > 1]
        return all(
            axes_on(mesh, NamedSharding(sharding.mesh, PartitionSpec(n)).tiles(1)) for n in split
        )
    return axes_on(mesh, sharding.tiles(ndim)) is not None


@functools.lru_cache(maxsize=4096)
def layout_for(meshes: tuple[Mesh, ...], given: tuple[tuple[Sharding | None, int], ...]) -> Layout:
    """The layout of a program that names ``meshes``, for arguments placed as ``given``.

    Args:
      given: for each argument (sharding, number of axes); all of it on every device if None.
    """
    spread = [(s, n) for s, n in given if s is not None]
    first = next(iter([*meshes, *[mesh_of(s, n) for s, n in spread]]))
    everything = [*spread, *[(NamedSharding(m, PartitionSpec(m.axis_names)), 1) for m in meshes]]
    fits = all(_fits(first, s, n) for s, n in everything)
    mesh = first if fits else refined(first)
    inputs = tuple(
        s if s is not None and _fits(mesh, s, n) else NamedSharding(first, PartitionSpec())
        for s, n in given
    )
    named = [cast("Mesh", s.mesh) for s, _ in spread if type(s) is NamedSharding]
    return Layout(mesh, inputs, tuple(dict.fromkeys([*meshes, *named])))


def check_one_place(arrays: Sequence[Array], meshes: Iterable[Mesh]) -> None:
    """Raise unless all committed arrays and meshes are on the same devices."""
    places = {m.sorted_devices for m in meshes}
    held = [(a, a._t.sharding.devices) for a in arrays if type(a._t) is Placed and a._t.committed]
    places |= {devices for _, devices in held}
    if len(places) < 2:
        return
    listed = [f"{a.type} on {_listed(devices)}" for a, devices in held]
    listed += [f"a mesh of {_listed(m.sorted_devices)}" for m in meshes]
    raise errors.different_devices(listed)


def _listed(devices: tuple[Device, ...]) -> str:
    ids = ", ".join(str(d.id) for d in devices)
    return f"device{'s' if len(devices) > 1 else ''} {ids}"


def declared(p: Program, order: Order) -> list[Sharding | None]:
    """For each result the sharding that the program says it has, or None.

    ``order``: the devices on which exported programs are called in it, see `spans`.
    """
    declared_outputs = {
        v: s
        for e in p.eqns
        for v, s in zip(e.outputs, _equation_shardings(e, "outputs", order), strict=True)
    }
    return [None if type(a) is Literal else declared_outputs.get(a) for a in p.outputs]


def wanted(p: Program, order: Order) -> list[Sharding | None]:
    """For each argument the sharding that the program wants it to have, or None."""
    return p.memo(("wanted", order), lambda: _wanted(p, order))


def _wanted(p: Program, order: Order) -> list[Sharding | None]:
    found: dict[Var, Sharding] = {}
    for e in p.eqns:
        for a, s in zip(e.inputs, _equation_shardings(e, "inputs", order), strict=True):
            if s is not None and type(a) is not Literal:
                found.setdefault(a, s)
    return [found.get(v) for v in p.inputs]


def _equation_shardings(e: Eqn, side: str, order: Order) -> list[Sharding | None]:
    """The shardings that an equation demands of its inputs or outputs; None where it demands none."""
    if e.op.name == "sharding_constraint" and _is_whole(e.params["sharding"]):
        return [e.params["sharding"]]
    if e.op.name == "shard_map":
        specs = e.params["in_specs" if side == "inputs" else "out_specs"]
        if len(e.params["manual"]) == len(e.params["mesh"].axis_names):
            return [NamedSharding(e.params["mesh"], spec) for spec in specs]
    if e.op.name == "exported_call" and e.params["artifact"].span is not None:
        return e.params["artifact"].span.shardings(side, order)
    if e.op.name in ("call", "custom_jvp_call", "custom_vjp_call"):
        return (wanted if side == "inputs" else declared)(e.params["program"], order)
    return [None] * len(getattr(e, side))


def _is_whole(sharding: Sharding) -> bool:
    return type(sharding) is not NamedSharding or UNCONSTRAINED not in sharding.spec
