"""Least squares, pseudoinverses, and bases of null spaces and ranges."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import Array, ArrayLike, dtypes, errors, fused, one_of, require, typeof
from .._ops import adjoint, solve_with
from .._solution import Certificate, Solution, Status, first_that_holds
from ..numpy._equations import in_range, least_squares, thin_svd
from ._arguments import (
    as_inexact,
    check_matrices,
    epsilon,
    in_lapack_dtype,
    product,
    with_columns,
)
from ._certificates import of_full_rank, of_least_squares
from ._digits import digits_of, relative
from ._echelon import pivot_count
from ._elimination import first_zero
from ._operators import SPARSE, LinearOperator, Matrix, as_operator
from ._range import column_norms, vanished
from ._sensitivity import concluded, frobenius, nothing
from ._truth import fail

METHODS = ("svd", "qr")


@fused(2)
def _lstsq(a, b, method, ridge, rtol, report):
    """(x, number of a column that depends on others or -1, the rank and |a x - b| if asked for)."""
    who = "linalg.lstsq"
    given = as_inexact(who, a, b)
    a, b, to_dtype = in_lapack_dtype(*given)
    check_matrices(who, a=a)
    a, b, back = with_columns(who, a, b)
    tall = (a, b) if _is_zero(ridge) else _with_ridge(a, b, ridge)
    x, rank, pivot, about = (
        _by_qr(who, *tall, report) if method == "qr" else _by_svd(*tall, rtol, report)
    )
    evidence = None
    if report:
        left = column_norms(ops.stop_gradient(b - product(a, x)))
        fixed = tuple(ops.stop_gradient(y) for y in (*tall, x))
        judge = of_full_rank if method == "qr" else of_least_squares
        figures = judge(*fixed, *about)
        if typeof(given[0]).dtype != typeof(a).dtype:
            figures |= _rounded(figures["error"], fixed[2], to_dtype(fixed[2]), epsilon(given[0]))
        more = {"rank": rank} | figures.pop("more", {})
        finite = xnp.isfinite(to_dtype(fixed[2])).all(axis=(-2, -1))
        known = xnp.isfinite(fixed[0]).all(axis=(-2, -1))
        blind = (figures["error"] > 0.1) & ~_at_the_ends(*fixed)
        blind, bad = xnp.broadcast_to(blind, finite.shape), pivot >= 0
        status = first_that_holds(
            (bad & known, Status.singular), (bad | ~finite, Status.not_finite),
            (blind, Status.ill_conditioned), (True, Status.success),
        )  # fmt: skip
        certificate = Certificate(**figures, residual=back(left), more=more)
        evidence = xnp.broadcast_to(status, finite.shape), certificate
    return to_dtype(back(x)), pivot, evidence


def _at_the_ends(a, b, x):
    """Whether there is no solution but 0, or numbers are near the ends of the range, where no error is told either."""
    limits = dtypes.finfo(typeof(x).dtype)
    low, high = (
        float(limits.tiny) / float(limits.eps) ** 2,
        float(limits.max) * float(limits.eps) ** 2,
    )
    sizes = [xnp.max(xnp.abs(y), axis=(-2, -1), initial=0) for y in (a, b, x)]
    near = functools.reduce(xnp.logical_or, [(s > 0) & ((s < low) | (s > high)) for s in sizes])
    return near | (sizes[2] == 0)


def _rounded(error, x, short, eps: float) -> dict:
    """Error and digits of results that are handed out in 16 bits: what that rounding takes counts."""
    off = xnp.max(xnp.abs(x - short.astype(typeof(x).dtype)), axis=-2, initial=0)
    share = relative(off, xnp.max(xnp.abs(x), axis=-2, initial=0))
    error = error + xnp.max(share, axis=-1, initial=0)
    error = xnp.where(xnp.isnan(error), xnp.inf, error)
    return {"error": error, "digits": digits_of(error, eps)}


def lstsq(
    a: ArrayLike, b: ArrayLike, *, method: str = "svd", ridge: float = 0.0,
    rtol: float | None = None, report: bool = False,
) -> Array | Solution:  # fmt: skip
    """The x that makes |a x - b|² + ridge |x|² least.

    Args:
      a: matrices (..., m, n); a sparse one goes to ``sparse.lstsq``, whatever the method.
      b: right-hand sides (..., m, k), or one vector (m,).
      method: "svd" gives the x of least norm also where the rank is less than n; "qr" is several
        times faster, for matrices of full column rank (m >= n, or any shape with a ridge): a column
        that depends on those before it raises SingularMatrixError, and in compiled code leaves a
        check for ``checkify``.
      ridge: weight of the size of x, which makes the solution unique and tame. (Tikhonov 1963)
      rtol: singular values not above this part of the largest count as zero, for "svd";
        max(m, n) times the precision by default.
      report: return a ``Solution``: the value, a status (singular where "qr" met dependent columns)
        and a ``Certificate``: the residual |a x - b| of each column, the condition (of the singular
        values that count), and the error and digits of the worst column, of relative size
        e κ (2 + (κ + 1) |b - a x| / (s₁ |x|)) for e a few roundings; besides the rank (with the ridge's
        rows), and of "svd" what it rests on, the smallest singular value that counts ("kept") and the
        largest that does not ("dropped"), both by the largest.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> a = xnp.asarray([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> xnp.round(xc.linalg.lstsq(a, xnp.asarray([1.0, 3.0, 5.0]), method="qr"), 3)
    Array([1., 2.], dtype=float32)
    """
    who = "linalg.lstsq"
    one_of(who, "method", method, METHODS)
    require("0 or more", who, ridge=ridge)
    if isinstance(a, LinearOperator) or type(a).__module__.startswith("scipy.sparse"):
        return _of_operator(who, as_operator(a), b, ridge, rtol, report)
    x, pivot, evidence = _lstsq(a, b, method, ridge, rtol, report)
    if evidence is not None:
        return Solution(x, *evidence)
    if method == "qr":
        fail(who, a, pivot, "rank")
    return x


def _of_operator(who: str, a: Any, b: ArrayLike, ridge: Any, rtol: Any, report: bool) -> Any:
    if isinstance(a, Matrix):
        return lstsq(a.a, b, ridge=ridge, rtol=rtol, report=report)
    if not hasattr(a, "pattern"):
        raise errors.bad_argument(
            who, "a", a, "a matrix, dense or sparse", "Of an operator, take linalg.lsmr, or a.as_matrix()."
        )  # fmt: skip
    if rtol is not None:
        need = "None where a is sparse: its rank must be full, or a ridge makes it so"
        raise errors.bad_argument(who, "rtol", rtol, need)
    return importlib.import_module(SPARSE).lstsq(a, b, ridge=ridge, report=report)


def _is_zero(ridge) -> bool:
    return isinstance(ridge, (int, float)) and ridge == 0


def _with_ridge(a, b, ridge):
    """|a x - b|² + r |x|² is |(a; √r) x - (b; 0)|²."""
    *lead, _, n = typeof(a).shape
    real = dtypes.to_real(typeof(a).dtype)  # a number is not rounded to another dtype first
    root = xnp.sqrt(xnp.asarray(ridge, real)).astype(typeof(a).dtype)
    below = xnp.broadcast_to(root * xnp.eye(n, dtype=typeof(a).dtype), (*lead, n, n))
    zero = xnp.zeros((*lead, n, typeof(b).shape[-1]), typeof(b).dtype)
    return xnp.concatenate([a, below], axis=-2), xnp.concatenate([b, zero], axis=-2)


def _by_qr(who: str, a, b, report: bool):
    m, n = typeof(a).shape[-2:]
    if m < n:
        why = "method='qr' needs as many rows as columns; use method='svd' or a ridge"
        raise errors.shape_mismatch(who, why, a=a)
    q, r = ops.qr(a, full=False, pivoting=False)
    x = solve_with(r, product(adjoint(q), b), False)
    r = ops.stop_gradient(r)
    size = column_norms(r)
    pivots = xnp.abs(xnp.diagonal(r, axis1=-2, axis2=-1))
    zero = pivots <= m * epsilon(a) * size
    pivot = first_zero(xnp.where(zero, 0, pivots))
    return x, xnp.sum(~zero, axis=-1), pivot, (r, pivot < 0) if report else None


def _by_svd(a, b, rtol, report: bool):
    relative = max(typeof(a).shape[-2:]) * epsilon(a) if rtol is None else rtol
    rank = about = None
    if report:  # the same decomposition as that of the solution
        scaled, unit = in_range(ops.stop_gradient(a))
        values = ops.stop_gradient(ops.svd(scaled, full=False, vectors=True)[0])
        limit = relative * xnp.max(values, axis=-1, keepdims=True, initial=0)
        rank = xnp.sum(values > limit, axis=-1)
        about = (rank, values, unit)
    relative = xnp.asarray(relative, typeof(xnp.real(a[..., :1, :1])).dtype)
    none = xnp.full(typeof(a).shape[:-2], -1, np.int32)
    return least_squares(a, b, relative, False), rank, none, about


def pinv(
    a: ArrayLike, *, rtol: float | None = None, hermitian: bool = False, report: bool = False
) -> Array | Solution:
    """The pseudoinverse of Moore and Penrose; arguments as in ``numpy.linalg.pinv``.

    With ``report=True`` a ``Solution`` with a ``Certificate`` of the residual |x a x - x|, the rank,
    what it rests on ("kept" and "dropped", as for ``lstsq``), and the error of the pseudoinverse of that
    rank, 2 e / (kept - dropped) for e a few roundings in the 2-norm, relative to the largest element.
    (Wedin 1973, "Perturbation theory for pseudo-inverses")

    Args:
      a: matrices (…, m, n).
      rtol: singular values up to this share of the largest count as zero; max(m, n) eps by default.
      hermitian: whether a is Hermitian, which is faster.
      report: see above.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.pinv(xnp.asarray([[2.0, 0.0], [0.0, 0.0]]))
    Array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    if not report:
        return xnp.linalg.pinv(a, rtol, hermitian)
    return Solution(*_pinv_judged(a, rtol, hermitian))


@fused(1)
def _pinv_judged(a, rtol, hermitian):
    """(x, status, Certificate), in one program: the report's decomposition is that of x."""
    x = xnp.linalg.pinv(a, rtol, hermitian)
    return x, *_of_inverse(a, x, rtol, hermitian)


def _of_inverse(a, x, rtol, hermitian) -> tuple:
    """(status, Certificate) of a pseudoinverse."""
    (a,) = as_inexact("linalg.pinv", a)
    eps = epsilon(a)
    a, x = (ops.stop_gradient(y) for y in (a, x))
    a, x = (in_lapack_dtype(y)[0] for y in (a, x))
    if 0 in typeof(a).shape:
        return nothing(x, eps)
    m, n = typeof(a).shape[-2:]
    scaled, unit = in_range(a)
    s = thin_svd(scaled, hermitian)[0]
    top = xnp.where(s[..., 0] > 0, s[..., 0], 1)
    limit = max(m, n) * eps if rtol is None else rtol
    ratios, first = s / top[..., None], top * unit
    counts = ratios > limit
    rank = xnp.sum(counts, axis=-1)
    kept = xnp.min(xnp.where(counts, ratios, 1), axis=-1)
    dropped = xnp.max(xnp.where(counts, 0, ratios), axis=-1)
    gap = kept - dropped
    # the factorisation is backward stable: equal singular values were seen 2 times further off
    change = 3 * (4 + max(m, n) ** 0.5) * epsilon(a) + vanished(a, m + n) + vanished(x, m + n)
    sure = change < 0.1 * gap
    a, x = a / first.astype(typeof(a).dtype)[..., None, None], _times(first, x)
    size = 1 / kept
    left = frobenius(product(x, product(a, x)) - x)
    off = xnp.where(sure, 2 * change / gap * size + eps / 2 * size, xnp.inf)
    gone = (rank > 0) & xnp.all(x == 0, axis=(-2, -1))  # below the range
    off = xnp.where(gone, xnp.inf, off)
    off = xnp.where(rank > 0, off, xnp.where(xnp.all(a == 0, axis=(-2, -1)), 0, off))
    return concluded(
        x, off, relative(left, max(m, n) * eps * size * size), 1 / kept, eps,
        residual=left / first, rank=rank, kept=kept, dropped=dropped,
    )  # fmt: skip


def _times(first, x):
    return x * first.astype(typeof(x).dtype)[..., None, None]


def matrix_rank(
    a: ArrayLike, tol: float | None = None, *, rtol: float | None = None, field: int | None = None,
    method: str = "svd",
) -> Array:  # fmt: skip
    """How many singular values, or pivots of an elimination, are not zero up to rounding.

    Args:
      a: matrices (…, m, n).
      tol: numbers up to this one count as zero.
      rtol: the same as a share of the largest singular value; max(m, n) eps by default.
      field: a prime p, for integers modulo p: exact, by elimination.
      method: "svd", or "elimination", which is cheaper and less reliable.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.matrix_rank(xnp.ones((3, 3)))
    Array(1, dtype=int32)
    >>> xc.linalg.matrix_rank(xnp.asarray([[1, 1], [1, 3]]), field=2)
    Array(1, dtype=int32)
    """
    who = "linalg.matrix_rank"
    one_of(who, "method", method, ("svd", "elimination"))
    if field is None and method == "svd":
        return xnp.linalg.matrix_rank(a, tol, rtol=rtol)
    if rtol is not None:
        raise errors.bad_argument(who, "rtol", rtol, "left out with elimination, which takes tol")
    return pivot_count(a, field=field, tol=tol)


@fused(1)
def _vectors(a, who, rtol, null):
    """Right (or left) singular vectors as columns, and which of them are asked for."""
    (a, back) = in_lapack_dtype(*as_inexact(who, a))
    check_matrices(who, a=a)
    m, n = typeof(a).shape[-2:]
    s, u, vh = ops.svd(in_range(a)[0], full=null, vectors=True)
    relative = max(m, n) * epsilon(a) if rtol is None else rtol
    limit = relative * xnp.max(s, axis=-1, keepdims=True, initial=0)
    counts = (s > limit) | (xnp.isnan(s) & (not null))  # of NaN all columns come out, in any case
    if not null:
        return back(u[..., : min(m, n)]), counts
    rest = xnp.ones((*typeof(a).shape[:-2], n - min(m, n)), bool)
    return back(adjoint(vh)), xnp.concatenate([~counts, rest], axis=-1)


def _chosen(who: str, basis, wanted, size: int | None):
    """The wanted columns, in front; a size makes their number known under ``jit``."""
    if size is not None:
        order = xnp.argsort(~wanted, axis=-1, stable=True)[..., :size]
        kept = xnp.take_along_axis(wanted, order, axis=-1)
        columns = xnp.take_along_axis(basis, order[..., None, :], axis=-1)
        return xnp.where(kept[..., None, :], columns, 0)
    if type(wanted) is not Array:
        raise errors.ConcretizationError(
            f"xcore.{who}: how many columns the result has depends on the rank, which is traced. "
            "Give size=, or compute it outside the traced function."
        )
    if wanted.ndim > 1:
        why = "must be one matrix, for those of a batch may have different ranks; or give size="
        raise errors.shape_mismatch(who, why, a=basis)
    return basis[:, np.flatnonzero(np.asarray(wanted))]


def null_space(a: ArrayLike, *, rtol: float | None = None, size: int | None = None) -> Array:
    """An orthonormal basis of the vectors x with a x = 0, as columns.

    Args:
      a: matrix (m, n); with ``size`` also a batch.
      rtol: singular values not above this part of the largest count as zero.
      size: the number of columns of the result, needed under ``jit``; missing ones are zero.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xnp.abs(xc.linalg.null_space(xnp.asarray([[1.0, 0.0]])))
    Array([[0.],
           [1.]], dtype=float32)
    """
    who = "linalg.null_space"
    return _chosen(who, *_vectors(a, who, rtol, True), size)


def orth(a: ArrayLike, *, rtol: float | None = None, size: int | None = None) -> Array:
    """An orthonormal basis of the range of a, as columns; arguments as for ``null_space``.

    Args:
      a: matrices (…, m, n).
      rtol, size: as for ``null_space``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xnp.round(xnp.abs(xc.linalg.orth(xnp.ones((2, 2)))), 4)
    Array([[0.7071],
           [0.7071]], dtype=float32)
    """
    who = "linalg.orth"
    return _chosen(who, *_vectors(a, who, rtol, False), size)
