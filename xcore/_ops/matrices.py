"""Small algebra on batches of matrices (the last two axes): what factorisations' rules are made of.

The first part composes operations; each function is linear in its first argument, or (conjugate,
adjoint, hermitian_of_lower) linear over the reals. The second part writes StableHLO.
"""

from __future__ import annotations

import math

import numpy as np

from .._core import ArrayType, dtypes, errors, typeof
from .dot import dot_general
from .elementwise import conj, convert, eq, gt, mul, real, select
from .families import add, broadcast, broadcast_in_dim, reduce_sum, zeros
from .layout import iota, slice_along, transpose

FACTORISED = tuple(np.dtype(name) for name in ("float32", "float64", "complex64", "complex128"))


def check_matrices(who: str, *xs, square: bool = False) -> None:
    """Batches of matrices of one dtype that LAPACK knows, with equal batch dimensions."""
    first = xs[0]
    for x in xs:
        if x.dtype not in FACTORISED:
            raise errors.dtype_not_allowed(who, x.dtype, " and ".join(d.name for d in FACTORISED))
        if x.ndim < 2:
            raise errors.not_matrices(who, "must be matrices or batches of them", x=x)
        if x.dtype != first.dtype:
            raise errors.dtype_mismatch(who, first=first, other=x)
        if x.shape[:-2] != first.shape[:-2]:
            raise errors.shape_mismatch(who, "need equal batch dimensions", first=first, other=x)
    if square and first.shape[-1] != first.shape[-2]:
        raise errors.not_matrices(who, "must be square matrices (..., n, n)", x=first)


def batch_in_front(op):
    """The batch rule of an operation that takes any number of batch dimensions as it is."""

    def rule(size, args, batched, /, **params):
        full = [x if b else broadcast(x, size) for x, b in zip(args, batched, strict=True)]
        outs = op(*full, **params)
        outs = outs if op.many else [outs]
        return outs, [True] * len(outs)

    return rule


def is_complex(x) -> bool:
    return dtypes.is_complex(typeof(x).dtype)


def real_type(t: ArrayType, shape) -> ArrayType:
    return ArrayType(shape, dtypes.to_real(t.dtype))


def swapped(x):
    """The transposed matrices."""
    n = typeof(x).ndim
    return transpose(x, perm=(*range(n - 2), n - 1, n - 2))


def conjugate(x):
    return conj(x) if is_complex(x) else x


def adjoint(x):
    return swapped(conjugate(x))


def real_part(x):
    return real(x) if is_complex(x) else x


def matmul(x, y):
    n = typeof(x).ndim
    lead = tuple(range(n - 2))
    return dot_general(x, y, contract=((n - 1,), (n - 2,)), batch=(lead, lead))


def times_columns(x, d):
    """Column j of each matrix times d[..., j], a real or complex number."""
    t = typeof(x)
    return mul(x, broadcast_in_dim(in_dtype_of(d, t), shape=t.shape, dims=_without(t.ndim, -2)))


def times_rows(x, d):
    """Row i of each matrix times d[..., i], a real or complex number."""
    t = typeof(x)
    return mul(x, broadcast_in_dim(in_dtype_of(d, t), shape=t.shape, dims=_without(t.ndim, -1)))


def in_dtype_of(x, t: ArrayType):
    return x if typeof(x).dtype == t.dtype else convert(x, dtype=t.dtype)


def _without(ndim: int, axis: int) -> tuple:
    return tuple(i for i in range(ndim) if i != ndim + axis)


def rows(x, start: int, stop: int):
    return slice_along(x, -2, start, stop)


def columns(x, start: int, stop: int):
    return slice_along(x, -1, start, stop)


def part(x, relation):
    """The elements whose row and column are related (`ge`: on or below the diagonal), else 0."""
    t = typeof(x)
    row, column = (iota(shape=t.shape, dtype=dtypes.int32, axis=t.ndim - k) for k in (2, 1))
    return select(relation(row, column), x, zeros(t.strong()))


def diagonal(x):
    """The diagonals of square matrices."""
    return reduce_sum(part(x, eq), axes=(typeof(x).ndim - 2,))


def hermitian_of_lower(x):
    """The Hermitian matrices with the lower triangles of x (of the diagonal, the real part)."""
    strict = part(x, gt)
    middle = convert(real_part(diagonal(x)), dtype=typeof(x).dtype)
    t = typeof(x)
    full = broadcast_in_dim(middle, shape=t.shape, dims=_without(t.ndim, -1))
    return add(add(strict, adjoint(strict)), part(full, eq))


# Writing StableHLO


def swap_values(ctx, x, t: ArrayType):
    """The transposed matrices of an MLIR value of type t. Next to a call this moves no memory."""
    n = t.ndim
    result = ctx.tensor(swap_shape(t.shape), t.dtype)
    return ctx.transpose(x, result, (*range(n - 2), n - 1, n - 2))


def swap_shape(shape) -> tuple:
    return (*shape[:-2], shape[-1], shape[-2])


def conj_values(ctx, x, t: ArrayType):
    """The conjugate of a complex MLIR value of type t."""
    parts = ctx.tensor(t.shape, dtypes.to_real(t.dtype))
    re, im = (ctx.one(f"stablehlo.{name}", parts, [x]) for name in ("real", "imag"))
    return ctx.one("stablehlo.complex", x.type, [re, ctx.one("stablehlo.negate", parts, [im])])


def info_type(ctx, t: ArrayType):
    """One int32 per matrix."""
    return ctx.tensor(t.shape[:-2], np.int32)


def succeeded(ctx, info, t: ArrayType, given=None):
    """Where a routine's info (one per matrix of type t) is 0, and its input was finite."""
    batch = t.shape[:-2]
    zero = ctx.full(ArrayType(batch, dtypes.int32), 0)
    truth = ctx.tensor(batch, bool)
    ok = ctx.compare(info, zero, truth, "EQ")
    return ok if given is None else ctx.one("stablehlo.and", truth, [ok, given])


def or_nan(ctx, ok, x, t: ArrayType, batch: int):
    """An MLIR value of type t where ``ok`` (over the first ``batch`` axes), else NaN."""
    full = ctx.broadcast_in_dim(ok, ctx.tensor(t.shape, bool), range(batch))
    nan = complex(math.nan, math.nan) if dtypes.is_complex(t.dtype) else math.nan
    return ctx.select(full, x, ctx.full(t, nan))


def finite_or_zero(ctx, x, t: ArrayType):
    """Which matrices of an MLIR value of type t are finite, and zeros for those that are not.

    LAPACK's iterations on NaN and infinities may take long or never end.
    """
    truth, parts = ctx.tensor(t.shape, bool), [x]
    if dtypes.is_complex(t.dtype):
        real = ctx.tensor(t.shape, dtypes.to_real(t.dtype))
        parts = [ctx.one(f"stablehlo.{name}", real, [x]) for name in ("real", "imag")]
    finite = [ctx.one("stablehlo.is_finite", truth, [p]) for p in parts]
    n, yes = t.ndim - 2, ctx.full(ArrayType((), dtypes.bool_), True)
    if len(finite) == 2:
        finite = [ctx.one("stablehlo.and", truth, finite)]
    ok = ctx.reduce_with(
        "stablehlo.and", finite[0], yes, ctx.tensor(t.shape[:-2], bool), [n, n + 1]
    )
    everywhere = ctx.broadcast_in_dim(ok, truth, range(n))
    return ok, ctx.select(everywhere, x, ctx.full(t, 0))


def part_values(ctx, x, t: ArrayType, direction: str):
    """As `part`, of an MLIR value; the relation by its StableHLO name ("GE": lower triangle)."""
    return ctx.select(_where(ctx, t, direction), x, ctx.full(t, 0))


def identity(ctx, t: ArrayType):
    """Ones on the diagonals."""
    return ctx.select(_where(ctx, t, "EQ"), ctx.full(t, 1), ctx.full(t, 0))


def _where(ctx, t: ArrayType, direction: str):
    numbers = ctx.tensor(t.shape, np.int32)
    row, column = ctx.iota(numbers, t.ndim - 2), ctx.iota(numbers, t.ndim - 1)
    return ctx.compare(row, column, ctx.tensor(t.shape, bool), direction)


def slice_values(ctx, x, t: ArrayType, shape):
    """The leading part of an MLIR value of type t."""
    if tuple(shape) == t.shape:
        return x
    return ctx.slice(x, ctx.tensor(shape, t.dtype), [0] * t.ndim, shape, [1] * t.ndim)


def pad_values(ctx, x, t: ArrayType, shape, value=0):
    """An MLIR value of type t filled up at its ends to a shape."""
    if tuple(shape) == t.shape:
        return x
    high = [n - m for n, m in zip(shape, t.shape, strict=True)]
    fill = ctx.full(ArrayType((), t.dtype), value)
    zeros = [0] * t.ndim
    return ctx.pad(x, fill, ctx.tensor(shape, t.dtype), zeros, high, zeros)
