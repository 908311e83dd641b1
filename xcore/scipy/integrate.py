"""``scipy.integrate``: integrals of samples. For differential equations: ``xcore.experimental.ode``."""

from .. import numpy as _xnp

__all__ = ["trapezoid"]


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral of samples along an axis by the trapezoidal rule.

    Args:
      y: samples.
      x: where they were taken; equally spaced by dx if not given.
      dx: the spacing.
      axis: along which to integrate.

    >>> import xcore.numpy as xnp
    >>> trapezoid(xnp.asarray([1.0, 2.0, 4.0]), dx=0.5)
    Array(2.25, dtype=float32)
    """
    return _xnp.trapezoid(y, x, dx, axis)
