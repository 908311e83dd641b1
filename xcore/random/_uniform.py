"""Bits, uniform and normal numbers: whole arrays, or single elements of a key's stream."""

from __future__ import annotations

import math

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import boundary, dtypes, errors, typeof
from ..numpy._promote import as_array
from ._from_bits import bits_for, mantissa_uniform
from ._keys import consumed, single_key, words_of
from ._source import (
    Source,
    bound,
    concrete,
    draw,
    fit,
    floating,
    is_lenient,
    normal_of,
    ordered,
    shape_for,
)
from ._staged import staged
from ._streams import UINT, halves, is_listed


def _unsigned(who: str, dtype):
    found = dtypes.default_dtype("uint") if dtype is None else dtypes.as_dtype(dtype)
    if found not in UINT.values():
        raise errors.dtype_not_allowed(f"random.{who}", found, "unsigned integer (8 to 64 bits)")
    return found


# Whole arrays


@staged
def _bits(arrays, shape, dtype, stream):
    return Source(stream, *arrays).bits(shape, 8 * dtype.itemsize)


@boundary
def bits(key, shape=(), dtype=None):
    """Random bits: every value of an unsigned dtype is equally likely.

    Args:
      key: a random key.
      shape: shape of the result.
      dtype: an unsigned integer dtype; uint32 by default.

    >>> import xcore as xc
    >>> xc.random.bits(xc.random.key(0), (2,))
    Array([4070199207, 4202968722], dtype=uint32)
    """
    dtype, shape = _unsigned("bits", dtype), shape_for("bits", shape, ())
    found = consumed("bits", key)
    return _bits([found._data], shape, dtype, found._stream)


def _uniform(source, *, shape, dtype):
    return source.uniform(shape, dtype)


def _uniform_between(source, low, high, *, shape, dtype):
    low = xnp.where((low <= high) & (low > -np.inf) & (high < np.inf), low, np.nan)
    last = xnp.where(
        high > low, xnp.nextafter(high, low), high
    )  # sums are rounded, up to high as well
    # a distance that leaves the range is twice that of the halves; powers of two round nothing
    fold = xnp.where(high - low < np.inf, 1, 2).astype(dtype)
    drawn = source.uniform(shape, dtype, low / fold, high / fold) * fit(fold, shape)
    return xnp.minimum(drawn, last)


def _is_number(x, value: float) -> bool:
    return isinstance(x, (int, float)) and x == value


def _is_interval(low, high) -> bool:
    """Whether bounds are seen to be in order at once, as two Python numbers are."""
    return isinstance(low, (int, float)) and isinstance(high, (int, float)) and low <= high


def _check_held(dtype, **bounds) -> None:
    """Numbers of Python are finite in the dtype of the result."""
    most = float(dtypes.finfo(floating("uniform", dtype)).max)
    for name, value in bounds.items():
        if isinstance(value, (int, float)) and not abs(value) <= most and not is_lenient():
            want = f"a finite number of {dtypes.as_dtype(floating('uniform', dtype))}, up to {most:.3g}"
            raise errors.bad_argument("random.uniform", name, value, want)


@boundary
def uniform(key, shape=(), dtype=None, minval=0.0, maxval=1.0):
    """Uniform random numbers in [minval, maxval).

    Args:
      key: a random key.
      shape: shape of the result.
      dtype: floating dtype of the result; float32 by default.
      minval, maxval: bounds in this order, of shapes that broadcast to ``shape``. If they are out of order,
        or infinite, and nobody knew before the program ran, the numbers are NaN.

    >>> import xcore as xc
    >>> xc.random.uniform(xc.random.key(0), (2,))
    Array([0.947667 , 0.97858], dtype=float32)
    """
    if _is_number(minval, 0) and _is_number(maxval, 1):
        return draw("uniform", _uniform, key, shape, dtype, narrow=True)
    _check_held(dtype, minval=minval, maxval=maxval)
    bounds = bound("minval", minval), bound("maxval", maxval)
    if not _is_interval(minval, maxval):
        bounds = ordered("uniform", *bounds)
    return draw("uniform", _uniform_between, key, shape, dtype, *bounds, narrow=True)


def _normal(source, *, shape, dtype):
    return source.normal(shape, dtype)


@staged
def _complex_normal(arrays, shape, dtype, stream):
    return Source(stream, *arrays).complex_normal(shape, dtype)


@boundary
def normal(key, shape=(), dtype=None):
    """Standard normal random numbers: mean 0, variance 1.

      f(x) = e^(-x²/2) / √(2π)

    Args:
      key: a random key.
      shape: shape of the result.
      dtype: floating or complex dtype of the result; float32 by default. The parts of complex
        numbers have variance 1/2 each.

    >>> import xcore as xc
    >>> xc.random.normal(xc.random.key(0), (2,))
    Array([1.6226, 2.0253], dtype=float32)
    """
    dtype = floating("normal", dtype, complex_too=True)
    if not dtypes.is_complex(dtype):
        return draw("normal", _normal, key, shape, dtype, narrow=True)
    shape = shape_for("normal", shape, ())
    found = consumed("normal", key)
    return _complex_normal([found._data], shape, dtype, found._stream)


# Single elements


def _index(who: str, index):
    index = as_array(f"random.{who}", index, "index")
    if not dtypes.is_integer(typeof(index).dtype):
        raise errors.bad_argument(
            f"random.{who}", "index", index, "integers: the numbers of the elements"
        )
    host = concrete(index)
    if host is not None and host.size and host.min() < 0:
        raise errors.bad_argument(
            f"random.{who}",
            "index",
            int(host.min()),
            "non-negative: streams have no end to count from",
        )
    return index


@staged
def _elements_at(arrays, bits, finish, dtype, stream):
    data, index = arrays
    shape = typeof(index).shape
    flat = ops.reshape(index, shape=(math.prod(shape),))
    words = stream.elements(words_of(data), halves(flat), bits)
    return ops.reshape(finish(words, dtype), shape=shape)


def _at(who: str, key, index, bits: int, finish, dtype):
    # reading elements of a stream does not use it up: the same element may be asked for again
    found = single_key(who, key)
    if is_listed(found._stream):
        raise ValueError(
            f"xcore.random.{who}: without the setting threefry_partitionable an element depends on how many "
            "are drawn; set it to True, or draw all with random.bits."
        )
    return _elements_at([found._data, _index(who, index)], bits, finish, dtype, found._stream)


def _as_bits(words, dtype):
    return words


@boundary
def bits_at(key, index, dtype=None):
    """Elements of a key's stream by their positions: what ``bits(key, (n,))[index]`` is for any n.

    Args:
      key: a random key.
      index: non-negative integers, an array of any shape.
      dtype: as in ``bits``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> key = xc.random.key(0)
    >>> bool((xc.random.bits_at(key, xnp.arange(5)) == xc.random.bits(key, (5,))).all())
    True
    """
    dtype = _unsigned("bits_at", dtype)
    return _at("bits_at", key, index, 8 * dtype.itemsize, _as_bits, dtype)


@boundary
def uniform_at(key, index, dtype=None):
    """Elements of ``uniform(key, (n,))`` by their positions, n as large as one likes.

    Args:
      key: a random key.
      index: non-negative integers, an array of any shape.
      dtype: as in ``uniform``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> key = xc.random.key(0)
    >>> bool(xc.random.uniform_at(key, 7) == xc.random.uniform(key, (100,))[7])
    True
    """
    dtype = floating("uniform_at", dtype)
    return _at("uniform_at", key, index, bits_for(dtype), mantissa_uniform, dtype)


@boundary
def normal_at(key, index, dtype=None):
    """Elements of ``normal(key, (n,))`` by their positions, n as large as one likes.

    Args:
      key: a random key.
      index: non-negative integers, an array of any shape.
      dtype: floating dtype.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> key = xc.random.key(0)
    >>> bool(xc.random.normal_at(key, 7) == xc.random.normal(key, (100,))[7])
    True
    """
    dtype = floating("normal_at", dtype)
    return _at(
        "normal_at", key, index, *normal_of(single_key("normal_at", key)._stream, dtype), dtype
    )
