"""Logarithms of incomplete gamma and beta functions, in float64, also of values that no float holds.

Each function is a prefactor, such as x^a e^-x/Γ(a+1), times a factor of moderate size from a series
or a continued fraction. Where the product is too small for a float, the logarithms are added instead.
"""

from __future__ import annotations

import math

from .. import _ops as ops
from ._elementary import log1p, together, where
from ._gamma_kernels import beta_positive, deviance, log_gamma_1p, stirling
from ._incomplete_kernels import (
    beta_density,
    beta_edges,
    beta_factors,
    gamma_density,
    gamma_edges,
    gamma_factors,
    lingering_slope,
    log_of,
    split_deviance,
)  # fmt: skip
from ._kernel import kernel

_TINY = 1e-290  # less than this a value has lost digits, or all
_HALF_LOG_TWO_PI = 0.9189385332046728


def _log_side(is_lower, want_lower: bool, value, far):
    """The logarithm of the side that is asked for, given the one that was computed."""
    tiny = value < _TINY
    near = ops.log(where(tiny, 1.0, value))
    rest = log1p(-where(tiny, 0.0, value))
    small = where(tiny, far, near)
    return where(is_lower, small, rest) if want_lower else where(is_lower, rest, small)


def _log_gamma_prefix(a, x):
    """log of x^a e^-x / Γ(a + 1) for a, x > 0."""
    large = a >= 1.0
    b, c = where(large, a, 1.0), where(large, 0.5, a)
    far = -deviance(b, x) - stirling(b) - 0.5 * ops.log(b) - _HALF_LOG_TWO_PI
    return where(large, far, c * ops.log(x) - x - log_gamma_1p(c))


def _log_gamma(a, x, want_lower: bool, linger: float = 1.0):
    inside, edge = gamma_edges(a, x, want_lower)
    a, x = where(inside, a, 1.0), where(inside, x, 1.0)
    is_lower, value, (middle, power, factor) = gamma_factors(a, x, linger)
    far = where(middle, power, _log_gamma_prefix(a, x)) + ops.log(factor)
    return where(inside, _log_side(is_lower, want_lower, value, far), ops.log(edge))


def _gamma_slope(want_lower: bool):
    """± density / the probability, as a difference of logarithms where both are tiny."""

    def slope(v, a, x):
        inside, _ = gamma_edges(a, x, want_lower)
        b, z = where(inside, a, 1.0), where(inside, x, 1.0)
        here = ops.exp(_log_gamma_prefix(b, z) - where(inside, v, 0.0)) * (b / z)
        edge = where(v > -math.inf, gamma_density(a, x), math.inf)
        size = where(inside, here, edge)
        return size if want_lower else -size

    return slope


def _log_p(a, x, linger=1.0):
    return _log_gamma(a, x, True, linger)


def _log_q(a, x, linger=1.0):
    return _log_gamma(a, x, False, linger)


# log P(a, x) and log Q(a, x)
# fmt: off
log_gammainc = kernel("special.log_gammainc", _log_p, lingering_slope(_log_p, 0), _gamma_slope(True))
log_gammaincc = kernel("special.log_gammaincc", _log_q, lingering_slope(_log_q, 0), _gamma_slope(False))
# fmt: on


def _log_beta_prefix(a, b, x, y):
    """log of x^a y^b / B(a, b) for a, b > 0 and 0 < x = 1 - y < 1."""
    direct = ops.or_(a < 1.0, b < 1.0)
    p, q = where(direct, 1.0, a), where(direct, 1.0, b)
    n, excess = p + q, q * x - p * y  # n x - p
    at_p, at_q, at_n = together(stirling, (p,), (q,), (n,))
    far = at_n - at_p - at_q - split_deviance(p, n * x, excess) - split_deviance(q, n * y, -excess)
    far = far + 0.5 * ops.log(p / n * q) - _HALF_LOG_TWO_PI
    c, d = where(direct, a, 0.5), where(direct, b, 0.5)
    near = c * log_of(x, y) + d * log_of(y, x) - beta_positive(c, d, log=True)
    return where(direct, near, far)


def _log_beta(a, b, x, y, linger=1.0):
    inside, edge = beta_edges(a, b, x, y, True)
    safe = [where(inside, v, c) for v, c in ((a, 1.0), (b, 1.0), (x, 0.5), (y, 0.5))]
    is_lower, value, factor = beta_factors(*safe, linger)
    far = _log_beta_prefix(*safe) + ops.log(factor)
    return where(inside, _log_side(is_lower, True, value, far), ops.log(edge))


def _beta_slope(v, a, b, x, y):
    inside, _ = beta_edges(a, b, x, y, True)
    c, d, u, w = [where(inside, s, t) for s, t in ((a, 1.0), (b, 1.0), (x, 0.5), (y, 0.5))]
    here = ops.exp(_log_beta_prefix(c, d, u, w) - where(inside, v, 0.0)) / u / w
    return where(inside, here, where(v > -math.inf, beta_density(a, b, x, y), math.inf))


# log I_x(a, b) of x and y = 1 - x, so that neither loses digits; the whole derivative is in x
log_betainc = kernel(
    "special.log_betainc", _log_beta, lingering_slope(_log_beta, 0), lingering_slope(_log_beta, 1),
    _beta_slope, None,
)  # fmt: skip
