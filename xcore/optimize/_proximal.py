"""Minimisation of f + g, f smooth and g known by its proximal map: FISTA."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import PyTree, errors, static, struct, typeof
from .._iterate import checkpoints, with_row
from .._solution import Certificate
from .._width import as_wide
from ..numpy._select import safe_divide
from ._implicit import differentiable
from ._loop import empty_rows, in_rounds, iterations_from
from ._packed import loop
from ._problem import Flat, Objective, count, default_tol, largest, tolerance
from ._result import RUNNING, Result, Status, first_of, result


@struct
class FISTA:
    """Proximal gradient steps with momentum, which starts anew where it points uphill.

    Steps are shortened until the quadratic upper bound holds, and may grow again.
    (Beck, Teboulle 2009; O'Donoghue, Candès 2015)

    Attributes:
      accelerated: with momentum; without, plain proximal gradient.
      first_step: its length, relative to the reciprocal of the curvature along the gradient at x0.

    >>> import xcore.numpy as xnp
    >>> from xcore import optimize
    >>> f = lambda x: xnp.sum((x - xnp.array([2.0, 0.1])) ** 2) / 2
    >>> found = optimize.proximal_gradient(f, xnp.zeros(2), optimize.prox.l1(0.5), method=optimize.FISTA())
    >>> bool(found.ok), found.x.round(2)
    (True, Array([1.5, 0. ], dtype=float32))
    """

    accelerated: bool = static(default=True)
    first_step: float = static(default=1.0)

    def init(self, problem: Any, x: Any, tol: Any) -> dict[str, Any]:
        dtype = typeof(x).dtype
        step = self.first_step * natural_step(problem, x)
        x = problem.prox(x, step)
        f, g = problem.value_and_grad(x)
        finite = xnp.isfinite(f) & xnp.all(xnp.isfinite(g))
        return {
            "x": x, "y": x, "f": f, "g": g, "t": xnp.ones((), dtype), "size": largest(g), "step": step,
            "most": largest(g), "status": first_of((~finite, Status.not_finite)), "nit": count(0),
            "nfev": count(1), "njev": count(1),
        }  # fmt: skip

    def step(self, problem: Any, s: dict[str, Any], tol: Any) -> dict[str, Any]:
        x, y = s["x"], s["y"]
        f, g = problem.value_and_grad(y)
        noise = 8 * xnp.finfo(f.dtype).eps * xnp.abs(f)

        def shorter(c):
            step, _, n, _ = c
            step = xnp.where(n == 0, step, 0.5 * step)
            new = problem.prox(y - step * g, step)
            d = new - y
            fits = problem.value(new) <= f + xnp.vdot(g, d) + xnp.vdot(d, d / (2 * step)) + noise
            return step, new, n + np.int32(1), fits

        start = (1.1 * s["step"], x, count(0), xnp.zeros((), bool))
        # own loop: inside a step
        step, new, n, _ = loop(lambda c: ~c[3] & (c[2] < 60), shorter, start)
        # (y - new)/step is a subgradient of f + g, but for the change of f's gradient
        size, most = largest((y - new) / step), xnp.maximum(s["most"], largest(g))
        uphill = xnp.vdot(y - new, new - x) > 0
        t = xnp.where(uphill, 1, s["t"])
        t_next = 0.5 * (1 + xnp.sqrt(1 + 4 * t * t))
        momentum = xnp.where(uphill, 0, (t - 1) / t_next) if self.accelerated else 0 * t
        status = first_of(
            (f == -xnp.inf, Status.unbounded), (~xnp.isfinite(size), Status.not_finite),
            (size <= tol * most, Status.success), (xnp.all(new == x) & xnp.all(y == x), Status.stagnation),
        )  # fmt: skip
        return s | {
            "x": new, "y": new + momentum * (new - x), "f": f, "g": g, "t": t_next, "size": size,
            "most": most, "step": step, "status": status, "nit": s["nit"] + np.int32(1),
            "nfev": s["nfev"] + n, "njev": s["njev"] + np.int32(1),
        }  # fmt: skip


def natural_step(problem, x):
    """The reciprocal of the curvature along the gradient: in it is the only unit that a step can have."""
    g = problem.value_and_grad(x)[1]
    unit = largest(g)
    d = g / xnp.where(unit > 0, unit, 1)
    try:
        bend = xnp.abs(xnp.vdot(d, problem.newton(x)[1](d)))
    except Exception:  # whatever a rule that somebody wrote for first derivatives only raises
        bend = xnp.zeros_like(unit)
    length = xnp.vdot(d, d)
    plain = xnp.where((unit > 0) & (largest(x) > 0), largest(x) / xnp.where(unit > 0, unit, 1), 1)
    known = (bend > 0) & xnp.isfinite(bend)
    return safe_divide(length, bend, plain, where=known).astype(x.dtype)


def rounds(who, method, problem, x, tol, maxiter: int, history, checkpoint=None):
    """The last state: where what is computed anew at x meets the test, else the method goes on from there."""

    def judged(s):
        f, g = problem.value_and_grad(s["x"])
        moved = problem.prox(s["x"] - s["step"] * g, s["step"])
        size, most = largest((s["x"] - moved) / s["step"]), xnp.maximum(s["most"], largest(g))
        error = xnp.where(size == 0, 0, size / xnp.where(most > 0, most, 1))
        good, claimed = error <= tol, s["status"] == np.int32(Status.success)
        again = claimed & ~good & (s["nit"] < maxiter) & (s["aim"] > 0.01 * tol)
        lost = np.int32(Status.stagnation)
        status = xnp.where(claimed & ~good, lost, xnp.where(good, 0, s["status"]))
        status = xnp.where(f < xnp.inf, status, np.int32(Status.not_finite))
        return s | {
            "f": f, "g": g, "size": size, "most": most, "error": error, "aim": 0.3 * s["aim"],
            "status": xnp.where(again, RUNNING, status).astype(np.int32),
        }  # fmt: skip

    def begin(s):
        return {k: v for k, v in s.items() if k not in ("aim", "error", "history")}

    def run(s, state, checkpoint):
        return iterations_from(
            who,
            method,
            problem,
            state,
            s["aim"],
            maxiter,
            rows=s.get("history"),
            checkpoint=checkpoint,
        )

    def end(s, _, ended):
        found = judged(ended | {k: s[k] for k in ("aim", "error")})
        if "history" in found:  # steps know f and g where momentum led, ahead of x
            row = {k: found[k] for k in found["history"]}
            found["history"] = with_row(found["history"], found["nit"], row)
        return found

    start = method.init(problem, x, tol)
    aim = xnp.asarray(tol, x.dtype)
    start |= {"aim": aim, "error": xnp.full_like(aim, xnp.inf)}
    if history:
        start["history"] = empty_rows(who, history, x, maxiter)
    return in_rounds(begin, run, end, lambda s: s["status"] == RUNNING, start, checkpoint)


TESTED = "(x - prox(x - step gradient, step)) / step, the gradient of f + g, relative to the largest gradient of f seen"
METHODS = {"fista": FISTA(), "proximal-gradient": FISTA(accelerated=False)}


def proximal_gradient(
    fun: Callable[..., Any], x0: PyTree, prox: Callable[[Any, Any], Any], args: Any = (),
    method: Any = "fista", *, tol: float | None = None, maxiter: int = 5000, history: bool = False,
    checkpoint: str | Path | None = None,
) -> Result:  # fmt: skip
    """The least of ``fun`` + g, where g is given by its proximal map; or of ``fun`` in a set.

    Args:
      fun: ``fun(x, *args)``, smooth.
      x0: tree of arrays to start from.
      prox: ``prox(x, step)``, such as ``prox.l1(0.1)``, or the projection ``prox.simplex()``.
      args: further arguments.
      method: "fista", "proximal-gradient", or ``FISTA(...)``.
      tol: the largest component of (x - prox(x - step gradient, step)) / step, the gradient of fun + g,
        relative to the largest component of a gradient of ``fun`` seen; eps^0.4 by default. It bounds how far
        x is from the minimum only as well as the problem is conditioned.
      maxiter: steps at most.
      history: keep x, f, g and nfev of all iterations. Row 0 is the proximal map of x0; with momentum, f and g
        are those of the point ahead of x from where the step was made.
      checkpoint: a folder, in which the state is kept about every ten seconds; a call with the same folder goes
        on from there. Not inside of ``jit``, ``grad`` and ``vmap``. A folder of another problem is refused.

    ``fun`` of the result is the smooth part. Solutions have derivatives by x = prox(x - gradient).

    >>> import xcore.optimize as xo, xcore.numpy as xnp
    >>> f = lambda x: 0.5 * xnp.sum((x - xnp.asarray([3.0, 0.2])) ** 2)
    >>> xnp.round(xo.proximal_gradient(f, xnp.zeros(2), xo.prox.l1(1.0)).x, 2)
    Array([2., 0.], dtype=float32)
    """
    who = "optimize.proximal_gradient"
    if not callable(prox):
        raise TypeError(
            f"xcore.{who}: prox must be a function of (x, step), given {errors.describe(prox)}."
        )
    if isinstance(method, str):
        if method not in METHODS:
            raise ValueError(
                f"xcore.{who}: method must be one of {', '.join(METHODS)}, given {method!r}."
            )
        method = METHODS[method]
    flat = Flat(who, "x0", as_wide(fun, x0, args))
    problem = Objective(who, fun, flat, args)
    problem.prox = lambda x, step: flat.join(prox(flat.split(x), step))
    tol = tolerance(who, tol, default_tol(flat.dtype))

    def whole(x):
        return problem.value(x), problem.prox(x, xnp.ones((), x.dtype))

    checkpoint = checkpoints(who, checkpoint, whole, flat.start)  # pyright: ignore[reportAssignmentType]

    def solve(x):
        s = rounds(who, method, problem, x, tol, maxiter, history, checkpoint)
        aux = {k: s[k] for k in ("size", "error", "status", "nit", "nfev", "njev", "g")} | {
            "value": s["f"]
        }
        return s["x"], aux | ({"history": s["history"]} if history else {})

    def equation(x):
        return x - problem.prox(x - problem.value_and_grad(x)[1], xnp.ones((), x.dtype))

    x, aux = differentiable(equation, problem.value, solve, flat.start, problem, checkpoint)
    return result(
        flat.split(x), aux["value"], flat.split(aux["g"]), aux["status"], aux["nit"], aux["nfev"],
        aux["njev"], Certificate(stationarity=aux["size"], error=aux["error"], tested=TESTED), aux.get("history"),
    )  # fmt: skip
