"""Covariance and correlation of variables."""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .._core import dtypes, errors, fused, typeof
from ._dot import matmul
from ._elementwise import maximum
from ._functions import conj, sqrt
from ._join import concatenate
from ._moments import average
from ._promote import as_array, as_inexact, astype, result_dtype
from ._reduce import sum as sum_of
from ._rounding import clip
from ._shape import reshape
from ._triangles import diagonal_of


def _variables(who: str, arrays, rowvar: bool):
    """The variables of one or two arrays, as rows of one matrix."""
    arrays = [as_array(who, x) for x in arrays]
    for x in arrays:
        if typeof(x).ndim > 2:
            raise errors.shape_mismatch(who, "must be 1-d or 2-d", x=x)
    dtype, _ = result_dtype(who, *arrays)
    rows = []
    for x in arrays:
        x = reshape(astype(x, dtype), (1, -1)) if typeof(x).ndim < 2 else astype(x, dtype)
        rows.append(x if rowvar or typeof(x).shape[0] == 1 else ops.transpose(x, perm=(1, 0)))
    return as_inexact(who, concatenate(rows, 0) if len(rows) > 1 else rows[0])


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """The covariance matrix of variables: the mean product of their distances from their means.

      C_(i,j) = Σ_k (x_(i,k) - m_i) conj(x_(j,k) - m_j) / (n - 1)

    of n observations of variables with means m_i.

    Args:
      m: 1-d or 2-d array; each row is a variable, each column an observation.
      y: more variables, of the same form.
      rowvar: False if each column is a variable.
      bias: divide by the number n of observations, not by n - 1.
      ddof: divide by n - ddof.
      fweights: how often each observation was made.
      aweights: the weights of observations.
      dtype: of the result.

    >>> import xcore.numpy as xnp
    >>> xnp.cov(xnp.asarray([[0, 1, 2], [2, 1, 0]]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    who = "numpy.cov"
    if ddof is not None and int(ddof) != ddof:
        raise errors.bad_argument(who, "ddof", ddof, "an integer")
    ddof = (0 if bias else 1) if ddof is None else int(ddof)
    arrays = [m] if y is None else [m, y]
    weights = [w for w in (fweights, aweights) if w is not None]
    kinds = tuple(w is not None for w in (fweights, aweights))
    out = _cov([arrays, weights], bool(rowvar), ddof, kinds)
    return out if dtype is None else astype(out, dtypes.as_dtype(dtype))


@fused(1)
def _cov(groups, rowvar, ddof, kinds):
    who = "numpy.cov"
    arrays, weights = groups
    x = _variables(who, arrays, rowvar)
    rows, n = typeof(x).shape
    real = dtypes.to_real(typeof(x).dtype)
    weights = [as_array(who, w) for w in weights]
    if kinds[0] and not dtypes.is_integer(typeof(weights[0]).dtype):
        dtype = typeof(weights[0]).dtype
        raise errors.dtype_not_allowed(f"{who} (fweights)", dtype, "integer")
    for w in weights:
        if typeof(w).shape != (n,):
            raise errors.shape_mismatch(
                who, f"need a weight for each of {n} observations", weights=w
            )
    w, free = None, np.float64(n - ddof).astype(real)
    if weights:
        w = astype(weights[0], real)
        w = w if len(weights) == 1 else w * astype(weights[1], real)
        total = sum_of(w)
        # weights that are no counts take part in how many observations are free
        spread = sum_of(w * astype(weights[-1], real)) / total if kinds[1] else 1
        free = total - ddof * spread
    x = x - average(x, axis=1, weights=w, keepdims=True)  # pyright: ignore[reportOperatorIssue]
    y = conj(x if w is None else x * w)
    out = matmul(x, ops.transpose(y, perm=(1, 0))) / maximum(free, 0)
    return reshape(out, ()) if rows == 1 else out


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """The correlation coefficients of variables: their covariances over their deviations.

      R_(i,j) = C_(i,j) / √(C_(i,i) C_(j,j))

    with the covariances C.

    Args:
      x: 1-d or 2-d array; each row is a variable, each column an observation.
      y: more variables, of the same form.
      rowvar: False if each column is a variable.
      dtype: of the result.

    >>> import xcore.numpy as xnp
    >>> xnp.corrcoef(xnp.asarray([[0, 1, 2], [4, 2, 0]]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    out = _corrcoef([x] if y is None else [x, y], bool(rowvar))
    if dtype is None:
        return out
    dtype = dtypes.as_dtype(dtype)
    if not dtypes.is_inexact(dtype):
        raise errors.dtype_not_allowed("numpy.corrcoef (dtype)", dtype, "float or complex")
    return astype(out, dtype)


@fused(1)
def _corrcoef(arrays, rowvar):
    c = _cov([arrays, []], rowvar, 1, (False, False))
    if not typeof(c).ndim:
        return c / c
    size = sqrt(
        ops.real(diagonal_of(c, 0)) if dtypes.is_complex(typeof(c).dtype) else diagonal_of(c, 0)
    )
    out = c / size[:, None] / size[None, :]
    if not dtypes.is_complex(typeof(out).dtype):
        return clip(out, -1, 1)
    return ops.complex(clip(ops.real(out), -1, 1), clip(ops.imag(out), -1, 1))
