"""Routines that NVIDIA's libraries lack: LAPACK on the host, matrices copied there and back.

XLA calls one as it calls a Python function; a key, stored with a compiled program, names it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .surface import NDArray

# Each takes one matrix and gives what the row of its name in ffi.LAPACK gives.


def _unsorted(*_: Any) -> int:
    return 0


def _gees(lapack: Callable[..., Any], a: NDArray) -> tuple[NDArray, ...]:
    form, count, *values, vectors, _, info = lapack(_unsorted, a)
    return form, vectors, *values, count, info


def _gehrd(lapack: Callable[..., Any], a: NDArray) -> tuple[NDArray, ...]:
    packed, taus, info = lapack(a)
    return packed, taus, info


ROUTINES = {"gees": _gees, "gehrd": _gehrd}


class HostRoutine:
    """A routine for batches of matrices of one dtype, in the form in which XLA calls it."""

    __slots__ = ("__weakref__", "dtype", "key", "name")
    blob = b""  # what is stored with the key

    def __init__(self, name: str, dtype: str) -> None:
        self.name, self.dtype, self.key = name, dtype, f"host {name} {dtype}"

    def __call__(self, a: NDArray) -> tuple[NDArray, ...]:
        find = importlib.import_module("scipy.linalg.lapack").get_lapack_funcs
        (lapack,) = find((self.name,), dtype=np.dtype(self.dtype))
        *batch, n, _ = a.shape
        each = [ROUTINES[self.name](lapack, x) for x in np.asarray(a).reshape(-1, n, n)]
        stacked = map(np.stack, zip(*each, strict=True))
        return tuple(_as_declared(np.reshape(x, (*batch, *np.shape(x)[1:]))) for x in stacked)


def _as_declared(x: NDArray) -> NDArray:
    """Counts are int32, arrays row-major."""
    return np.asarray(x.astype(np.int32) if x.dtype.kind == "i" else x, order="C")
