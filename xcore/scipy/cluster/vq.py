"""``scipy.cluster.vq``: the nearest entries of a code book."""

from __future__ import annotations

from ... import numpy as _xnp
from ..._core import Array as _Array
from ..._core import dtypes as _dtypes
from ..._core import errors as _errors
from ..._core import typeof as _typeof
from ..._core.typing import ArrayLike as _ArrayLike
from .._names import guide as _guide

__all__ = ["vq"]


def vq(obs: _ArrayLike, code_book: _ArrayLike, check_finite: bool = True) -> tuple[_Array, _Array]:
    """(number of the nearest code, distance to it) for each observation.

    Args:
      obs: observations, a row for each; a vector is a column of numbers.
      code_book: codes, a row for each.
      check_finite: accepted; of no effect.

    >>> import xcore.numpy as xnp
    >>> vq(xnp.asarray([[1.0, 1.0], [4.0, 2.0]]), xnp.asarray([[1.0, 0.0], [4.0, 3.0]]))
    (Array([0, 1], dtype=int32), Array([1., 1.], dtype=float32))
    """
    obs, codes = _xnp.asarray(obs), _xnp.asarray(code_book)
    if _typeof(obs).ndim != _typeof(codes).ndim or _typeof(obs).ndim not in (1, 2):
        raise _errors.shape_mismatch("vq", "must both be 1-d or 2-d", obs=obs, code_book=codes)
    if _typeof(obs).ndim == 1:
        obs, codes = obs[:, None], codes[:, None]
    if _typeof(obs).shape[1] != _typeof(codes).shape[1]:
        raise _errors.shape_mismatch("vq", "need rows of equal length", obs=obs, code_book=codes)
    if not _typeof(codes).shape[0]:
        raise _errors.bad_argument("vq", "code_book", _typeof(codes), "at least one code")
    gaps = obs[:, None, :] - codes[None, :, :]
    gaps = gaps if _dtypes.is_inexact(_typeof(gaps).dtype) else gaps.astype(float)
    sizes = _xnp.abs(gaps)
    # in units of the nearest code, further ones may overflow
    unit = _xnp.maximum(sizes.max(-1).min(-1), _dtypes.finfo(_typeof(sizes).dtype).tiny)[
        :, None, None
    ]
    code = _xnp.argmin(((sizes / unit) ** 2).sum(-1), axis=-1)
    nearest = _xnp.take_along_axis(gaps, code[:, None, None], axis=1)[:, 0, :]
    return code.astype("int32"), _xnp.linalg.norm(nearest, axis=-1)


__getattr__ = _guide(__name__)
