"""Systems of equations, inverses, least squares: the second half of numpy.linalg."""

from __future__ import annotations

import functools
import math
import operator

import numpy as np

from .. import _ops as ops
from .._control import custom_jvp, custom_linear_solve, linear_call
from .._core import Array, dtypes, errors, fused, typeof
from .._ops import solve_with
from .._ops.matrices import adjoint, diagonal, matmul, swapped, times_rows
from ._matrices import as_matrices, hermitian_svd, refuse, refuses
from ._promote import as_array, astype, broadcast_shapes, broadcast_to

# Solve


def factorised(a):
    """The factors of a = uᵀ lᵀ p as one matrix (uᵀ on and below, lᵀ above the diagonal), and pivots.

    That is the factorisation p aᵀ = l u: LAPACK sees aᵀ in the memory of a, and moves nothing.
    """
    packed, pivots, _ = ops.lu(swapped(a))
    return swapped(packed), pivots


def solve_factorised(packed, pivots, b, transposed: bool = False):
    """x with a x = b (or aᵀ x = b) from the factors of a; without pivots, of p a."""
    if transposed:
        x = b if pivots is None else ops.exchange_rows(b, pivots, reverse=False)
        x = solve_with(packed, x, False, transpose="T", unit=True)
        return solve_with(packed, x, True, transpose="T")
    x = solve_with(packed, solve_with(packed, b, True), False, unit=True)
    return x if pivots is None else ops.exchange_rows(x, pivots, reverse=True)


def differentiable_solve(times, b, solve, has_aux: bool = False):
    """The x with times(x) = b, found by ``solve(b, transposed=False)``, which is not looked into.

    From a x = b follows a x' = b' - a' x, and for the adjoint aᵀ λ = x̄, b̄ = λ, ā = -λ xᵀ: one more
    solution with the same factors each. (Giles 2008, "Collected matrix derivative results", section 2.3.1)
    """
    return custom_linear_solve(
        times, b, solve=lambda _, b: solve(b), transpose_solve=lambda _, c: solve(c, transposed=True),
        has_aux=has_aux,
    )  # fmt: skip


def solve_matrices(a, b) -> tuple:
    """(x with a x = b, whether any a is singular), of equal batches and dtypes."""
    packed, pivots = factorised(ops.stop_gradient(a))
    solve = functools.partial(solve_factorised, packed, pivots)
    x = differentiable_solve(lambda x: matmul(a, x), b, solve)
    d = diagonal(packed)
    is_zero = ops.eq(d, ops.zeros(typeof(d)))
    return x, ops.reduce_or(is_zero, axes=tuple(range(typeof(d).ndim)))


@fused(2)
def _solve(a, b):
    a, b, back = as_matrices("solve", a, b, square=True)
    vector = typeof(b).ndim == 1
    b = b[..., None] if vector else b
    m, n = typeof(a).shape[-1], typeof(b).shape[-2] if typeof(b).ndim > 1 else -1
    if m != n:
        why = "need as many rows in b as in a"
        raise errors.shape_mismatch("numpy.linalg.solve", why, a=a, b=b)
    if typeof(a).ndim == 2 and typeof(b).ndim > 2:  # one matrix: all right-hand sides side by side
        x, singular = _solve_side_by_side(a, b)
    else:
        lead = broadcast_shapes("numpy.linalg.solve", typeof(a).shape[:-2], typeof(b).shape[:-2])
        a = broadcast_to(a, lead + typeof(a).shape[-2:])
        x, singular = solve_matrices(a, broadcast_to(b, lead + typeof(b).shape[-2:]))
    return back(x[..., 0] if vector else x), singular


def _solve_side_by_side(a, b):
    *lead, n, k = typeof(b).shape
    batch_size = math.prod(lead)
    wide = ops.move_axis(ops.reshape(b, shape=(batch_size, n, k)), 0, 1)
    x, singular = solve_matrices(a, ops.reshape(wide, shape=(n, batch_size * k)))
    x = ops.move_axis(ops.reshape(x, shape=(n, batch_size, k)), 1, 0)
    return ops.reshape(x, shape=(*lead, n, k)), singular


def solve(a, b):
    """The solution x of a x = b.

    A singular matrix raises LinAlgError; in compiled code it gives infinities or NaN.

    Args:
      a: matrices (..., n, n).
      b: right-hand sides (..., n, k), or one vector (n,).

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.solve(xnp.asarray([[2.0, 0.0], [1.0, 1.0]]), xnp.asarray([2.0, 3.0]))
    Array([1., 2.], dtype=float32)
    """
    x, singular = _solve(a, b)
    refuse(singular, a, "solve", "singular")
    return x


@fused(1)
def _inv(a):
    a, back = as_matrices("inv", a, square=True)
    x, singular = solve_matrices(a, identity_like(a))
    return back(x), singular


def identity_like(a):
    """Identity matrices of the rows of a, in its batch."""
    t = typeof(a)
    m = t.shape[-2]
    shape = (*t.shape[:-1], m)
    numbers = (ops.iota(shape=shape, dtype=dtypes.int32, axis=len(shape) - k) for k in (2, 1))
    return ops.convert(ops.eq(*numbers), dtype=t.dtype)


def inv(a):
    """The inverse. To solve equations, ``solve`` is faster and more accurate.

    A singular matrix raises LinAlgError; in compiled code it gives infinities or NaN.

    Args:
      a: matrices (..., n, n).

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.inv(xnp.asarray([[2.0, 0.0], [0.0, 4.0]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    x, singular = _inv(a)
    refuse(singular, a, "inv", "singular")
    return x


@fused(1)
def matrix_power(a, n: int):
    """A matrix to an integer power; negative ones are powers of the inverse.

    Args:
      a: matrices (..., m, m).
      n: the exponent.

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.matrix_power(xnp.asarray([[1, 1], [1, 0]]), 10)
    Array([[89, 55],
           [55, 34]], dtype=int32)
    """
    who = "numpy.linalg.matrix_power"
    a, n = as_array(who, a), operator.index(n)
    t = typeof(a)
    if t.ndim < 2 or t.shape[-1] != t.shape[-2]:
        raise errors.not_matrices(who, "must be square matrices (..., n, n)", a=a)
    if n < 0:
        a, n = _inv(a)[0], -n
    result = None if n else identity_like(a)
    while n:
        if n & 1:
            result = a if result is None else matmul(result, a)
        n >>= 1
        if n:
            a = matmul(a, a)
    return result


@fused(1)
def tensorinv(a, ind: int = 2):
    """The inverse with respect to ``tensordot`` over ``ind`` axes.

    Args:
      a: array whose first ``ind`` axes hold as many elements as the others.
      ind: how many axes count as rows.

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.tensorinv(2 * xnp.eye(4).reshape(2, 2, 4)).shape
    (4, 2, 2)
    """
    a = as_array("numpy.linalg.tensorinv", a)
    if not isinstance(ind, int) or ind <= 0:
        raise errors.bad_argument("numpy.linalg.tensorinv", "ind", ind, "a positive int")
    rows, columns = typeof(a).shape[:ind], typeof(a).shape[ind:]
    matrix = ops.reshape(a, shape=(math.prod(rows), math.prod(columns)))
    return ops.reshape(_inv(matrix)[0], shape=(*columns, *rows))


@fused(2)
def tensorsolve(a, b, axes=None):
    """The x with ``tensordot(a, x, x.ndim) == b``.

    Args:
      a: array whose first axes are those of b, and whose others hold as many elements.
      b: array.
      axes: axes of a to move to the end first.

    >>> import xcore.numpy as xnp
    >>> a = 2 * xnp.eye(4).reshape(2, 2, 2, 2)
    >>> xnp.linalg.tensorsolve(a, xnp.ones((2, 2)))
    Array([[0.5, 0.5],
           [0.5, 0.5]], dtype=float32)
    """
    a, b = (as_array("numpy.linalg.tensorsolve", x) for x in (a, b))
    if axes is not None:
        last = [i % typeof(a).ndim for i in axes]
        kept = [i for i in range(typeof(a).ndim) if i not in last]
        a = ops.transpose(a, perm=(*kept, *last))
    shape = typeof(a).shape[typeof(b).ndim :]
    size = math.prod(shape)
    if typeof(a).size != size * typeof(b).size or size != typeof(b).size:
        why = "need as many elements in b as in the remaining axes of a"
        raise errors.shape_mismatch("numpy.linalg.tensorsolve", why, a=a, b=b)
    x = _solve(ops.reshape(a, shape=(size, size)), ops.reshape(b, shape=(size,)))[0]
    return ops.reshape(x, shape=shape)


# Least squares


def _relative(who: str, a, relative):
    """The fraction of the largest singular value up to which others count as zero; by default that of rounding."""
    t = typeof(a)
    if relative is None:
        relative = max(t.shape[-2:]) * float(np.finfo(t.dtype).eps)
    return astype(as_array(f"numpy.linalg.{who}", relative), dtypes.to_real(t.dtype))


def _is_above(s, relative):
    """Which singular values exceed a fraction of the largest."""
    t = typeof(s)
    if not t.shape[-1]:
        return ops.gt(s, s)
    limit = ops.reduce_max(s, axes=(t.ndim - 1,)) * relative
    return ops.gt(s, ops.broadcast_in_dim(limit, shape=t.shape, dims=tuple(range(t.ndim - 1))))


def _values(a, hermitian: bool):
    """Singular values."""
    return (hermitian_svd(a, False) if hermitian else ops.svd(a, full=False, vectors=False))[0]


def thin_svd(a, hermitian: bool):
    return hermitian_svd(a, True) if hermitian else ops.svd(a, full=False, vectors=True)


def in_range(a) -> tuple:
    """(matrices whose singular values are in the range down to the precision of the largest, by what they were
    divided: a power of two, or an array of them)."""
    t = typeof(a)
    if 0 in t.shape:
        return a, ops.ones(t.update(shape=t.shape[:-2], dtype=dtypes.to_real(t.dtype)))
    unit = ops.beyond(a)
    wide = ops.broadcast_in_dim(unit, shape=t.shape, dims=tuple(range(t.ndim - 2)))
    return ops.div(a, ops.convert(wide, dtype=t.dtype)), unit


def _factors(a, relative, hermitian: bool) -> tuple:
    """(u, vᴴ, two factors of the inverse singular values, whose product may leave the range, which of them count):
    the pseudoinverse p of a matrix, small singular values counting as zero. Constants: ``_times`` knows the derivative.
    """
    a, unit = in_range(ops.stop_gradient(a))
    s, u, vh = thin_svd(a, hermitian)
    counts = _is_above(s, ops.stop_gradient(relative))
    one, zero = ops.ones(typeof(s)), ops.zeros(typeof(s))
    lead = tuple(range(typeof(unit).ndim))
    share = ops.div(one, ops.broadcast_in_dim(unit, shape=typeof(s).shape, dims=lead))
    inverse = ops.select(counts, ops.div(one, ops.select(counts, s, one)), zero)
    return u, vh, inverse, share, ops.select(counts, one, zero)


def _conj(x):
    return swapped(adjoint(x))


def _of_adjoint(factors: tuple) -> tuple:
    u, vh, *values = factors
    return adjoint(vh), adjoint(u), *values


@custom_jvp
def _times(a, factors, y):
    """p y."""
    u, vh, inverse, share, _ = factors
    return matmul(adjoint(vh), times_rows(times_rows(matmul(adjoint(u), y), inverse), share))


def _moved(a, factors, y):
    """p y of a tangent y, whose transpose knows the derivative by a, too."""
    over = lambda r, c: _conj(_times(adjoint(r[0]), _of_adjoint(r[1]), _conj(c)))  # noqa: E731
    return linear_call(lambda r, y: _times(*r, y), over, (a, factors), y)


@_times.defjvp
def _times_jvp(primals, tangents):
    # While the rank does not change
    #   p' = -p a' p + p pᴴ a'ᴴ (1 - a p) + (1 - p a) a'ᴴ pᴴ p.
    # (Golub and Pereyra 1973, "The differentiation of pseudo-inverses and nonlinear least squares
    # problems whose variables separate", equation 4.12)
    # No singular vector is differentiated: where singular values are equal they have no derivatives, and p has.
    (a, factors, y), (a_dot, _, y_dot) = primals, tangents
    turned, back = (adjoint(a), _of_adjoint(factors)), adjoint(a_dot)
    x = _times(a, factors, y)
    x_dot = _moved(a, factors, y_dot - matmul(a_dot, x))
    x_dot = x_dot + _moved(a, factors, _moved(*turned, matmul(back, y - matmul(a, x))))
    return x, x_dot + _moved_outside(a, factors, matmul(back, _times(*turned, x)))


@custom_jvp
def _outside(a, factors, x):
    """(1 - p a) x."""
    _, vh, _, _, counts = factors
    return x - matmul(adjoint(vh), times_rows(matmul(vh, x), counts))


def _moved_outside(a, factors, x):
    over = lambda r, c: _conj(_outside(*r, _conj(c)))  # noqa: E731
    return linear_call(lambda r, x: _outside(*r, x), over, (a, factors), x)


@_outside.defjvp
def _outside_jvp(primals, tangents):
    # q' = -p a' q - q a'ᴴ pᴴ for q = 1 - p a
    (a, factors, x), (a_dot, _, x_dot) = primals, tangents
    left = _outside(a, factors, x)
    by_adjoint = _times(adjoint(a), _of_adjoint(factors), x)
    change = _moved_outside(a, factors, x_dot - matmul(adjoint(a_dot), by_adjoint))
    return left, change - _moved(a, factors, matmul(a_dot, left))


def least_squares(a, b, relative, hermitian: bool):
    """The x of least norm among those for which |a x - b| is least."""
    return _times(a, _factors(a, relative, hermitian), b)


@fused(2)
def pinv(a, rtol=None, hermitian: bool = False, *, rcond=None):
    """The Moore-Penrose inverse.

    Args:
      a: matrices (..., m, n).
      rtol: singular values not above this part of the largest count as zero; max(m, n) times the
        precision of the dtype by default.
      hermitian: a is Hermitian, which makes it cheaper.
      rcond: another name for rtol.

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.pinv(xnp.asarray([[2.0, 0.0], [0.0, 0.0]]))
    Array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    a, back = as_matrices("pinv", a, square=hermitian)
    relative = _relative("pinv", a, rcond if rtol is None else rtol)
    return back(least_squares(a, identity_like(a), relative, hermitian))


def lstsq(a, b, rcond=None, *, numpy_resid: bool = False):
    """A least-squares solution of a x = b: among the best x the one of least norm.

    Args:
      a: matrix (m, n).
      b: right-hand sides (m,) or (m, k).
      rcond: singular values not above this part of the largest count as zero; max(m, n) times the
        precision of the dtype by default.
      numpy_resid: return an empty array of residuals where NumPy does, for matrices not of full
        rank or without more rows than columns. This depends on values and so not under ``jit``.

    Returns:
      x, the sums of squared residuals for each column of b, the rank, and the singular values.

    >>> import xcore.numpy as xnp
    >>> a = xnp.asarray([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> x, residuals, rank, s = xnp.linalg.lstsq(a, xnp.asarray([1.0, 3.0, 5.0]))
    >>> xnp.round(x, 3), int(rank)
    (Array([1., 2.], dtype=float32), 2)
    """
    x, residuals, rank, s = _lstsq(a, b, rcond)
    m, n = np.shape(a)
    if numpy_resid and (m <= n or int(rank) < n):
        residuals = residuals[:0]
    return x, residuals, rank, s


@fused(3)
def _lstsq(a, b, rcond):
    a, b, back = as_matrices("lstsq", a, b)
    vector = typeof(b).ndim == 1
    b = b[:, None] if vector else b
    if typeof(a).ndim != 2 or typeof(b).ndim != 2 or typeof(a).shape[0] != typeof(b).shape[0]:
        why = "need a (m, n) and b (m,) or (m, k)"
        raise errors.shape_mismatch("numpy.linalg.lstsq", why, a=a, b=b)
    relative = _relative("lstsq", a, rcond)
    x = least_squares(a, b, relative, False)
    scaled, unit = in_range(a)
    (s,) = ops.svd(scaled, full=False, vectors=False)
    size = ops.abs(b - matmul(a, x))
    residuals = ops.reduce_sum(size * size, axes=(0,))
    return (
        back(x[:, 0] if vector else x),
        back(residuals),
        _count_true(_is_above(s, relative)),
        back(s * unit),
    )


def _count_true(which):
    """The number of True values along the last axis."""
    numbers = ops.convert(which, dtype=dtypes.default_dtype("int"))
    return ops.reduce_sum(numbers, axes=(typeof(which).ndim - 1,))


@fused(2)
def _matrix_rank(A, tol, hermitian, rtol):
    """(ranks, whether there were numbers that are not finite)"""
    x = as_array("numpy.linalg.matrix_rank", A)
    if typeof(x).ndim < 2:
        nonzero = ops.ne(x, ops.zeros(typeof(x)))
        some = ops.reduce_or(nonzero, axes=tuple(range(typeof(x).ndim)))
        return ops.convert(some, dtype=dtypes.default_dtype("int")), np.False_
    a, _ = as_matrices("matrix_rank", x, square=hermitian)
    if tol is None:
        s = _values(in_range(a)[0], hermitian)
        return _count_true(_is_above(s, _relative("matrix_rank", a, rtol))), _any_nan(s)
    s = _values(a, hermitian)
    tol = astype(as_array("numpy.linalg.matrix_rank", tol), typeof(s).dtype)
    above = ops.gt(s, broadcast_to(tol[..., None] if typeof(tol).ndim else tol, typeof(s).shape))
    return _count_true(above), _any_nan(s)


def _any_nan(x):
    return ops.reduce_or(ops.ne(x, x), axes=tuple(range(typeof(x).ndim)))


def matrix_rank(A, tol=None, hermitian: bool = False, *, rtol=None):
    """The number of singular values that are not zero up to rounding.

    A matrix with NaN or infinities raises LinAlgError; in compiled code its rank is 0.

    Args:
      A: matrices (..., m, n); of a vector the rank is 1 unless all of it is zero.
      tol: the largest number that counts as zero.
      hermitian: A is Hermitian, which makes it cheaper.
      rtol: the same as a part of the largest singular value; max(m, n) times the precision of the
        dtype by default.

    >>> import xcore.numpy as xnp
    >>> xnp.linalg.matrix_rank(xnp.ones((3, 3)))
    Array(1, dtype=int32)
    """
    rank, bad = _matrix_rank(A, tol, hermitian, rtol)
    if type(bad) is Array and refuses() and bool(bad):
        raise errors.not_finite("numpy.linalg.matrix_rank", A)
    return rank
