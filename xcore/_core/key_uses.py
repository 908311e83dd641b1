"""Uses of random keys while functions are traced, so that each later call counts as a use.

A traced function is not run again: what it does to the keys that it is given, or that it refers to,
happens whenever its program runs. A loop does it in each step, and of branches one is run.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple


class Use(NamedTuple):
    """A use of a key: ``part`` is None, or the key's place in the array of keys ``data``."""

    who: str
    stream: object
    data: object
    part: object
    where: object


class _Log(threading.local):
    def __init__(self) -> None:
        self.frames: list[Any] = []  # of the functions being traced: their Tracing


_log = _Log()
counting: list[Any] = []  # (count a use, take it back): of random, further right


class Tracing:
    """``with Tracing(loop) as uses:`` collects the uses of keys while a function is traced.

    They are uses by the function around it too, unless it is an ``alternative`` to others.
    """

    __slots__ = ("alternative", "fresh", "loop", "traces", "uses")

    def __init__(self, loop: bool = False, alternative: bool = False) -> None:
        self.loop, self.alternative = loop, alternative
        self.uses: list[Use] = []
        self.traces: list[Any] = []
        self.fresh: list[
            Any
        ] = []  # keys made in it, and copies of which the user says that they are meant

    def __enter__(self) -> list[Use]:
        _log.frames.append(self)
        return self.uses

    def __exit__(self, *exc: object) -> None:
        _log.frames.pop()
        if _log.frames and not self.alternative:
            _log.frames[-1].uses.extend(self.uses)


def begin_trace(trace: Any) -> None:
    """A trace begins: values that it makes are new in each step of a loop around it."""
    if _log.frames:
        _log.frames[-1].traces.append(trace)


def note_new_key(data: Any) -> None:
    """A key was made or copied: where it is used in a loop, it is used once in each step."""
    if _log.frames:
        _log.frames[-1].fresh.append(data)


def note_use(use: Use) -> bool:
    """Remember a use; True if the same key is used in each step of a loop."""
    if not _log.frames:
        return False
    _log.frames[-1].uses.append(use)
    inner: list[Any] = []
    for frame in reversed(_log.frames):
        inner += frame.traces
        if any(x is use.data for x in frame.fresh):
            return False
        if frame.loop and _is_from_outside(use.data, inner):
            return True
    return False


def _is_from_outside(data: Any, inner: Any) -> bool:
    """Whether a value was there before the traces of a loop began. (Of batch elements nothing is known.)"""
    owner = getattr(data, "owner", None)
    return owner is None or (hasattr(owner, "eqns") and not any(t is owner for t in inner))


def repeat(uses: Any, own: dict[Any, Any], traced_now: bool) -> None:
    """Count the uses of a traced function once more; ``own`` maps ids of its tracers to values.

    What it uses of outside was counted when it was traced, if that was now.
    """
    for use in uses:
        value = own.get(id(use.data))
        if value is None and not traced_now and getattr(use.data, "owner", None) is None:
            value = use.data
        if value is not None:
            for count, _ in counting:
                count(use._replace(data=value))


def undo_uses(uses: Any) -> None:
    """Forget uses: those of a branch when the next one is traced."""
    for use in uses:
        for _, forget in counting:
            forget(use)


def count_once(uses: Any) -> None:
    """Count uses, each key once: those of the branches, of which one is run."""
    seen = {(id(u.data), u.part): u for u in uses}
    for use in seen.values():
        for count, _ in counting:
            count(use)
