"""Matrices with names, for ``xcore.scipy.linalg``. Those of given numbers are differentiable."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import Array, ArrayLike, DTypeLike, errors, one_of


def _line(x):
    return xnp.atleast_1d(xnp.asarray(x))


def _under(first_row, below):
    """A square matrix with this first row, and these numbers under its diagonal."""
    n = first_row.shape[-1]
    i, j = np.ogrid[1:n, :n]
    rest = xnp.where(j == i - 1, below[..., :, None], 0).astype(first_row.dtype)
    return xnp.concatenate([first_row[..., None, :], rest], axis=-2)


def hankel(c: ArrayLike | Sequence[Any], r: ArrayLike | Sequence[Any] | None = None) -> Array:
    """The matrix a[i, j] that depends on i + j alone: first column c, last row r, else zeros.

    Args:
      c: first column (m,).
      r: last row (n,), of which the first element is not read; zeros by default.

    >>> hankel([1, 2, 3])
    Array([[1, 2, 3],
           [2, 3, 0],
           [3, 0, 0]], dtype=int32)
    """
    c = _line(c)
    r = xnp.zeros_like(c) if r is None else _line(r)
    i, j = np.ogrid[: c.shape[-1], : r.shape[-1]]
    return xnp.concatenate([c, r[..., 1:]], axis=-1)[..., i + j]


def circulant(c: ArrayLike | Sequence[Any]) -> Array:
    """The matrix a[i, j] = c[i - j].

    Args:
      c: the first column, of length n; of each matrix of a batch (..., n).

    >>> import xcore.numpy as xnp
    >>> circulant(xnp.asarray([1, 2, 3]))
    Array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]], dtype=int32)
    """
    c = _line(c)
    i, j = np.ogrid[: c.shape[-1], : c.shape[-1]]
    return c[..., (i - j) % max(c.shape[-1], 1)]


def _coefficients(who: str, a):
    a = _line(a)
    if a.shape[-1] < 2:
        raise errors.bad_argument(f"scipy.linalg.{who}", "a", a, "two coefficients or more")
    if type(a) is Array and bool((a[..., 0] == 0).any()):  # of traced ones nothing is known
        raise errors.bad_argument(f"scipy.linalg.{who}", "a", a, "such that a[0] is not 0")
    return a


def companion(a: ArrayLike | Sequence[Any]) -> Array:
    """The matrix whose eigenvalues are the roots of the polynomial a[0] xⁿ + … + a[n].

    Args:
      a: two or more coefficients, that of the highest power first and not 0; or a batch (..., n + 1).

    >>> companion([1.0, -3.0, 2.0])
    Array([[ 3., -2.],
           [ 1.,  0.]], dtype=float32)
    """
    a = _coefficients("companion", a)
    row = -a[..., 1:] / a[..., :1]
    return _under(row, xnp.ones_like(row[..., 1:]))


def fiedler_companion(a: ArrayLike | Sequence[Any]) -> Array:
    """The matrix of five diagonals whose eigenvalues are the roots of a[0] xⁿ + … + a[n].

    It is a product of elementary factors, those of odd number before those of even number.
    (Fiedler 2003, "A note on companion matrices")

    Args:
      a: two or more coefficients, that of the highest power first and not 0; or a batch (..., n + 1).

    >>> fiedler_companion([1.0, -3.0, 2.0])
    Array([[ 3., -2.],
           [ 1.,  0.]], dtype=float32)
    """
    a = _coefficients("fiedler_companion", a)
    c = -a[..., 1:] / a[..., :1]
    n = c.shape[-1]
    i, j = np.ogrid[:n, :n]
    value = (i % 2 == 0) & ((j == i + 1) | (j == np.maximum(i - 1, 0)))
    one = (i % 2 == 0) & (j == i + 2) | (i % 2 == 1) & (j == np.maximum(i - 2, 0))
    values = c[..., np.minimum(np.where(j > i, i + 1, i), n - 1)]
    return xnp.where(value, values, one).astype(c.dtype)


def leslie(f: ArrayLike | Sequence[Any], s: ArrayLike | Sequence[Any]) -> Array:
    """The matrix of a population by age: fertilities f in its first row, rates of survival below
    the diagonal.

    Args:
      f: vector (..., n), a fertility for each age.
      s: vector (..., n - 1), the rates of survival.

    >>> leslie([0.0, 2.0], [0.5])
    Array([[0. , 2. ],
           [0.5, 0. ]], dtype=float32)
    """
    f, s = _line(f), _line(s)
    if f.shape[-1] != s.shape[-1] + 1:
        raise errors.shape_mismatch("scipy.linalg.leslie", "need one more of f than of s", f=f, s=s)
    dtype = xnp.result_type(f, s)
    lead = xnp.broadcast_shapes(f.shape[:-1], s.shape[:-1])
    f, s = (xnp.broadcast_to(x, (*lead, x.shape[-1])).astype(dtype) for x in (f, s))
    return _under(f, s)


def fiedler(a: ArrayLike | Sequence[Any]) -> Array:
    """The distances |a[i] - a[j]|.

    Args:
      a: n numbers, or a batch (..., n).

    >>> fiedler([1, 4])
    Array([[0, 3],
           [3, 0]], dtype=int32)
    """
    a = _line(a)
    return xnp.abs(a[..., :, None] - a[..., None, :])


def convolution_matrix(a: ArrayLike | Sequence[Any], n: int, mode: str = "full") -> Array:
    """The matrix m with m @ x = convolve(a, x, mode) for x of n elements.

    Args:
      a: vector.
      n: int; columns.
      mode: "full", "same" or "valid", as for ``convolve``.

    >>> convolution_matrix([1, 2], 2)
    Array([[1, 0],
           [2, 1],
           [0, 2]], dtype=int32)
    """
    a, modes = _line(a), ("full", "same", "valid")
    k = a.shape[-1]
    if not isinstance(n, (int, np.integer)) or n < 1:
        raise errors.bad_argument("scipy.linalg.convolution_matrix", "n", n, "an int of 1 or more")
    if k < 1:
        raise errors.bad_argument("scipy.linalg.convolution_matrix", "a", a, "one number or more")
    one_of("scipy.linalg.convolution_matrix", "mode", mode, modes, str(modes))
    i, j = np.ogrid[: k + n - 1, :n]
    inside = (i >= j) & (i - j < k)
    whole = xnp.where(inside, a[..., np.clip(i - j, 0, k - 1)], 0).astype(a.dtype)
    keep = {"full": k + n - 1, "same": max(k, n), "valid": max(k, n) - min(k, n) + 1}[mode]
    start = (k + n - 1 - keep) // 2
    return whole[..., start : start + keep, :]


def khatri_rao(a: ArrayLike | Sequence[Any], b: ArrayLike | Sequence[Any]) -> Array:
    """Kronecker's products of the columns of a with those of b, side by side.

    Args:
      a: matrix (m, k).
      b: matrix (n, k).

    >>> khatri_rao([[1, 2]], [[3, 4], [5, 6]])
    Array([[ 3,  8],
           [ 5, 12]], dtype=int32)
    """
    a, b = xnp.asarray(a), xnp.asarray(b)
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-1]:
        why = "need matrices of as many columns"
        raise errors.shape_mismatch("scipy.linalg.khatri_rao", why, a=a, b=b)
    whole = a[..., :, None, :] * b[..., None, :, :]
    return whole.reshape(*whole.shape[:-3], a.shape[-2] * b.shape[-2], a.shape[-1])


# Of a size, nothing else


def hilbert(n: int) -> Array:
    """The Hilbert matrix, 1 / (i + j + 1).

    Args:
      n: how many rows and columns.

    >>> [round(float(x), 4) for x in hilbert(3)[1]]
    [0.5, 0.3333, 0.25]
    """
    i, j = np.ogrid[:n, :n]
    return 1.0 / xnp.asarray(i + j + 1, float)


def invhilbert(n: int, exact: bool = False) -> Array:
    """The inverse of the Hilbert matrix, whose elements are integers, as floats in either case.

    (-1)^{i+j} (i + j + 1) C(n + i, n - j - 1) C(n + j, n - i - 1) C(i + j, i)²

    Args:
      n: int; rows and columns.
      exact: of no effect: elements are computed exactly, and then rounded.

    >>> invhilbert(2)
    Array([[ 4., -6.],
           [-6., 12.]], dtype=float32)
    """

    def element(i: int, j: int) -> float:
        size = math.comb(n + i, n - j - 1) * math.comb(n + j, n - i - 1) * math.comb(i + j, i) ** 2
        return float((-1) ** (i + j) * (i + j + 1) * size)

    return _by_elements(n, element) * 1.0


def _by_elements(n: int, element):
    """The matrix of numbers that Python computes: exact as long as they are integers."""
    rows = [[element(i, j) for j in range(n)] for i in range(n)]
    return xnp.asarray(rows) if n else xnp.zeros((0, 0))


_PASCAL = {
    "symmetric": lambda i, j: math.comb(i + j, i),
    "lower": math.comb,
    "upper": lambda i, j: math.comb(j, i),
}


def pascal(n: int, kind: str = "symmetric", exact: bool = True) -> Array:
    """Binomial coefficients: C(i + j, i), or the factor of that matrix that is "lower" or "upper";
    as floats unless ``exact``.

    Args:
      n: int; rows and columns.
      kind: "symmetric", "lower" or "upper".
      exact: whether the elements are integers, not floats.

    >>> pascal(3)
    Array([[1, 1, 1],
           [1, 2, 3],
           [1, 3, 6]], dtype=int32)
    """
    of = _PASCAL[_kind("pascal", kind)]
    return _by_elements(n, of) if exact else _by_elements(n, lambda i, j: float(of(i, j)))


def _kind(who: str, kind):
    kind = "symmetric" if kind is None else kind  # as in JAX
    one_of(f"scipy.linalg.{who}", "kind", kind, _PASCAL, f"one of {tuple(_PASCAL)}")
    return kind


def invpascal(n: int, kind: str = "symmetric", exact: bool = True) -> Array:
    """The inverse of ``pascal(n, kind)``, of integers too; as floats unless ``exact``.

    Args:
      n: int; rows and columns.
      kind: "symmetric", "lower" or "upper".
      exact: whether the elements are integers.

    >>> invpascal(2)
    Array([[ 2, -1],
           [-1,  1]], dtype=int32)
    """
    kind = _kind("invpascal", kind)
    of = _PASCAL[kind]
    if kind == "symmetric":
        of = lambda i, j: sum(math.comb(k, i) * math.comb(k, j) for k in range(n))  # noqa: E731
    number = int if exact else float
    return _by_elements(n, lambda i, j: number((-1) ** (i + j) * of(i, j)))


def hadamard(n: int, dtype: DTypeLike | None = None) -> Array:
    """Sylvester's matrix of orthogonal rows of ones and minus ones; n is a power of two.

    Args:
      n: int; rows and columns, a power of two.
      dtype: of the elements.

    >>> hadamard(2)
    Array([[ 1,  1],
           [ 1, -1]], dtype=int32)
    """
    if n < 1 or n & (n - 1):
        raise errors.bad_argument("scipy.linalg.hadamard", "n", n, "a power of two")
    found = _by_elements(n, lambda i, j: (-1) ** (i & j).bit_count())
    return found if dtype is None else found.astype(dtype)


def helmert(n: int, full: bool = False) -> Array:
    """Orthonormal rows, each the contrast of an element with the mean of those before it; ``full``
    puts a row of equal numbers first.

    Args:
      n: int; rows and columns.
      full: with the first row, so that it is square.

    >>> helmert(2).round(4)
    Array([[ 0.7071, -0.7071]], dtype=float32)
    """
    i, j = np.ogrid[:n, :n]
    rows = np.where(j < i, 1.0, np.where(j == i, -i * 1.0, 0)) / np.sqrt(np.maximum(i * (i + 1), 1))
    rows[:1] = 1 / np.sqrt(max(n, 1))
    return xnp.asarray(rows[0 if full else 1 :].tolist()).reshape(-1, n)


def dft(n: int, scale: str | None = None, *, dtype: DTypeLike | None = None) -> Array:
    """The matrix of the discrete Fourier transform; ``scale`` is None, "sqrtn" or "n"; complex.

    Args:
      n: int; rows and columns.
      scale: None, "sqrtn" or "n": what the matrix is divided by.
      dtype: of the elements.

    >>> dft(2).real.round(4)
    Array([[ 1.,  1.],
           [ 1., -1.]], dtype=float32)
    """
    scales = {None: 1, "sqrtn": math.sqrt(n), "n": n}
    one_of("scipy.linalg.dft", "scale", scale, scales, f"one of {tuple(scales)}")
    i, j = np.ogrid[:n, :n]
    angle = 2 * np.pi / max(n, 1) * (i * j % max(n, 1))
    values = (np.cos(angle) - 1j * np.sin(angle)) / scales[scale]
    found = xnp.asarray(values) if dtype is not None else xnp.asarray(values.tolist())
    return found.reshape(n, n).astype(found.dtype if dtype is None else dtype)
