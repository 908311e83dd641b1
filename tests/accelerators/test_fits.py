"""``python -m xcore fits``: a script on devices that are not here, and what a process there finds on disk."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import xcore as xc, xcore.numpy as xnp

mesh = xc.make_mesh((len(xc.devices()),), "x")
x = xc.device_put(xnp.ones(({n}, {n})), xc.NamedSharding(mesh, xc.P("x")))
y = xc.jit(lambda x: x @ x)(x)
w = xc.jit(xnp.linalg.eigvals)(xnp.ones((50, 50)))
print(y)
print(float(y[0, 0]))
"""
# The name on disk is that of the compiler; a client on the device says other things of itself.
STORED = """
import json, sys
import xcore as xc
from xcore._backend import cache, client
from xcore._core import compile, kernels

class There:
    def __init__(self, device):
        self.device_kind, self.client, self.id = device.device_kind, self, device.id
        self.platform, self.platform_version = "cuda", "cuda 13000"

here = xc.topology("h200")[0]
p = xc.jit(lambda x: x * 2).lower(xc.ShapeDtypeStruct((8,), "float32"))
p.compile(here)
name = lambda d: compile._disk_name(p._traced.program, (d,), (), None)
blob = cache.default_cache().get(name(There(here)))
calls, executable = kernels.unpack(blob)
print(json.dumps({"size": len(executable), "same": name(here) == name(There(here)), "calls": len(calls)}))
"""


def run(cache: Path, *args: str) -> subprocess.CompletedProcess:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "XCORE_CACHE_DIR": str(cache), "XCORE_CACHE": "1"}
    command = [sys.executable, *args]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=env, timeout=300)


@pytest.mark.parametrize("kind, n, status", [("h200:2", 40_000, 0), ("l4:4", 100_000, 1)])
def test_a_script_fits_or_not(kind, n, status, tmp_path, needs):
    needs("cuda")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(n=n))
    done = run(tmp_path, "-m", "xcore", "fits", str(script), "--device", kind)
    assert done.returncode == status, done.stdout + done.stderr
    assert "cuhybrid_eig_real is done by the host" in done.stdout
    assert "followed to line 9: print(float(y[0, 0])), which needs a value" in done.stdout
    assert ("does not fit: <lambda> script.py:6" in done.stdout) == bool(status)


def test_tpus_refuse_in_words(tmp_path, needs):
    needs("tpu")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(n=1000))
    done = run(tmp_path, "-m", "xcore", "fits", str(script), "--device", "v5e:4")
    assert done.returncode == 1 and "eigvals script.py:7 does not compile: xcore: " in done.stdout


def test_what_is_stored_has_the_name_that_a_process_on_the_device_looks_for(tmp_path, needs):
    needs("cuda")
    done = run(tmp_path, "-c", STORED)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["same"] and found["size"] > 1000 and found["calls"] == 0
