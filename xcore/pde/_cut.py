"""Diffusion in a part of a box whose edge cuts through cells, with flows given there.

Around each node is a volume that reaches half-way to its neighbours. Of a volume the level set leaves a share, of
its sides apertures; the apertures of opposite sides differ by what the edge takes of the volume's surface, so
areas and normals of the edge are those of its apertures, and what flows in flows out. Times the shares of volumes the
operator is symmetric. A condition alpha u + beta ∂u/∂n = g at the distance d from the node gives the flow
(g - alpha u) / (beta + alpha d). (Ng, Min and Gibou 2009, "An efficient fluid-solid coupling algorithm for single-phase
flows"; Papac, Gibou and Ratsch 2010, "Efficient symmetric discretization for the Poisson, heat and Stefan-type problems
with Robin boundary conditions") Where values are given, the unknowns end at the nodes before the edge, and conductances
lead up to it. (Gibou, Fedkiw, Cheng and Kang 2002)
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import jit, stop_gradient
from .._core import Array, ArrayLike, DTypeLike, Value, dtypes, errors, static, struct, typeof
from ..numpy._select import cut
from ._along import along, padded, shifted
from ._boundary import CONDITIONS, Neumann, Periodic, as_dtype
from ._diffusion import Diffusion, diagonal, stiffness
from ._fields import GridOperator
from ._grid import check_level, evaluated, is_mask, real_dtype

_WHO = "pde.CutDiffusion"
_LEAST = 1e-8  # of a volume or of a side: less is nothing
_NEAREST = 1e-6  # of a step: nodes nearer to an edge with given values count as this far


@struct
class CutDiffusion(Diffusion):
    """u ↦ div(a grad u) - c u where level sets are positive, with conditions on their edge: of order 2.

    A field has values at all nodes whose volumes have a share in the domain: next to an edge with given flows some of
    them are outside of it, where the solution goes on smoothly. Elsewhere it is zero. a and the right-hand
    side are needed at these nodes, too.

    Attributes:
      grid, a, faces, c, mean: as of ``Diffusion``: ``faces`` are conditions on the box, where it ends the domain.
      inside: a level set: a function of the coordinates, or an array at all nodes, smooth, positive inside; or
        several, whose common part is the domain. As an attribute the unknowns, booleans.
      edge: for each level set the condition where it vanishes: ``Neumann``, ``Robin`` or ``Dirichlet``, whose value is
        a number or a function of the coordinates. Normals point out of the domain.
      cuts, closed: shares, apertures, areas; and whether no face or edge with a given value is reached.

    >>> from xcore.pde import Grid, Neumann, Robin
    >>> disc = lambda x, y: 0.8 - (x**2 + y**2) ** 0.5
    >>> round_ = CutDiffusion(Grid((20, 20), -1.0, 1.0), inside=disc, edge=Robin(1.0, 2.0))
    >>> round(float(round_.integrate(1.0)), 2), int(round_.inside.sum())
    (2.01, 241)
    """

    inside: Any = None
    edge: Any = Neumann()
    cuts: Any = None
    closed: bool = static(default=False)

    def __post_init__(self):
        if self.mean == "located":
            want = '"harmonic" or "arithmetic"'
            raise errors.bad_argument(_WHO, "mean", self.mean, want)
        Diffusion.__post_init__(self)
        if self.cuts is not None:
            return
        if self.grid.centred or self.mixed:
            name, given = ("grid", self.grid) if self.grid.centred else ("a", "a matrix")
            want = "with values at nodes" if self.grid.centred else "one for each axis at most"
            raise errors.bad_argument(_WHO, name, given, want)
        sets, conditions = _pieces(self.inside, self.edge)
        inside, cuts, edge, closed = _made(self, sets, conditions)
        made = (("inside", xnp.asarray(inside)), ("cuts", cuts), ("edge", edge), ("closed", closed))
        for name, x in made:
            object.__setattr__(self, name, x)

    constant = property(lambda self: False)  # pyright: ignore[reportAssignmentType]
    symmetric = property(lambda self: False)  # pyright: ignore[reportAssignmentType]  # but when weighted by volumes

    @property
    def singular(self) -> bool:
        return self.c is None and self.leaks is None and self.closed

    own_volumes = True  # pyright: ignore[reportAssignmentType]

    @property
    def weights(self) -> np.ndarray:
        """The part of the domain that belongs to each unknown."""
        return np.asarray(stop_gradient(self.volumes(self.dtype)))

    def volumes(self, dtype):
        """The same in a program."""
        return (self.cuts["share"] * GridOperator.volumes(self, self.dtype)).astype(dtype)

    def evened(self):
        """Factors of rows: those of small shares, and of short ways to given values, outweigh all others in a norm."""
        here = diagonal(self.edges(), self.sinks(), self.rings)
        whole = diagonal(Diffusion.edges(self), Diffusion.sinks(self), self.rings)
        even = self.cuts["share"] * xnp.minimum(1, whole / xnp.where(here > 0, here, 1))
        return xnp.where(self.inside, even, 1)

    def field(self, f, dtype=None):
        """A field, zero where there are no unknowns."""
        return xnp.where(self.inside, GridOperator.field(self, f, dtype), 0)

    def only_inside(self, u):
        """A field without what does not belong to it."""
        return xnp.where(self.inside, u, 0)

    def full(self, u: ArrayLike, outside: ArrayLike = 0.0) -> Array:
        """Values at all nodes: of a field, given ones on Dirichlet faces next to it, one number where there is none."""
        held = self.inside
        for axis, (a, m) in enumerate(zip(self.axes, self.grid.shape, strict=True)):
            if a.ring:
                held = xnp.concatenate([held, cut(held, axis, 0, 1)], axis=axis)
            else:
                ends = [
                    (a.start, m - a.start - a.count) if i == axis else (0, 0)
                    for i in range(held.ndim)
                ]
                held = xnp.pad(held, ends, mode="edge")
        return xnp.where(held, Diffusion.full(self, u), outside)

    def edges(self) -> tuple:
        """Conductances between unknowns along each axis, as ``stiffness`` takes them."""
        return tuple(e * o for e, o in zip(Diffusion.edges(self), self.cuts["open"], strict=True))

    def _through_face(self, axis: int, side: int):
        n = self.axes[axis].count
        aperture = cut(self.cuts["open"][axis], axis, side * n, side * n + 1)
        return Diffusion._through_face(self, axis, side) * aperture

    def _at_unknowns(self, axis: int):
        return self._unknowns(self._whole(self.a[axis % len(self.a)])).astype(self.dtype)

    def _pieces(self):
        """For each level set with given flows its condition, and what flows in for data 1 where u is 0."""
        a = functools.reduce(
            xnp.add, [self._at_unknowns(i) * self.cuts["tilt"][i] for i in range(self.grid.ndim)]
        )
        for k, condition in enumerate(self.edge):
            alpha, beta = condition.kind
            if beta:
                here = self.inside & (self.cuts["which"] == k)
                way = xnp.where(here, beta + alpha * self.cuts["far"], 1)
                yield condition, xnp.where(here, a * self.cuts["area"] / way, 0)

    def _walls(self):
        """For each axis and side what flows in for data 1 on edges with given values, and these."""
        for axis, e in enumerate(Diffusion.edges(self)):
            n, ring = self.axes[axis].count, self.rings[axis]
            ends = cut(e, axis, 0, n), shifted(e, axis, 1, True) if ring else cut(e, axis, 1, n + 1)
            for x, (part, value) in zip(ends, self.cuts["walls"][axis], strict=True):
                yield x * part, value

    def sinks(self):
        """What multiplies u at each node: c times volumes, and what edges and Robin faces let out."""
        out = Diffusion.sinks(self)
        for condition, flow in self._pieces():
            out = out + condition.kind[0] * flow if condition.kind[0] else out
        if self.cuts["walls"] is not None:
            out = functools.reduce(xnp.add, [flow for flow, _ in self._walls()], out)
        return xnp.where(self.inside, out, 1)

    def absolute(self):
        """For each row the sum of the absolute values of its elements."""
        return self._per_volume(2 * diagonal(self.edges(), self.sinks(), self.rings))

    def _per_volume(self, x):
        v = self.volumes(dtypes.to_real(typeof(x).dtype))
        return xnp.where(self.inside, x / xnp.where(self.inside, v, 1), 0)

    def coarser(self):
        raise errors.bad_argument(_WHO, "estimate", True, "False: the level sets are not kept")

    def checked_for(self, who: str, method: str, estimate: bool) -> None:
        """Raises where it cannot be solved in a way that is asked for."""
        if estimate or method == "full multigrid":
            name, given = ("estimate", True) if estimate else ("method", method)
            want = "left out for a pde.CutDiffusion"
            advice = "Give estimate=lambda grid: …, which makes the operator on coarser grids, too; not finer ones."
            raise errors.bad_argument(who, name, given, want, advice if estimate else "")

    def __call__(self, u: ArrayLike) -> Array:
        return _applied(self, self.operand(u))

    def _apply(self, u):
        return self._per_volume(-stiffness(self.edges(), self.sinks(), u, self.rings))

    def boundary(self, dtype: DTypeLike | None = None) -> Array:
        """What the data on faces and edges add: a field."""
        values = [x for x in self.cuts["data"] if x is not None]
        own = functools.reduce(
            xnp.promote_types, [typeof(x).dtype for x in values], self.with_data(self.dtype)
        )
        return _data(self, own if dtype is None else np.dtype(dtype))

    def _boundary(self, dtype):
        out = xnp.zeros(self.field_shape, dtype)
        for axis, a in enumerate(self.axes):
            n, edges = a.count, self.edges()[axis]
            for side in () if a.ring else (0, 1):
                data = xnp.expand_dims(self.face(axis, side, dtype), axis)
                if self.faces[axis][side].kind[1]:
                    flow = self._through_face(axis, side)
                else:
                    flow = cut(edges, axis, side * n, side * n + 1)
                out = out + padded(flow * data, axis, side and n - 1, n)
        given = [x for x, c in zip(self.cuts["data"], self.edge, strict=True) if c.kind[1]]
        for (_, flow), value in zip(self._pieces(), given, strict=True):
            out = out + flow * as_dtype(_WHO, "data on the edge", value, dtype)
        if self.cuts["walls"] is not None:
            for flow, value in self._walls():
                out = out + flow * as_dtype(_WHO, "data on the edge", value, dtype)
        return self._per_volume(out).astype(dtype)


_applied = jit(CutDiffusion._apply, inline=True)
_data = jit(CutDiffusion._boundary, static_argnums=1, inline=True)


# What is made of level sets


def _pieces(inside, edge) -> tuple:
    """(level sets, conditions), as many of both."""
    sets = list(inside) if isinstance(inside, (tuple, list)) else [inside]
    conditions = list(edge) if isinstance(edge, (tuple, list)) else [edge] * len(sets)
    if inside is None or not sets:
        raise errors.bad_argument(
            _WHO, "inside", inside, "a level set, or several in a list: positive inside"
        )
    known = tuple(c for c in CONDITIONS if c is not Periodic)
    if len(conditions) != len(sets) or not all(isinstance(c, known) for c in conditions):
        want = f"a Dirichlet, Neumann or Robin condition, or one for each of {len(sets)} level sets"
        raise errors.bad_argument(_WHO, "edge", edge, want)
    return sets, conditions


def _level(grid, f, lines, ring):
    """A level set at places along the axes: of the function, or linear between its values at the nodes."""
    if callable(f):
        given = evaluated(_WHO, "inside", f, np.meshgrid(*lines, indexing="ij"))
    else:
        given = f
        if np.shape(given) != grid.shape:
            raise errors.shape_mismatch(
                _WHO, f"need a function, or numbers at all nodes, {grid.shape}", inside=given
            )
        if is_mask(_known(given)):
            raise _mask(errors.Words("an array of booleans, or of 0 and 1"))
        if not isinstance(given, Value):
            given = np.asarray(given)
        for axis, x in enumerate(lines):
            given = _between(given, axis, grid.nodes(axis), x, ring[axis])
    if not isinstance(given, Value):
        given = np.asarray(given)
    known = _known(given)
    check_level(_WHO, known)
    if known.dtype == bool:
        raise _mask(errors.Words("booleans"))
    given = given if isinstance(given, Value) and _moves(given) else known
    return _on(given).broadcast_to(given.astype(np.float64), tuple(map(len, lines)))


def _mask(given: errors.Words):
    advice = "Booleans hide where cells are cut: r - (x**2 + y**2) ** 0.5 in place of x**2 + y**2 < r**2."
    return errors.bad_argument(
        _WHO, "inside", given, "real numbers, positive inside and 0 on the edge", advice
    )


def _between(values, axis: int, nodes, x, ring: bool):
    """Values along an axis at other places, linear in between."""
    if ring:
        x = nodes[0] + (x - nodes[0]) % (nodes[-1] - nodes[0])
    place = np.clip(np.searchsorted(nodes, x, side="right") - 1, 0, len(nodes) - 2)
    share = ((x - nodes[place]) / (nodes[place + 1] - nodes[place])).reshape(
        [-1 if i == axis else 1 for i in range(values.ndim)]
    )
    take = lambda k: _on(values).take(values, k, axis=axis)  # noqa: E731
    return (1 - share) * take(place) + share * take(place + 1)


def _known(x) -> np.ndarray:
    try:
        return np.asarray(stop_gradient(x))
    except errors.ConcretizationError as e:
        advice = "Make the operator outside of jit and vmap; derivatives with respect to the level set exist."
        raise errors.bad_argument(
            _WHO,
            "inside",
            errors.Words("values that are traced"),
            "known when the program is made",
            advice,
        ) from e


def _moves(x) -> bool:
    return type(x) is not Array


def _on(*values):
    """The functions for values: NumPy's for numbers that are known, ours for those with a derivative."""
    return xnp if any(isinstance(x, Value) for x in values) else np


def _lines(op) -> tuple:
    """For each axis the unknowns, where their volumes end, and the unknowns with their neighbours on both sides."""
    out = []
    for a in op.axes:
        wide = _wide(a)
        bounds = (wide[1:] + wide[:-1]) / 2  # at a face that is an unknown the face itself
        out.append((a.unknowns, bounds, wide))
    return tuple(zip(*out, strict=True))


def _made(op, sets, conditions) -> tuple:
    """(unknowns, cuts, conditions without their values)."""
    n, (nodes, bounds, wide) = op.grid.ndim, _lines(op)
    widths = [along(np.diff(b), i, n, np.float64) for i, b in enumerate(bounds)]
    flux = [k for k, c in enumerate(conditions) if c.kind[1]]
    fixed = [k for k in range(len(sets)) if k not in flux]
    shape = op.field_shape
    c = _geometry(
        op, {k: _level(op.grid, sets[k], bounds, op.rings) for k in flux}, nodes, bounds, widths
    )
    levels = {k: _level(op.grid, sets[k], wide, op.rings) for k in fixed}
    lowest = functools.reduce(
        np.minimum, [_known(x) for x in levels.values()], np.ones([m + 2 for m in shape])
    )
    middle = (slice(1, -1),) * n
    inside = (_known(c["share"]) > _LEAST) & (lowest[middle] > 0)
    if not inside.any():
        want = "positive together at one node at least"
        advice = "A domain that lies between the nodes needs more cells; inside is where level sets are positive."
        raise errors.bad_argument(_WHO, "inside", errors.Words("level sets"), want, advice)
    walls = _walls_of(op, levels, lowest, conditions, c["open"], inside, nodes) if fixed else None
    opened = tuple(
        _on(o).where(_held(inside, lowest, i, op.axes[i]), o, 0) for i, o in enumerate(c["open"])
    )
    dtype = op.dtype
    data = tuple(
        None if k in fixed else _given(conditions[k], c["points"]) for k in range(len(sets))
    )
    for k in flux:
        alpha, beta = conditions[k].kind
        at = inside & (c["which"] == k) & (_known(c["area"]) > 0)
        short = beta + alpha * np.where(at, _known(c["far"]), 0)
        if alpha and not np.all(short > beta / 4):
            want = f"more: alpha × spacing well below beta, here {alpha} × {max(op.grid.spacing):.3g} and {beta}"
            raise errors.bad_argument(
                _WHO, "cells", op.grid.cells, want, "Or give values there: Dirichlet."
            )
    cast = lambda x: xnp.asarray(x, dtype)  # noqa: E731
    cuts = {
        "share": cast(_on(c["share"]).where(inside, c["share"], 0)), "open": tuple(map(cast, opened)),
        "area": cast(c["area"]), "far": cast(c["far"]), "tilt": tuple(map(cast, c["tilt"])),
        "which": xnp.asarray(c["which"].astype(np.int32)),
        "data": data, "walls": None if walls is None else [[(cast(p), v) for p, v in pair] for pair in walls],
    }  # fmt: skip
    edge = tuple(x.replace(value=0.0) for x in conditions)
    return inside, cuts, edge, not _reaches(op, opened, walls, conditions, inside, c)


def _reaches(op, opened, walls, conditions, inside, c) -> bool:
    """Whether a face or an edge that knows of u itself, and not of flows alone, is reached."""
    ends = [(i, s) for i, a in enumerate(op.axes) for s in (0, 1) if not a.ring and a.kinds[s][0]]
    faces = [np.any(np.take(_known(opened[i]), -s, axis=i) > _LEAST) for i, s in ends]
    edges = [np.any(inside & (c["which"] == k) & (_known(c["area"]) > 0))
             for k, x in enumerate(conditions) if x.kind[1] and x.kind[0]]  # fmt: skip
    met = [np.any(_known(part) > 0) for pair in walls or () for part, _ in pair]
    return any([*faces, *edges, *met])


def _given(condition, points):
    value = condition.value
    value = evaluated(_WHO, "data on an edge", value, points) if callable(value) else value
    value = xnp.asarray(value)
    return value if dtypes.is_inexact(value.dtype) else value.astype(real_dtype())


def _held(inside, lowest, axis: int, a) -> np.ndarray:
    """Which edges along an axis, and faces of the box, lead somewhere from an unknown."""
    grown = np.pad(
        inside, [(1, 1) if i == axis else (0, 0) for i in range(inside.ndim)], constant_values=True
    )
    middle = tuple(slice(None) if i == axis else slice(1, -1) for i in range(inside.ndim))
    if a.ring:
        grown = np.concatenate(
            [np.take(inside, [-1], axis), inside, np.take(inside, [0], axis)], axis
        )
    grown = grown & (lowest[middle] > 0)
    first, second = (np.take(grown, np.arange(a.count + 1) + k, axis) for k in (0, 1))
    held = first & second
    return np.take(held, np.arange(a.count), axis) if a.ring else held


def _walls_of(op, levels, lowest, conditions, opened, inside, nodes) -> list:
    """For each axis and side (aperture over the part of the step, the values at its end)."""
    names, n = list(levels), op.grid.ndim
    least = np.argmin(np.stack([_known(x) for x in levels.values()]), 0)
    points, out = np.meshgrid(*nodes, indexing="ij"), []
    middle = [slice(1, -1)] * n
    for axis, a in enumerate(op.axes):
        pair = []
        for side in (0, 1):
            there = tuple(
                slice(2 * side, 2 * side + a.count) if i == axis else s
                for i, s in enumerate(middle)
            )
            met = inside & (lowest[there] <= 0)
            if not a.ring and a.kinds[side][1]:  # the wide line has this node twice
                met = met & np.broadcast_to(
                    np.arange(a.count) != (a.count - 1) * side, (a.count,)
                ).reshape([-1 if i == axis else 1 for i in range(n)])
            part, value = np.ones(op.field_shape), xnp.zeros((), real_dtype())
            gap = along(np.diff(_wide(a))[side : side + a.count], axis, n, np.float64)
            for j, k in enumerate(names):
                here, next_ = levels[k][tuple(middle)], levels[k][there]
                mine = met & (least[there] == j)
                f = _on(here)
                way = here - next_
                share = _limited(f.where(mine, here / f.where(mine, way, 1), 1), _NEAREST, 1.0)
                part = f.where(mine, share, part)
                end = [
                    p + (2 * side - 1) * gap * share if i == axis else p
                    for i, p in enumerate(points)
                ]
                data = _given(conditions[k], end)
                value = xnp.where(mine, data, value)
            o = opened[axis]
            n_open = _on(o).take(o, (np.arange(a.count) + side) % o.shape[axis], axis=axis)
            pair.append((_on(part, n_open).where(met, n_open / part, 0), value))
        out.append(pair)
    return out


def _wide(a) -> np.ndarray:
    """The unknowns of an axis with their neighbours on both sides."""
    x = a.unknowns
    if a.ring:
        return np.concatenate([x[-1:] - a.period, x, x[:1] + a.period])
    return np.concatenate([a.nodes[:1], x, a.nodes[-1:]])


def _geometry(op, levels: dict, nodes, bounds, widths) -> dict:
    """Shares of volumes, apertures of their sides, the area of the edge in each and its distance from the node."""
    n, shape = op.grid.ndim, op.field_shape
    if not levels:
        one = [
            np.ones([m + (i == j and not op.rings[j]) for i, m in enumerate(shape)])
            for j in range(n)
        ]
        zero = np.zeros(shape)
        return {"share": np.ones(shape), "open": one, "area": zero, "far": zero, "tilt": [zero] * n,
                "which": np.full(shape, -1), "points": [zero] * n}  # fmt: skip
    phi = functools.reduce(
        lambda x, y: (
            xnp.minimum(x, y) if isinstance(x, Value) or isinstance(y, Value) else np.minimum(x, y)
        ),
        levels.values(),
    )
    f = _on(phi)
    apertures = [_aperture(f, phi, axis) for axis in range(n)]
    volume = functools.reduce(np.multiply, widths)
    ends = lambda x, axis: [f.take(x, np.arange(shape[axis]) + k, axis=axis) for k in (0, 1)]  # noqa: E731
    pieces = []
    taken = [
        volume / widths[i] * (b - a)
        for i, (a, b) in enumerate(ends(x, i) for i, x in enumerate(apertures))
    ]
    square = functools.reduce(lambda x, y: x + y, [t * t for t in taken])
    least = (_LEAST * volume / min(float(np.min(w)) for w in widths)) ** 2
    real = _known(square) > least
    for k, level in levels.items():
        pieces.append((k, *_plane(level, widths, n)))
    which = np.argmin(np.stack([_known(d) for _, d, _ in pieces]), 0)
    far, normal = 0, [0] * n
    for j, (_, d, m) in enumerate(pieces):
        far = f.where(which == j, d, far)
        normal = [f.where(which == j, x, y) for x, y in zip(m, normal, strict=True)]
    # of an edge that only touches a volume the length of the normal has a derivative, that of the root has none
    touched = functools.reduce(
        lambda x, y: x + y, [t * m for t, m in zip(taken, normal, strict=True)]
    )
    area = f.where(real, f.sqrt(f.where(real, square, 1)), touched - _known(touched))
    middles = np.meshgrid(*[(b[1:] + b[:-1]) / 2 for b in bounds], indexing="ij")
    sides = [volume / 2 * (a + b) for a, b in (ends(x, i) for i, x in enumerate(apertures))]
    total = functools.reduce(lambda x, y: x + y, sides, area * far) / n
    share = _limited(total / volume, 0.0, 1.0)
    some = functools.reduce(np.add, [sum(map(_known, ends(x, i))) for i, x in enumerate(apertures)])
    share = f.where(some > _LEAST, f.maximum(share, 1e-6), 0)
    shift = [x - y for x, y in zip(np.meshgrid(*nodes, indexing="ij"), middles, strict=True)]
    at_node = functools.reduce(
        lambda x, y: x + y, [s * m for s, m in zip(shift, normal, strict=True)], far
    )
    places = zip(np.meshgrid(*nodes, indexing="ij"), normal, strict=True)
    points = [xnp.asarray(f.where(real, x - at_node * m, x)) for x, m in places]
    opened = [
        x if not op.rings[i] else f.take(x, np.arange(shape[i]), axis=i)
        for i, x in enumerate(apertures)
    ]
    names = np.array([k for k, _, _ in pieces])
    return {"share": share, "open": opened, "area": area, "far": f.where(real, at_node, 0),
            "tilt": [m * m for m in normal], "which": names[which], "points": points}  # fmt: skip


def _limited(x, low: float, high: float):
    """Between limits; at a limit with the derivative of x, as the edge may lie on a side of a cell or on a node."""
    f, slack = _on(x), 1e-9
    return f.where(x > high + slack, high, f.where(x < low - slack, low, x))


def _plane(level, widths, n: int) -> tuple:
    """(signed distance of the middle of each volume from the plane, its normal into the domain)."""
    f, slopes = _on(level), []
    whole = _mean(level, range(n))
    for axis in range(n):
        x = _mean(level, [i for i in range(n) if i != axis])
        m = x.shape[axis] - 1
        rise = f.take(x, np.arange(m) + 1, axis=axis) - f.take(x, np.arange(m), axis=axis)
        slopes.append(rise / widths[axis])
    square = functools.reduce(lambda x, y: x + y, [s * s for s in slopes])
    flat = _known(square) <= 0
    size = f.sqrt(f.where(flat, 1, square))
    return whole / size, [f.where(flat, 0, s / size) for s in slopes]


def _mean(x, axes):
    for axis in axes:
        m = x.shape[axis] - 1
        x = (
            _on(x).take(x, np.arange(m), axis=axis) + _on(x).take(x, np.arange(m) + 1, axis=axis)
        ) / 2
    return x


def _aperture(f, phi, axis: int):
    """The share of the sides of volumes across an axis where a function is positive, that is linear between corners."""
    others = [i for i in range(phi.ndim) if i != axis]
    corners = {}
    for ks in itertools.product((0, 1), repeat=len(others)):
        x = phi
        for i, k in zip(others, ks, strict=True):
            x = f.take(x, np.arange(phi.shape[i] - 1) + k, axis=i)
        corners[ks] = x
    if not others:
        return f.where(phi > 0, 1.0, 0.0)
    if len(others) == 1:
        return _on_line(f, corners[0,], corners[1,])
    ends = corners[0, 0], corners[1, 1]
    return sum(_on_triangle(f, *ends, corners[k]) for k in ((0, 1), (1, 0))) / 2


def _on_line(f, a, b):
    low, high = f.minimum(a, b), f.maximum(a, b)
    cut_ = (low <= 0) & (high > 0)
    return f.where(cut_, high / f.where(cut_, high - low, 1), f.where(low > 0, 1.0, 0.0))


def _on_triangle(f, a, b, c):
    low, high = f.minimum(f.minimum(a, b), c), f.maximum(f.maximum(a, b), c)
    mid = f.maximum(f.minimum(a, b), f.minimum(f.maximum(a, b), c))
    one, two = (high > 0) & (mid <= 0), (mid > 0) & (low <= 0)
    small = f.where(one, high * high / f.where(one, (high - low) * (high - mid), 1), 0.0)
    large = f.where(
        two, 1 - low * low / f.where(two, (mid - low) * (high - low), 1), f.where(low > 0, 1.0, 0.0)
    )
    return f.where(one, small, large)
