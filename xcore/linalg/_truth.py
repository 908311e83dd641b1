"""How good a solution is: backward error, condition, digits; and errors that say so aloud."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control.checks import fail_if, make_site
from .._control.loops import fori_loop
from .._control.while_loop import while_loop
from .._core import dtypes, errors
from .._core.array import Array
from .._core.source import user_frame
from .._core.struct import struct
from .._core.types import typeof
from .._iterate import Status
from ._arguments import epsilon, product
from ._elimination import first_zero
from ._factors import Factors


@struct
class Report:
    """How good a solution is.

    Attributes:
      backward_error: the smallest relative change of a and b, each in norm, for which the solution
        is exact; about the precision of the dtype is as good as it gets.
      condition: estimate, in the 1-norm, of how much relative changes of a are amplified.
      digits: decimal digits of the solution that can be trusted.
      pivot: number of the first vanishing pivot, -1 if there is none.
    """

    backward_error: Any
    condition: Any
    digits: Any
    pivot: Any


def norm1(a):
    return xnp.max(xnp.sum(xnp.abs(a), axis=-2), axis=-1, initial=0)


def _norm_inf(a):
    return xnp.max(xnp.sum(xnp.abs(a), axis=-1), axis=-1, initial=0)


def inverse_norm1(factors: Factors, like, steps: int = 5):
    """An estimate from below of the 1-norm of a⁻¹, from a few solutions with the factors.

    A convex function is maximised over the unit ball: from x go to the corner that the gradient of
    |a⁻¹ x|₁ names. The last vector, of alternating signs and growing, catches what this misses.
    (Higham 1988, "FORTRAN codes for estimating the one-norm of a real or complex matrix")
    """
    n = typeof(like).shape[-1]
    dtype = typeof(like).dtype
    lead = typeof(like).shape[:-2]
    real = dtypes.to_real(dtype)

    def climb(_, state):
        x, best = state
        y = factors.solve(x)
        size = xnp.abs(y)
        best = xnp.maximum(best, xnp.sum(size, axis=(-2, -1)))
        signs = xnp.where(size == 0, 1, y / xnp.where(size == 0, 1, size)).astype(dtype)
        z = xnp.conj(factors.solve(xnp.conj(signs), transposed=True))
        corner = xnp.argmax(xnp.abs(z[..., 0]), axis=-1)
        return (xnp.arange(n) == corner[..., None]).astype(dtype)[..., None], best

    start = xnp.full((*lead, n, 1), 1 / n, dtype), xnp.zeros(lead, real)
    _, best = fori_loop(0, steps, climb, start)
    numbers = np.arange(n)
    last = ((-1.0) ** numbers * (1 + numbers / max(n - 1, 1))).astype(real)
    last = xnp.broadcast_to(xnp.asarray(last).astype(dtype)[:, None], (*lead, n, 1))
    other = 2 * xnp.sum(xnp.abs(factors.solve(last)), axis=(-2, -1)) / (3 * n)
    return xnp.maximum(best, other.astype(real))


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


def report_of(a, x, b, factors: Factors) -> tuple:
    """(status, Report) of a solution."""
    a, x, b = (ops.stop_gradient(v) for v in (a, x, b))
    pivot = first_zero(factors.pivots())
    if 0 in typeof(a).shape:
        condition = xnp.ones(typeof(a).shape[:-2], dtypes.to_real(typeof(a).dtype))
    else:
        condition = norm1(a) * inverse_norm1(factors, a)
    condition = xnp.where((pivot >= 0) | xnp.isnan(condition), xnp.inf, condition)
    error = backward_error(a, x, b)
    eps = epsilon(a)
    digits = -xnp.log10(xnp.maximum(error, eps / 2) * xnp.where(pivot >= 0, 1, condition))
    digits = xnp.where(pivot >= 0, 0, xnp.clip(digits, 0, -np.log10(eps / 2)))
    code = status_codes(pivot, factors.kind)
    code = xnp.where((code == 0) & (condition * eps > 1), Status.ill_conditioned.value, code)
    finite = xnp.isfinite(x).all(axis=(-2, -1))
    digits = xnp.where(finite, digits, 0)
    code = xnp.where((code == 0) & ~finite, Status.not_finite.value, code)
    far = ~(error <= attainable(a))
    code = xnp.where((code == 0) & far, Status.stagnation.value, code).astype(np.int32)
    return code, Report(error, condition, digits, pivot)


def status_codes(pivot, kind: str):
    bad = Status.not_definite if kind == "cholesky" else Status.singular
    return xnp.where(pivot >= 0, bad.value, 0).astype(np.int32)


def refine(a, x, b, solve, steps: int, goal: float):
    """Iterative refinement: residuals in the precision of a, corrections from ``solve``.

    Ends when the backward error is at most the goal, no longer falls, or after so many steps.
    Returns x and the number of steps. (Higham 2002, chapter 12)
    """

    def going(state):
        _, error, best, count = state
        return (count < steps) & xnp.any((error > goal) & (error < best))

    def step(state):
        x, error, _, count = state
        better = x + solve(b - product(a, x))
        lower = backward_error(a, better, b)
        x = xnp.where((lower < error)[..., None, None], better, x)
        return x, xnp.minimum(lower, error), error, count + np.int32(1)

    error = backward_error(a, x, b)
    start = (x, error, xnp.full_like(error, xnp.inf), xnp.zeros((), np.int32))
    x, _, _, count = while_loop(going, step, start)
    return x, count


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
        told = "the matrix, or one of the batch, holds NaN or infinities, of which nothing can be found"
        return f"xcore.{who}: {told}; given {given}. xnp.argwhere(~xnp.isfinite(a)) tells where."
    what, which, told, advice = _words(kind)
    return f"xcore.{who}: the matrix is {what}: {which.format(pivot)} {told}{where}; given {given}. {advice}"


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
        if (found >= 0).any():
            raise _error(who, a, found, kind)
        return
    worst = xnp.max(xnp.asarray(pivot), initial=-1)
    told = f"{who}: the matrix is {_words(kind)[0]} (pivot {{}})"
    site, values = make_site("user", told, (worst,), {}, user_frame())
    fail_if(worst >= 0, site, values, active=False)


def _error(who: str, a, found: np.ndarray, kind: str) -> Exception:
    lane = tuple(np.argwhere(found >= 0)[0].tolist())
    pivot, condition = int(found[lane]), np.nan
    if holds_numbers(a):
        condition = _condition(a, lane, kind)
        if kind == "cholesky" and np.ndim(a) - 2 == len(lane):
            pivot = _first_minor_not_definite(np.asarray(a, complex)[lane])
    told = _message(who, a, pivot, lane, kind)
    return errors.SingularMatrixError(told, pivot=pivot, matrix=lane, condition=condition)


def fail_unless_finite(who: str, x, given: tuple, why: str) -> None:
    """Raise, or leave a check, for infinities or NaN in x that are not due to those given."""
    if type(x) is Array:
        if not holds_numbers(x) and all(map(holds_numbers, given)):
            raise errors.SolverError(f"xcore.{who}: the result holds infinities or NaN: {why}.")
        return
    good = xnp.isfinite(xnp.asarray(x)).all()
    for y in given:
        good = good | ~xnp.isfinite(xnp.asarray(y)).all()
    site, values = make_site("user", f"{who}: {why}", (), {}, user_frame())
    fail_if(~good, site, values, active=False)
