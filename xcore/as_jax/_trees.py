"""``jax.tree`` and ``jax.tree_util``: keys are leaves here, as they are in JAX.

To xcore they are nodes, whose only leaf is their data: leaves of the two stand at the same places, so what is
flattened by one is taken by the other.
"""

from __future__ import annotations

import builtins
import functools
from typing import Any

from .._core import errors, tree
from .._core.eval import to_value
from ..random import KeyArray

flatten_up_to = tree.flatten_up_to


def _is_key(x) -> bool:
    return isinstance(x, KeyArray)


def _or_key(is_leaf, takes_path: bool = False):
    if is_leaf is None:
        return (lambda _, x: isinstance(x, KeyArray)) if takes_path else _is_key
    if takes_path:
        return lambda path, x: isinstance(x, KeyArray) or is_leaf(path, x)
    return lambda x: isinstance(x, KeyArray) or is_leaf(x)


def _keeping_keys(f, place: int | None = None):
    """The function, which takes ``is_leaf`` by name or at a place, with keys as leaves."""

    @functools.wraps(f)
    def call(*args, **kwargs):
        takes_path = kwargs.get("is_leaf_takes_path", False)
        if place is not None and len(args) > place:
            is_leaf, args = args[place], (*args[:place], *args[place + 1 :])
        else:
            is_leaf = kwargs.pop("is_leaf", None)
        return f(*args, is_leaf=_or_key(is_leaf, takes_path), **kwargs)

    return call


map, all = _keeping_keys(tree.map), _keeping_keys(tree.all)
flatten, leaves, structure = [
    _keeping_keys(f, 1) for f in (tree.flatten, tree.leaves, tree.structure)
]
all_leaves, reduce = _keeping_keys(tree.all_leaves, 1), _keeping_keys(tree.reduce, 3)
reduce_associative, map_with_path = [
    _keeping_keys(f) for f in (tree.reduce_associative, tree.map_with_path)
]
flatten_with_path, leaves_with_path = [
    _keeping_keys(f, 1) for f in (tree.flatten_with_path, tree.leaves_with_path)
]


def flatten_one_level(tree_):
    """The children of a node, and what it is besides."""
    if isinstance(tree_, KeyArray):
        raise errors.not_a_node(tree_)
    return tree.flatten_one_level(tree_)


def broadcast(prefix_tree, full_tree, is_leaf=None):
    """The full tree with each leaf replaced by the leaf of the prefix above it."""
    found = tree.broadcast_prefix(prefix_tree, full_tree, _or_key(is_leaf))
    return structure(full_tree).unflatten(found)


def transpose(outer_treedef, inner_treedef, pytree_to_transpose):
    """A tree of trees inside out."""
    parts = tree.flatten_up_to(outer_treedef, pytree_to_transpose, "tree.transpose")
    inner = inner_treedef or structure(parts[0])
    columns: Any = zip(*[tree.flatten_up_to(inner, p, "tree.transpose") for p in parts])
    columns = columns if parts else ((),) * inner.num_leaves
    return inner.unflatten(builtins.map(outer_treedef.unflatten, columns))


# Leaves on their way into programs, and out of them


def data(x):
    """The value that a program takes for a leaf: of keys their data."""
    return to_value(x._data if isinstance(x, KeyArray) else x)


def kinds(found) -> tuple:
    """For each leaf of results the key that it was, or None."""
    flat: Any = leaves(found)
    return tuple([x if isinstance(x, KeyArray) else None for x in flat])


def with_kinds(values, keys):
    """Values, as keys where there were keys."""
    return [v if k is None else k._with(v) for v, k in zip(values, keys, strict=True)]
