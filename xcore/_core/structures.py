"""Structures of pytrees as plain data, for files: what JSON can say, and nothing that runs when it is read.

Containers of Python and classes of xcore are known. Classes of one's own are known by a name that they
are registered with, in the process that writes and in the one that reads.
"""

from __future__ import annotations

import base64
import enum
import importlib
import json
import re
import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from . import errors, nodes, tree

Data = Any  # what a node's class needs beside the children
Plain = Any  # what JSON can say

_LEAF = "*"
_KINDS: dict[str, type] = {"tuple": tuple, "list": list, "dict": dict, "OrderedDict": OrderedDict}
_NAMES: dict[type, str] = {kind: name for name, kind in _KINDS.items()}
_MADE: tuple[type, ...] = (int, float, complex, str, list, dict, tuple, set)
_FACTORIES: dict[str, Any] = {"": None, **{f.__name__: f for f in _MADE}}


class _Known(NamedTuple):
    """How instances of a user's class are serialized."""

    kind: type
    name: str
    write: Callable[[Data], bytes]
    read: Callable[[bytes], Data]


_by_class: dict[type, _Known] = {}
_by_name: dict[str, _Known] = {}


def register_pytree_node_serialization(
    nodetype: type, *, serialized_name: str,
    serialize_auxdata: Callable[[Data], bytes] | None = None,
    deserialize_auxdata: Callable[[bytes], Data] | None = None,
) -> None:  # fmt: skip
    """Let a class that is a node stand in files of ``xc.export``, under a name.

    The process that reads such a file must have registered the class under the same name.

    Args:
      nodetype: the class, a node already (``xc.tree_util.register_pytree_node``, ``@xc.tree.struct``, …).
      serialized_name: what it is called in files.
      serialize_auxdata: from the data beside the children to bytes. By default data of numbers, texts,
        dtypes and tuples of these is written as it is.
      deserialize_auxdata: and back.

    >>> import xcore as xc
    >>> @xc.tree.struct
    ... class Wave:
    ...     u: xc.Array
    ...     order: int = xc.tree.static(default=2)
    >>> xc.export.register_pytree_node_serialization(Wave, serialized_name="docs.Wave")
    """
    who = "export.register_pytree_node_serialization"
    if not nodes.is_tree_node(nodetype):
        expected = "a class that is a node of pytrees"
        advice = "Make it one before: xc.tree_util.register_pytree_node."
        raise errors.bad_argument(who, "nodetype", nodetype, expected, advice)
    if (serialize_auxdata is None) != (deserialize_auxdata is None):
        missing = "serialize_auxdata" if serialize_auxdata is None else "deserialize_auxdata"
        raise errors.bad_argument(who, missing, None, "given, as the other one is")
    write, read = serialize_auxdata or _to_bytes, deserialize_auxdata or _from_bytes
    known = _Known(nodetype, serialized_name, write, read)
    for other in (_by_class.get(nodetype), _by_name.get(serialized_name)):
        if other is not None and (other.kind, other.name) != (nodetype, serialized_name):
            raise errors.bad_argument(
                who, "serialized_name", serialized_name, "a name of this class alone",
                f"{other.kind.__qualname__} is registered as {other.name!r}.",
            )  # fmt: skip
    _by_class[nodetype] = _by_name[serialized_name] = known


def register_namedtuple_serialization(nodetype: type, *, serialized_name: str) -> None:
    """The same for a named tuple, which has no data beside its fields.

    Args:
      nodetype: the class.
      serialized_name: what it is called in files.

    >>> import collections, xcore as xc
    >>> Point = collections.namedtuple("Point", "x y")
    >>> xc.export.register_namedtuple_serialization(Point, serialized_name="docs.Point")
    """
    if not hasattr(nodetype, "_fields"):
        who = "export.register_namedtuple_serialization"
        raise errors.bad_argument(who, "nodetype", nodetype, "a class of named tuples")
    register_pytree_node_serialization(nodetype, serialized_name=serialized_name)


# Values


def plain(value: Data) -> Plain:
    """A static value as JSON can say it; TypeError for what is no number, text, dtype, or tuple of them."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) in (tuple, list):
        return {type(value).__name__: [plain(v) for v in value]}
    if type(value) is float:
        return {"float": value.hex()}
    if type(value) is complex:
        return {"complex": [value.real.hex(), value.imag.hex()]}
    if type(value) is bytes:
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, np.dtype):
        return {"dtype": value.name}
    if isinstance(value, enum.IntEnum) and _is_ours(type(value)):
        return {"enum": [_name_of(type(value)), int(value)]}
    raise TypeError(f"its structure holds {errors.describe(value)}")


_READ: dict[str, Callable[[Plain], Any]] = {
    "tuple": lambda v: tuple(map(from_plain, v)),
    "list": lambda v: list(map(from_plain, v)),
    "float": float.fromhex,
    "complex": lambda v: complex(*map(float.fromhex, v)),
    "bytes": base64.b64decode,
    "dtype": np.dtype,
    "enum": lambda v: _ours(v[0])(v[1]),
}


def from_plain(value: Plain) -> Data:
    """What ``plain`` was given."""
    if isinstance(value, dict):
        ((kind, content),) = cast("dict[str, Plain]", value).items()
        return _READ[kind](content)
    return value


def _to_bytes(data: Data) -> bytes:
    return json.dumps(plain(data)).encode()


def _from_bytes(raw: bytes) -> Data:
    return from_plain(json.loads(raw or b"null"))


# Structures


def state(treedef: tree.PyTreeDef, who: str) -> Plain:
    """A structure as lists [kind, data, children]; a leaf is "*"."""
    data = treedef.node_data()
    if data is None:
        return _LEAF
    kind, aux = data
    if kind is type(None):
        return None
    try:
        name, written = _aux_data(kind, aux)
    except TypeError as error:
        register = "register_namedtuple" if hasattr(kind, "_fields") else "register_pytree_node"
        raise errors.ExportError(
            f"xcore.{who}: a file cannot hold a node of class {kind.__qualname__}: {error}. Register how it is "
            f"written: xc.export.{register}_serialization({kind.__qualname__}, serialized_name=…)."
        ) from None
    return [name, written, [state(child, who) for child in treedef.children()]]


def _aux_data(kind: type, aux: Data) -> tuple[str, Plain]:
    if kind in _NAMES:
        return _NAMES[kind], None if aux is None else plain(list(aux))
    if kind is defaultdict:
        factory = "" if aux[0] is None else getattr(aux[0], "__name__", "")
        if _FACTORIES.get(factory, "?") is not aux[0]:
            raise TypeError(f"its factory is {aux[0]!r}")
        return "defaultdict", [factory, plain(list(aux[1]))]
    known = _by_class.get(kind)
    if known is not None:
        return f":{known.name}", base64.b64encode(bytes(known.write(aux))).decode()
    if _is_ours(kind):
        return _name_of(kind), plain(aux)
    raise TypeError("its class is not known to files")


def _name_of(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "xcore" and "." not in kind.__qualname__


def from_state(given: Plain, who: str) -> tree.PyTreeDef:
    """The structure from the lists that ``state`` made."""
    if given == _LEAF:
        return tree.structure(0)
    if given is None:
        return tree.structure(None)
    name, written, children = given
    return node(name, written, [from_state(child, who) for child in children], who)


def node(name: str, written: Plain, children: list[tree.PyTreeDef], who: str) -> tree.PyTreeDef:
    """The structure of a node from its record."""
    if name in _KINDS:
        keys = from_plain(written)
        aux = tuple(keys) if name == "OrderedDict" else keys
        return tree.pytree.treedef_node((_KINDS[name], aux), children)
    if name == "defaultdict":
        factory, keys = written
        aux = (_FACTORIES[factory], tuple(from_plain(keys)))
        return tree.pytree.treedef_node((defaultdict, aux), children)
    if name.startswith(":"):
        return registered(name[1:], base64.b64decode(written), children, who)
    return tree.pytree.treedef_node((_ours(name), from_plain(written)), children)


def registered(
    name: str, raw: bytes, children: list[tree.PyTreeDef], who: str
) -> tree.PyTreeDef:  # fmt: skip
    """The structure of a node whose class is registered here under this name."""
    known = _by_name.get(name)
    if known is None:
        raise errors.ExportError(
            f"xcore.{who}: the file has nodes of a class that it calls {name!r}, and no class is registered here "
            "under this name. Import the module that does, or call xc.export.register_pytree_node_serialization."
        )
    aux = None if hasattr(known.kind, "_fields") and known.read is _from_bytes else known.read(raw)
    return tree.pytree.treedef_node((known.kind, aux), children)


def _ours(name: str) -> type:
    """A class of xcore by module and name: a node's or an enumeration. Nothing else is imported."""
    found = re.fullmatch(r"(xcore(?:\.\w+)+):(\w+)", name)
    if found is None:
        raise ValueError(f"there is no class {name!r} in xcore")
    importlib.import_module(found[1])
    kind: object = getattr(sys.modules[found[1]], found[2], None)
    if isinstance(kind, type) and _is_ours(kind):
        if nodes.is_tree_node(kind) or issubclass(kind, enum.IntEnum):
            return kind
    raise ValueError(f"there is no class {name!r} in xcore")
