"""Toeplitz matrices, whose diagonals are constant: equations in O(n²) operations and O(n) memory."""

from __future__ import annotations

import functools

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import cond, custom_linear_solve
from .._core import Array, ArrayLike, dtypes, errors, fused, typeof
from .._ops import diagonal
from .._solution import Solution
from ..numpy._equations import factorised, solve_factorised
from ..numpy._promote import broadcast_shapes, broadcast_to
from ._arguments import as_inexact, epsilon, in_lapack_dtype, loop, number, over_batch
from ._elimination import first_zero
from ._equations import Equation, judged, nothing_to_solve
from ._structured import fft
from ._truth import answered


def _diagonals(c, r):
    """The numbers of all diagonals, from the lower left corner to the upper right one."""
    return xnp.concatenate([c[::-1], r[1:]])


def _dense(c, r):
    n = typeof(c).shape[0]
    i = np.arange(n)
    return xnp.take(_diagonals(c, r), n - 1 - i[:, None] + i, mode="promise_in_bounds")


def _times(c, r, x):
    """The product with columns x (n, k), by that with a circulant matrix of twice the size."""
    n = typeof(c).shape[0]
    round_ = xnp.concatenate([c, xnp.zeros_like(c[:1]), r[:0:-1]])[:, None]
    out = fft(fft(round_) * fft(xnp.concatenate([x, xnp.zeros_like(x)])), inverse=True)[:n]
    out = out if dtypes.is_complex(typeof(x).dtype) else xnp.real(out)
    return out.astype(typeof(x).dtype)


def _levinson(c, r, b):
    """x with a x = b, growing from the leading 1 × 1 system.

    Beside x the first column f and the last column g of the inverse grow: with the last row of the
    larger matrix, e = row (f, 0), and its first row, d = row (0, g),

        (f, 0) and (0, g)  ↦  ((f, 0) - e (0, g)) / (1 - d e),  ((0, g) - d (f, 0)) / (1 - d e),

    and x gains the multiple of the new g that makes the last equation right. All leading minors must
    be regular. (Levinson 1947; Golub and Van Loan 2013, "Matrix computations", section 4.7)
    """
    n = typeof(c).shape[0]
    every, zero = _diagonals(c, r), xnp.zeros_like(c[:1])
    first = xnp.concatenate([r[1:], zero])
    unit = (np.arange(n) == 0).astype(np.float32)
    f = xnp.asarray(unit, typeof(c).dtype) / c[0]
    start = (f, f, f[:, None] * b[:1])

    def grow(i, state):
        f, g, x = state
        k = i + np.int32(1)
        row = ops.dynamic_slice(every, np.int32(n - 1) - k, sizes=(n,))
        e, d = row @ f, first @ g
        g = xnp.concatenate([zero, g[:-1]])
        f, g = (f - e * g) / (1 - d * e), (g - d * f) / (1 - d * e)
        value = ops.dynamic_slice(b, k, number(0), sizes=(1, typeof(b).shape[1]))
        return f, g, x + g[:, None] * (value - (row @ x)[None])

    return loop(n - 1, grow, start)[2]


def _by_elimination(c, r, b):
    """(x, number of a vanishing pivot or -1)."""
    packed, pivots = factorised(_dense(c, r))
    return solve_factorised(packed, pivots, b), first_zero(diagonal(packed))


def _solve_one(c, r, b):
    """(x, number of a vanishing pivot or -1): by elimination where a leading minor is so near to
    singular that the recursion is not backward stable."""
    x = _levinson(c, r, b)
    left = xnp.max(xnp.abs(b - _times(c, r, x)), axis=0)
    size = (xnp.sum(xnp.abs(c)) + xnp.sum(xnp.abs(r[1:]))) * xnp.max(xnp.abs(x), axis=0)
    limit = 30 * typeof(c).shape[0] * epsilon(c)
    good = xnp.all(left <= limit * (size + xnp.max(xnp.abs(b), axis=0)))
    return cond(good, lambda *_: (x, xnp.full((), -1, np.int32)), _by_elimination, c, r, b)


@fused(3)
def _solve_toeplitz(c, b, r, report) -> tuple:
    who = "linalg.solve_toeplitz"
    c, b, r = as_inexact(who, c, b, xnp.conj(c) if r is None else r)
    eps = epsilon(b)
    c, b, r, to_dtype = in_lapack_dtype(c, b, r)
    vector = typeof(b).ndim == 1
    b = b[..., None] if vector else b
    n = typeof(c).shape[-1] if typeof(c).ndim else -1
    if typeof(r).shape[-1:] != (n,) or typeof(b).ndim < 2 or typeof(b).shape[-2] != n:
        why = "need a column and a row (..., n) of one length, and b (n,) or (..., n, k)"
        raise errors.shape_mismatch(who, why, c=c, r=r, b=b)
    lead = broadcast_shapes(who, *(typeof(x).shape[:-1] for x in (c, r)), typeof(b).shape[:-2])
    c, r = (broadcast_to(x, (*lead, n)) for x in (c, r))
    b = broadcast_to(b, (*lead, *typeof(b).shape[-2:]))
    back = (lambda y: y[..., 0]) if vector else (lambda y: y)
    if 0 in typeof(b).shape:
        none = nothing_to_solve(b, back) if report else None
        return to_dtype(back(b)), xnp.full(lead, -1, np.int32), none
    x, pivot = over_batch(_differentiable, c[..., None], r[..., None], b)
    x, verdict = to_dtype(x), None
    if report:
        r = xnp.concatenate([c[..., :1], r[..., 1:]], axis=-1)
        verdict = judged(_equation, (c, r), x, b, eps, pivot, back=back)
    return back(x), pivot, verdict


def _equation(_, c, r) -> Equation:
    """Products by transforms mix all elements: they are as good as norms are."""
    beside = tuple(xnp.sum(xnp.abs(y[..., 1:]), axis=-1) for y in (c, r))
    size = beside[0] + beside[1] + xnp.abs(c[..., 0])

    def of(f, c, r):
        run = lambda c, r, y: f(c[:, 0], r[:, 0], y)  # noqa: E731
        return lambda y: over_batch(run, c[..., None], r[..., None], y)

    def sizes(x):
        lengths = xnp.sqrt(xnp.sum(x * x, axis=-2, keepdims=True))
        return size[..., None, None] * lengths + xnp.zeros_like(x)

    solve = lambda c, r, b: _solve_one(c, r, b)[0]  # noqa: E731
    return Equation(
        of(_times, c, r), sizes, of(solve, c, r), of(solve, xnp.conj(r), xnp.conj(c)), size,
        5.0 + np.log2(typeof(c).shape[-1]), size,
    )  # fmt: skip


def _differentiable(c, r, b):
    """One system; c and r as columns (n, 1). The transposed matrix has them exchanged."""
    c, r = c[:, 0], r[:, 0]
    r = xnp.concatenate([c[:1], r[1:]])  # its first element is not read
    fixed = [ops.stop_gradient(x) for x in (c, r)]
    solve = functools.partial(_solve_one, *fixed)
    turned = functools.partial(_solve_one, *fixed[::-1])
    return custom_linear_solve(
        lambda x: _times(c, r, x), b, has_aux=True,
        solve=lambda _, b: solve(b), transpose_solve=lambda _, c: turned(c),
    )  # fmt: skip


def solve_toeplitz(
    c: ArrayLike, b: ArrayLike, r: ArrayLike | None = None, *, report: bool = False
) -> Array | Solution:
    """The solution x of a x = b for the Toeplitz matrix of first column c and first row r.

    By Levinson's recursion in O(n²) operations; where a leading minor is singular, or so near to it
    that the recursion loses digits, by elimination. A singular matrix raises SingularMatrixError; in
    compiled code it leaves a check for ``checkify``. Derivatives are those of the equation.

    Args:
      c: first column (..., n).
      b: right-hand sides (..., n, k), or one vector (n,).
      r: first row (..., n), of which the first element is not read; conj(c) by default.
      report: return a ``Solution`` with a ``Certificate``, as ``solve`` does; it costs a solution of
        four columns and one, with aᴴ, of eight.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.solve_toeplitz(xnp.asarray([2.0, 1.0]), xnp.asarray([3.0, 3.0])).round(4)
    Array([1., 1.], dtype=float32)
    """
    return answered("linalg.solve_toeplitz", c, "zero", *_solve_toeplitz(c, b, r, report))
