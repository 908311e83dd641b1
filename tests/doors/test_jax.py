"""Functions that cross the border between xcore and the real JAX, each in a process of its own."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BEGIN = """
import jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_enable_x64", True)
import xcore as xc, xcore.numpy as xnp, xcore.jax as border

rng = np.random.default_rng(0)
a, b = rng.normal(size=(4, 4)) + 4 * np.eye(4), rng.normal(size=4)

def close(found, wanted):
    for f, w in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(np.asarray(f), np.asarray(w), rtol=1e-12, atol=1e-13)
        assert np.asarray(f).dtype == np.asarray(w).dtype
"""
CASES = {
    "arrays of JAX among those that live": """
theirs, ours = jnp.ones(7), xnp.ones((3, 11))
shared = xnp.from_dlpack(theirs)
assert any(x.shape == (3, 11) for x in xc.live_arrays()) and xc.memory_stats()["bytes_in_use"] > 0
""",
    "a solver of xcore in a program of JAX": """
solve = border.as_jax_function(lambda a, b: xc.linalg.solve(a, b))
loss, peer = (lambda f: lambda a, b: jnp.sum(f(a, b) ** 2))(solve), lambda a, b: jnp.sum(jnp.linalg.solve(a, b) ** 2)
close(solve(a, b), np.linalg.solve(a, b))
close(jax.jit(jax.grad(loss, (0, 1)))(a, b), jax.grad(peer, (0, 1))(a, b))
close(jax.vmap(solve, (None, 0))(a, np.stack([b, 2 * b])), np.stack([np.linalg.solve(a, b)] * 2) * [[1], [2]])
""",
    "one callback for all calls": """
traced = []
f = border.as_jax_function(lambda x: [traced.append(x.shape), x + 1][1])
for _ in range(20):
    close(f(b), b + 1)
    close(jax.grad(lambda x: f(x).sum())(jnp.asarray(b)), np.ones(4))
assert len(traced) <= 8, traced  # a handful for each way, and none with each call
""",
    "trees and integers from xcore": """
f = border.as_jax_function(lambda d, n: {"y": xnp.sin(d["x"]) * n, "n": n + 1})
close(f({"x": b}, 3), {"y": np.sin(b) * 3, "n": jnp.asarray(4)})
close(jax.grad(lambda d: f(d, 3)["y"].sum())({"x": jnp.asarray(b)}), {"x": 3 * np.cos(b)})
""",
    "a function of JAX in a program of xcore": """
f = border.from_jax_function(lambda d, n: {"y": jnp.sin(d["x"]) * n, "z": jnp.linalg.slogdet(d["a"])[1]})
loss = lambda d, n: xnp.sum(f(d, n)["y"]) + f(d, n)["z"]
given = {"x": xnp.asarray(b), "a": xnp.asarray(a)}
close(f(given, 2), {"y": 2 * np.sin(b), "z": np.linalg.slogdet(a)[1]})
close(xc.jit(xc.grad(loss))(given, 2), {"x": 2 * np.cos(b), "a": np.linalg.inv(a).T})
close(xc.vmap(lambda x: f({**given, "x": x}, 2)["y"])(np.stack([b, b])), 2 * np.sin(np.stack([b, b])))
""",
    "there and back": """
f = border.as_jax_function(border.from_jax_function(lambda x: jnp.cumsum(x**3)))
close(jax.grad(lambda x: f(x)[-1])(jnp.asarray(b)), 3 * b**2)
""",
    "derivatives in sixteen bits": """
for dtype in ("bfloat16", "float16"):
    x, square = jnp.asarray([1.0, 2.0], dtype), lambda x: (x * x).sum()
    close(jax.grad(border.as_jax_function(square))(x), 2 * x)
    close(xc.grad(border.from_jax_function(square))(border.from_jax(x)), 2 * x)
""",
    "second derivatives": """
cube = lambda x: (x**3 + x[0]).sum()
wide = jnp.asarray(b)
close(jax.grad(lambda x: jax.grad(border.as_jax_function(cube))(x)[1])(wide),
      6 * b * (np.arange(4) == 1))
close(xc.grad(lambda x: xc.grad(border.from_jax_function(cube))(x)[1])(xnp.asarray(b)), 6 * b * (np.arange(4) == 1))
""",
    "arrays": """
close(border.to_jax({"a": xnp.asarray(a)}), {"a": a})
close(border.from_jax([jnp.asarray(b)]), [b])
assert isinstance(border.to_jax(xnp.ones(2)), jax.Array)
assert isinstance(border.from_jax(jnp.ones(2)), xc.Array)
""",
    "empty and scalar": """
f = border.as_jax_function(lambda x: x * 2)
g = border.from_jax_function(lambda x: x * 2)
for x in (np.zeros((0, 3)), np.float32(3), np.ones(2, "complex64"), np.ones(1, "int32")):
    close(f(x), x * 2)
    close(g(x), x * 2)
""",
}


def python(text: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    return subprocess.run(
        [sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=1200
    )


@pytest.mark.skipif(not importlib.util.find_spec("jax"), reason="jax is not installed")
@pytest.mark.parametrize("name", CASES)
def test_border(name):
    done = python(BEGIN + CASES[name])
    assert done.returncode == 0, done.stderr


def test_without_jax_it_says_what_to_do():
    done = python("import xcore.jax, sys\nassert 'jax' not in sys.modules\nxcore.jax.to_jax(1.0)")
    assert "the real jax has not been imported in this process" in done.stderr
