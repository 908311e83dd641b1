"""Functions of ours under JAX's names for their arguments, and without arguments that say what is so anyway."""

from __future__ import annotations

import functools
import types

from .._core import tree
from ..numpy._placement import laid_out

# Arguments that functions of a module take there and not here, with the values that ask for nothing.
_IDLE = {
    "jax.random": {"*": {"out_sharding": (None,)}},
    "jax.ops": {"*": {"out_sharding": (None,)}},
    "jax.nn.initializers": {"ones zeros": {"out_sharding": (None,)}},
    "jax.numpy": {"einsum": {"_dot_general": "jax.lax.dot_general"}, "percentile": {"out_sharding": (None,)}},
    "jax.lax": {
        "conv_general_dilated reduce reduce_sum": {"out_sharding": (None,)},
        "conv_transpose": {"use_consistent_padding": (False,)},
        "mul": {"out_dtype": (None,)},
    },
    "jax.debug": {"print": {"skip_format_check": (False, True)}},
    "jax": {
        "checkpoint remat": {"concrete": (False, True)},
        "vjp": {"reduce_axes": ((), None)},
        "vmap": {"sum_match": (False,)},
        "process_count process_index process_indices": {"backend": (None,)},
        "local_devices": {"host_id": (None,)},
    },
}  # fmt: skip
# Names of arguments: theirs and ours.
_RENAMED = {
    "jax": {
        "devices device_count local_device_count": {"backend": "platform"},
        "local_devices": {"backend": "backend_name"},
        "check_tracer_leaks debug_infs debug_key_reuse debug_nans default_matmul_precision default_prng_impl "
        "enable_checks log_compiles numpy_dtype_promotion numpy_rank_promotion": {"new_val": "value"},
        "default_device": {"new_val": "device"}, "enable_x64": {"new_val": "enable"},
        "reshard": {"xs": "x", "out_shardings": "shardings"},
    },
    "jax.numpy.linalg": {"matrix_rank": {"M": "A"}},
    "jax.sharding": {"reshard": {"xs": "x", "out_shardings": "shardings"}},
    "jax.scipy.special": {"erfinv": {"x": "y"}, "fresnel hyp2f1 loggamma spence": {"x": "z"},
                          "kl_div rel_entr": {"p": "x", "q": "y"}},
    "jax.scipy.linalg": {"solve_sylvester": {"A": "a", "B": "b", "C": "q"}},
    "jax.dlpack": {"from_dlpack": {"external_array": "x"}},
}  # fmt: skip


def adapted(module: str, name: str, value):
    """The value as the module has it under that name."""
    idle, names = _of(_IDLE, module, name), _of(_RENAMED, module, name)
    if not (idle or names) or isinstance(value, (type, types.ModuleType)) or not callable(value):
        return value

    @functools.wraps(value)
    def call(*args, **kwargs):
        place = kwargs.pop("out_sharding", None) if "out_sharding" in idle else None
        if kwargs:
            kwargs = {
                names.get(k, k): v for k, v in kwargs.items() if not _says_nothing(idle, k, v)
            }
        found = value(*args, **kwargs)
        if place is None:
            return found
        return tree.map(lambda x: laid_out(name, x, place), found)

    return call


def _of(table: dict, module: str, name: str) -> dict:
    found: dict = {}
    for names, arguments in table.get(module, {}).items():
        if names == "*" or name in names.split():
            found.update(arguments)
    return found


def _says_nothing(idle: dict, name: str, value) -> bool:
    """Whether an argument is one that is left out; a value that asks for something is an error."""
    if name not in idle:
        return False
    allowed = idle[name]
    if isinstance(allowed, str):  # a function, by its name
        if getattr(value, "__name__", None) in (None, allowed.rpartition(".")[2]):
            return True
    elif any(value is a or value == a for a in allowed):
        return True
    raise NotImplementedError(
        f"xcore.as_jax: {name}={value!r} is not here; the default is, or leave it out."
    )
