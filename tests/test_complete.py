"""Nothing public is undocumented: every name has a docstring, every function an example."""

import importlib
import inspect
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import xcore
from tools.site.names import places, public_modules, public_names
from tools.stubs import PACKAGES


def functions(module: ModuleType) -> dict[str, object]:
    return {n: f for n, f in public_names(module).items() if inspect.isroutine(f)}


def classes(module: ModuleType) -> dict[str, object]:
    return {n: c for n, c in public_names(module).items() if inspect.isclass(c)}


def ours(cls) -> bool:
    """Whether a class is ours to document, and not a name passed on from the runtime."""
    return cls.__module__.startswith("xcore")


def undocumented(module: ModuleType) -> list[str]:
    both = functions(module) | {n: c for n, c in classes(module).items() if ours(c)}
    return [name for name, value in both.items() if not (inspect.getdoc(value) or "").strip()]


def without_example(module: ModuleType) -> list[str]:
    """Functions whose docstring shows no call."""
    return [n for n, f in functions(module).items() if ">>>" not in (inspect.getdoc(f) or "")]


def without_arguments(module: ModuleType) -> list[str]:
    """Functions that take arguments, and whose docstring has no section Args."""

    def takes_some(f) -> bool:
        try:
            return bool(inspect.signature(f).parameters)
        except ValueError:  # of C
            return False

    return [
        n
        for n, f in functions(module).items()
        if takes_some(f) and "Args:" not in (inspect.getdoc(f) or "")
    ]


def test_functions_have_types():
    """What a parameter takes and what is returned stands at the function, or in the stub of its package."""
    stubs = {f"xcore.{name}" for name in PACKAGES}
    found = {
        name: inspect.signature(place.value)
        for name, place in places().items()
        if place.kind == "function" and place.package not in stubs
    }
    untyped = [
        name
        for name, f in found.items()
        if f.return_annotation is f.empty
        or any(p.annotation is p.empty for p in f.parameters.values())
    ]
    assert untyped == []


@pytest.mark.parametrize("name", public_modules())
def test_arguments_are_described(name):
    assert without_arguments(importlib.import_module(name)) == []


@pytest.mark.parametrize("name", public_modules())
def test_public_names_are_documented(name):
    assert undocumented(importlib.import_module(name)) == []


@pytest.mark.parametrize("name", public_modules())
def test_public_functions_have_an_example(name):
    assert without_example(importlib.import_module(name)) == []


def test_the_rules_notice():
    def silent():
        pass

    def said():
        """It says what it does."""

    def shown():
        """It shows it.

        >>> 1 + 1
        2
        """

    def taking(x):
        """It takes something.

        >>> 1 + 1
        2
        """

    def explained(x):
        """It takes something.

        Args:
          x: anything.

        >>> 1 + 1
        2
        """

    module = ModuleType("xcore.sample")
    for f in (silent, said, shown, taking, explained):
        f.__module__ = "xcore.sample"
        setattr(module, f.__name__, f)
    assert undocumented(module) == ["silent"]
    assert without_example(module) == ["silent", "said"]
    assert without_arguments(module) == ["taking"]
    module.__all__ = ["said", "shown"]
    assert undocumented(module) == []
    assert without_example(module) == ["said"]


def test_the_version_stands_in_one_place():
    """The package takes it from the code; what people copy says the same."""
    root = Path(__file__).parent.parent
    project = tomllib.loads((root / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "xcore.__version__"}
    assert f"version: {xcore.__version__}\n" in (root / "CITATION.cff").read_text()
    assert (
        f"version = {{{xcore.__version__}}}" in (root / "docs" / "trust" / "citing.md").read_text()
    )
