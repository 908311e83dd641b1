"""Draws by rejection with the bits that JAX gives for a key: gamma and what is made of it, Poisson.

These are JAX's ways of drawing, each element by a key of its own; xcore's own take all elements at once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from xcore import lax, nn, random

from .._ops import stop_gradient
from ..random._gamma import gamma_of_shape, log_gamma_of_shape
from ._settings import IMPLS


def _of_32_bits(seed):
    """Without x64 a seed has 32 bits, whatever it was."""
    if isinstance(seed, (int, np.integer)) and not xc.config.read("enable_x64"):
        return int(seed) if -(2**31) <= seed < 2**32 else int(seed) % 2**32
    return seed


def key(seed, *, impl=None):
    """A new key."""
    return random.key(_of_32_bits(seed), impl=IMPLS.get(impl, impl))


def PRNGKey(seed, *, impl=None):
    """A new key as an array of numbers."""
    return random.PRNGKey(_of_32_bits(seed), impl=IMPLS.get(impl, impl))


def _gamma_of_one(key, a, log_space: bool):
    """Marsaglia and Tsang 2000: d v³ of a normal x, v = 1 + c x, accepted by a uniform number.

    Shapes below 1 are drawn one higher, and multiplied by u^(1/a).
    """
    dtype = a.dtype
    small = a < 1
    d = xnp.where(small, a + 1, a) - np.asarray(1 / 3, dtype)
    c = np.asarray(1 / 3, dtype) / xnp.sqrt(d)

    def next_v(state):
        key, sub = random.split(state[0])
        x = random.normal(sub, (), dtype)
        return key, x, 1 + x * c

    def propose(state):
        key, of_x, of_u = random.split(state[0], 3)
        zero = xnp.zeros((), dtype)
        _, x, v = lax.while_loop(lambda s: s[2] <= 0, next_v, (of_x, zero, zero - 1))
        return key, x * x, v * v * v, random.uniform(of_u, (), dtype)

    def refused(state):
        _, x2, v3, u = state
        beyond = u >= 1 - np.asarray(0.0331, dtype) * (x2 * x2)
        return beyond & (xnp.log(u) >= x2 / 2 + d * (1 - v3 + xnp.log(v3)))

    key, of_boost = random.split(key)
    one = xnp.ones((), dtype)
    _, _, v3, _ = lax.while_loop(refused, propose, (key, 0 * one, one, 2 * one))
    u = 1 - random.uniform(of_boost, (), dtype)
    if log_space:
        return xnp.log(d) + xnp.log(v3) + xnp.where(small & (u < 1), xnp.log(u) / a, 0)
    return d * v3 * xnp.where(small, u ** (1 / a), 1)


def _gammas(key, a, shape, dtype, log_space: bool):
    dtype = xc.dtypes.canonicalize_dtype(dtype)
    a = xnp.asarray(a, dtype)
    shape = a.shape if shape is None else tuple(shape)
    a = xnp.broadcast_to(a, shape)
    keys = random.split(_as_keys(key), math.prod(shape))
    flat = lax.stop_gradient(a).reshape(-1)
    drawn = xc.vmap(lambda k, x: _gamma_of_one(k, x, log_space))(keys, flat)
    of_shape: Any = log_gamma_of_shape if log_space else gamma_of_shape
    return of_shape(a, stop_gradient(drawn.reshape(shape)))


def _as_keys(key):
    """A key as an array of keys; old ones are arrays of two numbers."""
    return key if xnp.issubdtype(key.dtype, xc.dtypes.prng_key) else random.wrap_key_data(key)


def gamma(key, a, shape=None, dtype=float):
    """Gamma variates of shape a."""
    return _gammas(key, a, shape, dtype, False)


def loggamma(key, a, shape=None, dtype=float):
    """Logarithms of gamma variates of shape a; their bits are others than those of ``gamma``'s."""
    return _gammas(key, a, shape, dtype, True)


def beta(key, a, b, shape=None, dtype=float):
    """Beta variates: of two gamma variates the first's part in the sum."""
    of_a, of_b = random.split(key)
    shape = xnp.broadcast_shapes(xnp.shape(a), xnp.shape(b)) if shape is None else tuple(shape)
    x, y = loggamma(of_a, a, shape, dtype), loggamma(of_b, b, shape, dtype)
    most = xnp.maximum(x, y)
    x, y = xnp.exp(x - most), xnp.exp(y - most)
    return x / (x + y)


def dirichlet(key, alpha, shape=None, dtype=float):
    """Dirichlet variates: gamma variates over their sum."""
    alpha = xnp.asarray(alpha, dtype)
    shape = alpha.shape[:-1] if shape is None else tuple(shape)
    return nn.softmax(loggamma(key, alpha, (*shape, alpha.shape[-1]), dtype), axis=-1)


def chisquare(key, df, shape=None, dtype=float):
    """χ² variates of df degrees of freedom."""
    return 2 * xnp.exp(loggamma(key, xnp.asarray(df, dtype) / 2, shape, dtype))


def t(key, df, shape=None, dtype=float):
    """Student's t."""
    df = xnp.asarray(df, dtype)
    shape = df.shape if shape is None else tuple(shape)
    of_normal, of_gamma = random.split(key)
    half = df / 2
    return random.normal(of_normal, shape, dtype) * xnp.sqrt(
        half / gamma(of_gamma, half, shape, dtype)
    )


def f(key, dfnum, dfden, shape=None, dtype=float):
    """Fisher's F."""
    shape = (
        xnp.broadcast_shapes(xnp.shape(dfnum), xnp.shape(dfden)) if shape is None else tuple(shape)
    )
    of_den, of_num = random.split(key)
    above = chisquare(of_num, xnp.broadcast_to(dfnum, shape), shape, dtype) / dfnum
    return above / (chisquare(of_den, xnp.broadcast_to(dfden, shape), shape, dtype) / dfden)


def generalized_normal(key, p, shape=(), dtype=float):
    """Of density in proportion to e^-|x|^p."""
    of_size, of_sign = random.split(key)
    size = gamma(of_size, 1 / p, shape, dtype)
    return random.rademacher(of_sign, shape, dtype) * size ** (1 / p)


def ball(key, d, p=2, shape=(), dtype=float):
    """Points spread evenly in the unit ball of the p-norm in d dimensions."""
    of_point, of_rest = random.split(key)
    x = generalized_normal(of_point, p, (*shape, d), dtype)
    rest = random.exponential(of_rest, shape, dtype)
    return x / ((xnp.abs(x) ** p).sum(-1) + rest)[..., None] ** (1 / p)


# Poisson


def _by_products(key, lam, shape, dtype, most: int):
    """How many uniform numbers one multiplies until the product is below e^-λ (Knuth)."""

    def step(state):
        i, k, key, total = state
        key, sub = random.split(key)
        u = random.uniform(sub, shape, "float32")
        return i + 1, xnp.where(total > -lam, k + 1, k), key, total + xnp.log(u)

    start = (0, xnp.zeros(shape, dtype), key, xnp.zeros(shape, "float32"))
    going = lambda s: xnp.any(s[3] > -lam) & (s[0] < most)  # noqa: E731
    return (lax.while_loop(going, step, start)[1] - 1).astype(dtype)


def _by_rejection(key, lam, shape, dtype, most: int):
    """Hörmann's transformed rejection with squeeze (PTRS, 1993)."""
    b = 0.931 + 2.53 * xnp.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2)

    def step(state):
        i, out, accepted, key = state
        key, of_u, of_v = random.split(key, 3)
        u = random.uniform(of_u, shape, lam.dtype) - 0.5
        v = random.uniform(of_v, shape, lam.dtype)
        us = 0.5 - xnp.abs(u)
        k = xnp.floor((2 * a / us + b) * u + lam + 0.43)
        s = xnp.log(v * inverse_alpha / (a / (us * us) + b))
        good = s <= -lam + k * xnp.log(lam) - lax.lgamma(k + 1)
        at_once = (us >= 0.07) & (v <= v_r)
        never = (k < 0) | ((us < 0.013) & (v > us))
        accept = at_once | (~never & good)
        return i + 1, xnp.where(accept, k, out), accepted | accept, key

    start = (0, xnp.full(shape, -1, lam.dtype), xnp.zeros(shape, bool), key)
    going = lambda s: xnp.any(~s[2]) & (s[0] < most)  # noqa: E731
    return lax.while_loop(going, step, start)[1].astype(dtype)


def poisson(key, lam, shape=None, dtype=int):
    """Poisson variates: by products below λ = 10, by rejection from there on."""
    dtype = xc.dtypes.canonicalize_dtype(dtype)
    lam = xnp.asarray(lam, float)
    shape = lam.shape if shape is None else tuple(shape)
    lam, key = lax.stop_gradient(xnp.broadcast_to(lam, shape)), _as_keys(key)
    few, most = xnp.isnan(lam) | (lam < 10), int(np.iinfo(dtype).max)
    one = _by_products(key, xnp.where(few, lam, 0), shape, dtype, most)
    other = _by_rejection(key, xnp.where(few, 1e5, lam), shape, dtype, most)
    return xnp.where(lam == 0, 0, xnp.where(few, one, other)).astype(dtype)
