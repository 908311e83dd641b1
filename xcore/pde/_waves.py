"""Waves in a box that is open to the outside, with sources and receivers between the nodes.

Beyond the edges lies a layer in which derivatives are those along complex coordinates, so that waves fade and do
not come back. In time these are convolutions with an exponential, one number for each node and axis. (Komatitsch
and Martin 2007, Geophysics 72; for equations of second order Pasalic and McGarry 2010)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import Array, ArrayLike, PyTree, dtypes, errors, one_of, static, struct, typeof
from ._grid import Grid, evaluated, real_dtype

# Weights of (f(x + (k + 1/2) h) - f(x - (k + 1/2) h)) / h in f'(x), by their order. (Fornberg 1988)
WEIGHTS = {
    2: (1.0,),
    4: (9 / 8, -1 / 24),
    6: (75 / 64, -25 / 384, 3 / 640),
    8: (1225 / 1024, -245 / 3072, 49 / 5120, -5 / 7168),
}
_POWER = 2  # with which the damping grows into the layer
_BACK = 1e-6  # of the amplitude that a wave would bring back that goes straight into the layer


# Between the nodes


@struct
class Points:
    """Places between the nodes of a grid: what a field is there, and fields that are sources there.

    Values are those of cubics through four nodes along each axis. A source is what ``read`` is the
    transpose of, divided by the size of a cell: its moments up to the third are those of a point.

    Attributes:
      grid: nodes equally spaced, four along each axis at least.
      where: positions (k, axes), or (k,) on a line. They have derivatives.

    >>> points = Points(Grid(10), [0.25, 0.5])
    >>> points.read(xnp.linspace(0.0, 1.0, 11) ** 2).round(4)
    Array([0.0625, 0.25  ], dtype=float32)
    """

    grid: Grid = static()
    where: Any = None

    def __post_init__(self):
        who = "pde.Points"
        check_grid(who, self.grid, 4)
        at = xnp.asarray(self.where)
        if typeof(at).ndim == 1 and self.grid.ndim == 1:
            at = at[:, None]
        if typeof(at).ndim != 2 or typeof(at).shape[1] != self.grid.ndim:
            want = f"positions (k, {self.grid.ndim}), a row for each point"
            raise errors.bad_argument(who, "where", at, want)
        if type(at) is Array:
            low, high, x = np.array(self.grid.lower), np.array(self.grid.upper), np.asarray(at)
            if not np.all((x >= low - 1e-6 * (high - low)) & (x <= high + 1e-6 * (high - low))):
                raise errors.bad_argument(
                    who, "where", x, f"in the box from {self.grid.lower} to {self.grid.upper}"
                )
        object.__setattr__(self, "where", at)

    def read(self, u: Array) -> Array:
        """The values (k,) of a field on all nodes."""
        u = xnp.asarray(u)
        if typeof(u).shape != self.grid.shape:
            want = f"a field on all nodes, of shape {self.grid.shape}"
            advice = "op.full(u) makes it of a field of the unknowns of an operator."
            raise errors.bad_argument("pde.Points.read", "u", u, want, advice)
        places, weights = self._stencils(typeof(u).dtype)
        return xnp.sum(u[places] * weights, axis=tuple(range(1, self.grid.ndim + 1)))

    def spread(self, amplitudes: Array) -> Array:
        """The field on all nodes of sources with these amplitudes (k,): deltas, spread over a few nodes."""
        amplitudes, count = xnp.asarray(amplitudes), typeof(self.where).shape[0]
        if typeof(amplitudes).shape not in ((), (count,)):
            want = f"one number or {count}, one for each point"
            raise errors.bad_argument("pde.Points.spread", "amplitudes", amplitudes, want)
        places, weights = self._stencils(typeof(amplitudes).dtype)
        lead = amplitudes.reshape(-1, *[1] * self.grid.ndim)
        field = xnp.zeros(self.grid.shape, typeof(weights).dtype)
        return field.at[places].add(lead * weights) / math.prod(self.grid.spacing)

    def _stencils(self, dtype):
        """(the nodes around each point, as indices of an array; their weights, (k, 4, …))."""
        n, weights, places = self.grid.ndim, 1.0, []
        for i in range(n):
            x = (self.where[:, i] - self.grid.lower[i]) / self.grid.spacing[i]
            first = xnp.clip(xnp.floor(x).astype(np.int32) - 1, 0, self.grid.shape[i] - 4)
            part = (x - first).astype(dtype)
            shape = [-1, *[1] * n]
            shape[1 + i] = 4
            places.append((first[:, None] + np.arange(4)).reshape(shape))
            weights = weights * xnp.stack([_cubic(part, j) for j in range(4)], axis=1).reshape(
                shape
            )
        return tuple(places), weights


def _cubic(x, j: int):
    """The cubic that is 1 at j and 0 at the others of 0, 1, 2, 3."""
    value = 1.0
    for k in range(4):
        value = value * ((x - k) / (j - k)) if k != j else value
    return value


def check_grid(who: str, grid, least: int) -> None:
    if not isinstance(grid, Grid) or not grid.uniform or grid.centred or min(grid.shape) < least:
        want = f"a pde.Grid of {least} or more equally spaced nodes along each axis"
        raise errors.bad_argument(who, "grid", grid, want)


# The equation


class OpenWave:
    """What steps of waves in a box with layers share; fields as in ``Wave``, and those that are ``media``."""

    grid: Grid
    speed: Any
    sources: Points | None
    signal: Callable[..., Any] | None
    layer: Any
    order: int
    media = ("speed",)
    unknown = "u"

    def __post_init__(self):
        who = f"pde.{type(self).__name__}"
        one_of(who, "order", self.order, WEIGHTS, f"one of {tuple(WEIGHTS)}")
        check_grid(who, self.grid, self.order + 1)
        object.__setattr__(self, "layer", pairs(who, self.layer, self.grid.ndim))
        for name in self.media:
            given = getattr(self, name)
            if callable(given):
                given = evaluated(who, name, given, self.grid.coordinates())
                object.__setattr__(self, name, given)
            if xnp.shape(given) not in ((), self.grid.shape):
                want = f"a number, a function of the coordinates, or a field on all nodes, of shape {self.grid.shape}"
                raise errors.bad_argument(who, name, given, want)
            if dtypes.is_complex(typeof(xnp.asarray(given)).dtype):
                raise errors.bad_argument(who, name, given, "real")
            if type(given) is Array or isinstance(given, (int, float, np.generic, np.ndarray)):
                known = np.asarray(given)
                if not np.all((known != 0) & np.isfinite(known)):
                    raise errors.bad_argument(who, name, given, "finite, and nowhere 0")
        if (self.sources is None) != (self.signal is None):
            raise errors.bad_argument(
                who, "signal", self.signal, "given with sources, and only with them"
            )
        if not (self.signal is None or callable(self.signal)):
            raise errors.bad_argument(who, "signal", self.signal, "a function of the time")
        if self.sources is not None and getattr(self.sources, "grid", None) != self.grid:
            given = getattr(self.sources, "grid", self.sources)
            raise errors.bad_argument(who, "sources", given, "pde.Points on the same grid")

    @property
    def shape(self) -> tuple[int, ...]:
        """Of fields on the grid and its layers."""
        return tuple(n + sum(pair) for n, pair in zip(self.grid.shape, self.layer, strict=True))

    def inside(self, state: PyTree) -> Array:
        """The field on the nodes of the grid."""
        return state[self.unknown][
            tuple(slice(a, a + n) for (a, _), n in zip(self.layer, self.grid.shape, strict=True))
        ]

    # parts

    def _between(self, axis: int) -> tuple[int, ...]:
        return tuple(n - (i == axis) for i, n in enumerate(self.shape))

    def _widened(self, x, dtype, edge: bool):
        """A field on the grid and its layers: as at the edge there, or 0."""
        x = xnp.broadcast_to(xnp.asarray(x, dtype), self.grid.shape)
        return xnp.pad(x, self.layer, mode="edge") if edge else xnp.pad(x, self.layer)

    def _held(self, x):
        """0 on the outermost nodes."""
        for i, n in enumerate(typeof(x).shape):
            free = (np.arange(n) > 0) & (np.arange(n) < n - 1)
            x = xnp.where(free.reshape([-1 if i == j else 1 for j in range(x.ndim)]), x, 0)
        return x

    def _driven(self, t, dtype):
        if self.sources is None:
            return xnp.zeros((), dtype)
        amplitudes = xnp.asarray(self.signal(t)).astype(dtype)  # pyright: ignore[reportOptionalCall]
        count = typeof(self.sources.where).shape[0]
        if typeof(amplitudes).shape not in ((), (count,)):
            want = f"a function of the time to one number or {count}, one for each source"
            raise errors.bad_argument(f"pde.{type(self).__name__}", "signal", amplitudes, want)
        field = self.sources.spread(xnp.broadcast_to(amplitudes, (count,)))
        return self._widened(field, dtype, edge=False)

    def _memory(self, axis: int, dt, dtype, shift: float):
        """(by how much a memory is kept in a step, the share of what is new), along an axis."""
        n, h = self.shape[axis], self.grid.spacing[axis]
        fastest = xnp.max(xnp.abs(xnp.asarray(self.speed))).astype(dtype)
        at = np.arange(n - (shift > 0)) + shift
        depth = damping(n - 1, self.layer[axis], h, at).reshape(
            [-1 if axis == j else 1 for j in range(self.grid.ndim)]
        )
        gain = xnp.expm1(-fastest * dt * depth).astype(dtype)
        return 1 + gain, gain


@struct
class Wave(OpenWave):
    """Steps of a wave in a box with open edges: (1/c²) u'' = Δu + Σₖ sₖ(t) δ(x - xₖ).

    Steps are those of the leapfrog, of order 2 in time, differences between staggered nodes make Δ. Beyond each open
    edge lies a layer that absorbs (CPML), outside of the grid; c goes on there as it is at the edge. On other edges,
    u = 0. A state is a dict, on the grid and its layers: ``start`` makes one, ``inside`` cuts out the grid. It knows
    the length of the last step, and the next one may have another.

    Attributes:
      grid: the box of interest, with equal spacing along each axis.
      speed: c, a number, a function of the coordinates or a field on all nodes, of any sign but 0. It has derivatives.
      sources: ``Points``, or None.
      signal: function of the time to the amplitudes of the sources, (k,) or a number for all.
      layer: how many cells beyond each edge absorb: a number, or for each axis one or a pair (lower, upper); 0 where
        u = 0 on the edge.
      order: of the differences, 2, 4, 6 or 8.

    >>> wave = Wave(Grid(100), 1.0, layer=20, order=4)
    >>> x = xnp.linspace(0.0, 1.0, 101)
    >>> state = wave.start(xnp.exp(-((x - 0.5) ** 2) / 0.005), dt=0.005)
    >>> for _ in range(240):
    ...     state = wave.step(state, 0.0, 0.005)
    >>> bool(xnp.abs(wave.inside(state)).max() < 1e-4)
    True
    """

    grid: Grid = static()
    speed: Any = 1.0
    sources: Points | None = None
    signal: Callable[..., Any] | None = static(default=None)
    layer: Any = static(default=20)
    order: int = static(default=4)

    def start(self, u: ArrayLike = 0.0, velocity: ArrayLike = 0.0, *, dt: ArrayLike) -> PyTree:
        """The state at t = 0 for a field u and its velocity u' on the grid, and steps of length dt."""
        dtype = state_dtype(u, velocity, self.speed)
        u, velocity = (self._widened(x, dtype, edge=False) for x in (u, velocity))
        u, velocity = self._held(u), self._held(velocity)
        rest = [xnp.zeros(self._between(i), dtype) for i in range(self.grid.ndim)]
        state = {
            "u": u,
            "before": u,
            "slopes": rest,
            "bends": [xnp.zeros(self.shape, dtype)] * self.grid.ndim,
            "dt": length(dt, dtype),
        }
        bent, _, _ = self._laplacian(state, dt)
        force = self._forced(bent + self._driven(0.0, dtype), dtype, dt)
        return state | {"before": (u - dt * velocity + force / 2).astype(dtype)}  # pyright: ignore[reportOperatorIssue]

    def step(self, state: PyTree, t: float | Array, dt: float | Array) -> PyTree:
        """One step."""
        dtype = typeof(state["u"]).dtype
        bent, slopes, bends = self._laplacian(state, dt)
        force = self._forced(bent + self._driven(t, dtype), dtype, dt)
        ratio = length(dt, dtype) / state["dt"]  # to the last step; 1, unless the length changes
        u = state["u"] + ratio * (state["u"] - state["before"]) + (1 + 1 / ratio) / 2 * force
        return {
            "u": u.astype(dtype), "before": state["u"], "slopes": slopes, "bends": bends,
            "dt": length(dt, dtype),
        }  # fmt: skip

    def longest_step(self) -> float:
        """The longest stable step: that of the fastest place."""
        fastest, reach = (
            float(xnp.max(xnp.abs(xnp.asarray(self.speed)))),
            sum(map(abs, WEIGHTS[self.order])),
        )
        return 1 / (fastest * reach * math.sqrt(sum(h**-2.0 for h in self.grid.spacing)))

    # parts

    def _forced(self, bent, dtype, dt):
        """(c dt)² (Δu + …): c dt is about h, where dt² alone may be out of range."""
        c = xnp.asarray(self.speed, dtype)
        way = dt * (self._widened(c, dtype, edge=True) if c.ndim else c)
        return self._held(way * (way * bent))  # the compiler takes a square of products apart

    def _laplacian(self, state, dt):
        """(Δu along the stretched coordinates, the memories of first and of second derivatives)."""
        u, total, slopes, bends = state["u"], 0.0, [], []
        weights = WEIGHTS[self.order]
        for i, h in enumerate(self.grid.spacing):
            slope = differences(u, i, h, weights, odd=True)
            keep, gain = self._memory(i, dt, typeof(u).dtype, 0.5)
            slopes.append((keep * state["slopes"][i] + gain * slope).astype(typeof(u).dtype))
            bend = _inner(differences(slope + slopes[i], i, h, weights, odd=False), i)
            keep, gain = self._memory(i, dt, typeof(u).dtype, 0.0)
            bends.append((keep * state["bends"][i] + gain * bend).astype(typeof(u).dtype))
            total = total + bend + bends[i]
        return total, slopes, bends


def state_dtype(*given):
    """Of what is given, single precision at least; of numbers alone the default."""
    found = xnp.result_type(*map(xnp.asarray, given))
    return xnp.promote_types(found, np.float32) if dtypes.is_inexact(found) else real_dtype()


def length(dt, dtype):
    """A step's length, as states keep that of the last one."""
    return xnp.asarray(dt, dtype)


def damping(cells: int, layer: tuple[int, int], h: float, at) -> np.ndarray:
    """By how much amplitudes fade on a length, at places counted in cells from the lower end, such that little comes
    back of a wave that goes straight to the end. (Collino and Tsogka 2001, Geophysics 66)"""
    depth = np.zeros(len(at))
    for count, way in zip(layer, (at, cells - at), strict=True):
        if count:
            most = -(_POWER + 1) * math.log(_BACK) / (2 * count * h)
            depth = depth + most * np.clip((count - way) / count, 0, None) ** _POWER
    return depth


def pairs(who: str, layer, ndim: int) -> tuple[tuple[int, int], ...]:
    given = layer if isinstance(layer, (tuple, list)) else (layer,) * ndim
    made = tuple(tuple(x) if isinstance(x, (tuple, list)) else (x, x) for x in given)
    counts = [k for pair in made for k in pair]
    whole = all(
        isinstance(k, (int, np.integer)) and not isinstance(k, bool) and k >= 0 for k in counts
    )
    if len(made) != ndim or any(len(p) != 2 for p in made) or not whole:
        want = f"a number of cells, or for each of {ndim} axes one or a pair (lower, upper)"
        raise errors.bad_argument(who, "layer", layer, want)
    return tuple((int(a), int(b)) for a, b in made)


def differences(u, axis: int, h: float, weights, odd: bool):
    """Derivatives in the middle between neighbours; beyond the ends u goes on as odd there, or as even."""
    n, reach = typeof(u).shape[axis], len(weights) - 1
    cut = lambda a, b: tuple(slice(a, b) if i == axis else slice(None) for i in range(u.ndim))  # noqa: E731
    if (
        reach
    ):  # the end itself is a node of what is odd, and lies halfway before the first of what is even
        sign, skip = (-1, 1) if odd else (1, 0)
        low, high = (
            sign * xnp.flip(u[cut(*ends)], axis)
            for ends in ((skip, skip + reach), (n - skip - reach, n - skip))
        )
        u = xnp.concatenate([low, u, high], axis)
    total = 0.0
    for k, w in enumerate(weights):
        ahead, behind = (u[cut(start, start + n - 1)] for start in (reach + 1 + k, reach - k))
        total = total + w / h * (ahead - behind)
    return total


def _inner(x, axis: int):
    """With zeros for the two outermost nodes, of which there are no values."""
    return xnp.pad(x, [(1, 1) if i == axis else (0, 0) for i in range(x.ndim)])
