"""Rejection sampling without a loop per element.

A proposal is a function of (key, element, attempt), and an element's value is its first accepted
one. So elements may be tried in any order and company, and the numbers come out the same. A small
draw tries all elements until the last is accepted. A large one makes two attempts for every element
in one pass, then gathers the few that are left, tries those until they are done and puts them back.
"""

from __future__ import annotations

import math

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import while_loop
from .._core import ArrayType, dtypes, typeof
from ._source import Source, fit
from ._streams import halves, joined, like, numbers

_LARGE = 1 << 16  # elements from which on the gathering pays
_HEAD = 2  # attempts of a large draw for every element
_LANES = 32  # elements whose marks share a word


def proposal(value, accepted):
    """What a proposal returns: the value, and -inf for "try again".

    One array, not two, so that XLA makes one loop of the whole attempt.
    """
    return ops.select(accepted, value, like(value, -np.inf))


def _pair_once(source: Source, number, t, bits: int) -> list:
    """The two words of ``Source.pair``, which XLA computes once: sums of a word and nothing."""
    shape = (2, *typeof(number[0]).shape)
    number = [ops.broadcast_in_dim(half, shape=shape, dims=(1,)) for half in number]
    first, second = source.pair(number, t, bits)
    upper = ops.eq(ops.iota(shape=shape, dtype=dtypes.uint32, axis=0), like(first, 0))
    zero = like(first, 0)
    both = joined(ops.select(upper, zero, second), ops.select(upper, first, zero))
    return list(halves(ops.reduce_sum(both, axes=(0,))))


def _unfinished(value):
    return ops.eq(value, like(value, -np.inf))


def first_accepted(
    propose, source: Source, parameters, shape: tuple, dtype, bits: int | None = None, apart=False
):
    """For each element the first value that is accepted.

    Args:
      propose: function (word, word, *parameters) -> ``proposal(values, accepted)``, of flat arrays
        and 0-d parameters. It must accept where a parameter is NaN, or the loop has no end.
      parameters: arrays that broadcast to the shape.
      dtype: of the values.
      bits: the width of the words, that of the dtype unless given.
      apart: whether the words are kept in memory: for proposals so long that XLA makes several loops
        of them, with a hash in each.
    """
    size, bits = math.prod(shape), bits or 8 * dtype.itemsize
    pair = _pair_once if apart and bits == 32 else Source.pair
    flat = [ops.reshape(fit(p, shape), shape=(size,)) if typeof(p).shape else p for p in parameters]

    def attempt(number, t, parameters, nothing=None):
        mine = source if nothing is None else source.with_opaque_zero(nothing)
        return propose(*pair(mine, number, t, bits), *parameters)

    solve = _attempt_all if size < _LARGE else _attempt_remaining
    return ops.reshape(solve(attempt, flat, size, dtype), shape=shape)


def _attempt_until_accepted(attempt, number_of, parameters, value, start: int):
    """Attempts from number ``start`` on, until every element has a value."""

    def step(state):
        t, value = state
        proposed = attempt(number_of(), t, parameters, ops.shift_right_logical(t, like(t, 31)))
        return ops.add(t, np.uint32(1)), ops.select(_unfinished(value), proposed, value)

    return while_loop(
        lambda state: xnp.any(_unfinished(state[1])), step, (np.uint32(start), value)
    )[1]


def _not_accepted(size: int, dtype):
    return ops.full_like_type(ArrayType((size,), dtype), -np.inf)


def _attempt_all(attempt, parameters, size: int, dtype):
    return _attempt_until_accepted(
        attempt, lambda: numbers((size,)), parameters, _not_accepted(size, dtype), 0
    )


def _attempt_remaining(attempt, parameters, size: int, dtype):
    number = numbers((size,))
    value = attempt(number, np.uint32(0), parameters)
    for t in range(1, _HEAD):
        value = ops.select(_unfinished(value), attempt(number, np.uint32(t), parameters), value)
    left = Marks(_unfinished(value))
    capacity = max(256, size // 128)

    def some(state):
        """The next unfinished elements: gathered, tried to the end, put back."""
        start, value = state
        rank = start + ops.iota(shape=(capacity,), dtype=dtypes.int32, axis=0)
        where = left.position(rank)
        mine = [p[where] if typeof(p).shape else p for p in parameters]
        beyond = rank >= left.total
        waiting = ops.select(
            beyond, ops.zeros(ArrayType((capacity,), dtype)), _not_accepted(capacity, dtype)
        )
        found = _attempt_until_accepted(attempt, lambda: halves(where), mine, waiting, _HEAD)
        put = xnp.where(beyond, size, where)
        return start + capacity, value.at[put].set(found, mode="drop", unique_indices=True)

    return while_loop(lambda state: state[0] < left.total, some, (np.int32(0), value))[1]


class Marks:
    """Where a long boolean array is true: the position of the k-th mark, for many k at once.

    Marks are packed 32 to a word, whose counts are summed up: then the word of a mark is found by
    bisection among the sums, and its place in the word by bisection among the bits.
    """

    def __init__(self, marked):
        size = typeof(marked).size
        rows = -(-size // _LANES)
        marked = ops.pad(
            marked, np.bool_(False), low=(0,), high=(rows * _LANES - size,), interior=(0,)
        )
        marked = ops.reshape(marked, shape=(rows, _LANES))
        lane = ops.iota(shape=(rows, _LANES), dtype=dtypes.uint32, axis=1)
        bit = ops.shift_left(ops.convert(marked, dtype=dtypes.uint32), lane)
        self.words = ops.reduce_sum(bit, axes=(1,))
        counts = ops.convert(ops.population_count(self.words), dtype=dtypes.int32)
        self.until = xnp.cumsum(counts)
        self.total = self.until[-1]

    def position(self, rank):
        """The positions of the marks of these ranks; anything for ranks from ``total`` on."""
        row = self._row(rank)
        word = self.words[row]
        before = self.until[row] - ops.convert(ops.population_count(word), dtype=dtypes.int32)
        return row * _LANES + ops.convert(_bit_of_rank(word, rank - before), dtype=dtypes.int32)

    def _row(self, rank):
        """The first row up to whose end there are more than ``rank`` marks."""
        rows = typeof(self.until).size

        def halve(state):
            step, low = state
            probe = low + step
            few = self.until[xnp.minimum(probe, rows) - 1] <= rank
            return step // 2, xnp.where(few & (probe < rows), probe, low)

        start = np.int32(1 << (rows.bit_length() - 1)), xnp.zeros_like(rank)
        return while_loop(lambda state: state[0] > 0, halve, start)[1]


def _bit_of_rank(word, rank):
    """The position of the rank-th set bit of a word."""
    place = like(word, 0)
    rank = ops.convert(rank, dtype=dtypes.uint32)
    for step in (16, 8, 4, 2, 1):
        window = ops.and_(ops.shift_right_logical(word, place), like(word, (1 << step) - 1))
        count = ops.population_count(window)
        above = ops.ge(rank, count)
        rank = ops.select(above, ops.sub(rank, count), rank)
        place = ops.select(above, ops.add(place, like(place, step)), place)
    return place
