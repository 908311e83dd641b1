"""Types as JAX shows them: with where an array lies, and in its words."""

from __future__ import annotations

import enum
import functools

import numpy as np

from .._core import Array, ArrayType, ShapeDtypeStruct, Value, dtypes, errors, typeof
from .._core.mesh import AbstractMesh, AxisType, Mesh, PartitionSpec
from .._core.sharding import NamedSharding, SingleDeviceSharding
from ..numpy._types import DType
from ..random._keys import WORDS, KeyArray, KeyType


class MemorySpace(enum.Enum):
    """Where an array is: on its device, in all of what is shown here."""

    Device, Host, Any = range(3)


class SeenType(ArrayType):  # pyright: ignore[reportGeneralTypeIssues]
    """A type and the sharding that an array of it has, if it is an array and is spread over a mesh."""

    __slots__ = ("spec",)
    memory_space = MemorySpace.Device

    @property
    def sharding(self):  # pyright: ignore[reportIncompatibleVariableOverride]
        placed = self.spec
        if placed is None:
            return NamedSharding(AbstractMesh((), ()), PartitionSpec(*[None] * self.ndim))
        entries = (*placed.spec, *[None] * (self.ndim - len(placed.spec)))
        return NamedSharding(placed.mesh.abstract_mesh, PartitionSpec(*entries))

    def __eq__(self, other) -> bool:
        return isinstance(other, ArrayType) and other.type is self.type

    def __hash__(self) -> int:
        return hash(self.type)

    def __str__(self) -> str:
        return f"{'~' if self.weak else ''}{_name(self.dtype)}[{','.join(self._sizes())}]"

    def _sizes(self):
        placed, explicit = self.spec, ()
        if placed is not None:
            explicit = placed.mesh.explicit_axes
        spec = placed.spec.axes(self.ndim) if explicit else [()] * self.ndim
        for n, names in zip(self.shape, spec):
            kept = [str(a) for a in names or () if a in explicit]
            if len(kept) > 1:
                yield f"{n}@({','.join(kept)})"
            else:
                yield f"{n}@{kept[0]}" if kept else str(n)

    def __reduce__(self):
        return seen, (self.type,)


def _words(t) -> str:
    sizes = ",".join(t._sizes() if isinstance(t, SeenType) else map(str, t.shape))
    return f"ShapedArray({_name(t.dtype)}[{sizes}]{', weak_type=True' if t.weak else ''})"


def _name(dtype) -> str:
    return "float0" if dtype == dtypes.float0 else dtype.name


def seen(t, placed=None) -> SeenType:
    """The type in JAX's words."""
    found = object.__new__(SeenType)
    for name in ("shape", "dtype", "ndim", "size", "weak", "weak_type"):
        setattr(found, name, getattr(t, name))
    found.type, found.spec = t.type, placed if isinstance(placed, NamedSharding) else None
    return found


def typeof_(x) -> SeenType:
    """``jax.typeof``: shape, dtype, and for arrays the sharding."""
    if isinstance(x, KeyArray):
        return _of_keys(x)
    t = typeof(x)
    if t.dtype.kind in "OSU":
        raise errors.not_an_array("typeof", x)
    if dtypes.at_width(t.dtype) is not t.dtype and not isinstance(x, Value):
        t = ArrayType(t.shape, dtypes.at_width(t.dtype), t.weak)  # as it would come in
    return seen(t, getattr(x, "sharding", None))


def _of_keys(x: KeyArray) -> SeenType:
    return type_of_keys(x.shape, x.dtype, getattr(x._data, "sharding", None))


def type_of_keys(shape, dtype: KeyType, placed=None) -> SeenType:
    """The type of keys, whose elements programs see as two numbers each."""
    found = seen(ArrayType((*shape, WORDS), dtypes.uint32), placed)
    found.shape, found.dtype = tuple(shape), dtype  # pyright: ignore[reportAttributeAccessIssue]
    found.ndim, found.size = len(found.shape), found.size // WORDS
    return found


def _mesh_axes(mesh) -> str:
    types = ", ".join(t.name for t in mesh.axis_types)
    sizes = ", ".join(f"{n!r}: {s}" for n, s in mesh.shape.items())
    return f"{sizes or '()'}, axis_types=({types}{',' if len(mesh.axis_types) == 1 else ''})"


def _spec(self) -> str:
    return f"P({', '.join(map(repr, self))}{',' if len(self) == 1 else ''})"


def open_words() -> None:
    """Shardings, meshes and types are shown in JAX's words while ``jax`` is xcore."""
    shown = {
        PartitionSpec: _spec,
        Mesh: lambda m: f"Mesh({_mesh_axes(m)})",
        AbstractMesh: lambda m: f"AbstractMesh({_mesh_axes(m)})",
        NamedSharding: lambda s: (
            f"NamedSharding(mesh={s.mesh!r}, spec={s.spec!r}{', memory_kind=device' * bool(s.devices)})"
        ),
        AxisType: lambda t: t.name,
        SingleDeviceSharding: lambda s: (
            f"SingleDeviceSharding(device={s.device!r}, memory_kind=device)"
        ),
        ShapeDtypeStruct: _struct,
    }
    ShapeDtypeStruct.__new__ = _struct_or_keys
    ShapeDtypeStruct.__init__ = _keep_width(ShapeDtypeStruct.__init__)
    ShapeDtypeStruct.type = property(  # pyright: ignore[reportAttributeAccessIssue]
        lambda s: ArrayType(s.shape, dtypes.at_width(s.dtype), s.weak_type)
    )
    for cls, words in shown.items():
        cls.__repr__ = cls.__str__ = words  # pyright: ignore[reportAttributeAccessIssue]
    DType.__hash__ = lambda t: hash(t.dtype.type)  # pyright: ignore  (np.int32 in {jnp.int32})
    ArrayType.__repr__ = _words  # pyright: ignore[reportAttributeAccessIssue]
    Array.aval = KeyArray.aval = property(typeof_)  # pyright: ignore[reportAttributeAccessIssue]


def _struct_or_keys(cls, shape=(), dtype=None, **more):
    """A struct; of keys, keys whose data is one: they count as instances of the class, too."""
    if not isinstance(dtype, KeyType):
        return object.__new__(cls)
    placed = more.get("sharding")
    return KeyArray(ShapeDtypeStruct((*shape, WORDS), dtypes.uint32, sharding=placed), dtype.stream)


def _keep_width(init):
    """A struct made so shows the dtype that it was given; programs see it at the width of the settings."""

    @functools.wraps(init)
    def made(self, shape, dtype, **more):
        init(self, shape, dtype, **more)
        given = np.dtype(dtype) if isinstance(dtype, type) else dtypes.named(dtype)
        if given != self.dtype and dtypes.at_width(given) == self.dtype:
            self.dtype = given

    return made


def _struct(s) -> str:
    placed = f", sharding={s.sharding!r}" if s.sharding is not None else ""
    return f"ShapeDtypeStruct(shape={s.shape}, dtype={s.dtype.name}{', weak_type=True' if s.weak_type else ''}{placed})"
