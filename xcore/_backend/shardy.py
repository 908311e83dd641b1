"""Modules over several devices, written for one mesh and taken into a module with another.

An axis of the one is some axes of the other, side by side; devices have other numbers.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

if TYPE_CHECKING:
    from . import mlir as ir
    from . import mlir as sdy
else:
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import sdy

Kind = TypeVar("Kind", bound="ir.Attribute")
_MOST_DEVICES = 2**20
Renamed = dict[str, tuple[str, ...]]  # axes of one mesh by those of another


class Unknown(ValueError):
    """Something in a module that cannot be said of another mesh."""


class Named(NamedTuple):
    """A mesh of a module: names and sizes of its axes, and the numbers of its devices."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    order: tuple[int, ...]


class Site(NamedTuple):
    """Where a module is taken to.

    Attributes:
        mesh: the name of the mesh there.
        axes: for a mesh of the module, the axes there that each of its own axes is.
        places: the number there of each device.
    """

    mesh: str
    axes: Callable[[Named], Renamed]
    places: tuple[int, ...]


def meshes_of(operations: Iterable[ir.OpView]) -> dict[str, Named]:
    """The meshes that a module names."""
    return {
        op.attributes["sym_name"].value: _named_mesh(sdy.MeshAttr(op.attributes["mesh"]))
        for op in operations
        if op.operation.name == "sdy.mesh"
    }


def _named_mesh(mesh: sdy.MeshAttr) -> Named:
    axes = [sdy.MeshAxisAttr(a) for a in mesh.axes]
    names, sizes = tuple(a.name for a in axes), tuple(a.size for a in axes)
    if math.prod(sizes) > _MOST_DEVICES:
        raise Unknown(f"it has a mesh of sizes {sizes}")
    return Named(names, sizes, tuple(mesh.device_ids) or tuple(range(math.prod(sizes))))


class Move:
    """Lets the operations of a module mean what they mean at a site."""

    def __init__(self, meshes: dict[str, Named], site: Site) -> None:
        self.meshes, self.site = meshes, site

    def operation(self, op: ir.OpView) -> None:
        if op.name == "sdy.manual_computation":
            op.attributes["manual_axes"] = self._manual(op)
        for name, found in _shardings(op.attributes):
            op.attributes[name] = self._attribute(found)
        renumber(op, self.site.places)

    def _attribute(self, a: ir.Attribute) -> ir.Attribute:
        if isinstance(a, ir.ArrayAttr):  # of arguments or results
            return ir.ArrayAttr.get([self._marks(ir.DictAttr(x)) for x in a])
        one, several = _as(sdy.TensorShardingAttr, a), _as(sdy.TensorShardingPerValueAttr, a)
        if several is not None:
            found = [self._sharding(sdy.TensorShardingAttr(x)) for x in several.shardings]
            return sdy.TensorShardingPerValueAttr.get(found)
        return a if one is None else self._sharding(one)

    def _marks(self, given: ir.DictAttr) -> ir.Attribute:
        moved = {n: self._attribute(x) for n, x in _shardings(given)}
        names = [n for n in _names(given) if n not in moved]
        return ir.DictAttr.get({**{n: given[n] for n in names}, **moved})

    def _mesh_of(self, s: sdy.TensorShardingAttr) -> Named:
        given = _as(sdy.MeshAttr, s.mesh_or_ref)
        return self.meshes[s.mesh_or_ref.value] if given is None else _named_mesh(given)

    def _sharding(self, s: sdy.TensorShardingAttr) -> ir.Attribute:
        mesh = self._mesh_of(s)
        if not mesh.names and _as(sdy.MeshAttr, s.mesh_or_ref) is not None:  # all on one device
            device = self.site.places[mesh.order[0]]
            return sdy.TensorShardingAttr.get(sdy.MeshAttr.get([], [device]), [])
        axes = self.site.axes(mesh)
        dimensions = [_dimension(sdy.DimensionShardingAttr(d), axes) for d in s.dimension_shardings]
        more = _refs(s.replicated_axes, axes), _refs(s.unreduced_axes, axes)
        return sdy.TensorShardingAttr.get(self.site.mesh, dimensions, *more)

    def _manual(self, op: ir.OpView) -> ir.Attribute:
        """The axes that a manual computation is about."""
        sides = [op.attributes["in_shardings"], op.attributes["out_shardings"]]
        shardings = [x for side in sides for x in sdy.TensorShardingPerValueAttr(side).shardings]
        axes = self.site.axes(self._mesh_of(sdy.TensorShardingAttr(shardings[0])))
        names = [*sdy.ManualAxesAttr(op.attributes["manual_axes"])]
        return sdy.ManualAxesAttr.get([ir.StringAttr.get(x) for name in names for x in axes[name]])


def _as(kind: type[Kind], a: ir.Attribute) -> Kind | None:
    """The attribute as one of this kind; None if it is of another."""
    try:
        return kind(a)
    except (TypeError, ValueError):
        return None


def _names(attributes: Any) -> list[str]:
    return [a if isinstance(a, str) else a.name for a in attributes]


def _shardings(attributes: Any) -> list[tuple[str, ir.Attribute]]:
    """Those attributes that may say how values are split."""
    kept = [n for n in _names(attributes) if "sharding" in n or n in ("arg_attrs", "res_attrs")]
    return [(n, attributes[n]) for n in kept]


def _dimension(d: sdy.DimensionShardingAttr, axes: Renamed) -> ir.Attribute:
    return sdy.DimensionShardingAttr.get(_refs(d.axes, axes), d.is_closed, d.priority)


def _refs(given: Iterable[ir.Attribute], axes: Renamed) -> list[sdy.AxisRefAttr]:
    found = [sdy.AxisRefAttr(a) for a in given]
    if any(a.sub_axis_info is not None for a in found):
        if all(axes[a.name] == (a.name,) for a in found):
            return found
        raise Unknown("it splits axes of its mesh, and is called on another one")
    return [sdy.AxisRefAttr.get(name) for a in found for name in axes[a.name]]


def renumber(op: ir.OpView, places: Sequence[int]) -> None:
    """Let an operation mean the devices of these numbers where it says 0, 1, …"""
    if tuple(places) == tuple(range(len(places))):
        return
    for name in ("replica_groups", "source_target_pairs"):
        if name in op.attributes:
            groups = op.attributes[name]
            if not isinstance(groups, ir.DenseIntElementsAttr):
                raise Unknown(f"{op.name} names groups of devices in an unknown form")
            known = np.append(np.asarray(places, np.int64), -1)  # -1 fills groups of unequal sizes
            numbers = known[np.array(groups)]
            op.attributes[name] = ir.DenseIntElementsAttr.get(numbers)
    if op.name == "stablehlo.partition_id":
        _renumber_own(op, places)


def _renumber_own(op: ir.OpView, places: Sequence[int]) -> None:
    """The id here of a device by its id in the other module."""
    with ir.InsertionPoint(op), ir.Location.unknown():
        here = ir.Operation.create("stablehlo.partition_id", [op.results[0].type]).results[0]
        numbers = np.argsort(places).astype(np.uint32)
        kind = ir.RankedTensorType.get([len(numbers)], ir.RankedTensorType(here.type).element_type)
        values = ir.DenseElementsAttr.get(numbers, type=kind.element_type)
        table = ir.Operation.create("stablehlo.constant", [kind], attributes={"value": values})
        one = ir.RankedTensorType.get([1], kind.element_type)
        cut = ir.Operation.create(
            "stablehlo.dynamic_slice", [one], [table.results[0], here],
            {"slice_sizes": ir.DenseI64ArrayAttr.get([1])},
        )  # fmt: skip
        number = ir.Operation.create("stablehlo.reshape", [here.type], [cut.results[0]])
    op.results[0].replace_all_uses_with(number.results[0])
    op.erase()
