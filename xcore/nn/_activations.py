"""Activation functions. Integers are promoted to floats, except where the result is whole."""

from __future__ import annotations

import math

from .. import numpy as xnp
from .._core import errors, fused, typeof
from ..numpy import tanh  # noqa: F401
from ..numpy._docstrings import named
from ..numpy._promote import as_array, as_inexact, one_axis
from ..special import expit, log_expit
from ..special._error_kernels import ndtr
from ..special._log_kernels import log1mexp as _log1mexp
from ..special._public import apply

sigmoid = expit
log_sigmoid = log_expit


def _activation(name: str, doc: str, f, example: str, whole: bool = False):
    """A function of one array; ``whole`` if integers stay integers. The example: ``call → result``."""
    convert = as_array if whole else as_inexact

    def of_array(x):
        return f(convert(f"nn.{name}", x))

    about = f"x: array or number{'' if whole else '; integers become floats'}."
    return named(
        of_array, name, f"{doc}\n\n    Args:\n      {about}", example, 1, module="xcore.nn"
    )


def _soft_sign(x):
    size, sign = xnp.abs(x), xnp.sign(x)
    far = size > 1  # there the slope of x / (1 + |x|) is a difference of nearly equal numbers
    near = xnp.where(far, 0, x)
    return xnp.where(far, sign - sign / (size + 1), near / (xnp.abs(near) + 1))


def _tanh_softplus(x):
    """tanh(log(1 + eˣ)) in w = e^-|x|."""
    left = x < 0
    w = xnp.exp(xnp.where(left, x, -x))
    some, rest = 2 * w + xnp.where(left, w * w, 1), xnp.where(left, 2, 2 * w * w)
    return some / (some + rest)


def _times_gate(gate, far):
    """x gate(x), and max(x, 0) where |x| > far: there they are no more apart than rounding, and x times the gate and
    its derivatives is 0 times infinity. The gate has finite derivatives everywhere."""

    def whole(x):
        out = xnp.abs(x) > far
        return xnp.where(out, xnp.where(x <= 0, 0, x), xnp.where(out, 0, x) * gate(x))

    return whole


# fmt: off
identity = _activation("identity", "x itself, as an array.", lambda x: x,
    "xc.nn.identity(2.0) → Array(2., dtype=float32, weak_type=True)", whole=True)
relu = _activation("relu", "max(x, 0); the derivative at 0 is 0.", lambda x: xnp.where(x <= 0, xnp.zeros_like(x), x),
    "xc.nn.relu(xnp.asarray([-1.0, 0.0, 2.0])) → Array([0., 0., 2.], dtype=float32)", whole=True)
relu6 = _activation("relu6", "min(max(x, 0), 6); the derivative at both ends is 0.",
    lambda x: xnp.where(x <= 0, 0, xnp.where(x >= 6, 6, x)),
    "xc.nn.relu6(xnp.asarray([-1.0, 3.0, 7.0])) → Array([0., 3., 6.], dtype=float32)")
# fmt: on


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


# fmt: off
softplus = _activation("softplus", "log(1 + e^x), a smooth relu.", lambda x: -log_expit(-x),
    "xc.nn.softplus(0.0) → Array(0.6931472, dtype=float32, weak_type=True)")
sparse_plus = _activation("sparse_plus", "0 up to -1, (x + 1)²/4 between -1 and 1, x from there on.",
    lambda x: xnp.where(x <= -1, 0, xnp.where(x >= 1, x, (xnp.clip(x, -1, 1) + 1) ** 2 / 4)),
    "xc.nn.sparse_plus(xnp.asarray([-2.0, 0.0, 2.0])) → Array([0.  , 0.25, 2.  ], dtype=float32)")
sparse_sigmoid = _activation("sparse_sigmoid",
    "The derivative of sparse_plus: (x + 1)/2 between -1 and 1, constant outside.",
    lambda x: xnp.clip((x + 1) / 2, 0, 1),
    "xc.nn.sparse_sigmoid(xnp.asarray([-2.0, 0.0, 2.0])) → Array([0. , 0.5, 1. ], dtype=float32)")
soft_sign = _activation("soft_sign", "x/(1 + |x|).", _soft_sign,
    "xc.nn.soft_sign(3.0) → Array(0.75, dtype=float32, weak_type=True)")
silu = _activation("silu", "x / (1 + e^-x), which is x sigmoid(x), also called swish.", _times_gate(expit, 1e4),
    "xc.nn.silu(1.0) → Array(0.7310586, dtype=float32, weak_type=True)")
# fmt: on
swish = silu
# fmt: off
mish = _activation("mish", "x tanh(log(1 + e^x)), which is x tanh(softplus(x)).", _times_gate(_tanh_softplus, 1e4),
    "xc.nn.mish(1.0) → Array(0.8650985, dtype=float32, weak_type=True)")
hard_tanh = _activation("hard_tanh", "min(max(x, -1), 1).", lambda x: xnp.where(x > 1, 1, xnp.where(x < -1, -1, x)),
    "xc.nn.hard_tanh(xnp.asarray([-2.0, 0.5])) → Array([-1. ,  0.5], dtype=float32)", whole=True)
hard_sigmoid = _activation("hard_sigmoid", "min(max(x + 3, 0), 6) / 6.", lambda x: relu6(x + 3) / 6,
    "xc.nn.hard_sigmoid(1.5) → Array(0.75, dtype=float32, weak_type=True)")
hard_silu = _activation("hard_silu", "x min(max(x + 3, 0), 6) / 6, also called hard_swish.",
    _times_gate(hard_sigmoid, 3),
    "xc.nn.hard_silu(1.5) → Array(1.125, dtype=float32, weak_type=True)")
# fmt: on
hard_swish = hard_silu


@fused(2)
def elu(x, alpha=1.0):
    """x for x > 0, else alpha (e^x - 1).

    Args:
      x: array.
      alpha: number or array.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.nn.elu(xnp.asarray([-1.0, 2.0]))
    Array([-0.63212,  2.        ], dtype=float32)
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
    Array([-0.78694,  2.        ], dtype=float32)
    """
    x = as_inexact("nn.celu", x)
    return xnp.where(x > 0, x, alpha * xnp.expm1(xnp.where(x > 0, 0, x) / alpha))


_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848, 1.0507009873554804934


selu = _activation(
    "selu", "The scaled elu that keeps mean 0 and variance 1: 1.0507 elu(x, 1.6733).",
    lambda x: _SELU_SCALE * elu(x, _SELU_ALPHA),
    "xc.nn.selu(xnp.float32(-1.0)) → Array(-1.1113, dtype=float32)",
)  # fmt: skip


@fused(1)
def gelu(x, approximate=True):
    """x Φ(x) with the normal distribution function Φ.

    Args:
      x: array.
      approximate: True for the usual formula with tanh, which is off by up to 5e-4; False for Φ.

    >>> import xcore as xc
    >>> xc.nn.gelu(1.0), xc.nn.gelu(1.0, approximate=False)
    (Array(0.841192, dtype=float32, weak_type=True), Array(0.84134, dtype=float32, weak_type=True))
    """
    if not approximate:
        return apply(_times_gate(ndtr, 100), x, who="nn.gelu")
    x = as_inexact("nn.gelu", x)
    # (1 + tanh z)/2 = sigmoid(2 z), which does not cancel on the left
    near = xnp.where(xnp.abs(x) > 100, 0, x)  # whose third power is in range
    return _times_gate(
        lambda _: expit(math.sqrt(8 / math.pi) * (near + 0.044715 * (near * near * near))), 100
    )(x)


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
            "nn.glu", "x", errors.Words(f"size {size} along axis {axis}"), "an even size", ""
        )
    first, second = xnp.split(x, 2, axis)
    return first * expit(second)


@fused(2)
def squareplus(x, b=4):
    """(x + √(x² + b))/2, a smooth relu without exponentials; b/2/(√(x² + b) - x) where x < 0.

    Args:
      x: array.
      b: smoothness, not negative.

    >>> import xcore as xc
    >>> xc.nn.squareplus(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    x = as_inexact("nn.squareplus", x)
    far = xnp.isinf(x * x)
    size = xnp.where(far, xnp.abs(x), 1)
    near = xnp.where(far, 0, x)
    root = xnp.sqrt(near * near + b)
    value = xnp.where(x < 0, b / 2 / (root + abs(near)), (near + root) / 2)
    return xnp.where(far, xnp.where(x < 0, 0, x) + b / 4 / size, value)


@fused(1)
def log1mexp(x):
    """log(1 - e^-x), accurate for small and for large x; NaN for x < 0.

    Args:
      x: array or number.

    >>> import xcore as xc
    >>> xc.nn.log1mexp(1e-6)
    Array(-13.816, dtype=float32, weak_type=True)
    """
    return apply(_log1mexp, x, who="nn.log1mexp")
