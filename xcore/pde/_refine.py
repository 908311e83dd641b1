"""Grids are refined until a functional of the solution is known well enough."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .._core import Array, ArrayLike, errors, require
from ._estimate import MOST, checked, refined, source, upwards
from ._fields import GridOperator
from ._grid import Grid
from ._solutions import FieldSolution
from ._solve import solve

_WHO = "pde.refine"


def refine(
    make: Callable[[Grid], GridOperator], f: Any, grid: Grid, *,
    of: Callable[[Any, GridOperator], ArrayLike], rtol: float = 1e-3, most: int = MOST,
    report: bool = False,
) -> Array | FieldSolution:  # fmt: skip
    """The solution of make(grid)(u) + boundary = f on a grid so fine that the estimated error of a functional is at
    most rtol times its value: cells are halved until it is.

    The estimate is that of ``solve(…, estimate=make, of=of)``, no bound: by what three grids tell of how errors fall;
    what falls faster than the order of the operator counts as falling by that. Not under jit, grad and vmap: which grid
    it is hangs on values. ``solve(op, f, rtol=…, of=…)`` does it for operators made of numbers and functions.

    Args:
      make: function of a grid that makes the operator there.
      f: a number or a function of the coordinates.
      grid: the coarsest grid.
      of: functional of (u, op), as ``lambda u, op: op.integrate(u)``; the same one on all grids, so not u[3].
      rtol: of the functional's value. Where the residual of the equations is larger, that ends it, too.
      most: unknowns of the finest grid.
      report: return a ``FieldSolution`` instead of raising SolverError where that is not enough. Its certificate has
        ``functional``, ``functional_error`` and ``functional_order``, and the equations' ``residual``; ``value`` is the
        field on the finest grid, ``error`` the estimated one relative to the functional, ``history`` its values on
        all grids, of which there are ``steps`` + 1.

    >>> from xcore.pde import Laplacian
    >>> found = refine(Laplacian, -1.0, Grid((8, 8)), of=lambda u, op: op.integrate(u), report=True)
    >>> bool(found.ok), found.value.shape, round(float(found.certificate.functional), 4)
    (True, (63, 63), 0.0351)
    """
    require("positive", _WHO, rtol=rtol, most=most)
    if not callable(make) or isinstance(make, GridOperator) or not isinstance(grid, Grid):
        want = "a function of a grid that makes an operator, and a pde.Grid as the third argument"
        raise errors.bad_argument(_WHO, "make, grid", (make, grid), want)
    f, make = source(_WHO, f), checked(_WHO, "make(grid)", make)
    again = functools.partial(solve, report=True)
    found = refined(_WHO, again, make, f, upwards(grid), of, float(rtol), most, " with most")
    return found if report else found.check().value
