"""How everything in benchmarks/ is measured: two contestants, side by side, in interleaved rounds.

A script makes a `Bench`, adds cases to it and calls `main`:

    bench = Bench("What a call costs.")

    @bench.time("jit call, one small array", bar=0.9)
    def small_call(lib):                    # built once with xcore, once with jax: the same code
        f, x = lib.core.jit(lambda x: x + 1), lib.numpy.ones(3)
        return lambda: f(x)                 # what is timed

    if __name__ == "__main__":
        bench.main()

A round times ours and the peer's one right after the other, in alternating order, so that a machine
that slows down slows both. The ratio is the median of the rounds' own ratios; the times are medians
over the rounds. `--null` puts jax on both sides: what it shows is the noise.
"""

import argparse
import compileall
import gc
import importlib
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

Thunk = Callable[[], Any]


class Lib(NamedTuple):
    """A library under the names its users give it: `xc`, `xnp`, `lax`, or `jax`, `jnp`, `lax`."""

    name: str
    core: ModuleType
    numpy: ModuleType
    lax: ModuleType


def library(name: str) -> Lib:
    return Lib(name, *(importlib.import_module(f"{name}{part}") for part in ("", ".numpy", ".lax")))


@dataclass(frozen=True)
class Row:
    """What one case gave. `ratio` is ours / peer; `low` and `high` are its quartiles."""

    question: str
    ours: float = 0.0
    peer: float = 0.0
    ratio: float = 0.0
    low: float = 0.0
    high: float = 0.0
    bar: float | None = None
    unit: str = "s"
    error: str = ""

    @property
    def ok(self) -> bool:
        return not self.error and (self.bar is None or self.ratio <= self.bar)


# Measuring


def finish(result: Any) -> None:
    """Waits for the arrays in a result: calls return before the device is done."""
    if isinstance(result, dict):
        result = tuple(result.values())
    if isinstance(result, tuple | list):
        for part in result:
            finish(part)
    elif hasattr(result, "block_until_ready"):
        result.block_until_ready()


def elapsed(f: Thunk, calls: int, wait: bool) -> float:
    """Seconds per call; with `wait`, each call's arrays are waited for, else only the last's."""
    result = None
    start = time.perf_counter()
    if wait:
        for _ in range(calls):
            finish(f())
    else:
        for _ in range(calls):
            result = f()
        finish(result)
    return (time.perf_counter() - start) / calls


def calibrate(f: Thunk, wait: bool, seconds: float) -> int:
    """How many calls fill `seconds`. The first calls, which compile, are left out."""
    for _ in range(3):
        finish(f())
    calls = 1
    while (spent := elapsed(f, calls, wait) * calls) < seconds:
        calls = int(calls * min(10.0, 1.2 * seconds / max(spent, 1e-9))) + 1
    return calls


def rest(longest: float = 0.5) -> None:
    """Waits until this process uses no processor: threads of the last contestant that still spin
    (OpenBLAS's do so for a tenth of a second) would hold a core that the next one needs."""
    end = time.perf_counter() + longest
    while time.perf_counter() < end:
        before = time.process_time()
        time.sleep(0.005)
        if time.process_time() - before < 0.001:
            return


def interleave(measure_ours, measure_peer, rounds: int) -> list[tuple[float, float]]:
    """(ours, peer) per round, in alternating order, each after a collection of garbage and a rest."""

    def measured(measure):
        gc.collect()
        rest()
        return measure()

    pairs = []
    for turn in range(rounds):
        order = (measure_ours, measure_peer) if turn % 2 == 0 else (measure_peer, measure_ours)
        both = [measured(measure) for measure in order]
        pairs.append(tuple(both) if turn % 2 == 0 else tuple(reversed(both)))
    return pairs


def row_of(question: str, pairs: list[tuple[float, float]], bar: float | None, unit="s") -> Row:
    ratios = [ours / peer for ours, peer in pairs]
    low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    ours, peer = (statistics.median(side) for side in zip(*pairs, strict=True))
    return Row(question, ours, peer, middle, low, high, bar, unit)


def compare(
    question: str,
    ours: Thunk,
    peer: Thunk,
    bar: float | None = None,
    *,
    wait: bool = False,
    rounds: int = 9,
    seconds: float = 0.05,
) -> Row:
    """Times two callables in this process, at least `seconds` of each in every round."""
    turns = {f: calibrate(f, wait, seconds) for f in (ours, peer)}
    pairs = interleave(
        lambda: elapsed(ours, turns[ours], wait), lambda: elapsed(peer, turns[peer], wait), rounds
    )
    return row_of(question, pairs, bar)


class Command(NamedTuple):
    """A process to measure: its arguments and what it finds in the environment besides ours."""

    argv: list[str]
    env: dict[str, str] = {}


class Spent(NamedTuple):
    cpu: float
    wall: float


def spend(command: Command) -> Spent:
    """Runs a process to its end: the CPU seconds it used, on all its threads, and the wall's."""
    start = time.perf_counter()
    child = subprocess.Popen(
        command.argv, env=os.environ | command.env, stdout=subprocess.DEVNULL, stderr=None
    )
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"status {child.returncode} from {' '.join(command.argv[1:])[:60]}")
    return Spent(usage.ru_utime + usage.ru_stime, wall)


def as_installed() -> None:
    """Compile the package's sources to bytecode, as pip has done for the peer's."""
    compileall.compile_dir(Path(__file__).resolve().parent.parent / "xcore", quiet=1)


def compare_processes(
    question: str,
    ours: Command,
    peer: Command,
    bar: float | None = None,
    *,
    clock: str = "cpu",
    rounds: int = 7,
) -> Row:
    """Times two whole processes; each has run once before, so that files and caches are warm."""
    as_installed()
    for command in (ours, peer):
        spend(command)
    pairs = interleave(
        lambda: getattr(spend(ours), clock), lambda: getattr(spend(peer), clock), rounds
    )
    return row_of(question, pairs, bar)


# A script's cases


class Case(NamedTuple):
    """A question and how to answer it; `measure` takes what was made for ours and for the peer."""

    question: str
    ours: Callable[[], Any]
    peer: Callable[[], Any]
    measure: Callable[[str, Any, Any], Row]


@dataclass
class Bench:
    """The cases of one script, in order, under a sentence that says what they are about."""

    title: str
    cases: list[Case] = field(default_factory=list)
    null: bool = False

    def time(self, question: str, bar: float | None = None, **options):
        """Decorates `make(lib) -> thunk`; the thunks of xcore and of jax are timed (`compare`)."""
        return self._both(question, lambda q, a, b: compare(q, a, b, bar, **options))

    def steady(self, question: str, *inputs: Any, bar: float = 1.05):
        """Decorates `make(lib) -> f`; `jit(f)` is timed on the inputs, put on the device.

        Many short rounds: what disturbs a computation that keeps all cores busy comes and goes.
        """

        def add(make):
            self.time(question, bar, wait=True, rounds=101, seconds=0.02)(
                lambda lib: compiled(lib, make, inputs)
            )
            return make

        return add

    def process(self, question: str, bar: float | None = None, **options):
        """Decorates `make(lib) -> Command`; whole processes are timed (`compare_processes`)."""
        return self._both(question, lambda q, a, b: compare_processes(q, a, b, bar, **options))

    def value(self, question: str, bar: float | None = None, unit: str = "B"):
        """Decorates `make(lib) -> number`, something other than time, say bytes of memory."""
        return self._both(question, lambda q, a, b: row_of(q, [(a, b)], bar, unit))

    def versus(
        self,
        question: str,
        ours: Callable[[], Thunk],
        peer: Callable[[], Thunk],
        bar=None,
        **options,
    ) -> None:
        """A case whose peer is not jax: two functions, each makes the thunk to time."""
        measure = lambda q, a, b: compare(q, a, b, bar, **options)  # noqa: E731
        self.cases.append(Case(question, ours, peer, measure))

    def _both(self, question: str, measure):
        def add(make):
            ours = lambda: make(library("jax" if self.null else "xcore"))  # noqa: E731
            self.cases.append(Case(question, ours, lambda: make(library("jax")), measure))
            return make

        return add

    def rows(self, words: list[str] = []) -> Iterator[Row]:  # noqa: B006
        """Measures the cases whose question contains one of the words (all, without words)."""
        for case in self.cases:
            if not words or any(word in case.question for word in words):
                yield answer(case)

    def main(self, argv: list[str] | None = None) -> list[Row]:
        """Measures, prints a line per case as it comes, then leaves the rows where asked."""
        parser = argparse.ArgumentParser(description=self.title)
        parser.add_argument("words", nargs="*", help="only questions that contain one of these")
        parser.add_argument("--null", action="store_true", help="jax on both sides: the noise")
        parser.add_argument("--json", type=Path, help="also write the rows to this file")
        args = parser.parse_args(argv)
        self.null = args.null
        rows = []
        print(HEAD)
        for row in self.rows(args.words):
            print(line(row), flush=True)
            rows.append(row)
        if args.json:
            report = {"title": self.title, "facts": facts(), "rows": [asdict(r) for r in rows]}
            args.json.write_text(json.dumps(report, indent=1))
        return rows


def answer(case: Case) -> Row:
    """A case that fails becomes a row that says so: the others are still worth having."""
    try:
        return case.measure(case.question, case.ours(), case.peer())
    except Exception as error:
        said = (str(error).splitlines() or [""])[0][:100].replace("|", "/")
        return Row(case.question, error=f"{type(error).__name__}: {said}")


# Telling

PREFIXES = {
    "s": ((1, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")),
    "B": ((1e9, "G"), (1e6, "M"), (1e3, "k")),
    "B/s": ((1e12, "T"), (1e9, "G"), (1e6, "M")),
    "FLOP/s": ((1e12, "T"), (1e9, "G"), (1e6, "M")),
}
NAMED = ("jaxlib", "jax", "numpy", "scipy", "torch", "optax")  # if a script has loaded them
HEAD = "| what | ours | peer | ratio | quartiles | bar | ok |\n|---|---:|---:|---:|---:|---:|---|"


def line(row: Row) -> str:
    question = row.question.replace("|", "\\|")
    if row.error:
        return f"| {question} | {row.error} | | | | | no |"
    bar = "" if row.bar is None else f"{row.bar:g}"
    ok = "" if row.bar is None else ("yes" if row.ok else "**no**")
    cells = (
        question,
        quantity(row.ours, row.unit),
        quantity(row.peer, row.unit),
        f"{row.ratio:.2f}",
        f"{row.low:.2f}–{row.high:.2f}",
        bar,
        ok,
    )
    return "| " + " | ".join(cells) + " |"


def quantity(value: float, unit: str) -> str:
    """Three digits and a prefix: 0.00123 s is 1.23 ms."""
    prefixes = PREFIXES.get(unit, ())
    scale, prefix = next((p for p in prefixes if value >= p[0]), (1, ""))
    return f"{value / scale:.3g} {prefix}{unit}"


def facts() -> str:
    """What a reader must know of the day and the machine to place the figures."""
    loaded = [name for name in NAMED if name in sys.modules]
    return ", ".join(
        [
            f"{date.today()}; {len(os.sched_getaffinity(0))} cores ({processor()})",
            f"Python {platform.python_version()}",
            *(f"{name} {version(name)}" for name in loaded),
        ]
    )


def processor() -> str:
    """The processor's name, where the system tells it."""
    info = Path("/proc/cpuinfo")
    text = info.read_text() if info.exists() else ""
    names = (
        ln.partition(":")[2].strip() for ln in text.splitlines() if ln.startswith("model name")
    )
    return next(names, platform.machine())


def on_device(lib: Lib, tree: Any) -> Any:
    """A fresh copy of a tree of NumPy arrays, as the library's arrays."""
    return lib.core.tree_util.tree_map(lib.numpy.array, tree)


def compiled(lib: Lib, make: Callable[[Lib], Any], inputs: Any) -> Thunk:
    """The thunk that calls `jit(make(lib))` on the inputs.

    Where an array happens to lie in memory is worth up to 10 %: the calls take turns among copies.
    """
    jitted = lib.core.jit(make(lib))
    copies = itertools.cycle([on_device(lib, inputs) for _ in range(4)])
    return lambda: jitted(*next(copies))


def lowering(lib: Lib, f: Callable[..., Any], *args: Any) -> Thunk:
    """The thunk that traces `f(literal, *args)` and lowers it to a StableHLO module.

    The literal differs at every call, and so does the program: else one would time a cache.
    """
    literals = (1.0 + n / 4096 for n in itertools.count())

    def once():
        literal = next(literals)
        return lib.core.jit(lambda *args: f(literal, *args)).trace(*args).lower()

    return once
