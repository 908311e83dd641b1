"""Factors of Hermitian matrices that are not definite: L S Lᴴ with signs S, without exchanges, and refined.

Pivots stand where the order of elimination puts them; where one is below the root of the precision, relative to rows
that were made about as large as 1, it is made as large as that. (Li and Demmel 1998, "Making sparse Gaussian
elimination scalable by static pivoting") So factors are those of a matrix nearby, or grow; refinement makes up for it,
or the status says that it did not.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from .. import numpy as xnp
from .._control import custom_linear_solve, fori_loop, stop_gradient, while_loop
from .._core import Array, ArrayLike, struct
from .._solution import Solution, Status, first_that_holds
from ..linalg import LinearOperator
from ..linalg._arguments import epsilon
from ..linalg._equations import Equation, coins, judged, power_of_two, roundings
from ._column_kernels import applied
from ._columns import columns_of
from ._matrix import Sparse, over_batches
from ._pattern import Pattern, shared
from ._products import product_of, spread
from ._residuals import answered, columns_for, each

_STEPS = 4  # of refinement
_SCALINGS = 16
_ASTRAY = 0.01  # of F⁻¹ A y from y, at which bounds from factors F stop to mean what they say


class Inertia(NamedTuple):
    """How many eigenvalues are positive and negative, and whether that is certain.

    >>> import xcore as xc
    >>> found = xc.sparse.factorise(xc.sparse.diags_array([1.0, -2.0, 3.0]), kind="ldl").inertia()
    >>> found.positive, found.negative
    (Array(2, dtype=int32), Array(1, dtype=int32))
    """

    positive: Array
    negative: Array
    certain: Array


def _scales(pattern: Pattern, v: Array) -> Array:
    """Powers of two d, with d A d of rows whose sums are about 1. (Ruiz 2001)

    Each step halves the exponents that are left, so the whole range is gone after a dozen.
    """
    size = xnp.abs(stop_gradient(v))
    real = size.dtype

    def step(state: Any) -> Any:
        k, d, _ = state
        sums = xnp.clip(d * product_of(pattern)(size, d), 0, float(xnp.finfo(real).max))
        factor = power_of_two(xnp.where(sums > 0, 1 / sums, 1), half=True)
        return k + np.int32(1), d * factor, (xnp.abs(xnp.log2(factor)) > 0.5).any()

    start = xnp.zeros((), np.int32), xnp.ones((pattern.shape[0], 1), real), xnp.ones((), bool)
    return while_loop(lambda s: s[2] & (s[0] < _SCALINGS), step, start)[1][:, 0]


def _scaled(pattern: Pattern, v: Array, d: Array) -> Array:
    return v * d[pattern.rows] * d[pattern.columns]


def _factors(pattern: Pattern, v: Array) -> tuple[Array, Array]:
    d = _scales(pattern, v)
    return applied("column_ldl", pattern, _scaled(pattern, v, d)), d


def _once(pattern: Pattern, low: Array, d: Array, b: Array) -> Array:
    return d[:, None] * applied("column_solve_signed", pattern, low, d[:, None] * b)


def _refined(pattern: Pattern, v: Array, low: Array, d: Array, b: Array) -> Array:
    """The best x of some steps of refinement, by the largest residual in units of rows."""
    times = functools.partial(product_of(pattern), v)

    def missed(x: Array) -> tuple[Array, Array]:
        r = b - times(x)
        size = xnp.max(xnp.abs(d[:, None] * r), axis=0, initial=0)
        return r, xnp.where(xnp.isfinite(size), size, xnp.inf)

    def step(_: Any, state: Any) -> Any:
        x, r, size = state
        new = x + _once(pattern, low, d, r)
        left, less = missed(new)
        take = less < size
        pick = lambda a, b: xnp.where(take, a, b)  # noqa: E731
        return pick(new, x), pick(left, r), pick(less, size)

    x = _once(pattern, low, d, b)
    return fori_loop(0, _STEPS, step, (x, *missed(x)))[0]


def _solution(pattern: Pattern, v: Array, low: Array, d: Array, b: Array) -> Array:
    known = stop_gradient(v)
    solve = functools.partial(_refined, pattern, known, low, d)
    turned = lambda b: xnp.conj(solve(xnp.conj(b)))  # noqa: E731
    return custom_linear_solve(  # pyright: ignore[reportReturnType]
        lambda x: product_of(pattern)(v, x), b, lambda _, b: solve(b), lambda _, b: turned(b)
    )


def _wrong(pattern: Pattern, v: Array, x: Array, b: Array) -> Array:
    """The componentwise backward error of x, the largest. (Oettli and Prager 1964)"""
    times = product_of(pattern)
    size = times(xnp.abs(v), xnp.abs(x)) + xnp.abs(b)
    part = xnp.abs(b - times(v, x)) / xnp.where(size > 0, size, 1)
    return xnp.max(xnp.where(xnp.isfinite(part), part, xnp.inf), initial=0)


def _equation(pattern: Pattern, _: Any, v: Array) -> Equation:
    f, known = over_batches(functools.partial(_factors, pattern), (v, 1))
    low, d = f(known)

    def solve(b: Array) -> Array:
        g, *operands = over_batches(
            functools.partial(_refined, pattern), (v, 1), (low, 1), (d, 1), (b, 2)
        )
        return g(*operands)

    size = xnp.abs(v)
    ones = xnp.ones((*v.shape[:-1], pattern.shape[0], 1), size.dtype)
    return Equation(
        lambda x: each(product_of(pattern), v, x), lambda x: each(product_of(pattern), size, x),
        solve, solve,
        xnp.max(each(product_of(pattern), size, ones), axis=(-2, -1), initial=0),
        roundings(int(pattern.lengths.max(initial=1))),
    )  # fmt: skip


def _astray(pattern: Pattern, v: Array, low: Array, d: Array) -> Array:
    """How far F⁻¹ A y is from a random y, in units: whether factors tell of the inverse."""
    y = d[:, None] * coins(pattern.shape[0], 2, v.dtype)
    found = _refined(pattern, v, low, d, product_of(pattern)(v, y))
    return xnp.max(xnp.abs(found - y) / d[:, None], initial=0)


def _counted(pattern: Pattern, low: Array, v: Array, d: Array) -> Inertia:
    """Of A = L S Lᴴ + E: where E, by rounding and by pivots that were changed, is smaller than the least |eigenvalue|.

    |E| ≤ γ |L| |L|ᴴ of rounding. Solutions for random y are about as long as A⁻¹ in Frobenius' norm; that all of eight
    are shorter than |A⁻¹| / 16 has a probability below 1e-6, also where just two unknowns cancel.
    """
    plan, eps = columns_of(pattern), xnp.finfo(xnp.real(v).dtype).eps
    n, turned = pattern.shape[0], pattern.kept("factor", lambda: _transposed_factor(plan))
    pivots = xnp.real(low[plan.pointers[:-1]])
    size, one = xnp.abs(low), xnp.ones((n, 1), pivots.dtype)
    sums = product_of(turned.T)(size[turned.T_order], product_of(turned.pattern)(size, one))
    rounding = (
        roundings(int(np.diff(plan.pointers).max(initial=1))) * eps * xnp.max(sums, initial=0)
    )
    changed = xnp.where(xnp.min(xnp.abs(pivots), initial=xnp.inf) <= 1.01 * eps**0.25, eps**0.5, 0)
    scaled = _scaled(pattern, v, d)
    z = _refined(pattern, scaled, low, xnp.ones_like(d), coins(n, 8, v.dtype))
    inverse = xnp.max(xnp.sqrt(xnp.sum(xnp.abs(z) ** 2, axis=0)), initial=0)
    certain = 16 * inverse * (rounding + 2 * changed) < 1
    return Inertia((pivots > 0).sum(), (pivots < 0).sum(), certain & xnp.isfinite(inverse))


class _Turned(NamedTuple):
    pattern: Pattern
    T: Pattern
    T_order: np.ndarray


def _transposed_factor(plan: Any) -> _Turned:
    n = len(plan.pointers) - 1
    p = Pattern.of_rows(plan.pointers, plan.rows, (n, n))
    return _Turned(p, p.T, np.lexsort((p.rows, p.columns)))


@struct
class LDL(LinearOperator):
    """The inverse of a Hermitian matrix, definite or not, by factors L S Lᴴ with a diagonal S of signs.

    Attributes:
      a: the matrix, on a symmetric pattern; the elements that count are those of the Hermitian matrix that it is.
      low: the elements of L, column by column, of the matrix in units; its diagonal has the signs of S.
      units: powers of two that rows and columns were multiplied by.

    >>> import xcore.numpy as xnp
    >>> from xcore import sparse
    >>> a = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(4, 4))
    >>> m = sparse.factorise(a, kind='ldl')
    >>> (m @ xnp.ones(4)).round(3)
    Array([2., 3., 3., 2.], dtype=float32)
    """

    a: Sparse
    low: Array
    units: Array

    symmetric = True

    @property
    def shape(self) -> Any:
        return self.a.pattern.shape

    def mv(self, x: Array) -> Array:
        return self.matmat(x[:, None])[:, 0]

    def matmat(self, x: Array) -> Array:
        return self._solved(x)

    def _solved(self, b: Array) -> Array:
        dtype = xnp.result_type(self.a.values, b)
        if not self.shape[0]:
            return b.astype(dtype)
        low, units = self.low.astype(dtype), self.units
        g, *operands = over_batches(
            lambda v, low, d, b: _solution(self.a.pattern, v, low, d, b),
            (self.a.values.astype(dtype), 1), (low, 1), (units, 1), (b.astype(dtype), 2),
        )  # fmt: skip
        return g(*operands)

    def solve(self, b: ArrayLike, *, report: bool = False) -> Array | Solution:
        """The solution of a x = b, refined, with the derivatives of the equation.

        A success means that each row of the equation holds up to the rounding of its terms, as computed from x; where
        refinement does not reach that, the status is ``stagnation``, and without ``report`` it is raised.

        Args:
          b: a vector (n,) or columns (..., n, k).
          report: return a ``Solution`` with status and certificate.
        """
        who, p = "sparse.LDL.solve", self.a.pattern
        _, columns, vector = columns_for(who, self.a, b)
        x = self._solved(columns)
        known = stop_gradient(self.a.values).astype(x.dtype)
        seen, given = stop_gradient(x), stop_gradient(columns).astype(x.dtype)
        f, *operands = over_batches(functools.partial(_wrong, p), (known, 1), (seen, 2), (given, 2))
        allowed = 16 * roundings(int(p.lengths.max(initial=1))) * epsilon(x)
        wrong = f(*operands)
        status, told = first_that_holds(
            (~xnp.all(xnp.isfinite(known), axis=-1), Status.not_finite),
            (~xnp.all(xnp.isfinite(x), axis=(-2, -1)), Status.singular),
            (~(wrong <= allowed), Status.stagnation), default=Status.success,
        ), None  # fmt: skip
        if report and self.shape[0]:
            status, told = self._judged(known, given, seen, status)
        return answered(who, x, vector, status, told, "LDL, static pivots", report)

    def _judged(self, v: Array, b: Array, x: Array, before: Array) -> tuple[Array, Any]:
        p, lead = self.a.pattern, x.shape[:-2]
        v, b = xnp.broadcast_to(v, (*lead, v.shape[-1])), xnp.broadcast_to(b, x.shape)
        none = xnp.full(lead, -1, np.int32)
        status, told = judged(functools.partial(_equation, p), (v,), x, b, epsilon(x), none)
        f, *operands = over_batches(
            functools.partial(_astray, p), (self.a.values.astype(x.dtype), 1),
            (self.low.astype(x.dtype), 1), (self.units, 1),
        )  # fmt: skip
        lost = xnp.broadcast_to(~(f(*map(stop_gradient, operands)) <= _ASTRAY), lead)
        status = xnp.where(before != 0, before, status)
        status = xnp.where(lost & (status == 0), np.int32(Status.ill_conditioned), status)
        at = lost if told.error.ndim == lost.ndim else lost[..., None]
        told = told.replace(
            error=xnp.where(at, xnp.inf, told.error), digits=xnp.where(at, 0, told.digits)
        )
        return status, told

    def inertia(self) -> Inertia:
        """How many eigenvalues are positive and negative, as the signs of pivots say, and whether that is certain.

        It is not where rounding errors of the factors, or pivots that were changed, may be as large as the least
        eigenvalue, of which a few solutions give an estimate.
        """
        if not self.shape[0]:
            zero = xnp.zeros(self.a.values.shape[:-1], np.int32)
            return Inertia(zero, zero, zero == 0)
        v = stop_gradient(self.a.values)
        f, *operands = over_batches(
            functools.partial(_counted, self.a.pattern), (self.low, 1), (v, 1), (self.units, 1)
        )
        return f(*operands)


def ldl(a: Sparse) -> LDL:
    """The factors of a Hermitian matrix, of which the pattern is made symmetric if it is not."""
    n = a.pattern.shape[0]
    whole = a.pattern.union(a.pattern.T)[0]
    if not whole.nnz:  # programs gather from values
        whole = Pattern.of_rows(np.arange(n + 1), np.arange(n), (n, n))
    whole = shared(whole)
    at = whole.find(a.pattern.rows, a.pattern.columns)
    values = a._of_each(lambda v: spread(v, at, whole.nnz), a.values)
    a = Sparse(values, whole, symmetric=True)
    if not n:
        empty = xnp.zeros((*values.shape[:-1], 0), values.dtype)
        return LDL(a, empty, xnp.real(empty))
    low, units = a._of_each(functools.partial(_factors, whole), stop_gradient(values))
    return LDL(a, low, units)
