"""``scipy.ndimage``: values of images between their pixels."""

from __future__ import annotations

import functools as _functools
import itertools as _itertools
from collections.abc import Sequence as _Sequence

import numpy as _np

from .. import numpy as _xnp
from .._core import Array as _Array
from .._core import dtypes as _dtypes
from .._core import errors as _errors
from .._core import typeof as _typeof
from .._core.typing import ArrayLike as _ArrayLike
from ..numpy._lax_elementwise import round as _round
from ._names import guide as _guide

__all__ = ["map_coordinates"]


def _mirrored(i, n):
    """Reflected at the middles of the first and last pixel."""
    period = max(2 * (n - 1), 1)
    return (n - 1) - _xnp.abs(i % period - (n - 1)) if n > 1 else 0 * i


def _reflected(i, n):
    """Reflected at the outer edges of the first and last pixel."""
    i = i % (2 * n)
    return _xnp.minimum(i, 2 * n - 1 - i)


_INSIDE = {
    "constant": lambda i, n: _xnp.clip(i, 0, n - 1),
    "nearest": lambda i, n: _xnp.clip(i, 0, n - 1),
    "wrap": lambda i, n: i % n,
    "mirror": _mirrored,
    "reflect": _reflected,
}


def map_coordinates(
    input: _ArrayLike, coordinates: _Sequence[_ArrayLike] | _Array, order: int,
    mode: str = "constant", cval: _ArrayLike = 0.0,
) -> _Array:  # fmt: skip
    """The values of an image at given coordinates, in pixels.

    Args:
      input: array of any number of axes and dtype; results for integers are rounded, halves away from 0.
      coordinates: for each axis an array of coordinates, all of one shape, that of the result.
      order: 0 for the nearest pixel, 1 for linear interpolation.
      mode: what is beyond the edges: "constant" (``cval``), "nearest" (the pixel at the edge), "wrap"
        (the image again), "reflect" (mirrored at the edge), "mirror" (mirrored at the middle of the
        last pixel). "constant" and "wrap" are SciPy's "grid-constant" and "grid-wrap".
      cval: the value beyond the edges.

    >>> import xcore.numpy as xnp
    >>> map_coordinates(xnp.asarray([0.0, 10.0, 30.0]), [xnp.asarray([0.5, 1.25])], order=1)
    Array([ 5., 15.], dtype=float32)
    """
    image, xs = _xnp.asarray(input), [_xnp.asarray(x) for x in coordinates]
    shape, dtype = _typeof(image).shape, _typeof(image).dtype
    _check(shape, xs, order, mode)
    cval, found = _xnp.asarray(cval, dtype), 0
    xs = [_within_reach(x, n, mode) for x, n in zip(xs, shape, strict=True)]
    exact = all(not _dtypes.is_inexact(_typeof(x).dtype) for x in xs)
    corners = [_neighbours(x, order) for x in xs]
    for corner in _itertools.product(*corners):
        picked, weight = [], 1
        outside = _xnp.zeros(_typeof(xs[0]).shape if xs else (), bool)
        for (i, w), n in zip(corner, shape, strict=True):
            outside = outside | (i < 0) | (i >= n) if mode == "constant" else outside
            picked.append(_INSIDE[mode](i, n))
            weight = weight * w
        value = image[tuple(picked)]
        value = _xnp.where(outside, cval, value) if mode == "constant" else value
        if exact or order == 0:
            return _where_known(value, xs)
        found = found + weight * value
    rounds = not _dtypes.is_inexact(dtype)
    return (_round(found) if rounds else found).astype(dtype)


def _check(shape, xs, order, mode):
    fail = _functools.partial(_errors.bad_argument, "map_coordinates")
    if len(xs) != len(shape) or not xs:
        raise fail("coordinates", f"{len(xs)} arrays", f"one for each of the {len(shape)} axes")
    if len({_typeof(x).shape for x in xs}) > 1:
        raise fail("coordinates", [_typeof(x).shape for x in xs], "arrays of one shape")
    if order not in (0, 1):
        raise fail("order", order, "0 or 1")
    if mode not in _INSIDE:
        raise fail("mode", mode, f"one of {', '.join(_INSIDE)}")
    if 0 in shape:
        raise fail("input", shape, "an image that is not empty")


_PERIODS = {
    "wrap": lambda n: n,
    "reflect": lambda n: 2 * n,
    "mirror": lambda n: max(2 * (n - 1), 1),
}
_FAR = 2.0**30


def _within_reach(x, n: int, mode: str):
    """A coordinate of which the number of a pixel is an int32: far away another of the same value."""
    if not _dtypes.is_inexact(_typeof(x).dtype):
        return x
    near = x % _PERIODS[mode](n) if mode in _PERIODS else _xnp.clip(x, -2.0, n + 1.0)
    return _xnp.where(_xnp.abs(x) < _FAR, x, near)


def _where_known(value, xs):
    """NaN where a coordinate is NaN, of images that have it."""
    known = [x for x in xs if _dtypes.is_inexact(_typeof(x).dtype)]
    if not known or not _dtypes.is_inexact(_typeof(value).dtype):
        return value
    lost = _functools.reduce(_xnp.logical_or, map(_xnp.isnan, known))
    return _xnp.where(lost, _xnp.nan, value).astype(_typeof(value).dtype)


def _neighbours(x, order: int):
    """(index, weight) of the pixels along an axis that matter for a coordinate."""
    if not _dtypes.is_inexact(_typeof(x).dtype):
        return [(x, 1)]
    if order == 0:
        nearest = _xnp.where(x < 0, _xnp.ceil(x - 0.5), _xnp.floor(x + 0.5))
        return [(nearest.astype(_np.int32), 1)]
    low = _xnp.floor(x)
    part, i = x - low, low.astype(_np.int32)
    return [(i, 1 - part), (i + 1, part)]


_ABSENT = {
    "gaussian_filter gaussian_filter1d uniform_filter convolve convolve1d correlate correlate1d":
        "Take xcore.scipy.signal.convolve or fftconvolve with the weights; on the host SciPy's own: from "
        "scipy.ndimage import gaussian_filter.",
    "zoom rotate shift affine_transform geometric_transform": "Take map_coordinates, or xcore.image.resize.",
}  # fmt: skip
__getattr__ = _guide(__name__, _ABSENT)
