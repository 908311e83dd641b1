"""Names of JAX's smaller modules: lifting, keys, marks for compilers, kinds of errors, meshes."""

from __future__ import annotations

import contextlib
import functools
import logging
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import xcore as xc
import xcore.numpy as xnp

from .._core import Var, dtypes, tree
from .._core.sharding import SingleDeviceSharding
from . import _rejection
from ._jaxprs import make_jaxpr
from ._linear_util import WrappedFun
from ._primitives import transposes
from ._rule_tables import defvectorized
from ._settings import IMPLS

# jax.errors

JAXTypeError = xc.errors.ConcretizationTypeError
JAXIndexError = xc.errors.NonConcreteBooleanIndexError


class JaxprTypeError(TypeError):
    """A jaxpr that cannot be; those of xcore are typed as they are made."""


class InconclusiveDimensionOperation(Exception):
    """Shapes here are numbers, and every question about them has an answer."""


# jax.experimental.sparse


class SparseInfo(NamedTuple):
    """What is known of an array besides its values and places."""

    shape: tuple
    indices_sorted: bool = False
    unique_indices: bool = False


# jax.flatten_util


def ravel_pytree(pytree):
    """All numbers of a tree as one vector, and the way back, for vectors of any dtype where all leaves have one."""
    vector, unravel = xc.flatten_util.ravel_pytree(pytree)
    alike = all(t.dtype == vector.dtype for t in unravel.types)
    return vector, unravel.of_any_dtype() if alike else unravel


# jax.experimental.compute_on, layout, scheduling


@contextlib.contextmanager
def compute_on(compute_type: str):
    """Work within is done where its arrays are."""
    yield


def compute_on2(f=None, *, compute_type: str, out_memory_spaces=None):
    return f if f is not None else functools.partial(compute_on2, compute_type=compute_type)


def with_layout_constraint(x, layouts):
    """The value; devices choose the order of its axes in memory."""
    return x


# jax.extend.random, jax.default_prng_impl


def default_prng_impl(new_val):
    """For a block, keys are made for this generator."""
    return xc.default_prng_impl(IMPLS.get(new_val, new_val))


class PRNGImpl:
    """A generator by its name."""

    def __init__(self, name: str, key_shape: tuple):
        self.name, self.key_shape, self.tag = name, key_shape, name

    def __repr__(self) -> str:
        return f"PRNGImpl({self.name})"


threefry_prng_impl = PRNGImpl("threefry2x32", (2,))
rbg_prng_impl, unsafe_rbg_prng_impl = PRNGImpl("rbg", (4,)), PRNGImpl("unsafe_rbg", (4,))


def seed_with_impl(impl: PRNGImpl, seed):
    return _rejection.key(seed, impl=impl.name)


def random_seed(seeds, impl: PRNGImpl):
    """A key for each of the seeds."""
    seeds = xnp.asarray(seeds)
    made = functools.partial(seed_with_impl, impl)
    for _ in seeds.shape:
        made = xc.vmap(made)
    return made(seeds)


def threefry_2x32(keypair, count):
    """The hash of an array of words, the first half of it beside the second."""
    k1, k2 = keypair if isinstance(keypair, (tuple, list)) else (keypair[0], keypair[1])
    words = xnp.ravel(count)
    odd = words.size % 2
    halves = xnp.split(xnp.concatenate([words, xnp.zeros(odd, np.uint32)]), 2)
    key = xnp.stack([xnp.asarray(k1, np.uint32), xnp.asarray(k2, np.uint32)])
    found = xc.random.threefry2x32(key, xnp.stack(halves, -1))
    flat = xnp.ravel(found.T)
    return xnp.reshape(flat[: words.size], xnp.shape(count))


# jax.api_util


def flatten_axes(name, treedef, axis_tree, *, kws=False, tupled_args=False) -> list:
    """The leaves of a tree of which another one is a prefix; None counts as a leaf."""
    dummy = tree.unflatten(treedef, [0] * treedef.num_leaves)
    return tree.broadcast_prefix(axis_tree, dummy, lambda x: x is None, name)


def argnums_partial(f: WrappedFun, dyn_argnums, args, require_static_args_hashable: bool = True):
    """The function of some of the arguments, and these."""
    chosen = (dyn_argnums,) if isinstance(dyn_argnums, int) else tuple(dyn_argnums)
    chosen = tuple(i % len(args) for i in chosen)

    def around(inner, *given, **kwargs):
        full = [*args]
        for i, a in zip(chosen, given, strict=True):
            full[i] = a
        return inner(*full, **kwargs)

    return f.wrap(around), tuple(args[i] for i in chosen)


def donation_vector(donate_argnums, donate_argnames, in_tree, kws: bool = True) -> tuple[bool, ...]:
    """For each leaf of the arguments whether it is given away."""
    args, kwargs = tree.unflatten(in_tree, range(in_tree.num_leaves)) if kws else (
        tree.unflatten(in_tree, range(in_tree.num_leaves)), {})  # fmt: skip
    parts = [(i in donate_argnums, a) for i, a in enumerate(args)]
    parts += [(k in donate_argnames, kwargs[k]) for k in sorted(kwargs)]
    return tuple(mark for mark, part in parts for _ in tree.leaves(part))


def rebase_donate_argnums(donate_argnums, static_argnums) -> tuple[int, ...]:
    """Numbers of arguments among those that are not static."""
    return tuple(
        sorted(
            i - sum(s < i for s in static_argnums)
            for i in donate_argnums
            if i not in static_argnums
        )
    )


# jax.export, jax.profiler, jax.debug, jax.dlpack, jax.dtypes


def is_symbolic_dim(p) -> bool:
    return hasattr(p, "is_unknown_size")


def default_export_platform() -> str:
    return xc.default_backend()


minimum_supported_calling_convention_version = maximum_supported_calling_convention_version = 10


def symbolic_args_specs(args, shapes_specs, constraints=(), scope=None):
    """Types of arguments with the shapes of texts: one for all of them, or a tree of them."""
    leaves, structure = xc.tree.flatten(args)
    alike = isinstance(shapes_specs, str | None)
    texts = [shapes_specs] * len(leaves) if alike else structure.flatten_up_to(shapes_specs)
    shapes = [
        x.shape if t is None else xc.export.symbolic_shape(t, like=x.shape)
        for x, t in zip(leaves, texts, strict=True)
    ]
    made = [xc.ShapeDtypeStruct(s, x.dtype) for s, x in zip(shapes, leaves, strict=True)]
    return structure.unflatten(made)


class SymbolicScope:
    """What names mean: the same everywhere here."""

    def __init__(self, constraints_str=()):
        self.constraints = tuple(constraints_str)


class ProfileOptions:
    """What a profile holds beside what it holds; nothing of it changes anything."""

    def __init__(self):
        self.python_tracer_level, self.host_tracer_level, self.device_tracer_level = 1, 2, 1
        self.advanced_configuration: dict = {}


def stop_server() -> None:
    """The server of profiles ends with the process."""


def debug_log(fmt: str, *args, ordered: bool = False, **kwargs) -> None:
    """As ``debug.print``, into Python's logging."""
    logger = logging.getLogger("jax.debug")
    xc.debug.callback(
        lambda *a, **k: logger.info(fmt.format(*a, **k)), *args, ordered=ordered, **kwargs
    )


def is_supported_dtype(dtype) -> bool:
    """Whether arrays of it travel by DLPack."""
    return dtypes.kind(dtypes.as_dtype(dtype)) in ("bool", "int", "uint", "float", "complex")


def itemsize_bits(dtype) -> int:
    """Bits of an element."""
    name = dtypes.as_dtype(dtype).name
    packed = next((n for n in (2, 4) if name in (f"int{n}", f"uint{n}")), None)
    return packed or np.dtype(dtype).itemsize * 8


# jax.sharding


@contextlib.contextmanager
def use_abstract_mesh(mesh):
    """A mesh without devices is what programs say of it; that of the context has the devices."""
    yield mesh


def make_mesh(axis_shapes, axis_names, axis_types=None, *, devices=None):
    """As ``xcore.make_mesh``; axes are Explicit unless something else is said."""
    if axis_types is None:
        n = 1 if isinstance(axis_names, str) else len(tuple(axis_names))
        axis_types = (xc.sharding.AxisType.Explicit,) * n
    return xc.make_mesh(axis_shapes, axis_names, axis_types, devices=devices)


def auto_axes(f=None, /, *, axes=None, out_sharding=None):
    """The function, whose results lie as ``out_sharding`` says."""
    if f is None:
        return functools.partial(auto_axes, axes=axes, out_sharding=out_sharding)

    @functools.wraps(f)
    def call(*args, out_sharding=out_sharding, **kwargs):
        found = f(*args, **kwargs)
        return found if out_sharding is None else xc.reshard(found, out_sharding)

    return call


def explicit_axes(f=None, /, *, axes=None, in_sharding=None):
    """The function of arguments that lie as ``in_sharding`` says."""
    if f is None:
        return functools.partial(explicit_axes, axes=axes, in_sharding=in_sharding)

    @functools.wraps(f)
    def call(*args, in_sharding=in_sharding, **kwargs):
        return f(*(args if in_sharding is None else xc.reshard(args, in_sharding)), **kwargs)

    return call


def make_single_device_sharding(device, *, memory_kind=None) -> SingleDeviceSharding:
    return SingleDeviceSharding(device, memory_kind=memory_kind)


@dataclass(frozen=True)
class AbstractDevice:
    """A kind of device without one."""

    device_kind: str
    num_cores: int | None = None
    platform: str | None = None


# jax.extend.core, jax.interpreters


def check_jaxpr(jaxpr) -> None:
    """Equations have types as they are made; what is left is that variables are defined before they are read."""
    known = {*jaxpr.constvars, *jaxpr.invars}
    for eqn in [*jaxpr.eqns, None]:
        used = jaxpr.outvars if eqn is None else eqn.invars
        if any(isinstance(v, Var) and v not in known for v in used):
            raise JaxprTypeError(
                f"Variable is used before it is defined, in {eqn or 'the results'}"
            )
        known |= set(eqn.outvars) if eqn is not None else set()


def gensym():
    """A function that makes variables of a type."""
    return lambda aval, *more: Var(aval.type)


no_effects: frozenset = frozenset()
Effects = set


def defreducer(prim, *more) -> None:
    defvectorized(prim)


def register_vmappable(data_type, spec_type, axis_size_type, to_elt, from_elt, make_iota) -> None:
    """Libraries register containers of what compiled kernels take, which are not here: ``vmap`` takes pytrees."""


class Token:
    """Order among what acts is kept without tokens."""


AbstractToken = Token
Initializer = Any


# Advice to compilers


class custom_partitioning:
    """The function; the compiler finds how it is spread over devices from what it does."""

    def __init__(self, fun, static_argnums=()):
        functools.update_wrapper(self, fun)
        self.fun = fun

    def def_partition(self, *rules, **more) -> None:
        """What is said of it is not needed."""

    def __call__(self, *args, **kwargs):
        return self.fun(*args, **kwargs)


def shard_alike(x, y):
    """Both values, as they are: the compiler chooses where they lie."""
    return x, y


def set_xla_metadata(x=None, **metadata):
    """The value, or a block or decorator: there is nobody who reads what is said of operations."""
    return contextlib.nullcontext() if x is None else x


def scheduling_group(name: str):
    """A decorator that changes nothing: the compiler orders operations."""
    return lambda f: f


# jax.interpreters


def dce_jaxpr(jaxpr, used_outputs, instantiate=False) -> tuple:
    """The jaxpr of some of its results, and which arguments it still has."""
    outs = [v for v, used in zip(jaxpr.outvars, used_outputs, strict=True) if used]
    needed, kept = {v for v in outs if isinstance(v, Var)}, []
    for eqn in reversed(jaxpr.eqns):
        if eqn.effects or any(v in needed for v in eqn.outvars):
            kept.append(eqn)
            needed.update(v for v in eqn.invars if isinstance(v, Var))
    wanted = (
        instantiate if isinstance(instantiate, (list, tuple)) else [instantiate] * len(jaxpr.invars)
    )
    used_inputs = [v in needed or bool(w) for v, w in zip(jaxpr.invars, wanted, strict=True)]
    invars = [v for v, used in zip(jaxpr.invars, used_inputs) if used]
    return jaxpr.replace(invars=invars, outvars=outs, eqns=kept[::-1]), used_inputs


def trace_to_jaxpr_dynamic(fun: WrappedFun, in_avals, **more) -> tuple:
    """(jaxpr, types of results, constants) of a function of flat arguments."""
    structs = [xc.ShapeDtypeStruct(t.shape, t.dtype) for t in in_avals]
    closed: Any = make_jaxpr(fun.call_wrapped)(*structs)
    return closed.jaxpr, closed.out_avals, closed.consts


def get_primitive_transpose(p):
    """The rule of a primitive, an error where there is none."""
    if p not in transposes:
        raise NotImplementedError(
            f"xcore.as_jax: the primitive {p} has no rule in primitive_transposes."
        )
    return transposes[p]


def custom_vjp_primal_tree_values(tree_):
    """A tree of ``CustomVJPPrimal``, which rules with symbolic zeros are given, as one of their values."""
    primal = xc.custom_derivatives.CustomVJPPrimal
    return tree.map(lambda x: x.value, tree_, is_leaf=lambda x: isinstance(x, primal))
