"""Logarithms of probabilities, also of those that are too small for a float."""

from __future__ import annotations

from .. import _ops as ops
from .. import numpy as xnp
from .. import special
from ..special._elementary import full, log1p, where
from ..special._gamma_kernels import beta_positive
from ..special._incomplete_kernels import betainc_pair, lingering_slope
from ..special._kernel import converge, kernel
from ..special._log_kernels import log1mexp
from ..special._tail_kernels import log_betainc, log_gammainc, log_gammaincc

__all__ = [
    "log_beta_odds", "log_betabinom", "log_betainc", "log_exponential", "log_gammainc", "log_gammaincc",
    "log_lower_gamma", "log_of_gamma_quantile", "log_upper_gamma", "lower_gamma", "upper_gamma",
]  # fmt: skip

_VANISHED = -500.0  # the logarithm of what may be left out beside 1, and whose square is a float


def log_exponential(u, log_u):
    """log(1 - e^-u) for u > 0, of which the logarithm is known where u is too small for a float."""
    near = log_u < -7
    series = log_u - 0.5 * xnp.where(near, u, 0) * (1 - u / 12)
    return xnp.where(near, series, log1mexp(xnp.where(near, 1.0, u)))


def log_lower_gamma(a, x, log_x):
    """log P(a, x), of which the logarithm is known where x is too small for a float."""
    near = log_x < _VANISHED
    return xnp.where(near, _log_first_gamma(a, log_x), log_gammainc(a, xnp.where(near, a, x)))


def _log_first_gamma(a, log_x):
    """log P(a, x) for an x beside which 1 and higher powers do not count."""
    return a * log_x - special.gammaln(a + 1)


def _below_one(p):
    """A logarithm of a probability where it may be 0 by rounding errors, which has no derivative."""
    return xnp.minimum(p, -1e-300)


def lower_gamma(a, x, log_x):
    """P(a, x), of which the logarithm is known where x is too small for a float."""
    near = log_x < _VANISHED
    return xnp.where(
        near, xnp.exp(_log_first_gamma(a, log_x)), special.gammainc(a, xnp.where(near, a, x))
    )


def upper_gamma(a, x, log_x):
    """Q(a, x), of which the logarithm is known where x is too small for a float."""
    near = log_x < _VANISHED
    rest = -xnp.expm1(_log_first_gamma(a, xnp.where(near, log_x, -1.0)))
    return xnp.where(near, rest, special.gammaincc(a, xnp.where(near, a, x)))


def log_upper_gamma(a, x, log_x):
    """log Q(a, x), of which the logarithm is known where x is too small for a float."""
    near = log_x < _VANISHED
    first = _log_first_gamma(a, xnp.where(near, log_x, -1.0))
    return xnp.where(near, log1mexp(-_below_one(first)), log_gammaincc(a, xnp.where(near, a, x)))


def _log_first_beta(c, a, b, log_x):
    """log x^c / (c B(a, b)): of the integral of the beta density near 0, where c = a, or near 1, c = b."""
    return c * log_x - xnp.log(c) - special.betaln(a, b)


def log_beta_odds(a, b, r, log_r):
    """log I_x(a, b) for x / (1 - x) = r, of which the logarithm is known where r is too small or too large."""
    near, far = log_r < 0.5 * _VANISHED, log_r > -_VANISHED
    r = xnp.where(near | far, 1.0, r)
    size = xnp.where(far, -log_r, log_r)
    first = _log_first_beta(xnp.where(far, b, a), a, b, size)
    rest = log1mexp(-_below_one(xnp.where(far, first, -1.0)))
    first = xnp.where(far, rest, first)
    return xnp.where(near | far, first, log_betainc(a, b, r / (1 + r), 1 / (1 + r)))


_FAR = 600.0  # |log r| beyond which r or 1 / r may vanish


def beta_odds(a, b, r, log_r):
    """I_x(a, b) for x / (1 - x) = r, of which the logarithm is known where r is no float."""
    low, high = log_r < -_FAR, log_r > _FAR
    r = xnp.where(low | high, 1.0, r)
    middle = betainc_pair(a, b, r / (1 + r), 1 / (1 + r))
    tail = _log_first_beta(xnp.where(high, b, a), a, b, -xnp.abs(log_r))
    tail = xnp.where(low | high, tail, -1.0)  # elsewhere its exponential may overflow
    return xnp.where(low, xnp.exp(tail), xnp.where(high, -xnp.expm1(tail), middle))


def log_beta_first(a, b, log_p):
    """log x for I_x(a, b) = p where x is tiny: x^a = p a B(a, b)."""
    return (log_p + xnp.log(a) + special.betaln(a, b)) / a


_TINY = 1e-30  # beside which 1 and higher powers do not count


def log_of_gamma_quantile(x, a, log_p):
    """log x for a gamma quantile x of exp(log_p), which may have vanished: x^a = p Γ(a + 1) for tiny x."""
    tiny = x < _TINY
    first = (log_p + special.gammaln(a + 1)) / a
    return xnp.where(tiny, first, xnp.log(xnp.where(tiny, 1.0, x)))


def log_of_quantile(x, a, b, log_p):
    """log x for a beta quantile x of exp(log_p), which may have vanished."""
    tiny = x < _TINY
    return xnp.where(tiny, log_beta_first(a, b, log_p), xnp.log(xnp.where(tiny, 1.0, x)))


# Beta-binomial sums


def _log_betabinom_pmf(k, n, a, b):
    chosen = beta_positive(n - k + 1.0, k + 1.0, log=True) + ops.log(n + 1.0)
    return beta_positive(k + a, n - k + b, log=True) - beta_positive(a, b, log=True) - chosen


def _sum_of_ratios(k, n, a, b, linger: float):
    """Σ p(j) / p(k) over j = k, k - 1, …, 0, from the quotients of neighbours."""

    def step(i, term, total):
        j = k - i
        left = j >= 1.0
        j = where(left, j, 1.0)
        ratio = j * (b + n - j) / ((n - j + 1.0) * (a + j - 1.0))
        term = where(left, term * ratio, 0.0)
        return (term, total + term), term > 1e-17 * total

    return converge(step, (full(k, 1.0), full(k, 1.0)), 1e9, k >= 0.0, linger)[1]


def _log_betabinom(k, n, a, b, linger: float = 1.0):
    """log of the probability of at most k, from the sum on that side of k where it is small."""
    n = ops.max(n, full(n, 1.0))
    k = ops.max(ops.min(k, n - 1.0), full(k, 0.0))
    lower = k * (a + b) <= n * a
    m, c, d = where(lower, k, n - k - 1.0), where(lower, a, b), where(lower, b, a)
    log_p = _log_betabinom_pmf(m, n, c, d) + ops.log(_sum_of_ratios(m, n, c, d, linger))
    return where(lower, log_p, log1p(-ops.exp(where(lower, -1.0, log_p))))


log_betabinom = kernel(
    "stats.log_betabinom", _log_betabinom, None,
    *[lingering_slope(_log_betabinom, i) for i in (1, 2, 3)],
)  # fmt: skip
