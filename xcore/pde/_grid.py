"""Grids: boxes in one to three dimensions, with equal or stretched spacing along each axis."""

from __future__ import annotations

import functools
import inspect
import math
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import Array, ArrayLike, DTypeLike, dtypes, errors, static, struct, typeof
from .._core.notebook import shown


def _per_axis(value, ndim: int) -> tuple:
    return tuple(value) if isinstance(value, (tuple, list, np.ndarray)) else (value,) * ndim


def real_dtype(dtype=None):
    """The dtype of coordinates: the one given, or the default for real numbers."""
    return dtypes.default_dtype("float") if dtype is None else np.dtype(dtype)


def evaluated(who: str, name: str, f, points, more=()):
    """f of coordinates, and of what else it gets; raises in words where it takes other arguments, or asks a whole array
    for one truth value or one number."""
    try:
        return f(*points, *more)
    except (TypeError, ValueError) as e:
        if isinstance(e, errors.ConcretizationError):
            raise
        axes = ("x", "y", "z")[: len(points)]
        if not takes(f, len(points) + len(more)):
            also = ", and of the time behind them" if more else ""
            want = f"a function of {len(points)} coordinates, ({', '.join(axes)}){also}"
            raise errors.bad_argument(who, name, f, want) from e
        want = "a function of arrays that works element by element"
        if "truth value" in str(e):
            raise errors.bad_argument(who, name, f, want, _ONE_TRUTH) from e
        if "Python float" in str(e):
            advice = "It gets all points at once: take xnp.sin and the like in place of math.sin."
            raise errors.bad_argument(who, name, f, want, advice) from e
        raise


_ONE_TRUTH = (
    "Python's and, or, not, if and a < x < b ask an array for one truth value: write "
    "(a < x) & (x < b), | and ~, with the comparisons in parentheses, and xnp.where in place of if."
)


def check_level(who: str, given) -> None:
    """Raises where numbers that say what is inside are complex or NaN, which are neither positive nor negative."""
    want = "real numbers, positive inside and 0 on the edge"
    if np.iscomplexobj(given):
        raise errors.bad_argument(who, "inside", errors.Words("complex numbers"), want)
    if np.isnan(given).any():
        advice = "xnp.nan_to_num(level, nan=-1.0) takes what is missing as outside."
        raise errors.bad_argument(who, "inside", errors.Words("NaN at some points"), want, advice)


def is_mask(known) -> bool:
    """Whether values say of points only whether they are inside."""
    return known.dtype == bool or np.array_equal(np.unique(known)[:3], [0, 1])


def takes(f, count: int) -> bool:
    """Whether a function can be called with so many arguments; yes where it does not say."""
    try:
        return fits(inspect.signature(f), count)
    except TypeError:
        return False
    except ValueError:
        return True


def fits(signature: inspect.Signature, count: int) -> bool:
    """Whether so many arguments can be given by position."""
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True


@struct
class Grid:
    """A box cut into cells; nodes are the corners of the cells, those on the faces among them.

    ``Grid.cells((80, 60), …)`` has values in the middle of its cells instead: then "nodes" are these
    centres, of which none is on a face, and an image of 80 × 60 pixels is an array of all of them.

    Static and hashable: all of it is part of a program's structure.

    Attributes:
      cells: how many cells along each axis; a number for one axis.
      lower, upper: the box, a number for all axes or one for each; 0 and 1 by default.
      stretched: for each axis None, or the positions of its nodes as a rising tuple; these
        replace ``lower`` and ``upper`` there; with ``centred`` those of the cells' faces.
      centred: whether values are those of cells, in their middle.

    >>> grid = Grid((4, 2), upper=(2.0, 1.0))
    >>> grid.spacing, grid.shape
    ((0.5, 0.5), (5, 3))
    >>> Grid(2, stretched=((0.0, 0.1, 1.0),)).nodes(0)
    array([0. , 0.1, 1. ])
    >>> Grid.cells((4, 2)).nodes(0), Grid.cells((4, 2)).shape
    (array([0.125, 0.375, 0.625, 0.875]), (4, 2))
    """

    cells: Any = static()
    lower: Any = static(default=0.0)
    upper: Any = static(default=1.0)
    stretched: Any = static(default=None)
    centred: bool = static(default=False)

    def _many(self) -> str:
        """Advice to who gave numbers of cells one after another."""
        given = [self.cells, *(x for x in (self.lower, self.upper) if _is_count(x) and x > 1)]
        if not _is_count(self.cells) or len(given) < 2:
            return ""
        return f"Cells of several axes are one tuple: {tuple(map(int, given))}."

    def __post_init__(self):
        cells = _per_axis(self.cells, 1)
        if not 1 <= len(cells) <= 3 or not all(_is_count(c) for c in cells):
            raise errors.bad_argument(
                "pde.Grid", "cells", self.cells, "1 to 3 positive whole numbers"
            )
        n = len(cells)
        if not (self.stretched is None or isinstance(self.stretched, (tuple, list))):
            want = "for each axis None or a rising tuple of nodes"
            raise errors.bad_argument("pde.Grid", "stretched", self.stretched, want, self._many())
        stretched = [None] * n if self.stretched is None else list(self.stretched)
        lower, upper = list(_per_axis(self.lower, n)), list(_per_axis(self.upper, n))
        for name, given in (("lower", lower), ("upper", upper), ("stretched", stretched)):
            if len(given) != n:
                raise errors.bad_argument("pde.Grid", name, given, f"a number for each of {n} axes")
        for i, nodes in enumerate(stretched):
            if nodes is not None:
                stretched[i] = _checked_nodes(nodes, int(cells[i]))
                lower[i], upper[i] = stretched[i][0], stretched[i][-1]  # pyright: ignore[reportOptionalSubscript]
            if not -math.inf < lower[i] < upper[i] < math.inf:
                want = f"finite, and above lower, {lower[i]}"
                raise errors.bad_argument("pde.Grid", "upper", upper[i], want, self._many())
        settle = object.__setattr__
        settle(self, "cells", tuple(map(int, cells)))
        settle(self, "lower", tuple(map(float, lower)))
        settle(self, "upper", tuple(map(float, upper)))
        settle(self, "stretched", tuple(stretched))
        if not isinstance(self.centred, (bool, np.bool_)):
            raise errors.bad_argument("pde.Grid", "centred", self.centred, "True or False")

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.cells)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of nodes along each axis, those on both faces counted; of cells where these have the values."""
        return tuple(c + (not self.centred) for c in self.cells)

    @property
    def spacing(self) -> tuple[float, ...]:
        """The width of a cell along each axis; of the widest cell of a stretched axis."""
        return tuple(float(np.max(self.widths(i))) for i in range(self.ndim))

    @property
    def uniform(self) -> bool:
        """Whether no axis is stretched."""
        return all(s is None for s in self.stretched)

    def nodes(self, axis: int) -> np.ndarray:
        """Positions of the nodes along an axis, or of the middles of cells."""
        x = self.corners(axis)
        return (x[:-1] + x[1:]) / 2 if self.centred else x

    def widths(self, axis: int) -> np.ndarray:
        """The widths of the cells along an axis."""
        return np.diff(self.corners(axis))

    def corners(self, axis: int) -> np.ndarray:
        """Where cells end along an axis.

        >>> Grid.cells(4).corners(0)
        array([0.  , 0.25, 0.5 , 0.75, 1.  ])
        """
        if self.stretched[axis] is not None:
            return np.array(self.stretched[axis])
        steps = np.arange(self.cells[axis] + 1) / self.cells[axis]
        return self.lower[axis] + (self.upper[axis] - self.lower[axis]) * steps

    def coordinates(self, dtype: DTypeLike | None = None) -> tuple:
        """The coordinates of all nodes: for each axis an array of the grid's shape."""
        lines = [self.nodes(i).astype(real_dtype(dtype)) for i in range(self.ndim)]
        return tuple(xnp.asarray(x) for x in np.meshgrid(*lines, indexing="ij"))

    def integrate(self, u: ArrayLike) -> Array:
        """The integral of an array of values at the nodes, by the trapezoidal rule, or that of midpoints.

        >>> x, y = Grid((8, 8)).coordinates()
        >>> Grid((8, 8)).integrate(x * y)
        Array(0.25, dtype=float32)
        """
        u = self.check("pde.Grid.integrate", u)
        for axis in range(self.ndim):
            line = self.widths(axis) if self.centred else trapezoid(self.nodes(axis))
            u = xnp.tensordot(u, line.astype(typeof(u).dtype), axes=(0, 0))
        return u

    def inner(self, u: ArrayLike, v: ArrayLike) -> Array:
        """The inner product of two arrays at the nodes: the integral of their product."""
        return self.integrate(xnp.conj(u) * v)

    def check(self, who: str, u: ArrayLike) -> Array:
        """An array of values at the nodes, or an error that says so."""
        u = xnp.asarray(u)
        if u.shape != self.shape:
            where = "of all cells" if self.centred else "at all nodes"
            raise errors.shape_mismatch(who, f"need values {where}, {self.shape}", u=u)
        return u

    def _places_of(self, u, who: str = "pde.Grid.plot") -> list:
        """The nodes along each axis at which u has values: all, or those between the faces."""
        nodes = [self.nodes(i) for i in range(self.ndim)]
        if self.centred:
            self.check("pde.Grid.plot", u)
        elif u.ndim == self.ndim:
            nodes = [x[1:-1] if len(x) == n + 2 else x for x, n in zip(nodes, u.shape, strict=True)]
        if u.shape != tuple(map(len, nodes)):
            why = (
                f"need values at all nodes, {self.shape}, or at those between the faces, which are two less along an "
                "axis. Of other conditions give the operator in place of the grid, or its full(u)"
            )
            raise errors.shape_mismatch(who, why, u=u)
        return nodes

    def coarser(self) -> Grid:
        """The grid of every second node, or of pairs of cells; needs an even number of cells along each axis.

        >>> Grid((4, 6)).coarser().cells
        (2, 3)
        """
        if any(c % 2 for c in self.cells):
            raise errors.bad_argument("pde.Grid.coarser", "cells", self.cells, "even numbers")
        nodes = tuple(None if s is None else s[::2] for s in self.stretched)
        return self.replace(cells=tuple(c // 2 for c in self.cells), stretched=nodes)

    def finer(self) -> Grid:
        """The grid of cells of half the width.

        >>> Grid((4, 6)).finer().cells
        (8, 12)
        """
        nodes = tuple(None if s is None else _halved(s) for s in self.stretched)
        return self.replace(cells=tuple(2 * c for c in self.cells), stretched=nodes)

    def restrict(self, u: ArrayLike) -> Array:
        """Values at the nodes of the coarser grid: weighted means over neighbours, so that
        integrals stay; faces keep their values. Of cells the means of pairs, so that integrals stay."""
        u = self.check("pde.Grid.restrict", u)
        self.coarser()
        for axis in range(self.ndim):
            line = functools.partial(_paired, self.widths(axis)) if self.centred else _restrict_line
            u = _along(line, u, axis)
        return u

    def prolong(self, u: ArrayLike) -> Array:
        """Values at the nodes of the finer grid, linear in between; of cells constant next to the faces.

        >>> Grid(2).prolong(xnp.asarray([0.0, 1.0, 4.0]))
        Array([0. , 0.5, 1. , 2.5, 4. ], dtype=float32)
        """
        u = self.check("pde.Grid.prolong", u)
        for axis in range(self.ndim):
            line = functools.partial(_split, self.corners(axis)) if self.centred else _prolong_line
            u = _along(line, u, axis)
        return u

    def _repr_html_(self) -> str:
        """For notebooks."""
        axes = [
            (f"axis {k}", f"{c} cells from {self.lower[k]:g} to {self.upper[k]:g}")
            for k, c in enumerate(self.cells)
        ]
        return shown(f"Grid of {self.ndim} dimensions", axes)

    def plot(self, u: ArrayLike, ax: Any = None, **options: Any) -> Any:
        """Draws a field: a line, a map, or the middle section of a box. Returns axes.

        ``xcore.plot`` draws more: contours, arrows, masks, films.

        Args:
          u: values at all nodes, or of all cells; of nodes also those between the faces alone, along any axis, as
            ``poisson`` returns them for Dirichlet conditions.
          ax: where to draw; matplotlib's current axes by default.
          options: of ``plot`` or ``pcolormesh``.
        """
        from matplotlib import pyplot  # only here: plotting is optional

        u = np.asarray(u)
        places = self._places_of(u)
        ax = pyplot.gca() if ax is None else ax
        if self.ndim == 1:
            ax.plot(*places, u, **options)
            ax.set_xlabel("x")
            return ax
        u = u[:, :, u.shape[2] // 2] if self.ndim == 3 else u
        if self.centred:
            places = [self.corners(i) for i in range(self.ndim)]
        shading = "flat" if self.centred else "gouraud"
        image = ax.pcolormesh(places[0], places[1], u.T, **{"shading": shading} | options)
        ax.figure.colorbar(image, ax=ax)
        ax.set(xlabel="x", ylabel="y", aspect="equal")
        return ax


class _OfCells:
    """``Grid.cells`` of the class makes a grid whose values are in the middle of its cells; of a grid it is
    how many cells there are."""

    def __get__(self, grid, owner):
        if grid is not None:
            raise AttributeError("cells")
        return functools.partial(owner, centred=True)


Grid.cells = _OfCells()


def _is_count(c) -> bool:
    return isinstance(c, (int, float, np.number)) and c >= 1 and float(c).is_integer()  # pyright: ignore[reportReturnType]


def _checked_nodes(nodes, cells: int) -> tuple[float, ...]:
    nodes = tuple(map(float, nodes))
    if len(nodes) != cells + 1 or not all(np.diff(nodes) > 0):
        want = f"None or {cells + 1} rising numbers"
        raise errors.bad_argument("pde.Grid", "stretched", nodes, want)
    return nodes


def _halved(nodes) -> tuple[float, ...]:
    x = np.empty(2 * len(nodes) - 1)
    x[::2] = nodes
    x[1::2] = (x[:-1:2] + x[2::2]) / 2
    return tuple(x.tolist())


def trapezoid(nodes: np.ndarray) -> np.ndarray:
    """The weights of the trapezoidal rule."""
    widths = np.diff(nodes)
    return (np.append(widths, 0) + np.insert(widths, 0, 0)) / 2


def _along(f, u, axis: int):
    return xnp.moveaxis(f(xnp.moveaxis(u, axis, 0)), 0, axis)


def _restrict_line(u):
    middle = (u[1:-2:2] + 2 * u[2:-1:2] + u[3::2]) / 4
    return xnp.concatenate([u[:1], middle, u[-1:]])


def _prolong_line(u):
    between = (u[:-1] + u[1:]) / 2
    pairs = xnp.stack([u[:-1], between], axis=1).reshape(-1, *u.shape[1:])
    return xnp.concatenate([pairs, u[-1:]])


def _paired(widths: np.ndarray, u):
    """The means of pairs of cells."""
    t = typeof(u)
    share = (widths.reshape(-1, 2) / widths.reshape(-1, 2).sum(axis=1, keepdims=True)).astype(
        t.dtype
    )
    pairs = u.reshape(-1, 2, *t.shape[1:])
    return xnp.sum(share.reshape(*share.shape, *(1,) * (t.ndim - 1)) * pairs, axis=1)


def _split(corners: np.ndarray, u):
    """Both halves of each cell, linear between the middles of cells, constant beyond them."""
    t, middles = typeof(u), (corners[:-1] + corners[1:]) / 2
    halves = np.stack([corners[:-1] + middles, middles + corners[1:]], axis=1).ravel() / 2
    place = np.clip(np.searchsorted(middles, halves) - 1, 0, max(len(middles) - 2, 0))
    after = np.minimum(place + 1, len(middles) - 1)
    gap = np.where(after > place, middles[after] - middles[place], 1)
    share = np.clip((halves - middles[place]) / gap, 0, 1).astype(t.dtype)
    share = share.reshape(-1, *(1,) * (t.ndim - 1))
    return (1 - share) * xnp.take(u, place, axis=0) + share * xnp.take(u, after, axis=0)


def size(shape) -> int:
    """The number of elements."""
    return math.prod(shape)
