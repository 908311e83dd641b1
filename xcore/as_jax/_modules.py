"""Modules named ``jax``: what stands before the imports of them."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import types

from ._arguments import adapted

NAME = "jax"
VERSION = "0.10.2"  # the version of JAX whose names these are, and which libraries branch on


held = vars(types.ModuleType)["__dict__"].__get__  # the names that have been asked for


class Face(types.ModuleType):
    """A module whose names are those of other modules, looked up when they are asked for.

    Its own table comes first, then the modules it stands before, then its submodules. A name that none of
    them has is an AttributeError, so that ``hasattr`` tells the truth.
    """

    _own: dict
    _sources: tuple
    _hidden: frozenset
    _below: frozenset

    def __init__(self, name: str, own: dict, sources: tuple, hidden: frozenset, below: frozenset):
        super().__init__(name)
        held(self).update(_own=own, _sources=sources, _hidden=hidden, _below=below)

    def __getattr__(self, name: str):
        found = self._find(name)
        if found is _ABSENT:
            reason = why_missing(f"{self.__name__}.{name}")
            raise AttributeError(
                f"module {self.__name__!r} of xcore.as_jax has no attribute {name!r}. {reason}".rstrip()
            )
        return found

    def _find(self, name: str):
        if name == "__all__":  # what a star import gives
            return [n for n in dir(self) if not n.startswith("_")]
        if name.startswith("__") and not name.startswith("__array"):
            return _ABSENT
        if name in self._own:
            return self._remember(name, adapted(self.__name__, name, _load(self._own[name])))
        if name in self._hidden:
            return _ABSENT
        if name in self._below:
            return importlib.import_module(f"{self.__name__}.{name}")
        for source in self._sources:
            place = _load(source)
            value = getattr(place, name, _ABSENT)
            passed_on = isinstance(value, types.ModuleType) and name not in _public_names(place)
            if value is not _ABSENT and not passed_on:
                return self._remember(name, adapted(self.__name__, name, value))
        return _ABSENT

    def _remember(self, name: str, value):
        held(self)[name] = value
        return value

    @property
    def __dict__(self):
        """All names with their values, for who walks over ``vars(jax.numpy)``."""
        for name in dir(self):
            getattr(self, name, None)
        return held(self)

    def __dir__(self):
        names = {*held(self), *self._own, *self._below}
        for source in self._sources:
            names.update(_public_names(_load(source)))
        return sorted(n for n in names - self._hidden if not n.startswith("__"))


class _Absent:
    """Stands for a name that is nowhere."""


_ABSENT = _Absent()
MISSING: dict[str, str] = {}  # why a name is missing, or all below it are, by its full name


def why_missing(name: str) -> str:
    while name not in MISSING and name:
        name = name.rpartition(".")[0]
    return MISSING.get(name, "")


def _load(value):
    """The module of that name, or the object of ``module:name``."""
    module, _, name = value.partition(":")
    found = importlib.import_module(module)
    return getattr(found, name) if name else found


def _public_names(place) -> list[str]:
    """The names that a module offers, without the modules that it uses."""
    found = getattr(place, "__all__", None)
    return found or [n for n in dir(place) if not isinstance(getattr(place, n), types.ModuleType)]


# Modules that ``import jax`` does not bring along.
_LATER = tuple(
    f"{NAME}.{part}"
    for part in ("experimental.", "extend", "scipy.", "example_libraries", "flatten_util")
)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds ``jax`` and everything below it, and nothing of it anywhere else.

    Args:
      table: for each module, from ``jax`` on, a function that makes its Face.
    """

    def __init__(self, table: dict):
        self.table = table

    def find_spec(self, fullname, path=None, target=None):
        if fullname != NAME and not fullname.startswith(f"{NAME}."):
            return None
        if fullname not in self.table:
            reason = why_missing(fullname) or "See the page of xcore.as_jax for what is missing."
            raise ModuleNotFoundError(
                f"xcore.as_jax has no module {fullname!r}. {reason}", name=fullname
            )
        return importlib.machinery.ModuleSpec(
            fullname, self, origin="xcore.as_jax", is_package=True
        )

    def create_module(self, spec):
        return self.table[spec.name]()

    def exec_module(self, module):
        """Its names are looked up later; ``jax`` brings its modules along, for who asks sys.modules for them."""
        if module.__name__ == NAME:
            for name in self.table:
                if name.startswith(f"{NAME}.") and not name.startswith(_LATER):
                    importlib.import_module(name)


def refuse_if_loaded() -> None:
    """Raise where the real jax, or something that says it is jax, has been imported."""
    there = sys.modules.get(NAME)
    if there is not None and not isinstance(there, Face):
        raise ImportError(
            "xcore.as_jax: the package jax is imported already (from "
            f"{getattr(there, '__file__', None) or 'an unknown place'}), and what uses it would not be moved. "
            "Import xcore.as_jax first thing in the script, or run it by `python -m xcore.as_jax script.py`."
        )
