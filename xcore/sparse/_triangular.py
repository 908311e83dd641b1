"""Triangular equations: rows that do not wait for each other are solved together, traced, on any device."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import custom_linear_solve, jit, stop_gradient, vmap
from .._core import Array, ArrayLike, dtypes, errors
from ..linalg._elimination import first_zero
from ..linalg._truth import fail
from ._making import coo_array
from ._matrix import Sparse, over_batches
from ._pattern import Pattern
from ._products import product_of, transposed_values
from ._recurrences import FIRST, ONE, Recurrence, Terms, scheduled


def _forward(pattern: Pattern, unit: bool) -> Recurrence:
    """Of a lower triangle: given are its values, then b."""
    n, nnz = pattern.shape[0], pattern.nnz
    base = FIRST + nnz + n
    rows, columns = pattern.rows.astype(np.int64), pattern.columns.astype(np.int64)
    off = np.flatnonzero(rows != columns)
    d = np.full(n, ONE) if unit else FIRST + pattern.find(np.arange(n), np.arange(n))
    terms = Terms(FIRST + nnz + np.arange(n), d, rows[off], FIRST + off, base + columns[off])
    return scheduled(nnz + n, terms)


def substituted(pattern: Pattern, lower: bool, unit: bool, values: Array, b: Array) -> Array:
    """x of one triangle and columns b (n, k); without derivatives."""
    if not lower:  # both axes in reverse order: so are the elements, row by row
        n, turned = pattern.shape[0], pattern.kept("reversed", lambda: _reversed(pattern))
        if not n:
            return b
        return substituted(turned, True, unit, values[::-1], b[::-1])[::-1]
    run = pattern.kept(("forward", unit), lambda: _forward(pattern, unit))
    one = lambda b: run(xnp.concatenate([values, b]))  # noqa: E731
    if b.shape[1] == 1:
        return one(b[:, 0])[:, None]
    return vmap(one, in_axes=1, out_axes=1)(b)


def _reversed(pattern: Pattern) -> Pattern:
    n = pattern.shape[0]
    pointers = pattern.nnz - pattern.indptr[::-1]
    return Pattern.of_rows(pointers, n - 1 - pattern.indices[::-1], pattern.shape)


def solution_of(pattern: Pattern, lower: bool, unit: bool, values: Array, b: Array) -> Array:
    """The same with the derivatives of the equation. The pattern is of a triangle, with its diagonal unless it is 1."""
    known = stop_gradient(values)
    back = transposed_values(pattern, known)

    def product(x: Array) -> Array:
        y = product_of(pattern)(values, x)
        return y if not unit else y + x

    return custom_linear_solve(  # pyright: ignore[reportReturnType]
        product, b, lambda _, b: substituted(pattern, lower, unit, known, b),
        lambda _, b: substituted(pattern.T, not lower, unit, back, b),
    )  # fmt: skip


def solve_triangular(
    a: Any, b: ArrayLike, *, lower: bool = True, unit_diagonal: bool = False
) -> Array:
    """The solution of a x = b for a triangular sparse matrix, traced and differentiable.

    Rows are grouped on the host by how many others they wait for; a loop solves one group at a time. So a matrix
    with three diagonals takes n steps, five points on a grid twice as many as it has points along a side.

    Args:
      a: a square ``Sparse`` matrix; elements of the other triangle are not looked at.
      b: a vector (n,) or columns (..., n, k).
      lower: which triangle counts.
      unit_diagonal: take the diagonal to be 1, whatever stands there.

    >>> from xcore import sparse
    >>> solve_triangular([[2.0, 0.0], [1.0, 4.0]], [2.0, 9.0])
    Array([1., 2.], dtype=float32)
    """
    who = "sparse.solve_triangular"
    a, b = coo_array(a), xnp.asarray(b)
    if a.shape[-1] != a.shape[-2]:
        raise errors.shape_mismatch(who, "need a square matrix", a=a)
    vector = b.ndim == 1
    columns = b[:, None] if vector else b
    if columns.ndim < 2 or columns.shape[-2] != a.shape[-1]:
        raise errors.shape_mismatch(who, f"need b (n,) or (n, k) with n = {a.shape[-1]}", b=b)
    a = _triangle(who, a, lower, unit_diagonal)
    dtype = dtypes.to_solve(xnp.result_type(a.values, b))
    x = _solved(a.astype(dtype), columns.astype(dtype), lower, unit_diagonal)
    return x[..., 0] if vector else x


def _solved(a: Sparse, b: Array, lower: bool, unit: bool) -> Array:
    one = a.pattern.kept(
        ("triangular", lower, unit),
        lambda: jit(lambda v, b: solution_of(a.pattern, lower, unit, v, b), inline=True),
    )
    f, v, b = over_batches(one, (a.values, 1), (b, 2))
    return f(v, b)


def _triangle(who: str, a: Sparse, lower: bool, unit: bool) -> Sparse:
    p = a.pattern
    below = p.rows - p.columns if lower else p.columns - p.rows
    a = a._chosen(below > 0 if unit else below >= 0)
    if unit:
        return a
    n = p.shape[0]
    missing = np.flatnonzero(a.pattern.find(np.arange(n), np.arange(n)) < 0)
    if len(missing):
        need = f"with all of its diagonal stored: row {missing[0]} has no such element"
        raise errors.bad_argument(who, "a", a, need)
    d = a.diagonal()
    fail(who, d, first_zero(d), "zero")
    return a
