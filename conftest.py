"""Settings of every test and doctest, made before xcore is imported."""

import os
from pathlib import Path

from hypothesis import settings

# Executables are kept between runs, but not in the home folder of whoever runs the tests.
os.environ.setdefault("XCORE_CACHE_DIR", str(Path(__file__).parent / "build" / "test-cache"))

# Several devices in one process, for the tests that move and spread arrays.
os.environ.setdefault("XCORE_NUM_CPU_DEVICES", "8")

# On which devices: "cuda" runs all tests on a GPU, but those that need several devices.
if "XCORE_TEST_PLATFORM" in os.environ:
    os.environ.setdefault("XCORE_PLATFORM", os.environ["XCORE_TEST_PLATFORM"])

# Every type of every program is derived a second time.
os.environ.setdefault("XCORE_ENABLE_CHECKS", "1")

# The same examples in every run, and none that fails because the machine was busy.
settings.register_profile("xcore", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("xcore")

# Most of a run is compiling. What is built on the operations is tested with programs that compile
# several times faster and run slower; the operations, the NumPy surface, random bits and the
# examples of docstrings with what users get. XCORE_FULL_OPTIMIZATION=1 tests all that way.
_HASTY = ("decomp", "linalg", "optimize", "pde", "scipy", "stats", "_transforms", "_control")
_FULL = os.environ.get("XCORE_FULL_OPTIMIZATION", "0") == "1"


def pytest_runtest_setup(item):
    import xcore as xc

    path = item.path.relative_to(Path(__file__).parent)
    hasty = not _FULL and path.parts[0] == "tests" and path.parts[1] in _HASTY
    if xc.config.disable_most_optimizations != hasty:
        xc.config.update("disable_most_optimizations", hasty)
