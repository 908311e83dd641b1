"""Distributions of vectors: multivariate normal, Dirichlet, multinomial."""

from __future__ import annotations

import inspect
import math
from types import SimpleNamespace

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .. import special
from .._core import dtypes, errors, fused, typeof
from ..numpy._promote import as_array, astype, broadcast_shapes
from ..numpy._promote import as_arrays as promoted
from ._family import named

_SETTINGS = {"left": True, "lower": True, "transpose": "N", "unit_diagonal": False}


def whitened(factor, x):
    """The columns of x in the coordinates in which a covariance, given by its Cholesky factor, is 1."""
    return ops.triangular_solve(factor, x, **_SETTINGS)


def _common_float(who: str, *xs) -> list:
    """Arrays of one floating dtype, each of its own shape."""
    xs = [as_array(who, x) for x in xs]
    dtype = typeof(
        promoted(who, *[np.zeros((), typeof(x).dtype) for x in xs], inexact=True)[0]
    ).dtype
    if not dtypes.is_floating(dtype):
        raise errors.dtype_not_allowed(who, dtype, "float")
    return [astype(x, dtype) for x in xs]


class Vectors(SimpleNamespace):
    """Functions of a family of distributions of vectors."""

    def _name(self) -> str:
        return next(name for name, value in globals().items() if value is self)

    def __reduce__(self):
        return named, (self._name(),)

    def __repr__(self):
        return f"xcore.stats.{self._name()}"


def _with_density(doc: str, logpdf, log_name: str, name: str, count: int):
    """The functions of a family: the logarithm, and its exponential."""

    def density(*args):
        return xnp.exp(logpdf(*args))

    density.__name__ = name
    density.__doc__ = f"The exponential of ``{log_name}``."
    density.__signature__ = inspect.signature(logpdf)
    return Vectors(**{log_name: fused(count)(logpdf), name: fused(count)(density), "__doc__": doc})


def _normal_logpdf(x, mean, cov):
    """The logarithm of the normal density of vectors (..., n) with covariance (..., n, n)."""
    who = "stats.multivariate_normal.logpdf"
    x, mean, cov = _common_float(who, x, mean, cov)
    if typeof(mean).shape == typeof(cov).shape == () and typeof(x).shape[-1:] != (1,):
        x = x[..., None]  # numbers, not a vector
    x, mean = (v if typeof(v).shape else v[None] for v in (x, mean))
    cov = (
        cov
        if typeof(cov).ndim > 1
        else xnp.atleast_1d(cov)[..., None]
        * xnp.eye(typeof(mean).shape[-1], dtype=typeof(cov).dtype)
    )
    n = typeof(cov).shape[-1]
    if typeof(cov).shape[-2] != n or typeof(mean).shape[-1] not in (1, n):
        raise errors.shape_mismatch(
            who, "need vectors (..., n) and matrices (..., n, n)", mean=mean, cov=cov
        )
    factor = ops.cholesky(cov)
    away = x - mean
    batch = broadcast_shapes(who, typeof(away).shape[:-1], typeof(cov).shape[:-2])
    away = xnp.broadcast_to(away, (*batch, n))
    white = whitened(xnp.broadcast_to(factor, (*batch, n, n)), away[..., None])[..., 0]
    log_root = xnp.log(xnp.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)
    return -0.5 * (white * white).sum(axis=-1) - log_root - 0.5 * n * math.log(2 * math.pi)


def _dirichlet_logpdf(x, alpha):
    """The logarithm of Dirichlet's density of vectors that sum to 1; a last part may be left out."""
    who = "stats.dirichlet.logpdf"
    x, alpha = _common_float(who, x, alpha)
    n, given = typeof(alpha).shape[-1:], typeof(x).shape[-1:]
    if not n or not given or given[0] not in (n[0], n[0] - 1):
        raise errors.shape_mismatch(
            who, "need x and alpha of one length along the last axis", x=x, alpha=alpha
        )
    if given[0] < n[0]:
        x = xnp.concatenate([x, 1 - x.sum(axis=-1, keepdims=True)], axis=-1)
    valid = (alpha > 0).all(axis=-1)
    inside = (x >= 0).all(axis=-1) & (xnp.abs(x.sum(axis=-1) - 1) < 1e-5)
    safe = xnp.where(inside[..., None], x, 1 / n[0])
    norm = special.gammaln(alpha).sum(axis=-1) - special.gammaln(alpha.sum(axis=-1))
    log_p = special.xlogy(alpha - 1, safe).sum(axis=-1) - norm
    return xnp.where(valid, xnp.where(inside, log_p, -np.inf), np.nan)


def _multinomial_logpmf(x, n, p):
    """The logarithm of the probability of counts (..., k) in n draws."""
    x, n, p = _common_float("stats.multinomial.logpmf", x, n, p)
    fits = (x.sum(axis=-1) == n) & (x >= 0).all(axis=-1) & (x == xnp.floor(x)).all(axis=-1)
    safe = xnp.where(fits[..., None], x, 0)
    log_p = special.gammaln(n + 1) + (special.xlogy(safe, p) - special.gammaln(safe + 1)).sum(
        axis=-1
    )
    valid = ((p >= 0) & (p <= 1)).all(axis=-1) & (xnp.abs(p.sum(axis=-1) - 1) < 1e-5)
    valid = valid & (n >= 0) & (n == xnp.floor(n))
    return xnp.where(valid, xnp.where(fits, log_p, -np.inf), np.nan)


multivariate_normal = _with_density(
    """Normal vectors: density e^(-r/2) / √((2π)^n det C), where r = (x - m)ᵀ C⁻¹ (x - m).

    >>> from xcore.stats import multivariate_normal
    >>> multivariate_normal.logpdf([0.0, 1.0], [0.0, 0.0], [[2.0, 0.0], [0.0, 1.0]])
    Array(-2.6844506, dtype=float32)
    """,
    _normal_logpdf, "logpdf", "pdf", 3,
)  # fmt: skip
dirichlet = _with_density(
    """Parts that sum to 1: density Π x_k^(α_k - 1) Γ(Σ α_k) / Π Γ(α_k).

    >>> from xcore.stats import dirichlet
    >>> round(float(dirichlet.pdf([0.2, 0.3, 0.5], [1.0, 2.0, 3.0])), 4)
    4.5
    """,
    _dirichlet_logpdf, "logpdf", "pdf", 2,
)  # fmt: skip
multinomial = _with_density(
    """Counts of n draws among k kinds: probability n! Π p_k^x_k / x_k!.

    >>> from xcore.stats import multinomial
    >>> round(float(multinomial.pmf([1, 2], 3, [0.5, 0.5])), 4)
    0.375
    """,
    _multinomial_logpmf, "logpmf", "pmf", 3,
)  # fmt: skip
