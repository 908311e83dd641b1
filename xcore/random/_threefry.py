"""Threefry: adding, rotating and exclusive or, as in the block cipher Threefish.

Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (SC11). Twenty rounds are the
authors' choice with a margin; no test is known to fail from thirteen on.
"""

from __future__ import annotations

from functools import reduce

from .._core import dtypes
from ._hash import Unsigned, hash_op, public_hash

_PARITY = 0x1BD11BDA  # the last key word is the exclusive or of the others and this
# By how much a round rotates, for each pair of words it mixes; repeats after eight rounds.
_ROTATIONS = {
    2: ((13,), (15,), (26,), (6,), (17,), (29,), (16,), (24,)),
    4: ((10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20)),
}
# Which words an even and an odd round mix.
_PAIRS = {2: (((0, 1),),) * 2, 4: (((0, 1), (2, 3)), ((0, 3), (2, 1)))}


def _threefry(ctx, shape, key, counter, rounds: int) -> list:
    u = Unsigned(ctx, shape, dtypes.uint32)
    n = len(counter)
    key = [*key, reduce(u.xor, key, u.constant(_PARITY))]
    # A counter is mostly the number of a loop's turn, and sums with it in them would be that to LLVM
    # through all rounds: it looks for cheaper ways to step them, for as long as all the rest takes.
    # Of two integers in a row one is even, which the compiler does not know: exclusive or hides.
    zero = u.and_(u.mul(key[0], u.add(key[0], u.constant(1))), u.constant(1))
    x = [u.add(u.xor(c, zero), k) for c, k in zip(counter, key)]
    for r in range(rounds):
        for (i, j), by in zip(_PAIRS[n][r % 2], _ROTATIONS[n][r % 8], strict=True):
            x[i] = u.add(x[i], x[j])
            x[j] = u.xor(u.rotate(x[j], by), x[i])
        if r % 4 == 3:
            turn = r // 4 + 1
            x = [u.add(w, key[(turn + i) % (n + 1)]) for i, w in enumerate(x)]
            x[-1] = u.add(x[-1], u.constant(turn))
    return x


_WHAT = "Threefry with {n} words of 32 bits: a hash of a counter under a key."
threefry2x32_op = hash_op("threefry2x32", 2, 2, _threefry)
threefry4x32_op = hash_op("threefry4x32", 4, 4, _threefry)
threefry2x32 = public_hash(threefry2x32_op, 2, 2, 20, _WHAT.format(n=2))
threefry4x32 = public_hash(threefry4x32_op, 4, 4, 20, _WHAT.format(n=4))
