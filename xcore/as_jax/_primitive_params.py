"""Operations of ours under the names and parameters that interpreters of JAX's programs look for."""

from __future__ import annotations

import numpy as np

from xcore import lax

from .._ops.elementwise import to_user
from ._primitives import Primitive

# Params of our operations under their names.
RENAMED = {
    "call": {"program": "jaxpr"}, "one_kernel": {"program": "jaxpr"}, "checkpoint": {"program": "jaxpr"},
    "scan": {"body": "jaxpr"}, "while": {"cond": "cond_jaxpr", "body": "body_jaxpr"},
    "custom_jvp_call": {"program": "call_jaxpr"}, "custom_vjp_call": {"program": "call_jaxpr"},
    "convert": {"dtype": "new_dtype", "weak": "weak_type"}, "transpose": {"perm": "permutation"},
    "slice": {"start": "start_indices", "limit": "limit_indices"}, "concatenate": {"axis": "dimension"},
    "reshape": {"shape": "new_sizes"}, "broadcast_in_dim": {"dims": "broadcast_dimensions"},
    "iota": {"axis": "dimension"}, "sort": {"axis": "dimension"}, "rev": {"axes": "dimensions"},
    "dynamic_slice": {"sizes": "slice_sizes"}, "argmax": {"dtype": "index_dtype"},
    "argmin": {"dtype": "index_dtype"}, "convolution": {"groups": "feature_group_count",
                                                        "strides": "window_strides"},
}  # fmt: skip


def _canonical(rank: int):
    return lax.ConvDimensionNumbers(*[tuple(range(rank))] * 3)


# What interpreters may read beside them, of operations whose own params say it otherwise.
MORE = {
    "call": lambda p: {"name": p["program"].name, "inline": False},
    "scan": lambda p: {"num_consts": p["counts"][0], "num_carry": p["counts"][1]},
    "while": lambda p: {"cond_nconsts": p["counts"][0], "body_nconsts": p["counts"][1]},
    "reshape": lambda p: {"dimensions": None, "sharding": None},
    "broadcast_in_dim": lambda p: {"sharding": None},
    "iota": lambda p: {"sharding": None},
    "reduce_sum": lambda p: {"out_sharding": None},
    "cumsum": lambda p: {"reverse": False},
    "convolution": lambda p: {"dimension_numbers": _canonical(len(p["strides"]) + 2),
                              "batch_group_count": 1, "preferred_element_type": None},
}  # fmt: skip
for _name in ("cumprod", "cummax", "cummin", "cumlogsumexp"):
    MORE[_name] = MORE["cumsum"]


def _show_dot(p):
    return {"dimension_numbers": (p["contract"], p["batch"]), "precision": p.get("precision"),
            "preferred_element_type": p.get("out"), "out_sharding": None}  # fmt: skip


def _read_dot(p):
    (contract, batch), dtype = p["dimension_numbers"], p.get("preferred_element_type")
    found = {"contract": tuple(map(tuple, contract)), "batch": tuple(map(tuple, batch)),
             "precision": p.get("precision")}  # fmt: skip
    return found if dtype is None else {**found, "out": np.dtype(dtype)}


def _read_pad(p):
    low, high, interior = zip(*p["padding_config"]) if p["padding_config"] else ((), (), ())
    return {"low": low, "high": high, "interior": interior}


# Operations whose params are others altogether: what is shown of them, and how that is read.
SHOWN = {
    "dot_general": (_show_dot, _read_dot),
    "pad": (
        lambda p: {"padding_config": tuple(zip(p["low"], p["high"], p["interior"]))},
        _read_pad,
    ),
}
for _name in ("argmax", "argmin"):
    SHOWN[_name] = (
        lambda p: {"axes": (p["axis"],), "index_dtype": p["dtype"]},
        lambda p: {"axis": p["axes"][0], "dtype": np.dtype(p["index_dtype"])},
    )


class Unmet(Primitive):
    """A primitive of JAX's that programs here do not hold: rules may be kept for it, and it may be called."""

    def __init__(self, name: str):
        self.name = name

    def bind(self, *args, **params):
        function = getattr(lax, self.name, None)
        if function is None:
            raise NotImplementedError(
                f"xcore.as_jax: the primitive {self.name} has no operation here; call the function of jax.lax."
            )
        return function(*map(to_user, args), **params)

    impl = bind


_UNMET = frozenset(
    """
    add_jaxvals approx_top_k axis_index clamp copy device_put exp2 igamma_grad_a linear_solve mulhi name
    random_bits random_fold_in random_gamma random_seed random_split random_unwrap random_wrap reduce
    reduce_window reduce_window_max reduce_window_min reduce_window_sum rng_bit_generator rng_uniform
    scatter_add scatter_max scatter_min scatter_mul scatter_sub select_and_gather_add select_and_scatter
    select_and_scatter_add split squeeze tile stack unstack ragged_dot_general composite after_all create_token
    cholesky_update dce_sink eq_to le_to lt_to lu_pivots_to_permutation ormqr ragged_all_to_all symmetric_product
    """.split()
)
_unmet: dict[str, Unmet] = {}


def unmet(name: str) -> Unmet | None:
    if name in _UNMET and name not in _unmet:
        _unmet[name] = Unmet(name)
    return _unmet.get(name)
