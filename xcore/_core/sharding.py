"""Where an array lives: on one device, or cut into tiles over several.

Every sharding over several devices says one thing, ``tiles(ndim)``: which devices hold which tile.
From it follow the shapes and places of the pieces, what the runtime gets, and whether two
shardings are the same.
"""

# Users are told what they gave:

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._backend import client as backend
from .._backend import placements
from . import errors
from .mesh import AbstractMesh, Mesh, Name, PartitionSpec, current_mesh, with_devices

if TYPE_CHECKING:
    from .._backend.client import Device, OneDevice, Spread

Part = tuple[slice, ...]  # the index of a part of an array


class Sharding:
    """How an array is laid out over devices.

    ``devices`` are sorted by number. ``tiles(ndim)`` are places in ``devices``, in an array whose
    axes are those of the tiles and one more for the copies of each tile.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> isinstance(xnp.ones(3).sharding, xc.sharding.Sharding)
    True
    """

    __slots__ = ("__weakref__",)
    memory_kind = None
    devices: tuple[Device, ...]

    @property
    def _is_concrete(self) -> bool:
        """Attribute that jax reads on arrays passed to its ``*_like`` functions."""
        raise errors.given_to_jax("an array")

    @property
    def device_set(self) -> set[Device]:
        return set(self.devices)

    @property
    def num_devices(self) -> int:
        return len(self.devices)

    @property
    def addressable_devices(self) -> set[Device]:
        return set(local_devices(self.devices))

    @property
    def has_addressable_devices(self) -> bool:
        return bool(local_devices(self.devices))

    @property
    def is_fully_addressable(self) -> bool:
        return len(local_devices(self.devices)) == len(self.devices)

    @property
    def is_fully_replicated(self) -> bool:
        return False

    def tiles(self, ndim: int) -> np.ndarray:
        raise TypeError(f"{self!r} is not over several devices")

    def counts(self, ndim: int) -> tuple[int, ...]:
        """Into how many tiles each axis is cut."""
        return self.tiles(ndim).shape[:-1]

    def shard_shape(self, global_shape: Iterable[int]) -> tuple[int, ...]:
        """The shape of one device's part of an array."""
        shape = tuple(global_shape)
        return shape_of_tile(self, shape)

    def devices_indices_map(self, global_shape: Iterable[int]) -> dict[Device, Part]:
        """For each device the index (a tuple of slices) of its part of an array."""
        return dict(zip(self.devices, tile_indices(self, tuple(global_shape)), strict=True))

    def addressable_devices_indices_map(self, global_shape: Iterable[int]) -> dict[Device, Part]:
        here = self.addressable_devices
        return {d: i for d, i in self.devices_indices_map(global_shape).items() if d in here}

    def is_equivalent_to(self, other: Sharding, ndim: int) -> bool:
        """Whether both put the same parts of arrays of so many axes on the same devices."""
        return same_layout(self, other, ndim)

    def with_memory_kind(self, kind: str | None) -> Sharding:
        """The same in a kind of memory of its devices: their default one, where arrays live."""
        for device in self.devices[:1]:
            _check_memory(f"{type(self).__name__}.with_memory_kind", kind, device)
        return self

    def raw(self, ndim: int) -> OneDevice | Spread:
        """The runtime's object for this placement."""
        return runtime_sharding(self, ndim)

    def canonical(self) -> str:
        return repr(self)


class SingleDeviceSharding(Sharding):
    """The whole array on one device.

    >>> import xcore as xc
    >>> xc.SingleDeviceSharding(xc.devices()[0]).is_fully_replicated
    True
    """

    __slots__ = ("device", "devices")
    is_fully_replicated = True  # pyright: ignore[reportIncompatibleMethodOverride, reportAssignmentType]

    def __init__(self, device: Device, *, memory_kind: str | None = None) -> None:
        _check_memory("SingleDeviceSharding", memory_kind, device)
        self.device, self.devices = device, (device,)

    def __eq__(self, other: object) -> bool:
        return type(other) is SingleDeviceSharding and other.device == self.device

    def __hash__(self) -> int:
        return hash((SingleDeviceSharding, self.device))

    def __repr__(self) -> str:
        return f"SingleDeviceSharding(device={self.device!r})"

    def tiles(self, ndim: int) -> np.ndarray:
        return np.zeros((1,) * (ndim + 1), int)

    def raw(self, ndim: int = 0) -> OneDevice:
        return backend.one_device(self.device)


class NamedSharding(Sharding):
    """Array axes split over the axes of a mesh.

    Args:
      mesh: the devices; or an AbstractMesh, for which a mesh in the context stands in.
      spec: PartitionSpec, for each array axis the mesh axes over which it is split.

    >>> import xcore as xc
    >>> mesh = xc.make_mesh((1,), "x")
    >>> xc.NamedSharding(mesh, xc.P("x")).shard_shape((8, 2))
    (8, 2)
    """

    __slots__ = ("devices", "mesh", "spec")

    def __init__(
        self, mesh: Mesh | AbstractMesh, spec: PartitionSpec, *, memory_kind: str | None = None
    ) -> None:
        if not isinstance(mesh, (Mesh, AbstractMesh)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"xcore.NamedSharding: mesh must be a Mesh, given {errors.describe(mesh)}."
            )
        spec = spec if isinstance(spec, PartitionSpec) else _spec_of(spec)  # pyright: ignore[reportUnnecessaryIsInstance]
        _check_spec(mesh, spec)
        self.mesh, self.spec, self.devices = mesh, spec, ()
        if isinstance(mesh, Mesh):
            _check_memory("NamedSharding", memory_kind, mesh.devices.flat[0])
            self.devices = mesh.sorted_devices

    def __eq__(self, other: object) -> bool:
        return type(other) is NamedSharding and other.mesh == self.mesh and other.spec == self.spec

    def __hash__(self) -> int:
        return hash((self.mesh, self.spec))

    def __repr__(self) -> str:
        return f"NamedSharding(mesh={self.mesh!r}, spec={self.spec!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return NamedSharding, (self.mesh, self.spec)

    @property
    def is_fully_replicated(self) -> bool:
        return self.mesh.size_of(self.spec.names) == 1

    def axes(self, ndim: int) -> list[tuple[Name, ...] | None]:
        """For each array axis the names of mesh axes, or None where the compiler may choose."""
        if len(self.spec) > ndim:
            raise ValueError(
                f"xcore: the spec {self.spec} is for arrays of at least {len(self.spec)} axes, and this one "
                f"has {ndim}."
            )
        return self.spec.axes(ndim)

    def counts(self, ndim: int) -> tuple[int, ...]:
        return tuple(self.mesh.size_of(e or ()) for e in self.axes(ndim))

    def tiles(self, ndim: int) -> np.ndarray:
        if isinstance(self.mesh, AbstractMesh):
            raise ValueError(
                f"xcore: {self} has no devices; with a mesh: NamedSharding(mesh, spec)."
            )
        entries = [e or () for e in self.axes(ndim)]
        names = [n for e in entries for n in e]
        counts = [self.mesh.size_of(e) for e in entries]
        return self.mesh.groups(names).T.reshape(*counts, -1)

    def canonical(self) -> str:
        return f"{self.mesh.canonical()} {self.spec!r}"

    def with_spec(self, spec: Any) -> NamedSharding:
        return NamedSharding(self.mesh, spec)

    def update(
        self, *, mesh: Any = None, spec: Any = None, memory_kind: str | None = None
    ) -> NamedSharding:
        """The same with another mesh or spec."""
        mesh, spec = (a if b is None else b for a, b in ((self.mesh, mesh), (self.spec, spec)))
        return NamedSharding(mesh, spec, memory_kind=memory_kind)


def _spec_of(spec: Any) -> PartitionSpec:
    if spec is None or isinstance(spec, str):
        return PartitionSpec(spec) if spec else PartitionSpec()
    if isinstance(spec, tuple):
        return PartitionSpec(*spec)
    raise TypeError(
        f"xcore.NamedSharding: spec must be a PartitionSpec, given {errors.describe(spec)}."
    )


def _check_spec(mesh: Mesh | AbstractMesh, spec: PartitionSpec) -> None:
    names = spec.names
    unknown = [n for n in names if n not in mesh.axis_names]
    if unknown:
        raise ValueError(
            f"xcore: {spec} names the axis {unknown[0]!r}, but the mesh has the axes {mesh.axis_names}."
        )
    if len(set(names)) < len(names):
        raise ValueError(f"xcore: {spec} uses a mesh axis for more than one array axis.")


def _check_memory(who: str, kind: str | None, device: Device) -> None:
    if kind is not None and kind != device.default_memory().kind:
        raise ValueError(
            f"xcore.{who}: arrays live in the memory {device.default_memory().kind!r} of a device; "
            f"given memory_kind={kind!r}."
        )


class PositionalSharding(Sharding):
    """Devices in an array whose axes go with array axes. `reshape`, `replicate` and `T` rearrange it.

    An array with fewer axes goes with its last ones.

    >>> import xcore as xc
    >>> xc.sharding.PositionalSharding(xc.devices()[:1]).reshape(1, 1).replicate(0).shape
    (1, 1)
    """

    __slots__ = ("_tiles", "devices")

    def __init__(self, devices: Any, *, memory_kind: str | None = None, _tiles: Any = None) -> None:
        listed = np.array(devices, dtype=object)
        self.devices = tuple(sorted(listed.flat, key=lambda d: d.id))
        if _tiles is None:
            _check_memory("PositionalSharding", memory_kind, listed.flat[0])
            where = {d: i for i, d in enumerate(self.devices)}
            _tiles = np.asarray([where[d] for d in listed.flat]).reshape(*listed.shape, 1)
        self._tiles = np.sort(_tiles, -1)

    def _with(self, tiles: Any) -> PositionalSharding:
        return PositionalSharding(self.devices, _tiles=tiles)

    @property
    def shape(self) -> tuple[Any, ...]:
        return self._tiles.shape[:-1]

    @property
    def ndim(self) -> int:
        return self._tiles.ndim - 1

    def reshape(self, *shape: Any) -> PositionalSharding:
        """The same tiles in another shape."""
        whole: Any = shape[0] if len(shape) == 1 and np.iterable(shape[0]) else shape
        flat = np.arange(math.prod(self.shape)).reshape(cast("tuple[int, ...]", whole))
        return self._with(self._tiles.reshape(-1, self._tiles.shape[-1])[flat])

    def transpose(self, *axes: Any) -> PositionalSharding:
        given: Any = axes[0] if len(axes) == 1 and np.iterable(axes[0]) else axes
        axes = tuple(given) or tuple(range(self.ndim))[::-1]
        return self._with(self._tiles.transpose(*[a % self.ndim for a in axes], self.ndim))

    @property
    def T(self) -> PositionalSharding:
        return self.transpose()

    def replicate(self, axis: Any = None, keepdims: bool = True) -> PositionalSharding:
        """Copies instead of tiles along an axis (or several, or all)."""
        if axis is None:
            return self._with(self._tiles.reshape(-1))
        gone = sorted(a % self.ndim for a in (axis if np.iterable(axis) else (axis,)))
        kept = [a for a in range(self.ndim) if a not in gone]
        shape = [self.shape[a] for a in kept]
        tiles = self._tiles.transpose(*kept, *gone, self.ndim).reshape(*shape, -1)
        return self._with(np.expand_dims(tiles, gone) if keepdims else tiles)

    @property
    def is_fully_replicated(self) -> bool:
        return math.prod(self.shape) == 1

    def tiles(self, ndim: int) -> np.ndarray:
        extra = self.ndim - ndim
        if self.is_fully_replicated:
            return self._tiles.reshape((1,) * ndim + (-1,))
        if extra < 0 or any(n > 1 for n in self.shape[:extra]):
            raise ValueError(
                f"xcore: a PositionalSharding of shape {self.shape} does not fit arrays of {ndim} axes. "
                "Reshape it, or replicate the axes that the array does not have."
            )
        return self._tiles.reshape(*self.shape[extra:], -1)

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is PositionalSharding
            and other.devices == self.devices
            and np.array_equal(other._tiles, self._tiles)
        )

    def __hash__(self) -> int:
        return hash((self.devices, self._tiles.shape, self._tiles.tobytes()))

    def __repr__(self) -> str:
        listed: list[list[int]] = [
            [self.devices[int(i)].id for i in row]
            for row in self._tiles.reshape(-1, self._tiles.shape[-1])
        ]
        return f"PositionalSharding(shape={self.shape}, devices={listed})"  # fmt: skip

    def canonical(self) -> str:
        return f"{self.devices[0].platform} {self!r}"


# What follows from the tiles


@functools.lru_cache(maxsize=1024)
def local_devices(devices: tuple[Device, ...]) -> tuple[Device, ...]:
    """Those of this process."""
    if not devices:
        raise ValueError("xcore: a sharding over an AbstractMesh has no devices.")
    here = devices[0].client.process_index()
    return tuple(d for d in devices if d.process_index == here)


@functools.lru_cache(maxsize=4096)
def shape_of_tile(sharding: Sharding, shape: tuple[int, ...]) -> tuple[int, ...]:
    counts = sharding.counts(len(shape))
    for axis, (n, parts) in enumerate(zip(shape, counts, strict=True)):
        if n % parts:
            raise ValueError(
                f"xcore: axis {axis} of shape {shape} cannot be split into {parts} equal parts, as {sharding} "
                "asks. Pad the array, or split another axis."
            )
    return tuple(n // parts for n, parts in zip(shape, counts, strict=True))


@functools.lru_cache(maxsize=1024)
def tile_indices(sharding: Sharding, shape: tuple[int, ...]) -> tuple[Part, ...]:
    """For each device the index of its part, a tuple of slices."""
    sizes, tiles = shape_of_tile(sharding, shape), sharding.tiles(len(shape))
    out: list[Part] = [()] * len(sharding.devices)
    for place in np.ndindex(tiles.shape[:-1]):
        index = tuple(
            slice(None) if s == n else slice(p * s, (p + 1) * s)
            for p, s, n in zip(place, sizes, shape, strict=True)
        )
        for d in tiles[place]:
            out[d] = index
    return tuple(out)


@functools.lru_cache(maxsize=1024)
def copy_numbers(sharding: Sharding, ndim: int) -> tuple[int, ...]:
    """For each device which copy of its tile it holds."""
    tiles = sharding.tiles(ndim)
    numbers = np.empty(tiles.size, int)
    numbers[np.sort(tiles, -1)] = np.arange(tiles.shape[-1])
    return tuple(numbers.tolist())


@functools.lru_cache(maxsize=4096)
def same_layout(a: Sharding, b: Sharding, ndim: int) -> bool:
    if a.devices != b.devices:
        return False
    x, y = a.tiles(ndim), b.tiles(ndim)
    return x.shape == y.shape and np.array_equal(np.sort(x, -1), np.sort(y, -1))


@functools.lru_cache(maxsize=4096)
def runtime_sharding(sharding: Sharding, ndim: int) -> OneDevice | Spread:
    if len(sharding.devices) == 1:
        return backend.one_device(sharding.devices[0])
    return placements.spread(sharding.devices, np.sort(sharding.tiles(ndim), -1))


# Matching


def _strides(steps: np.ndarray) -> list[tuple[int, int]] | None:
    """(size, stride), outermost first, of a sequence that counts in mixed radix; None if it does not."""
    if len(steps) == 1:
        return []
    stride = steps[1] - steps[0]
    n = 1
    while n < len(steps) and steps[n] - steps[0] == n * stride:
        n += 1
    if len(steps) % n:
        return None
    outer = _strides(steps[::n])
    if outer is None:
        return None
    return [*outer, (n, stride)]


def axes_on(mesh: Mesh, tiles: np.ndarray) -> list[tuple[Name, ...]] | None:
    """For each array axis the mesh axes that lay tiles out like this; None if none do."""
    place = np.empty(mesh.size, int)
    place[mesh.positions().reshape(-1)] = np.arange(
        mesh.size
    )  # of a device in the mesh's own order
    steps = place[tiles]
    strides = [s // mesh.devices.itemsize for s in np.empty(mesh.devices.shape, object).strides]
    free = {
        (n, s): name
        for name, n, s in zip(mesh.axis_names, mesh.devices.shape, strides, strict=True)
        if n > 1
    }
    found: list[tuple[Name, ...]] = []
    for axis in range(tiles.ndim - 1):
        along = np.moveaxis(steps, axis, 0).reshape(tiles.shape[axis], -1)[:, 0]
        parts = _strides(along)
        names = None if parts is None else _axes_with_strides(parts, free)
        if names is None:
            return None
        found.append(names)
    again = NamedSharding(mesh, PartitionSpec(*found)).tiles(len(found))
    return found if np.array_equal(np.sort(again, -1), np.sort(tiles, -1)) else None


def _axes_with_strides(
    parts: list[tuple[int, int]], free: dict[tuple[int, int], Name]
) -> tuple[Name, ...] | None:
    """The mesh axes with these (size, stride) pairs, outermost first; adjacent nested axes count as one."""
    names: list[Name] = []
    for size, stride in parts:
        while size > 1:
            # the outermost axis inside this part: its extent reaches as far as the part's
            key = next((k for k in free if k[0] * k[1] == size * stride and k[0] <= size), None)
            if key is None:
                return None
            names.append(free.pop(key))
            size //= key[0]
    return tuple(names)


def simplest(tiles: np.ndarray, devices: tuple[Device, ...], meshes: Iterable[Mesh]) -> Sharding:
    """A sharding that lays out tiles like this, by the axes of one of the meshes if that can be."""
    for mesh in meshes:
        names = axes_on(mesh, tiles)
        if names is not None:
            while names and not names[-1]:
                names.pop()
            return NamedSharding(mesh, PartitionSpec(*names))
    return PositionalSharding(devices, _tiles=tiles)


# Defaults


def default_sharding() -> SingleDeviceSharding:
    return SingleDeviceSharding(backend.default_device())


def as_sharding(who: str, target: Any, ndim: int | None = None) -> Sharding:
    """A sharding from a sharding, a PartitionSpec (with the mesh of the context) or a device."""
    if isinstance(target, NamedSharding) and isinstance(target.mesh, AbstractMesh):
        return NamedSharding(with_devices(who, target.mesh), target.spec)
    if isinstance(target, Sharding):
        return target
    if isinstance(target, PartitionSpec):
        return NamedSharding(current_mesh(who), target)
    if hasattr(target, "platform") and hasattr(target, "client"):
        return SingleDeviceSharding(target)
    raise TypeError(
        f"xcore.{who}: expected a sharding (NamedSharding, PartitionSpec in `with mesh:`) or a device, given "
        f"{errors.describe(target)}."
    )


def is_placement(x: Any) -> bool:
    """Whether x says where arrays live (and so is a leaf of trees of such)."""
    return isinstance(x, (Sharding, PartitionSpec)) or x is None or hasattr(x, "platform")
