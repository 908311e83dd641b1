"""A few singular values of matrices and operators, as eigenvalues of the Hermitian operator (0 A; Aᴴ 0)."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from .. import numpy as xnp
from .. import random
from .._control import stop_gradient, vmap
from .._core import Array, dtypes, errors, one_of
from .._solution import Certificate, Solution, Status, first_that_holds
from ..linalg import FunctionOperator, LinearOperator, as_operator, eigsh
from ..linalg._arguments import epsilon
from ..linalg._digits import digits_of, relative
from ..linalg._range import safe_norm


@overload
def svds(
    a: Any, k: int = 6, *, which: str = "LM", ncv: int | None = None, rtol: float | None = None,
    max_steps: int = 300, report: Literal[False] = False,
) -> tuple[Array, Array, Array]: ...  # fmt: skip
@overload
def svds(
    a: Any, k: int = 6, *, which: str = "LM", ncv: int | None = None, rtol: float | None = None,
    max_steps: int = 300, report: Literal[True],
) -> Solution: ...  # fmt: skip
def svds(
    a: Any, k: int = 6, *, which: str = "LM", ncv: int | None = None, rtol: float | None = None,
    max_steps: int = 300, report: bool = False,
) -> tuple[Array, Array, Array] | Solution:  # fmt: skip
    """(u, s, vh): the k largest or smallest singular values, ascending, and their vectors.

    The largest are the largest eigenvalues of (0 A; Aᴴ 0), whose vectors are (u; v) / √2: errors are relative to the
    largest one. Values of no more than the tolerance are given as 0, with vectors orthogonal to the others. The
    residuals |A v - s u| and |Aᴴ u - s v| are computed anew at the end. Derivatives are those of ``eigsh``.

    Args:
      a: matrix, dense or sparse, or operator (m, n).
      k: how many.
      which: "LM", or "SM" for the smallest, which are those of ``linalg.svd`` of all of a, in m n numbers.
      ncv, max_steps: as for ``linalg.eigsh``.
      rtol: tolerance for the residuals, relative to the largest value; precision^¾ by default.
      report: return a ``Solution`` instead of raising SolverError where residuals are above ten times the tolerance.
        Its certificate has for each value a bound of the error, and the larger one of both residuals.

    >>> from xcore import sparse
    >>> sparse.svds(sparse.diags_array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), k=2)[1].round(3)
    Array([5., 6.], dtype=float32)
    """
    who = "sparse.svds"
    one_of(who, "which", which, ("LM", "SM"))
    a = as_operator(a)
    m, n = a.shape
    if not isinstance(k, (int, np.integer)) or not 0 < k <= min(m, n):
        raise errors.bad_argument(who, "k", k, f"from 1 to {min(m, n)}")
    u, s, v, limit, steps = (
        _largest(a, k, ncv, rtol, max_steps) if which == "LM" else _smallest(a, k)
    )
    status, told = _judged(a, u, s, v, limit)
    solution = Solution((u, s, xnp.conj(v.T)), status, told, steps, who=who)
    return solution if report else solution.check().value


def _smallest(a: LinearOperator, k: int) -> tuple:
    found = xnp.linalg.svd(a.matmat(xnp.eye(a.shape[1])), full_matrices=False)
    u, s, vh = found.U[:, -k:], found.S[-k:], found.Vh[-k:]
    limit = epsilon(s) ** 0.75 * found.S[0]
    return u[:, ::-1], s[::-1], xnp.conj(vh[::-1].T), limit, None


def _largest(a: LinearOperator, k: int, ncv: Any, rtol: Any, max_steps: int) -> tuple:
    m, n = a.shape

    def both(a: Any, x: Array) -> Array:
        return xnp.concatenate([a.mv(x[m:]), xnp.conj(a.T.mv(xnp.conj(x[:m])))])

    operator = FunctionOperator(both, a, (m + n, m + n), symmetric=True)
    found = eigsh(operator, k, which="LA", ncv=ncv, rtol=rtol, max_steps=max_steps, report=True)
    s, x = found.value
    limit = (rtol or epsilon(s) ** 0.75) * s[-1]
    s = xnp.where(s <= limit, 0, s)
    return _orthonormal(x[:m], s), s, _orthonormal(x[m:], s), limit, found.steps


def _orthonormal(x: Array, s: Array) -> Array:
    """Halves of vectors as orthonormal columns: of pairs of 0, which leave them open, any; the largest come first."""
    size = vmap(safe_norm, in_axes=1)(stop_gradient(x))
    other = random.normal(random.key(11), x.shape, dtypes.to_real(x.dtype)).astype(x.dtype)
    q, r = xnp.linalg.qr(xnp.where((s == 0) | (size < 0.1), other, x)[:, ::-1])
    return (q * xnp.sign(xnp.diagonal(r)))[:, ::-1]


def _judged(
    a: LinearOperator, u: Array, s: Array, v: Array, limit: Array
) -> tuple[Array, Certificate]:
    """The residual of (u; v) / √2 bounds how far a singular value is from s, up to rounding of products with a."""
    u, s, v, limit = map(stop_gradient, (u, s, v, limit))
    of = vmap(safe_norm, in_axes=1)
    left = of(a.matmat(v) - u * s.astype(u.dtype))
    right = of(xnp.conj(a.T.matmat(xnp.conj(u))) - v * s.astype(v.dtype))
    rounding = (4 + max(a.shape) ** 0.5 / 4) * epsilon(s) * xnp.max(s, initial=0)
    error = xnp.hypot(left, right) / np.sqrt(2).astype(s.dtype) + rounding
    status = first_that_holds(
        (~xnp.isfinite(left + right + s).all(), Status.not_finite),
        (xnp.any(xnp.maximum(left, right) > 10 * limit), Status.stagnation), default=Status.success,
    )  # fmt: skip
    digits = digits_of(relative(error[-1], s[-1]), epsilon(s))
    return status, Certificate(digits, error, xnp.maximum(left, right))
