"""scipy.sparse: its module ``linalg``, for operators given by what they do to a vector, and for sparse matrices."""

from .._names import guide as _guide
from . import linalg

__all__ = ["linalg"]

_ABSENT = {
    "csr_matrix csc_matrix coo_matrix csr_array csc_array coo_array bsr_array dia_array dok_array lil_array diags "
    "diags_array eye eye_array identity kron random random_array block_array bmat vstack hstack issparse load_npz "
    "save_npz":
        "Sparse matrices are SciPy's own, from scipy.sparse: the solvers of xcore.scipy.sparse.linalg take them. "
        "Under jit an operator is a function, see xcore.linalg.FunctionOperator.",
    "csgraph": "Graphs work on the host: from scipy.sparse import csgraph.",
}  # fmt: skip
__getattr__ = _guide(__name__, _ABSENT)
