"""Types of xcore.numpy.linalg. Written by tools/stubs.py."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, overload

import numpy as np

from xcore._core.array import Array
from xcore._core.typing import ArrayLike, Axis, DTypeLike, Key, Shape

from xcore.numpy._types import DType
from xcore._core.typing import DeviceLike
from numpy.linalg import LinAlgError as LinAlgError
from xcore.numpy._determinant import SlogdetResult as SlogdetResult
from xcore.numpy._matrices import EigResult as EigResult
from xcore.numpy._matrices import EighResult as EighResult
from xcore.numpy._matrices import QRResult as QRResult
from xcore.numpy._matrices import SVDResult as SVDResult

def cholesky(a: ArrayLike, *, upper: bool = False, symmetrize_input: bool = True) -> Array:
    """The triangular factor L of a Hermitian positive definite matrix, a = L Lᴴ."""
@overload
def qr(a: ArrayLike, mode: Literal['reduced'] = 'reduced') -> QRResult: ...
@overload
def qr(a: ArrayLike, mode: str = 'reduced') -> Any:
    """The factors of a = Q R with orthonormal columns in Q and R upper triangular."""
@overload
def svd(a: ArrayLike, full_matrices: bool = True, compute_uv: Literal[True] = True, hermitian: bool = False, subset_by_index: Any = None) -> SVDResult: ...
@overload
def svd(a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False, subset_by_index: Any = None) -> Any:
    """The singular value decomposition a = U diag(S) Vh."""
def svdvals(x: ArrayLike, /) -> Array:
    """Singular values, in descending order."""
def eig(a: ArrayLike) -> EigResult:
    """Eigenvalues and (right) eigenvectors of matrices; both complex."""
def eigvals(a: ArrayLike) -> Array:
    """Eigenvalues of matrices, complex."""
def eigh(a: ArrayLike, UPLO: str | None = None, symmetrize_input: bool | None = None) -> EighResult:
    """Eigenvalues and orthonormal eigenvectors of Hermitian matrices."""
def eigvalsh(a: ArrayLike, UPLO: str | None = None, *, symmetrize_input: bool | None = None) -> Array:
    """Eigenvalues of Hermitian matrices, in ascending order."""
def solve(a: ArrayLike, b: ArrayLike) -> Array:
    """The solution x of a x = b."""
def tensorsolve(a: ArrayLike, b: ArrayLike, axes: int | Sequence[Any] | None = None) -> Array:
    """The x with ``tensordot(a, x, x.ndim) == b``."""
def lstsq(a: ArrayLike, b: ArrayLike, rcond: float | None = None, *, numpy_resid: bool = False) -> tuple[Array, Array, Array, Array]:
    """A least-squares solution of a x = b: among the best x the one of least norm."""
def inv(a: ArrayLike) -> Array:
    """The inverse. To solve equations, ``solve`` is faster and more accurate."""
def pinv(a: ArrayLike, rtol: ArrayLike | None = None, hermitian: bool = False, *, rcond: ArrayLike | None = None) -> Array:
    """The Moore-Penrose inverse."""
def tensorinv(a: ArrayLike, ind: int = 2) -> Array:
    """The inverse with respect to ``tensordot`` over ``ind`` axes."""
def det(a: ArrayLike) -> Array:
    """The determinant; its derivative is right for singular matrices too."""
def slogdet(a: ArrayLike, *, method: str | None = None) -> SlogdetResult:
    """The sign of the determinant and the logarithm of its modulus, which cannot overflow."""
def matrix_rank(A: ArrayLike, tol: ArrayLike | None = None, hermitian: bool = False, *, rtol: ArrayLike | None = None) -> Array:
    """The number of singular values that are not zero up to rounding."""
def cond(x: ArrayLike, p: Any = None) -> Array:
    """The condition number: by how much the solution of equations may exaggerate errors."""
def norm(x: ArrayLike, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Array:
    """The norm of vectors or matrices."""
def vector_norm(x: ArrayLike, /, *, axis: Axis = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """The norm of vectors: (Σ |x|ᵖ)^(1/p)."""
def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: Any = 'fro') -> Array:
    """The norm of matrices, the last two axes."""
def matmul(a: ArrayLike, b: ArrayLike, *, precision: Any = None, preferred_element_type: DTypeLike | None = None, out_sharding: DeviceLike | None = None) -> Array:
    """The product of matrices; stacks of them multiply pairwise. Vectors count as a row or column."""
def multi_dot(arrays: Sequence[ArrayLike], *, precision: Any = None) -> Array:
    """The product of several matrices, in the order that takes least work."""
def matrix_power(a: ArrayLike, n: int) -> Array:
    """A matrix to an integer power; negative ones are powers of the inverse."""
def matrix_transpose(x: ArrayLike, /) -> Array:
    """The last two axes exchanged."""
def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: Axis = -1, precision: Any = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """The sum of conj(x1) * x2 along one axis; other axes broadcast."""
def tensordot(x1: ArrayLike, x2: ArrayLike, /, *, axes: int | Sequence[Any] = 2, precision: Any = None, preferred_element_type: DTypeLike | None = None, out_sharding: DeviceLike | None = None) -> Array:
    """The sum of products over pairs of axes."""
def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: Axis = -1) -> Array:
    """The vector product of vectors of three components."""
def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """All products of an element of one vector with one of another."""
def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Array:
    """The diagonals of matrices, the last two axes."""
def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """The sum along a diagonal of matrices, the last two axes."""
