"""The error function and its kin, the normal distribution, Dawson's, Fresnel's, Owen's, Faddeeva's."""

from __future__ import annotations

import math

from .. import _ops as ops
from .. import numpy as xnp
from .._core import fused, typeof
from ..numpy._promote import as_arrays, astype
from . import _error_kernels as kernels
from . import _series_kernels as series
from ._public import apply, at_least_float32, complex_array


@fused(1)
def erf(x):
    """The error function 2/√π ∫₀ˣ e^(-t²) dt.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.erf(0.5)
    Array(0.52050, dtype=float32, weak_type=True)
    """
    return apply(kernels.erf, x)


@fused(1)
def erfc(x):
    """1 - erf(x), accurate also where that is tiny.

      2 / √π ∫ₓ^∞ e^(-t²) dt

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.erfc(5.0)
    Array(1.53745...e-12, dtype=float32, weak_type=True)
    """
    return apply(kernels.erfc, x)


@fused(1)
def erfcx(x):
    """e^(x²) erfc(x), which does not underflow.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.erfcx(100.0)
    Array(0.00564161, dtype=float32, weak_type=True)
    """
    return apply(kernels.erfcx, x)


@fused(1)
def erfi(x):
    """-i erf(ix) = 2/√π ∫₀ˣ e^(t²) dt.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.erfi(1.0)
    Array(1.6504, dtype=float32, weak_type=True)
    """
    return apply(kernels.erfi, x)


@fused(1)
def erfinv(y):
    """The number whose erf is y; NaN outside [-1, 1].

      y = 2 / √π ∫₀ˣ e^(-t²) dt

    Args:
      y: real array.

    >>> import xcore as xc
    >>> xc.special.erfinv(0.5)
    Array(0.47694, dtype=float32, weak_type=True)
    """
    return apply(kernels.erfinv, y)


@fused(1)
def erfcinv(y):
    """The x with erfc(x) = y; NaN outside [0, 2].

    Args:
      y: real array.

    >>> import xcore as xc
    >>> xc.special.erfcinv(1e-20)
    Array(6.60158, dtype=float32, weak_type=True)
    """
    return apply(kernels.erfcinv, y)


@fused(1)
def ndtr(x):
    """The normal distribution function Φ(x) = erfc(-x/√2)/2.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.ndtr(-3.0)
    Array(0.0013499, dtype=float32, weak_type=True)
    """
    return apply(kernels.ndtr, x)


@fused(1)
def log_ndtr(x, series_order=3):
    """log Φ(x), without underflow on the left and accurate on the right.

      Φ(x) = erfc(-x / √2) / 2

    Args:
      x: real array.
      series_order: ignored: the result is accurate to the last digits without it.

    >>> import xcore as xc
    >>> xc.special.log_ndtr(-40.0)
    Array(-804.61, dtype=float32, weak_type=True)
    """
    return apply(kernels.log_ndtr, x)


@fused(1)
def ndtri(p):
    """The quantile of the normal distribution: the x with Φ(x) = p.

    Args:
      p: real array of probabilities.

    >>> import xcore as xc
    >>> xc.special.ndtri(0.975)
    Array(1.9600, dtype=float32, weak_type=True)
    """
    return apply(kernels.ndtri, p)


@fused(1)
def dawsn(x):
    """Dawson's integral e^(-x²) ∫₀ˣ e^(t²) dt.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.dawsn(1.0)
    Array(0.53808, dtype=float32, weak_type=True)
    """
    return apply(kernels.dawsn, x)


@fused(1)
def fresnel(z):
    """Fresnel's integrals (S, C) = (∫₀ᶻ sin(πt²/2) dt, ∫₀ᶻ cos(πt²/2) dt).

    Args:
      z: real array.

    >>> import xcore as xc
    >>> xc.special.fresnel(1.0)
    (Array(0.43826, dtype=float32, weak_type=True), Array(0.77989, dtype=float32, weak_type=True))
    """
    return apply(lambda x: (kernels.fresnel_s(x), kernels.fresnel_c(x)), z, who="special.fresnel")


@fused(2)
def owens_t(h, a):
    """Owen's T function 1/(2π) ∫₀ᵃ exp(-h²(1 + x²)/2)/(1 + x²) dx.

    Args:
      h, a: real arrays.

    >>> import xcore as xc
    >>> xc.special.owens_t(0.5, 1.0)
    Array(0.10667, dtype=float32, weak_type=True)
    """
    return apply(series.owens_t, h, a)


@fused(1)
def wofz(z):
    """Faddeeva's function e^(-z²) erfc(-iz).

    Args:
      z: complex (or real) array.

    >>> import xcore as xc
    >>> xc.special.wofz(1.0 + 1.0j)
    Array(0.30474+0.20822j, dtype=complex64)
    """
    return series.wofz(complex_array("special.wofz", z))


@fused(3)
def voigt_profile(x, sigma, gamma):
    """The convolution of a normal density of width σ with Cauchy's of half width γ, at x.

      V(x) = ∫ e^(-t²/(2σ²)) / (σ √(2π)) γ / (π ((x - t)² + γ²)) dt

    Args:
      x: real array.
      sigma: standard deviation of the normal density, positive.
      gamma: half width at half maximum of Cauchy's density, not negative.

    >>> import xcore as xc
    >>> xc.special.voigt_profile(1.0, 1.0, 0.5)
    Array(0.20018, dtype=float32)
    """
    x, sigma, gamma = as_arrays(
        "special.voigt_profile", x, sigma, gamma, inexact=True, kinds=("float",)
    )
    dtype = typeof(x).dtype
    x, sigma, gamma = (at_least_float32(v) for v in (x, sigma, gamma))
    width = xnp.where(sigma == 0, 1, sigma) * 2**0.5
    scaled = ops.complex(x / width, gamma / width)
    profile = ops.real(series.wofz(scaled)) / (width * math.sqrt(math.pi))
    none = (x == 0) & (gamma == 0)
    sharp = xnp.where(none, math.inf, gamma / (math.pi * xnp.where(none, 1, x * x + gamma * gamma)))
    return astype(xnp.where(sigma == 0, sharp, profile), dtype)
