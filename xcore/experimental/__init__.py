"""Names that JAX keeps under ``jax.experimental``."""

import importlib as _importlib

from .._control.callback import io_callback, pure_callback
from .._core.package import guide as _guide
from . import checkify, multihost_utils, shard_map

__all__ = ["checkify", "io_callback", "multihost_utils", "pure_callback", "shard_map"]

_MODULES = {
    name: f"{__name__}.{name}" for name in ("jet", "mesh_utils", "ode", "pjit", "sparse")
} | {name: f"xcore.example_libraries.{name}" for name in ("optimizers", "stax")}


def _load(name: str):
    return _importlib.import_module(_MODULES[name]) if name in _MODULES else None


__getattr__ = _guide(__name__, _load)


def __dir__():
    return sorted([*globals(), *_MODULES])
