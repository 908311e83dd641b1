"""Equations solved by multigrid cycles: alone, or as preconditioner of conjugate gradients.

The loop is that of ``linalg``'s Krylov solvers. It sees m A u = m b with factors m of rows, such that
m A is the operator as users know it: its residual, computed from u, decides in their norm.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core.struct import static, struct
from .._core.types import typeof
from .._solution import Status
from ..linalg._krylov import Krylov, _solve_one, magnitude, norm
from ._multigrid import Level, cycle


@struct
class Near:
    """About the inverse of an operator, by one cycle.

    Attributes:
      level: the levels; with a ``scale`` those of scale × the operator in single precision.
      cycle: its kind, smoother and degree.
    """

    level: Level
    scale: Any = None
    cycle: tuple = static(default=("V", "chebyshev", 3))

    def __call__(self, r):
        if self.scale is None:
            return cycle(self.level, r, *self.cycle)
        size = magnitude(r)  # so that numbers are in range
        z = cycle(self.level, (r / size).astype(np.float32), *self.cycle)
        return size * self.scale * z.astype(typeof(r).dtype)


def by_cycles(
    level: Level, near: Near, b, rows, singular: bool, method: str, rtol: float, max_steps: int
):
    """A⁻¹ b for the operator of a level, and (steps, status), by "cg" or "multigrid"; ``rows`` are
    factors of rows in the norm of residuals."""
    unit = magnitude(level.diagonal)  # of A; unknowns are multiplied by it
    even = lambda r: r - xnp.mean(r) if singular else r  # noqa: E731
    u, steps, _, status = _solve_one(
        (_Gradients if method == "cg" else Repeated)(
            rtol=rtol, max_steps=max_steps, weights=1 / rows
        ),
        lambda u: rows * (level(u) / unit),
        lambda r: unit * near(even(r / rows)),
        None, rows * b,
    )  # fmt: skip
    return u / unit, (steps, status)


@struct
class _Gradients(Krylov):
    """Conjugate gradients with a cycle as preconditioner.

    Attributes:
      weights: of the inner product in which m A is symmetric, 1 / m.
    """

    weights: Any = 1.0

    lost = Status.stagnation

    def begin(self, p, x, r):
        zero = xnp.zeros_like(r)
        return {"x": x, "r": r, "old": zero, "p": zero, "rz": xnp.sum(zero)}

    def advance(self, p, s):
        r = s["r"]
        z = p.precondition(r)
        weighted = xnp.conj(z) * self.weights
        # Polak and Ribière's form bears a preconditioner that is not quite symmetric
        rz, change = xnp.sum(weighted * r), xnp.sum(weighted * (r - s["old"]))
        beta = xnp.where(s["rz"] == 0, 0, change / xnp.where(s["rz"] == 0, 1, s["rz"]))
        way = z + beta * s["p"]
        q = p.mv(way)
        curvature = xnp.sum(xnp.conj(way) * self.weights * q)
        alpha = rz / xnp.where(curvature == 0, 1, curvature)
        new = r - alpha * q
        return {"x": s["x"] + alpha * way, "r": new, "old": r, "p": way, "rz": rz,
                "size": norm(new), "stalled": curvature == 0}  # fmt: skip


@struct
class Repeated(Krylov):
    """x + m⁻¹ (b - a x), again and again: cycles as corrections."""

    weights: Any = 1.0

    lost = Status.stagnation

    def begin(self, p, x, r):
        return {"x": x, "r": r}

    def advance(self, p, s):
        z = p.precondition(s["r"])
        r = s["r"] - p.mv(z)
        return {"x": s["x"] + z, "r": r, "size": norm(r), "stalled": xnp.zeros((), bool)}
