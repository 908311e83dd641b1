"""Polar factors, by singular values or by Halley's iteration."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import custom_jvp, custom_linear_solve, jvp
from .._core import Array, ArrayLike, errors, fused, one_of, typeof
from .._iterate import Steps, iterate
from .._ops import adjoint, conjugate, solve_with
from .._ops.coalescing import sums
from ..numpy._equations import solve_matrices
from ._arguments import (
    as_inexact,
    check_matrices,
    epsilon,
    hermitian_part,
    in_lapack_dtype,
    product,
)
from ._range import in_units


def _prepared(who: str, a) -> tuple:
    a, back = in_lapack_dtype(*as_inexact(who, a))
    check_matrices(who, a=a)
    return a, back


@custom_jvp
def _unitary(a):
    """The unitary factor of matrices with no more columns than rows."""
    _, u, vh = ops.svd(a, full=False, vectors=True)
    return product(u, vh)


@_unitary.defjvp
def _(primals, tangents):
    # a = u h and uᴴu = 1  =>  u' = u ω + (1 - u uᴴ) a' h⁻¹ with ω h + h ω = uᴴ a' - a'ᴴ u
    # (Higham 2008, "Functions of matrices", section 8.2)
    (a,), (a_dot,) = primals, tangents
    u = _unitary(a)
    inner = product(adjoint(u), a_dot)
    h = hermitian_part(product(adjoint(u), a))
    moved = product(u, _sylvester_of_itself(h, inner - adjoint(inner)))
    if typeof(a).shape[-2] > typeof(a).shape[-1]:
        outside = a_dot - product(u, inner)
        moved = moved + adjoint(solve_matrices(h, adjoint(outside))[0])
    return u, moved


def _sylvester_of_itself(h, c):
    """The x with h x + x h = c for positive definite h, of which ``c`` is skew.

    Where two eigenvalues vanish x is not determined: NaN, unless c vanishes there as well.
    """
    w, v = ops.eigh(ops.stop_gradient(h), vectors=True)
    total = sums(w)

    def solve(c, v):
        inner = product(adjoint(v), product(c, v))
        found, _ = ops.coupled(inner, total, w, pairs=True, free=None)
        return product(v, product(found, adjoint(v)))

    return custom_linear_solve(
        lambda x: product(h, x) + product(x, h), c,
        solve=lambda _, c: solve(c, v), transpose_solve=lambda _, c: solve(c, conjugate(v)),
    )  # fmt: skip


def _unitary_of_any(a):
    wide = typeof(a).shape[-2] < typeof(a).shape[-1]
    return adjoint(_unitary(adjoint(a))) if wide else _unitary(a)


def _by_svd(a):
    """Polar factors."""
    u = _unitary(a)
    return u, hermitian_part(product(adjoint(u), a))


# QDWH
# x ← x (a + b xᴴx) (1 + c xᴴx)⁻¹, with weights by which singular values in [l, 1] come as near to 1
# as they can; l grows to 1 in six steps from the precision of float64. While c is large the inverse
# is applied by a QR factorisation, later by Cholesky's. (Nakatsukasa, Bai and Gygi 2010, "Optimizing
# Halley's iteration for computing the matrix polar decomposition", equations 3.4 and 5.1 to 5.4)

_LARGE = 100.0


@functools.cache
def _weights(eps: float) -> list:
    """(a, b, c) of each step, from singular values not below eps."""
    low, found = eps, []
    while len(found) < 20:
        square = low * low
        d = np.cbrt(4 * (1 - square) / (square * square))
        root = np.sqrt(1 + d)
        a = root + np.sqrt(max(8 - 4 * d + 8 * (2 - square) / (square * root), 0)) / 2
        b = (a - 1) ** 2 / 4
        c = a + b - 1
        found.append((float(a), float(b), float(c)))
        if 1 - low < 10 * eps:
            break
        low = min(low * (a + b * square) / (1 + c * square), 1.0)
    return found


def _qr_step(x, weights):
    a, b, c = weights
    m, n = typeof(x).shape[-2:]
    one = xnp.broadcast_to(xnp.eye(n, dtype=typeof(x).dtype), (*typeof(x).shape[:-2], n, n))
    q, _ = ops.qr(xnp.concatenate([c**0.5 * x, one], axis=-2), full=False, pivoting=False)
    inner = product(q[..., :m, :], adjoint(q[..., m:, :]))
    return (b / c) * x + ((a - b / c) / c**0.5) * inner


def _cholesky_step(x, weights):
    a, b, c = (weights[i].astype(typeof(x).dtype) for i in range(3))
    n = typeof(x).shape[-1]
    factor = ops.cholesky(xnp.eye(n, dtype=typeof(x).dtype) + c * product(adjoint(x), x))
    inner = solve_with(factor, adjoint(x), True)
    inner = adjoint(solve_with(factor, inner, True, transpose="C"))
    return (b / c) * x + (a - b / c) * inner


def _halley(x, eps: float, most: int) -> tuple:
    """(the unitary factor, steps, whether the last step was small) of matrices of norm 1 at most."""
    weights = _weights(epsilon(x))
    table = np.asarray(weights, typeof(xnp.real(x)).dtype)
    count = min(sum(c > _LARGE for _, _, c in weights), most)
    for w in weights[:count]:
        x = _qr_step(x, w)

    def norm(y):
        return xnp.sqrt((xnp.abs(y) ** 2).sum((-2, -1)))

    def done(state):
        _, change, size, _ = state
        return ~(change > (4 * eps) ** (1 / 3) * size)

    def step(state):
        x, _, _, k = state
        w = xnp.asarray(table)[xnp.minimum(k, len(table) - 1)]
        y = _cholesky_step(x, w)
        return y, norm(y - x), norm(y), k + np.int32(1)

    far = xnp.full_like(norm(x), xnp.inf)
    start = (x, far, xnp.ones_like(far), xnp.full((), count, np.int32))
    (x, change, size, _), steps, _ = iterate(Steps(step, done), start, most, steps=count)
    return x, steps, xnp.all(change <= (4 * eps) ** (1 / 3) * size)


def _by_halley(a, eps, most):
    unit, a = in_units(a, (-2, -1))
    size = xnp.sqrt((xnp.abs(a) ** 2).sum((-2, -1), keepdims=True)).astype(typeof(a).dtype)
    x = a / xnp.where(size == 0, 1, size)
    u, steps, converged = _halley(x, eps, most)
    for _ in range(2):  # what rounding left: Newton and Schulz, u (3 - uᴴu) / 2
        u = 1.5 * u - 0.5 * product(u, product(adjoint(u), u))
    return u, hermitian_part(product(adjoint(u), a)) * unit, steps, converged


class QDWH(NamedTuple):
    """Polar factors, the number of steps, and whether the last one was small enough."""

    U: Any
    H: Any
    steps: Any
    converged: Any


@fused(1)
def qdwh(a: ArrayLike, eps: float | None = None, max_iterations: int | None = None) -> QDWH:
    """(u, h, steps, converged): the polar factors of a = u h, by QR factorisations and products only.

    That suits accelerators. Of matrices without full rank u has no orthonormal columns: take
    ``polar``. Derivatives are those of the factors.

    Args:
      a: matrices (..., m, n) of m ≥ n.
      eps: the end is a change of (4 eps)^(1/3) of the norm at most; by default the dtype's precision.
      max_iterations: at most this many steps, by default 20.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xnp.round(xc.linalg.qdwh(xnp.asarray([[0.0, -2.0], [2.0, 0.0]])).H, 4)
    Array([[2., 0.],
           [0., 2.]], dtype=float32)
    """
    a, back = _prepared("linalg.qdwh", a)
    m, n = typeof(a).shape[-2:]
    if m < n:
        raise errors.not_matrices("linalg.qdwh", "need as many rows as columns, or more", a=a)
    most = 20 if max_iterations is None else max_iterations
    if 0 in typeof(a).shape:
        h = xnp.zeros((*typeof(a).shape[:-2], n, n), typeof(a).dtype)
        return QDWH(back(a), back(h), xnp.zeros((), np.int32), xnp.asarray(True))

    @custom_jvp
    def factors(a):
        return _by_halley(a, epsilon(a) if eps is None else eps, most)

    @factors.defjvp
    def _(primals, tangents):
        u, h, steps, converged = factors(*primals)
        return (u, h, steps, converged), (*jvp(_by_svd, primals, tangents)[1], None, None)

    u, h, steps, converged = factors(a)
    return QDWH(back(u), back(h), steps, converged)


# Polar


@fused(1)
def polar(
    a: ArrayLike, side: str = "right", method: str = "svd", eps: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Array, Array]:  # fmt: skip
    """(u, p): the polar factors of a = u p (side "left": a = p u), u with orthonormal columns
    or rows, p Hermitian positive semidefinite.

    Args:
      a: matrices (..., m, n).
      side: "right" or "left".
      method: "svd", for all matrices, or "qdwh", for those of full rank; see ``qdwh``.
      eps, max_iterations: as for ``qdwh``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.polar(xnp.asarray([[0.0, -2.0], [2.0, 0.0]]))[1]
    Array([[2., 0.],
           [0., 2.]], dtype=float32)
    """
    one_of("linalg.polar", "side", side, ("right", "left"))
    one_of("linalg.polar", "method", method, ("svd", "qdwh"))
    a, back = _prepared("linalg.polar", a)
    wide = typeof(a).shape[-2] < typeof(a).shape[-1]
    if method == "svd":
        u = _unitary_of_any(a)
    elif wide:
        u = adjoint(qdwh(adjoint(a), eps, max_iterations).U)
    else:
        u = qdwh(a, eps, max_iterations).U
    p = product(adjoint(u), a) if side == "right" else product(a, adjoint(u))
    return back(u), back(hermitian_part(p))
