"""The Laplace operator on a box."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import jit
from .._core import Array, ArrayLike, DTypeLike, dtypes, errors, static, struct, typeof
from ._along import along, padded, shifted, sparse_along, spread, times_axis
from ._boundary import Dirichlet, face_shape, face_values, resolve
from ._faces import axes_of, check_order
from ._fields import GridOperator
from ._grid import Grid, evaluated, real_dtype

COMPACT = "compact"


@struct
class Laplacian(GridOperator):
    """Δu by finite differences: ``Δu ≈ L(u) + L.boundary()``, where L is linear.

    Order 2 takes the nearest nodes, orders 4 and 6 more of them, one-sided next to the faces.
    "compact" is of order 4 from the nearest nodes and their neighbours, with Dirichlet or periodic
    conditions; there ``L(u) + L.boundary() ≈ M Δu`` with the local mean M of ``mean``.
    (Collatz 1960, "The numerical treatment of differential equations", Mehrstellenverfahren)

    Attributes:
      grid: a ``Grid``.
      faces: a condition (``Dirichlet``, ``Neumann``, ``Robin``, ``Periodic``) for all faces, or for
        each axis one or a pair of them; as an attribute the pairs, functions evaluated.
      order: 2, 4, 6 or "compact".

    >>> import xcore.numpy as xnp
    >>> lap = Laplacian(Grid(4), Dirichlet(1.0))
    >>> lap(xnp.ones(3)) + lap.boundary()
    Array([0., 0., 0.], dtype=float32)
    >>> lap.as_matrix()[0]
    Array([-32.,  16.,   0.], dtype=float32)
    """

    grid: Any = static()
    faces: Any = Dirichlet()
    order: Any = static(default=2)

    def __post_init__(self):
        if not isinstance(self.grid, Grid):
            raise errors.bad_argument("pde.Laplacian", "grid", self.grid, "a pde.Grid")
        object.__setattr__(self, "faces", resolve("pde.Laplacian", self.grid, self.faces))
        if self.order != COMPACT:
            return check_order("pde.Laplacian", self.grid, self.order)
        if self.grid.centred:
            check_order("pde.Laplacian", self.grid, 4)
        kinds = {k for a in self.axes for k in a.kinds}
        if not kinds <= {None, (1.0, 0.0)} or not self.grid.uniform:
            want = "2, 4 or 6 unless all faces are Dirichlet or Periodic and no axis is stretched"
            raise errors.bad_argument("pde.Laplacian", "order", self.order, want)

    @functools.cached_property
    def axes(self):
        return axes_of(self.grid, self.faces, 2 if self.order == COMPACT else self.order)

    @property
    def symmetric(self):
        """Whether L is symmetric as it is. With order 2 it always is when weighted by volumes."""
        a = self.axes
        return self.order in (2, COMPACT) and all(
            [np.ptp(x.weights) < 1e-12 * x.weights.max() for x in a]
        )

    @property
    def singular(self) -> bool:
        """Whether constants are in the kernel: all faces are Neumann or periodic."""
        return all(a.singular for a in self.axes)

    def __call__(self, u: ArrayLike) -> Array:
        return _applied(self, self.operand(u))  # pyright: ignore[reportReturnType]

    def _apply(self, u):
        second = [times_axis(a, u, i) for i, a in enumerate(self.axes)]
        out = functools.reduce(xnp.add, second)
        if self.order != COMPACT:
            return out
        for i, j, c in self._mixed:
            out = out + c * times_axis(self.axes[j], second[i], j)
        return out

    @property
    def _mixed(self) -> list:
        """(i, j, (hᵢ² + hⱼ²) / 12), the factor of ∂ᵢ²∂ⱼ² in the compact operator."""
        h, n = [a.spacing for a in self.axes], self.grid.ndim
        return [(i, j, (h[i] ** 2 + h[j] ** 2) / 12) for i in range(n) for j in range(i + 1, n)]

    def boundary(self, dtype: DTypeLike | None = None) -> Array:
        """What the data on the faces add to L(u): a field."""
        return _data(self, self._data_dtype() if dtype is None else dtype)

    def _boundary(self, dtype):
        out = xnp.zeros(self.field_shape, dtype)
        for i, a in enumerate(self.axes):
            for side, column in enumerate((a.low, a.high)):
                if a.ring:
                    continue
                part = spread(column, self.face(i, side, dtype), i)
                out = out if part is None else out + part
        return out + self._mixed_boundary(dtype) if self.order == COMPACT else out

    def _data_dtype(self):
        """The dtype of the data on the faces, together with the default one."""
        values = [c.value for pair in self.faces for c in pair if hasattr(c, "value")]
        return xnp.result_type(*values, xnp.zeros((), real_dtype())) if values else real_dtype()

    def _mixed_boundary(self, dtype):
        """The data's part in the mixed terms: ∂ᵢ²∂ⱼ² of the field that is zero inside and has the
        data on all Dirichlet faces, edges among them."""
        nodes = [a.count + 2 * (not a.ring) for a in self.axes]
        shell = self._shell(nodes, dtype)
        out = xnp.zeros(self.field_shape, dtype)
        for i, j, c in self._mixed:
            part = shell
            for k, a in enumerate(self.axes):
                if k in (i, j):
                    line = [shifted(part, k, s, a.ring) for s in (-1, 1)]
                    part = (line[0] + line[1] - 2 * part) / np.asarray(a.spacing**2, dtype)
                if not a.ring:
                    part = part[(slice(None),) * k + (slice(1, -1),)]
            out = out + np.asarray(c, dtype) * part
        return out

    def _shell(self, nodes, dtype):
        """Values at all nodes, zero inside; where faces meet, those of the later axis."""
        shell = xnp.zeros(tuple(nodes), dtype)
        for i, a in enumerate(self.axes):
            for side in () if a.ring else (0, 1):
                whole = face_values(
                    self.faces[i][side], face_shape(self.grid, i, self.faces), dtype
                )
                place = 0 if side == 0 else nodes[i] - 1
                slab = padded(xnp.expand_dims(whole, i), i, place, nodes[i])
                here = padded(xnp.ones_like(xnp.expand_dims(whole, i)), i, place, nodes[i])
                shell = xnp.where(here != 0, slab, shell)
        return shell

    def mean(self, f: ArrayLike | Callable[..., ArrayLike]) -> Array:
        """The right-hand side that belongs to f: f itself, or for "compact" its local mean
        f + Σ hᵢ²/12 ∂ᵢ²f, for which f is a function or an array at all nodes of the grid."""
        if self.order != COMPACT:
            return self.field(f)
        g = self.grid
        f = evaluated("pde.Laplacian.mean", "f", f, g.coordinates()) if callable(f) else f
        f = xnp.asarray(f)
        if f.ndim == 0:
            return self.field(f)
        return _mean(self, g.check('pde.Laplacian.mean: for order "compact" operands', f))

    def _mean(self, f):
        inside = [slice(0, -1) if a.ring else slice(1, -1) for a in self.axes]
        out = f[tuple(inside)]
        for i, a in enumerate(self.axes):
            line = f[tuple(slice(None) if k == i else s for k, s in enumerate(inside))]
            line = line[(slice(None),) * i + (slice(0, -1),)] if a.ring else line
            around = shifted(line, i, -1, a.ring) + shifted(line, i, 1, a.ring) - 2 * line
            around = around if a.ring else around[(slice(None),) * i + (slice(1, -1),)]
            out = out + around / 12
        return out

    # What ``solve`` asks

    constant = True
    has_energy = property(lambda self: self.order == 2)
    accuracy = property(lambda self: 4 if self.order == COMPACT else self.order)

    def right(self, f):
        """The right-hand side that belongs to f."""
        return self.mean(f)

    def instead_of(self, method: str) -> str:
        """What to take where a method does not do; empty where it does."""
        other = "" if method == "direct" or self.order == 2 else '"direct" for orders other than 2'
        return super().instead_of(method) or other

    def shifted(self) -> tuple:
        """(Laplace operator, q, a) with a Δ + q, as ``solve_direct`` takes them behind the right side."""
        return self, 0.0, 1.0

    def in_differences(self, u):
        """L(u) of order 2 as a sum of differences, which are exact between neighbours."""
        if self.order != 2:
            return self(u)
        terms = []
        for i, a in enumerate(self.axes):
            for side, leak in zip((-1, 1), a.leaks, strict=True):
                line = np.broadcast_to(a.bands[side], a.count).copy()
                if not a.ring:  # beyond a face u is 0
                    line[0 if side < 0 else -1] = leak
                line = along(line, i, self.grid.ndim, dtypes.to_real(typeof(u).dtype))
                terms.append(line * (shifted(u, i, side, a.ring) - u))
        return functools.reduce(xnp.add, terms)

    def absolute(self):
        """For each row the sum of the absolute values of its elements; about that of orders above 2."""
        rows = [sum(np.abs(x) for x in a.bands.values()) for a in self.axes]
        return sum(along(x, i, self.grid.ndim, np.float64) for i, x in enumerate(rows))

    def coarser(self):
        """The operator on every second node."""
        return Laplacian(self.grid.coarser(), self.coarser_faces(), self.order)

    def symbol(self, dtype: DTypeLike | None = None) -> Array:
        """The eigenvalues of L as a field of frequencies: sums of those along the axes."""
        dtype = real_dtype(dtype)
        n = self.grid.ndim
        lines = [along(a.eigenvalues, i, n, dtype) for i, a in enumerate(self.axes)]
        return self.combine(lines)

    def combine(self, lines: Sequence[Any]) -> Array:
        """The eigenvalue of L for eigenvalues of the second derivatives along the axes."""
        out = functools.reduce(lambda x, y: x + y, lines)
        if self.order == COMPACT:
            for i, j, c in self._mixed:
                out = out + c * lines[i] * lines[j]
        return out

    def eigenvalues(self, dtype: DTypeLike | None = None) -> Array:
        """All eigenvalues of L, rising: closed formulas for order 2 and periodic axes, else numbers.

        >>> xnp.round(Laplacian(Grid(4)).eigenvalues())
        Array([-55., -32.,  -9.], dtype=float32)
        """
        return xnp.sort(xnp.ravel(xnp.real(self.symbol(dtype))))

    def as_sparse(self):
        """The matrix of L on flat fields, as a SciPy array in CSR form.

        >>> Laplacian(Grid((3, 3))).as_sparse().toarray()[0].tolist()
        [-36.0, 9.0, 9.0, 0.0]
        """
        product = functools.partial(sparse_along, self.axes)
        out = sum(product((i,)) for i in range(self.grid.ndim))
        if self.order == COMPACT:
            out = out + sum(c * product((i, j)) for i, j, c in self._mixed)
        return out.tocsr()


# one program each, where they are called outside of one
_applied = jit(Laplacian._apply, inline=True)
_data = jit(Laplacian._boundary, static_argnums=1, inline=True)
_mean = jit(Laplacian._mean, inline=True)
