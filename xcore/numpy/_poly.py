"""Polynomials as arrays of coefficients, the highest power first."""

from __future__ import annotations

import math
import operator

import numpy as np

from .. import _ops as ops
from .._control import scan
from .._core import Array, ArrayType, dtypes, errors, fused, typeof
from ._convolve import convolve
from ._creation import asarray, zeros
from ._dot import matmul
from ._elementwise import absolute
from ._equations import inv, lstsq
from ._floats import isfinite
from ._functions import conj, power_of_two_near, sqrt
from ._grid import vander
from ._join import concatenate
from ._matrices import eigvals
from ._promote import (
    as_array,
    as_inexact,
    astype,
    broadcast_to,
    lists_to_numpy,
    promote_dtypes,
    result_dtype,
)
from ._reduce import max as max_of
from ._reduce import sum as sum_of
from ._reduce import summed_dtype
from ._select import where
from ._shape import moveaxis, reshape

# Arithmetic


def _coefficients(who: str, *ps) -> list:
    """Coefficients as vectors, lists too, in a common dtype; numbers are constants."""
    out = promote_dtypes(who, *[asarray(p) if isinstance(p, (list, tuple)) else p for p in ps])
    for p in out:
        if typeof(p).ndim > 1:
            raise errors.bad_argument(who, "coefficients", p, "1-d")
    return [reshape(p, (typeof(p).size,)) for p in out]


def _lengthened(p, n: int):
    """With zeros in front, so that there are n coefficients."""
    missing = n - typeof(p).size
    zero = ops.zeros(ArrayType((), typeof(p).dtype))
    return ops.pad(p, zero, low=(missing,), high=(0,), interior=(0,)) if missing else p


def _without_leading_zeros(p, tolerance: float = 0):
    """What is behind leading zeros; needs concrete coefficients."""
    counts = np.abs(np.asarray(p)) > tolerance
    return p[int(np.argmax(counts)) if counts.any() else max(counts.size - 1, 0) :]


def polyadd(a1, a2):
    """The sum of two polynomials.

    Args:
      a1, a2: coefficients, the highest power first.

    >>> import xcore.numpy as xnp
    >>> xnp.polyadd(xnp.asarray([1, 2]), xnp.asarray([9, 5, 4]))
    Array([9, 6, 6], dtype=int32)
    """
    return _added(_coefficients("numpy.polyadd", a1, a2), False)


def polysub(a1, a2):
    """The difference of two polynomials.

    Args:
      a1, a2: coefficients, the highest power first.

    >>> import xcore.numpy as xnp
    >>> xnp.polysub(xnp.asarray([2, 10, -2]), xnp.asarray([3, 10, -4]))
    Array([-1,  0,  2], dtype=int32)
    """
    return _added(_coefficients("numpy.polysub", a1, a2), True)


@fused(1)
def _added(pair, minus):
    n = max(typeof(p).size for p in pair)
    a, b = (_lengthened(p, n) for p in pair)
    return a - b if minus else a + b


def polymul(a1, a2, *, trim_leading_zeros=False):
    """The product of two polynomials.

    Args:
      a1, a2: coefficients, the highest power first.
      trim_leading_zeros: leave out leading zeros of both, as NumPy does (not under jit).

    >>> import xcore.numpy as xnp
    >>> xnp.polymul(xnp.asarray([1, 2, 3]), xnp.asarray([9, 5, 1]))
    Array([ 9, 23, 38, 17,  3], dtype=int32)
    """
    a, b = _coefficients("numpy.polymul", a1, a2)
    if trim_leading_zeros:
        a, b = _without_leading_zeros(a), _without_leading_zeros(b)
    none = zeros(1, typeof(a).dtype)
    return convolve(a if typeof(a).size else none, b if typeof(b).size else none)


def polydiv(u, v, *, trim_leading_zeros=False):
    """Quotient and remainder of two polynomials.

    Args:
      u, v: coefficients of the dividend and the divisor, the highest power first.
      trim_leading_zeros: leave out leading zeros of the remainder, as NumPy does (not under jit).

    >>> import xcore.numpy as xnp
    >>> xnp.polydiv(xnp.asarray([3.0, 5.0, 2.0]), xnp.asarray([2.0, 1.0]))[0]
    Array([1.5 , 1.75], dtype=float32)
    """
    u, v = (as_inexact("numpy.polydiv", p) for p in _coefficients("numpy.polydiv", u, v))
    quotient, rest = _divided([u, v])
    return quotient, _without_leading_zeros(rest, 1e-8) if trim_leading_zeros else rest


@fused(1)
def _divided(pair):
    u, v = pair
    n, m = typeof(u).size, typeof(v).size
    if n < m:
        return zeros(1, typeof(u).dtype), u
    dtype = typeof(u).dtype
    divisor = ops.pad(v, ops.zeros(ArrayType((), dtype)), low=(0,), high=(n - m,), interior=(0,))
    zero = ops.zeros(ArrayType((1,), dtype))

    def step(u, _):
        factor = u[0] / v[0]
        return concatenate([(u - factor * divisor)[1:], zero]), factor

    u, quotient = scan(step, u, None, length=n - m + 1)
    # where the quotient stood, division leaves zeros or rounding errors
    return quotient, concatenate([ops.zeros(ArrayType((n - m + 1,), dtype)), u[: m - 1]])


@fused(2)
def polyval(p, x, *, unroll=16):
    """The value of a polynomial, by Horner's scheme.

      p(x) = Σ_k p_k x^(n-k)

    of degree n, the highest power first.

    Args:
      p: coefficients, the highest power first; an array's further axes are further polynomials.
      x: where.
      unroll: how many steps one turn of the loop takes.

    >>> import xcore.numpy as xnp
    >>> xnp.polyval(xnp.asarray([3, 0, 1]), 5)
    Array(76, dtype=int32)
    """
    who = "numpy.polyval"
    p, x = promote_dtypes(who, p, x)
    dtype = typeof(p).dtype
    shape = np.broadcast_shapes(typeof(p).shape[1:], typeof(x).shape)
    x = broadcast_to(x, shape)
    start = ops.zeros(ArrayType(shape, dtype))
    if not typeof(p).size:
        return start
    return scan(lambda y, c: (y * x + c, None), start, p, unroll=unroll)[0]


def polyder(p, m=1):
    """The derivative of a polynomial; small integers are multiplied in the default width.

    Args:
      p: coefficients, the highest power first.
      m: how many times to differentiate.

    >>> import xcore.numpy as xnp
    >>> xnp.polyder(xnp.asarray([1, 1, 1, 1]))
    Array([3, 2, 1], dtype=int32)
    """
    m = operator.index(m)
    if m < 0:
        raise errors.bad_argument("numpy.polyder", "m", m, "not negative")
    (p,) = _coefficients("numpy.polyder", p)
    return _derivative(astype(p, summed_dtype(typeof(p), None, promote=True)), m)


def _factors(n: int, m: int):
    """k (k-1) … (k-m+1) for the powers k = n-1, …, m."""
    powers = np.arange(n - 1, m - 1, -1, dtype=np.float64)
    return np.prod([powers - i for i in range(m)], axis=0) if m else np.ones(n)


@fused(1)
def _derivative(p, m):
    n = typeof(p).size
    if m == 0:
        return p
    kept = p[: max(n - m, 0)]
    return kept * _factors(n, m).astype(typeof(p).dtype)


def polyint(p, m=1, k=None):
    """The integral of a polynomial.

    Args:
      p: coefficients, the highest power first.
      m: how many times to integrate.
      k: constants of integration, the first integral's first; 0 if not given.

    >>> import xcore.numpy as xnp
    >>> xnp.polyint(xnp.asarray([3.0, 2.0, 1.0]))
    Array([1., 1., 1., 0.], dtype=float32)
    """
    who = "numpy.polyint"
    m = operator.index(m)
    if m < 0:
        raise errors.bad_argument(who, "m", m, "not negative")
    k = np.zeros(m) if k is None else k
    k = reshape(as_array(who, asarray(lists_to_numpy(k))), (-1,))
    k = broadcast_to(k, (m,)) if typeof(k).size == 1 else k
    if typeof(k).size != m:
        raise errors.bad_argument(who, "k", k, f"one constant, or {m}")
    (p,) = _coefficients(who, p)
    return _integral([p, k], m)


@fused(1)
def _integral(pair, m):
    p, k = pair
    if m == 0:
        return p
    p = as_inexact("numpy.polyint", p)
    dtype = typeof(p).dtype
    # the constant of the i-th integral is integrated m - i times more
    factorials = np.asarray([math.factorial(m - 1 - i) for i in range(m)], np.float64)
    constants = astype(k, dtype) / factorials.astype(dtype)
    return concatenate([p / _factors(typeof(p).size + m, m).astype(dtype), constants])


# Roots and fitting


def poly(seq_of_zeros):
    """The polynomial with given roots, or the characteristic polynomial of a square matrix.

    Args:
      seq_of_zeros: 1-d array of roots, or a square matrix.

    >>> import xcore.numpy as xnp
    >>> xnp.poly(xnp.asarray([1.0, 2.0]))
    Array([ 1., -3.,  2.], dtype=float32)
    """
    who = "numpy.poly"
    if isinstance(seq_of_zeros, (list, tuple)):
        seq_of_zeros = asarray(seq_of_zeros)
    roots = as_inexact(who, seq_of_zeros)
    shape = typeof(roots).shape
    if len(shape) > 2 or (len(shape) == 2 and shape[0] != shape[1]):
        raise errors.bad_argument(who, "seq_of_zeros", roots, "1-d, or a square matrix")
    return _with_roots(roots)


@fused(1)
def _with_roots(roots):
    real = not dtypes.is_complex(typeof(roots).dtype)
    if typeof(roots).ndim == 2:
        product = _product(eigvals(roots))
        return ops.real(product) if real else product  # the roots of a real one come in pairs
    return _product(reshape(roots, (-1,)))


def _product(roots):
    """The product of x - r over roots r."""
    n, dtype = typeof(roots).size, typeof(roots).dtype
    if not n:
        return ops.ones(ArrayType((), dtype))  # as in NumPy: a number
    start = np.zeros(n + 1)
    start[0] = 1
    zero = ops.zeros(ArrayType((1,), dtype))

    def step(c, r):
        return c - r * concatenate([zero, c[:-1]]), None

    return scan(step, as_array("numpy.poly", start.astype(dtype)), roots)[0]


def roots(p, *, strip_zeros=True):
    """The roots of a polynomial: the eigenvalues of its companion matrix.

    Args:
      p: coefficients, the highest power first.
      strip_zeros: leave out leading zeros, and split off roots that are 0. This needs concrete
        coefficients; under jit pass False, and coefficients whose first is not 0.

    >>> import xcore.numpy as xnp
    >>> xnp.sort(xnp.roots(xnp.asarray([1.0, -3.0, 2.0])).real).round(3)
    Array([1., 2.], dtype=float32)
    """
    who = "numpy.roots"
    (p,) = _coefficients(who, p)
    p = as_inexact(who, p)
    if not strip_zeros:
        return _companion_roots(p)
    if type(p) is not Array:
        what = "the zeros among the coefficients in numpy.roots (or strip_zeros=False)"
        raise errors.no_concrete_value(p, what, p.origin())
    places = np.flatnonzero(np.asarray(p))
    if not places.size:
        return zeros(0, dtypes.to_complex(typeof(p).dtype))
    first, last = int(places[0]), int(places[-1])
    found = _companion_roots(p[first : last + 1])
    return concatenate([found, zeros(typeof(p).size - 1 - last, typeof(found).dtype)])


@fused(1)
def _companion_roots(p):
    n, dtype = typeof(p).size - 1, typeof(p).dtype
    if n < 1:
        return zeros(0, dtypes.to_complex(dtype))
    top = reshape(-p[1:] / p[0], (1, n))
    shifted = np.eye(n - 1, n).astype(dtype)
    return eigvals(concatenate([top, as_array("numpy.roots", shifted)], 0))


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """The polynomial that fits samples best, in the sense of least squares.

      min Σ_i w_i² |y_i - p(x_i)|²

    over the polynomials p of degree ``deg``.

    Args:
      x: 1-d array of coordinates.
      y: samples, 1-d, or 2-d with a fit for each column.
      deg: the degree.
      rcond: singular values below this part of the largest count as 0.
      full: also return what ``linalg.lstsq`` does: residuals, rank, singular values, rcond.
      w: weights of the samples' distances (not of their squares).
      cov: also return the covariance of the coefficients; "unscaled": without the residuals' factor.

    >>> import xcore.numpy as xnp
    >>> xnp.polyfit(xnp.arange(4.0), 2 * xnp.arange(4.0) + 1, 1).round(3)
    Array([2., 1.], dtype=float32)
    """
    who = "numpy.polyfit"
    x, y = as_array(who, x), as_array(who, y)
    deg = operator.index(deg)
    if deg < 0:
        raise errors.bad_argument(who, "deg", deg, "not negative")
    if typeof(x).ndim != 1 or not typeof(x).size or typeof(y).ndim not in (1, 2):
        raise errors.shape_mismatch(who, "need 1-d coordinates and 1-d or 2-d samples", x=x, y=y)
    if typeof(y).shape[0] != typeof(x).size:
        raise errors.shape_mismatch(who, "need a sample for each coordinate", x=x, y=y)
    arrays = [x, y] if w is None else [x, y, w]
    c, residuals, rank, s, rcond, covariance = _fit(arrays, deg, rcond, cov if not full else False)
    if full:
        return c, residuals, rank, s, rcond
    return (c, covariance) if cov else c


@fused(1)
def _fit(arrays, deg, rcond, cov):
    who = "numpy.polyfit"
    x, y, *weights = [as_inexact(who, a) for a in arrays]
    dtype, _ = result_dtype(who, x, y, *weights)
    x, y = astype(x, dtype), astype(y, dtype)
    n = typeof(x).size
    rcond = n * float(dtypes.finfo(dtype).eps) if rcond is None else rcond
    most = ops.stop_gradient(max_of(absolute(x)))
    unit = power_of_two_near(where((most > 0) & isfinite(most), most, 1))  # so powers stay in range
    matrix = vander(x / unit, deg + 1)
    if weights:
        w = astype(weights[0], dtype)
        matrix = matrix * w[:, None]
        y = y * (w if typeof(y).ndim == 1 else w[:, None])
    # columns of length 1: powers of x would differ by orders of magnitude
    scale = sqrt(sum_of(square_of(matrix), axis=0))
    matrix = matrix / scale
    c, residuals, rank, s = lstsq(matrix, y, rcond)
    # the power of a unit need not be a number where a coefficient is one
    degrees = np.arange(deg, -1, -1)
    first, second = unit ** (degrees // 2), unit ** (degrees - degrees // 2)
    unscale = lambda v: v / scale / first / second  # noqa: E731
    away = y - matmul(matrix, c)
    covariance = _covariance(matrix, unscale, away, n - deg - 1, cov) if cov else None
    return unscale(c.T).T, residuals, rank, s, as_array(who, rcond), covariance


def square_of(z):
    """|z|²."""
    return ops.real(z * conj(z)) if dtypes.is_complex(typeof(z).dtype) else z * z


def _covariance(matrix, unscale, away, free: int, cov):
    """The covariance of coefficients fitted with ``free`` samples more than coefficients."""
    if cov != "unscaled" and free <= 0:
        raise errors.bad_argument(
            "numpy.polyfit", "cov", cov, "False or 'unscaled' for so few samples"
        )
    base = inv(matmul(conj(matrix).T, matrix))
    if cov == "unscaled":
        found = unscale(unscale(base).T).T
        return found if typeof(away).ndim == 1 else found[..., None]  # the same for all columns
    most = ops.stop_gradient(max_of(absolute(away), axis=0))
    unit = power_of_two_near(where((most > 0) & isfinite(most), most, 1))
    deviation = unit * sqrt(sum_of(square_of(away / unit), axis=0) / free)
    sizes = unscale(deviation[..., None])  # numbers where their squares need not be
    found = base * sizes[..., :, None] * sizes[..., None, :]
    return found if typeof(away).ndim == 1 else moveaxis(found, 0, -1)
