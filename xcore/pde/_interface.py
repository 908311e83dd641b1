"""Diffusion in two media whose interface, the zero of a level set, lies anywhere between the nodes.

A node all of whose next neighbours are on its side has the usual differences. Any other one has a row made for it: on
each side of the interface u is a parabola, and u, a ∂u/∂n, their derivatives along the interface and the equation
tie one to the other; the elements are those for which the row is exact for all such pairs of parabolas.
(LeVeque and Li 1994, "The immersed interface method") There are more neighbours than conditions: elements off the
diagonal are chosen that are not negative, so there is a maximum principle, and errors of the order h² in the
largest norm. (Li and Ito 2001, "Maximum principle preserving schemes for interface problems") Where no such
elements exist, none are taken.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import Array, Value, errors
from ._axis import Axis
from ._boundary import ZERO, resolve
from ._couplings import offsets
from ._faces import axes_of
from ._grid import Grid, evaluated, is_mask, real_dtype
from ._stencil import Stencil

_WHO = "pde.interface_diffusion"
_LEFT = 1e-9  # of a row's conditions: less is rounding


def interface_diffusion(
    grid: Grid, level: Any, inside: Any, outside: Any, faces: Any = ZERO
) -> Stencil:
    """u ↦ div(a grad u), where a jumps at the zero of a level set; u and a ∂u/∂n do not: of order 2 in the largest
    error, for smooth interfaces anywhere between the nodes, however large the jump.

    Args:
      grid: a ``Grid`` with equal cells, and values at its nodes.
      level: a smooth function of the coordinates, or an array at all nodes, of two signs; where it
        meets Neumann and Robin faces it does so at right angles.
      inside: a where ``level`` is positive: a number, a smooth function or an array at all nodes. Beside the
        interface it is needed on the other side, too.
      outside: likewise, where it is not.
      faces: conditions as in ``Laplacian``.

    The right-hand side must not jump at the interface. All arguments are known when the operator is made; there are
    derivatives with respect to the right-hand side and to data on faces. Two pieces of the interface have to be a few
    cells apart.

    >>> from xcore.pde import Dirichlet, Grid, solve
    >>> op = interface_diffusion(Grid(8), lambda x: x - 0.3, 1.0, 1000.0, [(Dirichlet(0.0), Dirichlet(1.0))])
    >>> solve(op, 0.0)[:3].round(5)  # 0.1 % of it on the left of 0.3
    Array([0.00018, 0.00036, 0.10753], dtype=float32)
    """
    if not isinstance(grid, Grid) or grid.centred or not grid.uniform:
        raise errors.bad_argument(_WHO, "grid", grid, "a pde.Grid with equal cells, of nodes")
    faces = resolve(_WHO, grid, faces)
    axes = axes_of(grid, faces)
    phi = _level(grid, level, axes)
    sides = [_coefficient(grid, name, x, axes) for name, x in
             (("outside", outside), ("inside", inside))]  # fmt: skip
    found = _elements(axes, phi, sides)
    found.pop(len(found) // 2)  # minus the sum of the others
    dtype = real_dtype()
    return Stencil(grid, weighted, faces, tuple(xnp.asarray(x.astype(dtype)) for x in found))


def weighted(u, elements):
    """Σ element × (shifted field - field), over the points of a stencil but the middle one."""
    middle = u[(0,) * elements[0].ndim]
    off = [o for o in offsets(elements[0].ndim) if any(o)]
    return functools.reduce(
        xnp.add, [c * (u[o] - middle) for c, o in zip(elements, off, strict=True)]
    )


def _beyond(x: np.ndarray, axes: tuple[Axis, ...], turn: bool) -> np.ndarray:
    """Values at the unknowns and one node more on each side, of values at all nodes: beyond faces that are unknowns
    mirrored, or in the ratio of the last two."""
    for axis, a in enumerate(axes):
        n = x.shape[axis]
        places = np.arange(a.start - 1, a.start + a.count + 1)
        mirrored = (n - 1) - np.abs((n - 1) - np.abs(places))
        out = np.take(x, places % (n - 1) if a.ring else mirrored, axis)
        for end in () if a.ring or turn else (0, -1):
            if places[end] != mirrored[end]:
                first, second = (np.take(x, abs(end * (n - 1) + j), axis) for j in (0, 1))
                at = [slice(None)] * x.ndim
                at[axis] = end
                out[tuple(at)] = first * (first / second)
        x = out
    return x


def _level(grid: Grid, level, axes) -> np.ndarray:
    """The level set at the unknowns and the next nodes."""
    phi = _known(grid, "level", level)
    if is_mask(phi):
        want = "real numbers, 0 at the interface"
        advice = "Booleans hide where edges are cut: x - 0.3 in place of x > 0.3."
        raise errors.bad_argument(_WHO, "level", errors.Words("booleans, or 0 and 1"), want, advice)
    if not np.isfinite(phi).all() or not (np.any(phi > 0) and np.any(phi <= 0)):
        want, advice = "positive here and negative there", "In one medium take pde.Diffusion."
        raise errors.bad_argument(
            _WHO, "level", errors.Words("of one sign, or not finite"), want, advice
        )
    return _beyond(phi / np.abs(phi).max(), axes, True)


def _coefficient(grid: Grid, name: str, x, axes) -> np.ndarray:
    a = _known(grid, name, x)
    if a.dtype == bool or not np.all((a > 0) & (a < np.inf)):
        raise errors.bad_argument(_WHO, name, x, "positive and finite")
    return _beyond(a, axes, False)


def _known(grid: Grid, name: str, x) -> np.ndarray:
    """The values at all nodes of what does not hang on what is traced."""
    x = evaluated(_WHO, name, x, grid.coordinates(np.float64)) if callable(x) else x
    if isinstance(x, Value) and type(x) is not Array:
        advice = (
            "Make the operator outside of jit, grad and vmap; the right-hand side may be traced."
        )
        want = "known when the operator is made"
        raise errors.bad_argument(_WHO, name, errors.Words("values that are traced"), want, advice)
    a = np.asarray(x)
    if a.ndim and a.shape != grid.shape:
        raise errors.shape_mismatch(_WHO, f"need {name} at all nodes, {grid.shape}", **{name: a})
    if a.dtype.kind not in "fiub":
        raise errors.bad_argument(_WHO, name, a.dtype, "real numbers")
    return np.broadcast_to(a if a.dtype == bool else a.astype(np.float64), grid.shape)


def _elements(axes, phi: np.ndarray, sides) -> list[np.ndarray]:
    """The elements at all points of the stencil."""
    n, shape = phi.ndim, tuple(a.count for a in axes)
    h = np.array([a.spacing for a in axes])
    here = phi > 0
    a = np.where(here, sides[1], sides[0])
    every = {o: np.zeros(shape) for o in offsets(n)}
    seen = lambda x, o: x[tuple(slice(1 + s, 1 + s + m) for s, m in zip(o, shape, strict=True))]  # noqa: E731
    middle, odd = (0,) * n, np.zeros(shape, bool)
    for axis, s in itertools.product(range(n), (-1, 1)):
        o = tuple(s * (i == axis) for i in range(n))
        flow = (seen(a, middle) + seen(a, o)) / (2 * h[axis] ** 2)
        every[o] += flow
        every[middle] -= flow
        odd |= seen(here, o) != seen(here, middle)
    for place in zip(*np.nonzero(odd), strict=True):
        block = tuple(slice(i, i + 3) for i in place)
        row = _row(h, phi[block], [x[block] for x in sides])
        if row is None:
            at = tuple(round(float(ax.unknowns[i]), 4) for ax, i in zip(axes, place, strict=True))
            raise errors.bad_argument(
                _WHO, "cells", tuple(x.cells for x in axes), "more: the interface is not resolved",
                f"Near {at} it turns, or comes back, within a cell or two.",
            )  # fmt: skip
        for o, x in zip(every, row, strict=True):
            every[o][place] = x
    return list(every.values())


def _row(h, phi, sides) -> np.ndarray | None:
    """The elements of a row beside the interface, from values at the 3 × 3 × … nodes around."""
    slope, bend = _model(phi, h)
    way = np.zeros(len(h))  # to the interface
    for _ in range(6):
        here = slope + bend @ way
        if not here @ here > 0:
            return None
        way = way - (phi[(1,) * len(h)] + slope @ way + way @ bend @ way / 2) * here / (here @ here)
    here = slope + bend @ way
    size = np.sqrt(here @ here)
    if not np.all(np.abs(way) <= 1.5 * h.max()) or not size > 0:
        return None
    frame = _frame(here / size)
    curved = frame[1:] @ bend @ frame[1:].T / size
    own = int(phi[(1,) * len(h)] > 0)
    media = [_medium(sides[s], h, way, frame) for s in (own, 1 - own)]
    return _fitted(h, phi > 0, way, frame, _across(curved, *media), media[0], own)


def _model(x, h) -> tuple:
    """Slope and second derivatives in the middle of 3 × 3 × … nodes."""
    n = len(h)
    at = lambda *o: x[tuple(1 + s for s in np.sum(o, axis=0))]  # noqa: E731
    unit = np.eye(n, dtype=int)
    zero = np.zeros(n, int)
    slope = np.array([(at(e) - at(-e)) / (2 * k) for e, k in zip(unit, h, strict=True)])
    bend = np.empty((n, n))
    for i, j in itertools.product(range(n), repeat=2):
        e, f = unit[i], unit[j]
        mixed = (at(e, f) - at(e, -f) - at(-e, f) + at(-e, -f)) / 4 if i != j else 0
        way = mixed if i != j else at(e) - 2 * at(zero) + at(-e)
        bend[i, j] = way / (h[i] * h[j])
    return slope, bend


def _frame(normal) -> np.ndarray:
    """Rows: the normal, and directions along the interface."""
    columns = np.column_stack([normal, np.eye(len(normal))[:, np.argsort(np.abs(normal))]])
    q = np.linalg.qr(columns)[0][:, : len(normal)]
    return (q * np.where(q[:, 0] @ normal < 0, -1, 1)).T


def _medium(a, h, way, frame) -> tuple:
    """(a at the interface, its derivatives along the frame)."""
    slope, _ = _model(a, h)
    middle = a[(1,) * len(h)]
    there = middle + slope @ way
    return (there if there > middle / 2 else middle), frame @ slope


def _terms(n: int) -> dict:
    """Where in a list are u, its derivatives and second derivatives along the frame."""
    names = [(), *[(i,) for i in range(n)], *itertools.combinations_with_replacement(range(n), 2)]
    return {name: k for k, name in enumerate(names)}


def _across(curved, own, other) -> np.ndarray:
    """From u and its derivatives on one side of the interface to those on the other."""
    n = len(curved) + 1
    (a, da), (b, db) = own, other
    at, ratio = _terms(n), a / b
    m = np.zeros((len(at), len(at)))
    m[0, 0] = 1
    m[at[0,], at[0,]] = ratio
    for j in range(1, n):
        m[at[j,], at[j,]] = 1
        for k in range(j, n):
            m[at[j, k], at[j, k]] = 1
            m[at[j, k], at[0,]] = curved[j - 1, k - 1] * (ratio - 1)
        m[at[0, j], at[0, j]] = ratio
        m[at[0, j], at[0,]] = (da[j] - ratio * db[j]) / b
        for k in range(1, n):
            m[at[0, j], at[k,]] = (ratio - 1) * curved[j - 1, k - 1]
    r = at[0, 0]
    m[r, at[0, 0]], m[r, at[0,]] = ratio, (da[0] - ratio * db[0]) / b
    for j in range(1, n):
        m[r, at[j, j]] = ratio
        m[r] -= m[at[j, j]]
        m[r, at[j,]] += (da[j] - db[j]) / b
    return m


def _fitted(h, here, way, frame, across, medium, own: int) -> np.ndarray | None:
    """Elements that are right for all parabolas, none negative off the diagonal; None if there are no such ones."""
    from scipy.optimize import nnls

    n, (a, da), unit = len(h), medium, h.max()
    at = _terms(n)
    scale = unit ** np.array([len(name) for name in at])

    def of(o):
        z = frame @ (np.array(o) * h - way)
        values = [np.prod(z[list(name)]) / (2 if len(name) == 2 and name[0] == name[1] else 1)
                  for name in at]  # fmt: skip
        return values if here[tuple(1 + s for s in o)] == own else values @ across

    columns = np.array([of(o) for o in offsets(n)]).T / scale[:, None]
    middle = columns.shape[1] // 2
    want = np.zeros(len(at))
    here_ = -frame @ way  # from the interface to the node
    for i in range(n):
        want[at[i, i]] += a
        want[at[i,]] += da[i]
        for j in range(n):  # the slope there, by the second derivatives
            want[at[min(i, j), max(i, j)]] += da[i] * here_[j]
    want = want / scale * unit**2 / a
    rest = np.delete(columns, middle, 1) - columns[:, [middle]]  # rows sum to zero
    size = np.sqrt((rest[1:] ** 2).sum(0))
    found, left = nnls(rest[1:] / size, want[1:])
    if not left <= _LEFT * np.sqrt(want @ want):
        return None
    found = found / size * a / unit**2
    return np.insert(found, middle, -found.sum())
