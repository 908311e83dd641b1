"""Arrays made of parts: from a function of their place, from local data, from single-device arrays."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._backend import client as backend
from . import dtypes, errors, tree
from .array import Array, from_host
from .compile import put
from .eval import host_values, to_array, to_device, to_value
from .mesh import Mesh, PartitionSpec
from .op import registry
from .shard_buffers import from_parts, local_indices
from .sharding import NamedSharding, Sharding, as_sharding, is_placement, local_devices
from .source import boundary
from .types import ArrayType, Placed, typeof

if TYPE_CHECKING:
    from .._backend.client import Device
    from .typing import DTypeLike, PyTree


def _from_parts(
    parts: list[np.ndarray], dtype: Any, shape: Iterable[int], sharding: Sharding,
    devices: list[Device],
) -> Array:  # fmt: skip
    type_ = ArrayType(tuple(shape), dtypes.as_dtype(dtype))  # not in another byte order
    parts = [np.asarray(p, type_.dtype) for p in parts]
    if len(sharding.devices) == 1:
        return from_host(parts[0], put(type_, sharding))
    return Array(from_parts(parts, type_, sharding, devices), Placed(type_, sharding))


def _checked_part(
    who: str, part: Any, device: Device, shape: tuple[int, ...], dtype: Any
) -> np.ndarray:
    part = np.asarray(part)
    if part.shape != shape or (dtype is not None and part.dtype != dtype):
        wanted = f"shape {shape}" + (f" and dtype {dtype}" if dtype is not None else "")
        raise errors.bad_argument(
            who, f"the part of {device}", errors.Words(f"{part.dtype}{list(part.shape)}"), wanted
        )
    return part


@boundary
def make_array_from_callback(
    shape: Iterable[int], sharding: Any, data_callback: Callable[[Any], Any],
    dtype: DTypeLike | None = None,
) -> Array:  # fmt: skip
    """An array whose parts a function makes. It is asked for the parts of this process only.

    Args:
      shape: of the whole array.
      sharding: how it is laid out.
      data_callback: given the index of a part (a tuple of slices), returns it.
      dtype: of the array; needed only by a process that holds no part.

    >>> import xcore as xc, numpy as np
    >>> whole = np.arange(4, dtype=np.float32)
    >>> s = xc.NamedSharding(xc.make_mesh((1,), "x"), xc.P("x"))
    >>> xc.make_array_from_callback((4,), s, lambda index: whole[index])
    Array([0., 1., 2., 3.], dtype=float32)
    """
    who, shape = "make_array_from_callback", tuple(map(int, shape))
    sharding = as_sharding(who, sharding)
    size = sharding.shard_shape(shape)
    made: dict[Any, Any] = {}
    parts: list[np.ndarray] = []
    devices: list[Device] = []
    for device, index in local_indices(sharding, shape):
        key = tuple([(s.start, s.stop) for s in index])
        if key not in made:
            part = host_values(data_callback(index))
            dtype = dtypes.as_dtype(part.dtype if dtype is None else dtype)
            made[key] = np.asarray(part, dtype)
        parts.append(_checked_part(who, made[key], device, size, dtype)[...])
        devices.append(device)
    return _from_parts(parts, dtype, shape, sharding, devices)


@boundary
def make_array_from_single_device_arrays(
    shape: Iterable[int], sharding: Any, arrays: Sequence[Array], *,
    dtype: DTypeLike | None = None,
) -> Array:  # fmt: skip
    """An array from parts that lie on its devices already. Nothing is copied.

    Args:
      shape: of the whole array.
      sharding: how it is laid out.
      arrays: one for each device of this process, in any order.
      dtype: accepted; the parts have it.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> s = xc.NamedSharding(xc.make_mesh((1,), "x", devices=xc.devices("cpu")[:1]), xc.P("x"))
    >>> part = xc.device_put(xnp.arange(2), xc.devices("cpu")[0])
    >>> xc.make_array_from_single_device_arrays((2,), s, [part])
    Array([0, 1], dtype=int32)
    """
    who, shape = "make_array_from_single_device_arrays", tuple(map(int, shape))
    sharding = as_sharding(who, sharding)
    by_device = {a.device: a for a in arrays}
    missing = [d for d in local_devices(sharding.devices) if d not in by_device]
    if missing or len(by_device) != len(local_devices(sharding.devices)):
        raise ValueError(
            f"xcore.{who}: need one array on each of {list(local_devices(sharding.devices))}, given arrays on "
            f"{[a.device for a in arrays]}."
        )
    size = sharding.shard_shape(shape)
    first = next(iter(by_device.values()))
    for device, a in by_device.items():
        if a.shape != size or a.dtype != first.dtype:
            raise errors.bad_argument(who, f"the array on {device}", a.type, f"shape {size}")
    type_ = ArrayType(shape, first.dtype)
    if len(sharding.devices) == 1:
        return Array(first._buffer(), put(type_, sharding))
    buffers = [by_device[d]._live_buffer() for d in local_devices(sharding.devices)]
    return Array(
        backend.assemble(type_, sharding.raw(len(shape)), buffers), Placed(type_, sharding)
    )


@boundary
def make_array_from_process_local_data(
    sharding: PyTree, local_data: PyTree, global_shape: PyTree = None
) -> PyTree:
    """An array over several processes from the part that each of them has.

    Args:
      sharding: how the whole array is laid out, or a pytree of such.
      local_data: this process's part, or a pytree of such; along an axis that is not divided between
        processes, all of it.
      global_shape: of the whole array, or a pytree of shapes; by default what the parts add up to.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> s = xc.NamedSharding(xc.make_mesh((1,), "x", devices=xc.devices("cpu")[:1]), xc.P("x"))
    >>> xc.make_array_from_process_local_data(s, xnp.arange(2))
    Array([0, 1], dtype=int32)
    """
    who = "make_array_from_process_local_data"
    leaves, structure = tree.flatten(local_data)
    targets = tree.broadcast_prefix(sharding, local_data, is_placement, f"{who}(sharding)")
    shapes = tree.broadcast_prefix(global_shape, local_data, _is_shape, f"{who}(global_shape)")
    made = [
        _from_local(who, as_sharding(who, s), host_values(x), shape)
        for s, x, shape in zip(targets, leaves, shapes, strict=True)
    ]
    return tree.unflatten(structure, made)


def _is_shape(x: Any) -> bool:
    return x is None or (
        isinstance(x, tuple)
        and not any(isinstance(n, (tuple, dict, list)) for n in cast("tuple[Any, ...]", x))
    )


def _from_local(
    who: str, sharding: Sharding, local: np.ndarray, global_shape: Iterable[int] | None
) -> Array:
    local = np.asarray(local, dtypes.as_dtype(local.dtype))
    if len(sharding.devices) == 1:
        return from_host(local, put(typeof(to_value(local)), sharding))
    blocks = [_blocks(sharding, local.ndim, axis) for axis in range(local.ndim)]
    if global_shape is None:
        global_shape = [n * b[1] // len(b[0]) for n, b in zip(local.shape, blocks, strict=True)]
    shape = tuple(global_shape)
    size = sharding.shard_shape(shape)
    starts = [
        None if n == whole else {b * s: i * s for i, b in enumerate(here)}
        for n, whole, s, (here, _) in zip(local.shape, shape, size, blocks, strict=True)
    ]
    parts: list[np.ndarray] = []
    devices: list[Device] = []
    for device, index in local_indices(sharding, shape):
        part = local[tuple(map(_local_starts, index, starts, size))]
        parts.append(_checked_part(who, part, device, size, None)[...])
        devices.append(device)
    return _from_parts(parts, local.dtype, shape, sharding, devices)


def _blocks(sharding: Sharding, ndim: int, axis: int) -> tuple[list[int], int]:
    """Which blocks along an axis this process holds, and how many there are."""
    tiles = sharding.tiles(ndim)
    here = [i for i, d in enumerate(sharding.devices) if d in set(local_devices(sharding.devices))]
    held = np.isin(tiles, here).any(axis=tuple(i for i in range(ndim + 1) if i != axis))
    return np.flatnonzero(held).tolist(), tiles.shape[axis]


def _local_starts(index: slice, starts: dict[int, int] | None, size: int) -> slice:
    """Where a part of the whole array begins in the local data."""
    if starts is None:
        return index
    start = starts[index.start or 0]
    return slice(start, start + size)


@boundary
def device_put_sharded(shards: Sequence[PyTree], devices: Iterable[Device]) -> PyTree:
    """One pytree per device, stacked along a new first axis that is spread over the devices.

    Args:
      shards: a list of pytrees of arrays, equal in structure, shapes and dtypes.
      devices: as many devices.

    >>> import xcore as xc, numpy as np
    >>> xc.device_put_sharded([np.ones(2, np.float32)], xc.devices()[:1])
    Array([[1., 1.]], dtype=float32)
    """
    shards, devices = list(shards), list(devices)
    if not shards or len(shards) != len(devices):
        wanted = f"one pytree for each of the {len(devices)} devices"
        raise errors.bad_argument(
            "device_put_sharded", "shards", errors.Words(f"{len(shards)} of them"), wanted
        )
    for shard in shards[1:]:
        tree.check_structure(tree.structure(shards[0]), shard, "device_put_sharded")
    stacked = [_along(devices, parts) for parts in zip(*map(tree.leaves, shards), strict=True)]
    return tree.unflatten(tree.structure(shards[0]), stacked)


@boundary
def device_put_replicated(x: PyTree, devices: Iterable[Device]) -> PyTree:
    """A copy of a pytree on each device, along a new first axis that is spread over the devices.

    Args:
      x: pytree of arrays or numbers.
      devices: where to put them.

    >>> import xcore as xc, numpy as np
    >>> xc.device_put_replicated(np.float32(3), xc.devices()[:1])
    Array([3.], dtype=float32)
    """
    devices = list(devices)
    if not devices:
        raise errors.bad_argument("device_put_replicated", "devices", devices, "at least one")
    return tree.map(lambda leaf: _along(devices, [leaf] * len(devices)), x)


def _along(devices: list[Device], parts: Iterable[Any]) -> Array:
    """Parts, each on its device, as one array with a first axis over the devices."""
    parts = [to_array(x) for x in parts]
    rows = [registry["reshape"](x, shape=(1, *x.shape)) for x in parts]
    sharding = NamedSharding(Mesh(devices, ("devices",)), PartitionSpec("devices"))
    placed_rows = [to_device(x, d) for x, d in zip(rows, devices, strict=True)]
    shape = len(devices), *parts[0].shape
    return make_array_from_single_device_arrays(shape, sharding, placed_rows)
