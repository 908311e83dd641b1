"""Dtypes: names as in ``jax.dtypes``."""

from ._core.dtypes import as_dtype as _as_dtype
from ._core.dtypes import extended, prng_key  # noqa: F401
from ._transforms.api import float0  # noqa: F401
from .numpy import (  # noqa: F401
    bfloat16,
    finfo,
    iinfo,
    issubdtype,
    result_type,
)


def canonicalize_dtype(dtype, allow_extended_dtype: bool = False):
    """The dtype that a name, type or dtype means. Nothing is narrowed: 64 bits are always there.

    >>> import xcore as xc
    >>> xc.dtypes.canonicalize_dtype(float)
    dtype('float32')
    """
    del allow_extended_dtype
    return _as_dtype(dtype)
