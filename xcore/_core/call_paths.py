"""The generated functions that users call: they look up a compiled program and run it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .dispatch import BUFFER, Path, looked_up, maker, parameters, with_parameters
from .source import CALLED

if TYPE_CHECKING:
    from .fused import Fused


def call_path(general: Fused, f: Callable[..., Any]) -> Any:
    """The function that users call in front of ``general``, with the parameters of ``f``."""
    plain = inspect.unwrap(f)  # f may be decorated, or differentiated by a rule of its own
    code = plain.__code__
    names, varies = parameters(code), bool(code.co_flags & inspect.CO_VARARGS)
    defaults = plain.__defaults__ or ()
    known = dict(zip(reversed(names[: code.co_argcount]), reversed(defaults), strict=False))
    known |= plain.__kwdefaults__ or {}
    statics = () if varies else names[general.count :]
    make = maker(_fused_path(general.count, len(statics), varies))
    call = make(general, general.learn, general.f, general.fast.get, general.results,
                *map(known.get, statics))  # fmt: skip
    if varies:
        call.__code__ = call.__code__.replace(co_name=f.__name__)
    else:
        with_parameters(call, f, code)
        call.__defaults__, call.__kwdefaults__ = plain.__defaults__, plain.__kwdefaults__
    return functools.update_wrapper(call, f)


def by_position(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function without keyword-only parameters: the same, given everything by position."""
    code = inspect.unwrap(f).__code__
    n = code.co_argcount
    names = parameters(code)[n:]
    if not names:
        return f
    return lambda *args: f(*args[:n], **dict(zip(names, args[n:], strict=False)))


_TRACES = (
    "(_s := _state()) is not None and (_t := _s.trace) is not None and _t.records and not _t.folds"
)


@functools.cache
def _fused_path(arrays: int, statics: int, varies: bool) -> Path:
    """The path for these numbers of arrays and of static arguments."""
    a, s = [f"_a{i}" for i in range(arrays)], [f"_s{i}" for i in range(statics)]
    given = "*_arrays" if varies else ", ".join(a + s)
    pack = "_arrays" if varies else f"({''.join(f'{x}, ' for x in a)})"
    rest = f"({''.join(f'{x}, ' for x in s)})"
    kinds = f"tuple([_x._t if type(_x) is _Array else type(_x) for _x in {pack}])"
    buffers = f"[{BUFFER.format('_x')} for _x in {pack}]"
    if not varies and arrays < 4:
        kinds = f"({''.join(f'{x}._t if type({x}) is _Array else type({x}), ' for x in a)})"
        buffers = f"[{', '.join(BUFFER.format(x) for x in a)}]"
    if arrays == 1 and not varies:
        kinds = "_a0._t"
    default = " and ".join(f"{x} is _d{i}" for i, x in enumerate(s)) or "True"
    kind = [f"{x}.__class__ if {x}.__class__ is not tuple else _classes({x})" for x in s]
    key = f"{kinds} if {default} else ({', '.join([kinds, *kind, *s])})" if s else kinds
    host = f"_host({'*_arrays' if varies else ', '.join(a)})"
    if arrays == 1 and not varies:
        key = key.replace("_a0._t", "_t0")
        key = (
            f"None if (_t0 := _a0._t if type(_a0) is _Array else _listed(_a0)) is None else ({key})"
        )
        host = f"({host} if type(_a0) is _Array else _host(*_a0))"
        buffers += f" if type(_a0) is _Array else [{BUFFER.format('_x')} for _x in _a0]"
    scalars = f"{BUFFER.format('_x')} if _k is None else _k[_x] for _x, _k in zip({pack}, _scalars)"
    return Path(
        params=given,
        bound="_general, _learn, _f, _get, _results, " + ", ".join(f"_d{i}" for i in range(statics)),
        find=looked_up(key, f"None if _key is None else _learn(_key, {pack}, {rest}, {default})"),
        entry="_run, _handlers, _t, _scalars, _host",
        host=host,
        buffers=f"{buffers} if _scalars is None else [{scalars} if _x is not None]",
        arrays=f"[_x for _x in {pack} if type(_x) is _Array]",
        slow=f"_results(_f({given})) if {_TRACES} else _general({given})",
        module=CALLED,
    )  # fmt: skip


def operator(slow: Callable[..., Any], function: Any, reflected: bool = False) -> Any:
    """A method for Array of two operands: the path of a fused function of two arrays, without its statics.

    ``slow`` is the method for all other operands. What is known of calls is the function's.
    """
    call = maker(_REFLECTED if reflected else _OPERATOR)(function.fused.fast.get, slow)
    return functools.update_wrapper(call, function.fused.f)


_OPERATOR = Path(
    params="self, other",
    find=looked_up("(self._t, other._t if type(other) is _Array else type(other))"),
    entry="_run, _handlers, _t, _scalars, _host",
    host="_host(self, other)",
    buffers=f"[{BUFFER.format('self')}, {BUFFER.format('other')} if _scalars is None else _scalars[1][other]]",
    arrays="[_x for _x in (self, other) if type(_x) is _Array]",
    slow="_slow(self, other)",
    module=__name__,
)
_REFLECTED = replace(
    _OPERATOR,
    find=looked_up("(other._t if type(other) is _Array else type(other), self._t)"),
    host="_host(other, self)",
    buffers=f"[{BUFFER.format('other')} if _scalars is None else _scalars[0][other], {BUFFER.format('self')}]",
)
