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

from .._core import Array, config, errors, findings, key_uses
from .._core.source import describe_where, user_frame


class KeyReuseError(errors.XcoreError, RuntimeError, TypeError):
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


# Between the user's line and a draw; other functions that draw in loops know what they do.
_DRAWING = tuple(f"xcore.{m}." for m in ("random", "_control", "_transforms", "numpy", "nn"))


def consume(who: str, stream, data, part_of=None) -> None:
    """Record that a function uses up a key; raise if that happened before.

    ``part_of`` is (array, index) for a key that was read out of an array of keys: the record then
    lives as long as that array, and a traced key is known by its place in it.
    """
    if not config.settings().watches_keys or findings.is_allowed("key"):
        return
    holder, part = (data, None) if part_of is None else part_of
    here = user_frame(2)
    if key_uses.note_use(key_uses.Use(who, stream, holder, part, here)) and findings.only_through(
        *_DRAWING
    ):
        raise findings.raised(_loop_error(who, here))
    traced_part = part is not None and type(data) is not Array
    _record(who, (stream.name, (id(holder), part) if traced_part else identity(data)), holder, here)


def _record(who: str, name, holder, here) -> None:
    with _lock:
        before = _uses.get(name)
        if before is not None and before.holder() is not None:
            raise findings.raised(_reuse_error(who, here, before))
        _uses[name] = _Use(who, here, holder)
        if len(_uses) % 1024 == 0:
            _forget_the_dead()


def _name_of(use: key_uses.Use):
    if use.part is None:
        return use.stream.name, identity(use.data)
    if type(use.data) is Array:
        return use.stream.name, np.asarray(use.data)[use.part].tobytes()
    return use.stream.name, (id(use.data), use.part)


def _count(use: key_uses.Use) -> None:
    """A use that a traced function makes when it is called."""
    here = user_frame(2)
    if key_uses.note_use(use._replace(where=here)) and findings.only_through(*_DRAWING):
        raise findings.raised(_loop_error(use.who, here))
    _record(use.who, _name_of(use), use.data, here)


def _take_back(use: key_uses.Use) -> None:
    with _lock:
        _uses.pop(_name_of(use), None)


key_uses.counting.append((_count, _take_back))


def forget(stream, data) -> None:
    """Start afresh: these words are a new key from here on."""
    if config.settings().watches_keys:
        key_uses.note_new_key(data)
        with _lock:
            _uses.pop((stream.name, identity(data)), None)


def _forget_the_dead() -> None:
    for name in [n for n, use in _uses.items() if use.holder() is None]:
        del _uses[name]


def _reuse_error(who: str, here, before: _Use) -> KeyReuseError:
    return KeyReuseError(
        f"xcore.random.{who}: this key was used before, by random.{before.who} "
        f"{describe_where(before.where)}; now it is used {describe_where(here)}. Numbers from one key "
        "are not independent: split it first, key, subkey = random.split(key), and give each use a "
        "part of its own; random.clone(key) says that the same numbers are wanted."
    )


def _loop_error(who: str, here) -> KeyReuseError:
    return KeyReuseError(
        f"xcore.random.{who}: this key is made outside of the loop that uses it {describe_where(here)}: "
        "each step draws the same numbers. Split it into one key for each step (scan over "
        "random.split(key, n), or carry the key along), or use random.fold_in(key, i)."
    )
