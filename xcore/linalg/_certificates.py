"""What is known of the results of dense factorisations: residuals, and the bounds that follow."""

from __future__ import annotations

from .. import numpy as xnp
from .._core import dtypes
from .._core.eval import fused
from .._core.types import typeof
from .._iterate import Status, first_that_holds
from .._ops.matrices import adjoint
from ._arguments import as_inexact, epsilon, product
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


@fused(3)
def of_eigh(a, w, v):
    """(status, stats) of a = v diag(w) vᴴ."""
    (a,) = as_inexact("linalg.eigh", a)
    a = (a + adjoint(a)) / 2
    real = dtypes.to_real(typeof(a).dtype)
    n, size = typeof(a).shape[-1], xnp.max(xnp.abs(w), axis=-1, initial=0).astype(real)
    residual = _lengths(product(a, v) - v * w[..., None, :].astype(typeof(v).dtype))
    off = size[..., None] * _orthogonality(v)[..., None]
    stats = of_pairs(w, residual + off, size, n)
    return _status(residual + off, size, n, epsilon(a)), stats | {"residual": residual}


@fused(4)
def of_svd(a, u, s, vh):
    """(status, stats) of a = u diag(s) vh: the singular values are eigenvalues of (0 a; aᴴ 0)."""
    (a,) = as_inexact("linalg.svd", a)
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
    stats = of_pairs(s, residual + off, size, m + n, others)
    return _status(residual + off, size, max(m, n), epsilon(a)), stats | {"residual": residual}


def of_least_squares(a, b, x, rank) -> dict:
    """What the rank rests on, and how many digits of x, of least norm for that rank, are right.

    With a relative change e of a, and the gap g = (sᵣ - sᵣ₊₁) / s₁ that the rank rests on, x changes
    relatively by at most (e / g) (2 + (1 / g + 1) |b - a x| / (s₁ |x|)) + O(e²). (Wedin 1973; Higham
    2002, theorem 20.1) e is taken to be a few roundings, as the factorisation is backward stable.
    """
    m, n = typeof(a).shape[-2:]
    s = xnp.linalg.svdvals(a)
    real = typeof(s).dtype
    padded = xnp.concatenate([s, xnp.zeros((*typeof(s).shape[:-1], 2), real)], axis=-1)
    of = lambda k: xnp.take_along_axis(padded, k[..., None], axis=-1)[..., 0]  # noqa: E731
    first = xnp.where(padded[..., 0] > 0, padded[..., 0], 1)
    kept, dropped = of(xnp.maximum(rank - 1, 0)) / first, of(rank) / first
    gap = xnp.where(rank > 0, kept - dropped, 1)[..., None]
    left, size = _lengths(b - product(a, x)), _lengths(x)
    off = left + 4 * epsilon(a) * (first[..., None] * size + _lengths(b))
    share = xnp.where(size > 0, off / (first[..., None] * xnp.where(size > 0, size, 1)), 0)
    change = (4 + max(m, n) ** 0.5) * epsilon(a) / gap
    error = xnp.max(change * (2 + (1 / gap + 1) * share), axis=-1, initial=0)
    digits = -xnp.log10(xnp.maximum(error * min(m, n) ** 0.5, epsilon(a) / 2))
    digits = xnp.where(xnp.isfinite(error), xnp.clip(digits, 0, None), 0)
    condition = xnp.where(rank > 0, 1 / xnp.where(rank > 0, kept, 1), 1)
    return {"kept": kept, "dropped": dropped, "condition": condition, "digits": digits}
