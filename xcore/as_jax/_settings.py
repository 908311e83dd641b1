"""What libraries ask of JAX besides arrays: versions, settings, events, states of traces, names of other layers."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from .._control.ahead import Compiled, Lowered, Traced
from .._control.callback import HostCall
from .._control.checks import Error
from .._core import config as settings
from .._core import tree
from .._core.array import Array
from .._core.eval import from_numpy, is_array_like
from .._core.mesh import AbstractMesh, get_mesh
from .._core.sharding import Sharding
from .._core.trace import Trace, Tracer, current, evaluating, is_evaluating, using
from .._core.types import ArrayType, Value, typeof
from ..numpy._types import DType
from ..random._keys import KeyType
from ._forms import exponent
from ._jaxprs import process_by_primitive, view_of
from ._modules import NAME
from ._types import type_of_keys

# Names of JAX's generators that are another one here: faster than threefry, with bits of their own.
IMPLS: dict = {"rbg": "philox4x32", "unsafe_rbg": "philox4x32"}


class Classes(type):
    """Instances are those of a class of xcore's; calling it makes one."""

    def __instancecheck__(cls, x) -> bool:
        return isinstance(x, cls.stands_for)

    def __subclasscheck__(cls, other) -> bool:
        return issubclass(other, cls.stands_for)


class ShapedArray(metaclass=Classes):
    """Shape and dtype, as ``jax.core`` calls them: an ArrayType."""

    stands_for = ArrayType

    def __new__(cls, shape, dtype, weak_type: bool = False, **placement):
        shape = tuple(map(int, shape))
        if isinstance(dtype, KeyType):
            return type_of_keys(shape, dtype)
        return ArrayType(shape, dtype, bool(weak_type))


class AbstractValue(metaclass=Classes):
    """The family of such types."""

    stands_for = ArrayType


# Traces


class TraceState:
    """Which trace is current: equal where no other one has begun or ended in between."""

    __slots__ = ("trace",)

    def __init__(self, trace):
        self.trace = trace

    def __eq__(self, other) -> bool:
        return isinstance(other, TraceState) and self.trace is other.trace

    def __hash__(self) -> int:
        return id(self.trace)

    def __repr__(self) -> str:
        return f"TraceState({type(self.trace).__name__})"


def get_opaque_trace_state(convention=None) -> TraceState:
    return TraceState(current())


def find_top_trace(values=()):
    """The trace that an operation on these values is handed to."""
    return current()


def trace_state_clean() -> bool:
    return is_evaluating()


def is_concrete(x) -> bool:
    return not isinstance(x, Tracer) or x.concrete() is not None


def valid_jaxtype(x) -> bool:
    """Whether it counts as an array."""
    there = isinstance(x, Array) or is_array_like(x)
    return there and getattr(getattr(x, "dtype", None), "kind", "f") not in "OSU"


def module_text(lowered, dialect="stablehlo"):
    """What ``Lowered.compiler_ir`` gives: a module that can be printed."""
    return _Text(lowered.as_text(dialect or "stablehlo"))


class _Text(str):
    def as_hlo_text(self, *options) -> str:
        return str(self)


def open_attributes() -> None:
    """Attributes behind JAX's interface that libraries read: of traces, tracers, shardings, lowered functions."""
    HostCall.handed = staticmethod(from_numpy)
    Lowered.compiler_ir = module_text  # pyright: ignore[reportAttributeAccessIssue]
    program = Traced.jaxpr.fget
    Traced.jaxpr = property(lambda self: view_of(program(self)))  # pyright: ignore
    ArrayType.at_least_vspace = ArrayType.to_ct_aval = ArrayType.to_tangent_aval  # pyright: ignore
    ArrayType.update_weak_type = lambda t, weak: ArrayType(t.shape, t.dtype, weak)  # pyright: ignore
    DType.__repr__ = lambda self: f"<class 'jax.numpy.{self.name}'>"
    Lowered.in_avals = Compiled.in_avals = property(_in_types)  # pyright: ignore
    Error.get_exception = Error.exception  # pyright: ignore[reportAttributeAccessIssue]
    Trace.main = property(lambda self: self)  # pyright: ignore[reportAttributeAccessIssue]
    Trace.level = 0  # pyright: ignore[reportAttributeAccessIssue]
    Trace.full_raise = lambda self, x: x  # pyright: ignore[reportAttributeAccessIssue]
    raised = Value.__pow__
    Value.__pow__ = lambda self, e, modulo=None: raised(self, exponent(e), modulo)  # pyright: ignore
    Value.__array_namespace__ = _namespace_of(Value.__array_namespace__)  # pyright: ignore
    Trace.process = process_by_primitive  # pyright: ignore[reportAttributeAccessIssue]
    Tracer._trace = property(  # pyright: ignore[reportAttributeAccessIssue]
        lambda self: self.owner, lambda self, trace: setattr(self, "owner", trace)
    )
    Tracer.__init_subclass__ = classmethod(_of_jax)  # pyright: ignore
    Array.__module__ = NAME
    for cls in _family(Tracer):
        cls.__module__ = TRACERS
    Sharding._device_assignment = property(lambda self: tuple(self.devices))  # pyright: ignore
    Sharding._addressable_device_assignment = property(  # pyright: ignore
        lambda self: tuple([d for d in self.devices if d in self.addressable_devices])
    )


def _in_types(lowered):
    """Types of the arguments, without those that are static."""
    args, kwargs = lowered.args_info
    static = lowered._traced._general.static_argnums
    given = tuple(a for i, a in enumerate(args) if i not in static)
    return tree.map(typeof, (given, kwargs))


TRACERS = f"{NAME}.core"  # libraries tell arrays of different packages by the module of their class


def _family(cls) -> list[type]:
    return [cls, *[c for child in cls.__subclasses__() for c in _family(child)]]


def _of_jax(cls, **options):
    """Tracers of ours say that they are JAX's, those of somebody else's what they are by ``aval``."""
    if cls.__module__.startswith("xcore."):
        cls.__module__ = TRACERS
    if "aval" in cls.__dict__:
        cls.type = property(lambda self: self.aval.type)


def _namespace_of(own):
    """The namespace that libraries tell from others by its name: the face, not the module behind it."""

    def __array_namespace__(self, /, *, api_version=None):
        own(self, api_version=api_version)  # refuses versions that are not ours
        return importlib.import_module(f"{NAME}.numpy")

    return __array_namespace__


@contextlib.contextmanager
def take_current_trace():
    """For a block nothing is traced; gives what was."""
    outside = current()
    with evaluating():
        yield outside


set_current_trace = using
pytype_aval_mappings: dict = {
    np.ndarray: typeof
}  # filled by libraries; classes have __jax_array__ here


class TraceTag:
    """A mark of a trace of somebody's own."""


class Effect:
    """Base of the marks of what programs do besides computing."""


class EffectTypes:
    """A set of such classes."""

    def __init__(self):
        self.types: set = set()

    def add_type(self, cls) -> None:
        self.types.add(cls)

    def contains(self, effect) -> bool:
        return type(effect) in self.types


# Settings


class Config:
    """``jax.config``: settings of xcore's, and options of JAX's that change nothing here.

    An option that neither of them has is an AttributeError, as there.
    """

    def update(self, name: str, value) -> None:
        if _short(name) in IGNORED:
            _ignored[_short(name)] = value
            return
        settings.update(name, value if not isinstance(value, str) else IMPLS.get(value, value))

    def read(self, name: str):
        short = _short(name)
        return _ignored.get(short, IGNORED[short]) if short in IGNORED else settings.read(name)

    def __getattr__(self, name: str):
        if name == "x64_enabled":
            return settings.read("enable_x64")
        if name.startswith("__"):
            raise AttributeError(name)
        return self.read(name)

    def __setattr__(self, name: str, value) -> None:
        self.update(name, value)

    def config_with_absl(self) -> None:
        """Flags of absl are not read."""

    parse_flags_with_absl = config_with_absl

    @property
    def values(self) -> dict:
        return {f"jax_{n}": settings.read(n) for n in settings.base().__slots__} | {
            f"jax_{n}": self.read(n) for n in IGNORED
        }


_TRUE, _FALSE = ("y", "yes", "t", "true", "on", "1"), ("n", "no", "f", "false", "off", "0")


def read_environment() -> None:
    """Settings by the names that JAX reads from the environment, ``JAX_DEBUG_NANS=1``; others stay as they are."""
    config = Config()
    for name, text in os.environ.items():
        if not name.startswith("JAX_"):
            continue
        try:
            before = config.read(name)
        except AttributeError:
            continue
        value = (
            text.lower() in _TRUE
            if isinstance(before, bool)
            else int(text)
            if isinstance(before, int)
            else text
        )
        if isinstance(before, bool) and text.lower() not in (*_TRUE, *_FALSE):
            raise ValueError(
                f"xcore.as_jax: {name} must be one of {_TRUE + _FALSE}, given {text!r}."
            )
        config.update(name, value)


def _short(name: str) -> str:
    return name.lower().removeprefix("jax_")


# What these would change is so here already, or is nothing that xcore does; with their defaults.
IGNORED = {
    "enable_custom_prng": True, "default_dtype_bits": "64",
    "persistent_cache_min_compile_time_secs": 1.0, "persistent_cache_min_entry_size_bytes": 0,
    "persistent_cache_enable_xla_caches": "", "raise_persistent_cache_errors": False,
    "use_shardy_partitioner": True, "debug_log_modules": "", "include_full_tracebacks_in_locations": True,
    "logging_level": None, "transfer_guard": "allow", "softmax_custom_jvp": True,
    "remove_size_one_mesh_axis_from_type": False, "cpu_enable_async_dispatch": True,
    "legacy_prng_key": "allow", "array_garbage_collection_guard": "allow", "numpy_dtype_promotion_strict": False,
    "cpu_collectives_implementation": "gloo", "jit_pjit_api_merge": True, "spmd_mode": "allow_all",
    "use_direct_linearize": True, "mutable_array_checks": False, "xla_backend": "", "dynamic_shapes": False,
    "pmap_shmap_merge": True, "array": True, "enable_memories": True, "vjp3": True, "pprint_use_color": True,
    "high_dynamic_range_gumbel": False, "compiler_enable_remat_pass": True, "memory_fitting_level": "O2",
    "memory_fitting_effort": 0.0, "exec_time_optimization_effort": 0.0, "optimization_level": "UNKNOWN",
    "transfer_guard_device_to_host": None, "transfer_guard_host_to_device": None,
    "transfer_guard_device_to_device": None, "enable_pgle": False, "enable_recoverability": False,
    "captured_constants_warn_bytes": 2_000_000_000, "captured_constants_report_frames": 0,
    "use_simplified_jaxpr_constants": False, "allow_f16_reductions": True, "thread_guard": False,
    "share_binary_between_hosts": False, "eager_constant_folding": False, "traceback_in_locations_limit": 100,
    "compilation_cache_max_size": -1, "enable_preemption_service": True, "log_checkpoint_residuals": False,
    "disable_bwd_checks": False, "auto_pcast": True, "use_magma": "auto",
}  # fmt: skip
_ignored: dict = {}
config = Config()


# Events, for monitoring: nobody here but libraries records any

_listeners: dict[str, list] = {"event": [], "duration": [], "scalar": [], "span": []}


def _recorder(kind: str):
    def record(event: str, *values, **tags) -> None:
        for listener in [*_listeners[kind]]:
            listener(event, *values, **tags)

    return record


record_event, record_scalar = _recorder("event"), _recorder("scalar")
record_event_duration_secs, record_event_time_span = _recorder("duration"), _recorder("span")


def _registry(kind: str):
    return _listeners[kind].append, _listeners[kind].remove


register_event_listener, unregister_event_listener = _registry("event")
register_event_duration_secs_listener, unregister_event_duration_listener = _registry("duration")
register_scalar_listener, unregister_scalar_listener = _registry("scalar")
register_event_time_span_listener, unregister_event_time_span_listener = _registry("span")


def clear_event_listeners() -> None:
    for kept in _listeners.values():
        kept.clear()


# Tracebacks: frames of libraries stay in them

exclude_paths: list[str] = []


def register_exclusion(path: str) -> None:
    exclude_paths.append(path)


def api_boundary(fun, **options):
    return fun


def include_frame(frame) -> bool:
    return True


# Trees


class Nodes:
    """Which classes are nodes, asked as one asks a dict."""

    def __contains__(self, cls) -> bool:
        return tree.registry.is_node(cls) and not (
            isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")
        )

    def __getitem__(self, cls) -> Node:
        """How its objects are taken apart and made again."""
        if cls not in self:
            raise KeyError(cls)
        return Node(tree.flatten_one_level, partial(_made_again, cls))


class Node(NamedTuple):
    to_iter: Callable
    from_iter: Callable


def _made_again(cls, data, children):
    leaf = tree.structure(0)
    made = type(leaf).from_node_data_and_children(
        tree.registry, (cls, data), [leaf] * len(children)
    )
    return made.unflatten(children)


nodes = Nodes()


# Names that are imported and, without what xcore leaves out, not used


def absent(name: str, why: str):
    """A class that can be named and inherited from, and says why it does nothing."""

    def refuse(self, *args, **kwargs):
        raise NotImplementedError(f"xcore.as_jax: {name}: {why}")

    return type(name, (), {"__init__": refuse, "bind": refuse})


HIJAX = "types of one's own in programs are not here; flax's Variables work without (hijax=False, the default)."
REFS = "arrays that change in place are not here; x = x.at[i].set(y) makes a changed copy."
HiPrimitive = absent("HiPrimitive", HIJAX)
HiType = MutableHiType = absent("HiType", HIJAX)
AvalQDD, AvalMutableQDD = absent("AvalQDD", HIJAX), absent("AvalMutableQDD", HIJAX)
Ref = AbstractRef = absent("Ref", REFS)
EArray = absent("EArray", HIJAX)
HiPrimitive.__init__ = lambda self, name="": None  # pyright: ignore[reportAttributeAccessIssue]
control_flow_allowed_effects = EffectTypes()


def register_hitype(cls, to_type) -> None:
    """Such types are made where hijax is asked for, and refused there."""


class aval_property:
    """A property of such a type."""

    def __init__(self, fget):
        self.fget = fget


class aval_method:
    """A method of such a type."""

    def __init__(self, fun):
        self.fun = fun


def cur_qdd(x):
    raise NotImplementedError(f"xcore.as_jax: cur_qdd: {HIJAX}")


def new_ref(x, **options):
    raise NotImplementedError(f"xcore.as_jax: new_ref: {REFS}")


class Layout:
    """How an array lies in memory: in the order of its axes, which is what devices here choose."""

    def __init__(self, major_to_minor=None, tiling=None, **more):
        self.major_to_minor, self.tiling = major_to_minor, tiling


class Format:
    """A layout and a sharding together."""

    def __init__(self, layout=None, sharding=None):
        self.layout, self.sharding = layout, sharding


class LiteralArray:
    """A number that is part of a program; here it is an array or a Python number at once."""


class _GlobalState:
    """This process among those of ``jax.distributed``."""

    process_id, num_processes, client, service, coordinator_address = 0, 1, None, None, None


global_state = _GlobalState()


def get_abstract_mesh():
    """The names and sizes of the axes of the mesh that is set, none where none is."""
    mesh = get_mesh()
    return AbstractMesh((), ()) if mesh is None else mesh.abstract_mesh


@contextlib.contextmanager
def no_guard(*args, **kwargs):
    """A guard against what does not happen here."""
    yield


transfer_guard = transfer_guard_device_to_host = transfer_guard_host_to_device = no_guard
transfer_guard_device_to_device = no_guard


def noop(*args, **kwargs) -> None:
    """Does nothing, where there is nothing to do."""


def supports_inf(dtype) -> bool:
    return "e4m3" not in str(dtype) or "b11" in str(dtype)


def physical_aval(aval):
    return aval
