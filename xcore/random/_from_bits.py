"""Random bits into uniform and normal numbers."""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .._core import dtypes, typeof
from ._elementary import log
from ._streams import UINT, like, shifted


def bits_for(dtype) -> int:
    """How many random bits a number of this dtype is made of."""
    info = dtypes.finfo(dtype)
    return 8 if info.nmant < 8 else info.bits


def width(words) -> int:
    return 8 * typeof(words).dtype.itemsize


def mantissa_uniform(words, dtype):
    """Bits as a number in [0, 1): they fill the fraction of 1.xxx, from which 1 is taken away.

    So does jax, and so the multiples of 2^-23 (in float32) come, 0 included.
    """
    info = dtypes.finfo(dtype)
    drawn = width(words)
    if drawn < info.bits:
        words = ops.convert(words, dtype=UINT[info.bits])
    fraction = shifted(words, info.nmant - drawn)
    one = int(np.ones((), dtype).view(UINT[info.bits]))
    number = ops.bitcast_convert(ops.or_(fraction, like(words, one)), dtype=dtype)
    return ops.sub(number, like(number, 1))


def open_uniform(words, dtype):
    """All bits as a number in (0, 1), with as many digits near 0 as the dtype has."""
    x = ops.convert(words, dtype=dtype)
    x = ops.mul(ops.add(x, like(x, 0.5)), like(x, 2.0 ** -width(words)))
    return ops.min(x, like(x, 1 - float(dtypes.finfo(dtype).epsneg)))


def scaled(u, low, high):
    """A uniform number moved from [0, 1) to [low, high), rounding kept from falling below."""
    return ops.max(low, ops.add(ops.mul(u, ops.sub(high, low)), low))


def jax_normal(words, dtype):
    """Standard normal numbers, bit for bit jax's: √2 erf⁻¹ of a uniform number in (-1, 1)."""
    u = mantissa_uniform(words, dtype)
    low = np.nextafter(np.array(-1, dtype), np.array(0, dtype), dtype=dtype)
    u = scaled(u, like(u, low), like(u, 1))
    return ops.mul(like(u, np.sqrt(2)), ops.erf_inv(u))


# The quantile of the upper tail p of the normal distribution, divided by 1 - 2p, as a polynomial in
# w = -log(4p(1-p)) about 5/2 where w < 5 and in √w about 7/2 beyond, down to p = 2^-33. Fitted to
# least relative error, 1e-7 and 4e-7. That this ratio is so smooth in w is an idea of Giles:
# Approximating the erfinv function (GPU Computing Gems, 2011).
_NEAR = (4.03546491e-08, 4.86103988e-07, -4.99056539e-06, -6.21799331e-06, 0.000309150204,
         -0.00177301015, -0.00590817097, 0.34880266, 2.12331357)  # fmt: skip
_FAR = (-0.000239589343, 0.000798397299, -0.00109658515, 0.00141189316, -0.00284984896,
        0.00466930562, 1.42462629, 4.71708759)  # fmt: skip


def _polynomial(x, coefficients):
    total = like(x, coefficients[0])
    for c in coefficients[1:]:
        total = ops.add(ops.mul(total, x), like(x, c))
    return total


def fine_normal(words, dtype):
    """Standard normal numbers from all bits of words, so that their tails are fine.

    In float32 one bit is the sign, the others a probability down to 2^-33, where jax's numbers, made
    of 23 bits, end at 5.4 standard deviations and lie far apart from there to 4.
    """
    if dtype == dtypes.float64:
        return jax_normal(words, dtype)
    one, half = dtypes.float32.type(1), dtypes.float32.type(0.5)
    magnitude = ops.convert(ops.and_(words, like(words, 0x7FFFFFFF)), dtype=dtypes.float32)
    p = ops.mul(ops.add(magnitude, like(magnitude, half)), like(magnitude, 2.0**-32))
    w = ops.neg(log(ops.mul(ops.mul(p, like(p, 4)), ops.sub(like(p, one), p))))
    near = _polynomial(ops.sub(w, like(w, 2.5)), _NEAR)
    far = _polynomial(ops.sub(ops.sqrt(w), like(w, 3.5)), _FAR)
    size = ops.mul(
        ops.select(ops.lt(w, like(w, 5)), near, far), ops.sub(like(p, one), ops.add(p, p))
    )
    signed = ops.select(ops.lt(words, like(words, 0x80000000)), size, ops.neg(size))
    return signed if dtype == dtypes.float32 else ops.convert(signed, dtype=dtype)
