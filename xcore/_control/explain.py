"""A page about one call of a function: what it computes, what it costs, and what became of it."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._backend import client as backend
from .._core import Array, Program, compile, dtypes, tree
from .._core.devices import block_until_ready, device_put
from .._core.source import boundary, wraps, written_at
from .ahead import trace
from .costs import costs, in_bytes, in_seconds
from .jit import Jitted, jit, why_traced


@dataclass(frozen=True)
class Ceilings:
    """Peak rates of a device, measured by programs that do nothing else.

    Attributes:
      bandwidth: bytes read and written per second.
      flops: operations per second of a product of matrices.
    """

    bandwidth: float
    flops: float


@dataclass(frozen=True)
class Explanation:
    """What ``xc.explain`` has found; it prints as a page.

    Attributes:
      name: the function, and where it is written.
      operations: how many of each kind there are, loops counted once.
      flops, transcendentals, bytes: of the whole call, at least (a loop of unknown length counts once).
      memory: bytes of "arguments", "results", "temporaries", and "peak".
      instructions: of the compiled program: kind and number; kernels that were fused by what is in them.
      host_calls: calls of Python or of the host's libraries, by target.
      compile_seconds: what compiling takes, from the traced program on.
      seconds: the fastest of some calls; None where an argument has only a type.
      ceilings, least_seconds: the device's, and the time that they allow.
      traces: why it was traced, for each kind of arguments that is kept.
    """

    name: str
    types: tuple[str, str]
    operations: dict[str, int]
    flops: float
    transcendentals: float
    bytes: float
    memory: dict[str, int]
    instructions: dict[str, int]
    host_calls: dict[str, int]
    compile_seconds: float
    seconds: float | None
    ceilings: Ceilings
    least_seconds: float
    traces: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(_page(self))

    __repr__ = __str__


@boundary
def explain(fun: Callable[..., Any]) -> Callable[..., Explanation]:
    """A function that explains the call ``fun(*args, **kwargs)``: what it computes, costs, and why.

    It traces, compiles (anew, to time it) and runs the function, some calls or a third of a second
    long. The time is set beside what the device allows at least,

        max(flops / ceiling of products, bytes / bandwidth),

    with ceilings that are measured on this device the first time. Types (`xc.ShapeDtypeStruct`) will do
    as arguments: then it is not run.

    Args:
      fun: function of pytrees, jitted or not.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> found = xc.explain(lambda x: xnp.tanh(x @ x).sum())(xnp.ones((100, 100)))
    >>> found.operations
    {'dot_general': 1, 'tanh': 1, 'reduce_sum': 1}
    >>> found.flops, found.transcendentals
    (2010000.0, 10000.0)
    >>> print(str(found).splitlines()[1].strip())
    arguments       float32[100,100]
    """
    jitted = fun if isinstance(getattr(fun, "jitted", None), Jitted) else jit(fun)

    @wraps(fun)
    def explained(*args: Any, **kwargs: Any) -> Explanation:
        return _explanation(jitted, args, kwargs)

    return explained


def _explanation(jitted: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Explanation:
    traced = trace(jitted.jitted, *args, **kwargs)
    compiled = traced.lower().compile()
    program, devices = traced.program, compiled._exe.devices  # pyright: ignore[reportPrivateUsage]
    found, memory = costs(program), compiled.memory_analysis()
    seconds = _seconds(jitted, args, kwargs)
    sizes = {
        "arguments": memory.argument_size_in_bytes, "results": memory.output_size_in_bytes,
        "temporaries": memory.temp_size_in_bytes,
    }  # fmt: skip
    sizes["peak"] = max(
        memory.peak_memory_in_bytes, sum(sizes.values()) - memory.alias_size_in_bytes
    )
    text = compiled.as_text()
    limits, least = _least(found, devices, _width(program), seconds)
    return Explanation(
        written_at(jitted.jitted.f).strip(" ()") or jitted.jitted.name,
        (_type_list(program.in_types), _type_list(program.out_types)),
        dict(Counter(_names(program)).most_common()),
        found["flops"], found["transcendentals"], found["bytes accessed"],
        sizes, instructions(text), host_calls(text),
        _seconds_to_compile(traced), seconds, limits, least,
        _reasons(jitted.jitted),
    )  # fmt: skip


def _type_list(types: Any) -> str:
    found = [f"{n} × {t}" if n > 1 else str(t) for t, n in Counter(map(str, types)).items()]
    return ", ".join(found) or "none"


def _names(p: Program) -> Iterator[str]:
    """The operations of a program and of the programs in it."""
    for e in p.eqns:
        inside = [v for v in tree.leaves(list(e.params.values())) if type(v) is Program]
        if e.op.name != "call":
            yield e.op.name
        for inner in inside:
            yield from _names(inner)


def _width(p: Program) -> Any:
    """The dtype that products are timed in: the widest of the program's inexact ones, real."""
    found = [v.type.dtype for e in p.eqns for v in e.outputs if dtypes.is_inexact(v.type.dtype)]
    wide = any(d.itemsize // (2 if dtypes.is_complex(d) else 1) == 8 for d in found)
    return dtypes.float64 if wide else dtypes.float32


# What it takes


def _seconds_to_compile(traced: Any) -> float:
    start = time.perf_counter()
    compile.recompile(traced.program, traced._layout or (traced._device,), traced._found.donors)
    return time.perf_counter() - start


def _seconds(jitted: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> float | None:
    """Seconds of the fastest of at least three calls; donated arguments are copied first."""
    leaves, structure = tree.flatten((args, kwargs))
    if any(hasattr(x, "shape") and not hasattr(x, "__array__") for x in leaves):
        return None
    given = bool(jitted.jitted.donate_argnums or jitted.jitted.donate_argnames)
    best, start = float("inf"), time.perf_counter()
    for i in range(1000):
        own = [x.copy() if given and type(x) is Array else x for x in leaves]
        a, k = tree.unflatten(structure, own)
        block_until_ready(own)
        begin = time.perf_counter()
        block_until_ready(jitted(*a, **k))
        best = min(best, time.perf_counter() - begin)
        if i >= 3 and time.perf_counter() - start > 0.3:
            break
    return best


def _least(
    found: dict[str, float], devices: Any, dtype: Any, seconds: float | None
) -> tuple[Ceilings, float]:
    """The ceilings and the time that they allow. What was faster than that shows that they are higher."""
    limits, least = Ceilings(0.0, 0.0), 0.0
    for _ in range(3):
        limits = ceilings(devices[0], dtype, remeasure=least > 0)
        work = found["flops"] + found["transcendentals"]
        least = max(work / limits.flops, found["bytes accessed"] / limits.bandwidth) / len(devices)
        if seconds is None or seconds >= least:
            break
    return limits, least


_measured: dict[Any, Ceilings] = {}


def ceilings(device: Any, dtype: Any, remeasure: bool = False) -> Ceilings:
    """The peak rates of a device, measured in some tenths of a second and remembered.

    Args:
      device: one of `xc.devices()`.
      dtype: of the product of matrices.
      remeasure: whether to measure again, and remember the better.
    """
    key = device, str(dtype)
    known = _measured.get(key)
    if known is None or remeasure:
        found, known = _measure(device, dtype), known or Ceilings(0.0, 0.0)
        _measured[key] = Ceilings(
            max(found.bandwidth, known.bandwidth), max(found.flops, known.flops)
        )
    return _measured[key]


def _measure(device: Any, dtype: Any) -> Ceilings:
    large = backend.platform_of(device) != "cpu"
    n, length = (4096, 1 << 26) if large else (1024, 1 << 23)
    square, line = _ones((n, n), dtype, device), _ones((length,), dtypes.float32, device)
    product = _fastest(jit(lambda x: x @ x), square)
    copy = _fastest(jit(lambda x: x + 1), line)
    return Ceilings(2 * line.nbytes / copy, 2 * n**3 / product)


def _ones(shape: tuple[int, ...], dtype: Any, device: Any) -> Any:
    return device_put(np.ones(shape, dtype), device)


def _fastest(f: Callable[..., Any], x: Any) -> float:
    """Seconds of the fastest of five calls after the first."""
    block_until_ready(f(x))
    times: list[float] = []
    for _ in range(5):
        start = time.perf_counter()
        block_until_ready(f(x))
        times.append(time.perf_counter() - start)
    return min(times)


# What became of it

_INSTRUCTION = re.compile(r"^ +(?:ROOT )?%?[\w.\-]+ = .*? ([a-z][\w\-]*)\(", re.MULTILINE)
_COMPUTATION = re.compile(
    r"^(ENTRY )?%?([\w.\-]+) \(.*?\) -> .*? \{\n(.*?)^\}", re.MULTILINE | re.DOTALL
)
_CALLED = re.compile(r"calls=%?([\w.\-]+)")
_SILENT = frozenset("parameter constant tuple get-tuple-element bitcast copy-done".split())


def instructions(text: str) -> dict[str, int]:
    """Kinds of instructions of an optimised program and how many; of fusions what is in them.

    Args:
      text: the program as HLO.
    """
    bodies = {name: body for _, name, body in _COMPUTATION.findall(text)}
    fused = {name for body in bodies.values() for line in body.splitlines()
             if " fusion(" in line for name in _CALLED.findall(line)}  # fmt: skip
    found: Counter[str] = Counter()
    for name, body in bodies.items():
        if name not in fused:
            found.update(_kinds(body, bodies))
    return dict(found.most_common())


def _kinds(body: str, bodies: dict[str, str]) -> Iterator[str]:
    for line in body.splitlines():
        kind = _INSTRUCTION.match(line)
        if kind and kind[1] == "fusion":
            called = _CALLED.findall(line)
            yield _fusion(bodies.get(called[0], "") if called else "")
        elif kind and kind[1] not in _SILENT:
            yield kind[1]


def _fusion(body: str) -> str:
    inside = Counter(k for k in _INSTRUCTION.findall(body) if k not in _SILENT)
    return "fusion of " + ", ".join(f"{n} {k}" if n > 1 else k for k, n in inside.items())


def host_calls(text: str) -> dict[str, int]:
    """Calls of Python, or of the host's libraries from an accelerator, in an optimised program."""
    targets = re.findall(r'custom_call_target="([^"]+)"', text)
    return dict(Counter(t for t in targets if "python" in t or t.startswith("cuhybrid")))


def _reasons(general: Jitted) -> tuple[str, ...]:
    """Why each kind of arguments that is kept was traced, in the order of their last use."""
    keys = [*general.traces]
    return tuple(why_traced(key, keys[:i]) for i, key in enumerate(keys))


# The page

_MOST = 12  # lines of one table


def _page(found: Explanation) -> Iterator[str]:
    yield found.name
    yield from _row("arguments", found.types[0])
    yield from _row("results", found.types[1])
    yield from _row("operations", _counted(found.operations))
    yield from _row(
        "arithmetic", f"{found.flops:.3g} additions and products, {found.transcendentals:.3g} "
        "values of functions such as exp"
    )  # fmt: skip
    yield from _row("bytes at least", in_bytes(found.bytes))
    sizes = ", ".join(f"{in_bytes(n)} {k}" for k, n in found.memory.items() if k != "peak")
    yield from _row("memory", f"{in_bytes(found.memory['peak'])} at most: {sizes}")
    yield from _row(
        "compiled", f"in {in_seconds(found.compile_seconds)}, to {_counted(found.instructions)}"
    )
    yield from _row("host calls", _counted(found.host_calls))
    yield from _row("time", "\n".join(_times(found)))
    yield from _row("traced", "\n".join(found.traces))


def _row(head: str, text: str) -> Iterator[str]:
    for i, line in enumerate(text.splitlines()):
        yield f"  {'' if i else head:16}{line}"


def _counted(found: dict[str, int]) -> str:
    rows = [f"{n} × {k}" for k, n in found.items()]
    if len(rows) > _MOST:
        rest = sum([*found.values()][_MOST:])
        rows = [*rows[:_MOST], f"{rest} more"]
    return "\n".join(rows) if any(" of " in r for r in rows) else ", ".join(rows) or "none"


def _times(found: Explanation) -> Iterator[str]:
    limits, seconds = found.ceilings, found.seconds
    work = (found.flops + found.transcendentals) / limits.flops
    bound = "arithmetic" if work > found.bytes / limits.bandwidth else "memory"
    yield (
        f"{in_seconds(seconds)}, the fastest call"
        if seconds
        else "not measured: an argument is a type"
    )
    yield (
        f"{in_seconds(found.least_seconds)} at least for {bound}, at this device's ceilings: "
        f"{limits.flops / 1e9:.3g} GFLOP/s, {limits.bandwidth / 1e9:.3g} GB/s"
    )
    if seconds and seconds < found.least_seconds:
        yield "(the device was busy while the ceilings were measured: they are higher)"
