"""Random vectors and matrices: normal with a covariance, orthogonal, in and on a ball."""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import boundary, dtypes, errors, one_of, typeof
from ..numpy._promote import as_array, astype, broadcast_shapes, check_shape
from ..numpy._select import safe_divide
from ._continuous import sample_exponential, sample_generalized_normal
from ._keys import consumed
from ._source import Source, draw, floating, positive, rounding, to_check
from ._staged import staged

_FACTORS = ("cholesky", "eigh", "svd")


def _factor(cov, method: str):
    """A matrix A with A Aᵀ = cov."""
    if method == "cholesky":
        return ops.cholesky(0.5 * (cov + xnp.swapaxes(cov, -1, -2)))
    if method == "eigh":
        values, vectors = ops.eigh(0.5 * (cov + xnp.swapaxes(cov, -1, -2)), vectors=True)
    else:
        values, vectors, right = ops.svd(cov, full=False, vectors=True)
        # of a negative eigenvalue the two singular vectors are opposite
        values = xnp.copysign(values, (vectors * xnp.swapaxes(right, -1, -2)).sum(axis=-2))
    return vectors * _root(values)[..., None, :]


def _root(values):
    """The roots of the eigenvalues of semidefinite matrices: 0 for those that rounding made negative."""
    n, dtype = typeof(values).shape[-1], typeof(values).dtype
    noise = (
        n * float(dtypes.finfo(dtype).eps) * xnp.abs(values).max(axis=-1, keepdims=True, initial=0)
    )
    return xnp.where(values < -noise, np.nan, xnp.sqrt(xnp.maximum(values, 0)))


@staged
def _correlated(arrays, shape, dtype, method, stream):
    data, mean, cov = arrays
    work = dtype if dtype.itemsize >= 4 else dtypes.float32
    factor = _factor(astype(cov, work), method)
    x = Source(stream, data).normal((*shape, typeof(mean).shape[-1]), work)
    return astype(astype(mean, work) + xnp.matvec(factor, x), dtype)


def _check_symmetric(who: str, cov) -> None:
    """A covariance that is known now is symmetric, but for rounding."""
    host = to_check(cov)
    if host is None or not host.size:
        return
    excess = np.abs(host - np.swapaxes(host, -1, -2)).max()
    if excess > rounding(typeof(cov).dtype) * np.abs(host).max():
        raise ValueError(
            f"xcore.{who}: cov must be symmetric, given a matrix with entries that differ from their mirror "
            f"images by up to {excess:g}."
        )


def check_definite(who: str, cov) -> None:
    """A covariance that is known now has a Cholesky factor."""
    host = to_check(cov)
    if host is None or not np.isfinite(host).all():
        return
    factor = _factor(xnp.asarray(host.astype(np.result_type(host.dtype, np.float32))), "cholesky")
    if not np.isfinite(factor).all():
        raise errors.SingularMatrixError(
            f'xcore.{who}: cov is not positive definite, so it has no factor by method="cholesky". '
            'Of a singular one give method="svd" or method="eigh".'
        )


@boundary
def multivariate_normal(key, mean, cov, shape=None, dtype=None, method="cholesky"):
    """Normal random vectors with a mean and a covariance matrix.

      f(x) = e^(-(x - m)ᵀ C⁻¹ (x - m)/2) / √(det(2π C))

    Args:
      key: a random key.
      mean: vectors (..., n).
      cov: symmetric matrices (..., n, n), positive definite, or semidefinite for "eigh" and "svd"; the
        numbers are NaN where they are not.
      shape: shape of the result without its last axis; that of the parameters if not given.
      dtype: floating dtype.
      method: how the covariance is factorised: "cholesky" (the fastest), "eigh" or "svd".

    >>> import xcore as xc, xcore.numpy as xnp
    >>> cov = xnp.array([[2.0, 1.0], [1.0, 2.0]])
    >>> xc.random.multivariate_normal(xc.random.key(0), xnp.zeros(2), cov, (5,)).shape
    (5, 2)
    """
    who = "random.multivariate_normal"
    one_of(who, "method", method, _FACTORS, f"one of {', '.join(map(repr, _FACTORS))}")
    mean, cov = as_array(who, mean, "mean"), as_array(who, cov, "cov")
    m, c = typeof(mean), typeof(cov)
    if not m.shape or c.shape[-2:] != (m.shape[-1], m.shape[-1]):
        raise errors.shape_mismatch(
            who, "need vectors (..., n) and matrices (..., n, n)", mean=mean, cov=cov
        )
    _check_symmetric(who, cov)
    needed = broadcast_shapes(who, m.shape[:-1], c.shape[:-2])
    shape = needed if shape is None else check_shape(who, shape)
    if broadcast_shapes(who, shape, needed) != shape:
        raise errors.ShapeError(
            f"xcore.{who}: the shape {shape} must end in that of the parameters, {needed}."
        )
    dtype = floating("multivariate_normal", dtype, mean, cov)
    found = consumed("multivariate_normal", key)
    return _correlated([found._data, mean, cov], shape, dtype, method, found._stream)


@staged
def _rotations(arrays, n, m, shape, dtype, stream):
    """Q of the QR factorisation of normal matrices, its signs made independent of the routine's."""
    [data] = arrays
    source = Source(stream, data)
    full = (*shape, max(n, m), min(n, m))
    x = (
        source.normal(full, dtype)
        if dtypes.is_floating(dtype)
        else source.complex_normal(full, dtype)
    )
    q, r = ops.qr(x, full=False, pivoting=False)
    diagonal = xnp.diagonal(r, axis1=-2, axis2=-1)
    size = xnp.abs(diagonal)
    q = q * (diagonal / xnp.where(size == 0, 1, size))[..., None, :]
    return xnp.swapaxes(q, -1, -2) if n < m else q


@boundary
def orthogonal(key, n, shape=(), dtype=None, m=None):
    """Orthogonal matrices, evenly spread over all of them (Haar's measure).

    Args:
      key: a random key.
      n: number of rows.
      shape: shape of an array of matrices.
      dtype: floating dtype, or a complex one for unitary matrices.
      m: number of columns, n if not given; with m ≠ n, the rows or columns are orthonormal.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> q = xc.random.orthogonal(xc.random.key(0), 3)
    >>> bool(xnp.allclose(q @ q.T, xnp.eye(3), atol=1e-5))
    True
    """
    who = "random.orthogonal"
    dtype = floating("orthogonal", dtype, complex_too=True)
    n, m = check_shape(who, (n, n if m is None else m))
    shape = check_shape(who, shape)
    work = dtype if dtype.itemsize >= 4 else dtypes.float32
    found = consumed("orthogonal", key)
    return astype(_rotations([found._data], n, m, shape, work, found._stream), dtype)


# Balls


def _sample_ball(source, p, *, shape, dtype):
    # Barthe, Guédon, Mendelson, Naor: A probabilistic approach to the geometry of the lp ball (2005)
    direction, radius = source.split(2)
    g = sample_generalized_normal(direction, p, shape=shape, dtype=dtype)
    e = sample_exponential(radius, shape=shape[:-1], dtype=dtype)
    size = (xnp.power(xnp.abs(g), p).sum(axis=-1) + e)[..., None]
    return g / xnp.power(size, 1 / p)


def _vector_shape(who: str, d, shape) -> tuple:
    [d] = check_shape(f"random.{who}", (d,))
    if d < 1:
        raise errors.bad_argument(f"random.{who}", "d", d, "at least 1")
    return (*check_shape(f"random.{who}", shape), d)


@boundary
def ball(key, d, p=2, shape=(), dtype=None):
    """Points spread evenly over the unit ball of the p-norm in d dimensions.

    Args:
      key: a random key.
      d: dimension.
      p: exponent of the norm, positive.
      shape: shape of the result without its last axis, of length d.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.ball(xc.random.key(0), 3, shape=(10,)).shape
    (10, 3)
    """
    return draw("ball", _sample_ball, key, _vector_shape("ball", d, shape), dtype, positive("p", p))


def _sample_sphere(source, *, shape, dtype):
    x = source.normal(shape, dtype)
    size = xnp.sqrt((x * x).sum(axis=-1, keepdims=True))
    # a vector of zeros (rare, in one dimension) points along the first axis
    first = ops.iota(shape=shape, dtype=dtype, axis=len(shape) - 1) == 0
    return safe_divide(x, size, xnp.where(first, 1.0, 0.0), where=size > 0)


@boundary
def sphere(key, d, shape=(), dtype=None):
    """Unit vectors in d dimensions, all directions equally likely.

    Args:
      key: a random key.
      d: dimension of the space.
      shape: shape of the result without its last axis, of length d.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.sphere(xc.random.key(0), 3, (10,)).shape
    (10, 3)
    """
    return draw("sphere", _sample_sphere, key, _vector_shape("sphere", d, shape), dtype)
