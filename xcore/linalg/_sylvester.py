"""Equations of Sylvester and Lyapunov, by Schur forms or eigenvalues."""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import dtypes, errors
from .._core.array import Array
from .._core.eval import fused
from .._core.types import typeof
from .._core.typing import ArrayLike
from .._ops.matrices import adjoint, conjugate, diagonal, matmul, swapped
from .._solution import Solution
from ..numpy._equations import differentiable_solve, identity_like, solve_matrices
from ._arguments import as_inexact, as_square, check_matrices, epsilon, one_of, over_batch
from ._elimination import first_zero
from ._sensitivity import (
    adjoint_sylvester,
    complex_schur,
    inverse_norm,
    nothing,
    of_stein,
    of_sylvester,
    sylvester_norm,
    triangular_sylvester,
)
from ._truth import fail


def _sylvester_with(forms_a, forms_b, c, transposed: bool):
    (s, u), (t, v) = forms_a, forms_b
    if transposed:  # aᵀ x + x bᵀ = c is the conjugate of aᴴ y + y bᴴ = c̄
        y = matmul(matmul(adjoint(u), conjugate(c)), v)
        y = over_batch(adjoint_sylvester, s, t, y)
        return conjugate(matmul(matmul(u, y), adjoint(v)))
    y = over_batch(triangular_sylvester, s, t, matmul(matmul(adjoint(u), c), v))
    return matmul(matmul(u, y), adjoint(v))


def _by_eigenvalues(a, b):
    """b ↦ x from a = u diag(s) u⁻¹ and b = v diag(t) v⁻¹, the eigenvalues s and t, and about the norm
    of b ↦ x."""
    (s, u), (t, v) = (ops.eig(x, left=False, right=True) for x in (a, b))
    sums = s[..., :, None] + t[..., None, :]

    def solve(c, transposed):
        if transposed:  # aᵀ x + x bᵀ = c, and aᵀ = u⁻ᵀ diag(s) uᵀ
            inner = matmul(swapped(u), swapped(solve_matrices(v, swapped(c))[0]))
            return solve_matrices(swapped(u), matmul(inner / sums, swapped(v)))[0]
        inner = matmul(solve_matrices(u, c)[0], v) / sums
        return swapped(solve_matrices(swapped(v), swapped(matmul(u, inner)))[0])

    return solve, (s, t), lambda like: _norm_of(solve, like)


def _norm_of(solve, like):
    back = lambda c: conjugate(solve(conjugate(c), True))  # noqa: E731
    return inverse_norm(lambda c: solve(c, False), back, like)


def _by_schur(a, b):
    forms = [complex_schur(x) for x in (a, b)]
    solve = lambda c, turned: _sylvester_with(*forms, c, turned)  # noqa: E731
    s, t = (form[0] for form in forms)
    return solve, (diagonal(s), diagonal(t)), lambda _: sylvester_norm(s, t)


_SYLVESTER = {"schur": _by_schur, "eigen": _by_eigenvalues}


def _checked(who: str, a, b, c) -> tuple:
    """a, b, c in a dtype of LAPACK's, the way back, and the precision of what was given."""
    eps = epsilon(as_inexact(who, a, b, c)[0])
    a, b, c, back = as_square(who, a, b, c)
    check_matrices(who, square=True, b=b)
    lead = typeof(a).shape[:-2]
    if (*lead, typeof(a).shape[-1], typeof(b).shape[-1]) != typeof(c).shape or (
        typeof(b).shape[:-2] != lead
    ):
        why = "need a (..., m, m), b (..., n, n) and c (..., m, n), in one batch"
        raise errors.shape_mismatch(who, why, a=a, b=b, c=c)
    return a, b, c, back, eps


def _sylvester(a, b, c, method: str = "schur", tol: float | None = None) -> tuple:
    """(x, the number of the first eigenvalue of a that is one of -b up to rounding or -1, c ↦ x and
    about its norm)."""
    solved, (s, t), norm = _SYLVESTER[method](*(ops.stop_gradient(x) for x in (a, b)))
    dtype, wide = typeof(c).dtype, dtypes.to_complex(typeof(c).dtype)

    def solve(c, transposed=False):
        x = solved(c.astype(wide), transposed)
        return x if dtypes.is_complex(dtype) else xnp.real(x)

    x = differentiable_solve(lambda x: matmul(a, x) + matmul(x, b), c, solve)
    about = solved, lambda: norm(ops.stop_gradient(c).astype(wide))
    gaps = xnp.min(xnp.abs(s[..., :, None] + t[..., None, :]), axis=-1)
    if tol is None:
        return x, _meeting(gaps, s, t), about
    close = xnp.min(gaps, axis=-1) < tol
    none = xnp.full(typeof(a).shape[:-2], -1, np.int32)
    return xnp.where(close[..., None, None], np.nan, x), none, about


def _meeting(gaps, s, t):
    """The index of the first gap between eigenvalues that is 0 up to rounding, or -1."""
    size = xnp.max(xnp.abs(s), axis=-1) + xnp.max(xnp.abs(t), axis=-1)
    limit = (typeof(s).shape[-1] + typeof(t).shape[-1]) * epsilon(s) * size[..., None]
    return first_zero(xnp.where(gaps <= limit, 0, gaps))


@fused(3)
def _solve(a, b, c, who, method, tol, report):
    """(x, pivot, status and report if asked for)"""
    a, b, c, back, eps = _checked(who, a, b, c)
    if 0 in typeof(c).shape:
        none = xnp.full(typeof(a).shape[:-2], -1, np.int32)
        return back(c), none, nothing(c, eps) if report else None
    x, pivot, (_, norm) = _sylvester(a, b, c, method, tol)
    x = back(x)
    told = of_sylvester(a, b, c, x, norm(), eps, pivot >= 0) if report else None
    return x, pivot, told


def _solution(who: str, a, b, c, eigenvalues: str, method="schur", tol=None, report=False):
    x, pivot, told = _solve(a, b, c, who, method, tol, report)
    if told is not None:
        return Solution(x, *told)
    fail(f"{who} (eigenvalues of {eigenvalues})", a, pivot, "spectrum")
    return x


def solve_sylvester(
    a: ArrayLike, b: ArrayLike, c: ArrayLike, method: str = "schur", tol: float | None = None, *,
    report: bool = False,
) -> Array | Solution:  # fmt: skip
    """The solution x of a x + x b = c.

    It is unique if a and -b have no eigenvalue in common; else SingularMatrixError is raised, or in
    compiled code a check left for ``checkify``. Derivatives are those of the equation.
    (Bartels and Stewart 1972, "Solution of the matrix equation AX + XB = C")

    Args:
      a, b, c: matrices (..., m, m), (..., n, n), (..., m, n), of one batch.
      method: "schur" is stable, for a CPU only; "eigen", from eigenvalues and vectors, loses digits
        where vectors are nearly dependent.
      tol: NaN, and no error, where a and -b have eigenvalues closer to each other than that.
      report: return a ``Solution``, singular where an error would be raised with a ``Certificate``
        of the residual |a x + x b - c|, the error |l⁻¹| (|r| + its rounding) with l: x ↦ a x + x b, all in
        the Frobenius norm and relative to the largest element of x, and the condition
        |l⁻¹| ((|a| + |b|) |x| + |c|) / |x|; besides "sep", 1 / |l⁻¹|, and "backward_error", the residual
        by (|a| + |b|) |x| + |c|. The norm is an estimate, times three, from three
        solutions with the triangular forms.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> one = xnp.ones((1, 1))
    >>> xc.linalg.solve_sylvester(one, 3 * one, 8 * one)
    Array([[2.]], dtype=float32)
    """
    who = "linalg.solve_sylvester"
    one_of(who, "method", method, tuple(_SYLVESTER))
    return _solution(who, a, b, c, "a and -b", method, tol, report)


def solve_continuous_lyapunov(
    a: ArrayLike, q: ArrayLike, *, report: bool = False
) -> Array | Solution:
    """The solution x of a x + x aᴴ = q, Lyapunov's continuous equation. On a CPU only.

    ``report`` as for ``solve_sylvester``.

    Args:
      a, q: square matrices (…, n, n).
      report: as for ``solve_sylvester``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.solve_continuous_lyapunov(-xnp.eye(1), -xnp.ones((1, 1)))
    Array([[0.5]], dtype=float32)
    """
    who = "linalg.solve_continuous_lyapunov"
    a, q = as_inexact(who, a, q)
    check_matrices(who, square=True, a=a, q=q)
    return _solution(who, a, adjoint(a), q, "a and -aᴴ", report=report)


@fused(2)
def _discrete(a, q, report):
    who = "linalg.solve_discrete_lyapunov"
    eps = epsilon(as_inexact(who, a, q)[0])
    a, q, back = as_square(who, a, q)
    check_matrices(who, square=True, q=q)
    if 0 in typeof(a).shape:
        none = xnp.full(typeof(a).shape[:-2], -1, np.int32)
        return back(q), none, nothing(q, eps) if report else None
    one, turned = identity_like(a), adjoint(a)
    inverse, _ = solve_matrices(turned + one, one)
    finite = xnp.isfinite(ops.stop_gradient(inverse)).all(axis=(-2, -1))
    inverse = xnp.where(finite[..., None, None], inverse, 0)
    b = matmul(turned - one, inverse)
    inner = lambda c: -2 * matmul(adjoint(inverse), matmul(c, inverse))  # noqa: E731
    _checked(who, adjoint(b), b, q)
    x, pivot, (solved, _) = _sylvester(adjoint(b), b, inner(q))
    x, pivot, told = back(x), xnp.where(finite, pivot, 0), None
    if report:
        a, q, i = (ops.stop_gradient(y) for y in (a, q, inverse))
        told = of_stein(a, q, x, _stein_norm(solved, i), eps, pivot >= 0)
    return x, pivot, told


def _stein_norm(solved, inverse):
    """About |l⁻¹|_F of l: x ↦ x - a x aᴴ."""
    wide = inverse.astype(dtypes.to_complex(typeof(inverse).dtype))
    turned = adjoint(wide)
    there = lambda c: solved(matmul(turned, matmul(c, wide)), False)  # noqa: E731
    back = lambda c: conjugate(solved(conjugate(c), True))  # noqa: E731
    return 2 * inverse_norm(there, lambda c: matmul(wide, matmul(back(c), turned)), wide)


def solve_discrete_lyapunov(
    a: ArrayLike, q: ArrayLike, *, report: bool = False
) -> Array | Solution:
    """The solution x of a x aᴴ - x + q = 0, Lyapunov's discrete equation. On a CPU only.

    With b = (aᴴ - 1)(aᴴ + 1)⁻¹ it is the continuous equation bᴴ x + x b = -2 (a + 1)⁻¹ q (aᴴ + 1)⁻¹.
    Two eigenvalues of a whose product λ conj μ is 1 raise SingularMatrixError: there is no unique
    solution. (Popov 1964, "Hyperstability and optimality")

    ``report`` as for ``solve_sylvester``, with the residual |a x aᴴ - x + q| and l: x ↦ x - a x aᴴ.

    Args:
      a, q: square matrices (…, n, n).
      report: as for ``solve_sylvester``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xnp.round(xc.linalg.solve_discrete_lyapunov(0.5 * xnp.eye(1), 3 * xnp.eye(1)), 4)
    Array([[4.]], dtype=float32)
    """
    x, pivot, told = _discrete(a, q, report)
    if told is not None:
        return Solution(x, *told)
    fail(
        "linalg.solve_discrete_lyapunov (eigenvalues λ, μ of a, λ conj μ = 1)", a, pivot, "spectrum"
    )
    return x
