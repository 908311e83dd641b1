"""What ``docs/trust/reproducibility.md`` says of equal bits, seen in processes of their own.

The table below has a row for each function; columns are what the page says of it when something changes.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

PROGRAM = """
import hashlib, json, sys
import numpy as np, xcore as xc, xcore.numpy as xnp
from xcore.sharding import NamedSharding, P

spread = len(xc.devices()) > 1
mesh = xc.make_mesh((len(xc.devices()),), ("rows",)) if spread else None
place = lambda x: xc.device_put(x, NamedSharding(mesh, P("rows"))) if spread else xnp.asarray(x)
r = np.random.default_rng(0)
x, a = (place(r.standard_normal(s).astype("float32")) for s in ((1 << 17,), (512, 512)))
programs = {
    "exp": lambda: xnp.exp(x), "sin of a product": lambda: xnp.sin(3 * x) * x, "divide": lambda: x / (1 + x * x),
    "gammaln": lambda: xc.special.gammaln(abs(x) + 0.1), "sort": lambda: xnp.sort(x), "argsort": lambda: xnp.argsort(x),
    "normal": lambda: xc.random.normal(xc.random.key(1), (1 << 12,)),
    "gamma": lambda: xc.random.gamma(xc.random.key(2), 2.5, (1 << 10,)),
    "maximum": lambda: xnp.max(x), "integers": lambda: xnp.sum((1000 * x).astype(int)),
    "sum": lambda: xnp.sum(x), "product": lambda: a @ a, "solve": lambda: xnp.linalg.solve(a, a[:, 0]),
    "singular values": lambda: xnp.linalg.svd(a, compute_uv=False), "gradient": lambda: xc.grad(lambda x: xnp.sum(x**3))(x),
    "cumsum": lambda: xnp.cumsum(x[:4096]),
}
bits = lambda y: hashlib.sha256(np.ascontiguousarray(np.asarray(y)).tobytes()).hexdigest()
print(json.dumps({name: bits(f()) for name, f in programs.items()}))
"""

# Functions whose parts are added in another order, or that take another algorithm.
SUMS = {"sum", "product", "solve", "singular values"}
CHANGES = {
    "again": ({}, set()),
    "without cache": ({"XCORE_CACHE": "0"}, set()),
    "one core": ({}, SUMS),
    "plainly": ({"XCORE_PLAIN": "1"}, SUMS | {"cumsum", "gammaln", "sort", "argsort"}),
    "over four devices": ({"XCORE_NUM_CPU_DEVICES": "4"}, SUMS | {"cumsum"}),
}


def run(more: dict, cores: set | None = None) -> dict:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("XCORE_", "XLA_"))}
    env |= {"PYTHONPATH": str(ROOT), "XCORE_NUM_CPU_DEVICES": "1"} | more
    chosen = (lambda: os.sched_setaffinity(0, cores)) if cores else None
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, timeout=300, check=True,
        preexec_fn=chosen,
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def first():
    return run({})


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_bits_are_equal_where_the_page_says_so(first, change):
    if change == "one core" and not hasattr(os, "sched_setaffinity"):
        pytest.skip("cores cannot be chosen here")
    more, may_differ = CHANGES[change]
    cores = {min(os.sched_getaffinity(0))} if change == "one core" else None
    found = run(more, cores)
    assert {name for name in first if found[name] != first[name]} <= may_differ
