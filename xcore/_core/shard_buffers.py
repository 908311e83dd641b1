"""Buffers over several devices: made from host memory, and read back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._backend import client as backend
from .sharding import Part, Sharding, local_devices, tile_indices
from .types import ArrayType

if TYPE_CHECKING:
    from .._backend.client import Device
    from .._backend.surface import Buffer


def local_indices(sharding: Sharding, shape: tuple[int, ...]) -> list[tuple[Device, Part]]:
    """(device, index of its part) for the devices of this process."""
    here = set(local_devices(sharding.devices))
    pairs = zip(sharding.devices, tile_indices(sharding, shape), strict=True)
    return [(d, i) for d, i in pairs if d in here]


def scatter(value: np.ndarray, type_: ArrayType, sharding: Sharding) -> Buffer:
    """A buffer laid out by ``sharding``; every process gives its devices' parts of its own value."""
    local = local_indices(sharding, value.shape)
    return from_parts([value[(*i, ...)] for _, i in local], type_, sharding, [d for d, _ in local])


_SMALL = 2**16  # bytes: a copy in host memory costs less than a transfer of its own


def from_parts(
    parts: Sequence[np.ndarray], type_: ArrayType, sharding: Sharding, devices: Sequence[Device]
) -> Buffer:
    """A buffer from one host array for each of the local devices.

    The runtime fails when it is to copy from one place in host memory twice in one transfer.
    """
    parts = [np.ascontiguousarray(p) if p.ndim else p for p in parts]
    raw = sharding.raw(type_.ndim)
    if len({p.ctypes.data for p in parts}) == len(parts):
        return backend.put_sharded(type_, raw, parts, devices)
    if parts[0].nbytes <= _SMALL:
        return backend.put_sharded(type_, raw, [p.copy() for p in parts], devices)
    part = ArrayType(parts[0].shape, parts[0].dtype)
    buffers = [backend.put(p, part, d) for p, d in zip(parts, devices, strict=True)]
    return backend.assemble(type_, raw, buffers)


def gather(shards: Sequence[Buffer], type_: ArrayType, sharding: Sharding) -> np.ndarray:
    """The content of an array over several devices, in host memory, from its local buffers."""
    if sharding.is_fully_replicated:
        return backend.to_host(shards[0])
    if not sharding.is_fully_addressable:
        raise RuntimeError(
            f"xcore: {type_} is spread over devices of other processes, whose parts are not here. Read "
            "x.addressable_shards, or collect it with xcore.multihost_utils.process_allgather(x)."
        )
    whole = np.empty(type_.shape, type_.dtype)
    done: set[tuple[Any, ...]] = set()
    for shard, (_, index) in zip(shards, local_indices(sharding, type_.shape), strict=True):
        key = tuple([(s.start, s.stop) for s in index])
        if key not in done:
            done.add(key)
            whole[index] = backend.to_host(shard)
    whole.flags.writeable = False
    return whole
