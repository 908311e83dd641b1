"""One program run every way, and what differs."""

import contextlib
import dataclasses
import functools
import importlib.util
import warnings

import numpy as np

from tests.fuzz import differences, nests
from tests.fuzz.programs import IMPORTS, Program, Type, arguments, kind, source
from tests.fuzz.reference import Expected, expected
from tests.fuzz.table import ROWS

ALL_ROWS = {**ROWS, **nests.NESTS}


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something that differs: what ("value", "dtype", "weak", "shape", "error"), between which two."""

    what: str
    between: str
    message: str
    result: int = 0

    @property
    def signature(self) -> tuple:
        return (
            self.what,
            self.between,
            self.message.split("(")[0][:40] if self.what == "error" else "",
        )


class Observed:
    """A result of a library as NumPy sees it."""

    def __init__(self, x):
        weak = bool(getattr(x, "weak_type", False)) or isinstance(x, (int, float, complex))
        data = np.asarray(x)
        self.bits = data.tobytes()
        self.type = Type(data.shape, str(data.dtype), weak and data.dtype != bool)
        wide = {"f": np.float64, "c": np.complex128}.get(kind(self.type.dtype))
        self.data = data if wide is None else data.astype(wide)


def has_jax() -> bool:
    return importlib.util.find_spec("jax") is not None


@functools.cache
def _namespace(library) -> dict:
    names: dict = {}
    if library == "jax":
        import jax

        jax.config.update("jax_default_matmul_precision", "highest")
    exec(IMPORTS[library], names)
    return names


def _runs(library, program):
    """(arguments, the function) of a library."""
    names = dict(_namespace(library))
    exec(compile(source(program, ALL_ROWS), f"<program {program.seed}>", "exec"), names)
    return eval(arguments(program), names), names["program"], names["xc"]


def _observed(out) -> list:
    return [Observed(x) for x in (out if isinstance(out, tuple) else (out,))]


@contextlib.contextmanager
def _settings(bits):
    """Process-wide ones: what a block overrides takes the long way."""
    import xcore as xc

    wanted = {"default_bits": bits, "default_matmul_precision": "highest"}
    kept = {name: getattr(xc.config, name) for name in wanted}
    for name, value in wanted.items():
        xc.config.update(name, value)
    try:
        yield
    finally:
        for name, value in kept.items():
            xc.config.update(name, value)


CALLS = {"eager": 1, "again": 2, "jit": 1}  # by the last ways, small arrays are NumPy's


def run_xcore(program) -> dict:
    """The results by each way, or the exception."""
    import xcore as xc

    seen = {}
    with _settings(program.bits):
        args, function, _ = _runs("xcore", program)
        for way, calls in CALLS.items():
            f = xc.jit(function) if way == "jit" else function
            try:
                seen[way] = _observed([f(*args) for _ in range(calls)][-1])
            except Exception as e:
                seen[way] = e
    return seen


def run_jax(program) -> list:
    import jax

    jax.config.update("jax_enable_x64", program.bits == 64)
    args, function, _ = _runs("jax", program)
    return _observed(jax.jit(function)(*args))


# Comparing


MORE_RUNS = 40  # of the reference with rounding errors, before a difference is told


def compare(program: Program, with_jax: bool = False) -> list:
    """What differs when this program is run; nothing if all is well."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted, marks = expected(program)
        ran = run_xcore(program)
        seen = {way: outs for way, outs in ran.items() if isinstance(outs, list)}
        found = [
            Finding("error", way, f"{type(e).__name__}: {e}")
            for way, e in ran.items()
            if way not in seen
        ]
        if any(_against_reference(way, outs, wanted) for way, outs in seen.items()):
            wanted, marks = expected(
                program, MORE_RUNS
            )  # a step may lie within the rounding errors
        for way, outs in seen.items():
            found += _against_reference(way, outs, wanted)
        if len(seen) == len(ran):
            found += _types(seen["eager"], seen["jit"], "eager, jit")
            found += _types(seen["eager"], seen["again"], "eager, again")
            found += _bits(seen["eager"], seen["again"])
        if with_jax and not found:
            found += _against_jax(program, seen["jit"], wanted)
        return [f for f in found if not differences.explains(program, f, marks)]


def _types(left, right, between, what=("shape", "dtype", "weak")):
    found = []
    for n, (a, b) in enumerate(zip(left, right)):
        for name in what:
            x, y = getattr(a.type, name), getattr(b.type, name)
            if x != y:
                found.append(Finding(name, between, f"result {n}: {x} and {y}", n))
    return found


def _bits(first, again):
    """Results of which the bits are others when the program is called again."""
    return [
        Finding("bits", "eager, again", f"result {n}: {a.data} and {b.data}", n)
        for n, (a, b) in enumerate(zip(first, again)) if a.bits != b.bits
    ]  # fmt: skip


def _against_reference(way, outs, wanted):
    found = _types(outs, wanted, f"{way}, reference")
    for n, (x, w) in enumerate(zip(outs, wanted)):
        if x.type.shape == w.type.shape:
            found += _values(x.data, w.data, w.slack, n, f"{way}, reference")
    return found


def _values(x, wanted, slack, n, between):
    """Where x is further from what is wanted than it may be."""
    with np.errstate(all="ignore"):
        same = (x == wanted) | ((x != x) & (wanted != wanted))
        gap = np.abs(x.astype(complex) - wanted)
        off = ~same & ~(gap <= slack) & ~np.isinf(slack)
    if not np.any(off):
        return []
    at = tuple(int(i) for i in np.argwhere(off)[0])
    message = f"result {n} at {at}: {x[at]!r}, wanted {wanted[at]!r} ± {slack[at]:.2e}"
    return [Finding("value", between, message, n)]


def _against_jax(program, outs, wanted: list[Expected]):
    try:
        theirs = run_jax(program)
    except Exception as e:
        return [Finding("refused", "jax", f"{type(e).__name__}: {e}"[:200])]
    if program.bits == 32 and any("64" in w.type.dtype for w in (*wanted, *outs)):
        return []
    found = _types(outs, theirs, "jit, jax")
    for n, (x, y, w) in enumerate(zip(outs, theirs, wanted)):
        if x.type.shape == y.type.shape:
            found += _values(x.data, y.data, 2 * w.slack, n, "jit, jax")
    return found


# Scripts


def script(program: Program, findings) -> str:
    """A program as a file that shows by itself what is wrong."""
    said = "\n".join(
        f"# {f.what} ({f.between}): {f.message}".replace("\n", "\n#   ") for f in findings
    )
    bits = f"xc.config.update('default_bits', {program.bits})\n" if program.bits != 32 else ""
    return (
        f"# program {program.seed}\n{said}\n{IMPORTS['xcore']}\n{bits}\n{source(program, ALL_ROWS)}\n\n"
        f"args = {arguments(program)}\n"
        "print(program(*args))\nprint(xc.jit(program)(*args))\n"
    )
