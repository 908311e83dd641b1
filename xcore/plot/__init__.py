"""Pictures of what solvers return: fields, films, modes, convergence, spectra, matrices, factors, programs.

Needs matplotlib (the extra ``plot``), which is loaded when something is drawn. Each function draws on ``ax``, or on
a new figure, and returns the axes. Fields with both signs have colours that are centred at zero, others a scale
from dark to light; both are safe for colour-blind readers.

>>> import xcore as xc
>>> from xcore import pde, plot
>>> grid = pde.Grid((16, 16))
>>> ax = plot.field(grid, pde.poisson(1.0, grid))  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import Array, ArrayLike, Program, errors
from ..decomp import plot_factors
from ..linalg import LinearOperator
from ..sparse import Sparse
from ._fields import field, modes, movie
from ._shared import add_scale, axes_of, symmetric_limits, value_of

if TYPE_CHECKING:  # loaded when something is drawn
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "convergence", "factors", "field", "history", "matrix", "modes", "movie", "program", "sharding", "spectrum", "spy",
]  # fmt: skip

_MOST_EQUATIONS = 200


def convergence(h: ArrayLike, errors_: Any, ax: Any = None, **options: Any) -> Axes:
    """Errors over step sizes, on logarithmic axes, with the fitted order of each. Returns axes.

    Args:
      h: step sizes.
      errors_: errors, or a dict of several by their names.
      ax: where to draw.
      options: of matplotlib's ``plot``.

    >>> from xcore import plot
    >>> errors = {"first order": [3e-2, 1.4e-2, 7e-3], "second order": [1e-2, 2.6e-3, 6e-4]}
    >>> ax = plot.convergence([0.1, 0.05, 0.025], errors)  # doctest: +SKIP
    """
    ax = axes_of(ax)
    x = np.asarray(h, float)
    for name, values in (errors_ if isinstance(errors_, dict) else {"error": errors_}).items():
        y = np.asarray(values, float)
        if x.shape != y.shape or x.ndim != 1:
            raise errors.bad_argument(
                "plot.convergence", "errors_", y.shape, f"as many as h has, {x.shape}"
            )
        ax.loglog(x, y, **{"marker": "o", "label": f"{name}, order {order(x, y):.2f}", **options})
    ax.set(xlabel="step size", ylabel="error")
    ax.legend()
    ax.grid(True, which="both", alpha=0.3)
    return ax


def order(h: np.ndarray, errors_: np.ndarray) -> float:
    """The slope of the line through the errors that are positive; NaN of fewer than two."""
    good = (errors_ > 0) & (h > 0)
    if good.sum() < 2:
        return float("nan")
    return float(np.polyfit(np.log(h[good]), np.log(errors_[good]), 1)[0])


def spectrum(values: ArrayLike, ax: Any = None, **options: Any) -> Axes:
    """Eigenvalues or singular values: real ones by rank, complex ones in the plane. Returns axes.

    Args:
      values: a vector, or what ``eigh``, ``eigsh``, ``svd``, ``pde.eigenmodes`` return, also with ``report=True``.
      ax: where to draw. The scale is logarithmic where all are positive and spread over two decades or more.
      options: of matplotlib's ``plot``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> x = xnp.linspace(0.0, 1.0, 12)
    >>> ax = xc.plot.spectrum(xc.linalg.svdvals(xnp.exp(-((x[:, None] - x) ** 2))))  # doctest: +SKIP
    """
    ax = axes_of(ax)
    w = value_of(values)
    if isinstance(w, tuple):  # of values and vectors
        w = next(x for x in w if np.ndim(x) == 1)
    w = np.asarray(w).ravel()
    style = {"marker": "o", "linestyle": "none", "markersize": 4, **options}
    if np.iscomplexobj(w):
        ax.plot(w.real, w.imag, **style)
        ax.axhline(0, color="grey", linewidth=0.6)
        ax.axvline(0, color="grey", linewidth=0.6)
        ax.set(xlabel="real part", ylabel="imaginary part", aspect="equal")
        return ax
    ax.plot(np.arange(1, len(w) + 1), np.sort(w)[::-1], **style)
    if len(w) and w.min() > 0 and w.max() / w.min() > 100:
        ax.set_yscale("log")
    ax.set(xlabel="number", ylabel="value")
    return ax


def matrix(a: Any, ax: Any = None, *, structure: bool = False, **options: Any) -> Axes:
    """A matrix as a picture of its values, zeros white, or of where it is not zero. Returns axes.

    Args:
      a: a matrix, or a ``LinearOperator``, which is applied to the unit vectors; the structure of a sparse one is drawn
        from its places.
      ax: where to draw.
      structure: show only where elements are not zero.
      options: of matplotlib's ``imshow``, or ``spy``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> x = xnp.linspace(-2.0, 2.0, 32)
    >>> ax = xc.plot.matrix(xnp.sin(3 * x[:, None] * x) * xnp.exp(-abs(x)))  # doctest: +SKIP
    """
    if isinstance(a, Sparse) or hasattr(a, "tocoo"):
        dense = a.to_scipy() if isinstance(a, Sparse) else a
        dense = dense if structure else dense.toarray()
    else:
        dense = np.asarray(a.as_matrix() if isinstance(a, LinearOperator) else a)
    if dense.ndim != 2:
        raise errors.bad_argument("plot.matrix", "a", dense.shape, "a matrix")
    ax = axes_of(ax)
    if structure:
        ax.spy(dense, **{"markersize": max(1, 200 / max(*dense.shape, 1)), **options})
        return ax
    shown = np.abs(dense) if np.iscomplexobj(dense) else dense
    drawn = ax.imshow(shown, **{**symmetric_limits(shown), **options})
    add_scale(ax, drawn)
    return ax


def spy(a: Any, ax: Any = None, **options: Any) -> Axes:
    """Where a matrix has elements that are not zero: ``matrix(a, structure=True)``, by matplotlib's name. Returns axes.

    Args:
      a: a matrix, sparse or not, or a ``LinearOperator``.
      ax: where to draw.
      options: of matplotlib's ``spy``.

    >>> import xcore as xc
    >>> ax = xc.plot.spy(xc.sparse.eye_array(8))  # doctest: +SKIP
    """
    return matrix(a, ax, structure=True, **options)


def factors(cp: Any, axes: Any = None) -> Figure:
    """The columns of the factors of a CP tensor, a row of axes for each term. Returns the figure.

    Args:
      cp: a CP tensor, or the ``Solution`` of a fit.
      axes: an array of axes (rank, ndim) to draw into.

    >>> from xcore import decomp, plot
    >>> import xcore.numpy as xnp
    >>> i, j, k = xnp.indices((20, 24, 16), dtype=float) / 4.0
    >>> x = xnp.exp(-((i - 2) ** 2)) * xnp.sin(j) ** 2 * k + i * xnp.cos(j) ** 2 * xnp.exp(-k)
    >>> figure = plot.factors(decomp.cp_als(x, 2))  # doctest: +SKIP
    """
    return plot_factors(value_of(cp), axes)


def history(found: Any, ax: Any = None, *, what: str = "", **options: Any) -> Axes:
    """How a method went: what its ``history`` holds over the steps, on a logarithmic scale. Returns axes.

    Args:
      found: a ``Solution`` or ``Result`` that was asked for with ``history=True``, the losses of ``fit``, or numbers.
      ax: where to draw.
      what: which record, where there are several: "f", "g" (its norm), …; the value by default.
      options: of matplotlib's ``plot``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> valley = lambda x: (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
    >>> found = xc.optimize.minimize(valley, xnp.zeros(2), history=True)
    >>> ax = xc.plot.history(found, what="g")  # doctest: +SKIP
    """
    told = getattr(found, "history", getattr(found, "losses", found))
    name = what or "error"
    if isinstance(told, dict):
        name = what or "f"
        if name not in told:
            raise errors.bad_argument("plot.history", "what", what, f"one of {sorted(told)}")
        told = told[name]
    if told is None:
        raise errors.bad_argument(
            "plot.history",
            "found",
            errors.Words("no history"),
            "a result of a call with history=True",
        )
    rows = np.asarray(told)
    rows = (
        np.linalg.norm(rows, axis=tuple(range(1, rows.ndim)))
        if rows.ndim > 1 and name != "error"
        else rows
    )
    ax = axes_of(ax)
    rows = rows.reshape(len(rows), -1)
    ax.plot(rows, **options)
    positive = rows[np.isfinite(rows)]
    if len(positive) and positive.min() >= 0 and positive.max() > 0:
        ax.set_yscale("log", nonpositive="mask")
    ax.set(xlabel="step", ylabel=name)
    ax.grid(True, alpha=0.3)
    return ax


def program(told: Any, ax: Any = None) -> Axes:
    """A Program as a graph: operations in layers, each below what it needs. Returns axes.

    Args:
      told: a Program, as ``make_jaxpr(f)(*args)`` gives it, of at most 200 equations.
      ax: where to draw.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> ax = xc.plot.program(xc.make_jaxpr(lambda x: xnp.sin(x) @ xnp.exp(x))(xnp.ones(3)))  # doctest: +SKIP
    """
    if not isinstance(told, Program):
        raise errors.bad_argument(
            "plot.program", "told", type(told).__name__, "a Program: make_jaxpr(f)(*args)"
        )
    if len(told.eqns) > _MOST_EQUATIONS:
        want = f"at most {_MOST_EQUATIONS}; draw a part of the function"
        raise errors.bad_argument(
            "plot.program", "told", errors.Words(f"{len(told.eqns)} equations"), want
        )
    boxes, edges = _layers(told)
    ax = axes_of(ax)
    for (x0, y0), (x1, y1) in edges:
        ax.annotate(
            "",
            (x1, y1 + 0.18),
            (x0, y0 - 0.18),
            arrowprops={"arrowstyle": "-|>", "color": "grey", "linewidth": 0.8},
        )
    for (x, y), text, colour in boxes:
        ax.text(
            x, y, text, ha="center", va="center", fontsize="small",
            bbox={"boxstyle": "round", "facecolor": colour, "edgecolor": "grey"},
        )  # fmt: skip
    spots = np.asarray([place for place, *_ in boxes]) if boxes else np.zeros((1, 2))
    ax.set_xlim(spots[:, 0].min() - 0.8, spots[:, 0].max() + 0.8)
    ax.set_ylim(spots[:, 1].min() - 0.7, spots[:, 1].max() + 0.7)
    ax.set_axis_off()
    return ax


def _layers(told: Program) -> tuple[list[Any], list[Any]]:
    """Boxes (place, text, colour) and edges between places: what an equation needs stands above it."""
    depth: dict[Any, int] = dict.fromkeys(told.inputs, 0)
    node: dict[Any, int] = {}
    rows: list[list[tuple[int, str, str]]] = [[]]
    links: list[tuple[int, int]] = []
    for v in told.inputs:
        node[v] = len(node)
        rows[0].append((node[v], str(v.type), "#fde9c8"))
    count = len(told.inputs)
    for e in told.eqns:
        needs = [v for v in e.inputs if v in depth] if e.inputs else []
        level = 1 + max((depth[v] for v in needs), default=0)
        while len(rows) <= level:
            rows.append([])
        shapes = ", ".join(str(v.type) for v in e.outputs)
        rows[level].append((count, f"{e.op.name}\n{shapes}", "#cfe6f5"))
        links += [(node[v], count) for v in needs]
        for v in e.outputs:
            depth[v], node[v] = level, count
        count += 1
    spots = {
        number: ((k - (len(row) - 1) / 2) * 1.6, -float(level))
        for level, row in enumerate(rows) for k, (number, *_) in enumerate(row)
    }  # fmt: skip
    boxes = [(spots[number], text, colour) for row in rows for number, text, colour in row]
    return boxes, [(spots[a], spots[b]) for a, b in links]


def sharding(x: Array, ax: Any = None) -> Axes:
    """Which device holds which part of an array of one or two dimensions. Returns axes.

    Args:
      x: an array, spread over devices or not.
      ax: where to draw.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> ax = xc.plot.sharding(xnp.ones((4, 4)))  # doctest: +SKIP
    """
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    if not isinstance(x, Array) or x.ndim not in (1, 2):
        raise errors.bad_argument(
            "plot.sharding", "x", np.shape(x), "an array of one or two dimensions"
        )
    rows, columns = x.shape if x.ndim == 2 else (1, x.shape[0])
    holders: dict[tuple[int, ...], list[int]] = {}
    for part in x.addressable_shards:
        spans = [s.indices(n)[:2] for s, n in zip(part.index, x.shape, strict=True)]
        top, left = spans if x.ndim == 2 else [(0, 1), *spans]
        holders.setdefault((*top, *left), []).append(part.device.id)
    ax = axes_of(ax)
    for (top, bottom, left, right), ids in holders.items():
        colour = colormaps["tab20"](min(ids) % 20)
        ax.add_patch(
            Rectangle((left, top), right - left, bottom - top, facecolor=colour, edgecolor="white")
        )
        ax.text(
            (left + right) / 2,
            (top + bottom) / 2,
            ", ".join(map(str, sorted(ids))),
            ha="center",
            va="center",
        )
    ax.set(xlim=(0, columns), ylim=(rows, 0), title=f"devices of {x.dtype}{list(x.shape)}")
    return ax
