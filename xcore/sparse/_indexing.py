"""Parts of sparse matrices, and copies with some stored elements changed. Indices are static."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import Array, errors
from ._pattern import Pattern, by_place, elements_of, pointers_of, runs
from ._products import pick


def item(a: Any, index: Any) -> Any:
    rows, columns = _both(a, index)
    one = [np.ndim(i) == 0 and not isinstance(i, slice) for i in (rows, columns)]
    if not any(isinstance(i, slice) for i in (rows, columns)):
        rows, columns = (
            _numbers(a, i, size) for i, size in zip((rows, columns), a.pattern.shape, strict=True)
        )
        return a._elements(*_paired(rows, columns))
    taken = _submatrix(
        a, *(_range(a, i, s) for i, s in zip((rows, columns), a.pattern.shape, strict=True))
    )
    if one[0]:
        return taken.todense()[..., 0, :]
    return taken.todense()[..., :, 0] if one[1] else taken


def _both(a: Any, index: Any) -> Any:
    index = index if isinstance(index, tuple) else (index,)
    dots = [k for k, i in enumerate(index) if i is Ellipsis]
    if len(dots) == 1:
        k, missing = dots[0], 3 - len(index)
        index = (*index[:k], *[slice(None)] * missing, *index[k + 1 :])
    if len(dots) > 1 or any(i is None for i in index) or len(index) > 2:
        raise errors.bad_argument(
            "sparse.Sparse[]", "the index", index, "of rows and columns: A[i], A[i, j]"
        )
    mask: Any = index[0] if index else None
    if len(index) == 1 and hasattr(mask, "pattern"):  # of a comparison
        if mask.pattern.shape != a.pattern.shape or mask.dtype != bool or mask.ndim != 2:
            need = f"a mask of shape {a.pattern.shape}"
            raise errors.bad_argument("sparse.Sparse[]", "the index", mask, need)
        at = np.flatnonzero(np.asarray(mask.values))
        return mask.pattern.rows[at], mask.pattern.columns[at]
    if len(index) == 1 and np.ndim(mask) == 2:
        mask = np.asarray(mask)
        if mask.dtype != bool or mask.shape != a.pattern.shape:
            raise errors.bad_argument(
                "sparse.Sparse[]",
                "the index",
                mask,
                f"a mask of shape {a.pattern.shape}",
            )
        return np.nonzero(mask)
    return (*index, *[slice(None)] * (2 - len(index)))


def _numbers(a: Any, index: Any, size: int) -> np.ndarray:
    i = np.asarray(index)
    if i.dtype == bool and i.ndim == 1 and len(i) == size:
        i = np.flatnonzero(i)
    if i.size and i.dtype.kind not in "iu":
        raise errors.bad_argument(
            "sparse.Sparse[]", "the index", index, "known integers, slices or masks"
        )
    i = i.astype(np.int64)
    if i.size and (i.min() < -size or i.max() >= size):
        raise IndexError(
            f"xcore.sparse: index {int(i.min() if i.min() < -size else i.max())} is out of range for {size}."
        )
    return np.where(i < 0, i + size, i)


def _paired(rows: np.ndarray, columns: np.ndarray) -> Any:
    try:
        return np.broadcast_arrays(rows, columns)
    except ValueError:
        raise IndexError(
            f"xcore.sparse: A[rows, columns] takes one element for each pair, given {rows.shape} rows and "
            f"{columns.shape} columns, which do not broadcast. A[rows][:, columns] is a matrix."
        ) from None


def repeated(a: Any, shape: tuple[int, int]) -> Any:
    """The matrix broadcast to a shape."""
    if a.pattern.shape == shape:
        return a
    of = lambda size, new: np.zeros(new, np.int64) if size == 1 else np.arange(new)  # noqa: E731
    return _submatrix(a, *map(of, a.pattern.shape, shape))


def _range(a: Any, index: Any, size: int) -> np.ndarray:
    if isinstance(index, slice):
        return np.arange(size)[index]
    return np.atleast_1d(_numbers(a, index, size)).reshape(-1)


def _submatrix(a: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    """Rows and columns, in the order given, perhaps some twice."""
    if _increase(rows) and _increase(columns):
        return _thinned(a, rows, columns)
    p = a.pattern
    at, each = elements_of(p, rows)
    new_rows, old = np.repeat(np.arange(len(rows)), each), p.columns[at]
    order = np.argsort(columns, kind="stable")
    first, last = (np.searchsorted(columns[order], old, side) for side in ("left", "right"))
    times = last - first
    place = runs(first, times)
    at, new_rows, new_columns = np.repeat(at, times), np.repeat(new_rows, times), order[place]
    shape = (len(rows), len(columns))
    new_rows, new_columns, sort = by_place(new_rows, new_columns, shape)
    pattern = Pattern.of_rows(pointers_of(new_rows, shape[0]), new_columns, shape)
    at = at[sort]
    if np.bincount(at, minlength=1).max() < 2:
        return a.like(a._of_each(lambda v: pick(v, at), a.values), pattern)
    return a.like(xnp.take(a.values, at, axis=-1), pattern)


def _increase(x: np.ndarray) -> bool:
    return bool((x[1:] > x[:-1]).all())


def _thinned(a: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    """Rows and columns in the order of the matrix: its elements stay in order."""
    p, shape = a.pattern, (len(rows), len(columns))
    at, each = elements_of(p, rows)
    r, c = np.repeat(np.arange(shape[0]), each), p.columns[at]
    if shape[1] != p.shape[1]:
        place = np.full(p.shape[1], -1)
        place[columns] = np.arange(shape[1])
        c = place[c]
        there = np.flatnonzero(c >= 0)
        r, c, at = r[there], c[there], at[there]
    pattern = Pattern.of_rows(pointers_of(r, shape[0]), c, shape)
    return a.like(a._of_each(lambda v: pick(v, at), a.values), pattern)


class At:
    """``A.at``: what ``A.at[i, j]`` begins with."""

    def __init__(self, a: Any) -> None:
        self._a = a

    def __getitem__(self, index: Any) -> Elements:
        return Elements(self._a, index)


class Elements:
    """``A.at[i, j]``: stored elements, which ``set``, ``add``, ``multiply``, … change in a copy."""

    def __init__(self, a: Any, index: Any) -> None:
        rows, columns = _both(a, index)
        if isinstance(rows, slice) or isinstance(columns, slice):
            given = rows, columns
            rows, columns = (_range(a, i, s) for i, s in zip(given, a.pattern.shape, strict=True))
            grids = np.meshgrid(rows, columns, indexing="ij")
            kept = tuple(slice(None) if isinstance(i, slice) or np.ndim(i) else 0 for i in given)
            rows, columns = (x[kept] for x in grids)  # an integer takes its axis away
            stored = a.pattern.find(rows, columns)
            if (stored < 0).any():
                self._missing(a, rows[stored < 0], columns[stored < 0])
        rows, columns = (
            _numbers(a, i, s) for i, s in zip((rows, columns), a.pattern.shape, strict=True)
        )
        rows, columns = _paired(rows, columns)
        self._a, self._at = a, a.pattern.find(rows, columns)
        if (self._at < 0).any():
            self._missing(a, rows[self._at < 0], columns[self._at < 0])

    def _missing(self, a: Any, rows: Any, columns: Any) -> None:
        raise errors.bad_argument(
            "sparse.Sparse.at", "the index", (int(np.ravel(rows)[0]), int(np.ravel(columns)[0])),
            "of a stored element: the pattern is static. A + another matrix has more elements",
        )  # fmt: skip

    def _changed(self, values: Array) -> Any:
        return self._a.like(values)

    def get(self) -> Array:
        return self._a.values[..., self._at]

    def set(self, values: Any) -> Any:
        return self._changed(self._a.values.at[..., self._at].set(values))

    def add(self, values: Any) -> Any:
        return self._changed(self._a.values.at[..., self._at].add(values))

    def subtract(self, values: Any) -> Any:
        return self._changed(self._a.values.at[..., self._at].subtract(values))

    def multiply(self, values: Any) -> Any:
        return self._changed(self._a.values.at[..., self._at].multiply(values))

    def divide(self, values: Any) -> Any:
        return self._changed(self._a.values.at[..., self._at].divide(values))

    def power(self, values: Any) -> Any:
        return self._changed(self._a.values.at[..., self._at].power(values))

    def min(self, values: Any) -> Any:
        return self._changed(self._a.values.at[..., self._at].min(values))

    def max(self, values: Any) -> Any:
        return self._changed(self._a.values.at[..., self._at].max(values))
