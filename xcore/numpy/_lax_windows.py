"""``xcore.lax``: convolutions, sliding windows, and reductions by a function of one's own."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .. import _ops as ops
from .._control import vmap
from .._control.carry import called
from .._core import boundary, dtypes, errors, fused, tree, typeof
from . import _lax_elementwise as elementwise
from ._promote import (
    SCALARS,
    as_array,
    astype,
    check_alike,
    checked_scalar,
    one_axis,
    refuse_complex,
    whole_numbers,
)

# convolutions


class ConvDimensionNumbers(NamedTuple):
    """Which axes of operand, kernel and result mean what: (batch, feature, *space) positions.

    >>> import xcore as xc
    >>> xc.lax.conv_dimension_numbers((1, 3, 8, 8), (4, 3, 3, 3), ("NCHW", "OIHW", "NCHW"))
    ConvDimensionNumbers(lhs_spec=(0, 1, 2, 3), rhs_spec=(0, 1, 2, 3), out_spec=(0, 1, 2, 3))
    """

    lhs_spec: tuple
    rhs_spec: tuple
    out_spec: tuple


def conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers) -> ConvDimensionNumbers:
    """Layouts by letters, such as ("NHWC", "HWIO", "NHWC"), as positions of axes.

    Args:
      lhs_shape, rhs_shape: of operand and kernel; only their lengths matter.
      dimension_numbers: three layouts, or None for ("NCHW", "OIHW", "NCHW").

    >>> from xcore import lax
    >>> lax.conv_dimension_numbers((1, 8, 8, 3), (3, 3, 3, 4), ("NHWC", "HWIO", "NHWC")).rhs_spec
    (3, 2, 0, 1)
    """
    return ConvDimensionNumbers(*_layouts(dimension_numbers, len(lhs_shape)))


def _positions_of(letters: str, kind: str) -> tuple:
    """(batch or out feature, feature, *space) positions of a layout such as "NHWC"."""
    first, second = {"lhs": "NC", "rhs": "OI", "out": "NC"}[kind]
    if letters.count(first) != 1 or letters.count(second) != 1 or len(set(letters)) < len(letters):
        needed = f"different letters, {first!r} and {second!r} among them"
        raise errors.bad_argument("lax.conv", f"dimension_numbers ({kind})", letters, needed)
    space = [c for c in letters if c not in (first, second)]
    return letters.index(first), letters.index(second), space


def _layouts(numbers, ndim: int):
    """Axis orders of operand, kernel and result: each (batch, feature, *space) positions."""
    default = (
        "NC" + "012345"[: ndim - 2],
        "OI" + "012345"[: ndim - 2],
        "NC" + "012345"[: ndim - 2],
    )
    if numbers is None:
        numbers = default
    if len(numbers) != 3:
        raise _no_layouts(numbers, ndim)
    if hasattr(numbers, "lhs_spec"):
        return tuple(numbers.lhs_spec), tuple(numbers.rhs_spec), tuple(numbers.out_spec)
    out = []
    order = _positions_of(numbers[1], "rhs")[2]
    for letters, kind in zip(numbers, ("lhs", "rhs", "out"), strict=True):
        a, b, space = _positions_of(letters, kind)
        if sorted(space) != sorted(order):
            raise ValueError(f"xcore.lax: dimension_numbers {numbers} name different spatial axes.")
        out.append((a, b, *[letters.index(c) for c in order]))
    if any(len(positions) != ndim for positions in out):
        raise _no_layouts(numbers, ndim)
    return tuple(out)


def _no_layouts(numbers, ndim: int) -> Exception:
    wanted = (
        f"three layouts of {ndim} letters, one for each axis, those of operand, kernel and result"
    )
    return errors.bad_argument("lax.conv", "dimension_numbers", numbers, wanted)


def _conv_padding(padding, x, k, strides, lhs_dilation, rhs_dilation, who="lax.conv"):
    if any(s < 1 for s in (*strides, *lhs_dilation, *rhs_dilation)):
        given = (tuple(strides), tuple(lhs_dilation), tuple(rhs_dilation))
        raise errors.bad_argument(who, "strides and dilations", given, "1 or more along each axis")
    if not isinstance(padding, str):
        pairs = isinstance(padding, Sequence) and all(np.shape(p) == (2,) for p in padding)
        if not (pairs and len(padding) == len(x)):
            wanted = f"'SAME', 'VALID', 'SAME_LOWER' or {len(x)} pairs (low, high)"
            raise errors.bad_argument(who, "padding", padding, wanted)
        return tuple((int(a), int(b)) for a, b in padding)
    kind = padding.upper()
    if kind == "VALID":
        return ((0, 0),) * len(strides)
    if kind not in ("SAME", "SAME_LOWER"):
        raise errors.bad_argument(who, "padding", padding, "'SAME', 'VALID', 'SAME_LOWER' or pairs")
    out = []
    for n, m, s, dx, dk in zip(x, k, strides, lhs_dilation, rhs_dilation, strict=True):
        wide, reach = (n - 1) * dx + 1 if n else 0, (m - 1) * dk + 1
        total = max((-(-wide // s) - 1) * s + reach - wide, 0)
        small = total // 2
        out.append((small, total - small) if kind == "SAME" else (total - small, small))
    return tuple(out)


def padtype_to_pads(in_shape, window_shape, window_strides, padding):
    """The pairs (low, high) that "SAME", "SAME_LOWER" or "VALID" stands for, for each axis.

    Args:
      in_shape, window_shape, window_strides: sizes along each axis.
      padding: the name.

    >>> import xcore as xc
    >>> xc.lax.padtype_to_pads((5, 6), (3, 3), (1, 2), "SAME")
    [(1, 1), (0, 1)]
    """
    if not (isinstance(padding, str) and padding.upper() in ("SAME", "SAME_LOWER", "VALID")):
        wanted = "'SAME', 'SAME_LOWER' or 'VALID'"
        raise errors.bad_argument("lax.padtype_to_pads", "padding", padding, wanted)
    who, n = "lax.padtype_to_pads", len(in_shape)
    window = whole_numbers(who, "window_shape", window_shape, n)
    strides = whole_numbers(who, "window_strides", window_strides, n)
    return list(_conv_padding(padding, in_shape, window, strides, (1,) * n, (1,) * n, who))


def _axes_of_both(who: str, x, k) -> int:
    """How many axes an operand and a kernel have: two, and those of space."""
    n = typeof(x).ndim
    if typeof(k).ndim != n or n < 2:
        why = "need as many axes: two, for batch and features, and those of space"
        raise errors.shape_mismatch(who, why, lhs=typeof(x), rhs=typeof(k))
    return n


def _spatial(name: str, given, ndim: int) -> tuple:
    """Numbers for the axes of space, of arrays that have so many axes in all."""
    try:
        return whole_numbers("lax.conv", name, given, ndim - 2)
    except errors.ArgumentError:
        wanted = (
            f"one int for each of the {ndim - 2} axes of space ({ndim} less batch and features)"
        )
        raise errors.bad_argument("lax.conv", name, given, wanted) from None


@fused(2)
def conv_general_dilated(lhs, rhs, window_strides, padding, lhs_dilation=None, rhs_dilation=None,
                         dimension_numbers=None, feature_group_count: int = 1, batch_group_count: int = 1,
                         precision=None, preferred_element_type=None):  # fmt: skip
    """Convolution over any number of spatial axes (as in machine learning: the kernel is not flipped).

    Args:
      lhs, rhs: operand and kernel.
      window_strides: step for each spatial axis.
      padding: "SAME", "VALID", or (low, high) for each spatial axis.
      lhs_dilation, rhs_dilation: spacing of the elements of operand and kernel.
      dimension_numbers: layouts such as ("NHWC", "HWIO", "NHWC"); default ("NCHW", "OIHW", "NCHW").
      feature_group_count, batch_group_count: numbers of independent groups.
      precision: how products are formed on devices with less precise units.
      preferred_element_type: the dtype of the result.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> x, k = xnp.arange(5.0).reshape(1, 1, 5), xnp.asarray([1.0, 0.0, -1.0]).reshape(1, 1, 3)
    >>> xc.lax.conv_general_dilated(x, k, (1,), "SAME").ravel()
    Array([-1., -2., -2., -2.,  3.], dtype=float32)
    """
    x, k = as_array("lax.conv", lhs), as_array("lax.conv", rhs)
    check_alike("lax.conv_general_dilated", x, k)
    dtype, _ = dtypes.promote((typeof(x).dtype, typeof(x).weak), (typeof(k).dtype, typeof(k).weak))
    result = dtype if preferred_element_type is None else dtypes.as_dtype(preferred_element_type)
    work, _ = dtypes.promote((dtype, False), (result, False))  # sums of int8 may need an int32
    x, k = astype(x, work), astype(k, work)
    n = _axes_of_both("lax.conv_general_dilated", x, k)
    lhs_spec, rhs_spec, out_spec = _layouts(dimension_numbers, n)
    x, k = ops.transpose(x, perm=lhs_spec), ops.transpose(k, perm=rhs_spec)
    ones = (1,) * (n - 2)
    windows = {
        "strides": _spatial("window_strides", window_strides, n),
        "lhs_dilation": _spatial("lhs_dilation", lhs_dilation or ones, n),
        "rhs_dilation": _spatial("rhs_dilation", rhs_dilation or ones, n),
    }
    windows["padding"] = _conv_padding(
        padding,
        typeof(x).shape[2:],
        typeof(k).shape[2:],
        *(windows[w] for w in ("strides", "lhs_dilation", "rhs_dilation")),
    )
    if batch_group_count != 1:
        if feature_group_count != 1:
            raise errors.bad_argument(
                "lax.conv_general_dilated", "feature_group_count", feature_group_count,
                "1 where batch_group_count is not",
            )  # fmt: skip
        x = ops.groups_of_the_batch(x, batch_group_count)
    groups = feature_group_count * batch_group_count
    out = ops.conv(x, k, groups=groups, precision=ops.precision_name(precision), **windows)
    perm = tuple(out_spec.index(i) for i in range(n))
    return astype(ops.transpose(out, perm=perm), result)


@fused(2)
def conv(lhs, rhs, window_strides, padding, precision=None, preferred_element_type=None):
    """Convolution in the layouts NCHW and OIHW.

    Args:
      lhs, rhs: operand (batch, features, *space) and kernel (features out, features in, *space).
      window_strides: step for each spatial axis.
      padding: "SAME", "VALID", or (low, high) for each spatial axis.
      precision, preferred_element_type: as for ``conv_general_dilated``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.conv(xnp.ones((1, 3, 8, 8)), xnp.ones((4, 3, 3, 3)), (2, 2), "VALID").shape
    (1, 4, 3, 3)
    """
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, precision=precision,
        preferred_element_type=preferred_element_type,
    )  # fmt: skip


@fused(2)
def conv_with_general_padding(
    lhs, rhs, window_strides, padding, lhs_dilation=None, rhs_dilation=None, precision=None,
    preferred_element_type=None,
):  # fmt: skip
    """Convolution in the layouts NCHW and OIHW with dilations.

    Args:
      lhs, rhs: operand and kernel.
      window_strides: step for each spatial axis.
      padding: "SAME", "VALID", or (low, high) for each spatial axis.
      lhs_dilation, rhs_dilation: spacing of the elements of operand and kernel.
      precision, preferred_element_type: as for ``conv_general_dilated``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> x, k = xnp.ones((1, 1, 5)), xnp.ones((1, 1, 2))
    >>> xc.lax.conv_with_general_padding(x, k, (1,), [(1, 0)], rhs_dilation=(2,)).ravel()
    Array([1., 2., 2., 2.], dtype=float32)
    """
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, precision=precision,
        preferred_element_type=preferred_element_type,
    )  # fmt: skip


# sorting, reducing, scanning

_TRANSPOSED_LAYOUTS = {
    2: ("NC", "IO", "NC"), 3: ("NHC", "HIO", "NHC"), 4: ("NHWC", "HWIO", "NHWC"),
    5: ("NHWDC", "HWDIO", "NHWDC"),
}  # fmt: skip


def _transposed_padding(k: int, stride: int, kind: str) -> tuple:
    """Zeros on both sides such that the result is as long as what the convolution would take."""
    if kind == "SAME":
        total = k + stride - 2
        low = k - 1 if stride > k - 1 else math.ceil(total / 2)
        return low, total - low
    if kind != "VALID":
        raise errors.bad_argument("lax.conv_transpose", "padding", kind, "'SAME', 'VALID' or pairs")
    return k - 1, k + stride - 2 + max(k - stride, 0) - (k - 1)


@boundary
def conv_transpose(lhs, rhs, strides, padding, rhs_dilation=None, dimension_numbers=None,
                   transpose_kernel: bool = False, precision=None, preferred_element_type=None):  # fmt: skip
    """A convolution that spreads instead of gathers: each element of ``lhs`` adds a kernel.

    Args:
      lhs, rhs: operand and kernel.
      strides: how far apart the copies of the kernel stand.
      padding: "SAME", "VALID", or (low, high) for each spatial axis.
      rhs_dilation: spacing of the kernel's elements.
      dimension_numbers: layouts; default ("NHWC", "HWIO", "NHWC") for two spatial axes.
      transpose_kernel: the transpose of the convolution with this kernel: flipped, features swapped.
      precision, preferred_element_type: as for ``conv_general_dilated``.

    >>> import xcore.numpy as xnp
    >>> from xcore import lax
    >>> x, k = xnp.asarray([1., 2.]).reshape(1, 2, 1), xnp.ones((2, 1, 1))
    >>> lax.conv_transpose(x, k, (2,), "VALID").ravel()
    Array([1., 1., 2., 2.], dtype=float32)
    """
    rhs = as_array("lax.conv_transpose", rhs)
    n = _axes_of_both("lax.conv_transpose", as_array("lax.conv_transpose", lhs), rhs)
    strides = _spatial("strides", strides, n)
    layouts = dimension_numbers or _TRANSPOSED_LAYOUTS.get(n)
    if layouts is None:
        layouts = (("NC" + "012345"[: n - 2]),) * 3
    lhs_spec, rhs_spec, out_spec = _layouts(layouts, n)
    dilation = _spatial("rhs_dilation", rhs_dilation or (1,) * (n - 2), n)
    reach = [
        (typeof(rhs).shape[a] - 1) * d + 1 for a, d in zip(rhs_spec[2:], dilation, strict=True)
    ]
    if isinstance(padding, str):
        pairs = zip(reach, strides, strict=True)
        padding = tuple(_transposed_padding(k, s, padding.upper()) for k, s in pairs)
    if transpose_kernel:
        rhs = ops.rev(rhs, axes=tuple(sorted(rhs_spec[2:])))
        rhs_spec = (rhs_spec[1], rhs_spec[0], *rhs_spec[2:])
    return conv_general_dilated(
        lhs, rhs, (1,) * (n - 2), tuple(padding), lhs_dilation=tuple(strides), rhs_dilation=dilation,
        dimension_numbers=ConvDimensionNumbers(lhs_spec, rhs_spec, out_spec), precision=precision,
        preferred_element_type=preferred_element_type,
    )  # fmt: skip


@boundary
def conv_general_dilated_patches(lhs, filter_shape, window_strides, padding, lhs_dilation=None,
                                 rhs_dilation=None, dimension_numbers=None, precision=None,
                                 preferred_element_type=None):  # fmt: skip
    """What a convolution sees: the windows, one after the other along the feature axis.

    Feature ``c * P + p`` of the result is place p of the window (of P places) of feature c.

    Args:
      lhs: operand.
      filter_shape: of a window, along the spatial axes.
      window_strides, padding, lhs_dilation, rhs_dilation: as for ``conv_general_dilated``.
      dimension_numbers, precision, preferred_element_type: likewise.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.conv_general_dilated_patches(xnp.arange(4.0).reshape(1, 1, 4), (2,), (1,), "VALID")[0]
    Array([[0., 1., 2.],
           [1., 2., 3.]], dtype=float32)
    """
    lhs = as_array("lax.conv_general_dilated_patches", lhs)
    n = typeof(lhs).ndim
    lhs_spec, _, out_spec = _layouts(dimension_numbers, n)
    filter_shape = _spatial("filter_shape", filter_shape, n)
    places, features = math.prod(filter_shape), typeof(lhs).shape[lhs_spec[1]]
    one_hot = np.eye(places, dtype=typeof(lhs).dtype).reshape(places, 1, *filter_shape)
    kernel = np.tile(one_hot, (features, *[1] * (n - 1)))
    numbers = ConvDimensionNumbers(lhs_spec, tuple(range(n)), out_spec)
    return conv_general_dilated(
        lhs, kernel, window_strides, padding, lhs_dilation, rhs_dilation, numbers, features, 1, precision,
        preferred_element_type,
    )  # fmt: skip


# reductions by any function


def _combiner(who: str, computation, arrays):
    """The function of two scalars (or trees of them) as one of two lists of arrays."""
    if computation in _MONOIDS:
        return lambda a, b: [computation(x, y) for x, y in zip(a, b, strict=True)]

    def elementwise(a, b):
        flat = [[ops.reshape(x, shape=(typeof(x).size,)) for x in xs] for xs in (a, b)]
        of_two = lambda x, y: called(who, "computation", "two arguments", computation, x, y)  # noqa: E731
        out = tree.leaves(vmap(of_two)(*[_in_structure(arrays, xs) for xs in flat]))
        return [ops.reshape(o, shape=typeof(x).shape) for o, x in zip(out, a, strict=True)]

    return elementwise


def _in_structure(arrays, leaves):
    return tree.unflatten(tree.structure(arrays), leaves)


# What is known to reduce by an operation of its own.
_MONOIDS = {
    elementwise.add: ops.reduce_sum, elementwise.mul: ops.reduce_prod, elementwise.max: ops.reduce_max,
    elementwise.min: ops.reduce_min, elementwise.bitwise_and: ops.reduce_and, elementwise.bitwise_or: ops.reduce_or,
    elementwise.bitwise_xor: ops.reduce_xor,
}  # fmt: skip


def _operands(who: str, operands, init_values):
    xs = [as_array(who, x) for x in tree.leaves(operands)]
    if tree.structure(operands) != tree.structure(init_values):
        raise errors.bad_argument(who, "init_values", init_values, "one for each operand")
    shapes = {typeof(x).shape for x in xs}
    if len(shapes) != 1:
        raise errors.shape_mismatch(who, **{f"operand{i}": typeof(x) for i, x in enumerate(xs)})
    inits = [
        _init(who, i, typeof(x).dtype) for i, x in zip(tree.leaves(init_values), xs, strict=True)
    ]
    return xs, inits


def _init(who: str, value, dtype):
    """Python numbers keep all their digits."""
    if np.ndim(value):
        raise errors.bad_argument(who, "init_value", value, "a number")
    refuse_complex(who, value if type(value) in SCALARS else as_array(who, value), dtype)
    return (
        checked_scalar(value, dtype)
        if type(value) in SCALARS
        else astype(as_array(who, value), dtype)
    )


@boundary
def reduce(operands, init_values, computation, dimensions):
    """Combine all elements along axes by an associative and commutative function.

    Args:
      operands: array, or pytree of arrays of one shape.
      init_values: what to begin with (for no elements, the result), in a pytree alike.
      computation: function of two scalars (or two pytrees of scalars).
      dimensions: axes.

    >>> import xcore.numpy as xnp
    >>> from xcore import lax
    >>> lax.reduce(xnp.asarray([3., 4.]), 0.0, lambda a, b: xnp.hypot(a, b), (0,))
    Array(5., dtype=float32)
    """
    xs, inits = _operands("lax.reduce", operands, init_values)
    n = typeof(xs[0]).ndim
    dimensions = whole_numbers("lax.reduce", "dimensions", dimensions)
    axes = tuple(sorted(one_axis("lax.reduce", a, n) for a in dimensions))
    combine = _combiner("lax.reduce", computation, operands)
    if computation in _MONOIDS:
        out = [_MONOIDS[computation](x, axes=axes) for x in xs]
    else:
        out = _folded(combine, xs, inits, axes)
    starts = [
        ops.broadcast_in_dim(i, shape=typeof(o).shape, dims=())
        for i, o in zip(inits, out, strict=True)
    ]
    return _in_structure(operands, combine(starts, out))


def _folded(combine, xs, inits, axes):
    """Halves combined until one element is left: as many rounds as the length has binary digits."""
    rest = [a for a in range(typeof(xs[0]).ndim) if a not in axes]
    shape = typeof(xs[0]).shape
    kept, count = [shape[a] for a in rest], math.prod(shape[a] for a in axes)
    xs = [ops.reshape(ops.transpose(x, perm=(*axes, *rest)), shape=(count, *kept)) for x in xs]
    if not count:
        return [ops.broadcast_in_dim(i, shape=tuple(kept), dims=()) for i in inits]
    while count > 1:
        half = count // 2
        pairs = combine([_rows(x, 0, half) for x in xs], [_rows(x, half, 2 * half) for x in xs])
        odd = [[p, _rows(x, 2 * half, count)] for p, x in zip(pairs, xs, strict=True)]
        xs = [ops.concatenate(*o, axis=0) for o in odd] if count % 2 else pairs
        count -= half
    return [ops.reshape(x, shape=tuple(kept)) for x in xs]


def _rows(x, start: int, stop: int, step: int = 1, axis: int = 0):
    shape = typeof(x).shape
    low, high, steps = [0] * len(shape), list(shape), [1] * len(shape)
    low[axis], high[axis], steps[axis] = start, stop, step
    return ops.slice(x, start=tuple(low), limit=tuple(high), strides=tuple(steps))


@boundary
def reduce_window(operand, init_value, computation, window_dimensions, window_strides=None, padding="VALID",
                  base_dilation=None, window_dilation=None):  # fmt: skip
    """Combine the elements of each window that slides over an array: the heart of pooling.

    Args:
      operand: array, or pytree of arrays of one shape.
      init_value: neutral element of the function, in a pytree alike; it also pads.
      computation: associative and commutative function of two scalars, such as ``lax.max``.
      window_dimensions: the window's length along each axis.
      window_strides: steps from window to window, default 1.
      padding: "VALID", "SAME", or (low, high) for each axis.
      base_dilation, window_dilation: spacing of the array's and of the window's elements.

    >>> import xcore.numpy as xnp
    >>> from xcore import lax
    >>> lax.reduce_window(xnp.asarray([1., 5., 2., 7.]), -xnp.inf, lax.max, (2,), (2,))
    Array([5., 7.], dtype=float32)
    """
    who = "lax.reduce_window"
    xs, inits = _operands(who, operand, init_value)
    shape = typeof(xs[0]).shape
    n = len(shape)
    lengths = [_per_axis(who, name, v, n) for name, v in (
        ("window_dimensions", window_dimensions), ("window_strides", window_strides),
        ("base_dilation", base_dilation), ("window_dilation", window_dilation))]  # fmt: skip
    window, strides, spread, dilation = lengths
    pairs = _conv_padding(padding, shape, window, strides, spread, dilation, who)
    xs = [ops.pad(x, i, low=tuple(p[0] for p in pairs), high=tuple(p[1] for p in pairs),
                  interior=tuple(d - 1 for d in spread)) for x, i in zip(xs, inits, strict=True)]  # fmt: skip
    extreme = _AHEAD.get(computation)
    combine = _first_of(extreme) if extreme else _combiner(who, computation, operand)
    # of equal elements the first in memory is taken where the last axis comes first
    for axis in reversed(range(n)) if extreme else range(n):
        xs = _windowed(combine, xs, axis, window[axis], strides[axis], dilation[axis])
    starts = [
        ops.broadcast_in_dim(i, shape=typeof(x).shape, dims=())
        for i, x in zip(inits, xs, strict=True)
    ]
    return _in_structure(operand, combine(starts, xs))


def _first_of(ahead):
    """The largest or smallest of two numbers: of equal ones the first, which alone has a derivative then."""

    def pick(x, y):
        return ops.select(ops.or_(ahead(x, y), ops.ne(x, x)), x, y)

    return lambda xs, ys: [pick(x, y) for x, y in zip(xs, ys, strict=True)]


_AHEAD = {elementwise.max: ops.ge, elementwise.min: ops.le}


def _per_axis(who: str, name: str, value, n: int) -> tuple:
    value = (1,) * n if value is None else whole_numbers(who, name, value)
    if len(value) != n or any(v < 1 for v in value):
        raise errors.bad_argument(who, name, value, f"{n} positive ints, one for each axis")
    return value


def _windowed(combine, xs, axis: int, window: int, stride: int, dilation: int):
    """Windows along one axis, by taps or, where that is less work, by windows of 1, 2, 4, …"""
    n = typeof(xs[0]).shape[axis]
    reach = (window - 1) * dilation
    count = max(0, (n - reach - 1) // stride + 1)
    if window == stride == 1:
        return xs
    if not count:
        return [_rows(x, 0, 0, 1, axis) for x in xs]
    if window * count <= 2 * n * window.bit_length():
        stop = (count - 1) * stride + 1
        taps = [
            [_rows(x, d, d + stop, stride, axis) for x in xs] for d in range(0, reach + 1, dilation)
        ]
        total = taps[0]
        for tap in taps[1:]:
            total = combine(total, tap)
        return total
    total = _by_doubling(combine, xs, axis, window, dilation, n - reach)
    return [_rows(x, 0, n - reach, stride, axis) for x in total]


def _by_doubling(combine, xs, axis: int, window: int, dilation: int, length: int) -> list:
    total, done, size = None, 0, 1
    while True:
        if window & size:
            part = [_rows(x, done * dilation, done * dilation + length, 1, axis) for x in xs]
            total = part if total is None else combine(total, part)
            done += size
        if done == window:
            return total  # pyright: ignore[reportReturnType]
        n, shift = typeof(xs[0]).shape[axis], size * dilation
        xs = combine(
            [_rows(x, 0, n - shift, 1, axis) for x in xs], [_rows(x, shift, n, 1, axis) for x in xs]
        )
        size *= 2


# precision


class Precision(enum.Enum):
    """How products of float32 are computed on accelerators: in fast or in full precision.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.dot(xnp.ones(2), xnp.ones(2), precision=xc.lax.Precision.HIGHEST)
    Array(2., dtype=float32)
    """

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2
