"""Types for annotations: names as in ``jax.typing``."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ._core.array import Array

# What functions take where they want an array.
ArrayLike = Array | np.ndarray | np.generic | bool | int | float | complex


@runtime_checkable
class SupportsDType(Protocol):
    """Whatever has a dtype."""

    @property
    def dtype(self) -> np.dtype: ...


DTypeLike = str | type[Any] | np.dtype | SupportsDType
Shape = Sequence[int]
