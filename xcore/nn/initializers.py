"""Initial values of weights: functions ``init(key, shape, dtype)``, with the numbers of ``jax.nn``.

>>> import xcore as xc
>>> xc.nn.initializers.glorot_uniform()(xc.random.key(0), (3, 2)).shape
(3, 2)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .. import numpy as xnp
from .. import random
from .._core import Array, ArrayLike, DTypeLike, Key, Shape, dtypes, errors
from ..numpy._promote import check_shape, dtype_or

__all__ = [
    "zeros", "ones", "constant", "uniform", "normal", "truncated_normal", "variance_scaling",
    "glorot_uniform", "glorot_normal", "xavier_uniform", "xavier_normal", "lecun_uniform",
    "lecun_normal", "he_uniform", "he_normal", "kaiming_uniform", "kaiming_normal", "orthogonal",
    "delta_orthogonal",
]  # fmt: skip

Initializer = Callable[..., Array]  # of (key, shape, dtype)


def zeros(key: Key, shape: Shape, dtype: DTypeLike | None = None) -> Array:
    """Zeros; the key is not used.

    Args:
      key: accepted, for all initializers have one.
      shape, dtype: of the result.

    >>> import xcore as xc
    >>> xc.nn.initializers.zeros(xc.random.key(0), (2,))
    Array([0., 0.], dtype=float32)
    """
    return xnp.zeros(shape, dtype_or(dtype, "float"))


def ones(key: Key, shape: Shape, dtype: DTypeLike | None = None) -> Array:
    """Ones; the key is not used.

    Args:
      key: accepted, for all initializers have one.
      shape, dtype: of the result.

    >>> import xcore as xc
    >>> xc.nn.initializers.ones(xc.random.key(0), (2,))
    Array([1., 1.], dtype=float32)
    """
    return xnp.ones(shape, dtype_or(dtype, "float"))


def _initializer(sample, dtype):
    """``init(key, shape, dtype)`` from ``sample(key, shape, dtype)``, all of them checked."""
    default = dtype

    def init(key, shape, dtype=None):
        wanted = dtype_or(default if dtype is None else dtype, "float")
        if not dtypes.is_inexact(wanted):
            raise errors.dtype_not_allowed("nn.initializers", wanted, "floating and complex")
        return sample(key, check_shape("nn.initializers", shape), wanted)

    return init


def constant(value: ArrayLike, dtype: DTypeLike | None = None) -> Initializer:
    """One value everywhere.

    Args:
      value: number or array, broadcast to the shape.
      dtype: dtype of the results.

    >>> import xcore as xc
    >>> xc.nn.initializers.constant(3.0)(xc.random.key(0), (2,))
    Array([3., 3.], dtype=float32)
    """
    return _initializer(lambda key, shape, dtype: xnp.full(shape, value, dtype), dtype)


def uniform(scale: ArrayLike = 0.01, dtype: DTypeLike | None = None) -> Initializer:
    """Uniform on [0, scale).

    Args:
      scale: upper end.
      dtype: dtype of the results.

    >>> import xcore as xc
    >>> xc.nn.initializers.uniform(1.0)(xc.random.key(0), (2,)).shape
    (2,)
    """
    return _initializer(
        lambda key, shape, dtype: _times(random.uniform(key, shape, dtype), scale), dtype
    )


def _times(x, factor):
    return x * xnp.asarray(factor, x.dtype)


def normal(stddev: ArrayLike = 0.01, dtype: DTypeLike | None = None) -> Initializer:
    """Normal, of mean 0.

    Args:
      stddev: standard deviation.
      dtype: dtype of the results.

    >>> import xcore as xc
    >>> xc.nn.initializers.normal()(xc.random.key(0), (2,)).shape
    (2,)
    """
    return _initializer(
        lambda key, shape, dtype: _times(random.normal(key, shape, dtype), stddev), dtype
    )


def truncated_normal(
    stddev: ArrayLike = 0.01,
    dtype: DTypeLike | None = None,
    lower: ArrayLike = -2.0,
    upper: ArrayLike = 2.0,
) -> Initializer:
    """Normal, of mean 0, cut off at multiples of stddev. What remains deviates by less than stddev.

    Args:
      stddev: standard deviation before the cut.
      dtype: dtype of the results.
      lower, upper: where it is cut, in units of stddev.

    >>> import xcore as xc
    >>> xc.nn.initializers.truncated_normal()(xc.random.key(0), (2,)).shape
    (2,)
    """

    def sample(key, shape, dtype):
        return _times(random.truncated_normal(key, lower, upper, shape, dtype), stddev)

    return _initializer(sample, dtype)


# By the number of connections

# standard deviations of a normal number cut off at ±2, and of a complex one cut off at radius 2
_CUT_REAL, _CUT_COMPLEX = 0.87962566103423978, 0.95311164380491208


def _axes(axis) -> tuple:
    return (axis,) if isinstance(axis, int) else tuple(axis)


def _fans(shape, in_axis, out_axis, batch_axis):
    """How many inputs each output has, and how many outputs each input."""
    if len(shape) <= 1:
        raise errors.bad_argument(
            "nn.initializers",
            "shape",
            shape,
            "two axes or more",
            "Inputs and outputs need one each.",
        )
    inputs, outputs, batch = (
        math.prod(shape[i] for i in _axes(a)) for a in (in_axis, out_axis, batch_axis)
    )
    field = math.prod(shape) / inputs / outputs / batch
    return inputs * field, outputs * field


_MODES = {
    "fan_in": lambda i, o: i,
    "fan_out": lambda i, o: o,
    "fan_avg": lambda i, o: (i + o) / 2,
    "fan_geo_avg": lambda i, o: math.sqrt(i * o),
}


def _complex_disk(radius_of):
    """Complex numbers of random angle, whose radius is a function of a uniform number."""

    def sample(key, shape, dtype):
        first, second = random.split(key)
        real = dtypes.to_real(dtype)
        radius = radius_of(random.uniform(first, shape, real))
        angle = 2 * math.pi * random.uniform(second, shape, real)
        return radius.astype(dtype) * xnp.exp(1j * angle.astype(dtype))

    return sample


_COMPLEX = {
    "truncated_normal": (
        _complex_disk(lambda u: xnp.sqrt(-xnp.log(1 - (1 - math.exp(-4)) * u))), 1 / _CUT_COMPLEX,
    ),
    "uniform": (_complex_disk(xnp.sqrt), math.sqrt(2)),
    "normal": (random.normal, 1.0),
}  # fmt: skip
_REAL = {
    "truncated_normal": (
        lambda *args: random.truncated_normal(args[0], -2, 2, *args[1:]),
        1 / _CUT_REAL,
    ),
    "uniform": (lambda *args: random.uniform(*args, minval=-1), math.sqrt(3)),
    "normal": (random.normal, 1.0),
}


def variance_scaling(
    scale: float, mode: str, distribution: str, in_axis: int | Sequence[int] = -2,
    out_axis: int | Sequence[int] = -1, batch_axis: int | Sequence[int] = (),
    dtype: DTypeLike | None = None,
) -> Initializer:  # fmt: skip
    """Mean 0 and variance scale/n, where n counts connections.

    Args:
      scale: factor of the variance.
      mode: n is "fan_in", the inputs of an output; "fan_out", the outputs of an input; "fan_avg",
        their mean; or "fan_geo_avg", their geometric mean.
      distribution: "truncated_normal", "normal" or "uniform".
      in_axis, out_axis, batch_axis: axes of inputs, outputs and independent copies; any other
        axes are receptive fields.
      dtype: dtype of the results.

    >>> import xcore as xc
    >>> init = xc.nn.initializers.variance_scaling(1.0, "fan_in", "normal")
    >>> init(xc.random.key(0), (3, 2)).shape
    (3, 2)
    """
    for name, value, known in (("mode", mode, _MODES), ("distribution", distribution, _REAL)):
        if value not in known:
            expected = " or ".join(map(repr, known))
            raise errors.bad_argument("nn.initializers.variance_scaling", name, value, expected, "")

    def sample(key, shape, dtype):
        count = _MODES[mode](*_fans(shape, in_axis, out_axis, batch_axis))
        draw, factor = (_COMPLEX if dtypes.is_complex(dtype) else _REAL)[distribution]
        return _times(draw(key, shape, dtype), factor * math.sqrt(scale / max(count, 1e-300)))

    return _initializer(sample, dtype)


def _scaled(name: str, text: str, scale: float, mode: str, distribution: str):
    def make(
        in_axis: int | Sequence[int] = -2, out_axis: int | Sequence[int] = -1,
        batch_axis: int | Sequence[int] = (), dtype: DTypeLike | None = None,
    ) -> Initializer:  # fmt: skip
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"""{text}: ``variance_scaling({scale}, "{mode}", "{distribution}")``.

    Args:
      in_axis, out_axis, batch_axis: axes of inputs, outputs and independent copies.
      dtype: dtype of the results.

    >>> import xcore as xc
    >>> xc.nn.initializers.{name}()(xc.random.key(0), (3, 2)).shape
    (3, 2)
    """
    return make


glorot_uniform = _scaled("glorot_uniform", "Glorot and Bengio's", 1.0, "fan_avg", "uniform")
glorot_normal = _scaled("glorot_normal", "Glorot and Bengio's", 1.0, "fan_avg", "truncated_normal")
xavier_uniform, xavier_normal = glorot_uniform, glorot_normal
lecun_uniform = _scaled("lecun_uniform", "LeCun's", 1.0, "fan_in", "uniform")
lecun_normal = _scaled("lecun_normal", "LeCun's", 1.0, "fan_in", "truncated_normal")
he_uniform = _scaled("he_uniform", "He's, for relu", 2.0, "fan_in", "uniform")
he_normal = _scaled("he_normal", "He's, for relu", 2.0, "fan_in", "truncated_normal")
kaiming_uniform, kaiming_normal = he_uniform, he_normal


# Orthogonal


def orthogonal(
    scale: ArrayLike = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None
) -> Initializer:
    """Matrices with orthonormal columns (or rows, if there are fewer), uniformly distributed.

    Args:
      scale: factor.
      column_axis: the axis of columns; all others together are that of rows.
      dtype: dtype of the results.

    >>> import xcore as xc
    >>> q = xc.nn.initializers.orthogonal()(xc.random.key(0), (3, 2))
    >>> bool(abs(q.T @ q - xc.numpy.eye(2)).max() < 1e-6)
    True
    """

    def sample(key, shape, dtype):
        if len(shape) < 2:
            raise errors.bad_argument(
                "nn.initializers.orthogonal", "shape", shape, "two axes or more", ""
            )
        columns, rest = shape[column_axis], list(shape)
        del rest[column_axis]
        matrix = random.orthogonal(key, math.prod(rest), (), dtype, columns)
        return _times(xnp.moveaxis(matrix.reshape(*rest, columns), -1, column_axis), scale)

    return _initializer(sample, dtype)


def delta_orthogonal(
    scale: ArrayLike = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None
) -> Initializer:
    """Convolution kernels that are an orthogonal matrix at their centre and 0 elsewhere.

    Args:
      scale: factor.
      column_axis: as in ``orthogonal``.
      dtype: dtype of the results.

    >>> import xcore as xc
    >>> xc.nn.initializers.delta_orthogonal()(xc.random.key(0), (3, 3, 2, 4)).shape
    (3, 3, 2, 4)
    """

    def sample(key, shape, dtype):
        if len(shape) not in (3, 4, 5) or shape[-1] < shape[-2]:
            raise errors.bad_argument(
                "nn.initializers.delta_orthogonal", "shape", shape,
                "3 to 5 axes, the last no smaller than the one before", "",
            )  # fmt: skip
        matrix = orthogonal(scale, column_axis, dtype)(key, shape[-2:])
        center = tuple((n - 1) // 2 for n in shape[:-2])
        return xnp.zeros(shape, dtype).at[center].set(matrix)

    return _initializer(sample, dtype)
