"""Activation functions. Integers are promoted to floats, except where the result is whole."""

from __future__ import annotations

import math

from .. import numpy as xnp
from .._core import errors
from .._core.eval import fused
from .._core.types import typeof
from ..numpy import tanh  # noqa: F401
from ..numpy._promote import as_array, as_inexact, one_axis
from ..special import expit, log_expit
from ..special._error_kernels import ndtr
from ..special._log_kernels import log1mexp as _log1mexp
from ..special._public import apply

sigmoid = expit
log_sigmoid = log_expit


@fused(1)
def identity(x):
    """x itself, as an array.

    >>> import xcore as xc
    >>> xc.nn.identity(2.0)
    Array(2., dtype=float32, weak_type=True)
    """
    return as_array("nn.identity", x)


@fused(1)
def relu(x):
    """max(x, 0); the derivative at 0 is 0.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.nn.relu(xnp.asarray([-1.0, 0.0, 2.0]))
    Array([0., 0., 2.], dtype=float32)
    """
    x = as_array("nn.relu", x)
    return xnp.where(x <= 0, xnp.zeros_like(x), x)


@fused(1)
def relu6(x):
    """x limited to [0, 6]; the derivative at both ends is 0.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.nn.relu6(xnp.asarray([-1.0, 3.0, 7.0]))
    Array([0., 3., 6.], dtype=float32)
    """
    x = as_inexact("nn.relu6", x)
    return xnp.where(x <= 0, 0, xnp.where(x >= 6, 6, x))


@fused(2)
def leaky_relu(x, negative_slope=0.01):
    """x for x ≥ 0, else negative_slope x.

    Args:
      x: array.
      negative_slope: number or array, broadcast against x.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.nn.leaky_relu(xnp.asarray([-1.0, 2.0]), 0.5)
    Array([-0.5,  2. ], dtype=float32)
    """
    x = as_inexact("nn.leaky_relu", x)
    return xnp.where(x >= 0, x, negative_slope * x)


@fused(1)
def softplus(x):
    """log(1 + e^x), a smooth relu.

    >>> import xcore as xc
    >>> xc.nn.softplus(0.0)
    Array(0.6931472, dtype=float32, weak_type=True)
    """
    return -log_expit(-as_inexact("nn.softplus", x))


@fused(1)
def sparse_plus(x):
    """0 up to -1, (x + 1)²/4 between -1 and 1, x from there on.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.nn.sparse_plus(xnp.asarray([-2.0, 0.0, 2.0]))
    Array([0.  , 0.25, 2.  ], dtype=float32)
    """
    x = as_inexact("nn.sparse_plus", x)
    return xnp.where(x <= -1, 0, xnp.where(x >= 1, x, (x + 1) * (x + 1) / 4))


@fused(1)
def sparse_sigmoid(x):
    """The derivative of sparse_plus: (x + 1)/2 between -1 and 1, constant outside.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.nn.sparse_sigmoid(xnp.asarray([-2.0, 0.0, 2.0]))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return xnp.clip((as_inexact("nn.sparse_sigmoid", x) + 1) / 2, 0, 1)


@fused(1)
def soft_sign(x):
    """x/(1 + |x|).

    >>> import xcore as xc
    >>> xc.nn.soft_sign(3.0)
    Array(0.75, dtype=float32, weak_type=True)
    """
    x = as_inexact("nn.soft_sign", x)
    return x / (xnp.abs(x) + 1)


@fused(1)
def silu(x):
    """x sigmoid(x), also called swish.

    >>> import xcore as xc
    >>> xc.nn.silu(1.0)
    Array(0.7310586, dtype=float32, weak_type=True)
    """
    x = as_inexact("nn.silu", x)
    return x * expit(x)


swish = silu


@fused(1)
def mish(x):
    """x tanh(softplus(x)).

    >>> import xcore as xc
    >>> xc.nn.mish(1.0)
    Array(0.8650985, dtype=float32, weak_type=True)
    """
    x = as_inexact("nn.mish", x)
    return x * xnp.tanh(softplus(x))


@fused(1)
def hard_tanh(x):
    """x limited to [-1, 1].

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.nn.hard_tanh(xnp.asarray([-2.0, 0.5]))
    Array([-1. ,  0.5], dtype=float32)
    """
    x = as_array("nn.hard_tanh", x)
    return xnp.where(x > 1, 1, xnp.where(x < -1, -1, x))


@fused(1)
def hard_sigmoid(x):
    """relu6(x + 3)/6.

    >>> import xcore as xc
    >>> xc.nn.hard_sigmoid(1.5)
    Array(0.75, dtype=float32, weak_type=True)
    """
    return relu6(as_inexact("nn.hard_sigmoid", x) + 3) / 6


@fused(1)
def hard_silu(x):
    """x hard_sigmoid(x), also called hard_swish.

    >>> import xcore as xc
    >>> xc.nn.hard_silu(1.5)
    Array(1.125, dtype=float32, weak_type=True)
    """
    x = as_inexact("nn.hard_silu", x)
    return x * hard_sigmoid(x)


hard_swish = hard_silu


@fused(2)
def elu(x, alpha=1.0):
    """x for x > 0, else alpha (e^x - 1).

    Args:
      x: array.
      alpha: number or array.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.nn.elu(xnp.asarray([-1.0, 2.0]))
    Array([-0.63212055,  2.        ], dtype=float32)
    """
    x = as_inexact("nn.elu", x)
    return xnp.where(x > 0, x, alpha * xnp.expm1(xnp.where(x > 0, 0, x)))


@fused(2)
def celu(x, alpha=1.0):
    """x for x > 0, else alpha (e^(x/alpha) - 1): differentiable at 0 for every alpha.

    Args:
      x: array.
      alpha: number or array.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.nn.celu(xnp.asarray([-1.0, 2.0]), 2.0)
    Array([-0.78693867,  2.        ], dtype=float32)
    """
    x = as_inexact("nn.celu", x)
    return xnp.where(x > 0, x, alpha * xnp.expm1(xnp.where(x > 0, 0, x) / alpha))


_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848, 1.0507009873554804934


@fused(1)
def selu(x):
    """The scaled elu that keeps mean 0 and variance 1: 1.0507 elu(x, 1.6733).

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.nn.selu(xnp.asarray([-1.0, 1.0]))
    Array([-1.1113307,  1.050701 ], dtype=float32)
    """
    return _SELU_SCALE * elu(x, _SELU_ALPHA)


@fused(1)
def gelu(x, approximate=True):
    """x Φ(x) with the normal distribution function Φ.

    Args:
      x: array.
      approximate: True for the usual formula with tanh, which is off by up to 5e-4; False for Φ.

    >>> import xcore as xc
    >>> xc.nn.gelu(1.0), xc.nn.gelu(1.0, approximate=False)
    (Array(0.841192, dtype=float32, weak_type=True), Array(0.8413447, dtype=float32, weak_type=True))
    """
    if not approximate:
        return apply(lambda x: x * ndtr(x), x, who="nn.gelu")
    x = as_inexact("nn.gelu", x)
    # (1 + tanh z)/2 = sigmoid(2 z), which does not cancel on the left
    return x * expit(math.sqrt(8 / math.pi) * (x + 0.044715 * (x * x * x)))


@fused(1)
def glu(x, axis=-1):
    """The first half of x times the sigmoid of the second half, along an axis of even size.

    Args:
      x: array.
      axis: which axis.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.nn.glu(xnp.asarray([2.0, 0.0]))
    Array([1.], dtype=float32)
    """
    x = as_inexact("nn.glu", x)
    size = typeof(x).shape[one_axis("nn.glu", axis, typeof(x).ndim)]
    if size % 2:
        raise errors.bad_argument(
            "nn.glu", "x", f"size {size} along axis {axis}", "an even size", ""
        )
    first, second = xnp.split(x, 2, axis)
    return first * expit(second)


@fused(2)
def squareplus(x, b=4):
    """(x + √(x² + b))/2, a smooth relu without exponentials.

    Args:
      x: array.
      b: smoothness, not negative.

    >>> import xcore as xc
    >>> xc.nn.squareplus(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    x = as_inexact("nn.squareplus", x)
    return (x + xnp.sqrt(x * x + b)) / 2


@fused(1)
def log1mexp(x):
    """log(1 - e^-x), accurate for small and for large x; NaN for x < 0.

    >>> import xcore as xc
    >>> xc.nn.log1mexp(1e-6)
    Array(-13.815511, dtype=float32, weak_type=True)
    """
    return apply(_log1mexp, x, who="nn.log1mexp")
