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
    "concatenate": {"axis": "dimension"},
    "reshape": {"shape": "new_sizes"}, "broadcast_in_dim": {"dims": "broadcast_dimensions"},
    "iota": {"axis": "dimension"}, "sort": {"axis": "dimension", "stable": "is_stable"}, "rev": {"axes": "dimensions"},
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
    "round_even": lambda p: {"rounding_method": lax.RoundingMethod.TO_NEAREST_EVEN},
    "convolution": lambda p: {"dimension_numbers": _canonical(len(p["strides"]) + 2),
                              "batch_group_count": 1, "preferred_element_type": None},
}  # fmt: skip
for (
    _name
) in "exp exp2 expm1 log log1p sin cos tan tanh logistic special.expit sqrt rsqrt cbrt".split():
    MORE[_name] = lambda p: {"accuracy": None}
for _name in "max min prod and or xor argmax argmin".split():
    MORE[f"reduce_{_name}"] = MORE["reduce_sum"]
MORE["convert"] = MORE["broadcast_in_dim"]


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
def _read_slice(p):
    strides = p.get("strides") or (1,) * len(p["start_indices"])
    return {
        "start": tuple(p["start_indices"]),
        "limit": tuple(p["limit_indices"]),
        "strides": tuple(strides),
    }


SHOWN = {
    "slice": (
        lambda p: {
            "start_indices": p["start"],
            "limit_indices": p["limit"],
            "strides": p["strides"],
        },
        _read_slice,
    ),
    "dot_general": (_show_dot, _read_dot),
    "pad": (
        lambda p: {"padding_config": tuple(zip(p["low"], p["high"], p["interior"]))},
        _read_pad,
    ),
}
for _name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"):
    SHOWN[_name] = (lambda p: {"reverse": False, **p}, dict)
for _name in ("argmax", "argmin"):
    SHOWN[_name] = (
        lambda p: {"axes": (p["axis"],), "index_dtype": p["dtype"]},
        lambda p: {"axis": p["axes"][0], "dtype": np.dtype(p["index_dtype"])},
    )


def _copied(x):
    return x.copy()


class Unmet(Primitive):
    """A primitive of JAX's that programs here do not hold: rules may be kept for it, and it may be called."""

    def __init__(self, name: str):
        self.name = name

    def bind(self, *args, **params):
        function = _copied if self.name == "copy" else getattr(lax, self.name, None)
        if function is None:
            raise NotImplementedError(
                f"xcore.as_jax: the primitive {self.name} has no operation here; call the function of jax.lax."
            )
        return function(*map(to_user, args), **params)

    impl = bind


_UNMET = frozenset(
    """
    integer_pow
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
