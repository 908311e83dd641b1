"""Where arrays live: meshes of devices, and how arrays are spread over them."""

# ruff: noqa: I001 (names stand in lines, not one on each)

# fmt: off
from ._control.sharding import with_sharding_constraint as reshard
from ._core.mesh import (
    AbstractMesh, AxisType, Mesh, PartitionSpec, get_mesh, make_mesh, set_mesh, use_mesh,
)
from ._core.sharding import NamedSharding, PositionalSharding, Sharding, SingleDeviceSharding
# fmt: on

__all__ = [
    "AbstractMesh", "AxisType", "get_mesh", "make_mesh", "Mesh", "NamedSharding", "P",
    "PartitionSpec", "PositionalSharding", "reshard", "set_mesh", "Sharding",
    "SingleDeviceSharding", "use_mesh",
]  # fmt: skip

P = PartitionSpec
