"""Looking into compiled programs: names as in ``jax.debug``."""

from ._control.callback import debug_breakpoint as breakpoint
from ._control.callback import debug_callback as callback
from ._control.callback import debug_print as print
from ._control.sharding import (
    inspect_array_sharding,
    visualize_array_sharding,
    visualize_sharding,
)

__all__ = [
    "breakpoint", "callback", "inspect_array_sharding", "print", "visualize_array_sharding",
    "visualize_sharding",
]  # fmt: skip
