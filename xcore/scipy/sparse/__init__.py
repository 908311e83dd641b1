"""scipy.sparse: matrices of ``xcore.sparse`` under SciPy's names, and the modules ``linalg`` and ``csgraph``."""

from typing import Any as _Any

from ... import random as _random
from ..._core import DTypeLike as _DType
from ..._core import boundary as _boundary
from ...sparse import Sparse as _Sparse
from ...sparse import (
    block_array,
    block_diag,
    bsr_array,
    coo_array,
    csc_array,
    csr_array,
    dia_array,
    diags_array,
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


__all__ = [
    "block_array", "block_diag", "bsr_array", "coo_array", "csc_array", "csgraph", "csr_array", "dia_array",
    "diags_array", "eye_array", "hstack", "identity", "issparse", "kron", "kronsum", "linalg", "random_array", "tril",
    "triu", "vstack",
]  # fmt: skip

_ABSENT = {
    "csr_matrix csc_matrix coo_matrix bsr_matrix dia_matrix":
        "Matrices whose * is the product are SciPy's old form: take csr_array, csc_array, bsr_array, …, and @.",
    "diags": "Take diags_array(diagonals, offsets=offsets).",
    "eye": "Take eye_array.",
    "random": "Take random_array(shape, density=..., rng=...).",
    "bmat": "Take block_array.",
    "dok_array lil_array": "All are stored by rows here: take coo_array or csr_array.",
    "load_npz save_npz":
        "Files are SciPy's: scipy.sparse.save_npz(file, a.to_scipy()), csr_array(scipy.sparse.load_npz(file)).",
}  # fmt: skip
__getattr__ = _guide(__name__, _ABSENT)
