"""Powers, exponentials, sines and special functions, a row each, as in ``elementwise``."""

from __future__ import annotations

import math

from .._core import Alternative, dtypes, errors, trace_closed, typeof
from .elementwise import (
    abs,
    and_,
    complex,
    const,
    convert,
    div,
    eq,
    gt,
    imag,
    lt,
    mul,
    neg,
    not_,
    real,
    select,
    square,
    sub,
)  # fmt: skip
from .families import FLOATS, INEXACT, NUMBERS, add, elementwise


def _pow_jvp_base(g, out, x, y):
    # x**0 is 1 at 0 and NaN, too; elsewhere y x**(y - 1) is right at y = 0, and so is its slope in y
    size = abs(x)
    tiny = const(size, float(dtypes.finfo(size.type.dtype).tiny))
    ends = and_(eq(y, const(y, 0)), not_(gt(size, tiny)))
    slope = mul(y, pow(x, sub(select(ends, const(y, 1), y), const(y, 1))))
    return mul(g, select(ends, const(x, 0), slope))


def _pow_jvp_exponent(g, out, x, y):
    # 0**y is 0 for every y > 0: its slope there is 0 although log(0) is not finite
    is_zero = eq(x, const(x, 0))
    return mul(g, mul(log(select(is_zero, const(x, 1), x)), out))


pow = elementwise(
    "pow", hlo="stablehlo.power", args=2, kinds=NUMBERS, jvp=(_pow_jvp_base, _pow_jvp_exponent)
)

# Exponential and trigonometric


def _unary(name, hlo, jvp, kinds=INEXACT):
    return elementwise(name, hlo=hlo, kinds=kinds, jvp=jvp)


def _by_program(name, body, jvp):
    """An operation whose lowering is a function of other operations; not for integers."""

    def lower(ctx, x):
        return ctx.program(trace_closed(lambda x: [body(x)], [ctx.in_types[0].strong()]), [x])[0]

    return elementwise(name, kinds=INEXACT, jvp=jvp, lower=lower)


def _halves(x):
    """e^x/2 and e^-x/2, finite as long as the first is: in two factors."""
    up, down = exp(mul(x, const(x, 0.5))), exp(mul(x, const(x, -0.5)))
    return mul(mul(up, const(x, 0.5)), up), mul(mul(down, const(x, 0.5)), down)


def _in_single_precision(f):
    """Half precision goes through float32."""

    def g(x):
        dtype = typeof(x).dtype
        return (
            f(x)
            if dtype.itemsize > 2
            else convert(f(convert(x, dtype=dtypes.float32)), dtype=dtype)
        )

    return g


def _sinh(x):
    if dtypes.is_complex(typeof(x).dtype):
        return _complex_sinh(x)
    up, down = _halves(x)
    e = expm1(x)
    near = mul(const(x, 0.5), add(e, div(e, add(e, const(x, 1)))))  # no cancellation
    return select(lt(abs(x), const(x, 1)), near, sub(up, down))


def _cosh(x):
    return _complex_cosh(x) if dtypes.is_complex(typeof(x).dtype) else add(*_halves(x))


def _sine(name, hlo, jvp):
    def lower(ctx, x):
        (t,) = ctx.in_types
        if not dtypes.is_complex(t.dtype):
            return ctx.one(hlo, ctx.out(), [x])
        return ctx.program(trace_closed(lambda z: [_COMPLEX_SINES[name](z)], [t.strong()]), [x])[0]

    return elementwise(name, kinds=INEXACT, jvp=jvp, lower=lower)


# The compiler takes complex sines from e^y - e^-y, which has no digits left near 0; real functions
# do. quirk: COMPLEX_SINE_CANCELS
def _complex_sinh(z):
    """sinh x cos y + i cosh x sin y"""
    x, y = real(z), imag(z)
    return complex(mul(sinh(x), cos(y)), _times(cosh(x), sin(y)))


def _complex_cosh(z):
    """cosh x cos y + i sinh x sin y"""
    x, y = real(z), imag(z)
    return complex(mul(cosh(x), cos(y)), _times(sinh(x), sin(y)))


def _times(x, y):
    """x y, where 0 wins over infinity."""
    zero = const(x, 0)
    product = select(eq(x, zero), select(lt(y, zero), neg(x), x), mul(x, y))
    return select(eq(y, zero), select(lt(x, zero), neg(y), y), product)


def _times_i(z):
    """i z"""
    return complex(neg(imag(z)), real(z))


_COMPLEX_SINES = {
    "sin": lambda z: neg(_times_i(_complex_sinh(_times_i(z)))),
    "cos": lambda z: _complex_cosh(_times_i(z)),
}


# Slopes keep their digits where a function is flat or steep: 1 - y² has none left where y is nearly 1.


def _one_minus_square(x):
    return mul(sub(const(x, 1), x), add(const(x, 1), x))


def _one_plus_square(x):
    return add(const(x, 1), square(x))


def _asinh_slope(g, y, x):
    """1 / √(1 + x²); of complex numbers in two factors, which have their branches where the root has them."""
    if dtypes.is_complex(typeof(x).dtype):
        turned = _times_i(x)
        return mul(g, mul(*[rsqrt(add(const(x, 1), part)) for part in (turned, neg(turned))]))
    large = gt(abs(x), const(x, dtypes.finfo(typeof(x).dtype).max ** 0.25))
    near, far = select(large, const(x, 0), x), select(large, abs(x), const(x, 1))
    return mul(g, div(rsqrt(_one_plus_square(near)), far))


exp = _unary("exp", "stablehlo.exponential", lambda g, y, x: mul(g, y))
expm1 = _unary("expm1", "stablehlo.exponential_minus_one", lambda g, y, x: mul(g, exp(x)))
log = _unary("log", "stablehlo.log", lambda g, y, x: div(g, x))


def _where_log1p_is_inaccurate(of_logarithm):
    """``of_logarithm(ctx, x, type)`` where the compiler's operation has a bad log1p in it."""
    applies = lambda ctx, x: x.dtype == dtypes.float64 and ctx.log1p_is_inaccurate  # noqa: E731
    lower = lambda ctx, x: of_logarithm(ctx, x, ctx.in_types[0])  # noqa: E731
    return [Alternative(applies, lower, needed=True)]


def _log1p_by_ratio(ctx, x, t):
    """log(3/2 (1 + x)) - log(3/2) where the compiler's own has 14 digits. quirk: LOG1P_INACCURATE"""
    truth = ctx.tensor(t.shape, bool)
    above = ctx.compare(x, ctx.full(t, -0.42), truth, "GT")
    below = ctx.compare(x, ctx.full(t, -0.35), truth, "LT")
    near = ctx.one("stablehlo.and", above.type, [above, below])
    larger = ctx.one("stablehlo.multiply", x.type, [x, ctx.full(t, 1.5)])
    moved = ctx.one("stablehlo.add", x.type, [larger, ctx.full(t, 0.5)])
    y = ctx.one("stablehlo.log_plus_one", x.type, [ctx.select(near, moved, x)])
    excess = ctx.select(near, ctx.full(t, math.log(1.5)), ctx.full(t, 0))
    return ctx.one("stablehlo.subtract", x.type, [y, excess])


log1p = elementwise(
    "log1p", kinds=INEXACT, jvp=lambda g, y, x: div(g, add(x, const(x, 1))),
    hlo="stablehlo.log_plus_one",
    alternatives=_where_log1p_is_inaccurate(_log1p_by_ratio),
)  # fmt: skip
sqrt = _unary("sqrt", "stablehlo.sqrt", lambda g, y, x: div(g, mul(const(y, 2), y)))
rsqrt = _unary("rsqrt", "stablehlo.rsqrt", lambda g, y, x: mul(g, mul(const(y, -0.5), div(y, x))))


def _cbrt_lower(ctx, x):
    """With one step of Newton's: the compiler's is a power, whose digits get lost at 1e±300."""
    t = ctx.out_types[0]
    y = ctx.one("stablehlo.cbrt", ctx.out(), [x])
    square = ctx.one("stablehlo.multiply", y.type, [y, y])
    ratio = ctx.one("stablehlo.divide", y.type, [x, square])
    excess = ctx.one("stablehlo.subtract", y.type, [y, ratio])
    step = ctx.one("stablehlo.divide", y.type, [excess, ctx.full(t, 3)])
    better = ctx.one("stablehlo.subtract", y.type, [y, step])
    # NaN at 0 and infinity
    regular = ctx.compare(step, step, ctx.tensor(t.shape, bool), "EQ")
    return ctx.select(regular, better, y)


cbrt = elementwise(
    "cbrt", kinds=FLOATS, jvp=lambda g, y, x: div(g, mul(const(y, 3), square(y))), lower=_cbrt_lower
)
# fmt: off
logistic = _unary("logistic", "stablehlo.logistic", lambda g, y, x: mul(g, mul(y, logistic(neg(x)))))
sin = _sine("sin", "stablehlo.sine", lambda g, y, x: mul(g, cos(x)))
cos = _sine("cos", "stablehlo.cosine", lambda g, y, x: neg(mul(g, sin(x))))
tan = _unary("tan", "stablehlo.tan", lambda g, y, x: mul(g, _one_plus_square(y)))
tanh = _unary("tanh", "stablehlo.tanh", lambda g, y, x: mul(g, _one_minus_square(y)))
sinh = _by_program("sinh", _in_single_precision(_sinh), lambda g, y, x: mul(g, cosh(x)))
cosh = _by_program("cosh", _in_single_precision(_cosh), lambda g, y, x: mul(g, sinh(x)))
asin = _unary("asin", "chlo.asin", lambda g, y, x: mul(g, rsqrt(_one_minus_square(x))))
acos = _unary("acos", "chlo.acos", lambda g, y, x: neg(mul(g, rsqrt(_one_minus_square(x)))))
atan = _unary("atan", "chlo.atan", lambda g, y, x: div(g, _one_plus_square(x)))
asinh = _unary("asinh", "chlo.asinh", _asinh_slope)
acosh = _unary("acosh", "chlo.acosh",
    lambda g, y, x: mul(g, mul(rsqrt(sub(x, const(x, 1))), rsqrt(add(x, const(x, 1))))))
# fmt: on


def _half_difference_of_logs(ctx, x, t):
    """(log(1 + x) - log(1 - x)) / 2"""
    minus = ctx.one("stablehlo.negate", x.type, [x])
    parts = [_log1p_by_ratio(ctx, y, t) for y in (x, minus)]
    difference = ctx.one("stablehlo.subtract", x.type, parts)
    return ctx.one("stablehlo.multiply", x.type, [difference, ctx.full(t, 0.5)])


atanh = elementwise(
    "atanh", kinds=INEXACT, jvp=lambda g, y, x: div(g, _one_minus_square(x)),
    hlo="chlo.atanh",
    alternatives=_where_log1p_is_inaccurate(_half_difference_of_logs),
)  # fmt: skip

# Special functions


def _gaussian(x, factor: float):
    # from 100 on it is 0, and so are its derivatives, of which an infinite x makes NaN
    x = select(gt(abs(x), const(x, 100)), const(x, 100), x)
    return mul(const(x, factor), exp(neg(square(x))))


_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)
erf = _unary("erf", "chlo.erf", lambda g, y, x: mul(g, _gaussian(x, _TWO_OVER_ROOT_PI)), FLOATS)
erfc = _unary("erfc", "chlo.erfc", lambda g, y, x: mul(g, _gaussian(x, -_TWO_OVER_ROOT_PI)), FLOATS)
# fmt: off
erf_inv = _unary("erf_inv", "chlo.erf_inv",
    lambda g, y, x: mul(g, mul(const(y, 1 / _TWO_OVER_ROOT_PI), exp(square(y)))), FLOATS)
lgamma = _unary("lgamma", "chlo.lgamma", lambda g, y, x: mul(g, digamma(x)), FLOATS)
digamma = _unary("digamma", "chlo.digamma", lambda g, y, x: mul(g, polygamma(const(x, 1), x)), FLOATS)
# fmt: on


def _in_no_closed_form(name: str, argument: str):
    def refuse(g, *args):
        raise errors.no_derivative_in(name, argument)

    return refuse


polygamma = elementwise(
    "polygamma", hlo="chlo.polygamma", args=2, kinds=FLOATS,
    jvp=(_in_no_closed_form("polygamma", "its order"), lambda g, y, n, x: mul(g, polygamma(add(n, const(n, 1)), x))),
)  # fmt: skip
zeta = elementwise(
    "zeta", hlo="chlo.zeta", args=2, kinds=FLOATS,
    jvp=(_in_no_closed_form("zeta", "its exponent"),
         lambda g, y, s, q: neg(mul(g, mul(s, zeta(add(s, const(s, 1)), q))))),
)  # fmt: skip
