"""What a step of a least-squares model gained, and whether it was the last."""

from __future__ import annotations

from .. import numpy as xnp
from .._core import typeof
from ._result import Status, first_of


def ratio(s, f, promised, before, after):
    """What a step gained relative to what was promised.

    Near the end f cannot tell: it is the same in half of its digits or more, and the rounding errors of
    the numbers that residuals are differences of may be all that changes. ``before`` and ``after``,
    lengths that vanish at the solution and that stay exact for longer, decide there.
    """
    eps = xnp.finfo(typeof(f).dtype).eps
    actual, noise, half = s["f"] - f, 8 * eps * s["f"], xnp.sqrt(eps) * s["f"]
    nearer = (promised <= half) & (xnp.abs(actual) <= half) & (after < before)
    lost = (promised <= noise) & (xnp.abs(actual) <= noise)
    ratio = xnp.where(lost, -1, (actual + noise) / (promised + noise))
    ratio = xnp.where(nearer, 1, xnp.where(xnp.isfinite(after), ratio, -1))
    return xnp.where(s["nit"] < 0, 1, xnp.where(xnp.isfinite(f), ratio, -1))


def verdict(s, take, promised, size, reach, size_g, f, tol, radius):
    """The status after a step of length ``size`` where parameters have length ``reach``.

    ``tol``: how short a step that is taken must be to be the last, and one that is refused.
    """
    eps = xnp.finfo(typeof(f).dtype).eps
    first = s["nit"] < 0
    # J p is what residuals change by: below their rounding errors nothing can be decided
    exact = take & (promised <= eps**2 * f)
    small = size <= xnp.where(take, *tol) * reach
    return first_of(
        (~xnp.isfinite(f), Status.not_finite),
        ((size_g == 0) | (~first & (exact | small)), Status.success),
        (~first & ~take & (promised <= 8 * eps * f), Status.success),
        (~first & (radius <= 4 * eps * reach), Status.stagnation),
    )
