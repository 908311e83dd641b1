"""Eigenvalues and Schur forms with SciPy's arguments, for ``xcore.scipy.linalg``."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

import numpy as np

from .. import _ops as ops
from .. import linalg as la
from .. import numpy as xnp
from .._core import Array, ArrayLike, errors, one_of


def from_triangle(a, lower):
    """The Hermitian matrix of which one triangle is given."""
    half = xnp.tril(a) if lower else xnp.conj(xnp.swapaxes(xnp.triu(a), -1, -2))
    return half + xnp.conj(xnp.swapaxes(xnp.tril(half, -1), -1, -2))


# Parts of spectra


def _by_value(who: str, w, limits) -> slice:
    """Ascending eigenvalues in (low, high], which must be known."""
    if type(w) is not Array or w.ndim != 1:
        raise errors.bad_argument(
            who, "the range of values", limits, "None under jit, or for a batch: how many there are "
            "is not known", "Choose by index, or mask the eigenvalues.",
        )  # fmt: skip
    low, high = limits
    return slice(*np.searchsorted(np.asarray(w), [low, high], side="right").tolist())


def _by_index(who: str, limits, n: int) -> slice:
    first, last = (operator.index(i) for i in limits)
    if not 0 <= first <= last < max(n, 1):
        raise errors.bad_argument(who, "the range", limits, f"(first, last) within 0 and {n - 1}")
    return slice(first, last + 1)


def _part(who: str, w, by_index, by_value) -> slice:
    if by_index is not None and by_value is not None:
        raise errors.bad_argument(who, "subset_by_value", by_value, "None where indices are given")
    if by_value is not None:
        return _by_value(who, w, by_value)
    return slice(None) if by_index is None else _by_index(who, by_index, w.shape[-1])


# Hermitian


def _generalized_eigh(a, b, type, vectors):
    """(w, v) of a v = w b v, a b v = w v or b a v = w v; v None unless asked for.

    With b = l lᴴ types 2 and 3 are the eigenvalues of lᴴ a l, with vectors l⁻ᴴ y and l y.
    """
    if b is None or type == 1:
        return la.eigh(a, b) if vectors else (la.eigvalsh(a, b), None)
    low = la.cholesky(b)
    w, y = la.eigh(xnp.conj(low.mT) @ a @ low)
    if type == 2:
        return w, la.solve_triangular(low, y, trans=2, lower=True)
    return w, low @ y


@overload
def eigh(
    a: ArrayLike | Sequence[Any], b: ArrayLike | Sequence[Any] | None = None, lower: bool = True,
    eigvals_only: Literal[False] = False, overwrite_a: bool = False, overwrite_b: bool = False, turbo: bool = True,
    eigvals: Sequence[int] | None = None, type: int = 1, check_finite: bool = True,
    subset_by_index: Sequence[int] | None = None, subset_by_value: Sequence[float] | None = None,
    driver: str | None = None,
) -> tuple[Array, Array]: ...  # fmt: skip
@overload
def eigh(
    a: ArrayLike | Sequence[Any], b: ArrayLike | Sequence[Any] | None = None, lower: bool = True, *,
    eigvals_only: Literal[True], overwrite_a: bool = False, overwrite_b: bool = False, turbo: bool = True,
    eigvals: Sequence[int] | None = None, type: int = 1, check_finite: bool = True,
    subset_by_index: Sequence[int] | None = None, subset_by_value: Sequence[float] | None = None,
    driver: str | None = None,
) -> Array: ...  # fmt: skip
@overload
def eigh(
    a: ArrayLike | Sequence[Any], b: ArrayLike | Sequence[Any] | None = None, lower: bool = True,
    eigvals_only: bool = False, overwrite_a: bool = False, overwrite_b: bool = False, turbo: bool = True,
    eigvals: Sequence[int] | None = None, type: int = 1, check_finite: bool = True,
    subset_by_index: Sequence[int] | None = None, subset_by_value: Sequence[float] | None = None,
    driver: str | None = None,
) -> tuple[Array, Array] | Array: ...  # fmt: skip
def eigh(
    a: ArrayLike | Sequence[Any], b: ArrayLike | Sequence[Any] | None = None, lower: bool = True,
    eigvals_only: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
    turbo: bool = True, eigvals: Sequence[int] | None = None, type: int = 1,
    check_finite: bool = True, subset_by_index: Sequence[int] | None = None,
    subset_by_value: Sequence[float] | None = None, driver: str | None = None,
) -> tuple[Array, Array] | Array:  # fmt: skip
    """(w, v) of a v = w v, or with b of one of three problems, from the lower (or upper) triangles.

    Args:
      a, b: Hermitian matrices, b positive definite too.
      lower: which triangles are read.
      eigvals_only: return w alone.
      type: 1 for a v = w b v, 2 for a b v = w v, 3 for b a v = w v.
      subset_by_index, eigvals: (first, last) of the ascending eigenvalues that are returned.
      subset_by_value: return those in (low, high]; not under ``jit``.
      driver: accepted; all work alike.

    >>> import xcore.numpy as xnp
    >>> eigh(xnp.asarray([[2.0, 9.0], [0.0, 1.0]]), eigvals_only=True)
    Array([1., 2.], dtype=float32)
    """
    who = "scipy.linalg.eigh"
    one_of(who, "type", type, (1, 2, 3), "1, 2 or 3")
    a, b = (x if x is None else from_triangle(x, lower) for x in (a, b))  # pyright: ignore[reportAssignmentType]
    w, v = _generalized_eigh(a, b, type, not eigvals_only)
    chosen = _part(who, w, eigvals if subset_by_index is None else subset_by_index, subset_by_value)
    return w[..., chosen] if eigvals_only else (w[..., chosen], v[..., chosen])  # pyright: ignore[reportOptionalSubscript]


def eigvalsh(
    a: ArrayLike | Sequence[Any], b: ArrayLike | Sequence[Any] | None = None, lower: bool = True,
    overwrite_a: bool = False, overwrite_b: bool = False, turbo: bool = True,
    eigvals: Sequence[int] | None = None, type: int = 1, check_finite: bool = True,
    subset_by_index: Sequence[int] | None = None, subset_by_value: Sequence[float] | None = None,
    driver: str | None = None,
) -> Array:  # fmt: skip
    """Eigenvalues of a Hermitian matrix, ascending; arguments as for ``eigh``.

    Args:
      a: Hermitian matrices (..., n, n), of which one triangle is read.
      b: Hermitian positive definite matrices of a v = w b v, or what ``type`` says.
      lower: whether the lower triangles are read.
      eigvals, type, subset_by_index, subset_by_value: as for ``eigh``.
      overwrite_a, overwrite_b, turbo, check_finite, driver: of no effect.

    >>> import xcore.numpy as xnp
    >>> eigvalsh(xnp.diag(xnp.asarray([2.0, 1.0])))
    Array([1., 2.], dtype=float32)
    """
    return eigh(a, b, lower, eigvals_only=True, eigvals=eigvals, type=type, subset_by_index=subset_by_index,
                subset_by_value=subset_by_value)  # fmt: skip


def _diagonals(n: int, middle, beside, dtype):
    """Hermitian matrices of a diagonal and, for k = 1, 2, …, their k-th subdiagonals."""
    i, j = np.ogrid[:n, :n]
    whole = xnp.where(i == j, middle[..., None, :], 0).astype(dtype)
    for k, values in enumerate(beside, 1):
        filled = xnp.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, n - values.shape[-1])])
        low = xnp.where(i - j == k, filled[..., None, :], 0).astype(dtype)
        whole = whole + low + xnp.conj(xnp.swapaxes(low, -1, -2))
    return whole


def _tridiagonal(d, e):
    d, e = xnp.asarray(d), xnp.asarray(e)
    if d.ndim < 1 or e.shape != (*d.shape[:-1], max(d.shape[-1] - 1, 0)):
        why = "need one element less in e than in d"
        raise errors.shape_mismatch("scipy.linalg.eigh_tridiagonal", why, d=d, e=e)
    return _diagonals(d.shape[-1], d, [e], xnp.result_type(d, e))


@overload
def eigh_tridiagonal(
    d: ArrayLike | Sequence[Any], e: ArrayLike | Sequence[Any], eigvals_only: Literal[False] = False,
    select: str = "a", select_range: Sequence[float] | None = None, check_finite: bool = True, tol: float = 0.0,
    lapack_driver: str = "auto", *, key: Any = None,
) -> tuple[Array, Array]: ...  # fmt: skip
@overload
def eigh_tridiagonal(
    d: ArrayLike | Sequence[Any], e: ArrayLike | Sequence[Any], *, eigvals_only: Literal[True], select: str = "a",
    select_range: Sequence[float] | None = None, check_finite: bool = True, tol: float = 0.0,
    lapack_driver: str = "auto", key: Any = None,
) -> Array: ...  # fmt: skip
@overload
def eigh_tridiagonal(
    d: ArrayLike | Sequence[Any], e: ArrayLike | Sequence[Any], eigvals_only: bool = False, select: str = "a",
    select_range: Sequence[float] | None = None, check_finite: bool = True, tol: float = 0.0,
    lapack_driver: str = "auto", *, key: Any = None,
) -> tuple[Array, Array] | Array: ...  # fmt: skip
def eigh_tridiagonal(
    d: ArrayLike | Sequence[Any], e: ArrayLike | Sequence[Any], eigvals_only: bool = False,
    select: str = "a", select_range: Sequence[float] | None = None, check_finite: bool = True,
    tol: float = 0.0, lapack_driver: str = "auto", *, key: Any = None,
) -> tuple[Array, Array] | Array:  # fmt: skip
    """Eigenvalues, ascending, and vectors of the symmetric tridiagonal matrix of diagonals d, e.

    Args:
      d, e: (..., n) and (..., n - 1).
      eigvals_only: return eigenvalues alone.
      select: "a" for all, "i" for those of indices ``select_range`` (both included), "v" for those
        in (low, high]; the last not under ``jit``.
      tol, lapack_driver, key: accepted; eigenvalues are computed to the dtype's precision, and no
        random vectors are needed.

    >>> import xcore.numpy as xnp
    >>> eigh_tridiagonal(xnp.asarray([2.0, 2.0]), xnp.asarray([1.0]), eigvals_only=True)
    Array([1., 3.], dtype=float32)
    """
    if select not in ("a", "i", "v") or (select == "a") != (select_range is None):
        what = "'a', or 'i' or 'v' with a select_range"
        raise errors.bad_argument("scipy.linalg.eigh_tridiagonal", "select", select, what)
    wanted = {"i": "subset_by_index", "v": "subset_by_value"}
    limits = {} if select == "a" else {wanted[select]: select_range}
    return eigh(_tridiagonal(d, e), eigvals_only=eigvals_only, **limits)


def eigvalsh_tridiagonal(
    d: ArrayLike | Sequence[Any], e: ArrayLike | Sequence[Any], select: str = "a",
    select_range: Sequence[float] | None = None, check_finite: bool = True, tol: float = 0.0,
    lapack_driver: str = "auto",
) -> Array:  # fmt: skip
    """The eigenvalues, ascending, of a symmetric tridiagonal matrix; see ``eigh_tridiagonal``.

    Args:
      d: diagonal (..., n).
      e: beside it (..., n - 1).
      select: "a" for all, "v" by value, "i" by index.
      select_range: (low, high): the values or indices that ``select`` asks for.
      check_finite, tol, lapack_driver: of no effect.

    >>> import xcore.numpy as xnp
    >>> eigvalsh_tridiagonal(xnp.asarray([2.0, 2.0]), xnp.asarray([1.0]))
    Array([1., 3.], dtype=float32)
    """
    return eigh_tridiagonal(d, e, eigvals_only=True, select=select, select_range=select_range)


@overload
def eig_banded(
    a_band: ArrayLike | Sequence[Any], lower: bool = False, eigvals_only: Literal[False] = False,
    overwrite_a_band: bool = False, select: str = "a", select_range: Sequence[float] | None = None, max_ev: int = 0,
    check_finite: bool = True,
) -> tuple[Array, Array]: ...  # fmt: skip
@overload
def eig_banded(
    a_band: ArrayLike | Sequence[Any], lower: bool = False, *, eigvals_only: Literal[True],
    overwrite_a_band: bool = False, select: str = "a", select_range: Sequence[float] | None = None, max_ev: int = 0,
    check_finite: bool = True,
) -> Array: ...  # fmt: skip
@overload
def eig_banded(
    a_band: ArrayLike | Sequence[Any], lower: bool = False, eigvals_only: bool = False,
    overwrite_a_band: bool = False, select: str = "a", select_range: Sequence[float] | None = None, max_ev: int = 0,
    check_finite: bool = True,
) -> tuple[Array, Array] | Array: ...  # fmt: skip
def eig_banded(
    a_band: ArrayLike | Sequence[Any], lower: bool = False, eigvals_only: bool = False,
    overwrite_a_band: bool = False, select: str = "a", select_range: Sequence[float] | None = None,
    max_ev: int = 0, check_finite: bool = True,
) -> tuple[Array, Array] | Array:  # fmt: skip
    """(w, v) of a Hermitian matrix whose diagonals are the rows of a_band, as for ``cholesky_banded``.

    Args:
      a_band: the upper half of the band of Hermitian a, (u + 1, n), or with ``lower`` the lower one.
      lower: which half is given.
      eigvals_only: return eigenvalues alone.
      select: "a" for all, "v" by value, "i" by index.
      select_range: (low, high): the values or indices that ``select`` asks for.
      overwrite_a_band, max_ev, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> eig_banded(xnp.asarray([[2.0, 2.0], [1.0, 0.0]]), lower=True, eigvals_only=True)
    Array([1., 3.], dtype=float32)
    """
    band = xnp.asarray(a_band)
    k, n = band.shape[-2:]
    if lower:
        rows = [band[..., i, : n - i] for i in range(k)]
    else:
        rows = [xnp.conj(band[..., k - 1 - i, i:]) for i in range(k)]
    wanted = {"a": None, "i": "subset_by_index", "v": "subset_by_value"}
    one_of("scipy.linalg.eig_banded", "select", select, wanted, "'a', 'i' or 'v'")
    limits = {} if select == "a" else {wanted[select]: select_range}
    a = _diagonals(n, xnp.real(rows[0]), rows[1:], band.dtype)
    return eigh(a, eigvals_only=eigvals_only, **limits)


def eigvals_banded(
    a_band: ArrayLike | Sequence[Any], lower: bool = False, overwrite_a_band: bool = False,
    select: str = "a", select_range: Sequence[float] | None = None, check_finite: bool = True,
) -> Array:  # fmt: skip
    """The eigenvalues, ascending, of a Hermitian band matrix; see ``eig_banded``.

    Args:
      a_band: the upper half of the band of Hermitian a, (u + 1, n), or with ``lower`` the lower one.
      lower: which half is given.
      select: "a" for all, "v" by value, "i" by index.
      select_range: (low, high): the values or indices that ``select`` asks for.
      overwrite_a_band, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> eigvals_banded(xnp.asarray([[0.0, 1.0], [2.0, 2.0]]))
    Array([1., 3.], dtype=float32)
    """
    return eig_banded(a_band, lower, eigvals_only=True, select=select, select_range=select_range)


# General


def _values(w, homogeneous: bool):
    return xnp.stack([w, xnp.ones_like(w)], axis=-2) if homogeneous else w


def _unit(v):
    return v / xnp.linalg.norm(v, axis=-2, keepdims=True)


@overload
def eig(
    a: ArrayLike | Sequence[Any], b: ArrayLike | Sequence[Any] | None = None, left: Literal[False] = False,
    right: Literal[True] = True, overwrite_a: bool = False, overwrite_b: bool = False, check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> tuple[Array, Array]: ...  # fmt: skip
@overload
def eig(
    a: ArrayLike | Sequence[Any], b: ArrayLike | Sequence[Any] | None = None, left: Literal[False] = False, *,
    right: Literal[False], overwrite_a: bool = False, overwrite_b: bool = False, check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> Array: ...  # fmt: skip
@overload
def eig(
    a: ArrayLike | Sequence[Any], b: ArrayLike | Sequence[Any] | None = None, *, left: Literal[True],
    right: Literal[True] = True, overwrite_a: bool = False, overwrite_b: bool = False, check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> tuple[Array, Array, Array]: ...  # fmt: skip
@overload
def eig(
    a: ArrayLike | Sequence[Any], b: ArrayLike | Sequence[Any] | None = None, left: bool = False, right: bool = True,
    overwrite_a: bool = False, overwrite_b: bool = False, check_finite: bool = True,
    homogeneous_eigvals: bool = False,
) -> Array | tuple[Array, Array] | tuple[Array, Array, Array]: ...  # fmt: skip
def eig(
    a: ArrayLike | Sequence[Any], b: ArrayLike | Sequence[Any] | None = None, left: bool = False,
    right: bool = True, overwrite_a: bool = False, overwrite_b: bool = False,
    check_finite: bool = True, homogeneous_eigvals: bool = False,
) -> Array | tuple[Array, Array] | tuple[Array, Array, Array]:  # fmt: skip
    """Eigenvalues w and, as asked for, left (vᴴ a = w vᴴ b) and right (a v = w b v) vectors of norm 1.

    Without b it is the identity; else it must be regular. ``homogeneous_eigvals`` gives pairs
    (α, β) of α / β = w, with β = 1.

    Args:
      a: matrices (..., n, n).
      b: matrices (..., n, n), for a v = w b v.
      left: return left eigenvectors too.
      right: False leaves the right eigenvectors out.
      homogeneous_eigvals: return pairs (α, β) with w = α / β in place of the eigenvalues.
      overwrite_a, overwrite_b, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> xnp.sort(xnp.real(eig(xnp.diag(xnp.asarray([1.0, 2.0])))[0]))
    Array([1., 2.], dtype=float32)
    """
    inner = (xnp.asarray(a) if b is None else la.solve(b, a)) * 1.0
    w, *vectors = ops.eig_of_any_scale(inner, left=bool(left), right=bool(right))
    if left and b is not None:  # yᴴ b⁻¹ a = w yᴴ, so b⁻ᴴ y is the left vector
        vectors[0] = _unit(la.solve(xnp.conj(xnp.swapaxes(b, -1, -2)), vectors[0]))
    w = _values(w, homogeneous_eigvals)
    return (w, *vectors) if vectors else w


def eigvals(
    a: ArrayLike | Sequence[Any], b: ArrayLike | Sequence[Any] | None = None,
    overwrite_a: bool = False, check_finite: bool = True, homogeneous_eigvals: bool = False,
) -> Array:  # fmt: skip
    """The eigenvalues of a square matrix; those of a v = w b v with a regular b.

    Args:
      a: matrices (..., n, n).
      b: matrices (..., n, n), for a v = w b v.
      homogeneous_eigvals: return pairs (α, β) with w = α / β in place of the eigenvalues.
      overwrite_a, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> xnp.sort(xnp.real(eigvals(xnp.diag(xnp.asarray([2.0, 1.0])))))
    Array([1., 2.], dtype=float32)
    """
    return _values(la.eigvals(a if b is None else la.solve(b, a)), homogeneous_eigvals)


@overload
def schur(
    a: ArrayLike | Sequence[Any], output: str = "real", lwork: int | None = None, overwrite_a: bool = False,
    sort: None = None, check_finite: bool = True,
) -> tuple[Array, Array]: ...  # fmt: skip
@overload
def schur(
    a: ArrayLike | Sequence[Any], output: str = "real", lwork: int | None = None, overwrite_a: bool = False, *,
    sort: str | Callable[..., Any], check_finite: bool = True,
) -> tuple[Array, Array, Array]: ...  # fmt: skip
@overload
def schur(
    a: ArrayLike | Sequence[Any], output: str = "real", lwork: int | None = None, overwrite_a: bool = False,
    sort: str | Callable[..., Any] | None = None, check_finite: bool = True,
) -> tuple[Array, Array] | tuple[Array, Array, Array]: ...  # fmt: skip
def schur(
    a: ArrayLike | Sequence[Any], output: str = "real", lwork: int | None = None,
    overwrite_a: bool = False, sort: Any = None, check_finite: bool = True,
) -> tuple[Array, Array] | tuple[Array, Array, Array]:  # fmt: skip
    """(T, Z) with a = Z T Zᴴ, and with ``sort`` how many come first; see ``xcore.linalg.schur``.

    As in SciPy, for a real form a function ``sort`` takes the real and the imaginary part.

    Args:
      a: matrices (..., n, n).
      output: "real" or "complex".
      sort: which eigenvalues come first, as for ``xcore.linalg.schur``.
      lwork, overwrite_a, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> schur(xnp.diag(xnp.asarray([2.0, 1.0])))[0]
    Array([[2., 0.],
           [0., 1.]], dtype=float32)
    """
    if callable(sort) and output == "real" and not xnp.iscomplexobj(a):
        given = sort
        sort = lambda w: given(w.real, w.imag)  # noqa: E731
    return la.schur(a, output, sort)


@overload
def hessenberg(
    a: ArrayLike | Sequence[Any], calc_q: Literal[False] = False, overwrite_a: bool = False,
    check_finite: bool = True,
) -> Array: ...  # fmt: skip
@overload
def hessenberg(
    a: ArrayLike | Sequence[Any], *, calc_q: Literal[True], overwrite_a: bool = False, check_finite: bool = True,
) -> tuple[Array, Array]: ...  # fmt: skip
@overload
def hessenberg(
    a: ArrayLike | Sequence[Any], calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True,
) -> Array | tuple[Array, Array]: ...  # fmt: skip
def hessenberg(
    a: ArrayLike | Sequence[Any], calc_q: bool = False, overwrite_a: bool = False,
    check_finite: bool = True,
) -> Array | tuple[Array, Array]:  # fmt: skip
    """The Hessenberg form h of a = q h qᴴ, with ``calc_q`` (h, q).

    Args:
      a: matrices (..., n, n).
      calc_q: return (h, q).
      overwrite_a, check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> hessenberg(xnp.asarray([[1.0, 2.0], [3.0, 4.0]]))
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    h, q = la.hessenberg(a)
    return (h, q) if calc_q else h


def rsf2csf(
    T: ArrayLike | Sequence[Any], Z: ArrayLike | Sequence[Any], check_finite: bool = True
) -> tuple[Array, Array]:
    """(T, Z): the triangular Schur form from the real one; see ``xcore.linalg.rsf2csf``.

    Args:
      T: upper triangular matrices (..., n, n) but for 2 × 2 blocks.
      Z: unitary matrices of this shape.
      check_finite: of no effect.

    >>> import xcore.numpy as xnp
    >>> rsf2csf(xnp.asarray([[0.0, 1.0], [-1.0, 0.0]]), xnp.eye(2))[0].diagonal().round(4)
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    return la.rsf2csf(T, Z)


def cdf2rdf(w: ArrayLike | Sequence[Any], v: ArrayLike | Sequence[Any]) -> tuple[Array, Array]:
    """(w, v): from complex eigenvalues and vectors of a real matrix, conjugate pairs side by side, a
    real block diagonal matrix and real vectors: a v = v w.

    Args:
      w: eigenvalues (..., n), conjugate pairs side by side.
      v: eigenvectors (..., n, n).

    >>> w, v = eig(xnp.asarray([[0.0, 1.0], [-1.0, 0.0]]))
    >>> cdf2rdf(w, v)[0].round(4)
    Array([[ 0.,  1.],
           [-1.,  0.]], dtype=float32)
    """
    w, v = xnp.asarray(w), xnp.asarray(v)
    if v.shape[-2:] != w.shape[-1:] * 2:
        raise errors.shape_mismatch(
            "scipy.linalg.cdf2rdf", "need v (..., n, n) for w (..., n)", w=w, v=v
        )
    i, j = np.ogrid[: w.shape[-1], : w.shape[-1]]
    second = xnp.cumsum(w.imag != 0, axis=-1) % 2 == 0  # of a pair, where the number is not real
    second = second & (w.imag != 0)
    first = (w.imag != 0) & ~second
    real = xnp.where(i == j, w.real[..., None, :], 0)
    above = xnp.where((j == i + 1) & first[..., :, None], w.imag[..., :, None], 0)
    below = xnp.where((j == i - 1) & second[..., :, None], w.imag[..., :, None], 0)
    # columns x ± i y of a pair become -y and x
    return real + above + below, xnp.where(first[..., None, :], -v.imag, v.real)
