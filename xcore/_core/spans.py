"""Programs in files that run over several devices: their meshes and shardings, before it is known over which.

Devices are numbered as they stand in the program's mesh. Where the program is called, the devices are those of
the mesh that it is called on, in its order: a mesh of other axes will do if it has as many devices.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._backend import client as backend
from . import errors
from .layout import Layout, mesh_of, refined
from .mesh import UNCONSTRAINED, AbstractMesh, Mesh, Name, PartitionSpec
from .sharding import NamedSharding, Sharding, axes_on

if TYPE_CHECKING:
    from .._backend.client import Device

Given = Iterable[tuple[Sharding | None, int]]  # of each value its sharding and number of axes


class Axes(NamedTuple):
    """A mesh whose devices are numbers."""

    names: tuple[Name, ...]
    sizes: tuple[int, ...]
    order: tuple[int, ...]

    def over(self, devices: tuple[Device, ...]) -> Mesh:
        """The mesh of these devices."""
        listed = np.empty(len(devices), object)
        listed[:] = devices
        return Mesh(listed[list(self.order)].reshape(self.sizes), self.names)


class Place(NamedTuple):
    """A sharding: the index of the mesh, and the spec."""

    mesh: int
    spec: PartitionSpec


@dataclass(frozen=True)
class Span:
    """Over how many devices a program was exported, and where its arguments and results lie.

    Attributes:
        name: the program's.
        meshes: the first is that of the program, its devices in order.
        ins, outs: places of arguments and results, None where nobody said.
    """

    name: str
    count: int
    meshes: tuple[Axes, ...]
    ins: tuple[Place | None, ...]
    outs: tuple[Place | None, ...]

    def over(self, devices: tuple[Device, ...]) -> list[Mesh]:
        """Its meshes on these devices."""
        return _meshes(self.meshes, devices)

    def shardings(self, side: str, devices: tuple[Device, ...]) -> list[Sharding | None]:
        """The shardings of "inputs" or "outputs"."""
        return _shardings(self, side, devices)

    def order_on(self, place: Place, sharding: Sharding) -> tuple[Device, ...] | None:
        """The devices in order, for an argument that is spread over the mesh that was recorded for it."""
        m, here = self.meshes[place.mesh], getattr(sharding, "mesh", None)
        if here is None or (here.axis_names, here.axis_sizes) != m[:2]:
            return None
        return tuple(here.devices.flat[i] for i in np.argsort(m.order))

    def check(self) -> None:
        """Raise ValueError unless the parts fit together."""
        for m in self.meshes:
            AbstractMesh(m.sizes, m.names)
            if math.prod(m.sizes) != self.count or sorted(m.order) != list(range(self.count)):
                raise ValueError(f"a mesh {m} of {self.count} devices")
        if not self.meshes or self.meshes[0].order != tuple(range(self.count)):
            raise ValueError("no mesh of the program")
        for p in (*self.ins, *self.outs):
            if p is not None:
                m = self.meshes[p.mesh]
                NamedSharding(AbstractMesh(m.sizes, m.names), p.spec)


@functools.lru_cache(maxsize=256)
def _meshes(meshes: tuple[Axes, ...], devices: tuple[Device, ...]) -> list[Mesh]:
    return [m.over(devices) for m in meshes]


@functools.lru_cache(maxsize=256)
def _shardings(span: Span, side: str, devices: tuple[Device, ...]) -> list[Sharding | None]:
    meshes = span.over(devices)
    places = span.ins if side == "inputs" else span.outs
    return [None if p is None else NamedSharding(meshes[p.mesh], p.spec) for p in places]


class Recorder:
    """Describes a layout for a file: its meshes by number, and shardings."""

    def __init__(self, layout: Layout) -> None:
        whole = layout.mesh
        first = next((m for m in layout.known if whole in (m, refined(m))), whole)
        self.devices = tuple(first.devices.flat)
        self.meshes: dict[Mesh, int] = {}
        for mesh in (first, *layout.known):
            self.meshes.setdefault(mesh, len(self.meshes))

    def places(self, given: Given) -> tuple[Place | None, ...]:
        return tuple(None if s is None else self._place(s, ndim) for s, ndim in given)

    def _place(self, s: Sharding, ndim: int) -> Place | None:
        mesh = mesh_of(s, ndim)
        spec = s.spec if type(s) is NamedSharding else PartitionSpec(*mesh.axis_names[:ndim])
        if UNCONSTRAINED in spec:
            return None
        return Place(self.meshes.setdefault(mesh, len(self.meshes)), spec)

    def axes(self) -> tuple[Axes, ...]:
        """The meshes that were named so far."""
        number = {d: i for i, d in enumerate(self.devices)}
        return tuple(
            Axes(m.axis_names, m.axis_sizes, tuple(number[d] for d in m.devices.flat))
            for m in self.meshes
        )


# Calls


def devices_of(span: Span, meshes: Iterable[Mesh], given: Given) -> tuple[Device, ...]:
    """The devices, in order, on which an exported program is called.

    Those of the first mesh that there is, else of the last sharding (captured arrays stand before arguments); without
    any, the first ones that are here.
    """
    spread = (mesh_of(s, ndim) for s, ndim in [*given][::-1] if s is not None)
    found = next((m for some in (meshes, spread) for m in some), None)
    devices = tuple(backend.devices()[: span.count] if found is None else found.devices.flat)
    if len(devices) != span.count:
        raise errors.exported_for(span.name, span.count, len(devices), found is not None)
    return devices


def on_mesh(who: str, places: Sequence[Place | None], ndims: Sequence[int], meshes: Sequence[Axes],
            mesh: Any) -> tuple[NamedSharding | None, ...]:  # fmt: skip
    """Places as shardings over a mesh; without one, over the axes that they were recorded with."""
    if mesh is not None and not isinstance(mesh, (Mesh, AbstractMesh)):
        raise errors.bad_argument(who, "mesh", mesh, "a Mesh or an AbstractMesh, or None")
    return tuple(
        None if p is None else _on_mesh(who, p, ndim, meshes[p.mesh], mesh)
        for p, ndim in zip(places, ndims, strict=True)
    )


def _on_mesh(who: str, place: Place, ndim: int, axes: Axes, mesh: Mesh | AbstractMesh | None):
    recorded = AbstractMesh(axes.sizes, axes.names)
    if mesh is None or mesh.shape == recorded.shape:
        return NamedSharding(recorded if mesh is None else mesh, place.spec)
    names = None
    if isinstance(mesh, Mesh) and mesh.size == recorded.size:
        here = NamedSharding(axes.over(tuple(mesh.devices.flat)), place.spec)
        names = axes_on(mesh, here.tiles(ndim))
    if names is None:
        raise errors.bad_argument(
            who,
            "mesh",
            mesh,
            f"a mesh over whose axes arrays can be split as {place.spec} splits them over {recorded}",
        )
    while names and not names[-1]:
        names.pop()
    return NamedSharding(mesh, PartitionSpec(*names))
