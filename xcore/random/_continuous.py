"""Distributions on the line that are a formula in uniform or normal numbers, and von Mises.

Where jax has the distribution the formula is the one it uses, so the numbers are close to its own.
"""

from __future__ import annotations

import math

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import boundary, dtypes, one_of, typeof
from .._ops.families import FLOATS, ZERO, elementwise
from ..numpy._promote import astype
from ..special import erfcx
from ._elementary import arctan, exp, log, tan_pi
from ._from_bits import open_uniform
from ._gamma import sample_log_gamma
from ._rejection import first_accepted, proposal
from ._source import (
    bound,
    draw,
    finite,
    fit,
    floating,
    kind_of_parameter,
    nonnegative,
    ordered,
    positive,
    positive_finite,
    real,
    via_float64,
    within,
)


def _eps(dtype) -> float:
    return float(dtypes.finfo(dtype).eps)


def _tiny(dtype) -> float:
    return float(dtypes.finfo(dtype).tiny)


def _uniform(source, shape, dtype, low: float):
    """Uniform in [low, 1)."""
    return source.uniform(shape, dtype, dtype.type(low), dtype.type(1))


# Without parameters


def sample_exponential(source, *, shape, dtype):
    return -xnp.log1p(-source.uniform(shape, dtype))


@boundary
def exponential(key, shape=(), dtype=None):
    """Exponential random numbers of rate 1: density e^-x on x ≥ 0.

    Args:
      key: a random key.
      shape: shape of the result.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.exponential(xc.random.key(0), (3,)).shape
    (3,)
    """
    return draw("exponential", sample_exponential, key, shape, dtype)


def _sample_cauchy(source, *, shape, dtype):
    u = _uniform(source, shape, dtype, _eps(dtype))
    return tan_pi(u - 0.5)


@boundary
def cauchy(key, shape=(), dtype=None):
    """Random numbers of the Cauchy distribution: density 1 / (π (1 + x²)).

    Args:
      key: a random key.
      shape: shape of the result.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.cauchy(xc.random.key(0), (3,)).shape
    (3,)
    """
    return draw("cauchy", _sample_cauchy, key, shape, dtype)


def _sample_laplace(source, *, shape, dtype):
    u = _uniform(source, shape, dtype, -1 + float(dtypes.finfo(dtype).epsneg))
    return xnp.sign(u) * xnp.log1p(-xnp.abs(u))


@boundary
def laplace(key, shape=(), dtype=None):
    """Random numbers of the Laplace distribution: density e^-|x| / 2.

    Args:
      key: a random key.
      shape: shape of the result.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.laplace(xc.random.key(0), (3,)).shape
    (3,)
    """
    return draw("laplace", _sample_laplace, key, shape, dtype)


def _sample_logistic(source, *, shape, dtype):
    u = _uniform(source, shape, dtype, _tiny(dtype))
    return log(u) - xnp.log1p(-u)


@boundary
def logistic(key, shape=(), dtype=None):
    """Random numbers of the logistic distribution: distribution function 1 / (1 + e^-x).

    Args:
      key: a random key.
      shape: shape of the result.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.logistic(xc.random.key(0), (3,)).shape
    (3,)
    """
    return draw("logistic", _sample_logistic, key, shape, dtype)


def sample_gumbel(source, *, shape, dtype, regime=None):
    if regime == "high":
        # a word of 64 bits reaches down to 2^-65: the largest of so many numbers is still exact
        u = open_uniform(source.bits(shape, 64), dtype)
        return -log(-xnp.log1p(-u))
    return -log(-log(_uniform(source, shape, dtype, _tiny(dtype))))


def gumbel_regime(who: str, mode) -> str:
    one_of(f"random.{who}", "mode", mode, (None, "low", "high", "highest"), "'low' or 'high'")
    return "low" if mode in (None, "low") else "high"


@boundary
def gumbel(key, shape=(), dtype=None, mode=None):
    """Random numbers of the Gumbel distribution: distribution function e^-e^-x.

    Args:
      key: a random key.
      shape: shape of the result.
      dtype: floating dtype.
      mode: "low" makes a number of one random fraction, so that float32 ends at 16; "high" takes 64
        bits for each and ends at 45.

    >>> import xcore as xc
    >>> xc.random.gumbel(xc.random.key(0), (3,)).shape
    (3,)
    """
    regime = gumbel_regime("gumbel", mode)
    return draw("gumbel", sample_gumbel, key, shape, dtype, regime=lambda: regime)


def _sample_maxwell(source, *, shape, dtype):
    x, y, z = xnp.moveaxis(source.normal((*shape, 3), dtype), -1, 0)
    return xnp.sqrt(
        x * x + y * y + z * z
    )  # a sum over an axis is added in the order that suits its length


@boundary
def maxwell(key, shape=(), dtype=None):
    """Random numbers of the Maxwell distribution: lengths of standard normal vectors in space.

      f(x) = √(2/π) x² e^(-x²/2)

    for x ≥ 0.

    Args:
      key: a random key.
      shape: shape of the result.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.maxwell(xc.random.key(0), (3,)).shape
    (3,)
    """
    return draw("maxwell", _sample_maxwell, key, shape, dtype)


# With parameters


def sample_signs(source, *, shape, dtype):
    # of the default dtype, as in jax, whatever that of the result is
    u = source.uniform(shape, dtypes.default_dtype("float"))
    return xnp.where(u < 0.5, dtype.type(1), dtype.type(-1))


def _sample_double_sided_maxwell(source, loc, scale, *, shape, dtype):
    size, sign = source.split(2)
    x = _sample_maxwell(size, shape=shape, dtype=dtype)
    return sample_signs(sign, shape=shape, dtype=dtype) * x * scale + loc


@boundary
def double_sided_maxwell(key, loc, scale, shape=None, dtype=None):
    """Maxwell random numbers with random signs, times ``scale``, plus ``loc``.

      f(x) = z² e^(-z²/2) / (s √(2π))

    where z = (x - m) / s, m is the ``loc`` and s the ``scale``.

    Args:
      key: a random key.
      loc, scale: centre, and positive width.
      shape: shape of the result; that of the parameters if not given.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.double_sided_maxwell(xc.random.key(0), 0.0, 2.0, (3,)).shape
    (3,)
    """
    both = real("loc", loc), positive("scale", scale)
    return draw("double_sided_maxwell", _sample_double_sided_maxwell, key, shape, dtype, *both)


def _sample_pareto(source, b, *, shape, dtype):
    return exp(sample_exponential(source, shape=shape, dtype=dtype) / b)


@boundary
def pareto(key, b, shape=None, dtype=None):
    """Pareto random numbers with density b / x^(b+1) on x ≥ 1.

    Args:
      key: a random key.
      b: positive exponent of the tail.
      shape: shape of the result; that of b if not given.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.pareto(xc.random.key(0), 3.0, (2,)).shape
    (2,)
    """
    return draw("pareto", _sample_pareto, key, shape, dtype, positive("b", b))


def _sample_rayleigh(source, scale, *, shape, dtype):
    u = _uniform(source, shape, dtype, _tiny(dtype))
    return scale * xnp.sqrt(-2 * log(u))


@boundary
def rayleigh(key, scale=1.0, shape=None, dtype=None):
    """Rayleigh random numbers: lengths of normal vectors in the plane, of this scale in each axis.

      f(x) = x / s² e^(-x²/(2s²))

    for x ≥ 0, with s the ``scale``.

    Args:
      key: a random key.
      scale: positive.
      shape: shape of the result; that of scale if not given.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.rayleigh(xc.random.key(0), 2.0, (3,)).shape
    (3,)
    """
    return draw("rayleigh", _sample_rayleigh, key, shape, dtype, nonnegative("scale", scale))


def _sample_weibull(source, scale, concentration, *, shape, dtype):
    e = sample_exponential(source, shape=shape, dtype=dtype)
    # a power of 1 is 1 even where the exponent is NaN
    scale = xnp.where(concentration > 0, scale, np.nan)
    return xnp.power(*xnp.broadcast_arrays(e, 1 / concentration)) * scale


@boundary
def weibull_min(key, scale, concentration, shape=None, dtype=None):
    """Weibull random numbers: P(X > x) = exp(-(x / scale)^concentration) for x ≥ 0.

    Args:
      key: a random key.
      scale, concentration: positive.
      shape: shape of the result; that of the parameters if not given.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.weibull_min(xc.random.key(0), 1.0, 2.0, (3,)).shape
    (3,)
    """
    both = positive("scale", scale), positive("concentration", concentration)
    return draw("weibull_min", _sample_weibull, key, shape, dtype, *both)


def _sample_lognormal(source, sigma, *, shape, dtype):
    return exp(source.normal(shape, dtype) * sigma)


@boundary
def lognormal(key, sigma=1.0, shape=None, dtype=None):
    """Lognormal random numbers: e^x of normal x with mean 0 and standard deviation sigma.

    Args:
      key: a random key.
      sigma: non-negative.
      shape: shape of the result; that of sigma if not given.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.lognormal(xc.random.key(0), 0.5, (3,)).shape
    (3,)
    """
    return draw("lognormal", _sample_lognormal, key, shape, dtype, nonnegative("sigma", sigma))


def _sample_triangular(source, left, mode, right, *, shape, dtype):
    u = source.uniform(shape, dtype)
    width = xnp.where((left <= mode) & (mode <= right), right - left, np.nan)
    rising = left + xnp.sqrt(u * width * (mode - left))
    falling = right - xnp.sqrt((1 - u) * width * (right - mode))
    return xnp.where(u * width < mode - left, rising, falling)


@boundary
def triangular(key, left, mode, right, shape=None, dtype=None):
    """Random numbers whose density rises in a line from ``left`` to ``mode`` and falls to ``right``.

    Args:
      key: a random key.
      left, mode, right: in this order.
      shape: shape of the result; that of the parameters if not given.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.triangular(xc.random.key(0), 0.0, 1.0, 4.0, (3,)).shape
    (3,)
    """
    three = ordered("triangular", bound("left", left), bound("mode", mode), bound("right", right))
    return draw("triangular", _sample_triangular, key, shape, dtype, *three)


def _sample_wald(source, mean, *, shape, dtype):
    # Michael, Schucany, Haas (1976). The smaller root is written as a quotient: the textbook's
    # difference loses all its digits where the mean is large.
    for_root, for_choice = source.split(2)
    y = source_square(for_root, shape, dtype)
    w = mean * y
    x = mean / (1 + 0.5 * w + 0.5 * xnp.sqrt(w * (w + 4)))
    u = for_choice.uniform(shape, dtype)
    return xnp.where(u * (mean + x) <= mean, x, mean * (mean / x))


def source_square(source, shape, dtype):
    x = source.normal(shape, dtype)
    return x * x


@boundary
def wald(key, mean, shape=None, dtype=None):
    """Random numbers of the Wald (inverse Gaussian) distribution with scale 1.

      f(x) = e^(-(x - μ)²/(2 μ² x)) / √(2π x³)

    for x > 0, with μ the mean.

    It is the time at which a Brownian motion with drift 1 / mean first reaches 1.

    Args:
      key: a random key.
      mean: positive.
      shape: shape of the result; that of mean if not given.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.wald(xc.random.key(0), 2.0, (3,)).shape
    (3,)
    """
    return draw("wald", _sample_wald, key, shape, dtype, positive_finite("mean", mean))


def sample_generalized_normal(source, p, *, shape, dtype):
    size, sign = source.split(2)
    log_g = sample_log_gamma(size, 1 / p, shape=shape, dtype=dtype)
    return sample_signs(sign, shape=shape, dtype=dtype) * exp(log_g / p)


@boundary
def generalized_normal(key, p, shape=None, dtype=None):
    """Random numbers with density proportional to e^-|x|^p: p = 2 normal, p = 1 Laplace.

    Args:
      key: a random key.
      p: positive exponent.
      shape: shape of the result; that of p if not given.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.generalized_normal(xc.random.key(0), 4.0, (3,)).shape
    (3,)
    """
    return draw(
        "generalized_normal", sample_generalized_normal, key, shape, dtype, positive_finite("p", p)
    )


# Truncated normal

_CENTRE = 3.0  # nearer to 0 than this, erf tells the two bounds well apart


def _normal_tail(first, second, low, high):
    """x > low ≥ 2 from the density x e^(-x²/2) on (low, high), accepted with probability low / x.

    Marsaglia, Generating a variable from the tail of the normal distribution (1964).
    """
    dtype = typeof(low).dtype
    u, v = open_uniform(first, dtype), open_uniform(second, dtype)
    width = (high - low) * (0.5 * (high + low))  # (high² - low²) / 2, which may be infinite
    x = xnp.sqrt(low * low - 2 * xnp.log1p(u * xnp.expm1(-width)))
    x = xnp.clip(x, low, high)
    return proposal(x, ~(v * x > low))


def _tail_slopes(x, low, high):
    """How a variate moves with the bounds at fixed probability u = (Φ(x) - Φ(low)) / (Φ(high) - Φ(low)).

    dx = (1 - u) φ(low)/φ(x) dlow + u φ(high)/φ(x) dhigh; with Mills' ratios Φ(-t)/φ(t) nothing vanishes.
    """
    mills = [erfcx(t / 2**0.5) for t in (low, x, high)]
    back, on = exp((low - x) * (low + x) / 2), _ratio(x, high)  # φ(x)/φ(low), φ(high)/φ(x)
    whole = mills[0] - _ratio(low, high) * mills[2]
    whole = xnp.where(whole > 0, whole, 1)
    return (mills[1] - on * mills[2]) / whole, on * (mills[0] - back * mills[1]) / whole


def _ratio(near, far):
    """φ(far)/φ(near) of bounds, the far one of which may be infinite."""
    finite = xnp.isfinite(far)
    end = xnp.where(finite, far, near)
    return xnp.where(finite, exp((near - end) * (near + end) / 2), 0)


tail_between = elementwise(
    "tail_between", args=3, kinds=FLOATS, lower=lambda ctx, low, high, x: x,
    jvp=(
        lambda g, y, low, high, x: ops.mul(g, _tail_slopes(y, low, high)[0]),
        lambda g, y, low, high, x: ops.mul(g, _tail_slopes(y, low, high)[1]),
        ZERO,
    ),
)  # fmt: skip


def _strictly_between(lower, upper, result):
    """The least and the largest number of a dtype between two bounds; the bounds where none is."""
    low, high = (astype(ops.stop_gradient(b), result) for b in (lower, upper))
    above, below = xnp.nextafter(low, np.inf), xnp.nextafter(high, -np.inf)
    none = above > below
    ends = xnp.where(none, low, above), xnp.where(none, high, below)
    return [astype(x, typeof(lower).dtype) for x in ends]


def _sample_truncated_normal(source, lower, upper, *, shape, dtype, regime):
    known, result = regime
    left, central = upper < -_CENTRE, (lower, upper)
    in_tail = left | (lower > _CENTRE)
    if (
        known != "centre"
    ):  # erf does not tell bounds in a tail apart: nothing may depend on it there
        central = xnp.where(in_tail, -1, lower), xnp.where(in_tail, 1, upper)
    root = dtype.type(np.sqrt(2))
    u = source.uniform(shape, dtype, *[ops.erf(b / root) for b in central])
    first, last = _strictly_between(lower, upper, result)
    x = xnp.clip(root * ops.erf_inv(u), first, last)
    if known == "centre":
        return x
    near = xnp.where(in_tail, xnp.where(left, -upper, lower), _CENTRE)
    far = xnp.where(in_tail, xnp.where(left, -lower, upper), np.inf)
    fixed = [ops.stop_gradient(b) for b in (near, far)]
    tail = fit(first_accepted(_normal_tail, source, fixed, shape, dtype), shape)
    least, most = (xnp.where(left, -b, a) for a, b in ((first, last), (last, first)))
    tail = tail_between(fit(near, shape), fit(far, shape), xnp.clip(tail, least, most))
    x = xnp.where(in_tail, xnp.where(left, -tail, tail), x)
    return xnp.where(lower <= upper, x, np.nan)


def _truncation_regime(lower, upper):
    return (
        "centre" if within(lower, -np.inf, _CENTRE) and within(upper, -_CENTRE, np.inf) else "any"
    )


_below_infinity = kind_of_parameter("less than infinity", lambda x: x == np.inf)
_above_minus = kind_of_parameter("greater than -infinity", lambda x: x == -np.inf)


@boundary
def truncated_normal(key, lower, upper, shape=None, dtype=None):
    """Standard normal random numbers, conditioned on lying between two bounds.

      f(x) = e^(-x²/2) / (√(2π) (Φ(b) - Φ(a)))

    for a ≤ x ≤ b, with the normal distribution function Φ.

    Differentiable in the bounds, at fixed probability.

    Args:
      key: a random key.
      lower, upper: bounds, which may be infinite; far in a tail they are respected too.
      shape: shape of the result; that of the bounds if not given.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> x = xc.random.truncated_normal(xc.random.key(0), 8.0, 9.0, (100,))
    >>> bool((x > 8).all() and (x < 8.9).all())
    True
    """
    both = _below_infinity("lower", lower), _above_minus("upper", upper)
    both = ordered("truncated_normal", *both)
    result = floating("truncated_normal", dtype, *[p.value for p in both])
    return draw(
        "truncated_normal", _sample_truncated_normal, key, shape, dtype, *both,
        regime=lambda lower, upper: (_truncation_regime(lower, upper), result),
    )  # fmt: skip


# Von Mises


def _wrapped_cauchy(first, second, kappa, ratio, excess):
    """The tangent of half an angle of the wrapped Cauchy distribution, accepted for e^(κ cos θ).

    Best and Fisher (1979), with their r - cos θ written as (r - 1) + 2 sin²(θ/2), so that
    concentrated distributions keep all digits.
    """
    dtype = typeof(kappa).dtype
    u, v = open_uniform(first, dtype), open_uniform(second, dtype)
    tangent = ratio * tan_pi(u - 0.5)
    square = tangent * tangent
    c = excess + 2 * kappa * (square / (1 + square))
    return proposal(tangent, ~(log(v) > log(c) + 1 - c))


def _wrapping(kappa):
    """(1 - ρ) / (1 + ρ), κ (r - 1) = (1 - ρ)² κ / (2ρ): ρ = 2κ / (τ + √(2τ)), τ = 1 + √(1 + 4κ²)."""
    root = xnp.sqrt(1 + 4 * kappa * kappa)
    tau = 1 + root
    span = tau + xnp.sqrt(2 * tau)
    one_minus_rho = (1 + 1 / (root + 2 * kappa) + xnp.sqrt(2 * tau)) / span
    return one_minus_rho / (1 + 2 * kappa / span), 0.25 * one_minus_rho * one_minus_rho * span


def _sample_von_mises(source, mu, kappa, *, shape, dtype):
    parameters = [kappa, *via_float64(_wrapping, kappa)]
    tangent = first_accepted(_wrapped_cauchy, source, parameters, shape, dtype)
    return _wrapped(2 * arctan(tangent) + mu)


def _wrapped(angle):
    """The angle in [-π, π)."""
    turn = 2 * math.pi
    return angle - turn * xnp.floor((angle + math.pi) / turn)


@boundary
def von_mises(key, mu, kappa, shape=None, dtype=None):
    """Random angles in [-π, π) with density proportional to e^(κ cos(x - μ)).

    Args:
      key: a random key.
      mu: the mean direction.
      kappa: the concentration, non-negative; 0 is uniform.
      shape: shape of the result; that of the parameters if not given.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.von_mises(xc.random.key(0), 0.0, 4.0, (3,)).shape
    (3,)
    """
    both = bound("mu", mu), finite("kappa", kappa)
    return draw("von_mises", _sample_von_mises, key, shape, dtype, *both)
