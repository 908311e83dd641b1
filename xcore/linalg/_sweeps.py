"""Elimination of tridiagonal systems, row by row through many of them at once.

The systems are interleaved: what belongs to one row lies together, one number of each system, as in
``_lanes``. Steps are short, so all of them are one kernel.
"""

from __future__ import annotations

import numpy as np

from .. import numpy as xnp
from .._core import typeof
from ._arguments import loop, modulus
from ._elimination import _put, _taken
from ._lanes import in_chunks


def _upwards(n: int, step, state):
    return loop(n, lambda j, s: step(np.int32(n - 1) - j, s), state)


def _plain(b, lower, diagonal, upper):
    """(x, whether a pivot vanishes) without exchanges: Thomas' algorithm. b is (n, k, batch)."""
    n = typeof(b).shape[0]

    def forward(i, state):
        c, d, every_c, every_d, bad = state
        low = xnp.where(i == 0, 0, _taken(lower, i))
        pivot = _taken(diagonal, i) - low * c
        c = xnp.where(i == n - 1, 0, _taken(upper, i)) / pivot
        d = (_taken(b, i) - low * d) / pivot
        return c, d, _put(every_c, i, c), _put(every_d, i, d), bad | (pivot == 0)

    def backward(i, state):
        x, every = state
        x = _taken(every, i) - _taken(factors, i) * x
        return x, _put(every, i, x)

    zero = xnp.zeros_like(diagonal[0])
    start = zero, xnp.zeros_like(b[0]), xnp.zeros_like(diagonal), xnp.zeros_like(b), zero != 0
    _, last, factors, every, bad = loop(n, forward, start)
    return _upwards(n, backward, (xnp.zeros_like(last), every))[1], bad


def _pivoted(b, lower, diagonal, upper):
    """The same with exchanges of neighbouring rows where the lower one has the larger number.

    Two rows are at hand: what is left of one, (d, u, 0), and the next one, (l, d', u'). The one that
    begins with the larger number is done with, and eliminates the other. (LAPACK's gtsv)
    """
    n = typeof(b).shape[0]

    def forward(i, state):
        (d, u, r), tops, bad = state
        after = xnp.minimum(i + 1, np.int32(n - 1))
        there = i + 1 < n
        low = xnp.where(there, _taken(lower, after), 0)
        own = xnp.where(after + 1 < n, _taken(upper, after), 0)
        next_d, next_r = _taken(diagonal, after), _taken(b, after)
        turn = modulus(low) > modulus(d)
        pivot, factor = xnp.where(turn, low, d), xnp.where(turn, d, low)
        first, second = xnp.where(turn, next_d, u), xnp.where(turn, own, 0)
        factor = factor / pivot
        right = xnp.where(turn, next_r, r)
        left = (
            xnp.where(turn, u, next_d) - factor * first,
            xnp.where(turn, 0, own) - factor * second,
            xnp.where(turn, r, next_r) - factor * right,
        )
        rows = pivot, first, second, right
        tops = tuple(_put(x, i, y) for x, y in zip(tops, rows, strict=True))
        return left, tops, bad | (pivot == 0)

    def backward(i, state):
        near, far, every = state
        x = _taken(every, i) - _taken(first, i) * near - _taken(second, i) * far
        x = x / _taken(pivots, i)
        return x, near, _put(every, i, x)

    zero = xnp.zeros_like(diagonal)
    start = diagonal[0], (upper[0] if n > 1 else zero[0]), b[0]
    state = start, (zero, zero, zero, xnp.zeros_like(b)), zero[0] != 0
    _, (pivots, first, second, every), bad = loop(n, forward, state)
    zero = xnp.zeros_like(b[0])
    return _upwards(n, backward, (zero, zero, every))[2], bad


def solve_many(lower, diagonal, upper, b, pivoting: bool):
    """(x with t x = b, whether a pivot vanishes) for diagonals (..., n) and columns b (..., n, k)."""
    sweep = _pivoted if pivoting else _plain
    return in_chunks(sweep, b, lower, diagonal, upper, narrowest=32)
