"""Dataclasses as pytree nodes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, TypeVar, dataclass_transform

from . import errors, nodes, tree

T = TypeVar("T")
Names = Sequence[str] | None


def static(**kwargs: Any) -> Any:
    """A dataclass field that is part of the structure: hashable, compared by value, not traced.

    Takes the arguments of ``dataclasses.field``.

    Args:
      **kwargs: what ``dataclasses.field`` takes, as ``default``.

    >>> @struct
    ... class Grid:
    ...     spacing: float
    ...     shape: tuple = static()
    >>> tree.leaves(Grid(0.5, (3, 4)))
    [0.5]
    """
    return dataclasses.field(metadata={**kwargs.pop("metadata", {}), "static": True}, **kwargs)


@dataclass_transform(frozen_default=True, field_specifiers=(static, dataclasses.field))
def struct(cls: type[T]) -> type[T]:
    """Class decorator: a frozen dataclass that is a pytree node, with a method ``replace``.

    Fields are children, in order, but for those marked ``static()``. Rebuilding a tree does not
    call ``__init__`` or ``__post_init__``, so these may check what they are given: placeholders
    never pass through them.

    Args:
      cls: a class with annotated fields, written like a dataclass.

    >>> @struct
    ... class Line:
    ...     slope: float
    ...     offset: float = 0.0
    ...     name: str = static(default="line")
    >>> tree.map(lambda x: 2 * x, Line(1.5, 1.0)).replace(name="steep")
    Line(slope=3.0, offset=2.0, name='steep')
    """
    cls = dataclasses.dataclass(frozen=True)(cls)
    made: Any = cls
    if "replace" not in cls.__dict__:
        made.replace = _replace
    _FIELDS[cls] = _split(dataclasses.fields(made))
    _register_struct(cls, *_FIELDS[cls])
    return cls


_FIELDS: dict[type[Any], tuple[tuple[str, ...], tuple[str, ...]]] = {}


def fields_of(cls: type[Any]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The names of the children and of the static fields, where a class is a ``struct``."""
    return _FIELDS.get(cls)


def _replace(self: Any, **changes: Any) -> Any:
    """A copy with some fields changed."""
    return dataclasses.replace(self, **changes)


def _split(fields: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the data fields and of the static ones."""
    marked = [(field.name, field.metadata.get("static", False)) for field in fields]
    return tuple(n for n, s in marked if not s), tuple(n for n, s in marked if s)


def _register_struct(cls: type[Any], data: tuple[str, ...], meta: tuple[str, ...]) -> None:
    keys = [tree.GetAttrKey(name) for name in data]

    def values(x: Any) -> list[Any]:
        return [getattr(x, name) for name in data]

    def constants(x: Any) -> tuple[Any, ...]:
        return tuple([getattr(x, name) for name in meta])

    def unflatten(statics: Any, children: Any) -> Any:
        made = object.__new__(cls)
        made.__dict__.update(zip(data, children), **dict(zip(meta, statics)))
        return made

    nodes.register_pytree_node(
        cls,
        lambda x: (values(x), constants(x)),
        unflatten,
        lambda x: (zip(keys, values(x)), constants(x)),
    )


def register_dataclass(
    nodetype: type[T],
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> type[T]:
    """Make a dataclass, or any class rebuilt by keywords, a pytree node. Works as a decorator.

    Args:
        nodetype: the class.
        data_fields: names of the children. Without lists, all fields of the dataclass are
            children but those whose metadata has ``static=True``.
        meta_fields: names of the fields that are part of the structure.
        drop_fields: fields of the dataclass that are left out, and get their defaults.

    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Point:
    ...     x: float
    ...     label: str = static(default="")
    >>> tree.leaves([Point(1.0, "a"), Point(2.0)])
    [1.0, 2.0]
    """
    data, meta = _field_names(nodetype, data_fields, meta_fields, drop_fields)
    nodes.check_unregistered(nodetype)
    tree.registry.register_dataclass_node(nodetype, list(data), list(meta))
    return nodetype


def _field_names(
    nodetype: type[Any], data: Names, meta: Names, drop: Sequence[str]
) -> tuple[Sequence[str], Sequence[str]]:
    if (data is None) != (meta is None):
        raise errors.half_the_fields("data_fields" if data is None else "meta_fields")
    if not dataclasses.is_dataclass(nodetype):
        if data is None or meta is None:
            raise errors.not_a_dataclass(nodetype)
        return data, meta
    fields = [f for f in dataclasses.fields(nodetype) if f.init and f.name not in drop]
    if data is None or meta is None:
        return _split(fields)
    needed, given = {f.name for f in fields}, {*data, *meta}
    if needed != given or len(given) < len(data) + len(meta):
        raise errors.wrong_fields(nodetype, needed - given, given - needed)
    return data, meta
