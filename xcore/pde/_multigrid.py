"""Geometric multigrid for flows between nodes.

Coarse nodes are every second one. Along an axis two edges in a row become one, with resistances
added; edges side by side are added, half of those in between going to each neighbour. Values in
between are interpolated so that what flows in flows out. All of it is built from conductances, so
it is the same for every condition and spacing. Where the coefficient of a box varies, it may jump:
coarse operators are then those of ``_galerkin``.
(Trottenberg, Oosterlee and Schüller 2001, "Multigrid", chapters 2, 5 and 7)
"""

from __future__ import annotations

import itertools
from functools import reduce
from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import cond, jit, linear_transpose, platform_dependent, scan, vmap
from .._core import dtypes, static, struct, tree, typeof
from .._iterate import Steps, iterate
from ..linalg import solve_tridiagonal
from ..numpy._select import cut
from . import _tensor
from ._along import shifted
from ._diffusion import diagonal, stiffness
from ._galerkin import coarse_stencil, diagonal_of, offsets, product, split, weights_of
from ._galerkin import prolong as prolong_by_equations
from ._geometry import Geometry, geometry
from ._grid import size
from ._masked import Masked

SMOOTHERS = ("chebyshev", "red-black", "lines")
CYCLES = ("V", "W", "F")
_DENSE_UP_TO = 300  # unknowns: then the inverse is kept
_FEW_STEPS = 4


@struct
class Level:
    """One grid of the hierarchy, and in ``coarse`` the next.

    Attributes:
      edges, sinks: what ``stiffness`` takes.
      diagonal: of it.
      coarse: the coarser level; None at the end.
      inverse: at the end the inverse as a matrix, if there are few unknowns.
      walls: for each axis what sinks there are because a boundary is near; None without a mask.
      inside: where there are unknowns at all; None for everywhere.
      stencil: the operator's elements, in the middle the sums of rows, in place of edges and sinks;
        see ``_galerkin``.
      weights: of the interpolation from the next level, where that is made by ``_galerkin``.
      reach: the largest eigenvalue of D⁻¹ A is at most twice that; 1 by default.
      rings, offsets, strides: for each axis: whether it is periodic, the first coarse node, and 2 if
        it is coarsened, else 1.
    """

    edges: Any
    sinks: Any
    diagonal: Any
    coarse: Any
    inverse: Any
    walls: Any = None
    inside: Any = None
    stencil: Any = None
    weights: Any = None
    reach: Any = 1.0
    rings: tuple = static(default=())
    offsets: tuple = static(default=())
    strides: tuple = static(default=())

    @property
    def shape(self):
        return typeof(self.diagonal).shape

    def __call__(self, u):
        if self.stencil is not None:
            return product(self.stencil, u, self.rings)
        return stiffness(self.edges, self.sinks, u, self.rings)

    def links(self, axis: int) -> tuple:
        """What leads from each node to the ones before and behind it along an axis."""
        if self.stencil is not None:
            near = [tuple(s * (i == axis) for i in range(len(self.shape))) for s in (-1, 1)]
            return tuple(-self.stencil[offsets(len(self.shape)).index(o)] for o in near)
        e, n = self.edges[axis], self.shape[axis]
        after = shifted(e, axis, 1, True) if self.rings[axis] else cut(e, axis, 1, n + 1)
        return cut(e, axis, 0, n), after


def hierarchy(op) -> Level:
    """The levels for an operator in the form of flows."""
    if isinstance(op, Masked):
        return _masked_level(geometry(op))
    return _completed(finest(op), _even(op), op.singular)


def finest(op) -> Level:
    """The first level alone, of a box."""
    first = tuple(int(not a.ring and a.kinds[0][1] == 0) for a in op.axes)
    strides = _strides(op.field_shape, op.rings, odd=not _even(op))
    if op.mixed:
        stencil = _tensor.stencil(op, op.sinks())
        return _of_stencil(stencil, op.rings, first, strides)
    return _made(list(op.edges()), op.sinks(), op.rings, first, strides)


def lighter(op, here: Level, dtype) -> tuple:
    """(levels, scale): the hierarchy of a box in lower precision, of scale × the operator, so that
    its numbers are in range; ``here`` is its first level."""
    scale = 1 / xnp.max(here.diagonal)
    edges = [(scale * e).astype(dtype) for e in here.edges]
    light = _made(edges, (scale * here.sinks).astype(dtype), here.rings, here.offsets, here.strides)
    return _completed(light, _even(op), op.singular), scale


def _even(op) -> bool:
    """Whether coefficients do not jump, as they are numbers, and periodic axes can be halved."""
    rings = [n for n, ring in zip(op.field_shape, op.rings, strict=True) if ring]
    if (
        op.mixed or op.grid.centred
    ):  # cells half as wide as others beside the faces, and they are in pairs
        return False
    return all(a.ndim == 0 for a in op.a) and all(_halved(n) for n in rings)


def _halved(n: int) -> bool:
    """Whether a periodic axis becomes short by halves, and not by a few nodes more."""
    while n % 2 == 0 and n > 6:
        n //= 2
    return n <= 6


def _completed(here: Level, even: bool, singular: bool) -> Level:
    """With all levels below."""
    if even:
        return _level(here.edges, here.sinks, here.rings, here.offsets, singular)
    return _galerkin(here, singular)


def _galerkin(here: Level, singular: bool) -> Level:
    if size(here.shape) <= _DENSE_UP_TO:
        return here.replace(inverse=_inverse(here, singular))
    if max(here.strides) == 1:
        return here
    here = here.replace(weights=weights_of(here))
    stencil = coarse_stencil(here)
    strides = _strides(typeof(stencil[0]).shape, here.rings, odd=True)
    coarse = _of_stencil(stencil, here.rings, here.offsets, strides)
    return here.replace(coarse=_galerkin(coarse, singular))


def _of_stencil(stencil, rings, offsets, strides) -> Level:
    """A level of elements."""
    middle = diagonal_of(stencil)
    # Gershgorin's bound; for flows it is 2
    bound = 1 + xnp.max(reduce(xnp.add, [xnp.abs(x) for x in split(stencil)[1]]) / middle)
    return Level(
        None, None, middle, None, None, None, None, stencil, None, xnp.maximum(bound / 2, 1),
        rings, offsets, strides,
    )  # fmt: skip


def _level(edges, sinks, rings, offsets, singular: bool) -> Level:
    shape = typeof(sinks).shape
    strides = _strides(shape, rings)
    here = _made(edges, sinks, rings, offsets, strides)
    if size(shape) <= _DENSE_UP_TO:
        return here.replace(inverse=_inverse(here, singular))
    if max(strides) == 1:
        return here
    coarse = [_coarse_edges(here, axis) for axis in range(len(shape))]
    fewer = sinks
    for axis in range(len(shape)):
        fewer = _gathered(fewer, axis, here)
    return here.replace(coarse=_level(coarse, fewer, rings, offsets, singular))


def _strides(shape, rings, odd: bool = False) -> tuple:
    """Which axes are coarsened. Stencils of periodic axes need three nodes on the coarse grid."""
    fits = [(n > 4 if odd else n > 3 and n % 2 == 0) if ring else n > 3
            for n, ring in zip(shape, rings, strict=True)]  # fmt: skip
    return tuple(2 if fit else 1 for fit in fits)


def _made(edges, sinks, rings, offsets, strides, walls=None, inside=None) -> Level:
    whole = diagonal(edges, sinks, rings)
    return Level(
        tuple(edges), sinks, whole, None, None, walls, inside,
        rings=rings, offsets=offsets, strides=strides,
    )  # fmt: skip


def _masked_level(g: Geometry) -> Level:
    n = len(g.lines)
    edges, sinks, walls = g.flows()
    shape = typeof(sinks).shape
    nowhere = (False,) * n
    strides = _strides(shape, nowhere)
    here = _made(edges, sinks, nowhere, (1,) * n, strides, walls, g.inside)
    if size(shape) <= _DENSE_UP_TO:
        return here.replace(inverse=_inverse(here, False))
    if max(strides) == 1:
        return here
    return here.replace(coarse=_masked_level(g.coarser(strides)))


def _inverse(level: Level, singular: bool):
    n = size(level.shape)
    level = in_precision(np.float64, level)
    units = xnp.eye(n, dtype=np.float64).reshape(n, *level.shape)
    a = vmap(level)(units).reshape(n, n)  # in double precision, as rows must sum up to what they do
    if singular:  # constants get an eigenvalue of their own
        a = a + xnp.max(level.diagonal) / n
    ways = {"cuda": _inverse_by_products, "tpu": _inverse_from_float32}
    return platform_dependent(a, **ways, default=xnp.linalg.inv)


def _inverse_from_float32(a):
    """For a TPU, whose float64 are pairs of float32, which are multiplied and not factorised."""
    x = xnp.linalg.inv(a.astype(np.float32)).astype(a.dtype)
    for _ in range(2):
        x = x @ (2 * xnp.eye(typeof(a).shape[-1], dtype=a.dtype) - a @ x)
    return x


def _inverse_by_products(a):
    """x ↦ x (2 - a x) doubles the digits of a⁻¹, from 1 / ‖a‖ on where a is definite; else by LU, of which each
    column is a wait on a GPU. (Schulz 1933)"""
    one = xnp.eye(typeof(a).shape[-1], dtype=typeof(a).dtype)

    def better(x):
        return x @ (2 * one - a @ x)

    def off(x):
        return xnp.max(xnp.abs(one - a @ x))

    x = one / xnp.max(xnp.abs(a).sum(-1))
    for _ in range(_DOUBLINGS):
        x = better(x)
    found = iterate(Steps(better, lambda x: ~(off(x) > _NEARLY)), x, 3 * _DOUBLINGS).state
    return cond(off(found) <= _NEARLY, lambda: better(found), lambda: xnp.linalg.inv(a))


_DOUBLINGS = 12  # enough for a condition of 300, which a coarsest grid has; more are counted
_NEARLY = 1e-8  # after which one more has all digits


def in_precision(dtype, x):
    """The arrays of a tree in another precision."""
    cast = lambda x: x.astype(dtype) if dtypes.is_inexact(x.dtype) else x  # noqa: E731
    return tree.map(lambda x: cast(xnp.asarray(x)), x)


def _every(x, axis: int, start: int, step: int):
    return x[(slice(None),) * axis + (slice(start, None, step),)]


def _gathered(x, axis: int, level: Level):
    """Sums over the nodes around each coarse node, with weights 1/2, 1, 1/2."""
    if level.strides[axis] == 1:
        return x
    ring = level.rings[axis]
    x = x + (shifted(x, axis, 1, ring) + shifted(x, axis, -1, ring)) / 2
    return _every(x, axis, level.offsets[axis], 2)


def _coarse_edges(level: Level, axis: int):
    """Edges along an axis between coarse nodes."""
    e = level.edges[axis]
    for other in range(len(level.shape)):
        if other != axis:
            e = _gathered(e, other, level)
    if level.strides[axis] == 1:
        return e
    if level.rings[axis]:  # edge k leads from k - 1 to k; the coarse one ends at 2 k
        return _in_series(_every(shifted(e, axis, -1, True), axis, 0, 2), _every(e, axis, 0, 2))
    n = typeof(e).shape[axis]
    lead = [] if level.offsets[axis] else [cut(e, axis, 0, 1)]
    rest = e if level.offsets[axis] else cut(e, axis, 1, n)
    first, second = _every(rest, axis, 0, 2), _every(rest, axis, 1, 2)
    m = typeof(second).shape[axis]
    pairs = _in_series(cut(first, axis, 0, m), second)
    last = [cut(first, axis, m, m + 1)] if typeof(first).shape[axis] > m else []
    return xnp.concatenate([*lead, pairs, *last], axis=axis)


def _in_series(a, b):
    total = a + b
    return a * (b / xnp.where(total == 0, 1, total))  # a b may be out of range


# Transfers


def prolong(level: Level, coarse, walls=None):
    """Values on a level from those on the next, axis by axis.

    ``walls``: for each axis what flows in from the boundary; nothing by default.
    """
    if level.weights is not None:
        return prolong_by_equations(level, coarse)
    u = coarse if level.inside is None else xnp.where(level.coarse.inside, coarse, 0)
    for axis in range(len(level.shape)):
        inflow = None if walls is None else walls[axis]
        u = _prolong_along(level, u, axis, inflow) if level.strides[axis] == 2 else u
    return u


def _prolong_along(level: Level, u, axis: int, inflow=None):
    n, off, ring = level.shape[axis], level.offsets[axis], level.rings[axis]
    m, ndim = typeof(u).shape[axis], typeof(u).ndim
    low = tuple(off if i == axis else 0 for i in range(ndim))
    high = tuple(n - off - 2 * m + 1 if i == axis else 0 for i in range(ndim))
    inner = tuple(1 if i == axis else 0 for i in range(ndim))
    spread = ops.pad(u, xnp.zeros((), typeof(u).dtype), low=low, high=high, interior=inner)
    # axes behind this one are still coarse, and so are the edges to look at
    e = level.edges[axis]
    thinned = [i for i in range(axis + 1, ndim) if level.strides[i] == 2]
    thin = lambda x: reduce(lambda y, i: _every(y, i, level.offsets[i], 2), thinned, x)  # noqa: E731
    e = thin(e)
    before = cut(e, axis, 0, n)
    after = shifted(e, axis, 1, True) if ring else cut(e, axis, 1, n + 1)
    total = before + after
    if level.walls is not None:
        total = total + thin(level.walls[axis])
    between = np.arange(n) % 2 != off % 2
    between = between.reshape([-1 if i == axis else 1 for i in range(ndim)])
    share = xnp.where(between, 1 / xnp.where(total == 0, 1, total), 0)
    moved = before * shifted(spread, axis, -1, ring) + after * shifted(spread, axis, 1, ring)
    moved = moved if inflow is None else moved + thin(inflow)
    return spread + share * moved


def restrict(level: Level, r):
    """The transpose of ``prolong``: what is left to do, summed to coarse nodes."""
    example = xnp.zeros(level.coarse.shape, typeof(r).dtype)
    return linear_transpose(lambda u: prolong(level, u), example)(r)[0]


# Smoothing


def _chebyshev(level: Level, u, b, degree: int, reverse: bool):
    """Chebyshev's polynomial over the upper part of the spectrum of D⁻¹ A."""
    whole = level.diagonal * level.reach
    low, high = 1.0 / len(level.shape), 2.0
    centre, radius = (high + low) / 2, (high - low) / 2
    r = b if u is None else b - level(u)
    d = r / (centre * whole)
    u = d if u is None else u + d
    factors, rho = [], radius / centre
    for _ in range(degree - 1):
        new = 1 / (2 * centre / radius - rho)
        factors.append((new * rho, 2 * new / radius))
        rho = new

    def step(carry, factor):
        u, r, d = carry
        r = r - level(d)
        d = factor[0] * d + factor[1] * (r / whole)
        return (u + d, r, d), None

    # few steps are written out: a GPU starts fewer kernels, and compilers take no longer
    factors = np.array(factors, typeof(b).dtype).reshape(-1, 2)
    return scan(step, (u, r, d), factors, unroll=len(factors) <= _FEW_STEPS or 1)[0][0]


def _parity(shape, skip: int | None = None) -> np.ndarray:
    lines = [np.arange(n) * (i != skip) for i, n in enumerate(shape)]
    total = lines[0]
    for line in lines[1:]:
        total = np.add.outer(total, line)
    return total % 2 == 0


def _red_black(level: Level, u, b, degree: int, reverse: bool):
    """Gauss and Seidel's method on all nodes of one colour, then on those of the other; of more
    colours where diagonals of cells are edges too."""
    red = _parity(level.shape)
    colours = [red, ~red]
    if level.stencil is not None:
        parities = [_parity(level.shape[i : i + 1]) for i in range(len(level.shape))]
        every = itertools.product(*[(p, ~p) for p in parities])
        colours = [reduce(np.logical_and.outer, parts) for parts in every]
    u = xnp.zeros_like(b) if u is None else u
    for _ in range(max(1, degree // 2)):
        for colour in colours[::-1] if reverse else colours:
            u = u + xnp.where(colour, (b - level(u)) / level.diagonal, 0)
    return u


def _lines(level: Level, u, b, degree: int, reverse: bool):
    """All unknowns of every second line at once, then of the others, along each axis in turn."""
    u = xnp.zeros_like(b) if u is None else u
    sweeps = [(axis, colour) for axis in range(len(level.shape)) for colour in (True, False)]
    for axis, colour in sweeps[::-1] if reverse else sweeps:
        u = u + _line_step(level, b - level(u), axis, colour)
    return u


def _line_step(level: Level, r, axis: int, colour: bool):
    before, after = level.links(axis)
    chosen = _parity(level.shape, axis) == colour
    # of a periodic axis the link that closes it is left out: the rest is a good approximation
    turn = lambda x: xnp.moveaxis(x, axis, -1)  # noqa: E731
    x = solve_tridiagonal(
        turn(-before), turn(level.diagonal), turn(-after), turn(r)[..., None], method="thomas"
    )
    return xnp.where(chosen, xnp.moveaxis(x[..., 0], -1, axis), 0)


_SMOOTH = {"chebyshev": _chebyshev, "red-black": _red_black, "lines": _lines}


# Cycles


def _cycle(level: Level, b, kind: str, smoother: str, degree: int):
    """An approximation to A⁻¹ b by one cycle; symmetric and linear in b, for V and W cycles."""
    smooth = _SMOOTH[smoother]
    if level.inverse is not None:
        made = level.inverse @ b.reshape(-1)
        return made.astype(typeof(b).dtype).reshape(level.shape)
    if level.coarse is None:
        return _chebyshev(level, None, b, 40, False)
    u = smooth(level, None, b, degree, False)
    for again, next_kind in _visits(kind):
        r = restrict(level, b - level(u))
        u = u + prolong(level, cycle(level.coarse, r, next_kind, smoother, degree))
        u = smooth(level, u, b, degree, again != "more")
    return u


def _visits(kind: str):
    """The coarse grid's visits: after each, how to smooth, and of what kind it is."""
    return {
        "V": [("last", "V")],
        "W": [("more", "W"), ("last", "W")],
        "F": [("more", "F"), ("last", "V")],
    }[kind]


cycle = jit(_cycle, static_argnums=(2, 3, 4))


def full_multigrid(
    level: Level, b, smoother: str = "chebyshev", degree: int = 2, smooth: bool = False, walls=None
):
    """An approximation to A⁻¹ b as good as the discretisation: from the coarsest level up, with a
    V-cycle on each.

    A product with A on the finest level counted as one, with degree 2 it takes 5 there, so 5 × 4/3 for
    the cycle and × 4/3 for all levels: 9 in two dimensions. Solutions that are smooth are
    interpolated with order 4, since the error of a linear interpolation is as large as that of the
    discretisation. (Trottenberg, Oosterlee and Schüller 2001, section 2.6)

    ``walls``: for each level what flows in from the boundary, as ``prolong`` takes it, not in b.
    """
    here, rest = (None, None) if walls is None else (walls[0], walls[1:])
    whole = b if here is None else b + reduce(xnp.add, here)
    if level.coarse is None:
        return cycle(level, whole, "V", smoother, degree)
    coarse = full_multigrid(level.coarse, restrict(level, b), smoother, degree, smooth, rest)
    u = _interpolated(level, coarse) if smooth else prolong(level, coarse, here)
    return u + cycle(level, whole - level(u), "V", smoother, degree)


def lift(op: Masked, level: Level, smoother: str):
    """A field that continues the data on the boundary: about the one without sources."""
    g, walls = geometry(op), []
    for part in levels(level):
        walls.append(g.wall_flows())
        g = g.coarser(part.strides)
    return full_multigrid(level, xnp.zeros(level.shape, op.dtype), smoother, walls=walls)


def _interpolated(level: Level, coarse):
    """Values on a level from those on the next, by cubics where an axis has enough nodes."""
    fits = [s == 1 or _cubic_fits(level, i) for i, s in enumerate(level.strides)]
    if not all(fits):
        return prolong(level, coarse)
    u = coarse
    for axis, stride in enumerate(level.strides):
        u = _cubic_along(level, u, axis) if stride == 2 else u
    return u


def _cubic_fits(level: Level, axis: int) -> bool:
    n, off = level.shape[axis], level.offsets[axis]
    if level.rings[axis]:
        return n >= 8 and n % 2 == 0
    last = off + 2 * (level.coarse.shape[axis] - 1)  # the last coarse node, in the fine numbering
    return level.coarse.shape[axis] >= 4 and n - 1 - last in (0, 1)


def _cubic_along(level: Level, u, axis: int):
    """Means over four nodes, one-sided at the ends; where an end is a Dirichlet face, it is 0."""
    n, off = level.shape[axis], level.offsets[axis]
    u = xnp.moveaxis(u, axis, 0)
    if level.rings[axis]:
        between = (9 * (u + xnp.roll(u, -1, 0)) - xnp.roll(u, 1, 0) - xnp.roll(u, -2, 0)) / 16
        pairs = xnp.stack([u, between], axis=1)
        return xnp.moveaxis(pairs.reshape(n, *typeof(u).shape[1:]), 0, axis)
    beyond = n - 1 - (off + 2 * (typeof(u).shape[0] - 1))
    rest = [(0, 0)] * (typeof(u).ndim - 1)
    u = xnp.pad(u, [(off, beyond), *rest])
    inner = (9 * (u[1:-2] + u[2:-1]) - u[:-3] - u[3:]) / 16
    ends = [(5 * x[0] + 15 * x[1] - 5 * x[2] + x[3]) / 16 for x in (u, xnp.flip(u[-4:], 0))]
    between = xnp.concatenate([ends[0][None], inner, ends[1][None]])
    pairs = xnp.stack([u[:-1], between], axis=1).reshape(-1, *typeof(u).shape[1:])
    whole = xnp.concatenate([pairs, u[-1:]])
    return xnp.moveaxis(whole[off : off + n], 0, axis)


def levels(level: Level) -> list[Level]:
    """All levels, the finest first."""
    return [level, *levels(level.coarse)] if level.coarse is not None else [level]
