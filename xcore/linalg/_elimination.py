"""Gaussian elimination of our own: blocked, for batches, for every floating and complex dtype.

All here is written in operations, none of it calls LAPACK. A factorisation is a triple

    packed    the factors in one matrix: l below the diagonal, without its ones, u on and above it
    rows      the permutation p of rows,
    columns   the permutation q of columns, with a[p][:, q] = l u.

The blocked algorithm looks to the right: eliminate a block of columns, exchange rows and apply the
block to all columns after it, which is one product of matrices; then the next block. A block itself
is eliminated in narrower blocks, these column by column. All of that are loops over blocks of one
shape in a window of the matrix, so that programs stay small; now and then a smaller window begins.
(Golub and Van Loan 2013, "Matrix computations", section 3.2.11)
"""

from __future__ import annotations

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control.custom import custom_jvp
from .._control.implicit import custom_linear_solve
from .._control.loops import fori_loop
from .._core.types import ArrayType, typeof
from .._ops.factor import take_rows
from .._ops.matrices import diagonal, part, swapped
from ._arguments import modulus, over_batch, product

PIVOTING = ("partial", "complete", "none")
LEAF = 64  # rows of a triangular system that are solved one by one


def _numbers(n: int):
    return ops.iota(shape=(n,), dtype=np.dtype(np.int32), axis=0)


def _taken(x, i):
    """x[i] for a row number that is in range, without the care that indexing takes."""
    rest = typeof(x).shape[1:]
    row = ops.dynamic_slice(x, i, *[np.int32(0)] * len(rest), sizes=(1, *rest))
    return ops.reshape(row, shape=rest)


def _put(x, i, row):
    """x with its row i set."""
    row = ops.reshape(row, shape=(1, *typeof(row).shape))
    return ops.dynamic_update_slice(x, row, i, *[np.int32(0)] * (typeof(x).ndim - 1))


def _exchange(x, i, j):
    """One matrix with rows i and j exchanged."""
    first, second = _taken(x, i), _taken(x, j)
    return _put(_put(x, i, second), j, first)


# ---------------------------------------------------------------------------- triangular systems


def substitute(t, b, *, lower: bool, unit: bool = False):
    """x with t x = b for one triangular matrix t, of which only that triangle is read."""
    if not lower:  # read from the last row to the first, an upper triangle is a lower one
        return substitute(t[::-1, ::-1], b[::-1], lower=True, unit=unit)[::-1]
    n = typeof(t).shape[0]
    if n <= LEAF:
        return _substitute_leaf(t, b, unit)
    rest = -n % LEAF
    t = _with_identity(t, rest)
    b = xnp.concatenate([b, xnp.zeros_like(b, shape=(rest, typeof(b).shape[1]))])
    rows = _numbers(n + rest)[:, None]

    def block(k, x):
        at = k * LEAF
        strip = ops.dynamic_slice(t, np.int32(0), at, sizes=(n + rest, LEAF))
        square = ops.dynamic_slice(strip, at, np.int32(0), sizes=(LEAF, LEAF))
        known = ops.dynamic_slice(x, at, np.int32(0), sizes=(LEAF, typeof(x).shape[1]))
        known = _substitute_leaf(square, known, unit)
        x = x - product(xnp.where(rows >= at + LEAF, strip, 0), known)
        return ops.dynamic_update_slice(x, known, at, np.int32(0))

    return fori_loop(0, (n + rest) // LEAF, block, b)[:n]


def _with_identity(t, more: int):
    """A square matrix with this many rows and columns of the identity after its own."""
    n = typeof(t).shape[0]
    dtype = typeof(t).dtype
    right, corner = xnp.zeros((n, more), dtype), xnp.eye(more, dtype=dtype)
    return xnp.block([[t, right], [right.T, corner]])


def _substitute_leaf(t, b, unit: bool):
    n, columns = typeof(t).shape[0], typeof(b).shape[1]
    if columns <= 2 * n:
        return _substitute_rows(t, b, unit)
    # Of many columns each row would cost a pass over all of b. One product with the inverse of so
    # small a triangle is as accurate. (Du Croz and Higham 1992, "Stability of methods for matrix
    # inversion", section 2)
    return product(_substitute_rows(t, xnp.eye(n, dtype=typeof(t).dtype), unit), b)


def _substitute_rows(t, b, unit: bool):
    strict, pivots = part(t, ops.gt), diagonal(t)

    def row(i, x):
        value = _taken(x, i) - product(_taken(strict, i)[None], x)[0]
        return _put(x, i, value if unit else value / _taken(pivots, i))

    return fori_loop(0, typeof(t).shape[0], row, b)


# ------------------------------------------------------------------------------- partial pivoting


def _widths(k: int) -> tuple:
    """Columns of a block, and of the blocks in it, for k columns to eliminate."""
    if k <= 16:
        return ()
    return (8,) if k <= 64 else (32, 8) if k < 512 else (64, 8)


def _column_by_column(x, row, count: int, pivot: bool):
    """Eliminate ``count`` columns of x, the first one's diagonal being in row ``row``."""
    m, n = typeof(x).shape
    rows, columns = _numbers(m), _numbers(n)

    def column(c, state):
        x, pivots = state
        d = row + c
        values = ops.reshape(ops.dynamic_slice(x, np.int32(0), c, sizes=(m, 1)), shape=(m,))
        p = d
        if pivot:
            size = xnp.where(rows >= d, modulus(values), -1)
            p = ops.argmax(size, axis=0, dtype=np.dtype(np.int32))
        chosen = _taken(x, p)
        x = _exchange(x, d, p)
        lead = _taken(values, p)
        values = xnp.where(rows == p, _taken(values, d), values)
        below = rows > d
        factors = xnp.where(below, values / xnp.where(lead == 0, 1, lead), 0)
        x = x - factors[:, None] * xnp.where(columns > c, chosen, 0)
        x = xnp.where(below[:, None] & (columns == c), factors[:, None], x)
        return x, _put(pivots, c, p)

    return fori_loop(0, count, column, (x, xnp.zeros(count, np.int32)))


def _by_blocks(x, row, count: int, widths: tuple, pivot: bool):
    """The same, in blocks of columns. Returns x, and the row that each column exchanged with."""
    if not widths:
        return _column_by_column(x, row, count, pivot)
    m, n = typeof(x).shape
    rows, columns, width, zero = _numbers(m)[:, None], _numbers(n), widths[0], np.int32(0)

    def block(b, state):
        x, pivots = state
        first = b * width
        d = row + first
        panel = ops.dynamic_slice(x, zero, first, sizes=(m, width))
        panel, chosen = _by_blocks(panel, d, width, widths[1:], pivot)
        if pivot:
            # compiled, each exchange would copy all of x: the numbers of rows are exchanged instead
            swap = lambda i, order: _exchange(order, d + i, _taken(chosen, i))  # noqa: E731
            x = take_rows(x, fori_loop(0, width, swap, _numbers(m)))
        x = ops.dynamic_update_slice(x, panel, zero, first)
        later = columns >= first + width
        top = ops.dynamic_slice(x, d, zero, sizes=(width, n))
        corner = ops.dynamic_slice(panel, d, zero, sizes=(width, width))
        top = xnp.where(later, substitute(corner, top, lower=True, unit=True), top)
        x = ops.dynamic_update_slice(x, top, d, zero)
        below = xnp.where(rows >= d + width, panel, 0)
        x = x - product(below, xnp.where(later, top, 0))
        return x, ops.dynamic_update_slice(pivots, chosen, first)

    return fori_loop(0, count // width, block, (x, xnp.zeros(count, np.int32)))


def _windows(k: int, width: int):
    """(first column, number of columns) of each window: half of the blocks, half of the others, …

    All but the last are whole blocks. More windows would save work, and cost time to compile.
    """
    first = 0
    while blocks := (k - first) // width:
        take = width * (blocks if blocks <= 4 else -(-blocks // 2))
        yield first, take
        first += take
    if first < k:
        yield first, k - first


def _partial(a, pivot: bool = True) -> tuple:
    m, n = typeof(a).shape
    k = min(m, n)
    widths = _widths(k)
    width = widths[0] if widths else k
    every = []
    for first, count in _windows(k, width):
        blocks = widths if count >= width else ()
        window, chosen = _by_blocks(a[first:, first:], np.int32(0), count, blocks, pivot)
        left = a[first:, :first]
        if pivot and first:
            left = ops.exchange_rows(left, chosen, reverse=False)
        a = xnp.concatenate([a[:first], xnp.concatenate([left, window], axis=1)])
        every.append(chosen + np.int32(first))
    order = ops.lu_pivots_to_permutation(xnp.concatenate(every), size=m)
    return a, order, _numbers(n)


# ------------------------------------------------------------------------------ complete pivoting


def _complete(a) -> tuple:
    """Every pivot is the largest number that is left: the most stable, and the slowest."""
    m, n = typeof(a).shape
    i, j = _numbers(m)[:, None], _numbers(n)[None]

    def eliminate(c, state):
        x, rows, columns = state
        place = xnp.argmax(xnp.where((i >= c) & (j >= c), modulus(x), -1)).astype(np.int32)
        p, q = place // n, place % n
        x = _exchange(_exchange(x, c, p).T, c, q).T
        lead = x[c, c]
        factors = xnp.where(i > c, x[:, c][:, None] / xnp.where(lead == 0, 1, lead), 0)
        x = x - factors * xnp.where(j > c, x[c], 0)
        x = xnp.where((j == c) & (i > c), factors, x)
        return x, _exchange(rows, c, p), _exchange(columns, c, q)

    return fori_loop(0, min(m, n), eliminate, (a, _numbers(m), _numbers(n)))


# ------------------------------------------------------------------------ batches and derivatives


def _empty(t: ArrayType, pivoting: str) -> tuple:
    *lead, m, n = t.shape
    numbers = [xnp.broadcast_to(_numbers(k), (*lead, k)) for k in (m, n)]
    return ops.zeros(t), *numbers


def _eliminate(a, pivoting: str) -> tuple:
    if pivoting == "complete":
        return over_batch(_complete, a)
    return over_batch(lambda a: _partial(a, pivoting == "partial"), a)


def eliminate(a, pivoting: str) -> tuple:
    """(packed, rows, columns) of every matrix of a batch, with derivatives of packed."""
    t = typeof(a).strong()
    if 0 in t.shape:
        return _empty(t, pivoting)

    @custom_jvp
    def factors(a):
        return _eliminate(a, pivoting)

    @factors.defjvp
    def _(primals, tangents):
        packed, rows, columns = factors(*primals)
        change = swapped(take_rows(swapped(take_rows(tangents[0], rows)), columns))
        return (packed, rows, columns), (packed_tangent(packed, change), None, None)

    return factors(a)


def packed_tangent(packed, change):
    """How packed factors change with the exchanged matrix.

    With k = min(m, n) and the leading k × k parts l₁, u₁ of l = (l₁; l₂) and u = (u₁ u₂),
        f = l₁⁻¹ a₁₁' u₁⁻¹ = l₁⁻¹ l₁' + u₁' u₁⁻¹, strictly lower plus upper triangular, so
        l₁' = l₁ low(f),  u₁' = up(f) u₁;
        rows below:        l₂' = a₂' u₁⁻¹ - l₂ up(f);
        columns to the right: u₂' = l₁⁻¹ a₂' - low(f) u₂.
    (Seeger et al. 2017, "Auto-differentiating linear algebra", has the square case.)
    """
    return over_batch(_packed_tangent, packed, change)


def _packed_tangent(packed, change):
    m, n = typeof(packed).shape
    k = min(m, n)
    square = packed[:k, :k]
    l1 = part(square, ops.gt) + xnp.eye(k, dtype=typeof(packed).dtype)
    left = substitute(square, change[:k], lower=True, unit=True)  # l₁⁻¹ (a₁₁' a₂')
    f = _divided(left[:, :k], square)
    low, up = part(f, ops.gt), part(f, ops.le)
    out = product(l1, low) + product(up, part(square, ops.le))
    if m > k:
        below = _divided(change[k:], square)
        return xnp.concatenate([out, below - product(packed[k:], up)])
    return xnp.concatenate([out, left[:, k:] - product(low, packed[:, k:])], axis=1)


def _divided(b, u):
    """b u⁻¹ for the upper triangle u of a matrix."""
    return substitute(u.T, b.T, lower=True).T


# -------------------------------------------------------------------------------------- equations


def back_substitute(packed, rows, columns, b, transposed: bool = False):
    """x with a x = b, or aᵀ x = b, from the factors of square matrices a."""
    one = _back_transposed if transposed else _back
    return over_batch(one, packed, rows, columns, b)


def _back(packed, rows, columns, b):
    y = substitute(packed, b[rows], lower=True, unit=True)
    return xnp.zeros_like(y).at[columns].set(substitute(packed, y, lower=False))


def _back_transposed(packed, rows, columns, b):
    y = substitute(packed.T, b[columns], lower=True)
    return xnp.zeros_like(y).at[rows].set(substitute(packed.T, y, lower=False, unit=True))


def solve_by_elimination(a, b, pivoting: str) -> tuple:
    """(x with a x = b, packed factors of a). The derivatives of x are those of the equation.

    From a x = b follows a x' = b' - a' x, and for the adjoint aᵀ λ = x̄, b̄ = λ, ā = -λ xᵀ: one more
    solution with the same factors, and no derivative of the elimination.
    (Giles 2008, "Collected matrix derivative results", section 2.3.1)
    """
    factors = eliminate(ops.stop_gradient(a), pivoting)
    x = custom_linear_solve(
        lambda x: product(a, x), b,
        solve=lambda _, b: back_substitute(*factors, b),
        transpose_solve=lambda _, c: back_substitute(*factors, c, transposed=True),
    )  # fmt: skip
    return x, factors[0]


def first_zero(d):
    """The number of the first zero (or NaN) of each row, -1 where there is none."""
    n = typeof(d).shape[-1]
    place = ops.iota(shape=typeof(d).shape, dtype=np.dtype(np.int32), axis=typeof(d).ndim - 1)
    first = xnp.min(xnp.where(xnp.abs(d) > 0, np.int32(n), place), axis=-1, initial=n)
    return xnp.where(first == n, np.int32(-1), first)
