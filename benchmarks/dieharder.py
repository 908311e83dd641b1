"""Runs the dieharder battery on both generators and on split streams.

    python benchmarks/dieharder.py            # needs dieharder (Debian: apt-get install dieharder)
    python benchmarks/dieharder.py --hours 2  # as many tests as fit, the quick ones first

Writes RESULTS-dieharder.md: all tests that the battery's authors call good, each with its default
number of samples. What dieharder calls weak is run again: on the same generator with two other
seeds, and three times on /dev/urandom, which says what the test makes of a source without a pattern.
"""

# Checkers do not see: None is excluded by another value.
# pyright: reportOptionalMemberAccess=false

import argparse
import math
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from harness import facts

SEED = 20251120
RESULTS = Path(__file__).parent / "RESULTS-dieharder.md"

# What is tested: its name and the arguments of xcore.random.stream.
STREAMS = {
    "Threefry-2x32": ["--impl", "threefry2x32"],
    "Philox-4x32": ["--impl", "philox4x32"],
    "Threefry, 64 split streams in turn": ["--impl", "threefry2x32", "--split", "64"],
    "Philox, 64 split streams in turn": ["--impl", "philox4x32", "--split", "64"],
}

# dieharder's number of a test and its parameter n, where it has one: the quick ones first.
TESTS: list[tuple[int, int]] = [
    *[(test, 0) for test in (100, 101, 8, 9, 0, 102, 15, 16, 3, 10, 11, 12, 13, 1, 2, 204, 205)],
    *[(test, 0) for test in (207, 208, 209, 4)],
    *[(202, n) for n in (2, 3, 4, 5)],
    *[(203, n) for n in range(4)],
    *[(200, n) for n in (1, 2, 3, 4)],
    *[(test, 0) for test in (206, 17)],
    *[(201, n) for n in (2, 3, 4, 5)],
    *[(200, n) for n in range(5, 13)],
    *[(203, n) for n in range(4, 33)],
]


class Outcome(NamedTuple):
    """One line of dieharder's: a test, its parameter, its samples, its p-value and its word for it."""

    test: str
    n: str
    samples: str
    p: float
    said: str
    again: str = ""


def battery(test: int, n: int, source: list[str]) -> list[Outcome]:
    """One test on what a command writes, at the lowest priority."""
    wanted = ("test_name", "ntuple", "psamples", "pvalues", "assessment")
    shown = [word for column in wanted for word in ("-D", column)]
    options = [*("-d", str(test)), *("-n", str(n)), *("-c", ","), *shown]
    bits = subprocess.Popen(["nice", "-n", "19", *source], stdout=subprocess.PIPE)
    command = ["nice", "-n", "19", "dieharder", "-g", "200", *options]
    done = subprocess.run(command, stdin=bits.stdout, capture_output=True, text=True)
    bits.kill()
    bits.wait()
    rows = [[cell.strip() for cell in line.split(",")] for line in done.stdout.splitlines()]
    return [Outcome(*r[:3], float(r[3]), r[4]) for r in rows if len(r) == 5 and is_number(r[3])]


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def xcore_stream(arguments: list[str], seed: int = SEED) -> list[str]:
    return [sys.executable, "-m", "xcore.random.stream", "--seed", str(seed), *arguments]


def run(arguments: list[str], test: int, n: int) -> list[Outcome]:
    """One test on a stream; what is called weak or failed is looked at again."""
    found = battery(test, n, xcore_stream(arguments))
    if all(o.said == "PASSED" for o in found):
        return found
    seeds = [battery(test, n, xcore_stream(arguments, SEED + i)) for i in (1, 2)]
    control = [battery(test, n, ["cat", "/dev/urandom"]) for _ in range(3)]
    return [
        o if o.said == "PASSED" else o._replace(again=second_look(i, seeds, control))
        for i, o in enumerate(found)
    ]


def second_look(i: int, seeds: list[list[Outcome]], control: list[list[Outcome]]) -> str:
    other, urandom = (", ".join(f"{run[i].p:.4f}" for run in runs) for runs in (seeds, control))
    return f"other seeds {other}; /dev/urandom {urandom}"


# The report


def counts(outcomes: list[Outcome]) -> str:
    said = [o.said for o in outcomes]
    words = ("PASSED", "WEAK", "FAILED")
    return f"{len(said)} p-values: " + ", ".join(f"{said.count(w)} {w.lower()}" for w in words)


def section(name: str, outcomes: list[Outcome]) -> str:
    head = [
        "| test | n | samples | p-value | dieharder says | again |",
        "|---|---:|---:|---:|---|---|",
    ]
    lines = [
        f"| {o.test} | {o.n} | {o.samples} | {o.p:.6f} | {o.said.lower()} | {o.again} |"
        for o in outcomes
    ]
    return "\n".join([f"## {name}", "", f"{counts(outcomes)}.", "", *head, *lines, ""])


def introduction(everything: list[Outcome], left: list[tuple[int, int]]) -> str:
    count = len(everything)
    least = min(min(o.p, 1 - o.p) for o in everything)
    # the chance that the most extreme of so many uniform numbers is at least as extreme
    chance = -math.expm1(count * math.log1p(-2 * least)) if least > 0 else 0.0
    return f"""# dieharder on the random generators

{facts()}; dieharder 3.31.1, seed {SEED}.

Written by `python benchmarks/dieharder.py {" ".join(sys.argv[1:])}`: tests that dieharder calls good, each with
its default number of samples and from the beginning of the stream.
{counts(everything)}. dieharder calls p < 0.005 or > 0.995 weak, which one p-value in a hundred
is by chance: {count / 100:.1f} are expected here. It calls a test failed below 10⁻⁶. The most extreme
p-value of all is {least:.2g} from its end; the chance of one so extreme among {count} is {chance:.2f}.
What was weak was run again with two other seeds, and three times on /dev/urandom.
{missing(left)}"""


def missing(left: list[tuple[int, int]]) -> str:
    """Which tests were not run on all streams, by dieharder's numbers."""
    if not left:
        return ""
    numbers = ", ".join(map(str, dict.fromkeys(test for test, _ in left)))
    return (
        f"\nThe time given sufficed for {len(TESTS) - len(set(left))} of {len(TESTS)} tests and parameters, the"
        f"\nquickest. Not run, or not with all parameters, were (dieharder's numbers): {numbers}.\n"
    )


def write(found: dict[str, list[Outcome]], left: list[tuple[int, int]]) -> None:
    everything = [o for outcomes in found.values() for o in outcomes]
    if everything:
        sections = [section(name, outcomes) for name, outcomes in found.items() if outcomes]
        RESULTS.write_text("\n".join([introduction(everything, left), *sections]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--hours", type=float, default=math.inf, help="start no test after these")
    end = time.monotonic() + 3600 * parser.parse_args().hours
    found: dict[str, list[Outcome]] = {name: [] for name in STREAMS}
    left: list[tuple[int, int]] = []
    for test, n in TESTS:
        for name, arguments in STREAMS.items():
            if time.monotonic() > end:
                left.append((test, n))
                continue
            outcomes = run(arguments, test, n)
            print(name, *outcomes, sep="\n  ", flush=True)
            found[name] += outcomes
            write(found, left)
    write(found, left)


if __name__ == "__main__":
    main()
