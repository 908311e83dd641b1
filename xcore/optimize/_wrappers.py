"""Transformations around an optimizer: accumulation over small batches, lookahead, hyperparameters."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import numpy as xnp
from .._control import cond
from .._core import Array, PyTree, errors, tree, typeof
from ._transform import (
    GradientTransformation,
    at_count,
    next_count,
    select,
    zero_count,
    zeros_like,
)


class MultiStepsState(NamedTuple):
    """Steps since the last update, updates, the inner state, what has been accumulated."""

    mini_step: Any
    gradient_step: Any
    inner_opt_state: Any
    acc_grads: Any


class MultiSteps:
    """Gradients of k calls are averaged (or summed) and applied by the last of them.

    Updates of the other calls are zero, so the effect is that of batches k times as large.

    Args:
      opt: the optimizer.
      every_k_schedule: k, or a function from the number of updates so far to k.
      use_grad_mean: the mean of the gradients; False for their sum.

    >>> import xcore.optimize as xo
    >>> every_second = xo.MultiSteps(xo.sgd(1.0), 2)
    >>> first, state = every_second.update(1.0, every_second.init(0.0))
    >>> float(first), float(every_second.update(3.0, state)[0])
    (0.0, -2.0)
    """

    def __init__(self, opt, every_k_schedule, use_grad_mean: bool = True):
        if not callable(every_k_schedule) and every_k_schedule < 1:
            raise ValueError(
                f"xcore.optimize.MultiSteps: every_k_schedule must be at least 1, given {every_k_schedule}."
            )
        self._opt, self._every, self._mean = opt, every_k_schedule, use_grad_mean

    def init(self, params: PyTree) -> MultiStepsState:
        """The state to start from."""
        return MultiStepsState(
            zero_count(), zero_count(), self._opt.init(params), zeros_like(params)
        )

    def update(
        self, updates: PyTree, state: MultiStepsState, params: PyTree = None
    ) -> tuple[PyTree, MultiStepsState]:
        """Zeros, or every k-th time the optimizer's updates; and the new state."""
        k = at_count(self._every, state.gradient_step)
        n = state.mini_step
        share = 1 / (n + 1) if self._mean else None

        def accumulate(a, g):
            return a + g if share is None else a + (g - a) * share.astype(typeof(a).dtype)

        acc = tree.map(accumulate, state.acc_grads, updates)
        emit = n == k - 1  # pyright: ignore[reportOperatorIssue]

        def act(acc, inner):
            out, new = self._opt.update(acc, inner, params)
            return tree.map(lambda u, a: xnp.asarray(u, a.dtype), out, acc), new

        out, inner = cond(
            emit, act, lambda acc, inner: (zeros_like(acc), inner), acc, state.inner_opt_state
        )
        kept = tree.map(lambda a: xnp.where(emit, 0, a), acc)
        step = xnp.where(emit, next_count(state.gradient_step), state.gradient_step)
        return out, MultiStepsState(((n + 1) % k).astype(np.int32), step, inner, kept)

    def has_updated(self, state: MultiStepsState) -> Array:
        """Whether the last call was one that updates."""
        return (state.mini_step == 0) & (state.gradient_step > 0)

    def gradient_transformation(self) -> GradientTransformation:
        """The pair (init, update)."""
        return GradientTransformation(self.init, self.update)


class LookaheadParams(NamedTuple):
    """Parameters that the optimizer moves, and those that follow them every few steps.

    >>> import xcore as xc
    >>> p = xc.optimize.LookaheadParams.init_synced({"w": 1.0})
    >>> p.fast, p.slow
    ({'w': 1.0}, {'w': 1.0})
    """

    fast: Any
    slow: Any

    @classmethod
    def init_synced(cls, params: PyTree) -> LookaheadParams:
        """Both equal."""
        return cls(params, params)


class LookaheadState(NamedTuple):
    """The optimizer's state, and the steps since the slow parameters moved."""

    fast_state: Any
    steps_since_sync: Any


def lookahead(
    fast_optimizer: GradientTransformation, sync_period: int, slow_step_size: float,
    reset_state: bool = False,
) -> GradientTransformation:  # fmt: skip
    """Every few steps slow parameters go part of the way to the fast ones, which then start there.

    Its parameters are ``LookaheadParams``; gradients are those of the fast ones. (Zhang et al. 2019)

    Args:
      fast_optimizer: the optimizer of the fast parameters.
      sync_period: int; steps between two meetings.
      slow_step_size: which part of the way to the fast parameters the slow ones go.
      reset_state: whether the fast optimizer begins anew then.

    >>> import xcore.optimize as xo
    >>> look = xo.lookahead(xo.sgd(1.0), 1, 0.5)
    >>> params = xo.LookaheadParams.init_synced(4.0)
    >>> updates, _ = look.update(2.0, look.init(params), params)
    >>> float(xo.apply_updates(params, updates).slow)  # half of the way from 4 to 2
    3.0
    """
    if sync_period < 1:
        raise ValueError(
            f"xcore.optimize.lookahead: sync_period must be at least 1, given {sync_period}."
        )

    def init(params):
        fast = params.fast if isinstance(params, LookaheadParams) else params
        return LookaheadState(fast_optimizer.init(fast), zero_count())

    def update(g, state, params=None):
        if not isinstance(params, LookaheadParams):
            raise TypeError(
                f"xcore.optimize.lookahead: params must be LookaheadParams, given {errors.describe(params)}; "
                "make them with LookaheadParams.init_synced(params)."
            )
        g, fast_state = fast_optimizer.update(g, state.fast_state, params.fast)
        sync = state.steps_since_sync == sync_period - 1
        ahead = tree.map(lambda f, u, s: f + u - s, params.fast, g, params.slow)
        slow = tree.map(lambda d: xnp.where(sync, slow_step_size * d, 0), ahead)
        fast = tree.map(lambda u, d: u - xnp.where(sync, (1 - slow_step_size) * d, 0), g, ahead)
        if reset_state:
            fast_state = select(sync, fast_optimizer.init(params.fast), fast_state)
        steps = ((state.steps_since_sync + 1) % sync_period).astype(np.int32)
        return LookaheadParams(fast, slow), LookaheadState(fast_state, steps)

    return GradientTransformation(init, update)


class InjectHyperparamsState(NamedTuple):
    """How many updates were made, the hyperparameters by name, the inner state."""

    count: Any
    hyperparams: Any
    inner_state: Any


def inject_hyperparams(
    inner_factory: Callable[..., GradientTransformation], static_args: str | Sequence[str] = ()
) -> Callable[..., GradientTransformation]:
    """The factory of an optimizer whose hyperparameters are part of its state.

    So they can be read, and changed between steps without a new compilation. Schedules are
    evaluated at each step.

    Args:
      inner_factory: such as ``adam``.
      static_args: names of arguments that stay Python values.

    >>> import xcore.optimize as xo
    >>> opt = xo.inject_hyperparams(xo.sgd)(learning_rate=xo.linear_schedule(1.0, 0.0, 4))
    >>> _, state = opt.update(1.0, opt.init(0.0))
    >>> float(opt.update(1.0, state)[1].hyperparams["learning_rate"])
    0.75
    """
    static_args = {static_args} if isinstance(static_args, str) else set(static_args)  # pyright: ignore[reportAssignmentType]
    signature = inspect.signature(inner_factory)

    @functools.wraps(inner_factory)
    def factory(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        scheduled = {k: v for k, v in given.items() if callable(v) and k not in static_args}
        numeric = {
            k: v for k, v in given.items()
            if k not in static_args and k not in scheduled and _is_number(v)
        }  # fmt: skip
        fixed = {k: v for k, v in given.items() if k not in scheduled and k not in numeric}

        def values(count):
            return {k: xnp.asarray(f(count), np.float32) for k, f in scheduled.items()}

        def init(params):
            start = {k: xnp.asarray(v, np.float32) for k, v in numeric.items()}
            start |= values(zero_count())
            return InjectHyperparamsState(
                zero_count(), start, inner_factory(**fixed, **start).init(params)
            )

        def update(g, state, params=None):
            now = state.hyperparams | values(state.count)
            g, inner = inner_factory(**fixed, **now).update(g, state.inner_state, params)
            return g, InjectHyperparamsState(next_count(state.count), now, inner)

        return GradientTransformation(init, update)

    return factory


def _is_number(x) -> bool:
    return isinstance(x, (int, float, np.ndarray, np.generic)) and not isinstance(x, bool)
