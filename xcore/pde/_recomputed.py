"""Loops over time whose reverse mode keeps few states and computes the others again.

n steps become b runs of n / b steps, each of them likewise, d times: on the way back no more than d b states are there
at once, with b = n^(1/d), and each is computed d times more. (Griewank 1992, "Achieving logarithmic growth of temporal
and spatial complexity in reverse automatic differentiation"; here all runs of a level are of one length, so that they
are loops.)
"""

from __future__ import annotations

from .. import numpy as xnp
from .._control import scan
from .._control.checkpoint import checkpoint
from .._core import errors, tree

_DEEPEST = 8


def branches(n: int, kept: int | None) -> int:
    """Into how many runs n steps are cut such that about ``kept`` states are there at once."""
    if kept is None:
        return n
    for depth in range(1, _DEEPEST):
        b = -int(-(n ** (1 / depth)) // 1)
        if depth * b <= kept:
            return b
    return 2


def steps_kept(f, carry, length: int, kept: int | None):
    """``scan(f, carry, None, length)`` whose reverse mode keeps about ``kept`` carries; all for None."""
    if kept is None or length < 1:
        return scan(f, carry, None, length=length)
    return _nested(checkpoint(f, prevent_cse=False), carry, length, branches(length, kept))


def _nested(f, carry, length: int, b: int):
    if length <= b or b < 2:
        return scan(f, carry, None, length=length)
    part = 1
    while part * b < length:
        part *= b
    whole, rest = divmod(length, part)

    def some(carry, _):
        return _nested(f, carry, part, b)

    carry, rows = scan(checkpoint(some, prevent_cse=False), carry, None, length=whole)
    rows = tree.map(lambda x: x.reshape(whole * part, *x.shape[2:]), rows)
    if not rest:
        return carry, rows
    carry, more = _nested(f, carry, rest, b)
    return carry, tree.map(lambda x, y: xnp.concatenate([x, y]), rows, more)


def check_kept(who: str, kept) -> None:
    """Raises where it is no number of states."""
    if kept is not None and (isinstance(kept, bool) or not isinstance(kept, int) or kept < 2):
        want = "None, or a whole number of states to keep, 2 or more"
        raise errors.bad_argument(who, "checkpoints", kept, want)
