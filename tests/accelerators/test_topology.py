"""Programs compiled for devices that are not here, one process for each kind (a compiler may end it)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from xcore._backend import topologies

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import json, sys
import xcore as xc, xcore.numpy as xnp

kind, count = sys.argv[1], int(sys.argv[2])
try:
    here = xc.topology(kind, count)
except RuntimeError as e:
    print(json.dumps({"refused": str(e)}))
    sys.exit()
x = xc.ShapeDtypeStruct((512, 512), "float32")
made = xc.jit(lambda x: xnp.sin(x @ x), donate_argnums=0).lower(x).compile(here)
memory = made.memory_analysis()
try:
    made(xnp.ones((512, 512)))
except RuntimeError as e:
    said = str(e)
mesh = xc.make_mesh((count,), "x", devices=here.devices)
spread = xc.ShapeDtypeStruct((512, 512), "float32", sharding=xc.NamedSharding(mesh, xc.P("x")))
over = xc.jit(lambda x: x @ x).lower(spread).compile()
plain = xc.jit(lambda x: xc.lax.dot(x, x, precision="default")).lower(x).compile(here)
HIGHEST = "operand_precision={highest,highest}"
print(json.dumps({
    "precision": [HIGHEST in made.as_text(), HIGHEST in plain.as_text()],
    "devices": len(here), "arguments": memory.argument_size_in_bytes, "alias": memory.alias_size_in_bytes,
    "flops": made.cost_analysis()["flops"], "size": len(made.serialize()), "text": "HloModule" in made.as_text(),
    "said": said, "gathers": "all-gather" in over.as_text() or "collective-permute" in over.as_text(),
    "parts": over.memory_analysis().argument_size_in_bytes,
    "sharded": str(over.output_shardings.spec) if hasattr(over.output_shardings, "spec") else "",
}))
"""


def run(kind: str, count: int) -> dict:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, kind, str(count)], capture_output=True, text=True, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("kind", topologies.KINDS)
def test_every_kind_compiles_or_is_refused_in_words(kind, needs):
    needs(topologies.KINDS[kind].platform)
    said = run(kind, 4)
    if kind == "v100":
        assert "CUDA 13 has no code for NVIDIA V100" in said["refused"]
        return
    assert said["devices"] == 4 and said["text"] and said["size"] > 1000
    assert said["precision"] == [True, False]  # of products, by default and as asked for
    assert said["arguments"] == said["alias"] == 4 * 512 * 512
    assert said["flops"] == pytest.approx(2 * 512**3, rel=0.01)
    assert topologies.KINDS[kind].name.split()[0] in said["said"] and "not here" in said["said"]
    assert said["parts"] == 512 * 512 and said["gathers"]
