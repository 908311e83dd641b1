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
from .._control.jit import eval_shape
from .._core import dtypes
from .._core.types import typeof
from .._ops.matrices import diagonal
from ._arguments import loop, modulus, number, on_cpu

LARGEST = 24  # matrices of more rows than that go to LAPACK
FEWEST = 64  # and batches of fewer matrices
CACHE = 80 * 1024  # bytes of one chunk of matrices: it stays close to the processor


def applies(a) -> bool:
    """Whether these matrices (..., n, n) are small and many."""
    *lead, _, n = typeof(a).shape
    return 0 < n <= LARGEST and math.prod(lead) >= FEWEST and on_cpu()


def _chunk(arrays, lead: int) -> int:
    """How many matrices go through at once: a multiple of 32 that fits into the cache."""
    types = [typeof(x) for x in arrays]
    each = sum(math.prod(t.shape[lead:]) * t.dtype.itemsize for t in types)
    return max(32, min(512, CACHE // each // 32 * 32))


def in_chunks(f, a, *more):
    """``f`` of interleaved chunks of a, b, …; its results, in the given batch.

    The last chunk ends with the last matrix, so it may begin inside of the one before: no copy of
    all matrices is made to fill it up.
    """
    lead = typeof(a).shape[:-2]
    lanes = math.prod(lead)
    flat = [ops.reshape(x, shape=(lanes, *typeof(x).shape[len(lead) :])) for x in (a, *more)]
    size = min(_chunk((a, *more), len(lead)), lanes) if on_cpu() else lanes

    def chunk(at):
        outs = f(*[_interleaved(_cut(x, at, size)) for x in flat])
        return tuple(_barrier(xnp.moveaxis(y, -1, 0)) for y in outs)

    def body(i, outs):
        at = xnp.minimum(i * size, lanes - size)
        return tuple(_put_at(x, at, y) for x, y in zip(outs, chunk(at), strict=True))

    kinds = [typeof(y) for y in eval_shape(chunk, np.int32(0))]
    start = tuple(xnp.zeros((lanes, *t.shape[1:]), t.dtype) for t in kinds)
    outs = loop(-(-lanes // size), body, start)
    return tuple(ops.reshape(y, shape=(*lead, *typeof(y).shape[1:])) for y in outs)


def _nil(count: int) -> list:
    return [number(0)] * count


def _cut(x, at, size: int):
    rest = typeof(x).shape[1:]
    return ops.dynamic_slice(x, at, *_nil(len(rest)), sizes=(size, *rest))


def _put_at(x, at, rows):
    """x with its rows from ``at`` on set."""
    return ops.dynamic_update_slice(x, rows, at, *_nil(typeof(x).ndim - 1))


def _barrier(x):
    """Keeps the passes over matrices apart: joined, they would do work again and again."""
    return ops.optimization_barrier(x)[0]


def _interleaved(x):
    return _barrier(xnp.moveaxis(x, 0, -1))


# ------------------------------------------------------------------------------------ elimination
# Matrices are (rows, columns, lanes). In step c the pivot's row and row c change places, by
# choosing: the place of the pivot is another one in each lane.


def _row(x, c):
    """x[c] for a row number that is in range."""
    return ops.reshape(_cut(x, c, 1), shape=typeof(x).shape[1:])


def _column(x, c):
    """x[:, c] for a number that is in range."""
    n, _, lanes = typeof(x).shape
    return ops.reshape(
        ops.dynamic_slice(x, number(0), c, number(0), sizes=(n, 1, lanes)), shape=(n, lanes)
    )


def _numbers(x, axis: int):
    return ops.iota(shape=typeof(x).shape, dtype=dtypes.int32, axis=axis)


def _pick(x, place):
    """x[place] in each lane: a chain of choices, one fast pass."""
    picked = x[0]
    for r in range(1, typeof(x).shape[0]):
        picked = xnp.where(place == r, x[r], picked)
    return picked


def _largest(column, c):
    """The place of the largest element of each lane from row c on."""
    size = modulus(column)
    score = xnp.where(_numbers(size, 0) < c, -1, xnp.where(xnp.isnan(size), xnp.inf, size))
    best, place = score[0], xnp.zeros(typeof(score).shape[1:], np.int32)
    for r in range(1, typeof(score).shape[0]):
        more = score[r] > best
        best, place = xnp.where(more, score[r], best), xnp.where(more, r, place)
    return place


def _exchanged(x, c, place):
    """x with x[c] at the place; x[c] itself stays, for it is known where it goes."""
    return xnp.where(_numbers(x, 0) == place, _row(x, c), x)


def _pivot(x, c):
    """(the pivot's place, its row, column c with the two rows exchanged but for row c)."""
    column = _column(x, c)
    place = _barrier(_largest(column, c))
    return place, _barrier(_pick(x, place)), _exchanged(column, c, place)


def _step(x, c, packed: bool):
    """Step c of the elimination: (x, the pivot's place)."""
    place, chosen, column = _pivot(x, c)
    lead = _row(chosen, c)
    factors = xnp.where(
        _numbers(column, 0) > c, column / xnp.where(lead == 0, 1, lead), xnp.zeros_like(column)
    )
    factors, rows, columns = _barrier(factors), _numbers(x, 0), _numbers(x, 1)
    top = xnp.where(columns > c, chosen, 0) if packed else chosen
    moved = xnp.where(rows == c, chosen, _exchanged(x, c, place)) - factors[:, None] * top
    if packed:
        moved = xnp.where((columns == c) & (rows > c), factors[:, None], moved)
    return _barrier(moved), place


def _twice(count: int, step, state):
    """``step(c, state)`` for c = 0, 1, …, two in a turn: the second writes where the first had read.
    With one in a turn, compiled code copies the state back every time."""
    state = loop(count // 2, lambda i, s: step(2 * i + 1, step(2 * i, s)), state)
    return step(np.int32(count - 1), state) if count % 2 else state


def _steps(x, count: int, packed: bool):
    """(x, places) after so many steps."""

    def step(c, state):
        x, places = state
        x, place = _step(x, c, packed)
        return x, _put_at(places, c, place[None])

    return _twice(count, step, (x, xnp.zeros((count, typeof(x).shape[-1]), np.int32)))


def factors_of(x):
    """(packed, places): l, without its ones, and u in one, and where the row of each pivot was."""
    return _steps(x, typeof(x).shape[0], True)


WINDOWS = 4  # eliminations shrink so many times; more would save work, and cost time to compile


def eliminate(x):
    """[(rows, places)] of windows of interleaved matrices (n, columns, lanes), further columns,
    right-hand sides, going along: each window's rows of u, from its first column on."""
    n, found = typeof(x).shape[0], []
    step = max(4, -(-n // WINDOWS))
    while left := typeof(x).shape[0]:
        count = min(step, left)
        x, places = _steps(x, count, False)
        found.append((x[:count], places))
        x = x[count:, count:] if count == left else _barrier(x[count:, count:])
    return found


def _pivots(windows):
    every = [rows[i, i] for rows, _ in windows for i in range(typeof(rows).shape[0])]
    return xnp.stack(every)


def _weighted(weights, x):
    """The sum of the rows of x with weights (n, lanes)."""
    total = weights[0] * x[0]
    for r in range(1, typeof(weights).shape[0]):
        total = total + weights[r] * x[r]
    return total


def _backward(rows, right, later):
    """x with u x = y for the first rows of u, ``right(row, c)`` being y[c] and ``later`` the last
    elements of x."""
    count, (m, k, lanes) = typeof(rows).shape[0], typeof(later).shape
    m += count

    def step(i, x):
        c = count - 1 - i
        row = _row(rows, c)
        known = xnp.where(_numbers(row[:m], 0) > c, row[:m], 0)
        value = (right(row, c) - _weighted(known, x)) / _row(row, c)
        return _put_at(x, c, _barrier(value)[None])

    nil = xnp.zeros((count, k, lanes), typeof(later).dtype)
    return loop(count, step, xnp.concatenate([nil, later]))


def solve_directly(x, b):
    """(x with a x = b, pivots): right-hand sides (n, k, lanes) are eliminated with the matrices."""
    k = typeof(b).shape[1]
    windows, later = eliminate(_barrier(xnp.concatenate([x, b], axis=1))), b[:0]
    for rows, _ in windows[::-1]:
        later = _backward(rows, lambda row, _: row[-k:] if k else row[:0], later)
    return later, _pivots(windows)


def _exchange(x, c, place):
    """x with x[c] and x[place] exchanged."""
    chosen = _barrier(_pick(x, place))
    return _barrier(xnp.where(_numbers(x, 0) == c, chosen, _exchanged(x, c, place)))


def substitute(packed, places, b):
    """x with a x = b, interleaved (n, k, lanes), from the factors of a."""
    n = typeof(b).shape[0]

    def forward(c, y):
        factors = _column(packed, c)
        factors = xnp.where(_numbers(factors, 0) > c, factors, 0)
        return _barrier(y - factors[:, None] * _row(y, c))

    y = loop(n, lambda c, y: _exchange(y, c, _row(places, c)), b)
    y = loop(n, forward, y)
    return _backward(packed, lambda _, c: _row(y, c), b[:0])


def substitute_transposed(packed, places, b):
    """x with aᵀ x = b from the factors of a: the steps of ``substitute`` transposed, backwards."""
    n = typeof(b).shape[0]

    def forward(c, y):
        row = _row(packed, c)
        value = _barrier(_row(y, c) / _row(row, c))
        y = y - xnp.where(_numbers(row, 0) > c, row, 0)[:, None] * value
        return _barrier(_put_at(y, c, value[None]))

    def backward(i, x):
        c = n - 1 - i
        factors = _column(packed, c)
        factors = xnp.where(_numbers(factors, 0) > c, factors, 0)
        return _put_at(x, c, _barrier(_row(x, c) - _weighted(factors, x))[None])

    def exchange(i, x):
        c = n - 1 - i
        return _exchange(x, c, _row(places, c))

    x = loop(n, backward, loop(n, forward, b))
    return loop(n, exchange, x)


def invert(x):
    """(the inverses of interleaved matrices (n, n, lanes), pivots), by Gauss and Jordan, in place.

    Step c subtracts the pivot's row p from all other rows and puts in column c, from then on a unit
    vector's, what the identity matrix becomes. What comes out is the inverse of the matrix with its
    rows exchanged, so its columns are to be exchanged back. (Higham 2002, section 14.4)
    """
    n = typeof(x).shape[0]

    def step(c, state):
        x, leads, order = state
        place, chosen, column = _pivot(x, c)
        lead = _row(chosen, c)
        chosen = xnp.where(_numbers(chosen, 0) == c, 1, chosen)
        p = _barrier(chosen / xnp.where(lead == 0, 1, lead))
        factors = _barrier(xnp.where(_numbers(column, 0) == c, -1, column))
        here = (_numbers(x, 0) == c) | (_numbers(x, 1) == c)
        x = xnp.where(here, 0, _exchanged(x, c, place)) - factors[:, None] * p
        return _barrier(x), _put_at(leads, c, lead[None]), _exchange(order, c, place)

    x, leads, order = _twice(n, step, (x, xnp.zeros_like(x[0]), _numbers(x[0], 0)))

    def column_of(j, columns):
        picked = x[:, 0]
        for c in range(1, n):
            picked = xnp.where(order[c] == j, x[:, c], picked)
        return _put_at(columns, j, _barrier(picked)[None])

    return xnp.swapaxes(loop(n, column_of, xnp.zeros_like(x)), 0, 1), leads


# --------------------------------------------------------------------------------------- batches


def factorise(a) -> tuple:
    """(packed, places) of each matrix of the batch, for ``solve_factorised``."""
    return in_chunks(factors_of, a)


def solve_factorised(factors, b, transposed: bool = False):
    packed, places = factors
    solve = substitute_transposed if transposed else substitute
    return in_chunks(lambda packed, b, places: (solve(packed, places, b),), packed, b, places)[0]


def pivots(factors):
    """The pivots of factors in their batch."""
    return diagonal(factors[0])


def only_pivots(a) -> tuple:
    """(pivots, whether rows were exchanged an odd number of times) of each matrix of the batch."""

    def run(x):
        windows = eliminate(x)
        exchanged = [places != _numbers(places, 0) for _, places in windows]
        return _pivots(windows), xnp.sum(xnp.concatenate(exchanged), axis=0) % 2 == 1

    return in_chunks(run, a)


def solve(a, b, transposed: bool = False) -> tuple:
    """(x with a x = b or aᵀ x = b, pivots). Factors never leave the cache: that is faster than
    keeping them."""

    def turned(x, b):
        return solve_directly(xnp.swapaxes(x, 0, 1), b)

    return in_chunks(turned if transposed else solve_directly, a, b)


def inverse(a) -> tuple:
    """(inverses, pivots) of the matrices of a batch."""
    return in_chunks(invert, a)
