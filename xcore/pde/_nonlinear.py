"""Nonlinear equations f(u) = 0 for fields, by Newton's method with iterative linear solutions.

Each step solves ∂f/∂u s = -f(u) to a few digits by products with the derivative, preconditioned by
the inverse of an operator that is near to it, and goes as far along s as the residual falls.
(Knoll and Keyes 2004, "Jacobian-free Newton–Krylov methods")
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import custom_root, jvp, while_loop
from .._core import Array, ArrayLike, dtypes, errors, require, static, struct, typeof
from .._iterate import checkpoints, history_of, iterate
from .._solution import Status
from ..linalg import BiCGStab, FunctionOperator, linear_solve
from ..linalg._range import safe_norm
from ._diffusion import Diffusion
from ._direct import solve_direct
from ._laplacian import Laplacian
from ._masked import Masked
from ._multigrid import cycle, hierarchy
from ._solutions import FieldSolution
from ._solve import smoother_for

_FORCING = 1e-3  # how well the linear systems are solved; each step gains about so much at the end
_HALVINGS = 12  # of a step at most
_FAST = 1e-2  # what a step leaves of the residual next to a solution; down a slope to infinity 1/e, at double roots 1/4


def solve_nonlinear(
    f: Callable[[Array], Array], x0: ArrayLike, preconditioner: Any, *, rtol: float | None = None,
    max_steps: int = 50, report: bool = False, history: bool = False, progress: str | bool = False,
    checkpoint: str | Path | None = None,
) -> Array | FieldSolution:  # fmt: skip
    """The field u with f(u) = 0, by Newton's method. Derivatives cost one linear solution more.

    Args:
      f: function from a field to a field: what must vanish. It may use arrays from around it;
        derivatives with respect to these exist.
      x0: where to start: a field.
      preconditioner: a ``Laplacian``, ``Diffusion`` or ``Masked`` whose inverse is a good guess of that of
        the derivative of f, but for a factor. Of a Laplacian it is taken exactly, of others by a
        multigrid cycle.
      rtol: tolerance for the residual |f(u)|, relative to |∂f/∂u u|, or to that at the start where the last step
        divided it by 100 at least, as steps do next to a solution, and not on the way down a function without
        one; the dtype's precision to the power of 2/3 by default.
      max_steps: at most this many steps.
      report: return a ``FieldSolution`` instead of raising SolverError where the tolerance is not reached.
      history: with ``report``, keep the relative residual of the start and of each step.
      progress: show the number of steps and their rate; a text is the label.
      checkpoint: a folder, in which the state is kept about every ten seconds; a call with the same folder goes
        on from there. Not inside of ``jit``, ``grad`` and ``vmap``. A folder of another problem is refused.

    >>> from xcore.pde import Grid
    >>> lap = Laplacian(Grid(16))
    >>> bratu = lambda u: lap(u) + xnp.exp(u)
    >>> round(float(solve_nonlinear(bratu, lap.field(0.0), lap).max()), 3)
    0.141
    """
    who = "pde.solve_nonlinear"
    if not callable(f):
        raise errors.bad_argument(who, "f", f, "a function of a field")
    near = preconditioner
    if not isinstance(near, (Laplacian, Diffusion, Masked)):
        raise errors.bad_argument(
            who, "preconditioner", near, "a Laplacian, a Diffusion or a Masked"
        )
    u = near.field(x0)
    got = typeof(xnp.asarray(f(u)))
    if got.shape != typeof(u).shape:
        why = f"f must give a field {typeof(u).shape}"
        raise errors.shape_mismatch(who, why, result=xnp.zeros(got.shape))
    rtol = float(dtypes.finfo(typeof(u).dtype).eps) ** (2 / 3) if rtol is None else float(rtol)
    require("positive", who, rtol=rtol, max_steps=max_steps)
    back, kept = _guess(near), checkpoints(who, checkpoint, f, u)

    def solve(f, u):
        r = f(u)
        size = safe_norm(r)
        newton = _Newton(f, back, size, rtol)
        no = size != size
        state = {"u": u, "r": r, "size": size, "terms": newton.terms(u), "stalled": no, "fast": no}
        row = (lambda s: s["size"] / newton.scale(s)) if history else None
        state, steps, rows = iterate(
            newton, state, max_steps, row=row, progress=progress, checkpoint=kept
        )
        good = newton.reached(state)
        status = xnp.where(good, np.int32(Status.success), np.int32(Status.max_steps))
        status = xnp.where(state["stalled"] & ~good, np.int32(Status.stagnation), status)
        status = xnp.where(xnp.isfinite(state["size"]), status, np.int32(Status.not_finite))
        relative = state["size"] / newton.scale(state)
        return state["u"], (steps, relative, status.astype(np.int32), rows)

    def tangent(g, y):
        return _linear(g, y, back, min(rtol, 1e-6))

    if kept is None:
        u, (steps, residual, status, rows) = custom_root(f, u, solve, tangent, has_aux=True)
    else:  # there is nothing to differentiate
        u, (steps, residual, status, rows) = solve(f, u)
    answer = FieldSolution(
        u, status, None, steps, residual, None if rows is None else history_of(rows, steps), who=who,
        method="newton", reason="the equation is not linear",
    )  # fmt: skip
    return answer if report else answer.check().value


@struct
class _Newton:
    """What ``iterate`` drives."""

    f: Any = static()
    back: Any = static()
    first: Any = 0.0
    rtol: float = static(default=1e-8)

    def terms(self, u):
        """The size of f's terms, which cancel near solutions."""
        return safe_norm(jvp(self.f, (u,), (u,))[1])

    def scale(self, s):
        """What a residual is compared with, in the units of f."""
        size = xnp.where(s["fast"], xnp.maximum(self.first, s["terms"]), s["terms"])
        return xnp.where(size == 0, xnp.where(s["size"] == 0, 1, s["size"]), size)

    def reached(self, s):
        return s["size"] <= self.rtol * self.scale(s)

    def done(self, s):
        return self.reached(s) | s["stalled"] | ~xnp.isfinite(s["size"])

    def step(self, s):
        u = s["u"]
        way = _linear(lambda v: jvp(self.f, (u,), (v,))[1], -s["r"], self.back, _FORCING)

        def shorter(carry):
            t, k, _, _ = carry
            return self._at(u, way, t / 2, k + 1)

        def too_long(carry):
            t, k, _, size = carry
            return ~(size <= (1 - 1e-4 * t) * s["size"]) & (k < _HALVINGS)

        one, zero = xnp.ones((), typeof(u).dtype), xnp.zeros((), np.int32)
        # own loop: inside a step
        t, _, r, size = while_loop(too_long, shorter, self._at(u, way, one, zero))
        better = size < s["size"]
        keep = lambda new, old: xnp.where(better, new, old)  # noqa: E731
        u = keep(u + t * way, u)
        return {"u": u, "r": keep(r, s["r"]), "size": keep(size, s["size"]),
                "terms": self.terms(u), "stalled": ~better,
                "fast": size <= _FAST * s["size"]}  # fmt: skip

    def _at(self, u, way, t, k):
        r = self.f(u + t * way)
        return t, k, r, safe_norm(r)


def _linear(g, y, back, rtol: float):
    """v with g(v) = y."""
    shape, n = typeof(y).shape, typeof(y).size
    a = FunctionOperator(lambda _, x: g(x.reshape(shape)).reshape(-1), None, (n, n))
    m = FunctionOperator(lambda _, x: back(x.reshape(shape)).reshape(-1), None, (n, n))
    solver = BiCGStab(rtol=rtol, max_steps=200)
    return linear_solve(a, y.reshape(-1), solver, preconditioner=m, report=True).value.reshape(
        shape
    )


def _guess(near):
    """About the inverse of an operator."""
    if isinstance(near, Laplacian):
        return lambda r: solve_direct(near, r)
    level, smoother = hierarchy(near), smoother_for(near)
    return lambda r: -cycle(level, near.volumes(typeof(r).dtype) * r, "V", smoother, 3)
