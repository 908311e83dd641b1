"""Gradient transformations: pairs of functions that turn gradients into updates, and their algebra.

``init(params) -> state`` and ``update(updates, state, params) -> (updates, state)``, on any pytree.
An optimizer is a chain of them, the last of which multiplies by minus the learning rate. Names and
formulas are Optax's.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import numpy as xnp
from .._control import cond, custom_jvp
from .._core import Array, ArrayLike, PyTree, dtypes, errors, tree, typeof
from ..linalg._range import in_units, magnitude
from ..numpy._promote import as_inexact, refuse_complex


class GradientTransformation(NamedTuple):
    """A pair ``init(params) -> state``, ``update(updates, state, params) -> (updates, state)``.

    >>> import xcore.optimize as xo
    >>> double = xo.GradientTransformation(lambda params: (), lambda g, s, params=None: (2 * g, s))
    >>> double.update(3.0, double.init(1.0))[0]
    6.0
    """

    init: Callable[[Any], Any]
    update: Callable[..., tuple[Any, Any]]


class EmptyState(NamedTuple):
    """The state of a transformation that remembers nothing."""


def zero_count():
    return xnp.zeros((), np.int32)


def next_count(count):
    """One more, but for the largest integer, which stays."""
    most = np.int32(2**31 - 1)
    return xnp.where(count < most, count + np.int32(1), most)


def at_count(value, count):
    """A hyperparameter: a number, or a schedule at this step."""
    return value(count) if callable(value) else value


def need_params(who: str, params):
    if params is None:
        raise TypeError(
            f"xcore.optimize.{who}: its update uses the parameters: call update(grads, state, params)."
        )


def norm_squared(x):
    """The sum of |x|², real."""
    return xnp.sum(square(x))


def square(x):
    """|x|², real also for complex x."""
    return xnp.real(x * xnp.conj(x)) if dtypes.is_complex(typeof(x).dtype) else x * x


def global_norm(updates: PyTree) -> Array:
    """The Euclidean norm of all numbers of a tree.

    Args:
      updates: array or pytree of arrays.

    >>> import xcore.optimize as xo, xcore.numpy as xnp
    >>> xo.global_norm({"a": xnp.asarray([3.0]), "b": 4.0})
    Array(5., dtype=float32)
    """
    leaves = [as_inexact("optimize.global_norm", x) for x in tree.leaves(updates)]
    return _norm_of_all(leaves) if leaves else xnp.asarray(0.0)


@custom_jvp
def _norm_of_all(leaves: list):
    size = _root_of_squares(leaves)
    limits = [dtypes.finfo(x.dtype) for x in leaves]
    low, high = (max(float(f.tiny) for f in limits), min(float(f.max) for f in limits))
    inside = (size > 1e3 * low**0.5) & (size < 1e-3 * high**0.5)

    def in_units():  # where squares leave the range of a dtype
        unit = functools.reduce(xnp.maximum, [magnitude(x).astype(size.dtype) for x in leaves])
        return (_root_of_squares([_divided(x, unit) for x in leaves]) * unit).astype(size.dtype)

    return cond(inside, lambda: size, in_units)


@_norm_of_all.defjvp
def _norm_of_all_jvp(primals, tangents):
    (leaves,), (moves,) = primals, tangents
    size = _norm_of_all(leaves)
    units = [_divided(x, xnp.where(size == 0, 1, size)) for x in leaves]
    terms = [xnp.sum(xnp.real(xnp.conj(x) * dx)) for x, dx in zip(units, moves, strict=True)]
    return size, sum(terms, start=xnp.asarray(0.0)).astype(size.dtype)


def _root_of_squares(leaves: list):
    return xnp.sqrt(sum([norm_squared(x) for x in leaves], start=xnp.asarray(0.0)))


def _divided(x, size):
    return x / size.astype(dtypes.to_real(x.dtype))


def homogeneous(f: Callable, x, axis=None):
    """f(x) of degree 1, in units in which squares stay in range."""
    unit, x = in_units(x, axis)
    return f(x) * unit


def apply_updates(params: PyTree, updates: PyTree) -> PyTree:
    """Parameters plus updates, in the dtypes of the parameters.

    Args:
      params: tree of arrays.
      updates: tree like it, of what is added.

    >>> apply_updates({"w": 1.0}, {"w": 0.5})
    {'w': Array(1.5, dtype=float32, weak_type=True)}
    """

    def add(p, u):
        p = xnp.asarray(p)
        total = p + u
        refuse_complex("optimize.apply_updates", total, p.dtype)
        return total if typeof(total).dtype == p.dtype else total.astype(p.dtype)

    return tree.map(add, params, updates)


def incremental_update(new_tensors: PyTree, old_tensors: PyTree, step_size: ArrayLike) -> PyTree:
    """A step from the old values towards the new ones, leaf by leaf.

    Args:
      new_tensors: tree of arrays.
      old_tensors: tree like it.
      step_size: which part of the way from old to new.

    >>> incremental_update(2.0, 1.0, 0.25)
    1.25
    """
    kept = 1.0 - step_size  # pyright: ignore[reportOperatorIssue]
    return tree.map(lambda new, old: step_size * new + kept * old, new_tensors, old_tensors)


def stateless(f: Callable[[Any, Any], Any]) -> GradientTransformation:
    """The transformation ``updates -> f(updates, params)``.

    Args:
      f: function of the updates and the parameters, which returns new updates.

    >>> import xcore.optimize as xo
    >>> halve = xo.stateless(lambda updates, params: xo.tree_scale(0.5, updates))
    >>> halve.update(3.0, halve.init(1.0))[0]
    1.5
    """
    return GradientTransformation(
        lambda params: EmptyState(), lambda updates, state, params=None: (f(updates, params), state)
    )


def stateless_with_tree_map(f: Callable[[Any, Any], Any]) -> GradientTransformation:
    """The transformation of each leaf, ``u -> f(u, p)``, p the parameter or None.

    Args:
      f: function of one update and its parameter, or None, which returns the new update.

    >>> flip = stateless_with_tree_map(lambda u, p: -u)
    >>> flip.update(3.0, flip.init(1.0))[0]
    -3.0
    """

    def every(updates, params):
        if params is None:
            return tree.map(lambda u: f(u, None), updates)
        return tree.map(f, updates, params)

    return stateless(every)


def identity() -> GradientTransformation:
    """The transformation that leaves updates as they are.

    >>> identity().update(3.0, ())[0]
    3.0
    """
    return stateless(lambda updates, params: updates)


def set_to_zero() -> GradientTransformation:
    """The transformation that makes all updates zero: parameters stay.

    >>> import xcore.numpy as xnp
    >>> set_to_zero().update(xnp.ones(2), ())[0]
    Array([0., 0.], dtype=float32)
    """
    return stateless_with_tree_map(lambda u, p: xnp.zeros_like(u))


def chain(*args: GradientTransformation) -> GradientTransformation:
    """Transformations one after the other; the state is the tuple of their states.

    Args:
      *args: transformations in the order in which they act.

    >>> import xcore.optimize as xo, xcore.numpy as xnp
    >>> def make_sgd(learning_rate, l2):
    ...     return xo.chain(xo.add_decayed_weights(l2), xo.scale(-learning_rate))
    >>> sgd = make_sgd(0.1, 0.5)
    >>> params = xnp.asarray([2.0])
    >>> sgd.update(xnp.asarray([1.0]), sgd.init(params), params)[0]  # -0.1 (1 + 0.5 * 2)
    Array([-0.2], dtype=float32)
    """
    for i, part in enumerate(args):
        if not (hasattr(part, "init") and hasattr(part, "update")):
            raise TypeError(
                f"xcore.optimize.chain: argument {i} must be a gradient transformation (a pair init, "
                f"update), given {errors.describe(part)}."
            )

    def init(params):
        return tuple(part.init(params) for part in args)

    def update(updates, state, params=None):
        if len(state) != len(args):
            raise ValueError(
                f"xcore.optimize.chain: a chain of {len(args)} transformations was given a state of "
                f"{len(state)}; make it with this chain's init."
            )
        made = []
        for part, own in zip(args, state):
            updates, new = part.update(updates, own, params)
            made.append(new)
        return updates, tuple(made)

    return GradientTransformation(init, update)


def named_chain(*pairs: tuple[str, GradientTransformation]) -> GradientTransformation:
    """``chain`` of (name, transformation) pairs, whose state is a dict by name.

    Args:
      *pairs: (name, transformation) in the order in which they act; names must differ.

    >>> import xcore.optimize as xo
    >>> sorted(xo.named_chain(("clip", xo.clip(1.0)), ("step", xo.scale(-0.1))).init(0.0))
    ['clip', 'step']
    """
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError(f"xcore.optimize.named_chain: names must differ, given {names}.")
    inner = chain(*[part for _, part in pairs])

    def update(updates, state, params=None):
        updates, new = inner.update(updates, tuple(state[n] for n in names), params)
        return updates, dict(zip(names, new))

    return GradientTransformation(lambda p: dict(zip(names, inner.init(p))), update)


# Trees as vectors


def tree_add(a: PyTree, b: PyTree) -> PyTree:
    """The sum of two trees.

    Args:
      a: tree of arrays.
      b: tree like a.

    >>> tree_add((1.0,), (2.0,))
    (3.0,)
    """
    return tree.map(operator.add, a, b)


def tree_sub(a: PyTree, b: PyTree) -> PyTree:
    """The difference of two trees.

    Args:
      a: tree of arrays.
      b: tree like a.

    >>> tree_sub((1.0,), (2.0,))
    (-1.0,)
    """
    return tree.map(operator.sub, a, b)


def tree_scale(factor: ArrayLike, a: PyTree) -> PyTree:
    """A number times a tree.

    Args:
      factor: number.
      a: tree of arrays.

    >>> tree_scale(2.0, {"a": 3.0})
    {'a': 6.0}
    """
    return tree.map(lambda x: factor * x, a)


def zeros_like(params, dtype=None):
    return tree.map(lambda p: xnp.zeros_like(p, dtype=dtype), params)


def select(which, a, b):
    """Tree a where a boolean scalar holds, else b."""
    return tree.map(lambda x, y: xnp.where(which, x, y), a, b)


def all_finite(x):
    """Whether all numbers of a tree are finite."""
    found = [xnp.all(xnp.isfinite(leaf)) for leaf in tree.leaves(tree.map(xnp.asarray, x))]
    if not found:
        return xnp.ones((), bool)
    return xnp.all(xnp.stack(found))


# Scaling


def scale(step_size: ArrayLike) -> GradientTransformation:
    """Multiplies updates by a number.

    Args:
      step_size: the factor; negative to go down the gradient.

    >>> scale(-0.5).update(2.0, ())[0]
    -1.0
    """
    return stateless_with_tree_map(lambda u, p: step_size * u)


class ScaleByScheduleState(NamedTuple):
    """How many updates were made."""

    count: Any


def scale_by_schedule(step_size_fn: Callable[[Any], Any]) -> GradientTransformation:
    """Multiplies updates by ``step_size_fn(number of this update)``, counted from 0.

    Args:
      step_size_fn: function of the step's index.

    >>> import xcore.optimize as xo
    >>> falling = xo.scale_by_schedule(lambda n: 1.0 / (1 + n))
    >>> _, state = falling.update(4.0, falling.init(0.0))
    >>> float(falling.update(4.0, state)[0])
    2.0
    """

    def update(updates, state, params=None):
        size = step_size_fn(state.count)
        updates = tree.map(lambda u: _as(size, u) * u, updates)
        return updates, ScaleByScheduleState(next_count(state.count))

    return GradientTransformation(lambda params: ScaleByScheduleState(zero_count()), update)


def _as(size, u):
    """A factor in the dtype of what it multiplies."""
    u = xnp.asarray(u)
    return xnp.asarray(size, u.dtype) if dtypes.is_inexact(u.dtype) else size


def scale_by_learning_rate(
    learning_rate: float | Array | Callable[[Any], Any], *, flip_sign: bool = True
) -> GradientTransformation:
    """Multiplies by minus the learning rate, a number or a schedule.

    Args:
      learning_rate: a number, or a schedule: a function of the step's index.
      flip_sign: whether it goes down, against the gradient.

    >>> scale_by_learning_rate(0.1).update(1.0, ())[0]
    -0.1
    """
    sign = -1 if flip_sign else 1
    if callable(learning_rate):
        return scale_by_schedule(lambda count: sign * learning_rate(count))
    return scale(sign * learning_rate)
