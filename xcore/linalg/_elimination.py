"""Gaussian elimination of our own: blocked, for batches, for every floating and complex dtype.

All here is written in operations, none of it calls LAPACK. A factorisation is a triple

    packed    the factors in one matrix: l below the diagonal, without its ones, u on and above it
    rows      the permutation p of rows,
    columns   the permutation q of columns, with a[p][:, q] = l u.

The blocked algorithm looks to the right: eliminate a panel of columns, exchange rows and apply the
panel to all columns after it, which is one product of matrices; then the next panel, of what is
left. A panel itself is eliminated in the same way, a few columns at a time, these one by one. There
are few panels, each a program of its own shape, and loops inside of them: programs stay small.
(Golub and Van Loan 2013, "Matrix computations", section 3.2.11)
"""

from __future__ import annotations

import functools

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import custom_jvp
from .._core import ArrayType, typeof
from .._ops import diagonal, part, swapped
from .._ops.factor import take_rows
from ..numpy._equations import differentiable_solve
from ._arguments import loop, modulus, number, over_batch, product

PIVOTING = ("partial", "complete", "none")
LEAF = 64  # rows of a triangular system that are solved one by one


def _numbers(n: int):
    return ops.iota(shape=(n,), dtype=np.dtype(np.int32), axis=0)


def _taken(x, i):
    """x[i] for a row number that is in range, without the care that indexing takes."""
    rest = typeof(x).shape[1:]
    row = ops.dynamic_slice(x, i, *[number(0)] * len(rest), sizes=(1, *rest))
    return ops.reshape(row, shape=rest)


def _put(x, i, row):
    """x with its row i set."""
    row = ops.reshape(row, shape=(1, *typeof(row).shape))
    return ops.dynamic_update_slice(x, row, i, *[number(0)] * (typeof(x).ndim - 1))


def _exchange(x, i, j):
    """One matrix with rows i and j exchanged."""
    first, second = _taken(x, i), _taken(x, j)
    return _put(_put(x, i, second), j, first)


# Triangular systems


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
        at = k * np.int32(LEAF)
        strip = ops.dynamic_slice(t, number(0), at, sizes=(n + rest, LEAF))
        square = ops.dynamic_slice(strip, at, number(0), sizes=(LEAF, LEAF))
        known = ops.dynamic_slice(x, at, number(0), sizes=(LEAF, typeof(x).shape[1]))
        known = _substitute_leaf(square, known, unit)
        x = x - product(xnp.where(rows >= at + LEAF, strip, 0), known)
        return ops.dynamic_update_slice(x, known, at, number(0))

    return loop((n + rest) // LEAF, block, b)[:n]


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

    return loop(typeof(t).shape[0], row, b)


# Partial pivoting
# Panels are held transposed, (columns, rows): so a column is together in memory, and the passes over
# it are fast. No rows are exchanged inside of a panel: it is known which of them have been pivots
# and which are left, and the whole panel is put in order at its end.

PANELS = 8  # at most this many: each is compiled for its own shape
NARROWEST = 64  # columns of a panel, if there are as many
LEAF_COLUMNS = 16  # columns of a panel that are eliminated one by one, before the others follow


def _widths(k: int):
    """Columns of each panel: whole leaves but for the last."""
    each = max(NARROWEST, -(-k // PANELS))
    each += -each % LEAF_COLUMNS
    return [min(each, k - first) for first in range(0, k, each)]


def _leaf(x, left, first, pivot: bool):
    """Eliminate all columns of x (columns, rows) in the rows that are left: (x, what is left, the
    pivots' rows). Without pivoting, column c has its pivot in row ``first`` + c."""
    count, m = typeof(x).shape
    rows, columns = _numbers(m), _numbers(count)[:, None]

    def column(c, state):
        x, left, pivots = state
        values, p = _taken(x, c), first + c
        if pivot:
            score = xnp.where(left, modulus(values), -1)
            p = ops.argmax(score, axis=0, dtype=np.dtype(np.int32))
        chosen = _keep(ops.dynamic_slice(x, number(0), p, sizes=(count, 1)))
        lead = _taken(chosen, c)
        left = left & (rows != p)
        factors = _keep(xnp.where(left, values / xnp.where(lead == 0, 1, lead), 0))
        x = x - xnp.where(columns > c, chosen * factors, 0)
        x = xnp.where((columns == c) & left, factors, x)
        return x, left, _put(pivots, c, p)

    return loop(count, column, (x, left, xnp.zeros(count, np.int32)))


def _columns(x, numbers):
    """x[:, numbers], for a few of many columns."""
    return xnp.take(x, numbers, axis=1, mode="promise_in_bounds")


def _keep(x):
    """Computed once and kept: joined with what reads it, it would be computed for every element."""
    return ops.optimization_barrier(x)[0]


def _block(x, left, at, count: int, pivot: bool):
    """Eliminate ``count`` columns of the panel x (columns, rows), from column ``at`` on: (x, what is
    left, the pivots' rows, those rows of u in the later columns)."""
    width, m = typeof(x).shape
    leaf = ops.dynamic_slice(x, at, number(0), sizes=(count, m))
    leaf, left, pivots = _leaf(leaf, left, at, pivot)
    top, corner = (_columns(y, pivots).T for y in (x, leaf))
    top = substitute(corner, top, lower=True, unit=True)
    later = _numbers(width)[:, None] >= at + count
    x = x - product(xnp.where(later, top.T, 0), xnp.where(left, leaf, 0))
    return ops.dynamic_update_slice(x, leaf, at, number(0)), left, pivots, top


def _panel(x, pivot: bool):
    """Eliminate all columns of x (columns, rows): (packed factors (rows, columns), the permutation
    of rows)."""
    width, m = typeof(x).shape
    every = [xnp.zeros(width, np.int32), xnp.zeros((width, width), typeof(x).dtype)]

    def step(at, count: int, state):
        x, left, pivots, tops = state
        x, left, chosen, top = _block(x, left, at, count, pivot)
        pivots = ops.dynamic_update_slice(pivots, chosen, at)
        return x, left, pivots, ops.dynamic_update_slice(tops, top, at, number(0))

    whole, rest = divmod(width, LEAF_COLUMNS)
    state = (x, xnp.ones(m, bool), *every)
    if whole:
        leaf = lambda b, s: step(b * np.int32(LEAF_COLUMNS), LEAF_COLUMNS, s)  # noqa: E731
        state = loop(whole, leaf, state)
    if rest:
        state = step(np.int32(whole * LEAF_COLUMNS), rest, state)
    x, left, pivots, tops = state
    order = _pivots_first(left, pivots) if pivot else _numbers(m)
    x = take_rows(x.T, order) if pivot else x.T
    i, j = (_numbers(width) // LEAF_COLUMNS for _ in range(2))
    return xnp.concatenate([xnp.where(j > i[:, None], tops, x[:width]), x[width:]]), order


def _pivots_first(left, pivots):
    """The permutation that puts the pivots' rows first and leaves the others as they are."""
    m, count = typeof(left).shape[0], typeof(pivots).shape[0]
    place = (_numbers(m) + np.int32(count)).at[pivots].set(_numbers(count))
    return xnp.argsort(place).astype(np.int32)


def _partial(a, pivot: bool = True) -> tuple:
    m, n = typeof(a).shape
    done, first, rest = [], 0, a
    for width in _widths(min(m, n)):
        panel, order = _panel(rest[:, :width].T, pivot)
        rest = rest[:, width:]
        rest = take_rows(rest, order) if pivot else rest
        top = substitute(panel[:width], rest[:width], lower=True, unit=True)
        done.append((panel, top, order, first))
        rest = rest[width:] - product(panel[width:], top)
        first += width
    return *_assembled(done, xnp.zeros_like(a)), _numbers(n)


def _assembled(done: list, packed) -> tuple:
    """(all panels, and what is right of them, in one matrix; the permutation of its rows)."""
    order = None
    for panel, top, own, first in reversed(done):
        width = typeof(panel).shape[1]
        low = panel[width:] if order is None else take_rows(panel[width:], order)
        packed = _written(packed, panel[:width], first, first)
        packed = _written(packed, low, first + width, first)
        packed = _written(packed, top, first, first + width)
        later = own[width:] if order is None else own[width:][order]
        order = xnp.concatenate([own[:width], later])
    return packed, order


def _written(x, part, row: int, column: int):
    if 0 in typeof(part).shape:
        return x
    return ops.dynamic_update_slice(x, part, number(row), number(column))


# Complete pivoting


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

    return loop(min(m, n), eliminate, (a, _numbers(m), _numbers(n)))


# Batches and derivatives


def _empty(t: ArrayType) -> tuple:
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
        return _empty(t)

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


# Equations


def back_substitute(packed, rows, columns, b, transposed: bool = False):
    """x with a x = b, or aᵀ x = b, from the factors of square matrices a."""
    if 0 in typeof(b).shape:
        return b
    one = _back_transposed if transposed else _back
    return over_batch(one, packed, rows, columns, b)


def _back(packed, rows, columns, b):
    y = substitute(packed, b[rows], lower=True, unit=True)
    return xnp.zeros_like(y).at[columns].set(substitute(packed, y, lower=False))


def _back_transposed(packed, rows, columns, b):
    y = substitute(packed.T, b[columns], lower=True)
    return xnp.zeros_like(y).at[rows].set(substitute(packed.T, y, lower=False, unit=True))


def solve_by_elimination(a, b, pivoting: str) -> tuple:
    """(x with a x = b, packed factors of a). The derivatives of x are those of the equation."""
    factors = eliminate(ops.stop_gradient(a), pivoting)
    solve = functools.partial(back_substitute, *factors)
    x = differentiable_solve(lambda x: product(a, x), b, solve)
    return x, factors[0]


def first_zero(d):
    """The index of the first zero (or NaN) of each row, -1 where there is none."""
    n = typeof(d).shape[-1]
    place = ops.iota(shape=typeof(d).shape, dtype=np.dtype(np.int32), axis=typeof(d).ndim - 1)
    first = xnp.min(xnp.where(xnp.abs(d) > 0, np.int32(n), place), axis=-1, initial=n)
    return xnp.where(first == n, np.int32(-1), first)
