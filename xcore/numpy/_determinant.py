"""Determinants, whose derivatives of first and second order are right for singular matrices too."""

from __future__ import annotations

import math
from typing import NamedTuple

from .. import _ops as ops
from .._control import custom_jvp, jvp, linear_call
from .._core import Array, ArrayType, dtypes, fused, one_of, typeof
from .._ops.factor import solve_with, take_rows
from .._ops.matrices import (
    adjoint,
    diagonal,
    matmul,
    part,
    swapped,
    times_columns,
)  # fmt: skip
from ._equations import identity_like, solve_matrices
from ._floats import exponent_fields, times_power_of_two
from ._matrices import as_matrices
from ._triangles import diagonal_of


class SlogdetResult(NamedTuple):
    """The sign of a determinant and the logarithm of its modulus.

    >>> import xcore.numpy as xnp
    >>> found = xnp.linalg.slogdet(-xnp.eye(3))
    >>> found.sign, abs(found.logabsdet)
    (Array(-1., dtype=float32), Array(0., dtype=float32))
    """

    sign: Array
    logabsdet: Array


def _signed_lu(a):
    """The diagonal of the upper factor, and whether the rows were exchanged an odd number of times."""
    packed, pivots, _ = ops.lu(swapped(a))  # as LAPACK sees a; the determinant is the same
    t = typeof(pivots)
    unmoved = ops.iota(shape=t.shape, dtype=t.dtype, axis=t.ndim - 1)
    moved = ops.convert(ops.ne(pivots, unmoved), dtype=dtypes.int32)
    count = ops.reduce_sum(moved, axes=(t.ndim - 1,))
    odd = ops.and_(count, ops.ones(typeof(count)))
    return diagonal_of(swapped(packed), 0), ops.ne(odd, ops.zeros(typeof(odd)))


def _negative_where(which, x):
    return ops.select(which, -x, x)


def product_in_range(x):
    """The product along the last axis, where products of some of the factors leave the dtype's range, too.

    Exponents are dealt out evenly: no factor is larger than another, but for less than 4.
    """
    t = typeof(x)
    if t.dtype.itemsize < 4:
        return ops.convert(product_in_range(ops.convert(x, dtype=dtypes.float32)), dtype=t.dtype)
    if t.shape[-1] < 3:  # of two there is no order
        return ops.reduce_prod(x, axes=(t.ndim - 1,))
    size = _largest_part(x)
    return _dealt_out(x, size, ops.zeros(_counts(size)))


def _counts(size):
    """The type of what is counted in the products of these moduli."""
    return typeof(ops.reduce_sum(exponent_fields(size), axes=(typeof(size).ndim - 1,)))


def _dealt_out(x, size, less):
    """The product divided by 2 to so many."""
    fields, last = exponent_fields(size), typeof(x).ndim - 1
    t, n = typeof(fields), typeof(x).shape[-1]
    number = lambda v: ops.full_like_type(t, v)  # noqa: E731
    zero = ops.reduce_or(ops.eq(size, ops.zeros(typeof(size))), axes=(last,))
    total = ops.sub(ops.reduce_sum(fields, axes=(last,)), less)
    total = ops.select(zero, ops.zeros(typeof(total)), total)  # what is 0 stays below infinity
    total = ops.broadcast_in_dim(total, shape=t.shape, dims=tuple(range(last)))
    rest, place = ops.rem(total, number(n)), ops.iota(shape=t.shape, dtype=t.dtype, axis=last)
    upto = lambda i: ops.div(ops.mul(rest, i), number(n))  # noqa: E731
    share = ops.div(total, number(n)) + upto(place + number(1)) - upto(place)
    return ops.reduce_prod(times_power_of_two(x, share - fields), axes=(last,))


def _with_exponent(x):
    """(p, k): the product along the last axis is p 2^k, where p is next to 1, or 0."""
    last, size = typeof(x).ndim - 1, _largest_part(x)
    if not typeof(x).shape[-1]:
        return ops.reduce_prod(x, axes=(last,)), ops.zeros(_counts(size))
    logs = ops.reduce_sum(ops.log(size), axes=(last,))
    logs = ops.select(ops.is_finite(logs), logs, ops.zeros(typeof(logs)))
    power = ops.trunc(ops.div(logs, ops.full_like_type(typeof(logs), math.log(2))))
    power = ops.convert(power, dtype=_counts(size).dtype)
    return _dealt_out(x, size, power), power


def _times_powers(x, powers):
    """Rows of matrices times 2 to a power each."""
    t = typeof(x)
    powers = ops.broadcast_in_dim(powers, shape=t.shape, dims=tuple(range(t.ndim - 1)))
    return times_power_of_two(x, powers)


def _exponents(size):
    """Of moduli; 0 of 0."""
    fields, one = exponent_fields(size), exponent_fields(ops.ones(typeof(size)))
    none = ops.zeros(typeof(fields))
    return ops.select(ops.eq(fields, none), none, fields - one)


def _largest_part(x):
    """The larger of the real and imaginary part, without signs."""
    if not dtypes.is_complex(typeof(x).dtype):
        return ops.abs(x)
    return ops.max(ops.abs(ops.real(x)), ops.abs(ops.imag(x)))


@fused(1)
def slogdet(a, *, method: str | None = None):
    """The sign of the determinant and the logarithm of its modulus, which cannot overflow.

    Args:
      a: matrices (..., n, n).
      method: "lu"; "qr" is accepted for compatibility, and gives the same.

    >>> import xcore.numpy as xnp
    >>> sign, log = xnp.linalg.slogdet(xnp.diag(xnp.asarray([-1e30, 1e30])))
    >>> print(sign, round(float(log), 3))
    -1.0 138.155
    """
    one_of("numpy.linalg.slogdet", "method", method, (None, "lu", "qr"), "None, 'lu' or 'qr'")
    a, back = as_matrices("slogdet", a, square=True)
    d, odd = _signed_lu(a)
    last = typeof(d).ndim - 1
    size = ops.abs(d)
    is_zero = ops.eq(size, ops.zeros(typeof(size)))
    # of real numbers the phase is a step, whose derivative is zero
    fixed = d if dtypes.is_complex(typeof(d).dtype) else ops.stop_gradient(d)
    safe = ops.select(is_zero, ops.ones(typeof(size)), ops.abs(fixed))
    phase = ops.div(fixed, ops.convert(safe, dtype=typeof(d).dtype))
    sign = _negative_where(odd, ops.reduce_prod(phase, axes=(last,)))
    return SlogdetResult(back(sign), back(ops.reduce_sum(ops.log(size), axes=(last,))))


@custom_jvp
def determinant(a):
    """The determinants of matrices that LAPACK knows."""
    d, odd = _signed_lu(a)
    return _negative_where(odd, product_in_range(d))


@determinant.defjvp
def _(primals, tangents):
    (a,), (a_dot,) = primals, tangents
    n = typeof(a).ndim
    det = determinant(a)
    if 0 in typeof(a).shape:
        return det, ops.zeros(typeof(det))
    return det, ops.reduce_sum(swapped(_adjugate(a)) * a_dot, axes=(n - 2, n - 1))


@custom_jvp
def _adjugate(a):
    """adj(a), with det' = tr(adj(a) a') and a adj(a) = det(a)."""
    # With columns exchanged so that a p = q r and the diagonal of r does not grow,
    # adj(a) = det(q p) p adj(r) qᴴ, and with r = (r₁ s; 0 ρ)
    #   adj(r) = det(r₁) (ρ r₁⁻¹  -r₁⁻¹ s; 0  1).
    # Only r₁ is divided by: that is right for rank n - 1, where ρ = 0, and for less, where
    # det(r₁) = 0 whatever its inverse is taken for. Rows are divided by the exponents of r₁'s diagonal, so that
    # no row leaves the dtype's range unless adj(a) does.
    q, r, order = ops.qr(a, full=False, pivoting=True)
    r1, s, rho = r[..., :-1, :-1], r[..., :-1, -1:], r[..., -1:, -1:]
    one, last = identity_like(r), typeof(a).ndim - 2
    product, power = _with_exponent(diagonal(r1))
    own, power = _exponents(_largest_part(diagonal(r1))), power[..., None]
    right = ops.concatenate(rho * one[..., :-1, :-1], -s, axis=last + 1)
    right, below = _times_powers(right, power - own), _times_powers(one[..., -1:, :], power)
    top = solve_with(_without_zeros_on_diagonal(_times_powers(r1, -own)), right, False)
    inner = ops.concatenate(top, below, axis=last)
    minor = determinant(_columns(q, order)) * product
    number = ops.iota(shape=typeof(order).shape, dtype=typeof(order).dtype, axis=last)
    _, back = ops.sort(order, number, axis=last)
    return minor[..., None, None] * matmul(take_rows(inner, back), adjoint(q))


@_adjugate.defjvp
def _(primals, tangents):
    (a,), (a_dot,) = primals, tangents
    # tr(adj′[d] e) is the second derivative of det, which is symmetric in d and e
    moved = linear_call(
        _adjugate_change, lambda a, ct: swapped(_adjugate_change(a, swapped(ct))), a, a_dot
    )
    return _adjugate(a), moved


@custom_jvp
def _adjugate_change(a, d):
    """The derivative of adj at a in the direction d.

    With a = u s vᴴ, p = uᴴ d v and c[i,j] = ∏ s[k] over k ≠ i, j, it is det(u vᴴ) v m uᴴ where
    m[i,i] = Σ c[i,j] p[j,j] over j ≠ i and m[i,j] = -c[i,j] p[i,j].
    """
    s, u, vh = ops.svd(ops.stop_gradient(a), full=False, vectors=True)
    p = matmul(adjoint(u), matmul(d, adjoint(vh)))
    others = ops.convert(_products_of_others(s), dtype=typeof(p).dtype)
    sums = ops.reduce_sum(times_columns(others, diagonal(p)), axes=(typeof(p).ndim - 1,))
    m = times_columns(identity_like(p), sums) - others * p
    phase = determinant(u) * determinant(vh)
    return phase[..., None, None] * matmul(adjoint(vh), matmul(m, adjoint(u)))


def _change_by_inverse(a, d):
    """The same of regular matrices: det (tr(a⁻¹ d) a⁻¹ - a⁻¹ d a⁻¹)."""
    x = solve_matrices(a, identity_like(a))[0]
    y = matmul(x, d)
    trace = ops.reduce_sum(diagonal(y), axes=(typeof(a).ndim - 2,))
    return determinant(a)[..., None, None] * (trace[..., None, None] * x - matmul(y, x))


@_adjugate_change.defjvp
def _(primals, tangents):
    (a, d), (a_dot, d_dot) = primals, tangents
    _, moved = jvp(lambda a: _change_by_inverse(a, d), (a,), (a_dot,))
    return _adjugate_change(a, d), moved + _adjugate_change(a, d_dot)


def _products_of_others(s):
    """[..., i, j]: the product of all values but the i-th and the j-th; 0 on the diagonal."""
    t = typeof(s)
    square = ArrayType((*t.shape, t.shape[-1]), t.dtype)
    last = t.ndim
    values = ops.broadcast_in_dim(s, shape=square.shape, dims=(*range(last - 1), last))
    one = ops.ones(square)
    right = part(ops.ones(square), ops.lt)  # columns after the row
    between = ops.select(ops.eq(right, one), values, one)
    between = _before(between, last, False)
    first, after = _before(s, last - 1, False), _before(s, last - 1, True)
    first = ops.broadcast_in_dim(first, shape=square.shape, dims=tuple(range(last)))
    after = ops.broadcast_in_dim(after, shape=square.shape, dims=(*range(last - 1), last))
    upper = part(first * between * after, ops.lt)
    return upper + swapped(upper)


def _before(x, axis: int, reverse: bool):
    """The product of all elements before (``reverse``: after) each along an axis."""
    t = typeof(x)
    n = t.shape[axis]
    one = ops.ones(t.with_shape(tuple(1 if i == axis else k for i, k in enumerate(t.shape))))
    start = tuple(int(reverse and i == axis) for i in range(t.ndim))
    limit = tuple(k - (not reverse and i == axis) for i, k in enumerate(t.shape))
    rest = ops.slice(x, start=start, limit=limit, strides=(1,) * t.ndim)
    shifted = ops.concatenate(*((rest, one) if reverse else (one, rest)), axis=axis)
    return ops.cumprod(shifted, axis=axis, reverse=reverse) if n else x


def _without_zeros_on_diagonal(r):
    ones = ops.ones(typeof(r).strong())
    is_zero = ops.eq(r, ops.zeros(typeof(r).strong()))
    return r + part(ops.select(is_zero, ones, ops.zeros(typeof(ones))), ops.eq)


def _columns(x, order):
    return swapped(take_rows(swapped(x), order))


@fused(1)
def det(a):
    """The determinant; its derivative is right for singular matrices too.

    It is a product of pivots, whose exponents are dealt out first: it is right where some of these leave the
    dtype's range together, as 1e200 twice do, and all of them do not; 0 or infinite where it leaves the range
    itself. ``slogdet`` has no such limit.

    Args:
      a: matrices (..., n, n).

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.det(xnp.asarray([[1.0, 2.0], [3.0, 4.0]]))
    Array(-2., dtype=float32)
    """
    a, back = as_matrices("det", a, square=True)
    return back(determinant(a))
