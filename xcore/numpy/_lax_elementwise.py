"""The functions of ``xcore.lax`` that work element by element."""

from __future__ import annotations

import enum

from .. import _ops as ops
from .._core import dtypes, errors, fused, typeof
from .._ops.families import INEXACT, check_kind
from ._docstrings import named
from ._elementwise import pick_of_two
from ._functions import raised_two
from ._promote import as_alike, as_array, as_inexact


class RoundingMethod(enum.IntEnum):
    """Where ``lax.round`` moves numbers halfway between two integers.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> x = xnp.asarray([0.5, 1.5, 2.5])
    >>> xc.lax.round(x, xc.lax.RoundingMethod.TO_NEAREST_EVEN)
    Array([0., 2., 2.], dtype=float32)
    >>> xc.lax.round(x, xc.lax.RoundingMethod.AWAY_FROM_ZERO)
    Array([1., 2., 3.], dtype=float32)
    """

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


class AccuracyMode(enum.Enum):
    """How exact a function has to be; functions are as exact in every mode.

    >>> import xcore as xc
    >>> xc.lax.exp(0.0, accuracy=xc.lax.AccuracyMode.HIGHEST)
    Array(1., dtype=float32, weak_type=True)
    """

    HIGHEST = 1
    DEFAULT = 2


def _unary(compute):
    def f(x):
        return compute(x)

    return f


def _tolerant(compute):
    def f(x, *, accuracy=None):  # a licence to be less exact, of which no use is made
        return compute(x)

    return f


def _binary(compute):
    def f(x, y):
        return compute(x, y)

    return f


def _of_order(compute):
    def f(m, x):
        return compute(m, x)

    return f


def _shifted(compute):
    def f(x, q):
        return compute(x, q)

    return f


def _numbered(compute):
    def f(x1, x2):
        return compute(x1, x2)

    return f


# What is called by other parameters than x, or x and y.
_FORMS = {"polygamma": _of_order, "zeta": _shifted, "nextafter": _numbered} | dict.fromkeys(
    ("cbrt", "cos", "exp", "exp2", "expm1", "log", "log1p", "logistic", "rsqrt", "sin", "sqrt", "tan", "tanh"),
    _tolerant,
)  # fmt: skip
_PAIR = "arrays of one shape, or numbers; their dtypes are promoted to one."
_ARGUMENTS = {
    _unary: "x: array or number.",
    _tolerant: "x: array of real or complex numbers.\n      accuracy: accepted; results are as exact in every mode.",
    _binary: f"x, y: {_PAIR}", _of_order: f"m, x: {_PAIR}", _shifted: f"x, q: {_PAIR}",
    _numbered: f"x1, x2: {_PAIR}",
}  # fmt: skip


def _row(name: str, count: int, doc: str, example: str, op=None, inexact: bool = False):
    """The function of ``count`` arrays that is an operation (by default the one of its name).

    ``example`` is what follows the name in ``call → result``.
    """
    who, op = f"lax.{name}", op or getattr(ops, name)
    convert = as_inexact if inexact else as_array

    def of_one(x):
        return op(convert(who, x))

    def of_two(x, y):
        return op(*as_alike(who, x, y, inexact=inexact, power=name == "pow"))

    form = _FORMS.get(name, _unary if count == 1 else _binary)
    about = f"\n\n    Args:\n      {_ARGUMENTS[form]}"
    f = form(of_one if count == 1 else of_two)
    return named(f, name, doc + about, f"xc.{who}{example}", count, "xcore.lax")


def _exp2(x):
    check_kind("lax.exp2", typeof(x).dtype, INEXACT)
    return raised_two(x)


def _reciprocal(x):
    return ops.div(ops.splat(typeof(x), 1), x)


# fmt: off
# signs, roundings, parts of numbers
neg = _row("neg", 1, "-x.", "(xnp.asarray([1, -2])) → Array([-1, 2], dtype=int32)")
abs = _row("abs", 1, "|x|.", "(xnp.asarray([3 + 4j])) → Array([5.], dtype=float32)")
sign = _row("sign", 1, "-1, 0 or 1; of complex numbers x / |x|.",
            "(xnp.asarray([-2.5, 0.0, 7.0])) → Array([-1., 0., 1.], dtype=float32)")
floor = _row("floor", 1, "The largest integer that is not above x.",
             "(xnp.asarray([1.7, -1.2])) → Array([ 1., -2.], dtype=float32)")
ceil = _row("ceil", 1, "The smallest integer that is not below x.",
            "(xnp.asarray([1.2, -1.7])) → Array([ 2., -1.], dtype=float32)")
is_finite = _row("is_finite", 1, "Whether x is neither infinite nor NaN.",
                 "(xnp.asarray([1.0, xnp.inf, xnp.nan])) → Array([ True, False, False], dtype=bool)")
real = _row("real", 1, "Real part.", "(xnp.asarray([1 + 2j])) → Array([1.], dtype=float32)")
imag = _row("imag", 1, "Imaginary part.", "(xnp.asarray([1 + 2j])) → Array([2.], dtype=float32)")
complex = _row("complex", 2, "x + iy from real parts.",
               "(xnp.asarray([1.0]), xnp.asarray([2.0])) → Array([1.+2.j], dtype=complex64)")
conj = _row("conj", 1, "Complex conjugate; what is real stays as it is.",
            "(xnp.asarray([1 + 2j])) → Array([1.-2.j], dtype=complex64)", ops.conjugate)
nextafter = _row("nextafter", 2, "The next float after x1 towards x2.",
                 "(xnp.float32(1), xnp.float32(2)) - 1 → Array(1.1921e-07, dtype=float32)")

# powers, roots, exponentials
square = _row("square", 1, "x².", "(xnp.asarray([-3, 4])) → Array([ 9, 16], dtype=int32)")
sqrt = _row("sqrt", 1, "Square root: NaN of negative numbers.",
            "(xnp.asarray([4.0, 2.0])) → Array([2. , 1.4142], dtype=float32)")
rsqrt = _row("rsqrt", 1, "1/√x.", "(xnp.asarray([4.0, 16.0])) → Array([0.5 , 0.25], dtype=float32)")
cbrt = _row("cbrt", 1, "Cube root, of negative numbers too.",
            "(xnp.asarray([-8.0, 27.0])) → Array([-2., 3.], dtype=float32)")
reciprocal = _row("reciprocal", 1, "1/x.",
                  "(xnp.asarray([2.0, 0.0])) → Array([0.5, inf], dtype=float32)", _reciprocal, inexact=True)
pow = _row("pow", 2, "x^y.", "(xnp.asarray([2.0, 9.0]), xnp.asarray([3.0, 0.5])) → Array([8., 3.], dtype=float32)")
exp = _row("exp", 1, "e^x.", "(xnp.asarray([0.0, 1.0])) → Array([1. , 2.7183], dtype=float32)")
exp2 = _row("exp2", 1, "2^x.", "(xnp.asarray([3.0, -1.0])) → Array([8. , 0.5], dtype=float32)", _exp2)
expm1 = _row("expm1", 1, "e^x - 1, accurate near 0.",
             "(xnp.asarray([1e-8, 1.0])) → Array([1.0000e-08, 1.7183e+00], dtype=float32)")
log = _row("log", 1, "Natural logarithm.", "(xnp.asarray([1.0, 10.0])) → Array([0. , 2.3026], dtype=float32)")
log1p = _row("log1p", 1, "log(1 + x), accurate near 0.",
             "(xnp.asarray([1e-8, 1.0])) → Array([1.0000e-08, 6.9315e-01], dtype=float32)")
logistic = _row("logistic", 1, "1/(1 + e^-x).",
                "(xnp.asarray([-100.0, 0.0, 1.0])) → Array([0. , 0.5 , 0.7311], dtype=float32)")

# angles and hyperbolic functions
sin = _row("sin", 1, "Sine of an angle in radians.",
           "(xnp.asarray([0.0, 1.0])) → Array([0. , 0.8415], dtype=float32)")
cos = _row("cos", 1, "Cosine of an angle in radians.",
           "(xnp.asarray([0.0, 1.0])) → Array([1. , 0.5403], dtype=float32)")
tan = _row("tan", 1, "Tangent of an angle in radians.",
           "(xnp.asarray([0.0, 1.0])) → Array([0. , 1.5574], dtype=float32)")
asin = _row("asin", 1, "The angle in [-π/2, π/2] whose sine is x.",
            "(xnp.asarray([0.0, 1.0])) → Array([0. , 1.5708], dtype=float32)")
acos = _row("acos", 1, "The angle in [0, π] whose cosine is x.",
            "(xnp.asarray([1.0, 0.0])) → Array([0. , 1.5708], dtype=float32)")
atan = _row("atan", 1, "The angle in (-π/2, π/2) whose tangent is x.",
            "(xnp.asarray([1.0, xnp.inf])) → Array([0.7854, 1.5708], dtype=float32)")
atan2 = _row("atan2", 2, "The angle of the point (x, y) of the plane, in [-π, π]; the height y comes first.",
             "(xnp.asarray([1.0, 1.0]), xnp.asarray([1.0, -1.0])) → Array([0.7854, 2.3562], dtype=float32)")
sinh = _row("sinh", 1, "(e^x - e^-x)/2.", "(xnp.asarray([0.0, 1.0])) → Array([0. , 1.1752], dtype=float32)")
cosh = _row("cosh", 1, "(e^x + e^-x)/2.", "(xnp.asarray([0.0, 1.0])) → Array([1. , 1.5431], dtype=float32)")
tanh = _row("tanh", 1, "sinh(x)/cosh(x).",
            "(xnp.asarray([0.0, 1.0, 100.0])) → Array([0. , 0.7616, 1. ], dtype=float32)")
asinh = _row("asinh", 1, "Inverse of sinh.", "(xnp.asarray([0.0, 1.0])) → Array([0. , 0.8814], dtype=float32)")
acosh = _row("acosh", 1, "Inverse of cosh, for x >= 1.",
             "(xnp.asarray([1.0, 2.0])) → Array([0. , 1.3170], dtype=float32)")
atanh = _row("atanh", 1, "Inverse of tanh, for |x| <= 1.",
             "(xnp.asarray([0.0, 0.5, 1.0])) → Array([0. , 0.5493, inf], dtype=float32)")

# special functions
erf = _row("erf", 1, "Error function 2/√π ∫₀ˣ exp(-t²) dt.",
           "(xnp.asarray([0.0, 1.0])) → Array([0. , 0.8427], dtype=float32)")
erfc = _row("erfc", 1, "1 - erf(x), accurate where it is small.",
            "(xnp.asarray([0.0, 5.0])) → Array([1.0000e+00, 1.5375e-12], dtype=float32)")
erf_inv = _row("erf_inv", 1, "Inverse of erf on [-1, 1].",
               "(xnp.asarray([0.5, 1.0])) → Array([0.4769, inf], dtype=float32)")
lgamma = _row("lgamma", 1, "log|Γ(x)|.", "(xnp.float32(5.0)) → Array(3.1781, dtype=float32)")
digamma = _row("digamma", 1, "The derivative of lgamma.",
               "(xnp.asarray([1.0, 10.0])) → Array([-0.5772, 2.2518], dtype=float32)")
polygamma = _row("polygamma", 2, "Derivative number m of digamma, m an integer as a float.",
                 "(xnp.float32(1.0), xnp.float32(1.0)) → Array(1.6449, dtype=float32)")
zeta = _row("zeta", 2, "Hurwitz' zeta function Σ (k + q)^-x over k = 0, 1, ….",
            "(xnp.asarray([2.0]), xnp.asarray([1.0])) → Array([1.6449], dtype=float32)")

# arithmetic and comparisons
add = _row("add", 2, "x + y.", "(xnp.asarray([1, 2]), 10) → Array([11, 12], dtype=int32)")
sub = _row("sub", 2, "x - y.", "(xnp.asarray([1, 2]), 10) → Array([-9, -8], dtype=int32)")
mul = _row("mul", 2, "x · y.", "(xnp.asarray([1, 2]), 10) → Array([10, 20], dtype=int32)")
div = _row("div", 2, "x / y; integers round toward zero.", "(xnp.asarray([7, -7]), 2) → Array([ 3, -3], dtype=int32)")
rem = _row("rem", 2, "Remainder of div, which has the sign of x.",
           "(xnp.asarray([7, -7]), 4) → Array([ 3, -3], dtype=int32)")
max = _row("max", 2, "The larger one; NaN if either is.",
           "(xnp.asarray([1.0, xnp.nan]), 2.0) → Array([ 2., nan], dtype=float32)", pick_of_two(ops.max, ops.gt))
min = _row("min", 2, "The smaller one; NaN if either is.",
           "(xnp.asarray([1.0, xnp.nan]), 2.0) → Array([ 1., nan], dtype=float32)", pick_of_two(ops.min, ops.lt))
eq = _row("eq", 2, "Whether x == y.", "(xnp.asarray([1, 2, 3]), 2) → Array([False, True, False], dtype=bool)")
ne = _row("ne", 2, "Whether x != y.", "(xnp.asarray([1, 2, 3]), 2) → Array([ True, False, True], dtype=bool)")
lt = _row("lt", 2, "Whether x < y.", "(xnp.asarray([1, 2, 3]), 2) → Array([ True, False, False], dtype=bool)")
le = _row("le", 2, "Whether x <= y.", "(xnp.asarray([1, 2, 3]), 2) → Array([ True, True, False], dtype=bool)")
gt = _row("gt", 2, "Whether x > y.", "(xnp.asarray([1, 2, 3]), 2) → Array([False, False, True], dtype=bool)")
ge = _row("ge", 2, "Whether x >= y.", "(xnp.asarray([1, 2, 3]), 2) → Array([False, True, True], dtype=bool)")

# bits
bitwise_and = _row("bitwise_and", 2, "Bits that are set in both.",
                   "(xnp.asarray([0b1100]), 0b1010) → Array([8], dtype=int32)", ops.and_)
bitwise_or = _row("bitwise_or", 2, "Bits that are set in either.",
                  "(xnp.asarray([0b1100]), 0b1010) → Array([14], dtype=int32)", ops.or_)
bitwise_xor = _row("bitwise_xor", 2, "Bits that are set in exactly one.",
                   "(xnp.asarray([0b1100]), 0b1010) → Array([6], dtype=int32)", ops.xor)
bitwise_not = _row("bitwise_not", 1, "Every bit inverted: -x - 1 of signed integers, `not` of booleans.",
                   "(xnp.asarray([0, 5])) → Array([-1, -6], dtype=int32)", ops.not_)
shift_left = _row("shift_left", 2, "x · 2^y: bits move up, zeros come in.",
                  "(xnp.asarray([1, 3]), 4) → Array([16, 48], dtype=int32)")
shift_right_arithmetic = _row("shift_right_arithmetic", 2, "x / 2^y rounded down: copies of the sign come in.",
                              "(xnp.asarray([-16, 16]), 2) → Array([-4, 4], dtype=int32)")
shift_right_logical = _row("shift_right_logical", 2, "Bits move down by y, zeros come in.",
                           "(xnp.asarray([-1, 16]), 28) → Array([15, 0], dtype=int32)")
population_count = _row("population_count", 1, "How many bits are set.",
                        "(xnp.asarray([0, 7, -1])) → Array([ 0, 3, 32], dtype=int32)")
clz = _row("clz", 1, "How many leading bits are zero.", "(xnp.asarray([0, 1, -1])) → Array([32, 31, 0], dtype=int32)")
# fmt: on


@fused(1)
def integer_pow(x, y: int):
    """x^y for a Python int y: products only, so that signs and zeros are exact.

    Args:
      x: array.
      y: exponent; negative ones take the reciprocal.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.integer_pow(xnp.asarray([-2.0, 3.0]), 3)
    Array([-8., 27.], dtype=float32)
    """
    x = as_array("lax.integer_pow", x)
    if y < 0 and not dtypes.is_inexact(typeof(x).dtype):
        raise errors.bad_argument(
            "lax.integer_pow", "y", y, f"no negative number for x of {typeof(x).dtype.name}"
        )
    return ops.integer_pow(x, y)


@fused(1)
def round(x, rounding_method=RoundingMethod.AWAY_FROM_ZERO):
    """The nearest integer.

    Args:
      x: real array.
      rounding_method: where halves go: ``RoundingMethod.AWAY_FROM_ZERO`` (0) or ``TO_NEAREST_EVEN`` (1).

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.round(xnp.asarray([0.5, 1.5, 2.5]))
    Array([1., 2., 3.], dtype=float32)
    >>> xc.lax.round(xnp.asarray([0.5, 1.5, 2.5]), xc.lax.RoundingMethod.TO_NEAREST_EVEN)
    Array([0., 2., 2.], dtype=float32)
    """
    x = as_inexact("lax.round", x)
    if getattr(rounding_method, "value", rounding_method) == 1:
        return ops.round_even(x)
    size = ops.abs(x)
    below = ops.floor(size)
    half = ops.full_like_type(typeof(x), 0.5)
    # not floor(size + 1/2): that sum is rounded, and is 1 for the float below 1/2
    t = typeof(x)
    up = ops.convert(ops.ge(ops.sub(size, below), half), dtype=t.dtype, weak=t.weak)
    return ops.mul(ops.sign(x), ops.add(below, up))


@fused(3)
def clamp(min, x, max):
    """x limited to [min, max].

    Args:
      min, max: numbers, or arrays of the shape of x.
      x: array.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.clamp(0, xnp.asarray([-3, 5, 300]), 255)
    Array([  0,   5, 255], dtype=int32)
    """
    low, x, high = as_alike("lax.clamp", min, x, max)
    return ops.clamp(low, x, high)
