"""Program → executable, compiled once for each fingerprint. In memory, in front of the disk, in front of XLA."""

from __future__ import annotations

import importlib
import math
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from .._backend import cache as disk
from .._backend import callbacks, cluster, memory, placements
from .._backend import client as backend
from .._backend.options import (
    LEVELS_UP_TO,
    USUAL_LEVELS,
    brisk_options,
    compile_options,
    hasty_options,
    keep_barriers,
)
from . import config, errors, kernels
from .blocking import waits_alone
from .layout import Layout, declared
from .pprint import subprograms
from .program import Program
from .sharding import Sharding, SingleDeviceSharding, local_devices, simplest
from .types import ArrayType, Placed

if TYPE_CHECKING:
    from .._backend.client import Device
    from .._backend.options import Flags
    from .._backend.surface import CompileOptions, LoadedExecutable, OpSharding
    from .array import Array

    Devices = tuple[Device, ...]
    Donors = Sequence[int]  # numbers of arguments whose memory results may take
    Built = backend.Executable | backend.Prepared

V = TypeVar("V")

CAPACITY = 4096  # executables kept in memory
_LOOPS = ("scan", "while")


class Bounded(OrderedDict[Any, V]):
    """A dict that forgets what was not used for longest."""

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self.capacity, self.lock = capacity, threading.Lock()

    def lookup(self, key: Any) -> V | None:
        with self.lock:
            found = self.get(key)
            if found is not None:
                self.move_to_end(key)
            return found

    def store(self, key: Any, value: V) -> None:
        with self.lock:
            self[key] = value
            while len(self) > self.capacity:
                self.popitem(last=False)


class MappingBudget:
    """How many more executables fit: two thirds of the memory mappings that a process may have are for them.

    On a CPU a small program has ten mappings, a large one hundreds.
    """

    def __init__(self) -> None:
        self.programs = 0  # that may come before it is worth counting

    def reserve(self) -> None:
        """Reserve mappings for one more program; where too few are left, drop half of the executables in memory."""
        self.programs -= 1
        if self.programs > 0:
            return
        limit, used = 2 * memory.most_mappings() // 3, memory.mappings()
        if used > limit:
            forget_half()
            memory.return_memory()
            used = memory.mappings()
        self.programs = min(max((limit - used) // 1024, 4), 64)


return_memory = memory.return_memory
_executables: Bounded[backend.Executable] = Bounded(CAPACITY)
_budget = MappingBudget()
# by key, so that threads that want the same program compile it once
_building: dict[tuple[Any, ...], threading.Lock] = {}
_guard = threading.Lock()
counts = {"compiled": 0, "from_disk": 0, "from_memory": 0}


def clear() -> None:
    """Forget all executables in memory."""
    with _executables.lock:
        _executables.clear()


def forget_half() -> None:
    """Forget those executables that were not used for longest; paths of calls are learnt again."""
    with _executables.lock:
        for _ in range((len(_executables) + 1) // 2):
            _executables.popitem(last=False)
    config.clear_fast_caches()


def disk_state() -> dict[str, Any] | None:
    """Directory, number of programs and bytes of the cache on disk; None if it is off."""
    store = disk.default_cache()
    if store is None:
        return None
    return {"directory": str(store.directory), **store.stats()}


def lowering() -> Any:
    """The lowering module. It loads the MLIR bindings, which a warm start does without."""
    return importlib.import_module("xcore._core.lower")


def executable(
    p: Program, place: Devices | Layout | None = None, donors: Donors = ()
) -> backend.Executable:
    """The executable of a program for a place: a tuple of one device (default: the default one),
    or the Layout that spreads it over several."""
    place = place or (backend.default_device(),)
    key = (
        p.fingerprint,
        place,
        donors,
        config.settings().disable_most_optimizations,
        config.settings().plain,
    )
    found = _executables.lookup(key)
    if found is not None:
        counts["from_memory"] += 1
        return found
    with _guard:
        lock = _building.setdefault(key, threading.Lock())
    with lock:
        found = _executables.lookup(key)
        if found is None:
            _budget.reserve()
            built = (
                _build_spread(p, place, donors)
                if isinstance(place, Layout)
                else _build(p, place, donors)
            )
            found = cast("backend.Executable", built)  # one that is only prepared says so when run
            _inspect(p, place)
            _executables.store(key, found)
    with _guard:
        _building.pop(key, None)
    return found


def placed(type_: ArrayType, device: Device, committed: bool = True) -> ArrayType | Placed:
    """What an array of this type on this device has as its ``_t``."""
    if device is backend.default_device():
        return type_
    return Placed(type_, SingleDeviceSharding(device), committed)


def put(type_: ArrayType, sharding: Sharding, committed: bool = True) -> ArrayType | Placed:
    """The same for an array that has been put somewhere: on one device of a mesh it keeps the mesh."""
    if type(sharding) is SingleDeviceSharding:
        return placed(type_, sharding.device, committed)
    return Placed(type_, sharding, committed)


def recompile(p: Program, place: Devices | Layout, donors: Donors = ()) -> None:
    """Compile a program that may have been compiled before, and forget the result: to time the compiler."""
    if isinstance(place, Layout):
        options = compile_options(
            place.devices, len(place.devices), [s is None for s in declared(p, place.order)],
            compiler_flags(p, place.devices),
        )  # fmt: skip
        _compile(p, place.devices, donors, options, place)
    else:
        _compile(p, place, donors, compile_options(place, options=compiler_flags(p, place)), None)


def compiler_flags(p: Program, devices: Devices) -> Flags:
    """Flags of XLA for a program: its own have the last word."""
    own = tuple((k, v) for k, v in p.options if k not in LEVELS_UP_TO)
    if config.settings().disable_most_optimizations:
        return (*hasty_options(devices[0]), *own)
    levels = _levels(p)
    largest = _largest(p, loops=levels is not None)
    for level, most in enumerate(levels or USUAL_LEVELS):
        given = 0 if level else max([v.type.size for v in p.inputs], default=0)
        if max(largest, given) <= most:
            return (*brisk_options(devices[0], level), *own)
    return own


def _largest(p: Program, loops: bool) -> float:
    """How many elements the largest result has, in a loop of known length of all times; infinite if there are loops."""

    def find() -> float:
        found: float = 0
        for e in p.eqns:
            times = max(e.params["length"], 1) if e.op.name == "scan" else 1
            if e.op.name in _LOOPS and not loops:
                return math.inf
            parts = [times * _largest(q, loops) for q in subprograms(e.params)]
            found = max([found, *[v.type.size for v in e.outputs], *parts])
        return found

    return p.memo(("largest", loops), find)


def _levels(p: Program) -> tuple[int, ...] | None:
    """What the program says, or one in it that makes up more than half of it."""
    own = dict(p.options)
    if any(k in own for k in LEVELS_UP_TO):
        return tuple(own.get(k, most) for k, most in zip(LEVELS_UP_TO, USUAL_LEVELS, strict=True))
    half = _length(p) / 2
    most = [q for e in p.eqns for q in subprograms(e.params) if _length(q) > half]
    return _levels(most[0]) if most else None


def _length(p: Program) -> int:
    parts = lambda: (1 + sum(map(_length, subprograms(e.params))) for e in p.eqns)  # noqa: E731
    return p.memo("length", lambda: sum(parts()))


def _build(p: Program, devices: Devices, donors: Donors) -> Built:
    options = compile_options(devices, options=compiler_flags(p, devices))
    loaded = _load_or_compile(p, devices, donors, options)
    types = [placed(t, devices[0]) for t in p.out_types]
    if not backend.is_here(devices[0]):
        return backend.Prepared(loaded, types, devices, p)
    shardings = [backend.one_device(devices[0])] * len(types)
    return backend.Executable(loaded, types, shardings, devices, p.acts, p, waits=waits_alone(p))


def _build_spread(p: Program, layout: Layout, donors: Donors) -> Built:
    devices, results = layout.devices, declared(p, layout.order)
    options = compile_options(
        devices, len(devices), [s is None for s in results], compiler_flags(p, devices)
    )
    loaded = _load_or_compile(p, devices, donors, options, layout)
    types = [
        Placed(t, s or _compiler_sharding(layout, proto, t.ndim))
        for t, s, proto in zip(p.out_types, results, backend.output_shardings(loaded, len(results)), strict=True)
    ]  # fmt: skip
    if not backend.is_here(devices[0]):
        return backend.Prepared(loaded, types, devices, p)
    raw = [t.sharding.raw(t.ndim) for t in types]
    return backend.Executable(loaded, types, raw, devices, p.acts, p, donors)


def _inspect(p: Program, place: Devices | Layout) -> None:
    """Call the callbacks of ``inspect_sharding`` with the layouts that the compiler chose."""
    for i, e in enumerate(p.eqns):
        if e.op.name == "inspect_sharding":
            if isinstance(place, Layout):
                until = Program(p.inputs, p.eqns[:i], [e.inputs[0]], p.name)
                sharding = _build_spread(until, place, ()).result_types[0].sharding
            else:
                sharding = SingleDeviceSharding(place[0])
            e.params["callback"](sharding)


def _compiler_sharding(layout: Layout, proto: OpSharding, ndim: int) -> Sharding:
    """The sharding that the compiler chose for a result."""
    tiles = placements.tiles_of(proto, len(layout.devices), ndim)
    return simplest(tiles, layout.devices, layout.known)


def _load_or_compile(
    p: Program, devices: Devices, donors: Donors, options: CompileOptions,
    layout: Layout | None = None,
) -> LoadedExecutable:  # fmt: skip
    """The program, loaded from disk or compiled and stored there."""
    shared = len(local_devices(devices)) < len(devices)
    store = disk.default_cache() if p.portable and not shared else None
    name = _disk_name(p, devices, donors, layout) if store else ""
    here = backend.is_here(devices[0])
    loaded = store and here and _from_disk(store, name, devices, options)
    if not loaded:
        loaded, calls = _compile(p, devices, donors, options, layout)
        if store:
            store.put(name, kernels.pack(calls, backend.serialize(loaded)))
    return loaded


def _disk_name(p: Program, devices: Devices, donors: Donors, layout: Layout | None) -> str:
    digest = disk.blake2b(p.fingerprint.encode(), digest_size=32)
    digest.update(disk.environment_key(devices[0]))
    flags = compiler_flags(p, devices)
    digest.update(repr(([d.id for d in devices], donors, flags, config.settings().plain)).encode())
    if layout is not None:
        digest.update(layout.canonical().encode())
    return digest.hexdigest()


def _from_disk(
    store: disk.DiskCache, name: str, devices: Devices, options: CompileOptions
) -> LoadedExecutable | None:
    found = store.get(name)
    if found is None:
        return None
    try:
        calls, blob = kernels.unpack(found)
        loaded = backend.deserialize(blob, devices, options, calls)
    except backend.RuntimeFailure:  # of another machine or version despite the name: make it again
        return None
    counts["from_disk"] += 1
    return loaded


def _compile(
    p: Program, devices: Devices, donors: Donors, options: CompileOptions, layout: Layout | None
) -> tuple[LoadedExecutable, list[Callable[..., Any]]]:
    """The loaded executable, and the Python functions that it calls."""
    start = time.perf_counter()
    verify = config.settings().enable_checks
    platform = backend.platform_of(devices[0])
    with lowering().lowered(p, platform, donors=donors, verify=verify, layout=layout) as ctx:
        if ctx.barriers and platform == "cpu":
            keep_barriers(options)
        try:
            loaded = backend.compile_module(ctx.module, devices, options, ctx.callbacks)
        except backend.RuntimeFailure as e:
            if p.options and "option" in str(e):
                raise errors.bad_compiler_options(dict(p.options), e) from None
            if backend.lacks_half_floats(e, ctx.module):
                raise errors.no_half_floats(p.name) from None
            raise translate(e) from None
    counts["compiled"] += 1
    if config.settings().log_compiles:
        spent = (time.perf_counter() - start) * 1e3
        print(
            f"xcore: compiled {p.name} ({len(p.eqns)} operations) in {spent:.0f} ms",
            file=sys.stderr,
        )
    return loaded, ctx.callbacks


# Runtime failures


def translate(e: Exception, arguments: Sequence[Array] = ()) -> Exception:
    """The runtime's exception in words for users. What a callback raised is raised here."""
    text = str(e)
    if isinstance(e, errors.XcoreError):  # it has been said in words
        return e
    found = callbacks.raised(text)
    if found:
        raise_from_callback(*found)
    if any(words in text for words in backend.DONATED_TWICE):
        return errors.donated_twice(arguments)
    gone = [x for x in arguments if x.is_deleted()]
    if gone or any(words in text for words in backend.GONE):
        return errors.deleted_array(gone[0].type if gone else "an argument")
    if "Gloo" in text or "NCCL" in text:
        cluster.reported()
        return errors.process_gone(text)
    if "RESOURCE_EXHAUSTED" in text or "Out of memory" in text:
        return errors.out_of_memory(text.splitlines()[0], backend.live_buffers())
    return e


def raise_from_callback(name: str | None, original: BaseException) -> NoReturn:
    """Raise what a callback raised: as it is if it is xcore's own or not an error, else with its name."""
    if name is None or not isinstance(original, Exception):
        raise original from None
    raise errors.callback_error_like(type(original))(
        f"The Python callback {name} raised {type(original).__name__}: {original}"
    ) from original
