"""Names of ``jax.lax`` that xcore has no use for itself: ragged products, kernels for each place, shapes, bits."""

from __future__ import annotations

import enum
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from xcore import lax, random

DotDimensionNumbers = tuple[
    tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]
]
ConvGeneralDilatedDimensionNumbers = tuple[str, str, str] | lax.ConvDimensionNumbers | None
PrecisionLike = Any


class RandomAlgorithm(enum.IntEnum):
    """How bits are drawn; here all of them by the generator of the key's words."""

    RNG_DEFAULT, RNG_THREE_FRY, RNG_PHILOX = range(3)


@dataclass(frozen=True)
class DotAlgorithm:
    """How products of matrices are formed; here as exactly as there is a way to."""

    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False
    name: ClassVar[str] = "highest"


DotAlgorithmPreset = enum.Enum(
    "DotAlgorithmPreset",
    "DEFAULT ANY_F8_ANY_F8_F32 ANY_F8_ANY_F8_F32_FAST_ACCUM ANY_F8_ANY_F8_ANY ANY_F8_ANY_F8_ANY_FAST_ACCUM "
    "F16_F16_F16 F16_F16_F32 BF16_BF16_BF16 BF16_BF16_F32 BF16_BF16_F32_X3 BF16_BF16_F32_X6 BF16_BF16_F32_X9 "
    "TF32_TF32_F32 TF32_TF32_F32_X3 F32_F32_F32 F64_F64_F64",
)


# Ragged products


class RaggedDotDimensionNumbers:
    """Which axes a ragged product contracts, and which one is cut into groups."""

    def __init__(self, dot_dimension_numbers, lhs_ragged_dimensions, rhs_group_dimensions):
        (lc, rc), (lb, rb) = dot_dimension_numbers
        self.dot_dimension_numbers = (tuple(lc), tuple(rc)), (tuple(lb), tuple(rb))
        self.lhs_ragged_dimensions = tuple(lhs_ragged_dimensions)
        self.rhs_group_dimensions = tuple(rhs_group_dimensions)


def ragged_dot(lhs, rhs, group_sizes, precision=None, preferred_element_type=None, group_offset=None,
               out_sharding=None):  # fmt: skip
    """Rows of (m, k), cut into groups, each times the matrix of its group of (g, k, n); zeros behind the last."""
    numbers = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
    return ragged_dot_general(
        lhs, rhs, group_sizes, numbers, precision, preferred_element_type, group_offset
    )


def ragged_dot_general(lhs, rhs, group_sizes, ragged_dot_dimension_numbers, precision=None,
                       preferred_element_type=None, group_offset=None, out_sharding=None):  # fmt: skip
    """A ragged product; the axis in groups is free, contracted (then groups come first), or a batch axis."""
    if group_offset is not None:
        raise NotImplementedError("xcore.as_jax: ragged products have no group_offset here.")
    lhs, rhs, sizes = map(xnp.asarray, (lhs, rhs, group_sizes))
    numbers = ragged_dot_dimension_numbers
    (lc, rc), (lb, rb) = numbers.dot_dimension_numbers
    if len(numbers.lhs_ragged_dimensions) != 1:
        raise TypeError("xcore.as_jax: a ragged product has one ragged axis of lhs.")
    (ragged,) = numbers.lhs_ragged_dimensions
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    if ragged in lb:
        return lax.dot_general(lhs, rhs, numbers.dot_dimension_numbers, **options)
    masked = _groups(lhs, sizes, ragged, lb)  # with the groups as the last axis
    last = lhs.ndim
    if ragged in lc:
        out = lax.dot_general(masked, rhs, numbers.dot_dimension_numbers, **options)
        return xnp.moveaxis(out, len(lb) + last - len(lc) - len(lb), 0)
    (group,) = numbers.rhs_group_dimensions
    return lax.dot_general(masked, rhs, (((*lc, last), (*rc, group)), (lb, rb)), **options)


def _groups(lhs, sizes, ragged: int, batch):
    """The array once for each group, zero outside of it."""
    ends = xnp.cumsum(sizes, -1)
    place = xnp.arange(lhs.shape[ragged])[:, None]
    inside = (place >= (ends - sizes)[..., None, :]) & (place < ends[..., None, :])
    axes = [*batch, ragged] if sizes.ndim > 1 else [ragged]
    if sizes.ndim != len(axes):
        raise TypeError(
            f"xcore.as_jax: group_sizes must have the batch axes of lhs and one for groups, given {sizes.shape}."
        )
    order = np.argsort(axes)
    shape = [n if i in axes else 1 for i, n in enumerate(lhs.shape)]
    inside = xnp.transpose(inside, (*order, len(axes))).reshape(*shape, sizes.shape[-1])
    return xnp.where(inside, lhs[..., None], 0)


# Convolutions


def conv_general_dilated_local(lhs, rhs, window_strides, padding, filter_shape, lhs_dilation=None,
                               rhs_dilation=None, dimension_numbers=None, precision=None):  # fmt: skip
    """A convolution whose kernel is another one at each place: axes (out, in · window, *places) of ``rhs``."""
    lhs, rhs = xnp.asarray(lhs), xnp.asarray(rhs)
    numbers = lax.conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    canonical = lax.conv_dimension_numbers(lhs.shape, rhs.shape, None)
    seen = lax.conv_general_dilated_patches(
        xnp.transpose(lhs, numbers.lhs_spec), filter_shape, window_strides, padding, lhs_dilation,
        rhs_dilation, canonical, precision,
    )  # fmt: skip
    kernels = xnp.transpose(rhs, numbers.rhs_spec)
    space = tuple(range(2, lhs.ndim))
    out = lax.dot_general(kernels, seen, (((1,), (1,)), (space, space)), precision=precision)
    n = lhs.ndim - 2
    out = xnp.moveaxis(out, (n + 1, n), (0, 1))
    return xnp.transpose(out, np.argsort(numbers.out_spec).tolist())


def _shape(f, *shapes, **options) -> tuple:
    structs = [xc.ShapeDtypeStruct(s, np.float32) for s in shapes]
    return xc.eval_shape(functools.partial(f, **options), *structs).shape


def conv_general_shape_tuple(lhs_shape, rhs_shape, window_strides, padding, dimension_numbers):
    return _shape(
        lax.conv_general_dilated, lhs_shape, rhs_shape, window_strides=window_strides, padding=padding,
        dimension_numbers=dimension_numbers,
    )  # fmt: skip


def conv_shape_tuple(lhs_shape, rhs_shape, strides, pads, batch_group_count=1):
    return _shape(
        lax.conv_general_dilated, lhs_shape, rhs_shape, window_strides=strides, padding=pads,
        batch_group_count=batch_group_count,
    )  # fmt: skip


def conv_transpose_shape_tuple(lhs_shape, rhs_shape, window_strides, padding, dimension_numbers):
    return _shape(
        lax.conv_transpose, lhs_shape, rhs_shape, strides=window_strides, padding=padding,
        dimension_numbers=dimension_numbers,
    )  # fmt: skip


def reduce_window_shape_tuple(operand_shape, window_dimensions, window_strides, padding,
                              base_dilation=None, window_dilation=None):  # fmt: skip
    def f(x):
        return lax.reduce_window(
            x,
            0.0,
            lax.add,
            window_dimensions,
            window_strides,
            padding,
            base_dilation,
            window_dilation,
        )

    return _shape(f, operand_shape)


def conv_general_permutations(dimension_numbers):
    """Orders of axes of operand, kernel and result: (N, C, *space), (O, I, *space), (N, C, *space)."""
    return tuple(
        lax.conv_dimension_numbers((0,) * len(dimension_numbers[0]), (), dimension_numbers)
    )


# Bits


def rng_bit_generator(key, shape, dtype=np.uint32, algorithm=RandomAlgorithm.RNG_DEFAULT, *,
                      out_sharding=None):  # fmt: skip
    """A new state and bits of four words of state; bits are xcore's, other ones than XLA's."""
    key = xnp.asarray(key)
    if key.shape != (4,) or key.dtype != np.uint32:
        raise TypeError(
            f"xcore.as_jax: rng_bit_generator takes a state of uint32[4], given {key.dtype}{list(key.shape)}."
        )
    mine = random.wrap_key_data(key[:2], impl="threefry2x32")
    mine = random.fold_in(random.fold_in(mine, key[2]), key[3])
    count = math.prod(shape) * max(np.dtype(dtype).itemsize // 4, 1)
    moved = key.at[3].add(np.uint32(count))
    moved = moved.at[2].add((moved[3] < key[3]).astype(np.uint32))
    return moved, random.bits(mine, tuple(shape), dtype)


_drawn = iter(range(2**32))


def rng_uniform(a, b, shape):
    """Numbers that differ at each call."""
    dtype = xnp.result_type(a, b)
    u = random.uniform(random.key(next(_drawn)), tuple(shape), np.float32)
    return (xnp.asarray(a) + u * (xnp.asarray(b) - xnp.asarray(a))).astype(dtype)


# Others


def broadcast_like(arr, like_arr):
    return xnp.broadcast_to(arr, xnp.shape(like_arr))


def composite(decomposition, name: str, version: int = 0):
    """The function itself, compiled as one call of its name."""

    return functools.wraps(decomposition)(xc.named_call(decomposition, name=name))


def approx_max_k(operand, k, reduction_dimension=-1, recall_target=0.95,
                 reduction_input_size_override=-1, aggregate_to_topk=True):  # fmt: skip
    """All of the k largest elements: what is asked for and more."""
    return lax.approx_max_k(operand, k, reduction_dimension)


def approx_min_k(operand, k, reduction_dimension=-1, recall_target=0.95,
                 reduction_input_size_override=-1, aggregate_to_topk=True):  # fmt: skip
    return lax.approx_min_k(operand, k, reduction_dimension)


def shape_as_value(shape):
    return xnp.asarray(shape, np.int32)


def create_token(_=None):
    """Order among what acts is kept without tokens; this stands for one."""
    return xnp.zeros((), np.bool_)


def after_all(*operands):
    return create_token()


def dce_sink(val, *, prevent_mlir_dce: bool = False) -> None:
    """Values that are not used may go."""


def scaled_dot(lhs, rhs, *, lhs_scale=None, rhs_scale=None, dimension_numbers=None,
               preferred_element_type=None):  # fmt: skip
    """A product of arrays in blocks that have a scale each along the contracted axis."""

    def scaled(x, scale):
        if scale is None:
            return xnp.asarray(x).astype(np.float32)
        x, scale = xnp.asarray(x).astype(np.float32), xnp.asarray(scale).astype(np.float32)
        for axis, (n, m) in enumerate(zip(x.shape, scale.shape, strict=True)):
            scale = xnp.repeat(scale, n // m, axis) if n != m else scale
        return x * scale

    numbers = dimension_numbers or (((xnp.ndim(lhs) - 1,), (xnp.ndim(rhs) - 2,)), ((), ()))
    dtype = preferred_element_type or np.float32
    return lax.dot_general(scaled(lhs, lhs_scale), scaled(rhs, rhs_scale), numbers).astype(dtype)


# Collectives


def ragged_all_to_all(operand, output, input_offsets, send_sizes, output_offsets, recv_sizes, *,
                      axis_name, axis_index_groups=None):  # fmt: skip
    """Rows that each device sends to each other one: ``send_sizes[i]`` of them from ``input_offsets[i]`` to device i,
    where they stand from ``output_offsets[i]`` on; the other rows of ``output`` stay.

    All devices see all rows on the way, for the compilers of CPUs have no such exchange.
    """
    if axis_index_groups is not None:
        raise NotImplementedError("xcore.as_jax: ragged_all_to_all has no axis_index_groups here.")
    sent = (operand, input_offsets, send_sizes, output_offsets)
    rows, starts, sizes, places = [lax.all_gather(x, axis_name) for x in sent]
    me, at = lax.axis_index(axis_name), xnp.arange(output.shape[0])

    def take(out, of):
        rows, start, size, place = of
        k = at - place[me]
        taken = rows[xnp.clip(k + start[me], 0, rows.shape[0] - 1)]
        mine = ((k >= 0) & (k < size[me])).reshape(-1, *[1] * (out.ndim - 1))
        return xnp.where(mine, taken, out), None

    return lax.scan(take, xnp.asarray(output), (rows, starts, sizes, places))[0]


def smap(f=None, /, *, in_axes, out_axes, axis_name):
    """``shard_map`` over one axis of the mesh that is set: arguments are cut along ``in_axes``, results joined."""
    if f is None:
        return functools.partial(smap, in_axes=in_axes, out_axes=out_axes, axis_name=axis_name)

    def spec(axis):
        return xc.P() if axis is None else xc.P(*[None] * axis, axis_name)

    specs = [xc.tree.map(spec, a, is_leaf=lambda x: x is None) for a in (in_axes, out_axes)]
    return xc.shard_map(f, in_specs=specs[0], out_specs=specs[1], axis_names={axis_name})
