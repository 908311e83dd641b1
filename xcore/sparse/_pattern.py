"""Where a sparse matrix may have elements: known before any value is, so all about it is found out once."""

from __future__ import annotations

import functools
import hashlib
import operator
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._core import errors

Positions = np.ndarray[Any, np.dtype[np.int64]]


class Bucket(NamedTuple):
    """Rows of about the same length, to be summed together. Tables are (length, rows), so that rows are neighbours.

    Attributes:
      positions: of the elements among the values.
      columns: of the elements.
      valid: which of them there are; None if all are.
    """

    positions: np.ndarray
    columns: np.ndarray
    valid: np.ndarray | None


class Pattern:
    """The places of the elements of a sparse matrix, row by row, in each row by column, none twice.

    It is static: hashed and compared by content, part of the structure of a ``Sparse`` matrix and of programs.
    Transposes, sums, products and what solvers need are computed on the host when first asked for, and kept.

    Args:
      rows, columns: integers of equal length, in any order; a place given twice counts once.
      shape: (rows, columns) of the matrix.

    >>> Pattern([1, 0, 1], [0, 2, 0], (2, 3))
    Pattern(2x3, 2 elements)
    """

    def __init__(self, rows: Any, columns: Any, shape: tuple[int, int]) -> None:
        found, _ = places("sparse.Pattern", rows, columns, shape)
        self._set(found.indptr, found.indices, found.shape)

    def _set(self, indptr: np.ndarray, indices: np.ndarray, shape: tuple[int, int]) -> Pattern:
        wide = np.int64 if max(*shape, len(indices)) >= 2**31 - 1 else np.int32
        self.indptr, self.indices = indptr.astype(wide), indices.astype(wide)
        self.shape = shape
        for a in (self.indptr, self.indices):
            a.flags.writeable = False
        return self

    @classmethod
    def of_rows(cls, indptr: Any, indices: Any, shape: tuple[int, int]) -> Pattern:
        """From row pointers and sorted columns, which are not looked at."""
        made = object.__new__(cls)
        return made._set(np.asarray(indptr), np.asarray(indices), shape)

    @classmethod
    def of_keys(cls, keys: np.ndarray, shape: tuple[int, int]) -> Pattern:
        """From the numbers row · columns + column, sorted."""
        rows, columns = np.divmod(keys, max(shape[1], 1))
        return cls.of_rows(np.searchsorted(rows, np.arange(shape[0] + 1)), columns, shape)

    @property
    def nnz(self) -> int:
        return len(self.indices)

    @functools.cached_property
    def digest(self) -> bytes:
        parts = (repr(self.shape).encode(), self.indptr.tobytes(), self.indices.tobytes())
        return hashlib.blake2b(b"|".join(parts), digest_size=16).digest()

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Pattern) and self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def canonical(self) -> str:
        """What programs are found by that have it as a parameter."""
        return f"pattern:{self.digest.hex()}"

    def __repr__(self) -> str:
        return f"Pattern({self.shape[0]}x{self.shape[1]}, {self.nnz} elements)"

    def __reduce__(self) -> tuple[Any, ...]:
        return Pattern.of_rows, (self.indptr, self.indices, self.shape)

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """What was made once for this pattern, under a key; of very many keys the last ones."""
        table = self.__dict__.setdefault("_kept", {})
        if key not in table:
            made = make()
            while len(table) >= _MOST_KEPT:
                table.pop(next(iter(table)), None)  # of another thread perhaps
            table[key] = made
        return table[key]

    # Coordinates

    @functools.cached_property
    def lengths(self) -> np.ndarray:
        return np.diff(self.indptr)

    @functools.cached_property
    def rows(self) -> np.ndarray:
        return np.repeat(np.arange(self.shape[0], dtype=self.indices.dtype), self.lengths)

    @property
    def columns(self) -> np.ndarray:
        return self.indices

    @functools.cached_property
    def keys(self) -> Positions:
        return self.rows.astype(np.int64) * self.shape[1] + self.columns

    def find(self, rows: Any, columns: Any) -> Positions:
        """Positions of places among the elements; -1 where there is none."""
        rows, columns = np.asarray(rows), np.asarray(columns)
        if _FEW < rows.size and self.nnz < 2**31 - 1 and self._within(rows, columns):
            numbers = scipys(self, np.arange(1, self.nnz + 1, dtype=np.int32))
            return sampled(numbers, rows, columns).astype(np.int64) - 1
        wanted = rows.astype(np.int64) * self.shape[1] + columns.astype(np.int64)
        at = np.searchsorted(self.keys, wanted)
        clipped = np.minimum(at, max(self.nnz - 1, 0))
        return (
            np.where((at < self.nnz) & (self.keys[clipped] == wanted), at, -1)
            if self.nnz
            else at * 0 - 1
        )

    def _within(self, rows: np.ndarray, columns: np.ndarray) -> bool:
        both = zip((rows, columns), self.shape, strict=True)
        return all(x.ndim == 1 and x.min() >= 0 and x.max() < size for x, size in both)

    @functools.cached_property
    def diagonal(self) -> Positions:
        """Positions of the elements (i, i); -1 where there is none."""
        at = np.full(min(self.shape), -1, np.int64)
        there = np.flatnonzero(self.rows == self.columns)
        at[self.rows[there]] = there
        return at

    # Relatives

    @functools.cached_property
    def _transposition(self) -> tuple[Pattern, Positions]:
        order = stable_order(self.columns, self.shape[1])
        pointers = pointers_of(self.columns, self.shape[1])
        return Pattern.of_rows(pointers, self.rows[order], self.shape[::-1]), order

    @property
    def T(self) -> Pattern:
        """The pattern of the transpose; ``values[order]`` are its values."""
        return self._transposition[0]

    @property
    def order(self) -> Positions:
        """Positions of the elements column by column."""
        return self._transposition[1]

    @functools.cached_property
    def is_symmetric(self) -> bool:
        return self.shape[0] == self.shape[1] and self == self.T

    def chosen(self, keep: np.ndarray) -> tuple[Pattern, Positions]:
        """The elements where a mask over them holds, and their positions."""
        at = np.flatnonzero(keep)
        ends = np.cumsum(
            keep.view(np.int8), dtype=self.indptr.dtype
        )  # of booleans: 16 times slower
        pointers = np.append(np.zeros(1, ends.dtype), ends)[self.indptr]
        return Pattern.of_rows(pointers, self.columns[at], self.shape), at

    def union(self, other: Pattern) -> tuple[Pattern, Positions, Positions]:
        """The elements of either, and the positions of both in it."""
        return self.kept(("union", other), lambda: self._union(other))

    def _union(self, other: Pattern) -> tuple[Pattern, Positions, Positions]:
        keys = np.sort(np.concatenate([self.keys, other.keys]), kind="stable")  # merges two runs
        keys = keys[np.diff(keys, prepend=-1) > 0]
        whole = Pattern.of_keys(keys, self.shape)
        return whole, np.searchsorted(keys, self.keys), np.searchsorted(keys, other.keys)

    def common(self, other: Pattern) -> tuple[Pattern, Positions, Positions]:
        """The elements of both, and their positions in each."""
        keys, mine, others = np.intersect1d(self.keys, other.keys, True, return_indices=True)
        return Pattern.of_keys(keys, self.shape), mine, others

    def product(self, other: Pattern) -> tuple[Pattern, Pattern, Positions, Positions]:
        """Of the product of two matrices: the elements, and which products of elements go into each.

        The second result has a row for each element and a column for each product; then follow the
        positions of the two factors of each product.
        """
        return self.kept(("factors", other), lambda: self._product(other))

    def _product(self, other: Pattern) -> tuple[Pattern, Pattern, Positions, Positions]:
        each = other.lengths[self.columns].astype(np.int64)
        left = np.repeat(np.arange(self.nnz), each)
        first = other.indptr[self.columns].astype(np.int64)
        offsets = np.arange(len(left)) - np.repeat(np.cumsum(each) - each, each)
        right = np.repeat(first, each) + offsets
        shape = (self.shape[0], other.shape[1])
        rows, columns, order = by_place(self.rows[left], other.columns[right], shape)
        left, right = left[order], right[order]
        new = _first_of_each(rows, columns)
        made = Pattern.of_rows(pointers_of(rows[new], shape[0]), columns[new], shape)
        pointers, keys = np.append(new, len(rows)), rows
        sums = Pattern.of_rows(pointers, np.arange(len(keys)), (made.nnz, len(keys)))
        return made, sums, left, right

    # Sums of rows

    @functools.cached_property
    def buckets(self) -> tuple[list[Bucket], np.ndarray | None]:
        """Rows by length, and where each row's sum stands when those of all buckets are put together.

        Lengths that few rows have share a bucket with longer ones: a bucket costs as much as many empty places.
        Where there are many lengths, those up to the same power of two share one from the start.
        """
        lengths = self.lengths
        sizes = np.unique(lengths)
        if not len(sizes):
            return [], None
        if len(sizes) > _MOST_LENGTHS:
            sizes = np.unique(2 ** np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.int64))
        sizes = _shared(sizes, np.bincount(np.searchsorted(sizes, lengths), minlength=len(sizes)))
        kind = np.searchsorted(sizes, lengths)
        order = np.argsort(kind.astype(np.int16), kind="stable")  # by radix
        ends = np.cumsum(np.bincount(kind, minlength=len(sizes)))
        made = [
            self._bucket(rows, int(size))
            for rows, size in zip(np.split(order, ends[:-1]), sizes, strict=True)
            if len(rows)
        ]
        return made, None if len(made) < 2 else inverse_of(order).astype(self.indices.dtype)

    def pieces(self, longest: int) -> tuple[Pattern, Pattern]:
        """Rows cut into pieces of so many elements at most: the pattern of the pieces, and which make up each row."""

        def cut() -> tuple[Pattern, Pattern]:
            count = -(-self.lengths.astype(np.int64) // longest)
            ends = np.concatenate([[0], np.cumsum(count)])
            total = int(ends[-1])
            row = np.repeat(np.arange(self.shape[0]), count)
            starts = self.indptr[row] + longest * (np.arange(total) - ends[row])
            fine = Pattern.of_rows(
                np.append(starts, self.nnz), self.indices, (total, self.shape[1])
            )
            return fine, Pattern.of_rows(ends, np.arange(total), (self.shape[0], total))

        return self.kept(("pieces", longest), cut)

    def _bucket(self, rows: np.ndarray, size: int) -> Bucket:
        step = np.arange(size)[:, None]
        at = self.indptr[rows] + step
        valid = step < self.lengths[rows]
        at = np.where(valid, at, 0).astype(self.indices.dtype)
        return Bucket(at, self.columns[at] if self.nnz else at, None if valid.all() else valid)


_MOST_KEPT = 256  # things about a pattern
_MOST_SHARED = 256
_shared_patterns: OrderedDict[bytes, Pattern] = OrderedDict()


def shared(pattern: Pattern) -> Pattern:
    """The pattern of this content that was asked for before, with what is kept of it."""
    found = _shared_patterns.setdefault(pattern.digest, pattern)
    _shared_patterns.move_to_end(pattern.digest)
    while len(_shared_patterns) > _MOST_SHARED:
        _shared_patterns.popitem(last=False)
    return found


_MOST_LENGTHS = 32
_BUCKET = 4000  # empty places that cost about what a bucket does


def _shared(sizes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Which lengths end a bucket, so that places, empty ones included, and buckets cost least."""
    best, cut = [0], []
    for j in range(len(sizes)):
        costs = [best[i] + sizes[j] * counts[i : j + 1].sum() + _BUCKET for i in range(j + 1)]
        cut.append(int(np.argmin(costs)))
        best.append(min(costs))
    ends, j = [], len(sizes)
    while j:
        ends.append(j - 1)
        j = cut[j - 1]
    return sizes[ends[::-1]]


def places(who: str, rows: Any, columns: Any, shape: Any) -> tuple[Pattern, Positions]:
    """The pattern of places in any order, some perhaps twice, and the position of each one given in it."""
    rows, columns = (integers(who, n, x) for n, x in (("rows", rows), ("columns", columns)))
    shape = checked_shape(who, shape)
    if rows.shape != columns.shape:
        raise errors.shape_mismatch(who, "need a column for each row", rows=rows, columns=columns)
    for name, x, size in (("rows", rows, shape[0]), ("columns", columns, shape[1])):
        if len(x) and (x.min() < 0 or x.max() >= size):
            worst = int(x.min() if x.min() < 0 else x.max())
            raise errors.bad_argument(
                who, name, worst, f"from 0 to {size - 1}, as the shape {shape} says"
            )
    rows, columns, order = by_place(rows, columns, shape)
    new = _first_of_each(rows, columns)
    at = np.empty(len(order), np.int64)
    at[order] = np.repeat(np.arange(len(new)), np.diff(new, append=len(rows)))
    return Pattern.of_rows(pointers_of(rows[new], shape[0]), columns[new], shape), at


def is_scipys(x: Any) -> bool:
    return type(x).__module__.startswith("scipy.sparse") and hasattr(x, "tocoo")


def scipys(p: Pattern, values: np.ndarray) -> Any:
    """SciPy's matrix."""
    import scipy.sparse

    return scipy.sparse.csr_array((values, p.indices, p.indptr), shape=p.shape)


def sampled(a: Any, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Of SciPy's matrix the elements at places; 0 where it has none."""
    found = a[rows, columns]  # of some versions sparse
    return np.asarray(found if isinstance(found, np.ndarray) else found.toarray()).reshape(-1)


def parts_of_scipys(a: Any) -> tuple[np.ndarray, Pattern]:
    """Values and pattern of a sparse matrix of SciPy's; what is given twice is added."""
    made = a.tocsr().copy()
    made.sum_duplicates()
    made.sort_indices()
    shape = checked_shape("sparse.from_scipy", made.shape)
    return made.data, Pattern.of_rows(made.indptr, made.indices, shape)


# Orders of many small integers


_FEW = 1000  # that are sorted or looked for before SciPy is loaded


def stable_order(x: np.ndarray, n: int) -> Positions:
    """Where the integers x, from 0 to n - 1, stand in order; equal ones as they were.

    By counting, as SciPy's conversion between formats does it, where they are not far between.
    """
    if len(x) < _FEW or n > 8 * len(x) or (x[1:] >= x[:-1]).all():
        return np.argsort(x, kind="stable")
    import scipy.sparse

    wide = np.int32 if max(n, len(x)) < 2**31 - 1 else np.int64
    parts = np.arange(len(x), dtype=wide), x.astype(wide), np.array([0, len(x)], wide)
    return scipy.sparse.csr_array(parts, shape=(1, n)).tocsc().data.astype(np.int64)


def inverse_of(order: np.ndarray) -> Positions:
    """The permutation that undoes one."""
    made = np.empty(len(order), np.int64)
    made[order] = np.arange(len(order))
    return made


def by_place(
    rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, Positions]:
    """Rows and columns in the order of elements, row by row, and where each was."""
    first = stable_order(columns, shape[1])
    order = first[stable_order(rows[first], shape[0])]
    return rows[order], columns[order], order


def pointers_of(rows: np.ndarray, m: int) -> np.ndarray:
    """Where the elements of each row begin, and where those of the last end."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=m))])


def _first_of_each(rows: np.ndarray, columns: np.ndarray) -> Positions:
    """Of ordered places the positions of those that differ from the one before."""
    new = np.ones(len(rows), bool)
    new[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    return np.flatnonzero(new)


def elements_of(p: Pattern, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the elements of these rows, row by row, and how many each row has."""
    each = p.lengths[rows].astype(np.int64)
    return runs(p.indptr[rows], each), each


def runs(start: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """start[0], start[0] + 1, …, start[1], start[1] + 1, …, of each as many as ``lengths`` says."""
    ends = np.cumsum(lengths)
    return np.repeat(start - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0)


def checked_shape(who: str, shape: Any) -> tuple[int, int]:
    try:
        m, n = (operator.index(s) for s in shape)
    except (TypeError, ValueError):
        raise errors.bad_argument(who, "shape", shape, "two integers, (rows, columns)") from None
    if m < 0 or n < 0:
        raise errors.bad_argument(who, "shape", shape, "not negative")
    return m, n


def index_of(who: str, name: str, k: Any) -> int:
    try:
        return operator.index(k)
    except TypeError:
        raise errors.bad_argument(who, name, k, "an integer") from None


def integers(who: str, name: str, x: Any) -> np.ndarray:
    x = np.asarray(x)
    if x.ndim != 1 or (x.size and x.dtype.kind not in "iu"):
        raise errors.bad_argument(
            who, name, x, "a list or 1-d array of integers, known before tracing"
        )
    return x.astype(np.int64)


def drawn(p: Pattern, most: int = 32) -> str:
    """The places as a picture in text, a row of it for some rows of the matrix: ``·`` where there is none."""
    m, n = (min(size, most) for size in p.shape)
    if not m or not n:
        return ""
    fields = np.zeros((m, n), bool)
    fields[p.rows * m // p.shape[0], p.columns * n // p.shape[1]] = True
    return "\n".join(" ".join("■" if x else "·" for x in row) for row in fields)
