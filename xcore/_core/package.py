"""The faces of packages: public functions are boundaries; absent names say what they are called, or where they are."""

from __future__ import annotations

import difflib
import dis
import importlib
import sys
import types
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from .keywords import Alias
from .source import boundary

# Old names before and new ones behind, by the packages of the house.
_RENAMED = {
    "linalg": """
        rank matrix_rank(field=)  Steps EliminationSteps  Report Certificate  jacobi jacobi_preconditioner
        solve_lyapunov solve_continuous_lyapunov  solve_kron solve_kronecker
    """,
    "optimize": """
        Limited LBFGS  BoundedLimited LBFGSB  InverseHessian BFGS  Conjugate NonlinearCG  Hybrid PowellHybrid
        MatrixFree GaussNewtonCG  Fit TrainState
    """,
    "pde": """
        Theta ThetaMethod  Exponential ExponentialIntegrator  function_of apply_function
        Report FieldSolution  TrajectoryReport TrajectorySolution
    """,
    "decomp": "Canonical CanonicalTT  match_score factor_match_score  Fit xcore.Solution",
}

# Where else a name is looked for, in this order.
_PACKAGES = (
    "numpy numpy.linalg linalg special fft random stats nn optimize pde decomp lax tree testing debug scipy.integrate "
    "scipy.optimize scipy.linalg scipy.sparse.linalg scipy.signal scipy.interpolate scipy.ndimage"
).split()

_IMPORT_FROM = dis.opmap["IMPORT_FROM"]


def bound(
    package: dict[str, Any], aliases: Mapping[str, Mapping[str, Alias]] | None = None
) -> None:
    """Makes every public function a boundary, and explains absent names. Stands at the end of an ``__init__``.

    Args:
      package: its names.
      aliases: other names of arguments and their own, by functions.
    """
    own = {n: others for names, others in (aliases or {}).items() for n in names.split()}
    where = package["__name__"].removeprefix("xcore.")
    for name in package["__all__"]:
        f = package[name]
        if isinstance(f, types.FunctionType) and not hasattr(f, "__wrapped__"):
            package[name] = boundary(f, f"{where}.{name}", own.get(name, {}))
    package.setdefault("__getattr__", guide(package["__name__"]))


class _Explained(Exception):
    """Explains itself when it is read: ``hasattr`` costs nothing."""

    def __init__(self, module: str, name: str, explain: Callable[[str, str], str]):
        super().__init__(module, name)
        self._what, self._explain = (module, name), explain

    def __str__(self) -> str:
        module, name = self._what
        message = f"module {module!r} has no attribute {name!r}"
        why = "" if name.startswith("_") else self._explain(module, name)
        return f"{message}. {why}" if why else message

    def __reduce__(self):
        return type(self).__bases__[-1], (str(self),)


class _NoAttribute(_Explained, AttributeError): ...


# ``from module import name`` passes on no more than that there was an AttributeError
class _NoImport(_Explained, ImportError): ...


def guide(
    module: str,
    load: Callable[[str], Any] = lambda name: None,
    explain: Callable[[str, str], str] | None = None,
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module.

    Args:
      module: its name.
      load: gives what is loaded on first use, None for other names.
      explain: says of a module and a name what to do; by default where else the name is.
    """

    @boundary
    def __getattr__(name: str) -> Any:
        found = load(name)
        if found is None:
            kind = _NoImport if _is_import(sys._getframe(2)) else _NoAttribute
            raise kind(module, name, explain or elsewhere)
        return found

    return __getattr__


def _is_import(frame: FrameType) -> bool:
    code = frame.f_code.co_code
    return frame.f_lasti >= 0 and code[frame.f_lasti] == _IMPORT_FROM


def renamed(package: str) -> dict[str, str]:
    """New names by old ones."""
    words = _RENAMED.get(package, "").split()
    return dict(zip(words[::2], words[1::2], strict=True))


def elsewhere(module: str, name: str) -> str:
    """What the name is called now, which package has it, or what is spelt nearly so."""
    package = module.removeprefix("xcore").removeprefix(".")
    new = renamed(package).get(name)
    if new is not None:
        return f"It is called {new} now."
    others = [p for p in _PACKAGES if p != package and has(p, name)]
    if others:
        return f"There is xcore.{others[0]}.{name}."
    return similar(module, name)


def has(package: str, name: str) -> bool:
    """Whether a package of the house lists the name."""
    module = importlib.import_module(f"xcore.{package}")
    return name in getattr(module, "__all__", dir(module))


def similar(module: str, name: str) -> str:
    """Names of the module that are spelt nearly so."""
    names = {n.lower(): n for n in dir(sys.modules[module])}
    near = difflib.get_close_matches(name.lower(), names, 3, 0.75)
    return f"There is {', '.join(names[n] for n in near)}." if near else ""
