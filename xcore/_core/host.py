"""Small values on the host: eager calls on arrays of a few kilobytes are NumPy's, where its bits are the compiled ones.

The runtime's own call costs as much as ten of NumPy. So on a CPU a small array may live as a NumPy array
(``Array._h``) until a compiled program wants a buffer (``Array._b``); each is made of the other when it is first
asked for. An operation says by its rule ``host`` what it is in NumPy, and which values have equal bits there:

moves      bits are moved or chosen: any values of any dtype
compares   floats must be *tame*: zero, or so far from the ends of their range that neither subnormal
           numbers (which compiled code takes for zero) nor infinities can be met. NaN is not tame.
orders     the same, without negative zeros: which of two zeros is the larger is another matter in each library
computes   as compares; what comes out is right but need not be tame, and another operation on it in the same
           program could be contracted with it, so there is none
divides    as computes, and the divisor is not zero

Where a value is not tame, the compiled program runs. ``XCORE_HOST_CALLS=0`` leaves everything to these.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._backend import client as backend
from .types import ArrayType

if TYPE_CHECKING:
    from .array import Array

    NDArray = np.ndarray[Any, Any]

LIMIT = 4096  # bytes; beyond, compiled code is faster
ENABLED = os.environ.get("XCORE_HOST_CALLS", "1") != "0"

# How many traces have begun. A number that is made while a function is traced belongs to that function as a Python
# scalar does, and stands in its program; one from before is an input, so that programs with other values share code.
moment = [0]
ALWAYS = 1 << 62  # later than any trace


# Which values


@functools.cache
def _on_cpu() -> bool:
    return backend.platform_of(backend.default_device()) == "cpu"


def fits(t: Any) -> bool:
    """Whether an array of this type may live on the host: a small one on the default device, a CPU."""
    return (
        ENABLED and type(t) is ArrayType and t.dtype in NATIVE and t.size * t.dtype.itemsize <= LIMIT and _on_cpu()
    )  # fmt: skip


def _tables(bits: int) -> tuple[int, int, bytes]:
    """(offset of a number's highest byte, bytes of a number, the highest bytes that tame numbers have).

    The highest byte holds the sign and seven bits of the exponent. Of the 127 values that these have, those from
    33 to 94 leave room for the product and the quotient of two.
    """
    size = bits // 8
    tame = bytes([*range(33, 95), *range(128 + 33, 128 + 95)])
    return size - 1, size, tame


_HIGH = {np.dtype(np.float32): _tables(32), np.dtype(np.float64): _tables(64)}
FLOATS = frozenset(_HIGH)
WHOLE = frozenset(np.dtype(c) for c in "?bhilqBHILQ")
NATIVE = FLOATS | WHOLE | frozenset(np.dtype(c) for c in "eFD")


WILD, SIGNED, TAME, WITHOUT_ZERO = 1, 2, 3, 4
LENT = -1  # what stands in their place when others may write to the buffer


def tameness(value: Any) -> int:
    """WILD where one is not tame, SIGNED where one is a negative zero, TAME where one is zero, else WITHOUT_ZERO."""
    high = _HIGH.get(value.dtype)
    if high is None:
        return WITHOUT_ZERO
    place, size, tame = high
    wild = value.tobytes()[place::size].translate(None, tame)
    if not wild:
        return WITHOUT_ZERO
    # highest bytes of zeros, and of numbers so small that they are not tame
    zeros = not wild.translate(None, b"\x00\x80") and len(wild) == value.astype(
        np.bool_
    ).tobytes().count(0)
    if not zeros:
        return WILD
    return SIGNED if b"\x80" in wild else TAME


def value_of(a: Array) -> Any:
    """The NumPy value of a small array, read from its buffer when that is ready; or None."""
    try:
        # of a deleted buffer the runtime does not say whether it is ready: it ends the process
        if a._b.is_deleted() or not a._b.is_ready() or getattr(a, "_c", None) == LENT:
            return None  # nobody waits for it but who must
        value = backend.to_host(a._b).copy()
    except backend.RuntimeFailure:  # the compiled program says what is wrong
        return None
    a._c = None  # first: other threads look at it when there is a value
    a._h = value
    return value


def for_users(a: Array) -> Any:
    """The value as users get it: in C order, and read-only for good."""
    value = a._h = np.asarray(a._h, order="C")
    for x in (value, value.base):
        if isinstance(x, np.ndarray):
            x.setflags(write=False)
    return value.view()


def find_tameness(a: Array) -> int:
    """The tameness of an array's value, computed once."""
    a._c = found = tameness(a._h)
    return found


# Rules of operations


class Step(NamedTuple):
    """How an operation is computed in NumPy, and for which values the bits are equal.

    Attributes:
      make: ``(types of the arguments, **params) -> function`` of NumPy arrays, or None. Of several results it gives
        a list.
      kind: moves, compares, orders, computes or divides.
      dtypes: of the arguments; None for all.
      spreads: whether the function broadcasts scalars itself.
    """

    make: Callable[..., Any]
    kind: str
    dtypes: frozenset[Any] | None = None
    spreads: bool = False


def moves(make: Callable[..., Any]) -> Step:
    return Step(make, "moves")


def chooses(function: Any) -> Step:
    return Step(_for_any_type(function), "moves", None, True)


def ufunc(function: Any, kind: str, dtypes: frozenset[Any] = FLOATS | WHOLE) -> Step:
    """An operation that is a ufunc: element by element."""
    return Step(_for_any_type(function), kind, dtypes, True)


def _for_any_type(function: Any) -> Callable[..., Any]:
    def make(types: Any, **params: Any) -> Any:
        return function

    return make


def totals(function: Any, kind: str = "compares", dtypes: frozenset[Any] = WHOLE) -> Step:
    """A reduction over ``axes``."""

    def make(types: Any, *, axes: tuple[int, ...]) -> Any:
        reduce, dtype = function.reduce, types[0].dtype

        def over(x: Any) -> Any:
            return reduce(x, axes, dtype)

        return over if types[0].size else None

    return Step(make, kind, dtypes)


def window(start: Sequence[int], limit: Sequence[int], strides: Sequence[int]) -> Any:
    """Slices, as NumPy takes them."""
    return tuple(map(slice, start, limit, strides))
