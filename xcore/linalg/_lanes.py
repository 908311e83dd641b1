"""Many small matrices at once, interleaved: the batch is the last axis.

Then every operation of an elimination is the same operation on long rows of numbers, one of each
matrix, which processors do many at a time. LAPACK, called once per small matrix, mostly starts.
Matrices go through in chunks that stay in the cache, and many chunks in one kernel: started one by
one, such short operations would wait longer than they work. The cores share the kernels.
"""

from __future__ import annotations

import math

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import eval_shape, fori_loop
from .._control.call import in_one_kernel
from .._core import dtypes, typeof
from .._cpu.rows import cores
from .._ops import diagonal
from ._arguments import loop, modulus, number, on_cpu

LARGEST = 24  # matrices of more rows than that go to LAPACK
FEWEST = 64  # and batches of fewer matrices
CACHE = 64 * 1024  # bytes of one chunk of matrices: it stays close to the processor
SHARED = 1024 * 1024  # bytes of so many matrices that several cores work on them
NARROWEST = 64  # matrices of a chunk: shorter rows are unrolled by LLVM, and then not vectorised


def applies(a) -> bool:
    """Whether these matrices (..., n, n) are small and many."""
    *lead, _, n = typeof(a).shape
    return 0 < n <= LARGEST and math.prod(lead) >= FEWEST and on_cpu()


def _bytes(arrays) -> int:
    types = [typeof(x) for x in arrays]
    return sum(math.prod(t.shape) * t.dtype.itemsize for t in types)


def in_chunks(f, a, *more, narrowest: int = NARROWEST):
    """``f`` of interleaved chunks of a, b, …, of so many matrices or more; its results, a tuple, in
    the given batch."""
    lead = typeof(a).shape[:-2]
    lanes = math.prod(lead)
    flat = [ops.reshape(x, shape=(lanes, *typeof(x).shape[len(lead) :])) for x in (a, *more)]
    if not on_cpu():
        outs = _of_chunk(f, flat)
    elif typeof(a).shape[-2] > 1:
        work = lambda *flat: _all_chunks(f, flat, narrowest)  # noqa: E731
        outs = in_one_kernel(work, *flat, part=_part(flat, chunk_width(flat, narrowest)))
    else:  # with one row alone there is no loop
        outs = _all_chunks(f, flat, narrowest)
    return tuple(ops.reshape(y, shape=(*lead, *typeof(y).shape[1:])) for y in outs)  # pyright: ignore[reportGeneralTypeIssues]


def _of_chunk(f, arrays) -> tuple:
    return tuple(xnp.moveaxis(y, -1, 0) for y in f(*map(_interleaved, arrays)))


def _interleaved(x):
    """The last axis counts matrices. Matrices are turned as rows of numbers: LLVM unrolls loops over
    the short rows of one matrix, and then does not vectorise them."""
    lanes, *rest = typeof(x).shape
    return ops.reshape(_as_rows(x).T, shape=(*rest, lanes))


def _as_rows(x):
    lanes, *rest = typeof(x).shape
    return ops.reshape(x, shape=(lanes, math.prod(rest)))


def chunk_width(flat, narrowest: int) -> int:
    """Of how many matrices a chunk is."""
    lanes = typeof(flat[0]).shape[0]
    return min(lanes, max(narrowest, min(512, CACHE * lanes // _bytes(flat) // 32 * 32)))


def _part(flat, width: int) -> int | None:
    """How many matrices one core takes at a time: whole chunks, four times for each core, two or more, as
    kernels are made of loops; None if they are too few to share."""
    lanes = typeof(flat[0]).shape[0]
    if cores() == 1 or _bytes(flat) < SHARED:
        return None
    part = max(-(-lanes // (4 * cores() * width)), 2) * width
    return part if part < lanes else None


def _all_chunks(f, flat, narrowest: int) -> tuple:
    """The last chunk ends with the last matrix, so it may begin inside of the one before: no copy of
    all matrices is made to fill it up."""
    lanes, size = typeof(flat[0]).shape[0], chunk_width(flat, narrowest)
    shapes, rows = [typeof(x).shape[1:] for x in flat], list(map(_as_rows, flat))

    def body(i, outs):
        at = xnp.minimum(i * size, lanes - size)
        cut = [ops.reshape(_cut(x, at, size), shape=(size, *t)) for x, t in zip(rows, shapes)]
        return tuple(_put_at(x, at, y) for x, y in zip(outs, _of_chunk(f, cut), strict=True))

    kinds = eval_shape(lambda: _of_chunk(f, [x[:size] for x in flat]))
    start = tuple(xnp.zeros((lanes, *t.shape[1:]), t.dtype) for t in kinds)
    return loop(-(-lanes // size), body, start)


def _zero(count: int) -> list:
    return [number(0)] * count


def _cut(x, at, size: int):
    rest = typeof(x).shape[1:]
    return ops.dynamic_slice(x, at, *_zero(len(rest)), sizes=(size, *rest))


def _put_at(x, at, rows):
    """x with its rows from ``at`` on set."""
    return ops.dynamic_update_slice(x, rows, at, *_zero(typeof(x).ndim - 1))


# Elimination
# Matrices are (rows, columns, batch). Kernels have no barriers: what a loop carries is computed
# once, all else anew where it is used. Rows are changed in place, one after the other.


def _row(x, c):
    """x[c] for a row number that is in range."""
    return ops.reshape(_cut(x, c, 1), shape=typeof(x).shape[1:])


def _set_row(x, c, row):
    return _put_at(x, c, row[None])


def _element(x, r, c):
    """x[r, c], one number of each batch element."""
    lanes = typeof(x).shape[-1]
    cut = ops.dynamic_slice(x, r, c, number(0), sizes=(1, 1, lanes))
    return ops.reshape(cut, shape=(lanes,))


def _numbers(x, axis: int = 0):
    return ops.iota(shape=typeof(x).shape, dtype=dtypes.int32, axis=axis)


def _from(first, last, body, state):
    """``body(r, state)`` for r = first, …, last - 1."""
    step = lambda r, s: body(ops.convert(r, dtype=dtypes.int32), s)  # noqa: E731
    return fori_loop(first, last, step, state)


def _pick(x, place, first=0):
    """x[place] in each batch element, for places from the first on: by choosing, which is faster than
    gathering numbers."""
    find = lambda r, found: xnp.where(place == r, _row(x, r), found)  # noqa: E731
    return _from(first, typeof(x).shape[0], find, xnp.zeros_like(x[0]))


def _permuted(x, order):
    """x[order] in each batch element, for permutations (n, batch)."""
    body = lambda r, y: _set_row(y, r, _pick(x, _row(order, r)))  # noqa: E731
    return loop(typeof(x).shape[0], body, xnp.zeros_like(x))


def _columns_permuted(x, order):
    """x[:, order] in each batch element."""
    n, _, lanes = typeof(x).shape
    column = lambda c: ops.dynamic_slice(x, *_zero(1), c, *_zero(1), sizes=(n, 1, lanes))  # noqa: E731

    def body(c, y):
        place = _row(order, c)
        find = lambda r, found: xnp.where(place == r, column(r), found)  # noqa: E731
        found = _from(0, n, find, xnp.zeros((n, 1, lanes), x.dtype))
        return ops.dynamic_update_slice(y, xnp.where(place < n, found, 0), *_zero(1), c, *_zero(1))

    return loop(n, body, xnp.zeros_like(x))


def _largest(x, c):
    """The place of the largest element of column c from row c on; NaN is larger than all else."""

    def compare(r, state):
        best, place = state
        size = modulus(_element(x, r, c))
        size = xnp.where(xnp.isnan(size), xnp.inf, size)
        more = size > best
        return xnp.where(more, size, best), xnp.where(more, r, place)

    rows, _, lanes = typeof(x).shape
    start = xnp.full(lanes, -1, dtypes.to_real(typeof(x).dtype)), xnp.zeros(lanes, np.int32)
    return _from(c, rows, compare, start)[1]


def _moved(row, place, c):
    """A row to copy. A bare copy LLVM unrolls, and then does not vectorise; a choice it does."""
    return xnp.where(place >= c, row, 0)


def _pivot(x, c):
    """(the pivot's place, its row, the row it changes places with, the pivot) of step c."""
    place = _largest(x, c)
    chosen = _pick(x, place, c)
    lead = _row(chosen, c)
    return place, chosen, _moved(_row(x, c), place, c), xnp.where(lead == 0, 1, lead)


def _subtract(x, c, first, pivot, row, sign: int):
    """x with its rows from the first on, pivot and row c exchanged, without their multiples of a
    row: as many as what they have in column c is of the pivot. Times the sign, if it is not zero,
    these multiples replace column c."""
    place, _, top, lead = pivot
    (n, _, lanes), own = typeof(x).shape, _row(top, c)

    def divide(r, factors):
        return _set_row(factors, r, xnp.where(place == r, own, _element(x, r, c)) / lead)

    factors = _from(first, n, divide, xnp.zeros((n, lanes), typeof(x).dtype))

    def subtract(r, x):
        factor = _cut(factors, r, 1)[:, None]
        x = _put_at(x, r, xnp.where(place == r, top, _cut(x, r, 1)) - factor * row)
        return ops.dynamic_update_slice(x, sign * factor, r, c, number(0)) if sign else x

    return _from(first, n, subtract, x)


def factors_of(x) -> tuple:
    """(packed, places) of matrices (n, n or more columns, batch): l, without its ones, and u in one,
    the further columns going along, and where the row of each pivot was."""
    n, _, lanes = typeof(x).shape

    def step(c, state):
        x, places = state
        place, chosen, *_ = pivot = _pivot(x, c)
        row = xnp.where(_numbers(chosen) > c, chosen, 0)
        x = _set_row(_subtract(x, c, c + 1, pivot, row, 1), c, _moved(chosen, place, c))
        return x, _set_row(places, c, place)

    return loop(n, step, (x, xnp.zeros((n, lanes), np.int32)))


def pivots_of(x) -> tuple:
    """(pivots, whether rows were exchanged an odd number of times); rows done with are forgotten."""
    n, _, lanes = typeof(x).shape

    def step(c, state):
        x, leads, odd = state
        place, chosen, *_ = pivot = _pivot(x, c)
        x = _subtract(x, c, c + 1, pivot, chosen, 0)
        return x, _set_row(leads, c, _row(chosen, c)), odd ^ (place != c)

    start = x, xnp.zeros((n, lanes), typeof(x).dtype), xnp.zeros(lanes, bool)
    return loop(n, step, start)[1:]


def _order(places):
    """The permutation of rows that these exchanges make."""

    def exchange(c, order):
        place = _row(places, c)
        moved = xnp.where(_numbers(order) == place, _row(order, c), order)
        return _set_row(moved, c, _pick(order, place))

    return loop(typeof(places).shape[0], exchange, _numbers(places))


def _inverse_order(places):
    order = _order(places)
    find = lambda r, found: xnp.where(_row(order, r) == _numbers(found), r, found)  # noqa: E731
    return loop(typeof(places).shape[0], find, xnp.zeros_like(places))


def _substitute(t, b, *, lower: bool, unit: bool = False):
    """x with t x = b for triangles (n, n, batch) and b (n, k, batch)."""
    n = typeof(b).shape[0]

    def step(i, x):
        c = i if lower else n - 1 - i
        take = lambda j, value: value - _element(t, c, j) * _row(x, j)  # noqa: E731
        value = _from(*((0, c) if lower else (c + 1, n)), take, _row(x, c))
        return _set_row(x, c, value if unit else value / _element(t, c, c))

    return loop(n, step, b)


def solve_directly(x, b) -> tuple:
    """(x with a x = b, pivots): right-hand sides (n, k, batch) are eliminated with the matrices."""
    n = typeof(b).shape[0]
    packed, _ = factors_of(xnp.concatenate([x, b], axis=1))
    return _substitute(packed, packed[:, n:], lower=False), _pivots(packed)


def _pivots(packed):
    return xnp.stack([packed[i, i] for i in range(typeof(packed).shape[0])])


def substitute(packed, places, b):
    """x with a x = b, interleaved (n, k, batch), from the factors of a."""
    y = _substitute(packed, _permuted(b, _order(places)), lower=True, unit=True)
    return _substitute(packed, y, lower=False)


def substitute_transposed(packed, places, b):
    """x with aᵀ x = b from the factors of a."""
    turned = xnp.swapaxes(packed, 0, 1)
    y = _substitute(turned, _substitute(turned, b, lower=True), lower=False, unit=True)
    return _permuted(y, _inverse_order(places))


def invert(x) -> tuple:
    """(the inverses of interleaved matrices (n, n, batch), pivots), by Gauss and Jordan, in place.

    Step c subtracts the pivot's row p from all other rows and puts in column c, from then on a unit
    vector's, what the identity matrix becomes. What comes out is the inverse of the matrix with its
    rows exchanged, so its columns are to be exchanged back. (Higham 2002, section 14.4)
    """
    n, _, lanes = typeof(x).shape

    def step(c, state):
        x, leads, places = state
        place, chosen, *_ = pivot = _pivot(x, c)
        own = xnp.where(_numbers(chosen) == c, 1, chosen)
        lead = _row(chosen, c)  # a zero leaves infinities behind, so that it is noticed
        x = _set_row(_subtract(x, c, 0, pivot, chosen, -1), c, own / lead)
        return x, _set_row(leads, c, lead), _set_row(places, c, place)

    zero = xnp.zeros((n, lanes), typeof(x).dtype)
    x, leads, places = loop(n, step, (x, zero, xnp.zeros((n, lanes), np.int32)))
    return _columns_permuted(x, _inverse_order(places)), leads


# Batches


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
    return in_chunks(pivots_of, a)


def solve(a, b, transposed: bool = False) -> tuple:
    """(x with a x = b or aᵀ x = b, pivots). Factors never leave the cache: that is faster than
    keeping them."""

    def turned(x, b):
        return solve_directly(xnp.swapaxes(x, 0, 1), b)

    return in_chunks(turned if transposed else solve_directly, a, b)


def inverse(a) -> tuple:
    """(inverses, pivots) of the matrices of a batch."""
    return in_chunks(invert, a)
