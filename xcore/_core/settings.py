"""What settings of methods must be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import errors
from .array import Array

_WANTED: dict[str, Callable[[Any], bool]] = {
    "positive": lambda x: x > 0,
    "0 or more": lambda x: x >= 0,
    "1 or more": lambda x: x >= 1,
}


def require(wanted: str, who: str, **given: Any) -> None:
    """An error for settings that are not what is wanted, a row of ``_WANTED``. None and traced values pass."""
    for name, value in given.items():
        if value.__class__ in (int, float) and _WANTED[wanted](value):
            continue
        known = isinstance(value, (int, float, np.number, np.ndarray)) or type(value) is Array
        words = isinstance(value, str)
        if words or (known and not np.all(_WANTED[wanted](np.asarray(value)))):  # NaN is not
            raise errors.bad_argument(who, name, value, wanted)


def one_of(who: str, name: str, given: Any, allowed: Any, wanted: str = "") -> None:
    """An error for a setting that is none of those allowed; ``wanted`` says in words which these are."""
    if given not in allowed:
        wanted = wanted or "one of " + ", ".join(map(repr, allowed))
        raise errors.bad_argument(who, name, given, wanted)
