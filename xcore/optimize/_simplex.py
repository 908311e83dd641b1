"""Minimisation without derivatives: the simplex of Nelder and Mead, and Brent's search on a line."""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._control.cond import cond
from .._core.struct import static, struct
from .._core.types import typeof
from .._transforms.map import vmap
from ._implicit import differentiable
from ._lanes import while_lanes
from ._packed import loop
from ._problem import Flat, Objective, count, largest
from ._result import RUNNING, Certificate, Result, Status, first_of, status_code


@struct
class NelderMead:
    """A simplex that reflects, grows and shrinks. Bounds are kept by moving points to them.

    ``tol`` bounds both the simplex' extent and its differences of f. With many variables the
    coefficients depend on their number. (Nelder, Mead 1965; Gao, Han 2012)

    Attributes:
      size: of the first simplex relative to x, and absolute where x is 0.
      adaptive: whether the coefficients depend on the number of variables.
    """

    size: float = static(default=0.05)
    adaptive: bool = static(default=True)

    def init(self, problem, x, tol):
        n = typeof(x).shape[0]
        x = xnp.clip(x, problem.lower, problem.upper)
        steps = xnp.where(x == 0, 0.00025, self.size * x)
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
            "status": first_of((close, Status.success)), "nit": s["nit"] + np.int32(1),
            "nfev": s["nfev"] + evaluated,
        }  # fmt: skip


# ------------------------------------------------------------------------------ one variable

GOLDEN = float((3 - np.sqrt(5)) / 2)


def _bracket(value, a, b, limit: int = 100):
    """(a, b, c) with f(b) ≤ f(a), f(c), from two points, by steps that grow."""
    fa, fb = value(a), value(b)
    swap = fb > fa
    a, b = xnp.where(swap, b, a), xnp.where(swap, a, b)
    fb = xnp.minimum(fa, fb)
    c = b + 1.618034 * (b - a)

    def turn(s):
        _a, b, _fb, c, fc, n = s
        return b, c, fc, c + 1.618034 * (c - b), value(c + 1.618034 * (c - b)), n + np.int32(1)

    start = (a, b, fb, c, value(c), count(3))
    a, b, fb, c, fc, n = loop(lambda s: (s[4] < s[2]) & (s[5] < limit), turn, start)
    return a, b, c, n, fc >= fb


def minimize_scalar(
    fun, bracket=None, bounds=None, args=(), *, tol=None, maxiter: int = 200
) -> Result:
    """The least of a function of one number, by Brent's method. (Brent 1973, chapter 5)

    Parabolas through the last points where they can be trusted, golden sections elsewhere.

    Args:
      fun: ``fun(x, *args)``, a real scalar of a real scalar.
      bracket: two points from which a valley is looked for; (0, 1) by default.
      bounds: (lower, upper): search in this interval instead.
      args: further arguments.
      tol: precision of x, relative to max(1, |x|); the root of eps by default, below which values
        differ by rounding errors only.
      maxiter: steps at most.

    >>> import xcore.optimize as xo
    >>> round(float(xo.minimize_scalar(lambda x: (x - 2.0) ** 2).x), 3)
    2.0
    """
    who = "optimize.minimize_scalar"
    given = (0.0, 1.0) if bracket is None and bounds is None else bracket or bounds
    if len(given) != 2 or (bracket is not None and bounds is not None):
        raise ValueError(f"xcore.{who}: give two points as bracket or as bounds, given {given}.")
    ends = Flat(who, "bounds" if bounds is not None else "bracket", tuple(given)).start
    flat = Flat(who, "x", ends[0])
    problem = Objective(who, fun, flat, args)
    value = lambda x: problem.value(xnp.reshape(x, 1))  # noqa: E731
    tol = float(xnp.finfo(flat.dtype).eps) ** 0.5 if tol is None else tol

    def solve(_):
        a, b = ends[0], ends[1]
        if bounds is not None:
            start = a + GOLDEN * (b - a)
            lo, hi, used, found = a, b, count(0), xnp.ones((), bool)
        else:
            a, start, c, used, found = _bracket(value, a, b)
            lo, hi = xnp.minimum(a, c), xnp.maximum(a, c)
        s = _brent(who, value, lo, start, hi, tol, maxiter)
        status = xnp.where(found, s["status"], status_code(Status.unbounded))
        g = problem.value_and_grad(s["x"].reshape(1))[1]
        aux = {"status": status, "nit": s["nit"], "nfev": s["nfev"] + used, "g": g, "told": s["f"]}
        return s["x"].reshape(1), aux

    x, aux = differentiable(lambda x: problem.value_and_grad(x)[1], problem.value, solve, ends[:1])
    return Result(
        flat.split(x), aux["told"], flat.split(aux["g"]), aux["status"], aux["nit"], aux["nfev"],
        count(1), Certificate(largest(aux["g"])),
    )  # fmt: skip


def _brent(who, value, lo, start, hi, tol, maxiter):
    """x is the best point, w the next best, v the one before; e the step before last."""
    f = value(start)
    zero = xnp.zeros_like(start)
    state = {
        "a": lo, "b": hi, "x": start, "w": start, "v": start, "f": f, "fw": f, "fv": f, "d": zero,
        "e": zero, "nit": count(0), "nfev": count(1), "status": xnp.asarray(RUNNING),
    }  # fmt: skip
    small = float(xnp.finfo(typeof(start).dtype).tiny)

    def step(s):
        a, b, x, w, v = (s[k] for k in "abxwv")
        middle, least = 0.5 * (a + b), tol * xnp.abs(x) + small + 1e-2 * tol
        r, q = (x - w) * (s["f"] - s["fv"]), (x - v) * (s["f"] - s["fw"])
        p, q = (x - v) * q - (x - w) * r, 2 * (q - r)
        p, q = xnp.where(q > 0, -p, p), xnp.abs(q)
        trusted = (
            (xnp.abs(s["e"]) > least) & (xnp.abs(p) < xnp.abs(0.5 * q * s["e"]))
            & (p > q * (a - x)) & (p < q * (b - x))
        )  # fmt: skip
        part = p / xnp.where(q == 0, 1, q)
        u = x + part
        near_end = (u - a < 2 * least) | (b - u < 2 * least)
        part = xnp.where(near_end, xnp.where(x < middle, least, -least), part)
        other = xnp.where(x < middle, b - x, a - x)
        d = xnp.where(trusted, part, GOLDEN * other)
        e = xnp.where(trusted, s["d"], other)
        u = x + xnp.where(xnp.abs(d) >= least, d, xnp.where(d > 0, least, -least))
        fu = value(u)
        fu = xnp.where(xnp.isnan(fu), xnp.inf, fu)
        best = fu <= s["f"]
        next_best = ~best & ((fu <= s["fw"]) | (w == x))
        third = ~best & ~next_best & ((fu <= s["fv"]) | (v == x) | (v == w))
        pick = lambda c, t, o: xnp.where(c, t, o)  # noqa: E731
        new_a = pick(best, pick(u >= x, x, a), pick(u < x, u, a))
        new_b = pick(best, pick(u >= x, b, x), pick(u < x, b, u))
        new = {
            "a": new_a, "b": new_b, "d": d, "e": e,
            "v": pick(best | next_best, w, pick(third, u, v)),
            "fv": pick(best | next_best, s["fw"], pick(third, fu, s["fv"])),
            "w": pick(best, x, pick(next_best, u, w)),
            "fw": pick(best, s["f"], pick(next_best, fu, s["fw"])),
            "x": pick(best, u, x), "f": pick(best, fu, s["f"]), "nit": s["nit"] + np.int32(1),
            "nfev": s["nfev"] + np.int32(1),
        }  # fmt: skip
        middle, least = 0.5 * (new_a + new_b), tol * xnp.maximum(1, xnp.abs(new["x"]))
        done = xnp.abs(new["x"] - middle) <= 2 * least - 0.5 * (new_b - new_a)
        return new | {"status": first_of((done, Status.success))}

    def going(s):
        return (s["status"] == RUNNING) & (s["nit"] < maxiter)

    s = loop(going, step, state, lambda *args: while_lanes(who, *args))
    end = xnp.where(s["status"] == RUNNING, status_code(Status.max_steps), s["status"])
    end = xnp.where(xnp.isfinite(s["f"]), end, status_code(Status.not_finite))
    return s | {"status": end}
