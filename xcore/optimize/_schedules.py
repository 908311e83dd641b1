"""Schedules: functions from the number of a step to a learning rate. Names as Optax's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._core import Array


def _positive(who: str, name: str, value) -> None:
    if not value > 0:
        raise ValueError(f"xcore.optimize.{who}: {name} must be positive, given {value}.")


def constant_schedule(value: float | Array) -> Callable[[Any], Any]:
    """The same value at every step.

    Args:
      value: number.

    >>> constant_schedule(0.1)(7)
    0.1
    """
    return lambda count: value


def polynomial_schedule(
    init_value: float | Array, end_value: float | Array, power: float | Array, transition_steps: int,
    transition_begin: int = 0,
) -> Callable[[Any], Any]:  # fmt: skip
    """From one value to another along (1 - t)^power, t from 0 to 1 in ``transition_steps`` steps.

      aₜ = a₁ + (a₀ - a₁) (1 - t / n)ᵖ

    with p the ``power``, from a₀ = ``init_value`` to a₁ = ``end_value`` in n = ``transition_steps`` steps.

    Args:
      init_value: number; the first value.
      end_value: number; the last value.
      power: exponent.
      transition_steps: int; how many steps it takes.
      transition_begin: int; the step at which it begins.

    >>> float(polynomial_schedule(1.0, 0.0, 2, 10)(5))
    0.25
    """
    if transition_steps <= 0:
        return constant_schedule(init_value)
    begin = max(transition_begin, 0)

    def schedule(count):
        left = 1 - xnp.clip(count - begin, 0, transition_steps) / transition_steps
        return (init_value - end_value) * left**power + end_value

    return schedule


def linear_schedule(
    init_value: float | Array,
    end_value: float | Array,
    transition_steps: int,
    transition_begin: int = 0,
) -> Callable[[Any], Any]:
    """From one value to another along a straight line.

      aₜ = a₀ + (a₁ - a₀) t / n

    from a₀ = ``init_value`` to a₁ = ``end_value`` in n = ``transition_steps`` steps.

    Args:
      init_value: number; the first value.
      end_value: number; the last value.
      transition_steps: int; how many steps it takes.
      transition_begin: int; the step at which it begins.

    >>> float(linear_schedule(0.0, 1.0, 4)(1))
    0.25
    """
    return polynomial_schedule(init_value, end_value, 1, transition_steps, transition_begin)


def piecewise_constant_schedule(
    init_value: float | Array, boundaries_and_scales: dict | None = None
) -> Callable[[Any], Any]:
    """A value that is multiplied by a factor when the step reaches each of the boundaries.

    Args:
      init_value: number; the first value.
      boundaries_and_scales: dict of steps and the factors that the value is multiplied by there.

    >>> [float(piecewise_constant_schedule(1.0, {2: 0.1})(n)) for n in (1, 2)]
    [1.0, 0.10000000149011612]
    """
    items = sorted((boundaries_and_scales or {}).items())
    _check_scales("piecewise_constant_schedule", [s for _, s in items])

    def schedule(count):
        value = xnp.asarray(init_value)
        for boundary, factor in items:
            value = xnp.where(count < boundary, value, value * factor)
        return value

    return schedule


def _check_scales(who: str, scales) -> None:
    if any(s < 0 for s in scales):
        raise ValueError(f"xcore.optimize.{who}: factors must not be negative, given {scales}.")


_INTERPOLATE = {
    "linear": lambda a, b, t: a + (b - a) * t,
    "cosine": lambda a, b, t: b + (a - b) / 2 * (xnp.cos(np.pi * t) + 1),
}


def piecewise_interpolate_schedule(
    interpolate_type: str, init_value: float | Array, boundaries_and_scales: dict | None = None
) -> Callable[[Any], Any]:
    """Like ``piecewise_constant_schedule``, but joined by lines or half waves of a cosine.

    Args:
      interpolate_type: "linear" or "cosine".
      init_value: number; the first value.
      boundaries_and_scales: dict of steps and the factors that the value is multiplied by there.

    >>> float(piecewise_interpolate_schedule("linear", 1.0, {10: 3.0})(5))
    2.0
    """
    if interpolate_type not in _INTERPOLATE:
        raise ValueError(
            "xcore.optimize.piecewise_interpolate_schedule: interpolate_type must be 'linear' or "
            f"'cosine', given {interpolate_type!r}."
        )
    items = sorted((boundaries_and_scales or {}).items())
    _check_scales("piecewise_interpolate_schedule", [s for _, s in items])
    knots = np.array([0] + [b for b, _ in items])
    # numbers, or traced values
    values = [init_value * s for s in np.cumprod([1.0] + [s for _, s in items]).tolist()]
    between = _INTERPOLATE[interpolate_type]

    def schedule(count):
        value = xnp.asarray(values[-1])
        for i in reversed(range(len(items))):
            t = (count - int(knots[i])) / max(int(knots[i + 1] - knots[i]), 1)
            piece = between(values[i], values[i + 1], t)
            value = xnp.where(count < int(knots[i + 1]), piece, value)
        return value

    return schedule


def cosine_decay_schedule(
    init_value: float | Array, decay_steps: int, alpha: float = 0.0, exponent: float = 1.0
) -> Callable[[Any], Any]:
    """Half a wave of a cosine down to alpha times the first value, which then stays.

      aₜ = a₀ (c + (1 - c) ((1 + cos(π t / n)) / 2)ᵖ)

    up to t = n, the ``decay_steps``, with a₀ the ``init_value``, c = ``alpha`` and p the ``exponent``.

    Args:
      init_value: number; the first value.
      decay_steps: int; how many steps the decay takes.
      alpha: the last value, relative to the first.
      exponent: exponent of the wave.

    >>> round(float(cosine_decay_schedule(1.0, 10)(5)), 6)
    0.5
    """
    _positive("cosine_decay_schedule", "decay_steps", decay_steps)

    def schedule(count):
        t = xnp.minimum(count, decay_steps) / decay_steps
        wave = 0.5 * (1 + xnp.cos(np.pi * t))
        return init_value * ((1 - alpha) * wave**exponent + alpha)

    return schedule


def exponential_decay(
    init_value: float | Array, transition_steps: int, decay_rate: float, transition_begin: int = 0,
    staircase: bool = False, end_value: float | Array | None = None,
) -> Callable[[Any], Any]:  # fmt: skip
    """``init_value * decay_rate ** (step / transition_steps)``, not beyond ``end_value``.

      aₜ = a₀ r^(t / n)

    with a₀ the ``init_value``, r the ``decay_rate`` and n the ``transition_steps``.

    Args:
      init_value: number; the first value.
      transition_steps: int; how many steps it takes.
      decay_rate: factor of ``transition_steps`` steps.
      transition_begin: int; the step at which it begins.
      staircase: whether it changes at the end of each period only.
      end_value: number that the value does not go beyond; None for no limit.

    >>> float(exponential_decay(1.0, 10, 0.25)(5))
    0.5
    """
    if transition_steps <= 0 or decay_rate == 0:
        return constant_schedule(init_value)
    begin = max(transition_begin, 0)
    limit = xnp.maximum if decay_rate < 1 else xnp.minimum

    def schedule(count):
        t = (count - begin) / transition_steps
        t = xnp.floor(t) if staircase else t
        value = xnp.where(count <= begin, init_value, init_value * xnp.power(decay_rate, t))
        return value if end_value is None else limit(value, end_value)

    return schedule


def join_schedules(schedules: Sequence, boundaries: Sequence[int]) -> Callable[[Any], Any]:
    """One schedule after the other, each counting its steps from its own beginning.

    Args:
      schedules: functions of the number of the step.
      boundaries: ints, one less: where the next one begins.

    >>> joined = join_schedules([constant_schedule(1.0), linear_schedule(1.0, 0.0, 10)], [5])
    >>> [float(joined(n)) for n in (4, 10)]
    [1.0, 0.5]
    """
    if len(schedules) != len(boundaries) + 1:
        raise ValueError(
            "xcore.optimize.join_schedules: need one boundary less than schedules, given "
            f"{len(schedules)} schedules and {len(boundaries)} boundaries."
        )

    def schedule(count):
        value = schedules[0](count)
        for begin, later in zip(boundaries, schedules[1:]):
            value = xnp.where(count < begin, value, later(count - begin))
        return value

    return schedule


def warmup_constant_schedule(
    init_value: float | Array, peak_value: float | Array, warmup_steps: int
) -> Callable[[Any], Any]:
    """A straight rise, then constant.

    Args:
      init_value: number; the first value.
      peak_value: number; the largest value.
      warmup_steps: int; how many steps the rise takes.

    >>> [float(warmup_constant_schedule(0.0, 1.0, 4)(n)) for n in (2, 9)]
    [0.5, 1.0]
    """
    return linear_schedule(init_value, peak_value, warmup_steps)


def warmup_cosine_decay_schedule(
    init_value: float | Array, peak_value: float | Array, warmup_steps: int, decay_steps: int,
    end_value: float | Array = 0.0, exponent: float = 1.0,
) -> Callable[[Any], Any]:  # fmt: skip
    """A straight rise, then half a wave of a cosine down; ``decay_steps`` counts both.

      aₜ = a₀ + (p - a₀) t / w
      aₜ = e + (p - e) (1 + cos(π (t - w) / (n - w))) / 2

    up to t = w and beyond, for the exponent 1, from a₀ = ``init_value`` over p = ``peak_value`` to e = ``end_value``,
    with w the ``warmup_steps`` and n the ``decay_steps``.

    Args:
      init_value: number; the first value.
      peak_value: number; the largest value.
      warmup_steps: int; how many steps the rise takes.
      decay_steps: int; how many steps rise and decay take together.
      end_value: number; the last value.
      exponent: exponent of the wave.

    >>> [round(float(warmup_cosine_decay_schedule(0.0, 1.0, 4, 14)(n)), 6) for n in (2, 4, 9)]
    [0.5, 1.0, 0.5]
    """
    alpha = 0.0 if peak_value == 0 else end_value / peak_value
    rise = linear_schedule(init_value, peak_value, warmup_steps)
    fall = cosine_decay_schedule(peak_value, decay_steps - warmup_steps, alpha, exponent)
    return join_schedules([rise, fall], [warmup_steps])


def warmup_exponential_decay_schedule(
    init_value: float | Array, peak_value: float | Array, warmup_steps: int, transition_steps: int,
    decay_rate: float, transition_begin: int = 0, staircase: bool = False,
    end_value: float | Array | None = None,
) -> Callable[[Any], Any]:  # fmt: skip
    """A straight rise, then an exponential decay.

    Args:
      init_value: number; the first value.
      peak_value: number; the largest value.
      warmup_steps: int; how many steps the rise takes.
      transition_steps: int; how many steps it takes.
      decay_rate: factor of ``transition_steps`` steps.
      transition_begin: int; steps from the peak to the beginning of the decay.
      staircase: whether it changes at the end of each period only.
      end_value: number that the value does not go beyond; None for no limit.

    >>> [float(warmup_exponential_decay_schedule(0.0, 1.0, 4, 10, 0.25)(n)) for n in (2, 9)]
    [0.5, 0.5]
    """
    rise = linear_schedule(init_value, peak_value, warmup_steps)
    fall = exponential_decay(
        peak_value, transition_steps, decay_rate, transition_begin, staircase, end_value
    )
    return join_schedules([rise, fall], [warmup_steps])


def sgdr_schedule(cosine_kwargs: Sequence[dict[str, Any]]) -> Callable[[Any], Any]:
    """Cosine decay with warm restarts: a ``warmup_cosine_decay_schedule`` for each cycle.

    Args:
      cosine_kwargs: for each cycle a dict of the arguments of ``warmup_cosine_decay_schedule``.

    >>> cycle = dict(init_value=0.0, peak_value=1.0, warmup_steps=2, decay_steps=10)
    >>> [float(sgdr_schedule([cycle, cycle])(n)) for n in (2, 10, 12)]
    [1.0, 0.0, 1.0]
    """
    cycles = list(cosine_kwargs)
    ends = np.cumsum([c["decay_steps"] for c in cycles])[:-1]
    return join_schedules(
        [warmup_cosine_decay_schedule(**c) for c in cycles], [int(end) for end in ends]
    )


def linear_onecycle_schedule(
    transition_steps: int, peak_value: float | Array, pct_start: float = 0.3, pct_final: float = 0.85,
    div_factor: float = 25.0, final_div_factor: float = 1e4,
) -> Callable[[Any], Any]:  # fmt: skip
    """Up to the peak and down again along lines, then further down. (Smith, Topin 2017)

    Args:
      transition_steps: int; how many steps it takes.
      peak_value: number; the largest value.
      pct_start: which part of the steps goes up.
      pct_final: after which part of the steps it is down again.
      div_factor: the peak divided by the first value.
      final_div_factor: the first value divided by the last.

    >>> float(linear_onecycle_schedule(100, 1.0)(30))
    1.0
    """
    _positive("linear_onecycle_schedule", "transition_steps", transition_steps)
    knots = {
        int(pct_start * transition_steps): div_factor,
        int(pct_final * transition_steps): 1 / div_factor,
        transition_steps: 1 / final_div_factor,
    }
    return piecewise_interpolate_schedule("linear", peak_value / div_factor, knots)


def cosine_onecycle_schedule(
    transition_steps: int, peak_value: float | Array, pct_start: float = 0.3, div_factor: float = 25.0,
    final_div_factor: float = 1e4,
) -> Callable[[Any], Any]:  # fmt: skip
    """Up to the peak and down far below the start, along cosines. (Smith, Topin 2017)

    Args:
      transition_steps: int; how many steps it takes.
      peak_value: number; the largest value.
      pct_start: which part of the steps goes up.
      div_factor: the peak divided by the first value.
      final_div_factor: the first value divided by the last.

    >>> float(cosine_onecycle_schedule(100, 1.0)(30))
    1.0
    """
    _positive("cosine_onecycle_schedule", "transition_steps", transition_steps)
    knots = {
        int(pct_start * transition_steps): div_factor,
        transition_steps: 1 / (div_factor * final_div_factor),
    }
    return piecewise_interpolate_schedule("cosine", peak_value / div_factor, knots)
