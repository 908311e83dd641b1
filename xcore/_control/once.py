"""``jit`` for functions that are made anew at each call of a solver: found again by what they refer to.

What a function refers to decides what its trace is: the code, the values in its closure and of the global
names it reads, those of its helpers, what these values hold, the classes of objects with all that stands
in them. Where all that is the same as before, so is the program. Arrays and containers are compared by
their elements. Where something may change without a sign (random numbers, the time, files, the environment,
iterators, what only ``getattr`` finds), nothing is assumed: the function is traced anew.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import sys
import types
from typing import Any

import numpy as np

from .._core import Array, is_evaluating, is_traced, tree
from .._core.config import FastCache
from .captures import names_of
from .jit import jit
from .levels import OF_FEW_NUMBERS

_MOST = 256  # functions that are kept
_DEEP = 4000  # things that are looked at
_WHOLE = 2**23  # bytes of an array that are looked at
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype, range, slice)
_BUILTIN = {bool, int, float, complex, str, bytes, type(None)}
# Modules whose functions give the same for the same arguments; other modules of Python may not.
_PURE = set(
    "xcore numpy scipy abc builtins cmath collections dataclasses enum fractions functools itertools math "
    "numbers operator types typing".split()
)
_CHANGING = sys.stdlib_module_names - _PURE
# Names of what looks at more than its arguments, wherever it comes from.
_ASKING = frozenset(
    "__import__ default_rng eval exec fromfile genfromtxt getattr globals input load loadtxt locals memmap "
    "open print random rvs vars".split()
)
_OF_NO_MATTER = (
    "__dict__",
    "__weakref__",
    "__doc__",
    "__dataclass_fields__",
    "__dataclass_params__",
)

_known = FastCache()


class Unseen(Exception):
    """Something may change without a sign."""


class Same:
    """A thing that is equal to itself alone, and stays alive: nothing else gets its address."""

    __slots__ = ("thing",)

    def __init__(self, thing):
        self.thing = thing

    def __eq__(self, other):
        return type(other) is Same and self.thing is other.thing

    def __hash__(self):
        return id(self.thing)


def as_one_program(run: Any, *given: Any, options: Any = OF_FEW_NUMBERS) -> Any:
    """``run(*given)`` of a solver: outside of transformations it would be a hundred small programs.

    >>> import xcore.numpy as xnp
    >>> float(as_one_program(lambda x, y: (x * y).sum(), xnp.ones(3), 2.0))
    6.0
    """
    if is_evaluating() and not any(map(is_traced, tree.leaves(given))):
        run = once(run, compiler_options=options)
    return run(*given)


def once(f, **options):
    """``jit(f, **options)``, that of before where ``f`` and all that it refers to are as they were.

    >>> import xcore.numpy as xnp
    >>> make = lambda a: once(lambda x: a * x)
    >>> make(2.0) is make(2.0), make(2.0) is make(3.0)
    (True, False)
    """
    try:
        key = _State().of(f)
    except Unseen:
        return jit(f, **options)
    found = _known.get(key)
    if found is None:
        for oldest in list(_known)[: max(len(_known) - _MOST + 1, 0)]:
            _known.pop(oldest, None)
        found = _known.setdefault(key, jit(f, **options))
    return found


class _State:
    """What things hold, as something that can be compared."""

    def __init__(self):
        self.seen, self.alive = {}, []

    def of(self, x, attributes=()):
        if isinstance(x, _PLAIN):
            return type(x), repr(x)
        # of a module each function sees other names
        place = (id(x), attributes) if isinstance(x, types.ModuleType) else id(x)
        if place in self.seen:
            return "seen", self.seen[place]
        if len(self.seen) > _DEEP:
            raise Unseen
        self.seen[place] = len(self.seen)
        self.alive.append(x)  # or its id may become another's
        for kinds, state in _STATES:
            if isinstance(x, kinds):
                return state(self, x, attributes)
        return self._object(x, attributes)

    def _all(self, *parts, attributes=()):
        return tuple([self.of(p, attributes) for p in parts])

    def _array(self, x, _):
        if x.dtype.hasobject or x.nbytes > _WHOLE:
            raise Unseen
        digest = hashlib.blake2b(np.ascontiguousarray(x).tobytes(), digest_size=16).digest()
        return type(x), x.shape, str(x.dtype), digest

    def _device_array(self, x, _):
        if x.nbytes > 2**20 or not x.is_fully_addressable:
            return Same(x)
        return x.type, x.sharding, self._array(np.asarray(x), None)

    def _items(self, x, attributes):
        if _BUILTIN.issuperset(map(type, x)):
            return type(x), repr([*x])
        return type(x), self._all(*x, attributes=attributes)

    def _dict(self, x, attributes):
        return type(x), self._all(*x.keys()), self._all(*x.values(), attributes=attributes)

    def _partial(self, x, _):
        return "partial", self._all(x.func, x.args, x.keywords)

    def _method(self, x, _):
        return "method", self._all(x.__func__, x.__self__)

    def _builtin(self, x, _):
        owner = x.__self__
        if owner is None or isinstance(owner, (type, types.ModuleType)):
            module = owner.__name__ if isinstance(owner, types.ModuleType) else x.__module__
            if _is_pure(module or getattr(owner, "__module__", None)):
                return Same(x)
        raise Unseen

    def _function(self, x, _):
        pure, code, cells = _is_pure(x.__module__), x.__code__, x.__closure__ or ()
        named = getattr(sys.modules.get(x.__module__), x.__qualname__, None)
        if pure and named is x:
            return Same(x)
        try:
            held = [c.cell_contents for c in cells]
        except ValueError:  # a name that has no value yet
            raise Unseen from None
        names = _every_name(code)
        parts = self._all(x.__defaults__, x.__kwdefaults__, *held, attributes=names)
        if pure:
            return code, parts
        if not names.isdisjoint(_ASKING) or not names.isdisjoint(_CHANGING):
            raise Unseen
        read = sorted(n for n in names_of(code)[0] if n in x.__globals__)
        parts += self._all(vars(x), attributes=names)
        return code, parts, *self._all(*[x.__globals__[n] for n in read], attributes=names)

    def _module(self, x, attributes):
        """What the code names of a module."""
        if _is_pure(x.__name__):
            return Same(x)
        held = [vars(x)[n] for n in sorted(attributes) if n in vars(x)]
        return Same(x), self._all(*held, attributes=attributes)

    def _class(self, x, _):
        """All that stands in a class and in those it comes from."""
        if _is_pure(x.__module__):
            return Same(x)
        held = [
            v for c in x.__mro__ if not _is_pure(c.__module__) for n, v in vars(c).items()
            if n not in _OF_NO_MATTER
        ]  # fmt: skip
        return Same(x), self._all(*held)

    def _wrapped(self, x, _):
        return type(x), self._all(x.__func__)

    def _property(self, x, _):
        return property, self._all(x.fget)

    def _object(self, x, _):
        kind = type(x)
        if isinstance(x, (enum.Enum, np.ufunc)):
            return Same(x)
        if kind.__module__.partition(".")[0] in ("xcore", "jaxlib"):
            if kind.__module__.startswith("xcore.random"):  # generators, that count what they gave
                raise Unseen
            if not hasattr(x, "__dict__") or (callable(x) and not dataclasses.is_dataclass(x)):
                return x if kind.__hash__ else Same(x)
        elif not hasattr(x, "__dict__") or _is_pure(kind.__module__):
            raise Unseen
        return self.of(kind), self.of(vars(x))


_STATES = (
    (np.ndarray, _State._array), (Array, _State._device_array), ((tuple, list), _State._items),
    (dict, _State._dict), (functools.partial, _State._partial), (types.MethodType, _State._method),
    (types.BuiltinFunctionType, _State._builtin), (types.FunctionType, _State._function),
    (types.ModuleType, _State._module), (type, _State._class), (property, _State._property),
    ((staticmethod, classmethod), _State._wrapped),
)  # fmt: skip


def _is_pure(module) -> bool:
    """Whether what a module holds gives the same for the same; modules of Python that do not are refused."""
    root = (module or "").partition(".")[0]
    if root in _CHANGING:
        raise Unseen
    return root in _PURE


@functools.lru_cache(256)
def _every_name(code) -> frozenset:
    """The names of a function's code and of functions in it: globals, attributes, what it imports."""
    inner = [_every_name(c) for c in code.co_consts if isinstance(c, types.CodeType)]
    return frozenset(code.co_names).union(*inner)
