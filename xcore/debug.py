"""Looking into compiled programs: names as in ``jax.debug``."""

from ._control.callback import debug_breakpoint as breakpoint  # noqa: F401
from ._control.callback import debug_callback as callback  # noqa: F401
from ._control.callback import debug_print as print  # noqa: F401
from ._control.sharding import (  # noqa: F401
    inspect_array_sharding,
    visualize_array_sharding,
    visualize_sharding,
)
