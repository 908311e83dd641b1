"""Minimisation without derivatives: the simplex of Nelder and Mead."""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._control import cond, vmap
from .._core import static, struct, typeof
from ._descent import bottom
from ._problem import count, largest
from ._result import Status, first_of


@struct
class NelderMead:
    """A simplex that reflects, grows and shrinks. Bounds are kept by moving points to them.

    ``tol`` bounds both the simplex' extent and its differences of f. With many variables the
    coefficients depend on their number. (Nelder, Mead 1965; Gao, Han 2012)

    Attributes:
      size: of the first simplex relative to x, and to the largest variable, by curvature, where x is 0.
      adaptive: whether the coefficients depend on the number of variables.
    """

    size: float = static(default=0.05)
    adaptive: bool = static(default=True)

    def init(self, problem, x, tol):
        n = typeof(x).shape[0]
        x = xnp.clip(x, problem.lower, problem.upper)
        steps = xnp.where(x == 0, self.size, self.size * x)
        inward = xnp.where(x + steps > problem.upper, -steps, steps)
        points = xnp.concatenate([x[None], x + xnp.diag(inward)])
        points = xnp.clip(points, problem.lower, problem.upper)
        values = self._finite(vmap(problem.value)(points))
        status = first_of((~xnp.isfinite(values[0]), Status.not_finite))
        return self._sorted(points, values) | {
            "g": xnp.full_like(x, xnp.nan), "status": status, "nit": count(0),
            "nfev": count(n + 1), "njev": count(0),
        }  # fmt: skip

    def _finite(self, f):
        return xnp.where(xnp.isnan(f), xnp.inf, f)

    def _sorted(self, points, values):
        order = xnp.argsort(values)
        points, values = points[order], values[order]
        return {
            "points": points, "values": values, "x": points[0], "f": values[0],
            "size": largest(points[1:] - points[:1]),
        }  # fmt: skip

    def _coefficients(self, n: int):
        n = max(n, 2) if self.adaptive else 2
        return 1 + 2 / n, 0.75 - 1 / (2 * n), 1 - 1 / n

    def step(self, problem, s, tol):
        points, values = s["points"], s["values"]
        n = typeof(points).shape[1]
        grow, contract, shrink = self._coefficients(n)
        inside = lambda p: xnp.clip(p, problem.lower, problem.upper)  # noqa: E731
        at = lambda p: self._finite(problem.value(p))  # noqa: E731
        centre, worst = xnp.mean(points[:-1], axis=0), points[-1]
        reflected = inside(2 * centre - worst)
        f1 = at(reflected)
        better = f1 < values[0]
        fine = ~better & (f1 < values[-2])
        outside = f1 < values[-1]
        # where to look next: farther out, or back on the better of the two sides
        along = xnp.where(better, grow, xnp.where(outside, contract, -contract))
        second = inside(centre + along * (centre - worst))
        f2 = cond(fine, lambda p: xnp.full_like(f1, xnp.inf), at, second)
        use_second = xnp.where(better, f2 < f1, ~fine & (f2 < xnp.minimum(f1, values[-1])))
        taken = better | fine | use_second
        point, value = xnp.where(use_second, second, reflected), xnp.where(use_second, f2, f1)
        replaced = xnp.concatenate([points[:-1], point[None]])

        def smaller():
            moved = inside(points[0] + shrink * (points - points[0]))
            return moved, xnp.concatenate(
                [values[:1], self._finite(vmap(problem.value)(moved[1:]))]
            )

        points, values = cond(
            taken, lambda: (replaced, xnp.concatenate([values[:-1], value[None]])), smaller
        )
        new = self._sorted(points, values)
        spread = xnp.max(new["values"]) - new["f"]
        close = (new["size"] <= tol * xnp.maximum(1, largest(new["x"]))) & (
            spread <= tol * xnp.maximum(1, xnp.abs(new["f"]))
        )
        evaluated = np.int32(1) + (~fine).astype(np.int32) + xnp.where(taken, 0, n).astype(np.int32)
        return s | new | {
            "status": first_of(
                (new["f"] <= bottom(new["f"]), Status.unbounded), (close, Status.success)
            ),
            "nit": s["nit"] + np.int32(1),
            "nfev": s["nfev"] + evaluated,
        }  # fmt: skip
