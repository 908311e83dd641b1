"""What programs over four devices exchange, as compiled for an H200 and a TPU v5e: operations and groups."""

import json
import os
import subprocess
import sys

import pytest

from tests.accelerators.spread import RING, groups_of
from tests.accelerators.sweep import ROOT
from xcore._backend import topologies

ALL, PAIRS = [[0, 1, 2, 3]], [[0, 3], [1, 2]]
# program: (what is exchanged, and between whom; whether the first argument's memory is the result's)
EXPECTED = {
    "psum": ([("all-reduce", ALL)], True),
    "pmax": ([("all-reduce", ALL)], True),
    "psum in groups": ([("all-reduce", PAIRS)], True),
    "all_gather": ([("all-gather", ALL)], False),
    "psum_scatter": ([("reduce-scatter", ALL)], False),
    "all_to_all": ([("all-to-all", ALL)], True),
    "ppermute": ([("collective-permute", [list(pair) for pair in RING])], True),
    "elementwise": ([], True),
    "sum": ([("all-reduce", ALL)], False),
    "shift": ([("collective-permute", [[0, 1], [1, 2], [2, 3], [3, 0]])], True),
    "scan": ([("all-reduce", ALL)], False),
    "gradient of a batch": ([("all-reduce", ALL)], True),
    "product, contracted": ([("all-reduce", ALL)], False),
    "product, rows": ([], True),
    "exported": ([("all-reduce", PAIRS), ("collective-permute", [[0, 1], [1, 3], [3, 0]])], True),
    "exported, on devices in another order": (
        [("all-reduce", [[3, 0], [2, 1]]), ("collective-permute", [[3, 2], [2, 0], [0, 3]])],
        True,
    ),
    "sparse rows": ([("all-to-all", ALL)], True),
    "gradient of sparse rows": ([("all-to-all", ALL)], True),
    "transform of rows": ([], False),
    "transform of columns": ([("all-to-all", ALL)], False),
    "poisson": ([("all-to-all", ALL)] * 4, True),  # 63 × 64: only columns have parts of equal size
    "poisson, even": ([("all-to-all", ALL)] * 2, True),
    "poisson, long lines": ([("all-to-all", ALL)] * 2, True),
}
# Of small arrays a TPU sums everything up, and each takes its part.
ON_TPU = {"psum_scatter": ([("all-reduce", ALL)], False)}


@pytest.mark.parametrize("kind", ["h200", "v5e"])
def test_programs_exchange_what_they_should(kind, needs):
    platform = topologies.KINDS[kind].platform
    needs(platform)
    done = subprocess.run(
        [sys.executable, "-m", "tests.accelerators.spread", kind], capture_output=True, text=True,
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT), "XCORE_CACHE": "0"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = {
        x["name"]: x if "fails" in x else ([tuple(e) for e in x["exchanges"]], x["alias"] > 0)
        for x in lines
    }
    assert found == {**EXPECTED, **(ON_TPU if platform == "tpu" else {})}


@pytest.mark.parametrize(
    "text, groups",
    [
        ("replica_groups={{0,3},{1,2}}, x", PAIRS), ("replica_groups=[1,4]<=[4], x", ALL),
        ("replica_groups=[2,2]<=[2,2]T(1,0), x", [[0, 2], [1, 3]]), ("no groups", []),
        ("replica_groups=mesh['a'=2,'b'=2] {'a'}, x", [[0, 2], [1, 3]]),
        ("source_target_pairs={{0,1},{3,0}}, x", [[0, 1], [3, 0]]),
    ],
)  # fmt: skip
def test_groups_are_read(text, groups):
    assert groups_of(text) == groups
