"""Logarithms of probabilities, also of those that are too small for a float."""

from __future__ import annotations

from .. import _ops as ops
from .. import numpy as xnp
from .. import special
from ..special._elementary import full, log1p, where
from ..special._gamma_kernels import beta_positive
from ..special._incomplete_kernels import lingering_slope
from ..special._kernel import converge, kernel
from ..special._log_kernels import log1mexp
from ..special._tail_kernels import log_betainc, log_gammainc, log_gammaincc

__all__ = [
    "log_beta_odds", "log_betabinom", "log_betainc", "log_exponential", "log_gammainc", "log_gammaincc",
    "log_lower_gamma",
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
    return xnp.where(
        near, a * log_x - special.gammaln(a + 1), log_gammainc(a, xnp.where(near, a, x))
    )


def log_beta_odds(a, b, r, log_r):
    """log I_x(a, b) for x / (1 - x) = r, of which the logarithm is known where r is too small."""
    near = log_r < 0.5 * _VANISHED
    r = xnp.where(near, 1.0, r)
    first = a * log_r - xnp.log(a) - special.betaln(a, b)
    return xnp.where(near, first, log_betainc(a, b, r / (1 + r), 1 / (1 + r)))


# ------------------------------------------------------------------------------ beta-binomial sums


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
