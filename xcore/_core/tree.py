"""Pytrees: nested containers of leaves, and what one does with them.

Nodes are tuples, named tuples, lists, dicts (by sorted key), ``OrderedDict``, ``defaultdict``,
``None`` (a node without children) and instances of registered classes; all else is a leaf. A path
is a tuple of keys that leads to a leaf. Functions and their arguments are those of ``jax.tree``.
Classes of one's own as nodes are in ``nodes``, dataclasses in ``struct``.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from .._backend import pytree
from .._backend.pytree import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    PyTreeDef,
    SequenceKey,
    registry,
)
from .._backend.pytree import treedef_tuple as treedef_tuple  # for the faces
from . import errors

if TYPE_CHECKING:
    from .typing import PyTree


R = TypeVar("R")
KeyEntry = Hashable
KeyPath = tuple[KeyEntry, ...]
IsLeaf = Callable[[Any], bool] | None
Children = tuple[
    Iterable[Any], Hashable
]  # of a node, and the data that its class needs beside them
Difference = tuple[KeyPath, str]  # where two trees differ, and how

_LEAF: Any = object()
_flatten = registry.flatten


# Taking apart and putting together


def flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """The leaves of a tree, and its structure.

    Args:
      tree: any tree.
      is_leaf: function of a node: True makes it a leaf.

    >>> flatten({"b": 2, "a": [1, None]})
    ([1, 2], PyTreeDef({'a': [*, None], 'b': *}))
    """
    try:
        return _flatten(tree, is_leaf)
    except _REFUSALS as error:
        _explain(error)
        raise


# What the registry raises of keys without an order, and of trees nested deeper than its stack.
_REFUSALS = ValueError, SystemError, RecursionError


def _explain(error: Exception) -> None:
    if "Comparator raised" in str(error):
        raise errors.unsortable_keys() from error
    if isinstance(error, SystemError) and isinstance(error.__cause__, RecursionError):
        raise errors.tree_too_deep() from None
    if isinstance(error, RecursionError):
        raise errors.tree_too_deep() from None


def unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> PyTree:
    """The tree of a structure with the given leaves.

    Args:
      treedef: the structure.
      leaves: as many values as it has leaves, in order.

    >>> unflatten(structure({"a": 0, "b": (0, 0)}), [1, 2, 3])
    {'a': 1, 'b': (2, 3)}
    """
    return treedef.unflatten(leaves)


def leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree, in order.

    Args:
      tree: any tree.
      is_leaf: function of a node: True makes it a leaf.

    >>> leaves((1, [2, None], {"x": 3}))
    [1, 2, 3]
    """
    return flatten(tree, is_leaf)[0]


def structure(tree: PyTree, is_leaf: IsLeaf = None) -> PyTreeDef:
    """The structure of a tree: what is left of it without its leaves. Hashable, comparable.

    Args:
      tree: any tree.
      is_leaf: function of a node: True makes it a leaf.

    >>> structure([1, (2, 3)]) == structure([0, (0, 0)])
    True
    """
    return flatten(tree, is_leaf)[1]


def flatten_with_path(
    tree: PyTree, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """Pairs (path, leaf), and the structure.

    Args:
      tree: any tree.
      is_leaf: function of a node, or of (path, node): True makes it a leaf.
      is_leaf_takes_path: whether ``is_leaf`` takes the path as well.

    >>> [(keystr(path), leaf) for path, leaf in flatten_with_path({"a": [1, 2]})[0]]
    [("['a'][0]", 1), ("['a'][1]", 2)]
    """
    predicate: Callable[[Any, Any], bool] | None = is_leaf
    if is_leaf is not None and not is_leaf_takes_path:
        predicate = lambda _, node: is_leaf(node)  # noqa: E731
    try:
        return registry.flatten_with_path(tree, predicate)
    except _REFUSALS as error:
        _explain(error)
        raise


def leaves_with_path(
    tree: PyTree, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """Pairs (path, leaf), in order.

    Args:
      tree: any tree.
      is_leaf: function of a node, or of (path, node): True makes it a leaf.
      is_leaf_takes_path: whether ``is_leaf`` takes the path as well.

    >>> leaves_with_path((5,))
    [((SequenceKey(idx=0),), 5)]
    """
    return flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def keystr(keys: KeyPath, *, simple: bool = False, separator: str = "") -> str:
    """A path as text: as one writes it in Python, or the bare keys with a separator.

    Args:
      keys: the path, a tuple of keys.
      simple: bare keys, as ``a/0``, in place of ``['a'][0]``.
      separator: what stands between bare keys.

    >>> path = leaves_with_path({"a": [1]})[0][0]
    >>> keystr(path), keystr(path, simple=True, separator="/")
    ("['a'][0]", 'a/0')
    """
    return separator.join(builtins.map(_bare if simple else str, keys))


_BARE: dict[type, str] = {
    SequenceKey: "idx",
    DictKey: "key",
    GetAttrKey: "name",
    FlattenedIndexKey: "key",
}


def _bare(key: KeyEntry) -> str:
    attribute = _BARE.get(type(key))
    return str(getattr(key, attribute) if attribute else key)


def all_leaves(iterable: Iterable[PyTree], is_leaf: IsLeaf = None) -> bool:
    """Whether each item is a leaf.

    Args:
      iterable: items, such as a list of trees.
      is_leaf: function of a node: True makes it a leaf.

    >>> all_leaves([1, 2]), all_leaves([1, (2,)])
    (True, False)
    """
    return builtins.all(is_leaf_structure(structure(item, is_leaf)) for item in iterable)


def flatten_one_level(tree: PyTree) -> tuple[list[Any], Hashable]:
    """The children of a node, and the data that its class needs beside them.

    Args:
      tree: a node: a tuple, list, dict, or an instance of a registered class.

    >>> flatten_one_level({"b": [1, 2], "a": 3})
    ([3, [1, 2]], ('a', 'b'))
    """
    found = registry.flatten_one_level(tree)
    if found is None:
        raise errors.not_a_node(tree)
    return list(found[0]), found[1]


def flatten_one_level_with_keys(tree: PyTree) -> tuple[list[tuple[KeyEntry, Any]], Hashable]:
    """Pairs (key, child) of a node, and the data that its class needs beside them.

    Args:
      tree: a node: a tuple, list, dict, or an instance of a registered class.

    >>> flatten_one_level_with_keys({"a": (1, 2)})
    ([(DictKey(key='a'), (1, 2))], ('a',))
    """
    _, data = flatten_one_level(tree)
    return [(path[0], child) for path, child in _outline(tree)[0]], data


def _outline(tree: PyTree) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """``flatten_with_path`` that stops at the children."""
    # The registry's own one-level function gives all fields of a named tuple the first one's name.
    return registry.flatten_with_path(tree, lambda path, _: bool(path))


# Mapping and folding


@overload
def map(f: Callable[[Any], Any], tree: PyTree, /, *, is_leaf: IsLeaf = None) -> PyTree: ...
@overload
def map(
    f: Callable[[Any, Any], Any], tree: PyTree, other: PyTree, /, *, is_leaf: IsLeaf = None
) -> PyTree: ...
@overload
def map(f: Callable[..., Any], tree: PyTree, *rest: PyTree, is_leaf: IsLeaf = None) -> PyTree: ...
def map(f: Callable[..., Any], tree: PyTree, *rest: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """Apply ``f`` to each leaf, and to what the other trees have in its place.

    Args:
      f: function of a leaf and of what each further tree has there.
      tree: the tree whose structure the result has.
      rest: trees that have this structure, or go on below its leaves.
      is_leaf: function of a node: True makes it a leaf.

    >>> map(lambda x, y: x + y, {"a": 1, "b": (2, 3)}, {"a": 10, "b": (20, 30)})
    {'a': 11, 'b': (22, 33)}
    """
    first, treedef = flatten(tree, is_leaf)
    others = [flatten_up_to(treedef, other, "tree.map") for other in rest]
    return treedef.unflatten(builtins.map(f, first, *others))


def map_with_path(
    f: Callable[..., Any],
    tree: PyTree,
    *rest: PyTree,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> PyTree:
    """Like ``map``, with the path of the leaf as the first argument of ``f``.

    Args:
      f: function of (path, leaf) and of what each further tree has there.
      tree: the tree whose structure the result has.
      rest: trees that have this structure, or go on below its leaves.
      is_leaf: function of a node, or of (path, node): True makes it a leaf.
      is_leaf_takes_path: whether ``is_leaf`` takes the path as well.

    >>> map_with_path(lambda path, x: keystr(path) + f"={x}", [1, {"a": 2}])
    ['[0]=1', {'a': "[1]['a']=2"}]
    """
    pairs, treedef = flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    others = [flatten_up_to(treedef, other, "tree.map_with_path") for other in rest]
    return treedef.unflatten(f(*pair, *more) for pair, *more in zip(pairs, *others))


def all(tree: PyTree, *, is_leaf: IsLeaf = None) -> bool:
    """Whether all leaves are true.

    Args:
      tree: tree of values that are true or false.
      is_leaf: function of a node: True makes it a leaf.

    >>> all({"a": True, "b": [True, False]}), all(())
    (False, True)
    """
    return builtins.all(leaves(tree, is_leaf))


def reduce(
    function: Callable[[R, Any], R], tree: PyTree, initializer: R = _LEAF, is_leaf: IsLeaf = None
) -> R:
    """Fold the leaves from the left.

    Args:
      function: function of (what came out so far, a leaf).
      tree: any tree.
      initializer: what stands before the first leaf; by default the first leaf itself.
      is_leaf: function of a node: True makes it a leaf.

    >>> reduce(lambda total, x: total + x, {"a": 1, "b": (2, 3)}, 10)
    16
    """
    start = () if initializer is _LEAF else (initializer,)
    return functools.reduce(function, leaves(tree, is_leaf), *start)


def reduce_associative(
    operation: Callable[[R, R], R], tree: PyTree, *, identity: R = _LEAF, is_leaf: IsLeaf = None
) -> R:
    """Fold the leaves by halves, which keeps the depth of the result logarithmic.

    Args:
      operation: function of two leaves, or of what it returned for others; associative.
      tree: any tree.
      identity: the result of a tree without leaves, which is an error without it.
      is_leaf: function of a node: True makes it a leaf.

    >>> reduce_associative(lambda a, b: f"({a}{b})", ["a", "b", "c", "d"])
    '((ab)(cd))'
    """
    items = leaves(tree, is_leaf)
    if items:
        return _fold(operation, items)
    if identity is _LEAF:
        raise errors.no_identity()
    return identity


def _fold(operation: Callable[[R, R], R], items: list[R]) -> R:
    if len(items) == 1:
        return items[0]
    middle = len(items) // 2
    return operation(_fold(operation, items[:middle]), _fold(operation, items[middle:]))


def transpose(
    outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: PyTree
) -> PyTree:
    """A tree of trees inside out. The inner structure may be left to be found.

    Args:
      outer_treedef: structure of the outer tree, which becomes the inner one.
      inner_treedef: structure of the trees at its leaves; None for that of the first one.
      pytree_to_transpose: the tree.

    >>> transpose(structure([0, 0]), structure({"a": 0, "b": 0}), [{"a": 1, "b": 2}] * 2)
    {'a': [1, 1], 'b': [2, 2]}
    """
    parts = flatten_up_to(outer_treedef, pytree_to_transpose, "tree.transpose")
    inner = inner_treedef or _structure_of_first(parts)
    for part in parts:
        check_structure(inner, part, "tree.transpose")
    columns = zip(*builtins.map(leaves, parts)) if parts else ((),) * inner.num_leaves
    return inner.unflatten(builtins.map(outer_treedef.unflatten, columns))


def _structure_of_first(parts: list[PyTree]) -> PyTreeDef:
    if not parts:
        raise errors.no_inner_structure()
    return structure(parts[0])


# Prefixes, and where trees differ


def broadcast(prefix_tree: PyTree, full_tree: PyTree, is_leaf: IsLeaf = None) -> PyTree:
    """The full tree with each leaf replaced by the leaf of the prefix above it.

    Args:
      prefix_tree: a tree that ends above the leaves of the other one, or at them.
      full_tree: the tree whose structure the result has.
      is_leaf: function of a node of ``prefix_tree``: True makes it a leaf.

    >>> broadcast((1, 2), ([0, 0], {"a": 0}))
    ([1, 1], {'a': 2})
    """
    return structure(full_tree).unflatten(broadcast_prefix(prefix_tree, full_tree, is_leaf))


def broadcast_prefix(
    prefix: PyTree, full: PyTree, is_leaf: IsLeaf = None, who: str = "tree.broadcast"
) -> list[Any]:
    """For each leaf of ``full``, the leaf of ``prefix`` above it.

    >>> broadcast_prefix((0, None), ([1, 2], {"a": 3}), is_leaf=lambda x: x is None)
    [0, 0, None]
    """
    above, treedef = flatten(prefix, is_leaf)
    parts = flatten_up_to(treedef, full, who)
    return [x for x, part in zip(above, parts) for _ in range(structure(part).num_leaves)]


def flatten_up_to(
    treedef: PyTreeDef, tree: PyTree, who: str = "tree.flatten_up_to"
) -> list[PyTree]:
    """The parts of ``tree`` in the place of the structure's leaves; errors name ``who``.

    >>> flatten_up_to(structure((0, 0)), ([1, 2], 3))
    [[1, 2], 3]
    """
    try:
        return treedef.flatten_up_to(tree)
    except ValueError as error:
        found = first_difference(treedef, tree) or ((), str(error))
        raise _mismatch(who, found, treedef, tree) from None


def check_structure(treedef: PyTreeDef, tree: PyTree, who: str) -> None:
    """Raise, in the name of ``who``, where the tree's structure is not the given one."""
    if structure(tree) != treedef:
        found = first_difference(treedef, tree, exact=True) or ((), "structures are not equal")
        raise _mismatch(who, found, treedef, tree)


def _mismatch(who: str, found: Difference, treedef: PyTreeDef, tree: PyTree) -> errors.TreeError:
    path, reason = found
    return errors.tree_mismatch(who, keystr(path), reason, treedef, structure(tree))


def first_difference(
    treedef: PyTreeDef, tree: PyTree, *, exact: bool = False, path: KeyPath = ()
) -> Difference | None:
    """The first (path, reason) where ``treedef`` is no prefix of ``tree`` (``exact``: is not its
    structure), or None.

    >>> path, reason = first_difference(structure({"a": (0, 0)}), {"a": (1, 2, 3)})
    >>> keystr(path), reason
    ("['a']", 'expected a tuple of 2, given a tuple of 3')
    """
    if is_leaf_structure(treedef) and not exact:
        return None
    children, outline = _outline(tree)
    reason = _node_difference(treedef, outline)
    if reason:
        return path, reason
    if is_leaf_structure(treedef):
        return None
    parts = zip(treedef.children(), children)
    found = (first_difference(d, x, exact=exact, path=path + key) for d, (key, x) in parts)
    return next((difference for difference in found if difference), None)


def _node_difference(expected: PyTreeDef, given: PyTreeDef) -> str:
    data, found = expected.node_data(), given.node_data()
    if data and found and data[0] is found[0] is dict:
        return _key_difference(set(data[1]), set(found[1]))
    names = _node_name(expected), _node_name(given)
    if names[0] != names[1]:
        return f"expected {names[0]}, given {names[1]}"
    if data and found and data != found:
        return f"expected {data[0].__name__} with {data[1]!r}, given it with {found[1]!r}"
    return ""


def _key_difference(expected: set[Any], given: set[Any]) -> str:
    sides = (("missing", expected - given), ("unexpected", given - expected))
    return ", ".join(f"{side} keys {sorted(keys)}" for side, keys in sides if keys)


def _node_type(treedef: PyTreeDef) -> type | None:
    data = treedef.node_data()
    return data and data[0]


def _node_name(treedef: PyTreeDef) -> str:
    kind = _node_type(treedef)
    if kind is None:
        return "a leaf"
    if kind is type(None):
        return "None"
    return f"a {kind.__qualname__} of {len(treedef.children())}"


# Structures

_leaf_structure = structure(0)


def is_leaf_structure(treedef: PyTreeDef) -> bool:
    """Whether this is the structure of a single leaf.

    >>> is_leaf_structure(structure(1)), is_leaf_structure(structure([1]))
    (True, False)
    """
    return treedef == _leaf_structure


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of a node's children.

    Args:
      treedef: the structure of a node, as ``structure`` gives it.

    >>> treedef_children(structure((1, [2])))
    [PyTreeDef(*), PyTreeDef([*])]
    """
    return treedef.children()


def treedef_state(treedef: PyTreeDef) -> Any:
    """A structure as nested tuples, for files that outlive this version of jaxlib.

    >>> treedef_from_state(treedef_state(structure({"a": (1, None)})))
    PyTreeDef({'a': (*, None)})
    """
    data = treedef.node_data()
    return data and (data, tuple(builtins.map(treedef_state, treedef.children())))


def treedef_from_state(state: Any) -> PyTreeDef:
    """The structure that ``treedef_state`` took apart. Its classes must be registered."""
    data, children = state or (None, ())
    return pytree.treedef_node(data, [treedef_from_state(child) for child in children])
