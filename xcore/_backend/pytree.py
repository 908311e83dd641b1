"""Our own registry of pytree nodes in jaxlib's C++. Nothing in it is shared with jax's.

Besides what the registry knows by itself (None, tuple, list, dict, named tuples), ``OrderedDict``
and ``defaultdict`` are nodes.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import surface as _pytree
else:
    from jaxlib._jax import pytree as _pytree

PyTreeDef = _pytree.PyTreeDef
DictKey = _pytree.DictKey
FlattenedIndexKey = _pytree.FlattenedIndexKey
GetAttrKey = _pytree.GetAttrKey
SequenceKey = _pytree.SequenceKey

Keyed = tuple[tuple[DictKey, Any], ...]
Factory = tuple[Callable[[], Any] | None, tuple[Any, ...]]  # of missing values, and the keys

registry = _pytree.PyTreeRegistry(
    enable_none=True,
    enable_tuple=True,
    enable_namedtuple=True,
    enable_list=True,
    enable_dict=True,
)
registry.__module__, registry.__name__ = __name__, "registry"  # by which structures pickle


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple whose items have the given structures.

    Args:
      treedefs: the structures of the items, as `tree.structure` gives them.

    >>> import xcore as xc
    >>> xc.tree_util.treedef_tuple([xc.tree.structure(0), xc.tree.structure([1, 2])])
    PyTreeDef((*, [*, *]))
    """
    return _pytree.treedef_tuple(registry, list(treedefs))


def treedef_node(node_data: tuple[type, Any] | None, children: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure with this ``node_data()`` and these children; a leaf has None and none."""
    return PyTreeDef.from_node_data_and_children(registry, node_data, children)


def _with_keys(tree: Mapping[Any, Any], keys: Iterable[Any]) -> Keyed:
    return tuple((DictKey(key), tree[key]) for key in keys)


def _flatten_ordered(tree: OrderedDict[Any, Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    return tuple(tree.values()), tuple(tree)


def _flatten_ordered_with_keys(tree: OrderedDict[Any, Any]) -> tuple[Keyed, tuple[Any, ...]]:
    return _with_keys(tree, tree), tuple(tree)


def _unflatten_ordered(keys: Iterable[Any], values: Iterable[Any]) -> OrderedDict[Any, Any]:
    return OrderedDict(zip(keys, values))


def _flatten_default(tree: defaultdict[Any, Any]) -> tuple[tuple[Any, ...], Factory]:
    keys = tuple(sorted(tree))
    return tuple(tree[key] for key in keys), (tree.default_factory, keys)


def _flatten_default_with_keys(tree: defaultdict[Any, Any]) -> tuple[Keyed, Factory]:
    keys = tuple(sorted(tree))
    return _with_keys(tree, keys), (tree.default_factory, keys)


def _unflatten_default(data: Factory, values: Iterable[Any]) -> defaultdict[Any, Any]:
    factory, keys = data
    return defaultdict(factory, zip(keys, values))


registry.register_node(
    OrderedDict, _flatten_ordered, _unflatten_ordered, _flatten_ordered_with_keys
)
registry.register_node(
    defaultdict, _flatten_default, _unflatten_default, _flatten_default_with_keys
)
