"""xcore: jitted, differentiable arrays, and solvers for research built on them.

>>> import xcore as xc, xcore.numpy as xnp
>>> xc.jit(xc.grad(lambda x: xnp.sin(x) ** 2))(0.0)
Array(0., dtype=float32, weak_type=True)
"""

import importlib as _importlib
import typing as _typing

from . import numpy
from ._backend.client import Device
from ._control.callback import effects_barrier, pure_callback
from ._control.checkpoint import checkpoint_policies, remat
from ._control.custom import closure_convert, custom_gradient, custom_jvp, custom_vjp
from ._control.jit import (
    clear_caches,
    eval_shape,
    explain_cache_misses,
    jit,
    make_jaxpr,
)  # fmt: skip
from ._control.mapped import pmap, shard_map
from ._control.passes import fwd_and_bwd
from ._control.scopes import named_call, named_scope
from ._control.sharding import with_sharding_constraint as reshard
from ._core import config
from ._core.array import Array
from ._core.devices import (
    block_until_ready,
    default_backend,
    default_device,
    device_count,
    device_get,
    device_put,
    devices,
    local_device_count,
    local_devices,
    process_count,
    process_index,
    process_indices,
)  # fmt: skip
from ._core.memory import live_arrays, memory_stats
from ._core.mesh import Mesh, get_mesh, make_mesh, set_mesh
from ._core.mesh import PartitionSpec as P
from ._core.sharding import NamedSharding, SingleDeviceSharding
from ._core.shards import (
    device_put_replicated,
    device_put_sharded,
    make_array_from_callback,
    make_array_from_process_local_data,
    make_array_from_single_device_arrays,
)  # fmt: skip
from ._core.trace import ensure_compile_time_eval
from ._core.tree import map as tree_map
from ._core.tree import map as tree_multimap
from ._core.types import ShapeDtypeStruct, typeof
from ._solution import Certificate, Solution, Status
from ._transforms.api import (
    float0,
    grad,
    jvp,
    linear_transpose,
    linearize,
    value_and_grad,
    vjp,
)  # fmt: skip
from ._transforms.jacobians import hessian, jacfwd, jacobian, jacrev
from ._transforms.map import vmap

if _typing.TYPE_CHECKING:  # what is loaded on first use
    from . import (
        ad_checkpoint,
        checkify,
        core,
        custom_batching,
        custom_derivatives,
        debug,
        decomp,
        distributed,
        dlpack,
        dtypes,
        errors,
        example_libraries,
        experimental,
        fft,
        flatten_util,
        image,
        lax,
        linalg,
        multihost,
        nn,
        ops,
        optimize,
        pde,
        profiler,
        random,
        sanitize,
        scipy,
        sharding,
        special,
        stages,
        stats,
        test_util,
        testing,
        tree,
        tree_util,
        typing,
    )
    from ._control.environment import print_environment_info
    from .checkpoint import _Module

    checkpoint: _Module

__all__ = [
    "ad_checkpoint", "Array", "block_until_ready", "check_tracer_leaks", "checkify",
    "checking_leaks", "checkpoint", "checkpoint_policies", "clear_caches", "closure_convert", "config",
    "core", "custom_batching", "custom_derivatives", "custom_gradient", "custom_jvp",
    "custom_vjp", "debug", "debug_infs", "debug_key_reuse", "debug_nans", "decomp",
    "default_backend", "default_device", "default_matmul_precision", "default_prng_impl",
    "Device", "device_count", "device_get", "device_put", "device_put_replicated",
    "device_put_sharded", "devices", "disable_jit", "distributed", "dlpack", "dtypes",
    "effects_barrier", "enable_checks", "enable_x64", "ensure_compile_time_eval", "errors",
    "eval_shape", "example_libraries", "experimental", "explain_cache_misses", "fft",
    "flatten_util", "float0", "fwd_and_bwd", "get_mesh", "grad", "hessian", "image", "jacfwd",
    "jacobian", "jacrev", "jit", "jvp", "lax", "linalg", "linear_transpose", "linearize",
    "live_arrays", "local_device_count", "local_devices", "log_compiles",
    "make_array_from_callback", "make_array_from_process_local_data",
    "make_array_from_single_device_arrays", "make_jaxpr", "make_mesh", "memory_stats", "Mesh",
    "multihost", "named_call", "named_scope", "NamedSharding", "nn", "numpy",
    "numpy_dtype_promotion", "numpy_rank_promotion", "ops", "optimize", "P", "pde", "pmap",
    "print_environment_info", "process_count", "process_index", "process_indices", "profiler",
    "pure_callback", "random", "remat", "reshard", "sanitize", "scipy", "set_mesh",
    "ShapeDtypeStruct", "shard_map", "sharding", "SingleDeviceSharding", "special", "stages",
    "stats", "test_util", "testing", "tree", "tree_map", "tree_multimap", "tree_util", "typeof",
    "typing", "value_and_grad", "vjp", "vmap",
]  # fmt: skip

__version__ = "0.1.0"


def disable_jit(disable: bool = True):
    """``with disable_jit():`` runs jitted functions and loops as plain Python, for debugging.

    >>> import xcore as xc
    >>> with xc.disable_jit():
    ...     print(float(xc.jit(lambda x: x + 1)(1.0)))
    2.0
    """
    return config.override(disable_jit=disable)


def enable_x64(enable: bool = True):
    """``with enable_x64():`` makes Python numbers and new arrays 64 bits wide."""
    return config.override(default_bits=64 if enable else 32)


debug_nans = config.context("debug_nans")
debug_infs = config.context("debug_infs")
debug_key_reuse = config.context("debug_key_reuse")
enable_checks = config.context("enable_checks")
log_compiles = config.context("log_compiles")
check_tracer_leaks = checking_leaks = config.context("check_tracer_leaks")
default_matmul_precision = config.context("default_matmul_precision", None)
default_prng_impl = config.context("default_prng_impl", "threefry2x32")
numpy_dtype_promotion = config.context("numpy_dtype_promotion", "standard")
numpy_rank_promotion = config.context("numpy_rank_promotion", "allow")

# Loaded on first use, so that ``import xcore`` stays light and ``xc.random.key(0)`` needs no import.
_ELSEWHERE = {"print_environment_info": "_control.environment"}
numpy._ABOVE["random"] = "xcore.random"  # NumPy's name
_PACKAGES = frozenset(__all__) - {*globals()} - {*_ELSEWHERE}


if not _typing.TYPE_CHECKING:  # for checkers every name stands above

    def __getattr__(name: str):
        if name in _PACKAGES:
            return _importlib.import_module(f"{__name__}.{name}")
        if name in _ELSEWHERE:
            return getattr(_importlib.import_module(f"{__name__}.{_ELSEWHERE[name]}"), name)
        raise AttributeError(f"module 'xcore' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_PACKAGES, *_ELSEWHERE])
