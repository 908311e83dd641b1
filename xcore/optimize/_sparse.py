"""Methods with sparse Jacobians: their elements as in ``sparse.jacobian`` or as given, steps from sparse factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .. import random, sparse
from .._control import eval_shape, grad, linearize
from .._core import errors, static, struct, typeof
from ..linalg._cg import cg_begin, cg_step
from ..sparse import Pattern, Sparse
from ..sparse._cholesky import cholesky, raw_solution
from ..sparse._direct import host_solve
from ._gain import ratio as ratio_of
from ._gain import verdict as verdict_of
from ._loop import iterations
from ._problem import count, largest
from ._result import Status, first_of
from ._trust import norm
from ._units import power_of_two

KINDS = ("lu", "cholesky")
_CG = 60  # steps of conjugate gradients at most, preconditioned by the factors of the model
_PROBES = 3  # inverse iterations that look for a direction that nothing determines


class Matrix:
    """The sparse Jacobian of a function of vectors: as given, or from its pattern and products along directions."""

    def __init__(self, who: str, value: Callable[..., Any], flat: Any, given: Any):
        self.who, self.value, self.flat, self.given = who, value, flat, given

    def __call__(self, x, args) -> Sparse:
        if self.given is None:
            return sparse.jacobian(self.value)(x)
        found = self.given(self.flat.split(x), *args)
        found = found if isinstance(found, Sparse) else sparse.coo_array(found)
        shape = (eval_shape(self.value, x).size, self.flat.size)
        if found.shape != shape:
            why = (
                f"jac must return a matrix of shape {shape}, a row for each number that fun returns"
            )
            raise errors.ShapeError(f"xcore.{self.who}: {why}; given {found.shape}.")
        return found.like(found.values.astype(self.flat.dtype))

    def pattern(self, x, args) -> Pattern:
        """Found without values."""
        seen = []
        eval_shape(lambda x: (seen.append(self(x, args).pattern), x)[1], x)
        return seen[0]


def gives_sparse(jac: Any, x0: Any, args: Any) -> bool:
    """Whether a function returns what is sparse."""
    if not callable(jac):
        return False
    seen = []
    eval_shape(lambda x: (seen.append(type(jac(x, *args))), xnp.zeros(()))[1], x0)
    return issubclass(seen[0], Sparse) or seen[0].__module__.startswith("scipy.sparse")


def linear_by(pattern: Pattern) -> Callable[..., Any]:
    """A solver of mv(v) = y for linear functions whose matrices have this pattern."""

    def solve(mv, y):
        matrix = sparse.jacobian(mv, pattern)(xnp.zeros_like(y))
        return sparse.solve(matrix, y)

    return solve


# Equations


def newton_of(j: Sparse, f) -> tuple:
    """(-j⁻¹ f, whether the solution is certified), of rows and columns in units of their own."""
    size, one = abs(j), xnp.ones_like(f)
    rows = power_of_two(size @ one, 1.0)
    size = size / rows[:, None]
    columns = power_of_two(size.T @ one, 1.0)
    found = sparse.solve(j / rows[:, None] / columns, -f / rows, report=True)
    return found.value / columns, found.ok  # pyright: ignore


# Least squares


def _solver(a: Sparse, damping, kind: str) -> Callable[..., Any]:
    """b ↦ about (aᵀ a + damping)⁻¹ b."""
    n = a.shape[1]
    normal = a.T @ a + sparse.eye_array(n, dtype=a.dtype) * damping
    if kind == "cholesky":
        c = cholesky(normal)
        return lambda b: raw_solution(c.a.pattern, c.factors, b[:, None])[:, 0]
    return lambda b: host_solve(normal.pattern, normal.values, b[:, None])[0][:, 0]


def _lengths(j: Sparse):
    return xnp.sqrt((j * j).T @ xnp.ones(j.shape[0], j.dtype))


@struct
class SparseLevenbergMarquardt:
    """Steps of (JᵀJ + μ D²) p = -Jᵀ f by sparse factors, D the lengths of the columns of J; μ falls where the
    model is good. (Levenberg 1944; Marquardt 1963; Nielsen 1999, "Damping parameter in Marquardt's method")

    Steps are refined by the residual itself, f + J p, so that squaring J costs few digits.
    (Björck 1987, "Stability analysis of the method of seminormal equations for linear least squares problems")

    Attributes:
      factors: "lu" by SuperLU on the host; "cholesky" within the program, for other devices and many problems at once.
      damping: the first μ.

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> f = lambda x: xnp.concatenate([x[1:] - x[:-1] ** 2, 1 - x[:-1]])
    >>> found = optimize.least_squares(f, xnp.zeros(4), method=optimize.SparseLevenbergMarquardt())
    >>> bool(found.ok), found.x.round(2)
    (True, Array([1., 1., 1., 1.], dtype=float32))
    """

    factors: str = static(default="lu")
    damping: float = static(default=1e-3)

    def __post_init__(self) -> None:
        if self.factors not in KINDS:
            who = "optimize.SparseLevenbergMarquardt"
            raise errors.bad_argument(who, "factors", self.factors, f"one of {KINDS}")

    def init(self, problem: Any, x: Any, tol: Any) -> dict[str, Any]:
        f, r, j = problem.sparse(x)
        g = j.T @ r
        size = largest(g)
        status = first_of(
            (~(xnp.isfinite(f) & xnp.isfinite(size)), Status.not_finite),
            (size == 0, Status.success),
        )
        return {
            "x": x, "f": f, "g": g, "size": size, "r": r, "j": j, "scale": _lengths(j),
            "damping": xnp.full((), self.damping, x.dtype), "growth": xnp.full((), 2, x.dtype),
            "status": status, "nit": count(0), "nfev": count(1), "njev": count(1),
        }  # fmt: skip

    def _model(self, problem: Any, s: dict[str, Any]) -> tuple:
        """(J D⁻¹, D), D the longest that columns were so far."""
        d = xnp.where(s["scale"] > 0, s["scale"], 1)
        return s["j"] / d, d

    def step(self, problem: Any, s: dict[str, Any], tol: Any) -> dict[str, Any]:
        a, d = self._model(problem, s)
        mu, back = s["damping"], a.T
        solve = _solver(a, mu, self.factors)
        q = solve(-(back @ s["r"]))
        q = q + solve(-(back @ (s["r"] + a @ q) + mu * q))
        q = xnp.where(xnp.all(xnp.isfinite(q)), q, 0)
        aq, size = a @ q, norm(q)
        promised = 0.5 * xnp.vdot(aq, aq) + mu * size * size
        x = s["x"] + q / d
        f, r, j = problem.sparse(x)
        g = j.T @ r
        ratio = ratio_of(s, f, promised, norm(s["g"] / d), norm(g / d))
        take = ratio > 1e-4
        pick = lambda new, old: xnp.where(take, new, old)  # noqa: E731
        reach = norm(d * pick(x, s["x"]))
        g = pick(g, s["g"])
        status = verdict_of(s, take, promised, size, reach, largest(g), pick(f, s["f"]), tol, size)
        # far below 1 it is a guess that all directions are known, which factors bear down to the precision
        eps = xnp.finfo(typeof(x).dtype).eps
        less = xnp.where(ratio > 0.9, 0.1, xnp.clip(1 - (2 * ratio - 1) ** 3, 1 / 3, 2))
        damping = xnp.clip(mu * pick(less, s["growth"]), 16 * eps, 1 / eps)
        return {
            "x": pick(x, s["x"]), "f": pick(f, s["f"]), "g": g, "size": largest(g), "r": pick(r, s["r"]),
            "j": j.like(pick(j.values, s["j"].values)), "scale": pick(xnp.maximum(s["scale"], _lengths(j)), s["scale"]),
            "damping": damping.astype(x.dtype), "growth": pick(xnp.full((), 2, x.dtype), 2 * s["growth"]),
            "status": status, "nit": s["nit"] + np.int32(1), "nfev": s["nfev"] + np.int32(1),
            "njev": s["njev"] + np.int32(1),
        }  # fmt: skip

    def missing(self, problem: Any, s: dict[str, Any]) -> Any:
        """(the Newton step, the least curvature seen relative to that of the model, whether a direction is unknown).

        Products are those with the whole Hessian, from the cost alone; the model's factors precondition them.
        """
        x, eps = s["x"], xnp.finfo(typeof(s["x"]).dtype).eps
        a, d = self._model(problem, s)
        floor = 16 * eps
        solve = _solver(a, xnp.full((), floor, x.dtype), self.factors)
        model = lambda v: a.T @ (a @ v) + floor * v  # noqa: E731
        slope, push = linearize(grad(problem.cost), x)
        times = lambda v: push(v / d) / d  # noqa: E731
        draws = random.normal(random.key(0), (2, typeof(x).shape[0]), x.dtype)
        step, _, done = _preconditioned(times, model, solve, -slope / d)
        _, least, known = _preconditioned(times, model, solve, a.T @ (a @ draws[0]))
        # an inverse iteration finds what the factors hardly know
        z = draws[1]
        for _ in range(_PROBES):
            z = solve(z)
            z = z / xnp.maximum(norm(z), xnp.finfo(typeof(x).dtype).tiny)
        unknown = ~(xnp.vdot(z, model(z)) > 4 * floor)
        gone = xnp.any((s["scale"] > 0) & (_lengths(a) <= eps))
        step = xnp.where(done & known, step / d, xnp.inf)
        return step, least, unknown | gone


def _preconditioned(times, model, solve, b):
    """(x with times(x) = b, the least curvature relative to the model's that was met, whether x was found)."""

    def step(s):
        new, curvature = cg_step(s, times, solve)
        p = new["p"]
        own = xnp.vdot(p, model(p))
        bend = xnp.where(own > 0, curvature / xnp.where(own > 0, own, 1), 1)
        bad = ~(bend > 0)
        kept = {k: xnp.where(bad, s[k], new[k]) for k in ("x", "r")}
        first = xnp.where(s["first"] > 0, s["first"], new["rz"])
        return new | kept | {
            "least": xnp.minimum(s["least"], bend), "bad": bad, "first": first,
            "done": new["rz"] <= 1e-8 * first,
        }  # fmt: skip

    zero, no = xnp.zeros((), b.dtype), xnp.zeros((), bool)
    start = cg_begin(xnp.zeros_like(b), b) | {
        "least": zero + 1, "bad": no, "first": zero, "done": ~xnp.any(b != 0),
    }  # fmt: skip
    s = iterations(lambda s: ~(s["done"] | s["bad"]), step, start, _CG)
    bends = s["least"] < -(xnp.finfo(b.dtype).eps ** 0.5)
    return s["x"], s["least"], s["done"] | bends
