"""What a program knows of a value before it exists: its shape, its dtype, and whether it is weak."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, SupportsInt, final

import numpy as np

from . import dtypes, errors
from .package import Elsewhere, methods_elsewhere

if TYPE_CHECKING:  # what xcore.numpy installs later
    from .sharding import Sharding
    from .surface import Surface
    from .typing import ArrayLike, DTypeLike, SupportsType
else:
    Surface = object

_interned: dict[Any, Any] = {}
_MOST_BYTES = 2**63  # sizes are signed 64-bit numbers in XLA (quirk: HUGE_ARRAY_ABORTS)


@final
class ArrayType:
    """Shape, dtype and weakness of a value. Interned: equal types are the same object.

    ``weak`` marks a value born from a bare Python scalar; it takes the dtype of what it meets.
    The attribute names below ``weak`` are those that the runtime reads of an abstract value.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.typeof(xnp.ones((2, 3)))
    float32[2,3]
    >>> xc.typeof(xnp.ones(2)) is xc.typeof(xnp.zeros(2))
    True
    """

    __slots__ = ("dtype", "ndim", "shape", "size", "type", "weak", "weak_type")
    sharding = None  # a bare type lives where the default device is; see Placed

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    ndim: int
    size: int
    type: ArrayType
    weak: bool
    weak_type: bool

    def __new__(cls, shape: Sequence[int], dtype: DTypeLike, weak: bool = False) -> ArrayType:
        key = (shape, dtype, weak)
        found = _interned.get(key)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.shape, self.weak = tuple(map(int, shape)), weak
        given: Any = dtype
        if not isinstance(given, dtypes.ExtendedDtype):  # keys have dtypes of their own
            given = np.dtype(given)
        self.dtype = given  # pyright: ignore[reportAttributeAccessIssue]
        self.weak_type, self.ndim, self.size = weak, len(shape), math.prod(self.shape)
        self.type = self
        if min(self.shape, default=0) < 0 or self.nbytes >= _MOST_BYTES:
            raise errors.impossible_shape(self.shape)
        return _interned.setdefault((self.shape, self.dtype, weak), self)

    def __str__(self) -> str:
        weak = ", weak" if self.weak else ""
        name = "float0" if self.dtype == dtypes.float0 else self.dtype.name
        return f"{name}[{','.join(map(str, self.shape))}{weak}]"

    __repr__ = __str__

    def __reduce__(self) -> tuple[Any, ...]:
        return ArrayType, (self.shape, self.dtype, self.weak)

    def with_shape(self, shape: Sequence[int]) -> ArrayType:
        return ArrayType(shape, self.dtype, self.weak)

    def with_dtype(self, dtype: DTypeLike) -> ArrayType:
        return ArrayType(self.shape, dtype)

    def update(
        self, *, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None,
        weak_type: bool | None = None, **others: Any,
    ) -> ArrayType:  # fmt: skip
        """The type with some of it changed; xcore's has no more than these three."""
        if others:
            raise errors.bad_argument(
                "ArrayType.update", "what changes", [*others], "shape, dtype or weak_type"
            )
        return ArrayType(
            self.shape if shape is None else tuple(shape),
            self.dtype if dtype is None else _as_dtype(dtype),
            self.weak if weak_type is None else bool(weak_type),
        )

    def to_tangent_aval(self) -> ArrayType:
        """The type of its tangents; those of integers are of dtype float0."""
        dtype: Any = self.dtype
        inexact = not isinstance(dtype, dtypes.ExtendedDtype) and dtypes.is_inexact(dtype)
        return self if inexact else ArrayType(self.shape, dtypes.float0)

    def strip_weak_type(self) -> ArrayType:
        return self.strong()

    def str_short(self, short_dtypes: bool = False) -> str:
        return str(self)

    def strong(self) -> ArrayType:
        return ArrayType(self.shape, self.dtype) if self.weak else self

    def weakened(self) -> ArrayType:
        return self if self.weak else ArrayType(self.shape, self.dtype, True)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize


def _as_dtype(dtype: Any) -> Any:
    return dtype if isinstance(dtype, dtypes.ExtendedDtype) else dtypes.as_dtype(dtype)


@final
class Placed:
    """An ArrayType together with a placement that is not the default one. Interned like ArrayType.

    An array's ``_t`` is its ArrayType when it lives on the default device, else a Placed, so one
    identity test tells compiled code everything it must know about an argument.
    """

    __slots__ = (
        "committed",
        "dtype",
        "ndim",
        "shape",
        "sharding",
        "size",
        "type",
        "weak",
        "weak_type",
    )

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    ndim: int
    size: int
    type: ArrayType
    weak: bool
    weak_type: bool
    sharding: Sharding
    committed: bool

    def __new__(cls, type_: ArrayType, sharding: Sharding, committed: bool = True) -> Placed:
        key = (type_, sharding, committed)
        found = _interned.get(key)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.type, self.sharding, self.committed = type_, sharding, committed
        self.shape, self.dtype, self.weak = type_.shape, type_.dtype, type_.weak
        self.weak_type, self.ndim, self.size = type_.weak, type_.ndim, type_.size
        return _interned.setdefault(key, self)

    def __repr__(self) -> str:
        return f"{self.type}@{self.sharding}"


def _size(n: Any) -> int:
    try:
        return int(n)
    except TypeError:
        need = "a number for each axis: types of one program have sizes that are known"
        raise errors.bad_argument("ShapeDtypeStruct", "shape", n, need) from None


class ShapeDtypeStruct:
    """The shape and dtype of an array that need not exist: for eval_shape and ahead-of-time tracing.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.eval_shape(lambda x: x.T, xc.ShapeDtypeStruct((2, 3), xnp.float32))
    ShapeDtypeStruct(shape=(3, 2), dtype=float32)
    """

    __slots__ = ("dtype", "shape", "sharding", "weak_type")

    def __init__(
        self, shape: Iterable[SupportsInt], dtype: DTypeLike, *, sharding: Sharding | None = None,
        weak_type: bool = False,
    ) -> None:  # fmt: skip
        # sizes that are not known stay what they are: eval_shape takes them, and nothing else
        known: Any = tuple(n if hasattr(n, "is_unknown_size") else _size(n) for n in shape)
        self.shape, self.dtype = known, dtypes.as_dtype(dtype)
        self.sharding, self.weak_type = sharding, weak_type

    @property
    def type(self) -> ArrayType:
        return ArrayType(tuple(map(int, self.shape)), self.dtype, self.weak_type)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("xcore.ShapeDtypeStruct: what has no axes has no length.")
        return self.shape[0]

    def __bool__(self) -> bool:
        return True

    def update(self, **changes: Any) -> ShapeDtypeStruct:
        """The same with another shape, dtype, sharding or weak_type."""
        same = {n: getattr(self, n) for n in self.__slots__}
        return ShapeDtypeStruct(**{**same, **changes})

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{weak})"

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is ShapeDtypeStruct
            and other.type is self.type
            and other.dtype == self.dtype
            and other.sharding == self.sharding
        )

    def __hash__(self) -> int:
        return hash(self.type)


class Value(Surface):
    """Base of Array and Tracer. Operators and NumPy methods are installed by xcore.numpy."""

    __slots__ = ()
    _counts_as_array = True

    def __dir__(self) -> list[str]:
        absent = {n for n, v in vars(Value).items() if isinstance(v, Elsewhere)}
        return sorted({*object.__dir__(self)} - absent)


# One by one, and not by __getattr__: NumPy looks for names that are not there in each asarray.
for _name, _why in methods_elsewhere().items():
    setattr(Value, _name, Elsewhere(_name, _why))


def typeof(x: ArrayLike | SupportsType) -> ArrayType:
    """The ArrayType of an array, a tracer, a number, or a NumPy value of exact dtype.

    Args:
      x: array, tracer, number, or NumPy value.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.typeof(xnp.zeros((2, 3)))
    float32[2,3]
    >>> xc.typeof(1.0)  # weak: takes the dtype of what it meets
    float32[, weak]
    """
    given: Any = x  # most have a type
    try:
        return given.type
    except AttributeError:
        if type(x) in (float, int, complex, bool):
            return ArrayType((), dtypes.scalar_dtype(x), type(x) is not bool)
        if isinstance(getattr(x, "dtype", None), dtypes.ExtendedDtype):  # no numbers: a shape
            return ArrayType(given.shape, given.dtype)
        a = np.asarray(x)
        return ArrayType(a.shape, a.dtype)
