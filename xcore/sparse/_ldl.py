"""Factors of Hermitian matrices that are not definite: L S Lᴴ with signs S, without exchanges, and refined.

Pivots stand where the order of elimination puts them; one so small beside its column that what is left would grow by
more than the inverse root of the precision is made larger. So factors are those of a matrix nearby, or grow.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from .. import numpy as xnp
from .._control import stop_gradient, while_loop
from .._core import Array, struct
from ..linalg._equations import coins, power_of_two, roundings
from ._column_kernels import applied
from ._columns import columns_of
from ._lu import lu
from ._matrix import Sparse, over_batches
from ._pattern import Pattern, shared
from ._products import product_of, spread
from ._refinement import StaticPivots, Way, refined

_SCALINGS = 16


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


def _way(pattern: Pattern, v: Array, low: Array, d: Array) -> Way:
    times = functools.partial(product_of(pattern), v)
    low = low.astype(v.dtype)
    once = lambda b: d[:, None] * applied("column_solve_signed", pattern, low, d[:, None] * b)  # noqa: E731
    return Way(times, once, d, d)


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
    z = refined(_way(pattern, scaled, low, xnp.ones_like(d)), coins(n, 8, v.dtype))
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
class LDL(StaticPivots):
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
    method = "LDL, static pivots"

    @property
    def parts(self) -> list[tuple[Array, int]]:
        return [(self.low, 1), (self.units, 1)]

    def made(self, v: Array) -> list[Array]:
        return list(_factors(self.a.pattern, v))

    def ways(self, v: Array, *parts: Array) -> tuple[Way, Way]:
        way = _way(self.a.pattern, v, *parts)
        return way, way

    def slogdet(self) -> Any:
        """The sign of the determinant and the logarithm of its size, by ``LU``, whose pivots are larger."""
        return self._lu().slogdet()

    def logdet(self) -> Array:
        """The logarithm of the determinant's size."""
        return self.slogdet()[1]

    def inverse(self) -> Sparse:
        """The elements of the inverse at the places of the matrix, by ``LU``."""
        return self._lu().inverse()

    def _lu(self) -> Any:
        return lu(self.a)

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
