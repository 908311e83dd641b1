"""The gamma distribution and those made of it: beta, Dirichlet, chi-square, Student's t, F.

Their derivatives with respect to the parameters are those of the samples at fixed probability
(implicit reparameterisation, Figurnov, Mohamed, Mnih, 2018): of a gamma variate x with shape a,
dx/da = -(∂F/∂a) / (∂F/∂x) with the distribution function F; all others follow by the chain rule.
"""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import boundary, dtypes, errors, typeof
from .._ops.families import FLOATS, ZERO, elementwise
from ..numpy._promote import astype, check_shape
from ._elementary import exp, log
from ._from_bits import fine_normal, open_uniform
from ._rejection import first_accepted, proposal
from ._source import draw, fit, nonnegative, positive, positive_finite, within

# The derivative of a sample


def _log_slope(a, log_x):
    """d log x / da of a gamma variate at fixed probability.

    With the density p of shape a, ∂F/∂a is the integral of p(t) (log t - ψ(a)) over t < x, and
    minus that over t > x, because the whole vanishes. Substituting t = x e^∓s leaves, for x < a and
    x > a, integrals over s > 0 of e^-h(s) (log x ∓ s - ψ(a)) with a convex h, which Gauss's rule on
    the interval where h < 40 gets right to full precision. Small x, for which the interval of the
    first is long, are left to the power series of F.
    """
    x = xnp.exp(log_x)
    small = x < 2
    safe = xnp.where(small, 2, x), xnp.where(small, np.log(2), log_x)
    return xnp.where(
        small, _series_slope(a, xnp.where(small, x, 1), log_x), _integral_slope(a, *safe)
    )


def _series_slope(a, x, log_x):
    # F = x^a e^-x / Γ(a+1) · S with S = Σ xⁿ / ((a+1)…(a+n)); S_a is its derivative
    term, harmonic, total, total_a = 1.0, 0.0, 1.0, 0.0
    for n in range(1, 28):
        term = term * x / (a + n)
        harmonic = harmonic + 1 / (a + n)
        total = total + term
        total_a = total_a - term * harmonic
    return (total * (ops.digamma(a + 1) - log_x) - total_a) / a


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_REACH = 40.0  # e^-40 is nothing beside 1


def _integral_slope(a, x, log_x):
    below = x <= a
    sign = xnp.where(below, -1.0, 1.0)
    length = ops.stop_gradient(_reach(a, x, sign))
    s = length[..., None] * (_NODES + 1) / 2
    a, x, sign = a[..., None], x[..., None], sign[..., None]
    h = x * xnp.expm1(sign * s) - sign * a * s
    score = log_x[..., None] + sign * s - ops.digamma(a)
    return (sign * xnp.exp(-h) * score * _WEIGHTS).sum(axis=-1) * length / 2


def _reach(a, x, sign):
    """Where h reaches 40: from its second-order Taylor polynomial at 0, and a few fixed-point or Newton steps."""
    slope = xnp.abs(x - a)
    length = 2 * _REACH / (slope + xnp.sqrt(slope * slope + 2 * _REACH * x))
    for _ in range(4):
        # right: h > x(e^s - 1) - as, a bound that contracts; left: Newton's method, h being convex
        right = xnp.minimum(length, xnp.log1p((_REACH + a * length) / x))
        rest = _REACH - (a * length + x * xnp.expm1(-length))
        left = length + rest / (a - x * xnp.exp(-length))
        length = xnp.where(sign > 0, right, left)
    return length


def _in_double(f):
    """A function of floats, computed in float64 and rounded once: its terms cancel."""

    def wide(*xs):
        return astype(f(*[astype(x, dtypes.float64) for x in xs]), typeof(xs[0]).dtype)

    return wide


def _slope(a, x):
    # where x has vanished (shapes near 0) so has its derivative
    positive = x > 0
    return xnp.where(positive, x * _log_slope(a, xnp.log(xnp.where(positive, x, 1.0))), 0.0)


def _as_function_of(name: str, slope):
    """The operation (a, sample) -> sample whose derivative by a is the sample's at fixed probability."""
    rule = _in_double(slope)
    return elementwise(
        name, args=2, kinds=FLOATS, lower=lambda ctx, a, x: x,
        jvp=(lambda g, y, a, x: ops.mul(g, rule(a, y)), ZERO),
    )  # fmt: skip


gamma_of_shape = _as_function_of("gamma_of_shape", _slope)
log_gamma_of_shape = _as_function_of("log_gamma_of_shape", _log_slope)

# The sampler


def _marsaglia_tsang(first, second, d, c):
    """A gamma variate of shape d + 1/3, divided by d: the cube of 1 + cx with a normal x.

    Marsaglia and Tsang, A simple method for generating gamma variables (2000). At least 95 of 100
    attempts are accepted for shapes from 1 on.
    """
    dtype = typeof(d).dtype
    x, u = fine_normal(first, dtype), open_uniform(second, dtype)
    root = 1 + c * x
    v = root * root * root
    limit = 0.5 * x * x + d * (1 - v + log(xnp.maximum(v, 0)))
    return proposal(v, ~((v <= 0) | (log(u) > limit)))


def _gamma_parts(source, a, shape, dtype, regime):
    """(d, v, log of the factor for shapes below 1): the variate is d v e^factor."""
    boosted = a < 1
    d = (xnp.where(boosted, a + 1, a) if regime != "from 1" else a) - 1 / 3
    c = 1 / xnp.sqrt(9 * d)
    if regime == "from 1":
        return d, first_accepted(_marsaglia_tsang, source, [d, c], shape, dtype), None
    v = first_accepted(_marsaglia_tsang, source, [d, c], shape, dtype)
    u = open_uniform(source.bits(shape, 8 * dtype.itemsize), dtype)
    return d, v, xnp.where(boosted, log(u) / a, 0)


def sample_gamma(source, a, *, shape, dtype, regime=None):
    a, fixed = fit(a, shape), ops.stop_gradient(a)
    d, v, factor = _gamma_parts(source, fixed, shape, dtype, regime)
    x = d * v if factor is None else d * v * exp(factor)
    return gamma_of_shape(a, fit(x, shape))


def sample_log_gamma(source, a, *, shape, dtype, regime=None):
    a, fixed = fit(a, shape), ops.stop_gradient(a)
    d, v, factor = _gamma_parts(source, fixed, shape, dtype, regime)
    log_x = log(d) + log(v)
    return log_gamma_of_shape(a, fit(log_x if factor is None else log_x + factor, shape))


def _shape_regime(a):
    return "from 1" if within(a, 1, np.inf) else "any"


@boundary
def gamma(key, a, shape=None, dtype=None):
    """Gamma random numbers with density x^(a-1) e^-x / Γ(a): mean a, variance a.

    Differentiable in a, by implicit reparameterisation.

    Args:
      key: a random key.
      a: shape parameter, non-negative.
      shape: shape of the result; that of the parameters if not given.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.gamma(xc.random.key(0), 2.0, (3,)).shape
    (3,)
    """
    return draw("gamma", sample_gamma, key, shape, dtype, nonnegative("a", a), regime=_shape_regime)


@boundary
def loggamma(key, a, shape=None, dtype=None):
    """The logarithm of gamma random numbers: exact where these vanish, as they do for small a.

    Args:
      key, a, shape, dtype: as for ``gamma``.

    >>> import xcore as xc
    >>> bool(xc.random.loggamma(xc.random.key(0), 1e-6) < -1000)
    True
    """
    return draw(
        "loggamma", sample_log_gamma, key, shape, dtype, nonnegative("a", a), regime=_shape_regime
    )


# Made of gammas


def _sample_beta(source, a, b, *, shape, dtype, regime):
    # the larger of two logarithms taken away, one of the parts is 1 and none is 0/0
    first, second = source.split(2)
    log_x = sample_log_gamma(first, a, shape=shape, dtype=dtype, regime=regime)
    log_y = sample_log_gamma(second, b, shape=shape, dtype=dtype, regime=regime)
    return ops.logistic(log_x - log_y)


@boundary
def beta(key, a, b, shape=None, dtype=None):
    """Beta random numbers with density proportional to x^(a-1) (1-x)^(b-1) on (0, 1).

    Differentiable in a and b.

    Args:
      key: a random key.
      a, b: shape parameters, positive.
      shape: shape of the result; that of the parameters if not given.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.beta(xc.random.key(0), 2.0, 3.0, (3,)).shape
    (3,)
    """
    return draw(
        "beta",
        _sample_beta,
        key,
        shape,
        dtype,
        positive("a", a),
        positive("b", b),
        regime=_both_shapes,
    )


def _both_shapes(a, b):
    return "from 1" if within(a, 1, np.inf) and within(b, 1, np.inf) else "any"


def _sample_dirichlet(source, alpha, *, shape, dtype, regime):
    logs = sample_log_gamma(source, alpha, shape=shape, dtype=dtype, regime=regime)
    parts = exp(logs - ops.stop_gradient(logs.max(axis=-1, keepdims=True)))
    return parts / parts.sum(axis=-1, keepdims=True)


@boundary
def dirichlet(key, alpha, shape=None, dtype=None):
    """Dirichlet random vectors: positive, with sum 1, density proportional to ∏ xᵢ^(αᵢ-1).

    Differentiable in alpha.

    Args:
      key: a random key.
      alpha: positive concentrations along the last axis.
      shape: shape of the result without that axis; that of the other axes of alpha if not given.
      dtype: floating dtype.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> x = xc.random.dirichlet(xc.random.key(0), xnp.ones(3), (5,))
    >>> x.shape
    (5, 3)
    """
    alpha = positive_finite("alpha", alpha)
    sizes = typeof(alpha.check("dirichlet")).shape
    if not sizes:
        raise errors.bad_argument(
            "random.dirichlet", "alpha", alpha.value, "at least one-dimensional"
        )
    full = None if shape is None else (*check_shape("random.dirichlet", shape), sizes[-1])
    return draw("dirichlet", _sample_dirichlet, key, full, dtype, alpha, regime=_shape_regime)


def _sample_chisquare(source, df, *, shape, dtype, regime):
    return 2 * sample_gamma(source, 0.5 * df, shape=shape, dtype=dtype, regime=regime)


def _half_regime(*freedoms):
    return "from 1" if all(within(df, 2, np.inf) for df in freedoms) else "any"


@boundary
def chisquare(key, df, shape=None, dtype=None):
    """Chi-square random numbers: sums of df squares of standard normal ones.

      f(x) = x^(ν/2 - 1) e^(-x/2) / (2^(ν/2) Γ(ν/2))

    for x > 0, with ν the ``df``.

    Args:
      key: a random key.
      df: degrees of freedom, positive, not necessarily whole.
      shape: shape of the result; that of df if not given.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.chisquare(xc.random.key(0), 4.0, (3,)).shape
    (3,)
    """
    return draw(
        "chisquare", _sample_chisquare, key, shape, dtype, positive("df", df), regime=_half_regime
    )


def _sample_t(source, df, *, shape, dtype, regime):
    for_normal, for_gamma = source.split(2)
    # in logarithms: for few degrees of freedom the gamma variate is often too small for a float
    log_g = sample_log_gamma(for_gamma, 0.5 * df, shape=shape, dtype=dtype, regime=regime)
    return for_normal.normal(shape, dtype) * exp(0.5 * (log(0.5 * df) - log_g))


@boundary
def t(key, df, shape=None, dtype=None):
    """Random numbers of Student's t distribution.

      f(x) = Γ((ν + 1)/2) / (√(π ν) Γ(ν/2)) (1 + x²/ν)^(-(ν + 1)/2)

    with ν the ``df``.

    Differentiable in df.

    Args:
      key: a random key.
      df: degrees of freedom, positive.
      shape: shape of the result; that of df if not given.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.t(xc.random.key(0), 3.0, (3,)).shape
    (3,)
    """
    return draw("t", _sample_t, key, shape, dtype, positive_finite("df", df), regime=_half_regime)


def _sample_f(source, dfnum, dfden, *, shape, dtype, regime):
    one, two = source.split(2)
    log_x = sample_log_gamma(one, 0.5 * dfnum, shape=shape, dtype=dtype, regime=regime)
    log_y = sample_log_gamma(two, 0.5 * dfden, shape=shape, dtype=dtype, regime=regime)
    return dfden / dfnum * exp(log_x - log_y)


@boundary
def f(key, dfnum, dfden, shape=None, dtype=None):
    """Random numbers of the F distribution: the quotient of two chi-square means.

      f(x) = (m/n)^(m/2) x^(m/2 - 1) / (B(m/2, n/2) (1 + m x/n)^((m + n)/2))

    for x > 0, with m the ``dfnum`` and n the ``dfden``.

    Args:
      key: a random key.
      dfnum, dfden: degrees of freedom of numerator and denominator, positive.
      shape: shape of the result; that of the parameters if not given.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.f(xc.random.key(0), 3.0, 8.0, (3,)).shape
    (3,)
    """
    both = positive_finite("dfnum", dfnum), positive_finite("dfden", dfden)
    return draw("f", _sample_f, key, shape, dtype, *both, regime=_half_regime)
