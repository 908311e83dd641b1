"""Proximal maps and projections, for ``proximal_gradient``.

A proximal map is a function ``prox(x, step)``: the y for which step g(y) + |y - x|²/2 is least. That of
a set is the projection into it, whatever the step. Each function here returns such a map.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import stop_gradient
from .._core import ArrayLike, Tracer, dtypes, errors, tree, typeof
from ..linalg import solve_triangular
from ._transform import homogeneous

__all__ = [
    "affine", "ball", "box", "elastic_net", "group_lasso", "halfspace", "l1", "l1_ball", "l2",
    "nonnegative", "nuclear", "second_order_cone", "simplex", "squared_l2", "zero",
]  # fmt: skip


def _leaves(f):
    return lambda x, step=1.0: tree.map(lambda leaf: f(leaf, step), x)


def _real_leaves(name: str, f):
    """The same, where an order of numbers is needed."""

    def project(x, step):
        dtype = typeof(xnp.asarray(x)).dtype
        if dtypes.is_complex(dtype):
            want = "real numbers: complex ones have no order"
            raise errors.bad_argument(f"optimize.prox.{name}", "x", dtype, want)
        return f(xnp.asarray(x), step)

    return _leaves(project)


def _vector(who: str, x):
    """x with an axis to go along that is not empty."""
    x = xnp.asarray(x)
    if not x.ndim or not x.shape[-1]:
        why = "need vectors along the last axis; a list is a tree of numbers, of which xnp.asarray makes a vector"
        raise errors.shape_mismatch(f"optimize.prox.{who}", why, x=x)
    return x


def _at_least_0(who: str, **given) -> None:
    """Weights and radii below 0 belong to no convex function; traced ones are not looked at."""
    for name, value in given.items():
        if not isinstance(value, Tracer) and np.any(np.asarray(value) < 0):
            raise errors.bad_argument(f"optimize.prox.{who}", name, value, "at least 0")


def _length(x, axis: int | None = None):
    """The Euclidean length, on all scales, with the axis kept."""
    return homogeneous(lambda x: xnp.linalg.norm(x, axis=axis, keepdims=True), x, axis)


def _shortened(x, by, axis: int | None = None):
    """x shorter by a length, or 0."""
    size = _length(x, axis)
    return x * xnp.maximum(1 - by / xnp.where(size == 0, 1, size), 0)


def soft(x, t):
    """x moved towards 0 by t, but not beyond it."""
    return xnp.sign(x) * xnp.maximum(xnp.abs(x) - t, 0)


def zero() -> Callable[[Any, Any], Any]:
    """Of g = 0: the identity.

    >>> zero()(2.0, 0.1)
    2.0
    """
    return lambda x, step=1.0: x


def l1(weight: ArrayLike = 1.0) -> Callable[[Any, Any], Any]:
    """Of weight |x|₁: soft thresholding.

    Args:
      weight: number or array like x, at least 0.

    >>> import xcore.numpy as xnp
    >>> l1(1.0)(xnp.asarray([3.0, -0.5]), 1.0)
    Array([ 2., -0.], dtype=float32)
    """
    _at_least_0("l1", weight=weight)
    return _leaves(lambda x, step: soft(x, step * weight))


def l2(weight: ArrayLike = 1.0) -> Callable[[Any, Any], Any]:
    """Of weight |x|₂ of each leaf: it becomes shorter by the weight, or 0.

    Args:
      weight: number, at least 0.

    >>> import xcore.numpy as xnp
    >>> l2(1.0)(xnp.asarray([3.0, 4.0]), 2.5)
    Array([1.5, 2. ], dtype=float32)
    """
    _at_least_0("l2", weight=weight)
    return _leaves(lambda x, step: _shortened(xnp.asarray(x), step * weight))


def squared_l2(weight: ArrayLike = 1.0) -> Callable[[Any, Any], Any]:
    """Of weight/2 |x|₂².

    Args:
      weight: number or array like x, at least 0.

    >>> float(squared_l2(1.0)(3.0, 0.5))
    2.0
    """
    _at_least_0("squared_l2", weight=weight)
    return _leaves(lambda x, step: x / (1 + step * weight))


def elastic_net(weight: ArrayLike = 1.0, ridge: ArrayLike = 1.0) -> Callable[[Any, Any], Any]:
    """Of weight |x|₁ + ridge/2 |x|₂².

    Args:
      weight, ridge: numbers, at least 0.

    >>> float(elastic_net(1.0, 1.0)(3.0, 1.0))
    1.0
    """
    _at_least_0("elastic_net", weight=weight, ridge=ridge)
    return _leaves(lambda x, step: soft(x, step * weight) / (1 + step * ridge))


def group_lasso(weight: ArrayLike = 1.0) -> Callable[[Any, Any], Any]:
    """Of weight times the sum of the lengths of rows.

    Args:
      weight: number, at least 0.

    >>> import xcore.numpy as xnp
    >>> group_lasso(5.0)(xnp.asarray([[3.0, 4.0], [6.0, 8.0]]), 1.0)
    Array([[0., 0.],
           [3., 4.]], dtype=float32)
    """
    _at_least_0("group_lasso", weight=weight)
    return _leaves(lambda x, step: _shortened(_vector("group_lasso", x), step * weight, -1))


def nuclear(weight: ArrayLike = 1.0) -> Callable[[Any, Any], Any]:
    """Of weight times the sum of singular values: these are soft-thresholded.

    Args:
      weight: number, at least 0.

    >>> import xcore.numpy as xnp
    >>> xnp.round(nuclear(1.0)(xnp.diag(xnp.asarray([3.0, 0.5])), 1.0), 3) + 0.0
    Array([[2., 0.],
           [0., 0.]], dtype=float32)
    """
    _at_least_0("nuclear", weight=weight)

    def shrink(x, step):
        u, s, vh = xnp.linalg.svd(x, full_matrices=False)
        return (u * xnp.maximum(s - step * weight, 0)) @ vh

    return _leaves(shrink)


def nonnegative() -> Callable[[Any, Any], Any]:
    """Onto x ≥ 0.

    >>> import xcore.numpy as xnp
    >>> nonnegative()(xnp.asarray([-1.0, 2.0]))
    Array([0., 2.], dtype=float32)
    """
    return _real_leaves("nonnegative", lambda x, step: xnp.maximum(x, 0))


def box(lower: ArrayLike, upper: ArrayLike) -> Callable[[Any, Any], Any]:
    """Onto lower ≤ x ≤ upper, numbers or trees like x.

    Args:
      lower, upper: bounds.

    >>> import xcore.numpy as xnp
    >>> box(0.0, 1.0)(xnp.asarray([-1.0, 2.0]))
    Array([0., 1.], dtype=float32)
    """

    def project(x, step=1.0):
        sides = [tree.broadcast(side, x) for side in (lower, upper)]
        return tree.map(xnp.clip, x, *sides)

    return project


def ball(radius: ArrayLike = 1.0) -> Callable[[Any, Any], Any]:
    """Onto |x|₂ ≤ radius, of each leaf.

    Args:
      radius: number, at least 0.

    >>> import xcore.numpy as xnp
    >>> ball(1.0)(xnp.asarray([3.0, 4.0]))
    Array([0.6, 0.8], dtype=float32)
    """
    _at_least_0("ball", radius=radius)

    def project(x, step):
        size = _length(xnp.asarray(x))
        return xnp.where(size > radius, x / xnp.where(size == 0, 1, size) * radius, x)

    return _leaves(project)


def _of_sum(v, total):
    """max(v - θ, 0) with the θ for which it sums to ``total``, of each vector. (Held, Wolfe, Crowder 1974)

    Of distances from the largest: sums of large numbers would lose the total.
    """
    n = typeof(v).shape[-1]
    v = v - stop_gradient(xnp.max(v, axis=-1, keepdims=True))
    falling = xnp.flip(xnp.sort(v, axis=-1), axis=-1)
    excess = (xnp.cumsum(falling, axis=-1) - total) / xnp.arange(1, n + 1, dtype=v.dtype)
    last = xnp.sum(falling > excess, axis=-1, keepdims=True) - 1
    return xnp.maximum(v - xnp.take_along_axis(excess, last, axis=-1), 0)


def simplex(total: ArrayLike = 1.0) -> Callable[[Any, Any], Any]:
    """Onto x ≥ 0 with sum ``total``, of each vector.

    Args:
      total: number, at least 0.

    >>> import xcore.numpy as xnp
    >>> simplex()(xnp.asarray([1.0, 0.5, -3.0]))
    Array([0.75, 0.25, 0.  ], dtype=float32)
    """
    _at_least_0("simplex", total=total)
    return _real_leaves("simplex", lambda x, step: _of_sum(_vector("simplex", x), total))


def l1_ball(radius: ArrayLike = 1.0) -> Callable[[Any, Any], Any]:
    """Onto |x|₁ ≤ radius, of each vector.

    Args:
      radius: number, at least 0.

    >>> import xcore.numpy as xnp
    >>> l1_ball(1.0)(xnp.asarray([2.0, -0.5]))
    Array([ 1., -0.], dtype=float32)
    """
    _at_least_0("l1_ball", radius=radius)

    def project(x, step):
        size = xnp.abs(_vector("l1_ball", x))
        inside = xnp.sum(size, axis=-1, keepdims=True) <= radius
        return xnp.where(inside, x, xnp.sign(x) * _of_sum(size, radius))

    return _leaves(project)


def halfspace(normal: ArrayLike, offset: ArrayLike) -> Callable[[Any, Any], Any]:
    """Onto normal · x ≤ offset.

    Args:
      normal: vector or tree like x.
      offset: number.

    >>> import xcore.numpy as xnp
    >>> halfspace(xnp.asarray([1.0, 0.0]), 1.0)(xnp.asarray([3.0, 4.0]))
    Array([1., 4.], dtype=float32)
    """

    def project(x, step=1.0):
        lengths = [_length(xnp.asarray(leaf)).ravel() for leaf in tree.leaves(normal)]
        size = _length(xnp.concatenate(lengths))[0]
        unit = tree.map(lambda leaf: leaf / size, normal)
        along = tree.reduce(xnp.add, tree.map(xnp.vdot, unit, x))
        beyond = xnp.maximum(along - offset / size, 0)
        return tree.map(lambda x, unit: x - beyond * unit, x, unit)

    return project


def affine(a: ArrayLike, b: ArrayLike) -> Callable[[Any, Any], Any]:
    """Onto a x = b, a of full row rank.

    Args:
      a: matrix (m, n).
      b: vector (m,).

    >>> import xcore.numpy as xnp
    >>> affine(xnp.asarray([[1.0, 1.0]]), xnp.asarray([2.0]))(xnp.asarray([3.0, 1.0]))
    Array([2., 0.], dtype=float32)
    """
    a, b = xnp.asarray(a), xnp.asarray(b)
    q, r = xnp.linalg.qr(xnp.conj(a).T)
    back = xnp.conj(r).T  # a = back qᴴ
    return _leaves(lambda x, step: x - q @ solve_triangular(back, a @ x - b, lower=True))


def second_order_cone() -> Callable[[Any, Any], Any]:
    """Onto |x₁…| ≤ x₀, of each vector.

    >>> import xcore.numpy as xnp
    >>> second_order_cone()(xnp.asarray([0.0, 2.0]))
    Array([1., 1.], dtype=float32)
    """

    def project(x, step):
        x = _vector("second_order_cone", x)
        t, v = x[..., :1], x[..., 1:]
        size = _length(v, -1)
        middle = 0.5 * size + 0.5 * t
        unit = xnp.concatenate([xnp.ones_like(t), v / xnp.where(size == 0, 1, size)], axis=-1)
        return xnp.where(size <= t, x, xnp.where(size <= -t, 0, middle * unit))

    return _real_leaves("second_order_cone", project)
