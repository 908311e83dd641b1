"""Waves of one frequency in a box that is open to the outside.

Beyond the edges coordinates become complex, x + i ∫ d / k: a wave e^{ikx} that goes out there is e^{ikx - ∫ d}, of
whatever frequency. (Berenger 1994, J. Comput. Phys. 114; Chew and Weedon 1994, Microw. Opt. Techn. Lett. 7)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import Array, ArrayLike, DTypeLike, dtypes, errors, one_of, static, struct, typeof
from ._boundary import ZERO, resolve
from ._fields import GridOperator
from ._grid import Grid, evaluated, real_dtype
from ._waves import WEIGHTS, check_grid, damping, differences, pairs

_ORDERS = (2, 4, 6)
_FEWEST = 3  # cells of a layer


@struct
class OpenHelmholtz(GridOperator):
    """u ↦ Δu + k² u in a box with open edges, for waves u e^{-iωt}, k = ω / c.

    Of a point with amplitude 1, f = -δ, the field is i e^{ik|x|} / 2k on a line, i H₀(kr) / 4 in two dimensions,
    e^{ikr} / 4πr in three. Beyond each open edge lies a layer that absorbs (PML), outside of the box; k goes on there
    as it is at the edge. On other edges, u = 0. ``op.in_box(solve(op, f))`` is the field in the box.

    Fields of the operator are on the unknowns of the box and its layers; f is one of these, or what is 0 in the layers:
    a number, a function of the coordinates or an array on all nodes of the box. Rows in the layers are multiplied by
    numbers of size 1, with which the diagonals of all rows lie on one side.

    Attributes:
      box: the box of interest, with equal spacing along each axis.
      k: the wave number, a number, a field on all nodes of the box, or a function of the coordinates; not 0; with an
        imaginary part above 0 where waves fade. It has derivatives.
      layer: how many cells beyond each edge absorb: a number, or for each axis one or a pair (lower, upper); 0 where
        u = 0 on the edge, else 3 or more.
      order: of the differences, 2, 4 or 6.

    >>> from xcore.pde import Points, solve
    >>> box = Grid(80)
    >>> op = OpenHelmholtz(box, 12.0)
    >>> u = op.in_box(solve(op, -Points(box, [0.25]).spread([1.0])))
    >>> bool(abs(u[60] - 1j * xnp.exp(12j * 0.5) / 24).max() < 1e-4)
    True
    """

    box: Grid = static()
    k: Any = 1.0
    layer: Any = static(default=20)
    order: int = static(default=4)

    def __post_init__(self):
        who = "pde.OpenHelmholtz"
        one_of(who, "order", self.order, _ORDERS, f"one of {_ORDERS}")
        check_grid(who, self.box, self.order + 1)
        layer = pairs(who, self.layer, self.box.ndim)
        if any(0 < n < _FEWEST for pair in layer for n in pair):
            raise errors.bad_argument(who, "layer", self.layer, f"0, or {_FEWEST} cells or more")
        object.__setattr__(self, "layer", layer)
        k = self.k
        k = xnp.asarray(self._at_nodes("k", k) if callable(k) else k)
        if k.shape not in ((), self.box.shape):
            want = f"a number, a function, or a field on all nodes, of shape {self.box.shape}"
            raise errors.bad_argument(who, "k", self.k, want)
        known = np.asarray(k) if type(k) is Array else np.ones(1)
        if not np.all((known != 0) & np.isfinite(known) & (known.imag * known.real >= 0)):
            want = "finite, nowhere 0, and with an imaginary part of the sign of the real one"
            raise errors.bad_argument(who, "k", self.k, want)
        object.__setattr__(self, "k", k if dtypes.is_inexact(k.dtype) else k.astype(real_dtype()))

    symmetric = False
    same_on_all_grids = False  # layers are as many cells wide on each, so that ends move
    accuracy = property(lambda self: self.order)

    @property
    def grid(self) -> Grid:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The grid of the box and its layers."""
        ends = zip(self.box.lower, self.box.upper, self.box.spacing, self.layer, strict=True)
        lower, upper = zip(*[(a - m * h, b + n * h) for a, b, h, (m, n) in ends], strict=True)
        cells = tuple(c + sum(pair) for c, pair in zip(self.box.cells, self.layer, strict=True))
        return Grid(cells, lower, upper)

    @property
    def faces(self) -> tuple:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Conditions at the outer ends: u = 0."""
        return resolve("pde.OpenHelmholtz", self.grid, ZERO)

    @property
    def reach(self) -> tuple[int, ...]:
        """How far along each axis the value at a node depends on others."""
        return (2 * len(WEIGHTS[self.order]) - 1,) * self.box.ndim

    def __call__(self, u: ArrayLike) -> Array:
        u = self.field(u)
        dtype = dtypes.to_complex(typeof(u).dtype)
        total, outer, weights = 0.0, 0.0, WEIGHTS[self.order]
        for i, h in enumerate(self.box.spacing):
            half, whole = (1 / self._stretched(i, nodes, dtype) for nodes in (False, True))
            wide = xnp.pad(u, [(1, 1) if i == j else (0, 0) for j in range(u.ndim)])
            slope = half * differences(wide, i, h, weights, odd=True)
            total = total + whole * differences(slope, i, h, weights, odd=False)
            outer = outer + (whole / h) ** 2
        turn = xnp.abs(outer) / outer
        return (turn * (total + (self._wave_number(dtype) * self._wave_number(dtype)) * u)).astype(
            dtype
        )

    def boundary(self, dtype: DTypeLike | None = None) -> Array:
        """What the data on the faces add: nothing."""
        return xnp.zeros(self.field_shape, self.with_data() if dtype is None else dtype)

    def right(self, f):
        """The right-hand side that belongs to f."""
        if not callable(f) and xnp.shape(f) not in ((), self.box.shape):
            return self.field(f)
        f = xnp.asarray(self._at_nodes("f", f) if callable(f) else f)
        f = f if dtypes.is_inexact(f.dtype) else f.astype(real_dtype())
        return xnp.pad(xnp.broadcast_to(f, self.box.shape), self.layer)[self._inner]

    def in_box(self, u: ArrayLike) -> Array:
        """A field on all nodes of the box."""
        whole = xnp.pad(self.field(u), 1)
        places = zip(self.layer, self.box.shape, strict=True)
        return whole[tuple(slice(a, a + n) for (a, _), n in places)]

    # parts

    @property
    def _inner(self) -> tuple:
        return (slice(1, -1),) * self.box.ndim

    def _at_nodes(self, name: str, f):
        nodes = [self.box.nodes(i).astype(real_dtype()) for i in range(self.box.ndim)]
        points = tuple(map(xnp.asarray, np.meshgrid(*nodes, indexing="ij")))
        value = evaluated("pde.OpenHelmholtz", name, f, points)
        return xnp.broadcast_to(value, self.box.shape) if xnp.ndim(value) else value

    def _wave_number(self, dtype):
        k = self.k.astype(dtype)
        return xnp.pad(k, self.layer, mode="edge")[self._inner] if k.ndim else k

    def _stretched(self, axis: int, nodes: bool, dtype):
        """1 + i d / k at nodes or between them, shaped to multiply fields."""
        cells, h = self.grid.cells[axis], self.box.spacing[axis]
        at = np.arange(1, cells) if nodes else np.arange(cells) + 0.5
        depth = damping(cells, self.layer[axis], h, at)
        reference = 1 / xnp.mean(1 / xnp.abs(self.k))
        line = depth.reshape([-1 if i == axis else 1 for i in range(self.box.ndim)])
        return 1 + 1j * (
            line.astype(dtypes.to_real(dtype)) / reference.astype(dtypes.to_real(dtype))
        )
