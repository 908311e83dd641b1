"""Factorisations of matrices, and what is read off them: the first half of numpy.linalg."""

from __future__ import annotations

import operator
from typing import NamedTuple

from .. import _ops as ops
from .._control.checks import report
from .._core import Array, config, dtypes, errors, findings, fused, one_of, typeof
from .._ops.matrices import adjoint, swapped, times_columns
from ._promote import as_array, as_value, astype, inexact_dtype, result_dtype


class EigResult(NamedTuple):
    """Eigenvalues and, as columns, eigenvectors.

    >>> import xcore.numpy as xnp
    >>> found = xnp.linalg.eig(xnp.asarray([[2.0, 0.0], [0.0, 3.0]]))
    >>> found.eigenvalues
    Array([2.+0.j, 3.+0.j], dtype=complex64)
    >>> w, v = found
    """

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """Eigenvalues in ascending order and, as columns, orthonormal eigenvectors.

    >>> import xcore.numpy as xnp
    >>> found = xnp.linalg.eigh(xnp.asarray([[3.0, 0.0], [0.0, 2.0]]))
    >>> found.eigenvalues, found.eigenvectors.shape
    (Array([2., 3.], dtype=float32), (2, 2))
    """

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """An orthonormal Q and an upper triangular R.

    >>> import xcore.numpy as xnp
    >>> found = xnp.linalg.qr(xnp.ones((3, 2)))
    >>> found.Q.shape, found.R.shape
    ((3, 2), (2, 2))
    """

    Q: Array
    R: Array


class SVDResult(NamedTuple):
    """Singular vectors as columns of U and rows of Vh, and singular values S in descending order.

    >>> import xcore.numpy as xnp
    >>> found = xnp.linalg.svd(xnp.asarray([[2.0, 0.0], [0.0, 3.0]]))
    >>> found.S
    Array([3., 2.], dtype=float32)
    >>> U, S, Vh = found
    """

    U: Array
    S: Array
    Vh: Array


# Arguments


def as_matrices(who: str, *xs, square: bool = False, ndim: int = 2) -> tuple:
    """Arrays of one dtype that LAPACK knows, and a function that brings results to the dtype of
    the arguments: 16-bit floats are computed with in 32 bits."""
    who = f"numpy.linalg.{who}"
    values = [as_value(who, x) for x in xs]
    dtype, weak = result_dtype(who, *values)
    wanted = dtype if dtypes.is_inexact(dtype) else inexact_dtype(dtype, weak)
    work = dtypes.float32 if dtypes.is_floating(wanted) and wanted.itemsize < 4 else wanted
    arrays = [astype(as_array(who, x), work) for x in values]
    t = typeof(arrays[0])
    if t.ndim < ndim:
        raise errors.not_matrices(who, f"need {ndim} or more axes", a=arrays[0])
    if square and t.shape[-1] != t.shape[-2]:
        raise errors.not_matrices(who, "must be square matrices (..., n, n)", a=arrays[0])
    return (*arrays, lambda x: _in_half(x, work, wanted))


def _in_half(x, work, wanted):
    return x if work == wanted or typeof(x).dtype != work else astype(x, wanted)


def symmetric(a):
    """The Hermitian part."""
    return (a + adjoint(a)) * ops.full_like_type(typeof(a), 0.5)


def _triangle_of(who: str, a, uplo, symmetrize):
    """The Hermitian matrix that is meant, in its lower triangle.

    NumPy reads one triangle, and so do we when one is named. Otherwise, with derivatives in mind,
    both count half: a gradient is then symmetric as its matrix is.
    """
    one_of(f"numpy.linalg.{who}", "UPLO", uplo, (None, "L", "U", "l", "u"), "'L' or 'U'")
    if symmetrize or (symmetrize is None and uplo is None):
        return symmetric(a)
    return adjoint(a) if uplo in ("U", "u") else a


# Factorisations


def cholesky(a, *, upper: bool = False, symmetrize_input: bool = True):
    """The triangular factor L of a Hermitian positive definite matrix, a = L Lᴴ.

    A matrix that is not positive definite raises LinAlgError; in compiled code it gives NaN.

    Args:
      a: matrices (..., n, n).
      upper: return the upper triangular Lᴴ instead.
      symmetrize_input: factorise the Hermitian part of a; otherwise only the triangle that
        corresponds to the result is read.

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.cholesky(xnp.asarray([[4.0, 2.0], [2.0, 5.0]]))
    Array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    factor, failed = _cholesky(a, upper, symmetrize_input)
    refuse(failed, a, "cholesky", "not positive definite")
    return factor


@fused(1)
def _cholesky(a, upper, symmetrize):
    a, back = as_matrices("cholesky", a, square=True)
    a = symmetric(a) if symmetrize else adjoint(a) if upper else a
    factor = ops.cholesky(a)
    failed = ops.reduce_or(ops.is_nan(factor[..., :1, :1]), axes=tuple(range(typeof(a).ndim)))
    return back(adjoint(factor) if upper else factor), failed


_OWN = ("xcore.numpy.", "xcore._control.", "xcore._transforms.")  # solvers judge by themselves


def refuses() -> bool:
    """Whether what is known to be singular is an error; else it is as where it is traced."""
    return not config.settings().clamp


def refuse(failed, a, name: str, what: str) -> None:
    """Raise LinAlgError if a computation that has happened says that it failed."""
    if type(failed) is not Array:
        if findings.looks_for("singular") and findings.only_through(*_OWN):
            report("singular", failed, f"numpy.linalg.{name}: a matrix is {what}")
    elif refuses() and bool(failed):
        raise errors.singular_matrix(f"numpy.linalg.{name}", a, what)


@fused(1)
def qr(a, mode: str = "reduced"):
    """The factors of a = Q R with orthonormal columns in Q and R upper triangular.

    Args:
      a: matrices (..., m, n).
      mode: "reduced" (min(m, n) columns in Q), "complete" (m columns), "r" (only R), or "raw"
        (the transposed packed factors of LAPACK, and the scalars of their reflectors).

    >>> import xcore.numpy as xnp
    >>> q, r = xnp.linalg.qr(xnp.asarray([[3.0, 1.0], [4.0, 2.0]]))
    >>> xnp.round(xnp.abs(r), 3)
    Array([[5. , 2.2],
           [0. , 0.4]], dtype=float32)
    """
    a, back = as_matrices("qr", a)
    if mode not in ("reduced", "complete", "r", "raw"):
        modes = "'reduced', 'complete', 'r' or 'raw'"
        raise errors.bad_argument("numpy.linalg.qr", "mode", mode, modes)
    if mode == "raw":
        packed, taus = ops.geqrf(a)
        return back(swapped(packed)), back(taus)
    q, r = ops.qr(a, full=mode == "complete", pivoting=False)
    return back(r) if mode == "r" else QRResult(back(q), back(r))


@fused(1)
def svd(a, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False,
        subset_by_index=None):  # fmt: skip
    """The singular value decomposition a = U diag(S) Vh.

    Args:
      a: matrices (..., m, n).
      full_matrices: whether U and Vh are square.
      compute_uv: False to get only S.
      hermitian: a is Hermitian, which makes it cheaper.
      subset_by_index: (first, last + 1) of the singular values to return, with their vectors.

    >>> import xcore.numpy as xnp
    >>> u, s, vh = xnp.linalg.svd(xnp.asarray([[0.0, 2.0], [1.0, 0.0]]))
    >>> s
    Array([2., 1.], dtype=float32)
    """
    a, back = as_matrices("svd", a, square=hermitian)
    parts = hermitian_svd(a, compute_uv) if hermitian else _svd(a, full_matrices, compute_uv)
    s, *vectors = map(back, parts)
    if subset_by_index is not None:
        return _some_values(s, vectors, subset_by_index, full_matrices and compute_uv)
    return SVDResult(vectors[0], s, vectors[1]) if compute_uv else s


def _some_values(s, vectors, subset, full: bool):
    """Singular values from one number to another, largest first, and their vectors."""
    n = typeof(s).shape[-1]
    first, stop = map(operator.index, subset)
    if full or not 0 <= first < stop <= n:
        raise errors.bad_argument(
            "numpy.linalg.svd", "subset_by_index", subset,
            f"a pair of ints rising from 0 to {n}, with full_matrices=False",
        )  # fmt: skip
    if not vectors:
        return s[..., first:stop]
    u, vh = vectors
    return SVDResult(u[..., first:stop], s[..., first:stop], vh[..., first:stop, :])


def _svd(a, full: bool, vectors: bool):
    return ops.svd(a, full=full and vectors, vectors=vectors)


def hermitian_svd(a, vectors: bool) -> list:
    """[S] or [S, U, Vh] from eigenvalues w and vectors v: |w|, v, and the signs of w times vᴴ."""
    w, *v = ops.eigh(symmetric(a), vectors=vectors)
    size = ops.abs(w)
    last = typeof(w).ndim - 1
    order = ops.iota(shape=typeof(w).shape, dtype=dtypes.int32, axis=last)
    negative, order = ops.sort(-size, order, axis=last)
    if not vectors:
        return [-negative]
    column_of = ops.broadcast_in_dim(order, shape=typeof(a).shape, dims=(*range(last), last + 1))
    v = ops.take_along(v[0], column_of, last + 1)
    signs = ops.sign(ops.take_along(w, order, last))
    return [-negative, v, adjoint(times_columns(v, signs))]


@fused(1)
def svdvals(x, /):
    """Singular values, in descending order.

    Args:
      x: matrices (..., m, n).

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.svdvals(xnp.asarray([[3.0, 0.0], [0.0, 4.0]]))
    Array([4., 3.], dtype=float32)
    """
    a, back = as_matrices("svdvals", x)
    return back(_svd(a, False, False)[0])


@fused(1)
def eigh(a, UPLO: str | None = None, symmetrize_input: bool | None = None):
    """Eigenvalues and orthonormal eigenvectors of Hermitian matrices.

    Args:
      a: matrices (..., n, n).
      UPLO: "L" or "U" to read only the lower or the upper triangle.
      symmetrize_input: use the Hermitian part of a; the default is True unless UPLO is given.

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.eigh(xnp.asarray([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    Array([1., 2.], dtype=float32)
    """
    a, back = as_matrices("eigh", a, square=True)
    w, v = ops.eigh(_triangle_of("eigh", a, UPLO, symmetrize_input), vectors=True)
    return EighResult(back(w), back(v))


@fused(1)
def eigvalsh(a, UPLO: str | None = None, *, symmetrize_input: bool | None = None):
    """Eigenvalues of Hermitian matrices, in ascending order.

    Args:
      a: matrices (..., n, n).
      UPLO, symmetrize_input: as in ``eigh``.

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.eigvalsh(xnp.asarray([[2.0, 1.0], [1.0, 2.0]]))
    Array([1., 3.], dtype=float32)
    """
    a, back = as_matrices("eigvalsh", a, square=True)
    (w,) = ops.eigh(_triangle_of("eigvalsh", a, UPLO, symmetrize_input), vectors=False)
    return back(w)


@fused(1)
def eig(a):
    """Eigenvalues and (right) eigenvectors of matrices; both complex.

    Columns have norm 1 and a real largest element. On a GPU the work is done by the host.

    Args:
      a: matrices (..., n, n).

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.eig(xnp.asarray([[0.0, -1.0], [1.0, 0.0]])).eigenvalues
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    a, _ = as_matrices("eig", a, square=True)
    return EigResult(*ops.eig_of_any_scale(a, left=False, right=True))


@fused(1)
def eigvals(a):
    """Eigenvalues of matrices, complex.

    Args:
      a: square matrices (..., n, n).

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.eigvals(xnp.asarray([[3.0, 1.0], [0.0, 2.0]]))
    Array([3.+0.j, 2.+0.j], dtype=complex64)
    """
    a, _ = as_matrices("eigvals", a, square=True)
    return ops.eig_of_any_scale(a, left=False, right=False)[0]
