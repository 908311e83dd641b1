"""Exponential, sine and cosine integrals, the dilogarithm, elliptic integrals, Lambert's W."""

from __future__ import annotations

import numpy as np

from .._core import dtypes, errors, fused, typeof
from ..numpy._promote import as_array, as_arrays, astype
from . import _integral_kernels as kernels
from ._public import apply, complex_array


@fused(1)
def exp1(x):
    """The exponential integral E₁(x) = ∫ₓ^∞ e^-t/t dt for x > 0; NaN for x < 0.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.exp1(1.0)
    Array(0.21938, dtype=float32, weak_type=True)
    """
    return apply(kernels.exp1, x)


@fused(1)
def expi(x):
    """The exponential integral Ei(x), the principal value of ∫ e^t/t dt from -∞ to x.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.expi(1.0)
    Array(1.8951, dtype=float32, weak_type=True)
    """
    return apply(kernels.expi, x)


@fused(2)
def expn(n, x):
    """The exponential integral E_n(x) = ∫₁^∞ e^(-xt)/t^n dt.

    Args:
      n: order, a whole number, 0 or more; not differentiated.
      x: real array, not negative.

    >>> import xcore as xc
    >>> xc.special.expn(2, 1.0)
    Array(0.14850, dtype=float32, weak_type=True)
    """
    return apply(kernels.expn, n, x)


@fused(1)
def spence(z):
    """The dilogarithm ∫₁ᶻ log(t)/(1 - t) dt = Li₂(1 - z).

    Args:
      z: real array, not negative.

    >>> import xcore as xc
    >>> xc.special.spence(0.5)
    Array(0.58224, dtype=float32, weak_type=True)
    """
    return apply(kernels.spence, z)


@fused(1)
def ellipk(m):
    """The complete elliptic integral of the first kind ∫ (1 - m sin²t)^(-1/2) dt over [0, π/2].

    Args:
      m: parameter, 1 or less.

    >>> import xcore as xc
    >>> xc.special.ellipk(0.5)
    Array(1.8541, dtype=float32, weak_type=True)
    """
    return apply(kernels.ellipk, m)


@fused(1)
def ellipkm1(p):
    """ellipk(1 - p), accurate for p near 0.

      K(1 - p) = ∫₀^(π/2) 1 / √(1 - (1 - p) sin² θ) dθ

    Args:
      p: real array, not negative.

    >>> import xcore as xc
    >>> xc.special.ellipkm1(1e-10)
    Array(12.899, dtype=float32, weak_type=True)
    """
    return apply(kernels.ellipkm1, p)


@fused(1)
def ellipe(m):
    """The complete elliptic integral of the second kind ∫ (1 - m sin²t)^(1/2) dt over [0, π/2].

    Args:
      m: parameter, 1 or less.

    >>> import xcore as xc
    >>> xc.special.ellipe(0.5)
    Array(1.3506, dtype=float32, weak_type=True)
    """
    return apply(kernels.ellipe, m)


@fused(1)
def sici(x):
    """The sine and cosine integrals (∫₀ˣ sin(t)/t dt, γ + log |x| + ∫₀ˣ (cos(t) - 1)/t dt).

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.sici(1.0)
    (Array(0.94608, dtype=float32, weak_type=True), Array(0.33740, dtype=float32, weak_type=True))
    """
    return apply(lambda x: (kernels.si(x), kernels.ci(x)), x, who="special.sici")


def lambertw(z, k=0):
    """Lambert's W function, the w with w e^w = z, on branch k.

    The result is real where z is real and k the Python int 0 or -1: NaN where that branch is not
    real, as 0 is below -1/e and -1 is outside [-1/e, 0). Otherwise it is complex, of the precision
    of z: pass ``z + 0j`` for complex values of these branches at real arguments.

    Args:
      z: real or complex array.
      k: branch, a Python int or an integer array, which is broadcast with z. Not differentiated.

    >>> import xcore as xc
    >>> xc.special.lambertw(1.0)
    Array(0.56714, dtype=float32, weak_type=True)
    >>> xc.special.lambertw(-1.0 + 0j)
    Array(-0.31813+1.3372j, dtype=complex64)
    """
    if not isinstance(k, (int, np.integer)):
        return _complex_lambertw(z, _branches(k))
    z = as_array("special.lambertw", z)
    if k in (0, -1) and not dtypes.is_complex(typeof(z).dtype):
        return _real_lambertw(z, int(k))
    return _complex_lambertw(z, np.int64(k))


def _branches(k):
    array = as_array("special.lambertw", k)
    if dtypes.kind(typeof(array).dtype) not in ("int", "uint"):
        raise errors.bad_argument(
            "special.lambertw", "k", k, "an int or an integer array", "It numbers a branch."
        )
    return array


@fused(1)
def _real_lambertw(z, k):
    return apply(kernels.lambertw_1 if k else kernels.lambertw_0, z, who="special.lambertw")


@fused(2)
def _complex_lambertw(z, k):
    z = complex_array("special.lambertw", z)
    k = astype(as_array("special.lambertw", k), typeof(z).dtype)
    return kernels.lambertw(*as_arrays("special.lambertw", k, z))
