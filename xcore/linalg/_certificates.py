"""What is known of the results of dense factorisations: residuals, and the bounds that follow."""

from __future__ import annotations

import functools

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import dtypes, fused, typeof
from .._ops import adjoint, solve_with, swapped
from .._solution import Certificate, Status, first_that_holds
from ..numpy._equations import solve_matrices
from ..numpy._select import safe_divide
from ._arguments import as_inexact, epsilon, hermitian_part, product
from ._digits import digits_of, of_truth, relative
from ._equations import coins, inverse_norms, largest, power_of_two, roundings, through
from ._range import below_range, lost, vanished
from ._sensitivity import frobenius, nothing, scaled, times, unit
from ._truth import of_pairs


def _lengths(columns):
    """Norms of columns whose squares may overflow, or vanish."""
    size = xnp.max(xnp.abs(columns), axis=-2, keepdims=True, initial=0)
    size = xnp.where((size > 0) & xnp.isfinite(size), size, 1)
    return size[..., 0, :] * xnp.sqrt(xnp.sum(xnp.abs(columns / size) ** 2, axis=-2))


def _status(residual, size, n: int, eps: float):
    """Of each matrix: success where residuals are as rounding leaves them."""
    most = xnp.max(residual, axis=-1, initial=0)
    return first_that_holds(
        (~xnp.isfinite(most), Status.not_finite), (most <= 30 * n * eps * size, Status.success),
        (most > 0, Status.stagnation),
    )  # fmt: skip


PROBES = 8


def probes(like):
    """Columns that see the Frobenius norm of matrices (..., m, n) like this, and a factor: |a x|_F times
    the factor is about |a|_F or twice that, and less with a probability of 0.001 at most.

    Of 4 PROBES columns or fewer it sees all. (Hutchinson 1990, "A stochastic estimator of the trace")
    """
    n, dtype = typeof(like).shape[-1], typeof(like).dtype
    x, factor = xnp.eye(n, dtype=dtype), 1.0
    if n > 4 * PROBES:
        x, factor = coins(n, PROBES, dtype), 4 / PROBES**0.5
    return xnp.broadcast_to(x, (*typeof(like).shape[:-2], *typeof(x).shape)), factor


def _orthogonality(v, metric=lambda x: x):
    """About |vᴴ m v - 1|_F or more, for x ↦ m x: bounds err by that much, relatively."""
    x, factor = probes(v)
    return factor * frobenius(product(adjoint(v), metric(product(v, x))) - x)


@fused(4)
def of_eigh(a, w, v, b=None):
    """(status, Certificate) of a v = v diag(w), or a v = b v diag(w).

    With b = l lᴴ it is the first equation of l⁻¹ a l⁻ᴴ and lᴴ v: an eigenvalue is as near as
    |l⁻¹ (a v - w b v)| says. (Parlett 1998, section 15.4)
    """
    (a,) = map(ops.stop_gradient, as_inexact("linalg.eigh", a))
    eps = epsilon(a)
    a, w, v, b = _at_least_32_bits(a, w, v, b)
    missed = lost(a, (-2, -1))[..., None]
    a = hermitian_part(a)
    real = dtypes.to_real(typeof(a).dtype)
    n, size = typeof(a).shape[-1], xnp.max(xnp.abs(w), axis=-1, initial=0).astype(real)
    values = w[..., None, :].astype(typeof(v).dtype)
    if b is None:
        residual, metric = _lengths(product(a, v) - v * values), lambda x: x
        shown = residual
    else:
        b = hermitian_part(b)
        l = ops.cholesky(b)
        left = product(a, v) - product(b, v) * values
        shown, residual = _lengths(left), _lengths(solve_with(l, left, True))
        # rounding of the residual, and of l, which solutions with l amplify
        size = (frobenius(a) + size * frobenius(b)) * _inverse_length(l) ** 2
        metric = lambda x: product(l, product(adjoint(l), x))  # noqa: E731
    off = size[..., None] * _orthogonality(v, metric)[..., None] + n * missed
    report = of_pairs(w, residual + off, size, n)
    return _status(residual + off, size, n, eps), report.replace(residual=shown)


def _inverse_length(l):
    """About |l⁻¹|_F or more, for lower triangular l."""
    x, factor = probes(l)
    return factor * frobenius(solve_with(l, x, True))


def _at_least_32_bits(*arrays) -> list:
    """16-bit numbers in 32 bits: of what was rounded to 16 they tell more than 16 could."""
    narrow = lambda x: typeof(x).dtype.itemsize < 4  # noqa: E731
    return [x if x is None or not narrow(x) else x.astype(np.float32) for x in arrays]


class _Basis:
    """Vectors of real matrices in real numbers: of pairs v, conj(v) the real and the imaginary part.

    With v = x t, the z of above is t⁻¹ x⁻¹, where t⁻¹ has blocks (1 -i; 1 i) / 2. Of complex matrices
    the vectors are what they are.
    """

    def __init__(self, real: bool, w):
        self.real, self.w = real, w
        self.above, self.below = (
            s * xnp.imag(w) > 0 if real else xnp.zeros(typeof(w).shape, bool) for s in (1, -1)
        )
        self.share = xnp.where(self.above | self.below, 0.5, 1)

    def of(self, v):
        """x of the vectors v, or of other columns that come in pairs."""
        return xnp.where(self.below[..., None, :], -xnp.imag(v), xnp.real(v)) if self.real else v

    def partner(self, y, alone):
        """What belongs to the other one of a pair, in a last axis; where there is none: alone."""
        other = xnp.where(self.below, xnp.roll(y, 1, axis=-1), alone)
        return xnp.where(self.above, xnp.roll(y, -1, axis=-1), other)

    def length(self, y):
        """Of complex vectors, from the lengths of the two real ones."""
        return xnp.hypot(y, self.partner(y, 0)) if self.real else y

    def sum(self, y):
        """Sums of moduli over rows of t⁻¹ y t, or more, from those of y."""
        pairs = xnp.any(self.above, axis=-1, keepdims=True)
        return y + xnp.where(pairs, self.partner(y, y), 0) if self.real else y

    def holds(self, v):
        """Whether the values and vectors are the pairs they are taken for."""
        if not self.real:
            return xnp.ones((), bool)
        both = xnp.concatenate([self.w[..., None, :], v], axis=-2)
        above, below = self.above[..., None, :], self.below[..., None, :]
        turned = xnp.where(below, xnp.roll(both, 1, axis=-1), both)
        turned = xnp.where(above, xnp.roll(both, -1, axis=-1), turned)
        return (turned == xnp.conj(both)).all(axis=(-2, -1))[..., None]


@fused(3)
def of_eig(a, w, v):
    """(status, Certificate) of a v = v diag(w) for square matrices.

    With z about v⁻¹ the eigenvalues of a are those of diag(w) + z (a v - v diag(w)) up to what z v is not
    1: within Gerschgorin's discs around w, one in each that meets no other. Where discs meet, the error
    is bounded by all their diameters. |z[i]| |v[i]| is the condition of w[i]. (Golub and Van Loan
    2013, sections 7.2.1 and 7.2.2)
    """
    (a,) = map(ops.stop_gradient, as_inexact("linalg.eig", a))
    n, dtype = typeof(a).shape[-1], typeof(v).dtype
    real_given = not dtypes.is_complex(typeof(a).dtype)
    a = a.astype(dtypes.to_real(dtype) if real_given else dtype)
    real, eps = dtypes.to_real(dtype), epsilon(v)
    size = xnp.max(xnp.abs(w), axis=-1, initial=0)
    if 0 in typeof(v).shape:
        none = xnp.zeros(typeof(w).shape, real)
        lead = typeof(w).shape[:-1]
        digits = digits_of(xnp.zeros(lead, real), eps)
        return xnp.zeros(lead, np.int32), Certificate(digits, none, none, none + 1)
    basis = _Basis(real_given, w)
    x = basis.of(v)
    left = times(a, x) - basis.of(v * w[..., None, :])
    residual = basis.length(_lengths(left))
    one = xnp.eye(n, dtype=typeof(x).dtype) + xnp.zeros_like(x)
    z, _ = solve_matrices(x, one)
    y, factor = probes(x)
    loose = factor * n**0.5 * frobenius(times(z, times(x, y)) - y)
    # rows of |a| |x| + |x| |w|, and what they sum to
    sizes = n * _lengths(swapped(a)) + 2 * xnp.sum(xnp.abs(x) * xnp.abs(w)[..., None, :], axis=-1)
    missed = lost(a, (-2, -1))[..., None]
    vanishing = n * (missed + _normal(size > 0, size)[..., None])
    sizes = 2 * roundings(n) * eps * sizes + 2 * vanishing
    rounding = product(xnp.abs(z), sizes[..., None])[..., 0]
    radius = basis.sum(xnp.sum(xnp.abs(times(z, left)), axis=-1) + rounding)
    loose = (loose + n * eps)[..., None]
    # (z v)⁻¹ for v⁻¹: rows of what remains are off by loose / (1 - loose) of the largest
    most = xnp.max(radius, axis=-1, keepdims=True)
    radius = radius + xnp.where(loose < 0.5, 2 * loose * most, xnp.inf)
    radius = xnp.where(xnp.isnan(radius) | ~basis.holds(v), xnp.inf, radius)
    radius = radius + float(dtypes.finfo(real).tiny)
    gaps = xnp.abs(w[..., :, None] - w[..., None, :])
    meets = gaps <= radius[..., :, None] + radius[..., None, :]
    meets = xnp.any(meets & ~np.eye(n, dtype=bool), axis=-1)
    error = xnp.where(meets, 2 * xnp.sum(radius, axis=-1, keepdims=True), radius)
    condition = basis.length(_lengths(swapped(z))) * basis.share * _lengths(v)
    off = relative(xnp.max(error, axis=-1), size)
    digits = digits_of(of_truth(xnp.where(xnp.isfinite(size), off, xnp.inf)), eps)
    status = _status(residual + n * missed, frobenius(a), n, eps)
    return status, Certificate(digits, error, residual, condition)


@fused(4)
def of_svd(a, u, s, vh):
    """(status, certificate) of a = u diag(s) vh: the singular values are eigenvalues of (0 a; aᴴ 0)."""
    (a,) = map(ops.stop_gradient, as_inexact("linalg.svd", a))
    eps = epsilon(a)
    a, u, s, vh = _at_least_32_bits(a, u, s, vh)
    m, n = typeof(a).shape[-2:]
    k = min(m, n)
    u, v = u[..., :k], adjoint(vh)[..., :k]
    values = s[..., None, :].astype(typeof(u).dtype)
    there = _lengths(product(a, v) - u * values)
    back = _lengths(product(adjoint(a), u) - v * values)
    residual = xnp.maximum(there, back)
    size = xnp.max(s, axis=-1, initial=0)
    off = size[..., None] * xnp.maximum(_orthogonality(u), _orthogonality(v))[..., None]
    # zeros of (0 a; aᴴ 0), for matrices that are not square, and values -s
    others = -s if m == n else xnp.concatenate([-s, xnp.zeros_like(s[..., :1])], axis=-1)
    off = off + (m + n) * lost(a, (-2, -1))[..., None]
    report = of_pairs(s, residual + off, size, m + n, others)
    report = report.replace(residual=residual)
    return _status(residual + off, size, max(m, n), eps), report


def of_inverse(a, x, eps: float, pivot, failed=Status.singular) -> tuple:
    """(status, Certificate) of x for a⁻¹, without a solution or a product of matrices.

    With r = 1 - a x it is x (1 - r)⁻¹. Where |r[i,j]| <= u[i] l[j] for the lengths l of columns of x, these
    are off, relatively, by at most |x| u / (1 - l u), whatever the scales of rows of a. Of the rows of r
    what is seen through a few columns is counted. (Higham 2002, section 14.1)
    """
    a, x = _at_least_32_bits(*map(ops.stop_gradient, (a, x)))
    n, real, own = typeof(a).shape[-1], dtypes.to_real(typeof(a).dtype), epsilon(a)
    if 0 in typeof(a).shape:
        return nothing(x, eps, backward_error=xnp.zeros(typeof(x).shape[:-2], real), pivot=pivot)
    one = unit(a)
    a, x = scaled(a, one), scaled(x, 1 / one)
    length = largest(x, -2)[..., None]
    short = 1 / xnp.where(length > 0, length, 1)
    y, factor = probes(x)
    both = xnp.concatenate([y * short.astype(typeof(y).dtype), y], axis=-1)
    k = typeof(y).shape[-1]
    r = both - product(a, product(x, both))
    left, plain = factor * _row_lengths(r[..., :k]), factor * frobenius(r[..., k:])
    moduli = xnp.abs(a)
    size = product(moduli, _row_lengths(x * swapped(short).astype(typeof(x).dtype))) + short
    u = left + 2 * roundings(n) * own * size + float(dtypes.finfo(real).tiny)
    share = xnp.sum(length * u, axis=(-2, -1))
    off = largest(product(xnp.abs(x), u), (-2, -1))
    off = xnp.where(share < 0.5, off / (1 - xnp.minimum(share, 0.5)), xnp.inf)
    bad, finite = pivot >= 0, xnp.isfinite(x).all(axis=(-2, -1)) & ~xnp.isnan(off)
    off = xnp.where((length > 0).all(axis=(-2, -1)), off, xnp.inf)  # columns below the range
    off = of_truth(xnp.where(bad | ~finite, xnp.inf, xnp.maximum(off, eps / 2)))
    backward = largest(relative(left, size), (-2, -1))
    known = xnp.isfinite(moduli).all(axis=(-2, -1))
    code = first_that_holds(
        (bad & known, failed), (bad | ~(finite & known), Status.not_finite), (off > 0.1, Status.ill_conditioned),
        (~(backward <= 30 * n * eps), Status.stagnation), (~bad, Status.success),
    )  # fmt: skip
    norms = [
        xnp.max(xnp.sum(moduli, axis=k), axis=-1) * xnp.max(xnp.sum(xnp.abs(x), axis=k), axis=-1)
        for k in (-2, -1)
    ]
    norms = [xnp.where(bad | ~finite, xnp.inf, k) for k in norms]
    more = {"backward_error": backward, "condition_inf": norms[1], "pivot": pivot}
    return code, Certificate(digits_of(off, eps), off, plain, norms[0], more)


def _row_lengths(x):
    """Norms of rows, as columns."""
    size = unit(x)[..., None, None]
    inner = xnp.abs(x / size.astype(typeof(x).dtype))
    return size * xnp.sqrt(xnp.sum(inner * inner, axis=-1, keepdims=True))


def _normal(where, like):
    """The smallest normal number there, else 0, as wide as the real ``like``."""
    real = typeof(like).dtype
    return xnp.where(where, dtypes.finfo(real).tiny, real.type(0))


def of_least_squares(a, b, x, rank, s, unit=1) -> dict:
    """What the rank rests on, and how many digits of x, of least norm for that rank, are right.

    With a relative change e of a, and the gap g = (sᵣ - sᵣ₊₁) / s₁ that the rank rests on, x changes
    relatively by at most (e / g) (2 + (1 / g + 1) |b - a x| / (s₁ |x|)) + O(e²). (Wedin 1973; Higham
    2002, theorem 20.1) e is taken to be a few roundings, as the factorisation is backward stable.

    Args:
      s: the singular values, descending, or (s₁, sₙ) as far as they are known, by ``unit``.
    """
    real = typeof(s).dtype
    padded = xnp.concatenate([s, xnp.zeros((*typeof(s).shape[:-1], 2), real)], axis=-1)
    of = lambda k: xnp.take_along_axis(padded, k[..., None], axis=-1)[..., 0]  # noqa: E731
    first = xnp.where(padded[..., 0] > 0, padded[..., 0], 1)
    kept, dropped = of(xnp.maximum(rank - 1, 0)) / first, of(rank) / first
    gap = xnp.where(rank > 0, kept - dropped, 1)[..., None]
    condition = safe_divide(1, kept, 1, where=rank > 0)
    error = _wedin(a, b, x, first * unit, gap)
    return {
        "digits": digits_of(error, epsilon(a)), "error": error, "condition": condition,
        "more": {"kept": kept, "dropped": dropped},
    }  # fmt: skip


def of_full_rank(a, b, x, r, full) -> dict:
    """Of x by a = q r, where r is regular: |r|₂ <= √(|r|₁ |r|_∞), and as much for r⁻¹."""
    eps = epsilon(a)
    if 0 in typeof(r).shape:
        none = xnp.zeros(typeof(r).shape[:-2], typeof(xnp.real(r)).dtype)
        return {"digits": digits_of(none, eps), "error": none, "condition": none + 1}
    sums = (xnp.max(xnp.sum(xnp.abs(r), axis=axis), axis=-1) for axis in (-2, -1))
    s = power_of_two(largest(r, (-2, -1)), half=True)
    size = functools.reduce(xnp.multiply, (xnp.sqrt(y) / s for y in sums))
    there = lambda y: solve_with(r, y, False)  # noqa: E731
    back = lambda y: solve_with(r, y, False, transpose="C")  # noqa: E731
    both = (through(f, s[..., None, None]) for f in (there, back))
    one, inf, _ = inverse_norms(*both, r[..., :1], xnp.zeros(typeof(r).shape[:-1], s.dtype))
    inverse = 3 * xnp.sqrt(one) * xnp.sqrt(inf)  # the estimates are from below
    condition = xnp.where(full & ~xnp.isnan(inverse), size * inverse, xnp.inf)
    error = _wedin(a, b, x, size * s * s, (1 / condition)[..., None])
    reflected = xnp.isfinite(
        below_range(4 * r)
    )  # reflections divide by twice the length of a column
    error = xnp.where(full & reflected, error, xnp.inf)
    return {"digits": digits_of(error, eps), "error": error, "condition": condition}


def _wedin(a, b, x, first, gap):
    """The bound of ``of_least_squares``, of the worst column; s₁ is given, or more.

    Elements of b and x may miss what is below the range: the one as another change, the other as it is.
    """
    m, n = typeof(a).shape[-2:]
    left, size = _lengths(b - product(a, x)), _lengths(x)
    off = left + 4 * epsilon(a) * (first[..., None] * size + _lengths(b))
    share = relative(off, size) / first[..., None]
    gap = xnp.where(gap > 0, gap, 0)
    inverse = safe_divide(1, gap, xnp.inf, where=gap > 0)
    change = ((4 + max(m, n) ** 0.5) * epsilon(a) + vanished(a, m + n)[..., None]) * inverse
    below = relative(below_range(b, m + n)[..., None], size) / first[..., None]
    error = xnp.max(change * (2 + (inverse + 1) * share) + inverse * below, axis=-1, initial=0)
    error = error * min(m, n) ** 0.5 + vanished(b, m + n)
    error = error + vanished(x, m + n) * xnp.max(xnp.minimum(inverse, 1 / epsilon(a)), axis=-1)
    # of first order in the change: nothing is known where that is not small
    return of_truth(xnp.where((xnp.max(change, axis=-1) < 0.1) & ~xnp.isnan(error), error, xnp.inf))
