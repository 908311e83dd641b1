"""The representation of floats: signs, exponents, neighbours; NaN and infinity; comparison up to a tolerance."""

from __future__ import annotations

import math

import numpy as np

from .. import _ops as ops
from .._core import dtypes, errors, typeof
from .._core.eval import narrowed
from .._core.fused import fused
from ._compound import Compound
from ._creation import asarray
from ._elementwise import binary, const, pick_of_two, unary
from ._functions import is_complex
from ._promote import (
    as_array,
    as_arrays,
    as_inexact,
    astype,
    broadcast_shapes,
    broadcast_to,
    filled,
    inexact_dtype,
)
from ._reduce import all as all_of


def _bits(x):
    """A float as the signed integer of its bits."""
    return ops.bitcast_convert(x, dtype=_BITS_OF[typeof(x).dtype.itemsize])


_BITS_OF = {2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}

# NaN and infinity


def _by_class(on_floats):
    """A predicate: of integers and bools nothing is NaN or infinite."""

    def on_values(x):
        kind = dtypes.kind(typeof(x).dtype)
        if kind == "float8":
            x, kind = ops.convert(x, dtype=dtypes.float32), "float"
        if kind == "complex":
            return _of_any_part(on_floats, x)
        if kind != "float":
            return _all_false(x)
        return on_floats(x)

    return on_values


def _all_false(x):
    return ops.full_like_type(typeof(x).strong().with_dtype(dtypes.bool_), False)


def _of_any_part(on_floats, z):
    return ops.or_(on_floats(ops.real(z)), on_floats(ops.imag(z)))


_isnan, _isinf = _by_class(ops.is_nan), _by_class(ops.is_infinite)
# fmt: off
isnan = unary("isnan", _isnan, "x is not a number.", "xnp.isnan(xnp.nan) → Array(True, dtype=bool)", inexact=False)
isinf = unary("isinf", _isinf, "x is infinite.", "xnp.isinf(-xnp.inf) → Array(True, dtype=bool)", inexact=False)
# fmt: on


def _isfinite(x):
    kind = dtypes.kind(typeof(x).dtype)
    if kind == "complex":
        return ops.and_(ops.is_finite(ops.real(x)), ops.is_finite(ops.imag(x)))
    if kind in ("float", "float8"):
        return ops.is_finite(ops.convert(x, dtype=dtypes.float32) if kind == "float8" else x)
    return ops.not_(_all_false(x))


isfinite = unary("isfinite", _isfinite, "x is neither infinite nor NaN.",
    "xnp.isfinite(xnp.inf) → Array(False, dtype=bool)", inexact=False)  # fmt: skip


def _signed_infinity(name: str, value: float, doc: str, example: str):
    def on_values(x):
        if is_complex(x):
            raise errors.dtype_not_allowed(f"numpy.{name}", typeof(x).dtype, "real")
        return ops.eq(x, const(x, value)) if dtypes.is_floating(typeof(x).dtype) else _all_false(x)

    return unary(name, on_values, doc, example, inexact=False)


# fmt: off
isposinf = _signed_infinity("isposinf", math.inf, "x is positive infinity.",
    "xnp.isposinf(xnp.inf) → Array(True, dtype=bool)")
isneginf = _signed_infinity("isneginf", -math.inf, "x is negative infinity.",
    "xnp.isneginf(xnp.inf) → Array(False, dtype=bool)")
# fmt: on


def _isreal(x):
    return ops.not_(_iscomplex(x))


def _iscomplex(x):
    if not is_complex(x):
        return _all_false(x)
    part = ops.imag(x)
    return ops.ne(part, ops.zeros(typeof(part)))


# fmt: off
isreal = unary("isreal", _isreal, "The imaginary part of x is 0.", "xnp.isreal(1 + 0j) → Array(True, dtype=bool)",
    inexact=False)
iscomplex = unary("iscomplex", _iscomplex, "The imaginary part of x is not 0.",
    "xnp.iscomplex(1 + 0j) → Array(False, dtype=bool)", inexact=False)
# fmt: on


@fused(1)
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """NaN and infinities replaced by numbers.

    Args:
      x: array.
      copy: accepted for compatibility.
      nan: what NaN becomes.
      posinf, neginf: what infinities become; the largest finite numbers of the dtype by default.

    >>> import xcore.numpy as xnp
    >>> xnp.nan_to_num(xnp.asarray([xnp.nan, 1.0]))
    Array([0., 1.], dtype=float32)
    """
    x = as_array("numpy.nan_to_num", x)
    if is_complex(x):
        return ops.complex(
            *[nan_to_num(part(x), True, nan, posinf, neginf) for part in (ops.real, ops.imag)]
        )
    if not dtypes.is_floating(typeof(x).dtype):
        return x
    info = dtypes.finfo(typeof(x).dtype)
    pairs = (
        (ops.ne(x, x), nan),
        (ops.eq(x, const(x, math.inf)), info.max if posinf is None else posinf),
        (ops.eq(x, const(x, -math.inf)), info.min if neginf is None else neginf),
    )
    for where, value in pairs:
        x = ops.select(where, filled("numpy.nan_to_num", value, typeof(x).strong()), x)
    return x


# Signs


def _signbit(x):
    kind = dtypes.kind(typeof(x).dtype)
    if kind == "float":
        x, kind = _bits(x), "int"
    return ops.lt(x, ops.zeros(typeof(x))) if kind == "int" else _all_false(x)


signbit = unary("signbit", _signbit, "x has a minus sign (-0.0 too).",
    "xnp.signbit(xnp.asarray([-0.0, 0.0])) → Array([ True, False], dtype=bool)", inexact=False,
    kinds={"bool", "int", "uint", "float"})  # fmt: skip


def _copysign(x, y):
    size = ops.abs(x)
    return ops.select(_signbit(y), ops.neg(size), size)


# fmt: off
copysign = binary("copysign", _copysign, "|x1| with the sign of x2.",
    "xnp.copysign(2.0, -0.0) → Array(-2., dtype=float32, weak_type=True)", inexact=True, kinds={"float"})
nextafter = binary("nextafter", ops.nextafter, "The next float after x1 towards x2.",
    "xnp.nextafter(1.0, 2.0) - 1 → Array(1.1920929e-07, dtype=float32, weak_type=True)", inexact=True,
    kinds={"float"})
# fmt: on


def _spacing(x):
    """Computed on the bits, as the spacing of small numbers is subnormal."""
    dtype = typeof(x).dtype
    mantissa, exponent_bits, _ = _layout(dtype)
    bits = _bits(x)
    t = typeof(bits)
    one, digits = ops.ones(t), ops.full_like_type(t, mantissa)
    exponent = ops.max(_exponent_field(bits, mantissa, exponent_bits), one)
    shift = ops.max(ops.sub(exponent, one), ops.zeros(t))
    normal = ops.shift_left(ops.sub(exponent, digits), digits)
    subnormal = ops.shift_left(one, ops.min(shift, digits))
    size = ops.bitcast_convert(ops.select(ops.gt(exponent, digits), normal, subnormal), dtype=dtype)
    signed = ops.select(ops.lt(x, ops.zeros(typeof(x))), ops.neg(size), size)
    return ops.select(ops.is_finite(x), signed, const(x, math.nan))


spacing = unary("spacing", _spacing, "The distance to the next float, away from 0.",
    "xnp.spacing(1.0) → Array(1.1920929e-07, dtype=float32, weak_type=True)", kinds={"float"})  # fmt: skip

# Parts of a number


def _modf(x):
    whole = ops.trunc(x)
    rest = ops.select(ops.is_infinite(x), ops.zeros(typeof(x)), ops.sub(x, whole))
    return _copysign_of(rest, x), whole


def _copysign_of(value, x):
    """A zero with the sign of x; other numbers as they are."""
    signed = ops.select(_signbit(x), const(x, -0.0), const(x, 0.0))
    return ops.select(
        ops.eq(value, ops.zeros(typeof(x))),
        ops.sub(signed, ops.sub(ops.stop_gradient(value), value)),
        value,
    )


modf = unary("modf", _modf, "The fractional and the whole part, both with the sign of x.",
    "xnp.modf(xnp.asarray([1.5, -2.25])) → "
    "(Array([ 0.5 , -0.25], dtype=float32), Array([ 1., -2.], dtype=float32))", kinds={"float"})  # fmt: skip


def _layout(dtype):
    """(mantissa bits, exponent bits, exponent bias) of a float dtype."""
    info = dtypes.finfo(dtype)
    exponent_bits = dtype.itemsize * 8 - 1 - info.nmant
    return info.nmant, exponent_bits, 2 ** (exponent_bits - 1) - 1


def _two_to(power, dtype):
    """2^power for whole powers of normal numbers, from its bits."""
    mantissa, _, bias = _layout(dtype)
    t = typeof(power).strong()
    field = ops.add(power, ops.full_like_type(t, bias))
    return ops.bitcast_convert(ops.shift_left(field, ops.full_like_type(t, mantissa)), dtype=dtype)


def _in_words(x):
    """16-bit floats converted to float32, which is exact."""
    return ops.convert(x, dtype=dtypes.float32) if typeof(x).dtype.itemsize < 4 else x


def _scaled(x, n):
    """x · 2^n in three factors, so that no power of two overflows on the way."""
    t = typeof(n).strong()
    _, _, bias = _layout(typeof(x).dtype)
    limit = ops.full_like_type(t, 3 * bias - 3)
    n = ops.max(ops.min(n, limit), ops.neg(limit))
    third = ops.div(n, ops.full_like_type(t, 3))
    for part in (third, third, ops.sub(n, ops.add(third, third))):
        x = ops.mul(x, _two_to(part, typeof(x).dtype))
    return x


def exponent_fields(x):
    """The exponents of floats of 32 or 64 bits as they are stored, >= 0; 0 below the normal numbers."""
    mantissa, exponent_bits, _ = _layout(typeof(x).dtype)
    return _exponent_field(_bits(x), mantissa, exponent_bits)


def times_power_of_two(x, n):
    """x · 2^n of real or complex x, for integers n as wide."""
    if not dtypes.is_complex(typeof(x).dtype):
        return _scaled(x, n)
    return ops.complex(_scaled(ops.real(x), n), _scaled(ops.imag(x), n))


@fused(2)
def ldexp(x1, x2, /):
    """x1 · 2^x2 for whole x2, without overflow on the way.

    Args:
      x1: array of floats.
      x2: array of integers.

    >>> import xcore.numpy as xnp
    >>> xnp.ldexp(0.75, xnp.arange(3))
    Array([0.75, 1.5 , 3.  ], dtype=float32)
    """
    who = "numpy.ldexp"
    x, n = as_inexact(who, x1), as_array(who, x2)
    n = astype(n, dtypes.int8) if typeof(n).dtype == bool else n
    if is_complex(x) or not dtypes.is_integer(typeof(n).dtype):
        raise errors.dtype_not_allowed(who, typeof(x).dtype if is_complex(x) else typeof(n).dtype,
                                       "real first and integer second")  # fmt: skip
    shape = broadcast_shapes(who, typeof(x).shape, typeof(n).shape, any_rank=False)
    work = _in_words(broadcast_to(x, shape))
    wide = typeof(work).dtype.itemsize == 8
    n = _clipped_to_int32(broadcast_to(n, shape))
    out = _scaled(work, astype(n, dtypes.int64 if wide else dtypes.int32))
    return astype(out, typeof(narrowed(x)).dtype)  # the exponent's width is not the result's


def _clipped_to_int32(n):
    dtype = typeof(n).dtype
    if dtypes.iinfo(dtype).max <= 2**31 - 1:
        return ops.convert(n, dtype=dtypes.int32)
    n = ops.min(n, const(n, 2**30))
    n = ops.max(n, const(n, -(2**30))) if dtype.kind == "i" else n
    return ops.convert(n, dtype=dtypes.int32)


def _frexp(x):
    """Computed on the bits. Subnormal numbers are scaled up as integers first."""
    work = _in_words(x)
    dtype = typeof(work).dtype
    mantissa, exponent_bits, bias = _layout(dtype)
    bits = _bits(work)
    exponent = _exponent_field(bits, mantissa, exponent_bits)
    # a subnormal number is its mantissa times the smallest step: a normal number after conversion
    t = typeof(bits)
    tiny = ops.eq(exponent, ops.zeros(t))
    from_bits = ops.convert(ops.and_(bits, ops.full_like_type(t, 2**mantissa - 1)), dtype=dtype)
    bits_of_tiny = _bits(from_bits)
    exponent_of_tiny = ops.sub(
        _exponent_field(bits_of_tiny, mantissa, exponent_bits),
        ops.full_like_type(t, bias + mantissa - 1),
    )
    field = ops.select(tiny, bits_of_tiny, bits)
    keep = ops.full_like_type(t, 2**mantissa - 1)
    half = ops.full_like_type(t, (bias - 1) << mantissa)
    size = ops.bitcast_convert(ops.or_(ops.and_(field, keep), half), dtype=dtype)
    fraction = ops.select(_signbit(work), ops.neg(size), size)
    power = ops.sub(ops.select(tiny, exponent_of_tiny, exponent), ops.full_like_type(t, bias - 1))
    unsigned = ops.and_(bits, ops.full_like_type(t, 2 ** (mantissa + exponent_bits) - 1))
    whole = ops.or_(ops.eq(unsigned, ops.zeros(t)), ops.not_(ops.is_finite(work)))
    slope = _scaled(work, ops.neg(power))  # equal to the fraction, and its derivative is 2^-n
    fraction = ops.add(fraction, ops.sub(slope, ops.stop_gradient(slope)))
    fraction = ops.select(whole, work, fraction)
    power = ops.select(whole, ops.zeros(t), power)
    return ops.convert(fraction, dtype=typeof(x).dtype), ops.convert(power, dtype=dtypes.int32)


def _exponent_field(bits, mantissa, exponent_bits):
    t = typeof(bits)
    moved = ops.shift_right_logical(bits, ops.full_like_type(t, mantissa))
    return ops.and_(moved, ops.full_like_type(t, 2**exponent_bits - 1))


frexp = unary("frexp", _frexp, "The pair (m, n) with x = m · 2^n and 0.5 <= |m| < 1.",
    "xnp.frexp(xnp.asarray([3.0, 8.0])) → (Array([0.75, 0.5 ], dtype=float32), Array([2, 4], dtype=int32))",
    kinds={"float"})  # fmt: skip

# Extrema without NaN


def _ignoring_nan(op):
    def on_values(x, y):
        if not dtypes.is_inexact(typeof(x).dtype):
            return op(x, y)
        return ops.select(_isnan(x), y, ops.select(_isnan(y), x, op(x, y)))

    return on_values


# fmt: off
fmax = binary("fmax", _ignoring_nan(pick_of_two(ops.max, ops.gt)), "The larger of two; a NaN only if both are.",
    "xnp.fmax(xnp.nan, 1.0) → Array(1., dtype=float32, weak_type=True)")
fmin = binary("fmin", _ignoring_nan(pick_of_two(ops.min, ops.lt)), "The smaller of two; a NaN only if both are.",
    "xnp.fmin(xnp.nan, 1.0) → Array(1., dtype=float32, weak_type=True)")
# fmt: on

# Nearly equal


def _isclose(a, b, rtol, atol, equal_nan):
    if isinstance(a, Compound) and isinstance(b, Compound):
        return as_array("numpy.isclose", a == b)
    a, b = as_arrays("numpy.isclose", a, b)
    work = inexact_dtype(typeof(a).dtype)
    a, b = astype(a, work), astype(b, work)
    gap, size = ops.abs(ops.sub(a, b)), ops.abs(b)
    rtol, atol = (filled("numpy.isclose", r, typeof(gap).strong()) for r in (rtol, atol))
    near = ops.le(gap, ops.add(atol, ops.mul(rtol, size)))
    out = ops.or_(ops.and_(near, _isfinite(b)), ops.eq(a, b))
    return ops.or_(out, ops.and_(_isnan(a), _isnan(b))) if equal_nan else out


@fused(2)
def isclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """|a - b| <= atol + rtol · |b|, element by element; infinities are close to equal ones.

    Args:
      a, b: arrays.
      rtol, atol: the relative and absolute tolerance.
      equal_nan: whether NaN is close to NaN.

    >>> import xcore.numpy as xnp
    >>> xnp.isclose(1.0, 1.000001)
    Array(True, dtype=bool)
    """
    return _isclose(a, b, rtol, atol, equal_nan)


@fused(2)
def allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether all elements are close; see ``isclose``.

    Args:
      a, b: arrays that are broadcast.
      rtol, atol: elements are close where |a - b| <= atol + rtol |b|.
      equal_nan: whether NaN equals NaN.

    >>> import xcore.numpy as xnp
    >>> xnp.allclose(xnp.ones(3), 1.000001)
    Array(True, dtype=bool)
    """
    return all_of(_isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1, a2, equal_nan=False):
    """Whether two arrays have the same shape and the same elements.

    Args:
      a1, a2: arrays, or lists of numbers.
      equal_nan: whether NaN equals NaN.

    >>> import xcore.numpy as xnp
    >>> xnp.array_equal(xnp.arange(2), xnp.arange(3))
    Array(False, dtype=bool)
    """
    return _array_equal(asarray(a1), asarray(a2), equal_nan)


@fused(2)
def _array_equal(a1, a2, equal_nan):
    who = "numpy.array_equal"
    if typeof(a1).shape != typeof(a2).shape:
        return as_array(who, np.bool_(False))
    if isinstance(a1, Compound) and isinstance(a2, Compound):
        return all_of(as_array(who, a1 == a2))
    a1, a2 = as_arrays(who, a1, a2)
    same = ops.eq(a1, a2)
    return all_of(ops.or_(same, ops.and_(_isnan(a1), _isnan(a2))) if equal_nan else same)


def array_equiv(a1, a2):
    """Whether two arrays (or lists of numbers) broadcast to the same elements.

    Args:
      a1, a2: arrays, or lists of numbers.

    >>> import xcore.numpy as xnp
    >>> xnp.array_equiv(xnp.ones(3), 1)
    Array(True, dtype=bool)
    """
    return _array_equiv(asarray(a1), asarray(a2))


@fused(2)
def _array_equiv(a1, a2):
    who = "numpy.array_equiv"
    try:
        broadcast_shapes(who, typeof(a1).shape, typeof(a2).shape)
    except errors.ShapeError:
        return as_array(who, np.bool_(False))
    return all_of(ops.eq(*as_arrays(who, a1, a2)))
