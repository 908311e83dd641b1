"""Factorisations: Cholesky, QR, LU, eigenvalues, singular values.

Matrices are (..., m, n). Their derivatives stand at the operations, in xcore._ops; 16-bit floats
are factorised in 32 bits and rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import Array, ArrayLike, dtypes, fused, one_of, typeof
from .._ops import adjoint, part, solve_with, swapped
from .._solution import Solution, Status
from ..numpy._equations import identity_like
from ..numpy._matrices import EighResult, EigResult, SVDResult
from ..numpy._triangles import diagonal_of
from ._arguments import (
    as_inexact,
    check_matrices,
    epsilon,
    hermitian_part,
    in_lapack_dtype,
    of_one_shape,
    product,
    with_columns,
)
from ._certificates import of_eig, of_eigh, of_svd
from ._elimination import first_zero
from ._equations import Equation, by, inverse_norms, judged, roundings
from ._truth import answered, fail


def _prepared(who: str, *xs, square: bool = False) -> tuple:
    """Matrices of one dtype that LAPACK knows, and the way back for results."""
    *xs, back = in_lapack_dtype(*as_inexact(f"linalg.{who}", *xs))
    check_matrices(f"linalg.{who}", square=square, a=xs[0])
    return (*xs, back)


# Cholesky


@fused(1)
def _cholesky(a, lower):
    a, back = _prepared("cholesky", a, square=True)
    factor = ops.cholesky(hermitian_part(a))
    pivot = first_zero(diagonal_of(ops.stop_gradient(factor), 0))
    return back(factor if lower else adjoint(factor)), pivot


def cholesky(a: ArrayLike, *, lower: bool = True) -> Array:
    """The triangular factor l of Hermitian positive definite matrices, a = l lᴴ.

    A matrix that is not positive definite raises SingularMatrixError; in compiled code it leaves a
    check for ``checkify``, and NaN.

    Args:
      a: matrices (..., n, n); their Hermitian part is factorised.
      lower: False returns lᴴ instead.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.cholesky(xnp.asarray([[4.0, 2.0], [2.0, 5.0]]))
    Array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    factor, pivot = _cholesky(a, lower)
    fail("linalg.cholesky", a, pivot, "cholesky")
    return factor


@fused(2)
def _cho_solve(factor, b, lower, report):
    given = as_inexact("linalg.cho_solve", factor, b)[0]
    factor, b, to_dtype = _prepared("cho_solve", factor, b, square=True)
    pivot = first_zero(diagonal_of(ops.stop_gradient(factor), 0))
    factor, b, back = with_columns("linalg.cho_solve", factor, b)
    first, then = ("N", "C") if lower else ("C", "N")
    y = solve_with(factor, b, lower, transpose=first)
    x, verdict = to_dtype(solve_with(factor, y, lower, transpose=then)), None
    if report:
        own = part(ops.stop_gradient(factor), ops.ge if lower else ops.le)
        own = own if lower else adjoint(own)
        make = lambda s, l: _of_factors(l, adjoint(l), given, s, s)  # noqa: E731
        verdict = judged(make, (own,), x, b, epsilon(given), pivot, back=back, factors=2)
    return back(x), pivot, verdict


def _of_factors(l, u, given, *units) -> Equation:
    """The equation l u x = b for triangular l and u, which are blurred by how they came about.

    Elimination is off by some roundings of |l| |u|; and factors that were handed out in 16 bits by one
    each, or by what vanishes in that dtype: its smallest number times what the factor was divided by, twice.
    The norm of l u, which may be far less than that of |l| |u|, comes from a few products.
    """
    info, n = dtypes.finfo(typeof(given).dtype), typeof(u).shape[-1]
    own, tiny = epsilon(u), xnp.asarray(float(info.tiny), typeof(xnp.real(u)).dtype)
    blur = roundings(2 * n) + (info.eps / own if info.eps > own else 0)
    least = (
        tiny if typeof(given).dtype == np.float16 else tiny / typeof(tiny).dtype.type(own * blur)
    )
    moduli = [xnp.abs(f) + by(s, least, -2) for f, s in zip((l, u), units, strict=True)]
    times = lambda x: product(l, product(u, x))  # noqa: E731
    turned = lambda y: product(adjoint(u), product(adjoint(l), y))  # noqa: E731
    none = xnp.zeros(typeof(u).shape[:-1], typeof(tiny).dtype)
    one, inf, _ = inverse_norms(times, turned, u, none)
    return Equation(
        times, lambda x: product(moduli[0], product(moduli[1], x)),
        lambda b: solve_with(u, solve_with(l, b, True), False),
        lambda b: solve_with(l, solve_with(u, b, False, transpose="C"), True, transpose="C"),
        one, roundings(2 * n), inf, blur,
    )  # fmt: skip


def cho_solve(
    factor: ArrayLike, b: ArrayLike, *, lower: bool = True, report: bool = False
) -> Array | Solution:
    """The solution x of a x = b from the Cholesky factor of a.

    A zero on the diagonal of the factor raises SingularMatrixError; in compiled code it leaves a
    check for ``checkify``.

    Args:
      factor: what ``cholesky`` returned.
      b: right-hand sides (..., n, k), or one vector (n,).
      lower: False says that the factor is the upper one.
      report: return a ``Solution`` with a ``Certificate``, as ``solve`` does, of the matrix that the
        factors multiply to; what rounding did to them, in ``cholesky`` and when they were handed out in
        16 bits, is counted in. ``componentwise`` is relative to |l| |lᴴ|.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.cho_solve(xnp.asarray([[2.0, 0.0], [0.0, 1.0]]), xnp.asarray([4.0, 3.0]))
    Array([1., 3.], dtype=float32)
    """
    return answered("linalg.cho_solve", factor, "lower", *_cho_solve(factor, b, lower, report))


# QR


class PivotedQR(NamedTuple):
    """a[:, P] = Q R, where the diagonal of R falls in modulus.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> a = xnp.asarray([[1.0, 4.0], [0.0, 3.0]])
    >>> f = xc.linalg.qr(a, pivoting=True)
    >>> f.P, xnp.allclose(f.Q @ f.R, a[:, f.P], atol=1e-5)
    (Array([1, 0], dtype=int32), Array(True, dtype=bool))
    """

    Q: Any
    R: Any
    P: Any


@fused(1)
def qr(
    a: ArrayLike, mode: str = "reduced", *, pivoting: bool = False
) -> tuple[Array, Array] | Array | PivotedQR:
    """The factors of a = Q R: orthonormal columns in Q, R upper triangular.

    Args:
      a: matrices (..., m, n).
      mode: "reduced" (min(m, n) columns in Q), "complete" (m columns), or "r" (only R).
      pivoting: exchange columns so that the diagonal of R falls, which tells the rank; then
        the permutation P is returned too, with a[:, P] = Q R.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> q, r, p = xc.linalg.qr(xnp.asarray([[1.0, 4.0], [0.0, 3.0]]), pivoting=True)
    >>> xnp.round(xnp.abs(r), 3), p
    (Array([[5. , 0.8],
           [0. , 0.6]], dtype=float32), Array([1, 0], dtype=int32))
    """
    one_of("linalg.qr", "mode", mode, ("reduced", "complete", "r"))
    a, back = _prepared("qr", a)
    outs = ops.qr(a, full=mode == "complete", pivoting=pivoting)
    q, r, *order = map(back, outs)
    if mode == "r":
        return (r, *order) if pivoting else r
    return PivotedQR(q, r, *order) if pivoting else (q, r)


# LU


@fused(1)
def lu(a: ArrayLike) -> tuple[Array, Array, Array]:
    """(p, l, u): the factors of a[p] = l u by elimination with partial pivoting.

    Args:
      a: matrices (..., m, n).

    >>> import xcore as xc, xcore.numpy as xnp
    >>> p, l, u = xc.linalg.lu(xnp.asarray([[1.0, 2.0], [2.0, 2.0]]))
    >>> p, l, u
    (Array([1, 0], dtype=int32), Array([[1. , 0. ],
           [0.5, 1. ]], dtype=float32), Array([[2., 2.],
           [0., 1.]], dtype=float32))
    """
    a, back = _prepared("lu", a)
    packed, _, order = ops.lu(a)
    m, n = typeof(a).shape[-2:]
    k = min(m, n)
    low = part(packed, ops.gt)[..., :k] + xnp.eye(m, k, dtype=typeof(packed).dtype)
    return order, back(low), back(part(packed, ops.le)[..., :k, :])


class LUFactors(NamedTuple):
    """Factors in one matrix, l (without its ones) below u, and the exchanges of rows, counted from 0:
    row i was exchanged with row piv[i], one after the other.

    >>> import xcore.numpy as xnp
    >>> from xcore import linalg
    >>> lu, piv = linalg.lu_factor(xnp.array([[1.0, 2.0], [4.0, 2.0]]))
    >>> lu, piv
    (Array([[4.  , 2.  ],
           [0.25, 1.5 ]], dtype=float32), Array([1, 1], dtype=int32))
    """

    lu: Any
    piv: Any


@fused(1)
def _lu_factor(a):
    a, back = _prepared("lu_factor", a)
    packed, pivots, _ = ops.lu(a)
    return LUFactors(back(packed), pivots), first_zero(diagonal_of(ops.stop_gradient(packed), 0))


def lu_factor(a: ArrayLike) -> LUFactors:
    """Factors of matrices, for ``lu_solve`` if they are square: factorise once, solve often.

    Args:
      a: matrices (..., m, n).

    >>> import xcore as xc, xcore.numpy as xnp
    >>> f = xc.linalg.lu_factor(xnp.asarray([[2.0, 1.0], [1.0, 1.0]]))
    >>> xc.linalg.lu_solve(f, xnp.asarray([3.0, 2.0]))
    Array([1., 1.], dtype=float32)
    """
    factors, pivot = _lu_factor(a)
    fail("linalg.lu_factor", a, pivot, "lapack")
    return factors


@fused(2)
def _lu_solve(factors, b, trans, report):
    packed, pivots = factors
    given = as_inexact("linalg.lu_solve", packed, b)[0]
    packed, b, to_dtype = _prepared("lu_solve", packed, b, square=True)
    zero = first_zero(diagonal_of(ops.stop_gradient(packed), 0))
    packed, b, back = with_columns("linalg.lu_solve", packed, b)
    pivots = xnp.broadcast_to(pivots, typeof(packed).shape[:-1])
    if trans == 0:
        x = ops.exchange_rows(b, pivots, reverse=False)
        x = solve_with(packed, solve_with(packed, x, True, unit=True), False)
    else:
        turn = "T" if trans == 1 else "C"
        x = solve_with(packed, b, False, transpose=turn)
        x = solve_with(packed, x, True, transpose=turn, unit=True)
        x = ops.exchange_rows(x, pivots, reverse=True)
    x, verdict = to_dtype(x), None
    if report:
        fixed, x_ = ops.stop_gradient(packed), ops.stop_gradient(x)
        l = part(fixed, ops.gt) + identity_like(fixed)
        u, y = part(fixed, ops.le), ops.exchange_rows(b, pivots, reverse=False)
        turn, one = swapped if trans == 1 else adjoint, xnp.ones((), typeof(xnp.real(u)).dtype)
        if trans:  # a = p l u, so what is solved for is pᵀ x
            x_, y = ops.exchange_rows(x_, pivots, reverse=False), b
            make = lambda s, u: _of_factors(turn(u), turn(l), given, s, one)  # noqa: E731
        else:
            make = lambda s, u: _of_factors(l, u, given, one, s)  # noqa: E731
        verdict = judged(make, (u,), x_, y, epsilon(given), zero, back=back)
    return back(x), zero, verdict


def lu_solve(
    factors: LUFactors | Sequence[ArrayLike], b: ArrayLike, trans: int = 0, *, report: bool = False
) -> Array | Solution:
    """The solution x of a x = b (aᵀ x = b, aᴴ x = b for ``trans`` 1, 2) from ``lu_factor(a)``.

    A vanishing pivot raises SingularMatrixError; in compiled code it leaves a check for ``checkify``.
    With ``report=True`` a ``Solution`` with a ``Certificate``, as for ``cho_solve``.

    Args:
      factors: what ``lu_factor`` returned.
      b: vectors (…, n) or matrices (…, n, k), as for ``solve``.
      trans: 0, 1 (transpose) or 2 (adjoint).
      report: return a ``Solution`` with a certificate instead of x.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> f = xc.linalg.lu_factor(xnp.asarray([[2.0, 1.0], [0.0, 1.0]]))
    >>> xc.linalg.lu_solve(f, xnp.asarray([2.0, 2.0]), trans=1)
    Array([1., 1.], dtype=float32)
    """
    one_of("linalg.lu_solve", "trans", trans, (0, 1, 2))
    factors = tuple(factors)
    return answered("linalg.lu_solve", factors[0], "lower", *_lu_solve(factors, b, trans, report))


# Eigenvalues


@fused(2)
def _eigh(a, b, vectors):
    who = "eigh" if vectors else "eigvalsh"
    if b is None:
        a, back = _prepared(who, a, square=True)
        found = ops.eigh(hermitian_part(a), vectors=vectors)
        return tuple(map(back, found)), xnp.full(typeof(a).shape[:-2], -1, np.int32)
    # With b = l lᴴ:  a v = w b v  <=>  (l⁻¹ a l⁻ᴴ) y = w y,  v = l⁻ᴴ y.
    # (Golub and Van Loan 2013, "Matrix computations", section 8.7.2)
    a, b, back = _prepared(who, a, b, square=True)
    a, b = of_one_shape(f"linalg.{who}", a=a, b=b)
    l = ops.cholesky(hermitian_part(b))
    c = solve_with(l, solve_with(l, hermitian_part(a), True), True, left=False, transpose="C")
    w, *v = ops.eigh(hermitian_part(c), vectors=vectors)
    v = [solve_with(l, y, True, transpose="C") for y in v]
    return tuple(map(back, (w, *v))), first_zero(diagonal_of(ops.stop_gradient(l), 0))


def eigh(
    a: ArrayLike, b: ArrayLike | None = None, *, report: bool = False
) -> EighResult | Solution:
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices: a v = w v or a v = w b v.

    Derivatives are finite also where eigenvalues coincide, and right for all that does not depend
    on the choice of vectors in their space, such as sums over it and projections onto it.

    Args:
      a: Hermitian matrices (..., n, n).
      b: Hermitian positive definite matrices; vectors are then orthonormal with respect to b.
      report: return a ``Solution`` with a ``Certificate`` of the residual |a v - w v|
        (|a v - w b v|) of each pair, a bound of the error of w, |r| (|l⁻¹ r| with b = l lᴴ) and
        rounding, and, as "angle", one of the sine of the angle between v (lᴴ v) and the vectors of
        its eigenvalue: error / gap, 1 where neighbours are too close to tell.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.eigh(xnp.diag(xnp.asarray([2.0, 1.0])), xnp.diag(xnp.asarray([1.0, 4.0])))[0]
    Array([0.25, 2.  ], dtype=float32)
    """
    found, pivot = _eigh(a, b, True)
    found = EighResult(*found)
    if report:
        return Solution(found, *_eigh_report(a, b, pivot, found))
    fail("linalg.eigh (matrix b)", a if b is None else b, pivot, "cholesky")
    return found


def _eigh_report(a, b, pivot, found) -> tuple:
    """(status, Certificate), where b may turn out not to be positive definite."""
    if b is not None:
        a, b = (ops.stop_gradient(x) for x in as_inexact("linalg.eigh", a, b))
    status, verdict = of_eigh(a, *map(ops.stop_gradient, found), b)
    return xnp.where(pivot >= 0, np.int32(Status.not_definite), status), verdict


def eigvalsh(a: ArrayLike, b: ArrayLike | None = None, *, report: bool = False) -> Array | Solution:
    """Eigenvalues of Hermitian matrices, ascending; arguments as for ``eigh``.

    With ``report=True`` vectors are computed too, for values alone cannot be checked: it costs what
    ``eigh`` with a report costs, at n = 500 about 2.4 times the values alone (float32: twice).

    Args:
      a: Hermitian matrices (…, n, n).
      b: positive definite matrices of the same shape, for a v = w b v.
      report: return a ``Solution`` with a certificate instead of the values.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.eigvalsh(xnp.asarray([[2.0, 1.0], [1.0, 2.0]]))
    Array([1., 3.], dtype=float32)
    """
    if report:
        answer = eigh(a, b, report=True)
        return answer.replace(value=answer.value.eigenvalues)
    (w,), pivot = _eigh(a, b, False)
    fail("linalg.eigvalsh (matrix b)", a if b is None else b, pivot, "cholesky")
    return w


def eig(a: ArrayLike, *, report: bool = False) -> EigResult | Solution:
    """Eigenvalues and right eigenvectors of square matrices; both complex.

    Columns have norm 1 and a real largest element.

    Args:
      a: matrices (..., n, n).
      report: return a ``Solution`` with a ``Certificate`` of the residual |a v - w v| of each pair,
        the condition of w, |v⁻¹[i, :]| |v[:, i]|, which is inf for defective matrices, and a bound of the
        error of w: the radius of Gerschgorin's disc of v⁻¹ a v, or where discs meet, all their
        diameters; inf where vectors are dependent up to rounding.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.eig(xnp.asarray([[0.0, -1.0], [1.0, 0.0]])).eigenvalues
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    found = EigResult(*xnp.linalg.eig(a))
    return Solution(found, *of_eig(a, *map(ops.stop_gradient, found))) if report else found


def eigvals(a: ArrayLike, *, report: bool = False) -> Array | Solution:
    """Eigenvalues of square matrices, complex; ``report`` as for ``eig``, whose vectors it needs and costs:
    at n = 500 about twice the values alone.

    Args:
      a: square matrices (…, n, n).
      report: return a ``Solution`` with a certificate instead of the values.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.eigvals(xnp.asarray([[3.0, 1.0], [0.0, 2.0]]))
    Array([3.+0.j, 2.+0.j], dtype=complex64)
    """
    if not report:
        return xnp.linalg.eigvals(a)
    answer = eig(a, report=True)
    return answer.replace(value=answer.value.eigenvalues)


# Singular values


def svd(
    a: ArrayLike, full_matrices: bool = False, compute_uv: bool = True, *, report: bool = False
) -> SVDResult | Array | Solution:
    """Singular values S, descending, and vectors: a = U diag(S) Vh.

    Args:
      a: matrices (..., m, n).
      full_matrices: whether U and Vh are square; the thin ones have min(m, n) columns and rows.
      compute_uv: False gives S alone.
      report: return a ``Solution`` with a ``Certificate`` of the residual of each value, the
        larger of |a v - s u| and |aᴴ u - s v|, a bound of the error of s, that and rounding, and, as
        "angle", one of the sine of the angle of (u, v), 1 where neighbours are too close to tell.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.svd(xnp.asarray([[0.0, 2.0], [1.0, 0.0], [0.0, 0.0]])).S
    Array([2., 1.], dtype=float32)
    """
    if not compute_uv and not report:
        return svdvals(a)
    found = xnp.linalg.svd(a, full_matrices=full_matrices)
    return Solution(found, *of_svd(a, *map(ops.stop_gradient, found))) if report else found


def svdvals(a: ArrayLike) -> Array:
    """Singular values, descending.

    Args:
      a: matrices (..., m, n).

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.svdvals(xnp.asarray([[3.0, 0.0], [0.0, 4.0]]))
    Array([4., 3.], dtype=float32)
    """
    return xnp.linalg.svdvals(a)
