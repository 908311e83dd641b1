"""Inverses of the incomplete gamma and beta functions, in float64: kernels.

Both take the smaller of two complementary probabilities, so that neither tail loses its digits.
"""

from __future__ import annotations

import math

from .. import _ops as ops
from ._elementary import full, log1p, where
from ._error_kernels import erfcinv
from ._gamma_kernels import beta_positive
from ._incomplete_kernels import (
    beta_density,
    beta_prefix,
    betainc_pair,
    gamma_density,
    gamma_prefix,
    gammainc,
    gammaincc,
    incomplete_beta,
    incomplete_gamma,
)
from ._kernel import AUTO, converge, forward_slope, kernel

# log P and log Q are concave in the variables below, and nearly linear in their tails, so Newton's
# method on the logarithm of the smaller tail converges from a start near the middle.


def _tail_step(is_lower, value, lower, target):
    """(log of tail/target, tail, whether it underflowed) for the tail that is asked for."""
    tail = where(ops.eq(is_lower, lower), value, 1.0 - value)
    lost = tail < 1e-307  # underflow: too far out
    tail = where(lost, 1e-307, tail)
    return ops.log(tail / target), tail, lost


def _normal_quantile(target, lower):
    return where(lower, -1.4142135623730951, 1.4142135623730951) * erfcinv(2.0 * target)


def _gamma_inverse(a, p, q):
    """x with P(a, x) = p, Q(a, x) = q, for a > 0 and p + q = 1, both positive."""
    lower = p <= 0.5
    target = where(lower, p, q)
    middle = ops.max(a, full(a, 0.5))

    def step(_, x, good):
        is_lower, value = incomplete_gamma(a, x)
        miss, tail, lost = _tail_step(is_lower, value, lower, target)
        rate = gamma_prefix(a, x) * a / tail  # of the tail's logarithm against log x
        change = where(lower, -1.0, 1.0) * miss / ops.max(rate, full(rate, 1e-300))
        linear = ops.and_(ops.not_(lower), x > 1.0)
        factor = where(
            linear, ops.max(1.0 + change, full(x, 0.1)), ops.exp(ops.min(change, full(x, 3.0)))
        )
        # a step too far out is halved until the tail is a number again
        new = where(lost, ops.sqrt(x * good), ops.max(x * factor, full(x, 1e-307)))
        return (new, where(lost, good, x)), ops.abs(new - x) > 3e-16 * x

    # Wilson and Hilferty's normal approximation of the cube root
    z = 1.0 - 1.0 / (9.0 * middle) + _normal_quantile(target, lower) / (3.0 * ops.sqrt(middle))
    z = ops.max(where(a < 1.0, 1.0, z), full(a, 0.05))
    start = middle * z * z * z
    x, _ = converge(step, (start, middle), 200, target > 0.0)
    return where(x <= 1e-307, 0.0, x)


def _gamma_inverse_at(a, p, q):
    inside = ops.and_(ops.and_(a > 0.0, a < math.inf), ops.and_(p > 0.0, q > 0.0))
    x = _gamma_inverse(where(inside, a, 1.0), where(inside, p, 0.5), where(inside, q, 0.5))
    valid = ops.and_(ops.and_(p >= 0.0, q >= 0.0), a > 0.0)
    return where(inside, x, where(valid, where(p > 0.0, math.inf, 0.0), math.nan))


def _implicit(lower, density, sign: float):
    """∂x/∂a of x with lower(a, x) = p: -(∂lower/∂a)/density."""

    def slope(x, a, p):
        inside = ops.and_(x > 0.0, x < math.inf)  # at the ends x does not depend on a
        z = where(inside, x, 1.0)
        change = forward_slope(lambda a: lower(a, z), a)
        return where(inside, -sign * change / density(a, z), 0.0)  # pyright: ignore[reportOperatorIssue]

    return slope


# fmt: off
gammaincinv = kernel("special.gammaincinv", lambda a, p: _gamma_inverse_at(a, p, 1.0 - p),
    _implicit(lambda a, x: gammainc(a, x), gamma_density, 1.0), lambda x, a, p: 1.0 / gamma_density(a, x))
gammainccinv = kernel("special.gammainccinv", lambda a, q: _gamma_inverse_at(a, 1.0 - q, q),
    _implicit(lambda a, x: gammaincc(a, x), gamma_density, -1.0), lambda x, a, p: -1.0 / gamma_density(a, x))
# fmt: on


def _beta_inverse(a, b, p, q):
    """log(x/y) with I_x(a, b) = p, I_y(b, a) = q, for x + y = 1 = p + q, all positive."""
    lower = p <= 0.5
    target = where(lower, p, q)
    middle = ops.log(a / b)

    def step(_, t, good):
        x, y = ops.logistic(t), ops.logistic(-t)
        is_lower, value = incomplete_beta(a, b, x, y)
        miss, tail, lost = _tail_step(is_lower, value, lower, target)
        rate = beta_prefix(a, b, x, y) / tail
        change = where(lower, -1.0, 1.0) * miss / ops.max(rate, full(rate, 1e-300))
        new = ops.max(ops.min(t + change, full(t, 700.0)), full(t, -700.0))
        new = where(lost, 0.5 * (t + good), new)
        return (new, where(lost, good, t)), ops.abs(new - t) > 3e-16 * ops.max(
            ops.abs(t), full(t, 1.0)
        )

    width = ops.sqrt(1.0 / ops.max(a, full(a, 1.0)) + 1.0 / ops.max(b, full(b, 1.0)))
    bell = ops.and_(a >= 1.0, b >= 1.0)
    start = middle + where(bell, _normal_quantile(target, lower) * width, 0.0)
    t = converge(step, (start, middle), 200, target > 0.0)[0]
    # where x or y leaves the range of floats, one term of the series is left: x^a = p a B(a, b)
    size = beta_positive(a, b, log=True)
    first = (ops.log(p) + ops.log(a) + size) / a
    last = -(log1p(-p) + ops.log(b) + size) / b
    return where(t < -690.0, first, where(t > 690.0, last, t))


def _beta_logit(a, b, p):
    q = 1.0 - p
    inside = ops.and_(ops.and_(a > 0.0, b > 0.0), ops.and_(p > 0.0, q > 0.0))
    inside = ops.and_(inside, ops.and_(a < math.inf, b < math.inf))
    t = _beta_inverse(*[where(inside, v, c) for v, c in ((a, 1.0), (b, 1.0), (p, 0.5), (q, 0.5))])
    valid = ops.and_(ops.and_(a > 0.0, b > 0.0), ops.and_(p >= 0.0, q >= 0.0))
    return where(inside, t, where(valid, where(p > 0.0, math.inf, -math.inf), math.nan))


def _logit_slope(i: int):
    def slope(t, a, b, p):
        x, y = ops.logistic(t), ops.logistic(-t)
        rate = beta_prefix(a, b, x, y)
        if i == 2:
            return 1.0 / rate
        return -forward_slope(lambda *ab: betainc_pair(*ab, x, y), a, b, i=i) / rate  # pyright: ignore[reportOperatorIssue, reportOptionalOperand]

    return slope


# log(x/(1-x)) for I_x(a, b) = p: good for x near 0 and near 1
beta_logit = kernel("special.beta_logit", _beta_logit, *map(_logit_slope, range(3)))


def _through_logit(i: int):
    """Slopes of x = 1/(1 + exp(-t)): x (1 - x) times those of t."""

    def slope(_, a, b, p):
        t = beta_logit(a, b, p)
        x, y = ops.logistic(t), ops.logistic(-t)
        inside = ops.and_(x > 0.0, y > 0.0)
        slope = x * y * _logit_slope(i)(where(inside, t, 0.0), a, b, p)
        return where(inside, slope, 1.0 / beta_density(a, b, x, y) if i == 2 else 0.0)

    return slope


# fmt: off
betaincinv = kernel("special.betaincinv", lambda a, b, p: ops.logistic(beta_logit(a, b, p)),
    *map(_through_logit, range(3)))
betainccinv = kernel("special.betainccinv", lambda a, b, q: ops.logistic(-beta_logit(b, a, q)), AUTO, AUTO, AUTO)
# fmt: on
