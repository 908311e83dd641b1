"""Programs of several processes: ``xcore.distributed.initialize()`` comes first in each of them."""

from ._core.distributed import initialize, is_initialized, shutdown

__all__ = ["initialize", "is_initialized", "shutdown"]
