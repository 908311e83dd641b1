"""Values of all levels of multigrid by NumPy, of a matrix whose values are known: no program is made for them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._aggregation import (
    Hierarchy,
    diagonal_of,
    galerkin,
    inverse_diagonal,
    operator,
    radius,
    smoothed,
)
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
    sums, times = radius(pattern, values, scale), operator(pattern, values)
    x = pattern.kept("start", lambda: np.sin(1.0 + np.arange(len(scale)) ** 2)).astype(values.dtype)
    size, seen = _length(x), 0.0
    for _ in range(2 * LANCZOS):
        x = scale * times(x / size)
        size = _length(x)
        seen = max(seen, size)
        if 1.1 * seen >= sums:
            break
    return scale, float(min(1.1 * seen, sums)) or 1.0


def _length(x: np.ndarray) -> float:
    parts = x.view(x.real.dtype)
    return float(np.sqrt(np.einsum("i,i", parts, parts))) or 1.0  # without BLAS, and its threads


_ONE_BY_ONE = 300  # unknowns


def inverse(a: np.ndarray) -> np.ndarray:
    """By elimination with exchanged rows; infinities where that ends early.

    A small matrix column by column: LAPACK hands it to threads, and waits for them where others use the cores: 0.2 s
    instead of 4 ms.
    """
    n = len(a)
    if n > _ONE_BY_ONE:
        try:
            return np.linalg.inv(a)
        except np.linalg.LinAlgError:
            return np.full_like(a, np.inf)
    a, order = a.copy(), np.arange(n)
    for k in range(n):
        p = k + int(np.abs(a[k:, k]).argmax())
        a[[k, p]], order[[k, p]] = a[[p, k]], order[[p, k]]
        column, pivot = a[:, k].copy(), a[k, k]
        if pivot == 0:
            return np.full_like(a, np.inf)
        column[k], a[:, k], a[k, k] = 0, 0, 1
        a[k] /= pivot
        a -= column[:, None] * a[k]
    found = np.empty_like(a)
    found[:, order] = a
    return found
