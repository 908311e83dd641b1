"""A key must be used once: who notices when it is used again (setting ``debug_key_reuse``).

Two draws from one key are the same numbers, and numbers drawn from a key that is also split are not
independent of those of its children. Outside transformations a key is known by the content of its
words, so a copy counts as the same key; inside one by its tracer. A record is kept as long as the
array that held the words lives: making a key anew from its seed, or ``clone``, gives a fresh one.
"""

from __future__ import annotations

import threading
import weakref

import numpy as np

from .._core import config, errors
from .._core.array import Array
from .._core.source import describe_where, user_frame


class KeyReuseError(errors.XcoreError, RuntimeError):
    """A random key was used a second time, under the setting ``debug_key_reuse``.

    >>> import xcore as xc
    >>> with xc.config.override(debug_key_reuse=True):
    ...     key = xc.random.key(0)
    ...     x, y = xc.random.normal(key), xc.random.normal(key)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    KeyReuseError: xcore.random.normal: this key was used before, by random.normal.

    Split the key first, one part for each use: ``k1, k2 = xc.random.split(key)``.
    """


class _Use:
    """A recorded use: by whom, where, and what keeps the record alive."""

    __slots__ = ("holder", "where", "who")

    def __init__(self, who: str, where, holder):
        self.who, self.where, self.holder = who, where, weakref.ref(holder)


_uses: dict = {}
_lock = threading.Lock()


def identity(data):
    """What makes a key the same as another: the words of an array, the identity of a tracer."""
    return np.asarray(data).tobytes() if type(data) is Array else id(data)


def consume(who: str, stream, data, part_of=None) -> None:
    """Record that a function uses up a key; raise if that happened before.

    ``part_of`` is (array, index) for a key that was read out of an array of keys: the record then
    lives as long as that array, and a traced key is known by its place in it.
    """
    if not config.settings().debug_key_reuse:
        return
    holder = data if part_of is None else part_of[0]
    traced_part = part_of is not None and type(data) is not Array
    name = (stream.name, (id(holder), part_of[1]) if traced_part else identity(data))
    here = user_frame(2)
    with _lock:
        before = _uses.get(name)
        if before is not None and before.holder() is not None:
            raise _reused(who, here, before)
        _uses[name] = _Use(who, here, holder)
        if len(_uses) % 1024 == 0:
            _forget_the_dead()


def forget(stream, data) -> None:
    """Start afresh: these words are a new key from here on."""
    if config.settings().debug_key_reuse:
        with _lock:
            _uses.pop((stream.name, identity(data)), None)


def _forget_the_dead() -> None:
    for name in [n for n, use in _uses.items() if use.holder() is None]:
        del _uses[name]


def _reused(who: str, here, before: _Use) -> KeyReuseError:
    return KeyReuseError(
        f"xcore.random.{who}: this key was used before, by random.{before.who} "
        f"{describe_where(before.where)}; now it is used {describe_where(here)}. Numbers from one key "
        "are not independent: split it first, key, subkey = random.split(key), and give each use a "
        "part of its own; random.clone(key) says that the same numbers are wanted."
    )
