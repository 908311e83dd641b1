"""Logarithms of probabilities that are too small for a float."""

from __future__ import annotations

from .. import numpy as xnp
from .. import special
from ._family import log_of

_TERMS = 40
_TINY = 1e-290  # less than this a probability has lost digits, or all


def _fraction(first, term):
    """term(1)'s continued fraction b₀ + a₁/(b₁ + a₂/(b₂ + …)), from the last term backwards."""
    value = term(_TERMS)[1]
    for k in range(_TERMS, 0, -1):
        a, _ = term(k)
        b = term(k - 1)[1] if k > 1 else first
        value = b + a / value
    return value


def _far_above(a, x):
    """log Q(a, x) for x far above a: DLMF 8.9.2."""
    value = _fraction(x + 1 - a, lambda k: (-k * (k - a), x + 2 * k + 1 - a))
    return a * xnp.log(x) - x - special.gammaln(a) - xnp.log(value)


def _far_below(a, x):
    """log P(a, x) for x far below a, or near 0: DLMF 8.9.1."""

    def term(k):
        half = k // 2
        return (half * x if k % 2 == 0 else -(a + half) * x), a + k

    return a * xnp.log(x) - x - special.gammaln(a) - xnp.log(_fraction(a, term))


def _either(p, rest, far, a, x, safe):
    """log p, or the formula for where p is tiny; the other one is kept from what it cannot take."""
    tiny = p < _TINY
    near = log_of(xnp.where(tiny, 0.25, p), xnp.where(tiny, 0.75, rest))
    return xnp.where(tiny, far(a, xnp.where(tiny, x, safe)), near)


def log_gammaincc(a, x):
    """log Q(a, x), also where Q is too small for a float."""
    p, q = special.gammainc(a, x), special.gammaincc(a, x)
    return _either(q, p, _far_above, a, x, 2 * a + 10)


def log_gammainc(a, x):
    """log P(a, x), also where P is too small for a float."""
    p, q = special.gammainc(a, x), special.gammaincc(a, x)
    return _either(p, q, _far_below, a, x, 0.5 * a)
