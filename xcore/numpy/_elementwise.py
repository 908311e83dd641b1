"""Arithmetic, comparison, logic and bits, element by element: a row for each function.

Rows are written out so that editors and type checkers see them.
"""

from __future__ import annotations

import math

from .. import _ops as ops
from .._core import Array, ArrayLike, dtypes, errors, fused, typeof
from .._ops.families import BITS, check_kind
from ._compound import Compound
from ._docstrings import named
from ._promote import (
    SCALARS,
    as_array,
    as_arrays,
    as_inexact,
    as_value,
    astype,
    broadcast_shapes,
    broadcast_to,
    no_out,
    result_dtype,
)
from ._sanitize import dividing

_OPTIONS = """
      out, where: must be None, where it does not choose elements: arrays are immutable."""
_OPERAND = (
    """

    Args:
      x: array, or what converts to one."""
    + _OPTIONS
)
_OPERANDS = (
    """

    Args:
      x1, x2: arrays, or what converts to them; promoted to a common dtype and broadcast."""
    + _OPTIONS
)


def no_options(who: str, out, where) -> None:
    """Refuse what writes into an array: ``out``, and a choice of the elements that are written."""
    no_out(who, out)
    if where is not None and where is not True:
        advice = "Choose among results: xnp.where(where, result, otherwise)."
        raise errors.bad_argument(who, "where", where, "None: arrays are immutable", advice)


def unary(name: str, op, doc: str, example: str, inexact: bool = True, kinds=None):
    """A function of one array from an operation (or a function of values).

    ``inexact`` turns integers into floats first; ``kinds`` limits the dtypes; the example reads
    ``call → result``.
    """
    who = f"numpy.{name}"

    def f(x, *, out=None, where=None):
        no_options(who, out, where)
        x = as_inexact(who, x) if inexact else as_array(who, x)
        if kinds is not None:
            check_kind(who, typeof(x).dtype, kinds)
        return keeping_weakness(op, x)

    return named(f, name, doc + _OPERAND, example, 1)


def binary(name: str, op, doc: str, example: str, inexact: bool = False, kinds=None):
    """A function of two arrays from an operation (or a function of values); see ``unary``."""
    who = f"numpy.{name}"

    def f(x1, x2, *, out=None, where=None):
        no_options(who, out, where)
        return keeping_weakness(op, *as_arrays(who, x1, x2, inexact=inexact, kinds=kinds))

    return named(f, name, doc + _OPERANDS, example, 2)


def keeping_weakness(op, *xs):
    """A function of values whose results are weak if all its arguments are, whatever it is made of."""
    weak, kind = all([typeof(x).weak for x in xs]), typeof(xs[0]).dtype.kind
    out = op(*xs)
    several = isinstance(out, tuple)
    parts = [
        _weakened(y, kind) if weak else ops.strengthened(y) for y in (out if several else (out,))
    ]
    return tuple(parts) if several else parts[0]


def _weakened(x, kind: str):
    t = typeof(x)
    return astype(x, t.dtype, True) if t.dtype.kind == kind and not t.weak else x


# Arithmetic


def bool_to_int(op):
    """Arithmetic of truth values that numbers do not need: bools count as 8-bit integers."""

    def on_values(x, *more):
        if typeof(x).dtype == bool:
            return op(*[astype(v, dtypes.int8) for v in (x, *more)])
        return op(x, *more)

    return on_values


def _no_bools(name: str, op, advice: str):
    def on_values(x, *more):
        if typeof(x).dtype == bool:
            raise TypeError(f"xcore.numpy.{name}: not defined for bools; {advice}.")
        return op(x, *more)

    return on_values


def _multiply(x, y):
    return ops.and_(x, y) if typeof(x).dtype == bool else ops.mul(x, y)


def _add(x, y):
    return ops.or_(x, y) if typeof(x).dtype == bool else ops.add(x, y)


def with_value(value, x):
    """``value`` with the derivative of x, which must be finite."""
    # a zero keeps its sign when +0 is subtracted from it (not when it is added)
    return ops.sub(ops.stop_gradient(value), ops.sub(ops.stop_gradient(x), x))


def _signs_differ(rest, y):
    """Where a remainder is nonzero and of the other sign than the divisor."""
    zero = ops.zeros(typeof(rest))
    return ops.and_(ops.ne(rest, zero), ops.ne(ops.lt(rest, zero), ops.lt(y, zero)))


def _float_remainder(x, y):
    t = typeof(x)
    rest = ops.rem(x, y)
    rest = ops.select(_signs_differ(rest, y), ops.add(rest, y), rest)
    zero = ops.zeros(t)
    signed_zero = ops.select(ops.lt(y, zero), ops.full_like_type(t, -0.0), zero)
    return ops.select(ops.eq(rest, zero), with_value(signed_zero, rest), rest)


def const(x, value):
    """The number at each place of x, in its dtype."""
    return ops.full_like_type(typeof(x).strong(), value)


def _float_floor_divide(x, y):
    """(x - remainder) / y, which is an integer but for rounding, rounded to it."""
    x, y, t = ops.stop_gradient(x), ops.stop_gradient(y), typeof(x)  # a step has derivative zero
    rest = ops.rem(x, y)
    raw = ops.div(ops.sub(x, rest), y)
    raw = ops.select(_signs_differ(rest, y), ops.sub(raw, ops.ones(t)), raw)
    whole = ops.round_even(raw)
    signed_zero = ops.mul(ops.div(x, y), ops.zeros(t))
    whole = ops.select(ops.eq(whole, ops.zeros(t)), signed_zero, whole)
    # of zero and infinite divisors, and of infinite dividends, the standard wants the quotient
    infinite = ops.or_(ops.is_infinite(x), ops.is_infinite(y))
    plain = ops.or_(ops.eq(y, ops.zeros(t)), infinite)
    return ops.select(plain, ops.div(x, y), whole)


def _int_floor_divide(x, y):
    quotient = ops.div(x, y)
    return ops.select(
        _signs_differ(ops.rem(x, y), y), ops.sub(quotient, ops.ones(typeof(x))), quotient
    )


def _int_remainder(x, y):
    rest = ops.rem(x, y)
    return ops.select(_signs_differ(rest, y), ops.add(rest, y), rest)


def by_kind(name: str, **by):
    """A function of values that is another one for each kind of dtype."""

    def on_values(x, *more):
        dtype = typeof(x).dtype
        kind = dtypes.kind(dtype)
        if kind not in by:
            raise errors.dtype_not_allowed(f"numpy.{name}", dtype, " and ".join(by))
        return by[kind](x, *more)

    return on_values


floor_quotient = by_kind(
    "floor_divide",
    int=dividing(_int_floor_divide),
    uint=dividing(ops.div),
    float=_float_floor_divide,
)
floor_remainder = by_kind(
    "remainder", int=dividing(_int_remainder), uint=dividing(ops.rem), float=_float_remainder
)


def _integer_power(x, y):
    """Repeated squaring over all bits of the exponent; a negative exponent gives 0 but for ±1."""
    t = typeof(x)
    one, zero = ops.ones(t), ops.zeros(t)
    negative = ops.lt(y, zero) if dtypes.kind(t.dtype) == "int" else None
    result, base, rest = one, x, y if negative is None else ops.abs(y)
    for _ in range(t.dtype.itemsize * 8):
        odd = ops.ne(ops.and_(rest, one), zero)
        result = ops.select(odd, ops.mul(result, base), result)
        base, rest = ops.mul(base, base), ops.shift_right_logical(rest, one)
    if negative is None:
        return result
    unit = ops.eq(ops.abs(x), one)
    return ops.select(ops.and_(negative, ops.not_(unit)), zero, result)


def _power(x, y):
    return _integer_power(x, y) if dtypes.is_integer(typeof(x).dtype) else ops.pow(x, y)


def pick_of_two(op, precedes):
    """max or min of two; complex numbers by real part, then imaginary part; NaN wins."""

    def pick(x, y):
        if not dtypes.is_complex(typeof(x).dtype):
            return op(x, y)
        a, b = (ops.real(x), ops.imag(x)), (ops.real(y), ops.imag(y))
        tie = ops.and_(ops.eq(a[0], b[0]), precedes(a[1], b[1]))
        return ops.select(ops.or_(ops.ne(x, x), ops.or_(precedes(a[0], b[0]), tie)), x, y)

    return pick


add = binary("add", _add, "x1 + x2.", "xnp.add(xnp.arange(3), 2) → Array([2, 3, 4], dtype=int32)")
# fmt: off
subtract = binary("subtract", _no_bools("subtract", ops.sub, "use ^ (exclusive or) or ~"), "x1 - x2.",
    "xnp.subtract(xnp.arange(3), 1) → Array([-1,  0,  1], dtype=int32)")
multiply = binary("multiply", _multiply, "x1 * x2.", "xnp.multiply(xnp.arange(3), 2) → Array([0, 2, 4], dtype=int32)")
divide = binary("divide", ops.div, "x1 / x2; integers divide to floats.",
    "xnp.divide(xnp.arange(3), 2) → Array([0. , 0.5, 1. ], dtype=float32)", inexact=True)
true_divide = divide
floor_divide = binary("floor_divide", bool_to_int(floor_quotient), "The largest integer not above x1 / x2.",
    "xnp.floor_divide(xnp.asarray([7, -7]), 2) → Array([ 3, -4], dtype=int32)")
remainder = binary("remainder", bool_to_int(floor_remainder), "x1 - x2 * floor(x1 / x2): has the sign of x2.",
    "xnp.remainder(xnp.asarray([7, -7]), 3) → Array([1, 2], dtype=int32)")
mod = remainder
# fmt: off
fmod = binary("fmod", bool_to_int(by_kind("fmod", int=dividing(ops.rem), uint=dividing(ops.rem), float=ops.rem)),
    "The remainder of x1 / x2 rounded toward zero: has the sign of x1.",
    "xnp.fmod(xnp.asarray([7, -7]), 3) → Array([ 1, -1], dtype=int32)")
divmod = binary("divmod", bool_to_int(lambda x, y: (floor_quotient(x, y), floor_remainder(x, y))),
    "The pair (floor_divide(x1, x2), remainder(x1, x2)).",
    "xnp.divmod(7.0, 2.0) → (Array(3., dtype=float32, weak_type=True), Array(1., dtype=float32, weak_type=True))")
maximum = binary("maximum", pick_of_two(ops.max, ops.gt),
    "The larger of two; NaN if either is. Equal ones share the derivative.",
    "xnp.maximum(xnp.arange(3), 1) → Array([1, 1, 2], dtype=int32)")
minimum = binary("minimum", pick_of_two(ops.min, ops.lt),
    "The smaller of two; NaN if either is. Equal ones share the derivative.",
    "xnp.minimum(xnp.arange(3), 1) → Array([0, 1, 1], dtype=int32)")
negative = unary("negative", _no_bools("negative", ops.neg, "use ~ (logical_not)"), "-x.",
    "xnp.negative(xnp.arange(3)) → Array([ 0, -1, -2], dtype=int32)", inexact=False)
positive = unary("positive", lambda x: x, "+x: the array itself.",
    "xnp.positive(xnp.arange(3)) → Array([0, 1, 2], dtype=int32)", inexact=False)
# fmt: on


def size_of_square(x):
    """The root of a sum of squares; where it is 0 its derivative is taken for 0, a subgradient."""
    one = ops.ones(typeof(x))
    is_zero = ops.eq(x, ops.zeros(typeof(x)))
    return ops.select(is_zero, ops.zeros(typeof(x)), ops.sqrt(ops.select(is_zero, one, x)))


def _absolute(x):
    return x if typeof(x).dtype == bool else ops.abs(x)


# fmt: off
absolute = unary("absolute", _absolute, "|x|.",
    "xnp.absolute(xnp.asarray([-1.5, 2.0])) → Array([1.5, 2. ], dtype=float32)", inexact=False)
abs = absolute
fabs = unary("fabs", ops.abs, "|x| as a float.", "xnp.fabs(-2) → Array(2., dtype=float32, weak_type=True)",
    kinds={"float"})
square = unary("square", bool_to_int(lambda x: ops.mul(x, x)), "x².",
    "xnp.square(xnp.arange(4)) → Array([0, 1, 4, 9], dtype=int32)", inexact=False)
reciprocal = unary("reciprocal", lambda x: ops.div(ops.splat(typeof(x), 1), x), "1 / x.",
    "xnp.reciprocal(4.0) → Array(0.25, dtype=float32, weak_type=True)")
# fmt: on


def power(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """x1 raised to x2; exact for integers.

    Args:
      x1, x2: arrays, or what converts to them; promoted to a common dtype and broadcast. Integers
        raised to negative integers give 0 (or ±1 for ±1), and raise if the exponent is a number.

    >>> import xcore.numpy as xnp
    >>> xnp.power(xnp.arange(4), 2)
    Array([0, 1, 4, 9], dtype=int32)
    """
    if type(x2) is int and type(x1) not in SCALARS:
        return _power_of_int(x1, x2)
    return _power_of_arrays(x1, x2)


@fused(1)
def _power_of_int(x, n: int):
    x = as_array("numpy.power", x)
    kind = dtypes.kind(typeof(x).dtype)
    if n < 0 and kind in ("bool", "int", "uint"):
        raise errors.bad_argument(
            "numpy.power",
            "x2",
            n,
            "0 or more for integers",
            "Make the base a float: x.astype(float).",
        )
    # many multiplications round more often than one power does
    if kind == "bool" or (n > _MULTIPLIED and dtypes.is_inexact(typeof(x).dtype)):
        return _power(*as_arrays("numpy.power", x, n))
    return ops.integer_pow(x, n) if n else ops.ones(typeof(x))


_MULTIPLIED = 64


@fused(2)
def _power_of_arrays(x1, x2):
    return bool_to_int(_power)(*as_arrays("numpy.power", x1, x2))


pow = power
float_power = binary("float_power", ops.pow, "x1 raised to x2, as floats.",
    "xnp.float_power(2, -1) → Array(0.5, dtype=float32, weak_type=True)", inexact=True)  # fmt: skip

# Comparison and logic


def _compare(name: str, op, doc: str, example: str, ordered: bool = True):
    who = f"numpy.{name}"

    def on_values(x, y):
        if ordered and dtypes.is_complex(
            typeof(x).dtype
        ):  # NumPy's order: by real part, then imaginary
            same = ops.eq(ops.real(x), ops.real(y))
            return ops.select(same, op(ops.imag(x), ops.imag(y)), op(ops.real(x), ops.real(y)))
        return op(x, y)

    def f(x1, x2, *, out=None, where=None):
        no_options(who, out, where)
        if not ordered and isinstance(x1, Compound) and isinstance(x2, Compound):
            return as_array(who, x1 == x2 if op is ops.eq else x1 != x2)
        x1, x2 = in_reach(x1, x2), in_reach(x2, x1)
        if _have_no_integer_in_common(x1, x2):
            return _compare_mixed_signs(who, op, as_value(who, x1), as_value(who, x2))
        return on_values(*as_arrays(who, x1, x2))

    return named(f, name, doc + _OPERANDS, example, 2)


def _have_no_integer_in_common(*xs) -> bool:
    """Whether one is uint64 and one is signed: these promote to float64, which rounds both."""
    found = [dtype for x in xs if (dtype := getattr(x, "dtype", None)) is not None]
    return dtypes.uint64 in found and any([getattr(d, "kind", "") == "i" for d in found])


def _compare_mixed_signs(who: str, op, x, y):
    """``op`` of an unsigned and a signed integer: a negative one is below all the others."""
    result_dtype(who, x, y)  # which may be refused
    shape = broadcast_shapes(who, typeof(x).shape, typeof(y).shape)
    x, y = broadcast_to(x, shape), broadcast_to(y, shape)
    signed, first = (x, True) if typeof(x).dtype.kind == "i" else (y, False)
    none = ops.full_like_type(typeof(signed), 0)
    apart = op(signed, none) if first else op(none, signed)
    together = op(*(astype(v, dtypes.uint64) for v in (x, y)))
    return ops.select(ops.lt(signed, none), apart, together)


def in_reach(x, other):
    """A Python int beyond the range of the other operand's dtype as a float, which compares alike."""
    dtype = getattr(other, "dtype", None)
    if type(x) is not int or dtype is None or not dtypes.is_integer(dtype):
        return x
    info = dtypes.iinfo(dtype)
    return x if info.min <= x <= info.max else math.copysign(math.inf, x)


# fmt: off
equal = _compare("equal", ops.eq, "x1 == x2.",
    "xnp.equal(xnp.arange(3), 1) → Array([False,  True, False], dtype=bool)", ordered=False)
not_equal = _compare("not_equal", ops.ne, "x1 != x2.",
    "xnp.not_equal(xnp.arange(3), 1) → Array([ True, False,  True], dtype=bool)", ordered=False)
less = _compare("less", ops.lt, "x1 < x2.", "xnp.less(xnp.arange(3), 1) → Array([ True, False, False], dtype=bool)")
less_equal = _compare("less_equal", ops.le, "x1 <= x2.",
    "xnp.less_equal(xnp.arange(3), 1) → Array([ True,  True, False], dtype=bool)")
greater = _compare("greater", ops.gt, "x1 > x2.",
    "xnp.greater(xnp.arange(3), 1) → Array([False, False,  True], dtype=bool)")
greater_equal = _compare("greater_equal", ops.ge, "x1 >= x2.",
    "xnp.greater_equal(xnp.arange(3), 1) → Array([False,  True,  True], dtype=bool)")

bitwise_and = binary("bitwise_and", ops.and_, "Bitwise and of integers; logical and of bools.",
    "xnp.bitwise_and(6, 3) → Array(2, dtype=int32, weak_type=True)", kinds=BITS)
bitwise_or = binary("bitwise_or", ops.or_, "Bitwise or of integers; logical or of bools.",
    "xnp.bitwise_or(6, 3) → Array(7, dtype=int32, weak_type=True)", kinds=BITS)
bitwise_xor = binary("bitwise_xor", ops.xor, "Bitwise exclusive or.",
    "xnp.bitwise_xor(6, 3) → Array(5, dtype=int32, weak_type=True)", kinds=BITS)
bitwise_not = unary("bitwise_not", ops.not_, "Bitwise not; logical not of bools.",
    "xnp.bitwise_not(xnp.arange(3)) → Array([-1, -2, -3], dtype=int32)", inexact=False, kinds=BITS)
# fmt: on
bitwise_invert = invert = bitwise_not


def _bit_count(x):
    return ops.convert(ops.population_count(ops.abs(x)), dtype=dtypes.uint8)


bitwise_count = unary(
    "bitwise_count", bool_to_int(_bit_count), "The number of ones among the bits of |x|.",
    "xnp.bitwise_count(xnp.asarray([7, 8])) → Array([3, 1], dtype=uint8)", inexact=False, kinds=BITS,
)  # fmt: skip


def _shift_left(x, y):
    """By the width of the dtype or more: 0."""
    t = typeof(x)
    inside = _shift_inside(t, y)
    return ops.select(inside, ops.shift_left(x, ops.select(inside, y, ops.zeros(t))), ops.zeros(t))


def _shift_inside(t, y):
    width = ops.full_like_type(t, t.dtype.itemsize * 8)
    below = ops.lt(y, width)
    return below if t.dtype.kind == "u" else ops.and_(below, ops.ge(y, ops.zeros(t)))


def _shift_right(x, y):
    """By the width of the dtype or more: 0, or -1 for negative numbers."""
    t = typeof(x)
    inside = _shift_inside(t, y)
    if t.dtype.kind == "u":
        return ops.select(
            inside, ops.shift_right_logical(x, ops.select(inside, y, ops.zeros(t))), ops.zeros(t)
        )
    most = ops.full_like_type(t, t.dtype.itemsize * 8 - 1)
    return ops.shift_right_arithmetic(x, ops.select(inside, y, most))


# fmt: off
left_shift = binary("left_shift", bool_to_int(_shift_left), "x1 · 2^x2 of integers.",
    "xnp.left_shift(xnp.arange(3), 2) → Array([0, 4, 8], dtype=int32)", kinds=BITS)
right_shift = binary("right_shift", bool_to_int(_shift_right), "x1 / 2^x2 of integers, rounded down.",
    "xnp.right_shift(xnp.asarray([8, -8]), 2) → Array([ 2, -2], dtype=int32)", kinds=BITS)
# fmt: on
bitwise_left_shift, bitwise_right_shift = left_shift, right_shift


def truth(x):
    """Whether x is not zero."""
    t = typeof(x)
    return x if t.dtype == bool else ops.ne(x, ops.zeros(t))


def _logical(name: str, op, doc: str, example: str):
    who = f"numpy.{name}"

    def f(x1, x2, *, out=None, where=None):
        no_options(who, out, where)
        both = [truth(as_array(who, x)) for x in (x1, x2)]
        return op(*as_arrays(who, *both))

    return named(f, name, doc + _OPERANDS, example, 2)


# fmt: off
logical_and = _logical("logical_and", ops.and_, "Both are true (not zero).",
    "xnp.logical_and(xnp.arange(3), 1) → Array([False,  True,  True], dtype=bool)")
logical_or = _logical("logical_or", ops.or_, "Either is true (not zero).",
    "xnp.logical_or(xnp.arange(3), 0) → Array([False,  True,  True], dtype=bool)")
logical_xor = _logical("logical_xor", ops.xor, "Exactly one is true.",
    "xnp.logical_xor(xnp.arange(3), 1) → Array([ True, False, False], dtype=bool)")
logical_not = unary("logical_not", lambda x: ops.not_(truth(x)), "x is zero or False.",
    "xnp.logical_not(xnp.arange(3)) → Array([ True, False, False], dtype=bool)", inexact=False)
# fmt: on
