"""Numbers near the ends of their dtype's range, for methods that see a matrix only through products."""

# Checkers do not see: arrays, tracers, NumPy's arrays and numbers stand for each other.
# pyright: reportOperatorIssue=false

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import dtypes
from .._core.types import typeof
from ._arguments import modulus


def magnitude(x):
    """The power of two next to the largest element; 1 for zeros. Dividing by it rounds nothing."""
    size = xnp.max(modulus(x), initial=0)
    limits = xnp.finfo(typeof(size).dtype)
    kept = xnp.clip(size, 4 * limits.tiny, limits.max / 4)  # so its reciprocal is a number, too
    kept = ops.reduce_precision(kept, exponent_bits=_exponent_bits(limits), mantissa_bits=0)
    return xnp.where((size > 0) & xnp.isfinite(size), kept, 1).astype(typeof(size).dtype)


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


def unit_of(image):
    """What products are divided by so that their squares stay in range: 1 where they are not far from 1."""
    size = magnitude(image)
    far = float(xnp.finfo(typeof(size).dtype).max) ** 0.125
    return xnp.where((size > far) | (size < 1 / far), size, 1).astype(typeof(size).dtype)


def divided(f, unit):
    """x ↦ f(x) / unit, for a power of two, half of it before."""
    root = magnitude(xnp.sqrt(unit))
    before, after = 1 / root, root / unit
    return lambda x: f(x * before.astype(typeof(x).dtype)) * after.astype(typeof(x).dtype)


def any_subnormal(arrays):
    """Whether some element is not zero, but may count as zero, as numbers without a leading 1 do on many
    processors; those of float16 have one in float32, in which they are multiplied."""
    found = xnp.zeros((), bool)
    for x in arrays:
        x = xnp.asarray(x)
        if dtypes.is_inexact(x.dtype) and x.dtype != np.float16:
            parts = (xnp.real(x), xnp.imag(x)) if dtypes.is_complex(x.dtype) else (x,)
            for y in parts:
                found = found | _has_subnormal(y)
    return found


def _has_subnormal(x):
    limits = xnp.finfo(x.dtype)
    whole = np.dtype(f"uint{limits.bits}")
    bits = ops.bitcast_convert(x, dtype=whole)
    fraction = bits & whole.type((1 << limits.nmant) - 1)
    exponent = bits & whole.type(((1 << _exponent_bits(limits)) - 1) << limits.nmant)
    return xnp.any((fraction != 0) & (exponent == 0))
