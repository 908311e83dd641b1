"""Equations solved by multigrid cycles: alone, or as preconditioner of conjugate gradients.

The loop is that of ``linalg``'s Krylov solvers. It sees m A u = m b with factors m of rows, such that
m A is the operator as users know it: its residual, computed from u, decides in their norm.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import static, struct, typeof
from .._solution import Status
from ..linalg._cg import cg_begin, cg_step
from ..linalg._krylov import Krylov
from ..linalg._passes import solve_one
from ..linalg._range import magnitude, norm, safe_norm
from ..numpy._select import safe_divide
from ._multigrid import Level, cycle


@struct
class Ran:
    """How a linear solver went.

    Attributes:
      steps, status: none of the latter where there are no steps.
      norms: (the norms of the residual, of the start and after each step; that of the right side), or None.
    """

    steps: Any
    status: Any = None
    norms: Any = None

    def beside(self, other) -> Ran:
        """That of this and another run, for two parts of the same field."""
        norms = None
        if self.norms is not None:
            norms = tuple(xnp.hypot(a, b) for a, b in zip(self.norms, other.norms, strict=True))
        status = xnp.where(self.status == 0, other.status, self.status)
        return Ran(xnp.maximum(self.steps, other.steps), status, norms)

    def history(self):
        """The residuals relative to the right side."""
        return None if self.norms is None else safe_divide(*self.norms)


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
    level: Level, near: Near, b, rows, singular: bool, method: str, rtol: float, max_steps: int,
    history=False, progress=False,
):  # fmt: skip
    """A⁻¹ b for the operator of a level, and how it was found, by "cg" or "multigrid"; ``rows`` are
    factors of rows in the norm of residuals."""
    unit = magnitude(level.diagonal)  # of A; unknowns are multiplied by it
    even = lambda r: r - xnp.mean(r) if singular else r  # noqa: E731
    u, steps, _, status, *norms = solve_one(
        (_Gradients if method == "cg" else Repeated)(
            rtol=rtol, max_steps=max_steps, weights=1 / rows
        ),
        lambda u: rows * (level(u) / unit),
        lambda r: unit * near(even(r / rows)),
        None, rows * b, (), history, progress,
    )  # fmt: skip
    norms = (norms[0], safe_norm(rows * b)) if norms else None
    return u / unit, Ran(steps, status, norms)


@struct
class _Gradients(Krylov):
    """Conjugate gradients with a cycle as preconditioner.

    Attributes:
      weights: of the inner product in which m A is symmetric, 1 / m.
    """

    weights: Any = 1.0

    lost = Status.stagnation

    def begin(self, p, x, r):
        return cg_begin(x, r, flexible=True)

    def advance(self, p, s):
        inner = lambda x, y: xnp.vdot(x, self.weights * y)  # noqa: E731
        s, curvature = cg_step(s, p.mv, p.precondition, inner=inner, flexible=True)
        return s | {"size": norm(s["r"]), "stalled": curvature == 0}


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
