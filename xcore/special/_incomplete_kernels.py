"""Incomplete gamma and beta functions, in float64.

Each is computed on the side where it is small, so both tails keep their relative accuracy. Prefactors
such as x^a e^-x/Γ(a+1) are written with deviances (Loader's saddle-point form), which do not cancel.
"""

from __future__ import annotations

import math

from .. import _ops as ops
from ._elementary import full, horner, log1p, log1p_excess, log1p_minus, together, where
from ._error_kernels import erfcx
from ._gamma_kernels import (
    beta_positive,
    deviance,
    digamma,
    digamma_positive,
    digamma_step,
    digamma_tail,
    gamma_positive,
    log_gamma_1p,
    log_gamma_ratio,
    log_quotient,
    stirling,
)  # fmt: skip
from ._kernel import backward, converge, forward_slope, kernel, repeat

_ROOT_TWO_PI = 2.5066282746310002
_LINGER = 1.4  # loops that are differentiated

# fmt: off
# Temme's uniform expansion: C_k(η) = Σ c_kn η^n (DLMF 8.12.9 to 8.12.12), enough of it for a >= 20
# and |x - a| <= 0.4 a.
_TEMME = (
    (-0.3333333333333333, 0.08333333333333333, -0.014814814814814815, 0.0011574074074074073,
     0.0003527336860670194, -0.0001787551440329218, 3.919263178522438e-05,
     -2.185448510679992e-06, -1.85406221071516e-06, 8.296711340953087e-07,
     -1.7665952736826078e-07, 6.707853543401498e-09, 1.0261809784240309e-08,
     -4.382036018453353e-09, 9.14769958223679e-10, -2.5514193994946248e-11,
     -5.830772132550426e-11, 2.4361948020667415e-11, -5.0276692801141755e-12),
    (-0.001851851851851852, -0.003472222222222222, 0.0026455026455026454,
     -0.0009902263374485596, 0.00020576131687242798, -4.018775720164609e-07,
     -1.8098550334489977e-05, 7.64916091608111e-06, -1.6120900894563446e-06,
     4.647127802807434e-09, 1.378633446915721e-07, -5.752545603517705e-08,
     1.1951628599778148e-08, -1.7543241719747647e-11, -1.0091543710600413e-09,
     4.162792991842583e-10, -8.56390702649298e-11),
    (0.004133597883597883, -0.0026813271604938273, 0.0007716049382716049,
     2.0093878600823047e-06, -0.0001073665322636516, 5.2923448829120125e-05,
     -1.2760635188618728e-05, 3.423578734096138e-08, 1.3721957309062934e-06,
     -6.298992138380055e-07, 1.4280614206064242e-07, -2.0477098421990866e-10,
     -1.409252991086752e-08, 6.228974084922022e-09, -1.3670488396617114e-09),
    (0.0006494341563786008, 0.00022947209362139917, -0.0004691894943952557,
     0.00026772063206283885, -7.561801671883977e-05, -2.396505113867297e-07,
     1.1082654115347302e-05, -5.6749528269915965e-06, 1.4230900732435883e-06,
     -2.7861080291528143e-11, -1.6958404091930278e-07, 8.099464905388083e-08,
     -1.9111168485973655e-08, 2.3928620439808118e-12, 2.0620131815488797e-09),
    (-0.0008618882909167117, 0.0007840392217200666, -0.0002990724803031902,
     -1.4638452578843418e-06, 6.641498215465122e-05, -3.968365047179435e-05,
     1.1375726970678419e-05, 2.507497226237533e-10, -1.6954149536558305e-06,
     8.907507532205309e-07, -2.292934834000805e-07, 2.956794137544049e-11,
     2.8865829742708783e-08, -1.4189739437803219e-08),
    (-0.00033679855336635813, -6.972813758365857e-05, 0.0002772753244959392,
     -0.00019932570516188847, 6.797780477937208e-05, 1.419062920643967e-07,
     -1.3594048189768693e-05, 8.018470256334202e-06, -2.291481176508095e-06,
     -3.252473551298454e-10, 3.4652846491085265e-07, -1.8447187191171344e-07),
    (0.0005313079364639922, -0.0005921664373536939, 0.0002708782096718045,
     7.902353232660328e-07, -8.153969367561969e-05, 5.61168275310625e-05,
     -1.8329116582843375e-05, -3.0796134506033047e-09, 3.465155368803609e-06,
     -2.0291327396058603e-06, 5.788792863149004e-07),
    (0.00034436760689237765, 5.171790908260592e-05, -0.00033493161081142234,
     0.0002812695154763237, -0.00010976582244684731, -1.2741009095484485e-07,
     2.7744451511563645e-05, -1.8263488805711332e-05, 5.7876949497350525e-06),
    (-0.0006526239185953094, 0.0008394987206720873, -0.000438297098541721,
     -6.969091458420552e-07, 0.00016644846642067547, -0.00012783517679769218,
     4.629953263691304e-05),
    (-0.0005967612901927463, -7.204895416020011e-05, 0.0006782308837667328,
     -0.0006401475260262758, 0.00027750107634328704),
    (0.0013324454494800656, -0.0019144384985654776, 0.0011089369134596636),
    (0.001579727660730835,),
)
# fmt: on


# Gamma


def _gamma_prefix(a, x):
    small = ops.and_(a < 100.0, x < 700.0)
    b, y = where(small, a, 1.0), where(small, x, 1.0)
    one = full(b, 1.0)
    below = b < 1.0
    factorial = where(below, 1.0, b) * gamma_positive(where(below, 1.0 + b, b))
    direct = ops.pow(y, b) * ops.exp(-y) / factorial
    b = where(small, 100.0, ops.max(a, one))
    large = ops.exp(-deviance(b, x) - stirling(b)) / (_ROOT_TWO_PI * ops.sqrt(b))
    return where(small, direct, where(a < 1.0, 0.0, large))


def _gamma_prefix_slope(y, a, x):
    large = a >= 2.0
    b = where(large, a, 2.0)
    steep = log_quotient(x, b) + digamma_tail(b) - 1.0 / b
    return y * where(large, steep, ops.log(x) - digamma(a + 1.0))


# x^a e^-x / Γ(a + 1) for a, x > 0
gamma_prefix = kernel(
    "special.gamma_prefix", _gamma_prefix, _gamma_prefix_slope, lambda y, a, x: y * (a - x) / x
)


def _temme(a, x):
    """The smaller of P and Q where a >= 20 and |x - a| <= 0.4 a, as (a power of e, what it multiplies)."""
    mu = (x - a) / a
    shape = log1p_excess(mu)
    eta = mu * ops.sqrt(2.0 * shape)
    lower = eta < 0.0
    size = where(lower, -eta, eta)
    total = full(a, 0.0)
    for row in reversed(_TEMME):
        total = total / a + horner(eta, row)
    total = total / ops.sqrt(2.0 * math.pi * a)
    factor = 0.5 * erfcx(size * ops.sqrt(0.5 * a)) + where(lower, -total, total)
    return -a * mu * mu * shape, factor


def _gamma_series(a, x, active, linger):
    """Σ x^n / ((a + 1) … (a + n))."""

    def step(k, term, total):
        term = term * x / (a + 1.0 + k)
        total = total + term
        return (term, total), term > 1e-17 * total

    one = full(a, 1.0)
    return converge(step, (one, one), 5000, active, linger)[1]


def _gamma_fraction(a, x, active, linger):
    """Γ(a, x) / (x^a e^-x) by its continued fraction (DLMF 8.9.2), x > a.

    The number of terms is a fit to what float64 needs for x >= 1.1.
    """

    def step(n, value):
        return ((x - a + (2.0 * n - 1.0)) + n * (a - n) / value,)

    counts = linger * (7.0 + (108.0 + 12.0 * a) / x)
    start = x - a + (2.0 * ops.ceil(counts) + 1.0)
    return 1.0 / backward(step, (start,), where(active, counts, 0.0))[0]


def _upper_series(a, x):
    """Q for x <= 1.1 and small a, where P is close to 1 (DLMF 8.7.3 with Q's leading 1 taken out)."""
    power = a * ops.log(x) - log_gamma_1p(a)

    def step(k, term, total):
        n = k + 1.0
        term = -term * x / n
        return term, total + term / (a + n)

    total = repeat(step, (full(a, 1.0), full(a, 0.0)), 20)[1]
    return -ops.expm1(power) - ops.exp(power) * a * total


def incomplete_gamma(a, x, linger: float = 1.0):
    """For a, x > 0: (which is computed, its value), True for P and False for Q."""
    return gamma_factors(a, x, linger)[:2]


def gamma_factors(a, x, linger: float = 1.0):
    """As ``incomplete_gamma``, and of the value's factors: (where Temme's, his exponent, the other factor)."""
    middle = ops.and_(a >= 20.0, ops.abs(x - a) <= 0.4 * a)
    upper_small = ops.and_(x <= 1.1, where_small_q(a, x))
    fraction = ops.and_(ops.and_(x > 1.1, x > a), ops.not_(middle))
    series = ops.not_(ops.or_(middle, ops.or_(upper_small, fraction)))
    sa, sx = where(series, a, 1.0), where(series, x, 1.0)
    factor = _gamma_series(sa, sx, series, linger)
    fa, fx = where(fraction, a, 1.0), where(fraction, x, 2.0)
    factor = where(fraction, fa * _gamma_fraction(fa, fx, fraction, linger), factor)
    value = gamma_prefix(a, x) * factor
    value = where(
        upper_small, _upper_series(where(upper_small, a, 0.5), where(upper_small, x, 0.5)), value
    )
    power, uniform = _temme(where(middle, a, 20.0), where(middle, x, 20.0))
    value = where(middle, ops.exp(power) * uniform, value)
    is_lower = ops.or_(series, ops.and_(middle, x < a))
    return is_lower, value, (middle, power, where(middle, uniform, factor))


def where_small_q(a, x):
    """Whether Q is small or middling for x <= 1.1."""
    near_zero = ops.lt(-0.4 / ops.log(ops.min(x, full(x, 0.5))), a)
    return ops.not_(ops.select(x <= 0.5, near_zero, ops.lt(x * 1.1, a)))


def gamma_edges(a, x, want_lower: bool):
    """(where a and x are positive and finite, what P or Q is elsewhere)."""
    inside = ops.and_(ops.and_(a > 0.0, x > 0.0), ops.and_(a < math.inf, x < math.inf))
    at_one = ops.or_((a == 0.0), (x == math.inf))  # P = 1
    edge = where(at_one, 1.0 if want_lower else 0.0, 0.0 if want_lower else 1.0)
    undefined = ops.or_(ops.and_((a == 0.0), (x == 0.0)),
                        ops.and_((a == math.inf), (x == math.inf)))  # fmt: skip
    valid = ops.and_(ops.and_(a >= 0.0, x >= 0.0), ops.not_(undefined))
    return inside, where(valid, edge, math.nan)


def _gamma_sides(a, x, want_lower: bool, linger: float):
    inside, edge = gamma_edges(a, x, want_lower)
    is_lower, value = incomplete_gamma(where(inside, a, 1.0), where(inside, x, 1.0), linger)
    value = (
        where(is_lower, value, 1.0 - value) if want_lower else where(is_lower, 1.0 - value, value)
    )
    return where(inside, value, edge)


def gamma_density(a, x):
    """x^(a-1) e^-x / Γ(a), the slope of P."""
    positive = ops.and_(x > 0.0, x < math.inf)
    z = where(positive, x, 1.0)
    value = gamma_prefix(a, z) * a / z
    at_zero = _power_at_zero(a, where(x == 0.0, x, 0.0), 1.0, -1.0, 1.0)
    return where(positive, value, where(x == 0.0, at_zero, 0.0))


def _power_at_zero(a, x, first, bend, second):
    """c(a) x^(a-1) (1 + bend x) at x = 0, with its slope: ``first`` and ``second`` are c(1) and c(2)."""
    steep = ops.and_(a > 1.0, a < 2.0)  # where the slope is that of a square root
    rise = where(steep, ops.sqrt(where(steep, x, 1.0)), where(a == 2.0, second * x, 0.0))
    return where(a > 1.0, rise, where(a < 1.0, math.inf, first * (1.0 + bend * x)))


def _lower(a, x, linger=1.0):
    return _gamma_sides(a, x, True, linger)


def _upper(a, x, linger=1.0):
    return _gamma_sides(a, x, False, linger)


def lingering_slope(f, i):
    """∂f/∂x_i by forward mode through a loop that goes on a little longer."""
    return lambda y, *args: forward_slope(lambda *xs: f(*xs, linger=_LINGER), *args, i=i)


# fmt: off
gammainc = kernel("special.gammainc", _lower, lingering_slope(_lower, 0), lambda y, a, x: gamma_density(a, x))
gammaincc = kernel("special.gammaincc", _upper, lingering_slope(_upper, 0), lambda y, a, x: -gamma_density(a, x))
# fmt: on


# Beta


def _beta_prefix(a, b, x, y):
    power = _power(x, y, a) * _power(y, x, b)
    p, q = ops.max(a, full(a, 1.0)), ops.max(b, full(b, 1.0))
    n = p + q
    excess = q * x - p * y  # n x - p
    far = split_deviance(p, n * x, excess) + split_deviance(q, n * y, -excess)
    at_p, at_q, at_n = together(stirling, (p,), (q,), (n,))
    far = ops.exp(at_n - at_p - at_q - far) * ops.sqrt(p / n * q) / _ROOT_TWO_PI
    direct = ops.or_(power > 1e-290, ops.or_(a < 1.0, b < 1.0))
    return where(direct, power / beta_positive(where(direct, a, 1.0), where(direct, b, 1.0)), far)


def split_deviance(x, m, excess):
    """x log(x/m) + m - x where m - x is known as well."""
    t = excess / x
    near = ops.and_(t > -0.5, t < 1.0)
    return where(near, -x * log1p_minus(where(near, t, 0.0)), x * ops.log(x / m) + excess)


def _power(x, y, a):
    """x^a where y = 1 - x is known too."""
    near_one = y < 0.25
    return where(near_one, ops.exp(a * log1p(-where(near_one, y, 0.0))), ops.pow(x, a))


# x^a y^b / B(a, b) for y = 1 - x, a, b > 0 and 0 < x < 1. Both x and y are arguments so that neither
# loses its relative accuracy; x may also change alone (that is, along with y = 1 - x).
beta_prefix = kernel("special.beta_prefix", _beta_prefix,
    lambda v, a, b, x, y: v * (log_of(x, y) + digamma_step(a, b)),
    lambda v, a, b, x, y: v * (log_of(y, x) + digamma_step(b, a)), lambda v, a, b, x, y: v * (a / x),
    lambda v, a, b, x, y: v * (b / y))  # fmt: skip


def log_of(x, y):
    """log x where y = 1 - x is known too."""
    near_one = y < 0.25
    return where(near_one, log1p(-where(near_one, y, 0.0)), ops.log(x))


def _beta_fraction(a, b, x, y, active, linger):
    """I_x(a, b) / (x^a y^b / B(a, b)) by DiDonato and Morris's continued fraction, for x not above the mode."""

    def term(k):
        numerator = (a + (k - 1.0)) * (a + b + (k - 1.0)) * k * (b - k) * x * x
        half = a + (2.0 * k - 1.0)
        return numerator / (half * half)

    def partial(k):
        excess = a * y - b * x + 1.0
        return (
            k
            + k * (b - k) * x / (a + (2.0 * k - 1.0))
            + (a + k) * (excess + k * (1.0 + y)) / (a + (2.0 * k + 1.0))
        )

    def step(k, c, d, value):
        n = k + 1.0
        numerator, denominator = term(n), partial(n)
        d = 1.0 / (denominator + numerator * d)
        c = denominator + numerator / c
        return (c, d, value * c * d), ops.abs(c * d - 1.0) > 2e-16

    first = a * (a * y - b * x + 1.0) / (a + 1.0)
    state = (first, full(a, 0.0), first)
    return 1.0 / converge(step, state, 20000, active, linger)[2]


def _beta_series(a, b, x, active, linger):
    """(I_x(a, b) > 1/2, 1 - I_x(a, b) there and I_x(a, b) elsewhere) for a < 1 and (b + 1) x < about 2.

    I_x(a, b) = x^a Γ(a+b) / (Γ(a+1) Γ(b)) (1 + a Σ (1-b)_n x^n / (n! (a + n))); for its complement the
    leading 1 is taken out.
    """
    power = a * ops.log(x) + log_rising(b, a) - log_gamma_1p(a)

    def step(k, term, total):
        n = k + 1.0
        term = term * x * ((n - b) / n)
        more = term / (a + n)
        return (term, total + more), ops.abs(more) > 1e-17 * ops.abs(total)

    total = converge(step, (full(a, 1.0), full(a, 0.0)), 200, active, linger)[1]
    value = ops.exp(power) * (1.0 + a * total)
    large = value > 0.5
    return large, where(large, -ops.expm1(power) - ops.exp(power) * a * total, value)


_NODE = 0.5 / math.sqrt(3.0)


def log_rising(b, a):
    """log Γ(a + b) - log Γ(b) for 0 <= a <= 1."""
    small, slow = b < 1.0, a < 2e-4
    c, d = where(small, b, 0.5), where(slow, a, 0.0)
    near = log_gamma_1p(a + c) - log_gamma_1p(c)
    value = where(small, near, -log_gamma_ratio(where(small, 1.0, b), a))
    # for small a the integral of ψ, by two points of Gauss's, where the difference would cancel
    start = where(small, 1.0 + c, b)
    first, second = together(
        digamma_positive, (start + (0.5 - _NODE) * d,), (start + (0.5 + _NODE) * d,)
    )
    value = where(slow, 0.5 * d * (first + second), value)
    return where(small, value - log1p(a / c), value)


def incomplete_beta(a, b, x, y, linger: float = 1.0):
    """For a, b > 0 and 0 < x = 1 - y < 1: (which is computed, its value), True for I_x(a, b), False for I_y(b, a)."""
    return beta_factors(a, b, x, y, linger)[:2]


def beta_factors(a, b, x, y, linger: float = 1.0):
    """As ``incomplete_beta``, and what has been multiplied by the prefactor, or where that is not so, 1."""
    a, b, x, y = _within_range(a, b, x, y)
    right = x * (b + 1.0) > y * (a + 1.0)  # x above (a + 1)/(a + b + 2), which may round to 1
    prefix = beta_prefix(a, b, x, y)  # that of both sides
    a, b = where(right, b, a), where(right, a, b)
    x, y = where(right, y, x), where(right, x, y)
    # where the fraction would give a value near 1, its complement comes from a series
    reach = x * ops.max(b, full(b, 1.0))
    likely = a < -0.4 / ops.log(ops.min(reach, full(x, 0.6)))
    series = ops.and_(ops.and_(likely, a < 1.0), ops.and_(x * (b + 1.0) < 1.5, x <= 0.5))
    fraction = ops.not_(series)
    fa, fb = where(fraction, a, 1.0), where(fraction, b, 1.0)
    fx, fy = where(fraction, x, 0.5), where(fraction, y, 0.5)
    factor = _beta_fraction(fa, fb, fx, fy, fraction, linger)
    sa, sb, sx = where(series, a, 0.5), where(series, b, 1.0), where(series, x, 0.5)
    complement, summed = _beta_series(sa, sb, sx, series, linger)
    value = where(series, summed, prefix * factor)
    return ops.ne(right, ops.not_(ops.and_(series, complement))), value, factor


def _within_range(a, b, x, y):
    """Shapes beyond 1e50 scaled down together, so that products of them do not overflow: the distribution
    is a step at a/(a + b) all the same. One alone, b, becomes 1e100 at most, and x larger: b x tells."""
    both = ops.min(a, b) > 1e50
    scale = where(both, 1e100 / ops.max(ops.max(a, b), full(a, 1e100)), 1.0)
    a, x, y = _limited(a * scale, x, y)
    b, y, x = _limited(b * scale, y, x)
    return a, b, x, y


def _limited(a, x, y):
    """(a, x, y) with a <= 1e100 and the same a y, where that tells anything of shapes below 1e50."""
    beyond = a > 1e100
    far = ops.min(y * (where(beyond, a, 1e100) * 1e-100), full(y, 1e-30))
    return ops.min(a, full(a, 1e100)), where(beyond, 1.0, x), where(beyond, far, y)


def beta_edges(a, b, x, y, want_lower: bool):
    """(where all is positive and finite, what I_x(a, b) or 1 - I_x(a, b) is elsewhere)."""
    inside = ops.and_(ops.and_(a > 0.0, b > 0.0), ops.and_(x > 0.0, y > 0.0))
    inside = ops.and_(inside, ops.and_(a < math.inf, b < math.inf))
    to_left = ops.or_(ops.and_((a == 0.0), b > 0.0), ops.and_((b == math.inf), a < math.inf))
    to_right = ops.or_(ops.and_((b == 0.0), a > 0.0), ops.and_((a == math.inf), b < math.inf))
    full_mass = ops.or_(ops.and_(to_left, x > 0.0), (y <= 0.0))
    one, zero = (1.0, 0.0) if want_lower else (0.0, 1.0)
    edge = where(ops.and_(full_mass, ops.not_(ops.and_(to_right, y > 0.0))), one, zero)
    both = ops.or_(ops.and_((a == 0.0), (b == 0.0)), ops.and_((a == math.inf), ops.eq(b, a)))
    valid = ops.and_(ops.and_(a >= 0.0, b >= 0.0), ops.and_(x >= 0.0, y >= 0.0))
    return inside, where(ops.and_(valid, ops.not_(both)), edge, math.nan)


def _beta_sides(a, b, x, y, want_lower: bool, linger: float):
    inside, edge = beta_edges(a, b, x, y, want_lower)
    safe = [where(inside, v, c) for v, c in ((a, 1.0), (b, 1.0), (x, 0.5), (y, 0.5))]
    is_lower, value = incomplete_beta(*safe, linger)
    value = (
        where(is_lower, value, 1.0 - value) if want_lower else where(is_lower, 1.0 - value, value)
    )
    return where(inside, value, edge)


def _betainc(a, b, x, linger=1.0):
    return _beta_sides(a, b, x, 1.0 - x, True, linger)


def _betaincc(a, b, x, linger=1.0):
    return _beta_sides(a, b, x, 1.0 - x, False, linger)


def _betainc_pair(a, b, x, y, linger=1.0):
    return _beta_sides(a, b, x, y, True, linger)


def beta_density(a, b, x, y):
    """x^(a-1) y^(b-1) / B(a, b)."""
    inside = ops.and_(x > 0.0, y > 0.0)
    u, v = where(inside, x, 0.5), where(inside, y, 0.5)
    value = beta_prefix(a, b, u, v) / (u * v)
    exponent = where(x > 0.0, b, a)
    other = where(x > 0.0, a, b)
    near = where(inside, 0.0, where(x > 0.0, y, x))
    edge = _power_at_zero(exponent, near, other, 1.0 - other, other * (other + 1.0))
    return where(inside, value, edge)


# fmt: off
betainc = kernel("special.betainc", _betainc, lingering_slope(_betainc, 0), lingering_slope(_betainc, 1),
    lambda v, a, b, x: beta_density(a, b, x, 1.0 - x))
betaincc = kernel("special.betaincc", _betaincc, lingering_slope(_betaincc, 0), lingering_slope(_betaincc, 1),
    lambda v, a, b, x: -beta_density(a, b, x, 1.0 - x))
# I_x(a, b) of x and y = 1 - x, for callers who know both; the whole derivative is in x
betainc_pair = kernel("special.betainc_pair", _betainc_pair, lingering_slope(_betainc_pair, 0),
    lingering_slope(_betainc_pair, 1), lambda v, a, b, x, y: beta_density(a, b, x, y), None)
# fmt: on
