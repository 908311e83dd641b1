"""Chebyshev's polynomials of a matrix that are about its inverse."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import Array, ArrayLike, Tracer, dtypes, errors, static, struct, typeof
from ._eigen import lanczos
from ._operators import LinearOperator, as_operator, is_function


def chebyshev(mv, x, b, unit, ratio, steps: int):
    """x after steps of Chebyshev's iteration for a x = b, from 0 if x is None.

    For eigenvalues of ``unit`` a, where ``unit`` is a number or a diagonal, from ratio - 1 to ratio + 1.
    (Adams, Brezina, Hu and Tuminaro 2003, "Parallel multigrid smoothing: polynomial versus Gauss–Seidel")
    """
    rho = 1 / ratio
    r = b if x is None else b - mv(x)
    d = rho * (unit * r)
    x = d if x is None else x + d
    for _ in range(steps - 1):
        r = r - mv(d)
        new = 1 / (2 * ratio - rho)
        d = new * rho * d + 2 * new * (unit * r)
        x, rho = x + d, new
    return x


@struct
class _Polynomial(LinearOperator):
    """p(a), where 1 - λ p(λ) is the polynomial of that degree that is least from low to high."""

    a: Any
    low: Any
    high: Any
    steps: int = static()

    positive = True

    @property
    def symmetric(self):
        return self.a.symmetric

    @property
    def shape(self):
        return self.a.shape

    @property
    def T(self):
        return self.replace(a=self.a.T)

    def mv(self, x: Array) -> Array:
        real = dtypes.to_real(dtypes.to_inexact(typeof(x).dtype))
        low, high = (xnp.asarray(v, real) for v in (self.low, self.high))
        half = xnp.maximum(high / 2 - low / 2, 1e-3 * high)
        ratio = (high / 2 + low / 2) / half
        return chebyshev(self.a.mv, None, x, 1 / half, ratio, self.steps)


def chebyshev_preconditioner(
    a: ArrayLike | LinearOperator, steps: int = 7, *, bounds: tuple[Any, Any] | None = None
) -> LinearOperator:
    """A polynomial of a Hermitian positive definite matrix that is about its inverse, as a preconditioner.

    p(a) b is what ``steps`` steps of Chebyshev's iteration make of a x = b: 1 - λ p(λ) = T((h + l - 2 λ) / (h - l)) /
    T((h + l) / (h - l)), with Chebyshev's polynomial T of that degree, l and h the bounds. Conjugate gradients
    take no fewer products with a than without it (up to a fifth more where they need hundreds, to twice as many where
    they need few), but only one step of inner products, where processors wait for each other, for ``steps`` of
    these: for GPUs, and matrices over several devices.

    Args:
      a: a ``LinearOperator`` or a matrix.
      steps: how many; p has one degree less. Where it is odd p is positive beyond the upper bound, too.
      bounds: (low, high) between which the eigenvalues are that it is made for: all of them, or the upper ones.
        By default high comes from twelve steps of Lanczos' method, and low is high / (2 steps)².

    >>> import xcore.numpy as xnp
    >>> from xcore import linalg
    >>> a = linalg.Matrix(xnp.diag(xnp.arange(1.0, 101.0)), symmetric=True, positive=True)
    >>> b = xnp.ones(100)
    >>> linalg.linear_solve(a, b, linalg.CG(), report=True).steps
    Array(42, dtype=int32)
    >>> m = linalg.chebyshev_preconditioner(a)
    >>> linalg.linear_solve(a, b, linalg.CG(), preconditioner=m, report=True).steps
    Array(12, dtype=int32)
    """
    who = "linalg.chebyshev_preconditioner"
    if is_function(a):
        wanted = "a matrix or an operator: linalg.FunctionOperator(lambda _, x: f(x), None, (n, n))"
        raise errors.bad_argument(who, "a", a, wanted)
    a = as_operator(a)
    if a.shape[0] != a.shape[1]:
        raise errors.ShapeError(f"xcore.{who}: need a square matrix, given {a.shape}.")
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 1:
        raise errors.bad_argument(who, "steps", steps, "an int of at least 1")
    if bounds is None:
        high = _upper_bound(a)
        return _Polynomial(a, high / (2 * steps) ** 2, high, int(steps))
    low, high = _two_numbers(who, bounds)
    return _Polynomial(a, low, high, int(steps))


def _two_numbers(who: str, bounds):
    found = tuple(bounds) if isinstance(bounds, (tuple, list)) else ()
    known = not any(isinstance(v, Tracer) for v in found)
    if len(found) != 2 or (known and not 0 < found[0] <= found[1] < np.inf):
        wanted = "two numbers 0 < low <= high, between which eigenvalues lie"
        raise errors.bad_argument(who, "bounds", bounds, wanted)
    return found


_LANCZOS = 12


def _upper_bound(a: LinearOperator) -> Array:
    """Of the eigenvalues: Gershgorin's of the tridiagonal matrix, whose own are within those of a, and a tenth more."""
    n = a.shape[0]
    if not n:
        return xnp.ones(())
    _, alpha, beta = lanczos(a, xnp.zeros(n), min(n, _LANCZOS + 1))
    around = xnp.pad(beta, 1)
    high = 1.1 * xnp.max(alpha + around[:-1] + around[1:])
    return xnp.where(high > 0, high, 1)
