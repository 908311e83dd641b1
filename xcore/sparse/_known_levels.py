"""Values of all levels of multigrid by NumPy, of a matrix whose values are known: no program is made for them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._aggregation import Hierarchy, diagonal_of, galerkin, inverse_diagonal, operator, smoothed
from ._pattern import Pattern

LANCZOS = 10  # steps that estimate the largest eigenvalue
WEIGHT = 1.4  # of the step that smooths prolongators: 4/3, for a bound some 5 % too large


class KnownLevel(NamedTuple):
    """A matrix, its prolongator (None of the coarsest), the inverse of its diagonal, and a bound of eigenvalues."""

    pattern: Pattern
    values: np.ndarray
    down: Pattern | None
    weights: Any
    scale: np.ndarray
    top: float


def split_levels(hierarchy: Hierarchy, known: list[Any]) -> list[KnownLevel]:
    """Of classical multigrid, from what ``split`` found."""
    downs = (*hierarchy.down, None)
    return [
        KnownLevel(p, v, down, w, *_smoothing(p, v))
        for (p, v, w), down in zip(known, downs, strict=True)
    ]


def smoothed_levels(
    hierarchy: Hierarchy, values: np.ndarray, tentative: list[np.ndarray]
) -> list[KnownLevel]:
    """Of smoothed aggregation."""
    made, pattern = [], hierarchy.pattern
    for down, t in zip(hierarchy.down, tentative, strict=True):
        scale, top = _smoothing(pattern, values)
        whole, w = smoothed(pattern, values, down, t, WEIGHT / top * scale)
        made.append(KnownLevel(pattern, values, whole, w, scale, top))
        pattern, values = galerkin(pattern, values, whole, w)
    return [*made, KnownLevel(pattern, values, None, None, *_smoothing(pattern, values))]


def _smoothing(pattern: Pattern, values: np.ndarray) -> tuple[np.ndarray, float]:
    scale = inverse_diagonal(diagonal_of(pattern, values))
    if not len(scale):
        return scale, 1.0
    sums = np.max(np.abs(scale) * operator(pattern, np.abs(values))(np.ones(len(scale))))
    times = operator(pattern, values)
    x = np.sin(1.0 + np.arange(len(scale)) ** 2).astype(values.dtype)
    for _ in range(2 * LANCZOS):
        x = scale * times(x / _length(x))
    return scale, float(min(1.1 * _length(x), sums)) or 1.0


def _length(x: np.ndarray) -> float:
    return float(np.sqrt((np.abs(x) ** 2).sum())) or 1.0
