"""Transforms of arrays whose transform is real, along several axes."""

from __future__ import annotations

from .._core import fused
from ..numpy._functions import conj
from ..numpy._promote import as_array
from ..numpy.fft import OTHER_WAY, check_norm, irfftn, rfftn


@fused(1)
def hfftn(x, s=None, axes=None, norm=None):
    """The Fourier transform of an array that is its own mirror image, conjugated: it is real.

    Args:
      x: its first half along the last of the axes.
      s: the number of results along each axis, -1 for all that are there.
      axes: along which axes; by default the last len(s), or all.
      norm: as in ``fft``.

    >>> import xcore.numpy as xnp, xcore.fft
    >>> xcore.fft.hfftn(xnp.ones((1, 2)))
    Array([[2., 0.]], dtype=float32)
    """
    check_norm("fft.hfftn", norm)
    return irfftn(conj(as_array("fft.hfftn", x)), s, axes, OTHER_WAY[norm])


@fused(1)
def ihfftn(x, s=None, axes=None, norm=None):
    """The inverse of ``hfftn``: the first half of the inverse transform of real numbers.

    Args:
      x: real array.
      s: the number of points along each axis, -1 for all that are there.
      axes: along which axes; by default the last len(s), or all.
      norm: as in ``fft``.

    >>> import xcore.numpy as xnp, xcore.fft
    >>> xcore.fft.ihfftn(xnp.asarray([[4.0, 0.0]])).shape
    (1, 2)
    """
    check_norm("fft.ihfftn", norm)
    return conj(rfftn(x, s, axes, OTHER_WAY[norm]))


def hfft2(x, s=None, axes=(-2, -1), norm=None):
    """``hfftn`` along two axes.

    Args:
      x: array.
      s: lengths of the result along the axes.
      axes: which two.
      norm: "backward", "ortho" or "forward".

    >>> import xcore.numpy as xnp, xcore.fft
    >>> xcore.fft.hfft2(xnp.ones((1, 2)))
    Array([[2., 0.]], dtype=float32)
    """
    return hfftn(x, s, axes, norm)


def ihfft2(x, s=None, axes=(-2, -1), norm=None):
    """``ihfftn`` along two axes.

    Args:
      x: real array.
      s: lengths of the transformed axes.
      axes: which two.
      norm: "backward", "ortho" or "forward".

    >>> import xcore.numpy as xnp, xcore.fft
    >>> xcore.fft.ihfft2(xnp.asarray([[4.0, 0.0]])).shape
    (1, 2)
    """
    return ihfftn(x, s, axes, norm)
