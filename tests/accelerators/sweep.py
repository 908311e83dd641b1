"""Compile everything for a device that is not here: ``python -m tests.accelerators.sweep h200``.

The compiler may end the process that it runs in, so rows are compiled in another one, which is started
again behind the row that ended it. A row "compiles", is "refused" (in words, when it is lowered), "fails"
(the compiler says no), "strays" (it compiles to what is not of the platform), or "ends the process".
What is known not to compile stands in ``known.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.accelerators.known import ENDLESS
from xcore import tree

ROOT = Path(__file__).resolve().parents[2]
OF_THE_CPU = re.compile(r"lapack_|python_cpu|xla_cpu")


def programs(part: str, platform: str) -> Iterator[tuple[str, object, list]]:
    """(name, function, arguments) of each row."""
    if part == "functions":
        from tests.accelerators.programs import functions

        for row in functions():
            if row.name in ENDLESS.get(platform, ()):
                continue
            yield row.name, row.f, row.arguments()
        return
    from tests._ops.samples import SAMPLES
    from tests._ops.test_ops import variants

    for s in SAMPLES:
        chosen = [(d, shape) for d, shape in variants(s) if fits(d, platform)]
        yield f"ops.{s.id}", calls_of(s), [[s.arguments(*v) for v in chosen]]


def calls_of(s):
    return lambda calls: [s.results(args) for args in calls]


def fits(dtype: str, platform: str) -> bool:
    return platform != "tpu" or dtype not in ("float64", "complex128")


def compile_row(f, args: list, device, platform: str) -> str:
    import xcore as xc
    from xcore._backend.ffi import NotHere

    try:
        lowered = xc.jit(f).trace(*args).lower(platform)
    except NotHere as e:
        return f"refused: {e}"
    text = lowered.as_text()
    stray = OF_THE_CPU.search(text)
    if stray:
        return f"strays: calls {stray[0]}"
    if widens(text, args):
        return "strays: float64 in a program of narrower types"
    try:
        made = lowered.compile(device)
    except Exception as e:
        return f"fails: {type(e).__name__}: {' '.join(str(e).split())[:300]}"
    return "compiles" if made.memory_analysis().argument_size_in_bytes >= 0 else "fails: no sizes"


def widens(text: str, args: list) -> bool:
    """Whether there is a float64 in a program none of whose arguments is one."""
    given = {np.dtype(x.dtype).name for x in tree.leaves(args)}
    return not given & {"float64", "complex128"} and bool(
        re.search(r"tensor<([^>]*x)?(f64|complex<f64)", text)
    )


def work(part: str, kind: str, first: int, step: int, only: str) -> None:
    """Compile rows first, first + step, …; a line when one begins, and one when it ends."""
    import xcore as xc

    here = xc.topology(kind)
    for i, (name, f, args) in enumerate(programs(part, here.platform)):
        if i < first or (i - first) % step or not re.search(only, name):
            continue
        print(json.dumps({"begins": i, "row": name}), flush=True)
        start = time.process_time()
        try:
            said = compile_row(f, args, here, here.platform)
        except Exception as e:
            said = f"fails: {type(e).__name__}: {' '.join(str(e).split())[:300]}"
        spent = round(time.process_time() - start, 2)
        print(json.dumps({"row": name, "says": said, "seconds": spent}), flush=True)


class Found(NamedTuple):
    """What each row says, and the seconds of a processor that it took."""

    says: dict[str, str]
    seconds: dict[str, float]


def sweep(part: str, kind: str, first: int = 0, step: int = 1, only: str = "") -> Found:
    """What the rows first, first + step, … say."""
    found, seconds = Found({}, {})
    while True:
        command = [sys.executable, "-m", "tests.accelerators.sweep", kind, "--work", part]
        command += ["--first", str(first), "--step", str(step), "--only", only]
        env = {**os.environ, "PYTHONPATH": str(ROOT), "XCORE_CACHE": "0"}
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=env)
        begun = None
        for line in done.stdout.splitlines():
            said = json.loads(line) if line.startswith("{") else {}
            if "begins" in said:
                begun = said
            elif "row" in said:
                found[said["row"]], begun = said["says"], None
                seconds[said["row"]] = said["seconds"]
        if begun is None:
            if done.returncode:
                raise RuntimeError(done.stderr[-2000:])
            return Found(found, seconds)
        why = [
            line for line in done.stderr.splitlines() if "F1" in line[:2] or "Check fail" in line
        ]
        found[begun["row"]] = f"ends the process: {why[-1][:200] if why else done.returncode}"
        first = begun["begins"] + step


def summary(found: dict[str, str]) -> Counter:
    return Counter(said.partition(":")[0] for said in found.values())


def main() -> None:
    """Print what the rows say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind")
    parser.add_argument("--part", choices=("ops", "functions"), default="functions")
    parser.add_argument("--work", choices=("ops", "functions"))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    if given.work:
        work(given.work, given.kind, given.first, given.step, given.only)
        return
    found = sweep(given.part, given.kind, given.first, given.step, given.only)
    for name, said in found.says.items():
        if said != "compiles":
            print(f"{name}: {said}")
    slowest = sorted(found.seconds.items(), key=lambda pair: -pair[1])[:5]
    print(dict(summary(found.says)), f"{sum(found.seconds.values()):.0f} s, most of it:", slowest)


if __name__ == "__main__":
    main()
