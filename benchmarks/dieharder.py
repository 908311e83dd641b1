"""Runs a part of the dieharder battery on both generators and on split streams.

    python benchmarks/dieharder.py            # needs dieharder (Debian: apt-get install dieharder)

Writes RESULTS-dieharder.md. The battery's own default of all tests with 100 samples each takes hours
for each stream; this part takes some minutes: the quicker tests of those that its authors call good,
with the parameters below and fewer samples. Numbers as arguments choose among these tests.
"""

import math
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import NamedTuple

from harness import facts

SEED = 20251120
SAMPLES = 20  # statistics per test, which a Kolmogorov-Smirnov test makes into one p-value
RESULTS = Path(__file__).parent / "RESULTS-dieharder.md"

# What is tested: its name and the arguments of xcore.random.stream.
STREAMS = {
    "Threefry-2x32": ["--impl", "threefry2x32"],
    "Philox-4x32": ["--impl", "philox4x32"],
    "Threefry, 64 split streams in turn": ["--impl", "threefry2x32", "--split", "64"],
    "Philox, 64 split streams in turn": ["--impl", "philox4x32", "--split", "64"],
}

# dieharder's number of each test, and the values of its parameter n where it has one.
TESTS: dict[int, tuple[int, ...]] = {
    **dict.fromkeys((0, 1, 2, 3, 4, 8, 9, 10, 11, 15, 100, 102), (0,)),
    200: (1, 2, 4),
    201: (2, 3),
    202: (2, 4),
    203: (0, 7),
    **dict.fromkeys((204, 205, 207, 209), (0,)),
}


class Outcome(NamedTuple):
    """One line of dieharder's: a test, its parameter, its p-value and what dieharder says of it."""

    test: str
    n: str
    p: float
    said: str


def run(stream: list[str], test: int, n: int) -> list[Outcome]:
    """One test on a stream, at a low priority."""
    source = [sys.executable, "-m", "xcore.random.stream", "--seed", str(SEED), *stream]
    wanted = [*("-D", "test_name"), *("-D", "ntuple"), *("-D", "pvalues"), *("-D", "assessment")]
    options = [*("-d", str(test)), *("-n", str(n)), *("-p", str(SAMPLES)), *wanted]
    battery = ["nice", "-n", "10", "dieharder", "-g", "200", *options]
    bits = subprocess.Popen(["nice", "-n", "10", *source], stdout=subprocess.PIPE)
    done = subprocess.run([*battery, "-c", ","], stdin=bits.stdout, capture_output=True, text=True)
    bits.kill()
    bits.wait()
    rows = [line.split(",") for line in done.stdout.splitlines() if line.count(",") == 3]
    return [
        Outcome(a.strip(), b.strip(), float(c), d.strip()) for a, b, c, d in rows if is_number(c)
    ]


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def section(name: str, outcomes: list[Outcome]) -> str:
    said = [o.said for o in outcomes]
    counts = ", ".join(
        f"{said.count(word)} {word.lower()}" for word in ("PASSED", "WEAK", "FAILED")
    )
    lines = [f"| {o.test} | {o.n} | {o.p:.6f} | {o.said.lower()} |" for o in outcomes]
    head = ["| test | n | p-value | dieharder says |", "|---|---:|---:|---|"]
    return "\n".join(
        [f"## {name}", "", f"{len(outcomes)} p-values: {counts}.", "", *head, *lines, ""]
    )


def introduction(all_outcomes: list[Outcome]) -> str:
    count = len(all_outcomes)
    least = min(min(o.p, 1 - o.p) for o in all_outcomes)
    # the chance that the most extreme of so many uniform numbers is at least as extreme
    chance = -math.expm1(count * math.log1p(-2 * least)) if least > 0 else 0.0
    weak = sum(o.said == "WEAK" for o in all_outcomes)
    return "\n".join(
        [
            "# dieharder on the random generators",
            "",
            f"{date.today()}; {facts()}; dieharder 3.31.1, seed {SEED}.",
            "",
            f"Written by `python benchmarks/dieharder.py {' '.join(sys.argv[1:])}`: the quicker tests of those",
            f"that dieharder calls good, {SAMPLES} samples each (its default is 100), all from the beginning of",
            "the stream. At so few samples diehard_count_1s_byt leans to large p-values for any source on",
            "standard input: five runs on /dev/urandom gave 0.978, 0.997, 0.095, 0.943 and 0.905.",
            "dieharder calls p < 0.005 or > 0.995",
            "weak, which one",
            f"p-value in a hundred is by chance: of {count} here {weak} are, {count / 100:.1f} are expected. It calls",
            "a test failed below 10⁻⁶. The most extreme p-value of all is "
            f"{least:.2g} from its end; the chance of one so",
            f"extreme among {count} is {chance:.2f}.",
            "",
        ]
    )


def main() -> None:
    wanted = {int(number) for number in sys.argv[1:]} or set(TESTS)
    chosen = {test: parameters for test, parameters in TESTS.items() if test in wanted}
    sections, everything = [], []
    for name, stream in STREAMS.items():
        outcomes = []
        for test, parameters in chosen.items():
            for n in parameters:
                found = run(stream, test, n)
                print(name, test, n, *[f"{o.p:.4f}" for o in found], flush=True)
                outcomes += found
        sections.append(section(name, outcomes))
        everything += outcomes
        RESULTS.write_text("\n".join([introduction(everything), *sections]))


if __name__ == "__main__":
    main()
