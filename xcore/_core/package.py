"""Modules of public names: their functions hide our frames; errors of missing names say what to write instead."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import dis
import importlib
import sys
import types
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from .keywords import Alias
from .source import boundary
from .struct import fields_of

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

# What other libraries have, and what does it here: of modules, and of arrays.
_FOREIGN = {
    "no_grad inference_mode enable_grad": "Nothing is recorded unless xcore.grad asks for it: leave it out.",
    "tensor Tensor as_tensor from_numpy": "Take xcore.numpy.asarray(x).",
    "manual_seed seed": "Random numbers take keys: key = xcore.random.key(0).",
    "optim": "Take xcore.optimize.",
    "compile": "Take xcore.jit.",
    "cuda": "Take xcore.devices(), and xcore.device_put(x, device).",
    "functional": "Take xcore.nn.",
    "Module Linear Conv1d Conv2d Sequential Embedding LayerNorm BatchNorm1d BatchNorm2d Dropout Dense Parameter":
        "Parameters are trees of arrays, layers are functions of them; xcore.example_libraries.stax has pairs of both.",
    "cross_entropy CrossEntropyLoss": "Take -xcore.nn.log_softmax(x)[..., label].",
    "mse_loss MSELoss": "Take xcore.numpy.mean((x - y) ** 2).",
    "float_ complex_ matrix mat asmatrix": "NumPy dropped it; take xcore.numpy.asarray(x, dtype).",
}  # fmt: skip
_OF_ARRAYS = {
    "backward grad requires_grad requires_grad_": "Derivatives are of functions: xcore.grad(f)(x).",
    "detach detach_": "Take xcore.lax.stop_gradient(x).",
    "numpy": "Take numpy.asarray(x).",
    "cpu cuda to": "Take xcore.device_put(x, device), or x.astype(dtype).",
    "unsqueeze": "Take xcore.numpy.expand_dims(x, axis), or x[None].",
    "permute": "Take x.transpose(axes).",
    "contiguous": "Arrays are contiguous: leave it out.",
    "expand expand_as repeat_interleave": "Take xcore.numpy.broadcast_to(x, shape), or xcore.numpy.repeat.",
    "numel": "Take x.size.",
    "dim": "Take x.ndim.",
    "t": "Take x.T.",
    "float double half long int bool": "Take x.astype(dtype).",
    "append extend": "Take xcore.numpy.append(x, values), which returns a new array.",
    "fill put itemset resize setflags add_ sub_ mul_ div_ zero_ fill_ copy_ clamp_":
        "Arrays are immutable: x = x.at[index].set(value), or x = x + y.",
    "clamp": "Take x.clip(low, high).",
    "norm": "Take xcore.numpy.linalg.norm(x).",
}  # fmt: skip

# Where else a name is looked for, in this order.
_PACKAGES = (
    "numpy numpy.linalg linalg special fft random stats nn optimize pde decomp lax tree testing debug scipy.integrate "
    "scipy.optimize scipy.linalg scipy.sparse.linalg scipy.signal scipy.interpolate scipy.ndimage"
).split()

_IMPORT_FROM = dis.opmap["IMPORT_FROM"]


def bound(
    package: dict[str, Any], aliases: Mapping[str, Mapping[str, Alias]] | None = None
) -> None:
    """Makes every public function a boundary, and how structs are made, and explains absent names.

    Stands at the end of an ``__init__``.

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
        elif isinstance(f, type) and fields_of(f) and not hasattr(f.__init__, "__wrapped__"):
            f.__init__ = boundary(f.__init__, f"{where}.{name}")
    package.setdefault("__getattr__", guide(package["__name__"]))


class _Explained(Exception):
    """An error whose text is made when it is read, so that ``hasattr`` costs nothing."""

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


class _NoAttribute(_Explained, AttributeError):
    __module__, __qualname__ = "builtins", "AttributeError"  # what a traceback says it is


# ``from module import name`` passes on no more than that there was an AttributeError
class _NoImport(_Explained, ImportError):
    __module__, __qualname__ = "builtins", "ImportError"


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
    if name in by_name(_FOREIGN):
        return by_name(_FOREIGN)[name]
    others = [p for p in _PACKAGES if p != package and has(p, name)]
    if others:
        return f"There is xcore.{others[0]}.{name}."
    return similar(module, name)


def by_name(table: Mapping[str, str]) -> dict[str, str]:
    """A row for each of the names that a row is about."""
    return {name: why for names, why in table.items() for name in names.split()}


class Elsewhere:
    """A descriptor for an attribute of other libraries' arrays: its error says which function does that here."""

    def __init__(self, name: str, why: str):
        self.name, self.why = name, why

    @boundary
    def __get__(self, x: Any, owner: type) -> Any:
        raise AttributeError(
            f"{owner.__name__!r} object has no attribute {self.name!r}. {self.why}"
        )


def methods_elsewhere() -> dict[str, str]:
    """What to do, by names of attributes that other libraries have."""
    return by_name(_OF_ARRAYS)


def has(package: str, name: str) -> bool:
    """Whether a package of the house lists the name."""
    module = importlib.import_module(f"xcore.{package}")
    return name in getattr(module, "__all__", dir(module))


def similar(module: str, name: str) -> str:
    """Names of the module that are spelt nearly so."""
    import difflib  # here, as it is slow to load

    names = {n.lower(): n for n in dir(sys.modules[module]) if not n.startswith("_")}
    near = difflib.get_close_matches(name.lower(), names, 3, 0.75)
    return f"There is {', '.join(names[n] for n in near)}." if near else ""
