"""Nodes along an axis in colours, such that equal ones do not meet in a stencil: products with their indicators show
an operator's elements."""

from __future__ import annotations

import numpy as np


def colours(n: int, reach: int, ring: bool) -> np.ndarray:
    """Numbers for nodes along an axis; equal ones are more than 2 reach apart."""
    period = 2 * reach + 1
    line = np.arange(n) % period
    if ring and n % period:  # what is left over behind the last whole period gets its own
        rest = n % period
        line[n - rest :] = period + np.arange(rest)
    return line


def leading(n: int, by: int, ring: bool) -> np.ndarray:
    """Where offsets lead from the nodes along an axis; -1 outside, and around a short ring but by the shortest way."""
    at = np.arange(n) + by
    if ring:
        return at % n if -n < 2 * by <= n else np.full(n, -1)
    return np.where((at >= 0) & (at < n), at, -1)


def nearest_marks(marks: np.ndarray, reach, rings) -> np.ndarray:
    """For each node the mark within reach of it, -1 if there is none."""
    for axis, (r, ring) in enumerate(zip(reach, rings, strict=True)):
        found = marks
        for s in {s for k in range(1, r + 1) for s in (-k, k)}:
            moved = np.roll(marks, s, axis)
            if not ring:
                edge = [slice(None)] * marks.ndim
                edge[axis] = slice(0, s) if s > 0 else slice(s, None)
                moved[tuple(edge)] = -1
            found = np.maximum(found, moved)
        marks = found
    return marks
