"""SciPy's own tests of its functions on arrays that are not NumPy's, with xcore in the place of JAX."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# Some in every run, and all of those that take such arrays.
SOME = "cluster.tests.test_hierarchy", "fft.tests.test_helper"
ALL = """
    cluster constants differentiate fft integrate interpolate linalg ndimage optimize signal spatial special stats
""".split()
# What fails, and why.
KNOWN = {
    "TestKMeans::test_krandinit": "a statistic of draws by NumPy that depends on the signs of singular vectors",
    "TestVectorizedFilter::test_input_validation": "expects the words of JAX's error",
    "TestChatterjeeXi::test_input_validation": "expects the words of JAX's error",
    "TestCheby1::test_bandstop": "expects all digits of a polynomial's value",
    "test_support_alternative_backends_mismatched_dtypes": "int64 and float32 are float32, as in JAX, not float64",
    "test_support_alternative_backends[jax.numpy-yn-float32": "SciPy takes int64 and float32 for float64 there",
}


def failures(module: str) -> list[str]:
    """The tests that fail, by their names behind the file."""
    command = [
        sys.executable, "-m", "xcore.as_jax", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull,
        "-rfE", "--tb=short", "-k", "jax.numpy", "--pyargs", f"scipy.{module}",
    ]  # fmt: skip
    variables = {"PYTHONPATH": str(HERE.parents[1]), "SCIPY_ARRAY_API": '["jax.numpy"]'}
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | variables)
    if done.returncode in (4, 5):  # some SciPy have no such module, or no such tests in it
        pytest.skip("this SciPy has no tests of other arrays there")
    assert done.returncode in (0, 1) and " passed" in done.stdout, done.stdout + done.stderr
    return re.findall(r"^(?:FAILED|ERROR) \S*?::(.*)", done.stdout, re.M)


@pytest.mark.parametrize("module", [*SOME, *[pytest.param(m, marks=pytest.mark.slow) for m in ALL]])
def test_tests_of_scipy(module):
    found = [name for name in failures(module) if not name.startswith(tuple(KNOWN))]
    assert not found
