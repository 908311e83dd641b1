"""scipy.sparse: matrices of ``xcore.sparse`` under SciPy's names, and the modules ``linalg`` and ``csgraph``."""

import importlib as _importlib
from typing import Any as _Any

import numpy as _np

from ... import numpy as _xnp
from ... import random as _random
from ..._core import Array as _Array
from ..._core import DTypeLike as _DType
from ..._core import boundary as _boundary
from ..._core import errors as _errors
from ...sparse import Dia as _Dia
from ...sparse import Sparse as _Sparse
from ...sparse import (
    block_array,
    block_diag,
    bsr_array,
    coo_array,
    csc_array,
    csr_array,
    dia_array,
    diags,
    diags_array,
    eye,
    eye_array,
    hstack,
    identity,
    issparse,
    kron,
    kronsum,
    tril,
    triu,
    vstack,
)
from ...sparse import random_array as _random_array
from .._names import guide as _guide
from . import csgraph, linalg


@_boundary
def random_array(
    shape: tuple[int, int], *, density: float = 0.01, format: str | None = None, dtype: _DType | None = None,
    rng: _Any = None,
) -> _Sparse:  # fmt: skip
    """Uniform values in [0, 1) at random places, by SciPy's arguments; see ``xcore.sparse.random_array``.

    Args:
      shape: (rows, columns).
      density: which part of the places.
      format: of no effect.
      dtype: of the values, floating.
      rng: a key of ``xcore.random``, or an int; 0 by default.

    >>> random_array((10, 10), density=0.2, rng=1)
    Sparse(10x10, 20 elements, 0.2 of all, float32)
    """
    key = _random.key(0 if rng is None else rng) if rng is None or isinstance(rng, int) else rng
    return _random_array(key, shape, density=density, format=format, dtype=dtype)


@_boundary
def random(
    m: int, n: int, density: float = 0.01, format: str | None = None, dtype: _DType | None = None, rng: _Any = None,
    *, random_state: _Any = None,
) -> _Sparse:  # fmt: skip
    """``random_array`` by SciPy's older arguments.

    Args:
      m, n: rows and columns.
      density, format, dtype, rng: as for ``random_array``.
      random_state: the older name of ``rng``.

    >>> random(10, 10, density=0.2, rng=1)
    Sparse(10x10, 20 elements, 0.2 of all, float32)
    """
    rng = random_state if rng is None else rng
    return random_array((m, n), density=density, format=format, dtype=dtype, rng=rng)


bmat = block_array


@_boundary
def spdiags(
    data: _Any, diags: _Any, m: _Any = None, n: int | None = None, format: str | None = None
) -> _Dia:
    """A matrix of diagonals: of data[k] on diagonal diags[k] each element counts its column, as in MATLAB.

    Args:
      data: rows, one for each diagonal.
      diags: which: 0 is the main one, 1 above, -1 below.
      m, n: rows and columns; or m is the pair; square by default.
      format: of no effect.

    >>> spdiags([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [0, 1], 3, 3).todense()
    Array([[1., 5., 0.],
           [0., 2., 6.],
           [0., 0., 3.]], dtype=float32)
    """
    shape = m if n is None else (m, n)
    if shape is not None and (_np.ndim(shape) != 1 or len(shape) != 2):
        want = "rows and columns, as spdiags(data, diags, 3, 3) or (3, 3)"
        raise _errors.bad_argument("scipy.sparse.spdiags", "m, n", (m, n), want)
    rows = _xnp.atleast_2d(_xnp.asarray(data))
    if shape is not None:  # what is behind the last column does not count, what is missing is 0
        rows = _xnp.pad(rows[:, : shape[1]], ((0, 0), (0, max(0, shape[1] - rows.shape[1]))))
    return dia_array((rows, diags), shape)


@_boundary
def find(A: _Any) -> tuple[_np.ndarray, _np.ndarray, _Array]:
    """(rows, columns, values) of the elements that are not 0; values must be known.

    Args:
      A: a matrix, sparse or dense.

    >>> find([[0.0, 2.0]])[2]
    Array([2.], dtype=float32)
    """
    a = coo_array(A).eliminate_zeros()
    return (*a.nonzero(), a.values)


@_boundary
def save_npz(file: _Any, matrix: _Any, compressed: bool = True) -> None:
    """Writes a matrix of known values as SciPy does.

    Args:
      file: a name, or a file that is open for bytes.
      matrix: the matrix.
      compressed: whether the file is.

    >>> import io
    >>> save_npz(io.BytesIO(), eye_array(2))
    """
    _importlib.import_module("scipy.sparse").save_npz(
        file, coo_array(matrix).to_scipy(), compressed
    )


@_boundary
def load_npz(file: _Any) -> _Sparse:
    """A matrix from a file of ``save_npz`` or of SciPy's.

    Args:
      file: a name, or a file that is open for bytes.

    >>> import io
    >>> save_npz(file := io.BytesIO(), eye_array(2))
    >>> load_npz(io.BytesIO(file.getvalue()))
    Sparse(2x2, 2 elements, 0.5 of all, float32)
    """
    return coo_array(_importlib.import_module("scipy.sparse").load_npz(file))


__all__ = [
    "block_array", "block_diag", "bmat", "bsr_array", "coo_array", "csc_array", "csgraph", "csr_array", "dia_array",
    "diags", "diags_array", "eye", "eye_array", "find", "hstack", "identity", "issparse", "kron", "kronsum", "linalg",
    "load_npz", "random", "random_array", "save_npz", "spdiags", "tril", "triu", "vstack",
]  # fmt: skip

_ABSENT = {
    "csr_matrix csc_matrix coo_matrix bsr_matrix dia_matrix":
        "Matrices whose * is the product are SciPy's old form: take csr_array, csc_array, bsr_array, …, and @.",
    "dok_array lil_array": "All are stored by rows here: take coo_array or csr_array.",
}  # fmt: skip
__getattr__ = _guide(__name__, _ABSENT)
