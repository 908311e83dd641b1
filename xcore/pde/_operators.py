"""First derivatives: gradient, divergence, advection; and Helmholtz' operator."""

# Checkers do not see: arrays, tracers, NumPy's arrays and numbers stand for each other.
# pyright: reportReturnType=false

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import jit
from .._core import Array, ArrayLike, DTypeLike, dtypes, errors, one_of, static, struct, typeof
from ._along import along, sparse_along, spread, times_axis
from ._boundary import ZERO, complex_if, real_only, resolve
from ._faces import axes_of, check_order
from ._fields import GridOperator
from ._grid import Grid, real_dtype, size
from ._laplacian import Laplacian


class _FirstOrder(GridOperator):
    """A grid operator made of first derivatives ∂ᵢ along the axes, from ``grid``, ``faces`` and
    ``order``."""

    def __post_init__(self):
        who = f"pde.{type(self).__name__}"
        if not isinstance(self.grid, Grid):
            raise errors.bad_argument(who, "grid", self.grid, "a pde.Grid")
        object.__setattr__(self, "faces", resolve(who, self.grid, self.faces))
        check_order(who, self.grid, self.order)

    @functools.cached_property
    def axes(self):
        return axes_of(self.grid, self.faces, self.order, 1)

    def _data(self, axis: int, dtype, axes=None):
        """What the data of its faces add to the derivative along an axis."""
        a = (self.axes if axes is None else axes)[axis]
        out = xnp.zeros(self.field_shape, dtype)
        for side, column in enumerate(() if a.ring else (a.low, a.high)):
            part = spread(column, self.face(axis, side, dtype), axis)
            out = out if part is None else out + part
        return out


@struct
class Gradient(_FirstOrder):
    """u ↦ (∂₁u, ∂₂u, …) at the unknowns, by centred differences, one-sided next to the faces:
    ``grad(u)[i] + grad.boundary()[i]`` with data on the faces. As a matrix the parts are stacked.

    Attributes:
      grid: a ``Grid``.
      faces: conditions on u, as in ``Laplacian``.
      order: 2, 4 or 6.

    >>> slope, = Gradient(Grid(4))(xnp.asarray([1.0, 2.0, 3.0]))
    >>> slope
    Array([ 4.,  4., -4.], dtype=float32)
    """

    grid: Any = static()
    faces: Any = ZERO
    order: Any = static(default=2)

    @property
    def shape(self):
        n = size(self.field_shape)
        return (self.grid.ndim * n, n)

    symmetric = False
    of_fields = False

    def __call__(self, u: ArrayLike) -> Array:
        return _gradient(self, self.operand(u))

    def _apply(self, u):
        return tuple(times_axis(a, u, i) for i, a in enumerate(self.axes))

    def boundary(self, dtype: DTypeLike | None = None) -> Array:
        """What the data on the faces add: a tuple of fields."""
        dtype = self.with_data() if dtype is None else dtype
        return tuple(self._data(i, dtype) for i in range(self.grid.ndim))

    def mv(self, x: Array) -> Array:
        return xnp.stack(self(x.reshape(self.field_shape))).reshape(-1)

    def as_sparse(self):
        """The matrix on flat fields, the parts of the result one below the other."""
        from scipy import sparse  # only here: SciPy's sparse matrices are slow to load

        return sparse.vstack([sparse_along(self.axes, (i,)) for i in range(self.grid.ndim)]).tocsr()


@struct
class Divergence(_FirstOrder):
    """(v₁, v₂, …) ↦ ∂₁v₁ + ∂₂v₂ + … for fields vᵢ at the unknowns, by centred differences:
    ``div(v) + div.boundary()`` with data on the faces.

    Attributes:
      grid: a ``Grid``.
      faces: conditions as in ``Laplacian``; those of axis i are conditions on vᵢ.
      order: 2, 4 or 6.

    >>> div = Divergence(Grid((4, 4)))
    >>> div((xnp.ones((3, 3)), xnp.ones((3, 3))))[1]
    Array([ 2.,  0., -2.], dtype=float32)
    """

    grid: Any = static()
    faces: Any = ZERO
    order: Any = static(default=2)

    @property
    def shape(self):
        n = size(self.field_shape)
        return (n, self.grid.ndim * n)

    symmetric = False
    of_fields = False

    def __call__(self, v: Array | Sequence[ArrayLike]) -> Array:
        v = tuple(v)
        if len(v) != self.grid.ndim:
            raise errors.bad_argument("pde.Divergence", "v", v, f"{self.grid.ndim} fields")
        return _divergence(self, tuple(self.field(x) for x in v))

    def _apply(self, v):
        parts = [times_axis(a, x, i) for i, (a, x) in enumerate(zip(self.axes, v, strict=True))]
        return functools.reduce(xnp.add, parts)

    def boundary(self, dtype: DTypeLike | None = None) -> Array:
        """What the data on the faces add: a field."""
        dtype = self.with_data() if dtype is None else dtype
        parts = [self._data(i, dtype) for i in range(self.grid.ndim)]
        return functools.reduce(xnp.add, parts)

    def mv(self, x: Array) -> Array:
        return self(tuple(x.reshape(self.grid.ndim, *self.field_shape))).reshape(-1)

    def as_sparse(self):
        """The matrix on flat fields, the parts of the argument one below the other."""
        from scipy import sparse  # only here: SciPy's sparse matrices are slow to load

        return sparse.hstack([sparse_along(self.axes, (i,)) for i in range(self.grid.ndim)]).tocsr()


SCHEMES = ("upwind", "centred", "fitted")


@struct
class Advection(_FirstOrder):
    """u ↦ v·∇u, so that u_t = -(op(u) + op.boundary()) carries u along with the velocity v.

    "upwind" takes the difference to the node where the flow comes from: of order 1, and without
    new extremes. "centred" is of the given order. "fitted" is between the two, beside diffusion of the size
    ``diffusion``: of order 2 where cells resolve the flow, without new extremes, and exact in one dimension where
    both do not vary and there is no source. Where the flow comes in through a face, give its values (Dirichlet);
    where it goes out, Neumann. (Il'in 1969, "A difference scheme for a differential equation with a small
    parameter multiplying the highest derivative")

    Attributes:
      grid: a ``Grid``.
      velocity: for each axis a number, a field, or a function of the coordinates; or one of these
        for a grid of one axis.
      faces: conditions on u, as in ``Laplacian``.
      order: of "centred": 2, 4 or 6.
      scheme: "upwind", "centred" or "fitted".
      diffusion: of "fitted": the a of the ``Diffusion`` beside it, a number, a field or a function.

    >>> op = Advection(Grid(4), 2.0)
    >>> op(xnp.asarray([1.0, 2.0, 3.0]))
    Array([8., 8., 8.], dtype=float32)
    """

    grid: Any = static()
    velocity: Any = 1.0
    faces: Any = ZERO
    order: Any = static(default=2)
    scheme: str = static(default="upwind")
    diffusion: Any = None

    def __post_init__(self):
        if self.scheme not in SCHEMES:
            known = ", ".join(map(repr, SCHEMES))
            raise errors.bad_argument("pde.Advection", "scheme", self.scheme, f"one of {known}")
        _FirstOrder.__post_init__(self)
        if (self.scheme == "fitted") != (self.diffusion is not None):
            advice = 'scheme="fitted" needs the diffusion beside it, the others do not look at it.'
            need = 'given for, and only for, "fitted"'
            raise errors.bad_argument("pde.Advection", "diffusion", self.diffusion, need, advice)
        if self.scheme == "fitted" and self.grid.centred:
            want = '"centred" or "upwind" for fields of cells'
            raise errors.bad_argument("pde.Advection", "scheme", self.scheme, want)
        if self.diffusion is not None:
            object.__setattr__(self, "diffusion", self._given(self.diffusion))
        v, n = self.velocity, self.grid.ndim
        v = v if isinstance(v, (tuple, list)) else (v,)
        if len(v) != n:
            want = f"a number, field or function for each of {n} axes"
            raise errors.bad_argument("pde.Advection", "velocity", v, want)
        object.__setattr__(self, "velocity", tuple(self._given(x) for x in v))
        for x in self.velocity:
            real_only("pde.Advection", "velocity", x)

    def _given(self, x):
        if not callable(x) and xnp.ndim(x) == 0:
            x = xnp.asarray(x)
            return x if dtypes.is_inexact(x.dtype) else x.astype(real_dtype())
        return self.field(x)

    symmetric = False

    def __call__(self, u: ArrayLike) -> Array:
        return _advection(self, self.operand(u))

    def _sides(self):
        """For each scheme's difference: its axes, and what of the velocity goes with it."""
        if self.scheme == "centred":
            return [(self.axes, lambda i, v: v)]
        lean = lambda side: axes_of(self.grid, self.faces, 2, 1, side)  # noqa: E731
        back, ahead = lean(-1), lean(1)
        if self.scheme == "fitted":
            return [
                (back, lambda i, v: (v + self._drag(i, v)) / 2),
                (ahead, lambda i, v: (v - self._drag(i, v)) / 2),
            ]
        return [(back, lambda i, v: xnp.maximum(v, 0)), (ahead, lambda i, v: xnp.minimum(v, 0))]

    def _drag(self, axis: int, v):
        """|v| (coth P - 1 / P) with the Péclet number P = |v| h / (2 a) of a cell: v P / 3 for small P."""
        h = along(self.axes[axis].weights, axis, self.grid.ndim, typeof(v).dtype)
        p = xnp.abs(v) * h / (2 * self.diffusion.astype(typeof(v).dtype))
        small = p < 0.02
        safe = xnp.where(small, 1, p)
        return xnp.abs(v) * xnp.where(small, p / 3 - p**3 / 45, 1 / xnp.tanh(safe) - 1 / safe)

    def _apply(self, u):
        parts = [
            part(i, v).astype(typeof(u).dtype) * times_axis(axes[i], u, i)
            for axes, part in self._sides()
            for i, v in enumerate(self.velocity)
        ]
        return functools.reduce(xnp.add, parts)

    def boundary(self, dtype: DTypeLike | None = None) -> Array:
        """What the data on the faces add: a field."""
        dtype = self.with_data() if dtype is None else dtype
        parts = [
            part(i, v).astype(dtype) * self._data(i, dtype, axes)
            for axes, part in self._sides()
            for i, v in enumerate(self.velocity)
        ]
        return functools.reduce(xnp.add, parts)

    def as_sparse(self):
        """The matrix on flat fields, as a SciPy array in CSR form."""
        from scipy import sparse  # only here: SciPy's sparse matrices are slow to load

        def line(v):
            return sparse.diags_array(np.broadcast_to(np.asarray(v), self.field_shape).ravel())

        return sum(
            line(part(i, v)) @ sparse_along(axes, (i,))
            for axes, part in self._sides()
            for i, v in enumerate(self.velocity)
        ).tocsr()  # fmt: skip


@struct
class Helmholtz(GridOperator):
    """u ↦ Δu + q u: waves of wave number k for q = k², damped for q < 0.

    ``solve`` is direct where q is a number; else it takes sparse factors, or a cycle of grids.

    Attributes:
      grid: a ``Grid``.
      q: a number, a field, or a function of the coordinates; complex where waves are damped.
      faces, order: as in ``Laplacian``.

    >>> op = Helmholtz(Grid(4), -2.0)
    >>> op(xnp.ones(3))
    Array([-18.,  -2., -18.], dtype=float32)
    """

    grid: Any = static()
    q: Any = 0.0
    faces: Any = ZERO
    order: Any = static(default=2)

    def __post_init__(self):
        one_of("pde.Helmholtz", "order", self.order, (2, 4, 6), "2, 4 or 6")
        object.__setattr__(self, "faces", self.laplacian.faces)
        q = self.q if not callable(self.q) and xnp.ndim(self.q) == 0 else self.field(self.q)
        q = xnp.asarray(q)
        object.__setattr__(self, "q", q if dtypes.is_inexact(q.dtype) else q.astype(real_dtype()))

    @property
    def laplacian(self) -> Laplacian:
        """The Laplace operator in it."""
        return Laplacian(self.grid, self.faces, self.order)

    @functools.cached_property
    def axes(self):
        return axes_of(self.grid, self.faces, self.order)

    symmetric = property(lambda self: self.laplacian.symmetric)  # pyright: ignore[reportAssignmentType]

    def __call__(self, u: ArrayLike) -> Array:
        u = self.operand(u)
        dtype = complex_if(typeof(u).dtype, self.q)
        q = self.q if dtypes.is_complex(self.q.dtype) else self.q.astype(dtypes.to_real(dtype))
        return self.laplacian(u) + q.astype(complex_if(dtypes.to_real(dtype), q)) * u

    def boundary(self, dtype: DTypeLike | None = None) -> Array:
        """What the data on the faces add: a field."""
        return self.laplacian.boundary(dtype)

    # What ``solve`` asks

    constant = property(lambda self: self.q.ndim == 0)
    has_energy = False
    accuracy = property(lambda self: self.order)

    @property
    def resonant(self):
        """Whether a q that is one number is next to an eigenvalue of -Δ."""
        if self.q.ndim:
            return False
        real = dtypes.to_real(self.q.dtype)
        apart = xnp.min(xnp.abs(self.laplacian.symbol(real) + self.q))
        return float(dtypes.finfo(real).eps) ** 0.5 * xnp.abs(self.q) > apart

    def prepared(self, who: str):
        """With a q that is known to be 0 Laplace's, which may be singular. Raises where Δ + q is known to be so
        but for rounding."""
        if self.q.ndim or type(self.q) is not Array:
            return self
        if not self.q:
            return self.laplacian
        values = np.asarray(self.laplacian.symbol(dtypes.to_real(self.q.dtype)))
        apart = np.abs(values + np.asarray(self.q))
        condition = float(apart.max()) / least if (least := float(apart.min())) else np.inf
        if condition * float(dtypes.finfo(self.q.dtype).eps) < 0.1:
            return self
        near = -complex(values.flat[np.argmin(apart)])
        raise errors.bad_argument(
            who, "q", complex(self.q) if self.q.dtype.kind == "c" else float(self.q),
            f"away from the eigenvalues of -Δ, here {near.real:.8g}",
            f"At a resonance there is no one solution: the condition number is {condition:.2g}. Move q, "
            "or damp waves by an imaginary part of q.",
        )  # fmt: skip

    def dtype_for(self, dtype):
        """Of the solution for a right-hand side of this dtype."""
        return complex_if(super().dtype_for(dtype), self.q)

    def automatic(self) -> tuple[str, str]:
        """(the method of choice, why)."""
        if self.constant:
            return super().automatic()
        return "bicgstab", "q varies, and the inverse for its mean is a good preconditioner"

    def instead_of(self, method: str) -> str:
        """What to take where a method does not do; empty where it does."""
        if not self.constant:
            return "" if method == "bicgstab" else '"bicgstab" where q varies'
        return super().instead_of(method) or (
            "" if method == "direct" else '"direct" where q is a number'
        )

    def shifted(self) -> tuple:
        """(Laplace operator, q, a) with a Δ + q, as ``solve_direct`` takes them behind the right side."""
        return self.laplacian, self.q, 1.0

    def absolute(self):
        """For each row the sum of the absolute values of its elements; about that of orders above 2."""
        return self.laplacian.absolute().astype(self.q.dtype) + xnp.abs(self.q)

    def coarser(self):
        """The operator on every second node."""
        fine = tuple(slice(1 if a.start else 0, None, 2) for a in self.axes)
        q = self.q[fine] if self.q.ndim else self.q
        return Helmholtz(self.grid.coarser(), q, self.coarser_faces(), self.order)

    def as_sparse(self):
        """The matrix on flat fields, as a SciPy array in CSR form."""
        from scipy import sparse  # only here: SciPy's sparse matrices are slow to load

        line = np.broadcast_to(np.asarray(self.q), self.field_shape).ravel()
        return (self.laplacian.as_sparse() + sparse.diags_array(line)).tocsr()


_gradient = jit(Gradient._apply, inline=True)
_divergence = jit(Divergence._apply, inline=True)
_advection = jit(Advection._apply, inline=True)
