"""scipy.sparse: matrices of ``xcore.sparse`` under SciPy's names, and the modules ``linalg`` and ``csgraph``."""

# fmt: off
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
    random_array,
    tril,
    triu,
    vstack,
)

# fmt: on
from .._names import guide as _guide
from . import csgraph, linalg

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
    "random": "Take random_array(key, shape).",
    "bmat": "Take block_array.",
    "dok_array lil_array": "All are stored by rows here: take coo_array or csr_array.",
    "load_npz save_npz":
        "Files are SciPy's: scipy.sparse.save_npz(file, a.to_scipy()), csr_array(scipy.sparse.load_npz(file)).",
}  # fmt: skip
__getattr__ = _guide(__name__, _ABSENT)
