"""Lanczos' method with thick restarts, until residuals meet their tolerance and no copy is missing.

The space holds m orthonormal vectors q with h = qᴴ a q, such that a q = q h + β q₊ e_mᴴ. A cycle fills
it up, finds the eigenpairs (θ, s) of h, whose residuals are β |s_m|, and keeps the best vectors q s and
q₊. (Wu and Simon 2000, "Thick-restart Lanczos method for large symmetric eigenvalue problems")

From one start no method of products sees more than one vector for an eigenvalue that repeats. So once
all k pairs wanted have converged, they are kept alone, and the space is filled up from a random vector
orthogonal to them; should better values turn up all starts over, and it ends once the best of the other
pairs is settled to stand behind.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import cond, while_loop
from .._core import dtypes, static, struct, typeof
from .._iterate import iterate
from ..numpy._select import safe_divide
from ..random import fold_in, key, normal
from ._arguments import epsilon
from ._mass import dual_lengths, length, weighted
from ._range import magnitude

WHICH = {
    "largest": "LA", "smallest": "SA", "LA": "LA", "SA": "SA", "LM": "LM", "SM": "SM", "BE": "BE",
}  # fmt: skip


def merits(theta, which: str):
    """How much each of rising eigenvalues is wanted."""
    m = typeof(theta).shape[0]
    ranks = np.arange(m)
    ends = -np.minimum(2 * ranks[::-1], 2 * ranks + 1).astype(float)  # "BE": the high end first
    return {
        "LA": theta, "SA": -theta, "LM": xnp.abs(theta), "SM": -xnp.abs(theta),
        "BE": xnp.asarray(ends.astype(typeof(theta).dtype)),
    }[which]  # fmt: skip


def orthogonalised(q, w, mass=None):
    """(w less its part in the rows of q, the coefficients of that part), rounding taken out."""
    first = xnp.conj(q) @ weighted(w, mass)
    w = w - q.T @ first
    again = xnp.conj(q) @ weighted(w, mass)
    return w - q.T @ again, first + again


def fresh(q, number, mass=None):
    """A random vector of length 1 orthogonal to the rows of q, which may be zeros."""
    dtype = typeof(q).dtype
    w = normal(fold_in(key(7), number), typeof(q).shape[1:], dtypes.float32).astype(dtype)
    w, _ = orthogonalised(q, w, mass)
    w, _ = orthogonalised(q, w / length(w, mass).astype(dtype), mass)
    return safe_divide(w, length(w, mass).astype(dtype))


def filled_up(a, s, hermitian: bool, mass=None):
    """(q, h, β) after as many products as there is room for."""
    m = typeof(s["h"]).shape[0]

    def add(state):
        j, q, h, _ = state
        w = a.mv(q[j]).astype(typeof(q).dtype)
        size = length(w, mass)
        w, column = orthogonalised(q, w, mass)
        beta = length(w, mass)
        lost = ~(beta > 10 * epsilon(q) * size)  # the space is invariant
        w = cond(
            lost, lambda: fresh(q, (m + 1) * s["cycle"] + j, mass),
            lambda: safe_divide(w, beta.astype(typeof(w).dtype)),
        )  # fmt: skip
        beta = xnp.where(lost, 0, beta)
        column = xnp.where(xnp.arange(m + 1) <= j, column, 0)
        if hermitian:
            h = h.at[:, j].set(column[:m]).at[j].set(xnp.conj(column[:m]))
        else:
            h = h.at[:, j].set(column.at[j + 1].set(beta.astype(typeof(h).dtype))[:m])
        return j + np.int32(1), q.at[j + 1].set(w), h, beta

    start = s["filled"], s["q"], s["h"], xnp.zeros_like(s["scale"])
    # own loop: counted, inside a step
    return while_loop(lambda state: state[0] < m, add, start)[1:]


@struct
class ThickRestart:
    """What ``iterate`` drives: one step is a cycle.

    Attributes:
      a: the operator, self-adjoint in the inner product of ``mass``.
      k, m: how many pairs are wanted, and the size of the space.
      which: row of ``merits``.
      rtol: tolerance for residuals relative to the largest |θ|.
      back: of an inverse, a = (A - σ M)⁻¹ M, the operator A - σ M.
      goal: how small residuals with A shall be then.
    """

    a: Any
    mass: Any
    back: Any
    goal: Any
    k: int = static()
    m: int = static()
    which: str = static()
    rtol: float = static()

    def begin(self, start):
        (n,), dtype = typeof(start).shape, typeof(start).dtype
        real = dtypes.to_real(dtype)
        size, zero, no = xnp.zeros((), real), xnp.zeros((), np.int32), xnp.zeros((), bool)
        return {
            "q": xnp.zeros((self.m + 1, n), dtype).at[0].set(start), "filled": zero, "cycle": zero,
            "h": xnp.zeros((self.m, self.m), dtype), "v": xnp.zeros((self.k, n), dtype),
            "believed": xnp.zeros(self.k, real), "residual": xnp.full(self.k, np.inf, real),
            "others": xnp.zeros(max(self.m - self.k, 1), real), "scale": size, "products": zero,
            "verifying": no, "done": no,
        }  # fmt: skip

    def done(self, s):
        return s["done"] | ~xnp.isfinite(s["scale"])

    def step(self, s):
        q, h, beta = filled_up(self.a, s, hermitian=True, mass=self.mass)
        theta, vectors, merit, residual = self._pairs(h, beta)
        k, scale = self.k, xnp.max(xnp.abs(theta))
        tol, best = self.rtol * scale, xnp.sort(theta[:k])
        settled = xnp.all(
            (residual[:k] <= tol) & self._small_in_a(q[self.m], theta, residual, scale)
        )
        changed = xnp.any(xnp.abs(best - s["believed"]) > 2 * tol)
        again = settled & (~s["verifying"] | changed)
        sure = s["verifying"] & settled & ~changed & self._behind(theta, merit, residual, tol)
        rows = vectors.T @ q[: self.m]
        q, h, filled = self._next(rows, theta, q[self.m], again, s["cycle"])
        return {
            "q": q, "h": h, "v": rows[:k], "filled": filled, "cycle": s["cycle"] + np.int32(1),
            "believed": xnp.where(again, best, s["believed"]), "residual": residual[:k], "scale": scale,
            "verifying": again | (s["verifying"] & ~changed),
            "done": sure | (self.m == typeof(q).shape[1]),  # the space is all there is
            "others": theta[min(k, self.m - 1) :], "products": s["products"] + self.m - s["filled"],
        }  # fmt: skip

    def _small_in_a(self, last, theta, residual, scale):
        """Whether residuals with A are below the goal: (A - σ M)⁻¹ M v = θ v + e makes that of 1/θ -(A - σ M) e / θ.

        What is rounding of the inverse does not become less.
        """
        if self.back is None:
            return xnp.ones((), bool)
        k = self.k
        far = dual_lengths(self.back.mv(last).astype(typeof(last).dtype)[:, None], self.mass)[0]
        left = safe_divide(residual[:k] * far, xnp.abs(theta[:k]))
        return (left <= self.goal) | (residual[:k] <= 8 * epsilon(last) * scale)

    def _pairs(self, h, beta):
        """(θ, vectors, merits, residuals), those that are wanted most in front."""
        theta, vectors = xnp.linalg.eigh((h + xnp.conj(h).T) / 2)
        merit = merits(theta, self.which)
        order = xnp.argsort(-merit)
        vectors = vectors[:, order].astype(typeof(h).dtype)
        return theta[order], vectors, merit[order], beta * xnp.abs(vectors[-1])

    def _behind(self, theta, merit, residual, tol):
        """Whether the best pairs that are not wanted are settled enough to be sure of that."""
        sure = xnp.ones((), bool)
        for c in range(self.k, min(self.k + (2 if self.which == "BE" else 1), self.m)):
            gap = merit[self.k - 1] - merit[c]
            if self.which == "BE":
                gap = xnp.min(xnp.abs(theta[: self.k] - theta[c]))
            sure = sure & (residual[c] <= xnp.maximum(tol, 0.1 * gap))
        return sure

    def _next(self, rows, theta, last, again, cycle):
        """(q, h, how many vectors are there) to go on from; ``again`` from those wanted alone."""
        kept = min(self.k + max((self.m - self.k) // 3, 1), self.m - 1)
        filled = xnp.where(again, min(self.k, self.m - 1), kept).astype(np.int32)
        there = xnp.arange(self.m) < filled
        q = xnp.where(there[:, None], rows, 0)
        new = cond(again, lambda: fresh(q, -1 - cycle, self.mass), lambda: last)
        q = xnp.concatenate([q, xnp.zeros_like(q[:1])]).at[filled].set(new)
        return q, xnp.diag(xnp.where(there, theta, 0).astype(typeof(q).dtype)), filled


def largest_pairs(
    a, start, k: int, m: int, which: str, rtol: float, max_steps: int, *, mass=None, back=None, goal=0.0,
    history=False, **how,
):  # fmt: skip
    """How ``ThickRestart`` ran, from a vector that is not zero."""
    start = start / magnitude(start)
    start = start / length(start, mass).astype(typeof(start).dtype)
    solver = ThickRestart(a, mass, back, goal, k, m, which, rtol)
    row = (lambda s: s["residual"]) if history else None
    return iterate(solver, solver.begin(start), max_steps, row=row, **how)
