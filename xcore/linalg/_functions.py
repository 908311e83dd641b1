"""Functions of matrices: exponential, logarithm, square root; Sylvester's and Lyapunov's equations.

Every function f of matrices here has the derivative that its value on a larger matrix holds,

    f(a  e) = (f(a)  f'(a)[e])
     (0  a)   ( 0      f(a)  ),

and the transpose of e ↦ f'(a)[e] is e ↦ f'(aᵀ)[e]. So derivatives of all orders cost evaluations
of f at matrices of twice the size. (Mathias 1996, "A chain rule for matrix functions and
applications"; Higham 2008, "Functions of matrices", sections 3.2 and 3.3)
"""

from __future__ import annotations

import functools
import math

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control.cond import cond
from .._control.custom import custom_jvp
from .._control.implicit import custom_linear_solve
from .._control.linear_call import linear_call
from .._control.loops import fori_loop
from .._control.while_loop import while_loop
from .._core import dtypes, errors
from .._core.eval import fused
from .._core.types import typeof
from .._ops.factor import solve_with
from .._ops.matrices import adjoint, conjugate, diagonal, matmul, part, swapped
from ..numpy._equations import identity_like, solve_matrices
from ._arguments import (
    as_inexact,
    check_matrices,
    epsilon,
    in_lapack_dtype,
    one_of,
    over_batch,
)  # fmt: skip
from ._elimination import first_zero
from ._truth import fail, fail_unless_finite, norm1


def _prepared(who: str, *xs) -> tuple:
    """Square matrices of one dtype that LAPACK knows, and the way back for results."""
    *xs, back = in_lapack_dtype(*as_inexact(who, *xs))
    check_matrices(who, square=True, a=xs[0])
    return (*xs, back)


def _block(a, e):
    """The matrix (a e; 0 a)."""
    nil = xnp.zeros_like(a)
    top, bottom = (xnp.concatenate(x, axis=-1) for x in ((a, e), (nil, a)))
    return xnp.concatenate([top, bottom], axis=-2)


def matrix_function(f):
    """Give a function of matrices the derivative that all such functions have."""

    @custom_jvp
    def value(a):
        return f(a)

    def along(a, e):
        n = typeof(a).shape[-1]
        wide = value(_block(a, e.astype(typeof(a).dtype)))
        return wide[..., :n, n:]

    @value.defjvp
    def _(primals, tangents):
        (a,), (e,) = primals, tangents
        moved = linear_call(along, lambda a, ct: along(swapped(a), ct), a, e)
        return value(a), moved

    return functools.wraps(f)(value)


# ------------------------------------------------------------------------------------- exponential

# Numerator of the Padé approximant [13/13] of eˣ; it is good to double precision up to this norm.
# (Higham 2005, "The scaling and squaring method for the matrix exponential revisited")
_PADE_EXP = [1.0]
for _k in range(13):
    _PADE_EXP.append(_PADE_EXP[-1] * (13 - _k) / ((26 - _k) * (_k + 1)))
_REACH_EXP = 5.37


def _even_odd(a, a2, a4, a6, coefficients):
    """The even part and the odd part of a polynomial of degree 13 in a."""
    c = [ops.full_like_type(typeof(a), x) for x in coefficients]
    one = identity_like(a)

    def part_of(i):
        high = matmul(a6, c[12 + i] * a6 + c[10 + i] * a4 + c[8 + i] * a2)
        return high + c[6 + i] * a6 + c[4 + i] * a4 + c[2 + i] * a2 + c[i] * one

    return part_of(0), matmul(a, part_of(1))


def _halvings(size):
    """How often a matrix of this norm must be halved."""
    return xnp.ceil(xnp.log2(xnp.maximum(size / _REACH_EXP, 1)))


def _halvings_by_powers(a, a4, a6):
    """How often is enough for matrices whose powers are much less than those of their norm.

    Squaring loses digits, so few are better. The error of the approximant is bounded by its series in
    max(|a⁴|^¼, |a⁶|^⅙); rounding while it is evaluated, by the first term left out, with |a| element
    by element. (Al-Mohy and Higham 2009, "A new scaling and squaring algorithm for the matrix
    exponential", section 3 and algorithm 5.1)
    """
    fewest = _halvings(xnp.maximum(norm1(a4) ** 0.25, norm1(a6) ** (1 / 6)))
    moduli = xnp.abs(a) * xnp.exp2(-fewest)[..., None, None]
    sums = fori_loop(0, 27, lambda _, x: matmul(x, moduli), xnp.ones_like(moduli[..., :1, :]))
    size = norm1(moduli)
    term = math.log2(math.comb(26, 13)) + math.lgamma(28) / math.log(2)
    ratio = xnp.log2(xnp.max(sums, axis=(-2, -1)) / xnp.where(size > 0, size, 1)) - term
    more = xnp.ceil((ratio - math.log2(epsilon(a) / 2)) / 26)
    return xnp.minimum(fewest + xnp.where(more > 0, more, 0), _halvings(norm1(a)))


def _halved(a, times):
    return a * xnp.exp2(-times).astype(typeof(a).dtype)[..., None, None]


def _powers(a) -> tuple:
    a2 = matmul(a, a)
    a4 = matmul(a2, a2)
    return a, a2, a4, matmul(a2, a4)


@matrix_function
def _expm(a):
    if 0 in typeof(a).shape:
        return a
    powers = _powers(a)
    large = ~xnp.isfinite(norm1(powers[3]))
    first = xnp.where(large, _halvings(norm1(a)), 0)
    powers = cond(xnp.any(large), lambda: _powers(_halved(a, first)), lambda: powers)
    then = xnp.where(large, 0, _halvings_by_powers(a, *powers[2:]))
    small = [_halved(x, i * then) for i, x in zip((1, 2, 4, 6), powers, strict=True)]
    even, odd = _even_odd(*small, _PADE_EXP)
    x, _ = solve_matrices(even - odd, even + odd)
    return _squared(x, first + then)


def _squared(x, times):
    """Each matrix of a batch squared so many times."""

    def square(state):
        i, x = state
        return i + 1, xnp.where((i < times)[..., None, None], matmul(x, x), x)

    most = xnp.where(xnp.isfinite(times), times, 0).max(initial=0)
    return while_loop(lambda s: s[0] < most, square, (xnp.zeros((), typeof(times).dtype), x))[1]


@fused(1)
def expm(a, max_squarings: int | None = None):
    """The exponential of square matrices, 1 + a + a² / 2 + …

    Args:
      a: matrices (..., n, n).
      max_squarings: a bound of the work; a matrix that needs more squarings, log₂ of its norm less
        two, gives NaN. None: as many as it takes.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.expm(xnp.asarray([[0.0, 1.0], [0.0, 0.0]]))
    Array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    a, back = _prepared("linalg.expm", a)
    if max_squarings is None:
        return back(_expm(a))
    many = (_halvings(norm1(ops.stop_gradient(a))) > max_squarings)[..., None, None]
    return back(xnp.where(many, np.nan, _expm(xnp.where(many, 0, a))))


@fused(2)
def expm_frechet(a, e):
    """(exp(a), its derivative at a in the direction e).

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.expm_frechet(xnp.zeros((1, 1)), xnp.ones((1, 1)))[1]
    Array([[1.]], dtype=float32)
    """
    a, e, back = _prepared("linalg.expm_frechet", a, e)
    n = typeof(a).shape[-1]
    wide = _expm(_block(a, e))
    return back(wide[..., :n, :n]), back(wide[..., :n, n:])


# --------------------------------------------------------------------------- square root, logarithm


def _complex_schur(a):
    return ops.schur(a.astype(dtypes.to_complex(typeof(a).dtype)))


def _root_of_triangular(t):
    """The square root u of one upper triangular matrix, column by column.

    The part of column j above the diagonal solves (u₁ + u[j,j]) x = t[:j, j] with the columns u₁
    before it. (Björck and Hammarling 1983, "A Schur method for the square root of a matrix")
    """
    n = typeof(t).shape[0]
    d = xnp.sqrt(diagonal(t))
    row = xnp.arange(n)
    limit = n * epsilon(t) * xnp.sqrt(xnp.max(xnp.abs(t)))

    def column(j, u):
        above = row < j
        square = xnp.where(above[:, None] & above, u, 0)
        shift = xnp.where(above, d + d[j], 1)
        nil = shift == 0
        shift = xnp.where(nil, 1, shift)
        matrix = part(square, ops.lt) + xnp.where(row[:, None] == row, shift, 0)
        x = solve_with(matrix, xnp.where(above, t[:, j], 0)[:, None], False)[:, 0]
        # both roots vanish: there is a root only where the right side vanishes too
        x = xnp.where(nil, xnp.where(xnp.abs(x) <= limit, 0, np.nan), x).astype(typeof(t).dtype)
        return u.at[:, j].set(xnp.where(above, x, xnp.where(row == j, d[j], 0)))

    return fori_loop(0, n, column, xnp.zeros_like(t))


@matrix_function
def _sqrtm(a):
    if 0 in typeof(a).shape:
        return a
    t, z = _complex_schur(a)
    return matmul(matmul(z, over_batch(_root_of_triangular, t)), adjoint(z))


@fused(1)
def _sqrtm_of(a):
    a, _ = _prepared("linalg.sqrtm", a)
    return _sqrtm(a.astype(dtypes.to_complex(typeof(a).dtype)))


def sqrtm(a):
    """The principal square root of square matrices, complex. On a CPU only.

    Of a real matrix without negative eigenvalues it is real: take ``.real``. Singular matrices may
    have none, (0 1; 0 0) for one, which raises SolverError, or in compiled code gives NaN.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xnp.round(xc.linalg.sqrtm(xnp.asarray([[1.0, 2.0], [0.0, 4.0]])).real, 4)
    Array([[1.    , 0.6667],
           [0.    , 2.    ]], dtype=float32)
    """
    x = _sqrtm_of(a)
    fail_unless_finite("linalg.sqrtm", x, (a,), "a singular matrix that has no square root")
    return x


_NODES = 7  # of Gauss and Legendre on (0, 1): the Padé approximant [7/7] of log(1 + x)
_REACH_LOG = 0.26  # it is good to double precision up to this norm


def _log_of_triangular(t):
    """The logarithm of one upper triangular matrix: 2ᵏ log(t^(1/2ᵏ)), with t^(1/2ᵏ) near 1.

    log(1 + x) = ∫₀¹ x (1 + s x)⁻¹ ds, and Gauss' rule gives its Padé approximants. The diagonal
    is the logarithm of t's. (Higham 2008, "Functions of matrices", section 11.5)
    """
    n = typeof(t).shape[0]
    one = xnp.eye(n, dtype=typeof(t).dtype)

    def going(state):
        root, k = state
        return (norm1(root - one) > _REACH_LOG) & (k < 60)

    def halve(state):
        root, k = state
        return _root_of_triangular(root), k + 1

    root, k = while_loop(going, halve, (t, xnp.zeros((), np.int32)))
    x, result = root - one, xnp.zeros_like(t)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    for s, w in zip((nodes + 1) / 2, weights / 2, strict=True):
        result = result + float(w) * solve_with(one + float(s) * x, x, False)
    result = result * xnp.exp2(k.astype(dtypes.to_real(typeof(t).dtype))).astype(typeof(t).dtype)
    return part(result, ops.lt) + xnp.diag(xnp.log(diagonal(t)))


@matrix_function
def _logm(a):
    if 0 in typeof(a).shape:
        return a
    t, z = _complex_schur(a)
    return matmul(matmul(z, over_batch(_log_of_triangular, t)), adjoint(z))


@fused(1)
def _logm_of(a):
    a, _ = _prepared("linalg.logm", a)
    a = a.astype(dtypes.to_complex(typeof(a).dtype))
    return _logm(a), _eigenvalue_zero(ops.stop_gradient(a))


def _eigenvalue_zero(a):
    """The number of the first eigenvalue that is 0, or -1; up to rounding, unless it can be read
    off a triangle."""
    if 0 in typeof(a).shape:
        return xnp.full(typeof(a).shape[:-2], -1, np.int32)
    w = diagonal(_complex_schur(a)[0])
    size = xnp.abs(w)
    small = size <= typeof(a).shape[-1] * epsilon(a) * xnp.max(size, axis=-1, keepdims=True)
    exact = xnp.all(part(a, ops.gt) == 0, axis=(-2, -1))[..., None]
    return first_zero(xnp.where(small & ~exact, 0, size))


def logm(a):
    """The principal logarithm of square matrices, complex. On a CPU only.

    Of a real matrix without negative eigenvalues it is real: take ``.real``. Singular matrices have
    none, which raises SingularMatrixError; in compiled code it leaves a check for ``checkify``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xnp.round(xc.linalg.logm(xnp.asarray([[1.0, 1.0], [0.0, 1.0]])).real, 4)
    Array([[0., 1.],
           [0., 0.]], dtype=float32)
    """
    x, pivot = _logm_of(a)
    fail("linalg.logm (eigenvalues that are zero)", a, pivot, "spectrum")
    return x


# --------------------------------------------------------------------------- Sylvester and Lyapunov


def _triangular_sylvester(s, t, c):
    """x with s x + x t = c for upper triangular s and t, column by column."""
    n, m = typeof(c).shape
    later = xnp.arange(m)
    one = xnp.eye(n, dtype=typeof(c).dtype)

    def column(j, x):
        known = xnp.where(later < j, t[:, j], 0)
        right = c[:, j] - matmul(x, known[:, None])[:, 0]
        return x.at[:, j].set(solve_with(s + t[j, j] * one, right[:, None], False)[:, 0])

    return fori_loop(0, m, column, xnp.zeros_like(c))


def _sylvester_with(forms_a, forms_b, c, transposed: bool):
    (s, u), (t, v) = forms_a, forms_b
    if transposed:  # aᵀ x + x bᵀ = c is the conjugate of aᴴ y + y bᴴ = c̄; turned around, it is
        # a lower triangular equation: reversing rows and columns makes it an upper one
        y = matmul(matmul(adjoint(u), conjugate(c)), v)
        flip = lambda x: x[..., ::-1, ::-1]  # noqa: E731
        y = flip(over_batch(_triangular_sylvester, flip(adjoint(s)), flip(adjoint(t)), flip(y)))
        return conjugate(matmul(matmul(u, y), adjoint(v)))
    y = over_batch(_triangular_sylvester, s, t, matmul(matmul(adjoint(u), c), v))
    return matmul(matmul(u, y), adjoint(v))


def _by_eigenvalues(a, b):
    """b ↦ x from a = u diag(s) u⁻¹ and b = v diag(t) v⁻¹, and the eigenvalues s and t."""
    (s, u), (t, v) = (ops.eig(x, left=False, right=True) for x in (a, b))
    sums = s[..., :, None] + t[..., None, :]

    def solve(c, transposed):
        if transposed:  # aᵀ x + x bᵀ = c, and aᵀ = u⁻ᵀ diag(s) uᵀ
            inner = matmul(swapped(u), swapped(solve_matrices(v, swapped(c))[0]))
            return solve_matrices(swapped(u), matmul(inner / sums, swapped(v)))[0]
        inner = matmul(solve_matrices(u, c)[0], v) / sums
        return swapped(solve_matrices(swapped(v), swapped(matmul(u, inner)))[0])

    return solve, (s, t)


def _by_schur(a, b):
    forms = [_complex_schur(x) for x in (a, b)]
    return lambda c, turned: _sylvester_with(*forms, c, turned), [diagonal(t) for t, _ in forms]


_SYLVESTER = {"schur": _by_schur, "eigen": _by_eigenvalues}


def _sylvester(who: str, a, b, c, method: str = "schur", tol: float | None = None) -> tuple:
    """(x, the number of the first eigenvalue of a that is one of -b up to rounding, or -1)."""
    a, b, c, back = _prepared(who, a, b, c)
    check_matrices(who, square=True, b=b)
    lead = typeof(a).shape[:-2]
    if (*lead, typeof(a).shape[-1], typeof(b).shape[-1]) != typeof(c).shape or (
        typeof(b).shape[:-2] != lead
    ):
        why = "need a (..., m, m), b (..., n, n) and c (..., m, n), in one batch"
        raise errors.shape_mismatch(who, why, a=a, b=b, c=c)
    none = xnp.full(lead, -1, np.int32)
    if 0 in typeof(c).shape:
        return back(c), none
    solved, (s, t) = _SYLVESTER[method](*(ops.stop_gradient(x) for x in (a, b)))
    dtype, wide = typeof(c).dtype, dtypes.to_complex(typeof(c).dtype)

    def solve(c, transposed=False):
        x = solved(c.astype(wide), transposed)
        return x if dtypes.is_complex(dtype) else xnp.real(x)

    x = custom_linear_solve(
        lambda x: matmul(a, x) + matmul(x, b), c,
        solve=lambda _, c: solve(c), transpose_solve=lambda _, c: solve(c, True),
    )  # fmt: skip
    gaps = xnp.min(xnp.abs(s[..., :, None] + t[..., None, :]), axis=-1)
    if tol is None:
        return back(x), _meeting(gaps, s, t)
    close = xnp.min(gaps, axis=-1) < tol
    return back(xnp.where(close[..., None, None], np.nan, x)), none


def _meeting(gaps, s, t):
    """The number of the first gap between eigenvalues that is 0 up to rounding, or -1."""
    size = xnp.max(xnp.abs(s), axis=-1) + xnp.max(xnp.abs(t), axis=-1)
    limit = (typeof(s).shape[-1] + typeof(t).shape[-1]) * epsilon(s) * size[..., None]
    return first_zero(xnp.where(gaps <= limit, 0, gaps))


_fused_sylvester = fused(3)(
    lambda a, b, c, method, tol: _sylvester("linalg.solve_sylvester", a, b, c, method, tol)
)


def solve_sylvester(a, b, c, method: str = "schur", tol: float | None = None):
    """The solution x of a x + x b = c.

    It is unique if a and -b have no eigenvalue in common; else SingularMatrixError is raised, or in
    compiled code a check left for ``checkify``. Derivatives are those of the equation.
    (Bartels and Stewart 1972, "Solution of the matrix equation AX + XB = C")

    Args:
      a, b, c: matrices (..., m, m), (..., n, n), (..., m, n), of one batch.
      method: "schur" is stable, for a CPU only; "eigen", from eigenvalues and vectors, loses digits
        where vectors are nearly dependent.
      tol: NaN, and no error, where a and -b have eigenvalues closer to each other than that.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> one = xnp.ones((1, 1))
    >>> xc.linalg.solve_sylvester(one, 3 * one, 8 * one)
    Array([[2.]], dtype=float32)
    """
    who = "linalg.solve_sylvester"
    one_of(who, "method", method, tuple(_SYLVESTER))
    x, pivot = _fused_sylvester(a, b, c, method, tol)
    fail(f"{who} (eigenvalues of a and -b)", a, pivot, "spectrum")
    return x


@fused(2)
def _lyapunov(a, q):
    who = "linalg.solve_lyapunov"
    a, q = as_inexact(who, a, q)
    check_matrices(who, square=True, a=a, q=q)
    return _sylvester(who, a, adjoint(a), q)


def solve_lyapunov(a, q):
    """The solution x of a x + x aᴴ = q, Lyapunov's continuous equation. On a CPU only.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.solve_lyapunov(-xnp.eye(1), -xnp.ones((1, 1)))
    Array([[0.5]], dtype=float32)
    """
    x, pivot = _lyapunov(a, q)
    fail("linalg.solve_lyapunov (eigenvalues of a and -aᴴ)", a, pivot, "spectrum")
    return x


@fused(2)
def _discrete(a, q):
    who = "linalg.solve_discrete_lyapunov"
    a, q, back = _prepared(who, a, q)
    check_matrices(who, square=True, q=q)
    if 0 in typeof(a).shape:
        return back(q), xnp.full(typeof(a).shape[:-2], -1, np.int32)
    one, turned = identity_like(a), adjoint(a)
    inverse, _ = solve_matrices(turned + one, one)
    finite = xnp.isfinite(ops.stop_gradient(inverse)).all(axis=(-2, -1))
    inverse = xnp.where(finite[..., None, None], inverse, 0)
    b = matmul(turned - one, inverse)
    c = matmul(adjoint(inverse), matmul(q, inverse))
    x, pivot = _sylvester(who, adjoint(b), b, -2 * c)
    return back(x), xnp.where(finite, pivot, 0)


def solve_discrete_lyapunov(a, q):
    """The solution x of a x aᴴ - x + q = 0, Lyapunov's discrete equation. On a CPU only.

    With b = (aᴴ - 1)(aᴴ + 1)⁻¹ it is the continuous equation bᴴ x + x b = -2 (a + 1)⁻¹ q (aᴴ + 1)⁻¹.
    Two eigenvalues of a whose product λ conj μ is 1 raise SingularMatrixError: there is no unique
    solution. (Popov 1964, "Hyperstability and optimality")

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xnp.round(xc.linalg.solve_discrete_lyapunov(0.5 * xnp.eye(1), 3 * xnp.eye(1)), 4)
    Array([[4.]], dtype=float32)
    """
    x, pivot = _discrete(a, q)
    fail(
        "linalg.solve_discrete_lyapunov (eigenvalues λ, μ of a, λ conj μ = 1)", a, pivot, "spectrum"
    )
    return x
