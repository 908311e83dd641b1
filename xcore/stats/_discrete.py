"""The families of whole numbers. Parameters are scipy.stats's, and so are their names and order."""

from __future__ import annotations

import functools
import math

from .. import numpy as xnp
from .. import special
from .._core import typeof
from ..numpy._promote import astype
from ._family import Family, Formulas
from ._tails import (
    log_betabinom,
    log_betainc,
    log_exponential,
    log_gammainc,
    log_gammaincc,
)

_counts = functools.partial(Formulas, whole=True, low=0.0, inside=lambda *shapes: 0.0)


def _is_probability(p):
    return (p >= 0) & (p <= 1)


_BERNOULLI = _counts(
    lambda k, p: special.xlogy(k, p) + special.xlog1py(1 - k, -p),
    cdf=lambda k, p: 1 - p, sf=lambda k, p: p,
    shapes=("p",), high=1.0, valid=_is_probability,
)  # fmt: skip
bernoulli = Family(
    "bernoulli",
    "The Bernoulli distribution: 1 with probability p, else 0.",
    _BERNOULLI,
    "pᵏ (1 - p)^(1 - k)",
)


def _log_choose(n, k):
    """log of the binomial coefficient."""
    return -special.betaln(n - k + 1, k + 1) - xnp.log1p(n)


_BINOM = _counts(
    lambda k, n, p: _log_choose(n, k) + special.xlogy(k, p) + special.xlog1py(n - k, -p),
    cdf=lambda k, n, p: special.betaincc(k + 1, n - k, p),
    sf=lambda k, n, p: special.betainc(k + 1, n - k, p),
    logcdf=lambda k, n, p: log_betainc(n - k, k + 1, 1 - p, p),
    logsf=lambda k, n, p: log_betainc(k + 1, n - k, p, 1 - p),
    shapes=("n", "p"), high=lambda n, p: n,
    valid=lambda n, p: (n >= 0) & (n == xnp.floor(n)) & _is_probability(p),
)  # fmt: skip
binom = Family(
    "binom",
    "The binomial distribution: successes in n trials of probability p.",
    _BINOM,
    "n! / (k! (n - k)!) pᵏ (1 - p)^(n - k)",
)

_MANY = 100.0  # from here on the entropy of Poisson's distribution is its asymptotic series


def _poisson_log(k, mu):
    return special.xlogy(k, mu) - mu - special.gammaln(k + 1)


def _poisson_entropy(mu):
    """The sum of -p log p; for large mu the series of Evans and Boersma (SIAM Review 30, 1988)."""
    few = mu < _MANY
    k = astype(xnp.arange(240.0), typeof(mu).dtype)
    log_p = _poisson_log(k, xnp.where(few, mu, 1)[..., None])
    total = (xnp.exp(log_p) * xnp.minimum(-log_p, 1000)).sum(axis=-1)
    mu = xnp.where(few, _MANY, mu)
    v = 1 / mu
    series = v * (1 / 12 + v * (1 / 24 + v * (19 / 360 + v * (9 / 80 + v * 863 / 2520))))
    return xnp.where(few, total, 0.5 * xnp.log(2 * math.pi * math.e * mu) - series)


_POISSON = _counts(
    _poisson_log,
    cdf=lambda k, mu: special.gammaincc(k + 1, mu), sf=lambda k, mu: special.gammainc(k + 1, mu),
    logcdf=lambda k, mu: log_gammaincc(k + 1, mu), logsf=lambda k, mu: log_gammainc(k + 1, mu),
    entropy=_poisson_entropy, shapes=("mu",), valid=lambda mu: mu >= 0,
)  # fmt: skip
poisson = Family(
    "poisson",
    "The Poisson distribution: counts of which mu are expected.",
    _POISSON,
    "μᵏ e^(-μ) / k!, with μ = mu",
)


def _log_within(u):
    return log_exponential(u, xnp.log(u))


_GEOM = _counts(
    lambda k, p: special.xlog1py(k - 1, -p) + xnp.log(p),
    cdf=lambda k, p: -xnp.expm1(special.xlog1py(k, -p)),
    sf=lambda k, p: xnp.exp(special.xlog1py(k, -p)),
    logcdf=lambda k, p: _log_within(-special.xlog1py(k, -p)),
    logsf=lambda k, p: special.xlog1py(k, -p),
    shapes=("p",), low=1.0, inside=lambda p: 1.0, valid=lambda p: (p > 0) & (p <= 1),
)  # fmt: skip
geom = Family(
    "geom",
    "The geometric distribution: trials up to the first success.",
    _GEOM,
    "(1 - p)^(k - 1) p for k ≥ 1",
)

_NBINOM = _counts(
    lambda k, n, p: special.xlogy(n, p) + special.xlog1py(k, -p)
    - special.betaln(n, k + 1) - xnp.log(n + k),
    cdf=lambda k, n, p: special.betainc(n, k + 1, p),
    sf=lambda k, n, p: special.betaincc(n, k + 1, p),
    logcdf=lambda k, n, p: log_betainc(n, k + 1, p, 1 - p),
    logsf=lambda k, n, p: log_betainc(k + 1, n, 1 - p, p),
    shapes=("n", "p"), valid=lambda n, p: (n > 0) & (p > 0) & (p <= 1),
)  # fmt: skip
nbinom = Family(
    "nbinom",
    "The negative binomial distribution: failures before the n-th success.",
    _NBINOM,
    "Γ(n + k) / (Γ(n) k!) pⁿ (1 - p)ᵏ",
)


def _is_whole_range(low, high):
    return (low == xnp.floor(low)) & (high == xnp.floor(high)) & (low < high)


_RANDINT = Formulas(
    lambda k, low, high: -xnp.log(high - low),
    cdf=lambda k, low, high: (k - low + 1) / (high - low),
    sf=lambda k, low, high: (high - 1 - k) / (high - low),
    shapes=("low", "high"), low=lambda low, high: low, high=lambda low, high: high - 1,
    inside=lambda low, high: low, valid=_is_whole_range, whole=True,
)  # fmt: skip
randint = Family(
    "randint",
    "Whole numbers from low to high - 1, all equally likely.",
    _RANDINT,
    "1 / (h - l), with l and h the low and the high end",
)


def _betabinom_log(k, n, a, b):
    return _log_choose(n, k) + special.betaln(k + a, n - k + b) - special.betaln(a, b)


def _betabinom_logsf(k, n, a, b):
    return log_betabinom(n - 1 - k, n, b, a)


_BETABINOM = _counts(
    _betabinom_log,
    cdf=lambda *at: xnp.exp(log_betabinom(*at)), sf=lambda *at: xnp.exp(_betabinom_logsf(*at)),
    logcdf=log_betabinom, logsf=_betabinom_logsf,
    shapes=("n", "a", "b"), high=lambda n, a, b: n,
    valid=lambda n, a, b: (n >= 0) & (n == xnp.floor(n)) & (a > 0) & (b > 0),
)  # fmt: skip
betabinom = Family(
    "betabinom",
    "The binomial distribution of a beta distributed probability.",
    _BETABINOM,
    "n! / (k! (n - k)!) B(k + a, n - k + b) / B(a, b)",
)
