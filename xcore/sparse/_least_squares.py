"""Least squares with a sparse matrix: the equations of the residual and the solution together, by sparse LU factors.

    ( 1     A D  ) (r)   (b)
    ( D Aᴴ  -ρ D²) (z) = (0),    x = D z,    r = b - A x

Their refinement improves r and x at once, so the condition of A counts as in an orthogonal factorisation, once where
the residual is small. (Björck 1967, "Iterative refinement of linear least squares solutions") D makes
columns about as long as one another.
"""

from __future__ import annotations

import functools

import numpy as np

from .. import numpy as xnp
from .._control.custom import stop_gradient
from .._core.array import Array
from .._core.settings import require
from .._core.typing import ArrayLike
from .._solution import Certificate, Solution, Status
from ..linalg._arguments import epsilon
from ..linalg._digits import digits_of, relative
from ..linalg._equations import power_of_two
from ._direct import _columns, _each, _each_values, _solved
from ._making import coo_array
from ._matrix import Sparse, over_batches
from ._pattern import Pattern, places, shared
from ._products import product_of, spread


def lstsq(
    a: Sparse, b: ArrayLike, *, ridge: ArrayLike = 0.0, report: bool = False
) -> Array | Solution:
    """The x that makes |a x - b|² + ridge |x|² least, by sparse factors (SuperLU, on the host), refined.

    With fewer rows than columns, and no ridge, it is the solution of a x = b of least norm. The rank must be full: that
    of a matrix whose columns (or rows, where those are fewer) depend on each other is refused; a ridge makes it
    full. Derivatives are those of the equations, with respect to a on its pattern.

    Args:
      a: a ``Sparse`` matrix, perhaps a batch of them, or what ``coo_array`` takes.
      b: a vector (m,) or columns (..., m, k).
      ridge: weight of the size of x.
      report: return a ``Solution`` with status and certificate: a bound of the error of x ("error", "digits"),
        the length of a x - b of each column ("residual").

    >>> from xcore import sparse
    >>> a = sparse.coo_array(([1.0, 1.0, 1.0, 1.0, 2.0], ([0, 1, 1, 2, 2], [0, 0, 1, 0, 1])))
    >>> lstsq(a, [1.0, 3.0, 5.0]).round(4)
    Array([1., 2.], dtype=float32)
    """
    who = "sparse.lstsq"
    require("0 or more", who, ridge=ridge)
    a = coo_array(a)
    v, columns, vector = _columns(who, a, b)
    wide = a.shape[-2] < a.shape[-1] and isinstance(ridge, int | float) and ridge == 0
    given = a.like(v)
    tall = given.H if wide else given
    d = _scales(tall)
    whole = _together(tall, d, xnp.asarray(ridge, d.dtype))
    m, n = tall.pattern.shape
    if not m + n:
        empty = xnp.zeros((*columns.shape[:-2], 0, columns.shape[-1]), columns.dtype)
        return _finished(who, empty, vector, np.int32(Status.success), None, report)
    d = d[..., None]
    nothing = lambda size: xnp.zeros((*columns.shape[:-2], size, columns.shape[-1]), v.dtype)  # noqa: E731
    lead = np.broadcast_shapes(d.shape[:-2], columns.shape[:-2])
    columns = xnp.broadcast_to(columns, (*lead, *columns.shape[-2:]))
    right = (nothing(m), d * columns) if wide else (columns, nothing(n))
    right = xnp.concatenate([xnp.broadcast_to(y, (*lead, *y.shape[-2:])) for y in right], axis=-2)
    both, status, told = _solved(whole, right, report=report)
    x = both[..., :m, :] if wide else d * both[..., m:, :]
    if report:
        status, told = _judged(
            given, x, columns, both, xnp.ones_like(d) if wide else d, status, told
        )
    return _finished(who, x, vector, status, told, report)


def _finished(who: str, x: Array, vector: bool, status, told, report: bool):
    x = x[..., 0] if vector else x
    solution = Solution(x, status, certificate=told, who=who, method="SuperLU")
    return solution if report else solution.check().value


def _scales(a: Sparse) -> Array:
    """Powers of two that make columns about as large as 1."""
    size = _each_values(a.pattern, xnp.abs(stop_gradient(a.values)))
    ones = xnp.ones((*size.shape[:-1], a.pattern.shape[0], 1), size.dtype)
    return 1 / power_of_two(_each(product_of(a.pattern.T), size, ones)[..., 0])


def _together(a: Sparse, d: Array, ridge: Array) -> Sparse:
    whole, at = a.pattern.kept("beside its residual", lambda: _bordered(a.pattern))
    v = a.values * d[..., a.pattern.columns]
    ones = xnp.ones((*v.shape[:-1], a.pattern.shape[0]), v.dtype)
    parts = ones, v, xnp.conj(v), -(ridge * d * d).astype(v.dtype)
    parts = xnp.concatenate(parts, axis=-1)
    f, parts = over_batches(lambda v: spread(v, at, whole.nnz), (parts, 1))
    return Sparse(f(parts), whole)


def _bordered(p: Pattern) -> tuple[Pattern, np.ndarray]:
    m, n = p.shape
    one, other = np.arange(m), m + np.arange(n)
    rows = np.concatenate([one, p.rows, m + p.columns.astype(np.int64), other])
    columns = np.concatenate([one, m + p.columns.astype(np.int64), p.rows, other])
    whole, at = places("sparse.lstsq", rows, columns, (m + n, m + n))
    return shared(whole), at


def _judged(a: Sparse, x: Array, b: Array, both: Array, d, status, told) -> tuple:
    """(status, Certificate) of x, of which the error is known beside the residual's: relative to the larger of both."""
    x, b, both = map(stop_gradient, (x, b, both))
    a = a.like(stop_gradient(a.values))
    largest = functools.partial(xnp.max, initial=0)
    unit = largest(d, axis=(-2, -1))[..., None]
    off = told.error[..., None] * unit * largest(xnp.abs(both), axis=-2)
    error = xnp.max(relative(off, largest(xnp.abs(x), axis=-2)), axis=-1, initial=0)
    error = xnp.where(xnp.isnan(error), xnp.inf, error)
    poor = (status == np.int32(Status.success)) & ~(error <= 0.1)
    status = xnp.where(poor, np.int32(Status.ill_conditioned), status)
    left = xnp.linalg.norm(a @ x - b, axis=-2)
    return status, Certificate(digits_of(error, epsilon(x)), error, left)
