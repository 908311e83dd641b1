"""Products of numbers of few bits that share a scale in blocks (the OCP's MX formats, and NVFP4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import numpy as xnp
from .._control import custom_jvp
from .._core import dtypes, errors, one_of, typeof
from ..numpy._lax import dot_general
from ..numpy._promote import as_array, one_axis


@dataclass(frozen=True)
class BlockScaleConfig:
    """How numbers are rounded: so many to a block, their dtype, and that of the scale they share."""

    mode: str
    block_size: int
    data_type: Any
    scale_type: Any
    global_scale: Any = None


_FORMATS = {
    "mxfp8": (32, dtypes.float8_e4m3fn, dtypes.float8_e8m0fnu),
    "nvfp4": (16, dtypes.float4_e2m1fn, dtypes.float8_e4m3fn),
}


def get_scaled_dot_general_config(mode, global_scale=None):
    """How ``scaled_dot_general`` rounds one of its operands.

    Args:
      mode: "mxfp8": 32 numbers of 8 bits share a power of two; "nvfp4": 16 numbers of 4 bits share a
        scale of 8 bits.
      global_scale: of "nvfp4": a factor of all scales, a number; 1 by default.

    >>> import xcore as xc
    >>> xc.nn.get_scaled_dot_general_config("mxfp8").block_size
    32
    """
    who = "nn.get_scaled_dot_general_config"
    one_of(who, "mode", mode, _FORMATS, f"one of {[*_FORMATS]}")
    if mode == "nvfp4":
        scale = as_array(who, 1.0 if global_scale is None else global_scale, "global_scale")
        return BlockScaleConfig(mode, *_FORMATS[mode], xnp.reshape(scale.astype("float32"), ()))
    if global_scale is not None:
        raise errors.bad_argument(who, "global_scale", global_scale, "None where mode is 'mxfp8'")
    return BlockScaleConfig(mode, *_FORMATS[mode])


def scaled_matmul(lhs, rhs, lhs_scales, rhs_scales, preferred_element_type="float32"):
    """Products of matrices whose rows have a scale for each block: ``(lhs ∘ S) (rhs ∘ T)ᵀ``.

    Args:
      lhs, rhs: arrays of shapes (batch, m, k) and (batch, n, k).
      lhs_scales, rhs_scales: arrays of shapes (batch, m, j) and (batch, n, j'): j and j' divide k, and
        each scale is that of this many neighbours in a row.
      preferred_element_type: the dtype of the result; sums are formed in float32.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> x, half = xnp.asarray([[[1, 2, 3]]]), xnp.asarray([[[0.5]]])
    >>> xc.nn.scaled_matmul(x, x, half, half)
    Array([[[3.5]]], dtype=float32)
    """
    who = "nn.scaled_matmul"
    a, b = _with_scales(who, lhs, lhs_scales, "lhs"), _with_scales(who, rhs, rhs_scales, "rhs")
    if typeof(a).shape[0] != typeof(b).shape[0] or typeof(a).shape[2] != typeof(b).shape[2]:
        raise errors.shape_mismatch(who, "need equal first axes, and equal last ones", lhs=a, rhs=b)
    return xnp.einsum("bmk,bnk->bmn", a, b).astype(preferred_element_type)


def _with_scales(who: str, x, scales, name: str):
    """A matrix times its scales, in float32."""
    x, scales = as_array(who, x, name), as_array(who, scales, f"{name}_scales")
    shape, given = typeof(x).shape, typeof(scales).shape
    fits = len(shape) == 3 and len(given) == 3 and given[:2] == shape[:2]
    if not fits or given[2] == 0 or shape[2] % given[2]:
        wanted = (
            "of three axes, the first two as the operand has them, the last a divisor of its last"
        )
        raise errors.bad_argument(who, f"{name}_scales", scales, f"{wanted} (here {shape})")
    return _spread(x, scales)


def _spread(x, scales):
    blocks = x.astype("float32").reshape(*scales.shape, x.shape[-1] // scales.shape[-1])
    return (blocks * scales.astype("float32")[..., None]).reshape(x.shape)


def scaled_dot_general(lhs, rhs, dimension_numbers, preferred_element_type="float32", configs=None,
                       implementation=None):  # fmt: skip
    """``lax.dot_general`` of operands that are first rounded to few bits, with scales for blocks.

    Derivatives are those of the product without the rounding.

    Args:
      lhs, rhs: arrays.
      dimension_numbers: ``((lhs summed, rhs summed), (lhs batch, rhs batch))``.
      preferred_element_type: the dtype of the result.
      configs: how ``lhs`` and ``rhs`` are rounded, from ``get_scaled_dot_general_config``; what stands
        behind them is not used. None rounds nothing.
      implementation: accepted for compatibility.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> x, mx = xnp.ones((2, 32)), xc.nn.get_scaled_dot_general_config("mxfp8")
    >>> xc.nn.scaled_dot_general(x, x, (((1,), (1,)), ((), ())), configs=[mx, mx])
    Array([[32., 32.],
           [32., 32.]], dtype=float32)
    """
    who = "nn.scaled_dot_general"
    lhs, rhs = as_array(who, lhs, "lhs"), as_array(who, rhs, "rhs")
    if configs is None:
        return dot_general(lhs, rhs, dimension_numbers, None, preferred_element_type)
    if len(configs) < 2 or not all(isinstance(c, BlockScaleConfig) for c in configs[:2]):
        wanted = "a list with one from nn.get_scaled_dot_general_config for each operand"
        raise errors.bad_argument(who, "configs", configs, wanted)

    def exact(a, b):
        return dot_general(a, b, dimension_numbers, None, preferred_element_type)

    @custom_jvp
    def product(a, b):
        of_a, of_b = dimension_numbers[0]
        a, b = (
            _quantized(who, "lhs", a, of_a, configs[0]),
            _quantized(who, "rhs", b, of_b, configs[1]),
        )
        return exact(a, b)

    @product.defjvp
    def _(primals, tangents):
        (a, b), (da, db) = primals, tangents
        return product(a, b), exact(da, b) + exact(a, db)

    return product(lhs, rhs)


def _quantized(who: str, name: str, x, summed, config):
    """An array rounded in blocks along the axes that are summed, and scaled back to float32."""
    ndim = typeof(x).ndim
    last = [one_axis(who, a, ndim) for a in summed]
    perm = [a for a in range(ndim) if a not in last] + last
    rows = xnp.transpose(x, perm).astype("float32")
    shape, k = rows.shape, 1
    for n in shape[ndim - len(last) :]:
        k *= n
    if k == 0 or k % config.block_size:
        wanted = f"of a multiple of {config.block_size} elements along the axes that are summed"
        raise errors.bad_argument(who, name, x, f"{wanted} ({k} here)")
    blocks = rows.reshape(-1, k // config.block_size, config.block_size)
    scales = _scales(xnp.max(xnp.abs(blocks), -1, keepdims=True), config)
    top = float(dtypes.finfo(config.data_type).max)
    digits = xnp.clip(blocks / xnp.where(scales == 0, 1, scales), -top, top)
    back = digits.astype(config.data_type).astype("float32") * scales
    return xnp.transpose(back.reshape(shape), [perm.index(a) for a in range(ndim)])


def _scales(largest, config):
    """For each block the scale under which its largest number fits, as the format can write it."""
    wanted = largest / float(dtypes.finfo(config.data_type).max)
    if config.global_scale is not None:
        top = float(dtypes.finfo(config.scale_type).max)
        kept = xnp.clip(wanted / config.global_scale, -top, top).astype(config.scale_type)
        return kept.astype("float32") * config.global_scale
    fraction, exponent = xnp.frexp(wanted)  # the next power of two
    power = xnp.clip(exponent - (fraction == 0.5), -126, 127)
    return xnp.ldexp(xnp.ones_like(wanted), power)
