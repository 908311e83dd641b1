"""docs/numpy.md is what its generator writes, and no name of NumPy or jax.numpy is forgotten."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import xcore.numpy as xnp

ROOT = Path(__file__).parents[2]


def _loaded():
    spec = importlib.util.spec_from_file_location("numpy_page", ROOT / "tools" / "numpy_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


page = _loaded()


def public(module):
    return {n for n in dir(module) if not n.startswith("_")}


def test_the_page_is_current():
    text = (ROOT / "docs" / "numpy.md").read_text()
    assert text == page.page(page.compared_on(text)), "run: python tools/numpy_page.py"


def test_every_name_of_numpy_is_here_or_left_out_for_a_reason():
    left_out = page.names(page.LEFT_OUT)
    # names of other versions of NumPy and other platforms may stand in the table
    assert public(np) - public(xnp) - left_out == set()
    assert left_out & public(xnp) == set()
    assert public(np.linalg) - public(xnp.linalg) == {"test"} and public(np.fft) - public(
        xnp.fft
    ) == {"test"}


def test_every_name_of_jax_numpy_is_here_or_left_out_for_a_reason():
    code = "import jax.numpy as m; print(*dir(m)); print(*dir(m.linalg)); print(*dir(m.fft))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    if run.returncode:
        pytest.skip("jax is not installed")
    for line, ours in zip(run.stdout.splitlines(), (xnp, xnp.linalg, xnp.fft), strict=True):
        theirs = {n for n in line.split() if not n.startswith("_")}
        assert theirs - public(ours) - page.names(page.LEFT_OUT_OF_JAX) == set()


def test_tables_name_what_exists():
    found = {
        **page.functions(xnp), **page.functions(xnp.linalg, "linalg."), **page.functions(xnp.fft, "fft."),
    }  # fmt: skip
    assert [n for n in page.DIFFERENCES if n not in found or not page.DIFFERENCES[n]] == []
    assert [n for n in page.STANDARD if n not in found and not hasattr(xnp, n)] == []
    assert [
        n
        for n, f in found.items()
        if page.in_numpy(n) and not page.sentence(f).endswith((".", ":"))
    ] == []
