"""What tests cost, and how many cases of the costly ones `make test` runs: the table tests/cases.txt.

It is made anew after a run that notes the processor seconds of each test::

    XCORE_TEST_COSTS=build/costs python -m pytest -n 2 -p tests.costs -m "not slow"
    python -m tests.costs build/costs.*

Where solvers and statistics are swept, a test whose cases cost more than SHARE seconds together runs as many of
them as fit, one at least, in an order in which each value of each parameter comes early, up to one that costs more than
ALONE by itself, or AT_MOST where it is about what is claimed; the others are left to `make test-slow`, and those that were
left before stay so. Tests of the core, of NumPy's functions and of the documentation run whole, but for some that take
each with each: their counts are written into the table by hand, as is 0 for a single test that is better left.
"""

import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

SHARE, ALONE = 0.5, 1.5
OF_CLAIMS, AT_MOST = re.compile(r"claim|success|cover|truth|no_minimum"), 6.0
TABLE = Path(__file__).parent / "cases.txt"
SWEPT = (
    "tests/decomp", "tests/habits", "tests/linalg", "tests/nn", "tests/optimize", "tests/pde",
    "tests/random", "tests/sanitize", "tests/scipy", "tests/sharding", "tests/sparse", "tests/special",
    "tests/stats", "tests/test_history", "tests/test_interrupted", "tests/test_resumed_problems", "tests/test_widths",
)  # fmt: skip


def spread(ids: Iterable[str]) -> list[str]:
    """The cases of a test, in an order in which each part of their names comes as early as it may."""
    rest, order, missing = list(ids), [], set()
    parts = {i: set(enumerate(i.split("-"))) for i in rest}
    while rest:
        missing = missing or set().union(*(parts[i] for i in rest))
        order.append(max(rest, key=lambda i: len(parts[i] & missing)))
        rest.remove(order[-1])
        missing = missing - parts[order[-1]]
    return order


def counts() -> dict[str, int]:
    """How many cases `make test` runs, of the tests in the table."""
    rows = (line.split(" ", 1) for line in TABLE.read_text().splitlines())
    return {test: int(count) for count, test in rows}


def _count(name: str, cases: dict[str, float]) -> int:
    """As many as fit, and at least one."""
    total, kept = 0.0, 0
    alone = AT_MOST if OF_CLAIMS.search(name) else ALONE
    for case in spread(cases):
        total += cases[case]
        if (kept and total > SHARE) or cases[case] > alone:
            break
        kept += 1
    return max(kept, 1)


def _table(files: Iterable[str]) -> str:
    costs: dict[str, dict[str, float]] = defaultdict(dict)
    for line in (line for file in files for line in Path(file).read_text().splitlines()):
        seconds, test = line.split(" ", 1)
        name, case = re.fullmatch(r"([^\[]*)(?:\[(.*)\])?(?:@\S+)?", test).groups()
        if name.startswith(SWEPT):
            costs[name][case or ""] = float(seconds)
    kept = counts()
    for name, cases in costs.items():
        count = _count(name, cases)
        if count < len(cases):
            kept[name] = min(count, kept.get(name, count))
    return "".join(f"{count} {name}\n" for name, count in sorted(kept.items()))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    before = sum(os.times()[:4])
    try:
        return (yield)
    finally:
        with Path(f"{os.environ['XCORE_TEST_COSTS']}.{os.getpid()}").open("a") as file:
            file.write(f"{sum(os.times()[:4]) - before:.3f} {item.nodeid}\n")


if __name__ == "__main__":
    TABLE.write_text(_table(sys.argv[1:]))
