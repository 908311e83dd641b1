"""Hypergeometric functions, Faddeeva's and Owen's functions, and Legendre functions: sums of many terms."""

from __future__ import annotations

import math

import numpy as np

from .. import _ops as ops
from ._elementary import exp_square, full, odd, together, where, whole
from ._error_kernels import erfcx, half_gauss, ndtr
from ._gamma_kernels import gamma_ratio, gamma_sign_f, gammaln
from ._kernel import converge, forward, forward_slope, kernel, repeat
from ._product_kernels import poch

_LINGER = 1.4
_CANCELLED = 2.0**-52 / 1e-4  # what is left of the largest term where four digits are

# Hypergeometric


def _is_pole(b):
    return ops.and_(b <= 0.0, whole(b))


def _rate(top, base):
    """top/base, and 0 for 0/0: a polynomial ends before its denominators vanish."""
    return top / where(ops.and_(top == 0.0, base == 0.0), 1.0, base)


def _reach(before, term, factors, scale, linger, ends=False):
    """The size of a series' term: what decides whether to go on.

    The derivative of a polynomial in the argument that ends it is a series that does not end. So for
    derivatives the factors, of which one vanishes, count as 1/2 at least, but where the sum ``ends`` all the same.
    """
    if linger == 1.0:
        return ops.abs(term)
    least = full(before, 0.5) if ends is False else where(ends, 0.0, full(before, 0.5))
    for factor in factors:
        before = before * ops.max(ops.abs(factor), least)
    return before * ops.abs(scale)


def _ends_first(a, b):
    """Whether a series with (a)_k/(b)_k is a polynomial that ends before b's pole."""
    return ops.and_(_is_pole(a), ops.not_(ops.and_(_is_pole(b), a < b)))


def _unless_cancelled(total, largest, factor=1.0):
    """A sum that begins with 1, and NaN where larger terms cancelled to fewer than four digits.

    Next to a zero of the function terms of moderate size do, and what is left is right beside 1: not so if it is
    multiplied by a large ``factor``.
    """
    lost = ops.and_(largest * factor > 1e3, ops.abs(total) < _CANCELLED * largest)
    return where(lost, math.nan, total)


def _kummer_series(a, b, x, active, linger):
    """Σ (a)_k/(b)_k x^k/k!."""

    def step(k, term, total, size, largest):
        n = k + 1.0
        term = term * _rate(a + k, b + k) * (x / n)
        size = _reach(size, term, (a + k,), _rate(x, (b + k) * n), linger)
        total = total + term
        growing = ops.abs((a + n) * x) > ops.abs((b + n) * (n + 1.0))
        growing = ops.or_(growing, n < 1.0 - b)  # it grows once more where b + n passes 0
        more = ops.or_(growing, size > 1e-17 * ops.abs(total))
        largest = ops.max(largest, ops.abs(term))
        return (term, total, size, largest), ops.and_(more, size > 0.0)

    one = full(x, 1.0)
    _, total, _, largest = converge(step, (one, one, one, one), 20000, active, linger)
    return _unless_cancelled(total, largest)


def _kummer_right(a, b, x, active, linger):
    """M(a, b, x) for x >= 0.

    For whole a < 0, a Laguerre polynomial, the series cancels: it is summed for a = -1 and 0, and the
    recurrence in a (DLMF 13.3.1), of which it is a dominant solution, goes on from there.
    """
    down = ops.and_(ops.and_(_is_pole(a), a > -1e6), b > 0.0)
    steps = where(ops.and_(active, down), ops.max(ops.ceil(-a) - 1.0, full(a, 0.0)), 0.0)
    c = a + steps

    def series(*args):
        return _kummer_series(*args, linger)

    moving = ops.and_(active, steps > 0.0)
    above, here = together(series, (c + 1.0, b, x, moving), (c, b, x, active))

    def step(k, above, here):
        d = c - k
        new = (d * above - (2.0 * d - b + x) * here) / (b - d)
        return here, new

    return forward(step, (above, here), steps)[1]


def _kummer_tail(a, b, x, active, linger):
    """M(a, b, x) x^a Γ(b - a)/Γ(b) for large -x (DLMF 13.7.2), x being -x here."""

    def step(k, term, total, size):
        n = k + 1.0
        new = term * ((a + k) * (a - b + n) / (n * x))
        reach = _reach(size, new, (a + k, a - b + n), 1.0 / (n * x), linger)
        smaller = reach < size
        state = (new, where(smaller, total + new, total), reach)
        return state, ops.and_(smaller, reach > 1e-17 * ops.abs(total))

    one = full(x, 1.0)
    return converge(step, (one, one, one), 200, active, linger)[1]


def hyp1f1_f(a, b, x, linger: float = 1.0):
    pole = ops.and_(_is_pole(b), ops.not_(_ends_first(a, b)))
    left = ops.and_(x < 0.0, ops.not_(_is_pole(b)))
    far = ops.and_(-x > 40.0 + 3.0 * ops.abs(a) * (ops.abs(a - b) + 1.0), ops.not_(_is_pole(b - a)))
    # the other solution, e^x (-x)^(a - b) Γ(b)/Γ(a), is no longer small where b is far below 0
    far = ops.and_(far, -x > 40.0 - 4.0 * b)
    far = ops.and_(far, ops.not_(_is_pole(b)))
    near = ops.not_(ops.or_(far, pole))
    # Kummer's transformation M(a, b, x) = e^x M(b - a, b, -x)
    top = where(near, where(left, b - a, a), 1.0)
    base = where(pole, 1.0, b)
    series = _kummer_right(top, base, where(near, where(left, -x, x), 0.0), near, linger)
    half = where(left, ops.exp(where(left, 0.5 * x, 0.0)), 1.0)  # e^x alone may vanish
    value = where(ops.abs(series) < math.inf, half * series * half, where(left, math.nan, series))
    y = where(far, -x, 50.0)
    p, q = where(far, a, 1.0), where(far, base, 2.5)
    signs = gamma_sign_f(q) * gamma_sign_f(q - p)
    tail = (
        signs
        * ops.exp(gammaln(q) - gammaln(q - p) - p * ops.log(y))
        * _kummer_tail(p, q, y, far, linger)
    )
    value = where(far, tail, value)
    return where(pole, where(x == 0.0, 1.0, math.inf), value)


def _gauss_series(a, b, c, x, active, linger, factor, ends):
    """Σ (a)_k (b)_k/(c)_k x^k/k! and its derivative."""

    def step(k, term, total, slope, size, largest):
        n, base = k + 1.0, c + k
        if ends is not False:  # no term is left where it vanishes
            base = where(ops.and_(ends, base == 0.0), 1.0, base)
        rate = _rate((a + k) * (b + k), base) / n
        slope_term = term * rate * n
        term = term * rate * x
        size = _reach(size, term, (a + k, b + k), _rate(x, (c + k) * n), linger, ends)
        new, new_slope = total + term, slope + slope_term
        large = ops.or_(
            size > 1e-17 * ops.abs(new), ops.abs(slope_term) > 1e-17 * ops.abs(new_slope)
        )
        early = n < ops.max(ops.abs(a) + ops.abs(b), 1.0 - c)  # it grows where c + n passes 0
        state = (term, new, new_slope, size, ops.max(largest, ops.abs(term)))
        return state, ops.and_(ops.or_(large, early), size > 0.0)

    one = full(x, 1.0)
    start = (one, one, full(x, 0.0), one, one)
    _, total, slope, _, largest = converge(step, start, 20000, active, linger)
    return _unless_cancelled(total, largest, factor), slope


def _taylor_step(a, b, c, gap, width, value, slope):
    """F and F' at 1 - gap + width from those at 1 - gap, by the Taylor series of Gauss's equation."""
    x0 = 1.0 - gap

    def step(k, first, second, total, change):
        # first, second: coefficients k and k + 1 times powers of width
        n = k + 1.0
        middle = n * ((1.0 - 2.0 * x0) * k + c - (a + b + 1.0) * x0) * second * width
        third = ((k + a) * (k + b) * first * width * width - middle) / (x0 * gap * n * (n + 1.0))
        return second, third, total + third, change + (n + 1.0) * third

    start = (value, slope * width, value + slope * width, slope * width)
    _, _, total, change = repeat(step, start, 60)
    return total, change / width


_HALVINGS = 1100  # from there to the smallest float
_START = 0.9  # far enough from 0, whose other solution x^(1-c) the steps below would excite


def _continue(a, b, c, y, value, slope, active):
    """F at 1 - y from F and F' at the start, by steps that halve the distance to 1."""

    def step(_, gap, value, slope):
        width = ops.min(0.5 * gap, gap - y)
        moving = width > 0.0
        new, new_slope = _taylor_step(a, b, c, gap, where(moving, width, 0.05), value, slope)
        state = (gap - width, where(moving, new, value), where(moving, new_slope, slope))
        return state, state[0] > y

    return converge(step, (full(y, 1.0 - _START), value, slope), _HALVINGS, active)[1]


def _is_polynomial(a, b, c, x, moves):
    """Whether to sum F as a polynomial: in derivatives only where there is no other way, beyond 1 and at poles of c,
    and another argument than the one with the number ``moves`` ends it."""
    of_a, of_b = _ends_first(a, c), _ends_first(b, c)
    if moves is None:
        return ops.or_(of_a, of_b)
    return ops.and_(_is_alone(c, x), (of_b, of_a, ops.or_(of_a, of_b))[moves])


def _is_alone(c, x):
    """Whether F is defined for polynomials only."""
    return ops.or_(x >= 1.0, _is_pole(c))


def _gauss_unit(a, b, c, x, y, linger, factor, polynomial, ends):
    """F(a, b; c; x) for 0 <= x = 1 - y < 1, or any x if it is a polynomial; it will be multiplied by a factor."""
    # Euler's transformation F(a, b; c; x) = (1 - x)^d F(c - a, c - b; c; x), d = c - a - b, where F
    # grows towards 1; for larger d the series itself is fast enough
    d = c - a - b
    grows = ops.and_(ops.and_(x > 0.75, d < 0.0), ops.not_(polynomial))
    a, b = where(grows, c - a, a), where(grows, c - b, b)
    far = ops.and_(ops.and_(x > _START, ops.abs(d) < 5.0), ops.not_(polynomial))
    start = where(far, _START, x)
    power = ops.pow(where(grows, y, 1.0), where(grows, d, 1.0))
    factor = ops.max(factor, full(x, 1.0)) * ops.max(power, full(x, 1.0))
    value, slope = _gauss_series(a, b, c, start, ops.eq(x, x), linger, factor, ends)
    value = where(far, _continue(a, b, c, where(far, y, 0.05), value, slope, far), value)
    return where(grows, power * value, value)


def hyp2f1_f(a, b, c, x, moves=None):
    linger = 1.0 if moves is None else _LINGER
    finite = _is_polynomial(a, b, c, x, moves)
    ends = False if moves is None else finite
    pole = ops.and_(_is_pole(c), ops.not_(finite))
    outside = ops.and_(x >= 1.0, ops.not_(finite))
    simple = ops.or_(outside, pole)
    p, q, r = where(simple, 1.0, a), where(simple, 1.0, b), where(simple, 2.0, c)
    z = where(simple, 0.25, x)
    # Pfaff's transformation F(a, b; c; x) = (1 - x)^-a F(a, c - b; c; x/(x - 1)); either may be a,
    # of a polynomial the one that ends it, and then the terms on the left of 0 have one sign
    shorter = ops.or_(ops.abs(q) < ops.abs(p), ops.and_(ops.eq(q, -p), q < p))
    swap = ops.select(finite, ops.not_(_ends_first(p, r)), shorter)
    p, q = where(swap, q, p), where(swap, p, q)
    one_sign = ops.and_(ops.and_(z > 0.0, z < 1.0), ops.and_(q > 0.0, r > q))
    flip = ops.select(finite, one_sign, z < 0.0)
    one_minus = where(flip, 1.0 - z, 1.0)
    u, v = where(flip, -z / one_minus, z), where(flip, 1.0 / one_minus, 1.0 - z)
    power = where(flip, ops.pow(one_minus, -p), 1.0)
    q = where(flip, r - q, q)
    polynomial = ops.or_(_ends_first(p, r), _ends_first(q, r))
    if moves is not None:
        polynomial = ops.and_(polynomial, ends)
    value = power * _gauss_unit(p, q, r, u, v, linger, power, polynomial, ends)
    d = c - a - b
    sums = ops.and_(d > 0.0, x == 1.0)
    e = where(sums, d, 1.0)
    larger = where(sums, ops.max(a, b), 1.0)  # of the smaller one quotients of poles may come
    at_one = poch(where(sums, c - larger, 1.0), larger) / poch(e, larger)
    value = where(outside, where(sums, at_one, where(x == 1.0, math.inf, math.nan)), value)
    return where(pole, where(x == 0.0, 1.0, math.inf), value)


def _slope_of_gauss(i):
    """A polynomial beyond 1 has no derivative in the argument that ends it: F is complex or infinite beside it."""

    def slope(y, a, b, c, x):
        out = forward_slope(lambda *xs: hyp2f1_f(*xs, moves=i), a, b, c, x, i=i)
        sums = ops.and_(ops.and_(x == 1.0, c - a - b > 0.0), ops.not_(_is_pole(c)))
        known = ops.or_(sums, _is_polynomial(a, b, c, x, i))
        none = ops.and_(ops.and_(_is_alone(c, x), x != 0.0), ops.not_(known))
        return where(none, math.nan, out)

    return slope


def _slope_of_kummer(i):
    """NaN where a sum of large terms overflows though M does not."""

    def slope(y, *args):
        out = forward_slope(lambda *xs: hyp1f1_f(*xs, linger=_LINGER), *args, i=i)
        return where(ops.and_(ops.abs(out) == math.inf, ops.abs(y) < math.inf), math.nan, out)

    return slope


# fmt: off
hyp1f1 = kernel("special.hyp1f1", hyp1f1_f, _slope_of_kummer(0), _slope_of_kummer(1),
    lambda _, a, b, x: _rate(a, b) * hyp1f1(a + 1.0, b + 1.0, x))
hyp2f1 = kernel("special.hyp2f1", hyp2f1_f, *[_slope_of_gauss(i) for i in range(3)],
    lambda _, a, b, c, x: _rate(a * b, c) * hyp2f1(a + 1.0, b + 1.0, c + 1.0, x))
# fmt: on

# Faddeeva

_WIDTH = 0.518321480430085929872  # π/√(-log(ε/2)): the trapezoidal sum below is then exact to ε


def _faddeeva_near(x, y):
    """w(x + iy) for x, y >= 0 within |z| < 8, by Zaghloul and Ali's sum (Algorithm 916)."""

    def step(k, even, both, difference):
        t = _WIDTH * (k + 1.0)
        share = ops.exp(-(t - x) * (t - x)) / (t * t + y * y)
        mirrored = ops.expm1(-4.0 * t * x)
        center = ops.exp(-(t * t)) / (t * t + y * y)
        return even + center, both + share * (2.0 + mirrored), difference - t * share * mirrored

    zero = full(x, 0.0)
    even, both, difference = repeat(step, (zero, zero, zero), 28)
    bell = half_gauss(math.sqrt(2.0) * x)
    factor = 2.0 * _WIDTH / math.pi
    first = bell * (erfcx(y) - factor * y * even)
    angle = x * y
    sin, cos = ops.sin(2.0 * angle), ops.cos(2.0 * angle)
    second = factor * x * bell
    real = first * cos + second * ops.sin(angle) * _sinc(angle) + 0.5 * factor * y * both
    return real, second * _sinc(2.0 * angle) - first * sin + 0.5 * factor * difference


def _sinc(t):
    zero = t == 0.0
    return where(zero, 1.0, ops.sin(t) / where(zero, 1.0, t))


def _faddeeva_far(z):
    """w(z) for |z| >= 8 in the upper half plane: Laplace's continued fraction."""
    value = z
    for k in range(14, 0, -1):
        value = z - (0.5 * k) / value
    return (1j / math.sqrt(math.pi)) / value


def wofz_f(z):
    below = ops.imag(z) < 0.0
    u = where(below, -z, z)
    x, y = ops.real(u), ops.imag(u)
    size = ops.abs(x)
    near = size * size + y * y < 64.0
    real, imag = _faddeeva_near(where(near, size, 1.0), where(near, y, 1.0))
    far = _faddeeva_far(ops.complex(where(near, 10.0, size), where(near, 10.0, y)))
    # on the real axis the fraction is imaginary: its real part is e^(-x²)
    on_axis = where(y == 0.0, exp_square(size, -1.0), ops.real(far))
    real, imag = where(near, real, on_axis), where(near, imag, ops.imag(far))
    value = ops.complex(real, where(x < 0.0, -imag, imag))
    return where(below, 2.0 * ops.exp(-z * z) - value, value)


wofz = kernel(
    "special.wofz", wofz_f, lambda w, z: 2j / math.sqrt(math.pi) - 2.0 * z * w, kind="complex"
)

# Owen's T


def _owens_inner(h, a):
    """exp(-h²/2)/(2π) ∫ exp(-h² x²/2)/(1 + x²) dx over [0, a], a <= 1, by Gauss and Legendre."""
    reach = ops.min(a, 8.8 / ops.max(h, full(h, 1.0)))
    total = full(h, 0.0)
    for node, weight in zip(*np.polynomial.legendre.leggauss(32), strict=True):
        x = reach * float(0.5 + 0.5 * node)
        total = total + float(0.5 * weight) * ops.exp(-0.5 * (h * x) * (h * x)) / (1.0 + x * x)
    return half_gauss(h) * reach * total / (2.0 * math.pi)


def owens_t_f(h, a):
    h, size = ops.abs(h), ops.abs(a)
    large = size > 1.0
    infinite = size == math.inf
    b = where(large, size, 1.0)
    # T(h, a) = Q(h)/2 + Q(ah)/2 - Q(h) Q(ah) - T(ah, 1/a) with Q = 1 - Φ
    product = where(infinite, full(h, math.inf), b * h)
    inner = _owens_inner(
        where(large, ops.min(product, full(h, 1e300)), h), where(large, 1.0 / b, size)
    )
    q, r = ndtr(-h), ndtr(-product)
    value = where(large, 0.5 * q + 0.5 * r - q * r - inner, inner)
    value = where(ops.and_(infinite, h == 0.0), 0.25, value)
    value = where(h == math.inf, 0.0, value)
    return ops.sign(a) * value


owens_t = kernel(
    "special.owens_t", owens_t_f,
    lambda _, h, a: -half_gauss(h) * ops.erf(a * h * math.sqrt(0.5)) / math.sqrt(8.0 * math.pi),
    lambda _, h, a: half_gauss(h) * half_gauss(a * h) / (2.0 * math.pi * (1.0 + a * a)),
)  # fmt: skip

# Legendre


def legendre_f(n, m, theta):
    """The factor of a spherical harmonic that depends on the polar angle."""
    order = ops.abs(m)
    inside = ops.and_(ops.and_(order <= n, n <= 1e6), ops.and_(whole(n), whole(m)))
    order, degree = where(inside, order, 0.0), where(inside, n, 0.0)
    sin, cos = ops.sin(theta), ops.cos(theta)
    # the start: (-1)^m √((2m + 1)!!/(4π (2m)!!)) sin^m
    base = where(order > 0.0, order, 1.0) + 0.5
    ratio = where(order > 0.0, gamma_ratio(base, full(base, 0.5)) / math.sqrt(math.pi), 1.0)
    power = where(order > 0.0, ops.pow(ops.abs(sin), where(order > 0.0, order, 1.0)), 1.0)
    signed = ops.and_(odd(order), sin > 0.0)
    power = where(signed, -power, power)
    diagonal = ops.sqrt((2.0 * order + 1.0) / (4.0 * math.pi) * ratio) * power

    def step(k, before, now):
        l = order + k + 1.0
        scale = ops.sqrt((4.0 * l * l - 1.0) / (l * l - order * order))
        previous = (l - 1.0) * (l - 1.0)
        back = ops.sqrt((previous - order * order) / where(l > 1.0, 4.0 * previous - 1.0, 1.0))
        return now, scale * (cos * now - back * before)

    _, value = forward(step, (full(theta, 0.0), diagonal), degree - order)
    value = where(ops.and_(m < 0.0, odd(m)), -value, value)
    known = ops.and_(ops.and_(whole(n), whole(m)), n <= 1e6)
    return where(inside, value, where(known, 0.0, math.nan))


# fmt: off
legendre = kernel("special.legendre", legendre_f, None, None,
    lambda _, n, m, t: forward_slope(lambda u: legendre_f(n, m, u), t))
cos_of_multiple = kernel("special.cos_of_multiple", lambda m, t: ops.cos(m * t), None,
    lambda _, m, t: -m * ops.sin(m * t))
# fmt: on
sin_of_multiple = kernel(
    "special.sin_of_multiple", lambda m, t: ops.sin(m * t), None, lambda _, m, t: m * ops.cos(m * t)
)
