"""Equations with dense matrices of which it is known, or seen, that only a band of them counts."""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import Array, fused, typeof
from .._ops import swapped
from .._solution import Solution
from ._banded import in_band
from ._tridiagonal import by_diagonals
from ._truth import fail, fail_unless_finite

_LARGE = 64  # widths of its band that a matrix has from which on a window is faster than the whole


def bandwidths(a: np.ndarray) -> tuple:
    """(l, u) of each matrix: how many diagonals below and above the main one hold what is not zero."""
    i, j = np.ogrid[: a.shape[-2], : a.shape[-1]]
    below, above = (np.where(a != 0, k, 0).max((-2, -1), initial=0) for k in (i - j, j - i))
    return below, above


def known_band(a, assume_a: str) -> tuple[int, int] | None:
    """(l, u) where it is known and elimination within the band is the faster one, else None."""
    fixed, n = ops.stop_gradient(a), typeof(a).shape[-1]
    if assume_a == "tridiagonal":
        lower, upper = 1, 1
    elif assume_a == "banded" and type(fixed) is Array:
        lower, upper = (int(w.max(initial=0)) for w in bandwidths(np.asarray(fixed)))
    else:
        return None
    least = 2 if max(lower, upper) <= 1 else _LARGE * (lower + upper + 1)
    return (lower, upper) if n >= least else None


def _diagonal(a, d: int):
    """Diagonal d, each element in its column: (..., n), with zeros where the matrix ends."""
    ends = (d, 0) if d > 0 else (0, -d)
    return xnp.pad(xnp.diagonal(a, d, -2, -1), [(0, 0)] * (typeof(a).ndim - 2) + [ends])


@fused(1)
def _diagonals(a, lower: int, upper: int) -> tuple:
    """Those of a band, from the uppermost on: (l + u + 1) of (..., n)."""
    return tuple(_diagonal(a, d) for d in range(upper, -lower - 1, -1))


def solve_in_band(who: str, a, b, widths: tuple, transposed: bool, report: bool):
    """The solution of a x = b, or aᵀ x = b, where nothing but the band of a is read."""
    if max(widths) <= 1:
        rows = _diagonals(
            a if transposed else swapped(a), 1, 1
        )  # of the transpose: flush with rows
        x, singular, found = by_diagonals(*rows, b, "auto", report)
        kind, pivot = "unknown", xnp.where(singular, 0, -1).astype(np.int32)
    else:
        matrix, (lower, upper) = (swapped(a), widths[::-1]) if transposed else (a, widths)
        band = xnp.stack(_diagonals(matrix, lower, upper), axis=-2)
        x, pivot, found = in_band(band, b, lower, upper, report)
        kind = "banded"
    if report:
        return Solution(x, *found)
    fail(who, a, pivot, kind)
    if type(x) is Array:
        fail_unless_finite(who, x, (a, b), "numbers overflowed; scale the equations")
    return x
