"""Matrices with names, for ``xcore.scipy.linalg``. Those of given numbers are differentiable."""

from __future__ import annotations

import math

import numpy as np

from .. import numpy as xnp
from .._core import errors


def _line(x):
    return xnp.asarray(x).reshape(-1)


def _under(first_row, below):
    """A square matrix with this first row, and these numbers under its diagonal."""
    n = first_row.shape[0]
    i, j = np.ogrid[1:n, :n]
    rest = xnp.where(j == i - 1, below[:, None], 0)
    return xnp.concatenate([first_row[None], rest.astype(first_row.dtype)])


def hankel(c, r=None):
    """The matrix a[i, j] that depends on i + j alone: first column c, last row r, else zeros.

    >>> hankel([1, 2, 3])
    Array([[1, 2, 3],
           [2, 3, 0],
           [3, 0, 0]], dtype=int32)
    """
    c = _line(c)
    r = xnp.zeros_like(c) if r is None else _line(r)
    i, j = np.ogrid[: c.shape[0], : r.shape[0]]
    return xnp.concatenate([c, r[1:]])[i + j]


def companion(a):
    """The matrix whose eigenvalues are the roots of the polynomial a[0] xⁿ + … + a[n].

    >>> companion([1.0, -3.0, 2.0])
    Array([[ 3., -2.],
           [ 1.,  0.]], dtype=float32)
    """
    a = _line(a)
    if a.shape[0] < 2:
        raise errors.bad_argument("scipy.linalg.companion", "a", a, "two coefficients or more")
    row = -a[1:] / a[0]
    return _under(row, xnp.ones(row.shape[0] - 1, row.dtype))


def leslie(f, s):
    """The matrix of a population by age: fertilities f in its first row, rates of survival below
    the diagonal.

    >>> leslie([0.0, 2.0], [0.5])
    Array([[0. , 2. ],
           [0.5, 0. ]], dtype=float32)
    """
    f, s = _line(f), _line(s)
    if f.shape[0] != s.shape[0] + 1:
        raise errors.shape_mismatch("scipy.linalg.leslie", "need one more of f than of s", f=f, s=s)
    dtype = xnp.result_type(f, s)
    return _under(f.astype(dtype), s.astype(dtype))


def fiedler(a):
    """The distances |a[i] - a[j]|.

    >>> fiedler([1, 4])
    Array([[0, 3],
           [3, 0]], dtype=int32)
    """
    a = _line(a)
    return xnp.abs(a[:, None] - a)


def convolution_matrix(a, n, mode="full"):
    """The matrix m with m @ x = convolve(a, x, mode) for x of n elements.

    >>> convolution_matrix([1, 2], 2)
    Array([[1, 0],
           [2, 1],
           [0, 2]], dtype=int32)
    """
    a, modes = _line(a), ("full", "same", "valid")
    k = a.shape[0]
    if mode not in modes:
        raise errors.bad_argument("scipy.linalg.convolution_matrix", "mode", mode, str(modes))
    i, j = np.ogrid[: k + n - 1, :n]
    inside = (i >= j) & (i - j < k)
    whole = xnp.where(inside, a[np.clip(i - j, 0, k - 1)], 0).astype(a.dtype)
    keep = {"full": k + n - 1, "same": max(k, n), "valid": max(k, n) - min(k, n) + 1}[mode]
    start = (k + n - 1 - keep) // 2
    return whole[start : start + keep]


def khatri_rao(a, b):
    """Kronecker's products of the columns of a with those of b, side by side.

    >>> khatri_rao([[1, 2]], [[3, 4], [5, 6]])
    Array([[ 3,  8],
           [ 5, 12]], dtype=int32)
    """
    a, b = xnp.asarray(a), xnp.asarray(b)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1]:
        why = "need two matrices of as many columns"
        raise errors.shape_mismatch("scipy.linalg.khatri_rao", why, a=a, b=b)
    return (a[:, None] * b[None]).reshape(-1, a.shape[1])


# --------------------------------------------------------------------------- of a size, nothing else


def hilbert(n):
    """The Hilbert matrix, 1 / (i + j + 1).

    >>> [round(float(x), 4) for x in hilbert(3)[1]]
    [0.5, 0.3333, 0.25]
    """
    i, j = np.ogrid[:n, :n]
    return 1.0 / xnp.asarray(i + j + 1)


def invhilbert(n):
    """The inverse of the Hilbert matrix, whose elements are integers.

    (-1)^{i+j} (i + j + 1) C(n + i, n - j - 1) C(n + j, n - i - 1) C(i + j, i)²

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


def pascal(n, kind="symmetric"):
    """Binomial coefficients: C(i + j, i), or the factor of that matrix that is "lower" or "upper".

    >>> pascal(3)
    Array([[1, 1, 1],
           [1, 2, 3],
           [1, 3, 6]], dtype=int32)
    """
    if kind not in _PASCAL:
        raise errors.bad_argument("scipy.linalg.pascal", "kind", kind, f"one of {tuple(_PASCAL)}")
    return _by_elements(n, _PASCAL[kind])


def invpascal(n, kind="symmetric"):
    """The inverse of ``pascal(n, kind)``, of integers too.

    >>> invpascal(2)
    Array([[ 2, -1],
           [-1,  1]], dtype=int32)
    """
    if kind not in _PASCAL:
        raise errors.bad_argument(
            "scipy.linalg.invpascal", "kind", kind, f"one of {tuple(_PASCAL)}"
        )
    of = _PASCAL[kind]
    if kind == "symmetric":
        of = lambda i, j: sum(math.comb(k, i) * math.comb(k, j) for k in range(n))  # noqa: E731
    return _by_elements(n, lambda i, j: (-1) ** (i + j) * of(i, j))


def hadamard(n):
    """Sylvester's matrix of orthogonal rows of ones and minus ones; n is a power of two.

    >>> hadamard(2)
    Array([[ 1,  1],
           [ 1, -1]], dtype=int32)
    """
    if n < 1 or n & (n - 1):
        raise errors.bad_argument("scipy.linalg.hadamard", "n", n, "a power of two")
    return _by_elements(n, lambda i, j: (-1) ** (i & j).bit_count())


def helmert(n, full=False):
    """Orthonormal rows, each the contrast of an element with the mean of those before it; ``full``
    puts a row of equal numbers first.

    >>> helmert(2).round(4)
    Array([[ 0.7071, -0.7071]], dtype=float32)
    """
    i, j = np.ogrid[:n, :n]
    rows = np.where(j < i, 1.0, np.where(j == i, -i * 1.0, 0)) / np.sqrt(np.maximum(i * (i + 1), 1))
    rows[:1] = 1 / np.sqrt(max(n, 1))
    return xnp.asarray(rows[0 if full else 1 :].tolist()).reshape(-1, n)


def dft(n, scale=None):
    """The matrix of the discrete Fourier transform; ``scale`` is None, "sqrtn" or "n".

    >>> dft(2).real.round(4)
    Array([[ 1.,  1.],
           [ 1., -1.]], dtype=float32)
    """
    scales = {None: 1, "sqrtn": math.sqrt(n), "n": n}
    if scale not in scales:
        raise errors.bad_argument("scipy.linalg.dft", "scale", scale, f"one of {tuple(scales)}")
    i, j = np.ogrid[:n, :n]
    angle = 2 * np.pi / max(n, 1) * (i * j % max(n, 1))
    return xnp.asarray(((np.cos(angle) - 1j * np.sin(angle)) / scales[scale]).tolist()).reshape(
        n, n
    )
