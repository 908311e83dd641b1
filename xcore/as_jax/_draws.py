"""Choices and counts with the bits that JAX gives for a key: what is most after Gumbel noise, integers, binomials.

Weights and probabilities are taken as they are: what no distribution has gives what the formulas give.
"""

from __future__ import annotations

import math

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from xcore import lax, random

from .._core import errors
from ._behind import promote_dtypes_inexact
from ._rejection import _as_keys

_MODES = "low", "high", "highest"


def randint(key, shape, minval, maxval, dtype=None, **options):
    """Integers; bounds that are no integers are cut toward zero, and others moved to the dtype's limits."""
    return random.randint(key, shape, _whole(minval), _whole(maxval), dtype, **options)


def _whole(bound):
    if isinstance(bound, int):
        bound = xnp.asarray(bound)  # of too large a one an OverflowError, as in JAX
    dtype = xnp.result_type(bound)
    return bound if xnp.issubdtype(dtype, np.integer) else xnp.asarray(bound).astype(int)


def gumbel(key, shape=(), dtype=None, mode=None):
    """Gumbel variates; those of "high" come from two uniform numbers each, and have longer tails."""
    if mode not in (None, *_MODES):
        raise errors.bad_argument("random.gumbel", "mode", mode, "'low', 'high' or 'highest'")
    dtype = xc.dtypes.canonicalize_dtype(float if dtype is None else dtype)
    if mode in (None, "low"):
        return random.gumbel(key, shape, dtype)
    fine = mode == "highest" and dtype == np.float32
    return (_gumbel_of_bits if fine else _gumbel_of_two)(key, tuple(shape), dtype)


@xc.jit(static_argnums=(1, 2))
def _gumbel_of_two(key, shape, dtype):
    """The second uniform number has the digits below the last one of the first, where that is small."""
    info = xnp.finfo(dtype)
    high, low = random.uniform(key, (2, *shape), dtype)
    x = xnp.where(high >= 0.5, high, high + 2.0**-info.nmant * low + info.tiny)
    return -xnp.log(-xnp.log1p(-x))


@xc.jit(static_argnums=(1, 2))
def _gumbel_of_bits(key, shape, dtype):
    """The number 0.b of 64 bits b, or what it lacks to 1, whichever is smaller, with all of its digits."""
    high, low = random.bits(key, (2, *shape), np.uint32)
    small = high < 2**31
    zero = low == 0
    high, low = (
        xnp.where(small, high, ~high + zero.astype(np.uint32)),
        xnp.where(small, low, ~low + np.uint32(1)),
    )
    x = _fraction(high, low, dtype)
    return -xnp.log(-xnp.where(small, xnp.log1p(-x), xnp.log(x)))


def _fraction(high, low, dtype):
    """The 24 leading bits of a number of 64, over 2⁶⁴."""
    zeros = lax.clz(high)
    of_low = zeros == 32
    zeros = xnp.where(of_low, 32 + lax.clz(low), zeros)
    shift = xnp.minimum(zeros, 31)
    lifted = xnp.where(
        of_low,
        lax.shift_left(low, xnp.minimum(zeros - 32, 31)),
        lax.shift_left(high, shift) | lax.shift_right_logical(low, 32 - shift),
    )
    return (lifted >> 8).astype(dtype) * xnp.exp2(-24 - zeros.astype(dtype))


def categorical(key, logits, axis=-1, shape=None, replace=True, mode=None):
    """Categories: where logits and Gumbel noise are most, or the first of them in that order."""
    logits = xnp.asarray(logits)
    axis = axis - logits.ndim if axis >= 0 else axis
    batch = tuple(np.delete(logits.shape, axis))
    shape = batch if shape is None else tuple(shape)
    if xnp.broadcast_shapes(shape, batch) != shape:
        raise errors.ShapeError(
            f"xcore.random.categorical: shape {shape} must end in {batch}, the shape of logits without axis {axis}."
        )
    prefix = shape[: len(shape) - len(batch)]
    categories = _categories if replace else _distinct_categories
    return categories(key, logits, axis, prefix, shape[len(prefix) :], mode)


@xc.jit(static_argnums=(2, 3, 4, 5))
def _categories(key, logits, axis, prefix, batch, mode):
    full = list(batch)
    full.insert(len(full) + 1 + axis, logits.shape[axis])
    noise = gumbel(key, (*prefix, *full), logits.dtype, mode)
    return xnp.argmax(noise + logits, axis=axis)


@xc.jit(static_argnums=(2, 3, 4, 5))
def _distinct_categories(key, logits, axis, prefix, batch, mode):
    noisy = logits + gumbel(key, logits.shape, logits.dtype, mode)
    order = lax.top_k(xnp.moveaxis(noisy, axis, -1), math.prod(prefix))[1]
    return xnp.moveaxis(order, -1, 0).reshape(*prefix, *batch)


def choice(key, a, shape=(), replace=True, p=None, axis=0, mode=None):
    """Random elements; with weights, those that the sums of the weights reach, or that noise puts first."""
    if p is None or not math.prod(shape):
        return random.choice(key, a, shape, replace, axis=axis)
    whole = xnp.ndim(a) == 0
    n = int(a) if whole else xnp.shape(a)[axis]
    p = xnp.asarray(p)
    if p.shape != (n,):
        raise errors.ShapeError(
            f"xcore.random.choice: p must have one weight for each of the {n} elements, given {p.type}."
        )
    if not replace and math.prod(shape) > n:
        raise errors.bad_argument(
            "random.choice", "shape", shape, f"of {n} elements at most, as there are no more"
        )
    found = _chosen(key, p, tuple(shape), bool(replace), mode)
    return found if whole else xnp.take(xnp.asarray(a), found, axis)


@xc.jit(static_argnums=(2, 3, 4))
def _chosen(key, p, shape, replace, mode):
    [p] = promote_dtypes_inexact(p)
    if replace:
        sums = xnp.cumsum(p)
        u = 1 - random.uniform(key, shape, p.dtype)
        return xnp.searchsorted(sums, sums[-1] * u).astype(int)
    noisy = gumbel(key, p.shape, p.dtype, mode) + xnp.log(p)
    return lax.top_k(noisy, math.prod(shape))[1].astype(int).reshape(shape)


def bernoulli(key, p=0.5, shape=None, mode="low"):
    """Whether a uniform number is below p; with "high" one of twice as many bits."""
    if mode != "high":
        return random.bernoulli(key, p, shape, mode)
    p = xnp.asarray(p)
    shape = p.shape if shape is None else tuple(shape)
    u, rest = random.uniform(key, (2, *shape), p.dtype)
    return rest * 2.0 ** -xnp.finfo(p.dtype).nmant < p - u


# Binomials


def _by_gaps(key, n, p, most):
    """How many geometric gaps of mean 1/p fit into n."""

    def step(state):
        i, count, total, key = state
        sub, key = random.split(key)
        u = random.uniform(sub, n.shape, p.dtype)
        gap = xnp.ceil(xnp.log(u) / xnp.log1p(-p))
        return i + 1, xnp.where(total <= n, count + 1, count), total + gap, key

    going = lambda s: xnp.any(s[2] <= n) & (s[0] < most)  # noqa: E731
    start = (0, xnp.zeros_like(p), xnp.zeros_like(p), key)
    return lax.while_loop(going, step, start)[1] - 1


# log k! less the terms of Stirling's formula, for k = 0 … 9
_TAILS = [
    math.lgamma(k + 1) - (k + 0.5) * math.log(k + 1) + k + 1 - 0.5 * math.log(2 * math.pi)
    for k in range(10)
]


def _stirling_tail(k):
    """log k! - (k + 1/2) log(k + 1) + k + 1 - log(2π)/2."""
    inside = xnp.clip(k, 0, 9)
    square = (inside + 1) * (inside + 1)
    series = (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (inside + 1)
    return xnp.where(k <= 9, xnp.asarray(_TAILS, k.dtype)[inside.astype(np.int32)], series)


def _by_rejection(key, n, p, most):
    """Hörmann's transformed rejection (BTRS, 1993)."""
    deviation = xnp.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    odds, mode = p / (1 - p), xnp.floor((n + 1) * p)
    alpha = (2.83 + 5.1 / b) * deviation
    of_mode = _stirling_tail(mode) + _stirling_tail(n - mode)
    of_mode += (mode + 0.5) * xnp.log((mode + 1) / (odds * (n - mode + 1)))

    def step(state):
        i, out, accepted, key = state
        key, of_u, of_v = random.split(key, 3)
        u = random.uniform(of_u, n.shape, p.dtype) - 0.5
        v = random.uniform(of_v, n.shape, p.dtype)
        us = 0.5 - xnp.abs(u)
        at_once = (us >= 0.07) & (v <= 0.92 - 4.2 / b)
        k = xnp.floor((2 * a / us + b) * u + n * p + 0.5)
        bound = (
            of_mode
            + (n + 1) * xnp.log((n - mode + 1) / (n - k + 1))
            + (k + 0.5) * xnp.log(odds * (n - k + 1) / (k + 1))
            - _stirling_tail(k)
            - _stirling_tail(n - k)
        )
        good = xnp.log(v * alpha / (a / (us * us) + b)) <= bound
        accept = at_once | ((k >= 0) & (k <= n) & good)
        return i + 1, xnp.where(accept, k, out), accepted | accept, key

    start = (0, xnp.full_like(p, -1), xnp.zeros(n.shape, bool), key)
    going = lambda s: xnp.any(~s[2]) & (s[0] < most)  # noqa: E731
    return lax.while_loop(going, step, start)[1]


def binomial(key, n, p, shape=None, dtype=None):
    """Successes in n trials of probability p: by gaps where few are meant, by rejection else."""
    dtype = xc.dtypes.canonicalize_dtype(float if dtype is None else dtype)
    shape = xnp.broadcast_shapes(xnp.shape(n), xnp.shape(p)) if shape is None else tuple(shape)
    [p] = promote_dtypes_inexact(xnp.asarray(p))
    return _binomial(_as_keys(key), xnp.asarray(n), p, shape, dtype)


@xc.jit(static_argnums=(3, 4))
def _binomial(key, n, p, shape, dtype):
    given, p = xnp.broadcast_to(n.astype(p.dtype), shape), xnp.broadcast_to(p, shape)
    n, rare = xnp.floor(given), p < 0.5
    q = xnp.where(rare, p, 1 - p)
    bad_n, bad_q = xnp.isnan(given) | (given < 0), xnp.isnan(q) | (q < 0)
    endless = xnp.isinf(given)
    safe = xnp.where(bad_q, 0.01, q)
    few, most = bad_n | (given * safe <= 10), float(xnp.finfo(dtype).max)
    drawn = xnp.where(
        few,
        _by_gaps(key, xnp.where(few, n, 0), safe, most),
        _by_rejection(key, xnp.where(few, 1e4, n), xnp.where(few, 0.5, safe), most),
    ).astype(dtype)
    drawn = xnp.where(bad_q | bad_n, np.nan, xnp.where(endless, np.inf, drawn))
    return xnp.where(rare | bad_n | xnp.isnan(q) | endless, drawn, n.astype(dtype) - drawn)


def multinomial(key, n, p, *, shape=None, dtype=None, unroll=1):
    """How n trials fall on categories of probabilities p: a binomial of each among those that are left."""
    dtype = xc.dtypes.canonicalize_dtype(float if dtype is None else dtype)
    n, p = promote_dtypes_inexact(xnp.asarray(n), xnp.asarray(p))
    shape = p.shape if shape is None else tuple(shape)
    left = xnp.broadcast_to(n, shape[:-1])
    p = xnp.moveaxis(xnp.broadcast_to(p, shape), -1, 0)
    sums = lax.cumsum(p, 0, reverse=True)

    def step(left, part):
        ratio, key = part
        count = binomial(key, left, xnp.clip(ratio, 0, 1), dtype=left.dtype)
        return left - count, count

    keys = random.split(_as_keys(key), len(p))
    _, counts = lax.scan(step, left, (p / xnp.where(sums == 0, 1, sums), keys), unroll=unroll)
    return xnp.moveaxis(counts, 0, -1).astype(dtype)
