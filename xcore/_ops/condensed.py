"""Hessenberg and tridiagonal forms, which orthogonal transformations reach in finitely many steps.

Packed as LAPACK does it: the form where it is not zero, the Householder vectors in its zeros.
Without derivatives, for the vectors are of no use but to rebuild the transformation.
"""

from __future__ import annotations

from .._core import ArrayType, Op, dtypes
from .matrices import batch_in_front, check_matrices, info_type, real_type


def _taus_type(a) -> ArrayType:
    *batch, n, _ = a.shape
    return ArrayType((*batch, max(n - 1, 0)), a.dtype)


def _hessenberg_type(a):
    check_matrices("hessenberg", a, square=True)
    return [a.strong(), _taus_type(a)]


def _hessenberg_lower(ctx, a):
    (t,) = ctx.in_types
    if 0 in ctx.out_types[1].shape:  # one row at most: it has that form
        return [a, ctx.full(ctx.out_types[1], 0)]
    n = t.shape[-1]
    return ctx.routine(
        "gehrd", t.dtype, [a], [*ctx.outs(), info_type(ctx, t)], low=1, high=n
    )[:2]  # fmt: skip


# h and the vectors below its first subdiagonal, and their factors: a = q h qᴴ.
hessenberg = Op("hessenberg", type=_hessenberg_type, lower=_hessenberg_lower, many=True)
hessenberg._batch = batch_in_front(hessenberg)


def _tridiagonal_type(a, *, lower):
    check_matrices("tridiagonal", a, square=True)
    taus = _taus_type(a)
    return [a.strong(), real_type(a, a.shape[:-1]), real_type(a, taus.shape), taus]


def _only_element(ctx, a, t: ArrayType):
    """The diagonal of matrices of one row at most."""
    d = ctx.reshape(a, ctx.tensor(t.shape[:-1], t.dtype))
    return ctx.one("stablehlo.real", ctx.out(1), [d]) if dtypes.is_complex(t.dtype) else d


def _tridiagonal_lower(ctx, a, *, lower):
    (t,) = ctx.in_types
    if 0 in ctx.out_types[3].shape:
        return [a, _only_element(ctx, a, t), *(ctx.full(o, 0) for o in ctx.out_types[2:])]
    return ctx.routine(
        "sytrd", t.dtype, [a], [*ctx.outs(), info_type(ctx, t)], lower=lower
    )[:4]  # fmt: skip


# t and the vectors beside its diagonals, its diagonal, its subdiagonal, and the vectors' factors, for
# a Hermitian a = q t qᴴ of which one triangle is read.
tridiagonal = Op("tridiagonal", type=_tridiagonal_type, lower=_tridiagonal_lower, many=True)
tridiagonal._batch = batch_in_front(tridiagonal)
