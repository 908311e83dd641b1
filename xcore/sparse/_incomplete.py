"""Preconditioners made of a matrix's own values on static places: incomplete factors, blocks, approximate inverses.

Where elements may be is settled on the host, the values are traced: under ``jit``, ``vmap`` and on any device.
(Saad 2003, "Iterative methods for sparse linear systems", chapter 10)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import jit, stop_gradient
from .._core import Array, dtypes, errors, require, static, struct
from ..linalg import LinearOperator
from ._making import coo_array
from ._matrix import Sparse, matmul
from ._pattern import Pattern, shared
from ._products import pick, spread
from ._recurrences import FIRST, ONE, ZERO, Terms, scheduled
from ._triangular import substituted

# Incomplete factors


def _elimination(pattern: Pattern, definite: bool) -> Any:
    """The recurrence of L U = A on these places, row by row:

    l_ij = (a_ij - Σ_{k<j} l_ik u_kj) / u_jj,    u_ij = a_ij - Σ_{k<i} l_ik u_kj.

    Given are the values and what u_ii become that vanish.
    """
    rows, columns = pattern.rows.astype(np.int64), pattern.columns.astype(np.int64)
    below, at_below = pattern.chosen(rows > columns)
    above, at_above = pattern.chosen(rows < columns)
    made, sums, left, right = below.product(above)
    owner = pattern.find(made.rows, made.columns)[sums.rows]
    there = owner >= 0
    base = FIRST + pattern.nnz + pattern.shape[0]
    diagonal = pattern.find(columns, columns)
    d = np.where(rows > columns, base + diagonal, ONE)
    p, q = base + at_below[left[there]], base + at_above[right[there]]
    instead = np.where(rows == columns, FIRST + pattern.nnz + rows, ZERO)
    a = FIRST + np.arange(pattern.nnz)
    terms = Terms(a, d, owner[there], p, q, instead, definite)
    return scheduled(pattern.nnz + pattern.shape[0], terms)


def eliminated(pattern: Pattern, values: Array, definite: bool = False) -> Array:
    """L, without its diagonal of ones, and U on the places of a matrix, all of whose diagonal is among them.

    Pivots that vanish, or if ``definite`` have lost the sign of the matrix's diagonal, are its element; where
    this is 0 too the largest of its row. (Kershaw 1978, "The incomplete Cholesky-conjugate gradient method")
    """
    run = pattern.kept(("elimination", definite), lambda: _elimination(pattern, definite))
    return run(xnp.concatenate([values, _instead(pattern, values)]))


def _instead(pattern: Pattern, values: Array) -> Array:
    d = pick(values, pattern.diagonal)
    largest = Sparse(xnp.abs(values), pattern).max(axis=1) if pattern.nnz else xnp.abs(d)
    return xnp.where(d != 0, d, xnp.where(largest > 0, largest, 1).astype(d.dtype))


@struct
class IncompleteLU(LinearOperator):
    """About the inverse of a sparse matrix: L U = A on some places. Derivatives do not go through it.

    Attributes:
      factors: a ``Sparse``: below its diagonal L, whose own diagonal is 1, and U.
      symmetric: U is D Lᴴ, and only L and D are used.

    >>> import xcore.numpy as xnp
    >>> from xcore import sparse
    >>> a = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(4, 4))
    >>> m = sparse.factorise(a, kind='ilu0')
    >>> (m @ xnp.ones(4)).round(3)
    Array([2., 3., 3., 2.], dtype=float32)
    """

    factors: Sparse
    symmetric: bool = static(default=False)

    @property
    def shape(self) -> Any:
        return self.factors.shape

    @property
    def pivots(self) -> Array:
        """The diagonal of U; elements that vanished in the elimination are those of the matrix."""
        return self.factors.diagonal()

    def update(self, a: Sparse) -> IncompleteLU:
        """Factors on the same places of a matrix of other values, which may be traced."""
        return incomplete_lu(coo_array(a), self.factors.pattern, self.symmetric)

    def mv(self, x: Array) -> Array:
        return self.matmat(x[:, None])[:, 0]

    def matmat(self, x: Array) -> Array:
        v, b = self.factors.values, x.astype(xnp.result_type(x, self.factors.values))
        return self._applied(v.astype(b.dtype), b)

    def _applied(self, v: Array, b: Array) -> Array:
        p = self.factors.pattern
        parts = p.kept(
            "triangles", lambda: (p.chosen(p.rows > p.columns), p.chosen(p.rows <= p.columns))
        )
        (below, at_below), (above, at_above) = parts
        y = substituted(below, True, True, pick(v, at_below), b)
        if not self.symmetric:
            return substituted(above, False, False, pick(v, at_above), y)
        y = y / self.factors.diagonal()[:, None].astype(b.dtype)
        back = xnp.conj(pick(v, at_below))[below.order]
        return substituted(below.T, False, True, back, y)

    @property
    def T(self) -> LinearOperator:
        return super().T if self.symmetric else _Turned(self)


@struct
class _Turned(LinearOperator):
    """The transpose: Uᵀ, then Lᵀ."""

    a: IncompleteLU

    @property
    def shape(self) -> Any:
        return self.a.shape

    @property
    def T(self) -> LinearOperator:
        return self.a

    def mv(self, x: Array) -> Array:
        f = self.a.factors
        p, v = f.pattern, f.values.astype(xnp.result_type(x, f.values))
        at = p.order
        turned, v = p.T, v[at]
        low, at_low = turned.chosen(turned.rows >= turned.columns)
        up, at_up = turned.chosen(turned.rows < turned.columns)
        y = substituted(low, True, False, v[at_low], x.astype(v.dtype)[:, None])
        return substituted(up, False, True, v[at_up], y)[:, 0]


def incomplete_lu(a: Sparse, where: Pattern | None = None, hermitian: bool = False) -> IncompleteLU:
    """L U = A on the places of a pattern, by default the matrix's own; the diagonal is always among them.

    Where the factors are all there is (the pattern holds the fill), they are exact.
    """
    n = a.pattern.shape[0]
    unit = Pattern.of_rows(np.arange(n + 1), np.arange(n), (n, n))
    whole = a.pattern.union(unit)[0]
    whole = shared(whole if where is None else whole.union(where)[0])
    _, at, _ = a.pattern.union(whole)
    values = spread(stop_gradient(a.values), at, whole.nnz)
    run = whole.kept(
        ("eliminated", hermitian),
        lambda: jit(lambda v: eliminated(whole, v, hermitian), inline=True),
    )
    return IncompleteLU(Sparse(run(values), whole), symmetric=hermitian)


def places_by_size(a: Sparse, drop_tol: float, fill_factor: float) -> Pattern:
    """Places of the factors of a matrix whose values are known, when small elements are dropped: SuperLU finds them."""
    import scipy.sparse
    import scipy.sparse.linalg

    if type(a.values) is not Array:
        need = "of known values for kind='ilut'; make f outside of jit, grad and vmap, and f.update(a) inside"
        raise errors.bad_argument("sparse.factorise", "a", a, need)
    require("0 or more", "sparse.factorise", drop_tol=drop_tol)
    require("1 or more", "sparse.factorise", fill_factor=fill_factor)
    m = scipy.sparse.csc_array(a.to_scipy())
    m.data = np.where(m.data == 0, np.finfo(m.dtype).tiny, m.data)
    try:
        f = scipy.sparse.linalg.spilu(
            m, drop_tol=drop_tol, fill_factor=fill_factor, permc_spec="NATURAL", diag_pivot_thresh=0.0,
            drop_rule="basic", options={"SymmetricMode": True},
        )  # fmt: skip
    except RuntimeError:  # a pivot vanished
        return a.pattern
    natural = np.arange(m.shape[0])  # pyright: ignore[reportOptionalSubscript]
    if not (np.array_equal(f.perm_r, natural) and np.array_equal(f.perm_c, f.perm_r)):
        return a.pattern
    parts = [scipy.sparse.coo_array(x) for x in (f.L, f.U)]
    rows, columns = (np.concatenate([getattr(x, k) for x in parts]) for k in ("row", "col"))
    return Pattern(rows, columns, a.pattern.shape)


# Blocks


@struct
class BlockDiagonal(LinearOperator):
    """A matrix of square blocks along the diagonal, (blocks, size, size)."""

    blocks: Array
    symmetric: bool = static(default=False)

    @property
    def shape(self) -> Any:
        count, size, _ = self.blocks.shape
        return (count * size,) * 2

    def mv(self, x: Array) -> Array:
        return self.matmat(x[:, None])[:, 0]

    def matmat(self, x: Array) -> Array:
        count, size, _ = self.blocks.shape
        return (self.blocks @ x.reshape(count, size, x.shape[1])).reshape(x.shape)

    @property
    def T(self) -> LinearOperator:
        return BlockDiagonal(self.blocks.mT, self.symmetric)


def block_jacobi(a: Any, size: int | None = None) -> BlockDiagonal:
    """The inverses of the blocks along the diagonal of a sparse matrix: a preconditioner.

    Args:
      a: a square ``Sparse`` matrix, or what ``coo_array`` takes.
      size: rows of a block, a divisor of those of a; of a ``Bsr`` that of its blocks by default.

    >>> from xcore import sparse
    >>> m = block_jacobi(sparse.diags_array([2.0, 4.0, 5.0, 10.0]), 2)
    >>> m @ [1.0, 1.0, 1.0, 1.0]
    Array([0.5 , 0.25, 0.2 , 0.1 ], dtype=float32)
    """
    who = "sparse.block_jacobi"
    size = getattr(a, "blocksize", (size,))[0] if size is None else size
    a = _one(a, who)
    n: int = a.pattern.shape[0]
    if type(size) is not int or size < 1 or n % size:
        raise errors.bad_argument(who, "size", size, f"a divisor of {n}")
    i = np.arange(n).reshape(-1, size)
    blocks = a._elements(*np.broadcast_arrays(i[:, :, None], i[:, None, :]))
    why = f"a block of {size} rows along the diagonal is singular: take another size, or factorise(a, 'ilu0')"
    return BlockDiagonal(_of_regular(who, why, a, xnp.linalg.inv, blocks), symmetric=a.symmetric)


def _of_regular(who: str, why: str, a: Sparse, f: Any, *blocks: Array) -> Array:
    """f of small matrices, of which the user knows nothing where one is singular."""
    try:
        return f(*blocks)
    except errors.SingularMatrixError:
        raise errors.SingularMatrixError(
            f"xcore.{who}: {why}; given {errors.describe(a)}."
        ) from None


# Approximate inverses


def approximate_inverse(a: Any, power: int = 1) -> Sparse:
    """M on the places of a (or a power of it) with the smallest |A M - 1|, column by column: a preconditioner.

    Applying it is a product, which accelerators like better than triangular solutions. Each column solves normal
    equations, Aᴴ A of its places. It is not Hermitian, even where a is: take it for ``GMRES``, or at most
    ``CG(flexible=True)``. (Benson and Frederickson 1982; Grote and Huckle 1997)

    Args:
      a: a square ``Sparse`` matrix.
      power: the places are those of so high a power of a.

    >>> from xcore import sparse
    >>> m = approximate_inverse(sparse.diags_array([2.0, 4.0]))
    >>> m.diagonal()
    Array([0.5 , 0.25], dtype=float32)
    """
    who = "sparse.approximate_inverse"
    a = _one(a, who)
    if type(power) is not int or power < 1:
        raise errors.bad_argument(who, "power", power, "an int of 1 or more")
    n = a.pattern.shape[0]
    where = a.pattern.union(Pattern(np.arange(n), np.arange(n), (n, n)))[0]
    base = where
    for _ in range(power - 1):
        where = where.product(base)[0]
    # a unit for each column, by which normal equations neither overflow nor vanish
    size = xnp.max(xnp.abs(a.values), initial=0)
    unit = xnp.exp2(xnp.round(xnp.log2(xnp.where(size > 0, size, 1)))).astype(a.dtype)
    b = a.like(a.values / unit)
    gram = matmul(b.H, b)
    columns = where.T
    width = int(columns.lengths.max(initial=1))
    at = columns.indptr[:-1, None].astype(np.int64) + np.arange(width)
    there = np.arange(width) < columns.lengths[:, None]
    rows = np.where(there, columns.indices[np.minimum(at, max(columns.nnz - 1, 0))], 0)
    places = np.broadcast_arrays(rows[:, :, None], rows[:, None, :])
    both = there[:, :, None] & there[:, None, :]
    blocks = xnp.where(both, gram._elements(*places), np.eye(width)).astype(a.dtype)
    right = b.H._elements(rows, np.broadcast_to(np.arange(n)[:, None], rows.shape))
    right = xnp.where(there, right, xnp.zeros((), a.dtype))
    why = "columns are 0, or depend on each other up to rounding (as of rows of very different size: divide by it)"
    found = _of_regular(who, why, a, xnp.linalg.solve, blocks, right[..., None])[..., 0] / unit
    values = found.reshape(-1)[np.flatnonzero(there.reshape(-1))]
    return Sparse(values, columns).T


def _one(a: Any, who: str) -> Sparse:
    a = coo_array(a)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise errors.shape_mismatch(who, "need a square matrix; vmap makes many", a=a)
    return a.astype(dtypes.to_solve(a.dtype))
