"""Python functions that compiled programs call: what XLA wants of them, and what they raised.

XLA reads results as raw memory of the promised size, so they are checked here. Of an exception it
keeps only the text; the exception itself waits here, under a number that the text carries.
"""

from __future__ import annotations

import itertools
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from .surface import HasType, NDArray
_KEPT = 64  # exceptions; a failed result may be read, and then fail, any number of times
_raised: OrderedDict[int, tuple[str | None, BaseException]] = OrderedDict()
_numbers = itertools.count(1)
_NUMBER = r"callback failure number (\d+) of xcore"


class _Failure(Exception):
    """Carries a callback's number through XLA's error text, to find the exception again."""


def _remember(name: str | None, error: BaseException) -> _Failure:
    number = next(_numbers)
    _raised[number] = name, error
    while len(_raised) > _KEPT:
        _raised.popitem(last=False)
    return _Failure(f"callback failure number {number} of xcore")


def raised(text: str) -> tuple[str | None, BaseException] | None:
    """The callback's name and its exception, if a failure of the runtime comes from a callback."""
    found = re.search(_NUMBER, text)
    return _raised.get(int(found[1])) if found else None


def wrap_callback(
    function: Callable[..., Any], out_types: Sequence[HasType], name: str | None,
    token: bool = False,
) -> Callable[..., tuple[Any, ...]]:  # fmt: skip
    """A Python function in the form XLA calls: NumPy arrays in, a checked tuple of them out.

    Args:
        function: takes arrays, which are read-only; returns a sequence of array-likes (None for an
            empty one).
        out_types: types (shape, dtype) of the results.
        name: who the messages say is wrong; None for a function of xcore's own, whose exceptions
            are meant for the user as they are.
        token: whether an ordering token leads arguments and results.
    """

    def call(*arguments: Any) -> tuple[Any, ...]:
        lead, arguments = (arguments[:1], arguments[1:]) if token else ((), arguments)
        try:
            return (*lead, *checked(function(*arguments), out_types, name))
        except BaseException as error:
            raise _remember(name, error) from None

    return call


def checked(results: Any, types: Sequence[HasType], name: str | None) -> tuple[NDArray, ...]:
    """The results as arrays of the promised types; raises if they are something else."""
    found: Any = () if results is None else results
    if not isinstance(found, (tuple, list)):
        raise TypeError(
            f"{name} must return a tuple of {len(types)} arrays, "
            f"but returned one object of type {type(results).__name__}."
        )
    found = cast("Sequence[Any]", found)
    if len(found) != len(types):
        raise ValueError(f"{name} must return {len(types)} arrays, but returned {len(found)}.")
    return tuple(_check_result(i, r, t, name) for i, (r, t) in enumerate(zip(found, types)))


def _check_result(i: int, result: Any, type_: HasType, name: str | None) -> NDArray:
    if isinstance(result, np.ma.MaskedArray):
        raise TypeError(
            f"result {i} of {name} is a masked array, and arrays here have no mask: return "
            "x.filled(0), x.filled(np.nan), or x.data and the mask."
        )
    array, shape, dtype = np.asarray(result), tuple(type_.shape), np.dtype(type_.dtype)
    array = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    if array.dtype != dtype and _may_convert(result, array.dtype, dtype):
        array = _converted(i, array, dtype, name)
    if array.shape != shape or array.dtype != dtype:
        raise TypeError(
            f"result {i} of {name} must be {dtype.name}{list(shape)}, "
            f"but is {array.dtype.name}{list(array.shape)}."
        )
    return np.ascontiguousarray(array).reshape(shape)


def _converted(i: int, array: NDArray, dtype: np.dtype[Any], name: str | None) -> NDArray:
    """In fewer bits; whole numbers that these do not hold would become other numbers."""
    found = array.astype(dtype)
    if array.dtype.kind in "iu" and (found != array).any():
        raise OverflowError(
            f"result {i} of {name} must be {dtype.name}, and the number {array[found != array].flat[0]} "
            f"that it returned as {array.dtype.name} does not fit."
        )
    return found


def _may_convert(result: Any, have: np.dtype[Any], want: np.dtype[Any]) -> bool:
    """A bare Python number has no dtype of its own, and NumPy's defaults are twice as wide as ours."""
    if isinstance(result, (bool, int, float, complex)) and not isinstance(result, np.generic):
        return np.can_cast(np.result_type(type(result)), want, "same_kind")
    return have.kind == want.kind and have.itemsize == 2 * want.itemsize and have.itemsize >= 8
