"""Multigrid made of an operator's elements alone: hierarchies for any stencil of next neighbours.

A node between coarse ones takes its value from its neighbours by its own equation, summed over the other axes;
what is restricted is found likewise from the transpose. So upwind differences stay upwind differences on all levels,
flows are kept where coefficients jump, and of a symmetric operator restriction is the transpose of interpolation.
Coarse operators are r a p, again stencils of next neighbours. Where all couplings along an axis are weak, it is not
coarsened.
Where no domain is, a coarse node may stand for nodes next to it, which see it across a corner: there the fields of the
finer level are held at 0, and what was put on the diagonal to have something there is left out.
(Dendy 1982, "Black box multigrid"; 1983, "Black box multigrid for nonsymmetric problems"; de Zeeuw 1990,
"Matrix-dependent prolongations and restrictions in a blackbox multigrid solver")

Set-up is NumPy on the host and compiles nothing; ``_boxcycle`` has the programs.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from .. import sparse
from ._couplings import Couplings, filled, inside, offsets, read
from ._factors import prepared
from ._grid import size

FACTORS = ("all", "pinned", "all, incomplete", "pinned, incomplete")  # ways of a last level
DENSE_UP_TO = 300  # unknowns: then the inverse is kept
FACTORS_UP_TO = {
    1: 2**20,
    2: 2**14,
    3: 2**12,
}  # likewise by the number of axes: then sparse factors
_WEAK = 0.1  # an axis is coarsened if its couplings are at least this part of the strongest axis'
_ALONE = 0.75  # couplings along an axis that are more than this of the diagonal ask for lines
_CARRIED = 0.5  # of what leads anywhere that leads one way only: then sweeps follow it
_PLANES = 0.02  # the part of nodes in planes that are tied weakly from where on these stay
_CURVED = 0.4  # of what leads anywhere that waves take at most, between nodes
_RARE = 1e-3  # the part of nodes where that may be so nevertheless


class Plan(NamedTuple):
    """What is static about a level.

    Attributes:
      shape, rings: of fields.
      starts: for each axis the first coarse node.
      strides: 2 for axes that are coarsened, else 1.
      smoother: "polynomial", Chebyshev's in D⁻¹ A; "lines"; or "marches", sweeps from all corners to the opposite ones.
      lines: the axes along which lines are solved.
      skew: whether restriction is not the transpose of interpolation.
      last: at the end how it is solved there, "dense", "all" or "pinned" (sparse factors, see ``_factors``; of "all,
        incomplete" the small ones are left out), "smoother", or "algebraic" (a cycle of classical multigrid); empty
        elsewhere.
    """

    shape: tuple
    rings: tuple
    starts: tuple
    strides: tuple
    smoother: str
    lines: tuple
    skew: bool
    last: str


def halved(plan: Plan, axis: int) -> tuple[int, int]:
    """(coarse nodes, nodes between) along an axis."""
    n, off = plan.shape[axis], plan.starts[axis]
    if plan.strides[axis] == 1:
        return n, 0
    return len(range(off, n, 2)), len(range(1 - off, n, 2))


def coarse_shape(plan: Plan) -> tuple:
    return tuple(halved(plan, i)[0] for i in range(len(plan.shape)))


def classes(plan: Plan) -> list[tuple]:
    """The sets of axes along which a node can lie between coarse ones, smaller ones first."""
    axes = [i for i, s in enumerate(plan.strides) if s == 2]
    return [t for k in range(len(axes) + 1) for t in itertools.combinations(axes, k)]


def part(plan: Plan, between: tuple) -> tuple:
    """The slices of the nodes of a class."""
    return tuple(
        slice(None) if s == 1 else slice(1 - off if i in between else off, None, 2)
        for i, (s, off) in enumerate(zip(plan.strides, plan.starts, strict=True))
    )


def sides(between: tuple) -> list[tuple]:
    """Where the neighbours of a node of a class are, along its axes."""
    return [s for s in offsets(len(between)) if any(s)]


def base(between: tuple, side: tuple) -> tuple:
    """The class of the neighbour on a side."""
    return tuple(i for i, s in zip(between, side, strict=True) if not s)


def step(plan: Plan, axis: int, side: int) -> tuple[int, bool]:
    """(j, ring): the coarse neighbour of the k-th node between on this side is the (k + j)-th, around a ring or not."""
    j = (side + 1) // 2 - plan.starts[axis]
    return j, plan.rings[axis] and plan.shape[axis] % 2 == 0


# Set-up


class Kind(NamedTuple):
    """What is known of an operator.

    Attributes:
      starts: the first coarse node along each axis.
      skew: whether it is not symmetric.
      definite: whether it is known to be positive (semi)definite, so that Chebyshev's polynomial smooths.
      singular: whether constants are in its kernel.
      values: False chooses by shapes alone, as is done where values are not known yet.
      factors: up to how many unknowns sparse factors are taken.
    """

    starts: tuple
    skew: bool
    definite: bool
    singular: bool
    values: bool = True
    factors: int = 0


def hierarchy(c: Couplings, kind: Kind) -> tuple:
    """(plans, arrays) of all levels for couplings whose diagonal is positive where they are definite."""
    plans, arrays = [], []
    while True:
        plan = _planned(c, kind)
        plans.append(plan)
        arrays.append(_held(plan, c))
        if plan.last:
            return tuple(plans), tuple(arrays)
        c = _coarse(plan, arrays[-1], c)
        c = _upwind(c) if plan.smoother == "marches" else c


def algebraic(c: Couplings, kind: Kind) -> tuple:
    """Likewise with one level, whose cycle is that of classical multigrid: which unknowns are coarse is chosen row by
    row there, which holds where each node has directions of its own."""
    n = len(c.shape)
    plan = Plan(c.shape, c.rings, kind.starts, (1,) * n, "lines", (), kind.skew, "algebraic")
    values, rows, columns = c.triples()
    a = sparse.coo_array((values, (rows, columns)), shape=(size(c.shape),) * 2)
    return (plan,), ({"m": sparse.multigrid(a, kind="classical")},)


def incomplete(c: Couplings, kind: Kind) -> tuple:
    """Likewise with one level, whose cycle are incomplete factors: of flows that turn around there are no lines, planes
    or sweeps that go with them, and of what they tie strongly factors leave out little."""
    n = len(c.shape)
    last = f"{'pinned' if kind.singular else 'all'}, incomplete"
    plan = Plan(c.shape, c.rings, kind.starts, (1,) * n, "lines", (), kind.skew, last)
    return (plan,), (_held(plan, c),)


def _held(plan: Plan, c: Couplings) -> dict:
    """The arrays of a level."""
    every = tuple(c.elements[o] for o in offsets(len(c.shape), c.reach))
    if plan.last == "dense":
        return {"inverse": inverse(c)}
    held: dict[str, Any] = {"a": every}
    if plan.last in FACTORS:
        return held | {"key": prepared(c, plan.last)}
    held["lines"] = {axis: _line(c, axis) for axis in plan.lines}
    held["keys"] = tuple(prepared(c, signs) for signs in marches(plan))
    if plan.smoother == "polynomial":
        held["reach"] = _bound(c)
    if not plan.last:
        alone = c.alone
        held["live"] = ~alone if alone.any() else None
        held["p"] = weights(plan, c)
        held["r"] = weights(plan, c.T) if plan.skew else None
    return held


def _planned(c: Couplings, kind: Kind) -> Plan:
    shape, rings, n = c.shape, c.rings, len(c.shape)
    nothing = Plan(shape, rings, kind.starts, (1,) * n, "lines", (), kind.skew, "dense")
    if size(shape) <= min(DENSE_UP_TO, kind.factors):
        return nothing
    if size(shape) <= kind.factors:
        return nothing._replace(last="pinned" if kind.singular else "all")
    fits = [m >= 6 if ring else m > 3 for m, ring in zip(shape, rings, strict=True)]
    wanted = _wanted(c, fits) if kind.values else fits
    strides = tuple(2 if fit and want else 1 for fit, want in zip(fits, wanted, strict=False))
    smoother, lines = "lines", tuple(i for i in range(n) if shape[i] > 1)
    if kind.values and kind.definite and not kind.skew:
        alone = in_lines(c)
        lines = tuple(i for i in lines if alone[i])
        smoother = "lines" if lines else "polynomial"
    if kind.values and kind.skew and _one_way(c) > _CARRIED:
        smoother, lines = "marches", ()
    here = nothing._replace(smoother=smoother, lines=lines, last="" if any(fits) else "smoother")
    return here._replace(strides=strides) if any(fits) else here


def _one_way(c: Couplings) -> float:
    """How much more leads one way than back, in parts of what leads at all."""
    t = c.T
    off = [o for o in c.elements if any(o)]
    apart = sum(float(np.abs(c.elements[o] - t.elements[o]).sum()) for o in off)
    return apart / (sum(float(np.abs(c.elements[o]).sum()) for o in off) or 1.0)


def marches(plan: Plan) -> list[tuple]:
    """The directions of the sweeps, from corner to corner."""
    ways = itertools.product((1, -1), repeat=len(plan.shape))
    return list(ways) if plan.smoother == "marches" else []


def _shares(c: Couplings) -> list[np.ndarray]:
    """For each axis the couplings along it, in parts of all couplings of a node."""
    total, out = np.abs(c.centre) + 1e-300, []
    for axis in range(len(c.shape)):
        mine = [
            np.abs(x) for o, x in c.elements.items() if o[axis] and sum(map(abs, o)) == abs(o[axis])
        ]
        out.append(sum(mine) / total)
    return out


def in_lines(c: Couplings) -> list[bool]:
    """For each axis whether somewhere next to all couplings are along it."""
    return [float((s > _ALONE).mean()) > _RARE for s in _shares(c)]


def _wanted(c: Couplings, fits: list) -> np.ndarray:
    """Which axes are to be coarsened: those whose couplings are not weak on the average; and in three dimensions not
    one across planes that are tied weakly somewhere, if there is another, as neither points nor lines smooth there."""
    steps = _steps_along(c)
    means = np.array([x.mean() for x in steps])
    wanted = means >= _WEAK * max(
        [m for m, fit in zip(means, fits, strict=True) if fit], default=0.0
    )
    if len(steps) < 3:
        return wanted
    least = [np.minimum(*(x for j, x in enumerate(steps) if j != i)) for i in range(3)]
    planes = [float((x < _WEAK * y).mean()) for x, y in zip(steps, least, strict=True)]
    loose = np.array(planes) > _PLANES
    return wanted & ~loose if np.any(wanted & ~loose & fits) else wanted


def _steps_along(c: Couplings) -> list[np.ndarray]:
    """For each axis how much leads one step along it, summed over the other axes, in parts of all: of a stencil of 27
    points what leads straight along an axis may be nothing."""
    total, out = np.abs(c.centre) + c.others + 1e-300, []
    for axis in range(len(c.shape)):
        ways = [sum(x for o, x in c.elements.items() if o[axis] == s) for s in (-1, 1)]
        out.append(sum(map(np.abs, ways)) / total)
    return out


def _bound(c: Couplings):
    """Gershgorin's bound of the eigenvalues of D⁻¹ A, over 2."""
    centre = np.abs(c.centre)
    return np.float64(max(1.0, (1 + (c.others / centre).max()) / 2))


def weights(plan: Plan, c: Couplings) -> tuple:
    """For each class but the first the weights of the neighbours on all sides."""
    return tuple(_weights(plan, c, t) for t in classes(plan)[1:])


def _weights(plan: Plan, c: Couplings, between: tuple) -> tuple:
    at, total = part(plan, between), {}
    for o, x in c.elements.items():
        key = tuple(o[i] for i in between)
        total[key] = total.get(key, 0) + x[at].real
    # rows that do not have the signs of flows stay tame: what has the wrong one is left out
    flows = [np.maximum(-total[s], 0) for s in sides(between)]
    sums, most = sum(total.values()), _CURVED * sum(flows)
    # waves go in all directions: on the average each axis has its part of k²
    sums = np.maximum(np.where(sums < 0, len(between) / len(c.shape), 1) * sums, -most)
    centre = sum(flows) + sums
    share = np.divide(1, centre, out=np.zeros_like(centre), where=centre > 0)
    return tuple(share * x for x in flows)


def _coarse(plan: Plan, held: dict, c: Couplings) -> Couplings:
    back = held["p"] if held["r"] is None else held["r"]
    live = 1.0 if held["live"] is None else held["live"]
    fine = lambda u: live * c(live * _prolong(plan, held["p"], u))  # noqa: E731
    return filled(read(lambda u: _restrict(plan, back, fine(u)), coarse_shape(plan), c.rings))


def _upwind(c: Couplings) -> Couplings:
    """Without elements of the wrong sign off the diagonal, which flows across the grid leave, and which grow from level
    to level: the value there becomes that of the line through the node and the neighbour upstream."""
    off = {o: np.maximum(x.real, 0) for o, x in c.elements.items() if any(o)}
    centre = (0,) * len(c.shape)
    turned = {o: x - off[o] - off[tuple(-s for s in o)] for o, x in c.elements.items() if any(o)}
    return inside(c._replace(elements=turned | {centre: c.centre + 2 * sum(off.values())}).sorted())


def _prolong(plan: Plan, w: tuple, u: np.ndarray) -> np.ndarray:
    parts = {(): u}
    out = np.empty(plan.shape, u.dtype)
    out[part(plan, ())] = u
    for between, ws in zip(classes(plan)[1:], w, strict=True):
        terms = [x * _beside(plan, parts[base(between, s)], between, s)
                 for x, s in zip(ws, sides(between), strict=True)]  # fmt: skip
        parts[between] = sum(terms)
        out[part(plan, between)] = parts[between]
    return out


def _restrict(plan: Plan, w: tuple, r: np.ndarray) -> np.ndarray:
    parts = {t: r[part(plan, t)] for t in classes(plan)}
    for between, ws in reversed(list(zip(classes(plan)[1:], w, strict=True))):
        for x, s in zip(ws, sides(between), strict=True):
            to = base(between, s)
            parts[to] = parts[to] + _beside(plan, x * parts[between], between, s, back=True)
    return parts[()]


def _beside(plan: Plan, x: np.ndarray, between: tuple, side: tuple, back: bool = False):
    """Values at the neighbours on these sides, or from there back to them."""
    for axis, s in zip(between, side, strict=True):
        if s:
            by, ring = step(plan, axis, s)
            count = halved(plan, axis)[0 if back else 1]
            x = _slid(x, axis, -by if back else by, count, ring)
    return x


def _slid(x: np.ndarray, axis: int, by: int, count: int, ring: bool) -> np.ndarray:
    """x[k + by] for k < count along an axis, zeros from outside."""
    if ring:
        return np.roll(x, -by, axis)
    at = np.arange(count) + by
    held = (at >= 0) & (at < x.shape[axis])
    shape = [-1 if i == axis else 1 for i in range(x.ndim)]
    return np.take(x, np.where(held, at, 0), axis) * held.reshape(shape)


def _line(c: Couplings, axis: int) -> dict:
    """Factors of the tridiagonal matrices of all lines along an axis, the axis in front.

    A periodic line is closed by a rank-one correction: ``z`` times (first + ``link`` × last).
    """
    ndim = len(c.shape)
    unit = lambda s: tuple(s * (i == axis) for i in range(ndim))  # noqa: E731
    lower, d, upper = (np.moveaxis(c.elements[unit(s)], axis, 0).copy() for s in (-1, 0, 1))
    n, closed = len(d), None
    if c.rings[axis] and n > 2:
        gamma = -np.where(d[0] == 0, 1, d[0])
        link, corner = lower[0] / gamma, upper[-1].copy()
        d = d.copy()
        d[-1] -= link * upper[-1]
        d[0] -= gamma
        closed = gamma, corner, link
    lower, pivots, upper = _factored(lower, d, upper)
    held = {"lower": lower, "pivots": pivots, "upper": upper}
    if closed is None:
        return held
    gamma, corner, link = closed
    right = np.zeros_like(pivots)
    right[0], right[-1] = gamma, corner
    z = _substituted(lower, pivots, upper, right)
    whole = 1 + z[0] + link * z[-1]
    return held | {"z": z / np.where(whole == 0, 1, whole), "link": link}


def _factored(lower, d, upper) -> tuple:
    """(lower × pivots, pivots, upper × pivots) for two sweeps."""
    n, pivots = len(d), np.empty_like(d)
    above = np.empty_like(d)
    last = np.zeros_like(d[0])
    for i in range(n):
        pivot = d[i] - lower[i] * last if i else d[i]
        pivots[i] = 1 / np.where(pivot == 0, 1, pivot)
        last = above[i] = upper[i] * pivots[i]
    below = lower * pivots
    below[0] = 0
    above[-1] = 0
    return below, pivots, above


def _substituted(lower, pivots, upper, r):
    y = r * pivots
    for i in range(1, len(r)):
        y[i] -= lower[i] * y[i - 1]
    for i in range(len(r) - 2, -1, -1):
        y[i] -= upper[i] * y[i + 1]
    return y


def inverse(c: Couplings) -> np.ndarray:
    """The inverse of a small operator; its pseudoinverse where it is singular."""
    values, rows, columns = c.triples()
    n = size(c.shape)
    a = np.zeros((n, n), values.dtype)
    a[rows, columns] = values
    scale = np.abs(a).max(initial=0) or 1.0
    sums = np.where(c.alone.ravel(), 0, a.sum(1))
    if np.abs(sums).max(initial=0) <= 1e-12 * scale:
        return np.linalg.pinv(a / scale, rcond=1e-12) / scale
    try:
        return np.linalg.inv(a / scale) / scale
    except np.linalg.LinAlgError:
        return np.linalg.pinv(a / scale, rcond=1e-13) / scale
