"""What is public, where it is defined, and what it is called elsewhere."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import xcore

ROOT = Path(__file__).resolve().parents[2]

# Where an object stands in several packages its page is in the first of these, others are other names of it.
ORDER = """
    xcore xcore.numpy xcore.numpy.linalg xcore.numpy.fft xcore.linalg xcore.sparse xcore.pde xcore.optimize xcore.decomp
    xcore.random xcore.stats xcore.special xcore.fft xcore.nn xcore.lax xcore.tree xcore.sharding
""".split()
# Where the peer of a package's names is looked for, in this order.
PEERS = {
    "xcore.numpy": "numpy", "xcore.numpy.linalg": "numpy.linalg", "xcore.numpy.fft": "numpy.fft",
    "xcore.special": "scipy.special", "xcore.fft": "scipy.fft", "xcore.stats": "scipy.stats",
    "xcore.linalg": "scipy.linalg scipy.sparse.linalg numpy.linalg",
    "xcore.sparse": "scipy.sparse", "xcore.optimize": "scipy.optimize", "xcore.pde": "scipy.integrate",
}  # fmt: skip


# What a module passes on from NumPy and offers without an ``__all__``.
PASSED_ON = {
    "xcore.numpy": """
        pi e inf nan euler_gamma newaxis dtype generic number integer signedinteger unsignedinteger inexact floating
        complexfloating flexible character object_ ComplexWarning""".split(),
}

# What does something when it is imported, and so is described on a page of its own (docs/ecosystem.md).
ACTS = ("xcore.as_jax",)


@dataclass
class Place:
    """An object with a page: its name, all other names, where it is defined."""

    name: str
    value: object
    aliases: list[str] = field(default_factory=list)

    @property
    def package(self) -> str:
        return self.name.rpartition(".")[0]

    @property
    def short(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def kind(self) -> str:
        if inspect.isclass(self.value) and self.value is not Any:
            return "data" if self.value.__module__.startswith("numpy") else "class"
        return "function" if inspect.isroutine(self.value) else "data"


def public_modules() -> list[str]:
    """The package and its modules that are named without a leading underscore anywhere."""
    names = [n for n in _below(xcore.__path__, "xcore.") if n not in ACTS]
    return ["xcore", *[n for n in names if not any(part[0] == "_" for part in n.split("."))]]


def _below(folders: Iterable[str], prefix: str) -> Iterator[str]:
    """The modules of packages, found without importing any."""
    for m in pkgutil.iter_modules(folders, prefix):
        yield m.name
        if m.ispkg and m.name not in ACTS:
            last = m.name.rpartition(".")[2]
            yield from _below([str(Path(f) / last) for f in folders], f"{m.name}.")


def public_names(module: ModuleType) -> dict[str, object]:
    """What a module offers: its `__all__`, or what it defines or passes on from inside xcore."""
    if hasattr(module, "__all__"):
        return {name: getattr(module, name) for name in module.__all__}
    offered = {name: value for name, value in vars(module).items() if _offered(name, value)}
    return offered | {name: getattr(module, name) for name in PASSED_ON.get(module.__name__, ())}


def _offered(name: str, value: object) -> bool:
    owner = getattr(value, "__module__", None) or ""
    return name[0] != "_" and owner.startswith("xcore") and not inspect.ismodule(value)


def _rank(name: str, own: str) -> tuple[int, int, bool, str]:
    """Of several names the page has that in the first package, and there the one that the object calls itself."""
    package, _, short = name.rpartition(".")
    order = ORDER.index(package) if package in ORDER else len(ORDER)
    return order, name.count("."), short != own, name


@functools.cache
def places() -> dict[str, Place]:
    """All objects with a page, by the name that the page has."""
    names: dict[int, list[str]] = {}
    values: dict[int, object] = {}
    for module in public_modules():
        for short, value in public_names(importlib.import_module(module)).items():
            if not inspect.ismodule(value):
                key = (
                    id(value)
                    if inspect.isroutine(value) or (inspect.isclass(value) and value is not Any)
                    else hash((module, short))
                )
                names.setdefault(key, []).append(f"{module}.{short}")
                values[key] = value
    found = {}
    for key, all_names in names.items():
        own = getattr(values[key], "__name__", "")
        first, *rest = sorted(set(all_names), key=lambda name, own=own: _rank(name, own))
        found[first] = Place(first, values[key], rest)
    return dict(sorted(found.items()))


@functools.cache
def canonical() -> dict[str, str]:
    """Every public name and the name whose page it is on."""
    return {
        name: place.name for place in places().values() for name in (place.name, *place.aliases)
    }


@functools.cache
def page_of() -> dict[str, str]:
    """Documents by names; two that differ in case alone get different ones, for file systems that ignore it."""
    taken = {f"reference/{module}/index".casefold() for module in public_modules()}
    found = {}
    for name, place in places().items():
        page = f"reference/{place.package}/{place.short}"
        while page.casefold() in taken:
            page += "_"
        taken.add(page.casefold())
        found[name] = page
    return found


# ----- Where it is defined -----


@functools.cache
def tree(module: str) -> tuple[Path, ast.Module] | None:
    """A module's file, and what is in it."""
    path = ROOT.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return (path, ast.parse(path.read_text(encoding="utf-8"))) if path.exists() else None


def _binds(node: ast.stmt, name: str) -> bool:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        declared = any(isinstance(d, ast.Name) and d.id == "overload" for d in node.decorator_list)
        return node.name == name and not declared
    if isinstance(node, ast.Assign):
        return any(
            isinstance(n, ast.Name) and n.id == name for t in node.targets for n in ast.walk(t)
        )
    return (
        isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and node.target.id == name
    )


def _imported_from(module: str, path: Path, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    up = module.split(".")
    up = up[: len(up) - node.level + (path.name == "__init__.py")]
    return ".".join([*up, *([node.module] if node.module else [])])


@functools.cache
def definition(module: str, name: str) -> tuple[Path, int] | None:
    """File and line where a name is bound, past all imports."""
    parsed = tree(module)
    if parsed is None:
        return None
    path, body = parsed
    for node in body.body:
        if _binds(node, name):
            return path, node.lineno
    for node in ast.walk(body):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return definition(_imported_from(module, path, node), alias.name)
                if alias.name == "*" and (
                    found := definition(_imported_from(module, path, node), name)
                ):
                    return found
    return None


def source(place: Place) -> tuple[Path, int] | None:
    """File and line of an object: where its name is bound, or its code."""
    if found := definition(place.package, place.short):
        return found
    try:
        value = inspect.unwrap(place.value)  # pyright: ignore[reportArgumentType]
        path = Path(inspect.getsourcefile(value) or "")  # pyright: ignore[reportArgumentType]
        return (path, inspect.getsourcelines(value)[1]) if ROOT in path.parents else None  # pyright: ignore
    except (TypeError, OSError):
        return None


# ----- What others call it -----


def _held(module: str, name: str) -> bool:
    held = importlib.import_module(module)
    return hasattr(held, name) and name[0] != "_"


def peer(place: Place) -> str | None:
    """The name of NumPy's or SciPy's that this one has."""
    for name in (place.name, *place.aliases):
        package, _, short = name.rpartition(".")
        beside = (
            package.removeprefix("xcore.")
            if package.startswith("xcore.scipy.")
            else PEERS.get(package, "")
        )
        for module in beside.split():
            try:
                if _held(module, short):
                    return f"{module}.{short}"
            except ImportError:
                continue
    return None


@functools.cache
def jax_names() -> dict[str, str]:
    """The names that JAX, Optax and JAXopt have for ours, by pages."""
    rows = Path(__file__).with_name("jax_names.txt").read_text(encoding="utf-8").splitlines()
    return dict(row.split() for row in rows)
