"""Factorisations that solve systems: triangular, Cholesky, LU; tridiagonal systems.

Matrices are the last two axes, batch dimensions stand in front. LAPACK does the work on a CPU,
cuSOLVER on a GPU. A matrix that cannot be factorised gives NaN.

LAPACK wants columns together in memory and arrays have rows together. So where a routine can be
asked to work on the transposed matrix it gets that: seen as columns, the memory holds just that,
and nothing is moved.
"""

from __future__ import annotations

import math

import numpy as np

from .._core import ArrayType, Op, dtypes, errors, typeof
from .._cpu.order import order_by_kernel, rows_by_kernel
from . import plain
from .elementwise import eq, ge, gt, le, mul, neg, sub
from .families import add, full_like_type, linear_op, zeros
from .layout import concatenate, move_axis, pad, reshape
from .matrices import (
    adjoint,
    batch_in_front,
    check_matrices,
    columns,
    conjugate,
    finite_or_zero,
    hermitian_of_lower,
    info_type,
    matmul,
    or_nan,
    pad_values,
    part,
    part_values,
    rows,
    slice_values,
    succeeded,
    swap_shape,
    swap_values,
    swapped,
    times_rows,
)  # fmt: skip
from .slicing import GatherDims, gather

# triangular_solve

# OpenBLAS is twice as fast from the left; n = 500, double, one core, µs: 1 column 110 / 55, 8: 125 / 105
_FEW_COLUMNS = 8
_TRANSPOSE_NAMES = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "C": "ADJOINT"}


def _triangular_type(a, b, *, left, lower, transpose, unit_diagonal):
    check_matrices("triangular_solve", a, b)
    if a.shape[-1] != a.shape[-2]:
        raise errors.shape_mismatch("triangular_solve", "need square matrices a", a=a, b=b)
    if a.shape[-1] != b.shape[-2 if left else -1]:
        side = "rows" if left else "columns"
        raise errors.shape_mismatch("triangular_solve", f"need {side} of b to match a", a=a, b=b)
    if transpose not in _TRANSPOSE_NAMES:
        raise errors.bad_argument("triangular_solve", "transpose", transpose, "'N', 'T' or 'C'")
    return [b.strong()]


def _triangular_lower(ctx, a, b, *, left, lower, transpose, unit_diagonal):
    ta, tb = ctx.in_types
    if 0 in tb.shape:
        return ctx.full(tb, 0)
    if ctx.platform != "cpu":
        return ctx.one(
            "stablehlo.triangular_solve", ctx.out(), [a, b],
            left_side=ctx.flag(left), lower=ctx.flag(lower), unit_diagonal=ctx.flag(unit_diagonal),
            transpose_a=ctx.parse(f"#stablehlo<transpose {_TRANSPOSE_NAMES[transpose]}>"),
        )  # fmt: skip
    few = left and tb.shape[-1] <= _FEW_COLUMNS
    if few and (transpose != "C" or not dtypes.is_complex(ta.dtype)):
        # op(a) is op'(aᵀ) with the other op': b, which is moved, is small
        (x,) = ctx.routine(
            "trsm", ta.dtype, [swap_values(ctx, a, ta), b], [ctx.out()],
            left=True, lower=not lower, transpose="T" if transpose == "N" else "N",
            unit_diagonal=unit_diagonal,
        )  # fmt: skip
        return x
    # op(a) x = b transposed is xᵀ op(aᵀ) = bᵀ, for each of the three forms of op.
    (x,) = ctx.routine(
        "trsm", ta.dtype, [swap_values(ctx, a, ta), swap_values(ctx, b, tb)],
        [ctx.tensor(swap_shape(tb.shape), tb.dtype)],
        left=not left, lower=not lower, transpose=transpose, unit_diagonal=unit_diagonal,
    )  # fmt: skip
    return swap_values(ctx, x, ArrayType(swap_shape(tb.shape), tb.dtype))


def apply_transpose(a, transpose: str):
    """op(a) of the BLAS: a itself, its transpose or its adjoint."""
    return {"N": lambda x: x, "T": swapped, "C": adjoint}[transpose](a)


def _triangular_jvp(primals, tangents, **params):
    # op(a) x = b  =>  op(a) x' = b' - op(a') x, where a' counts only as far as a is read.
    a, b = primals
    a_dot, b_dot = tangents
    x = triangular_solve(a, b, **params)
    right = b_dot
    if a_dot is not None:
        change = apply_transpose(_part_read(a_dot, **params), params["transpose"])
        product = matmul(change, x) if params["left"] else matmul(x, change)
        right = neg(product) if b_dot is None else sub(b_dot, product)
    return [x], [triangular_solve(a, right, **params)]


def _part_read(a, *, lower, unit_diagonal, **_):
    """What triangular_solve reads of a."""
    if unit_diagonal:
        return part(a, gt) if lower else swapped(part(swapped(a), gt))
    return part(a, ge if lower else le)


def _triangular_transpose(cotangents, a, b, *, transpose, **params):
    # x = op(a)⁻¹ b (or b op(a)⁻¹), so the cotangent of b is op(a)⁻ᵀ ct (or ct op(a)⁻ᵀ).
    (ct,) = cotangents
    if transpose == "C":
        a = conjugate(a)
    flipped = "T" if transpose == "N" else "N"
    return [None, triangular_solve(a, ct, transpose=flipped, **params)]


def _triangular_batch(size, args, batched, *, left, **params):
    a, b = args
    if batched[0] or typeof(a).ndim > 2:
        return _triangular_each(size, args, batched, left=left, **params)
    # One matrix for all batch elements: put the right-hand sides of all of them side by side.
    count, n, k = typeof(b).shape
    if left:
        wide = reshape(move_axis(b, 0, 1), shape=(n, count * k))
        x = triangular_solve(a, wide, left=True, **params)
        return [move_axis(reshape(x, shape=(n, count, k)), 1, 0)], [True]
    x = triangular_solve(a, reshape(b, shape=(count * n, k)), left=False, **params)
    return [reshape(x, shape=(count, n, k))], [True]


triangular_solve = Op(
    "triangular_solve",
    type=_triangular_type,
    lower=_triangular_lower,
    jvp=_triangular_jvp,
    transpose=_triangular_transpose,
    batch=_triangular_batch,
)
_triangular_each = batch_in_front(triangular_solve)


def solve_with(a, b, lower: bool, *, left: bool = True, transpose: str = "N", unit: bool = False):
    """triangular_solve with its settings in short."""
    return triangular_solve(a, b, left=left, lower=lower, transpose=transpose, unit_diagonal=unit)


# Cholesky


def _cholesky_type(a):
    check_matrices("cholesky", a, square=True)
    return [a.strong()]


def _cholesky_lower(ctx, a):
    (t,) = ctx.in_types
    if 0 in t.shape:
        return ctx.full(t, 0)
    if ctx.platform == "tpu":
        return _cholesky_by_xla(ctx, a, t)
    # conj(a) = aᵀ = uᴴu with the upper triangle of aᵀ  =>  a = uᵀ(uᵀ)ᴴ
    u, info = ctx.routine(
        "potrf", t.dtype, [swap_values(ctx, a, t)], [ctx.out(), info_type(ctx, t)], lower=False
    )
    lower = part_values(ctx, swap_values(ctx, u, t), t, "GE")
    return or_nan(ctx, succeeded(ctx, info, t), lower, t, t.ndim - 2)


def _cholesky_by_xla(ctx, a, t: ArrayType):
    factor = ctx.one("stablehlo.cholesky", ctx.type(t), [a], lower=ctx.flag(True))
    ok, factor = finite_or_zero(ctx, part_values(ctx, factor, t, "GE"), t)
    return or_nan(ctx, ok, factor, t, t.ndim - 2)


def _cholesky_jvp(primals, tangents):
    # a = l lᴴ  =>  l⁻¹ a' l⁻ᴴ = l⁻¹ l' + (l⁻¹ l')ᴴ, and l⁻¹ l' is lower triangular with a real
    # diagonal: it is the lower triangle of the left side with half of the diagonal.
    # (Murray 2016, "Differentiation of the Cholesky decomposition", section 3.1)
    (a,), (a_dot,) = primals, tangents
    factor = cholesky(a)
    change = solve_with(factor, hermitian_of_lower(a_dot), True)
    change = solve_with(factor, change, True, left=False, transpose="C")
    half = mul(part(change, eq), full_like_type(typeof(change), 0.5))
    return [factor], [matmul(factor, add(part(change, gt), half))]


# The lower triangular factor l of a Hermitian positive definite a = l lᴴ; reads a's lower triangle.
cholesky = Op("cholesky", type=_cholesky_type, lower=_cholesky_lower, jvp=_cholesky_jvp)
cholesky._batch = batch_in_front(cholesky)

# LU


def _lu_type(a):
    check_matrices("lu", a)
    *batch, m, n = a.shape
    return [
        a.strong(),
        ArrayType((*batch, min(m, n)), dtypes.int32),
        ArrayType((*batch, m), dtypes.int32),
    ]


def _lu_lower(ctx, a):
    (t,), (_, t_pivots, t_order) = ctx.in_types, ctx.out_types
    if 0 in t.shape:
        pivots = ctx.full(t_pivots, 0)
        return [ctx.full(t, 0), pivots, _order_values(ctx, pivots, t_pivots, t_order)]
    if ctx.platform == "tpu":
        return plain.lu(ctx, a, t)
    factors, pivots, _ = ctx.routine(
        "getrf", t.dtype, [a], [ctx.out(0), ctx.out(1), info_type(ctx, t)]
    )
    pivots = ctx.one("stablehlo.subtract", ctx.out(1), [pivots, ctx.full(t_pivots, 1)])
    return [factors, pivots, _order_values(ctx, pivots, t_pivots, t_order)]


def _lu_jvp(primals, tangents):
    # p a = l u. With k = min(m, n), l = (l₁; l₂), u = (u₁ u₂) where l₁, u₁ are k × k:
    #   f₁ = l₁⁻¹ (p a')₁₁ u₁⁻¹ = l₁⁻¹ l₁' + u₁' u₁⁻¹, strictly lower plus upper triangular, so
    #   l₁' = l₁ low(f₁) and u₁' = up(f₁) u₁.
    # Rows below (m > n):       l₂' = l₂ low(f₁) + (p a')₂ u₁⁻¹ - l₂ f₁.
    # Columns right of (m < n): u₂' = up(f₁) u₂ + l₁⁻¹ (p a')₂ - f₁ u₂.
    # (Seeger et al. 2017, "Auto-differentiating linear algebra", do the square case.)
    (a,), (a_dot,) = primals, tangents
    packed, pivots, order = lu(a)
    m, n = typeof(a).shape[-2:]
    k = min(m, n)
    change = take_rows(a_dot, order)
    first = columns(rows(packed, 0, k), 0, k)
    l1, u1 = _unit_lower(first), part(first, le)
    f1 = solve_with(first, columns(rows(change, 0, k), 0, k), True, unit=True)
    f1 = solve_with(first, f1, False, left=False)
    low, up = part(f1, gt), part(f1, le)
    out = add(matmul(l1, low), matmul(up, u1))
    if m > n:
        l2 = rows(packed, k, m)
        below = solve_with(first, rows(change, k, m), False, left=False)
        out = concatenate(out, sub(below, matmul(l2, up)), axis=typeof(a).ndim - 2)
    if m < n:
        u2 = columns(packed, k, n)
        right = solve_with(first, columns(change, k, n), True, unit=True)
        out = concatenate(out, sub(right, matmul(low, u2)), axis=typeof(a).ndim - 1)
    return [packed, pivots, order], [out, None, None]


def _unit_lower(packed):
    """The factor l in packed square factors: ones on the diagonal."""
    ones = full_like_type(typeof(packed), 1)
    return add(part(packed, gt), part(ones, eq))


# The factors in one matrix (l below the diagonal, without its ones; u on and above it), the pivots
# counted from 0, and the permutation they make: a[order] = l u.
lu = Op("lu", type=_lu_type, lower=_lu_lower, jvp=_lu_jvp, many=True)
lu._batch = batch_in_front(lu)


def take_rows(x, order):
    """The rows of each matrix in the order of a permutation."""
    t = typeof(x)
    lead = tuple(range(t.ndim - 2))
    dims = GatherDims((t.ndim - 1,), (t.ndim - 2,), (t.ndim - 2,), lead, lead)
    sizes = (*(1 for _ in lead), 1, t.shape[-1])
    starts = reshape(order, shape=(*typeof(order).shape, 1))
    return gather(x, starts, dims=dims, sizes=sizes, mode="promise", unique=True)


# Exchanges of rows


def _exchange_type(x, pivots, *, reverse):
    if pivots.dtype != dtypes.int32:
        raise errors.dtype_not_allowed("exchange_rows", pivots.dtype, "int32")
    if x.ndim < 2 or x.shape[:-2] != pivots.shape[:-1] or pivots.shape[-1] > x.shape[-2]:
        why = "need x (..., m, n) and pivots (..., k) with k <= m"
        raise errors.shape_mismatch("exchange_rows", why, x=x, pivots=pivots)
    return [x.strong()]


def _exchange_values(ctx, x, pivots, t: ArrayType, t_pivots: ArrayType, reverse: bool):
    if 0 in t.shape or 0 in t_pivots.shape:
        return x
    if ctx.platform == "cuda":
        return _permuted(ctx, x, pivots, t, t_pivots, reverse)
    *batch, m, n = t.shape
    if rows_by_kernel(ctx, t):
        order = order_by_kernel(ctx, pivots, m, reverse)
        order, flat = (
            ctx.reshape(order, ctx.tensor((1, m, 1), np.int32)),
            ctx.tensor((1, m, n), t.dtype),
        )
        rows = _rows_at(ctx, ctx.reshape(x, flat), order, flat, n)
        return ctx.reshape(rows, ctx.tensor(t.shape, t.dtype))
    if n > 1:
        return _in_exchanged_order(ctx, x, pivots, t, t_pivots, reverse)
    count, k, i32 = math.prod(batch), t_pivots.shape[-1], np.int32
    exchange = _exchange if count == 1 else _exchange_in_batch
    flat = ctx.reshape(pivots, ctx.tensor((count, k), i32))
    start, stop, step = (ctx.constant(i32(v)) for v in ((k - 1, -1, -1) if reverse else (0, k, 1)))
    _, out = ctx.while_(
        [start, ctx.reshape(x, ctx.tensor((count, m, n), t.dtype))],
        lambda i, _: ctx.compare(i, stop, ctx.tensor((), bool), "NE"),
        lambda i, rows: [
            ctx.one("stablehlo.add", i.type, [i, step]),
            exchange(ctx, i, rows, flat, count, n, t.dtype),
        ],
    )
    return ctx.reshape(out, ctx.tensor(t.shape, t.dtype))


def _in_exchanged_order(ctx, x, pivots, t, t_pivots, reverse: bool):
    """The exchanges of the rows' numbers, and then all rows moved at once.

    Compiled, an exchange of two rows copies all of x.
    """
    *batch, m, n = t.shape
    count = math.prod(batch)
    column = ArrayType((*batch, m, 1), dtypes.int32)
    numbers = ctx.iota(ctx.type(column), len(batch))
    order = _exchange_values(ctx, numbers, pivots, column, t_pivots, reverse)
    flat = ctx.tensor((count, m, n), t.dtype)
    order = ctx.reshape(order, ctx.tensor((count, m, 1), np.int32))
    rows = _rows_at(ctx, ctx.reshape(x, flat), order, flat, n)
    return ctx.reshape(rows, ctx.tensor(t.shape, t.dtype))


def _exchange(ctx, i, rows, pivots, count, n, dtype):
    """Exchange rows i and pivots[i] of one matrix."""
    row, zero = ctx.tensor((1, 1, n), dtype), ctx.constant(np.int32(0))
    one = ctx.tensor((1, 1), np.int32)
    pivot = ctx.reshape(ctx.dynamic_slice(pivots, [zero, i], one, [1, 1]), ctx.tensor((), np.int32))
    mine = ctx.dynamic_slice(rows, [zero, i, zero], row, [1, 1, n])
    other = ctx.dynamic_slice(rows, [zero, pivot, zero], row, [1, 1, n])
    rows = ctx.dynamic_update_slice(rows, other, [zero, i, zero])
    return ctx.dynamic_update_slice(rows, mine, [zero, pivot, zero])


def _exchange_in_batch(ctx, i, rows, pivots, count, n, dtype):
    """Exchange rows i and pivots[l, i] of each matrix l."""
    zero = ctx.constant(np.int32(0))
    pivot = ctx.dynamic_slice(pivots, [zero, i], ctx.tensor((count, 1), np.int32), [count, 1])
    row, flat = ctx.tensor((count, 1, n), dtype), ctx.tensor((count, n), dtype)
    mine = ctx.dynamic_slice(rows, [zero, i, zero], row, [count, 1, n])
    other = _rows_at(ctx, rows, pivot, flat, n)
    rows = ctx.dynamic_update_slice(rows, ctx.reshape(other, row), [zero, i, zero])
    return _with_rows_at(ctx, rows, pivot, ctx.reshape(mine, flat))


def _rows_at(ctx, rows, numbers, result, n):
    """Of each matrix the row (or rows) of these numbers, which stand in a last axis of 1."""
    return ctx.gather(
        rows, numbers, result, offset=[result.rank - 1], collapsed=[1], start_map=[1],
        operand_batch=[0], indices_batch=[0], sizes=[1, 1, n],
    )  # fmt: skip


def _with_rows_at(ctx, rows, numbers, new):
    return ctx.scatter(
        rows, numbers, new, lambda old, new: new, window=[new.type.rank - 1], inserted=[1],
        to_operand=[1], operand_batch=[0], indices_batch=[0], unique=True,
    )  # fmt: skip


def _permuted(ctx, x, pivots, t, t_pivots, reverse):
    """All exchanges at once, for accelerators, where a loop of small steps is slow."""
    *batch, m, n = t.shape
    count = math.prod(batch)
    (order,) = ctx.routine(
        "pivots_to_permutation", np.int32, [pivots], [ctx.tensor((*batch, m), np.int32)],
        column_major=False,
    )  # fmt: skip
    order = ctx.reshape(order, ctx.tensor((count, m, 1), np.int32))
    flat = ctx.tensor((count, m, n), t.dtype)
    rows = ctx.reshape(x, flat)
    rows = _with_rows_at(ctx, rows, order, rows) if reverse else _rows_at(ctx, rows, order, flat, n)
    return ctx.reshape(rows, ctx.tensor(t.shape, t.dtype))


def _exchange_batch(size, args, batched, *, reverse):
    x, pivots = args
    if batched[1] or typeof(pivots).ndim > 1:
        return _exchange_each(size, args, batched, reverse=reverse)
    # The same exchanges in all batch elements: put these side by side.
    count, m, n = typeof(x).shape
    wide = reshape(move_axis(x, 0, 1), shape=(m, count * n))
    out = exchange_rows(wide, pivots, reverse=reverse)
    return [move_axis(reshape(out, shape=(m, count, n)), 1, 0)], [True]


# Row i exchanged with row pivots[i] for each i in turn, or in reverse, which undoes it.
exchange_rows = linear_op(
    "exchange_rows",
    type=_exchange_type,
    lower=lambda ctx, x, pivots, *, reverse: _exchange_values(
        ctx, x, pivots, *ctx.in_types, reverse
    ),
    transpose=lambda ct, x, pivots, *, reverse: exchange_rows(ct, pivots, reverse=not reverse),
    batch=_exchange_batch,
)
_exchange_each = batch_in_front(exchange_rows)


def _order_values(ctx, pivots, t_pivots: ArrayType, t_order: ArrayType):
    """The permutation that exchanges make of 0, 1, 2, …"""
    column = ArrayType((*t_order.shape, 1), dtypes.int32)
    if rows_by_kernel(ctx, column) and t_pivots.shape[-1]:
        order = order_by_kernel(ctx, pivots, t_order.shape[-1], False)
        return ctx.reshape(order, ctx.type(t_order))
    numbers = ctx.iota(ctx.type(column), t_order.ndim - 1)
    numbers = _exchange_values(ctx, numbers, pivots, column, t_pivots, False)
    return ctx.reshape(numbers, ctx.type(t_order))


def _permutation_type(pivots, *, size):
    if pivots.dtype != dtypes.int32:
        raise errors.dtype_not_allowed("lu_pivots_to_permutation", pivots.dtype, "int32")
    if pivots.ndim < 1 or pivots.shape[-1] > size:
        why = f"must be at most {size} pivots (..., k)"
        raise errors.shape_mismatch("lu_pivots_to_permutation", why, pivots=pivots)
    return [ArrayType((*pivots.shape[:-1], size), dtypes.int32)]


lu_pivots_to_permutation = Op(
    "lu_pivots_to_permutation",
    type=_permutation_type,
    lower=lambda ctx, x, *, size: _order_values(ctx, x, *ctx.in_types, *ctx.out_types),
)
lu_pivots_to_permutation._batch = batch_in_front(lu_pivots_to_permutation)

# tridiagonal_solve


def _tridiagonal_type(dl, d, du, b):
    check_matrices("tridiagonal_solve", b)
    for x in (dl, d, du):
        if x.shape != b.shape[:-1] or x.dtype != b.dtype:
            why = "need diagonals (..., n) and b (..., n, k) of one dtype"
            raise errors.shape_mismatch("tridiagonal_solve", why, dl=dl, d=d, du=du, b=b)
    return [b.strong()]


def _tridiagonal_lower(ctx, dl, d, du, b):
    t, t_b = ctx.in_types[1], ctx.in_types[3]
    if 0 in t_b.shape:
        return ctx.full(t_b, 0)
    if ctx.platform == "cuda" and _solved_as_one(t_b):
        return _tridiagonal_gpu(ctx, dl, d, du, b, t, t_b)
    if ctx.platform != "cpu":
        return plain.tridiagonal_solve(ctx, dl, d, du, b, t, t_b)
    kinds = [ctx.type(t)] * 3 + [ctx.type(t_b), info_type(ctx, t_b)]
    *_, x, info = ctx.routine("gtsv", t.dtype, [dl, d, du, b], kinds)
    return or_nan(ctx, succeeded(ctx, info, t_b), x, t_b, t_b.ndim - 2)


# From so count systems on, a loop over the unknowns has enough to do at each of its steps.
_MANY = 2**17


def _solved_as_one(t_b: ArrayType) -> bool:
    """Whether the batch is solved as one system: cuSPARSE pivots for one system, and not for a batch."""
    *batch, n, _ = t_b.shape
    count = math.prod(batch)
    return count == 1 or (count < _MANY and count * n < 2**31)


def _tridiagonal_gpu(ctx, dl, d, du, b, t, t_b):
    """The systems below each other, as one. Where one is singular its neighbours may have no finite x
    either: then a loop over the unknowns, which keeps them apart, solves them all."""
    *batch, n, k = t_b.shape
    count = math.prod(batch)
    line, block = ArrayType((count * n,), t.dtype), ArrayType((count * n, k), t.dtype)
    rows = [ctx.reshape(x, ctx.type(line)) for x in _decoupled(ctx, dl, d, du, t)]
    x = _gtsv(ctx, *rows, ctx.reshape(b, ctx.type(block)), line, block)
    ok, _ = finite_or_zero(ctx, x, block)
    x = ctx.reshape(x, ctx.type(t_b))
    if count == 1:
        return or_nan(ctx, ok, x, t_b, 0)
    index = ctx.convert(ok, ctx.tensor((), np.dtype(np.int32)))
    branches = [lambda: [plain.tridiagonal_solve(ctx, dl, d, du, b, t, t_b)], lambda: [x]]
    return ctx.case(index, [ctx.type(t_b)], branches)[0]


def _decoupled(ctx, dl, d, du, t):
    """Diagonals with zeros where one system ends and the next begins."""
    number = ctx.iota(ctx.tensor(t.shape, np.dtype(np.int32)), t.ndim - 1)
    ends = [ctx.full(ArrayType(t.shape, np.dtype(np.int32)), i) for i in (0, t.shape[-1] - 1)]
    inside = [ctx.compare(number, end, ctx.tensor(t.shape, bool), "NE") for end in ends]
    zero = ctx.full(t, 0)
    return ctx.select(inside[0], dl, zero), d, ctx.select(inside[1], du, zero)


def _gtsv(ctx, dl, d, du, b, t, t_b):
    # The routine wants three unknowns or more: add equations x = 0 that touch no others.
    n, k = t_b.shape
    size = max(n, 3)
    shape = (size, k)
    low, mid, high = (pad_values(ctx, x, t, (size,), one) for x, one in ((dl, 0), (d, 1), (du, 0)))
    b = pad_values(ctx, b, t_b, shape)
    (x,) = ctx.routine("gtsv", t.dtype, [low, mid, high, b], [ctx.tensor(shape, t.dtype)])
    return slice_values(ctx, x, ArrayType(shape, t.dtype), t_b.shape)


def _tridiagonal_jvp(primals, tangents):
    # t x = b  =>  t x' = b' - t' x
    dl, d, du, b = primals
    x = tridiagonal_solve(dl, d, du, b)
    right = tangents[3]
    for g, near in zip(tangents[:3], (-1, 0, 1), strict=True):
        if g is not None:
            term = times_rows(_shifted(x, -near, typeof(x).ndim - 2), g)
            right = neg(term) if right is None else sub(right, term)
    return [x], [tridiagonal_solve(dl, d, du, right)]


def _shifted(x, steps: int, axis: int):
    """Elements shifted along an axis, zeros filled in."""
    if steps == 0:
        return x
    t = typeof(x)
    low, high, none = [0] * t.ndim, [0] * t.ndim, (0,) * t.ndim
    low[axis], high[axis] = steps, -steps
    zero = zeros(ArrayType((), t.dtype))
    return pad(x, zero, low=tuple(low), high=tuple(high), interior=none)


def _tridiagonal_transpose(cotangents, dl, d, du, b):
    # The transposed matrix has du, one place down, below its diagonal, and dl, one place up, above.
    (ct,) = cotangents
    axis = typeof(d).ndim - 1
    found = tridiagonal_solve(_shifted(du, 1, axis), d, _shifted(dl, -1, axis), ct)
    return [None, None, None, found]


# x with t x = b for the matrix t with dl[1:] below, d on and du[:-1] above the diagonal.
tridiagonal_solve = Op(
    "tridiagonal_solve",
    type=_tridiagonal_type,
    lower=_tridiagonal_lower,
    jvp=_tridiagonal_jvp,
    transpose=_tridiagonal_transpose,
)
tridiagonal_solve._batch = batch_in_front(tridiagonal_solve)
