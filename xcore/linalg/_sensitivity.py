"""How much functions of matrices and solutions of matrix equations are off: norms of the derivatives
that carry residuals to errors, and the reports that follow.

All of them come from Sylvester's operator y ↦ s y + y t with triangular s and t: the norm of its inverse,
1 / sep(s, -t), from three solutions. (Kenney and Laub 1989, "Condition estimates for matrix functions";
Kågström and Poromaa 1992, "Distributed and shared memory block algorithms for the triangular Sylvester
equation with sep⁻¹ estimators")
"""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import fori_loop
from .._core import dtypes, typeof
from .._ops import adjoint, diagonal, matmul, solve_with
from .._solution import Certificate, Status, first_that_holds
from ._arguments import epsilon, loop, number, over_batch, product
from ._digits import digits_of, of_truth, relative
from ._equations import largest, power_of_two, roundings
from ._range import lost

MARGIN = 3.0  # norms that are estimated from below are multiplied by this much


def complex_schur(a):
    return ops.schur(a.astype(dtypes.to_complex(typeof(a).dtype)))


def unit(a, *others):
    """A power of two near the largest modulus of each matrix, or of several; 1 where there is none."""
    size = largest(a, (-2, -1))
    for other in others:
        size = xnp.maximum(size, largest(other, (-2, -1)))
    most = float(dtypes.finfo(typeof(size).dtype).max) / 4  # what is rounded up must not overflow
    return power_of_two(xnp.where(xnp.isfinite(size), xnp.minimum(size, most), 1))


def frobenius(a):
    """|a|_F of each matrix, of numbers whose squares may leave the range."""
    size = unit(a)[..., None, None]
    inner = xnp.abs(a / size.astype(typeof(a).dtype))
    return size[..., 0, 0] * xnp.sqrt(xnp.sum(inner * inner, axis=(-2, -1)))


def scaled(a, size):
    """a / size, for one positive number for each matrix."""
    return a / size.astype(typeof(a).dtype)[..., None, None]


def norm2(a, steps: int = 4):
    """About |a|₂: the power method on aᴴ a, a fifth more for what it misses, and no more than |a|_F."""
    size = frobenius(a)
    a = scaled(a, xnp.where((size > 0) & xnp.isfinite(size), size, 1))
    n = typeof(a).shape[-1]
    v = np.random.default_rng(7).standard_normal((n, 1))
    v = xnp.broadcast_to(xnp.asarray(v, typeof(a).dtype), (*typeof(a).shape[:-2], n, 1))
    length_of = lambda v: xnp.sqrt(xnp.sum(xnp.abs(v) ** 2, axis=(-2, -1)))  # noqa: E731

    def step(_, state):
        v, length = state
        own = length_of(v)
        w = matmul(a, scaled(v, xnp.where(own > 0, own, 1)))
        return matmul(adjoint(a), w), xnp.maximum(length, length_of(w))

    length = fori_loop(0, steps, step, (v, xnp.zeros_like(size)))[1]
    return size * xnp.minimum(1.2 * length, 1)


def rounding_of(x, y):
    """About how far rounding leaves the product of two matrices, in the Frobenius norm."""
    moduli = xnp.abs(x)
    sums = [xnp.max(xnp.sum(moduli, axis=k), axis=-1) for k in (-2, -1)]
    size = xnp.minimum(frobenius(x), xnp.sqrt(sums[0]) * xnp.sqrt(sums[1]))
    return roundings(typeof(x).shape[-1]) * epsilon(x) * size * frobenius(y)


# Sylvester's operator


_BLOCK = 64  # n = 500 in double precision on one core: 0.46 s column by column, 0.14 s so


def triangular_sylvester(s, t, c):
    """x with s x + x t = c for upper triangular s and t, block by block: columns from the left, rows from
    below. (Jonsson and Kågström 2002, "Recursive blocked algorithms for solving triangular systems")"""
    n, m = typeof(c).shape
    if min(n, m) < 3 * _BLOCK:
        return _sylvester_by_columns(s, t, c)
    s, t = _filled(s, t), _filled(t, s)
    rows, columns = (typeof(x).shape[0] // _BLOCK for x in (s, t))
    c = xnp.pad(c, ((0, rows * _BLOCK - n), (0, columns * _BLOCK - m)))

    def of(x, i, j):
        sizes = [typeof(x).shape[k] if at is None else _BLOCK for k, at in enumerate((i, j))]
        starts = (number(0) if at is None else at * _BLOCK for at in (i, j))
        return ops.dynamic_slice(x, *starts, sizes=tuple(sizes))

    def block(k, x):  # what is not known yet is 0
        i, j = rows - 1 - k % rows, k // rows
        known = times(of(s, i, None), of(x, None, j)) + times(of(x, i, None), of(t, None, j))
        found = _sylvester_by_columns(of(s, i, i), of(t, j, j), of(c, i, j) - known)
        return ops.dynamic_update_slice(x, found, i * _BLOCK, j * _BLOCK)

    return loop(rows * columns, block, xnp.zeros_like(c))[:n, :m]


def _filled(s, t):
    """s with rows and columns of 0 more, to whole blocks, and there a diagonal that t's does not meet."""
    n = typeof(s).shape[0]
    more = -n % _BLOCK
    far = 1 + xnp.max(xnp.abs(diagonal(t)))
    return xnp.pad(s, ((0, more), (0, more))) + far * np.diag(np.arange(n + more) >= n)


def times(x, y):
    """Products of complex matrices by those of real ones, which are several times faster."""
    if not dtypes.is_complex(typeof(x).dtype):
        return product(x, y)
    (a, b), (c, d) = ((xnp.real(z), xnp.imag(z)) for z in (x, y))
    return ops.complex(product(a, c) - product(b, d), product(a, d) + product(b, c))


def _sylvester_by_columns(s, t, c):
    n, m = typeof(c).shape
    later = xnp.arange(m)
    one = xnp.eye(n, dtype=typeof(c).dtype)

    def column(j, x):
        known = xnp.where(later < j, t[:, j], 0)
        right = c[:, j] - matmul(x, known[:, None])[:, 0]
        return x.at[:, j].set(solve_with(s + t[j, j] * one, right[:, None], False)[:, 0])

    return fori_loop(0, m, column, xnp.zeros_like(c))


def adjoint_sylvester(s, t, c):
    """x with sᴴ x + x tᴴ = c: turned around it is an upper triangular equation."""
    flip = lambda x: x[..., ::-1, ::-1]  # noqa: E731
    return flip(triangular_sylvester(flip(adjoint(s)), flip(adjoint(t)), flip(c)))


def inverse_norm(solve, adjoint_solve, like):
    """About |l⁻¹|_F of linear maps l of matrices: from below, times a margin; inf if it is not finite.

    One step of the power method up and down from a fixed matrix that is as good as random, and up again.
    (Dixon 1983, "Estimating extremal eigenvalues and condition numbers of matrices")
    """
    start = np.random.default_rng(7).standard_normal(typeof(like).shape[-2:])
    start = xnp.asarray(start / np.linalg.norm(start)).astype(typeof(like).dtype)
    y = solve(xnp.broadcast_to(start, typeof(like).shape))
    first = frobenius(y)
    z = adjoint_solve(scaled(y, xnp.where(first > 0, first, 1)))
    second = frobenius(z)
    last = frobenius(solve(scaled(z, xnp.where(second > 0, second, 1))))
    found = MARGIN * xnp.maximum(first, xnp.maximum(second, last))
    return xnp.where(xnp.isfinite(found), found, xnp.inf)


def sylvester_norm(s, t):
    """About |l⁻¹|_F of l: x ↦ s x + x t for triangular s and t, of any scale."""
    size = unit(s, t)
    s, t = scaled(s, size), scaled(t, size)
    like = matmul(s[..., :, :1], t[..., :1, :])
    there, back = (
        lambda c, f=f: over_batch(f, s, t, c) for f in (triangular_sylvester, adjoint_sylvester)
    )
    return inverse_norm(there, back, like) / size


def lyapunov_norm(u):
    """About |l⁻¹|_F of l: x ↦ u x + x uᴴ for triangular u."""
    return sylvester_norm(u, adjoint(u)[..., ::-1, ::-1])


# Verdicts


def concluded(
    x,
    off,
    backward,
    condition,
    eps: float,
    *,
    residual=None,
    limit=30.0,
    singular=None,
    given=(),
    **more,
):
    """(status, Certificate) of matrices x (..., m, n).

    Args:
      off: a bound of the error, absolute; of the same scale as x.
      backward: the residual by what rounding may leave of it; success needs ``limit`` of those.
      singular: where there is no result.
      given: matrices: where one is not finite, that is why there is no result, and not that one is singular.
    """
    lead, real = typeof(x).shape[:-2], dtypes.to_real(typeof(x).dtype)
    if 0 in typeof(x).shape:
        return nothing(x, eps, **more)
    most = xnp.max(xnp.abs(x), axis=(-2, -1))
    finite = xnp.isfinite(x).all(axis=(-2, -1))
    none = xnp.zeros(lead, bool) if singular is None else singular
    for y in given:
        none = none & xnp.isfinite(y).all(axis=(-2, -1))
    # numbers near the end of the range have vanished in part, which relative errors do not see
    good = finite & ~none & ~xnp.isnan(off)
    good = good & ((most == 0) | (most > float(dtypes.finfo(real).tiny) / eps))
    error = of_truth(xnp.maximum(relative(off, most), eps / 2))
    error = xnp.where(good, error, xnp.inf).astype(real)
    status = first_that_holds(
        (none, Status.singular), (~finite, Status.not_finite), (~(error <= 0.1), Status.ill_conditioned),
        (~(backward <= limit), Status.stagnation), (finite, Status.success),
    )  # fmt: skip
    condition = xnp.where(xnp.isnan(condition), xnp.inf, condition).astype(real)
    residual = None if residual is None else residual.astype(real)
    error = xnp.where(
        error <= 0.1, error, xnp.inf
    )  # of first order: nothing is known of larger ones
    return status, Certificate(digits_of(error, eps), error, residual, condition, more)


def stopped(at, status, verdict) -> tuple:
    """Where there was not enough work allowed: nothing is known."""
    unknown = {
        k: xnp.where(at, v, getattr(verdict, k)) for k, v in (("digits", 0), ("error", xnp.inf))
    }
    return xnp.where(at, np.int32(Status.max_steps), status), verdict.replace(**unknown)


def nothing(x, eps: float, **more) -> tuple:
    """(status, Certificate) of matrices without elements."""
    lead, real = typeof(x).shape[:-2], dtypes.to_real(typeof(x).dtype)
    none, one = xnp.zeros(lead, real), xnp.ones(lead, real)
    return xnp.zeros(lead, np.int32), Certificate(digits_of(none, eps), none, none, one, more)


def of_sylvester(a, b, c, x, norm, eps: float, singular=None) -> tuple:
    """(status, Certificate) of a x + x b = c: the error is l⁻¹ r, with the residual r and its rounding.

    Args:
      norm: about |l⁻¹|_F for l: x ↦ a x + x b.
      eps: of the dtype x was rounded to, which may be narrower than that of a, b and c.
    """
    a, b, c, x = (ops.stop_gradient(y) for y in (a, b, c, x.astype(typeof(c).dtype)))
    one = unit(a, b)
    two = unit(x)
    a, b, x, c = scaled(a, one), scaled(b, one), scaled(x, two), scaled(scaled(c, one), two)
    r = c - matmul(a, x) - matmul(x, b)
    size = (frobenius(a) + frobenius(b)) * frobenius(x) + frobenius(c)
    rounding = roundings(max(typeof(c).shape[-2:])) * epsilon(a) * size
    left, norm = frobenius(r), norm * one
    off = norm * (left + rounding) + eps / 2
    condition = norm * relative(size, frobenius(x))
    backward = relative(left, max(typeof(c).shape[-2:]) * eps * size)
    return concluded(
        x, off, backward, condition, eps, residual=left * one * two, singular=singular, given=(a, b, c),
        backward_error=relative(left, size), sep=relative(one, norm),
    )  # fmt: skip


def of_stein(a, q, x, norm, eps: float, singular=None) -> tuple:
    """(status, Certificate) of a x aᴴ - x + q = 0; norm is about |l⁻¹|_F for l: x ↦ x - a x aᴴ."""
    a, q, x = (ops.stop_gradient(y) for y in (a, q, x.astype(typeof(q).dtype)))
    two = unit(x)
    q, x = scaled(q, two), scaled(x, two)
    r = matmul(matmul(a, x), adjoint(a)) - x + q
    size = frobenius(a) ** 2 * frobenius(x) + frobenius(x) + frobenius(q)
    left, n = frobenius(r), typeof(x).shape[-1]
    off = norm * (left + 2 * roundings(n) * epsilon(a) * size) + eps / 2
    condition = norm * relative(size, frobenius(x))
    return concluded(
        x, off, relative(left, n * eps * size), condition, eps, residual=left * two,
        singular=singular, given=(a, q), backward_error=relative(left, size), sep=relative(xnp.ones_like(norm), norm),
    )  # fmt: skip


def on_this_side(a, x, w, off, moved, near):
    """Whether x, off by ``off``, has the branch of the root or logarithm of a that is asked for.

    The root, whose eigenvalues are w, is off by ``moved``: none crosses the imaginary axis while the map
    e ↦ u e + e uᴴ is regular, with its inverse's norm ``near``. Real roots of real matrices (near is None)
    have pairs of eigenvalues that cross at once, where e ↦ u e + e u is singular, which the error has seen.
    Triangles keep the eigenvalues they were given with.
    """
    triangle = xnp.all(xnp.tril(a, -1) == 0, axis=(-2, -1))
    sure = frobenius(xnp.imag(x)) <= off if near is None else 2 * near * moved < 1
    return triangle | (sure & (xnp.min(xnp.real(w), axis=-1) > 0))


def of_root(a, x, u, norm, near, eps: float) -> tuple:
    """(status, Certificate) of x² = a with the triangular form u of x.

    x is a root of a + r exactly, so the error e has x e + e x - e² = r: with the norm k of the inverse
    of e ↦ x e + e x and 4 k² |r| < 1 there is such an e with |e| <= 2 k |r|. It belongs to the principal
    root where no eigenvalue crosses the imaginary axis on the way. (Higham 2008, section 6.1)
    """
    two = unit(x)
    below = typeof(x).shape[-1] * lost(a, (-2, -1)) / two / two
    a, x, u = scaled(scaled(a, two), two), scaled(x, two), scaled(u, two)
    norm = norm * two
    r = matmul(x, x) - a
    left, size = frobenius(r), frobenius(x) ** 2 + frobenius(a)
    most = left + roundings(typeof(x).shape[-1]) * epsilon(x) * size + below
    off = xnp.where(4 * norm * norm * most < 1, (1 + 4 * norm * norm * most) * norm * most, xnp.inf)
    near = near if near is None else near * two
    off = xnp.where(on_this_side(a, x, diagonal(u), off, off, near), off, xnp.inf) + eps / 2
    n = typeof(x).shape[-1]
    return concluded(
        x, off, relative(left, n * eps * size), norm * relative(frobenius(a), frobenius(x)), eps,
        residual=left * two * two, backward_error=relative(left, size),
    )  # fmt: skip
