"""What type checkers see of arrays: operators and methods that ``xcore.numpy`` installs on ``Value``.

Nothing imports this when a program runs; ``tests/typing`` compares it with what is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    import numpy as np

    from .array import Array
    from .types import ArrayType
    from .typing import ArrayLike, Axis, DeviceLike, DTypeLike, Index, Shape


class Surface:
    """Operators, methods and properties of arrays."""

    __slots__ = ()
    __hash__: ClassVar[None]  # pyright: ignore[reportIncompatibleMethodOverride]

    # what it is
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def weak_type(self) -> bool: ...
    @property
    def aval(self) -> ArrayType: ...

    # as Python values
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    def __float__(self) -> float: ...
    def __complex__(self) -> complex: ...
    def __len__(self) -> int: ...
    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> np.ndarray[Any, Any]: ...
    def item(self, *index: int) -> Any: ...
    def tolist(self) -> Any: ...
    def tobytes(self, order: str = "C") -> bytes: ...

    # arithmetic
    def __add__(self, other: ArrayLike, /) -> Array: ...
    def __radd__(self, other: ArrayLike, /) -> Array: ...
    def __sub__(self, other: ArrayLike, /) -> Array: ...
    def __rsub__(self, other: ArrayLike, /) -> Array: ...
    def __mul__(self, other: ArrayLike, /) -> Array: ...
    def __rmul__(self, other: ArrayLike, /) -> Array: ...
    def __truediv__(self, other: ArrayLike, /) -> Array: ...
    def __rtruediv__(self, other: ArrayLike, /) -> Array: ...
    def __floordiv__(self, other: ArrayLike, /) -> Array: ...
    def __rfloordiv__(self, other: ArrayLike, /) -> Array: ...
    def __mod__(self, other: ArrayLike, /) -> Array: ...
    def __rmod__(self, other: ArrayLike, /) -> Array: ...
    def __divmod__(self, other: ArrayLike, /) -> tuple[Array, Array]: ...
    def __rdivmod__(self, other: ArrayLike, /) -> tuple[Array, Array]: ...
    def __pow__(self, other: ArrayLike, modulo: None = None, /) -> Array: ...
    def __rpow__(self, other: ArrayLike, modulo: None = None, /) -> Array: ...
    def __matmul__(self, other: ArrayLike, /) -> Array: ...
    def __rmatmul__(self, other: ArrayLike, /) -> Array: ...
    def __and__(self, other: ArrayLike, /) -> Array: ...
    def __rand__(self, other: ArrayLike, /) -> Array: ...
    def __or__(self, other: ArrayLike, /) -> Array: ...
    def __ror__(self, other: ArrayLike, /) -> Array: ...
    def __xor__(self, other: ArrayLike, /) -> Array: ...
    def __rxor__(self, other: ArrayLike, /) -> Array: ...
    def __lshift__(self, other: ArrayLike, /) -> Array: ...
    def __rlshift__(self, other: ArrayLike, /) -> Array: ...
    def __rshift__(self, other: ArrayLike, /) -> Array: ...
    def __rrshift__(self, other: ArrayLike, /) -> Array: ...
    def __neg__(self) -> Array: ...
    def __pos__(self) -> Array: ...
    def __abs__(self) -> Array: ...
    def __invert__(self) -> Array: ...
    def __round__(self, ndigits: int | None = None) -> Array: ...
    def __floor__(self) -> int: ...
    def __ceil__(self) -> int: ...
    def __trunc__(self) -> int: ...

    # comparison, element by element
    def __eq__(self, other: ArrayLike, /) -> Array: ...  # pyright: ignore[reportIncompatibleMethodOverride]
    def __ne__(self, other: ArrayLike, /) -> Array: ...  # pyright: ignore[reportIncompatibleMethodOverride]
    def __lt__(self, other: ArrayLike, /) -> Array: ...
    def __le__(self, other: ArrayLike, /) -> Array: ...
    def __gt__(self, other: ArrayLike, /) -> Array: ...
    def __ge__(self, other: ArrayLike, /) -> Array: ...
    def __contains__(self, item: ArrayLike, /) -> bool: ...

    # parts, and changed copies
    def __getitem__(self, index: Index, /) -> Array: ...
    def __iter__(self) -> Iterator[Array]: ...
    @property
    def at(self) -> At: ...
    def take(
        self, indices: ArrayLike | Sequence[Any], axis: int | None = None, out: None = None,
        mode: str | None = None, unique_indices: bool = False,
        indices_are_sorted: bool = False, fill_value: ArrayLike | None = None,
    ) -> Array: ...  # fmt: skip
    def compress(
        self, condition: ArrayLike, axis: int | None = None, *, size: int | None = None,
        fill_value: ArrayLike = 0, out: None = None,
    ) -> Array: ...  # fmt: skip
    def choose(self, choices: Any, out: None = None, mode: str = "raise") -> Array: ...
    def nonzero(self, *, size: int | None = None, fill_value: Any = None) -> tuple[Array, ...]: ...
    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array: ...

    # other shapes
    @property
    def T(self) -> Array: ...
    @property
    def mT(self) -> Array: ...
    @property
    def flat(self) -> Array: ...
    def reshape(
        self,
        *shape: int | Shape,
        order: str = "C",
        copy: bool | None = None,
        out_sharding: Any = None,
    ) -> Array: ...
    def transpose(self, *axes: int | Sequence[int] | None) -> Array: ...
    def ravel(self, order: str = "C", *, out_sharding: Any = None) -> Array: ...
    def flatten(self, order: str = "C") -> Array: ...
    def squeeze(self, axis: Axis = None) -> Array: ...
    def swapaxes(self, axis1: int, axis2: int) -> Array: ...
    def repeat(
        self, repeats: ArrayLike | Sequence[int], axis: int | None = None, *,
        total_repeat_length: int | None = None, out_sharding: Any = None,
    ) -> Array: ...  # fmt: skip

    # other values
    @property
    def real(self) -> Array: ...
    @property
    def imag(self) -> Array: ...
    def astype(
        self, dtype: DTypeLike, order: str = "K", casting: str = "unsafe", subok: bool = True,
        copy: bool = False, device: DeviceLike = None,
    ) -> Array: ...  # fmt: skip
    def view(self, dtype: DTypeLike | None = None) -> Array: ...
    def byteswap(self, inplace: bool = False) -> Array: ...
    def round(self, decimals: int = 0, out: None = None) -> Array: ...
    def clip(self, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Array: ...
    def conj(self, *, out: None = None, where: ArrayLike | None = None) -> Array: ...
    def conjugate(self, *, out: None = None, where: ArrayLike | None = None) -> Array: ...
    def copy(self) -> Array: ...
    def block_until_ready(self) -> Array: ...
    def to_device(self, device: DeviceLike, /, *, stream: Any = None) -> Array: ...
    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any: ...
    def __copy__(self) -> Array: ...
    def __deepcopy__(self, memo: Any) -> Array: ...

    # in order
    def sort(
        self, axis: int | None = -1, kind: str | None = None, order: None = None, *,
        stable: bool = True, descending: bool = False,
    ) -> Array: ...  # fmt: skip
    def argsort(
        self, axis: int | None = -1, kind: str | None = None, order: None = None, *,
        stable: bool = True, descending: bool = False, dtype: DTypeLike | None = None,
    ) -> Array: ...  # fmt: skip
    def argpartition(self, kth: int, axis: int = -1) -> Array: ...
    def searchsorted(
        self, v: ArrayLike, side: str = "left", sorter: ArrayLike | None = None, *,
        method: str = "scan",
    ) -> Array: ...  # fmt: skip

    # fewer axes
    def sum(
        self, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None,
        keepdims: bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None,
        promote_integers: bool = True,
    ) -> Array: ...  # fmt: skip
    def prod(
        self, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None,
        keepdims: bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None,
        promote_integers: bool = True,
    ) -> Array: ...  # fmt: skip
    def mean(
        self, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None,
        keepdims: bool = False, *, where: ArrayLike | None = None,
    ) -> Array: ...  # fmt: skip
    def var(
        self, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None,
        ddof: float = 0, keepdims: bool = False, *, where: ArrayLike | None = None,
        mean: ArrayLike | None = None, correction: float | None = None,
    ) -> Array: ...  # fmt: skip
    def std(
        self, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None,
        ddof: float = 0, keepdims: bool = False, *, where: ArrayLike | None = None,
        mean: ArrayLike | None = None, correction: float | None = None,
    ) -> Array: ...  # fmt: skip
    def max(
        self, axis: Axis = None, out: None = None, keepdims: bool = False,
        initial: ArrayLike | None = None, where: ArrayLike | None = None,
    ) -> Array: ...  # fmt: skip
    def min(
        self, axis: Axis = None, out: None = None, keepdims: bool = False,
        initial: ArrayLike | None = None, where: ArrayLike | None = None,
    ) -> Array: ...  # fmt: skip
    def ptp(self, axis: Axis = None, out: None = None, keepdims: bool = False) -> Array: ...
    def argmax(
        self, axis: int | None = None, out: None = None, keepdims: bool = False
    ) -> Array: ...
    def argmin(
        self, axis: int | None = None, out: None = None, keepdims: bool = False
    ) -> Array: ...
    def any(
        self, axis: Axis = None, out: None = None, keepdims: bool = False, *,
        where: ArrayLike | None = None,
    ) -> Array: ...  # fmt: skip
    def all(
        self, axis: Axis = None, out: None = None, keepdims: bool = False, *,
        where: ArrayLike | None = None,
    ) -> Array: ...  # fmt: skip
    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None,
        out: None = None,
    ) -> Array: ...  # fmt: skip
    def cumsum(
        self, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None
    ) -> Array: ...
    def cumprod(
        self, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None
    ) -> Array: ...
    def dot(
        self, b: ArrayLike, *, precision: Any = None,
        preferred_element_type: DTypeLike | None = None, out_sharding: Any = None,
    ) -> Array: ...  # fmt: skip


class At:
    """``x.at``."""

    def __getitem__(self, index: Index, /) -> AtIndex: ...


class AtIndex:
    """``x.at[index]``: get, or a changed copy."""

    def get(
        self, *, mode: str | None = None, fill_value: ArrayLike | None = None,
        indices_are_sorted: bool = False, unique_indices: bool = False, out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array: ...  # fmt: skip
    def set(
        self, values: ArrayLike | Sequence[Any], *, indices_are_sorted: bool = False,
        unique_indices: bool = False, mode: str | None = None, wrap_negative_indices: bool = True,
    ) -> Array: ...  # fmt: skip
    def add(
        self, values: ArrayLike | Sequence[Any], *, indices_are_sorted: bool = False,
        unique_indices: bool = False, mode: str | None = None, wrap_negative_indices: bool = True,
    ) -> Array: ...  # fmt: skip
    def subtract(
        self, values: ArrayLike | Sequence[Any], *, indices_are_sorted: bool = False,
        unique_indices: bool = False, mode: str | None = None, wrap_negative_indices: bool = True,
    ) -> Array: ...  # fmt: skip
    def multiply(
        self, values: ArrayLike | Sequence[Any], *, indices_are_sorted: bool = False,
        unique_indices: bool = False, mode: str | None = None, wrap_negative_indices: bool = True,
    ) -> Array: ...  # fmt: skip
    def mul(
        self, values: ArrayLike | Sequence[Any], *, indices_are_sorted: bool = False,
        unique_indices: bool = False, mode: str | None = None, wrap_negative_indices: bool = True,
    ) -> Array: ...  # fmt: skip
    def divide(
        self, values: ArrayLike | Sequence[Any], *, indices_are_sorted: bool = False,
        unique_indices: bool = False, mode: str | None = None, wrap_negative_indices: bool = True,
    ) -> Array: ...  # fmt: skip
    def power(
        self, values: ArrayLike | Sequence[Any], *, indices_are_sorted: bool = False,
        unique_indices: bool = False, mode: str | None = None, wrap_negative_indices: bool = True,
    ) -> Array: ...  # fmt: skip
    def min(
        self, values: ArrayLike | Sequence[Any], *, indices_are_sorted: bool = False,
        unique_indices: bool = False, mode: str | None = None, wrap_negative_indices: bool = True,
    ) -> Array: ...  # fmt: skip
    def max(
        self, values: ArrayLike | Sequence[Any], *, indices_are_sorted: bool = False,
        unique_indices: bool = False, mode: str | None = None, wrap_negative_indices: bool = True,
    ) -> Array: ...  # fmt: skip
    def apply(
        self, values: Callable[[Array], Any], *, indices_are_sorted: bool = False,
        unique_indices: bool = False, mode: str | None = None, wrap_negative_indices: bool = True,
    ) -> Array: ...  # fmt: skip


class UnaryFunction(Protocol):
    """An elementwise function of one array, with the method of NumPy's ufuncs."""

    nin: int
    nout: int
    nargs: int
    identity: Any

    def __call__(
        self, x: ArrayLike, *, out: None = None, where: ArrayLike | None = None
    ) -> Array: ...
    def at(self, a: ArrayLike, indices: Any, /, *, inplace: bool = True) -> Array: ...


class BinaryFunction(Protocol):
    """An elementwise function of two arrays, with the methods of NumPy's ufuncs."""

    nin: int
    nout: int
    nargs: int
    identity: Any

    def __call__(
        self, x1: ArrayLike, x2: ArrayLike, *, out: None = None, where: ArrayLike | None = None
    ) -> Array: ...
    def at(self, a: ArrayLike, indices: Any, b: ArrayLike, /, *, inplace: bool = True) -> Array: ...
    def outer(self, A: ArrayLike, B: ArrayLike, /) -> Array: ...
    def reduce(
        self, a: ArrayLike, axis: Axis = 0, dtype: DTypeLike | None = None, out: None = None,
        keepdims: bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None,
    ) -> Array: ...  # fmt: skip
    def accumulate(
        self, a: ArrayLike, axis: int = 0, dtype: DTypeLike | None = None, out: None = None
    ) -> Array: ...
    def reduceat(
        self, a: ArrayLike, indices: Any, axis: int = 0, dtype: DTypeLike | None = None,
        out: None = None,
    ) -> Array: ...  # fmt: skip
