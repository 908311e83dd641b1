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

# ruff: noqa: I001 (names stand in lines, not one on each)

# fmt: off
import importlib as _importlib
import typing as _typing

from .._control.checkpoint import optimization_barrier
from .._control.collectives import (
    all_gather, all_to_all, axis_index, axis_size, pargmax, pargmin, pbroadcast, pcast, pmax,
    pmean, pmin, ppermute, pshuffle, psum, psum_scatter, pswapaxes, pvary,
)
from .._control.cond import cond, platform_dependent, switch
from .._core.package import guide as _guide
from .._control.closures import stop_gradient
from .._control.implicit import custom_linear_solve, custom_root
from .._control.loops import associative_scan, fori_loop, map, scan
from .._control.sharding import with_sharding_constraint
from .._control.while_loop import while_loop
from ..numpy import broadcast_shapes
from ..numpy._lax import (
    FftType, argmax, argmin, batch_matmul, bitcast_convert_type, convert_element_type,
    cumlogsumexp, cummax, cummin, cumprod, cumsum, dot, dot_general, fft, reduce_and,
    reduce_max, reduce_min, reduce_or, reduce_precision, reduce_prod, reduce_sum, reduce_xor,
    select, select_n, sort, sort_key_val, top_k,
)
from ..numpy._lax_elementwise import (
    AccuracyMode, RoundingMethod, abs, acos, acosh, add, asin, asinh, atan, atan2, atanh,
    bitwise_and, bitwise_not, bitwise_or, bitwise_xor, cbrt, ceil, clamp, clz, complex, conj,
    cos, cosh, digamma, div, eq, erf, erf_inv, erfc, exp, exp2, expm1, floor, ge, gt, imag,
    integer_pow, is_finite, le, lgamma, log, log1p, logistic, lt, max, min, mul, ne, neg,
    nextafter, polygamma, population_count, pow, real, reciprocal, rem, round, rsqrt,
    shift_left, shift_right_arithmetic, shift_right_logical, sign, sin, sinh, sqrt, square, sub,
    tan, tanh, zeta,
)
from ..numpy._lax_scatter import (
    GatherDimensionNumbers, GatherScatterMode, ScatterDimensionNumbers, approx_max_k,
    approx_min_k, broadcast_to_rank, collapse, dtype, empty, gather, index_take, mulhi,
    scatter, scatter_add, scatter_apply, scatter_max, scatter_min, scatter_mul, scatter_sub,
    split,
)
from ..numpy._lax_shapes import (
    broadcast, broadcast_in_dim, broadcasted_iota, concatenate, expand_dims, full, full_like,
    iota, pad, reshape, rev, squeeze, stack, tile, transpose, unstack,
)
from ..numpy._lax_slices import (
    dynamic_index_in_dim, dynamic_slice, dynamic_slice_in_dim, dynamic_update_index_in_dim,
    dynamic_update_slice, dynamic_update_slice_in_dim, index_in_dim, slice, slice_in_dim,
)
from ..numpy._lax_windows import (
    ConvDimensionNumbers, Precision, conv, conv_dimension_numbers, conv_general_dilated,
    conv_general_dilated_patches, conv_transpose, conv_with_general_padding, padtype_to_pads,
    reduce, reduce_window,
)
# fmt: on

if _typing.TYPE_CHECKING:  # what is loaded on first use
    from ..special import (
        betainc,
        i0e as bessel_i0e,
        i1e as bessel_i1e,
        gammainc as igamma,
        gammaincc as igammac,
    )
    from . import linalg

# What needs packages that a light import leaves alone.
_SPECIAL = {
    "bessel_i0e": "i0e", "bessel_i1e": "i1e", "betainc": "betainc", "igamma": "gammainc",
    "igammac": "gammaincc",
}  # fmt: skip

__all__ = [
    "AccuracyMode", "ConvDimensionNumbers", "FftType", "GatherDimensionNumbers", "GatherScatterMode",
    "Precision", "RoundingMethod", "ScatterDimensionNumbers", "abs", "acos", "acosh", "add", "all_gather",
    "all_to_all", "approx_max_k", "approx_min_k", "argmax", "argmin", "asin", "asinh", "associative_scan",
    "atan", "atan2", "atanh", "axis_index", "axis_size", "batch_matmul", "bessel_i0e", "bessel_i1e", "betainc",
    "bitcast_convert_type", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "broadcast",
    "broadcast_in_dim", "broadcast_shapes", "broadcast_to_rank", "broadcasted_iota", "cbrt", "ceil", "clamp",
    "clz", "collapse", "complex", "concatenate", "cond", "conj", "conv", "conv_dimension_numbers",
    "conv_general_dilated", "conv_general_dilated_patches", "conv_transpose", "conv_with_general_padding",
    "convert_element_type", "cos", "cosh", "cumlogsumexp", "cummax", "cummin", "cumprod", "cumsum",
    "custom_linear_solve", "custom_root", "digamma", "div", "dot", "dot_general", "dtype",
    "dynamic_index_in_dim", "dynamic_slice", "dynamic_slice_in_dim", "dynamic_update_index_in_dim",
    "dynamic_update_slice", "dynamic_update_slice_in_dim", "empty", "eq", "erf", "erf_inv", "erfc", "exp",
    "exp2", "expand_dims", "expm1", "fft", "floor", "fori_loop", "full", "full_like", "gather", "ge", "gt",
    "igamma", "igammac", "imag", "index_in_dim", "index_take", "integer_pow", "iota", "is_finite", "le",
    "lgamma", "linalg", "log", "log1p", "logistic", "lt", "map", "max", "min", "mul", "mulhi", "ne", "neg",
    "nextafter", "optimization_barrier", "pad", "padtype_to_pads", "pargmax", "pargmin", "pbroadcast", "pcast",
    "platform_dependent", "pmax", "pmean", "pmin", "polygamma", "population_count", "pow", "ppermute",
    "pshuffle", "psum", "psum_scatter", "pswapaxes", "pvary", "real", "reciprocal", "reduce", "reduce_and",
    "reduce_max", "reduce_min", "reduce_or", "reduce_precision", "reduce_prod", "reduce_sum", "reduce_window",
    "reduce_xor", "rem", "reshape", "rev", "round", "rsqrt", "scan", "scatter", "scatter_add", "scatter_apply",
    "scatter_max", "scatter_min", "scatter_mul", "scatter_sub", "select", "select_n", "shift_left",
    "shift_right_arithmetic", "shift_right_logical", "sign", "sin", "sinh", "slice", "slice_in_dim", "sort",
    "sort_key_val", "split", "sqrt", "square", "squeeze", "stack", "stop_gradient", "sub", "switch", "tan",
    "tanh", "tile", "top_k", "transpose", "unstack", "while_loop", "with_sharding_constraint", "zeta",
]  # fmt: skip


def _load(name: str):
    if name == "linalg":
        return _importlib.import_module("xcore.lax.linalg")
    if name in _SPECIAL:
        return getattr(_importlib.import_module("xcore.special"), _SPECIAL[name])
    return None


__getattr__ = _guide(__name__, _load)
