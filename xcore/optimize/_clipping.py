"""Transformations that bound updates, or keep what is not finite away, or add noise."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import numpy as xnp
from .. import random
from .._core import ArrayLike, Key, dtypes, tree, typeof
from ._transform import (
    GradientTransformation,
    all_finite,
    global_norm,
    homogeneous,
    need_params,
    next_count,
    select,
    square,
    stateless,
    stateless_with_tree_map,
    zero_count,
)


def clip(max_delta: ArrayLike) -> GradientTransformation:
    """Bounds each number to [-max_delta, max_delta].

    Args:
      max_delta: number, at least 0.

    >>> float(clip(1.0).update(-3.0, ())[0])
    -1.0
    """
    return stateless_with_tree_map(lambda u, p: xnp.clip(u, -max_delta, max_delta))  # pyright: ignore[reportOperatorIssue]


def clip_by_global_norm(max_norm: ArrayLike) -> GradientTransformation:
    """Scales the tree down so that its Euclidean norm is at most ``max_norm``.

    Args:
      max_norm: number, at least 0.

    >>> import xcore.numpy as xnp
    >>> clip_by_global_norm(1.0).update(xnp.asarray([3.0, 4.0]), ())[0]
    Array([0.6, 0.8], dtype=float32)
    """

    def clipped(updates, params):
        norm = global_norm(updates)
        small = norm < max_norm
        return tree.map(
            lambda u: xnp.where(small, u, u / xnp.where(small, 1, norm).astype(u.dtype) * max_norm),
            tree.map(xnp.asarray, updates),
        )

    return stateless(clipped)


def clip_by_block_rms(threshold: ArrayLike) -> GradientTransformation:
    """Scales each leaf down so that its root mean square is at most ``threshold``.

    Args:
      threshold: number above 0.

    >>> import xcore.numpy as xnp
    >>> clip_by_block_rms(1.0).update(xnp.asarray([2.0, 2.0]), ())[0]
    Array([1., 1.], dtype=float32)
    """

    def clipped(u, p):
        u = xnp.asarray(u)
        size = homogeneous(lambda u: xnp.sqrt(xnp.mean(square(u))), u)
        return u / xnp.maximum(1.0, size / threshold)

    return stateless_with_tree_map(clipped)


def _unitwise_norm(x):
    """The norm of each output unit: of all for vectors, of columns for matrices, as in the paper."""
    axes = {0: None, 1: None, 2: 0, 3: 0, 4: (0, 1, 2), 5: (0, 1, 2, 3)}
    ndim = typeof(x).shape and len(typeof(x).shape)
    if ndim not in axes and ndim:
        raise ValueError(
            f"xcore.optimize.adaptive_grad_clip: parameters of rank up to 5 are known, given {typeof(x)}."
        )
    along = axes[ndim or 0]
    return homogeneous(lambda x: xnp.sqrt(xnp.sum(square(x), axis=along, keepdims=True)), x, along)


def adaptive_grad_clip(clipping: float, eps: float = 1e-3) -> GradientTransformation:
    """Bounds each unit's gradient to a fraction of its parameters' norm. (Brock et al. 2021)

    Args:
      clipping: the norm of an update at most, relative to that of its parameters.
      eps: norms of parameters count as this at least.

    >>> import xcore.numpy as xnp
    >>> c = adaptive_grad_clip(0.5)
    >>> c.update(xnp.asarray([3.0, 4.0]), (), xnp.asarray([1.0, 0.0]))[0]
    Array([0.3, 0.4], dtype=float32)
    """

    def clipped(u, p):
        need_params("adaptive_grad_clip", p)
        u, p = xnp.asarray(u), xnp.asarray(p)
        norm, most = _unitwise_norm(u), clipping * xnp.maximum(_unitwise_norm(p), eps)
        shorter = u * (most / xnp.maximum(norm, 1e-6))
        return xnp.where(norm < most, u, shorter).astype(u.dtype)

    return stateless_with_tree_map(clipped)


def centralize() -> GradientTransformation:
    """Subtracts from each leaf of rank 2 or more its mean over all axes but the first. (Yong et al. 2020)

    >>> import xcore.numpy as xnp
    >>> centralize().update(xnp.asarray([[1.0, 2.0], [3.0, 4.0]]), ())[0]
    Array([[-0.5,  0.5],
           [-0.5,  0.5]], dtype=float32)
    """

    def centred(u, p):
        u = xnp.asarray(u)
        if u.ndim < 2:
            return u
        return u - xnp.mean(u, axis=tuple(range(1, u.ndim)), keepdims=True)

    return stateless_with_tree_map(centred)


class AddNoiseState(NamedTuple):
    """How many updates were made, and the key of the next one's noise."""

    count: Any
    key: Any


def add_noise(eta: float, gamma: float, key: Key | int) -> GradientTransformation:
    """Adds normal noise of variance eta / nᵞ at step n. (Neelakantan et al. 2014)

    Args:
      eta: the variance of the noise in the first step.
      gamma: the variance in step k, from 1 on, is eta / k^gamma.
      key: random key, or a whole number that one is made of.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> noise = add_noise(0.01, 0.55, xc.random.key(0))
    >>> g = xnp.zeros(1000)
    >>> round(float(noise.update(g, noise.init(g))[0].std()), 1)
    0.1
    """

    def init(params):
        return AddNoiseState(zero_count(), random.key(key) if isinstance(key, int) else key)

    def update(g, state, params=None):
        count = next_count(state.count)
        next_key, own = random.split(state.key)
        leaves, structure = tree.flatten(g)
        keys = random.split(own, max(len(leaves), 1))
        noisy = [_plus_noise(x, k, eta, gamma, count) for x, k in zip(leaves, keys)]
        return tree.unflatten(structure, noisy), AddNoiseState(count, next_key)

    return GradientTransformation(init, update)


def _plus_noise(x, key, eta, gamma, count):
    x = xnp.asarray(x)
    deviation = xnp.sqrt(eta / xnp.power(count.astype(dtypes.to_real(x.dtype)), gamma))
    return x + deviation.astype(dtypes.to_real(x.dtype)) * random.normal(key, x.shape, x.dtype)


class ZeroNansState(NamedTuple):
    """Where the last update had a NaN."""

    found_nan: Any


def zero_nans() -> GradientTransformation:
    """Replaces NaN by zero.

    >>> float(zero_nans().update(float("nan"), ())[0])
    0.0
    """

    def update(g, state, params=None):
        found = tree.map(lambda x: xnp.any(xnp.isnan(x)), g)
        return tree.map(lambda x: xnp.where(xnp.isnan(x), 0, x), g), ZeroNansState(found)

    return GradientTransformation(
        lambda p: ZeroNansState(tree.map(lambda x: xnp.zeros((), bool), p)), update
    )


def keep_params_nonnegative() -> GradientTransformation:
    """Shortens updates so that parameters do not become negative.

    >>> keep_params_nonnegative().update(-3.0, (), 1.0)[0]
    Array(-1., dtype=float32, weak_type=True)
    """

    def kept(u, p):
        need_params("keep_params_nonnegative", p)
        return xnp.where(p + u < 0, -p, u)

    return stateless_with_tree_map(kept)


class ApplyIfFiniteState(NamedTuple):
    """Counts of updates that were not finite: in a row, and in all; and the inner state."""

    notfinite_count: Any
    last_finite: Any
    total_notfinite: Any
    inner_state: Any


def apply_if_finite(
    inner: GradientTransformation, max_consecutive_errors: int
) -> GradientTransformation:
    """Makes an update zero, and forgets it, where its gradient has infinities or NaN.

    After ``max_consecutive_errors`` of them in a row they are let through.

    Args:
      inner: the transformation.
      max_consecutive_errors: int; at most this many updates in a row are held back.

    >>> import xcore.optimize as xo
    >>> safe = xo.apply_if_finite(xo.sgd(0.1), 5)
    >>> float(safe.update(float("inf"), safe.init(1.0))[0])
    0.0
    """

    def init(params):
        return ApplyIfFiniteState(
            zero_count(), xnp.ones((), bool), zero_count(), inner.init(params)
        )

    def update(g, state, params=None):
        g = tree.map(xnp.asarray, g)
        finite = all_finite(g)
        count = xnp.where(finite, 0, next_count(state.notfinite_count))
        go = finite | (count > max_consecutive_errors)
        updates, inner_state = inner.update(g, state.inner_state, params)
        updates = tree.map(lambda u: xnp.where(go, u, 0), updates)
        total = xnp.where(finite, state.total_notfinite, next_count(state.total_notfinite))
        return updates, ApplyIfFiniteState(
            count, finite, total, select(go, inner_state, state.inner_state)
        )

    return GradientTransformation(init, update)
