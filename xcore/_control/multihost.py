"""What several processes do together: wait for each other, and exchange values of the host."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._core import Array, PyTree, boundary, distributed, errors, to_array, tree
from .._core.devices import devices, process_count, process_index
from .._core.mesh import Mesh, PartitionSpec
from .._core.placing import reshard
from .._core.sharding import NamedSharding, is_placement
from .._core.shards import make_array_from_process_local_data
from .._ops import reduce_sum
from .jit import jit

_numbers = itertools.count()  # of the meetings: every process comes to them in the same order


@boundary
def sync_global_devices(name: str, timeout: float = 300.0) -> None:
    """Wait until every process has come to the place of this name.

    Raises if another process is at a place of another name, and after the timeout.

    Args:
      name: the same in all processes.
      timeout: seconds.

    >>> import xcore as xc
    >>> xc.multihost.sync_global_devices("data is there")
    """
    number = next(_numbers)
    if process_count() == 1:
        return
    distributed.publish(f"xcore/sync/{number}/{process_index()}", name.encode())
    distributed.barrier(f"xcore/sync/{number}", timeout)
    for other in range(process_count()):
        there = distributed.receive(f"xcore/sync/{number}/{other}", timeout).decode()
        if there != name:
            raise RuntimeError(
                f"xcore.multihost.sync_global_devices: this process is at {name!r}, but process {other} is at "
                f"{there!r}. All processes must take the same way through the program."
            )


@boundary
def live_processes() -> list[int]:
    """Numbers of the processes that have neither left nor died.

    A death is noticed within the heartbeat timeout of ``xc.distributed.initialize``; soon after, the
    others end with an error.

    >>> import xcore as xc
    >>> xc.multihost.live_processes()
    [0]
    """
    return distributed.living()


@boundary
def live_devices(among: Iterable[Any] | None = None) -> list:
    """The devices of the processes that have neither left nor died.

    Args:
      among: devices to choose from; all by default.

    >>> import xcore as xc
    >>> xc.multihost.live_devices() == xc.devices()
    True
    """
    here = set(live_processes())
    return [d for d in (devices() if among is None else among) if d.process_index in here]


def _mesh() -> Mesh:
    """All devices, a row for each process."""
    rows: dict = {}
    for d in devices():
        rows.setdefault(d.process_index, []).append(d)
    return Mesh([rows[i] for i in sorted(rows)], ("process", "local"))


def _stack_processes(value: np.ndarray) -> Array:
    """The values of all processes along a new first axis, each on its own devices."""
    sharding = NamedSharding(_mesh(), PartitionSpec("process"))
    return make_array_from_process_local_data(sharding, value[None])


def _everywhere(x: Array) -> np.ndarray:
    """The whole content of an array over several processes, in each of them."""
    mesh = getattr(x.sharding, "mesh", None) or _mesh()
    return np.asarray(reshard(x, NamedSharding(mesh, PartitionSpec())))


@boundary
def process_allgather(in_tree: PyTree, tiled: bool = False) -> PyTree:
    """NumPy arrays with the values of all processes.

    Args:
      in_tree: pytree of arrays. Values of one process are stacked along a new first axis; arrays over
        several processes are collected whole.
      tiled: join along the first axis instead of stacking.

    >>> import xcore as xc, numpy as np
    >>> xc.multihost.process_allgather(np.arange(2))
    array([[0, 1]])
    """

    def gather(x):
        if type(x) is Array and not x.is_fully_addressable:
            return _everywhere(x)
        value = np.asarray(x)
        if tiled and not value.ndim:
            raise errors.shape_mismatch("multihost.process_allgather", "need an axis to join", x=x)
        whole = value[None] if process_count() == 1 else _everywhere(_stack_processes(value))
        return whole.reshape(-1, *value.shape[1:]) if tiled else whole

    return tree.map(gather, in_tree)


@boundary
def broadcast_one_to_all(in_tree: PyTree, is_source: bool | None = None) -> PyTree:
    """NumPy arrays with the values of one process, in all of them.

    Args:
      in_tree: pytree of arrays, of the same shapes and dtypes everywhere.
      is_source: true in the process whose values count; by default process 0.

    >>> import xcore as xc
    >>> xc.multihost.broadcast_one_to_all({"seed": 3})
    {'seed': array(3)}
    """
    source = process_index() == 0 if is_source is None else bool(is_source)
    total = jit(lambda v: reduce_sum(v, axes=(0,)))

    def send(x):
        value = np.ascontiguousarray(x).reshape(np.shape(x))
        if process_count() == 1:
            return value
        # as bytes, of which all but one process give zeros: so the sum has the bits of the source
        raw = np.frombuffer(value.tobytes(), np.uint8)
        whole = total(_stack_processes(raw if source else np.zeros_like(raw)))
        return np.frombuffer(_everywhere(whole).tobytes(), value.dtype).reshape(value.shape)

    return tree.map(send, in_tree)


@boundary
def assert_equal(in_tree: PyTree, fail_message: str = "") -> None:
    """Raise in every process unless all have the same values.

    Args:
      in_tree: tree of arrays.
      fail_message: what the error says besides the values.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.multihost.assert_equal({"x": xnp.arange(3)}, "the data differ")
    """

    def check(x):
        found = process_allgather(x)
        if any(not np.array_equal(found[0], other) for other in found[1:]):
            raise AssertionError(
                f"xcore.multihost.assert_equal: processes have different values: {found.tolist()}. {fail_message}"
            )

    tree.map(check, in_tree)


def _placements(specs, mesh, values) -> list:
    found = tree.broadcast_prefix(specs, values, is_placement, "multihost(pspecs)")
    return [NamedSharding(mesh, PartitionSpec() if s is None else s) for s in found]


@boundary
def host_local_array_to_global_array(
    local_inputs: PyTree, global_mesh: Mesh, pspecs: PyTree
) -> PyTree:
    """Arrays over the mesh from the parts that each process has.

    Args:
      local_inputs: tree of arrays.
      global_mesh: the mesh over the devices of all processes.
      pspecs: a PartitionSpec, or a tree of them.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> mesh = xc.make_mesh((1,), "x", devices=xc.devices("cpu")[:1])
    >>> xc.multihost.host_local_array_to_global_array(xnp.arange(2), mesh, xc.P("x"))
    Array([0, 1], dtype=int32)
    """
    leaves, structure = tree.flatten(local_inputs)
    targets = _placements(pspecs, global_mesh, local_inputs)
    return tree.unflatten(
        structure,
        [make_array_from_process_local_data(s, np.asarray(x)) for x, s in zip(leaves, targets)],
    )


@boundary
def global_array_to_host_local_array(
    global_inputs: PyTree, global_mesh: Mesh, pspecs: PyTree
) -> PyTree:
    """The part that this process has of arrays over the mesh, as arrays on its devices.

    Args:
      global_inputs: tree of arrays.
      global_mesh: the mesh over the devices of all processes.
      pspecs: a PartitionSpec, or a tree of them.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> mesh = xc.make_mesh((1,), "x", devices=xc.devices("cpu")[:1])
    >>> xc.multihost.global_array_to_host_local_array(xnp.arange(2), mesh, xc.P("x"))
    Array([0, 1], dtype=int32)
    """
    leaves, structure = tree.flatten(global_inputs)
    targets = _placements(pspecs, global_mesh, global_inputs)
    return tree.unflatten(
        structure, [to_array(_local(reshard(x, s))) for x, s in zip(leaves, targets)]
    )


def _local(x: Array) -> np.ndarray:
    """The parts on this process's devices, put together."""
    starts = [sorted({s.index[a].start or 0 for s in x.addressable_shards}) for a in range(x.ndim)]
    size = x.sharding.shard_shape(x.shape)
    whole = np.empty([len(s) * n for s, n in zip(starts, size)], x.dtype)
    for shard in x.addressable_shards:
        place = [
            s.index(i.start or 0) * n for s, i, n in zip(starts, shard.index, size, strict=True)
        ]
        whole[tuple(slice(p, p + n) for p, n in zip(place, size, strict=True))] = shard.data
    return whole
