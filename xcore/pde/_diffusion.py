"""div(a grad u) - c u with coefficients that vary in space, in the form of flows between nodes.

The volume of a node reaches half-way to its neighbours. What flows over the edge between two nodes
is its conductance times the difference of u; a conductance is area / distance times a mean of a.
Times the volumes the operator is symmetric. (Patankar 1980, "Numerical heat transfer and fluid
flow", section 4.2: harmonic means keep the flow right where a jumps)
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control.jit import jit
from .._core import dtypes, errors
from .._core.array import Array
from .._core.struct import static, struct
from .._core.types import typeof
from .._core.typing import ArrayLike, DTypeLike
from ..numpy._select import cut
from ._boundary import ZERO, nodes_of, real_only, resolve
from ._fields import GridOperator, along, check_order, padded, shifted
from ._grid import Grid, real_dtype
from ._laplacian import Laplacian


def stiffness(edges, sinks, u, rings):
    """Σ over the edges of a node of conductance × difference, + sinks u.

    ``edges[i]`` has one element more along axis i than u: first and last lead to the faces, where u
    is zero; of a periodic axis as many, edge k leading from k - 1 to k.
    """
    out = sinks * u
    for axis, (e, ring) in enumerate(zip(edges, rings, strict=True)):
        n = typeof(u).shape[axis]
        before, after = shifted(u, axis, -1, ring), shifted(u, axis, 1, ring)
        behind = shifted(e, axis, 1, True) if ring else cut(e, axis, 1, n + 1)
        out = out + (cut(e, axis, 0, n) * (u - before) - behind * (after - u))
    return out


def diagonal(edges, sinks, rings):
    """The diagonal of the stiffness."""
    out = sinks
    for axis, (e, ring) in enumerate(zip(edges, rings, strict=True)):
        n = typeof(e).shape[axis] - (not ring)
        after = shifted(e, axis, 1, True) if ring else cut(e, axis, 1, n + 1)
        out = out + (cut(e, axis, 0, n) + after)
    return out


MEANS = {
    "harmonic": lambda a, b: 2 * a * (b / (a + b)),  # a b may be out of range
    "arithmetic": lambda a, b: (a + b) / 2,
}


@struct
class Diffusion(GridOperator):
    """u ↦ div(a grad u) - c u, of order 2: ``op(u) + op.boundary()`` with data on the faces.

    Attributes:
      grid: a ``Grid``.
      a: positive: an array at all nodes of the grid, a number, a function of the coordinates, or a
        tuple with one of them for each axis.
      faces: conditions as in ``Laplacian``; ∂u/∂n is without the factor a.
      c: not negative: likewise, or one number.
      mean: of a between two nodes: "harmonic", right where a jumps, or "arithmetic".

    >>> op = Diffusion(Grid(4), 2.0)
    >>> op(xnp.ones(3)) + 0.0
    Array([-32.,   0., -32.], dtype=float32)
    """

    grid: Any = static()
    a: Any = 1.0
    faces: Any = ZERO
    c: Any = 0.0
    mean: str = static(default="harmonic")

    def __post_init__(self):
        who, settle = "pde.Diffusion", object.__setattr__
        if not isinstance(self.grid, Grid):
            raise errors.bad_argument(who, "grid", self.grid, "a pde.Grid")
        check_order(who, self.grid, 2)
        if self.mean not in MEANS:
            raise errors.bad_argument(who, "mean", self.mean, '"harmonic" or "arithmetic"')
        settle(self, "faces", resolve(who, self.grid, self.faces))
        parts = self.a if isinstance(self.a, (tuple, list)) else (self.a,)
        if len(parts) not in (1, self.grid.ndim):
            raise errors.bad_argument(who, "a", self.a, f"one, or {self.grid.ndim} for the axes")
        parts = tuple(self._at_nodes(who, "a", x) for x in parts)
        for x in parts:
            require(who, "a", x, lambda v: v > 0, "positive everywhere")
        settle(self, "a", parts)
        if self.c is None or (isinstance(self.c, (int, float)) and self.c == 0):
            return settle(self, "c", None)  # part of the structure: constants are in the kernel
        settle(self, "c", self._at_nodes(who, "c", self.c))
        require(who, "c", self.c, lambda v: v >= 0, "nowhere negative")

    def _at_nodes(self, who, name, x):
        x = xnp.asarray(x(*self.grid.coordinates()) if callable(x) else x)
        if x.ndim and x.shape != self.grid.shape:
            why = f"need {name} at all nodes, {self.grid.shape}"
            raise errors.shape_mismatch(who, why, **{name: x})
        real_only(who, name, x)
        return x if dtypes.is_inexact(x.dtype) else x.astype(real_dtype())

    symmetric = property(lambda self: all(np.ptp(a.weights) < 1e-12 for a in self.axes))  # pyright: ignore[reportAssignmentType]
    rings = property(lambda self: tuple(a.ring for a in self.axes))

    @property
    def singular(self) -> bool:
        """Whether constants are in the kernel, as far as the structure tells."""
        return self.c is None and all(a.singular for a in self.axes)

    @property
    def dtype(self):
        return functools.reduce(
            xnp.promote_types, [x.dtype for x in (*self.a, self.c) if x is not None]
        )

    def _whole(self, x):
        """Values at all nodes but the last ones of periodic axes."""
        shape = tuple(nodes_of(self.grid, i, self.faces) for i in range(self.grid.ndim))
        if x.ndim == 0:
            return xnp.broadcast_to(x, shape)
        return x[tuple(slice(0, n) for n in shape)]

    def _unknowns(self, x, but: int | None = None):
        """The part of an array at all nodes that belongs to unknowns, along all axes but one."""
        return x[tuple(slice(None) if i == but else a.slice for i, a in enumerate(self.axes))]

    def _area(self, axis: int):
        """The area of the faces of the volumes across an axis: a field, one thin along the axis."""
        parts = [np.ones(1) if i == axis else a.weights for i, a in enumerate(self.axes)]
        return functools.reduce(np.multiply.outer, parts)

    def edges(self) -> tuple:
        """Conductances of the edges along each axis, as ``stiffness`` takes them."""
        return tuple(self._edges_along(i) for i in range(self.grid.ndim))

    def _edges_along(self, axis: int):
        a, dtype = self.axes[axis], self.dtype
        values = self._unknowns(self._whole(self.a[axis % len(self.a)]), axis).astype(dtype)
        n = typeof(values).shape[axis]
        if a.ring:
            first = xnp.concatenate(
                [cut(values, axis, n - 1, n), cut(values, axis, 0, n - 1)], axis=axis
            )
            gaps = np.diff(np.append(a.nodes[-1] - a.period, a.nodes))
            inner = MEANS[self.mean](first, values)
        else:
            gaps = np.diff(a.nodes)
            inner = MEANS[self.mean](cut(values, axis, 0, n - 1), cut(values, axis, 1, n))
        inner = inner * (self._area(axis) / along(gaps, axis, self.grid.ndim, np.float64)).astype(
            dtype
        )
        if a.ring:
            return inner
        # a face with Neumann or Robin condition is a node itself: no edge leads beyond it
        missing = [int(bool(k[1])) for k in a.kinds]
        t = self.grid.ndim
        low = tuple(missing[0] if i == axis else 0 for i in range(t))
        high = tuple(missing[1] if i == axis else 0 for i in range(t))
        return ops.pad(inner, xnp.zeros((), dtype), low=low, high=high, interior=(0,) * t)

    def sinks(self):
        """What multiplies u at each node: c times volumes, and what Robin faces let out."""
        dtype = self.dtype
        out = xnp.zeros(self.field_shape, dtype)
        if self.c is not None:
            out = self._unknowns(self._whole(self.c)).astype(dtype) * self.volumes(dtype)
        for axis, side in self._open_faces():
            alpha, beta = self.faces[axis][side].kind
            if alpha:
                out = out + self._at_face(axis, side, alpha / beta)
        return out

    def _open_faces(self):
        """Faces that are unknowns: those with Neumann and Robin conditions."""
        pairs = [(i, s) for i in range(self.grid.ndim) for s in (0, 1)]
        return [(i, s) for i, s in pairs if self.faces[i][s].kind and self.faces[i][s].kind[1]]

    def _at_face(self, axis: int, side: int, value):
        """a × area × value at the nodes of a face, as a field."""
        a = self._unknowns(self._whole(self.a[axis % len(self.a)])).astype(self.dtype)
        n = typeof(a).shape[axis]
        place = 0 if side == 0 else n - 1
        part = cut(a, axis, place, place + 1) * self._area(axis).astype(self.dtype) * value
        return padded(part, axis, place, n)

    # What ``solve`` asks

    conductances = property(lambda self: self.a)
    accuracy = 2

    @property
    def constant(self) -> bool:
        """Whether a and c are numbers, and no Robin face takes a away."""
        number = self.c is None or self.c.ndim == 0
        robin = any(c.kind and c.kind[0] and c.kind[1] for pair in self.faces for c in pair)
        return number and len(self.a) == 1 and self.a[0].ndim == 0 and not robin

    def instead_of(self, method: str) -> str:
        """What to take where a method does not do; empty where it does."""
        if method == "bicgstab" and not self.constant:
            return '"cg": the operator is symmetric'
        return super().instead_of(method)

    def shifted(self) -> tuple:
        """(Laplace operator, q, a) with a Δ + q, as ``solve_direct`` takes them behind the right side."""
        return Laplacian(self.grid, self.faces), 0.0 if self.c is None else -self.c, self.a[0]

    def absolute(self):
        """For each row the sum of the absolute values of its elements."""
        return 2 * diagonal(self.edges(), self.sinks(), self.rings) / self.volumes(self.dtype)

    def coarser(self):
        """The operator on every second node."""
        thin = lambda x: x[(slice(None, None, 2),) * self.grid.ndim] if x.ndim else x  # noqa: E731
        c = None if self.c is None else thin(self.c)
        return Diffusion(
            self.grid.coarser(), tuple(map(thin, self.a)), self.coarser_faces(), c, self.mean
        )

    def __call__(self, u: ArrayLike) -> Array:
        return _applied(self, self.field(u))

    def _apply(self, u):
        flow = stiffness(self.edges(), self.sinks(), u, self.rings)
        return -flow / self.volumes(dtypes.to_real(typeof(u).dtype))

    def boundary(self, dtype: DTypeLike | None = None) -> Array:
        """What the data on the faces add: a field."""
        return _data(self, self.with_data(self.dtype) if dtype is None else np.dtype(dtype))

    def _boundary(self, dtype):
        out = xnp.zeros(self.field_shape, dtype)
        opened = self._open_faces()
        for axis, a in enumerate(self.axes):
            edges = None if a.ring else self._edges_along(axis)
            for side in () if a.ring else (0, 1):
                data = xnp.expand_dims(self.face(axis, side, dtype), axis)
                if (axis, side) in opened:
                    out = out + self._at_face(axis, side, data / self.faces[axis][side].kind[1])
                else:
                    n = a.count
                    edge = cut(edges, axis, 0, 1) if side == 0 else cut(edges, axis, n, n + 1)
                    out = out + padded(edge * data, axis, 0 if side == 0 else n - 1, n)
        return (out / self.volumes(dtypes.to_real(dtype))).astype(dtype)


def require(who: str, name: str, x, test, words: str) -> None:
    """Raises where values are known and break a condition."""
    if type(x) is Array and not np.all(test(np.asarray(x))):
        worst = float(np.min(np.asarray(x)))
        raise errors.bad_argument(
            who, name, worst, words, f"The least value of {name} is shown, or NaN."
        )


_applied = jit(Diffusion._apply, inline=True)
_data = jit(Diffusion._boundary, static_argnums=1, inline=True)


def as_diffusion(op, dtype=None):
    """A Laplace operator of order 2 in the form of flows; others as they are."""
    if isinstance(op, Laplacian):
        return Diffusion(op.grid, xnp.ones((), real_dtype(dtype)), op.faces)
    return op
