"""Logistic functions, entropies, products with logarithms, Box and Cox's powers."""

from __future__ import annotations

from .._core import dtypes, fused, typeof
from ..numpy._promote import as_inexact
from . import _log_kernels as kernels
from ._public import apply


@fused(1)
def expit(x):
    """The logistic function 1/(1 + e^-x).

    Args:
      x: real or complex array.

    >>> import xcore as xc
    >>> xc.special.expit(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    x = as_inexact("special.expit", x)
    if dtypes.is_complex(typeof(x).dtype):
        return kernels.ops.logistic(x)
    return apply(kernels.expit, x)


@fused(1)
def logit(x):
    """log(x/(1 - x)), the inverse of expit; NaN outside [0, 1].

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.logit(0.25)
    Array(-1.0986, dtype=float32, weak_type=True)
    """
    return apply(kernels.logit, x)


@fused(1)
def log_expit(x):
    """log(expit(x)), without underflow.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.log_expit(-1000.0)
    Array(-1000., dtype=float32, weak_type=True)
    """
    return apply(kernels.log_expit, x)


@fused(1)
def entr(x):
    """The elementwise entropy -x log x; 0 at 0, -∞ for negative x.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.entr(0.5)
    Array(0.34657, dtype=float32, weak_type=True)
    """
    return apply(kernels.entr, x)


@fused(2)
def rel_entr(x, y):
    """The elementwise relative entropy x log(x/y); 0 for x = 0, ∞ for negative arguments.

    Args:
      x, y: real arrays.

    >>> import xcore as xc
    >>> xc.special.rel_entr(0.5, 0.25)
    Array(0.34657, dtype=float32, weak_type=True)
    """
    return apply(kernels.rel_entr, x, y)


@fused(2)
def kl_div(x, y):
    """The elementwise Kullback-Leibler divergence x log(x/y) - x + y, without cancellation.

    Args:
      x, y: real arrays.

    >>> import xcore as xc
    >>> xc.special.kl_div(0.5, 0.25)
    Array(0.096574, dtype=float32, weak_type=True)
    """
    return apply(kernels.kl_div, x, y)


@fused(2)
def xlogy(x, y):
    """x log y, which is 0 for x = 0.

    Args:
      x, y: real arrays.

    >>> import xcore as xc
    >>> xc.special.xlogy(0.0, 0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return apply(kernels.xlogy, x, y)


@fused(2)
def xlog1py(x, y):
    """x log(1 + y), which is 0 for x = 0.

    Args:
      x, y: real arrays.

    >>> import xcore as xc
    >>> xc.special.xlog1py(2.0, 1e-6)
    Array(1.999999e-06, dtype=float32, weak_type=True)
    """
    return apply(kernels.xlog1py, x, y)


@fused(1)
def exprel(x):
    """(e^x - 1)/x, which is 1 at 0.

    Args:
      x: real array.

    >>> import xcore as xc
    >>> xc.special.exprel(1e-6)
    Array(1.0000, dtype=float32, weak_type=True)
    """
    return apply(kernels.exprel, x)


@fused(2)
def boxcox(x, lmbda):
    """Box and Cox's transformation (x^λ - 1)/λ, which is log x for λ = 0.

    Args:
      x, lmbda: real arrays.

    >>> import xcore as xc
    >>> xc.special.boxcox(2.0, 0.5)
    Array(0.82843, dtype=float32, weak_type=True)
    """
    return apply(kernels.boxcox, x, lmbda)


@fused(2)
def boxcox1p(x, lmbda):
    """Box and Cox's transformation of 1 + x: ((1 + x)^λ - 1)/λ.

    Args:
      x, lmbda: real arrays.

    >>> import xcore as xc
    >>> xc.special.boxcox1p(1e-4, 0.5)
    Array(9.99975e-05, dtype=float32, weak_type=True)
    """
    return apply(kernels.boxcox1p, x, lmbda)


@fused(2)
def inv_boxcox(y, lmbda):
    """The x with boxcox(x, lmbda) = y.

    Args:
      y, lmbda: real arrays.

    >>> import xcore as xc
    >>> xc.special.inv_boxcox(2.0, 0.5)
    Array(4., dtype=float32, weak_type=True)
    """
    return apply(kernels.inv_boxcox, y, lmbda)


@fused(2)
def inv_boxcox1p(y, lmbda):
    """The x with boxcox1p(x, lmbda) = y.

    Args:
      y, lmbda: real arrays.

    >>> import xcore as xc
    >>> xc.special.inv_boxcox1p(1e-4, 0.5)
    Array(0.0001, dtype=float32, weak_type=True)
    """
    return apply(kernels.inv_boxcox1p, y, lmbda)
