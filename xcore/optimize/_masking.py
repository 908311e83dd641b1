"""Transformations of some of the parameters only."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._core import PyTree, tree
from ._transform import GradientTransformation, at_count, need_params, next_count, zero_count


class MaskedNode(NamedTuple):
    """Stands for a leaf that a transformation does not see."""


class MaskedState(NamedTuple):
    """The state of the transformation of the leaves that are seen."""

    inner_state: Any


def masked(inner: GradientTransformation, mask: PyTree) -> GradientTransformation:
    """The transformation of some leaves; the others pass unchanged.

    Args:
      inner: what happens to them.
      mask: booleans, in a tree like the parameters or a prefix of it, or a function from the
        parameters to such a tree.

    >>> import xcore.optimize as xo
    >>> some = xo.masked(xo.scale(-1.0), {"w": True, "b": False})
    >>> some.update({"w": 1.0, "b": 1.0}, some.init({"w": 0.0, "b": 0.0}))[0]
    {'b': 1.0, 'w': -1.0}
    """

    def marks(like):
        return tree.broadcast(mask(like) if callable(mask) else mask, like)

    def seen(marks_, x):
        return None if x is None else tree.map(lambda m, x: x if m else MaskedNode(), marks_, x)

    def update(updates, state, params=None):
        m = marks(updates)
        new, inner_state = inner.update(seen(m, updates), state.inner_state, seen(m, params))
        return tree.map(lambda m, u, n: n if m else u, m, updates, new), MaskedState(inner_state)

    return GradientTransformation(lambda p: MaskedState(inner.init(seen(marks(p), p))), update)


class PartitionState(NamedTuple):
    """The states of the transformations, by label."""

    inner_states: Any


def partition(transforms: dict, param_labels: PyTree) -> GradientTransformation:
    """Another transformation for each group of leaves.

    Args:
      transforms: transformations by label.
      param_labels: labels, in a tree like the parameters or a prefix of it, or a function from the
        parameters to such a tree.

    >>> import xcore.optimize as xo
    >>> groups = xo.partition({"fast": xo.sgd(1.0), "slow": xo.sgd(0.1)}, {"w": "slow", "b": "fast"})
    >>> groups.update({"w": 1.0, "b": 1.0}, groups.init({"w": 0.0, "b": 0.0}))[0]
    {'b': -1.0, 'w': -0.1}
    """

    def labels(like):
        found = tree.broadcast(param_labels(like) if callable(param_labels) else param_labels, like)
        unknown = set(tree.leaves(found)) - set(transforms)
        if unknown:
            raise ValueError(
                f"xcore.optimize.partition: no transformation for the labels {sorted(map(str, unknown))}; "
                f"given are {sorted(map(str, transforms))}."
            )
        return found

    def part(label):
        return masked(transforms[label], lambda x: tree.map(lambda own: own == label, labels(x)))

    def update(updates, state, params=None):
        states = {}
        for label in transforms:
            updates, states[label] = part(label).update(updates, state.inner_states[label], params)
        return updates, PartitionState(states)

    return GradientTransformation(
        lambda p: PartitionState({label: part(label).init(p) for label in transforms}), update
    )


class AddDecayedWeightsState(NamedTuple):
    """How many updates were made."""

    count: Any


def add_decayed_weights(weight_decay: float = 0.0, mask: PyTree = None) -> GradientTransformation:
    """Adds ``weight_decay`` times the parameters: l2 before a rescaling, weight decay after it.

    Args:
      weight_decay: a number, or a schedule.
      mask: a tree of booleans (or a function that makes it) that says where; see ``masked``.

    >>> import xcore.numpy as xnp
    >>> decay = add_decayed_weights(0.1)
    >>> decay.update(1.0, decay.init(5.0), 5.0)[0]
    1.5
    """

    def update(g, state, params=None):
        need_params("add_decayed_weights", params)
        factor = at_count(weight_decay, state.count)
        if not (isinstance(factor, (int, float)) and factor == 0):
            g = tree.map(lambda g, p: g + factor * p, g, params)
        return g, AddDecayedWeightsState(next_count(state.count))

    plain = GradientTransformation(lambda params: AddDecayedWeightsState(zero_count()), update)
    return plain if mask is None else masked(plain, mask)
