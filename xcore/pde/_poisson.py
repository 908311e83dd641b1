"""Poisson's equation on a box, by diagonalisation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import jit
from .._core import Array, ArrayLike, dtypes, errors, typeof
from ._along import by_axes
from ._boundary import ZERO
from ._direct import solve_direct
from ._grid import Grid
from ._laplacian import Laplacian

UNBALANCED = 1e-2  # of the size of sources: more than rounding and discretisation explain


class IncompatibleError(errors.XcoreError, ValueError):
    """A problem without Dirichlet or Robin faces has no solution: what flows in does not flow out.

    >>> import xcore as xc
    >>> grid = Grid((4, 4))
    >>> xc.pde.poisson(1.0, grid, xc.pde.Neumann(-0.25)).shape
    (5, 5)
    >>> xc.pde.poisson(1.0, grid, xc.pde.Neumann())  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    IncompatibleError: ...
    """


def poisson(
    f: ArrayLike | Callable[..., ArrayLike], grid: Grid, bc: Any = ZERO, *, order: int | str = 2
) -> Array:
    """The field u with -Δu = f in the box and the conditions on its faces.

    Direct: exact but for rounding. Derivatives with respect to f and to the data on the faces cost
    one more solution. Without Dirichlet and Robin faces u is known up to a constant; the one whose
    integral vanishes is given, and f and the data must be compatible.

    Args:
      f: a field, an array at all nodes, or a function of the coordinates.
      grid: a ``Grid``.
      bc: conditions, as in ``Laplacian``.
      order: 2, 4, 6 or "compact", as in ``Laplacian``.

    Returns:
      The values at the nodes that are unknown, those on Dirichlet faces left out: of ``Grid((n, n))`` an array of
      shape (n - 1, n - 1). ``Laplacian(grid, bc).full(u)`` has those on the faces, too.

    >>> import xcore as xc
    >>> xc.pde.poisson(2.0, xc.pde.Grid(4)).round(4)
    Array([0.1875, 0.25  , 0.1875], dtype=float32)
    """
    known = bc is ZERO and isinstance(grid, Grid) and isinstance(order, int | str)
    lap = _with_zeros(grid, order) if known else Laplacian(grid, bc, order)
    f = _real(lap.mean(f))
    u, excess = _poisson(lap, f.astype(lap.with_data(typeof(f).dtype)))
    if lap.singular:
        require_compatible("pde.poisson", excess)
    return u


def _real(f):
    return f if dtypes.is_inexact(typeof(f).dtype) else f.astype(np.float32)


@functools.lru_cache(256)
def _with_zeros(grid: Grid, order) -> Laplacian:
    """The operator of a grid whose faces have zeros, made once."""
    return Laplacian(grid, ZERO, order)


@jit
def _poisson(lap: Laplacian, f):
    right = -f - lap.boundary(typeof(f).dtype)
    return solve_direct(lap, right), imbalance(lap, right)


def kernel_weights(lap, dtype):
    """w with w · L(u) = 0 for all u, where L is singular: the null vector of the transpose."""
    return by_axes([_left_null(a) for a in lap.axes], dtype)


def _left_null(a):
    if a.order == 2:
        return a.weights / a.weights.sum()
    _, _, vt = np.linalg.svd(a.matrix.T)
    return vt[-1] / vt[-1].sum()


def _kernel(op, dtype):
    """The same; of a part of a box by its volumes."""
    if op.inside is None:
        return kernel_weights(op, dtype)
    w = op.volumes(dtype)
    return w / xnp.sum(w)


def imbalance(lap, right):
    """How far a right-hand side is from the range of a singular operator, relative to its size."""
    if not lap.singular:
        return xnp.zeros((), dtypes.to_real(typeof(right).dtype))
    w = _kernel(lap, dtypes.to_real(typeof(right).dtype))
    size = xnp.sum(xnp.abs(w) * xnp.abs(right))
    return xnp.abs(xnp.sum(w * right)) / xnp.where(size == 0, 1, size)


def balanced(lap, right):
    """(a right-hand side in the range of an operator, the mean that was taken away for that)."""
    if not lap.singular:
        return right, xnp.zeros((), typeof(right).dtype)
    mean = xnp.sum(_kernel(lap, dtypes.to_real(typeof(right).dtype)) * right)
    return right - mean, mean


def require_compatible(who: str, excess) -> None:
    """Raises where the imbalance is known and more than rounding and discretisation explain."""
    if type(excess) is Array and float(excess) > UNBALANCED:
        raise unbalanced(who, float(excess))


def unbalanced(who: str, excess: float) -> IncompatibleError:
    """The error that says that there is no solution, and why."""
    return IncompatibleError(
        f"xcore.{who}: with Neumann or periodic conditions all around, sources and what flows "
        f"through the faces must balance: ∫f + ∮∂u/∂n = 0. Here {excess:.2g} of their size "
        "is left over, so there is no solution. Subtract the mean from f, correct the data, or give "
        "one face a Dirichlet or Robin condition."
    )
