"""Types for annotations: names as in ``jax.typing``.

>>> import xcore.numpy as xnp
>>> from xcore.typing import ArrayLike
>>> isinstance(xnp.ones(2), ArrayLike), isinstance("a", ArrayLike)
(True, False)
"""

from ._core import Array, ArrayLike, Axis, DTypeLike, Index, Key, PyTree, Shape
from ._core.typing import DeviceLike, Scalar, SupportsArray, SupportsDType

__all__ = [
    "Array", "ArrayLike", "Axis", "DTypeLike", "DeviceLike", "Index", "Key", "PyTree", "Scalar",
    "Shape", "SupportsArray", "SupportsDType",
]  # fmt: skip
