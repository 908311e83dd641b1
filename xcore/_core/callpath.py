"""The fast path of a fused function: look up by the identity of interned types, execute, wrap.

Python calls a function fastest that has neither ``*args`` nor ``**kwargs``. So one is written out
for each number of arrays and of static arguments, and every function with these numbers gets a copy
of its code under its own parameter names: keywords and defaults then cost nothing.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import CodeType
from typing import Any

from .._backend.client import RuntimeFailure
from .array import Array
from .compile import translate
from .config import get_state
from .source import hide_frames

_VARIES = inspect.CO_VARARGS


def call_path(general: Any, f: Callable[..., Any]):
    """The function that users call in front of ``general``, with the parameters of ``f``."""
    plain = inspect.unwrap(f)  # f may be decorated, or differentiated by a rule of its own
    code = plain.__code__
    names = _names(code)
    varies = bool(code.co_flags & _VARIES)
    positional = reversed(names[: code.co_argcount])
    known = dict(zip(positional, reversed(plain.__defaults__ or ()), strict=False))
    known |= plain.__kwdefaults__ or {}
    statics = () if varies else names[general.count :]
    make = _maker(general.count, len(statics), varies)
    call = make(general, general.f, general.fast.get, general.results, *map(known.get, statics))
    call.__code__ = call.__code__.replace(co_name=f.__name__)
    if not varies:
        call.__code__ = call.__code__.replace(
            co_varnames=names + call.__code__.co_varnames[len(names) :],
            co_argcount=code.co_argcount, co_posonlyargcount=code.co_posonlyargcount,
            co_kwonlyargcount=code.co_kwonlyargcount,
        )  # fmt: skip
        call.__defaults__, call.__kwdefaults__ = plain.__defaults__, plain.__kwdefaults__
    return functools.update_wrapper(call, f)


def _names(code: CodeType) -> tuple[Any, ...]:
    """The names of the parameters but ``*args``."""
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def by_position(f: Callable[..., Any]):
    """A function without keyword-only parameters: the same, given everything by position."""
    code = inspect.unwrap(f).__code__
    n = code.co_argcount
    names = _names(code)[n:]
    if not names:
        return f
    return lambda *args: f(*args[:n], **dict(zip(names, args[n:], strict=False)))


@functools.cache
def _maker(arrays: int, statics: int, varies: bool):
    """A function that makes the call path for these numbers of arrays and of static arguments."""
    a, s = [f"_a{i}" for i in range(arrays)], [f"_s{i}" for i in range(statics)]
    given = "*_arrays" if varies else ", ".join(a + s)
    pack = "_arrays" if varies else f"({''.join(f'{x}, ' for x in a)})"
    rest = f"({''.join(f'{x}, ' for x in s)})"
    kinds = f"tuple([_x._t if type(_x) is _Array else type(_x) for _x in {pack}])"
    buffers = f"[_x._b for _x in {pack}]"
    if not varies and arrays < 4:
        kinds = f"({''.join(f'{x}._t if type({x}) is _Array else type({x}), ' for x in a)})"
        buffers = f"[{', '.join(f'{x}._b' for x in a)}]"
    if arrays == 1 and not varies:
        kinds = "_a0._t"
    default = " and ".join(f"{x} is _d{i}" for i, x in enumerate(s)) or "True"
    # 1, 1.0 and True are equal: beside the static arguments stand their classes
    full = ", ".join([kinds, *s, *[f"{x}.__class__" for x in s]])
    key = f"{kinds} if {default} else ({full})" if s else kinds
    if arrays == 1 and not varies:
        key = f"({key}) if type(_a0) is _Array else None"
    source = f"""
def make(_general, _f, _get, _results, {", ".join(f"_d{i}" for i in range(statics))}):
    def call({given}):
        _state = _get_state()
        if _state is None:
            try:
                _key = {key}
                _entry = _get(_key)
            except TypeError:  # of static arguments that cannot be hashed
                _key = _entry = None
            if _entry is not None:
                _run, _handlers, _t, _scalars = _entry
                try:
                    if _scalars is None:
                        _buffers = {buffers}
                    else:
                        _buffers = [
                            _x._b if _k is None else _k[_x]
                            for _x, _k in zip({pack}, _scalars) if _x is not None
                        ]
                    _out = _new(_Array)  # half the cost of calling the class
                    _out._b = _run(_buffers).consume_with_handlers(_handlers)[0]
                    _out._t = _t
                    return _out
                except _RuntimeFailure as _e:
                    raise _translate(_e, [_x for _x in {pack} if type(_x) is _Array]) from None
                except OverflowError:  # a Python int that needs more bits than the last one
                    pass
            elif _key is not None:
                _general.learn(_key, {pack}, {rest}, {default})
        try:
            if _state is not None and _state.trace is not None and not _state.trace.folds:
                return _results(_f({given}))
            return _general({given})
        except Exception as _e:
            _hide_frames(_e)
            raise
    return call
"""
    scope = {
        "_Array": Array, "_new": object.__new__, "_get_state": get_state,
        "_RuntimeFailure": RuntimeFailure, "_translate": translate, "_hide_frames": hide_frames,
        "__name__": __name__,
    }  # fmt: skip
    exec(source, scope)
    return scope["make"]
