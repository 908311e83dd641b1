"""Philox: multiplication of 32-bit words into 64 bits, the halves exchanged.

Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (SC11). Ten rounds are the
authors' choice with a margin; no test is known to fail from seven on.
"""

from __future__ import annotations

from .._core import dtypes
from ._hash import Unsigned, hash_op, public_hash

_MULTIPLIERS = {2: (0xD256D193,), 4: (0xD2511F53, 0xCD9E8D57)}
_WEYL = (0x9E3779B9, 0xBB67AE85)  # added to the key words in each round: golden ratio, √3 - 1
_LOW = 0xFFFFFFFF


def _philox(ctx, shape, key, counter, rounds: int) -> list:
    """Words stay in 64-bit lanes, with rubbish in the upper half, which each product masks away.

    Processors multiply the lower halves of 64-bit lanes in one instruction; narrowing and widening
    the words between rounds would cost as much as the products do.
    """
    u = Unsigned(ctx, shape, dtypes.uint64)
    narrow = Unsigned(ctx, shape, dtypes.uint32)
    low = u.constant(_LOW)
    factors = [u.constant(m) for m in _MULTIPLIERS[len(counter)]]
    x = [u.of(c) for c in counter]
    for r in range(rounds):
        bumped = [narrow.add(k, narrow.constant(r * w & _LOW)) for k, w in zip(key, _WEYL)]
        products = [u.mul(u.and_(a, low), m) for a, m in zip(x[::2], factors)]
        highs = [u.shift_right(p, 32) for p in products]
        x = _mixed_words(u, x, [u.of(k) for k in bumped], products, highs)
    return [narrow.of(w) for w in x]


def _mixed_words(u: Unsigned, x, key, lows, highs) -> list:
    """The words after a round: each upper half is mixed into the word of the other product."""
    out = []
    for i, low in enumerate(reversed(lows)):
        high = highs[len(highs) - 1 - i]
        out += [u.xor(u.xor(high, x[2 * i + 1]), key[i]), low]
    return out


_WHAT = "Philox with {n} words of 32 bits: a hash of a counter under a key."
philox2x32_op = hash_op("philox2x32", 1, 2, _philox)
philox4x32_op = hash_op("philox4x32", 2, 4, _philox)
philox2x32 = public_hash(philox2x32_op, 1, 2, 10, _WHAT.format(n=2))
philox4x32 = public_hash(philox4x32_op, 2, 4, 10, _WHAT.format(n=4))
