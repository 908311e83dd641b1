"""The pages for people agree with the code: their programs run, what they name is there."""

import importlib.util
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from tests.test_layers import LAYERS
from xcore._core.op import Op, registry

ROOT = Path(__file__).resolve().parent.parent
PAGES = (
    """
    README.md ARCHITECTURE.md CONTRIBUTING.md examples/README.md benchmarks/README.md
""".split()
    + sorted(p.relative_to(ROOT).as_posix() for p in ROOT.glob("docs/**/*.md"))
)
# The order in which a record, and the table of the architecture, have them.
RULES = """
    type lower jvp transpose batch linearize split over_axis eager stage threaded steps host
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


# What the programs of a page take as given; those that need another machine are not run.
GIVEN = {
    "docs/accelerators.md": {"x": np.ones((4, 8), "float32"), "w": np.ones((8, 8), "float32")},
    "docs/devices.md": {
        "batch": np.ones((8, 4), "float32"), "weights": np.ones((4, 2), "float32"), "state": {"u": np.ones(4)}, "i": 1,
    },
    "docs/howto/gpu.md": {"solve": abs},
}  # fmt: skip
ELSEWHERE = ("xc.topology(", "distributed.initialize(", "fast = xc.jit(solve")


def plain_programs(page: str) -> list[str]:
    """Blocks of code without a prompt, which doctest does not see."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    return [b for b in blocks if ">>>" not in b]


@pytest.mark.parametrize("page", [p for p in PAGES if p.startswith("docs/")])
def test_programs_without_a_prompt_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mesh = xc.make_mesh((2, 4), ("data", "model"), devices=xc.devices()[::-1])
    scope = {"xc": xc, "xnp": xnp, "other": mesh} | GIVEN.get(page, {})
    for program in plain_programs(page):
        if any(word in program for word in ELSEWHERE):
            compile(program, page, "exec")
        else:
            exec(compile(program, page, "exec"), scope)


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
    files = [f for f in files if "NN_" not in f and not f.startswith("build/")]  # which is made
    missing = [f for f in files if not any((a / f).exists() for a in around)]
    assert missing == []


def section(number: int) -> str:
    """A section of ARCHITECTURE.md."""
    (text,) = re.findall(
        rf"^## {number}\. .*?\n(.*?)(?=^## |\Z)",
        (ROOT / "ARCHITECTURE.md").read_text(),
        re.M | re.S,
    )
    return text


def first_column(text: str) -> list[str]:
    """The names between backticks in the first column of tables."""
    cells = re.findall(r"^\| (`[^|]*) \|", text, re.M)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def test_every_folder_is_in_the_architecture():
    folders = {p.parent.name for p in ROOT.glob("xcore/*/__init__.py")} - {"lax"}
    assert {f for f in folders if f"{f}/" not in section(3)} == set()


@pytest.mark.parametrize("folder", ["_backend", "_core", "_ops", "_transforms", "_control"])
def test_every_module_is_in_the_tree(folder):
    (listed,) = re.findall(rf"^  {folder}/(.*?)(?=^  \S)", section(3), re.M | re.S)
    files = [p for p in (ROOT / "xcore" / folder).iterdir() if p.suffix in (".py", ".pyi")]
    modules = {p.stem for p in files} - {"__init__"}
    rows = re.findall(r"^    (\w+(?:,\s+\w+)*)", listed, re.M)
    named = {name for row in rows for name in re.split(r",\s+", row)}
    assert modules - named == set()
    assert named - modules == set()


def test_the_rules_of_an_op_are_those_of_the_record():
    facts = {"self", "name", "many", "nested", "effects", "alternatives", "closes"}
    assert first_column(section(7)) == RULES
    assert set(RULES) == set(inspect.signature(Op.__init__).parameters) - facts


def test_the_layers_are_those_that_are_enforced():
    (drawn,) = re.findall(r"```\n(.*?)```", section(4), re.S)
    rows = [frozenset(re.findall(r"\w+", row)) for row in drawn.split("→")[:-1]]
    assert rows == [frozenset(row) for row in LAYERS]


def test_ops_that_hold_programs_are_ops():
    import xcore.lax  # noqa: F401 (defines them all)

    named = {"custom_jvp": "custom_jvp_call", "custom_vjp": "custom_vjp_call"}
    missing = [n for n in first_column(section(8)) if named.get(n, n) not in registry]
    assert missing == []


def test_the_fast_paths_are_as_long_as_it_says():
    (said,) = re.findall(r"are some (\d+) lines of Python", section(13))
    files = re.findall(r"`(_\w+/\w+\.py)`", section(13))
    lines = sum(len((ROOT / "xcore" / f).read_text().splitlines()) for f in files)
    assert lines == pytest.approx(int(said), rel=0.1)


def test_the_traces_exist():
    for name in first_column(section(5)):
        name = name.split("(")[0]
        found = list(ROOT.glob("xcore/_*/*.py"))
        assert any(f"class {name}" in f.read_text() for f in found), name
