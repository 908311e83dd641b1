"""Several hosts: jaxlib's coordination service, and what its client offers.

Process 0 runs the service; every process has a client of it. The client is a small shared
dictionary with barriers, through which the processes find each other (gloo on CPU, NCCL on GPU) and
notice that one is gone. After that, arrays travel through collectives, not through the service.

When a process dies, collectives of the others fail with an exception, or wait for ever if several
devices of a process wait for each other. No Python code can end such a wait. So a thread knows who is
there (`presence`), and a moment after another process is gone it ends this one with a message, unless
an exception has reached the program.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

if TYPE_CHECKING:
    from . import surface as _jax
    from . import surface as xla
    from .presence import Presence
    from .surface import DistributedRuntimeClient, DistributedRuntimeService
else:
    from jaxlib import _jax
    from jaxlib import xla_client as xla

from . import exchanges

T = TypeVar("T")
Environment = Mapping[str, str]

_PRESENCE = "xcore/presence"  # key: the port on which process 0 hears who is there
_SIZE = "xcore/size"  # key: the number of processes, as process 0 knows it
_PORTS = 61440, 4096  # first and number of ports among which a job's number chooses
_SOON = 0.05  # seconds between looks at who is there
_NEVER = 7 * 24 * 3600  # seconds
_GRACE_SECONDS = (
    5.0  # at most, for an exception to come before the watching thread ends the process
)
_PATIENCE = 10  # jaxlib's heartbeats, which abort the process, take so many times as long as ours
EXIT_STATUS = 70  # of a process that was ended because another one is gone


class Place(NamedTuple):
    """Where a process stands in a cluster."""

    coordinator_address: str | None = None
    num_processes: int | None = None
    process_id: int | None = None


class Seat(NamedTuple):
    """A place of which all is known."""

    coordinator_address: str
    num_processes: int
    process_id: int


class Cluster:
    """The connection of this process to the others. Made by `connect`.

    Attributes:
        num_processes: how many there are.
        process_id: which one this is.
        client: jaxlib's client of the coordination service.
    """

    def __init__(
        self,
        place: Seat,
        client: DistributedRuntimeClient,
        service: DistributedRuntimeService | None,
        presence: Presence | None,
        shutdown_timeout: int,
    ) -> None:
        self.num_processes, self.process_id = place.num_processes, place.process_id
        self.client, self._service, self._presence = client, service, presence
        self._shutdown_timeout = shutdown_timeout
        self._leaving = threading.Event()  # set as soon as this process starts to say goodbye
        # threads that wait for something of another process
        self._waits: list[threading.Thread] = []
        self._reported = False  # whether the program has seen a DistributedError
        if presence is not None:
            self._grace = min(_GRACE_SECONDS, presence.timeout / 4)
            watch = threading.Thread(
                target=self._watch, args=(presence,), name="xcore-cluster", daemon=True
            )
            watch.start()

    def cpu_options(self) -> dict[str, Any]:
        """Arguments that make a CPU client part of the cluster."""
        return {
            "distributed_client": self.client,
            "node_id": self.process_id,
            "num_nodes": self.num_processes,
            "collectives": _jax.make_gloo_tcp_collectives(distributed_client=self.client),
        }

    def gpu_options(self) -> dict[str, Any]:
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

    def barrier(
        self, name: str, timeout: float = 300.0, processes: Sequence[int] | None = None
    ) -> None:
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
        if self._presence is not None and not orderly:
            self._presence.close()  # the others see it now
        try:
            if orderly:
                self._say_goodbye()
            if 0 not in self._absent():  # else nothing is left to leave, and the call would wait
                self.client.shutdown()
        except xla.XlaRuntimeError as error:
            print(f"xcore: the coordinator is gone: {_first_line(error)}", file=sys.stderr)
        if self._service is not None:
            self._end_service(self._service, orderly)
        if self._presence is not None:
            self._presence.close()
        if 0 not in self._absent():
            for thread in self._waits:  # coming back from C++ after Python's end, it would abort
                thread.join(_GRACE_SECONDS)

    def _say_goodbye(self) -> None:
        if self._presence is None:
            return
        self._presence.say_goodbye()
        end = time.monotonic() + self._shutdown_timeout
        while self._others_are_here() and time.monotonic() < end:
            time.sleep(_SOON)

    def _others_are_here(self) -> bool:
        # who has said goodbye may still be talking to the service, and would be aborted without it
        from .presence import Host

        return isinstance(self._presence, Host) and self._presence.is_connected()

    def _end_service(self, service: DistributedRuntimeService, orderly: bool) -> None:
        """End the service, or leave it to the end of the process: it aborts who is still here."""
        if orderly and not self._others_are_here():
            service.shutdown()
        else:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(service))

    def _absent(self) -> set[int]:
        """The other processes that have left or are gone."""
        p = self._presence
        return set() if p is None else (p.left | p.gone) - {self.process_id}

    def _waiting(self, what: str, timeout: float, wait: Callable[[], T]) -> T:
        """What ``wait`` returns; raises when another process is gone meanwhile, or at the timeout."""
        done: list[tuple[T | None, BaseException | None]] = []

        def run() -> None:
            try:
                done.append((wait(), None))
            except BaseException as error:  # raised on the thread that waits
                done.append((None, error))

        thread = threading.Thread(target=run, name="xcore-wait", daemon=True)
        self._waits.append(thread)
        thread.start()
        thread.join(_SOON)
        while thread.is_alive():
            absent = self._absent()
            thread.join(self._grace / 2 if absent else _SOON)
            if absent and thread.is_alive():
                self.reported()
                raise Gone(f"{what}, and {_process_names(absent)} will not: it has ended")
        self._waits.remove(thread)
        found, error = done[0]
        if error is None:
            return cast("T", found)
        if "DEADLINE_EXCEEDED" not in str(error):
            raise error
        raise TimeoutError(
            f"xcore: after {timeout:g} s {what}. Has one of the {self.num_processes} processes "
            f"ended, or taken another way through the program? ({_first_line(error)})"
        ) from error

    def living(self) -> list[int]:
        """The processes that have neither left nor, as far as is known here, died."""
        absent = self._absent()
        return [i for i in range(self.num_processes) if i not in absent]

    def reported(self) -> None:
        """An exception has said to the program that another process is gone."""
        self._reported = True

    def _watch(self, presence: Presence) -> None:
        seen: dict[int, float] = {}  # process -> when its absence was noticed
        while not self._leaving.wait(presence.timeout / 40):
            now = time.monotonic()
            for process in self._absent():
                seen.setdefault(process, now)
            missed = {process for process, t in seen.items() if now - t > self._grace}
            untold = bool(missed & presence.gone) and not self._reported
            if missed and (untold or exchanges.stalled(missed, self._grace / 4)):
                self._end(missed, bool(missed & presence.gone))

    def _end(self, absent: set[int], gone: bool) -> None:
        how = "killed, crashed or hanging"
        if not gone:
            how = "ended, while this one still waits for values"
        print(
            f"xcore: process {self.process_id} of {self.num_processes} stops with status "
            f"{EXIT_STATUS}, because of {_process_names(absent)}: {how}. Its own output says why.",
            file=sys.stderr,
            flush=True,
        )
        os._exit(EXIT_STATUS)


def _process_names(processes: Iterable[int]) -> str:
    return f"process {' and '.join(map(str, sorted(processes)))}"


class Gone(TimeoutError):
    """Another process is gone, so there is no use in waiting for it."""


_current: Cluster | None = None


def current() -> Cluster | None:
    """The cluster this process has joined."""
    return _current


def reported() -> None:
    """An exception has said to the program that another process is gone."""
    if _current is not None:
        _current.reported()


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
            heartbeat_timeout=_PATIENCE * heartbeat_timeout,
            cluster_register_timeout=_NEVER,
            shutdown_timeout=shutdown_timeout,
            # Else a death elsewhere aborts this process from within, without an exception.
            recoverable=True,
        )
    from .presence import Relay  # here, with its sockets: few programs have several processes

    relay = None if service is not None else Relay(*_split(place.coordinator_address))
    client = _jax.get_distributed_runtime_client(
        place.coordinator_address if relay is None else relay.address,
        place.process_id,
        init_timeout=_NEVER,
        heartbeat_timeout=_PATIENCE * heartbeat_timeout,
        shutdown_timeout=shutdown_timeout,
        use_compression=True,
        shutdown_on_destruction=False,  # it would hold the interpreter, which the relay needs
    )
    _meet(client, place, initialization_timeout)
    _check_number(client, place, initialization_timeout)
    if relay is not None:
        relay.holds = True
    presence = _presence(client, place, heartbeat_timeout, initialization_timeout)
    _current = Cluster(place, client, service, presence, shutdown_timeout)
    atexit.register(_at_exit)
    return _current


def _split(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def _presence(
    client: DistributedRuntimeClient, place: Seat, timeout: float, patience: int
) -> Presence | None:
    """The connection by which this process and process 0 know that the other is there."""
    from .presence import Guest, Host

    if place.num_processes == 1:
        return None
    if place.process_id == 0:
        found = Host(timeout)
        client.key_value_set_bytes(_PRESENCE, str(found.port).encode())
        return found
    port = int(client.blocking_key_value_get_bytes(_PRESENCE, patience * 1000))
    return Guest(place.process_id, timeout, _split(place.coordinator_address)[0], port)


def _meet(client: DistributedRuntimeClient, place: Seat, timeout: int) -> None:
    """Wait for the other processes, in a thread: the client's own timeout aborts the process."""
    failure: list[Exception] = []

    def connect() -> None:
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
    import socket

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


def _check_number(client: DistributedRuntimeClient, place: Seat, timeout: int) -> None:
    """Raise if this process was started for another count of processes than process 0."""
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


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]


# Finding the place in the environment


class Manager(NamedTuple):
    """What a job manager tells each process it starts."""

    name: str
    marker: str  # a variable that is set under this manager and no other
    size: str
    rank: str
    coordinator: Callable[[Environment], str | None]


def _job_port(number: str | int) -> int:
    """A port that all processes of a job, and few other jobs, agree on."""
    first, count = _PORTS
    return first + int(number) % count


def _slurm_coordinator(env: Environment) -> str | None:
    nodes = env.get("SLURM_STEP_NODELIST") or env.get("SLURM_JOB_NODELIST", "")
    # The first of "head", "node[007-012,015]", "rack[1-2]n3,other", …
    match = re.match(r"([^,\[]+)(?:\[([^\],-]*)[^\]]*\])?([^,\[]*)", nodes)
    return match and f"{''.join(filter(None, match.groups()))}:{_job_port(env['SLURM_JOB_ID'])}"


def _open_mpi_coordinator(env: Environment) -> str | None:
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


def _kubernetes_coordinator(env: Environment) -> str | None:
    # Pods of an indexed Job are called <job>-<index>, in the domain of the job's headless service.
    host, index = env.get("HOSTNAME", ""), env["JOB_COMPLETION_INDEX"]
    if not host.endswith(f"-{index}"):
        return None
    import socket

    _, dot, domain = socket.getfqdn(host).partition(".")
    return f"{host.removesuffix(index)}0{dot}{domain}:{_PORTS[0]}"


def _torchrun_coordinator(env: Environment) -> str | None:
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


def detect(env: Environment, method: str | None = None) -> Place:
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
    found: Any = [b if a is None else a for a, b in zip(first, second)]
    return Place(*found)


def _number(env: Environment, name: str) -> int | None:
    text = env.get(name)
    if text is None:
        return None
    if not text.isdigit():
        raise ValueError(f"xcore: the environment variable {name} must be a number, is {text!r}.")
    return int(text)


def _complete(given: Place, env: Environment, method: str | None = None) -> Seat:
    """The given place, completed from the environment and checked."""
    place = _prefer(given, Place() if None not in given else detect(env, method))
    missing = [name for name, value in zip(Place._fields, place) if value is None]
    if missing:
        raise ValueError(
            f"xcore.distributed.initialize: {' and '.join(missing)} not given and not found in the "
            "environment. Pass them, set XCORE_COORDINATOR_ADDRESS, XCORE_NUM_PROCESSES and "
            f"XCORE_PROCESS_ID, or start under {', '.join(m.name for m in MANAGERS)}."
        )
    seat = Seat(*cast("tuple[str, int, int]", place))
    if not 0 <= seat.process_id < seat.num_processes:
        raise ValueError(
            f"xcore.distributed.initialize: process_id must be from 0 to num_processes - 1 = "
            f"{seat.num_processes - 1}, given {seat.process_id}."
        )
    if not re.fullmatch(r".+:\d+", seat.coordinator_address):
        raise ValueError(
            'xcore.distributed.initialize: coordinator_address must be "host:port", '
            f"given {seat.coordinator_address!r}."
        )
    return seat
