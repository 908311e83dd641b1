"""`python -m xcore warm` compiles a script's functions; a process that runs it finds them on disk."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import sys
import numpy as np, xcore as xc, xcore.numpy as xnp
from xcore._core import compile

@xc.jit
def step(x):
    return xc.lax.fori_loop(0, 50, lambda i, x: x - 0.1 * xnp.tanh(x), x)

@xc.jit
def loss(x):
    print("traced", file=sys.stderr)
    return xnp.sum(x**2)

x = step(xnp.ones(3000))
slope = xc.jit(xc.grad(loss))(x)
y = loss(x + slope)
{end}
"""


def python(folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess:
    environment = {
        **os.environ,
        "XCORE_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": str(ROOT),
        **settings,
    }
    return subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=folder, capture_output=True, text=True, timeout=1200
    )  # fmt: skip


def test_a_warmed_script_compiles_nothing_of_what_it_jits(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(end="print(float(y), compile.counts['compiled'])"))
    first = python(tmp_path, "-m", "xcore", "warm", "script.py")
    assert first.returncode == 1, first.stderr  # the last line wants a value
    assert "followed to line 18: print" in first.stdout
    run = python(tmp_path, "script.py")
    _, compiled = run.stdout.split()
    assert int(compiled) <= 1  # x + slope, which is not jitted
    script.write_text(SCRIPT.format(end="print(sys.argv[1:])"))
    again = python(tmp_path, "-m", "xcore", "warm", "script.py", "a", "b")
    assert again.returncode == 0 and "['a', 'b']" in again.stdout
    assert "xcore warm: 0 programs compiled, 4 were on disk" in again.stdout


def test_what_cannot_be_warmed_is_said(tmp_path):
    missing = python(tmp_path, "-m", "xcore", "warm", "nothing.py")
    assert missing.returncode == 2 and "no file nothing.py" in missing.stderr
    off = python(tmp_path, "-m", "xcore", "warm", __file__, XCORE_CACHE="0")
    assert off.returncode == 2 and "no cache on disk" in off.stderr
    assert python(tmp_path, "-m", "xcore", "warm").returncode == 2
