"""Classes of one's own as nodes of pytrees."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

from .._backend.pytree import GetAttrKey, registry
from . import errors, tree

T = TypeVar("T")
R = TypeVar("R")


def is_tree_node(typ: type) -> bool:
    """Whether instances of exactly this class are nodes.

    Args:
      typ: a class.

    >>> is_tree_node(dict), is_tree_node(float)
    (True, False)
    """
    return registry.is_node(typ)


def register_pytree_node(
    nodetype: type[T],
    flatten_func: Callable[[T], tree.Children],
    unflatten_func: Callable[[Any, Any], T],
    flatten_with_keys_func: Callable[[T], tree.Children] | None = None,
) -> None:
    """Make instances of a class nodes.

    Args:
        nodetype: the class.
        flatten_func: from an instance to ``(children, data)``; data is hashable and comparable.
        unflatten_func: from ``data, children`` to an instance. tree.Children may be anything.
        flatten_with_keys_func: from an instance to ``((key, child) pairs, data)``, for paths.

    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> register_pytree_node(Pair, lambda p: ((p.a, p.b), None), lambda _, ab: Pair(*ab))
    >>> tree.leaves(Pair(1, [2, 3]))
    [1, 2, 3]
    """
    check_unregistered(nodetype)
    try:
        registry.register_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func)
    except ValueError:
        raise errors.already_a_node(nodetype) from None


def check_unregistered(nodetype: type) -> None:
    """Raise if the class is a node already: its rules can be given once only.

    A named tuple is a node by its fields until it gets rules of its own.
    """
    if registry.is_node(nodetype) and not hasattr(nodetype, "_fields"):
        raise errors.already_a_node(nodetype)


def register_pytree_with_keys(
    nodetype: type[T],
    flatten_with_keys: Callable[[T], tree.Children],
    unflatten_func: Callable[[Any, Any], T],
    flatten_func: Callable[[T], tree.Children] | None = None,
) -> None:
    """``register_pytree_node`` for a class that knows the keys of its children.

    Args:
      nodetype: the class.
      flatten_with_keys: function of a node: (pairs of key and child, hashable data).
      unflatten_func: function of (data, children) that makes a node.
      flatten_func: function of a node: (children, data); by default ``flatten_with_keys`` gives both.

    >>> class Pair:
    ...     def __init__(self, x, y):
    ...         self.x, self.y = x, y
    >>> register_pytree_with_keys(
    ...     Pair,
    ...     lambda p: (((GetAttrKey("x"), p.x), (GetAttrKey("y"), p.y)), None),
    ...     lambda _, children: Pair(*children),
    ... )
    >>> [tree.keystr(path) for path, _ in tree.flatten_with_path(Pair(1, 2))[0]]
    ['.x', '.y']
    """

    def without_keys(node: T) -> tree.Children:
        pairs, data = flatten_with_keys(node)
        return [child for _, child in pairs], data

    flatten_func = flatten_func or without_keys
    register_pytree_node(nodetype, flatten_func, unflatten_func, flatten_with_keys)


class _Node(Protocol):
    def tree_flatten(self) -> tree.Children: ...
    @classmethod
    def tree_unflatten(cls, data: Any, children: Any, /) -> Any: ...


class _KeyedNode(Protocol):
    def tree_flatten_with_keys(self) -> tree.Children: ...
    @classmethod
    def tree_unflatten(cls, data: Any, children: Any, /) -> Any: ...


Node = TypeVar("Node", bound=_Node)
KeyedNode = TypeVar("KeyedNode", bound=_KeyedNode)


def register_pytree_node_class(cls: type[Node]) -> type[Node]:
    """Class decorator: a node by its methods ``tree_flatten(self)`` and
    ``tree_unflatten(cls, data, children)``.

    Args:
      cls: the class, with the two methods.

    >>> @register_pytree_node_class
    ... class Ball:
    ...     def __init__(self, radius):
    ...         self.radius = radius
    ...     def tree_flatten(self):
    ...         return (self.radius,), None
    ...     @classmethod
    ...     def tree_unflatten(cls, data, children):
    ...         return cls(*children)
    >>> tree.map(lambda r: 2 * r, Ball(3)).radius
    6
    """
    register_pytree_node(cls, cls.tree_flatten, cls.tree_unflatten)
    return cls


def register_pytree_with_keys_class(cls: type[KeyedNode]) -> type[KeyedNode]:
    """Class decorator: like ``register_pytree_node_class``, with ``tree_flatten_with_keys``.

    Args:
      cls: the class, with the methods ``tree_flatten_with_keys`` and ``tree_unflatten``.

    >>> @register_pytree_with_keys_class
    ... class Box:
    ...     def __init__(self, content):
    ...         self.content = content
    ...     def tree_flatten_with_keys(self):
    ...         return ((GetAttrKey("content"), self.content),), None
    ...     @classmethod
    ...     def tree_unflatten(cls, data, children):
    ...         return cls(*children)
    >>> tree.keystr(tree.flatten_with_path(Box(1))[0][0][0])
    '.content'
    """
    plain = getattr(cls, "tree_flatten", None)
    register_pytree_with_keys(cls, cls.tree_flatten_with_keys, cls.tree_unflatten, plain)
    return cls


def register_static(cls: type[T]) -> type[T]:
    """Class decorator: instances are nodes without children, hashable and compared by value.

    Args:
      cls: the class, whose instances can be hashed and compared.

    >>> @register_static
    ... class Name(str):
    ...     pass
    >>> tree.leaves([Name("grid"), 1])
    [1]
    """
    register_pytree_node(cls, lambda x: ((), x), lambda x, _: x)
    return cls


class Partial(functools.partial[R]):
    """``functools.partial`` as a node: its arguments are children, its function is structure.

    The arguments of a plain ``functools.partial`` inside stay part of the function.

    >>> tree.leaves(Partial(pow, 2, mod=7)), Partial(pow, 2)(5)
    ([2, 7], 32)
    """

    def __new__(cls, func: Callable[..., R], /, *args: Any, **keywords: Any) -> Partial[R]:
        if isinstance(func, Partial):
            args, keywords = (*func.args, *args), func.keywords | keywords
            func = func.func
        elif isinstance(func, functools.partial):
            func = _Bound(cast("functools.partial[R]", func))
        return super().__new__(cls, func, *args, **keywords)


class _Bound:
    """A ``functools.partial`` that is equal to another with the same function and arguments."""

    __slots__ = ("func", "key")

    def __init__(self, func: functools.partial[Any]) -> None:
        self.func = func
        self.key = (func.func, func.args, tuple(sorted(func.keywords.items())))

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.func(*args, **keywords)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Bound) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return repr(self.func)


register_pytree_with_keys(
    Partial,
    lambda p: (((GetAttrKey("args"), p.args), (GetAttrKey("keywords"), p.keywords)), p.func),
    lambda func, children: Partial(func, *children[0], **children[1]),
    lambda p: ((p.args, p.keywords), p.func),
)
