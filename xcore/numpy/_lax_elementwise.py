"""The functions of ``xcore.lax`` that work element by element."""

from __future__ import annotations

import enum

from .. import _ops as ops
from .._core import dtypes
from .._core.eval import fused
from .._core.types import typeof
from ._promote import as_array, as_arrays, as_inexact


class RoundingMethod(enum.IntEnum):
    """Where ``lax.round`` moves numbers halfway between two integers."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


class AccuracyMode(enum.Enum):
    """How exact a function has to be; functions are as exact in every mode."""

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
    ("cbrt", "cos", "exp", "expm1", "log", "log1p", "logistic", "rsqrt", "sin", "sqrt", "tan", "tanh"),
    _tolerant,
)  # fmt: skip


def _row(name: str, op, count: int, doc: str, inexact: bool = False):
    who = f"lax.{name}"
    convert = as_inexact if inexact else as_array

    def of_one(x):
        return op(convert(who, x))

    def of_two(x, y):
        return op(*as_arrays(who, x, y, inexact=inexact))

    form = _FORMS.get(name, _unary if count == 1 else _binary)
    f = form(of_one if count == 1 else of_two)
    f.__name__ = f.__qualname__ = name
    f.__module__, f.__doc__ = "xcore.lax", doc
    return fused(count)(f)


_UNARY = {
    "neg": "-x.", "sign": "-1, 0 or 1.", "floor": "Rounded down.", "ceil": "Rounded up.",
    "is_finite": "Neither infinite nor NaN.", "exp": "e^x.", "expm1": "e^x - 1, accurate near 0.",
    "log": "Natural logarithm.", "log1p": "log(1 + x), accurate near 0.", "sqrt": "Square root.",
    "rsqrt": "1/√x.", "cbrt": "Cube root.", "logistic": "1/(1 + e^-x).", "sin": "Sine.", "cos": "Cosine.",
    "tan": "Tangent.", "tanh": "Hyperbolic tangent.", "sinh": "Hyperbolic sine.", "cosh": "Hyperbolic cosine.",
    "asin": "Arc sine.", "acos": "Arc cosine.", "atan": "Arc tangent.", "asinh": "Inverse of sinh.",
    "acosh": "Inverse of cosh.", "atanh": "Inverse of tanh.", "erf": "Error function.",
    "erfc": "1 - erf(x).", "erf_inv": "Inverse of erf.", "lgamma": "log|Γ(x)|.", "digamma": "d/dx lgamma.",
    "population_count": "Number of set bits.", "clz": "Leading zero bits.",
    "real": "Real part.", "imag": "Imaginary part.",
}  # fmt: skip
_BINARY = {
    "sub": "x - y.", "rem": "Remainder with the sign of x.", "max": "The larger one.",
    "min": "The smaller one.", "pow": "x^y.", "atan2": "Angle of the point (y, x).",
    "nextafter": "The next float after x towards y.", "eq": "x == y.", "ne": "x != y.", "lt": "x < y.",
    "le": "x <= y.", "gt": "x > y.", "ge": "x >= y.", "shift_left": "x · 2^y.",
    "shift_right_arithmetic": "Shift that keeps the sign.", "shift_right_logical": "Shift that fills with zeros.",
    "polygamma": "Derivatives of digamma.", "zeta": "Hurwitz zeta function.",
    "add": "x + y.", "mul": "x · y.", "div": "x / y; integers round toward zero.",
}  # fmt: skip
_table = {name: _row(name, getattr(ops, name), 1, doc) for name, doc in _UNARY.items()}
_table |= {name: _row(name, getattr(ops, name), 2, doc) for name, doc in _BINARY.items()}
neg, sign, floor, ceil, is_finite = (
    _table[n] for n in ("neg", "sign", "floor", "ceil", "is_finite")
)
exp, expm1, log, log1p, sqrt = (_table[n] for n in ("exp", "expm1", "log", "log1p", "sqrt"))
rsqrt, cbrt, logistic, sin, cos = (_table[n] for n in ("rsqrt", "cbrt", "logistic", "sin", "cos"))
tan, tanh, sinh, cosh, asin = (_table[n] for n in ("tan", "tanh", "sinh", "cosh", "asin"))
acos, atan, asinh, acosh, atanh = (_table[n] for n in ("acos", "atan", "asinh", "acosh", "atanh"))
erf, erfc, erf_inv, lgamma, digamma = (
    _table[n] for n in ("erf", "erfc", "erf_inv", "lgamma", "digamma")
)
population_count, clz = (_table[n] for n in ("population_count", "clz"))
real, imag = _table["real"], _table["imag"]
add, sub, mul, div, rem, pow = (_table[n] for n in ("add", "sub", "mul", "div", "rem", "pow"))
max, min, atan2, nextafter = (_table[n] for n in ("max", "min", "atan2", "nextafter"))
eq, ne, lt, le, gt, ge = (_table[n] for n in ("eq", "ne", "lt", "le", "gt", "ge"))
shift_left, polygamma, zeta = (_table[n] for n in ("shift_left", "polygamma", "zeta"))
shift_right_arithmetic, shift_right_logical = (
    _table["shift_right_arithmetic"],
    _table["shift_right_logical"],
)
abs = _row("abs", ops.abs, 1, "|x|.")
conj = _row(
    "conj",
    lambda x: ops.conj(x) if dtypes.is_complex(typeof(x).dtype) else x,
    1,
    "Complex conjugate.",
)
complex = _row("complex", ops.complex, 2, "x + iy from real parts.")
square = _row("square", ops.square, 1, "x².")
bitwise_and, bitwise_or = (
    _row("bitwise_and", ops.and_, 2, "Bits in both."),
    _row("bitwise_or", ops.or_, 2, "Bits in either."),
)
bitwise_xor, bitwise_not = (
    _row("bitwise_xor", ops.xor, 2, "Bits in one."),
    _row("bitwise_not", ops.not_, 1, "Bits not in x."),
)
reciprocal = _row("reciprocal", lambda x: ops.div(ops.ones(typeof(x)), x), 1, "1/x.", inexact=True)


@fused(1)
def integer_pow(x, y: int):
    """x^y for a Python int y."""
    return ops.integer_pow(as_array("lax.integer_pow", x), y)


@fused(1)
def round(x, rounding_method=RoundingMethod.AWAY_FROM_ZERO):
    """To the nearest integer: method 0 moves halves away from zero, 1 to even numbers."""
    x = as_inexact("lax.round", x)
    if getattr(rounding_method, "value", rounding_method) == 1:
        return ops.round_even(x)
    size = ops.abs(x)
    below = ops.floor(size)
    half = ops.full_like_type(typeof(x).strong(), 0.5)
    # not floor(size + 1/2): that sum is rounded, and is 1 for the float below 1/2
    up = ops.convert(ops.ge(ops.sub(size, below), half), dtype=typeof(x).dtype)
    return ops.mul(ops.sign(x), ops.add(below, up))


@fused(3)
def clamp(min, x, max):
    """x limited to [min, max]."""
    low, x, high = as_arrays("lax.clamp", min, x, max)
    return ops.clamp(low, x, high)
