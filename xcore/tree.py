"""Pytrees: nested tuples, lists, dicts and registered classes. Names are those of ``jax.tree``."""

from ._core.struct import static, struct
from ._core.tree import (
    all,
    broadcast,
    flatten,
    flatten_with_path,
    leaves,
    leaves_with_path,
    map,
    map_with_path,
    reduce,
    reduce_associative,
    structure,
    transpose,
    unflatten,
)

__all__ = [
    "all",
    "broadcast",
    "flatten",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "reduce_associative",
    "static",
    "struct",
    "structure",
    "transpose",
    "unflatten",
]
