"""Distributions that NumPy's generators have and ``jax.random`` has not: methods of ``Generator``."""

from __future__ import annotations

from .. import numpy as xnp
from .._core import boundary, dtypes
from ..numpy._promote import astype
from ._counts import sample_poisson
from ._elementary import exp, log
from ._from_bits import bits_for, open_uniform
from ._gamma import sample_gamma
from ._rejection import first_accepted, proposal
from ._source import (
    as_counts,
    draw,
    finite,
    integral,
    kind_of_parameter,
    positive,
    positive_finite,
)


def _sample_power(source, a, *, shape, dtype):
    return exp(log(open_uniform(source.bits(shape, bits_for(dtype)), dtype)) / a)


@boundary
def power(key, a, shape=None, dtype=None):
    """Numbers in (0, 1) with density a x^(a-1)."""
    return draw("power", _sample_power, key, shape, dtype, positive("a", a))


# A non-central chi-square variate is a central one with 2k degrees of freedom more, where k is a
# Poisson count of mean nonc / 2.


def _sample_noncentral(source, df, nonc, *, shape, dtype):
    for_count, for_gamma = source.split(2)
    k = sample_poisson(for_count, 0.5 * nonc, shape=shape, dtype=dtype, regime="any")
    return 2 * sample_gamma(for_gamma, 0.5 * df + astype(k, dtype), shape=shape, dtype=dtype)


@boundary
def noncentral_chisquare(key, df, nonc, shape=None, dtype=None):
    """Sums of squares of df normal numbers whose squared means add up to nonc."""
    parameters = positive("df", df), finite("nonc", nonc)
    return draw("noncentral_chisquare", _sample_noncentral, key, shape, dtype, *parameters)


def _sample_noncentral_f(source, dfnum, dfden, nonc, *, shape, dtype):
    above, below = source.split(2)
    x = _sample_noncentral(above, dfnum, nonc, shape=shape, dtype=dtype) / dfnum
    return x / (2 * sample_gamma(below, 0.5 * dfden, shape=shape, dtype=dtype) / dfden)


@boundary
def noncentral_f(key, dfnum, dfden, nonc, shape=None, dtype=None):
    """Quotients of a non-central and a central chi-square mean."""
    of_means = positive_finite("dfnum", dfnum), positive_finite("dfden", dfden)
    parameters = *of_means, finite("nonc", nonc)
    return draw("noncentral_f", _sample_noncentral_f, key, shape, dtype, *parameters)


_below_1 = kind_of_parameter("in [0, 1)", lambda x: (x < 0) | (x >= 1))
_above_1 = kind_of_parameter("greater than 1", lambda x: x <= 1)


def _sample_logseries(source, p, *, shape, dtype, regime):
    # Kemp, Efficient generation of logarithmically distributed pseudo-random variables (1981)
    u, v = (open_uniform(s.bits(shape, 64), dtypes.float64) for s in source.split(2))
    q = -xnp.expm1(u * xnp.log1p(-p))
    long = xnp.floor(1 + log(v) / log(q))
    k = xnp.where(v <= q * q, xnp.maximum(long, 1), xnp.where(v < q, 2.0, 1.0))
    return as_counts(xnp.where(xnp.isnan(p), p, k), regime)


@boundary
def logseries(key, p, shape=None, dtype=None):
    """Counts k from 1 on, of probability proportional to p^k / k."""
    dtype = integral("logseries", dtype)
    return draw(
        "logseries", _sample_logseries, key, shape, dtypes.float64, _below_1("p", p), result=dtype,
        regime=lambda p: dtype,
    )  # fmt: skip


def _zipf_proposal(first, second, a):
    # Devroye, Non-uniform random variate generation (1986), page 551
    u, v = open_uniform(first, dtypes.float64), open_uniform(second, dtypes.float64)
    b = exp((a - 1) * xnp.log(2.0))
    x = xnp.floor(xnp.minimum(exp(-log(u) / (a - 1)), 1e300))
    growth = xnp.expm1((a - 1) * xnp.log1p(1 / x))
    accepted = v * x * growth * b <= (1 + growth) * (b - 1)
    return proposal(x, accepted | xnp.isnan(a))


def _sample_zipf(source, a, *, shape, dtype, regime):
    return as_counts(first_accepted(_zipf_proposal, source, [a], shape, dtypes.float64), regime)


@boundary
def zipf(key, a, shape=None, dtype=None):
    """Counts k from 1 on, of probability proportional to k^-a; too large ones are the largest integer."""
    dtype = integral("zipf", dtype)
    return draw(
        "zipf", _sample_zipf, key, shape, dtypes.float64, _above_1("a", a), result=dtype,
        regime=lambda a: dtype,
    )  # fmt: skip
