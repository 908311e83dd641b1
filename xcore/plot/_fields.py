"""Pictures of fields on grids."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import ArrayLike, errors, one_of
from ..pde import Grid, Laplacian, Masked
from ..pde._curvilinear import in_plane
from ._shared import add_scale, axes_of, colours, limits, symmetric_limits, value_of

if TYPE_CHECKING:  # loaded when something is drawn
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes


def field(
    grid: Any,
    u: Any,
    ax: Any = None,
    *,
    kind: str = "map",
    faces: Any = None,
    label: str = "",
    **options: Any,
) -> Axes:
    """A field on a box: a line, a map, or the middle section of a box of three dimensions. Returns axes.

    Args:
      grid: a ``Grid``, or an operator on one, which knows the values on its Dirichlet faces and closes its periodic
        axes; outside of a ``Masked`` operator nothing is drawn, and a ``Diffusion`` in polar or spherical coordinates
        is drawn as the plane it is of.
      u: what ``poisson`` or ``solve`` returned, also with ``report=True``: values at all nodes, or, along any axis, at
        those between the faces; or of all cells, each drawn as one. For "quiver" a sequence of fields, one for each
        axis.
      ax: where to draw.
      kind: "map", "contour" (lines of equal value) or "quiver" (arrows).
      faces: the conditions that ``poisson`` had, beside a ``Grid``: of periodic axes, and of axes with a value on one
        face, the shape of u does not tell where its nodes are.
      label: what u is, with its unit: beside the colours, or along the axis of a line.
      options: of matplotlib's ``plot``, ``pcolormesh``, ``contour`` or ``quiver``.

    >>> from xcore import pde, plot
    >>> grid = pde.Grid((64, 64))
    >>> ax = plot.field(grid, pde.poisson(1.0, grid), kind="contour")  # doctest: +SKIP
    """
    one_of("plot.field", "kind", kind, ("map", "contour", "quiver"))
    grid = _with_faces(grid, faces)
    box, _ = _box(grid)
    ax = axes_of(ax)
    if kind == "quiver":
        return _arrows(grid, box, u, ax, options)
    values = _whole(grid, value_of(u))
    places = _places(box, values)
    if box.ndim == 1:
        ax.plot(*places, values, **options)
        ax.set(xlabel="x" if _coordinates(grid) == "cartesian" else "r", ylabel=label)
        return ax
    flat = _section(values)
    drawn = _map(ax, grid, places, flat, kind, colours(flat) | options)
    add_scale(ax, drawn, label)
    names = ("r", "z") if _coordinates(grid) == "cylindrical" and box.ndim == 2 else ("x", "y")
    ax.set(xlabel=names[0], ylabel=names[1], aspect="equal")
    return ax


def _with_faces(grid: Any, faces: Any) -> Any:
    if faces is None:
        return grid
    if not isinstance(grid, Grid):
        advice = "An operator has its own."
        raise errors.bad_argument(
            "plot.field", "faces", faces, "left out beside an operator", advice
        )
    return Laplacian(grid, faces)


def _places(box: Grid, values: np.ndarray) -> list[np.ndarray]:
    """The nodes along each axis at which there are values."""
    sizes = zip(values.shape, box.shape, strict=False)
    if not box.centred and values.ndim == box.ndim and any(n == m - 1 for n, m in sizes):
        why = (
            f"need values at all nodes, {box.shape}, or two less along an axis: of periodic axes, and of those with "
            "a value on one face, the shape does not tell where they are. Give the operator in place of the grid, or "
            "faces="
        )
        raise errors.shape_mismatch("plot.field", why, u=values)
    return box._places_of(values, "plot.field")  # pyright: ignore[reportPrivateUsage]


def _section(values: np.ndarray) -> np.ndarray:
    """A field in a plane; in three dimensions the middle one."""
    return values[:, :, values.shape[2] // 2] if values.ndim == 3 else values


def _map(ax: Any, op: Any, places: list, flat: np.ndarray, kind: str, options: dict) -> Any:
    """Colours or contours of a field in a plane: smooth between nodes, up to those beside which there is nothing."""
    box, _ = _box(op)
    cells = box.centred and kind == "map"
    lines = [box.corners(0), box.corners(1)] if cells else places
    x, y = in_plane(_coordinates(op), box.ndim, *np.meshgrid(lines[0], lines[1]))
    if kind == "contour":
        return ax.contour(x, y, flat.T, **options)
    corners = _triangles(flat)
    if cells or "shading" in options or np.isfinite(flat).all() or not len(corners):
        shading = "flat" if cells else "gouraud" if np.isfinite(flat).all() else "nearest"
        return ax.pcolormesh(x, y, flat.T, **{"shading": shading, **options})
    return ax.tripcolor(
        x.T.ravel(), y.T.ravel(), flat.ravel(), triangles=corners, shading="gouraud", **options
    )


def _triangles(flat: np.ndarray) -> np.ndarray:
    """Triangles between nodes that have values: two of each four, one of three."""
    places = np.arange(flat.size).reshape(flat.shape)
    a, b, c, d = places[:-1, :-1], places[1:, :-1], places[1:, 1:], places[:-1, 1:]
    missing = ~np.isfinite(flat.ravel())
    every = [(a, b, c), (a, c, d), (b, c, d), (a, b, d)]
    needed = [
        None,
        None,
        missing[a],
        missing[c],
    ]  # the last two where one of the first has no corner there
    found = []
    for corners, where in zip(every, needed, strict=True):
        rows = np.stack(corners, axis=-1)
        good = ~missing[rows].any(-1)
        found.append(rows[good if where is None else good & where])
    return np.concatenate(found)


def _box(grid: Any) -> tuple[Grid, np.ndarray | None]:
    """The grid of a grid or operator; where its unknowns are, if not everywhere."""
    if isinstance(grid, Grid):
        return grid, None
    if not isinstance(getattr(grid, "grid", None), Grid):
        raise errors.bad_argument(
            "plot", "grid", type(grid).__name__, "a Grid, or an operator on one"
        )
    inside = getattr(grid, "inside", None)
    return grid.grid, None if inside is None else np.asarray(inside)


def _whole(op: Any, u: ArrayLike, faces: bool = True) -> np.ndarray:
    """A field of an operator at all nodes: with what its faces give, or 0 there, and NaN where it has no unknowns. Of
    a grid, or of values at all nodes, as it is."""
    u = np.asarray(u)
    if np.iscomplexobj(u):
        advice = "Of complex values draw u.real, u.imag or abs(u)."
        raise errors.bad_argument("plot.field", "u", u, "real", advice)
    if isinstance(op, Grid) or u.shape != getattr(op, "field_shape", None):
        return u
    if isinstance(op, Masked):  # beyond its edge, also at the faces of the box, there is nothing
        return np.where(np.asarray(op.inside), u, np.nan)
    outside = {} if getattr(op, "inside", None) is None else {"outside": np.nan}
    whole = np.asarray(op.full(u, **outside))
    return whole if faces else whole - np.asarray(op.full(np.zeros_like(u), **outside))


def _coordinates(grid: Any) -> str:
    return getattr(grid, "coordinates", "cartesian") if not isinstance(grid, Grid) else "cartesian"


def _arrows(grid: Any, box: Grid, u: Any, ax: Any, options: dict[str, Any]) -> Any:
    parts = [_whole(grid, value_of(part)) for part in u]
    if box.ndim not in (2, 3) or len(parts) != box.ndim:
        given = errors.Words(f"{len(parts)} on a grid of {box.ndim} dimensions")
        want = "a field for each axis of a grid of two or three dimensions, for a quiver"
        raise errors.bad_argument("plot.field", "u", given, want)
    x, y = _places(box, parts[0])[:2]
    first, second = map(_section, parts[:2])
    every = max(1, max(first.shape) // 24)
    step = (slice(None, None, every), slice(None, None, every))
    at = in_plane(_coordinates(grid), box.ndim, *np.meshgrid(x[::every], y[::every]))
    ax.quiver(*at, first[step].T, second[step].T, **options)
    ax.set(xlabel="x", ylabel="y", aspect="equal")
    return ax


def movie(
    grid: Any,
    trajectory: Any,
    path: str | Path | None = None,
    *,
    fps: int = 20,
    most: int = 120,
    **options: Any,
) -> FuncAnimation:
    """A film of the states of a trajectory. Returns matplotlib's animation.

    All pictures have the scale of the whole film.

    Args:
      grid: a ``Grid``, or an operator on one; in three dimensions the middle section is shown.
      trajectory: fields along a first axis, as ``pde.trajectory`` returns them, or a list of fields; of pairs (u, v) of
        the former the first is shown.
      path: where to write it: a GIF, or what else matplotlib can write.
      fps: pictures a second.
      most: of more states, only so many are shown, equally far apart.
      options: of ``plot.field``.

    >>> from xcore import pde, plot
    >>> lap = pde.Laplacian(pde.Grid(64))
    >>> states = pde.trajectory(pde.ThetaMethod(lap), lap.points()[0], 0.002, 80, every=2)
    >>> film = plot.movie(lap, states, "heat.gif")  # doctest: +SKIP
    """
    from matplotlib.animation import FuncAnimation, PillowWriter
    from matplotlib.collections import TriMesh

    grid = _with_faces(grid, options.pop("faces", None))
    states, (box, _) = value_of(trajectory), _box(grid)
    if isinstance(states, tuple | list) and len(states):
        states = states if np.ndim(states[0]) == box.ndim else states[0]
    states = np.asarray(states)
    if states.ndim != box.ndim + 1 or not len(states):
        want = f"one or more states along a first axis, of {box.ndim} more dimensions"
        raise errors.bad_argument("plot.movie", "trajectory", states.shape, want)
    states = states[:: -(-len(states) // most)]
    states = np.stack([_whole(grid, state) for state in states])
    ax = field(grid, states[0], **(options if box.ndim == 1 else colours(states) | options))
    if box.ndim == 1:
        ax.set_ylim(*limits(states))

    def show(k: int) -> list[Any]:
        if box.ndim == 1:
            ax.lines[0].set_ydata(states[k])
            return [ax.lines[0]]
        flat = _section(states[k])
        smooth = isinstance(
            ax.collections[0], TriMesh
        )  # of a domain, whose values stand in the order of its nodes
        ax.collections[0].set_array(flat.ravel() if smooth else flat.T)
        return [ax.collections[0]]

    film = FuncAnimation(ax.figure, show, frames=len(states), interval=1000 / fps)  # pyright: ignore[reportArgumentType]
    if path is not None:
        film.save(path, PillowWriter(fps=fps) if Path(path).suffix == ".gif" else None)
    return film


def modes(op: Any, values: ArrayLike, fields: ArrayLike, *, columns: int = 3) -> np.ndarray:
    """Eigenmodes, each on axes of its own with its value, zero in the middle of the colours. Returns the axes.

    Args:
      op: the operator, or its ``Grid``.
      values: eigenvalues, as ``pde.eigenmodes`` returns them.
      fields: the modes along a first axis.
      columns: axes in a row.

    >>> from xcore import pde, plot
    >>> lap = pde.Laplacian(pde.Grid((48, 48)))
    >>> axes = plot.modes(lap, *pde.eigenmodes(lap, 6))  # doctest: +SKIP
    """
    from matplotlib import pyplot

    w, u = np.atleast_1d(np.asarray(values)), np.asarray(fields)
    if len(w) != len(u):
        raise errors.bad_argument(
            "plot.modes", "fields", u.shape, f"{len(w)} modes along the first axis"
        )
    box, _ = _box(op)
    rows = -(-len(w) // columns)
    _, axes = pyplot.subplots(
        rows, columns, squeeze=False, layout="constrained", figsize=(3 * columns, 2.7 * rows)
    )
    for ax in axes.flat[len(w) :]:
        ax.remove()
    for ax, value, mode in zip(
        axes.flat, w, (_whole(op, mode, faces=False) for mode in u), strict=False
    ):
        places = _places(box, mode)
        if box.ndim == 1:
            ax.plot(places[0], mode)
        else:
            flat = _section(mode)
            _map(ax, op, places, flat, "map", symmetric_limits(flat))
            ax.set(xticks=[], yticks=[], aspect="equal")
        ax.set_title(f"λ = {value:.4g}", fontsize="medium")
    return axes
