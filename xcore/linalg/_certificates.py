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
