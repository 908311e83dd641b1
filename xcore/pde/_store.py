"""States of a run on the disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .._core import PyTree, dtypes, errors, tree

_WHO = "pde.Store"
_SUFFIXES = {".npz": "npz", ".h5": "hdf5", ".hdf5": "hdf5", ".zarr": "zarr"}


class Store:
    """Writes states to a file as a run goes on: a tracker of ``march``. ``Store.read(path)`` gives them back.

    The ending says how: ".npz" is kept in memory and written at the end, whatever ends the run; ".h5" and
    ".hdf5" (needs h5py) and ".zarr" (needs zarr) grow with each state, so that they may be larger than the memory and
    outlive the process.

    Args:
      path: of the file, or the folder of zarr. It must not exist, but the folder it is in must.
      save: function of (u, t) that gives what to write; the state itself by default. Names, shapes and kinds of numbers
        are those of the first time.
      overwrite: whether it may exist, and is replaced.

    >>> import tempfile, xcore.numpy as xnp
    >>> path = tempfile.mkdtemp() + "/run.npz"
    >>> store = Store(path)
    >>> store(xnp.ones(3), 0.0), store(xnp.zeros(3), 0.5), store.close()
    (None, None, None)
    >>> times, states = Store.read(path)
    >>> times, states.shape
    (array([0. , 0.5]), (2, 3))
    """

    def __init__(
        self, path: str | Path, save: Callable[..., Any] | None = None, *, overwrite: bool = False
    ) -> None:
        self.path, self.save, self._file, self._first = Path(path), save, None, None
        self._kind = _kind(_WHO, self.path)
        if not (save is None or callable(save)):
            raise errors.bad_argument(_WHO, "save", save, "a function of (u, t)")
        _free(self.path, self._kind == "zarr", overwrite)

    def __call__(self, u: PyTree, t: float) -> None:
        if self._first is not None and self._file is None:
            advice = "Each run needs its own: this one's file is complete."
            raise errors.bad_argument(_WHO, "path", str(self.path), "that of a new Store", advice)
        row = named(u if self.save is None else self.save(u, t))
        kinds = {k: (x.shape, x.dtype) for k, x in row.items()}
        if self._first is None:
            self._file, self._first = _FILES[self._kind](self.path), kinds
        _same_kinds(self._first, kinds)
        self._file.add({"t": np.float64(t), **row})  # pyright: ignore[reportOptionalMemberAccess]

    def close(self) -> None:
        """Writes what is not written yet."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    @staticmethod
    def read(path: str | Path) -> tuple[np.ndarray, Any]:
        """(times, states): stacked, one array where the state is one, else a dict of arrays by their place."""
        path, who = Path(path), "pde.Store.read"
        kind = _kind(who, path)
        if not path.exists():
            raise errors.bad_argument(who, "path", str(path), "a file that is there")
        try:
            rows = _READERS[kind](path)
            times = rows.pop("t")
        except (ValueError, KeyError, OSError) as e:
            want = "a file that pde.Store has written, to its end"
            raise errors.bad_argument(who, "path", str(path), want) from e
        return times, rows["u"] if list(rows) == ["u"] else rows


def _kind(who: str, path: Path) -> str:
    kind = _SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise errors.bad_argument(
            who, "path", str(path), f"with an ending of {', '.join(_SUFFIXES)}"
        )
    return kind


def _free(path: Path, folder: bool, overwrite: bool) -> None:
    """Raises before a long run where there is no place for what it gives."""
    if not path.parent.is_dir():
        raise errors.bad_argument(_WHO, "path", str(path), "in a folder that is there")
    if path.exists() and not overwrite:
        advice = "Choose another name, remove it, or give overwrite=True."
        raise errors.bad_argument(_WHO, "path", str(path), "a new file", advice)
    if path.exists() and path.is_dir() != folder:
        want = "no file, where a folder of zarr is written" if folder else "no folder"
        raise errors.bad_argument(_WHO, "path", str(path), want)


def named(kept: PyTree) -> dict[str, np.ndarray]:
    """The arrays of a tree by their place; one alone is u."""
    rows, _ = tree.flatten_with_path(kept)
    names = ["u" + "".join(f".{_word(k)}" for k in path) for path, _ in rows]
    if not names:
        raise errors.bad_argument(_WHO, "save", kept, "a function that returns arrays")
    if len(set(names)) < len(names) or any("/" in name for name in names):
        want = 'such that their places, joined by ".", are different names without "/"'
        raise errors.bad_argument(_WHO, "keys", names, want)
    return {name: _plain(np.asarray(x)) for name, (_, x) in zip(names, rows, strict=True)}


def _same_kinds(first: dict[str, tuple], now: dict[str, tuple]) -> None:
    """Raises where rows cannot stand in one array: files would round, repeat or leave out."""
    if first.keys() != now.keys():
        raise errors.bad_argument(_WHO, "save", [*now], f"of the same names each time, {[*first]}")
    for name, (shape, dtype) in now.items():
        then = first[name]
        if shape != then[0] or not np.can_cast(dtype, then[1], "safe"):
            want = f"of shape {then[0]} and dtype {then[1]} each time, as at first"
            raise errors.bad_argument(_WHO, name, errors.Words(f"{dtype}{[*shape]}"), want)


def _word(key) -> str:
    return str(next((getattr(key, a) for a in ("key", "name", "idx") if hasattr(key, a)), key))


def _plain(x: np.ndarray) -> np.ndarray:
    """In a dtype that files know."""
    return x.astype(np.float32) if dtypes.is_inexact(x.dtype) and x.dtype.kind == "V" else x


class _Npz:
    def __init__(self, path: Path) -> None:
        self.path, self.rows = path, []

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)

    def close(self) -> None:
        stacked = {k: np.stack([r[k] for r in self.rows]) for k in self.rows[0]}
        np.savez_compressed(self.path, **stacked)


class _Growing:
    """Arrays on the disk that grow along their first axis."""

    def __init__(self, path: Path) -> None:
        self.group, self.count = self.opened(path), 0

    def add(self, row: dict[str, Any]) -> None:
        for name, value in row.items():
            if not self.count:
                self.made(name, np.asarray(value))
            rows = self.group[name]
            rows.resize((self.count + 1, *np.shape(value)))
            rows[self.count] = value
        self.count += 1
        self.written()

    def written(self) -> None:
        """Sees to it that the row is on the disk."""

    def close(self) -> None:
        """Ends the file."""


class _Hdf5(_Growing):
    def opened(self, path: Path):
        return _needed("h5py").File(path, "w")

    def made(self, name: str, value: np.ndarray) -> None:
        more = {
            "maxshape": (None, *value.shape),
            "chunks": (1, *(max(n, 1) for n in value.shape)),
        }
        self.group.create_dataset(name, (0, *value.shape), value.dtype, **more)

    def written(self) -> None:
        self.group.flush()

    def close(self) -> None:
        self.group.close()


class _Zarr(_Growing):
    def opened(self, path: Path):
        return _needed("zarr").open_group(str(path), mode="w")

    def made(self, name: str, value: np.ndarray) -> None:
        make = getattr(self.group, "create_array", None) or self.group.create_dataset
        chunks = (1, *(max(n, 1) for n in value.shape))
        make(name, shape=(0, *value.shape), chunks=chunks, dtype=value.dtype)


def _needed(package: str):
    try:
        return __import__(package)
    except ImportError as e:
        advice = f'pip install {package}, or take a path that ends in ".npz".'
        raise errors.bad_argument(
            _WHO, "path", package, "a kind whose package is there", advice
        ) from e


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as found:
        return {k: found[k] for k in found.files}


def _read_hdf5(path: Path) -> dict[str, np.ndarray]:
    with _needed("h5py").File(path, "r") as found:
        return {k: found[k][...] for k in found}


def _read_zarr(path: Path) -> dict[str, np.ndarray]:
    return {
        k: np.asarray(v[...]) for k, v in _needed("zarr").open_group(str(path), mode="r").arrays()
    }


_FILES = {"npz": _Npz, "hdf5": _Hdf5, "zarr": _Zarr}
_READERS = {"npz": _read_npz, "hdf5": _read_hdf5, "zarr": _read_zarr}
