"""Logistic functions, entropies, powers made smooth at zero: logarithms with the exceptions at 0."""

from __future__ import annotations

import math

from .. import _ops as ops
from ._elementary import full, horner, log1p, log1p_excess, where
from ._gamma_kernels import deviance, log_quotient
from ._kernel import AUTO, kernel

# Logistic


def logit_f(p):
    # x/(1 - x) = 1 + (2x - 1)/(1 - x)
    near = ops.and_(p > 0.3, p < 0.65)
    t = (2.0 * p - 1.0) / (1.0 - p)
    return where(near, log1p(where(near, t, 0.0)), ops.log(p / (1.0 - p)))


def log_expit_f(x):
    return ops.min(x, full(x, 0.0)) - log1p(ops.exp(-ops.abs(x)))


def log1mexp_f(x):
    near = x < math.log(2.0)
    close = ops.log(-ops.expm1(-where(near, x, 1.0)))
    return where(near, close, log1p(-ops.exp(-where(near, 1.0, x))))


def _log1mexp_slope(_, x):
    """1/(eˣ - 1); both parts have derivatives at infinity."""
    near = x < 1.0
    close = 1.0 / ops.expm1(where(near, x, 1.0))
    small = ops.exp(-where(near, 1.0, x))
    return where(near, close, small / (1.0 - small))


expit = kernel("special.expit", ops.logistic, lambda y, x: y * ops.logistic(-x), narrow=True)
logit = kernel("special.logit", logit_f, lambda _, p: 1.0 / (p * (1.0 - p)), narrow=True)
log1mexp = kernel("special.log1mexp", log1mexp_f, _log1mexp_slope, narrow=True)
log_expit = kernel("special.log_expit", log_expit_f, lambda _, x: ops.logistic(-x), narrow=True)

# Entropies


def _ratio_log(x, y):
    """log(x/y) for x, y > 0, also where the quotient leaves the range of floats."""
    ratio = x / y
    inside = ops.and_(ratio > 0.0, ratio < math.inf)
    a, b = where(inside, x, 1.0), where(inside, y, 1.0)
    return where(inside, log_quotient(a, b), ops.log(x) - ops.log(y))


def entr_f(x):
    positive = x > 0.0
    z = where(positive, x, 1.0)
    return where(positive, -z * ops.log(z), where(x < 0.0, -math.inf, x * 0.0))


def _pair(inside, at_zero):
    """A function of x, y >= 0 from its values inside and at x = 0; infinite elsewhere."""

    def f(x, y):
        positive = ops.and_(x > 0.0, y > 0.0)
        a, b = where(positive, x, 1.0), where(positive, y, 1.0)
        edge = ops.and_(x == 0.0, y >= 0.0)
        return where(positive, inside(a, b), where(edge, at_zero(y), math.inf))

    return f


rel_entr_f = _pair(lambda x, y: x * _ratio_log(x, y), lambda y: full(y, 0.0))


def _divergence(x, y):
    """x log(x/y) + y - x, also where the quotient leaves the range of floats."""
    ratio = x / y
    inside = ops.and_(ratio > 1e-30, ratio < 1e30)
    close = deviance(where(inside, x, 1.0), where(inside, y, 1.0))
    return where(inside, close, x * (ops.log(x) - ops.log(y)) + (y - x))


kl_div_f = _pair(_divergence, lambda y: y)


def _divergence_slope(_, x, y):
    """1 - x/y, with all digits next to x = y."""
    return where(ops.and_(y == math.inf, x < math.inf), 1.0, _share(y - x, y))


def _share(x, y):
    """x/y, and 0 for 0/0."""
    both = ops.and_(x == 0.0, y == 0.0)
    return where(both, 0.0, x / where(both, 1.0, y))


entr = kernel("special.entr", entr_f, lambda _, x: -1.0 - ops.log(x), narrow=True)
# fmt: off
rel_entr = kernel("special.rel_entr", rel_entr_f, lambda _, x, y: _ratio_log(x, y) + 1.0,
    lambda _, x, y: -_share(x, y), narrow=True)
kl_div = kernel("special.kl_div", kl_div_f, lambda _, x, y: _ratio_log(x, y), _divergence_slope,
    narrow=True)
# fmt: on

# Products with logs


def _with_log(log):
    def f(x, y):
        zero = ops.and_(x == 0.0, ops.eq(y, y))
        return where(zero, 0.0, x * log(where(zero, 1.0, y)))

    return f


# fmt: off
xlogy = kernel("special.xlogy", _with_log(ops.log), lambda _, x, y: ops.log(y), lambda _, x, y: _share(x, y),
    narrow=True)
xlog1py = kernel("special.xlog1py", _with_log(log1p), lambda _, x, y: log1p(y), lambda _, x, y: _share(x, 1.0 + y),
    narrow=True)
# fmt: on

# Powers, smooth at zero

# (k + 1)/(k + 2)!
_RELATIVE = tuple((k + 1.0) / math.factorial(k + 2) for k in range(15))


def exprel_f(x):
    zero = x == 0.0
    z = where(zero, 1.0, x)
    ratio = ops.expm1(z) / z
    return where(zero, 1.0, where(ops.eq(x, full(x, math.inf)), math.inf, ratio))


def _exprel_slope(_, x):
    """((x - 1) e^x + 1)/x², by its series near 0."""
    near = ops.abs(x) < 1.0
    z = where(ops.or_(near, ops.eq(x, full(x, math.inf))), 2.0, x)
    far = ((1.0 - 1.0 / z) * ops.exp(z) + 1.0 / z) / z
    far = where(ops.eq(x, full(x, math.inf)), math.inf, far)
    return where(near, horner(where(near, x, 0.0), _RELATIVE), far)


exprel = kernel("special.exprel", exprel_f, _exprel_slope, narrow=True)


def _boxcox_f(log):
    def f(x, power):
        t = log(x)
        finite = ops.abs(t) < math.inf
        exponent = power * where(finite, t, 0.0)
        value = t * exprel(exponent)
        value = where(ops.abs(value) == math.inf, _boxcox_large(exponent, power), value)
        return where(finite, value, _boxcox_edge(t, power))

    return f


def _boxcox_large(exponent, power):
    """e^(λt)/λ, finite as long as the quotient is."""
    return ops.sign(power) * ops.exp(exponent - ops.log(ops.abs(power)))


def _boxcox_edge(t, power):
    """(e^(λt) - 1)/λ for t = ±∞."""
    zero = power == 0.0
    return where(zero, t, ops.expm1(power * t) / where(zero, 1.0, power))


def _boxcox_slope(log):
    def slope(_, x, power):
        t = log(x)
        value = t * t * _exprel_slope(None, power * t)
        # at x = 0: the limit of (λ t e^(λt) - (e^(λt) - 1))/λ² for t = -∞
        edge = where(power > 0.0, 1.0 / (power * power), -math.inf)
        return where(ops.eq(t, full(t, -math.inf)), edge, value)

    return slope


def _inverse_exponent(y, power):
    """log(1 + λy)/λ = y - λ y² E(λy), smooth at λ = 0."""
    # 0 for 0 ∞; the product is never cut off at λ = 0, for its derivative there
    t = where(ops.and_(power == 0.0, ops.abs(y) == math.inf), 0.0, power * y)
    near = ops.and_(t > -0.5, t < 1.0)
    close = y * (1.0 - t * log1p_excess(where(near, t, 0.0)))
    huge = t == math.inf  # log λ + log y, where the product has overflowed
    logs = ops.log(ops.abs(power)) + ops.log(ops.abs(y))
    far = where(huge, logs, ops.log(1.0 + where(huge, 1.0, t)))
    return where(near, close, far / where(near, 1.0, power))


# fmt: off
boxcox = kernel("special.boxcox", _boxcox_f(ops.log), lambda _, x, p: ops.pow(x, p - 1.0), _boxcox_slope(ops.log),
    narrow=True)
boxcox1p = kernel("special.boxcox1p", _boxcox_f(log1p), lambda _, x, p: ops.exp((p - 1.0) * log1p(x)),
    _boxcox_slope(log1p), narrow=True)
inv_boxcox = kernel("special.inv_boxcox", lambda y, p: ops.exp(_inverse_exponent(y, p)), AUTO, AUTO)
inv_boxcox1p = kernel("special.inv_boxcox1p", lambda y, p: ops.expm1(_inverse_exponent(y, p)), AUTO, AUTO)
# fmt: on
