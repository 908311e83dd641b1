"""Reductions over segments, and the older spelling of ``x.at``: names as in ``jax.ops``."""

from __future__ import annotations

import numpy as _np

from . import numpy as _xnp
from ._control.checks import check_positions as _check_positions
from ._core import Index as _Index
from ._core import dtypes as _dtypes
from ._core import errors as _errors
from ._core import findings as _findings
from ._core.array import Array as _Array
from ._core.source import boundary as _boundary
from ._core.trace import Tracer as _Tracer
from ._core.typing import ArrayLike as _ArrayLike

__all__ = [
    "index", "index_add", "index_max", "index_min", "index_mul", "index_update", "segment_max",
    "segment_min", "segment_prod", "segment_sum",
]  # fmt: skip


def _lowest(dtype):
    return (
        -_np.inf
        if _dtypes.is_inexact(dtype)
        else _dtypes.iinfo(dtype).min
        if dtype != bool
        else False
    )


def _highest(dtype):
    return (
        _np.inf
        if _dtypes.is_inexact(dtype)
        else _dtypes.iinfo(dtype).max
        if dtype != bool
        else True
    )


def _segments(name: str, how: str, neutral, doc: str):
    def f(
        data: _ArrayLike, segment_ids: _ArrayLike, num_segments: int | None = None,
        indices_are_sorted: bool = False, unique_indices: bool = False,
        bucket_size: int | None = None, mode: str | None = None,
    ) -> _Array:  # fmt: skip
        del bucket_size  # JAX sums in buckets to lose fewer digits; the compiler decides here
        x, ids = _xnp.asarray(data), _xnp.asarray(segment_ids)
        if ids.shape != x.shape[: ids.ndim]:
            raise _errors.bad_argument(
                f"ops.{name}",
                "segment_ids",
                ids.shape,
                f"the leading axes of data, of shape {x.shape}",
            )
        if num_segments is None:
            num_segments = _count(name, ids)
        if mode is None and _findings.checks_positions():
            _check_positions(_xnp.where(ids < 0, num_segments, ids), 0, (num_segments,))
        start = _xnp.full((num_segments, *x.shape[ids.ndim :]), neutral(x.dtype), x.dtype)
        ids = _xnp.where(ids < 0, num_segments, ids)  # not counted from the end: left out
        place = start.at[ids]
        return getattr(place, how)(x, mode=mode or "drop", indices_are_sorted=indices_are_sorted,
                                   unique_indices=unique_indices)  # fmt: skip

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"""{doc} that have one number.

    Args:
      data: array.
      segment_ids: for each row of data (each element of its leading axes) the index of its segment;
        rows with a number that is negative or too large are left out.
      num_segments: how many segments; needed under ``jit``, else one more than the largest number.
      indices_are_sorted, unique_indices: promises about ``segment_ids``.
      mode: as for ``x.at``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.ops.{name}(xnp.asarray([1, 2, 3]), xnp.asarray([0, 1, 0])).shape
    (2,)
    """
    return _boundary(f)


def _count(name: str, ids) -> int:
    if isinstance(ids, _Tracer):
        raise _errors.ConcretizationError(
            f"xcore.ops.{name}: the number of segments is the shape of the result, and segment_ids are "
            "known only at run time. Pass num_segments."
        )
    return int(ids.max(initial=-1)) + 1


segment_sum = _segments("segment_sum", "add", lambda d: 0, "Sums of the rows")
segment_prod = _segments("segment_prod", "multiply", lambda d: 1, "Products of the rows")
segment_max = _segments("segment_max", "max", _lowest, "Largest ones of the rows")
segment_min = _segments("segment_min", "min", _highest, "Smallest ones of the rows")


# As tutorials wrote before x.at


def _update(name: str, how: str, doc: str):
    def f(
        x: _ArrayLike, idx: _Index, y: _ArrayLike, indices_are_sorted: bool = False,
        unique_indices: bool = False,
    ) -> _Array:  # fmt: skip
        place = _xnp.asarray(x).at[idx]
        return getattr(place, how)(
            y, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices
        )

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"""{doc}: ``x.at[idx].{how}(y)``.

    Args:
      x: array.
      idx: int, slice, array of ints or mask, or a tuple of these.
      y: array that is broadcast to ``x[idx]``.
      indices_are_sorted, unique_indices: promises about ``idx``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.ops.{name}(xnp.zeros(3), 1, 2.0).shape
    (3,)
    """
    return _boundary(f)


index_update = _update("index_update", "set", "A copy of x with y at idx")
index_add = _update("index_add", "add", "A copy of x with y added at idx")
index_mul = _update("index_mul", "multiply", "A copy of x multiplied by y at idx")
index_min = _update("index_min", "min", "A copy of x with the smaller of x and y at idx")
index_max = _update("index_max", "max", "A copy of x with the larger of x and y at idx")
index = _np.s_  # ops.index[1:3, 0] is an index as an object
