"""Many small matrices at once, interleaved: the batch is the last axis.

Then every operation of an elimination is the same operation on long rows of numbers, one of each
matrix, which processors do many at a time. LAPACK, called once per small matrix, mostly starts.
Matrices go through in chunks that stay in the cache.
"""

from __future__ import annotations

import math

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control.loops import fori_loop
from .._control.loops import map as loop_map
from .._core import dtypes
from .._core.types import ArrayType, typeof
from ._arguments import modulus

LARGEST = 24  # matrices of more rows than that go to LAPACK
FEWEST = 64  # and batches of fewer matrices
CACHE = 128 * 1024  # bytes of one chunk of matrices


def applies(a) -> bool:
    """Whether these matrices (..., n, n) are small and many."""
    *lead, _, n = typeof(a).shape
    return 0 < n <= LARGEST and math.prod(lead) >= FEWEST


def _chunk(arrays, lead: int) -> int:
    """How many matrices go through at once: a multiple of 32 that fits into the cache."""
    types = [typeof(x) for x in arrays]
    each = sum(math.prod(t.shape[lead:]) * t.dtype.itemsize for t in types)
    return max(32, min(512, CACHE // each // 32 * 32))


def in_chunks(f, a, *more):
    """``f`` of interleaved chunks of a, b, …; its results, in the given batch."""
    lead = typeof(a).shape[:-2]
    lanes = math.prod(lead)
    size = min(_chunk((a, *more), len(lead)), lanes)
    rest = -lanes % size

    def chunked(x):
        own = typeof(x).shape[len(lead) :]
        flat = ops.reshape(x, shape=(lanes, *own))
        if rest:  # the first matrices once more, so that none of them is singular by our doing
            flat = xnp.concatenate([flat, flat[:rest]])
        return ops.reshape(flat, shape=((lanes + rest) // size, size, *own))

    def joined(y):
        own = typeof(y).shape[2:]
        flat = ops.reshape(y, shape=(lanes + rest, *own))
        return ops.reshape(flat[:lanes], shape=(*lead, *own))

    def body(xs):
        outs = f(*[xnp.moveaxis(x, 0, -1) for x in xs])
        return tuple(xnp.moveaxis(y, -1, 0) for y in outs)

    return tuple(joined(y) for y in loop_map(body, tuple(map(chunked, (a, *more)))))


# ------------------------------------------------------------------------------------ elimination
# Rows stay where they are: order[c] is the row of the c-th pivot, and is left alone from then on.
# lower[c] is what times that row was subtracted from each row. The first column of what is left is
# cut off in every step, so upper[c] begins with the pivot: upper[c, j] belongs to column c + j.
#
# The passes over a matrix never write where they read, since compiled code then does many numbers
# at a time; barriers keep the passes apart, which joined would do work again and again.

GROUP = 2  # steps of one turn of the loop


def _row(x, c):
    """x[c] for a row number that is in range."""
    rest = typeof(x).shape[1:]
    row = ops.dynamic_slice(x, c, *[np.int32(0)] * len(rest), sizes=(1, *rest))
    return ops.reshape(row, shape=rest)


def _put(x, c, row):
    """x with its row c set."""
    return ops.dynamic_update_slice(x, row[None], c, *[np.int32(0)] * (typeof(x).ndim - 1))


def _pick(x, place):
    """x[place], the place being another one in each lane: a chain of choices, one fast pass."""
    picked = x[0]
    for r in range(1, typeof(x).shape[0]):
        picked = xnp.where(place == r, x[r], picked)
    return picked


def _padded(x, axis: int, more: int):
    """x with zeros at the end of an axis."""
    high = [more * (i == axis) for i in range(typeof(x).ndim)]
    nil = (0,) * len(high)
    zero = ops.zeros(ArrayType((), typeof(x).dtype))
    return ops.pad(x, zero, low=nil, high=tuple(high), interior=nil)


def _largest(column, used):
    """The place of the largest element of each lane that is not in a used row."""
    size = modulus(column)
    score = xnp.where(used, -1, xnp.where(xnp.isnan(size), xnp.inf, size))
    best, place = score[0], xnp.zeros(typeof(score).shape[1:], np.int32)
    for r in range(1, typeof(score).shape[0]):
        more = score[r] > best
        best, place = xnp.where(more, score[r], best), xnp.where(more, np.int32(r), place)
    return place


def _rows_like(x):
    """The numbers of the rows, in each lane."""
    n, *_, lanes = typeof(x).shape
    return ops.iota(shape=(n, lanes), dtype=dtypes.int32, axis=0)


def _without_first_column(x, used):
    """(what is left, used rows, the pivot's row, factors, its place) after one step."""
    column = x[:, 0]
    place = _largest(column, used)
    used = used | (_rows_like(x) == place)
    lead = _pick(column, place)
    factors = xnp.where(used, 0, column / xnp.where(lead == 0, 1, lead))
    parts = ops.optimization_barrier(_pick(x, place), used, factors, place)
    chosen, used, factors, place = parts
    (x,) = ops.optimization_barrier(x[:, 1:] - factors[:, None] * chosen[1:])
    return x, used, chosen, factors, place


def eliminate(x):
    """(upper, lower, order) of interleaved matrices (n, n, lanes).

    Further columns, right-hand sides, go along: in upper[c] what became of them begins at n - c.
    """
    n, columns, lanes = typeof(x).shape
    group = min(GROUP, n)
    turns = -(-n // group)
    size = turns * group

    def turn(t, state):
        x, used, *kept = state
        for s in range(group):
            x, used, *found = _without_first_column(x, used)
            found[0] = _padded(found[0], 0, s)
            kept = [_put(old, t * group + s, new) for old, new in zip(kept, found, strict=True)]
        return _padded(x, 1, group), used, *kept

    nil = xnp.zeros((size, columns, lanes), typeof(x).dtype)
    factors = xnp.zeros((size, n, lanes), typeof(x).dtype)
    order = xnp.zeros((size, lanes), np.int32)
    state = (x, xnp.zeros((n, lanes), bool), nil, factors, order)
    return tuple(y[:n] for y in fori_loop(0, turns, turn, state)[2:])


def _weighted(weights, x):
    """The sum of the rows of x with weights (n, lanes)."""
    total = weights[0] * x[0]
    for r in range(1, typeof(weights).shape[0]):
        total = total + weights[r] * x[r]
    return total


def _backward(upper, right, n: int, k: int):
    """x with u x = y, row by row from the last; ``right(row, c)`` is y[c], given row c of u."""
    lanes, dtype, zero = typeof(upper).shape[-1], typeof(upper).dtype, np.int32(0)

    def step(i, x):
        c = np.int32(n - 1) - i
        row = _row(upper, c)
        after = ops.dynamic_slice(x, c + 1, zero, zero, sizes=(n, k, lanes))
        value = (right(row, c) - _weighted(row[1:n], after)) / row[0]
        return _put(x, c, *ops.optimization_barrier(value))

    return fori_loop(0, n, step, xnp.zeros((2 * n + 1, k, lanes), dtype))[:n]


def solve_directly(x, b):
    """(x with a x = b, pivots): right-hand sides (n, k, lanes) are eliminated with the matrices."""
    n, k, lanes = typeof(b).shape
    upper, _, _ = eliminate(xnp.concatenate([x, b], axis=1))

    def right(row, c):
        return ops.dynamic_slice(row, np.int32(n) - c, np.int32(0), sizes=(k, lanes))

    return _backward(upper, right, n, k), upper[:, 0]


def substitute(upper, lower, order, b):
    """x with a x = b, interleaved (n, k, lanes), from the factors of a."""
    n, k, _ = typeof(b).shape
    rows = xnp.swapaxes(lower, 0, 1)

    def forward(c, y):
        place = _row(order, c)
        factors, value = ops.optimization_barrier(_pick(rows, place), _pick(b, place))
        return _put(y, c, *ops.optimization_barrier(value - _weighted(factors, y)))

    y = fori_loop(0, n, forward, xnp.zeros_like(b))
    return _backward(upper, lambda _, c: _row(y, c), n, k)


def substitute_transposed(upper, lower, order, b):
    """x with aᵀ x = b from the factors of a: the steps of ``substitute`` transposed, backwards."""
    n, k, lanes = typeof(b).shape
    rows, nil = _rows_like(b), xnp.zeros_like(b)

    def forward(c, state):
        b, y = state
        row, zero = _row(upper, c), np.int32(0)
        (value,) = ops.optimization_barrier(_row(b, c) / row[0])
        after = ops.dynamic_slice(b, c + 1, zero, zero, sizes=(n, k, lanes))
        after = after - _padded(row[1:], 0, 1)[:, None] * value
        return ops.dynamic_update_slice(b, after, c + 1, zero, zero), _put(y, c, value)

    def backward(i, x):
        c = np.int32(n - 1) - i
        value = ops.optimization_barrier(_row(y, c) - _weighted(_row(lower, c), x))[0]
        return xnp.where((rows == _row(order, c))[:, None], value, x)

    _, y = fori_loop(0, n, forward, (xnp.concatenate([b, nil, nil[:1]]), nil))
    return fori_loop(0, n, backward, nil)


def invert(x):
    """(the inverses of interleaved matrices (n, n, lanes), pivots), by Gauss and Jordan.

    A step subtracts the pivot's row from all other rows, also from those that had their turn. Its
    column, from then on a unit vector's, leaves in front, and the one that the identity matrix has
    on the right side comes in behind: after n steps the inverse is there, its rows and columns in
    the order of the pivots. (Higham 2002, section 14.4)
    """
    n, _, lanes = typeof(x).shape

    def step(c, state):
        x, used, pivots, order = state
        column = x[:, 0]
        place = _largest(column, used)
        here = _rows_like(x) == place
        lead = _pick(column, place)
        factors = xnp.where(here, 0, column / xnp.where(lead == 0, 1, lead))
        parts = ops.optimization_barrier(_pick(x, place), used | here, factors, place, lead, here)
        chosen, used, factors, place, lead, here = parts
        left = x[:, 1:] - factors[:, None] * chosen[1:]
        entering = xnp.where(here, xnp.ones_like(factors), -factors)
        x = xnp.concatenate([left, entering[:, None]], axis=1)
        return x, used, _put(pivots, c, lead), _put(order, c, place)

    start = x, xnp.zeros((n, lanes), bool), xnp.zeros_like(x[0]), xnp.zeros((n, lanes), np.int32)
    x, _, pivots, order = fori_loop(0, n, step, start)

    def row(c, y):  # to the place of its pivot, and divided by it
        return _put(y, c, _pick(x, _row(order, c)) / _row(pivots, c))

    columns = xnp.swapaxes(fori_loop(0, n, row, xnp.zeros_like(x)), 0, 1)

    def column_of(j, y):
        which = xnp.argmax(order == j, axis=0).astype(np.int32)
        return _put(y, j, _pick(columns, which))

    return xnp.swapaxes(fori_loop(0, n, column_of, xnp.zeros_like(x)), 0, 1), pivots


# --------------------------------------------------------------------------------------- batches


def factorise(a) -> tuple:
    """(upper, lower, order) of each matrix of the batch, for ``solve_factorised``."""
    return in_chunks(eliminate, a)


def solve_factorised(factors, b, transposed: bool = False):
    solve = substitute_transposed if transposed else substitute
    return in_chunks(lambda *xs: (solve(*xs),), *factors, b)[0]


def pivots(factors):
    """The pivots of factors in their batch."""
    return factors[0][..., 0]


def only_pivots(a) -> tuple:
    """(pivots, order) of each matrix of the batch."""

    def run(x):
        upper, _, order = eliminate(x)
        return upper[:, 0], order

    return in_chunks(run, a)


def solve(a, b, transposed: bool = False) -> tuple:
    """(x with a x = b or aᵀ x = b, pivots). Factors never leave the cache: that is faster than
    keeping them."""

    def turned(x, b):
        factors = eliminate(x)
        return substitute_transposed(*factors, b), factors[0][:, 0]

    return in_chunks(turned if transposed else solve_directly, a, b)


def inverse(a) -> tuple:
    """(inverses, pivots) of the matrices of a batch."""
    return in_chunks(invert, a)
