"""Meshes: devices in an array whose axes have names, and how array axes go over mesh axes."""

from __future__ import annotations

import enum
import functools
import math
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from .._backend import client as backend
from . import config, errors

if TYPE_CHECKING:
    from .._backend.client import Device

    NDArray = np.ndarray[Any, Any]
    Devices = NDArray | Sequence[Any] | Device  # an array, nested lists, or one device

Name = Hashable
Names = str | Iterable[Hashable]
_NONE: frozenset[Name] = frozenset()


class AxisType(enum.Enum):
    """Who spreads work over a mesh axis: the compiler (Auto), or shard_map (Manual).

    Explicit is an axis for which the program says where results lie (``reshard``, ``out_sharding=``);
    what it does not say is the compiler's choice here too, so types do not tell of it.

    >>> import xcore as xc
    >>> xc.make_mesh((1,), ("i",), axis_types=(xc.sharding.AxisType.Auto,)).axis_types
    (<AxisType.Auto: 'auto'>,)
    """

    Auto = "auto"
    Explicit = "explicit"
    Manual = "manual"


AxisTypes = AxisType | Sequence[AxisType] | None


class _Unconstrained:
    """The entry of a spec that leaves an axis to the compiler."""

    def __repr__(self) -> str:
        return "UNCONSTRAINED"


UNCONSTRAINED = _Unconstrained()


class PartitionSpec(tuple[Any, ...]):
    """Over which mesh axes each array axis is split: a name, several names, or None for none.

    Array axes that it does not mention are not split. ``unreduced`` names mesh axes over which a sum
    is still to be taken; it is kept for programs that ask for it, and placing an array ignores it.

    >>> import xcore as xc
    >>> xc.P("x", None, ("y", "z"))
    PartitionSpec('x', None, ('y', 'z'))
    """

    UNCONSTRAINED = UNCONSTRAINED
    unreduced: frozenset[Name]

    def __new__(cls, *entries: Any, unreduced: Iterable[Name] = frozenset()) -> Self:
        self = super().__new__(cls, [_entry(e) for e in entries])
        self.unreduced = frozenset(unreduced)
        return self

    def __eq__(self, other: object) -> bool:
        if super().__eq__(other) is not True:  # NotImplemented of what is no tuple
            return False
        return self.unreduced == getattr(other, "unreduced", _NONE)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

    def __repr__(self) -> str:
        more = f", unreduced={set(self.unreduced)}" if self.unreduced else ""
        return f"PartitionSpec({', '.join(map(repr, self))}{more})"

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(PartitionSpec, unreduced=self.unreduced), tuple(self)

    def __add__(self, other: Iterable[Any]) -> PartitionSpec:  # pyright: ignore[reportIncompatibleMethodOverride]
        more: frozenset[Name] = getattr(other, "unreduced", _NONE)
        return PartitionSpec(*self, *other, unreduced=self.unreduced | more)

    def axes(self, ndim: int) -> list[tuple[Name, ...] | None]:
        """For each array axis the names of mesh axes, or None where the compiler may choose."""
        named = [None if e is UNCONSTRAINED else _names(e) for e in self]
        return [*named, *[()] * (ndim - len(named))]

    @property
    def names(self) -> tuple[Name, ...]:
        """All names it mentions."""
        return tuple(n for e in self if e is not UNCONSTRAINED for n in _names(e))


def _entry(e: Any) -> Any:
    if not isinstance(e, (tuple, list)):
        return e
    several = tuple(cast("Sequence[Name]", e))
    return several if len(several) > 1 else several[0] if several else None


def _names(entry: Any) -> tuple[Name, ...]:
    if entry is None:
        return ()
    return cast("tuple[Name, ...]", entry) if isinstance(entry, tuple) else (entry,)


_interned: dict[tuple[Any, ...], Mesh] = {}


class _Axes:
    """Attributes of meshes about their axes, which are all Auto here."""

    __slots__ = ()
    axis_names: tuple[Name, ...]
    axis_types: tuple[AxisType, ...]
    are_all_axes_manual = False
    manual_axes = ()

    @property
    def are_all_axes_auto(self) -> bool:
        return bool(self.axis_names) and not self.explicit_axes

    @property
    def are_all_axes_explicit(self) -> bool:
        return bool(self.axis_names) and not self.auto_axes

    @property
    def auto_axes(self) -> tuple[Name, ...]:
        return self._of_type(AxisType.Auto)

    @property
    def explicit_axes(self) -> tuple[Name, ...]:
        return self._of_type(AxisType.Explicit)

    def _of_type(self, wanted: AxisType) -> tuple[Name, ...]:
        return tuple(
            n for n, t in zip(self.axis_names, self.axis_types, strict=True) if t is wanted
        )

    def _types_repr(self) -> str:
        """The axis types for the repr; empty where all have the default."""
        if not self.explicit_axes:
            return ""
        return f", axis_types=({', '.join(t.name for t in self.axis_types)})"


class Mesh(_Axes):
    """Devices in an array whose axes have names. Equal meshes are the same object.

    As a context manager it is the mesh that bare PartitionSpecs mean.

    Args:
      devices: array of devices, nested lists of them, or one device.
      axis_names: a name for each of its axes.

    >>> import xcore as xc
    >>> mesh = xc.sharding.Mesh(xc.devices()[:1], ("x",))
    >>> dict(mesh.shape)
    {'x': 1}
    """

    __slots__ = ("_contexts", "_device_key", "axis_names", "axis_types", "devices")

    devices: NDArray
    axis_names: tuple[Name, ...]
    _device_key: tuple[Device, ...]
    _contexts: list[AbstractContextManager[None]]

    def __new__(cls, devices: Devices, axis_names: Names, *, axis_types: AxisTypes = None) -> Mesh:
        devices = _device_array(devices)
        names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        _check(devices, names)
        types = _axis_types(axis_types, len(names))
        key = tuple(devices.flat), devices.shape, names, types
        found = _interned.get(key)
        if found is not None:
            return found
        self = object.__new__(cls)
        devices.flags.writeable = False
        self.devices, self.axis_names, self._device_key, self._contexts = devices, names, key[0], []
        self.axis_types = types
        return _interned.setdefault(key, self)

    @property
    def shape(self) -> OrderedDict[Name, int]:
        return OrderedDict(zip(self.axis_names, self.devices.shape, strict=True))

    @property
    def axis_sizes(self) -> tuple[int, ...]:
        return self.devices.shape

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """Its axes without its devices."""
        return AbstractMesh(self.axis_sizes, self.axis_names, self.axis_types)

    @property
    def size(self) -> int:
        return self.devices.size

    @property
    def empty(self) -> bool:
        return not self.devices.size

    @property
    def device_ids(self) -> NDArray:
        return np.asarray([d.id for d in self._device_key], int).reshape(self.devices.shape)

    @property
    def local_devices(self) -> list[Device]:
        here = self.devices.flat[0].client.process_index()
        return [d for d in self.devices.flat if d.process_index == here]

    @property
    def is_multi_process(self) -> bool:
        return len({d.process_index for d in self.devices.flat}) > 1

    @property
    def sorted_devices(self) -> tuple[Device, ...]:
        """The devices by number: the order in which everything below a mesh knows them."""
        return tuple(sorted(self._device_key, key=lambda d: d.id))

    def positions(self) -> NDArray:
        """Each device's place among the sorted ones, in the shape of the mesh."""
        where = {d: i for i, d in enumerate(self.sorted_devices)}
        return np.asarray([where[d] for d in self._device_key]).reshape(self.devices.shape)

    def groups(self, names: Iterable[Name]) -> NDArray:
        """Places of devices that differ along the named axes only, a row for each group."""
        last = [self.axis_names.index(n) for n in names]
        first = [i for i in range(len(self.axis_names)) if i not in last]
        n = math.prod(self.devices.shape[i] for i in last)
        return self.positions().transpose(first + last).reshape(-1, n)

    def size_of(self, names: Iterable[Name]) -> int:
        """The product of the sizes of the named axes."""
        shape = self.shape
        return math.prod(shape[n] for n in names)

    def canonical(self) -> str:
        ids = ",".join(str(d.id) for d in self._device_key)
        return f"mesh[{self.axis_names} {self.devices.shape} {self._device_key[0].platform} {ids}]"

    def __repr__(self) -> str:
        sizes = ", ".join(f"{n!r}: {s}" for n, s in self.shape.items())
        return f"Mesh({sizes}{self._types_repr()})"

    def __hash__(self) -> int:
        return id(self) >> 4

    def __reduce__(self) -> tuple[Any, ...]:
        platform = self.devices.flat[0].platform
        return _restore_mesh, (self.device_ids, self.axis_names, platform, self.axis_types)

    def __enter__(self) -> Self:
        self._contexts.append(config.override(mesh=self))
        self._contexts[-1].__enter__()
        return self

    def __exit__(self, *exc: Any) -> bool | None:
        return self._contexts.pop().__exit__(*exc)


class AbstractMesh(_Axes):
    """The axes of a mesh without devices: what is needed to say how arrays will be split.

    Where a mesh with devices is needed, the one of the context stands in for it, if its axes are these.

    Args:
      axis_sizes: sizes of the axes.
      axis_names: a name for each.

    >>> import xcore as xc
    >>> mesh = xc.sharding.AbstractMesh((4, 2), ("x", "y"))
    >>> xc.NamedSharding(mesh, xc.P("x")).shard_shape((8, 3))
    (2, 3)
    """

    __slots__ = ("axis_names", "axis_sizes", "axis_types")

    def __init__(
        self, axis_sizes: int | Iterable[int], axis_names: Names, axis_types: AxisTypes = None
    ) -> None:
        sizes = tuple(axis_sizes) if isinstance(axis_sizes, Iterable) else (axis_sizes,)
        names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        if len(sizes) != len(names) or len(set(names)) < len(names):
            raise ValueError(
                f"xcore.AbstractMesh: need a name of its own for each of the axes {sizes}, given {names}."
            )
        self.axis_sizes, self.axis_names = tuple(map(int, sizes)), names
        self.axis_types = _axis_types(axis_types, len(names))

    @property
    def shape(self) -> OrderedDict[Name, int]:
        return OrderedDict(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def size(self) -> int:
        return math.prod(self.axis_sizes)

    @property
    def empty(self) -> bool:
        return not self.axis_names or not self.size

    @property
    def abstract_mesh(self) -> AbstractMesh:
        return self

    def size_of(self, names: Iterable[Name]) -> int:
        """The product of the sizes of the named axes."""
        shape = self.shape
        return math.prod(shape[n] for n in names)

    def update(
        self, axis_sizes: Iterable[int] | None = None, axis_names: Names | None = None,
        axis_types: AxisTypes = None,
    ) -> AbstractMesh:  # fmt: skip
        """The same with other sizes, or other names, or other types."""
        sizes = self.axis_sizes if axis_sizes is None else axis_sizes
        names = self.axis_names if axis_names is None else axis_names
        return AbstractMesh(sizes, names, self.axis_types if axis_types is None else axis_types)

    def __eq__(self, other: object) -> bool:
        return type(other) is AbstractMesh and other._key == self._key

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.axis_names, self.axis_sizes, self.axis_types

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{n!r}: {s}" for n, s in self.shape.items())
        return f"AbstractMesh({sizes}{self._types_repr()})"

    def canonical(self) -> str:
        return repr(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return AbstractMesh, self._key[1::-1] + self._key[2:]


def with_devices(who: str, mesh: Mesh | AbstractMesh) -> Mesh:
    """The mesh itself; of axes without devices the mesh of the context that has them."""
    if isinstance(mesh, Mesh):
        return mesh
    here = config.settings().mesh
    if here is None or here.shape != mesh.shape:
        raise ValueError(
            f"xcore.{who}: {mesh} has no devices, and the mesh of the context is {here}. Call it in "
            "`with mesh:` of a mesh with these axes (xc.make_mesh)."
        )
    return here


def _restore_mesh(ids: NDArray, names: Names, platform: str, types: AxisTypes = None) -> Mesh:
    known = {d.id: d for d in backend.client(platform).devices()}
    found: NDArray = np.empty(ids.size, object)
    found[:] = [known[i] for i in ids.flat]
    return Mesh(found.reshape(ids.shape), names, axis_types=types)


def _device_array(devices: Devices) -> NDArray:
    listed: NDArray = np.array(devices, dtype=object)
    return listed if listed.ndim else listed.reshape(1)


def _check(devices: NDArray, names: tuple[Name, ...]) -> None:
    if devices.ndim != len(names):
        raise ValueError(
            f"xcore.Mesh: need a name for each of the {devices.ndim} axes of the devices, given {names}."
        )
    if len(set(names)) < len(names):
        raise ValueError(f"xcore.Mesh: axis names must differ, given {names}.")
    strange = [d for d in devices.flat if not hasattr(d, "process_index")]
    if strange:
        raise TypeError(
            f"xcore.Mesh: expected devices (see xc.devices()), given {errors.describe(strange[0])}."
        )
    if len(set(devices.flat)) < devices.size:
        raise ValueError("xcore.Mesh: a device stands in it twice.")


def _axis_types(types: AxisTypes, n: int) -> tuple[AxisType, ...]:
    """A type for each of n axes."""
    found = tuple(types) if isinstance(types, Sequence) else (types or AxisType.Auto,) * n
    for t in found:
        if t not in (AxisType.Auto, AxisType.Explicit):
            raise ValueError(
                f"xcore.Mesh: axis types are AxisType.Auto or Explicit, given {t}. Axes become manual in "
                "shard_map, by its argument axis_names."
            )
    if len(found) != n:
        raise ValueError(f"xcore.Mesh: need a type for each of the {n} axes, given {found}.")
    return found


def _more(devices: Sequence[Device]) -> str:
    if devices and devices[0].platform != "cpu":
        return "Of a topology, ask for more: xc.topology(kind, count), or fits --device kind:count."
    return "On the CPU the environment variable XCORE_NUM_CPU_DEVICES says how many there are."


def make_mesh(
    axis_shapes: int | Iterable[int], axis_names: Names, axis_types: AxisTypes = None, *,
    devices: Iterable[Device] | None = None,
) -> Mesh:  # fmt: skip
    """A mesh of the given shape of all devices, or of the first ones.

    Args:
      axis_shapes: sizes of the axes.
      axis_names: their names.
      axis_types: ``AxisType.Auto`` for each axis, which is also what None means, or ``Explicit``.
      devices: which devices; all of the default platform if None.

    >>> import xcore as xc
    >>> xc.make_mesh((1, 1), ("x", "y"))
    Mesh('x': 1, 'y': 1)
    """
    shape = tuple(axis_shapes) if isinstance(axis_shapes, Iterable) else (axis_shapes,)
    devices = backend.devices() if devices is None else list(devices)
    n = math.prod(shape)
    if n > len(devices):
        raise ValueError(
            f"xcore.make_mesh: a mesh of shape {shape} needs {n} devices, there are {len(devices)}. {_more(devices)}"
        )
    listed = np.empty(n, dtype=object)
    listed[:] = devices[:n]
    return Mesh(listed.reshape(shape), axis_names, axis_types=axis_types)


def current_mesh(who: str) -> Mesh:
    """The mesh of the context, or an error."""
    mesh = config.settings().mesh
    if mesh is None:
        raise ValueError(
            f"xcore.{who}: a PartitionSpec alone needs a mesh: call it in `with mesh:` or after "
            "xc.set_mesh(mesh), or pass NamedSharding(mesh, spec)."
        )
    return mesh


class set_mesh:
    """Make a mesh the one that bare PartitionSpecs mean: from now on, or in a ``with`` block.

    >>> import xcore as xc
    >>> with xc.set_mesh(xc.make_mesh((1,), "x")):
    ...     xc.get_mesh()
    Mesh('x': 1)
    """

    def __init__(self, mesh: Mesh | None) -> None:
        self.before = config.base().mesh
        config.update("mesh", mesh)

    def __enter__(self) -> Mesh | None:
        return config.settings().mesh

    def __exit__(self, *exc: Any) -> None:
        config.update("mesh", self.before)


def use_mesh(mesh: Mesh) -> AbstractContextManager[None]:
    """``with use_mesh(mesh):`` makes it the one that bare PartitionSpecs mean, in this thread.

    Args:
      mesh: a ``Mesh``, such as ``make_mesh`` makes.

    >>> import xcore as xc
    >>> mesh = xc.make_mesh((1,), "x", devices=xc.devices("cpu"))
    >>> with xc.sharding.use_mesh(mesh):
    ...     xc.get_mesh() == mesh
    True
    """
    return config.override(mesh=mesh)


def get_mesh() -> Mesh | None:
    """The mesh that bare PartitionSpecs mean here; None if there is none.

    >>> import xcore as xc
    >>> xc.get_mesh() is None
    True
    """
    return config.settings().mesh
