"""Dtypes: names as in ``jax.dtypes``."""

from __future__ import annotations

import numpy as _np

from ._core import DTypeLike as _DTypeLike
from ._core.dtypes import as_dtype as _as_dtype
from ._core.dtypes import extended, prng_key
from ._transforms.api import float0
from .numpy import (
    bfloat16,
    finfo,
    iinfo,
    issubdtype,
    result_type,
)

__all__ = [
    "bfloat16", "canonicalize_dtype", "extended", "finfo", "float0", "iinfo", "issubdtype",
    "prng_key", "result_type",
]  # fmt: skip


def canonicalize_dtype(dtype: _DTypeLike, allow_extended_dtype: bool = False) -> _np.dtype:
    """The dtype that a name, type or dtype means. Nothing is narrowed: 64 bits are always there.

    Args:
      dtype: name, type or dtype.
      allow_extended_dtype: of no effect: dtypes of keys are always allowed.

    >>> import xcore as xc
    >>> xc.dtypes.canonicalize_dtype(float)
    dtype('float32')
    """
    del allow_extended_dtype
    return _as_dtype(dtype)
