"""The fast path of a jitted call.

What a call costs beside the runtime's own share is Python between the user's call and
``execute``. So: one closure for each number of arguments, a dict keyed by the identity of interned
types, names bound as locals; and for pytrees a function generated for the structure, with direct
guards instead of a flatten. Whatever is not plainly the fast case falls to the slow path.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np

from .._backend.client import RuntimeFailure, default_device, putter
from .._core import dtypes, tree
from .._core.array import Array, _scalars, scalar
from .._core.compile import translate
from .._core.config import get_state
from .._core.source import hide_frames
from .._core.types import ArrayType

MISS = object()


def make_fast(general, slow, fun):
    """The function that users call: the fast path in front of ``slow``."""
    generated = general.generated

    def other(args, kwargs):
        if get_state() is None:
            for attempt in generated:
                out = attempt(args, kwargs)
                if out is not MISS:
                    return out
        return slow(*args, **kwargs)

    names = _plain_parameters(fun)
    general.has_table = names is not None
    if names:
        return _maker(names)(general.fast.get, other)

    def call(*args, **kwargs):
        try:
            return other(args, kwargs)
        except Exception as e:
            hide_frames(e)
            raise

    return call


def _plain_parameters(fun):
    """The names of one or two parameters if there are no others, defaults or variable arguments."""
    code = getattr(fun, "__code__", None)
    if code is None or code.co_flags & 12 or fun.__defaults__ or code.co_kwonlyargcount:
        return None
    count = code.co_argcount
    if count not in (1, 2) or code.co_posonlyargcount or getattr(fun, "__self__", None) is not None:
        return None
    return code.co_varnames[:count]


@functools.cache
def _maker(names):
    """A function that makes the fast path for parameters of these names.

    Written out for the names, it needs neither ``*args`` nor ``**kwargs``; and an array whose slots
    are set one by one costs half of one that is made by calling its class.
    """
    listed = ", ".join(names)
    test = " and ".join(f"type({n}) is _Array" for n in names)
    key = f"{names[0]}._t" if len(names) == 1 else "(" + ", ".join(f"{n}._t" for n in names) + ")"
    buffers = ", ".join(f"{n}._b" for n in names)
    source = f"""
def make(_get, _other):
    def call({listed}):
        if {test} and _state() is None:
            _entry = _get({key})
            if _entry is not None:
                _run, _handlers, _t = _entry
                try:
                    _out = _new(_Array)
                    _out._b = _run([{buffers}]).consume_with_handlers(_handlers)[0]
                    _out._t = _t
                    return _out
                except _RuntimeFailure as _e:
                    raise _translate(_e, [{listed}]) from None
        try:
            return _other(({listed},), {{}})
        except Exception as _e:
            _hide_frames(_e)
            raise
    return call
"""
    scope = {
        "_Array": Array, "_new": object.__new__, "_state": get_state,
        "_RuntimeFailure": RuntimeFailure, "_translate": translate,
        "_hide_frames": hide_frames,
        "__name__": __name__,
    }  # fmt: skip
    exec(source, scope)
    return scope["make"]


# Generated call paths


class _Writer:
    """Writes the source of one call path, and collects the objects it refers to.

    ``scalars``: whether Python numbers and NumPy arrays may be among the arguments; they are
    carried as arrays on the default device, equal ones as the same array.
    """

    def __init__(self, scalars: bool):
        self.scalars = scalars
        self.lines: list[str] = []
        self.names: dict = {"Array": Array, "MISS": MISS, "new": object.__new__}
        self.results: list[str] = []
        self.tests: list[str] = []
        self.buffers: list[str] = []

    def bind(self, value) -> str:
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def take(self, expression: str, value) -> bool:
        """Code that checks one node of the arguments and finds its leaves; False if not supported."""
        name = f"a{len(self.lines)}"
        self.lines.append(f"{name} = {expression}")
        cls = type(value)
        if cls is Array:
            self.tests.append(f"{name}._t is not {self.bind(value._t)}")
            self.buffers.append(f"{name}._b")
            return True
        if cls in (dict, list, tuple):
            return self._take_container(name, cls, value)
        if cls is float or (cls is int and -(2**31) <= value < 2**31):
            return self._take_scalar(name, cls)
        if cls is np.ndarray:
            return self._take_numpy(name, value)
        self.tests.append(f"{name} is not None")
        return value is None

    def _take_container(self, name, cls, value) -> bool:
        self.lines.append(
            f"if type({name}) is not {cls.__name__} or len({name}) != {len(value)}: return MISS"
        )
        keys = sorted(value) if cls is dict else range(len(value))
        if cls is dict and not all(isinstance(k, (str, int)) for k in keys):
            return False
        return all([self.take(f"{name}[{k!r}]", value[k]) for k in keys])

    def take_static(self, expression: str, value) -> bool:
        """Code that checks a static argument."""
        name, kept, cls = f"a{len(self.lines)}", self.bind(value), self.bind(type(value))
        self.lines.append(f"{name} = {expression}")
        other = f"type({name}) is not {cls} or {name} != {kept}"
        self.tests.append(f"({name} is not {kept} and ({other}))")
        return True

    def _take_numpy(self, name, value) -> bool:
        kind = f"{name}.dtype != {self.bind(value.dtype)} or {name}.shape != {value.shape!r}"
        self.tests.append(f"type({name}) is not {self.bind(np.ndarray)} or {kind}")
        self.buffers.append(f"{self.bind(_put_like(value))}({name})")
        return self.scalars and value.dtype.isnative

    def _take_scalar(self, name, cls) -> bool:
        self.tests.append(f"type({name}) is not {cls.__name__}")
        self.buffers.append(f"{self.bind(_scalar_buffer)}({name})")
        return self.scalars


def _put_like(value: np.ndarray):
    """What makes buffers of arrays with this one's dtype and shape."""
    return putter(ArrayType(value.shape, value.dtype), default_device())


def _scalar_buffer(value):
    cls = type(value)
    found = _scalars.get((cls, value, _scalar_types[cls], True)) if value else None
    return (found or scalar(value, _scalar_types[cls], True))._b


_scalar_types: dict = {}


def _rebuild(writer: _Writer, tree, counter) -> str:
    """An expression that builds the result from ``r``, for a tree whose leaves are result types."""
    cls = type(tree)
    if cls is dict:
        return (
            "{" + ", ".join(f"{k!r}: {_rebuild(writer, v, counter)}" for k, v in tree.items()) + "}"
        )
    if cls in (list, tuple):
        inside = "".join(f"{_rebuild(writer, v, counter)}, " for v in tree)
        return f"[{inside}]" if cls is list else f"({inside})"
    if tree is None:
        return "None"
    i = next(counter)
    writer.results.append(f"o{i} = new(Array); o{i}._b = r[{i}]; o{i}._t = {writer.bind(tree)}")
    return f"o{i}"


def _plain(tree) -> bool:
    """Only containers whose display can be written out."""
    cls = type(tree)
    if cls is dict:
        return all(isinstance(k, (str, int)) and _plain(v) for k, v in tree.items())
    if cls in (list, tuple):
        return all(map(_plain, tree))
    return tree is None or hasattr(tree, "weak_type")


def generated_call(general, args, kwargs, found, exe, captured):
    """A function ``(args, kwargs) -> result or MISS`` for arguments like these, or None.

    Args:
      general: says which arguments are static.
      args, kwargs: the arguments of a call.
      found: the traced variant for them.
      exe: its executable.
      captured: the values that the function captured, where the executable wants them.
    """
    result = tree.unflatten(found.out_tree, exe.result_types)
    writer = _Writer(exe.devices == (default_device(),) and not found.donors)
    writer.buffers = [writer.bind(c._b) for c in captured]
    static = general.static_argnums, general.static_argnames
    given = [(f"args[{i}]", a, i in static[0]) for i, a in enumerate(args)]
    given += [(f"kwargs[{k!r}]", kwargs[k], k in static[1]) for k in sorted(kwargs)]
    taken = [(writer.take_static if fixed else writer.take)(e, a) for e, a, fixed in given]
    if not _plain(result) or not all(taken):
        return None
    _scalar_types.update({float: dtypes.default_dtype("float"), int: dtypes.default_dtype("int")})
    if any(t.weak and t.dtype not in _scalar_types.values() for t in found.program.in_types):
        return None  # a scalar carried at another width
    run, handlers = writer.bind(exe.execute), writer.bind(exe.handlers)
    build = _rebuild(writer, result, itertools.count())
    body = "\n".join(f"        {line}" for line in writer.lines)
    tests = " or ".join(writer.tests) or "False"
    wrap = "\n".join(f"    {line}" for line in writer.results)
    source = f"""
def generated(args, kwargs):
    try:
        if len(args) != {len(args)} or len(kwargs) != {len(kwargs)}: return MISS
{body}
        if {tests}: return MISS
    except (AttributeError, KeyError, IndexError, TypeError):
        return MISS
    try:
        r = {run}([{", ".join(writer.buffers)}]).consume_with_handlers({handlers})
    except RuntimeFailure as e:
        raise translate(e, [x for x in leaves((args, kwargs)) if type(x) is Array]) from None
{wrap}
    return {build}
"""
    writer.names.update(RuntimeFailure=RuntimeFailure, translate=translate, leaves=tree.leaves)
    exec(source, writer.names)
    return writer.names["generated"]
