"""Executables on disk.

A compiled program is worth keeping: loading one takes well under a millisecond, compiling it 25.
`DiskCache` knows nothing of programs. It maps a key (hex text) to bytes and promises that `get`
returns exactly what some `put` stored under that key, or nothing: machine code is loaded and run
without further checks, so every entry carries a digest that is verified first. The digest is no
signature: whoever can write an entry can make it run. So only files are read that belong to this user
or to root, and that nobody else may write.
"""

# pyright: reportPrivateImportUsage=false

from __future__ import annotations

import functools
import os
import platform
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import jaxlib

from . import cuda, topologies, tpu

if TYPE_CHECKING:
    from .surface import Device

try:  # hashlib loads OpenSSL to offer the same function: 3 ms of every start
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

MAGIC = b"xcore-cache\x00\x01"  # the last byte is the version of the layout
_DIGEST_SIZE = 32
_HEADER = len(MAGIC) + _DIGEST_SIZE

_LOW_WATER = 0.9  # eviction frees down to this part of the bound
_SWEEPS_PER_BOUND = 16  # expected sweeps while as many bytes are written as the bound allows
_STALE_SECONDS = 3600  # a temporary file this old belongs to a process that died


class DiskCache:
    """A bounded store of blobs in a directory that many threads and processes may share.

    An entry is one file, `directory/ab/cdef…`, which appears by a rename and so is never seen half
    written. Its modification time is the time of its last use; the least recently used go first.
    A directory that cannot be written is reported once; from then on the cache only reads.
    """

    def __init__(self, directory: str, max_bytes: int = 1 << 30):
        self.directory = os.fspath(directory)
        self.max_bytes = max_bytes
        self.hits = self.misses = 0
        self.writable = True
        self.refused = False

    def get(self, key: str) -> bytes | None:
        """The blob stored under `key`; None if there is none or the file does not check out."""
        path = self._path(key)
        try:
            data = _read(path)
        except PermissionError as error:
            self._refuse(str(error))
            data = None
        blob = None if data is None else _unpack(key, data)
        if blob is not None:
            self.hits += 1
            return blob
        self.misses += 1
        if data is not None:
            _remove(path)
        return None

    def put(self, key: str, blob: bytes) -> None:
        """Store `blob` under `key`, replacing what was there."""
        if not self.writable:
            return
        digest = _digest(key, blob)
        try:
            _write(self._path(key), (MAGIC, digest, blob))
        except OSError as error:
            self._disable(error)
            return
        if self._sweep_is_due(digest, len(blob)):
            self._evict(int(self.max_bytes * _LOW_WATER))

    def stats(self) -> dict[str, int]:
        """Entries and bytes on disk; hits and misses of this process."""
        sizes = [stat.st_size for _, stat in self._files()]
        return {
            "entries": len(sizes),
            "bytes": sum(sizes),
            "hits": self.hits,
            "misses": self.misses,
        }

    def clear(self) -> None:
        """Remove every entry."""
        for path, _ in self._files():
            _remove_entry(path)

    def _path(self, key: str) -> str:
        return f"{self.directory}/{key[:2]}/{key[2:]}"

    def _disable(self, error: OSError) -> None:
        self.writable = False
        warnings.warn(
            f"xcore: compiled programs cannot be kept in {self.directory!r} ({error.strerror}); "
            "they will be compiled again in every process. Set XCORE_CACHE_DIR to a writable "
            "directory, or XCORE_CACHE=0 to do without.",
            RuntimeWarning,
            stacklevel=3,
        )

    def _refuse(self, path: str) -> None:
        if os.path.isdir(path):
            self.writable = False
        if not self.refused:
            self.refused = True
            warnings.warn(
                f"xcore: {path!r} belongs to another user, or others may write it; as it would be run, it is "
                "not read, and programs are compiled anew. Set XCORE_CACHE_DIR to a directory of your own.",
                RuntimeWarning,
                stacklevel=4,
            )

    def _sweep_is_due(self, digest: bytes, size: int) -> bool:
        # No counter on disk to share and no scan per put: each put sweeps with a probability
        # proportional to its size, so the bound is exceeded by 1/16 on average, however many
        # processes write however little each. The digest serves as the random number.
        chance = _SWEEPS_PER_BOUND * size / max(self.max_bytes, 1)
        return int.from_bytes(digest[:4], "big") < chance * 2**32

    def _evict(self, target: int) -> None:
        files = sorted(self._files(), key=lambda file: file[1].st_mtime_ns, reverse=True)
        total = 0
        for path, stat in files:
            total += stat.st_size
            if total > target:
                _remove_entry(path)

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        """Path and stat of every entry; leftovers of writers that died are removed in passing.

        The directory may be any one that a user names: what is not called as entries are is not touched.
        """
        oldest = time.time() - _STALE_SECONDS
        for shard in filter(_is_shard, _scan(self.directory)):
            for file in _scan(shard.path):
                if not _is_ours(file.name):
                    continue
                try:
                    stat = file.stat(follow_symlinks=False)
                except FileNotFoundError:  # another process has just evicted it
                    continue
                if not file.name.startswith("."):
                    yield file.path, stat
                elif stat.st_mtime < oldest:
                    _remove(file.path)


def _digest(key: str, blob: bytes | memoryview) -> bytes:
    # The key is part of it: an entry renamed or copied to another key is not that key's entry.
    state = blake2b(key.encode(), digest_size=_DIGEST_SIZE)
    state.update(blob)
    return state.digest()


def _unpack(key: str, data: bytes) -> bytes | None:
    view = memoryview(data)
    if data[: len(MAGIC)] != MAGIC or data[len(MAGIC) : _HEADER] != _digest(key, view[_HEADER:]):
        return None
    return data[_HEADER:]


def _read(path: str) -> bytes | None:
    """The content of a file; PermissionError where another user may have written it, or into its folders."""
    shard = os.path.dirname(path)
    folders = (os.path.dirname(shard), shard)
    try:
        found = [os.stat(folder) for folder in folders]
        file = open(path, "rb", buffering=0)
    except OSError:
        return None
    with file:
        for folder, state in zip(folders, found, strict=True):
            if not _is_trusted(state):
                raise PermissionError(folder)
        if not _is_trusted(os.fstat(file.fileno())):
            raise PermissionError(path)
        try:
            data = file.read()
            _touch(file.fileno())
            return data
        except OSError:
            return None


def _is_trusted(stat: os.stat_result) -> bool:
    """Whether nobody but this user and root can have written a file, or into a folder."""
    return stat.st_uid in (0, os.geteuid()) and not stat.st_mode & 0o022


def _touch(descriptor: int) -> None:
    try:
        os.utime(descriptor)
    except OSError:  # somebody else's file or a read-only disk: its age is not ours to keep
        pass


def _write(path: str, parts: Iterable[bytes]) -> None:
    shard, name = os.path.split(path)
    temporary = f"{shard}/.{name[:16]}.{os.getpid()}.{threading.get_ident()}"
    try:
        file = open(temporary, "wb", opener=_private)
    except FileNotFoundError:
        for folder in (os.path.dirname(shard), shard):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        file = open(temporary, "wb", opener=_private)
    try:
        with file:
            file.writelines(parts)
        os.replace(temporary, path)
    except OSError:
        _remove(temporary)
        raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _remove(path: str) -> None:
    try:
        os.remove(path)
    except OSError:
        pass


_HEX = frozenset("0123456789abcdef")


def _is_shard(folder: os.DirEntry[str]) -> bool:
    return len(folder.name) == 2 and _HEX.issuperset(folder.name)


def _is_ours(name: str) -> bool:
    """Whether a file is called as an entry, or as one that is being written: `.key.process.thread`."""
    key, *numbers = name.removeprefix(".").split(".")
    being_written = len(numbers) == 2 and all(n.isdecimal() for n in numbers)
    return bool(key) and _HEX.issuperset(key) and name.startswith(".") == being_written


def _remove_entry(path: str) -> None:
    """Remove a file that begins as entries do, of whatever version."""
    try:
        with open(path, "rb", buffering=0) as file:
            begins = file.read(len(MAGIC) - 1)
    except OSError:
        return
    if begins == MAGIC[:-1]:
        _remove(path)


def _scan(directory: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []


# Which cache


def default_cache() -> DiskCache | None:
    """The cache the environment asks for: XCORE_CACHE_DIR, or none at all under XCORE_CACHE=0."""
    if os.environ.get("XCORE_CACHE", "1").lower() in ("0", "false", "off", "no"):
        return None
    return _open(os.environ.get("XCORE_CACHE_DIR") or _home_cache())


_open = functools.lru_cache(maxsize=8)(DiskCache)


def _home_cache() -> str:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "xcore")


# What a program's executable depends on besides the program

# Settings that XLA and the libraries it calls read while compiling.
_COMPILER_VARIABLES = ("LIBTPU_INIT_ARGS", "NVIDIA_TF32_OVERRIDE", "TF_ENABLE_ONEDNN_OPTS")
_COMPILER_PREFIXES = ("XLA_", "TF_XLA_")

# Lines of /proc/cpuinfo that name the instruction set; others change by the moment.
_CPU_FIELDS = (
    "vendor_id", "cpu family", "model", "model name", "flags",
    "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features", "isa", "uarch",
)  # fmt: skip


@functools.lru_cache(maxsize=16)
def environment_key(device: Device) -> bytes:
    """Digest of all that determines an executable besides its program and compile options.

    That is: the versions of jaxlib and of the platform, the kind of device, compiler settings in
    environment variables, and xcore's own source, which turns a Program into what is compiled. On a
    CPU also its model (object code is native, and split for a number of threads), and of the source
    the times of its files. What is compiled for an accelerator may come from another machine, with
    another installation of the same.
    """
    client = device.client
    root = os.path.dirname(os.path.dirname(__file__))
    if client.platform == "cpu":
        what = (
            client.platform_version,
            device.device_kind,
            _cpu(),
            _thread_count(),
            sys.version_info[:2],
        )
        source = _source_files(root)
    else:
        what, source = _accelerator(device), _source_contents(root)
    name = "gpu" if client.platform == "cuda" else client.platform
    facts = jaxlib.__version__, name, what, _compiler_environment(), source
    return blake2b(repr(facts).encode(), digest_size=_DIGEST_SIZE).digest()


def _accelerator(device: Device) -> object:
    """What machine code for an accelerator depends on; the same on a machine that only compiles for it.

    That is the kind of device, by its name in the table where it is there: "NVIDIA H100 80GB HBM3" is
    an H100. And the compiler, told by the size of its library: a client's version is the driver's.
    """
    rows = [r.name for r in topologies.KINDS.values() if device.device_kind.startswith(r.name)]
    plugin = cuda.installed_plugin()
    library = tpu.library() if device.client.platform == "tpu" else plugin and plugin.library
    return rows or device.device_kind, library and os.path.getsize(library)


def _cpu() -> object:
    """Model and instruction-set flags of the processor."""
    try:
        with open("/proc/cpuinfo", "rb", buffering=0) as file:
            # One processor's block. Large machines have hundreds and the kernel makes the text
            # as it is read, so reading all of it would take milliseconds.
            block = file.read(16384).decode(errors="replace").split("\n\n")[0]
    except OSError:
        return platform.machine(), platform.processor()
    fields = (line.partition(":") for line in block.splitlines())
    return [line for line in fields if line[0].strip() in _CPU_FIELDS]


def _thread_count() -> int | None:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count()


def _compiler_environment() -> list[tuple[str, str]]:
    return sorted(
        item
        for item in os.environ.items()
        if item[0] in _COMPILER_VARIABLES or item[0].startswith(_COMPILER_PREFIXES)
    )


def _source_files(root: str, prefix: str = "") -> list[tuple[str, int, int]]:
    """Name, size and modification time of every Python file below `root`, in a fixed order."""
    found: list[tuple[str, int, int]] = []
    for entry in sorted(_scan(root), key=lambda entry: entry.name):
        if entry.name.endswith(".py"):
            stat = entry.stat()
            found.append((prefix + entry.name, stat.st_size, stat.st_mtime_ns))
        elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
            found += _source_files(entry.path, f"{prefix}{entry.name}/")
    return found


@functools.cache
def _source_contents(root: str) -> str:
    """A digest of every Python file below `root`, which other installations of them share."""
    digest = blake2b(digest_size=_DIGEST_SIZE)
    for name, _, _ in _source_files(root):
        with open(os.path.join(root, name), "rb") as file:
            content = file.read()
        digest.update(f"{name} {len(content)} ".encode() + content)
    return digest.hexdigest()
