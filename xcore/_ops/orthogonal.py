"""QR factorisations, and the Householder reflectors they consist of."""

from __future__ import annotations

from .._core import ArrayType, Op, dtypes, errors, typeof
from .elementwise import eq, gt, le, mul, sub
from .factor import solve_with, take_rows
from .families import add, full_like_type
from .layout import concatenate
from .matrices import (
    adjoint,
    batch_in_front,
    check_matrices,
    columns,
    conjugate,
    identity,
    is_complex,
    matmul,
    pad_values,
    part,
    part_values,
    slice_values,
    swapped,
)


def _geqrf_type(a):
    check_matrices("geqrf", a)
    *batch, m, n = a.shape
    return [a.strong(), ArrayType((*batch, min(m, n)), a.dtype)]


def _geqrf_lower(ctx, a):
    (t,) = ctx.in_types
    if 0 in t.shape:
        return [ctx.full(o, 0) for o in ctx.out_types]
    return _geqrf_values(ctx, a, t, ctx.outs())


def _geqrf_values(ctx, a, t: ArrayType, results) -> list:
    if ctx.platform == "tpu":
        return ctx.xla_call("Qr", [a], results)
    return ctx.routine("geqrf", t.dtype, [a], results)


# r on and above the diagonal, the Householder vectors below it, and their factors.
geqrf = Op("geqrf", type=_geqrf_type, lower=_geqrf_lower, many=True)
geqrf._batch = batch_in_front(geqrf)


def _householder_type(a, taus):
    check_matrices("householder_product", a)
    m, n = a.shape[-2:]
    fits = taus.dtype == a.dtype and taus.shape[:-1] == a.shape[:-2]
    if not fits or not taus.shape[-1] <= n <= m:
        why = "need taus (..., k) for a (..., m, n) with k <= n <= m"
        raise errors.shape_mismatch("householder_product", why, a=a, taus=taus)
    return [a.strong()]


def _householder_lower(ctx, a, taus):
    return _product_values(ctx, a, taus, *ctx.in_types)


def _product_values(ctx, a, taus, t: ArrayType, t_taus: ArrayType):
    if 0 in t.shape or 0 in t_taus.shape:
        return identity(ctx, t)
    result = [ctx.tensor(t.shape, t.dtype)]
    if ctx.platform == "tpu":
        return ctx.xla_call("ProductOfElementaryHouseholderReflectors", [a, taus], result)[0]
    return ctx.routine("orgqr", t.dtype, [a, taus], result)[0]


# The first columns of the product of Householder reflectors that geqrf gave.
householder_product = Op("householder_product", type=_householder_type, lower=_householder_lower)
householder_product._batch = batch_in_front(householder_product)


def _qr_type(a, *, full, pivoting):
    check_matrices("qr", a)
    *batch, m, n = a.shape
    k = m if full else min(m, n)
    out = [ArrayType((*batch, m, k), a.dtype), ArrayType((*batch, k, n), a.dtype)]
    return [*out, ArrayType((*batch, n), dtypes.int32)] if pivoting else out


def _qr_lower(ctx, a, *, full, pivoting):
    (t,), (t_q, t_r) = ctx.in_types, ctx.out_types[:2]
    *batch, m, n = t.shape
    if 0 in t.shape:
        out = [identity(ctx, t_q), ctx.full(t_r, 0)]
        t_order = ctx.out_types[-1]
        return [*out, ctx.iota(ctx.out(2), t_order.ndim - 1)] if pivoting else out
    t_taus = ArrayType((*batch, min(m, n)), t.dtype)
    packed, taus, *order = _reflectors(ctx, a, t, t_taus, pivoting)
    r = part_values(ctx, slice_values(ctx, packed, t, t_r.shape), t_r, "LE")
    k = t_q.shape[-1]
    cut = (*batch, m, min(n, k))
    vectors = slice_values(ctx, packed, t, cut)
    vectors = pad_values(ctx, vectors, ArrayType(cut, t.dtype), t_q.shape)
    return [_product_values(ctx, vectors, taus, t_q, t_taus), r, *order]


def _reflectors(ctx, a, t: ArrayType, t_taus: ArrayType, pivoting: bool):
    """Packed factors, taus and, with pivoting, the order of the columns."""
    if not pivoting:
        return _geqrf_values(ctx, a, t, [ctx.type(t), ctx.type(t_taus)])
    t_order = ctx.out_types[2]
    free = ctx.full(t_order, 0)
    packed, order, taus = ctx.routine(
        "geqp3", t.dtype, [a, free], [ctx.type(t), ctx.type(t_order), ctx.type(t_taus)]
    )
    return packed, taus, ctx.one("stablehlo.subtract", order.type, [order, ctx.full(t_order, 1)])


_UNDETERMINED = (
    "The last columns of q in mode='complete' are not determined by a tall matrix; "
    "use mode='reduced'."
)


def _qr_jvp(primals, tangents, *, full, pivoting):
    # The first k = min(m, n) columns: a₁ = q r₁. With w = qᴴ a₁' r₁⁻¹ = ω + r₁' r₁⁻¹, where
    # ω = qᴴ q' is anti-Hermitian and r₁' r₁⁻¹ upper triangular with a real diagonal (as r₁ has),
    #   ω = low(w) - low(w)ᴴ + i Im diag(w),   r₁' = (w - ω) r₁,   q' = a₁' r₁⁻¹ - q (w - ω).
    # Other columns (m < n): r₂ = qᴴ a₂  =>  r₂' = qᴴ a₂' - ω r₂.
    # (Walter and Lehmann 2018, "Algorithmic differentiation of linear algebra functions", sec. 3)
    (a,), (change,) = primals, tangents
    m, n = typeof(a).shape[-2:]
    if full and m > n:
        raise errors.missing_rule(qr, "jvp", _UNDETERMINED)
    outs = qr(a, full=full, pivoting=pivoting)
    q, r = outs[:2]
    if pivoting:
        change = swapped(take_rows(swapped(change), outs[2]))
    k = min(m, n)
    r1 = columns(r, 0, k)
    quotient = solve_with(r1, columns(change, 0, k), False, left=False)
    w = matmul(adjoint(q), quotient)
    omega = _anti_hermitian(w)
    rest = sub(w, omega)
    q_dot, r_dot = sub(quotient, matmul(q, rest)), matmul(part(rest, le), r1)
    if n > k:
        r2_dot = sub(matmul(adjoint(q), columns(change, k, n)), matmul(omega, columns(r, k, n)))
        r_dot = concatenate(r_dot, r2_dot, axis=typeof(r).ndim - 1)
    return outs, [q_dot, r_dot, None][: len(outs)]


def _anti_hermitian(w):
    """The anti-Hermitian matrix that differs from w by an upper triangle with a real diagonal."""
    low = part(w, gt)
    omega = sub(low, adjoint(low))
    if not is_complex(w):
        return omega
    half = full_like_type(typeof(w), 0.5)
    return add(omega, mul(half, part(sub(w, conjugate(w)), eq)))


# a = q r, with pivoting a[:, order] = q r where |diagonal of r| does not grow.
qr = Op("qr", type=_qr_type, lower=_qr_lower, jvp=_qr_jvp, many=True)
qr._batch = batch_in_front(qr)
