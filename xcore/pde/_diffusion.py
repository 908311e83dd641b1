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
from .._control import jit
from .._core import Array, ArrayLike, DTypeLike, dtypes, errors, static, struct, tree, typeof
from ..numpy._select import cut
from . import _curvilinear, _leaks, _located, _tensor
from ._along import along, padded, shifted
from ._boundary import ZERO, Neumann, face_shape, face_values, nodes_of, real_only, resolve
from ._faces import check_order
from ._fields import GridOperator
from ._grid import Grid, evaluated, real_dtype
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


MEANS = {  # of a over two pieces of a way, which take parts p and q of it
    "harmonic": lambda a, b, p, q: a * (b / (q * a + p * b)),  # a b may be out of range
    "arithmetic": lambda a, b, p, q: q * a + p * b,
}
MEANS["located"] = MEANS["harmonic"]


@struct
class Diffusion(GridOperator):
    """u ↦ div(a grad u) - c u, of order 2: ``op(u) + op.boundary()`` with data on the faces.

    Attributes:
      grid: a ``Grid``.
      a: positive: an array at all nodes of the grid (of all cells on ``Grid.cells``), a number, a function
        of the coordinates, or a tuple with one of them for each axis. In a tuple also arrays of what is
        between two nodes: one element less along its axis, or on cells, where they are on the faces, one more.
        An array of cells is constant in each of them; where a is smooth and flows through faces are given, a function
        or an array on faces is of order 2 there, too. A symmetric matrix, as rows of such entries, an array
        (d, d, …) or a function that gives them, is taken as smooth, at nodes; in conditions on faces ∂u/∂n then
        stands for n·a∇u / n·a n.
      faces: conditions as in ``Laplacian``; ∂u/∂n is without the factor a.
      c: not negative: likewise, or one number.
      mean: of a between two nodes: "harmonic", right where a jumps (in the middle of them, or on the faces of
        cells), "arithmetic", or "located", for functions of the coordinates, element by element: harmonic, with each
        jump where it is, and means across the ways; of order 2 for interfaces along the axes anywhere between the
        nodes, of which there is one at most between two. Derivatives take the places of jumps, and where a is looked at
        between them, as constants: with respect to values between interfaces along the axes they are exact, across
        curved ones they miss a part that falls like the spacing: 0.6 % for a disc on 12², 0.14 % on 48².
      mixed: the elements of a matrix behind its diagonal, row by row, found from ``a``, which then is its diagonal.
      shares: volumes relative to those that end half-way between nodes, where jumps are located.
      leaks: for each face what ``Robin`` conditions of more than numbers let out; in ``faces`` they are ``Neumann``.
      coordinates: "cartesian"; "polar", of (r) or (r, θ); "cylindrical", of (r), (r, z) or (r, θ, z);
        "spherical", of (r), (r, θ) or (r, θ, φ), θ from the pole: on ``Grid.cells``. ``integrate`` and volumes are
        those of space, with the angles that are left out. A pole is no edge: one condition for all faces leaves
        it out, and one of its own is ``Neumann()``.

    >>> op = Diffusion(Grid(4), 2.0)
    >>> op(xnp.ones(3)) + 0.0
    Array([-32.,   0., -32.], dtype=float32)
    """

    grid: Any = static()
    a: Any = 1.0
    faces: Any = ZERO
    c: Any = 0.0
    mean: str = static(default="harmonic")
    mixed: Any = None
    shares: Any = None
    coordinates: str = static(default="cartesian")
    leaks: Any = None

    def __post_init__(self):
        who, settle = "pde.Diffusion", object.__setattr__
        if not isinstance(self.grid, Grid):
            raise errors.bad_argument(who, "grid", self.grid, "a pde.Grid")
        check_order(who, self.grid, 2)
        if self.mean not in MEANS:
            raise errors.bad_argument(
                who, "mean", self.mean, '"harmonic", "located" or "arithmetic"'
            )
        faces = resolve(who, self.grid, self.faces, leaks=True)
        if system := self._system(who):
            faces = _curvilinear.at_poles(who, self.grid, system, self.faces, faces)
        faces, leaks = _leaks.as_flows(self.grid, system, faces)
        settle(self, "faces", faces)
        for leak in (leaks and tree.leaves(leaks)) or ():
            require(who, "alpha / beta", leak, is_decay, "finite and nowhere negative")
        settle(self, "leaks", self.leaks if leaks is None else leaks)
        if self.mixed is None and (found := _tensor.parts_of(who, self.grid, self.a)):
            settle(self, "a", found[0])
            settle(self, "mixed", found[1])
        parts = self.a if isinstance(self.a, (tuple, list)) else (self.a,)
        if len(parts) not in (1, self.grid.ndim):
            raise errors.bad_argument(who, "a", self.a, f"one, or {self.grid.ndim} for the axes")
        if self.mean == "located" and any(map(callable, parts)):
            parts = self._located(parts * (self.grid.ndim // len(parts)))
        elif self.mean == "located" and self.shares is None and self.mixed is None:
            if any(xnp.shape(x) == self.grid.shape for x in parts):
                want = 'a function of the coordinates for mean="located": values at nodes do not tell where a jumps'
                raise errors.bad_argument(who, "a", self.a, want)
        if self.grid.centred and any(map(callable, parts)):
            parts = tuple(
                self._on_faces(who, axis, x) if callable(x) else x
                for axis, x in zip(
                    range(self.grid.ndim), parts * (self.grid.ndim // len(parts)), strict=True
                )
            )
        parts = tuple(self._given(who, axis, x, len(parts)) for axis, x in enumerate(parts))
        for x in parts:
            require(who, "a", x, is_positive, "positive and finite everywhere")
        settle(self, "a", parts)
        if self.c is None or (isinstance(self.c, (int, float)) and self.c == 0):
            return settle(self, "c", None)  # part of the structure: constants are in the kernel
        settle(self, "c", self._at_nodes(who, "c", self.c))
        require(who, "c", self.c, is_decay, "finite and nowhere negative")

    def _system(self, who: str = "pde.Diffusion"):
        """What is known of its coordinates; None for Cartesian ones."""
        if self.coordinates == _curvilinear.CARTESIAN:
            return None
        system = _curvilinear.checked(who, self.grid, self.coordinates)
        if self.mean == "located" or self.mixed:
            name, given = ("mean", self.mean) if self.mean == "located" else ("a", self.a)
            want = "left as it is" if name == "mean" else "one, or one for each axis"
            raise errors.bad_argument(
                who, name, given, f"{want}, in {self.coordinates} coordinates"
            )
        return system

    @property
    def own_volumes(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether volumes are others than those of the grid's boxes."""
        return self.shares is not None or self.coordinates != _curvilinear.CARTESIAN

    @property
    def lines(self) -> list[np.ndarray]:
        """For each axis numbers whose product is the volume of an unknown."""
        system = self._system()
        return _curvilinear.volumes(system, self.grid) if system else [a.weights for a in self.axes]

    def _given(self, who, axis: int, x, count: int):
        """What a is, along an axis or in all."""
        between = self._between(axis) if count == self.grid.ndim else None
        with_faces = self.mean == "located" and not self.grid.centred
        if between and with_faces and xnp.shape(x) == self._between(axis, 1):
            between = self._between(axis, 1)
        return self._at_nodes(who, "a", x, between)

    def _located(self, parts) -> tuple:
        """Functions as what is between nodes, with their jumps where they are."""
        fs = tuple(x if callable(x) else None for x in parts)
        found = xnp.asarray(_located.shares(self.grid, fs, self.rings))
        object.__setattr__(self, "shares", self._unknowns(self._whole(found)).astype(real_dtype()))
        return tuple(
            x if f is None else _located.between(self.grid, fs, i, self.rings, self.axes[i].kinds)
            for i, (x, f) in enumerate(zip(parts, fs, strict=True))
        )

    @property
    def weights(self) -> np.ndarray:
        """The volume that belongs to each unknown."""
        whole = GridOperator.weights.fget(self)  # pyright: ignore[reportOptionalCall]
        return whole if self.shares is None else whole * np.asarray(ops.stop_gradient(self.shares))

    def volumes(self, dtype):
        """The same in a program."""
        whole = GridOperator.volumes(self, dtype)
        return whole if self.shares is None else whole * self.shares.astype(dtype)

    def _on_faces(self, who, axis: int, f):
        """A function of the coordinates on the faces of cells across an axis: means of what it is in the cells, which
        are right where it jumps there; and itself on the faces of the box."""
        values = self._at_nodes(who, "a", f)
        if values.ndim == 0:
            return values
        a, n = self.axes[axis], self.grid.shape[axis]
        inner = self._means(values, axis)
        if a.ring:
            return xnp.concatenate([inner, cut(inner, axis, 0, 1)], axis=axis)
        lines = [x.astype(real_dtype()) for x in map(self.grid.nodes, range(self.grid.ndim))]
        ends = []
        for side, place in enumerate(self.grid.corners(axis)[[0, -1]]):
            lines[axis] = np.array([place], lines[axis].dtype)
            end = f(*map(xnp.asarray, np.meshgrid(*lines, indexing="ij")))
            like = cut(values, axis, side and n - 1, side * (n - 1) + 1)
            ends.append(xnp.broadcast_to(end, typeof(like).shape).astype(typeof(values).dtype))
        return xnp.concatenate([ends[0], inner, ends[1]], axis=axis)

    def _means(self, values, axis: int):
        """Means of values at nodes and at the next ones along an axis; a periodic one begins with the last node."""
        ring, n = self.axes[axis].ring, typeof(values).shape[axis]
        first = shifted(values, axis, -1, True) if ring else cut(values, axis, 0, n - 1)
        second = values if ring else cut(values, axis, 1, n)
        return MEANS[self.mean](first, second, *self._shares(axis, typeof(values).dtype))

    def _between(self, axis: int, by: int | None = None) -> tuple:
        """The shape of values between nodes along an axis."""
        by = (1 if self.grid.centred else -1) if by is None else by
        return tuple(n + by * (i == axis) for i, n in enumerate(self.grid.shape))

    def _at_nodes(self, who, name, x, between=None):
        x = evaluated(who, name, x, self.grid.coordinates()) if callable(x) else x
        x = xnp.asarray(x)
        if x.ndim and x.shape not in (self.grid.shape, between):
            where = "of all cells" if self.grid.centred else "at all nodes"
            where = f"{where}, {self.grid.shape}"
            what = "on the faces between them" if self.grid.centred else "between them"
            where = where if between is None else f"{where}, or {what}, {between}"
            if not self.grid.centred and x.shape == tuple(self.grid.cells):
                where += "; an image, a value in each cell, belongs on Grid.cells(…)"
            raise errors.shape_mismatch(who, f"need {name} {where}", **{name: x})
        real_only(who, name, x)
        return x if dtypes.is_inexact(x.dtype) else x.astype(real_dtype())

    @property
    def symmetric(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether it is without weights, too."""
        even = all(np.ptp(w) < 1e-12 * w.max() for w in self.lines)
        return self.shares is None and even

    rings = property(lambda self: tuple(a.ring for a in self.axes))

    @property
    def singular(self) -> bool:
        """Whether constants are in the kernel, as far as the structure tells."""
        return self.c is None and self.leaks is None and all(a.singular for a in self.axes)

    @property
    def dtype(self):
        return functools.reduce(
            xnp.promote_types,
            [x.dtype for x in (*self.a, self.c, *(self.mixed or ())) if x is not None],
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

    def _area(self, axis: int, at):
        """The area of the faces of the volumes across an axis, at places along it: a field. It is thin along the
        axis where it is the same everywhere. In other coordinates over hᵢ², the lengths of a step of the coordinate."""
        parts = [np.ones(1) if i == axis else a.weights for i, a in enumerate(self.axes)]
        if system := self._system():
            parts = _curvilinear.areas(system, self.grid, axis, at)
        return functools.reduce(np.multiply.outer, parts)

    def edges(self) -> tuple:
        """Conductances of the edges along each axis, as ``stiffness`` takes them."""
        return tuple(self._edges_along(i) for i in range(self.grid.ndim))

    def _edges_along(self, axis: int):
        a, dtype = self.axes[axis], self.dtype
        before = a.nodes[-1:] - a.period if a.ring else a.nodes[:0]
        gaps = np.diff(np.append(before, a.nodes))
        inner = self._over_edges(axis).astype(dtype)
        at = self.grid.corners(axis)[0 if a.ring else 1 : -1] if a.centred else a.nodes[1:]
        way = self._area(axis, at) / along(gaps, axis, self.grid.ndim, np.float64)
        inner = inner * way.astype(dtype)
        if a.ring:
            return inner
        # a face with Neumann or Robin condition is a node itself, or beside a cell: no edge leads beyond it
        missing = [int(a.centred or bool(k[1])) for k in a.kinds]
        t = self.grid.ndim
        low = tuple(missing[0] if i == axis else 0 for i in range(t))
        high = tuple(missing[1] if i == axis else 0 for i in range(t))
        whole = ops.pad(inner, xnp.zeros((), dtype), low=low, high=high, interior=(0,) * t)
        for side, kind in enumerate(a.kinds if a.centred else ()):
            if not kind[1]:
                n = a.count + 1
                face = self._through_face(axis, side)
                whole = whole + padded(face, axis, 0 if side == 0 else n - 1, n)
        return whole

    def _over_edges(self, axis: int):
        """a between the nodes along an axis; of a periodic one the first is before the first node."""
        a, given = self.axes[axis], self.a[axis % len(self.a)]
        if self._is_between(axis):
            n = typeof(given).shape[axis]
            given = self._unknowns(given, axis)
            if a.centred or n > self.grid.shape[axis]:  # with the faces
                return cut(given, axis, 0 if a.ring else 1, n - 1)
            return shifted(given, axis, -1, True) if a.ring else given
        return self._means(self._unknowns(self._whole(given), axis), axis)

    def _shares(self, axis: int, dtype) -> tuple:
        """Of the ways between nodes the parts that are before and behind the face of a cell."""
        a = self.axes[axis]
        if not a.centred or not np.ptp(a.weights):
            return 0.5, 0.5
        second = a.weights if a.ring else a.weights[1:]
        first = np.roll(a.weights, 1) if a.ring else a.weights[:-1]
        parts = first / (first + second), second / (first + second)
        return tuple(along(x, axis, self.grid.ndim, dtype) for x in parts)

    def _is_between(self, axis: int) -> bool:
        """Whether a is given between nodes along an axis."""
        given = self.a[axis % len(self.a)]
        return given.ndim > 0 and typeof(given).shape[axis] != self.grid.shape[axis]

    def sinks(self):
        """What multiplies u at each node: c times volumes, and what Robin faces let out."""
        dtype = self.dtype
        out = xnp.zeros(self.field_shape, dtype)
        if self.c is not None:
            out = self._unknowns(self._whole(self.c)).astype(dtype) * self.volumes(dtype)
        for axis, side in self._open_faces():
            if (leak := self._leak(axis, side)) is not None:
                n, flow = self.axes[axis].count, leak * self._through_face(axis, side)
                out = out + padded(flow, axis, 0 if side == 0 else n - 1, n)
        return out

    def _leak(self, axis: int, side: int):
        """How much more flows out through a face than its data say, for each u beside it; None if nothing does."""
        leak = self.leaks and self.leaks[axis][side]
        if leak is None:
            return self.faces[axis][side].kind[0] or None
        whole = face_values(Neumann(leak), face_shape(self.grid, axis, self.faces), self.dtype)
        return xnp.expand_dims(self.unknowns_of_face(whole, axis), axis)

    def _open_faces(self):
        """Faces that are unknowns: those with Neumann and Robin conditions."""
        pairs = [(i, s) for i in range(self.grid.ndim) for s in (0, 1)]
        return [(i, s) for i, s in pairs if self.faces[i][s].kind and self.faces[i][s].kind[1]]

    def _through_face(self, axis: int, side: int):
        """What flows in through a face if its data are 1 and u is 0, thin along the axis: a × area over what
        data are divided by."""
        alpha, beta = self.faces[axis][side].kind
        a = self.axes[axis]
        way = beta + (alpha * a.weights[-side] / 2 if a.centred else 0)
        if system := self._system():  # areas are over hᵢ², conditions of true lengths
            h = _curvilinear.scale(system, self.grid, axis)
            way = beta / h + alpha * a.weights[-side] / 2
        area = self._area(axis, self.grid.corners(axis)[[-side]])
        return self._on_face(axis, side) * (area / way).astype(self.dtype)

    def _on_face(self, axis: int, side: int):
        """a on a face, thin along the axis."""
        given, dtype = self.a[axis % len(self.a)], self.dtype
        values = self._unknowns(given if self._is_between(axis) else self._whole(given), axis)
        n = typeof(values).shape[axis]
        near = lambda k: cut(values, axis, n - 1 - k if side else k, n - k if side else k + 1)  # noqa: E731
        first = near(0).astype(dtype)
        if self._is_between(axis) and 1 < n < self.grid.shape[axis]:
            # half a cell away from the next value; as it goes on from the second, by powers to stay positive
            return first * xnp.sqrt(first / near(1).astype(dtype))
        return first

    # What ``solve`` asks

    conductances = property(lambda self: self.a)
    accuracy = 2

    @property
    def constant(self) -> bool:
        """Whether a and c are numbers, and no Robin face takes a away."""
        number = self.c is None or self.c.ndim == 0
        robin = any(c.kind and c.kind[0] and c.kind[1] for pair in self.faces for c in pair)
        plain = not self.mixed and self.coordinates == _curvilinear.CARTESIAN
        fixed = number and len(self.a) == 1 and self.a[0].ndim == 0
        return fixed and not robin and self.leaks is None and plain

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
        if self.mixed:
            return _tensor.absolute(self, self.sinks()) / self.volumes(self.dtype)
        return 2 * diagonal(self.edges(), self.sinks(), self.rings) / self.volumes(self.dtype)

    def coarser(self):
        """The operator on every second node."""
        if any(self._is_between(axis) for axis in range(self.grid.ndim)):
            want = "at the nodes: values between them have none between every second node"
            raise errors.bad_argument("pde.Diffusion.coarser", "a", self.a, want)
        thin = lambda x: x[(slice(None, None, 2),) * self.grid.ndim] if x.ndim else x  # noqa: E731
        c = None if self.c is None else thin(self.c)
        return Diffusion(
            self.grid.coarser(), tuple(map(thin, self.a)), self.coarser_faces(), c, self.mean,
            self.mixed and tuple(map(thin, self.mixed)), coordinates=self.coordinates,
            leaks=_leaks.coarser(self.grid, self.leaks),
        )  # fmt: skip

    def widened(self, dtype):
        """Itself with coefficients of as many digits as a field has: fewer would round the sizes of cells too."""
        wide = xnp.promote_types(self.dtype, dtypes.to_real(dtype))
        if wide == self.dtype:
            return self
        a, c, mixed = tree.map(lambda x: x.astype(wide), (self.a, self.c, self.mixed))
        return self.replace(a=a, c=c, mixed=mixed)

    def __call__(self, u: ArrayLike) -> Array:
        u = self.operand(u)
        return _applied(self.widened(typeof(u).dtype), u)

    def _apply(self, u):
        if self.mixed:
            flow = _tensor.outflow(self, u) + self.sinks() * u
        else:
            flow = stiffness(self.edges(), self.sinks(), u, self.rings)
        return -flow / self.volumes(dtypes.to_real(typeof(u).dtype))

    def boundary(self, dtype: DTypeLike | None = None) -> Array:
        """What the data on the faces add: a field."""
        dtype = self.with_data(self.dtype) if dtype is None else np.dtype(dtype)
        return _data(self.widened(dtype), dtype)

    def _boundary(self, dtype):
        out = xnp.zeros(self.field_shape, dtype)
        out = out - _tensor.from_faces(self, dtype) if self.mixed else out
        opened = self._open_faces()
        for axis, a in enumerate(self.axes):
            edges = None if a.ring or self.mixed else self._edges_along(axis)
            for side in () if a.ring else (0, 1):
                data = xnp.expand_dims(self.face(axis, side, dtype), axis)
                n = a.count
                if (axis, side) in opened:
                    edge = self._through_face(axis, side)
                elif self.mixed:
                    continue
                else:
                    edge = cut(edges, axis, 0, 1) if side == 0 else cut(edges, axis, n, n + 1)
                out = out + padded(edge * data, axis, 0 if side == 0 else n - 1, n)
        return (out / self.volumes(dtypes.to_real(dtype))).astype(dtype)


def require(who: str, name: str, x, test, words: str) -> None:
    """Raises where values are known and break a condition."""
    if type(x) is Array and not np.all(test(np.asarray(x))):
        values = np.asarray(x)
        worst = float(np.min(values[~test(values)]))
        raise errors.bad_argument(
            who, name, worst, words, f"The least value of {name} that is not is shown, or NaN."
        )


def is_positive(x):
    """Whether numbers are positive and finite."""
    return (x > 0) & (x < np.inf)


def is_decay(x):
    """Whether numbers are not negative, and finite."""
    return (x >= 0) & (x < np.inf)


_applied = jit(Diffusion._apply, inline=True)
_data = jit(Diffusion._boundary, static_argnums=1, inline=True)


def as_diffusion(op, dtype=None):
    """A Laplace operator of order 2 in the form of flows; others as they are."""
    if isinstance(op, Laplacian):
        return Diffusion(op.grid, xnp.ones((), real_dtype(dtype)), op.faces)
    return op
