"""Everything compiles for an H200 and a TPU v5e, but what ``known.py`` says does not."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from tests.accelerators.known import KNOWN
from tests.accelerators.sweep import ROOT, summary, sweep, widens
from xcore._backend import topologies

# Rows are dealt out, so that no test is long: pytest ends those that seem to hang.
SHARES = {"ops": 3, "functions": 5}
PARTS = [
    (kind, part, k)
    for kind in ("h200", "v5e") for part, shares in SHARES.items() for k in range(shares)
]  # fmt: skip


def expected(platform: str, row: str) -> str:
    matching = [how for name, (how, _) in KNOWN[platform].items() if re.fullmatch(name, row)]
    return matching[0] if matching else "compiles"


@pytest.mark.parametrize("kind, part, share", PARTS)
def test_everything_compiles_but_what_is_known(kind, part, share, needs, record_property):
    platform = topologies.KINDS[kind].platform
    needs(platform)
    found = sweep(part, kind, share, SHARES[part])
    record_property("said", f"{kind} {part}: {dict(summary(found.says))}")
    other = {r: s for r, s in found.says.items() if s.partition(":")[0] != expected(platform, r)}
    assert not other and len(found.says) > 30


CONTROL = """
import json, os, sys
import xcore as xc
from xcore._backend import client, options
from xcore._core import compile

here = xc.topology(sys.argv[1])
p = xc.jit(lambda x: x + 1).trace(xc.ShapeDtypeStruct((4,), "float32")).program
with compile.lowering().lowered(p, here.platform) as ctx:
    pass
ctx = compile.lowering().Lowering(here.platform)
t = ctx.tensor((4,), "float32")
ctx.function("main", [t], [t], lambda x: ctx.xla_call("no_such_target", [x], [t]), public=True)
try:
    client.compile_module(ctx.module, here.devices, options.compile_options(here.devices))
    said = "compiled"
except client.RuntimeFailure as e:
    said = str(e)
print(json.dumps(said), flush=True)
ctx.close()
os._exit(0)  # what the compiler leaves after a failure may end the interpreter on its way out
"""


@pytest.mark.parametrize("kind", ["h200", "v5e"])
def test_control_an_unknown_target_does_not_compile(kind, needs):
    """Else that the others compile would say nothing of their calls."""
    needs(topologies.KINDS[kind].platform)
    done = subprocess.run(
        [sys.executable, "-c", CONTROL, kind], capture_output=True, text=True, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    if done.returncode == 0:
        assert "no_such_target" in json.loads(done.stdout.splitlines()[-1])
    else:  # it ended the process
        assert "no_such_target" in done.stderr


def test_control_a_widened_program_is_seen():
    narrow, wide = np.zeros(2, "float32"), np.zeros(2)
    for found in ("tensor<2xf64>", "tensor<f64>", "tensor<2xcomplex<f64>>"):
        assert widens(f"(tensor<2xf32>) -> {found}", [narrow])
        assert not widens(found, [[narrow, wide]])
    assert not widens("%0 = stablehlo.sine %arg0 : tensor<2xf32>", [narrow])


def test_every_known_row_has_a_reason():
    for rows in KNOWN.values():
        for how, reason in rows.values():
            assert how in ("refused", "fails", "strays", "ends the process") and len(reason) > 20
