"""Numbers near the ends of their dtype's range, for methods that see a matrix only through products."""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import dtypes, typeof
from ._arguments import modulus


def magnitude(x, axis=None):
    """The power of two next to the largest element (along an axis, kept); 1 for zeros. Division by it is exact."""
    size = xnp.max(modulus(x), axis=axis, initial=0, keepdims=axis is not None)
    limits = xnp.finfo(typeof(size).dtype)
    kept = xnp.clip(size, 4 * limits.tiny, limits.max / 4)  # so its reciprocal is a number, too
    kept = ops.reduce_precision(kept, exponent_bits=_exponent_bits(limits), mantissa_bits=0)
    return xnp.where((size > 0) & xnp.isfinite(size), kept, 1).astype(typeof(size).dtype)


def in_units(x, axis=None) -> tuple:
    """(unit, x / unit), with a power of two that is a constant to derivatives: the second is of about size 1."""
    x = x if dtypes.is_inexact(typeof(x).dtype) else x.astype(dtypes.to_inexact(typeof(x).dtype))
    unit = ops.stop_gradient(magnitude(x, axis))
    return unit, x / unit.astype(typeof(x).dtype)


def _exponent_bits(limits) -> int:
    return limits.bits - 1 - limits.nmant


def inner(x, y):
    """The inner product, conjugating x."""
    return xnp.vdot(x, y)


def norm(x):
    return xnp.sqrt(xnp.real(inner(x, x)))


def safe_norm(x):
    """The norm where squares would overflow or vanish."""
    size = magnitude(x)
    return norm(x / size) * size


def column_norms(x):
    """Norms of the columns of matrices, whose squares may leave the range, each on its own."""
    size = magnitude(x, axis=-2)
    return xnp.linalg.norm(x / size.astype(typeof(x).dtype), axis=-2) * size[..., 0, :]


def unit_of(image):
    """What products are divided by so that their squares stay in range: 1 where they are not far from 1."""
    return unit_for(magnitude(image))


def unit_for(size):
    """The same of a power of two that is about as large as products."""
    far = float(xnp.finfo(typeof(size).dtype).max) ** 0.125
    return xnp.where((size > far) | (size < 1 / far), size, 1).astype(typeof(size).dtype)


def divided(f, unit):
    """x ↦ f(x) / unit, for a power of two, half of it before."""
    root = magnitude(xnp.sqrt(unit))
    before, after = 1 / root, root / unit
    return lambda x: f(x * before.astype(typeof(x).dtype)) * after.astype(typeof(x).dtype)


def any_subnormal(arrays):
    """Whether some element is not zero, but may count as zero (see ``subnormals``)."""
    found = xnp.zeros((), bool)
    for x in arrays:
        found = found | subnormals(xnp.asarray(x))
    return found


def lost(x, axes):
    """The smallest normal number where elements along these axes count as zero and are not, else 0."""
    real = dtypes.to_real(typeof(x).dtype)
    return xnp.where(subnormals(x, axes), dtypes.finfo(real).tiny, real.type(0))


def vanished(x, steps: int = 1):
    """What a few steps with each of these matrices may miss below the range, by its largest element."""
    size = xnp.max(xnp.abs(x), axis=(-2, -1), initial=0)
    return below_range(x, steps) / xnp.where(size > 0, size, 1)


def below_range(x, steps: int = 1):
    """The same in their own units: infinite where nothing that is not 0 is in the range, and where reciprocals of
    the largest elements, by which eliminations multiply, are not."""
    size = xnp.max(xnp.abs(x), axis=(-2, -1), initial=0)
    real = typeof(size).dtype
    tiny = dtypes.finfo(real).tiny
    some = xnp.where(lost(x, (-2, -1)) > 0, xnp.inf, real.type(0))
    some = xnp.where(size > 0, real.type(steps * tiny), some)
    return xnp.where(size * tiny > 1, xnp.inf, some)


def subnormals(x, axes=None):
    """Whether there are elements, along these axes, without a leading 1. quirk: SUBNORMALS_FLUSHED

    Those of float16 have one in float32, in which they are multiplied.
    """
    if not dtypes.is_inexact(x.dtype) or x.dtype == np.float16:
        return xnp.any(xnp.zeros(typeof(x).shape, bool), axes)
    if dtypes.is_complex(x.dtype):
        return subnormals(xnp.real(x), axes) | subnormals(xnp.imag(x), axes)
    limits = xnp.finfo(x.dtype)
    whole = np.dtype(f"uint{limits.bits}")
    sign, least = 1 << (int(limits.bits) - 1), 1 << int(limits.nmant)
    bits = ops.bitcast_convert(x, dtype=whole) & whole.type(sign - 1)
    # 0 becomes the largest number
    return xnp.any(bits - whole.type(1) < whole.type(least - 1), axes)
