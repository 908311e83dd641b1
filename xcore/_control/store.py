"""Checkpoints on disk: a folder of pieces of arrays, written so that it is whole or not there.

A checkpoint is a folder. Each process writes ``data-<process>`` (the bytes of the pieces that it
holds, one after the other) and ``index-<process>`` (JSON: for each leaf its shape and dtype, and
for each piece where in the array it belongs, where in the data it is, and its checksum). All of it
is written to a folder of another name, synced to the disk, and then renamed: a crash at any moment
leaves the folder that was there before.

Who reads changes nothing. The files of a checkpoint are opened together, so what is read is of one checkpoint, though
it may be replaced meanwhile.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import re
import shutil
import socket
import threading
import time
import zlib
from pathlib import Path

import numpy as np

from .._core import dtypes
from .._core.exceptions import CheckpointError

_ALIGN = 64
_BLOCK = 512  # words of 8 bytes
_CHUNK = 2**24  # bytes handed to the system at a time
_WRITER = "writer"  # a file that says who is writing
# What a checkpoint consists of, and systems add.
_OURS = re.compile(r"(data|index)-\d+|\.DS_Store|\.nfs\w+")
_WRITING, _REPLACED = ".writing", ".replaced"  # endings of folders that are not checkpoints


# Writing


class Writer:
    """Writes the part of one process to a folder."""

    def __init__(self, folder: Path, process: int):
        self.folder, self.process, self.position = folder, process, 0
        self.file = os.open(
            folder / f"data-{process}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644
        )
        self.leaves: dict = {}

    def leaf(self, path: str, shape, dtype, kind: str) -> None:
        name = np.dtype(dtype).name
        self.leaves[path] = {"shape": list(shape), "dtype": name, "kind": kind, "pieces": []}

    def piece(self, path: str, index, value: np.ndarray) -> None:
        """Append the piece of a leaf that stands at ``index``: for each axis (start, stop)."""
        self.position += -self.position % _ALIGN
        os.lseek(self.file, self.position, os.SEEK_SET)
        raw = memoryview(np.ascontiguousarray(value).reshape(-1).view(np.uint8))
        total = self._write(raw)
        self.leaves[path]["pieces"].append([index, self.position, raw.nbytes, total])
        self.position += raw.nbytes

    def _write(self, raw) -> int:
        """Write bytes, and sum them up in another thread meanwhile."""
        found = []
        adding = threading.Thread(target=lambda: found.append(checksum(raw)))
        adding.start()
        write_all(self.file, raw)
        adding.join()
        return found[0]

    def finish(self, processes: int, metadata, outline) -> None:
        os.fsync(self.file)
        body = {
            "processes": processes,
            "metadata": metadata,
            "tree": outline,
            "leaves": self.leaves,
        }
        body = json.dumps(body)
        text = f"{zlib.crc32(body.encode())}\n{body}"
        file = os.open(self.folder / f"index-{self.process}", os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            write_all(file, memoryview(text.encode()))
            os.fsync(file)
        finally:
            os.close(file)

    def abandon(self) -> None:
        """Give back the space of what cannot be finished."""
        for kind in ("data", "index"):
            (self.folder / f"{kind}-{self.process}").unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # other processes have files there
            if os.listdir(self.folder) == [_WRITER]:
                (self.folder / _WRITER).unlink()
            self.folder.rmdir()

    def close(self) -> None:
        os.close(self.file)


def checksum(raw) -> int:
    """The CRC of sums over blocks: as sure as a CRC of all bytes to notice damage, and faster."""
    words = np.frombuffer(raw, np.uint64, len(raw) // 8)
    blocks = words[: len(words) // _BLOCK * _BLOCK].reshape(-1, _BLOCK)
    return zlib.crc32(raw[blocks.nbytes :], zlib.crc32(blocks.sum(1, dtype=np.uint64).tobytes()))


def write_all(file: int, raw) -> None:
    done = 0
    while done < len(raw):
        done += os.write(file, raw[done : done + _CHUNK])


def sync_folder(folder: Path) -> None:
    """Make names in a folder as lasting as the files."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def beside(folder: Path, ending: str = _WRITING) -> Path:
    """A folder that belongs to a checkpoint but is none."""
    return folder.with_name(f".{folder.name}{ending}")


def is_ours(folder: Path) -> bool:
    """Whether a folder is called and filled as a checkpoint is, whole or damaged."""
    return folder.is_dir() and all(map(_OURS.fullmatch, os.listdir(folder)))


def is_replaceable(folder: Path) -> bool:
    """Whether nothing but a checkpoint is lost with a folder: it is empty, or has files with an index of ours."""
    if not is_ours(folder):
        return False
    files = [p for p in folder.iterdir() if not p.name.startswith(".")]
    if not files:
        return True
    try:
        with open(folder / "index-0", "rb") as index:
            begins = re.match(rb"\d+\n\{", index.read(16))
    except OSError:
        return False
    return begins is not None and all(p.is_file() for p in files)


def check_free(folder: Path) -> None:
    """Raise where a checkpoint would take the place of something else."""
    if not (folder.is_symlink() or folder.exists()) or is_replaceable(folder):
        return
    if folder.is_dir():
        raise CheckpointError(
            f"xcore.checkpoint: {folder} is there and is no checkpoint; it would be lost. Give the name of "
            f"a folder of its own, such as {folder / 'state'}."
        )
    raise CheckpointError(
        f"xcore.checkpoint: {folder} is a file. Give the name of a folder for the checkpoint."
    )


_locks: dict[Path, threading.Lock] = {}


def lock(folder: Path) -> threading.Lock:
    """What threads of this process hold in turn while they write a checkpoint."""
    return _locks.setdefault(folder, threading.Lock())


def begin(folder: Path) -> Path:
    """An empty folder to write a checkpoint to; what an earlier crash has left is put right.

    It is refused while another process of this machine writes there. Threads of one take turns (``lock``).
    """
    writing = beside(folder)
    if _is_at_work(writing):
        raise _busy(folder)
    recover(folder)
    shutil.rmtree(writing, ignore_errors=True)
    try:
        writing.mkdir(parents=True)
    except FileExistsError:
        raise _busy(folder) from None
    (writing / _WRITER).write_text(_process(os.getpid()))
    return writing


def _busy(folder: Path) -> CheckpointError:
    return CheckpointError(
        f"xcore.checkpoint: another process is writing {folder}. Give each writer a folder of its own, or save by "
        "one of them."
    )


def _is_at_work(writing: Path) -> bool:
    """Whether another process of this machine, which lives, is writing there."""
    try:
        owner = (writing / _WRITER).read_text()
        host, pid, _ = json.loads(owner)
    except (OSError, ValueError):
        return False
    return host == socket.gethostname() and pid != os.getpid() and _process(pid) == owner


def _process(pid: int) -> str:
    """A process of this machine that lives, by number and the time of its start; "" if there is none."""
    try:
        started = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
    return json.dumps([socket.gethostname(), pid, started])


def sweep(directory: Path) -> None:
    """Remove what writers of this machine that are no more have left unfinished."""
    for writing in directory.glob(f".*{_WRITING}"):
        try:
            owner = (writing / _WRITER).read_text()
            host, pid, _ = json.loads(owner)
        except (OSError, ValueError):  # just being made or removed, or of another version
            continue
        if host == socket.gethostname() and _process(pid) != owner:
            shutil.rmtree(writing, ignore_errors=True)


def commit(folder: Path) -> None:
    """Make what has been written the checkpoint, in one step where the system can. Until then the old one counts."""
    writing, replaced = beside(folder), beside(folder, _REPLACED)
    (writing / _WRITER).unlink(missing_ok=True)
    sync_folder(writing)
    if not folder.exists():
        os.rename(writing, folder)
    elif _exchanged(writing, folder):
        os.rename(writing, replaced)
    else:
        os.rename(folder, replaced)
        os.rename(writing, folder)
    sync_folder(folder.parent)
    shutil.rmtree(replaced, ignore_errors=True)


_EXCHANGE, _HERE = 2, -100  # of linux/fs.h and fcntl.h


def _exchanged(one: Path, other: Path) -> bool:
    """Whether two names were exchanged at once: by Linux, on file systems that can."""
    try:
        swap = ctypes.CDLL(None).renameat2
    except (OSError, AttributeError):
        return False
    return swap(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0


def recover(folder: Path) -> None:
    """Undo a replacement that a crash has interrupted."""
    replaced = beside(folder, _REPLACED)
    if replaced.exists():
        if folder.exists():
            shutil.rmtree(replaced, ignore_errors=True)
        else:
            os.rename(replaced, folder)


def saved_at(folder: Path) -> int:
    """When a checkpoint was written, in nanoseconds; 0 where that is not known."""
    try:
        return os.stat(folder / "index-0").st_mtime_ns
    except OSError:
        return 0


def remove(folder: Path) -> None:
    """Delete a checkpoint; one that is half deleted is none."""
    gone = beside(folder)
    shutil.rmtree(gone, ignore_errors=True)
    os.rename(folder, gone)
    shutil.rmtree(gone, ignore_errors=True)


# Reading


class Piece:
    """A part of a leaf in the bytes of a data file."""

    __slots__ = ("checked", "checksum", "file", "index", "nbytes", "raw")

    def __init__(
        self, file: Path, data: np.ndarray, index, position: int, nbytes: int, checksum: int
    ):
        self.file, self.index, self.nbytes = file, index, nbytes
        self.raw = data[position : position + nbytes]
        self.checksum, self.checked = checksum, False


class Leaf:
    """A leaf as the index describes it."""

    __slots__ = ("dtype", "kind", "path", "pieces", "shape")

    def __init__(self, path: str, shape, dtype: str, kind: str):
        self.path, self.shape, self.kind = path, tuple(shape), kind
        self.dtype, self.pieces = dtypes.as_dtype(dtype), []

    def read(self, index) -> np.ndarray:
        """The part at ``index``, a tuple of slices, put together from pieces."""
        wanted = [s.indices(n)[:2] for s, n in zip(index, self.shape, strict=True)]
        whole = np.empty([b - a for a, b in wanted], self.dtype)
        covered = 0
        for piece in self.pieces:
            shared = [
                (max(a, c), min(b, d)) for (a, b), (c, d) in zip(wanted, piece.index, strict=True)
            ]
            if any(a >= b for a, b in shared):
                continue
            to = tuple(slice(a - s, b - s) for (a, b), (s, _) in zip(shared, wanted, strict=True))
            of = tuple(
                slice(a - s, b - s) for (a, b), (s, _) in zip(shared, piece.index, strict=True)
            )
            whole[to] = self._content(piece)[of]
            covered += math.prod(b - a for a, b in shared)
        if covered < whole.size:
            raise CheckpointError(
                f"xcore.checkpoint: {self.path} is not complete: pieces of it are missing."
            )
        return whole

    def _content(self, piece: Piece) -> np.ndarray:
        shape = [b - a for a, b in piece.index]
        if len(piece.raw) < piece.nbytes:
            raise CheckpointError(
                f"xcore.checkpoint: cannot read {self.path}: {piece.file} ends too early."
            )
        if not piece.checked and checksum(piece.raw) != piece.checksum:
            raise CheckpointError(
                f"xcore.checkpoint: {self.path} is damaged: its bytes in {piece.file} do not have the "
                "checksum that was stored with them. Restore an older checkpoint."
            )
        piece.checked = True
        return piece.raw.view(self.dtype).reshape(shape)


class Reader:
    """The index of a checkpoint: ``leaves`` by path, the ``outline`` of their tree, and the user's ``metadata``."""

    def __init__(self, folder: Path):
        found = _opened(folder)
        first = found[0][0]
        self.metadata = first["metadata"]
        self.leaves: dict[str, Leaf] = {}
        for process, (index, data) in enumerate(found):
            self._add(folder / f"data-{process}", index, data)
        flat = ["dict", *[list(self.leaves)] * 2]  # of checkpoints that are older than outlines
        self.outline = first.get("tree", flat)

    def _add(self, file: Path, index: dict, data: np.ndarray) -> None:
        for path, entry in index["leaves"].items():
            leaf = self.leaves.setdefault(
                path, Leaf(path, entry["shape"], entry["dtype"], entry["kind"])
            )
            leaf.pieces += [Piece(file, data, *p) for p in entry["pieces"]]


_TRIES, _MISSED = 1000, 5


def _opened(folder: Path) -> list:
    """(index, bytes of its data) of each process, all of one checkpoint; anew where it was replaced meanwhile."""
    missed = 0
    for _ in range(_TRIES):
        source = folder if folder.is_dir() else beside(folder, _REPLACED)  # a crash, or just now
        before = _identity(source)
        if before is None:  # once it may have been between two names
            missed += not folder.is_dir()
            if missed > _MISSED:
                break
            time.sleep(0.001)
            continue
        try:
            first = _index(source, 0)
            rest = [_index(source, k) for k in range(1, first["processes"])]
            found = [
                (index, _mapped(source / f"data-{k}")) for k, index in enumerate([first, *rest])
            ]
        except (CheckpointError, OSError) as e:
            half_deleted = (
                source != folder and folder.is_dir()
            )  # the old one, once the new one is there
            if _identity(source) == before and not half_deleted:
                if isinstance(e, CheckpointError):
                    raise
                raise CheckpointError(f"xcore.checkpoint: {folder} is damaged: {e}") from e
        else:
            if _identity(source) == before:
                return found
        time.sleep(0.001)
    raise CheckpointError(f"xcore.checkpoint: there is no checkpoint {folder}.")


def _mapped(file: Path) -> np.ndarray:
    """The bytes of a file, read when they are asked for; they stay when it is deleted."""
    if not os.stat(file).st_size:
        return np.zeros(0, np.uint8)
    return np.memmap(file, np.uint8, "r")


def _identity(folder: Path) -> tuple | None:
    """What tells a folder from another of its name, and from itself while it is deleted; None if there is none."""
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_nlink


def is_whole(folder: Path) -> bool:
    """Whether all of a checkpoint can be read and has the checksums that were stored with it."""
    try:
        for leaf in Reader(folder).leaves.values():
            leaf.read(tuple(slice(0, n) for n in leaf.shape))
    except CheckpointError:
        return False
    return True


def _index(folder: Path, process: int) -> dict:
    file = folder / f"index-{process}"
    try:
        checksum, _, body = file.read_text("utf-8").partition("\n")
    except (OSError, UnicodeDecodeError) as e:
        raise CheckpointError(f"xcore.checkpoint: {folder} is damaged: {e}") from e
    if checksum != str(zlib.crc32(body.encode())):
        raise CheckpointError(f"xcore.checkpoint: {folder} is damaged: its index {file} is.")
    return json.loads(body)
