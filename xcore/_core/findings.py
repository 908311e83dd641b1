"""What the setting ``sanitize`` finds: kinds of findings, how they are reported, and what is meant to be so.

A finding is an error (SanitizeError, a warning where the program may be right: SanitizeWarning) and has the
user's line. Whether a line means what it does can often be read from the line: a value that goes
straight into ``where`` is guarded, a result that the next instruction throws away is lost.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import ast
import dis
import functools
import linecache
import sys
import warnings
import weakref
from contextvars import ContextVar
from types import CodeType
from typing import Any, cast

import numpy as np

from . import config, errors
from .source import _is_ours, borrowed, describe_where, source_line, user_frame

# kind -> whether it is an error
KINDS = {
    "nan": True, "infinity": True, "index": True, "overflow": True, "key": True, "singular": True,
    "derivative": True, "broadcast": False, "unused": False, "mutated": False, "constant": False,
    "retrace": False, "cancellation": False,
}  # fmt: skip


class allow:
    """``with allow("nan", "infinity"):`` says that what is found in the block is meant to be so.

    It holds for what is computed by the lines of the block, also where a program that is traced in it
    runs later, and for the derivatives of these lines.

    Args:
      kinds: some of "nan", "infinity", "index", "overflow", "key", "singular", "derivative",
        "broadcast", "unused", "mutated", "constant", "retrace", "cancellation"; all of them if none is given.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> with xc.config.override(sanitize=True), xc.sanitize.allow("infinity"):
    ...     xnp.float32(1) / xnp.float32(0)
    Array(inf, dtype=float32)
    """

    def __init__(self, *kinds: str) -> None:
        for kind in kinds:
            if kind not in KINDS:
                raise errors.bad_argument("sanitize.allow", "kinds", kind, f"of {[*KINDS]}")
        self.kinds = kinds or (*KINDS,)
        self.outside: list[str] = []

    def __enter__(self):
        self.outside.append(borrowed.scope)
        name = f"allow[{','.join(self.kinds)}]"
        borrowed.scope = f"{borrowed.scope}/{name}" if borrowed.scope else name
        return self

    def __exit__(self, *exc: object) -> None:
        borrowed.scope = self.outside.pop()


def is_allowed(kind: str, where: Any = None) -> bool:
    """Whether a finding of this kind is meant to be so, here or at a recorded place."""
    scope = borrowed.scope
    if where and len(where) > 2:
        scope = f"{scope}/{where[2]}"
    for part in scope.split("/") if scope else ():
        if part.startswith("allow[") and kind in part[6:-1].split(","):
            return True
    return False


def looks_for(kind: str) -> bool:
    """Whether findings of a kind are looked for here and now."""
    settings = config.settings()
    on = settings.sanitize_cancellation if kind == "cancellation" else settings.sanitize
    return on and not is_allowed(kind)


# The automatic checks that an enclosing ``checkify`` asks for. Programs traced for it keep what no result needs.
checkified: ContextVar[frozenset[str]] = ContextVar("xcore checks", default=frozenset())


def checks_positions() -> bool:
    """Whether positions that are known at run time only are checked."""
    return config.settings().checks_indices and not is_allowed("index")


def checks_filled() -> bool:
    """Whether they are where an operation that fills says nothing of them itself."""
    return "index" in checkified.get() or checks_positions()


# Reporting

_given: set[Any] = set()  # (kind, file, line) of the warnings given
count: int = 0  # of warnings and errors


def report(kind: str, text: str, where: Any = None) -> None:
    """Raise or warn, with the user's line. A warning is given once for each line."""
    global count
    where = user_frame() if where is None else where
    if is_allowed(kind, where):
        return
    count += 1
    place = source_line(where)
    shown = describe_where(where)
    message = f"xcore: {text}" + (f"\n  {shown}" if shown else "")
    if KINDS[kind]:
        raise raised(_CLASSES.get(kind, errors.SanitizeError)(message))
    name, line = place[:2] if place else ("<unknown>", 0)
    if (kind, name, line) not in _given:
        _given.add((kind, name, line))
        warnings.warn_explicit(errors.SanitizeWarning(message), None, name, line)


messages: dict[str, None] = {}  # of the errors, in their order: a script may have caught them


def raised(error: Exception) -> Exception:
    """An error that is about to be raised, remembered."""
    if len(messages) < _MOST:
        messages[str(error)] = None
    return error


_MOST = 1000
_CLASSES = {"index": errors.CheckIndexError, "overflow": errors.SanitizeOverflowError}


def check_narrowed(value: np.ndarray, out: np.ndarray) -> None:
    """Tell of numbers that came in at 64 bits and are others, or no numbers, at the 32 that they got."""
    if value.dtype.kind in "iu":
        kind, lost = "overflow", value[out != value]
    else:
        kind, lost = "infinity", value[np.isfinite(value) & ~np.isfinite(out)]
    if lost.size and looks_for(kind):
        report(
            kind, f"the number {lost.flat[0]} comes in as {value.dtype.name} and does not fit in {out.dtype.name}, "
            "which the setting narrow makes of it. Keep 64 bits (enable_x64), or scale it.",
        )  # fmt: skip


LARGE = 16 * 2**20  # bytes of an array that should be an argument
_captures: dict[int, tuple[Any, Any]] = {}  # id of a large array -> (reference to it, the line)


def note_capture(x: Any) -> None:
    """Remember the line on which a function that is traced first refers to a large array."""
    known = _captures.get(id(x))
    if x.nbytes > LARGE and (known is None or known[0]() is not x):
        _captures[id(x)] = weakref.ref(x, lambda _: _captures.pop(id(x), None)), user_frame()


def place_of_capture(x: Any) -> Any:
    """That line, once."""
    return _captures.pop(id(x), (None, None))[1]


def forget() -> None:
    """Report again what was reported."""
    global count
    count = 0
    _given.clear()
    messages.clear()
    pending.clear()


# Values that were not reported
# A NaN or infinity in a value that the next line may guard, or that the library made for itself, is
# reported when it turns out to count: when it is read, or when results of the user's lines hold it.


class Pending:
    """A NaN or infinity that has not been reported yet.

    ``mild``: the logarithm of 0. ``direct``: the user's own line made it.

    Its origin is looked for when somebody asks: ``search()`` is the Pending of it, or None.
    """

    __slots__ = ("direct", "kind", "mild", "search", "settled", "text", "where")

    def __init__(
        self,
        kind: str,
        text: str,
        where: Any,
        mild: bool = False,
        search: Any = None,
        direct: bool = True,
    ) -> None:
        self.kind, self.text, self.where, self.mild = kind, text, where, mild
        self.search, self.settled, self.direct = search, False, direct

    def known(self) -> Pending | None:
        """Itself with its origin; None if nothing made it, but the arguments had it."""
        if self.search is not None:
            found, self.search = self.search(), None
            if found is not None:
                self.text, self.where, self.mild = found.text, found.where, found.mild
        return self if self.text else None


pending: dict[Any, Any] = {}  # id of an array -> (reference to it, its Pending)


def mark_pending(x: Any, p: Pending) -> None:
    """Remember an array that holds a NaN or infinity."""
    key = id(x)
    pending[key] = weakref.ref(x, lambda _: pending.pop(key, None)), p


def pending_in(x: Any) -> Pending | None:
    found = pending.get(id(x))
    return found[1] if found is not None and found[0]() is x else None


def check_read(x: Any) -> None:
    """An array is read by the host: what is pending is reported, if it is the user who reads."""
    p = pending_in(x)
    if p is None or not config.settings().sanitize or caller()[1] != "xcore._core.array":
        return
    pending.pop(id(x), None)
    if p.known() is not None and not p.mild:
        p.settled = True
        report(p.kind, p.text, p.where or ())


# Who calls


def caller() -> tuple[Any, ...]:
    """(the user's frame, the module of ours that it called; "" if none is on the way)."""
    frame, module = sys._getframe(1), ""
    while frame is not None and _is_ours(frame):
        name = frame.f_globals.get("__name__", "")
        if name not in ("xcore._core.source", "functools"):
            module = name
        frame = frame.f_back
    return frame, module


_DIRECT = (
    "xcore._core.", "xcore._control.", "xcore._transforms.", "xcore.numpy._operators",
    "xcore.numpy._methods",
)  # fmt: skip


def is_direct() -> bool:
    """Whether the user's own line asked for what is computed now, and not a function of the library."""
    return caller()[1].startswith(_DIRECT)


def only_through(*modules: str) -> bool:
    """Whether none of our modules but these (and ``_core``) stands between here and the user's line."""
    frame = sys._getframe(1)
    while frame is not None and _is_ours(frame):
        name = frame.f_globals.get("__name__", "")
        if not name.startswith(("xcore._core.", "functools", *modules)):
            return False
        frame = frame.f_back
    return True


# What a source line does with a value


@functools.lru_cache(64)
def _operations(code: CodeType) -> list[dis.Instruction]:
    """The operations, without those that are room for the interpreter."""
    return [
        i for i in dis.get_instructions(code) if i.opname not in ("CACHE", "NOP", "EXTENDED_ARG")
    ]


def place_of_caller():
    """The user's line, whatever operations are recorded for."""
    frame, _ = caller()
    return None if frame is None else (frame.f_code, frame.f_lasti)


def places_of_callers() -> list[Any]:
    """The same, and the lines that called it, outwards through whatever of ours is between."""
    frame, found = caller()[0], cast("list[Any]", [])
    while frame is not None:
        if not _is_ours(frame):
            found.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return found


def is_guarded_here() -> bool:
    where = place_of_caller()
    return where is not None and is_guarded(where)


def do_not_reuse_trace() -> None:
    """Mark what is traced now as depending on the user's line, so that it serves no other call."""
    global count
    count += 1


@functools.lru_cache(1024)
def _is_lost(code: CodeType, at: int) -> bool:
    """Whether what the call at this offset gives is thrown away: itself, in a tuple, or by a name that nothing reads.

    The stack is followed while the value lies on it; ``above`` counts what lies above it. What is not
    understood counts as a use.
    """
    above = 0
    for i in _operations(code):
        if i.offset <= at:
            continue
        if i.opname == "POP_TOP" and not above:
            return True
        if i.opname.startswith("STORE_FAST") and not above:
            return _is_never_read(code, i)
        if i.opname in ("BUILD_TUPLE", "BUILD_LIST") and above < cast(int, i.arg):
            above = 0
            continue
        if i.opcode in dis.hasjrel or "RETURN" in i.opname:
            return False
        effect = dis.stack_effect(i.opcode, i.arg)
        if effect <= 0 and 1 - effect > above:
            return False
        above += effect
    return False


def _names_of(i: dis.Instruction) -> tuple[str, ...]:
    """The local names of an operation; since Python 3.13 some have two."""
    names = cast("str | tuple[str, ...]", i.argval)
    return (names,) if isinstance(names, str) else names


_READS_ALL = frozenset(("locals", "vars", "dir", "eval", "exec"))


def _is_never_read(code: CodeType, store: dis.Instruction) -> bool:
    """Whether a local name is written here and no operation behind reads it, also not in a next round."""
    name, *beside = _names_of(store)
    if name.startswith("_") or name in beside or _READS_ALL.intersection(code.co_names):
        return False
    for i in _operations(code):
        if i.offset <= store.offset:
            continue
        if i.opcode in dis.hasjrel and i.argval <= store.offset:
            return False
        if "FAST" in i.opname and i.opname != "STORE_FAST" and name in _names_of(i):
            return False
    return True


def is_discarded(module: str | None) -> bool:
    """Whether the user's line, which called this module of ours (None: any), throws the result away."""
    frame, first = caller()
    if frame is None or module not in (None, first):
        return False
    return _is_lost(frame.f_code, frame.f_lasti)


def report_discarded(text: str, module: str | None = None) -> None:
    """Report a result that is discarded."""
    if looks_for("unused") and is_discarded(module):
        report("unused", text)


@functools.lru_cache(32)
def _parsed(file: str):
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return None


_NAMES_OF_GUARDS = frozenset(
    "where select piecewise nan_to_num isnan isfinite isinf isposinf isneginf nansum nanmean nanmax "
    "nanmin nanprod nanstd nanvar nanmedian nancumsum nancumprod nanargmax nanargmin nanquantile "
    "nanpercentile nanptp fmin fmax select_n count_nonzero choose".split()
)


def name_of_call(node: Any) -> str:
    f = node.func
    return f.attr if isinstance(f, ast.Attribute) else f.id if isinstance(f, ast.Name) else ""


def _span(node: Any) -> tuple[Any, ...]:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _spot(where: Any):
    """Where in its file the expression of a place begins and ends; None if that is not known."""
    code, lasti = where[:2]
    spot: Any = list(code.co_positions())[lasti // 2] if lasti >= 0 else (None,)
    return None if None in spot else ((spot[0], spot[2]), (spot[1], spot[3]))


@functools.lru_cache(512)
def nodes_around(where: Any) -> list[Any]:
    """The syntax around a place, from the innermost node to the module; nothing if there is no source."""
    tree, here = _parsed(where[0].co_filename), _spot(where)
    if tree is None or here is None:
        return []
    around = [
        n for n in ast.walk(tree)
        if hasattr(n, "lineno") and _span(n)[0] <= here[0] and here[1] <= _span(n)[1]
    ]  # fmt: skip
    return [*reversed(around), tree]


def node_at(where: Any):
    """The expression or statement that stands at a place, from its first character to its last."""
    here = _spot(where)
    return next((n for n in nodes_around(where) if hasattr(n, "lineno") and _span(n) == here), None)


@functools.lru_cache(512)
def is_guarded(where: Any) -> bool:
    """Whether the value made at a place goes into a function that looks at it, or chooses from it.

    On the line itself, as in ``where(x > 0, log(x), 0)``, or by its name in a line below.
    """
    around, here = nodes_around(where), _spot(where)
    if not around or here is None:
        return False
    *around, tree = around
    for n in around:
        if isinstance(n, ast.Call) and _span(n) != here and name_of_call(n) in _NAMES_OF_GUARDS:
            return True
    statements = [
        n for n in around if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)
    ]
    if not statements:
        return False
    target: Any = statements[0].targets[0]
    name, line = target.id, here[1][0]
    scope = next((n for n in around if isinstance(n, ast.FunctionDef)), tree)
    return any(_guards(n, name, line) for n in ast.walk(scope))


def _guards(node: Any, name: str, line: int) -> bool:
    if not isinstance(node, ast.Call) or node.lineno <= line:
        return False
    if name_of_call(node) not in _NAMES_OF_GUARDS:
        return False
    return any(isinstance(n, ast.Name) and n.id == name for a in node.args for n in ast.walk(a))


def is_ignored(kind: str) -> bool:
    """Whether ``numpy.errstate`` says that these are meant to be so."""
    found = np.geterr()
    return found["invalid" if kind == "nan" else "divide"] == "ignore"
