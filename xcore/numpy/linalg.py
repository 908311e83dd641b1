"""numpy.linalg on xcore arrays, and the linear algebra of the Array API standard.

Matrices are the last two axes; other axes are a batch. Solvers of larger and structured problems
are in `xcore.linalg`.
"""

from numpy.linalg import LinAlgError

from .._core import errors as _errors
from .._core import fused as _fused
from .._core import typeof as _typeof
from .._core.package import bound as _bound
from . import _dot
from ._determinant import SlogdetResult, det, slogdet
from ._dot import matmul, vecdot
from ._equations import (
    inv,
    lstsq,
    matrix_power,
    matrix_rank,
    pinv,
    solve,
    tensorinv,
    tensorsolve,
)  # fmt: skip
from ._matrices import (
    EighResult,
    EigResult,
    QRResult,
    SVDResult,
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    qr,
    svd,
    svdvals,
)  # fmt: skip
from ._norms import cond, matrix_norm, multi_dot, norm, vector_norm
from ._placement import spreads as _spreads
from ._promote import as_array as _as_array
from ._shape import matrix_transpose

# Of names that numpy has twice, this module's follow the Array API.


@_fused(2)
def cross(x1, x2, /, *, axis=-1):
    """The vector product of vectors of three components.

    Args:
      x1, x2: arrays; other axes broadcast.
      axis: where the components are.

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.cross(xnp.asarray([1, 0, 0]), xnp.asarray([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    x1, x2 = (_as_array("numpy.linalg.cross", x) for x in (x1, x2))
    for x in (x1, x2):
        if not -_typeof(x).ndim <= axis < _typeof(x).ndim or _typeof(x).shape[axis] != 3:
            why = f"need 3 components along axis {axis}"
            raise _errors.shape_mismatch("numpy.linalg.cross", why, x1=x1, x2=x2)
    return _dot.cross(x1, x2, axis=axis)


@_fused(2)
def outer(x1, x2, /):
    """All products of an element of one vector with one of another.

    Args:
      x1, x2: arrays of one axis.

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.outer(xnp.arange(2), xnp.arange(3))
    Array([[0, 0, 0],
           [0, 1, 2]], dtype=int32)
    """
    x1, x2 = (_as_array("numpy.linalg.outer", x) for x in (x1, x2))
    if _typeof(x1).ndim != 1 or _typeof(x2).ndim != 1:
        raise _errors.shape_mismatch("numpy.linalg.outer", "must be vectors", x1=x1, x2=x2)
    return _dot.outer(x1, x2)


@_fused(2)
@_spreads
def tensordot(x1, x2, /, *, axes=2, precision=None, preferred_element_type=None,
              out_sharding=None):  # fmt: skip
    """The sum of products over pairs of axes.

    Args:
      x1, x2: arrays.
      axes: how many: the last of x1 with the first of x2; or two lists of axes.
      precision, preferred_element_type: as in ``matmul``.

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.tensordot(xnp.ones((2, 3)), xnp.ones((3, 4)), axes=1).shape
    (2, 4)
    """
    return _dot.tensordot(
        x1, x2, axes, precision=precision, preferred_element_type=preferred_element_type
    )


@_fused(1)
def diagonal(x, /, *, offset: int = 0):
    """The diagonals of matrices, the last two axes.

    Args:
      x: matrices (..., m, n).
      offset: which diagonal; positive ones lie above the main one.

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.diagonal(xnp.arange(4).reshape(2, 2))
    Array([0, 3], dtype=int32)
    """
    return _dot.diagonal(x, offset, -2, -1)


@_fused(1)
def trace(x, /, *, offset: int = 0, dtype=None):
    """The sum along a diagonal of matrices, the last two axes.

    Args:
      x: matrices (..., m, n).
      offset: which diagonal; positive ones lie above the main one.
      dtype: in which to compute, and of the result.

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.trace(xnp.eye(3))
    Array(3., dtype=float32)
    """
    return _dot.trace(x, offset, -2, -1, dtype)


__all__ = [
    "LinAlgError", "EigResult", "EighResult", "QRResult", "SVDResult", "SlogdetResult", "cholesky",
    "qr", "svd", "svdvals", "eig", "eigvals", "eigh", "eigvalsh", "solve", "tensorsolve", "lstsq",
    "inv", "pinv", "tensorinv", "det", "slogdet", "matrix_rank", "cond", "norm", "vector_norm",
    "matrix_norm", "matmul", "multi_dot", "matrix_power", "matrix_transpose", "vecdot", "tensordot",
    "cross", "outer", "diagonal", "trace",
]  # fmt: skip

_bound(globals())
