"""TPUs: the client made from libtpu's plugin, and its compiler, which needs no TPU."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import surface as xla
else:
    from jaxlib import xla_client as xla
_NAME = "tpu"

# Without them the library asks the network which TPU this machine has, and refuses a second process.
_COMPILE_ONLY = {
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "TPU_STDERR_LOG_LEVEL": "3",
    "TPU_MIN_LOG_LEVEL": "3",
}


class TpuUnavailable(RuntimeError):
    """libtpu is installed but there is no TPU here; the message says so."""


def library() -> str | None:
    """The path of libtpu, looked for without importing its package."""
    spec = find_spec("libtpu")
    for root in (spec and spec.submodule_search_locations) or ():
        path = os.path.join(root, "libtpu.so")
        if os.path.exists(path):
            return path
    return None


def is_here() -> bool:
    """Whether libtpu is installed and the machine has devices that may be TPUs."""
    import glob

    return bool(library() and (glob.glob("/dev/accel*") or glob.glob("/dev/vfio/[0-9]*")))


def load_tpu(**options: Any) -> xla.Client | None:
    """The TPU client, or None where libtpu is not installed."""
    path = library()
    if path is None:
        return None
    if not is_here():
        raise TpuUnavailable(
            "xcore: libtpu is installed, but this machine has no TPU. "
            'xc.topology("v5e", 4) gives devices to compile for.'
        )
    _load(path)
    return xla.make_c_api_client(_NAME, options)


def load_compiler() -> bool:
    """Load XLA for TPUs, to compile with; False where libtpu is not installed."""
    path = library()
    if path is None:
        return False
    if not is_here():
        for name, value in _COMPILE_ONLY.items():
            os.environ.setdefault(name, value)
    _load(path)
    return True


def _load(path: str) -> None:
    if not xla.pjrt_plugin_loaded(_NAME):
        xla.load_pjrt_plugin_dynamically(_NAME, path)
    if not xla.pjrt_plugin_initialized(_NAME):
        xla.initialize_pjrt_plugin(_NAME)
