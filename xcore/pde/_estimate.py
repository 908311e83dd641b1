"""How far solutions on grids are from those of the equation, by what coarser grids make of it.

With errors c h^p the differences between one grid and the next fall by r = 2^p from grid to grid, and what is left
behind the finest is the last difference over r - 1. (Richardson 1911) Three grids tell r; it counts for no more than
the order that the operator promises, so errors that fall faster by chance are not trusted to go on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from .. import numpy as xnp
from .._core import Tracer, dtypes, errors, typeof
from .._solution import Certificate, Status, first_that_holds
from ..numpy._select import safe_divide
from ._anew import maker
from ._fields import Combined, Composed, GridOperator
from ._geometry import coarser_masked
from ._grid import Grid, size, takes
from ._masked import Masked
from ._operators import Advection
from ._solutions import FieldSolution

MOST = 300_000  # unknowns, if nothing else is said
_FEWEST = 4  # cells along an axis of the coarsest grid
_FEWEST_TO_REFINE = 8  # on fewer the differences of values are often small by chance
_SLOWEST = 1.2  # r of errors that hardly fall: five times the last difference


def compare(who: str, solve: Callable, op, f, u, make, of) -> dict:
    """Figures for a certificate: the largest error, and of a functional its value, error and order.

    ``solve(op, f)`` gives a report; ``make`` is None or a function that makes the operator on a grid.
    """
    levels = [(op, u, True)]
    for _ in range(2):
        last = levels[-1][0]
        if len(levels) == 2 and not _can_be_halved(last.grid):
            break
        coarse = coarser(who, last, make)
        answer = solve(coarse, _thinned(op, f, coarse))
        levels.append((coarse, answer.value, answer.ok))
    most, good = 2.0 ** accuracy(op), levels[1][2]
    gaps = [
        xnp.max(xnp.abs(_apart(a, x, b, y))) for (a, x, _), (b, y, _) in itertools.pairwise(levels)
    ]
    known = lambda x: xnp.where(good, x, np.nan)  # noqa: E731
    more = {"discretization_error": known(left(gaps, most)[0])}
    if of is not None:
        values = [functional(who, of, x, level) for level, x, _ in levels]
        steps = [xnp.abs(a - b) for a, b in itertools.pairwise(values)]
        error, order = left(steps, most)
        more |= {
            "functional": values[0],
            "functional_error": known(error),
            "functional_order": order,
        }
    return more


def refined(
    who: str, solve: Callable, make: Callable, f, grids: Iterator[Grid], of, rtol: float, most: int,
    advice: str,
) -> FieldSolution:  # fmt: skip
    """The solution on the first of ever finer grids that tell the functional to rtol times its value.

    ``solve(op, f)`` gives a report. The error is the estimated one of the functional, relative to it.
    """
    values: list = []
    for grid, next_one in itertools.pairwise(grids):  # own loop: each step is another program
        op = make(grid)
        answer = solve(op, f)
        if isinstance(answer.status, Tracer):
            raise errors.ConcretizationError(_TRACED.format(who=who))
        values.insert(0, functional(who, of, answer.value, op))
        error, order = _of_functional(values, 2.0 ** accuracy(op))
        relative = _relative(error, values[0])
        status = _ended(answer, values[0], relative, rtol)
        if status != Status.running or size(next_one.shape) > most:
            break
    figures = {"functional": values[0], "functional_error": error, "functional_order": order}
    end = status if status != Status.running else xnp.asarray(np.int32(Status.max_steps))
    said = {Status.max_steps: advice, Status.stagnation: _ROUNDED}
    return answer.replace(
        status=end, certificate=Certificate(residual=answer.error, more=figures), who=who,
        steps=xnp.asarray(np.int32(len(values) - 1)), error=relative, goal=rtol,
        history=xnp.stack(values[::-1]), advice=tuple(said.items()),
    )  # fmt: skip


_TRACED = (
    "xcore.{who}: with rtol and of grids are refined until a value is known, and how far depends on values: not under "
    "jit and vmap. Estimate it on one grid, by of= without rtol, or refine outside and solve on that grid inside."
)
_ROUNDED = ": the residual of the equations is above rtol; take wider numbers, or another method"


def ladder(grid: Grid) -> Iterator[Grid]:
    """A grid and ever finer ones; before it, where they have cells enough, two of every second node."""
    below = [grid]
    while len(below) < 3 and _can_be_halved(below[0], _FEWEST_TO_REFINE):
        below.insert(0, below[0].coarser())
    return itertools.chain(below[:-1], upwards(grid))


def upwards(grid: Grid) -> Iterator[Grid]:
    """A grid and ever finer ones."""
    while True:
        yield grid
        grid = grid.finer()


def checked(who: str, name: str, make: Callable) -> Callable[[Grid], GridOperator]:
    """The same function of a grid, which raises where it makes anything else than an operator there."""

    def on(grid: Grid) -> GridOperator:
        op = make(grid)
        if not isinstance(op, GridOperator) or op.grid != grid:
            given = errors.Words(f"one on {op.grid}") if isinstance(op, GridOperator) else op
            want = f"an operator of xcore.pde on the grid that it was given, {grid}"
            raise errors.bad_argument(who, name, given, want)
        return op

    return on


def anew(who: str, op, estimate) -> Callable[[Grid], GridOperator]:
    """A function that makes an operator on other grids: the one that was given, or what made it."""
    if callable(estimate):
        return checked(who, "estimate", estimate)
    return maker(who, op, _BY_HAND)


_BY_HAND = (
    "With rtol and of grids are refined. Give estimate=lambda grid: …, which makes the operator on each, or call "
    "pde.refine(make, f, grid, of=…, rtol=…); without rtol, of= is estimated on this grid and coarser ones."
)


def source(who: str, f, advice: str = ""):
    """A right-hand side that has values on all grids."""
    if (
        callable(f) or f is None or isinstance(f, str) or xnp.ndim(f) == 0
    ):  # an operator says of what is none
        return f
    given = errors.Words(f"an array {xnp.shape(f)}")
    raise errors.bad_argument(who, "f", given, "a number or a function of the coordinates", advice)


def by_hand(who: str, f):
    """The same for who gave an operator."""
    return source(who, f, "With rtol and of grids are refined, on which an array has no values.")


def _of_functional(values: list, most: float) -> tuple:
    """(estimated error, order) of the first of a functional's values, the finest first."""
    if len(values) < 3:
        return xnp.asarray(np.inf), xnp.asarray(np.nan)
    last, before = (xnp.abs(a - b) for a, b in itertools.pairwise(values[:3]))
    _, order = left([last, before], most)
    # what falls faster than the order explains may do so by chance, and here it would end the search
    return left([xnp.maximum(last, before / most), before], most)[0], order


def _relative(error, value):
    return xnp.where(error == 0, error, safe_divide(error, xnp.abs(value), np.inf))


def _ended(answer: FieldSolution, value, relative, rtol: float):
    """How it ended on this grid, if it did."""
    return first_that_holds(
        (~answer.ok, answer.status),
        (~xnp.isfinite(value), Status.not_finite),
        (
            answer.error > rtol,
            Status.stagnation,
        ),  # of the equations; on finer grids rounding is larger
        ((relative <= rtol) & xnp.isfinite(relative), Status.success),
        default=Status.running,
    )


def functional(who: str, of, u, op):
    """The value of a functional of a field."""
    want = "a function of (u, op) that gives one number, as lambda u, op: op.integrate(u)"
    if not callable(of) or not takes(of, 2):
        raise errors.bad_argument(who, "of", of, want)
    made = of(u, op)
    if isinstance(made, (str, bool)) or made is None:
        raise errors.bad_argument(who, "of(u, op)", made, "one number")
    value = xnp.asarray(made)
    if value.ndim or value.dtype == bool:
        raise errors.bad_argument(who, "of", errors.Words(f"one of {typeof(value)}"), want)
    return value.astype(dtypes.to_inexact(value.dtype))


def left(gaps: list, most: float) -> tuple:
    """(what is left behind the finest grid, the order that was seen) from differences, the finest first."""
    if len(gaps) == 1:
        return gaps[0] / (most - 1), xnp.log2(xnp.asarray(most))
    real = gaps[1] / xnp.where(gaps[0] > 0, gaps[0], 1)
    ratio = xnp.where(gaps[0] > 0, real, most)
    return gaps[0] / (xnp.clip(ratio, _SLOWEST, most) - 1), xnp.log2(xnp.maximum(ratio, 1e-3))


def accuracy(op) -> int:
    """The order of an operator, the least of its parts."""
    if isinstance(op, Combined):
        return min(map(accuracy, op.terms))
    if isinstance(op, Composed):
        return min(accuracy(op.outer), accuracy(op.inner))
    if isinstance(op, Advection) and op.scheme == "upwind":
        return 1
    found = getattr(op, "accuracy", op.order)
    return found if isinstance(found, int) else 2


def _can_be_halved(grid, fewest: int = _FEWEST) -> bool:
    return all(c % 2 == 0 and c // 2 >= fewest for c in grid.cells)


def coarser(who: str, op: GridOperator, make):
    """The operator on the grid of every second node, made by the user or of what is known of it."""
    if make is None:
        return _coarser(who, op)
    made = make(op.grid.coarser())
    if not isinstance(made, GridOperator) or made.grid != op.grid.coarser():
        want = "True, or a function of a grid that makes the operator there"
        raise errors.bad_argument(who, "estimate", made, want)
    return made


def _coarser(who: str, op):
    if isinstance(op, Combined) and not op.grid.centred:
        terms = tuple(_coarser(who, t) for t in op.terms)
        c = None if op.c is None else _thin(op, op.c)
        return Combined(terms, tuple(_thin(op, f) for f in op.factors), c)
    if isinstance(op, Composed) and not op.grid.centred:
        return Composed(_coarser(who, op.outer), _coarser(who, op.inner))
    if isinstance(op, Masked):
        return coarser_masked(op)
    if isinstance(op, Advection) and not op.grid.centred:
        v, a = tuple(_thin(op, x) for x in op.velocity), op.diffusion
        a = None if a is None else _thin(op, a)
        return Advection(op.grid.coarser(), v, op.coarser_faces(), op.order, op.scheme, a)
    if op.grid.centred or not hasattr(op, "coarser") or op.inside is not None:
        name = "fields of cells" if op.grid.centred else type(op).__name__
        want = f"for {name} a function of a grid that makes the operator there"
        advice = "Give estimate=lambda grid: …, which is called for grid.coarser()."
        raise errors.bad_argument(who, "estimate", True, want, advice)
    return op.coarser()


def _pick(op) -> tuple:
    """The unknowns that the coarser grid has, too."""
    return tuple(slice(1 if a.start else 0, None, 2) for a in op.axes)


def _thin(op, x):
    x = xnp.asarray(x)
    return x[_pick(op)] if x.ndim else x


def _apart(op, u, coarse, v):
    """The difference of two fields on the coarser grid, where both have unknowns."""
    gap = xnp.asarray(_onto(op, u) - v)
    if op.inside is None or coarse.inside is None:
        return gap if coarse.inside is None else xnp.where(coarse.inside, gap, 0)
    both = coarse.inside & (_onto(op, op.inside.astype(np.float32)) == 1)
    return xnp.where(both, gap, 0)


def _onto(op, u):
    """A field at the nodes or cells of the coarser grid."""
    return op.grid.restrict(u) if op.grid.centred else u[_pick(op)]


def _thinned(op, f, coarse):
    """The right-hand side on a grid that is some times coarser."""
    if callable(f) or xnp.ndim(f) == 0:
        return f
    f, grid = xnp.asarray(f), op.grid
    whole = f.shape == grid.shape
    f = f if whole else xnp.broadcast_to(f, op.field_shape)
    while grid != coarse.grid:
        if grid.centred:
            f = grid.restrict(f)
        else:
            f = f[(slice(None, None, 2),) * f.ndim] if whole else f[_starts(op, typeof(f).shape)]
        grid = grid.coarser()
    return f


def _starts(op, shape) -> tuple:
    return tuple(slice(1 if a.start else 0, None, 2) for a in op.axes[: len(shape)])
