"""Images of other sizes: names as in ``jax.image``."""

from __future__ import annotations

import enum as _enum
import math as _math
from collections.abc import Sequence as _Sequence
from typing import Any as _Any

import numpy as _np

from . import numpy as _xnp
from ._core import Array as _Array
from ._core import Shape as _Shape
from ._core import dtypes as _dtypes
from ._core import errors as _errors
from ._core import one_of as _one_of
from ._core.types import typeof as _typeof
from ._core.typing import ArrayLike as _ArrayLike

__all__ = ["ResizeMethod", "resize", "scale_and_translate"]


class ResizeMethod(_enum.Enum):
    """How the value between pixels is found.

    >>> ResizeMethod.from_string("bilinear")
    <ResizeMethod.LINEAR: 1>
    """

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4

    @staticmethod
    def from_string(s: str) -> ResizeMethod:
        """The method of a name."""
        _one_of("image", "method", s, _NAMES, f"one of {', '.join(_NAMES)}")
        return _NAMES[s]


_NAMES = {
    "nearest": ResizeMethod.NEAREST,
    **dict.fromkeys(("linear", "bilinear", "trilinear", "triangle"), ResizeMethod.LINEAR),
    **dict.fromkeys(("cubic", "bicubic", "tricubic"), ResizeMethod.CUBIC),
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
}


def _triangle(x):
    return _xnp.maximum(0, 1 - x)


def _keys(x):
    """The piecewise cubic of Keys (1981) with a = -1/2."""
    near = ((1.5 * x - 2.5) * x) * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return _xnp.where(x >= 2, 0, _xnp.where(x >= 1, far, near))


def _lanczos(radius: int):
    """sinc(x) sinc(x / radius) within the radius."""
    return lambda x: _xnp.where(x < radius, _xnp.sinc(x) * _xnp.sinc(x / radius), 0)


# Weights of a pixel by its distance, in pixels.
_KERNELS = {
    ResizeMethod.LINEAR: _triangle,
    ResizeMethod.CUBIC: _keys,
    ResizeMethod.LANCZOS3: _lanczos(3),
    ResizeMethod.LANCZOS5: _lanczos(5),
}


def _weights(size: int, new: int, scale, translation, kernel, antialias: bool, dtype):
    """The matrix from the pixels of an axis to those of the new one.

    The middle of new pixel j is at (j + 1/2 - translation) / scale of the old axis. Weights sum to
    one; a new pixel whose middle is not within the image is zero.
    """
    scale, translation = (_xnp.asarray(v, dtype) for v in (scale, translation))
    middle = (_xnp.arange(new, dtype=dtype) + 0.5 - translation) / scale
    width = _xnp.maximum(1 / scale, 1) if antialias else 1
    distance = _xnp.abs(middle - 0.5 - _xnp.arange(size, dtype=dtype)[:, None]) / width
    weight = kernel(distance)
    total = weight.sum(0)
    known = _xnp.abs(total) > 1000 * float(_np.finfo(_np.float32).eps)
    weight = _xnp.where(known, weight / _xnp.where(known, total, 1), 0)
    return _xnp.where((middle >= 0) & (middle <= size), weight, 0).astype(dtype)


def _method(given) -> ResizeMethod:
    return given if isinstance(given, ResizeMethod) else ResizeMethod.from_string(given)


def _checked(who: str, image, shape):
    image, shape = _xnp.asarray(image), tuple(map(int, shape))
    if len(shape) != _typeof(image).ndim or min(shape, default=0) < 0:
        wanted = f"{_typeof(image).ndim} sizes, as many as image has axes"
        raise _errors.bad_argument(who, "shape", shape, wanted)
    return image, shape


def _place_dtype(dtype):
    """The dtype of places in an image: single precision at least, even if values have less."""
    real = _np.dtype(_dtypes.to_real(dtype)) if _dtypes.is_inexact(dtype) else _np.dtype("float32")
    return real if real.itemsize >= 4 else _np.dtype("float32")


def _resampled(image, shape, axes, scales, translations, method, antialias, precision):
    """The image with these axes resampled, one after the other."""
    if not _dtypes.is_inexact(_typeof(image).dtype):
        image = image.astype(float)
    dtype, kernel = _typeof(image).dtype, _KERNELS[method]
    real = _place_dtype(dtype)
    for axis, scale, move in zip(axes, scales, translations, strict=True):
        old = _typeof(image).shape[axis]
        if old == 0 and shape[axis]:
            raise _errors.bad_argument(
                "image", "image", _typeof(image), "an axis that is not empty"
            )
        w = _weights(old, shape[axis], scale, move, kernel, antialias, real).astype(dtype)
        image = _xnp.moveaxis(_xnp.tensordot(image, w, (axis, 0), precision=precision), -1, axis)
    return image.astype(dtype)


def scale_and_translate(
    image: _ArrayLike, shape: _Shape, spatial_dims: _Sequence[int], scale: _ArrayLike,
    translation: _ArrayLike, method: str | ResizeMethod, antialias: bool = True,
    precision: _Any = "highest",
) -> _Array:  # fmt: skip
    """An image, stretched and moved: what was at x is at ``scale x + translation``.

    Pixel i reaches from i to i + 1, its middle is at i + 1/2. What comes from outside of the image is
    zero.

    Args:
      image: array of any number of axes; integers become floating-point numbers.
      shape: of the result.
      spatial_dims: the axes that are stretched and moved; the others keep their sizes.
      scale, translation: for each of these axes a number; both have derivatives.
      method: "linear", "cubic" (Keys), "lanczos3", "lanczos5" or a ``ResizeMethod``.
      antialias: widen the weights where an axis shrinks, so that all pixels count.
      precision: of the products, on devices with less precise units.

    >>> import xcore.numpy as xnp
    >>> scale_and_translate(xnp.asarray([1.0, 3.0]), (4,), (0,), xnp.ones(1), xnp.ones(1), "linear")
    Array([0., 1., 3., 0.], dtype=float32)
    """
    who = "image.scale_and_translate"
    image, shape = _checked(who, image, shape)
    ndim, method = len(shape), _method(method)
    if method is ResizeMethod.NEAREST:
        raise _errors.bad_argument(
            who, "method", method, "a method with weights; resize has NEAREST"
        )
    if not all(-ndim <= d < ndim for d in spatial_dims):
        raise _errors.bad_argument(who, "spatial_dims", spatial_dims, f"axes of an image of {ndim}")
    axes = [d % ndim for d in spatial_dims]
    places = _place_dtype(_typeof(image).dtype)
    scale, translation = _xnp.asarray(scale, places), _xnp.asarray(translation, places)
    for name, value in (("scale", scale), ("translation", translation)):
        if _typeof(value).shape != (len(axes),):
            raise _errors.bad_argument(who, name, _typeof(value), f"{len(axes)} numbers")
    kept = [d for d in range(ndim) if d not in axes]
    if len(set(axes)) < len(axes) or any(shape[d] != _typeof(image).shape[d] for d in kept):
        wanted = "every axis once that changes its size"
        raise _errors.bad_argument(who, "spatial_dims", spatial_dims, wanted)
    return _resampled(image, shape, axes, scale, translation, method, antialias, precision)


def resize(
    image: _ArrayLike, shape: _Shape, method: str | ResizeMethod, antialias: bool = True,
    precision: _Any = "highest",
) -> _Array:  # fmt: skip
    """An image of another size.

    Args:
      image: array of any number of axes; axes of channels and batches keep their sizes.
      shape: of the result, with all axes.
      method: "nearest", which keeps the dtype; "linear", "cubic" (Keys), "lanczos3", "lanczos5", which
        make floating-point numbers of integers; or a ``ResizeMethod``.
      antialias: widen the weights where an axis shrinks, so that all pixels count.
      precision: of the products, on devices with less precise units.

    >>> import xcore.numpy as xnp
    >>> resize(xnp.asarray([0.0, 2.0]), (4,), "linear")
    Array([0. , 0.5, 1.5, 2. ], dtype=float32)
    """
    image, shape = _checked("image.resize", image, shape)
    old, method = _typeof(image).shape, _method(method)
    axes = [i for i, (a, b) in enumerate(zip(old, shape, strict=True)) if a != b]
    if method is ResizeMethod.NEAREST:
        for i in axes:
            image = _xnp.take(image, _nearest(old[i], shape[i]), axis=i)
        return image
    scales = [shape[i] / old[i] if old[i] else _math.inf for i in axes]
    return _resampled(image, shape, axes, scales, [0.0] * len(axes), method, antialias, precision)


def _nearest(size: int, new: int):
    """The old pixel in which the middle of each new one lies."""
    return ((2 * _np.arange(new, dtype=_np.int64) + 1) * size // (2 * max(new, 1))).astype(
        _np.int32
    )
