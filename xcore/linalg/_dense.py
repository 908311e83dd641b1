"""Equations, inverses and determinants of dense matrices."""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import cond, custom_jvp, jvp
from .._core import Array, ArrayLike, DTypeLike, dtypes, errors, fused, is_evaluating, typeof
from .._core.settings import one_of
from .._ops.matrices import FACTORISED, diagonal, swapped
from .._solution import Certificate, Solution, Status, first_that_holds
from ..numpy._determinant import determinant, product_in_range
from ..numpy._equations import identity_like
from ..numpy._select import safe_divide
from . import _elimination, _lanes
from ._arguments import as_inexact, check_matrices, epsilon, product, with_columns
from ._assumed import known_band, solve_in_band
from ._certificates import of_inverse
from ._digits import digits_of, relative
from ._elimination import first_zero
from ._equations import by, inverse_norms, power_of_two, through
from ._factors import (
    ASSUME,
    Factors,
    factorise,
    invert_lanes,
    kind_for,
    read_only,
    read_part,
    solve_lanes,
    solve_with_factors,
)
from ._range import below_range
from ._truth import (
    attainable,
    backward_error,
    fail,
    fail_unless_finite,
    holds_numbers,
    in_any_order,
    inverse_norm1,
    norm1,
    refine,
    report_of,
)


class _Refined:
    """Solutions with factors of one precision, refined in that of the matrix.

    Where refinement with factors of less precision does not reach a backward error that elimination
    in the matrix's own would have, as for very ill-conditioned matrices or numbers out of range, the
    matrix is factorised in its own after all. (As LAPACK's dsgesv does: Langou et al. 2006,
    "Exploiting the performance of 32 bit floating point arithmetic in obtaining 64 bit accuracy")
    """

    def __init__(self, a, given, kind: str, precision, steps: int):
        self.a, self.given = ops.stop_gradient(a), ops.stop_gradient(given)
        own = typeof(a).dtype
        wanted = own if precision is None else precision
        wanted = (dtypes.to_complex if dtypes.is_complex(own) else dtypes.to_real)(wanted)
        self.kind = kind if wanted in FACTORISED or kind == "diagonal" else "ours"
        self.factors = factorise(self.given.astype(wanted), self.kind)
        self.narrow = wanted.itemsize < own.itemsize and 0 not in typeof(a).shape
        self.steps = steps

    def own_factors(self) -> Factors:
        return factorise(self.given, self.kind)

    def solve(self, b, transposed: bool = False):
        x = self._refined(self.factors, b, transposed)
        if not (self.narrow and self.steps):
            return x
        a = swapped(self.a) if transposed else self.a
        good = xnp.all(backward_error(a, x, b) <= attainable(a))
        return cond(good, lambda: x, lambda: self._refined(self.own_factors(), b, transposed))

    def _refined(self, factors: Factors, b, transposed: bool):
        x = factors.solve(b, transposed)
        if not self.steps:
            return x
        a = swapped(self.a) if transposed else self.a
        correct = lambda r: factors.solve(r, transposed)  # noqa: E731
        return refine(a, x, b, correct, self.steps, epsilon(x))[0]

    def pivot(self, x, b):
        """The index of a vanishing pivot or -1; of narrow factors, only if they gave no solution."""
        found = first_zero(self.factors.pivots())
        if not (self.narrow and self.steps):
            return found
        whole = lambda y: xnp.isfinite(ops.stop_gradient(y)).all(axis=(-2, -1))  # noqa: E731
        return xnp.where(whole(x) | ~whole(b), np.int32(-1), xnp.maximum(found, 0))

    def sure_factors(self) -> Factors:
        """Factors that tell the condition: narrow ones see none above 1 / their precision."""
        if not self.narrow:
            return self.factors
        coarse = self.given.astype(typeof(self.factors.parts[0]).dtype)
        size = norm1(coarse) * inverse_norm1(self.factors, coarse)
        own = typeof(self.a).dtype
        widened = lambda p: p.astype(own) if dtypes.is_inexact(typeof(p).dtype) else p  # noqa: E731
        parts = cond(
            xnp.all(size <= 0.01 / epsilon(coarse)),
            lambda: tuple(map(widened, self.factors.parts)), lambda: self.own_factors().parts,
        )  # fmt: skip
        return Factors(parts, self.kind)


@fused(2)
def _solve(a, b, assume_a, transposed, steps, precision, report, pivots):
    """(x, more): the status and the report, or the number of a vanishing pivot if asked for."""
    who = "linalg.solve"
    a, b = as_inexact(who, a, b)
    check_matrices(who, square=True, a=a)
    a, b, back = with_columns(who, a, b)
    kind, assumed = kind_for(a, assume_a), kind_of(assume_a)
    if transposed:
        a = xnp.conj(a) if assumed == "cholesky" else swapped(a)  # its lower triangle is read
        turn = {"lower": "upper", "upper": "lower"}
        kind, assumed = (turn.get(k, k) for k in (kind, assumed))
    whole, a = a, read_part(a, assumed)
    alone = kind == assumed  # whether factorisations read that part alone
    fixed = a if alone and not steps else read_only(whole, assumed)
    if kind == "lanes" and not (report or steps or precision):
        x, pivot = solve_lanes(a, b)
        return back(x), (pivot if pivots else None)
    solver = _Refined(fixed, whole if alone else fixed, kind, precision, steps)
    x = solve_with_factors(a, b, solver)
    if report:
        hermitian = assumed == "cholesky"
        matrix = whole if hermitian else a
        status, verdict = report_of(matrix, x, b, solver.sure_factors(), hermitian=hermitian)
        return back(x), (status, verdict.replace(residual=back(verdict.residual)))
    return back(x), (solver.pivot(x, b) if pivots else None)


def solve(
    a: ArrayLike, b: ArrayLike, assume_a: str = "general", *, transposed: bool = False,
    refine: int | None = None, precision: DTypeLike | None = None, report: bool = False,
) -> Array | Solution:  # fmt: skip
    """The solution x of a x = b.

    A singular matrix raises SingularMatrixError. In compiled code nothing can be raised: there a
    check fails that ``checkify`` reports, and ``report=True`` tells by a status. Derivatives, of
    any order, are those of the equation; they cost one more solution with the same factors.

    Args:
      a: matrices (..., n, n).
      b: right-hand sides (..., n, k), or one vector (n,); NaN in a column gives NaN in that of x.
      assume_a: "general", "symmetric", "hermitian", "positive definite" (Cholesky, of which only
        the lower triangle is read, but by a report, which tells of other numbers in the upper one;
        derivatives are those of its Hermitian part), "upper triangular", "lower triangular",
        "diagonal", "tridiagonal" (of which nothing else is read), "banded" (the band is what is not zero; in
        compiled code it is not known, and the whole matrix is eliminated); SciPy's short names too.
      transposed: solve aᵀ x = b.
      refine: at most this many steps of iterative refinement; 10 with a ``precision``, else 0.
      precision: dtype to factorise in, say "float32" for a in float64, which is twice as fast and
        after refinement as accurate. Where it is not, as for very ill-conditioned a, factors of a's
        own precision are taken after all.
      report: return a ``Solution``: the value, a status, and a ``Certificate`` with backward
        error, condition, digits to trust.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> a, b = xnp.asarray([[4.0, 2.0], [2.0, 3.0]]), xnp.asarray([2.0, 5.0])
    >>> xc.linalg.solve(a, b)
    Array([-0.5,  2. ], dtype=float32)
    >>> answer = xc.linalg.solve(a, b, report=True)
    >>> answer.message, round(float(answer.certificate.condition), 2)
    ('what was asked for was reached', 4.5)
    """
    one_of("linalg.solve", "assume_a", assume_a, ASSUME)
    steps = (0 if precision is None else 10) if refine is None else refine
    if type(steps) is not int or steps < 0:
        raise errors.bad_argument("linalg.solve", "refine", refine, "an int of 0 or more")
    precision = None if precision is None else dtypes.as_dtype(precision)
    if precision is not None and not dtypes.is_inexact(precision):
        raise errors.bad_argument("linalg.solve", "precision", precision, "a floating dtype")
    if assume_a in ("banded", "tridiagonal") and not steps and precision is None:
        a, b = as_inexact("linalg.solve", a, b)
        check_matrices("linalg.solve", square=True, a=a)
        with_columns("linalg.solve", a, b)
        if (widths := known_band(a, assume_a)) is not None:
            return solve_in_band("linalg.solve", a, b, widths, transposed, report)
    run = lambda pivots: _solve(a, b, assume_a, transposed, steps, precision, report, pivots)  # noqa: E731
    if report:
        x, (status, certificate) = run(False)
        return Solution(x, status, certificate)
    return checked("linalg.solve", a, run, kind_of(assume_a), b)


def kind_of(assume_a: str) -> str:
    return ASSUME[assume_a]


def checked(who: str, a, run, kind: str, *given):
    """x of ``run(pivots) -> (x, number of a vanishing pivot)``, or an error if there is one.

    A vanishing pivot leaves infinities or NaN in x. So where x is known, as it is outside of
    compiled code, pivots are looked at only if it has some: programs without pivots compile faster.
    """
    if is_evaluating():
        x, _ = run(False)
        if type(x) is Array and holds_numbers(x):
            return x
    x, pivot = run(True)
    fail(who, a, pivot, kind)
    if type(x) is Array:
        fail_unless_finite(who, x, (a, *given), "numbers overflowed; scale the equations")
    return x


@fused(1)
def _inv(a, assume_a, pivots, report=False):
    """(x, more), as for ``_solve``."""
    who = "linalg.inv"
    (a,) = as_inexact(who, a)
    check_matrices(who, square=True, a=a)
    kind, assumed = kind_for(a, assume_a), kind_of(assume_a)
    whole, a = a, read_part(a, assumed)
    if kind == "lanes":
        x, pivot = invert_lanes(a)
    else:
        given = whole if kind == assumed else read_only(whole, assumed)
        factors = factorise(ops.stop_gradient(given), kind)
        x = solve_with_factors(a, identity_like(a), factors)
        pivot = first_zero(factors.pivots()) if pivots else None
    if not report:
        return x, (pivot if pivots else None)
    failed = Status.not_definite if kind == "cholesky" else Status.singular
    return x, of_inverse(read_only(whole, assumed), x, epsilon(a), pivot, failed)


def inv(a: ArrayLike, assume_a: str = "general", *, report: bool = False) -> Array | Solution:
    """The inverse. To solve equations, ``solve`` is faster and more accurate.

    Args:
      a: matrices (..., n, n); singular ones raise SingularMatrixError.
      assume_a: as in ``solve``.
      report: return a ``Solution`` with a ``Certificate`` of what follows from r = 1 - a x, seen
        through a few columns: the residual |r|_F, the error, relative to the largest element of each column
        of x, whatever the scales of rows of a, and the conditions |a| |x|, which need no estimate.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.inv(xnp.asarray([[2.0, 0.0], [1.0, 1.0]]))
    Array([[ 0.5,  0. ],
           [-0.5,  1. ]], dtype=float32)
    """
    one_of("linalg.inv", "assume_a", assume_a, ASSUME)
    if report:
        x, (status, certificate) = _inv(a, assume_a, True, True)
        return Solution(x, status, certificate)
    return checked("linalg.inv", a, lambda p: _inv(a, assume_a, p), kind_of(assume_a))


# Determinants


def _signed_pivots(a) -> tuple:
    """The pivots of our eliminations, and whether the rows were exchanged an odd number of times."""
    if kind_for(a) == "lanes":
        return _lanes.only_pivots(a)
    packed, rows, _ = _elimination.eliminate(a, "partial")
    return diagonal(packed), _odd_permutation(rows)


def _odd_permutation(order):
    """Whether permutations are odd: whether they have an odd number of inversions."""
    i = np.arange(typeof(order).shape[-1])
    pairs = (order[..., :, None] > order[..., None, :]) & (i[:, None] < i[None, :])
    return xnp.sum(pairs, axis=(-2, -1)) % 2 == 1


@custom_jvp
def _determinant(a):
    pivots, odd = _signed_pivots(a)
    value = product_in_range(pivots)
    return xnp.where(odd, -value, value)


@_determinant.defjvp
def _(primals, tangents):
    # The derivative of numpy's determinant, tr(adj(a) a'), holds for singular matrices too.
    (a,), (change,) = primals, tangents
    wide = a if typeof(a).dtype in FACTORISED else a.astype(np.float32)
    _, moved = jvp(determinant, (wide,), (change.astype(typeof(wide).dtype),))
    return _determinant(a), moved.astype(typeof(a).dtype)


our_determinant = fused(1)(_determinant)


@fused(1)
def _det_of(a, report):
    (a,) = as_inexact("linalg.det", a)
    check_matrices("linalg.det", square=True, a=a)
    found = determinant(a) if kind_for(a) == "lapack" else _determinant(a)
    if not report:
        return found, None
    status, verdict = _determinants_report(ops.stop_gradient(a), ops.stop_gradient(found))
    return found, (status, verdict)


def det(a: ArrayLike, *, report: bool = False) -> Array | Solution:
    """The determinant; its derivative is right for singular matrices too.

    It is a product of pivots, whose exponents are dealt out first: it is right where some of these leave the
    dtype's range together, as 1e200 twice do, and all of them do not; 0 or infinite where it leaves the range
    itself. ``slogdet`` has no such limit.

    Args:
      a: matrices (..., n, n).
      report: return a ``Solution``: with a ``Certificate``, whose error is relative:
        n c eps | |a⁻¹| |a| 1 |_∞, doubled for what is not of first order; inf where no digit is known, as
        for singular matrices, and where the determinant is out of the dtype's range.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.linalg.det(xnp.asarray([[1.0, 2.0], [3.0, 4.0]]))
    Array(-2., dtype=float32)
    """
    found, verdict = _det_of(a, report)
    return found if verdict is None else Solution(found, *verdict)


@fused(1)
def _slogdet_of(a, report):
    who = "linalg.slogdet"
    (a,) = as_inexact(who, a)
    check_matrices(who, square=True, a=a)
    found = tuple(xnp.linalg.slogdet(a)) if kind_for(a) == "lapack" else _slogdet(a)
    return found, (_determinants_report(ops.stop_gradient(a)) if report else None)


def _determinants_report(a, value=None) -> tuple:
    """(status, Certificate) of log|det|, or of the determinant if its value is given.

    log|det| changes by tr(a⁻¹ a') to first order, and rounding changes each row relative to itself: by
    at most n | |a⁻¹| |a| 1 |_∞ roundings, which do not depend on the rows' scales. Of two estimates from
    below by solutions the tenfold is taken. (Higham 2002, section 14.6)
    """
    n, own, real = typeof(a).shape[-1], epsilon(a), dtypes.to_real(typeof(a).dtype)
    if 0 in typeof(a).shape:
        error, size = (f(typeof(a).shape[:-2], real) for f in (xnp.zeros, xnp.ones))
        more = {"condition": size, "error": error, "digits": digits_of(error, own)}
        return xnp.zeros(error.shape, np.int32), Certificate(**more)
    if own > 1e-4:  # 16 bits are judged in 32
        a = a.astype(np.float32)
    factors, m = factorise(a, kind_for(a)), xnp.abs(a)
    rows = product(m, xnp.ones_like(m[..., :1]))[..., 0]
    # what vanishes: elements, and what multipliers of the rows above that do would take from a row
    below = below_range(a, n) + xnp.max(m, axis=(-2, -1)) * (n * dtypes.finfo(typeof(m).dtype).tiny)
    weights = rows + below[..., None] / own  # in roundings
    s = _root_of_size(weights)[..., None, None]
    weights = by(s[..., 0], weights, -2)
    size = inverse_norms(*(through(f, s) for f in in_any_order(factors)), a[..., :1], weights)[2]
    pivots = xnp.abs(factors.pivots())
    bad = (first_zero(pivots) >= 0) | xnp.isnan(size)
    error = xnp.where(bad, xnp.inf, 10 * n * own * size)
    error = xnp.where(error >= 0.5, xnp.inf, 2 * error)  # -log(1 - x) <= 2 x
    if value is None:  # these are rounded and summed, too
        logs = xnp.sum(xnp.abs(xnp.log(xnp.where(bad[..., None], 1, pivots))), axis=-1)
        error = error + 2 * own * logs
        relative_error = relative(error, xnp.maximum(logs, own))
    else:  # and may leave the range
        low, high = float(dtypes.finfo(typeof(value).dtype).tiny), xnp.inf
        modulus = xnp.abs(value)
        there = (modulus >= low) & (modulus < high)
        error = relative_error = xnp.where(there, error + 2 * n * own, xnp.inf)
    condition = xnp.where(bad, xnp.inf, n * size)
    status = first_that_holds(
        (bad & xnp.isfinite(rows).all(axis=-1), Status.singular), (bad, Status.not_finite),
        (error > 1, Status.ill_conditioned), (~bad, Status.success),
    )  # fmt: skip
    return status, Certificate(digits_of(relative_error, own), error, None, condition)


def _root_of_size(weights):
    """A power of two whose square divides rows of these sizes: by the largest, or to next to the upper end of the
    range where the smallest would vanish."""
    info = dtypes.finfo(typeof(weights).dtype)
    s = power_of_two(xnp.max(weights, axis=-1), half=True)
    vanishes = by(s, xnp.min(weights, axis=-1), -2) < float(info.tiny / info.eps)
    return xnp.where(vanishes, s / 2.0 ** (info.maxexp // 2 - 8), s)


def slogdet(a: ArrayLike, *, report: bool = False) -> tuple[Array, Array] | Solution:
    """The sign (or phase) of the determinant and the logarithm of its modulus.

    A singular matrix has sign 0 and logarithm -inf.

    Args:
      a: matrices (..., n, n).
      report: return a ``Solution`` with a ``Certificate`` whose error is that of the logarithm,
        about the relative one of the determinant, as a bound up to the estimate of a norm; inf where
        there is none.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> sign, log = xc.linalg.slogdet(xnp.asarray([[0.0, 2.0], [1.0, 0.0]]))
    >>> float(sign), round(float(log), 4)
    (-1.0, 0.6931)
    """
    found, verdict = _slogdet_of(a, report)
    return tuple(found) if verdict is None else Solution(tuple(found), *verdict)


@custom_jvp
def _slogdet(a):
    pivots, odd = _signed_pivots(a)
    size = xnp.abs(pivots)
    sign = xnp.prod(safe_divide(pivots, size), axis=-1)
    log = xnp.sum(xnp.log(size), axis=-1)
    return xnp.where(odd, -sign, sign).astype(typeof(a).dtype), log


@_slogdet.defjvp
def _(primals, tangents):
    # d log det = tr(a⁻¹ a'): its real part is the change of the logarithm, i times its imaginary
    # part that of the phase. (Giles 2008, section 2.2.4)
    (a,), (change,) = primals, tangents
    sign, log = _slogdet(a)
    factors = factorise(ops.stop_gradient(a), kind_for(a))
    inner = solve_with_factors(a, change, factors)
    trace = xnp.trace(inner, axis1=-2, axis2=-1)
    moved = sign * 1j * xnp.imag(trace) if dtypes.is_complex(typeof(a).dtype) else sign * 0
    return (sign, log), (
        moved.astype(typeof(sign).dtype),
        xnp.real(trace).astype(typeof(log).dtype),
    )


@fused(1)
def condest(a: ArrayLike) -> Array:
    """An estimate of the condition number in the 1-norm, |a| |a⁻¹|, from one factorisation.

    Almost always within a factor of 3, never too large but for rounding. inf for singular matrices. An
    estimate counts as a constant where functions of it are differentiated; ``numpy.linalg.cond`` does not.

    Args:
      a: square matrices (..., n, n).

    >>> import xcore as xc, xcore.numpy as xnp
    >>> round(float(xc.linalg.condest(xnp.asarray([[1.0, 0.0], [0.0, 4.0]]))), 3)
    4.0
    """
    (a,) = as_inexact("linalg.condest", a)
    check_matrices("linalg.condest", square=True, a=a)
    a = ops.stop_gradient(a)
    if 0 in typeof(a).shape:
        return xnp.ones(typeof(a).shape[:-2], dtypes.to_real(typeof(a).dtype))
    factors = factorise(a, kind_for(a))
    value = norm1(a) * inverse_norm1(factors, a)
    return xnp.where((first_zero(factors.pivots()) >= 0) | xnp.isnan(value), xnp.inf, value)
