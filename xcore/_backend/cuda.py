"""NVIDIA GPUs: the CUDA client, made from the same PJRT plugin packages that jax uses, without jax.

The packages are `jax-cuda13-pjrt` (XLA for CUDA, one shared library) and `jax-cuda13-plugin`
(kernels behind custom calls, host callbacks, version queries), and likewise for CUDA 12. Nothing
of them is imported before `load_cuda`, and of the former nothing at all: its Python module imports
jax.
"""

# pyright: reportPrivateImportUsage=false

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import re
from collections.abc import Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import jaxlib

if TYPE_CHECKING:
    from . import surface as _jax
    from . import surface as xla
    from .surface import Capsule, Client, DebugOptions, DistributedRuntimeClient
else:
    from jaxlib import _jax
    from jaxlib import xla_client as xla

_NAME = "cuda"  # of the plugin, in lower case; the platform that handlers belong to is "CUDA"

# NVIDIA's libraries, by the folder of the `nvidia` namespace package that holds them. They are
# loaded in this order so that the plugin finds these copies; what is missing here is left to the
# dynamic loader (a CUDA installed on the system).
_SHARED = {
    "nccl": ["libnccl.so.2"],
    "nvshmem": ["libnvshmem_host.so.3"],
    "cudnn": ["libcudnn.so.9"],
}
_LIBRARIES = {
    "13": {
        "cu13": [
            "libcudart.so.13", "libnvrtc.so.13", "libcublas.so.13", "libcublasLt.so.13",
            "libcupti.so.13", "libcusparse.so.12", "libcusolver.so.12", "libcufft.so.12",
        ],
        **_SHARED,
    },
    "12": {
        "cuda_runtime": ["libcudart.so.12"],
        "cuda_nvrtc": ["libnvrtc.so.12"],
        "cublas": ["libcublas.so.12", "libcublasLt.so.12"],
        "cuda_cupti": ["libcupti.so.12"],
        "cusparse": ["libcusparse.so.12"],
        "cusolver": ["libcusolver.so.11"],
        "cufft": ["libcufft.so.11"],
        **_SHARED,
    },
}  # fmt: skip

# Folders that hold ptxas and libdevice, which XLA needs to compile for a GPU.
_TOOLKITS = {"13": "cu13", "12": "cuda_nvcc"}

# Library, name of its queries, and the lowest number that works: a constant, or (a divisor) the
# number the plugin was built against without its patch digits.
_REQUIREMENTS = (
    ("CUDA", "cuda_runtime", 12010, 1),
    ("cuDNN", "cudnn", None, 100),
    ("cuFFT", "cufft", None, 100),
    ("cuBLAS", "cublas", 120100, 1),
    ("cuSPARSE", "cusparse", 12100, 1),
)


# What runs needs it, what compiles does not.
_CUBLAS = {"13": "cu13/lib/libcublas.so.13", "12": "cublas/lib/libcublas.so.12"}


class CudaUnavailable(RuntimeError):
    """The CUDA packages are installed but cannot be used here; the message says why."""


class Plugin(NamedTuple):
    """An installed pair of plugin packages."""

    major: str  # of CUDA
    library: str  # path of XLA for CUDA
    package: str  # Python package with the kernels

    def module(self, name: str) -> Any:
        return importlib.import_module(f"{self.package}.{name}")


@functools.cache
def installed_plugin() -> Plugin | None:
    """The plugin of the newest CUDA, or None. Looks for files and imports nothing."""
    for major in _LIBRARIES:
        library = _find(f"jax_plugins.xla_cuda{major}", "xla_cuda_plugin.so")
        if library and find_spec(f"jax_cuda{major}_plugin"):
            return Plugin(major, library, f"jax_cuda{major}_plugin")
    return None


def is_installed() -> bool:
    """Whether the plugin packages are there, not whether there is a GPU."""
    return installed_plugin() is not None


def only_compiles() -> bool:
    """Whether the packages are those of the extra `aot`, on a machine without NVIDIA's driver."""
    plugin = installed_plugin()
    driver = any(map(os.path.exists, ("/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-gpu")))
    return plugin is not None and not driver and not _find("nvidia", _CUBLAS[plugin.major])


def load_cuda(
    distributed_client: DistributedRuntimeClient | None = None, node_id: int = 0,
    num_nodes: int = 1, visible_devices: Iterable[int] | None = None,
) -> Client | None:  # fmt: skip
    """The CUDA client, or None where the plugin packages are not installed.

    Memory is taken as needed, not most of it at once, unless XLA_PYTHON_CLIENT_PREALLOCATE says
    otherwise; the other XLA_PYTHON_CLIENT_* variables mean what they mean to jax.

    Args:
        distributed_client: the connection to the other hosts, and with it
        node_id: the rank of this process, and
        num_nodes: the number of processes.
        visible_devices: numbers of the GPUs to use; all of them by default.
    """
    plugin = installed_plugin()
    if plugin is None:
        return None
    if not xla.pjrt_plugin_loaded(_NAME):  # else jax has done all this in this process
        _check_version(plugin)
    _load_libraries(plugin.major)
    _check_machine(plugin.module("_versions"))
    load_compiler()
    options = _client_options(visible_devices)
    if distributed_client is not None:
        options.update(node_id=node_id, num_nodes=num_nodes)
    try:
        return xla.make_c_api_client(_NAME, options, distributed_client)
    except xla.XlaRuntimeError as error:
        raise _unavailable(f"the client did not start: {error}") from error


def load_compiler() -> bool:
    """Load XLA for CUDA, which compiles on machines without a GPU too; False if it is not installed."""
    plugin = installed_plugin()
    if plugin is None:
        return False
    if not xla.pjrt_plugin_loaded(_NAME):
        _check_version(plugin)
        _load_libraries(plugin.major)
        _register(plugin, xla.load_pjrt_plugin_dynamically(_NAME, plugin.library))
    if not xla.pjrt_plugin_initialized(_NAME):
        xla.initialize_pjrt_plugin(_NAME)
    return True


def set_compile_options(debug_options: DebugOptions) -> None:
    """Tell XLA where ptxas and libdevice are if they came as wheels."""
    directory = toolkit_directory()
    if directory is not None:
        debug_options.xla_gpu_cuda_data_dir = directory


@functools.cache
def toolkit_directory() -> str | None:
    plugin = installed_plugin()
    return plugin and _find("nvidia", _TOOLKITS[plugin.major])


def _client_options(visible_devices: Iterable[int] | None) -> dict[str, Any]:
    options = dict(xla.generate_pjrt_gpu_plugin_options())
    options.setdefault("preallocate", False)
    options["enable_mock_nccl"] = False
    if visible_devices is not None:
        options["visible_devices"] = list(visible_devices)
    return options


def _unavailable(why: str) -> CudaUnavailable:
    return CudaUnavailable(
        f"xcore: the CUDA packages are installed, but {why} "
        "To compute on the CPU set XCORE_PLATFORM=cpu or uninstall the packages."
    )


# Finding and checking


def _find(package: str, name: str) -> str | None:
    """Path of a file or folder inside a package, by name, without importing the package."""
    parent = package.partition(".")[0]
    spec = find_spec(parent) and find_spec(package)
    for root in (spec and spec.submodule_search_locations) or ():
        path = os.path.join(root, name)
        if os.path.exists(path):
            return path
    return None


def _release(version: str) -> list[str]:
    return re.findall(r"[\d.]*", version)[0].strip(".").split(".")


def _check_version(plugin: Plugin) -> None:
    # jaxlib itself refuses the kernels of any other version, but only with a warning.
    found = plugin.module("version").__version__
    if _release(found) != _release(jaxlib.__version__):
        raise _unavailable(
            f"their version {found} does not fit jaxlib {jaxlib.__version__}; they must be equal. "
            f'Run: pip install "jax-cuda{plugin.major}-plugin[with-cuda]=={jaxlib.__version__}" '
            f'"jax-cuda{plugin.major}-pjrt=={jaxlib.__version__}".'
        )


def _load_libraries(major: str) -> None:
    for folder, names in _LIBRARIES[major].items():
        for name in names:
            path = _find("nvidia", f"{folder}/lib/{name}")
            if path is not None:
                _load_library(path)


def _load_library(path: str) -> None:
    try:
        ctypes.CDLL(path)
    except OSError:  # the system may have a copy that loads; if not, the checks below will tell
        pass


def _check_machine(versions: Any) -> None:
    if _device_count(versions) == 0:
        hidden = os.environ.get("CUDA_VISIBLE_DEVICES")
        raise _unavailable(
            "no GPU is visible"
            + (f" (CUDA_VISIBLE_DEVICES={hidden!r}). " if hidden is not None else ". ")
            + "Does nvidia-smi list one?"
        )
    for name, query, lowest, patch in _REQUIREMENTS:
        _check_library(versions, name, query, lowest, patch)


def _device_count(versions: Any) -> int:
    try:
        return versions.cuda_device_count()
    except RuntimeError:  # no driver, or none that works
        return 0


def _check_library(versions: Any, name: str, query: str, lowest: int | None, patch: int) -> None:
    built = getattr(versions, f"{query}_build_version")()
    needed = lowest if lowest is not None else built // patch * patch
    try:
        found = getattr(versions, f"{query}_get_version")()
    except Exception as error:  # jaxlib raises what the library's own loader raises
        raise _unavailable(f"{name} cannot be loaded: {error}.") from error
    if found < needed:
        raise _unavailable(f"{name} {found} is too old: at least {needed} is needed.")


# Registering


def _register(plugin: Plugin, c_api: Capsule) -> None:
    """Make the plugin's custom calls, callbacks and profiler known to XLA."""
    extension = plugin.module("cuda_plugin_extension")
    importlib.import_module("jaxlib._profiler").register_plugin_profiler(c_api)
    xla.register_custom_type_handler(
        "CUDA", functools.partial(extension.register_custom_type, c_api)
    )
    xla.register_custom_call_handler(
        "CUDA", functools.partial(extension.register_custom_call_target, c_api)
    )
    for name, kind in extension.ffi_types().items():
        xla.register_custom_type(name, kind, platform="CUDA")
    for name, handler in extension.ffi_handlers().items():
        xla.register_custom_call_target(name, handler, platform="CUDA", api_version=1)
    for family in ("solver", "linalg", "prng", "sparse"):
        _register_kernels(importlib.import_module(f"jaxlib.gpu_{family}"), c_api)
    importlib.import_module("jaxlib.gpu_solver").initialize_hybrid_kernels()


def _register_kernels(module: Any, c_api: Capsule) -> None:
    for name, function, version in module.registrations().get("CUDA", ()):
        xla.register_custom_call_target(name, function, platform="CUDA", api_version=version)
    targets: Any = getattr(module, "batch_partitionable_targets", list)
    for name in targets():
        _jax.register_custom_call_as_batch_partitionable(name, c_api)
