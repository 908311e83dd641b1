"""Older names and argument lists of ``scipy.sparse``. What they make is as of the newer ones: ``*`` is by elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._core import DTypeLike, Key
from ._making import block_array, diags_array, eye_array, random_array
from ._matrix import Sparse


def diags(
    diagonals: Any, offsets: int | Sequence[int] = 0, shape: tuple[int, int] | None = None,
    format: str | None = None, dtype: DTypeLike | None = None,
) -> Sparse:  # fmt: skip
    """A matrix from its diagonals: ``diags_array`` with SciPy's older list of arguments.

    Args:
      diagonals: a diagonal, or one for each offset; numbers are repeated if the shape is given.
      offsets: which ones: 0 the main one, positive above it.
      shape: (rows, columns); square by default, just large enough.
      format: a name of SciPy's, of no effect: there is one format.
      dtype: of the values.

    >>> diags([1.0, -1.0], [0, 1], (2, 2)).todense()
    Array([[ 1., -1.],
           [ 0.,  1.]], dtype=float32)
    """
    return diags_array(diagonals, offsets=offsets, shape=shape, format=format, dtype=dtype)


def eye(
    m: int,
    n: int | None = None,
    k: int = 0,
    dtype: DTypeLike | None = None,
    format: str | None = None,
) -> Sparse:
    """Ones on a diagonal: ``eye_array`` with SciPy's older list of arguments.

    Args:
      m, n: rows and columns; as many columns as rows by default.
      k: which diagonal, above the main one for k > 0.
      dtype: float32 by default.
      format: a name of SciPy's, of no effect: there is one format.

    >>> eye(3).diagonal()
    Array([1., 1., 1.], dtype=float32)
    """
    return eye_array(m, n, k=k, dtype=dtype, format=format)


def random(
    key: Key, m: int, n: int, density: float = 0.01, format: str | None = None, dtype: DTypeLike | None = None,
) -> Sparse:  # fmt: skip
    """Uniform values in [0, 1) at random places: ``random_array`` with SciPy's older list of arguments, after a key.

    Args:
      key: of ``xcore.random``; the places are drawn on the host, so it must be known.
      m, n: rows and columns.
      density: which part of the places.
      format: a name of SciPy's, of no effect: there is one format.
      dtype: of the values, floating.

    >>> import xcore as xc
    >>> random(xc.random.key(0), 10, 10, 0.2)
    Sparse(10x10, 20 elements, 0.2 of all, float32)
    """
    return random_array(key, (m, n), density=density, format=format, dtype=dtype)


def block(
    blocks: Sequence[Sequence[Any]], format: str | None = None, dtype: DTypeLike | None = None
) -> Sparse:
    """A matrix of blocks in rows; None is a block of zeros: ``block_array``, SciPy's ``bmat``.

    Args:
      blocks: rows of Sparse or dense matrices, or None.
      format: a name of SciPy's, of no effect: there is one format.
      dtype: of the values.

    >>> block([[eye(2), None], [None, 2 * eye(2)]]).diagonal()
    Array([1., 1., 2., 2.], dtype=float32)
    """
    return block_array(blocks, format=format, dtype=dtype)
