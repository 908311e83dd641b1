"""``jit`` for functions that are made anew at each call of a solver: found again by what they refer to.

What a function refers to decides what its trace is: the code, the values in its closure and of the global
names it reads, those of its helpers, what these values hold. Where all that is the same as before, so is
the program. Arrays and containers are compared by their elements; where something may change and does not
show it (an iterator, an open file, a generator of random numbers), nothing is assumed to be the same.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import sys
import types

import numpy as np

from .._core.array import Array
from .._core.config import FastCache
from .captures import names_of
from .jit import jit

_MOST = 256  # functions that are kept
_DEEP = 4000  # things that are looked at
_WHOLE = 2**23  # bytes of an array that are looked at
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype, range, slice)
_LIBRARIES = {"xcore", "numpy", "scipy"} | sys.stdlib_module_names

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


def once(f):
    """``jit(f)``, that of before where ``f`` and all that it refers to are as they were.

    >>> import xcore.numpy as xnp
    >>> make = lambda a: once(lambda x: a * x)
    >>> make(2.0) is make(2.0), make(2.0) is make(3.0)
    (True, False)
    """
    try:
        key = _State().of(f)
    except Unseen:
        return jit(f)
    if len(_known) >= _MOST:
        _known.clear()
    return _known.get(key) or _known.setdefault(key, jit(f))


class _State:
    """What things hold, as something that can be compared."""

    def __init__(self):
        self.seen, self.alive = {}, []

    def of(self, x, attributes=()):
        if isinstance(x, _PLAIN):
            return type(x), repr(x)
        if id(x) in self.seen:
            return "seen", self.seen[id(x)]
        if len(self.seen) > _DEEP:
            raise Unseen
        self.seen[id(x)] = len(self.seen)
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
            return Same(x)
        raise Unseen

    def _function(self, x, _):
        code, cells = x.__code__, x.__closure__ or ()
        of_library = _is_of_library(x.__module__)
        named = getattr(sys.modules.get(x.__module__), x.__qualname__, None)
        if of_library and named is x:
            return Same(x)
        try:
            held = [c.cell_contents for c in cells]
        except ValueError:  # a name that has no value yet
            raise Unseen from None
        names = code.co_names
        parts = self._all(x.__defaults__, x.__kwdefaults__, *held, attributes=names)
        if of_library:
            return code, parts
        read = sorted(n for n in names_of(code)[0] if n in x.__globals__)
        return code, parts, *self._all(*[x.__globals__[n] for n in read], attributes=names)

    def _named(self, x, attributes):
        """A module or a class: what the code names of it."""
        if _is_of_library(x.__name__ if isinstance(x, types.ModuleType) else x.__module__):
            return Same(x)
        held = vars(x)
        return Same(x), self._all(
            *[held[n] for n in attributes if n in held], attributes=attributes
        )

    def _object(self, x, attributes):
        kind = type(x)
        if isinstance(x, (enum.Enum, np.ufunc)):
            return Same(x)
        ours = kind.__module__.partition(".")[0] in ("xcore", "jaxlib")
        if ours and (
            not hasattr(x, "__dict__") or (callable(x) and not dataclasses.is_dataclass(x))
        ):
            return x if kind.__hash__ else Same(x)
        if not hasattr(x, "__dict__") or (_is_of_library(kind.__module__) and not ours):
            raise Unseen
        return self._named(kind, attributes), self.of(vars(x), attributes)


_STATES = (
    (np.ndarray, _State._array), (Array, _State._device_array), ((tuple, list), _State._items),
    (dict, _State._dict), (functools.partial, _State._partial), (types.MethodType, _State._method),
    (types.BuiltinFunctionType, _State._builtin), (types.FunctionType, _State._function),
    ((types.ModuleType, type), _State._named),
)  # fmt: skip


def _is_of_library(module) -> bool:
    return (module or "").partition(".")[0] in _LIBRARIES
