"""Derivatives of distribution functions and quantiles, from the density.

The derivative of cdf by z is the density, whatever formula computes cdf; that formula may change its form at the
middle of the distribution, or be flat there. By a parameter it is that of the formula, whose derivative by z in turn is
that of the density by the parameter. A quantile z(q, θ) moves where cdf(z, θ) = q does: ∂z/∂q = 1 / p,
∂z/∂θ = -∂cdf/∂θ / p.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable

from .. import numpy as xnp
from .._control import SymbolicZero, custom_jvp, jvp


def _partial(g: Callable, k: int) -> Callable:
    """∂g/∂(its argument k), element by element."""

    def slope(*args):
        one = xnp.ones_like(args[k])
        return jvp(lambda x: g(*args[:k], x, *args[k + 1 :]), (args[k],), (one,))[1]

    return slope


def _with_slopes(g: Callable, slopes: list) -> Callable:
    """g, whose partial derivatives are given, element by element."""

    @custom_jvp
    def f(*args):
        return g(*args)

    def rule(args, tangents):
        y = f(*args)
        known = [
            (s, t) for s, t in zip(slopes, tangents, strict=True) if type(t) is not SymbolicZero
        ]
        return y, functools.reduce(
            operator.add, [s(*args) * t for s, t in known], xnp.zeros_like(y)
        )

    f.defjvp(rule, symbolic_zeros=True)
    return f


def _known_along(g: Callable, first: Callable, count: int) -> Callable:
    """g of so many arguments, whose derivative by the first one is given."""

    def by_other(k):
        slope = _partial(g, k)
        more = [_partial(slope, j) for j in range(1, count)]
        return _with_slopes(slope, [_partial(first, k), *more])

    return _with_slopes(g, [first, *map(by_other, range(1, count))])


def by_density(f, which: str, g: Callable) -> Callable:
    """A side of a family, g(z, *shapes): "cdf", "sf", "logcdf" or "logsf"."""
    sign = 1.0 if which.endswith("cdf") else -1.0
    of_log = which.startswith("log")

    def density(z, *shapes):
        log_p = f.log_density(z, *shapes) - (side(z, *shapes) if of_log else 0.0)
        some = log_p > -xnp.inf
        return sign * xnp.where(some, xnp.exp(xnp.where(some, log_p, 0.0)), 0.0)

    side = _known_along(g, density, len(f.shapes) + 1)
    return side


def quantile_by_density(f, sides: dict, which: str, value: Callable) -> Callable:
    """value(q, *shapes), the inverse of cdf or sf: where it moves is known from these and the density. Where the family
    knows by ``slopes`` that its formula has the derivatives by the shapes, the density gives that by q alone."""

    def per_density(x, z, shapes):
        log_p = f.log_density(z, *shapes)
        some = xnp.isfinite(log_p) & xnp.isfinite(x)
        return xnp.where(some, xnp.where(some, x, 0.0) * xnp.exp(-xnp.where(some, log_p, 0.0)), 0.0)

    def by_level(q, *shapes):
        return per_density(1.0 if which == "ppf" else -1.0, quantile(q, *shapes), shapes)

    def by_shape(k):
        below, above = (_partial(sides[name], k) for name in ("cdf", "sf"))

        def slope(q, *shapes):
            z = quantile(q, *shapes)
            lower = (q < 0.5) == (which == "ppf")  # of the smaller part, which has its digits
            return per_density(xnp.where(lower, -below(z, *shapes), above(z, *shapes)), z, shapes)

        return slope

    count = len(f.shapes) + 1
    if f.slopes == "level":
        quantile = _known_along(value, by_level, count)
    else:
        quantile = _with_slopes(value, [by_level, *map(by_shape, range(1, count))])
    return quantile
