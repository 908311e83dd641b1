"""``jax`` that is xcore: in processes of their own, since this one may have the real one."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FILES = (
    "checks.py",
    "names.py",
    "behind.py",
    "spread.py",
    "gradients.py",
    "draws.py",
    "refusals.py",
    "lenient.py",
)
CHECKS = [
    (file, name)
    for file in FILES
    for name in re.findall(r"^def (check_\w+)", (HERE / file).read_text(), re.M)
]


def run(*arguments, **variables):
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1]), **variables}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, timeout=1200
    )


@pytest.fixture(scope="module")
def results():
    found = {}
    for file in FILES:
        done = run(str(HERE / file))
        lines = [x for x in done.stdout.splitlines() if x.startswith("RESULTS ")]
        assert lines, done.stderr
        found[file] = json.loads(lines[0].removeprefix("RESULTS "))
    return found


@pytest.mark.parametrize(("file", "name"), CHECKS)
def test_check(results, file, name):
    if "HalfFloatError" in results[file][name]:  # as conftest.py does for tests of this process
        pytest.skip("this processor has no instructions for float16")
    assert results[file][name] == "", results[file][name]


def test_scripts_and_modules_run(tmp_path):
    (tmp_path / "script.py").write_text(
        "import sys, jax, jax.numpy as jnp\n"
        "__builtins__.print(__name__, sys.argv[1:], jax.xcore.__name__, float(jax.grad(jnp.sin)(0.0)))\n"
    )
    done = run("-m", "xcore.as_jax", str(tmp_path / "script.py"), "a", "-b")
    assert done.stdout == "__main__ ['a', '-b'] xcore 1.0\n", done.stderr
    done = run("-m", "xcore.as_jax", "-m", "timeit", "-n1", "-r1", "import jax; jax.xcore")
    assert "1 loop" in done.stdout, done.stderr
    for wrong, words in (([], "usage"), (["-m"], "usage"), (["nowhere.py"], "no file nowhere.py")):
        done = run("-m", "xcore.as_jax", *wrong)
        assert done.returncode == 2 and words in done.stderr


def test_refuses_where_another_jax_is():
    code = "import sys, types; sys.modules['jax'] = types.ModuleType('jax')\nimport xcore.as_jax"
    done = run("-c", code)
    assert done.returncode == 1 and "imported already" in done.stderr


def test_what_xcore_does_better_can_be_had():
    code = """
import xcore.as_jax, numpy as np, jax, xcore.random
assert jax.numpy.asarray(np.ones(2)).dtype == np.float64
assert jax.random.gamma is not None and jax.random.gamma.__module__.startswith("xcore.random")
"""
    done = run("-c", code, XCORE_AS_JAX_STRICT="0")
    assert done.returncode == 0, done.stderr


def test_is_never_active_unasked():
    code = """
import sys, xcore, xcore.numpy, xcore.random, xcore.lax, xcore.scipy, xcore.nn
assert 'jax' not in sys.modules and not any('as_jax' in m for m in sys.modules)
"""
    done = run("-c", code)
    assert done.returncode == 0, done.stderr


def test_this_process_is_not_touched():
    """Collecting the tests and looking at public modules imports it nowhere."""
    assert "xcore.as_jax" not in sys.modules or "xcore.as_jax" in sys.orig_argv
