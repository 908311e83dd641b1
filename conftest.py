"""Settings of every test and doctest, made before xcore is imported."""

import os

# Two processes of tests on two cores: threads of NumPy's BLAS that wait for each other would take a sixth of the time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from tests import costs
from tests.slices import SLICES

# Executables are kept between runs, but not in the home folder of whoever runs the tests.
os.environ.setdefault("XCORE_CACHE_DIR", str(Path(__file__).parent / "build" / "test-cache"))

# Several devices in one process, for the tests that move and spread arrays.
os.environ.setdefault("XCORE_NUM_CPU_DEVICES", "8")

# On which devices: "cuda" or "tpu" runs the tests marked gpu there, or those of the folders given.
_PLATFORM = os.environ.get("XCORE_TEST_PLATFORM")
if _PLATFORM:
    os.environ.setdefault("XCORE_PLATFORM", _PLATFORM)

# Every type of every program is derived a second time.
os.environ.setdefault("XCORE_ENABLE_CHECKS", "1")

# The same examples in every run, and none that fails because the machine was busy.
settings.register_profile("xcore", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("xcore")

# Most of a run is compiling. Where single operations and their bits are tested, programs are those
# that users get; the rest is tested with programs that compile several times faster and run slower.
# XCORE_FULL_OPTIMIZATION=1 tests everything as users get it.
_AS_USERS_GET_IT = (
    "tests/_backend", "tests/_core", "tests/_ops", "tests/test_ops.py",
    "tests/numpy/test_binary.py", "tests/numpy/test_dot.py", "tests/numpy/test_last_places.py",
    "tests/numpy/test_reduce.py", "tests/numpy/test_standard", "tests/numpy/test_unary.py",
    "tests/random/test_bits.py", "tests/random/test_hash.py",
    "tests/ecosystem", "tests/sharding", "tests/special/test_accuracy.py",
    "docs/start", "docs/howto", "docs/derivatives.md", "xcore/__init__.py", "xcore/nn", "xcore/stats",
)  # fmt: skip
_RULES_ALONE = (
    "tests/_ops/test_factor.py", "tests/_ops/test_factor_rules.py", "tests/_ops/test_rules.py",
    "tests/_ops/test_slopes.py",
)  # fmt: skip
_FULL = os.environ.get("XCORE_FULL_OPTIMIZATION", "0") == "1"

# Importing it puts modules named jax before those of jax itself, which other tests compare with.
collect_ignore = ["xcore/as_jax", "tests/ecosystem/programs"]
collect_ignore_glob = ["tests/as_jax/[!t]*.py"]

_first_draws: dict = {}


def _draw_from_the_start(module):
    """A test draws the same numbers whichever tests ran before it, and in which process."""
    rng = getattr(module, "rng", None)
    if isinstance(rng, np.random.Generator):
        start = _first_draws.setdefault(module.__name__, rng.bit_generator.state)
        rng.bit_generator.state = start


def _leave_out(items):
    """Mark what `make test` leaves to `make test-slow`."""
    tests: dict = {}
    for item in items:
        tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    counts = costs.counts()
    for name, cases in tests.items():
        slice_ = SLICES.get(name, "")
        chosen = {
            item.callspec.id if hasattr(item, "callspec") else "": item
            for item in cases
            if slice_ is not None and (not slice_ or re.search(slice_, item.callspec.id))
        }
        ids = costs.spread(chosen)[: counts[name]] if name in counts else chosen
        kept = [chosen[i] for i in ids]
        for item in cases if len(kept) < len(cases) else ():
            if item not in kept:
                item.add_marker("slow")


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(config, items):
    _leave_out(items)
    if _PLATFORM and sorted(config.args) == sorted(config.getini("testpaths")):
        marked = [item for item in items if item.get_closest_marker("gpu")]
        config.hook.pytest_deselected(items=[item for item in items if item not in marked])
        items[:] = marked


def pytest_runtest_setup(item):
    _draw_from_the_start(getattr(item, "module", None))
    import xcore as xc

    path = item.path.relative_to(Path(__file__).parent).as_posix()
    hasty = not _FULL and (path in _RULES_ALONE or not path.startswith(_AS_USERS_GET_IT))
    os.environ["XCORE_DISABLE_MOST_OPTIMIZATIONS"] = str(
        int(hasty)
    )  # of processes that the test starts
    if xc.config.disable_most_optimizations != hasty:
        xc.config.update("disable_most_optimizations", hasty)


def pytest_sessionfinish():
    """A process of tests that takes long to end is killed, and what `make coverage` saw in it was lost."""
    coverage = sys.modules.get("coverage")
    if coverage and (seen := coverage.Coverage.current()):
        seen.save()


def pytest_terminal_summary(terminalreporter, config):
    if config.option.markexpr == "not slow":
        terminalreporter.write_line("left out: cases of wide sweeps, which `make test-slow` runs")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Where the compiler has no code for float16, what needs it is skipped, whoever catches the error."""
    from xcore._core import errors

    told, make = [], errors.no_half_floats
    errors.no_half_floats = lambda name: told.append(name) or make(name)
    try:
        return (yield)
    except Exception:
        if told:
            pytest.skip("no float16 on this processor")
        raise
    finally:
        errors.no_half_floats = make
