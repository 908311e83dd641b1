"""Eigenvalues, singular values and Schur forms of batches of matrices.

Vectors are determined up to a factor of modulus 1 at best, and up to a rotation where values
coincide. The derivative of a vector fixes the factor as said at its rule. Where values coincide,
forward mode gives the derivatives of whatever depends on the matrix alone; reverse mode gives them
where they are determined, else NaN; see ``coalescing``.
"""

from __future__ import annotations

import math

import numpy as np

from .._core import ArrayType, Op, dtypes, errors, trace_closed, typeof
from .coalescing import (
    aligned,
    coupled,
    coupled_pairs,
    divide_or_zero,
    gaps,
    in_columns,
    in_rows,
    settled,
    square_of,
    sums,
    without_rounding,
)  # fmt: skip
from .elementwise import (
    abs,
    add,
    and_,
    clamp,
    complex,
    convert,
    div,
    eq,
    gt,
    imag,
    le,
    mul,
    ne,
    or_,
    real,
    reduce_precision,
    select,
    sub,
)  # fmt: skip
from .factor import lu, solve_with, take_rows
from .families import broadcast_in_dim, full_like_type, ones, reduce_sum, zeros
from .identity import stop_gradient
from .layout import concatenate, iota, rev
from .matrices import (
    adjoint,
    batch_in_front,
    check_matrices,
    columns,
    conj_values,
    conjugate,
    diagonal,
    finite_or_zero,
    hermitian_of_lower,
    identity,
    in_dtype_of,
    info_type,
    is_complex,
    matmul,
    or_nan,
    part,
    part_values,
    real_part,
    real_type,
    rows,
    slice_values,
    succeeded,
    swap_shape,
    swap_values,
    times_columns,
)  # fmt: skip
from .orthogonal import qr
from .reduce import argmax, reduce_max, reduce_min
from .transcendental import sqrt

# eigh

# Of XLA's own Jacobi iteration: at most so many sweeps, until what is beside the diagonal is so small.
_SWEEPS, _SMALL = 100, {"float32": 1e-6, "float64": 1e-12}


def _eigh_type(a, *, vectors):
    check_matrices("eigh", a, square=True)
    values = real_type(a, a.shape[:-1])
    return [values, a.strong()] if vectors else [values]


def _eigh_lower(ctx, a, *, vectors):
    (t,), t_values = ctx.in_types, ctx.out_types[0]
    if 0 in t.shape:
        return [ctx.full(o, 0) for o in ctx.out_types]
    finite, a = finite_or_zero(ctx, part_values(ctx, a, t, "GE"), t)
    if not dtypes.is_complex(t.dtype):  # symmetric: the transposed is as good, and free
        a = swap_values(ctx, a, t)
    if ctx.platform == "tpu":
        config = (
            f"{dtypes.is_complex(t.dtype):d},1,{_SWEEPS},{_SMALL[dtypes.to_real(t.dtype).name]}"
        )
        v, w = ctx.xla_call("Eigh", [a], [ctx.type(t), ctx.type(t_values)], config)
        return [or_nan(ctx, finite, x, o, t.ndim - 2) for x, o in zip((w, v), ctx.out_types)]
    v, w, info = ctx.routine(
        "syevd", t.dtype, [a], [ctx.type(t), ctx.type(t_values), info_type(ctx, t)],
        vectors=vectors, lower=dtypes.is_complex(t.dtype),
    )  # fmt: skip
    ok = succeeded(ctx, info, t, finite)
    return [or_nan(ctx, ok, x, o, t.ndim - 2) for x, o in zip((w, v), ctx.out_types)]


def _eigh_change(v, a_dot):
    """vᴴ a' v, and the changes of the eigenvalues."""
    # a v = v w and vᴴv = 1. With p = vᴴ a' v and v' = v ω, ω anti-Hermitian:
    #   p = ω w - w ω + w', so w' = diag p and ω[i,j] = p[i,j] / (w[j] - w[i]) for i ≠ j.
    # The free phases are fixed by ω[i,i] = 0.
    # (Magnus 1985, "On differentiating eigenvalues and eigenvectors"; Giles 2008, section 3.1)
    p = matmul(adjoint(v), matmul(hermitian_of_lower(a_dot), v))
    return p, real_part(diagonal(p))


def _eigh_jvp(primals, tangents, *, vectors):
    w, v = eigh(primals[0], vectors=True)
    (v,) = aligned(w, _eigh_change(v, tangents[0])[0], v, outside=False)
    p, w_dot = _eigh_change(v, tangents[0])
    return ([w, v], [w_dot, matmul(v, divide_or_zero(p, gaps(w)))]) if vectors else ([w], [w_dot])


def _eigh_linearize(primals, nonzero, *, vectors):
    w, v = eigh(primals[0], vectors=True)
    (of_values,) = settled(w, v, outside=False)
    if not vectors:
        return [w], lambda a_dot: [_eigh_change(of_values, a_dot)[1]]
    gap = gaps(w)

    def change(a_dot):
        w_dot = _eigh_change(of_values, a_dot)[1]
        omega, w_dot = coupled_pairs(_eigh_change(v, a_dot)[0], w_dot, gap)
        return [w_dot, matmul(v, omega)]

    return [w, v], change


# Eigenvalues w in ascending order and, as columns of v, eigenvectors of the Hermitian matrix whose
# lower triangle is that of a.
eigh = Op("eigh", type=_eigh_type, lower=_eigh_lower, jvp=_eigh_jvp, linearize=_eigh_linearize,
          many=True)  # fmt: skip
eigh._batch = batch_in_front(eigh)

# SVD


def _svd_type(a, *, full, vectors):
    check_matrices("svd", a)
    *batch, m, n = a.shape
    k = min(m, n)
    values = real_type(a, (*batch, k))
    if not vectors:
        return [values]
    u = ArrayType((*batch, m, m if full else k), a.dtype)
    return [values, u, ArrayType((*batch, n if full else k, n), a.dtype)]


def _svd_lower(ctx, a, *, full, vectors):
    (t,) = ctx.in_types
    if 0 in t.shape:
        t_values, *t_vectors = ctx.out_types
        return [ctx.full(t_values, 0), *(identity(ctx, o) for o in t_vectors)]
    if ctx.platform == "tpu":
        finite, a = finite_or_zero(ctx, a, t)
        outs = ctx.program(_svd_program(t, full, vectors), [a])
        return [or_nan(ctx, finite, x, o, t.ndim - 2) for x, o in zip(outs, ctx.out_types)]
    write = _svd_cpu if ctx.platform == "cpu" else _svd_gpu
    finite, a = finite_or_zero(ctx, a, t)
    *outs, info = write(ctx, a, t, full, vectors)
    ok = succeeded(ctx, info, t, finite)
    return [or_nan(ctx, ok, x, o, t.ndim - 2) for x, o in zip(outs, ctx.out_types)]


_WORTH_MOVING = 4096  # elements of a matrix


def _svd_cpu(ctx, a, t, full: bool, vectors: bool):
    mode = "N" if not vectors else "A" if full else "S"
    m, n = t.shape[-2:]
    if m <= n or m * n < _WORTH_MOVING:
        return _svd_cpu_transposed(ctx, a, t, full and vectors, mode)
    # LAPACK is faster where columns are longer than rows: for large matrices worth a transposition.
    types = _svd_type(t, full=full and vectors, vectors=True)
    outs = [ctx.type(t), *map(ctx.type, types), info_type(ctx, t)]
    return ctx.routine("gesdd", t.dtype, [a], outs, mode=mode)[1:]


def _svd_cpu_transposed(ctx, a, t, full: bool, mode: str):
    # aᵀ = u₁ s v₁ᴴ  =>  a = (v₁ᴴ)ᵀ s u₁ᵀ
    t_values, t_u, t_vh = _svd_type(t, full=full, vectors=True)
    _, s, u1, vh1, info = ctx.routine(
        "gesdd", t.dtype, [swap_values(ctx, a, t)],
        [ctx.tensor(swap_shape(t.shape), t.dtype), ctx.type(t_values),
         ctx.tensor(swap_shape(t_vh.shape), t.dtype), ctx.tensor(swap_shape(t_u.shape), t.dtype),
         info_type(ctx, t)],
        mode=mode,
    )  # fmt: skip
    u = swap_values(ctx, vh1, t_u.with_shape(swap_shape(t_u.shape)))
    vh = swap_values(ctx, u1, t_vh.with_shape(swap_shape(t_vh.shape)))
    return s, u, vh, info


_JACOBI_LIMIT = 1024  # rows or columns: beyond it QR iteration is faster
_JACOBI_BATCH_LIMIT = 32  # up to it a batch is one call


def _svd_gpu(ctx, a, t, full: bool, vectors: bool):
    if max(t.shape[-2:]) > _JACOBI_LIMIT:
        return _svd_gpu_qr(ctx, a, t, full, vectors)
    # One-sided Jacobi. Its batched form knows only full matrices; it gives v, not its adjoint.
    m, n = t.shape[-2:]
    given_full = full or min(m, n) <= _JACOBI_BATCH_LIMIT
    t_values, t_u, t_vh = _svd_type(t, full=given_full, vectors=True)
    v_shape = swap_shape(t_vh.shape)
    _, s, u, v, info = ctx.routine(
        "gesvdj", t.dtype, [a],
        [ctx.type(t), ctx.type(t_values), ctx.type(t_u), ctx.tensor(v_shape, t.dtype),
         info_type(ctx, t)],
        full_matrices=given_full, compute_uv=vectors,
    )  # fmt: skip
    vh = swap_values(ctx, v, t_vh.with_shape(v_shape))
    if dtypes.is_complex(t.dtype):
        vh = conj_values(ctx, vh, t_vh)
    if vectors and not full:
        _, t_u_thin, t_vh_thin = ctx.out_types
        u = slice_values(ctx, u, t_u, t_u_thin.shape)
        vh = slice_values(ctx, vh, t_vh, t_vh_thin.shape)
    return s, u, vh, info


def _svd_gpu_qr(ctx, a, t, full: bool, vectors: bool):
    # The routine wants m >= n. Wide matrices go in and out as rows, that is, transposed.
    wide = t.shape[-2] < t.shape[-1]
    t_values, t_u, t_vh = _svd_type(t, full=full and vectors, vectors=True)
    first, second = (t_vh, t_u) if wide else (t_u, t_vh)
    _, s, x, y, info = ctx.routine(
        "gesvd", t.dtype, [a],
        [ctx.type(t), ctx.type(t_values), ctx.type(first), ctx.type(second), info_type(ctx, t)],
        column_major=not wide, full_matrices=full, compute_uv=vectors, transposed=wide,
    )  # fmt: skip
    return (s, y, x, info) if wide else (s, x, y, info)


def _svd_program(t: ArrayType, full: bool, vectors: bool):
    """The program of an SVD by a polar decomposition and an eigenvalue problem, for TPUs."""

    def program(a):
        m, n = t.shape[-2:]
        s, u, v = _svd_by_polar(adjoint(a) if m < n else a, full and vectors)
        if not vectors:
            return [s]
        return [s, v, adjoint(u)] if m < n else [s, u, adjoint(v)]

    return trace_closed(program, [t.strong()])


def _svd_by_polar(a, full: bool):
    # a = p h with orthonormal columns of p and h = pᴴ a = v s vᴴ, so a = (p v) s vᴴ. What belongs to
    # vanishing s is no basis yet: q of p v = q r is one, with the other columns as they were up to a
    # factor of modulus 1. (Nakatsukasa and Higham 2013, "Stable and efficient spectral divide and
    # conquer algorithms for the symmetric eigenvalue decomposition and the SVD")
    p = _polar_factor(a)
    h = matmul(adjoint(p), a)
    half = full_like_type(typeof(h), 0.5)
    w, v = eigh(mul(half, add(h, adjoint(h))), vectors=True)
    last = typeof(w).ndim - 1
    w, v = rev(w, axes=(last,)), rev(v, axes=(last + 1,))
    s = select(gt(w, zeros(typeof(w))), w, zeros(typeof(w)))  # rounding may leave a negative one
    u, r = qr(matmul(p, v), full=full, pivoting=False)
    k = typeof(s).shape[-1]
    turn = diagonal(rows(r, 0, k))
    size = abs(turn)
    none = eq(size, zeros(typeof(size)))
    one = full_like_type(typeof(turn), 1)
    turn = select(
        none, one, div(turn, in_dtype_of(select(none, real_part(one), size), typeof(turn)))
    )
    if typeof(u).shape[-1] > k:
        rest = columns(u, k, typeof(u).shape[-1])
        first = times_columns(columns(u, 0, k), turn)
        return s, concatenate(first, rest, axis=typeof(u).ndim - 1), v
    return s, times_columns(u, turn), v


def _polar_factor(a):
    """The factor with orthonormal columns of matrices with no more columns than rows.

    Dynamically weighted Halley's iteration, whose weights follow from a lower bound of the singular
    values of a / |a|: rounding, so they are known beforehand. Products and QR alone.
    (Nakatsukasa, Bai and Gygi 2010, "Optimizing Halley's iteration for computing the matrix polar
    decomposition")
    """
    t, low = typeof(a), float(np.finfo(dtypes.to_real(typeof(a).dtype)).eps)
    size = sqrt(reduce_sum(real_part(mul(a, conjugate(a))), axes=(t.ndim - 2, t.ndim - 1)))
    size = select(eq(size, zeros(typeof(size))), full_like_type(typeof(size), 1), size)
    x = div(a, broadcast_in_dim(in_dtype_of(size, t), shape=t.shape, dims=tuple(range(t.ndim - 2))))
    *batch, m, n = t.shape
    one = part(full_like_type(ArrayType((*batch, n, n), t.dtype), 1), eq)
    while 1 - low > 10 * np.finfo(dtypes.to_real(t.dtype)).eps:
        d = (4 * (1 - low**2) / low**4) ** (1 / 3)
        root = math.sqrt(1 + d)
        u = root + math.sqrt(8 - 4 * d + 8 * (2 - low**2) / (low**2 * root)) / 2
        v = (u - 1) ** 2 / 4
        c = u + v - 1
        low = min(1.0, low * (u + v * low**2) / (1 + c * low**2))
        wide = mul(x, full_like_type(t, math.sqrt(c)))
        q, _ = qr(concatenate(wide, one, axis=t.ndim - 2), full=False, pivoting=False)
        product = matmul(rows(q, 0, m), adjoint(rows(q, m, m + n)))
        x = add(
            mul(x, full_like_type(t, v / c)),
            mul(product, full_like_type(t, (u - v / c) / math.sqrt(c))),
        )
    return x


def _svd_change(u, v, a_dot):
    """uᴴ a' v, what of a' v is orthogonal to u, and the changes of the singular values."""
    moved = matmul(a_dot, v)
    p = matmul(adjoint(u), moved)
    return p, sub(moved, matmul(u, p)), real_part(diagonal(p))


def _svd_tangents(s, u, v, change, divide):
    """The changes (s', u', v') of the factors of matrices with no more columns than rows."""
    # a = u s vᴴ with k columns. With p = uᴴ a' v, anti-Hermitian ω = uᴴu', ψ = vᴴv':
    #   p = ω s - s ψ + s', so s' = Re diag p. Off the diagonal the Hermitian part h of p turns both
    # bases alike, the anti-Hermitian part q against each other, which rotations of equal values,
    # as in u vᴴ, do not undo:
    #   (ω + ψ)[i,j] / 2 = h[i,j] / (s[j] - s[i]),   (ω - ψ)[i,j] / 2 = q[i,j] / (s[j] + s[i]).
    # On it only ω - ψ = i Im(p) / s is determined; all of it goes into ω. Outside of u
    #   u' = u ω + (1 - u uᴴ) a' v / s,   v' = v ψ.
    # (Townsend 2016, "Differentiating the singular value decomposition")
    p, outside, s_dot = change
    half = full_like_type(typeof(p), 0.5)
    alike, s_dot = divide(mul(half, add(p, adjoint(p))), gaps(s), s_dot, pairs=True)
    total = part(sums(s), ne)
    against, s_dot = divide(mul(half, sub(p, adjoint(p))), total, s_dot, pairs=True)
    omega, psi = add(alike, against), sub(alike, against)
    size = without_rounding(s)
    beside = in_columns(size, typeof(outside).with_dtype(typeof(s).dtype))
    if is_complex(p):
        phase = mul(half, part(sub(p, conjugate(p)), eq))
        phase, s_dot = divide(phase, in_columns(size, square_of(s)), s_dot, pairs=False)
        omega = add(omega, phase)
    u_dot, v_dot = matmul(u, omega), matmul(v, psi)
    if typeof(u).shape[-2] > typeof(u).shape[-1]:
        outside, s_dot = divide(outside, beside, s_dot, pairs=False)
        u_dot = add(u_dot, outside)
    return s_dot, u_dot, v_dot


def _svd_point(a, full: bool, vectors: bool):
    """(s, u, v, whether of the adjoint): factors of a, or of aᴴ, with no more columns than rows."""
    m, n = typeof(a).shape[-2:]
    if vectors and full and m != n:
        raise errors.missing_rule(svd, "jvp", _UNDETERMINED)
    s, u, vh = svd(a, full=False, vectors=True)
    return (s, adjoint(vh), u, True) if n > m else (s, u, adjoint(vh), False)


def _svd_outs(s, u, v, flipped: bool, vectors: bool) -> list:
    if not vectors:
        return [s]
    return [s, v, adjoint(u)] if flipped else [s, u, adjoint(v)]


def _divide_or_zero(p, y, change, *, pairs):
    return divide_or_zero(p, y), change


def _divide_or_nan(p, y, change, *, pairs):
    return coupled(p, y, change, pairs=pairs, free=False)


def _svd_jvp(primals, tangents, *, full, vectors):
    s, u, v, flipped = _svd_point(primals[0], full, vectors)
    a_dot = adjoint(tangents[0]) if flipped else tangents[0]
    p, outside, _ = _svd_change(u, v, a_dot)
    tall = typeof(u).shape[-2] > typeof(u).shape[-1]
    u, v = aligned(s, p, *([outside] if tall else []), u, v, outside=tall)
    change = _svd_change(u, v, a_dot)
    moves = _svd_tangents(s, u, v, change, _divide_or_zero) if vectors else change[-1:]
    outs = _svd_outs(s, u, v, flipped, vectors)
    return outs, _svd_outs(*moves, flipped, vectors) if vectors else list(moves)


def _svd_linearize(primals, nonzero, *, full, vectors):
    s, u, v, flipped = _svd_point(primals[0], full, vectors)
    of_values = settled(s, u, v, outside=typeof(u).shape[-2] > typeof(u).shape[-1])

    def move(a_dot):
        a_dot = adjoint(a_dot) if flipped else a_dot
        s_dot = _svd_change(*of_values, a_dot)[-1]
        if not vectors:
            return [s_dot]
        change = (*_svd_change(u, v, a_dot)[:-1], s_dot)
        return _svd_outs(*_svd_tangents(s, u, v, change, _divide_or_nan), flipped, vectors)

    return _svd_outs(s, u, v, flipped, vectors), move


_UNDETERMINED = (
    "With full_matrices=True the last vectors of a matrix that is not square are not determined; "
    "use full_matrices=False."
)


# Singular values in descending order and, if asked for, u and vh with a = u diag(s) vh.
svd = Op("svd", type=_svd_type, lower=_svd_lower, jvp=_svd_jvp, linearize=_svd_linearize,
         many=True)  # fmt: skip
svd._batch = batch_in_front(svd)

# eig


def _eig_type(a, *, left, right):
    check_matrices("eig", a, square=True)
    wide = dtypes.to_complex(a.dtype)
    return [ArrayType(a.shape[:-1], wide), *[ArrayType(a.shape, wide)] * (left + right)]


def _eig_lower(ctx, a, *, left, right):
    (t,) = ctx.in_types
    t_values, t_vectors = ctx.out_types[0], ArrayType(t.shape, ctx.out_types[0].dtype)
    if 0 in t.shape:
        return [ctx.full(o, 0) for o in ctx.out_types]
    vectors = ctx.type(t_vectors)
    # what LAPACK's call on a CPU does itself
    finite, a = finite_or_zero(ctx, a, t) if ctx.platform != "cpu" else (None, a)
    *w, vl, vr, info = ctx.routine(
        "geev", t.dtype, [a], [*_value_types(ctx, t), vectors, vectors, info_type(ctx, t)],
        left=left, right=right,
    )  # fmt: skip
    ok = succeeded(ctx, info, t, finite)
    outs = [_complex_values(ctx, w, t_values), *([vl] if left else []), *([vr] if right else [])]
    return [or_nan(ctx, ok, x, o, t.ndim - 2) for x, o in zip(outs, ctx.out_types)]


def _value_types(ctx, t: ArrayType) -> list:
    """Eigenvalues as routines return them: of real matrices, real and imaginary parts."""
    values = ctx.tensor(t.shape[:-1], t.dtype)
    return [values] if dtypes.is_complex(t.dtype) else [values, values]


def _complex_values(ctx, w: list, t_values: ArrayType):
    return w[0] if len(w) == 1 else ctx.one("stablehlo.complex", ctx.type(t_values), w)


def _eig_jvp(primals, tangents, *, left, right):
    (a,), (a_dot,) = primals, tangents
    w, *vectors = eig(a, left=left, right=True)
    v = vectors[-1]
    a_dot = convert(a_dot, dtype=typeof(v).dtype)
    p = _solve(v, matmul(a_dot, v))
    exists = _differentiable(a, w, v)
    changes = [mul(diagonal(p), exists)]
    if left:  # they are the right vectors of aᴴ, whose values are conjugate
        q = _solve(vectors[0], matmul(adjoint(a_dot), vectors[0]))
        changes.append(times_columns(_vector_changes(vectors[0], conjugate(w), q), exists))
    if right:
        changes.append(times_columns(_vector_changes(v, w, p), exists))
    return [w, *vectors][: len(changes)], changes


def _differentiable(a, w, v):
    """1 for eigenvalues that have a derivative up to rounding, NaN for those that have none.

    Rounding moves a value by eps |a| times its condition number, the norm of its row of v⁻¹. Where
    that is large and reaches as far as the next value, the matrix may as well be defective.
    """
    t = typeof(v)
    if 0 in t.shape:
        return ones(typeof(w))
    one, real_dtype = full_like_type(t, 1), dtypes.to_real(t.dtype)
    eps = float(np.finfo(real_dtype).eps)
    squares = lambda x, axes: reduce_sum(real(mul(x, conjugate(x))), axes=axes)  # noqa: E731
    rows, columns = t.ndim - 2, t.ndim - 1
    condition = sqrt(squares(_solve(v, part(one, eq)), (columns,)))
    size = real_part(sqrt(squares(convert(a, dtype=t.dtype), (rows, columns))))
    values = typeof(condition)
    reach = mul(condition, in_rows(size, values))
    reach = mul(reach, full_like_type(values, 30 * t.shape[-1] * eps))
    gap = abs(sub(in_columns(w, t), in_rows(w, t)))
    infinite = full_like_type(typeof(gap), math.inf)
    gap = reduce_min(add(gap, part(infinite, eq)), axes=(columns,))
    ill = gt(condition, full_like_type(values, 0.1 / eps**0.5))
    # a value that is not a number, of an exactly singular v, counts as ill
    fine = or_(le(condition, full_like_type(values, 0.1 / eps**0.5)), and_(ill, gt(gap, reach)))
    found = select(fine, full_like_type(values, 1), full_like_type(values, math.nan))
    return convert(found, dtype=t.dtype)


def _vector_changes(v, w, p):
    # a v = v w  =>  with p = v⁻¹ a' v and v' = v c: p = c w - w c + w', so w' = diag p and
    # c[i,j] = p[i,j] / (w[j] - w[i]) for i ≠ j. LAPACK fixes the factors, and so c[j,j]: columns
    # have norm 1 and their largest element, in row k, is real. With u = v c for c[j,j] = 0,
    #   c[j,j] = -Re(v_jᴴ u_j) - i Im(u[k,j]) / v[k,j].
    # (Giles 2008, "An extended collection of matrix derivative results", section 3.1)
    t = typeof(v)
    if 0 in t.shape:
        return v
    u = matmul(v, coupled(p, gaps(w), w, pairs=True, free=None)[0])
    axis = t.ndim - 2
    along = real(reduce_sum(mul(conjugate(v), u), axes=(axis,)))
    row = iota(shape=t.shape, dtype=dtypes.int32, axis=axis)
    here = eq(row, in_columns(argmax(abs(v), axis=axis, dtype=dtypes.int32), t))
    u_there, v_there = (_sum_where(here, x, axis) for x in (u, v))
    turn = div(imag(u_there), real(v_there))
    minus = full_like_type(typeof(along), -1)
    return add(u, times_columns(v, complex(mul(minus, along), mul(minus, turn))))


def _sum_where(here, x, axis: int):
    return reduce_sum(select(here, x, zeros(typeof(x))), axes=(axis,))


def _solve(a, b):
    """a⁻¹ b."""
    factors, _, order = lu(a)
    return solve_with(factors, solve_with(factors, take_rows(b, order), True, unit=True), False)


# Eigenvalues (complex) and, if asked for, left (uᴴ a = w uᴴ) and right eigenvectors as columns.
eig = Op("eig", type=_eig_type, lower=_eig_lower, jvp=_eig_jvp, many=True)
eig._batch = batch_in_front(eig)


def eig_of_any_scale(a, *, left: bool, right: bool) -> list:
    """What ``eig`` returns, right of very small and very large matrices, too.

    LAPACK scales these itself, but builds of it are about that do not scale the eigenvalues back.
    """
    t = typeof(a)
    if 0 in t.shape:
        return eig(a, left=left, right=right)
    s = beyond(a)
    spread = lambda x, o: broadcast_in_dim(x, shape=o.shape, dims=tuple(range(t.ndim - 2)))  # noqa: E731
    w, *vectors = eig(div(a, convert(spread(s, t), dtype=t.dtype)), left=left, right=right)
    return [mul(w, convert(spread(s, typeof(w)), dtype=typeof(w).dtype)), *vectors]


def beyond(a):
    """By which power of two each matrix is larger or smaller than what LAPACK takes as it is: no further,
    so that small elements beside large ones stay within the range."""
    t = typeof(a)
    limits = np.finfo(dtypes.to_real(t.dtype))
    size = reduce_max(abs(stop_gradient(a)), axes=(t.ndim - 2, t.ndim - 1))
    number = lambda x: full_like_type(typeof(size), float(x))  # noqa: E731
    size = select(gt(size, number(0)), size, number(1))
    size = select(
        gt(size, number(limits.max)), number(limits.max), size
    )  # |x + i y| of finite x and y
    usual = clamp(number(limits.tiny**0.25), size, number(limits.tiny**-0.25))
    return reduce_precision(div(size, usual), exponent_bits=limits.nexp, mantissa_bits=0)


# Schur


def _schur_type(a):
    check_matrices("schur", a, square=True)
    return [a.strong(), a.strong()]


def _schur_lower(ctx, a):
    (t,) = ctx.in_types
    if 0 in t.shape:
        return [ctx.full(o, 0) for o in ctx.out_types]
    count = info_type(ctx, t)
    finite, a = finite_or_zero(ctx, a, t)
    form, vectors, *_, info = ctx.routine(
        "gees", t.dtype, [a], [*ctx.outs(), *_value_types(ctx, t), count, count], vectors=True
    )
    ok = succeeded(ctx, info, t, finite)
    return [or_nan(ctx, ok, x, t, t.ndim - 2) for x in (form, vectors)]


# t and unitary z with a = z t zᴴ: t upper triangular, of real matrices with 2 × 2 blocks on the
# diagonal for pairs of complex eigenvalues. CPU only, and without a derivative.
schur = Op("schur", type=_schur_type, lower=_schur_lower, many=True)
schur._batch = batch_in_front(schur)
