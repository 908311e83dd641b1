"""Derivatives with respect to integers: arrays of dtype float0, which no program holds, as parts of a structure."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from .._core import dtypes, nodes, tree
from .._core.typing import PyTree


@final
class _Empty:
    """A node without leaves in the place of an array of dtype float0; taken together it is that array again."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape


def _array_of(shape: Any, _: Any) -> Any:
    return np.zeros(shape, dtypes.float0)


nodes.register_pytree_node(_Empty, lambda x: ((), x.shape), _array_of)


def is_float0(x: Any) -> bool:
    return type(x) is np.ndarray and x.dtype == dtypes.float0


def without_axis(x: np.ndarray[Any, Any], axis: int) -> np.ndarray[Any, Any]:
    """What one element of a batch along an axis is of an array of dtype float0."""
    return np.zeros(np.delete(x.shape, axis), dtypes.float0)


def numbers_of(t: PyTree, over: int | None = None) -> tuple[PyTree, list[Any], tree.PyTreeDef]:
    """A tree whose arrays of dtype float0 are no leaves, its leaves and structure; ``over``: a batch they are of."""
    leaves, structure = tree.flatten(t)
    if not any([is_float0(x) for x in leaves]):
        return t, leaves, structure
    front = () if over is None else (over,)
    t = tree.unflatten(structure, [_Empty(front + x.shape) if is_float0(x) else x for x in leaves])
    return t, *tree.flatten(t)
