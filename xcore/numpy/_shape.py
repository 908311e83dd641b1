"""Shapes and axes."""

from __future__ import annotations

import math

import numpy as np

from .. import _ops as ops
from .._core import errors, fused, one_of, typeof
from . import _promote
from ._compound import moves
from ._placement import spreads
from ._promote import (
    as_array,
    axes_of,
    check_shape,
    one_axis,
)

# Shapes


def _with_inferred_size(who: str, shape, size: int) -> tuple:
    """A shape whose one -1 is replaced by what makes the size fit."""
    shape = check_shape(who, shape, -1)
    if shape.count(-1) > 1:
        raise errors.bad_argument(who, "shape", shape, "without more than one -1")
    if -1 in shape:
        known = math.prod(n for n in shape if n != -1)
        if known and size % known == 0:
            shape = tuple(size // known if n == -1 else n for n in shape)
    if -1 in shape or math.prod(shape) != size:
        raise errors.ShapeError(f"xcore.{who}: {size} elements cannot take the shape {shape}.")
    return shape


@fused(1)
@spreads
@moves("a")
def reshape(a, shape=None, order="C", *, copy=None, out_sharding=None):
    """The same elements in another shape.

    Args:
      a: array.
      shape: an int or a tuple of ints; one of them may be -1, for what remains.
      order: "C" counts the last axis fastest, "F" the first.
      copy: accepted for compatibility.

    >>> import xcore.numpy as xnp
    >>> xnp.reshape(xnp.arange(4), (2, -1))
    Array([[0, 1],
           [2, 3]], dtype=int32)
    """
    a = as_array("numpy.reshape", a)
    if shape is None:
        raise TypeError("xcore.numpy.reshape: shape is missing.")
    shape = _with_inferred_size("numpy.reshape", shape, typeof(a).size)
    if _is_fortran("reshape", order):
        flipped = ops.reshape(transpose(a), shape=shape[::-1])
        return transpose(flipped)
    return a if shape == typeof(a).shape else ops.reshape(a, shape=shape)


def _is_fortran(name: str, order) -> bool:
    one_of(f"numpy.{name}", "order", order, ("C", "F", "A", "K"), "'C' or 'F'")
    return order == "F"


@fused(1)
@spreads
@moves("a")
def ravel(a, order="C", *, out_sharding=None):
    """All elements along one axis.

    Args:
      a: array.
      order: "C" or "F".

    >>> import xcore.numpy as xnp
    >>> xnp.ravel(xnp.ones((2, 2)))
    Array([1., 1., 1., 1.], dtype=float32)
    """
    a = as_array("numpy.ravel", a)
    return reshape(a, typeof(a).size, order)


@fused(1)
@moves("a")
def transpose(a, axes=None):
    """Axes in another order; reversed by default.

    Args:
      a: array.
      axes: a permutation of the axes.

    >>> import xcore.numpy as xnp
    >>> xnp.transpose(xnp.zeros((2, 3))).shape
    (3, 2)
    """
    a = as_array("numpy.transpose", a)
    ndim = typeof(a).ndim
    if axes is None:
        perm = tuple(range(ndim))[::-1]
    else:
        perm = tuple(one_axis("numpy.transpose", i, ndim) for i in axes)
    if sorted(perm) != list(range(ndim)):
        raise errors.bad_argument("numpy.transpose", "axes", axes, f"a permutation of {ndim} axes")
    return a if perm == tuple(range(ndim)) else ops.transpose(a, perm=perm)


@fused(1)
@moves("x")
def permute_dims(x, /, axes):
    """Axes in another order: ``transpose`` under its name in the Array API.

    Args:
      x: array.
      axes: the old axes in their new order.

    >>> import xcore.numpy as xnp
    >>> xnp.permute_dims(xnp.zeros((2, 3)), (1, 0)).shape
    (3, 2)
    """
    return transpose(x, axes)


@fused(1)
@moves("x")
def matrix_transpose(x, /):
    """The last two axes exchanged.

    Args:
      x: array of two or more axes.

    >>> import xcore.numpy as xnp
    >>> xnp.matrix_transpose(xnp.zeros((5, 2, 3))).shape
    (5, 3, 2)
    """
    x = as_array("numpy.matrix_transpose", x)
    if typeof(x).ndim < 2:
        raise errors.bad_argument("numpy.matrix_transpose", "x", x, "of 2 or more axes")
    return swapaxes(x, -1, -2)


@fused(1)
@moves("a")
def swapaxes(a, axis1, axis2):
    """Two axes exchanged.

    Args:
      a: array.
      axis1, axis2: ints; the axes.

    >>> import xcore.numpy as xnp
    >>> xnp.swapaxes(xnp.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    a = as_array("numpy.swapaxes", a)
    ndim = typeof(a).ndim
    i, j = (one_axis("numpy.swapaxes", k, ndim) for k in (axis1, axis2))
    perm = list(range(ndim))
    perm[i], perm[j] = j, i
    return transpose(a, perm)


@fused(1)
@moves("a")
def moveaxis(a, source, destination):
    """Axes moved to other places; the rest keep their order.

    Args:
      a: array.
      source, destination: an int each, or as many ints each.

    >>> import xcore.numpy as xnp
    >>> xnp.moveaxis(xnp.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    a = as_array("numpy.moveaxis", a)
    ndim = typeof(a).ndim
    sources, targets = (axis_list("numpy.moveaxis", s, ndim) for s in (source, destination))
    if len(sources) != len(targets):
        raise errors.bad_argument(
            "numpy.moveaxis", "destination", destination, f"of {len(sources)} axes"
        )
    perm = [i for i in range(ndim) if i not in sources]
    for target, i in sorted(zip(targets, sources, strict=True)):
        perm.insert(target, i)
    return transpose(a, perm)


def axis_list(who, axes, ndim) -> list:
    """Axes in the order given, all different."""
    given = axes if isinstance(axes, (tuple, list, range)) else [axes]
    axes_of(who, tuple(given), ndim)
    return [one_axis(who, i, ndim) for i in given]


@moves("a")
def rollaxis(a, axis, start=0):
    """One axis moved to stand before another.

    Args:
      a: array.
      axis: int; the axis that moves.
      start: int; the axis before which it comes to stand.

    >>> import xcore.numpy as xnp
    >>> xnp.rollaxis(xnp.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    ndim = np.ndim(a)
    axis = one_axis("numpy.rollaxis", axis, ndim)
    if not -ndim <= start <= ndim:
        raise errors.bad_axis("numpy.rollaxis", start, ndim + 1)
    start += ndim if start < 0 else 0
    return moveaxis(a, axis, start - 1 if axis < start else start)


@fused(1)
@moves("a")
def squeeze(a, axis=None):
    """Axes of length 1 removed.

    Args:
      a: array.
      axis: which; all of length 1 by default. The chosen ones must have length 1.

    >>> import xcore.numpy as xnp
    >>> xnp.squeeze(xnp.zeros((1, 2, 1))).shape
    (2,)
    """
    a = as_array("numpy.squeeze", a)
    shape = typeof(a).shape
    if axis is None:
        return ops.reshape(a, shape=tuple(n for n in shape if n != 1))
    gone = axes_of("numpy.squeeze", axis, len(shape))
    if any(shape[i] != 1 for i in gone):
        raise errors.bad_argument(
            "numpy.squeeze", "axis", axis, f"axes of length 1 of the shape {shape}"
        )
    return ops.reshape(a, shape=tuple(n for i, n in enumerate(shape) if i not in gone))


@fused(1)
@moves("a")
def expand_dims(a, axis):
    """New axes of length 1.

    Args:
      a: array.
      axis: where they stand in the result: an int or several.

    >>> import xcore.numpy as xnp
    >>> xnp.expand_dims(xnp.zeros((2, 3)), (0, -1)).shape
    (1, 2, 3, 1)
    """
    a = as_array("numpy.expand_dims", a)
    given = axis if isinstance(axis, (tuple, list, range)) else (axis,)
    shape = list(typeof(a).shape)
    for i in axes_of("numpy.expand_dims", tuple(given), len(shape) + len(given)):
        shape.insert(i, 1)
    return ops.reshape(a, shape=tuple(shape))


@fused(1)
@spreads
@moves("array")
def broadcast_to(array, shape, *, out_sharding=None):
    """An array repeated along axes of length 1, and along new axes in front.

    Args:
      array: array.
      shape: the new shape; axes of length 1 may get any length.
      out_sharding: how the result is spread over devices.

    >>> import xcore.numpy as xnp
    >>> xnp.broadcast_to(xnp.arange(2), (2, 2))
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    array = as_array("numpy.broadcast_to", array)
    shape, given = check_shape("numpy.broadcast_to", shape), typeof(array).shape
    if any(n < 0 for n in shape):
        raise errors.bad_argument("numpy.broadcast_to", "shape", shape, "of lengths of 0 or more")
    fits = len(given) <= len(shape) and all(
        a in (1, b) for a, b in zip(given[::-1], shape[::-1], strict=False)
    )
    if not fits:
        raise errors.not_broadcastable("numpy.broadcast_to", (given, shape))
    return _promote.broadcast_to(array, shape)


def broadcast_shapes(*shapes) -> tuple:
    """The shape that arrays of several shapes broadcast to.

    Args:
      *shapes: tuples of ints, or ints.

    >>> import xcore.numpy as xnp
    >>> xnp.broadcast_shapes((3, 1), (2,), ())
    (3, 2)
    """
    checked = [check_shape("numpy.broadcast_shapes", s) for s in shapes]
    return _promote.broadcast_shapes("numpy.broadcast_shapes", *checked) if checked else ()


def broadcast_arrays(*args):
    """Arrays repeated to their common shape, as a list.

    Args:
      *args: arrays or numbers.

    >>> import xcore.numpy as xnp
    >>> [x.shape for x in xnp.broadcast_arrays(xnp.zeros((3, 1)), xnp.zeros(2))]
    [(3, 2), (3, 2)]
    """
    return list(_broadcast_arrays(list(args))) if args else []


@fused(1)
@moves("xs")
def _broadcast_arrays(xs):
    xs = [as_array("numpy.broadcast_arrays", x) for x in xs]
    shape = _promote.broadcast_shapes("numpy.broadcast_arrays", *[typeof(x).shape for x in xs])
    return tuple(_promote.broadcast_to(x, shape) for x in xs)


def _at_least(name: str, place, doc: str, example: str):
    """A function that gives arrays a least number of axes; ``place`` gives the new shape."""

    @fused(1)
    @moves("x")
    def one(x):
        x = as_array(f"numpy.{name}", x)
        return ops.reshape(x, shape=place(typeof(x).shape))

    def f(*arys):
        out = [one(x) for x in arys]
        return out[0] if len(out) == 1 else out

    f.__name__ = f.__qualname__ = name
    f.__module__ = "xcore.numpy"
    about = "*arys: arrays or numbers; of several a list is returned."
    f.__doc__ = f"{doc}\n\n    Args:\n      {about}\n\n    >>> import xcore.numpy as xnp\n    {example}\n    "
    return f


# fmt: off
atleast_1d = _at_least("atleast_1d", lambda s: s or (1,), "Numbers become arrays of one element; the rest stays.",
    ">>> xnp.atleast_1d(3.0).shape\n    (1,)")
atleast_2d = _at_least("atleast_2d", lambda s: (1,) * (2 - len(s)) + s, "New axes in front, until there are two.",
    ">>> xnp.atleast_2d(xnp.arange(3)).shape\n    (1, 3)")
atleast_3d = _at_least("atleast_3d", lambda s: s if len(s) > 2 else (*((1,) * (2 - len(s)) + s), 1),
    "At least three axes: a vector of n becomes (1, n, 1), a matrix gets a last axis.",
    ">>> xnp.atleast_3d(xnp.arange(3)).shape\n    (1, 3, 1)")
# fmt: on
