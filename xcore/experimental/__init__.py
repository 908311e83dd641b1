"""Names that JAX keeps under ``jax.experimental``."""

import importlib as _importlib

from .._control.callback import io_callback, pure_callback
from . import checkify, multihost_utils, shard_map

__all__ = ["checkify", "io_callback", "multihost_utils", "pure_callback", "shard_map"]

_MODULES = {name: f"{__name__}.{name}" for name in ("jet", "mesh_utils", "ode", "pjit")} | {
    name: f"xcore.example_libraries.{name}" for name in ("optimizers", "stax")
}


def __getattr__(name: str):
    if name in _MODULES:
        return _importlib.import_module(_MODULES[name])
    raise AttributeError(f"module 'xcore.experimental' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_MODULES])
