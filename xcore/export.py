"""Functions as files: exported here, called in another process, on another machine, years later.

>>> import xcore as xc, xcore.numpy as xnp
>>> exported = xc.export.export(xc.jit(lambda x: x**2), platforms=["cpu", "cuda"])(1.0)
>>> xc.export.deserialize(exported.serialize()).call(3.0)
Array(9., dtype=float32)
"""

from ._control.exported import (
    DisabledSafetyCheck,
    Exported,
    deserialize,
    export,
)
from ._control.unknown_sizes import symbolic_shape
from ._core.exceptions import ExportError
from ._core.structures import (
    register_namedtuple_serialization,
    register_pytree_node_serialization,
)

__all__ = [
    "deserialize", "DisabledSafetyCheck", "export", "Exported", "ExportError",
    "register_namedtuple_serialization", "register_pytree_node_serialization", "symbolic_shape",
]  # fmt: skip
