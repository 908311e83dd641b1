"""div(a grad u) - c u in a part of a box: an L, a disc, whatever a predicate or an image says.

Unknowns are the nodes inside; fields have the shape of the box and vanish outside. Towards a node
outside, the boundary is met after a gap, a part of a cell. Per axis, with gaps l and r to both sides,

    u'' ≈ 2 / (l + r) ((u₊ - u) / r - (u - u₋) / l)

which is of order 1 next to the boundary and gives solutions of order 2. (Shortley and Weller 1938)
With the full cell h in place of (l + r) / 2 it is symmetric, and solutions still are of order 2.
(Gibou, Fedkiw, Cheng and Kang 2002, "A second-order-accurate symmetric discretization of the Poisson
equation on irregular domains") A staircase puts the boundary on nodes: order 1.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import jit, jvp, stop_gradient
from .._core import Array, Tracer, Value, dtypes, errors, static, struct, typeof
from .._core.typing import ArrayLike, DTypeLike
from .._transforms.jvp import watching
from ._along import along, shifted
from ._boundary import ZERO, real_only, resolve
from ._diffusion import is_decay, is_positive, require
from ._fields import GridOperator
from ._grid import Grid, check_level, evaluated, real_dtype

EDGES = ("shortley-weller", "symmetric", "staircase")
_NEAREST = 1e-6  # of a cell: nodes nearer to the boundary count as this far, so numbers stay finite


@struct
class Masked(GridOperator):
    """u ↦ div(a grad u) - c u where ``inside`` holds, with u = value on the boundary there.

    The faces of the box are boundary too. ``op(u) + op.boundary()`` as for all operators.

    Attributes:
      grid: a ``Grid``.
      inside: a function of the coordinates, or values at all nodes. Booleans: a function's boundary
        is found by bisection, an image's is a staircase. Real numbers: inside is where they are
        positive, and the boundary is where they vanish, which can be differentiated. As an
        attribute the unknowns, booleans.
      a: positive and smooth: a number, a function of the coordinates, or values at all nodes.
      value: on the boundary: a number or a function of the coordinates.
      c: not negative: likewise as a.
      edge: treatment of the boundary: "shortley-weller", "symmetric" or "staircase".
      gaps: for each axis the distances (low, high) to the next node or to the boundary; found from
        ``inside``.

    >>> disc = Masked(Grid((20, 20), -1.0, 1.0), lambda x, y: x**2 + y**2 < 0.81)
    >>> disc.field_shape, int(disc.inside.sum())
    ((19, 19), 251)
    """

    grid: Any = static()
    inside: Any = True
    a: Any = 1.0
    value: Any = 0.0
    c: Any = 0.0
    edge: str = static(default="shortley-weller")
    gaps: Any = None

    def __post_init__(self):
        who, settle = "pde.Masked", object.__setattr__
        if not isinstance(self.grid, Grid):
            raise errors.bad_argument(who, "grid", self.grid, "a pde.Grid")
        if self.grid.centred:
            advice = "pde.Grid(...) has nodes; outside may also have a tiny a in a pde.Diffusion on cells."
            raise errors.bad_argument(who, "grid", self.grid, "one with values at nodes", advice)
        if self.edge not in EDGES:
            known = ", ".join(map(repr, EDGES))
            raise errors.bad_argument(who, "edge", self.edge, f"one of {known}")
        if self.gaps is None:
            finest = _finest(self.a, self.value, self.c)
            inside, gaps = _geometry(who, self.grid, self.inside, self.edge, finest)
            settle(self, "inside", xnp.asarray(inside))
            settle(self, "gaps", tuple(tuple(map(xnp.asarray, pair)) for pair in gaps))
        if not isinstance(self.a, tuple):
            settle(self, "a", self._between(who, "a", self.a))
        if not isinstance(self.value, tuple):
            settle(self, "value", self._on_walls(who, self.value))
        if self.c is None or (isinstance(self.c, (int, float)) and self.c == 0):
            return settle(self, "c", None)
        settle(self, "c", _at_nodes(who, "c", self.c, self.grid, self.inside.shape))
        require(who, "c", self.c, is_decay, "finite and nowhere negative")

    # What a grid operator has

    @property
    def symmetric(self):
        """Whether it is symmetric as it is; but for "shortley-weller" it is when weighted."""
        even = all(np.ptp(a.weights) < 1e-12 * a.weights.max() for a in self.axes)
        return self.edge != "shortley-weller" and even

    @property
    def faces(self):
        """The box has Dirichlet faces."""
        return resolve("pde.Masked", self.grid, ZERO)

    @property
    def dtype(self):
        parts = [*(x for pair in (*self.a, *self.value) for x in pair), self.c]
        return functools.reduce(xnp.promote_types, [x.dtype for x in parts if x is not None])

    def field(
        self, f: ArrayLike | Callable[..., ArrayLike], dtype: DTypeLike | None = None
    ) -> Array:
        """A field, zero outside."""
        return xnp.where(self.inside, GridOperator.field(self, f, dtype), 0)

    def full(self, u: ArrayLike, outside: ArrayLike = 0.0) -> Array:
        """Values at all nodes: those of a field, and one number for all nodes outside."""
        u = xnp.where(self.inside, GridOperator.field(self, u), outside)
        return xnp.pad(u, 1, constant_values=outside)

    def integrate(self, u: ArrayLike) -> Array:
        """The integral of a field, by the volumes of its nodes: of order 2 if u vanishes on the
        boundary, else of order 1."""
        return GridOperator.integrate(self, xnp.where(self.inside, self.field(u), 0))

    def __call__(self, u: ArrayLike) -> Array:
        return _applied(self, self.operand(u))

    def _apply(self, u):
        out = 0 if self.c is None else -self.c * u
        for axis in range(self.grid.ndim):
            (low, high), _ = self.slopes(axis)
            before, after = shifted(u, axis, -1), shifted(u, axis, 1)
            out = out + (high * (after - u) - low * (u - before))
        return xnp.where(self.inside, out, 0)

    def boundary(self, dtype: DTypeLike | None = None) -> Array:
        """What the data on the boundary add: a field."""
        return _data(self, self.dtype if dtype is None else np.dtype(dtype))

    def _boundary(self, dtype):
        out = xnp.zeros(self.field_shape, dtype)
        for axis, values in enumerate(self.value):
            for slope, met, value in zip(*self.slopes(axis), values, strict=True):
                out = out + xnp.where(met, slope * value, 0)
        return xnp.where(self.inside, out, 0).astype(dtype)

    def slopes(self, axis: int, edge: str | None = None):
        """(low, high): what multiplies differences of u, a / gap over the width; and where the
        boundary is met before the next node."""
        low, high = self.gaps[axis]
        if (edge or self.edge) == "shortley-weller":
            width = (low + high) / 2
        else:
            width = along(self.axes[axis].weights, axis, self.grid.ndim, typeof(low).dtype)
        met = [self.inside & ~shifted(self.inside, axis, s) for s in (-1, 1)]
        return [a / gap / width for a, gap in zip(self.a[axis], (low, high), strict=True)], met

    def diagonal(self):
        """The diagonal of -op."""
        slopes = [self.slopes(i)[0] for i in range(self.grid.ndim)]
        return sum(low + high for low, high in slopes) + (0 if self.c is None else self.c)

    def balance(self) -> tuple:
        """(s, t): factors of rows, as small as the boundary is near. s t evens out the rows of the
        operator: without them those at the boundary outweigh all others in a norm. s does so for
        the symmetric form, whose diagonal is t times that of the operator."""
        n, regular = self.grid.ndim, 0
        for i, pair in enumerate(self.a):
            steps = [s.astype(self.dtype) for s in _steps(self.grid, i)]
            width = along(self.axes[i].weights, i, n, self.dtype)
            regular = regular + sum(a / h / width for a, h in zip(pair, steps, strict=True))
        total = lambda edge: sum(sum(self.slopes(i, edge)[0]) for i in range(n))  # noqa: E731
        even = total("symmetric")
        ratio = even / total(self.edge)
        return tuple(xnp.where(self.inside, x, 1) for x in (regular / even, ratio))

    # What ``solve`` asks

    has_energy = False
    skew = property(lambda self: self.edge == "shortley-weller")
    accuracy = property(lambda self: 1 if self.edge == "staircase" else 2)
    conductances = (1.0,)

    def automatic(self) -> tuple[str, str]:
        """(the method of choice, why)."""
        if self.skew:
            return "bicgstab", "rows next to the boundary make the operator unsymmetric"
        return super().automatic()

    def instead_of(self, method: str) -> str:
        """What to take where a method does not do; empty where it does."""
        if self.skew and method == "cg":
            return '"bicgstab" or "multigrid", or edge="symmetric"'
        return super().instead_of(method)

    def only_inside(self, u):
        """The field, zero outside: no cotangents come from there."""
        return self.field(u)

    def evened(self):
        """Factors of rows: those next to the boundary outweigh all others in a norm."""
        even, ratio = self.balance()
        return even * ratio

    def absolute(self):
        """About the sum of the absolute values of the elements of each row."""
        return 2 * self.diagonal()

    # Its parts

    def _between(self, who: str, name: str, x) -> tuple:
        """a half-way to the next nodes or to the boundary: for each axis a pair of fields."""
        if callable(x):
            made = self._on_walls(who, x, 0.5)
        else:
            x = xnp.asarray(_real(x))
            if x.ndim and x.shape != self.grid.shape:
                why = f"need a number, a function, or {name} at all nodes, {self.grid.shape}"
                raise errors.shape_mismatch(who, why, **{name: x})
            made = self._means(x)
        for pair in made:
            for part in pair:
                need = xnp.where(self.inside, part, 1) if part.ndim else part
                require(who, name, need, is_positive, "positive and finite everywhere inside")
        return made

    def _means(self, x) -> tuple:
        if x.ndim == 0:
            return ((x, x),) * self.grid.ndim
        inner = (slice(1, -1),) * self.grid.ndim
        out = []
        for axis, gaps in enumerate(self.gaps):
            sides = (slice(0, -2), slice(2, None))
            near = [x[(*inner[:axis], s, *inner[axis + 1 :])] for s in sides]
            steps = _steps(self.grid, axis)
            share = [g / (2 * s.astype(typeof(g).dtype)) for g, s in zip(gaps, steps, strict=True)]
            out.append(
                tuple(x[inner] + s * (y - x[inner]) for s, y in zip(share, near, strict=True))
            )
        return tuple(out)

    def _on_walls(self, who: str, value, part: float = 1.0) -> tuple:
        """Values at the ends of all gaps, or after a part of them."""
        if not callable(value):
            value = xnp.asarray(_real(value))
            if value.ndim:
                why = "need a number or a function of the coordinates"
                raise errors.shape_mismatch(who, why, value=value)
            return ((value, value),) * self.grid.ndim
        points = self.points()
        made = []
        for axis, gaps in enumerate(self.gaps):
            ends = [points[axis] - part * gaps[0], points[axis] + part * gaps[1]]
            there = lambda end: (*points[:axis], end, *points[axis + 1 :])  # noqa: B023, E731
            parts = [evaluated(who, "a, c or value", value, there(end)) for end in ends]
            made.append(tuple(xnp.broadcast_to(_real(p), self.inside.shape) for p in parts))
        return tuple(made)


def _real(x):
    x = xnp.asarray(x)
    real_only("pde.Masked", "a, c and value", x)
    return x if dtypes.is_inexact(x.dtype) else x.astype(real_dtype())


def _at_nodes(who: str, name: str, x, grid: Grid, shape):
    """A number, or values at the unknowns."""
    lines = [grid.nodes(i)[1:-1].astype(real_dtype()) for i in range(grid.ndim)]
    points = np.meshgrid(*lines, indexing="ij")
    x = _real(evaluated(who, name, x, points) if callable(x) else x)
    if x.ndim and x.shape == grid.shape != shape:
        return x[(slice(1, -1),) * grid.ndim]
    if x.ndim and x.shape != shape:
        why = f"need a number, a function, or {name} at all nodes, {grid.shape}"
        raise errors.shape_mismatch(who, why, **{name: x})
    return x


_applied = jit(Masked._apply, inline=True)
_data = jit(Masked._boundary, static_argnums=1, inline=True)


# Where it begins


def _steps(grid: Grid, axis: int) -> list[np.ndarray]:
    """Distances from each inner node to the next ones, shaped to multiply fields."""
    widths = np.diff(grid.nodes(axis))
    shape = [-1 if i == axis else 1 for i in range(grid.ndim)]
    return [widths[:-1].reshape(shape), widths[1:].reshape(shape)]


def _finest(*data):
    """The dtype of coordinates, or the wider one of data that are given as arrays."""
    given = [typeof(x).dtype for x in data if isinstance(x, (Value, np.ndarray))]
    reals = [d for d in given if dtypes.is_inexact(d) and not dtypes.is_complex(d)]
    return functools.reduce(xnp.promote_types, reals, real_dtype())


def _geometry(who: str, grid: Grid, inside, edge: str, dtype):
    """Which inner nodes of the box are inside, and for each axis the gaps (low, high)."""
    lines = [grid.nodes(i) for i in range(grid.ndim)]
    points = np.meshgrid(*lines, indexing="ij")
    try:
        with watching() as seen:
            level = evaluated(who, "inside", inside, points) if callable(inside) else inside
        given = np.asarray(stop_gradient(level))
    except errors.ConcretizationError as e:
        raise errors.ConcretizationError(
            f"xcore.{who}: inside must be known when the program is made. {_DIFFERENTIABLE}\n{e}"
        ) from e
    check_level(who, given)
    if seen.derivative and not getattr(level, "varies", False):
        raise errors.ConcretizationError(
            f"xcore.{who}: inside gives booleans or steps that hang on a value with a derivative, which they cannot "
            f"carry to the boundary. {_DIFFERENTIABLE} Apply xcore.lax.stop_gradient to the value where its "
            "derivative is not wanted."
        )
    if given.ndim == 0:
        given = np.broadcast_to(given, grid.shape)
    if given.shape != grid.shape:
        why = f"need a function, or booleans or numbers at all nodes, {grid.shape}"
        raise errors.shape_mismatch(who, why, inside=given)
    held = given if given.dtype == bool else given > 0
    inner = (slice(1, -1),) * grid.ndim
    if not held[inner].any():
        raise errors.bad_argument(who, "inside", inside, "true at one inner node at least")
    share = functools.partial(_share, inside, given, level, held, points)
    staircase = edge == "staircase" or (given.dtype == bool and not callable(inside))
    gaps = []
    for axis in range(grid.ndim):
        parts = [np.ones(()) if staircase else share(axis, side) for side in (-1, 1)]
        gaps.append([_on(p).broadcast_to(p * s, held[inner].shape).astype(dtype)
                     for p, s in zip(parts, _steps(grid, axis), strict=True)])  # fmt: skip
    return held[inner], gaps


_DIFFERENTIABLE = (
    "For derivatives give real numbers, positive inside and 0 at the boundary, made by operators and "
    "functions of xcore.numpy: lambda x, y: r**2 - x**2 - y**2."
)


def _on(x):
    """The functions for a value: NumPy's for numbers that are known, ours for one with a derivative."""
    return xnp if isinstance(x, Value) else np


def _moves(x) -> bool:
    return isinstance(x, Tracer) and x.varies


def _share(inside, given, level, held, points, axis: int, side: int):
    """Of each step from an inner node to the next one, the part up to the boundary."""
    inner = [slice(1, -1)] * given.ndim
    there = list(inner)
    there[axis] = slice(0, -2) if side < 0 else slice(2, None)
    inner, there = tuple(inner), tuple(there)
    cut = np.nonzero(held[inner] & ~held[there])
    known = level if _moves(level) else given
    if given.dtype != bool and not callable(inside):
        here, next_ = known[inner][cut], known[there][cut]
        found = here / (here - next_)
    else:
        ends = [(p[inner][cut], p[there][cut]) for p in points]
        found = _bisected(inside, ends)
        found = _followed(inside, ends, found) if _moves(level) else found
    part = _filled(held[inner].shape, cut, found)
    known = np.clip(np.asarray(stop_gradient(part)), _NEAREST, 1.0)
    known = np.where(known > 1 - 1e-9, 1.0, known)
    # limits move the boundary by nothing that matters; its derivatives are those without them
    return part + (known - stop_gradient(part)) if _moves(part) else known


def _filled(shape, cut, found):
    """Whole steps but where the boundary cuts them."""
    if _moves(found):
        return xnp.ones(shape, np.float64).at[cut].set(found)
    part = np.ones(shape)
    part[cut] = found
    return part


def _followed(inside, ends, share):
    """Where the boundary is, with its derivatives: those of two steps of Newton's method.

    One step from the boundary is right in its first derivatives, a second one in the next two.
    """

    def at(s):
        return inside(*[a + s * (b - a) for a, b in ends])

    s = share
    for _ in range(2):
        level, slope = jvp(at, (s,), (np.ones_like(share),))
        s = s - level / slope
    return share + (s - stop_gradient(s))


def _bisected(inside, ends) -> np.ndarray:
    """The last part of a way that is inside, where its start is and its end is not."""
    low, high = np.zeros_like(ends[0][0]), np.ones_like(ends[0][0])
    for _ in range(48):
        middle = (low + high) / 2
        at = np.asarray(stop_gradient(inside(*[a + middle * (b - a) for a, b in ends])))
        at = np.broadcast_to(at if at.dtype == bool else at > 0, middle.shape)
        low, high = np.where(at, middle, low), np.where(at, high, middle)
    return (low + high) / 2
