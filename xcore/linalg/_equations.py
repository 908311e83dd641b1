"""Certificates of linear equations a x = b, from products with a and solutions with a and aᴴ.

With r = b - a x and its rounding each column x is off by at most

    | |a⁻¹| (|r| + c eps (|a| |x| + |b|)) |

in the ∞-norm, whatever the scales of rows. (Arioli, Demmel and Duff 1989, "Solving sparse linear
systems with sparse backward error") The norm is estimated, not computed: a few solutions do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import numpy as xnp
from .._control.custom import stop_gradient
from .._control.while_loop import while_loop
from .._core import dtypes
from .._core.types import typeof
from .._iterate import Status, first_that_holds
from ._report import Report, digits_of, relative


class Equation(NamedTuple):
    """A linear equation of columns (..., n, k), as far as its certificate needs it.

    Attributes:
      times, sizes: x ↦ a x, and x ↦ |a| x for x >= 0.
      solve, adjoint: b ↦ a⁻¹ b, a⁻ᴴ b.
      norm1, norm_inf: norms of a; the second is that of sizes where it is not given.
      rounding: a x is off by at most so many roundings of |a| |x|.
    """

    times: Callable
    sizes: Callable
    solve: Callable
    adjoint: Callable
    norm1: Any
    rounding: float
    norm_inf: Any = None


def roundings(n: int) -> float:
    """About how many roundings a sum of n products has, most of them cancelling."""
    return 1 + n**0.5 / 4


def signs(y):
    size = xnp.abs(y)
    return xnp.where(size == 0, 1, y / xnp.where(size == 0, 1, size)).astype(typeof(y).dtype)


def inverse_norms(solve, adjoint, like, weights, steps: int = 2) -> tuple:
    """Estimates from below of |a⁻¹|₁, |a⁻¹|_∞ and | |a⁻¹| w |_∞ for weights w >= 0 (..., n).

    The last two are the 1-norms of a⁻ᴴ and of diag(w) a⁻ᴴ. As in ``norm1_estimate``, but the three
    climb in step, so that each solution is one of several columns: while the first asks for a⁻¹ the
    others ask for what comes before.
    """
    *lead, n, _ = typeof(like).shape
    dtype, numbers = typeof(like).dtype, np.arange(n)
    real = dtypes.to_real(dtype)
    w = weights.astype(dtype)[..., None]

    def sizes_of(y):  # (..., k): the 1-norms of columns
        return xnp.sum(xnp.abs(y), axis=-2).astype(real)

    def corners(gradient):
        which = xnp.argmax(xnp.abs(gradient), axis=-2)
        return (numbers[:, None] == which[..., None, :]).astype(dtype)

    def weighted(y):  # columns of the last two estimates
        return xnp.concatenate([y[..., :1], w * y[..., 1:2]], axis=-1)

    def going(state):
        *_, best, last, count = state
        return (count < steps) & xnp.any(best > last)

    def climb(state):
        gradient, image, best, _, count = state
        y = solve(xnp.concatenate([corners(gradient), weighted(signs(image))], axis=-1))
        turned = xnp.concatenate([signs(y[..., :1]), corners(y[..., 1:])], axis=-1)
        z = adjoint(turned)
        image = weighted(z[..., 1:])
        found = xnp.concatenate([sizes_of(y[..., :1]), sizes_of(image)], axis=-1)
        return z[..., :1], image, xnp.maximum(best, found), best, count + np.int32(1)

    even = xnp.full((*lead, n, 1), 1 / n, dtype)
    turns = ((-1.0) ** numbers * (1 + numbers / max(n - 1, 1))).astype(real)
    turns = xnp.broadcast_to(xnp.asarray(turns).astype(dtype)[:, None], (*lead, n, 1))
    y = solve(xnp.concatenate([even, turns], axis=-1))
    z = adjoint(xnp.concatenate([signs(y[..., :1]), even, turns], axis=-1))
    image = weighted(xnp.concatenate([z[..., 1:2]] * 2, axis=-1))
    catch = weighted(xnp.concatenate([z[..., 2:]] * 2, axis=-1))
    first = xnp.concatenate([sizes_of(y[..., :1]), sizes_of(image)], axis=-1)
    caught = xnp.concatenate([sizes_of(y[..., 1:]), sizes_of(catch)], axis=-1) * (2 / (3 * n))
    start = (z[..., :1], image, first, xnp.full_like(first, -1), xnp.zeros((), np.int32))
    best = xnp.maximum(while_loop(going, climb, start)[2], caught).astype(real)
    return best[..., 0], best[..., 1], best[..., 2]


# ------------------------------------------------------------------------------------------ scaling


def power_of_two(x, axes, half: bool = False):
    """A power of 2 of about the largest modulus (its root with ``half``), 1 where there is none."""
    real = dtypes.to_real(typeof(x).dtype)
    most = xnp.max(xnp.abs(x), axis=axes, initial=0).astype(real)
    good = (most > 0) & xnp.isfinite(most)
    exponent = xnp.log2(xnp.where(good, most, 1)) / (2 if half else 1)
    return xnp.exp2(xnp.round(exponent)).astype(real)


def to_unit(parts: tuple, x, b) -> tuple:
    """(parts of a, x and b at size about 1, s and t with a = s² a', b = t² b'): products of what is
    scaled do neither overflow nor vanish. b and x are (..., n, k); parts have as many batch axes."""
    lead = typeof(b).ndim - 2
    over = lambda y: tuple(range(lead, typeof(y).ndim))  # noqa: E731
    s = power_of_two(parts[0], over(parts[0]), half=True)
    for p in parts[1:]:
        s = xnp.maximum(s, power_of_two(p, over(p), half=True)) if 0 not in typeof(p).shape else s
    t = power_of_two(b, over(b), half=True)
    like = lambda c, y: c.astype(typeof(y).dtype)[(..., *[None] * len(over(y)))]  # noqa: E731
    parts = tuple(p / like(s, p) / like(s, p) for p in parts)
    x = x / like(t, x) * like(s, x) / like(t, x) * like(s, x)
    return parts, x, b / like(t, b) / like(t, b), s, t


def through(solve, s):
    """Solutions with a / s² from those with a: by halves, which stay in range."""
    return lambda y: (
        solve(y * s.astype(typeof(y).dtype)[..., None, None])
        * s.astype(typeof(y).dtype)[..., None, None]
    )


# -------------------------------------------------------------------------------------- certificate


def judged(
    make, parts: tuple, x, b, eps: float, pivot, failed=Status.singular, *, back=None, factors=1
) -> tuple:
    """(status, Report) of columns x with a x = b.

    Args:
      make: function from s and the parts of a / s², of size about 1, to the ``Equation``.
      factors: how many factors like the parts a is a product of.
      back: what gives residuals the shape of the user's.
    """
    wide = lambda y: y.astype(np.float32) if typeof(y).dtype.itemsize < 4 else y  # noqa: E731
    *parts, x, b = (wide(stop_gradient(y)) for y in (*parts, x, b))
    parts, x, b, s, t = to_unit(tuple(parts), x, b)
    for _ in range(1, factors):
        like = s.astype(typeof(x).dtype)[..., None, None]
        x = x * like * like
    status, told = certificate(make(s, *parts), x, b, eps, pivot, failed, t * t)
    return status, told if back is None else told.replace(residual=back(told.residual))


def certificate(
    equation: Equation, x, b, eps: float, pivot, failed=Status.singular, unit=1.0
) -> tuple:
    """(status, Report) of x (..., n, k), with a x = b at size about 1 (see ``to_unit``).

    Args:
      eps: precision of the dtype that x was rounded to.
      pivot: the number of the first vanishing pivot (...,), or -1.
      failed: what a vanishing pivot means.
      unit: what residuals are multiplied by, (...,).
    """
    *lead, n, k = typeof(x).shape
    real = dtypes.to_real(typeof(x).dtype)
    own = float(dtypes.finfo(real).eps)
    bad = pivot >= 0
    if 0 in (n, k) or 0 in lead:
        return nothing_to_solve(x)
    left = xnp.abs(b - equation.times(x))
    size = equation.sizes(xnp.abs(x)) + xnp.abs(b)
    largest = xnp.max(xnp.abs(x), axis=-2)
    omega = xnp.max(relative(left, size), axis=(-2, -1))
    weights = left + equation.rounding * own * size
    weights = xnp.max(relative(weights, largest[..., None, :]), axis=-1)
    norm_inf = equation.norm_inf
    if norm_inf is None:
        norm_inf = xnp.max(equation.sizes(xnp.ones((*lead, n, 1), real)), axis=(-2, -1))
    one, inf, off = inverse_norms(equation.solve, equation.adjoint, x, weights)
    condition, other = (
        xnp.where(bad | xnp.isnan(c), xnp.inf, c) for c in (equation.norm1 * one, norm_inf * inf)
    )
    residual = xnp.max(left, axis=-2)
    bound = norm_inf[..., None] * largest + xnp.max(xnp.abs(b), axis=-2)
    error = xnp.max(relative(residual, bound), axis=-1)
    finite = xnp.isfinite(x).all(axis=(-2, -1)) & ~xnp.isnan(off)
    off = xnp.where(bad | ~finite, xnp.inf, xnp.maximum(off, eps / 2))
    code = first_that_holds(
        (bad, failed), (~finite, Status.not_finite), (off > 0.1, Status.ill_conditioned),
        (~(error <= 30 * n * eps), Status.stagnation), (~bad, Status.success),
    )  # fmt: skip
    more = {"backward_error": error, "componentwise": omega, "condition_inf": other, "pivot": pivot}
    residual = residual * xnp.asarray(unit)[..., None] if xnp.ndim(unit) else residual * unit
    return code, Report(digits_of(off, eps), off, residual, condition, more)


def nothing_to_solve(x, back=None) -> tuple:
    """(status, Report) of equations without elements."""
    lead, real = typeof(x).shape[:-2], dtypes.to_real(typeof(x).dtype)
    none, one = xnp.zeros(lead, real), xnp.ones(lead, real)
    pivot = xnp.full(lead, -1, np.int32)
    more = {"backward_error": none, "componentwise": none, "condition_inf": one, "pivot": pivot}
    residual = xnp.zeros((*lead, *typeof(x).shape[-1:]), real)
    residual = residual if back is None else back(residual)
    digits = digits_of(none, float(dtypes.finfo(real).eps))
    return xnp.zeros(lead, np.int32), Report(digits, none, residual, one, more)
