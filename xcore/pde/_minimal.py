"""Krylov's methods for operators on grids: conjugate gradients, and minimal residuals with any preconditioner.

All stop by the residual computed from x, in the norm of rows as users see them, and by default also in that of rows
of equal size, as where coefficients jump the former sees the stiffest region alone; or where rounding stops them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import cond
from .._core import dtypes, static, struct, typeof
from .._iterate import Steps, iterate
from .._solution import Status, first_that_holds
from ..linalg._cg import cg_begin, cg_step
from ..linalg._range import inner, norm
from ..numpy._select import safe_divide

_WINDOW = 30  # directions that are kept
_IDLE = 30  # steps in a row that change next to nothing: rounding, or the method, allows no more
_ROUNDINGS = 2
_TRIED = 10  # steps before which nothing is said of how many it will be


@struct
class Equation:
    """The equation a x = b, scaled such that its numbers are near 1.

    Attributes:
      a: the operator as users know it, in differences where it has them: elements lose what is small beside them.
      m: about its inverse.
      b: the right-hand side.
      sizes: the sums of the absolute values of its rows.
      rows: factors that make residuals those that users see.
      even: factors that make all rows of a of size 1.
      definite: whether what rounding explains must also leave the energies x̄ a x and x̄ b as near as half of the
        digits: of errors along smooth fields a residual shows little.
    """

    a: Any
    m: Any
    b: Any
    sizes: Any
    rows: Any
    even: Any
    definite: bool = static(default=False)

    def excess(self, x, r, goal):
        """By how much the residual is too large: at most 1 where it is small enough.

        ``goal``: relative to b; None for what the dtype allows, in both norms.
        """
        own = goal is None
        rtol = _default(r) if own else goal
        floor = _ROUNDINGS * float(dtypes.finfo(typeof(r).dtype).eps) * self.sizes * xnp.abs(x)

        def of(scale):
            allowed = xnp.maximum(rtol * norm(scale * self.b), norm(scale * floor))
            left = norm(scale * r)
            return safe_divide(left, allowed, xnp.where(left > 0, np.inf, 0), where=allowed > 0)

        most = xnp.maximum(of(self.rows), of(self.even)) if own else of(self.rows)
        return xnp.maximum(most, self._off_balance(x, r)) if own and self.definite else most

    def _off_balance(self, x, r):
        most = float(dtypes.finfo(typeof(r).dtype).eps) ** 0.5 / 16  # of what is a success
        off, energy = xnp.abs(inner(x, r)), xnp.abs(inner(x, self.b - r))
        small = norm(self.rows * r) <= _default(r) * norm(self.rows * self.b)
        return xnp.where(small, 0, safe_divide(off, most * energy, off, where=energy > 0))


def _default(r) -> float:
    return float(dtypes.finfo(dtypes.to_real(typeof(r).dtype)).eps) ** (2 / 3)


@struct
class How:
    """The settings of a run."""

    method: str = static(default="cg")
    goal: Any = static(default=None)
    max_steps: int = static(default=100)
    history: bool = static(default=False)
    progress: Any = static(default=False)
    patience: Any = static(default=None)  # gives up where it will take more steps than that


def run(e: Equation, how: How) -> tuple:
    """(x, steps, status, norms of the residual or None)."""
    begin, advance = _METHODS[how.method]

    def start():
        zero = xnp.zeros_like(e.b)
        state = begin(e, zero, e.b, how)
        none = xnp.zeros((), np.int32)
        state = state | _judged(e, state, e.b, how) | {"idle": none, "best": zero, "taken": none}
        return state | {"first": state["excess"]}

    def step(s):
        new = advance(e, s)
        r = cond(e.excess(new["x"], new["r"], how.goal) <= 1,
                 lambda: e.b - e.a(new["x"]), lambda: new["r"])  # fmt: skip
        new = new | {"r": r}
        new = new | _judged(e, new, r, how)
        better = new["least"] < 0.9 * s["least"]
        return new | {
            "least": xnp.minimum(new["least"], s["least"]),  # NaN stays, and ends it
            "best": xnp.where(new["least"] <= s["least"], new["x"], s["best"]),
            "idle": xnp.where(better, np.int32(0), s["idle"] + np.int32(1)),
            "taken": s["taken"] + np.int32(1),
            "lost": new["lost"] | _slow(s, new, how.patience),
        }

    def done(s):
        return (s["excess"] <= 1) | ~xnp.isfinite(s["excess"]) | s["lost"] | (s["idle"] >= _IDLE)

    first = start()
    row = (lambda s: s["size"]) if how.history else None
    ran = iterate(Steps(step, done), first, how.max_steps, row=row, progress=how.progress)
    s = ran.state
    status = first_that_holds(
        (~xnp.isfinite(s["excess"]), Status.not_finite), (s["excess"] <= 1, Status.success),
        (s["lost"] | (s["idle"] >= _IDLE), Status.stagnation),
    )  # fmt: skip
    return s["best"], ran.steps, status, ran.rows


def _slow(s: dict, new: dict, patience):
    """Whether, as it went, more steps than these will be needed; the first few tell nothing."""
    if patience is None:
        return xnp.zeros((), bool)
    taken, least = s["taken"] + np.int32(1), xnp.minimum(s["least"], new["least"])
    gained = xnp.log(s["first"] / xnp.minimum(least, s["first"]))
    return (taken >= _TRIED) & (taken * xnp.log(s["first"]) > patience * gained)


def _judged(e: Equation, s: dict, r, how: How) -> dict:
    excess = e.excess(s["x"], r, how.goal)
    return {"excess": excess, "least": excess, "size": norm(e.rows * r)}


# Conjugate gradients


def _cg_begin(e, x, r, how):
    return cg_begin(x, r, flexible=True) | {"lost": xnp.zeros((), bool)}


def _cg_advance(e, s):
    new, curvature = cg_step(s, e.a, e.m, flexible=True)
    return s | new | {"lost": ~(xnp.real(curvature) > 0)}


# Refinement, where m is the inverse but for rounding


def _plain_begin(e, x, r, how):
    return {"x": x, "r": r, "lost": xnp.zeros((), bool)}


def _plain_advance(e, s):
    x = s["x"] + e.m(s["r"])
    x = x + e.m(e.b - e.a(x))  # for what the elements lost that the operator in differences has
    return s | {"x": x, "r": e.b - e.a(x)}


# Minimal residuals


def _gcr_begin(e, x, r, how):
    """The state, with room for directions z and their images w = a z, which are orthogonal.

    (Eisenstat, Elman and Schultz 1983, "Variational iterative methods for nonsymmetric systems of linear equations")
    """
    k = min(_WINDOW, how.max_steps)
    room = xnp.zeros((k, *typeof(r).shape), typeof(r).dtype)
    zero = xnp.zeros((), np.int32)
    return {"x": x, "r": r, "zs": room, "ws": room, "count": zero, "lost": xnp.zeros((), bool)}


def _gcr_advance(e, s):
    """The residual is made as small as its last directions allow, in the norm of even rows."""
    z = e.m(s["r"])
    w = e.even * e.a(z)
    axes = tuple(range(1, typeof(s["ws"]).ndim))
    for _ in range(2):  # once more: rounding leaves a little
        shares = xnp.sum(xnp.conj(s["ws"]) * w, axis=axes)
        w = w - xnp.tensordot(shares, s["ws"], axes=(0, 0))
        z = z - xnp.tensordot(shares, s["zs"], axes=(0, 0))
    length = norm(w)
    z, w = (
        safe_divide(z, length.astype(typeof(z).dtype)),
        safe_divide(w, length.astype(typeof(w).dtype)),
    )
    by = inner(w, e.even * s["r"])
    place = s["count"] % typeof(s["ws"]).shape[0]
    return s | {
        "x": s["x"] + by * z, "r": s["r"] - (by * w) / e.even,
        "zs": s["zs"].at[place].set(z), "ws": s["ws"].at[place].set(w),
        "count": s["count"] + np.int32(1), "lost": ~(length > 0),
    }  # fmt: skip


_METHODS = {
    "cg": (_cg_begin, _cg_advance), "gcr": (_gcr_begin, _gcr_advance), "refine": (_plain_begin, _plain_advance),
}  # fmt: skip
