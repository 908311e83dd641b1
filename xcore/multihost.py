"""What several processes do together."""

from ._control.multihost import (
    assert_equal,
    broadcast_one_to_all,
    global_array_to_host_local_array,
    host_local_array_to_global_array,
    live_devices,
    live_processes,
    process_allgather,
    sync_global_devices,
)

__all__ = [
    "assert_equal", "broadcast_one_to_all", "global_array_to_host_local_array",
    "host_local_array_to_global_array", "live_devices", "live_processes", "process_allgather",
    "sync_global_devices",
]  # fmt: skip
