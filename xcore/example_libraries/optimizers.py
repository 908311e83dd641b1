"""Optimizers as triples of functions, and schedules of step sizes.

An optimizer is ``(init_fun, update_fun, get_params)``: ``init_fun(params)`` gives a state,
``update_fun(i, grads, state)`` the state after step i, ``get_params(state)`` the parameters in it.
States are pytrees.

>>> import xcore as xc, xcore.numpy as xnp
>>> from xcore.example_libraries import optimizers
>>> init, update, get_params = optimizers.momentum(0.1, mass=0.9)
>>> state = init({"x": xnp.array(1.0)})
>>> step = xc.jit(lambda i, s: update(i, xc.grad(lambda p: p["x"] ** 2)(get_params(s)), s))
>>> for i in range(100):
...     state = step(i, state)
>>> bool(abs(get_params(state)["x"]) < 0.01)
True
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from .. import numpy as xnp
from .._core import Array, errors, static, struct, tree
from .._core.typing import ArrayLike, P, PyTree

__all__ = [
    "Optimizer", "OptimizerState", "optimizer", "sgd", "momentum", "nesterov", "adagrad", "rmsprop",
    "rmsprop_momentum", "adam", "adamax", "sm3", "constant", "exponential_decay",
    "inverse_time_decay", "polynomial_decay", "piecewise_constant", "make_schedule", "l2_norm",
    "clip_grads", "JoinPoint", "pack_optimizer_state", "unpack_optimizer_state",
]  # fmt: skip


Schedule = Callable[[Any], Any]  # from the number of a step to its size


class Optimizer(NamedTuple):
    """The three functions of an optimizer of pytrees.

    >>> from xcore.example_libraries import optimizers
    >>> init, update, params = optimizers.sgd(0.1)
    >>> params(update(0, {"w": 2.0}, init({"w": 1.0})))
    {'w': Array(0.8, dtype=float32, weak_type=True)}
    """

    init_fn: Any
    update_fn: Any
    params_fn: Any


@struct
class OptimizerState:
    """What an optimizer keeps: for each leaf of the parameters, in order, a pytree of its own.

    >>> from xcore.example_libraries import optimizers
    >>> state = optimizers.momentum(0.1, 0.9).init_fn({"w": 1.0})
    >>> isinstance(state, optimizers.OptimizerState)
    True
    """

    leaves: tuple
    structure: Any = static()


def optimizer(maker: Callable[P, tuple[Any, Any, Any]]) -> Callable[P, Optimizer]:
    """Makes an optimizer of pytrees out of one of single arrays.

    Args:
      maker: function that gives ``(init, update, get_params)`` for parameters that are one array.

    >>> import xcore.numpy as xnp
    >>> from xcore.example_libraries import optimizers
    >>> @optimizers.optimizer
    ... def descent(size):
    ...     return lambda x: x, lambda i, g, x: x - size * g, lambda x: x
    >>> init, update, get_params = descent(0.5)
    >>> get_params(update(0, [xnp.array([2.0])], init([xnp.array([1.0])])))
    [Array([0.], dtype=float32)]
    """

    @functools.wraps(maker)
    def tree_maker(*args, **kwargs):
        init, update, get_params = maker(*args, **kwargs)

        def init_fn(params):
            leaves, structure = tree.flatten(params)
            return OptimizerState(tuple(map(init, leaves)), structure)

        def update_fn(i, grads, state):
            leaves, structure = tree.flatten(grads)
            if structure != state.structure:
                raise errors.bad_argument(
                    maker.__name__,
                    "grads",
                    structure,
                    f"a tree like the parameters: {state.structure}",
                )
            moved = (update(i, g, s) for g, s in zip(leaves, state.leaves, strict=True))
            return OptimizerState(tuple(moved), structure)

        def params_fn(state):
            return tree.unflatten(state.structure, [get_params(s) for s in state.leaves])

        return Optimizer(init_fn, update_fn, params_fn)

    return tree_maker


# The optimizers


@optimizer
def sgd(step_size: ArrayLike | Schedule) -> tuple[Any, Any, Any]:
    """Gradient descent, ``x - a g``.

    Args:
      step_size: a number, or a schedule: a function from the step's number to a number.

    >>> from xcore.example_libraries import optimizers
    >>> init, update, get_params = optimizers.sgd(0.5)
    >>> round(float(get_params(update(0, 1.0, init(2.0)))), 4)
    1.5
    """
    size = make_schedule(step_size)
    return xnp.asarray, lambda i, g, x: x - size(i) * g, lambda x: x


def _with_memory(step, memories: int = 1):
    """An optimizer from ``step(i, g, x, *memories) -> (x, *memories)``; memories start at zero."""

    def init(x):
        x = xnp.asarray(x)
        return (x, *(xnp.zeros_like(x) for _ in range(memories)))

    return init, lambda i, g, state: step(i, g, *state), lambda state: state[0]


@optimizer
def momentum(step_size: ArrayLike | Schedule, mass: float) -> tuple[Any, Any, Any]:
    """Gradient descent with momentum: ``v = m v + g``, ``x - a v``.

    Args:
      step_size: a number or a schedule.
      mass: m, below 1.

    >>> from xcore.example_libraries import optimizers
    >>> init, update, get_params = optimizers.momentum(0.5, 0.9)
    >>> round(float(get_params(update(1, 1.0, update(0, 1.0, init(2.0))))), 4)
    0.55
    """
    size = make_schedule(step_size)

    def step(i, g, x, v):
        v = mass * v + g
        return x - size(i) * v, v

    return _with_memory(step)


@optimizer
def nesterov(step_size: ArrayLike | Schedule, mass: float) -> tuple[Any, Any, Any]:
    """Nesterov's gradient descent: ``v = m v + g``, ``x - a (m v + g)``.

    Args:
      step_size: a number or a schedule.
      mass: m, below 1.

    >>> from xcore.example_libraries import optimizers
    >>> init, update, get_params = optimizers.nesterov(0.5, 0.5)
    >>> round(float(get_params(update(0, 1.0, init(2.0)))), 4)
    1.25
    """
    size = make_schedule(step_size)

    def step(i, g, x, v):
        v = mass * v + g
        return x - size(i) * (mass * v + g), v

    return _with_memory(step)


def _inverse_root(squares):
    """1/√squares, and 0 where that has no value: no gradient was seen there yet."""
    seen = squares > 0
    return xnp.where(seen, 1 / xnp.sqrt(xnp.where(seen, squares, 1)), 0)


@optimizer
def adagrad(step_size: ArrayLike | Schedule, momentum: float = 0.9) -> tuple[Any, Any, Any]:
    """Steps divided by the root of the sum of all squared gradients, with momentum.

    Args:
      step_size: a number or a schedule.
      momentum: weight of the earlier steps.

    >>> from xcore.example_libraries import optimizers
    >>> init, update, get_params = optimizers.adagrad(0.5, momentum=0.0)
    >>> round(float(get_params(update(0, 4.0, init(2.0)))), 4)
    1.5
    """
    size = make_schedule(step_size)

    def step(i, g, x, squares, m):
        squares = squares + g * g
        m = (1 - momentum) * (g * _inverse_root(squares)) + momentum * m
        return x - size(i) * m, squares, m

    return _with_memory(step, 2)


@optimizer
def rmsprop(
    step_size: ArrayLike | Schedule, gamma: float = 0.9, eps: float = 1e-8
) -> tuple[Any, Any, Any]:
    """Steps divided by the root of a running mean of squared gradients.

    Args:
      step_size: a number or a schedule.
      gamma: weight of the earlier squares.
      eps: added below the root.

    >>> from xcore.example_libraries import optimizers
    >>> init, update, get_params = optimizers.rmsprop(0.5, gamma=0.0)
    >>> round(float(get_params(update(0, 4.0, init(2.0)))), 4)
    1.5
    """
    size = make_schedule(step_size)

    def step(i, g, x, squares):
        squares = squares * gamma + g * g * (1 - gamma)
        return x - size(i) * g / xnp.sqrt(squares + eps), squares

    return _with_memory(step)


@optimizer
def rmsprop_momentum(
    step_size: ArrayLike | Schedule, gamma: float = 0.9, eps: float = 1e-8, momentum: float = 0.9
) -> tuple[Any, Any, Any]:
    """`rmsprop` with momentum.

    Args:
      step_size: a number or a schedule.
      gamma: weight of the earlier squares.
      eps: added below the root.
      momentum: weight of the earlier steps.

    >>> from xcore.example_libraries import optimizers
    >>> init, update, get_params = optimizers.rmsprop_momentum(0.5, gamma=0.0)
    >>> round(float(get_params(update(0, 4.0, init(2.0)))), 4)
    1.5
    """
    size = make_schedule(step_size)

    def step(i, g, x, squares, m):
        squares = squares * gamma + g * g * (1 - gamma)
        m = momentum * m + size(i) * g / xnp.sqrt(squares + eps)
        return x - m, squares, m

    return _with_memory(step, 2)


@optimizer
def adam(
    step_size: ArrayLike | Schedule, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
) -> tuple[Any, Any, Any]:
    """Adam: running means of gradients and of their squares, both freed of their start at zero.

    (Kingma and Ba, arXiv:1412.6980, algorithm 1)

    Args:
      step_size: a number or a schedule.
      b1, b2: weights of the earlier gradients and squares.
      eps: added to the root.

    >>> from xcore.example_libraries import optimizers
    >>> init, update, get_params = optimizers.adam(0.5)
    >>> round(float(get_params(update(0, 4.0, init(2.0)))), 4)
    1.5
    """
    size = make_schedule(step_size)

    def step(i, g, x, m, v):
        count = xnp.asarray(i, m.dtype) + 1
        m = (1 - b1) * g + b1 * m
        v = (1 - b2) * g * g + b2 * v
        mean, square = m / (1 - b1**count), v / (1 - b2**count)
        return x - size(i) * mean / (xnp.sqrt(square) + eps), m, v

    return _with_memory(step, 2)


@optimizer
def adamax(
    step_size: ArrayLike | Schedule, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
) -> tuple[Any, Any, Any]:
    """Adam with the largest gradient, forgotten slowly, in place of the root of mean squares.

    (Kingma and Ba, arXiv:1412.6980, algorithm 2)

    Args:
      step_size: a number or a schedule.
      b1, b2: weights of the earlier gradients and extrema.
      eps: added to the divisor.

    >>> from xcore.example_libraries import optimizers
    >>> init, update, get_params = optimizers.adamax(0.5)
    >>> round(float(get_params(update(0, 4.0, init(2.0)))), 4)
    1.5
    """
    size = make_schedule(step_size)

    def step(i, g, x, m, largest):
        count = xnp.asarray(i, m.dtype) + 1
        m = (1 - b1) * g + b1 * m
        largest = xnp.maximum(b2 * largest, abs(g))
        return x - size(i) / (1 - b1**count) * m / (largest + eps), m, largest

    return _with_memory(step, 2)


@optimizer
def sm3(step_size: ArrayLike | Schedule, momentum: float = 0.9) -> tuple[Any, Any, Any]:
    """`adagrad` that keeps one sum for each index of each axis in place of one for each element.

    (Anil, Gupta, Koren and Singer, arXiv:1901.11150)

    Args:
      step_size: a number or a schedule.
      momentum: weight of the earlier steps.

    >>> import xcore.numpy as xnp
    >>> from xcore.example_libraries import optimizers
    >>> init, update, get_params = optimizers.sm3(0.5, momentum=0.0)
    >>> get_params(update(0, xnp.ones((2, 2)), init(xnp.ones((2, 2)))))
    Array([[0.5, 0.5],
           [0.5, 0.5]], dtype=float32)
    """
    size = make_schedule(step_size)

    def init(x):
        x = xnp.asarray(x)
        sums = [xnp.zeros((n,), x.dtype) for n in x.shape] or [xnp.zeros((), x.dtype)]
        return x, xnp.zeros_like(x), sums

    def update(i, g, state):
        x, m, sums = state
        axes = range(x.ndim)
        bounds = [s.reshape([-1 if k == axis else 1 for k in axes]) for axis, s in enumerate(sums)]
        squares = functools.reduce(xnp.minimum, bounds) + g * g
        m = (1 - momentum) * (g * _inverse_root(squares)) + momentum * m
        others = [tuple(k for k in axes if k != axis) for axis in range(len(sums))]
        return x - size(i) * m, m, [squares.max(o) if o else squares for o in others]

    return init, update, lambda state: state[0]


# Schedules


def constant(step_size: ArrayLike) -> Schedule:
    """The same size at every step.

    Args:
      step_size: number.

    >>> from xcore.example_libraries import optimizers
    >>> optimizers.constant(0.5)(7)
    0.5
    """
    return lambda i: step_size


def exponential_decay(step_size: ArrayLike, decay_steps: float, decay_rate: float) -> Schedule:
    """``step_size * decay_rate ** (i / decay_steps)``.

    Args:
      step_size: number; the size at step 0.
      decay_steps: number of steps after which it is decay_rate times as large.
      decay_rate: factor.

    >>> from xcore.example_libraries import optimizers
    >>> optimizers.exponential_decay(1.0, 10, 0.5)(20)
    0.25
    """
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(
    step_size: ArrayLike, decay_steps: float, decay_rate: float, staircase: bool = False
) -> Schedule:
    """``step_size / (1 + decay_rate * i / decay_steps)``; with ``staircase``, in whole periods.

    Args:
      step_size: number; the size at step 0.
      decay_steps: length of a period in steps.
      decay_rate: by how much the divisor grows in a period.
      staircase: whether it grows at the end of a period only.

    >>> from xcore.example_libraries import optimizers
    >>> optimizers.inverse_time_decay(1.0, 10, 1.0)(10)
    0.5
    """
    if staircase:
        return lambda i: step_size / (1 + decay_rate * xnp.floor(i / decay_steps))
    return lambda i: step_size / (1 + decay_rate * i / decay_steps)


def polynomial_decay(
    step_size: ArrayLike, decay_steps: float, final_step_size: ArrayLike, power: float = 1.0
) -> Schedule:
    """From ``step_size`` to ``final_step_size`` in ``decay_steps`` steps, by a power.

    Args:
      step_size: number; the size at step 0.
      decay_steps: number of steps until the final size.
      final_step_size: number; the size from there on.
      power: exponent of what is left of the way.

    >>> from xcore.example_libraries import optimizers
    >>> float(optimizers.polynomial_decay(1.0, 10, 0.0)(5))
    0.5
    """

    def schedule(i):
        left = 1 - xnp.minimum(i, decay_steps) / decay_steps
        return left**power * (step_size - final_step_size) + final_step_size  # pyright: ignore[reportOperatorIssue]

    return schedule


def piecewise_constant(
    boundaries: ArrayLike | Sequence[float], values: ArrayLike | Sequence[float]
) -> Schedule:
    """values[0] up to the step boundaries[0], included, then values[1], and so on.

    Args:
      boundaries: rising numbers of steps.
      values: sizes, one more.

    >>> from xcore.example_libraries import optimizers
    >>> optimizers.piecewise_constant([10], [1.0, 0.1])(11)
    Array(0.1, dtype=float32)
    """
    boundaries, values = xnp.asarray(boundaries), xnp.asarray(values)
    if not boundaries.ndim == values.ndim == 1 or len(boundaries) != len(values) - 1:
        raise errors.bad_argument(
            "piecewise_constant", "values", values.shape, "one number more than boundaries"
        )
    return lambda i: values[xnp.sum(i > boundaries)]


def make_schedule(scalar_or_schedule_fun: ArrayLike | Schedule) -> Schedule:
    """A schedule as it is, a number as the schedule that is constant.

    Args:
      scalar_or_schedule_fun: number, or function of the step's index.

    >>> from xcore.example_libraries import optimizers
    >>> optimizers.make_schedule(0.1)(3)
    0.1
    """
    if callable(scalar_or_schedule_fun):
        return scalar_or_schedule_fun
    if xnp.ndim(scalar_or_schedule_fun):
        raise errors.bad_argument(
            "make_schedule",
            "step_size",
            scalar_or_schedule_fun,
            "a number or a function of the step",
        )
    return constant(scalar_or_schedule_fun)


# Gradients


def l2_norm(tree_: PyTree) -> Array:
    """The root of the sum of squares of all leaves.

    Args:
      tree_: array or pytree of arrays.

    >>> import xcore.numpy as xnp
    >>> from xcore.example_libraries import optimizers
    >>> optimizers.l2_norm({"a": xnp.array([3.0]), "b": xnp.array([4.0])})
    Array(5., dtype=float32)
    """
    return xnp.sqrt(sum(xnp.vdot(x, x).real for x in tree.leaves(tree_)))


def clip_grads(grad_tree: PyTree, max_norm: ArrayLike) -> PyTree:
    """The gradients, scaled so that their `l2_norm` is ``max_norm`` at most.

    Args:
      grad_tree: tree of arrays.
      max_norm: number.

    >>> import xcore.numpy as xnp
    >>> from xcore.example_libraries import optimizers
    >>> optimizers.clip_grads([xnp.array([3.0]), xnp.array([4.0])], 1.0)
    [Array([0.6], dtype=float32), Array([0.8], dtype=float32)]
    """
    norm = l2_norm(grad_tree)
    return tree.map(lambda g: xnp.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree)


# States as trees shaped like the parameters


class JoinPoint:
    """The mark between the tree of the parameters and what is kept for one leaf.

    >>> from xcore.example_libraries import optimizers
    >>> state = optimizers.momentum(0.1, 0.9).init_fn({"w": 1.0})
    >>> optimizers.unpack_optimizer_state(state)["w"].subtree
    (Array(1., dtype=float32, weak_type=True), Array(0., dtype=float32, weak_type=True))
    """

    def __init__(self, subtree: PyTree) -> None:
        self.subtree = subtree

    def __iter__(self) -> Iterator[PyTree]:
        yield self.subtree


def unpack_optimizer_state(opt_state: OptimizerState) -> PyTree:
    """The state as a tree like the parameters, with a `JoinPoint` in place of each leaf: for saving.

    Args:
      opt_state: the state that an optimizer's ``init`` or ``update`` gave.

    >>> from xcore.example_libraries import optimizers
    >>> state = optimizers.momentum(0.1, 0.9)[0]({"x": 1.0})
    >>> [float(a) for a in optimizers.unpack_optimizer_state(state)["x"].subtree]
    [1.0, 0.0]
    """
    return tree.unflatten(opt_state.structure, [JoinPoint(s) for s in opt_state.leaves])


def pack_optimizer_state(marked_pytree: PyTree) -> OptimizerState:
    """The state from what `unpack_optimizer_state` gave.

    Args:
      marked_pytree: tree whose leaves are `JoinPoint`.

    >>> from xcore.example_libraries import optimizers
    >>> init, update, get_params = optimizers.momentum(0.1, 0.9)
    >>> state = optimizers.unpack_optimizer_state(init({"x": 1.0}))
    >>> float(get_params(optimizers.pack_optimizer_state(state))["x"])
    1.0
    """
    points, structure = tree.flatten(marked_pytree)
    if not all(isinstance(p, JoinPoint) for p in points):
        raise errors.bad_argument(
            "pack_optimizer_state", "marked_pytree", structure, "a tree whose leaves are JoinPoints"
        )
    return OptimizerState(tuple(p.subtree for p in points), structure)
