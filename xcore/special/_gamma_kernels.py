"""The gamma family in float64: what the public functions and other kernels are made of.

The rational approximations here and in the other modules are least-squares fits at Chebyshev nodes,
reweighted until the error is level, in 40-digit arithmetic; each stays below 0.2 units of the last
place, in a variable in which numerator and denominator can be summed without cancellation.
"""

from __future__ import annotations

import math

from .. import _ops as ops
from .._core import dtypes, typeof
from ._elementary import (
    cos_pi,
    exp_sum,
    full,
    horner,
    log1p,
    log1p_minus,
    odd,
    product_error,
    rational,
    root_factor,
    sin_pi,
    together,
    where,
    whole,
)  # fmt: skip
from ._kernel import AUTO, forward_slope, kernel

# fmt: off
# log Γ(1 + y) / (y (y - 1)) on [0, 2]
_LOG_GAMMA = (
    (0.5772156649015329, 1.5928981234631185, 1.6593200600634572, 0.8132779030791543,
     0.19046992622300934, 0.01916017758542287, 0.000606039993832647, 1.325065622109482e-06),
    (1.0, 3.1845107535313795, 3.95847090353635, 2.432821640619544, 0.7731722575717715,
     0.12131371779669288, 0.008099773111080191, 0.0001564378915973634))
# x (log Γ(x) - (x - 1/2) log x + x - log(2π)/2) in 1/x on [0, 1]
_STIRLING = (
    (0.08333333333333333, 0.6532386939745505, 2.5990379583436005, 6.213861850328145,
     9.465498931045657, 9.117426093426387, 5.230348682143279, 1.5333942894899388,
     0.1384731922112732, 0.0009524843748945536),
    (1.0, 7.838864327694604, 31.221788833456962, 74.82763768148983, 114.61718965923723,
     111.828711809542, 66.29455061315886, 21.47169018350221, 2.9929415272979343,
     0.11648898740226209))
# ψ(1 + y) / (y - y₀) on [0, 1], where ψ(1 + y₀) = 0
_DIGAMMA_ROOT = (0.46163214496836236, -1.5522348162858677e-17)
_DIGAMMA = (
    (1.2503801375034054, 1.87001441562799, 0.9743537367913991, 0.2176875874442627,
     0.020180435707779644, 0.0005912648213771544, 1.120469561067672e-06),
    (1.0, 2.179103533802221, 1.6669736861527131, 0.5736442448886656, 0.09182826384907342,
     0.0061768993744723685, 0.00012273075616616014))
# x² (log x - 1/(2x) - ψ(x)) in 1/x on [0, 1/2]
_DIGAMMA_TAIL = (
    (0.08333333333333334, 0.4171259878466681, 1.3215560223226404, 2.35319546361975,
     2.714056894631006, 1.7491487141238353, 0.5414195999250507, 0.0031286563993307066),
    (1.0, 5.005511854160066, 15.958672267861054, 28.738896749771705, 34.11693087321295,
     23.625317671799166, 9.198771099479293, 1.282087377138804))
# (s - 1) ζ(s) on [-1, 1]
_RIEMANN = (
    (0.5, 0.5295452419785219, 0.1925329695559913, 0.030541986022032404, 0.002282062311802025,
     0.00011144611213288786, 5.433947408544249e-06),
    (1.0, 0.22121341754769835, 0.031236900267490774, 0.0024274551012392585,
     0.00013797395819837446, 3.3222074628696935e-06, 7.084579942885471e-08))
# fmt: on

_HALF_LOG_TWO_PI = 0.9189385332046728
_ROOT_TWO_PI = 2.5066282746310002


def deviance(x, m):
    """x log(x/m) + m - x: how far x is from m, half the Poisson deviance. For x, m > 0."""
    excess = (m - x) / x
    near = ops.and_(excess > -0.5, excess < 1.0)
    close = -x * log1p_minus(where(near, excess, 0.0))
    return where(near, close, x * ops.log(x / m) + (m - x))


def log_quotient(x, y):
    """log(x/y), without cancellation where they are close."""
    excess = (x - y) / y
    near = ops.and_(excess > -0.5, excess < 1.0)
    return where(near, log1p(where(near, excess, 0.0)), ops.log(x / y))


def log_gamma_1p(y):
    """log Γ(1 + y) for y in [0, 2], and a little below 0."""
    return y * (y - 1.0) * rational(y, _LOG_GAMMA)


def stirling(x):
    """What Stirling's formula leaves of log Γ(x), for x >= 1: about 1/(12 x)."""
    u = 1.0 / x
    return u * rational(u, _STIRLING)


def gamma_positive(x):
    """Γ(x) for x > 0."""
    small = x < 1.0
    y = where(small, x + 1.0, x)
    # y^(y - 1/2) overflows before Γ does, so it is taken as a square
    root = ops.pow(y, 0.5 * y - 0.25)
    value = root * (exp_sum(-y, stirling(y)) * _ROOT_TWO_PI) * root
    largest = 172.0 if typeof(x).dtype == dtypes.float64 else 36.0
    value = where(y > largest, math.inf, value)
    return where(small, value / x, value)


def gamma_f(x):
    left = x < 0.0
    size = ops.abs(x)
    value = gamma_positive(size)
    # one by one, lest their product overflow
    first, second = where(size < 1.0, size * value, size), where(size < 1.0, 1.0, value)
    reflected = -math.pi / sin_pi(size) / first / second
    # factorials are whole
    value = where(ops.and_(whole(x), value < 9e15), ops.round_even(value), value)
    value = where(left, where(whole(x), math.nan, reflected), value)
    return where(x == 0.0, 1.0 / x, value)


def log_gamma_positive(x):
    """log Γ(x) for x > 0."""
    small, large = x < 1.0, x > 3.0
    y = where(small, x, where(large, 1.0, x - 1.0))
    near = log_gamma_1p(y) - where(small, ops.log(x), 0.0)
    z = where(large, x, 4.0)
    far = (z - 0.5) * ops.log(z) - z + (_HALF_LOG_TWO_PI + stirling(z))
    # before (z - 1/2) log z overflows
    huge = float(dtypes.finfo(typeof(x).dtype).max) * 1e-8
    far = where(z > huge, z * (ops.log(z) - 1.0), far)
    return where(large, far, near)


def gammaln_f(x):
    size = ops.abs(x)
    value = log_gamma_positive(where(size == 0.0, 1.0, size))
    product = ops.abs(size * sin_pi(size))
    # next to 0 the product underflows, and log |Γ(x)| is -log |x|
    reflected = where(product > 0.0, ops.log(math.pi / product) - value, -ops.log(size))
    value = where(x < 0.0, where(whole(x), math.inf, reflected), value)
    value = where(size == 0.0, math.inf, value)
    return where(size == math.inf, math.inf, value)


def digamma_positive(x):
    small, large = x < 1.0, x > 2.0
    y = where(small, x, where(large, 1.0, x - 1.0))
    near = root_factor(y, *_DIGAMMA_ROOT, rational(y, _DIGAMMA))
    near = near - where(small, 1.0 / x, 0.0)
    z = where(large, x, 3.0)
    return where(large, ops.log(z) - digamma_tail(z), near)


def digamma_tail(x):
    """log x - ψ(x) for x >= 2."""
    u = 1.0 / x
    return u * (0.5 + u * rational(u, _DIGAMMA_TAIL))


def digamma_f(x):
    left = x < 0.0
    # ψ(x) = ψ(-x) - 1/x - π cot(πx)
    size = ops.abs(x)
    value = digamma_positive(size)
    angle = x - ops.round_even(x)
    reflected = value - 1.0 / x - math.pi * cos_pi(angle) / sin_pi(angle)
    value = where(left, where(whole(x), math.nan, reflected), value)
    return where(x == 0.0, -1.0 / x, value)


# Ratios, beta


def _ratio_parts(x, d):
    """(log, y): Γ(x)/Γ(x + d) = exp(log) y^-d, without cancellation where d is small."""
    y = x + d
    at_x, at_y = together(stirling, (x,), (y,))
    return at_x - at_y + d - (x - 0.5) * log1p(d / x), y


def log_gamma_ratio(x, d):
    """log Γ(x) - log Γ(x + d) for x >= 1, x + d >= 1."""
    rest, y = _ratio_parts(x, d)
    return rest - d * ops.log(y)


def gamma_ratio_factors(x, d):
    """Two factors of Γ(x) / Γ(x + d) for x >= 1, x + d >= 1, of which none vanishes before the ratio does."""
    rest, y = _ratio_parts(x, d)
    half = ops.pow(y, -0.5 * d)
    return half * ops.exp(where(half == 0.0, 0.0, rest)), half


def gamma_ratio(x, d):
    """Γ(x) / Γ(x + d) for x >= 1, x + d >= 1."""
    first, second = gamma_ratio_factors(x, d)
    return first * second


def digamma_step(x, d):
    """ψ(x + d) - ψ(x) for x, x + d > 0, without cancellation where d is small against x >= 2."""
    far = x >= 2.0
    z = where(far, x, 2.0)
    w = z + where(far, d, 0.0)
    at_w, at_z = together(digamma_tail, (w,), (z,))
    end, start = together(digamma_positive, (x + d,), (where(far, 1.0, x),))
    return where(far, log1p(d / z) - at_w + at_z, end - start)


def _share_power(a, n):
    """((a/n)^a, c) such that (a/n)^a exp(c) is as accurate as if a/n had not been rounded."""
    share = a / n
    product = share * n
    return ops.pow(share, a), (a - product) - product_error(share, n, product)


def beta_positive(a, b, log: bool = False):
    """B(a, b), or its logarithm, for a, b > 0."""
    value, far, logarithm = beta_and_log(a, b)
    return where(far, logarithm, ops.log(value)) if log else value


def beta_and_log(a, b):
    """B(a, b) for a, b > 0, whether its powers may have underflown, and its logarithm where they have."""
    a, b = ops.min(a, b), ops.max(a, b)
    both, big = a >= 1.0, b >= 1.0
    p, q = where(both, a, 1.0), where(big, b, 1.0)
    n = where(big, a + b, 2.0)
    at_p, at_q, at_n = together(stirling, (p,), (q,), (n,))
    (p_power, p_rest), (q_power, q_rest) = _share_power(p, n), _share_power(q, n)
    lost = a - (n - q)  # of a + b by rounding
    rest, factor = p_rest + q_rest - lost + (at_p + at_q - at_n), _ROOT_TWO_PI * ops.sqrt(n / p / q)
    powers = p_power * q_power
    # what rounding loses of huge arguments is far more than what is left of their powers
    large = powers * ops.exp(where(powers == 0.0, 0.0, rest)) * factor
    c = where(both, 0.5, a)
    ratio = ops.exp(at_q - at_n + c - (q - 0.5) * log1p(c / q)) * ops.pow(n, -c)
    at_a, at_b, at_sum = together(
        gamma_positive, (c,), (where(big, 0.5, b),), (where(big, 0.5, a + b),)
    )
    value = where(both, large, at_a * where(big, ratio, at_b / at_sum))
    value = where(b == math.inf, 0.0, value)
    # log(value) is the better one until the powers underflow
    exponent = at_p + at_q - at_n - (p * log1p(q / p) + q * log1p(p / q))
    far = ops.and_(ops.and_(both, value < 1e-280), b < math.inf)
    return value, far, ops.log(factor) + exponent


def gamma_sign_f(x):
    below = ops.floor(x)
    sign = where(odd(below), -1.0, 1.0)
    sign = where(ops.and_(x < 0.0, ops.or_(whole(x), x < -1e300)), math.nan, sign)
    zero = x == 0.0
    sign = where(zero, ops.sign(1.0 / where(zero, x, 1.0)), sign)
    return where(x > 0.0, 1.0, sign)


def _beta_everywhere(a, b, log: bool):
    """B(a, b), or log |B(a, b)|.

    Where a is a whole number <= 0 the limit is (-1)^b B(1 - a - b, b) if b is whole too and
    0 < b < 1 - a, and infinite otherwise. Either argument may play the part of a.
    """
    positive = ops.and_(a > 0.0, b > 0.0)
    swapped = ops.and_(b <= 0.0, whole(b))
    p, q = where(swapped, b, a), where(swapped, a, b)
    pole = ops.and_(p <= 0.0, whole(p))
    other = 1.0 - p - q
    finite = ops.and_(ops.and_(pole, whole(q)), ops.and_(other > 0.0, q > 0.0))
    regular = ops.or_(positive, finite)
    first = where(positive, a, where(finite, other, 1.0))
    # one is negative, B(a, -m) B(a - m, m) = -π/(m sin πm): three logarithms would cancel
    low = where(a < b, a, b)
    mixed = ops.and_(ops.and_(a + b > 0.0, low < 0.0), ops.not_(whole(low)))
    m = where(mixed, -low, 0.5)
    value = beta_positive(where(mixed, a + b, first), where(mixed, m, where(regular, q, 1.0)), log)
    sine_factor = math.pi / ops.abs(sin_pi(m))  # apart from m, as their product may vanish
    calls = [(where(regular, 1.5, x),) for x in (a, b, a + b)]
    at_a, at_b, at_sum = together(gammaln_f, *calls)
    logs = at_a + at_b - at_sum
    if log:
        logs = where(mixed, ops.log(sine_factor) - ops.log(m) - value, logs)
        return where(regular, value, where(pole, math.inf, logs))
    sign_a, sign_b, sign_sum = together(gamma_sign_f, *calls)
    value = value * where(ops.and_(finite, odd(q)), -1.0, 1.0)
    zero = ops.and_(ops.and_(a + b <= 0.0, whole(a + b)), ops.not_(pole))
    size = where(mixed, sine_factor / (m * value), ops.exp(logs))
    signed = where(zero, 0.0, sign_a * sign_b * sign_sum * size)
    return where(regular, value, where(pole, math.inf, signed))


def _beta_slope(value, a, b):
    """By a; where 1/Γ(a + b) is 0, as that of Γ(a) Γ(b)/Γ(a + b)."""
    total = a + b
    pole = lambda x: ops.and_(x <= 0.0, whole(x))  # noqa: E731
    here = ops.and_(pole(total), ops.not_(ops.or_(pole(a), pole(b))))
    here = ops.and_(here, ops.and_(ops.abs(a) < 170.0, ops.abs(b) < 170.0))
    p, q, s = where(here, a, 1.0), where(here, b, 1.0), where(here, total, 1.0)
    at_zero = gamma(p) * gamma(q) * (digamma(p) * rgamma(s) + rgamma_slope(s))
    change = digamma_change(where(here, 1.0, a), where(here, 1.0, b))
    return where(here, at_zero, -value * change)


def rgamma_f(x):
    """1/Γ(x), an entire function."""
    value = gamma_f(x)
    return where(ops.and_(x < 0.0, whole(x)), 0.0, 1.0 / value)


def rgamma_slope(x):
    """-ψ(x)/Γ(x); on the left, where both have poles, of 1/Γ(x) = Γ(1 - x) sin(πx)/π."""
    left = x < 0.5
    z = where(left, x, 0.25)
    reflected = gamma(1.0 - z) * (cos_pi(z) - digamma(1.0 - z) * sin_pi(z) / math.pi)
    none = ops.or_(left, x == math.inf)
    z = where(none, 1.0, x)
    right = where(none, 0.0, -rgamma(z) * digamma(z))
    return where(left, reflected, right)


# Zeta, polygamma

# B_2j / (2j)!
_BERNOULLI = (
    8.333333333333333e-2, -1.388888888888889e-3, 3.306878306878307e-5, -8.267195767195768e-7,
    2.08767569878681e-8, -5.284190138687493e-10, 1.3382536530684679e-11, -3.3896802963225828e-13,
    8.586062056277845e-15, -2.1748686985580618e-16, 5.5090028283602295e-18, -1.3954464685812523e-19,
)  # fmt: skip
_SUMMED = 10


def hurwitz_positive(s, q):
    """Σ (q + k)^-s for q > 0: ten terms, and Euler and Maclaurin's formula for the rest (DLMF 25.11.5)."""
    total = ops.pow(q, -s)
    for k in range(1, _SUMMED):
        total = total + ops.pow(q + float(k), -s)
    w = q + float(_SUMMED)
    power = ops.pow(w, -s)
    rest, factor = 0.5 * power, power * s / w
    for j, b in enumerate(_BERNOULLI):
        rest = rest + b * factor
        factor = factor * ((s + (2.0 * j + 1.0)) / w) * ((s + (2.0 * j + 2.0)) / w)
    # where the power underflows the rest is negligible, but its factors may overflow
    rest = where(power == 0.0, 0.0, rest)
    integral = where(power == 0.0, ops.pow(w, 1.0 - s), w * power)
    return total + (integral / (s - 1.0) + rest)


def hurwitz_f(s, q):
    left = q <= 0.0
    base = q - ops.floor(q)
    start = where(left, where(base > 0.0, base, 0.5), q)
    # the sum over all whole k is periodic in q, so for whole s the missing terms are two zetas
    exponent = where(left, s, 2.0)
    above = ops.ceil(q) - q  # 1 - base, without its rounding
    calls = (
        (s, start),
        (exponent, where(ops.and_(left, above > 0.0), above, 1.0)),
        (exponent, where(left, 1.0 - q, 1.0)),
    )
    value, first, second = together(hurwitz_positive, *calls)
    tail = first - second
    signed = value + where(odd(s), -tail, tail)
    signed = where(whole(q), math.inf, where(whole(s), signed, math.nan))
    value = where(left, signed, where(q == math.inf, 0.0, value))
    return where(s > 1.0, value, where(s == 1.0, math.inf, math.nan))


def riemann_f(s):
    left, near_pole = s < -1.0, ops.and_(s >= -1.0, s <= 1.0)
    t = where(left, 1.0 - s, where(near_pole, 2.0, s))
    value = hurwitz_positive(t, full(t, 1.0))
    value = where(near_pole, rational(where(near_pole, s, 0.0), _RIEMANN) / (s - 1.0), value)
    # ζ(s) = 2 (2π)^(s-1) sin(πs/2) Γ(1-s) ζ(1-s)
    y = where(left, t, 1.0)
    far = where(y > 150.0, y, 151.0)
    power = ops.pow(far / (2.0 * math.pi * math.e), far - 0.5) * ops.exp(stirling(far) - 0.5)
    near = gamma_positive(where(y > 150.0, 1.0, y)) * ops.pow(
        full(y, 2.0 * math.pi), -where(y > 150.0, 1.0, y)
    )
    reflected = 2.0 * sin_pi(0.5 * s) * where(y > 150.0, power, near) * value
    # the sine is 0 where the power is infinite
    reflected = where(ops.and_(whole(0.5 * s), s < -200.0), 0.0, reflected)
    value = where(left, reflected, value)
    return where(s == 1.0, math.inf, where(s == -math.inf, math.nan, value))


def polygamma_f(n, x):
    s = where(n >= 1.0, n + 1.0, 2.0)
    value = where(odd(s), -1.0, 1.0) * gamma_positive(s) * zeta(s, x)
    value = where(n == 0.0, digamma(x), value)
    return where(ops.and_(whole(n), n >= 0.0), value, math.nan)


def _away_from_1(f):
    """The derivative of a zeta function in s, and NaN at its pole."""
    return lambda y, s, *q: forward_slope(f, s, *q, i=0) * where(s == 1.0, math.nan, 1.0)


gamma_sign = kernel("special.gammasgn", gamma_sign_f, None)
gamma = kernel("special.gamma", gamma_f, lambda y, x: y * digamma(x), narrow=True)
# fmt: off
factorial = kernel("special.factorial", lambda x: gamma_f(x + 1.0), lambda y, x: y * digamma(x + 1.0))
gammaln = kernel("special.gammaln", gammaln_f, lambda y, x: digamma(x), narrow=True)
rgamma = kernel("special.rgamma", rgamma_f, lambda y, x: rgamma_slope(x))
digamma = kernel("special.digamma", digamma_f, lambda y, x: zeta(full(x, 2.0), x), narrow=True)
zeta = kernel("special.zeta", hurwitz_f, _away_from_1(hurwitz_f), lambda y, s, q: -s * zeta(s + 1.0, q))
riemann = kernel("special.riemann", riemann_f, _away_from_1(riemann_f))
polygamma = kernel("special.polygamma", polygamma_f, None, lambda y, n, x: polygamma(n + 1.0, x))
beta = kernel("special.beta", lambda a, b: _beta_everywhere(a, b, False), lambda y, a, b: _beta_slope(y, a, b),
    lambda y, a, b: _beta_slope(y, b, a))
betaln = kernel("special.betaln", lambda a, b: _beta_everywhere(a, b, True), lambda y, a, b: -digamma_change(a, b),
    lambda y, a, b: -digamma_change(b, a))
# fmt: on


def digamma_change(x, d):
    """ψ(x + d) - ψ(x) for any signs."""
    positive = ops.and_(x > 0.0, x + d > 0.0)
    step = digamma_step(where(positive, x, 1.0), where(positive, d, 1.0))
    end, start = together(digamma, (where(positive, 1.0, x + d),), (where(positive, 1.0, x),))
    return where(positive, step, end - start)


# Complex gamma


def _log_gamma_right(z):
    """log Γ(z) for Re z >= 1/2, also near its zeros 1 and 2."""
    one, two = (ops.abs(z - c) < 0.25 for c in (1.0, 2.0))
    near = ops.or_(one, two)
    w = where(near, z - where(two, 2.0, 1.0), 0.0)
    close = w * horner(w, _AT_TWO) - where(one, log1p(w), 0.0)
    return where(near, close, _log_gamma_by_series(where(near, 3.0, z)))


def _log_gamma_by_series(z):
    """Stirling's series after seven steps to the right."""
    w, total = z, ops.log(z)
    for _ in range(7):
        w = w + 1.0
        total = total + ops.log(w)
    w = w + 1.0
    u = 1.0 / w
    series = horner(u * u, _STIRLING_SERIES)
    return (w - 0.5) * ops.log(w) - w + _HALF_LOG_TWO_PI + u * series - total


def complex_log_gamma_f(z):
    """Reflected where Re z < 1/2, with the logarithm of the sine that is analytic in the half plane."""
    lower = ops.imag(z) < 0.0
    z = where(lower, ops.conj(z), z)
    left = ops.real(z) < 0.5
    value = _log_gamma_right(where(left, 1.0 - z, z))
    z_left = where(left, z, 0.5)
    angle = 2j * math.pi * ops.complex(_fraction(ops.real(z_left)), ops.imag(z_left))
    log_sine = (0.5j * math.pi - math.log(2.0)) - 1j * math.pi * z_left
    log_sine = log_sine + ops.log(-ops.expm1(angle))
    value = where(left, math.log(math.pi) - log_sine - value, value)
    return where(lower, ops.conj(value), value)


def _fraction(x):
    return x - ops.round_even(x)


# 1 - γ, then (-1)^k (ζ(k) - 1)/k from k = 2 on
_AT_TWO = (
    0.42278433509846713, 0.3224670334241132, -0.0673523010531981, 0.020580808427784546,
    -0.007385551028673986, 0.0028905103307415234, -0.001192753911703261, 0.0005096695247430425,
    -0.00022315475845357939, 9.945751278180853e-05, -4.492623673813314e-05, 2.050721277567069e-05,
    -9.439488275268397e-06, 4.374866789907488e-06, -2.039215753801366e-06, 9.55141213040742e-07,
    -4.492469198764566e-07, 2.1207184805554665e-07, -1.0043224823968099e-07,
    4.7698101693639804e-08, -2.2711094608943164e-08,
)  # fmt: skip
# B_2k/(2k (2k - 1))
_STIRLING_SERIES = (
    0.08333333333333333, -0.002777777777777778, 0.0007936507936507937, -0.0005952380952380953,
    0.0008417508417508417, -0.0019175269175269176, 0.00641025641025641, -0.029550653594771242,
)  # fmt: skip
complex_log_gamma = kernel("special.complex_log_gamma", complex_log_gamma_f, AUTO, kind="complex")
