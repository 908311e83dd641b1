"""The runtime: devices, compilation, execution, and transfers between host and device.

What is not obvious of jaxlib stands in ``quirks``; ``compile_options`` assigns devices, without which a
wrongly placed argument may end the process instead of raising.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import contextlib
import functools
import math
import os
import re
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # read once, when the library below is loaded
if TYPE_CHECKING:
    from . import surface as _jax
    from . import surface as xla
    from .surface import (
        Buffer,
        Client,
        CompileOptions,
        ExecuteResults,
        Handler,
        HasType,
        LoadedExecutable,
        NDArray,
        OpSharding,
        Token,
    )
else:
    from jaxlib import _jax
    from jaxlib import xla_client as xla

from . import cuda, exchanges, ffi, forks, memory, topologies, tpu
from .placements import Device, DeviceList, OneDevice, Spread, one_device

T = TypeVar("T")
RuntimeFailure: type[Exception] = xla.XlaRuntimeError
VERSION = xla._version  # jaxlib's extension number: 467 is 0.10.2, 495 is 0.11.2, 505 is 0.12.0
_lock = threading.RLock()


# Devices


def _cpu_device_count() -> int | None:
    text = os.environ.get("XCORE_NUM_CPU_DEVICES")
    if text is None:
        flag = re.search(
            r"--xla_force_host_platform_device_count=(\d+)", os.environ.get("XLA_FLAGS", "")
        )
        return int(flag[1]) if flag else None
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f"XCORE_NUM_CPU_DEVICES must be a positive integer, given {text!r}.")
    return int(text)


_clients: dict[str, Client] = {}
forks.watch(_clients)
# platform -> arguments of several hosts, set before the first device is used
_distributed: dict[str, Mapping[str, Any]] = {}


def set_distributed(cpu: Mapping[str, Any], cuda: Mapping[str, Any]) -> None:
    """Make the clients part of a cluster. Must come before the first use of a device.

    Args:
        cpu: more arguments of the CPU client; see Cluster.cpu_options.
        cuda: more arguments of the CUDA client; see Cluster.gpu_options.
    """
    require_unused()
    _distributed.update(cpu=cpu, cuda=cuda)


def require_unused() -> None:
    """Raise if a device has been used, for then it is too late to become part of a cluster."""
    if _clients:
        raise RuntimeError(
            "xcore.distributed.initialize must be called before any array is made: devices are in use."
        )


PLATFORMS = ("cpu", "cuda", "tpu")  # that programs can be lowered for


def named(platform: str) -> str:
    """The name that lowering rules and caches go by: "gpu" is "cuda"."""
    return "cuda" if platform == "gpu" else platform


def client(platform: str | None = None) -> Client:
    """The client of a platform: "cpu", "cuda" (or "gpu"), "tpu", or None for the best there is."""
    platform = _best_platform() if platform is None else named(platform)
    found = _clients.get(platform)
    if found is not None:
        return found
    with _lock:
        if platform not in _clients:
            _clients[platform] = _make_client(platform)
        return _clients[platform]


def _make_client(platform: str) -> Client:
    options = dict(_distributed.get(platform, {}))
    if platform == "cpu":
        count = _cpu_device_count()
        if count is not None:
            options["num_devices"] = count
        return xla.make_cpu_client(asynchronous=True, **options)
    load = {"cuda": cuda.load_cuda, "tpu": tpu.load_tpu}.get(platform)
    found = load and load(**options)
    if found:
        return found
    extra = _EXTRAS.get(platform, ", ".join(_EXTRAS.values()))
    here = [p for p in platforms() if p != platform]
    raise RuntimeError(
        f"xcore: there is no backend {platform!r} here. Available: {', '.join(here)}. "
        f"Others are in the extras: pip install 'xcore[{extra}]'."
    )


_EXTRAS = {"cuda": "cuda13", "tpu": "tpu"}


@functools.cache
def _best_platform() -> str:
    asked = os.environ.get("XCORE_PLATFORM") or os.environ.get("JAX_PLATFORMS", "").split(",")[0]
    if asked:
        return named(asked)
    if tpu.is_here():
        return "tpu"
    if not cuda.is_installed() or cuda.only_compiles():
        return "cpu"
    try:
        client("cuda")
    except cuda.CudaUnavailable as error:
        warnings.warn(f"{error} For now the CPU is used.", RuntimeWarning, stacklevel=2)
        return "cpu"
    return "cuda"


def has_started() -> bool:
    """Whether a device was used, so that nothing can be said about devices any more."""
    return bool(_clients)


def platforms() -> list[str]:
    best = _best_platform()
    return ["cpu"] if best == "cpu" else [best, "cpu"]


_stand_ins: list[Device] = []


def stand_in(devices: Iterable[Device]) -> None:
    """From now on users are told of these devices, which are not here, where they ask for devices."""
    _stand_ins[:] = devices


def devices(platform: str | None = None) -> list[Device]:
    """The devices of a platform, or of the best one there is."""
    if _stand_ins and (platform is None or named(platform) == platform_of(_stand_ins[0])):
        return [*_stand_ins]
    return list(client(platform).devices())


def local_devices(platform: str | None = None) -> list[Device]:
    """Those of them that are this process's."""
    return devices(platform) if _stand_ins else list(client(platform).local_devices())


def platform_of(device: Device) -> str:
    """ "cpu", "cuda" or "tpu": the name that lowering rules and caches go by."""
    return named(getattr(device.client, "_raw_platform", device.client.platform))


@functools.cache
def default_device() -> Device:
    return client().local_devices()[0]


def worker() -> Device:
    """A CPU device that runs programs on the thread that calls them: for calls inside of others."""
    with _lock:
        return _worker()


@functools.cache
def _worker() -> Device:
    return xla.make_cpu_client(asynchronous=False, num_devices=1).local_devices()[0]


# Transfers


def put(value: NDArray, type_: HasType, device: Device, copy: bool = True) -> Buffer:
    """A host array as a device buffer. ``type_`` must tell the truth: it is not checked below."""
    # quirk: HOST_MEMORY_ALIASED, quirk: TRANSFERS_ASK_FOR_WIDTH
    try:
        return _jax.batched_device_put(
            type_, one_device(device), [value], [device], True, copy, enable_x64=True
        )
    except RuntimeFailure as error:
        if "compile-only" in str(error):
            raise _not_here(device) from None
        raise


def _not_here(device: Device) -> ValueError:
    return ValueError(
        f"xcore: {device.device_kind} of a topology is not here: programs can be compiled for it, no array can "
        "lie on it. Arguments are types: xc.ShapeDtypeStruct(shape, dtype)."
    )


def statistics(device: Device) -> dict[str, Any] | None:
    """What a device says of its memory; None where it says nothing."""
    try:
        return device.memory_stats()
    except RuntimeFailure as error:
        if "addressable" in str(error):
            raise _not_here(device) from None
        raise


def putter(type_: HasType, device: Device) -> Callable[[NDArray], Buffer]:
    """`put` for many arrays of one type: what is the same for all of them is looked up once."""
    transfer, sharding, devices = _jax.batched_device_put, one_device(device), [device]
    return lambda value: transfer(type_, sharding, [value], devices, True, True, enable_x64=True)


def viewer(type_: HasType, device: Device) -> Callable[[NDArray], Buffer]:
    """As `putter`, but buffers on the memory of the arrays where it begins at a multiple of 64."""
    transfer, sharding, devices = _jax.batched_device_put, one_device(device), [device]
    return lambda value: transfer(type_, sharding, [value], devices, True, False, enable_x64=True)


def put_sharded(
    type_: HasType, sharding: OneDevice | Spread, pieces: Sequence[NDArray],
    devices: Iterable[Device],
) -> Buffer:  # fmt: skip
    """One buffer over several devices from a host array for each of the local ones."""
    return _jax.batched_device_put(
        type_, sharding, pieces, list(devices), True, True, enable_x64=True
    )


def assemble(type_: HasType, sharding: OneDevice | Spread, buffers: Sequence[Buffer]) -> Buffer:
    """One buffer out of single-device ones."""
    return _jax.ArrayImpl(type_, sharding, buffers, True, True)


# What C++ imports at its first need, if it is installed: jax, a second of the user's time.
_JAX_MODULES = ("jax.core", "jax._src.sharding_impls")


def _without_jax(read: Callable[[Any], T], x: object) -> T:
    """``read(x)``, which C++ does as well without jax, but imports it if it can."""
    blocked = () if "jax" in sys.modules else _JAX_MODULES
    modules: dict[str, Any] = sys.modules
    for name in blocked:
        modules[name] = None  # an import of it fails at once
    try:
        return read(x)
    finally:
        for name in blocked:
            sys.modules.pop(name, None)


def shards(buffer: Buffer) -> list[Buffer]:
    """The single-device buffers of a buffer."""
    return _without_jax(lambda x: x._arrays, buffer)


_MAY_FAIL = 2**17  # elements of arrays that may find no memory when their programs run


def to_host(buffer: Buffer) -> NDArray:
    """A read-only NumPy view of a single-device buffer. Waits for it."""
    if forks.forked:
        forks.check_process(buffer)
    device = getattr(buffer._sharding, "_its_device", None)  # None: another library made it
    if device is None or device.platform == "cpu":  # its memory is the host's
        # to see the memory that a large array never got ends the process: what it met is raised
        if buffer.aval is None or math.prod(buffer.aval.shape) >= _MAY_FAIL:
            buffer.block_until_ready()
        try:
            return np.asarray(memoryview(buffer))
        except Exception:  # dtypes of ml_dtypes, other layouts; what has failed
            pass
    return _without_jax(lambda x: x._single_device_array_to_np_array_did_copy()[0], buffer)


def begin_to_host(buffer: Buffer) -> None:
    """Begin to copy a buffer to host memory; on the CPU there is nothing to copy."""
    for part in shards(buffer):
        _without_jax(lambda x: x._copy_single_device_array_to_host_async(), part)


def move(buffer: Buffer, device: Device) -> Buffer:
    """A copy of a single-device buffer on another device of the same client."""
    return xla.batched_copy_array_to_devices_with_sharding(
        [buffer],
        [DeviceList((device,))],
        [one_device(device)],
        [xla.ArrayCopySemantics.REUSE_INPUT],
    )[0]


def place_of(buffer: Buffer) -> tuple[tuple[Device, ...], NDArray | None]:
    """The devices of a buffer, and its tiles over them; see spread. One that others made is on one device."""
    sharding = buffer._sharding
    if isinstance(sharding, Spread):
        return sharding._its_devices, sharding.tiles
    return tuple(sharding.device_set), None


def has_place(buffer: Buffer) -> bool:
    """Whether ``place_of`` knows it: not what another library in this process has spread."""
    return isinstance(buffer._sharding, Spread) or len(buffer._sharding.device_set) == 1


def live_buffers() -> list[tuple[tuple[int, ...], np.dtype[Any]]]:
    """(shape, dtype) of every array that exists, on any platform."""
    found = [b for c in _clients.values() for b in c.live_arrays() if not b.is_deleted()]
    return [(tuple(b.aval.shape), np.dtype(b.aval.dtype)) for b in found if b.aval is not None]


def to_dlpack(buffer: Buffer) -> object:
    device = getattr(buffer._sharding, "_its_device", None)
    if device is None or device.platform == "cpu":  # as in to_host
        buffer.block_until_ready()
    return _jax.buffer_to_dlpack_managed_tensor(buffer, stream=None)


def from_dlpack(capsule: object, device: Device, copy: bool | None) -> tuple[Buffer, bool]:
    """A buffer from a DLPack capsule, and whether its layout is row-major (else copy on the host)."""
    buffer = _without_jax(
        lambda x: _jax.dlpack_managed_tensor_to_buffer(x, device, None, copy=copy), capsule
    )
    layout = str(buffer._pjrt_layout)
    order = [
        int(n)
        for n in re.findall(r"\d+", layout.partition("{")[2].partition(":")[0].partition("}")[0])
    ]
    return buffer, order == sorted(order, reverse=True)


# Compiling and running


def _result_handler(type_: HasType, sharding: _jax.Sharding) -> Handler:
    if VERSION < 495:
        return _jax.array_result_handler(type_, sharding, True, True)
    return _jax.array_result_handler(type_, sharding, True)


class Executable:
    """A loaded program. ``execute(buffers).consume_with_handlers(handlers)`` is one call."""

    __slots__ = (
        "__weakref__",
        "devices",
        "effectful",
        "execute",
        "handlers",
        "keep",
        "loaded",
        "result_types",
    )

    def __init__(
        self, loaded: LoadedExecutable, result_types: list[Any],
        shardings: Sequence[_jax.Sharding], devices: tuple[Device, ...], effectful: bool = False,
        keep: object = None, donors: Sequence[int] = (), waits: bool = False,
    ) -> None:  # fmt: skip
        self.loaded, self.result_types, self.devices = loaded, result_types, devices
        self.keep = keep  # objects whose identity the cache key of this executable relies on
        self.execute: Callable[..., ExecuteResults] = loaded.execute_sharded
        if len(devices) > 1:
            self.execute = _while_they_exist(loaded.execute_sharded, donors)
            waits = not effectful and _communicates(loaded)
        if waits and platform_of(self.devices[0]) == "cpu":
            queue = exchanges.COMMUNICATING if len(devices) > 1 else exchanges.WAITING
            processes = {d.process_index for d in devices}
            self.execute = exchanges.one_after_another(self.execute, processes, queue)
        self.handlers = [
            _result_handler(t, s) for t, s in zip(result_types, shardings, strict=True)
        ]
        self.effectful = effectful
        needed = _needed_of_host(loaded, devices)
        if needed > memory.of_host():
            self.execute = functools.partial(_refuse_to_run, needed)

    def __call__(self, buffers: Sequence[Buffer]) -> list[Buffer]:
        if self.effectful:
            return self._run_with_effects(buffers)
        return self.execute(buffers).consume_with_handlers(self.handlers)

    def _run_with_effects(self, buffers: Sequence[Buffer]) -> list[Buffer]:
        """Wait for the end, so that effects of successive programs keep their order."""
        results = self.execute(buffers, with_tokens=True)
        token = results.consume_token()
        _running.add(token)
        try:
            token.block_until_ready()
        finally:
            _running.discard(token)
        return results.consume_with_handlers(self.handlers)


def _needed_of_host(loaded: LoadedExecutable, devices: tuple[Device, ...]) -> int:
    """Bytes of memory of the host that a program takes for its results and on the way."""
    if platform_of(devices[0]) != "cpu":
        return 0
    stats = loaded.get_compiled_memory_stats()
    return stats.output_size_in_bytes + stats.temp_size_in_bytes - stats.alias_size_in_bytes


def _refuse_to_run(needed: int, buffers: Sequence[Buffer], **options: Any) -> NoReturn:
    """Where memory for a result is lacking on a CPU, the others are waited for in vain."""
    raise RuntimeFailure(
        f"RESOURCE_EXHAUSTED: Out of memory: a program needs {needed / 2**30:.1f} GiB, and the machine has "
        f"{memory.of_host() / 2**30:.1f} GiB."
    )


class Prepared:
    """A program compiled for devices that are not here: it can be looked at and stored, not run."""

    __slots__ = ("__weakref__", "devices", "keep", "loaded", "result_types")
    effectful, handlers = False, ()

    def __init__(
        self, loaded: LoadedExecutable, result_types: list[Any], devices: tuple[Device, ...],
        keep: object = None,
    ) -> None:  # fmt: skip
        self.loaded, self.result_types, self.devices, self.keep = (
            loaded,
            result_types,
            devices,
            keep,
        )

    def __call__(self, buffers: Sequence[Buffer]) -> NoReturn:
        raise RuntimeError(
            f"xcore: this program was compiled for {self.devices[0].device_kind}, which is not here: "
            "it can be looked at and serialised, not run."
        )


# In what the runtime says of a buffer that is gone, and of one that is given for a donated argument
# and for another one.
GONE = ("deleted", "donated", "to have 1 shards, got")
DONATED_TWICE = ("Attempt to donate", "previously donated in the same call")


def _while_they_exist(
    execute: Callable[..., ExecuteResults], donors: Sequence[int]
) -> Callable[..., ExecuteResults]:
    """Refuse buffers that are gone or twice given away, on several devices. quirk: GONE_BUFFER_ABORTS"""

    def run(buffers: Sequence[Buffer], **options: bool) -> ExecuteResults:
        for b in buffers:
            # a part may have been given away by itself, which the whole does not know
            if b.is_deleted() or any([part.is_deleted() for part in shards(b)]):
                raise RuntimeFailure("INVALID_ARGUMENT: Buffer has been deleted or donated.")
        if donors:
            _check_given_once(buffers, donors)
        return execute(buffers, **options)

    return run


def _check_given_once(buffers: Sequence[Buffer], donors: Sequence[int]) -> None:
    """Two arrays may lie on the same memory, under different shardings."""
    parts = [{part.unsafe_buffer_pointer() for part in shards(b)} for b in buffers]
    counts = Counter([p for pointers in parts for p in pointers if p])
    if any([counts[p] > 1 for i in donors for p in parts[i]]):
        raise RuntimeFailure(f"INVALID_ARGUMENT: {DONATED_TWICE[0]} a buffer twice.")


_COLLECTIVES = (
    r" (all-reduce|all-gather|all-to-all|collective-permute|collective-broadcast|reduce-scatter)"
)


def _communicates(loaded: LoadedExecutable) -> bool:
    """Whether the devices of a program wait for each other."""
    return any(re.search(_COLLECTIVES, m.to_string()) for m in loaded.hlo_modules())


_running: set[Token] = set()  # tokens of programs with effects, of all threads


def wait_for_effects() -> None:
    """Block until every started program with effects has finished. Who started one sees it fail."""
    for token in list(_running):
        with contextlib.suppress(RuntimeFailure):
            token.block_until_ready()


def compile_module(
    module: object, devices: Sequence[Device], options: CompileOptions,
    callbacks: Iterable[Callable[..., Any]] = (),
) -> LoadedExecutable:  # fmt: skip
    """Compile a module (bytecode or MLIR) for devices."""
    forks.check_process()
    where = DeviceList(tuple(devices))
    if not is_here(devices[0]):
        return devices[0].client.compile(module, where, options)
    return devices[0].client.compile_and_load(module, where, options, list(callbacks))


def is_here(device: Device) -> bool:
    """Whether a device runs programs; those of a topology are compiled for, and do not."""
    return device not in topologies.made


# What the compiler says where LLVM calls a conversion that XLA does not bring: of 16-bit floats, on an
# x86 without the instructions F16C. (8-bit floats are converted by way of them.)
_WITHOUT_CODE = ("Failed to materialize symbols", "Symbols not found")
_HALF = r"(?<!b)f16|f[468]E"


def lacks_half_floats(error: Exception, module: object) -> bool:
    """Whether a module does not compile because this processor has no conversions of float16."""
    return any(words in str(error) for words in _WITHOUT_CODE) and bool(
        re.search(_HALF, str(module))
    )


def output_shardings(loaded: LoadedExecutable, count: int) -> list[OpSharding]:
    """What the compiler says of the placement of each result; of no results it says one thing."""
    replicated = xla.HloSharding.replicate().to_proto()
    return list(loaded.get_output_shardings() or [replicated] * count)[:count]


# Programs of the worker, which those around them store too, and the bytes that they were made from.
_read: dict[int, tuple[LoadedExecutable, bytes]] = {}


def serialize(loaded: LoadedExecutable) -> bytes:
    """As bytes. One that was made from bytes is written as these: its own lack its kernels."""
    known = _read.get(id(loaded))
    return loaded.serialize() if known is None else known[1]


def deserialize(
    blob: bytes, devices: Sequence[Device], options: CompileOptions,
    callbacks: Iterable[Callable[..., Any]] = (),
) -> LoadedExecutable:  # fmt: skip
    forks.check_process()
    if ffi.calls_lapack(blob):  # its routines must be there before the program is
        ffi.ensure_lapack()
    loaded = devices[0].client.deserialize_executable(
        blob, DeviceList(tuple(devices)), options, list(callbacks)
    )
    if _worker.cache_info().currsize and devices[0] == _worker():
        _read[id(loaded)] = loaded, blob
    return loaded


def block_until_ready(buffers: Sequence[Buffer]) -> None:
    forks.check_process(*buffers)
    _jax.batched_block_until_ready(buffers)


def hlo_text(bytecode: bytes) -> str:
    """The module in XLA's own notation, before optimisation."""
    return xla._xla.mlir.mlir_module_to_xla_computation(bytecode).as_hlo_text()
