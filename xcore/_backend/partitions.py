"""Values over several devices: the part of a Builder that is about meshes, shardings and collectives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from . import mlir as hlo
    from . import mlir as ir
    from . import mlir as sdy
    from .mlir import Value
    from .surface import NDArray

    Values = Sequence[Value]
    Types = Sequence[ir.Type]
    Pairs = Sequence[Sequence[int]]
    Body = Callable[..., Iterable[Value]]
    Axes = Sequence[Sequence[str] | None]  # for each array axis the mesh axes that split it
else:
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import sdy
    from jaxlib.mlir.dialects import stablehlo as hlo


class Partitions:
    """Methods of Builder."""

    if TYPE_CHECKING:  # what Builder has
        module: ir.Module
        location: ir.Location
        partitions: int
        manual: Any
        _unknown: ir.Location
        _channels: int

        def one(
            self, name: str, result: ir.Type, operands: Values, **attributes: ir.Attribute
        ) -> Value: ...
        def with_region(
            self, name: str, results: Types, operands: Values, region_types: Types, body: Body,
            **attributes: ir.Attribute,
        ) -> list[Value]: ...  # fmt: skip
        def _scalar_types(self, values: Values) -> list[ir.Type]: ...
        def _combiner(self, name: str) -> Body: ...
        @staticmethod
        def text(value: str) -> ir.StringAttr: ...
        @staticmethod
        def integer(value: int, bits: int = 64) -> ir.IntegerAttr: ...

    MESH = "mesh"  # its name in the module, which has one

    def mesh(self, names: Iterable[str], sizes: Iterable[int], places: Iterable[int]) -> None:
        """Name the axes over which the module's partitions are arranged; ``places`` numbers them."""
        axes = [sdy.MeshAxisAttr.get(n, s) for n, s in zip(names, sizes, strict=True)]
        ids = [] if list(places) == sorted(places) else list(places)
        with ir.InsertionPoint.at_block_begin(self.module.body):
            sdy.mesh(self.MESH, sdy.MeshAttr.get(axes, ids), loc=self._unknown)

    def sharding(self, axes: Axes, further: bool = False) -> sdy.TensorShardingAttr:
        """The attribute of an array split over mesh axes; None for a dimension leaves it open.

        ``further``: whether the compiler may split dimensions over more axes.
        """
        dims = [
            sdy.DimensionShardingAttr.get(
                [sdy.AxisRefAttr.get(n) for n in e or ()], e is not None and not further
            )
            for e in axes
        ]
        return sdy.TensorShardingAttr.get(self.MESH, dims)

    def sharding_constraint(self, x: Value, axes: Axes) -> Value:
        return self.one("sdy.sharding_constraint", x.type, [x], sharding=self.sharding(axes))

    def manual_computation(
        self, operands: Values, in_axes: Sequence[Axes], in_types: Types, results: Types,
        out_axes: Sequence[Axes], manual: Iterable[str], body: Body, further: bool = False,
    ) -> list[Value]:  # fmt: skip
        """Each partition runs ``body`` on its parts of the operands, of types ``in_types``.

        ``further``: whether there are other axes, over which the compiler may split the parts.
        """
        per_value = [
            sdy.TensorShardingPerValueAttr.get([self.sharding(a, further) for a in axes])
            for axes in (in_axes, out_axes)
        ]
        names = sdy.ManualAxesAttr.get([self.text(n) for n in manual])
        op = ir.Operation.create(
            "sdy.manual_computation", results, operands,
            {"in_shardings": per_value[0], "out_shardings": per_value[1], "manual_axes": names},
            None, 1, self.location,
        )  # fmt: skip
        block = op.regions[0].blocks.append(*in_types)
        with ir.InsertionPoint(block):
            values = body(*block.arguments)
            ir.Operation.create("sdy.return", [], list(values), None, None, 0, self.location)
        return list(op.results)

    def _on_first_device(self, results: Types) -> dict[str, ir.Attribute]:
        """Attributes of an operation that happens once, on whole arrays, not once on each device."""
        if self.partitions == 1 or self.manual is not None:
            return {}
        first = sdy.TensorShardingAttr.get(sdy.MeshAttr.get([], [0]), [])
        return {"sdy.sharding": sdy.TensorShardingPerValueAttr.get([first] * max(1, len(results)))}

    def _channel(self) -> ir.Attribute:
        """A number for each collective of the module, which tells it from the others."""
        self._channels += 1
        return hlo.ChannelHandle.get(self._channels, 1)

    def _groups(self, groups: NDArray) -> ir.Attribute:
        return ir.DenseIntElementsAttr.get(np.ascontiguousarray(groups, np.int64))

    def all_reduce(self, combine: str, x: Value, groups: NDArray) -> Value:
        """Combine the values of the partitions of each group by a binary operation."""
        return self.with_region(
            "stablehlo.all_reduce", [x.type], [x], self._scalar_types([x, x]),
            self._combiner(combine),
            replica_groups=self._groups(groups), channel_handle=self._channel(),
            use_global_device_ids=ir.UnitAttr.get(),
        )[0]  # fmt: skip

    def reduce_scatter(self, x: Value, result: ir.Type, axis: int, groups: NDArray) -> Value:
        return self.with_region(
            "stablehlo.reduce_scatter", [result], [x], self._scalar_types([x, x]),
            self._combiner("stablehlo.add"),
            scatter_dimension=self.integer(axis), replica_groups=self._groups(groups),
            channel_handle=self._channel(), use_global_device_ids=ir.UnitAttr.get(),
        )[0]  # fmt: skip

    def all_gather(self, x: Value, result: ir.Type, axis: int, groups: NDArray) -> Value:
        return self.one(
            "stablehlo.all_gather", result, [x], all_gather_dim=self.integer(axis),
            replica_groups=self._groups(groups), channel_handle=self._channel(),
            use_global_device_ids=ir.UnitAttr.get(),
        )  # fmt: skip

    def all_to_all(
        self, x: Value, result: ir.Type, split: int, concat: int, groups: NDArray
    ) -> Value:
        return self.one(
            "stablehlo.all_to_all", result, [x], split_dimension=self.integer(split),
            concat_dimension=self.integer(concat), split_count=self.integer(len(groups[0])),
            replica_groups=self._groups(groups), channel_handle=self._channel(),
        )  # fmt: skip

    def collective_permute(self, x: Value, pairs: Pairs) -> Value:
        return self.one(
            "stablehlo.collective_permute", x.type, [x],
            source_target_pairs=self._groups(np.asarray(pairs).reshape(-1, 2)),
            channel_handle=self._channel(),
        )  # fmt: skip
