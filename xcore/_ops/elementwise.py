"""Elementwise operations, a row each. Derivatives of well-known functions speak for themselves.

In a jvp row, ``g`` is the tangent of the argument, ``y`` the result, and the rest the arguments.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .._core import Linear, Literal, Op, dtypes, errors, is_evaluating, to_array
from .._core.array import Array, on_host
from .._core.host import FLOATS as HOST_FLOATS
from .._core.host import WHOLE, chooses, ufunc
from .._core.types import ArrayType, Value, typeof
from .families import (
    BITS,
    FLOATS,
    INEXACT,
    INTEGERS,
    NUMBERS,
    REALS,
    ZERO,
    add,
    all_weak,
    broadcast,
    broadcast_in_dim,
    check_kind,
    elementwise,
    linear_op,
    splat,
    zeros,
)  # fmt: skip
from .identity import stop_gradient
from .long import divided, upper_half
from .unmerged import mul_lower, quotient, sub_lower

if TYPE_CHECKING:
    from .._core.typing import Operand


def const(x, value):
    """``value`` in the type of x, as an operand."""
    return splat(typeof(x).strong(), value)


def square(x):
    return mul(x, x)


def is_zero(x):
    return eq(x, const(x, 0))


def is_nan(x):
    return ne(x, x)


def is_infinite(x):
    return eq(abs(x), const(x, math.inf))


# Arithmetic

neg = elementwise("neg", hlo="stablehlo.negate", linear="each", transpose=lambda ct, x: neg(ct),
                  host=ufunc(np.negative, "compares"))  # fmt: skip
sub = elementwise(
    "sub", lower=sub_lower, args=2, linear="jointly",
    transpose=(lambda ct, x, y: ct, lambda ct, x, y: neg(ct)),
    host=ufunc(np.subtract, "computes"),
)  # fmt: skip
mul = elementwise(
    "mul", lower=mul_lower, args=2, linear="each", kinds=NUMBERS | {"bool"},
    transpose=(lambda ct, x, y: mul(ct, y), lambda ct, x, y: mul(x, ct)),
    host=ufunc(np.multiply, "computes"),
)  # fmt: skip


def _is_long(ctx, t) -> bool:
    """Whether XLA's compiler would need minutes for a division: that for TPUs, of 64-bit integers."""
    return ctx.platform == "tpu" and t.dtype.itemsize == 8


def _div_lower(ctx, x, y):
    t = ctx.out_types[0]
    if dtypes.is_inexact(t.dtype):
        return quotient(ctx, x, y, t)
    # Integers round toward zero; division by zero gives zero on every device, as NumPy's does.
    zero = ctx.full(t, 0)
    is_zero = ctx.compare(y, zero, ctx.tensor(t.shape, bool), "EQ")
    y = ctx.select(is_zero, ctx.full(t, 1), y)
    safe = (
        divided(ctx, x, y, t)[0]
        if _is_long(ctx, t)
        else ctx.one("stablehlo.divide", ctx.out(), [x, y])
    )
    return ctx.select(is_zero, zero, safe)


div = elementwise(
    "div", lower=_div_lower, args=2, linear="each",
    transpose=(lambda ct, x, y: div(ct, y), None),
    jvp=(None, lambda g, out, x, y: neg(mul(g, div(out, y)))),
    host=ufunc(np.divide, "divides", HOST_FLOATS),
)  # fmt: skip


def _rem_lower(ctx, x, y):
    t = ctx.out_types[0]
    if dtypes.is_inexact(t.dtype):
        return ctx.one("stablehlo.remainder", ctx.out(), [x, y])
    zero = ctx.full(t, 0)
    is_zero = ctx.compare(y, zero, ctx.tensor(t.shape, bool), "EQ")
    y = ctx.select(is_zero, ctx.full(t, 1), y)
    safe = (
        divided(ctx, x, y, t)[1]
        if _is_long(ctx, t)
        else ctx.one("stablehlo.remainder", ctx.out(), [x, y])
    )
    return ctx.select(is_zero, zero, safe)


rem = elementwise(
    "rem", lower=_rem_lower, args=2, kinds=REALS,
    jvp=(lambda g, out, x, y: g, lambda g, out, x, y: neg(mul(g, trunc(div(x, y))))),
)  # fmt: skip


def _extremum_jvp(mine):
    """The tangent of the larger (smaller) one; equal arguments share it, so each gets half."""

    def rule(g, out, x, y):
        z = (x, y)[mine]
        other = (x, y)[1 - mine]
        weight = select(eq(other, z), const(x, 0.5), const(x, 1))
        return mul(g, select(eq(out, z), weight, const(x, 0)))

    return rule


max = elementwise(
    "max",
    hlo="stablehlo.maximum",
    args=2,
    kinds=NUMBERS | {"bool"},
    jvp=(_extremum_jvp(0), _extremum_jvp(1)),
    host=ufunc(np.maximum, "orders"),
)
min = elementwise(
    "min",
    hlo="stablehlo.minimum",
    args=2,
    kinds=NUMBERS | {"bool"},
    jvp=(_extremum_jvp(0), _extremum_jvp(1)),
    host=ufunc(np.minimum, "orders"),
)


def integer_pow(x, n: int):
    """x**n for a Python int n, by repeated squaring: exact for integers, differentiable at 0.

    Of negative n that of 1 / x: the slope of 1 / x**2 has x**4 in it, which vanishes long before x does.
    """
    if n == 0:
        return splat(typeof(x), 1)
    if n < 0:
        return integer_pow(div(const(x, 1), x), -n)
    result = None
    while n:
        if n & 1:
            result = x if result is None else mul(result, x)
        n >>= 1
        if n:
            x = square(x)
    return result


def _over_squares(a, x, y):
    """a / (x² + y²); squares of real numbers neither overflow nor vanish on the way."""
    if dtypes.is_complex(typeof(x).dtype):
        return div(a, add(square(x), square(y)))
    size = stop_gradient(max(abs(x), abs(y)))
    size = select(or_(is_zero(size), is_infinite(size)), const(size, 1), size)
    a, x, y = (div(part, size) for part in (a, x, y))
    return div(div(a, add(square(x), square(y))), size)


atan2 = elementwise(
    "atan2", args=2, kinds=INEXACT,
    jvp=(lambda g, out, x, y: mul(g, _over_squares(y, x, y)),
         lambda g, out, x, y: mul(g, _over_squares(neg(x), x, y))),
)  # fmt: skip
nextafter = elementwise("nextafter", hlo="chlo.next_after", args=2, kinds=FLOATS, jvp=ZERO)

# Rounding and magnitude

floor = elementwise("floor", kinds=FLOATS, jvp=ZERO, host=ufunc(np.floor, "compares"))
ceil = elementwise("ceil", kinds=FLOATS, jvp=ZERO, host=ufunc(np.ceil, "compares"))
round_even = elementwise("round_even", hlo="stablehlo.round_nearest_even", kinds=FLOATS, jvp=ZERO,
                         host=ufunc(np.rint, "compares"))  # fmt: skip
sign = elementwise("sign", jvp=ZERO, kinds=NUMBERS, lower=lambda ctx, x: _sign_lower(ctx, x),
                   host=ufunc(np.sign, "orders"))  # fmt: skip


def _sign_lower(ctx, x):
    t = ctx.out_types[0]
    if dtypes.kind(t.dtype) != "uint":
        return ctx.one("stablehlo.sign", ctx.out(), [x])
    positive = ctx.compare(x, ctx.full(t, 0), ctx.tensor(t.shape, bool), "NE")
    return ctx.select(positive, ctx.full(t, 1), ctx.full(t, 0))


def trunc(x):
    """Toward zero."""
    return mul(sign(x), floor(abs(x)))


def _abs_jvp(g, y, x):
    if not dtypes.is_complex(typeof(x).dtype):
        return mul(g, sign(x))
    # d|x| = Re(conj(x) dx) / |x|, and 0 at 0
    size = select(eq(y, const(y, 0)), const(y, 1), y)
    return div(real(mul(g, conj(x))), size)


abs = elementwise(
    "abs",
    result=dtypes.to_real,
    jvp=_abs_jvp,
    lower=lambda ctx, x: _abs_lower(ctx, x),
    host=ufunc(np.absolute, "compares"),
)


def _abs_lower(ctx, x):
    is_same = dtypes.kind(ctx.in_types[0].dtype) == "uint"
    return x if is_same else ctx.one("stablehlo.abs", ctx.out(), [x])


is_finite = elementwise("is_finite", kinds=FLOATS, result=lambda d: dtypes.bool_, jvp=ZERO,
                        host=ufunc(np.isfinite, "moves"))  # fmt: skip

# Bits

not_ = elementwise("not", kinds=BITS, jvp=ZERO, host=ufunc(np.invert, "moves"))
and_ = elementwise("and", args=2, kinds=BITS, jvp=ZERO, host=ufunc(np.bitwise_and, "moves"))
or_ = elementwise("or", args=2, kinds=BITS, jvp=ZERO, host=ufunc(np.bitwise_or, "moves"))
xor = elementwise("xor", args=2, kinds=BITS, jvp=ZERO, host=ufunc(np.bitwise_xor, "moves"))
shift_left = elementwise("shift_left", args=2, kinds=INTEGERS, jvp=ZERO)
shift_right_arithmetic = elementwise("shift_right_arithmetic", args=2, kinds=INTEGERS, jvp=ZERO)
shift_right_logical = elementwise("shift_right_logical", args=2, kinds=INTEGERS, jvp=ZERO)
population_count = elementwise("population_count", hlo="stablehlo.popcnt", kinds=INTEGERS, jvp=ZERO)
clz = elementwise("clz", hlo="stablehlo.count_leading_zeros", kinds=INTEGERS, jvp=ZERO)


def _mulhi_lower(ctx, x, y):
    if _is_long(ctx, ctx.out_types[0]):
        return upper_half(ctx, x, y, ctx.out_types[0])
    return ctx.one("chlo.mulhi", ctx.out(), [x, y])


mulhi = elementwise("mulhi", lower=_mulhi_lower, args=2, kinds=INTEGERS, jvp=ZERO)

# Comparison


def _comparison(name: str, direction: str, numpy, kinds=NUMBERS - {"complex"} | {"bool"}):
    def lower(ctx, x, y):
        return ctx.compare(x, y, ctx.out(), direction)

    return elementwise(
        name, args=2, kinds=kinds, result=lambda d: dtypes.bool_, jvp=ZERO, lower=lower,
        host=ufunc(numpy, "compares"),
    )  # fmt: skip


eq = _comparison("eq", "EQ", np.equal, NUMBERS | {"bool"})
ne = _comparison("ne", "NE", np.not_equal, NUMBERS | {"bool"})
lt = _comparison("lt", "LT", np.less)
le = _comparison("le", "LE", np.less_equal)
gt = _comparison("gt", "GT", np.greater)
ge = _comparison("ge", "GE", np.greater_equal)

# Select and clamp


def _select_type(which, x, y):
    if which.dtype != bool or which.shape not in ((), x.shape):
        raise errors.shape_mismatch(
            "select", "need a boolean `which` of their shape", which=which, x=x
        )
    if x.shape != y.shape:
        raise errors.shape_mismatch("select", x=x, y=y)
    if x.dtype != y.dtype:
        raise errors.dtype_mismatch("select", x=x, y=y)
    return [ArrayType(x.shape, x.dtype, all_weak((x, y)))]


def _select_jvp(primals, tangents):
    which, x, y = primals
    _, gx, gy = tangents
    known = [zeros(typeof(x)) if g is None else g for g in (gx, gy)]
    return [select(which, x, y)], [select(which, *known)]


def _select_transpose(cotangents, which, x, y):
    (ct,) = cotangents
    zero = zeros(typeof(ct))
    return [
        None,
        select(which, ct, zero) if isinstance(x, Linear) else None,
        select(which, zero, ct) if isinstance(y, Linear) else None,
    ]


def _select_batch(size, args, batched):
    which, x, y = args
    if not batched[0] and typeof(which).shape == ():
        pair = [v if b else broadcast(v, size) for v, b in zip((x, y), batched[1:], strict=True)]
        return [select(which, *pair)], [True]
    which, x, y = (v if b else broadcast(v, size) for v, b in zip(args, batched, strict=True))
    missing = typeof(x).ndim - typeof(which).ndim
    if missing:
        which = broadcast_in_dim(which, shape=typeof(x).shape, dims=(0,))
    return [select(which, x, y)], [True]


select = Op(
    "select",
    type=_select_type,
    lower=lambda ctx, which, x, y: ctx.select(which, x, y),
    jvp=_select_jvp,
    transpose=_select_transpose,
    batch=_select_batch,
    host=chooses(np.where),
)


def clamp(low, x, high):
    """x limited to [low, high]; at a limit the derivative is that of ``max`` and ``min``."""
    return min(max(x, low), high)


# Conversions


def _convert_type(x, *, dtype, weak=False):
    if dtypes.is_complex(x.dtype) and not dtypes.is_complex(dtype) and dtype != bool:
        raise errors.dtype_mismatch("convert", x=x, to=np.dtype(dtype))
    return [ArrayType(x.shape, dtype, weak)]


def _convert_lower(ctx, x, *, dtype, weak=False):
    source = ctx.in_types[0]
    if dtype == dtypes.float4_e2m1fn and source.dtype in (dtypes.float32, dtypes.float64):
        x = _rounded_to_float4(ctx, x, source)
    elif dtype.name.endswith("fnuz") and dtypes.kind(source.dtype) == "float":
        t = source.strong()
        if t.dtype == dtypes.float16:  # whose subnormal numbers XLA converts wrongly
            t = ArrayType(source.shape, dtypes.float32)
            x = ctx.convert(x, ctx.type(t))
        x = _without_negative_zeros(ctx, x, t, dtype)
    if ctx.in_types[0].dtype != dtypes.bool_ or not dtypes.is_inexact(dtype):
        return ctx.convert(x, ctx.out())
    # quirk: BOOL_PRODUCT_CHOOSES
    t = ctx.out_types[0]
    return ctx.select(x, ctx.full(t, 1), ctx.full(t, 0))


def _rounded_to_float4(ctx, x, t):
    """The nearest of 0, ½, 1, 1½, 2, 3, 4, 6, … quirk: FLOAT4_ROUNDED_TWICE"""
    truth = ctx.tensor(t.shape, bool)
    size = ctx.one("stablehlo.abs", x.type, [x])
    below_2, below_4 = (ctx.compare(size, ctx.full(t, n), truth, "LT") for n in (2, 4))
    step = ctx.select(below_4, ctx.full(t, 1), ctx.full(t, 2))
    step = ctx.select(below_2, ctx.full(t, 0.5), step)
    steps = ctx.one("stablehlo.divide", x.type, [x, step])
    whole = ctx.one("stablehlo.round_nearest_even", x.type, [steps])
    return ctx.one("stablehlo.multiply", x.type, [whole, step])


def _without_negative_zeros(ctx, x, t, dtype):
    """Zero for what rounds to it: XLA keeps the sign, and the bits of -0 mean NaN in these dtypes."""
    half = float(dtypes.finfo(dtype).smallest_subnormal) / 2
    truth = ctx.tensor(t.shape, bool)
    size = ctx.one("stablehlo.abs", x.type, [x])
    return ctx.select(ctx.compare(size, ctx.full(t, half), truth, "LE"), ctx.full(t, 0), x)


def _convert_transpose(ct, x, *, dtype, weak=False):
    if dtypes.is_complex(dtype) and not dtypes.is_complex(x.type.dtype):
        ct = real(ct)
    return convert(ct, dtype=x.type.dtype)


def _convert_jvp(primals, tangents, *, dtype, weak=False):
    out = convert(*primals, dtype=dtype, weak=weak)
    moves = tangents[0] is not None and dtypes.is_inexact(dtype)
    return [out], [convert(tangents[0], dtype=dtype) if moves else None]


def _convert_host(types, *, dtype, weak=False):
    """Where each value has one in the new dtype, or wraps or is cut as in compiled code."""
    old, new = types[0].dtype, np.dtype(dtype)
    if old == new:
        return chooses(lambda x: x)
    if old in WHOLE and (new in WHOLE or new in HOST_FLOATS):
        return chooses(lambda x: x.astype(new))
    if (old == dtypes.float32 and new == dtypes.float64) or (old in HOST_FLOATS and new == bool):
        return ufunc(lambda x: x.astype(new), "compares")
    if old in HOST_FLOATS and new in WHOLE:
        return ufunc(_cut(np.iinfo(new)), "compares")
    return None


def _cut(reach):
    """Floats that are finite as integers, the nearest that there are; in float64, where most bounds are numbers."""
    dtype = reach.dtype
    low, high = np.float64(reach.min), np.float64(reach.max)
    if dtype.itemsize < 8:
        return lambda x: np.minimum(np.maximum(x, low), high).astype(dtype)

    def cut(x):
        within = x < high
        return np.where(
            within, np.where(within, np.maximum(x, low), 0).astype(dtype), dtype.type(reach.max)
        )

    return cut


convert = linear_op(
    "convert", type=_convert_type, lower=_convert_lower, transpose=_convert_transpose,
    batch=lambda size, args, batched, **params: ([convert(args[0], **params)], [True]),
    host=_convert_host,
)  # fmt: skip
convert._jvp = _convert_jvp


def _of_type(x: Operand, t: ArrayType) -> Operand:
    """A value as one of a type that differs from its own in nothing but being weak."""
    if type(x) is Array and type(x._t) is ArrayType:
        return Array(x._b, t) if x._h is None else on_host(x._h, t)
    return Literal(x.value, t) if isinstance(x, Literal) else convert(x, dtype=t.dtype, weak=t.weak)


def weakened(x: Operand) -> Operand:
    """A value whose dtype gives way in promotions, as that of a Python number does."""
    t = typeof(x)
    return x if t.weak else _of_type(x, t.weakened())


def strengthened(x: Operand) -> Operand:
    """A weak value as an ordinary one of its dtype."""
    t = typeof(x)
    return _of_type(x, t.strong()) if t.weak else x


def to_user(x: Operand) -> Value:
    """A value to return to users: an array or a tracer, never a literal of a program."""
    if isinstance(x, Value):
        return x
    if is_evaluating():
        return to_array(x)
    t = typeof(x)
    return broadcast_in_dim(x, shape=t.shape, dims=tuple(range(t.ndim)))


def _bitcast_type(x, *, dtype):
    old, new = dtypes.bits_of(x.dtype), dtypes.bits_of(dtype)
    odd = [d for d in (x.dtype, dtype) if dtypes.kind(d) in ("bool", "complex")]
    if odd and x.dtype != dtype:
        raise errors.dtype_not_allowed("bitcast_convert", odd[0], "float and int and uint")
    if old == new:
        return [ArrayType(x.shape, dtype)]
    if old > new:
        return [ArrayType((*x.shape, old // new), dtype)]
    if not x.shape or x.shape[-1] * old != new:
        raise errors.shape_mismatch("bitcast_convert", f"need a last axis of {new // old}", x=x)
    return [ArrayType(x.shape[:-1], dtype)]


bitcast_convert = Op(
    "bitcast_convert",
    type=_bitcast_type,
    lower=lambda ctx, x, *, dtype: ctx.one("stablehlo.bitcast_convert", ctx.out(), [x]),
    jvp=lambda primals, tangents, *, dtype: ([bitcast_convert(*primals, dtype=dtype)], [None]),
    batch=lambda size, args, batched, *, dtype: ([bitcast_convert(args[0], dtype=dtype)], [True]),
)


def _reduce_precision_lower(ctx, x, *, exponent_bits, mantissa_bits):
    return ctx.one(
        "stablehlo.reduce_precision", ctx.out(), [x],
        exponent_bits=ctx.integer(exponent_bits, 32), mantissa_bits=ctx.integer(mantissa_bits, 32),
    )  # fmt: skip


def _reduce_precision_type(x, *, exponent_bits, mantissa_bits):
    check_kind("reduce_precision", x.dtype, {"float"})
    if exponent_bits < 1 or mantissa_bits < 0:
        given = f"{exponent_bits} and {mantissa_bits}"
        raise errors.bad_argument(
            "reduce_precision", "the numbers of bits", given, "1 or more (exponent) and 0 or more"
        )
    return [x]


reduce_precision = linear_op(
    "reduce_precision",
    type=_reduce_precision_type,
    lower=_reduce_precision_lower,
    transpose=lambda ct, x, **params: reduce_precision(ct, **params),
    batch=lambda size, args, batched, **params: ([reduce_precision(args[0], **params)], [True]),
)

# Complex
# Cotangents follow the convention in which grad of a real function f of z = x + iy is
# df/dx - i df/dy: transposes are plain linear transposes, without conjugation.


def _zero_like(x):
    return zeros(typeof(x).strong())


def _complex_of(dtype):
    if dtype.itemsize < 4:
        raise errors.dtype_not_allowed("complex", dtype, "float32 and float64")
    return dtypes.to_complex(dtype)


# fmt: off
real = elementwise(
    "real", kinds={"complex"}, result=dtypes.to_real, linear="each",
    transpose=lambda ct, z: complex(ct, _zero_like(ct)),
)
imag = elementwise(
    "imag", kinds={"complex"}, result=dtypes.to_real, linear="each",
    transpose=lambda ct, z: complex(_zero_like(ct), neg(ct)),
)
complex = elementwise(
    "complex", args=2, kinds=FLOATS, result=_complex_of, linear="jointly",
    transpose=(lambda ct, x, y: real(ct), lambda ct, x, y: neg(imag(ct))),
)
# fmt: on


def _conj_lower(ctx, z):
    part = ctx.tensor(ctx.out_types[0].shape, dtypes.to_real(ctx.out_types[0].dtype))
    re, im = ctx.one("stablehlo.real", part, [z]), ctx.one("stablehlo.imag", part, [z])
    return ctx.one("stablehlo.complex", ctx.out(), [re, ctx.one("stablehlo.negate", part, [im])])


conj = elementwise(
    "conj", kinds={"complex"}, lower=_conj_lower, linear="each", transpose=lambda ct, z: conj(ct)
)
