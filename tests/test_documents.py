"""The pages for people agree with the code: their programs run, what they name is there."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = """
    README.md ARCHITECTURE.md CONTRIBUTING.md examples/README.md benchmarks/README.md
    docs/accuracy.md docs/derivatives.md docs/devices.md docs/numpy.md docs/sanitize.md docs/special.md
""".split()
pages = pytest.mark.parametrize("page", PAGES)


def quoted(page: str) -> set[str]:
    """What stands between backticks within a line."""
    return set(re.findall(r"`([^`\n]+)`", (ROOT / page).read_text()))


def test_the_tour_runs(capsys):
    (program,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    exec(compile(program, "README.md", "exec"), {})
    said = capsys.readouterr().out
    assert "stablehlo.reduce" in said
    last = [float(x) for x in said.splitlines()[-1].strip("[]").split()]
    np.testing.assert_allclose(last, 1, atol=2e-3)  # its loop stops this close to the minimum


@pages
def test_modules_and_names_exist(page):
    for name in sorted(q for q in quoted(page) if re.fullmatch(r"xcore(\.\w+)+", q)):
        module, _, last = name.rpartition(".")
        found = hasattr(importlib.import_module(module), last)
        assert found or importlib.util.find_spec(name), name


@pages
def test_files_exist(page):
    """As paths from the root, from the package, from the tests or from the page itself."""
    around = [ROOT, ROOT / "xcore", ROOT / "tests", (ROOT / page).parent]
    files = [q for q in quoted(page) if re.fullmatch(r"[\w./-]+\.(py|md|txt|toml)|\w+/[\w/.-]*", q)]
    missing = [f for f in files if "NN_" not in f and not any((a / f).exists() for a in around)]
    assert missing == []


def test_every_folder_is_in_the_architecture():
    tree = (ROOT / "ARCHITECTURE.md").read_text().split("## 3. The tree")[1].split("## 4.")[0]
    folders = {p.parent.name for p in ROOT.glob("xcore/*/__init__.py")} - {"lax"}
    assert {f for f in folders if f"{f}/" not in tree} == set()
