"""Pytrees to checkpoints and back: ``save``, ``restore``, and a ``Checkpointer`` for training."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import operator
import os
import re
import threading
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._core import (
    ArrayType,
    PyTree,
    ShapeDtypeStruct,
    Tracer,
    boundary,
    distributed,
    dtypes,
    errors,
    tree,
)
from .._core.array import Array, from_host
from .._core.devices import process_count, process_index
from .._core.eval import default_placed
from .._core.exceptions import CheckpointError
from .._core.sharding import Sharding, as_sharding, is_placement
from .._core.shards import make_array_from_callback
from . import store

_PYTHON = {bool: "bool", int: "int", float: "float", complex: "complex"}
_SEQUENCES = {"list": list, "tuple": tuple}
NODES: dict[str, Callable] = {}  # class of a layer above -> (keys, parts) to an object of it
_meetings = itertools.count()  # all processes save the same checkpoints in the same order


# Saving


def _pieces(x):
    """(index, host values) of the parts of a leaf that this process has to write."""
    if type(x) is not Array:
        value = np.asarray(x)
        return [([[0, n] for n in value.shape], value)] if process_index() == 0 else []
    if len(x.sharding.devices) == 1:
        x.block_until_ready()
        return [([[0, n] for n in x.shape], _host_copy(x))] if process_index() == 0 else []
    return [
        ([list(s.indices(n)[:2]) for s, n in zip(shard.index, x.shape, strict=True)], _host_copy(shard.data))
        for shard in x.addressable_shards
        if shard.replica_id == 0
    ]  # fmt: skip


def _host_copy(x: Array) -> np.ndarray:
    """The content in host memory, whatever becomes of the array. On the CPU that is no copy."""
    return np.asarray(x)


def _leaf_name(path) -> str:
    return tree.keystr(path) or "."


def _storable(x, name: str):
    """(the leaf as an array of a dtype that can be read again, what it is in Python)."""
    who, what = "checkpoint.save", "tree_" if name == "." else f"tree_{name}"
    if type(x) is Array:
        return x, "array"
    if isinstance(x, Tracer):
        raise errors.bad_argument(
            who, what, x, "a value", "Inside of jit, grad and vmap there is none yet: return it and save it outside.",
        )  # fmt: skip
    if isinstance(x, np.ma.MaskedArray):
        raise errors.masked_array(x)
    kind = _PYTHON.get(type(x), "numpy")
    value = np.array(x if kind != "numpy" or isinstance(x, (np.ndarray, np.generic)) else None)
    native = value.dtype.newbyteorder("=")
    if not dtypes.is_known(native):
        need = "an array of numbers or a number, of 64 bits at most (128 if complex)"
        raise errors.bad_argument(who, what, x, need, "Texts and settings go into metadata=.")
    return value.astype(native, copy=False), kind


def _snapshot(tree_) -> list:
    """(path, shape, dtype, kind, pieces) for each leaf."""
    out, names = [], set()
    for path, x in tree.flatten_with_path(tree_)[0]:
        name = _leaf_name(path)
        if name in names:
            raise CheckpointError(
                f"xcore.checkpoint: two leaves of the tree are called {name}; keys need names of their own."
            )
        names.add(name)
        value, kind = _storable(x, name)
        out.append((name, value.shape, value.dtype, kind, _pieces(value)))
    return out


def _outline(node, path: tuple = ()):
    """How the tree is made, as JSON can say it: the name of a leaf, or [class, keys, children].

    Dicts, lists, tuples and random keys are built again from it; any other node becomes a dict of its parts.
    """
    if node is None or tree.is_leaf_structure(tree.structure(node)):
        return None if node is None else _leaf_name(path)
    pairs, _ = tree.flatten_one_level_with_keys(node)
    kind = type(node).__name__ if _is_rebuilt(type(node)) else "dict"
    keys = [_told(getattr(key, "key", getattr(key, "name", str(key)))) for key, _ in pairs]
    return [kind, keys, [_outline(child, (*path, key)) for key, child in pairs]]


def _is_rebuilt(cls: type) -> bool:
    named = cls.__name__ in NODES and cls.__module__.startswith("xcore.")
    return cls in (list, tuple) or named


def _told(key):
    """The key of a dict as JSON has it: text, numbers and None as they are, a tuple as a list; else its text."""
    if isinstance(key, tuple):
        return [_told(k) for k in key]
    key = key.item() if isinstance(key, np.generic) else key
    return key if key is None or isinstance(key, (str, int, float)) else str(key)


def _heard(key):
    return tuple(map(_heard, key)) if isinstance(key, list) else key


def _built(outline, leaf: Callable):
    """The tree of an outline, with ``leaf(name)`` for its leaves."""
    if outline is None or isinstance(outline, str):
        return None if outline is None else leaf(outline)
    kind, keys, children = outline
    parts = [_built(child, leaf) for child in children]
    if kind in NODES:
        return NODES[kind](keys, parts)
    return dict(zip(map(_heard, keys), parts)) if kind == "dict" else _SEQUENCES[kind](parts)


def _folder(path) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise errors.bad_argument("checkpoint", "path", path, "the name of a folder")
    return Path(path).absolute()


def _meet(number: int, place: str) -> None:
    distributed.barrier(f"xcore/checkpoint/{number}/{place}", 3600)


def _write(
    folder: Path, leaves: list, outline, metadata, number: int, after: Callable = lambda: None
) -> None:
    """Write a checkpoint together with the other processes, and in turn with other threads."""
    with store.lock(folder):
        _write_alone(folder, leaves, outline, metadata, number, after)


def _write_alone(
    folder: Path, leaves: list, outline, metadata, number: int, after: Callable
) -> None:
    first = process_index() == 0
    if first:
        store.begin(folder)
    _meet(number, "begun")
    writer = store.Writer(store.beside(folder), process_index())
    try:
        for path, shape, dtype, kind, pieces in leaves:
            writer.leaf(path, shape, dtype, kind)
            for index, value in pieces:
                writer.piece(path, index, value)
        writer.finish(process_count(), metadata, outline)
    except BaseException:
        writer.abandon()
        raise
    finally:
        writer.close()
    _meet(number, "written")
    if first:
        store.commit(folder)
        after()
    _meet(number, "there")


@boundary
def save(path: str | Path, tree_: PyTree, *, metadata: Any = None) -> None:
    """Write a pytree to a folder, whole or not at all; a checkpoint that is there is replaced.

    A folder that holds anything else is refused.

    With several processes all call it, and each writes what is on its devices (to a file system
    that all of them see).

    Args:
      path: the folder.
      tree_: pytree of arrays (spread over devices or not), keys, NumPy arrays and Python numbers.
      metadata: anything that JSON can hold; ``read_metadata`` gives it back.

    >>> import xcore as xc, xcore.numpy as xnp, tempfile
    >>> state = {"w": xnp.arange(3.0), "step": 7}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     xc.checkpoint.save(f"{folder}/last", state)
    ...     xc.checkpoint.restore(f"{folder}/last")
    {'step': 7, 'w': Array([0., 1., 2.], dtype=float32)}
    """
    folder = _folder(path)
    store.check_free(folder)
    _check_metadata(metadata)
    _write(folder, _snapshot(tree_), _outline(tree_), metadata, next(_meetings))


def _check_metadata(metadata: Any) -> None:
    try:
        json.dumps(metadata)
    except (TypeError, ValueError) as e:
        need = (
            "what JSON can hold: dicts with texts as keys, lists, texts, numbers, True, False, None"
        )
        raise errors.bad_argument(
            "checkpoint.save", "metadata", metadata, f"{need} ({e})"
        ) from None


# Restoring


@boundary
def restore(
    path: str | Path, like: PyTree = None, *, shardings: PyTree = None, strict: bool = True,
    cast: bool = False, prefix: str = "", rename: Mapping | Callable | None = None,
) -> PyTree:  # fmt: skip
    """Read a pytree from a checkpoint.

    Args:
      path: the folder.
      like: a pytree of the structure that is wanted; its leaves are arrays, ShapeDtypeStructs or
        Python numbers. Without it the tree is built as it was saved, of dicts, lists, tuples and random
        keys; objects of other classes come back as dicts of their parts, keys of dicts that are no text, numbers or
        tuples of these as texts.
      shardings: where arrays go: a sharding or a pytree of them that matches the beginning of
        ``like``; by default where those of ``like`` are. How they were spread when they were saved
        does not matter.
      strict: False keeps leaves of ``like`` that the checkpoint does not have, and ignores what
        the checkpoint has beyond them.
      cast: whether leaves may be restored to another dtype. What that cannot hold is refused.
      prefix: of the paths in the checkpoint, to restore a part of it: ``"['params']"``.
      rename: the path in the checkpoint for a path in ``like``: a dict, or a function.

    >>> import xcore as xc, xcore.numpy as xnp, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     xc.checkpoint.save(f"{folder}/last", {"w": xnp.arange(2), "b": 3})
    ...     xc.checkpoint.restore(f"{folder}/last", {"w": xnp.zeros(2, int)}, strict=False)
    {'w': Array([0, 1], dtype=int32)}
    """
    reader = store.Reader(_folder(path))
    if like is None:
        read = lambda name: _as_leaf(reader.leaves[name], None, None, cast)  # noqa: E731
        return _built(reader.outline, read)
    find = rename if callable(rename) else lambda name: (rename or {}).get(name, name)
    pairs, structure = tree.flatten_with_path(like)
    names = [_leaf_name(p) for p, _ in pairs]
    stored = [prefix + find(n) if n != "." or not prefix else prefix for n in names]
    targets = tree.broadcast_prefix(shardings, like, is_placement, "checkpoint(shardings)")
    if strict:
        _check_names(path, names, stored, reader.leaves, prefix)
    out = [
        _read_leaf(reader, name, key, x, target, cast)
        for name, key, (_, x), target in zip(names, stored, pairs, targets, strict=True)
    ]
    return tree.unflatten(structure, out)


def _read_leaf(reader, name: str, key: str, x, target, cast: bool):
    leaf = reader.leaves.get(key)
    if leaf is not None:
        return _as_leaf(leaf, x, target, cast, name)
    if isinstance(x, ShapeDtypeStruct):
        raise CheckpointError(
            f"xcore.checkpoint: {key} is not in the checkpoint, and {name} has no value that could be kept."
        )
    return x


def _check_names(path, names, stored, leaves: dict, prefix: str) -> None:
    missing = [f"{k} (for {n})" if k != n else k for n, k in zip(names, stored) if k not in leaves]
    extra = [k for k in leaves if k.startswith(prefix) and k not in set(stored)]
    if not missing and not extra:
        return
    parts = [f"it does not have {_some_names(missing)}"] * bool(missing)
    parts += [f"it has {_some_names(extra)}, which the structure asked for does not"] * bool(extra)
    raise CheckpointError(
        f"xcore.checkpoint: the structure of {path} is another one: {'; '.join(parts)}. Pass strict=False to "
        "keep what is missing and ignore the rest, rename= for leaves of other names, or prefix= for a part."
    )


def _some_names(names: list) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) < 6 else f"{shown} and {len(names) - 5} more"


def _as_leaf(leaf: store.Leaf, x, target, cast: bool, name: str | None = None):
    """A leaf as an array like ``x``, laid out by ``target``."""
    dtype = leaf.dtype
    if x is not None:
        _check_leaf(leaf, x, cast, name)
        dtype = getattr(x, "dtype", dtype)
    everything = (slice(None),) * len(leaf.shape)
    kind = leaf.kind if x is None else _PYTHON.get(type(x), "array")
    convert = functools.partial(_converted, leaf, dtype)
    if kind in _PYTHON.values():
        value = leaf.read(everything).item()
        return value if x is None else _as_number(leaf, value, type(x), cast, name)
    if isinstance(x, (np.ndarray, np.generic)) or (x is None and kind == "numpy"):
        return convert(leaf.read(everything))
    sharding = _where(x, target)
    if sharding is not None:
        part = lambda index: convert(leaf.read(index))  # noqa: E731
        return make_array_from_callback(leaf.shape, sharding, part, dtype)
    weak = bool(getattr(x, "weak_type", False))
    host = convert(leaf.read(everything))
    return from_host(host, default_placed(ArrayType(leaf.shape, host.dtype, weak)))


def _converted(leaf: store.Leaf, dtype, value: np.ndarray) -> np.ndarray:
    """In another dtype; refused where whole numbers cannot hold what was saved, or real ones its imaginary parts."""
    if value.dtype == dtype:
        return value
    lost = None
    if dtypes.is_complex(value.dtype) and not dtypes.is_complex(dtype):
        lost = "has imaginary parts" if value.imag.any() else None
        value = value.real
    if lost is None and np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        inside = (value >= limits.min) & (value <= limits.max)  # false of NaN
        lost = None if inside.all() else "has numbers out of its range"
    if lost is not None:
        raise CheckpointError(
            f"xcore.checkpoint: {leaf.path} cannot be {np.dtype(dtype).name}: it {lost}."
        )
    return value.astype(dtype)


_ORDER = (bool, int, float, complex)  # each holds those before it


def _as_number(leaf: store.Leaf, value, kind: type, cast: bool, name):
    """A Python number of the type asked for: of a narrower one with ``cast`` only."""
    if type(value) is kind:
        return value
    if not cast and _ORDER.index(type(value)) > _ORDER.index(kind):
        raise CheckpointError(
            f"xcore.checkpoint: {name} should be {kind.__name__}, but {leaf.path} was saved as the "
            f"{type(value).__name__} {value}. Pass cast=True to convert it."
        )
    if type(value) is complex and value.imag == 0:
        value = value.real
    try:
        return kind(value)
    except (TypeError, ValueError, OverflowError) as e:
        raise CheckpointError(
            f"xcore.checkpoint: {leaf.path} cannot be {kind.__name__}: {e}."
        ) from None


def _where(x, target) -> Sharding | None:
    if target is not None:
        return as_sharding("checkpoint.restore", target)
    return x._t.sharding if type(x) is Array else getattr(x, "sharding", None)


def _check_leaf(leaf: store.Leaf, x, cast: bool, name) -> None:
    shape = tuple(np.shape(x)) if not hasattr(x, "shape") else tuple(x.shape)
    if shape != leaf.shape:
        raise CheckpointError(
            f"xcore.checkpoint: {name} should have shape {shape}, but {leaf.path} was saved with shape {leaf.shape}."
        )
    dtype = getattr(x, "dtype", None)
    if dtype is None or np.dtype(dtype) == leaf.dtype or cast:
        return
    plain = leaf.kind in _PYTHON.values()  # a number that has no width of its own
    if not (plain and np.can_cast(leaf.dtype, dtype, "same_kind")):
        raise CheckpointError(
            f"xcore.checkpoint: {name} should be {np.dtype(dtype).name}, but {leaf.path} was saved as "
            f"{leaf.dtype.name}. Pass cast=True to convert it."
        )


@boundary
def read_metadata(path: str | Path) -> Any:
    """What was passed to ``save`` as metadata.

    Args:
      path: the folder that ``save`` wrote.

    >>> import xcore as xc, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     xc.checkpoint.save(f"{folder}/last", {"x": 1.0}, metadata={"epoch": 5})
    ...     xc.checkpoint.read_metadata(f"{folder}/last")
    {'epoch': 5}
    """
    return store.Reader(_folder(path)).metadata


@boundary
def structure(path: str | Path) -> dict[str, ShapeDtypeStruct]:
    """The paths of a checkpoint with shapes and dtypes, as ShapeDtypeStructs.

    Args:
      path: the folder that ``save`` wrote.

    >>> import xcore as xc, xcore.numpy as xnp, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     xc.checkpoint.save(f"{folder}/last", {"w": xnp.ones((2, 3))})
    ...     xc.checkpoint.structure(f"{folder}/last")
    {"['w']": ShapeDtypeStruct(shape=(2, 3), dtype=float32)}
    """
    reader = store.Reader(_folder(path))
    return {name: ShapeDtypeStruct(x.shape, x.dtype) for name, x in reader.leaves.items()}


# Step by step


class Checkpointer:
    """Checkpoints of a run, a folder for each step. Saving goes on while the run does.

    Args:
      directory: where the folders are.
      keep: how many stay, of those saved last; None keeps all.
      asynchronous: False makes ``save`` return when the checkpoint is on the disk.

    >>> import xcore as xc, xcore.numpy as xnp, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with xc.checkpoint.Checkpointer(folder, keep=2) as steps:
    ...         for i in range(4):
    ...             steps.save(i, {"w": xnp.full(2, i)})
    ...     steps.all_steps(), steps.restore({"w": xnp.zeros(2, int)})
    ([2, 3], {'w': Array([3, 3], dtype=int32)})
    """

    def __init__(
        self, directory: str | Path, *, keep: int | None = None, asynchronous: bool = True
    ) -> None:
        if keep is not None and keep < 1:
            raise errors.bad_argument("checkpoint.Checkpointer", "keep", keep, "None or at least 1")
        self.directory, self.keep, self.asynchronous = (
            Path(directory).absolute(),
            keep,
            asynchronous,
        )
        self.directory.mkdir(parents=True, exist_ok=True)
        store.sweep(self.directory)
        self._warned = False
        self._thread: threading.Thread | None = None
        self._failure: list[BaseException] = []

    def all_steps(self) -> list[int]:
        """The steps of which there are checkpoints, in order."""
        folders = {p.name: p for p in self.directory.iterdir()}
        for old in self.directory.glob(
            ".*.replaced"
        ):  # of a crash: it counts as long as there is no other
            folders.setdefault(old.name[1:].removesuffix(".replaced"), old)
        named = ((name, p) for name, p in folders.items() if re.fullmatch("0|[1-9][0-9]*", name))
        return sorted(int(name) for name, p in named if store.is_ours(p))

    def latest_step(self) -> int | None:
        """The last step of which there is a checkpoint; None if there is none."""
        steps = self.all_steps()
        return steps[-1] if steps else None

    def path(self, step: int) -> Path:
        """The folder of a step."""
        try:
            number = -1 if isinstance(step, bool) else operator.index(step)
        except TypeError:
            number = -1
        if number < 0:
            raise errors.bad_argument(
                "checkpoint.Checkpointer", "step", step, "a whole number from 0 on"
            )
        return self.directory / str(number)

    @boundary
    def save(self, step: int, tree_: PyTree, *, metadata: Any = None) -> None:
        """Save a pytree as the checkpoint of a step.

        It waits for the arrays, and for the previous checkpoint to be on the disk, not for this one.
        An error of a previous one is raised here, or by ``wait``.
        """
        self.wait()
        folder = self.path(step)
        store.check_free(folder)
        _check_metadata(metadata)
        self._warn_of_later(step)
        tree_ = _snapshot(tree_), _outline(tree_)
        job = (folder, *tree_, metadata, next(_meetings), self._forget_old)
        if not self.asynchronous:
            _write(*job)
            return
        self._thread = threading.Thread(target=self._run, args=job, name="xcore-checkpoint")
        self._thread.start()

    def _run(self, *job) -> None:
        try:
            _write(*job)
        except BaseException as e:
            self._failure.append(e)

    def _warn_of_later(self, step: int) -> None:
        later = [k for k in self.all_steps() if k > step] if self.keep is not None else []
        if later and not self._warned:
            self._warned = True
            warnings.warn(
                f"xcore.checkpoint: {self.directory} has steps after {step}, up to {later[-1]}, perhaps of another "
                "run: latest_step() and restore() mean the last of them. Give each run a folder of its own.",
                stacklevel=4,
            )

    def _forget_old(self) -> None:
        """Of all but the ``keep`` that were saved last."""
        if self.keep is None:
            return
        by_time = sorted(self.all_steps(), key=lambda k: (store.saved_at(self.path(k)), k))
        for step in by_time[: -self.keep]:
            store.recover(self.path(step))
            if store.is_replaceable(self.path(step)):
                store.remove(self.path(step))

    @boundary
    def wait(self) -> None:
        """Until everything is on the disk."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._failure:
            raise self._failure.pop()

    def restore(self, like: PyTree = None, step: int | None = None, **options: Any) -> PyTree:
        """The pytree of a step, by default the last one; other arguments as for ``restore``."""
        self.wait()
        step = self.latest_step() if step is None else step
        if step is None:
            raise CheckpointError(f"xcore.checkpoint: there is no checkpoint in {self.directory}.")
        try:
            return restore(self.path(step), like, **options)
        except CheckpointError as e:
            if store.is_whole(self.path(step)):
                raise  # it is not the checkpoint that is wrong
            told = str(e).removesuffix(".")  # of the system it has none
            raise CheckpointError(f"{told}. {self._whole_before(step)}") from e

    def _whole_before(self, step: int) -> str:
        older = [k for k in self.all_steps() if k < step]
        whole = next((k for k in reversed(older) if store.is_whole(self.path(k))), None)
        if whole is None:
            return f"No older step in {self.directory} is whole."
        return f"The last whole step before it is {whole}: restore(step={whole})."

    def close(self) -> None:
        self.wait()

    def __enter__(self):
        return self

    def __exit__(self, kind, *exc):
        with contextlib.suppress(Exception) if kind is not None else contextlib.nullcontext():
            self.wait()
