"""Counts of events: Poisson, binomial, negative binomial, multinomial.

Few expected events are counted by inverting the distribution function, in a fixed number of steps
that XLA makes one loop of; many by Hörmann's transformed rejection (PTRS and BTRS, 1993), in float
arithmetic on the distance from the mean, so that large counts are exact too.
"""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import scan
from .._core import boundary, dtypes, errors, typeof
from ..numpy._promote import astype
from ._elementary import exp, log
from ._from_bits import open_uniform
from ._gamma import sample_gamma
from ._rejection import first_accepted, proposal
from ._source import (
    as_counts,
    chance,
    check_sum_is_one,
    concrete,
    draw,
    finite,
    fit,
    floating,
    integral,
    nonnegative,
    positive_finite,
    probability,
    trials,
    via_float64,
    within,
)  # fmt: skip

_FEW = 10.0  # the expected count from which on rejection is used
_STEPS = 44  # a count of mean 10 exceeds this with probability 1e-15

# Logarithms of probabilities
# log k! = z log z - z + log √(2π) - t(k) with z = k + 1/2. With this form of Stirling's formula the
# logarithms of the Poisson and binomial probabilities have no terms that grow with the mean.

_T = (0.07236494292470009, 0.02713619536691932, 0.016518182330115095, 0.011849453710405726)


def _t(k):
    z = xnp.maximum(k, len(_T)) + 0.5
    w = 1 / (z * z)
    tail = (1 / 24 - w * (7 / 2880 - w * (31 / 40320 - w * (127 / 430080)))) / z
    for i, value in enumerate(_T):
        tail = xnp.where(k == i, value, tail)
    return tail


def _excess(x):
    """(1 + x) log(1 + x) - x for x > -1, about x² / 2, without cancellation."""
    v = x / (2 + x)
    w = v * v
    near = x * v + 2 * (1 + x) * v * w * (1 / 3 + w * (1 / 5 + w * (1 / 7 + w / 9)))
    return xnp.where(xnp.abs(x) < 0.3, near, (1 + x) * xnp.log1p(x) - x)


def _poisson_log(distance, k, mean):
    """log of √(2π mean) times the probability of the count k, with distance = k + 1/2 - mean."""
    return _t(k) - mean * _excess(distance / mean)


def binomial_log(distance, k, rest, successes, failures):
    """The same for k successes and ``rest`` failures, but for a term that k is not in.

    ``successes`` and ``failures`` are what n + 1 trials would bring, distance = k + 1/2 - successes.
    """
    here = successes * _excess(distance / successes) + failures * _excess(-distance / failures)
    return _t(k) + _t(rest) - here


# Few, and many


def _invert_cdf(source, first, ratio, shape):
    """The count at which the distribution function passes a uniform number, in float64.

    ``first`` is the probability of 0, ``ratio(k)`` that of k divided by that of k - 1.
    """
    u = open_uniform(source.bits(shape, 64), dtypes.float64)
    p = total = first
    count = xnp.where(u > total, 1.0, 0.0)
    for k in range(1, _STEPS):
        p = p * ratio(k)
        total = total + p
        count = count + xnp.where(u > total, 1.0, 0.0)
    return xnp.where(xnp.isnan(first), np.nan, count)


def _hormann_transform(u, slope, width):
    """Hörmann's transformation of u in (-1/2, 1/2), and its derivative."""
    edge = 0.5 - xnp.abs(u)
    return (2 * slope / edge + width) * u, slope / (edge * edge) + width


def _whole(x):
    """A float as (integer part in float64, fraction)."""
    wide = astype(x, dtypes.float64)
    whole = xnp.floor(wide)
    return whole, wide - whole


# Poisson


def _ptrs_setup(mean):
    width = 0.931 + 2.53 * xnp.sqrt(mean)
    scale = (1.1239 + 1.1328 / (width - 3.4)) * xnp.sqrt(2 * np.pi * mean)
    return -0.059 + 0.02483 * width, width, scale


def _ptrs(first, second, mean, whole, fraction, slope, width, scale):
    """A Poisson count of mean from 10 on, as its distance from the whole part of the mean."""
    dtype = typeof(mean).dtype
    x, stretch = _hormann_transform(open_uniform(first, dtype) - 0.5, slope, width)
    j = xnp.floor(x + (fraction + 0.43))
    height = log(open_uniform(second, dtype) * scale / stretch)
    log_p = _poisson_log(j + (0.5 - fraction), xnp.maximum(whole + j, 0), mean)
    return proposal(j, ~((j < -whole) | (height > log_p)))


def _poisson_by_rejection(source, mean, shape, dtype):
    mean = xnp.where(mean < _FEW, _FEW, mean)
    whole, fraction = _whole(mean)
    parts = [mean, astype(whole, dtype), astype(fraction, dtype), *via_float64(_ptrs_setup, mean)]
    j = first_accepted(_ptrs, source, parts, shape, dtype)
    return whole + astype(j, dtypes.float64)


def _poisson_by_inversion(source, mean, shape):
    mean = astype(mean, dtypes.float64)
    mean = xnp.where(mean > _FEW, _FEW, mean)
    return _invert_cdf(source, exp(-mean), lambda k: mean * (1 / k), shape)


def sample_poisson(source, mean, *, shape, dtype, regime):
    """A float64 array of counts."""
    if regime == "few":
        return _poisson_by_inversion(source, mean, shape)
    many = _poisson_by_rejection(source, mean, shape, dtype)
    return (
        many
        if regime == "many"
        else xnp.where(mean < _FEW, _poisson_by_inversion(source, mean, shape), many)
    )


def _mean_regime(mean):
    if within(mean, 0, np.nextafter(_FEW, 0)):
        return "few"
    return "many" if within(mean, _FEW, np.inf) else "any"


def _sample_poisson(source, mean, *, shape, dtype, regime):
    known, result = regime
    return as_counts(sample_poisson(source, mean, shape=shape, dtype=dtype, regime=known), result)


@boundary
def poisson(key, lam, shape=None, dtype=None):
    """Poisson random numbers: counts of independent events of which lam are expected.

      P(k) = λᵏ e^(-λ) / k!

    with λ the ``lam``.

    Args:
      key: a random key.
      lam: expected count, non-negative and finite. Where it is not, or is NaN, and nobody knew before the
        program ran, the count is -1.
      shape: shape of the result; that of lam if not given.
      dtype: integer dtype. Counts that it cannot hold are its largest number.

    >>> import xcore as xc
    >>> xc.random.poisson(xc.random.key(0), 3.0, (3,)).dtype
    dtype('int32')
    """
    dtype = integral("poisson", dtype)
    return draw(
        "poisson", _sample_poisson, key, shape, None, finite("lam", lam), result=dtype,
        regime=lambda mean: (_mean_regime(mean), dtype),
    )  # fmt: skip


# Binomial


def _btrs_setup(mean, p):
    spread = xnp.sqrt(mean * (1 - p))
    width = 1.15 + 2.53 * spread
    return -0.0873 + 0.0248 * width + 0.01 * p, width, (2.83 + 5.1 / width) * spread


def _btrs(first, second, p, whole, fraction, rest, mode, successes, failures, slope, width, scale):
    """A binomial count of mean from 10 on with p ≤ 1/2, as its distance from ``whole``.

    n p is whole + fraction, n - whole is rest, mode is what ``binomial_log`` is at the likeliest count.
    """
    dtype = typeof(p).dtype
    x, stretch = _hormann_transform(open_uniform(first, dtype) - 0.5, slope, width)
    j = xnp.floor(x + (fraction + 0.5))
    height = log(open_uniform(second, dtype) * scale / stretch)
    k, left = xnp.maximum(whole + j, 0), xnp.maximum(rest - j, 0)
    log_p = binomial_log(j + (0.5 - fraction) - p, k, left, successes, failures) - mode
    return proposal(j, ~((j < -whole) | (j > rest) | (height > log_p)))


def _binomial_by_rejection(source, n, p, shape, dtype):
    """n and p are float64; the mean is at least 10."""
    mean = n * p
    whole = xnp.floor(mean)
    successes, failures = mean + p, (n - mean) + (1 - p)
    likeliest = xnp.floor(successes)
    mode = binomial_log(likeliest + 0.5 - successes, likeliest, n - likeliest, successes, failures)
    parts = p, whole, mean - whole, n - whole, mode, successes, failures, *_btrs_setup(mean, p)
    parameters = [astype(x, dtype) for x in parts]
    j = first_accepted(_btrs, source, parameters, shape, dtype, apart=True)
    return whole + astype(j, dtypes.float64)


def _binomial_by_inversion(source, n, p, shape):
    odds = p / (1 - p)
    return _invert_cdf(
        source,
        exp(n * xnp.log1p(-p)),
        lambda k: xnp.maximum(n - (k - 1), 0) * (odds * (1 / k)),
        shape,
    )


def sample_binomial(source, n, p, *, shape, dtype, regime):
    """A float64 array of counts; n and p are float64."""
    flipped = p > 0.5
    rare = xnp.where(flipped, 1 - p, p)
    few = n * rare < _FEW
    if regime == "few":
        k = _binomial_by_inversion(source, n, rare, shape)
    else:
        safe = xnp.where(few, 2 * _FEW, n), xnp.where(few, 0.5, rare)
        k = _binomial_by_rejection(source, *safe, shape, dtype)
    if regime == "any":
        calm = xnp.where(few, n, _FEW), xnp.where(few, rare, 0.5)
        k = xnp.where(few, _binomial_by_inversion(source, *calm, shape), k)
    return xnp.where(flipped, n - k, k)


def _trials_regime(n, p):
    n, p = concrete(n), concrete(p)
    if n is None or p is None:
        return "any"
    mean = np.multiply(n, np.minimum(p, 1 - p), dtype=np.float64)
    if np.all(mean < _FEW * (1 - 1e-6)):
        return "few"
    return "many" if np.all(mean > _FEW * (1 + 1e-6)) else "any"


def _rejection_dtype(n):
    """The dtype of distances from the mean: float32 resolves them for up to 2^32 trials.

    It follows from the type alone: numbers must be the same where the value is not known.
    """
    t = typeof(n)
    return dtypes.float32 if t.dtype.itemsize < 8 or t.weak else dtypes.float64


def _sample_binomial(source, n, p, *, shape, dtype, regime):
    known, inner, result = regime
    return as_counts(sample_binomial(source, n, p, shape=shape, dtype=inner, regime=known), result)


def _count_dtype(who: str, dtype, *values):
    found = None if dtype is None else dtypes.as_dtype(dtype)
    return (
        found if found is not None and dtypes.is_integer(found) else floating(who, found, *values)
    )


@boundary
def binomial(key, n, p, shape=None, dtype=None):
    """Binomial random numbers: successes in n independent trials of probability p.

      P(k) = n! / (k! (n - k)!) pᵏ (1 - p)^(n - k)

    Args:
      key: a random key.
      n: number of trials: a whole number, of integer or floating dtype.
      p: probability of success.
      shape: shape of the result; that of the parameters if not given.
      dtype: floating or integer dtype; float32 by default, as in jax.

    >>> import xcore as xc
    >>> xc.random.binomial(xc.random.key(0), 10, 0.5, (3,), "int32").dtype
    dtype('int32')
    """
    parameters = [q.checked("binomial") for q in (trials("n", n), probability("p", p))]
    result = _count_dtype("binomial", dtype, *[q.value for q in parameters])
    return draw(
        "binomial", _sample_binomial, key, shape, dtypes.float64, *parameters, result=result,
        regime=lambda n, p: (_trials_regime(n, p), _rejection_dtype(n), result),
    )  # fmt: skip


# Made of counts


def _sample_negative_binomial(source, n, p, *, shape, dtype, regime):
    rate, count = source.split(2)
    mean = sample_gamma(rate, n, shape=shape, dtype=dtype) * ((1 - p) / p)
    return as_counts(sample_poisson(count, mean, shape=shape, dtype=dtype, regime="any"), regime)


@boundary
def negative_binomial(key, n, p, shape=None, dtype=None):
    """The number of failures before the n-th success, of probability p each.

      P(k) = Γ(n + k) / (Γ(n) k!) pⁿ (1 - p)ᵏ

    Args:
      key: a random key.
      n: number of successes, positive, not necessarily whole.
      p: probability of success, not 0.
      shape: shape of the result; that of the parameters if not given.
      dtype: integer dtype.

    >>> import xcore as xc
    >>> xc.random.negative_binomial(xc.random.key(0), 3, 0.5, (4,)).shape
    (4,)
    """
    dtype = integral("negative_binomial", dtype)
    return draw(
        "negative_binomial", _sample_negative_binomial, key, shape, None, positive_finite("n", n),
        chance("p", p), result=dtype, regime=lambda n, p: dtype,
    )  # fmt: skip


def _sample_multinomial(source, n, p, *, shape, dtype, regime):
    """One category after the other, each a binomial count of the trials that are left."""
    inner, result, unroll = regime
    p = xnp.moveaxis(fit(p, shape), -1, 0)
    tails = xnp.flip(xnp.cumsum(xnp.flip(p, 0), axis=0), 0)
    shares = xnp.clip(p / xnp.where(tails == 0, 1, tails), 0, 1)
    n = fit(n[..., 0], shape[:-1])

    def step(left, category):
        number, share = category
        mine = source.child(number)
        count = sample_binomial(mine, left, share, shape=shape[:-1], dtype=inner, regime="any")
        return left - count, count

    numbers = ops.iota(shape=(shape[-1],), dtype=dtypes.uint32, axis=0)
    return as_counts(
        xnp.moveaxis(scan(step, n, (numbers, shares), unroll=unroll)[1], 0, -1), result
    )


@boundary
def multinomial(key, n, p, *, shape=None, dtype=None, unroll=1):
    """Multinomial random vectors: how often each category comes in n independent draws.

      P(k) = n! Π p_i^(k_i) / k_i!

    for counts k_i whose sum is n.

    Args:
      key: a random key.
      n: number of draws, a whole number, of a shape that broadcasts with that of p without its last axis.
      p: probabilities along the last axis. Where they are known now their sum must be 1 but for rounding, by
        which they are divided.
      shape: shape of the result, which ends in the number of categories; that of p if not given.
      dtype: floating or integer dtype; float32 by default, as in jax.
      unroll: how many categories a step of the loop over them draws, as for ``lax.scan``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> float(xc.random.multinomial(xc.random.key(0), 10, xnp.array([0.2, 0.3, 0.5])).sum())
    10.0
    """
    n, p = trials("n", n).checked("multinomial"), nonnegative("p", p).checked("multinomial")
    if not typeof(p.value).shape:
        raise errors.bad_argument("random.multinomial", "p", p.value, "at least one-dimensional")
    check_sum_is_one("multinomial", p)
    result = _count_dtype("multinomial", dtype, n.value, p.value)
    inner = _rejection_dtype(n.value)
    n = n._replace(value=xnp.expand_dims(n.value, -1))
    return draw(
        "multinomial", _sample_multinomial, key, shape, dtypes.float64, n, p, result=result,
        regime=lambda n, p: (inner, result, unroll),
    )  # fmt: skip
