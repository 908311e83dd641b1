"""Programs of several processes: joining them, and leaving."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._backend import client as backend
from .._backend import cluster
from . import errors
from .source import boundary


@boundary
def initialize(coordinator_address: str | None = None, num_processes: int | None = None,
               process_id: int | None = None, local_device_ids: Any = None,
               cluster_detection_method: str | None = None,
               initialization_timeout: int = 300, heartbeat_timeout_seconds: int = 100,
               shutdown_timeout_seconds: int = 300,
               coordinator_bind_address: str | None = None) -> None:  # fmt: skip
    """Join the other processes of a program. Comes first, before any array is made.

    Afterwards ``xc.devices()`` are the devices of all processes, and every process runs the same
    program. What is not given is read from the environment: ``XCORE_COORDINATOR_ADDRESS``,
    ``XCORE_NUM_PROCESSES``, ``XCORE_PROCESS_ID``, or what SLURM, Open MPI, Kubernetes or torchrun set.

    When a process dies or hangs, the others raise ``DistributedError`` or end with a message and status
    70, within one and a half times the heartbeat timeout.

    Args:
      coordinator_address: "host:port" of process 0, the same in all processes.
      num_processes: how many there are.
      process_id: which one this is, from 0.
      local_device_ids: numbers of the GPUs of this process; all that it sees by default.
      cluster_detection_method: the job manager whose variables count: "slurm", "ompi", "k8s",
        "torchrun", or "deactivate" for none of them; whichever has set its own by default.
      initialization_timeout: seconds to wait for the others.
      heartbeat_timeout_seconds: seconds of silence after which a process counts as dead.
      shutdown_timeout_seconds: seconds that process 0 waits at its end for the others to end.
      coordinator_bind_address: where process 0 listens; the port on all addresses by default.

    >>> import xcore as xc
    >>> xc.distributed.initialize("10.0.0.1:1234", num_processes=2, process_id=0)  # doctest: +SKIP
    """
    backend.require_unused()
    joined = cluster.connect(
        coordinator_address, num_processes, process_id,
        initialization_timeout=initialization_timeout,
        heartbeat_timeout=heartbeat_timeout_seconds,
        shutdown_timeout=shutdown_timeout_seconds,
        coordinator_bind_address=coordinator_bind_address, method=cluster_detection_method,
    )  # fmt: skip
    gpus = joined.gpu_options()
    if local_device_ids is not None:
        ids = [local_device_ids] if isinstance(local_device_ids, int) else list(local_device_ids)
        gpus["visible_devices"] = ids
    backend.set_distributed(cpu=joined.cpu_options(), cuda=gpus)


def is_initialized() -> bool:
    """Whether this process has joined others.

    >>> import xcore as xc
    >>> xc.distributed.is_initialized()
    False
    """
    return cluster.current() is not None


@boundary
def shutdown() -> None:
    """Leave the other processes. It also happens when a process ends.

    >>> import xcore as xc
    >>> xc.distributed.shutdown()
    """
    cluster.disconnect()


def living() -> list[int]:
    """The processes that take part still."""
    joined = cluster.current()
    return [0] if joined is None else joined.living()


def barrier(name: str, timeout: float = 300.0) -> None:
    """Wait until every process has come here. A name works once."""
    joined = cluster.current()
    if joined is not None:
        _wait_for(joined.barrier, name, timeout)


def publish(key: str, value: bytes) -> None:
    """Store a value that all processes can read. A key can be set once."""
    joined = cluster.current()
    if joined is not None:
        joined.set(key, value)


def receive(key: str, timeout: float = 300.0) -> bytes:
    """The value that a process stored under a key; waits for it."""
    joined = cluster.current()
    assert joined is not None, "of a process that has joined no others"
    return _wait_for(joined.get, key, timeout)


def _wait_for(wait: Callable[..., Any], *args: Any) -> Any:
    try:
        return wait(*args)
    except cluster.Gone as e:
        raise errors.process_gone(str(e)) from None
