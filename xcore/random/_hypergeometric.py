"""Draws without replacement from urns: hypergeometric counts, methods of ``Generator``.

Their probabilities are log-concave, and for those one hat fits all: with p the probability of the mode m,
that of m + k is at most p min(1, e^(1 + p/2 - p (|k| - 1/2))). Devroye: A simple generator for discrete
log-concave distributions (1987). Fewer than six attempts are needed on average, whatever the parameters.
"""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import scan
from .._core import boundary, dtypes, typeof
from ..numpy._promote import broadcast_shapes
from ._counts import binomial_log
from ._elementary import exp, log
from ._from_bits import open_uniform
from ._rejection import first_accepted, proposal
from ._source import as_counts, concrete, draw, fit, integral, kind_of_parameter

_LIMIT = 10**9  # NumPy's
_balls = kind_of_parameter(
    "a whole number from 0 to below 10^9", lambda x: (x < 0) | (x >= _LIMIT) | (x % 1 > 0)
)


def _log_weight(k, good, bad, sample):
    """log of the probability of k good ones among the sample, but for a term that k is not in.

    It is the probability of so many successes among ``good`` trials and of the others among ``bad``.
    """
    p = sample / (good + bad)
    rest = sample - k
    return binomial_log(
        k + 0.5 - (good + 1) * p, k, good - k, (good + 1) * p, (good + 1) * (1 - p)
    ) + (
        binomial_log(
            rest + 0.5 - (bad + 1) * p, rest, bad - rest, (bad + 1) * p, (bad + 1) * (1 - p)
        )
    )


def _log_choose(n, k):
    return ops.lgamma(n + 1) - ops.lgamma(k + 1) - ops.lgamma(n - k + 1)


def _setup(good, bad, sample):
    """The mode, a little less than its probability, and its weight."""
    mode = xnp.floor((sample + 1) * ((good + 1) / (good + bad + 2)))
    mode = xnp.clip(mode, xnp.maximum(sample - bad, 0), xnp.minimum(good, sample))
    log_p = (
        _log_choose(good, mode) + _log_choose(bad, sample - mode) - _log_choose(good + bad, sample)
    )
    # logarithms of factorials below 10^9! are known to 10^-5: with less than p the hat is only wider
    return mode, 0.999 * exp(log_p), _log_weight(mode, good, bad, sample)


def _proposed(first, second, good, bad, sample, mode, p, weight):
    u, v = open_uniform(first, dtypes.float64), open_uniform(second, dtypes.float64)
    w = 1 + 0.5 * p
    flat = w / (1 + w)  # the share of the hat where it is flat
    y = xnp.where(u <= flat, u * (1 + w), w - log((1 - u) * (1 + w))) / p
    sign = xnp.where(v < 0.5, -1.0, 1.0)
    height = 2 * xnp.where(v < 0.5, v, v - 0.5)
    k = mode + sign * xnp.round(y)
    inside = (k >= xnp.maximum(sample - bad, 0)) & (k <= xnp.minimum(good, sample))
    ratio = exp(_log_weight(xnp.where(inside, k, mode), good, bad, sample) - weight)
    return proposal(
        k, (inside & (height * exp(xnp.minimum(w - p * y, 0)) <= ratio)) | (good != good)
    )


def _sample_hypergeometric(source, good, bad, sample, *, shape, dtype):
    total = good + bad
    # the whole urn and nothing of it leave no choice, and are no probabilities between 0 and 1
    open_ = (sample > 0) & (sample < total)
    proper = xnp.where(sample <= total, good + 0 * sample, np.nan)
    urn = [xnp.where(open_, x, other) for x, other in ((proper, 1.0), (bad, 1.0), (sample, 1.0))]
    parts = [fit(x, np.broadcast_shapes(*[typeof(y).shape for y in urn])) for x in urn]
    k = first_accepted(_proposed, source, [*parts, *_setup(*parts)], shape, dtypes.float64)
    return xnp.where(open_, k, xnp.where(sample == 0, 0.0 * proper, proper))


def _sample_counts(source, good, bad, sample, *, shape, dtype, regime):
    return as_counts(
        _sample_hypergeometric(source, good, bad, sample, shape=shape, dtype=dtype), regime
    )


def _enough(who: str, total, sample) -> None:
    """Where they are known now, no more is drawn than there is."""
    total, sample = concrete(total), concrete(sample)
    if total is None or sample is None:
        return
    few, many = np.broadcast_arrays(total, sample)
    if (bad := many > few).any():
        raise ValueError(
            f"xcore.random.{who}: nsample must not be larger than the number of all, given "
            f"{many[bad].flat[0]:g} of {few[bad].flat[0]:g}."
        )


@boundary
def hypergeometric(key, ngood, nbad, nsample, shape=None, dtype=None):
    """How many of ``nsample`` drawn without replacement from ngood + nbad are good."""
    who, dtype = "hypergeometric", integral("hypergeometric", dtype)
    urn = [
        _balls(n, v).checked(who)
        for n, v in (("ngood", ngood), ("nbad", nbad), ("nsample", nsample))
    ]
    good, bad, sample = [p.value for p in urn]
    broadcast_shapes(f"random.{who}", *[typeof(v).shape for v in (good, bad, sample)])
    if concrete(good) is not None and concrete(bad) is not None:
        _enough(who, good + bad, sample)
    return draw(
        who, _sample_counts, key, shape, dtypes.float64, *urn, result=dtype,
        regime=lambda *urn: dtype,
    )  # fmt: skip


def _sample_colors(source, colors, sample, *, shape, dtype, regime):
    """One colour after the other: how many of those that are left to draw does it get?"""
    colors = xnp.moveaxis(fit(colors, shape), -1, 0)
    others = xnp.flip(xnp.cumsum(xnp.flip(colors, 0), axis=0), 0) - colors

    def step(left, color):
        number, good, bad = color
        mine = source.child(number)
        count = _sample_hypergeometric(mine, good, bad, left, shape=shape[:-1], dtype=dtype)
        return left - count, count

    numbers = ops.iota(shape=(shape[-1],), dtype=dtypes.uint32, axis=0)
    left = fit(sample[..., 0], shape[:-1])
    return as_counts(xnp.moveaxis(scan(step, left, (numbers, colors, others))[1], 0, -1), regime)


@boundary
def multivariate_hypergeometric(key, colors, nsample, shape=None, dtype=None):
    """How many of each colour ``nsample`` drawn without replacement are, the colours along the last axis."""
    who, dtype = "multivariate_hypergeometric", integral("multivariate_hypergeometric", dtype)
    urn = _balls("colors", colors).checked(who)
    sample = _balls("nsample", nsample).checked(who)
    if not typeof(urn.value).shape:
        raise ValueError(f"xcore.random.{who}: colors must have at least one dimension.")
    if concrete(urn.value) is not None:
        _enough(who, urn.value.sum(axis=-1), sample.value)
    sample = sample._replace(value=xnp.asarray(sample.value)[..., None])
    return draw(
        who, _sample_colors, key, shape, dtypes.float64, urn, sample, result=dtype,
        regime=lambda *urn: dtype,
    )  # fmt: skip
