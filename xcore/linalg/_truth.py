"""How good a solution is: backward error, condition, digits; and errors that say so aloud."""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._control import stop_gradient
from .._control.checks import fail_if, make_site
from .._core import Array, dtypes, errors, typeof
from .._core.source import user_frame
from .._iterate import Steps, iterate
from .._ops.matrices import hermitian_of_lower
from .._solution import Certificate, Solution, Status
from ..numpy._matrices import refuses
from ..numpy._select import safe_divide
from ._arguments import epsilon, product
from ._digits import digits_of, of_truth, relative
from ._elimination import first_zero
from ._equations import judged_dense, signs
from ._factors import Factors, factorise


def norm1(a):
    return xnp.max(xnp.sum(xnp.abs(a), axis=-2), axis=-1, initial=0)


def _norm_inf(a):
    return xnp.max(xnp.sum(xnp.abs(a), axis=-1), axis=-1, initial=0)


def norm1_estimate(apply, adjoint_apply, like, steps: int = 2):
    """An estimate from below of the 1-norm of a linear map of columns (..., n, 1), from its products.

    A convex function is maximised over the unit ball: from x go to the corner that the gradient of
    |b x|₁ names, as long as that leads up. The last vector, of alternating signs and growing, catches
    what this misses. (Higham 1988, "FORTRAN codes for estimating the one-norm of a real or complex
    matrix")
    """
    *lead, n, _ = typeof(like).shape
    dtype, numbers = typeof(like).dtype, np.arange(n)
    real = dtypes.to_real(dtype)

    def size_of(y):
        return xnp.sum(xnp.abs(y), axis=(-2, -1)).astype(real)

    def climb(state):
        y, best, _ = state
        corner = xnp.argmax(xnp.abs(adjoint_apply(signs(y))[..., 0]), axis=-1)
        y = apply((numbers == corner[..., None]).astype(dtype)[..., None])
        return y, xnp.maximum(best, size_of(y)), best

    y = apply(xnp.full((*lead, n, 1), 1 / n, dtype))
    first = size_of(y)
    solver = Steps(climb, lambda s: ~(s[1] > s[2]))  # where it led no higher
    best = iterate(solver, (y, first, xnp.full_like(first, -1)), steps).state[1]
    last = ((-1.0) ** numbers * (1 + numbers / max(n - 1, 1))).astype(real)
    last = xnp.broadcast_to(xnp.asarray(last, dtype)[:, None], (*lead, n, 1))
    return xnp.maximum(best, 2 * size_of(apply(last)) / (3 * n)).astype(real)


def _both(factors: Factors) -> tuple:
    """Solutions with a and with aᴴ."""
    if factors.kind == "cholesky":
        return factors.solve, factors.solve
    return factors.solve, lambda b: xnp.conj(factors.solve(xnp.conj(b), transposed=True))


def in_any_order(factors: Factors) -> tuple:
    """Solutions with a and aᴴ up to the order of the rows of a⁻¹: of LAPACK's factors without exchanges."""
    if factors.kind == "lapack":
        factors = factors.replace(parts=(factors.parts[0], None))
    return _both(factors)


def inverse_norm1(factors: Factors, like, steps: int = 4):
    """An estimate from below of the 1-norm of a⁻¹, from a few solutions with the factors."""
    return norm1_estimate(*_both(factors), like[..., :1], steps)


def backward_error(a, x, b):
    """|b - a x| / (|a| |x| + |b|) in the norm of largest row sums, the worst column counting.

    (Rigal and Gaches 1967; Higham 2002, "Accuracy and stability of numerical algorithms", thm 7.1)
    """
    left = xnp.max(xnp.abs(b - product(a, x)), axis=-2, initial=0)
    size = _norm_inf(a)[..., None] * xnp.max(xnp.abs(x), axis=-2, initial=0)
    size = size + xnp.max(xnp.abs(b), axis=-2, initial=0)
    return xnp.max(
        xnp.where(left == 0, 0, left / xnp.where(size == 0, 1, size)), axis=-1, initial=0
    )


def attainable(a) -> float:
    """The backward error up to which a solution counts as one."""
    return 30 * max(typeof(a).shape[-1], 1) * epsilon(a)


def report_of(a, x, b, factors: Factors, hermitian: bool = False) -> tuple:
    """(status, Certificate) of a solution; of Hermitian matrices the lower triangle is read."""
    eps, pivot = epsilon(a), first_zero(factors.pivots())
    if eps > 1e-4:
        kind = "diagonal" if factors.kind == "diagonal" else "lapack"
        wide = stop_gradient(a).astype(np.float32)
        factors = factorise(hermitian_of_lower(wide) if hermitian else wide, kind)
    failed = Status.not_definite if factors.kind == "cholesky" else Status.singular
    return judged_dense(a, x, b, *in_any_order(factors), eps, pivot, failed, hermitian=hermitian)


def of_pairs(w, residual, size, n: int, others=None, unsure=0, rounding=0.0, **more) -> Certificate:
    """What residuals of orthonormal vectors say about eigenvalues w (..., k) of Hermitian matrices.

    |λ - θ| <= |r| for an eigenvalue λ, and the angle to the vectors of λ has a sine of at most |r| by
    the gap to the rest. (Parlett 1998, theorem 11.7.1) Rounding of the residual is added to it.

    Args:
      residual: |a v - w v| of each.
      size: about the norm of the matrices.
      n: their size.
      others: eigenvalues (..., j) not among w, as far as they are known.
      unsure: how far those may be off.
      rounding: what may be missing in the residuals, besides what follows from size.
      more: further figures of the report.
    """
    eps = epsilon(w)
    tiny = n * dtypes.finfo(typeof(w).dtype).tiny  # what is less may have vanished
    error = residual + rounding + (4 + n**0.5 / 4) * eps * size[..., None]
    error = error + xnp.where(size > 0, tiny, tiny * 0)[..., None]
    gaps = xnp.abs(w[..., :, None] - w[..., None, :]) - error[..., None, :]
    gaps = xnp.where(np.eye(typeof(w).shape[-1], dtype=bool), xnp.inf, gaps)
    if others is not None:
        beyond = xnp.abs(w[..., :, None] - others[..., None, :]) - unsure
        gaps = xnp.concatenate([gaps, beyond], axis=-1)
    gap = xnp.min(gaps, axis=-1, initial=xnp.inf) - error
    angle = safe_divide(error, gap, 1, where=gap > error)
    most = xnp.max(error, axis=-1, initial=0)
    off = relative(most, xnp.max(xnp.abs(w), axis=-1, initial=0))
    return Certificate(
        digits_of(of_truth(off), eps), error, residual, None, {"angle": angle} | more
    )


def refine(a, x, b, solve, steps: int, goal: float):
    """Iterative refinement: residuals in the precision of a, corrections from ``solve``.

    Ends when the backward error is at most the tolerance, no longer falls, or after this many steps.
    Returns x and the number of steps. (Higham 2002, chapter 12)
    """

    def done(state):
        _, error, best = state
        return ~((error > goal) & (error < best))

    def step(state):
        x, error, _ = state
        better = x + solve(b - product(a, x))
        lower = backward_error(a, better, b)
        x = xnp.where((lower < error)[..., None, None], better, x)
        return x, xnp.minimum(lower, error), error

    error = backward_error(a, x, b)
    ran = iterate(Steps(step, done), (x, error, xnp.full_like(error, xnp.inf)), steps)
    return ran.state[0], ran.steps


_DEFINITE = ("cholesky", "definite")  # dense matrices, and others

# kind: what the matrix is, which pivot fails, how, and what to do
_NO_PIVOT = (
    "linalg.lstsq and linalg.pinv work for singular matrices, and linalg.solve(..., report=True) "
    "returns a Solution, not an error."
)
_WORDS = {
    "definite": (
        "not positive definite", "pivot {} of the elimination", "is not positive",
        "linalg.solve takes matrices that are not; linalg.eigvalsh tells by how much they miss it, and "
        "adding that multiple of the identity repairs what is due to rounding.",
    ),
    "field": (
        "singular over this field", "column {}", "depends on the columns before it",
        "linalg.gauss_null_space(a, field=p) has the vectors that it takes to zero, and linalg.rref of "
        "(a b) tells whether there are solutions.",
    ),
    "unknown": (
        "singular", "a pivot of the elimination", "vanishes, so the condition number is infinite",
        _NO_PIVOT,
    ),
    "zero": (
        "singular", "pivot {} of the elimination", "vanishes, so the condition number is infinite",
        _NO_PIVOT,
    ),
    "rank": (
        "not of full column rank up to rounding", "column {}", "depends on the columns before it",
        "method='svd' gives the solution of least norm, and a ridge makes it unique.",
    ),
    "spectrum": (
        "singular up to rounding", "eigenvalue {}", "is one for which the result would divide by zero",
        "There is no solution, or no unique one; a shift of the spectrum helps.",
    ),
}  # fmt: skip


def _words(kind: str) -> tuple:
    return _WORDS["definite" if kind in _DEFINITE else kind if kind in _WORDS else "zero"]


def _message(who: str, a, pivot: int, lane: tuple, kind: str) -> str:
    where = f" (matrix {lane} of the batch)" if lane else ""
    given = errors.describe(a)
    if not holds_numbers(a):
        message = "the matrix, or one of the batch, holds NaN or infinities, of which nothing can be found"
        return f"xcore.{who}: {message}; given {given}. xnp.argwhere(~xnp.isfinite(a)) tells where."
    what, which, effect, advice = _words(kind)
    return f"xcore.{who}: the matrix is {what}: {which.format(pivot)} {effect}{where}; given {given}. {advice}"


def holds_numbers(a) -> bool:
    """Whether all elements are finite; of what is not known now, yes."""
    if type(a) is not Array and not isinstance(a, np.ndarray):
        return True
    found = np.asarray(a)
    return bool(np.isfinite(found.astype(np.float32) if found.dtype.itemsize < 4 else found).all())


def _condition(a, lane: tuple, kind: str) -> float:
    """What SingularMatrixError says of it; where that takes long, NaN."""
    if kind not in _DEFINITE:
        return np.inf
    if kind != "cholesky" or len(lane) != np.ndim(a) - 2 or np.shape(a)[-1] > 500:
        return np.nan
    return float(np.linalg.cond(np.asarray(a, complex)[lane], 1))


def _first_minor_not_definite(a: np.ndarray) -> int:
    """The pivot at which a Cholesky factorisation fails, by bisection over the leading minors."""
    low, high = 0, len(a)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            np.linalg.cholesky(a[:middle, :middle])
            low = middle
        except np.linalg.LinAlgError:
            high = middle
    return low


def fail(who: str, a, pivot, kind: str) -> None:
    """Raise for a vanishing pivot that is known now; leave a check where it is traced."""
    if type(pivot) is Array:
        found = np.asarray(pivot)
        if (found >= 0).any() and refuses():
            raise _error(who, stop_gradient(a), found, kind)
        return
    worst = xnp.max(xnp.asarray(pivot), initial=-1)
    message = f"{who}: the matrix is {_words(kind)[0]} (pivot {{}})"
    check_later(worst >= 0, message, worst)


def answered(who: str, a, kind: str, x, pivot, verdict):
    """x, or an error where a pivot vanishes; where there is a verdict a ``Solution`` that says so."""
    if verdict is not None:
        return Solution(x, *verdict)
    fail(who, a, pivot, kind)
    return x


def check_later(bad, message: str, *values) -> None:
    """A check for ``checkify``, at the user's line, of what is known when a compiled function runs."""
    site, values = make_site("user", message, values, {}, user_frame())
    fail_if(bad, site, values, active=False)


def _error(who: str, a, found: np.ndarray, kind: str) -> Exception:
    lane = tuple(np.argwhere(found >= 0)[0].tolist())
    pivot, condition = int(found[lane]), np.nan
    if holds_numbers(a):
        condition = _condition(a, lane, kind)
        if kind == "cholesky" and np.ndim(a) - 2 == len(lane):
            pivot = _first_minor_not_definite(np.asarray(a, complex)[lane])
    message = _message(who, a, pivot, lane, kind)
    return errors.SingularMatrixError(message, pivot=pivot, matrix=lane, condition=condition)


def check_status(who: str, status) -> None:
    """In compiled code, where nothing can be raised, a check for ``checkify``."""
    worst = xnp.max(xnp.asarray(status), initial=0)
    words = ", ".join(f"{s.value}: {s.name.replace('_', ' ')}" for s in Status if s.value)
    message = f"{who} ended with status {{}} ({words})"
    check_later(worst > 0, message, worst)


def fail_unless_finite(who: str, x, given: tuple, why: str) -> None:
    """Raise, or leave a check, for infinities or NaN in x that are not due to those given."""
    if type(x) is Array:
        if refuses() and not holds_numbers(x) and all(map(holds_numbers, given)):
            raise errors.SolverError(f"xcore.{who}: the result holds infinities or NaN: {why}.")
        return
    good = xnp.isfinite(xnp.asarray(x)).all()
    for y in given:
        good = good | ~xnp.isfinite(xnp.asarray(y)).all()
    check_later(~good, f"{who}: {why}")
