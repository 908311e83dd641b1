"""Where buffers are, as the runtime wants to be told: on one device, or in tiles over several."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from . import surface as _jax
    from . import surface as xla
    from .surface import HloSharding, NDArray, OpSharding
else:
    from jaxlib import _jax
    from jaxlib import xla_client as xla

DeviceList = _jax.DeviceList
Device = _jax.Device


class OneDevice(_jax.SingleDeviceSharding):
    """What the runtime wants to know about an array that lives on one device, and C++'s own class has not."""

    # Properties of the class, not attributes: importing jax puts properties of these names, which
    # raise, on the base class, and those would come before attributes of the object.
    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self._its_device = device

    memory_kind = property(lambda self: self._memory_kind)
    device_set = property(lambda self: {self._its_device})
    _device_assignment = property(lambda self: (self._its_device,))

    def _to_xla_hlo_sharding(self, ndim: int) -> HloSharding:
        return xla.HloSharding.replicate()


class Spread(_jax.Sharding):
    """What the runtime wants to know about an array spread over several devices."""

    def __init__(
        self, devices: tuple[Device, ...], hlo_sharding: HloSharding, tiles: NDArray | None = None
    ) -> None:
        super().__init__()
        self._its_devices, self.tiles = tuple(devices), tiles
        self._devices = DeviceList(self._its_devices)
        self._hlo_sharding = hlo_sharding

    memory_kind = None
    _internal_device_list = property(lambda self: self._devices)

    def _to_xla_hlo_sharding(self, ndim: int) -> HloSharding:
        return self._hlo_sharding


@functools.cache
def one_device(device: Device) -> OneDevice:
    return OneDevice(device)


def spread(devices: tuple[Device, ...], tiles: NDArray) -> Spread:
    """The placement of tiles: places in ``devices``, the last axis of ``tiles`` counting copies."""
    proto = xla.OpSharding()
    proto.type = xla.OpSharding.Type.OTHER
    proto.tile_assignment_dimensions = list(tiles.shape)
    proto.tile_assignment_devices = [int(i) for i in tiles.flat]
    proto.replicate_on_last_tile_dim = True
    return Spread(devices, xla.HloSharding.from_proto(proto), tiles)


def tiles_of(proto: OpSharding, count: int, ndim: int) -> NDArray:
    """What the compiler says of an array's placement, as tiles; see spread."""
    sharding = xla.HloSharding.from_proto(proto)
    if sharding.is_replicated() or sharding.is_maximal():
        return np.arange(count).reshape((1,) * ndim + (count,))
    shape = sharding.tile_assignment_dimensions()
    return np.asarray(sharding.tile_assignment_devices()).reshape(*shape[:ndim], -1)
