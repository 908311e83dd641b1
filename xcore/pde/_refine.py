"""Grids are refined until a functional of the solution is known well enough."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import ArrayLike, errors, require
from .._solution import Certificate, Status
from ._estimate import accuracy, functional, left
from ._fields import GridOperator
from ._grid import Grid, size
from ._solutions import FieldSolution
from ._solve import solve

_WHO = "pde.refine"


def refine(
    make: Callable[[Grid], GridOperator], f: Any, grid: Grid, *,
    of: Callable[[Any, GridOperator], ArrayLike], rtol: float = 1e-3, most: int = 300_000,
    report: bool = False,
) -> Any:  # fmt: skip
    """The solution of make(grid)(u) + boundary = f on a grid so fine that the estimated error of a functional is at
    most rtol times its value: cells are halved until it is.

    The estimate is that of ``solve(…, estimate=make, of=of)``: by what three grids tell of how errors fall. Not
    under jit, grad and vmap: which grid it is hangs on values.

    Args:
      make: function of a grid that makes the operator there.
      f: a number or a function of the coordinates.
      grid: the coarsest grid.
      of: functional of (u, op), as ``lambda u, op: op.integrate(u)``.
      rtol: of the functional's value.
      most: unknowns of the finest grid.
      report: return a ``FieldSolution`` instead of raising SolverError where that is not enough. Its certificate has
        ``functional``, ``functional_error`` and ``functional_order``; ``value`` is the field on the finest grid.

    >>> from xcore.pde import Laplacian
    >>> found = refine(Laplacian, -1.0, Grid((8, 8)), of=lambda u, op: op.integrate(u), report=True)
    >>> bool(found.ok), found.value.shape, round(float(found.certificate.functional), 4)
    (True, (63, 63), 0.0351)
    """
    require("positive", _WHO, rtol=rtol, most=most)
    if not callable(make) or isinstance(make, GridOperator) or not isinstance(grid, Grid):
        want = "a function of a grid that makes an operator, and a pde.Grid as the third argument"
        raise errors.bad_argument(_WHO, "make, grid", (make, grid), want)
    if not (callable(f) or xnp.ndim(f) == 0):
        raise errors.bad_argument(
            _WHO,
            "f",
            errors.Words(f"an array {xnp.shape(f)}"),
            "a number or a function of the coordinates",
        )
    values: list = []
    while True:  # own loop: each step is another program
        op = make(grid)
        if not isinstance(op, GridOperator) or op.grid != grid:
            given = errors.Words(f"one on {op.grid}") if isinstance(op, GridOperator) else op
            want = f"an operator of xcore.pde on the grid that it was given, {grid}"
            raise errors.bad_argument(_WHO, "make(grid)", given, want)
        answer = solve(op, f, report=True)
        values.insert(0, functional(_WHO, of, answer.value, op))
        gaps = [xnp.abs(a - b) for a, b in itertools.pairwise(values)][:2]
        error, order = left(gaps, 2.0 ** accuracy(op)) if len(gaps) > 1 else (np.inf, np.nan)
        done = bool(error <= rtol * xnp.abs(values[0]))
        if done or not bool(answer.ok) or size(grid.finer().shape) > most:
            break
        grid = grid.finer()
    status = (
        answer.status if done or not bool(answer.ok) else xnp.asarray(np.int32(Status.max_steps))
    )
    figures = {
        "functional": values[0], "functional_error": xnp.asarray(error),
        "functional_order": xnp.asarray(order),
    }  # fmt: skip
    found = FieldSolution(
        answer.value, status, Certificate(more=figures), xnp.asarray(np.int32(len(values))), answer.error,
        None, who=_WHO, method=answer.method, reason=answer.reason, goal=answer.goal,
        advice=((Status.max_steps, " with most"),),
    )  # fmt: skip
    return found if report else found.check().value
