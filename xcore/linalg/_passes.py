"""Runs of a method, judged by the residual computed from x: what ``linear_solve`` and others call."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import cond, eval_shape, platform_dependent
from .._core import dtypes, static, struct, tree, typeof
from .._iterate import first_row, iterate, with_row
from .._solution import Status, first_that_holds
from ._arguments import modulus
from ._krylov import Problem, identity
from ._range import any_subnormal, divided, magnitude, norm, unit_of

MAX_PASSES = 30  # each but the last halves the residual
_NEAR = 8  # targets, above which a residual is too large however it is computed


@struct
class _Passes:
    """Runs of a solver, each from the residual that the last one left: what ``iterate`` drives.

    A run sees a y = r / s for the change s y of x, with a power of two s that makes the residual r of
    size 1: squares of its elements neither overflow nor vanish, and roundings are the same. A
    solver watches a residual that it keeps up to date, and that drifts from the one x has by what
    rounding did on the way. (Greenbaum 1997, "Estimating the attainable accuracy of recursively
    computed residual methods") Here it is computed from x, that one decides, and as long as a
    further run at least halves it there is one. A first run that fails has another one, with products
    divided by their sizes, if these are far from 1.
    """

    mv: Any
    precondition: Any
    solver: Any
    b: Any
    unit: Any  # of b and x: what they were divided by
    arrays: Any  # of the operator, and b as it was
    wide: Any  # products of more precision, or None
    limit: int
    progress: Any = static(default=False)

    def done(self, s):
        return ~s["again"]

    def step(self, s):
        scale, (unit, near) = magnitude(s["r"]), s["units"]
        alone = self.precondition is identity
        problem = Problem(
            divided(self.mv, unit), identity if alone else divided(self.precondition, near),
            self.solver, self._target(scale), unit * near,
        )  # fmt: skip
        spent, limit = xnp.maximum(s["steps"], 0), self._limit(unit, near)
        of = scale * self.unit
        ran, steps, rows = iterate(
            problem, self._begin(problem, s["r"] / scale), limit, steps=spent, rows=s.get("rows"),
            row=(lambda state: state["size"] * of) if "rows" in s else None, progress=self.progress,
        )  # fmt: skip
        x, r = self._moved(s["x"], (scale / unit) * ran["x"])
        if "best" in ran:
            lost = norm(r / scale) > 2 * xnp.maximum(ran["size"], problem.target)
            back = lambda: self._better(x, r, s["x"], (scale / unit) * ran["best"])  # noqa: E731
            x, r = cond(lost | ~xnp.isfinite(ran["size"]), back, lambda: (x, r))
        watched = ran["size"] <= problem.target
        size, good = self._reached(x, r, scale, ran["size"], problem.target)
        first = s["steps"] < 0
        fresh = lambda: self._units(s["r"] / scale, alone)  # noqa: E731
        units = cond(good | ~first, lambda: (unit, near), fresh)
        anew = (units[0] != unit) | (units[1] != near)
        halved = watched & ~good & (size * scale < 0.5 * s["size"])
        again = (halved | anew) & (steps < self._limit(*units))
        start = norm(s["r"] / scale)
        lower = size < start  # what failed may be worse than the start
        if self.solver.rises:
            lower = lower | ~anew
        better = (size * scale < s["size"]) & lower | (first & xnp.isfinite(size) & lower)
        status = self._ending(size, good, watched, ran["stalled"])
        kept = lambda new, old: xnp.where(better, new, old)  # noqa: E731
        return {
            "x": kept(x, s["x"]), "r": kept(r, s["r"]),
            "size": kept(size * scale, xnp.where(first, start * scale, s["size"])),
            "steps": steps, "status": xnp.where(better | first, status, s["status"]), "again": again,
            "units": units,
        } | ({"rows": with_row(rows, steps, size * of)} if "rows" in s else {})  # fmt: skip

    def _moved(self, x, change):
        """x moved, and its residual."""
        x = x + change
        x = x * self.unit / self.unit  # what is left of it when it gets its size back
        return x, self.b - self.mv(x)

    def _better(self, x, r, start, change):
        """Which of two has the smaller residual, x or what a change of the start makes."""
        other, left = self._moved(start, change)
        smaller = ~(norm(left) >= norm(r))
        return xnp.where(smaller, other, x), xnp.where(smaller, left, r)

    def _limit(self, unit, near):
        return self.limit * xnp.where((unit != 1) | (near != 1), np.int32(2), np.int32(1))

    def _units(self, r, alone: bool):
        near = magnitude(xnp.zeros_like(r)) if alone else unit_of(self.precondition(r))
        return unit_of(self.mv(r)), near

    def _begin(self, problem, r):
        state = self.solver.begin(problem, xnp.zeros_like(r), r)
        return state | {"size": norm(r), "stalled": ~self.solver.usable()}

    def _reached(self, x, r, scale, watched, target):
        """The size of b - a x, and whether it is at most the target, were it computed without rounding.

        Where it differs from the one on the solver's way, or that one is this one, and it is not far above
        the target, it is computed again in more precision: in single precision rounding of the products alone
        is of the size of what a good solution leaves. How far rounding reaches then, or where there is no more
        precision, two ways to compute it tell: from x, and from 3 x / 4.
        """
        size = norm(r / scale)
        unclear = xnp.abs(size - watched) > 0.01 * target
        unclear = xnp.ones_like(unclear) if self.solver.watches_truth else unclear
        zero = xnp.zeros_like(size)

        def doubt(mv, x, b, r):
            other = b - mv(0.75 * x) / 0.75
            return norm((other - r) / scale).astype(typeof(size).dtype)

        def again():
            mv, (x_, b) = self.wide, (y.astype(wider(typeof(y).dtype)) for y in (x, self.b))
            r = b - mv(x_)
            return norm(r / scale).astype(typeof(size).dtype), doubt(mv, x_, b, r)

        def as_it_is():
            doubtful = unclear & (size <= target)
            return size, cond(doubtful, lambda: doubt(self.mv, x, self.b, r), lambda: zero)

        def widened():
            return cond(unclear & (size <= _NEAR * target), again, lambda: (size, zero))

        if self.wide is None:
            size, off = as_it_is()
        elif typeof(size).dtype == np.float32:  # of which a TPU has no wider ones
            size, off = platform_dependent(tpu=as_it_is, default=widened)
        else:
            size, off = widened()
        told, size = size, size + off
        # elements of a and b that count as zero, though they are not, are not seen by any product
        tiny = float(xnp.finfo(typeof(size).dtype).tiny) * math.prod(typeof(x).shape) ** 1.5
        lost = tiny * (xnp.max(modulus(x), initial=0) + 1 / self.unit) / scale
        lost = lost.astype(typeof(size).dtype)
        there = (size <= target) & (lost > 0.01 * target)
        there = cond(there, lambda: any_subnormal(self.arrays), lambda: xnp.zeros((), bool))
        return told, size + xnp.where(there, lost, zero) <= target

    def _target(self, scale):
        """max(rtol |b|, atol) by the scale."""
        goal = xnp.maximum(self.solver.rtol * norm(self.b), self.solver.atol / self.unit)
        return (goal / scale).astype(scale.dtype)

    def _ending(self, size, good, watched, stalled):
        return first_that_holds(
            (~xnp.isfinite(size), Status.not_finite), (good, Status.success),
            (watched | (size == 0), Status.stagnation), (stalled, self.solver.lost),
        )  # fmt: skip


def wider(dtype):
    """The dtype of more precision that residuals are judged in; None where there is none."""
    return _WIDER.get(np.dtype(dtype).name)


_WIDER = {
    "bfloat16": np.dtype(np.float32), "float16": np.dtype(np.float32), "float32": np.dtype(np.float64),
    "complex64": np.dtype(np.complex128),
}  # fmt: skip


def products_of_more_precision(operator, b):
    """x ↦ a x on vectors like b in a wider dtype; None where the operator has no such products."""
    if (wide := wider(typeof(b).dtype)) is None:
        return None
    more = lambda x: x.astype(wider(x.dtype)) if wider(getattr(x, "dtype", "O")) else x  # noqa: E731

    def product(x):  # widened here: a platform without such numbers leaves it out
        return tree.map(more, operator).mv(x)

    try:  # functions of users may ask for the dtype that they were written for
        found = eval_shape(product, xnp.zeros(operator.shape[1], wide))
    except Exception:
        return None
    return product if getattr(found, "dtype", None) == wide else None


def solve_one(solver, mv, precondition, x0, b, arrays=(), history=False, progress=False, wide=None):
    """(x, steps, residual's norm, status) for one right-hand side, which is divided by its size first.
    With ``history`` also the residual's norms of the start and after each step. ``wide``: products of more
    precision.
    """
    limit, unit = solver.limit(math.prod(typeof(b).shape)), magnitude(b)
    arrays, b = (*arrays, b), b / unit
    passes = _Passes(mv, precondition, solver, b, unit, arrays, wide, limit, progress)
    real = dtypes.to_real(typeof(b).dtype)
    start = xnp.zeros_like(b)
    if x0 is not None:  # for b = 0 the solution is known, and no residual but 0 would be small
        start = xnp.where(xnp.any(b != 0), x0 / unit, start)
    state = {
        "x": start, "r": b if x0 is None else b - mv(start),
        "size": xnp.full((), np.inf, real), "steps": xnp.full((), -1, np.int32),  # none as yet
        "status": xnp.zeros((), np.int32), "again": xnp.ones((), bool),
        "units": (xnp.ones((), real), xnp.ones((), real)),
    }  # fmt: skip
    if history:  # another run in other units may take as many steps as the first
        first = unit * magnitude(state["r"]) * norm(state["r"] / magnitude(state["r"]))
        state["rows"] = first_row(first, 2 * limit)
    state = iterate(passes, state, MAX_PASSES).state
    rows = [state["rows"]] if history else []
    return unit * state["x"], state["steps"], unit * state["size"], state["status"], *rows


def solve_alone(solver, operator, precondition, x0, b, history=False, progress=False):
    """The same, with vectors in the shape that the operator works in, if the solver allows it.

    A stencil between reshapes would find the place of each element by divisions.
    """
    field = getattr(operator, "field", None)
    wide = products_of_more_precision(operator, b)
    how = tree.leaves(operator), history, progress
    if field is None or not solver.any_shape:
        return solve_one(solver, operator.mv, precondition, x0, b, *how, wide)

    def shaped(f):
        return lambda x: f(x.reshape(-1)).reshape(field)

    near = identity if precondition is identity else shaped(precondition)
    x0 = None if x0 is None else x0.reshape(field)
    wide = None if wide is None else shaped(wide)
    x, *rest = solve_one(solver, shaped(operator.mv), near, x0, b.reshape(field), *how, wide)
    return x.reshape(-1), *rest
