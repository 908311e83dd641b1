"""LU factors of sparse matrices within programs: solutions, determinants, elements of the inverse.

Rows are put where their large elements are on the diagonal, as far as these are known (Duff and Koster 2001, "On
algorithms for permuting large entries to the diagonal of a sparse matrix"), rows and columns are brought to one size by
powers of two (Curtis and Reid 1972), and eliminated in the order of the symmetric pattern of both triangles.

    d log |det A| = Re tr(A⁻¹ dA) = Re Σ_ij Z_ij dA_ij,    Z = A⁻ᵀ,

needs of the inverse no more than the places of A.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from .. import numpy as xnp
from .._control import custom_jvp, fori_loop, jit, stop_gradient
from .._core import Array, Tracer, dtypes, static, struct
from ..numpy._determinant import SlogdetResult
from . import _lu_fronts as fronts
from ._fronts import fronts_of
from ._matrix import Sparse
from ._pattern import Pattern, shared
from ._products import product_of, spread, transposed_values
from ._refinement import StaticPivots, Way

_SCALINGS = 8
_SMALL = 0.01  # a diagonal element below this part of its column is exchanged


class _Places(NamedTuple):
    """Where elements of a stand once rows are exchanged, in the symmetric pattern with its diagonal; sign of that."""

    whole: Pattern
    at: np.ndarray
    sign: int


def row_order(a: Sparse) -> Pattern:
    """The permutation P, as a pattern, for which P a has large elements on its diagonal, or elements at least."""
    p, n = a.pattern, a.pattern.shape[0]
    known = None if isinstance(a.values, Tracer) else np.abs(np.asarray(a.values))
    if known is not None:
        known = known.astype(np.float64).max(axis=tuple(range(known.ndim - 1)), initial=0)
        known = known if np.isfinite(known).all() and known.any() else None
    return _permutation(_matched(p, known) if n else np.arange(n))


def _permutation(rows: np.ndarray) -> Pattern:
    n = len(rows)
    return shared(Pattern.of_rows(np.arange(n + 1), rows, (n, n)))


def _matched(p: Pattern, known: np.ndarray | None) -> np.ndarray:
    from scipy.sparse import csgraph, csr_array

    n = p.shape[0]
    own = np.arange(n)
    size = np.ones(p.nnz) if known is None else known
    most = np.zeros(n)
    np.maximum.at(most, p.columns, size)
    diagonal = p.find(own, own)
    if (diagonal >= 0).all() and (size[diagonal] >= _SMALL * most).all():
        return own
    there = size > 0
    cost = np.log(most[p.columns[there]]) - np.log(size[there]) + 1
    graph = csr_array((cost, (p.rows[there], p.columns[there])), shape=p.shape)
    try:
        rows, columns = csgraph.min_weight_full_bipartite_matching(graph)
        return rows[np.argsort(columns)]
    except ValueError:  # structurally singular
        found = csgraph.maximum_bipartite_matching(graph, perm_type="row")
        found[found < 0] = np.setdiff1d(own, found)
        return found


def _places(p: Pattern, order: Pattern) -> _Places:
    n = p.shape[0]
    new = np.argsort(order.columns)
    rows = new[p.rows]
    unit = Pattern.of_rows(np.arange(n + 1), np.arange(n), (n, n))
    moved = Pattern(rows, p.columns, p.shape)
    whole = shared(moved.union(unit)[0].union(moved.T)[0])
    return _Places(whole, whole.find(rows, p.columns), sign_of(order.columns))


def sign_of(order: np.ndarray) -> int:
    """Of a permutation, by its cycles."""
    from scipy.sparse import csgraph, csr_array

    n = len(order)
    graph = csr_array((np.ones(n), (np.arange(n), order)), shape=(n, n))
    return -1 if (n - csgraph.connected_components(graph, directed=False)[0]) % 2 else 1


def _units(p: Pattern, v: Array) -> tuple[Array, Array]:
    """Powers of two r, c for which rows and columns of r A c have elements, and then sums, of about 1.

    Logarithms of elements are on average 0 in each row and column, whatever a was multiplied by, so that no unit is in
    what is eliminated.
    """
    size = xnp.abs(v)
    there, most = (size > 0).astype(size.dtype), float(xnp.finfo(size.dtype).maxexp - 2)
    logs, one = (
        xnp.where(size > 0, xnp.log2(xnp.where(size > 0, size, 1)), 0),
        xnp.ones(p.shape[0], size.dtype),
    )
    of_rows = lambda w: product_of(p)(w, one)  # noqa: E731
    of_columns = lambda w: product_of(p.T)(transposed_values(p, w), one)  # noqa: E731
    many = [xnp.maximum(f(there), 1) for f in (of_rows, of_columns)]

    def step(_: Any, state: Any) -> Any:
        r = -of_rows(logs + there * state[1][p.columns]) / many[0]
        return r, -of_columns(logs + there * r[p.rows]) / many[1]

    r, c = fori_loop(0, _SCALINGS, step, (0 * one, 0 * one))
    r, c = xnp.round(r), xnp.round(c)
    size = there * xnp.exp2(xnp.minimum(logs + r[p.rows] + c[p.columns], most / 2))
    r, c = (
        k - xnp.round(xnp.log2(xnp.where(x > 0, x, 1)))
        for k, x in ((r, of_rows(size)), (c, of_columns(size)))
    )
    return xnp.exp2(xnp.clip(r, -most, most)), xnp.exp2(xnp.clip(c, -most, most))


@struct
class LU(StaticPivots):
    """The inverse of a square matrix by factors P₁ a = L U, rows exchanged within fronts only, and refined.

    Attributes:
      a: the matrix.
      factors: for each depth of a tree of separators those of its fronts, and their order of rows.
      rows, columns: powers of two that rows and columns were multiplied by.
      changed: how many pivots were made larger.
      order: the permutation that rows were put into before, as a pattern.

    >>> import xcore.numpy as xnp
    >>> from xcore import sparse
    >>> a = sparse.diags_array([-1.0, 2.0, -2.0], offsets=[-1, 0, 1], shape=(4, 4))
    >>> m = sparse.factorise(a, kind="lu", on="device")
    >>> (a @ m.solve(xnp.ones(4))).round(3), m.slogdet().logabsdet.round(3)
    (Array([1., 1., 1., 1.], dtype=float32), Array(1.386, dtype=float32))
    """

    a: Sparse
    factors: Any
    rows: Array
    columns: Array
    changed: Array
    order: Pattern = static()

    method = "multifrontal LU, static pivots"

    @property
    def parts(self) -> list[tuple[Array, int]]:
        leaves = fronts.flat(self.factors)
        ranks = fronts.RANKS * (len(leaves) // len(fronts.RANKS))
        return [
            (self.rows, 1),
            (self.columns, 1),
            (self.changed, 0),
            *zip(leaves, ranks, strict=True),
        ]

    def made(self, v: Array) -> list[Array]:
        return _made(self.a.pattern, self.order, v)

    def ways(self, v: Array, *parts: Array) -> tuple[Way, Way]:
        p, (r, c, _, *leaves) = self.a.pattern, parts
        plan = fronts_of(_kept(p, self.order).whole)
        leaves = [x if x.dtype == np.int32 else x.astype(v.dtype) for x in leaves]
        factors, moved = fronts.unflat(tuple(leaves)), self.order.columns
        back = np.argsort(moved)

        def once(b: Array) -> Array:
            return c[:, None] * fronts.solved(plan, factors, (r[:, None] * b)[moved])

        def adjoint(b: Array) -> Array:
            x = fronts.solved(plan, factors, xnp.conj(c[:, None] * b), turned=True)
            return r[:, None] * xnp.conj(x)[back]

        turned = xnp.conj(transposed_values(p, v))
        return (
            Way(functools.partial(product_of(p), v), once, r, c),
            Way(functools.partial(product_of(p.T), turned), adjoint, c, r),
        )

    @property
    def T(self) -> LU:
        return lu(self.a.T, self.order.T)

    def slogdet(self) -> Any:
        """The sign of the determinant and the logarithm of its size, with the derivatives by elements of the inverse.

        NaN where a pivot was changed: the factors are those of another matrix then.
        """
        p, order = self.a.pattern, self.order
        f = _once(self, "slogdet", lambda: determinant(p, order, _by_fronts(p, order)))
        return SlogdetResult(*self.a._of_each(f, self.a.values))

    def logdet(self) -> Array:
        """The logarithm of the determinant's size."""
        return self.slogdet()[1]

    def inverse(self) -> Sparse:
        """The elements of the inverse at the places of the matrix's transpose."""
        f = _once(self, "inverse", lambda: functools.partial(_inverse, self.a.pattern, self.order))
        z = self.a._of_each(f, self.a.values)
        return self.a.like(z).T


def _once(of: LU, name: str, make: Any) -> Any:
    return of.a.pattern.kept(("lu", name, of.order), lambda: jit(make(), inline=True))


def _kept(p: Pattern, order: Pattern) -> _Places:
    return p.kept(("lu", order), lambda: _places(p, order))


def _made(p: Pattern, order: Pattern, v: Array) -> list[Array]:
    """Units of rows and columns, how many pivots were changed, and the factors."""
    whole, at, _ = _kept(p, order)
    r, c = _units(p, v)
    inside = spread(v * r[p.rows] * c[p.columns], at, whole.nnz)
    factors, changed = fronts.factors_of(fronts_of(whole), whole, inside)
    return [r, c, changed, *fronts.flat(factors)]


def determinant(p: Pattern, order: Pattern, value: Any) -> Any:
    """(sign, log |det|) as ``value`` finds them of the values, with the derivatives by elements of the inverse."""
    f = custom_jvp(value)

    def rule(primals: Any, tangents: Any) -> Any:
        (v,), (d,) = primals, tangents
        sign, log = f(v)
        change = xnp.sum(_inverse(p, order, v) * d)
        if dtypes.is_complex(v.dtype):
            return (sign, log), (sign * 1j * xnp.imag(change), xnp.real(change))
        return (sign, log), (xnp.zeros_like(sign), change)

    f.defjvp(rule)
    return f


def _by_fronts(p: Pattern, order: Pattern) -> Any:
    def value(v: Array) -> tuple[Array, Array]:
        if not p.shape[0]:
            return xnp.ones((), v.dtype), xnp.zeros((), dtypes.to_real(v.dtype))
        r, c, changed, *leaves = _made(p, order, v)
        pivots = [
            xnp.diagonal(x.packed, axis1=-2, axis2=-1).reshape(-1)
            for x in fronts.unflat(tuple(leaves))
        ]
        orders = [_parities(x.order).reshape(-1) for x in fronts.unflat(tuple(leaves))]
        pivots, odd = xnp.concatenate(pivots), xnp.concatenate(orders)
        size = xnp.abs(pivots)
        signs = xnp.prod(pivots / size) * (1 - 2 * (odd.sum() % 2)) * _kept(p, order).sign
        log = xnp.log(size).sum() - xnp.log(r).sum() - xnp.log(c).sum()
        bad = changed > 0
        return xnp.where(bad, xnp.nan, signs).astype(v.dtype), xnp.where(bad, xnp.nan, log)

    return value


def _parities(order: Array) -> Array:
    """1 for odd permutations: by how many pairs are out of order."""
    later = xnp.arange(order.shape[-1])
    swapped = (order[..., :, None] > order[..., None, :]) & (later[:, None] < later)
    return swapped.sum(axis=(-2, -1), dtype=np.int32) % 2


def _inverse(p: Pattern, order: Pattern, v: Array) -> Array:
    """The elements of A⁻ᵀ at the places of A."""
    if not p.nnz:
        return v
    whole, at, _ = _kept(p, order)
    r, c, changed, *leaves = _made(p, order, v)
    z = fronts.inverse_values(fronts_of(whole), fronts.unflat(tuple(leaves)))[at]
    return xnp.where(changed > 0, xnp.nan, z * r[p.rows] * c[p.columns])


def lu(a: Sparse, order: Pattern | None = None) -> LU:
    """The factors of a square matrix."""
    order = row_order(a) if order is None else order
    p = a.pattern
    f = p.kept(
        ("lu", "factors", order), lambda: jit(functools.partial(_made, p, order), inline=True)
    )
    if not a.shape[-1]:
        empty = xnp.zeros((*a.values.shape[:-1], 0), dtypes.to_real(a.dtype))
        return LU(a, [], empty, empty, xnp.zeros(a.values.shape[:-1], np.int32), order)
    r, c, changed, *leaves = a._of_each(f, stop_gradient(a.values))
    return LU(a, fronts.unflat(tuple(leaves)), r, c, changed, order)
