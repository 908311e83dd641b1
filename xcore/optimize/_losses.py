"""Robust losses ρ(z) of squared residuals z, with their first two derivatives."""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._core import Tracer, dtypes, errors, tree, typeof


def _linear(z):
    return z, xnp.ones_like(z), xnp.zeros_like(z)


def _soft_l1(z):
    t = 1 + z
    return 2 * z / (xnp.sqrt(t) + 1), t**-0.5, -0.5 * t**-1.5


def _huber(z):
    small = z <= 1
    t = xnp.where(small, 1, z)
    return (
        xnp.where(small, z, 2 * xnp.sqrt(t) - 1), xnp.where(small, 1, t**-0.5),
        xnp.where(small, 0, -0.5 * t**-1.5),
    )  # fmt: skip


def _cauchy(z):
    t = 1 + z
    return xnp.log1p(z), 1 / t, -1 / (t * t)


def _arctan(z):
    t = 1 + z * z
    return xnp.arctan(z), 1 / t, -2 * z / (t * t)


LOSSES = {
    "linear": _linear, "soft_l1": _soft_l1, "huber": _huber, "cauchy": _cauchy, "arctan": _arctan,
}  # fmt: skip


_WANTED = (
    f"xcore.optimize.least_squares: loss must be one of {', '.join(LOSSES)}, or a function "
    "z -> (rho, rho', rho'')"
)


def loss_of(given):
    """A loss from its name, or a function z -> (ρ, ρ', ρ'')."""
    if callable(given):
        return lambda z: _three(given(z), z)
    if given not in LOSSES:
        raise ValueError(f"{_WANTED}; given {errors.describe(given)}.")
    return LOSSES[given]


def _three(found, z):
    """What a user's loss returned: arrays like z; slopes may be numbers."""
    parts = tree.leaves(found) if isinstance(found, (tuple, list)) else [found]
    shapes = [typeof(xnp.asarray(p)).shape for p in parts if p is not None]
    if len(shapes) != 3 or shapes[0] != z.shape or not {*shapes[1:]} <= {(), z.shape}:
        raise errors.ShapeError(
            f"{_WANTED} of three arrays like z, {z.shape}; it returned {shapes}."
        )
    if any(dtypes.is_complex(xnp.asarray(p).dtype) for p in parts):
        raise errors.DTypeError(f"{_WANTED} of real numbers; it returned complex ones.")
    return tuple(xnp.broadcast_to(xnp.asarray(p, z.dtype), z.shape) for p in parts)


def scale_of(f_scale, dtype):
    """f_scale as a positive number."""
    scale = xnp.asarray(f_scale, dtype)
    known = None if isinstance(scale, Tracer) else np.asarray(f_scale)
    if scale.ndim or (known is not None and not (known > 0 and np.isfinite(known))):
        who = "optimize.least_squares"
        raise errors.bad_argument(who, "f_scale", f_scale, "one number above 0, and finite")
    return scale


def scale_within(loss, scale):
    """A scale of residuals of size 1 whose square is a number. Losses are quadratic far below it."""
    if loss is _linear:
        return xnp.ones_like(scale)
    most = float(xnp.finfo(scale.dtype).max)
    return xnp.clip(scale, most**-0.5, most**0.25)


def cost_and_scaled(loss, scale, f, j):
    """(cost, residuals, Jacobian) of the quadratic model that has the loss's value and slope.

    Its curvature leaves out what would make it indefinite. (Triggs et al. 2000)
    """
    if loss is _linear:
        return 0.5 * xnp.vdot(f, f), f, j
    z = (f / scale) ** 2
    rho, slope, bend = loss(z)
    weight = xnp.sqrt(xnp.maximum(slope + 2 * bend * z, xnp.finfo(f.dtype).eps))
    return 0.5 * scale**2 * xnp.sum(rho), f * slope / weight, j * weight[:, None]


def cost(loss, scale, f):
    """Half the sum of the losses."""
    return 0.5 * scale**2 * xnp.sum(loss((f / scale) ** 2)[0])
