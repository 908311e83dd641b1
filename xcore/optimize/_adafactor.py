"""Adafactor: second moments of matrices kept as their row and column means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import numpy as xnp
from .._core import Array, DTypeLike, PyTree, tree, typeof
from ._clipping import clip_by_block_rms
from ._masking import add_decayed_weights
from ._scaling import ema
from ._sizes import scale_by_param_block_rms
from ._transform import (
    GradientTransformation,
    chain,
    need_params,
    next_count,
    scale,
    scale_by_learning_rate,
    square,
    zero_count,
)


class FactoredState(NamedTuple):
    """Number of steps; means over the rows, over the columns, or all of what is not factored."""

    count: Any
    v_row: Any
    v_col: Any
    v: Any


def _axes(shape, factored: bool, least: int):
    """The second largest and the largest axis, if means over them replace the whole."""
    if not factored or len(shape) < 2:
        return None
    order = np.argsort(shape, kind="stable")
    return None if shape[order[-2]] < least else (int(order[-2]), int(order[-1]))


def _decay(step, rate):
    return 1 - xnp.power((step + 1).astype(np.float32), -rate)


def scale_by_factored_rms(
    factored: bool = True, decay_rate: float = 0.8, step_offset: int = 0,
    min_dim_size_to_factor: int = 128, epsilon: float = 1e-30,
    decay_rate_fn: Callable[[Any, float], Any] = _decay,
) -> GradientTransformation:  # fmt: skip
    """Divides by the root of the average square, of rank one for large matrices. (Shazeer, Stern 2018)

    Args:
      factored: whether squares are kept as sums of rows and columns.
      decay_rate: exponent of the decay of the averages.
      step_offset: int; number of the step at which the decay begins.
      min_dim_size_to_factor: int; arrays are factored whose second largest axis is so long.
      epsilon: number added to squared gradients.
      decay_rate_fn: function of (step, decay_rate) that gives how much of the averages is kept.

    >>> import xcore.numpy as xnp
    >>> s = scale_by_factored_rms()
    >>> s.update(xnp.asarray([2.0]), s.init(xnp.ones(1)), xnp.ones(1))[0]
    Array([1.], dtype=float32)
    """

    def start(p):
        shape, dtype = typeof(p).shape, typeof(p).dtype
        axes, nothing = _axes(shape, factored, min_dim_size_to_factor), xnp.zeros((1,), dtype)
        if axes is None:
            return nothing, nothing, xnp.zeros(shape, dtype)
        d1, d0 = axes
        row, col = (tuple(np.delete(shape, d)) for d in (d0, d1))
        return xnp.zeros(row, dtype), xnp.zeros(col, dtype), nothing

    def moved(g, row, col, v, b):
        axes, dtype = _axes(typeof(g).shape, factored, min_dim_size_to_factor), typeof(row).dtype
        squares = square(g) + epsilon
        if axes is None:
            v = (b * v + (1 - b) * squares).astype(dtype)
            return g / xnp.sqrt(v), row, col, v
        d1, d0 = axes
        row = (b * row + (1 - b) * xnp.mean(squares, axis=d0)).astype(dtype)
        col = (b * col + (1 - b) * xnp.mean(squares, axis=d1)).astype(dtype)
        mean = xnp.mean(row, axis=d1 - 1 if d1 > d0 else d1, keepdims=True)
        by_row, by_col = 1 / xnp.sqrt(row / mean), 1 / xnp.sqrt(col)
        return g * xnp.expand_dims(by_row, d0) * xnp.expand_dims(by_col, d1), row, col, v

    def init(params):
        leaves, structure = tree.flatten(params)
        parts = zip(*[start(p) for p in leaves]) if leaves else ((), (), ())
        return FactoredState(zero_count(), *[tree.unflatten(structure, part) for part in parts])

    def update(updates, state, params=None):
        need_params("scale_by_factored_rms", params)
        leaves, structure = tree.flatten(updates)
        olds = zip(*[tree.flatten_up_to(structure, x) for x in (state.v_row, state.v_col, state.v)])
        b = decay_rate_fn(state.count - step_offset, decay_rate)
        found = [moved(g, *old, xnp.asarray(b, typeof(g).dtype)) for g, old in zip(leaves, olds)]
        parts = zip(*found) if leaves else ((), (), (), ())
        out, row, col, v = [tree.unflatten(structure, part) for part in parts]
        return out, FactoredState(next_count(state.count), row, col, v)

    return GradientTransformation(init, update)


def adafactor(
    learning_rate: float | Array | Callable[[Any], Any] | None = None,
    min_dim_size_to_factor: int = 128, decay_rate: float = 0.8, decay_offset: int = 0,
    multiply_by_parameter_scale: bool = True, clipping_threshold: float | None = 1.0,
    momentum: float | None = None, dtype_momentum: DTypeLike = np.float32,
    weight_decay_rate: float | None = None, eps: float = 1e-30, factored: bool = True,
    weight_decay_mask: PyTree = None,
) -> GradientTransformation:  # fmt: skip
    """Adafactor: memory for a matrix of n rows and m columns is n + m numbers. (Shazeer, Stern 2018)

    Args:
      learning_rate: a number or a schedule; None for steps of the size that Adafactor finds.
      min_dim_size_to_factor: int; arrays are factored whose second largest axis is so long.
      decay_rate: exponent of the decay of the averages.
      decay_offset: int; number of the step at which the decay begins.
      multiply_by_parameter_scale: whether steps are in proportion to the parameters.
      clipping_threshold: the root of the mean square of an update at most; None for no limit.
      momentum: how much of the last update is kept; None for no momentum.
      dtype_momentum: dtype of the momentum.
      weight_decay_rate: this times the parameters is added to the updates; None for none.
      eps: number added to squared gradients.
      factored: whether squares are kept as sums of rows and columns.
      weight_decay_mask: a tree of booleans, or a function that makes it: what decays.

    >>> import xcore.numpy as xnp
    >>> opt = adafactor(0.1)
    >>> opt.update(xnp.asarray([2.0]), opt.init(xnp.ones(1)), xnp.ones(1))[0]
    Array([-0.1], dtype=float32)
    """
    parts = [scale_by_factored_rms(factored, decay_rate, decay_offset, min_dim_size_to_factor, eps)]
    if clipping_threshold is not None:
        parts.append(clip_by_block_rms(clipping_threshold))
    if learning_rate is not None:
        parts.append(scale_by_learning_rate(learning_rate, flip_sign=False))
    if multiply_by_parameter_scale:
        parts.append(scale_by_param_block_rms())
    if momentum is not None:
        parts.append(ema(momentum, debias=False, accumulator_dtype=dtype_momentum))
    if weight_decay_rate is not None:
        parts.append(add_decayed_weights(weight_decay_rate, weight_decay_mask))
    return chain(*parts, scale(-1))
