"""Host kernels: NumPy code that programs for the CPU call where XLA's own code is slow.

A kernel has a name and is called with a few ints as settings. Both are stored with a compiled
program, which therefore finds its kernels again in another process (a callback of a user is an
object of one process and keeps a program there).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from .._backend.hybrid import HostRoutine

P = ParamSpec("P")
R = TypeVar("R")

_kernels: dict[str, Callable[..., Any]] = {}


def _host_routine(name: str, dtype: str, _: bytes) -> HostRoutine:
    return HostRoutine(name, dtype)


# name -> what makes calls of another kind from the words of their keys, and their bytes
_forms: dict[str, Callable[..., Any]] = {"host": _host_routine}


def kernel(f: Callable[P, R]) -> Callable[P, R]:
    """Decorator: register ``f(*operands, *results, *settings)``, which fills the results, as the kernel of its name.

    Operands and results are NumPy arrays on XLA's own memory: nothing is copied, operands are
    read-only, and neither may be kept.
    """
    _kernels[f.__name__] = f
    return f


def form(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator: ``f(*words, blob)`` rebuilds a call from its key on disk, for keys that begin with the name."""

    def register(f: Callable[P, R]) -> Callable[P, R]:
        _forms[name] = f
        return f

    return register


class KernelCall:
    """A kernel with its settings, in the form in which XLA calls it."""

    __slots__ = ("__weakref__", "f", "key", "settings")
    blob = b""  # what is stored with the key

    def __init__(self, key: str) -> None:
        name, *settings = key.split()
        self.key, self.f, self.settings = key, _kernels[name], tuple(map(int, settings))

    def __call__(self, _: Any, *buffers: Any) -> None:
        self.f(*map(np.asarray, buffers), *self.settings)


def kernel_call(name: str, *settings: int) -> KernelCall:
    return KernelCall(" ".join([name, *map(str, settings)]))


def pack(calls: Any, blob: bytes) -> bytes:
    """A stored program in one piece with the kernels it calls: a line of keys and sizes, then the bytes."""
    blobs = [c.blob for c in calls]
    keys = [f"{c.key} {len(b)}" for c, b in zip(calls, blobs, strict=True)]
    return b"".join([";".join(keys).encode(), b"\n", *blobs, blob])


def unpack(data: bytes) -> tuple[list[Any], bytes]:
    keys, _, blob = data.partition(b"\n")
    calls: list[Any] = []
    for key in keys.decode().split(";") if keys else ():
        key, _, size = key.rpartition(" ")
        own, blob = blob[: int(size)], blob[int(size) :]
        calls.append(_stored(key, own))
    return calls, blob


def _stored(key: str, blob: bytes) -> Any:
    name, *words = key.split()
    return _forms[name](*words, blob) if name in _forms else KernelCall(key)
