"""Bessel functions of whole order."""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .._core import errors, fused
from . import _bessel_kernels as kernels
from ._public import apply, compute


@fused(1)
def j0(x):
    """The Bessel function of the first kind, order 0.

      J₀(x) = 1/π ∫₀^π cos(x sin θ) dθ

    It solves x² y'' + x y' + x² y = 0 and is 1 at 0.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.j0(1.0)
    Array(0.76520, dtype=float32, weak_type=True)
    """
    return apply(kernels.j0, x)


@fused(1)
def j1(x):
    """The Bessel function of the first kind, order 1.

      J₁(x) = 1/π ∫₀^π cos(θ - x sin θ) dθ

    It solves x² y'' + x y' + (x² - 1) y = 0 and is 0 at 0.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.j1(1.0)
    Array(0.44005, dtype=float32, weak_type=True)
    """
    return apply(kernels.j1, x)


@fused(1)
def y0(x):
    """The Bessel function of the second kind, order 0; NaN for x < 0.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.y0(1.0)
    Array(0.088257, dtype=float32, weak_type=True)
    """
    return apply(kernels.y0, x)


@fused(1)
def y1(x):
    """The Bessel function of the second kind, order 1; NaN for x < 0.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.y1(1.0)
    Array(-0.78121, dtype=float32, weak_type=True)
    """
    return apply(kernels.y1, x)


@fused(1)
def i0(x):
    """The modified Bessel function of the first kind, order 0.

      I₀(x) = 1/π ∫₀^π e^(x cos θ) dθ

    It solves x² y'' + x y' - x² y = 0 and is 1 at 0.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.i0(1.0)
    Array(1.2661, dtype=float32, weak_type=True)
    """
    return apply(kernels.i0, x)


@fused(1)
def i1(x):
    """The modified Bessel function of the first kind, order 1.

      I₁(x) = 1/π ∫₀^π e^(x cos θ) cos θ dθ

    It solves x² y'' + x y' - (x² + 1) y = 0 and is 0 at 0.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.i1(1.0)
    Array(0.56516, dtype=float32, weak_type=True)
    """
    return apply(kernels.i1, x)


@fused(1)
def i0e(x):
    """e^-|x| i0(x), which does not overflow.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.i0e(1000.0)
    Array(0.012617, dtype=float32, weak_type=True)
    """
    return apply(kernels.i0e, x)


@fused(1)
def i1e(x):
    """e^-|x| i1(x), which does not overflow.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.i1e(1000.0)
    Array(0.012611, dtype=float32, weak_type=True)
    """
    return apply(kernels.i1e, x)


@fused(1)
def k0(x):
    """The modified Bessel function of the second kind, order 0; NaN for x < 0.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.k0(1.0)
    Array(0.42102, dtype=float32, weak_type=True)
    """
    return apply(kernels.k0, x)


@fused(1)
def k1(x):
    """The modified Bessel function of the second kind, order 1; NaN for x < 0.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.k1(1.0)
    Array(0.60191, dtype=float32, weak_type=True)
    """
    return apply(kernels.k1, x)


@fused(1)
def k0e(x):
    """e^x k0(x), which does not underflow.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.k0e(1000.0)
    Array(0.039628, dtype=float32, weak_type=True)
    """
    return apply(kernels.k0e, x)


@fused(1)
def k1e(x):
    """e^x k1(x), which does not underflow.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.k1e(1000.0)
    Array(0.039648, dtype=float32, weak_type=True)
    """
    return apply(kernels.k1e, x)


@fused(2)
def jn(n, x):
    """The Bessel function of the first kind J_n(x), of whole order.

    Args:
      n: order, a whole number (NaN for others); not differentiated.
      x: real array.

    >>> import xcore as xc
    >>> xc.special.jn(2, 1.0)
    Array(0.11490, dtype=float32, weak_type=True)
    """
    return apply(kernels.jn, n, x)


@fused(2)
def yn(n, x):
    """The Bessel function of the second kind Y_n(x), of whole order; NaN for x < 0.

    Args:
      n: order, a whole number (NaN for others); not differentiated.
      x: real array.

    >>> import xcore as xc
    >>> xc.special.yn(2, 1.0)
    Array(-1.6507, dtype=float32, weak_type=True)
    """
    return apply(kernels.yn, n, x)


@fused(2)
def kn(n, x):
    """The modified Bessel function of the second kind K_n(x), of whole order; NaN for x < 0.

    Args:
      n: order, a whole number (NaN for others); not differentiated.
      x: real array.

    >>> import xcore as xc
    >>> xc.special.kn(2, 1.0)
    Array(1.6248, dtype=float32, weak_type=True)
    """
    return apply(kernels.kn, n, x)


def bessel_jn(z, *, v, n_iter=None):
    """J₀(z), …, J_v(z), along a new first axis.

    Args:
      z: real array.
      v: highest order, a Python int, 0 or more.
      n_iter: ignored: the number of steps is chosen from the arguments.

    >>> import xcore as xc
    >>> xc.special.bessel_jn(1.0, v=2)
    Array([0.76520 , 0.44005, 0.11490], dtype=float32, weak_type=True)
    """
    if isinstance(v, bool) or not hasattr(v, "__index__") or v < 0:
        raise errors.bad_argument(
            "special.bessel_jn", "v", v, "a Python int, 0 or more", "It sets a shape."
        )
    return _all_orders(z, v=v.__index__())


@fused(1)
def _all_orders(z, v):
    def f(z):
        orders = np.arange(v + 1).reshape((v + 1,) + (1,) * z.ndim)
        return jn(ops.constant(orders.astype(z.dtype)), z[None])

    return compute(f, z, who="special.bessel_jn")
