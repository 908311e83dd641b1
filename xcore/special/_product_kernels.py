"""Quotients of gamma functions of any sign: the rising factorial and the binomial coefficient."""

from __future__ import annotations

import math

from .. import _ops as ops
from ._elementary import cos_pi, odd, sin_pi, where, whole
from ._gamma_kernels import (
    beta_and_log,
    digamma,
    digamma_change,
    gamma,
    gamma_ratio_factors,
    gamma_sign_f,
    gammaln,
    rgamma,
    rgamma_slope,
)  # fmt: skip
from ._kernel import kernel


def _rising_positive(x, d):
    """Γ(x + d)/Γ(x) for x, x + d > 0."""
    y = x + d
    low, below = x < 1.0, y < 1.0
    step = d + where(below, 1.0, 0.0) - where(low, 1.0, 0.0)
    first, second = gamma_ratio_factors(where(low, x + 1.0, x), step)
    return where(low, x, 1.0) / where(below, y, 1.0) / first / second


def _is_pole(x):
    return ops.and_(x <= 0.0, whole(x))


def poch_f(z, m):
    y = z + m
    both = ops.and_(z > 0.0, y > 0.0)
    poles = ops.and_(_is_pole(z), _is_pole(y))
    either = ops.or_(_is_pole(z), _is_pole(y))
    left = ops.or_(poles, ops.and_(ops.and_(z < 0.0, y < 0.0), ops.not_(either)))
    # Γ(y)/Γ(z) = sin(πz)/sin(πy) Γ(1 - z)/Γ(1 - y); at two poles the sines' quotient is (-1)^m
    start = where(left, 1.0 - y, where(both, z, 1.0))
    value = _rising_positive(start, where(ops.or_(left, both), m, 1.0))
    inside = ops.and_(left, ops.not_(poles))
    sines = sin_pi(where(inside, z, 0.5)) / sin_pi(where(inside, y, 0.5))
    signed = where(poles, where(odd(m), -1.0, 1.0), sines)
    return where(both, value, where(left, value * signed, _ratio_of_mixed_signs(z, y)))


_STEPS = 10.0


def _falling_from(z, steps):
    """1/((z - 1) (z - 2) …), of as many factors as steps, at most ten."""
    product = where(steps >= 1.0, z - 1.0, 1.0)
    for k in range(2, int(_STEPS) + 1):
        product = product * where(steps >= float(k), z - float(k), 1.0)
    return 1.0 / product


def _ratio_of_mixed_signs(z, y):
    """Γ(y)/Γ(z) of two signs, at a pole of one of them, or at 0."""
    small = ops.and_(ops.abs(z) < 100.0, ops.abs(y) < 100.0)
    a, b = where(small, z, 1.0), where(small, y, 1.0)
    direct = gamma(b) * rgamma(a)
    logs = ops.exp(gammaln(y) - gammaln(z)) * gamma_sign_f(y) * gamma_sign_f(z)
    value = where(small, direct, where(_is_pole(z), 0.0, logs))
    value = where(_is_pole(y), math.inf, value)
    same = ops.eq(y, z)
    value = where(ops.and_(_is_pole(z), ops.not_(same)), 0.0, where(same, 1.0, value))
    steps = z - y  # whole, and known without rounding where z is small
    near = ops.and_(ops.and_(z > 0.0, z < 1.0), ops.and_(whole(steps), steps <= _STEPS))
    value = where(near, _falling_from(where(near, z, 0.5), steps), value)
    return where(ops.eq(z + y, z + y), value, math.nan)


def _binom_f(n, k):
    """For whole k and n below 0, (-1)^k times that of k - n - 1; for n beyond all digits of k, n^k/Γ(k + 1)."""
    below = ops.and_(n < 0.0, ops.not_(whole(n)))
    turned = ops.and_(below, ops.and_(ops.not_(whole(k)), ops.and_(whole(n - k), n >= k)))
    k = where(turned, n - k, k)  # of which one is whole
    negated = ops.and_(below, ops.and_(whole(k), k > 0.0))
    sign = where(ops.and_(negated, odd(k)), -1.0, 1.0)
    rest = -1.0 - n
    n = where(negated, k + rest, n)
    k = where(ops.and_(negated, rest < k), rest, k)  # the sum may have lost the smaller one
    large = n > 1e17 * (1.0 + k * k)
    power = ops.pow(where(large, n, 1.0), k)
    by_power = where(power == math.inf, math.inf, power * rgamma(k + 1.0))
    return sign * where(large, by_power, _binom_by_beta(n, k))


def _binom_by_beta(n, k):
    """1/((n + 1) B(n - k + 1, k + 1)), and where one of k, n - k is below -1 and n is not,
    B(n + 1, d) sin(πd)/π with d = -k or k - n: no gamma function of a cancelled difference."""
    rest = n - k
    inside = ops.and_(ops.and_(n > -1.0, k > -1.0), rest > -1.0)
    right = ops.and_(n > -1.0, ops.not_(inside))
    above = k > rest  # then d = k - n, whose sine is that of a sum, as the difference is rounded
    d = where(above, -rest, -k)
    sum_of_sines = sin_pi(k) * cos_pi(n) - cos_pi(k) * sin_pi(n)
    sine = where(above, sum_of_sines, -sin_pi(k)) / math.pi
    p, q = where(inside, rest + 1.0, 1.0), where(inside, k + 1.0, 1.0)
    p, q = where(right, n + 1.0, p), where(right, d, q)
    size, far, log_size = beta_and_log(p, q)
    more = where(inside, n, 2.0) + 1.0
    far = ops.and_(
        far, size < 1e-307
    )  # its reciprocal is beyond the largest number, that of all of it is not
    value = where(far, ops.exp(-log_size - ops.log(more)), 1.0 / more / where(right, 1.0, size))
    exact = ops.and_(ops.and_(whole(n), whole(k)), value < 1e15)
    value = where(exact, ops.round_even(value), value)
    outside = poch_f(rest + 1.0, k) * rgamma(k + 1.0)
    outside = where(ops.and_(n < 0.0, whole(n)), math.nan, outside)
    return where(inside, value, where(right, where(sine == 0.0, 0.0, size * sine), outside))


# Slopes. Where one of the gamma functions below has a pole the value is 0 and the slope is not: it is that of
# products with 1/Γ, which is smooth there.


def _poch_slope(value, z, m):
    y = z + m
    whole_steps = ops.and_(_is_pole(z), _is_pole(y))
    one = ops.and_(ops.and_(_is_pole(z), ops.not_(_is_pole(y))), ops.abs(y) < 170.0)
    a, b = where(one, z, 0.5), where(one, y, 1.0)
    at_one = gamma(b) * (digamma(b) * rgamma(a) + rgamma_slope(a))
    p, q = where(whole_steps, 1.0 - z, 1.0), where(whole_steps, 1.0 - y, 1.0)
    usual = ops.not_(ops.or_(one, whole_steps))
    change = digamma_change(where(usual, z, 1.0), where(usual, m, 1.0))
    return where(one, at_one, value * where(whole_steps, digamma(q) - digamma(p), change))


def _binom_slopes(n, k):
    """(where a factor 1/Γ vanishes, the slopes there)."""
    x, y, top = n - k + 1.0, k + 1.0, n + 1.0
    here = ops.and_(ops.or_(_is_pole(x), _is_pole(y)), ops.not_(_is_pole(top)))
    here = ops.and_(here, ops.abs(n) < 169.0)
    x, y, top = where(here, x, 1.0), where(here, y, 1.0), where(here, top, 1.0)
    in_n = rgamma(y) * (digamma(top) * rgamma(x) + rgamma_slope(x))
    in_k = rgamma_slope(y) * rgamma(x) - rgamma(y) * rgamma_slope(x)
    return here, gamma(top) * in_n, gamma(top) * in_k


def _binom_slope_in_n(value, n, k):
    here, slope, _ = _binom_slopes(n, k)
    start, more = where(here, 1.0, n - k + 1.0), where(here, 1.0, k)
    return where(here, slope, value * digamma_change(start, more))


def _binom_slope_in_k(value, n, k):
    here, _, slope = _binom_slopes(n, k)
    start, more = where(here, 1.0, k + 1.0), where(here, 1.0, n - 2.0 * k)
    return where(here, slope, value * digamma_change(start, more))


poch = kernel("special.poch", poch_f, _poch_slope, lambda y, z, m: y * digamma(z + m))
binom = kernel("special.binom", _binom_f, _binom_slope_in_n, _binom_slope_in_k)
