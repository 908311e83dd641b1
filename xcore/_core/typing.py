"""What arguments and results are called in annotations. ``xcore.typing`` passes these names on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import (
    Any,
    Concatenate,
    ParamSpec,
    Protocol,
    Self,
    SupportsIndex,
    TypeVar,
    overload,
    runtime_checkable,
)

import numpy as np

from .array import Array
from .program import Literal
from .types import ArrayType, Value

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

Scalar = bool | int | float | complex


@runtime_checkable
class SupportsArray(Protocol):
    """Whatever NumPy can make an array of: arrays of other packages, frames, masked arrays.

    >>> import numpy as np, xcore.numpy as xnp
    >>> class Row:
    ...     def __array__(self, dtype=None, copy=None):
    ...         return np.ones(2)
    >>> xnp.sum(Row())
    Array(2., dtype=float64)
    """

    def __array__(self) -> Any: ...


# What functions take where they want an array. Lists are left out: few functions take them.
ArrayLike = Array | np.ndarray | np.generic | Scalar | SupportsArray


@runtime_checkable
class SupportsDType(Protocol):
    """Whatever has a dtype.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> def same(x: xc.typing.SupportsDType):
    ...     return xnp.zeros(2, dtype=x.dtype)
    >>> same(xnp.asarray(1, "int8"))
    Array([0, 0], dtype=int8)
    """

    @property
    def dtype(self) -> np.dtype: ...


class SupportsType(Protocol):
    """Whatever says what it is, although it may not exist: arrays, variables, linear arguments."""

    @property
    def type(self) -> ArrayType: ...


DTypeLike = str | type[Any] | np.dtype | SupportsDType
Shape = Sequence[int]
Axis = int | Sequence[int] | None

# A position, a part, a new axis, the axes between, positions or a mask; or a tuple of these.
Positions = Sequence[SupportsIndex | Sequence[SupportsIndex]]
IndexItem = SupportsIndex | slice | None | EllipsisType | np.ndarray | Array | Positions
Index = IndexItem | tuple[IndexItem, ...]

# What operations compute with; beside arrays and traced values, constants that stand in programs.
Operand = Value | Literal | np.ndarray | np.generic | Scalar

Key = Array  # of random numbers: made by xcore.random.key, split and folded, never computed with
PyTree = Any  # tuples, lists, dicts, structs and registered classes, with arrays as leaves
DeviceLike = Any  # a device, a sharding, or a format of both


class JittedFunction(Protocol[P, R_co]):
    """A compiled function: called as the function itself is, and taken apart by its methods."""

    @property
    def __wrapped__(self) -> Callable[P, R_co]: ...
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
    def trace(self, *args: Any, **kwargs: Any) -> Any: ...
    def lower(self, *args: Any, **kwargs: Any) -> Any: ...
    def eval_shape(self, *args: Any, **kwargs: Any) -> Any: ...
    def clear_cache(self) -> None: ...

    # of a method: what an instance gives as the first argument is left out
    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(
        self: JittedFunction[Concatenate[Any, Q], R_co], instance: object, owner: type | None = None
    ) -> Callable[Q, R_co]: ...
