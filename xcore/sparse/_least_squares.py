"""Least squares with a sparse matrix, by LU factors on the host or by QR factors within programs."""

from __future__ import annotations

from .._core import Array, ArrayLike, one_of, require
from .._solution import Solution
from ._direct import _solved
from ._making import coo_array
from ._matrix import Sparse
from ._qr import qr
from ._residuals import answered, by_equations, columns_for, scales_of

METHODS = ("lu", "qr")


def lstsq(
    a: Sparse, b: ArrayLike, *, method: str = "lu", ridge: ArrayLike = 0.0, report: bool = False
) -> Array | Solution:
    """The x that makes |a x - b|² + ridge |x|² least, by sparse factors, refined.

    With fewer rows than columns, and no ridge, it is the solution of a x = b of least norm. The rank must be full: that
    of a matrix whose columns (or rows, where those are fewer) depend on each other is refused; a ridge makes it
    full. Derivatives are those of the equations, with respect to a on its pattern.

    Args:
      a: a ``Sparse`` matrix, perhaps a batch of them, or what ``coo_array`` takes.
      b: a vector (m,) or columns (..., m, k).
      method: "lu" of the equations of x and the residual (SuperLU, on the host), or "qr" of a (``factorise(a, "qr")``:
        within programs, on any device).
      ridge: weight of the size of x.
      report: return a ``Solution`` with status and certificate: a bound of the error of x ("error", "digits"),
        the length of a x - b of each column ("residual").

    >>> from xcore import sparse
    >>> a = sparse.coo_array(([1.0, 1.0, 1.0, 1.0, 2.0], ([0, 1, 1, 2, 2], [0, 0, 1, 0, 1])))
    >>> lstsq(a, [1.0, 3.0, 5.0]).round(4)
    Array([1., 2.], dtype=float32)
    """
    who = "sparse.lstsq"
    one_of(who, "method", method, METHODS)
    require("0 or more", who, ridge=ridge)
    a = coo_array(a)
    m, n = a.pattern.shape
    plain = isinstance(ridge, int | float) and ridge == 0
    if method == "qr":
        return qr(a, None if plain else ridge)._answered(who, b, report)
    v, columns, vector = columns_for(who, a, b)
    given, wide = a.like(v), m < n and plain
    d = scales_of(given.H if wide else given)
    x, status, told = by_equations(given, columns, wide, d, ridge, _solved, report)
    return answered(who, x, vector, status, told, "SuperLU", report)
