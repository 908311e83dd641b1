"""How much is worked on at once, so that it stays in a core's cache."""

from __future__ import annotations

CACHE = 1 << 18  # bytes of the batch elements that are worked on together
WIDTHS = (16, 256)  # the least and the largest number of them


def most_at_once(count: int, size: int) -> int:
    """How many of ``count`` batch elements, of ``size`` bytes each, to work on together."""
    fits = 1 << max(CACHE // max(size, 1), 1).bit_length() - 1
    return min(count, max(WIDTHS[0], min(WIDTHS[1], fits)))
