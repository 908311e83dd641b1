"""Lengths at which transforms are fast: products of small primes."""

from __future__ import annotations

from .._core import errors

_PRIMES = {False: (2, 3, 5, 7, 11), True: (2, 3, 5)}


def _products(limit: int, primes) -> set:
    """All products of primes up to a limit."""
    found = {1}
    for p in primes:
        fresh = found
        while fresh := {n * p for n in fresh if n * p <= limit}:
            found = found | fresh
    return found


def _checked(who: str, target) -> int:
    if not isinstance(target, int) or target < 1:
        raise errors.bad_argument(who, "target", target, "an int of 1 or more")
    return target


def next_fast_len(target: int, real: bool = False) -> int:
    """The next length, not below the target, whose transform is fast: a product of small primes.

    Args:
      target: least length.
      real: whether real numbers are to be transformed.

    >>> import xcore.fft
    >>> xcore.fft.next_fast_len(1021), xcore.fft.next_fast_len(13)
    (1024, 14)
    """
    target = _checked("fft.next_fast_len", target)
    return min(n for n in _products(2 * target, _PRIMES[bool(real)]) if n >= target)


def prev_fast_len(target: int, real: bool = False) -> int:
    """The last length, not above the target, whose transform is fast: a product of small primes.

    Args:
      target: greatest length.
      real: whether real numbers are to be transformed.

    >>> import xcore.fft
    >>> xcore.fft.prev_fast_len(1021), xcore.fft.prev_fast_len(13)
    (1008, 12)
    """
    return max(_products(_checked("fft.prev_fast_len", target), _PRIMES[bool(real)]))
