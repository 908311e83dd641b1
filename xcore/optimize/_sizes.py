"""Rescaling of updates without memory: by signs, and by the size of a leaf's parameters."""

from __future__ import annotations

from .. import numpy as xnp
from .._core import dtypes, typeof
from ._transform import (
    GradientTransformation,
    homogeneous,
    need_params,
    square,
    stateless_with_tree_map,
)


def scale_by_sign() -> GradientTransformation:
    """The sign of the updates.

    >>> float(scale_by_sign().update(-2.0, ())[0])
    -1.0
    """
    return stateless_with_tree_map(lambda u, p: xnp.sign(u))


def _norm(x, least=0.0):
    size = homogeneous(lambda x: xnp.sqrt(xnp.sum(square(x))), xnp.asarray(x))
    return xnp.maximum(size, least)


def scale_by_trust_ratio(
    min_norm: float = 0.0, trust_coefficient: float = 1.0, eps: float = 0.0
) -> GradientTransformation:
    """Makes each leaf's update as long as its parameters, times a factor. (You et al. 2017, 2019)

      uₜ = c ‖x‖ gₜ / (‖gₜ‖ + eps)

    leaf by leaf, with c the ``trust_coefficient``; leaves of length 0 are left as they are.

    Args:
      min_norm: number; norms count as this at least.
      trust_coefficient: factor of the ratio of norms.
      eps: number added to the norm of the update.

    >>> float(scale_by_trust_ratio().update(0.5, (), 3.0)[0])
    3.0
    """

    def scaled(u, p):
        need_params("scale_by_trust_ratio", p)
        size, step = _norm(p, min_norm), _norm(u, min_norm)
        zero = (size == 0) | (step == 0)
        ratio = trust_coefficient * size / xnp.where(zero, 1, step + eps)
        return u * xnp.where(zero, 1, ratio).astype(dtypes.to_real(typeof(u).dtype))

    return stateless_with_tree_map(lambda u, p: scaled(xnp.asarray(u), p))


def scale_by_param_block_rms(min_scale: float = 1e-3) -> GradientTransformation:
    """Multiplies each leaf by the root of the mean square of its parameters.

    Args:
      min_scale: the least factor, for parameters near 0.

    >>> float(scale_by_param_block_rms().update(0.5, (), 3.0)[0])
    1.5
    """

    def scaled(u, p):
        need_params("scale_by_param_block_rms", p)
        size = homogeneous(lambda p: xnp.sqrt(xnp.mean(square(p))), xnp.asarray(p))
        return u * xnp.maximum(size, min_scale)

    return stateless_with_tree_map(scaled)
