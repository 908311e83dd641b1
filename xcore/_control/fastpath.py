"""The call paths of jitted functions: for one or two arrays a table, for pytrees a function each.

The form is ``_core.dispatch``'s. For pytrees the path is generated for the structure, with direct
guards instead of a flatten. Whatever is not plainly the fast case falls to the slow path.
"""

from __future__ import annotations

import functools
import itertools
from textwrap import indent

import numpy as np

from .._backend.client import default_device, putter
from .._core import ArrayType, dtypes, tree
from .._core.array import Array, ScalarBuffers, reach_of
from .._core.config import get_state
from .._core.dispatch import BUFFER, Path, looked_up, maker, with_parameters
from .._core.keys import exact, has_zero
from .._core.source import hide_frames
from .._core.struct import fields_of

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

    count = _plain_parameters(fun)
    general.has_table = count is not None
    if count:
        call = maker(_plain_path(count))(general.fast.get, other)
        return with_parameters(call, fun, fun.__code__)

    def call(*args, **kwargs):
        try:
            return other(args, kwargs)
        except Exception as e:
            hide_frames(e)
            raise

    return call


def _plain_parameters(fun) -> int | None:
    """The number of parameters if they are one or two, without defaults or variable arguments."""
    code = getattr(fun, "__code__", None)
    if code is None or code.co_flags & 12 or fun.__defaults__ or code.co_kwonlyargcount:
        return None
    count = code.co_argcount
    if count not in (1, 2) or code.co_posonlyargcount or getattr(fun, "__self__", None) is not None:
        return None
    return count


@functools.cache
def _plain_path(count: int) -> Path:
    names = [f"_a{i}" for i in range(count)]
    listed = ", ".join(names)
    key = ", ".join(f"{n}._t" for n in names)
    test = " and ".join(f"type({n}) is _Array" for n in names)
    return Path(
        params=listed,
        find=looked_up(f"({key}) if {test} else None"),
        buffers=f"[{', '.join(map(BUFFER.format, names))}]",
        arrays=f"[{listed}]",
        slow=f"_slow(({listed},), {{}})",
        module=__name__,
    )


# Generated call paths


class _Writer:
    """Writes the source of one call path, and collects the objects it refers to.

    ``scalars``: whether Python numbers and NumPy arrays may be among the arguments; they are
    carried as arrays on the default device.
    """

    def __init__(self, scalars: bool):
        self.scalars = scalars
        self.lines: list[str] = []
        self.names: dict = {
            "_MISS": MISS,
            "_leaves": tree.leaves,
            "_exact": exact,
            "_unflatten": tree.unflatten,
        }
        self.results: list[str] = []
        self.tests: list[str] = []
        self.buffers: list[str] = []

    def bind(self, value) -> str:
        name = f"_k{len(self.names)}"
        self.names[name] = value
        return name

    def take(self, expression: str, value) -> bool:
        """Code that checks one node of the arguments and finds its leaves; False if not supported."""
        name = f"_a{len(self.lines)}"
        self.lines.append(f"{name} = {expression}")
        cls = type(value)
        if cls is Array:
            self.tests.append(f"{name}._t is not {self.bind(value._t)}")
            self.buffers.append(
                BUFFER.format(name) if self.scalars else f"{name}._donated_buffer()"
            )
            return True
        if cls in (dict, list, tuple):
            return self._take_container(name, cls, value)
        if (fields := fields_of(cls)) is not None:
            return self._take_struct(name, value, *fields)
        if cls in _SCALARS:
            return self._take_scalar(name, value)
        if cls is np.ndarray:
            return self._take_numpy(name, value)
        self.tests.append(f"{name} is not None")
        return value is None

    def _take_container(self, name, cls, value) -> bool:
        self.lines.append(
            f"if type({name}) is not {cls.__name__} or len({name}) != {len(value)}: return _MISS"
        )
        keys = sorted(value) if cls is dict else range(len(value))
        if cls is dict and not all(isinstance(k, (str, int)) for k in keys):
            return False
        return all([self.take(f"{name}[{k!r}]", value[k]) for k in keys])

    def _take_struct(self, name, value, children, constants) -> bool:
        self.lines.append(f"if type({name}) is not {self.bind(type(value))}: return _MISS")
        known = [self.take_static(f"{name}.{k}", getattr(value, k)) for k in constants]
        return all(known) and all([self.take(f"{name}.{k}", getattr(value, k)) for k in children])

    def take_static(self, expression: str, value) -> bool:
        """Code that checks a static argument."""
        name, kept, cls = f"_a{len(self.lines)}", self.bind(value), self.bind(type(value))
        self.lines.append(f"{name} = {expression}")
        other = f"type({name}) is not {cls} or {name} != {kept}"
        if isinstance(value, tuple):
            other = f"_exact({name}) != {self.bind(exact(value))}"
        self.tests.append(f"({name} is not {kept} and ({other}))")
        return not has_zero(value)

    def _take_numpy(self, name, value) -> bool:
        kind = f"{name}.dtype != {self.bind(value.dtype)} or {name}.shape != {value.shape!r}"
        self.tests.append(f"type({name}) is not {self.bind(np.ndarray)} or {kind}")
        self.buffers.append(f"{self.bind(_put_like(value))}({name})")
        return self.scalars and value.dtype.isnative and value.dtype.names is None

    def _take_scalar(self, name, value) -> bool:
        cls = type(value)
        dtype = dtypes.scalar_dtype(cls(0))
        reach = reach_of(dtype) if cls is int else None
        self.tests.append(f"type({name}) is not {cls.__name__}")
        self.buffers.append(f"{self.bind(ScalarBuffers(dtype, True, reach))}[{name}]")
        return self.scalars and (not reach or reach[0] <= value <= reach[1])


_SCALARS = (float, int)


def _put_like(value: np.ndarray):
    """What makes buffers of arrays with this one's dtype and shape, narrower where the setting says so."""
    dtype = dtypes.at_width(value.dtype)
    put = putter(ArrayType(value.shape, dtype), default_device())
    return put if dtype is value.dtype else lambda x: put(x.astype(dtype))


def _result_of(writer: _Writer, structure, types) -> str:
    """An expression that builds the result from ``_r``, whose arrays have these types."""
    if _is_plain(structure):
        return _rebuild(writer, tree.unflatten(structure, types), itertools.count())
    leaves = ", ".join(_rebuild(writer, t, itertools.count(i)) for i, t in enumerate(types))
    return f"_unflatten({writer.bind(structure)}, [{leaves}])"


def _rebuild(writer: _Writer, tree, counter) -> str:
    """The same where the tree's leaves are the types."""
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
    out = f"_o{i}"
    writer.results.append(
        f"{out} = _new(_Array); {out}._b = _r[{i}]; {out}._h = None; {out}._t = {writer.bind(tree)}"
    )
    return out


def _is_plain(structure) -> bool:
    """Only containers whose display can be written out; classes of users' may look at what they are made of."""
    node = structure.node_data()
    if node is None:  # a leaf
        return True
    cls, keys = node
    plain = cls in (list, tuple, type(None))
    plain = plain or (cls is dict and all(isinstance(k, (str, int)) for k in keys))
    return plain and all(map(_is_plain, structure.children()))


_FIND = """\
try:
    if len(args) != {args} or len(kwargs) != {kwargs}: return _MISS
{lines}
    if {tests}: return _MISS
except (AttributeError, KeyError, IndexError, TypeError):
    return _MISS
_entry = _known"""


def generated_call(general, args, kwargs, found, exe, captured):
    """A function ``(args, kwargs) -> result or MISS`` for arguments like these, or None.

    Args:
      general: says which arguments are static.
      args, kwargs: the arguments of a call.
      found: the traced variant for them.
      exe: its executable.
      captured: the values that the function captured, where the executable wants them.
    """
    writer = _Writer(exe.devices == (default_device(),) and not found.donors)
    writer.buffers = [writer.bind(c._buffer()) for c in captured]
    static = general.static_argnums, general.static_argnames
    given = [(f"args[{i}]", a, i in static[0]) for i, a in enumerate(args)]
    given += [(f"kwargs[{k!r}]", kwargs[k], k in static[1]) for k in sorted(kwargs)]
    taken = [(writer.take_static if fixed else writer.take)(e, a) for e, a, fixed in given]
    if not all(taken):
        return None
    narrow = [dtypes.scalar_dtype(cls(0)) for cls in _SCALARS]
    if any(t.weak and t.dtype not in narrow for t in found.program.in_types):
        return None  # a scalar carried at another width
    build = _result_of(writer, found.out_tree, exe.result_types)
    writer.names["_known"] = exe.execute, exe.handlers
    find = _FIND.format(
        args=len(args), kwargs=len(kwargs), lines=indent("\n".join(writer.lines), " " * 4),
        tests=" or ".join(writer.tests) or "False",
    )  # fmt: skip
    run = "_r = _run({buffers}).consume_with_handlers(_handlers)"
    path = Path(
        params="args, kwargs",
        find=find,
        entry="_run, _handlers",
        buffers=f"[{', '.join(writer.buffers)}]",
        arrays="[_x for _x in _leaves((args, kwargs)) if type(_x) is _Array]",
        slow="_MISS",
        bound=", ".join(writer.names),
        wrap="\n".join([run, *writer.results]),
        result=build,
        module=__name__,
    )
    return path.maker()(**writer.names)
