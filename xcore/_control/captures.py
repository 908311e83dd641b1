"""What a traced function refers to, and when that changes; large constants; functions traced too often.

A program holds what it found when it was traced. A list that has grown since, an array that was
written into, a global number that is another now: the function would see them, the program does
not. (Setting ``sanitize``.)
"""

from __future__ import annotations

import collections
import dis
import functools
import itertools
import sysconfig
import types

import numpy as np

from .._backend.cache import blake2b
from .._core import Array, findings

_OFTEN = 10
_WHOLE = 2**20  # bytes of an array that are looked at; of larger ones some are
_MOST = 2000  # elements of containers that are looked at
_STORES = ("STORE_GLOBAL", "STORE_DEREF", "DELETE_GLOBAL", "DELETE_DEREF")
_ALL = frozenset({"vars", "__dict__"})  # with which any attribute may be read
_IMPLICIT = ("__call__", "__getitem__", "__getattr__")  # methods that run without their names
_RUN = (
    "__func__",
    "__wrapped__",
    "fget",
    "func",
)  # what runs of static, class and decorated methods, properties
_LISTS, _SETS = (list, tuple, collections.deque), (set, frozenset)
_NUMBERS = (bool, int, float, complex, str, bytes, type(None), np.generic)


# Its names


def _plain_function(f):
    """The Python function that runs when ``f`` is called, and the object that it is a method of."""
    owner = None
    for _ in range(8):
        if isinstance(f, functools.partial):
            f = f.func
        elif isinstance(f, types.MethodType):
            owner, f = f.__self__, f.__func__
        elif isinstance(f, types.FunctionType) and not _is_of_xcore(f):
            return f, owner
        elif hasattr(f, "__wrapped__"):
            f = f.__wrapped__
        elif callable(f) and isinstance(type(f).__call__, types.FunctionType):
            owner, f = f, type(f).__call__
        else:
            return None, owner
    return None, owner


def _bound_arguments(f) -> dict:
    """What a partial function was given."""
    if not isinstance(f, functools.partial):
        return {}
    return {f"argument {k}": v for k, v in [*enumerate(f.args), *f.keywords.items()]}


def _defaults(f) -> dict:
    """What its parameters are where they are not given."""
    names, values = f.__code__.co_varnames[: f.__code__.co_argcount], f.__defaults__ or ()
    last = zip(names[len(names) - len(values) :], values, strict=True)
    return {f"the default of {n}": v for n, v in [*last, *(f.__kwdefaults__ or {}).items()]}


def _is_of_xcore(f) -> bool:
    return f.__globals__.get("__name__", "").partition(".")[0] == "xcore"


@functools.lru_cache(256)
def names_of(code) -> tuple:
    """(the global names that code and functions in it read, those that it gives new values, attributes it reads)."""
    read, stored, attributes = set(), set(), set()
    for i in dis.get_instructions(code):
        if i.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            read.add(i.argval)
        elif i.opname in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"):  # the last since 3.12
            attributes.add(i.argval)
        elif i.opname in _STORES:
            stored.add(i.argval)
    if "getattr" in read:
        parts = [p for c in code.co_consts for p in (c if isinstance(c, tuple) else (c,))]
        attributes.update(p for p in parts if isinstance(p, str))
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            inner = names_of(c)
            read, stored, attributes = read | inner[0], stored | inner[1], attributes | inner[2]
    return frozenset(read), frozenset(stored), frozenset(attributes)


def _attributes(name: str, x, read, deep: int = 2) -> dict:
    """What code that reads these attributes finds in an object of the user's and in those that it holds, by name."""
    if isinstance(x, types.FunctionType) or _looked_into(x):
        return {}
    cls = x if isinstance(x, type) else type(x)
    where = x.__name__ if isinstance(x, types.ModuleType) else cls.__module__
    if where.partition(".")[0] in ("xcore", "numpy", "builtins"):
        return {}
    read = _with_methods(cls, read)
    whole = not (isinstance(x, types.ModuleType) or read.isdisjoint(_ALL))
    found = {f"{name}.{a}": v for a, v in _held(x, cls).items() if whole or a in read}
    for inner, v in [*found.items()] if deep else ():
        found |= _attributes(inner, v, read, deep - 1)
    return found


def _held(x, cls: type) -> dict:
    """The attributes of an object: those of its classes that are data, its slots, and its own."""
    if isinstance(x, types.ModuleType):
        return vars(x)
    held = {k: v for c in reversed(cls.__mro__) for k, v in vars(c).items() if k[:2] != "__"}
    slots = {k for k, v in held.items() if isinstance(v, types.MemberDescriptorType)}
    data = {k: v for k, v in held.items() if not hasattr(type(v), "__get__")}
    if x is cls:
        return data
    return data | {k: getattr(x, k) for k in slots if hasattr(x, k)} | getattr(x, "__dict__", {})


@functools.lru_cache(256)
def _with_methods(cls: type, read: frozenset) -> frozenset:
    """The names that code reads, and those that methods and properties of a class with these names read in turn."""
    seen, new = frozenset(), read.union(_IMPLICIT)
    while new:
        seen |= new
        members = [vars(c)[name] for c in cls.__mro__ for name in new if name in vars(c)]
        inner = [names_of(code) for m in members for code in _codes(m)]
        new = frozenset().union(*(names | attributes for names, _, attributes in inner)) - seen
    return seen


def _codes(member) -> list:
    """The code that runs where an attribute of a class is read or called."""
    parts = (member, *(getattr(member, name, None) for name in _RUN))
    return [p.__code__ for p in parts if isinstance(p, types.FunctionType)]


def _looked_into(x) -> bool:
    return isinstance(x, (*_NUMBERS, np.ndarray, Array, *_LISTS, dict, *_SETS))


def _references(f, deep: int = 2, statics=()) -> dict:
    """name -> value of what a function refers to outside of itself, by way of its helpers too.

    ``statics``: (name or position, _, value) of its static arguments, which may be the same objects and have
    other attributes.
    """
    found = _bound_arguments(f)
    f, owner = _plain_function(f)
    if f is None:
        return {}
    read, stored, attributes = names_of(f.__code__)
    found |= _defaults(f)
    found |= {n: f.__globals__[n] for n in read - stored if n in f.__globals__}
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        try:
            if name not in stored:
                found[name] = cell.cell_contents
        except ValueError:
            continue
    attributes |= read & _ALL
    found |= _attributes("self", owner, attributes)
    arguments = f.__code__.co_varnames
    given = [
        (arguments[n] if isinstance(n, int) and n < len(arguments) else n, v) for n, _, v in statics
    ]
    for name, x in [*found.items(), *given]:
        found |= _attributes(name, x, attributes)
    helpers = [v for v in found.values() if isinstance(v, types.FunctionType)] if deep else []
    for helper in helpers:
        if helper.__globals__ is f.__globals__:
            found = {**_references(helper, deep - 1), **found}
        elif not _is_of_xcore(helper) and not _is_installed(helper.__code__.co_filename):
            inner = _references(helper, deep - 1)
            found |= {f"{n} of {helper.__module__}": v for n, v in inner.items()}
    return found


@functools.lru_cache(256)
def _is_installed(file: str) -> bool:
    """Whether a file belongs to Python or to an installed package, which the user does not change."""
    return file.startswith(tuple(sysconfig.get_paths().values()))


def _print(x, left: list):
    """A value to compare later for changes; None for what is not compared."""
    left[0] -= 1
    if isinstance(x, _NUMBERS):
        return type(x), repr(x)
    if isinstance(x, np.ndarray) and x.dtype != object:
        part = x if x.nbytes <= _WHOLE else x.reshape(-1)[:: max(1, x.size // 4096)]
        return x.shape, str(x.dtype), blake2b(part.tobytes(), digest_size=8).digest()
    if type(x) is Array:
        return "array", id(x)
    if left[0] < 0:
        return None
    if isinstance(x, _LISTS):
        items = itertools.islice(x, _MOST)
        return type(x), len(x), tuple([_print(i, left) for i in items])
    if isinstance(x, dict):
        return type(x), len(x), tuple([(repr(k), _print(v, left)) for k, v in x.items()])
    if isinstance(x, _SETS):
        return type(x), len(x), tuple(sorted(map(repr, x)))
    return None


class Captures:
    """What a function referred to when it was traced."""

    __slots__ = ("alive", "prints")

    def __init__(self, f, statics):
        found = _references(f, statics=statics)
        self.prints = {n: _print(v, [_MOST]) for n, v in found.items()}
        # identities tell arrays apart, so they are kept
        self.alive = [v for v in found.values() if type(v) is Array]

    def changed(self, other: Captures) -> list[str]:
        known = other.prints
        return [n for n, p in self.prints.items() if p is not None and known.get(n, p) != p]


class Watch:
    """What ``sanitize`` records of one jitted function."""

    __slots__ = ("before", "busy")

    def __init__(self):
        self.busy: set = set()  # names that change while the function is traced: it writes itself
        self.before = None

    def begin(self, f, statics) -> None:
        self.before = Captures(f, statics)

    def traced(self, f, statics, found) -> None:
        now = Captures(f, statics)
        if self.before is not None:
            self.busy.update(self.before.changed(now))
        found.captures = now

    def called(self, f, statics, found, name: str) -> None:
        names = [n for n in found.captures.changed(Captures(f, statics)) if n not in self.busy]
        if names:
            listed = ", ".join(names)
            findings.report(
                "mutated", f"{name} was traced with another value of {listed} than now, and its program keeps "
                "that value. Pass it as an argument (or name it in static_argnames).",
            )  # fmt: skip


# Large constants


def note_constants(name: str, captured) -> None:
    """Report large arrays that a traced function captures instead of taking as arguments."""
    for x in captured:
        if type(x) is Array and x.nbytes > findings.LARGE:
            where = findings.place_of_capture(x)
            findings.report(
                "constant", f"{name} refers to an array of {x.nbytes / 2**20:.0f} MB ({x.type}) that it does not take "
                "as an argument: it is held as long as the traced function is, and cannot be donated or "
                "replaced. Pass it.", where,
            )  # fmt: skip


# Traced too often

_made: dict = {}  # (code, what it referred to, types) -> how often a new function of it was traced


def note_retrace(name: str, f, key, known, why) -> None:
    """Report the tenth trace of one function, or of new functions with the same code."""
    plain, _ = _plain_function(f)
    if plain is None:
        return
    same = [k for k in known if k[3] is key[3]]
    if len(same) + 1 == _OFTEN:
        findings.report(
            "retrace", f"{name} is traced for the {_OFTEN}th time; each takes far longer than a call. The last time: "
            f"{why(key, known)}",
        )  # fmt: skip
    elif not known:
        _count_remade(name, f, plain, key)


def _count_remade(name: str, f, plain, key) -> None:
    found = sorted(_references(f).items())
    prints = [(n, _print(v, [_MOST]) or id(v)) for n, v in found]
    mark = plain.__code__, repr(prints), key[:3]
    try:
        times = _made[mark] = _made.get(mark, 0) + 1
    except TypeError:
        return
    if len(_made) > 4096:
        _made.clear()
    if times == _OFTEN:
        findings.report(
            "retrace", f"jit is given {name} anew, and traces it for the {_OFTEN}th time with the same arguments: what "
            "was traced belongs to the jitted function. Call jit once, outside of the loop.",
        )  # fmt: skip
