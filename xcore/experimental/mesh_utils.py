"""Devices in arrays, for meshes: names as in ``jax.experimental.mesh_utils``."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._core import Shape, errors
from .._core.devices import devices as all_devices

__all__ = ["create_device_mesh", "create_hybrid_device_mesh"]


def create_device_mesh(
    mesh_shape: Shape, devices: Iterable[Any] | None = None, *, contiguous_submeshes: bool = False,
    allow_split_physical_axes: bool = False,
) -> np.ndarray:  # fmt: skip
    """Devices in an array of a given shape, for ``Mesh``.

    CPUs and the GPUs of a host all reach each other alike, so the order is that of their numbers,
    those of one process side by side.

    Args:
      mesh_shape: sizes of the axes; axes with more traffic come later.
      devices: all by default.
      contiguous_submeshes, allow_split_physical_axes: of no effect without a physical mesh.

    >>> from xcore.experimental import mesh_utils
    >>> import xcore as xc
    >>> mesh = xc.sharding.Mesh(mesh_utils.create_device_mesh((1, 1), xc.devices()[:1]), ("a", "b"))
    >>> dict(mesh.shape)
    {'a': 1, 'b': 1}
    """
    found = list(all_devices() if devices is None else devices)
    shape = tuple(map(int, mesh_shape))
    if math.prod(shape) != len(found):
        wanted = f"sizes with the product {len(found)}, the number of devices"
        raise errors.bad_argument("create_device_mesh", "mesh_shape", shape, wanted)
    out = np.empty(len(found), dtype=object)
    out[:] = sorted(found, key=lambda d: (d.process_index, d.id)) if devices is None else found
    return out.reshape(shape)


def create_hybrid_device_mesh(
    mesh_shape: Shape, dcn_mesh_shape: Shape, devices: Iterable[Any] | None = None, *,
    process_is_granule: bool = False, should_sort_granules_by_key: bool = True,
    allow_split_physical_axes: bool = False,
) -> np.ndarray:  # fmt: skip
    """Devices in an array whose axes go over the devices of a process, and over processes.

    Axis i has the size ``dcn_mesh_shape[i] * mesh_shape[i]``: blocks of ``mesh_shape`` from one
    process each.

    Args:
      mesh_shape: sizes of the axes within a process.
      dcn_mesh_shape: sizes of the same axes over processes.
      devices: all by default.
      process_is_granule: accepted; here a block is always a process.
      should_sort_granules_by_key: order the processes by their indices, else as they come.
      allow_split_physical_axes: of no effect without a physical mesh.

    >>> import xcore as xc
    >>> from xcore.experimental import mesh_utils
    >>> mesh_utils.create_hybrid_device_mesh((1, 1), (1, 1), xc.devices()[:1]).shape
    (1, 1)
    """
    who = "create_hybrid_device_mesh"
    inner, outer = tuple(map(int, mesh_shape)), tuple(map(int, dcn_mesh_shape))
    if len(inner) != len(outer):
        raise errors.bad_argument(who, "dcn_mesh_shape", outer, f"{len(inner)} sizes")
    blocks: dict = {}
    for d in all_devices() if devices is None else devices:
        blocks.setdefault(d.process_index, []).append(d)
    if len(blocks) != math.prod(outer):
        wanted = f"sizes with the product {len(blocks)}, the number of processes"
        raise errors.bad_argument(who, "dcn_mesh_shape", outer, wanted)
    order = sorted(blocks) if should_sort_granules_by_key else list(blocks)
    parts = np.stack([create_device_mesh(inner, blocks[i]) for i in order])
    n = len(inner)
    both = parts.reshape(outer + inner).transpose([j for i in range(n) for j in (i, n + i)])
    return both.reshape([a * b for a, b in zip(outer, inner, strict=True)])
