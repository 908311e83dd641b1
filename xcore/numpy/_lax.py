"""The functions of ``xcore.lax`` on arrays: operations with explicit shapes, dtypes and axes.

They take arrays or numbers; Python numbers take the dtype of the arrays they meet, and scalars are
broadcast. Shapes must agree otherwise: that is what tells them from the functions of xcore.numpy.
"""

from __future__ import annotations

import builtins
import enum

from .. import _ops as ops
from .._control.checks import check_starts
from .._core import config, dtypes, errors, findings
from .._core.eval import fused
from .._core.source import boundary
from .._core.types import typeof
from . import _join, _shape
from ._compound import moves
from ._promote import as_array, as_arrays, as_inexact, astype, axes_of, check_shape, one_axis
from ._sanity import check_cast
from ._spread import on_device, spreads


@fused(3)
@moves("on_true", "on_false")
def select(pred, on_true, on_false):
    """``on_true`` where the predicate holds, else ``on_false``; all of one shape."""
    pred = as_array("lax.select", pred)
    return ops.select(pred, *as_arrays("lax.select", on_true, on_false))


@boundary
@moves("cases")
def select_n(which, *cases):
    """``cases[which]``, element by element; ``which`` is boolean or integer."""
    which = as_array("lax.select_n", which)
    if dtypes.kind(typeof(which).dtype) not in ("bool", "int", "uint"):
        raise errors.dtype_not_allowed(
            "lax.select_n", typeof(which).dtype, "bool and integer (which)"
        )
    cases = as_arrays("lax.select_n", *cases)
    if typeof(which).dtype == bool:
        return ops.select(which, cases[-1], cases[0])
    out = cases[-1]
    for k in range(len(cases) - 2, -1, -1):
        out = ops.select(
            ops.eq(which, ops.full_like_type(typeof(which).strong(), k)), cases[k], out
        )
    return out


@fused(1)
def convert_element_type(operand, new_dtype):
    """The array in another dtype."""
    x, dtype = as_array("lax.convert_element_type", operand), dtypes.as_dtype(new_dtype)
    if config.settings().sanitize:
        check_cast("lax.convert_element_type", x, dtype)
    return astype(x, dtype)


@fused(1)
def bitcast_convert_type(operand, new_dtype):
    """The same bits read as another dtype."""
    return ops.bitcast_convert(
        as_array("lax.bitcast_convert_type", operand), dtype=dtypes.as_dtype(new_dtype)
    )


@fused(1)
def reduce_precision(operand, exponent_bits: int, mantissa_bits: int):
    """Rounded to a format of fewer bits, kept in the same dtype."""
    return ops.reduce_precision(
        as_array("lax.reduce_precision", operand),
        exponent_bits=exponent_bits,
        mantissa_bits=mantissa_bits,
    )


# ------------------------------------------------------------------------------ shapes and layout


@fused(1)
@spreads
@moves("operand")
def reshape(operand, new_sizes, dimensions=None, *, out_sharding=None):
    """The same elements in another shape, in row-major order (of ``dimensions`` if given)."""
    x = as_array("lax.reshape", operand)
    x = x if dimensions is None else ops.transpose(x, perm=tuple(dimensions))
    return ops.reshape(x, shape=check_shape("lax.reshape", new_sizes, name="new_sizes"))


@fused(1)
@moves("operand")
def transpose(operand, permutation):
    """Axes in another order."""
    return ops.transpose(as_array("lax.transpose", operand), perm=tuple(permutation))


@fused(1)
@moves("operand")
def rev(operand, dimensions):
    """Reversed along axes."""
    return ops.rev(as_array("lax.rev", operand), axes=tuple(dimensions))


@fused(1)
def stack(operands, axis: int = 0):
    """Arrays of one shape joined along a new axis."""
    return _join.stack(operands, axis)


@fused(1)
def tile(operand, reps):
    """The array several times along its axes."""
    return _shape.tile(operand, reps)


def unstack(x, axis: int = 0):
    """The arrays along an axis, as a tuple."""
    return _join.unstack(x, axis=axis)


@fused(1)
@spreads
@moves("operand")
def broadcast(operand, sizes, *, out_sharding=None):
    """New leading axes of the given sizes."""
    x = as_array("lax.broadcast", operand)
    t, sizes = typeof(x), check_shape("lax.broadcast", sizes)
    return ops.broadcast_in_dim(
        x, shape=(*sizes, *t.shape), dims=tuple(range(len(sizes), len(sizes) + t.ndim))
    )


@fused(1)
@spreads
@moves("operand")
def broadcast_in_dim(operand, shape, broadcast_dimensions, *, out_sharding=None):
    """Axis i of the operand becomes axis ``broadcast_dimensions[i]`` of a larger shape."""
    shape = check_shape("lax.broadcast_in_dim", shape)
    return ops.broadcast_in_dim(
        as_array("lax.broadcast_in_dim", operand), shape=shape, dims=tuple(broadcast_dimensions)
    )


@fused(1)
@moves("array")
def expand_dims(array, dimensions):
    """New axes of length 1 at positions of the result."""
    x = as_array("lax.expand_dims", array)
    t = typeof(x)
    ndim = t.ndim + len(dimensions)
    new = axes_of("lax.expand_dims", tuple(dimensions), ndim)
    sizes = iter(t.shape)
    return ops.reshape(x, shape=tuple(1 if i in new else next(sizes) for i in range(ndim)))


@fused(1)
@moves("array")
def squeeze(array, dimensions):
    """Without the given axes of length 1."""
    x = as_array("lax.squeeze", array)
    t = typeof(x)
    gone = {one_axis("lax.squeeze", d, t.ndim) for d in dimensions}
    return ops.reshape(x, shape=tuple(n for i, n in enumerate(t.shape) if i not in gone))


@fused(1)
@moves("operands")
def concatenate(operands, dimension: int):
    """Arrays joined along an axis."""
    xs = [as_array("lax.concatenate", x) for x in operands]
    if not xs:
        raise errors.bad_argument("lax.concatenate", "operands", operands, "one array or more")
    return ops.concatenate(*xs, axis=one_axis("lax.concatenate", dimension, typeof(xs[0]).ndim))


@fused(2)
def pad(operand, padding_value, padding_config):
    """Padded by (low, high, interior) for each axis; negative low and high cut."""
    x, value = as_array("lax.pad", operand), as_array("lax.pad", padding_value)
    low, high, interior = (
        (tuple(p) for p in zip(*padding_config, strict=True)) if padding_config else ((), (), ())
    )
    return ops.pad(x, astype(value, typeof(x).dtype), low=low, high=high, interior=interior)


@boundary
def full(shape, fill_value, dtype=None, *, sharding=None):
    """An array of one value, on a device or laid out by a sharding if one is given."""
    value = as_array("lax.full", fill_value)
    value = astype(value, dtypes.as_dtype(dtype)) if dtype is not None else value
    out = ops.broadcast_in_dim(value, shape=check_shape("lax.full", shape), dims=())
    return on_device(out, sharding)


@boundary
def full_like(x, fill_value, dtype=None, shape=None, *, sharding=None):
    """An array of one value, in the shape and dtype of another."""
    t = typeof(as_array("lax.full_like", x))
    shape = t.shape if shape is None else shape
    return full(shape, fill_value, dtype or t.dtype, sharding=sharding)


@boundary
def iota(dtype, size: int):
    """0, 1, …, size - 1."""
    return ops.iota(shape=(int(size),), dtype=dtypes.as_dtype(dtype), axis=0)


@boundary
@spreads
def broadcasted_iota(dtype, shape, dimension: int, *, out_sharding=None):
    """At every place its position along one axis."""
    shape = check_shape("lax.broadcasted_iota", shape)
    return ops.iota(shape=shape, dtype=dtypes.as_dtype(dtype), axis=dimension)


# ---------------------------------------------------------------------------------------- slicing


@fused(1)
@moves("operand")
def slice(operand, start_indices, limit_indices, strides=None):
    """Elements start, start + stride, … below limit along each axis."""
    x = as_array("lax.slice", operand)
    strides = tuple(strides) if strides is not None else (1,) * typeof(x).ndim
    return ops.slice(x, start=tuple(start_indices), limit=tuple(limit_indices), strides=strides)


@fused(1)
@moves("operand")
def slice_in_dim(operand, start_index, limit_index, stride: int = 1, axis: int = 0):
    """A slice along one axis."""
    x = as_array("lax.slice_in_dim", operand)
    t = typeof(x)
    axis = one_axis("lax.slice_in_dim", axis, t.ndim)
    a, b, _ = builtins.slice(start_index, limit_index).indices(t.shape[axis])
    low, high, steps = [0] * t.ndim, list(t.shape), [1] * t.ndim
    low[axis], high[axis], steps[axis] = a, max(a, b), stride
    return ops.slice(x, start=tuple(low), limit=tuple(high), strides=tuple(steps))


@fused(1)
@moves("operand")
def index_in_dim(operand, index: int, axis: int = 0, keepdims: bool = True):
    """One position of an axis."""
    n = typeof(as_array("lax.index_in_dim", operand)).shape[axis]
    if not -n <= index < n:
        raise errors.index_out_of_range(index, axis, typeof(operand).shape)
    out = slice_in_dim(operand, index % n, index % n + 1, 1, axis)
    return out if keepdims else squeeze(out, (axis,))


def _starts(who, indices, shape, wrap=True):
    """Start indices as 0-d integers of one dtype; where ``wrap``, negative ones count from the end."""
    if hasattr(indices, "ndim") and indices.ndim == 1:
        indices = [indices[i] for i in range(indices.shape[0])]
    values = [as_array(who, i) for i in indices]
    wide = any(typeof(v).dtype.itemsize == 8 and not typeof(v).weak for v in values)
    dtype = dtypes.int64 if wide else dtypes.int32
    values = [astype(v, dtype) for v in values]
    wraps = list(wrap) if isinstance(wrap, (tuple, list)) else [wrap] * len(values)
    return [_from_end(v, n) if w else v for v, n, w in zip(values, shape, wraps, strict=True)]


def _checked(starts, shape, sizes):
    """The starts, with a check that the window fits where positions are checked."""
    if findings.checks_positions():
        check_starts(starts, shape, sizes)
    return starts


def _from_end(v, n: int):
    t = typeof(v).strong()
    return ops.select(ops.lt(v, ops.zeros(t)), ops.add(v, ops.full_like_type(t, n)), v)


@fused(2)
@moves("operand")
def dynamic_slice(operand, start_indices, slice_sizes, *, allow_negative_indices=True):
    """A window of fixed size at a place known at run time, moved inside if it does not fit.

    Negative starts count from the end, where ``allow_negative_indices`` (a bool, or one per axis).

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.dynamic_slice(xnp.arange(5), (3,), (2,))
    Array([3, 4], dtype=int32)
    """
    x = as_array("lax.dynamic_slice", operand)
    starts = _starts("lax.dynamic_slice", start_indices, typeof(x).shape, allow_negative_indices)
    sizes = check_shape("lax.dynamic_slice", slice_sizes)
    return ops.dynamic_slice(x, *_checked(starts, typeof(x).shape, sizes), sizes=sizes)


@fused(3)
@moves("operand", "update")
def dynamic_update_slice(operand, update, start_indices, *, allow_negative_indices=True):
    """The array with a window replaced, at a place known at run time.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.dynamic_update_slice(xnp.zeros(4), xnp.ones(2), (1,))
    Array([0., 1., 1., 0.], dtype=float32)
    """
    x = as_array("lax.dynamic_update_slice", operand)
    update = astype(as_array("lax.dynamic_update_slice", update), typeof(x).dtype)
    shape = typeof(x).shape
    starts = _starts("lax.dynamic_update_slice", start_indices, shape, allow_negative_indices)
    return ops.dynamic_update_slice(x, update, *_checked(starts, shape, typeof(update).shape))


@fused(2)
@moves("operand")
def dynamic_slice_in_dim(
    operand, start_index, slice_size: int, axis: int = 0, *, allow_negative_indices=True
):
    """``dynamic_slice`` along one axis."""
    t = typeof(as_array("lax.dynamic_slice_in_dim", operand))
    axis = one_axis("lax.dynamic_slice_in_dim", axis, t.ndim)
    starts = [start_index if i == axis else 0 for i in range(t.ndim)]
    return dynamic_slice(
        operand, starts, tuple(slice_size if i == axis else n for i, n in enumerate(t.shape)),
        allow_negative_indices=allow_negative_indices,
    )  # fmt: skip


@fused(2)
@moves("operand")
def dynamic_index_in_dim(
    operand, index, axis: int = 0, keepdims: bool = True, *, allow_negative_indices=True
):
    """One position of an axis, known at run time."""
    out = dynamic_slice_in_dim(
        operand, index, 1, axis, allow_negative_indices=allow_negative_indices
    )
    return out if keepdims else squeeze(out, (axis,))


@fused(3)
@moves("operand", "update")
def dynamic_update_slice_in_dim(
    operand, update, start_index, axis: int, *, allow_negative_indices=True
):
    """``dynamic_update_slice`` along one axis."""
    t = typeof(as_array("lax.dynamic_update_slice_in_dim", operand))
    axis = one_axis("lax.dynamic_update_slice_in_dim", axis, t.ndim)
    return dynamic_update_slice(
        operand, update, [start_index if i == axis else 0 for i in range(t.ndim)],
        allow_negative_indices=allow_negative_indices,
    )  # fmt: skip


@fused(3)
@moves("operand", "update")
def dynamic_update_index_in_dim(operand, update, index, axis: int, *, allow_negative_indices=True):
    """The array with one position of an axis replaced."""
    x, u = as_array("lax.update", operand), as_array("lax.update", update)
    axis = one_axis("lax.dynamic_update_index_in_dim", axis, typeof(x).ndim)
    u = u if typeof(u).ndim == typeof(x).ndim else expand_dims(u, (axis,))
    return dynamic_update_slice_in_dim(
        x, u, index, axis, allow_negative_indices=allow_negative_indices
    )


# ---------------------------------------------------------------------- products and convolutions


@fused(2)
@spreads
def dot_general(lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None, *,
                out_sharding=None):  # fmt: skip
    """A product that sums over some pairs of axes and runs along others.

    Args:
      dimension_numbers: ``((lhs summed, rhs summed), (lhs batch, rhs batch))``.
      precision: "default", "high" or "highest"; the default here is full precision.
      preferred_element_type: dtype of the result.
    """
    x, y = as_array("lax.dot_general", lhs), as_array("lax.dot_general", rhs)
    dtype, _ = dtypes.promote((typeof(x).dtype, typeof(x).weak), (typeof(y).dtype, typeof(y).weak))
    x, y = astype(x, dtype), astype(y, dtype)
    contract, batch = (tuple(tuple(axes) for axes in pair) for pair in dimension_numbers)
    out = None if preferred_element_type is None else dtypes.as_dtype(preferred_element_type)
    return ops.dot_general(
        x, y, contract=contract, batch=batch, precision=ops.precision_name(precision), out=out
    )


@fused(2)
@spreads
def dot(lhs, rhs, precision=None, preferred_element_type=None, *, dimension_numbers=None,
        out_sharding=None):  # fmt: skip
    """The product of vectors and matrices, or with ``dimension_numbers`` that of ``dot_general``."""
    if dimension_numbers is not None:
        return dot_general(lhs, rhs, dimension_numbers, precision, preferred_element_type)
    a, b = typeof(as_array("lax.dot", lhs)).ndim, typeof(as_array("lax.dot", rhs)).ndim
    if not (1 <= a <= 2 and 1 <= b <= 2):
        raise errors.ShapeError(
            f"xcore.lax.dot: takes vectors and matrices, given {a} and {b} dimensions."
        )
    return dot_general(lhs, rhs, (((a - 1,), (0,)), ((), ())), precision, preferred_element_type)


@fused(2)
def batch_matmul(lhs, rhs, precision=None):
    """Matrix products along leading axes."""
    n = typeof(as_array("lax.batch_matmul", lhs)).ndim
    lead = tuple(range(n - 2))
    return dot_general(lhs, rhs, (((n - 1,), (n - 2,)), (lead, lead)), precision)


@boundary
def sort(operand, dimension: int = -1, is_stable: bool = True, num_keys: int = 1):
    """Sorted along an axis; several arrays are sorted together by the first ``num_keys``."""
    many = isinstance(operand, (tuple, list))
    xs = [as_array("lax.sort", x) for x in (operand if many else [operand])]
    axis = one_axis("lax.sort", dimension, typeof(xs[0]).ndim)
    outs = ops.sort(*xs, axis=axis, num_keys=num_keys, stable=is_stable)
    return tuple(outs) if many else outs[0]


def sort_key_val(keys, values, dimension: int = -1, is_stable: bool = True):
    """Keys sorted along an axis, and values in the same order."""
    return sort((keys, values), dimension, is_stable, 1)


@boundary
def top_k(operand, k: int, *, axis: int = -1):
    """The k largest elements along an axis, in descending order, and their positions."""
    x = as_array("lax.top_k", operand)
    axis = one_axis("lax.top_k", axis, typeof(x).ndim)
    last = typeof(x).ndim - 1
    outs = ops.top_k(ops.move_axis(x, axis, last), k=int(k))
    return tuple(ops.move_axis(y, last, axis) for y in outs)


def _reducer(name, op, doc):
    def f(operand, axes):
        return op(as_array(f"lax.{name}", operand), axes=tuple(sorted(axes)))

    f.__name__ = f.__qualname__ = name
    f.__module__, f.__doc__ = "xcore.lax", doc
    return fused(1)(f)


reduce_sum = _reducer("reduce_sum", ops.reduce_sum, "The sum over axes.")
reduce_prod = _reducer("reduce_prod", ops.reduce_prod, "The product over axes.")
reduce_max = _reducer("reduce_max", ops.reduce_max, "The largest over axes.")
reduce_min = _reducer("reduce_min", ops.reduce_min, "The smallest over axes.")
reduce_and = _reducer("reduce_and", ops.reduce_and, "Whether all are true, over axes.")
reduce_or = _reducer("reduce_or", ops.reduce_or, "Whether any is true, over axes.")
reduce_xor = _reducer("reduce_xor", ops.reduce_xor, "Exclusive or over axes.")


def _cumulative(name, op, doc):
    def f(operand, axis: int = 0, reverse: bool = False):
        x = as_array(f"lax.{name}", operand)
        return op(x, axis=one_axis(f"lax.{name}", axis, typeof(x).ndim), reverse=bool(reverse))

    f.__name__ = f.__qualname__ = name
    f.__module__, f.__doc__ = "xcore.lax", doc + " along an axis (from its end if ``reverse``)."
    return fused(1)(f)


cumsum = _cumulative("cumsum", ops.cumsum, "Running sums")
cumprod = _cumulative("cumprod", ops.cumprod, "Running products")
cummax = _cumulative("cummax", ops.cummax, "Running maxima")
cummin = _cumulative("cummin", ops.cummin, "Running minima")
cumlogsumexp = _cumulative(
    "cumlogsumexp", ops.cumlogsumexp, "Running logarithms of sums of exponentials"
)


def _position(name, op, which):
    def f(operand, axis: int, index_dtype):
        x, dtype = as_array(f"lax.{name}", operand), dtypes.as_dtype(index_dtype)
        if not dtypes.is_integer(dtype):
            raise errors.dtype_not_allowed(f"lax.{name}", dtype, "integer (index_dtype)")
        return op(x, axis=one_axis(f"lax.{name}", axis, typeof(x).ndim), dtype=dtype)

    f.__name__ = f.__qualname__ = name
    f.__module__, f.__doc__ = "xcore.lax", f"Position of the first {which} element along an axis."
    return fused(1)(f)


argmax = _position("argmax", ops.argmax, "largest")
argmin = _position("argmin", ops.argmin, "smallest")


class FftType(enum.IntEnum):
    """Which transform ``lax.fft`` is."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


@fused(1)
def fft(x, fft_type, fft_lengths):
    """The discrete Fourier transform over the last axes: "FFT", "IFFT", "RFFT" or "IRFFT"."""
    kind = str(getattr(fft_type, "name", fft_type)).upper()
    if kind not in FftType.__members__:
        raise errors.bad_argument(
            "lax.fft", "fft_type", fft_type, f"one of {[*FftType.__members__]}"
        )
    x = as_inexact("lax.fft", x)
    x = x if kind == "RFFT" else astype(x, dtypes.to_complex(typeof(x).dtype))
    return ops.fft(x, kind=kind, lengths=tuple(fft_lengths))
