"""Pytrees under the names of ``jax.tree_util``, and how to register classes of one's own."""

# ruff: noqa: I001 (names stand in lines, not one on each)

# fmt: off
from ._core.nodes import (
    Partial, is_tree_node, register_pytree_node, register_pytree_node_class,
    register_pytree_with_keys, register_pytree_with_keys_class, register_static,
)
from ._core.struct import register_dataclass
from ._core.tree import (
    DictKey, FlattenedIndexKey, GetAttrKey, KeyEntry, KeyPath, PyTreeDef, SequenceKey,
    all_leaves, flatten_one_level, flatten_one_level_with_keys, keystr, treedef_children,
    treedef_tuple,
)
from ._core.tree import all as tree_all
from ._core.tree import broadcast as tree_broadcast
from ._core.tree import flatten as tree_flatten
from ._core.tree import flatten_with_path as tree_flatten_with_path
from ._core.tree import leaves as tree_leaves
from ._core.tree import leaves_with_path as tree_leaves_with_path
from ._core.tree import map as tree_map
from ._core.tree import map as tree_multimap
from ._core.tree import map_with_path as tree_map_with_path
from ._core.tree import reduce as tree_reduce
from ._core.tree import reduce_associative as tree_reduce_associative
from ._core.tree import registry as default_registry
from ._core.tree import structure as tree_structure
from ._core.tree import transpose as tree_transpose
from ._core.tree import unflatten as tree_unflatten
# fmt: on

__all__ = [
    "DictKey", "FlattenedIndexKey", "GetAttrKey", "KeyEntry", "KeyPath", "Partial", "PyTreeDef",
    "SequenceKey", "all_leaves", "default_registry", "flatten_one_level",
    "flatten_one_level_with_keys", "is_tree_node", "keystr", "register_dataclass",
    "register_pytree_node", "register_pytree_node_class", "register_pytree_with_keys",
    "register_pytree_with_keys_class", "register_static", "tree_all", "tree_broadcast",
    "tree_flatten", "tree_flatten_with_path", "tree_leaves", "tree_leaves_with_path", "tree_map",
    "tree_multimap", "tree_map_with_path", "tree_reduce", "tree_reduce_associative",
    "tree_structure", "tree_transpose", "tree_unflatten", "treedef_children", "treedef_is_leaf",
    "treedef_tuple",
]  # fmt: skip


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether a structure has nothing inside: that of a leaf, of None, and of an empty container.

    Args:
      treedef: a structure, as ``tree_structure`` gives it.

    >>> treedef_is_leaf(tree_structure(1.0)), treedef_is_leaf(tree_structure([1.0]))
    (True, False)
    """
    return treedef.num_nodes == 1
