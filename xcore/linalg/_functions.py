"""Functions of matrices: exponential, logarithm, square root.

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
from .._control import cond, custom_jvp, fori_loop, linear_call, while_loop
from .._control.platforms import by_platform
from .._core import Array, ArrayLike, dtypes, fused, typeof
from .._ops import adjoint, diagonal, matmul, part, solve_with, swapped
from .._solution import Solution
from ..numpy._equations import identity_like, solve_matrices
from ._arguments import as_inexact, as_square, epsilon, of_one_shape, over_batch
from ._digits import relative
from ._elimination import first_zero
from ._equations import roundings
from ._range import lost
from ._sensitivity import (
    MARGIN,
    complex_schur,
    concluded,
    frobenius,
    lyapunov_norm,
    norm2,
    nothing,
    of_root,
    on_this_side,
    rounding_of,
    stopped,
    sylvester_norm,
)
from ._truth import fail, fail_unless_finite, norm1
from ._without_forms import square_root


def _block(a, e):
    """The matrix (a e; 0 a)."""
    zero = xnp.zeros_like(a)
    top, bottom = (xnp.concatenate(x, axis=-1) for x in ((a, e), (zero, a)))
    return xnp.concatenate([top, bottom], axis=-2)


def matrix_function(f):
    """Give a function of matrices the derivative that all such functions have.

    ``reported(a, g)`` has it too, of g(a) = (f(a), what has none).
    """

    @custom_jvp
    def value(a):
        return f(a)

    def along(a, e):
        n = typeof(a).shape[-1]
        wide = value(_block(a, e.astype(typeof(a).dtype)))
        return wide[..., :n, n:]

    def moved(a, e):
        return linear_call(along, lambda a, ct: along(swapped(a), ct), a, e)

    @value.defjvp
    def _(primals, tangents):
        return value(*primals), moved(*primals, *tangents)

    def reported(a, g):
        @custom_jvp
        def both(a):
            return (a, nothing(a, epsilon(a))) if 0 in typeof(a).shape else g(a)

        @both.defjvp
        def _(primals, tangents):
            found = both(*primals)
            return found, (moved(*primals, *tangents), None)

        return both(a)

    functools.update_wrapper(value, f)
    value.reported = reported
    return value


# Exponential

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


def _begun(a) -> tuple:
    """(the exponential of a / 2ᵏ, k, how far it may be off: a function without arguments)."""
    powers = _powers(a)
    large = ~xnp.isfinite(norm1(powers[3]))
    first = xnp.where(large, _halvings(norm1(a)), 0)
    powers = cond(xnp.any(large), lambda: _powers(_halved(a, first)), lambda: powers)
    then = xnp.where(large, 0, _halvings_by_powers(a, *powers[2:]))
    small = [_halved(x, i * then) for i, x in zip((1, 2, 4, 6), powers, strict=True)]
    even, odd = _even_odd(*small, _PADE_EXP)
    x, _ = solve_matrices(even - odd, even + odd)
    return x, first + then, lambda: _error_of_pade(small, even, odd, x)


def _error_of_pade(powers, even, odd, x) -> tuple:
    """(a bound of |x - exp(a)|_F, one of the derivative's norm): the residual, the rounding of p and of q x,
    times |q⁻¹|, for the numerator p = even + odd and the denominator q = even - odd.

    exp(|a|₂ / 2) bounds both parts; where powers are less than those of the norm, they do.
    """
    a, a2, a4, a6 = powers
    n, plain = typeof(a).shape[-1], norm2(a)
    root = xnp.maximum(norm2(a4) ** 0.25, norm2(a6) ** (1 / 6))
    size = xnp.minimum(xnp.exp(plain / 2), (1 + plain + norm2(a2)) * xnp.exp(root / 2))
    samples = np.random.default_rng(7).standard_normal((n, 8)) / 8**0.5
    samples = xnp.asarray(samples, typeof(a).dtype)
    seen, _ = solve_matrices(even - odd, xnp.broadcast_to(samples, (*typeof(a).shape[:-1], 8)))
    inverse = xnp.minimum(MARGIN * frobenius(seen), size)
    left = frobenius(matmul(even - odd, x) - (even + odd)) + rounding_of(even - odd, x)
    wide = frobenius(a)
    parts = roundings(n) * epsilon(a) * (n**0.5 + wide + wide * wide / 4) * size
    return inverse * (left + (1 + norm2(x)) * parts), size * size


@matrix_function
def _expm(a):
    if 0 in typeof(a).shape:
        return a
    x, times, _ = _begun(a)
    return _squared(x, times)


def _expm_and_error(a) -> tuple:
    """(exp(a), a bound of its error in the Frobenius norm, one of the norm of the derivative at a).

    Each square x² of an x that is off by e is off by 2 |x|₂ e + e² and rounding; the derivatives are
    l(2 a)[2 e] = x l(a)[e] + l(a)[e] x. (Higham 2008, sections 10.3 and 10.6)
    """
    x, times, errors_of = _begun(a)
    off, slope = errors_of()

    def square(state):
        i, x, off, slope = state
        size = norm2(x)
        on = i < times
        grown = (2 * size + off) * off + rounding_of(x, x)
        off, slope = xnp.where(on, grown, off), xnp.where(on, size * slope, slope)
        return i + 1, xnp.where(on[..., None, None], matmul(x, x), x), off, slope

    most = xnp.where(xnp.isfinite(times), times, 0).max(initial=0)
    start = (xnp.zeros((), typeof(times).dtype), x, off, slope)
    # own loop: counted
    return while_loop(lambda s: s[0] < most, square, start)[1:]


def _evidence_of_exponential(eps: float):
    def evidence(a):
        x, off, slope = _expm_and_error(a)
        most = xnp.max(xnp.abs(x), axis=(-2, -1))
        off = xnp.where(most > 0, off + eps / 2 * most, xnp.inf)  # all of it has vanished
        condition = slope * relative(frobenius(a), frobenius(x))
        return x, concluded(x, off, xnp.zeros_like(off), condition, eps)

    return evidence


def _squared(x, times):
    """Each matrix of a batch squared so many times."""

    def square(state):
        i, x = state
        return i + 1, xnp.where((i < times)[..., None, None], matmul(x, x), x)

    most = xnp.where(xnp.isfinite(times), times, 0).max(initial=0)
    # own loop: counted
    return while_loop(lambda s: s[0] < most, square, (xnp.zeros((), typeof(times).dtype), x))[1]


@fused(1)
def _expm_of(a, max_squarings, report):
    eps = epsilon(as_inexact("linalg.expm", a)[0])
    a, back = as_square("linalg.expm", a)
    calm, many = a, None
    if max_squarings is not None:
        many = (_halvings(norm1(ops.stop_gradient(a))) > max_squarings)[..., None, None]
        calm = xnp.where(many, 0, a)
    x, verdict = (
        _expm.reported(calm, _evidence_of_exponential(eps)) if report else (_expm(calm), None)
    )
    if many is None:
        return back(x), verdict
    if verdict is not None:
        many = many[..., 0, 0]
        verdict = stopped(many, *verdict)
        many = many[..., None, None]
    return back(xnp.where(many, np.nan, x)), verdict


def expm(
    a: ArrayLike, max_squarings: int | None = None, *, report: bool = False
) -> Array | Solution:
    """The exponential of square matrices, 1 + a + a² / 2 + …

    Args:
      a: matrices (..., n, n).
      max_squarings: a bound of the work; a matrix that needs more squarings, log₂ of its norm less
        two, gives NaN. None: as many as it takes.
      report: return a ``Solution`` with a ``Certificate`` of a bound of the error, relative to the
        largest element, that follows the calculation: that of the approximant, from its residual, and
        what each squaring makes of it; the condition is one from above, |a| / |x| times the product of the
        norms of what was squared. About a third more work at n = 500.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.expm(xnp.asarray([[0.0, 1.0], [0.0, 0.0]]))
    Array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    x, verdict = _expm_of(a, max_squarings, report)
    return x if verdict is None else Solution(x, *verdict)


@fused(2)
def expm_frechet(a: ArrayLike, e: ArrayLike) -> tuple[Array, Array]:
    """(exp(a), its derivative at a in the direction e).

    Args:
      a, e: square matrices (…, n, n).

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.expm_frechet(xnp.zeros((1, 1)), xnp.ones((1, 1)))[1]
    Array([[1.]], dtype=float32)
    """
    a, e, back = as_square("linalg.expm_frechet", a, e)
    a, e = of_one_shape("linalg.expm_frechet", a=a, e=e)
    n = typeof(a).shape[-1]
    wide = _expm(_block(a, e))
    return back(wide[..., :n, :n]), back(wide[..., :n, n:])


# Square root, logarithm


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
        zero = shift == 0
        shift = xnp.where(zero, 1, shift)
        matrix = part(square, ops.lt) + xnp.where(row[:, None] == row, shift, 0)
        x = solve_with(matrix, xnp.where(above, t[:, j], 0)[:, None], False)[:, 0]
        # both roots vanish: there is a root only where the right side vanishes too
        x = xnp.where(zero, xnp.where(xnp.abs(x) <= limit, 0, np.nan), x).astype(typeof(t).dtype)
        return u.at[:, j].set(xnp.where(above, x, xnp.where(row == j, d[j], 0)))

    return fori_loop(0, n, column, xnp.zeros_like(t))


def _root(a) -> tuple:
    """(√a, its triangular form)."""
    t, z = complex_schur(a)
    u = over_batch(_root_of_triangular, t)
    return matmul(matmul(z, u), adjoint(z)), u


def _root_or_on_the_host(a) -> tuple:
    x, bad = square_root(a)
    return (cond(xnp.any(bad), lambda: xnp.where(bad[..., None, None], _root(a)[0], x), lambda: x),)


# by Schur's form on a CPU, and where a GPU does not find it in another way
_principal_root = by_platform(
    "principal_root", lambda a: [a.strong()],
    default=lambda a: square_root(a)[:1], cpu=lambda a: _root(a)[:1], cuda=_root_or_on_the_host,
)  # fmt: skip


@matrix_function
def _sqrtm(a):
    return a if 0 in typeof(a).shape else _principal_root(a)[0]


def _evidence_of_root(real: bool):
    def evidence(a):
        x, u = _root(a)
        near = None if real else lyapunov_norm(u)
        return x, of_root(a, x, u, sylvester_norm(u, u), near, epsilon(a))

    return evidence


@fused(1)
def _sqrtm_of(a, report):
    a, _ = as_square("linalg.sqrtm", a)
    evidence = _evidence_of_root(not dtypes.is_complex(typeof(a).dtype))
    a = a.astype(dtypes.to_complex(typeof(a).dtype))
    return _sqrtm.reported(a, evidence) if report else (_sqrtm(a), None)


def sqrtm(a: ArrayLike, *, report: bool = False) -> Array | Solution:
    """The principal square root of square matrices, complex.

    Of a real matrix without negative eigenvalues it is real: take ``.real``. Singular matrices may
    have none, (0 1; 0 0) for one, which raises SolverError, or in compiled code gives NaN.

    By Schur's form on a CPU. Accelerators have none: there by eigenvalues of Hermitian matrices, else by an
    iteration of products and inverses, which does not find roots of singular matrices or of such with
    eigenvalues on the negative axis. A GPU leaves these to LAPACK on its host, on a TPU they have none.

    Args:
      a: matrices (..., n, n).
      report: return a ``Solution`` with a ``Certificate`` of the residual |x² - a|, the error
        2 k |x² - a| and rounding, with the norm k of the inverse of e ↦ x e + e x, all in the Frobenius
        norm and relative to the largest element, and the condition k |a| / |x|. Nothing is claimed where
        an eigenvalue is so near to the negative axis that rounding may choose another root. It needs
        Schur's form.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> a = xnp.asarray([[1.0, 2.0], [0.0, 4.0]])
    >>> xnp.round(xc.linalg.sqrtm(a).real, 4)
    Array([[1.    , 0.6667],
           [0.    , 2.    ]], dtype=float32)
    >>> answer = xc.linalg.sqrtm(a, report=True)
    >>> bool(answer.ok), float(answer.certificate.digits) > 5
    (True, True)
    """
    x, verdict = _sqrtm_of(a, report)
    if verdict is not None:
        return Solution(x, *verdict)
    why = "a singular matrix that has no square root (on a TPU also: eigenvalues on the negative axis)"
    fail_unless_finite("linalg.sqrtm", x, (a,), why)
    return x


_NODES = 7  # of Gauss and Legendre on (0, 1): the Padé approximant [7/7] of log(1 + x)
_REACH_LOG = 0.26  # it is good to double precision up to this norm
_SURE = 1.3  # of each of several norms that are estimated from below


def _log_of_triangular(t, bounded: bool = False):
    """The logarithm of one upper triangular matrix: 2ᵏ log(t^(1/2ᵏ)), with t^(1/2ᵏ) near 1.

    If ``bounded``, also about a bound of the norm of the derivative: the product of those of the roots.

    log(1 + x) = ∫₀¹ x (1 + s x)⁻¹ ds, and Gauss' rule gives its Padé approximants. The diagonal
    is the logarithm of t's. (Higham 2008, "Functions of matrices", section 11.5)
    """
    n = typeof(t).shape[0]
    one = xnp.eye(n, dtype=typeof(t).dtype)

    def going(state):
        root, k, *_ = state
        return (norm1(root - one) > _REACH_LOG) & (k < 60)

    def halve(state):
        root, k, *slopes = state
        root = _root_of_triangular(root)
        return root, k + 1, *(_slopes(root, one, k, *slopes) if bounded else slopes)

    slopes = [
        xnp.asarray(x, dtypes.to_real(typeof(t).dtype)) for x in ((1.0, 0.0) if bounded else ())
    ]
    # own loop: its end is no status: as many roots as it takes are part of the formula
    root, k, *slopes = while_loop(going, halve, (t, xnp.zeros((), np.int32), *slopes))
    x, result = root - one, xnp.zeros_like(t)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    for s, w in zip((nodes + 1) / 2, weights / 2, strict=True):
        result = result + float(w) * solve_with(one + float(s) * x, x, False)
    result = result * xnp.exp2(k.astype(dtypes.to_real(typeof(t).dtype))).astype(typeof(t).dtype)
    result = part(result, ops.lt) + xnp.diag(xnp.log(diagonal(t)))
    return (result, MARGIN / (1 - _REACH_LOG) * slopes[0], slopes[1]) if bounded else result


def _slopes(u, one, k, slope, near) -> tuple:
    """The product of twice the norms of the inverses of e ↦ u e + e u, which are 1 / (1 - |u - 1|) at
    most, and that of e ↦ u e + e uᴴ for the first root."""
    off = frobenius(u - one)
    own = lambda: 2 * _SURE / MARGIN * sylvester_norm(u, u)  # noqa: E731
    near = cond(k == 0, lambda: lyapunov_norm(u), lambda: near)
    return slope * cond(off < 0.5, lambda: 1 / (1 - off), own), near


@matrix_function
def _logm(a):
    if 0 in typeof(a).shape:
        return a
    t, z = complex_schur(a)
    return matmul(matmul(z, over_batch(_log_of_triangular, t)), adjoint(z))


def _evidence_of_logarithm(real: bool):
    def evidence(a):
        t, z = complex_schur(a)
        inner, slope, near = over_batch(lambda t: _log_of_triangular(t, True), t)
        x = matmul(matmul(z, inner), adjoint(z))
        return x, _report_of_logarithm(a, x, t, slope, None if real else near)

    return evidence


def _report_of_logarithm(a, x, t, slope, near) -> tuple:
    # exp(x) = exp(m) exp(x - m) for the mean m of the eigenvalues, which makes it free of scales
    n, eps, whole = typeof(a).shape[-1], epsilon(a), a
    pivot = _eigenvalue_zero(a)
    mean = xnp.trace(x, axis1=-2, axis2=-1)[..., None, None] / n
    half = xnp.exp(-mean / 2)
    scale = 1 / xnp.abs(half[..., 0, 0])
    below = n * lost(a, (-2, -1)) / scale / scale
    a, slope = a * half * half, slope * scale * scale
    back, rounding, steep = _expm_and_error(x - mean * identity_like(x))
    left, size, wide = frobenius(back - a), frobenius(a), frobenius(x)
    off = slope * (left + rounding + below) + 2 * eps * xnp.max(xnp.abs(x), axis=(-2, -1))
    off = xnp.where(
        off < 0.1, 1.5 * off, xnp.inf
    )  # of first order: log changes its derivative by a share
    w = xnp.sqrt(diagonal(t))  # of the root, which is off by about half as much
    moved = off * xnp.max(xnp.abs(w), axis=-1)
    off = xnp.where(on_this_side(a, x, w, off, moved, near), off, xnp.inf)
    natural = size + steep * wide
    return concluded(
        x, off, relative(left, n * eps * natural), slope * relative(size, wide), eps,
        residual=left * scale * scale, singular=pivot >= 0, given=(whole,),
        backward_error=relative(left, natural),
    )  # fmt: skip


@fused(1)
def _logm_of(a, report):
    """(the logarithm, the number of an eigenvalue 0 or -1, or the status and report)."""
    a, _ = as_square("linalg.logm", a)
    evidence = _evidence_of_logarithm(not dtypes.is_complex(typeof(a).dtype))
    a = a.astype(dtypes.to_complex(typeof(a).dtype))
    if report:
        return _logm.reported(a, evidence)
    return _logm(a), _eigenvalue_zero(ops.stop_gradient(a))


def _eigenvalue_zero(a):
    """The index of the first eigenvalue that is 0, or -1; up to rounding, unless it can be read
    off a triangle."""
    if 0 in typeof(a).shape:
        return xnp.full(typeof(a).shape[:-2], -1, np.int32)
    w = diagonal(complex_schur(a)[0])
    size = xnp.abs(w)
    small = size <= typeof(a).shape[-1] * epsilon(a) * xnp.max(size, axis=-1, keepdims=True)
    exact = xnp.all(part(a, ops.gt) == 0, axis=(-2, -1))[..., None]
    return first_zero(xnp.where(small & ~exact, 0, size))


def logm(a: ArrayLike, *, report: bool = False) -> Array | Solution:
    """The principal logarithm of square matrices, complex. By Schur's form: on a GPU LAPACK on its host
    makes it, a TPU has none.

    Of a real matrix without negative eigenvalues it is real: take ``.real``. Singular matrices have
    none, which raises SingularMatrixError; in compiled code it leaves a check for ``checkify``.

    Args:
      a: matrices (..., n, n).
      report: return a ``Solution``, singular where an error would be raised with a ``Certificate``
        of the residual |exp(x) - a|, the error k (|exp(x) - a| and rounding) with about the norm k of the
        derivative, from those of the square roots, all in the Frobenius norm and relative to the largest
        element, and the condition k |a| / |x|. Nothing is claimed where an eigenvalue is so near to the
        negative axis that rounding may choose another logarithm.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xnp.round(xc.linalg.logm(xnp.asarray([[1.0, 1.0], [0.0, 1.0]])).real, 4)
    Array([[0., 1.],
           [0., 0.]], dtype=float32)
    """
    x, verdict = _logm_of(a, report)
    if report:
        return Solution(x, *verdict)
    fail("linalg.logm (eigenvalues that are zero)", a, verdict, "spectrum")
    return x
