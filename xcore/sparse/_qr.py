"""QR factors of sparse matrices within programs: least squares, and solutions of least norm.

Solutions are those of the equations of ``_residuals``, of residual and solution together, by the factors of A D with
columns of size 1, and refined as such: derivatives and certificates are theirs, too.
"""

from __future__ import annotations

import functools
from typing import Any, Literal, overload

import numpy as np

from .. import numpy as xnp
from .._control import custom_linear_solve, fori_loop, jit, stop_gradient
from .._control.levels import OF_KERNELS
from .._core import Array, ArrayLike, dtypes, struct, tree
from .._solution import Solution, Status, first_that_holds
from ..linalg import LinearOperator
from ..linalg._arguments import epsilon
from ..linalg._equations import Equation, coins, judged, nothing_to_solve, roundings, through
from ._matrix import Sparse, over_batches
from ._orthogonal import factors_of, pivots, plan_of, solved_together, upper_values
from ._pattern import Pattern, places, shared
from ._products import product_of
from ._residuals import (
    answered,
    by_equations,
    columns_for,
    each,
    each_values,
    scales_of,
    unless_lost,
)

_TOLERANCE = 8  # roundings of a column, below which a pivot counts as 0


@struct
class QR(LinearOperator):
    """The pseudoinverse of a sparse matrix of full rank, by QR factors of it, or of aᴴ where it has fewer rows.

    Attributes:
      a: the matrix, perhaps a batch of them.
      ridge: weight of the size of x, or None.
      units: powers of two that columns were multiplied by.
      sine: the least sine of the angle between a column and those eliminated before it.
      factors: for each depth of a tree of separators (Q, R11ᴴ, R12ᴴ) of its fronts.

    >>> from xcore import sparse
    >>> f = sparse.factorise(sparse.coo_array(([3.0, 4.0, 2.0], ([0, 1, 2], [0, 0, 1]))), "qr")
    >>> f.R.diagonal().round(4), f.solve([3.0, 4.0, 1.0]).round(4)
    (Array([5., 2.], dtype=float32), Array([1. , 0.5], dtype=float32))
    """

    a: Sparse
    ridge: Any
    units: Array
    sine: Array
    factors: Any

    @property
    def shape(self) -> Any:
        return (*self.a.shape[:-2], self.a.shape[-1], self.a.shape[-2])

    @property
    def _wide(self) -> bool:
        m, n = self.a.pattern.shape
        return m < n and self.ridge is None

    @property
    def _pattern(self) -> Pattern:
        """Of what is factorised."""
        p = self.a.pattern.T if self._wide else self.a.pattern
        return p if self.ridge is None else _stacked(p)

    @property
    def T(self) -> QR:
        m, n = self.a.pattern.shape
        if self.ridge is None and m != n:  # aᵀ has the conjugates of the same factors
            return self.replace(a=self.a.T, factors=tree.map(xnp.conj, self.factors))
        return qr(self.a.T, self.ridge)

    @property
    def order(self) -> np.ndarray:
        """The columns in the order of R; known before values are."""
        return plan_of(self._pattern).order

    @property
    def R(self) -> Sparse:
        """The upper triangular factor, of a diagonal that is not negative: Rᴴ R = aᴴ a, of columns in this ``order``.

        Where a has fewer rows than columns, of a aᴴ. It has no derivatives; solutions do.
        """
        plan = plan_of(self._pattern)
        if not plan.upper.nnz:
            return Sparse(xnp.zeros((*self.a.shape[:-2], 0), self.a.dtype), plan.upper)
        f = functools.partial(upper_values, plan)
        v = self._each(lambda factors, d: f(factors) / d[plan.order[plan.upper.columns]])
        return Sparse(v, plan.upper)

    def _each(self, f: Any) -> Any:
        leaves, structure = tree.flatten(self.factors)
        g, *operands = over_batches(
            lambda d, *x: f(tree.unflatten(structure, x), d),
            (self.units, 1),
            *[(x, 3) for x in leaves],
        )
        return g(*operands)

    @property
    def full_rank(self) -> Array:
        """Whether it is certain that the rank is full: that no matrix as near as rounding errors has less.

        For columns in units, of size 1: solutions for random right sides tell how long R⁻¹ is. That all of eight are
        shorter than a sixteenth of it has a probability below 1e-6.
        """
        p = self._pattern
        if not p.shape[1]:
            return xnp.ones(self.a.shape[:-2], bool)

        def length(factors: Any, d: Array) -> Array:
            w = coins(p.shape[1], 8, self.a.dtype)
            z = solved_together(plan_of(p), factors, xnp.zeros((p.shape[0], 8), w.dtype), w)[0]
            return xnp.max(xnp.sqrt(xnp.sum(xnp.abs(z) ** 2, axis=0)))

        size = xnp.sqrt(
            xnp.asarray(p.shape[1], self.units.dtype)
        )  # of columns of size 1, in Frobenius' norm
        least = _most_rounding(p, self.a.dtype)
        return (self.sine > least) & (16 * self._each(length) * size * least < 1)

    def mv(self, x: Array) -> Array:
        return self.solve(x)  # pyright: ignore[reportReturnType]

    def matmat(self, x: Array) -> Array:
        return self.solve(x)  # pyright: ignore[reportReturnType]

    @overload
    def solve(self, b: ArrayLike, *, report: Literal[False] = False) -> Array: ...
    @overload
    def solve(self, b: ArrayLike, *, report: Literal[True]) -> Solution: ...
    def solve(self, b: ArrayLike, *, report: bool = False) -> Array | Solution:
        """The x of least |a x - b|, of a with fewer rows than columns the one of least norm, refined once.

        Derivatives are those of the equations. Where the rank is not full up to rounding errors of columns the
        status is ``singular``.

        Args:
          b: a vector (m,) or columns (..., m, k).
          report: return a ``Solution`` with status and certificate, as ``sparse.lstsq``, instead of raising.
        """
        return self._answered("sparse.QR.solve", b, report)

    def _answered(self, who: str, b: ArrayLike, report: bool) -> Any:
        v, columns, vector = columns_for(who, self.a, b)
        f = self if v.dtype == self.a.dtype else qr(self.a.like(v), self.ridge)
        x, status, told = _solved_by(f, columns, report=report)
        return answered(who, x, vector, status, told, "multifrontal QR", report)


def _most_rounding(p: Pattern, dtype: Any) -> float:
    return _TOLERANCE * roundings(p.shape[0]) * float(xnp.finfo(dtype).eps)


@functools.partial(jit, static_argnames="report", inline=True, compiler_options=OF_KERNELS)
def _solved_by(f: QR, b: Array, report: bool) -> tuple[Array, Array, Any]:
    ridge = 0.0 if f.ridge is None else f.ridge
    solved = functools.partial(_solved, f)
    return by_equations(f.a, b, f._wide, f.units, ridge, solved, report)


def _solver(p: Pattern, m: int, factors: Any) -> Any:
    """Solutions of the equations of residual and solution together; a ridge's part of the residual stays inside."""
    spare = p.shape[0] - m

    def solve(b: Array) -> Array:
        f = xnp.concatenate([b[:m], xnp.zeros((spare, b.shape[1]), b.dtype)])
        r, z = solved_together(plan_of(p), factors, f, b[m:])
        return xnp.concatenate([r[:m], z])

    return solve


def _refined(whole: Pattern, solve: Any, v: Array, b: Array) -> Array:
    """Twice, from 0, in a loop: so the compiler sees the solution once."""

    def step(k: Array, x: Array) -> Array:
        better = x + solve(b - product_of(whole)(v, x))
        return xnp.where(xnp.isfinite(better) | (k == 0), better, x)

    return fori_loop(0, 2, step, xnp.zeros_like(b))  # own loop: counted


def _solved(f: QR, whole: Sparse, right: Array, report: bool) -> tuple[Array, Array, Any]:
    p = f._pattern
    m = whole.pattern.shape[0] - p.shape[1]
    leaves, structure = tree.flatten(f.factors)
    leaves = [x.astype(whole.dtype) for x in leaves]

    def solution(v: Array, b: Array, *leaves: Array) -> Array:
        once, known = _solver(p, m, tree.unflatten(structure, leaves)), stop_gradient(v)
        solve = functools.partial(_refined, whole.pattern, once, known)
        return custom_linear_solve(  # pyright: ignore[reportReturnType]
            lambda x: product_of(whole.pattern)(v, x), b, lambda _, b: solve(b),
            lambda _, b: xnp.conj(solve(xnp.conj(b))),
        )  # fmt: skip

    g, *operands = over_batches(solution, (whole.values, 1), (right, 2), *[(x, 3) for x in leaves])
    x = g(*operands)
    finite = xnp.all(xnp.isfinite(stop_gradient(whole.values)), axis=-1)
    bad = ~(f.sine > _most_rounding(p, f.a.dtype))
    status = first_that_holds(
        (~finite, Status.not_finite), (bad, Status.singular), default=Status.success
    )
    status = xnp.broadcast_to(status, x.shape[:-2])
    if not report:
        return x, status, None
    if not all(x.shape[-2:]):
        return x, *nothing_to_solve(x)
    return x, *_judged(f, whole, leaves, structure, right, x, status)


def _judged(
    f: QR, whole: Sparse, leaves: Any, structure: Any, right: Array, x: Array, before: Array
) -> tuple[Array, Any]:
    p, n = f._pattern, f._pattern.shape[1]
    m, lead = whole.pattern.shape[0] - n, x.shape[:-2]
    v, right, x, *leaves = map(stop_gradient, (whole.values, right, x, *leaves))
    v, right = xnp.broadcast_to(v, (*lead, v.shape[-1])), xnp.broadcast_to(right, x.shape)

    def solve(b: Array) -> Array:
        one = lambda b, *x: _solver(p, m, tree.unflatten(structure, x))(b)  # noqa: E731
        g, *operands = over_batches(one, (b, 2), *[(x, 3) for x in leaves])
        return g(*operands)

    def make(s: Array, v: Array) -> Equation:
        q, size = whole.pattern, xnp.abs(v)
        ones = xnp.ones((*lead, q.shape[0], 1), size.dtype)
        norm = xnp.max(each(product_of(q), size, ones), axis=(-2, -1), initial=0)
        inverse = through(solve, s)
        return Equation(
            lambda x: each(product_of(q), v, x), lambda x: each(product_of(q), size, x), inverse, inverse,
            norm, roundings(int(q.lengths.max(initial=1))),
        )  # fmt: skip

    none = xnp.where(before == np.int32(Status.singular), 0, -1).astype(np.int32)
    status, told = judged(make, (v,), x, right, epsilon(x), none)
    status = xnp.where(before == np.int32(Status.not_finite), before, status)
    y = xnp.concatenate([xnp.zeros((m, 2), v.dtype), coins(n, 2, v.dtype)])
    y = xnp.where(
        told.error[..., None, None] < 0, 0, y
    )  # never: but it waits for the solutions before
    found = solve(each(product_of(whole.pattern), v, y))
    astray = xnp.max(xnp.abs(found - y), axis=(-2, -1), initial=0)
    return unless_lost(astray, status, told)


def _with_unit_rows(p: Pattern) -> tuple[Pattern, np.ndarray]:
    """A row for each column below those of a pattern, and where all elements stand."""
    (m, n), one = p.shape, np.arange(p.shape[1])
    rows, columns = np.concatenate([p.rows, m + one]), np.concatenate([p.columns, one])
    whole, at = places("sparse.factorise", rows, columns, (m + n, n))
    return shared(whole), at


def _stacked(p: Pattern) -> Pattern:
    return p.kept("with unit rows", lambda: _with_unit_rows(p))[0]


def qr(a: Sparse, ridge: Any = None) -> QR:
    """The factors of a matrix, or of it above √ridge times the identity."""
    a = a.astype(dtypes.to_solve(a.dtype))
    known = stop_gradient(a.values)
    wide = a.pattern.shape[0] < a.pattern.shape[1] and ridge is None
    tall = a.like(known).H if wide else a.like(known)
    d = scales_of(tall)
    p, v = tall.pattern, tall.values * d[..., tall.pattern.columns]
    if ridge is not None:
        ridge = xnp.asarray(ridge, d.dtype)
        below = xnp.broadcast_to(xnp.sqrt(stop_gradient(ridge)) * d, d.shape).astype(v.dtype)
        v, p = xnp.concatenate([v, below], axis=-1), _stacked(p)  # rows of their own, in this order
    if not p.shape[1]:
        return QR(a, ridge, d, xnp.ones(v.shape[:-1], d.dtype), [])
    run = p.kept(("qr", "factors"), lambda: jit(functools.partial(_factorised, p), inline=True))
    factors, sine = over_batches(run, (v, 1))[0](v)
    return QR(a, ridge, d, sine, factors)


def _factorised(p: Pattern, v: Array) -> tuple[Any, Array]:
    """Factors, and how far columns are from those before them, by their length."""
    factors = factors_of(plan_of(p), v)
    one = xnp.ones((p.shape[0], 1), xnp.real(v).dtype)
    size = xnp.sqrt(each(product_of(p.T), each_values(p, xnp.abs(v) ** 2), one)[:, 0])
    sine = pivots(plan_of(p), factors) / xnp.where(size > 0, size, 1)
    return factors, xnp.min(sine, initial=1)
