"""Devices: listing them, and putting pytrees of arrays on them."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._backend import client as backend
from . import config, errors, tree
from .array import Array, from_host
from .compile import placed
from .eval import host_values, is_array_like, to_array, to_device
from .op import registry
from .placing import reshard
from .sharding import Sharding, SingleDeviceSharding, as_sharding, is_placement, shape_of_tile
from .source import boundary
from .trace import Tracer, current
from .types import ArrayType, Placed, Value

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from .._backend.client import Device
    from .typing import PyTree

    Target = Device | Sharding | str | None


def devices(platform: str | None = None) -> list[Device]:
    """All devices of a platform ("cpu", "gpu"), or of the best one there is.

    Args:
      platform: "cpu", "gpu" or another; by default the best one there is.

    >>> import xcore as xc
    >>> xc.devices("cpu")[0].platform
    'cpu'
    """
    return backend.devices(platform)


def local_devices(
    process_index: int | None = None, backend_name: str | None = None
) -> list[Device]:
    """The devices of this process, or of the process of that index.

    Args:
      process_index: of another process; this one by default.
      backend_name: a platform, such as "cpu".

    >>> import xcore as xc
    >>> [d.platform for d in xc.local_devices(backend_name="cpu")][0]
    'cpu'
    """
    if process_index is None:
        return backend.local_devices(backend_name)
    return [d for d in backend.devices(backend_name) if d.process_index == process_index]


def device_count(platform: str | None = None) -> int:
    """How many devices there are on all hosts.

    Args:
      platform: "cpu", "gpu" or another; by default the best one there is.

    >>> import xcore as xc
    >>> xc.device_count() == len(xc.devices())
    True
    """
    return len(devices(platform))


def local_device_count(platform: str | None = None) -> int:
    """How many devices this process has.

    Args:
      platform: "cpu", "gpu" or another; by default the best one there is.

    >>> import xcore as xc
    >>> xc.local_device_count() == len(xc.local_devices())
    True
    """
    return len(local_devices(None, platform))


def default_backend() -> str:
    """The platform of the first device: "cpu", "gpu" or "tpu".

    >>> import xcore as xc
    >>> xc.default_backend() in ("cpu", "gpu")
    True
    """
    return devices()[0].platform


def process_index() -> int:
    """The index of this process among all.

    >>> import xcore as xc
    >>> xc.process_index()
    0
    """
    return backend.client().process_index()


def process_count() -> int:
    """How many processes there are.

    >>> import xcore as xc
    >>> xc.process_count()
    1
    """
    return len(process_indices())


def process_indices() -> list[int]:
    """The numbers of all processes.

    >>> import xcore as xc
    >>> xc.process_indices()
    [0]
    """
    return sorted({d.process_index for d in devices()})


def default_device(device: Any) -> AbstractContextManager[None]:
    """``with default_device(d):`` makes new arrays live on d.

    Args:
      device: a device, the name of a platform for its first device, or None for the usual one.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> with xc.default_device(xc.devices("cpu")[0]):
    ...     print(xnp.ones(2).device.platform)
    cpu
    """
    return config.override(default_device=_as_device(device) if isinstance(device, str) else device)


def _as_device(spec: Any) -> Device:
    """A device from a device, a platform name, or a sharding of one device."""
    if isinstance(spec, str):
        return backend.client(spec).local_devices()[0]
    if isinstance(spec, SingleDeviceSharding):
        return spec.device
    if hasattr(spec, "platform") and hasattr(spec, "client"):
        return spec
    raise TypeError(
        f"xcore.device_put: expected a device, a platform name or a sharding, given {errors.describe(spec)}. "
        "Devices are listed by xc.devices()."
    )


def _put_leaf(x: Any, target: Any) -> Value:
    if not is_array_like(x):
        raise errors.not_an_array("device_put", x)
    if isinstance(x, Tracer):
        return _put_traced(x, target)
    if current().by_type and is_placement(target):
        return _put_traced(x, target)
    if type(x) is Array and x.is_deleted():
        raise errors.deleted_array(x.type)
    if target is None:
        return to_array(x)
    if is_placement(target):
        target = as_sharding("device_put", target)
        if not isinstance(target, SingleDeviceSharding):
            return _spread(x, target)
    device = _as_device(target)
    if isinstance(x, (np.ndarray, np.generic)):
        return _host_array(x, lambda type_: placed(type_, device))
    return to_device(to_array(x), device)


def _host_array(x: Any, place: Callable[[ArrayType], ArrayType | Placed]) -> Array:
    """What is in host memory as an array, of the dtype that it would have on the default device."""
    host = host_values(x)
    type_ = to_array(np.zeros((), host.dtype)).type.with_shape(host.shape)
    return from_host(host.astype(type_.dtype, copy=False), place(type_))


def _is_target(t: Any) -> bool:
    return isinstance(t, str) or is_placement(t)


def _put_traced(x: Any, target: Any) -> Value:
    """Inside a program the placement is the program's, but how it is spread can be said."""
    if isinstance(target, (type(None), str)) or len(as_sharding("device_put", target).devices) == 1:
        return x
    return registry["sharding_constraint"](x, sharding=as_sharding("device_put", target))


def _spread(x: Any, sharding: Sharding) -> Array:
    """A value laid out by a sharding; what is in host memory is cut there, not on a device."""
    given: Any = x
    if not isinstance(x, (np.ndarray, np.generic)):
        return reshard(to_array(given), sharding)
    host = host_values(given)
    shape_of_tile(sharding, host.shape)
    return _host_array(host, lambda type_: Placed(type_, sharding))


@boundary
def device_put(
    x: PyTree, device: Any = None, *, src: Any = None, donate: bool = False, may_alias: Any = None
) -> PyTree:
    """A pytree of arrays on a device (or laid out by a sharding).

    Args:
      x: pytree of arrays or numbers.
      device: a device, a sharding, or a pytree of them; None leaves placed arrays where they are.
      donate: delete the arrays that were copied.
      src, may_alias: accepted for compatibility: what is in its place is not copied.

    >>> import xcore as xc, numpy as np
    >>> xc.device_put(np.arange(3.0, dtype=np.float32))
    Array([0., 1., 2.], dtype=float32)
    """
    leaves, structure = tree.flatten(x)
    targets = (
        [device] * len(leaves)
        if _is_target(device)
        else tree.broadcast_prefix(device, x, _is_target)
    )
    out = [_put_leaf(leaf, target) for leaf, target in zip(leaves, targets, strict=True)]
    if donate:
        for old, new in zip(leaves, out, strict=True):
            if (
                type(old) is Array
                and type(new) is Array
                and new is not old
                and (new._b is None or new._b is not old._b)
            ):
                old.delete()
    return tree.unflatten(structure, out)


@boundary
def device_get(x: PyTree) -> PyTree:
    """A pytree with arrays as NumPy arrays.

    Args:
      x: array or pytree of arrays; what is no array stays as it is.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.device_get({"x": xnp.arange(3)})
    {'x': array([0, 1, 2], dtype=int32)}
    """
    return tree.map(lambda leaf: np.asarray(leaf) if type(leaf) is Array else leaf, x)


@boundary
def block_until_ready(x: PyTree) -> PyTree:
    """Wait for every array of a pytree. Returns the pytree.

    Args:
      x: array or pytree of arrays; what is no array stays as it is.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> x = xc.block_until_ready(xnp.ones(3) + 1)  # from here on the result is there
    """
    for leaf in tree.leaves(x):
        if hasattr(leaf, "block_until_ready"):
            leaf.block_until_ready()
    return x
