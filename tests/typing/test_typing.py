"""What a type checker tells users: right programs check, and each mistake is found where it stands.

Programs are ``ok_*.py``, checked strictly, and ``bad_*.py``, where a comment names the rule that a
line breaks. They see the package as it is installed, with ``py.typed`` and its stubs.
"""

import importlib
import importlib.util
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy
import pytest

from xcore._core.package import _OF_ARRAYS
from xcore._core.trace import Tracer
from xcore._core.types import Value
from xcore.numpy import _at
from xcore.numpy._methods import METHODS

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent.parent / "xcore"
SURFACE = ModuleType(
    "surface"
)  # what type checkers see of arrays is a stub, which cannot be imported
exec((PACKAGE / "_core" / "surface.pyi").read_text("utf-8"), SURFACE.__dict__)
PROGRAMS = sorted([*HERE.glob("ok_*.py"), *HERE.glob("bad_*.py")])
EXPECTED = re.compile(r"# error: (\w+)")

CONFIG = {"venvPath": ".", "venv": "venv", "pythonVersion": "3.11", "typeCheckingMode": "strict"}


def installed(folder: Path) -> None:
    """An environment that has this package, and beyond it what the running one has."""
    site = folder / "venv" / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    (site / "xcore").symlink_to(PACKAGE)
    (site / "others.pth").write_text(str(Path(numpy.__file__).parent.parent))


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> set[tuple[str, int, str]]:
    """All that pyright says of the programs: file, line, rule."""
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed: pip install 'xcore[lint]'")
    folder = tmp_path_factory.mktemp("user")
    installed(folder)
    (folder / "pyrightconfig.json").write_text(json.dumps(CONFIG))
    for program in PROGRAMS:
        (folder / program.name).write_text(program.read_text())
    command = [sys.executable, "-m", "pyright", "--outputjson", "-p", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        said = json.loads(done.stdout)["generalDiagnostics"]
    except json.JSONDecodeError:
        pytest.skip(f"pyright does not run here: {done.stdout[-200:]}{done.stderr[-200:]}")
    return {
        (Path(d["file"]).name, d["range"]["start"]["line"] + 1, d.get("rule", d["message"]))
        for d in said
    }


def expected(program: Path) -> set[tuple[str, int, str]]:
    lines = enumerate(program.read_text().splitlines(), 1)
    return {(program.name, i, rule) for i, line in lines for rule in EXPECTED.findall(line)}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_programs(found, program):
    said, wanted = {d for d in found if d[0] == program.name}, expected(program)
    assert {"missed": sorted(wanted - said), "more": sorted(said - wanted)} == {
        "missed": [],
        "more": [],
    }


def test_programs_expect_what_their_names_say():
    for program in PROGRAMS:
        assert bool(expected(program)) == program.name.startswith("bad_"), program


def parameters(function) -> list[tuple]:
    """Names, kinds and which have defaults, but for the array itself."""
    given = list(inspect.signature(function).parameters.values())[1:]
    return [(p.name, p.kind, p.default is p.empty) for p in given]


@pytest.mark.parametrize("name", sorted(METHODS))
def test_methods_are_typed_as_they_are(name):
    assert parameters(getattr(SURFACE.Surface, name)) == parameters(METHODS[name])


def test_changed_copies_are_typed_as_they_are():
    for name in public(_at.AtIndex):
        assert parameters(getattr(SURFACE.AtIndex, name)) == parameters(getattr(_at.AtIndex, name))


def public(cls) -> set[str]:
    return {name for name in dir(cls) if not name.startswith("_")}


def test_everything_that_arrays_have_is_typed():
    special = {"__module__", "__slots__", "__doc__", "__weakref__"}
    installed_here = {n for n in {**vars(Value), **vars(Tracer)} if n not in special}
    ours = {"_counts_as_array", "owner", "type", "varies", "concrete", "origin"}
    dynamic = {
        "__jax_array__",
        "__repr__",
        "__format__",
        "__reduce__",
        "__setitem__",
        "__array_priority__",
    }
    absent = {n for names in _OF_ARRAYS for n in names.split()}  # they say what to take instead
    assert installed_here - ours - dynamic - absent - set(dir(SURFACE.Surface)) == set()


# Stubs

sys.path.insert(0, str(PACKAGE.parent / "tools"))
import stubs  # noqa: E402


@pytest.mark.parametrize("package", stubs.PACKAGES)
def test_stubs_are_those_of_the_functions(package):
    assert stubs.path_of(package).read_text("utf-8") == stubs.stub(package), "run: make stubs"


def functions(package: str) -> dict[str, dict]:
    """The parameters of a package's functions, and of those of its families."""
    module = importlib.import_module(f"xcore.{package}")
    named = {f"{package}.{n}": getattr(module, n) for n in stubs.names_of(package, module)}
    for name, value in [*named.items()]:
        if hasattr(value, "logpdf") or hasattr(value, "logpmf"):
            named |= {f"{name}.{n}": f for n, f in vars(value).items()}
    return {n: inspect.signature(f).parameters for n, f in named.items() if inspect.isfunction(f)}


def test_tables_name_what_there_is():
    """No row of the tables is left of a function or a parameter that is gone."""
    given = {n: p for package in stubs.PACKAGES for n, p in functions(package).items()}
    assert {*stubs.by_name(stubs.RESULTS), *stubs.CHANGING, *stubs.WHOLE} - given.keys() == set()
    exceptions = stubs.ELSEWHERE.keys() - {*stubs.PACKAGES}
    wrong = {(w, n) for w in exceptions for n in stubs.by_name(stubs.ELSEWHERE[w])}
    assert {(w, n) for w, n in wrong if n not in given.get(w, ())} == set()
    assert {*stubs.by_name(stubs.NAMES)} - {n for p in given.values() for n in p} == set()
