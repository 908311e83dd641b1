"""Sparse matrices from coordinates, diagonals, blocks, dense and SciPy's matrices."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import numpy as xnp
from .. import random
from .._core import Array, ArrayLike, DTypeLike, Key, Tracer, dtypes, errors
from .._width import are_plain
from ._matrix import Sparse, over_batches
from ._named import check_format
from ._pattern import (
    Pattern,
    checked_shape,
    integers,
    is_scipys,
    parts_of_scipys,
    places,
    pointers_of,
    stable_order,
)
from ._products import product_of


def issparse(x: Any) -> bool:
    """Whether x is a sparse matrix of ours: ``Sparse``, ``Dia``, ``Bsr``.

    Args:
      x: any object.

    >>> issparse(eye_array(3))
    True
    """
    return isinstance(x, Sparse) or getattr(x, "stores_elements", False)


def from_scipy(a: Any) -> Sparse:
    """One of SciPy's sparse matrices or arrays, of any format. Elements given twice are added.

    Args:
      a: sparse matrix or sparse array of SciPy.

    >>> import scipy.sparse
    >>> from_scipy(scipy.sparse.eye_array(3))
    Sparse(3x3, 3 elements, 0.33 of all, float64)
    """
    if not is_scipys(a):
        raise errors.bad_argument("sparse.from_scipy", "a", a, "a sparse matrix or array of SciPy")
    return Sparse(*parts_of_scipys(a))


def from_dense(a: ArrayLike, pattern: Pattern | None = None) -> Sparse:
    """A dense matrix: its elements that are not 0, or those of a pattern (then a may be traced).

    Args:
      a: the matrix (..., m, n).
      pattern: the places to keep.

    >>> import xcore.numpy as xnp
    >>> from_dense(xnp.asarray([[0.0, 2.0], [0.0, 0.0]]))
    Sparse(2x2, 1 elements, 0.25 of all, float32)
    """
    a = xnp.asarray(a)
    if a.ndim < 2:
        raise errors.shape_mismatch("sparse.from_dense", "need a matrix", a=a)
    if pattern is None:
        if isinstance(a, Tracer):
            need = "a Pattern for a traced matrix, of which it is not known where it is not 0"
            raise errors.bad_argument("sparse.from_dense", "pattern", pattern, need)
        known = np.asarray(a)
        keep = (known != 0).any(axis=tuple(range(a.ndim - 2)))
        pattern = Pattern(*np.nonzero(keep), a.shape[-2:])
    if pattern.shape != a.shape[-2:]:
        raise errors.shape_mismatch(
            "sparse.from_dense", f"need the pattern's shape, {pattern.shape}", a=a
        )
    return Sparse(a[..., pattern.rows, pattern.columns], pattern)


def coo_array(
    arg: Any,
    shape: tuple[int, int] | None = None,
    dtype: DTypeLike | None = None,
    copy: bool = False,
) -> Sparse:
    """``coo_array((values, (rows, columns)), shape)``; a dense matrix, one of SciPy's, or a shape of zeros.

    Values at the same place are added, and may be traced; rows and columns are known.

    Args:
      arg: what it is made from.
      shape: (rows, columns); by default just large enough.
      dtype: of the values.
      copy: of no effect.

    >>> coo_array(([1.0, 2.0, 3.0], ([0, 1, 1], [1, 0, 0])), shape=(2, 2)).todense()
    Array([[0., 1.],
           [5., 0.]], dtype=float32)
    """
    made = _simply_made(arg, dtype)
    if made is not None:
        return _cast(made, dtype)
    if len(arg) != 2 or not isinstance(arg[1], tuple | list | np.ndarray) or len(arg[1]) != 2:
        raise errors.bad_argument("sparse.coo_array", "arg", arg, "(values, (rows, columns))")
    values, (rows, columns) = arg
    return _cast(_summed("sparse.coo_array", as_values(values, dtype), rows, columns, shape), dtype)


def csr_array(
    arg: Any,
    shape: tuple[int, int] | None = None,
    dtype: DTypeLike | None = None,
    copy: bool = False,
) -> Sparse:
    """``csr_array((values, columns, row_pointers), shape)``, and what ``coo_array`` takes.

    Args:
      arg: what it is made from.
      shape: (rows, columns); by default just large enough.
      dtype: of the values.
      copy: of no effect.

    >>> csr_array(([1.0, 2.0], [1, 0], [0, 1, 2])).todense()
    Array([[0., 1.],
           [2., 0.]], dtype=float32)
    """
    if not isinstance(arg, tuple) or len(arg) != 3:
        return coo_array(arg, shape, dtype)
    values, columns, pointers = arg
    who = "sparse.csr_array"
    columns, pointers = integers(who, "columns", columns), integers(who, "row_pointers", pointers)
    steps = np.diff(pointers)
    if not len(pointers) or pointers[0] or (steps < 0).any() or pointers[-1] != len(columns):
        need = f"numbers from 0 to that of elements, {len(columns)}, that do not fall"
        raise errors.bad_argument(who, "row_pointers", pointers.tolist(), need)
    if shape is not None and checked_shape(who, shape)[0] != len(steps):
        need = f"of {len(steps)} rows, as there are row_pointers for"
        raise errors.bad_argument(who, "shape", shape, need)
    rows = np.repeat(np.arange(len(steps)), steps)
    shape = shape or (len(steps), int(np.max(columns, initial=-1)) + 1)
    return _cast(_summed("sparse.csr_array", as_values(values, dtype), rows, columns, shape), dtype)


def csc_array(
    arg: Any,
    shape: tuple[int, int] | None = None,
    dtype: DTypeLike | None = None,
    copy: bool = False,
) -> Sparse:
    """``csc_array((values, rows, column_pointers), shape)``, and what ``coo_array`` takes.

    Args:
      arg: what it is made from.
      shape: (rows, columns); by default just large enough.
      dtype: of the values.
      copy: of no effect.

    >>> csc_array(([1.0, 2.0], [1, 0], [0, 1, 2])).todense()
    Array([[0., 2.],
           [1., 0.]], dtype=float32)
    """
    if not isinstance(arg, tuple) or len(arg) != 3:
        return coo_array(arg, shape, dtype)
    return csr_array(arg, shape and shape[::-1], dtype).T


def as_values(x: Any, dtype: DTypeLike | None) -> Array:
    """As an array: Python's numbers and lists of them at once in the dtype asked for, that none is narrowed before."""
    return xnp.asarray(x, dtype) if dtype is not None and are_plain(x) else xnp.asarray(x)


def _cast(a: Sparse, dtype: DTypeLike | None) -> Sparse:
    return a if dtype is None else a.astype(dtype)


def _simply_made(arg: Any, dtype: DTypeLike | None) -> Sparse | None:
    if isinstance(arg, Sparse):
        return arg
    if is_scipys(arg):
        return from_scipy(arg)
    if (
        isinstance(arg, tuple)
        and len(arg) == 2
        and all(isinstance(s, int | np.integer) for s in arg)
    ):
        return Sparse(xnp.zeros(0, dtype), Pattern([], [], arg))
    if hasattr(arg, "to_sparse"):  # of diagonals
        return arg.to_sparse()
    return None if isinstance(arg, tuple) else from_dense(as_values(arg, dtype))


def _summed(who: str, values: Any, rows: Any, columns: Any, shape: Any) -> Sparse:
    """Values at places, those at the same one added."""
    values = xnp.asarray(values)
    rows, columns = (integers(who, n, x) for n, x in (("rows", rows), ("columns", columns)))
    if shape is None:
        shape = tuple(int(np.max(i, initial=-1)) + 1 for i in (rows, columns))
    pattern, at = places(who, rows, columns, shape)
    if values.ndim < 1 or values.shape[-1] != len(at):
        raise errors.shape_mismatch(
            who, f"need {len(at)} values, one for each place", values=values
        )
    once = len(at) == pattern.nnz
    order = stable_order(at, pattern.nnz)
    if once:
        return Sparse(values[..., order], pattern)
    ends = pointers_of(at, pattern.nnz)
    groups = Pattern.of_rows(ends, order, (pattern.nnz, len(at)))
    ones = xnp.ones(groups.nnz, values.dtype)
    f, ones, v = over_batches(product_of(groups), (ones, 1), (values, 1))
    return Sparse(f(ones, v), pattern)


# Known matrices


def eye_array(
    m: int, n: int | None = None, k: int = 0, dtype: DTypeLike | None = None,
    format: str | None = None,
) -> Sparse:  # fmt: skip
    """Ones on a diagonal.

    Args:
      m, n: rows and columns; as many columns as rows by default.
      k: which diagonal, above the main one for k > 0.
      dtype: float32 by default.
      format: a name of SciPy's, of no effect: there is one format.

    >>> eye_array(2, 3, k=1).todense()
    Array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    check_format("sparse.eye_array", format)
    n = m if n is None else n
    rows = np.arange(max(0, min(m + min(k, 0), n - max(k, 0)))) - min(k, 0)
    pattern = Pattern(rows, rows + k, (m, n))
    unit = k == 0 and m == n
    return Sparse(xnp.ones(pattern.nnz, dtype), pattern, symmetric=unit, positive=unit)


def identity(n: int, dtype: DTypeLike | None = None, format: str | None = None) -> Sparse:
    """Ones on the diagonal of a square matrix.

    Args:
      n: rows, and columns.
      dtype, format: as for ``eye_array``.

    >>> identity(2).todense()
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return eye_array(n, dtype=dtype, format=format)


def diags_array(
    diagonals: Any, /, offsets: int | Sequence[int] = 0, shape: tuple[int, int] | None = None,
    format: str | None = None, dtype: DTypeLike | None = None,
) -> Sparse:  # fmt: skip
    """A matrix from its diagonals, as SciPy's.

    Args:
      diagonals: a diagonal, or one for each offset; numbers are repeated if the shape is given.
      offsets: which ones: 0 the main one, positive above it.
      shape: (rows, columns); square by default, just large enough.
      format: a name of SciPy's, of no effect: there is one format.
      dtype: of the values.

    >>> diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(3, 3)).todense()
    Array([[ 2., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  2.]], dtype=float32)
    """
    check_format("sparse.diags_array", format)
    several = isinstance(offsets, Sequence | np.ndarray)
    given = [xnp.atleast_1d(as_values(d, dtype)) for d in (diagonals if several else [diagonals])]
    if (
        not several
        and isinstance(diagonals, list | tuple)
        and len(diagonals) == 1
        and np.ndim(diagonals[0])
    ):
        given = [as_values(diagonals[0], dtype)]
    ks = [operator.index(k) for k in offsets] if several else [operator.index(offsets)]
    if len(given) != len(ks) or len(set(ks)) != len(ks):
        need = f"as many different ones as there are diagonals, {len(given)}"
        raise errors.bad_argument("sparse.diags_array", "offsets", offsets, need)
    if shape is None:
        size = max((d.shape[0] + abs(k) for d, k in zip(given, ks, strict=True)), default=0)
        shape = (size, size)
    m, n = checked_shape("sparse.diags_array", shape)
    rows, columns, values = [], [], []
    for d, k in zip(given, ks, strict=True):
        count = max(0, min(m + min(k, 0), n - max(k, 0)))
        if d.shape[0] not in (1, count):
            raise errors.shape_mismatch(
                "sparse.diags_array", f"diagonal {k} of {(m, n)} has {count} elements", diagonal=d
            )
        i = np.arange(count) - min(k, 0)
        rows.append(i)
        columns.append(i + k)
        values.append(xnp.broadcast_to(d, (count,)))
    together = (
        np.concatenate([np.zeros(0, int), *rows]),
        np.concatenate([np.zeros(0, int), *columns]),
    )
    v = xnp.concatenate(values) if values else xnp.zeros(0, dtype)
    return _cast(_summed("sparse.diags_array", v, *together, (m, n)), dtype)


def random_array(
    key: Key, shape: tuple[int, int], *, density: float = 0.01, format: str | None = None,
    dtype: DTypeLike | None = None,
) -> Sparse:  # fmt: skip
    """Uniform values in [0, 1) at random places. Unlike ``scipy.sparse.random_array`` it takes a key first.

    Args:
      key: of ``xcore.random``; the places are drawn on the host, so it must be known.
      shape: (rows, columns).
      density: which part of the places.
      format: a name of SciPy's, of no effect: there is one format.
      dtype: of the values, floating.

    >>> import xcore as xc
    >>> random_array(xc.random.key(0), (10, 10), density=0.2)
    Sparse(10x10, 20 elements, 0.2 of all, float32)
    """
    check_format("sparse.random_array", format)
    m, n = checked_shape("sparse.random_array", shape)
    if not 0 <= density <= 1:
        raise errors.bad_argument("sparse.random_array", "density", density, "from 0 to 1")
    seed = np.asarray(random.key_data(key)).ravel().tolist()
    count = round(density * m * n)
    keys = np.sort(np.random.default_rng(seed).choice(m * n, count, replace=False))
    dtype = dtypes.default_dtype("float") if dtype is None else dtype
    return Sparse(random.uniform(key, (count,), dtype), Pattern.of_keys(keys, (m, n)))


# Put together


def block_array(
    blocks: Sequence[Sequence[Any]], format: str | None = None, dtype: DTypeLike | None = None
) -> Sparse:
    """A matrix of blocks in rows, as ``scipy.sparse.block_array``; None is a block of zeros.

    Args:
      blocks: rows of Sparse or dense matrices, or None.
      format: a name of SciPy's, of no effect: there is one format.
      dtype: of the values.

    >>> a = eye_array(2)
    >>> block_array([[a, None], [None, 2 * a]]).diagonal()
    Array([1., 1., 2., 2.], dtype=float32)
    """
    check_format("sparse.block_array", format)
    grid = [[b if b is None else coo_array(b) for b in row] for row in blocks]
    if not grid or len({len(row) for row in grid}) != 1:
        raise errors.bad_argument(
            "sparse.block_array", "blocks", blocks, "rows of equally many blocks"
        )
    heights = [_one_size(row, 0, f"row {i}") for i, row in enumerate(grid)]
    widths = [_one_size(c, 1, f"column {j}") for j, c in enumerate(zip(*grid, strict=True))]
    top, left = np.cumsum([0, *heights]), np.cumsum([0, *widths])
    there = [
        (b, top[i], left[j])
        for i, row in enumerate(grid)
        for j, b in enumerate(row)
        if b is not None
    ]
    rows = np.concatenate([np.zeros(0, int), *[b.pattern.rows + r for b, r, _ in there]])
    columns = np.concatenate([np.zeros(0, int), *[b.pattern.columns + c for b, _, c in there]])
    lead = np.broadcast_shapes(*[b.shape[:-2] for b, _, _ in there])
    values = [xnp.broadcast_to(b.values, (*lead, b.nnz)) for b, _, _ in there]
    values = xnp.concatenate(values, axis=-1)
    return _cast(
        _summed("sparse.block_array", values, rows, columns, (int(top[-1]), int(left[-1]))), dtype
    )


def _one_size(blocks: Any, axis: int, where: str) -> int:
    sizes = {b.pattern.shape[axis] for b in blocks if b is not None}
    if len(sizes) != 1:
        need = "at least one block in each row and column, all of one size along it"
        raise errors.bad_argument("sparse.block_array", where, sorted(sizes), need)
    return sizes.pop()


def hstack(
    blocks: Sequence[Any], format: str | None = None, dtype: DTypeLike | None = None
) -> Sparse:
    """Matrices beside each other.

    Args:
      blocks: Sparse or dense matrices.
      format, dtype: as for ``block_array``.

    >>> hstack([eye_array(2), eye_array(2)]).shape
    (2, 4)
    """
    return block_array([list(blocks)], format=format, dtype=dtype)


def vstack(
    blocks: Sequence[Any], format: str | None = None, dtype: DTypeLike | None = None
) -> Sparse:
    """Matrices one below the other.

    Args:
      blocks: Sparse or dense matrices.
      format, dtype: as for ``block_array``.

    >>> vstack([eye_array(2), eye_array(2)]).shape
    (4, 2)
    """
    return block_array([[b] for b in blocks], format=format, dtype=dtype)


def block_diag(
    mats: Sequence[Any], format: str | None = None, dtype: DTypeLike | None = None
) -> Sparse:
    """Matrices along the diagonal.

    Args:
      mats: Sparse or dense matrices.
      format, dtype: as for ``block_array``.

    >>> block_diag([eye_array(2), [[5.0]]]).diagonal()
    Array([1., 1., 5.], dtype=float32)
    """
    n = len(mats)
    grid = [[b if i == j else None for j in range(n)] for i, b in enumerate(mats)]
    return block_array(grid, format=format, dtype=dtype)


def kron(A: Any, B: Any, format: str | None = None) -> Sparse:
    """The Kronecker product: B times each element of A.

    Args:
      A, B: Sparse or dense matrices.
      format: a name of SciPy's, of no effect: there is one format.

    >>> kron(eye_array(2), [[1.0, 2.0]]).todense()
    Array([[1., 2., 0., 0.],
           [0., 0., 1., 2.]], dtype=float32)
    """
    check_format("sparse.kron", format)
    a, b = coo_array(A), coo_array(B)
    p, q = a.pattern, b.pattern
    rows = (p.rows[:, None].astype(np.int64) * q.shape[0] + q.rows).reshape(-1)
    columns = (p.columns[:, None].astype(np.int64) * q.shape[1] + q.columns).reshape(-1)
    values = a.values[..., :, None] * b.values[..., None, :]
    values = values.reshape(*values.shape[:-2], len(rows))
    return _summed(
        "sparse.kron", values, rows, columns, (p.shape[0] * q.shape[0], p.shape[1] * q.shape[1])
    )


def kronsum(A: Any, B: Any, format: str | None = None) -> Sparse:
    """The Kronecker sum I ⊗ A + B ⊗ I of square matrices, as SciPy has it.

    Args:
      A, B: Sparse or dense square matrices.
      format: a name of SciPy's, of no effect: there is one format.

    >>> line = diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(3, 3))
    >>> kronsum(line, line).diagonal()[:2]
    Array([4., 4.], dtype=float32)
    """
    check_format("sparse.kronsum", format)
    a, b = coo_array(A), coo_array(B)
    for name, x in (("A", a), ("B", b)):
        if x.pattern.shape[0] != x.pattern.shape[1]:
            raise errors.shape_mismatch("sparse.kronsum", "need square matrices", **{name: x})
    m, n = a.pattern.shape[0], b.pattern.shape[0]
    return kron(eye_array(n, dtype=a.dtype), a) + kron(b, eye_array(m, dtype=b.dtype))


def tril(A: Any, k: int = 0, format: str | None = None) -> Sparse:
    """The elements on and below the k-th diagonal.

    Args:
      A: a Sparse or dense matrix.
      k: the diagonal.
      format: a name of SciPy's, of no effect: there is one format.

    >>> tril([[1.0, 2.0], [3.0, 4.0]]).todense()
    Array([[1., 0.],
           [3., 4.]], dtype=float32)
    """
    check_format("sparse.tril", format)
    a = coo_array(A)
    return a._chosen(a.pattern.columns - a.pattern.rows <= k)


def triu(A: Any, k: int = 0, format: str | None = None) -> Sparse:
    """The elements on and above the k-th diagonal.

    Args:
      A: a Sparse or dense matrix.
      k: the diagonal.
      format: a name of SciPy's, of no effect: there is one format.

    >>> triu([[1.0, 2.0], [3.0, 4.0]]).todense()
    Array([[1., 2.],
           [0., 4.]], dtype=float32)
    """
    check_format("sparse.triu", format)
    a = coo_array(A)
    return a._chosen(a.pattern.columns - a.pattern.rows >= k)
