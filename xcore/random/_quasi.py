"""Quasi-random points: Sobol's and Halton's sequences, which fill the unit cube more evenly than chance.

Point i is a function of i, so any stretch of a sequence is computed for itself. With a key a sequence
is scrambled: each point alone is then uniform, and an average over the points is an unbiased estimate.
"""

from __future__ import annotations

import base64
import functools

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import fori_loop
from .._core import boundary, dtypes, errors, is_array_like, typeof
from ..numpy._promote import as_array, astype, check_shape
from ._joe_kuo import COUNTS, PACKED
from ._keys import consumed
from ._source import Source, floating
from ._staged import staged
from ._streams import UINT, like, shifted

_DIMENSIONS = 1 + sum(COUNTS)

# Sobol


def _numbers_of_dimensions(count: int):
    """(inner coefficients of the polynomial, [m₁, …, mₛ]) of the second and later dimensions."""
    packed = int.from_bytes(base64.b64decode(PACKED), "little")
    degrees = [degree for degree, n in enumerate(COUNTS, 1) for _ in range(n)]
    position = 0

    def take(n: int) -> int:
        nonlocal position
        position += n
        return packed >> (position - n) & ((1 << n) - 1)

    for degree in degrees[:count]:
        inner = take(degree - 1)
        yield inner, [take(i) << 1 | 1 for i in range(degree)]


def _directions_of(inner: int, m: list[int], bits: int) -> list[int]:
    """The direction numbers of a dimension: its polynomial's recurrence continues the list m."""
    s, m = len(m), list(m)
    for j in range(s, bits):
        new = m[j - s] ^ m[j - s] << s
        for i in range(1, s):
            new ^= (inner >> (s - 1 - i) & 1) * m[j - i] << i
        m.append(new)
    return [m[j] << (bits - 1 - j) for j in range(bits)]


@functools.lru_cache(16)
def _directions(dimensions: int, bits: int) -> np.ndarray:
    """What the j-th bit of a point's number contributes to a coordinate: integers [j, dimension]."""
    columns = [[1 << (bits - 1 - j) for j in range(bits)]]
    columns += [_directions_of(*found, bits) for found in _numbers_of_dimensions(dimensions - 1)]
    return np.array(columns, UINT[bits].type).T


def _scramble(source, directions, bits: int):
    """The directions times a random lower triangular matrix over {0, 1}, and a random shift.

    Matoušek, On the L2-discrepancy for anchored boxes (1998): every bit is changed by a random
    combination of the higher ones, so cubes of side 2^-k are mapped to cubes of side 2^-k.
    """
    for_matrix, for_shift = source.split(2)
    word = UINT[bits].type
    own = np.array([1 << (bits - 1 - r) for r in range(bits)], word)[:, None, None]
    above = np.array([((1 << r) - 1) << (bits - r) for r in range(bits)], word)[:, None, None]
    rows = for_matrix.bits((bits, 1, directions.shape[1]), bits) & above | own
    parity = ops.population_count(rows & directions) & 1
    return (parity * own).sum(axis=0, dtype=word), for_shift.bits((directions.shape[1],), bits)


def _as_fraction(words, dtype):
    """The upper bits of words as a number in [0, 1); nothing is rounded up to 1."""
    bits, kept = 8 * typeof(words).dtype.itemsize, dtypes.finfo(dtype).nmant + 1
    x = ops.convert(shifted(words, kept - bits), dtype=dtype)
    return ops.mul(x, like(x, 2.0**-kept))


@staged
def _sobol(arrays, n, dimensions, used, dtype, stream):
    """``used`` is the number of bits of the largest point number."""
    start, *data = arrays
    bits = 8 * dtype.itemsize
    directions, shift = xnp.asarray(_directions(dimensions, bits)), like(_column(start, n), 0)
    if data:
        directions, shift = _scramble(Source(stream, *data), directions, bits)
    number = _column(start, n)
    gray = number ^ shifted(number, -1)
    point = xnp.broadcast_to(shift, (n, dimensions)).astype(UINT[bits])
    for j in range(min(used, bits)):
        # minus one bit is a mask: all ones, or nothing
        mask = ops.convert(ops.neg(ops.and_(shifted(gray, -j), like(gray, 1))), dtype=UINT[bits])
        point = point ^ (mask & directions[j])
    return _as_fraction(point, dtype)


def _column(start, n: int):
    """The numbers of the points, in uint64, one below the other."""
    count = ops.iota(shape=(n, 1), dtype=dtypes.uint64, axis=0)
    return count + astype(start, dtypes.uint64)


# Halton


@functools.lru_cache(16)
def _primes(count: int) -> np.ndarray:
    """The first prime numbers."""
    limit = max(16, int(count * (np.log(count + 1) + np.log(np.log(count + 3)) + 1)))
    sieve = np.ones(limit, bool)
    sieve[:2] = False
    for i in range(2, int(limit**0.5) + 1):
        if sieve[i]:
            sieve[i * i :: i] = False
    return np.flatnonzero(sieve)[:count]


@staged
def _halton(arrays, n, dimensions, dtype, stream):
    """Digits of the numbers in prime bases, mirrored at the point; scrambled, digit c is (ac + b) mod p.

    Matoušek (1998), as above, with a for each base and place and b for each digit place.
    """
    start, *data = arrays
    base = xnp.asarray(_primes(dimensions).astype(np.uint64))
    precision = dtypes.finfo(dtype).nmant + 1
    source = Source(stream, *data) if data else None

    def digit(place, rest, scale, total):
        quotient = ops.div(rest, xnp.broadcast_to(base, rest.shape))
        c = rest - quotient * base
        if source is not None:
            multiply, add = source.child(astype(place, dtypes.uint32)).split(2)
            a = 1 + multiply.bits((dimensions,), 64) % (base - 1)
            c = (a * c + add.bits((dimensions,), 64) % base) % base
        scale = scale / base.astype(np.float64)
        return quotient, scale, total + c.astype(np.float64) * scale

    rest = xnp.broadcast_to(_column(start, n), (n, dimensions))
    state = rest, xnp.ones((dimensions,), np.float64), xnp.zeros((n, dimensions), np.float64)
    places = precision if data else 64
    total = fori_loop(0, places, lambda i, s: digit(i, *s), state)[2]
    top = 1 - float(dtypes.finfo(dtype).epsneg)
    return astype(xnp.minimum(total, top), dtype)


# Public


def _points(who: str, function, key, n, dim, start, dtype, largest: int, *known):
    [n, dim] = check_shape(f"random.{who}", (n, dim))
    if n < 0 or not 1 <= dim <= largest:
        raise errors.bad_argument(
            f"random.{who}", "n and dim", (n, dim), f"n ≥ 0 and 1 ≤ dim ≤ {largest}"
        )
    dtype = floating(who, dtype)
    work = dtype if dtype.itemsize >= 4 else dtypes.float32
    if not is_array_like(start) or np.shape(start) or (isinstance(start, int) and start < 0):
        raise errors.bad_argument(f"random.{who}", "start", start, "a non-negative integer")
    arrays = [as_array(f"random.{who}", start, "start")]
    if not dtypes.is_integer(typeof(arrays[0]).dtype):
        raise errors.bad_argument(f"random.{who}", "start", start, "a non-negative integer")
    stream = None
    if key is not None:
        found = consumed(who, key)
        arrays.append(found._data)
        stream = found._stream
    return astype(function(arrays, n, dim, *known, work, stream), dtype)


@boundary
def sobol(key, n, dim, *, start=0, dtype=None):
    """Points of Sobol's sequence in the unit cube: the first 2^k, and each next 2^k, are balanced.

    Integrals of smooth functions converge nearly as 1/n instead of 1/√n. Take a power of two of points.

    Args:
      key: a random key, which scrambles the points (a random linear map of the bits and a random shift), or
        None for the sequence itself, whose first point is 0.
      n: number of points.
      dim: dimension, up to 1,111.
      start: number of the first point.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.sobol(None, 4, 2)
    Array([[0.  , 0.  ],
           [0.5 , 0.5 ],
           [0.75, 0.25],
           [0.25, 0.75]], dtype=float32)
    """
    used = (
        (start + max(n, 1) - 1).bit_length()
        if isinstance(start, int) and isinstance(n, int)
        else 64
    )
    return _points("sobol", _sobol, key, n, dim, start, dtype, _DIMENSIONS, used)


@boundary
def halton(key, n, dim, *, start=0, dtype=None):
    """Points of Halton's sequence in the unit cube: digits of their numbers in the first primes, mirrored.

    Args:
      key: a random key, which scrambles the digits, or None for the sequence itself, whose first point is 0.
      n: number of points; unlike Sobol's sequence, any number is as good as a power of two.
      dim: dimension.
      start: number of the first point.
      dtype: floating dtype.

    >>> import xcore as xc
    >>> xc.random.halton(None, 3, 2)
    Array([[0.        , 0.        ],
           [0.5       , 0.33333334],
           [0.25      , 0.6666667 ]], dtype=float32)
    """
    return _points("halton", _halton, key, n, dim, start, dtype, 10**6)
