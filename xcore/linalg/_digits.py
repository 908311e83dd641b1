"""How digits follow from errors."""

from __future__ import annotations

import math

from .. import numpy as xnp
from ..numpy._select import safe_divide


def digits_of(off, eps: float):
    """Decimal digits where the relative error is at most ``off``; none where that is NaN."""
    off = xnp.where(xnp.isnan(off), xnp.inf, off)
    return xnp.clip(-xnp.log10(xnp.maximum(off, eps / 2)), 0, -math.log10(eps / 2))


def relative(error, size):
    """error / size for errors >= 0; of nothing, 0."""
    return safe_divide(error, size, where=error != 0)


def of_truth(off):
    """Errors relative to the true result, from those relative to what was found, which may be too large."""
    return safe_divide(off, 1 - off, xnp.inf, where=off < 1)
