"""What is in the memory of devices."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import gc
from typing import Any

from .._backend import client as backend
from .array import Array
from .compile import placed
from .sharding import PositionalSharding
from .types import ArrayType, Placed


def live_arrays(platform: str | None = None) -> list[Array]:
    """All arrays that exist on the devices of a platform.

    Args:
      platform: "cpu", "gpu" or another; by default the best one there is, and host memory.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> x = xnp.ones((3, 4099))
    >>> any(a.shape == (3, 4099) for a in xc.live_arrays())
    True
    """
    found = [b for b in backend.client(platform).live_arrays() if not b.is_deleted()]
    buffers = [
        Array(b, _type_of_buffer(b)) for b in found if b.aval is not None and backend.has_place(b)
    ]
    return buffers + (_on_host() if platform is None or backend.named(platform) == "cpu" else [])


def _on_host() -> list[Array]:
    """Small arrays that have no buffer yet."""
    return [x for x in gc.get_objects() if type(x) is Array and x._b is None]


def _type_of_buffer(buffer: Any):
    type_ = ArrayType(buffer.aval.shape, buffer.aval.dtype)
    devices, tiles = backend.place_of(buffer)
    if len(devices) == 1:
        return placed(type_, devices[0])
    return Placed(type_, PositionalSharding(devices, _tiles=tiles))


def memory_stats(device: Any = None) -> dict[Any, Any]:
    """How much memory of a device is in use, in bytes.

    What an accelerator says itself (bytes_in_use, peak_bytes_in_use, bytes_limit, …); for a CPU the
    size of the live arrays.

    Args:
      device: which; the default device if None.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> x = xnp.ones(1000)
    >>> xc.memory_stats()["bytes_in_use"] >= 4000
    True
    """
    device = backend.default_device() if device is None else device
    stats = backend.statistics(device)
    if stats is not None:
        return dict(stats)
    sizes = [_bytes_on(device, a) for a in live_arrays(device.client.platform)]
    sizes = [n for n in sizes if n]
    return {"bytes_in_use": sum(sizes), "num_arrays": len(sizes)}


def _bytes_on(device: Any, a: Array) -> int:
    if device not in a.sharding.device_set:
        return 0
    return a.nbytes // max(1, a.size) * _size_of_part(a)


def _size_of_part(a: Array) -> int:
    size = 1
    for n in a.sharding.shard_shape(a.shape):
        size *= n
    return size
