"""Global minimisation: populations that evolve, and many starts at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import numpy as xnp
from .. import random
from .._control import vmap
from .._control.once import once
from .._core import Key, PyTree, is_evaluating, tree, typeof
from .._iterate import history_of
from .._solution import Certificate
from .._width import are_plain, as_wide, width_of
from ._bounds import box_of, columns_of, is_sides, refuse_ambiguous
from ._box import projected_gradient
from ._implicit import at_once
from ._loop import iterations
from ._minimize import minimize
from ._problem import Flat, Objective, as_tuple, count, largest, tolerance
from ._result import RUNNING, Result, Status, first_of, result


def differential_evolution(
    fun: Callable[..., Any], bounds: Any, args: Any = (), *, key: Key, popsize: int = 15,
    mutation: float | Sequence[float] = (0.5, 1.0), recombination: float = 0.7, tol: float = 0.01,
    atol: float = 0.0, maxiter: int = 1000, polish: bool = True, x0: PyTree = None,
) -> Result:  # fmt: skip
    """The least of a function in a box, by a population that mixes with itself. (Storn, Price 1997)

    Each generation is one vectorised evaluation: for every member the best one plus a scaled
    difference of two others, some of whose coordinates are taken over where that is an improvement.

    Args:
      fun: ``fun(x, *args)``, a real scalar; it is mapped over the population by ``vmap``.
      bounds: a tuple (lower, upper) of trees of finite numbers, and x is a tree like them; or, for a
        vector x, a list with a pair (least, greatest) for each variable, or an object with lb and ub.
      args: further arguments.
      key: random key.
      popsize: members for each variable.
      mutation: the scale of differences, or a pair between which it is drawn for each generation.
      recombination: the probability with which a coordinate is taken over.
      tol, atol: stop when values deviate by less than atol + tol m, m being the lesser of their mean's size and of
        how far the first ones deviated, so that what is added to all of them changes nothing.
      maxiter: generations at most.
      polish: end with L-BFGS-B from the best member.
      x0: a tree to be among the first members.

    A success says that the values of the population have gathered, and nothing of lower values elsewhere; the
    certificate says how far x is from the minimum that it gathered at, if it was polished.

    >>> import xcore as xc, xcore.optimize as xo, xcore.numpy as xnp
    >>> bumps = lambda x: xnp.sum(x**2 + 10 - 10 * xnp.cos(2 * xnp.pi * x))
    >>> box = (-5 * xnp.ones(2), 5 * xnp.ones(2))
    >>> found = xo.differential_evolution(bumps, box, key=xc.random.key(0))
    >>> bool(found.fun < 1e-4)
    True
    """
    who = "optimize.differential_evolution"
    bounds = _sides(who, bounds, fun, args)
    flat = Flat(who, "bounds", bounds[0])
    lower, upper = box_of(who, flat, bounds)
    if is_evaluating() and not bool(xnp.all(xnp.isfinite(lower) & xnp.isfinite(upper))):
        raise ValueError(f"xcore.{who}: all bounds must be finite, given {bounds}.")
    problem = Objective(who, fun, flat, args)
    tol, atol = tolerance(who, tol, 0.01), tolerance(who, atol, 0.0, "atol")
    first = None if x0 is None else flat.join(x0)

    def run(key):
        return _evolve(
            problem, lower, upper, key, popsize * flat.size, mutation, recombination, (tol, atol),
            maxiter, first,
        )  # fmt: skip

    s = at_once(run, problem, key) if is_evaluating() else run(key)
    x, f, g, nfev, known = s["x"], s["f"], None, s["nfev"], Certificate()
    if polish:
        last = minimize(fun, flat.split(x), args, "lbfgsb", bounds=bounds)
        better = last.fun <= f
        x, f = xnp.where(better, flat.join(last.x), x), xnp.where(better, last.fun, f)
        g = flat.split(problem.value_and_grad(x)[1])
        nfev = nfev + last.nfev
        left = xnp.where(better, last.certificate.error, xnp.inf)
        known = last.certificate.replace(
            stationarity=largest(projected_gradient(x, flat.join(g), lower, upper)), error=left
        )
    status = xnp.where(f == -xnp.inf, np.int32(Status.unbounded), s["status"])
    return result(
        flat.split(x), f, g, status, s["nit"], nfev, count(0), known,
        stats={"population": s["points"], "population_values": s["values"]},
    )  # fmt: skip


def _sides(who, bounds, fun, args) -> tuple:
    """(lower, upper) of bounds in any form, as wide as fun where they are Python's numbers.

    A tuple of two pairs would be a tree of two numbers.
    """
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        return xnp.asarray(bounds.lb), xnp.asarray(bounds.ub)
    if is_sides(bounds):
        refuse_ambiguous(who, 2, bounds, tuple, True)
        return as_wide(lambda sides: fun(sides[0], *as_tuple(args)), bounds)
    narrow = columns_of(who, bounds)
    plain = callable(fun) and are_plain(bounds)
    kind = width_of(fun, narrow[0].astype(float), args) if plain else None
    return tuple(columns_of(who, bounds, dtype=kind))


def _evolve(problem, lower, upper, key, size, mutation, recombination, tolerances, maxiter, first):
    n, dtype, width = typeof(lower).shape[0], lower.dtype, upper - lower
    tol, atol = tolerances
    size = max(size, 5)
    value = vmap(lambda z: problem.value(lower + z * width))
    start_key, key = random.split(key)
    # Latin hypercube: one member in each slice of each axis
    slices = vmap(lambda k: random.permutation(k, size))(random.split(start_key, n)).T
    shift = random.uniform(random.fold_in(start_key, 1), (size, n), dtype)
    points = (slices.astype(dtype) + shift) / size
    if first is not None:
        points = points.at[0].set((first - lower) / xnp.where(width == 0, 1, width))
    safe = lambda f: xnp.where(xnp.isnan(f), xnp.inf, f)  # noqa: E731
    values = safe(value(points))
    low, high = mutation if isinstance(mutation, (tuple, list)) else (mutation, mutation)
    members = xnp.arange(size, dtype=np.int32)
    first_unit = _unit_of(values)
    first_spread = xnp.std(values / first_unit, where=xnp.isfinite(values))

    def generation(s):
        own = random.fold_in(key, s["nit"])
        numbers = random.uniform(own, (size, n + 4), dtype)
        scale = low + (high - low) * numbers[0, n]
        # two others, by shifts that are neither 0 nor equal
        i = 1 + (numbers[:, n + 1] * (size - 1)).astype(np.int32)
        j = 1 + (numbers[:, n + 2] * (size - 2)).astype(np.int32)
        j = xnp.where(j >= i, j + 1, j)
        points, values = s["points"], s["values"]
        best = points[xnp.argmin(values)]
        mutant = best + scale * (points[(members + i) % size] - points[(members + j) % size])
        taken = numbers[:, :n] < recombination
        one = (numbers[:, n + 3] * n).astype(np.int32)[:, None] == xnp.arange(n, dtype=np.int32)
        trial = xnp.where(taken | one, mutant, points)
        # what leaves the box is reflected back into it
        trial = xnp.abs(trial)
        trial = xnp.clip(xnp.where(trial > 1, 2 - trial, trial), 0, 1)
        found = safe(value(trial))
        better = found <= values
        points, values = xnp.where(better[:, None], trial, points), xnp.where(better, found, values)
        unit = _unit_of(values)
        least = xnp.minimum(xnp.abs(xnp.mean(values / unit)), first_unit / unit * first_spread)
        spread = xnp.std(values / unit) <= atol / unit + tol * least
        return {
            "points": points, "values": values, "nit": s["nit"] + np.int32(1),
            "status": first_of((spread, Status.success)),
        }  # fmt: skip

    state = {
        "points": points, "values": values, "nit": count(0),
        "status": first_of((xnp.all(values == xnp.inf), Status.not_finite)),
    }  # fmt: skip
    going = lambda s: (s["status"] == RUNNING) & (xnp.min(s["values"]) > -xnp.inf)  # noqa: E731
    s = iterations(going, generation, state, maxiter)
    best = xnp.argmin(s["values"])
    status = xnp.where(s["status"] == RUNNING, np.int32(Status.max_steps), s["status"])
    return s | {
        "x": lower + s["points"][best] * width, "f": s["values"][best], "status": status,
        "nfev": (s["nit"] + np.int32(1)) * np.int32(size), "points": lower + s["points"] * width,
    }  # fmt: skip


def _unit_of(values):
    """The largest finite size, whose square may be no number; 1 where all are 0."""
    most = xnp.max(xnp.where(xnp.isfinite(values), xnp.abs(values), 0))
    return xnp.where(most > 0, most, 1)


def multistart(
    fun: Callable[..., Any], starts: PyTree, args: Any = (), method: Any = None, **settings: Any
) -> Result:
    """The best of the minima found from many starts at once, by ``vmap``.

    Args:
      fun: ``fun(x, *args)``, a real scalar.
      starts: tree of arrays with the starts along the first axis.
      args: further arguments.
      method: of ``minimize``.
      settings: its other ones, by name.

    Returns the ``Result`` of the best start; ``stats["all"]`` has those of all.

    >>> import xcore.optimize as xo, xcore.numpy as xnp
    >>> f = lambda x: (x**2 - 1) ** 2 + 0.3 * x
    >>> round(float(xo.multistart(f, xnp.asarray([-2.0, 0.5, 2.0])).x), 2)
    -1.04
    """

    def run(starts):
        every = vmap(lambda x: minimize(fun, x, args, method, **settings))(starts)
        value = xnp.where(xnp.isfinite(every.fun), every.fun, xnp.inf)
        best = xnp.argmin(value)
        return tree.map(lambda leaf: leaf[best], every), every

    best, every = (once(run) if is_evaluating() else run)(tree.map(xnp.asarray, starts))  # pyright: ignore[reportGeneralTypeIssues]
    return best.replace(stats={"all": every}, history=history_of(best.history, best.steps))
