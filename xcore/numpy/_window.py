"""Window functions: weights that fall off towards both ends."""

from __future__ import annotations

import operator

import numpy as np

from .. import _ops as ops
from .._core import ArrayType, dtypes, from_numpy, fused, typeof
from ._functions import i0
from ._promote import as_array, as_inexact


def _window(name: str, shape_of, doc: str, example: str):
    """A window from its formula in the position, which runs from -1 to 1 in float64."""

    def f(M):
        m = operator.index(M)
        if m <= 1:
            values = np.ones(max(m, 0))
        else:
            values = shape_of(np.arange(1 - m, m, 2) / (m - 1))
        return from_numpy(values.astype(dtypes.default_dtype("float")))

    f.__name__ = f.__qualname__ = name
    f.__module__ = "xcore.numpy"
    f.__doc__ = f"""{doc}

    Args:
      M: the number of points; the window is symmetric, and 1 in the middle if M is odd.

    >>> import xcore.numpy as xnp
    >>> xnp.{name}(5)
    {example}
    """
    return f


# fmt: off
bartlett = _window("bartlett", lambda t: 1 - np.abs(t), "The triangular window 1 - |t|, for t from -1 to 1.",
    "Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)")
blackman = _window("blackman", lambda t: 0.42 + 0.5 * np.cos(np.pi * t) + 0.08 * np.cos(2 * np.pi * t),
    "The window 0.42 + 0.5 cos(πt) + 0.08 cos(2πt), for t from -1 to 1.",
    "Array([-1.387...e-17, 3.4000000e-01, 1.0000000e+00, 3.4000000e-01, -1.387...e-17], dtype=float32)")
hamming = _window("hamming", lambda t: 0.54 + 0.46 * np.cos(np.pi * t),
    "The window 0.54 + 0.46 cos(πt), for t from -1 to 1.", "Array([0.08, 0.54, 1.  , 0.54, 0.08], dtype=float32)")
hanning = _window("hanning", lambda t: 0.5 + 0.5 * np.cos(np.pi * t),
    "The window 0.5 + 0.5 cos(πt), for t from -1 to 1.", "Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)")
# fmt: on


def kaiser(M, beta):
    """The window I0(β sqrt(1 - t²)) / I0(β), for t from -1 to 1, with the Bessel function I0.

    Args:
      M: the number of points.
      beta: how much it falls off; 0 gives a rectangle.

    >>> import xcore.numpy as xnp
    >>> xnp.kaiser(3, 0.0)
    Array([1., 1., 1.], dtype=float32)
    """
    return _kaiser(beta, operator.index(M))


@fused(1)
def _kaiser(beta, m):
    beta = as_inexact("numpy.kaiser", as_array("numpy.kaiser", beta))
    dtype = typeof(beta).dtype
    if m <= 1:
        return ops.ones(ArrayType((max(m, 0),), dtype))
    t = (np.arange(1 - m, m, 2) / (m - 1)).astype(dtype)
    return i0(beta * np.sqrt(1 - t * t)) / i0(beta)
