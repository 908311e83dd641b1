"""Elementary functions at the edges of the complex plane: infinities, NaN, and zeros with a sign.

The compiler's values are kept inside (quirk: COMPLEX_EDGES); outside they become those of C99
(annex G), which NumPy and the Array API have too. What holds for sinh, tanh, asinh and atanh holds
turned by a quarter for sin, tan, asin and atan: f(z) = -i g(iz).

A rule takes x, y, u, v for f(x + iy) = u + iv, and returns u and v put right.
"""

from __future__ import annotations

import math

from .._core import dtypes, trace_closed, typeof
from .._core.op import registry
from .elementwise import (
    abs,
    and_,
    complex,
    const,
    div,
    eq,
    floor,
    imag,
    is_finite,
    is_infinite,
    is_nan,
    is_zero,
    lt,
    mul,
    neg,
    not_,
    or_,
    real,
    select,
    sub,
)  # fmt: skip
from .transcendental import cos, exp, log, sin


def _is_open(x):
    """Infinite or NaN, so that an angle has no sine."""
    return not_(is_finite(x))


def _with_sign_of(x, y):
    """|x|, negated where y is negative or -0."""
    below = lt(select(is_zero(y), div(const(y, 1), y), y), const(y, 0))
    return select(below, neg(abs(x)), abs(x))


def _unit(x):
    return _with_sign_of(const(x, 1), x)


def _exp(x, y, u, v):
    size, level = exp(x), is_zero(y)
    lost = and_(is_infinite(x), _is_open(y))
    below = lt(x, const(x, 0))
    c = select(lost, const(x, 1), cos(y))
    s = select(lost, select(below, _unit(y), const(x, math.nan)), sin(y))
    edge = or_(or_(_is_open(x), _is_open(y)), level)
    return (
        select(edge, select(level, size, mul(size, c)), u),
        select(edge, select(level, y, mul(size, s)), v),
    )


def _expm1(x, y, u, v):
    far = is_infinite(x)
    p, q = _exp(x, y, u, v)
    u = select(far, sub(p, const(p, 1)), select(and_(is_zero(x), is_zero(y)), x, u))
    return u, select(is_zero(y), y, select(far, q, v))


def _log(x, y, u, v):
    return select(or_(is_infinite(x), is_infinite(y)), const(u, math.inf), u), v


def _log1p(x, y, u, v):
    # at x = -1 (quirk: SQUARE_VANISHES)
    return _log(x, y, select(eq(x, const(x, -1)), log(abs(y)), u), v)


def _sqrt(x, y, u, v):
    # on both sides of the cut, and as far as y is
    u, v = select(is_infinite(y), abs(y), u), select(is_infinite(y), y, _with_sign_of(v, y))
    lost, inf = and_(is_infinite(x), is_nan(y)), const(u, math.inf)
    below = lt(x, const(x, 0))
    return select(and_(lost, not_(below)), inf, u), select(and_(lost, below), inf, v)


def _sinh(x, y, u, v):
    kept = and_(or_(is_zero(x), is_infinite(x)), _is_open(y))
    return select(kept, x, u), v


def _cosh(x, y, u, v):
    lost = and_(is_infinite(x), _is_open(y))
    level = is_zero(y)
    return select(lost, abs(x), u), select(level, mul(_unit(x), y), v)


def _tanh(x, y, u, v):
    far, level = is_infinite(x), is_zero(y)
    u = select(far, _unit(x), select(is_zero(x), x, u))
    # there the imaginary part is 0 with the sign of sin 2y: of the quarter turn in which y lies
    half = mul(floor(mul(y, const(y, 2 / math.pi))), const(y, 0.5))
    signed_zero = select(eq(half, floor(half)), const(y, 0), const(y, -0.0))
    signed_zero = select(or_(level, _is_open(y)), _with_sign_of(const(y, 0), y), signed_zero)
    return u, select(far, signed_zero, select(level, y, v))


def _unknown(x, y):
    """Where one part is NaN and the other an ordinary number, both parts of the result are NaN."""
    plain_x, plain_y = (and_(is_finite(t), not_(is_zero(t))) for t in (x, y))
    return or_(and_(is_nan(x), plain_y), and_(is_nan(y), plain_x))


def _asinh(x, y, u, v):
    unknown, nan = _unknown(x, y), const(x, math.nan)
    u, v = select(unknown, nan, u), select(unknown, nan, v)
    v = select(and_(is_nan(x), is_zero(y)), y, v)
    return _with_sign_of(u, x), _with_sign_of(v, y)


def _acos(x, y, u, v):
    lost = and_(is_zero(x), is_nan(y))
    v = select(is_nan(y), v, _with_sign_of(v, neg(y)))
    unknown, nan = _unknown(x, y), const(x, math.nan)
    return select(lost, const(u, math.pi / 2), u), select(unknown, nan, v)


def _acosh(x, y, u, v):
    lost = and_(is_zero(x), is_nan(y))
    u = select(_unknown(x, y), const(x, math.nan), u)
    return u, _with_sign_of(select(lost, const(v, math.pi / 2), v), y)


def _atanh(x, y, u, v):
    far, nan, zero = or_(is_infinite(x), is_infinite(y)), const(x, math.nan), const(x, 0)
    unknown = or_(is_nan(x), is_nan(y))
    # log(2 / |y|) / 2 close to ±1 (quirk: SQUARE_VANISHES)
    small = lt(abs(y), const(y, float(dtypes.finfo(typeof(y).dtype).eps) ** 0.5))
    near = and_(eq(abs(x), const(x, 1)), small)
    u = select(near, mul(sub(const(y, math.log(2)), log(abs(y))), const(y, 0.5)), u)
    u = select(or_(far, is_zero(x)), zero, select(unknown, nan, u))
    v = select(far, const(v, math.pi / 2), select(unknown, nan, v))
    v = select(is_nan(y), nan, v)
    return _with_sign_of(u, x), _with_sign_of(v, y)


def _sign(x, y, u, v):
    nowhere = and_(is_zero(x), is_zero(y))
    zero, nan = const(x, 0), const(x, math.nan)
    far_x, far_y = is_infinite(x), is_infinite(y)
    u = select(far_x, select(far_y, nan, _unit(x)), select(or_(far_y, nowhere), zero, u))
    v = select(far_y, select(far_x, nan, _unit(y)), select(or_(far_x, nowhere), zero, v))
    return u, v


def _of_rotated(rule):
    """The rule of f(z) = -i g(iz) from that of g."""

    def f(x, y, u, v):
        p, q = rule(neg(y), x, neg(v), u)
        return q, neg(p)

    return f


def _cos(x, y, u, v):
    return _cosh(neg(y), x, u, v)


RULES = {
    "exp": _exp, "expm1": _expm1, "log": _log, "log1p": _log1p, "sqrt": _sqrt, "sinh": _sinh,
    "cosh": _cosh, "tanh": _tanh, "sin": _of_rotated(_sinh), "cos": _cos, "tan": _of_rotated(_tanh),
    "asinh": _asinh, "acos": _acos, "acosh": _acosh, "atanh": _atanh, "asin": _of_rotated(_asinh),
    "atan": _of_rotated(_atanh), "sign": _sign,
}  # fmt: skip


def _corrected(z, w, rule):
    return complex(*rule(real(z), imag(z), real(w), imag(w)))


def _corrected_size(z, size):
    infinite = or_(is_infinite(real(z)), is_infinite(imag(z)))
    return select(infinite, const(size, math.inf), size)


def _correct_at_edges(op, correct) -> None:
    """Append ``correct(argument, result)`` to an operation's lowering for complex numbers."""
    inside = op.rule("lower")

    def lower(ctx, z):
        (given,), (result,) = ctx.in_types, ctx.out_types
        out = inside(ctx, z)
        if not dtypes.is_complex(given.dtype):
            return out
        program = trace_closed(lambda z, w: [correct(z, w)], [given.strong(), result.strong()])
        return ctx.program(program, [z, out])[0]

    op._lower = lower


for _name, _rule in RULES.items():
    _correct_at_edges(registry[_name], lambda z, w, rule=_rule: _corrected(z, w, rule))
_correct_at_edges(registry["abs"], _corrected_size)
