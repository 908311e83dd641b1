"""Stencils that users write: a function of shifted fields becomes a linear operator.

A field is continued beyond the faces, as far as the function looks: around periodic axes; by the data on
Dirichlet faces and odd about them, u(-x) = 2 g - u(x); by the slope that Neumann and Robin faces say,
u(-x) = u(x) + 2 x ∂u/∂n. Shifted fields are slices of that.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import Array, ArrayLike, DTypeLike, dtypes, errors, static, struct, tree, typeof
from .._core.trace import ensure_compile_time_eval
from ._boundary import ZERO, face_shape, face_values, resolve
from ._faces import axes_of
from ._fields import GridOperator
from ._grid import Grid, real_dtype, takes


class Shifted:
    """A field that can be looked at from its neighbours: u[i, j] at (x + i hx, y + j hy)."""

    def __init__(self, whole, shape, reach):
        self._whole, self._shape, self._reach = whole, shape, reach

    def __getitem__(self, shift):
        shift = _as_shift(shift, len(self._shape))
        places = zip(shift, self._reach, self._shape, strict=True)
        return self._whole[tuple(slice(r + s, r + s + n) for s, r, n in places)]


def _as_a_whole(*_, **__):
    """Raises where a field is taken that has not been looked at."""
    want = "looked at by whole numbers of nodes: u[0, 0] is the field, u[1, 0] what is next along the first axis"
    advice = (
        "What is beyond the edges the faces say, so rolls, pads and slices become shifts: xnp.roll(u, -1, 0) is "
        "u[1, 0], around a Periodic() axis."
    )
    raise errors.bad_argument(
        "pde.Stencil", "u in f", errors.Words("the field itself"), want, advice
    )


class _Recorder:
    """Stands for a field and notes how far a function looks."""

    __array__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _as_a_whole
    __truediv__ = __neg__ = __matmul__ = __rmatmul__ = __len__ = __iter__ = _as_a_whole

    def __init__(self, shape, dtype):
        self.shape, self.dtype, self.reach = shape, dtype, [0] * len(shape)

    def __call__(self, *shift):
        self[shift]
        want = "written in brackets, u[1, 0]"
        raise errors.bad_argument("pde.Stencil", "shift", errors.Words(f"u{shift}"), want)

    def __getitem__(self, shift):
        shift = _as_shift(shift, len(self.shape))
        self.reach = [max(r, abs(s)) for r, s in zip(self.reach, shift, strict=True)]
        return xnp.zeros(self.shape, self.dtype)


def _as_shift(shift, ndim: int) -> tuple[int, ...]:
    shift = shift if isinstance(shift, tuple) else (shift,)
    if len(shift) != ndim or not all(isinstance(s, (int, np.integer)) for s in shift):
        want = f"{ndim} whole numbers of nodes, as u{[1] + [0] * (ndim - 1)}"
        advice = "Each gives the whole field, moved; what is beyond the edges the faces say."
        raise errors.bad_argument("pde.Stencil", "shift", shift, want, advice)
    return tuple(map(int, shift))


@struct
class Stencil(GridOperator):
    """The operator u ↦ f(u), where f combines shifted fields linearly: ``op(u) + op.boundary()``.

    Attributes:
      grid: a ``Grid`` with equal cells.
      f: function of u, whose ``u[i, j]`` is the field moved by this many nodes along each axis, as in
        (u[1, 0] - u[-1, 0]) / (2 h); and of ``params``, if these are given.
      faces: conditions, as in ``Laplacian``.
      params: a tree of arrays that f depends on; derivatives with respect to them exist.

    >>> from xcore.pde import Dirichlet
    >>> second = Stencil(Grid(4), lambda u: 16 * (u[-1] - 2 * u[0] + u[1]), Dirichlet(1.0))
    >>> second(xnp.ones(3)) + second.boundary()
    Array([0., 0., 0.], dtype=float32)
    """

    grid: Any = static()
    f: Any = static(default=None)
    faces: Any = ZERO
    params: Any = None

    def __post_init__(self):
        who = "pde.Stencil"
        if not isinstance(self.grid, Grid) or not self.grid.uniform:
            raise errors.bad_argument(who, "grid", self.grid, "a pde.Grid with equal cells")
        count = 1 if self.params is None else 2
        if not callable(self.f) or not takes(self.f, count):
            want = f"a function of shifted fields, f({', '.join(('u', 'params')[:count])})"
            raise errors.bad_argument(who, "f", self.f, want)
        object.__setattr__(self, "faces", resolve(who, self.grid, self.faces))
        if any(r > n for r, n in zip(self.reach, self.field_shape, strict=True)):
            advice = "Take more cells."
            want = f"no farther than the {self.field_shape} unknowns"
            raise errors.bad_argument(who, "f's shifts", tuple(self.reach), want, advice)
        if all(type(x) is Array for x in map(xnp.asarray, tree.leaves(self.params))):
            self._require_linear()

    def _require_linear(self) -> None:
        """Raises where f of a few fields is not linear, or is affine."""
        reach = self.reach
        shape = [n + 2 * r for n, r in zip(self.field_shape, reach, strict=True)]
        x, y = np.random.default_rng(0).standard_normal((2, *shape)).astype(real_dtype())
        with ensure_compile_time_eval():
            at = lambda u: self._values(Shifted(xnp.asarray(u), self.field_shape, reach))  # noqa: E731
            found = [at(0 * x), at(x), at(y), *(at(s * x + s * y) for s in _SCALES)]
        if all(type(v) is Array for v in found):  # else f hangs on what is being traced
            eps = max(float(dtypes.finfo(k).eps) for k in (x.dtype, *(v.dtype for v in found)))
            _judge(eps, *map(np.asarray, found))

    symmetric = False
    same_on_all_grids = False  # f has the spacing in it

    @functools.cached_property
    def axes(self):
        return axes_of(self.grid, self.faces)

    @property
    def reach(self):
        seen = _Recorder(self.field_shape, real_dtype())
        try:
            got = self._values(seen)
        except errors.ShapeError as e:
            want = f"made of shifted fields {self.field_shape}, and of arrays of that shape"
            advice = "Unknowns are where values are not given: axes with Dirichlet faces are shorter than grid.shape."
            raise errors.bad_argument("pde.Stencil", "f(u)", str(e), want, advice) from e
        if typeof(xnp.asarray(got)).shape != self.field_shape:
            why = f"f must give a field {self.field_shape}"
            raise errors.shape_mismatch("pde.Stencil", why, result=got)
        return tuple(seen.reach)

    def _values(self, u):
        return self.f(u) if self.params is None else self.f(u, self.params)

    def __call__(self, u: ArrayLike) -> Array:
        return self._at(self.field(u), False)

    def boundary(self, dtype: DTypeLike | None = None) -> Array:
        """What the data on the faces add: a field."""
        return self._at(
            xnp.zeros(self.field_shape, self.with_data() if dtype is None else dtype), True
        )

    def _at(self, u, data: bool):
        reach = self.reach
        for axis, r in enumerate(reach):
            u = _continued(self, u, axis, r, data) if r else u
        return self._values(Shifted(u, self.field_shape, reach))


_SCALES = (1.0, -2.0, 1e4)


def _judge(eps: float, zero, of_x, of_y, *of_sums) -> None:
    """Raises if f(0) is not 0, or f(s (x + y)) not s (f(x) + f(y))."""
    who, want = "pde.Stencil", "0: f must be linear in its shifted fields"
    if not np.all(zero == 0):
        advice = "What is added to them belongs to the right-hand side of the equation."
        raise errors.bad_argument(who, "f(0)", zero.flat[np.argmax(zero != 0)].item(), want, advice)
    size = max(np.abs(of_x).max(), np.abs(of_y).max())
    pairs = zip(_SCALES, of_sums, strict=True)
    wrong = max([float(np.abs(v / s - of_x - of_y).max()) for s, v in pairs])
    if not wrong <= 1e3 * eps * size:
        advice = "For other equations there are pde.solve_nonlinear, and f of RungeKutta and IMEX."
        raise errors.bad_argument(who, "f(s x + s y) / s - f(x) - f(y)", wrong, want, advice)


def _continued(op: Stencil, u, axis: int, reach: int, data: bool):
    """The field with so many nodes more at both ends of an axis."""
    a, n = op.axes[axis], typeof(u).shape[axis]
    cut = lambda start, stop: u[(slice(None),) * axis + (slice(start, stop),)]  # noqa: E731
    if a.ring:
        return xnp.concatenate([cut(n - reach, n), u, cut(0, reach)], axis=axis)
    ends = [_beyond(op, u, axis, side, reach, data) for side in (0, 1)]
    return xnp.concatenate([xnp.flip(ends[0], axis), u, ends[1]], axis=axis)


def _beyond(op: Stencil, u, axis: int, side: int, reach: int, data: bool):
    """The next nodes beyond a face, the nearest first."""
    condition, n, t = op.faces[axis][side], typeof(u).shape[axis], typeof(u)
    inner = xnp.flip(u, axis) if side else u  # from the face inwards
    cut = lambda start, stop: inner[(slice(None),) * axis + (slice(start, stop),)]  # noqa: E731
    g = _data_around(op, u, axis, side) if data else xnp.zeros((), t.dtype)
    if op.grid.centred:
        return _beyond_cells(op, cut, axis, side, g, condition.kind, reach)
    if not condition.kind[1]:  # the face itself, then the field turned about it
        first = xnp.broadcast_to(g, (*t.shape[:axis], 1, *t.shape[axis + 1 :]))
        return (
            xnp.concatenate([first, 2 * g - cut(0, reach - 1)], axis=axis) if reach > 1 else first
        )
    alpha, beta = condition.kind
    slope = (g - alpha * cut(0, 1)) / beta
    shape = [-1 if i == axis else 1 for i in range(len(t.shape))]
    ways = (2 * op.axes[axis].spacing * np.arange(1, reach + 1)).reshape(shape).astype(t.dtype)
    if n < reach + 1:
        want = f"more than the {n} unknowns along axis {axis}"
        raise errors.bad_argument("pde.Stencil", "cells", op.grid.cells, want)
    return cut(1, reach + 1) + ways * slope


def _beyond_cells(op: Stencil, cut, axis: int, side: int, g, kind, reach: int):
    """The same for cells, which the face is half a cell away from: turned about it, or continued with the
    slope that the condition and the nearest cell say."""
    if not kind[1]:
        return 2 * g - cut(0, reach)
    h, ndim = op.axes[axis].spacing, op.grid.ndim
    slope = (g - kind[0] * cut(0, 1)) / (kind[1] + kind[0] * h / 2)
    ways = h * (2 * np.arange(reach) + 1)
    shape = [-1 if i == axis else 1 for i in range(ndim)]
    return cut(0, reach) + ways.reshape(shape).astype(typeof(slope).dtype) * slope


def _data_around(op: Stencil, u, axis: int, side: int):
    """The data of a face at the nodes of u across it; what is beyond the box continues the rim."""
    whole = face_values(op.faces[axis][side], face_shape(op.grid, axis, op.faces), typeof(u).dtype)
    others = [(i, a) for i, a in enumerate(op.axes) if i != axis]
    for j, (i, a) in enumerate(others):
        more = (typeof(u).shape[i] - a.count) // 2  # earlier axes are longer already
        places = np.arange(a.start - more, a.start + a.count + more)
        n = typeof(whole).shape[j]
        places = places % n if a.ring else np.clip(places, 0, n - 1)
        whole = xnp.take(whole, places, axis=j)
    return xnp.expand_dims(whole, axis)
