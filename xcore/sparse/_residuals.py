"""Least squares with a sparse matrix by the equations of residual and solution together, whoever solves these.

    ( 1     A D  ) (r)   (b)
    ( D Aᴴ  -ρ D²) (z) = (0),    x = D z,    r = b - A x

Their refinement improves r and x at once, so the condition of A counts as in an orthogonal factorisation, once where
the residual is small. (Björck 1967, "Iterative refinement of linear least squares solutions") D makes
columns about as long as one another.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import stop_gradient
from .._core import Array, ArrayLike, dtypes, errors
from .._solution import Certificate, Solution, Status
from ..linalg._arguments import epsilon
from ..linalg._digits import digits_of, relative
from ..linalg._equations import power_of_two
from ._matrix import Sparse, over_batches
from ._pattern import Pattern, places, shared
from ._products import product_of, spread, transposed_values

ASTRAY = 0.01  # of F⁻¹ A y from y, at which bounds from F⁻¹ stop to mean what they say


def each(f: Callable[..., Any], v: Array, x: Array) -> Array:
    g, v, x = over_batches(f, (v, 1), (x, 2))
    return g(v, x)


def each_values(pattern: Pattern, v: Array) -> Array:
    g, v = over_batches(functools.partial(transposed_values, pattern), (v, 1))
    return g(v)


def columns_for(who: str, a: Sparse, b: ArrayLike) -> tuple[Array, Array, bool]:
    """Values and right sides as columns, in the dtype of the solution; and whether b was a vector."""
    b = xnp.asarray(b)
    vector = b.ndim == 1
    b = b[:, None] if vector else b
    if b.ndim < 2 or b.shape[-2] != a.shape[-2]:
        raise errors.shape_mismatch(who, f"need b (n,) or (n, k) with n = {a.shape[-2]}", b=b)
    dtype = dtypes.to_solve(xnp.result_type(a.values, b))
    v = a.values.astype(dtype)
    return v, b.astype(dtype), vector


def answered(
    who: str, x: Array, vector: bool, status: Array, told: Any, method: str, report: bool
) -> Any:
    """What users get: the solution, as a vector if b was one, or the report of it."""
    x = x[..., 0] if vector else x
    solution = Solution(x, status, certificate=told, who=who, method=method)
    return solution if report else solution.check().value


def unless_lost(astray: Array, status: Array, told: Certificate) -> tuple[Array, Certificate]:
    """No success, and no bound, where factors are not those of the matrix."""
    lost = ~(astray <= ASTRAY)
    worse = lost & (status == np.int32(Status.success))
    known = {"error": xnp.where(lost, xnp.inf, told.error), "digits": xnp.where(lost, 0, told.digits)}  # fmt: skip
    return xnp.where(worse, np.int32(Status.ill_conditioned), status), told.replace(**known)


def by_equations(
    given: Sparse, columns: Array, wide: bool, d: Array, ridge: Any, solved: Any, report: bool
) -> tuple[Array, Array, Any]:
    """(x, status, certificate) of least |a x - b|² + ridge |x|²; of least norm where a is ``wide``.

    Args:
      d: what columns of a, or of aᴴ where it is wide, are multiplied by.
      solved: solves the equations: matrix, right sides and report to (solution, status, certificate).
    """
    tall = given.H if wide else given
    whole = _together(tall, d, xnp.asarray(ridge, d.dtype))
    m, n = tall.pattern.shape
    if not m + n:
        empty = xnp.zeros((*columns.shape[:-2], 0, columns.shape[-1]), columns.dtype)
        return empty, np.int32(Status.success), None  # pyright: ignore[reportReturnType]
    d = d[..., None]
    nothing = lambda size: xnp.zeros((*columns.shape[:-2], size, columns.shape[-1]), columns.dtype)  # noqa: E731
    lead = np.broadcast_shapes(d.shape[:-2], columns.shape[:-2])
    columns = xnp.broadcast_to(columns, (*lead, *columns.shape[-2:]))
    right = (nothing(m), d * columns) if wide else (columns, nothing(n))
    right = xnp.concatenate([xnp.broadcast_to(y, (*lead, *y.shape[-2:])) for y in right], axis=-2)
    both, status, told = solved(whole, right, report=report)
    x = both[..., :m, :] if wide else d * both[..., m:, :]
    if report:
        unit = xnp.ones_like(d) if wide else d
        status, told = _judged(given, x, columns, both, unit, status, told)
    return x, status, told


def scales_of(a: Sparse) -> Array:
    """Powers of two that make columns about as large as 1."""
    size = each_values(a.pattern, xnp.abs(stop_gradient(a.values)))
    ones = xnp.ones((*size.shape[:-1], a.pattern.shape[0], 1), size.dtype)
    return 1 / power_of_two(each(product_of(a.pattern.T), size, ones)[..., 0])


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
    size = relative(unit * largest(xnp.abs(both), axis=-2), largest(xnp.abs(x), axis=-2))
    error = xnp.max(told.error[..., None] * size, axis=-1, initial=0)
    error = xnp.where(xnp.isnan(error), xnp.inf, error)
    poor = (status == np.int32(Status.success)) & ~(error <= 0.1)
    status = xnp.where(poor, np.int32(Status.ill_conditioned), status)
    left = xnp.linalg.norm(a @ x - b, axis=-2)
    return status, Certificate(digits_of(error, epsilon(x)), error, left)
