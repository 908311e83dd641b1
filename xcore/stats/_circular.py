"""The families of angles. Parameters are scipy.stats's, and so are their names and order."""

from __future__ import annotations

import math

import numpy as np

from .. import numpy as xnp
from .. import special
from .._control import custom_jvp
from ._continuous import one, positive_or_one
from ._family import Family, Formulas

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_REACH = 40.0  # e^-40 is nothing beside 1


def _arc(z, kappa):
    """The integral of e^(κ(cos t - cos z)) from z in [0, π] to π, up to where it has died away."""
    cosine = xnp.cos(z) - _REACH / positive_or_one(kappa)
    short = cosine > -1  # where it is not, the derivative of the arc cosine would be infinite
    end = xnp.where(short, xnp.arccos(xnp.where(short, cosine, 0)), math.pi)
    half = 0.5 * (end - z)
    gone = half[..., None] * (_NODES + 1)
    product = xnp.sin(z[..., None] + 0.5 * gone) * xnp.sin(0.5 * gone)
    return (xnp.exp(-2 * kappa[..., None] * product) * _WEIGHTS).sum(axis=-1) * half


def _circle_log_density(z, kappa):
    return -2 * kappa * xnp.square(xnp.sin(0.5 * z)) - math.log(2 * math.pi) - _log_i0e(kappa)


@custom_jvp
def _log_i0e(kappa):
    """log(e^-κ I₀(κ)) of κ ≥ 0, whose derivative at 0 is that to its right."""
    return xnp.log(special.i0e(kappa))


@_log_i0e.defjvp
def _log_i0e_jvp(primals, tangents):
    (kappa,), (t,) = primals, tangents
    return _log_i0e(kappa), (special.i1e(kappa) / special.i0e(kappa) - 1) * t


def _circle(z, kappa):
    """(turns, angle in [-π, π], log density there, the probability beyond the angle over it, on its side of 0)"""
    turns = xnp.round(z / (2 * math.pi))
    angle = xnp.clip(z - 2 * math.pi * turns, -math.pi, math.pi)  # of large z rounding goes beyond
    size = xnp.where(angle < 0, -angle, angle)
    return turns, angle, _circle_log_density(size, kappa), _arc(size, kappa)


def _circle_cdf(z, kappa):
    """As scipy's: of an angle beyond [-π, π] it counts the turns, too."""
    turns, angle, log_p, arc = _circle(z, kappa)
    tail = xnp.exp(log_p) * arc
    return turns + xnp.where(angle < 0, tail, 1 - tail)


def _circle_logcdf(z, kappa):
    turns, angle, log_p, arc = _circle(z, kappa)
    tail, log_tail = xnp.exp(log_p) * arc, log_p + xnp.log(arc)
    first = turns == 0
    rest = xnp.where(first & (angle >= 0), -tail, turns - 1 + xnp.where(angle < 0, tail, 1 - tail))
    return xnp.where(
        first & (angle < 0), log_tail, xnp.log1p(xnp.where(first & (angle < 0), 0, rest))
    )


_VONMISES = Formulas(
    _circle_log_density, _circle_cdf, lambda z, kappa: _circle_cdf(-z, kappa),
    logcdf=_circle_logcdf, logsf=lambda z, kappa: _circle_logcdf(-z, kappa),
    shapes=("kappa",), valid=lambda kappa: kappa >= 0, wide=True, flat=True,
)  # fmt: skip
vonmises = Family(
    "vonmises",
    "The von Mises distribution of angles: density proportional to e^(κ cos x).",
    _VONMISES,
)


def _wrapped_cdf(z, c, sign):
    """The angle whose half has (1 + c) / (1 - c) times the tangent of half of z, as a part of π; for
    sign -1 what is missing to π."""
    return xnp.arctan2((1 + c) * xnp.sin(0.5 * z), sign * (1 - c) * xnp.cos(0.5 * z)) / math.pi


_WRAPCAUCHY = Formulas(
    lambda z, c: xnp.log1p(-c * c) - math.log(2 * math.pi) - xnp.log(
        xnp.square(1 - c) + 4 * c * xnp.square(xnp.sin(0.5 * z))
    ),
    lambda z, c: _wrapped_cdf(z, c, 1.0), lambda z, c: _wrapped_cdf(z, c, -1.0),
    ppf=lambda q, c: 2 * xnp.arctan2((1 - c) * xnp.sin(math.pi * q), (1 + c) * xnp.cos(math.pi * q)),
    shapes=("c",), low=0.0, high=2 * math.pi, inside=one, valid=lambda c: (c > 0) & (c < 1),
)  # fmt: skip
wrapcauchy = Family(
    "wrapcauchy",
    "The Cauchy distribution wrapped around a circle.",
    _WRAPCAUCHY,
    "(1 - c²) / (2π (1 + c² - 2c cos x)) for 0 ≤ x ≤ 2π",
)
