"""After os.fork() the runtime has no threads: what would wait for ever raises."""

import subprocess
import sys

import pytest

SCRIPT = """
import os, sys, warnings
import numpy as np
import xcore as xc, xcore.numpy as xnp

x = xnp.ones(1000)
f = xc.jit(lambda x: xnp.sin(x) @ x)
f(x)
y = (x + 1).block_until_ready()
ask = {{
    "a new jit": lambda: xc.jit(lambda x: 3 * x)(x),
    "a new eager function": lambda: xnp.cosh(x),
    "a compiled one": lambda: float(f(x)),
    "waiting": lambda: f(x).block_until_ready(),
    "waiting for a tree": lambda: xc.block_until_ready([f(x)]),
}}
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    pid = os.fork()
if pid:
    assert any("spawn" in str(w.message) and w.filename == __file__ for w in told), told
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert float(f(x)) > 0  # the parent goes on
    sys.exit(code)
assert np.asarray(y)[0] == 2  # what was computed can be read
try:
    ask[{what!r}]()
except RuntimeError as e:
    os._exit(0 if "spawn" in str(e) else 2)
os._exit(3)
"""


@pytest.mark.parametrize(
    "what",
    ["a new jit", "a new eager function", "a compiled one", "waiting", "waiting for a tree"],
)
def test_a_forked_process_is_told(what, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(what=what))
    done = subprocess.run([sys.executable, script], timeout=300, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_fork_before_the_first_use_may_compute(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys, xcore as xc, xcore.numpy as xnp\n"
        "pid = os.fork()\n"
        "assert float(xnp.ones(3).sum()) == 3\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if pid else 0)\n"
    )
    subprocess.run([sys.executable, "-W", "error", script], timeout=300, check=True)
