"""Derivatives of fitted factors with respect to the data: by what holds at a fit, not through its steps.

At a fit of x the gradient of the loss f(a, x) with respect to the factors a vanishes, which gives

    ∇²f a' = -∂ₓ∇f x'.

This alone does not say what a' is, for the factors are not determined, only their terms: a column may
grow in one mode and shrink in another (or, if complex, turn in both). These directions span the null
space of ∇²f, (N - 1) R of them. The right side has no part in them, as f is constant along them for
every x. So the system has a solution, and that of least norm is singled out by the penalty

    Σ_r c_r Σ_n |t_nr - mean_m t_mr|² / 2,    t_nr = ⟨a⁰_nr, a_nr⟩,

a⁰ being the fit with columns of equal norm: it vanishes there with its gradient, and makes the matrix
regular. What does not depend on lengths (and phases) of single columns does not depend on this
choice: the tensor, normalised columns, weights. The order of the terms is discrete and stays.

At a fit with non-negative factors, the entries that are zero stay zero.

Factors with proximal maps P are fixed points, a = P(a - s ∇f(a, x)) for any step s > 0, which gives
one more linear system. (Bertrand et al. 2021) Whether lengths are free depends on the maps: what the
system leaves open, up to the accuracy of a fit, gets the solution of least norm.
"""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import custom_root, grad, vmap
from .._core import dtypes, is_evaluating
from .._solution import Solution
from ..linalg import CG, FunctionOperator, linear_solve
from ._common import balanced, gram, right_solve
from ._cp import CP, normalize, norms_of_columns
from ._products import squared_norm


def flat(parts):
    return xnp.concatenate([p.ravel() for p in parts])


def parts_of(vector, like) -> list:
    stops = np.cumsum([0, *[f.size for f in like]]).tolist()
    return [vector[a:b].reshape(f.shape) for f, a, b in zip(like, stops, stops[1:], strict=False)]


def _as_real(parts):
    """One vector of the parts; of complex ones the real parts and then the imaginary ones."""
    v = flat(parts)
    return xnp.concatenate([v.real, v.imag]) if dtypes.is_complex(v.dtype) else v


def _from_real(vector, like) -> list:
    if dtypes.is_complex(like[0].dtype):
        half = vector.shape[0] // 2
        vector = vector[:half] + 1j * vector[half:]
    return parts_of(vector.astype(like[0].dtype), like)


class _Problem:
    """The loss near a fit as a function of one real vector, the factors of the free modes."""

    def __init__(self, x, weights, factors, ridge, free, kept, proxes=None):
        self.x, self.weights, self.ridge, self.free, self.kept = x, weights, ridge, free, kept
        self.fixed = list(factors)
        self.start = [ops.stop_gradient(f) for f in factors]
        if proxes is None:
            self.start = balanced(self.start, free)
        self.proxes = proxes
        self.parts = [self.start[k] for k in free]
        slopes = xnp.diagonal(gram(self.start, free[0])).real
        sizes = norms_of_columns(self.parts[0])[0] ** 2
        chosen = (sizes > 0) & (proxes is None)
        self.pull = xnp.where(chosen, slopes / xnp.where(sizes > 0, sizes, 1), 0)

    def factors(self, parts) -> list:
        found = dict(zip(self.free, parts, strict=True))
        return [found.get(k, f) for k, f in enumerate(self.fixed)]

    def loss(self, vector):
        parts = _from_real(vector, self.parts)
        left = self.x - CP(None, tuple(self.factors(parts))).to_dense()
        left = left if self.weights is None else xnp.sqrt(self.weights) * left
        lengths = xnp.stack([(a.conj() * b).sum(0) for a, b in zip(self.parts, parts, strict=True)])
        uneven = lengths - lengths.mean(0)
        choice = (self.pull * (uneven * uneven.conj()).real).sum()
        return (squared_norm(left) + self.ridge * sum(map(squared_norm, parts)) + choice) / 2

    def equation(self, vector):
        """The gradient, where the vector is free to move, and else the vector itself."""
        if self.proxes is not None:
            return self._distance_to_fixed_point(vector)
        if self.kept is None:
            return grad(self.loss)(vector)
        return xnp.where(self.kept, grad(self.loss)(xnp.where(self.kept, vector, 0)), vector)

    def _distance_to_fixed_point(self, vector):
        slopes, out = _from_real(grad(self.loss)(vector), self.parts), []
        for k, a, slope in zip(self.free, _from_real(vector, self.parts), slopes, strict=True):
            size = xnp.trace(gram(self.start, k)).real / a.shape[1] + self.ridge
            step = ops.stop_gradient(1 / xnp.where(size > 0, size, 1))
            prox = self.proxes[k] or (lambda a, _: a)  # pyright: ignore[reportOptionalSubscript]
            out.append(a - prox(a - step * slope, step))
        return _as_real(out)

    def precondition(self, vector):
        parts = zip(_from_real(vector, self.parts), self.free, strict=True)
        out = _as_real([right_solve(p, gram(self.start, k), self.ridge) for p, k in parts])
        return out if self.kept is None else xnp.where(self.kept, out, vector)


def follow(x, factors, weights=None, ridge=0.0, free=None, positive=(), proxes=None):
    """The factors of a fit with derivatives with respect to x, weights, ridge and the fixed factors.

    Args:
      x: the data, zero where they are missing.
      factors: a fit.
      weights: how much each element counts.
      ridge: penalty that the fit had.
      free: the modes that were fitted; default all.
      positive: those whose factors must not be negative.
      proxes: None, or for each mode its proximal map or None.
    """
    free = tuple(range(len(factors))) if free is None else free
    kept = None
    if positive:
        shown = [
            factors[k] > 0 if k in positive else xnp.ones(factors[k].shape, bool) for k in free
        ]
        kept = ops.stop_gradient(flat(shown))
    problem = _Problem(x, weights, factors, ridge, free, kept, proxes)
    start = _as_real(problem.parts)
    n, eps = start.shape[0], float(dtypes.finfo(start.dtype).eps)
    solver = CG(rtol=50 * eps, max_steps=4 * n)

    def tangent(slope, y):
        operator = FunctionOperator(
            lambda _, v: slope(v), None, (n, n), symmetric=True, positive=True
        )
        return linear_solve(
            operator, y, solver, preconditioner=problem.precondition, report=True
        ).value

    if proxes is not None:
        _check_dense(n)
        tangent = _least_norm  # pyright: ignore[reportAssignmentType]
    found = custom_root(problem.equation, start, lambda _, v: v, tangent)
    return problem.factors(_from_real(found, problem.parts))


_DENSE = 2000  # unknowns of a system that is solved by its singular values


def _check_dense(n: int) -> None:
    if n > _DENSE:
        raise ValueError(
            f"xcore.decomp.cp_constrained: derivatives are computed for up to {_DENSE} elements in all "
            f"factors, given {n}. Stop derivatives of x and ridge (xcore.lax.stop_gradient), or use "
            "cp_nonneg or cp_als, whose systems are solved iteratively."
        )


def _least_norm(mv, y):
    """The v of least norm with mv(v) = y as nearly as can be.

    A fit's gradients vanish up to the root of its error's precision, and so do the directions left open.
    """
    matrix = vmap(mv)(xnp.eye(y.shape[0], dtype=y.dtype)).T
    return xnp.linalg.pinv(matrix, float(dtypes.finfo(y.dtype).eps) ** (1 / 3)) @ y


def _given(fit: Solution, free, start) -> list:
    """The factors as the loss saw them: the fixed ones with the lengths that they had."""
    factors, lengths = list(fit.value.factors), fit.value.weights
    for k in set(range(len(factors))).difference(free):
        factors[k] = start[k]
        lengths = lengths / norms_of_columns(start[k])[1]
    factors[free[0]] = factors[free[0]] * lengths
    return factors


def differentiable(
    fit: Solution,
    x,
    mask=None,
    weights=None,
    ridge=0.0,
    free=None,
    positive=(),
    start=(),
    proxes=None,
) -> Solution:
    """A fit whose value and error have derivatives. On arrays, where nothing asks for them, itself."""
    if is_evaluating():
        return fit
    free = tuple(range(x.ndim)) if free is None else free
    weights = mask if weights is None else weights
    weights = None if weights is None else weights.astype(fit.error.dtype)
    seen = x if weights is None else xnp.where(weights > 0, x, 0)
    # under proximal maps lengths stay where they are found
    given = _given(fit, free, start) if proxes is None else list(fit.value.factors)
    factors = follow(seen, given, weights, ridge, free, positive, proxes)
    value = CP(None, tuple(factors))
    share = 1 if weights is None else weights
    left, whole = seen - value.to_dense(), (share * seen * seen.conj()).real.sum()
    square = (share * left * left.conj()).real.sum() / xnp.where(whole > 0, whole, 1)
    error = xnp.where(square != 0, xnp.sqrt(xnp.where(square != 0, square, 1)), 0)  # NaN stays NaN
    return fit.replace(value=normalize(value) if proxes is None else value, error=error)
