"""What is known of the results of dense factorisations: residuals, and the bounds that follow."""

from __future__ import annotations

import functools

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import dtypes
from .._core.eval import fused
from .._core.types import typeof
from .._iterate import Status, first_that_holds
from .._ops.factor import solve_with
from .._ops.matrices import adjoint, swapped
from ..numpy._equations import solve_matrices
from ._arguments import as_inexact, epsilon, product
from ._equations import inverse_norms, largest, power_of_two, roundings, through
from ._report import Report, digits_of, relative
from ._truth import of_pairs


def _lengths(columns):
    """Norms of columns whose squares may overflow."""
    size = xnp.max(xnp.abs(columns), axis=(-2, -1), keepdims=True, initial=0)
    size = xnp.where((size > 0) & xnp.isfinite(size), size, 1)
    return size[..., 0, :] * xnp.sqrt(xnp.sum(xnp.abs(columns / size) ** 2, axis=-2))


def _status(residual, size, n: int, eps: float):
    """Of each matrix: success where residuals are as rounding leaves them."""
    most = xnp.max(residual, axis=-1, initial=0)
    return first_that_holds(
        (~xnp.isfinite(most), Status.not_finite), (most <= 30 * n * eps * size, Status.success),
        (most > 0, Status.stagnation),
    )  # fmt: skip


def _orthogonality(v):
    """|vᴴ v - 1| in the largest column sum: bounds err by that much, relatively."""
    gram = product(adjoint(v), v) - xnp.eye(typeof(v).shape[-1], dtype=typeof(v).dtype)
    return xnp.max(xnp.sum(xnp.abs(gram), axis=-2), axis=-1, initial=0)


@fused(4)
def of_eigh(a, w, v, b=None):
    """(status, Report) of a v = v diag(w), or a v = b v diag(w).

    With b = l lᴴ it is the first equation of l⁻¹ a l⁻ᴴ and lᴴ v: an eigenvalue is as near as
    |l⁻¹ (a v - w b v)| says. (Parlett 1998, section 15.4)
    """
    (a,) = map(ops.stop_gradient, as_inexact("linalg.eigh", a))
    a, w, v, b = _at_least_32_bits(a, w, v, b)
    a = (a + adjoint(a)) / 2
    real = dtypes.to_real(typeof(a).dtype)
    n, size = typeof(a).shape[-1], xnp.max(xnp.abs(w), axis=-1, initial=0).astype(real)
    values = w[..., None, :].astype(typeof(v).dtype)
    if b is None:
        residual = told = _lengths(product(a, v) - v * values)
    else:
        b = (b + adjoint(b)) / 2
        l = ops.cholesky(b)
        left = product(a, v) - product(b, v) * values
        told, residual = _lengths(left), _lengths(solve_with(l, left, True))
        back = solve_with(l, xnp.eye(n, dtype=typeof(l).dtype) + xnp.zeros_like(l), True)
        # rounding of the residual, and of l, which solutions with l amplify
        size = (_frobenius(a) + size * _frobenius(b)) * _frobenius(back) ** 2
        v = product(adjoint(l), v)
    off = size[..., None] * _orthogonality(v)[..., None]
    report = of_pairs(w, residual + off, size, n)
    return _status(residual + off, size, n, epsilon(a)), report.replace(residual=told)


def _at_least_32_bits(*arrays) -> list:
    """16-bit numbers in 32 bits: of what was rounded to 16 they tell more than 16 could."""
    narrow = lambda x: typeof(x).dtype.itemsize < 4  # noqa: E731
    return [x if x is None or not narrow(x) else x.astype(np.float32) for x in arrays]


def _frobenius(a):
    size = xnp.max(xnp.abs(a), axis=(-2, -1), keepdims=True, initial=0)
    size = xnp.where((size > 0) & xnp.isfinite(size), size, 1)
    return size[..., 0, 0] * xnp.sqrt(xnp.sum(xnp.abs(a / size) ** 2, axis=(-2, -1)))


@fused(3)
def of_eig(a, w, v):
    """(status, Report) of a v = v diag(w) for square matrices.

    With z about v⁻¹ the eigenvalues of a are those of diag(w) + z (a v - v diag(w)) up to what z v is not
    1: within Gerschgorin's discs around w, one in each that meets no other. Where discs meet, the error
    is bounded by all their diameters. |z[i]| |v[i]| is the condition of w[i]. (Golub and Van Loan
    2013, sections 7.2.1 and 7.2.2)
    """
    (a,) = map(ops.stop_gradient, as_inexact("linalg.eig", a))
    n, dtype = typeof(a).shape[-1], typeof(v).dtype
    a = a.astype(dtype)
    real, eps = dtypes.to_real(dtype), epsilon(v)
    size = xnp.max(xnp.abs(w), axis=-1, initial=0)
    if 0 in typeof(v).shape:
        none = xnp.zeros(typeof(w).shape, real)
        lead = typeof(w).shape[:-1]
        digits = digits_of(xnp.zeros(lead, real), eps)
        return xnp.zeros(lead, np.int32), Report(digits, none, none, none + 1)
    left = product(a, v) - v * w[..., None, :]
    residual = _lengths(left)
    one = xnp.eye(n, dtype=dtype) + xnp.zeros_like(v)
    z, _ = solve_matrices(v, one)
    loose = xnp.max(xnp.sum(xnp.abs(product(z, v) - one), axis=-1), axis=-1)
    amount = xnp.abs(z)
    rounding = roundings(n) * eps * (
        product(xnp.abs(a), xnp.abs(v)) + xnp.abs(v) * xnp.abs(w)[..., None, :]
    )  # fmt: skip
    radius = xnp.sum(xnp.abs(product(z, left)) + product(amount, 2 * rounding), axis=-1)
    loose = (loose + n * eps)[..., None]
    # (z v)⁻¹ for v⁻¹: rows of what remains are off by loose / (1 - loose) of the largest
    most = xnp.max(radius, axis=-1, keepdims=True)
    radius = radius + xnp.where(loose < 0.5, 2 * loose * most, xnp.inf)
    radius = xnp.where(xnp.isnan(radius), xnp.inf, radius) + float(dtypes.finfo(real).tiny)
    gaps = xnp.abs(w[..., :, None] - w[..., None, :])
    meets = gaps <= radius[..., :, None] + radius[..., None, :]
    meets = xnp.any(meets & ~np.eye(n, dtype=bool), axis=-1)
    error = xnp.where(meets, 2 * xnp.sum(radius, axis=-1, keepdims=True), radius)
    condition = _lengths(swapped(z)) * _lengths(v)
    off = xnp.where(size > 0, relative(xnp.max(error, axis=-1), size), xnp.inf)
    digits = digits_of(xnp.where(xnp.isfinite(size), off, xnp.inf), eps)
    return _status(residual, _frobenius(a), n, eps), Report(digits, error, residual, condition)


@fused(4)
def of_svd(a, u, s, vh):
    """(status, stats) of a = u diag(s) vh: the singular values are eigenvalues of (0 a; aᴴ 0)."""
    (a,) = map(ops.stop_gradient, as_inexact("linalg.svd", a))
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
    report = of_pairs(s, residual + off, size, m + n, others)
    report = report.replace(residual=residual)
    return _status(residual + off, size, max(m, n), epsilon(a)), report


def of_least_squares(a, b, x, rank, s) -> dict:
    """What the rank rests on, and how many digits of x, of least norm for that rank, are right.

    With a relative change e of a, and the gap g = (sᵣ - sᵣ₊₁) / s₁ that the rank rests on, x changes
    relatively by at most (e / g) (2 + (1 / g + 1) |b - a x| / (s₁ |x|)) + O(e²). (Wedin 1973; Higham
    2002, theorem 20.1) e is taken to be a few roundings, as the factorisation is backward stable.

    Args:
      s: the singular values, descending, or (s₁, sₙ) as far as they are known.
    """
    real = typeof(s).dtype
    padded = xnp.concatenate([s, xnp.zeros((*typeof(s).shape[:-1], 2), real)], axis=-1)
    of = lambda k: xnp.take_along_axis(padded, k[..., None], axis=-1)[..., 0]  # noqa: E731
    first = xnp.where(padded[..., 0] > 0, padded[..., 0], 1)
    kept, dropped = of(xnp.maximum(rank - 1, 0)) / first, of(rank) / first
    gap = xnp.where(rank > 0, kept - dropped, 1)[..., None]
    condition = xnp.where(rank > 0, 1 / xnp.where(rank > 0, kept, 1), 1)
    error = _wedin(a, b, x, first, gap)
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
    error = xnp.where(full, error, xnp.inf)
    return {"digits": digits_of(error, eps), "error": error, "condition": condition}


def _wedin(a, b, x, first, gap):
    """The bound of ``of_least_squares``, of the worst column; s₁ is given, or more."""
    m, n = typeof(a).shape[-2:]
    left, size = _lengths(b - product(a, x)), _lengths(x)
    off = left + 4 * epsilon(a) * (first[..., None] * size + _lengths(b))
    share = relative(off / first[..., None], size)
    gap = xnp.where(gap > 0, gap, 0)
    inverse = xnp.where(gap > 0, 1 / xnp.where(gap > 0, gap, 1), xnp.inf)
    change = (4 + max(m, n) ** 0.5) * epsilon(a) * inverse
    error = xnp.max(change * (2 + (inverse + 1) * share), axis=-1, initial=0)
    error = error * min(m, n) ** 0.5
    # of first order in the change: nothing is known where that is not small
    return xnp.where((xnp.max(change, axis=-1) < 0.1) & ~xnp.isnan(error), error, xnp.inf)
