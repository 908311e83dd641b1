"""Sound in a box that is open to the outside: pressure at the nodes, velocities between them, half a step earlier.

(Virieux 1986, "P-SV wave propagation in heterogeneous media: velocity-stress finite-difference method", Geophysics 51)
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import Array, ArrayLike, PyTree, Value, errors, static, struct, typeof
from ._along import slab
from ._grid import Grid
from ._waves import WEIGHTS, OpenWave, Points, differences, length, state_dtype


@struct
class AcousticWave(OpenWave):
    """Steps of sound where density and speed vary, in a box with open edges:

        (1/ρc²) p' = -∇·v + Σₖ qₖ(t) δ(x - xₖ)        ρ v' = -∇p

    Beyond each open edge lies a layer that absorbs (CPML), outside of the grid; c and ρ go on there as they are at the
    edge. On other edges, p = 0. A state is a dict: ``p`` at the nodes of the grid and its layers, ``v``, for each axis
    the velocities between two nodes along it, half a step before p, and memories of the layers. ``start`` makes one,
    ``inside`` cuts out the pressure on the grid. With constant ρ, p is the u of ``Wave`` for s = ρ q'.

    Attributes:
      grid: the box of interest, with equal spacing along each axis.
      speed, density: c and ρ, numbers, functions of the coordinates or fields on all nodes, ρ positive. They have
        derivatives.
      sources: ``Points``, or None.
      signal: function of the time to q, the volume that the sources give in a unit of time, (k,) or a number for all.
      layer, order: as in ``Wave``.

    >>> x = xnp.linspace(0.0, 1.0, 201)
    >>> wave = AcousticWave(Grid(200), 1.0, xnp.where(x > 0.5, 2.0, 1.0))
    >>> state = wave.start(xnp.exp(-((x - 0.3) ** 2) / 0.002), dt=0.0025)
    >>> for _ in range(200):
    ...     state = wave.step(state, 0.0, 0.0025)
    >>> round(float(wave.inside(state)[:90].max()), 2)  # a half of it went to the jump, of that a third came back
    0.17
    """

    grid: Grid = static()
    speed: Any = 1.0
    density: Any = 1.0
    sources: Points | None = None
    signal: Callable[..., Any] | None = static(default=None)
    layer: Any = static(default=20)
    order: int = static(default=4)
    media = ("speed", "density")
    unknown = "p"

    def __post_init__(self):
        super().__post_init__()
        known = type(self.density) is Array or not isinstance(self.density, Value)
        if known and not np.all(np.asarray(self.density) > 0):
            raise errors.bad_argument("pde.AcousticWave", "density", self.density, "positive")

    def start(self, p: ArrayLike = 0.0, velocity: Any = 0.0, *, dt: ArrayLike) -> PyTree:
        """The state at t = 0 for a pressure and a velocity on the grid, and steps of length dt.

        Args:
          p: a number or a field on all nodes.
          velocity: for each axis a number or a field on all nodes; one number for all of them.
          dt: the length of the steps.
        """
        n = self.grid.ndim
        velocity = velocity if isinstance(velocity, (tuple, list)) else (velocity,) * n
        if len(velocity) != n:
            want = f"a number or field for each of {n} axes"
            raise errors.bad_argument("pde.AcousticWave", "velocity", velocity, want)
        dtype = state_dtype(p, *velocity, self.speed, self.density)
        p = self._held(self._widened(p, dtype, edge=False))
        v = []
        for i, (x, slope) in enumerate(zip(velocity, self._slopes(p), strict=True)):
            x = _means(self._widened(x, dtype, edge=False), i)
            half = xnp.asarray(dt) / 2
            v.append((x + half * slope / self._between_nodes(i, dtype)).astype(dtype))
        rest = [xnp.zeros(self._between(i), dtype) for i in range(n)]
        bends = [xnp.zeros(self.shape, dtype)] * n
        return {"p": p, "v": v, "slopes": rest, "bends": bends, "dt": length(dt, dtype)}

    def step(self, state: PyTree, t: float | Array, dt: float | Array) -> PyTree:
        """One step."""
        dtype, v, slopes, bends = typeof(state["p"]).dtype, [], [], []
        total = 0.0
        kick = (
            length(dt, dtype) + state["dt"]
        ) / 2  # from the middle of the last step to that of this one
        for i, slope in enumerate(self._slopes(state["p"])):
            keep, gain = self._memory(i, dt, dtype, 0.5)
            slopes.append((keep * state["slopes"][i] + gain * slope).astype(dtype))
            push = kick * (slope + slopes[i]) / self._between_nodes(i, dtype)
            v.append((state["v"][i] - push).astype(dtype))
            bend = differences(v[i], i, self.grid.spacing[i], WEIGHTS[self.order], odd=False)
            bend = xnp.pad(bend, [(1, 1) if j == i else (0, 0) for j in range(self.grid.ndim)])
            keep, gain = self._memory(i, dt, dtype, 0.0)
            bends.append((keep * state["bends"][i] + gain * bend).astype(dtype))
            total = total + bend + bends[i]
        given = self._driven(t + dt / 2, dtype) - total
        speed, density = (self._medium(x, dtype) for x in (self.speed, self.density))
        p = state["p"] + self._held(density * speed * (speed * dt * given))
        return {
            "p": p.astype(dtype), "v": v, "slopes": slopes, "bends": bends, "dt": length(dt, dtype),
        }  # fmt: skip

    def energy(self, state: PyTree, dt: ArrayLike) -> Array:
        """∫ p²/2ρc² + ρ|v|²/2 at the time of p, of velocities the product of those before and behind it: what steps of
        length dt keep between walls."""
        p = state["p"]
        dtype = typeof(p).dtype
        speed, density = (self._medium(x, dtype) for x in (self.speed, self.density))
        total = xnp.sum((p / speed) * (p / speed) / density)
        for i, slope in enumerate(self._slopes(p)):
            v, mass = state["v"][i], self._between_nodes(i, dtype)
            total = total + xnp.sum(v * (mass * v - dt * slope))
        return (total * (math.prod(self.grid.spacing) / 2)).astype(dtype)

    def longest_step(self) -> float:
        """A step that is stable, the longest one where the media do not vary: by Schur's test, sums of rows and of
        columns of the differences between pressures and velocities in units of their energies."""
        whole = [
            np.broadcast_to(np.asarray(x, np.float64), self.grid.shape)
            for x in (self.speed, self.density)
        ]
        speed, density = (np.pad(x, self.layer, mode="edge") for x in whole)
        fastest = float(np.max(np.abs(speed)))  # c² alone may be out of range
        root, weights = np.abs(speed) / fastest * np.sqrt(density), np.abs(WEIGHTS[self.order])
        rows, columns = np.zeros(()), 0.0
        for i, h in enumerate(self.grid.spacing):
            light = 1 / np.sqrt(_means(density, i))
            rows = rows + (min(self.grid.spacing) / h) ** 2 * root * _around(light, i, weights, 1)
            columns = max(columns, float(np.max(light * _around(root, i, weights, -1))))
        return 2 * min(self.grid.spacing) / (fastest * math.sqrt(float(np.max(rows)) * columns))

    # parts

    def _medium(self, x, dtype):
        x = xnp.asarray(x, dtype)
        return self._widened(x, dtype, edge=True) if x.ndim else x

    def _between_nodes(self, axis: int, dtype):
        """ρ between two nodes: what lies there has the mass of both halves."""
        x = self._medium(self.density, dtype)
        return _means(x, axis) if x.ndim else x

    def _slopes(self, p) -> list:
        weights = WEIGHTS[self.order]
        return [differences(p, i, h, weights, odd=True) for i, h in enumerate(self.grid.spacing)]


def _means(x, axis: int):
    """Of next neighbours along an axis."""
    n = np.shape(x)[axis]
    return (slab(x, axis, 0, n - 1) + slab(x, axis, 1, n)) / 2


def _around(x: np.ndarray, axis: int, weights, more: int) -> np.ndarray:
    """Weighted sums of what is around each node (of numbers between nodes: more = 1), or around each place between
    nodes (more = -1); beyond the ends numbers are those of the mirror."""
    n, far = x.shape[axis] + more, len(weights)
    beyond = far if more > 0 else far - 1
    ends = [(beyond, beyond) if j == axis else (0, 0) for j in range(x.ndim)]
    x = np.pad(x, ends, mode="symmetric" if more > 0 else "reflect")
    pairs = [slab(x, axis, k, k + n) for k in range(2 * far)]
    return functools.reduce(
        np.add, [w * (pairs[far + k] + pairs[far - 1 - k]) for k, w in enumerate(weights)]
    )
