"""Cholesky factors of sparse matrices within programs: solutions, determinants, elements of the inverse.

    d log det A = tr(A⁻¹ dA) = Σ_ij conj(Z_ij) dA_ij,    Z = A⁻¹,

needs of the inverse no more than the places of A.
"""

from __future__ import annotations

import functools
from typing import Any, Literal, overload

import numpy as np

from .. import numpy as xnp
from .._control import custom_jvp, custom_linear_solve, jit, stop_gradient
from .._core import Array, ArrayLike, dtypes, struct, tree
from .._solution import Solution, Status, first_that_holds
from ..linalg import LinearOperator
from ..linalg._arguments import epsilon, on_cpu
from ..linalg._equations import Equation, judged, roundings
from ._balance import balance_definite
from ._column_kernels import applied, refined
from ._columns import columns_of
from ._fronts import factors_of, fronts_of, inverse_values, solved
from ._matrix import Sparse, over_batches
from ._pattern import Pattern, shared
from ._products import product_of, spread
from ._residuals import answered, columns_for, each

# Programs of one matrix


# Factors are one array, column by column, where programs run on a CPU, and pairs for each depth of a tree elsewhere.


def _factors(pattern: Pattern, values: Array) -> Any:
    if on_cpu():
        return applied("column_cholesky", pattern, values)
    return factors_of(fronts_of(pattern), values)


def raw_solution(pattern: Pattern, factors: Any, b: Array) -> Array:
    if not pattern.shape[0]:
        return b
    if isinstance(factors, list):
        return solved(fronts_of(pattern), factors, b)
    return applied("column_solve", pattern, factors, b)


def _refined(pattern: Pattern, values: Array, factors: Any, b: Array) -> tuple[Array, Array]:
    """x and the smallest pivot; NaN where there is one."""
    if not pattern.shape[0]:
        return b, xnp.ones((), dtypes.to_real(b.dtype))
    if not isinstance(factors, list):
        x, pivots = refined(pattern, factors, values, b)
        return x, xnp.real(pivots).min()
    x = raw_solution(pattern, factors, b)
    more = x + raw_solution(pattern, factors, b - product_of(pattern)(values, x))
    # fronts of nodes without elements have no pivots
    least = functools.reduce(
        xnp.minimum, [x.min(initial=xnp.inf) for x in _pivots(pattern, factors)]
    )
    return xnp.where(xnp.isfinite(more), more, x), least


def _pivots(pattern: Pattern, factors: Any) -> list[Array]:
    """The diagonals of factors, whose squares multiply up to the determinant."""
    if isinstance(factors, list):
        return [xnp.real(xnp.diagonal(low, axis1=-2, axis2=-1)) for low, _ in factors]
    return [xnp.real(factors[..., columns_of(pattern).pointers[:-1]])]


def _solution(pattern: Pattern, values: Array, factors: Any, b: Array) -> tuple[Array, Array]:
    """x with a step of refinement, with the derivatives of the equation, and the smallest pivot."""
    known = stop_gradient(values)

    def solve(turned: bool, b: Array) -> tuple[Array, Array]:
        if not turned:
            return _refined(pattern, known, factors, b)
        x, least = _refined(pattern, known, factors, xnp.conj(b))
        return xnp.conj(x), least  # the transpose is the conjugate

    return custom_linear_solve(  # pyright: ignore[reportReturnType]
        lambda x: product_of(pattern)(values, x), b, lambda _, b: solve(False, b), lambda _, b: solve(True, b),
        has_aux=True,
    )  # fmt: skip


def _determinant(pattern: Pattern) -> Any:
    """log det of the values, whose derivative has that of the elements of the inverse."""

    @custom_jvp
    def f(v: Array) -> Array:
        if not pattern.shape[0]:
            return xnp.zeros((), dtypes.to_real(v.dtype))
        return (
            2
            * xnp.log(
                xnp.concatenate([x.reshape(-1) for x in _pivots(pattern, _factors(pattern, v))])
            ).sum()
        )

    def rule(primals: Any, tangents: Any) -> tuple[Array, Array]:
        (v,), (d,) = primals, tangents
        z = _inverse(pattern, v)
        return f(v), xnp.real(xnp.sum(xnp.conj(z) * d))

    f.defjvp(rule)
    return f


def _inverse(pattern: Pattern, v: Array) -> Array:
    if not pattern.nnz:
        return v
    plan = fronts_of(
        pattern
    )  # on any platform: a front has all of an inverse that its elements need
    return inverse_values(plan, factors_of(plan, v))


def _once(pattern: Pattern, name: str, make: Any) -> Any:
    return pattern.kept(("cholesky", name), lambda: jit(make(), inline=True))


# What users call


@struct
class Cholesky(LinearOperator):
    """The inverse of a Hermitian positive definite sparse matrix by its Cholesky factors.

    Attributes:
      a: the matrix, on a symmetric pattern with its diagonal; the elements that count are those of the Hermitian
        matrix that it is.
      factors: the elements of L, column by column, or for each depth of a tree of separators, (L11, L21) of its fronts.

    >>> import xcore.numpy as xnp
    >>> from xcore import sparse
    >>> a = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(4, 4))
    >>> m = sparse.factorise(a, kind='cholesky')
    >>> (m @ xnp.ones(4)).round(3)
    Array([2., 3., 3., 2.], dtype=float32)
    """

    a: Sparse
    factors: Any

    symmetric = True
    positive = True

    @property
    def shape(self) -> Any:
        return self.a.pattern.shape

    @property
    def ok(self) -> Array:
        """Whether all pivots were positive."""
        lead = self.a.values.shape[:-1]
        good = xnp.ones(lead, bool)
        for d in _pivots(self.a.pattern, self.factors) if self.shape[0] else []:
            good = good & (d > 0).all(axis=tuple(range(len(lead), d.ndim)))
        return good

    def mv(self, x: Array) -> Array:
        return self.matmat(x[:, None])[:, 0]

    def matmat(self, x: Array) -> Array:
        return self._solved(x)[0]

    def _solved(self, b: Array) -> tuple[Array, Array]:
        """The solution, and whether all pivots are positive."""
        p = self.a.pattern
        dtype = xnp.result_type(self.a.values, b)
        f = functools.partial(_solution, p)
        if b.ndim == 2 and self.a.ndim > 2:
            b = xnp.broadcast_to(b, (*self.a.values.shape[:-1], *b.shape))
        leaves, structure = tree.flatten(self.factors)

        def one(v: Array, b: Array, *leaves: Array) -> tuple[Array, Array]:
            return f(v, tree.unflatten(structure, leaves), b)

        rank = 3 if isinstance(self.factors, list) else 1
        ranks = [(x.astype(dtype), rank) for x in leaves]
        g, *operands = over_batches(
            one, (self.a.values.astype(dtype), 1), (b.astype(dtype), 2), *ranks
        )
        x, least = g(*operands)
        return x, least > 0

    @overload
    def solve(self, b: ArrayLike, *, report: Literal[False] = False) -> Array: ...
    @overload
    def solve(self, b: ArrayLike, *, report: Literal[True]) -> Solution: ...
    def solve(self, b: ArrayLike, *, report: bool = False) -> Array | Solution:
        """The solution of a x = b, refined once, with the derivatives of the equation.

        Args:
          b: a vector (n,) or columns (..., n, k).
          report: return a ``Solution`` with status and certificate instead of raising where a is not definite.
        """
        who = "sparse.Cholesky.solve"
        _, columns, vector = columns_for(who, self.a, b)
        x, good = self._solved(columns)
        finite = xnp.all(xnp.isfinite(stop_gradient(self.a.values)), axis=-1)
        status, told = first_that_holds(
            (~finite, Status.not_finite), (~good, Status.not_definite), default=Status.success
        ), None  # fmt: skip
        if report:
            status, told = self._judged(columns, x, good)
            status = xnp.where(finite, status, np.int32(Status.not_finite))
        return answered(who, x, vector, status, told, "multifrontal Cholesky", report)

    def _judged(self, b: Array, x: Array, good: Array) -> tuple[Array, Any]:
        p = self.a.pattern
        v = stop_gradient(self.a.values).astype(x.dtype)
        x, b = stop_gradient(x), xnp.broadcast_to(stop_gradient(b).astype(x.dtype), x.shape)
        v = xnp.broadcast_to(v, (*x.shape[:-2], v.shape[-1]))
        pivot = xnp.broadcast_to(xnp.where(good, -1, 0).astype(np.int32), x.shape[:-2])
        scale = balance_definite(p, v)
        inside, y, right = scale.matrix(p, v), scale.unknowns(x), scale.right(b)
        lengths, least = scale.lengths()
        make = functools.partial(_equation, p, least)
        how = {"failed": Status.not_definite, "lengths": lengths}
        status, told = judged(make, (inside,), y, right, epsilon(x), pivot, **how)
        told = scale.told(told, right - each(product_of(p), inside, y))
        return scale.in_range(p, v, b, x, status, told)

    def logdet(self) -> Array:
        """The logarithm of the determinant, differentiable on the pattern to any order; NaN if not definite."""
        p = self.a.pattern
        found = self.a._of_each(_once(p, "logdet", lambda: _determinant(p)), self.a.values)
        return xnp.where(self._is_hermitian(), found, xnp.nan)

    def _is_hermitian(self) -> Array:
        """Whether elements across the diagonal are conjugate but for rounding, of which one is read only."""
        v = stop_gradient(self.a.values)
        off = xnp.abs(v - xnp.conj(self.a.like(v).T.values))
        most = xnp.max(xnp.abs(v), axis=-1, initial=0)
        return ~(xnp.max(off, axis=-1, initial=0) > 100 * epsilon(v) * most)

    def inverse(self) -> Sparse:
        """The elements of the inverse at the places of the matrix."""
        p = self.a.pattern
        z = self.a._of_each(
            _once(p, "inverse", lambda: functools.partial(_inverse, p)), self.a.values
        )
        z = xnp.where(self._is_hermitian()[..., None], z, xnp.nan)
        return Sparse(z, p, symmetric=True)


def _equation(pattern: Pattern, lengths: Array, _: Any, v: Array) -> Equation:
    solve = lambda v, b: raw_solution(pattern, _factors(pattern, v), b)  # noqa: E731
    lengths = lengths.astype(v.dtype)
    size = xnp.abs(v)
    ones = xnp.ones((*v.shape[:-1], pattern.shape[0], 1), size.dtype)
    sums = each(product_of(pattern), size, ones)
    norm = xnp.max(sums, axis=(-2, -1), initial=0)
    return Equation(
        lambda x: each(product_of(pattern), v, x), lambda x: each(product_of(pattern), size, x),
        lambda b: lengths * each(solve, v, b), lambda b: each(solve, v, lengths * b), norm,
        roundings(int(pattern.lengths.max(initial=1))),
    )  # fmt: skip


def cholesky(a: Sparse) -> Cholesky:
    """The factors of a Hermitian positive definite matrix, of which the pattern is made symmetric if it is not."""
    n = a.pattern.shape[0]
    unit = Pattern.of_rows(np.arange(n + 1), np.arange(n), (n, n))
    whole = shared(a.pattern.union(unit)[0].union(a.pattern.T)[0])
    at = whole.find(a.pattern.rows, a.pattern.columns)
    values = a._of_each(lambda v: spread(v, at, whole.nnz), a.values)
    a = Sparse(values, whole, symmetric=True, positive=True)
    run = _once(whole, "factors", lambda: functools.partial(_factors, whole))
    return Cholesky(a, a._of_each(run, stop_gradient(values)) if n else [])
