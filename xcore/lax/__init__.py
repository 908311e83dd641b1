"""Control flow, collectives, and operations with explicit shapes: names as in ``jax.lax``.

Not here, and why:

- names that end in ``_p``: operations are ``xcore`` ops, which ``xcore`` lowers itself;
- ``out_sharding=`` of convolutions and reductions: the compiler decides; see ``with_sharding_constraint``;
- ``after_all``, ``create_token``, ``stage``, ``composite``, ``dce_sink``: effects are ordered, and
  programs cut, by the functions of ``xcore`` itself;
- ``rng_uniform``, ``rng_bit_generator``: the bits depend on the device; see ``xcore.random``;
- ``ragged_dot``, ``ragged_all_to_all``, ``scaled_dot``: kernels of particular accelerators;
- ``DotAlgorithm`` and its presets: products are computed in full precision unless ``precision=`` says
  otherwise;
- ``conv_shape_tuple`` and other ``*_shape_tuple``: ``xcore.eval_shape`` of the function tells the shape.
"""

import importlib as _importlib

from .._control.checkpoint import optimization_barrier
from .._control.collectives import (
    all_gather,
    all_to_all,
    axis_index,
    axis_size,
    pargmax,
    pargmin,
    pbroadcast,
    pcast,
    pmax,
    pmean,
    pmin,
    ppermute,
    pshuffle,
    psum,
    psum_scatter,
    pswapaxes,
    pvary,
)  # fmt: skip
from .._control.cond import cond, switch
from .._control.custom import stop_gradient
from .._control.implicit import custom_linear_solve, custom_root
from .._control.loops import associative_scan, fori_loop, map, scan
from .._control.sharding import with_sharding_constraint
from .._control.while_loop import while_loop
from ..numpy import broadcast_shapes
from ..numpy._lax import *  # noqa: F403
from ..numpy._lax_elementwise import *  # noqa: F403
from ..numpy._lax_scatter import (
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    approx_max_k,
    approx_min_k,
    broadcast_to_rank,
    collapse,
    dtype,
    empty,
    exp2,
    gather,
    index_take,
    mulhi,
    platform_dependent,
    scatter,
    scatter_add,
    scatter_apply,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_sub,
    split,
)  # fmt: skip
from ..numpy._lax_windows import (
    ConvDimensionNumbers,
    Precision,
    conv,
    conv_dimension_numbers,
    conv_general_dilated,
    conv_general_dilated_patches,
    conv_transpose,
    conv_with_general_padding,
    padtype_to_pads,
    reduce,
    reduce_window,
)  # fmt: skip

# What needs packages that a light import leaves alone.
_SPECIAL = {
    "bessel_i0e": "i0e", "bessel_i1e": "i1e", "betainc": "betainc", "igamma": "gammainc",
    "igammac": "gammaincc",
}  # fmt: skip


def __getattr__(name: str):
    if name == "linalg":
        return _importlib.import_module("xcore.lax.linalg")
    if name in _SPECIAL:
        return getattr(_importlib.import_module("xcore.special"), _SPECIAL[name])
    raise AttributeError(f"module 'xcore.lax' has no attribute {name!r}")
