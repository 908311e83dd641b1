"""Riccati's equations of optimal control, by doubling. Nothing but products and solves, so on any device.

Discrete:    x = aᴴ x (1 + g x)⁻¹ a + h,
continuous:  aᴴ x + x a - x g x + h = 0,    with Hermitian g = b r⁻¹ bᴴ and h.

One step of doubling goes from (a, g, h) to those of two steps in time, so h converges quadratically to
the solution that makes the closed loop stable, if there is one. The continuous equation becomes a
discrete one of the same solution by Cayley's transformation with any γ > 0.
(Chu, Fan, Lin and Wang 2004, "Structure-preserving algorithms for periodic discrete-time algebraic
Riccati equations"; Chu, Fan and Lin 2005, "A structure-preserving doubling algorithm for
continuous-time algebraic Riccati equations")

Newton's method mends what rounding left; each step, and each derivative, is one of Lyapunov's
equations with the closed loop, which doubling sums up too: x = Σ mᵏ c nᵏ. (Kleinman 1968, "On an
iterative technique for Riccati equation computations"; Smith 1968, "Matrix equation XA + BX = C")
"""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import custom_linear_solve, custom_root
from .._core import Array, ArrayLike, errors, fused, typeof
from .._ops import adjoint, matmul, swapped
from .._solution import Solution
from ..numpy._equations import identity_like
from ..numpy._promote import broadcast_shapes, broadcast_to
from ._arguments import as_inexact, check_matrices, epsilon, hermitian_part, in_lapack_dtype
from ._closed_loops import (
    beyond,
    of_riccati,
    settled,
    significant,
    solve,
    solve_right,
    summed,
    turned,
)
from ._sensitivity import nothing
from ._truth import check_later, norm1

# Doubling


def _doubled(a, g, h):
    """The limit of h."""
    eps = epsilon(h)

    def step(state):
        a, g, h = state
        one = identity_like(a)
        w = one + matmul(g, h)
        w_a, w_g = solve(w, a), solve(w, g)
        return (
            matmul(a, w_a),
            hermitian_part(g + matmul(matmul(a, w_g), adjoint(a))),
            hermitian_part(h + matmul(adjoint(a), matmul(h, w_a))),
        )

    return settled(step, (a, g, h), lambda x, y: significant(x[2], y[2], eps))[2]


def _cayley(a, g, h, gamma):
    """The discrete equation of the same stabilising solution as a continuous one."""
    one = identity_like(a)
    left = a - gamma * one
    inner_g = solve(left, g)
    w = adjoint(left) + matmul(h, inner_g)
    inner_h = solve_right(h, left)
    return (
        one + 2 * gamma * adjoint(solve(w, one)),
        hermitian_part(2 * gamma * solve_right(inner_g, w)),
        hermitian_part(2 * gamma * solve(w, inner_h)),
    )


# The two equations
# Residuals f, and (l, n, r) with which f'(δ) = y has the solution δ = -Σ (nᴴ)ᵏ l y r nᵏ.


def _discrete_residual(x, a, g, h):
    w = identity_like(a) + matmul(g, x)
    return matmul(adjoint(a), matmul(x, solve(w, a))) + h - x


def _discrete_loop(x, a, g, _):
    closed, one = solve(identity_like(a) + matmul(g, x), a), identity_like(a)
    return one, closed, one


def _continuous_residual(x, a, g, h):
    return matmul(adjoint(a), x) + matmul(x, a) - matmul(x, matmul(g, x)) + h


def _continuous_loop(x, a, g, h):
    c = a - matmul(g, x)
    gamma = _middle(c, g, h)
    t, inverse = turned(c, gamma)
    return 2 * gamma * adjoint(inverse), t, inverse


def _middle(a, g, h):
    """γ of Cayley's transformation: of the size of eigenvalues of the loop, but beyond all of a."""
    return beyond(xnp.maximum(norm1(a), xnp.sqrt(norm1(g)) * xnp.sqrt(norm1(h))), a)


_EQUATIONS = {
    "discrete": (lambda *known: known, _discrete_residual, _discrete_loop),
    "continuous": (
        lambda a, g, h: _cayley(a, g, h, _middle(a, g, h)), _continuous_residual, _continuous_loop,
    ),
}  # fmt: skip


def _corrected(y, l, n, r, transposed: bool = False):
    """The solution δ of f'(δ) = y and a high power of n; or that with the transpose of f'."""
    if transposed:
        x, power = summed(swapped(n), y)
        return -matmul(swapped(l), matmul(x, swapped(r))), power
    x, power = summed(n, matmul(l, matmul(y, r)))
    return -x, power


def _stabilising(kind: str, a, g, h) -> tuple:
    """(x, where there is none), with the derivatives of the equation."""
    discrete, residual, loop_of = _EQUATIONS[kind]
    known = tuple(ops.stop_gradient(y) for y in (a, g, h))
    found = _doubled(*discrete(*known))
    for _ in range(2):
        change, power = _corrected(-residual(found, *known), *loop_of(found, *known))
        found = hermitian_part(found + change)
    loop = tuple(ops.stop_gradient(y) for y in loop_of(found, *known))

    def tangent(slope, y):
        return custom_linear_solve(
            slope, y, solve=lambda _, y: _corrected(y, *loop)[0],
            transpose_solve=lambda _, y: _corrected(y, *loop, transposed=True)[0],
        )  # fmt: skip

    left, size = norm1(residual(found, *known)), norm1(found)
    terms = size * (1 + norm1(known[0]) + norm1(known[1]) * size) + norm1(known[2])
    bad = ~(left <= epsilon(found) ** 0.5 * terms) | ~(norm1(power) < 1)
    x = custom_root(lambda x: residual(x, a, g, h), found, lambda _, x: x, tangent)
    return xnp.where(bad[..., None, None], np.nan, x), bad


@fused(6)
def _riccati(a, b, q, r, e, s, kind, report):
    """(x, where there is none, status and report if asked for)"""
    who = f"linalg.solve_{kind}_are"
    given = as_inexact(who, *[x for x in (a, b, q, r, e, s) if x is not None])
    eps = epsilon(given[0])
    *given, back = in_lapack_dtype(*given)
    lead = broadcast_shapes(who, *(typeof(x).shape[:-2] for x in given))
    given = iter([broadcast_to(x, lead + typeof(x).shape[-2:]) for x in given])
    a, b, q, r, e, s = (None if x is None else next(given) for x in (a, b, q, r, e, s))
    _check_sizes(who, a, b, q, r, e, s)
    if 0 in typeof(a).shape:
        return back(q), xnp.zeros(lead, bool), nothing(q, eps) if report else None
    whole = (a, b, q, r, e, s)
    if e is not None:  # x e for x, and the equation from both sides by e⁻¹
        a, q = solve_right(a, e), solve_right(solve(adjoint(e), q), e)
        s = s if s is None else solve(adjoint(e), s)
    weighted = solve(r, adjoint(b))
    if s is not None:  # the input u - r⁻¹ sᴴ x for u
        a, q = a - matmul(b, solve(r, adjoint(s))), q - matmul(s, solve(r, adjoint(s)))
    x, bad = _stabilising(kind, a, hermitian_part(matmul(b, weighted)), hermitian_part(q))
    x = back(x)
    return x, bad, of_riccati(kind, x, *whole, bad, eps) if report else None


def _check_sizes(who: str, a, b, q, r, e, s) -> None:
    check_matrices(who, square=True, a=a, q=q, r=r, **({} if e is None else {"e": e}))
    check_matrices(who, b=b, **({} if s is None else {"s": s}))
    n, m = typeof(b).shape[-2:]
    wanted = [(a, n, n), (q, n, n), (r, m, m), (e, n, n), (s, n, m)]
    if any(x is not None and typeof(x).shape[-2:] != (i, j) for x, i, j in wanted):
        why = "need a, q and e (..., n, n), b and s (..., n, m), r (..., m, m)"
        raise errors.shape_mismatch(who, why, a=a, b=b, q=q, r=r)


def _solution(kind: str, *given, report: bool):
    who = f"linalg.solve_{kind}_are"
    x, bad, verdict = _riccati(*given, kind, report)
    if verdict is not None:
        return Solution(x, *verdict)
    what = "there is no stabilising solution, or rounding hides it"
    if type(bad) is Array and np.asarray(bad).any():
        raise errors.SingularMatrixError(
            f"xcore.{who}: {what}; given a: {errors.describe(given[0])}. What a does not damp must be "
            "reached by b and seen by q, and r must be regular; scale states so that a, b, q are alike."
        )
    if type(bad) is not Array:
        check_later(xnp.any(bad), f"{who}: {what}")
    return x


def solve_continuous_are(
    a: ArrayLike, b: ArrayLike, q: ArrayLike, r: ArrayLike, e: ArrayLike | None = None,
    s: ArrayLike | None = None, *, report: bool = False,
) -> Array | Solution:  # fmt: skip
    """The stabilising solution x of aᴴ x + x a - x b r⁻¹ bᴴ x + q = 0, Riccati's equation.

    It is Hermitian, and a - b r⁻¹ bᴴ x has eigenvalues in the left half plane only. If there is none
    SingularMatrixError is raised; compiled code leaves a check for ``checkify``, and NaN.

    Args:
      a, b, q, r: matrices (..., n, n), (..., n, m), (..., n, n), (..., m, m); q and r Hermitian, r
        regular.
      e, s: (..., n, n) and (..., n, m) of the equation aᴴ x e + eᴴ x a - (eᴴ x b + s) r⁻¹ (bᴴ x e + sᴴ)
        + q = 0, with regular e.
      report: return a ``Solution``, singular where an error would be raised with a ``Certificate``
        of the residual |f(x)| in the Frobenius norm, and of what follows from one of Lyapunov's equations
        with the closed loop, l(d) = -w for a diagonal w >= |f(x)| and rounding: the error, d and what is of
        second order; the condition, how much relative changes of the terms are amplified; "closed_loop",
        which no real part of an eigenvalue of a - b r⁻¹ (bᴴ x e + sᴴ), beside e, exceeds; and
        "backward_error", f(x) by the sizes of its terms. Nothing is claimed where d does not prove that x is
        next to the stabilising solution. Bounds hold up to rounding's being random; nothing is estimated.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> one = xnp.ones((1, 1))
    >>> xnp.round(xc.linalg.solve_continuous_are(0 * one, one, 4 * one, one), 4)
    Array([[2.]], dtype=float32)
    >>> answer = xc.linalg.solve_continuous_are(0 * one, one, 4 * one, one, report=True)
    >>> bool(answer.ok), bool(answer.certificate.closed_loop < -1.9)
    (True, True)
    """
    return _solution("continuous", a, b, q, r, e, s, report=report)


def solve_discrete_are(
    a: ArrayLike, b: ArrayLike, q: ArrayLike, r: ArrayLike, e: ArrayLike | None = None,
    s: ArrayLike | None = None, *, report: bool = False,
) -> Array | Solution:  # fmt: skip
    """The stabilising solution x of aᴴ x a - x - aᴴ x b (r + bᴴ x b)⁻¹ bᴴ x a + q = 0.

    It is Hermitian, and a - b (r + bᴴ x b)⁻¹ bᴴ x a has eigenvalues inside of the unit circle only; if
    there is none, as for ``solve_continuous_are``.

    Args:
      a, b, q, r: as for ``solve_continuous_are``.
      e, s: of the equation aᴴ x a - eᴴ x e - (aᴴ x b + s) (r + bᴴ x b)⁻¹ (bᴴ x a + sᴴ) + q = 0.
      report: as for ``solve_continuous_are``, from one of Stein's equations; "closed_loop" bounds moduli.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> one = xnp.ones((1, 1))
    >>> xnp.round(xc.linalg.solve_discrete_are(one, one, 0.5 * one, one), 4)
    Array([[1.]], dtype=float32)
    """
    return _solution("discrete", a, b, q, r, e, s, report=report)
