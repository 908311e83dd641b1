"""Mathematical functions, element by element: powers, exponentials, angles, complex parts."""

from __future__ import annotations

import math

from .. import _ops as ops
from .._core import dtypes, fused, typeof
from ._elementwise import (
    binary,
    const,
    floor_remainder,
    keeping_weakness,
    unary,
    with_value,
)
from ._promote import as_inexact

# Powers and exponentials

# fmt: off
exp = unary("exp", ops.exp, "e^x.", "xnp.exp(xnp.arange(2.0)) → Array([1.       , 2.7182817], dtype=float32)")
expm1 = unary("expm1", ops.expm1, "e^x - 1, accurate near 0.",
    "xnp.expm1(1e-5) → Array(1.000005e-05, dtype=float32, weak_type=True)")
log = unary("log", ops.log, "Natural logarithm.",
    "xnp.log(xnp.asarray([1.0, 2.0])) → Array([0.       , 0.6931472], dtype=float32)")
log1p = unary("log1p", ops.log1p, "log(1 + x), accurate near 0.",
    "xnp.log1p(1e-5) → Array(9.99995e-06, dtype=float32, weak_type=True)")
sqrt = unary("sqrt", ops.sqrt, "Square root; NaN for negative reals.",
    "xnp.sqrt(xnp.asarray([4.0, 9.0])) → Array([2., 3.], dtype=float32)")
# fmt: on


def _times(z, factor: float):
    """A complex number times a real one; infinities and NaN in one part do not reach the other."""
    parts = [ops.real(z), ops.imag(z)]
    return ops.complex(*[ops.mul(p, ops.full_like_type(typeof(p).strong(), factor)) for p in parts])


def _log_to(base: int):
    """The logarithm to a base; of a power of the base it is exactly the exponent."""

    def on_values(x):
        if dtypes.is_complex(typeof(x).dtype):
            return _times(ops.log(x), 1 / math.log(base))
        raw = ops.div(ops.log(x), const(x, math.log(base)))
        whole = ops.round_even(raw)
        hit = ops.eq(ops.pow(const(x, base), whole), x)
        if base == 2:  # a GPU's powers are a last digit off here and there
            hit = ops.or_(hit, ops.eq(power_of_two_near(x), x))
        hit = ops.and_(hit, ops.is_finite(raw))
        return ops.select(hit, with_value(whole, raw), raw)

    return on_values


def power_of_two_near(x):
    limits = dtypes.finfo(typeof(x).dtype)
    return ops.reduce_precision(x, exponent_bits=limits.bits - 1 - limits.nmant, mantissa_bits=0)


def raised_two(x):
    # a complex power is NaN where the exponent is infinite
    return ops.exp(_times(x, math.log(2))) if is_complex(x) else ops.pow(ops.splat(typeof(x), 2), x)


# fmt: off
exp2 = unary("exp2", raised_two, "2^x.", "xnp.exp2(xnp.arange(3)) → Array([1., 2., 4.], dtype=float32)")
log2 = unary("log2", _log_to(2), "Logarithm to the base 2.",
    "xnp.log2(xnp.asarray([1, 8])) → Array([0., 3.], dtype=float32)")
log10 = unary("log10", _log_to(10), "Logarithm to the base 10.",
    "xnp.log10(xnp.asarray([1, 1000])) → Array([0., 3.], dtype=float32)")
cbrt = unary("cbrt", ops.cbrt, "Cube root, of negative numbers too.",
    "xnp.cbrt(-8.0) → Array(-2., dtype=float32, weak_type=True)", kinds={"float"})
# fmt: on


# Of two formulas that both hold everywhere, the one that does not overflow is chosen: it has the right
# derivatives of all orders, where those of |x - y| and of the larger one end at x = y.


def _ordered(x, y, size_x, size_y):
    swap = ops.lt(size_x, size_y)
    return ops.select(swap, y, x), ops.select(swap, x, y)


def _hypot(x, y):
    big, small = _ordered(x, y, ops.abs(x), ops.abs(y))
    infinite = ops.or_(ops.is_infinite(x), ops.is_infinite(y))
    nothing = ops.eq(big, const(x, 0))
    ratio = ops.div(small, ops.select(ops.or_(nothing, infinite), const(x, 1), big))
    length = ops.mul(ops.abs(big), ops.sqrt(ops.add(const(x, 1), ops.mul(ratio, ratio))))
    return ops.select(infinite, const(x, math.inf), length)


hypot = binary("hypot", _hypot, "√(x1² + x2²), without overflow on the way.",
    "xnp.hypot(3.0, 4.0) → Array(5., dtype=float32, weak_type=True)", inexact=True, kinds={"float"})  # fmt: skip


def _smaller_to_larger(x, y, of_gap):
    """max(x, y) + of_gap(min - max), the difference of equal infinities being 0."""
    big, small = _ordered(x, y, x, y)
    same = ops.and_(ops.eq(x, y), ops.is_infinite(x))
    zero = const(x, 0)
    gap = ops.sub(ops.select(same, zero, small), ops.select(same, zero, big))
    return ops.select(same, ops.max(x, y), ops.add(big, of_gap(gap)))


def _logaddexp(x, y):
    if is_complex(x):
        return _logaddexp_complex(x, y)
    return _smaller_to_larger(x, y, lambda gap: ops.log1p(ops.exp(gap)))


def _logaddexp_complex(x, y):
    """The exponential of smaller modulus is added to the other; the angle is brought into (-π, π]."""
    swap = ops.lt(ops.real(x), ops.real(y))
    big, small = ops.select(swap, y, x), ops.select(swap, x, y)
    # where the larger is 0 or infinite, so is the sum: the difference would be NaN
    plain = ops.and_(ops.is_finite(ops.real(big)), ops.is_finite(ops.imag(big)))
    safe = ops.select(plain, big, ops.zeros(typeof(big)))
    shift = ops.select(plain, ops.sub(small, safe), ops.full_like_type(typeof(big), -math.inf))
    out = ops.add(big, ops.log1p(ops.exp(shift)))
    turn = ops.full_like_type(typeof(ops.real(out)).strong(), 2 * math.pi)
    angle, half = ops.imag(out), ops.full_like_type(typeof(turn), math.pi)
    angle = ops.sub(half, floor_remainder(ops.sub(half, angle), turn))
    return ops.complex(ops.real(out), angle)


def _logaddexp2(x, y):
    if is_complex(x):
        natural = _logaddexp_complex(_times(x, math.log(2)), _times(y, math.log(2)))
        return _times(natural, 1 / math.log(2))
    return _smaller_to_larger(x, y, _log2_1p_exp2)


def _log2_1p_exp2(gap):
    """log2(1 + t), t = 2^gap: as 1 + log2(1 + (t - 1) / 2) next to 1, where it is exact."""
    factor, one, half = (const(gap, v) for v in (math.log(2), 1, 0.5))
    part = raised_two(gap)
    near = ops.gt(part, half)
    tail = ops.log1p(ops.select(near, ops.mul(ops.sub(part, one), half), part))
    return ops.add(ops.convert(near, dtype=typeof(gap).dtype), ops.div(tail, factor))


# fmt: off
logaddexp = binary("logaddexp", _logaddexp, "log(e^x1 + e^x2), without overflow on the way.",
    "xnp.logaddexp(0.0, 0.0) → Array(0.6931472, dtype=float32, weak_type=True)", inexact=True)
logaddexp2 = binary("logaddexp2", _logaddexp2, "log2(2^x1 + 2^x2), without overflow on the way.",
    "xnp.logaddexp2(1.0, 1.0) → Array(2., dtype=float32, weak_type=True)", inexact=True)

# Angles

sin = unary("sin", ops.sin, "Sine of an angle in radians.",
    "xnp.sin(xnp.arange(2.0)) → Array([0.        , 0.84147096], dtype=float32)")
cos = unary("cos", ops.cos, "Cosine of an angle in radians.",
    "xnp.cos(xnp.arange(2.0)) → Array([1.       , 0.5403023], dtype=float32)")
tan = unary("tan", ops.tan, "Tangent of an angle in radians.",
    "xnp.tan(1.0) → Array(1.5574077, dtype=float32, weak_type=True)")
arcsin = unary("arcsin", ops.asin, "Arc sine, in [-π/2, π/2].",
    "xnp.arcsin(1.0) → Array(1.5707964, dtype=float32, weak_type=True)")
arccos = unary("arccos", ops.acos, "Arc cosine, in [0, π].",
    "xnp.arccos(0.0) → Array(1.5707964, dtype=float32, weak_type=True)")
arctan = unary("arctan", ops.atan, "Arc tangent, in [-π/2, π/2].",
    "xnp.arctan(1.0) → Array(0.7853982, dtype=float32, weak_type=True)")
sinh = unary("sinh", ops.sinh, "Hyperbolic sine.", "xnp.sinh(1.0) → Array(1.17520..., dtype=float32, weak_type=True)")
cosh = unary("cosh", ops.cosh, "Hyperbolic cosine.",
    "xnp.cosh(1.0) → Array(1.5430806, dtype=float32, weak_type=True)")
tanh = unary("tanh", ops.tanh, "Hyperbolic tangent.",
    "xnp.tanh(1.0) → Array(0.7615942, dtype=float32, weak_type=True)")
arcsinh = unary("arcsinh", ops.asinh, "Inverse of sinh.",
    "xnp.arcsinh(1.0) → Array(0.88137364, dtype=float32, weak_type=True)")
arccosh = unary("arccosh", ops.acosh, "Inverse of cosh, 0 or more.",
    "xnp.arccosh(2.0) → Array(1.316958, dtype=float32, weak_type=True)")
arctanh = unary("arctanh", ops.atanh, "Inverse of tanh.",
    "xnp.arctanh(0.5) → Array(0.54930615, dtype=float32, weak_type=True)")
asin, acos, atan, asinh, acosh, atanh = arcsin, arccos, arctan, arcsinh, arccosh, arctanh
arctan2 = binary("arctan2", ops.atan2, "The angle of the point (x2, x1), in [-π, π].",
    "xnp.arctan2(1.0, -1.0) → Array(2.3561945, dtype=float32, weak_type=True)", inexact=True, kinds={"float"})
atan2 = arctan2
_TO_RADIANS, _TO_DEGREES = math.pi / 180, 180 / math.pi
deg2rad = unary("deg2rad", lambda x: ops.mul(x, const(x, _TO_RADIANS)), "Degrees in radians.",
    "xnp.deg2rad(180.0) → Array(3.1415927, dtype=float32, weak_type=True)", kinds={"float"})
rad2deg = unary("rad2deg", lambda x: ops.mul(x, const(x, _TO_DEGREES)), "Radians in degrees.",
    "xnp.rad2deg(xnp.pi) → Array(180., dtype=float32, weak_type=True)", kinds={"float"})
# fmt: on
radians, degrees = deg2rad, rad2deg


def _half_turn(x):
    """The number within 1/2 of 0 whose sine, times π, is that of x: exactly 0 for whole x."""
    part = ops.real(x) if dtypes.is_complex(typeof(x).dtype) else x
    turns = ops.round_even(ops.mul(part, const(part, 0.5)))
    rest = ops.sub(part, ops.mul(const(part, 2), turns))
    beyond = ops.gt(ops.abs(rest), const(part, 0.5))
    folded = ops.select(beyond, ops.sub(ops.sign(rest), rest), rest)
    if part is x:
        return folded
    height = ops.imag(x)
    return ops.complex(folded, ops.select(beyond, ops.neg(height), height))


def _sinc(x):
    # near 0 the quotient's derivatives cancel: up to 1 there is the series Σ (-t²)ᵏ / (2k + 1)!
    t = ops.mul(x, const(x, math.pi))
    size = ops.abs(t)
    near = ops.lt(size, ops.full_like_type(typeof(size).strong(), 1.0))
    small = ops.select(near, t, const(x, 0))
    square = ops.mul(small, small)
    safe = ops.select(near, const(x, 1), t)
    *factors, last = [(-1) ** k / math.factorial(2 * k + 1) for k in range(10)]
    series = const(x, last)
    for factor in reversed(factors):
        series = ops.add(const(x, factor), ops.mul(square, series))
    wave = ops.sin(ops.mul(_half_turn(x), const(x, math.pi)))
    return ops.select(near, series, ops.div(wave, safe))


sinc = unary("sinc", _sinc, "sin(πx) / (πx), and 1 at 0.",
    "xnp.sinc(xnp.asarray([0.0, 0.5])) → Array([1.        , 0.63661975], dtype=float32)")  # fmt: skip


def _i0(x):
    """The series in (x/2)², whose terms are positive, up to 20; beyond, the asymptotic one in 1/x."""
    t = ops.convert(x, dtype=dtypes.float32) if typeof(x).dtype.itemsize < 4 else x
    size = ops.abs(t)
    far = ops.gt(size, const(t, 20))
    near = ops.select(far, const(t, 1), t)
    quarter = ops.mul(const(t, 0.25), ops.mul(near, near))
    total = const(t, 1)
    for k in range(60, 0, -1):
        total = ops.add(const(t, 1), ops.mul(ops.mul(quarter, const(t, 1 / k**2)), total))
    inverse = ops.div(const(t, 1), ops.select(far, size, const(t, 20)))
    tail = const(t, 1)
    for k in range(30, 0, -1):
        tail = ops.add(
            const(t, 1), ops.mul(ops.mul(inverse, const(t, (2 * k - 1) ** 2 / (8 * k))), tail)
        )
    # e^x overflows before I0 does: half of it twice
    half = ops.exp(ops.mul(const(t, 0.5), ops.select(far, size, const(t, 20))))
    root = ops.sqrt(ops.select(far, size, const(t, 20)))  # of 1/|x|, which may vanish, it is not
    scaled = ops.div(tail, ops.mul(root, const(t, math.sqrt(2 * math.pi))))
    beyond = ops.mul(ops.mul(half, scaled), half)
    return ops.convert(ops.select(far, beyond, total), dtype=typeof(x).dtype)


i0 = unary("i0", _i0, "The modified Bessel function of order 0.",
    "xnp.i0(0.0) → Array(1., dtype=float32, weak_type=True)", kinds={"float"})  # fmt: skip

# Complex parts


def is_complex(x) -> bool:
    return dtypes.is_complex(typeof(x).dtype)


def _real(x):
    return ops.real(x) if is_complex(x) else x


def _imag(x):
    return ops.imag(x) if is_complex(x) else ops.zeros(typeof(x))


# fmt: off
real = unary("real", _real, "The real part.", "xnp.real(1 + 2j) → Array(1., dtype=float32, weak_type=True)",
    inexact=False)
imag = unary("imag", _imag, "The imaginary part; 0 for real numbers.",
    "xnp.imag(1 + 2j) → Array(2., dtype=float32, weak_type=True)", inexact=False)
conjugate = unary("conjugate", ops.conjugate, "The complex conjugate.",
    "xnp.conjugate(1 + 2j) → Array(1.-2.j, dtype=complex64, weak_type=True)", inexact=False)
# fmt: on
conj = conjugate


@fused(1)
def angle(z, deg=False):
    """The angle of complex numbers, in (-π, π].

    Args:
      z: array.
      deg: in degrees instead of radians.

    >>> import xcore.numpy as xnp
    >>> xnp.angle(1j, deg=True)
    Array(90., dtype=float32)
    """

    def on_values(z):
        z = z if dtypes.is_complex(typeof(z).dtype) else ops.stop_gradient(z)  # 0 or π: a step
        out = ops.atan2(_imag(z), _real(z))
        return ops.mul(out, const(out, _TO_DEGREES)) if deg else out

    return keeping_weakness(on_values, as_inexact("numpy.angle", z))


def _sign(x):
    t = typeof(x)
    if t.dtype == bool or dtypes.kind(t.dtype) != "float":
        return x if t.dtype == bool else ops.sign(x)
    zero = ops.zeros(t.strong())
    return ops.select(ops.eq(x, zero), zero, ops.sign(x))  # of -0 it is 0


sign = unary("sign", _sign, "-1, 0 or 1; x / |x| of complex numbers.",
    "xnp.sign(xnp.asarray([-2.0, 0.0, 3.0])) → Array([-1.,  0.,  1.], dtype=float32)", inexact=False)  # fmt: skip


def _heaviside(x, at_zero):
    x = ops.stop_gradient(x)  # a step has derivative zero
    zero = ops.zeros(typeof(x))
    out = ops.select(ops.gt(x, zero), const(x, 1), zero)
    return ops.select(ops.eq(x, zero), at_zero, ops.select(ops.ne(x, x), x, out))


heaviside = binary(
    "heaviside", _heaviside, "0 for x1 < 0, 1 for x1 > 0, and x2 at 0.",
    "xnp.heaviside(xnp.asarray([-1.0, 0.0, 1.0]), 0.5) → "
    "Array([0. , 0.5, 1. ], dtype=float32)", inexact=True, kinds={"float"},
)  # fmt: skip
