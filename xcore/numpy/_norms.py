"""Norms of vectors and matrices, condition numbers, products of many matrices."""

from __future__ import annotations

import functools
import math

import numpy as np

from .. import _ops as ops
from .._core import dtypes, errors, fused, typeof
from ._dot import dot
from ._elementwise import size_of_square
from ._equations import _inv
from ._promote import as_array, as_inexact, astype, axes_of
from ._reduce import accumulator, keep_axes
from ._shape import moveaxis

# Vectors


def _sizes(x):
    """|x| in a dtype to sum in."""
    return astype(ops.abs(x), accumulator(dtypes.to_real(typeof(x).dtype)))


def _squares(x):
    if dtypes.is_complex(typeof(x).dtype):
        re, im = ops.real(x), ops.imag(x)
        return re * re + im * im
    x = astype(x, accumulator(typeof(x).dtype))
    return x * x


def _power_norm(x, axes, p: float):
    size = _sizes(x)
    is_zero = ops.eq(size, ops.zeros(typeof(size)))
    if p < 0:
        return ops.reduce_sum(size**p, axes=axes) ** (1 / p)
    # 0**p has no derivative at 0; neither has the root of a sum that is 0
    terms = ops.select(is_zero, size * 0, ops.select(is_zero, size * 0 + 1, size) ** p)
    total = ops.reduce_sum(terms, axes=axes)
    empty = ops.eq(total, ops.zeros(typeof(total)))
    return ops.select(empty, total * 0, ops.select(empty, total * 0 + 1, total) ** (1 / p))


def _vector_norm(x, axes, p):
    """The p-norm over axes, without them."""
    if p == 2:
        return size_of_square(ops.reduce_sum(_squares(x), axes=axes))
    if p == 0:
        nonzero = ops.ne(x, ops.zeros(typeof(x)))
        real = dtypes.to_real(typeof(x).dtype)
        return ops.reduce_sum(ops.convert(nonzero, dtype=accumulator(real)), axes=axes)
    size = _sizes(x)
    if p == math.inf:
        return _largest(size, axes)
    if p == -math.inf:
        return ops.reduce_min(size, axes=axes)
    return ops.reduce_sum(size, axes=axes) if p == 1 else _power_norm(x, axes, p)


def _largest(size, axes):
    """The maximum, 0 of nothing."""
    largest = ops.reduce_max(size, axes=axes)
    return ops.max(largest, ops.zeros(typeof(largest))) if 0 in typeof(size).shape else largest


def _ordinal(who: str, p, allowed=()):
    if isinstance(p, (int, float, np.number)) and not isinstance(p, bool):
        return float(p)
    if p in allowed:
        return p
    names = ", ".join(map(repr, allowed))
    raise errors.bad_argument(who, "ord", p, f"a number{' or one of ' + names if names else ''}")


def _with_axes(norm, x, axes, keepdims: bool):
    norm = astype(norm, dtypes.to_real(typeof(x).dtype))
    return keep_axes(norm, typeof(x).shape, axes, keepdims)


@fused(1)
def vector_norm(x, /, *, axis=None, keepdims: bool = False, ord=2):
    """The norm of vectors: (Σ |x|ᵖ)^(1/p).

    Args:
      x: array.
      axis: the axis, or several axes, that form a vector; all of them by default.
      keepdims: keep reduced axes, with length 1.
      ord: p; infinity is the largest, minus infinity the smallest modulus, 0 counts what is not 0.

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.vector_norm(xnp.asarray([3.0, 4.0]))
    Array(5., dtype=float32)
    """
    who = "numpy.linalg.vector_norm"
    x = as_inexact(who, x)
    axes = axes_of(who, axis, typeof(x).ndim)
    p = 2 if ord is None else _ordinal(who, ord)
    return _with_axes(_vector_norm(x, axes, p), x, axes, keepdims)


# Matrices

_MATRIX_ORDS = ("fro", "nuc")


def _matrix_norm(who: str, x, rows: int, columns: int, p):
    """A matrix norm over two axes, without them."""
    if p == "fro":
        return size_of_square(ops.reduce_sum(_squares(x), axes=tuple(sorted((rows, columns)))))
    if p in ("nuc", 2.0, -2.0):
        return _spectral_norm(moveaxis(x, (rows, columns), (-2, -1)), p)
    if p not in (1.0, -1.0, math.inf, -math.inf):
        ords = "'fro', 'nuc', 1, -1, 2, -2, inf or -inf for matrices"
        raise errors.bad_argument(who, "ord", p, ords)
    summed, kept = (rows, columns) if abs(p) == 1 else (columns, rows)
    sums = ops.reduce_sum(_sizes(x), axes=(summed,))
    axis = (kept - (kept > summed),)
    return _largest(sums, axis) if p > 0 else ops.reduce_min(sums, axes=axis)


def _spectral_norm(x, p):
    work = accumulator(typeof(x).dtype)
    (s,) = ops.svd(astype(x, work), full=False, vectors=False)
    last = (typeof(s).ndim - 1,)
    if p == "nuc":
        return ops.reduce_sum(s, axes=last)
    return _largest(s, last) if p == 2 else ops.reduce_min(s, axes=last)


@fused(1)
def matrix_norm(x, /, *, keepdims: bool = False, ord="fro"):
    """The norm of matrices, the last two axes.

    Args:
      x: matrices (..., m, n).
      keepdims: keep reduced axes, with length 1.
      ord: "fro" (root of the sum of squares), "nuc" (sum of singular values), 2 and -2 (largest
        and smallest singular value), 1 and -1 (largest and smallest sum of a column), inf and -inf
        (of a row).

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.matrix_norm(xnp.asarray([[1.0, 2.0], [3.0, 4.0]]), ord=1)
    Array(6., dtype=float32)
    """
    who = "numpy.linalg.matrix_norm"
    x = as_inexact(who, x)
    n = typeof(x).ndim
    if n < 2:
        raise errors.shape_mismatch(who, "need 2 or more axes", x=x)
    p = "fro" if ord is None else _ordinal(who, ord, _MATRIX_ORDS)
    norm = _matrix_norm(who, x, n - 2, n - 1, p)
    return _with_axes(norm, x, (n - 2, n - 1), keepdims)


@fused(1)
def norm(x, ord=None, axis=None, keepdims: bool = False):
    """The norm of vectors or matrices.

    Args:
      x: array.
      ord: which norm, see ``vector_norm`` and ``matrix_norm``; by default the root of the sum of
        squares.
      axis: one axis for vectors, two for matrices. Without it, x is one vector if it has one axis or
        ``ord`` is not given, and one matrix if it has two.
      keepdims: keep reduced axes, with length 1.

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.norm(xnp.asarray([[3.0, 4.0], [0.0, 5.0]]), axis=1)
    Array([5., 5.], dtype=float32)
    """
    who = "numpy.linalg.norm"
    x = as_inexact(who, x)
    t = typeof(x)
    axes = axis if isinstance(axis, (tuple, list)) else axes_of(who, axis, t.ndim)
    axes = tuple(axes_of(who, a, t.ndim)[0] for a in axes)
    if ord is None and (axis is None or len(axes) == 1):
        return _with_axes(_vector_norm(x, axes, 2), x, axes, keepdims)
    if len(axes) == 1:
        return _with_axes(_vector_norm(x, axes, _ordinal(who, ord)), x, axes, keepdims)
    if len(axes) != 2 or axes[0] == axes[1]:
        raise errors.bad_argument(who, "axis", axis, "one axis or two different ones")
    p = _ordinal(who, "fro" if ord is None else ord, _MATRIX_ORDS)
    return _with_axes(_matrix_norm(who, x, *axes, p), x, axes, keepdims)


@fused(1)
def cond(x, p=None):
    """The condition number: by how much the solution of equations may exaggerate errors.

    Args:
      x: matrices (..., m, n), square ones unless p is None, 2 or -2.
      p: the norm it refers to, see ``matrix_norm``; 2 by default.

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.cond(xnp.asarray([[1.0, 0.0], [0.0, 4.0]]))
    Array(4., dtype=float32)
    """
    who = "numpy.linalg.cond"
    x = as_inexact(who, x)
    n = typeof(x).ndim
    if n < 2 or 0 in typeof(x).shape[-2:]:
        raise errors.shape_mismatch(who, "must be matrices that are not empty", x=x)
    if p in (None, 2, -2):
        s = ops.svd(astype(x, accumulator(typeof(x).dtype)), full=False, vectors=False)[0]
        ratio = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        p = _ordinal(who, p, _MATRIX_ORDS)
        ratio = _matrix_norm(who, x, n - 2, n - 1, p) * _matrix_norm(
            who, _inv(x)[0], n - 2, n - 1, p
        )
    # nan appears where an inverse does not exist, unless it was in x
    known = ops.reduce_or(ops.ne(x, x), axes=(n - 2, n - 1))
    made = ops.and_(ops.ne(ratio, ratio), ops.not_(known))
    infinite = ops.full_like_type(typeof(ratio).strong(), math.inf)
    return astype(ops.select(made, infinite, ratio), dtypes.to_real(typeof(x).dtype))


# Many matrices


@functools.lru_cache(maxsize=4096)
def chain_order(sizes: tuple) -> tuple:
    """The cheapest way to multiply matrices of sizes[i] × sizes[i + 1], as nested pairs.

    (Cormen et al., "Introduction to Algorithms", section on matrix-chain multiplication)
    """
    n = len(sizes) - 1
    best = {(i, i): (0, i) for i in range(n)}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            best[i, j] = min(
                (
                    (
                        best[i, k][0] + best[k + 1, j][0] + sizes[i] * sizes[k + 1] * sizes[j + 1],
                        (best[i, k][1], best[k + 1, j][1]),
                    )
                    for k in range(i, j)
                ),
                key=lambda way: way[0],
            )
    return best[0, n - 1][1]  # pyright: ignore[reportReturnType]


@fused(1)
def multi_dot(arrays, *, precision=None):
    """The product of several matrices, in the order that takes least work.

    Args:
      arrays: two or more matrices; the first and the last may be vectors.
      precision: how float32 products are formed on accelerators ("highest", "high", "default").

    >>> import xcore.numpy as xnp
    >>> a, b, c = xnp.ones((9, 2)), xnp.ones((2, 9)), xnp.ones((9, 1))
    >>> xnp.linalg.multi_dot([a, b, c]).shape  # as a (b c)
    (9, 1)
    """
    who = "numpy.linalg.multi_dot"
    arrays = [as_array(who, x) for x in arrays]
    if len(arrays) < 2:
        raise errors.bad_argument(who, "arrays", arrays, "two or more arrays")
    ranks = [typeof(x).ndim for x in arrays]
    if any(r != 2 for r in ranks[1:-1]) or not {ranks[0], ranks[-1]} <= {1, 2}:
        named = {f"arrays[{i}]": x for i, x in enumerate(arrays)}
        raise errors.shape_mismatch(
            who, "must be matrices (the outer ones may be vectors)", **named
        )
    shapes = [typeof(x).shape for x in arrays]
    sizes = (1 if ranks[0] == 1 else shapes[0][0], *(s[0] for s in shapes[1:]))
    sizes = (*sizes, 1 if ranks[-1] == 1 else shapes[-1][1])
    return _product(arrays, chain_order(sizes), precision)


def _product(arrays, order, precision):
    if isinstance(order, int):
        return arrays[order]
    left, right = (_product(arrays, part, precision) for part in order)
    return dot(left, right, precision=precision)
