"""Python values as keys of caches. 1, 1.0 and True are equal to Python, as 0.0 and -0.0 are: not here."""

from __future__ import annotations

from typing import Any

import numpy as np


def exact(value: Any) -> tuple[Any, Any]:
    """A key that differs where the meaning may: the class, and the value with signs of its zeros."""
    given: Any = value
    if isinstance(value, tuple):
        each = [(v.__class__, v) if v.__class__ in _PLAIN else exact(v) for v in given]
        return given.__class__, tuple(each)
    return value.__class__, repr(value) if has_zero(value) else value


_PLAIN = frozenset({str, int, bool, type(None)})


def classes(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The classes in a tuple, and in tuples within. Beside equal values they make a key exact but for zeros."""
    return tuple([classes(v) if v.__class__ is tuple else v.__class__ for v in values])


def has_zero(x: Any) -> bool:
    """Whether a value holds an inexact zero: it has two signs, but they are equal as keys."""
    given: Any = x
    if isinstance(x, tuple):
        return any(map(has_zero, given))
    if isinstance(x, (complex, np.complexfloating)):
        return not (given.real and given.imag)
    return isinstance(x, (float, np.generic)) and not x


def is_hashable(x: Any) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True
