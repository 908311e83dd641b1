"""Call paths: what a call runs between the user's line and the executable, written for its kind.

Operators, fused functions, jitted ones, indexing and ``x.at`` differ in what they look up. The rest
is one form: where nothing is traced and no setting is overridden, find an entry by the identities of
interned types, run it, wrap what it gives. Whatever is not plainly so goes the slow way, which is
right for everything.

Python is fastest with functions that have neither ``*args`` nor ``**kwargs`` and whose names are
local; so the form is filled in for each kind, and compiled once.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import indent
from types import CodeType
from typing import Any

from .._backend.client import RuntimeFailure
from . import config
from .array import Array
from .compile import translate
from .config import get_state
from .exceptions import DeletedError
from .keys import classes
from .source import hide_frames

_FORM = """
def make({bound}):
    def call({params}):
        try:
            if _state() is None:
{find}
                if _entry is not None:
                    {entry} = _entry
                    try:
{wrap}
                        return {result}
                    except _RuntimeFailure as _e:
                        _failed(_e, {arrays})
                    except OverflowError:  # a Python int that needs another program
                        pass
            return {slow}
        except Exception as _e:
            _hide_frames(_e)
            raise
    return call
"""
# The buffer of an array of this name.
BUFFER = "({0}._b if {0}._b is not None else {0}._buffer())"
# Setting the slots one by one costs half of calling the class.
_ONE_ARRAY = """\
{host}
_out = _new(_Array)
_out._b = _run({buffers}).consume_with_handlers(_handlers)[0]
_out._t = _t
_out._h = None"""


@dataclass(frozen=True)
class Path:
    """One kind of call, in source text. Names of its own begin with an underscore, as parameters do not.

    Attributes:
      params: of the function.
      find: lines that set ``_entry``, to None where the call is not for the fast path.
      entry: the names that the parts of an entry get.
      buffers: the list of the arguments' buffers.
      arrays: the list of the arrays among the arguments, for the words of a failure.
      slow: what any other call is.
      bound: names that differ from one function of this kind to the next.
      wrap, result: lines that run the executable, and what is returned; by default one array.
      host: the same call in NumPy, where an entry has one: an expression.
      module: the module that its frames count for, in messages and tracebacks.
    """

    params: str
    find: str
    buffers: str
    arrays: str
    slow: str
    bound: str = "_get, _slow"
    entry: str = "_run, _handlers, _t"
    wrap: str = _ONE_ARRAY
    result: str = "_out"
    host: str = ""
    module: str = __name__

    def maker(self) -> Callable[..., Any]:
        """Compiles it: the function that makes one call path from what is bound."""
        source = _FORM.format(
            bound=self.bound, params=self.params, entry=self.entry, result=self.result,
            arrays=self.arrays, slow=self.slow, find=indent(self.find, " " * 16),
            wrap=indent(self.wrap.format(buffers=self.buffers, host=self._on_host()), " " * 24),
        )  # fmt: skip
        scope: dict[str, Any] = _SCOPE | {"__name__": self.module}
        exec(source, scope)
        return scope["make"]

    def _on_host(self) -> str:
        return (
            f"if _host is not None and (_out := {self.host}) is not None: return _out"
            if self.host
            else ""
        )


maker = functools.cache(Path.maker)  # for kinds of which there are many calls


def looked_up(key: str, learn: str = "None") -> str:
    """The lines of ``Path.find`` that look up a key, and try to learn what they do not find."""
    return f"""\
_key = {key}
try:
    _entry = _get(_key)
except TypeError:  # of static arguments that cannot be hashed
    _key = _entry = None
if _entry is None:
    _entry = {learn}"""


def failed(e: Exception, arrays: list[Any]) -> None:
    """Raise a failure of the runtime in words for users.

    Returns where a number that calls share was deleted, and none of the arguments: then what is
    known is forgotten, and the slow way makes the number anew.
    """
    failure = translate(e, arrays)
    if type(failure) is not DeletedError or any([a.is_deleted() for a in arrays]):
        raise failure from None
    config.clear_fast_caches()


LONGEST_LIST = 16  # longer ones take the slow path, which is short beside the work on them


def listed(arrays: Any) -> Any:
    """What stands in keys for a short list of arrays, or None."""
    if type(arrays) not in (list, tuple) or not 0 < len(arrays) <= LONGEST_LIST:
        return None
    types = [x._t for x in arrays if type(x) is Array]
    return (type(arrays), *types) if len(types) == len(arrays) else None


_SCOPE = {
    "_listed": listed,
    "_Array": Array, "_new": object.__new__, "_state": get_state, "_RuntimeFailure": RuntimeFailure,
    "_failed": failed, "_hide_frames": hide_frames, "_classes": classes,
}  # fmt: skip


def with_parameters(call: Any, f: Callable[..., Any], code: CodeType):
    """The call path with the name of ``f``, and with the names and defaults of its parameters.

    In compiled code they are labels: a parameter may be called as a name in the form is.
    """
    names, own = parameters(code), call.__code__
    call.__code__ = own.replace(
        co_name=f.__name__, co_varnames=names + own.co_varnames[len(names) :],
        co_argcount=code.co_argcount, co_posonlyargcount=code.co_posonlyargcount,
        co_kwonlyargcount=code.co_kwonlyargcount,
    )  # fmt: skip
    return call


def parameters(code: CodeType) -> tuple[str, ...]:
    """The names of the parameters but ``*args``."""
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
