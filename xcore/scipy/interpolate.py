"""``scipy.interpolate``: values between the points of a grid."""

from __future__ import annotations

import functools as _functools
import itertools as _itertools
from collections.abc import Sequence as _Sequence
from typing import Any as _Any

import numpy as _np

from .. import numpy as _xnp
from .._core import Array as _Array
from .._core import dtypes as _dtypes
from .._core import errors as _errors
from .._core import one_of as _one_of
from .._core import typeof as _typeof
from .._core.trace import Tracer as _Tracer
from .._core.typing import ArrayLike as _ArrayLike
from ._names import guide as _guide

__all__ = ["RegularGridInterpolator"]

_METHODS = ("linear", "nearest")


class RegularGridInterpolator:
    """Values between the points of a grid whose axes have any spacing.

    Args:
      points: for each axis of the grid its coordinates, rising; falling ones are turned around
        unless they are traced.
      values: at the points of the grid; further axes are those of each value.
      method: "linear" or "nearest".
      bounds_error: raise an error for points outside of the grid; not within traced functions.
      fill_value: the value outside of the grid; None continues from the cells at its edge.

    >>> import xcore.numpy as xnp
    >>> f = RegularGridInterpolator((xnp.arange(2.0), xnp.arange(3.0)), xnp.arange(6.0).reshape(2, 3))
    >>> f(xnp.asarray([[0.5, 0.5], [1.0, 3.0]]))
    Array([ 2., nan], dtype=float32)
    """

    def __init__(
        self, points: _Sequence[_Any], values: _ArrayLike | _Sequence[_Any], method: str = "linear",
        bounds_error: bool = False, fill_value: float | None = _np.nan,
    ) -> None:  # fmt: skip
        who = "RegularGridInterpolator"
        values = _xnp.asarray(values)
        if not _dtypes.is_inexact(_typeof(values).dtype):
            values = values.astype(float)
        if len(points) > _typeof(values).ndim:
            wanted = f"at most {_typeof(values).ndim} of them, the axes of values"
            raise _errors.bad_argument(who, "points", _errors.Words(f"{len(points)} axes"), wanted)
        self.method, self.bounds_error, self.fill_value = (
            _check_method(method),
            bounds_error,
            fill_value,
        )
        grid = []
        for axis, p in enumerate(points):
            p, falls = _axis(who, p, _typeof(values).shape[axis], axis)
            grid.append(p)
            values = _xnp.flip(values, axis) if falls else values
        self.grid, self.values = tuple(grid), values

    def __call__(self, xi: _ArrayLike | _Sequence[_Any], method: str | None = None) -> _Array:
        """The values at the points xi: an array whose last axis goes over the axes of the grid, or a
        tuple of coordinates."""
        method = self.method if method is None else _check_method(method)
        n = len(self.grid)
        if isinstance(xi, tuple):
            xi = _xnp.stack(_xnp.broadcast_arrays(*xi), axis=-1)
        xi = _xnp.asarray(xi)
        xi = xi[:, None] if n == 1 and _typeof(xi).ndim == 1 else xi
        if _typeof(xi).shape[-1:] != (n,):
            raise _errors.bad_argument(
                "RegularGridInterpolator", "xi", _typeof(xi), f"{n} coordinates on the last axis"
            )
        xs = [xi[..., i] for i in range(n)]
        outside = _functools.reduce(_xnp.logical_or, map(_is_outside, self.grid, xs))
        if self.bounds_error:
            _refuse(outside)
        found = _weighted(self.values, list(map(_cell, self.grid, xs)), method)
        shape = _typeof(outside).shape + (1,) * (_typeof(found).ndim - _typeof(outside).ndim)
        if self.fill_value is not None and not self.bounds_error:
            fill = _xnp.asarray(self.fill_value, _typeof(found).dtype)
            found = _xnp.where(outside.reshape(shape), fill, found)
        unknown = _functools.reduce(_xnp.logical_or, map(_xnp.isnan, xs))
        return _xnp.where(unknown.reshape(shape), _np.nan, found)


def _check_method(method):
    _one_of("RegularGridInterpolator", "method", method, _METHODS, f"one of {_METHODS}")
    return method


def _axis(who: str, p, size: int, axis: int):
    """(the coordinates of an axis, rising, whether they were falling)."""
    falls = False
    if not isinstance(p, _Tracer):
        steps = _np.diff(_np.asarray(p))
        falls = bool(steps.size and (steps < 0).all())  # pyright: ignore[reportOperatorIssue]
        if not falls and not (steps > 0).all():  # pyright: ignore[reportOperatorIssue]
            raise _errors.bad_argument(
                who, f"points[{axis}]", _np.asarray(p), "a monotone sequence"
            )
    p = _xnp.asarray(p)
    if _typeof(p).shape != (size,) or not size:
        wanted = f"a vector of {max(size, 1)} coordinates, as values have it"
        raise _errors.bad_argument(who, f"points[{axis}]", _typeof(p), wanted)
    p = p if _dtypes.is_inexact(_typeof(p).dtype) else p.astype(float)
    return (_xnp.flip(p, 0) if falls else p), falls


def _is_outside(p, x):
    return (x < p[0]) | (x > p[-1])


def _refuse(outside):
    if isinstance(outside, _Tracer):
        raise ValueError(
            "xcore.RegularGridInterpolator: bounds_error=True needs points that are known, but these are "
            "traced. Give a fill_value, or None to extrapolate, and bounds_error=False."
        )
    if bool(outside.any()):
        raise ValueError(
            "xcore.RegularGridInterpolator: some of the points xi lie outside of the grid."
        )


def _cell(p, x):
    """(the index of the point before x, which part of the way to the next x is)."""
    n = _typeof(p).shape[0]
    if n == 1:
        return _xnp.zeros(_typeof(x).shape, _np.int32), _xnp.zeros_like(x + p[0])
    i = _xnp.clip(_xnp.searchsorted(p, x, side="right") - 1, 0, n - 2)
    return i, (x - p[i]) / (p[i + 1] - p[i])


def _weighted(values, cells, method):
    if method == "nearest":
        index = tuple(_clip(i + (part > 0.5), n) for (i, part), n in zip(cells, values.shape))
        return values[index]
    total = 0
    extra = values.ndim - len(cells)
    for corner in _itertools.product((0, 1), repeat=len(cells)):
        weight, index = 1, []
        for c, (i, part), n in zip(corner, cells, values.shape):
            weight = weight * (part if c else 1 - part)
            index.append(_clip(i + c, n))
        weight = weight.reshape(*weight.shape, *[1] * extra)
        total = total + weight * values[tuple(index)]
    return total


def _clip(i, n: int):
    return _xnp.clip(i, 0, n - 1)


_ABSENT = {
    "interp1d":
        "For straight lines there are xcore.numpy.interp(x, xp, fp) and RegularGridInterpolator((xp,), fp); for "
        "splines SciPy's own, on the host: from scipy.interpolate import CubicSpline.",
    "interpn": "Take RegularGridInterpolator(points, values)(xi).",
    "CubicSpline make_interp_spline BSpline UnivariateSpline InterpolatedUnivariateSpline splrep splev "
    "PchipInterpolator Akima1DInterpolator pchip_interpolate CubicHermiteSpline PPoly":
        "There are straight lines (RegularGridInterpolator, xcore.numpy.interp) alone; splines work on the host, by "
        "SciPy's own, on arrays of xcore: from scipy.interpolate import CubicSpline.",
    "interp2d RectBivariateSpline": "Take RegularGridInterpolator((x, y), values).",
    "griddata LinearNDInterpolator NearestNDInterpolator RBFInterpolator Rbf":
        "Scattered points work on the host, by SciPy's own: from scipy.interpolate import griddata.",
}  # fmt: skip
__getattr__ = _guide(__name__, _ABSENT)
