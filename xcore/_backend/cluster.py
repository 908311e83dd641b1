"""Several hosts: jaxlib's coordination service, and what its client offers.

Process 0 runs the service; every process has a client of it. The client is a small shared
dictionary with barriers, through which the processes find each other (gloo on CPU, NCCL on GPU) and
notice that one is gone. After that, arrays travel through collectives, not through the service.

When a process dies, the collectives of the others fail at once with an exception. When one hangs
they would wait for ever; so a thread asks who is alive, and ends this process, with a message, a
moment after the heartbeats of another one have stopped.
"""

from __future__ import annotations

import atexit
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from jaxlib import _jax
from jaxlib import xla_client as xla

_LEFT = "xcore/left/"  # keys: processes that said goodbye
_SIZE = "xcore/size"  # key: the number of processes, as process 0 knows it
_PORTS = 61440, 4096  # first and number of ports among which a job's number chooses
_NEVER = 7 * 24 * 3600  # seconds
_GRACE_SECONDS = 5.0  # for an exception to end this process before the watching thread does
EXIT_STATUS = 70  # of a process that was ended because another one is gone


class Place(NamedTuple):
    """Where a process stands in a cluster."""

    coordinator_address: str | None = None
    num_processes: int | None = None
    process_id: int | None = None


class Cluster:
    """The connection of this process to the others. Made by `connect`.

    Attributes:
        num_processes: how many there are.
        process_id: which one this is.
        client: jaxlib's client of the coordination service.
    """

    def __init__(
        self, place: Place, client, service, heartbeat_timeout: int, shutdown_timeout: int
    ):
        self.num_processes, self.process_id = place.num_processes, place.process_id
        self.client, self._service = client, service
        self._shutdown_timeout = shutdown_timeout
        self._leaving = threading.Event()  # set as soon as this process starts to say goodbye
        self._alive = set(range(place.num_processes))  # as far as the service knows
        self._gone: set[int] = set()  # processes that left without a goodbye
        self._watcher = threading.Thread(
            target=self._watch, args=(heartbeat_timeout,), name="xcore-cluster", daemon=True
        )
        if self.num_processes > 1:
            self._watcher.start()

    def cpu_options(self) -> dict:
        """Arguments that make a CPU client part of the cluster."""
        return {
            "distributed_client": self.client,
            "node_id": self.process_id,
            "num_nodes": self.num_processes,
            "collectives": _jax.make_gloo_tcp_collectives(distributed_client=self.client),
        }

    def gpu_options(self) -> dict:
        """Arguments that make a GPU client part of the cluster."""
        return {
            "distributed_client": self.client,
            "node_id": self.process_id,
            "num_nodes": self.num_processes,
        }

    def set(self, key: str, value: bytes) -> None:
        """Publish a value. A key can be set once."""
        self.client.key_value_set_bytes(key, value)

    def get(self, key: str, timeout: float = 300.0) -> bytes:
        """The value published under a key; waits for it."""
        return self._waiting(
            f"no process has set the key {key!r}",
            timeout,
            lambda: self.client.blocking_key_value_get_bytes(key, int(timeout * 1000)),
        )

    def barrier(self, name: str, timeout: float = 300.0, processes=None) -> None:
        """Wait until all processes (or the given ones) have come here. A name works once."""
        self._waiting(
            f"not all processes have reached the barrier {name!r}",
            timeout,
            lambda: self.client.wait_at_barrier(name, int(timeout * 1000), processes),
        )

    def shutdown(self, orderly: bool = True) -> None:
        """Leave the cluster. Process 0, which runs the service, waits until the others have left.

        Args:
            orderly: False to go without waiting and without a goodbye: the others will fail.
        """
        if self._leaving.is_set():
            return
        self._leaving.set()
        try:
            if orderly:
                self._say_goodbye()
            self.client.shutdown()
        except xla.XlaRuntimeError as error:  # process 0 is gone: nothing left to leave
            print(f"xcore: the coordinator is gone: {_first_line(error)}", file=sys.stderr)
        if self._service is not None:
            self._service.shutdown()
        if self._watcher.is_alive():  # a thread that comes back from C++ after Python's end aborts
            self._watcher.join(_GRACE_SECONDS)

    def _say_goodbye(self) -> None:
        self.client.key_value_set_bytes(f"{_LEFT}{self.process_id}", b"")
        end = time.monotonic() + self._shutdown_timeout
        while self.process_id == 0 and self._others_are_here() and time.monotonic() < end:
            time.sleep(0.05)

    def _others_are_here(self) -> bool:
        if len(self._left() | self._gone) < self.num_processes:
            return True
        # who has said goodbye may still be talking to the service, and would be aborted without it
        return self._watcher.is_alive() and not self._alive <= {0}

    def _waiting(self, what: str, timeout: float, wait: Callable):
        try:
            return wait()
        except xla.XlaRuntimeError as error:
            if "DEADLINE_EXCEEDED" not in str(error):
                raise
            raise TimeoutError(
                f"xcore: after {timeout:g} s {what}. Has one of the {self.num_processes} processes "
                f"ended, or taken another way through the program? ({_first_line(error)})"
            ) from error

    def _left(self) -> set[int]:
        """The processes that have said goodbye."""
        return {
            int(key.rpartition("/")[2]) for key, _ in self.client.key_value_dir_get_bytes(_LEFT)
        }

    def living(self) -> list[int]:
        """The processes that have neither left nor, as far as is known here, died."""
        gone = self._left() | self._gone
        return [i for i in range(self.num_processes) if i not in gone]

    def _watch(self, heartbeat_timeout: int) -> None:
        everyone = set(range(self.num_processes))
        while not self._gone:
            try:
                # Returns when every process has asked, or has missed its heartbeats.
                self._alive = set(self.client.get_live_nodes(list(everyone)))
                self._gone = everyone - self._alive - self._left()
            except xla.XlaRuntimeError:  # the service is closing, or gone: its client reports that
                return
            if self._leaving.wait(max(heartbeat_timeout / 4, 0.2)) and self.process_id != 0:
                return
        if not self._leaving.wait(_GRACE_SECONDS):
            self._end(self._gone)

    def _end(self, gone: set[int]) -> None:
        listed = ", ".join(map(str, sorted(gone)))
        print(
            f"xcore: process {self.process_id} of {self.num_processes} stops, because nothing has "
            f"been heard from process {listed}: it was killed, has crashed or hangs.",
            file=sys.stderr,
            flush=True,
        )
        os._exit(EXIT_STATUS)


_current: Cluster | None = None


def current() -> Cluster | None:
    """The cluster this process has joined."""
    return _current


def connect(
    coordinator_address: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
    *,
    initialization_timeout: int = 300,
    heartbeat_timeout: int = 100,
    shutdown_timeout: int = 300,
    coordinator_bind_address: str | None = None,
    method: str | None = None,
) -> Cluster:
    """Join the other processes of a program; returns when all of them have.

    Args:
        coordinator_address: "host:port" of process 0, the same in all processes. What is not given
            is read from the environment: XCORE_COORDINATOR_ADDRESS, XCORE_NUM_PROCESSES,
            XCORE_PROCESS_ID, or what SLURM, Open MPI, Kubernetes and torchrun set.
        num_processes: how many processes there are.
        process_id: which one this is, from 0.
        initialization_timeout: seconds to wait for all of them.
        heartbeat_timeout: seconds of silence after which a process counts as dead.
        shutdown_timeout: seconds that process 0 waits at its end for the others to end.
        coordinator_bind_address: where process 0 listens; the port on all addresses by default.
        method: the job manager to ask, as in `METHODS`; whichever has set its variables by default.
    """
    global _current
    if _current is not None:
        raise RuntimeError(
            "xcore.distributed.initialize: this process has joined a cluster already."
        )
    given = Place(coordinator_address, num_processes, process_id)
    place = _complete(given, os.environ, method)
    service = None
    if place.process_id == 0:
        port = place.coordinator_address.rpartition(":")[2]
        _check_port(int((coordinator_bind_address or port).rpartition(":")[2]))
        service = _jax.get_distributed_runtime_service(
            coordinator_bind_address or f"[::]:{port}",
            place.num_processes,
            heartbeat_timeout=heartbeat_timeout,
            cluster_register_timeout=_NEVER,
            shutdown_timeout=shutdown_timeout,
            # Else a death elsewhere aborts this process from within, without an exception.
            recoverable=True,
        )
    client = _jax.get_distributed_runtime_client(
        place.coordinator_address,
        place.process_id,
        init_timeout=_NEVER,
        heartbeat_timeout=heartbeat_timeout,
        shutdown_timeout=shutdown_timeout,
        use_compression=True,
    )
    _meet(client, place, initialization_timeout)
    _check_number(client, place, initialization_timeout)
    _current = Cluster(place, client, service, heartbeat_timeout, shutdown_timeout)
    atexit.register(_at_exit)
    return _current


def _meet(client, place: Place, timeout: int) -> None:
    """Wait for the other processes, in a thread: the client's own timeout aborts the process."""
    failure = []

    def connect():
        try:
            client.connect()
        except xla.XlaRuntimeError as error:
            failure.append(error)

    thread = threading.Thread(target=connect, name="xcore-connect", daemon=True)
    thread.start()
    thread.join(timeout)
    if thread.is_alive() or failure:
        raise TimeoutError(
            f"xcore: process {place.process_id} did not meet the other processes within {timeout} s. "
            f"Do all {place.num_processes} run, with this address of process 0, and can it be "
            f"reached: {place.coordinator_address}? {_first_line(failure[0]) if failure else ''}"
        )


def _check_port(port: int) -> None:
    """Raise if another program listens there: the service would abort this process."""
    with socket.socket(socket.AF_INET) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)  # as the service does
        try:
            s.bind(("", port))
        except OSError as error:
            raise OSError(
                error.errno,
                f"xcore.distributed.initialize: process 0 cannot listen on port {port} ({error.strerror}). "
                "Give all processes a coordinator_address with another port.",
            ) from None


def _check_number(client, place: Place, timeout: int) -> None:
    """Raise if this process has been told of another number of processes than process 0."""
    if place.process_id == 0:
        client.key_value_set_bytes(_SIZE, str(place.num_processes).encode())
        return
    size = int(client.blocking_key_value_get_bytes(_SIZE, timeout * 1000))
    if size != place.num_processes:
        raise ValueError(
            f"xcore.distributed.initialize: num_processes must be the same in all processes, given {size} in "
            f"process 0 and {place.num_processes} in process {place.process_id}."
        )


def disconnect() -> None:
    """Leave the cluster, if this process is in one."""
    global _current
    if _current is not None:
        _current.shutdown()
        _current = None


def _at_exit() -> None:
    # After an exception the others must not wait for this process, so neither does it for them.
    if _current is not None:
        _current.shutdown(orderly=getattr(sys, "last_value", None) is None)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


# --- finding the place in the environment


class Manager(NamedTuple):
    """What a job manager tells each process it starts."""

    name: str
    marker: str  # a variable that is set under this manager and no other
    size: str
    rank: str
    coordinator: Callable[[Mapping], str | None]


def _job_port(number: str) -> int:
    """A port that all processes of a job, and few other jobs, agree on."""
    first, count = _PORTS
    return first + int(number) % count


def _slurm_coordinator(env: Mapping) -> str | None:
    nodes = env.get("SLURM_STEP_NODELIST") or env.get("SLURM_JOB_NODELIST", "")
    # The first of "head", "node[007-012,015]", "rack[1-2]n3,other", …
    match = re.match(r"([^,\[]+)(?:\[([^\],-]*)[^\]]*\])?([^,\[]*)", nodes)
    return match and f"{''.join(filter(None, match.groups()))}:{_job_port(env['SLURM_JOB_ID'])}"


def _open_mpi_coordinator(env: Mapping) -> str | None:
    # Open MPI 4 names mpirun's address: "1531576320.0;tcp://10.96.0.1,10.148.0.1:34911". The job's
    # number is a multiple of 4096.
    match = re.match(
        r"(\d+)\.\d+;tcp6?://\[?([^,\]]+?)(?:[,\]].*)?:\d+", env.get("OMPI_MCA_orte_hnp_uri", "")
    )
    if match:
        return f"{match[2]}:{_job_port(int(match[1]) // 4096)}"
    # Open MPI 5 names mpirun's host and process: "prterun-node07-12345@1".
    match = re.match(r"prterun-(.+)-(\d+)@", env.get("PMIX_NAMESPACE", ""))
    return match and f"{match[1]}:{_job_port(match[2])}"


def _kubernetes_coordinator(env: Mapping) -> str | None:
    # Pods of an indexed Job are called <job>-<index>, in the domain of the job's headless service.
    host, index = env.get("HOSTNAME", ""), env["JOB_COMPLETION_INDEX"]
    if not host.endswith(f"-{index}"):
        return None
    _, dot, domain = socket.getfqdn(host).partition(".")
    return f"{host.removesuffix(index)}0{dot}{domain}:{_PORTS[0]}"


def _torchrun_coordinator(env: Mapping) -> str | None:
    # MASTER_PORT itself is taken by torchrun's own store.
    return f"{env['MASTER_ADDR']}:{int(env['MASTER_PORT']) + 1}" if "MASTER_PORT" in env else None


MANAGERS = (
    Manager("SLURM", "SLURM_JOB_ID", "SLURM_NTASKS", "SLURM_PROCID", _slurm_coordinator),
    Manager(
        "Open MPI", "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", _open_mpi_coordinator,
    ),
    Manager(
        "Kubernetes", "JOB_COMPLETION_INDEX",
        "XCORE_NUM_PROCESSES", "JOB_COMPLETION_INDEX", _kubernetes_coordinator,
    ),
    Manager("torchrun", "MASTER_ADDR", "WORLD_SIZE", "RANK", _torchrun_coordinator),
)  # fmt: skip


# Names by which users ask for one job manager, or for none.
METHODS = {
    "slurm": "SLURM", "ompi": "Open MPI", "k8s": "Kubernetes", "torchrun": "torchrun", "deactivate": None,
}  # fmt: skip


def _managers(method: str | None) -> list[Manager]:
    """Those to ask. mpirun inside a SLURM job sets the variables of both, and its own count."""
    if method is None:
        return sorted(MANAGERS, key=lambda m: m.name == "SLURM")
    if method.lower() not in METHODS:
        raise ValueError(
            "xcore.distributed.initialize: cluster_detection_method must be None or one of "
            f"{', '.join(map(repr, METHODS))}, given {method!r}."
        )
    return [m for m in MANAGERS if m.name == METHODS[method.lower()]]


def detect(env: Mapping, method: str | None = None) -> Place:
    """What the environment says of this process's place; None for what it does not say."""
    found = Place()
    for manager in _managers(method):
        if manager.marker in env and manager.rank in env:
            found = Place(
                manager.coordinator(env), _number(env, manager.size), _number(env, manager.rank)
            )
            break
    own = Place(
        env.get("XCORE_COORDINATOR_ADDRESS") or env.get("JAX_COORDINATOR_ADDRESS"),
        _number(env, "XCORE_NUM_PROCESSES"),
        _number(env, "XCORE_PROCESS_ID"),
    )
    return _prefer(own, found)


def _prefer(first: Place, second: Place) -> Place:
    return Place(*(b if a is None else a for a, b in zip(first, second)))


def _number(env: Mapping, name: str) -> int | None:
    text = env.get(name)
    if text is None:
        return None
    if not text.isdigit():
        raise ValueError(f"xcore: the environment variable {name} must be a number, is {text!r}.")
    return int(text)


def _complete(given: Place, env: Mapping, method: str | None = None) -> Place:
    """The given place, completed from the environment and checked."""
    place = _prefer(given, Place() if None not in given else detect(env, method))
    missing = [name for name, value in zip(Place._fields, place) if value is None]
    if missing:
        raise ValueError(
            f"xcore.distributed.initialize: {' and '.join(missing)} not given and not found in the "
            "environment. Pass them, set XCORE_COORDINATOR_ADDRESS, XCORE_NUM_PROCESSES and "
            f"XCORE_PROCESS_ID, or start under {', '.join(m.name for m in MANAGERS)}."
        )
    if not 0 <= place.process_id < place.num_processes:
        raise ValueError(
            f"xcore.distributed.initialize: process_id must be from 0 to num_processes - 1 = "
            f"{place.num_processes - 1}, given {place.process_id}."
        )
    if not re.fullmatch(r".+:\d+", place.coordinator_address):
        raise ValueError(
            'xcore.distributed.initialize: coordinator_address must be "host:port", '
            f"given {place.coordinator_address!r}."
        )
    return place
