"""Tridiagonal systems: LAPACK's elimination, sweeps through all of a batch, cyclic reduction."""

from __future__ import annotations

import functools
import math

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import cond, custom_linear_solve, platform_dependent
from .._core import Array, ArrayLike, errors, fused, one_of, typeof
from .._ops.matrices import FACTORISED
from .._solution import Solution
from ..numpy._promote import broadcast_shapes, broadcast_to
from . import _lanes
from ._arguments import as_inexact, epsilon, in_lapack_dtype
from ._equations import Equation, judged, nothing_to_solve
from ._sweeps import solve_many
from ._truth import answered

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
    return ("many" if many else "lapack") if known else "sweeps"


_by_sweeps = functools.partial(solve_many, pivoting=True)


def _many(*system):
    return platform_dependent(*system, cpu=_by_sweeps, default=_by_lapack)


_TRIDIAGONAL = {
    "lapack": _by_lapack,
    "sweeps": _by_sweeps,
    "many": _many,
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
def by_diagonals(lower, diagonal, upper, b, method, report) -> tuple:
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
    verdict = judged(make, inside, x, b, epsilon(b), pivot, back=back)
    return back(x), bad.any(), verdict


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
    x, singular, verdict = by_diagonals(lower, diagonal, upper, b, method, report)
    pivot = xnp.where(singular, 0, -1).astype(np.int32)
    return answered("linalg.solve_tridiagonal", diagonal, "unknown", x, pivot, verdict)
