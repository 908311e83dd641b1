"""The normal distribution between two ends, of which both may lie far in one tail."""

from __future__ import annotations

import math

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .. import special
from ._continuous import log_normal_density
from ._family import Family, Formulas

_LOG_2 = math.log(2)


def _in_left_tail(a, b):
    """An interval of the normal distribution, mirrored if need be to where ndtr keeps its digits."""
    right = a > 0
    return right, xnp.where(right, -b, a), xnp.where(right, -a, b)


def _log_difference(a, b):
    """log(e^b - e^a) for a ≤ b; -inf where they are equal."""
    gap = xnp.where(a < b, a - b, -1.0)
    return xnp.where(a < b, b + xnp.log(-xnp.expm1(gap)), -np.inf)


_FEW_NODES, _FEW_WEIGHTS = np.polynomial.legendre.leggauss(10)


def _log_narrow_mass(a, width):
    """By Gauss's rule, which is exact to rounding where the density falls by no more than e."""
    gone = 0.5 * width[..., None] * (_FEW_NODES + 1)
    mean = (xnp.exp(-gone * (a[..., None] + 0.5 * gone)) * (0.5 * _FEW_WEIGHTS)).sum(axis=-1)
    return log_normal_density(a) + xnp.log(width) + xnp.log(mean)


def _log_normal_mass(a, b):
    """log of the normal probability of (a, b), far in a tail too, and of narrow intervals."""
    _, a, b = _in_left_tail(a, b)
    width = b - a
    narrow = (width > 0) & (width * (1 + xnp.maximum(xnp.abs(a), xnp.abs(b))) < 1)
    wide = _log_difference(special.log_ndtr(a), special.log_ndtr(xnp.where(narrow, a + 1, b)))
    at, step = xnp.where(narrow, a, 0), xnp.where(narrow, width, 1)
    return xnp.where(narrow, _log_narrow_mass(at, step), wide)


def _log_share(part, other):
    """log of a part of 1, given the logarithms of that part and of the rest."""
    small = part < -_LOG_2
    rest = xnp.log1p(-xnp.exp(xnp.where(small, -1.0, other)))
    return xnp.where(small, part, rest)


def _truncated_logcdf(z, a, b):
    whole = _log_normal_mass(a, b)
    return _log_share(_log_normal_mass(a, z) - whole, _log_normal_mass(z, b) - whole)


def _truncated_logsf(z, a, b):
    whole = _log_normal_mass(a, b)
    return _log_share(_log_normal_mass(z, b) - whole, _log_normal_mass(a, z) - whole)


def _truncated_inside(a, b):
    finite = xnp.isfinite(a) & xnp.isfinite(b)
    one_side = xnp.where(xnp.isfinite(a), a + 1, xnp.where(xnp.isfinite(b), b - 1, 0))
    return xnp.where(finite, 0.5 * (xnp.where(finite, a, 0) + xnp.where(finite, b, 0)), one_side)


def _log_ndtr_inverse(log_p):
    """z with log Φ(z) = log_p <= log(0.6), also where the probability is no float: there by Newton's method."""
    far = log_p < -600
    size = xnp.where(far, -2 * log_p, 1200.0)
    z = -xnp.sqrt(size - xnp.log(2 * math.pi * size))
    for _ in range(3):
        miss = special.log_ndtr(z) + 0.5 * size
        z = z - miss * xnp.exp(special.log_ndtr(z) - log_normal_density(z))
    return xnp.where(far, z, special.ndtri(xnp.exp(xnp.where(far, -1.0, log_p))))


def _log_mix(p, x, q, y):
    """log(e^p e^x + e^q e^y), of which x or y may be -inf."""
    return xnp.logaddexp(p + x, q + y)


def _near_an_end(end, log_mass):
    """How far from an end, inwards from a lower one, a small mass reaches; infinite where that is far."""
    log_width = log_mass - log_normal_density(end)
    near = log_width + xnp.log1p(xnp.abs(end)) < math.log(1e-3)
    end, log_width = xnp.where(near, end, 0.0), xnp.where(near, log_width, -10.0)
    wanted = log_width + log_normal_density(end)
    for _ in range(3):
        log_width = log_width - (_log_narrow_mass(end, xnp.exp(log_width)) - wanted)
    return xnp.where(near, xnp.exp(log_width), np.inf)


def _truncated_ppf(q, a, b):
    """From the smaller tail; next to an end by the distance from it; then a step of Newton's on a logarithm."""
    q, a, b = (ops.stop_gradient(x) for x in (q, a, b))
    log_q, log_r, whole = xnp.log(q), xnp.log1p(-q), _log_normal_mass(a, b)
    below = _log_mix(log_r, special.log_ndtr(a), log_q, special.log_ndtr(b))
    above = _log_mix(log_q, special.log_ndtr(-b), log_r, special.log_ndtr(-a))
    z = _log_ndtr_inverse(xnp.minimum(below, above))
    z = xnp.clip(xnp.where(below < above, z, -z), a, b)
    first, last = (_near_an_end(*e) for e in ((a, log_q + whole), (-b, log_r + whole)))
    z = xnp.where(xnp.isfinite(first), a + first, xnp.where(xnp.isfinite(last), b - last, z))
    lower = q < 0.5
    part = xnp.where(lower, _log_normal_mass(a, z), _log_normal_mass(z, b))
    miss = part - whole - xnp.where(lower, log_q, log_r)
    step = xnp.where(lower, -miss, miss) * xnp.exp(part - log_normal_density(z))
    return xnp.clip(z + xnp.where(xnp.isfinite(step), step, 0.0), a, b)


# fmt: off
_TRUNCNORM = Formulas(
    lambda z, a, b: log_normal_density(z) - _log_normal_mass(a, b),
    lambda z, a, b: xnp.exp(_truncated_logcdf(z, a, b)),
    lambda z, a, b: xnp.exp(_truncated_logsf(z, a, b)),
    logcdf=_truncated_logcdf, logsf=_truncated_logsf,
    ppf=_truncated_ppf, isf=lambda q, a, b: -_truncated_ppf(q, -b, -a),
    shapes=("a", "b"), low=lambda a, b: a, high=lambda a, b: b, inside=_truncated_inside,
    valid=lambda a, b: a < b, wide=True, slopes="equation",
)
# fmt: on
truncnorm = Family(
    "truncnorm",
    "The normal distribution between a and b, which count in scales from loc.",
    _TRUNCNORM,
    "e^(-x²/2) / (√(2π) (Φ(b) - Φ(a))) for a ≤ x ≤ b",
)
