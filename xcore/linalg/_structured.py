"""Direct solvers for matrices with structure, in far fewer operations than dense ones need.

All of them are linear in the right-hand side, and their derivatives are those of the equation: the
factors, or the recursion, are never looked into.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import vmap
from .._core import Array, ArrayLike, dtypes, errors, fused, one_of, typeof
from .._ops import part, swapped
from .._ops.factor import apply_transpose, solve_with
from .._solution import Solution
from ..numpy._promote import broadcast_shapes
from ._arguments import (
    as_inexact,
    check_matrices,
    epsilon,
    in_lapack_dtype,
    with_columns,
)
from ._dense import solve
from ._elimination import first_zero
from ._equations import Equation, judged, judged_dense, nothing_to_solve
from ._truth import answered

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
    pivot, verdict = ops.stop_gradient(pivot), None
    if report:
        verdict = _triangular_report(a, to_dtype(x), b, lower, trans, unit, eps, pivot)
        verdict = verdict[0], verdict[1].replace(residual=back(verdict[1].residual))
    return to_dtype(back(x)), pivot, verdict


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
    return answered(
        "linalg.solve_triangular",
        a,
        "lower",
        *_triangular(a, b, lower, _TRANS[trans], unit_diagonal, report),
    )


# Circulant, Kronecker, block-diagonal, rank k


@fused(2)
def _solve_circulant(c, b, report) -> tuple:
    """(x, the number of a Fourier coefficient of c that is zero up to rounding, or -1)."""
    who = "linalg.solve_circulant"
    c, b = as_inexact(who, c, b)
    vector = typeof(b).ndim == 1
    columns = b[:, None] if vector else b
    if not typeof(c).ndim or typeof(columns).shape[-2:-1] != typeof(c).shape[-1:]:
        raise errors.shape_mismatch(who, "need c (..., n) and b (n,) or (..., n, k)", c=c, b=b)
    lead = broadcast_shapes(who, typeof(c).shape[:-1], typeof(columns).shape[:-2])
    c = xnp.broadcast_to(c, (*lead, *typeof(c).shape[-1:]))
    columns = xnp.broadcast_to(columns, (*lead, *typeof(columns).shape[-2:]))
    solve_one = functools.partial(_solve_one_circulant, vector, report)
    for _ in lead:
        solve_one = vmap(solve_one)
    return solve_one(c, columns)


def _solve_one_circulant(vector: bool, report: bool, c, columns) -> tuple:
    back = (lambda y: y[..., 0]) if vector else (lambda y: y)
    shape = typeof(columns).shape
    if 0 in shape:
        verdict = nothing_to_solve(columns, back) if report else None
        return back(columns), xnp.full((), -1, np.int32), verdict
    spectrum = fft(c[:, None])
    size = xnp.abs(ops.stop_gradient(spectrum[:, 0]))
    pivot = first_zero(xnp.where(size <= shape[0] * epsilon(c) * xnp.max(size), 0, size))
    x = fft(fft(columns) / spectrum, inverse=True)
    x = x if dtypes.is_complex(typeof(columns).dtype) else xnp.real(x)
    x = x.astype(typeof(columns).dtype)
    verdict = None
    if report:
        verdict = judged(_circulant_equation, (c,), x, columns, epsilon(c), pivot, back=back)
    return back(x), pivot, verdict


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
      c: first column (..., n).
      b: right-hand sides (..., n, k), or one vector (n,).
      report: return a ``Solution`` with a ``Certificate``, as ``solve`` does.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.solve_circulant(xnp.asarray([2.0, 0.0, 1.0]), xnp.asarray([3.0, 3.0, 3.0]))
    Array([1., 1., 1.], dtype=float32)
    """
    return answered("linalg.solve_circulant", c, "unknown", *_solve_circulant(c, b, report))


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
    return (y - z @ solve(small, c @ (v @ y))).reshape(b.shape)  # pyright: ignore[reportOperatorIssue]
