"""Mean and variance of the families, at loc = 0 and scale = 1; infinite or NaN where there are none."""

from __future__ import annotations

import functools
import math

import numpy as np

from .. import numpy as xnp
from .. import special

_EULER = float(np.euler_gamma)


def _where_above(least, x, value, otherwise):
    """value(x) for x above a number, and something else from there down, without a division by zero."""
    above = x > least
    return xnp.where(above, value(xnp.where(above, x, least + 1.0)), otherwise)


def _t_variance(df):
    some = _where_above(2.0, df, lambda v: 1 / (1 - 2 / v), np.inf)
    return xnp.where(df > 1, some, np.nan)


def _f_variance(m, n):
    # n / (n - 2) and its like, as quotients that do not overflow
    def of(n):
        return 2 * (1 / n + 1 / m - 2 / (m * n)) / (xnp.square(1 - 2 / n) * (1 - 4 / n))

    return _where_above(4.0, n, of, np.inf)


def _gennorm_variance(beta):
    return xnp.exp(special.gammaln(3 / beta) - special.gammaln(1 / beta))


@functools.cache
def _near_one() -> list[float]:
    """Of log Γ(1 + 2h) - 2 log Γ(1 + h) = Σ (-1)ᵏ ζ(k)/k (2ᵏ - 2) hᵏ the factors from h² on, the last first."""
    from scipy.special import zeta

    return [(-1) ** k * float(zeta(k)) / k * (2**k - 2) for k in range(24, 1, -1)]


def _weibull(c):
    """Γ(1 + 2h) - Γ(1 + h)² with h = 1/c, which differ by little where h is small."""
    h = 1 / c
    first = special.gammaln(1 + h)
    far = special.gammaln(1 + 2 * h) - 2 * first
    near = xnp.polyval(xnp.asarray(_near_one(), h.dtype), xnp.minimum(h, 0.1)) * h * h
    return xnp.exp(2 * first) * xnp.expm1(xnp.where(h < 0.1, near, far))


def _beta_variance(a, b):
    return (a / (a + b)) * (b / (a + b)) / (a + b + 1)


def _betabinom_variance(n, a, b):
    return n * (a / (a + b)) * (b / (a + b)) * ((a + b + n) / (a + b + 1))


# fmt: off
MOMENTS = {
    "norm": (lambda: 0.0, lambda: 1.0),
    "lognorm": (lambda s: xnp.exp(s * s / 2), lambda s: xnp.exp(s * s) * xnp.expm1(s * s)),
    "gennorm": (lambda beta: 0 * beta, _gennorm_variance),
    "gamma": (lambda a: a, lambda a: a),
    "loggamma": (special.digamma, lambda c: special.polygamma(1, c)),
    "chi2": (lambda df: df, lambda df: 2 * df),
    "maxwell": (lambda: 2 * math.sqrt(2 / math.pi), lambda: 3 - 8 / math.pi),
    "beta": (lambda a, b: a / (a + b), _beta_variance),
    "t": (lambda df: xnp.where(df > 1, 0.0, np.nan), _t_variance),
    "f": (lambda m, n: _where_above(2.0, n, lambda n: 1 / (1 - 2 / n), np.inf), _f_variance),
    "uniform": (lambda: 0.5, lambda: 1 / 12),
    "expon": (lambda: 1.0, lambda: 1.0),
    "laplace": (lambda: 0.0, lambda: 2.0),
    "logistic": (lambda: 0.0, lambda: math.pi**2 / 3),
    "cauchy": (lambda: np.nan, lambda: np.nan),
    "gumbel_r": (lambda: _EULER, lambda: math.pi**2 / 6),
    "gumbel_l": (lambda: -_EULER, lambda: math.pi**2 / 6),
    "rayleigh": (lambda: math.sqrt(math.pi / 2), lambda: 2 - math.pi / 2),
    "weibull_min": (lambda c: xnp.exp(special.gammaln(1 + 1 / c)), _weibull),
    "pareto": (lambda b: _where_above(1.0, b, lambda b: 1 / (1 - 1 / b), np.inf),
               lambda b: _where_above(2.0, b, lambda b: 1 / xnp.square(b - 1) / (1 - 2 / b), np.inf)),
    "triang": (lambda c: (1 + c) / 3, lambda c: (1 - c + c * c) / 18),
    "invgauss": (lambda mu: mu, lambda mu: mu**3),
    "wald": (lambda: 1.0, lambda: 1.0),
    "bernoulli": (lambda p: p, lambda p: p * (1 - p)),
    "binom": (lambda n, p: n * p, lambda n, p: n * p * (1 - p)),
    "poisson": (lambda mu: mu, lambda mu: mu),
    "geom": (lambda p: 1 / p, lambda p: (1 - p) / p / p),
    "nbinom": (lambda n, p: n * (1 - p) / p, lambda n, p: n * (1 - p) / p / p),
    "randint": (lambda low, high: low + (high - low - 1) / 2,
                lambda low, high: (high - low - 1) * (high - low + 1) / 12),
    "betabinom": (lambda n, a, b: n * (a / (a + b)), _betabinom_variance),
}
# fmt: on
