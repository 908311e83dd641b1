"""Sylvester's equation and square roots by products and solutions of systems alone.

For accelerators: Schur forms are made row by row, which no library of a GPU or TPU does. What is found is
looked at; where it is not good enough a GPU has LAPACK on its host, and on a TPU there is no answer.

- a x + x b = c of up to 1024 unknowns is one system, (a ⊗ 1 + 1 ⊗ bᵀ) x = c, for any a and b.
- Above it is a sum, x = Σ pᵏ y qᵏ with p = (a + γ)⁻¹(a - γ), q = (b - γ)(b + γ)⁻¹, which doubling adds up
  if all eigenvalues of a and b lie in one half plane, or do so after a - σ and b + σ.
  (Smith 1968, "Matrix equation XA + BX = C")
- A root is the limit of a product form of Newton's iteration for the sign function, which exists if there is no
  eigenvalue on the negative axis, but for Hermitian matrices, whose eigenvalues are found.
  (Denman and Beavers 1976, "The matrix sign function and computations in systems"; Higham 2008,
  "Functions of matrices", equation 6.29; Byers and Xu 2008, "A new scaling for Newton's iteration")
"""

from __future__ import annotations

import math

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import cond, fori_loop
from .._core import typeof
from .._ops import adjoint, diagonal, matmul, swapped
from ..numpy._equations import factorised, identity_like, solve_factorised
from ._arguments import epsilon
from ._closed_loops import settled, solve
from ._sensitivity import scaled, unit
from ._truth import norm1

ONE_SYSTEM = 1024  # unknowns
_MEMORY = 2**26  # elements of all systems of a batch
_REFINED = 3


def sylvester(a, b, c) -> tuple:
    """(x with a x + x b = c, where it was not found: NaN stands there)."""
    *lead, m, n = typeof(c).shape
    small = m * n <= ONE_SYSTEM and math.prod(lead) * (m * n) ** 2 <= _MEMORY
    x, bad = _as_one_system(a, b, c) if small else _as_a_sum(a, b, c)
    return xnp.where(bad[..., None, None], np.nan, x), bad


def _as_one_system(a, b, c) -> tuple:
    *lead, m, n = typeof(c).shape
    one_a, one_b = (xnp.eye(k, dtype=typeof(c).dtype) for k in (m, n))
    left = a[..., :, None, :, None] * one_b[None, :, None, :]
    right = one_a[:, None, :, None] * swapped(b)[..., None, :, None, :]
    packed, pivots = factorised(ops.reshape(left + right, shape=(*lead, m * n, m * n)))
    x = solve_factorised(packed, pivots, ops.reshape(c, shape=(*lead, m * n, 1)))
    sizes = xnp.abs(diagonal(packed))
    limit = (m + n) * epsilon(c) * xnp.max(sizes, axis=-1)
    bad = ~(xnp.min(sizes, axis=-1) > limit)
    return ops.reshape(x, shape=typeof(c).shape), bad


def _as_a_sum(a, b, c) -> tuple:
    x, bad = _refined(a, b, c)

    def moved():
        by = ((_mean(a) - _mean(b)) / 2).astype(typeof(c).dtype)[..., None, None]
        y, still = _refined(a - by * identity_like(a), b + by * identity_like(b), c)
        return xnp.where(bad[..., None, None], y, x), bad & still

    return cond(xnp.any(bad), moved, lambda: (x, bad))


def _mean(a):
    """The mean real part of eigenvalues."""
    return xnp.real(xnp.mean(diagonal(a), axis=-1))


def _refined(a, b, c) -> tuple:
    """(x, whether it is not good) for a and b with eigenvalues in one half plane."""
    side = xnp.where(_mean(a) + _mean(b) < 0, -1, 1).astype(typeof(c).dtype)[..., None, None]
    a, b, c = side * a, side * b, side * c
    parts = _halves(a, b)
    left = lambda x: c - matmul(a, x) - matmul(x, b)  # noqa: E731
    x = fori_loop(0, _REFINED, lambda _, x: x + _sum(*parts, left(x)), xnp.zeros_like(c))
    size, own = norm1(a) + norm1(b), norm1(x)
    limit = sum(typeof(c).shape[-2:]) * epsilon(c)
    good = norm1(left(x)) <= 4 * limit * (size * own + norm1(c))
    # a solution that much larger than c has eigenvalues of a and -b that meet, up to rounding
    return x, ~(good & ((limit * size * own < norm1(c)) | (own == 0)))


def _halves(a, b) -> tuple:
    """(p, q, (a + γ)⁻¹, 2γ (b + γ)⁻¹), γ in the middle of the eigenvalues."""
    one_a, one_b = identity_like(a), identity_like(b)
    gamma = xnp.sqrt(_middle(a)) * xnp.sqrt(_middle(b))
    gamma = xnp.where(gamma > 0, gamma, 1).astype(typeof(a).dtype)[..., None, None]
    left, right = solve(a + gamma * one_a, one_a), 2 * gamma * solve(b + gamma * one_b, one_b)
    return one_a - 2 * gamma * left, one_b - right, left, right


def _middle(a):
    """About the root of the largest times the smallest modulus of eigenvalues."""
    size = norm1(a)
    inverse = norm1(solve(a, identity_like(a)))
    inverse = xnp.where(xnp.isfinite(inverse), inverse, 1 / (epsilon(a) * size))
    return xnp.sqrt(size) / xnp.sqrt(inverse)


def _sum(p, q, left, right, c):
    eps = epsilon(c)

    def step(state):
        p, q, x = state
        return matmul(p, p), matmul(q, q), x + matmul(p, matmul(x, q))

    def change(old, new):
        moved = norm1(new[2] - old[2])
        return xnp.where(moved > eps * norm1(new[2]), moved, 0)

    return settled(step, (p, q, matmul(left, matmul(c, right))), change)[2]


# Roots


def square_root(a) -> tuple:
    """(the principal square root of complex matrices, where it was not found: NaN stands there)."""
    hermitian = xnp.all(a == adjoint(a), axis=(-2, -1))
    known, one = hermitian[..., None, None], identity_like(a)
    none = lambda: xnp.zeros_like(a)  # noqa: E731
    easy = cond(xnp.any(hermitian), lambda: _of_hermitian(xnp.where(known, a, one)), none)
    other = cond(xnp.any(~hermitian), lambda: _by_newton(xnp.where(known, one, a)), none)
    x = xnp.where(known, easy, other)
    bad = ~xnp.isfinite(x).all(axis=(-2, -1))
    return xnp.where(bad[..., None, None], np.nan, x), bad


def _of_hermitian(a):
    w, v = ops.eigh(a, vectors=True)
    root = xnp.sqrt(w.astype(typeof(a).dtype))
    return matmul(v * root[..., None, :], adjoint(v))


def _by_newton(a):
    """The root, NaN where there is none."""
    size = unit(xnp.sqrt(xnp.max(xnp.abs(a), axis=(-2, -1), keepdims=True)))
    a = scaled(scaled(a, size), size)
    n, eps, one = typeof(a).shape[-1], epsilon(a), identity_like(a)
    off = lambda m: norm1(m - one)  # noqa: E731

    def step(state):
        x, m = state
        inverse = solve(m, one)
        factor = xnp.sqrt(norm1(inverse)) / xnp.sqrt(norm1(m))  # μ²
        factor = xnp.where(off(m) > 0.1, factor, 1)[..., None, None]
        inverse = inverse / factor.astype(typeof(a).dtype)
        x = 0.5 * xnp.sqrt(factor).astype(typeof(a).dtype) * (x + matmul(x, inverse))
        return x, 0.5 * one + 0.25 * (factor.astype(typeof(a).dtype) * m + inverse)

    def going(old, new):
        before, now = off(old[1]), off(new[1])
        return xnp.where((now > n * eps) & ((now > 0.1) | (now < before / 2)), now, 0)

    x = settled(step, (a, a), going)[0]
    for _ in range(2):  # one step of Newton's for x² = a: what the iteration lost by rounding
        more = _sum(*_halves(x, x), a - matmul(x, x))
        x = x + xnp.where(xnp.isfinite(more).all(axis=(-2, -1), keepdims=True), more, 0)
    good = norm1(a - matmul(x, x)) <= 8 * n * eps * norm1(x) ** 2
    return xnp.where(
        good[..., None, None], x * size.astype(typeof(x).dtype)[..., None, None], np.nan
    )
