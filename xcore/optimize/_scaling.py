"""Rescaling of gradients by what is remembered of earlier ones: the parts of Adam and its kin.

Moments: m ← b m + (1 - b) gᵏ. Divided by 1 - bⁿ after n steps they are averages free of the zero
at which they start; factors are computed in the dtype of the moment, so 64-bit parameters get 64-bit
steps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import numpy as xnp
from .._core import DTypeLike, dtypes, tree, typeof
from ._transform import (
    GradientTransformation,
    next_count,
    square,
    zero_count,
    zeros_like,
)


def _mean(decay, old, new):
    return tree.map(lambda m, x: decay * m + (1 - decay) * x, old, new)


def _real_zeros(params):
    return tree.map(lambda p: xnp.zeros(typeof(p).shape, dtypes.to_real(typeof(p).dtype)), params)


def _squares(g):
    return tree.map(square, g)


def _power(decay, count, like):
    """decay ** count in the real dtype of ``like``, but 32 bits at least: 0.999 is 1 in bfloat16."""
    dtype = xnp.promote_types(dtypes.to_real(typeof(like).dtype), np.float32)
    return xnp.power(xnp.asarray(decay, dtype), xnp.asarray(count, dtype))


def _debiased(m, decay, count):
    def free(x):
        return x / (1 - _power(decay, count, x)).astype(dtypes.to_real(typeof(x).dtype))

    return tree.map(free, m)


def _first_moment(g, mu, b1, count, nesterov: bool):
    """The average of gradients; for Nesterov's, of the next step's, were the gradient the same."""
    if not nesterov:
        return _debiased(mu, b1, count)
    return _mean(b1, _debiased(mu, b1, next_count(count)), _debiased(g, b1, count))


def _cast(m, dtype):
    return m if dtype is None else tree.map(lambda x: x.astype(dtype), m)


class TraceState(NamedTuple):
    """The accumulated gradient."""

    trace: Any


def trace(
    decay: float, nesterov: bool = False, accumulator_dtype: DTypeLike | None = None
) -> GradientTransformation:
    """Momentum: t ← g + decay t; the update is t, or g + decay t once more for Nesterov's.

    Args:
      decay: how much of what is accumulated is kept at each step.
      nesterov: look ahead by the momentum.
      accumulator_dtype: dtype of what is kept; by default the parameters'.

    >>> t = trace(0.5)
    >>> _, state = t.update(1.0, t.init(0.0))
    >>> float(t.update(1.0, state)[0])
    1.5
    """

    def update(g, state, params=None):
        t = tree.map(lambda g, t: g + decay * t, g, state.trace)
        out = tree.map(lambda g, t: g + decay * t, g, t) if nesterov else t
        return out, TraceState(_cast(t, accumulator_dtype))

    return GradientTransformation(lambda p: TraceState(zeros_like(p, accumulator_dtype)), update)


class EmaState(NamedTuple):
    """The moving average and the number of values in it."""

    count: Any
    ema: Any


def ema(
    decay: float, debias: bool = True, accumulator_dtype: DTypeLike | None = None
) -> GradientTransformation:
    """The exponential moving average of updates.

      mₜ = β mₜ₋₁ + (1 - β) gₜ
      uₜ = mₜ / (1 - βᵗ)

    of gradients gₜ, with β the ``decay``; what comes out is uₜ, without ``debias`` mₜ.

    Args:
      decay: how much of the average is kept at each step.
      debias: whether the average is freed of its start at zero.
      accumulator_dtype: dtype of what is kept; by default the parameters'.

    >>> average = ema(0.5)
    >>> _, state = average.update(1.0, average.init(0.0))
    >>> round(float(average.update(4.0, state)[0]), 3)  # (1 + 2 * 4) / 3
    3.0
    """

    def update(g, state, params=None):
        count, mean = next_count(state.count), _mean(decay, state.ema, g)
        out = _debiased(mean, decay, count) if debias else mean
        return out, EmaState(count, _cast(mean, accumulator_dtype))

    return GradientTransformation(
        lambda p: EmaState(zero_count(), zeros_like(p, accumulator_dtype)), update
    )


class ScaleByRssState(NamedTuple):
    """Sums of squares."""

    sum_of_squares: Any


def scale_by_rss(
    initial_accumulator_value: float = 0.1, eps: float = 1e-7
) -> GradientTransformation:
    """Divides by the root of the sum of all squares so far: Adagrad. (Duchi et al. 2011)

      sₜ = sₜ₋₁ + gₜ²
      uₜ = gₜ / √(sₜ + eps)

    of gradients gₜ; what comes out is uₜ.

    Args:
      initial_accumulator_value: number; where the sums of squares begin.
      eps: number added to the root.

    >>> s = scale_by_rss(0.0)
    >>> round(float(s.update(2.0, s.init(0.0))[0]), 4)
    1.0
    """

    def init(params):
        return ScaleByRssState(
            tree.map(lambda z: xnp.full_like(z, initial_accumulator_value), _real_zeros(params))
        )

    def update(g, state, params=None):
        total = tree.map(lambda g, s: square(g) + s, g, state.sum_of_squares)
        out = tree.map(
            lambda g, s: xnp.where(s > 0, g / xnp.sqrt(xnp.where(s > 0, s + eps, 1)), 0), g, total
        )
        return out, ScaleByRssState(total)

    return GradientTransformation(init, update)


class ScaleByRmsState(NamedTuple):
    """The average square, with a count where it is freed of its start."""

    count: Any
    nu: Any


def _root(v, eps, eps_in_sqrt: bool):
    return xnp.sqrt(v + eps) if eps_in_sqrt else xnp.sqrt(v) + eps


def scale_by_rms(
    decay: float = 0.9, eps: float = 1e-8, initial_scale: float = 0.0, eps_in_sqrt: bool = True,
    bias_correction: bool = False,
) -> GradientTransformation:  # fmt: skip
    """Divides by the root of the average square: RMSProp. (Hinton 2012)

      vₜ = decay vₜ₋₁ + (1 - decay) gₜ²
      uₜ = gₜ / √(vₜ + eps)

    of gradients gₜ; what comes out is uₜ.

    Args:
      decay: how much of the average is kept at each step.
      eps: number added to the root.
      initial_scale: number; where the average square begins.
      eps_in_sqrt: whether eps is added inside of the root.
      bias_correction: whether averages are freed of their start at zero.

    >>> s = scale_by_rms(0.75)
    >>> round(float(s.update(2.0, s.init(0.0))[0]), 4)
    2.0
    """

    def init(params):
        nu = tree.map(lambda z: xnp.full_like(z, initial_scale), _real_zeros(params))
        return ScaleByRmsState(zero_count(), nu)

    def update(g, state, params=None):
        count, nu = next_count(state.count), _mean(decay, state.nu, _squares(g))
        used = _debiased(nu, decay, count) if bias_correction else nu
        out = tree.map(lambda g, v: g / _root(v, eps, eps_in_sqrt), g, used)
        return out, ScaleByRmsState(count, nu)

    return GradientTransformation(init, update)


class ScaleByRStdDevState(NamedTuple):
    """Average and average square."""

    count: Any
    mu: Any
    nu: Any


def scale_by_stddev(
    decay: float = 0.9, eps: float = 1e-8, initial_scale: float = 0.0, eps_in_sqrt: bool = True,
    bias_correction: bool = False,
) -> GradientTransformation:  # fmt: skip
    """Divides by the standard deviation of gradients: centred RMSProp. (Graves 2013)

      mₜ = decay mₜ₋₁ + (1 - decay) gₜ
      vₜ = decay vₜ₋₁ + (1 - decay) gₜ²
      uₜ = gₜ / √(vₜ - mₜ² + eps)

    of gradients gₜ; what comes out is uₜ.

    Args:
      decay: how much of the average is kept at each step.
      eps: number added to the root.
      initial_scale: number; where the average square begins.
      eps_in_sqrt: whether eps is added inside of the root.
      bias_correction: whether averages are freed of their start at zero.

    >>> s = scale_by_stddev(0.5)
    >>> round(float(s.update(2.0, s.init(0.0))[0]), 4)
    2.0
    """

    def init(params):
        nu = tree.map(lambda z: xnp.full_like(z, initial_scale), _real_zeros(params))
        return ScaleByRStdDevState(zero_count(), zeros_like(params), nu)

    def update(g, state, params=None):
        count = next_count(state.count)
        mu, nu = _mean(decay, state.mu, g), _mean(decay, state.nu, _squares(g))
        m, v = (_debiased(x, decay, count) if bias_correction else x for x in (mu, nu))
        out = tree.map(lambda g, m, v: g / _root(v - square(m), eps, eps_in_sqrt), g, m, v)
        return out, ScaleByRStdDevState(count, mu, nu)

    return GradientTransformation(init, update)


class ScaleByAdaDeltaState(NamedTuple):
    """Average squares of gradients and of updates."""

    e_g: Any
    e_x: Any


def scale_by_adadelta(rho: float = 0.9, eps: float = 1e-6) -> GradientTransformation:
    """Multiplies by the ratio of the typical update to the typical gradient. (Zeiler 2012)

      aₜ = rho aₜ₋₁ + (1 - rho) gₜ²
      uₜ = √(bₜ₋₁ + eps) gₜ / √(aₜ + eps)
      bₜ = rho bₜ₋₁ + (1 - rho) uₜ²

    of gradients gₜ; what comes out is uₜ.

    Args:
      rho: how much of the average squares is kept at each step.
      eps: number added to the root.

    >>> s = scale_by_adadelta()
    >>> round(float(s.update(2.0, s.init(0.0))[0]), 5)
    0.00316
    """

    def update(g, state, params=None):
        e_g = _mean(rho, state.e_g, _squares(g))
        out = tree.map(lambda g, a, x: xnp.sqrt(x + eps) / xnp.sqrt(a + eps) * g, g, e_g, state.e_x)
        return out, ScaleByAdaDeltaState(e_g, _mean(rho, state.e_x, _squares(out)))

    return GradientTransformation(
        lambda p: ScaleByAdaDeltaState(_real_zeros(p), _real_zeros(p)), update
    )


class ScaleByAdamState(NamedTuple):
    """Number of steps, average gradient, average square."""

    count: Any
    mu: Any
    nu: Any


def _adam_init(mu_dtype=None):
    return lambda p: ScaleByAdamState(zero_count(), zeros_like(p, mu_dtype), _real_zeros(p))


def scale_by_adam(
    b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8, eps_root: float = 0.0,
    mu_dtype: DTypeLike | None = None, *, nesterov: bool = False,
) -> GradientTransformation:  # fmt: skip
    """The average gradient divided by the root of the average square. (Kingma, Ba 2014)

      mₜ = b1 mₜ₋₁ + (1 - b1) gₜ
      vₜ = b2 vₜ₋₁ + (1 - b2) gₜ²
      uₜ = (mₜ / (1 - b1ᵗ)) / (√(vₜ / (1 - b2ᵗ)) + eps)

    of gradients gₜ; what comes out is uₜ.

    Args:
      b1: how much of the average gradient is kept at each step.
      b2: how much of the average square is kept at each step.
      eps: number added to the root.
      eps_root: number added inside of the root.
      mu_dtype: dtype of the average gradient; by default the parameters'.
      nesterov: Nesterov's variant. (Dozat 2016)

    >>> s = scale_by_adam()
    >>> round(float(s.update(2.0, s.init(0.0))[0]), 4)
    1.0
    """

    def update(g, state, params=None):
        count = next_count(state.count)
        mu, nu = _mean(b1, state.mu, g), _mean(b2, state.nu, _squares(g))
        m, v = _first_moment(g, mu, b1, count, nesterov), _debiased(nu, b2, count)
        out = tree.map(lambda m, v: m / (xnp.sqrt(v + eps_root) + eps), m, v)
        return out, ScaleByAdamState(count, _cast(mu, mu_dtype), nu)

    return GradientTransformation(_adam_init(mu_dtype), update)


class ScaleByAmsgradState(NamedTuple):
    """Adam's, and the largest average square so far."""

    count: Any
    mu: Any
    nu: Any
    nu_max: Any


def scale_by_amsgrad(
    b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8, eps_root: float = 0.0,
    mu_dtype: DTypeLike | None = None,
) -> GradientTransformation:  # fmt: skip
    """Adam with the largest average square so far. (Reddi et al. 2018)

      mₜ = b1 mₜ₋₁ + (1 - b1) gₜ
      vₜ = b2 vₜ₋₁ + (1 - b2) gₜ²
      wₜ = max(wₜ₋₁, vₜ / (1 - b2ᵗ))
      uₜ = (mₜ / (1 - b1ᵗ)) / (√wₜ + eps)

    of gradients gₜ; what comes out is uₜ.

    Args:
      b1: how much of the average gradient is kept at each step.
      b2: how much of the average square is kept at each step.
      eps: number added to the root.
      eps_root: number added inside of the root.
      mu_dtype: dtype of the average gradient; by default the parameters'.

    >>> s = scale_by_amsgrad()
    >>> round(float(s.update(2.0, s.init(0.0))[0]), 4)
    1.0
    """

    def init(p):
        return ScaleByAmsgradState(*_adam_init(mu_dtype)(p), _real_zeros(p))

    def update(g, state, params=None):
        count = next_count(state.count)
        mu, nu = _mean(b1, state.mu, g), _mean(b2, state.nu, _squares(g))
        m = _debiased(mu, b1, count)
        most = tree.map(xnp.maximum, state.nu_max, _debiased(nu, b2, count))
        out = tree.map(lambda m, v: m / (xnp.sqrt(v + eps_root) + eps), m, most)
        return out, ScaleByAmsgradState(count, _cast(mu, mu_dtype), nu, most)

    return GradientTransformation(init, update)


def scale_by_adamax(
    b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
) -> GradientTransformation:
    """Adam with a decaying maximum in place of the root of the average square.

      mₜ = b1 mₜ₋₁ + (1 - b1) gₜ
      vₜ = max(b2 vₜ₋₁, |gₜ| + eps)
      uₜ = (mₜ / (1 - b1ᵗ)) / vₜ

    of gradients gₜ; what comes out is uₜ.

    Args:
      b1: how much of the average gradient is kept at each step.
      b2: how much of the largest gradient is kept at each step.
      eps: number added to the root.

    >>> s = scale_by_adamax()
    >>> round(float(s.update(2.0, s.init(0.0))[0]), 4)
    1.0
    """

    def update(g, state, params=None):
        count = next_count(state.count)
        mu = _mean(b1, state.mu, g)
        nu = tree.map(lambda g, v: xnp.maximum(xnp.abs(g) + eps, b2 * v), g, state.nu)
        out = tree.map(lambda m, v: m / v, _debiased(mu, b1, count), nu)
        return out, ScaleByAdamState(count, mu, nu)

    return GradientTransformation(_adam_init(), update)


def scale_by_radam(
    b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8, eps_root: float = 0.0,
    threshold: float = 5.0, *, nesterov: bool = False,
) -> GradientTransformation:  # fmt: skip
    """Adam whose steps are shorter while the average square rests on few values. (Liu et al. 2019)

      ρₜ = ρ - 2 t b2ᵗ / (1 - b2ᵗ)
      rₜ² = (ρₜ - 4) (ρₜ - 2) ρ / ((ρ - 4) (ρ - 2) ρₜ)
      ρ = 2 / (1 - b2) - 1

    The update is Adam's times rₜ where ρₜ is ``threshold`` or more, and mₜ / (1 - b1ᵗ) before.

    Args:
      b1: how much of the average gradient is kept at each step.
      b2: how much of the average square is kept at each step.
      eps: number added to the root.
      eps_root: number added inside of the root.
      threshold: how many values the average square must rest on to be used.
      nesterov: Nesterov's variant.

    >>> s = scale_by_radam()
    >>> round(float(s.update(2.0, s.init(0.0))[0]), 4)
    2.0
    """
    most = 2 / (1 - b2) - 1

    def update(g, state, params=None):
        count = next_count(state.count)
        mu, nu = _mean(b1, state.mu, g), _mean(b2, state.nu, _squares(g))
        m, v = _first_moment(g, mu, b1, count, nesterov), _debiased(nu, b2, count)

        def rectified(m, v):
            power = _power(b2, count, m)
            length = most - 2 * count.astype(power.dtype) * power / (1 - power)
            inside = (length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)
            r = xnp.sqrt(xnp.where(length >= threshold, inside, 1)).astype(
                dtypes.to_real(typeof(m).dtype)
            )
            return xnp.where(length >= threshold, r * m / (xnp.sqrt(v + eps_root) + eps), m)

        return tree.map(rectified, m, v), ScaleByAdamState(count, mu, nu)

    return GradientTransformation(_adam_init(), update)


def scale_by_belief(
    b1: float = 0.9, b2: float = 0.999, eps: float = 1e-16, eps_root: float = 1e-16, *,
    nesterov: bool = False,
) -> GradientTransformation:  # fmt: skip
    """Adam with the average square of the surprise g - m in place of g's. (Zhuang et al. 2020)

      mₜ = b1 mₜ₋₁ + (1 - b1) gₜ
      vₜ = b2 vₜ₋₁ + (1 - b2) (gₜ - mₜ)²
      uₜ = (mₜ / (1 - b1ᵗ)) / (√(vₜ / (1 - b2ᵗ)) + eps)

    of gradients gₜ; what comes out is uₜ.

    Args:
      b1: how much of the average gradient is kept at each step.
      b2: how much of the average square is kept at each step.
      eps: number added to the root.
      eps_root: number added inside of the root.
      nesterov: Nesterov's variant.

    >>> s = scale_by_belief()
    >>> round(float(s.update(2.0, s.init(0.0))[0]), 3)
    1.111
    """

    def update(g, state, params=None):
        count = next_count(state.count)
        mu = _mean(b1, state.mu, g)
        surprise = tree.map(lambda g, m: square(g - m), g, mu)
        nu = tree.map(lambda v: v + eps_root, _mean(b2, state.nu, surprise))
        m, v = _first_moment(g, mu, b1, count, nesterov), _debiased(nu, b2, count)
        out = tree.map(lambda m, v: m / (xnp.sqrt(v) + eps), m, v)
        return out, ScaleByAdamState(count, mu, nu)

    return GradientTransformation(_adam_init(), update)


def scale_by_yogi(
    b1: float = 0.9, b2: float = 0.999, eps: float = 1e-3, eps_root: float = 0.0,
    initial_accumulator_value: float = 1e-6,
) -> GradientTransformation:  # fmt: skip
    """Adam whose average square moves by a limited amount. (Zaheer et al. 2018)

      mₜ = b1 mₜ₋₁ + (1 - b1) gₜ
      vₜ = vₜ₋₁ - (1 - b2) sign(vₜ₋₁ - gₜ²) gₜ²
      uₜ = (mₜ / (1 - b1ᵗ)) / (√(vₜ / (1 - b2ᵗ)) + eps)

    of gradients gₜ; what comes out is uₜ.

    Args:
      b1: how much of the average gradient is kept at each step.
      b2: how much of the average square is kept at each step.
      eps: number added to the root.
      eps_root: number added inside of the root.
      initial_accumulator_value: number; where the sums of squares begin.

    >>> s = scale_by_yogi()
    >>> round(float(s.update(2.0, s.init(0.0))[0]), 3)
    0.999
    """

    def init(params):
        full = lambda z: xnp.full_like(z, initial_accumulator_value)  # noqa: E731
        return ScaleByAdamState(
            zero_count(), tree.map(full, params), tree.map(full, _real_zeros(params))
        )

    def update(g, state, params=None):
        count = next_count(state.count)
        mu = _mean(b1, state.mu, g)
        nu = tree.map(lambda g, v: v - (1 - b2) * xnp.sign(v - square(g)) * square(g), g, state.nu)
        m, v = _debiased(mu, b1, count), _debiased(nu, b2, count)
        out = tree.map(lambda m, v: m / (xnp.sqrt(v + eps_root) + eps), m, v)
        return out, ScaleByAdamState(count, mu, nu)

    return GradientTransformation(init, update)


class ScaleByLionState(NamedTuple):
    """Number of steps and average gradient."""

    count: Any
    mu: Any


def scale_by_lion(
    b1: float = 0.9, b2: float = 0.99, mu_dtype: DTypeLike | None = None
) -> GradientTransformation:
    """The sign of an average gradient. (Chen et al. 2023)

      uₜ = sign(b1 mₜ₋₁ + (1 - b1) gₜ)
      mₜ = b2 mₜ₋₁ + (1 - b2) gₜ

    of gradients gₜ; what comes out is uₜ.

    Args:
      b1: weight of the kept average in the sign.
      b2: how much of the kept average is kept at each step.
      mu_dtype: dtype of the average gradient; by default the parameters'.

    >>> s = scale_by_lion()
    >>> float(s.update(-2.0, s.init(0.0))[0])
    -1.0
    """

    def update(g, state, params=None):
        out = tree.map(xnp.sign, _mean(b1, state.mu, g))
        mu = _cast(_mean(b2, state.mu, g), mu_dtype)
        return out, ScaleByLionState(next_count(state.count), mu)

    return GradientTransformation(
        lambda p: ScaleByLionState(zero_count(), zeros_like(p, mu_dtype)), update
    )
