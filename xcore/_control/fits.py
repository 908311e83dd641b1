"""Does a script fit on a device that is not here? It is followed by types, and its programs are compiled.

What is jitted is compiled for the device and not run; its results have types and no values. What is not
jitted is computed here where it is small and depends on no such result, else it has a type alone too.
Where Python asks for a value that there is not, the script has been followed to its end.
"""

from __future__ import annotations

import math
import os
import re
import sys
import traceback
import weakref
from dataclasses import dataclass, field
from typing import Any

from .._backend import client as backend
from .._core import ArrayType, compile, errors, to_array, to_value, typeof
from .._core.placing import layout_of
from .._core.program import Eqn, Literal, Program, Var
from .._core.sharding import Sharding, SingleDeviceSharding, shape_of_tile
from .._core.source import source_line, user_frame
from .._core.topology import Topology, topology
from .._core.trace import Trace, Tracer, evaluating, using
from .costs import in_bytes, in_seconds
from .least import least
from .script import running

_SMALL = 1 << 20  # elements of what is computed here


class Typed(Tracer):
    """A value of which the type is known, and how it is spread."""

    __slots__ = ("spread",)

    def __init__(self, trace: Trace, type_: ArrayType, spread: Sharding | None):
        self.owner, self.type, self.spread = trace, type_, spread

    @property
    def sharding(self) -> Sharding:
        return self.spread or SingleDeviceSharding(self.owner.devices[0])

    @property
    def nbytes_here(self) -> int:
        """Bytes on each device."""
        shape = shape_of_tile(self.spread, self.type.shape) if self.spread else self.type.shape
        return math.prod(shape) * self.type.dtype.itemsize

    def origin(self) -> str:
        return " (xcore fits follows the script by types, without computing.)"

    # as an array that is there has them

    def block_until_ready(self):
        return self

    def devices(self) -> set:
        return set(self.sharding.devices)

    @property
    def device(self):
        here = self.sharding
        return here if self.spread else here.device

    def is_ready(self) -> bool:
        return True

    def is_deleted(self) -> bool:
        return False

    def delete(self) -> None:
        self.owner.values.pop(id(self), None)


@dataclass
class Row:
    """One program of the script, compiled for the device."""

    name: str
    where: str
    calls: int = 0
    memory: Any = None
    held: int = 0  # bytes of other arrays of the script, at most at a call
    seconds: float = 0.0
    bound: str = ""
    host: dict[str, int] = field(default_factory=dict)  # calls of the host's routines
    refused: str = ""
    placed: list = field(default_factory=list)  # of its results

    @property
    def peak(self) -> int:
        m = self.memory
        whole = m.argument_size_in_bytes + m.output_size_in_bytes + m.temp_size_in_bytes
        return self.held + max(m.peak_memory_in_bytes, whole - m.alias_size_in_bytes)


class TypesTrace(Trace):
    """Derives types; compiles what is jitted, and loops and branches, for the devices."""

    by_type = True

    def __init__(self, where: Topology):
        self.topology, self.devices = where, where.devices
        self.rows: dict[Any, Row] = {}
        self.spreads: dict[Any, list] = {}
        self.values: weakref.WeakValueDictionary[int, Typed] = weakref.WeakValueDictionary()

    def typed(self, t: ArrayType, spread: Sharding | None = None) -> Typed:
        made = Typed(self, t, spread if spread and len(spread.devices) > 1 else None)
        _ = made.nbytes_here  # an error where axes do not divide
        self.values[id(made)] = made
        return made

    def process(self, op, args, params) -> list:
        if op.name == "sharding_constraint":
            return [self.typed(typeof(args[0]), params["sharding"])]
        if op.stage is not None:
            op, args, params = op.stage(*args, **params)
        types = [a.type if isinstance(a, Literal) else typeof(a) for a in args]
        outs = op.type(*types, **params)
        if op.nested:
            return self._program(op, args, types, outs, params)
        known = not any(isinstance(a, Tracer) for a in args)
        if known and all(t.size <= _SMALL for t in [*types, *outs]):
            with evaluating():
                found = op(*args, **params)
                return found if op.many else [found]
        spread = [a.spread if isinstance(a, Typed) else None for a in args]
        if not any(spread):
            return list(map(self.typed, outs))
        return list(map(self.typed, outs, self._spread_of(op, types, spread, outs, params)))

    def _spread_of(self, op, types, spread, outs, params) -> list:
        """How the compiler spreads the results of one operation on arrays over several devices."""
        inputs, results = [Var(t) for t in types], [Var(t) for t in outs]
        p = Program(inputs, [Eqn(op, inputs, results, params)], results, op.name)
        layout = layout_of(p, spread)
        key = p.fingerprint, layout
        if key not in self.spreads:
            try:
                found = compile.executable(p, layout, ())
                self.spreads[key] = [getattr(t, "sharding", None) for t in found.result_types]
            except Exception as error:  # the script would fail here
                row = self.rows[key] = Row(p.name, _where(user_frame()))
                row.refused = (str(error) or repr(error)).strip().partition("\n")[0]
                self.spreads[key] = [None] * len(outs)
        return self.spreads[key]

    def _program(self, op, args, types, outs, params) -> list:
        """An operation that holds programs, called outside of jit, is compiled as a program of its own."""
        if op.name == "call":
            return self._compile_types(params["program"], (), args)
        inputs, results = [Var(t) for t in types], [Var(t) for t in outs]
        program = Program(inputs, [Eqn(op, inputs, results, params)], results, op.name)
        return self._compile_types(program, (), args)

    def jitted(self, found, values) -> list:
        """A call of a jitted function."""
        found = found.on(backend.platform_of(self.devices[0]))
        places = [*[None] * len(found.captured), *found.places]
        return self._compile_types(found.program, found.donors, [*found.captured, *values], places)

    def _compile_types(self, p: Program, donors, args, places=()) -> list:
        args = [x if isinstance(x, Tracer) else to_array(x) for x in map(to_value, args)]
        given = [x.spread if isinstance(x, Typed) else None for x in args]
        given = [s or p for s, p in zip(given, places or [None] * len(given), strict=True)]
        layout = layout_of(p, given)
        key = p.fingerprint, layout, donors
        row = self.rows.get(key)
        if row is None:
            row = self.rows[key] = Row(p.name, _where(user_frame()))
            self._compile(row, p, layout, donors)
        row.calls += 1
        ids = {id(x) for x in args}
        row.held = max(row.held, sum(v.nbytes_here for i, v in self.values.items() if i not in ids))
        placed = row.placed or [None] * len(p.outputs)
        return [self.typed(t, s) for t, s in zip(p.out_types, placed, strict=True)]

    def _compile(self, row: Row, p: Program, layout, donors) -> None:
        try:
            exe = compile.executable(p, layout or self.devices[:1], donors)
        except Exception as error:  # whatever it is, it is told
            row.refused = (str(error) or repr(error)).strip().partition("\n")[0]
            return
        row.placed = [getattr(t, "sharding", None) for t in exe.result_types]
        row.memory = exe.loaded.get_compiled_memory_stats()
        text = "\n".join(m.to_string() for m in exe.loaded.hlo_modules())
        for target in re.findall(r'custom_call_target="([^"]+)"', text):
            if "python" in target or target.startswith("cuhybrid"):
                row.host[target] = row.host.get(target, 0) + 1
        row.seconds, row.bound = least_time(
            p, self.topology, len(layout.devices) if layout else 1, donors
        )


def _where(where) -> str:
    """``script.py:12``, the line of the first call."""
    found = source_line(where)
    return f"{os.path.basename(found[0])}:{found[1]}" if found else ""


def least_time(p: Program, where: Topology, devices: int, donors=()) -> tuple[float, str]:
    """Seconds at the device's ceilings at least, and which one it is."""
    found = least(p, donors)
    traffic = found.pop("bytes", 0) / where.bandwidth / devices
    arithmetic = sum(n / _ceiling(kind, where) for kind, n in found.items()) / devices
    return max(arithmetic, traffic), "arithmetic" if arithmetic > traffic else "memory"


def _ceiling(kind: str, where: Topology) -> float:
    """Operations per second with numbers of a kind."""
    return where.flops[kind] or where.flops["bfloat16"] / _PASSES


_PASSES = 6  # products of bfloat16 for one of float32, where there is no other arithmetic


# The report


_HEADS = (
    "program", "called at", "calls", "arguments", "results", "temporaries", "others", "peak", "share",
    "time ≥", "bound by",
)  # fmt: skip


def report(trace: TypesTrace) -> str:
    """The table of what was compiled, and what was not."""
    rows = [r for r in trace.rows.values() if not r.refused]
    lines = (
        _align_columns([_HEADS, *[_cells(r, trace.topology.memory) for r in rows]]) if rows else []
    )
    for r in trace.rows.values():
        for target, n in r.host.items():
            lines.append(
                f"{r.name} {r.where}: {n} × {target} is done by the host, with copies there and back"
            )
        if r.refused:
            lines.append(f"{r.name} {r.where} does not compile: {r.refused}")
    return "\n".join(lines)


def _align_columns(table: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in table]


def _cells(r: Row, memory: int) -> tuple[str, ...]:
    m = r.memory
    sizes = (m.argument_size_in_bytes, m.output_size_in_bytes, m.temp_size_in_bytes, r.held, r.peak)
    share = f"{100 * r.peak / memory:.1f} %"
    return (
        r.name,
        r.where,
        str(r.calls),
        *map(in_bytes, sizes),
        share,
        in_seconds(r.seconds),
        r.bound,
    )


def fits(path: str, arguments: list[str], device: str) -> int:
    """Follow a script by types: 0 if all that was seen fits, 1 if not, 2 if nothing can be said."""
    kind, _, count = device.partition(":")
    if not os.path.isfile(path):
        print(f"xcore fits: there is no file {path}", file=sys.stderr)
        return 2
    try:
        where = topology(kind, int(count) if count.isdecimal() else count or 1)
    except (ValueError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 2
    return examine(path, arguments, where)


def examine(path: str, arguments: list[str], where: Topology) -> int:
    """The same for a topology, or what has its attributes."""
    trace = TypesTrace(where)
    backend.stand_in(where.devices)
    try:
        status, end = follow(path, arguments, trace)
    finally:
        backend.stand_in(())
    print(
        f"\nxcore fits: {path} on {len(where.devices)} × {where.name}, {in_bytes(where.memory)} each; "
        "bytes on one device"
    )
    for line in (report(trace), end, f"cache on disk: {_store()}"):
        print(line, end="\n" if line else "")
    return _verdict(trace, status)


def _store() -> str:
    state = compile.disk_state()
    return state["directory"] if state else "off"


def follow(path: str, arguments, trace: TypesTrace) -> tuple[int | None, str]:
    """How far the script was followed, in words, and its status: None where it asked for a value."""
    try:
        with running(path, arguments) as run, using(trace):
            run()
    except SystemExit as e:
        return (2 if e.code else 0), f"followed to its end: exit({e.code!r})"
    except errors.ConcretizationError as error:
        place = _line_of(error, path)
        return (
            None,
            f"followed to {place}, which needs a value; what comes after it was not looked at",
        )
    except BaseException:
        traceback.print_exc()
        return 2, "the script failed"
    return 0, "followed to its end"


def _line_of(error: BaseException, path: str) -> str:
    """The last line of the script in an error's traceback."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    return f"line {frames[-1].lineno}: {frames[-1].line}" if frames else "a line"


def _verdict(trace: TypesTrace, status: int | None) -> int:
    rows, memory = list(trace.rows.values()), trace.topology.memory
    bad = [r for r in rows if r.refused or r.peak > memory]
    if not rows:
        print("no jitted function was called: nothing can be said")
        return 2
    for r in bad:
        why = "it does not compile" if r.refused else f"{in_bytes(r.peak)} of {in_bytes(memory)}"
        print(f"does not fit: {r.name} {r.where}: {why}")
    if not bad:
        print("fits" if status == 0 else "fits, as far as it was followed")
    return 1 if bad else status or 0
