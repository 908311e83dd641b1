"""xcore: jitted, differentiable arrays, and solvers for research built on them.

>>> import xcore as xc, xcore.numpy as xnp
>>> xc.jit(xc.grad(lambda x: xnp.sin(x) ** 2))(0.0)
Array(0., dtype=float32, weak_type=True)
"""

# ruff: noqa: I001 (names stand in lines, not one on each)

# fmt: off
import importlib as _importlib
import typing as _typing
from contextlib import AbstractContextManager as _Context

from . import config, numpy
from ._backend.client import Device
from ._control.callback import effects_barrier, pure_callback
from ._control.checkpoint import checkpoint_policies, remat
from ._control.closures import closure_convert
from ._control.custom import custom_jvp, custom_vjp
from ._control.custom_gradient import custom_gradient
from ._control.jit import clear_caches, eval_shape, jit, make_jaxpr
from ._control.misses import explain_cache_misses
from ._control.mapped import pmap, shard_map
from ._control.passes import fwd_and_bwd
from ._control.scopes import named_call, named_scope
from ._control.sharding import with_sharding_constraint as reshard
from ._core.array import Array
from ._core.devices import (
    block_until_ready, default_backend, default_device, device_count, device_get, device_put,
    devices, local_device_count, local_devices, process_count, process_index, process_indices,
)
from ._core.memory import live_arrays, memory_stats
from ._core.mesh import Mesh, get_mesh, make_mesh, set_mesh
from ._core.mesh import PartitionSpec as P
from ._core.package import guide as _guide
from ._core.sharding import NamedSharding, SingleDeviceSharding
from ._core.shards import (
    device_put_replicated, device_put_sharded, make_array_from_callback,
    make_array_from_process_local_data, make_array_from_single_device_arrays,
)
from ._core.topology import topology
from ._core.trace import ensure_compile_time_eval
from ._core.tree import map as tree_map
from ._core.tree import map as tree_multimap
from ._core.types import ShapeDtypeStruct, typeof
from ._solution import Certificate, Solution, Status
from ._transforms.api import float0, jvp, linear_transpose, linearize, vjp
from ._transforms.gradients import grad, value_and_grad
from ._transforms.jacobians import hessian, jacfwd, jacobian, jacrev
from ._transforms.map import vmap
# fmt: on

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
        export,
        fft,
        flatten_util,
        image,
        jax,
        lax,
        linalg,
        multihost,
        nn,
        ops,
        optimize,
        pde,
        plot,
        profiler,
        random,
        sanitize,
        scipy,
        sharding,
        sparse,
        special,
        stages,
        stats,
        test_util,
        testing,
        torch,
        tree,
        tree_util,
        typing,
    )
    from ._control.environment import print_environment_info
    from ._control.explain import explain
    from .checkpoint import _Module
    from .scipy._fun import scipy_fun

    checkpoint: _Module

__all__ = [
    "ad_checkpoint", "Array", "block_until_ready", "Certificate", "check_tracer_leaks", "checkify",
    "checking_leaks", "checkpoint", "checkpoint_policies", "clear_caches", "closure_convert", "config",
    "core", "custom_batching", "custom_derivatives", "custom_gradient", "custom_jvp",
    "custom_vjp", "debug", "debug_infs", "debug_key_reuse", "debug_nans", "decomp",
    "default_backend", "default_device", "default_matmul_precision", "default_prng_impl",
    "Device", "device_count", "device_get", "device_put", "device_put_replicated",
    "device_put_sharded", "devices", "disable_jit", "distributed", "dlpack", "dtypes",
    "effects_barrier", "enable_checks", "enable_x64", "ensure_compile_time_eval", "errors",
    "eval_shape", "example_libraries", "experimental", "explain", "explain_cache_misses", "export", "fft",
    "flatten_util", "float0", "fwd_and_bwd", "get_mesh", "grad", "hessian", "image", "jacfwd",
    "jacobian", "jacrev", "jax", "jit", "jvp", "lax", "linalg", "linear_transpose", "linearize",
    "live_arrays", "local_device_count", "local_devices", "log_compiles",
    "make_array_from_callback", "make_array_from_process_local_data",
    "make_array_from_single_device_arrays", "make_jaxpr", "make_mesh", "memory_stats", "Mesh",
    "multihost", "named_call", "named_scope", "NamedSharding", "nn", "numpy",
    "numpy_dtype_promotion", "numpy_rank_promotion", "ops", "optimize", "P", "pde", "plot", "pmap",
    "print_environment_info", "process_count", "process_index", "process_indices", "profiler",
    "pure_callback", "random", "remat", "reshard", "sanitize", "scipy", "scipy_fun", "set_mesh",
    "ShapeDtypeStruct", "shard_map", "sharding", "SingleDeviceSharding", "Solution", "sparse", "special", "stages",
    "stats", "Status", "test_util", "testing", "topology", "torch", "tree", "tree_map", "tree_multimap", "tree_util",
    "typeof", "typing", "value_and_grad", "vjp", "vmap",
]  # fmt: skip

__version__ = "0.1.0"


def disable_jit(disable: bool = True) -> _Context[None]:
    """``with disable_jit():`` runs jitted functions and loops as plain Python, for debugging.

    Args:
      disable: whether to; False switches it off inside another such block.

    >>> import xcore as xc
    >>> with xc.disable_jit():
    ...     print(float(xc.jit(lambda x: x + 1)(1.0)))
    2.0
    """
    return config.override(disable_jit=disable)


def enable_x64(enable: bool = True) -> _Context[None]:
    """``with enable_x64():`` makes Python numbers and new arrays 64 bits wide.

    Args:
      enable: whether to; False makes them 32 bits wide.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> with xc.enable_x64():
    ...     print(xnp.zeros(2).dtype)
    float64
    """
    return config.override(default_bits=64 if enable else 32)


# fmt: off
debug_nans = config.context("debug_nans", "raises at the first operation that makes a NaN", """
>>> with xc.debug_nans():
...     xnp.log(-1.0)
Traceback (most recent call last):
...
FloatingPointError: xcore: the operation log (float32[, weak]) produced a NaN. ...
""")
debug_infs = config.context("debug_infs", "raises at the first operation that makes an infinity", """
>>> with xc.debug_infs():
...     xnp.log(0.0)
Traceback (most recent call last):
...
FloatingPointError: xcore: the operation log (float32[, weak]) produced an infinity. ...
""")
debug_key_reuse = config.context("debug_key_reuse", "raises where a random key is used twice", """
>>> key = xc.random.key(0)
>>> with xc.debug_key_reuse():
...     xc.random.normal(key) + xc.random.normal(key)
Traceback (most recent call last):
...
xcore.errors.KeyReuseError: xcore.random.normal: this key was used before, ...
""")
enable_checks = config.context("enable_checks", "derives the types of every program a second time", """
>>> with xc.enable_checks():
...     print(xc.jit(lambda x: x + 1)(1))
2
""")
log_compiles = config.context("log_compiles", "logs each compilation and how long it takes", """
>>> with xc.log_compiles(False):
...     print(xc.jit(lambda x: x + 2)(1))
3
""")
check_tracer_leaks = checking_leaks = config.context(
    "check_tracer_leaks", "raises where a traced value outlives its function", """
>>> kept = []
>>> with xc.check_tracer_leaks():
...     xc.jit(kept.append)(1.0)
Traceback (most recent call last):
...
xcore.errors.TracerLeakError: A traced value (float32[, weak]) outlives the function that made it ...
""")
default_matmul_precision = config.context(
    "default_matmul_precision", "chooses how products of float32 are formed on accelerators", """
>>> with xc.default_matmul_precision("highest"):
...     print(xnp.eye(2) @ xnp.ones(2))
[1. 1.]
""", None, 'None or "highest" (full), "default", "high", "tensorfloat32_3x", or the name of a dtype.')
default_prng_impl = config.context(
    "default_prng_impl", "chooses the generator of new random keys", """
>>> with xc.default_prng_impl("philox4x32"):
...     print(xc.random.key(0).dtype)
key<philox>
""", "threefry2x32", '"threefry2x32" or "philox4x32".')
numpy_dtype_promotion = config.context(
    "numpy_dtype_promotion", 'forbids with "strict" what converts arrays of yours unasked', """
>>> with xc.numpy_dtype_promotion("strict"):
...     xnp.ones(2) + xnp.ones(2, "int32")
Traceback (most recent call last):
...
xcore.errors.DTypeError: xcore: no implicit promotion between float32 and int32: ...
""", "standard", '"standard" or "strict".')
numpy_rank_promotion = config.context(
    "numpy_rank_promotion", 'tells ("warn", "raise") where operands of yours differ in rank', """
>>> with xc.numpy_rank_promotion("raise"):
...     xnp.ones((2, 3)) + xnp.ones(3)
Traceback (most recent call last):
...
xcore.errors.ShapeError: xcore.numpy.add: operands of shapes ((2, 3), (3,)) have different ranks ...
""", "allow", '"allow", "warn" or "raise".')
# fmt: on

# Loaded on first use, so that ``import xcore`` stays light and ``xc.random.key(0)`` needs no import.
_ELSEWHERE = {
    "explain": "_control.explain", "print_environment_info": "_control.environment",
    "scipy_fun": "scipy._fun",
}  # fmt: skip
numpy._ABOVE["random"] = "xcore.random"  # NumPy's name
_PACKAGES = frozenset(__all__) - {*globals()} - {*_ELSEWHERE}


if not _typing.TYPE_CHECKING:  # for checkers every name stands above

    def _load(name: str):
        if name in _PACKAGES:
            return _importlib.import_module(f"{__name__}.{name}")
        if name in _ELSEWHERE:
            return getattr(_importlib.import_module(f"{__name__}.{_ELSEWHERE[name]}"), name)
        return None

    __getattr__ = _guide(__name__, _load)


def __dir__():
    return sorted([*globals(), *_PACKAGES, *_ELSEWHERE])
