"""Numbers as sums of two float32, of which the first is the sum rounded: 48 bits, for a TPU, which has no float64.

Sums and products are those of Dekker (A floating-point technique for extending the available precision, 1971)
and Knuth. Their range is that of float32: beyond 3e38 they are infinite, and below 1e-31 the second part vanishes
bit by bit. ``_control/in_pairs.py`` writes programs with them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._core import ArrayType, dtypes, typeof
from .elementwise import (
    abs,
    and_,
    bitcast_convert,
    convert,
    div,
    eq,
    floor,
    ge,
    gt,
    is_finite,
    is_nan,
    lt,
    max,
    min,
    mul,
    ne,
    neg,
    or_,
    select,
    shift_left,
    shift_right_arithmetic,
    shift_right_logical,
    sub,
)  # fmt: skip
from .families import add, full_like_type
from .layout import iota as count
from .transcendental import cos as cosine
from .transcendental import pow as power
from .transcendental import sin as sine
from .transcendental import sqrt as root

LARGEST, SMALLEST = float(np.finfo(np.float32).max), float(np.finfo(np.float32).tiny)


class Pair(NamedTuple):
    """A number as high + low, |low| ≤ ulp(high) / 2."""

    high: Any
    low: Any

    @property
    def type(self) -> ArrayType:
        """The type of the number that it stands for."""
        return ArrayType(typeof(self.high).shape, dtypes.float64)


def _like(x, value):
    return full_like_type(typeof(x).strong(), value)


def splat(x: Pair, value: float) -> Pair:
    """A number at every place of a pair."""
    high, low = parts_of(value)
    return Pair(_like(x.high, high), _like(x.high, low))


def parts_of(value) -> tuple:
    """The two parts of a float64 number or array."""
    with np.errstate(over="ignore", invalid="ignore"):
        high = np.asarray(value, np.float32)
        rest = np.asarray(value, np.float64) - high.astype(np.float64)
        return high, np.where(np.isfinite(rest), rest, 0).astype(np.float32)


# Sums and products without rounding


def _two_sum(a, b):
    s = add(a, b)
    t = sub(s, a)
    return s, add(sub(a, sub(s, t)), sub(b, t))


def _ordered(high, low) -> Pair:
    """high + low as a pair, where |high| ≥ |low|."""
    s = add(high, low)
    rest = sub(low, sub(s, high))
    return Pair(s, select(is_finite(s), rest, _like(s, 0)))


def _halves(x):
    """x as a sum of two numbers of 12 bits, so that their products are exact."""
    bits = bitcast_convert(x, dtype=dtypes.uint32)
    bits = and_(
        add(bits, full_like_type(typeof(bits), 0x800)), full_like_type(typeof(bits), 0xFFFFF000)
    )
    high = bitcast_convert(bits, dtype=dtypes.float32)
    return high, sub(x, high)


def rounded(x):
    """x, of which compilers do not see that it is a product: added to another number it would not be rounded."""
    return select(is_finite(x), x, mul(x, _like(x, LARGEST)))


_EXACT_FROM = 2.0**-102  # the lower half of what is smaller counts as 0


def _two_product(a, b):
    p = rounded(mul(a, b))
    (ah, al), (bh, bl) = _halves(a), _halves(b)
    rest = add(add(sub(mul(ah, bh), p), mul(ah, bl)), mul(al, bh))
    rest = add(rest, mul(al, bl))
    exact = and_(is_finite(rest), gt(min(abs(a), abs(b)), _like(a, _EXACT_FROM)))
    return p, select(exact, rest, _like(rest, 0))


# Arithmetic


def single(x) -> Pair:
    """A float32 as a pair."""
    return Pair(x, _like(x, 0))


def plus(x: Pair, y: Pair) -> Pair:
    s, e = _two_sum(x.high, y.high)
    t, f = _two_sum(x.low, y.low)
    e = add(e, t)
    first = _ordered(s, select(is_finite(e), e, _like(e, 0)))
    return _ordered(first.high, add(first.low, f))


def negative(x: Pair) -> Pair:
    return Pair(neg(x.high), neg(x.low))


def minus(x: Pair, y: Pair) -> Pair:
    return plus(x, negative(y))


def times(x: Pair, y: Pair) -> Pair:
    p, e = _two_product(x.high, y.high)
    e = add(e, add(mul(x.high, y.low), mul(x.low, y.high)))
    return _ordered(p, select(is_finite(e), e, _like(e, 0)))


def by_number(x: Pair, value: float) -> Pair:
    return times(x, splat(x, value))


def over(x: Pair, y: Pair) -> Pair:
    """By long division. What is infinite or NaN in float32 is what it is there."""
    q = div(x.high, y.high)
    total, rest = single(q), x
    for _ in range(2):
        rest = minus(rest, times(single(q), y))
        q = div(rest.high, y.high)
        total = plus(total, single(q))
    first = div(x.high, y.high)
    regular = and_(is_finite(total.high), and_(is_finite(first), is_finite(y.high)))
    return where(regular, total, single(first))


def where(which, x: Pair, y: Pair) -> Pair:
    return Pair(select(which, x.high, y.high), select(which, x.low, y.low))


def is_below(x: Pair) -> Any:
    return lt(x.high, _like(x.high, 0))


def size(x: Pair) -> Pair:
    return where(is_below(x), negative(x), Pair(abs(x.high), x.low))


def square_root(x: Pair) -> Pair:
    y = root(x.high)
    rest = minus(x, Pair(*_two_product(y, y)))
    step = div(rest.high, add(y, y))
    regular = and_(gt(y, _like(y, 0)), is_finite(y))
    return where(regular, _ordered(y, select(regular, step, _like(y, 0))), single(y))


# Whole numbers


def whole_below(x: Pair) -> Pair:
    """The largest whole number up to x."""
    high = floor(x.high)
    return where(eq(high, x.high), _ordered(high, floor(x.low)), single(high))


def whole_above(x: Pair) -> Pair:
    return negative(whole_below(negative(x)))


def nearest_even(x: Pair) -> Pair:
    """The nearest whole number, of two the even one."""
    up = whole_below(plus(x, splat(x, 0.5)))
    tie = equals(minus(up, x), splat(x, 0.5))
    half = by_number(up, 0.5)
    odd = or_(ne(half.high, floor(half.high)), ne(half.low, floor(half.low)))
    found = where(and_(tie, odd), minus(up, splat(x, 1.0)), up)
    return where(is_finite(x.high), found, single(x.high))


# Comparisons


def equals(x: Pair, y: Pair):
    return and_(eq(x.high, y.high), eq(x.low, y.low))


def differs(x: Pair, y: Pair):
    return or_(ne(x.high, y.high), ne(x.low, y.low))


def less(x: Pair, y: Pair):
    return or_(lt(x.high, y.high), and_(eq(x.high, y.high), lt(x.low, y.low)))


def at_most(x: Pair, y: Pair):
    return or_(less(x, y), equals(x, y))


def larger(x: Pair, y: Pair) -> Pair:
    """The larger of both, NaN if one is."""
    return where(or_(is_nan(x.high), at_most(y, x)), x, y)


def smaller(x: Pair, y: Pair) -> Pair:
    return where(or_(is_nan(x.high), at_most(x, y)), x, y)


def keeping_nan(found: Pair, *given: Pair) -> Pair:
    for x in given:
        found = where(is_nan(x.high), single(x.high), found)
    return found


# Conversions


def _words(x):
    """Unsigned 16-bit words of an integer, the highest first, as int32, and the sign of the highest."""
    t = typeof(x)
    bits, signed = 8 * t.dtype.itemsize, dtypes.kind(t.dtype) == "int"
    mask = full_like_type(t.strong(), 0xFFFF)
    for k in range(bits - 16, -1, -16):
        distance = full_like_type(t.strong(), k)
        shift = shift_right_arithmetic if signed else shift_right_logical
        word = shift(x, distance)
        top = signed and k == bits - 16
        yield convert(word if top else and_(word, mask), dtype=dtypes.int32), k


def of_integer(x) -> Pair:
    """An integer or truth value as a pair: exact up to 2⁴⁸."""
    t = typeof(x)
    if t.dtype.itemsize < 4:
        return single(convert(x, dtype=dtypes.float32))
    total = None
    for word, k in _words(x):
        part = convert(word, dtype=dtypes.float32)
        part = single(mul(part, _like(part, 2.0**k)))
        total = part if total is None else plus(total, part)
    assert total is not None
    return total


def to_integer(x: Pair, dtype):
    """Cut toward zero and to the limits of the dtype, as compiled code cuts floats."""
    cut = where(is_below(x), whole_above(x), whole_below(x))
    if dtype.itemsize < 4:
        return convert(cut.high, dtype=dtype)
    if dtypes.kind(dtype) == "uint" and dtype.itemsize == 8:
        low = convert(convert(cut.low, dtype=dtypes.int64), dtype=dtype)
        return add(convert(cut.high, dtype=dtype), low)
    parts = [convert(part, dtype=dtypes.int64) for part in cut]
    total = add(*parts)
    far = ge(abs(cut.high), _like(cut.high, 2.0**62))
    total = select(far, parts[0], total)
    if dtype == dtypes.int64:
        return total
    info, t = dtypes.iinfo(dtype), typeof(total)
    low, high = (full_like_type(t, int(v)) for v in (info.min, info.max))
    return convert(min(max(total, low), high), dtype=dtype)


def range_of(shape, axis: int) -> Pair:
    """0, 1, 2, … along an axis."""
    return of_integer(count(shape=shape, dtype=dtypes.int32, axis=axis))


# Exponentials and logarithms

# log 2 and π / 2 as numbers of 16 bits, whose multiples by whole numbers are exact, and what is left
_LOG_2 = (0.693145751953125, 1.4285906217992306e-06, 1.619851018665656e-11)
_QUARTER = (1.570770263671875, 2.6063062250614166e-05, 6.077094383272197e-11, 6.123233995736766e-17)


def _multiple(k, parts) -> list[Pair]:
    """k times each of the parts of a number, for whole k in float32."""
    exact = [Pair(*_two_product(k, _like(k, part))) for part in parts[:-1]]
    return [*exact, single(mul(k, _like(k, parts[-1])))]


def power_of_two(k) -> Any:
    """2ᵏ for float32 k from -252 to 254, in two factors: their product may not be a number."""
    half = floor(mul(k, _like(k, 0.5)))
    return [_exact_power(half), _exact_power(sub(k, half))]


def _exact_power(k):
    k = convert(add(k, _like(k, 127)), dtype=dtypes.int32)
    return bitcast_convert(shift_left(k, full_like_type(typeof(k), 23)), dtype=dtypes.float32)


def _scaled(x: Pair, k) -> Pair:
    for factor in power_of_two(k):
        x = Pair(mul(x.high, factor), mul(x.low, factor))
    return where(is_finite(x.high), x, single(x.high))


def _reduced_exponential(x: Pair):
    """(k, eˣ / 2ᵏ - 1) with k whole."""
    large = _like(x.high, 150.0)
    inside = min(max(x.high, neg(large)), large)
    x = where(eq(inside, x.high), x, single(inside))
    k = _nearest(mul(x.high, _like(x.high, 1 / math.log(2))))
    r = x
    for part in _multiple(k, _LOG_2):
        r = minus(r, part)
    r = Pair(mul(r.high, _like(k, 1 / 16)), mul(r.low, _like(k, 1 / 16)))
    # Taylor's series: high powers are so small that float32 is enough for them
    h = r.high
    tail = add(_like(h, 1 / 120), mul(h, add(_like(h, 1 / 720), mul(h, _like(h, 1 / 5040)))))
    tail = add(_like(h, 1 / 24), mul(h, tail))
    inner = plus(splat(r, 1 / 6), single(mul(h, tail)))
    inner = plus(splat(r, 0.5), times(r, inner))
    e = plus(r, times(times(r, r), inner))
    for _ in range(4):
        e = plus(plus(e, e), times(e, e))
    return k, e


def exponential(x: Pair) -> Pair:
    k, e = _reduced_exponential(x)
    return keeping_nan(_scaled(plus(e, splat(e, 1.0)), k), x)


def exponential_less_one(x: Pair) -> Pair:
    k, e = _reduced_exponential(x)
    here = eq(k, _like(k, 0))
    far = minus(_scaled(plus(e, splat(e, 1.0)), k), splat(e, 1.0))
    tiny = lt(abs(x.high), _like(x.high, 1e-20))  # and of a negative zero the sign
    return keeping_nan(where(tiny, x, where(here, e, far)), x)


def _series_of_logarithm(s: Pair) -> Pair:
    """log((1 + s) / (1 - s)) for |s| up to 0.18."""
    w = times(s, s)
    h = w.high
    tail = _like(h, 2 / 21)
    for n in (19, 17, 15, 13, 11):
        tail = add(_like(h, 2 / n), mul(h, tail))
    total = single(tail)
    for n in (9, 7, 5, 3):
        total = plus(splat(s, 2 / n), times(w, total))
    return times(s, plus(splat(s, 2.0), times(w, total)))


def _split(x: Pair):
    """(k, m): x = m 2ᵏ with m between √½ and √2, for positive x."""
    bits = bitcast_convert(x.high, dtype=dtypes.int32)
    t = typeof(bits)
    # √½ has the bits 0x3f3504f3
    k = shift_right_arithmetic(sub(bits, full_like_type(t, 0x3F3504F3)), full_like_type(t, 23))
    k = convert(k, dtype=dtypes.float32)
    return k, _scaled(x, neg(k))


def logarithm(x: Pair) -> Pair:
    regular = and_(ge(x.high, _like(x.high, SMALLEST)), is_finite(x.high))
    k, m = _split(where(regular, x, splat(x, 1.0)))
    one = splat(x, 1.0)
    s = over(minus(m, one), plus(m, one))
    first, second, third = _multiple(k, _LOG_2)
    found = plus(first, plus(plus(second, third), _series_of_logarithm(s)))
    zero = _like(x.high, 0)
    odd = select(
        gt(x.high, zero),
        x.high,
        select(eq(x.high, zero), _like(zero, -math.inf), _like(zero, math.nan)),
    )
    odd = select(
        and_(gt(x.high, zero), is_finite(x.high)), zero, odd
    )  # subnormal numbers count as 0
    odd = select(and_(gt(x.high, zero), lt(x.high, _like(zero, 1.0))), _like(zero, -math.inf), odd)
    return where(regular, found, single(odd))


def logarithm_of_one_plus(x: Pair) -> Pair:
    near = lt(abs(x.high), _like(x.high, 0.3))
    inside = where(near, x, splat(x, 0.0))
    close = _series_of_logarithm(over(inside, plus(inside, splat(x, 2.0))))
    far = logarithm(plus(x, splat(x, 1.0)))
    tiny = lt(abs(x.high), _like(x.high, 1e-20))
    return where(tiny, x, where(near, close, far))


def to_power(x: Pair, y: Pair) -> Pair:
    """x to the power of y; in float32 where x is not positive and finite."""
    plain = power(x.high, y.high)
    regular = and_(gt(x.high, _like(x.high, 0)), and_(is_finite(x.high), is_finite(y.high)))
    found = exponential(times(y, logarithm(where(regular, x, splat(x, 1.0)))))
    # whole powers of negative numbers
    below = and_(is_below(x), and_(is_finite(x.high), is_finite(y.high)))
    of_size = exponential(times(y, logarithm(where(below, size(x), splat(x, 1.0)))))
    signed = where(lt(plain, _like(plain, 0)), negative(of_size), of_size)
    signed = where(is_nan(plain), single(plain), signed)
    return where(regular, found, where(below, signed, single(plain)))


# Sines

_FAR = 1e10  # beyond, sines have float32's digits
_MANY = 4096  # quarter turns are first taken off by so many, of which a multiple is a whole number in float32


def _turned(x: Pair):
    """(number of quarter turns but for whole turns, rest) of an angle."""
    many = _nearest(mul(x.high, _like(x.high, 2 / math.pi / _MANY)))
    for part in _multiple(mul(many, _like(many, _MANY)), _QUARTER):
        x = minus(x, part)
    k = _nearest(mul(x.high, _like(x.high, 2 / math.pi)))
    for part in _multiple(k, _QUARTER):
        x = minus(x, part)
    return k, x


def _nearest(x):
    return floor(add(x, _like(x, 0.5)))


def _series_of_sine(x: Pair) -> tuple[Pair, Pair]:
    """(sin x, cos x) for |x| up to 0.8."""
    w = times(x, x)

    def total(numbers):
        found = splat(x, numbers[-1])
        for c in reversed(numbers[:-1]):
            found = plus(splat(x, c), times(w, found))
        return found

    odd = [(-1) ** n / math.factorial(2 * n + 1) for n in range(9)]
    even = [(-1) ** n / math.factorial(2 * n) for n in range(10)]
    return times(x, total(odd)), total(even)


def _by_quarter(x: Pair, first: int) -> Pair:
    near = lt(abs(x.high), _like(x.high, _FAR))
    k, rest = _turned(where(near, x, splat(x, 0.0)))
    s, c = _series_of_sine(rest)
    k = convert(k, dtype=dtypes.int32)
    t = typeof(k)
    k = and_(add(k, full_like_type(t, first)), full_like_type(t, 3))
    one, two = (full_like_type(t, n) for n in (1, 2))
    found = where(eq(and_(k, one), one), c, s)
    found = where(ge(k, two), negative(found), found)
    s, c = (cosine, sine) if first else (sine, cosine)
    change = mul(c(x.high), sine(x.low))
    far = mul(s(x.high), cosine(x.low))
    return where(near, found, single(sub(far, change) if first else add(far, change)))


def sine_of(x: Pair) -> Pair:
    return _by_quarter(x, 0)


def cosine_of(x: Pair) -> Pair:
    return _by_quarter(x, 1)
