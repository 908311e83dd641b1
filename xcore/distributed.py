"""Programs of several processes: ``xcore.distributed.initialize()`` comes first in each of them."""

from ._core.distributed import initialize, is_initialized, shutdown  # noqa: F401
