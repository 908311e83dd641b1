"""Calls on the host: windows of small arrays, and programs, as Python functions of NumPy (see host.py)."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .array import Array, on_host
from .config import KEPT
from .host import (
    FLOATS,
    SIGNED,
    TAME,
    WHOLE,
    WITHOUT_ZERO,
    Step,
    find_tameness,
    fits,
    moment,
    tameness,
    value_of,
)
from .keys import has_zero
from .types import ArrayType, Placed

if TYPE_CHECKING:
    from .program import Eqn, Program

LONGEST = 6  # equations of a program that is run by NumPy
_WANTS = {
    "moves": 0,
    "orders": TAME,
}  # how tame floats must be for a kind of operation; SIGNED for others


def found(value: str, array: str) -> list[str]:
    """Source lines that bind an array's NumPy value, or return."""
    return [
        f"{value} = {array}._h",
        f"if {value} is None and ({value} := _value({array})) is None: return None",
    ]


# Windows


def _window_index(starts: Sequence[int], sizes: Sequence[int], shape: Sequence[int]) -> Any:
    """The index of a window of which the axes that ``shape`` lacks have length 1: any of them, as it is the same."""
    index, kept = list[Any](), list(shape)
    for a, n in zip(starts, sizes, strict=True):
        if n == 1 and (not kept or kept[0] != 1):
            index.append(a)
        else:
            index.append(slice(a, a + n))
            kept.pop(0)
    return tuple(index)


def window_call(
    t: Any, starts: Sequence[int], sizes: Sequence[int], shape: Sequence[int], result: Any
) -> Any:
    """A function that slices an array in NumPy, or None."""
    if not fits(t):
        return None
    take = operator.itemgetter(_window_index(starts, sizes, shape))
    return _function(found("h", "x"), "x", "take(h)", result, {"take": take})


_CHANGES = {"set": "new[place] = {v}", "add": "new[place] += {v}", "mul": "new[place] *= {v}"}


def update_call(
    t: Any, value: Any, starts: Sequence[int], sizes: Sequence[int], shape: Sequence[int], how: str
) -> Any:
    """A function that copies an array in NumPy and overwrites a window of it, or None.

    ``value``: the type of the values, or what has the buffers of a Python scalar.
    """
    whole = how == "set" or (t.dtype in WHOLE and t.dtype != bool)
    if not fits(t) or how not in _CHANGES or not whole:
        return None
    names: dict[str, Any] = {"place": _window_index(starts, sizes, shape)}
    if isinstance(value, (ArrayType, Placed)):
        if not fits(value):
            return None
        lines = found("v", "y")
    else:
        names["scalars"] = Scalars(value, 0)
        lines = ["v = scalars[y]"]
    lines += [*found("h", "x"), "new = h.copy()", _CHANGES[how].format(v="v")]
    return _function(lines, "x, y", "new", t, names)


# Programs in NumPy


class Scalars(dict[Any, Any]):
    """Python scalars of one class as NumPy has them in an operation: value -> 0-d array; None if it is not tame.

    ``source``: what has their buffers. ``steps``: what is done to the 0-d array.
    """

    def __init__(self, source: Any, wants: int, steps: Sequence[Callable[[Any], Any]] = ()) -> None:
        super().__init__()
        self.source, self.wants, self.steps = source, wants, steps

    def after(self, function: Callable[[Any], Any]) -> Scalars:
        """The same after another step."""
        return Scalars(self.source, self.wants, (*self.steps, function))

    def __missing__(self, value: Any) -> Any:
        reach = self.source.reach
        if reach and not reach[0] <= value <= reach[1]:
            raise OverflowError
        with np.errstate(all="ignore"):
            made = np.asarray(value, self.source.dtype)
        for step in self.steps:
            made = step(made)
        made = made if tameness(made) >= self.wants else None
        if not has_zero(value):
            if len(self) >= KEPT:
                self.clear()
            self[value] = made
        return made


class _Writer:
    """Writes a program as one Python function of arrays and Python scalars."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Any] = {}
        self.place: dict[Any, str] = {}  # of a variable
        self.spread: set[Any] = set()  # variables that are scalars here
        self.signed: set[Any] = set()  # floats that may be negative zeros
        self.born: set[Any] = set()  # floats that need not be tame
        # variables that depend on one Python scalar alone: its number among the arguments, and what it becomes
        self.alone: dict[Any, tuple[int, Scalars]] = {}
        self.given: dict[Any, int] = {}  # variables that are an argument, an array

    def bind(self, value: Any) -> str:
        name = f"_k{len(self.names)}"
        self.names[name] = value
        return name

    def operand(self, x: Any, wants: int) -> str | None:
        """The expression of an operand; None for constants that are not tame."""
        if x in self.place:
            return self.place[x]
        if x in self.alone:
            i, scalars = self.alone[x]
            name = self.place[x] = f"s{len(self.place)}"
            self.lines.append(f"{name} = {self.bind(scalars)}[a{i}]")
            self.lines.append(f"if {name} is None: return None")
            return name
        value = np.asarray(x.value)
        return self.bind(value) if tameness(value) >= wants else None


def host_call(p: Program, given: Sequence[Any], result: Any) -> Callable[..., Any] | None:
    """The program in NumPy, for a call with these arguments; None where not all of it has equal bits there.

    Args:
      p: the program.
      given: an argument each: an array's type; for a Python scalar what has its buffers; None for None.
      result: the type of the result.

    The function takes the arguments and gives the array, or None where the values ask for the compiled program.
    """
    arrays = [g for g in given if g is not None]
    if len(p.outputs) != 1 or len(p.eqns) > LONGEST or len(arrays) != len(p.inputs):
        return None
    types = [g for g in arrays if isinstance(g, (ArrayType, Placed))]
    if not all(
        map(fits, [result, *types])
    ):  # on a mesh of one device the result lives where all arrays do
        return None
    steps = [_step(e) for e in p.eqns]
    if None in steps:
        return None
    wants = max([_WANTS.get(s.kind, SIGNED) for s in steps if s], default=0)
    w = _Writer()
    inputs = iter(p.inputs)
    for i, g in enumerate(given):
        if g is not None:
            _take(w, i, next(inputs), g, wants)
    for e, step in zip(p.eqns, steps, strict=True):
        if not step or not _write(w, e, step, wants):
            return None
    call = _compiled(w, p.outputs[0], len(given), result)
    return call if call is not None and _has_type(call, given, result) else None


def _has_type(call: Callable[..., Any], given: Sequence[Any], result: ArrayType) -> bool:
    """Whether the call's result has the expected type, tried on arrays of ones."""
    ones = [
        None if g is None else np.ones(g.shape if isinstance(g, ArrayType) else (), g.dtype)
        for g in given
    ]
    trial = [
        on_host(x, g) if isinstance(g, ArrayType) else None if x is None else x.item()
        for x, g in zip(ones, given, strict=True)
    ]  # fmt: skip
    try:
        made = call(*trial)
    except ValueError:  # NumPy does not spread it so
        return False
    return made is not None and made._h.shape == result.shape and made._h.dtype == result.dtype


def _step(e: Eqn) -> Step | None:
    step = e.op.host
    if step is not None and not isinstance(step, Step):
        step = step([a.type for a in e.inputs], **e.params)
    if step is None:
        return None
    types = [a.type for a in (*e.inputs, *e.outputs)]
    if step.dtypes is not None and any([t.dtype not in step.dtypes for t in types]):
        return None
    return step if all(map(fits, types)) else None


def _take(w: _Writer, i: int, var: Any, given: Any, wants: int) -> None:
    """Write the source that binds an argument's value."""
    if isinstance(given, ArrayType):
        w.place[var] = f"h{i}"
        w.lines += found(f"h{i}", f"a{i}")
        if given.dtype in FLOATS and wants:
            w.lines.append(f"if (a{i}._c or _tameness(a{i})) < {wants}: return None")
        w.given[var] = i
    else:
        w.alone[var] = i, Scalars(given, wants)


def _write(w: _Writer, e: Eqn, step: Step, wants: int) -> bool:
    """Write the source for one equation; False where it has no equivalent in NumPy."""
    out = e.outputs[0]
    if e.op.name == "broadcast_in_dim" and e.inputs[0].type.shape == ():
        w.spread.add(out)
        return _alias(w, e.inputs[0], out, wants)
    function = step.make([a.type for a in e.inputs], **e.params)
    if function is None:
        return False
    if (
        len(e.inputs) == 1
        and e.inputs[0] in w.alone
        and (step.spreads or e.inputs[0] not in w.spread)
    ):
        i, scalars = w.alone[e.inputs[0]]
        w.alone[out] = i, scalars.after(function)
        if e.inputs[0] in w.spread:
            w.spread.add(out)
        return step.kind == "moves"
    if step.kind != "moves" and any([a in w.born for a in e.inputs]):
        return False
    if step.kind == "orders" and any([a in w.signed for a in e.inputs]):
        return False
    if step.kind == "divides" and not _has_no_zero(w, e.inputs[1]):
        return False
    operands = [w.operand(a, wants) for a in e.inputs]
    if None in operands:
        return False
    whole = [a not in w.spread and a in w.place for a in e.inputs]
    if step.spreads and not any(whole):
        w.spread.add(out)
    elif not step.spreads and not all(whole):
        return False
    name = f"v{len(w.place)}"
    w.lines.append(f"{name} = {w.bind(function)}({', '.join(map(str, operands))})")
    for i, out in enumerate(e.outputs):
        w.place[out] = name if len(e.outputs) == 1 else f"{name}[{i}]"
        is_float = out.type.dtype.kind == "f"
        for kind, marked in ((("computes", "divides"), w.born), (("compares",), w.signed)):
            if (step.kind in kind and is_float) or any([a in marked for a in e.inputs]):
                marked.add(out)
    return True


def _has_no_zero(w: _Writer, divisor: Any) -> bool:
    """Write a guard that no divisor is zero; False where that cannot be written."""
    if divisor in w.alone:
        w.alone[divisor][1].wants = WITHOUT_ZERO
    elif divisor in w.given:
        w.lines.append(f"if a{w.given[divisor]}._c < {WITHOUT_ZERO}: return None")
    else:
        return divisor not in w.place and tameness(np.asarray(divisor.value)) == WITHOUT_ZERO
    return True


def _alias(w: _Writer, old: Any, new: Any, wants: int) -> bool:
    if old in w.alone:
        w.alone[new] = w.alone[old]
    else:
        found = w.operand(old, wants)
        if found is None:
            return False
        w.place[new] = found
    for kind in w.born, w.signed, w.spread:
        if old in kind:
            kind.add(new)
    return True


def _compiled(w: _Writer, out: Any, count: int, result: Any) -> Callable[..., Any] | None:
    if out not in w.place or out in w.spread or out in w.alone:
        return None
    return _function(
        w.lines, ", ".join(f"a{i}" for i in range(count)), w.place[out], result, w.names
    )


def _function(
    lines: Sequence[str], params: str, value: str, result: Any, names: dict[str, Any]
) -> Any:
    """The Python function of these lines that gives the array of a value."""
    made = [
        "_out = _new(_Array)",
        f"_out._h = {value}",
        "_out._t = _t",
        "_out._b = _out._c = None",
        *(["_out._n = _moment[0], _out._h"] if not result.shape else []),
        "return _out",
    ]
    source = "\n    ".join([f"def host({params}):", *lines, *made])
    scope: dict[str, Any] = {
        **names,
        "_new": object.__new__,
        "_Array": Array,
        "_t": result,
        "_tameness": find_tameness,
        "_value": value_of,
        "_moment": moment,
    }
    exec(source, scope)
    return scope["host"]
