"""Names of SciPy that are not here: an error that says where the thing lives, or what to do instead."""

import contextlib as _contextlib
import functools as _functools
import importlib as _importlib
import importlib.util as _util

from .. import numpy as _xnp
from .._core import boundary as _boundary
from .._core import package as _package


def guide(module: str, absent: dict[str, str] | None = None, borrowed: str = "", modules=()):
    """The ``__getattr__`` of a face.

    Args:
      module: its name.
      absent: reasons and ways out, by the names they are about, separated by spaces.
      borrowed: names of SciPy's own classes that are taken here as they are.
      modules: its modules, loaded when they are asked for.
    """
    scipys = module.removeprefix("xcore.")
    reasons = _package.by_name(absent or {})

    def load(name: str):
        if name in modules:
            return _importlib.import_module(f"{module}.{name}")
        if name in borrowed.split():
            return getattr(_importlib.import_module(scipys), name)
        return None

    def explain(module: str, name: str) -> str:
        return reasons.get(name) or _elsewhere(module, scipys, name)

    return _package.guide(module, load, explain)


class NoModule:
    """Asked for modules that nobody found: ``import xcore.scipy.name`` says why there is none."""

    def __init__(self, package: str):
        self.beginning = f"{package}."

    @_boundary
    def find_spec(self, name, path=None, target=None):
        if not name.startswith(self.beginning):
            return
        parent, _, last = name.rpartition(".")
        try:
            getattr(_importlib.import_module(parent), last)
        except AttributeError as e:
            why = str(e).partition(". ")[2] or _module(name.removeprefix("xcore."))
            raise ModuleNotFoundError(f"No module named {name!r}. {why}", name=name) from None


def _elsewhere(module: str, scipys: str, name: str) -> str:
    if hasattr(_importlib.import_module(scipys), name):
        return own(scipys, name)
    near = _package.similar(module, name)
    return near or f"{scipys} has no such name either."


def _module(scipys: str) -> str:
    """What there is in place of a module that is not here."""
    with _contextlib.suppress(ModuleNotFoundError):
        if _util.find_spec(scipys):
            return (
                f"{scipys} is SciPy's own: it takes arrays of xcore, outside of jit, grad and vmap."
            )
    return "SciPy has no such name either."


def own(scipys: str, name: str) -> str:
    """That SciPy's own function does, on the host."""
    return f"SciPy's own takes arrays of xcore, outside of jit, grad and vmap: from {scipys} import {name}."


# Arguments


def taking_lists(f):
    """The function, which takes lists of numbers where it takes arrays, as SciPy's do."""

    @_boundary
    @_functools.wraps(f)
    def call(*args, **kwargs):
        args = [_array(a) for a in args]
        return f(*args, **{k: _array(a) for k, a in kwargs.items()})

    return call


def _array(x):
    """Nested lists of numbers as an array, also in a tuple; all else as it is."""
    if type(x) is tuple:
        return tuple(_array(y) for y in x)
    return _xnp.asarray(x) if type(x) is list and x and all(map(_is_row, x)) else x


def _is_row(x) -> bool:
    return _is_number(x) or (isinstance(x, (list, tuple)) and all(map(_is_row, x)))


def _is_number(x) -> bool:
    return isinstance(x, (bool, int, float, complex)) or getattr(x, "shape", None) == ()
