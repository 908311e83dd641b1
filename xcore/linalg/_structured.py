"""Direct solvers for matrices with structure, in far fewer operations than dense ones need.

All of them are linear in the right-hand side, and their derivatives are those of the equation: the
factors, or the recursion, are never looked into.
"""

# Checkers do not see: arrays, tracers, NumPy's arrays and numbers stand for each other.
# pyright: reportOperatorIssue=false

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control.cond import cond
from .._control.implicit import custom_linear_solve
from .._core import dtypes, errors
from .._core.array import Array
from .._core.eval import fused
from .._core.types import typeof
from .._core.typing import ArrayLike
from .._ops.factor import apply_transpose, solve_with
from .._ops.matrices import FACTORISED, part, swapped
from .._solution import Solution
from ..numpy._promote import broadcast_shapes, broadcast_to
from . import _lanes
from ._arguments import (
    as_inexact,
    check_matrices,
    epsilon,
    in_lapack_dtype,
    on_cpu,
    one_of,
    with_columns,
)
from ._dense import solve
from ._elimination import first_zero
from ._equations import Equation, judged, judged_dense, nothing_to_solve
from ._sweeps import solve_many
from ._truth import fail

# Triangular


@fused(2)
def _triangular(a, b, lower, trans, unit, report):
    who = "linalg.solve_triangular"
    a, b = as_inexact(who, a, b)
    eps = epsilon(a)
    a, b, to_dtype = in_lapack_dtype(a, b)
    check_matrices(who, square=True, a=a)
    a, b, back = with_columns(who, a, b)
    x = solve_with(a, b, lower, transpose=trans, unit=unit)
    d = xnp.diagonal(a, axis1=-2, axis2=-1)
    pivot = xnp.full(typeof(d).shape[:-1], -1, np.int32) if unit else first_zero(d)
    pivot, told = ops.stop_gradient(pivot), None
    if report:
        told = _triangular_report(a, to_dtype(x), b, lower, trans, unit, eps, pivot)
        told = told[0], told[1].replace(residual=back(told[1].residual))
    return to_dtype(back(x)), pivot, told


def _triangular_report(a, x, b, lower: bool, trans: str, unit: bool, eps: float, pivot) -> tuple:
    a = ops.stop_gradient(a)
    whole = part(a, ops.ge if lower else ops.le)
    if unit:
        whole = xnp.where(np.eye(typeof(a).shape[-1], dtype=bool), 1, whole).astype(typeof(a).dtype)
    solve = functools.partial(solve_with, a, lower=lower, unit=unit)
    both = [
        lambda b: solve(b, transpose=trans),
        lambda b: solve(b, transpose="N" if trans != "N" else "C"),
    ]
    if trans == "T":
        both[1] = lambda b: xnp.conj(solve(xnp.conj(b)))
    return judged_dense(apply_transpose(whole, trans), x, b, *both, eps, pivot)


_TRANS = {0: "N", 1: "T", 2: "C", "N": "N", "T": "T", "C": "C"}


def solve_triangular(
    a: ArrayLike, b: ArrayLike, trans: int | str = 0, lower: bool = False,
    unit_diagonal: bool = False, *, report: bool = False,
) -> Array | Solution:  # fmt: skip
    """The solution x of a x = b for triangular a, of which only that triangle is read.

    Args:
      a: matrices (..., n, n).
      b: right-hand sides (..., n, k), or one vector (n,).
      trans: 0 or "N": a x = b, 1 or "T": aᵀ x = b, 2 or "C": aᴴ x = b.
      lower: a is lower triangular.
      unit_diagonal: take the diagonal for ones, and do not read it.
      report: return a ``Solution`` with a ``Certificate``, as ``solve`` does; it passes a seven times more.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.solve_triangular(xnp.asarray([[2.0, 1.0], [0.0, 4.0]]), xnp.asarray([4.0, 8.0]))
    Array([1., 2.], dtype=float32)
    """
    one_of("linalg.solve_triangular", "trans", trans, _TRANS)
    x, pivot, told = _triangular(a, b, lower, _TRANS[trans], unit_diagonal, report)
    if told is not None:
        return Solution(x, *told)
    fail("linalg.solve_triangular", a, pivot, "lower")
    return x


# Tridiagonal

METHODS = ("auto", "sweeps", "lapack", "thomas", "cyclic")


def _by_lapack(lower, diagonal, upper, b):
    """LAPACK's elimination; a singular system has NaN everywhere."""
    *given, back = in_lapack_dtype(lower, diagonal, upper, b)
    x = ops.tridiagonal_solve(*given)
    failed = xnp.isnan(x[..., 0, 0])
    known = cond(failed.any(), lambda: xnp.isfinite(b).all(), lambda: xnp.zeros((), bool))
    return back(x), failed & known


def _by_reduction(lower, diagonal, upper, b):
    """Cyclic reduction."""
    number = xnp.arange(typeof(diagonal).shape[-1])
    lower = xnp.where(number == 0, 0, lower)  # what lies outside of the matrix is not read
    upper = xnp.where(number == typeof(number).shape[0] - 1, 0, upper)
    front = [xnp.moveaxis(x, -1, 0) for x in (lower, diagonal, upper)]
    x = xnp.moveaxis(_cyclic(*front, xnp.moveaxis(b, -2, 0)), 0, -2)
    finite = xnp.isfinite(x).all(axis=(-2, -1))
    return x, ~finite & xnp.isfinite(b).all(axis=(-2, -1))


def _cyclic(lower, diagonal, upper, b):
    """Cyclic reduction: equations of odd number give a system of half the size, and so on.

    In each of the log₂ n steps all equations are treated at once, which suits accelerators.
    (Golub and Van Loan 2013, "Matrix computations", section 4.5.4)
    """
    n = typeof(diagonal).shape[0]
    if n == 1:
        return b / diagonal[..., None]
    if n % 2 == 0:  # an equation x = 0 at the end touches no other
        one, zero = xnp.ones_like(diagonal[:1]), xnp.zeros_like(diagonal[:1])
        rows = [xnp.concatenate([x, y]) for x, y in ((lower, zero), (diagonal, one), (upper, zero))]
        return _cyclic(*rows, xnp.concatenate([b, xnp.zeros_like(b[:1])]))[:-1]
    before, after = -lower[1::2] / diagonal[:-1:2], -upper[1::2] / diagonal[2::2]
    x = _cyclic(
        before * lower[:-1:2],
        diagonal[1::2] + before * upper[:-1:2] + after * lower[2::2],
        after * upper[2::2],
        b[1::2] + before[..., None] * b[:-1:2] + after[..., None] * b[2::2],
    )
    around = xnp.concatenate([xnp.zeros_like(x[:1]), x, xnp.zeros_like(x[:1])])
    even = b[::2] - lower[::2, ..., None] * around[:-1] - upper[::2, ..., None] * around[1:]
    even = even / diagonal[::2, ..., None]
    both = xnp.stack([even[:-1], x], axis=1).reshape(n - 1, *typeof(b).shape[1:])
    return xnp.concatenate([both, even[-1:]])


def _choose(method: str, b) -> str:
    if method != "auto":
        return method
    known, many = typeof(b).dtype in FACTORISED, math.prod(typeof(b).shape[:-2]) >= _lanes.FEWEST
    return "lapack" if known and not (many and on_cpu()) else "sweeps"


_TRIDIAGONAL = {
    "lapack": _by_lapack,
    "sweeps": functools.partial(solve_many, pivoting=True),
    "thomas": functools.partial(solve_many, pivoting=False),
    "cyclic": _by_reduction,
}


def times_tridiagonal(lower, diagonal, upper, x):
    """The product of a tridiagonal matrix and columns x (..., n, k)."""
    before = xnp.concatenate([xnp.zeros_like(x[..., :1, :]), x[..., :-1, :]], axis=-2)
    after = xnp.concatenate([x[..., 1:, :], xnp.zeros_like(x[..., :1, :])], axis=-2)
    return lower[..., None] * before + diagonal[..., None] * x + upper[..., None] * after


def _moved(x, by: int):
    """Elements moved along the last axis, a zero moving in."""
    zero = xnp.zeros_like(x[..., :1])
    parts = [zero, x[..., :-1]] if by > 0 else [x[..., 1:], zero]
    return xnp.concatenate(parts, axis=-1)


@fused(4)
def _solve_tridiagonal(lower, diagonal, upper, b, method, report) -> tuple:
    who = "linalg.solve_tridiagonal"
    lower, diagonal, upper, b = as_inexact(who, lower, diagonal, upper, b)
    n = typeof(diagonal).shape[-1] if typeof(diagonal).ndim else -1
    vector = typeof(b).ndim == 1
    b = b[..., None] if vector else b
    if any(typeof(x).shape[-1:] != (n,) for x in (lower, upper)) or typeof(b).shape[-2] != n:
        why = "need diagonals (..., n) of one length and b (n,) or (..., n, k)"
        raise errors.shape_mismatch(who, why, lower=lower, diagonal=diagonal, upper=upper, b=b)
    lead = broadcast_shapes(
        who, *[typeof(x).shape[:-1] for x in (lower, diagonal, upper)], typeof(b).shape[:-2]
    )
    lower, diagonal, upper = (broadcast_to(x, (*lead, n)) for x in (lower, diagonal, upper))
    b = broadcast_to(b, (*lead, *typeof(b).shape[-2:]))
    if 0 in typeof(b).shape:
        back = (lambda y: y[..., 0]) if vector else (lambda y: y)
        return back(b), xnp.zeros((), bool), nothing_to_solve(b, back) if report else None
    run = _TRIDIAGONAL[_choose(method, b)]
    fixed = [ops.stop_gradient(x) for x in (lower, diagonal, upper)]
    turned = [_moved(fixed[2], 1), fixed[1], _moved(fixed[0], -1)]
    number = xnp.arange(n)
    inside = xnp.where(number == 0, 0, lower), diagonal, xnp.where(number == n - 1, 0, upper)
    x, bad = custom_linear_solve(
        lambda x: times_tridiagonal(*inside, x), b, has_aux=True,
        solve=lambda _, b: run(*fixed, b), transpose_solve=lambda _, c: run(*turned, c),
    )  # fmt: skip
    if not report:
        return (x[..., 0] if vector else x), bad.any(), None
    back = (lambda y: y[..., 0]) if vector else (lambda y: y)
    pivot = xnp.where(bad, np.int32(0), np.int32(-1))
    make = functools.partial(_tridiagonal_equation, run)
    told = judged(make, inside, x, b, epsilon(b), pivot, back=back)
    return back(x), bad.any(), told


def _tridiagonal_equation(run, _, lower, diagonal, upper) -> Equation:
    given = lower, diagonal, upper
    sizes = [xnp.abs(d) for d in given]
    turned = [xnp.conj(d) for d in (_moved(upper, 1), diagonal, _moved(lower, -1))]
    one = xnp.max(sizes[1] + _moved(sizes[2], 1) + _moved(sizes[0], -1), axis=-1)
    return Equation(
        lambda x: times_tridiagonal(*given, x), lambda x: times_tridiagonal(*sizes, x),
        lambda b: run(*given, b)[0], lambda b: run(*turned, b)[0], one, 2.0,
    )  # fmt: skip


def solve_tridiagonal(
    lower: ArrayLike, diagonal: ArrayLike, upper: ArrayLike, b: ArrayLike, *, method: str = "auto",
    report: bool = False,
) -> Array | Solution:  # fmt: skip
    """The solution x of t x = b for tridiagonal t.

    Args:
      lower: (..., n), below the diagonal; its first element is not read.
      diagonal: (..., n).
      upper: (..., n), above the diagonal; its last element is not read.
      b: right-hand sides (..., n, k), or one vector (n,).
      method: "lapack" and "sweeps" exchange rows where needed; "thomas" and "cyclic" do not, which
        suits diagonally dominant or positive definite matrices. "lapack" (on accelerators their
        library) treats one system after the other, "sweeps" and "thomas" go row by row through all
        of a batch at once, "cyclic" needs log₂ n steps. "auto" takes "sweeps" for many systems on
        a CPU and for dtypes that LAPACK does not know, else "lapack".
      report: return a ``Solution`` with a ``Certificate``, as ``solve`` does; it costs a solution of
        four columns and one, with tᴴ, of eight.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> one = xnp.ones(3)
    >>> xc.linalg.solve_tridiagonal(0 * one, 2 * one, 0 * one, one)
    Array([0.5, 0.5, 0.5], dtype=float32)
    """
    one_of("linalg.solve_tridiagonal", "method", method, METHODS)
    x, singular, told = _solve_tridiagonal(lower, diagonal, upper, b, method, report)
    if report:
        return Solution(x, *told)
    fail(
        "linalg.solve_tridiagonal", diagonal, xnp.where(singular, 0, -1).astype(np.int32), "unknown"
    )
    return x


# Circulant, Kronecker, block-diagonal, rank k


@fused(2)
def _solve_circulant(c, b, report) -> tuple:
    """(x, the number of a Fourier coefficient of c that is zero up to rounding, or -1)."""
    who = "linalg.solve_circulant"
    c, b = as_inexact(who, c, b)
    shape = typeof(b).shape
    if typeof(c).ndim != 1 or len(shape) not in (1, 2) or shape[0] != typeof(c).shape[0]:
        raise errors.shape_mismatch(who, "need c (n,) and b (n,) or (n, k)", c=c, b=b)
    columns = b[:, None] if len(shape) == 1 else b
    back = (lambda y: y[..., 0]) if len(shape) == 1 else (lambda y: y)
    if 0 in shape:
        return b, xnp.full((), -1, np.int32), nothing_to_solve(columns, back) if report else None
    spectrum = fft(c[:, None])
    size = xnp.abs(ops.stop_gradient(spectrum[:, 0]))
    pivot = first_zero(xnp.where(size <= shape[0] * epsilon(c) * xnp.max(size), 0, size))
    x = fft(fft(columns) / spectrum, inverse=True)
    x = x if dtypes.is_complex(typeof(b).dtype) else xnp.real(x)
    x = x.astype(typeof(b).dtype)
    told = None
    if report:
        told = judged(_circulant_equation, (c,), x, columns, epsilon(c), pivot, back=back)
    return x.reshape(shape), pivot, told


def _circulant_equation(_, c) -> Equation:
    """Transforms mix all elements: products are as good as their norms are."""
    spectrum, size = fft(c[:, None]), xnp.sum(xnp.abs(c))
    own = (lambda x: x) if dtypes.is_complex(typeof(c).dtype) else xnp.real
    through_fft = lambda f: lambda x: own(fft(f(fft(x)), inverse=True)).astype(typeof(x).dtype)  # noqa: E731
    sizes = lambda x: size * xnp.sqrt(xnp.sum(x * x, axis=0)) + xnp.zeros_like(x)  # noqa: E731
    return Equation(
        through_fft(lambda y: y * spectrum), sizes, through_fft(lambda y: y / spectrum),
        through_fft(lambda y: y / xnp.conj(spectrum)), size, 4.0 + np.log2(typeof(c).shape[0]), size,
    )  # fmt: skip


def solve_circulant(c: ArrayLike, b: ArrayLike, *, report: bool = False) -> Array | Solution:
    """The solution x of a x = b for the circulant matrix a[i, j] = c[i - j], by Fourier transforms.

    A matrix that is singular up to rounding raises SingularMatrixError.

    Args:
      c: first column (n,).
      b: right-hand sides (n,) or (n, k).
      report: return a ``Solution`` with a ``Certificate``, as ``solve`` does.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.solve_circulant(xnp.asarray([2.0, 0.0, 1.0]), xnp.asarray([3.0, 3.0, 3.0]))
    Array([1., 1., 1.], dtype=float32)
    """
    x, pivot, told = _solve_circulant(c, b, report)
    if report:
        return Solution(x, *told)
    fail("linalg.solve_circulant", c, pivot, "unknown")
    return x


def fft(x, inverse: bool = False):
    """The transform of each column."""
    t = typeof(x)
    wide = np.complex128 if t.dtype.itemsize >= 8 and t.dtype != dtypes.complex64 else np.complex64
    kind = "IFFT" if inverse else "FFT"
    rows = ops.fft(swapped(x.astype(wide)), kind=kind, lengths=(t.shape[0],))
    return swapped(rows)


def solve_kronecker(matrices: Sequence[ArrayLike], b: ArrayLike) -> Array:
    """The solution x of (a₁ ⊗ a₂ ⊗ …) x = b, from one solution with each small matrix.

    Args:
      matrices: list of square matrices (nᵢ, nᵢ).
      b: right-hand side (n₁ n₂ …,).

    >>> import xcore as xc, xcore.numpy as xnp
    >>> a = xnp.asarray([[2.0, 0.0], [0.0, 4.0]])
    >>> xc.linalg.solve_kronecker([a, a], xnp.asarray([4.0, 8.0, 8.0, 16.0]))
    Array([1., 1., 1., 1.], dtype=float32)
    """
    sizes = [xnp.shape(a)[-1] for a in matrices]
    b = xnp.asarray(b)
    if b.shape != (int(np.prod(sizes)),):
        why = f"need b of as many elements as the product of the sizes {sizes}"
        raise errors.shape_mismatch("linalg.solve_kronecker", why, b=b)
    x = b.reshape(sizes)
    for axis, a in enumerate(matrices):
        front = xnp.moveaxis(x, axis, 0)
        solved = solve(a, front.reshape(sizes[axis], -1)).reshape(front.shape)
        x = xnp.moveaxis(solved, 0, axis)
    return x.reshape(b.shape)


def solve_block_diag(blocks: Sequence[ArrayLike] | Array, b: ArrayLike) -> Array:
    """The solution x of a x = b where a has these square blocks on its diagonal.

    Args:
      blocks: list of matrices (nᵢ, nᵢ), or an array (m, n, n) of m blocks of one size.
      b: right-hand sides (n₁ + n₂ + …,) or with columns.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.solve_block_diag([xnp.asarray([[2.0]]), xnp.eye(2)], xnp.ones(3))
    Array([0.5, 1. , 1. ], dtype=float32)
    """
    b = xnp.asarray(b)
    sizes = [xnp.shape(a)[-1] for a in blocks]
    if b.ndim not in (1, 2) or b.shape[0] != sum(sizes):
        raise errors.shape_mismatch("linalg.solve_block_diag", f"need b of {sum(sizes)} rows", b=b)
    if not isinstance(blocks, (list, tuple)):
        rows = b.reshape(len(sizes), sizes[0], -1)
        return solve(blocks, rows).reshape(b.shape)
    cuts = np.cumsum(sizes)[:-1].tolist()
    return xnp.concatenate([solve(a, x) for a, x in zip(blocks, xnp.split(b, cuts), strict=True)])


def solve_woodbury(
    solve_a: Callable[[Array], Array], u: ArrayLike, c: ArrayLike, v: ArrayLike, b: ArrayLike
) -> Array:
    """The solution x of (a + u c v) x = b from solutions with a, for few columns in u.

        x = y - z (c⁻¹ + v z)⁻¹ v y,   y = a⁻¹ b,   z = a⁻¹ u
    (Woodbury 1950; Higham 2002, section 26.4)

    Args:
      solve_a: function from columns (n, k) to a⁻¹ times them.
      u, c, v: matrices (n, r), (r, r), (r, n).
      b: right-hand sides (n,) or (n, k).

    >>> import xcore as xc, xcore.numpy as xnp
    >>> one = xnp.ones((3, 1))
    >>> xc.linalg.solve_woodbury(lambda b: b, one, xnp.eye(1), one.T, xnp.ones(3))
    Array([0.25, 0.25, 0.25], dtype=float32)
    """
    b, u, c, v = (xnp.asarray(x) for x in (b, u, c, v))
    columns = b[:, None] if b.ndim == 1 else b
    both = solve_a(xnp.concatenate([columns, u], axis=1))
    k = columns.shape[1]
    y, z = both[:, :k], both[:, k:]
    # (c⁻¹ + v z)⁻¹ = (1 + c v z)⁻¹ c, which does without an inverse of c
    small = xnp.eye(c.shape[0], dtype=c.dtype) + c @ (v @ z)
    return (y - z @ solve(small, c @ (v @ y))).reshape(b.shape)
