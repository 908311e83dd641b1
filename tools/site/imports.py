"""What the example of a docstring takes from its own module, as lines that import it by public names."""

from __future__ import annotations

import ast
import builtins
import doctest
import functools
import importlib.util
import inspect
import re
import sys
from types import ModuleType
from typing import Any

from .names import Place, places, public_modules

# As pages call them.
SHORT = {"numpy": "np", "xcore": "xc", "xcore.numpy": "xnp", "xcore.optimize": "xo"}


def surroundings(value: Any) -> dict[str, Any]:
    """The names that the module of an object knows: those its doctest runs with."""
    inner = inspect.unwrap(value) if inspect.isroutine(value) else value
    inner = getattr(inner, "func", inner)
    home = getattr(inner, "__module__", None) or type(inner).__module__
    return vars(sys.modules[home]) if home in sys.modules else {}


def with_imports(doc: str, place: Place) -> str:
    """A docstring whose first example begins by importing what all of them use."""
    first = re.search(r"^( *)>>> ", doc, re.MULTILINE)
    lines = imports(doc, place) if first else []
    if not first or not lines:
        return doc
    told = "".join(f"{first[1]}>>> {line}\n" for line in lines)
    return doc[: first.start()] + told + doc[first.start() :]


def imports(doc: str, place: Place) -> list[str]:
    known = surroundings(place.value) | {place.short: place.value}
    wanted: dict[str, list[str]] = {}
    whole = []
    for name in sorted(undefined(doc)):
        held = (
            known.get(name),
            *(getattr(sys.modules[m], name, None) for m in (place.package, "xcore")),
        )
        tried = (_import(name, value, place.package) for value in held)
        found = next(filter(None, tried), None)
        if found and found[0]:
            wanted.setdefault(found[0], []).append(found[1])
        elif found:
            whole.append(found[1])
    taken = [f"from {module} import {', '.join(names)}" for module, names in sorted(wanted.items())]
    return sorted(whole) + taken


def _import(name: str, value: Any, package: str) -> tuple[str, str] | None:
    """(module, name) for ``from … import``, ("", a line) for a module, None where it has no public name."""
    if name in SHORT.values() and not isinstance(
        value, ModuleType
    ):  # pytest gives these to doctests
        value = sys.modules[next(m for m, short in SHORT.items() if short == name)]
    if isinstance(value, ModuleType):
        return _import_module(name, value.__name__)
    if value is None:
        full = package if name == "xcore" else name
        return ("", f"import {full}") if importlib.util.find_spec(name) else None
    full = sorted(_public(id(value)), key=lambda n: (n.rpartition(".")[0] != package, n.count(".")))
    for module, _, short in (n.rpartition(".") for n in full):
        if short == name:
            return module, name
    if not full:
        return None
    module, _, short = full[0].rpartition(".")
    return module, f"{short} as {name}"


def _import_module(name: str, full: str) -> tuple[str, str] | None:
    if full.startswith("xcore") and full not in public_modules():
        return None
    if full == name:
        return "", f"import {full}"
    above, _, last = full.rpartition(".")
    if last == name:
        return above, name
    return "", f"import {full} as {name}"


@functools.cache
def _names() -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for place in places().values():
        found.setdefault(id(place.value), []).extend([place.name, *place.aliases])
    return found


def _public(key: int) -> list[str]:
    return _names().get(key, [])


def undefined(doc: str) -> set[str]:
    """The names that the examples of a docstring use and do not make."""
    used: set[str] = set()
    made = set(dir(builtins))
    for example in doctest.DocTestParser().get_examples(doc):
        for node in ast.walk(ast.parse(example.source)):
            if isinstance(node, ast.Name):
                (used if isinstance(node.ctx, ast.Load) else made).add(node.id)
            elif isinstance(node, ast.arg):
                made.add(node.arg)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler):
                made.add(node.name or "")
            elif isinstance(node, ast.alias):
                made.add((node.asname or node.name).partition(".")[0])
    return used - made - {"_"}
