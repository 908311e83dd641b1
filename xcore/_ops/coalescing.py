"""Derivatives of eigenvectors and singular vectors where values coincide.

They divide by differences of values. Where a difference vanishes the vectors may rotate into each
other, and what a direction of change does to them depends on the direction. Two operations keep
that from becoming a wrong number:

- ``aligned`` chooses, in forward mode, where the direction is known, the basis in which it does not
  couple vectors of equal values. Whatever depends on the matrix alone then has its directional
  derivative. (Kato 1966, "Perturbation theory for linear operators", section II.2)
- ``coupled`` divides, in reverse mode, and is NaN where what it divides by zero is not zero.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from .._core import ArrayType, trace_closed, typeof
from .._core.op import Linear, Op, registry
from .elementwise import abs, convert, div, eq, gt, is_zero, le, lt, mul, ne, not_, or_, select, sub
from .families import add, broadcast_in_dim, full_like_type, reduce_sum, zeros
from .matrices import adjoint, batch_in_front, in_dtype_of, matmul, part
from .reduce import reduce_max, reduce_or

# Differences


def in_columns(values, t: ArrayType):
    """values[..., j] in all of column j of matrices of t's shape."""
    dims = (*range(t.ndim - 2), t.ndim - 1)
    return broadcast_in_dim(values, shape=t.shape, dims=dims)


def in_rows(values, t: ArrayType):
    return broadcast_in_dim(values, shape=t.shape, dims=tuple(range(t.ndim - 1)))


def rounding(values):
    """For each batch element the bound below which a value or difference is rounding: the bound
    within which backward errors of the factorisations are tested."""
    t = typeof(values)
    size = reduce_max(abs(values), axes=(t.ndim - 1,))
    bound = 30 * t.shape[-1] * float(np.finfo(t.dtype).eps)
    return mul(size, full_like_type(typeof(size), bound))


def square_of(values) -> ArrayType:
    t = typeof(values)
    return ArrayType((*t.shape, t.shape[-1]), t.dtype)


def zero_if_small(x, values):
    """The elements of matrices, 0 where they are up to the rounding of those values."""
    t = typeof(x)
    bound = rounding(values)
    bound = in_rows(in_rows(bound, typeof(values)), t.with_dtype(typeof(bound).dtype))
    return select(le(abs(x), bound), zeros(t), x)


def without_rounding(values):
    """The values, 0 where they are no more than the rounding of the largest."""
    bound = in_rows(rounding(values), typeof(values))
    return select(le(abs(values), bound), zeros(typeof(values)), values)


def gaps(values):
    """values[..., j] - values[..., i], and 0 where that is up to rounding."""
    square = square_of(values)
    return zero_if_small(sub(in_columns(values, square), in_rows(values, square)), values)


def sums(values):
    """values[..., j] + values[..., i], and 0 where that is up to rounding."""
    square = square_of(values)
    return zero_if_small(add(in_columns(values, square), in_rows(values, square)), values)


def divide_or_zero(x, y):
    """x / y, and 0 where y is 0."""
    y = in_dtype_of(y, typeof(x))
    zero = eq(y, zeros(typeof(y)))
    quotient = div(x, select(zero, full_like_type(typeof(y), 1), y))
    return select(zero, zeros(typeof(x)), quotient)


# Coupled


def _coupled_type(p, y, change, *, pairs, free):
    return [p.strong(), change.strong()]


def _coupled_values(p, y, change, *, pairs, free):
    t = typeof(p)
    tested = sub(p, adjoint(p)) if free else p
    tested = abs(part(tested, ne) if pairs else tested)
    real = typeof(tested)
    size = reduce_max(abs(p), axes=(t.ndim - 2, t.ndim - 1))
    bound = 30 * max(t.shape[-2:]) * float(np.finfo(real.dtype).eps)
    limit = mul(size, full_like_type(typeof(size), bound))
    limit = broadcast_in_dim(limit, shape=t.shape, dims=tuple(range(t.ndim - 2)))
    small = le(tested, limit)  # NaN is not
    unknown = select(eq(y, zeros(typeof(y))), not_(small), zeros(t.with_dtype(np.bool_)))
    return [select(unknown, full_like_type(t, math.nan), divide_or_zero(p, y)), change]


def _coupled_lower(ctx, *values, **params):
    types = [t.strong() for t in ctx.in_types]
    if 0 in types[0].shape:
        return [values[0], values[2]]
    return ctx.program(trace_closed(lambda *xs: _coupled_values(*xs, **params), types), values)


def _or_zeros(tangent, primal):
    return zeros(typeof(primal).strong()) if tangent is None else tangent


def _coupled_jvp(primals, tangents, **params):
    p, y, change = primals
    p_dot, y_dot, change_dot = tangents
    outs = coupled(p, y, change, **params)
    found = coupled(_or_zeros(p_dot, p), y, _or_zeros(change_dot, change), **params)
    if y_dot is not None:
        slope = in_dtype_of(divide_or_zero(y_dot, y), typeof(p))
        found = [sub(found[0], mul(outs[0], slope)), found[1]]
    return outs, found


def _coupled_transpose(cotangents, p, y, change, *, pairs, free):
    ct, values = cotangents
    if ct is None:
        return [None, None, values]
    t = change.type if isinstance(change, Linear) else typeof(change)
    unused = values is None
    given = zeros(t.strong()) if unused else values
    free = free if free is None else pairs and unused
    back, _ = coupled(ct, y, given, pairs=pairs, free=free)
    return [back, None, values]


# p / y where y is not 0; else 0 where p is 0 up to its rounding, and NaN where it is not. ``change``
# comes back as it is: by it the transposed operation knows whether the values were used. If not, the
# result depends on the vectors of equal values alone, is the same for all choices of them where the
# cotangent is Hermitian, and then these do not contribute (``free``; None: such choices are not
# unitary, and it is not asked). ``pairs``: p is square, and its diagonal, where y is 0, does not count.
coupled = Op("coupled", type=_coupled_type, lower=_coupled_lower, jvp=_coupled_jvp,
             transpose=_coupled_transpose, many=True)  # fmt: skip
coupled._batch = batch_in_front(coupled)


def coupled_pairs(p, change, y):
    return coupled(p, y, change, pairs=True, free=False)


# Aligned


def _aligned_type(values, p, *others, outside):
    return [b.strong() for b in others[outside:]]


def _coincide(values):
    """Which pairs of different values are equal up to rounding."""
    return part(is_zero(gaps(values)), ne)


def _vanish(values):
    """Which (singular) values are zero up to rounding."""
    return is_zero(without_rounding(values))


def _others(values, relation):
    """For each value, how many of those before it (`lt`) or after it (`gt`) differ from it."""
    t = square_of(values)
    other = select(_coincide(values), zeros(t), full_like_type(t, 1))
    return reduce_sum(part(other, relation), axes=(t.ndim - 2,))


def _within(values):
    """Which pairs of values are equal up to rounding, each with itself too."""
    t = square_of(values)
    return or_(_coincide(values), part(full_like_type(t.with_dtype(np.dtype(bool)), True), eq))


def _size(x):
    """A bound of the norms of matrices."""
    n = typeof(x).ndim
    return reduce_sum(abs(x), axes=(n - 2, n - 1))


def _separated(values, inner, number, size):
    """``inner`` within the groups of equal values, which more than twice its size times their number
    keeps apart and in order."""
    t, square = typeof(inner), square_of(values)
    inner = select(_within(values), inner, zeros(t))
    size = in_rows(in_rows(add(size, size), typeof(values)), square)
    return add(inner, in_dtype_of(part(mul(in_rows(number, square), size), eq), t))


def _hermitian(p):
    return mul(full_like_type(typeof(p), 0.5), add(p, adjoint(p)))


def _rotated_eigenvectors(values, p, v):
    inner = _separated(values, _hermitian(p), _others(values, lt), _size(p))
    _, rotation = registry["eigh"](inner, vectors=True)
    return [matmul(v, select(_within(values), rotation, zeros(typeof(rotation))))]


def _rotated_singular_vectors(values, p, *others):
    # Groups of positive values rotate on both sides alike, by the Hermitian part of p. Where values
    # vanish both sides rotate on their own, and u within all that is orthogonal to the rest.
    *outside, u, v = others
    zero = _vanish(values)
    one = full_like_type(typeof(values), 1)
    number = add(_others(values, gt), select(zero, zeros(typeof(values)), one))
    both_zero = in_rows(zero, typeof(p).with_dtype(np.dtype(bool)))
    size = functools.reduce(add, map(_size, (p, *outside)))
    inner = _separated(values, select(both_zero, p, _hermitian(p)), number, size)
    changes = matmul(u, inner)
    for x in outside:
        only = in_columns(zero, typeof(x).with_dtype(np.dtype(bool)))
        changes = add(changes, select(only, x, zeros(typeof(x))))
    _, u, wh = registry["svd"](changes, full=False, vectors=True)
    rotation = adjoint(wh)
    return [u, matmul(v, select(_within(values), rotation, zeros(typeof(rotation))))]


_ROTATED = {1: _rotated_eigenvectors, 2: _rotated_singular_vectors}


def _needs_rotation(values, outside: bool):
    """For each matrix, whether a direction may rotate its vectors."""
    n = typeof(values).ndim
    found = reduce_or(_coincide(values), axes=(n - 1, n))
    return or_(found, reduce_or(_vanish(values), axes=(n - 1,))) if outside else found


def _aligned_lower(ctx, values, p, *others, outside):
    types = [t.strong() for t in ctx.in_types]
    bases = list(others[outside:])
    if types[0].size == 0:
        return bases
    rotated = trace_closed(_ROTATED[len(bases)], types)

    def index(values):
        found = _needs_rotation(values, outside)
        found = reduce_or(found, axes=tuple(range(typeof(found).ndim)))
        return [convert(found, dtype=np.dtype(np.int32))]

    (which,) = ctx.program(trace_closed(index, types[:1]), [values])
    rotation = lambda: ctx.program(rotated, [values, p, *others])  # noqa: E731
    return ctx.case(which, ctx.outs(), [lambda: bases, rotation])


def _aligned_linearize(primals, nonzero, *, outside):
    values, bases = primals[0], primals[2 + outside :]
    outs = aligned(*primals, outside=outside)
    if not any([nonzero[0], *nonzero[2 + outside :]]):
        return outs, lambda *_: [None] * len(bases)  # the basis belongs to the point, not to p
    factor = _unless_rotated(values, outside)

    def change(*tangents):
        changes = [_or_zeros(x, b) for x, b in zip(tangents[2 + outside :], bases, strict=True)]
        return [_times_each(x, factor) for x in changes]

    return outs, change


def _unless_rotated(values, outside: bool):
    """For each matrix 1, and NaN where a direction may rotate its vectors."""
    found = _needs_rotation(values, outside)
    one = full_like_type(typeof(found).with_dtype(typeof(values).dtype), 1)
    return select(found, full_like_type(typeof(one), math.nan), one)


def _times_each(x, factor):
    """Each matrix times its number."""
    t = typeof(x)
    dims = tuple(range(t.ndim - 2))
    return mul(x, broadcast_in_dim(in_dtype_of(factor, t), shape=t.shape, dims=dims))


def _aligned_jvp(primals, tangents, *, outside):
    nonzero = [t is not None for t in tangents]
    outs, change = _aligned_linearize(primals, nonzero, outside=outside)
    return outs, change(*tangents)


# aligned(values, p, *bases): eigenvectors, or left and right singular vectors, as they are; where
# values repeat, rotated so that the change p of the matrix, in these bases, does not couple those of
# equal values. ``outside``: the part of p that is orthogonal to the left vectors comes before the
# bases. Where p is not known, as when a derivative is transposed, they stay as they are; second
# derivatives of rotated ones are NaN.
aligned = Op("aligned", type=_aligned_type, lower=_aligned_lower, jvp=_aligned_jvp,
             linearize=_aligned_linearize, many=True)  # fmt: skip
aligned._batch = batch_in_front(aligned)

# Settled


def _settled_jvp(primals, tangents, *, outside):
    values, *bases = primals
    changes = [_or_zeros(x, b) for x, b in zip(tangents[1:], bases, strict=True)]
    return settled(*primals, outside=outside), settled(values, *changes, outside=outside)


def _settled_transpose(cotangents, values, *bases, outside):
    factor = _unless_rotated(values, outside)
    return [None, *[None if ct is None else _times_each(ct, factor) for ct in cotangents]]


# settled(values, *bases): the bases as they are, for the derivatives of the values. To first order it
# does not matter which bases equal values have. To second order it does: forward mode has aligned ones,
# and in reverse mode the cotangents do not tell, so there they are NaN.
settled = Op("settled", type=lambda values, *bases, outside: [b.strong() for b in bases],
             lower=lambda ctx, values, *bases, outside: list(bases), jvp=_settled_jvp,
             transpose=_settled_transpose, many=True)  # fmt: skip
settled._batch = batch_in_front(settled)
