"""Methods that see a matrix only through products with it.

A method is a frozen struct of its settings, written for one right-hand side: ``begin(problem, x, r)`` and
``advance(problem, state)``. ``_passes`` runs it, ``_linear_solve`` is what users call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import fori_loop
from .._core import Array, Tracer, dtypes, errors, require, static, struct, typeof
from .._solution import Status
from ..numpy._select import safe_divide
from ._cg import cg_begin, cg_step
from ._range import inner, magnitude, norm, safe_norm


def _norm_by(z, r):
    """√(rᴴ z), for z = m r with a positive definite m."""
    return xnp.sqrt(xnp.maximum(xnp.real(inner(r, z)), 0)).astype(typeof(r).dtype)


@struct
class Krylov:
    """Settings that all solvers have.

    Attributes:
      rtol, atol: a solution is good when |b - a x|, computed anew in the end, is at most
        max(rtol |b|, atol); where rounding does not let it, the status is ``stagnation``.
      max_steps: at most this many steps, 10 n by default; as many once more if the sizes of products
        let the first run fail.
    """

    rtol: float = static(default=1e-5)
    atol: float = static(default=0.0)
    max_steps: int | None = static(default=None)

    lost = Status.breakdown  # how it ends where ``stalled``
    rises = False  # whether residuals may rise while errors fall
    # A state may have "best", an iterate to come back to should the last one not be what its residual says.
    any_shape = False  # whether it works on vectors in the shape that the operator has
    watches_truth = (
        False  # whether the residual it watches is computed from x, as the one that decides
    )

    def limit(self, n: int) -> int:
        """The number of steps allowed for n unknowns."""
        return 10 * n if self.max_steps is None else self.max_steps

    def check(self, who: str) -> None:
        """An error for settings that make no sense."""
        own = {
            f"{type(self).__name__}'s {n}": getattr(self, n) for n in ("rtol", "atol", "max_steps")
        }
        require("0 or more", who, **own)
        for name in [n for n, x in own.items() if x is None and not n.endswith("max_steps")]:
            raise errors.bad_argument(who, name, None, "0 or more")

    def usable(self):
        """Whether settings that may be traced make sense."""
        return xnp.ones((), bool)


@struct
class Problem:
    """One right-hand side given to a solver: what ``iterate`` drives."""

    mv: Any
    precondition: Any
    solver: Any
    target: Any
    unit: Any = 1.0  # what eigenvalues, those of the preconditioned matrix, were divided by

    def done(self, state):
        return (state["size"] <= self.target) | state["stalled"] | ~xnp.isfinite(state["size"])

    def step(self, state):
        return self.solver.advance(self, state)


@struct
class CG(Krylov):
    """Conjugate gradients, for Hermitian positive definite matrices. (Hestenes and Stiefel 1952)

    Attributes:
      flexible: allow for a preconditioner that is not quite symmetric, by Polak and Ribière's form.

    >>> import xcore.numpy as xnp
    >>> from xcore import linalg
    >>> a, b = xnp.array([[4.0, 1.0], [1.0, 3.0]]), xnp.array([1.0, 2.0])
    >>> linalg.linear_solve(a, b, linalg.CG(rtol=1e-6)).round(4)
    Array([0.0909, 0.6364], dtype=float32)
    """

    flexible: bool = static(default=False)

    lost = Status.not_definite
    rises = True
    any_shape = True

    def begin(self, p: Problem, x: Array, r: Array) -> dict[str, Any]:
        start = cg_begin(x, r, self.flexible)
        if self._alone(p):
            start |= {"rz": inner(r, r), "beta": start["rz"]}
        return start

    def advance(self, p: Problem, s: dict[str, Any]) -> dict[str, Any]:
        known = (s["rz"], s["beta"]) if self._alone(p) else None
        new, curvature = cg_step(s, p.mv, p.precondition, flexible=self.flexible, known=known)
        square = inner(new["r"], new["r"])
        if known:  # beside what decides of the end, for which the square is needed anyhow
            new |= {"rz": square, "beta": safe_divide(square, s["rz"])}
        size = xnp.sqrt(xnp.real(square))
        return new | {"size": size, "stalled": ~(xnp.real(curvature) > 0)}

    def _alone(self, p: Problem) -> bool:
        """Whether rᴴz is the square of the residual."""
        return p.precondition is identity and not self.flexible


@struct
class BiCGStab(Krylov):
    """Biconjugate gradients, stabilised, for any square matrix. (van der Vorst 1992)

    >>> import xcore.numpy as xnp
    >>> from xcore import linalg
    >>> a, b = xnp.array([[4.0, 1.0], [1.0, 3.0]]), xnp.array([1.0, 2.0])
    >>> linalg.linear_solve(a, b, linalg.BiCGStab(rtol=1e-6)).round(4)
    Array([0.0909, 0.6364], dtype=float32)
    """

    def begin(self, p: Problem, x: Array, r: Array) -> dict[str, Any]:
        one = xnp.ones((), typeof(r).dtype)
        zero = xnp.zeros_like(r)
        return {
            "x": x,
            "r": r,
            "shadow": r,
            "rho": one,
            "alpha": one,
            "omega": one,
            "p": zero,
            "v": zero,
            "best": x,
            "least": xnp.full((), np.inf, dtypes.to_real(typeof(r).dtype)),
        }

    def advance(self, p: Problem, s: dict[str, Any]) -> dict[str, Any]:
        rho = inner(s["shadow"], s["r"])
        beta = safe_divide(rho, s["rho"]) * safe_divide(s["alpha"], s["omega"])
        direction = s["r"] + beta * (s["p"] - s["omega"] * s["v"])
        y = p.precondition(direction)
        v = p.mv(y)
        alpha = safe_divide(rho, inner(s["shadow"], v))
        half = s["r"] - alpha * v
        z = p.precondition(half)
        t = p.mv(z)
        small = t / magnitude(t)  # so that a matrix of tiny numbers has an omega
        omega = safe_divide(inner(small, half), inner(small, t))
        r = half - omega * t
        x, size = s["x"] + alpha * y + omega * z, norm(r)
        better = size < s["least"]
        return {
            "x": x, "best": xnp.where(better, x, s["best"]), "least": xnp.where(better, size, s["least"]),
            "r": r, "shadow": s["shadow"], "rho": rho,
            "alpha": alpha, "omega": omega, "p": direction, "v": v, "size": size,
            "stalled": (rho == 0) | (alpha == 0),
        }  # fmt: skip


@struct
class MINRES(Krylov):
    """Minimal residuals, for Hermitian matrices that may be indefinite; a preconditioner must be
    positive definite. Of singular equations that do not agree the residual becomes the least, and the
    status is ``stagnation``. (Paige and Saunders 1975; with a preconditioner Elman, Silvester and Wathen
    2014, "Finite elements and fast iterative solvers", algorithm 4.1)

    >>> import xcore.numpy as xnp
    >>> from xcore import linalg
    >>> a, b = xnp.array([[4.0, 1.0], [1.0, 3.0]]), xnp.array([1.0, 2.0])
    >>> linalg.linear_solve(a, b, linalg.MINRES(rtol=1e-6)).round(4)
    Array([0.0909, 0.6364], dtype=float32)
    """

    lost = Status.stagnation

    def begin(self, p: Problem, x: Array, r: Array) -> dict[str, Any]:
        z = p.precondition(r)
        beta = _norm_by(z, r)
        zeros, zero = xnp.zeros_like(r), xnp.zeros((), typeof(r).dtype)
        one = xnp.ones((), typeof(r).dtype)
        return {
            "x": x, "r": r, "v": safe_divide(r, beta), "z": safe_divide(z, beta), "old": zeros, "beta": zero,
            "eta": beta, "c": one, "c_old": one, "s": zero, "s_old": zero, "w": zeros, "w_old": zeros,
            "most": xnp.zeros((), dtypes.to_real(typeof(r).dtype)), "best": x,
        }  # fmt: skip

    def advance(self, p: Problem, s: dict[str, Any]) -> dict[str, Any]:
        v, z = s["v"], s["z"]
        q = p.mv(z) - s["beta"] * s["old"]
        alpha = inner(z, q)
        q = q - alpha * v
        y = p.precondition(q)
        beta = _norm_by(y, q)
        # the new column of the tridiagonal matrix, through the last two rotations and a new one
        delta = s["c"] * alpha - s["c_old"] * s["s"] * s["beta"]
        rho2 = s["s"] * alpha + s["c_old"] * s["c"] * s["beta"]
        rho3 = s["s_old"] * s["beta"]
        rho1 = xnp.sqrt(xnp.abs(delta) ** 2 + xnp.abs(beta) ** 2).astype(typeof(v).dtype)
        # |a r| by |r| of the last residual: where it is next to 0, no x has a smaller one (Choi, Paige, Saunders 2011)
        most = xnp.maximum(
            s["most"], xnp.sqrt(xnp.abs(alpha) ** 2 + xnp.abs(beta) ** 2).astype(s["most"].dtype)
        )
        slope = xnp.sqrt(xnp.abs(delta) ** 2 + xnp.abs(s["c"] * beta) ** 2)
        least = slope <= 10 * xnp.finfo(most.dtype).eps * most
        c, sine = safe_divide(delta, rho1), safe_divide(beta, rho1)
        w = safe_divide(z - rho3 * s["w_old"] - rho2 * s["w"], rho1)
        eta, following = -sine * s["eta"], safe_divide(q, beta)
        r, size = s["r"], xnp.abs(eta)
        if p.precondition is not identity:  # eta is then the residual in another norm
            r = sine**2 * r + c * eta * following
            size = norm(r)
        x = xnp.where(least, s["x"], s["x"] + c * s["eta"] * w)
        # as long as rounding of a x stays below the residual
        sound = 8 * xnp.finfo(most.dtype).eps * most * norm(x) <= size
        return {
            "x": x, "r": r, "v": following, "z": safe_divide(y, beta), "old": v,
            "beta": beta, "eta": eta, "c": c, "c_old": s["c"], "s": sine, "s_old": s["s"], "w": w,
            "w_old": s["w"], "size": xnp.where(least, s["size"], size), "stalled": (rho1 == 0) | least,
            "most": most, "best": xnp.where(sound, x, s["best"]),
        }  # fmt: skip


@struct
class GMRES(Krylov):
    """Minimal residuals over growing spaces, for any square matrix, restarted now and then.

    A step is one cycle of ``restart`` products. (Saad and Schultz 1986)

    >>> import xcore.numpy as xnp
    >>> from xcore import linalg
    >>> a, b = xnp.array([[4.0, 1.0], [1.0, 3.0]]), xnp.array([1.0, 2.0])
    >>> linalg.linear_solve(a, b, linalg.GMRES(rtol=1e-6, restart=10)).round(4)
    Array([0.0909, 0.6364], dtype=float32)
    """

    restart: int = static(default=20)

    lost = Status.stagnation
    watches_truth = True

    def check(self, who: str) -> None:
        super().check(who)
        require("1 or more", who, **{"GMRES's restart": self.restart})

    def begin(self, p: Problem, x: Array, r: Array) -> dict[str, Any]:
        return {"x": x, "r": r, "b": r}  # a run begins at x = 0

    def advance(self, p: Problem, s: dict[str, Any]) -> dict[str, Any]:
        n = typeof(s["r"]).shape[0]
        m = min(self.restart, n)
        dtype = typeof(s["r"]).dtype
        beta = norm(s["r"])
        basis = xnp.zeros((m + 1, n), dtype).at[0].set(safe_divide(s["r"], beta.astype(dtype)))

        def arnoldi(k, state):
            basis, h = state
            w = p.mv(p.precondition(basis[k]))
            column = xnp.conj(basis) @ w
            w = w - basis.T @ column
            again = xnp.conj(basis) @ w  # once more: rounding leaves a little of the space in w
            w = w - basis.T @ again
            size = safe_norm(w)
            small = size <= xnp.finfo(dtype).eps * norm(column)  # the space is invariant
            w = xnp.where(small, 0, safe_divide(w, size.astype(dtype)))
            column = (column + again).at[k + 1].set(xnp.where(small, 0, size).astype(dtype))
            return basis.at[k + 1].set(w), h.at[:, k].set(column)

        basis, h = fori_loop(0, m, arnoldi, (basis, xnp.zeros((m + 1, m), dtype)))
        right = xnp.zeros(m + 1, dtype).at[0].set(beta.astype(dtype))
        y = xnp.linalg.lstsq(h, right)[0]
        x = s["x"] + p.precondition(basis[:m].T @ y)
        r = s["b"] - p.mv(x)
        size = norm(r)
        return {"x": x, "r": r, "b": s["b"], "size": size, "stalled": size >= beta}


@struct
class Chebyshev(Krylov):
    """Chebyshev's iteration, for Hermitian positive definite matrices whose spectrum is bounded.

    No inner products, so nothing waits for all processors. (Saad 2003, "Iterative methods for sparse
    linear systems", algorithm 12.1)

    Attributes:
      bounds: (low, high) between which all eigenvalues lie, those of the preconditioned matrix.

    >>> import xcore.numpy as xnp
    >>> from xcore import linalg
    >>> a, b = xnp.array([[4.0, 1.0], [1.0, 3.0]]), xnp.array([1.0, 2.0])
    >>> linalg.linear_solve(a, b, linalg.Chebyshev(bounds=(2.0, 5.0))).round(4)
    Array([0.0909, 0.6364], dtype=float32)
    """

    bounds: Any = (1.0, 1.0)

    def check(self, who: str) -> None:
        super().check(who)
        bounds = [np.asarray(x) for x in self.bounds if not isinstance(x, Tracer)]
        if len(self.bounds) != 2 or (len(bounds) == 2 and not 0 < bounds[0] <= bounds[1] < np.inf):
            need = "two numbers 0 < low <= high between which all eigenvalues lie"
            raise errors.bad_argument(who, "Chebyshev's bounds", self.bounds, need)

    def usable(self):
        low, high = self.bounds
        return xnp.asarray((low > 0) & (low <= high) & (high < np.inf))

    def begin(self, p: Problem, x: Array, r: Array) -> dict[str, Any]:
        dtype = dtypes.to_real(typeof(r).dtype)
        low, high = (xnp.asarray(y, dtype) / p.unit for y in self.bounds)
        centre = xnp.asarray((low + high) / 2).astype(dtype)
        radius = xnp.maximum(xnp.asarray((high - low) / 2).astype(dtype), 1e-6 * centre)
        z = p.precondition(r)
        return {"x": x, "r": r, "d": z / centre, "rho": radius / centre, "radius": radius,
                "ratio": 2 * centre / radius, "first": norm(r)}  # fmt: skip

    def advance(self, p: Problem, s: dict[str, Any]) -> dict[str, Any]:
        x, r = s["x"] + s["d"], s["r"] - p.mv(s["d"])
        z = p.precondition(r)
        rho = 1 / (s["ratio"] - s["rho"])
        d = rho * s["rho"] * s["d"] + (2 * rho / s["radius"]) * z
        size = norm(r)
        grew = size > 1e3 * s["first"]  # the bounds were wrong
        return s | {"x": x, "r": r, "d": d, "rho": rho, "size": size, "stalled": grew}


def identity(x):
    return x
