"""What an index of a tensor in some format means, mode by mode."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import numpy as xnp
from .._core import Value, dtypes, errors


def parse(who: str, index, shape: Sequence[int]) -> list:
    """For each mode an int, an array of positions, or a slice; ints that do not fit raise."""
    items = list(index) if isinstance(index, tuple) else [index]
    dots = [k for k, i in enumerate(items) if i is Ellipsis]
    if len(dots) > 1 or any(i is None for i in items):
        raise IndexError(f"xcore.{who}: an index has at most one ellipsis and no new axes.")
    missing = len(shape) - len(items) + len(dots)
    if missing < 0:
        raise IndexError(
            f"xcore.{who}: too many indices: the tensor has {len(shape)} modes, given {len(items) - len(dots)}."
        )
    at = dots[0] if dots else len(items)
    items[at : at + len(dots)] = [slice(None)] * missing
    return [_one(i, mode, shape) for mode, i in enumerate(items)]


def _one(i, mode: int, shape):
    if isinstance(i, slice):
        return i
    if isinstance(i, (list, tuple)):
        i = np.asarray(i, None if i else np.int32)
    if isinstance(i, np.ndarray) and i.dtype == bool:
        if i.shape != (shape[mode],):
            raise IndexError(
                f"xcore: a mask for mode {mode} has shape ({shape[mode]},), given {i.shape}."
            )
        i = np.flatnonzero(i)
    kind = np.asarray(i).dtype if not isinstance(i, Value) else i.dtype
    if not dtypes.is_integer(kind):
        raise IndexError(
            f"xcore: an index is an integer, a slice or an array of integers; given {kind} for mode {mode}."
        )
    if not isinstance(i, Value):
        for p in (np.min(i), np.max(i)) if np.size(i) else ():
            if not -shape[mode] <= p < shape[mode]:
                raise errors.index_out_of_range(int(p), mode, tuple(shape))
    return i


def is_slice(i) -> bool:
    return isinstance(i, slice)


def rank_of(i) -> int:
    return (
        0
        if isinstance(i, (int, np.integer))
        else np.ndim(i)
        if not isinstance(i, Value)
        else i.ndim
    )


def pointwise(who: str, items) -> list[int]:
    """The modes that arrays index; beside slices, arrays must be 1-d and broadcast together."""
    modes = [k for k, i in enumerate(items) if not is_slice(i) and rank_of(i) > 0]
    if any(rank_of(items[k]) > 1 for k in modes) and any(map(is_slice, items)):
        raise IndexError(
            f"xcore.{who}: beside slices, index arrays must be 1-d: a format has one matrix for each mode. "
            "Index with .ravel() and reshape what you get from to_dense()."
        )
    return modes


def span(items) -> tuple[int, int]:
    """The first and the last mode that is not sliced: beside index arrays NumPy treats ints as arrays."""
    modes = [k for k, i in enumerate(items) if not is_slice(i)]
    return modes[0], modes[-1]


def place_of_points(items) -> int:
    """Before which of the sliced modes the axis of pointwise positions comes, as in NumPy."""
    first, last = span(items)
    if any(map(is_slice, items[first : last + 1])):
        return 0
    return first


def take(factor, i):
    """Rows of a factor; positions known only at run time are the caller's promise."""
    return xnp.asarray(factor)[i]
