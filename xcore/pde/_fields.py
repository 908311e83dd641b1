"""What operators on grids share: fields of unknowns, faces, shifted fields.

A field is an array with one element for each unknown: nodes on Dirichlet faces, and the last nodes
of periodic axes, are not unknowns.
"""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import jit
from .._core import Array, ArrayLike, dtypes, errors, struct, typeof
from ..linalg import LinearOperator
from ._along import along, by_axes, slab
from ._anew import Remembering, remembered
from ._axis import Axis
from ._boundary import as_dtype, complex_if, face_shape, face_values, fewer, nodes_of
from ._colours import colours, nearest_marks
from ._faces import axes_of, with_faces
from ._grid import Grid, evaluated, real_dtype, size


class GridOperator(Remembering, LinearOperator):
    """A linear operator on the fields of a grid: ``operator(u)`` of a field, ``@`` of flat vectors.

    With data on the faces the differential expression of u is ``operator(u) + boundary()``.

    Attributes:
      grid: the grid.
      faces: for each axis the pair of conditions.
      order: of accuracy.
    """

    grid: Grid
    faces: tuple
    order = 2
    coordinates = "cartesian"
    singular = False
    of_fields = True  # whether it takes a field to a field

    # Arithmetic: of operators on one grid, numbers and fields; else as of all linear operators

    @remembered
    def __add__(self, other):
        made = _sum(self, other)
        return super().__add__(other) if made is None else made

    @remembered
    def __radd__(self, other):
        made = _sum(self, other)
        return super().__radd__(other) if made is None else made

    @remembered
    def __sub__(self, other):
        if isinstance(other, GridOperator) and other.of_fields and self.of_fields:
            return self + _multiple(other, -1.0)
        if callable(other) and not isinstance(other, LinearOperator) and self.of_fields:
            other = self.field(other)
        made = None if callable(other) else _sum(self, -_plain(other))
        return super().__sub__(other) if made is None else made

    @remembered
    def __rsub__(self, other):
        return super().__rsub__(other) if not self.of_fields else _multiple(self, -1.0) + other

    @remembered
    def __mul__(self, number):
        if self.of_fields and _is_field(number):
            advice = "k * op, the field or function in front, is k(x) (op u)(x)."
            raise errors.bad_argument("pde: operator *", "the factor", number, "a number", advice)
        plain = not self.of_fields or isinstance(number, LinearOperator) or xnp.ndim(number)
        return super().__mul__(number) if plain else _multiple(self, xnp.asarray(number))

    @remembered
    def __rmul__(self, factor):
        """A number, or a field (also as a function of the coordinates), times what the operator gives."""
        made = _number_or_field(self, factor) if self.of_fields else None
        return super().__rmul__(factor) if made is None else _multiple(self, made)

    @remembered
    def __truediv__(self, number):
        plain = not self.of_fields or isinstance(number, LinearOperator) or xnp.ndim(number)
        return super().__truediv__(number) if plain else _multiple(self, 1 / xnp.asarray(number))

    @remembered
    def __neg__(self):
        return _multiple(self, -1.0) if self.of_fields else super().__neg__()

    @remembered
    def __matmul__(self, other):
        if isinstance(other, GridOperator) and self.of_fields and other.of_fields:
            _same_fields("@", self, other)
            return Composed(self, other)
        return super().__matmul__(other)

    @remembered
    def __pow__(self, times):
        if not self.of_fields or type(times) is not int or times < 2:
            return super().__pow__(times)
        return functools.reduce(operator.matmul, [self] * times)

    @functools.cached_property
    def axes(self) -> tuple[Axis, ...]:
        """What the host knows of each axis."""
        return axes_of(self.grid, self.faces, self.order)

    @functools.cached_property
    def field_shape(self) -> tuple[int, ...]:
        """The shape of fields."""
        return tuple(a.count for a in self.axes)

    @property
    def shape(self):
        n = size(self.field_shape)
        return (n, n)

    @property
    def lines(self) -> list[np.ndarray]:
        """For each axis numbers whose product is the volume of an unknown."""
        return [a.weights for a in self.axes]

    @property
    def weights(self) -> np.ndarray:
        """The volume that belongs to each unknown."""
        return functools.reduce(np.multiply.outer, self.lines)

    def volumes(self, dtype):
        """The same in a program, which then holds no table of the size of a field."""
        return by_axes(self.lines, dtype)

    def mv(self, x):
        """The product with a field as a flat vector."""
        return self(x.reshape(self.field_shape)).reshape(-1)

    def points(self, dtype=None) -> tuple:
        """The coordinates of the unknowns: for each axis an array of the shape of fields."""
        lines = [a.unknowns.astype(real_dtype(dtype)) for a in self.axes]
        return tuple(xnp.asarray(x) for x in np.meshgrid(*lines, indexing="ij"))

    def field(self, f, dtype=None):
        """A field from a function of the coordinates, from an array at all nodes, or as it is."""
        who = f"pde.{type(self).__name__}.field"
        if f is None or isinstance(f, str):
            want = "a function of the coordinates, an array of the field, or a number"
            raise errors.bad_argument(who, "f", f, want)
        f = xnp.asarray(evaluated(who, "f", f, self.points(dtype)) if callable(f) else f)
        if f.ndim == self.grid.ndim and f.shape == self.grid.shape != self.field_shape:
            f = f[tuple(a.slice for a in self.axes)]
        fits = f.ndim <= self.grid.ndim and all(
            m in (1, n) for m, n in zip(f.shape[::-1], self.field_shape[::-1], strict=False)
        )
        if not fits:
            unknowns = "cells" if self.grid.centred else "unknowns"
            why = f"need a function, or an array of the {unknowns} {self.field_shape}"
            if self.grid.centred:
                raise errors.shape_mismatch(who, why, f=f)
            cut = ", ".join(f"{a.slice.start}:{a.slice.stop}" for a in self.axes)
            nodes = f"of all nodes {self.grid.shape}, of which unknowns are [{cut}]"
            raise errors.shape_mismatch(who, f"{why} or {nodes}", f=f)
        f = f if dtypes.is_inexact(f.dtype) else f.astype(real_dtype())
        f = f if dtype is None else as_dtype(who, "f", f, dtype)
        return xnp.broadcast_to(f, self.field_shape)

    def operand(self, u):
        """The field of u, whose values on Dirichlet faces, if it has them, must be 0: an operator takes no others."""
        given = (
            u if isinstance(u, (np.ndarray, list, tuple)) or type(u) is Array else None
        )  # of what is known
        if given is not None and np.shape(given) == self.grid.shape != self.field_shape:
            self._check_faces(np.asarray(given))
        return self.field(u)

    def _check_faces(self, u) -> None:
        """Values of all nodes on Dirichlet faces are 0, but for rounding such as that of sin π."""
        eps = float(dtypes.finfo(u.dtype).eps) if dtypes.is_inexact(u.dtype) else 0.0
        sizes = np.abs(u)
        most = min(100 * eps, eps**0.5) * float(np.max(sizes, where=np.isfinite(sizes), initial=0))
        for i, faces in enumerate(self.faces):
            for side, face in zip((0, -1), faces, strict=True):
                held = float(np.max(np.take(sizes, side, axis=i)))
                if face.kind is not None and face.kind[1] == 0 and not held <= most:
                    raise errors.bad_argument(
                        f"pde.{type(self).__name__}", "u", held, "0 on Dirichlet faces",
                        "An operator is applied to values inside, op(op.field(u)); what data on the faces add is "
                        "op.boundary(), and the operator's faces hold these data: Dirichlet(g).",
                    )  # fmt: skip

    def full(self, u):
        """Values at all nodes: those of a field, and the given ones on Dirichlet faces."""
        u = self.field(u)
        u = u.astype(self.with_data(typeof(u).dtype))
        for i, a in enumerate(() if self.grid.centred else self.axes):  # no cell is on a face
            u = with_faces(u, i, a, self)
        return u

    def integrate(self, u: ArrayLike) -> Array:
        """The integral of a field, by the volumes of its nodes."""
        u = self.operand(u)
        return xnp.sum(u * self.volumes(typeof(u).dtype))

    # What ``solve`` asks an operator

    def checked_for(self, who: str, method: str, estimate: bool) -> None:
        """Raises where fields of cells cannot be solved in a way that is asked for."""
        if self.grid.centred and (estimate or method == "full multigrid"):
            name, given = ("estimate", True) if estimate else ("method", method)
            advice = (
                "Give estimate=lambda grid: …, which makes the operator on grid.coarser(), too."
            )
            want = (
                "left out for fields of cells, which are not on every second node of a finer grid"
            )
            raise errors.bad_argument(who, name, given, want, advice if estimate else "")

    inside = None  # where the unknowns are, if not everywhere
    own_volumes = False  # whether volumes are others than those of the grid's boxes
    constant = False  # whether its coefficients are numbers, the same for all axes
    has_energy = True  # whether ∫ u op(u) tells how large an error along u is
    resonant = (
        False  # whether rounding of a coefficient alone changes solutions in half of their digits
    )
    skew = False  # whether it is unsymmetric, also when weighted by volumes
    conductances = (1.0,)  # of all axes, or of each

    def prepared(self, who: str):
        """Itself, or a simpler operator that is the same; raises where there is no solution."""
        return self

    def widened(self, dtype):
        """Itself with coefficients of as many digits as this dtype has."""
        return self

    def right(self, f):
        """The right-hand side that belongs to f."""
        return self.field(f)

    def dtype_for(self, dtype):
        """Of the solution for a right-hand side of this dtype."""
        own = getattr(self, "dtype", np.float32)
        return self.with_data(dtype if dtype == own else xnp.promote_types(dtype, own))

    def automatic(self) -> tuple[str, str]:
        """(the method of choice, why)."""
        if self.constant:
            return "direct", "the coefficients are constant, so the operator is a sum over the axes"
        return (
            "cg",
            "the coefficients vary: multigrid alone would do, conjugate gradients are safer",
        )

    def instead_of(self, method: str) -> str:
        """What to take where a method does not do; empty where it does."""
        if self.constant:
            return '"direct": the coefficients are constant' if method == "bicgstab" else ""
        return '"sparse", "cg" or "multigrid" where coefficients vary' if method == "direct" else ""

    def only_inside(self, u):
        """A field without what does not belong to it."""
        return u

    def evened(self):
        """Factors of rows: those next to the boundary of a mask outweigh all others in a norm."""
        return 1

    def in_differences(self, u):
        """``self(u)``, if possible as a sum of differences, which are exact between neighbours."""
        return self(u)

    def coarser_faces(self) -> tuple:
        """The conditions with their data at every second node."""
        return tuple(tuple(fewer(c) for c in pair) for pair in self.faces)

    def with_data(self, dtype=None):
        """The dtype, or the default one, made complex if the data on the faces are."""
        values = [c.value for pair in self.faces for c in pair if hasattr(c, "value")]
        return complex_if(real_dtype(dtype), *values)

    def as_sparse(self):
        """The matrix on flat fields, as a SciPy array in CSR form; found by products with a few
        fields of zeros and ones, whose ones are too far apart to meet in a stencil."""
        from scipy import sparse  # only here: SciPy's sparse matrices are slow to load

        reach, shape = self.reach, self.field_shape
        lines = [colours(n, r, a.ring) for n, r, a in zip(shape, reach, self.axes, strict=True)]
        places = np.arange(size(shape)).reshape(shape)
        parts, apply = [], jit(type(self).__call__)
        for colour in itertools.product(*[range(line.max() + 1) for line in lines]):
            chosen = np.ix_(*[line == c for line, c in zip(lines, colour, strict=True)])
            ones = np.zeros(shape)
            ones[chosen] = 1
            values = np.asarray(apply(self, ones))  # in double precision, as SciPy's
            whose = nearest_marks(np.where(ones, places, -1), reach, [a.ring for a in self.axes])
            met = (whose >= 0) & (values != 0)
            parts.append((values[met], places[met], whose[met]))
        values, rows, columns = map(np.concatenate, zip(*parts, strict=True))
        return sparse.coo_array((values, (rows, columns)), shape=self.shape).tocsr()

    @property
    def reach(self) -> tuple[int, ...]:
        """How far along each axis the value at a node depends on others."""
        return (1,) * self.grid.ndim

    def as_matrix(self, dtype=None):
        """The dense matrix on flat fields."""
        elements = self.as_sparse().toarray()
        return xnp.asarray(elements.astype(complex_if(real_dtype(dtype), elements.dtype)))

    def lift(self, dtype):
        """A field that continues the data of the Dirichlet faces smoothly: linear between opposite
        ones, axis after axis. (Gordon and Hall 1973, transfinite interpolation)"""
        shape = tuple(nodes_of(self.grid, i, self.faces) for i in range(self.grid.ndim))
        out = xnp.zeros(shape, dtype)
        for axis, a in enumerate(self.axes):
            given = [not a.ring and not kind[1] for kind in a.kinds]
            rise = (a.nodes - a.nodes[0]) / a.period
            shares = (1 - rise, rise) if all(given) else (np.ones(1), np.ones(1))
            rims = slab(out, axis, 0, 1), slab(out, axis, shape[axis] - 1, shape[axis])
            for side in (0, 1):
                if given[side]:
                    line = along(shares[side], axis, self.grid.ndim, dtype)
                    data = self._face_nodes(axis, side, dtype)
                    out = out + line * (xnp.expand_dims(data, axis) - rims[side])
        return out[tuple(a.slice for a in self.axes)]

    def _face_nodes(self, axis: int, side: int, dtype):
        shape = face_shape(self.grid, axis, self.faces)
        return face_values(self.faces[axis][side], shape, dtype)

    def face(self, axis: int, side: int, dtype):
        """The data on a face, at the unknowns along all other axes."""
        return self.unknowns_of_face(self._face_nodes(axis, side, dtype), axis)

    def unknowns_of_face(self, whole, axis: int):
        """Of values at all nodes of a face those at the unknowns along all other axes."""
        return whole[tuple(a.slice for i, a in enumerate(self.axes) if i != axis)]


# Sums, multiples and products of operators


class _Made(GridOperator):
    """What sums and products have from their ``parts``: volumes are those of the one that has others than a grid."""

    parts = ()
    own_volumes = property(lambda self: any(t.own_volumes for t in self.parts))  # pyright: ignore
    space = property(lambda self: next((t for t in self.parts if t.own_volumes), self.parts[0]))
    coordinates = property(lambda self: self.space.coordinates)  # pyright: ignore[reportAssignmentType]

    @property
    def lines(self) -> list[np.ndarray]:
        """For each axis numbers whose product is the volume of an unknown."""
        return self.space.lines

    @property
    def weights(self) -> np.ndarray:
        """The volume that belongs to each unknown."""
        return self.space.weights

    def volumes(self, dtype):
        """The same in a program."""
        return self.space.volumes(dtype)

    def integrate(self, u: ArrayLike) -> Array:
        """The integral of a field, by the volumes of its nodes."""
        return self.space.integrate(u)

    def only_inside(self, u):
        """A field without what does not belong to it."""
        return self.space.only_inside(u)


@struct
class Combined(_Made):
    """Σ factor × operator + c, on the fields of one grid: what ``+``, ``-``, ``*`` and ``/`` make.

    Attributes:
      terms: the operators.
      factors: for each a number, or a field that multiplies what the operator gives.
      c: a number or a field that multiplies u itself; None for nothing.

    >>> from xcore.pde import Advection, Diffusion, Grid
    >>> op = Diffusion(Grid(4), 1.0) - Advection(Grid(4), 2.0) - 3.0
    >>> op(xnp.asarray([1.0, 2.0, 3.0]))
    Array([-11., -14., -81.], dtype=float32)
    """

    terms: Any = ()
    factors: Any = ()
    c: Any = None

    parts = property(lambda self: self.terms)
    grid = property(lambda self: self.terms[0].grid)  # pyright: ignore[reportAssignmentType]
    faces = property(lambda self: self.terms[0].faces)  # pyright: ignore[reportAssignmentType]
    axes = property(lambda self: self.terms[0].axes)  # pyright: ignore[reportAssignmentType]
    inside = property(lambda self: self.terms[0].inside)  # pyright: ignore[reportAssignmentType]

    @property
    def reach(self):
        every = [t.reach for t in self.terms]
        return tuple(max(r[i] for r in every) for i in range(self.grid.ndim))

    @property
    def symmetric(self):
        flat = all(xnp.ndim(f) == 0 and not _complex(f) for f in self.factors)
        return flat and all(t.symmetric for t in self.terms) and not _complex(self.c)

    def field(self, f, dtype=None):
        """A field, as the first operator makes one."""
        return self.terms[0].field(f, dtype)

    def full(self, u):
        """Values at all nodes, those on Dirichlet faces too."""
        return self.terms[0].full(u)

    def __call__(self, u):
        u = self.field(u)
        parts = [_times(f, t(u)) for f, t in zip(self.factors, self.terms, strict=True)]
        return functools.reduce(xnp.add, parts if self.c is None else [*parts, _times(self.c, u)])

    def boundary(self, dtype=None):
        """What the data on the faces add: a field."""
        parts = [
            _times(f, t.boundary(dtype)) for f, t in zip(self.factors, self.terms, strict=True)
        ]
        return functools.reduce(xnp.add, parts)

    def as_sparse(self):
        """The matrix on flat fields, as a SciPy array in CSR form."""
        from scipy import sparse  # only here: SciPy's sparse matrices are slow to load

        def line(f):
            return sparse.diags_array(np.broadcast_to(np.asarray(f), self.field_shape).ravel())

        parts = [line(f) @ t.as_sparse() for f, t in zip(self.factors, self.terms, strict=True)]
        return sum(parts if self.c is None else [*parts, line(self.c)]).tocsr()  # pyright: ignore


@struct
class Composed(_Made):
    """u ↦ outer(inner(u)), on the fields of one grid: what ``@`` makes of two operators on a grid."""

    outer: Any = None
    inner: Any = None

    parts = property(lambda self: (self.inner, self.outer))
    grid = property(lambda self: self.inner.grid)  # pyright: ignore[reportAssignmentType]
    faces = property(lambda self: self.inner.faces)  # pyright: ignore[reportAssignmentType]
    axes = property(lambda self: self.inner.axes)  # pyright: ignore[reportAssignmentType]
    inside = property(lambda self: self.inner.inside)  # pyright: ignore[reportAssignmentType]

    @property
    def reach(self):
        return tuple(a + b for a, b in zip(self.outer.reach, self.inner.reach, strict=True))

    def field(self, f, dtype=None):
        """A field, as the inner operator makes one."""
        return self.inner.field(f, dtype)

    def full(self, u):
        """Values at all nodes, those on Dirichlet faces too."""
        return self.inner.full(u)

    def __call__(self, u):
        return self.outer(self.inner(u))

    def boundary(self, dtype=None):
        """What the data on the faces add: a field."""
        return self.outer(self.inner.boundary(dtype)) + self.outer.boundary(dtype)

    def as_sparse(self):
        """The matrix on flat fields, as a SciPy array in CSR form."""
        return self.outer.as_sparse() @ self.inner.as_sparse()


def _is_field(x) -> bool:
    return not isinstance(x, LinearOperator) and (callable(x) or xnp.ndim(x) > 0)


def _plain(x):
    return x if isinstance(x, LinearOperator) else xnp.asarray(x)


def _complex(x) -> bool:
    return x is not None and dtypes.is_complex(typeof(xnp.asarray(x)).dtype)


def _times(factor, u):
    """A field times a number or field, in the field's precision."""
    factor, t = xnp.asarray(factor), typeof(u)
    wide = complex_if(t.dtype, factor)
    return factor.astype(wide if _complex(factor) else dtypes.to_real(t.dtype)) * u


def _as_combined(op: GridOperator) -> Combined:
    if op.order == "compact":
        advice = "Its sums hold for means of the field: take order 2, 4 or 6."
        raise errors.bad_argument(
            "pde", "order", op.order, "a number for operators in sums and multiples", advice
        )
    return op if isinstance(op, Combined) else Combined((op,), (1.0,))


def _number_or_field(op: GridOperator, x):
    """A number, or a field of an operator, of what can stand for one; else None."""
    if isinstance(x, LinearOperator) or type(x).__module__.startswith("scipy.sparse"):
        return None
    if not callable(x) and xnp.ndim(x) == 0:
        x = xnp.asarray(x)
        return x if dtypes.is_inexact(x.dtype) else x.astype(real_dtype())
    return op.field(x) if callable(x) or xnp.shape(x) in (op.field_shape, op.grid.shape) else None


def _sum(op: GridOperator, other):
    """op + other, for what lives on the same grid; else None."""
    if isinstance(other, GridOperator):
        if not (op.of_fields and other.of_fields):
            return None
        _same_fields("+", op, other)
        a, b = _as_combined(op), _as_combined(other)
        c = a.c if b.c is None else b.c if a.c is None else a.c + b.c
        return Combined((*a.terms, *b.terms), (*a.factors, *b.factors), c)
    number = _number_or_field(op, other) if op.of_fields else None
    if number is None:
        return None
    a = _as_combined(op)
    return a.replace(c=number if a.c is None else a.c + number)


def _multiple(op: GridOperator, factor) -> Combined:
    a = _as_combined(op)
    scaled = tuple(factor * f for f in a.factors)
    return Combined(a.terms, scaled, None if a.c is None else factor * a.c)


def _same_fields(sign: str, a: GridOperator, b: GridOperator) -> None:
    """Raises where operators are not of one grid and kind of faces, or have other data there."""
    who = f"pde: operator {sign} operator"
    if a.grid != b.grid:
        raise errors.bad_argument(who, "the second grid", b.grid, f"that of the first, {a.grid}")
    first, second = _systems(a), _systems(b)
    if first and second and first != second:
        want = f"those of the first, {first}"
        advice = "Give all operators of a sum the same coordinates=: they act on one u."
        raise errors.bad_argument(who, "the second's coordinates", second, want, advice)
    masks = [t.inside for t in (a, b)]
    if (masks[0] is None) != (masks[1] is None):
        held = a if masks[0] is not None else b
        other, name = b if held is a else a, type(_first(held)).__name__
        advice = (
            f"A {name} knows where its edge is between the nodes; the other one would take zeros from outside. "
            f"Numbers and fields can be added to a {name}. A flow with u = 0 at the edge, to first order, is "
            "chi * (Diffusion(grid, a) - Advection(grid, v)) - (1 - chi), with a field chi of 1 inside and 0 outside."
        )
        want = f"a {name} as well"
        raise errors.bad_argument(who, "the other", type(_first(other)).__name__, want, advice)
    advice = "Give all operators of a sum the same faces: they act on one u."
    for axis, (first, second) in enumerate(zip(a.faces, b.faces, strict=True)):
        for side, (x, y) in enumerate(zip(first, second, strict=True)):
            where = f"the second's face {('low', 'high')[side]} of axis {axis}"
            if x.kind != y.kind or (sign == "+" and x.kind and _differ(x.value, y.value)):
                raise errors.bad_argument(who, where, y, f"that of the first, {x}", advice)


def _systems(op: GridOperator) -> list[str]:
    """The coordinates of those parts that take any; a derivative along an axis is the same in all."""
    parts = op.terms if isinstance(op, Combined) else [op]
    return sorted({p.coordinates for p in parts if "coordinates" in vars(p)})


def _first(op: GridOperator) -> GridOperator:
    return _first(op.terms[0]) if isinstance(op, Combined) else op


def _differ(x, y) -> bool:
    """Whether data are known, and not the same."""
    plain = np.ndarray, np.generic, int, float, complex  # what is traced is not compared
    known = all(type(v) is Array or isinstance(v, plain) for v in (x, y))
    return (
        x is not y
        and known
        and not np.array_equal(*np.broadcast_arrays(np.asarray(x), np.asarray(y)))
    )
