"""Many unknowns in fields of one shape: algebraic multigrid that keeps the unknowns of a node together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import Array
from .._solution import Solution
from ..linalg import CG, GMRES, linear_solve
from ..sparse import Multigrid, Sparse, multigrid

# Beyond so many unknowns cycles take less time than factors, by the number of axes of the fields.
FACTORS_AT_MOST = {1: 300_000, 2: 100_000}
_IN_SPACE = 10_000


class Cycles(NamedTuple):
    """What is solved: rows r a c, whose diagonal is about 1, with multigrid for it."""

    rows: Array
    columns: Array
    multigrid: Multigrid

    @property
    def reason(self) -> str:
        kind = "conjugate gradients" if self.multigrid.symmetric else "minimal residuals"
        return f"fields of one shape are coupled: {kind} with algebraic multigrid of their nodes"


def cycles(matrix: Sparse, shapes: list, vectors: list) -> Cycles | None:
    """Multigrid for the matrix of fields of one shape, unknowns of a node side by side; None where it is not apt.

    Args:
      matrix: its values are known.
      shapes: of the fields.
      vectors: what the equations take to 0, beside the constants.
    """
    known, shape, count = ops.stop_gradient(matrix.values), shapes[0], len(shapes)
    if (
        len(set(shapes)) > 1
        or matrix.shape[0] <= FACTORS_AT_MOST.get(len(shape), _IN_SPACE)
        or type(known) is not Array
    ):
        return None
    a = Sparse(known, matrix.pattern)
    diagonal = np.asarray(a.diagonal())
    if not (np.isfinite(np.asarray(known)).all() and (diagonal != 0).all()):
        return None
    scale = 2.0 ** np.round(-0.5 * np.log2(np.abs(diagonal)))
    units = np.tile(_units(a, scale, count), diagonal.size // count)
    below = np.tile(diagonal.reshape(-1, count).real.sum(axis=0) < 0, diagonal.size // count)
    rows, columns = np.where(below, -1, 1) * scale / units, scale * units
    near = [_constants(diagonal.size, count), _rotations(a, shape, count)]
    near += [np.asarray(ops.stop_gradient(z))[:, None] for z in vectors]
    r, c = (xnp.asarray(s.astype(diagonal.real.dtype)) for s in (rows, columns))
    near = np.hstack(near) / columns[:, None]
    if _takes_to_zero(_scaled(a, r, c), near):
        return None
    return Cycles(r, c, multigrid(_scaled(a, r, c), block=count, near_nullspace=near))


def solved(matrix: Sparse, right: Array, how: Cycles) -> Solution:
    """A solution by a Krylov method, and that of what it left."""
    m = how.multigrid
    a, run = (
        _scaled(matrix, how.rows, how.columns).replace(symmetric=m.symmetric),
        _RUN[m.symmetric],
    )
    parts, left = [], how.rows * right
    for _ in range(2):
        parts.append(linear_solve(a, left, run, preconditioner=m, report=True))
        left = left - a @ parts[-1].value
    x = how.columns * (parts[0].value + parts[1].value)
    return parts[0].replace(value=x, steps=parts[0].steps + parts[1].steps)


def _takes_to_zero(a: Sparse, near: np.ndarray) -> bool:
    """Whether a smooth field is a solution without a source, up to rounding: factors then tell what is wrong."""
    smooth = np.linalg.qr(near)[0].astype(a.dtype)
    left = np.linalg.svd(np.asarray(a @ xnp.asarray(smooth)), compute_uv=False)
    return bool(left[-1] <= 1e3 * np.finfo(a.dtype).eps)


def _scaled(a: Sparse, rows: Array, columns: Array) -> Sparse:
    both = rows[xnp.asarray(a.pattern.rows)] * columns[xnp.asarray(a.pattern.indices)]
    return Sparse(a.values * both, a.pattern)


# Each of two runs gains that much.
_RUN = {
    True: CG(rtol=1e-6, max_steps=200),
    False: GMRES(rtol=1e-6, max_steps=20, restart=30),
}


def _units(a: Sparse, scale: np.ndarray, count: int) -> np.ndarray:
    """Of the fields, powers of 2 in which each hangs on the others as much as they on it; 1 where a is symmetric."""
    rows, columns = a.pattern.rows, a.pattern.indices
    sizes = np.abs(np.asarray(a.values)) * scale[rows] * scale[columns]
    between = np.bincount(rows % count * count + columns % count, sizes, count**2)
    between = between.reshape(count, count) * (1 - np.eye(count))
    units = np.ones(count)
    for _ in range(10):
        for k in range(count):
            on, of = between[k].sum(), between[:, k].sum()
            unit = 2.0 ** np.round(0.5 * np.log2(on / of)) if on > 0 < of else 1.0
            units[k] *= unit
            between[:, k] *= unit
            between[k] /= unit
    return units


def _constants(n: int, count: int) -> np.ndarray:
    return np.tile(np.eye(count), (n // count, 1))


def _rotations(a: Sparse, shape: tuple, count: int) -> np.ndarray:
    """Rigid rotations, of as many fields as there are axes: what elastic bodies resist to as little as to motions."""
    n, axes = a.shape[0], len(shape)
    if count != axes or axes == 1:
        return np.zeros((n, 0))
    places = np.indices(shape).reshape(axes, -1).T - (np.array(shape) - 1) / 2
    places = places * _spacings(a, shape, count)
    places /= np.abs(places).max()
    pairs = [(i, j) for i in range(axes) for j in range(i)]
    found = np.zeros((n // count, count, len(pairs)))
    for k, (i, j) in enumerate(pairs):
        found[:, i, k], found[:, j, k] = places[:, j], -places[:, i]
    return found.reshape(n, -1)


def _spacings(a: Sparse, shape: tuple, count: int) -> np.ndarray:
    """Relative distances of nodes along the axes, as couplings of second differences tell: they go with 1 / h²."""
    nodes = np.arange(a.shape[0] // count).reshape(shape)
    values = np.abs(np.asarray(a.values))
    rows, cols = a.pattern.rows, a.pattern.indices
    same, apart = rows % count == cols % count, cols // count - rows // count
    found = []
    for axis in range(len(shape)):
        step = int(nodes.strides[axis] // nodes.itemsize)
        along = same & (np.abs(apart) == step)
        sums = np.bincount(rows[along] % count, values[along], count)
        found.append(np.exp(-0.5 * np.mean(np.log(np.maximum(sums, 1e-300)))))
    return np.array(found)
