"""The two generators: what they give for a key and a number.

Element i of a stream is a function of (key, i). A number is a pair (hi, lo) of uint32 arrays, the
halves of a 64-bit integer; a key is a pair of 0-d words.

            Threefry-2x32, 20 rounds                Philox-4x32, 10 rounds
=========   =====================================   ==============================================
element i   block i, its words combined by xor      word i of the sequence of blocks 0, 1, 2, …
64 bits     both words of block i, high word first  words 2i and 2i + 1, low word first
child i     block i                                 half of block i with fourth counter word 1
pair i, t   block i of the counters ≥ 2^63 + t·2^48  block i with third word t, fourth word 2
=========   =====================================   ==============================================

Elements are what a key is drawn for; children are the keys it is split into; pairs are two words
that no other attempt t for the same element sees. Threefry's elements and children are those of
``jax.random`` (in its default, partitionable form), Philox's elements are Random123's blocks.

Without the setting threefry_partitionable elements and children of Threefry are words of one list, whose
length counts: the counters 0, 1, …, n-1, in two halves, are the two words of n/2 blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _ops as ops
from .._core import ArrayType, config, dtypes, errors, typeof
from ._hash import pick, spread
from ._philox import philox4x32_op
from ._threefry import threefry2x32_op

UINT = {8: dtypes.uint8, 16: dtypes.uint16, 32: dtypes.uint32, 64: dtypes.uint64}


class Stream(NamedTuple):
    """A generator. ``elements(key, number, bits)``, ``child(key, number)`` and
    ``pair(key, number, attempt, bits)`` are what the table above says."""

    name: str
    tag: str
    elements: Callable
    child: Callable
    pair: Callable
    fine: bool  # normal numbers from all bits of a word, rather than from those that jax uses

    def __repr__(self):
        return self.name


# Numbers


def like(x, value: Any) -> Any:
    """A constant of the type of x."""
    return ops.full_like_type(typeof(x).strong(), value)


def shifted(x, n: int):
    """x times 2**n, or divided by 2**-n, without the bits that fall off."""
    return ops.shift_left(x, like(x, n)) if n >= 0 else ops.shift_right_logical(x, like(x, -n))


def halves(x):
    """An integer array as a pair (hi, lo) of uint32; negative ones in two's complement.

    Integers of 32 bits and less have no upper half, so -1 is 2**32 - 1 as it is in jax.
    """
    if typeof(x).dtype.itemsize < 8:
        lo = ops.convert(x, dtype=dtypes.uint32)
        return like(lo, 0), lo
    wide = ops.convert(x, dtype=dtypes.uint64)
    hi = ops.convert(shifted(wide, -32), dtype=dtypes.uint32)
    return hi, ops.convert(wide, dtype=dtypes.uint32)


def joined(lo, hi):
    """The 64-bit integers of which these are the halves."""
    lo, hi = (ops.convert(w, dtype=dtypes.uint64) for w in (lo, hi))
    return ops.or_(lo, shifted(hi, 32))


def numbers(shape: tuple, axis: int = 0):
    """0, 1, 2, … along an axis, as a pair."""
    wide = shape[axis] > 2**32
    count = ops.iota(shape=shape, dtype=dtypes.uint64 if wide else dtypes.uint32, axis=axis)
    return halves(count)


def _hash(op, key, counter, rounds: int) -> list:
    shape = typeof(counter[0]).shape
    return op(*[spread(k, shape) for k in key], *counter, rounds=rounds)


def _narrowed(word, bits: int):
    return word if bits == 32 else ops.convert(word, dtype=UINT[bits])


# Threefry


def _threefry(key, number) -> list:
    return _hash(threefry2x32_op, key, number, rounds=20)


def _threefry_elements(key, number, bits: int):
    first, second = _threefry(key, number)
    if bits == 64:
        return joined(lo=second, hi=first)
    return _narrowed(ops.xor(first, second), bits)


def _threefry_pair(key, number, attempt, bits: int):
    """Numbers stay below 2^48, attempts below 2^15; the top bit keeps pairs from elements."""

    def block(t):
        high = spread(ops.or_(shifted(t, 16), np.uint32(1 << 31)), typeof(number[0]).shape)
        return _threefry(key, (ops.or_(number[0], high), number[1]))

    if bits == 32:
        return block(attempt)
    twice = shifted(attempt, 1)
    return [joined(*block(twice)), joined(*block(ops.add(twice, np.uint32(1))))]


def _listed(key, count: int):
    """The list of so many words, below 2^32; where they are odd in number, the last counter is 0."""
    half = -(-count // 2)
    first = ops.iota(shape=(half,), dtype=dtypes.uint32, axis=0)
    second = ops.add(first, like(first, half))
    if count % 2:
        second = ops.select(ops.eq(second, like(first, count)), like(first, 0), second)
    words = ops.concatenate(*_threefry(key, (first, second)), axis=0)
    return ops.slice(words, start=(0,), limit=(count,), strides=(1,))


def _listed_elements(key, size: int, bits: int):
    words = _listed(key, -(-size * bits // 32))
    if bits == 32:
        return words
    if bits == 64:
        high, low = (
            ops.slice(words, start=(i * size,), limit=((i + 1) * size,), strides=(1,))
            for i in range(2)
        )
        return joined(lo=low, hi=high)
    parts = (*typeof(words).shape, 32 // bits)
    place = ops.iota(shape=parts, dtype=dtypes.uint32, axis=1)
    words = ops.broadcast_in_dim(words, shape=parts, dims=(0,))
    words = ops.shift_right_logical(words, ops.mul(place, like(place, bits)))
    flat = ops.reshape(_narrowed(words, bits), shape=(math.prod(parts),))
    return ops.slice(flat, start=(0,), limit=(size,), strides=(1,))


# Philox


def _philox(key, number, third: int, fourth: int) -> list:
    shape = typeof(number[0]).shape
    tail = [spread(np.uint32(w) if isinstance(w, int) else w, shape) for w in (third, fourth)]
    return _hash(philox4x32_op, key, (number[1], number[0], *tail), rounds=10)


def _philox_elements(key, number, bits: int):
    hi, lo = number
    groups = 1 if bits == 64 else 2  # the exponent of the number of elements in a block
    block = shifted(hi, -groups), ops.or_(shifted(lo, -groups), shifted(hi, 32 - groups))
    words = _philox(key, block, 0, 0)
    position = ops.and_(lo, like(lo, 2**groups - 1))
    if bits == 64:
        return joined(pick(words[::2], position), pick(words[1::2], position))
    return _narrowed(pick(words, position), bits)


def _philox_pair(key, number, attempt, bits: int):
    words = _philox(key, number, attempt, 2)
    return words[:2] if bits == 32 else [joined(*words[:2]), joined(*words[2:])]


STREAMS = {
    s.name: s
    for s in (
        Stream("threefry2x32", "fry", _threefry_elements, _threefry, _threefry_pair, False),
        Stream(
            "philox4x32", "philox", _philox_elements,
            lambda key, number: _philox(key, number, 0, 1)[:2], _philox_pair, True,
        ),
    )
}  # fmt: skip
_ALIASES = {"threefry": "threefry2x32", "threefry2x32-20": "threefry2x32",
            "philox": "philox4x32", "philox4x32-10": "philox4x32"}  # fmt: skip


def stream_named(who: str, name) -> Stream:
    """The generator of a name; None is the one of the setting default_prng_impl."""
    if name is None:
        name = config.settings().default_prng_impl
    found = STREAMS.get(_ALIASES.get(str(name), str(name)))
    if found is None:
        known = ", ".join(map(repr, STREAMS))
        raise errors.bad_argument(f"random.{who}", "impl", name, f"one of {known}")
    return found


# Draws


def is_listed(stream: Stream) -> bool:
    """Whether words depend on how many there are."""
    return stream.name == "threefry2x32" and not config.settings().threefry_partitionable


def elements(stream: Stream, key, shape: tuple, bits: int):
    """The first elements of a stream, in the shape asked for."""
    size = math.prod(shape)
    if not size:
        return ops.zeros(ArrayType(shape, UINT[bits]))
    if is_listed(stream):
        return ops.reshape(_listed_elements(key, size, bits), shape=shape)
    return ops.reshape(stream.elements(key, numbers((size,)), bits), shape=shape)


def child_of(stream: Stream, key, number, axis: int = -1):
    """Words of children whose numbers are given twice, along an axis of length 2."""
    return pick(stream.child(key, number), _place(number, axis))


def _place(number, axis: int):
    shape = typeof(number[0]).shape
    return ops.iota(shape=shape, dtype=dtypes.uint32, axis=axis % len(shape))


def children(stream: Stream, key, shape: tuple):
    """The first children of a key: an array of key words with the last axis of length 2."""
    count = math.prod(shape)
    listed = is_listed(stream) and count > 0
    words = _listed(key, 2 * count) if listed else child_of(stream, key, numbers((count, 2)))
    return ops.reshape(words, shape=(*shape, 2))


def kept_children(stream: Stream, key, number):
    """Words of children whose numbers are given four times, along two last axes of length 2.

    Other hashes XLA would repeat in each loop that draws from a child, for they are cheap, if long.
    A sum it computes once; here one of a word and nothing.
    """
    words = child_of(stream, key, number, -2)
    first = ops.eq(_place(number, -1), like(words, 0))
    return ops.reduce_sum(ops.select(first, words, like(words, 0)), axes=(typeof(words).ndim - 1,))
