"""Where arrays live: meshes of devices, and how arrays are spread over them."""

from ._control.sharding import with_sharding_constraint as reshard  # noqa: F401
from ._core.mesh import (  # noqa: F401
    AbstractMesh,
    AxisType,
    Mesh,
    PartitionSpec,
    get_mesh,
    make_mesh,
    set_mesh,
    use_mesh,
)
from ._core.sharding import (  # noqa: F401
    NamedSharding,
    PositionalSharding,
    Sharding,
    SingleDeviceSharding,
)

P = PartitionSpec
