"""Certificates of linear equations a x = b, from products with a and solutions with a and aᴴ.

With r = b - a x and its rounding each column x is off by at most

    | |a⁻¹| (|r| + c eps (|a| |x| + |b|)) |

in the ∞-norm, whatever the scales of rows. (Arioli, Demmel and Duff 1989, "Solving sparse linear
systems with sparse backward error") The norm is estimated, not computed: a few solutions do.

Near the lower end of the range numbers vanish: what a and b hold below the smallest normal number
counts as zero on many processors, and so does what products leave there. Each is counted as an error
of that size.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import cond, stop_gradient
from .._core import dtypes, typeof
from .._ops import adjoint, part, swapped
from .._solution import Certificate, Status, first_that_holds
from ..numpy._select import safe_divide
from ._arguments import product
from ._digits import digits_of, of_truth, relative
from ._range import lost


class Equation(NamedTuple):
    """A linear equation of columns (..., n, k), as far as its certificate needs it.

    Attributes:
      times, sizes: x ↦ a x, and x ↦ |a| x for x >= 0.
      solve, adjoint: b ↦ a⁻¹ b, a⁻ᴴ b.
      norm1, norm_inf: norms of a; the second is that of sizes where it is not given.
      rounding: a x is off by at most this many roundings of |a| |x|.
      blur: and a itself, of what it stands for.
    """

    times: Callable
    sizes: Callable
    solve: Callable
    adjoint: Callable
    norm1: Any
    rounding: float
    norm_inf: Any = None
    blur: float = 0.0


def roundings(n: int) -> float:
    """About how many roundings a sum of n products has, most of them cancelling."""
    return 1 + n**0.5 / 4


def signs(y):
    size = xnp.abs(y)
    return safe_divide(y, size, 1).astype(typeof(y).dtype)


def coins(n: int, k: int, dtype):
    """(n, k) numbers from 1/2 to 1 of either sign, without order, the same in every call.

    Were all as large as 1, two of one sign would hide a direction in which just these two cancel, as where a matrix
    has two rows that are nearly equal. Bits of a hash of their places. (Wellons 2018, "Prospecting for hash functions")
    """
    x = xnp.arange(n * k, dtype=np.uint32).reshape(n, k)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B), (16, 1)):
        x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)
    size = 0.5 + (x >> np.uint32(9)).astype(np.float32) * np.float32(2.0**-24)
    return xnp.where(x & np.uint32(1) == 0, size, -size).astype(dtype)


FEW = 8  # of so few columns the inverse itself costs no more than an estimate


def inverse_norms(solve, adjoint, like, weights) -> tuple:
    """Estimates from below of |a⁻¹|₁, |a⁻¹|_∞ and | |a⁻¹| w |_∞ for weights w >= 0 (..., n).

    One solution of four columns, c and thrice w c for coins c, shows which rows of a⁻¹ and of
    a⁻¹ diag(w) are long, and one of eight with aᴴ how long; coins and the signs of the first, which aᴴ
    takes to long columns, are among the eight. So each factor is passed twice. (After Higham and
    Tisseur 2000, "A block algorithm for matrix 1-norm estimation", who climb on from there)
    """
    *lead, n, _ = typeof(like).shape
    dtype = typeof(like).dtype
    w, one = weights.astype(dtype)[..., None], xnp.ones((*lead, n, 1), dtype)
    if n <= FEW:
        return _norms_of_few(solve, w, one)
    coin = xnp.broadcast_to(coins(n, 7, dtype), (*lead, n, 7))
    scale = xnp.concatenate([one, w, w, w], axis=-1)
    y = solve(scale * coin[..., :4])
    size = xnp.abs(y)
    z = adjoint(xnp.concatenate([_corners(size, dtype), signs(y[..., :1]), coin[..., 4:]], axis=-1))
    far = xnp.abs(z)
    rows = xnp.sum(xnp.abs(scale) * far[..., :4], axis=-2)
    rows = xnp.maximum(rows, xnp.max(size, axis=-2))
    columns = xnp.maximum(xnp.max(far, axis=(-2, -1)), xnp.sum(size, axis=-2)[..., 0] / n)
    return columns, rows[..., 0], xnp.max(rows[..., 1:], axis=-1)


def _corners(size, dtype):
    """Of each column the vector of sum 1 that is not 0 where its largest element stands.

    Of equal ones the last, but for those that the factor below does not tell apart.
    """
    n, real = typeof(size).shape[-2], typeof(size).dtype
    size = size * (1 + xnp.arange(n, dtype=real)[:, None] * (2.0**-10 / n)).astype(real)
    found = (size == xnp.max(size, axis=-2, keepdims=True)).astype(dtype)
    return found / xnp.sum(found, axis=-2, keepdims=True)


def _norms_of_few(solve, w, one) -> tuple:
    n = typeof(w).shape[-2]
    one = one * xnp.eye(n, dtype=typeof(w).dtype)
    y = xnp.abs(solve(xnp.concatenate([one, w * one], axis=-1)))
    sums = xnp.sum(y[..., :n], axis=-2), *(xnp.sum(y[..., k : k + n], axis=-1) for k in (0, n))
    return tuple(xnp.max(x, axis=-1) for x in sums)


# Scaling


def power_of_two(most, half: bool = False):
    """A power of 2 near these numbers >= 0 (near their roots with ``half``), 1 for 0 and NaN."""
    info = dtypes.finfo(typeof(most).dtype)
    most = xnp.where(most > 0, xnp.clip(most, float(info.tiny), float(info.max)), 1)
    exponent = xnp.log2(most) / (2 if half else 1)
    return xnp.exp2(xnp.round(exponent)).astype(typeof(most).dtype)


def largest(x, axes):
    """The largest modulus."""
    return xnp.max(xnp.abs(x), axis=axes, initial=0)


def by(s, x, times: int = 1):
    """x times the real s (of matrices: (..., 1, 1)) to a power, one after the other."""
    s = s.astype(typeof(x).dtype)
    for _ in range(abs(times)):
        x = x * s if times > 0 else x / s
    return x


def in_units(s, x, b) -> tuple:
    """(x', b', t): for a' = a / s², of size about 1, the columns x' = s² x / t² and b' = b / t².

    Each column of them has size 1 at most, and so has a' x': nothing overflows, and what vanishes
    does not count.
    """
    t = xnp.maximum(
        s * xnp.sqrt(largest(x, -2)[..., None, :]), xnp.sqrt(largest(b, -2))[..., None, :]
    )
    t = power_of_two(t)
    return by_turns(s, t, x), by(t, b, -2), t


def by_turns(s, t, x):
    """s² x / t²."""
    return by(s, by(t, by(s, by(t, x, -1)), -1))


def through(solve, s):
    """Solutions with a / s² from those with a: by halves, which stay in range."""
    return lambda y: by(s, solve(by(s, y)))


def _widened(y):
    """Without derivatives; 16 bits in 32, where its rounding does not hide what is wrong."""
    y = stop_gradient(y)
    return y.astype(np.float32) if typeof(y).dtype.itemsize < 4 else y


# Certificate


def judged(
    make, parts: tuple, x, b, eps: float, pivot, failed=Status.singular, *, back=None, factors=1, lengths=None
) -> tuple:  # fmt: skip
    """(status, Certificate) of columns x with a x = b.

    Args:
      make: function from s and the parts of a / s², of size about 1, to the ``Equation``.
      factors: how many factors like the parts a is a product of.
      back: what gives residuals the shape of the user's.
      lengths: see ``certificate``.
    """
    *parts, x, b = map(_widened, (*parts, x, b))  # pyright: ignore[reportAssignmentType]
    if 0 in typeof(x).shape:
        return nothing_to_solve(x, back)
    lead = typeof(b).ndim - 2
    axes = [tuple(range(lead, typeof(p).ndim)) for p in parts]
    sizes = [largest(p, along) for p, along in zip(parts, axes)]
    s = power_of_two(functools.reduce(xnp.maximum, sizes), half=True)
    missed = functools.reduce(xnp.maximum, [lost(p, along) for p, along in zip(parts, axes)])
    parts = [by(s.reshape((*s.shape, *[1] * len(along))), p, -2) for p, along in zip(parts, axes)]  # pyright: ignore[reportAssignmentType]
    root, s = s, s[..., None, None]
    missed = missed / root / root * factors * typeof(x).shape[-2] ** (factors - 1)
    given, (x, b, t) = b, in_units(s**factors, x, b)
    missed = _missed(missed, given, x, t)
    status, verdict = certificate(make(s, *parts), x, b, eps, pivot, failed, t, missed, lengths)
    return status, verdict if back is None else verdict.replace(residual=back(verdict.residual))


def judged_dense(
    a, x, b, solve, adjoint, eps: float, pivot, failed=Status.singular, *, hermitian=False
) -> tuple:
    """(status, Certificate) of columns x with a x = b, where no scaled copy of a is made.

    Args:
      solve: b ↦ a⁻¹ b up to the order of rows, which norms do not see; so with ``adjoint``.
      hermitian: of a, which is Hermitian, the lower triangle counts; but that numbers above it are others
        shows in the residual.
    """
    a, x, b = map(_widened, (a, x, b))
    read = lambda: part(a, ops.ge) if hermitian else a  # noqa: E731
    m, one = xnp.abs(read()), xnp.ones((*typeof(a).shape[:-1], 1), typeof(xnp.real(a)).dtype)
    times = _times_lower if hermitian else product
    # products, each with one column: XLA does those several times faster than sums or a product with two
    length = power_of_two(largest(x, -2)[..., None, :])
    sizes, rows = times(m, xnp.abs(x) / length), times(m, one)
    columns = rows if hermitian else product(swapped(one), m)
    norms = [xnp.max(y, axis=(-2, -1), initial=0) for y in (columns, rows)]
    root = power_of_two(functools.reduce(xnp.maximum, norms), half=True)
    s = root[..., None, None]
    given, (x, b, t) = b, in_units(s, x, b)
    missed = _missed(lost(read(), (-2, -1)) / root / root, given, x, t)
    sizes = by(s, sizes, -2) * by_turns(s, t, length)

    def image(x):
        y = by(s, x, -2)
        z = product(a, y)
        if not hermitian:
            return z
        known = xnp.isfinite(z)
        return cond(xnp.all(known), lambda: z, lambda: xnp.where(known, z, times(read(), y)))

    equation = Equation(
        image, lambda _: sizes,
        through(solve, s), through(adjoint, s), norms[0] / root / root,
        roundings(typeof(a).shape[-1]), norms[1] / root / root,
    )  # fmt: skip
    return certificate(equation, x, b, eps, pivot, failed, t, missed)


def _missed(of_a, b, x, t):
    """What each row of a x - b misses, in units, where elements of a and b count as zero."""
    of_a = of_a[..., None, None] * xnp.sum(xnp.abs(x), axis=-2, keepdims=True)
    return of_a + by(t, lost(b, -2)[..., None, :], -2)


def _times_lower(a, x):
    """a x for the Hermitian matrix of which a is the lower triangle, with its diagonal."""
    back = adjoint(product(adjoint(x), a))
    along = xnp.real(xnp.diagonal(a, axis1=-2, axis2=-1))[..., None].astype(typeof(a).dtype)
    return product(a, x) + back - along * x


def certificate(
    equation: Equation, x, b, eps: float, pivot, failed=Status.singular, t=1.0, missed=0.0, lengths=None
) -> tuple:  # fmt: skip
    """(status, Certificate) of x (..., n, k), with a x = b at size about 1 (see ``in_units``).

    Args:
      eps: precision of the dtype that x was rounded to.
      pivot: the number of the first vanishing pivot (...,), or -1.
      failed: what a vanishing pivot means.
      t: what residuals are multiplied by, twice, (..., 1, k).
      missed: what rows of the residual miss, (..., 1, k).
      lengths: units of the unknowns, (..., n, 1), in which errors are told; the equation's ``solve`` and ``adjoint``
        are those of lengths a⁻¹ then.
    """
    *lead, n, k = typeof(x).shape
    real = dtypes.to_real(typeof(x).dtype)
    own, tiny = float(dtypes.finfo(real).eps), dtypes.finfo(real).tiny
    bad = pivot >= 0
    if 0 in (n, k) or 0 in lead:
        return nothing_to_solve(x)
    left = xnp.abs(b - equation.times(x))
    size, norm_inf = _sizes(equation, x)
    size = size + xnp.abs(b)
    length = largest(x, -2)[..., None, :]
    omega = xnp.max(relative(left, size), axis=(-2, -1))
    # in roundings: they would vanish
    weights = left / own + (equation.rounding + equation.blur) * size
    weights = weights + xnp.where(length > 0, n * tiny / own, real.type(0)) + missed / own
    counted = length if lengths is None else largest(x * lengths.astype(x.dtype), -2)[..., None, :]
    weights = xnp.max(relative(weights, counted), axis=-1)
    one, inf, off = inverse_norms(equation.solve, equation.adjoint, x, weights)
    condition, other = (
        xnp.where(bad | xnp.isnan(c), xnp.inf, c) for c in (equation.norm1 * one, norm_inf * inf)
    )
    residual = xnp.max(left, axis=-2, keepdims=True)
    bound = norm_inf[..., None, None] * length + largest(b, -2)[..., None, :]
    blur = own * equation.blur * xnp.max(size, axis=-2, keepdims=True)
    left = residual + blur
    error = xnp.max(xnp.where(left > bound, xnp.inf, relative(left, bound)), axis=(-2, -1))
    finite = xnp.isfinite(x).all(axis=(-2, -1)) & ~xnp.isnan(off)
    off = of_truth(xnp.where(bad | ~finite, xnp.inf, xnp.maximum(off * own, eps / 2)))
    known = xnp.isfinite(norm_inf) & xnp.isfinite(b).all(axis=(-2, -1))
    code = first_that_holds(
        (bad & known, failed), (bad | ~(finite & known), Status.not_finite), (off > 0.1, Status.ill_conditioned),
        (~(error <= 30 * n * eps), Status.stagnation), (~bad, Status.success),
    )  # fmt: skip
    more = {"backward_error": error, "componentwise": omega, "condition_inf": other, "pivot": pivot}
    residual = (residual * t * t)[..., 0, :]
    return code, Certificate(digits_of(off, eps), off, residual, condition, more)


def _sizes(equation: Equation, x) -> tuple:
    """(|a| |x|, the ∞-norm of a: what is left of it where a is blurred)."""
    if not (equation.norm_inf is None or equation.blur):
        return equation.sizes(xnp.abs(x)), equation.norm_inf
    one, k = xnp.ones_like(xnp.real(x[..., :1])), typeof(x).shape[-1]
    both = equation.sizes(xnp.concatenate([xnp.abs(x), one], axis=-1))
    most = xnp.max(both[..., k:], axis=(-2, -1))
    if equation.norm_inf is None:
        return both[..., :k], most
    own = float(dtypes.finfo(typeof(one).dtype).eps)
    return both[..., :k], xnp.maximum(equation.norm_inf - own * equation.blur * most, 0)


def nothing_to_solve(x, back=None) -> tuple:
    """(status, Certificate) of equations without elements."""
    lead, real = typeof(x).shape[:-2], dtypes.to_real(typeof(x).dtype)
    none, one = xnp.zeros(lead, real), xnp.ones(lead, real)
    pivot = xnp.full(lead, -1, np.int32)
    more = {"backward_error": none, "componentwise": none, "condition_inf": one, "pivot": pivot}
    residual = xnp.zeros((*lead, *typeof(x).shape[-1:]), real)
    residual = residual if back is None else back(residual)
    digits = digits_of(none, float(dtypes.finfo(real).eps))
    return xnp.zeros(lead, np.int32), Certificate(digits, none, residual, one, more)
