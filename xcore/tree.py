"""Pytrees: nested tuples, lists, dicts and registered classes. Names are those of ``jax.tree``."""

# ruff: noqa: I001 (names stand in lines, not one on each)

# fmt: off
from ._core.struct import static, struct
from ._core.tree import (
    all, broadcast, flatten, flatten_with_path, leaves, leaves_with_path, map, map_with_path,
    reduce, reduce_associative, structure, transpose, unflatten,
)
# fmt: on

__all__ = [
    "all", "broadcast", "flatten", "flatten_with_path", "leaves", "leaves_with_path", "map",
    "map_with_path", "reduce", "reduce_associative", "static", "struct", "structure", "transpose",
    "unflatten",
]  # fmt: skip
