"""The gamma and beta functions, their quotients, integrals, inverses and derivatives, and zeta."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from .. import numpy as xnp
from .._core import dtypes, errors, fused, typeof
from ..numpy._promote import as_array
from . import _gamma_kernels as kernels
from . import _incomplete_inverses as inverses
from . import _incomplete_kernels as incomplete
from . import _product_kernels as products
from ._public import apply, compute


@fused(1)
def gamma(x):
    """The gamma function Γ(x) = ∫₀^∞ t^(x-1) e^-t dt. NaN at negative whole numbers, ±∞ at ±0.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.gamma(5.0)
    Array(24., dtype=float32, weak_type=True)
    """
    return apply(kernels.gamma, x)


@fused(1)
def gammaln(x):
    """log |Γ(x)|. Its derivative is digamma.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.gammaln(100.0)
    Array(359.13, dtype=float32, weak_type=True)
    """
    return apply(kernels.gammaln, x)


@fused(1)
def gammasgn(x):
    """The sign of Γ(x): ±1, NaN at negative whole numbers, and that of x at ±0.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.gammasgn(-0.5)
    Array(-1., dtype=float32, weak_type=True)
    """
    return apply(kernels.gamma_sign, x)


@fused(1)
def rgamma(x):
    """1/Γ(x), finite everywhere.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.rgamma(-2.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return apply(kernels.rgamma, x)


@fused(1)
def digamma(x):
    """The logarithmic derivative ψ(x) = Γ'(x)/Γ(x).

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.digamma(1.0)
    Array(-0.57722, dtype=float32, weak_type=True)
    """
    return apply(kernels.digamma, x)


@fused(2)
def polygamma(n, x):
    """The n-th derivative of digamma at x; NaN unless n is a whole number, 0 or more.

      ψₙ(x) = (-1)^(n + 1) n! Σ 1 / (x + k)^(n + 1)

    over k = 0, 1, 2, …, for n ≥ 1.

    Args:
      n: order, not differentiated.
      x: real array.

    >>> import xcore as xc
    >>> xc.special.polygamma(1, 1.0)
    Array(1.6449, dtype=float32, weak_type=True)
    """
    return apply(kernels.polygamma, n, x)


@fused(2)
def beta(a, b):
    """The beta function Γ(a) Γ(b)/Γ(a + b).

    Args:
      a, b: real arrays.

    >>> import xcore as xc
    >>> xc.special.beta(2.0, 3.0)
    Array(0.083333, dtype=float32, weak_type=True)
    """
    return apply(kernels.beta, a, b)


@fused(2)
def betaln(a, b):
    """log |B(a, b)|, without cancellation where an argument is large.

    Args:
      a, b: real arrays.

    >>> import xcore as xc
    >>> xc.special.betaln(1e6, 0.5)
    Array(-6.33539, dtype=float32, weak_type=True)
    """
    return apply(kernels.betaln, a, b)


@fused(2)
def poch(z, m):
    """The rising factorial Γ(z + m)/Γ(z), with its limits where both are poles.

    Args:
      z, m: real arrays.

    >>> import xcore as xc
    >>> xc.special.poch(2.5, 3.0)
    Array(39.375, dtype=float32, weak_type=True)
    """
    return apply(products.poch, z, m)


@fused(2)
def binom(x, y):
    """The binomial coefficient Γ(x + 1)/(Γ(y + 1) Γ(x - y + 1)) of real numbers.

    Args:
      x, y: real arrays.

    >>> import xcore as xc
    >>> xc.special.binom(6.0, 3.0)
    Array(20., dtype=float32, weak_type=True)
    """
    return apply(products.binom, x, y)


@fused(2)
def gammainc(a, x):
    """The lower incomplete gamma function P(a, x) = ∫₀ˣ t^(a-1) e^-t dt/Γ(a).

    Args:
      a, x: real arrays, not negative.

    >>> import xcore as xc
    >>> xc.special.gammainc(2.0, 1.0)
    Array(0.26424, dtype=float32, weak_type=True)
    """
    return apply(incomplete.gammainc, a, x)


@fused(2)
def gammaincc(a, x):
    """The upper incomplete gamma function 1 - P(a, x), accurate also where it is tiny.

      Q(a, x) = 1/Γ(a) ∫ₓ^∞ t^(a - 1) e^(-t) dt

    Args:
      a, x: real arrays, not negative.

    >>> import xcore as xc
    >>> xc.special.gammaincc(2.0, 30.0)
    Array(2.9008631e-12, dtype=float32, weak_type=True)
    """
    return apply(incomplete.gammaincc, a, x)


@fused(2)
def gammaincinv(a, y):
    """The x with gammainc(a, x) = y.

      y = 1/Γ(a) ∫₀ˣ t^(a - 1) e^(-t) dt

    Args:
      a: real array, positive.
      y: real array in [0, 1].

    >>> import xcore as xc
    >>> xc.special.gammaincinv(2.0, 0.5)
    Array(1.6783, dtype=float32, weak_type=True)
    """
    return apply(inverses.gammaincinv, a, y)


@fused(2)
def gammainccinv(a, y):
    """The x with gammaincc(a, x) = y.

      y = 1/Γ(a) ∫ₓ^∞ t^(a - 1) e^(-t) dt

    Args:
      a: real array, positive.
      y: real array in [0, 1].

    >>> import xcore as xc
    >>> xc.special.gammainccinv(2.0, 1e-20)
    Array(49.983, dtype=float32, weak_type=True)
    """
    return apply(inverses.gammainccinv, a, y)


@fused(3)
def betainc(a, b, x):
    """The incomplete beta function ∫₀ˣ t^(a-1) (1-t)^(b-1) dt/B(a, b).

    Args:
      a, b: real arrays, positive.
      x: real array in [0, 1].

    >>> import xcore as xc
    >>> xc.special.betainc(2.0, 3.0, 0.5)
    Array(0.6875, dtype=float32, weak_type=True)
    """
    return apply(incomplete.betainc, a, b, x)


@fused(3)
def betaincc(a, b, x):
    """1 - betainc(a, b, x), accurate also where it is tiny.

      1/B(a, b) ∫ₓ¹ t^(a - 1) (1 - t)^(b - 1) dt

    Args:
      a, b: real arrays, positive.
      x: real array in [0, 1].

    >>> import xcore as xc
    >>> xc.special.betaincc(2.0, 3.0, 0.5)
    Array(0.3125, dtype=float32, weak_type=True)
    """
    return apply(incomplete.betaincc, a, b, x)


@fused(3)
def betaincinv(a, b, y):
    """The x with betainc(a, b, x) = y.

      y = 1/B(a, b) ∫₀ˣ t^(a - 1) (1 - t)^(b - 1) dt

    Args:
      a, b: real arrays, positive.
      y: real array in [0, 1].

    >>> import xcore as xc
    >>> xc.special.betaincinv(2.0, 3.0, 0.5)
    Array(0.38573, dtype=float32, weak_type=True)
    """
    return apply(inverses.betaincinv, a, b, y)


@fused(3)
def betainccinv(a, b, y):
    """The x with betaincc(a, b, x) = y.

      y = 1/B(a, b) ∫ₓ¹ t^(a - 1) (1 - t)^(b - 1) dt

    Args:
      a, b: real arrays, positive.
      y: real array in [0, 1].

    >>> import xcore as xc
    >>> xc.special.betainccinv(2.0, 3.0, 0.25)
    Array(0.54368, dtype=float32, weak_type=True)
    """
    return apply(inverses.betainccinv, a, b, y)


psi = digamma


@fused(1)
def loggamma(z):
    """The logarithm of Γ(z) that is analytic in the plane cut along the negative axis.

    Args:
      z: real or complex array; real negative numbers, which lie on the cut, give NaN.

    >>> import xcore as xc
    >>> xc.special.loggamma(1.0 + 2.0j)
    Array(-1.8761+0.12965j, dtype=complex64, weak_type=True)
    """
    z = as_array("special.loggamma", z)
    if dtypes.is_complex(typeof(z).dtype):
        return kernels.complex_log_gamma(z)
    return compute(
        lambda x: xnp.where(x < 0, math.nan, kernels.gammaln(x)), z, who="special.loggamma"
    )


@fused(1)
def multigammaln(a, d):
    """log of the multivariate gamma function: d(d-1)/4 log π + Σ log Γ(a - j/2), j = 0, …, d - 1.

    Args:
      a: real array, larger than (d - 1)/2; NaN elsewhere.
      d: dimension, a Python int.

    >>> import xcore as xc
    >>> xc.special.multigammaln(3.0, 2)
    Array(1.5502, dtype=float32, weak_type=True)
    """
    d = _count("multigammaln", "d", d, 1)

    def f(a):
        t = typeof(a)
        terms = kernels.gammaln(a[..., None] - (np.arange(d) / 2).astype(t.dtype))
        total = xnp.sum(terms, -1) + d * (d - 1) / 4 * math.log(math.pi)
        return xnp.where(a > (d - 1) / 2, total, math.nan)

    return compute(f, a, who="special.multigammaln")


def _count(who: str, name: str, value, least: int) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
        raise errors.bad_argument(
            f"special.{who}", name, value, f"a Python int, {least} or more", "It sets a shape."
        )
    return value.__index__()


def zeta(x, q=None):
    """Hurwitz's zeta function Σ (k + q)^-x over k = 0, 1, …; Riemann's without q.

    Args:
      x: exponent, real array; NaN below 1 if q is given.
      q: real array; for negative ones x must be whole.

    >>> import xcore as xc
    >>> xc.special.zeta(2.0, 1.0)
    Array(1.6449, dtype=float32, weak_type=True)
    """
    return _riemann(x) if q is None else _hurwitz(x, q)


@fused(1)
def _riemann(x):
    return apply(kernels.riemann, x, who="special.zeta")


@fused(2)
def _hurwitz(x, q):
    return apply(kernels.zeta, x, q)


@fused(1)
def factorial(n, exact=False):
    """n! = Γ(n + 1) as a float; 0 for negative n.

    Args:
      n: real array.
      exact: False; whole results below 2^53 are exact anyway in float64.

    >>> import xcore as xc
    >>> xc.special.factorial(5)
    Array(120., dtype=float32, weak_type=True)
    """
    _refuse_exact("factorial", exact)
    return compute(lambda x: _from(x >= 0, kernels.factorial, x), n, who="special.factorial")


def _refuse_exact(who: str, exact) -> None:
    if exact:
        raise errors.bad_argument(
            f"special.{who}",
            "exact",
            exact,
            "False: arrays have no integers of any length",
            "Use Python's math module for exact results.",
        )


def _from(valid, f, *xs):
    """f where its arguments are valid, else 0."""
    safe = [xnp.where(valid, x, xnp.ones_like(x)) for x in xs]
    nan = sum(xs) != sum(xs)
    return xnp.where(valid, f(*safe), xnp.where(nan, math.nan, 0))


@fused(2)
def comb(N, k, exact=False, repetition=False):
    """The number of ways to choose k of N things, as a float; 0 where k > N or either is negative.

    Args:
      N, k: real arrays.
      exact: False; whole results below 10^15 are exact anyway in float64.
      repetition: whether a thing may be chosen again.

    >>> import xcore as xc
    >>> xc.special.comb(5, 2)
    Array(10., dtype=float32, weak_type=True)
    """
    _refuse_exact("comb", exact)
    return compute(lambda n, k: _comb(n, k, repetition), N, k, who="special.comb")


def _comb(n, k, repetition):
    if repetition:
        none = xnp.logical_and(n == 0, k == 0)
        return xnp.where(none, xnp.ones_like(n), _comb(n + k - 1, k, False))
    valid = xnp.logical_and(xnp.logical_and(n >= 0, k >= 0), k <= n)
    return _from(valid, products.binom, n, k)


@fused(2)
def perm(N, k, exact=False):
    """N!/(N - k)!, the number of arrangements of k of N things, as a float.

    Args:
      N, k: real arrays; 0 where k > N or either is negative.
      exact: False.

    >>> import xcore as xc
    >>> xc.special.perm(5, 2)
    Array(20., dtype=float32, weak_type=True)
    """
    _refuse_exact("perm", exact)

    def f(n, k):
        valid = xnp.logical_and(xnp.logical_and(n >= 0, k >= 0), k <= n)
        return _from(valid, lambda n, k: products.poch(n - k + 1, k), n, k)

    return compute(f, N, k, who="special.perm")


def bernoulli(n):
    """The Bernoulli numbers B₀, …, Bₙ, with B₁ = -1/2.

    Args:
      n: Python int, 0 or more.

    >>> import xcore as xc
    >>> xc.special.bernoulli(4)
    Array([ 1.        , -0.5       ,  0.16666667,  0.        , -0.03333334],
          dtype=float32)
    """
    n = _count("bernoulli", "n", n, 0)
    return xnp.asarray(_bernoulli_numbers(n)[: n + 1], dtypes.default_dtype("float"))


def _bernoulli_numbers(n: int) -> list[float]:
    """From tangent numbers, whole and exact: B_2k = (-1)^(k-1) 2k T_k/(4^k (4^k - 1))."""
    count = min(n // 2, _LARGEST_BERNOULLI)
    tangents = [0, 1]
    for k in range(2, count + 1):
        tangents.append((k - 1) * tangents[-1])
    for k in range(2, count + 1):
        for j in range(k, count + 1):
            tangents[j] = (j - k) * tangents[j - 1] + (j - k + 2) * tangents[j]
    out = [1.0, -0.5]
    for k in range(1, n // 2 + 1):
        sign = (-1) ** (k - 1)
        small = k <= _LARGEST_BERNOULLI
        out.append(
            float(Fraction(sign * 2 * k * tangents[k], 4**k * (4**k - 1)))
            if small
            else sign * math.inf
        )
        out.append(0.0)
    return out


_LARGEST_BERNOULLI = 129  # B_260 overflows
