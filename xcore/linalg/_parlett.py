"""Any function of a matrix, from its values at the eigenvalues."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import custom_jvp, fori_loop, jvp
from .._core import Array, ArrayLike, dtypes, fused, typeof
from .._ops import adjoint, diagonal, matmul, part, solve_with
from .._solution import Solution
from ..numpy._equations import identity_like, solve_matrices
from ..numpy._select import safe_divide
from ._arguments import as_inexact, check_matrices, epsilon, in_lapack_dtype, over_batch
from ._at_eigenvalues import of_general, with_unit
from ._sensitivity import nothing, scaled, unit
from ._truth import norm1


def _of_triangular(t, values):
    """f(t) from its diagonal, column by column.

    It commutes with t. With t₁ the part of t before column j, and f₁ that of f(t), the part x of column
    j above the diagonal solves (t₁ - t[j,j]) x = f₁ t[:j, j] - f[j,j] t[:j, j].
    (Parlett 1976, "A recurrence among the elements of functions of triangular matrices")
    """
    n = typeof(t).shape[0]
    row, d = xnp.arange(n), diagonal(t)

    def column(j, f):
        above = row < j
        right = xnp.where(above, t[:, j], 0)
        right = matmul(f, right[:, None])[:, 0] - values[j] * right
        gap = xnp.where(above, d - d[j], 1)
        gap = xnp.where(gap == 0, epsilon(t), gap)
        square = part(xnp.where(above[:, None] & above, t, 0), ops.lt)
        matrix = square + xnp.where(row[:, None] == row, gap, 0)
        x = solve_with(matrix, xnp.where(above, right, 0)[:, None], False)[:, 0]
        new = xnp.where(above, x, xnp.where(row == j, values[j], 0))
        return xnp.where(row == j, new[:, None], f)

    return fori_loop(0, n, column, xnp.zeros_like(t))


def _of_each(t, values):
    """``_of_triangular`` for each matrix of a batch; values ride along as a diagonal."""
    whole = xnp.where(xnp.eye(typeof(t).shape[-1], dtype=bool), values[..., None, :], 0)
    return over_batch(lambda t, v: _of_triangular(t, diagonal(v)), t, whole)


def _in_units(values):
    """(values / unit, unit): the recurrence multiplies them by elements of t, which together may leave the range."""
    height = unit(values[..., None]).astype(typeof(values).dtype)[..., None]
    return values / height, height


def _error(t):
    """About the relative error: rounding by the smallest gap, times what is not normal."""
    eps, n = epsilon(t), typeof(t).shape[-1]
    d = diagonal(t)
    gaps = xnp.abs(d[..., :, None] - d[..., None, :]) + xnp.where(xnp.eye(n, dtype=bool), np.inf, 0)
    beside = norm1(part(t, ops.lt))
    least = gaps.min((-2, -1), initial=np.inf)
    normal = beside <= 30 * n * eps * norm1(t)
    amplified = beside / xnp.where(least == 0, eps * eps, least)
    return xnp.where(normal, eps, xnp.clip(eps * amplified, eps, 1))


def _derivative(a, e, f):
    # With a = v diag(w) v⁻¹ the derivative is v (g ∘ v⁻¹ e v) v⁻¹, where g[i,j] is the quotient of the
    # differences of f and of w, or f' where w[i] = w[j]. (Daleckii and Krein 1965; Higham 2008,
    # "Functions of matrices", theorem 3.11)
    w, v = ops.eig_of_any_scale(a, left=False, right=True)
    values, slopes = jvp(f, (w,), (xnp.ones_like(w),))
    gap = w[..., :, None] - w[..., None, :]
    close = xnp.abs(gap) <= epsilon(w) ** 0.5 * norm1(a)[..., None, None]
    rise = values[..., :, None] - values[..., None, :]
    middle = (slopes[..., :, None] + slopes[..., None, :]) / 2
    quotient = safe_divide(rise, gap, middle, where=~close)
    inner = quotient * solve_matrices(v, matmul(e, v))[0]
    return matmul(matmul(v, inner), solve_matrices(v, identity_like(v))[0])


@fused(1)
def _funm(a, f, report):
    """((f(a), an estimate of its error), status and report if asked for)"""
    given = as_inexact("linalg.funm", a)
    a, _ = in_lapack_dtype(*given)
    eps = epsilon(given[0])
    check_matrices("linalg.funm", square=True, a=a)
    a = a.astype(dtypes.to_complex(typeof(a).dtype))
    if 0 in typeof(a).shape:
        none = xnp.zeros(typeof(a).shape[:-2], dtypes.to_real(typeof(a).dtype))
        return (a, none), nothing(a, eps) if report else None
    values_of = lambda w: xnp.asarray(f(w)).astype(typeof(w).dtype)  # noqa: E731

    @custom_jvp
    def value(a):
        size = unit(a)
        t, z = ops.schur(scaled(a, size))
        inner, height = _in_units(values_of(with_unit(diagonal(t), size)))
        error = _error(t)
        found = matmul(matmul(z, _of_each(t, inner)), adjoint(z)) * height[..., None]
        return xnp.where((error < 1)[..., None, None], found, np.nan), error

    @value.defjvp
    def _(primals, tangents):
        found, error = value(*primals)
        return (found, error), (
            _derivative(primals[0], tangents[0], values_of),
            xnp.zeros_like(error),
        )

    found = value(a)
    if not report:
        return found, None
    w, v = ops.eig_of_any_scale(ops.stop_gradient(a), left=False, right=True)
    return found, of_general(a, w, v, values_of, found[0], eps)


def funm(
    a: ArrayLike, f: Callable[[Array], Array], *, report: bool = False
) -> tuple[Array, Array] | Solution:
    """(f(a), an estimate of its relative error) for a function f of numbers. Not on a TPU.

    From the Schur form by Parlett's recurrence, which divides by differences of eigenvalues: unless a is
    normal they must differ. Where nothing is left of the digits the result is NaN. ``expm``, ``logm``,
    ``sqrtm`` have no such limit.

    Args:
      a: square matrices (..., n, n).
      f: function of complex arrays, elementwise and analytic; differentiable where derivatives of
        ``funm`` are asked for, which suppose that a has independent eigenvectors.
      report: return a ``Solution`` of f(a) alone with a ``Certificate`` of the error, k |a - b| and how far
        x is from f(b), for b = v diag(w) v⁻¹ with eigenvalues and vectors of a; k, about the norm of the
        derivative, is that of e ↦ v (g ∘ v⁻¹ e v) v⁻¹ with divided differences g of f, times three; all in the
        Frobenius norm and relative to the largest element; and the condition k |a| / |x|. Nothing is claimed of
        what has no independent eigenvectors, and where f jumps next to an eigenvalue, as on a cut. f is taken
        to be right to rounding.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> value, error = xc.linalg.funm(xnp.asarray([[1.0, 2.0], [0.0, 4.0]]), xnp.sqrt)
    >>> xnp.round(value.real, 4)
    Array([[1.    , 0.6667],
           [0.    , 2.    ]], dtype=float32)
    """
    found, verdict = _funm(a, f, report)
    return found if verdict is None else Solution(found[0], *verdict)
