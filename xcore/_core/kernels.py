"""Host kernels: NumPy code that programs for the CPU call where XLA's own code is slow.

A kernel has a name and is called with a few ints as settings. Both are stored with a compiled
program, which therefore finds its kernels again in another process (a callback of a user is an
object of one process and keeps a program there).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._backend.hybrid import HostRoutine

_kernels: dict[Any, Any] = {}
# first words of keys -> what makes calls of other kinds of the words that follow
forms: dict[Any, Any] = {"host": HostRoutine}


def kernel(f: Callable[..., Any]):
    """Make ``f(*operands, *results, *settings)``, which fills the results, a kernel of its name.

    Operands and results are NumPy arrays on XLA's own memory: nothing is copied, operands are
    read-only, and neither may be kept.
    """
    _kernels[f.__name__] = f
    return f


class KernelCall:
    """A kernel with its settings, in the form in which XLA calls it."""

    __slots__ = ("__weakref__", "f", "key", "settings")

    def __init__(self, key: str) -> None:
        name, *settings = key.split()
        self.key, self.f, self.settings = key, _kernels[name], tuple(map(int, settings))

    def __call__(self, _: Any, *buffers: Sequence[Any]) -> None:
        self.f(*map(np.asarray, buffers), *self.settings)


def kernel_call(name: str, *settings: int) -> KernelCall:
    return KernelCall(" ".join([name, *map(str, settings)]))


def pack(calls: Any, blob: bytes) -> bytes:
    """A stored program in one piece with the names of the kernels it calls."""
    return ";".join(c.key for c in calls).encode() + b"\n" + blob


def unpack(data: bytes) -> tuple[list[Any], bytes]:
    names, _, blob = data.partition(b"\n")
    return [_stored(key) for key in names.decode().split(";") if key], blob


def _stored(key: str):
    form, *words = key.split()
    return forms[form](*words) if form in forms else KernelCall(key)
