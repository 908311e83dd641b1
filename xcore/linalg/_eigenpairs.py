"""Derivatives of a few eigenvalues and eigenvectors of an operator, of any order.

Eigenpairs solve the equations  uᴴ x = 1,  a x - w x = 0,  with u the vector found, taken as fixed.
Derivatives of their solution are those of an equation (see ``_control.implicit``), so all that is
needed is the solution (w', x') of the equations linearised at (w, u),

    uⱼᴴ x'ⱼ = sⱼ,    a x'ⱼ - wⱼ x'ⱼ - w'ⱼ uⱼ = rⱼ.

With h = uᴴ r and x' = u c + z, z orthogonal to all the vectors found, they fall apart into

    w'ⱼ = -h[j, j],   c[j, j] = sⱼ,   c[i, j] = h[i, j] / (wᵢ - wⱼ),   p (a - wⱼ) p zⱼ = p rⱼ

with p = 1 - u uᴴ: one solution, by MINRES, for each vector; where it does not get there, derivatives
are NaN and ``checkify`` says why. c[i, j] is 0 where eigenvalues coincide:
what does not depend on the choice of vectors in their space stays right. (Nelson 1976, "Simplified
calculation of eigenvector derivatives"; Magnus 1985, "On differentiating eigenvalues and
eigenvectors")

Of  a x = w m x  all that is so in the inner product of m: uᴴ m x for uᴴ x, m u for u in the second equation and
its solution, p = 1 - u uᴴ m on the right and pᴴ on the left of a - w m.
"""

from __future__ import annotations

from .. import _ops as ops
from .. import numpy as xnp
from .._control import custom_root, vmap
from .._core import typeof
from ..numpy._select import safe_divide
from ._arguments import epsilon
from ._krylov import MINRES
from ._linear_solve import solved_within
from ._operators import FunctionOperator


def with_derivatives(a, w, u, preconditioner=None, m=None):
    """Eigenvalues w (k,) and orthonormal eigenvectors u (n, k) of an operator, differentiable in it.

    Args:
      a: the symmetric operator.
      w, u: what was found; their own derivatives are dropped.
      preconditioner: function of vectors that is about the inverse of a - w, positive definite.
      m: the operator of a x = w m x; the identity if it is None.
    """
    w, u = ops.stop_gradient(w), ops.stop_gradient(u)
    dtype = typeof(u).dtype
    times = _same if m is None else lambda x: m.matmat(x).astype(dtype)

    def equations(pair):
        values, x = pair
        mx = times(x)
        return xnp.sum(xnp.conj(u) * mx, axis=0) - 1, a.matmat(x) - mx * values

    def linearised(_, right):
        return _solved(a, w, u, preconditioner, m, times(u), *right)

    values, x = custom_root(
        equations, (w.astype(dtype), u), lambda _, found: found, linearised
    )  # fmt: skip
    size = xnp.sqrt(xnp.sum(xnp.real(xnp.conj(x) * times(x)), axis=0))
    return xnp.real(values), x / size.astype(dtype)


def _same(x):
    return x


def _solved(a, w, u, preconditioner, m, mu, s, r):
    """(w', x') from the right sides of the linearised equations; linear in them."""
    h = xnp.conj(u).T @ r
    c = h * _reciprocal_gaps(w).astype(typeof(u).dtype) + xnp.diag(s)
    r = r - mu @ h
    scale = xnp.max(xnp.abs(w))
    scale = xnp.where(scale == 0, 1, scale)

    def one(value, r):
        return solved_within(
            _deflated(a, value, scale, u, m, mu), r, MINRES(rtol=8 * epsilon(w)), epsilon(w) ** 0.5,
            "derivatives of eigenvectors", _on_complement(preconditioner, u, mu),
        )  # fmt: skip

    z = vmap(one, in_axes=(0, 1), out_axes=1)(w, r)
    return -xnp.diagonal(h), u @ c + _without(u, mu, z)


def _reciprocal_gaps(w):
    """1 / (wᵢ - wⱼ), and 0 where eigenvalues coincide up to rounding."""
    gaps = w[:, None] - w
    size = xnp.max(xnp.abs(w), initial=0)
    same = xnp.abs(gaps) <= 10 * typeof(w).shape[0] * epsilon(w) * size
    return safe_divide(1, gaps, where=~same)


def _without(u, mu, x):
    """x less its part in the space of the columns of u, by products with those of m u."""
    return x - u @ (xnp.conj(mu).T @ x)


def _deflated(a, value, scale, u, m, mu):
    """pᴴ (a - value m) p + scale m u uᴴ m as an operator: regular, and of the size of a."""

    def product(params, x):
        a, value, scale, u, m, mu = params
        inside = xnp.conj(mu).T @ x
        x = x - u @ inside
        mx = x if m is None else m.mv(x).astype(typeof(x).dtype)
        moved = _without(mu, u, a.mv(x) - value.astype(typeof(x).dtype) * mx)
        return moved + scale.astype(typeof(x).dtype) * (mu @ inside)

    return FunctionOperator(product, (a, value, scale, u, m, mu), a.shape, symmetric=True)


def _on_complement(preconditioner, u, mu):
    if preconditioner is None:
        return None

    def run(x):
        inside = xnp.conj(u).T @ x
        return _without(u, mu, preconditioner(x - mu @ inside)) + u @ inside

    return run
