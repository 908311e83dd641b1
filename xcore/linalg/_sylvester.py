"""Equations of Sylvester and Lyapunov, by Schur forms, eigenvalues, or what a platform has."""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import cond
from .._control.platforms import by_platform
from .._core import Array, ArrayLike, ArrayType, dtypes, errors, fused, one_of, typeof
from .._ops import adjoint, conjugate, diagonal, matmul, swapped
from .._solution import Solution
from ..numpy._equations import differentiable_solve, identity_like, solve_matrices
from ..numpy._promote import broadcast_shapes
from ._arguments import as_inexact, as_square, check_matrices, epsilon, of_one_shape, over_batch
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
from ._truth import answered
from ._without_forms import sylvester as without_forms


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
    (s, u), (t, v) = (ops.eig_of_any_scale(x, left=False, right=True) for x in (a, b))
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


# Without a method: Schur forms on a CPU; elsewhere the matrices stay as they are, s = a and u = 1.

_reduced = by_platform(
    "reduced", lambda a: [a.strong(), a.strong()],
    default=lambda a: (a, identity_like(a)), cpu=ops.schur,
)  # fmt: skip


def _of_forms(s, t, y, *, turned: bool) -> tuple:
    """(x with s x + x t = y, or sᴴ x + x tᴴ = y, the number of the eigenvalue of s that is one of -t or -1)."""
    x = over_batch(adjoint_sylvester if turned else triangular_sylvester, s, t, y)
    s, t = diagonal(s), diagonal(t)
    return x, _meeting(xnp.min(xnp.abs(s[..., :, None] + t[..., None, :]), axis=-1), s, t)


def _of_matrices(a, b, y, *, turned: bool) -> tuple:
    """The same of any matrices."""
    x, bad = without_forms(adjoint(a), adjoint(b), y) if turned else without_forms(a, b, y)
    return x, xnp.where(bad, 0, -1).astype(np.int32)


def _or_on_the_host(a, b, y, *, turned: bool) -> tuple:
    """The same, where it is not found by Schur forms."""
    x, pivot = _of_matrices(a, b, y, turned=turned)

    def by_forms():
        (s, u), (t, v) = ops.schur(a), ops.schur(b)
        inner = matmul(matmul(adjoint(u), y), v)
        found, number = _of_forms(s, t, inner, turned=turned)
        found, bad = matmul(matmul(u, found), adjoint(v)), pivot >= 0
        return xnp.where(bad[..., None, None], found, x), xnp.where(bad, number, -1)

    return cond(xnp.any(pivot >= 0), by_forms, lambda: (x, pivot))


_of_reduced = by_platform(
    "sylvester_of_reduced",
    lambda s, t, y, *, turned: [y.strong(), ArrayType(y.shape[:-2], dtypes.int32)],
    default=_of_matrices, cpu=_of_forms, cuda=_or_on_the_host,
)  # fmt: skip


def _where_it_runs(a, b, c) -> tuple:
    """(x, pivot) by what the platform has."""
    dtype, wide = typeof(c).dtype, dtypes.to_complex(typeof(c).dtype)
    (s, u), (t, v) = (_reduced(ops.stop_gradient(x).astype(wide)) for x in (a, b))

    def solve(c, transposed=False):
        c = c.astype(wide)
        c = conjugate(c) if transposed else c  # aᵀ x + x bᵀ = c is the conjugate of aᴴ y + y bᴴ = c̄
        y, pivot = _of_reduced(s, t, matmul(matmul(adjoint(u), c), v), turned=transposed)
        x = matmul(matmul(u, y), adjoint(v))
        x = conjugate(x) if transposed else x
        return (x if dtypes.is_complex(dtype) else xnp.real(x)), pivot

    times = lambda x: matmul(a, x) + matmul(x, b)  # noqa: E731
    return differentiable_solve(times, c, solve, has_aux=True)


def _checked(who: str, a, b, c) -> tuple:
    """a, b, c in a dtype of LAPACK's, the way back, and the precision of what was given."""
    eps = epsilon(as_inexact(who, a, b, c)[0])
    a, b, c, back = as_square(who, a, b, c)
    check_matrices(who, square=True, b=b)
    if typeof(c).shape[-2:] != (typeof(a).shape[-1], typeof(b).shape[-1]):
        why = "need a (..., m, m), b (..., n, n) and c (..., m, n)"
        raise errors.shape_mismatch(who, why, a=a, b=b, c=c)
    lead = broadcast_shapes(who, *(typeof(x).shape[:-2] for x in (a, b, c)))
    a, b, c = (xnp.broadcast_to(x, lead + typeof(x).shape[-2:]) for x in (a, b, c))
    return a, b, c, back, eps


def _sylvester(a, b, c, method: str, tol: float | None = None) -> tuple:
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
    if method is None and tol is None and not report:
        x, pivot = _where_it_runs(a, b, c)
        return back(x), pivot, None
    x, pivot, (_, norm) = _sylvester(a, b, c, method or "schur", tol)
    x = back(x)
    verdict = of_sylvester(a, b, c, x, norm(), eps, pivot >= 0) if report else None
    return x, pivot, verdict


def _solution(who: str, a, b, c, eigenvalues: str, method=None, tol=None, report=False):
    return answered(
        f"{who} (eigenvalues of {eigenvalues})",
        a,
        "spectrum",
        *_solve(a, b, c, who, method, tol, report),
    )


def solve_sylvester(
    a: ArrayLike, b: ArrayLike, c: ArrayLike, method: str | None = None, tol: float | None = None,
    *, report: bool = False,
) -> Array | Solution:  # fmt: skip
    """The solution x of a x + x b = c.

    It is unique if a and -b have no eigenvalue in common; else SingularMatrixError is raised, or in
    compiled code a check left for ``checkify``. Derivatives are those of the equation.
    (Bartels and Stewart 1972, "Solution of the matrix equation AX + XB = C")

    Args:
      a, b, c: matrices (..., m, m), (..., n, n), (..., m, n), of one batch.
      method: "schur" is stable, and calls LAPACK on the host of a GPU; "eigen", from eigenvalues and
        vectors, loses digits where vectors are nearly dependent. None: by Schur forms on a CPU; elsewhere
        as one system of up to 1024 unknowns, or as a sum if the eigenvalues of a and b lie in one half
        plane. What these do not find goes to Schur forms from a GPU; on a TPU it counts as singular.
      tol: NaN, and no error, where a and -b have eigenvalues closer to each other than that.
      report: return a ``Solution``, singular where an error would be raised with a ``Certificate``
        of the residual |a x + x b - c|, the error |l⁻¹| (|r| + its rounding) with l: x ↦ a x + x b, all in
        the Frobenius norm and relative to the largest element of x, and the condition
        |l⁻¹| ((|a| + |b|) |x| + |c|) / |x|; besides "sep", 1 / |l⁻¹|, and "backward_error", the residual
        by (|a| + |b|) |x| + |c|. The norm is an estimate, times three, from three
        solutions with the triangular forms, which a TPU does not have.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> one = xnp.ones((1, 1))
    >>> xc.linalg.solve_sylvester(one, 3 * one, 8 * one)
    Array([[2.]], dtype=float32)
    """
    who = "linalg.solve_sylvester"
    if method is not None:
        one_of(who, "method", method, tuple(_SYLVESTER))
    return _solution(who, a, b, c, "a and -b", method, tol, report)


def solve_continuous_lyapunov(
    a: ArrayLike, q: ArrayLike, *, report: bool = False
) -> Array | Solution:
    """The solution x of a x + x aᴴ = q, Lyapunov's continuous equation.

    What it is found by, and ``report``, as for ``solve_sylvester``.

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
    a, q = of_one_shape(who, a=a, q=q)
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
    if not report:
        x, pivot = _where_it_runs(adjoint(b), b, inner(q))
    else:
        x, pivot, (solved, _) = _sylvester(adjoint(b), b, inner(q), "schur")
    x, pivot, verdict = back(x), xnp.where(finite, pivot, 0), None
    if report:
        a, q, i = (ops.stop_gradient(y) for y in (a, q, inverse))
        verdict = of_stein(a, q, x, _stein_norm(solved, i), eps, pivot >= 0)
    return x, pivot, verdict


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
    """The solution x of a x aᴴ - x + q = 0, Lyapunov's discrete equation.

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
    return answered(
        "linalg.solve_discrete_lyapunov (eigenvalues λ, μ of a, λ conj μ = 1)",
        a,
        "spectrum",
        *_discrete(a, q, report),
    )
