"""Array: a device buffer and its type. Immutable."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .._backend import client as backend
from . import dtypes, errors, host
from .compile import placed, translate
from .config import KEPT
from .findings import check_read, pending
from .keys import exact, has_zero
from .notebook import shown
from .shard_buffers import gather, local_indices, scatter
from .sharding import Sharding, copy_numbers, default_sharding, tile_indices
from .types import ArrayType, Placed, Value

if TYPE_CHECKING:
    from .typing import DTypeLike

    NDArray = np.ndarray[Any, Any]

_put = backend.put


class _CountsAsArray(type):
    """Makes ``isinstance(x, Array)`` true for traced values and for arrays of random keys too."""

    def __instancecheck__(cls, x: object) -> bool:
        return getattr(type(x), "_counts_as_array", False)

    def __subclasscheck__(cls, other: type) -> bool:
        return getattr(other, "_counts_as_array", False)


class Array(Value, metaclass=_CountsAsArray):
    """An immutable n-dimensional array on a device.

    Made by ``xnp.asarray``, ``xnp.zeros`` and the like, never by calling this class. Operators and
    NumPy methods work; ``x.at[index].set(value)`` returns a changed copy. While a function is being
    traced its arrays are of other classes, of which ``isinstance(x, xc.Array)`` holds as well;
    ``type(x) is xc.Array`` holds of arrays with values alone.

    >>> import xcore.numpy as xnp
    >>> xnp.asarray([1.0, 2.0]) + 1
    Array([2., 3.], dtype=float32)
    """

    __slots__ = ("__weakref__", "_b", "_c", "_h", "_n", "_t")
    __module__ = "xcore"  # where users find it
    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride]
    __array_priority__ = 100  # NumPy arrays on the left of an operator leave it to us

    _b: Any  # the runtime's buffer; None while the value in NumPy is all there is
    _h: Any  # the value in NumPy, of some small arrays on a CPU
    _c: int | None  # how tame the numbers of that are (`host.tameness`), where it is known; or LENT
    _n: tuple[
        int, Any
    ]  # of some 0-d arrays that were made of a number: in which `host.moment`, and the number
    _t: ArrayType | Placed

    def __init__(self, buffer: Any, placed: ArrayType | Placed) -> None:
        self._b, self._t, self._h = buffer, placed, None

    # What it is

    @property
    def type(self) -> ArrayType:
        return self._t.type

    @property
    def shape(self) -> tuple[int, ...]:
        return self._t.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._t.dtype

    @property
    def ndim(self) -> int:
        return self._t.ndim

    @property
    def size(self) -> int:
        return self._t.size

    @property
    def itemsize(self) -> int:
        return self._t.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self._t.size * self._t.dtype.itemsize

    @property
    def weak_type(self) -> bool:
        return self._t.weak

    @property
    def sharding(self) -> Sharding:
        return self._t.sharding or default_sharding()

    @property
    def device(self) -> Any:
        """The device the array is on, or its sharding if it is on several."""
        devices = self.sharding.devices
        return devices[0] if len(devices) == 1 else self.sharding

    def devices(self) -> set[Any]:
        return self.sharding.device_set

    @property
    def committed(self) -> bool:
        """Whether the user chose the device (then it is not moved to meet other arrays)."""
        return type(self._t) is Placed and self._t.committed

    # Its parts

    @property
    def is_fully_addressable(self) -> bool:
        """Whether all of its devices belong to this process."""
        return self.sharding.is_fully_addressable

    @property
    def is_fully_replicated(self) -> bool:
        """Whether every device holds the whole array."""
        return self.sharding.is_fully_replicated

    @property
    def addressable_shards(self) -> list[Shard]:
        """The parts on the devices of this process."""
        sharding, shape = self.sharding, self.shape
        held = [
            (d, i, b)
            for (d, i), b in zip(local_indices(sharding, shape), self._buffers(), strict=True)
        ]
        copies = dict(zip(sharding.devices, copy_numbers(sharding, self.ndim), strict=True))
        part = ArrayType(sharding.shard_shape(shape), self.dtype, self.weak_type)
        return [Shard(d, i, copies[d], Array(b, placed(part, d))) for d, i, b in held]

    @property
    def global_shards(self) -> list[Shard]:
        """The parts on all devices; those of other processes have no data here."""
        here = {s.device: s for s in self.addressable_shards}
        sharding = self.sharding
        copies = copy_numbers(sharding, self.ndim)
        indices = tile_indices(sharding, self.shape)
        everywhere = zip(sharding.devices, indices, copies, strict=True)
        return [here.get(d) or Shard(d, i, c, None) for d, i, c in everywhere]

    def addressable_data(self, index: int) -> Array:
        """The part on one of the devices of this process."""
        data = self.addressable_shards[index].data
        assert data is not None, "the parts of this process are here"
        return data

    def _buffers(self) -> list[Any]:
        """The buffers of the parts on the devices of this process."""
        buffer = self._live_buffer()
        return [buffer] if len(self.sharding.devices) == 1 else backend.shards(buffer)

    def _live_buffer(self) -> Any:
        """The buffer; an error if it was donated or deleted."""
        buffer = self._buffer()
        if buffer.is_deleted():
            raise errors.deleted_array(self.type)
        return buffer

    def _buffer(self) -> Any:
        """The buffer, copied from the NumPy value where there is none yet."""
        if self._b is None:
            self._b = _put(np.asarray(self._h), self._t, backend.default_device())
        return self._b

    def _donated_buffer(self) -> Any:
        """The buffer, for a call that it is donated to: the NumPy value is dropped."""
        buffer, self._h = self._buffer(), None
        return buffer

    def _writable_buffer(self) -> Any:
        """The buffer, for code outside that may write to it: no NumPy value is kept beside it from now on."""
        buffer = self._live_buffer()
        self._h, self._c = None, host.LENT
        return buffer

    # Its content

    def _host(self) -> NDArray:
        """A read-only view or copy of the content in host memory. Waits for it."""
        if pending:
            check_read(self)
        return self._content()

    def _content(self) -> NDArray:
        if self._h is not None:
            return host.for_users(self)
        try:
            if type(self._t) is Placed and len(self._t.sharding.devices) > 1:
                return gather(self._buffers(), self._t.type, self._t.sharding)
            return backend.to_host(self._buffer())
        except backend.RuntimeFailure as e:
            raise translate(e, [self]) from None

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray:
        value = self._host()
        if dtype is None and not copy:
            return value
        if dtype is not None and np.dtype(dtype) != value.dtype:
            if copy is False:
                raise ValueError(
                    f"A copy is needed to give {self.type} as {np.dtype(dtype)}; copy=False forbids it."
                )
            return value.astype(dtype)
        return value.copy() if copy else value

    def __buffer__(self, flags: int, /) -> memoryview:
        """``memoryview(x)``, from Python 3.12 on: what is in host memory, to be read only."""
        if flags & 1:  # PyBUF_WRITABLE
            raise BufferError(f"xcore: {self.type} cannot be written to; np.array(x) is a copy.")
        # NumPy asks too, and then goes on: nothing is formatted for it
        if self.dtype.isbuiltin == 2:
            raise BufferError(
                "xcore: Python has no buffers of bfloat16 and other dtypes not of NumPy."
            )
        return memoryview(self._host())  # pyright: ignore[reportArgumentType]

    def __jax_array__(self) -> NDArray:
        return self._host()

    def __dlpack__(
        self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None, copy: bool | None = None,
    ) -> Any:  # fmt: skip
        if copy:
            return self.copy().__dlpack__()
        if len(self.sharding.devices) > 1:
            raise BufferError(
                f"xcore: {self.type} lies on {len(self.sharding.devices)} devices, DLPack speaks of one. Move it "
                "with xc.device_put(x, device), or take x.addressable_shards[i].data."
            )
        try:
            return backend.to_dlpack(self._writable_buffer())
        except backend.RuntimeFailure as e:
            raise translate(e, [self]) from None

    def __dlpack_device__(self) -> tuple[int, int]:
        return (
            (1, 0)
            if self.sharding.devices[0].platform == "cpu"
            else (2, self.device.local_hardware_id)
        )

    def item(self, *index: int) -> Any:
        """The element (the only one, or the one at an index) as a Python scalar."""
        return self._host().item(*index)

    def tolist(self) -> Any:
        return self._host().tolist()

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"The truth value of an array with {self.size} elements is ambiguous. Use .any() or .all()."
            )
        value = self._h
        return bool(self._host() if value is None or pending else value)

    def _scalar(self, to: type[Any]) -> Any:
        if self.size != 1:
            raise TypeError(
                f"Only arrays of one element can become a Python {to.__name__}; this is {self.type}."
            )
        if to is not complex and dtypes.is_complex(self.dtype):
            raise TypeError(
                f"A complex array does not become a Python {to.__name__}; take .real or abs() first."
            )
        value = self._h
        if value is None or pending:
            value = self._host()
        return to(value.item())

    def __int__(self) -> int:
        return self._scalar(int)

    def __float__(self) -> float:
        return self._scalar(float)

    def __complex__(self) -> complex:
        return self._scalar(complex)

    def __index__(self) -> int:
        if self.ndim or not (dtypes.is_integer(self.dtype) or self.dtype == bool):
            raise TypeError(f"Only 0-d integer arrays can be an index; this is {self.type}.")
        return self._scalar(int)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of a 0-d array")
        return self.shape[0]

    if not TYPE_CHECKING:  # for checkers there is none, so that they find it

        def __setitem__(self, index: Any, value: Any):
            raise errors.item_assignment()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (np.asarray(self._host()), self._t.weak)

    def __copy__(self) -> Array:
        return self

    def __deepcopy__(self, memo: Any) -> Array:
        return self.copy()

    def copy(self) -> Array:
        """An array with its own buffer."""
        if not self.is_fully_addressable:
            parts = [s.data.copy()._buffer() for s in self.addressable_shards if s.data is not None]
            return Array(
                backend.assemble(self._t.type, self.sharding.raw(self.ndim), parts), self._t
            )
        return from_host(self._host(), self._t)

    # As text

    def __repr__(self) -> str:
        if self.is_deleted():
            return f"Array(<deleted>, shape={self.shape}, dtype={self.dtype.name})"
        tail = f"dtype={self.dtype.name}" + (", weak_type=True)" if self._t.weak else ")")
        if not self.size:
            return (
                f"Array([], shape={self.shape}, {tail}"
                if self.shape != (0,)
                else f"Array([], {tail}"
            )
        if not (self.is_fully_addressable or self.is_fully_replicated):
            return f"Array({self.type}, sharding={self.sharding})"
        body = np.array2string(self._host(), separator=", ", prefix="Array(", suffix=",")
        width = len(body) - body.rfind("\n") - 1 + (0 if "\n" in body else len("Array("))
        gap = "\n" + " " * len("Array(") if width + len(tail) > 78 else " "
        return f"Array({body},{gap}{tail}"

    def _repr_html_(self) -> str:
        """For notebooks."""
        if self.is_deleted() or not (self.is_fully_addressable or self.is_fully_replicated):
            return shown("Array", text=repr(self))
        dims = " × ".join(map(str, self.shape)) or "a number"
        on = ", ".join(sorted(map(str, self.devices())))
        return shown(f"Array {dims}, {self.dtype.name}, {on}", text=np.array2string(self._host()))

    def __str__(self) -> str:
        if self.is_deleted() or not (self.is_fully_addressable or self.is_fully_replicated):
            return repr(self)
        return str(self._host())

    def __format__(self, spec: str) -> str:
        return format(self._host()[()] if self.ndim == 0 else self._host(), spec)

    # Its buffer

    def block_until_ready(self) -> Array:
        """Wait until the content is computed. Returns the array."""
        if self._b is None:
            return self
        try:
            backend.block_until_ready([self._b])
        except backend.RuntimeFailure as e:
            raise translate(e, [self]) from None
        return self

    def copy_to_host_async(self) -> None:
        """Begin to copy the content to host memory, where ``numpy.asarray`` finds it later."""
        backend.begin_to_host(self._live_buffer())

    def is_ready(self) -> bool:
        return self._b is None or self._live_buffer().is_ready()

    def delete(self) -> None:
        """Free the device memory now. Later use raises."""
        self._donated_buffer().delete()

    def is_deleted(self) -> bool:
        return self._b is not None and self._b.is_deleted()

    def unsafe_buffer_pointer(self) -> int:
        return self._writable_buffer().unsafe_buffer_pointer()

    def on_device_size_in_bytes(self) -> int:
        return self._live_buffer().on_device_size_in_bytes()


class Shard:
    """One device's part of an array.

    Attributes:
      device: where it is.
      index: which part, a tuple of slices.
      replica_id: which copy of that part, counted from 0.
      data: the part as an array of its own; None on devices of other processes.
    """

    __slots__ = ("data", "device", "index", "replica_id")

    def __init__(
        self, device: Any, index: tuple[slice, ...], replica_id: int, data: Array | None
    ) -> None:
        self.device, self.index, self.replica_id, self.data = device, index, replica_id, data

    def __repr__(self) -> str:
        return (
            f"Shard(device={self.device!r}, index={self.index}, replica_id={self.replica_id}, "
            f"data={self.data})"
        )


def _restore(value: NDArray, weak: bool) -> Array:
    return from_host(value, ArrayType(value.shape, value.dtype, weak))


def from_host(value: NDArray, placed: ArrayType | Placed | None = None, copy: bool = True) -> Array:
    """A NumPy array of a supported dtype as an Array.

    ``placed`` is its ``_t`` if not the default; without ``copy`` its memory is shared: it is ours, and nobody writes
    to it any more, or a buffer is a view of what is another's.
    """
    if placed is None:
        placed = ArrayType(value.shape, value.dtype)
    sharding = placed.sharding
    if sharding is None and host.fits(placed) and (copy or value.base is None):
        return on_host(value.copy() if copy else value, placed)
    if sharding is None:
        out = Array(_put(value, placed, backend.default_device(), copy), placed)
        if not value.shape:
            out._n = host.moment[0], value[()]
        return out
    if len(sharding.devices) > 1:
        return Array(scatter(value, placed.type, sharding), placed)
    device: Any = next(iter(sharding.devices))
    return Array(_put(value, placed, device, copy), placed)


def is_traced(x: Any) -> bool:
    """Whether x is a value whose elements are not known now."""
    return isinstance(x, Value) and type(x) is not Array


def numpy_backed(value: Array | NDArray) -> Array:
    """A NumPy array that nobody writes to, as an Array that is copied to a device only when a program needs it."""
    return (
        value if isinstance(value, Array) else on_host(value, ArrayType(value.shape, value.dtype))
    )


def on_host(value: Any, t: Any) -> Array:
    """A small array that is represented by its NumPy value alone, not shared with anybody."""
    out = object.__new__(Array)
    out._b, out._h, out._t, out._c = None, value, t, None
    if not t.shape:
        out._n = host.moment[0], value
    return out


_scalars: dict[Any, Array] = {}


def fresh_scalar(value: Any, dtype: DTypeLike, weak: bool = False) -> Array:
    """A 0-d array on the default device, with a buffer of its own."""
    host = np.asarray(value, dtype)
    return from_host(host, ArrayType((), host.dtype, weak))


def scalar(value: Any, dtype: DTypeLike, weak: bool = False) -> Array:
    """The same for arguments of programs, never for users, who may delete it: equal ones are made once, for a
    transfer costs 8 µs."""
    cls = value.__class__
    plain = cls is int or (cls is float and value)
    key = (cls, value, dtype, weak) if plain else (*exact(value), dtype, weak)
    found = _scalars.get(key)
    if found is None or found.is_deleted():
        if len(_scalars) >= KEPT:
            _scalars.clear()
        found = _scalars[key] = fresh_scalar(value, dtype, weak)
        found._n = host.ALWAYS, np.asarray(value, dtype)
    return found


class ScalarBuffers(dict[Any, Any]):
    """The buffers of the Python scalars, of one class, that an argument was: value -> buffer.

    ``reach``: the smallest and the largest int that goes with the program; others raise OverflowError.
    """

    def __init__(self, dtype: DTypeLike, weak: bool, reach: tuple[int, int] | None = None) -> None:
        super().__init__()
        self.dtype, self.weak, self.reach = dtype, weak, reach

    def __missing__(self, value: Any) -> Any:
        if self.reach and not self.reach[0] <= value <= self.reach[1]:
            raise OverflowError
        key = value
        if value.__class__ is float and not value:  # zeros are equal as keys
            key = repr(value)
            if (found := self.get(key)) is not None:
                return found
        elif has_zero(value):
            return scalar(value, self.dtype, self.weak)._buffer()
        if len(self) >= KEPT:
            self.clear()
        found = self[key] = scalar(value, self.dtype, self.weak)._buffer()
        return found


def reach_of(*of: np.dtype[Any]) -> tuple[int, int]:
    """The smallest and the largest int that all of these integer dtypes hold."""
    infos = [dtypes.iinfo(d) for d in of]
    return max(int(info.min) for info in infos), min(int(info.max) for info in infos)


# DLPack

_PLATFORMS = {1: "cpu", 2: "gpu"}  # DLPack's numbers of device kinds


def view_of_foreign(x: Any) -> Array | None:
    """An Array that shares the memory of another library's array by DLPack, or None if that cannot be."""
    foreign: Any = x
    found: tuple[int, int] = foreign.__dlpack_device__()
    kind, index = found
    if kind not in _PLATFORMS or not hasattr(x, "dtype"):
        return None
    try:
        device = backend.client(_PLATFORMS[kind]).local_devices()[index]
        buffer, row_major = backend.from_dlpack(foreign.__dlpack__(), device, False)
    except (backend.RuntimeFailure, BufferError, RuntimeError, TypeError, ValueError):
        return None
    if not row_major:
        return None
    # the buffer does not know its type; foreign arrays name theirs as in "torch.bfloat16"
    dtype = dtypes.as_dtype(str(foreign.dtype).rpartition(".")[2])
    out = Array(buffer, placed(ArrayType(tuple(foreign.shape), dtype), device))
    out._c = host.LENT
    return out
