"""Files of jax.export, read: flatbuffers of the schema that jax's ``serialization.fbs`` describes.

A flatbuffer is read where it lies. A table begins with the distance back to a list of 16-bit places of
its fields, in the order of the schema, 0 where a field is missing; tables, texts and vectors are named
by their distance. (flatbuffers.dev, "Internals")
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import TypeVar

from .._core import ArrayType, PartitionSpec, errors, structures, tree
from .._core.spans import Axes, Place
from .exported_files import Row, Spread, damaged, dtype_named

T = TypeVar("T")
_WHO = "export.deserialize"

# Numbers of the fields in their tables.
_EXPORTED = {
    name: i for i, name in enumerate(
        """serialization_version function_name in_tree in_avals out_tree out_avals nr_devices_short in_shardings
        out_shardings platforms ordered_effects unordered_effects disabled_checks module
        calling_convention_version kept uses_global_constants vjp nr_devices unique_avals unique_meshes
        unique_shardings in_avals_idxs out_avals_idxs in_shardings_idxs out_shardings_idxs jax_version""".split()
    )
}  # fmt: skip
_KINDS = ("leaf", "none", "tuple", "list", "dict", "custom")
_KEYS = (27, 28, 29)
_DTYPES = {
    0: "bool", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "uint8", 6: "uint16", 7: "uint32", 8: "uint64",
    9: "float16", 10: "float32", 11: "float64", 12: "complex64", 13: "complex128", 14: "bfloat16", 15: "int4",
    16: "uint4", 17: "float8_e4m3b11fnuz", 18: "float8_e4m3fn", 19: "float8_e4m3fnuz", 20: "float8_e5m2",
    21: "float8_e5m2fnuz", 22: "float0", 23: "float8_e4m3", 24: "float8_e3m4", 25: "float8_e8m0fnu",
    26: "float4_e2m1fn",
}  # fmt: skip
_CONVENTIONS = (9, 10)
_MOST_DEVICES = 2**20
_DEEP = 100  # trees and derivatives: a file whose tables name themselves has no end


class Table:
    """A table of a flatbuffer. Places outside of the buffer are errors of ``struct``."""

    def __init__(self, buffer: bytes, at: int):
        self.buffer, self.at = buffer, at
        self.fields = at - self._number("i", at)
        self.size = self._number("H", self.fields)

    def _number(self, form: str, at: int) -> int:
        if at < 0:
            raise struct.error("a place before the beginning")
        return struct.unpack_from("<" + form, self.buffer, at)[0]

    def place(self, field: int) -> int:
        """Where a field lies, 0 if it is missing."""
        entry = 4 + 2 * field
        found = self._number("H", self.fields + entry) if entry < self.size else 0
        return found and self.at + found

    def number(self, field: int, form: str) -> int:
        at = self.place(field)
        return self._number(form, at) if at else 0

    def _target(self, at: int) -> int:
        return at + self._number("I", at)

    def table(self, field: int) -> Table | None:
        at = self.place(field)
        return Table(self.buffer, self._target(at)) if at else None

    def _vector(self, field: int) -> tuple[int, int]:
        """Where its elements begin, and how many there are."""
        at = self.place(field)
        if not at:
            return 0, 0
        start = self._target(at)
        return start + 4, self._number("I", start)

    def raw(self, field: int) -> bytes:
        start, length = self._vector(field)
        return self._bytes(start, length)

    def _bytes(self, start: int, length: int) -> bytes:
        if start + length > len(self.buffer):
            raise struct.error("a text that goes on behind the end")
        return self.buffer[start : start + length]

    def text(self, field: int) -> str:
        return self.raw(field).decode()

    def numbers(self, field: int, form: str) -> tuple[int, ...]:
        start, length = self._vector(field)
        self._bytes(start, length * struct.calcsize(form))
        return struct.unpack_from(f"<{length}{form}", self.buffer, start)

    def each(self, field: int, make: Callable[[Table], T]) -> list[T]:
        start, length = self._vector(field)
        self._bytes(start, 4 * length)
        places = [self._target(start + 4 * i) for i in range(length)]
        return [make(Table(self.buffer, at)) for at in places]

    def texts(self, field: int) -> list[str]:
        start, length = self._vector(field)
        self._bytes(start, 4 * length)
        places = [self._target(start + 4 * i) for i in range(length)]
        return [self._bytes(at + 4, self._number("I", at)).decode() for at in places]


def read(raw: bytes) -> list[Row]:
    """The functions of a file: the first one, its derivative, and so on."""
    rows: list[Row] = []
    try:
        found: Table | None = Table(raw, struct.unpack_from("<I", raw, 0)[0])
        while found is not None:
            rows.append(_function(found))
            found = found.table(_EXPORTED["vjp"])
            if len(rows) > _DEEP:
                raise struct.error("derivatives without end")
    except (struct.error, UnicodeDecodeError, IndexError, MemoryError, OverflowError) as error:
        words = "its parts lie outside of it" if type(error) is struct.error else str(error)
        raise damaged(f"it cannot be read ({words}; {len(raw)} bytes)") from None
    return rows


def _function(t: Table) -> Row:
    at = _EXPORTED
    if not 1 < t.number(at["serialization_version"], "H") < 1000 or not t.place(at["module"]):
        raise damaged("it has no function in it")
    name = t.text(at["function_name"])
    version = t.number(at["calling_convention_version"], "H")
    if version not in _CONVENTIONS:
        known = " and ".join(map(str, _CONVENTIONS))
        raise _refused(
            name,
            f"calls by version {version} of jax's calling convention",
            f"versions {known} are known",
        )
    if t.each(at["ordered_effects"], id) or t.each(at["unordered_effects"], id):
        raise _refused(
            name, "does something besides computing", "functions without effects can be called"
        )
    disabled = t.each(at["disabled_checks"], lambda c: (c.number(0, "b"), c.text(1)))
    ins, outs = (_avals(t, name, which) for which in ("in", "out"))
    return Row(
        name, _tree(t.table(at["in_tree"])), ins, _tree(t.table(at["out_tree"])), outs,
        tuple(t.texts(at["platforms"])),
        tuple(("platform", "") if kind == 0 else ("custom_call", target) for kind, target in disabled),
        t.numbers(at["kept"], "H"), (t.raw(at["module"]),), (), version, whole=True,
        spread=_spread(t, name, len(ins), len(outs)),
    )  # fmt: skip


def _spread(t: Table, name: str, ins: int, outs: int) -> Spread | None:
    """How it lies over several devices, which jax numbers as they stand in its mesh."""
    count = t.number(_EXPORTED["nr_devices"], "I") or t.number(_EXPORTED["nr_devices_short"], "h")
    if count == 1:
        return None
    if not 1 < count <= _MOST_DEVICES:
        raise struct.error(f"{count} devices")
    sides = [(f"{which}_shardings_idxs", n) for which, n in (("in", ins), ("out", outs))]
    numbers = [t.numbers(_EXPORTED[side], "I") for side, _ in sides]
    if [len(found) for found in numbers] != [n for _, n in sides]:
        raise _refused(
            name, f"runs on {count} devices and says in an older form how arrays lie on them",
            "files of jax 0.10 and later can be called",
        )  # fmt: skip
    known_meshes = t.each(_EXPORTED["unique_meshes"], lambda m: _mesh(m, count))
    named = [m for m in known_meshes if m.names]
    whole = Axes(("devices",), (count,), tuple(range(count)))
    meshes = tuple(named) or (whole,)
    known = t.each(_EXPORTED["unique_shardings"], lambda s: _place(s, known_meshes, meshes))
    places = [tuple(known[i - 1] if i else None for i in found) for found in numbers]
    return Spread(count, meshes, (), *places)


def _mesh(t: Table, count: int) -> Axes:
    sizes = t.numbers(0, "I")
    if math.prod(sizes) not in (1, count):
        raise struct.error(f"a mesh of sizes {sizes} of {count} devices")
    return Axes(tuple(t.texts(1)), sizes, tuple(range(math.prod(sizes))))


def _place(s: Table, known: list[Axes], meshes: tuple[Axes, ...]) -> Place:
    spec, mesh = s.table(1), known[s.number(3, "I")]
    if not mesh.names:  # of no mesh: whole on every device
        return Place(0, PartitionSpec())
    entries = [] if spec is None else spec.each(0, lambda e: tuple(e.texts(0)))
    return Place(meshes.index(mesh), PartitionSpec(*entries))


def _refused(name: str, what: str, known: str) -> errors.ExportError:
    return errors.ExportError(f"xcore.{_WHO}: {name}, exported by jax, {what}; {known}.")


def _avals(t: Table, name: str, which: str) -> tuple[ArrayType, ...]:
    """Types of arguments or results: listed, or by their indices among the distinct ones."""
    listed = t.each(_EXPORTED[f"{which}_avals"], lambda a: _type(a, name))
    numbers = t.numbers(_EXPORTED[f"{which}_avals_idxs"], "I")
    if not numbers:
        return tuple(listed)
    known = t.each(_EXPORTED["unique_avals"], lambda a: _type(a, name))
    return tuple(known[i] for i in numbers)


def _type(t: Table, name: str) -> ArrayType:
    sizes, dtype = t.texts(1), t.number(2, "b")
    if not all(s.isdecimal() for s in sizes):
        what = f"has symbolic shapes ({', '.join(sizes)})"
        raise _refused(name, what, "export it for shapes of numbers")
    if dtype in _KEYS:
        raise _refused(name, "takes or returns random keys", "pass jax.random.key_data(key)")
    if dtype not in _DTYPES:
        raise _refused(name, f"has a dtype of number {dtype}", f"{len(_DTYPES)} are known")
    return ArrayType(tuple(map(int, sizes)), dtype_named(_DTYPES[dtype]))


def _tree(t: Table | None, deep: int = 0) -> tree.PyTreeDef:
    if t is None or deep > _DEEP:
        raise struct.error("a structure that is missing, or without end")
    kind = _KINDS[t.number(0, "b")]
    children = t.each(1, lambda child: _tree(child, deep + 1))
    if kind == "leaf":
        return tree.structure(0)
    if kind == "none":
        return tree.structure(None)
    if kind == "custom":
        return structures.registered(t.text(3), t.raw(4), children, _WHO)
    keys = structures.plain(t.texts(2)) if kind == "dict" else None
    return structures.node(kind, keys, children, _WHO)
