"""Normalisations over axes: softmax, standardize, one-hot vectors."""

from __future__ import annotations

from .. import numpy as xnp
from .._core import dtypes, errors, fused, one_of, typeof
from ..numpy._promote import as_array, as_inexact, astype, one_axis
from ..special import logsumexp
from ..special._sums import masked_log_softmax, masked_softmax


def _static(axis):
    return tuple(axis) if isinstance(axis, list) else axis


def softmax(x, axis=-1, where=None):
    """e^x / Σ e^x, the sum over the axis.

    Args:
      x: array.
      axis: int, tuple of ints, or None for all axes.
      where: which elements take part; the others give 0.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.nn.softmax(xnp.asarray([0.0, 0.0, 1000.0]))
    Array([0., 0., 1.], dtype=float32)
    """
    return masked_softmax(x, where, axis=_static(axis))


def log_softmax(x, axis=-1, where=None):
    """x - log Σ e^x, the sum over the axis.

    Args:
      x: array.
      axis: int, tuple of ints, or None for all axes.
      where: which elements take part; the others give -∞.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.nn.log_softmax(xnp.asarray([0.0, 1000.0]))
    Array([-1000.,     0.], dtype=float32)
    """
    return masked_log_softmax(x, where, axis=_static(axis))


def logmeanexp(x, axis=None, where=None, keepdims=False):
    """The logarithm of the mean of e^x over the axis.

    Args:
      x: array.
      axis: int, tuple of ints, or None for all axes.
      where: which elements take part.
      keepdims: whether the axes stay, with size 1.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.nn.logmeanexp(xnp.asarray([1000.0, 1000.0]))
    Array(1000., dtype=float32)
    """
    return _logmeanexp(x, where, axis=_static(axis), keepdims=keepdims)


@fused(2)
def _logmeanexp(x, where, axis, keepdims):
    x = as_inexact("nn.logmeanexp", x)
    total = logsumexp(x, axis, keepdims=keepdims, where=where)
    taken = xnp.ones_like(x) if where is None else xnp.broadcast_to(where, typeof(x).shape)
    count = xnp.sum(taken, axis, keepdims=keepdims, dtype=typeof(total).dtype)
    return total - xnp.log(count)


@fused(4)
def _standardize(x, mean, variance, where, axis, epsilon, algorithm):
    x = as_inexact("nn.standardize", x)
    dtype = typeof(x).dtype
    x = astype(x, dtypes.float32) if dtype.itemsize < 4 else x  # squares leave 16 bits soon
    if mean is None:
        mean = xnp.mean(x, axis, keepdims=True, where=where)
    if variance is None and algorithm == "stable":
        variance = xnp.mean(xnp.square(x - mean), axis, keepdims=True, where=where)
    elif variance is None:
        # rounding may make the difference negative
        square = xnp.mean(xnp.square(x), axis, keepdims=True, where=where)
        variance = xnp.maximum(square - xnp.square(mean), 0)
    out = (x - mean) / xnp.sqrt(variance + epsilon)
    return astype(out, dtype) if dtype.itemsize < 4 else out


def standardize(
    x, axis=-1, mean=None, variance=None, epsilon=1e-5, where=None, *, algorithm="stable"
):
    """(x - mean)/√(variance + epsilon) over the axis.

    Args:
      x: array.
      axis: int, tuple of ints, or None for all axes.
      mean, variance: what is known of them; computed where None.
      epsilon: what keeps the square root away from 0.
      where: which elements count for mean and variance.
      algorithm: how to find the variance: "stable", the mean of squared differences from the mean, or
        "fast", the mean of squares minus the square of the mean, which loses its digits where the mean is
        large beside the deviation.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xnp.round(xc.nn.standardize(xnp.asarray([1.0, 3.0])), 3)
    Array([-1.,  1.], dtype=float32)
    """
    one_of("nn.standardize", "algorithm", algorithm, ("fast", "stable"), '"fast" or "stable"')
    return _standardize(
        x, mean, variance, where, axis=_static(axis), epsilon=epsilon, algorithm=algorithm
    )


def one_hot(x, num_classes, *, dtype=None, axis=-1):
    """Vectors of zeros with a one at position x, along a new axis; x outside gives zeros.

    Args:
      x: array of indices.
      num_classes: length of the vectors, a Python int.
      dtype: dtype of the result, floating by default.
      axis: where the new axis stands in the result.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.nn.one_hot(xnp.asarray([0, 2]), 3)
    Array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    if isinstance(num_classes, bool) or not hasattr(num_classes, "__index__"):
        raise errors.bad_argument(
            "nn.one_hot", "num_classes", num_classes, "a Python int", "It sets a shape."
        )
    dtype = dtypes.default_dtype("float") if dtype is None else dtypes.as_dtype(dtype)
    x = xnp.asarray(x) if isinstance(x, (list, tuple)) else x
    return _one_hot(x, num_classes=num_classes.__index__(), dtype=dtype, axis=axis)


@fused(1)
def _one_hot(x, num_classes, dtype, axis):
    x = as_array("nn.one_hot", x)
    ndim = typeof(x).ndim + 1
    place = one_axis("nn.one_hot", axis, ndim)
    classes = xnp.arange(num_classes, dtype=typeof(x).dtype)
    classes = classes.reshape([num_classes if i == place else 1 for i in range(ndim)])
    return (xnp.expand_dims(x, place) == classes).astype(dtype)
