"""Files of exported functions.

Magic, version, SHA-256 of the rest; then a table in JSON with its length, then what it names by number:
modules in portable form and constants, each once. Nothing of it runs when it is read. The rows of the
table are the function, its derivative, the derivative of that, …
"""

from __future__ import annotations

import hashlib
import itertools
import json
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._core import ArrayType, PartitionSpec, dtypes, errors, structures, tree
from .._core.spans import Axes, Place, Span

MAGIC = b"\x00xcore-exported\n"
VERSIONS = (1, 2)  # 2: a function in it is for several devices
_HEAD = struct.Struct("<I32sQ")  # version, digest of the rest but for this, length of the table
_WHO = "export.deserialize"

Places = tuple[Place | None, ...]


class Spread(NamedTuple):
    """How a function lies over several devices: of meshes and places of constants, arguments and results."""

    count: int
    meshes: tuple[Axes, ...]
    constants: Places
    ins: Places
    outs: Places

    def check(self, row: Row) -> None:
        """Raise ValueError unless it goes with the rest of the row."""
        for places, values in zip(
            self[2:], (row.constants, row.in_avals, row.out_avals), strict=True
        ):
            if len(places) != len(values):
                raise ValueError(f"{len(places)} places of {len(values)} values")
        Span(row.name, self.count, self.meshes, (*self.constants, *self.ins), self.outs).check()


class Row(NamedTuple):
    """One function of a file."""

    name: str
    in_tree: tree.PyTreeDef
    in_avals: tuple[ArrayType, ...]
    out_tree: tree.PyTreeDef
    out_avals: tuple[ArrayType, ...]
    platforms: tuple[str, ...]
    disabled: tuple[tuple[str, str], ...]
    kept: tuple[int, ...]
    blobs: tuple[bytes, ...]
    constants: tuple[Any, ...]
    version: int
    whole: bool = False  # whether the module returns something for results of dtype float0
    spread: Spread | None = None


def damaged(what: str) -> errors.ExportError:
    return errors.ExportError(
        f"xcore.{_WHO}: {what}. The file is damaged, or not written by xc.export or jax.export."
    )


class _Parts:
    """What a table names by number; equal parts stand there once."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.known: dict[bytes, int] = {}

    def number(self, part: bytes) -> int:
        digest = hashlib.sha256(part).digest()
        if digest not in self.known:
            self.known[digest] = len(self.parts)
            self.parts.append(part)
        return self.known[digest]


def write(rows: Sequence[Row], version: str) -> bytearray:
    """The file of some rows; ``version`` is xcore's."""
    parts = _Parts()
    table = {
        "xcore": version,
        "functions": [_row(r, parts) for r in rows],
        "lengths": [len(p) for p in parts.parts],
    }
    head = json.dumps(table).encode()
    rest = b"".join([head, *parts.parts])
    digest = hashlib.sha256(rest).digest()
    number = VERSIONS[any(r.spread is not None for r in rows)]
    return bytearray(MAGIC + _HEAD.pack(number, digest, len(head)) + rest)


def _row(r: Row, parts: _Parts) -> dict[str, Any]:
    who = "export.serialize"
    return {
        "name": r.name,
        "in_tree": structures.state(r.in_tree, who),
        "in_avals": list(map(_type, r.in_avals)),
        "out_tree": structures.state(r.out_tree, who),
        "out_avals": list(map(_type, r.out_avals)),
        "platforms": r.platforms,
        "disabled": r.disabled,
        "kept": r.kept,
        "modules": list(map(parts.number, r.blobs)),
        "constants": [_constant(np.asarray(c), parts) for c in r.constants],
        "convention": r.version,
        **({} if r.spread is None else {"spread": _spread_record(r.name, r.spread)}),
    }


def _spread_record(name: str, s: Spread) -> dict[str, Any]:
    try:
        meshes = [[list(map(structures.plain, m.names)), m.sizes, m.order] for m in s.meshes]
    except TypeError:
        raise errors.ExportError(
            f"xcore.export.serialize: a file cannot hold the names of the axes of a mesh of {name}: "
            f"{[n for m in s.meshes for n in m.names]}. Use texts or numbers."
        ) from None
    places = {k: [_place_record(p) for p in getattr(s, k)] for k in ("constants", "ins", "outs")}
    return {"devices": s.count, "meshes": meshes, **places}


def _place_record(p: Place | None) -> list[Any] | None:
    if p is None:
        return None
    return [
        p.mesh,
        [list(map(structures.plain, names or ())) for names in p.spec.axes(len(p.spec))],
    ]


def _type(t: ArrayType) -> list[Any]:
    name = "float0" if t.dtype == dtypes.float0 else t.dtype.name
    return [name, list(t.shape)]


def _constant(c: np.ndarray, parts: _Parts) -> list[Any]:
    return [c.dtype.name, list(c.shape), parts.number(np.ascontiguousarray(c).tobytes())]


def read(raw: bytes) -> list[Row]:
    """The rows of a file."""
    start = len(MAGIC) + _HEAD.size
    if len(raw) < start:
        raise damaged(f"it ends after {len(raw)} bytes, within its head")
    version, digest, length = _HEAD.unpack_from(raw, len(MAGIC))
    if version not in VERSIONS:
        known = " and ".join(map(str, VERSIONS))
        raise errors.ExportError(
            f"xcore.{_WHO}: the file is of version {version} of the format, and this xcore reads version {known}. "
            "Export the function again, or read it with the xcore that wrote it."
        )
    rest = memoryview(raw)[start:]
    if hashlib.sha256(rest).digest() != digest:
        raise damaged("its content does not have the checksum that it names")
    try:
        return _rows(json.loads(bytes(rest[:length])), rest[length:])
    except (KeyError, TypeError, ValueError, IndexError, RecursionError, AttributeError) as error:
        if isinstance(error, errors.XcoreError):
            raise
        raise damaged(f"its table says {error!r}") from error


def _rows(table: dict[str, Any], rest: memoryview) -> list[Row]:
    ends = np.cumsum([0, *table["lengths"]]).tolist()
    parts = [bytes(rest[a:b]) for a, b in itertools.pairwise(ends)]
    rows = [
        Row(
            f["name"], structures.from_state(f["in_tree"], _WHO), _types(f["in_avals"]),
            structures.from_state(f["out_tree"], _WHO), _types(f["out_avals"]), tuple(f["platforms"]),
            tuple((k, t) for k, t in f["disabled"]), tuple(f["kept"]),
            tuple(parts[i] for i in f["modules"]),
            tuple(_array(name, shape, parts[i]) for name, shape, i in f["constants"]), f["convention"],
            spread=_read_spread(f["spread"]) if "spread" in f else None,
        )
        for f in table["functions"]
    ]  # fmt: skip
    for r in rows:
        if r.spread is not None:
            r.spread.check(r)
    return rows


def _read_spread(record: dict[str, Any]) -> Spread:
    plain = structures.from_plain
    meshes = tuple(
        Axes(tuple(map(plain, names)), tuple(map(int, sizes)), tuple(map(int, order)))
        for names, sizes, order in record["meshes"]
    )
    places = [tuple(_read_place(p) for p in record[k]) for k in ("constants", "ins", "outs")]
    return Spread(int(record["devices"]), meshes, *places)


def _read_place(record: list[Any] | None) -> Place | None:
    if record is None:
        return None
    number, spec = record
    return Place(number, PartitionSpec(*[tuple(map(structures.from_plain, e)) for e in spec]))


def _types(rows: list[Any]) -> tuple[ArrayType, ...]:
    return tuple(ArrayType(tuple(shape), dtype_named(name)) for name, shape in rows)


def dtype_named(name: str) -> np.dtype[Any]:
    return dtypes.float0 if name == "float0" else dtypes.as_dtype(name)


def _array(name: str, shape: list[int], part: bytes) -> np.ndarray:
    return np.frombuffer(part, dtype_named(name)).reshape(shape)
