"""Tests of linear algebra with the programs of a GPU: see emulator.py. It needs no compiler of a GPU.

All of them: ``python -m pytest -p tests.accelerators.emulator -m "not slow" tests/linalg``.
"""

import re
import subprocess
import sys

from tests.accelerators.sweep import ROOT
from xcore._backend import ffi

FILES = (
    "tests/_ops/test_factor_rules.py", "tests/numpy/test_linalg.py", "tests/linalg/test_banded.py",
    "tests/linalg/test_factorisations.py", "tests/linalg/test_functions.py", "tests/linalg/test_not_finite.py",
    "tests/linalg/test_schur_and_polar.py", "tests/linalg/test_solve.py", "tests/linalg/test_special.py",
    "tests/linalg/test_structured.py",
)  # fmt: skip


def test_what_is_written_for_a_gpu_gives_what_a_cpu_gives():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.accelerators.emulator", "-m", "not slow",
         "-p", "no:xdist", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=1500", *FILES],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    written = dict(
        re.findall(
            r"(\w+) (\d+)(?:, |$)",
            done.stdout.split("routines of a GPU in programs: ")[1].split("\n")[0],
        )
    )
    assert set(ffi.CUDA) - set(written) <= {
        "gesvd",
        "sytrd",
    }  # for more than 1024 rows, and for eigenvalues alone
