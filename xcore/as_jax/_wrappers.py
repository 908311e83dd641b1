"""More names of JAX's, which need the higher packages."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

import xcore as xc

from .._backend.client import has_started
from .._core import dtypes, errors
from .._core.array import Array
from .._core.program import RecordTracer
from .._core.trace import is_evaluating
from .._ops.identity import stop_gradient
from ..numpy._promote import inexact_dtype
from ..random._gamma import gamma_of_shape, log_gamma_of_shape
from ._jaxprs import primitive_named
from ._settings import Format

not_mapped = None
DynamicJaxprTracer = JaxprTracer = RecordTracer
TypePromotionError = errors.DTypeError
DType, ExtendedDType = np.dtype, dtypes.ExtendedDtype


def __getattr__(name: str) -> Any:
    if name.endswith("_p"):
        found = primitive_named(name.removesuffix("_p"))
        if found is not None:
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def concrete_or_error(force, x, context=""):
    """The value as a Python object, or an error where it is traced."""
    return force(x) if force is not None else np.asarray(x)


def copy_to_host_async(x):
    return x


def bare(place):
    """A place without the layout that a Format says beside it, which devices here choose."""
    return place.sharding if isinstance(place, Format) else place


def with_sharding_constraint(x, shardings):
    """Also to a Format."""
    return xc.lax.with_sharding_constraint(x, xc.tree.map(bare, shardings))


def device_put(x, device=None, **options):
    """Also to a Format, which says a sharding here and no more."""
    return xc.device_put(x, xc.tree.map(bare, device), **options)


host_count, host_id, host_ids = xc.process_count, xc.process_index, xc.process_indices


def enable_custom_prng(enable: bool = True):
    return xc.config.override()


def threefry_partitionable(enable: bool = True):
    """Bits of new layout, or of the one that JAX had before 0.5, in a block."""
    return xc.config.override(threefry_partitionable=bool(enable))


enable_x64 = xc.enable_x64


def disable_x64():
    return xc.enable_x64(False)


def random_gamma_grad(a, sample, *, log_space: bool = False):
    """How a gamma variate of shape a moves with a."""
    op = log_gamma_of_shape if log_space else gamma_of_shape
    return xc.jvp(lambda a: op(a, sample), (a,), (xc.numpy.ones_like(a),))[1]


def igamma_grad_a(a, x):
    """The derivative of the regularised lower gamma function by its shape."""
    return xc.jvp(lambda a: xc.special.gammainc(a, x), (a,), (xc.numpy.ones_like(a),))[1]


def _of_the_trace(f):
    """Constants made inside of jit are traced, as libraries expect that look for jit that way."""

    @functools.wraps(f)
    def call(*args, **kwargs):
        made = f(*args, **kwargs)
        if is_evaluating() or type(made) is not Array:  # what is traced already has derivatives
            return made
        return stop_gradient(made)

    return call


array, asarray = _of_the_trace(xc.numpy.array), _of_the_trace(xc.numpy.asarray)


def _of_structs(f, of_none):
    """Also of what tells its shape and dtype and has no values."""

    @functools.wraps(f)
    def call(a, *args, **kwargs):
        if a is None:
            return of_none
        bare = isinstance(a, xc.ShapeDtypeStruct)
        return f(np.broadcast_to(np.int8(0), a.shape) if bare else a, *args, **kwargs)

    return call


shape, ndim = _of_structs(xc.numpy.shape, ()), _of_structs(xc.numpy.ndim, 0)
size = _of_structs(xc.numpy.size, 1)


def issubdtype(arg1, arg2) -> bool:
    """As in NumPy, where None is float64."""
    return xc.dtypes.issubdtype(np.dtype(None) if arg1 is None else arg1, arg2)


class finfo(xc.numpy.finfo):
    """Limits as NumPy's numbers of the dtype, which are as strong as its arrays."""

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._info, name)


def _counts_as(f, samples: int, dtype_of):
    """A histogram whose counts, where nothing is weighted, have the dtype that ``dtype_of`` gives for the data."""

    @functools.wraps(f)
    def call(*args, **kwargs):
        counts, *edges = f(*args, **kwargs)
        given = kwargs.get("weights"), kwargs.get("density"), *args[samples + 2 :]
        if all(x is None or x is False for x in given):
            data = [*args[:samples], *[kwargs[k] for k in ("a", "sample", "x", "y") if k in kwargs]]
            counts = counts.astype(dtype_of(data))
        return counts, *edges

    return call


def _counts_in_floats(f):
    """That of one axis has floats in any case."""

    @functools.wraps(f)
    def call(*args, **kwargs):
        counts, edges = f(*args, **kwargs)
        return counts.astype(inexact_dtype(counts.dtype)), edges

    return call


def _of_data(data):
    return inexact_dtype(xc.numpy.result_type(*[xc.numpy.asarray(x) for x in data]))


histogram = _counts_in_floats(_counts_as(xc.numpy.histogram, 1, _of_data))
histogramdd = _counts_as(xc.numpy.histogramdd, 1, lambda data: int)
histogram2d = _counts_as(xc.numpy.histogram2d, 2, lambda data: int)


def canonicalize_dtype(dtype, allow_extended_dtype: bool = False):
    """The dtype at the width that the settings say; None is float64 as in NumPy."""
    return xc.dtypes.canonicalize_dtype(float if dtype is None else dtype, allow_extended_dtype)


def scalar_type_of(x) -> type:
    kind = dtypes.kind(np.asarray(x).dtype if not hasattr(x, "dtype") else x.dtype)
    return {"bool": bool, "int": int, "uint": int, "complex": complex}.get(kind, float)


# Checkpoints of former times


class GlobalAsyncCheckpointManagerBase:
    """Stands where libraries name it; orbax writes arrays by itself."""


class GlobalAsyncCheckpointManager(GlobalAsyncCheckpointManagerBase):
    def __init__(self, *args, **kwargs):
        raise NotImplementedError(
            "xcore.as_jax: GlobalAsyncCheckpointManager is not here; use orbax, or xcore.checkpoint."
        )


def get_tensorstore_spec(path, ocdbt=False, **options):
    raise NotImplementedError("xcore.as_jax: get_tensorstore_spec is not here; use orbax.")


def _no_colocated(*args, **kwargs):
    raise NotImplementedError("xcore.as_jax: there are no processes of Pathways here.")


colocated_python = colocated_python_class = colocated_cpu_devices = _no_colocated


def set_cache_dir(path) -> None:
    xc.config.update("compilation_cache_dir", str(path))


def reset_cache() -> None:
    xc.clear_caches()


def reached_preemption_sync_point(step: int) -> bool:
    """No process is told that it will be ended."""
    return False


# checkify


class ErrorCategory:
    """Base of kinds of errors."""


init_error = xc.checkify.Error()
Out = Any


# Stages


CompilerOptions = dict


@dataclass(frozen=True)
class ArgInfo:
    """What is known of an argument before it is there."""

    shape: tuple
    dtype: Any
    donated: bool = False


OutInfo = xc.ShapeDtypeStruct


# Devices


class _Backend:
    """What is asked of a backend."""

    def __init__(self, platform: str):
        self.platform = platform
        self.platform_version = "xcore"

    def devices(self):
        return xc.devices(self.platform)

    def local_devices(self):
        return xc.local_devices()

    def device_count(self) -> int:
        return len(self.devices())

    def live_arrays(self):
        return xc.live_arrays()

    def process_index(self) -> int:
        return xc.process_index()


@functools.cache
def get_backend(platform=None) -> _Backend:
    return _Backend(platform or xc.default_backend())


def backends() -> dict:
    return {xc.default_backend(): get_backend()}


def get_default_device():
    return xc.devices()[0]


def clear_backends() -> None:
    xc.clear_caches()


class _Started(dict):
    """The backends that have been started, looked up anew each time."""

    def __bool__(self) -> bool:
        return has_started()

    def get(self, key, default=None):
        return get_backend() if has_started() and key == xc.default_backend() else default


known_backends: dict = _Started()


def backend_compile_and_load(backend, *args, **kwargs):
    raise NotImplementedError("xcore.as_jax: programs are compiled by xcore.jit alone.")


def wait_for_tokens() -> None:
    xc.effects_barrier()


global_result_handlers: dict = {}
DeviceList = tuple
# filled by libraries for classes of their own, which here have __jax_array__ or __array__ for it
canonicalize_dtype_handlers: dict = {np.ndarray: np.asarray}
xla_client = None


# Functions on lists of values


def jvp(fun, **options):
    raise NotImplementedError("xcore.as_jax: transform functions by jax.jvp.")


linearize = jvp
