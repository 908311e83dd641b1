"""Lines of user code, for messages, locations and short tracebacks."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import functools
import itertools
import linecache
import sys
import threading
import traceback
import types
from collections.abc import Callable, Mapping
from types import CodeType, FrameType, MappingProxyType
from typing import Any, ParamSpec, TypeVar

from . import config, errors
from .keywords import Alias, by_our_names

P = ParamSpec("P")
R = TypeVar("R")

_package = __name__.partition(".")[0] + "."
_ours: dict[CodeType, bool] = {}  # whether it belongs to xcore


def _is_ours(frame: FrameType) -> bool:
    code = frame.f_code
    known = _ours.get(code)
    if known is None:
        name = frame.f_globals.get("__name__", "")
        ours = name.startswith(_package) and not code.co_filename.startswith("<doctest")
        known = _ours[code] = ours or name == "functools"
    return known


# A place: code, instruction, and the names of the named scopes around it. () is one that is not known
# on purpose; None is one that was not looked for.
Where = tuple[CodeType, int] | tuple[CodeType, int, str] | tuple[()] | None
Line = tuple[str, int, str]  # file, line, function
NOWHERE = ()


class _Borrowed(threading.local):
    where: Where = None
    scope = ""  # the names of the named scopes we are in, joined by "/"


# While a program is run or transformed equation by equation, its operations belong to the lines
# that its equations were written for, not to the line that asked for the transformation.
borrowed = _Borrowed()


def user_frame(depth: int = 2) -> Where:
    """(code, instruction) of the nearest frame outside xcore. The line is looked up when wanted.

    Inside of named scopes their names are a third part.
    """
    where = borrowed.where
    if where is not None:
        return where
    frame = sys._getframe(depth)
    ours = _ours
    while frame is not None:
        code = frame.f_code
        known = ours.get(code)
        if known is None:
            known = _is_ours(frame)
        if not known:
            scope = borrowed.scope
            return (code, frame.f_lasti, scope) if scope else (code, frame.f_lasti)
        frame = frame.f_back
    return None


# Through these a user's operands pass unchanged to the function that they were written for.
_PASSAGES = tuple(f"{_package}{name}" for name in (
    "_core.", "_transforms.", "_control.", "numpy._operators", "numpy._methods",
    "numpy._compound", "numpy._placement", "as_jax._arguments",
))  # fmt: skip
CALLED = f"{_package}_core.called"  # what frames of fused functions give as their module


def entrance() -> tuple[str, str] | None:
    """(module, name) of the function of ours that user code called, of those that are on the way here."""
    frame, entered = sys._getframe(1), None
    while frame is not None and _is_ours(frame):
        module = frame.f_globals.get("__name__", "")
        if module == CALLED or not (f"{module}.".startswith(_PASSAGES) or module == "functools"):
            entered = frame
        frame = frame.f_back
    return entered and (entered.f_globals.get("__name__", ""), entered.f_code.co_name)


_ALSO_CALLED = {"asarray": "array", "isclose": "allclose"}


def called_by_user(who: str) -> bool:
    """Whether the function of this name was called by a user, and not by another function of ours.

    What it complains of is the user's business then; it tells how strict settings hold for operands
    that users write, and for none of our own.
    """
    found = entrance()
    if found is None:
        return True
    name = who.rpartition(".")[2]
    return found[1] in (name, _ALSO_CALLED.get(name)) or found[0].endswith(f"._{name}")


def stack_level() -> int:
    """The ``stacklevel`` of a warning, given where this is called, that is to name the user's line."""
    frame, level = sys._getframe(1), 1
    while frame is not None and _is_ours(frame):
        frame, level = frame.f_back, level + 1
    return level


def written_at(f: Callable[..., Any]) -> str:
    """Where a user's function is defined, in words for the end of a sentence; "" if it has no lines."""
    while (inner := getattr(f, "__wrapped__", None) or getattr(f, "func", None)) is not None:
        f = inner
    code = getattr(f, "__code__", None) or getattr(type(f).__call__, "__code__", None)
    if code is None:
        return ""
    name = getattr(f, "__name__", type(f).__name__)
    return f" ({name}, {code.co_filename}:{code.co_firstlineno})"


def reading_line(column: bool = False) -> str:
    """The line that asked for a value, in words: the nearest one outside of xcore and of NumPy."""
    frame = sys._getframe(1)
    while frame is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if not (_is_ours(frame) or package == "numpy"):
            return describe_where((frame.f_code, frame.f_lasti), column)
        frame = frame.f_back
    return ""


_KINDS = {"__name__": str, "__qualname__": str, "__annotations__": dict, "__type_params__": tuple}


def wraps(f: Callable[..., Any]) -> Callable[[Any], Any]:
    """``functools.wraps`` of any callable: objects of classes of one's own may have other things by these names."""
    names = [
        n
        for n in functools.WRAPPER_ASSIGNMENTS
        if isinstance(getattr(f, n, None), _KINDS.get(n, object))
    ]
    return functools.wraps(f, assigned=names)


def at_own_lines(f: Callable[P, R]) -> Callable[P, R]:
    """A user's function that is called while a program is transformed: its operations are of its own lines."""

    @wraps(f)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        outside, borrowed.where = borrowed.where, None
        try:
            return f(*args, **kwargs)
        finally:
            borrowed.where = outside

    return call


def source_line(where: Where) -> Line | None:
    """(file, line, function) of a place recorded by ``user_frame``."""
    if not where:
        return None
    code, lasti = where[:2]
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= lasti < end and number is not None:
            line = number
            break
    return code.co_filename, line, code.co_name


def scoped_line(where: Where) -> Line | None:
    """The same, the function with the named scopes that the place is in."""
    place = source_line(where)
    if not place or not where or len(where) == 2:
        return place
    return (*place[:2], f"{where[2]}/{place[2]}")


def _column(where: tuple[CodeType, int] | tuple[CodeType, int, str]) -> str:
    """``:5`` for an expression that starts in the fifth column of its line, if Python has kept that."""
    code, lasti = where[:2]
    positions = itertools.islice(code.co_positions(), lasti // 2, None)
    start = next(positions, (None, None, None, None))[2]
    return "" if start is None else f":{start + 1}"


def describe_where(where: Where, column: bool = False) -> str:
    """``at file.py:12 in f: y = x + 1`` for messages, or an empty text."""
    place = source_line(where)
    if not place or not where:
        return ""
    text = linecache.getline(place[0], place[1]).strip()
    at = f"{place[0]}:{place[1]}" + (_column(where) if column else "")
    return f"at {at} in {place[2]}" + (f": {text}" if text else "")


def _without_our_frames(tb: types.TracebackType | None) -> types.TracebackType | None:
    """A traceback without xcore's own frames."""
    kept: list[types.TracebackType] = []
    while tb is not None:
        if not _is_ours(tb.tb_frame):
            kept.append(tb)
        tb = tb.tb_next
    out = None
    for tb in reversed(kept):
        out = types.TracebackType(out, tb.tb_frame, tb.tb_lasti, tb.tb_lineno)
    return out


def _count_ours(tb: types.TracebackType | None) -> int:
    return sum(_is_ours(frame) for frame, _ in traceback.walk_tb(tb))


def hide_frames(e: BaseException) -> None:
    """Cut xcore's frames out of an exception's traceback. A bare ``raise`` behind it adds none."""
    if isinstance(e, RecursionError):
        e.ours = getattr(e, "ours", 0) + _count_ours(e.__traceback__)  # pyright: ignore[reportAttributeAccessIssue]
    if config.settings().traceback_filtering != "off":
        e.__traceback__ = _without_our_frames(e.__traceback__)


def boundary(
    f: Callable[P, R], who: str = "", aliases: Mapping[str, Alias] = MappingProxyType({})
) -> Callable[P, R]:
    """A public function: exceptions that leave it show the user's frames only.

    Args:
      who: its name in messages, and ``aliases``: other names of its arguments, and its own.
    """

    @wraps(f)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return f(*args, **kwargs)
        except RecursionError as e:
            hide_frames(e)
            state = config.get_state()
            is_traced = state is not None and state.trace is not None
            # the outermost call, of functions of functions: a user's own recursion passes few of ours
            deep = getattr(e, "ours", 0) > 100
            if deep and not is_traced and str(e).startswith("maximum recursion"):
                e.args = errors.nested_too_deep("a function").args
            raise
        except Exception as e:
            begun = e.__traceback__ is None or e.__traceback__.tb_next is not None
            hide_frames(e)
            if begun or type(e) is not TypeError:
                raise
        # no line of f has run: the call names what f calls otherwise, or is wrong
        try:
            named: Any = by_our_names(who or f.__name__, f, kwargs, aliases)
            return f(*args, **named)  # pyright: ignore[reportCallIssue]
        except Exception as e:
            hide_frames(e)
            raise

    return call
