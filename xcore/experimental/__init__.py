"""Names that JAX keeps under ``jax.experimental``."""

import importlib as _importlib

from .._control.callback import io_callback, pure_callback
from . import checkify, multihost_utils, shard_map

_MODULES = ("jet", "mesh_utils", "ode", "pjit")


def __getattr__(name: str):
    if name in _MODULES:
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'xcore.experimental' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_MODULES])
